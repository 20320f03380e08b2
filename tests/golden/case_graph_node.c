/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Nodes of kernels and functions of the host, empty nodes, child graphs and
 * event nodes: what their calls take and refuse, and what a run of the graph does.
 */
#include "gold_graph.h"

/* Adds a kernel node with some change to good parameters and says the status. */
static void try_kernel(CUDA_KERNEL_NODE_PARAMS p)
{
    CUgraph graph = graph_new();
    CUgraphNode node = NULL;
    say(cuGraphAddKernelNode_v2(&node, graph, NULL, 0, &p));
    say_value("nodes", nodes_of(graph));
    graph_end(graph);
}

static CUDA_KERNEL_NODE_PARAMS empty_kernel(void)
{
    return one_thread(gold_function("empty"), NULL);
}

/* ---- kernel nodes ---- */

CASE(graph_node, kernel)
{
    CUgraph graph = graph_new();
    CUdeviceptr word = gold_alloc_words(1, 0);
    CUgraphNode node = store_in(graph, word, 41);
    say_type(node);
    run_once(graph);
    say_int(gold_word(word));
    graph_end(graph);
}

CASE(graph_node, kernel_null_arguments)
{
    CUgraph graph = graph_new();
    CUgraphNode node = NULL;
    CUDA_KERNEL_NODE_PARAMS p = empty_kernel();
    say(cuGraphAddKernelNode_v2(NULL, graph, NULL, 0, &p));
    say(cuGraphAddKernelNode_v2(&node, NULL, NULL, 0, &p));
    say(cuGraphAddKernelNode_v2(&node, graph, NULL, 0, NULL));
    say(cuGraphAddKernelNode_v2(&node, graph, NULL, 1, &p));
    say_value("nodes", nodes_of(graph));
    graph_end(graph);
}

CASE(graph_node, kernel_no_function)
{
    CUDA_KERNEL_NODE_PARAMS p = empty_kernel();
    p.func = NULL;
    try_kernel(p);
}

CASE(graph_node, kernel_foreign_function, .alone = true,
     .allow = "CUDA_ERROR_INVALID_HANDLE nodes=0|CUDA_ERROR_INVALID_VALUE nodes=0",
     .why = "hardware reads whatever lies at the handle")
{
    CUDA_KERNEL_NODE_PARAMS p = empty_kernel();
    p.func = gold_foreign();
    try_kernel(p);
}

CASE(graph_node, kernel_zero_grid)
{
    for (int i = 0; i < 3; i++) {
        CUDA_KERNEL_NODE_PARAMS p = empty_kernel();
        (&p.gridDimX)[i] = 0;
        try_kernel(p);
    }
}

CASE(graph_node, kernel_zero_block)
{
    for (int i = 0; i < 3; i++) {
        CUDA_KERNEL_NODE_PARAMS p = empty_kernel();
        (&p.blockDimX)[i] = 0;
        try_kernel(p);
    }
}

CASE(graph_node, kernel_block_too_large)
{
    CUDA_KERNEL_NODE_PARAMS p = empty_kernel();
    p.blockDimX = 1025;
    try_kernel(p);
    p.blockDimX = 32;
    p.blockDimY = 33;
    try_kernel(p);
    p.blockDimX = p.blockDimY = 1;
    p.blockDimZ = 65;
    try_kernel(p);
}

CASE(graph_node, kernel_grid_too_large)
{
    CUDA_KERNEL_NODE_PARAMS p = empty_kernel();
    p.gridDimY = 65536;
    try_kernel(p);
    p.gridDimY = 1;
    p.gridDimX = 0x80000000u;
    try_kernel(p);
}

CASE(graph_node, kernel_shared_too_large, .alone = true)
{
    CUDA_KERNEL_NODE_PARAMS p = empty_kernel();
    p.sharedMemBytes = 48 * 1024;
    try_kernel(p);
    p.sharedMemBytes = 48 * 1024 + 1;
    try_kernel(p);
    p.sharedMemBytes = 1u << 30;
    try_kernel(p);
}

