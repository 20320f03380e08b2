/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Updating a whole executable graph from another graph: which differences are
 * taken over, which are refused, with what result and which node is named.
 */
#include "gold_exec.h"

typedef CUresult (*update_old)(CUgraphExec, CUgraph, CUgraphNode *, CUgraphExecUpdateResult *);

/* Updates and says status and result; says which of the nodes the error names. */
static void update(CUgraphExec exec, CUgraph graph, const CUgraphNode *nodes, size_t count)
{
    CUgraphExecUpdateResultInfo info;
    memset(&info, 0x55, sizeof info);
    say(cuGraphExecUpdate(exec, graph, &info));
    say_value("result", info.result);
    const char *names[] = {"node", "from"};
    CUgraphNode found[] = {info.errorNode, info.errorFromNode};
    for (int i = 0; i < 2; i++) {
        if (!found[i])
            continue;
        size_t at = 0;
        while (at < count && nodes[at] != found[i])
            at++;
        if (at < count)
            say_value(names[i], (long long)at);
        else
            say_if(names[i], false);
    }
}

/* store 1, then add `value` */
static CUgraph pair(CUdeviceptr word, unsigned value, CUgraphNode nodes[2])
{
    CUgraph graph = ge_graph();
    nodes[0] = ge_store(graph, NULL, word, 1);
    nodes[1] = ge_add(graph, nodes[0], word, value);
    return graph;
}

CASE(graph_update, same)
{
    CUgraphNode nodes[2];
    CUdeviceptr word = gold_alloc_words(1, 0);
    CUgraph graph = pair(word, 10, nodes);
    CUgraphExec exec = ge_exec(graph);
    update(exec, graph, nodes, 2);
    ge_run(exec, gold_stream(0));
    say_int(gold_word(word));
}

CASE(graph_update, kernel_parameters)
{
    CUgraphNode nodes[2];
    CUdeviceptr word = gold_alloc_words(1, 0);
    CUgraphExec exec = ge_exec(pair(word, 10, nodes));
    update(exec, pair(word, 20, nodes), nodes, 2);
    ge_run(exec, gold_stream(0));
    say_int(gold_word(word));
}

CASE(graph_update, of_the_own_graph_changed)
{
    CUgraphNode nodes[2];
    struct ge_kernel kernel;
    CUdeviceptr word = gold_alloc_words(1, 0);
    CUgraph graph = pair(word, 10, nodes);
    CUgraphExec exec = ge_exec(graph);
    NEED(cuGraphKernelNodeSetParams(nodes[1], ge_params(&kernel, "add", word, 30)));
    update(exec, graph, nodes, 2);
    ge_run(exec, gold_stream(0));
    say_int(gold_word(word));
}

CASE(graph_update, of_a_clone)
{
    CUgraphNode nodes[2], twin;
    CUgraph clone;
    struct ge_kernel kernel;
    CUdeviceptr word = gold_alloc_words(1, 0);
    CUgraph graph = pair(word, 10, nodes);
    CUgraphExec exec = ge_exec(graph);
    NEED(cuGraphClone(&clone, graph));
    NEED(cuGraphNodeFindInClone(&twin, nodes[1], clone));
    NEED(cuGraphKernelNodeSetParams(twin, ge_params(&kernel, "add", word, 30)));
    update(exec, clone, nodes, 2);
    ge_go(exec, gold_stream(0));
    say_int(gold_word(word));
    /* Afterwards nodes of the clone, or of the graph it was made of? */
    say(cuGraphExecKernelNodeSetParams(exec, nodes[1], ge_params(&kernel, "add", word, 40)));
    say(cuGraphExecKernelNodeSetParams(exec, twin, ge_params(&kernel, "add", word, 50)));
    ge_go(exec, gold_stream(0));
    say_int(gold_word(word));
}

