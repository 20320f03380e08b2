/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Launching graphs: in which streams, in what order with other work and with
 * other launches of the same graph, what events inside a graph do, and what each
 * kind of node does when it runs.
 */
#include "gold_exec.h"

static CUstream free_stream(void)
{
    return gold_stream(CU_STREAM_NON_BLOCKING);
}

/* An executable graph that adds `value` to a word. */
static CUgraphExec adder(CUdeviceptr word, unsigned value)
{
    CUgraph graph = ge_graph();
    ge_add(graph, NULL, word, value);
    return ge_exec(graph);
}

CASE(graph_launch, null_exec)
{
    say(cuGraphLaunch(NULL, gold_stream(0)));
    say(cuGraphLaunch(NULL, NULL));
}

CASE(graph_launch, foreign_exec, .alone = true, .allow = "CUDA_ERROR_INVALID_VALUE",
     .why = "hardware reads what it is given")
{
    say(cuGraphLaunch(gold_foreign(), gold_stream(0)));
}

CASE(graph_launch, default_streams)
{
    CUdeviceptr word = gold_alloc_words(1, 0);
    CUgraphExec exec = adder(word, 1);
    say(cuGraphLaunch(exec, NULL));
    say(cuGraphLaunch(exec, CU_STREAM_LEGACY));
    say(cuGraphLaunch(exec, CU_STREAM_PER_THREAD));
    say(cuCtxSynchronize());
    say_int(gold_word(word));
}

CASE(graph_launch, destroyed_stream, .alone = true,
     .allow = "CUDA_ERROR_INVALID_HANDLE|CUDA_ERROR_CONTEXT_IS_DESTROYED", .why = "hardware reads what is gone")
{
    CUstream stream = gold_stream(0);
    CUgraphExec exec = ge_exec(ge_graph());
    NEED(cuStreamDestroy(stream));
    say(cuGraphLaunch(exec, stream));
}

CASE(graph_launch, stream_of_another_context, .alone = true)
{
    CUdeviceptr word = gold_alloc_words(1, 0);
    CUgraphExec exec = adder(word, 1);
    (void)gold_context_new();
    CUstream stream = free_stream();
    say(cuGraphLaunch(exec, stream));
    say(cuStreamSynchronize(stream));
    NEED(cuCtxSetCurrent(gold_context()));
    say(cuGraphLaunch(exec, stream));
    say(cuStreamSynchronize(stream));
    say_int(gold_word(word));
}

CASE(graph_launch, in_order_with_other_work)
{
    CUdeviceptr word = gold_alloc_words(1, 0);
    CUgraph graph = ge_graph();
    CUstream stream = free_stream();
    ge_add(graph, NULL, word, 10);
    CUgraphExec exec = ge_exec(graph);
    struct gold_gate gate = gold_gate_close(stream);
    gold_store(stream, word, 1);
    say(cuGraphLaunch(exec, stream));
    gold_add(stream, word, 100);
    say(cuGraphLaunch(exec, stream));
    say(cuStreamQuery(stream));
    gold_gate_open(gate);
    say(cuStreamSynchronize(stream));
    say_int(gold_word(word));
}

CASE(graph_launch, many_in_one_stream)
{
    CUdeviceptr word = gold_alloc_words(1, 0);
    CUgraphExec exec = adder(word, 1);
    CUstream stream = free_stream();
    for (int i = 0; i < 300; i++)
        NEED(cuGraphLaunch(exec, stream));
    say(cuStreamSynchronize(stream));
    say_int(gold_word(word));
}

CASE(graph_launch, same_exec_in_two_streams_is_serial)
{
    /* The graph adds without an atomic operation and waits in between: launches of one executable graph don't overlap.
     */
    CUdeviceptr word = gold_alloc_words(1, 0);
    CUgraphExec exec = adder(word, 1);
    CUstream gated = free_stream(), stream = free_stream();
    struct gold_gate gate = gold_gate_close(gated);
    say(cuGraphLaunch(exec, gated));
    say(cuGraphLaunch(exec, stream));
    gold_sleep_ms(30);
    say(cuStreamQuery(stream));
    gold_gate_open(gate);
    say(cuStreamSynchronize(stream));
    say(cuStreamQuery(gated));
    say_int(gold_word(word));
}

