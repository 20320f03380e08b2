/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The function that adds any node and the one that changes any, batches of
 * memory operations, and conditional nodes as far as making them goes.
 */
#include "gold_graph.h"

static CUgraphNodeParams of_type(CUgraphNodeType type)
{
    CUgraphNodeParams p;
    memset(&p, 0, sizeof p);
    p.type = type;
    return p;
}

static void try_add(CUgraphNodeParams *p)
{
    CUgraph graph = graph_new();
    CUgraphNode node = NULL;
    CUresult status = cuGraphAddNode_v2(&node, graph, NULL, NULL, 0, p);
    say(status);
    if (status == CUDA_SUCCESS)
        say_type(node);
    else
        say_value("nodes", nodes_of(graph));
    graph_end(graph);
}

static void call_nothing(void *data)
{
    (void)data;
}

static CUgraphNodeParams kernel_params(void **params)
{
    CUgraphNodeParams p = of_type(CU_GRAPH_NODE_TYPE_KERNEL);
    p.kernel.func = gold_function("store");
    p.kernel.gridDimX = p.kernel.gridDimY = p.kernel.gridDimZ = 1;
    p.kernel.blockDimX = p.kernel.blockDimY = p.kernel.blockDimZ = 1;
    p.kernel.kernelParams = params;
    return p;
}

CASE(graph_node, any_kernel)
{
    CUdeviceptr word = gold_alloc_words(1, 0);
    unsigned value = 61;
    void *params[] = {&word, &value};
    CUgraphNodeParams p = kernel_params(params);
    CUgraph graph = graph_new();
    CUgraphNode node = NULL;
    say(cuGraphAddNode_v2(&node, graph, NULL, NULL, 0, &p));
    say_type(node);
    run_once(graph);
    say_int(gold_word(word));
    graph_end(graph);
}

CASE(graph_node, any_copy)
{
    CUdeviceptr from = gold_alloc_words(4, 9), to = gold_alloc_words(4, 0);
    CUgraphNodeParams p = of_type(CU_GRAPH_NODE_TYPE_MEMCPY);
    p.memcpy.copyParams = linear_copy(to, from, 16);
    try_add(&p);
    p.memcpy.copyCtx = gold_context();
    try_add(&p);
    p.memcpy.flags = 1;
    try_add(&p);
    p.memcpy.flags = 0;
    p.memcpy.reserved = 1;
    try_add(&p);
}

CASE(graph_node, any_fill)
{
    CUdeviceptr to = gold_alloc_words(4, 0);
    CUgraphNodeParams p = of_type(CU_GRAPH_NODE_TYPE_MEMSET);
    p.memset.dst = to;
    p.memset.value = 7;
    p.memset.elementSize = 4;
    p.memset.width = 4;
    p.memset.height = 1;
    try_add(&p);
    p.memset.ctx = gold_context();
    try_add(&p);
    p.memset.elementSize = 3;
    try_add(&p);
}

CASE(graph_node, any_host)
{
    CUgraphNodeParams p = of_type(CU_GRAPH_NODE_TYPE_HOST);
    p.host.fn = call_nothing;
    try_add(&p);
    p.host.fn = NULL;
    try_add(&p);
}

CASE(graph_node, any_child)
{
    CUgraph inner = graph_new();
    CUgraphNodeParams p = of_type(CU_GRAPH_NODE_TYPE_GRAPH);
    p.graph.graph = inner;
    try_add(&p);
    say_if("untouched", p.graph.graph == inner);
    p.graph.graph = NULL;
    try_add(&p);
    graph_end(inner);
}

CASE(graph_node, any_empty)
{
    CUgraphNodeParams p = of_type(CU_GRAPH_NODE_TYPE_EMPTY);
    try_add(&p);
}

CASE(graph_node, any_event)
{
    CUgraphNodeParams p = of_type(CU_GRAPH_NODE_TYPE_EVENT_RECORD);
    p.eventRecord.event = gold_event(0);
    try_add(&p);
    p.type = CU_GRAPH_NODE_TYPE_WAIT_EVENT;
    try_add(&p);
    p.eventWait.event = NULL;
    try_add(&p);
    p.type = CU_GRAPH_NODE_TYPE_EVENT_RECORD;
    try_add(&p);
}