CASE(graph_update, node_named_afterwards)
{
    CUgraphNode nodes[2], others[2];
    struct ge_kernel kernel;
    CUdeviceptr word = gold_alloc_words(1, 0);
    CUgraphExec exec = ge_exec(pair(word, 10, nodes));
    CUgraph other = pair(word, 20, others);
    update(exec, other, others, 2);
    say(cuGraphExecKernelNodeSetParams(exec, others[1], ge_params(&kernel, "add", word, 50)));
    ge_go(exec, gold_stream(0));
    say_int(gold_word(word));
    say(cuGraphExecKernelNodeSetParams(exec, nodes[1], ge_params(&kernel, "add", word, 40)));
    ge_go(exec, gold_stream(0));
    say_int(gold_word(word));
}

CASE(graph_update, kernel_function)
{
    CUgraphNode nodes[2];
    CUdeviceptr word = gold_alloc_words(1, 0);
    CUgraphExec exec = ge_exec(pair(word, 10, nodes));
    CUgraph other = ge_graph();
    nodes[0] = ge_store(other, NULL, word, 1);
    nodes[1] = ge_store(other, nodes[0], word, 70);
    update(exec, other, nodes, 2);
    ge_run(exec, gold_stream(0));
    say_int(gold_word(word));
}

CASE(graph_update, kernel_other_signature)
{
    CUgraphNode nodes[2];
    CUdeviceptr words = gold_alloc_words(2, 6);
    CUgraphExec exec = ge_exec(pair(words, 10, nodes));
    CUgraph other = ge_graph();
    nodes[0] = ge_store(other, NULL, words, 1);
    nodes[1] = ge_move(other, nodes[0], words, words + 4);
    update(exec, other, nodes, 2);
    ge_run(exec, gold_stream(0));
    say_int(gold_word(words));
}

CASE(graph_update, node_added)
{
    CUgraphNode nodes[3];
    CUdeviceptr word = gold_alloc_words(1, 0);
    CUgraphExec exec = ge_exec(pair(word, 10, nodes));
    CUgraph other = pair(word, 20, nodes);
    nodes[2] = ge_add(other, nodes[1], word, 100);
    update(exec, other, nodes, 3);
    ge_go(exec, gold_stream(0));
    say_int(gold_word(word));
}

CASE(graph_update, root_added)
{
    CUgraphNode nodes[3];
    CUdeviceptr words = gold_alloc_words(2, 0);
    CUgraphExec exec = ge_exec(pair(words, 10, nodes));
    CUgraph other = pair(words, 20, nodes);
    nodes[2] = ge_store(other, NULL, words + 4, 100);
    update(exec, other, nodes, 3);
}

CASE(graph_update, node_removed)
{
    CUgraphNode nodes[3];
    CUdeviceptr word = gold_alloc_words(1, 0);
    CUgraph graph = pair(word, 10, nodes);
    CUgraphExec exec = ge_exec(graph);
    NEED(cuGraphDestroyNode(nodes[1]));
    update(exec, graph, nodes, 2);
    ge_go(exec, gold_stream(0));
    say_int(gold_word(word));
}

CASE(graph_update, all_removed)
{
    CUgraphNode nodes[2];
    CUdeviceptr word = gold_alloc_words(1, 0);
    CUgraphExec exec = ge_exec(pair(word, 10, nodes));
    update(exec, ge_graph(), nodes, 0);
}

CASE(graph_update, empty_to_empty)
{
    CUgraphExec exec = ge_exec(ge_graph());
    update(exec, ge_graph(), NULL, 0);
    ge_run(exec, gold_stream(0));
}

CASE(graph_update, empty_to_one)
{
    CUgraph other = ge_graph();
    CUgraphNode node = ge_empty(other, NULL);
    update(ge_exec(ge_graph()), other, &node, 1);
}

CASE(graph_update, edge_removed)
{
    CUgraphNode nodes[2];
    CUdeviceptr word = gold_alloc_words(1, 0);
    CUgraphExec exec = ge_exec(pair(word, 10, nodes));
    CUgraph other = ge_graph();
    nodes[0] = ge_store(other, NULL, word, 1);
    nodes[1] = ge_add(other, NULL, word, 20);
    update(exec, other, nodes, 2);
}