CASE(graph_launch, same_exec_behind_a_running_one)
{
    CUdeviceptr word = gold_alloc_words(1, 0);
    CUgraph graph = ge_graph();
    volatile unsigned *flag = ge_flag();
    CUstream one = free_stream(), two = free_stream();
    ge_add(graph, ge_spin(graph, NULL, flag), word, 1);
    CUgraphExec exec = ge_exec(graph);
    say(cuGraphLaunch(exec, one));
    say(cuGraphLaunch(exec, two));
    gold_sleep_ms(30);
    say(cuStreamQuery(one));
    say(cuStreamQuery(two));
    say_int(*flag);
    *flag = 1;
    say(cuStreamSynchronize(two));
    say(cuStreamQuery(one));
    say_int(gold_word(word));
}

CASE(graph_launch, other_exec_overlaps)
{
    CUdeviceptr words = gold_alloc_words(2, 0);
    CUgraph graph = ge_graph();
    volatile unsigned *flag = ge_flag();
    CUstream one = free_stream(), two = free_stream();
    ge_add(graph, ge_spin(graph, NULL, flag), words, 1);
    CUgraphExec exec = ge_exec(graph), other = adder(words + 4, 5);
    NEED(cuGraphLaunch(exec, one));
    NEED(cuGraphLaunch(other, two));
    say(gold_wait_stream(two, 2000));
    say(cuStreamQuery(one));
    *flag = 1;
    say(cuStreamSynchronize(one));
}

CASE(graph_launch, two_execs_of_one_graph_overlap)
{
    /* The second launch opens the first one's gate. */
    CUdeviceptr address;
    CUgraph graph = ge_graph();
    volatile unsigned *flag = ge_flag();
    CUstream one = free_stream(), two = free_stream();
    CUgraphNode spin = ge_spin(graph, NULL, flag);
    CUgraphExec waits = ge_exec(graph), sets = ge_exec(graph);
    struct ge_kernel kernel;
    NEED(cuMemHostGetDevicePointer(&address, (void *)(uintptr_t)flag, 0));
    say(cuGraphExecKernelNodeSetParams(sets, spin, ge_params(&kernel, "store", address, 1)));
    NEED(cuGraphLaunch(waits, one));
    NEED(cuGraphLaunch(sets, two));
    say(gold_wait_stream(one, 4000));
    say(cuStreamSynchronize(two));
}

CASE(graph_launch, branches_overlap)
{
    /* One branch spins until the other stores. */
    CUdeviceptr address, word = gold_alloc_words(1, 0);
    CUgraph graph = ge_graph();
    volatile unsigned *flag = ge_flag();
    CUstream stream = free_stream();
    NEED(cuMemHostGetDevicePointer(&address, (void *)(uintptr_t)flag, 0));
    CUgraphNode root = ge_empty(graph, NULL), spin = ge_spin(graph, root, flag),
                sets = ge_store(graph, ge_add(graph, root, word, 1), address, 1);
    CUgraphNode last = ge_add(graph, spin, word, 2);
    NEED(cuGraphAddDependencies(graph, &sets, &last, NULL, 1));
    CUgraphExec exec = ge_exec(graph);
    say(cuGraphLaunch(exec, stream));
    say(gold_wait_stream(stream, 4000));
    say_int(gold_word(word));
}

CASE(graph_launch, roots_overlap)
{
    CUdeviceptr address;
    CUgraph graph = ge_graph();
    volatile unsigned *flag = ge_flag();
    CUstream stream = free_stream();
    NEED(cuMemHostGetDevicePointer(&address, (void *)(uintptr_t)flag, 0));
    ge_spin(graph, NULL, flag);
    ge_store(graph, NULL, address, 1);
    CUgraphExec exec = ge_exec(graph);
    say(cuGraphLaunch(exec, stream));
    say(gold_wait_stream(stream, 4000));
}

CASE(graph_launch, chain)
{
    CUdeviceptr word = gold_alloc_words(1, 0);
    CUgraph graph = ge_graph();
    CUgraphNode last = NULL;
    for (int i = 0; i < 1000; i++)
        last = ge_add(graph, last, word, 1);
    CUgraphExec exec = ge_exec(graph);
    CUstream stream = free_stream();
    ge_run(exec, stream);
    say_int(gold_word(word));
    ge_run(exec, stream);
    say_int(gold_word(word));
}