CASE(graph_node, kernel_bounds_of_the_function)
{
    CUdeviceptr word = gold_alloc_words(1, 0);
    void *params[] = {&word};
    CUDA_KERNEL_NODE_PARAMS p = one_thread(gold_function("bounded"), params);
    p.blockDimX = 64;
    try_kernel(p);
    p.blockDimX = 65;
    try_kernel(p);
    p = one_thread(gold_function("exactly32"), params);
    p.blockDimX = 32;
    try_kernel(p);
    p.blockDimX = 31;
    try_kernel(p);
}

CASE(graph_node, kernel_params_missing)
{
    CUDA_KERNEL_NODE_PARAMS p = one_thread(gold_function("store"), NULL);
    try_kernel(p);
}

CASE(graph_node, kernel_params_for_a_kernel_without)
{
    unsigned value = 5;
    void *params[] = {&value}, *none[] = {NULL};
    CUDA_KERNEL_NODE_PARAMS p = empty_kernel();
    p.kernelParams = params;
    try_kernel(p);
    p.kernelParams = none;
    try_kernel(p);
}

CASE(graph_node, kernel_params_are_copied)
{
    CUgraph graph = graph_new();
    CUdeviceptr word = gold_alloc_words(1, 0);
    unsigned value = 5;
    void *params[] = {&word, &value};
    CUDA_KERNEL_NODE_PARAMS p = one_thread(gold_function("store"), params);
    CUgraphNode node = NULL;
    say(cuGraphAddKernelNode_v2(&node, graph, NULL, 0, &p));
    value = 6;
    run_once(graph);
    say_int(gold_word(word));
    graph_end(graph);
}

CASE(graph_node, kernel_extra)
{
    struct {
        CUdeviceptr target;
        unsigned value;
    } buffer = {gold_alloc_words(1, 0), 77};
    size_t size = 12;
    void *extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, &buffer, CU_LAUNCH_PARAM_BUFFER_SIZE, &size, CU_LAUNCH_PARAM_END};
    CUDA_KERNEL_NODE_PARAMS p = one_thread(gold_function("store"), NULL);
    p.extra = extra;
    CUgraph graph = graph_new();
    CUgraphNode node = NULL;
    say(cuGraphAddKernelNode_v2(&node, graph, NULL, 0, &p));
    run_once(graph);
    say_int(gold_word(buffer.target));
    graph_end(graph);
}

CASE(graph_node, kernel_extra_and_params)
{
    struct {
        CUdeviceptr target;
        unsigned value;
    } buffer = {gold_alloc_words(1, 0), 77};
    size_t size = 12;
    void *extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, &buffer, CU_LAUNCH_PARAM_BUFFER_SIZE, &size, CU_LAUNCH_PARAM_END};
    void *params[] = {&buffer.target, &buffer.value};
    CUDA_KERNEL_NODE_PARAMS p = one_thread(gold_function("store"), params);
    p.extra = extra;
    try_kernel(p);
}

CASE(graph_node, kernel_extra_broken)
{
    CUdeviceptr buffer[2] = {0};
    size_t size = 16;
    void *no_size[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, buffer, CU_LAUNCH_PARAM_END};
    void *no_buffer[] = {CU_LAUNCH_PARAM_BUFFER_SIZE, &size, CU_LAUNCH_PARAM_END};
    void *nothing[] = {CU_LAUNCH_PARAM_END};
    CUDA_KERNEL_NODE_PARAMS p = one_thread(gold_function("store"), NULL);
    p.extra = no_size;
    try_kernel(p);
    p.extra = no_buffer;
    try_kernel(p);
    p.extra = nothing;
    try_kernel(p);
}

