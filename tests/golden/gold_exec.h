/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Short words for cases about executable graphs: nodes with the common module's
 * kernels, fills, copies and host functions; making, launching and reading back.
 * A step that fails ends the case, as with NEED.
 */
#ifndef GOLD_EXEC_H
#define GOLD_EXEC_H

#include "gold.h"

#include <string.h>

static inline CUgraph ge_graph(void)
{
    CUgraph graph;
    NEED(cuGraphCreate(&graph, 0));
    return graph;
}

/* A kernel node's parameters: one thread of `store` or `add`.  The words must outlive the call that takes them. */
struct ge_kernel {
    CUdeviceptr address;
    unsigned value;
    void *params[2];
    CUDA_KERNEL_NODE_PARAMS node;
};

static inline CUDA_KERNEL_NODE_PARAMS *ge_params(struct ge_kernel *kernel, const char *name, CUdeviceptr address,
                                                 unsigned value)
{
    memset(kernel, 0, sizeof *kernel);
    kernel->address = address;
    kernel->value = value;
    kernel->params[0] = &kernel->address;
    kernel->params[1] = &kernel->value;
    kernel->node.func = gold_function(name);
    kernel->node.gridDimX = kernel->node.gridDimY = kernel->node.gridDimZ = 1;
    kernel->node.blockDimX = kernel->node.blockDimY = kernel->node.blockDimZ = 1;
    kernel->node.kernelParams = kernel->params;
    return &kernel->node;
}

/* Nodes below come after `after`, unless that is NULL. */
static inline CUgraphNode ge_kernel_node(CUgraph graph, CUgraphNode after, const char *name, CUdeviceptr address,
                                         unsigned value)
{
    struct ge_kernel kernel;
    CUgraphNode node;
    NEED(cuGraphAddKernelNode(&node, graph, after ? &after : NULL, after ? 1 : 0,
                              ge_params(&kernel, name, address, value)));
    return node;
}

static inline CUgraphNode ge_store(CUgraph graph, CUgraphNode after, CUdeviceptr address, unsigned value)
{
    return ge_kernel_node(graph, after, "store", address, value);
}

static inline CUgraphNode ge_add(CUgraph graph, CUgraphNode after, CUdeviceptr address, unsigned value)
{
    return ge_kernel_node(graph, after, "add", address, value);
}

/* word[to] = word[from] */
static inline CUgraphNode ge_move(CUgraph graph, CUgraphNode after, CUdeviceptr to, CUdeviceptr from)
{
    void *params[] = {&to, &from};
    CUDA_KERNEL_NODE_PARAMS node_params;
    CUgraphNode node;
    memset(&node_params, 0, sizeof node_params);
    node_params.func = gold_function("copy_word");
    node_params.gridDimX = node_params.gridDimY = node_params.gridDimZ = 1;
    node_params.blockDimX = node_params.blockDimY = node_params.blockDimZ = 1;
    node_params.kernelParams = params;
    NEED(cuGraphAddKernelNode(&node, graph, after ? &after : NULL, after ? 1 : 0, &node_params));
    return node;
}

/* A kernel that waits for `flag`, a word of pinned host memory, eight seconds at most. */
static inline CUgraphNode ge_spin(CUgraph graph, CUgraphNode after, volatile unsigned *flag)
{
    CUdeviceptr address;
    NEED(cuMemHostGetDevicePointer(&address, (void *)(uintptr_t)flag, 0));
    void *params[] = {&address};
    CUDA_KERNEL_NODE_PARAMS node_params;
    CUgraphNode node;
    memset(&node_params, 0, sizeof node_params);
    node_params.func = gold_function("spin");
    node_params.gridDimX = node_params.gridDimY = node_params.gridDimZ = 1;
    node_params.blockDimX = node_params.blockDimY = node_params.blockDimZ = 1;
    node_params.kernelParams = params;
    NEED(cuGraphAddKernelNode(&node, graph, after ? &after : NULL, after ? 1 : 0, &node_params));
    return node;
}

static inline volatile unsigned *ge_flag(void)
{
    void *memory;
    NEED(cuMemHostAlloc(&memory, 64, CU_MEMHOSTALLOC_PORTABLE | CU_MEMHOSTALLOC_DEVICEMAP));
    memset(memory, 0, 64);
    return memory;
}

static inline CUDA_MEMSET_NODE_PARAMS ge_fill_params(CUdeviceptr address, unsigned value, unsigned element,
                                                     size_t width, size_t height, size_t pitch)
{
    CUDA_MEMSET_NODE_PARAMS params;
    memset(&params, 0, sizeof params);
    params.dst = address;
    params.value = value;
    params.elementSize = element;
    params.width = width;
    params.height = height;
    params.pitch = pitch;
    return params;
}

static inline CUgraphNode ge_fill(CUgraph graph, CUgraphNode after, CUdeviceptr address, unsigned value, size_t words)
{
    CUDA_MEMSET_NODE_PARAMS params = ge_fill_params(address, value, 4, words, 1, 0);
    CUgraphNode node;
    NEED(cuGraphAddMemsetNode(&node, graph, after ? &after : NULL, after ? 1 : 0, &params, gold_context()));
    return node;
}

