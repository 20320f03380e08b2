/* SPDX-License-Identifier: Apache-2.0 */
/* What the tests of memory, copies and fills share: a context for the whole program, a gate that holds a stream up,
 * byte patterns. */
#ifndef TESTS_API_MEMORY_SUPPORT_H
#define TESTS_API_MEMORY_SUPPORT_H

#include <cuda.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <pthread.h>
#include <time.h>

#include <cmocka.h>

#define OK(call) assert_int_equal(call, CUDA_SUCCESS)
#define FAILS(call, status) assert_int_equal(call, status)
#define ADDRESS(pointer) ((CUdeviceptr)(uintptr_t)(pointer))

static CUcontext the_context;

/* The primary context of device 0, current. */
static int support_begin(void **state)
{
    CUdevice device;
    (void)state;
    if (cuInit(0) != CUDA_SUCCESS || cuDeviceGet(&device, 0) != CUDA_SUCCESS ||
        cuDevicePrimaryCtxRetain(&the_context, device) != CUDA_SUCCESS)
        return -1;
    return cuCtxSetCurrent(the_context) == CUDA_SUCCESS ? 0 : -1;
}

static int support_end(void **state)
{
    (void)state;
    return cuDevicePrimaryCtxRelease(0) == CUDA_SUCCESS ? 0 : -1;
}

/* A host function that holds its stream until the gate opens. */
struct gate {
    _Atomic int open;
};

static inline void gate_wait(void *data)
{
    struct gate *gate = data;
    struct timespec nap = {0, 100000};
    while (!atomic_load(&gate->open))
        nanosleep(&nap, NULL);
}

static inline void gate_put(struct gate *gate, CUstream stream)
{
    atomic_store(&gate->open, 0);
    OK(cuLaunchHostFunc(stream, gate_wait, gate));
}

static inline void gate_open(struct gate *gate)
{
    atomic_store(&gate->open, 1);
}

static inline CUdeviceptr device_bytes(size_t size)
{
    CUdeviceptr address;
    OK(cuMemAlloc(&address, size));
    return address;
}

static inline void pattern_put(void *bytes, size_t size, unsigned seed)
{
    for (size_t i = 0; i < size; i++)
        ((unsigned char *)bytes)[i] = (unsigned char)(i * 13 + i / 256 + seed);
}

static inline bool pattern_is(const void *bytes, size_t size, unsigned seed)
{
    for (size_t i = 0; i < size; i++)
        if (((const unsigned char *)bytes)[i] != (unsigned char)(i * 13 + i / 256 + seed))
            return false;
    return true;
}

#endif
