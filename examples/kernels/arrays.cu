/* SPDX-License-Identifier: Apache-2.0 */
/* Kernels of the array examples. One block of threads walks a whole array in strides of the block. */

/* Doubles and halves every element fifty times: work that leaves the data as it was. */
extern "C" __global__ void double_and_halve(float *array, int length)
{
    for (int i = threadIdx.x; i < length; i += blockDim.x) {
        for (int round = 0; round < 50; round++) {
            array[i] *= 2.0f;
            array[i] /= 2.0f;
        }
    }
}

/* out[i] = a[i] * b[i] + c, one thread an element. */
extern "C" __global__ void multiply_add(const long *a, const long *b, long c, long *out, int length)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < length)
        out[i] = a[i] * b[i] + c;
}

/* The sum of an array: each block adds its part in shared memory and then to *total. Blocks are 256 threads. */
extern "C" __global__ void sum(const long *values, int length, unsigned long long *total)
{
    __shared__ long part[256];
    long mine = 0;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < length; i += gridDim.x * blockDim.x)
        mine += values[i];
    part[threadIdx.x] = mine;
    for (int half = blockDim.x / 2; half > 0; half /= 2) {
        __syncthreads();
        if (threadIdx.x < half)
            part[threadIdx.x] += part[threadIdx.x + half];
    }
    if (threadIdx.x == 0)
        atomicAdd(total, (unsigned long long)part[0]);
}
