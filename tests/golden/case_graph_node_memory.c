/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Nodes that allocate and free memory, and what a graph that has them can no
 * longer do.  What their runs do is in case_graph_memory.c.
 */
#include "gold_graph.h"

static void try_alloc(CUDA_MEM_ALLOC_NODE_PARAMS p)
{
    CUgraph graph = graph_new();
    CUgraphNode node = NULL;
    p.dptr = 77;
    CUresult status = cuGraphAddMemAllocNode(&node, graph, NULL, 0, &p);
    say(status);
    if (status == CUDA_SUCCESS)
        say_if("address", p.dptr != 77 && p.dptr != 0);
    else
        say_if("untouched", p.dptr == 77);
    graph_end(graph);
}

CASE(graph_node, alloc)
{
    CUgraph graph = graph_new();
    CUgraphNode node = NULL;
    CUDA_MEM_ALLOC_NODE_PARAMS p = device_alloc(4096), got;
    say(cuGraphAddMemAllocNode(&node, graph, NULL, 0, &p));
    say_type(node);
    say_if("address", p.dptr != 0);
    memset(&got, 0x55, sizeof got);
    say(cuGraphMemAllocNodeGetParams(node, &got));
    say_if("same", got.dptr == p.dptr);
    say_value("bytes", (long long)got.bytesize);
    say_value("access", (long long)got.accessDescCount);
    say_if("no_descs", got.accessDescs == NULL);
    say_value("alloc_type", got.poolProps.allocType);
    say_value("location", got.poolProps.location.type);
    say_if("device", got.poolProps.location.id == gold_device());
    graph_end(graph);
}

CASE(graph_node, alloc_null_arguments)
{
    CUgraph graph = graph_new();
    CUgraphNode node = NULL;
    CUDA_MEM_ALLOC_NODE_PARAMS p = device_alloc(4096);
    say(cuGraphAddMemAllocNode(NULL, graph, NULL, 0, &p));
    say(cuGraphAddMemAllocNode(&node, NULL, NULL, 0, &p));
    say(cuGraphAddMemAllocNode(&node, graph, NULL, 0, NULL));
    NEED(cuGraphAddMemAllocNode(&node, graph, NULL, 0, &p));
    say(cuGraphMemAllocNodeGetParams(node, NULL));
    say(cuGraphMemAllocNodeGetParams(NULL, &p));
    CUdeviceptr address;
    say(cuGraphMemFreeNodeGetParams(node, &address));
    graph_end(graph);
}

CASE(graph_node, alloc_sizes)
{
    try_alloc(device_alloc(0));
    try_alloc(device_alloc(1));
    try_alloc(device_alloc((size_t)1 << 20));
}

CASE(
    graph_node, alloc_types,
    .allow =
        "CUDA_ERROR_INVALID_VALUE untouched=yes CUDA_ERROR_NOT_SUPPORTED untouched=yes CUDA_ERROR_INVALID_VALUE untouched=yes",
    .why = "managed memory of graphs is not there yet")
{
    CUDA_MEM_ALLOC_NODE_PARAMS p = device_alloc(64);
    p.poolProps.allocType = CU_MEM_ALLOCATION_TYPE_INVALID;
    try_alloc(p);
    p.poolProps.allocType = (CUmemAllocationType)2;
    try_alloc(p);
    p.poolProps.allocType = CU_MEM_ALLOCATION_TYPE_MAX;
    try_alloc(p);
}

CASE(graph_node, alloc_handle_types)
{
    CUDA_MEM_ALLOC_NODE_PARAMS p = device_alloc(64);
    p.poolProps.handleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
    try_alloc(p);
}

CASE(graph_node, alloc_locations)
{
    CUDA_MEM_ALLOC_NODE_PARAMS p = device_alloc(64);
    p.poolProps.location.type = CU_MEM_LOCATION_TYPE_INVALID;
    try_alloc(p);
    p.poolProps.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    p.poolProps.location.id = -1;
    try_alloc(p);
    p.poolProps.location.id = 1000;
    try_alloc(p);
}

CASE(graph_node, alloc_max_size)
{
    CUDA_MEM_ALLOC_NODE_PARAMS p = device_alloc(64);
    p.poolProps.maxSize = 32;
    try_alloc(p);
    p.poolProps.maxSize = 1 << 20;
    try_alloc(p);
    p.poolProps.maxSize = 0;
    p.poolProps.usage = 1;
    try_alloc(p);
}

