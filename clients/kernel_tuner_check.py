# SPDX-License-Identifier: Apache-2.0
"""Kernel Tuner, unmodified: it tries a kernel in several shapes, checks each result, and times each by events. Through
what the argument names: CuPy (its wheel), or NVCUDA (cuda.bindings)."""
import sys

import kernel_tuner
import numpy

SOURCE = """extern "C" __global__ void add(float *c, const float *a, const float *b, int n)
{
    for (int i = (blockIdx.x * block_size_x + threadIdx.x) * each; i < min(n, (blockIdx.x * block_size_x + threadIdx.x + 1) * each); i++)
        c[i] = a[i] + b[i];
}"""
COUNT = 50000
rng = numpy.random.default_rng(3)
a, b = (rng.standard_normal(COUNT).astype(numpy.float32) for _ in range(2))
arguments = [numpy.zeros(COUNT, numpy.float32), a, b, numpy.int32(COUNT)]
shapes = {"block_size_x": [32, 128], "each": [1, 2]}
grid = ["block_size_x", "each"]
results, _ = kernel_tuner.tune_kernel("add", SOURCE, COUNT, arguments, shapes, lang=sys.argv[1], grid_div_x=grid,
                                      answer=[a + b, None, None, None], iterations=3, quiet=True)
assert len(results) == 4 and all(isinstance(result["time"], float) and result["time"] > 0 for result in results), results
got = kernel_tuner.run_kernel("add", SOURCE, COUNT, arguments, {"block_size_x": 64, "each": 3}, lang=sys.argv[1],
                              grid_div_x=grid)
assert numpy.array_equal(got[0], a + b)
print("Kernel Tuner passed on", sys.argv[1])