CASE(graph_launch, fan)
{
    CUdeviceptr words = gold_alloc_words(201, 0);
    CUgraph graph = ge_graph();
    CUgraphNode root = ge_store(graph, NULL, words, 7), last = ge_empty(graph, NULL);
    for (unsigned i = 1; i <= 200; i++) {
        CUgraphNode node = ge_move(graph, root, words + 4 * i, words);
        NEED(cuGraphAddDependencies(graph, &node, &last, NULL, 1));
    }
    ge_add(graph, last, words + 800, 1);
    ge_run(ge_exec(graph), free_stream());
    say_int(gold_word(words + 4));
    say_int(gold_word(words + 400));
    say_int(gold_word(words + 800));
}

CASE(graph_launch, diamonds)
{
    CUdeviceptr words = gold_alloc_words(3, 1);
    CUgraph graph = ge_graph();
    CUgraphNode last = NULL;
    for (int i = 0; i < 20; i++) {
        CUgraphNode top = ge_add(graph, last, words, 1);
        CUgraphNode left = ge_move(graph, top, words + 4, words), right = ge_move(graph, top, words + 8, words);
        last = ge_empty(graph, left);
        NEED(cuGraphAddDependencies(graph, &right, &last, NULL, 1));
    }
    ge_run(ge_exec(graph), free_stream());
    for (unsigned i = 0; i < 3; i++)
        say_int(gold_word(words + 4 * i));
}

CASE(graph_launch, nested_children)
{
    CUdeviceptr word = gold_alloc_words(1, 0);
    CUgraph graph = ge_graph();
    ge_add(graph, NULL, word, 1);
    for (int depth = 0; depth < 6; depth++) {
        CUgraph outer = ge_graph();
        ge_child(outer, ge_child(outer, NULL, graph), graph);
        graph = outer;
    }
    ge_run(ge_exec(graph), free_stream());
    say_int(gold_word(word));
}

CASE(graph_launch, child_is_in_order)
{
    CUdeviceptr word = gold_alloc_words(1, 0);
    CUgraph graph = ge_graph(), child = ge_graph(), nothing = ge_graph();
    ge_add(child, ge_store(child, NULL, word, 5), word, 10);
    CUgraphNode before = ge_store(graph, NULL, word, 1000);
    ge_add(graph, ge_child(graph, ge_child(graph, before, nothing), child), word, 100);
    ge_run(ge_exec(graph), free_stream());
    say_int(gold_word(word));
}

/* ---- the default stream ---- */

CASE(graph_launch, legacy_waits_for_graph)
{
    CUdeviceptr word = gold_alloc_words(1, 0);
    CUgraph graph = ge_graph();
    volatile unsigned *flag = ge_flag();
    CUstream blocking = gold_stream(0);
    ge_store(graph, ge_spin(graph, NULL, flag), word, 4);
    CUgraphExec exec = ge_exec(graph);
    NEED(cuGraphLaunch(exec, blocking));
    gold_add(NULL, word, 3);
    say(cuStreamQuery(NULL));
    *flag = 1;
    say(cuStreamSynchronize(NULL));
    say_int(gold_word(word));
}

CASE(graph_launch, graph_waits_for_legacy)
{
    CUdeviceptr word = gold_alloc_words(1, 0);
    CUgraphExec exec = adder(word, 5);
    CUstream blocking = gold_stream(0);
    struct gold_gate gate = gold_gate_close(NULL);
    gold_store(NULL, word, 1);
    NEED(cuGraphLaunch(exec, blocking));
    say(cuStreamQuery(blocking));
    gold_gate_open(gate);
    say(cuStreamSynchronize(blocking));
    say_int(gold_word(word));
}

CASE(graph_launch, made_in_blocking_runs_beside_legacy)
{
    /* What counts is the stream of the launch. */
    CUdeviceptr word = gold_alloc_words(1, 0);
    CUgraphExec exec = adder(word, 5);
    CUstream stream = free_stream();
    struct gold_gate gate = gold_gate_close(NULL);
    NEED(cuGraphLaunch(exec, stream));
    say(gold_wait_stream(stream, 2000));
    say(cuStreamQuery(NULL));
    gold_gate_open(gate);
    NEED(cuCtxSynchronize());
}

/* ---- events ---- */

CASE(graph_launch, record_node_pending_at_once)
{
    CUgraph graph = ge_graph();
    CUevent event = gold_event(0);
    CUstream stream = free_stream();
    ge_record(graph, NULL, event);
    CUgraphExec exec = ge_exec(graph);
    say(cuEventQuery(event));
    struct gold_gate gate = gold_gate_close(stream);
    NEED(cuGraphLaunch(exec, stream));
    say(cuEventQuery(event));
    gold_gate_open(gate);
    say(cuEventSynchronize(event));
    NEED(cuStreamSynchronize(stream));
}

