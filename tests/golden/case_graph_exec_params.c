/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Setting the parameters of single nodes of an executable graph: what changes,
 * what later and earlier launches see, and which changes are refused.
 */
#include "gold_exec.h"

/* ---- kernels ---- */

CASE(graph_exec, kernel_value)
{
    CUdeviceptr word = gold_alloc_words(1, 0);
    CUgraph graph = ge_graph();
    CUstream stream = gold_stream(0);
    struct ge_kernel kernel;
    CUgraphNode node = ge_store(graph, NULL, word, 4);
    CUgraphExec exec = ge_exec(graph);
    CUDA_KERNEL_NODE_PARAMS shown;
    say(cuGraphExecKernelNodeSetParams(exec, node, ge_params(&kernel, "store", word, 44)));
    kernel.value = 1000;
    ge_run(exec, stream);
    say_int(gold_word(word));
    NEED(cuGraphKernelNodeGetParams(node, &shown));
    say_int(*(unsigned *)shown.kernelParams[1]);
    ge_go(ge_exec(graph), stream);
    say_int(gold_word(word));
}

CASE(graph_exec, kernel_function)
{
    CUdeviceptr word = gold_alloc_words(1, 30);
    CUgraph graph = ge_graph();
    struct ge_kernel kernel;
    CUgraphNode node = ge_store(graph, NULL, word, 4);
    CUgraphExec exec = ge_exec(graph);
    say(cuGraphExecKernelNodeSetParams(exec, node, ge_params(&kernel, "add", word, 3)));
    ge_run(exec, gold_stream(0));
    say_int(gold_word(word));
}

CASE(graph_exec, kernel_shape)
{
    CUdeviceptr words = gold_alloc_words(64, 0);
    unsigned count = 64, value = 6;
    void *params[] = {&words, &count, &value};
    CUgraph graph = ge_graph();
    CUgraphNode node;
    CUDA_KERNEL_NODE_PARAMS kernel;
    CUstream stream = gold_stream(0);
    memset(&kernel, 0, sizeof kernel);
    kernel.func = gold_function("fill");
    kernel.gridDimX = kernel.gridDimY = kernel.gridDimZ = kernel.blockDimX = kernel.blockDimY = kernel.blockDimZ = 1;
    kernel.kernelParams = params;
    NEED(cuGraphAddKernelNode(&node, graph, NULL, 0, &kernel));
    CUgraphExec exec = ge_exec(graph);
    ge_go(exec, stream);
    say_int(gold_word(words));
    say_int(gold_word(words + 4));
    kernel.gridDimX = 4;
    kernel.blockDimX = 8;
    say(cuGraphExecKernelNodeSetParams(exec, node, &kernel));
    ge_go(exec, stream);
    say_int(gold_word(words + 31 * 4));
    say_int(gold_word(words + 32 * 4));
}

CASE(graph_exec, kernel_bad_dimensions)
{
    CUdeviceptr word = gold_alloc_words(1, 0);
    CUgraph graph = ge_graph();
    struct ge_kernel kernel;
    CUgraphNode node = ge_store(graph, NULL, word, 4);
    CUgraphExec exec = ge_exec(graph);
    ge_params(&kernel, "store", word, 5);
    kernel.node.gridDimX = 0;
    say(cuGraphExecKernelNodeSetParams(exec, node, &kernel.node));
    kernel.node.gridDimX = 1;
    kernel.node.blockDimX = 2048;
    say(cuGraphExecKernelNodeSetParams(exec, node, &kernel.node));
    kernel.node.blockDimX = 1;
    kernel.node.gridDimY = 65536;
    say(cuGraphExecKernelNodeSetParams(exec, node, &kernel.node));
    kernel.node.gridDimY = 1;
    kernel.node.sharedMemBytes = 1 << 20;
    say(cuGraphExecKernelNodeSetParams(exec, node, &kernel.node));
    ge_go(exec, gold_stream(0));
    say_int(gold_word(word));
}

CASE(graph_exec, kernel_arguments)
{
    CUdeviceptr word = gold_alloc_words(1, 0);
    CUgraph graph = ge_graph(), other = ge_graph();
    struct ge_kernel kernel;
    CUgraphNode node = ge_store(graph, NULL, word, 4), foreign = ge_store(other, NULL, word, 4),
                empty = ge_empty(graph, NULL);
    CUgraphExec exec = ge_exec(graph);
    ge_params(&kernel, "store", word, 5);
    say(cuGraphExecKernelNodeSetParams(NULL, node, &kernel.node));
    say(cuGraphExecKernelNodeSetParams(exec, NULL, &kernel.node));
    say(cuGraphExecKernelNodeSetParams(exec, node, NULL));
    say(cuGraphExecKernelNodeSetParams(exec, foreign, &kernel.node));
    say(cuGraphExecKernelNodeSetParams(exec, empty, &kernel.node));
    kernel.node.func = NULL;
    say(cuGraphExecKernelNodeSetParams(exec, node, &kernel.node));
    ge_go(exec, gold_stream(0));
    say_int(gold_word(word));
}

