/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Parameters of nodes: what is told of them, what setting them changes, what
 * setting refuses, and the attributes of kernel nodes.
 */
#include "gold_graph.h"

static void say_shape(const CUDA_KERNEL_NODE_PARAMS *p)
{
    say_int(p->gridDimX);
    say_int(p->gridDimY);
    say_int(p->gridDimZ);
    say_int(p->blockDimX);
    say_int(p->blockDimY);
    say_int(p->blockDimZ);
    say_value("shared", p->sharedMemBytes);
}

/* ---- kernels ---- */

CASE(graph_params, kernel_told)
{
    CUdeviceptr word = gold_alloc_words(1, 0);
    unsigned value = 5;
    void *params[] = {&word, &value};
    CUDA_KERNEL_NODE_PARAMS p = one_thread(gold_function("store"), params), got;
    p.gridDimX = 3;
    p.gridDimY = 4;
    p.gridDimZ = 5;
    p.blockDimX = 6;
    p.blockDimY = 7;
    p.blockDimZ = 8;
    p.sharedMemBytes = 100;
    CUgraph graph = graph_new();
    CUgraphNode node = NULL;
    NEED(cuGraphAddKernelNode_v2(&node, graph, NULL, 0, &p));
    value = 6;
    memset(&got, 0x55, sizeof got);
    say(cuGraphKernelNodeGetParams_v2(node, &got));
    say_shape(&got);
    say_if("func", got.func == p.func);
    say_if("no_extra", got.extra == NULL);
    say_if("no_kern", got.kern == NULL);
    say_if("own_ctx", got.ctx == gold_context());
    say_if("copied", got.kernelParams != params);
    say_if("address", *(CUdeviceptr *)got.kernelParams[0] == word);
    say_int(*(unsigned *)got.kernelParams[1]);
    graph_end(graph);
}

CASE(graph_params, kernel_told_after_extra)
{
    struct {
        CUdeviceptr target;
        unsigned value;
    } buffer = {gold_alloc_words(1, 0), 77};
    size_t size = 12;
    void *extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, &buffer, CU_LAUNCH_PARAM_BUFFER_SIZE, &size, CU_LAUNCH_PARAM_END};
    CUDA_KERNEL_NODE_PARAMS p = one_thread(gold_function("store"), NULL), got;
    p.extra = extra;
    CUgraph graph = graph_new();
    CUgraphNode node = NULL;
    NEED(cuGraphAddKernelNode_v2(&node, graph, NULL, 0, &p));
    memset(&got, 0x55, sizeof got);
    say(cuGraphKernelNodeGetParams_v2(node, &got));
    say_if("params", got.kernelParams != NULL);
    say_if("extra", got.extra != NULL);
    graph_end(graph);
}

CASE(graph_params, kernel_told_without_parameters)
{
    CUDA_KERNEL_NODE_PARAMS p = one_thread(gold_function("empty"), NULL), got;
    CUgraph graph = graph_new();
    CUgraphNode node = NULL;
    NEED(cuGraphAddKernelNode_v2(&node, graph, NULL, 0, &p));
    memset(&got, 0x55, sizeof got);
    say(cuGraphKernelNodeGetParams_v2(node, &got));
    say_if("params", got.kernelParams != NULL);
    say_if("extra", got.extra != NULL);
    graph_end(graph);
}

CASE(graph_params, kernel_told_twice_is_stable)
{
    CUgraph graph = graph_new();
    CUgraphNode node = store_in(graph, gold_alloc_words(1, 0), 4);
    CUDA_KERNEL_NODE_PARAMS one, two;
    say(cuGraphKernelNodeGetParams_v2(node, &one));
    say(cuGraphKernelNodeGetParams_v2(node, &two));
    say_if("same", one.kernelParams == two.kernelParams && one.kernelParams[0] == two.kernelParams[0]);
    graph_end(graph);
}

CASE(graph_params, kernel_all_sizes)
{
    struct {
        CUdeviceptr target;
        unsigned char a;
        unsigned short b;
        unsigned c;
        double d;
    } v = {gold_alloc_words(8, 0), 200, 60000, 4000000000u, 2.5};
    void *params[] = {&v.target, &v.a, &v.b, &v.c, &v.d};
    CUDA_KERNEL_NODE_PARAMS p = one_thread(gold_function("params"), params), got;
    CUgraph graph = graph_new();
    CUgraphNode node = NULL;
    NEED(cuGraphAddKernelNode_v2(&node, graph, NULL, 0, &p));
    say(cuGraphKernelNodeGetParams_v2(node, &got));
    say_int(*(unsigned char *)got.kernelParams[1]);
    say_int(*(unsigned short *)got.kernelParams[2]);
    say_int(*(unsigned *)got.kernelParams[3]);
    say_if("double", *(double *)got.kernelParams[4] == 2.5);
    run_once(graph);
    say_int(gold_word(v.target));
    say_int(gold_word(v.target + 4));
    say_int(gold_word(v.target + 8));
    graph_end(graph);
}

