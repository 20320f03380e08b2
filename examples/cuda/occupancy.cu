/* SPDX-License-Identifier: Apache-2.0 */
/* A kernel asked about itself: block sizes that the occupancy functions suggest, dynamic shared memory beyond the usual limit, names and parameters. */
#include <cstring>

#include "check.h"

static const int n = 100000;

/* The largest of all, with a word of shared memory for each thread. */
__global__ void largest(const int *data, int count, int *result)
{
    extern __shared__ int best[];
    int mine = -2147483647;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x)
        mine = max(mine, data[i]);
    best[threadIdx.x] = mine;
    __syncthreads();
    for (unsigned half = blockDim.x / 2; half > 0; half /= 2) {
        if (threadIdx.x < half)
            best[threadIdx.x] = max(best[threadIdx.x], best[threadIdx.x + half]);
        __syncthreads();
    }
    if (threadIdx.x == 0)
        atomicMax(result, best[0]);
}

/* Turns a tile around that fills all shared memory which a block may have. */
__global__ void turn(int *data, int count)
{
    extern __shared__ int tile[];
    for (int i = threadIdx.x; i < count; i += blockDim.x)
        tile[i] = data[i];
    __syncthreads();
    for (int i = threadIdx.x; i < count; i += blockDim.x)
        data[i] = tile[count - 1 - i];
}

static size_t per_thread(int threads)
{
    return threads * sizeof(int);
}

int main()
{
    cudaFuncAttributes attributes;
    int grid = 0, block = 0, active = 0, most = 0, *data, *result, *host = new int[n];
    for (int i = 0; i < n; i++)
        host[i] = (int)((i * 2654435761u) >> 4);
    int expected = 0;
    for (int i = 0; i < n; i++)
        expected = host[i] > expected ? host[i] : expected;
    CHECK(cudaMalloc(&data, n * sizeof *data));
    CHECK(cudaMallocManaged(&result, sizeof *result));
    CHECK(cudaMemcpy(data, host, n * sizeof *data, cudaMemcpyHostToDevice));
    CHECK(cudaOccupancyMaxPotentialBlockSizeVariableSMem(&grid, &block, largest, per_thread));
    EXPECT(grid > 0 && block >= 32 && block <= 1024);
    CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&active, largest, 256, per_thread(256)));
    EXPECT(active > 0);
    for (int threads = 64; threads <= 1024; threads *= 4) {
        *result = 0;
        largest<<<8, threads, per_thread(threads)>>>(data, n, result);
        CHECK(cudaDeviceSynchronize());
        EXPECT(*result == expected);
    }

    const char *name = nullptr;
    size_t offset = 77, size = 77;
    CHECK(cudaFuncGetName(&name, (const void *)largest));
    EXPECT(std::strstr(name, "largest"));
    CHECK(cudaFuncGetParamInfo((const void *)largest, 2, &offset, &size));
    EXPECT(offset == 16 && size == sizeof(int *));

    /* More than 48 KiB must be asked for. */
    CHECK(cudaDeviceGetAttribute(&most, cudaDevAttrMaxSharedMemoryPerBlockOptin, 0));
    EXPECT(most > 48 * 1024);
    const int count = most / (int)sizeof(int);
    turn<<<1, 256, count * sizeof(int)>>>(data, count);
    EXPECT(cudaGetLastError() == cudaErrorInvalidValue);
    CHECK(cudaFuncSetAttribute(turn, cudaFuncAttributeMaxDynamicSharedMemorySize, most));
    CHECK(cudaFuncGetAttributes(&attributes, turn));
    EXPECT(attributes.maxDynamicSharedSizeBytes == most && attributes.maxThreadsPerBlock >= 256);
    turn<<<1, 256, count * sizeof(int)>>>(data, count);
    int back[2];
    CHECK(cudaMemcpy(back, data, sizeof back, cudaMemcpyDeviceToHost));
    EXPECT(back[0] == host[count - 1] && back[1] == host[count - 2]);
    CHECK(cudaFree(data));
    CHECK(cudaFree(result));
    std::printf("occupancy: %d threads suggested, %d bytes of shared memory\n", block, most);
    delete[] host;
    return 0;
}