CASE(graph_exec, kernel_no_params, .alone = true)
{
    CUdeviceptr word = gold_alloc_words(1, 0);
    CUgraph graph = ge_graph();
    struct ge_kernel kernel;
    CUgraphNode node = ge_store(graph, NULL, word, 4);
    CUgraphExec exec = ge_exec(graph);
    ge_params(&kernel, "store", word, 5);
    kernel.node.kernelParams = NULL;
    say(cuGraphExecKernelNodeSetParams(exec, node, &kernel.node));
}

CASE(graph_exec, kernel_extra)
{
    CUdeviceptr word = gold_alloc_words(1, 0);
    CUgraph graph = ge_graph();
    struct ge_kernel kernel;
    struct {
        CUdeviceptr address;
        unsigned value;
    } packed = {word, 71};
    size_t size = 12;
    void *extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, &packed, CU_LAUNCH_PARAM_BUFFER_SIZE, &size, CU_LAUNCH_PARAM_END};
    CUgraphNode node = ge_store(graph, NULL, word, 4);
    CUgraphExec exec = ge_exec(graph);
    ge_params(&kernel, "store", word, 5);
    kernel.node.kernelParams = NULL;
    kernel.node.extra = extra;
    say(cuGraphExecKernelNodeSetParams(exec, node, &kernel.node));
    ge_go(exec, gold_stream(0));
    say_int(gold_word(word));
}

CASE(graph_exec, kernel_handle)
{
    CUdeviceptr word = gold_alloc_words(1, 0);
    CUgraph graph = ge_graph();
    struct ge_kernel kernel;
    CUlibrary library;
    CUgraphNode node = ge_store(graph, NULL, word, 4);
    CUgraphExec exec = ge_exec(graph);
    NEED(cuLibraryLoadData(&library, gold_ptx, NULL, NULL, 0, NULL, NULL, 0));
    ge_params(&kernel, "add", word, 5);
    kernel.node.func = NULL;
    NEED(cuLibraryGetKernel(&kernel.node.kern, library, "add"));
    say(cuGraphExecKernelNodeSetParams(exec, node, &kernel.node));
    ge_run(exec, gold_stream(0));
    say_int(gold_word(word));
}

CASE(graph_exec, kernel_of_other_module)
{
    CUdeviceptr word = gold_alloc_words(1, 0);
    CUgraph graph = ge_graph();
    struct ge_kernel kernel;
    CUgraphNode node = ge_store(graph, NULL, word, 4);
    CUgraphExec exec = ge_exec(graph);
    ge_params(&kernel, "store", word, 5);
    NEED(cuModuleGetFunction(&kernel.node.func, gold_load(gold_ptx), "store"));
    say(cuGraphExecKernelNodeSetParams(exec, node, &kernel.node));
    ge_run(exec, gold_stream(0));
    say_int(gold_word(word));
}

CASE(graph_exec, kernel_of_other_context, .alone = true)
{
    CUdeviceptr word = gold_alloc_words(1, 0);
    CUgraph graph = ge_graph();
    struct ge_kernel kernel;
    CUgraphNode node = ge_store(graph, NULL, word, 4);
    CUgraphExec exec = ge_exec(graph);
    ge_params(&kernel, "store", word, 5);
    (void)gold_context_new();
    NEED(cuModuleGetFunction(&kernel.node.func, gold_load(gold_ptx), "store"));
    say(cuGraphExecKernelNodeSetParams(exec, node, &kernel.node));
    NEED(cuCtxSetCurrent(gold_context()));
    say(cuGraphExecKernelNodeSetParams(exec, node, &kernel.node));
}

