# SPDX-License-Identifier: Apache-2.0
"""CTranslate2's wheel, unmodified: the device is found, and arrays go there, change their type there and come back as
NumPy has them. Its models multiply matrices by cuBLAS, which is not here."""
import ctranslate2
import numpy

assert ctranslate2.get_cuda_device_count() == 1
kinds = ctranslate2.get_supported_compute_types("cuda")
assert {"float32", "float16", "int8"} <= kinds, kinds

values = numpy.random.default_rng(7).standard_normal((300, 200)).astype(numpy.float32)
there = ctranslate2.StorageView.from_array(values).to_device(ctranslate2.Device.cuda)
assert there.device == "cuda" and there.shape == [300, 200]
assert numpy.array_equal(numpy.array(there.to_device(ctranslate2.Device.cpu)), values)

half = there.to(ctranslate2.DataType.float16)
assert half.device == "cuda"
assert numpy.array_equal(numpy.array(half.to_device(ctranslate2.Device.cpu)), values.astype(numpy.float16))
back = half.to(ctranslate2.DataType.float32)
assert numpy.array_equal(
    numpy.array(back.to_device(ctranslate2.Device.cpu)), values.astype(numpy.float16).astype(numpy.float32)
)

bits = values.view(numpy.uint32)
rounded = ((bits + 0x7FFF + (bits >> 16 & 1)) & 0xFFFF0000).view(numpy.float32)
short = there.to(ctranslate2.DataType.bfloat16).to(ctranslate2.DataType.float32)
assert numpy.array_equal(numpy.array(short.to_device(ctranslate2.Device.cpu)), rounded)
print("CTranslate2", ctranslate2.__version__, "passed")
