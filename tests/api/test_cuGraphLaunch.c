/* SPDX-License-Identifier: Apache-2.0 */
/* Launches of executable graphs: order inside a graph and around it, many at once, changes while launches are queued,
 * failures, and graphs drawn at random whose every edge is checked. */
#include <pthread.h>

#include "api_support.h"

/* step(u32 *words, u32 self, u32 *before, u32 count): words[self] = 1 + the largest of words[before[i]]; what is 0
 * there hasn't run, and gives 1000000. */
static const char ptx[] = PTX_HEAD PTX_STORE PTX_EMPTY
    ".visible .entry poll(.param .u64 word)\n{\n"
    "    .reg .pred %p;\n    .reg .b64 %rd1;\n    .reg .b32 %r1;\n    ld.param.u64 %rd1, [word];\n"
    "again:\n    ld.volatile.global.u32 %r1, [%rd1];\n    setp.eq.u32 %p, %r1, 0;\n    @%p bra again;\n    ret;\n}\n"
    ".visible .entry add(.param .u64 to, .param .u32 value)\n{\n"
    "    .reg .b64 %rd<3>;\n    .reg .b32 %r<4>;\n"
    "    ld.param.u64 %rd1, [to];\n    ld.param.u32 %r1, [value];\n"
    "    ld.global.u32 %r2, [%rd1];\n    add.u32 %r3, %r2, %r1;\n    st.global.u32 [%rd1], %r3;\n    ret;\n}\n"
    ".visible .entry step(.param .u64 words, .param .u32 self, .param .u64 before, .param .u32 count)\n{\n"
    "    .reg .pred %p<3>;\n    .reg .b64 %rd<8>;\n    .reg .b32 %r<10>;\n"
    "    ld.param.u64 %rd1, [words];\n    ld.param.u32 %r1, [self];\n    ld.param.u64 %rd2, [before];\n    ld.param.u32 %r2, [count];\n"
    "    mov.u32 %r3, 0;\n    mov.u32 %r4, 0;\n"
    "next:\n    setp.ge.u32 %p1, %r3, %r2;\n    @%p1 bra done;\n"
    "    mul.wide.u32 %rd3, %r3, 4;\n    add.u64 %rd4, %rd2, %rd3;\n    ld.global.u32 %r5, [%rd4];\n"
    "    mul.wide.u32 %rd5, %r5, 4;\n    add.u64 %rd6, %rd1, %rd5;\n    ld.global.u32 %r6, [%rd6];\n"
    "    setp.eq.u32 %p2, %r6, 0;\n    @%p2 mov.u32 %r6, 1000000;\n"
    "    max.u32 %r4, %r4, %r6;\n    add.u32 %r3, %r3, 1;\n    bra next;\n"
    "done:\n    add.u32 %r4, %r4, 1;\n    mul.wide.u32 %rd3, %r1, 4;\n    add.u64 %rd4, %rd1, %rd3;\n    st.global.u32 [%rd4], %r4;\n    ret;\n}\n"
    ".visible .entry places(.param .u64 words)\n{\n"
    "    .reg .b64 %rd<4>;\n    .reg .b32 %r<6>;\n    ld.param.u64 %rd1, [words];\n"
    "    mov.u32 %r1, %ctaid.x;\n    mov.u32 %r2, %ntid.x;\n    mov.u32 %r3, %tid.x;\n    mad.lo.u32 %r4, %r1, %r2, %r3;\n"
    "    mul.wide.u32 %rd2, %r4, 4;\n    add.u64 %rd3, %rd1, %rd2;\n    ld.global.u32 %r5, [%rd3];\n    add.u32 %r5, %r5, 1;\n"
    "    st.global.u32 [%rd3], %r5;\n    ret;\n}\n";

static CUmodule module;

static int begin(void **state)
{
    if (begin_context(state) != 0)
        return -1;
    return cuModuleLoadData(&module, ptx) == CUDA_SUCCESS ? 0 : -1;
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, begin, end_context)