CASE(graph_launch, record_node_before_the_end)
{
    CUgraph graph = ge_graph();
    CUevent event = gold_event(0);
    CUstream stream = free_stream();
    volatile unsigned *flag = ge_flag();
    ge_spin(graph, ge_record(graph, NULL, event), flag);
    NEED(cuGraphLaunch(ge_exec(graph), stream));
    say(gold_wait_event(event, 2000));
    say(cuStreamQuery(stream));
    *flag = 1;
    say(cuStreamSynchronize(stream));
}

CASE(graph_launch, record_node_orders_another_stream)
{
    CUdeviceptr word = gold_alloc_words(1, 0);
    CUgraph graph = ge_graph();
    CUevent event = gold_event(CU_EVENT_DISABLE_TIMING);
    CUstream stream = free_stream(), other = free_stream();
    volatile unsigned *flag = ge_flag();
    ge_record(graph, ge_store(graph, ge_spin(graph, NULL, flag), word, 6), event);
    NEED(cuGraphLaunch(ge_exec(graph), stream));
    NEED(cuStreamWaitEvent(other, event, 0));
    gold_add(other, word, 1);
    say(cuStreamQuery(other));
    *flag = 1;
    say(cuStreamSynchronize(other));
    say_int(gold_word(word));
}

CASE(graph_launch, record_nodes_elapsed)
{
    CUgraph graph = ge_graph();
    CUevent start = gold_event(0), end = gold_event(0);
    CUdeviceptr word = gold_alloc_words(1, 0);
    ge_record(graph, ge_add(graph, ge_record(graph, NULL, start), word, 1), end);
    ge_run(ge_exec(graph), free_stream());
    float time = -1;
    say(cuEventElapsedTime(&time, start, end));
    say_if("positive", time > 0);
    say_if("short", time < 5000);
}

CASE(graph_launch, wait_node_waits)
{
    CUdeviceptr word = gold_alloc_words(1, 0);
    CUgraph graph = ge_graph();
    CUevent event = gold_event(0);
    CUstream stream = free_stream(), gated = free_stream();
    ge_add(graph, ge_wait(graph, NULL, event), word, 5);
    CUgraphExec exec = ge_exec(graph);
    struct gold_gate gate = gold_gate_close(gated);
    gold_store(gated, word, 1);
    NEED(cuEventRecord(event, gated));
    NEED(cuGraphLaunch(exec, stream));
    gold_sleep_ms(20);
    say(cuStreamQuery(stream));
    gold_gate_open(gate);
    say(cuStreamSynchronize(stream));
    say_int(gold_word(word));
}

CASE(graph_launch, wait_node_takes_event_at_launch_or_later)
{
    /* The event is recorded after the launch, before the node could run: does the node wait for it? */
    CUdeviceptr word = gold_alloc_words(1, 0);
    CUgraph graph = ge_graph();
    CUevent event = gold_event(0);
    CUstream stream = free_stream(), gated = free_stream();
    volatile unsigned *flag = ge_flag();
    ge_store(graph, ge_wait(graph, ge_spin(graph, NULL, flag), event), word, 5);
    CUgraphExec exec = ge_exec(graph);
    NEED(cuGraphLaunch(exec, stream));
    struct gold_gate gate = gold_gate_close(gated);
    NEED(cuEventRecord(event, gated));
    *flag = 1;
    say(gold_wait_stream(stream, 300));
    gold_gate_open(gate);
    say(cuStreamSynchronize(stream));
    say_int(gold_word(word));
}

CASE(graph_launch, wait_node_queued_launch_event_recorded_later)
{
    CUdeviceptr word = gold_alloc_words(1, 0);
    CUgraph graph = ge_graph();
    CUevent event = gold_event(0);
    CUstream stream = free_stream(), gated = free_stream();
    ge_store(graph, ge_wait(graph, NULL, event), word, 5);
    CUgraphExec exec = ge_exec(graph);
    struct gold_gate first = gold_gate_close(stream), gate = gold_gate_close(gated);
    NEED(cuGraphLaunch(exec, stream));
    NEED(cuEventRecord(event, gated));
    gold_gate_open(first);
    say(gold_wait_stream(stream, 300));
    gold_gate_open(gate);
    say(cuStreamSynchronize(stream));
    say_int(gold_word(word));
}

