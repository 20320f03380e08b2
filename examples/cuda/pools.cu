/* SPDX-License-Identifier: Apache-2.0 */
/* Memory in stream order: allocations that begin and end with the work that uses them, from the device's pool and from one of the program's own. */
#include "check.h"

static const int n = 1 << 14;

__global__ void fill(int *data, int value)
{
    data[blockIdx.x * blockDim.x + threadIdx.x] = value;
}

__global__ void add(int *to, const int *from)
{
    to[blockIdx.x * blockDim.x + threadIdx.x] += from[blockIdx.x * blockDim.x + threadIdx.x];
}

int main()
{
    cudaStream_t one, two;
    cudaEvent_t ready;
    cudaMemPool_t shared, own;
    int supported = 0, *sum, *part, *back;
    CHECK(cudaDeviceGetAttribute(&supported, cudaDevAttrMemoryPoolsSupported, 0));
    EXPECT(supported);
    CHECK(cudaStreamCreate(&one));
    CHECK(cudaStreamCreate(&two));
    CHECK(cudaEventCreateWithFlags(&ready, cudaEventDisableTiming));
    CHECK(cudaMallocHost(&back, n * sizeof *back));

    /* Freed memory stays with the pool, however much it is, and serves the next round. */
    unsigned long long keep = ~0ull, used = 0, reserved = 0;
    CHECK(cudaDeviceGetDefaultMemPool(&shared, 0));
    CHECK(cudaMemPoolSetAttribute(shared, cudaMemPoolAttrReleaseThreshold, &keep));
    CHECK(cudaMallocAsync(&sum, n * sizeof *sum, one));
    CHECK(cudaMemsetAsync(sum, 0, n * sizeof *sum, one));
    for (int round = 1; round <= 10; round++) {
        CHECK(cudaMallocAsync(&part, n * sizeof *part, one));
        fill<<<n / 256, 256, 0, one>>>(part, round);
        add<<<n / 256, 256, 0, one>>>(sum, part);
        CHECK(cudaFreeAsync(part, one));
    }
    /* Another stream may use what it waits for, and may end it. */
    CHECK(cudaEventRecord(ready, one));
    CHECK(cudaStreamWaitEvent(two, ready));
    CHECK(cudaMemcpyAsync(back, sum, n * sizeof *back, cudaMemcpyDeviceToHost, two));
    CHECK(cudaFreeAsync(sum, two));
    CHECK(cudaStreamSynchronize(two));
    for (int i = 0; i < n; i++)
        EXPECT(back[i] == 55);
    CHECK(cudaMemPoolGetAttribute(shared, cudaMemPoolAttrUsedMemCurrent, &used));
    CHECK(cudaMemPoolGetAttribute(shared, cudaMemPoolAttrReservedMemCurrent, &reserved));
    EXPECT(used == 0 && reserved >= n * sizeof *sum);
    CHECK(cudaMemPoolTrimTo(shared, 0));
    CHECK(cudaMemPoolGetAttribute(shared, cudaMemPoolAttrReservedMemCurrent, &reserved));
    EXPECT(reserved == 0);

    cudaMemPoolProps props = {};
    props.allocType = cudaMemAllocationTypePinned;
    props.location.type = cudaMemLocationTypeDevice;
    CHECK(cudaMemPoolCreate(&own, &props));
    CHECK(cudaMallocFromPoolAsync(&part, n * sizeof *part, own, one));
    fill<<<n / 256, 256, 0, one>>>(part, 7);
    CHECK(cudaMemcpyAsync(back, part, n * sizeof *back, cudaMemcpyDeviceToHost, one));
    CHECK(cudaFreeAsync(part, one));
    CHECK(cudaStreamSynchronize(one));
    EXPECT(back[0] == 7 && back[n - 1] == 7);
    CHECK(cudaMemPoolDestroy(own));
    CHECK(cudaFreeHost(back));
    CHECK(cudaEventDestroy(ready));
    CHECK(cudaStreamDestroy(one));
    CHECK(cudaStreamDestroy(two));
    std::printf("pools: ten rounds add up to 55\n");
    return 0;
}
