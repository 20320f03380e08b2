/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the cases about graphs share: making graphs and simple nodes in one
 * line, and saying handles as the place they have in a list, so that an
 * answer holds no address.
 *
 * Functions that have versions are called by the versioned name, which every
 * header from 12.8 on declares.
 */
#ifndef GOLD_GRAPH_H
#define GOLD_GRAPH_H

#include "gold.h"

#include <string.h>

static inline CUgraph graph_new(void)
{
    CUgraph graph = NULL;
    NEED(cuGraphCreate(&graph, 0));
    return graph;
}

static inline void graph_end(CUgraph graph)
{
    NEED(cuGraphDestroy(graph));
}

/* An empty node after COUNT others. */
static inline CUgraphNode empty_after(CUgraph graph, const CUgraphNode *before, size_t count)
{
    CUgraphNode node = NULL;
    NEED(cuGraphAddEmptyNode(&node, graph, before, count));
    return node;
}

static inline CUgraphNode empty_in(CUgraph graph)
{
    return empty_after(graph, NULL, 0);
}

/* The place of NODE in a list, or -1; -2 for NULL. */
static inline int place_of(CUgraphNode node, const CUgraphNode *list, size_t count)
{
    if (!node)
        return -2;
    for (size_t i = 0; i < count; i++)
        if (list[i] == node)
            return (int)i;
    return -1;
}

static inline long long nodes_of(CUgraph graph)
{
    size_t count = 0;
    NEED(cuGraphGetNodes(graph, NULL, &count));
    return (long long)count;
}

static inline long long edges_of(CUgraph graph)
{
    size_t count = 0;
    NEED(cuGraphGetEdges_v2(graph, NULL, NULL, NULL, &count));
    return (long long)count;
}

static inline void say_type(CUgraphNode node)
{
    CUgraphNodeType type = (CUgraphNodeType)99;
    say(cuGraphNodeGetType(node, &type));
    say_value("type", type);
}

/* One thread of FUNCTION. */
static inline CUDA_KERNEL_NODE_PARAMS one_thread(CUfunction function, void **params)
{
    CUDA_KERNEL_NODE_PARAMS p;
    memset(&p, 0, sizeof p);
    p.func = function;
    p.gridDimX = p.gridDimY = p.gridDimZ = 1;
    p.blockDimX = p.blockDimY = p.blockDimZ = 1;
    p.kernelParams = params;
    return p;
}

/* A kernel that stores VALUE at ADDRESS. */
static inline CUgraphNode store_in(CUgraph graph, CUdeviceptr address, unsigned value)
{
    void *params[] = {&address, &value};
    CUDA_KERNEL_NODE_PARAMS p = one_thread(gold_function("store"), params);
    CUgraphNode node = NULL;
    NEED(cuGraphAddKernelNode_v2(&node, graph, NULL, 0, &p));
    return node;
}

/* A copy of BYTES bytes between device addresses or unified ones. */
static inline CUDA_MEMCPY3D linear_copy(CUdeviceptr to, CUdeviceptr from, size_t bytes)
{
    CUDA_MEMCPY3D copy;
    memset(&copy, 0, sizeof copy);
    copy.srcMemoryType = CU_MEMORYTYPE_DEVICE;
    copy.srcDevice = from;
    copy.dstMemoryType = CU_MEMORYTYPE_DEVICE;
    copy.dstDevice = to;
    copy.WidthInBytes = bytes;
    copy.Height = copy.Depth = 1;
    return copy;
}

static inline CUDA_MEMSET_NODE_PARAMS linear_fill(CUdeviceptr to, unsigned value, unsigned element, size_t width)
{
    CUDA_MEMSET_NODE_PARAMS fill;
    memset(&fill, 0, sizeof fill);
    fill.dst = to;
    fill.value = value;
    fill.elementSize = element;
    fill.width = width;
    fill.height = 1;
    return fill;
}

/* Memory of device 0 for an allocation node. */
static inline CUDA_MEM_ALLOC_NODE_PARAMS device_alloc(size_t bytes)
{
    CUDA_MEM_ALLOC_NODE_PARAMS p;
    memset(&p, 0, sizeof p);
    p.poolProps.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
    p.poolProps.handleTypes = CU_MEM_HANDLE_TYPE_NONE;
    p.poolProps.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    p.poolProps.location.id = gold_device();
    p.bytesize = bytes;
    return p;
}

/* Instantiates, runs once in the default stream and waits. */
static inline void run_once(CUgraph graph)
{
    CUgraphExec exec = NULL;
    NEED(cuGraphInstantiateWithFlags(&exec, graph, 0));
    NEED(cuGraphLaunch(exec, NULL));
    NEED(cuStreamSynchronize(NULL));
    NEED(cuGraphExecDestroy(exec));
}

#endif
