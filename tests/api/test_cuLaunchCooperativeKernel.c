/* SPDX-License-Identifier: Apache-2.0 */
/* cuLaunchCooperativeKernel: barriers over the whole grid, as cooperative groups make them from the workspace behind
 * %envreg1 and %envreg2, with as many blocks as the device takes and many more than it has processors; what is too
 * large; captures and graphs; faults; two grids at once; barriers in functions that call themselves, at different
 * depths. */
#include "api_support.h"

/* rounds(words, n): n times, each thread writes the round to its word, the grid waits, and each reads the word of the
 * thread opposite; the number of words that were right is added up in the last word. wait_once(): one barrier.
 * fails(words): block 1 stops while all others wait for it. */
static const char source[] =
    ".version 7.0\n.target sm_70\n.address_size 64\n"
    ".func grid_wait()\n{\n"
    "    .reg .b32 %r<20>;\n    .reg .b64 %rd<4>;\n    .reg .pred %p<4>;\n"
    "    barrier.sync 0;\n"
    "    mov.u32 %r1, %tid.x;\n    setp.ne.u32 %p1, %r1, 0;\n    @%p1 bra DONE;\n"
    "    mov.u32 %r2, %envreg1;\n    mov.u32 %r3, %envreg2;\n    mov.b64 %rd1, {%r3, %r2};\n"
    "    mov.u32 %r4, %nctaid.x;\n    mov.u32 %r5, %nctaid.y;\n    mul.lo.u32 %r4, %r4, %r5;\n"
    "    mov.u32 %r6, %ctaid.x;\n    mov.u32 %r7, %ctaid.y;\n    or.b32 %r6, %r6, %r7;\n"
    "    sub.u32 %r8, 0x80000001, %r4;\n    setp.eq.u32 %p2, %r6, 0;\n    selp.u32 %r9, %r8, 1, %p2;\n"
    "    atom.add.release.gpu.u32 %r10, [%rd1+4], %r9;\n"
    "AGAIN:\n    ld.acquire.gpu.u32 %r11, [%rd1+4];\n    xor.b32 %r12, %r10, %r11;\n"
    "    setp.ge.s32 %p3, %r12, 0;\n    @%p3 bra AGAIN;\n"
    "DONE:\n    barrier.sync 0;\n    ret;\n}\n"

    ".visible .entry rounds(.param .u64 words, .param .u32 n)\n{\n"
    "    .reg .b32 %r<20>;\n    .reg .b64 %rd<8>;\n    .reg .pred %p<4>;\n"
    "    ld.param.u64 %rd1, [words];\n    ld.param.u32 %r1, [n];\n"
    "    mov.u32 %r2, %ctaid.y;\n    mov.u32 %r3, %nctaid.x;\n    mov.u32 %r4, %ctaid.x;\n    mad.lo.u32 %r2, %r2, %r3, %r4;\n"
    "    mov.u32 %r5, %ntid.x;\n    mov.u32 %r6, %tid.x;\n    mad.lo.u32 %r7, %r2, %r5, %r6;\n" /* number in the grid */
    "    mov.u32 %r8, %nctaid.y;\n    mul.lo.u32 %r8, %r8, %r3;\n    mul.lo.u32 %r8, %r8, %r5;\n" /* threads of the grid
                                                                                                   */
    "    mul.wide.u32 %rd2, %r7, 4;\n    add.u64 %rd3, %rd1, %rd2;\n"
    "    sub.u32 %r9, %r8, %r7;\n    sub.u32 %r9, %r9, 1;\n    mul.wide.u32 %rd4, %r9, 4;\n    add.u64 %rd5, %rd1, %rd4;\n"
    "    mul.wide.u32 %rd6, %r8, 4;\n    add.u64 %rd7, %rd1, %rd6;\n    mov.u32 %r10, 0;\n    mov.u32 %r11, 0;\n"
    "ROUND:\n    add.u32 %r10, %r10, 1;\n    st.global.u32 [%rd3], %r10;\n    call grid_wait;\n"
    "    ld.global.u32 %r12, [%rd5];\n    setp.eq.u32 %p1, %r12, %r10;\n    selp.u32 %r13, 1, 0, %p1;\n    add.u32 %r11, %r11, %r13;\n"
    "    call grid_wait;\n    setp.lt.u32 %p2, %r10, %r1;\n    @%p2 bra ROUND;\n"
    "    red.global.add.u32 [%rd7], %r11;\n    ret;\n}\n"

    ".visible .entry wait_once()\n{\n    call grid_wait;\n    ret;\n}\n"

    ".visible .entry fails()\n{\n    .reg .b32 %r<2>;\n    .reg .pred %p;\n    mov.u32 %r1, %ctaid.x;\n    setp.eq.u32 %p, %r1, 1;\n"
    "    @%p trap;\n    call grid_wait;\n    ret;\n}\n"

    /* valid(word): is there a workspace? */
    ".visible .entry valid(.param .u64 word)\n{\n    .reg .b32 %r<4>;\n    .reg .b64 %rd<2>;\n    ld.param.u64 %rd1, [word];\n"
    "    mov.u32 %r1, %envreg1;\n    mov.u32 %r2, %envreg2;\n    or.b32 %r1, %r1, %r2;\n    min.u32 %r1, %r1, 1;\n    st.global.u32 [%rd1], %r1;\n    ret;\n}\n";