CASE(graph_launch, wait_node_keeps_recording_of_launch)
{
    /* The event's first recording completes; a second one is made while the launch is queued. */
    CUdeviceptr word = gold_alloc_words(1, 0);
    CUgraph graph = ge_graph();
    CUevent event = gold_event(0);
    CUstream stream = free_stream(), one = free_stream(), two = free_stream();
    ge_store(graph, ge_wait(graph, NULL, event), word, 5);
    CUgraphExec exec = ge_exec(graph);
    struct gold_gate first = gold_gate_close(one), second = gold_gate_close(two);
    NEED(cuEventRecord(event, one));
    NEED(cuGraphLaunch(exec, stream));
    NEED(cuEventRecord(event, two));
    gold_gate_open(first);
    say(gold_wait_stream(stream, 300));
    gold_gate_open(second);
    say(cuStreamSynchronize(stream));
    say_int(gold_word(word));
}

CASE(graph_launch, wait_node_on_own_record)
{
    CUdeviceptr word = gold_alloc_words(1, 0);
    CUgraph graph = ge_graph();
    CUevent event = gold_event(0);
    CUstream stream = free_stream();
    ge_add(graph, ge_wait(graph, ge_record(graph, ge_store(graph, NULL, word, 2), event), event), word, 5);
    CUgraphExec exec = ge_exec(graph);
    ge_run(exec, stream);
    ge_run(exec, stream);
    say_int(gold_word(word));
}

CASE(graph_launch, wait_node_on_record_of_other_branch)
{
    /* No edge between them: waits for what the event held before, not for the record of this launch. */
    CUdeviceptr word = gold_alloc_words(1, 0);
    CUgraph graph = ge_graph();
    CUevent event = gold_event(0);
    CUstream stream = free_stream();
    volatile unsigned *flag = ge_flag();
    CUevent seen = gold_event(0);
    ge_record(graph, ge_spin(graph, NULL, flag), event);
    ge_record(graph, ge_store(graph, ge_wait(graph, NULL, event), word, 4), seen);
    NEED(cuGraphLaunch(ge_exec(graph), stream));
    say(gold_wait_event(seen, 300));
    *flag = 1;
    say(cuStreamSynchronize(stream));
    say_int(gold_word(word));
}

CASE(graph_launch, record_behind_graph)
{
    CUgraph graph = ge_graph();
    CUevent event = gold_event(0);
    CUstream stream = free_stream();
    volatile unsigned *flag = ge_flag();
    ge_spin(graph, NULL, flag);
    NEED(cuGraphLaunch(ge_exec(graph), stream));
    NEED(cuEventRecord(event, stream));
    gold_sleep_ms(10);
    say(cuEventQuery(event));
    *flag = 1;
    say(cuEventSynchronize(event));
    say(cuStreamQuery(stream));
}

/* ---- host functions ---- */

static CUstream host_stream;
static CUresult host_answers[4];

static void CUDA_CB host_calls(void *data)
{
    CUdeviceptr address;
    host_answers[0] = cuStreamQuery(host_stream);
    host_answers[1] = cuMemAlloc(&address, 64);
    host_answers[2] = cuGraphLaunch(data, host_stream);
    host_answers[3] = cuCtxSynchronize();
}

CASE(graph_launch, host_node_calls_driver)
{
    CUgraph graph = ge_graph();
    host_stream = free_stream();
    ge_host(graph, NULL, host_calls, ge_exec(ge_graph()));
    ge_run(ge_exec(graph), free_stream());
    for (int i = 0; i < 4; i++)
        say(host_answers[i]);
}

static void CUDA_CB host_copy(void *data)
{
    volatile int *words = data;
    words[1] = words[0];
}

CASE(graph_launch, host_node_in_order)
{
    void *memory;
    CUdeviceptr address;
    CUgraph graph = ge_graph();
    CUstream stream = free_stream();
    NEED(cuMemHostAlloc(&memory, 64, CU_MEMHOSTALLOC_DEVICEMAP));
    memset(memory, 0, 64);
    NEED(cuMemHostGetDevicePointer(&address, memory, 0));
    CUgraphNode first = ge_store(graph, NULL, address, 31);
    ge_move(graph, ge_host(graph, first, host_copy, memory), address + 8, address + 4);
    ge_run(ge_exec(graph), stream);
    say_int(((volatile int *)memory)[2]);
}