CASE(graph_node, kernel_by_kernel_handle)
{
    CUlibrary library;
    CUkernel kernel;
    NEED(cuLibraryLoadData(&library, gold_ptx, NULL, NULL, 0, NULL, NULL, 0));
    NEED(cuLibraryGetKernel(&kernel, library, "store"));
    CUdeviceptr word = gold_alloc_words(1, 0);
    unsigned value = 99;
    void *params[] = {&word, &value};
    CUDA_KERNEL_NODE_PARAMS p = one_thread(NULL, params), got;
    p.kern = kernel;
    CUgraph graph = graph_new();
    CUgraphNode node = NULL;
    say(cuGraphAddKernelNode_v2(&node, graph, NULL, 0, &p));
    memset(&got, 0x55, sizeof got);
    say(cuGraphKernelNodeGetParams_v2(node, &got));
    say_if("no_func", got.func == NULL);
    say_if("same_kern", got.kern == kernel);
    say_if("null_ctx", got.ctx == NULL);
    say_if("own_ctx", got.ctx == gold_context());
    run_once(graph);
    say_int(gold_word(word));
    graph_end(graph);
    NEED(cuLibraryUnload(library));
}

CASE(graph_node, kernel_handle_as_function)
{
    CUlibrary library;
    CUkernel kernel;
    NEED(cuLibraryLoadData(&library, gold_ptx, NULL, NULL, 0, NULL, NULL, 0));
    NEED(cuLibraryGetKernel(&kernel, library, "empty"));
    CUDA_KERNEL_NODE_PARAMS p = one_thread((CUfunction)kernel, NULL), got;
    CUgraph graph = graph_new();
    CUgraphNode node = NULL;
    say(cuGraphAddKernelNode_v2(&node, graph, NULL, 0, &p));
    memset(&got, 0x55, sizeof got);
    if (node) {
        say(cuGraphKernelNodeGetParams_v2(node, &got));
        say_if("no_func", got.func == NULL);
        say_if("func_is_handle", got.func == (CUfunction)kernel);
        say_if("same_kern", got.kern == kernel);
    }
    graph_end(graph);
    NEED(cuLibraryUnload(library));
}

CASE(graph_node, kernel_without_context, .alone = true, .allow = "CUDA_SUCCESS nodes=1",
     .why = "hardware crashes without a current context")
{
    CUDA_KERNEL_NODE_PARAMS p = empty_kernel();
    NEED(cuCtxSetCurrent(NULL));
    try_kernel(p);
}

CASE(graph_node, kernel_handle_without_context, .alone = true)
{
    CUlibrary library;
    CUkernel kernel;
    NEED(cuLibraryLoadData(&library, gold_ptx, NULL, NULL, 0, NULL, NULL, 0));
    NEED(cuLibraryGetKernel(&kernel, library, "empty"));
    CUDA_KERNEL_NODE_PARAMS p = one_thread(NULL, NULL);
    p.kern = kernel;
    NEED(cuCtxSetCurrent(NULL));
    try_kernel(p);
    p.ctx = gold_context();
    try_kernel(p);
}

CASE(graph_node, kernel_function_of_other_context, .alone = true)
{
    CUDA_KERNEL_NODE_PARAMS p = empty_kernel();
    gold_context_new();
    try_kernel(p);
}

CASE(graph_node, kernel_ctx_beside_function, .alone = true)
{
    CUDA_KERNEL_NODE_PARAMS p = empty_kernel(), got;
    p.ctx = gold_context_new();
    CUgraph graph = graph_new();
    CUgraphNode node = NULL;
    say(cuGraphAddKernelNode_v2(&node, graph, NULL, 0, &p));
    memset(&got, 0, sizeof got);
    say(cuGraphKernelNodeGetParams_v2(node, &got));
    say_if("as_given", got.ctx == p.ctx);
    say_if("function's", got.ctx == gold_context());
    say_if("null", got.ctx == NULL);
    graph_end(graph);
}

