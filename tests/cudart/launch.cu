// SPDX-License-Identifier: Apache-2.0
// Launches in all forms, with every kind of argument; what a bad launch answers.
#include "expect.h"

struct pair {
    int first;
    double second;
};

__global__ void scale(const int *in, int *out, int n, pair by)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = in[i] * by.first + (int)by.second;
}

template <class T> __global__ void fill(T *out, T value)
{
    out[threadIdx.x] = value;
}

__global__ void reverse(int *data)
{
    extern __shared__ int room[];
    room[threadIdx.x] = data[threadIdx.x];
    __syncthreads();
    data[threadIdx.x] = room[blockDim.x - 1 - threadIdx.x];
}

__global__ void nothing() {}

__global__ void architecture(int *to)
{
#ifdef __CUDA_ARCH__
    *to = __CUDA_ARCH__ / 10;
#else
    (void)to;
#endif
}

static void never_a_kernel() {}

static int *on_device(const int *from, int n)
{
    int *memory;
    OK(cudaMalloc(&memory, n * sizeof(int)));
    if (from)
        OK(cudaMemcpy(memory, from, n * sizeof(int), cudaMemcpyHostToDevice));
    return memory;
}

static int launches_inside(int *out)
{
    fill<int><<<1, 4>>>(out, 7);
    return 4;
}

static void test_forms()
{
    const int n = 1000;
    int host[n], back[n];
    for (int i = 0; i < n; i++)
        host[i] = i;
    int *in = on_device(host, n), *out = on_device(nullptr, n);
    scale<<<(n + 127) / 128, 128>>>(in, out, n, pair{ 3, 1.5 });
    OK(cudaGetLastError());
    OK(cudaMemcpy(back, out, sizeof back, cudaMemcpyDeviceToHost));
    for (int i = 0; i < n; i++)
        HOLDS(back[i] == 3 * i + 1);

    int count = n;
    pair by = { 5, 2.0 };
    void *arguments[] = { &in, &out, &count, &by };
    OK(cudaLaunchKernel(scale, dim3(8), dim3(128), arguments, 0, 0));
    OK(cudaMemcpy(back, out, sizeof back, cudaMemcpyDeviceToHost));
    HOLDS(back[999] == 5 * 999 + 2);

    cudaLaunchConfig_t config = {};
    config.gridDim = dim3(8);
    config.blockDim = dim3(128);
    OK(cudaLaunchKernelEx(&config, scale, (const int *)in, out, n, pair{ 7, 0 }));
    OK(cudaMemcpy(back, out, sizeof back, cudaMemcpyDeviceToHost));
    HOLDS(back[999] == 7 * 999);

    cudaKernel_t kernel;
    OK(cudaGetKernel(&kernel, scale));
    by.first = 9;
    OK(cudaLaunchKernel((const void *)kernel, dim3(8), dim3(128), arguments, 0, 0));
    OK(cudaMemcpy(back, out, sizeof back, cudaMemcpyDeviceToHost));
    HOLDS(back[999] == 9 * 999 + 2);

    reverse<<<1, 100, 100 * sizeof(int)>>>(in);
    OK(cudaMemcpy(back, in, 100 * sizeof(int), cudaMemcpyDeviceToHost));
    for (int i = 0; i < 100; i++)
        HOLDS(back[i] == 99 - i);

    /* The arguments of a launch launch something themselves. */
    fill<int><<<1, 8>>>(out, launches_inside(in));
    OK(cudaMemcpy(back, out, 8 * sizeof(int), cudaMemcpyDeviceToHost));
    HOLDS(back[0] == 4 && back[7] == 4);
    OK(cudaMemcpy(back, in, 4 * sizeof(int), cudaMemcpyDeviceToHost));
    HOLDS(back[3] == 7);
    OK(cudaFree(in));
    OK(cudaFree(out));
}

static void test_templates()
{
    double *memory, back[3];
    OK(cudaMalloc(&memory, sizeof back));
    fill<double><<<1, 3>>>(memory, 0.25);
    OK(cudaMemcpy(back, memory, sizeof back, cudaMemcpyDefault));
    HOLDS(back[0] == 0.25 && back[2] == 0.25);
    OK(cudaFree(memory));
}

static void test_bad()
{
    nothing<<<1, 4096>>>();
    GIVES(cudaErrorInvalidValue, cudaPeekAtLastError());
    HOLDS(cudaGetLastError() == cudaSuccess);
    nothing<<<0, 32>>>();
    HOLDS(cudaGetLastError() == cudaErrorInvalidValue);
    nothing<<<1, dim3(1, 1, 65)>>>();
    HOLDS(cudaGetLastError() == cudaErrorInvalidValue);
    nothing<<<1, 32, 1 << 20>>>();
    HOLDS(cudaGetLastError() == cudaErrorInvalidValue);
    HOLDS(cudaGetLastError() == cudaSuccess);
    GIVES(cudaErrorInvalidResourceHandle, cudaLaunchKernel(never_a_kernel, dim3(1), dim3(1), nullptr));
    GIVES(cudaErrorInvalidDeviceFunction, cudaLaunchKernel((const void *)nullptr, dim3(1), dim3(1), nullptr, 0, 0));
    GIVES(cudaErrorInvalidValue, cudaLaunchKernelExC(nullptr, (const void *)nothing, nullptr));
    nothing<<<1, 1>>>();
    OK(cudaDeviceSynchronize());
}

static void test_attributes()
{
    cudaFuncAttributes attributes;
    OK(cudaFuncGetAttributes(&attributes, reverse));
    HOLDS(attributes.maxThreadsPerBlock == 1024);
    HOLDS(attributes.sharedSizeBytes == 0);
    int made_for = 0, *memory = on_device(nullptr, 1);
    architecture<<<1, 1>>>(memory);
    OK(cudaMemcpy(&made_for, memory, sizeof made_for, cudaMemcpyDeviceToHost));
    OK(cudaFree(memory));
    HOLDS(made_for >= 50 && attributes.ptxVersion == made_for);
    GIVES(cudaErrorInvalidResourceHandle, cudaFuncGetAttributes(&attributes, never_a_kernel));
    OK(cudaFuncSetAttribute(reverse, cudaFuncAttributeMaxDynamicSharedMemorySize, 64 << 10));
    OK(cudaFuncGetAttributes(&attributes, reverse));
    HOLDS(attributes.maxDynamicSharedSizeBytes == 64 << 10);
    GIVES(cudaErrorInvalidValue, cudaFuncSetAttribute(reverse, cudaFuncAttributeMaxDynamicSharedMemorySize, 1 << 30));
    const char *name;
    OK(cudaFuncGetName(&name, reverse));
    HOLDS(__builtin_strcmp(name, "_Z7reversePi") == 0);
    size_t offset, size;
    OK(cudaFuncGetParamInfo((const void *)scale, 3, &offset, &size));
    HOLDS(offset == 24 && size == sizeof(pair));

    int blocks, grid, block;
    OK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, nothing, 256, 0));
    HOLDS(blocks > 0);
    OK(cudaOccupancyMaxPotentialBlockSize(&grid, &block, nothing));
    HOLDS(grid > 0 && block > 0 && block % 32 == 0);
}

int main()
{
    test_forms();
    test_templates();
    test_bad();
    test_attributes();
    return finish();
}