CASE(graph_exec, kernel_queued_launch_keeps)
{
    CUdeviceptr word = gold_alloc_words(2, 0);
    CUgraph graph = ge_graph();
    struct ge_kernel kernel;
    CUstream stream = gold_stream(CU_STREAM_NON_BLOCKING);
    CUgraphNode node = ge_add(graph, NULL, word, 1);
    CUgraphExec exec = ge_exec(graph);
    struct gold_gate gate = gold_gate_close(stream);
    NEED(cuGraphLaunch(exec, stream));
    say(cuGraphExecKernelNodeSetParams(exec, node, ge_params(&kernel, "add", word, 10)));
    NEED(cuGraphLaunch(exec, stream));
    say(cuGraphExecKernelNodeSetParams(exec, node, ge_params(&kernel, "add", word + 4, 100)));
    NEED(cuGraphLaunch(exec, stream));
    gold_gate_open(gate);
    say(cuStreamSynchronize(stream));
    say_int(gold_word(word));
    say_int(gold_word(word + 4));
}

CASE(graph_exec, kernel_node_destroyed, .alone = true, .allow = "CUDA_ERROR_INVALID_VALUE",
     .why = "hardware reads what is gone")
{
    CUdeviceptr word = gold_alloc_words(1, 0);
    CUgraph graph = ge_graph();
    struct ge_kernel kernel;
    CUgraphNode node = ge_store(graph, NULL, word, 4);
    CUgraphExec exec = ge_exec(graph);
    NEED(cuGraphDestroyNode(node));
    say(cuGraphExecKernelNodeSetParams(exec, node, ge_params(&kernel, "store", word, 44)));
}

CASE(graph_exec, kernel_in_child)
{
    CUdeviceptr word = gold_alloc_words(1, 0);
    CUgraph graph = ge_graph(), child = ge_graph(), owned;
    struct ge_kernel kernel;
    size_t count = 1;
    CUgraphNode template = ge_store(child, NULL, word, 1), inner;
    CUgraphNode node = ge_child(graph, NULL, child);
    CUgraphExec exec = ge_exec(graph);
    CUstream stream = gold_stream(0);
    NEED(cuGraphChildGraphNodeGetGraph(node, &owned));
    NEED(cuGraphGetNodes(owned, &inner, &count));
    say(cuGraphExecKernelNodeSetParams(exec, inner, ge_params(&kernel, "store", word, 44)));
    ge_go(exec, stream);
    say_int(gold_word(word));
    say(cuGraphExecKernelNodeSetParams(exec, template, ge_params(&kernel, "store", word, 45)));
    ge_go(exec, stream);
    say_int(gold_word(word));
}

/* ---- copies ---- */

CASE(graph_exec, copy_addresses)
{
    CUdeviceptr words = gold_alloc_words(4, 1);
    CUgraph graph = ge_graph();
    CUDA_MEMCPY3D copy = ge_copy_params('d', words, 'd', words + 4, 4);
    CUgraphNode node = ge_copy(graph, NULL, &copy);
    CUgraphExec exec = ge_exec(graph);
    NEED(cuMemsetD32(words + 12, 8, 1));
    copy = ge_copy_params('d', words + 8, 'd', words + 12, 4);
    say(cuGraphExecMemcpyNodeSetParams(exec, node, &copy, gold_context()));
    ge_run(exec, gold_stream(0));
    say_int(gold_word(words + 8));
}

CASE(graph_exec, copy_size)
{
    CUdeviceptr from = gold_alloc_words(64, 3), to = gold_alloc_words(64, 0);
    CUgraph graph = ge_graph();
    CUDA_MEMCPY3D copy = ge_copy_params('d', to, 'd', from, 4);
    CUgraphNode node = ge_copy(graph, NULL, &copy);
    CUgraphExec exec = ge_exec(graph);
    copy.WidthInBytes = 64;
    say(cuGraphExecMemcpyNodeSetParams(exec, node, &copy, gold_context()));
    ge_go(exec, gold_stream(0));
    say_int(gold_word(to + 60));
    say_int(gold_word(to + 64));
    copy.WidthInBytes = 0;
    say(cuGraphExecMemcpyNodeSetParams(exec, node, &copy, gold_context()));
}

CASE(graph_exec, copy_kind)
{
    static unsigned host[4] = {21, 22, 23, 24};
    CUdeviceptr words = gold_alloc_words(4, 1);
    CUdeviceptr address = (CUdeviceptr)(uintptr_t)host;
    CUgraph graph = ge_graph();
    CUDA_MEMCPY3D copy = ge_copy_params('d', words, 'd', words + 4, 4);
    CUgraphNode node = ge_copy(graph, NULL, &copy);
    CUgraphExec exec = ge_exec(graph);
    copy = ge_copy_params('d', words, 'h', address, 4);
    say(cuGraphExecMemcpyNodeSetParams(exec, node, &copy, gold_context()));
    copy = ge_copy_params('h', address, 'd', words, 4);
    say(cuGraphExecMemcpyNodeSetParams(exec, node, &copy, gold_context()));
    copy = ge_copy_params('h', address, 'h', address + 8, 4);
    say(cuGraphExecMemcpyNodeSetParams(exec, node, &copy, gold_context()));
    copy = ge_copy_params('u', words, 'u', words + 4, 4);
    say(cuGraphExecMemcpyNodeSetParams(exec, node, &copy, gold_context()));
    copy = ge_copy_params('u', words, 'u', address, 4);
    say(cuGraphExecMemcpyNodeSetParams(exec, node, &copy, gold_context()));
}

