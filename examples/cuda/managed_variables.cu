/* SPDX-License-Identifier: Apache-2.0 */
/* Variables that the host and kernels name alike: a histogram that a kernel fills and the host reads, with no copy and no pointer handed over. */
#include <cstring>

#include "check.h"

struct result {
    unsigned bins[4];
    double mean;
};

__device__ __managed__ int length = 1000;
__managed__ int values[1000];
static __managed__ result found = { { 7, 7, 7, 7 }, -1 };
namespace {
__managed__ unsigned long long sum;
}
namespace settings {
__managed__ int width = 250;
}

__global__ void count()
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= length)
        return;
    atomicAdd(&found.bins[values[i] / settings::width], 1u);
    atomicAdd(&sum, (unsigned long long)values[i]);
}

__global__ void finish(int **where)
{
    found.mean = (double)sum / length;
    *where = &values[10];
}

int main()
{
    EXPECT(length == 1000 && found.bins[3] == 7 && found.mean == -1 && sum == 0); /* before any call of the runtime */
    for (int i = 0; i < length; i++)
        values[i] = i;
    memset(found.bins, 0, sizeof found.bins);
    int **where;
    CHECK(cudaMallocManaged(&where, sizeof *where));
    count<<<(length + 127) / 128, 128>>>();
    finish<<<1, 1>>>(where);
    CHECK(cudaDeviceSynchronize());
    for (unsigned bin : found.bins)
        EXPECT(bin == 250);
    EXPECT(sum == 499500 && found.mean == 499.5);
    EXPECT(*where == &values[10]); /* one address on both sides */

    /* Functions for variables of the device take them as well. */
    int shorter = 500;
    void *address;
    size_t size;
    CHECK(cudaMemcpyToSymbol(length, &shorter, sizeof shorter));
    CHECK(cudaDeviceSynchronize()); /* a small copy from pageable memory may still be on its way */
    EXPECT(length == 500);
    CHECK(cudaGetSymbolAddress(&address, values));
    CHECK(cudaGetSymbolSize(&size, values));
    EXPECT(address == values && size == sizeof values);
    cudaPointerAttributes attributes;
    CHECK(cudaPointerGetAttributes(&attributes, &found.mean));
    EXPECT(attributes.type == cudaMemoryTypeManaged);
    CHECK(cudaFree(where));
    printf("managed_variables: a mean of %.1f, and one address on both sides\n", found.mean);
    return 0;
}