CASE(graph_node, any_alloc)
{
    CUgraphNodeParams p = of_type(CU_GRAPH_NODE_TYPE_MEM_ALLOC);
    CUDA_MEM_ALLOC_NODE_PARAMS a = device_alloc(4096);
    memcpy(&p.alloc, &a, sizeof a);
    CUgraph graph = graph_new();
    CUgraphNode alloc = NULL, node = NULL;
    say(cuGraphAddNode_v2(&alloc, graph, NULL, NULL, 0, &p));
    say_if("address", p.alloc.dptr != 0);
    CUgraphNodeParams q = of_type(CU_GRAPH_NODE_TYPE_MEM_FREE);
    q.free.dptr = p.alloc.dptr;
    say(cuGraphAddNode_v2(&node, graph, &alloc, NULL, 1, &q));
    say_type(node);
    say(cuGraphAddNode_v2(&node, graph, &alloc, NULL, 1, &q));
    graph_end(graph);
}

CASE(graph_node, any_unknown_type)
{
    for (int type = 14; type < 20; type++) {
        CUgraphNodeParams p = of_type((CUgraphNodeType)type);
        try_add(&p);
    }
    CUgraphNodeParams p = of_type((CUgraphNodeType)-1);
    try_add(&p);
}

CASE(graph_node, any_reserved)
{
    for (int i = 0; i < 3; i++) {
        CUgraphNodeParams p = of_type(CU_GRAPH_NODE_TYPE_EMPTY);
        p.reserved0[i] = 1;
        try_add(&p);
    }
    CUgraphNodeParams p = of_type(CU_GRAPH_NODE_TYPE_EMPTY);
    p.reserved2 = 1;
    try_add(&p);
}

CASE(graph_node, any_unused_bytes)
{
    CUgraphNodeParams p = of_type(CU_GRAPH_NODE_TYPE_EMPTY);
    p.reserved1[0] = 1;
    try_add(&p);
    p = of_type(CU_GRAPH_NODE_TYPE_EMPTY);
    p.reserved1[28] = 1;
    try_add(&p);
    p = of_type(CU_GRAPH_NODE_TYPE_HOST);
    p.host.fn = call_nothing;
    p.reserved1[2] = 1;
    try_add(&p);
    p.reserved1[2] = 0;
    p.reserved1[28] = 1;
    try_add(&p);
}

CASE(graph_node, any_null_arguments)
{
    CUgraph graph = graph_new();
    CUgraphNode node = NULL;
    CUgraphNodeParams p = of_type(CU_GRAPH_NODE_TYPE_EMPTY);
    say(cuGraphAddNode_v2(NULL, graph, NULL, NULL, 0, &p));
    say(cuGraphAddNode_v2(&node, NULL, NULL, NULL, 0, &p));
    say(cuGraphAddNode_v2(&node, graph, NULL, NULL, 0, NULL));
    say(cuGraphAddNode_v2(&node, graph, NULL, NULL, 1, &p));
    graph_end(graph);
}

CASE(graph_node, any_first_version)
{
    typedef CUresult add_v1(CUgraphNode *, CUgraph, const CUgraphNode *, size_t, CUgraphNodeParams *);
    void *add = NULL;
    CUdriverProcAddressQueryResult found;
    NEED(cuGetProcAddress("cuGraphAddNode", &add, 12020, 0, &found));
    CUgraph graph = graph_new();
    CUgraphNode one = empty_in(graph), node = NULL;
    CUgraphNodeParams p = of_type(CU_GRAPH_NODE_TYPE_EMPTY);
    say(((add_v1 *)add)(&node, graph, &one, 1, &p));
    say_value("edges", edges_of(graph));
    graph_end(graph);
}

CASE(graph_node, any_with_edge_data)
{
    CUdeviceptr word = gold_alloc_words(1, 0);
    unsigned value = 3;
    void *params[] = {&word, &value};
    CUgraph graph = graph_new();
    CUgraphNode before[] = {store_in(graph, word, 1), empty_in(graph)}, node = NULL;
    CUgraphEdgeData data[2] = {{.from_port = 1, .type = 1}, {0}};
    CUgraphNodeParams p = kernel_params(params);
    say(cuGraphAddNode_v2(&node, graph, before, data, 2, &p));
    say_value("edges", edges_of(graph));
    size_t count = 2;
    CUgraphNode got[2] = {0};
    CUgraphEdgeData carried[2];
    memset(carried, 0x55, sizeof carried);
    if (node) {
        say(cuGraphNodeGetDependencies_v2(node, got, carried, &count));
        for (int i = 0; i < 2; i++) {
            say_int(place_of(got[i], before, 2));
            say_int(carried[i].from_port);
            say_int(carried[i].type);
        }
        count = 2;
        say(cuGraphNodeGetDependencies_v2(node, got, NULL, &count));
    }
    data[1].from_port = 1;
    say(cuGraphAddNode_v2(&node, graph, before, data, 2, &p));
    CUgraphNodeParams q = of_type(CU_GRAPH_NODE_TYPE_EMPTY);
    data[1].from_port = 0;
    say(cuGraphAddNode_v2(&node, graph, before, data, 2, &q));
    graph_end(graph);
}