static void CUDA_CB host_wait(void *data)
{
    for (int i = 0; i < 4000 && !*(volatile unsigned *)data; i++)
        gold_sleep_ms(1);
}

CASE(graph_launch, host_node_beside_kernel)
{
    /* The host function waits for what a kernel of another branch stores. */
    CUdeviceptr address;
    CUgraph graph = ge_graph();
    CUstream stream = free_stream();
    volatile unsigned *flag = ge_flag();
    NEED(cuMemHostGetDevicePointer(&address, (void *)(uintptr_t)flag, 0));
    ge_host(graph, NULL, host_wait, (void *)(uintptr_t)flag);
    ge_store(graph, NULL, address, 1);
    NEED(cuGraphLaunch(ge_exec(graph), stream));
    say(cuStreamSynchronize(stream));
    say_int(*flag);
}

/* ---- copies and fills ---- */

CASE(graph_launch, copy_reads_pageable_when_it_runs)
{
    static volatile unsigned host;
    CUdeviceptr word = gold_alloc_words(1, 0);
    CUgraph graph = ge_graph();
    CUDA_MEMCPY3D copy = ge_copy_params('d', word, 'h', (CUdeviceptr)(uintptr_t)&host, 4);
    CUstream stream = free_stream();
    host = 1;
    ge_copy(graph, NULL, &copy);
    host = 2;
    CUgraphExec exec = ge_exec(graph);
    host = 3;
    struct gold_gate gate = gold_gate_close(stream);
    say(cuGraphLaunch(exec, stream));
    say(cuStreamQuery(stream));
    host = 4;
    gold_gate_open(gate);
    say(cuStreamSynchronize(stream));
    say_int(gold_word(word));
}

CASE(graph_launch, copy_to_pageable)
{
    static volatile unsigned host;
    CUdeviceptr word = gold_alloc_words(1, 17);
    CUgraph graph = ge_graph();
    CUDA_MEMCPY3D copy = ge_copy_params('h', (CUdeviceptr)(uintptr_t)&host, 'd', word, 4);
    CUstream stream = free_stream();
    host = 0;
    ge_copy(graph, NULL, &copy);
    CUgraphExec exec = ge_exec(graph);
    struct gold_gate gate = gold_gate_close(stream);
    say(cuGraphLaunch(exec, stream));
    say_int(host);
    gold_gate_open(gate);
    say(cuStreamSynchronize(stream));
    say_int(host);
}

CASE(graph_launch, copy_boxes)
{
    enum { N = 8 * 8 * 8 };
    static unsigned host[N], back[N];
    CUdeviceptr box = gold_alloc_words(N, 0);
    CUgraph graph = ge_graph();
    CUDA_MEMCPY3D in = ge_copy_params('d', box, 'h', (CUdeviceptr)(uintptr_t)host, 12), out;
    for (unsigned i = 0; i < N; i++) {
        host[i] = i * 7;
        back[i] = 0;
    }
    in.srcXInBytes = 4;
    in.srcY = 1;
    in.srcZ = 2;
    in.dstXInBytes = 8;
    in.dstY = 2;
    in.Height = 4;
    in.Depth = 3;
    in.srcPitch = in.dstPitch = 32;
    in.srcHeight = in.dstHeight = 8;
    out = ge_copy_params('h', (CUdeviceptr)(uintptr_t)back, 'd', box, sizeof host);
    ge_copy(graph, ge_copy(graph, NULL, &in), &out);
    ge_run(ge_exec(graph), free_stream());
    say_hash(back, sizeof back);
}

CASE(graph_launch, fills_of_each_size)
{
    static unsigned char back[1024];
    CUdeviceptr bytes = gold_alloc_words(256, 0);
    CUgraph graph = ge_graph();
    CUgraphNode last = NULL;
    CUDA_MEMSET_NODE_PARAMS fills[] = {
        ge_fill_params(bytes + 1, 0xab, 1, 7, 1, 0),
        ge_fill_params(bytes + 64, 0x1234, 2, 5, 3, 32),
        ge_fill_params(bytes + 256, 0xdeadbeef, 4, 3, 4, 64),
    };
    for (size_t i = 0; i < sizeof fills / sizeof fills[0]; i++) {
        CUgraphNode node;
        NEED(cuGraphAddMemsetNode(&node, graph, last ? &last : NULL, last ? 1 : 0, &fills[i], gold_context()));
        last = node;
    }
    ge_run(ge_exec(graph), free_stream());
    NEED(cuMemcpyDtoH(back, bytes, sizeof back));
    say_hash(back, 64);
    say_hash(back + 64, 192);
    say_hash(back + 256, 512);
}