CASE(graph_update, edge_added)
{
    CUgraphNode nodes[2];
    CUdeviceptr word = gold_alloc_words(1, 0);
    CUgraph other = ge_graph();
    nodes[0] = ge_store(other, NULL, word, 1);
    nodes[1] = ge_add(other, NULL, word, 20);
    CUgraphExec exec = ge_exec(other);
    update(exec, pair(word, 10, nodes), nodes, 2);
}

CASE(graph_update, edge_turned)
{
    CUgraphNode nodes[2];
    CUdeviceptr word = gold_alloc_words(1, 0);
    CUgraphExec exec = ge_exec(pair(word, 10, nodes));
    CUgraph other = ge_graph();
    nodes[0] = ge_store(other, NULL, word, 1);
    nodes[1] = ge_add(other, NULL, word, 20);
    NEED(cuGraphAddDependencies(other, &nodes[1], &nodes[0], NULL, 1));
    update(exec, other, nodes, 2);
}

CASE(graph_update, edge_moved)
{
    CUgraphNode nodes[4];
    CUdeviceptr word = gold_alloc_words(1, 0);
    CUgraph graph = ge_graph(), other = ge_graph();
    for (int i = 0; i < 4; i++)
        nodes[i] = ge_store(graph, i == 3 ? nodes[2] : i == 2 ? nodes[0] : NULL, word, 1);
    CUgraphExec exec = ge_exec(graph);
    for (int i = 0; i < 4; i++)
        nodes[i] = ge_store(other, i == 3 ? nodes[1] : i == 2 ? nodes[0] : NULL, word, 1);
    update(exec, other, nodes, 4);
}

CASE(graph_update, made_in_another_order)
{
    /* The same picture, but the nodes were added the other way round. */
    CUgraphNode nodes[3];
    CUdeviceptr words = gold_alloc_words(3, 0);
    CUgraph graph = ge_graph(), other = ge_graph();
    nodes[0] = ge_store(graph, NULL, words, 1);
    nodes[1] = ge_fill(graph, NULL, words + 4, 2, 1);
    nodes[2] = ge_empty(graph, nodes[1]);
    CUgraphExec exec = ge_exec(graph);
    nodes[1] = ge_fill(other, NULL, words + 4, 2, 1);
    nodes[2] = ge_empty(other, nodes[1]);
    nodes[0] = ge_store(other, NULL, words, 1);
    update(exec, other, nodes, 3);
}

CASE(graph_update, same_types_in_another_order)
{
    CUgraphNode nodes[3];
    CUdeviceptr words = gold_alloc_words(4, 0);
    CUgraph graph = ge_graph(), other = ge_graph();
    CUstream stream = gold_stream(0);
    nodes[0] = ge_store(graph, NULL, words, 1);
    nodes[1] = ge_store(graph, NULL, words + 4, 2);
    nodes[2] = ge_add(graph, nodes[1], words + 4, 10);
    CUgraphExec exec = ge_exec(graph);
    nodes[1] = ge_store(other, NULL, words + 4, 20);
    nodes[2] = ge_add(other, nodes[1], words + 4, 100);
    nodes[0] = ge_store(other, NULL, words, 30);
    update(exec, other, nodes, 3);
    ge_go(exec, stream);
    say_int(gold_word(words));
    say_int(gold_word(words + 4));
}

CASE(graph_update, dependencies_in_another_order)
{
    CUgraphNode nodes[3];
    CUdeviceptr words = gold_alloc_words(4, 0);
    CUgraph graph = ge_graph(), other = ge_graph();
    for (int turn = 0; turn < 2; turn++) {
        CUgraph now = turn ? other : graph;
        nodes[0] = ge_store(now, NULL, words, 1);
        nodes[1] = ge_fill(now, NULL, words + 4, 2, 1);
        nodes[2] = ge_empty(now, nodes[turn]);
        NEED(cuGraphAddDependencies(now, &nodes[!turn], &nodes[2], NULL, 1));
    }
    update(ge_exec(graph), other, nodes, 3);
}

