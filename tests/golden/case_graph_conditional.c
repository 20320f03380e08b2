/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Conditional nodes: the handle and its default value, if, else, while and
 * switch, and a kernel that sets the value.
 */
#include "gold_exec.h"

/* A graph with one conditional node behind `after`; `bodies` gets its body graphs. */
static CUgraphNode conditional(CUgraph graph, CUgraphNode after, CUgraphConditionalHandle handle,
                               CUgraphConditionalNodeType type, unsigned size, CUgraph *bodies)
{
    CUgraphNodeParams params;
    CUgraphNode node;
    memset(&params, 0, sizeof params);
    params.type = CU_GRAPH_NODE_TYPE_CONDITIONAL;
    params.conditional.handle = handle;
    params.conditional.type = type;
    params.conditional.size = size;
    params.conditional.ctx = gold_context();
    NEED(cuGraphAddNode(&node, graph, after ? &after : NULL, NULL, after ? 1 : 0, &params));
    for (unsigned i = 0; i < size; i++)
        bodies[i] = params.conditional.phGraph_out[i];
    return node;
}

static CUgraphConditionalHandle handle_of(CUgraph graph, unsigned value, unsigned flags)
{
    CUgraphConditionalHandle handle;
    NEED(cuGraphConditionalHandleCreate(&handle, graph, gold_context(), value, flags));
    return handle;
}

CASE(graph_conditional, handle_create)
{
    CUgraph graph = ge_graph();
    CUgraphConditionalHandle handle = 0, second = 0;
    say(cuGraphConditionalHandleCreate(&handle, graph, gold_context(), 1, CU_GRAPH_COND_ASSIGN_DEFAULT));
    say(cuGraphConditionalHandleCreate(&second, graph, gold_context(), 0, 0));
    say_if("different", handle != second);
    say(cuGraphConditionalHandleCreate(&handle, graph, gold_context(), 5, 0));
    say(cuGraphConditionalHandleCreate(&handle, graph, gold_context(), 1, 2));
    say(cuGraphConditionalHandleCreate(&handle, graph, gold_context(), 1, 3));
    say(cuGraphConditionalHandleCreate(NULL, graph, gold_context(), 1, 0));
    say(cuGraphConditionalHandleCreate(&handle, NULL, gold_context(), 1, 0));
    say(cuGraphConditionalHandleCreate(&handle, graph, NULL, 1, 0));
}

CASE(graph_conditional, handle_unused)
{
    CUDA_GRAPH_INSTANTIATE_PARAMS params;
    CUgraph graph = ge_graph();
    CUgraphExec exec = NULL;
    (void)handle_of(graph, 1, 0);
    say(cuGraphInstantiate(&exec, graph, 0));
    memset(&params, 0, sizeof params);
    say(cuGraphInstantiateWithParams(&exec, graph, &params));
    say_int(params.result_out);
}

CASE(graph_conditional, if_default)
{
    for (unsigned value = 0; value < 3; value++) {
        CUdeviceptr word = gold_alloc_words(1, 0);
        CUgraph graph = ge_graph(), body;
        CUgraphNode node =
            conditional(graph, ge_add(graph, NULL, word, 1), handle_of(graph, value, CU_GRAPH_COND_ASSIGN_DEFAULT),
                        CU_GRAPH_COND_TYPE_IF, 1, &body);
        ge_add(body, NULL, word, 10);
        ge_add(graph, node, word, 100);
        CUgraphExec exec = ge_exec(graph);
        CUstream stream = gold_stream(0);
        ge_run(exec, stream);
        say_int(gold_word(word));
        ge_go(exec, stream);
        say_int(gold_word(word));
    }
}

CASE(graph_conditional, if_else)
{
    for (unsigned value = 0; value < 2; value++) {
        CUdeviceptr word = gold_alloc_words(1, 0);
        CUgraph graph = ge_graph(), bodies[2];
        conditional(graph, NULL, handle_of(graph, value, CU_GRAPH_COND_ASSIGN_DEFAULT), CU_GRAPH_COND_TYPE_IF, 2,
                    bodies);
        ge_add(bodies[0], NULL, word, 1);
        ge_add(bodies[1], ge_add(bodies[1], NULL, word, 10), word, 100);
        ge_run(ge_exec(graph), gold_stream(0));
        say_int(gold_word(word));
    }
}

