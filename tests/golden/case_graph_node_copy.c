/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Nodes that copy and fill: what they take and refuse, and what a run leaves.
 */
#include "gold_graph.h"

static void try_copy(const CUDA_MEMCPY3D *copy, CUcontext context)
{
    CUgraph graph = graph_new();
    CUgraphNode node = NULL;
    say(cuGraphAddMemcpyNode(&node, graph, NULL, 0, copy, context));
    say_value("nodes", nodes_of(graph));
    graph_end(graph);
}

static void try_fill(const CUDA_MEMSET_NODE_PARAMS *fill, CUcontext context)
{
    CUgraph graph = graph_new();
    CUgraphNode node = NULL;
    say(cuGraphAddMemsetNode(&node, graph, NULL, 0, fill, context));
    say_value("nodes", nodes_of(graph));
    graph_end(graph);
}

/* ---- copies ---- */

CASE(graph_node, copy)
{
    CUgraph graph = graph_new();
    CUdeviceptr from = gold_alloc_words(4, 17), to = gold_alloc_words(4, 0);
    CUDA_MEMCPY3D copy = linear_copy(to, from, 16);
    CUgraphNode node = NULL;
    say(cuGraphAddMemcpyNode(&node, graph, NULL, 0, &copy, gold_context()));
    say_type(node);
    run_once(graph);
    say_int(gold_word(to + 12));
    graph_end(graph);
}

CASE(graph_node, copy_null_arguments)
{
    CUgraph graph = graph_new();
    CUdeviceptr word = gold_alloc_words(4, 0);
    CUDA_MEMCPY3D copy = linear_copy(word, word + 8, 8);
    CUgraphNode node = NULL;
    say(cuGraphAddMemcpyNode(NULL, graph, NULL, 0, &copy, gold_context()));
    say(cuGraphAddMemcpyNode(&node, NULL, NULL, 0, &copy, gold_context()));
    say(cuGraphAddMemcpyNode(&node, graph, NULL, 0, NULL, gold_context()));
    say_value("nodes", nodes_of(graph));
    graph_end(graph);
}

CASE(graph_node, copy_null_context)
{
    CUdeviceptr word = gold_alloc_words(4, 0);
    CUDA_MEMCPY3D copy = linear_copy(word, word + 8, 8);
    try_copy(&copy, NULL);
}

CASE(graph_node, copy_null_context_and_none_current, .alone = true)
{
    CUdeviceptr word = gold_alloc_words(4, 0);
    CUDA_MEMCPY3D copy = linear_copy(word, word + 8, 8);
    NEED(cuCtxSetCurrent(NULL));
    try_copy(&copy, NULL);
    try_copy(&copy, gold_context());
}

CASE(graph_node, copy_foreign_context, .alone = true,
     .allow = "CUDA_ERROR_INVALID_VALUE nodes=0|CUDA_ERROR_INVALID_CONTEXT nodes=0",
     .why = "hardware reads whatever lies at the handle")
{
    CUdeviceptr word = gold_alloc_words(4, 0);
    CUDA_MEMCPY3D copy = linear_copy(word, word + 8, 8);
    try_copy(&copy, gold_foreign());
}

CASE(graph_node, copy_in_other_context, .alone = true)
{
    CUdeviceptr from = gold_alloc_words(4, 3), to = gold_alloc_words(4, 0);
    CUcontext other = gold_context_new();
    CUDA_MEMCPY3D copy = linear_copy(to, from, 16);
    CUgraph graph = graph_new();
    CUgraphNode node = NULL;
    say(cuGraphAddMemcpyNode(&node, graph, NULL, 0, &copy, other));
    NEED(cuCtxSetCurrent(gold_context()));
    say(cuGraphAddMemcpyNode(&node, graph, NULL, 0, &copy, other));
}

CASE(graph_node, copy_nothing)
{
    CUdeviceptr word = gold_alloc_words(4, 0);
    CUDA_MEMCPY3D copy = linear_copy(word, word + 8, 0);
    try_copy(&copy, gold_context());
    copy = linear_copy(word, word + 8, 8);
    copy.Height = 0;
    try_copy(&copy, gold_context());
    copy.Height = 1;
    copy.Depth = 0;
    try_copy(&copy, gold_context());
}

CASE(graph_node, copy_null_addresses)
{
    CUdeviceptr word = gold_alloc_words(4, 0);
    CUDA_MEMCPY3D copy = linear_copy(0, word, 8);
    try_copy(&copy, gold_context());
    copy = linear_copy(word, 0, 8);
    try_copy(&copy, gold_context());
}