CASE(graph_node, alloc_access, .alone = true)
{
    CUDA_MEM_ALLOC_NODE_PARAMS p = device_alloc(64);
    CUmemAccessDesc access[2];
    memset(access, 0, sizeof access);
    for (int i = 0; i < 2; i++) {
        access[i].location.type = CU_MEM_LOCATION_TYPE_DEVICE;
        access[i].location.id = gold_device();
        access[i].flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
    }
    p.accessDescs = access;
    p.accessDescCount = 1;
    try_alloc(p);
    access[0].flags = CU_MEM_ACCESS_FLAGS_PROT_READ;
    try_alloc(p);
    access[0].flags = CU_MEM_ACCESS_FLAGS_PROT_NONE;
    try_alloc(p);
    access[0].flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
    access[0].location.id = 1000;
    try_alloc(p);
}

CASE(graph_node, alloc_access_null, .alone = true, .allow = "CUDA_ERROR_INVALID_VALUE untouched=yes",
     .why = "hardware reads the null pointer")
{
    CUDA_MEM_ALLOC_NODE_PARAMS p = device_alloc(64);
    p.accessDescCount = 1;
    try_alloc(p);
}

CASE(graph_node, alloc_access_told)
{
    CUgraph graph = graph_new();
    CUgraphNode node = NULL;
    CUDA_MEM_ALLOC_NODE_PARAMS p = device_alloc(64), got;
    CUmemAccessDesc access;
    memset(&access, 0, sizeof access);
    access.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    access.location.id = gold_device();
    access.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
    p.accessDescs = &access;
    p.accessDescCount = 1;
    CUresult status = cuGraphAddMemAllocNode(&node, graph, NULL, 0, &p);
    say(status);
    if (status == CUDA_SUCCESS) {
        memset(&got, 0, sizeof got);
        say(cuGraphMemAllocNodeGetParams(node, &got));
        say_value("access", (long long)got.accessDescCount);
        say_if("copied", got.accessDescs != &access);
        if (got.accessDescs && got.accessDescCount)
            say_value("flags", got.accessDescs[0].flags);
    }
    graph_end(graph);
}

CASE(graph_node, alloc_without_context, .alone = true)
{
    NEED(cuCtxSetCurrent(NULL));
    try_alloc(device_alloc(64));
}

CASE(graph_node, alloc_twice_are_apart)
{
    CUgraph graph = graph_new();
    CUgraphNode one = NULL, two = NULL;
    CUDA_MEM_ALLOC_NODE_PARAMS p = device_alloc(4096), q = device_alloc(4096);
    say(cuGraphAddMemAllocNode(&one, graph, NULL, 0, &p));
    say(cuGraphAddMemAllocNode(&two, graph, NULL, 0, &q));
    say_if("apart", p.dptr + 4096 <= q.dptr || q.dptr + 4096 <= p.dptr);
    say_if("aligned", p.dptr % 512 == 0 && q.dptr % 512 == 0);
    graph_end(graph);
}

CASE(graph_node, free)
{
    CUgraph graph = graph_new();
    CUgraphNode alloc = NULL, node = NULL;
    CUDA_MEM_ALLOC_NODE_PARAMS p = device_alloc(4096);
    NEED(cuGraphAddMemAllocNode(&alloc, graph, NULL, 0, &p));
    say(cuGraphAddMemFreeNode(&node, graph, &alloc, 1, p.dptr));
    say_type(node);
    CUdeviceptr got = 0;
    say(cuGraphMemFreeNodeGetParams(node, &got));
    say_if("same", got == p.dptr);
    say(cuGraphMemFreeNodeGetParams(node, NULL));
    say(cuGraphMemFreeNodeGetParams(alloc, &got));
    graph_end(graph);
}

CASE(graph_node, free_of_what)
{
    CUgraph graph = graph_new();
    CUgraphNode alloc = NULL, node = NULL;
    CUDA_MEM_ALLOC_NODE_PARAMS p = device_alloc(4096);
    NEED(cuGraphAddMemAllocNode(&alloc, graph, NULL, 0, &p));
    say(cuGraphAddMemFreeNode(&node, graph, &alloc, 1, 0));
    say(cuGraphAddMemFreeNode(&node, graph, &alloc, 1, p.dptr + 256));
    say(cuGraphAddMemFreeNode(&node, graph, &alloc, 1, gold_alloc(64)));
    say(cuGraphAddMemFreeNode(&node, graph, &alloc, 1, (CUdeviceptr)(uintptr_t)GOLD_WILD));
    say_value("nodes", nodes_of(graph));
    graph_end(graph);
}

CASE(graph_node, free_not_after_its_allocation)
{
    CUgraph graph = graph_new();
    CUgraphNode alloc = NULL, node = NULL;
    CUDA_MEM_ALLOC_NODE_PARAMS p = device_alloc(4096);
    NEED(cuGraphAddMemAllocNode(&alloc, graph, NULL, 0, &p));
    say(cuGraphAddMemFreeNode(&node, graph, NULL, 0, p.dptr));
    say_value("nodes", nodes_of(graph));
    CUgraphExec exec = NULL;
    say(cuGraphInstantiateWithFlags(&exec, graph, 0));
    if (exec)
        say(cuGraphExecDestroy(exec));
    graph_end(graph);
}

