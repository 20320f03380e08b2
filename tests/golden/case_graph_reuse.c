/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which memory allocation nodes give out again: addresses within a graph, and how
 * much memory several graphs of a device hold together.  What is said of addresses
 * is only whether they are the same, lie within each other, or are apart.
 */
#include "gold_exec.h"

#define MIB ((size_t)1 << 20)

/* How [b, b + size_b) lies to [a, a + size_a). */
static void say_place(CUdeviceptr a, size_t size_a, CUdeviceptr b, size_t size_b)
{
    say_text(a == b ? "same" : b + size_b <= a || a + size_a <= b ? "apart" : "overlap");
}

/* An allocation behind `after`, and a free node behind that: the free node. */
static CUgraphNode pass(CUgraph graph, CUgraphNode after, size_t size, CUdeviceptr *address)
{
    CUgraphNode made = ge_alloc(graph, after, size, address);
    return ge_free(graph, made, *address);
}

static CUgraphNode join(CUgraph graph, CUgraphNode one, CUgraphNode two)
{
    CUgraphNode both[] = {one, two}, node;
    NEED(cuGraphAddEmptyNode(&node, graph, both, 2));
    return node;
}

static void say_account(void)
{
    static const CUgraphMem_attribute all[] = {CU_GRAPH_MEM_ATTR_USED_MEM_CURRENT, CU_GRAPH_MEM_ATTR_USED_MEM_HIGH,
                                               CU_GRAPH_MEM_ATTR_RESERVED_MEM_CURRENT,
                                               CU_GRAPH_MEM_ATTR_RESERVED_MEM_HIGH};
    for (int i = 0; i < 4; i++) {
        cuuint64_t value = 99;
        NEED(cuDeviceGetGraphMemAttribute(gold_device(), all[i], &value));
        if (value % MIB == 0)
            say_int((long long)(value / MIB));
        else
            say_text("uneven");
    }
    say_text("/");
}

/* ---- addresses within a graph ---- */

/* Allocates `first`, frees it, and behind that allocates `second`. */
static void in_turn(size_t first, size_t second)
{
    CUdeviceptr one, two;
    CUgraph graph = ge_graph();
    CUgraphNode node = pass(graph, NULL, first, &one);
    pass(graph, node, second, &two);
    say_place(one, first, two, second);
    ge_run(ge_exec(graph), gold_stream(0));
}

CASE(graph_reuse, in_turn_small)
{
    in_turn(64, 64);
}
CASE(graph_reuse, in_turn_smaller)
{
    in_turn(4 * MIB, 1 * MIB);
}
CASE(graph_reuse, in_turn_larger)
{
    in_turn(1 * MIB, 4 * MIB);
}
CASE(graph_reuse, in_turn_within_a_page)
{
    in_turn(1000, 2000);
}
CASE(graph_reuse, in_turn_much_smaller)
{
    in_turn(64 * MIB, 64);
}
CASE(graph_reuse, in_turn_large)
{
    in_turn(64 * MIB, 64 * MIB);
}

CASE(graph_reuse, behind_other_nodes)
{
    CUdeviceptr one, two, word = gold_alloc_words(1, 0);
    CUgraph graph = ge_graph();
    CUgraphNode node = ge_alloc(graph, NULL, 4096, &one);
    node = ge_free(graph, ge_store(graph, node, one, 3), one);
    node = ge_empty(graph, ge_add(graph, ge_empty(graph, node), word, 1));
    node = ge_alloc(graph, node, 4096, &two);
    node = ge_store(graph, node, two, 8);
    ge_free(graph, ge_move(graph, node, word, two), two);
    say_place(one, 4096, two, 4096);
    ge_run(ge_exec(graph), gold_stream(0));
    say_int(gold_word(word));
}

CASE(graph_reuse, not_behind_the_free)
{
    CUdeviceptr one, two, three;
    CUgraph graph = ge_graph();
    CUgraphNode made = ge_alloc(graph, NULL, 4096, &one);
    CUgraphNode freed = ge_free(graph, made, one);
    pass(graph, made, 4096, &two);
    say_place(one, 4096, two, 4096);
    pass(graph, NULL, 4096, &three);
    say_place(one, 4096, three, 4096);
    (void)freed;
    ge_run(ge_exec(graph), gold_stream(0));
}

