/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Executable graphs: making them in every way, flags, what stays of the graph
 * they came from, uploading, destroying, enabling and disabling nodes.  Setting
 * nodes' parameters is in case_graph_exec_params.c.
 */
#include "gold_exec.h"

typedef CUresult (*instantiate_old)(CUgraphExec *, CUgraph, CUgraphNode *, char *, size_t);

static instantiate_old old_instantiate(int version)
{
    void *function = NULL;
    CUdriverProcAddressQueryResult found;
    NEED(cuGetProcAddress("cuGraphInstantiate", &function, version, CU_GET_PROC_ADDRESS_DEFAULT, &found));
    return (instantiate_old)function;
}

/* ---- making ---- */

CASE(graph_exec, empty_graph)
{
    CUgraphExec exec;
    CUstream stream = gold_stream(0);
    say(cuGraphInstantiate(&exec, ge_graph(), 0));
    ge_run(exec, stream);
    ge_run(exec, stream);
    say(cuGraphExecDestroy(exec));
}

CASE(graph_exec, null_out)
{
    say(cuGraphInstantiate(NULL, ge_graph(), 0));
}

CASE(graph_exec, null_graph)
{
    CUgraphExec exec = GOLD_WILD;
    say(cuGraphInstantiate(&exec, NULL, 0));
    say_if("untouched", exec == GOLD_WILD);
}

CASE(graph_exec, foreign_graph, .alone = true, .allow = "CUDA_ERROR_INVALID_VALUE",
     .why = "hardware reads what it is given")
{
    CUgraphExec exec = NULL;
    say(cuGraphInstantiate(&exec, gold_foreign(), 0));
}

CASE(graph_exec, destroyed_graph, .alone = true, .allow = "CUDA_ERROR_INVALID_VALUE",
     .why = "hardware reads what it is given")
{
    CUgraphExec exec = NULL;
    CUgraph graph = ge_graph();
    NEED(cuGraphDestroy(graph));
    say(cuGraphInstantiate(&exec, graph, 0));
}

CASE(graph_exec, flags_each)
{
    static const unsigned long long flags[] = {0, 1, 2, 3, 8, 9, 10, 16, 32, 64, 1ull << 31, 1ull << 32, 1ull << 63};
    CUdeviceptr word = gold_alloc_words(1, 0);
    CUgraph graph = ge_graph();
    ge_store(graph, NULL, word, 1);
    for (size_t i = 0; i < sizeof flags / sizeof flags[0]; i++) {
        CUgraphExec exec = NULL;
        CUresult status = cuGraphInstantiate(&exec, graph, flags[i]);
        say(status);
        if (status == CUDA_SUCCESS) {
            cuuint64_t got = 99;
            say(cuGraphExecGetFlags(exec, &got));
            say_hex(got);
            NEED(cuGraphExecDestroy(exec));
        }
    }
}

CASE(graph_exec, flag_device_launch, .allow = "CUDA_ERROR_NOT_SUPPORTED*",
     .why = "graphs are not launched from the device")
{
    CUdeviceptr word = gold_alloc_words(1, 0);
    CUgraph graph = ge_graph();
    CUgraphExec exec = NULL;
    ge_store(graph, NULL, word, 1);
    CUresult status = cuGraphInstantiate(&exec, graph, CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH);
    say(status);
    if (status == CUDA_SUCCESS) {
        cuuint64_t got = 99;
        NEED(cuGraphExecGetFlags(exec, &got));
        say_hex(got);
    }
}

CASE(graph_exec, flag_device_launch_with_auto_free)
{
    CUdeviceptr word = gold_alloc_words(1, 0);
    CUgraph graph = ge_graph();
    CUgraphExec exec = NULL;
    ge_store(graph, NULL, word, 1);
    say(cuGraphInstantiate(&exec, graph, 4 | 1));
}

CASE(graph_exec, get_flags_arguments)
{
    cuuint64_t flags = 99;
    CUgraphExec exec = ge_exec(ge_graph());
    say(cuGraphExecGetFlags(NULL, &flags));
    say_int((long long)flags);
    say(cuGraphExecGetFlags(exec, NULL));
}

