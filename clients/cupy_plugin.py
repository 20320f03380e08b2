# SPDX-License-Identifier: Apache-2.0
"""A plugin for pytest under CuPy's own tests. CUPY_TESTS_ONE_IN=N keeps a fixed sample: about one test in N of those
that are collected, chosen by a checksum of the test's class, name and parameters, so that the same tests run each time
and all kinds of parameters occur."""
import os
import zlib


def pytest_collection_modifyitems(config, items):
    one_in = int(os.environ.get("CUPY_TESTS_ONE_IN", "1"))
    kept, rest = [], []
    for item in items:
        (rest if zlib.crc32(item.nodeid.partition("::")[2].encode()) % one_in else kept).append(item)
    if rest:
        config.hook.pytest_deselected(items=rest)
        items[:] = kept
