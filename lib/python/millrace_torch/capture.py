# SPDX-License-Identifier: Apache-2.0
"""Operators in a captured stream: host nodes of the graph."""

import ctypes
import sys
import traceback

import torch

from . import driver, observe, rng
from .memory import alias
from .values import form_of, mapped

_functions = {}  # those that a graph needs, by the identity of its capture


@driver.HOST_FUNCTION
def _forget(identity):
    """The graph is gone, and what was made of it."""
    _functions.pop(identity, None)


def _functions_of(handle):
    """The functions of the graph that this stream is captured into. They live as long as the graph does."""
    status, identity, graph = ctypes.c_int(), ctypes.c_uint64(), ctypes.c_void_p()
    parts = [ctypes.byref(each) for each in (status, identity, graph)]
    driver.check(driver.cuda.cuStreamGetCaptureInfo_v2(handle, *parts, None, None))
    if identity.value not in _functions:
        owner = ctypes.c_void_p()
        driver.check(driver.cuda.cuUserObjectCreate(ctypes.byref(owner), identity.value, _forget, 1, 1))
        driver.check(driver.cuda.cuGraphRetainUserObject(graph, owner, 1, 1))
        _functions[identity.value] = []
    return _functions[identity.value]


def _launch(handle, label, work):
    """Adds `work` to the captured stream: it runs each time that the graph does, on a thread of the driver's. `label`
    is its name for observers, which stays."""

    def guarded():
        try:
            with torch.no_grad():
                work()
        except BaseException:  # fails the graph's launch
            print("millrace: error: an operator of PyTorch's failed in a graph", file=sys.stderr)
            traceback.print_exc()
            driver.cuda.millrace_fail_part(driver.LAUNCH_FAILED)

    kept = observe.function(guarded)
    _functions_of(handle).append(kept)
    observe.name(label)
    driver.check(observe.submit(handle, kept))


def add(call, handle):
    """Adds the call to the graph. What the program gets has the sizes that PyTorch tells without any values."""
    operator = call.operator
    forms = {name: mapped(form_of, each) for name, each in call.kwargs.items()}
    try:
        shaped = operator.kernel(*(mapped(form_of, each) for each in call.args), **forms)
    except RuntimeError as fault:
        raise RuntimeError(
            f"CUDA error: operation not permitted when stream is capturing ({operator.name}: {fault})"
        ) from None
    for name in call.sized:
        if forms[name].size() != call.given[name].size():
            call.given[name].resize_(forms[name].size())
    targets = []  # where values go; None where the kernel writes into an argument

    def placed(form):
        if not isinstance(form, torch.Tensor):  # a size, or a gradient that nobody wants
            targets.append(None)
            return form
        found = torch.empty_strided(form.size(), form.stride(), dtype=form.dtype, device=call.device)
        targets.append(alias(found))
        return found

    def returned(name, form):
        if name is None:
            return mapped(placed, form)
        targets.append(None)
        return call.given[name]

    draw = rng.in_graph()
    results = shaped
    if len(operator.returned) == 1:
        results = returned(operator.returned[0], shaped)
    elif operator.returned:
        results = tuple(map(returned, operator.returned, shaped))

    def work():
        values = operator.run(call, draw)
        flat = []
        mapped(flat.append, values)
        for target, value in zip(targets, flat):
            if target is not None:
                target.copy_(value)
        call.give_back()

    call.tell(results, runs_now=False)
    call.pairs.clear()  # the graph has addresses, and its memory may be handed out again
    call.given = {
        name: each for name, each in call.given.items() if name in call.sized or isinstance(each, torch.Generator)
    }
    _launch(handle, operator.label, work)
    return results