CASE(graph_exec, with_params)
{
    CUDA_GRAPH_INSTANTIATE_PARAMS params;
    CUdeviceptr word = gold_alloc_words(1, 0);
    CUgraph graph = ge_graph();
    CUgraphExec exec;
    ge_store(graph, NULL, word, 5);
    memset(&params, 0, sizeof params);
    params.hErrNode_out = GOLD_WILD;
    params.result_out = (CUgraphInstantiateResult)77;
    say(cuGraphInstantiateWithParams(&exec, graph, &params));
    say_if("node_null", params.hErrNode_out == NULL);
    say_int(params.result_out);
    ge_run(exec, gold_stream(0));
    say_int(gold_word(word));
}

CASE(graph_exec, with_params_null, .alone = true)
{
    CUDA_GRAPH_INSTANTIATE_PARAMS params;
    CUgraphExec exec = NULL;
    memset(&params, 0, sizeof params);
    say(cuGraphInstantiateWithParams(&exec, ge_graph(), NULL));
    params.result_out = (CUgraphInstantiateResult)77;
    say(cuGraphInstantiateWithParams(NULL, ge_graph(), &params));
    say_int(params.result_out);
    params.result_out = (CUgraphInstantiateResult)77;
    say(cuGraphInstantiateWithParams(&exec, NULL, &params));
    say_int(params.result_out);
}

CASE(graph_exec, with_params_bad_flags)
{
    CUDA_GRAPH_INSTANTIATE_PARAMS params;
    CUgraphExec exec = NULL;
    memset(&params, 0, sizeof params);
    params.flags = 1ull << 20;
    params.hErrNode_out = GOLD_WILD;
    params.result_out = (CUgraphInstantiateResult)77;
    say(cuGraphInstantiateWithParams(&exec, ge_graph(), &params));
    say_if("node_untouched", params.hErrNode_out == GOLD_WILD);
    say_int(params.result_out);
}

CASE(graph_exec, with_params_upload)
{
    CUDA_GRAPH_INSTANTIATE_PARAMS params;
    CUdeviceptr word = gold_alloc_words(1, 0);
    CUgraph graph = ge_graph();
    CUgraphExec exec;
    cuuint64_t flags = 0;
    ge_store(graph, NULL, word, 5);
    memset(&params, 0, sizeof params);
    params.flags = CUDA_GRAPH_INSTANTIATE_FLAG_UPLOAD;
    params.hUploadStream = gold_stream(CU_STREAM_NON_BLOCKING);
    say(cuGraphInstantiateWithParams(&exec, graph, &params));
    say_int(params.result_out);
    say(cuGraphExecGetFlags(exec, &flags));
    say_hex(flags);
    say(cuStreamSynchronize(params.hUploadStream));
    ge_run(exec, gold_stream(0));
    say_int(gold_word(word));
}

CASE(graph_exec, with_params_upload_default_streams)
{
    CUDA_GRAPH_INSTANTIATE_PARAMS params;
    CUstream streams[] = {NULL, CU_STREAM_LEGACY, CU_STREAM_PER_THREAD};
    for (int i = 0; i < 3; i++) {
        CUgraphExec exec = NULL;
        memset(&params, 0, sizeof params);
        params.flags = CUDA_GRAPH_INSTANTIATE_FLAG_UPLOAD;
        params.hUploadStream = streams[i];
        say(cuGraphInstantiateWithParams(&exec, ge_graph(), &params));
        say_int(params.result_out);
    }
    NEED(cuCtxSynchronize());
}

CASE(graph_exec, with_params_upload_waits_for_stream)
{
    /* Instantiation itself does not wait for the stream. */
    CUDA_GRAPH_INSTANTIATE_PARAMS params;
    CUgraphExec exec;
    memset(&params, 0, sizeof params);
    params.flags = CUDA_GRAPH_INSTANTIATE_FLAG_UPLOAD;
    params.hUploadStream = gold_stream(CU_STREAM_NON_BLOCKING);
    struct gold_gate gate = gold_gate_close(params.hUploadStream);
    say(cuGraphInstantiateWithParams(&exec, ge_graph(), &params));
    say(cuStreamQuery(params.hUploadStream));
    gold_gate_open(gate);
    say(cuStreamSynchronize(params.hUploadStream));
}