CASE(graph_update, node_type)
{
    CUgraphNode nodes[2];
    CUdeviceptr word = gold_alloc_words(1, 0);
    CUgraphExec exec = ge_exec(pair(word, 10, nodes));
    CUgraph other = ge_graph();
    nodes[0] = ge_store(other, NULL, word, 1);
    nodes[1] = ge_fill(other, nodes[0], word, 20, 1);
    update(exec, other, nodes, 2);
    ge_go(exec, gold_stream(0));
    say_int(gold_word(word));
}

CASE(graph_update, partly_done)
{
    /* The first node could be updated, the second can't. */
    CUgraphNode nodes[2];
    CUdeviceptr words = gold_alloc_words(2, 0);
    CUgraph graph = ge_graph(), other = ge_graph();
    nodes[0] = ge_store(graph, NULL, words, 1);
    nodes[1] = ge_store(graph, nodes[0], words + 4, 1);
    CUgraphExec exec = ge_exec(graph);
    nodes[0] = ge_store(other, NULL, words, 2);
    nodes[1] = ge_empty(other, nodes[0]);
    update(exec, other, nodes, 2);
    CUresult status = cuGraphLaunch(exec, NULL);
    say(status);
    NEED(cuCtxSynchronize());
    say_int(gold_word(words + 4));
}

CASE(graph_update, fill_parameters)
{
    CUgraphNode node;
    CUdeviceptr words = gold_alloc_words(16, 0);
    CUgraph graph = ge_graph(), other = ge_graph();
    ge_fill(graph, NULL, words, 1, 4);
    CUgraphExec exec = ge_exec(graph);
    node = ge_fill(other, NULL, words + 16, 2, 4);
    update(exec, other, &node, 1);
    ge_go(exec, gold_stream(0));
    say_int(gold_word(words + 16));
}

CASE(graph_update, fill_extent)
{
    CUgraphNode node;
    CUdeviceptr words = gold_alloc_words(16, 0);
    CUgraph graph = ge_graph(), other = ge_graph();
    ge_fill(graph, NULL, words, 1, 4);
    CUgraphExec exec = ge_exec(graph);
    node = ge_fill(other, NULL, words, 2, 8);
    update(exec, other, &node, 1);
}

CASE(graph_update, fill_element_size)
{
    CUgraphNode node;
    CUdeviceptr words = gold_alloc_words(16, 0);
    CUgraph graph = ge_graph(), other = ge_graph();
    ge_fill(graph, NULL, words, 1, 4);
    CUgraphExec exec = ge_exec(graph);
    CUDA_MEMSET_NODE_PARAMS params = ge_fill_params(words, 2, 1, 16, 1, 0);
    NEED(cuGraphAddMemsetNode(&node, other, NULL, 0, &params, gold_context()));
    update(exec, other, &node, 1);
}

CASE(graph_update, fill_one_to_two_dimensions)
{
    CUgraphNode node;
    CUdeviceptr words = gold_alloc_words(64, 0);
    CUgraph graph = ge_graph(), other = ge_graph();
    ge_fill(graph, NULL, words, 1, 4);
    CUgraphExec exec = ge_exec(graph);
    CUDA_MEMSET_NODE_PARAMS params = ge_fill_params(words, 2, 4, 4, 2, 32);
    NEED(cuGraphAddMemsetNode(&node, other, NULL, 0, &params, gold_context()));
    update(exec, other, &node, 1);
    CUgraphExec second = ge_exec(other);
    ge_fill(graph, NULL, words, 1, 4);
    CUgraph third = ge_graph();
    params = ge_fill_params(words, 2, 4, 4, 3, 32);
    NEED(cuGraphAddMemsetNode(&node, third, NULL, 0, &params, gold_context()));
    update(second, third, &node, 1);
}