/*
 * deep(words, rounds, how, step): the same in a function that calls itself, with what it needs in registers. Each call
 * is good for one round, then calls itself; the last, at the depth that is wanted, does those that are left. All
 * threads are as deep (how 0), those of a block (1), or each as deep as its number says (2), so that lanes of a warp
 * come to the barriers in different calls. The barrier is a function with register parameters too. first(…): only one
 * thread of a block goes deep, with the grid's part of the barrier, and the others wait for it at the block's.
 */
static const char deep_source[] =
    ".version 7.0\n.target sm_70\n.address_size 64\n"
    ".func (.reg .b32 seen) grid_part(.reg .b64 word, .reg .b32 blocks, .reg .b32 number)\n{\n"
    "    .reg .b32 %old, %add;\n    .reg .pred %p;\n    setp.eq.u32 %p, number, 0;\n"
    "    sub.u32 %add, 0x80000001, blocks;\n    selp.u32 %add, %add, 1, %p;\n    atom.add.release.gpu.u32 %old, [word], %add;\n"
    "AGAIN:\n    ld.acquire.gpu.u32 seen, [word];\n    xor.b32 %add, %old, seen;\n    setp.ge.s32 %p, %add, 0;\n    @%p bra AGAIN;\n    ret;\n}\n"
    ".func grid_wait(.reg .b64 word)\n{\n    .reg .b32 %r<3>;\n    .reg .pred %p<2>;\n"
    "    barrier.sync 0;\n    mov.u32 %r1, %tid.x;\n    setp.ne.u32 %p1, %r1, 0;\n    @%p1 bra DONE;\n"
    "    mov.u32 %r1, %nctaid.x;\n    mov.u32 %r2, %ctaid.x;\n    call (_), grid_part, (word, %r1, %r2);\n"
    "DONE:\n    barrier.sync 0;\n    ret;\n}\n"

    ".func (.reg .b32 right) deeper(.reg .b64 word, .reg .b64 mine, .reg .b64 other, .reg .b32 depth, .reg .b32 round, .reg .b32 rounds)\n{\n"
    "    .reg .b32 %v;\n    .reg .pred %p;\n    mov.u32 right, 0;\n"
    "AGAIN:\n    setp.ge.u32 %p, round, rounds;\n    @%p ret;\n    add.u32 round, round, 1;\n    st.global.u32 [mine], round;\n    call grid_wait, (word);\n"
    "    ld.global.u32 %v, [other];\n    setp.eq.u32 %p, %v, round;\n    selp.u32 %v, 1, 0, %p;\n    add.u32 right, right, %v;\n    call grid_wait, (word);\n"
    "    setp.eq.u32 %p, depth, 0;\n    @%p bra AGAIN;\n    sub.u32 %v, depth, 1;\n"
    "    call (%v), deeper, (word, mine, other, %v, round, rounds);\n    add.u32 right, right, %v;\n    ret;\n}\n"

    ".func (.reg .b32 right) lonely(.reg .b64 word, .reg .b32 n, .reg .b32 blocks, .reg .b32 number)\n{\n"
    "    .reg .b32 %v;\n    .reg .pred %p;\n    mov.u32 right, n;\n    setp.eq.u32 %p, n, 0;\n    @%p ret;\n    call (_), grid_part, (word, blocks, number);\n"
    "    sub.u32 %v, n, 1;\n    call (%v), lonely, (word, %v, blocks, number);\n    add.u32 right, right, %v;\n    ret;\n}\n"