CASE(graph_node, kernel_first_version)
{
    typedef CUresult add_v1(CUgraphNode *, CUgraph, const CUgraphNode *, size_t, const CUDA_KERNEL_NODE_PARAMS_v1 *);
    typedef CUresult get_v1(CUgraphNode, CUDA_KERNEL_NODE_PARAMS_v1 *);
    typedef CUresult set_v1(CUgraphNode, const CUDA_KERNEL_NODE_PARAMS_v1 *);
    void *add = NULL, *get = NULL, *set = NULL;
    CUdriverProcAddressQueryResult found;
    NEED(cuGetProcAddress("cuGraphAddKernelNode", &add, 10000, 0, &found));
    NEED(cuGetProcAddress("cuGraphKernelNodeGetParams", &get, 10000, 0, &found));
    NEED(cuGetProcAddress("cuGraphKernelNodeSetParams", &set, 10000, 0, &found));
    CUdeviceptr word = gold_alloc_words(1, 0);
    unsigned value = 13;
    void *params[] = {&word, &value};
    struct {
        CUDA_KERNEL_NODE_PARAMS_v1 v1;
        CUdeviceptr guard[2];
    } p, got;
    memset(&p, 0x77, sizeof p);
    p.v1 = (CUDA_KERNEL_NODE_PARAMS_v1){gold_function("store"), 1, 1, 1, 1, 1, 1, 0, params, NULL};
    CUgraph graph = graph_new();
    CUgraphNode node = NULL;
    say(((add_v1 *)add)(&node, graph, NULL, 0, &p.v1));
    memset(&got, 0x77, sizeof got);
    say(((get_v1 *)get)(node, &got.v1));
    say_if("func", got.v1.func == p.v1.func);
    say_if("guard", got.guard[0] == 0x7777777777777777ull);
    say_int(*(unsigned *)got.v1.kernelParams[1]);
    value = 14;
    say(((set_v1 *)set)(node, &p.v1));
    run_once(graph);
    say_int(gold_word(word));
    graph_end(graph);
}

/* ---- host nodes ---- */

static void count_call(void *data)
{
    ++*(int *)data;
}

CASE(graph_node, host)
{
    int calls = 0;
    CUDA_HOST_NODE_PARAMS p = {count_call, &calls};
    CUgraph graph = graph_new();
    CUgraphNode node = NULL;
    say(cuGraphAddHostNode(&node, graph, NULL, 0, &p));
    say_type(node);
    run_once(graph);
    say_int(calls);
    graph_end(graph);
}

CASE(graph_node, host_null_arguments)
{
    CUDA_HOST_NODE_PARAMS p = {count_call, NULL}, none = {NULL, NULL};
    CUgraph graph = graph_new();
    CUgraphNode node = NULL;
    say(cuGraphAddHostNode(NULL, graph, NULL, 0, &p));
    say(cuGraphAddHostNode(&node, NULL, NULL, 0, &p));
    say(cuGraphAddHostNode(&node, graph, NULL, 0, NULL));
    say(cuGraphAddHostNode(&node, graph, NULL, 0, &none));
    say_value("nodes", nodes_of(graph));
    graph_end(graph);
}

CASE(graph_node, host_without_context, .alone = true)
{
    CUDA_HOST_NODE_PARAMS p = {count_call, NULL};
    CUgraph graph = graph_new();
    CUgraphNode node = NULL;
    NEED(cuCtxSetCurrent(NULL));
    say(cuGraphAddHostNode(&node, graph, NULL, 0, &p));
    graph_end(graph);
}

/* ---- empty nodes ---- */

CASE(graph_node, empty)
{
    CUgraph graph = graph_new();
    CUgraphNode node = NULL;
    say(cuGraphAddEmptyNode(&node, graph, NULL, 0));
    say_type(node);
    run_once(graph);
    graph_end(graph);
}

CASE(graph_node, empty_null_arguments)
{
    CUgraph graph = graph_new();
    CUgraphNode node = NULL;
    say(cuGraphAddEmptyNode(NULL, graph, NULL, 0));
    say(cuGraphAddEmptyNode(&node, NULL, NULL, 0));
    say(cuGraphAddEmptyNode(&node, graph, NULL, 3));
    say_value("nodes", nodes_of(graph));
    graph_end(graph);
}

/* ---- child graphs ---- */

CASE(graph_node, child)
{
    CUgraph graph = graph_new(), inner = graph_new(), got = NULL;
    CUdeviceptr word = gold_alloc_words(1, 0);
    store_in(inner, word, 21);
    CUgraphNode node = NULL;
    say(cuGraphAddChildGraphNode(&node, graph, NULL, 0, inner));
    say_type(node);
    say(cuGraphChildGraphNodeGetGraph(node, &got));
    say_if("a_copy", got && got != inner);
    say_value("inside", nodes_of(got));
    graph_end(inner);
    run_once(graph);
    say_int(gold_word(word));
    graph_end(graph);
}

