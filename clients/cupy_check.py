# SPDX-License-Identifier: Apache-2.0
"""CuPy area by area: arrays, raw kernels, reductions by CUB, sorting by Thrust, streams, events, graphs, memory, fused
and JIT kernels. Each against NumPy."""
import cupy
import cupyx.jit
import numpy

SOURCE = r"""
#include <cupy/complex.cuh>
template <class T> __global__ void scale(T *data, T factor, int count)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x)
        data[i] *= factor;
}
extern "C" __global__ void norm(const complex<float> *in, float *out, int count)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count)
        out[i] = abs(in[i]);
}
"""


def same(got, wanted, tolerance=0.0):
    got = cupy.asnumpy(got)
    assert got.dtype == wanted.dtype and got.shape == wanted.shape, (got.dtype, got.shape, wanted.dtype, wanted.shape)
    numpy.testing.assert_allclose(got, wanted, rtol=tolerance, atol=tolerance)


def arrays():
    host = numpy.random.default_rng(1).random((37, 53))
    device = cupy.asarray(host)
    same(device * 2 + 1, host * 2 + 1)
    same(device.T[::2, 3:], host.T[::2, 3:])
    same(cupy.sin(device) ** 2 + cupy.cos(device) ** 2, numpy.ones_like(host), 1e-14)
    same(device[device > 0.5], host[host > 0.5])
    same((device + 1j * device).conj(), (host + 1j * host).conj())
    for dtype in "?bBhHiIlLefd":
        same(cupy.asarray(host * 50).astype(dtype), (host * 50).astype(dtype))


def reductions():
    host = numpy.random.default_rng(2).integers(-1000, 1000, (64, 1000))
    device = cupy.asarray(host)
    for axis in (None, 0, 1):
        same(device.sum(axis=axis), numpy.asarray(host.sum(axis=axis)))
        same(device.max(axis=axis), numpy.asarray(host.max(axis=axis)))
        same(device.argmin(axis=axis), numpy.asarray(host.argmin(axis=axis)))
    same(cupy.cumsum(device, axis=1), numpy.cumsum(host, axis=1))
    same(device.astype("d").mean(axis=0), host.astype("d").mean(axis=0), 1e-13)


def sorting():
    host = numpy.random.default_rng(3).random(20011)
    device = cupy.asarray(host)
    same(cupy.sort(device), numpy.sort(host))
    same(cupy.argsort(device), numpy.argsort(host))
    same(cupy.unique((device * 50).astype("i")), numpy.unique((host * 50).astype("i")))
    same(cupy.histogram(device, 20, (0, 1))[0], numpy.histogram(host, 20, (0, 1))[0])
    same(cupy.nonzero(device > 0.5)[0], numpy.nonzero(host > 0.5)[0])


def kernels():
    module = cupy.RawModule(code=SOURCE, options=("--std=c++17",), name_expressions=("scale<float>", "scale<int>"))
    for dtype, name in (("f", "scale<float>"), ("i", "scale<int>")):
        data = cupy.arange(1000, dtype=dtype)
        module.get_function(name)((4,), (64,), (data, data.dtype.type(3), 1000))
        same(data, (numpy.arange(1000) * 3).astype(dtype))
    values = cupy.arange(100, dtype="f") * cupy.complex64(3 + 4j)
    out = cupy.empty(100, dtype="f")
    module.get_function("norm")((2,), (64,), (values, out, 100))
    same(out, numpy.arange(100, dtype="f") * numpy.float32(5), 1e-6)
    clamp = cupy.ElementwiseKernel("T x, T low", "T y", "y = x < low ? low : x", "clamp")
    same(clamp(cupy.arange(10), 4), numpy.maximum(numpy.arange(10), 4))
    squares = cupy.ReductionKernel("T x", "T y", "x * x", "a + b", "y = a", "0", "squares")
    same(squares(cupy.arange(100)), numpy.asarray((numpy.arange(100) ** 2).sum()))

    @cupy.fuse()
    def length(x, y):
        return cupy.sqrt(x * x + y * y)
    same(length(cupy.arange(5.0) * 3, cupy.arange(5.0) * 4), numpy.arange(5.0) * 5)

    @cupyx.jit.rawkernel()
    def add(x, y, size):
        begin = cupyx.jit.blockIdx.x * cupyx.jit.blockDim.x + cupyx.jit.threadIdx.x
        for i in range(begin, size, cupyx.jit.gridDim.x * cupyx.jit.blockDim.x):
            y[i] += x[i]
    y = cupy.ones(1000, dtype="i")
    add[4, 64](cupy.arange(1000, dtype="i"), y, numpy.int32(1000))
    same(y, numpy.arange(1, 1001, dtype="i"))


def streams():
    first, second = cupy.cuda.Stream(non_blocking=True), cupy.cuda.Stream(non_blocking=True)
    begun, done = cupy.cuda.Event(), cupy.cuda.Event()
    with first:
        first.record(begun)
        data = cupy.arange(100000)
        for _ in range(20):
            data = data + 1
        first.record(done)
    with second:
        second.wait_event(done)
        copy = data.copy()
    second.synchronize()
    same(copy, numpy.arange(100000) + 20)
    assert done.done and cupy.cuda.get_elapsed_time(begun, done) > 0
    with first:
        first.begin_capture()
        data += 5
        graph = first.end_capture()
        for _ in range(3):
            graph.launch()
    first.synchronize()
    same(data, numpy.arange(100000) + 35)


def memory():
    pool = cupy.cuda.MemoryPool(cupy.cuda.malloc_managed)
    with cupy.cuda.using_allocator(pool.malloc):
        same(cupy.arange(1000) * 2, numpy.arange(1000) * 2)
    with cupy.cuda.using_allocator(cupy.cuda.MemoryAsyncPool().malloc):
        same(cupy.arange(1000) * 3, numpy.arange(1000) * 3)
    pinned = cupy.cuda.alloc_pinned_memory(4000)
    view = numpy.frombuffer(pinned, numpy.float32, 1000)
    view[:] = 7
    device = cupy.empty(1000, numpy.float32)
    device.set(view)
    same(device, numpy.full(1000, 7, numpy.float32))
    free, total = cupy.cuda.runtime.memGetInfo()
    assert 0 < free <= total


for part in (arrays, reductions, sorting, kernels, streams, memory):
    part()
    print(part.__name__, "good", flush=True)