CASE(graph_exec, copy_kind_from_host)
{
    static unsigned host[4] = {21, 22, 23, 24};
    CUdeviceptr words = gold_alloc_words(4, 1);
    CUdeviceptr address = (CUdeviceptr)(uintptr_t)host;
    void *pinned;
    NEED(cuMemHostAlloc(&pinned, 64, 0));
    CUgraph graph = ge_graph();
    CUDA_MEMCPY3D copy = ge_copy_params('d', words, 'h', address, 4);
    CUgraphNode node = ge_copy(graph, NULL, &copy);
    CUgraphExec exec = ge_exec(graph);
    copy = ge_copy_params('d', words, 'h', address + 4, 4);
    say(cuGraphExecMemcpyNodeSetParams(exec, node, &copy, gold_context()));
    copy = ge_copy_params('d', words, 'h', (CUdeviceptr)(uintptr_t)pinned, 4);
    say(cuGraphExecMemcpyNodeSetParams(exec, node, &copy, gold_context()));
    copy = ge_copy_params('d', words, 'd', words + 4, 4);
    say(cuGraphExecMemcpyNodeSetParams(exec, node, &copy, gold_context()));
    copy = ge_copy_params('h', address, 'd', words, 4);
    say(cuGraphExecMemcpyNodeSetParams(exec, node, &copy, gold_context()));
}

CASE(graph_exec, copy_dimensions)
{
    CUdeviceptr words = gold_alloc_words(256, 1);
    CUgraph graph = ge_graph();
    CUDA_MEMCPY3D copy = ge_copy_params('d', words, 'd', words + 512, 16);
    CUgraphNode node = ge_copy(graph, NULL, &copy);
    CUgraphExec exec = ge_exec(graph);
    copy.srcPitch = copy.dstPitch = 32;
    copy.Height = 2;
    say(cuGraphExecMemcpyNodeSetParams(exec, node, &copy, gold_context()));
    copy.Depth = 2;
    copy.srcHeight = copy.dstHeight = 2;
    say(cuGraphExecMemcpyNodeSetParams(exec, node, &copy, gold_context()));
}

CASE(graph_exec, copy_2d_extents)
{
    CUdeviceptr from = gold_alloc_words(256, 5), to = gold_alloc_words(256, 0);
    CUgraph graph = ge_graph();
    CUDA_MEMCPY3D copy = ge_copy_params('d', to, 'd', from, 16);
    copy.srcPitch = copy.dstPitch = 32;
    copy.Height = 2;
    CUgraphNode node = ge_copy(graph, NULL, &copy);
    CUgraphExec exec = ge_exec(graph);
    copy.Height = 4;
    say(cuGraphExecMemcpyNodeSetParams(exec, node, &copy, gold_context()));
    copy.WidthInBytes = 8;
    say(cuGraphExecMemcpyNodeSetParams(exec, node, &copy, gold_context()));
    copy.srcPitch = 64;
    say(cuGraphExecMemcpyNodeSetParams(exec, node, &copy, gold_context()));
    copy.Height = 1;
    say(cuGraphExecMemcpyNodeSetParams(exec, node, &copy, gold_context()));
    ge_go(exec, gold_stream(0));
    say_int(gold_word(to));
    say_int(gold_word(to + 8));
    say_int(gold_word(to + 96));
}