CASE(graph_params, kernel_null_arguments)
{
    CUgraph graph = graph_new();
    CUgraphNode node = store_in(graph, gold_alloc_words(1, 0), 4), empty = empty_in(graph);
    CUDA_KERNEL_NODE_PARAMS p = one_thread(gold_function("empty"), NULL);
    say(cuGraphKernelNodeGetParams_v2(node, NULL));
    say(cuGraphKernelNodeGetParams_v2(NULL, &p));
    say(cuGraphKernelNodeGetParams_v2(empty, &p));
    p = one_thread(gold_function("empty"), NULL);
    say(cuGraphKernelNodeSetParams_v2(node, NULL));
    say(cuGraphKernelNodeSetParams_v2(NULL, &p));
    say(cuGraphKernelNodeSetParams_v2(empty, &p));
    graph_end(graph);
}

CASE(graph_params, kernel_set)
{
    CUdeviceptr word = gold_alloc_words(2, 0), other = word + 4;
    unsigned value = 70;
    void *params[] = {&other, &value};
    CUgraph graph = graph_new();
    CUgraphNode node = store_in(graph, word, 4);
    CUDA_KERNEL_NODE_PARAMS p = one_thread(gold_function("store"), params);
    say(cuGraphKernelNodeSetParams_v2(node, &p));
    value = 71;
    run_once(graph);
    say_int(gold_word(word));
    say_int(gold_word(other));
    graph_end(graph);
}

CASE(graph_params, kernel_set_other_function)
{
    CUdeviceptr word = gold_alloc_words(1, 10);
    unsigned value = 7;
    void *params[] = {&word, &value};
    CUgraph graph = graph_new();
    CUgraphNode node = store_in(graph, word, 4);
    CUDA_KERNEL_NODE_PARAMS p = one_thread(gold_function("add"), params), got;
    say(cuGraphKernelNodeSetParams_v2(node, &p));
    say(cuGraphKernelNodeGetParams_v2(node, &got));
    say_if("func", got.func == p.func);
    run_once(graph);
    say_int(gold_word(word));
    graph_end(graph);
}

CASE(graph_params, kernel_set_wrong_leaves_all)
{
    CUdeviceptr word = gold_alloc_words(1, 0);
    unsigned value = 70;
    void *params[] = {&word, &value};
    CUgraph graph = graph_new();
    CUgraphNode node = store_in(graph, word, 4);
    CUDA_KERNEL_NODE_PARAMS p = one_thread(gold_function("store"), params);
    p.gridDimX = 0;
    say(cuGraphKernelNodeSetParams_v2(node, &p));
    p.gridDimX = 1;
    p.blockDimX = 2000;
    say(cuGraphKernelNodeSetParams_v2(node, &p));
    p.blockDimX = 1;
    p.func = NULL;
    say(cuGraphKernelNodeSetParams_v2(node, &p));
    p.func = gold_function("store");
    p.kernelParams = NULL;
    say(cuGraphKernelNodeSetParams_v2(node, &p));
    p.kernelParams = params;
    p.sharedMemBytes = 1u << 30;
    say(cuGraphKernelNodeSetParams_v2(node, &p));
    run_once(graph);
    say_int(gold_word(word));
    graph_end(graph);
}

CASE(graph_params, kernel_set_leaves_clones)
{
    CUdeviceptr word = gold_alloc_words(1, 0);
    unsigned value = 70;
    void *params[] = {&word, &value};
    CUgraph graph = graph_new(), clone = NULL;
    CUgraphNode node = store_in(graph, word, 4);
    NEED(cuGraphClone(&clone, graph));
    CUDA_KERNEL_NODE_PARAMS p = one_thread(gold_function("store"), params);
    say(cuGraphKernelNodeSetParams_v2(node, &p));
    run_once(clone);
    say_int(gold_word(word));
    run_once(graph);
    say_int(gold_word(word));
    graph_end(graph);
    graph_end(clone);
}

CASE(graph_params, kernel_set_in_a_child)
{
    CUdeviceptr word = gold_alloc_words(1, 0);
    unsigned value = 70;
    void *params[] = {&word, &value};
    CUgraph graph = graph_new(), inner = graph_new(), got = NULL;
    store_in(inner, word, 4);
    CUgraphNode child = NULL, node = NULL;
    NEED(cuGraphAddChildGraphNode(&child, graph, NULL, 0, inner));
    NEED(cuGraphChildGraphNodeGetGraph(child, &got));
    size_t count = 1;
    NEED(cuGraphGetNodes(got, &node, &count));
    CUDA_KERNEL_NODE_PARAMS p = one_thread(gold_function("store"), params);
    say(cuGraphKernelNodeSetParams_v2(node, &p));
    run_once(graph);
    say_int(gold_word(word));
    run_once(inner);
    say_int(gold_word(word));
    graph_end(graph);
    graph_end(inner);
}

CASE(graph_params, kernel_set_function_of_other_context, .alone = true)
{
    CUdeviceptr word = gold_alloc_words(1, 0);
    CUgraph graph = graph_new();
    CUgraphNode node = store_in(graph, word, 4);
    gold_context_new();
    CUmodule module = gold_load(gold_ptx);
    CUfunction function;
    NEED(cuModuleGetFunction(&function, module, "empty"));
    CUDA_KERNEL_NODE_PARAMS p = one_thread(function, NULL), got;
    say(cuGraphKernelNodeSetParams_v2(node, &p));
    say(cuGraphKernelNodeGetParams_v2(node, &got));
    say_if("moved", got.ctx != gold_context());
}

/* ---- copies ---- */

