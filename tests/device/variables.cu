/* SPDX-License-Identifier: Apache-2.0 */
/* threadIdx, blockIdx, blockDim and gridDim become uint3 and dim3 wherever one step of conversion is enough. */
#include <cstdio>

static __managed__ unsigned int wrong;

static __device__ unsigned int linear(dim3 at, dim3 size) { return (at.z * size.y + at.y) * size.x + at.x; }
static __device__ unsigned int third(uint3 at) { return at.z; }

static __global__ void kernel()
{
    dim3 a = threadIdx, b(blockIdx), c{threadIdx}, d = blockDim;
    uint3 e = threadIdx, f(blockIdx), g = blockDim, h(gridDim);
    const dim3 &i = blockIdx;
    dim3 j = threadIdx.x ? dim3(threadIdx) : dim3(1, 2, 3);
    bool right = linear(threadIdx, blockDim) == (threadIdx.z * 3 + threadIdx.y) * 2 + threadIdx.x && third(threadIdx) == threadIdx.z &&
        linear(blockIdx, gridDim) == blockIdx.y * 2 + blockIdx.x && third(blockDim) == 4 && a.x == c.x && b.y == f.y && i.y == b.y &&
        e.z == threadIdx.z && d.x == 2 && g.y == 3 && h.x == 2 && (j.y == 2 || threadIdx.x);
    a = blockIdx;
    e = gridDim;
    if (!right || a.x != blockIdx.x || e.y != 2)
        atomicAdd(&wrong, 1);
}

int main()
{
    kernel<<<dim3(2, 2), dim3(2, 3, 4)>>>();
    if (cudaDeviceSynchronize() != cudaSuccess || wrong)
        return 1;
    puts("right");
    return 0;
}
