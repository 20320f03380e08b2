/* SPDX-License-Identifier: Apache-2.0 */
/* Without a driver every call says so, and nothing crashes. This program hides the driver, which the archive would find
 * in its build's folder: its own dlopen, which the dynamic loader finds first, knows none. */
#include "expect.h"

#include <dlfcn.h>
#include <string.h>

__attribute__((visibility("default"))) void *dlopen(const char *name, int flags)
{
    void *(*next)(const char *, int) = (void *(*)(const char *, int))dlsym(RTLD_NEXT, "dlopen");
    return next(name && strstr(name, "libcuda.so.1") ? "libcuda.so.1.hidden" : name, flags);
}

int main(void)
{
    int value = 7;
    void *memory;
    OK(cudaRuntimeGetVersion(&value));
    OK(cudaDriverGetVersion(&value));
    HOLDS(value == 0);
    GIVES(cudaErrorInsufficientDriver, cudaGetDeviceCount(&value));
    GIVES(cudaErrorInsufficientDriver, cudaMalloc(&memory, 4));
    GIVES(cudaErrorInsufficientDriver, cudaSetDevice(0));
    GIVES(cudaErrorInsufficientDriver, cudaDeviceSynchronize());
    HOLDS(cudaMalloc(&memory, 4) == cudaErrorInsufficientDriver && cudaGetLastError() == cudaErrorInsufficientDriver);
    HOLDS(cudaGetLastError() == cudaSuccess);
    return finish();
}