CASE(graph_exec, old_form)
{
    char log[64];
    CUgraphExec exec = NULL;
    CUgraphNode node = GOLD_WILD;
    CUdeviceptr word = gold_alloc_words(1, 0);
    CUgraph graph = ge_graph();
    ge_store(graph, NULL, word, 3);
    memset(log, 'x', sizeof log);
    say(old_instantiate(11000)(&exec, graph, &node, log, sizeof log));
    say_if("node_untouched", node == GOLD_WILD);
    say_if("node_null", node == NULL);
    say_int(log[0]);
    ge_run(exec, gold_stream(0));
    say_int(gold_word(word));
}

CASE(graph_exec, old_form_no_log)
{
    CUgraphExec exec = NULL;
    say(old_instantiate(10000)(&exec, ge_graph(), NULL, NULL, 0));
    say_if("made", exec != NULL);
    say(old_instantiate(10000)(NULL, ge_graph(), NULL, NULL, 0));
    say(old_instantiate(10000)(&exec, NULL, NULL, NULL, 0));
    say(old_instantiate(11000)(&exec, ge_graph(), NULL, NULL, 16));
}

CASE(graph_exec, twice_from_one_graph)
{
    CUdeviceptr word = gold_alloc_words(1, 0);
    CUgraph graph = ge_graph();
    CUstream stream = gold_stream(0);
    ge_add(graph, NULL, word, 1);
    CUgraphExec one = ge_exec(graph), two = ge_exec(graph);
    say_if("different", one != two);
    ge_go(one, stream);
    ge_go(two, stream);
    say(cuGraphExecDestroy(one));
    ge_go(two, stream);
    say_int(gold_word(word));
}

CASE(graph_exec, without_context, .alone = true)
{
    CUgraph graph;
    CUgraphExec exec = NULL;
    CUdeviceptr word = gold_alloc_words(1, 0);
    NEED(cuGraphCreate(&graph, 0));
    ge_store(graph, NULL, word, 1);
    NEED(cuCtxSetCurrent(NULL));
    say(cuGraphInstantiate(&exec, graph, 0));
    if (exec) {
        cuuint64_t flags;
        say(cuGraphExecGetFlags(exec, &flags));
        say(cuGraphLaunch(exec, NULL));
        say(cuGraphExecDestroy(exec));
    }
}

CASE(graph_exec, graph_of_another_context, .alone = true)
{
    CUdeviceptr word = gold_alloc_words(1, 0);
    CUgraph graph = ge_graph();
    CUgraphExec exec = NULL;
    CUstream stream = gold_stream(CU_STREAM_NON_BLOCKING);
    ge_store(graph, NULL, word, 9);
    (void)gold_context_new();
    say(cuGraphInstantiate(&exec, graph, 0));
    say(cuGraphLaunch(exec, stream));
    say(cuStreamSynchronize(stream));
    NEED(cuCtxSetCurrent(gold_context()));
    say_int(gold_word(word));
}

/* ---- apart from the graph ---- */

CASE(graph_exec, graph_destroyed)
{
    CUdeviceptr word = gold_alloc_words(1, 0);
    CUgraph graph = ge_graph();
    ge_add(graph, ge_store(graph, NULL, word, 4), word, 3);
    CUgraphExec exec = ge_exec(graph);
    say(cuGraphDestroy(graph));
    ge_run(exec, gold_stream(0));
    say_int(gold_word(word));
}

CASE(graph_exec, node_added_later)
{
    CUdeviceptr word = gold_alloc_words(1, 0);
    CUgraph graph = ge_graph();
    CUgraphNode node = ge_store(graph, NULL, word, 4);
    CUgraphExec exec = ge_exec(graph);
    ge_add(graph, node, word, 100);
    ge_go(exec, gold_stream(0));
    say_int(gold_word(word));
}

CASE(graph_exec, node_destroyed_later)
{
    CUdeviceptr word = gold_alloc_words(1, 0);
    CUgraph graph = ge_graph();
    CUgraphNode node = ge_add(graph, ge_store(graph, NULL, word, 4), word, 10);
    CUgraphExec exec = ge_exec(graph);
    say(cuGraphDestroyNode(node));
    ge_go(exec, gold_stream(0));
    say_int(gold_word(word));
}

CASE(graph_exec, node_params_set_later)
{
    CUdeviceptr word = gold_alloc_words(1, 0);
    CUgraph graph = ge_graph();
    struct ge_kernel kernel;
    CUgraphNode node = ge_store(graph, NULL, word, 4);
    CUgraphExec exec = ge_exec(graph);
    say(cuGraphKernelNodeSetParams(node, ge_params(&kernel, "store", word, 50)));
    ge_go(exec, gold_stream(0));
    say_int(gold_word(word));
    ge_go(ge_exec(graph), gold_stream(0));
    say_int(gold_word(word));
}

