# SPDX-License-Identifier: Apache-2.0
"""Triton kernels, each beside the same in NumPy. Arguments name the checks to run, by default all; --names prints the
names.

Triton compiles for the device that it finds and launches by the driver API; arrays are plain device memory here, so
that nothing but Triton and NumPy takes part.
"""
import ctypes
import os
import sys
import tempfile

import numpy as np
import triton
import triton.language as tl
from triton.language.extra import libdevice

driver = ctypes.CDLL("libcuda.so.1")
random = np.random.default_rng(7)
NAMES = {"float16": "float16", "float32": "float32", "float64": "float64", "int8": "int8", "int16": "int16", "int32": "int32", "int64": "int64",
         "uint8": "uint8", "uint16": "uint16", "uint32": "uint32", "uint64": "uint64", "bool": "bool"}


def ok(status):
    assert status == 0, f"status {status} of the driver"


class Array:
    """Device memory with what a NumPy array holds, in the form in which Triton takes its arguments."""

    def __init__(self, host, kind=None):
        self.host = np.ascontiguousarray(host)
        self.dtype = kind or NAMES[self.host.dtype.name]
        self.pointer = ctypes.c_uint64()
        ok(driver.cuMemAlloc_v2(ctypes.byref(self.pointer), ctypes.c_size_t(max(self.host.nbytes, 1))))
        ok(
            driver.cuMemcpyHtoD_v2(
                self.pointer, self.host.ctypes.data_as(ctypes.c_void_p), ctypes.c_size_t(self.host.nbytes)
            )
        )

    def __del__(self):
        driver.cuMemFree_v2(self.pointer)

    def data_ptr(self):
        return self.pointer.value

    def get(self):
        host = np.empty_like(self.host)
        ok(driver.cuMemcpyDtoH_v2(host.ctypes.data_as(ctypes.c_void_p), self.pointer, ctypes.c_size_t(host.nbytes)))
        return host


def zeros(shape, kind=np.float32):
    return Array(np.zeros(shape, kind))


def normal(*shape):
    return random.standard_normal(shape).astype(np.float32)


def bfloat(values):
    """The bits of bfloat16 numbers, cut, and the numbers that they stand for."""
    bits = values.astype(np.float32).view(np.uint32) >> 16
    return bits.astype(np.uint16), (bits << 16).astype(np.uint32).view(np.float32)


def near(got, wanted, tolerance=1e-5):
    np.testing.assert_allclose(got, wanted, rtol=tolerance, atol=tolerance)


def same(got, wanted):
    np.testing.assert_array_equal(got, wanted)


# --- elements
# -----------------------------------------------------------------------------------------------------------------

@triton.jit
def add_kernel(x, y, out, count, SIZE: tl.constexpr):
    at = tl.program_id(0) * SIZE + tl.arange(0, SIZE)
    inside = at < count
    tl.store(out + at, tl.load(x + at, mask=inside) + tl.load(y + at, mask=inside), mask=inside)


def addition():
    for kind in (np.float16, np.float32, np.float64, np.int8, np.int16, np.int32, np.int64, np.uint8, np.uint32):
        for count, size, warps in ((1, 32, 1), (1000, 256, 4), (100_001, 1024, 8)):
            x, y = (random.integers(0, 60, count).astype(kind) for _ in range(2))
            out = zeros(count, kind)
            add_kernel[(triton.cdiv(count, size),)](Array(x), Array(y), out, count, SIZE=size, num_warps=warps)
            same(out.get(), x + y)


@triton.jit
def functions_kernel(x, out, count, SIZE: tl.constexpr):
    at = tl.program_id(0) * SIZE + tl.arange(0, SIZE)
    inside = at < count
    value = tl.load(x + at, mask=inside, other=1.0)
    tl.store(out + 0 * count + at, tl.exp(value), mask=inside)
    tl.store(out + 1 * count + at, tl.log(tl.abs(value) + 1.0), mask=inside)
    tl.store(out + 2 * count + at, tl.sin(value) + tl.cos(value), mask=inside)
    tl.store(out + 3 * count + at, tl.sqrt(tl.abs(value)), mask=inside)
    tl.store(out + 4 * count + at, tl.rsqrt(tl.abs(value) + 1.0), mask=inside)
    tl.store(out + 5 * count + at, tl.sigmoid(value), mask=inside)
    tl.store(out + 6 * count + at, tl.floor(value) + tl.ceil(value), mask=inside)
    tl.store(out + 7 * count + at, tl.erf(value), mask=inside)
    tl.store(out + 8 * count + at, tl.exp2(value) + tl.log2(tl.abs(value) + 1.0), mask=inside)
    tl.store(
        out + 9 * count + at,
        tl.fma(value, value, value) + tl.maximum(value, 0.5) + tl.clamp(value, -0.25, 0.25),
        mask=inside,
    )
    tl.store(out + 10 * count + at, tl.sqrt_rn(tl.abs(value)) + tl.div_rn(value, 3.0), mask=inside)