CASE(graph_node, copy_wild_addresses)
{
    CUdeviceptr word = gold_alloc_words(4, 0);
    CUDA_MEMCPY3D copy = linear_copy((CUdeviceptr)(uintptr_t)GOLD_WILD, word, 8);
    try_copy(&copy, gold_context());
    copy = linear_copy(word, (CUdeviceptr)(uintptr_t)GOLD_WILD, 8);
    try_copy(&copy, gold_context());
}

CASE(graph_node, copy_beyond_the_allocation)
{
    CUdeviceptr to = gold_alloc(64), from = gold_alloc(64);
    CUDA_MEMCPY3D copy = linear_copy(to, from, (size_t)1 << 32);
    try_copy(&copy, gold_context());
}

CASE(graph_node, copy_host_to_device_and_back)
{
    static unsigned out[4], in[4];
    for (unsigned i = 0; i < 4; i++)
        out[i] = 100 + i, in[i] = 0;
    CUdeviceptr word = gold_alloc_words(4, 0);
    CUDA_MEMCPY3D there = linear_copy(word, 0, 16), back = linear_copy(0, word, 16);
    there.srcMemoryType = CU_MEMORYTYPE_HOST;
    there.srcHost = out;
    back.dstMemoryType = CU_MEMORYTYPE_HOST;
    back.dstHost = in;
    CUgraph graph = graph_new();
    CUgraphNode one = NULL, two = NULL;
    say(cuGraphAddMemcpyNode(&one, graph, NULL, 0, &there, gold_context()));
    say(cuGraphAddMemcpyNode(&two, graph, &one, 1, &back, gold_context()));
    out[2] = 555;
    run_once(graph);
    for (int i = 0; i < 4; i++)
        say_int(in[i]);
    graph_end(graph);
}

CASE(graph_node, copy_unified)
{
    static unsigned out[4] = {1, 2, 3, 4}, in[4];
    CUdeviceptr word = gold_alloc_words(4, 0);
    CUDA_MEMCPY3D there = linear_copy(word, (CUdeviceptr)(uintptr_t)out, 16),
                  back = linear_copy((CUdeviceptr)(uintptr_t)in, word, 16);
    there.srcMemoryType = there.dstMemoryType = CU_MEMORYTYPE_UNIFIED;
    back.srcMemoryType = back.dstMemoryType = CU_MEMORYTYPE_UNIFIED;
    CUgraph graph = graph_new();
    CUgraphNode one = NULL, two = NULL;
    say(cuGraphAddMemcpyNode(&one, graph, NULL, 0, &there, gold_context()));
    say(cuGraphAddMemcpyNode(&two, graph, &one, 1, &back, gold_context()));
    run_once(graph);
    for (int i = 0; i < 4; i++)
        say_int(in[i]);
    graph_end(graph);
}

CASE(graph_node, copy_host_to_host)
{
    static unsigned out[4] = {5, 6, 7, 8}, in[4];
    CUDA_MEMCPY3D copy = linear_copy(0, 0, 16);
    copy.srcMemoryType = copy.dstMemoryType = CU_MEMORYTYPE_HOST;
    copy.srcHost = out;
    copy.dstHost = in;
    CUgraph graph = graph_new();
    CUgraphNode node = NULL;
    say(cuGraphAddMemcpyNode(&node, graph, NULL, 0, &copy, gold_context()));
    if (node) {
        run_once(graph);
        say_int(in[3]);
    }
    graph_end(graph);
}

CASE(graph_node, copy_bad_memory_types)
{
    CUdeviceptr word = gold_alloc_words(4, 0);
    CUDA_MEMCPY3D copy = linear_copy(word, word + 8, 8);
    copy.srcMemoryType = (CUmemorytype)0;
    try_copy(&copy, gold_context());
    copy.srcMemoryType = (CUmemorytype)5;
    try_copy(&copy, gold_context());
    copy.srcMemoryType = CU_MEMORYTYPE_DEVICE;
    copy.dstMemoryType = (CUmemorytype)77;
    try_copy(&copy, gold_context());
}

CASE(graph_node, copy_null_array)
{
    CUdeviceptr word = gold_alloc_words(4, 0);
    CUDA_MEMCPY3D copy = linear_copy(word, 0, 8);
    copy.srcMemoryType = CU_MEMORYTYPE_ARRAY;
    try_copy(&copy, gold_context());
}

