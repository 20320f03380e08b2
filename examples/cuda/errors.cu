/* SPDX-License-Identifier: Apache-2.0 */
/* Errors: what a call says and what is noted, each thread's own last error, a fault that ends a context. */
#include <cstring>
#include <thread>

#include "check.h"

__global__ void store(int *to, int value)
{
    *to = value;
}

int main()
{
    int *word, value = 0;
    CHECK(cudaMalloc(&word, sizeof *word));

    /* A call that fails says so, and it is noted until it is asked for. */
    EXPECT(cudaMemset(nullptr, 0, 4) == cudaErrorInvalidValue);
    EXPECT(cudaPeekAtLastError() == cudaErrorInvalidValue);
    std::thread([] { EXPECT(cudaGetLastError() == cudaSuccess); }).join(); /* another thread has its own */
    CHECK(cudaDeviceSynchronize());                                        /* what succeeds does not clear it */
    EXPECT(cudaGetLastError() == cudaErrorInvalidValue);
    EXPECT(cudaGetLastError() == cudaSuccess);
    EXPECT(!std::strcmp(cudaGetErrorName(cudaErrorInvalidValue), "cudaErrorInvalidValue"));
    EXPECT(std::strlen(cudaGetErrorString(cudaErrorInvalidValue)) > 0);

    /* A launch returns nothing: it is asked afterwards. */
    store<<<1, 4096>>>(word, 1);
    EXPECT(cudaGetLastError() != cudaSuccess);
    store<<<1, 1>>>(word, 2);
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpy(&value, word, sizeof value, cudaMemcpyDeviceToHost));
    EXPECT(value == 2);

    /* That work is not done yet is an answer and no error. */
    cudaStream_t stream;
    CHECK(cudaStreamCreate(&stream));
    cudaError_t status = cudaStreamQuery(stream);
    EXPECT(status == cudaSuccess || status == cudaErrorNotReady);
    EXPECT(cudaGetLastError() == cudaSuccess);

    /* A fault is told by whatever waits for the kernel, and by every call from then on. */
    store<<<1, 1, 0, stream>>>((int *)0x10, 3);
    CHECK(cudaGetLastError());
    EXPECT(cudaStreamSynchronize(stream) == cudaErrorIllegalAddress);
    EXPECT(cudaGetLastError() == cudaErrorIllegalAddress);
    int *other;
    EXPECT(cudaMalloc(&other, 4) == cudaErrorIllegalAddress);

    /* The reset takes the context away, and leaves what was noted. The device is not to be had again: that takes another process. */
    CHECK(cudaDeviceReset());
    EXPECT(cudaGetLastError() == cudaErrorIllegalAddress);
    EXPECT(cudaMalloc(&other, 4) == cudaErrorDevicesUnavailable);
    std::printf("errors: told, noted and left behind\n");
    return 0;
}