CASE(graph_reuse, two_branches_behind_one_free)
{
    CUdeviceptr one, two, three;
    CUgraph graph = ge_graph();
    CUgraphNode freed = pass(graph, NULL, 4096, &one);
    CUgraphNode left = ge_alloc(graph, freed, 4096, &two), right = ge_alloc(graph, freed, 4096, &three);
    say_place(one, 4096, two, 4096);
    say_place(one, 4096, three, 4096);
    ge_free(graph, left, two);
    ge_free(graph, right, three);
    ge_run(ge_exec(graph), gold_stream(0));
}

CASE(graph_reuse, two_halves_of_one)
{
    CUdeviceptr one, two, three;
    CUgraph graph = ge_graph();
    CUgraphNode freed = pass(graph, NULL, 8 * MIB, &one);
    CUgraphNode left = ge_alloc(graph, freed, 4 * MIB, &two), right = ge_alloc(graph, freed, 4 * MIB, &three);
    say_place(one, 8 * MIB, two, 4 * MIB);
    say_place(one, 8 * MIB, three, 4 * MIB);
    say_place(two, 4 * MIB, three, 4 * MIB);
    ge_free(graph, left, two);
    ge_free(graph, right, three);
    ge_run(ge_exec(graph), gold_stream(0));
}

CASE(graph_reuse, two_joined_to_one)
{
    CUdeviceptr one, two, three;
    CUgraph graph = ge_graph();
    CUgraphNode node = ge_alloc(graph, ge_alloc(graph, NULL, 4 * MIB, &one), 4 * MIB, &two);
    say_if("neighbours", two == one + 4 * MIB || one == two + 4 * MIB);
    node = ge_free(graph, ge_free(graph, node, one), two);
    pass(graph, node, 8 * MIB, &three);
    say_place(three, 8 * MIB, one, 4 * MIB);
    say_place(three, 8 * MIB, two, 4 * MIB);
    ge_run(ge_exec(graph), gold_stream(0));
}

CASE(graph_reuse, chain_of_many, .alone = true)
{
    CUdeviceptr first, memory;
    CUgraph graph = ge_graph();
    CUgraphNode node = pass(graph, NULL, 2 * MIB, &first);
    int same = 0;
    for (int i = 0; i < 20; i++) {
        node = pass(graph, node, 2 * MIB, &memory);
        same += memory == first;
    }
    say_int(same);
    ge_go(ge_exec(graph), gold_stream(0));
    say_account();
}

CASE(graph_reuse, best_of_two)
{
    CUdeviceptr large, small, again;
    CUgraph graph = ge_graph();
    CUgraphNode node = ge_alloc(graph, ge_alloc(graph, NULL, 8 * MIB, &large), 2 * MIB, &small);
    node = ge_free(graph, ge_free(graph, node, large), small);
    pass(graph, node, 2 * MIB, &again);
    say_if("large", again == large);
    say_if("small", again == small);
}

CASE(graph_reuse, behind_both_of_two_branches)
{
    CUdeviceptr one, two, three;
    CUgraph graph = ge_graph();
    CUgraphNode left = pass(graph, NULL, 4096, &one);
    CUgraphNode right = pass(graph, NULL, 4096, &two);
    say_place(one, 4096, two, 4096);
    CUgraphNode both = join(graph, left, right);
    pass(graph, both, 4096, &three);
    say_if("one_of_them", three == one || three == two);
    ge_run(ge_exec(graph), gold_stream(0));
}

CASE(graph_reuse, behind_an_edge_added_later, .allow = "CUDA_SUCCESS same",
     .why = "here an edge counts whenever it was added")
{
    /* The edge that orders them comes after the nodes. */
    CUdeviceptr one, two;
    CUgraph graph = ge_graph();
    CUgraphNode freed = pass(graph, NULL, 4096, &one), node = ge_empty(graph, NULL);
    say(cuGraphAddDependencies_v2(graph, &freed, &node, NULL, 1));
    pass(graph, node, 4096, &two);
    say_place(one, 4096, two, 4096);
}