CASE(graph_node, copy_box)
{
    CUdeviceptr from = gold_alloc(64 * 8 * 4), to = gold_alloc(64 * 8 * 4);
    unsigned char bytes[64 * 8 * 4];
    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = (unsigned char)(i * 3 + i / 256);
    NEED(cuMemcpyHtoD(from, bytes, sizeof bytes));
    NEED(cuMemsetD8(to, 0, sizeof bytes));
    CUDA_MEMCPY3D copy = linear_copy(to, from, 13);
    copy.srcPitch = copy.dstPitch = 64;
    copy.srcHeight = copy.dstHeight = 8;
    copy.Height = 5;
    copy.Depth = 3;
    copy.srcXInBytes = 7;
    copy.srcY = 2;
    copy.srcZ = 1;
    copy.dstXInBytes = 3;
    copy.dstY = 1;
    CUgraph graph = graph_new();
    CUgraphNode node = NULL;
    say(cuGraphAddMemcpyNode(&node, graph, NULL, 0, &copy, gold_context()));
    run_once(graph);
    NEED(cuMemcpyDtoH(bytes, to, sizeof bytes));
    say_hash(bytes, sizeof bytes);
    graph_end(graph);
}

CASE(graph_node, copy_pitch_too_small)
{
    CUdeviceptr from = gold_alloc(4096), to = gold_alloc(4096);
    CUDA_MEMCPY3D copy = linear_copy(to, from, 64);
    copy.Height = 4;
    copy.srcPitch = 32;
    copy.dstPitch = 64;
    try_copy(&copy, gold_context());
    copy.srcPitch = 64;
    copy.dstPitch = 63;
    try_copy(&copy, gold_context());
    copy.dstPitch = 64;
    copy.Depth = 2;
    copy.srcHeight = 4;
    copy.dstHeight = 3;
    try_copy(&copy, gold_context());
    copy.dstHeight = 0;
    try_copy(&copy, gold_context());
}

CASE(graph_node, copy_lod)
{
    CUdeviceptr from = gold_alloc(64), to = gold_alloc(64);
    CUDA_MEMCPY3D copy = linear_copy(to, from, 64);
    copy.srcLOD = 1;
    try_copy(&copy, gold_context());
    copy.srcLOD = 0;
    copy.dstLOD = 1;
    try_copy(&copy, gold_context());
    copy.dstLOD = 0;
    copy.reserved0 = &copy;
    try_copy(&copy, gold_context());
}

/* ---- fills ---- */

CASE(graph_node, fill)
{
    CUgraph graph = graph_new();
    CUdeviceptr word = gold_alloc_words(4, 0);
    CUDA_MEMSET_NODE_PARAMS fill = linear_fill(word, 0x01020304u, 4, 3);
    CUgraphNode node = NULL;
    say(cuGraphAddMemsetNode(&node, graph, NULL, 0, &fill, gold_context()));
    say_type(node);
    run_once(graph);
    say_hex(gold_word(word + 8));
    say_hex(gold_word(word + 12));
    graph_end(graph);
}

CASE(graph_node, fill_null_arguments)
{
    CUgraph graph = graph_new();
    CUdeviceptr word = gold_alloc_words(4, 0);
    CUDA_MEMSET_NODE_PARAMS fill = linear_fill(word, 0, 4, 4);
    CUgraphNode node = NULL;
    say(cuGraphAddMemsetNode(NULL, graph, NULL, 0, &fill, gold_context()));
    say(cuGraphAddMemsetNode(&node, NULL, NULL, 0, &fill, gold_context()));
    say(cuGraphAddMemsetNode(&node, graph, NULL, 0, NULL, gold_context()));
    say_value("nodes", nodes_of(graph));
    graph_end(graph);
}

CASE(graph_node, fill_null_context)
{
    CUdeviceptr word = gold_alloc_words(4, 0);
    CUDA_MEMSET_NODE_PARAMS fill = linear_fill(word, 0, 4, 4);
    try_fill(&fill, NULL);
}

CASE(graph_node, fill_null_context_and_none_current, .alone = true)
{
    CUdeviceptr word = gold_alloc_words(4, 0);
    CUDA_MEMSET_NODE_PARAMS fill = linear_fill(word, 0, 4, 4);
    NEED(cuCtxSetCurrent(NULL));
    try_fill(&fill, NULL);
    try_fill(&fill, gold_context());
}

CASE(graph_node, fill_element_sizes)
{
    CUdeviceptr word = gold_alloc_words(64, 0);
    for (unsigned size = 0; size <= 16; size++) {
        CUDA_MEMSET_NODE_PARAMS fill = linear_fill(word, 1, size, 4);
        CUgraph graph = graph_new();
        CUgraphNode node = NULL;
        say(cuGraphAddMemsetNode(&node, graph, NULL, 0, &fill, gold_context()));
        graph_end(graph);
    }
}