static void update_copy(const CUDA_MEMCPY3D *from, const CUDA_MEMCPY3D *to)
{
    CUgraph graph = ge_graph(), other = ge_graph();
    ge_copy(graph, NULL, from);
    CUgraphExec exec = ge_exec(graph);
    CUgraphNode node = ge_copy(other, NULL, to);
    update(exec, other, &node, 1);
}

CASE(graph_update, copy_addresses)
{
    CUdeviceptr words = gold_alloc_words(16, 0);
    CUDA_MEMCPY3D one = ge_copy_params('d', words, 'd', words + 4, 4),
                  two = ge_copy_params('d', words + 8, 'd', words + 12, 4);
    update_copy(&one, &two);
}

CASE(graph_update, copy_size)
{
    CUdeviceptr words = gold_alloc_words(16, 0);
    CUDA_MEMCPY3D one = ge_copy_params('d', words, 'd', words + 32, 4),
                  two = ge_copy_params('d', words, 'd', words + 32, 16);
    update_copy(&one, &two);
}

CASE(graph_update, copy_kind)
{
    static unsigned host[4];
    CUdeviceptr words = gold_alloc_words(16, 0), address = (CUdeviceptr)(uintptr_t)host;
    CUDA_MEMCPY3D both = ge_copy_params('d', words, 'd', words + 32, 4),
                  from = ge_copy_params('d', words, 'h', address, 4);
    CUDA_MEMCPY3D to = ge_copy_params('h', address, 'd', words, 4),
                  unified = ge_copy_params('u', words, 'u', words + 32, 4);
    update_copy(&both, &from);
    update_copy(&from, &to);
    update_copy(&both, &unified);
    update_copy(&unified, &both);
}

CASE(graph_update, copy_dimensions)
{
    CUdeviceptr words = gold_alloc_words(256, 0);
    CUDA_MEMCPY3D one = ge_copy_params('d', words, 'd', words + 512, 16), two = one, three = one;
    two.Height = 2;
    two.srcPitch = two.dstPitch = 32;
    three = two;
    three.Height = 3;
    update_copy(&one, &two);
    update_copy(&two, &three);
    update_copy(&two, &one);
}

static void CUDA_CB host_add(void *data)
{
    *(volatile int *)data += 1;
}

static void CUDA_CB host_ten(void *data)
{
    *(volatile int *)data += 10;
}

CASE(graph_update, host_function)
{
    static volatile int value;
    CUgraph graph = ge_graph(), other = ge_graph();
    value = 0;
    ge_host(graph, NULL, host_add, (void *)(uintptr_t)&value);
    CUgraphExec exec = ge_exec(graph);
    CUgraphNode node = ge_host(other, NULL, host_ten, (void *)(uintptr_t)&value);
    update(exec, other, &node, 1);
    ge_go(exec, gold_stream(0));
    say_int(value);
}

CASE(graph_update, events)
{
    CUevent one = gold_event(0), two = gold_event(0);
    CUgraphNode nodes[2];
    CUgraph graph = ge_graph(), other = ge_graph();
    ge_wait(graph, ge_record(graph, NULL, one), one);
    CUgraphExec exec = ge_exec(graph);
    nodes[0] = ge_record(other, NULL, two);
    nodes[1] = ge_wait(other, nodes[0], two);
    update(exec, other, nodes, 2);
    ge_go(exec, gold_stream(0));
    float time;
    say(cuEventElapsedTime(&time, one, one));
    say(cuEventElapsedTime(&time, two, two));
}

CASE(graph_update, child_parameters)
{
    CUgraphNode nodes[2], node;
    CUdeviceptr word = gold_alloc_words(1, 0);
    CUgraph graph = ge_graph(), other = ge_graph();
    ge_child(graph, NULL, pair(word, 10, nodes));
    CUgraphExec exec = ge_exec(graph);
    node = ge_child(other, NULL, pair(word, 20, nodes));
    update(exec, other, &node, 1);
    ge_go(exec, gold_stream(0));
    say_int(gold_word(word));
}

