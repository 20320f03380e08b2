# SPDX-License-Identifier: Apache-2.0
"""What operators touch, for millrace check, and their names, for timelines. Without an observer nothing is told."""

import collections
import contextlib
import ctypes
import itertools
import os
import re
import threading

import torch

from . import driver, places

READ, WRITE = 1, 2
_NAME = 4
# Written without being read, though the schema can't tell.
ONLY_WRITTEN = re.compile(
    r"(copy|fill|zero|normal|uniform|random|exponential|bernoulli|cauchy|geometric|log_normal)_$"
)
_RUNS = 64  # of memory, for one tensor
_observed = None

def observed():
    """Whether somebody wants to know. That is settled when the driver starts."""
    global _observed
    if _observed is None:
        _observed = driver.cuda.millrace_touch_part(None, None, 0, 0, 0, 0)
    return _observed


_range = getattr(torch._C, "_nvtx", None) if os.environ.get("NVTX_INJECTION64_PATH") else None


@contextlib.contextmanager
def _named(name):
    _range.rangePushA(name)
    try:
        yield
    finally:
        _range.rangePop()


def named(name):
    """An operator runs: a timeline or a profiler has it as a range of NVTX. A check has it as a work."""
    return contextlib.nullcontext() if _range is None or observed() else _named(name)


def _runs(tensor):
    """The tensor's memory as (first, width, rows, pitch); None if there are too many runs."""
    width, outer = tensor.element_size(), []
    for stride, size in sorted(
        (stride * tensor.element_size(), size)
        for stride, size in zip(tensor.stride(), tensor.size())
        if size != 1 and stride != 0
    ):
        if not outer and stride == width:
            width *= size
        elif outer and stride == outer[-1][0] * outer[-1][1]:
            outer[-1] = (outer[-1][0], outer[-1][1] * size)
        else:
            outer.append((stride, size))
    pitch, rows = outer.pop(0) if outer else (width, 1)
    count = 1
    for _, size in outer:
        count *= size
    if count > _RUNS:
        return None
    places = itertools.product(*(range(0, stride * size, stride) for stride, size in outer))
    return [(tensor.data_ptr() + sum(place), width, rows, pitch) for place in places]


def touch(name, touched):
    """Tells what the work that comes next in a stream touches: pairs of a tensor, or of such runs, and READ, WRITE or
    both."""
    known = []
    for each, how in touched:
        if isinstance(each, torch.Tensor):
            each = [] if not each.numel() else _runs(each) if each.layout == torch.strided else None
        if each is None:
            return
        known.append((each, how))
    for runs, how in known:
        for run in runs:
            driver.cuda.millrace_touch_part(name, *run, how)


def name(label):
    """Names the work that comes next in a stream, unless `touch` has done so."""
    driver.cuda.millrace_touch_part(label, None, 0, 0, 0, _NAME)


def parts_of(base, given):
    """The runs that an operator touches of the tensor in which its values choose the places, whose arguments are given
    by name; None if they can't be told."""
    try:
        return places.parts(base, given, _runs)
    except places.Unknown:
        return None


def submit(handle, run):
    """Puts a function into the stream, as the work that was told of. It must live until it has run. The status."""
    return driver.cuda.millrace_submit_parts(handle, 1, run, None, None)


def function(work):
    """A function for `submit`."""
    return driver.PART(lambda data, first, end: work())


# A function of the C library that leaves all memory alone: one of Python's would have to wait for Python's lock.
_nothing = ctypes.cast(ctypes.CDLL(None).labs, driver.PART)


def work_done(handle):
    """Puts the work that was told of into the stream: it is done already."""
    driver.check(submit(handle, _nothing))


_ends = collections.deque(maxlen=64)  # functions that have told of an end may not have returned yet


def wait(handle):
    """Waits for the stream's work by work of its own, which touches nothing. Its end tells the observer nothing, unlike
    that of a host function: the program has not asked for it."""
    done = threading.Event()
    ended = function(done.set)
    _ends.append(ended)
    driver.cuda.millrace_touch_part(b"millrace: an operator waits", None, 0, 1, 0, READ)
    driver.check(submit(handle, ended))
    done.wait()