static CUgraphNode add_kernel(CUgraph graph, const CUgraphNode *before, size_t count, const char *name, unsigned blocks,
                              unsigned threads, void **params)
{
    CUDA_KERNEL_NODE_PARAMS node = {.func = get_function(module, name),
                                    .gridDimX = blocks,
                                    .gridDimY = 1,
                                    .gridDimZ = 1,
                                    .blockDimX = threads,
                                    .blockDimY = 1,
                                    .blockDimZ = 1,
                                    .kernelParams = params};
    CUgraphNode made = NULL;
    OK(cuGraphAddKernelNode(&made, graph, before, count, &node));
    return made;
}

static CUgraphNode add_add(CUgraph graph, CUgraphNode before, CUdeviceptr word, unsigned value)
{
    void *params[] = {&word, &value};
    return add_kernel(graph, &before, before ? 1 : 0, "add", 1, 1, params);
}

static CUdeviceptr words_of(size_t count)
{
    CUdeviceptr words = 0;
    OK(cuMemAlloc(&words, count * 4));
    OK(cuMemsetD32(words, 0, count));
    OK(cuCtxSynchronize());
    return words;
}

static unsigned word_at(CUdeviceptr address)
{
    unsigned value = 0;
    OK(cuMemcpyDtoH(&value, address, 4));
    return value;
}

static CUstream new_stream(void)
{
    CUstream stream = NULL;
    OK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    return stream;
}

/* ---- random graphs ---- */

enum { NODES = 150, DEPS = 6 };

static unsigned draw(unsigned *seed, unsigned below)
{
    *seed = *seed * 1664525u + 1013904223u;
    return (*seed >> 8) % below;
}

/* Every node checks that those before it have run, and computes its depth; the host computes the same. */
static void check_random(unsigned seed, CUstream stream)
{
    unsigned before[NODES][DEPS], counts[NODES], depth[NODES], result[NODES];
    CUgraphNode nodes[NODES];
    CUgraph graph = NULL;
    CUgraphExec exec = NULL;
    CUdeviceptr words = words_of(NODES), lists = words_of(NODES * DEPS);
    OK(cuGraphCreate(&graph, 0));
    for (unsigned i = 0; i < NODES; i++) {
        CUgraphNode handles[DEPS];
        unsigned wanted = i < DEPS ? 0 : draw(&seed, DEPS);
        counts[i] = 0;
        depth[i] = 1;
        for (unsigned k = 0; k < wanted; k++) {
            unsigned other = draw(&seed, 3) ? i - 1 - draw(&seed, DEPS) : draw(&seed, i);
            bool known = false;
            for (unsigned m = 0; m < counts[i]; m++)
                known |= before[i][m] == other;
            if (known)
                continue;
            handles[counts[i]] = nodes[other];
            before[i][counts[i]++] = other;
            if (depth[other] + 1 > depth[i])
                depth[i] = depth[other] + 1;
        }
        CUdeviceptr list = lists + i * DEPS * 4;
        void *params[] = {&words, &i, &list, &counts[i]};
        nodes[i] = add_kernel(graph, handles, counts[i], "step", 1, 1, params);
    }
    OK(cuMemcpyHtoD(lists, before, sizeof before));
    OK(cuGraphInstantiateWithFlags(&exec, graph, 0));
    for (int round = 0; round < 4; round++) {
        OK(cuMemsetD32Async(words, 0, NODES, stream));
        OK(cuGraphLaunch(exec, stream));
        OK(cuMemcpyDtoHAsync(result, words, sizeof result, stream));
        OK(cuStreamSynchronize(stream));
        for (unsigned i = 0; i < NODES; i++)
            assert_int_equal(result[i], depth[i]);
    }
    OK(cuGraphExecDestroy(exec));
    OK(cuGraphDestroy(graph));
    OK(cuMemFree(words));
    OK(cuMemFree(lists));
}

static void test_random_graphs(void **state)
{
    (void)state;
    CUstream stream = new_stream();
    for (unsigned seed = 1; seed <= 25; seed++)
        check_random(seed, stream);
}

static void *launch_thread(void *data)
{
    void **what = data;
    if (cuCtxSetCurrent(what[1]) != CUDA_SUCCESS)
        return "no context";
    for (int i = 0; i < 200; i++)
        if (cuGraphLaunch(what[0], what[2]) != CUDA_SUCCESS)
            return "launch";
    return cuStreamSynchronize(what[2]) == CUDA_SUCCESS ? NULL : "wait";
}

/* One executable graph, launched by several threads into several streams: its runs never overlap, so its plain
 * additions add up. */
