/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Priorities: of streams when they are made and later, of single launches, of
 * the nodes of a graph.  What a priority does to the order of work that competes
 * depends on time and is not asked here; which values are taken, kept and shown is.
 */
#include "gold.h"

#include <string.h>

static CUstream stream_of(int priority)
{
    CUstream stream;
    NEED(cuStreamCreateWithPriority(&stream, CU_STREAM_NON_BLOCKING, priority));
    return stream;
}

static int priority_of(CUstream stream)
{
    int priority = 99;
    NEED(cuStreamGetPriority(stream, &priority));
    return priority;
}

CASE(priority, range_one_result)
{
    int least = 99, greatest = 99;
    say(cuCtxGetStreamPriorityRange(&least, NULL));
    say_int(least);
    say(cuCtxGetStreamPriorityRange(NULL, &greatest));
    say_int(greatest);
    say(cuCtxGetStreamPriorityRange(NULL, NULL));
}

CASE(priority, range_without_context, .alone = true)
{
    int least = 99, greatest = 99;
    NEED(cuCtxSetCurrent(NULL));
    say(cuCtxGetStreamPriorityRange(&least, &greatest));
    say_int(least);
    say_int(greatest);
}

CASE(priority, create_each)
{
    for (int priority = -8; priority <= 3; priority++)
        say_int(priority_of(stream_of(priority)));
}

CASE(priority, create_blocking_each)
{
    for (int priority = -6; priority <= 1; priority++) {
        CUstream stream;
        say(cuStreamCreateWithPriority(&stream, CU_STREAM_DEFAULT, priority));
        say_int(priority_of(stream));
    }
}

CASE(priority, create_extremes)
{
    say_int(priority_of(stream_of(INT32_MIN)));
    say_int(priority_of(stream_of(INT32_MAX)));
}

static CUresult set_priority(CUstream stream, int priority)
{
    CUstreamAttrValue value;
    memset(&value, 0, sizeof value);
    value.priority = priority;
    return cuStreamSetAttribute(stream, CU_LAUNCH_ATTRIBUTE_PRIORITY, &value);
}

CASE(priority, set_each)
{
    CUstream stream = gold_stream(CU_STREAM_NON_BLOCKING);
    for (int priority = -7; priority <= 2; priority++) {
        say(set_priority(stream, priority));
        say_int(priority_of(stream));
    }
}

CASE(priority, set_on_default_streams, .alone = true)
{
    say(set_priority(NULL, 0));
    say(set_priority(NULL, -1));
    say(set_priority(CU_STREAM_LEGACY, -1));
    say(set_priority(CU_STREAM_PER_THREAD, -1));
    say_int(priority_of(NULL));
    say_int(priority_of(CU_STREAM_PER_THREAD));
}

CASE(priority, get_attribute)
{
    CUstreamAttrValue value;
    memset(&value, 0, sizeof value);
    say(cuStreamGetAttribute(stream_of(-3), CU_LAUNCH_ATTRIBUTE_PRIORITY, &value));
    say_int(value.priority);
    say(cuStreamGetAttribute(NULL, CU_LAUNCH_ATTRIBUTE_PRIORITY, &value));
    say_int(value.priority);
}

CASE(priority, set_while_busy)
{
    CUstream stream = gold_stream(CU_STREAM_NON_BLOCKING);
    CUdeviceptr word = gold_alloc_words(1, 0);
    struct gold_gate gate = gold_gate_close(stream);
    gold_store(stream, word, 3);
    say(set_priority(stream, -2));
    say_int(priority_of(stream));
    gold_gate_open(gate);
    say(cuStreamSynchronize(stream));
    say_int(gold_word(word));
}

CASE(priority, copied_with_attributes, .alone = true)
{
    CUstream from = stream_of(-4), to = stream_of(0);
    say(cuStreamCopyAttributes(to, from));
    say_int(priority_of(to));
    say(cuStreamCopyAttributes(from, stream_of(-1)));
    say_int(priority_of(from));
    say(cuStreamCopyAttributes(NULL, from));
    say_int(priority_of(NULL));
}

/* ---- of a single launch ---- */

