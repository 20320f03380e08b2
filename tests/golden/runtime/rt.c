/* SPDX-License-Identifier: Apache-2.0 */
/* What cases of the runtime API stand on: the words for its statuses, and the fixtures that one child process shares.
 */
#include "rt.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- words ---- */

static void status_text(cudaError_t status, char *text, size_t size)
{
    const char *name = rt_status_name(status);
    if (name)
        snprintf(text, size, "%s", name);
    else
        snprintf(text, size, "status=%d", (int)status);
}

void rt(cudaError_t status)
{
    char text[80];
    status_text(status, text, sizeof text);
    say_text(text);
}

void rt_noted(cudaError_t status)
{
    cudaError_t last = cudaGetLastError();
    rt(status);
    if (last == status)
        return;
    if (last == cudaSuccess) {
        say_text("clear");
        return;
    }
    rt(last);
}

void rt_last(void)
{
    char text[80], whole[90];
    status_text(cudaGetLastError(), text, sizeof text);
    snprintf(whole, sizeof whole, "last=%s", text);
    say_text(whole);
}

void rt_need(cudaError_t status, const char *what)
{
    char text[200], name[80];
    if (status == cudaSuccess)
        return;
    status_text(status, name, sizeof name);
    snprintf(text, sizeof text, "%s %s", what, name);
    gold_stop(text);
}

/* ---- the child ---- */

void gold_child_begin(bool bare)
{
    if (bare)
        return;
    cudaError_t status = cudaSetDevice(0);
    if (status == cudaSuccess)
        status = cudaFree(NULL);
    if (status != cudaSuccess) {
        const char *name = rt_status_name(status);
        fprintf(stderr, "runtime_cases: no device: %s\n", name ? name : "unknown status");
        exit(4);
    }
}

bool gold_child_reset(void)
{
    cudaGetLastError();
    bool whole = cudaSetDevice(0) == cudaSuccess && cudaDeviceSynchronize() == cudaSuccess;
    return whole && cudaGetLastError() == cudaSuccess;
}

int gold_device_count(void)
{
    int count = 0;
    return cudaGetDeviceCount(&count) == cudaSuccess ? count : 0;
}

/* ---- kernels, streams, memory ---- */

cudaLibrary_t rt_library(void)
{
    static cudaLibrary_t library;
    if (!library)
        RT_NEED(cudaLibraryLoadData(&library, gold_ptx, NULL, NULL, 0, NULL, NULL, 0));
    return library;
}

cudaKernel_t rt_kernel_handle(const char *name)
{
    cudaKernel_t kernel = NULL;
    RT_NEED(cudaLibraryGetKernel(&kernel, rt_library(), name));
    return kernel;
}

const void *rt_kernel(const char *name)
{
    return (const void *)rt_kernel_handle(name);
}

cudaStream_t rt_stream(unsigned flags)
{
    cudaStream_t stream;
    RT_NEED(cudaStreamCreateWithFlags(&stream, flags));
    return stream;
}

cudaEvent_t rt_event(unsigned flags)
{
    cudaEvent_t event;
    RT_NEED(cudaEventCreateWithFlags(&event, flags));
    return event;
}

void *rt_alloc(size_t bytes)
{
    void *address;
    RT_NEED(cudaMalloc(&address, bytes));
    return address;
}

unsigned *rt_words(size_t count, unsigned value)
{
    unsigned *address = rt_alloc(count * sizeof(unsigned));
    for (size_t i = 0; i < count; i++)
        RT_NEED(cudaMemcpy(address + i, &value, sizeof value, cudaMemcpyHostToDevice));
    /* Copies from pageable memory may still run, and non-blocking streams don't wait for them. */
    RT_NEED(cudaStreamSynchronize(cudaStreamLegacy));
    return address;
}

unsigned rt_word(const void *address)
{
    unsigned value = 0;
    RT_NEED(cudaMemcpy(&value, address, sizeof value, cudaMemcpyDeviceToHost));
    return value;
}

cudaError_t rt_launch(const void *kernel, unsigned threads, cudaStream_t stream, void **params)
{
    dim3 grid = {1, 1, 1}, block = {threads, 1, 1};
    return cudaLaunchKernel(kernel, grid, block, params, 0, stream);
}

void rt_store(cudaStream_t stream, void *address, unsigned value)
{
    void *params[] = {&address, &value};
    RT_NEED(rt_launch(rt_kernel("store"), 1, stream, params));
}

void rt_add(cudaStream_t stream, void *address, unsigned value)
{
    void *params[] = {&address, &value};
    RT_NEED(rt_launch(rt_kernel("add"), 1, stream, params));
}

/* ---- gates ---- */

struct rt_gate rt_gate_close(cudaStream_t stream)
{
    enum { FLAGS = 1024 };
    static volatile unsigned *flags;
    static unsigned used;
    if (!flags) {
        void *memory;
        RT_NEED(cudaHostAlloc(&memory, FLAGS * sizeof *flags, cudaHostAllocPortable | cudaHostAllocMapped));
        memset(memory, 0, FLAGS * sizeof *flags);
        flags = memory;
    }
    if (used == FLAGS)
        gold_stop("out of gates");
    struct rt_gate gate = {.flag = &flags[used++]};
    void *address;
    RT_NEED(cudaHostGetDevicePointer(&address, (void *)(uintptr_t)gate.flag, 0));
    void *params[] = {&address};
    RT_NEED(rt_launch(rt_kernel("spin"), 1, stream, params));
    return gate;
}

void rt_gate_open(struct rt_gate gate)
{
    *gate.flag = 1;
}

/* ---- threads ---- */

struct errand {
    void (*task)(void *argument);
    void *argument;
};

static void *errand_run(void *data)
{
    struct errand *errand = data;
    errand->task(errand->argument);
    return NULL;
}

void rt_thread(void (*task)(void *argument), void *argument)
{
    struct errand errand = {task, argument};
    pthread_t thread;
    if (pthread_create(&thread, NULL, errand_run, &errand) != 0)
        gold_stop("pthread_create");
    pthread_join(thread, NULL);
}

/* ---- graphs ---- */

cudaGraph_t rt_graph(void)
{
    cudaGraph_t graph;
    RT_NEED(cudaGraphCreate(&graph, 0));
    return graph;
}

cudaGraphNode_t rt_graph_empty(cudaGraph_t graph)
{
    cudaGraphNode_t node;
    RT_NEED(cudaGraphAddEmptyNode(&node, graph, NULL, 0));
    return node;
}

cudaGraphNode_t rt_graph_store(cudaGraph_t graph, cudaGraphNode_t dependency, void *address, unsigned value)
{
    void *params[] = {&address, &value};
    struct cudaKernelNodeParams kernel = {.func = (void *)(uintptr_t)rt_kernel("store"),
                                          .gridDim = {1, 1, 1},
                                          .blockDim = {1, 1, 1},
                                          .kernelParams = params};
    cudaGraphNode_t node;
    RT_NEED(cudaGraphAddKernelNode(&node, graph, dependency ? &dependency : NULL, dependency ? 1 : 0, &kernel));
    return node;
}