CASE(graph_update, child_topology)
{
    CUgraphNode nodes[3], inner[3];
    size_t count = 3;
    CUdeviceptr word = gold_alloc_words(1, 0);
    CUgraph graph = ge_graph(), other = ge_graph(), child, owned;
    ge_child(graph, NULL, pair(word, 10, nodes));
    CUgraphExec exec = ge_exec(graph);
    child = pair(word, 20, nodes);
    ge_add(child, nodes[1], word, 30);
    CUgraphNode node = ge_child(other, NULL, child);
    NEED(cuGraphChildGraphNodeGetGraph(node, &owned));
    NEED(cuGraphGetNodes(owned, inner, &count));
    CUgraphNode all[4] = {node, inner[0], inner[1], inner[2]};
    update(exec, other, all, 4);
}

CASE(graph_update, child_node_type)
{
    CUgraphNode nodes[2], inner[2];
    size_t count = 2;
    CUdeviceptr word = gold_alloc_words(1, 0);
    CUgraph graph = ge_graph(), other = ge_graph(), child = ge_graph(), owned;
    ge_child(graph, NULL, pair(word, 10, nodes));
    CUgraphExec exec = ge_exec(graph);
    ge_empty(child, ge_store(child, NULL, word, 3));
    CUgraphNode node = ge_child(other, NULL, child);
    NEED(cuGraphChildGraphNodeGetGraph(node, &owned));
    NEED(cuGraphGetNodes(owned, inner, &count));
    CUgraphNode all[3] = {node, inner[0], inner[1]};
    update(exec, other, all, 3);
}

CASE(graph_update, disabled_stays)
{
    CUgraphNode nodes[2], others[2];
    CUdeviceptr word = gold_alloc_words(1, 0);
    CUgraphExec exec = ge_exec(pair(word, 10, nodes));
    unsigned enabled = 99;
    NEED(cuGraphNodeSetEnabled(exec, nodes[1], 0));
    update(exec, pair(word, 20, others), others, 2);
    say(cuGraphNodeGetEnabled(exec, nodes[1], &enabled));
    say_int(enabled);
    say(cuGraphNodeGetEnabled(exec, others[1], &enabled));
    say_int(enabled);
    ge_go(exec, gold_stream(0));
    say_int(gold_word(word));
}

CASE(graph_update, arguments)
{
    CUgraphExecUpdateResultInfo info;
    CUgraph graph = ge_graph();
    CUgraphExec exec = ge_exec(graph);
    memset(&info, 0x55, sizeof info);
    say(cuGraphExecUpdate(NULL, graph, &info));
    say_if("untouched", (unsigned)info.result == 0x55555555u);
    say(cuGraphExecUpdate(exec, NULL, &info));
    say_if("untouched", (unsigned)info.result == 0x55555555u);
}

CASE(graph_update, no_result_wanted, .alone = true)
{
    CUgraph graph = ge_graph();
    CUgraphExec exec = ge_exec(graph);
    say(cuGraphExecUpdate(exec, graph, NULL));
}

CASE(graph_update, old_form)
{
    CUgraphNode nodes[2], error = GOLD_WILD;
    CUgraphExecUpdateResult result = (CUgraphExecUpdateResult)77;
    CUdriverProcAddressQueryResult found;
    void *function = NULL;
    CUdeviceptr word = gold_alloc_words(1, 0);
    CUgraphExec exec = ge_exec(pair(word, 10, nodes));
    NEED(cuGetProcAddress("cuGraphExecUpdate", &function, 11000, CU_GET_PROC_ADDRESS_DEFAULT, &found));
    update_old old = (update_old)function;
    say(old(exec, pair(word, 20, nodes), &error, &result));
    say_if("null", error == NULL);
    say_int(result);
    CUgraph other = ge_graph();
    nodes[0] = ge_store(other, NULL, word, 1);
    nodes[1] = ge_empty(other, nodes[0]);
    say(old(exec, other, &error, &result));
    say_if("second", error == nodes[1]);
    say_if("null", error == NULL);
    say_int(result);
    say(old(exec, ge_graph(), &error, &result));
    say_if("null", error == NULL);
    say_int(result);
}

