// SPDX-License-Identifier: Apache-2.0
// Variables of the device: addresses, sizes, copies, constants, and what a reset does to them.
#include "expect.h"

__device__ int counter = 5;
__device__ float table[16];
__constant__ int factors[4] = { 1, 2, 3, 4 };
static __device__ int hidden = 8;

__global__ void use(int *out)
{
    table[threadIdx.x] = (float)threadIdx.x;
    out[threadIdx.x] = factors[threadIdx.x % 4] * counter + hidden;
}

static int not_on_device;

static void test_copies()
{
    int *out, back[16], value = 0;
    float numbers[16];
    OK(cudaMalloc(&out, sizeof back));
    OK(cudaMemcpyFromSymbol(&value, counter, sizeof value));
    HOLDS(value == 5);
    value = 10;
    OK(cudaMemcpyToSymbol(counter, &value, sizeof value));
    value = 7;
    OK(cudaMemcpyToSymbolAsync(factors, &value, sizeof value, sizeof value));
    use<<<1, 16>>>(out);
    OK(cudaGetLastError());
    OK(cudaMemcpy(back, out, sizeof back, cudaMemcpyDeviceToHost));
    HOLDS(back[0] == 18 && back[1] == 78 && back[2] == 38);
    OK(cudaMemcpyFromSymbolAsync(numbers, table, 8 * sizeof(float), 8 * sizeof(float)));
    OK(cudaDeviceSynchronize());
    HOLDS(numbers[0] == 8 && numbers[7] == 15);
    OK(cudaFree(out));
}

static void test_addresses()
{
    void *address;
    size_t size = 0;
    OK(cudaGetSymbolAddress(&address, table));
    OK(cudaGetSymbolSize(&size, table));
    HOLDS(size == sizeof(float) * 16);
    float one = 0.5f, back = 0;
    OK(cudaMemcpy(address, &one, sizeof one, cudaMemcpyHostToDevice));
    OK(cudaMemcpyFromSymbol(&back, table, sizeof back));
    HOLDS(back == 0.5f);
    OK(cudaMemcpyToSymbol(table, address, sizeof one, sizeof one, cudaMemcpyDeviceToDevice));
    OK(cudaMemcpyFromSymbol(&back, table, sizeof back, sizeof back));
    HOLDS(back == 0.5f);
}

static void test_bad()
{
    void *address;
    size_t size;
    int value = 0;
    GIVES(cudaErrorInvalidSymbol, cudaGetSymbolAddress(&address, not_on_device));
    GIVES(cudaErrorInvalidSymbol, cudaGetSymbolSize(&size, not_on_device));
    GIVES(cudaErrorInvalidSymbol, cudaMemcpyToSymbol(not_on_device, &value, 4));
    GIVES(cudaErrorInvalidSymbol, cudaMemcpyFromSymbol(&value, (const void *)nullptr, 4));
    GIVES(cudaErrorInvalidSymbol, cudaGetSymbolAddress(&address, (const void *)use));
    GIVES(cudaErrorInvalidValue, cudaMemcpyToSymbol(counter, &value, 8));
    GIVES(cudaErrorInvalidValue, cudaMemcpyToSymbol(counter, &value, 4, 1));
    GIVES(cudaErrorInvalidMemcpyDirection, cudaMemcpyToSymbol(counter, &value, 4, 0, cudaMemcpyDeviceToHost));
    GIVES(cudaErrorInvalidMemcpyDirection, cudaMemcpyFromSymbol(&value, counter, 4, 0, cudaMemcpyHostToDevice));
    GIVES(cudaErrorInvalidValue, cudaGetSymbolAddress(nullptr, counter));
}

/* A new context has the variables as the program was built with them. */
static void test_reset()
{
    int value = 0;
    OK(cudaDeviceReset());
    OK(cudaMemcpyFromSymbol(&value, counter, sizeof value));
    HOLDS(value == 5);
}

/* Each device has variables of its own. */
static void test_two_devices()
{
    int value = 77;
    OK(cudaSetDevice(1));
    OK(cudaMemcpyToSymbol(counter, &value, sizeof value));
    OK(cudaSetDevice(0));
    OK(cudaMemcpyFromSymbol(&value, counter, sizeof value));
    HOLDS(value == 5);
    OK(cudaSetDevice(1));
    OK(cudaMemcpyFromSymbol(&value, counter, sizeof value));
    HOLDS(value == 77);
    OK(cudaSetDevice(0));
}

int main()
{
    test_copies();
    test_addresses();
    test_bad();
    test_reset();
    test_two_devices();
    return finish();
}