CASE(graph_node, child_null_arguments)
{
    CUgraph graph = graph_new(), inner = graph_new(), got = NULL;
    CUgraphNode node = NULL, empty = empty_in(graph);
    say(cuGraphAddChildGraphNode(NULL, graph, NULL, 0, inner));
    say(cuGraphAddChildGraphNode(&node, NULL, NULL, 0, inner));
    say(cuGraphAddChildGraphNode(&node, graph, NULL, 0, NULL));
    say(cuGraphChildGraphNodeGetGraph(NULL, &got));
    say(cuGraphChildGraphNodeGetGraph(empty, &got));
    say(cuGraphAddChildGraphNode(&node, graph, NULL, 0, inner));
    say(cuGraphChildGraphNodeGetGraph(node, NULL));
    graph_end(graph);
    graph_end(inner);
}

CASE(graph_node, child_of_itself, .alone = true, .allow = "CUDA_ERROR_INVALID_VALUE nodes=1", .why = "hardware crashes")
{
    CUgraph graph = graph_new(), got = NULL;
    empty_in(graph);
    CUgraphNode node = NULL;
    say(cuGraphAddChildGraphNode(&node, graph, NULL, 0, graph));
    say_value("nodes", nodes_of(graph));
    if (node) {
        say(cuGraphChildGraphNodeGetGraph(node, &got));
        say_value("inside", nodes_of(got));
    }
    graph_end(graph);
}

CASE(graph_node, child_empty)
{
    CUgraph graph = graph_new(), inner = graph_new();
    CUgraphNode node = NULL;
    say(cuGraphAddChildGraphNode(&node, graph, NULL, 0, inner));
    run_once(graph);
    graph_end(graph);
    graph_end(inner);
}

CASE(graph_node, child_is_apart_from_its_original)
{
    CUgraph graph = graph_new(), inner = graph_new(), got = NULL;
    empty_in(inner);
    CUgraphNode node = NULL;
    NEED(cuGraphAddChildGraphNode(&node, graph, NULL, 0, inner));
    empty_in(inner);
    NEED(cuGraphChildGraphNodeGetGraph(node, &got));
    say_value("inside", nodes_of(got));
    CUgraphNode added = NULL;
    say(cuGraphAddEmptyNode(&added, got, NULL, 0));
    say_value("inside", nodes_of(got));
    say(cuGraphDestroyNode(added));
    say_value("inside", nodes_of(got));
    say_value("original", nodes_of(inner));
    graph_end(graph);
    graph_end(inner);
}

CASE(graph_node, child_destroyed_by_itself, .alone = true)
{
    CUgraph graph = graph_new(), inner = graph_new(), got = NULL;
    CUgraphNode node = NULL;
    empty_in(inner);
    NEED(cuGraphAddChildGraphNode(&node, graph, NULL, 0, inner));
    NEED(cuGraphChildGraphNodeGetGraph(node, &got));
    say(cuGraphDestroy(got));
}

CASE(graph_node, child_handle_after_its_node, .alone = true, .allow = "CUDA_SUCCESS CUDA_ERROR_INVALID_VALUE",
     .why = "hardware reads freed memory")
{
    CUgraph graph = graph_new(), inner = graph_new(), got = NULL;
    CUgraphNode node = NULL;
    NEED(cuGraphAddChildGraphNode(&node, graph, NULL, 0, inner));
    NEED(cuGraphChildGraphNodeGetGraph(node, &got));
    say(cuGraphDestroyNode(node));
    size_t count = 0;
    say(cuGraphGetNodes(got, NULL, &count));
}

CASE(graph_node, child_instantiated_by_itself, .alone = true)
{
    CUgraph graph = graph_new(), inner = graph_new(), got = NULL;
    CUgraphNode node = NULL;
    CUgraphExec exec = NULL;
    empty_in(inner);
    NEED(cuGraphAddChildGraphNode(&node, graph, NULL, 0, inner));
    NEED(cuGraphChildGraphNodeGetGraph(node, &got));
    say(cuGraphInstantiateWithFlags(&exec, got, 0));
}

