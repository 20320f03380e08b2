/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory that belongs to graphs: allocation and free nodes when they run, who may
 * free what, launching again before the memory is free, and the device's account
 * of it.
 */
#include "gold_exec.h"

static cuuint64_t attribute(CUgraphMem_attribute which)
{
    cuuint64_t value = 99;
    NEED(cuDeviceGetGraphMemAttribute(gold_device(), which, &value));
    return value;
}

CASE(graph_memory, alloc_use_free)
{
    CUdeviceptr memory, word = gold_alloc_words(1, 0);
    CUgraph graph = ge_graph();
    CUstream stream = gold_stream(0);
    CUgraphNode node = ge_alloc(graph, NULL, 4096, &memory);
    say_if("address", memory != 0);
    say_if("aligned", memory % 512 == 0);
    node = ge_store(graph, node, memory + 4092, 77);
    node = ge_move(graph, node, word, memory + 4092);
    ge_free(graph, node, memory);
    CUgraphExec exec = ge_exec(graph);
    ge_run(exec, stream);
    say_int(gold_word(word));
    ge_run(exec, stream);
    ge_run(exec, stream);
    say_int(gold_word(word));
}

CASE(graph_memory, two_at_once_are_apart)
{
    CUdeviceptr one, two, words = gold_alloc_words(2, 0);
    CUgraph graph = ge_graph();
    CUgraphNode node = ge_alloc(graph, ge_alloc(graph, NULL, 1000, &one), 1000, &two);
    say_if("apart", one + 1000 <= two || two + 1000 <= one);
    node = ge_store(graph, ge_store(graph, node, one + 996, 5), two, 6);
    node = ge_move(graph, ge_move(graph, node, words, one + 996), words + 4, two);
    ge_free(graph, ge_free(graph, node, one), two);
    ge_run(ge_exec(graph), gold_stream(0));
    say_int(gold_word(words));
    say_int(gold_word(words + 4));
}

CASE(graph_memory, not_freed_stays)
{
    CUdeviceptr memory;
    CUgraph graph = ge_graph();
    CUstream stream = gold_stream(0);
    CUgraphNode node = ge_alloc(graph, NULL, 64, &memory);
    ge_store(graph, node, memory, 42);
    CUgraphExec exec = ge_exec(graph);
    ge_run(exec, stream);
    say_int(gold_word(memory));
    gold_add(stream, memory, 1);
    NEED(cuStreamSynchronize(stream));
    say_int(gold_word(memory));
    say(cuMemFree(memory));
}

CASE(graph_memory, relaunch_unfreed)
{
    CUdeviceptr memory;
    CUgraph graph = ge_graph();
    CUstream stream = gold_stream(0);
    ge_alloc(graph, NULL, 64, &memory);
    CUgraphExec exec = ge_exec(graph);
    ge_run(exec, stream);
    ge_run(exec, stream);
    say(cuMemFree(memory));
    ge_run(exec, stream);
    say(cuMemFree(memory));
}

CASE(graph_memory, relaunch_after_async_free)
{
    CUdeviceptr memory;
    CUgraph graph = ge_graph();
    CUstream stream = gold_stream(0);
    CUgraphNode node = ge_alloc(graph, NULL, 64, &memory);
    ge_store(graph, node, memory, 5);
    CUgraphExec exec = ge_exec(graph);
    for (int i = 0; i < 3; i++) {
        say(cuGraphLaunch(exec, stream));
        say(cuMemFreeAsync(memory, stream));
    }
    say(cuStreamSynchronize(stream));
}

CASE(graph_memory, relaunch_auto_free)
{
    CUdeviceptr memory;
    CUgraph graph = ge_graph();
    CUgraphExec exec;
    CUstream stream = gold_stream(0);
    CUgraphNode node = ge_alloc(graph, NULL, 64, &memory);
    ge_store(graph, node, memory, 5);
    NEED(cuGraphInstantiate(&exec, graph, CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH));
    ge_run(exec, stream);
    ge_run(exec, stream);
    say_int(gold_word(memory));
    say(cuMemFree(memory));
    ge_run(exec, stream);
    say(cuGraphExecDestroy(exec));
}

