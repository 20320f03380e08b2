// SPDX-License-Identifier: Apache-2.0
// samples/inlined.ptx is made from this source, by "nvcc -lineinfo -ptx".
__device__ float inner(float x, float factor)
{
    return x * factor;
}
__device__ float middle(float x)
{
    float y = inner(x, 2.5f) + 1.0f;
    return y * inner(y, 3.5f);
}
extern "C" __global__ void outer(float *values)
{
    values[threadIdx.x] = middle(values[threadIdx.x]);
}
extern "C" __global__ void other(float *values)
{
    values[0] = inner(values[0], 7.0f);
}