CASE(graph_conditional, if_empty_body)
{
    CUdeviceptr word = gold_alloc_words(1, 0);
    CUgraph graph = ge_graph(), body;
    CUgraphNode node =
        conditional(graph, NULL, handle_of(graph, 1, CU_GRAPH_COND_ASSIGN_DEFAULT), CU_GRAPH_COND_TYPE_IF, 1, &body);
    ge_add(graph, node, word, 1);
    ge_run(ge_exec(graph), gold_stream(0));
    say_int(gold_word(word));
}

CASE(graph_conditional, while_default_zero)
{
    CUdeviceptr word = gold_alloc_words(1, 0);
    CUgraph graph = ge_graph(), body;
    CUgraphNode node =
        conditional(graph, NULL, handle_of(graph, 0, CU_GRAPH_COND_ASSIGN_DEFAULT), CU_GRAPH_COND_TYPE_WHILE, 1, &body);
    ge_add(body, NULL, word, 10);
    ge_add(graph, node, word, 1);
    ge_run(ge_exec(graph), gold_stream(0));
    say_int(gold_word(word));
}

CASE(graph_conditional, switch_default)
{
    for (unsigned value = 0; value < 5; value++) {
        CUdeviceptr word = gold_alloc_words(1, 0);
        CUgraph graph = ge_graph(), bodies[3];
        CUgraphNode node = conditional(graph, NULL, handle_of(graph, value, CU_GRAPH_COND_ASSIGN_DEFAULT),
                                       CU_GRAPH_COND_TYPE_SWITCH, 3, bodies);
        for (unsigned i = 0; i < 3; i++)
            ge_add(bodies[i], NULL, word, 10 + i);
        ge_add(graph, node, word, 100);
        ge_run(ge_exec(graph), gold_stream(0));
        say_int(gold_word(word));
    }
}

CASE(graph_conditional, nested)
{
    CUdeviceptr word = gold_alloc_words(1, 0);
    CUgraph graph = ge_graph(), outer, inner;
    CUgraphConditionalHandle first = handle_of(graph, 1, CU_GRAPH_COND_ASSIGN_DEFAULT),
                             second = handle_of(graph, 1, CU_GRAPH_COND_ASSIGN_DEFAULT);
    conditional(graph, NULL, first, CU_GRAPH_COND_TYPE_IF, 1, &outer);
    CUgraphNode node = conditional(outer, ge_add(outer, NULL, word, 1), second, CU_GRAPH_COND_TYPE_IF, 1, &inner);
    ge_add(inner, NULL, word, 10);
    ge_add(outer, node, word, 100);
    CUgraphExec exec = NULL;
    CUresult status = cuGraphInstantiate(&exec, graph, 0);
    say(status);
    if (status != CUDA_SUCCESS)
        return;
    ge_run(exec, gold_stream(0));
    say_int(gold_word(word));
}

CASE(graph_conditional, no_default_value)
{
    /* Without the flag the first launch has no defined value: only that it runs and ends is asked. */
    CUdeviceptr word = gold_alloc_words(1, 0);
    CUgraph graph = ge_graph(), body;
    conditional(graph, NULL, handle_of(graph, 1, 0), CU_GRAPH_COND_TYPE_IF, 1, &body);
    ge_add(body, NULL, word, 10);
    ge_run(ge_exec(graph), gold_stream(0));
}

CASE(graph_conditional, body_with_child_fill_copy)
{
    CUdeviceptr words = gold_alloc_words(4, 0);
    CUgraph graph = ge_graph(), child = ge_graph(), body;
    CUDA_MEMCPY3D copy = ge_copy_params('d', words + 4, 'd', words, 4);
    conditional(graph, NULL, handle_of(graph, 1, CU_GRAPH_COND_ASSIGN_DEFAULT), CU_GRAPH_COND_TYPE_IF, 1, &body);
    ge_add(child, NULL, words, 10);
    ge_copy(body, ge_child(body, ge_fill(body, NULL, words, 5, 1), child), &copy);
    ge_run(ge_exec(graph), gold_stream(0));
    say_int(gold_word(words));
    say_int(gold_word(words + 4));
}

