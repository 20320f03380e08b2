/* SPDX-License-Identifier: Apache-2.0 */
/* What the tests of events and streams share: a context for the whole program, and a gate that holds a stream up until
 * it is opened. They use the public interface only. */
#ifndef TESTS_API_STREAM_SUPPORT_H
#define TESTS_API_STREAM_SUPPORT_H

#include <cuda.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#define OK(call) assert_int_equal(call, CUDA_SUCCESS)
#define FAILS(call, status) assert_int_equal(call, status)

/* An address that is no handle, and one that cannot even be read. */
#define FOREIGN ((void *)&the_context)
#define WILD ((void *)(uintptr_t)0xdead0000beef)

static CUcontext the_context;

__attribute__((unused)) static int support_begin(void **state)
{
    CUdevice device;
    (void)state;
    return cuInit(0) == CUDA_SUCCESS && cuDeviceGet(&device, 0) == CUDA_SUCCESS &&
                   cuCtxCreate_v2(&the_context, 0, device) == CUDA_SUCCESS
               ? 0
               : -1;
}

__attribute__((unused)) static int support_end(void **state)
{
    (void)state;
    return cuCtxDestroy(the_context) == CUDA_SUCCESS ? 0 : -1;
}

/* A second context, current in the place of the first: the thread's stack holds one context. */
__attribute__((unused)) static CUcontext new_context(void)
{
    CUcontext context;
    CUdevice device;
    OK(cuDeviceGet(&device, 0));
    OK(cuCtxCreate_v2(&context, 0, device));
    OK(cuCtxPopCurrent(NULL));
    OK(cuCtxSetCurrent(context));
    return context;
}

/* Ends it and goes back to the program's context. */
__attribute__((unused)) static void end_context(CUcontext context)
{
    OK(cuCtxDestroy(context));
    OK(cuCtxSetCurrent(the_context));
}

__attribute__((unused)) static CUstream new_stream(unsigned flags)
{
    CUstream stream;
    OK(cuStreamCreate(&stream, flags));
    return stream;
}

__attribute__((unused)) static CUevent new_event(unsigned flags)
{
    CUevent event;
    OK(cuEventCreate(&event, flags));
    return event;
}

struct gate {
    _Atomic int open;
};

__attribute__((unused)) static void CUDA_CB gate_wait(void *data)
{
    struct gate *gate = data;
    while (!atomic_load(&gate->open))
        sched_yield();
}

__attribute__((unused)) static void gate_put(struct gate *gate, CUstream stream)
{
    atomic_store(&gate->open, 0);
    OK(cuLaunchHostFunc(stream, gate_wait, gate));
}

__attribute__((unused)) static void gate_open(struct gate *gate)
{
    atomic_store(&gate->open, 1);
}

#endif
