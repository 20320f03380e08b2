#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Taichi's sparse matrices and solvers on CUDA beside NumPy: clients/taichi_check.py, under `millrace run`.

Kernels fill the matrices. Products and sums are cuSPARSE, the solvers cuSOLVER's preview, step by step: Cholesky for LLT
and LDLT, LU; conjugate gradients use cuSPARSE and cuBLAS."""
import numpy as np
import taichi as ti

ti.init(arch=ti.cuda, offline_cache=False)
assert ti.cfg.arch == ti.cuda, "Taichi found no device"
SIDE = 12
N = SIDE * SIDE


@ti.kernel
def grid(builder: ti.types.sparse_matrix_builder(), middle: ti.f32, east: ti.f32):
    for i in range(N):
        builder[i, i] += middle
        if i % SIDE > 0:
            builder[i, i - 1] += -1.0
            builder[i - 1, i] += east
        if i >= SIDE:
            builder[i, i - SIDE] += -1.0
            builder[i - SIDE, i] += -1.0


def grid_of(middle, east):
    builder = ti.linalg.SparseMatrixBuilder(N, N, max_num_triplets=8 * N)
    grid(builder, middle, east)
    dense = np.zeros((N, N), np.float64)
    for i in range(N):
        dense[i, i] = middle
        if i % SIDE > 0:
            dense[i, i - 1], dense[i - 1, i] = -1, east
        if i >= SIDE:
            dense[i, i - SIDE] = dense[i - SIDE, i] = -1
    return builder.build(), dense


def vector(values):
    made = ti.ndarray(ti.f32, len(values))
    made.from_numpy(values.astype(np.float32))
    return made


def same(name, found, expected, limit=2e-5):
    off = abs(np.asarray(found, np.float64) - expected).max() / abs(expected).max()
    print(f"{name}: {off:.1e} off")
    assert off < limit, name


generator = np.random.default_rng(5)
A, dense = grid_of(4.5, -1.0)
B, other = grid_of(6.0, 0.5)
b = generator.normal(size=N)

same("A b", (A @ vector(b)).to_numpy(), dense @ b)
same("(A + B) b", ((A + B) @ vector(b)).to_numpy(), (dense + other) @ b)
same("(A - B) b", ((A - B) @ vector(b)).to_numpy(), (dense - other) @ b)
same("3 B b", ((B * 3.0) @ vector(b)).to_numpy(), 3 * other @ b)
same("B^T b", (B.transpose() @ vector(b)).to_numpy(), other.T @ b)
same("(A B) b", ((A @ B) @ vector(b)).to_numpy(), dense @ other @ b)

for kind in "LLT", "LDLT", "LU":
    for matrix, whole in ((A, dense), (B, other)):
        if matrix is B and kind != "LU":
            continue  # it is not symmetric
        solver = ti.linalg.SparseSolver(solver_type=kind)
        solver.analyze_pattern(matrix)
        solver.factorize(matrix)
        for turn in range(2):
            side = generator.normal(size=N)
            same(f"{kind}, right side {turn + 1}", solver.solve(vector(side)).to_numpy(), np.linalg.solve(whole, side))

x, good = ti.linalg.SparseCG(A, vector(b), x0=vector(0 * b), max_iter=200, atol=1e-6).solve()
assert good
same("conjugate gradients", x.to_numpy(), np.linalg.solve(dense, b))
print("Taichi: ok")