CASE(graph_reuse, freed_by_the_program)
{
    CUdeviceptr one, two, word = gold_alloc_words(1, 0);
    CUgraph graph = ge_graph();
    CUgraphNode node = ge_alloc(graph, NULL, 4096, &one);
    node = ge_store(graph, node, one, 4);
    node = ge_alloc(graph, node, 4096, &two);
    ge_move(graph, node, word, one);
    say_place(one, 4096, two, 4096);
    ge_run(ge_exec(graph), gold_stream(0));
    say_int(gold_word(word));
    say(cuMemFree(one));
    say(cuMemFree(two));
}

CASE(graph_reuse, twice_live_in_one_run, .alone = true)
{
    /* The second holder of an address stays, and is freed by the program. */
    CUdeviceptr one, two;
    CUgraph graph = ge_graph();
    CUgraphNode node = pass(graph, NULL, 4096, &one);
    node = ge_alloc(graph, node, 4096, &two);
    ge_store(graph, node, two, 6);
    CUgraphExec exec = ge_exec(graph);
    say_place(one, 4096, two, 4096);
    ge_run(exec, gold_stream(0));
    say_int(gold_word(two));
    say(cuMemFree(two));
    say(cuMemFree(one));
    ge_run(exec, gold_stream(0));
    say(cuMemFreeAsync(one, NULL));
    say(cuMemFreeAsync(two, NULL));
}

CASE(graph_reuse, range_of_the_second)
{
    CUdeviceptr one, two, start = 0;
    size_t size = 0;
    CUgraph graph = ge_graph();
    CUgraphNode node = pass(graph, NULL, 100000, &one);
    ge_alloc(graph, node, 5000, &two);
    ge_go(ge_exec(graph), gold_stream(0));
    say_place(one, 100000, two, 5000);
    say(cuMemGetAddressRange(&start, &size, two + 8));
    say_if("start", start == two);
    say_int((long long)size);
    NEED(cuMemFree(two));
}

CASE(graph_reuse, another_graph_frees_the_first)
{
    /* Whether an address is given out again, once another graph has a free node for its memory. */
    CUdeviceptr one, two;
    CUgraph graph = ge_graph(), other = ge_graph();
    CUgraphNode made = ge_alloc(graph, NULL, 4096, &one);
    CUgraphNode freed = ge_free(other, NULL, one);
    pass(other, freed, 4096, &two);
    say_place(one, 4096, two, 4096);
    (void)made;
}

CASE(graph_reuse, in_a_child)
{
    CUdeviceptr one, two, three;
    CUgraph graph = ge_graph(), child = ge_graph();
    CUgraphNode node = pass(child, NULL, 4096, &one);
    pass(child, node, 4096, &two);
    say_place(one, 4096, two, 4096);
    CUgraphNodeParams params;
    memset(&params, 0, sizeof params);
    params.type = CU_GRAPH_NODE_TYPE_GRAPH;
    params.graph.graph = child;
    params.graph.ownership = CU_GRAPH_CHILD_GRAPH_OWNERSHIP_MOVE;
    say(cuGraphAddNode_v2(&node, graph, NULL, NULL, 0, &params));
    pass(graph, node, 4096, &three);
    say_place(one, 4096, three, 4096);
    ge_run(ge_exec(graph), gold_stream(0));
}

CASE(graph_reuse, captured)
{
    CUdeviceptr one = 0, two = 0, three = 0;
    CUgraph graph;
    CUstream stream = gold_stream(CU_STREAM_NON_BLOCKING);
    NEED(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_RELAXED));
    NEED(cuMemAllocAsync(&one, 4096, stream));
    NEED(cuMemFreeAsync(one, stream));
    NEED(cuMemAllocAsync(&two, 4096, stream));
    NEED(cuMemAllocAsync(&three, 4096, stream));
    NEED(cuMemFreeAsync(two, stream));
    NEED(cuMemFreeAsync(three, stream));
    NEED(cuStreamEndCapture(stream, &graph));
    say_place(one, 4096, two, 4096);
    say_place(one, 4096, three, 4096);
    ge_run(ge_exec(graph), stream);
}

