# SPDX-License-Identifier: Apache-2.0
"""pycuda.curandom: its generators, whose kernels use curand_kernel.h and whose Sobol numbers use cuRAND's host library."""
import numpy as np
import pycuda.autoinit  # noqa: F401
from pycuda import curandom, gpuarray

n = 100_000
assert curandom.get_curand_version() >= (10, 0, 0), curandom.get_curand_version()


def seeds(value):
    """What PyCUDA calls to seed its lanes: an array on the device, the same each time."""
    return lambda count: gpuarray.to_gpu(np.arange(value, value + count, dtype=np.int32))


def close(what, found, expected, tolerance):
    assert abs(found - expected) < tolerance, f"{what}: {found}, not {expected}"


for name in ("XORWOWRandomNumberGenerator", "MRG32k3aRandomNumberGenerator"):
    draws = []
    for seed in (1, 1, 2):
        generator = getattr(curandom, name)(seeds(seed))
        for kind in (np.float32, np.float64):
            uniform = generator.gen_uniform(n, kind).get()
            assert uniform.dtype == kind and 0 < uniform.min() and uniform.max() <= 1, name
            close(f"{name}: mean", uniform.mean(), 0.5, 0.01)
            close(f"{name}: variance", uniform.var(), 1 / 12, 0.005)
            normal = generator.gen_normal(n, kind).get()
            close(f"{name}: mean of normals", normal.mean(), 0, 0.03)
            close(f"{name}: deviation of normals", normal.std(), 1, 0.03)
        draws.append(generator.gen_uniform(n, np.float32).get())
    assert (draws[0] == draws[1]).all(), f"{name}: the same seeds give other numbers"
    assert (draws[0] != draws[2]).mean() > 0.99, f"{name}: other seeds give the same numbers"

for name in ("Sobol32RandomNumberGenerator", "Sobol64RandomNumberGenerator"):
    generator = getattr(curandom, name)()
    uniform = generator.gen_uniform(n, np.float32).get()
    assert 0 < uniform.min() and uniform.max() <= 1, name
    # Each thread has a sequence of its own, which begins with 0: the first m of such numbers have a mean of 1/2 - 1/2m.
    each = n // (generator.block_count * generator.generators_per_block)
    close(f"{name}: mean", uniform.mean(), 0.5 - 0.5 / each, 0.005)

close("rand", curandom.rand((300, 300), dtype=np.float32).get().mean(), 0.5, 0.01)
print("right")
