/* SPDX-License-Identifier: Apache-2.0 */
/* Memory of the host that kernels reach: pinned and mapped, and an ordinary array that is registered for a while. What a pointer is can be asked. */
#include <cstdlib>

#include "check.h"

static const int n = 1 << 12;

__global__ void twice(int *to, const int *from)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    to[i] = 2 * from[i];
}

int main()
{
    int *mapped, *there, *plain = (int *)std::aligned_alloc(4096, n * sizeof(int)), *there_too;
    unsigned flags = 0;
    cudaPointerAttributes about;
    EXPECT(plain);
    CHECK(cudaHostAlloc(&mapped, n * sizeof *mapped, cudaHostAllocMapped | cudaHostAllocPortable));
    CHECK(cudaHostGetDevicePointer(&there, mapped, 0));
    CHECK(cudaHostGetFlags(&flags, mapped));
    EXPECT(flags & cudaHostAllocMapped);
    CHECK(cudaPointerGetAttributes(&about, mapped));
    EXPECT(about.type == cudaMemoryTypeHost && about.hostPointer == mapped && about.devicePointer == there);

    for (int i = 0; i < n; i++)
        plain[i] = i;
    CHECK(cudaPointerGetAttributes(&about, plain));
    EXPECT(about.type == cudaMemoryTypeUnregistered);
    CHECK(cudaHostRegister(plain, n * sizeof *plain, cudaHostRegisterMapped));
    CHECK(cudaPointerGetAttributes(&about, plain));
    EXPECT(about.type == cudaMemoryTypeHost);
    CHECK(cudaHostGetDevicePointer(&there_too, plain, 0));
    EXPECT(cudaHostRegister(plain, n * sizeof *plain, 0) == cudaErrorHostMemoryAlreadyRegistered);
    EXPECT(cudaGetLastError() == cudaErrorHostMemoryAlreadyRegistered);

    twice<<<n / 256, 256>>>(there, there_too); /* from the one to the other, without a copy */
    CHECK(cudaDeviceSynchronize());
    for (int i = 0; i < n; i++)
        EXPECT(mapped[i] == 2 * i);
    CHECK(cudaHostUnregister(plain));
    EXPECT(cudaHostUnregister(plain) == cudaErrorHostMemoryNotRegistered);
    std::free(plain);
    CHECK(cudaFreeHost(mapped));
    std::printf("mapped: %d words without a copy\n", n);
    return 0;
}