CASE(graph_reuse, address_of_a_destroyed_graph)
{
    CUdeviceptr one, two;
    CUgraph graph = ge_graph();
    pass(graph, NULL, 4096, &one);
    NEED(cuGraphDestroy(graph));
    graph = ge_graph();
    pass(graph, NULL, 4096, &two);
    say_if("address", two != 0);
    ge_run(ge_exec(graph), gold_stream(0));
}

/* ---- what a device's graphs hold together ---- */

/* A graph that allocates, writes the last word and frees. */
static CUgraphExec user(size_t bytes)
{
    CUdeviceptr memory;
    CUgraph graph = ge_graph();
    CUgraphNode node = ge_alloc(graph, NULL, bytes, &memory);
    ge_free(graph, ge_store(graph, node, memory + bytes - 4, 7), memory);
    return ge_exec(graph);
}

CASE(graph_reuse, account_by_size, .alone = true)
{
    static const size_t sizes[] = {1, 31, 32, 33, 64, 65, 100};
    CUstream stream = gold_stream(0);
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        CUgraphExec exec = user(sizes[i] * MIB);
        ge_go(exec, stream);
        say_account();
        NEED(cuGraphExecDestroy(exec));
        NEED(cuDeviceGraphMemTrim(gold_device()));
    }
}

CASE(graph_reuse, account_two_at_once, .alone = true)
{
    CUdeviceptr one, two;
    CUgraph graph = ge_graph();
    CUgraphNode node = ge_alloc(graph, ge_alloc(graph, NULL, 20 * MIB, &one), 20 * MIB, &two);
    ge_free(graph, ge_free(graph, node, one), two);
    ge_go(ge_exec(graph), gold_stream(0));
    say_account();
}

CASE(graph_reuse, account_smaller_in_turn, .alone = true)
{
    CUdeviceptr one, two;
    CUgraph graph = ge_graph();
    CUgraphNode node = pass(graph, NULL, 60 * MIB, &one);
    pass(graph, node, 20 * MIB, &two);
    ge_go(ge_exec(graph), gold_stream(0));
    say_account();
}

CASE(graph_reuse, account_larger_in_turn, .alone = true)
{
    CUdeviceptr one, two;
    CUgraph graph = ge_graph();
    CUgraphNode node = pass(graph, NULL, 20 * MIB, &one);
    pass(graph, node, 60 * MIB, &two);
    ge_go(ge_exec(graph), gold_stream(0));
    say_account();
}

CASE(graph_reuse, account_of_graphs_in_one_stream, .alone = true)
{
    CUstream stream = gold_stream(0);
    CUgraphExec one = user(32 * MIB), two = user(32 * MIB), three = user(96 * MIB);
    ge_go(one, stream);
    say_account();
    ge_go(two, stream);
    say_account();
    ge_go(three, stream);
    say_account();
    ge_go(one, stream);
    say_account();
    NEED(cuGraphExecDestroy(three));
    say_account();
    NEED(cuDeviceGraphMemTrim(gold_device()));
    say_account();
    ge_go(two, stream);
    say_account();
    ge_go(one, stream);
    say_account();
}

CASE(graph_reuse, account_of_graphs_queued_in_one_stream, .alone = true)
{
    CUstream stream = gold_stream(CU_STREAM_NON_BLOCKING);
    CUgraphExec one = user(32 * MIB), two = user(32 * MIB);
    struct gold_gate gate = gold_gate_close(stream);
    NEED(cuGraphLaunch(one, stream));
    say_account();
    NEED(cuGraphLaunch(two, stream));
    say_account();
    gold_gate_open(gate);
    NEED(cuStreamSynchronize(stream));
    say_account();
}