CASE(graph_exec, copy_arguments, .alone = true)
{
    CUdeviceptr words = gold_alloc_words(4, 1);
    CUgraph graph = ge_graph(), other = ge_graph();
    CUDA_MEMCPY3D copy = ge_copy_params('d', words, 'd', words + 4, 4);
    CUgraphNode node = ge_copy(graph, NULL, &copy), foreign = ge_copy(other, NULL, &copy),
                empty = ge_empty(graph, NULL);
    CUgraphExec exec = ge_exec(graph);
    say(cuGraphExecMemcpyNodeSetParams(NULL, node, &copy, gold_context()));
    say(cuGraphExecMemcpyNodeSetParams(exec, NULL, &copy, gold_context()));
    say(cuGraphExecMemcpyNodeSetParams(exec, node, NULL, gold_context()));
    say(cuGraphExecMemcpyNodeSetParams(exec, foreign, &copy, gold_context()));
    say(cuGraphExecMemcpyNodeSetParams(exec, empty, &copy, gold_context()));
    say(cuGraphExecMemcpyNodeSetParams(exec, node, &copy, NULL));
    copy.dstDevice = 0;
    say(cuGraphExecMemcpyNodeSetParams(exec, node, &copy, gold_context()));
}

CASE(graph_exec, copy_other_context, .alone = true)
{
    CUdeviceptr words = gold_alloc_words(4, 1);
    CUgraph graph = ge_graph();
    CUDA_MEMCPY3D copy = ge_copy_params('d', words, 'd', words + 4, 4);
    CUgraphNode node = ge_copy(graph, NULL, &copy);
    CUgraphExec exec = ge_exec(graph);
    CUcontext other = gold_context_new();
    say(cuGraphExecMemcpyNodeSetParams(exec, node, &copy, other));
}

/* ---- fills ---- */

CASE(graph_exec, fill_value_and_address)
{
    CUdeviceptr words = gold_alloc_words(4, 1);
    CUgraph graph = ge_graph();
    CUgraphNode node = ge_fill(graph, NULL, words, 5, 1);
    CUgraphExec exec = ge_exec(graph);
    CUDA_MEMSET_NODE_PARAMS params = ge_fill_params(words + 4, 6, 4, 1, 1, 0);
    say(cuGraphExecMemsetNodeSetParams(exec, node, &params, gold_context()));
    ge_run(exec, gold_stream(0));
    say_int(gold_word(words));
    say_int(gold_word(words + 4));
}

CASE(graph_exec, fill_extents)
{
    CUdeviceptr words = gold_alloc_words(64, 1);
    CUgraph graph = ge_graph();
    CUgraphNode node = ge_fill(graph, NULL, words, 5, 8);
    CUgraphExec exec = ge_exec(graph);
    CUDA_MEMSET_NODE_PARAMS params = ge_fill_params(words, 6, 4, 16, 1, 0);
    say(cuGraphExecMemsetNodeSetParams(exec, node, &params, gold_context()));
    ge_go(exec, gold_stream(0));
    say_int(gold_word(words + 60));
    say_int(gold_word(words + 64));
    params.width = 2;
    say(cuGraphExecMemsetNodeSetParams(exec, node, &params, gold_context()));
    params.height = 2;
    params.pitch = 32;
    say(cuGraphExecMemsetNodeSetParams(exec, node, &params, gold_context()));
    params.height = 1;
    params.width = 0;
    say(cuGraphExecMemsetNodeSetParams(exec, node, &params, gold_context()));
}

CASE(graph_exec, fill_element_size)
{
    CUdeviceptr words = gold_alloc_words(64, 1);
    CUgraph graph = ge_graph();
    CUgraphNode node = ge_fill(graph, NULL, words, 5, 1);
    CUgraphExec exec = ge_exec(graph);
    CUDA_MEMSET_NODE_PARAMS params = ge_fill_params(words, 6, 1, 4, 1, 0);
    say(cuGraphExecMemsetNodeSetParams(exec, node, &params, gold_context()));
    params = ge_fill_params(words, 6, 2, 2, 1, 0);
    say(cuGraphExecMemsetNodeSetParams(exec, node, &params, gold_context()));
    ge_go(exec, gold_stream(0));
    say_hex(gold_word(words));
    params = ge_fill_params(words, 6, 3, 2, 1, 0);
    say(cuGraphExecMemsetNodeSetParams(exec, node, &params, gold_context()));
}

CASE(graph_exec, fill_2d)
{
    CUdeviceptr words = gold_alloc_words(64, 1);
    CUgraph graph = ge_graph();
    CUgraphNode node;
    CUDA_MEMSET_NODE_PARAMS params = ge_fill_params(words, 6, 4, 2, 4, 32);
    NEED(cuGraphAddMemsetNode(&node, graph, NULL, 0, &params, gold_context()));
    CUgraphExec exec = ge_exec(graph);
    params.value = 7;
    say(cuGraphExecMemsetNodeSetParams(exec, node, &params, gold_context()));
    params.pitch = 16;
    say(cuGraphExecMemsetNodeSetParams(exec, node, &params, gold_context()));
    params.height = 3;
    say(cuGraphExecMemsetNodeSetParams(exec, node, &params, gold_context()));
    params.width = 1;
    say(cuGraphExecMemsetNodeSetParams(exec, node, &params, gold_context()));
    params.height = 1;
    say(cuGraphExecMemsetNodeSetParams(exec, node, &params, gold_context()));
    ge_go(exec, gold_stream(0));
    say_int(gold_word(words));
    say_int(gold_word(words + 4));
    say_int(gold_word(words + 16));
    say_int(gold_word(words + 32));
}