static void test_threads_launch_one(void **state)
{
    CUdeviceptr word = words_of(1);
    CUgraph graph = NULL;
    CUgraphExec exec = NULL;
    OK(cuGraphCreate(&graph, 0));
    add_add(graph, add_add(graph, add_add(graph, NULL, word, 1), word, 1), word, 1);
    OK(cuGraphInstantiateWithFlags(&exec, graph, 0));
    pthread_t threads[4];
    void *what[4][3];
    for (int i = 0; i < 4; i++) {
        what[i][0] = exec;
        what[i][1] = *state;
        what[i][2] = new_stream();
        assert_int_equal(pthread_create(&threads[i], NULL, launch_thread, what[i]), 0);
    }
    for (int i = 0; i < 4; i++) {
        void *failed = NULL;
        pthread_join(threads[i], &failed);
        assert_null(failed);
    }
    assert_int_equal(word_at(word), 4 * 200 * 3);
    OK(cuGraphExecDestroy(exec));
    OK(cuGraphDestroy(graph));
}

/* Kernels of many blocks beside each other, and long copies and fills. */
static void test_shared_out_nodes(void **state)
{
    (void)state;
    enum { WORDS = 64 * 256, LARGE = 3 << 20 };
    CUdeviceptr words = words_of(4 * WORDS), from = words_of(LARGE), to = words_of(LARGE);
    CUgraph graph = NULL;
    CUgraphExec exec = NULL;
    CUgraphNode node;
    CUstream stream = new_stream();
    OK(cuGraphCreate(&graph, 0));
    for (unsigned i = 0; i < 4; i++) {
        CUdeviceptr part = words + i * WORDS * 4;
        void *params[] = {&part};
        node = add_kernel(graph, NULL, 0, "places", 64, 256, params);
        node = add_kernel(graph, &node, 1, "places", 64, 256, params);
    }
    CUDA_MEMSET_NODE_PARAMS fill = {.dst = from, .value = 0x01020304, .elementSize = 4, .width = LARGE, .height = 1};
    CUDA_MEMCPY3D copy = {.srcMemoryType = CU_MEMORYTYPE_DEVICE,
                          .srcDevice = from,
                          .dstMemoryType = CU_MEMORYTYPE_DEVICE,
                          .dstDevice = to,
                          .WidthInBytes = (size_t)LARGE * 4,
                          .Height = 1,
                          .Depth = 1};
    CUgraphNode filled;
    OK(cuGraphAddMemsetNode(&filled, graph, NULL, 0, &fill, NULL));
    OK(cuGraphAddMemcpyNode(&node, graph, &filled, 1, &copy, NULL));
    OK(cuGraphInstantiateWithFlags(&exec, graph, 0));
    for (unsigned round = 1; round <= 5; round++) {
        OK(cuMemsetD32(to, 0, LARGE));
        OK(cuCtxSynchronize());
        OK(cuGraphLaunch(exec, stream));
        OK(cuStreamSynchronize(stream));
        for (unsigned i = 0; i < 4 * WORDS; i += 1021)
            assert_int_equal(word_at(words + i * 4), 2 * round);
        for (unsigned i = 0; i < LARGE; i += 100003)
            assert_int_equal(word_at(to + i * 4), 0x01020304);
    }
    OK(cuGraphExecDestroy(exec));
    OK(cuGraphDestroy(graph));
}

static void test_large_shapes(void **state)
{
    (void)state;
    enum { COUNT = 10000 };
    CUdeviceptr word = words_of(1);
    CUgraph chain = NULL, fan = NULL;
    CUgraphExec exec = NULL;
    CUstream stream = new_stream();
    OK(cuGraphCreate(&chain, 0));
    OK(cuGraphCreate(&fan, 0));
    CUgraphNode last = NULL, root = NULL;
    for (int i = 0; i < COUNT; i++)
        last = add_add(chain, last, word, 1);
    OK(cuGraphInstantiateWithFlags(&exec, chain, 0));
    OK(cuGraphLaunch(exec, stream));
    OK(cuGraphLaunch(exec, stream));
    OK(cuStreamSynchronize(stream));
    assert_int_equal(word_at(word), 2 * COUNT);
    OK(cuGraphExecDestroy(exec));
    CUdeviceptr words = words_of(COUNT);
    root = add_add(fan, NULL, word, 1);
    for (unsigned i = 0; i < COUNT; i++)
        add_add(fan, root, words + i * 4, 1);
    OK(cuGraphInstantiateWithFlags(&exec, fan, 0));
    OK(cuGraphLaunch(exec, stream));
    OK(cuGraphLaunch(exec, stream));
    OK(cuStreamSynchronize(stream));
    for (unsigned i = 0; i < COUNT; i += 97)
        assert_int_equal(word_at(words + i * 4), 2);
    OK(cuGraphExecDestroy(exec));
    OK(cuGraphDestroy(chain));
    OK(cuGraphDestroy(fan));
}