CASE(graph_params, copy_told)
{
    CUdeviceptr from = gold_alloc_words(64, 1), to = gold_alloc_words(64, 0);
    CUDA_MEMCPY3D p = linear_copy(to, from, 16), got;
    p.srcXInBytes = 4;
    p.dstXInBytes = 8;
    p.srcHost = (void *)(uintptr_t)0x1234;
    CUgraph graph = graph_new();
    CUgraphNode node = NULL;
    NEED(cuGraphAddMemcpyNode(&node, graph, NULL, 0, &p, gold_context()));
    memset(&got, 0x55, sizeof got);
    say(cuGraphMemcpyNodeGetParams(node, &got));
    say_if("src", got.srcDevice == from);
    say_if("dst", got.dstDevice == to);
    say_value("srcX", (long long)got.srcXInBytes);
    say_value("dstX", (long long)got.dstXInBytes);
    say_value("srcType", got.srcMemoryType);
    say_value("dstType", got.dstMemoryType);
    say_value("srcPitch", (long long)got.srcPitch);
    say_value("dstPitch", (long long)got.dstPitch);
    say_value("srcHeight", (long long)got.srcHeight);
    say_value("dstHeight", (long long)got.dstHeight);
    say_value("width", (long long)got.WidthInBytes);
    say_value("height", (long long)got.Height);
    say_value("depth", (long long)got.Depth);
    say_if("host", got.srcHost == (void *)(uintptr_t)0x1234);
    graph_end(graph);
}

CASE(graph_params, copy_told_of_pitches)
{
    CUdeviceptr from = gold_alloc(4096), to = gold_alloc(4096);
    CUDA_MEMCPY3D p = linear_copy(to, from, 16), got;
    p.Height = 4;
    p.Depth = 2;
    p.srcPitch = 64;
    p.srcHeight = 4;
    p.dstPitch = 32;
    p.dstHeight = 5;
    CUgraph graph = graph_new();
    CUgraphNode node = NULL;
    NEED(cuGraphAddMemcpyNode(&node, graph, NULL, 0, &p, gold_context()));
    memset(&got, 0x55, sizeof got);
    say(cuGraphMemcpyNodeGetParams(node, &got));
    say_value("srcPitch", (long long)got.srcPitch);
    say_value("dstPitch", (long long)got.dstPitch);
    say_value("srcHeight", (long long)got.srcHeight);
    say_value("dstHeight", (long long)got.dstHeight);
    graph_end(graph);
}

CASE(graph_params, copy_told_of_unified)
{
    CUdeviceptr from = gold_alloc_words(4, 1), to = gold_alloc_words(4, 0);
    CUDA_MEMCPY3D p = linear_copy(to, from, 16), got;
    p.srcMemoryType = p.dstMemoryType = CU_MEMORYTYPE_UNIFIED;
    CUgraph graph = graph_new();
    CUgraphNode node = NULL;
    NEED(cuGraphAddMemcpyNode(&node, graph, NULL, 0, &p, gold_context()));
    memset(&got, 0x55, sizeof got);
    say(cuGraphMemcpyNodeGetParams(node, &got));
    say_value("srcType", got.srcMemoryType);
    say_value("dstType", got.dstMemoryType);
    graph_end(graph);
}

CASE(graph_params, copy_null_arguments)
{
    CUdeviceptr word = gold_alloc_words(8, 1);
    CUDA_MEMCPY3D p = linear_copy(word, word + 16, 16);
    CUgraph graph = graph_new();
    CUgraphNode node = NULL, empty = empty_in(graph);
    NEED(cuGraphAddMemcpyNode(&node, graph, NULL, 0, &p, gold_context()));
    say(cuGraphMemcpyNodeGetParams(node, NULL));
    say(cuGraphMemcpyNodeGetParams(NULL, &p));
    say(cuGraphMemcpyNodeGetParams(empty, &p));
    p = linear_copy(word, word + 16, 16);
    say(cuGraphMemcpyNodeSetParams(node, NULL));
    say(cuGraphMemcpyNodeSetParams(NULL, &p));
    say(cuGraphMemcpyNodeSetParams(empty, &p));
    graph_end(graph);
}

CASE(graph_params, copy_set)
{
    CUdeviceptr from = gold_alloc_words(4, 5), to = gold_alloc_words(8, 0);
    CUDA_MEMCPY3D p = linear_copy(to, from, 16);
    CUgraph graph = graph_new();
    CUgraphNode node = NULL;
    NEED(cuGraphAddMemcpyNode(&node, graph, NULL, 0, &p, gold_context()));
    p.dstDevice = to + 16;
    p.WidthInBytes = 8;
    say(cuGraphMemcpyNodeSetParams(node, &p));
    run_once(graph);
    for (unsigned i = 0; i < 8; i++)
        say_int(gold_word(to + 4 * i));
    graph_end(graph);
}

CASE(graph_params, copy_set_wrong_leaves_all)
{
    CUdeviceptr from = gold_alloc_words(4, 5), to = gold_alloc_words(4, 0);
    CUDA_MEMCPY3D p = linear_copy(to, from, 4);
    CUgraph graph = graph_new();
    CUgraphNode node = NULL;
    NEED(cuGraphAddMemcpyNode(&node, graph, NULL, 0, &p, gold_context()));
    p.WidthInBytes = 0;
    say(cuGraphMemcpyNodeSetParams(node, &p));
    p.WidthInBytes = 8;
    p.dstDevice = 0;
    say(cuGraphMemcpyNodeSetParams(node, &p));
    p.dstDevice = to;
    p.srcMemoryType = (CUmemorytype)9;
    say(cuGraphMemcpyNodeSetParams(node, &p));
    run_once(graph);
    say_int(gold_word(to));
    say_int(gold_word(to + 4));
    graph_end(graph);
}