#define PLACES \
    "    .reg .b32 %r<20>;\n    .reg .b64 %rd<9>;\n    .reg .pred %p<4>;\n    ld.param.u64 %rd1, [words];\n    ld.param.u32 %r1, [rounds];\n" \
    "    mov.u32 %r2, %ctaid.x;\n    mov.u32 %r3, %ntid.x;\n    mov.u32 %r4, %tid.x;\n    mov.u32 %r5, %nctaid.x;\n    mad.lo.u32 %r6, %r2, %r3, %r4;\n" \
    "    mul.lo.u32 %r7, %r5, %r3;\n    sub.u32 %r8, %r7, %r6;\n    sub.u32 %r8, %r8, 1;\n    mad.wide.u32 %rd2, %r6, 4, %rd1;\n" \
    "    mad.wide.u32 %rd3, %r8, 4, %rd1;\n    mad.wide.u32 %rd4, %r7, 4, %rd1;\n" \
    "    mov.u32 %r9, %envreg1;\n    mov.u32 %r10, %envreg2;\n    mov.b64 %rd5, {%r10, %r9};\n    add.u64 %rd5, %rd5, 4;\n"
    ".visible .entry deep(.param .u64 words, .param .u32 rounds, .param .u32 how)\n{\n" PLACES
    "    ld.param.u32 %r11, [how];\n    setp.eq.u32 %p1, %r11, 0;\n    setp.eq.u32 %p2, %r11, 1;\n    rem.u32 %r12, %r2, 5;\n    rem.u32 %r13, %r4, 5;\n"
    "    selp.u32 %r12, %r12, %r13, %p2;\n    selp.u32 %r12, 4, %r12, %p1;\n"
    "    call (%r14), deeper, (%rd5, %rd2, %rd3, %r12, 0, %r1);\n    red.global.add.u32 [%rd4], %r14;\n    ret;\n}\n"
    ".visible .entry first(.param .u64 words, .param .u32 rounds)\n{\n" PLACES
    "    setp.eq.u32 %p2, %r4, 5;\n    mov.u32 %r14, 1;\n    st.global.u32 [%rd2], %r14;\n    bar.sync 0;\n"
    "    @%p2 call (%r14), lonely, (%rd5, %r1, %r5, %r2);\n    bar.sync 0;\n    ld.global.u32 %r15, [%rd3];\n    add.u32 %r14, %r14, %r15;\n"
    "    red.global.add.u32 [%rd4], %r14;\n    ret;\n}\n";

static CUmodule module;

static int begin(void **state)
{
    if (begin_context(state) != 0)
        return -1;
    return cuModuleLoadData(&module, source) == CUDA_SUCCESS ? 0 : -1;
}

static unsigned most_blocks(CUfunction function, unsigned threads)
{
    int each, multiprocessors;
    OK(cuOccupancyMaxActiveBlocksPerMultiprocessor(&each, function, (int)threads, 0));
    OK(cuDeviceGetAttribute(&multiprocessors, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, 0));
    assert_in_range(each, 1, 1024);
    return (unsigned)(each * multiprocessors);
}

static CUdeviceptr zeros(size_t words)
{
    CUdeviceptr memory;
    OK(cuMemAlloc(&memory, words * 4));
    OK(cuMemsetD32(memory, 0, words));
    return memory;
}

static unsigned word_at(CUdeviceptr memory, size_t index)
{
    unsigned word;
    OK(cuMemcpyDtoH(&word, memory + index * 4, 4));
    return word;
}

static void check_rounds(unsigned x, unsigned y, unsigned threads, unsigned n)
{
    CUfunction rounds = get_function(module, "rounds");
    size_t all = (size_t)x * y * threads;
    CUdeviceptr words = zeros(all + 1);
    void *params[] = {&words, &n};
    OK(cuLaunchCooperativeKernel(rounds, x, y, 1, threads, 1, 1, 0, NULL, params));
    OK(cuCtxSynchronize());
    assert_int_equal(word_at(words, all), all * n);
    OK(cuMemFree(words));
}

static void every_size(void **state)
{
    (void)state;
    int supported;
    OK(cuDeviceGetAttribute(&supported, CU_DEVICE_ATTRIBUTE_COOPERATIVE_LAUNCH, 0));
    assert_int_equal(supported, 1);
    check_rounds(1, 1, 1, 3);
    check_rounds(1, 1, 256, 3);
    check_rounds(3, 1, 64, 20);
    check_rounds(5, 3, 33, 5);
    static const unsigned threads[] = {32, 128, 1024};
    for (unsigned i = 0; i < 3; i++) {
        unsigned most = most_blocks(get_function(module, "rounds"), threads[i]);
        check_rounds(most > 256 ? 256 : most, 1, threads[i], 3);
    }
}