CASE(graph_node, child_of_child)
{
    CUgraph outer = graph_new(), middle = graph_new(), inner = graph_new(), got = NULL, deep = NULL;
    CUdeviceptr word = gold_alloc_words(1, 0);
    store_in(inner, word, 8);
    CUgraphNode node = NULL, inside = NULL;
    NEED(cuGraphAddChildGraphNode(&node, middle, NULL, 0, inner));
    NEED(cuGraphAddChildGraphNode(&node, outer, NULL, 0, middle));
    NEED(cuGraphChildGraphNodeGetGraph(node, &got));
    size_t count = 1;
    NEED(cuGraphGetNodes(got, &inside, &count));
    say_type(inside);
    say(cuGraphChildGraphNodeGetGraph(inside, &deep));
    say_value("deep", nodes_of(deep));
    run_once(outer);
    say_int(gold_word(word));
    graph_end(outer);
    graph_end(middle);
    graph_end(inner);
}

CASE(graph_node, child_used_as_a_child_again)
{
    CUgraph graph = graph_new(), other = graph_new(), inner = graph_new(), got = NULL;
    CUgraphNode node = NULL, second = NULL;
    empty_in(inner);
    NEED(cuGraphAddChildGraphNode(&node, graph, NULL, 0, inner));
    NEED(cuGraphChildGraphNodeGetGraph(node, &got));
    say(cuGraphAddChildGraphNode(&second, other, NULL, 0, got));
    say(cuGraphAddChildGraphNode(&second, graph, NULL, 0, got));
    CUgraph clone = NULL;
    say(cuGraphClone(&clone, got));
    say(cuGraphDestroy(clone));
    graph_end(graph);
    graph_end(other);
    graph_end(inner);
}

/* ---- event nodes ---- */

CASE(graph_node, event_record)
{
    CUgraph graph = graph_new();
    CUevent event = gold_event(0), got = NULL;
    CUgraphNode node = NULL;
    say(cuGraphAddEventRecordNode(&node, graph, NULL, 0, event));
    say_type(node);
    say(cuGraphEventRecordNodeGetEvent(node, &got));
    say_if("same", got == event);
    run_once(graph);
    say(cuEventQuery(event));
    say(cuEventSynchronize(event));
    graph_end(graph);
}

CASE(graph_node, event_wait)
{
    CUgraph graph = graph_new();
    CUevent event = gold_event(0), got = NULL;
    CUgraphNode node = NULL;
    say(cuGraphAddEventWaitNode(&node, graph, NULL, 0, event));
    say_type(node);
    say(cuGraphEventWaitNodeGetEvent(node, &got));
    say_if("same", got == event);
    run_once(graph);
    graph_end(graph);
}

CASE(graph_node, event_null_arguments)
{
    CUgraph graph = graph_new();
    CUevent event = gold_event(0);
    CUgraphNode node = NULL;
    say(cuGraphAddEventRecordNode(NULL, graph, NULL, 0, event));
    say(cuGraphAddEventRecordNode(&node, NULL, NULL, 0, event));
    say(cuGraphAddEventRecordNode(&node, graph, NULL, 0, NULL));
    say(cuGraphAddEventWaitNode(NULL, graph, NULL, 0, event));
    say(cuGraphAddEventWaitNode(&node, NULL, NULL, 0, event));
    say(cuGraphAddEventWaitNode(&node, graph, NULL, 0, NULL));
    say_value("nodes", nodes_of(graph));
    graph_end(graph);
}

CASE(graph_node, event_get_null)
{
    CUgraph graph = graph_new();
    CUevent event = gold_event(0);
    CUgraphNode record = NULL, wait = NULL;
    NEED(cuGraphAddEventRecordNode(&record, graph, NULL, 0, event));
    NEED(cuGraphAddEventWaitNode(&wait, graph, NULL, 0, event));
    say(cuGraphEventRecordNodeGetEvent(record, NULL));
    say(cuGraphEventRecordNodeGetEvent(NULL, &event));
    say(cuGraphEventRecordNodeGetEvent(wait, &event));
    say(cuGraphEventWaitNodeGetEvent(wait, NULL));
    say(cuGraphEventWaitNodeGetEvent(NULL, &event));
    say(cuGraphEventWaitNodeGetEvent(record, &event));
    graph_end(graph);
}