CASE(graph_params, copy_set_other_kind)
{
    static unsigned out[4] = {8, 8, 8, 8};
    CUdeviceptr from = gold_alloc_words(4, 5), to = gold_alloc_words(4, 0);
    CUDA_MEMCPY3D p = linear_copy(to, from, 16);
    CUgraph graph = graph_new();
    CUgraphNode node = NULL;
    NEED(cuGraphAddMemcpyNode(&node, graph, NULL, 0, &p, gold_context()));
    p.srcMemoryType = CU_MEMORYTYPE_HOST;
    p.srcHost = out;
    say(cuGraphMemcpyNodeSetParams(node, &p));
    run_once(graph);
    say_int(gold_word(to));
    graph_end(graph);
}

/* ---- fills ---- */

CASE(graph_params, fill_told)
{
    CUdeviceptr to = gold_alloc_words(64, 0);
    CUDA_MEMSET_NODE_PARAMS p = linear_fill(to, 0x11223344, 2, 5), got;
    p.height = 3;
    p.pitch = 32;
    CUgraph graph = graph_new();
    CUgraphNode node = NULL;
    NEED(cuGraphAddMemsetNode(&node, graph, NULL, 0, &p, gold_context()));
    memset(&got, 0x55, sizeof got);
    say(cuGraphMemsetNodeGetParams(node, &got));
    say_if("dst", got.dst == to);
    say_hex(got.value);
    say_value("pitch", (long long)got.pitch);
    say_value("element", got.elementSize);
    say_value("width", (long long)got.width);
    say_value("height", (long long)got.height);
    graph_end(graph);
}

CASE(graph_params, fill_told_of_one_row)
{
    CUdeviceptr to = gold_alloc_words(64, 0);
    CUDA_MEMSET_NODE_PARAMS p = linear_fill(to, 0x11223344, 4, 5), got;
    p.pitch = 3;
    CUgraph graph = graph_new();
    CUgraphNode node = NULL;
    NEED(cuGraphAddMemsetNode(&node, graph, NULL, 0, &p, gold_context()));
    memset(&got, 0x55, sizeof got);
    say(cuGraphMemsetNodeGetParams(node, &got));
    say_hex(got.value);
    say_value("pitch", (long long)got.pitch);
    say_value("element", got.elementSize);
    say_value("width", (long long)got.width);
    say_value("height", (long long)got.height);
    graph_end(graph);
}

CASE(graph_params, fill_null_arguments)
{
    CUdeviceptr to = gold_alloc_words(64, 0);
    CUDA_MEMSET_NODE_PARAMS p = linear_fill(to, 1, 4, 4);
    CUgraph graph = graph_new();
    CUgraphNode node = NULL, empty = empty_in(graph);
    NEED(cuGraphAddMemsetNode(&node, graph, NULL, 0, &p, gold_context()));
    say(cuGraphMemsetNodeGetParams(node, NULL));
    say(cuGraphMemsetNodeGetParams(NULL, &p));
    say(cuGraphMemsetNodeGetParams(empty, &p));
    p = linear_fill(to, 1, 4, 4);
    say(cuGraphMemsetNodeSetParams(node, NULL));
    say(cuGraphMemsetNodeSetParams(NULL, &p));
    say(cuGraphMemsetNodeSetParams(empty, &p));
    graph_end(graph);
}

CASE(graph_params, fill_set)
{
    CUdeviceptr to = gold_alloc_words(4, 0);
    CUDA_MEMSET_NODE_PARAMS p = linear_fill(to, 1, 4, 4);
    CUgraph graph = graph_new();
    CUgraphNode node = NULL;
    NEED(cuGraphAddMemsetNode(&node, graph, NULL, 0, &p, gold_context()));
    p = linear_fill(to + 4, 0xab, 1, 6);
    say(cuGraphMemsetNodeSetParams(node, &p));
    run_once(graph);
    for (unsigned i = 0; i < 4; i++)
        say_hex(gold_word(to + 4 * i));
    graph_end(graph);
}

CASE(graph_params, fill_set_wrong_leaves_all)
{
    CUdeviceptr to = gold_alloc_words(4, 0);
    CUDA_MEMSET_NODE_PARAMS p = linear_fill(to, 1, 4, 2);
    CUgraph graph = graph_new();
    CUgraphNode node = NULL;
    NEED(cuGraphAddMemsetNode(&node, graph, NULL, 0, &p, gold_context()));
    p.elementSize = 3;
    say(cuGraphMemsetNodeSetParams(node, &p));
    p.elementSize = 4;
    p.dst = 0;
    say(cuGraphMemsetNodeSetParams(node, &p));
    p.dst = to;
    p.width = 0;
    say(cuGraphMemsetNodeSetParams(node, &p));
    run_once(graph);
    for (unsigned i = 0; i < 4; i++)
        say_int(gold_word(to + 4 * i));
    graph_end(graph);
}

