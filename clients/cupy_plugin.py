# SPDX-License-Identifier: Apache-2.0
"""A plugin for pytest under CuPy's own tests: many of them take their input from cupy.random's old interface, which is cuRAND's host library and can't work
here. NumPy draws those numbers instead, so that what the tests are about can be tested. Tests of cupy.random itself are not run with it."""
import cupy
import numpy


def _drawn_by_numpy(name):
    def draw(*arguments, dtype=None, **named):
        if name == "randint" and dtype is not None:
            named["dtype"] = dtype
        values = numpy.asarray(getattr(numpy.random, name)(*arguments, **named))
        return cupy.asarray(values if dtype is None else values.astype(dtype))
    return draw


for _name in ("rand", "randint", "randn", "random", "random_sample", "uniform", "normal", "standard_normal", "permutation"):
    setattr(cupy.random, _name, _drawn_by_numpy(_name))