static void CUDA_CB host_nothing(void *data)
{
    (void)data;
}

CASE(graph_conditional, body_with_host_node)
{
    CUgraph graph = ge_graph(), body;
    CUDA_HOST_NODE_PARAMS params;
    CUgraphNode node;
    CUgraphExec exec = NULL;
    conditional(graph, NULL, handle_of(graph, 1, CU_GRAPH_COND_ASSIGN_DEFAULT), CU_GRAPH_COND_TYPE_IF, 1, &body);
    memset(&params, 0, sizeof params);
    params.fn = host_nothing;
    say(cuGraphAddHostNode(&node, body, NULL, 0, &params));
    say(cuGraphInstantiate(&exec, graph, 0));
}

CASE(graph_conditional, body_with_event_nodes)
{
    CUgraph graph = ge_graph(), body;
    CUgraphNode node;
    CUgraphExec exec = NULL;
    conditional(graph, NULL, handle_of(graph, 1, CU_GRAPH_COND_ASSIGN_DEFAULT), CU_GRAPH_COND_TYPE_IF, 1, &body);
    say(cuGraphAddEventRecordNode(&node, body, NULL, 0, gold_event(0)));
    say(cuGraphAddEventWaitNode(&node, body, NULL, 0, gold_event(0)));
    say(cuGraphInstantiate(&exec, graph, 0));
}

CASE(graph_conditional, two_with_one_handle)
{
    CUgraph graph = ge_graph(), body;
    CUgraphConditionalHandle handle = handle_of(graph, 1, CU_GRAPH_COND_ASSIGN_DEFAULT);
    CUgraphNodeParams params;
    CUgraphNode node;
    CUgraphExec exec = NULL;
    conditional(graph, NULL, handle, CU_GRAPH_COND_TYPE_IF, 1, &body);
    memset(&params, 0, sizeof params);
    params.type = CU_GRAPH_NODE_TYPE_CONDITIONAL;
    params.conditional.handle = handle;
    params.conditional.type = CU_GRAPH_COND_TYPE_IF;
    params.conditional.size = 1;
    params.conditional.ctx = gold_context();
    say(cuGraphAddNode(&node, graph, NULL, NULL, 0, &params));
    say(cuGraphInstantiate(&exec, graph, 0));
}

CASE(graph_conditional, node_refused)
{
    static const struct {
        CUgraphConditionalNodeType type;
        unsigned size;
    } wrong[] = {{CU_GRAPH_COND_TYPE_IF, 0},    {CU_GRAPH_COND_TYPE_IF, 3},     {CU_GRAPH_COND_TYPE_WHILE, 0},
                 {CU_GRAPH_COND_TYPE_WHILE, 2}, {CU_GRAPH_COND_TYPE_SWITCH, 0}, {(CUgraphConditionalNodeType)7, 1}};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        CUgraph graph = ge_graph();
        CUgraphNodeParams params;
        CUgraphNode node;
        memset(&params, 0, sizeof params);
        params.type = CU_GRAPH_NODE_TYPE_CONDITIONAL;
        params.conditional.handle = handle_of(graph, 1, 1);
        params.conditional.type = wrong[i].type;
        params.conditional.size = wrong[i].size;
        params.conditional.ctx = gold_context();
        say(cuGraphAddNode(&node, graph, NULL, NULL, 0, &params));
    }
}

CASE(graph_conditional, update_same)
{
    CUgraphExecUpdateResultInfo info;
    CUgraphExec exec = NULL;
    CUdeviceptr word = gold_alloc_words(1, 0);
    for (unsigned turn = 0; turn < 2; turn++) {
        CUgraph graph = ge_graph(), body;
        conditional(graph, NULL, handle_of(graph, 1, CU_GRAPH_COND_ASSIGN_DEFAULT), CU_GRAPH_COND_TYPE_IF, 1, &body);
        ge_add(body, NULL, word, turn ? 100 : 1);
        memset(&info, 0, sizeof info);
        if (turn == 0) {
            exec = ge_exec(graph);
            say(cuGraphExecUpdate(exec, graph, &info));
        } else {
            say(cuGraphExecUpdate(exec, graph, &info));
        }
        say_int(info.result);
    }
    ge_run(exec, gold_stream(0));
    say_int(gold_word(word));
}