CASE(graph_node, fill_nothing)
{
    CUdeviceptr word = gold_alloc_words(4, 0);
    CUDA_MEMSET_NODE_PARAMS fill = linear_fill(word, 1, 4, 0);
    try_fill(&fill, gold_context());
    fill.width = 4;
    fill.height = 0;
    try_fill(&fill, gold_context());
}

CASE(graph_node, fill_null_address)
{
    CUDA_MEMSET_NODE_PARAMS fill = linear_fill(0, 1, 4, 4);
    try_fill(&fill, gold_context());
    fill = linear_fill((CUdeviceptr)(uintptr_t)GOLD_WILD, 1, 1, 4);
    try_fill(&fill, gold_context());
}

CASE(graph_node, fill_misaligned)
{
    CUdeviceptr word = gold_alloc_words(16, 0);
    CUDA_MEMSET_NODE_PARAMS fill = linear_fill(word + 1, 1, 4, 4);
    try_fill(&fill, gold_context());
    fill = linear_fill(word + 1, 1, 2, 4);
    try_fill(&fill, gold_context());
    fill = linear_fill(word + 2, 1, 4, 4);
    try_fill(&fill, gold_context());
    fill = linear_fill(word + 1, 1, 1, 4);
    try_fill(&fill, gold_context());
}

CASE(graph_node, fill_value_wider_than_the_element, .allow = "CUDA_SUCCESS CUDA_SUCCESS 0x78787878 0x56785678",
     .why = "hardware mixes the bytes of a value that is wider than its element")
{
    CUgraph graph = graph_new();
    CUdeviceptr word = gold_alloc_words(4, 0);
    CUDA_MEMSET_NODE_PARAMS fill = linear_fill(word, 0x12345678, 1, 4);
    CUgraphNode node = NULL;
    say(cuGraphAddMemsetNode(&node, graph, NULL, 0, &fill, gold_context()));
    fill = linear_fill(word + 4, 0x12345678, 2, 2);
    say(cuGraphAddMemsetNode(&node, graph, NULL, 0, &fill, gold_context()));
    if (nodes_of(graph))
        run_once(graph);
    say_hex(gold_word(word));
    say_hex(gold_word(word + 4));
    graph_end(graph);
}

CASE(graph_node, fill_rows)
{
    CUgraph graph = graph_new();
    CUdeviceptr word = gold_alloc_words(64, 0);
    CUDA_MEMSET_NODE_PARAMS fill = linear_fill(word + 8, 0xabcd, 2, 5);
    fill.height = 3;
    fill.pitch = 64;
    CUgraphNode node = NULL;
    say(cuGraphAddMemsetNode(&node, graph, NULL, 0, &fill, gold_context()));
    run_once(graph);
    unsigned char bytes[256];
    NEED(cuMemcpyDtoH(bytes, word, sizeof bytes));
    say_hash(bytes, sizeof bytes);
    graph_end(graph);
}

CASE(graph_node, fill_pitch)
{
    CUdeviceptr word = gold_alloc_words(64, 0);
    CUDA_MEMSET_NODE_PARAMS fill = linear_fill(word, 1, 4, 4);
    fill.height = 2;
    static const size_t pitches[] = {0, 8, 15, 16, 17, 18, 20};
    for (int i = 0; i < 7; i++) {
        fill.pitch = pitches[i];
        try_fill(&fill, gold_context());
    }
    fill.height = 1;
    fill.pitch = 3;
    try_fill(&fill, gold_context());
}

CASE(graph_node, fill_beyond_the_allocation)
{
    CUdeviceptr word = gold_alloc_words(4, 0);
    CUDA_MEMSET_NODE_PARAMS fill = linear_fill(word, 1, 4, (size_t)1 << 30);
    try_fill(&fill, gold_context());
}

CASE(graph_node, fill_host_memory)
{
    static unsigned plain[4];
    void *pinned = NULL;
    NEED(cuMemHostAlloc(&pinned, 64, 0));
    CUDA_MEMSET_NODE_PARAMS fill = linear_fill((CUdeviceptr)(uintptr_t)plain, 1, 4, 4);
    try_fill(&fill, gold_context());
    fill.dst = (CUdeviceptr)(uintptr_t)pinned;
    try_fill(&fill, gold_context());
    NEED(cuMemFreeHost(pinned));
}