CASE(graph_memory, freed_twice, .alone = true)
{
    CUdeviceptr memory;
    CUgraph graph = ge_graph();
    ge_alloc(graph, NULL, 64, &memory);
    ge_run(ge_exec(graph), gold_stream(0));
    say(cuMemFree(memory));
    say(cuMemFree(memory));
}

CASE(graph_memory, free_before_launch, .alone = true)
{
    CUdeviceptr memory;
    CUgraph graph = ge_graph();
    ge_alloc(graph, NULL, 64, &memory);
    say(cuMemFree(memory));
    ge_exec(graph);
    say(cuMemFree(memory));
}

CASE(graph_memory, async_free_before_launch, .alone = true)
{
    CUdeviceptr memory;
    CUgraph graph = ge_graph();
    CUstream stream = gold_stream(0);
    ge_alloc(graph, NULL, 64, &memory);
    say(cuMemFreeAsync(memory, stream));
    say(cuStreamSynchronize(stream));
}

CASE(graph_memory, freed_by_another_graph)
{
    CUdeviceptr memory, word = gold_alloc_words(1, 0);
    CUgraph graph = ge_graph(), other = ge_graph();
    CUstream stream = gold_stream(0);
    CUgraphNode node = ge_alloc(graph, NULL, 64, &memory);
    ge_store(graph, node, memory, 9);
    ge_free(other, ge_move(other, NULL, word, memory), memory);
    CUgraphExec one = ge_exec(graph), two = ge_exec(other);
    for (int i = 0; i < 2; i++) {
        ge_run(one, stream);
        ge_run(two, stream);
    }
    say_int(gold_word(word));
}

CASE(graph_memory, freed_by_another_graph_twice, .alone = true)
{
    CUdeviceptr memory;
    CUgraph graph = ge_graph(), other = ge_graph();
    CUstream stream = gold_stream(0);
    ge_alloc(graph, NULL, 64, &memory);
    ge_free(other, NULL, memory);
    CUgraphExec one = ge_exec(graph), two = ge_exec(other);
    ge_run(one, stream);
    ge_run(two, stream);
    ge_run(two, stream);
}

CASE(graph_memory, free_graph_launched_first, .alone = true)
{
    CUdeviceptr memory;
    CUgraph graph = ge_graph(), other = ge_graph();
    ge_alloc(graph, NULL, 64, &memory);
    ge_free(other, NULL, memory);
    ge_run(ge_exec(other), gold_stream(0));
}

CASE(graph_memory, instantiated_twice)
{
    CUdeviceptr memory;
    CUgraph graph = ge_graph();
    CUgraphExec one = NULL, two = NULL;
    CUgraphNode node = ge_alloc(graph, NULL, 64, &memory);
    ge_free(graph, node, memory);
    say(cuGraphInstantiate(&one, graph, 0));
    say(cuGraphInstantiate(&two, graph, 0));
    say(cuGraphExecDestroy(one));
    say(cuGraphInstantiate(&two, graph, 0));
}

CASE(graph_memory, instantiated_twice_unfreed)
{
    CUdeviceptr memory;
    CUgraph graph = ge_graph();
    CUgraphExec one = NULL, two = NULL;
    ge_alloc(graph, NULL, 64, &memory);
    say(cuGraphInstantiate(&one, graph, 0));
    ge_run(one, gold_stream(0));
    say(cuGraphExecDestroy(one));
    say(cuGraphInstantiate(&two, graph, 0));
    if (two)
        ge_run(two, gold_stream(0));
    say(cuMemFree(memory));
}