/* ---- host functions ---- */

static void count_call(void *data)
{
    ++*(int *)data;
}

static void count_ten(void *data)
{
    *(int *)data += 10;
}

CASE(graph_params, host_told_and_set)
{
    int one = 0, two = 0;
    CUDA_HOST_NODE_PARAMS p = {count_call, &one}, got = {0};
    CUgraph graph = graph_new();
    CUgraphNode node = NULL;
    NEED(cuGraphAddHostNode(&node, graph, NULL, 0, &p));
    say(cuGraphHostNodeGetParams(node, &got));
    say_if("same", got.fn == count_call && got.userData == &one);
    p = (CUDA_HOST_NODE_PARAMS){count_ten, &two};
    say(cuGraphHostNodeSetParams(node, &p));
    say(cuGraphHostNodeGetParams(node, &got));
    say_if("same", got.fn == count_ten && got.userData == &two);
    run_once(graph);
    say_int(one);
    say_int(two);
    graph_end(graph);
}

CASE(graph_params, host_null_arguments)
{
    CUDA_HOST_NODE_PARAMS p = {count_call, NULL}, none = {NULL, NULL};
    CUgraph graph = graph_new();
    CUgraphNode node = NULL, empty = empty_in(graph);
    NEED(cuGraphAddHostNode(&node, graph, NULL, 0, &p));
    say(cuGraphHostNodeGetParams(node, NULL));
    say(cuGraphHostNodeGetParams(NULL, &p));
    say(cuGraphHostNodeGetParams(empty, &p));
    say(cuGraphHostNodeSetParams(node, NULL));
    say(cuGraphHostNodeSetParams(NULL, &p));
    say(cuGraphHostNodeSetParams(empty, &p));
    say(cuGraphHostNodeSetParams(node, &none));
    graph_end(graph);
}

/* ---- batches ---- */

CASE(graph_params, batch_told_and_set)
{
    CUdeviceptr word = gold_alloc_words(4, 0);
    CUstreamBatchMemOpParams ops[2];
    memset(ops, 0, sizeof ops);
    for (unsigned i = 0; i < 2; i++) {
        ops[i].operation = CU_STREAM_MEM_OP_WRITE_VALUE_32;
        ops[i].writeValue.address = word + 4 * i;
        ops[i].writeValue.value = 5 + i;
    }
    CUDA_BATCH_MEM_OP_NODE_PARAMS p = {gold_context(), 2, ops, 0}, got;
    CUgraph graph = graph_new();
    CUgraphNode node = NULL, empty = empty_in(graph);
    NEED(cuGraphAddBatchMemOpNode(&node, graph, NULL, 0, &p));
    memset(&got, 0x55, sizeof got);
    say(cuGraphBatchMemOpNodeGetParams(node, &got));
    say_if("ctx", got.ctx == gold_context());
    say_value("count", got.count);
    say_value("flags", got.flags);
    say_if("copied", got.paramArray != ops);
    say_value("value", got.paramArray[1].writeValue.value);
    p.count = 1;
    ops[0].writeValue.value = 50;
    say(cuGraphBatchMemOpNodeSetParams(node, &p));
    run_once(graph);
    say_int(gold_word(word));
    say_int(gold_word(word + 4));
    say(cuGraphBatchMemOpNodeSetParams(node, NULL));
    say(cuGraphBatchMemOpNodeSetParams(empty, &p));
    say(cuGraphBatchMemOpNodeGetParams(node, NULL));
    say(cuGraphBatchMemOpNodeGetParams(empty, &got));
    graph_end(graph);
}

/* ---- the function that sets any ---- */

CASE(graph_params, any_set_kernel)
{
    CUdeviceptr word = gold_alloc_words(1, 0);
    unsigned value = 33;
    void *params[] = {&word, &value};
    CUgraph graph = graph_new();
    CUgraphNode node = store_in(graph, word, 4);
    CUgraphNodeParams p;
    memset(&p, 0, sizeof p);
    p.type = CU_GRAPH_NODE_TYPE_KERNEL;
    p.kernel.func = gold_function("store");
    p.kernel.gridDimX = p.kernel.gridDimY = p.kernel.gridDimZ = 1;
    p.kernel.blockDimX = p.kernel.blockDimY = p.kernel.blockDimZ = 1;
    p.kernel.kernelParams = params;
    say(cuGraphNodeSetParams(node, &p));
    run_once(graph);
    say_int(gold_word(word));
    graph_end(graph);
}