CASE(graph_exec, fill_arguments, .alone = true)
{
    CUdeviceptr words = gold_alloc_words(4, 1);
    CUgraph graph = ge_graph(), other = ge_graph();
    CUgraphNode node = ge_fill(graph, NULL, words, 5, 1), foreign = ge_fill(other, NULL, words, 5, 1),
                empty = ge_empty(graph, NULL);
    CUgraphExec exec = ge_exec(graph);
    CUDA_MEMSET_NODE_PARAMS params = ge_fill_params(words, 6, 4, 1, 1, 0);
    say(cuGraphExecMemsetNodeSetParams(NULL, node, &params, gold_context()));
    say(cuGraphExecMemsetNodeSetParams(exec, NULL, &params, gold_context()));
    say(cuGraphExecMemsetNodeSetParams(exec, node, NULL, gold_context()));
    say(cuGraphExecMemsetNodeSetParams(exec, foreign, &params, gold_context()));
    say(cuGraphExecMemsetNodeSetParams(exec, empty, &params, gold_context()));
    say(cuGraphExecMemsetNodeSetParams(exec, node, &params, NULL));
    params.dst = 0;
    say(cuGraphExecMemsetNodeSetParams(exec, node, &params, gold_context()));
    params.dst = words;
    (void)gold_context_new();
    CUcontext current;
    NEED(cuCtxGetCurrent(&current));
    say(cuGraphExecMemsetNodeSetParams(exec, node, &params, current));
}

/* ---- host functions, events, children ---- */

static void CUDA_CB host_add(void *data)
{
    *(volatile int *)data += 1;
}

static void CUDA_CB host_triple(void *data)
{
    *(volatile int *)data += 3;
}

CASE(graph_exec, host_function)
{
    static volatile int one, two;
    CUgraph graph = ge_graph();
    CUstream stream = gold_stream(0);
    CUDA_HOST_NODE_PARAMS params;
    one = two = 0;
    CUgraphNode node = ge_host(graph, NULL, host_add, (void *)(uintptr_t)&one);
    CUgraphExec exec = ge_exec(graph);
    memset(&params, 0, sizeof params);
    params.fn = host_triple;
    params.userData = (void *)(uintptr_t)&two;
    ge_go(exec, stream);
    say(cuGraphExecHostNodeSetParams(exec, node, &params));
    ge_go(exec, stream);
    say_int(one);
    say_int(two);
    params.fn = NULL;
    say(cuGraphExecHostNodeSetParams(exec, node, &params));
    say(cuGraphExecHostNodeSetParams(exec, node, NULL));
    say(cuGraphExecHostNodeSetParams(NULL, node, &params));
    say(cuGraphExecHostNodeSetParams(exec, NULL, &params));
    ge_go(exec, stream);
    say_int(two);
}

CASE(graph_exec, record_event)
{
    CUevent one = gold_event(0), two = gold_event(0);
    CUgraph graph = ge_graph();
    CUgraphNode node = ge_record(graph, NULL, one), shown;
    CUgraphExec exec = ge_exec(graph);
    CUevent event = NULL;
    float time;
    (void)shown;
    say(cuGraphExecEventRecordNodeSetEvent(exec, node, two));
    ge_go(exec, gold_stream(0));
    say(cuEventElapsedTime(&time, two, two));
    say(cuEventElapsedTime(&time, one, one));
    NEED(cuGraphEventRecordNodeGetEvent(node, &event));
    say_if("node_kept", event == one);
    say(cuGraphExecEventRecordNodeSetEvent(exec, node, NULL));
    say(cuGraphExecEventRecordNodeSetEvent(exec, NULL, one));
    say(cuGraphExecEventRecordNodeSetEvent(NULL, node, one));
    say(cuGraphExecEventWaitNodeSetEvent(exec, node, one));
}