/* Type 'd' is device memory, 'h' is host memory, 'u' is unified addressing. */
static inline CUDA_MEMCPY3D ge_copy_params(char to_type, CUdeviceptr to, char from_type, CUdeviceptr from, size_t bytes)
{
    CUDA_MEMCPY3D copy;
    memset(&copy, 0, sizeof copy);
    copy.srcMemoryType = from_type == 'd'   ? CU_MEMORYTYPE_DEVICE
                         : from_type == 'h' ? CU_MEMORYTYPE_HOST
                                            : CU_MEMORYTYPE_UNIFIED;
    copy.dstMemoryType = to_type == 'd'   ? CU_MEMORYTYPE_DEVICE
                         : to_type == 'h' ? CU_MEMORYTYPE_HOST
                                          : CU_MEMORYTYPE_UNIFIED;
    if (from_type == 'h')
        copy.srcHost = (const void *)(uintptr_t)from;
    else
        copy.srcDevice = from;
    if (to_type == 'h')
        copy.dstHost = (void *)(uintptr_t)to;
    else
        copy.dstDevice = to;
    copy.WidthInBytes = bytes;
    copy.Height = copy.Depth = 1;
    return copy;
}

static inline CUgraphNode ge_copy(CUgraph graph, CUgraphNode after, const CUDA_MEMCPY3D *copy)
{
    CUgraphNode node;
    NEED(cuGraphAddMemcpyNode(&node, graph, after ? &after : NULL, after ? 1 : 0, copy, gold_context()));
    return node;
}

static inline CUgraphNode ge_host(CUgraph graph, CUgraphNode after, CUhostFn function, void *data)
{
    CUDA_HOST_NODE_PARAMS params;
    CUgraphNode node;
    memset(&params, 0, sizeof params);
    params.fn = function;
    params.userData = data;
    NEED(cuGraphAddHostNode(&node, graph, after ? &after : NULL, after ? 1 : 0, &params));
    return node;
}

static inline CUgraphNode ge_empty(CUgraph graph, CUgraphNode after)
{
    CUgraphNode node;
    NEED(cuGraphAddEmptyNode(&node, graph, after ? &after : NULL, after ? 1 : 0));
    return node;
}

static inline CUgraphNode ge_child(CUgraph graph, CUgraphNode after, CUgraph child)
{
    CUgraphNode node;
    NEED(cuGraphAddChildGraphNode(&node, graph, after ? &after : NULL, after ? 1 : 0, child));
    return node;
}

static inline CUgraphNode ge_record(CUgraph graph, CUgraphNode after, CUevent event)
{
    CUgraphNode node;
    NEED(cuGraphAddEventRecordNode(&node, graph, after ? &after : NULL, after ? 1 : 0, event));
    return node;
}

static inline CUgraphNode ge_wait(CUgraph graph, CUgraphNode after, CUevent event)
{
    CUgraphNode node;
    NEED(cuGraphAddEventWaitNode(&node, graph, after ? &after : NULL, after ? 1 : 0, event));
    return node;
}

static inline CUgraphExec ge_exec(CUgraph graph)
{
    CUgraphExec exec;
    NEED(cuGraphInstantiate(&exec, graph, 0));
    return exec;
}

/* Launches and waits; says what launch and wait answered. */
static inline void ge_run(CUgraphExec exec, CUstream stream)
{
    CUresult status = cuGraphLaunch(exec, stream);
    say(status);
    if (status == CUDA_SUCCESS)
        say(cuStreamSynchronize(stream));
}

/* The same where only what the graph left behind is of interest. */
static inline void ge_go(CUgraphExec exec, CUstream stream)
{
    NEED(cuGraphLaunch(exec, stream));
    NEED(cuStreamSynchronize(stream));
}

/* The parameters of an allocation node on device 0. */
static inline CUDA_MEM_ALLOC_NODE_PARAMS ge_alloc_params(size_t bytes)
{
    CUDA_MEM_ALLOC_NODE_PARAMS params;
    memset(&params, 0, sizeof params);
    params.poolProps.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
    params.poolProps.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    params.poolProps.location.id = gold_device();
    params.bytesize = bytes;
    return params;
}

static inline CUgraphNode ge_alloc(CUgraph graph, CUgraphNode after, size_t bytes, CUdeviceptr *address)
{
    CUDA_MEM_ALLOC_NODE_PARAMS params = ge_alloc_params(bytes);
    CUgraphNode node;
    NEED(cuGraphAddMemAllocNode(&node, graph, after ? &after : NULL, after ? 1 : 0, &params));
    *address = params.dptr;
    return node;
}

static inline CUgraphNode ge_free(CUgraph graph, CUgraphNode after, CUdeviceptr address)
{
    CUgraphNode node;
    NEED(cuGraphAddMemFreeNode(&node, graph, after ? &after : NULL, after ? 1 : 0, address));
    return node;
}

#endif
