/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What cases of the driver API stand on: the fixtures that one child process
 * shares (context, module, gates).
 */
#include "gold.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- the child's context ---- */

static CUdevice device;
static CUcontext context;
static CUmodule module;

CUdevice gold_device(void)
{
    return device;
}

CUcontext gold_context(void)
{
    return context;
}

CUcontext gold_context_new(void)
{
    CUcontext other;
    NEED(cuCtxCreate(&other, NULL, 0, device));
    return other;
}

void gold_child_begin(bool bare)
{
    if (bare)
        return;
    CUresult status = cuInit(0);
    if (status == CUDA_SUCCESS)
        status = cuDeviceGet(&device, 0);
    if (status == CUDA_SUCCESS)
        status = cuCtxCreate(&context, NULL, 0, device);
    if (status != CUDA_SUCCESS) {
        const char *name = gold_status_name(status);
        fprintf(stderr, "golden_cases: no context: %s\n", name ? name : "unknown status");
        exit(4);
    }
}

int gold_device_count(void)
{
    int count = 0;
    return cuInit(0) == CUDA_SUCCESS && cuDeviceGetCount(&count) == CUDA_SUCCESS ? count : 0;
}

/* Between two cases: the own context alone on the stack, and still usable. */
bool gold_child_reset(void)
{
    CUcontext popped = NULL;
    for (int i = 0; i < 64 && cuCtxPopCurrent(&popped) == CUDA_SUCCESS; i++)
        ;
    if (cuCtxPushCurrent(context) != CUDA_SUCCESS)
        return false;
    return cuCtxSynchronize() == CUDA_SUCCESS;
}

/* ---- modules, streams, memory ---- */

CUmodule gold_load(const char *ptx)
{
    CUmodule loaded;
    NEED(cuModuleLoadData(&loaded, ptx));
    return loaded;
}

CUmodule gold_module(void)
{
    if (!module)
        module = gold_load(gold_ptx);
    return module;
}

CUfunction gold_function(const char *name)
{
    CUfunction function;
    CUresult status = cuModuleGetFunction(&function, gold_module(), name);
    gold_need(status, name);
    return function;
}

CUstream gold_stream(unsigned flags)
{
    CUstream stream;
    NEED(cuStreamCreate(&stream, flags));
    return stream;
}

CUevent gold_event(unsigned flags)
{
    CUevent event;
    NEED(cuEventCreate(&event, flags));
    return event;
}

CUdeviceptr gold_alloc(size_t bytes)
{
    CUdeviceptr address;
    NEED(cuMemAlloc(&address, bytes));
    return address;
}

CUdeviceptr gold_alloc_words(size_t count, unsigned value)
{
    CUdeviceptr address = gold_alloc(count * sizeof(unsigned));
    NEED(cuMemsetD32(address, value, count));
    NEED(cuCtxSynchronize());
    return address;
}

unsigned gold_word(CUdeviceptr address)
{
    unsigned value = 0;
    NEED(cuMemcpyDtoH(&value, address, sizeof value));
    return value;
}

CUresult gold_launch(CUfunction function, unsigned threads, CUstream stream, void **params)
{
    return cuLaunchKernel(function, 1, 1, 1, threads, 1, 1, 0, stream, params, NULL);
}

void gold_store(CUstream stream, CUdeviceptr address, unsigned value)
{
    void *params[] = {&address, &value};
    NEED(gold_launch(gold_function("store"), 1, stream, params));
}

void gold_add(CUstream stream, CUdeviceptr address, unsigned value)
{
    void *params[] = {&address, &value};
    NEED(gold_launch(gold_function("add"), 1, stream, params));
}

/* ---- gates ---- */

struct gold_gate gold_gate_close(CUstream stream)
{
    enum { FLAGS = 1024 };
    static volatile unsigned *flags;
    static unsigned used;
    if (!flags) {
        void *memory;
        NEED(cuMemHostAlloc(&memory, FLAGS * sizeof *flags, CU_MEMHOSTALLOC_PORTABLE | CU_MEMHOSTALLOC_DEVICEMAP));
        memset(memory, 0, FLAGS * sizeof *flags);
        flags = memory;
    }
    if (used == FLAGS)
        gold_stop("out of gates");
    struct gold_gate gate = {.flag = &flags[used++]};
    CUdeviceptr address;
    NEED(cuMemHostGetDevicePointer(&address, (void *)(uintptr_t)gate.flag, 0));
    void *params[] = {&address};
    NEED(gold_launch(gold_function("spin"), 1, stream, params));
    return gate;
}

void gold_gate_open(struct gold_gate gate)
{
    *gate.flag = 1;
}

/* ---- waiting on the host ---- */

CUresult gold_wait_stream(CUstream stream, unsigned limit_ms)
{
    CUresult status = cuStreamQuery(stream);
    for (unsigned i = 0; i < limit_ms && status == CUDA_ERROR_NOT_READY; i++) {
        gold_sleep_ms(1);
        status = cuStreamQuery(stream);
    }
    return status;
}

CUresult gold_wait_event(CUevent event, unsigned limit_ms)
{
    CUresult status = cuEventQuery(event);
    for (unsigned i = 0; i < limit_ms && status == CUDA_ERROR_NOT_READY; i++) {
        gold_sleep_ms(1);
        status = cuEventQuery(event);
    }
    return status;
}