CASE(graph_exec, child_changed_later)
{
    CUdeviceptr word = gold_alloc_words(1, 0);
    CUgraph graph = ge_graph(), child = ge_graph(), owned;
    struct ge_kernel kernel;
    CUgraphNode inner, node;
    size_t count = 1;
    ge_store(child, NULL, word, 4);
    node = ge_child(graph, NULL, child);
    CUgraphExec exec = ge_exec(graph);
    NEED(cuGraphChildGraphNodeGetGraph(node, &owned));
    NEED(cuGraphGetNodes(owned, &inner, &count));
    say(cuGraphKernelNodeSetParams(inner, ge_params(&kernel, "store", word, 60)));
    ge_go(exec, gold_stream(0));
    say_int(gold_word(word));
    ge_go(ge_exec(graph), gold_stream(0));
    say_int(gold_word(word));
}

CASE(graph_exec, event_destroyed)
{
    CUevent event = gold_event(0);
    CUgraph graph = ge_graph();
    ge_record(graph, NULL, event);
    CUgraphExec exec = ge_exec(graph);
    say(cuEventDestroy(event));
    ge_run(exec, gold_stream(0));
}

CASE(graph_exec, event_destroyed_before, .alone = true, .allow = "CUDA_SUCCESS CUDA_SUCCESS",
     .why = "hardware reads what is gone")
{
    CUevent event = gold_event(0);
    CUgraph graph = ge_graph();
    CUgraphExec exec = NULL;
    ge_record(graph, NULL, event);
    say(cuEventDestroy(event));
    say(cuGraphInstantiate(&exec, graph, 0));
}

CASE(graph_exec, module_unloaded, .alone = true, .allow = "*",
     .why = "a kernel that is gone must not be launched: anything but a hang will do")
{
    CUdeviceptr word = gold_alloc_words(1, 0);
    CUmodule module = gold_load(gold_ptx);
    CUgraph graph = ge_graph();
    struct ge_kernel kernel;
    CUgraphNode node;
    ge_params(&kernel, "store", word, 6);
    NEED(cuModuleGetFunction(&kernel.node.func, module, "store"));
    NEED(cuGraphAddKernelNode(&node, graph, NULL, 0, &kernel.node));
    CUgraphExec exec = ge_exec(graph);
    say(cuModuleUnload(module));
    ge_run(exec, gold_stream(0));
}

/* ---- destroying ---- */

CASE(graph_exec, destroy_null)
{
    say(cuGraphExecDestroy(NULL));
}

CASE(graph_exec, destroy_twice, .alone = true, .allow = "CUDA_SUCCESS CUDA_ERROR_INVALID_VALUE",
     .why = "hardware reads what is gone")
{
    CUgraphExec exec = ge_exec(ge_graph());
    say(cuGraphExecDestroy(exec));
    say(cuGraphExecDestroy(exec));
}

CASE(graph_exec, destroyed_launch, .alone = true, .allow = "CUDA_ERROR_INVALID_VALUE",
     .why = "hardware reads what is gone")
{
    CUgraphExec exec = ge_exec(ge_graph());
    NEED(cuGraphExecDestroy(exec));
    say(cuGraphLaunch(exec, gold_stream(0)));
}

CASE(graph_exec, destroy_while_queued)
{
    CUdeviceptr word = gold_alloc_words(1, 0);
    CUgraph graph = ge_graph();
    CUstream stream = gold_stream(CU_STREAM_NON_BLOCKING);
    ge_add(graph, ge_store(graph, NULL, word, 4), word, 3);
    CUgraphExec exec = ge_exec(graph);
    struct gold_gate gate = gold_gate_close(stream);
    say(cuGraphLaunch(exec, stream));
    say(cuGraphExecDestroy(exec));
    say(cuStreamQuery(stream));
    gold_gate_open(gate);
    say(cuStreamSynchronize(stream));
    say_int(gold_word(word));
}