CASE(graph_node, event_set)
{
    CUgraph graph = graph_new();
    CUevent one = gold_event(0), two = gold_event(0), got = NULL;
    CUgraphNode record = NULL, wait = NULL;
    NEED(cuGraphAddEventRecordNode(&record, graph, NULL, 0, one));
    NEED(cuGraphAddEventWaitNode(&wait, graph, NULL, 0, one));
    say(cuGraphEventRecordNodeSetEvent(record, two));
    say(cuGraphEventRecordNodeGetEvent(record, &got));
    say_if("second", got == two);
    say(cuGraphEventWaitNodeSetEvent(wait, two));
    say(cuGraphEventWaitNodeGetEvent(wait, &got));
    say_if("second", got == two);
    graph_end(graph);
}

CASE(graph_node, event_set_wrong)
{
    CUgraph graph = graph_new();
    CUevent event = gold_event(0);
    CUgraphNode record = NULL, wait = NULL, empty = empty_in(graph);
    NEED(cuGraphAddEventRecordNode(&record, graph, NULL, 0, event));
    NEED(cuGraphAddEventWaitNode(&wait, graph, NULL, 0, event));
    say(cuGraphEventRecordNodeSetEvent(record, NULL));
    say(cuGraphEventRecordNodeSetEvent(NULL, event));
    say(cuGraphEventRecordNodeSetEvent(wait, event));
    say(cuGraphEventRecordNodeSetEvent(empty, event));
    say(cuGraphEventWaitNodeSetEvent(wait, NULL));
    say(cuGraphEventWaitNodeSetEvent(NULL, event));
    say(cuGraphEventWaitNodeSetEvent(record, event));
    graph_end(graph);
}

CASE(graph_node, event_of_each_flag)
{
    static const unsigned flags[] = {CU_EVENT_BLOCKING_SYNC, CU_EVENT_DISABLE_TIMING,
                                     CU_EVENT_DISABLE_TIMING | CU_EVENT_INTERPROCESS};
    for (int i = 0; i < 3; i++) {
        CUgraph graph = graph_new();
        CUevent event = gold_event(flags[i]);
        CUgraphNode node = NULL;
        say(cuGraphAddEventRecordNode(&node, graph, NULL, 0, event));
        say(cuGraphAddEventWaitNode(&node, graph, NULL, 0, event));
        graph_end(graph);
    }
}

CASE(graph_node, event_destroyed_before_the_graph, .alone = true)
{
    CUgraph graph = graph_new();
    CUevent event = gold_event(0);
    CUgraphNode node = NULL;
    NEED(cuGraphAddEventRecordNode(&node, graph, NULL, 0, event));
    say(cuEventDestroy(event));
    say(cuGraphDestroy(graph));
}

CASE(graph_node, event_destroyed_and_asked_for, .alone = true)
{
    CUgraph graph = graph_new();
    CUevent event = gold_event(0), got = NULL;
    CUgraphNode node = NULL;
    NEED(cuGraphAddEventRecordNode(&node, graph, NULL, 0, event));
    say(cuEventDestroy(event));
    say(cuGraphEventRecordNodeGetEvent(node, &got));
    say_if("same", got == event);
}

CASE(graph_node, event_without_context, .alone = true)
{
    CUgraph graph = graph_new();
    CUevent event = gold_event(0);
    CUgraphNode node = NULL;
    NEED(cuCtxSetCurrent(NULL));
    say(cuGraphAddEventRecordNode(&node, graph, NULL, 0, event));
    say(cuGraphAddEventWaitNode(&node, graph, NULL, 0, event));
}

CASE(graph_node, event_of_other_context, .alone = true)
{
    CUgraph graph = graph_new();
    CUevent event = gold_event(0);
    CUgraphNode node = NULL;
    gold_context_new();
    say(cuGraphAddEventRecordNode(&node, graph, NULL, 0, event));
    say(cuGraphAddEventWaitNode(&node, graph, NULL, 0, event));
}