CASE(graph_node, free_twice_in_one_graph)
{
    CUgraph graph = graph_new();
    CUgraphNode alloc = NULL, one = NULL, two = NULL;
    CUDA_MEM_ALLOC_NODE_PARAMS p = device_alloc(4096);
    NEED(cuGraphAddMemAllocNode(&alloc, graph, NULL, 0, &p));
    say(cuGraphAddMemFreeNode(&one, graph, &alloc, 1, p.dptr));
    say(cuGraphAddMemFreeNode(&two, graph, &one, 1, p.dptr));
    graph_end(graph);
}

CASE(graph_node, free_in_owner_then_elsewhere)
{
    CUgraph graph = graph_new(), other = graph_new();
    CUgraphNode alloc = NULL, node = NULL;
    CUDA_MEM_ALLOC_NODE_PARAMS p = device_alloc(4096);
    NEED(cuGraphAddMemAllocNode(&alloc, graph, NULL, 0, &p));
    say(cuGraphAddMemFreeNode(&node, graph, &alloc, 1, p.dptr));
    say(cuGraphAddMemFreeNode(&node, other, NULL, 0, p.dptr));
    graph_end(other);
    graph_end(graph);
}

CASE(graph_node, free_elsewhere_then_in_owner)
{
    CUgraph graph = graph_new(), other = graph_new(), third = graph_new();
    CUgraphNode alloc = NULL, node = NULL;
    CUDA_MEM_ALLOC_NODE_PARAMS p = device_alloc(4096);
    NEED(cuGraphAddMemAllocNode(&alloc, graph, NULL, 0, &p));
    say(cuGraphAddMemFreeNode(&node, other, NULL, 0, p.dptr));
    say(cuGraphAddMemFreeNode(&node, graph, &alloc, 1, p.dptr));
    say(cuGraphAddMemFreeNode(&node, third, NULL, 0, p.dptr));
    graph_end(third);
    graph_end(other);
    graph_end(graph);
}

CASE(graph_node, memory_nodes_stay)
{
    CUgraph graph = graph_new();
    CUgraphNode alloc = NULL, node = NULL, empty = empty_in(graph);
    CUDA_MEM_ALLOC_NODE_PARAMS p = device_alloc(4096);
    NEED(cuGraphAddMemAllocNode(&alloc, graph, &empty, 1, &p));
    NEED(cuGraphAddMemFreeNode(&node, graph, &alloc, 1, p.dptr));
    say(cuGraphDestroyNode(alloc));
    say(cuGraphDestroyNode(node));
    say(cuGraphDestroyNode(empty));
    say(cuGraphRemoveDependencies_v2(graph, &empty, &alloc, NULL, 1));
    say(cuGraphRemoveDependencies_v2(graph, &empty, &node, NULL, 1));
    say(cuGraphAddDependencies_v2(graph, &empty, &node, NULL, 1));
    say_value("nodes", nodes_of(graph));
    say_value("edges", edges_of(graph));
    graph_end(graph);
}

CASE(graph_node, memory_free_alone_stays)
{
    CUgraph graph = graph_new(), other = graph_new();
    CUgraphNode alloc = NULL, node = NULL, empty = empty_in(other);
    CUDA_MEM_ALLOC_NODE_PARAMS p = device_alloc(4096);
    NEED(cuGraphAddMemAllocNode(&alloc, graph, NULL, 0, &p));
    NEED(cuGraphAddMemFreeNode(&node, other, NULL, 0, p.dptr));
    say(cuGraphDestroyNode(node));
    say(cuGraphDestroyNode(empty));
    CUgraph clone = NULL;
    say(cuGraphClone(&clone, other));
    say(cuGraphClone(&clone, graph));
    graph_end(other);
    graph_end(graph);
}

CASE(graph_node, memory_graph_as_child)
{
    CUgraph graph = graph_new(), outer = graph_new();
    CUgraphNode alloc = NULL, node = NULL;
    CUDA_MEM_ALLOC_NODE_PARAMS p = device_alloc(4096);
    NEED(cuGraphAddMemAllocNode(&alloc, graph, NULL, 0, &p));
    say(cuGraphAddChildGraphNode(&node, outer, NULL, 0, graph));
    say_value("nodes", nodes_of(outer));
    graph_end(outer);
    graph_end(graph);
}