CASE(graph_exec, destroy_while_running)
{
    CUdeviceptr word = gold_alloc_words(1, 0);
    CUgraph graph = ge_graph();
    CUstream stream = gold_stream(CU_STREAM_NON_BLOCKING);
    volatile unsigned *flag = ge_flag();
    ge_store(graph, ge_spin(graph, NULL, flag), word, 8);
    CUgraphExec exec = ge_exec(graph);
    say(cuGraphLaunch(exec, stream));
    gold_sleep_ms(20);
    say(cuGraphExecDestroy(exec));
    say(cuGraphDestroy(graph));
    say(cuStreamQuery(stream));
    *flag = 1;
    say(cuStreamSynchronize(stream));
    say_int(gold_word(word));
}

/* ---- uploading ---- */

CASE(graph_exec, upload)
{
    CUdeviceptr word = gold_alloc_words(1, 0);
    CUgraph graph = ge_graph();
    CUstream stream = gold_stream(CU_STREAM_NON_BLOCKING);
    ge_store(graph, NULL, word, 4);
    CUgraphExec exec = ge_exec(graph);
    say(cuGraphUpload(exec, stream));
    say(cuStreamSynchronize(stream));
    say_int(gold_word(word));
    ge_run(exec, stream);
    say_int(gold_word(word));
}

CASE(graph_exec, upload_default_streams)
{
    CUgraphExec exec = ge_exec(ge_graph());
    say(cuGraphUpload(exec, NULL));
    say(cuGraphUpload(exec, CU_STREAM_LEGACY));
    say(cuGraphUpload(exec, CU_STREAM_PER_THREAD));
    say(cuCtxSynchronize());
}

CASE(graph_exec, upload_arguments)
{
    say(cuGraphUpload(NULL, gold_stream(0)));
}

CASE(graph_exec, upload_destroyed_stream, .alone = true,
     .allow = "CUDA_ERROR_INVALID_HANDLE|CUDA_ERROR_CONTEXT_IS_DESTROYED", .why = "hardware reads what is gone")
{
    CUstream stream = gold_stream(0);
    CUgraphExec exec = ge_exec(ge_graph());
    NEED(cuStreamDestroy(stream));
    say(cuGraphUpload(exec, stream));
}

CASE(graph_exec, upload_is_in_order)
{
    CUstream stream = gold_stream(CU_STREAM_NON_BLOCKING);
    CUgraphExec exec = ge_exec(ge_graph());
    CUevent event = gold_event(0);
    struct gold_gate gate = gold_gate_close(stream);
    say(cuGraphUpload(exec, stream));
    NEED(cuEventRecord(event, stream));
    say(cuEventQuery(event));
    gold_gate_open(gate);
    say(cuEventSynchronize(event));
}

/* ---- enabling and disabling ---- */

CASE(graph_exec, enabled_of_each_type)
{
    CUdeviceptr words = gold_alloc_words(8, 0);
    CUgraph graph = ge_graph(), child = ge_graph();
    CUDA_MEMCPY3D copy = ge_copy_params('d', words, 'd', words + 16, 4);
    ge_empty(child, NULL);
    CUgraphNode nodes[] = {
        ge_store(graph, NULL, words, 1),     ge_fill(graph, NULL, words, 1, 1),
        ge_copy(graph, NULL, &copy),         ge_empty(graph, NULL),
        ge_child(graph, NULL, child),        ge_record(graph, NULL, gold_event(0)),
        ge_wait(graph, NULL, gold_event(0)),
    };
    CUgraphExec exec = ge_exec(graph);
    for (size_t i = 0; i < sizeof nodes / sizeof nodes[0]; i++) {
        unsigned enabled = 99;
        say(cuGraphNodeGetEnabled(exec, nodes[i], &enabled));
        say_int(enabled);
    }
    for (size_t i = 0; i < sizeof nodes / sizeof nodes[0]; i++) {
        unsigned enabled = 99;
        say(cuGraphNodeSetEnabled(exec, nodes[i], 0));
        (void)cuGraphNodeGetEnabled(exec, nodes[i], &enabled);
        say_int(enabled);
    }
}

static void CUDA_CB set_int(void *data)
{
    *(volatile int *)data = 7;
}

CASE(graph_exec, enabled_host_node)
{
    static volatile int value;
    unsigned enabled = 99;
    CUgraph graph = ge_graph();
    value = 0;
    CUgraphNode node = ge_host(graph, NULL, set_int, (void *)(uintptr_t)&value);
    CUgraphExec exec = ge_exec(graph);
    say(cuGraphNodeGetEnabled(exec, node, &enabled));
    say_int(enabled);
    say(cuGraphNodeSetEnabled(exec, node, 0));
    ge_run(exec, gold_stream(0));
    say_int(value);
}

