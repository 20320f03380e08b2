# SPDX-License-Identifier: Apache-2.0
"""The order of an operator among the work of the current stream."""

import contextlib
import ctypes

import torch

from . import observe

_driver = None
_contexts = {}  # the primary contexts, by device


def use(driver):
    """Takes the driver by which streams are asked."""
    global _driver
    _driver = driver
    pointer = ctypes.c_void_p
    driver.cuStreamSynchronize.argtypes = (pointer,)
    driver.cuStreamIsCapturing.argtypes = (pointer, pointer)
    driver.cuCtxGetCurrent.argtypes = (pointer,)
    driver.cuCtxSetCurrent.argtypes = (pointer,)
    driver.cuDevicePrimaryCtxRetain.argtypes = (pointer, ctypes.c_int)


def _enter(device):
    """Makes the device's context current in a thread that has none yet, such as autograd's."""
    context = ctypes.c_void_p()
    if _driver.cuCtxGetCurrent(ctypes.byref(context)) == 0 and context:
        return
    if device not in _contexts:
        torch.cuda.check_error(_driver.cuDevicePrimaryCtxRetain(ctypes.byref(context), device))
        _contexts[device] = context
    torch.cuda.check_error(_driver.cuCtxSetCurrent(_contexts[device]))


def on(device):
    """Makes the device current, as PyTorch does for a kernel of its own."""
    current = torch._C._cuda_getDevice()
    if device.index not in (None, current):
        return torch.cuda.device(device)
    _enter(current)
    return contextlib.nullcontext()


def capturing(stream):
    """Whether this stream, by its handle, is captured."""
    status = ctypes.c_int()
    return _driver.cuStreamIsCapturing(stream, ctypes.byref(status)) == 0 and status.value == 1


def current(device):
    """The handle of the device's current stream."""
    return torch._C._cuda_getCurrentRawStream(torch._C._cuda_getDevice() if device.index is None else device.index)


def wait(device, asked=False):
    """Waits until the current stream's work is done, with Python's lock let go. An observer sees it if the program has
    `asked` for it: on a GPU it would wait, too."""
    if observe.observed() and not asked:
        observe.wait(current(device))
    elif _driver.cuStreamSynchronize(current(device)) != 0:
        torch.cuda.current_stream(device).synchronize()  # has PyTorch's own error
