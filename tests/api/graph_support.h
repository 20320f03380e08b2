/* SPDX-License-Identifier: Apache-2.0 */
/* What the tests of graphs share: graphs and simple nodes in one line. */
#ifndef TESTS_API_GRAPH_SUPPORT_H
#define TESTS_API_GRAPH_SUPPORT_H

#include "api_support.h"

static inline CUgraph new_graph(void)
{
    CUgraph graph = NULL;
    OK(cuGraphCreate(&graph, 0));
    assert_non_null(graph);
    return graph;
}

static inline CUgraphNode empty_after(CUgraph graph, const CUgraphNode *before, size_t count)
{
    CUgraphNode node = NULL;
    OK(cuGraphAddEmptyNode(&node, graph, before, count));
    assert_non_null(node);
    return node;
}

static inline CUgraphNode empty_in(CUgraph graph)
{
    return empty_after(graph, NULL, 0);
}

static inline size_t nodes_of(CUgraph graph)
{
    size_t count = 0;
    OK(cuGraphGetNodes(graph, NULL, &count));
    return count;
}

static inline size_t edges_of(CUgraph graph)
{
    size_t count = 0;
    OK(cuGraphGetEdges_v2(graph, NULL, NULL, NULL, &count));
    return count;
}

static inline CUgraphNodeType type_of(CUgraphNode node)
{
    CUgraphNodeType type = (CUgraphNodeType)99;
    OK(cuGraphNodeGetType(node, &type));
    return type;
}

/* One thread of a function. */
static inline CUDA_KERNEL_NODE_PARAMS one_thread(CUfunction function, void **params)
{
    CUDA_KERNEL_NODE_PARAMS p = {.func = function,
                                 .gridDimX = 1,
                                 .gridDimY = 1,
                                 .gridDimZ = 1,
                                 .blockDimX = 1,
                                 .blockDimY = 1,
                                 .blockDimZ = 1,
                                 .kernelParams = params};
    return p;
}

static inline CUDA_MEMCPY3D linear_copy(CUdeviceptr to, CUdeviceptr from, size_t bytes)
{
    CUDA_MEMCPY3D copy = {.srcMemoryType = CU_MEMORYTYPE_DEVICE,
                          .srcDevice = from,
                          .dstMemoryType = CU_MEMORYTYPE_DEVICE,
                          .dstDevice = to,
                          .WidthInBytes = bytes,
                          .Height = 1,
                          .Depth = 1};
    return copy;
}

static inline CUDA_MEM_ALLOC_NODE_PARAMS device_alloc(size_t bytes)
{
    CUDA_MEM_ALLOC_NODE_PARAMS p = {
        .poolProps = {.allocType = CU_MEM_ALLOCATION_TYPE_PINNED, .location = {.type = CU_MEM_LOCATION_TYPE_DEVICE}},
        .bytesize = bytes};
    return p;
}

#endif
