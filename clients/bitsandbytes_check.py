# SPDX-License-Identifier: Apache-2.0
"""The kernels of bitsandbytes' wheel, unmodified, by ctypes and without PyTorch: quantising and back in two types
beside NumPy. Its library is linked to cuBLAS, whose wheel has to be there to be loaded and is not called."""
import ctypes
import pathlib
import sysconfig

import numpy

site = pathlib.Path(sysconfig.get_paths()["purelib"])
for name in ("libcublasLt.so.13", "libcublas.so.13"):
    ctypes.CDLL(str(site / "nvidia/cu13/lib" / name), mode=ctypes.RTLD_GLOBAL)
library = ctypes.CDLL(str(site / "bitsandbytes/libbitsandbytes_cuda130.so"))
runtime = ctypes.CDLL("libcudart.so.13")
BLOCK, COUNT = 256, 20 * 256


def there(array):
    address = ctypes.c_void_p()
    assert runtime.cudaMalloc(ctypes.byref(address), ctypes.c_size_t(array.nbytes)) == 0
    assert runtime.cudaMemcpy(address, array.ctypes.data_as(ctypes.c_void_p), ctypes.c_size_t(array.nbytes), 1) == 0
    return address


def here(address, like):
    array = numpy.empty_like(like)
    assert runtime.cudaMemcpy(array.ctypes.data_as(ctypes.c_void_p), address, ctypes.c_size_t(array.nbytes), 2) == 0
    return array


code = numpy.sort(numpy.concatenate([numpy.linspace(-1, 1, 255), [0.0]])).astype(numpy.float32)
for kind, number in (("fp32", numpy.float32), ("fp16", numpy.float16)):
    values = numpy.random.default_rng(5).standard_normal(COUNT).astype(number)
    largest, small, wide = (
        numpy.zeros(COUNT // BLOCK, numpy.float32),
        numpy.zeros(COUNT, numpy.uint8),
        numpy.zeros(COUNT, number),
    )
    codes, source, most, numbers, result = (there(array) for array in (code, values, largest, small, wide))
    getattr(library, f"cquantize_blockwise_{kind}")(codes, source, most, numbers, ctypes.c_int(BLOCK), ctypes.c_int(COUNT))
    assert runtime.cudaDeviceSynchronize() == 0
    largest, small = here(most, largest), here(numbers, small)
    assert numpy.array_equal(largest, numpy.abs(values.astype(numpy.float32)).reshape(-1, BLOCK).max(1))
    scaled = values.astype(numpy.float32) * numpy.repeat(1 / largest, BLOCK)
    nearest = numpy.abs(scaled[:, None] - code[None]).min(1)
    assert numpy.all(numpy.abs(scaled - code[small]) - nearest < 1e-6)
    getattr(library, f"cdequantize_blockwise_{kind}")(codes, numbers, most, result, ctypes.c_int(BLOCK), ctypes.c_int(COUNT),
                                                      ctypes.c_void_p(0))
    assert runtime.cudaDeviceSynchronize() == 0
    assert numpy.array_equal(here(result, wide), (code[small] * numpy.repeat(largest, BLOCK)).astype(number))
    print("bitsandbytes", kind, "passed")