CASE(graph_launch, big_kernel)
{
    static unsigned back[4096];
    CUdeviceptr words = gold_alloc_words(4096, 0);
    CUgraph graph = ge_graph();
    void *params[] = {&words};
    CUDA_KERNEL_NODE_PARAMS kernel;
    CUgraphNode node;
    memset(&kernel, 0, sizeof kernel);
    kernel.func = gold_function("places");
    kernel.gridDimX = 8;
    kernel.gridDimY = 4;
    kernel.gridDimZ = 2;
    kernel.blockDimX = 16;
    kernel.blockDimY = 2;
    kernel.blockDimZ = 2;
    kernel.kernelParams = params;
    NEED(cuGraphAddKernelNode(&node, graph, NULL, 0, &kernel));
    ge_run(ge_exec(graph), free_stream());
    NEED(cuMemcpyDtoH(back, words, sizeof back));
    say_hash(back, sizeof back);
}

CASE(graph_launch, shared_memory_kernel)
{
    static unsigned back[64];
    CUdeviceptr words = gold_alloc_words(64, 0);
    CUgraph graph = ge_graph();
    void *params[] = {&words};
    CUDA_KERNEL_NODE_PARAMS kernel;
    CUgraphNode node;
    memset(&kernel, 0, sizeof kernel);
    kernel.func = gold_function("rotate");
    kernel.gridDimX = kernel.gridDimY = kernel.gridDimZ = kernel.blockDimY = kernel.blockDimZ = 1;
    kernel.blockDimX = 64;
    kernel.sharedMemBytes = 256;
    kernel.kernelParams = params;
    NEED(cuGraphAddKernelNode(&node, graph, NULL, 0, &kernel));
    ge_run(ge_exec(graph), free_stream());
    NEED(cuMemcpyDtoH(back, words, sizeof back));
    say_hash(back, sizeof back);
}

/* ---- faults ---- */

CASE(graph_launch, fault_in_node, .alone = true)
{
    CUdeviceptr words = gold_alloc_words(2, 0);
    CUgraph graph = ge_graph();
    CUstream stream = free_stream();
    ge_store(graph, ge_store(graph, ge_store(graph, NULL, words, 1), 16, 1), words + 4, 1);
    CUgraphExec exec = ge_exec(graph);
    say(cuGraphLaunch(exec, stream));
    say(cuStreamSynchronize(stream));
    say(cuGraphLaunch(exec, stream));
    say(cuStreamQuery(stream));
    say(cuGraphExecDestroy(exec));
    say(cuGraphDestroy(graph));
}

CASE(graph_launch, batch_memory_operations)
{
    CUdeviceptr words = gold_alloc_words(4, 0);
    CUgraph graph = ge_graph();
    CUDA_BATCH_MEM_OP_NODE_PARAMS params;
    CUstreamBatchMemOpParams ops[3];
    CUgraphNode node, first = ge_store(graph, NULL, words, 3);
    memset(ops, 0, sizeof ops);
    memset(&params, 0, sizeof params);
    ops[0].operation = CU_STREAM_MEM_OP_WAIT_VALUE_32;
    ops[0].waitValue.address = words;
    ops[0].waitValue.value = 3;
    ops[0].waitValue.flags = CU_STREAM_WAIT_VALUE_EQ;
    ops[1].operation = CU_STREAM_MEM_OP_WRITE_VALUE_32;
    ops[1].writeValue.address = words + 4;
    ops[1].writeValue.value = 8;
    ops[2].operation = CU_STREAM_MEM_OP_WRITE_VALUE_64;
    ops[2].writeValue.address = words + 8;
    ops[2].writeValue.value64 = 0x100000002ull;
    params.ctx = gold_context();
    params.count = 3;
    params.paramArray = ops;
    NEED(cuGraphAddBatchMemOpNode(&node, graph, &first, 1, &params));
    ge_run(ge_exec(graph), free_stream());
    for (unsigned i = 0; i < 4; i++)
        say_int(gold_word(words + 4 * i));
}