/* Parameters change, nodes are switched off, the executable graph goes, all while launches are queued. */
static void test_changes_between_launches(void **state)
{
    (void)state;
    CUdeviceptr word = words_of(2);
    CUgraph graph = NULL;
    CUgraphExec exec = NULL;
    CUstream stream = new_stream();
    OK(cuGraphCreate(&graph, 0));
    CUgraphNode node = add_add(graph, NULL, word, 1);
    OK(cuGraphInstantiateWithFlags(&exec, graph, 0));
    unsigned sum = 0;
    for (unsigned i = 0; i < 300; i++) {
        void *params[] = {&word, &i};
        CUDA_KERNEL_NODE_PARAMS kernel = {.func = get_function(module, "add"),
                                          .gridDimX = 1,
                                          .gridDimY = 1,
                                          .gridDimZ = 1,
                                          .blockDimX = 1,
                                          .blockDimY = 1,
                                          .blockDimZ = 1,
                                          .kernelParams = params};
        OK(cuGraphExecKernelNodeSetParams(exec, node, &kernel));
        OK(cuGraphNodeSetEnabled(exec, node, i % 3 != 0));
        OK(cuGraphLaunch(exec, stream));
        sum += i % 3 != 0 ? i : 0;
    }
    OK(cuGraphExecDestroy(exec));
    OK(cuGraphDestroy(graph));
    OK(cuStreamSynchronize(stream));
    assert_int_equal(word_at(word), sum);
}

static void CUDA_CB count_up(void *data)
{
    ++*(unsigned *)data;
}

static void test_host_and_events(void **state)
{
    (void)state;
    unsigned count = 0;
    CUgraph graph = NULL;
    CUgraphExec exec = NULL;
    CUgraphNode node = NULL;
    CUevent start = NULL, end = NULL;
    CUstream stream = new_stream(), other = new_stream();
    CUdeviceptr word = words_of(1);
    float time = -1;
    OK(cuEventCreate(&start, 0));
    OK(cuEventCreate(&end, 0));
    OK(cuGraphCreate(&graph, 0));
    CUDA_HOST_NODE_PARAMS host = {.fn = count_up, .userData = &count};
    OK(cuGraphAddEventRecordNode(&node, graph, NULL, 0, start));
    for (int i = 0; i < 20; i++) {
        CUgraphNode before = node;
        OK(cuGraphAddHostNode(&node, graph, &before, 1, &host));
        node = add_add(graph, node, word, 1);
    }
    CUgraphNode before = node;
    OK(cuGraphAddEventRecordNode(&node, graph, &before, 1, end));
    OK(cuGraphInstantiateWithFlags(&exec, graph, 0));
    for (unsigned round = 1; round <= 20; round++) {
        OK(cuGraphLaunch(exec, stream));
        OK(cuStreamWaitEvent(other, end, 0));
        OK(cuStreamSynchronize(other));
        assert_int_equal(count, 20 * round);
        OK(cuStreamSynchronize(stream));
        OK(cuEventElapsedTime(&time, start, end));
        assert_true(time > 0);
    }
    assert_int_equal(word_at(word), 400);
    OK(cuGraphExecDestroy(exec));
    OK(cuGraphDestroy(graph));
}

/* The program waits for an event that a node records, and lets another node go on only then. The thread that waits must
 * not run that one itself. */