def functions():
    from math import erf
    count = 5000
    x = normal(count)
    out = zeros((11, count))
    functions_kernel[(triton.cdiv(count, 512),)](Array(x), out, count, SIZE=512)
    d = x.astype(np.float64)
    wanted = [
        np.exp(d),
        np.log(abs(d) + 1),
        np.sin(d) + np.cos(d),
        np.sqrt(abs(d)),
        1 / np.sqrt(abs(d) + 1),
        1 / (1 + np.exp(-d)),
        np.floor(d) + np.ceil(d),
        [erf(v) for v in d],
        np.exp2(d) + np.log2(abs(d) + 1),
        d * d + d + np.maximum(d, 0.5) + np.clip(d, -0.25, 0.25),
        np.sqrt(abs(d)) + d / 3,
    ]
    for row, want in zip(out.get(), wanted):
        near(row, want, 1e-5)


@triton.jit
def integers_kernel(x, y, out, count, SIZE: tl.constexpr):
    at = tl.program_id(0) * SIZE + tl.arange(0, SIZE)
    inside = at < count
    a, b = tl.load(x + at, mask=inside, other=1), tl.load(y + at, mask=inside, other=1)
    tl.store(out + 0 * count + at, a // b, mask=inside)
    tl.store(out + 1 * count + at, a % b, mask=inside)
    tl.store(out + 2 * count + at, (a << 3) ^ (b >> 2) | (a & b), mask=inside)
    tl.store(out + 3 * count + at, tl.umulhi(a.to(tl.uint32), b.to(tl.uint32)).to(tl.int32), mask=inside)
    tl.store(out + 4 * count + at, tl.where(a > b, a - b, ~a), mask=inside)
    tl.store(out + 5 * count + at, tl.minimum(a, b) + tl.maximum(a, -b), mask=inside)


def integers():
    count = 3000
    x = random.integers(-2**31, 2**31, count).astype(np.int32)
    y = random.integers(1, 1000, count).astype(np.int32) * random.choice([-1, 1], count).astype(np.int32)
    out = zeros((6, count), np.int32)
    integers_kernel[(triton.cdiv(count, 256),)](Array(x), Array(y), out, count, SIZE=256)
    got, wide = out.get(), x.astype(np.int64)
    quotient = (np.sign(wide) * np.sign(y) * (abs(wide) // abs(y.astype(np.int64)))).astype(np.int32)
    same(got[0], quotient)
    same(got[1], x - quotient * y)
    same(got[2], (x << 3) ^ (y >> 2) | (x & y))
    same(
        got[3],
        ((x.view(np.uint32).astype(np.uint64) * y.view(np.uint32).astype(np.uint64)) >> 32)
        .astype(np.uint32)
        .view(np.int32),
    )
    same(got[4], np.where(x > y, x - y, ~x))
    same(got[5], np.minimum(x, y) + np.maximum(x, -y))


@triton.jit
def conversions_kernel(x, half, bfloat_bits, eight, whole, back, count, SIZE: tl.constexpr):
    at = tl.program_id(0) * SIZE + tl.arange(0, SIZE)
    inside = at < count
    value = tl.load(x + at, mask=inside)
    tl.store(half + at, value.to(tl.float16), mask=inside)
    tl.store(bfloat_bits + at, value.to(tl.bfloat16).to(tl.uint16, bitcast=True), mask=inside)
    tl.store(eight + at, value.to(tl.float16).to(tl.float8e5).to(tl.uint8, bitcast=True), mask=inside)
    tl.store(whole + at, (value * 10).to(tl.int32), mask=inside)
    tl.store(back + at, value.to(tl.float8e5).to(tl.float32), mask=inside)


def conversions():
    count = 4000
    x = (normal(count) * 20).astype(np.float32)
    half, bits, eight, whole, back = (
        zeros(count, np.float16),
        zeros(count, np.uint16),
        zeros(count, np.uint8),
        zeros(count, np.int32),
        zeros(count),
    )
    conversions_kernel[(triton.cdiv(count, 256),)](Array(x), half, bits, eight, whole, back, count, SIZE=256)
    same(half.get(), x.astype(np.float16))
    word = x.view(np.uint32).astype(np.uint64)
    same(bits.get(), ((word + 0x7fff + (word >> 16 & 1)) >> 16).astype(np.uint16))
    h = x.astype(np.float16).view(np.uint16).astype(np.uint32)
    same(eight.get(), ((h + 0x7f + (h >> 8 & 1)) >> 8).astype(np.uint8))
    same(whole.get(), (x * np.float32(10)).astype(np.int32))
    near(back.get(), x, 0.13)


# --- reductions, scans, sorting
# -----------------------------------------------------------------------------------------------

@triton.jit
def softmax_kernel(out, x, columns, SIZE: tl.constexpr):
    row, at = tl.program_id(0), tl.arange(0, SIZE)
    value = tl.load(x + row * columns + at, mask=at < columns, other=-float("inf"))
    power = tl.exp(value - tl.max(value, axis=0))
    tl.store(out + row * columns + at, power / tl.sum(power, axis=0), mask=at < columns)


def softmax():
    for rows, columns, warps in ((5, 17, 1), (64, 781, 4), (3, 4000, 8)):
        x = normal(rows, columns)
        out = zeros((rows, columns))
        softmax_kernel[(rows,)](out, Array(x), columns, SIZE=triton.next_power_of_2(columns), num_warps=warps)
        power = np.exp(x - x.max(axis=1, keepdims=True))
        near(out.get(), power / power.sum(axis=1, keepdims=True))


@triton.jit
def reductions_kernel(x, out, M: tl.constexpr, N: tl.constexpr):
    value = tl.load(x + tl.arange(0, M)[:, None] * N + tl.arange(0, N)[None, :])
    row, column = tl.arange(0, M), tl.arange(0, N)
    tl.store(out + row, tl.sum(value, axis=1))
    tl.store(out + M + row, tl.max(value, axis=1))
    tl.store(out + 2 * M + row, tl.argmin(value, axis=1).to(tl.float32))
    tl.store(out + 3 * M + column, tl.sum(value, axis=0))
    tl.store(out + 3 * M + N + column, tl.argmax(value, axis=0).to(tl.float32))
    tl.store(out + 3 * M + 2 * N, tl.sum(value))
    tl.store(out + 3 * M + 2 * N + 1, tl.xor_sum((value * 1000).to(tl.int32).reshape(M * N), axis=0).to(tl.float32))


def reductions():
    for m, n, warps in ((16, 32, 1), (64, 64, 4), (8, 256, 8), (128, 16, 2)):
        x = random.integers(-50, 50, (m, n)).astype(np.float32)
        out = zeros(3 * m + 2 * n + 2)
        reductions_kernel[(1,)](Array(x), out, M=m, N=n, num_warps=warps)
        got = out.get()
        near(got[:m], x.sum(axis=1))
        same(got[m:2 * m], x.max(axis=1))
        same(got[2 * m:3 * m], x.argmin(axis=1))
        near(got[3 * m:3 * m + n], x.sum(axis=0))
        same(got[3 * m + n:3 * m + 2 * n], x.argmax(axis=0))
        near(got[-2], x.sum(), 1e-4)
        same(got[-1], np.float32(np.bitwise_xor.reduce((x * np.float32(1000)).astype(np.int32).ravel())))


@triton.jit
def first_order(a1, b1, a2, b2):
    return a1 * a2, b1 * a2 + b2


@triton.jit
def scans_kernel(x, out, recurrence, M: tl.constexpr, N: tl.constexpr):
    place = tl.arange(0, M)[:, None] * N + tl.arange(0, N)[None, :]
    value = tl.load(x + place)
    tl.store(out + place, tl.cumsum(value, axis=1))
    tl.store(out + M * N + place, tl.cumsum(value, axis=0, reverse=True))
    tl.store(out + 2 * M * N + place, tl.cumprod(tl.where(value > 0, 1.0, -1.0), axis=1))
    _, last = tl.associative_scan((tl.full((M, N), 0.5, tl.float32), value), axis=1, combine_fn=first_order)
    tl.store(recurrence + place, last)


def scans():
    for m, n, warps in ((4, 64, 1), (32, 32, 4), (8, 512, 8)):
        x = random.integers(-9, 9, (m, n)).astype(np.float32)
        out, recurrence = zeros((3, m, n)), zeros((m, n))
        scans_kernel[(1,)](Array(x), out, recurrence, M=m, N=n, num_warps=warps)
        got = out.get()
        same(got[0], x.cumsum(axis=1))
        same(got[1], x[::-1].cumsum(axis=0)[::-1])
        same(got[2], np.where(x > 0, 1.0, -1.0).cumprod(axis=1))
        wanted = np.zeros((m, n))
        for i in range(n):
            wanted[:, i] = x[:, i] + (0.5 * wanted[:, i - 1] if i else 0)
        near(recurrence.get(), wanted)


@triton.jit
def sort_kernel(x, out, M: tl.constexpr, N: tl.constexpr, DOWN: tl.constexpr):
    place = tl.arange(0, M)[:, None] * N + tl.arange(0, N)[None, :]
    tl.store(out + place, tl.sort(tl.load(x + place), descending=DOWN))


@triton.jit
def histogram_kernel(x, out, N: tl.constexpr, BINS: tl.constexpr):
    tl.store(out + tl.arange(0, BINS), tl.histogram(tl.load(x + tl.arange(0, N)), BINS))


@triton.jit
def gather_kernel(x, index, out, N: tl.constexpr, M: tl.constexpr):
    tl.store(out + tl.arange(0, M), tl.gather(tl.load(x + tl.arange(0, N)), tl.load(index + tl.arange(0, M)), 0))


@triton.jit
def shapes_kernel(x, out, M: tl.constexpr, N: tl.constexpr):
    value = tl.load(x + tl.arange(0, M)[:, None] * N + tl.arange(0, N)[None, :])
    tl.store(out + tl.arange(0, N)[:, None] * M + tl.arange(0, M)[None, :], tl.trans(value))
    left, right = tl.split(value.reshape(M, N // 2, 2))
    joined = tl.join(right, left).reshape(M * N)
    tl.store(out + M * N + tl.arange(0, M * N), tl.flip(joined, 0))


def sorting():
    for kind in (np.float32, np.int32, np.int16):
        for m, n, down in ((1, 32, False), (8, 64, True), (2, 512, False)):
            x = random.integers(-1000, 1000, (m, n)).astype(kind)
            out = zeros((m, n), kind)
            sort_kernel[(1,)](Array(x), out, M=m, N=n, DOWN=down)
            same(out.get(), -np.sort(-x, axis=1) if down else np.sort(x, axis=1))
    x = random.integers(0, 64, 2048).astype(np.int32)
    out = zeros(64, np.int32)
    histogram_kernel[(1,)](Array(x), out, N=2048, BINS=64)
    same(out.get(), np.bincount(x, minlength=64))
    x, index = normal(128), random.integers(0, 128, 256).astype(np.int32)
    out = zeros(256)
    gather_kernel[(1,)](Array(x), Array(index), out, N=128, M=256)
    same(out.get(), x[index])
    x = normal(32, 64)
    out = zeros((2, 32 * 64))
    shapes_kernel[(1,)](Array(x), out, M=32, N=64)
    same(out.get()[0], x.T.ravel())
    same(out.get()[1], x.reshape(-1, 2)[:, ::-1].ravel()[::-1])


# --- matrices
# -----------------------------------------------------------------------------------------------------------------

@triton.jit
def matrix_kernel(
    a,
    b,
    c,
    M,
    N,
    K,
    BM: tl.constexpr,
    BN: tl.constexpr,
    BK: tl.constexpr,
    PRECISION: tl.constexpr,
    INTEGER: tl.constexpr,
):
    rows, columns, depth = (
        tl.program_id(0) * BM + tl.arange(0, BM),
        tl.program_id(1) * BN + tl.arange(0, BN),
        tl.arange(0, BK),
    )
    left, right = a + rows[:, None] * K + depth[None, :], b + depth[:, None] * N + columns[None, :]
    total = tl.zeros((BM, BN), dtype=tl.int32 if INTEGER else tl.float32)
    for k in range(0, K, BK):
        x = tl.load(left, mask=(rows[:, None] < M) & (depth[None, :] < K - k), other=0)
        y = tl.load(right, mask=(depth[:, None] < K - k) & (columns[None, :] < N), other=0)
        total = tl.dot(x, y, total, input_precision=PRECISION, out_dtype=tl.int32 if INTEGER else tl.float32)
        left += BK
        right += BK * N
    tl.store(c + rows[:, None] * N + columns[None, :], total, mask=(rows[:, None] < M) & (columns[None, :] < N))


def multiply(kind, m, n, k, tile=(32, 32, 32), precision="ieee", **options):
    integer = kind == "int8"
    if integer:
        a, b = (random.integers(-128, 128, shape).astype(np.int8) for shape in ((m, k), (k, n)))
        x, y = Array(a), Array(b)
    elif kind == "bfloat16":
        (bits_a, a), (bits_b, b) = (bfloat(normal(*shape)) for shape in ((m, k), (k, n)))
        x, y = Array(bits_a, kind), Array(bits_b, kind)
    else:
        a, b = (normal(*shape).astype(kind) for shape in ((m, k), (k, n)))
        x, y = Array(a), Array(b)
    c = zeros((m, n), np.int32 if integer else np.float32)
    grid = (triton.cdiv(m, tile[0]), triton.cdiv(n, tile[1]))
    matrix_kernel[grid](
        x, y, c, m, n, k, BM=tile[0], BN=tile[1], BK=tile[2], PRECISION=precision, INTEGER=integer, **options
    )
    if integer:
        same(c.get(), a.astype(np.int32) @ b.astype(np.int32))
    else:
        near(c.get(), a.astype(np.float64) @ b.astype(np.float64), 3e-2 if precision == "tf32" else 1e-3)


def matrices():
    for kind in ("float16", "bfloat16", "int8", "float32"):
        multiply(kind, 64, 64, 64)
        multiply(kind, 100, 90, 70, (64, 32, 32), num_warps=2, num_stages=1)
        multiply(kind, 130, 128, 256, (64, 64, 32), num_warps=4, num_stages=4)
    multiply("float32", 96, 64, 128, precision="tf32")
    multiply("float32", 64, 64, 128, precision="tf32x3")
    multiply("float16", 256, 256, 256, (128, 128, 32), num_warps=8, num_stages=3)


@triton.jit
def double_kernel(a, b, c, N: tl.constexpr):
    place = tl.arange(0, N)[:, None] * N + tl.arange(0, N)[None, :]
    tl.store(c + place, tl.dot(tl.load(a + place), tl.load(b + place), out_dtype=tl.float64))


@triton.jit
def many_kernel(a, b, c, B: tl.constexpr, N: tl.constexpr):
    place = tl.arange(0, B)[:, None, None] * N * N + tl.arange(0, N)[None, :, None] * N + tl.arange(0, N)[None, None, :]
    tl.store(c + place, tl.dot(tl.load(a + place), tl.load(b + place)))


def more_matrices():
    a, b = random.standard_normal((32, 32)), random.standard_normal((32, 32))
    c = zeros((32, 32), np.float64)
    double_kernel[(1,)](Array(a), Array(b), c, N=32)
    near(c.get(), a @ b, 1e-12)
    a, b = (random.standard_normal((4, 32, 32)).astype(np.float16) for _ in range(2))
    c = zeros((4, 32, 32))
    many_kernel[(1,)](Array(a), Array(b), c, B=4, N=32)
    near(c.get(), a.astype(np.float32) @ b.astype(np.float32), 1e-2)


@triton.jit
def attention_kernel(
    q, k, v, out, length, scale, D: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr, CAUSAL: tl.constexpr
):
    start, head = tl.program_id(0) * BM, tl.program_id(1) * length * D
    rows, columns, depth = start + tl.arange(0, BM), tl.arange(0, BN), tl.arange(0, D)
    query = tl.load(q + head + rows[:, None] * D + depth[None, :])
    most = tl.full((BM,), -float("inf"), tl.float32)
    weight = tl.zeros((BM,), tl.float32)
    total = tl.zeros((BM, D), tl.float32)
    for n in range(0, (start + BM) if CAUSAL else length, BN):
        key = tl.load(k + head + (n + columns)[None, :] * D + depth[:, None])
        scores = tl.dot(query, key) * scale
        if CAUSAL:
            scores = tl.where(rows[:, None] >= (n + columns)[None, :], scores, -float("inf"))
        now = tl.maximum(most, tl.max(scores, 1))
        power, shrink = tl.exp2(scores - now[:, None]), tl.exp2(most - now)
        weight = weight * shrink + tl.sum(power, 1)
        value = tl.load(v + head + (n + columns)[:, None] * D + depth[None, :])
        total = total * shrink[:, None] + tl.dot(power.to(tl.float16), value)
        most = now
    tl.store(out + head + rows[:, None] * D + depth[None, :], total / weight[:, None])


def attention():
    for causal in (False, True):
        heads, length, d = 3, 128, 64
        q, k, v = (random.standard_normal((heads, length, d)).astype(np.float16) for _ in range(3))
        out = zeros((heads, length, d))
        scale = 1 / np.sqrt(d)
        attention_kernel[(length // 64, heads)](
            Array(q),
            Array(k),
            Array(v),
            out,
            length,
            float(scale * np.log2(np.e)),
            D=d,
            BM=64,
            BN=32,
            CAUSAL=causal,
            num_warps=4,
        )
        q, k, v = (x.astype(np.float64) for x in (q, k, v))
        scores = q @ k.transpose(0, 2, 1) * scale
        if causal:
            scores = np.where(np.tril(np.ones((length, length), bool)), scores, -np.inf)
        power = np.exp(scores - scores.max(axis=2, keepdims=True))
        near(out.get(), power / power.sum(axis=2, keepdims=True) @ v, 5e-3)


# --- programs
# -----------------------------------------------------------------------------------------------------------------

@triton.jit
def norm_kernel(x, out, mean_out, rstd_out, weight, bias, columns, eps, SIZE: tl.constexpr):
    row = tl.program_id(0)
    total = tl.zeros((SIZE,), tl.float32)
    for start in range(0, columns, SIZE):
        at = start + tl.arange(0, SIZE)
        total += tl.load(x + row * columns + at, mask=at < columns, other=0.0)
    mean = tl.sum(total, axis=0) / columns
    total = tl.zeros((SIZE,), tl.float32)
    for start in range(0, columns, SIZE):
        at = start + tl.arange(0, SIZE)
        part = tl.where(at < columns, tl.load(x + row * columns + at, mask=at < columns, other=0.0) - mean, 0.0)
        total += part * part
    rstd = 1 / tl.sqrt(tl.sum(total, axis=0) / columns + eps)
    tl.store(mean_out + row, mean)
    tl.store(rstd_out + row, rstd)
    for start in range(0, columns, SIZE):
        at = start + tl.arange(0, SIZE)
        inside = at < columns
        value = (tl.load(x + row * columns + at, mask=inside, other=0.0) - mean) * rstd
        tl.store(
            out + row * columns + at,
            value * tl.load(weight + at, mask=inside) + tl.load(bias + at, mask=inside),
            mask=inside,
        )


def layer_norm():
    rows, columns = 37, 1151
    x, weight, bias = normal(rows, columns), normal(columns), normal(columns)
    out, mean, rstd = zeros((rows, columns)), zeros(rows), zeros(rows)
    norm_kernel[(rows,)](Array(x), out, mean, rstd, Array(weight), Array(bias), columns, 1e-5, SIZE=256)
    wide = x.astype(np.float64)
    centre, width = wide.mean(axis=1, keepdims=True), wide.std(axis=1, keepdims=True)
    near(mean.get(), centre[:, 0])
    near(out.get(), (wide - centre) / np.sqrt(width**2 + 1e-5) * weight + bias, 1e-4)


@triton.jit
def atomics_kernel(x, sums, most, count, lock, guarded, SIZE: tl.constexpr, BINS: tl.constexpr):
    at = tl.program_id(0) * SIZE + tl.arange(0, SIZE)
    value = tl.load(x + at, mask=at < count, other=0)
    tl.atomic_add(sums + value % BINS, 1, mask=at < count)
    tl.atomic_max(most + value % BINS, value, mask=at < count)
    tl.atomic_add(sums + BINS, tl.sum(value, axis=0), sem="relaxed")
    while tl.atomic_cas(lock, 0, 1) == 1:
        pass
    tl.store(guarded, tl.load(guarded) + 1)
    tl.debug_barrier()
    tl.atomic_xchg(lock, 0)


def atomics():
    count, bins = 10_000, 16
    x = random.integers(0, 1000, count).astype(np.int32)
    sums, most, lock, guarded = zeros(bins + 1, np.int32), zeros(bins, np.int32), zeros(1, np.int32), zeros(1, np.int32)
    grid = triton.cdiv(count, 256)
    atomics_kernel[(grid,)](Array(x), sums, most, count, lock, guarded, SIZE=256, BINS=bins)
    same(sums.get()[:-1], np.bincount(x % bins, minlength=bins))
    same(sums.get()[-1], x.sum())
    same(most.get(), [x[x % bins == i].max() for i in range(bins)])
    same(guarded.get()[0], grid)


@triton.jit
def floats_added_kernel(x, sums, halves, SIZE: tl.constexpr):
    at = tl.program_id(0) * SIZE + tl.arange(0, SIZE)
    value = tl.load(x + at)
    tl.atomic_add(sums + at % 8, value)
    tl.atomic_add(halves + at % 8, value.to(tl.float16))


def floats_added():
    x = random.integers(-3, 4, 2048).astype(np.float32)
    sums, halves = zeros(8), zeros(8, np.float16)
    floats_added_kernel[(8,)](Array(x), sums, halves, SIZE=256)
    same(sums.get(), x.reshape(-1, 8).sum(axis=0))
    same(halves.get(), x.reshape(-1, 8).sum(axis=0).astype(np.float16))


@triton.jit
def dropout_kernel(x, out, count, chance, seed, SIZE: tl.constexpr):
    at = tl.program_id(0) * SIZE + tl.arange(0, SIZE)
    keep = tl.rand(seed, at) > chance
    tl.store(out + at, tl.where(keep, tl.load(x + at, mask=at < count) / (1 - chance), 0.0), mask=at < count)


@triton.jit
def random_kernel(out, seed, SIZE: tl.constexpr):
    at = tl.arange(0, SIZE)
    a, b, c, d = tl.randint4x(seed, at)
    tl.store(out + at, a)
    tl.store(out + SIZE + at, b)
    tl.store(out + 2 * SIZE + at, c)
    tl.store(out + 3 * SIZE + at, d)


def philox(counter, seed):
    """Four words of Philox 4x32 with ten rounds, for counters of one word."""
    c = [counter.astype(np.uint64)] + [np.zeros_like(counter, np.uint64)] * 3
    key = [np.uint64(seed & 0xffffffff), np.uint64(seed >> 32)]
    for _ in range(10):
        p, r = c[0] * np.uint64(0xD2511F53), c[2] * np.uint64(0xCD9E8D57)
        c = [
            (r >> np.uint64(32)) ^ c[1] ^ key[0],
            r & np.uint64(0xFFFFFFFF),
            (p >> np.uint64(32)) ^ c[3] ^ key[1],
            p & np.uint64(0xFFFFFFFF),
        ]
        key = [
            key[0] + np.uint64(0x9E3779B9) & np.uint64(0xFFFFFFFF),
            key[1] + np.uint64(0xBB67AE85) & np.uint64(0xFFFFFFFF),
        ]
    return np.array(c, np.uint64).astype(np.uint32)


def random_numbers():
    out = zeros((4, 512), np.int32)
    random_kernel[(1,)](out, 1234, SIZE=512)
    same(out.get().view(np.uint32), philox(np.arange(512), 1234))
    x = normal(20_000)
    out = zeros(20_000)
    dropout_kernel[(triton.cdiv(20_000, 1024),)](Array(x), out, 20_000, 0.5, 99, SIZE=1024)
    kept = out.get() != 0
    assert 0.45 < kept.mean() < 0.55
    same(out.get()[kept], x[kept] * 2)


@triton.jit(noinline=True)
def collatz(value):
    steps = 0
    while value != 1:
        value = value // 2 if value % 2 == 0 else 3 * value + 1
        steps += 1
    return steps


@triton.jit
def calls_kernel(out, count):
    index = tl.program_id(0)
    if index < count:
        steps = collatz(index + 1)
        if steps > 20:
            tl.store(out + index, steps)
        else:
            tl.store(out + index, -steps)


def calls():
    count = 200
    out = zeros(count, np.int32)
    calls_kernel[(count,)](out, count)
    wanted = []
    for value in range(1, count + 1):
        steps = 0
        while value != 1:
            value, steps = (value // 2 if value % 2 == 0 else 3 * value + 1), steps + 1
        wanted.append(steps if steps > 20 else -steps)
    same(out.get(), wanted)


@triton.jit
def assembly_kernel(x, y, out, SIZE: tl.constexpr):
    at = tl.arange(0, SIZE)
    value = tl.inline_asm_elementwise("lop3.b32 $0, $1, $2, 0, 0x3c; prmt.b32 $0, $0, 0, 0x0123;", "=r,r,r", [tl.load(x + at), tl.load(y + at)],
                                      dtype=tl.int32, is_pure=True, pack=1)
    tl.store(out + at, value)


def assembly():
    x, y = (random.integers(-2**31, 2**31, 256).astype(np.int32) for _ in range(2))
    out = zeros(256, np.int32)
    assembly_kernel[(1,)](Array(x), Array(y), out, SIZE=256)
    same(out.get(), (x ^ y).byteswap())


@triton.jit
def blocks_kernel(x, out, M, N, BM: tl.constexpr, BN: tl.constexpr):
    source = tl.make_tensor_descriptor(x, shape=[M, N], strides=[N, 1], block_shape=[BM, BN])
    target = tl.make_tensor_descriptor(out, shape=[M, N], strides=[N, 1], block_shape=[BM, BN])
    at = [tl.program_id(0) * BM, tl.program_id(1) * BN]
    target.store(at, source.load(at) * 2)


def descriptors():
    x = normal(100, 72)
    out = zeros((100, 72))
    blocks_kernel[(triton.cdiv(100, 32), triton.cdiv(72, 32))](Array(x), out, 100, 72, BM=32, BN=32)
    same(out.get(), x * 2)


@triton.jit
def wait_kernel(counter, out, count):
    """Blocks meet in global memory: each counts itself in and waits for all."""
    index = tl.program_id(0)
    tl.atomic_add(counter, 1, sem="release")
    while tl.atomic_add(counter, 0, sem="acquire") < count:
        pass
    tl.store(out + index, tl.atomic_add(counter, 0))


def blocks_that_meet():
    counter, out = zeros(1, np.int32), zeros(8, np.int32)
    wait_kernel[(8,)](counter, out, 8, launch_cooperative_grid=True)
    same(out.get(), 8)


@triton.jit
def library_kernel(x, out, SIZE: tl.constexpr):
    value = tl.load(x + tl.arange(0, SIZE))
    tl.store(
        out + tl.arange(0, SIZE),
        libdevice.tanh(value)
        + libdevice.pow(tl.abs(value), 1.5)
        + libdevice.atan2(value, 0.5)
        + libdevice.lgamma(tl.abs(value) + 1),
    )


def library():
    from math import lgamma
    x = normal(512)
    out = zeros(512)
    library_kernel[(1,)](Array(x), out, SIZE=512)
    d = x.astype(np.float64)
    near(out.get(), np.tanh(d) + abs(d)**1.5 + np.arctan2(d, 0.5) + [lgamma(abs(v) + 1) for v in d])


@triton.autotune(configs=[triton.Config({"SIZE": 128}, num_warps=1), triton.Config({"SIZE": 1024}, num_warps=4)], key=["count"],
                 do_bench=lambda call, quantiles: (call(), 1.0)[1:] * 3)
@triton.jit
def tuned_kernel(x, out, count, SIZE: tl.constexpr):
    at = tl.program_id(0) * SIZE + tl.arange(0, SIZE)
    tl.store(out + at, tl.load(x + at, mask=at < count) + 1, mask=at < count)


def tuning():
    x = normal(5000)
    out = zeros(5000)
    tuned_kernel[lambda meta: (triton.cdiv(5000, meta["SIZE"]),)](Array(x), out, 5000)
    same(out.get(), x + 1)


@triton.jit
def fusion_kernel(x, y, out, SIZE: tl.constexpr):
    at = tl.arange(0, SIZE)
    value = tl.load(x + at)
    tl.store(out + at, value * value + tl.load(y + at))


def fusion():
    x, y = normal(256), normal(256)
    for fused in True, False:
        out = zeros(256)
        fusion_kernel[(1,)](Array(x), Array(y), out, SIZE=256, enable_fp_fusion=fused)
        wide = x.astype(np.float64)
        same(out.get(), (wide * wide + y).astype(np.float32) if fused else x * x + y)


@triton.jit
def words_kernel(x):
    tl.device_print("value", tl.load(x + tl.arange(0, 4)))


def printing():
    x = Array(np.arange(4, dtype=np.int32) * 11)
    with tempfile.TemporaryFile() as file:
        before = os.dup(1)
        os.dup2(file.fileno(), 1)
        words_kernel[(1,)](x, num_warps=1)
        ok(driver.cuCtxSynchronize())
        os.dup2(before, 1)
        file.seek(0)
        lines = set(file.read().decode().splitlines())
    same(sorted(lines), [f"pid (0, 0, 0) idx ({i}) value: {11 * i}" for i in range(4)])


CHECKS = {
    check.__name__: check
    for check in (
        addition,
        functions,
        integers,
        conversions,
        softmax,
        reductions,
        scans,
        sorting,
        matrices,
        more_matrices,
        attention,
        layer_norm,
        atomics,
        floats_added,
        random_numbers,
        calls,
        assembly,
        descriptors,
        blocks_that_meet,
        library,
        tuning,
        fusion,
        printing,
    )
}

if __name__ == "__main__":
    triton.runtime.driver.active.get_current_device()  # makes the context
    if sys.argv[1:] == ["--names"]:
        for name in CHECKS:
            print("name:", name)
        sys.exit()
    for name in sys.argv[1:] or CHECKS:
        CHECKS[name]()
        print("right:", name, flush=True)
