// SPDX-License-Identifier: Apache-2.0
// A kernel that goes wrong: later calls tell, the error stays until the device is reset, and then everything works again.
#include "expect.h"

__global__ void write_to(int *place)
{
    *place = 1;
}

__global__ void stop()
{
    __trap();
}

static void test_fault(void (*launch)(), cudaError_t wanted)
{
    void *memory;
    launch();
    HOLDS(cudaDeviceSynchronize() == wanted);
    HOLDS(cudaPeekAtLastError() == wanted);
    HOLDS(cudaGetLastError() == wanted);
    HOLDS(cudaGetLastError() == cudaSuccess); /* the next call gives it again */
    HOLDS(cudaMalloc(&memory, 4) == wanted);
    HOLDS(cudaStreamQuery(0) == wanted);
    OK(cudaDeviceReset());
    HOLDS(cudaGetLastError() == wanted); /* a reset leaves it alone */
    HOLDS(cudaGetLastError() == cudaSuccess);
    int *good, back = 0;
    OK(cudaMalloc(&good, 4));
    write_to<<<1, 1>>>(good);
    OK(cudaMemcpy(&back, good, 4, cudaMemcpyDeviceToHost));
    HOLDS(back == 1);
    OK(cudaFree(good));
}

int main()
{
    test_fault([] { write_to<<<1, 1>>>((int *)16); }, cudaErrorIllegalAddress);
    test_fault([] { stop<<<1, 1>>>(); }, cudaErrorLaunchFailure);
    return finish();
}