CASE(graph_exec, wait_event)
{
    CUevent one = gold_event(0), two = gold_event(0);
    CUdeviceptr word = gold_alloc_words(1, 0);
    CUgraph graph = ge_graph();
    CUgraphNode node = ge_wait(graph, NULL, one);
    ge_store(graph, node, word, 5);
    CUgraphExec exec = ge_exec(graph);
    CUstream gated = gold_stream(CU_STREAM_NON_BLOCKING), stream = gold_stream(CU_STREAM_NON_BLOCKING);
    struct gold_gate gate = gold_gate_close(gated);
    NEED(cuEventRecord(two, gated));
    say(cuGraphExecEventWaitNodeSetEvent(exec, node, two));
    NEED(cuGraphLaunch(exec, stream));
    gold_sleep_ms(20);
    say(cuStreamQuery(stream));
    gold_gate_open(gate);
    say(cuStreamSynchronize(stream));
    say_int(gold_word(word));
    say(cuGraphExecEventWaitNodeSetEvent(exec, node, NULL));
    say(cuGraphExecEventRecordNodeSetEvent(exec, node, one));
}

CASE(graph_exec, child_parameters)
{
    CUdeviceptr word = gold_alloc_words(1, 0);
    CUgraph graph = ge_graph(), child = ge_graph(), other = ge_graph();
    CUstream stream = gold_stream(0);
    ge_add(child, ge_store(child, NULL, word, 1), word, 2);
    ge_add(other, ge_store(other, NULL, word, 10), word, 20);
    CUgraphNode node = ge_child(graph, NULL, child);
    CUgraphExec exec = ge_exec(graph);
    ge_go(exec, stream);
    say_int(gold_word(word));
    say(cuGraphExecChildGraphNodeSetParams(exec, node, other));
    ge_go(exec, stream);
    say_int(gold_word(word));
}

CASE(graph_exec, child_topology)
{
    CUdeviceptr word = gold_alloc_words(1, 0);
    CUgraph graph = ge_graph(), child = ge_graph(), longer = ge_graph(), flat = ge_graph(), types = ge_graph();
    ge_add(child, ge_store(child, NULL, word, 1), word, 2);
    CUgraphNode node = ge_child(graph, NULL, child), empty = ge_empty(graph, NULL);
    CUgraphExec exec = ge_exec(graph);
    ge_add(longer, ge_add(longer, ge_store(longer, NULL, word, 1), word, 2), word, 3);
    say(cuGraphExecChildGraphNodeSetParams(exec, node, longer));
    ge_store(flat, NULL, word, 1);
    ge_store(flat, NULL, word, 1);
    say(cuGraphExecChildGraphNodeSetParams(exec, node, flat));
    ge_empty(types, ge_store(types, NULL, word, 1));
    say(cuGraphExecChildGraphNodeSetParams(exec, node, types));
    say(cuGraphExecChildGraphNodeSetParams(exec, node, ge_graph()));
    say(cuGraphExecChildGraphNodeSetParams(exec, node, NULL));
    say(cuGraphExecChildGraphNodeSetParams(exec, empty, child));
    say(cuGraphExecChildGraphNodeSetParams(NULL, node, child));
    ge_go(exec, gold_stream(0));
    say_int(gold_word(word));
}

/* ---- the generic form ---- */

CASE(graph_exec, generic_kernel)
{
    CUdeviceptr word = gold_alloc_words(1, 0);
    CUgraph graph = ge_graph();
    struct ge_kernel kernel;
    CUgraphNodeParams params;
    CUgraphNode node = ge_store(graph, NULL, word, 4);
    CUgraphExec exec = ge_exec(graph);
    memset(&params, 0, sizeof params);
    params.type = CU_GRAPH_NODE_TYPE_KERNEL;
    memcpy(&params.kernel, ge_params(&kernel, "store", word, 90), sizeof params.kernel);
    say(cuGraphExecNodeSetParams(exec, node, &params));
    ge_run(exec, gold_stream(0));
    say_int(gold_word(word));
}