/* ---- batches of memory operations ---- */

static CUstreamBatchMemOpParams write_op(CUdeviceptr address, unsigned value)
{
    CUstreamBatchMemOpParams op;
    memset(&op, 0, sizeof op);
    op.operation = CU_STREAM_MEM_OP_WRITE_VALUE_32;
    op.writeValue.address = address;
    op.writeValue.value = value;
    return op;
}

static void try_batch(CUDA_BATCH_MEM_OP_NODE_PARAMS p)
{
    CUgraph graph = graph_new();
    CUgraphNode node = NULL;
    say(cuGraphAddBatchMemOpNode(&node, graph, NULL, 0, &p));
    say_value("nodes", nodes_of(graph));
    graph_end(graph);
}

CASE(graph_node, batch)
{
    CUdeviceptr word = gold_alloc_words(2, 0);
    CUstreamBatchMemOpParams ops[] = {write_op(word, 5), write_op(word + 4, 6)};
    CUDA_BATCH_MEM_OP_NODE_PARAMS p = {gold_context(), 2, ops, 0};
    CUgraph graph = graph_new();
    CUgraphNode node = NULL;
    say(cuGraphAddBatchMemOpNode(&node, graph, NULL, 0, &p));
    say_type(node);
    ops[0].writeValue.value = 99;
    run_once(graph);
    say_int(gold_word(word));
    say_int(gold_word(word + 4));
    graph_end(graph);
}

CASE(graph_node, batch_null_arguments)
{
    CUdeviceptr word = gold_alloc_words(2, 0);
    CUstreamBatchMemOpParams op = write_op(word, 5);
    CUDA_BATCH_MEM_OP_NODE_PARAMS p = {gold_context(), 1, &op, 0};
    CUgraph graph = graph_new();
    CUgraphNode node = NULL;
    say(cuGraphAddBatchMemOpNode(NULL, graph, NULL, 0, &p));
    say(cuGraphAddBatchMemOpNode(&node, NULL, NULL, 0, &p));
    say(cuGraphAddBatchMemOpNode(&node, graph, NULL, 0, NULL));
    graph_end(graph);
    p.paramArray = NULL;
    try_batch(p);
}

CASE(graph_node, batch_counts)
{
    CUdeviceptr word = gold_alloc_words(2, 0);
    static CUstreamBatchMemOpParams ops[300];
    for (int i = 0; i < 300; i++)
        ops[i] = write_op(word, (unsigned)i);
    static const unsigned counts[] = {0, 1, 255, 256, 257, 300};
    for (int i = 0; i < 6; i++)
        try_batch((CUDA_BATCH_MEM_OP_NODE_PARAMS){gold_context(), counts[i], ops, 0});
}

CASE(graph_node, batch_flags)
{
    CUstreamBatchMemOpParams op = write_op(gold_alloc_words(2, 0), 5);
    try_batch((CUDA_BATCH_MEM_OP_NODE_PARAMS){gold_context(), 1, &op, 1});
}

CASE(graph_node, batch_null_context)
{
    CUstreamBatchMemOpParams op = write_op(gold_alloc_words(2, 0), 5);
    try_batch((CUDA_BATCH_MEM_OP_NODE_PARAMS){NULL, 1, &op, 0});
}

CASE(graph_node, batch_null_context_and_none_current, .alone = true)
{
    CUstreamBatchMemOpParams op = write_op(gold_alloc_words(2, 0), 5);
    NEED(cuCtxSetCurrent(NULL));
    try_batch((CUDA_BATCH_MEM_OP_NODE_PARAMS){NULL, 1, &op, 0});
    try_batch((CUDA_BATCH_MEM_OP_NODE_PARAMS){gold_context(), 1, &op, 0});
}