CASE(graph_memory, with_params_error)
{
    CUDA_GRAPH_INSTANTIATE_PARAMS params;
    CUdeviceptr memory;
    CUgraph graph = ge_graph();
    CUgraphExec exec = NULL;
    CUgraphNode node = ge_alloc(graph, NULL, 64, &memory);
    (void)ge_exec(graph);
    memset(&params, 0, sizeof params);
    say(cuGraphInstantiateWithParams(&exec, graph, &params));
    say_int(params.result_out);
    say_if("node", params.hErrNode_out == node);
    say_if("null", params.hErrNode_out == NULL);
}

CASE(graph_memory, exec_destroyed_unfreed)
{
    CUdeviceptr memory;
    CUgraph graph = ge_graph();
    CUgraphNode node = ge_alloc(graph, NULL, 64, &memory);
    ge_store(graph, node, memory, 42);
    CUgraphExec exec = ge_exec(graph);
    ge_go(exec, gold_stream(0));
    say(cuGraphExecDestroy(exec));
    say(cuGraphDestroy(graph));
    say_int(gold_word(memory));
    say(cuMemFree(memory));
}

CASE(graph_memory, clone)
{
    CUdeviceptr memory;
    CUgraph graph = ge_graph(), clone = NULL;
    CUgraphNode node = ge_alloc(graph, NULL, 64, &memory);
    ge_free(graph, node, memory);
    say(cuGraphClone(&clone, graph));
}

CASE(graph_memory, as_child)
{
    CUdeviceptr memory;
    CUgraph graph = ge_graph(), outer = ge_graph();
    CUgraphNode outer_node;
    CUgraphNode node = ge_alloc(graph, NULL, 64, &memory);
    ge_free(graph, node, memory);
    say(cuGraphAddChildGraphNode(&outer_node, outer, NULL, 0, graph));
}

CASE(graph_memory, pointer_attributes)
{
    CUdeviceptr memory, start = 0;
    size_t size = 0;
    unsigned type = 99;
    CUgraph graph = ge_graph();
    ge_alloc(graph, NULL, 100000, &memory);
    say(cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, memory));
    say_int(type);
    say(cuMemGetAddressRange(&start, &size, memory));
    CUgraphExec exec = ge_exec(graph);
    ge_go(exec, gold_stream(0));
    type = 99;
    say(cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, memory));
    say_int(type);
    say(cuMemGetAddressRange(&start, &size, memory + 8));
    say_if("start", start == memory);
    say_int((long long)size);
    NEED(cuMemFree(memory));
    type = 99;
    say(cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, memory));
    say_int(type);
}

CASE(graph_memory, attributes_fresh, .alone = true)
{
    for (int i = 0; i < 4; i++)
        say_int((long long)attribute((CUgraphMem_attribute)i));
}

CASE(graph_memory, attributes_arguments)
{
    cuuint64_t value = 0;
    say(cuDeviceGetGraphMemAttribute(gold_device(), (CUgraphMem_attribute)9, &value));
    say(cuDeviceGetGraphMemAttribute(gold_device(), CU_GRAPH_MEM_ATTR_USED_MEM_CURRENT, NULL));
    say(cuDeviceGetGraphMemAttribute(-1, CU_GRAPH_MEM_ATTR_USED_MEM_CURRENT, &value));
    say(cuDeviceGetGraphMemAttribute(99, CU_GRAPH_MEM_ATTR_USED_MEM_CURRENT, &value));
    say(cuDeviceGraphMemTrim(-1));
    say(cuDeviceGraphMemTrim(99));
}

CASE(graph_memory, attributes_set)
{
    for (int i = 0; i < 4; i++) {
        cuuint64_t value = 0;
        say(cuDeviceSetGraphMemAttribute(gold_device(), (CUgraphMem_attribute)i, &value));
        value = 4096;
        say(cuDeviceSetGraphMemAttribute(gold_device(), (CUgraphMem_attribute)i, &value));
    }
    say(cuDeviceSetGraphMemAttribute(gold_device(), CU_GRAPH_MEM_ATTR_USED_MEM_HIGH, NULL));
}