CASE(graph_update, queued_launch_keeps)
{
    CUgraphNode nodes[2];
    CUdeviceptr word = gold_alloc_words(1, 0);
    CUgraph one = ge_graph(), two = ge_graph();
    CUstream stream = gold_stream(CU_STREAM_NON_BLOCKING);
    ge_add(one, NULL, word, 1);
    nodes[0] = ge_add(two, NULL, word, 100);
    CUgraphExec exec = ge_exec(one);
    struct gold_gate gate = gold_gate_close(stream);
    NEED(cuGraphLaunch(exec, stream));
    update(exec, two, nodes, 1);
    NEED(cuGraphLaunch(exec, stream));
    NEED(cuGraphLaunch(exec, stream));
    gold_gate_open(gate);
    say(cuStreamSynchronize(stream));
    say_int(gold_word(word));
}

static CUresult node_priority(CUgraphNode node, int priority)
{
    CUlaunchAttributeValue value;
    memset(&value, 0, sizeof value);
    value.priority = priority;
    return cuGraphKernelNodeSetAttribute(node, CU_LAUNCH_ATTRIBUTE_PRIORITY, &value);
}

CASE(graph_update, attribute_priority)
{
    CUgraphNode nodes[2];
    CUdeviceptr word = gold_alloc_words(1, 0);
    CUgraphExec exec = ge_exec(pair(word, 10, nodes));
    CUgraph other = pair(word, 20, nodes);
    NEED(node_priority(nodes[1], -3));
    update(exec, other, nodes, 2);
}

CASE(graph_update, attribute_priority_with_flag)
{
    CUgraphNode nodes[2];
    CUgraphExec exec;
    CUdeviceptr word = gold_alloc_words(1, 0);
    NEED(cuGraphInstantiate(&exec, pair(word, 10, nodes), CUDA_GRAPH_INSTANTIATE_FLAG_USE_NODE_PRIORITY));
    CUgraph other = pair(word, 20, nodes);
    NEED(node_priority(nodes[1], -3));
    update(exec, other, nodes, 2);
}

CASE(graph_update, attribute_cooperative)
{
    CUgraphNode nodes[2];
    CUlaunchAttributeValue value;
    CUdeviceptr word = gold_alloc_words(1, 0);
    CUgraphExec exec = ge_exec(pair(word, 10, nodes));
    CUgraph other = pair(word, 20, nodes);
    memset(&value, 0, sizeof value);
    value.cooperative = 1;
    NEED(cuGraphKernelNodeSetAttribute(nodes[1], CU_LAUNCH_ATTRIBUTE_COOPERATIVE, &value));
    update(exec, other, nodes, 2);
}

CASE(graph_update, kernel_of_other_context, .alone = true)
{
    CUgraphNode node;
    struct ge_kernel kernel;
    CUdeviceptr word = gold_alloc_words(1, 0);
    CUgraph one = ge_graph(), two = ge_graph();
    ge_store(one, NULL, word, 1);
    CUgraphExec exec = ge_exec(one);
    ge_params(&kernel, "store", word, 2);
    (void)gold_context_new();
    NEED(cuModuleGetFunction(&kernel.node.func, gold_load(gold_ptx), "store"));
    NEED(cuGraphAddKernelNode(&node, two, NULL, 0, &kernel.node));
    update(exec, two, &node, 1);
}

