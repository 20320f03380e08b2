# SPDX-License-Identifier: Apache-2.0
"""What PyCUDA programs lean on beside the seed's own: events, streams, pinned memory, module globals, errors."""
import os
import tempfile
import warnings

import numpy as np
import pycuda.autoinit  # noqa: F401
import pycuda.driver as drv
from pycuda import gpuarray
from pycuda.compiler import SourceModule

assert "Millrace" in drv.Device(0).name()

module = SourceModule("""
__constant__ float scale[2];
__device__ int counter;
__global__ void axpy(float *y, const float *x, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        y[i] = scale[0] * x[i] + scale[1] * y[i];
        atomicAdd(&counter, 1);
    }
}
__global__ void reverse(int *data)
{
    __shared__ int part[128];
    part[threadIdx.x] = data[threadIdx.x];
    __syncthreads();
    data[threadIdx.x] = part[blockDim.x - 1 - threadIdx.x];
}
""")
axpy = module.get_function("axpy")
scale, size = module.get_global("scale")
assert size == 8
drv.memcpy_htod(scale, np.array([2, 3], dtype=np.float32))

n = 1000
x = np.random.randn(n).astype(np.float32)
y = np.random.randn(n).astype(np.float32)
x_gpu, y_gpu = gpuarray.to_gpu(x), gpuarray.to_gpu(y)
start, end, stream = drv.Event(), drv.Event(), drv.Stream()
start.record(stream)
axpy(y_gpu, x_gpu, np.int32(n), block=(128, 1, 1), grid=((n + 127) // 128, 1), stream=stream)
end.record(stream)
end.synchronize()
assert start.query() and end.query() and stream.is_done()
assert start.time_till(end) >= 0
assert np.allclose(y_gpu.get(), 2 * x + 3 * y, rtol=1e-6)
counter, _ = module.get_global("counter")
count = np.zeros(1, dtype=np.int32)
drv.memcpy_dtoh(count, counter)
assert count[0] == n

data = np.arange(128, dtype=np.int32)
module.get_function("reverse")(drv.InOut(data), block=(128, 1, 1), grid=(1, 1))
assert (data == np.arange(128)[::-1]).all()

pinned = drv.pagelocked_empty(4096, np.float32)
pinned[:] = 7
device = drv.mem_alloc(pinned.nbytes)
other = drv.Stream()
drv.memcpy_htod_async(device, pinned, stream)
passed = drv.Event(drv.event_flags.DISABLE_TIMING)
passed.record(stream)
other.wait_for_event(passed)
back = drv.pagelocked_empty(4096, np.float32)
drv.memcpy_dtoh_async(back, device, other)
other.synchronize()
assert (back == 7).all()

free, total = drv.mem_get_info()
assert 0 < free <= total
try:
    drv.mem_alloc(total * 16)
    raise SystemExit("more memory than there is must be refused")
except drv.MemoryError:
    pass
try:
    drv.module_from_buffer(b".version 7.0\n.target sm_80\n.address_size 64\n.entry broken( { }\n\0")
    raise SystemExit("broken PTX must be refused")
except drv.Error:
    pass


# Errors of a source reach the user as CompileError, with the file and line that are the user's own.
def refused(source, *expected, **options):
    try:
        SourceModule(source, **options)
    except drv.CompileError as error:
        for text in expected:
            assert text in error.stderr and text in str(error), (text, str(error))
        return
    raise SystemExit("a broken source must be refused")


refused("""
#line 1 "missing.cu"
__global__ void missing(int *p)
{
    p[0] = 1
    p[1] = 2;
}
""", "missing.cu:3:", "expected ';'")
folder = tempfile.TemporaryDirectory()
header = os.path.join(folder.name, "helpers.h")
with open(header, "w") as file:
    file.write("#pragma once\n__device__ int twice(int x)\n{\n    return x * unknown_factor;\n}\n")
refused("""#include "helpers.h"
__global__ void k(int *p) { p[0] = twice(p[0]); }
""", header + ":4:", "unknown_factor", "kernel.cu:2:", include_dirs=[folder.name])  # PyCUDA puts a line of its own before the source
refused("""#line 10 "halves.cu"
template <class T> __device__ T half_of(T x)
{
    static_assert(sizeof(T) == 4, "values of four bytes");
    return x / 2;
}
extern "C" __global__ void k(double *p)
{
    p[0] = half_of(p[0]);
}
""", "halves.cu:12:", "values of four bytes", "half_of<double>", "halves.cu:17:", no_extern_c=True)
refused("__global__ void large(int *p) { __shared__ volatile char room[50000]; room[threadIdx.x] = 1; *p = room[*p]; }", "50000 bytes of static shared memory")
with warnings.catch_warnings(record=True) as said:
    warnings.simplefilter("always")
    SourceModule("__global__ void told(int *p) { *p = 1; }", options=["-Xptxas", "-v"], cache_dir=False)
assert "ptxas info    : Compiling entry function 'told'" in str(said[0].message), said
print("ok")
