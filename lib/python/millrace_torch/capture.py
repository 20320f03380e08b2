# SPDX-License-Identifier: Apache-2.0
"""Operators in a captured stream: host nodes of the graph."""

import ctypes
import itertools
import sys
import traceback

import torch

from . import observe, rng
from .memory import alias

_FUNCTION = ctypes.CFUNCTYPE(None, ctypes.c_void_p)
_driver = None
_numbers = itertools.count(1)
_captures = {}  # the number that a graph has here, by the identity of its capture
_functions = {}  # by that number, the functions that the graph needs


def use(driver):
    """Takes the driver whose graphs get the functions."""
    global _driver
    _driver = driver
    pointer = ctypes.c_void_p
    driver.cuStreamGetCaptureInfo_v2.argtypes = (pointer,) * 6
    driver.cuUserObjectCreate.argtypes = (pointer, pointer, _FUNCTION, ctypes.c_uint, ctypes.c_uint)
    driver.cuGraphRetainUserObject.argtypes = (pointer, pointer, ctypes.c_uint, ctypes.c_uint)


@_FUNCTION
def _forget(number):
    """The graph is gone, and what was made of it."""
    _functions.pop(number, None)


def _checked(status, what):
    if status != 0:
        raise RuntimeError(f"CUDA error: {what} answered {status} while the stream is captured")


def _functions_of(handle):
    """The functions of the graph that this stream is captured into. They live as long as the graph does."""
    status, identity, graph = ctypes.c_int(), ctypes.c_uint64(), ctypes.c_void_p()
    _checked(
        _driver.cuStreamGetCaptureInfo_v2(
            handle, ctypes.byref(status), ctypes.byref(identity), ctypes.byref(graph), None, None
        ),
        "cuStreamGetCaptureInfo",
    )
    if _captures.get(identity.value) not in _functions:
        number, owner = next(_numbers), ctypes.c_void_p()
        _functions[number] = []
        _captures[identity.value] = number
        _checked(_driver.cuUserObjectCreate(ctypes.byref(owner), number, _forget, 1, 1), "cuUserObjectCreate")
        _checked(_driver.cuGraphRetainUserObject(graph, owner, 1, 1), "cuGraphRetainUserObject")
    return _functions[_captures[identity.value]]


def launch(handle, work):
    """Adds `work` to the captured stream: it runs each time that the graph does, on a thread of the driver's."""

    def guarded():
        try:
            with torch.no_grad():
                work()
        except BaseException:  # the driver could do nothing with it
            print("millrace: error: an operator of PyTorch's failed in a graph", file=sys.stderr)
            traceback.print_exc()

    kept = observe.function(guarded)
    _functions_of(handle).append(kept)
    _checked(observe.submit(handle, kept), "the captured operator")


def _meta(value):
    if isinstance(value, torch.Tensor):
        return torch.empty_strided(value.size(), value.stride(), dtype=value.dtype, device="meta")
    return (
        torch.device("meta")
        if isinstance(value, torch.device)
        else None if isinstance(value, torch.Generator) else value
    )


def metas(values):
    """The arguments of a call, as forms without values."""
    from .operator import mapped

    if isinstance(values, dict):
        return {name: mapped(_meta, each) for name, each in values.items()}
    return [mapped(_meta, each) for each in values]


def add(call, handle):
    """Adds the call to the graph. What the program gets has the sizes that PyTorch tells without any values."""
    from .operator import mapped

    operator, options = call.operator, metas(call.kwargs)
    try:
        shaped = operator.kernel(*metas(call.args), **options)
    except RuntimeError as fault:
        raise RuntimeError(
            f"CUDA error: operation not permitted when stream is capturing ({operator.name}: {fault})"
        ) from None
    for name in call.sized:
        if options[name].size() != call.given[name].size():
            call.given[name].resize_(options[name].size())
    targets = []  # where values go; None where the kernel writes into an argument

    def placed(meta):
        if not isinstance(meta, torch.Tensor):
            raise RuntimeError(f"CUDA error: operation not permitted when stream is capturing ({operator.name})")
        found = torch.empty_strided(meta.size(), meta.stride(), dtype=meta.dtype, device=call.device)
        targets.append(alias(found))
        return found

    def returned(name, meta):
        if name is None:
            return mapped(placed, meta)
        targets.append(None)
        return call.given[name]

    draw = rng.in_graph()
    several = len(operator.returned) > 1
    results = (
        tuple(map(returned, operator.returned, shaped))
        if several
        else returned(operator.returned[0], shaped) if operator.returned else None
    )

    def work():
        values = operator.run(call, draw)
        flat = []
        mapped(flat.append, values)
        for target, value in zip(targets, flat):
            if target is not None:
                target.copy_(value)
        call.give_back()

    call.tell(results)
    call.pairs.clear()  # the graph has addresses, and its memory may be handed out again
    call.given = {
        name: each for name, each in call.given.items() if name in call.sized or isinstance(each, torch.Generator)
    }
    launch(handle, work)
    return results