static void say_account(void)
{
    static const CUgraphMem_attribute all[] = {CU_GRAPH_MEM_ATTR_USED_MEM_CURRENT, CU_GRAPH_MEM_ATTR_USED_MEM_HIGH,
                                               CU_GRAPH_MEM_ATTR_RESERVED_MEM_CURRENT,
                                               CU_GRAPH_MEM_ATTR_RESERVED_MEM_HIGH};
    for (int i = 0; i < 4; i++)
        say_int((long long)attribute(all[i]));
    say_text("/");
}

CASE(graph_memory, account_of_a_life, .alone = true)
{
    /* Used and reserved, now and at most: after each step. */
    CUdeviceptr memory;
    cuuint64_t zero = 0;
    CUgraph graph = ge_graph();
    CUstream stream = gold_stream(0);
    CUgraphNode node = ge_alloc(graph, NULL, 3 << 20, &memory);
    ge_free(graph, node, memory);
    say_account();
    CUgraphExec exec = ge_exec(graph);
    say_account();
    ge_go(exec, stream);
    say_account();
    ge_go(exec, stream);
    say_account();
    NEED(cuDeviceGraphMemTrim(gold_device()));
    say_account();
    NEED(cuDeviceSetGraphMemAttribute(gold_device(), CU_GRAPH_MEM_ATTR_USED_MEM_HIGH, &zero));
    NEED(cuDeviceSetGraphMemAttribute(gold_device(), CU_GRAPH_MEM_ATTR_RESERVED_MEM_HIGH, &zero));
    say_account();
    NEED(cuGraphExecDestroy(exec));
    say_account();
    NEED(cuDeviceGraphMemTrim(gold_device()));
    say_account();
    NEED(cuGraphDestroy(graph));
    NEED(cuDeviceGraphMemTrim(gold_device()));
    say_account();
}

CASE(graph_memory, account_unfreed, .alone = true)
{
    CUdeviceptr memory;
    CUgraph graph = ge_graph();
    CUstream stream = gold_stream(0);
    ge_alloc(graph, NULL, 1 << 20, &memory);
    CUgraphExec exec = ge_exec(graph);
    say_account();
    ge_go(exec, stream);
    say_account();
    NEED(cuDeviceGraphMemTrim(gold_device()));
    say_account();
    NEED(cuMemFree(memory));
    say_account();
    NEED(cuDeviceGraphMemTrim(gold_device()));
    say_account();
    NEED(cuGraphExecDestroy(exec));
    NEED(cuDeviceGraphMemTrim(gold_device()));
    say_account();
}

CASE(graph_memory, account_small, .alone = true)
{
    CUdeviceptr memory;
    CUgraph graph = ge_graph();
    ge_alloc(graph, NULL, 100, &memory);
    ge_go(ge_exec(graph), gold_stream(0));
    say_account();
}

CASE(graph_memory, account_two_in_turn, .alone = true)
{
    /* The second allocation comes after the first was freed. */
    CUdeviceptr one, two;
    CUgraph graph = ge_graph();
    CUgraphNode made_one = ge_alloc(graph, NULL, 1 << 20, &one);
    CUgraphNode node = ge_free(graph, made_one, one);
    CUgraphNode made_two = ge_alloc(graph, node, 1 << 20, &two);
    ge_free(graph, made_two, two);
    say_if("same", one == two);
    ge_go(ge_exec(graph), gold_stream(0));
    say_account();
}

CASE(graph_memory, upload_reserves, .alone = true)
{
    CUdeviceptr memory;
    CUgraph graph = ge_graph();
    CUstream stream = gold_stream(0);
    CUgraphNode node = ge_alloc(graph, NULL, 1 << 20, &memory);
    ge_free(graph, node, memory);
    CUgraphExec exec = ge_exec(graph);
    NEED(cuGraphUpload(exec, stream));
    NEED(cuStreamSynchronize(stream));
    say_account();
    NEED(cuGraphExecDestroy(exec));
    say_account();
}