CASE(graph_exec, disable_kernel)
{
    CUdeviceptr word = gold_alloc_words(1, 1);
    CUgraph graph = ge_graph();
    CUstream stream = gold_stream(0);
    CUgraphNode first = ge_add(graph, NULL, word, 10), second = ge_add(graph, first, word, 100);
    ge_add(graph, second, word, 1000);
    CUgraphExec exec = ge_exec(graph);
    say(cuGraphNodeSetEnabled(exec, second, 0));
    ge_run(exec, stream);
    say_int(gold_word(word));
    say(cuGraphNodeSetEnabled(exec, second, 1));
    ge_run(exec, stream);
    say_int(gold_word(word));
}

CASE(graph_exec, disable_fill_and_copy)
{
    CUdeviceptr words = gold_alloc_words(8, 1);
    CUgraph graph = ge_graph();
    CUstream stream = gold_stream(0);
    CUDA_MEMCPY3D copy = ge_copy_params('d', words + 4, 'd', words, 4);
    CUgraphNode fill = ge_fill(graph, NULL, words, 9, 1), move = ge_copy(graph, fill, &copy);
    CUgraphExec exec = ge_exec(graph);
    say(cuGraphNodeSetEnabled(exec, fill, 0));
    ge_go(exec, stream);
    say_int(gold_word(words));
    say(cuGraphNodeSetEnabled(exec, fill, 1));
    say(cuGraphNodeSetEnabled(exec, move, 0));
    ge_go(exec, stream);
    say_int(gold_word(words));
    say_int(gold_word(words + 4));
    say(cuGraphNodeSetEnabled(exec, move, 1));
    ge_go(exec, stream);
    say_int(gold_word(words + 4));
}

CASE(graph_exec, disabled_keeps_order)
{
    /* What comes after a disabled node still comes after what is before it. */
    CUdeviceptr word = gold_alloc_words(1, 0);
    CUgraph graph = ge_graph();
    volatile unsigned *flag = ge_flag();
    CUstream stream = gold_stream(CU_STREAM_NON_BLOCKING);
    CUgraphNode middle = ge_add(graph, ge_spin(graph, NULL, flag), word, 10);
    ge_add(graph, middle, word, 5);
    CUgraphExec exec = ge_exec(graph);
    NEED(cuGraphNodeSetEnabled(exec, middle, 0));
    NEED(cuGraphLaunch(exec, stream));
    gold_sleep_ms(20);
    say(cuStreamQuery(stream));
    *flag = 1;
    say(cuStreamSynchronize(stream));
    say_int(gold_word(word));
}

CASE(graph_exec, enabled_values)
{
    unsigned enabled = 99;
    CUdeviceptr word = gold_alloc_words(1, 0);
    CUgraph graph = ge_graph();
    CUgraphNode node = ge_store(graph, NULL, word, 1);
    CUgraphExec exec = ge_exec(graph);
    static const unsigned values[] = {2, 0, 0, 0xffffffffu, 1, 1};
    for (size_t i = 0; i < sizeof values / sizeof values[0]; i++) {
        say(cuGraphNodeSetEnabled(exec, node, values[i]));
        NEED(cuGraphNodeGetEnabled(exec, node, &enabled));
        say_int(enabled);
    }
}

CASE(graph_exec, enabled_arguments)
{
    unsigned enabled = 99;
    CUdeviceptr word = gold_alloc_words(1, 0);
    CUgraph graph = ge_graph(), other = ge_graph(), clone;
    CUgraphNode node = ge_store(graph, NULL, word, 1), foreign = ge_store(other, NULL, word, 1), twin;
    CUgraphExec exec = ge_exec(graph);
    say(cuGraphNodeGetEnabled(NULL, node, &enabled));
    say(cuGraphNodeGetEnabled(exec, NULL, &enabled));
    say(cuGraphNodeGetEnabled(exec, node, NULL));
    say(cuGraphNodeGetEnabled(exec, foreign, &enabled));
    say(cuGraphNodeSetEnabled(NULL, node, 1));
    say(cuGraphNodeSetEnabled(exec, NULL, 1));
    say(cuGraphNodeSetEnabled(exec, foreign, 0));
    NEED(cuGraphClone(&clone, graph));
    NEED(cuGraphNodeFindInClone(&twin, node, clone));
    say(cuGraphNodeSetEnabled(exec, twin, 0));
    say_int(enabled);
}