CASE(graph_update, batch_memory_operations)
{
    CUdeviceptr words = gold_alloc_words(4, 0);
    CUgraph one = ge_graph(), two = ge_graph();
    CUDA_BATCH_MEM_OP_NODE_PARAMS params;
    CUstreamBatchMemOpParams ops[2];
    CUgraphNode node;
    memset(ops, 0, sizeof ops);
    memset(&params, 0, sizeof params);
    for (int i = 0; i < 2; i++) {
        ops[i].operation = CU_STREAM_MEM_OP_WRITE_VALUE_32;
        ops[i].writeValue.address = words + (CUdeviceptr)i * 4;
        ops[i].writeValue.value = 5 + (cuuint32_t)i;
    }
    params.ctx = gold_context();
    params.count = 1;
    params.paramArray = ops;
    NEED(cuGraphAddBatchMemOpNode(&node, one, NULL, 0, &params));
    CUgraphExec exec = ge_exec(one);
    ops[0].writeValue.value = 9;
    NEED(cuGraphAddBatchMemOpNode(&node, two, NULL, 0, &params));
    update(exec, two, &node, 1);
    ge_go(exec, gold_stream(0));
    say_int(gold_word(words));
    CUgraph three = ge_graph();
    params.count = 2;
    NEED(cuGraphAddBatchMemOpNode(&node, three, NULL, 0, &params));
    update(exec, three, &node, 1);
}

CASE(graph_update, memory_nodes)
{
    CUgraphNode nodes[2];
    CUdeviceptr one, two;
    CUgraph graph = ge_graph(), other = ge_graph();
    CUgraphNode made_one = ge_alloc(graph, NULL, 1024, &one);
    ge_free(graph, made_one, one);
    CUgraphExec exec = ge_exec(graph);
    nodes[0] = ge_alloc(other, NULL, 1024, &two);
    nodes[1] = ge_free(other, nodes[0], two);
    update(exec, other, nodes, 2);
    update(exec, graph, nodes, 2);
}

CASE(graph_update, repeatedly)
{
    CUgraphNode nodes[2];
    CUdeviceptr word = gold_alloc_words(1, 0);
    CUstream stream = gold_stream(0);
    CUgraphExec exec = ge_exec(pair(word, 0, nodes));
    unsigned sum = 0;
    for (unsigned i = 0; i < 50; i++) {
        CUgraphExecUpdateResultInfo info;
        CUgraph other = pair(word, i, nodes);
        NEED(cuGraphExecUpdate(exec, other, &info));
        NEED(cuGraphDestroy(other));
        ge_go(exec, stream);
        sum += gold_word(word);
    }
    say_int(sum);
}

CASE(graph_update, after_failure_usable)
{
    CUgraphNode nodes[2];
    CUdeviceptr word = gold_alloc_words(1, 0);
    CUstream stream = gold_stream(0);
    CUgraphExec exec = ge_exec(pair(word, 10, nodes));
    update(exec, ge_graph(), NULL, 0);
    ge_run(exec, stream);
    say_int(gold_word(word));
    update(exec, pair(word, 20, nodes), nodes, 2);
    ge_run(exec, stream);
    say_int(gold_word(word));
}

CASE(graph_update, wide)
{
    /* A hundred kernels beside each other, and one behind all. */
    CUdeviceptr words = gold_alloc_words(101, 0);
    CUgraphExec exec = NULL;
    CUstream stream = gold_stream(0);
    for (unsigned turn = 0; turn < 2; turn++) {
        CUgraph graph = ge_graph();
        CUgraphNode nodes[100], last = ge_empty(graph, NULL);
        for (unsigned i = 0; i < 100; i++) {
            nodes[i] = ge_store(graph, NULL, words + 4 * i, i * (turn + 1));
            NEED(cuGraphAddDependencies(graph, &nodes[i], &last, NULL, 1));
        }
        if (turn == 0)
            exec = ge_exec(graph);
        else
            update(exec, graph, nodes, 100);
        NEED(cuGraphDestroy(graph));
    }
    ge_go(exec, stream);
    unsigned sum = 0;
    for (unsigned i = 0; i < 100; i++)
        sum += gold_word(words + 4 * i);
    say_int(sum);
}