CASE(graph_reuse, account_of_graphs_in_two_streams, .alone = true)
{
    CUstream left = gold_stream(CU_STREAM_NON_BLOCKING), right = gold_stream(CU_STREAM_NON_BLOCKING);
    CUgraphExec one = user(32 * MIB), two = user(32 * MIB);
    ge_go(one, left);
    say_account();
    ge_go(two, right);
    say_account();
    struct gold_gate gate = gold_gate_close(left);
    NEED(cuGraphLaunch(one, left));
    say_account();
    NEED(cuGraphLaunch(two, right));
    say_account();
    gold_gate_open(gate);
    NEED(cuCtxSynchronize());
    say_account();
    ge_go(one, left);
    ge_go(two, left);
    say_account();
    NEED(cuDeviceGraphMemTrim(gold_device()));
    say_account();
}

CASE(graph_reuse, account_behind_an_unfreed, .alone = true)
{
    CUdeviceptr kept;
    CUstream stream = gold_stream(0);
    CUgraph graph = ge_graph();
    ge_alloc(graph, NULL, 32 * MIB, &kept);
    CUgraphExec keeps = ge_exec(graph), uses = user(32 * MIB);
    ge_go(keeps, stream);
    say_account();
    ge_go(uses, stream);
    say_account();
    NEED(cuMemFree(kept));
    say_account();
    ge_go(uses, stream);
    say_account();
    NEED(cuDeviceGraphMemTrim(gold_device()));
    say_account();
}

CASE(graph_reuse, account_takes_over_a_freed, .alone = true)
{
    CUdeviceptr kept;
    CUstream stream = gold_stream(0);
    CUgraph graph = ge_graph();
    ge_alloc(graph, NULL, 32 * MIB, &kept);
    CUgraphExec keeps = ge_exec(graph), uses = user(32 * MIB);
    ge_go(keeps, stream);
    NEED(cuMemFree(kept));
    say_account();
    ge_go(uses, stream);
    say_account();
}

CASE(graph_reuse, trim_while_it_waits, .alone = true)
{
    CUstream stream = gold_stream(CU_STREAM_NON_BLOCKING);
    CUgraphExec exec = user(32 * MIB);
    ge_go(exec, stream);
    struct gold_gate gate = gold_gate_close(stream);
    NEED(cuGraphLaunch(exec, stream));
    say(cuDeviceGraphMemTrim(gold_device()));
    say_account();
    gold_gate_open(gate);
    NEED(cuStreamSynchronize(stream));
    NEED(cuDeviceGraphMemTrim(gold_device()));
    say_account();
}

CASE(graph_reuse, account_of_uploads, .alone = true)
{
    CUstream stream = gold_stream(CU_STREAM_NON_BLOCKING);
    CUgraphExec one = user(32 * MIB), two = user(32 * MIB);
    struct gold_gate gate = gold_gate_close(stream);
    NEED(cuGraphUpload(one, stream));
    say_account();
    NEED(cuGraphUpload(two, stream));
    say_account();
    gold_gate_open(gate);
    NEED(cuStreamSynchronize(stream));
    say_account();
}

CASE(graph_reuse, data_of_two_graphs_at_once)
{
    /* Shared or not, graphs that run at the same time do not spoil each other's memory. */
    CUdeviceptr one, two, words = gold_alloc_words(2, 0);
    CUstream left = gold_stream(CU_STREAM_NON_BLOCKING), right = gold_stream(CU_STREAM_NON_BLOCKING);
    CUgraph first = ge_graph(), second = ge_graph();
    volatile unsigned *flag = ge_flag();
    CUgraphNode node = ge_alloc(first, NULL, 4096, &one);
    node = ge_store(first, node, one, 11);
    ge_free(first, ge_move(first, ge_spin(first, node, flag), words, one), one);
    node = ge_alloc(second, NULL, 4096, &two);
    node = ge_store(second, node, two, 22);
    ge_free(second, ge_move(second, node, words + 4, two), two);
    CUgraphExec a = ge_exec(first), b = ge_exec(second);
    NEED(cuGraphLaunch(b, left));
    NEED(cuGraphLaunch(a, left));
    NEED(cuGraphLaunch(b, right));
    NEED(cuStreamSynchronize(right));
    *flag = 1;
    NEED(cuCtxSynchronize());
    say_int(gold_word(words));
    say_int(gold_word(words + 4));
}