static void test_event_lets_program_go_on(void **state)
{
    (void)state;
    enum { WAYS = 4, ROUNDS = 40 };
    CUevent event = NULL;
    CUgraph graph = NULL;
    CUgraphExec exec = NULL;
    CUgraphNode node, recorded;
    CUdeviceptr word = words_of(1), flag;
    CUstream stream = new_stream(), other = new_stream();
    volatile unsigned *gate = NULL;
    unsigned value = 0;
    OK(cuMemHostAlloc((void **)&gate, sizeof *gate, CU_MEMHOSTALLOC_DEVICEMAP));
    OK(cuMemHostGetDevicePointer(&flag, (void *)gate, 0));
    OK(cuEventCreate(&event, CU_EVENT_DISABLE_TIMING));
    OK(cuGraphCreate(&graph, 0));
    node = add_add(graph, NULL, word, 1);
    OK(cuGraphAddEventRecordNode(&recorded, graph, &node, 1, event));
    void *params[] = {&flag};
    (void)add_kernel(graph, &recorded, 1, "poll", 1, 1, params); /* behind the record, */
    (void)add_kernel(graph, NULL, 0, "poll", 1, 1, params); /* and beside it */
    OK(cuGraphInstantiateWithFlags(&exec, graph, 0));
    for (unsigned i = 0; i < WAYS * ROUNDS; i++) {
        *gate = 0;
        OK(cuGraphLaunch(exec, stream));
        switch (i % WAYS) {
        case 0:
            OK(cuEventSynchronize(event));
            break;
        case 1:
            OK(cuStreamWaitEvent(other, event, 0));
            OK(cuStreamSynchronize(other));
            break;
        case 2: /* a copy to pageable memory waits in the call */
            OK(cuStreamWaitEvent(other, event, 0));
            OK(cuMemcpyDtoHAsync(&value, word, sizeof value, other));
            OK(cuStreamSynchronize(other));
            assert_int_equal(value, i + 1);
            break;
        default:
            while (cuEventQuery(event) == CUDA_ERROR_NOT_READY)
                ;
        }
        FAILS(cuStreamQuery(stream), CUDA_ERROR_NOT_READY);
        *gate = 1;
        OK(cuStreamSynchronize(stream));
    }
    OK(cuGraphExecDestroy(exec));
    OK(cuGraphDestroy(graph));
    OK(cuEventDestroy(event));
    OK(cuMemFreeHost((void *)gate));
}

/* A fault ends the run, and everything that waits for it; contexts made later are as good as ever. */
static void test_fault(void **state)
{
    for (int round = 0; round < 10; round++) {
        CUcontext context = NULL;
        CUmodule own = NULL;
        CUgraph graph = NULL;
        CUgraphExec exec = NULL;
        CUevent event = NULL;
        OK(cuCtxCreate_v4(&context, NULL, 0, 0));
        OK(cuModuleLoadData(&own, ptx));
        CUmodule outer = module;
        module = own;
        CUdeviceptr word = words_of(1);
        CUstream stream = new_stream();
        OK(cuEventCreate(&event, 0));
        OK(cuGraphCreate(&graph, 0));
        CUgraphNode node = add_add(graph, NULL, word, 1), recorded;
        for (int i = 0; i < 5; i++)
            (void)add_add(graph, node, word, 1);
        node = add_add(graph, node, 16, 1);
        OK(cuGraphAddEventRecordNode(&recorded, graph, &node, 1, event));
        OK(cuGraphInstantiateWithFlags(&exec, graph, 0));
        OK(cuGraphLaunch(exec, stream));
        FAILS(cuEventSynchronize(event), CUDA_ERROR_ILLEGAL_ADDRESS);
        FAILS(cuStreamSynchronize(stream), CUDA_ERROR_ILLEGAL_ADDRESS);
        FAILS(cuGraphLaunch(exec, stream), CUDA_ERROR_ILLEGAL_ADDRESS);
        OK(cuGraphExecDestroy(exec));
        OK(cuGraphDestroy(graph));
        (void)cuCtxDestroy(context);
        module = outer;
    }
    CUcontext current = NULL;
    OK(cuCtxSetCurrent(*state));
    OK(cuCtxGetCurrent(&current));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_random_graphs), TEST(test_threads_launch_one),       TEST(test_shared_out_nodes),
        TEST(test_large_shapes),  TEST(test_changes_between_launches), TEST(test_host_and_events),
        TEST(test_fault),         TEST(test_event_lets_program_go_on),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