CASE(graph_params, any_set_each_type)
{
    CUdeviceptr word = gold_alloc_words(8, 0);
    CUgraph graph = graph_new(), inner = graph_new();
    CUDA_MEMCPY3D copy = linear_copy(word, word + 16, 8);
    CUDA_MEMSET_NODE_PARAMS fill = linear_fill(word, 0, 4, 4);
    CUDA_HOST_NODE_PARAMS host = {count_call, NULL};
    CUgraphNode node = NULL;
    CUgraphNodeParams p;
    NEED(cuGraphAddMemcpyNode(&node, graph, NULL, 0, &copy, gold_context()));
    memset(&p, 0, sizeof p);
    p.type = CU_GRAPH_NODE_TYPE_MEMCPY;
    p.memcpy.copyParams = linear_copy(word, word + 16, 12);
    p.memcpy.copyCtx = gold_context();
    say(cuGraphNodeSetParams(node, &p));
    NEED(cuGraphAddMemsetNode(&node, graph, NULL, 0, &fill, gold_context()));
    memset(&p, 0, sizeof p);
    p.type = CU_GRAPH_NODE_TYPE_MEMSET;
    memcpy(&p.memset, &fill, sizeof fill);
    p.memset.ctx = gold_context();
    say(cuGraphNodeSetParams(node, &p));
    NEED(cuGraphAddHostNode(&node, graph, NULL, 0, &host));
    memset(&p, 0, sizeof p);
    p.type = CU_GRAPH_NODE_TYPE_HOST;
    p.host.fn = count_ten;
    say(cuGraphNodeSetParams(node, &p));
    NEED(cuGraphAddEmptyNode(&node, graph, NULL, 0));
    memset(&p, 0, sizeof p);
    p.type = CU_GRAPH_NODE_TYPE_EMPTY;
    say(cuGraphNodeSetParams(node, &p));
    NEED(cuGraphAddEventRecordNode(&node, graph, NULL, 0, gold_event(0)));
    memset(&p, 0, sizeof p);
    p.type = CU_GRAPH_NODE_TYPE_EVENT_RECORD;
    p.eventRecord.event = gold_event(0);
    say(cuGraphNodeSetParams(node, &p));
    NEED(cuGraphAddEventWaitNode(&node, graph, NULL, 0, gold_event(0)));
    p.type = CU_GRAPH_NODE_TYPE_WAIT_EVENT;
    say(cuGraphNodeSetParams(node, &p));
    NEED(cuGraphAddChildGraphNode(&node, graph, NULL, 0, inner));
    memset(&p, 0, sizeof p);
    p.type = CU_GRAPH_NODE_TYPE_GRAPH;
    p.graph.graph = inner;
    say(cuGraphNodeSetParams(node, &p));
    graph_end(graph);
    graph_end(inner);
}

CASE(graph_params, any_set_memory_nodes)
{
    CUgraph graph = graph_new();
    CUgraphNode alloc = NULL, node = NULL;
    CUDA_MEM_ALLOC_NODE_PARAMS a = device_alloc(4096);
    NEED(cuGraphAddMemAllocNode(&alloc, graph, NULL, 0, &a));
    NEED(cuGraphAddMemFreeNode(&node, graph, &alloc, 1, a.dptr));
    CUgraphNodeParams p;
    memset(&p, 0, sizeof p);
    p.type = CU_GRAPH_NODE_TYPE_MEM_ALLOC;
    memcpy(&p.alloc, &a, sizeof a);
    say(cuGraphNodeSetParams(alloc, &p));
    memset(&p, 0, sizeof p);
    p.type = CU_GRAPH_NODE_TYPE_MEM_FREE;
    p.free.dptr = a.dptr;
    say(cuGraphNodeSetParams(node, &p));
    graph_end(graph);
}

CASE(graph_params, any_set_wrong_type)
{
    CUgraph graph = graph_new();
    CUgraphNode empty = empty_in(graph);
    CUgraphNodeParams p;
    memset(&p, 0, sizeof p);
    p.type = CU_GRAPH_NODE_TYPE_HOST;
    p.host.fn = count_ten;
    say(cuGraphNodeSetParams(empty, &p));
    say(cuGraphNodeSetParams(empty, NULL));
    say(cuGraphNodeSetParams(NULL, &p));
    p.type = (CUgraphNodeType)99;
    say(cuGraphNodeSetParams(empty, &p));
    graph_end(graph);
}

/* ---- attributes of kernel nodes ---- */

CASE(graph_params, attributes_fresh)
{
    CUgraph graph = graph_new();
    CUgraphNode node = store_in(graph, gold_alloc_words(1, 0), 4);
    for (int id = 0; id <= 17; id++) {
        CUkernelNodeAttrValue value;
        memset(&value, 0, sizeof value);
        say(cuGraphKernelNodeGetAttribute(node, (CUkernelNodeAttrID)id, &value));
    }
    graph_end(graph);
}

CASE(graph_params, attributes_fresh_values)
{
    CUgraph graph = graph_new();
    CUgraphNode node = store_in(graph, gold_alloc_words(1, 0), 4);
    CUkernelNodeAttrValue value;
    memset(&value, 0x55, sizeof value);
    say(cuGraphKernelNodeGetAttribute(node, CU_LAUNCH_ATTRIBUTE_PRIORITY, &value));
    say_value("priority", value.priority);
    memset(&value, 0x55, sizeof value);
    say(cuGraphKernelNodeGetAttribute(node, CU_LAUNCH_ATTRIBUTE_COOPERATIVE, &value));
    say_value("cooperative", value.cooperative);
    memset(&value, 0x55, sizeof value);
    say(cuGraphKernelNodeGetAttribute(node, CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION, &value));
    say_int(value.clusterDim.x);
    say_int(value.clusterDim.y);
    say_int(value.clusterDim.z);
    memset(&value, 0x55, sizeof value);
    say(cuGraphKernelNodeGetAttribute(node, CU_LAUNCH_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE, &value));
    say_value("policy", value.clusterSchedulingPolicyPreference);
    memset(&value, 0x55, sizeof value);
    say(cuGraphKernelNodeGetAttribute(node, CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN, &value));
    say_value("domain", value.memSyncDomain);
    memset(&value, 0x55, sizeof value);
    say(cuGraphKernelNodeGetAttribute(node, CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP, &value));
    say_int(value.memSyncDomainMap.default_);
    say_int(value.memSyncDomainMap.remote);
    memset(&value, 0x55, sizeof value);
    say(cuGraphKernelNodeGetAttribute(node, CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW, &value));
    say_value("window", (long long)value.accessPolicyWindow.num_bytes);
    graph_end(graph);
}

