# SPDX-License-Identifier: Apache-2.0
"""CuPy's sparse matrices, from its wheel: cuSPARSE's products, sums, conversions, sorts, and triangular
systems, beside NumPy's dense ones."""

import cupy as cp
import numpy as np
from cupy_backends.cuda.libs import cusparse as backend
from cupyx import cusparse
from cupyx.scipy import sparse

rng = np.random.default_rng(3)
bad = 0


def check(name, ours, reference, rtol=2e-4):
    global bad
    ours, reference = cp.asnumpy(ours), np.asarray(reference)
    atol = rtol * (1 + np.abs(reference).max(initial=0))
    if ours.shape != reference.shape or not np.allclose(ours, reference, rtol=rtol, atol=atol):
        bad += 1
        print(f"{name}: differs from NumPy's")


def numbers(shape, dtype, density=0.15):
    values = rng.integers(-4, 5, shape).astype(dtype)
    if np.dtype(dtype).kind == "c":
        values += (1j * rng.integers(-4, 5, shape)).astype(dtype)
    return values * (rng.random(shape) < density)


def products(dtype):
    a, b, x = numbers((60, 40), dtype), numbers((40, 50), dtype), numbers(40, dtype, 1)
    dense = numbers((40, 7), dtype, 1)
    for make in (sparse.csr_matrix, sparse.csc_matrix, sparse.coo_matrix):
        m = make(cp.asarray(a))
        check(f"{make.__name__} times vector", m @ cp.asarray(x), a @ x)
        check(f"{make.__name__} transposed times vector", m.T @ cp.asarray(a @ x), a.T @ (a @ x))
        check(f"{make.__name__} times dense", m @ cp.asarray(dense), a @ dense)
        check(f"{make.__name__} times dense by columns", m @ cp.asfortranarray(cp.asarray(dense)), a @ dense)
        check(f"{make.__name__} to dense", m.toarray(), a)
    ours = sparse.csr_matrix(cp.asarray(a)) @ sparse.csr_matrix(cp.asarray(b))
    check("sparse times sparse", ours.toarray(), a @ b)
    other = numbers((60, 40), dtype)
    check("sum", (sparse.csr_matrix(cp.asarray(a)) + sparse.csr_matrix(cp.asarray(other)) * 3).toarray(), a + 3 * other)


def conversions(dtype):
    a = numbers((30, 45), dtype)
    csr = sparse.csr_matrix(cp.asarray(a))
    for name in ("csc", "coo", "csr"):
        other = getattr(csr, "to" + name)()
        check(f"csr to {name}", other.toarray(), a)
        check(f"{name} back", other.tocsr().toarray(), a)
    order = rng.permutation(csr.nnz)
    coo = csr.tocoo()
    mixed = sparse.coo_matrix((coo.data[order], (coo.row[order], coo.col[order])), shape=a.shape)
    check("unsorted coo", mixed.tocsr().toarray(), a)
    doubled = sparse.coo_matrix((cp.concatenate([coo.data, coo.data]),
                                 (cp.concatenate([coo.row, coo.row]), cp.concatenate([coo.col, coo.col]))),
                                shape=a.shape)
    doubled.sum_duplicates()
    check("duplicates", doubled.toarray(), 2 * a)


def systems(dtype):
    a = np.tril(numbers((40, 40), dtype)) + 20 * np.eye(40, dtype=dtype)
    b = numbers((40, 3), dtype, 1)
    m = sparse.csr_matrix(cp.asarray(a))
    x = cusparse.spsm(m, cp.asarray(b, order="F"), lower=True)
    check("spsm", a @ cp.asnumpy(x), b)
    check("spsm transposed", a.T @ cp.asnumpy(cusparse.spsm(m, cp.asarray(b, order="F"), lower=True, transa=True)), b)


for kind in (np.float32, np.float64, np.complex64, np.complex128):
    products(kind)
    conversions(kind)
    systems(kind)
print("cuSPARSE", backend.getVersion(cp.cuda.device.get_cusparse_handle()))
print("FAILED" if bad else "passed", bad)
raise SystemExit(bad != 0)
