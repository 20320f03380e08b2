/* SPDX-License-Identifier: Apache-2.0 */
/* Graphs against single launches: chains, fans and diamonds of 1 to 10,000 kernels that do nothing.
 *
 * For each shape and number of nodes: instantiating, and a launch with the wait for its end, per node. Beside them
 * capturing such a chain, and the same kernels as single launches into one stream. The numbers are nanoseconds per
 * node, the median of some rounds.
 *
 *   chain     each node after the one before
 *   fan       one node, and all others after it
 *   diamond   one node, all others but the last beside each other after it, the last after them all */
#include "bench.h"

#define MOST 10000

enum shape { CHAIN, FAN, DIAMOND };
static const char *const shape_names[] = {"chain", "fan", "diamond"};
static const int counts[] = {1, 10, 100, 1000, 10000};

static CUfunction empty;
static CUstream stream;

static CUgraphNode add_node(CUgraph graph, const CUgraphNode *after, size_t count)
{
    CUDA_KERNEL_NODE_PARAMS params = {
        .func = empty, .gridDimX = 1, .gridDimY = 1, .gridDimZ = 1, .blockDimX = 1, .blockDimY = 1, .blockDimZ = 1};
    CUgraphNode node;
    CHECK(cuGraphAddKernelNode(&node, graph, after, count, &params));
    return node;
}

static CUgraph make_graph(enum shape shape, int count)
{
    static CUgraphNode nodes[MOST];
    CUgraph graph;
    CHECK(cuGraphCreate(&graph, 0));
    for (int i = 0; i < count; i++) {
        if (i == 0)
            nodes[i] = add_node(graph, NULL, 0);
        else if (shape == CHAIN)
            nodes[i] = add_node(graph, &nodes[i - 1], 1);
        else if (shape == DIAMOND && i == count - 1 && i > 1)
            nodes[i] = add_node(graph, &nodes[1], (size_t)i - 1);
        else
            nodes[i] = add_node(graph, &nodes[0], 1);
    }
    return graph;
}

static void launch_graph(void *data)
{
    CHECK(cuGraphLaunch(data, stream));
    CHECK(cuStreamSynchronize(stream));
}

static void instantiate(void *data)
{
    CUgraphExec exec;
    CHECK(cuGraphInstantiateWithFlags(&exec, data, 0));
    CHECK(cuGraphExecDestroy(exec));
}

static void launch_single(void *data)
{
    for (int i = 0; i < *(int *)data; i++)
        CHECK(cuLaunchKernel(empty, 1, 1, 1, 1, 1, 1, 0, stream, NULL, NULL));
    CHECK(cuStreamSynchronize(stream));
}

static void capture(void *data)
{
    CUgraph graph;
    CHECK(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
    for (int i = 0; i < *(int *)data; i++)
        CHECK(cuLaunchKernel(empty, 1, 1, 1, 1, 1, 1, 0, stream, NULL, NULL));
    CHECK(cuStreamEndCapture(stream, &graph));
    CHECK(cuGraphDestroy(graph));
}

/* Rounds that take some milliseconds. */
static int rounds_for(int count)
{
    return count >= 1000 ? 10000 / count : 1000 / count + 1;
}

static void measure(const char *what, const char *shape, int count, void (*body)(void *), void *data, int rounds)
{
    printf("graph_%s_%s_%d %.1f\n", what, shape, count, bench_median_ns(body, NULL, data, rounds, 15) / count);
    fflush(stdout);
}

int main(void)
{
    CUdevice device;
    CUcontext context;
    CUmodule module;
    CHECK(cuInit(0));
    CHECK(cuDeviceGet(&device, 0));
    CHECK(cuDevicePrimaryCtxRetain(&context, device));
    CHECK(cuCtxSetCurrent(context));
    CHECK(cuModuleLoadData(&module, bench_empty_ptx));
    CHECK(cuModuleGetFunction(&empty, module, "empty"));
    CHECK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        int count = counts[i], rounds = rounds_for(count);
        measure("single", "stream", count, launch_single, &count, rounds);
        measure("capture", "chain", count, capture, &count, rounds);
        for (int shape = CHAIN; shape <= DIAMOND; shape++) {
            CUgraph graph = make_graph((enum shape)shape, count);
            CUgraphExec exec;
            CHECK(cuGraphInstantiateWithFlags(&exec, graph, 0));
            measure("launch", shape_names[shape], count, launch_graph, exec, rounds);
            measure("instantiate", shape_names[shape], count, instantiate, graph, rounds / 4 + 1);
            CHECK(cuGraphExecDestroy(exec));
            CHECK(cuGraphDestroy(graph));
        }
    }
    CHECK(cuCtxSetCurrent(NULL));
    CHECK(cuDevicePrimaryCtxRelease(device));
    return 0;
}