CASE(graph_conditional, enabled_and_type)
{
    unsigned enabled = 99;
    CUgraph graph = ge_graph(), body;
    CUgraphNode node =
        conditional(graph, NULL, handle_of(graph, 1, CU_GRAPH_COND_ASSIGN_DEFAULT), CU_GRAPH_COND_TYPE_IF, 1, &body);
    CUgraphNodeType type;
    CUgraphExec exec = ge_exec(graph);
    say(cuGraphNodeGetType(node, &type));
    say_int(type);
    say(cuGraphNodeGetEnabled(exec, node, &enabled));
    say(cuGraphNodeSetEnabled(exec, node, 0));
}

CASE(graph_conditional, body_cannot_go)
{
    CUgraph graph = ge_graph(), body, clone;
    CUgraphExec exec = NULL;
    CUgraphNode node, outer;
    CUgraph other = ge_graph();
    node = conditional(graph, NULL, handle_of(graph, 1, CU_GRAPH_COND_ASSIGN_DEFAULT), CU_GRAPH_COND_TYPE_IF, 1, &body);
    say(cuGraphInstantiate(&exec, body, 0));
    say(cuGraphClone(&clone, graph));
    say(cuGraphAddChildGraphNode(&outer, other, NULL, 0, graph));
    say(cuGraphDestroyNode(node));
}

/* ---- set by a kernel ---- */

/* `set` gives the handle a value; `count_down` takes one off a word and gives the handle what is left. */
static const char setting_ptx[] = ".version 8.4\n"
                                  ".target sm_80\n"
                                  ".address_size 64\n"
                                  ".extern .func cudaGraphSetConditional (.param .b64 handle, .param .b32 value);\n"
                                  ".visible .entry set(.param .u64 handle, .param .u32 value)\n"
                                  "{\n"
                                  "    .reg .b32 %r<2>;\n"
                                  "    .reg .b64 %rd<2>;\n"
                                  "    ld.param.u64 %rd0, [handle];\n"
                                  "    ld.param.u32 %r0, [value];\n"
                                  "    {\n"
                                  "    .param .b64 param0;\n"
                                  "    st.param.b64 [param0], %rd0;\n"
                                  "    .param .b32 param1;\n"
                                  "    st.param.b32 [param1], %r0;\n"
                                  "    call.uni cudaGraphSetConditional, (param0, param1);\n"
                                  "    }\n"
                                  "    ret;\n"
                                  "}\n"
                                  ".visible .entry count_down(.param .u64 handle, .param .u64 word)\n"
                                  "{\n"
                                  "    .reg .b32 %r<2>;\n"
                                  "    .reg .b64 %rd<4>;\n"
                                  "    ld.param.u64 %rd0, [handle];\n"
                                  "    ld.param.u64 %rd1, [word];\n"
                                  "    cvta.to.global.u64 %rd2, %rd1;\n"
                                  "    ld.global.u32 %r0, [%rd2];\n"
                                  "    sub.u32 %r1, %r0, 1;\n"
                                  "    st.global.u32 [%rd2], %r1;\n"
                                  "    {\n"
                                  "    .param .b64 param0;\n"
                                  "    st.param.b64 [param0], %rd0;\n"
                                  "    .param .b32 param1;\n"
                                  "    st.param.b32 [param1], %r1;\n"
                                  "    call.uni cudaGraphSetConditional, (param0, param1);\n"
                                  "    }\n"
                                  "    ret;\n"
                                  "}\n";

static CUgraphNode setting_node(CUgraph graph, CUgraphNode after, const char *name, CUgraphConditionalHandle handle,
                                cuuint64_t second)
{
    void *params[] = {&handle, &second};
    CUDA_KERNEL_NODE_PARAMS kernel;
    CUgraphNode node;
    CUfunction function;
    NEED(cuModuleGetFunction(&function, gold_load(setting_ptx), name));
    memset(&kernel, 0, sizeof kernel);
    kernel.func = function;
    kernel.gridDimX = kernel.gridDimY = kernel.gridDimZ = kernel.blockDimX = kernel.blockDimY = kernel.blockDimZ = 1;
    kernel.kernelParams = params;
    NEED(cuGraphAddKernelNode(&node, graph, after ? &after : NULL, after ? 1 : 0, &kernel));
    return node;
}