static CUresult launch_with(CUstream stream, CUdeviceptr word, unsigned value, const int *priorities, unsigned count)
{
    CUlaunchAttribute attributes[4];
    CUlaunchConfig config;
    void *params[] = {&word, &value};
    memset(attributes, 0, sizeof attributes);
    memset(&config, 0, sizeof config);
    for (unsigned i = 0; i < count; i++) {
        attributes[i].id = CU_LAUNCH_ATTRIBUTE_PRIORITY;
        attributes[i].value.priority = priorities[i];
    }
    config.gridDimX = config.gridDimY = config.gridDimZ = 1;
    config.blockDimX = config.blockDimY = config.blockDimZ = 1;
    config.hStream = stream;
    config.attrs = attributes;
    config.numAttrs = count;
    return cuLaunchKernelEx(&config, gold_function("add"), params, NULL);
}

CASE(priority, launch_each)
{
    CUstream stream = gold_stream(CU_STREAM_NON_BLOCKING);
    CUdeviceptr word = gold_alloc_words(1, 0);
    for (int priority = -8; priority <= 3; priority++)
        say(launch_with(stream, word, 1, &priority, 1));
    say(cuStreamSynchronize(stream));
    say_int(gold_word(word));
    say_int(priority_of(stream));
}

CASE(priority, launch_extremes)
{
    CUstream stream = gold_stream(CU_STREAM_NON_BLOCKING);
    CUdeviceptr word = gold_alloc_words(1, 0);
    int lowest = INT32_MAX, highest = INT32_MIN;
    say(launch_with(stream, word, 1, &lowest, 1));
    say(launch_with(stream, word, 1, &highest, 1));
    say(cuStreamSynchronize(stream));
    say_int(gold_word(word));
}

CASE(priority, launch_twice_given)
{
    CUstream stream = gold_stream(CU_STREAM_NON_BLOCKING);
    CUdeviceptr word = gold_alloc_words(1, 0);
    int both[2] = {-1, -2};
    say(launch_with(stream, word, 1, both, 2));
    say(cuStreamSynchronize(stream));
    say_int(gold_word(word));
}

CASE(priority, launch_in_default_streams)
{
    CUdeviceptr word = gold_alloc_words(1, 0);
    int priority = -2;
    say(launch_with(NULL, word, 1, &priority, 1));
    say(launch_with(CU_STREAM_PER_THREAD, word, 1, &priority, 1));
    say(cuCtxSynchronize());
    say_int(gold_word(word));
    say_int(priority_of(NULL));
}

CASE(priority, launch_keeps_stream_order)
{
    CUstream stream = stream_of(0);
    CUdeviceptr words = gold_alloc_words(2, 1);
    struct gold_gate gate = gold_gate_close(stream);
    int high = -5, low = 0;
    NEED(launch_with(stream, words, 4, &low, 1));
    NEED(cuMemcpyDtoDAsync(words + 4, words, 4, stream));
    NEED(launch_with(stream, words + 4, 10, &high, 1));
    gold_gate_open(gate);
    say(cuStreamSynchronize(stream));
    say_int(gold_word(words));
    say_int(gold_word(words + 4));
}

CASE(priority, all_levels_finish)
{
    CUstream streams[6];
    CUdeviceptr words = gold_alloc_words(6, 0);
    for (unsigned i = 0; i < 6; i++)
        streams[i] = stream_of(-(int)i);
    for (unsigned round = 0; round < 50; round++)
        for (unsigned i = 0; i < 6; i++)
            gold_add(streams[i], words + 4 * i, 1);
    say(cuCtxSynchronize());
    for (unsigned i = 0; i < 6; i++)
        say_int(gold_word(words + 4 * i));
}

CASE(priority, high_waits_for_low)
{
    CUstream low = stream_of(0), high = stream_of(-5);
    CUevent event = gold_event(CU_EVENT_DISABLE_TIMING);
    CUdeviceptr words = gold_alloc_words(1, 0);
    struct gold_gate gate = gold_gate_close(low);
    gold_store(low, words, 10);
    NEED(cuEventRecord(event, low));
    NEED(cuStreamWaitEvent(high, event, 0));
    gold_add(high, words, 1);
    say(cuStreamQuery(high));
    gold_gate_open(gate);
    say(cuStreamSynchronize(high));
    say_int(gold_word(words));
}

/* ---- of a node ---- */

