# SPDX-License-Identifier: Apache-2.0
"""Copies and fills of bytes: work of the stream, by the driver. Where elements change or move apart, the CPU copies."""

import collections
import threading

import torch

from . import driver, observe, stream
from .memory import alias, dense
from .operator import Operator

_busy = collections.deque()  # events, and the host's tensors that must live until then
_turn = threading.Lock()


def _alike(a, b):
    return (
        a.dtype == b.dtype
        and a.layout == b.layout
        and a.size() == b.size()
        and a.stride() == b.stride()
        and a.is_conj() == b.is_conj()
        and a.is_neg() == b.is_neg()
        and dense(a)
    )


def _hold(tensor):
    """Keeps a pinned tensor of the host until the current stream has come to this place."""
    event = torch.cuda.Event()
    event.record()
    with _turn:
        while _busy and _busy[0][0].query():
            _busy.popleft()
        _busy.append((event, tensor))


def _copy_bytes(target, source, non_blocking):
    device = target.device if target.is_cuda else source.device
    with stream.on(device):
        handle = stream.current(device)
        driver.check(driver.cuda.cuMemcpyAsync(target.data_ptr(), source.data_ptr(), target.nbytes, handle))
        if target.is_cuda and source.is_cuda:
            return
        if not non_blocking:
            stream.wait(device, asked=True)
        elif not stream.capturing(handle):
            host = source if target.is_cuda else target
            if host.is_pinned():
                _hold(host)


_convert, _clear = Operator("copy_", mixes=True), Operator("zero_")


def _meet(target, source):
    """A copy between devices, which PyTorch puts into order with the current streams of both, told to an observer."""
    here, there = torch.cuda.current_stream(target.device), torch.cuda.current_stream(source.device)
    here.wait_stream(there)
    result = _convert(target, source)
    there.wait_stream(here)
    return result


def copy_(self, src, non_blocking=False):
    """aten::copy_"""
    between = self.is_cuda and src.is_cuda and self.device != src.device
    if _alike(self, src) and not between:
        if self.numel():
            _copy_bytes(self, src, non_blocking)
        return self
    if src.is_cuda:  # the operator waits for one stream
        with stream.on(src.device):
            captured = stream.capturing(stream.current(src.device))
            if not captured:
                stream.wait(src.device)
        if between and not captured and observe.observed():
            return _meet(self, src)
    return _convert(self, src)


def zero_(self):
    """aten::zero_"""
    if not dense(self):
        return _clear(self)
    if self.numel():
        with stream.on(self.device):
            driver.check(driver.cuda.cuMemsetD8Async(self.data_ptr(), 0, self.nbytes, stream.current(self.device)))
    return self


def scalar(self):
    """aten::_local_scalar_dense, which PyTorch also calls with Python's lock held (`if tensor:`). An operator in the stream
    may need that lock, so it is let go while the stream's work ends."""
    with stream.on(self.device):
        stream.wait(self.device, asked=True)
        return torch.ops.aten._local_scalar_dense(alias(self))


FUNCTIONS = {"copy_": copy_, "zero_": zero_, "_local_scalar_dense": scalar}