static void too_large(void **state)
{
    (void)state;
    CUfunction function = get_function(module, "wait_once");
    unsigned most = most_blocks(function, 96);
    FAILS(cuLaunchCooperativeKernel(function, most + 1, 1, 1, 96, 1, 1, 0, NULL, NULL),
          CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE);
    FAILS(cuLaunchCooperativeKernel(function, 0x7fffffff, 65535, 65535, 96, 1, 1, 0, NULL, NULL),
          CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE);
    FAILS(cuLaunchCooperativeKernel(function, 1 << 20, 1, 1, 1024, 1, 1, 0, NULL, NULL),
          CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE);
    FAILS(cuLaunchCooperativeKernel(function, 1, 1, 1, 2048, 1, 1, 0, NULL, NULL), CUDA_ERROR_INVALID_VALUE);
    FAILS(cuLaunchCooperativeKernel(function, 0, 1, 1, 32, 1, 1, 0, NULL, NULL), CUDA_ERROR_INVALID_VALUE);
    FAILS(cuLaunchCooperativeKernel(function, 1, 1, 1, 32, 1, 1, 1 << 20, NULL, NULL), CUDA_ERROR_INVALID_VALUE);
    FAILS(cuLaunchCooperativeKernel(NULL, 1, 1, 1, 1, 1, 1, 0, NULL, NULL), CUDA_ERROR_INVALID_HANDLE);
    FAILS(cuLaunchCooperativeKernelMultiDevice(NULL, 0, 0), CUDA_ERROR_INVALID_VALUE);
    OK(cuLaunchCooperativeKernel(function, most, 1, 1, 96, 1, 1, 0, NULL, NULL));
    OK(cuCtxSynchronize());
}

static CUresult launch_with_attribute(CUfunction function, unsigned blocks, CUstream stream, void **params)
{
    CUlaunchAttribute attribute;
    memset(&attribute, 0, sizeof attribute);
    attribute.id = CU_LAUNCH_ATTRIBUTE_COOPERATIVE;
    attribute.value.cooperative = 1;
    CUlaunchConfig config = {.gridDimX = blocks,
                             .gridDimY = 1,
                             .gridDimZ = 1,
                             .blockDimX = 64,
                             .blockDimY = 1,
                             .blockDimZ = 1,
                             .hStream = stream,
                             .attrs = &attribute,
                             .numAttrs = 1};
    return cuLaunchKernelEx(&config, function, params, NULL);
}

static void the_attribute_says_the_same(void **state)
{
    (void)state;
    CUdeviceptr word = zeros(1);
    CUfunction wait_once = get_function(module, "wait_once"), valid = get_function(module, "valid");
    void *params[] = {&word};
    unsigned most = most_blocks(wait_once, 64);
    OK(launch_with_attribute(wait_once, most, NULL, NULL));
    FAILS(launch_with_attribute(wait_once, most + 1, NULL, NULL), CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE);
    OK(launch_with_attribute(valid, 1, NULL, params));
    assert_int_equal(word_at(word, 0), 1);
    OK(cuLaunchKernel(valid, 1, 1, 1, 1, 1, 1, 0, NULL, params, NULL));
    assert_int_equal(word_at(word, 0), 0);
    OK(cuLaunchCooperativeKernel(valid, 1, 1, 1, 1, 1, 1, 0, NULL, params));
    assert_int_equal(word_at(word, 0), 1);
    OK(cuMemFree(word));
}

static void captured_and_in_graphs(void **state)
{
    enum { BLOCKS = 12, THREADS = 64 };
    (void)state;
    CUfunction rounds = get_function(module, "rounds");
    CUdeviceptr words = zeros(BLOCKS * THREADS + 1);
    unsigned n = 2;
    void *params[] = {&words, &n};
    CUstream stream;
    CUgraph graph;
    CUgraphExec exec;
    CUgraphNode node;
    size_t count = 1;
    OK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    OK(cuStreamBeginCapture_v2(stream, CU_STREAM_CAPTURE_MODE_RELAXED));
    OK(cuLaunchCooperativeKernel(rounds, BLOCKS, 1, 1, THREADS, 1, 1, 0, stream, params));
    OK(cuStreamEndCapture(stream, &graph));
    OK(cuGraphGetNodes(graph, &node, &count));
    CUkernelNodeAttrValue value = {0};
    OK(cuGraphKernelNodeGetAttribute(node, CU_LAUNCH_ATTRIBUTE_COOPERATIVE, &value));
    assert_int_equal(value.cooperative, 1);
    OK(cuGraphInstantiateWithFlags(&exec, graph, 0));
    for (int i = 0; i < 3; i++)
        OK(cuGraphLaunch(exec, stream));
    OK(cuStreamSynchronize(stream));
    assert_int_equal(word_at(words, BLOCKS * THREADS), 3 * n * BLOCKS * THREADS);
    OK(cuGraphExecDestroy(exec));
    OK(cuGraphDestroy(graph));
    OK(cuStreamDestroy(stream));
    OK(cuMemFree(words));
}