CASE(graph_params, attribute_priority)
{
    CUgraph graph = graph_new();
    CUgraphNode node = store_in(graph, gold_alloc_words(1, 0), 4);
    static const int priorities[] = {-1, -5, -6, -100, 0, 1, 100};
    for (int i = 0; i < 7; i++) {
        CUkernelNodeAttrValue value;
        memset(&value, 0, sizeof value);
        value.priority = priorities[i];
        say(cuGraphKernelNodeSetAttribute(node, CU_LAUNCH_ATTRIBUTE_PRIORITY, &value));
        memset(&value, 0x55, sizeof value);
        NEED(cuGraphKernelNodeGetAttribute(node, CU_LAUNCH_ATTRIBUTE_PRIORITY, &value));
        say_int(value.priority);
    }
    graph_end(graph);
}

CASE(graph_params, attribute_policies)
{
    CUgraph graph = graph_new();
    CUgraphNode node = store_in(graph, gold_alloc_words(1, 0), 4);
    CUkernelNodeAttrValue value;
    for (int policy = -1; policy < 4; policy++) {
        memset(&value, 0, sizeof value);
        value.clusterSchedulingPolicyPreference = (CUclusterSchedulingPolicy)policy;
        say(cuGraphKernelNodeSetAttribute(node, CU_LAUNCH_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE, &value));
    }
    for (int domain = 0; domain < 3; domain++) {
        memset(&value, 0, sizeof value);
        value.memSyncDomain = (CUlaunchMemSyncDomain)domain;
        say(cuGraphKernelNodeSetAttribute(node, CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN, &value));
    }
    graph_end(graph);
}

CASE(graph_params, attribute_window)
{
    CUdeviceptr memory = gold_alloc(1 << 16);
    CUgraph graph = graph_new();
    CUgraphNode node = store_in(graph, memory, 4);
    CUkernelNodeAttrValue value;
    memset(&value, 0, sizeof value);
    value.accessPolicyWindow.base_ptr = (void *)(uintptr_t)memory;
    value.accessPolicyWindow.num_bytes = 1 << 16;
    value.accessPolicyWindow.hitRatio = 0.5f;
    value.accessPolicyWindow.hitProp = CU_ACCESS_PROPERTY_PERSISTING;
    value.accessPolicyWindow.missProp = CU_ACCESS_PROPERTY_STREAMING;
    say(cuGraphKernelNodeSetAttribute(node, CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW, &value));
    memset(&value, 0, sizeof value);
    say(cuGraphKernelNodeGetAttribute(node, CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW, &value));
    say_value("bytes", (long long)value.accessPolicyWindow.num_bytes);
    say_value("hit", value.accessPolicyWindow.hitProp);
    say_value("miss", value.accessPolicyWindow.missProp);
    value.accessPolicyWindow.hitRatio = 1.5f;
    say(cuGraphKernelNodeSetAttribute(node, CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW, &value));
    value.accessPolicyWindow.hitRatio = 1;
    value.accessPolicyWindow.missProp = CU_ACCESS_PROPERTY_PERSISTING;
    say(cuGraphKernelNodeSetAttribute(node, CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW, &value));
    graph_end(graph);
}

CASE(graph_params, attribute_not_of_nodes)
{
    static const CUkernelNodeAttrID ids[] = {(CUkernelNodeAttrID)0,  (CUkernelNodeAttrID)3,  (CUkernelNodeAttrID)6,
                                             (CUkernelNodeAttrID)7,  (CUkernelNodeAttrID)12, (CUkernelNodeAttrID)14,
                                             (CUkernelNodeAttrID)15, (CUkernelNodeAttrID)50, (CUkernelNodeAttrID)-1};
    CUgraph graph = graph_new();
    CUgraphNode node = store_in(graph, gold_alloc_words(1, 0), 4);
    for (size_t i = 0; i < sizeof ids / sizeof *ids; i++) {
        CUkernelNodeAttrValue value;
        memset(&value, 0, sizeof value);
        say(cuGraphKernelNodeSetAttribute(node, ids[i], &value));
    }
    graph_end(graph);
}

