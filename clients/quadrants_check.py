# SPDX-License-Identifier: Apache-2.0
"""Quadrants (which began as Taichi) on the device: its LLVM makes PTX. A stencil, sums and counts by atomic additions,
beside NumPy."""
import numpy as np
import quadrants as qd

qd.init(arch=qd.cuda, fast_math=False)
assert qd.lang.impl.current_cfg().arch == qd.cuda
N = 256
plate, after = qd.field(qd.f32, (N, N)), qd.field(qd.f32, (N, N))
total, counts = qd.field(qd.f64, ()), qd.field(qd.i32, 16)


@qd.kernel
def smooth():
    for i, j in plate:
        if 0 < i < N - 1 and 0 < j < N - 1:
            after[i, j] = (plate[i - 1, j] + plate[i + 1, j] + plate[i, j - 1] + plate[i, j + 1]) / 4
        else:
            after[i, j] = plate[i, j]


@qd.kernel
def gather():
    for i, j in after:
        total[None] += qd.cast(after[i, j], qd.f64)
        counts[qd.cast(after[i, j] * 16, qd.i32)] += 1


start = np.random.default_rng(1).random((N, N), dtype=np.float32)
plate.from_numpy(start)
smooth()
gather()
expected = start.copy()
expected[1:-1, 1:-1] = (start[:-2, 1:-1] + start[2:, 1:-1] + start[1:-1, :-2] + start[1:-1, 2:]) / 4
result = after.to_numpy()
assert np.abs(result - expected).max() < 1e-6
print("stencil: good")
assert abs(total[None] - result.astype(np.float64).sum()) < 1e-6
assert (counts.to_numpy() == np.bincount((result * 16).astype(int).ravel(), minlength=16)).all()
print("sums and counts: good")
