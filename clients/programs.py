# SPDX-License-Identifier: Apache-2.0
"""Small programs that run on the device and beside it: shared by the checks of TensorFlow and JAX.

A program is a function that returns what it computed; both places have to give the same, within its limit.
"""

import sys
import time
import traceback

import numpy as np

PROGRAMS = {}


def program(limit=1e-4):
    """Adds the function to the programs."""

    def add(function):
        PROGRAMS[function.__name__] = (function, limit)
        return function

    return add


def numbers(*shape, seed=1):
    return np.random.default_rng(seed).standard_normal(shape).astype("float32")


def falls(values):
    assert values[-1] < values[0], f"the loss does not fall: {values}"
    return values


def compare(got, wanted, limit):
    """Two lists of arrays. Whole numbers have to be equal."""
    assert len(got) == len(wanted) > 0
    for i, (a, b) in enumerate(zip(got, wanted)):
        assert a.shape == b.shape and a.dtype == b.dtype, f"result {i}: {a.shape} {a.dtype}, {b.shape} {b.dtype}"
        if a.dtype.kind in "biu":
            assert np.array_equal(a, b), f"result {i} differs: {a.ravel()[:6]} {b.ravel()[:6]}"
        elif a.size:
            a, b = (v.astype("complex128" if v.dtype.kind == "c" else "float64") for v in (a, b))
            assert np.array_equal(np.isnan(a), np.isnan(b)), f"result {i}: not a number"
            error = np.nanmax(np.where(a == b, 0, np.abs(a - b) / (1 + np.abs(b))))
            assert error <= limit, f"result {i}: {error}"


def run_programs(on_device, beside):
    """Runs all programs, or those that the arguments name; each of the two runs one and returns its arrays. Closes with
    "N passed, N failed" and the status."""
    passed = failed = 0
    for name in sys.argv[1:] or PROGRAMS:
        function, limit = PROGRAMS[name]
        begin = time.time()
        try:
            compare(on_device(function), beside(function), limit)
            passed += 1
            print(f"passed: {name} ({time.time() - begin:.1f} s)", flush=True)
        except Exception as error:
            failed += 1
            print(f"FAILED: {name}: {error}", flush=True)
            if not isinstance(error, AssertionError):
                traceback.print_exc()
    print(f"{passed} passed, {failed} failed")
    sys.exit(failed != 0)


def refused(errors, function, works):
    """The function ends with one of the errors, and what works goes on working."""
    try:
        function()
    except errors as error:
        print(type(error).__name__, str(error).splitlines()[0][:150])
        works()
        return
    raise AssertionError("nothing was refused")
