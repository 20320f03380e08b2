# SPDX-License-Identifier: Apache-2.0
"""CuPy's matrix products and what of its linalg needs cuBLAS alone, each against NumPy. (CuPy refuses them while a
stream is captured.)"""
import cupy
import numpy

random = numpy.random.default_rng(7)
TOLERANCE = {"f": 2e-4, "d": 1e-11, "F": 2e-4, "D": 1e-11, "e": 2e-2}


def matrix(shape, kind):
    values = random.standard_normal(shape)
    if kind in "FD":
        values = values + 1j * random.standard_normal(shape)
    return values.astype(kind)


def same(got, wanted, kind):
    got = cupy.asnumpy(got)
    assert got.dtype == wanted.dtype and got.shape == wanted.shape, (got.dtype, got.shape, wanted.dtype, wanted.shape)
    scale = max(1.0, float(numpy.abs(wanted).max())) if wanted.size else 1.0
    numpy.testing.assert_allclose(got / scale, wanted / scale, atol=TOLERANCE[kind], rtol=0)


def products():
    for kind in "fdFDe":
        for shapes in (
            ((37, 53), (53, 29)),
            ((300, 280), (280, 310)),
            ((5, 37, 53), (5, 53, 29)),
            ((53,), (53, 29)),
            ((37, 53), (53,)),
            ((2, 3, 8, 9), (3, 9, 4)),
            ((1, 1), (1, 1)),
            ((0, 5), (5, 3)),
        ):
            a, b = matrix(shapes[0], kind), matrix(shapes[1], kind)
            same(cupy.asarray(a) @ cupy.asarray(b), a @ b, kind)
        a, b = matrix((40, 50), kind), matrix((40, 50), kind)
        same(cupy.asarray(a).T @ cupy.asarray(b), a.T @ b, kind)
        same(cupy.asarray(a)[::2, ::3] @ cupy.asarray(b)[::2, ::3].T, a[::2, ::3] @ b[::2, ::3].T, kind)
    for kind in "fdFD":
        a, b = matrix((40, 50), kind), matrix((50, 30), kind)
        same(cupy.dot(cupy.asarray(a), cupy.asarray(b)), a.dot(b), kind)
        same(cupy.tensordot(cupy.asarray(a), cupy.asarray(b), 1), numpy.tensordot(a, b, 1), kind)
        same(cupy.inner(cupy.asarray(a), cupy.asarray(a)), numpy.inner(a, a), kind)
        same(cupy.outer(cupy.asarray(a[0]), cupy.asarray(b[0])), numpy.outer(a[0], b[0]), kind)
        same(cupy.vdot(cupy.asarray(a), cupy.asarray(a)), numpy.vdot(a, a), kind)
        same(cupy.einsum("ij,jk,k->i", cupy.asarray(a), cupy.asarray(b), cupy.asarray(b[0])), numpy.einsum("ij,jk,k->i", a, b, b[0]), kind)
        same(cupy.linalg.matrix_power(cupy.asarray(a[:, :40]), 3), numpy.linalg.matrix_power(a[:, :40], 3), kind)
        same(cupy.kron(cupy.asarray(a[:3, :4]), cupy.asarray(b[:2, :5])), numpy.kron(a[:3, :4], b[:2, :5]), kind)
    values = matrix((6, 200), "d")
    same(cupy.cov(cupy.asarray(values)), numpy.cov(values), "d")
    same(cupy.corrcoef(cupy.asarray(values)), numpy.corrcoef(values), "d")


def batches():
    for kind in "fdFD":
        a, b = matrix((20, 12, 12), kind), matrix((20, 12, 3), kind)
        same(cupy.matmul(cupy.asarray(a), cupy.asarray(b)), a @ b, kind)


def functions():
    from cupy import cublas
    for kind in "fdFD":
        x, y = matrix((1000,), kind), matrix((1000,), kind)
        a = matrix((30, 40), kind)
        dx, dy, da = cupy.asarray(x), cupy.asarray(y), cupy.asarray(a, order="F")
        same(cublas.nrm2(dx), numpy.asarray(numpy.linalg.norm(x)).astype(kind.lower()), kind.lower())
        same(cublas.asum(dx), numpy.asarray(numpy.abs(x.real).sum() + (numpy.abs(x.imag).sum() if kind in "FD" else 0)).astype(kind.lower()), kind.lower())
        same((cublas.dotu if kind in "FD" else cublas.dot)(dx, dy), numpy.asarray(x @ y), kind)
        assert int(cublas.iamax(dx)) == 1 + int(numpy.argmax(numpy.abs(x.real) + numpy.abs(x.imag)))
        cublas.axpy(2.0, dx, dy)
        same(dy, y + 2 * x, kind)
        out = cupy.asarray(x[:30])
        cublas.gemv("N", 1.5, da, dx[:40], 0.5, out)
        same(out, 1.5 * (a @ x[:40]) + x[:30] / 2, kind)
        same(cublas.gemm("N", "T", da, da), a @ a.T, kind)
        same(cublas.geam("N", "N", 2.0, da, 3.0, da), 5 * a, kind)
        same(cupy.tril(cublas.syrk("N", da, lower=True)), numpy.tril(a @ a.T), kind)
        same(cublas.dgmm("L", da, dx[:30]), x[:30, None] * a, kind)


def order():
    stream = cupy.cuda.Stream(non_blocking=True)
    a = matrix((200, 200), "d") / 20
    with stream:
        x = cupy.asarray(a)
        total = cupy.eye(200)
        for _ in range(10):
            total = total @ x + 1
        got = cupy.asnumpy(total)
    wanted = numpy.eye(200)
    for _ in range(10):
        wanted = wanted @ a + 1
    numpy.testing.assert_allclose(got, wanted, rtol=1e-9, atol=1e-9)


for test in (products, batches, functions, order):
    test()
    print(test.__name__, "right", flush=True)