/* Both are under way at once, or one after the other: each must end. */
static void two_grids_at_once(void **state)
{
    enum { STREAMS = 3, BLOCKS = 20, THREADS = 96, REPEATS = 4 };
    (void)state;
    CUfunction rounds = get_function(module, "rounds");
    CUstream streams[STREAMS];
    CUdeviceptr words[STREAMS];
    unsigned n = 4;
    for (int i = 0; i < STREAMS; i++) {
        OK(cuStreamCreate(&streams[i], CU_STREAM_NON_BLOCKING));
        words[i] = zeros(BLOCKS * THREADS + 1);
    }
    for (int k = 0; k < REPEATS; k++)
        for (int i = 0; i < STREAMS; i++) {
            void *params[] = {&words[i], &n};
            OK(cuLaunchCooperativeKernel(rounds, BLOCKS, 1, 1, THREADS, 1, 1, 0, streams[i], params));
        }
    for (int i = 0; i < STREAMS; i++) {
        OK(cuStreamSynchronize(streams[i]));
        assert_int_equal(word_at(words[i], BLOCKS * THREADS), REPEATS * n * BLOCKS * THREADS);
        OK(cuMemFree(words[i]));
        OK(cuStreamDestroy(streams[i]));
    }
}

/* Without LLVM's passes and with them, for code differs most there. */
static void in_functions_that_call_themselves(void **state)
{
    enum { BLOCKS = 7, THREADS = 72, ROUNDS = 6 };
    (void)state;
    for (unsigned level = 0; level <= 4; level += 4) {
        CUjit_option key = CU_JIT_OPTIMIZATION_LEVEL;
        void *value = (void *)(uintptr_t)level;
        CUmodule deep;
        OK(cuModuleLoadDataEx(&deep, deep_source, 1, &key, &value));
        for (unsigned how = 0; how < 4; how++) {
            CUdeviceptr words = zeros(BLOCKS * THREADS + 1);
            unsigned rounds = ROUNDS;
            void *params[] = {&words, &rounds, &how};
            OK(cuLaunchCooperativeKernel(get_function(deep, how == 3 ? "first" : "deep"), BLOCKS, 1, 1, THREADS, 1, 1,
                                         0, NULL, params));
            OK(cuCtxSynchronize());
            /* In first(), each thread has 1, and one of a block the sum of the counts, and each adds another's 1. */
            unsigned expected =
                how == 3 ? BLOCKS * (2 * THREADS - 1 + ROUNDS * (ROUNDS + 1) / 2) : BLOCKS * THREADS * ROUNDS;
            assert_int_equal(word_at(words, BLOCKS * THREADS), expected);
            OK(cuMemFree(words));
        }
        OK(cuModuleUnload(deep));
    }
}

static void a_fault_ends_the_grid(void **state)
{
    CUcontext other;
    (void)state;
    OK(cuLaunchCooperativeKernel(get_function(module, "fails"), 16, 1, 1, 64, 1, 1, 0, NULL, NULL));
    FAILS(cuCtxSynchronize(), CUDA_ERROR_LAUNCH_FAILED);
    /* The threads that ran it are good for the next. */
    OK(cuCtxCreate_v4(&other, NULL, 0, 0));
    OK(cuModuleLoadData(&module, source));
    check_rounds(16, 1, 64, 3);
    OK(cuCtxDestroy(other));
}

#define IN(function) cmocka_unit_test_setup_teardown(function, begin, end_context)

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN(every_size),
        IN(too_large),
        IN(the_attribute_says_the_same),
        IN(captured_and_in_graphs),
        IN(two_grids_at_once),
        IN(in_functions_that_call_themselves),
        IN(a_fault_ends_the_grid),
    };
    return cmocka_run_group_tests_name("cuLaunchCooperativeKernel", tests, NULL, NULL);
}