CASE(
    graph_node, batch_bad_operations,
    .allow =
        "CUDA_ERROR_INVALID_VALUE nodes=0 CUDA_ERROR_INVALID_VALUE nodes=0 CUDA_ERROR_INVALID_VALUE nodes=0 CUDA_ERROR_INVALID_VALUE nodes=0 "
        "CUDA_ERROR_INVALID_VALUE nodes=0",
    .why = "hardware looks at a null address when the graph is launched")
{
    CUdeviceptr word = gold_alloc_words(2, 0);
    CUstreamBatchMemOpParams op = write_op(word, 5);
    op.operation = (CUstreamBatchMemOpType)77;
    try_batch((CUDA_BATCH_MEM_OP_NODE_PARAMS){gold_context(), 1, &op, 0});
    op = write_op(0, 5);
    try_batch((CUDA_BATCH_MEM_OP_NODE_PARAMS){gold_context(), 1, &op, 0});
    op = write_op(word + 1, 5);
    try_batch((CUDA_BATCH_MEM_OP_NODE_PARAMS){gold_context(), 1, &op, 0});
    op = write_op(word, 5);
    op.writeValue.flags = 0x100;
    try_batch((CUDA_BATCH_MEM_OP_NODE_PARAMS){gold_context(), 1, &op, 0});
    op.waitValue.operation = CU_STREAM_MEM_OP_WAIT_VALUE_32;
    op.waitValue.flags = 9;
    try_batch((CUDA_BATCH_MEM_OP_NODE_PARAMS){gold_context(), 1, &op, 0});
}

CASE(graph_node, any_batch)
{
    CUstreamBatchMemOpParams op = write_op(gold_alloc_words(2, 0), 5);
    CUgraphNodeParams p = of_type(CU_GRAPH_NODE_TYPE_BATCH_MEM_OP);
    p.memOp.ctx = gold_context();
    p.memOp.count = 1;
    p.memOp.paramArray = &op;
    try_add(&p);
    p.memOp.flags = 2;
    try_add(&p);
}

/* ---- conditional nodes ---- */

static CUgraphNodeParams conditional_params(CUgraphConditionalHandle handle, CUgraphConditionalNodeType type,
                                            unsigned size)
{
    CUgraphNodeParams p = of_type(CU_GRAPH_NODE_TYPE_CONDITIONAL);
    p.conditional.handle = handle;
    p.conditional.type = type;
    p.conditional.size = size;
    p.conditional.ctx = gold_context();
    return p;
}

CASE(graph_node, conditional_bodies)
{
    CUgraph graph = graph_new();
    CUgraphConditionalHandle handle = 0;
    CUgraphNode node = NULL;
    say(cuGraphConditionalHandleCreate(&handle, graph, gold_context(), 1, CU_GRAPH_COND_ASSIGN_DEFAULT));
    say_if("handle", handle != 0);
    CUgraphNodeParams p = conditional_params(handle, CU_GRAPH_COND_TYPE_SWITCH, 3);
    say(cuGraphAddNode_v2(&node, graph, NULL, NULL, 0, &p));
    say_type(node);
    for (int i = 0; i < 3; i++)
        say_value("inside", nodes_of(p.conditional.phGraph_out[i]));
    say_if("apart", p.conditional.phGraph_out[0] != p.conditional.phGraph_out[1]);
    say(cuGraphDestroy(p.conditional.phGraph_out[0]));
    CUgraphExec exec = NULL;
    say(cuGraphInstantiateWithFlags(&exec, p.conditional.phGraph_out[0], 0));
    CUgraph clone = NULL;
    say(cuGraphClone(&clone, graph));
    CUgraph outer = graph_new();
    CUgraphNode child = NULL;
    say(cuGraphAddChildGraphNode(&child, outer, NULL, 0, graph));
    say(cuGraphDestroyNode(node));
    graph_end(outer);
    graph_end(graph);
}

CASE(graph_node, conditional_sizes)
{
    static const struct {
        CUgraphConditionalNodeType type;
        unsigned size;
    } kinds[] = {{CU_GRAPH_COND_TYPE_IF, 0},      {CU_GRAPH_COND_TYPE_IF, 1},        {CU_GRAPH_COND_TYPE_IF, 2},
                 {CU_GRAPH_COND_TYPE_IF, 3},      {CU_GRAPH_COND_TYPE_WHILE, 0},     {CU_GRAPH_COND_TYPE_WHILE, 1},
                 {CU_GRAPH_COND_TYPE_WHILE, 2},   {CU_GRAPH_COND_TYPE_SWITCH, 0},    {CU_GRAPH_COND_TYPE_SWITCH, 1},
                 {CU_GRAPH_COND_TYPE_SWITCH, 40}, {(CUgraphConditionalNodeType)3, 1}};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        CUgraph graph = graph_new();
        CUgraphConditionalHandle handle = 0;
        CUgraphNode node = NULL;
        NEED(cuGraphConditionalHandleCreate(&handle, graph, gold_context(), 0, 0));
        CUgraphNodeParams p = conditional_params(handle, kinds[i].type, kinds[i].size);
        say(cuGraphAddNode_v2(&node, graph, NULL, NULL, 0, &p));
        graph_end(graph);
    }
}

