// SPDX-License-Identifier: Apache-2.0
// Managed variables, which host and kernels name alike. By nvcc; tests/tools/test_separate.py compiles some by clang.
#include "expect.h"

__managed__ int total = 5;
__managed__ double table[100];

__global__ void add()
{
    atomicAdd(&total, 1);
    table[threadIdx.x] = threadIdx.x * 0.5;
}

int main()
{
    HOLDS(total == 5); /* before any call of the runtime */
    total = 10;
    add<<<1, 100>>>();
    OK(cudaDeviceSynchronize());
    HOLDS(total == 110 && table[99] == 49.5);
    void *address;
    size_t size;
    OK(cudaGetSymbolAddress(&address, total));
    HOLDS(address == &total);
    OK(cudaGetSymbolSize(&size, table));
    HOLDS(size == sizeof table);
    int value = 1;
    OK(cudaMemcpyToSymbol(total, &value, sizeof value));
    OK(cudaDeviceSynchronize()); /* so small a copy from pageable memory may arrive after the call */
    HOLDS(total == 1);
    cudaPointerAttributes attributes;
    OK(cudaPointerGetAttributes(&attributes, &total));
    HOLDS(attributes.type == cudaMemoryTypeManaged);
    return finish();
}