CASE(graph_memory, too_much)
{
    CUDA_MEM_ALLOC_NODE_PARAMS params = ge_alloc_params((size_t)1 << 46);
    CUgraph graph = ge_graph();
    CUgraphNode node;
    CUgraphExec exec = NULL;
    CUresult status = cuGraphAddMemAllocNode(&node, graph, NULL, 0, &params);
    say(status);
    if (status != CUDA_SUCCESS)
        return;
    status = cuGraphInstantiate(&exec, graph, 0);
    say(status);
    if (status == CUDA_SUCCESS)
        ge_run(exec, gold_stream(0));
}

CASE(graph_memory, enabled)
{
    unsigned enabled = 99;
    CUdeviceptr memory;
    CUgraph graph = ge_graph();
    CUgraphNode alloc = ge_alloc(graph, NULL, 64, &memory), free = ge_free(graph, alloc, memory);
    CUgraphExec exec = ge_exec(graph);
    say(cuGraphNodeGetEnabled(exec, alloc, &enabled));
    say(cuGraphNodeSetEnabled(exec, alloc, 0));
    say(cuGraphNodeSetEnabled(exec, free, 0));
}

CASE(graph_memory, set_params_refused)
{
    CUdeviceptr memory;
    CUgraph graph = ge_graph();
    CUgraphNodeParams params;
    CUgraphNode alloc = ge_alloc(graph, NULL, 64, &memory), free = ge_free(graph, alloc, memory);
    CUgraphExec exec = ge_exec(graph);
    memset(&params, 0, sizeof params);
    params.type = CU_GRAPH_NODE_TYPE_MEM_ALLOC;
    params.alloc.poolProps.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
    params.alloc.poolProps.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    params.alloc.bytesize = 64;
    say(cuGraphExecNodeSetParams(exec, alloc, &params));
    memset(&params, 0, sizeof params);
    params.type = CU_GRAPH_NODE_TYPE_MEM_FREE;
    params.free.dptr = memory;
    say(cuGraphExecNodeSetParams(exec, free, &params));
}

CASE(graph_memory, kernels_set_params_with_memory_nodes)
{
    CUdeviceptr memory, word = gold_alloc_words(1, 0);
    CUgraph graph = ge_graph();
    CUstream stream = gold_stream(0);
    struct ge_kernel kernel;
    CUgraphNode alloc = ge_alloc(graph, NULL, 64, &memory), store = ge_store(graph, alloc, memory, 3);
    ge_free(graph, ge_move(graph, store, word, memory), memory);
    CUgraphExec exec = ge_exec(graph);
    say(cuGraphExecKernelNodeSetParams(exec, store, ge_params(&kernel, "store", memory, 8)));
    ge_run(exec, stream);
    say_int(gold_word(word));
}

CASE(graph_memory, launches_back_to_back)
{
    CUdeviceptr memory, word = gold_alloc_words(1, 0);
    CUgraph graph = ge_graph();
    CUstream stream = gold_stream(0);
    CUgraphNode alloc = ge_alloc(graph, NULL, 64, &memory), store = ge_store(graph, alloc, memory, 3);
    ge_free(graph, ge_move(graph, store, word, memory), memory);
    CUgraphExec exec = ge_exec(graph);
    for (int i = 0; i < 50; i++)
        NEED(cuGraphLaunch(exec, stream));
    say(cuStreamSynchronize(stream));
    say_int(gold_word(word));
}

CASE(graph_memory, unfreed_launched_in_other_stream)
{
    CUdeviceptr memory;
    CUgraph graph = ge_graph();
    CUstream one = gold_stream(CU_STREAM_NON_BLOCKING), two = gold_stream(CU_STREAM_NON_BLOCKING);
    ge_alloc(graph, NULL, 64, &memory);
    CUgraphExec exec = ge_exec(graph);
    struct gold_gate gate = gold_gate_close(one);
    say(cuGraphLaunch(exec, one));
    say(cuGraphLaunch(exec, two));
    gold_gate_open(gate);
    NEED(cuStreamSynchronize(one));
    say(cuMemFree(memory));
}