CASE(graph_node, conditional_handles)
{
    CUgraph graph = graph_new(), other = graph_new();
    CUgraphConditionalHandle handle = 0;
    CUgraphNode node = NULL;
    say(cuGraphConditionalHandleCreate(NULL, graph, gold_context(), 0, 0));
    say(cuGraphConditionalHandleCreate(&handle, NULL, gold_context(), 0, 0));
    say(cuGraphConditionalHandleCreate(&handle, graph, gold_context(), 0, 2));
    say(cuGraphConditionalHandleCreate(&handle, graph, NULL, 0, 0));
    NEED(cuGraphConditionalHandleCreate(&handle, graph, gold_context(), 0, 0));
    CUgraphNodeParams p = conditional_params(handle, CU_GRAPH_COND_TYPE_IF, 1);
    say(cuGraphAddNode_v2(&node, other, NULL, NULL, 0, &p));
    say(cuGraphAddNode_v2(&node, graph, NULL, NULL, 0, &p));
    p = conditional_params(handle, CU_GRAPH_COND_TYPE_IF, 1);
    say(cuGraphAddNode_v2(&node, graph, NULL, NULL, 0, &p));
    graph_end(graph);
    graph_end(other);
}

CASE(graph_node, conditional_in_a_body)
{
    CUgraph graph = graph_new();
    CUgraphConditionalHandle handle = 0, inner = 0, own = 0;
    CUgraphNode node = NULL;
    NEED(cuGraphConditionalHandleCreate(&handle, graph, gold_context(), 0, 0));
    NEED(cuGraphConditionalHandleCreate(&inner, graph, gold_context(), 0, 0));
    CUgraphNodeParams p = conditional_params(handle, CU_GRAPH_COND_TYPE_IF, 1);
    say(cuGraphAddNode_v2(&node, graph, NULL, NULL, 0, &p));
    CUgraph body = p.conditional.phGraph_out[0];
    CUgraphNodeParams q = conditional_params(inner, CU_GRAPH_COND_TYPE_WHILE, 1);
    say(cuGraphAddNode_v2(&node, body, NULL, NULL, 0, &q));
    say(cuGraphConditionalHandleCreate(&own, body, gold_context(), 0, 0));
    say_value("inside", nodes_of(body));
    graph_end(graph);
}

CASE(graph_node, conditional_body_takes_which_nodes)
{
    CUgraph graph = graph_new(), inner = graph_new();
    CUgraphConditionalHandle handle = 0;
    CUgraphNode node = NULL;
    NEED(cuGraphConditionalHandleCreate(&handle, graph, gold_context(), 0, 0));
    CUgraphNodeParams p = conditional_params(handle, CU_GRAPH_COND_TYPE_IF, 1);
    NEED(cuGraphAddNode_v2(&node, graph, NULL, NULL, 0, &p));
    CUgraph body = p.conditional.phGraph_out[0];
    CUdeviceptr word = gold_alloc_words(4, 0);
    CUDA_MEMCPY3D copy = linear_copy(word, word + 8, 8);
    CUDA_MEMSET_NODE_PARAMS fill = linear_fill(word, 0, 4, 4);
    CUDA_HOST_NODE_PARAMS host = {call_nothing, NULL};
    CUDA_MEM_ALLOC_NODE_PARAMS alloc = device_alloc(64);
    CUstreamBatchMemOpParams op = write_op(word, 5);
    CUDA_BATCH_MEM_OP_NODE_PARAMS batch = {gold_context(), 1, &op, 0};
    store_in(body, word, 1);
    say(cuGraphAddMemcpyNode(&node, body, NULL, 0, &copy, gold_context()));
    say(cuGraphAddMemsetNode(&node, body, NULL, 0, &fill, gold_context()));
    say(cuGraphAddHostNode(&node, body, NULL, 0, &host));
    say(cuGraphAddChildGraphNode(&node, body, NULL, 0, inner));
    say(cuGraphAddEmptyNode(&node, body, NULL, 0));
    say(cuGraphAddEventRecordNode(&node, body, NULL, 0, gold_event(0)));
    say(cuGraphAddEventWaitNode(&node, body, NULL, 0, gold_event(0)));
    say(cuGraphAddMemAllocNode(&node, body, NULL, 0, &alloc));
    say(cuGraphAddBatchMemOpNode(&node, body, NULL, 0, &batch));
    graph_end(graph);
    graph_end(inner);
}
