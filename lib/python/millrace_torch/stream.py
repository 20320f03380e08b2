# SPDX-License-Identifier: Apache-2.0
"""The order of an operator among the work of the current stream."""

import contextlib
import ctypes

import torch

from . import driver, observe

_CLOCK_RATE = 13  # CU_DEVICE_ATTRIBUTE_CLOCK_RATE, in kHz

_contexts = {}  # the primary contexts, by device
_usleep = ctypes.cast(ctypes.CDLL(None).usleep, driver.HOST_FUNCTION)  # its parameter is in the pointer's place


def _enter(device):
    """Makes the device's context current in a thread that has none yet, such as autograd's."""
    context = ctypes.c_void_p()
    if driver.cuda.cuCtxGetCurrent(ctypes.byref(context)) == 0 and context:
        return
    if device not in _contexts:
        driver.check(driver.cuda.cuDevicePrimaryCtxRetain(ctypes.byref(context), device))
        _contexts[device] = context
    driver.check(driver.cuda.cuCtxSetCurrent(_contexts[device]))


def on(device):
    """Makes the device current, as PyTorch does for a kernel of its own."""
    current = torch._C._cuda_getDevice()
    if device.index not in (None, current):
        return torch.cuda.device(device)
    _enter(current)
    return contextlib.nullcontext()


def current(device):
    """The handle of the device's current stream."""
    return torch._C._cuda_getCurrentRawStream(driver.index_of(device))


def capturing(stream):
    """Whether this stream, by its handle, is captured."""
    status = ctypes.c_int()
    return driver.cuda.cuStreamIsCapturing(stream, ctypes.byref(status)) == 0 and status.value == 1


def wait(device, asked=False):
    """Waits until the current stream's work is done. An observer sees it if the program has `asked` for it: on a GPU it
    would wait, too."""
    if observe.observed() and not asked:
        observe.wait(current(device))
    elif driver.cuda.cuStreamSynchronize(current(device)) != 0:
        torch.cuda.current_stream(device).synchronize()  # has PyTorch's own error


def sleep(cycles):
    """For `torch.cuda._sleep`, whose kernel is machine code: the current stream sleeps for as many cycles."""
    device, rate = torch._C._cuda_getDevice(), ctypes.c_int()
    with on(torch.device("cuda", device)):
        driver.check(driver.cuda.cuDeviceGetAttribute(ctypes.byref(rate), _CLOCK_RATE, device))
        microseconds = -(-int(cycles) * 1000 // rate.value)
        driver.check(
            driver.cuda.cuLaunchHostFunc(torch._C._cuda_getCurrentRawStream(device), _usleep, microseconds or None)
        )