CASE(graph_exec, generic_other_types)
{
    static volatile int value;
    CUdeviceptr words = gold_alloc_words(8, 0);
    CUgraph graph = ge_graph(), child = ge_graph();
    CUgraphNodeParams params;
    CUDA_MEMCPY3D copy = ge_copy_params('d', words + 8, 'd', words, 4);
    ge_store(child, NULL, words + 16, 5);
    CUgraphNode fill = ge_fill(graph, NULL, words, 3, 1), move = ge_copy(graph, fill, &copy);
    CUgraphNode host = ge_host(graph, move, host_add, (void *)(uintptr_t)&value);
    CUgraphNode record = ge_record(graph, host, gold_event(0)), wait = ge_wait(graph, record, gold_event(0));
    CUgraphNode nested = ge_child(graph, wait, child), empty = ge_empty(graph, nested);
    CUgraphExec exec = ge_exec(graph);
    value = 0;

    memset(&params, 0, sizeof params);
    params.type = CU_GRAPH_NODE_TYPE_MEMSET;
    params.memset.dst = words;
    params.memset.value = 12;
    params.memset.elementSize = 4;
    params.memset.width = params.memset.height = 1;
    params.memset.ctx = gold_context();
    say(cuGraphExecNodeSetParams(exec, fill, &params));

    memset(&params, 0, sizeof params);
    params.type = CU_GRAPH_NODE_TYPE_MEMCPY;
    params.memcpy.copyCtx = gold_context();
    params.memcpy.copyParams = ge_copy_params('d', words + 12, 'd', words, 4);
    say(cuGraphExecNodeSetParams(exec, move, &params));

    memset(&params, 0, sizeof params);
    params.type = CU_GRAPH_NODE_TYPE_HOST;
    params.host.fn = host_triple;
    params.host.userData = (void *)(uintptr_t)&value;
    say(cuGraphExecNodeSetParams(exec, host, &params));

    memset(&params, 0, sizeof params);
    params.type = CU_GRAPH_NODE_TYPE_EVENT_RECORD;
    params.eventRecord.event = gold_event(0);
    say(cuGraphExecNodeSetParams(exec, record, &params));

    memset(&params, 0, sizeof params);
    params.type = CU_GRAPH_NODE_TYPE_WAIT_EVENT;
    params.eventWait.event = gold_event(0);
    say(cuGraphExecNodeSetParams(exec, wait, &params));

    memset(&params, 0, sizeof params);
    params.type = CU_GRAPH_NODE_TYPE_GRAPH;
    params.graph.graph = child;
    say(cuGraphExecNodeSetParams(exec, nested, &params));

    memset(&params, 0, sizeof params);
    params.type = CU_GRAPH_NODE_TYPE_EMPTY;
    say(cuGraphExecNodeSetParams(exec, empty, &params));

    ge_go(exec, gold_stream(0));
    say_int(gold_word(words));
    say_int(gold_word(words + 8));
    say_int(gold_word(words + 12));
    say_int(gold_word(words + 16));
    say_int(value);
}

CASE(graph_exec, generic_refused)
{
    CUdeviceptr word = gold_alloc_words(1, 0);
    CUgraph graph = ge_graph();
    struct ge_kernel kernel;
    CUgraphNodeParams params;
    CUgraphNode node = ge_store(graph, NULL, word, 4), fill = ge_fill(graph, NULL, word, 3, 1);
    CUgraphExec exec = ge_exec(graph);
    memset(&params, 0, sizeof params);
    params.type = CU_GRAPH_NODE_TYPE_KERNEL;
    memcpy(&params.kernel, ge_params(&kernel, "store", word, 90), sizeof params.kernel);
    say(cuGraphExecNodeSetParams(exec, fill, &params));
    say(cuGraphExecNodeSetParams(NULL, node, &params));
    say(cuGraphExecNodeSetParams(exec, NULL, &params));
    say(cuGraphExecNodeSetParams(exec, node, NULL));
    params.reserved0[0] = 1;
    say(cuGraphExecNodeSetParams(exec, node, &params));
    params.reserved0[0] = 0;
    params.reserved2 = 1;
    say(cuGraphExecNodeSetParams(exec, node, &params));
    params.reserved2 = 0;
    params.reserved1[28] = 1;
    say(cuGraphExecNodeSetParams(exec, node, &params));
    params.reserved1[28] = 0;
    params.type = (CUgraphNodeType)99;
    say(cuGraphExecNodeSetParams(exec, node, &params));
}

CASE(graph_exec, batch_memory_operations)
{
    CUdeviceptr words = gold_alloc_words(4, 0);
    CUgraph graph = ge_graph();
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
    NEED(cuGraphAddBatchMemOpNode(&node, graph, NULL, 0, &params));
    CUgraphExec exec = ge_exec(graph);
    params.count = 2;
    say(cuGraphExecBatchMemOpNodeSetParams(exec, node, &params));
    ge_go(exec, gold_stream(0));
    say_int(gold_word(words));
    say_int(gold_word(words + 4));
    params.count = 0;
    say(cuGraphExecBatchMemOpNodeSetParams(exec, node, &params));
    say(cuGraphExecBatchMemOpNodeSetParams(exec, node, NULL));
    say(cuGraphExecBatchMemOpNodeSetParams(NULL, node, &params));
}