CASE(graph_exec, enabled_node_added_later)
{
    unsigned enabled = 99;
    CUdeviceptr word = gold_alloc_words(1, 0);
    CUgraph graph = ge_graph();
    ge_store(graph, NULL, word, 1);
    CUgraphExec exec = ge_exec(graph);
    CUgraphNode later = ge_store(graph, NULL, word, 2);
    say(cuGraphNodeGetEnabled(exec, later, &enabled));
    say(cuGraphNodeSetEnabled(exec, later, 0));
}

CASE(graph_exec, enabled_in_child)
{
    unsigned enabled = 99;
    size_t count = 1;
    CUdeviceptr word = gold_alloc_words(1, 0);
    CUgraph graph = ge_graph(), child = ge_graph(), owned;
    CUgraphNode template = ge_store(child, NULL, word, 1), inner;
    CUgraphNode node = ge_child(graph, NULL, child);
    CUgraphExec exec = ge_exec(graph);
    NEED(cuGraphChildGraphNodeGetGraph(node, &owned));
    NEED(cuGraphGetNodes(owned, &inner, &count));
    say(cuGraphNodeGetEnabled(exec, inner, &enabled));
    say(cuGraphNodeSetEnabled(exec, inner, 0));
    say(cuGraphNodeSetEnabled(exec, template, 0));
    ge_run(exec, gold_stream(0));
    say_int(gold_word(word));
}

CASE(graph_exec, disable_does_not_touch_queued)
{
    CUdeviceptr word = gold_alloc_words(1, 0);
    CUgraph graph = ge_graph();
    CUstream stream = gold_stream(CU_STREAM_NON_BLOCKING);
    CUgraphNode node = ge_add(graph, NULL, word, 1);
    CUgraphExec exec = ge_exec(graph);
    struct gold_gate gate = gold_gate_close(stream);
    NEED(cuGraphLaunch(exec, stream));
    say(cuGraphNodeSetEnabled(exec, node, 0));
    NEED(cuGraphLaunch(exec, stream));
    gold_gate_open(gate);
    say(cuStreamSynchronize(stream));
    say_int(gold_word(word));
}

CASE(graph_exec, disabled_then_params_set)
{
    CUdeviceptr word = gold_alloc_words(1, 0);
    CUgraph graph = ge_graph();
    CUstream stream = gold_stream(0);
    struct ge_kernel kernel;
    CUgraphNode node = ge_add(graph, NULL, word, 1);
    CUgraphExec exec = ge_exec(graph);
    unsigned enabled = 99;
    NEED(cuGraphNodeSetEnabled(exec, node, 0));
    say(cuGraphExecKernelNodeSetParams(exec, node, ge_params(&kernel, "add", word, 20)));
    NEED(cuGraphNodeGetEnabled(exec, node, &enabled));
    say_int(enabled);
    ge_go(exec, stream);
    say_int(gold_word(word));
    NEED(cuGraphNodeSetEnabled(exec, node, 1));
    ge_go(exec, stream);
    say_int(gold_word(word));
}

CASE(graph_exec, other_instance_not_disabled)
{
    CUdeviceptr word = gold_alloc_words(1, 0);
    CUgraph graph = ge_graph();
    CUstream stream = gold_stream(0);
    CUgraphNode node = ge_add(graph, NULL, word, 1);
    CUgraphExec one = ge_exec(graph), two = ge_exec(graph);
    NEED(cuGraphNodeSetEnabled(one, node, 0));
    ge_go(one, stream);
    say_int(gold_word(word));
    ge_go(two, stream);
    say_int(gold_word(word));
    ge_go(ge_exec(graph), stream);
    say_int(gold_word(word));
}

CASE(graph_exec, enabled_after_node_destroyed, .alone = true, .allow = "CUDA_ERROR_INVALID_VALUE",
     .why = "hardware reads what is gone")
{
    CUdeviceptr word = gold_alloc_words(1, 0);
    CUgraph graph = ge_graph();
    CUgraphNode node = ge_add(graph, NULL, word, 1);
    CUgraphExec exec = ge_exec(graph);
    NEED(cuGraphDestroyNode(node));
    say(cuGraphNodeSetEnabled(exec, node, 0));
}