CASE(graph_node, memory_child_moved)
{
    CUgraph graph = graph_new(), outer = graph_new(), got = NULL;
    CUgraphNode alloc = NULL, node = NULL, empty = empty_in(outer);
    CUDA_MEM_ALLOC_NODE_PARAMS p = device_alloc(4096);
    NEED(cuGraphAddMemAllocNode(&alloc, graph, NULL, 0, &p));
    CUgraphNodeParams q;
    memset(&q, 0, sizeof q);
    q.type = CU_GRAPH_NODE_TYPE_GRAPH;
    q.graph.graph = graph;
    q.graph.ownership = CU_GRAPH_CHILD_GRAPH_OWNERSHIP_MOVE;
    CUresult status = cuGraphAddNode_v2(&node, outer, NULL, NULL, 0, &q);
    say(status);
    if (status == CUDA_SUCCESS) {
        say(cuGraphChildGraphNodeGetGraph(node, &got));
        say_if("same", got == graph);
        say(cuGraphDestroy(graph));
        say(cuGraphDestroyNode(empty));
        say(cuGraphDestroyNode(node));
        CUDA_MEM_ALLOC_NODE_PARAMS more = device_alloc(64);
        CUgraphNode second = NULL;
        say(cuGraphAddMemAllocNode(&second, graph, NULL, 0, &more));
        CUgraph clone = NULL;
        say(cuGraphClone(&clone, outer));
    }
    graph_end(outer);
}

CASE(graph_node, child_moved)
{
    CUgraph graph = graph_new(), outer = graph_new(), other = graph_new(), got = NULL;
    CUgraphNode node = NULL, again = NULL;
    empty_in(graph);
    CUgraphNodeParams q;
    memset(&q, 0, sizeof q);
    q.type = CU_GRAPH_NODE_TYPE_GRAPH;
    q.graph.graph = graph;
    q.graph.ownership = CU_GRAPH_CHILD_GRAPH_OWNERSHIP_MOVE;
    say(cuGraphAddNode_v2(&node, outer, NULL, NULL, 0, &q));
    say(cuGraphChildGraphNodeGetGraph(node, &got));
    say_if("same", got == graph);
    say(cuGraphDestroy(graph));
    say(cuGraphAddNode_v2(&again, other, NULL, NULL, 0, &q));
    q.graph.ownership = CU_GRAPH_CHILD_GRAPH_OWNERSHIP_CLONE;
    say(cuGraphAddNode_v2(&again, other, NULL, NULL, 0, &q));
    CUgraphNode added = NULL;
    say(cuGraphAddEmptyNode(&added, graph, NULL, 0));
    say_value("nodes", nodes_of(graph));
    run_once(outer);
    CUgraph clone = NULL;
    say(cuGraphClone(&clone, outer));
    say(cuGraphDestroyNode(node));
    graph_end(outer);
    graph_end(other);
}

CASE(graph_node, child_moved_and_handle_after_the_parent, .alone = true,
     .allow = "CUDA_SUCCESS CUDA_SUCCESS CUDA_ERROR_INVALID_VALUE", .why = "hardware reads freed memory")
{
    CUgraph graph = graph_new(), outer = graph_new();
    CUgraphNode node = NULL;
    CUgraphNodeParams q;
    memset(&q, 0, sizeof q);
    q.type = CU_GRAPH_NODE_TYPE_GRAPH;
    q.graph.graph = graph;
    q.graph.ownership = CU_GRAPH_CHILD_GRAPH_OWNERSHIP_MOVE;
    say(cuGraphAddNode_v2(&node, outer, NULL, NULL, 0, &q));
    say(cuGraphDestroy(outer));
    size_t count = 0;
    say(cuGraphGetNodes(graph, NULL, &count));
}

CASE(graph_node, child_ownership_unknown)
{
    CUgraph graph = graph_new(), outer = graph_new();
    CUgraphNode node = NULL;
    CUgraphNodeParams q;
    memset(&q, 0, sizeof q);
    q.type = CU_GRAPH_NODE_TYPE_GRAPH;
    q.graph.graph = graph;
    for (int ownership = -1; ownership < 4; ownership += 3) {
        q.graph.ownership = (CUgraphChildGraphNodeOwnership)ownership;
        say(cuGraphAddNode_v2(&node, outer, NULL, NULL, 0, &q));
    }
    say_value("nodes", nodes_of(outer));
    graph_end(outer);
    graph_end(graph);
}

CASE(graph_node, child_moved_into_itself, .alone = true, .allow = "CUDA_ERROR_INVALID_VALUE nodes=0",
     .why = "hardware may crash")
{
    CUgraph graph = graph_new();
    CUgraphNode node = NULL;
    CUgraphNodeParams q;
    memset(&q, 0, sizeof q);
    q.type = CU_GRAPH_NODE_TYPE_GRAPH;
    q.graph.graph = graph;
    q.graph.ownership = CU_GRAPH_CHILD_GRAPH_OWNERSHIP_MOVE;
    say(cuGraphAddNode_v2(&node, graph, NULL, NULL, 0, &q));
    say_value("nodes", nodes_of(graph));
}
