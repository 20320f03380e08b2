# SPDX-License-Identifier: Apache-2.0
"""A source whose `kernel`, on one warp, leaves 0 in its first number if all is well, compiled by libnvrtc and run.
Usage: by_nvrtc.py LIBNVRTC BUILD SOURCE ARCHITECTURE..."""
import ctypes
import pathlib
import sys

LIBRARY, BUILD, SOURCE = (pathlib.Path(path).resolve() for path in sys.argv[1:4])


def compiled(library, architecture: str) -> bytes:
    program, size = ctypes.c_void_p(), ctypes.c_size_t()
    assert (
        library.nvrtcCreateProgram(ctypes.byref(program), SOURCE.read_bytes(), SOURCE.name.encode(), 0, None, None) == 0
    )
    status = library.nvrtcCompileProgram(program, 1, (ctypes.c_char_p * 1)(f"-arch={architecture}".encode()))
    get_size, get = (
        (library.nvrtcGetProgramLogSize, library.nvrtcGetProgramLog)
        if status
        else (library.nvrtcGetPTXSize, library.nvrtcGetPTX)
    )
    assert get_size(program, ctypes.byref(size)) == 0
    text = ctypes.create_string_buffer(size.value)
    assert get(program, text) == 0
    library.nvrtcDestroyProgram(ctypes.byref(program))
    if status:
        sys.exit(f"{architecture}: {text.value.decode()}")
    return text.value


def main() -> int:
    library, driver = ctypes.CDLL(str(LIBRARY)), ctypes.CDLL(str(BUILD / "lib/libcuda.so.1"))
    context, results, wrong = ctypes.c_void_p(), ctypes.c_uint64(), 0
    assert (
        driver.cuInit(0) == 0
        and driver.cuDevicePrimaryCtxRetain(ctypes.byref(context), 0) == 0
        and driver.cuCtxSetCurrent(context) == 0
    )
    assert driver.cuMemAlloc_v2(ctypes.byref(results), ctypes.c_size_t(8)) == 0
    for architecture in sys.argv[4:]:
        module, kernel, numbers = ctypes.c_void_p(), ctypes.c_void_p(), (ctypes.c_int * 2)(-1, -1)
        assert driver.cuModuleLoadData(ctypes.byref(module), compiled(library, architecture)) == 0
        assert driver.cuModuleGetFunction(ctypes.byref(kernel), module, b"kernel") == 0
        arguments = (ctypes.c_void_p * 1)(ctypes.cast(ctypes.byref(results), ctypes.c_void_p))
        assert driver.cuLaunchKernel(kernel, 1, 1, 1, 32, 1, 1, 0, None, arguments, None) == 0
        assert driver.cuMemcpyDtoH_v2(numbers, results, ctypes.c_size_t(8)) == 0
        if numbers[0]:
            print(f"{architecture}: line {numbers[0]} lane {numbers[1]}")
            wrong = 1
    return wrong


if __name__ == "__main__":
    sys.exit(main())