CASE(
    graph_params, attribute_null_arguments, .alone = true,
    .allow =
        "CUDA_ERROR_INVALID_VALUE CUDA_ERROR_INVALID_VALUE CUDA_ERROR_INVALID_VALUE CUDA_ERROR_INVALID_VALUE CUDA_ERROR_INVALID_VALUE "
        "CUDA_ERROR_INVALID_VALUE",
    .why = "hardware reads null pointers")
{
    CUgraph graph = graph_new();
    CUgraphNode node = store_in(graph, gold_alloc_words(1, 0), 4), empty = empty_in(graph);
    CUkernelNodeAttrValue value;
    memset(&value, 0, sizeof value);
    say(cuGraphKernelNodeGetAttribute(node, CU_LAUNCH_ATTRIBUTE_PRIORITY, NULL));
    say(cuGraphKernelNodeGetAttribute(NULL, CU_LAUNCH_ATTRIBUTE_PRIORITY, &value));
    say(cuGraphKernelNodeGetAttribute(empty, CU_LAUNCH_ATTRIBUTE_PRIORITY, &value));
    say(cuGraphKernelNodeSetAttribute(node, CU_LAUNCH_ATTRIBUTE_PRIORITY, NULL));
    say(cuGraphKernelNodeSetAttribute(NULL, CU_LAUNCH_ATTRIBUTE_PRIORITY, &value));
    say(cuGraphKernelNodeSetAttribute(empty, CU_LAUNCH_ATTRIBUTE_PRIORITY, &value));
}

CASE(graph_params, attributes_copied_between_what, .alone = true)
{
    CUgraph graph = graph_new();
    CUgraphNode node = store_in(graph, gold_alloc_words(1, 0), 4), empty = empty_in(graph);
    say(cuGraphKernelNodeCopyAttributes(node, empty));
    say(cuGraphKernelNodeCopyAttributes(empty, node));
    say(cuGraphKernelNodeCopyAttributes(node, node));
}

CASE(graph_params, attributes_copied_null, .alone = true, .allow = "CUDA_ERROR_INVALID_VALUE CUDA_ERROR_INVALID_VALUE",
     .why = "hardware may crash")
{
    CUgraph graph = graph_new();
    CUgraphNode node = store_in(graph, gold_alloc_words(1, 0), 4);
    say(cuGraphKernelNodeCopyAttributes(node, NULL));
    say(cuGraphKernelNodeCopyAttributes(NULL, node));
}

CASE(graph_params, attributes_copied)
{
    CUdeviceptr word = gold_alloc_words(1, 0);
    CUgraph graph = graph_new(), other = graph_new();
    CUgraphNode one = store_in(graph, word, 4), two = store_in(graph, word, 5), third = store_in(other, word, 6);
    CUkernelNodeAttrValue value;
    memset(&value, 0, sizeof value);
    value.priority = -2;
    NEED(cuGraphKernelNodeSetAttribute(one, CU_LAUNCH_ATTRIBUTE_PRIORITY, &value));
    say(cuGraphKernelNodeCopyAttributes(two, one));
    NEED(cuGraphKernelNodeGetAttribute(two, CU_LAUNCH_ATTRIBUTE_PRIORITY, &value));
    say_int(value.priority);
    say(cuGraphKernelNodeCopyAttributes(third, one));
    NEED(cuGraphKernelNodeGetAttribute(third, CU_LAUNCH_ATTRIBUTE_PRIORITY, &value));
    say_int(value.priority);
    graph_end(graph);
    graph_end(other);
}

CASE(graph_params, attributes_survive)
{
    CUdeviceptr word = gold_alloc_words(1, 0);
    CUgraph graph = graph_new(), clone = NULL;
    CUgraphNode node = store_in(graph, word, 4), twin = NULL;
    CUkernelNodeAttrValue value;
    memset(&value, 0, sizeof value);
    value.priority = -3;
    NEED(cuGraphKernelNodeSetAttribute(node, CU_LAUNCH_ATTRIBUTE_PRIORITY, &value));
    CUDA_KERNEL_NODE_PARAMS p;
    NEED(cuGraphKernelNodeGetParams_v2(node, &p));
    say(cuGraphKernelNodeSetParams_v2(node, &p));
    NEED(cuGraphKernelNodeGetAttribute(node, CU_LAUNCH_ATTRIBUTE_PRIORITY, &value));
    say_int(value.priority);
    NEED(cuGraphClone(&clone, graph));
    NEED(cuGraphNodeFindInClone(&twin, node, clone));
    NEED(cuGraphKernelNodeGetAttribute(twin, CU_LAUNCH_ATTRIBUTE_PRIORITY, &value));
    say_int(value.priority);
    run_once(graph);
    say_int(gold_word(word));
    graph_end(graph);
    graph_end(clone);
}

CASE(graph_params, attribute_clusters_of_one)
{
    CUgraph graph = graph_new();
    CUgraphNode node = store_in(graph, gold_alloc_words(1, 0), 4);
    CUkernelNodeAttrValue value;
    memset(&value, 0, sizeof value);
    value.clusterDim.x = value.clusterDim.y = value.clusterDim.z = 1;
    say(cuGraphKernelNodeSetAttribute(node, CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION, &value));
    memset(&value, 0, sizeof value);
    say(cuGraphKernelNodeGetAttribute(node, CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION, &value));
    say_int(value.clusterDim.x);
    graph_end(graph);
}

CASE(graph_params, attribute_cooperative_no)
{
    CUgraph graph = graph_new();
    CUgraphNode node = store_in(graph, gold_alloc_words(1, 0), 4);
    CUkernelNodeAttrValue value;
    memset(&value, 0, sizeof value);
    say(cuGraphKernelNodeSetAttribute(node, CU_LAUNCH_ATTRIBUTE_COOPERATIVE, &value));
    say(cuGraphKernelNodeSetAttribute(node, CU_LAUNCH_ATTRIBUTE_DEVICE_UPDATABLE_KERNEL_NODE, &value));
    graph_end(graph);
}
