# SPDX-License-Identifier: Apache-2.0
"""The order of an operator among the work of the current stream."""

import contextlib
import ctypes

import torch

from . import observe

_driver = None


def use(driver):
    """Takes the driver by which streams are asked."""
    global _driver
    _driver = driver
    for name, arguments in (
        ("cuStreamSynchronize", (ctypes.c_void_p,)),
        ("cuStreamIsCapturing", (ctypes.c_void_p, ctypes.POINTER(ctypes.c_int))),
    ):
        getattr(driver, name).argtypes = arguments


def on(device):
    """Makes the device current, as PyTorch does for a kernel of its own."""
    return (
        contextlib.nullcontext() if device.index in (None, torch._C._cuda_getDevice()) else torch.cuda.device(device)
    )


def capturing(stream):
    """Whether this stream, by its handle, is captured."""
    status = ctypes.c_int()
    return _driver.cuStreamIsCapturing(stream, ctypes.byref(status)) == 0 and status.value == 1


def current(device):
    """The handle of the device's current stream."""
    return torch._C._cuda_getCurrentRawStream(torch._C._cuda_getDevice() if device.index is None else device.index)


def wait(device):
    """Waits until the current stream's work is done. Another thread may hold Python's lock meanwhile."""
    if observe.observed():
        observe.wait(current(device))
    elif _driver.cuStreamSynchronize(current(device)) != 0:
        torch.cuda.current_stream(device).synchronize()  # has PyTorch's own error