CASE(graph_conditional, setting_kernel_loads)
{
    CUmodule module;
    say(cuModuleLoadData(&module, setting_ptx));
}

CASE(graph_conditional, kernel_sets_if)
{
    for (unsigned value = 0; value < 2; value++) {
        CUdeviceptr word = gold_alloc_words(1, 0);
        CUgraph graph = ge_graph(), body;
        CUgraphConditionalHandle handle = handle_of(graph, !value, CU_GRAPH_COND_ASSIGN_DEFAULT);
        CUgraphNode node = conditional(graph, setting_node(graph, NULL, "set", handle, value), handle,
                                       CU_GRAPH_COND_TYPE_IF, 1, &body);
        ge_add(body, NULL, word, 10);
        ge_add(graph, node, word, 1);
        CUgraphExec exec = ge_exec(graph);
        CUstream stream = gold_stream(0);
        ge_run(exec, stream);
        ge_go(exec, stream);
        say_int(gold_word(word));
    }
}

CASE(graph_conditional, kernel_sets_while, .alone = true)
{
    CUdeviceptr words = gold_alloc_words(2, 0);
    CUgraph graph = ge_graph(), body;
    CUgraphConditionalHandle handle = handle_of(graph, 1, CU_GRAPH_COND_ASSIGN_DEFAULT);
    CUgraphNode node = conditional(graph, ge_store(graph, NULL, words, 12), handle, CU_GRAPH_COND_TYPE_WHILE, 1, &body);
    setting_node(body, ge_add(body, NULL, words + 4, 3), "count_down", handle, words);
    ge_add(graph, node, words + 4, 100);
    CUgraphExec exec = ge_exec(graph);
    CUstream stream = gold_stream(0);
    ge_run(exec, stream);
    say_int(gold_word(words));
    say_int(gold_word(words + 4));
    ge_go(exec, stream);
    say_int(gold_word(words + 4));
}

CASE(graph_conditional, kernel_sets_switch)
{
    for (unsigned value = 0; value < 4; value++) {
        CUdeviceptr word = gold_alloc_words(1, 0);
        CUgraph graph = ge_graph(), bodies[3];
        CUgraphConditionalHandle handle = handle_of(graph, 0, 0);
        conditional(graph, setting_node(graph, NULL, "set", handle, value), handle, CU_GRAPH_COND_TYPE_SWITCH, 3,
                    bodies);
        for (unsigned i = 0; i < 3; i++)
            ge_add(bodies[i], NULL, word, 10 + i);
        ge_run(ge_exec(graph), gold_stream(0));
        say_int(gold_word(word));
    }
}

CASE(graph_conditional, value_kept_between_launches)
{
    /* Without the default flag a value that was set stays for the next launch. */
    CUdeviceptr word = gold_alloc_words(1, 0);
    CUgraph graph = ge_graph(), body;
    CUgraphConditionalHandle handle = handle_of(graph, 1, 0);
    CUgraphNode first = setting_node(graph, NULL, "set", handle, 1);
    conditional(graph, first, handle, CU_GRAPH_COND_TYPE_IF, 1, &body);
    ge_add(body, NULL, word, 10);
    CUgraphExec exec = ge_exec(graph);
    CUstream stream = gold_stream(0);
    ge_go(exec, stream);
    say_int(gold_word(word));
    NEED(cuGraphNodeSetEnabled(exec, first, 0));
    ge_run(exec, stream);
    say_int(gold_word(word));
}

CASE(graph_conditional, set_outside_a_graph, .alone = true)
{
    CUgraph graph = ge_graph(), body;
    CUgraphConditionalHandle handle = handle_of(graph, 0, 0);
    conditional(graph, NULL, handle, CU_GRAPH_COND_TYPE_IF, 1, &body);
    CUgraphExec exec = ge_exec(graph);
    CUfunction function;
    unsigned value = 1;
    void *params[] = {&handle, &value};
    (void)exec;
    NEED(cuModuleGetFunction(&function, gold_load(setting_ptx), "set"));
    say(gold_launch(function, 1, NULL, params));
    say(cuCtxSynchronize());
}