static CUgraphNode add_kernel_node(CUgraph graph, CUdeviceptr *word, unsigned *value)
{
    CUDA_KERNEL_NODE_PARAMS params;
    CUgraphNode node;
    void *arguments[] = {word, value};
    memset(&params, 0, sizeof params);
    params.func = gold_function("add");
    params.gridDimX = params.gridDimY = params.gridDimZ = 1;
    params.blockDimX = params.blockDimY = params.blockDimZ = 1;
    params.kernelParams = arguments;
    NEED(cuGraphAddKernelNode(&node, graph, NULL, 0, &params));
    return node;
}

CASE(priority, node_default)
{
    CUgraph graph;
    CUlaunchAttributeValue value;
    CUdeviceptr word = gold_alloc_words(1, 0);
    unsigned one = 1;
    NEED(cuGraphCreate(&graph, 0));
    CUgraphNode node = add_kernel_node(graph, &word, &one);
    memset(&value, 0, sizeof value);
    say(cuGraphKernelNodeGetAttribute(node, CU_LAUNCH_ATTRIBUTE_PRIORITY, &value));
    say_int(value.priority);
    NEED(cuGraphDestroy(graph));
}

CASE(priority, node_each)
{
    CUgraph graph;
    CUlaunchAttributeValue value;
    CUdeviceptr word = gold_alloc_words(1, 0);
    unsigned one = 1;
    NEED(cuGraphCreate(&graph, 0));
    CUgraphNode node = add_kernel_node(graph, &word, &one);
    for (int priority = -7; priority <= 2; priority++) {
        memset(&value, 0, sizeof value);
        value.priority = priority;
        say(cuGraphKernelNodeSetAttribute(node, CU_LAUNCH_ATTRIBUTE_PRIORITY, &value));
        memset(&value, 0, sizeof value);
        NEED(cuGraphKernelNodeGetAttribute(node, CU_LAUNCH_ATTRIBUTE_PRIORITY, &value));
        say_int(value.priority);
    }
    NEED(cuGraphDestroy(graph));
}

CASE(priority, node_captured)
{
    CUgraph graph;
    CUgraphNode node;
    size_t count = 1;
    CUlaunchAttributeValue value;
    CUdeviceptr word = gold_alloc_words(1, 0);
    CUstream stream = stream_of(-3);
    NEED(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_RELAXED));
    gold_add(stream, word, 1);
    NEED(cuStreamEndCapture(stream, &graph));
    NEED(cuGraphGetNodes(graph, &node, &count));
    memset(&value, 0, sizeof value);
    say(cuGraphKernelNodeGetAttribute(node, CU_LAUNCH_ATTRIBUTE_PRIORITY, &value));
    say_int(value.priority);
    NEED(cuGraphDestroy(graph));
}

CASE(priority, node_captured_with_attribute)
{
    CUgraph graph;
    CUgraphNode node;
    size_t count = 1;
    int priority = -4;
    CUlaunchAttributeValue value;
    CUdeviceptr word = gold_alloc_words(1, 0);
    CUstream stream = stream_of(-3);
    NEED(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_RELAXED));
    NEED(launch_with(stream, word, 1, &priority, 1));
    NEED(cuStreamEndCapture(stream, &graph));
    NEED(cuGraphGetNodes(graph, &node, &count));
    memset(&value, 0, sizeof value);
    say(cuGraphKernelNodeGetAttribute(node, CU_LAUNCH_ATTRIBUTE_PRIORITY, &value));
    say_int(value.priority);
    NEED(cuGraphDestroy(graph));
}

CASE(priority, graph_with_node_priorities_runs)
{
    CUgraph graph;
    CUgraphExec exec;
    CUlaunchAttributeValue value;
    CUdeviceptr word = gold_alloc_words(1, 0);
    unsigned one = 1;
    CUstream stream = gold_stream(CU_STREAM_NON_BLOCKING);
    NEED(cuGraphCreate(&graph, 0));
    CUgraphNode node = add_kernel_node(graph, &word, &one);
    memset(&value, 0, sizeof value);
    value.priority = -5;
    NEED(cuGraphKernelNodeSetAttribute(node, CU_LAUNCH_ATTRIBUTE_PRIORITY, &value));
    say(cuGraphInstantiate(&exec, graph, CUDA_GRAPH_INSTANTIATE_FLAG_USE_NODE_PRIORITY));
    say(cuGraphLaunch(exec, stream));
    say(cuStreamSynchronize(stream));
    say_int(gold_word(word));
    NEED(cuGraphExecDestroy(exec));
    NEED(cuGraphDestroy(graph));
}
