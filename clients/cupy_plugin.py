# SPDX-License-Identifier: Apache-2.0
"""A plugin for pytest under CuPy's own tests: many of them take their input from cupy.random's old interface, which is
cuRAND's host library and can't work here. NumPy draws those numbers instead, so that what the tests are about can be
tested. Tests of cupy.random itself are not run with it.

cupy.asfortranarray is cuBLAS where the array is a matrix of float or double. Tests of sorts, searches and sums use it
for their input; there the elements are copied into the other order by CuPy's own kernel. Tests whose name says that
they are about it get CuPy's.

CUPY_TESTS_ONE_IN=N keeps a fixed sample: about one test in N of those that are collected, chosen by a checksum of the
test's class, name and parameters, so that the same tests run each time and all kinds of parameters occur."""
import os
import zlib

import cupy
import numpy
import pytest


def _drawn_by_numpy(name):
    def draw(*arguments, dtype=None, **named):
        if name == "randint" and dtype is not None:
            named["dtype"] = dtype
        values = numpy.asarray(getattr(numpy.random, name)(*arguments, **named))
        return cupy.asarray(values if dtype is None else values.astype(dtype))
    return draw


for _name in ("rand", "randint", "randn", "random", "random_sample", "uniform", "normal", "standard_normal", "permutation"):
    setattr(cupy.random, _name, _drawn_by_numpy(_name))


def _copied_by_columns(a, dtype=None):
    return cupy.asarray(a).astype(a.dtype if dtype is None else dtype, order="F", copy=False)


@pytest.fixture(autouse=True)
def input_without_cublas(request, monkeypatch):
    if "asfortranarray" not in request.node.name:
        monkeypatch.setattr(cupy, "asfortranarray", _copied_by_columns)


def pytest_collection_modifyitems(config, items):
    one_in = int(os.environ.get("CUPY_TESTS_ONE_IN", "1"))
    kept, rest = [], []
    for item in items:
        (rest if zlib.crc32(item.nodeid.partition("::")[2].encode()) % one_in else kept).append(item)
    if rest:
        config.hook.pytest_deselected(items=rest)
        items[:] = kept
