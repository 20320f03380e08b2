# SPDX-License-Identifier: Apache-2.0
"""Millrace's driver, by ctypes. Its calls let Python's lock go while they last."""

import ctypes

import torch

HOST_FUNCTION = ctypes.CFUNCTYPE(None, ctypes.c_void_p)
PART = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_uint64, ctypes.c_uint64)
LAUNCH_FAILED = 719

_pointer, _int, _unsigned, _size = ctypes.c_void_p, ctypes.c_int, ctypes.c_uint, ctypes.c_size_t
_FUNCTIONS = {
    "cuCtxGetCurrent": (_pointer,),
    "cuCtxSetCurrent": (_pointer,),
    "cuDeviceGetAttribute": (_pointer, _int, _int),
    "cuDevicePrimaryCtxRetain": (_pointer, _int),
    "cuGraphRetainUserObject": (_pointer, _pointer, _unsigned, _unsigned),
    "cuLaunchHostFunc": (_pointer, HOST_FUNCTION, _pointer),
    "cuMemcpyAsync": (_pointer, _pointer, _size, _pointer),
    "cuMemsetD8Async": (_pointer, ctypes.c_ubyte, _size, _pointer),
    "cuStreamGetCaptureInfo_v2": (_pointer,) * 6,
    "cuStreamIsCapturing": (_pointer, _pointer),
    "cuStreamSynchronize": (_pointer,),
    "cuUserObjectCreate": (_pointer, _pointer, HOST_FUNCTION, _unsigned, _unsigned),
    # Of Millrace's own (src/command/parts.h).
    "millrace_fail_part": (_int,),
    "millrace_submit_parts": (_pointer, ctypes.c_uint64, PART, _pointer, _pointer),
    "millrace_touch_part": (ctypes.c_char_p, _pointer, _size, _size, _size, _unsigned),
}

cuda = None  # the library


def use(library):
    """Takes the library that all calls go to."""
    global cuda
    for name, arguments in _FUNCTIONS.items():
        getattr(library, name).argtypes = arguments
    library.millrace_touch_part.restype = ctypes.c_bool
    cuda = library


def check(status):
    """Raises PyTorch's error for a status that is none of success."""
    if status != 0:
        torch.cuda.check_error(status)


def index_of(device):
    """The number of a CUDA device; without one it is the current one."""
    return torch._C._cuda_getDevice() if device.index is None else device.index
