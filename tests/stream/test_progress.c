/* SPDX-License-Identifier: Apache-2.0 */
/* Independent streams make progress whatever the others do: spinning kernels, blocked host functions, blocks that wait
 * for blocks of their own grid; and waiting threads that help, with what they wait for and nothing else. */
#include "support.h"

/* As many spinning kernels as four times the processors, on streams of their own, and one stream whose work ends them.
 */
static void spin_with(const struct mr_code *code, int spinners)
{
    struct gate gate = {0};
    CUstream streams[64], setter = new_stream(CU_STREAM_NON_BLOCKING);
    for (int i = 0; i < spinners; i++) {
        streams[i] = new_stream(CU_STREAM_NON_BLOCKING);
        OK(launch(streams[i], code, 1, &gate));
    }
    struct gate no_gate = {.open = 1};
    OK(cuLaunchHostFunc(setter, gate_wait, &no_gate));
    OK(cuStreamSynchronize(setter));
    gate_open(&gate);
    for (int i = 0; i < spinners; i++) {
        OK(cuStreamSynchronize(streams[i]));
        OK(cuStreamDestroy(streams[i]));
    }
    assert_int_equal(gate.entered, spinners);
    OK(cuStreamDestroy(setter));
}

static void test_spinning_kernels(void **state)
{
    (void)state;
    spin_with(&code_spin, 32);
}

static void test_spinning_kernels_that_never_yield(void **state)
{
    (void)state;
    spin_with(&code_spin_deaf, 8);
}

static void CUDA_CB set_gate(void *data)
{
    gate_open(data);
}

/* The setter's work is queued behind the spinners', and nobody synchronises with it. */
static void test_setter_comes_last(void **state)
{
    (void)state;
    struct gate gate = {0};
    CUstream streams[24], setter = new_stream(0);
    for (int i = 0; i < 24; i++) {
        streams[i] = new_stream(0);
        OK(launch(streams[i], &code_spin, 2, &gate));
    }
    OK(cuLaunchHostFunc(setter, set_gate, &gate));
    OK(cuCtxSynchronize());
    assert_int_equal(gate.entered, 48);
    for (int i = 0; i < 24; i++)
        OK(cuStreamDestroy(streams[i]));
    OK(cuStreamDestroy(setter));
}

static void test_blocked_host_functions(void **state)
{
    (void)state;
    struct gate gate = {0};
    CUstream streams[20];
    _Atomic int count = 0;
    for (int i = 0; i < 20; i++) {
        streams[i] = new_stream(CU_STREAM_NON_BLOCKING);
        OK(cuLaunchHostFunc(streams[i], gate_wait, &gate));
    }
    CUstream setter = new_stream(CU_STREAM_NON_BLOCKING);
    OK(launch(setter, &code_count, 10, &count));
    OK(cuLaunchHostFunc(setter, set_gate, &gate));
    OK(cuCtxSynchronize());
    assert_int_equal(count, 10);
    for (int i = 0; i < 20; i++)
        OK(cuStreamDestroy(streams[i]));
    OK(cuStreamDestroy(setter));
}

/* A barrier of a whole grid, made of atomics: every block waits for all blocks. */
struct grid_barrier {
    _Atomic unsigned arrived;
    unsigned expected;
    _Atomic int passed;
};

static void kernel_barrier(struct mr_block *block, uint32_t first_warp, uint32_t end_warp)
{
    (void)first_warp, (void)end_warp;
    struct grid_barrier *barrier = kernel_data(block);
    atomic_fetch_add(&barrier->arrived, 1);
    while (atomic_load(&barrier->arrived) < barrier->expected)
        block->runtime->yield(block);
    atomic_fetch_add(&barrier->passed, 1);
}

static const struct mr_code code_barrier = {
    .function = kernel_barrier, .flags = MR_CODE_COOPERATIVE | MR_CODE_WAITS, .stack_bytes = 16384};

static void test_blocks_wait_for_their_own_grid(void **state)
{
    (void)state;
    CUstream stream = new_stream(CU_STREAM_NON_BLOCKING);
    for (unsigned blocks = 2; blocks <= 40; blocks += 19) {
        for (int round = 0; round < 3; round++) {
            struct grid_barrier barrier = {.expected = blocks};
            OK(launch(stream, &code_barrier, blocks, &barrier));
            OK(cuStreamSynchronize(stream));
            assert_int_equal(barrier.passed, blocks);
        }
    }
    OK(cuStreamDestroy(stream));
}

/* The same where nothing tells that the blocks wait: they don't give way, and until now all went fast, so that a thread
 * takes many of them at once. */
static void kernel_meet(struct mr_block *block, uint32_t first_warp, uint32_t end_warp)
{
    (void)first_warp, (void)end_warp;
    struct grid_barrier *barrier = kernel_data(block);
    atomic_fetch_add(&barrier->arrived, 1);
    while (atomic_load(&barrier->arrived) < barrier->expected)
        mr_pause();
    atomic_fetch_add(&barrier->passed, 1);
}

static void meet(const struct mr_code *code, unsigned blocks)
{
    CUstream stream = new_stream(CU_STREAM_NON_BLOCKING);
    for (int round = 0; round < 20; round++) {
        struct grid_barrier none = {.expected = 0};
        OK(launch(stream, code, 2000, &none));
        OK(cuStreamSynchronize(stream));
    }
    struct grid_barrier barrier = {.expected = blocks};
    OK(launch(stream, code, blocks, &barrier));
    OK(cuStreamSynchronize(stream));
    assert_int_equal(barrier.passed, blocks);
    OK(cuStreamDestroy(stream));
}

static void test_blocks_that_may_wait_meet(void **state)
{
    static const struct mr_code code = {.function = kernel_meet, .flags = MR_CODE_MAY_WAIT, .stack_bytes = 16384};
    (void)state;
    meet(&code, 2);
    meet(&code, 25);
}

static void test_blocks_that_nobody_expects_to_wait_meet(void **state)
{
    static const struct mr_code code = {.function = kernel_meet, .stack_bytes = 16384};
    (void)state;
    meet(&code, 3);
}

/* Every block of a grid runs once, in grids of all sizes. */
static void kernel_tally(struct mr_block *block, uint32_t first_warp, uint32_t end_warp)
{
    (void)first_warp, (void)end_warp;
    atomic_fetch_add_explicit(&((_Atomic unsigned char *)kernel_data(block))[block->ctaid[0]], 1, memory_order_relaxed);
}

static const struct mr_code code_tally = {.function = kernel_tally, .stack_bytes = 16384};

static void test_every_block_once(void **state)
{
    (void)state;
    enum { MOST = 20000 };
    static _Atomic unsigned char tally[MOST];
    CUstream stream = new_stream(CU_STREAM_NON_BLOCKING);
    static const unsigned sizes[] = {1, 2, 3, 7, 64, 1000, MOST};
    for (int round = 0; round < 3; round++) {
        for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
            memset((void *)tally, 0, sizeof tally);
            OK(launch(stream, &code_tally, sizes[s], (void *)tally));
            OK(cuStreamSynchronize(stream));
            for (unsigned i = 0; i < MOST; i++)
                assert_int_equal(tally[i], i < sizes[s]);
        }
    }
    OK(cuStreamDestroy(stream));
}

/* A thread that waits for an event runs what comes before it, but not the kernel behind it, which only ends once the
 * thread goes on. */
static void test_helping_stops_at_the_event(void **state)
{
    (void)state;
    for (int round = 0; round < 50; round++) {
        struct gate gate = {0};
        _Atomic int count = 0;
        CUstream stream = new_stream(CU_STREAM_NON_BLOCKING);
        CUevent event = new_event(0);
        OK(launch(stream, &code_count, 1, &count));
        OK(cuEventRecord(event, stream));
        OK(launch(stream, &code_spin_deaf, 1, &gate));
        OK(cuEventSynchronize(event));
        assert_int_equal(count, 1);
        gate_open(&gate);
        OK(cuStreamSynchronize(stream));
        OK(cuStreamDestroy(stream));
        OK(cuEventDestroy(event));
    }
}

/* A host function never runs on a thread of the program. */
static _Atomic int on_caller;
static pthread_t caller;

static void CUDA_CB look_at_thread(void *data)
{
    (void)data;
    if (pthread_equal(pthread_self(), caller))
        atomic_fetch_add(&on_caller, 1);
}

static void test_host_functions_run_on_workers(void **state)
{
    (void)state;
    CUstream stream = new_stream(0);
    _Atomic int count = 0;
    caller = pthread_self();
    for (int i = 0; i < 200; i++) {
        OK(launch(stream, &code_count, 1, &count));
        OK(cuLaunchHostFunc(stream, look_at_thread, NULL));
        if (i % 3 == 0)
            OK(cuStreamSynchronize(stream));
    }
    OK(cuStreamSynchronize(stream));
    assert_int_equal(on_caller, 0);
    assert_int_equal(count, 200);
    OK(cuStreamDestroy(stream));
}

/* All ways of waiting end. */
static void test_policies(void **state)
{
    (void)state;
    static const unsigned flags[] = {CU_CTX_SCHED_AUTO, CU_CTX_SCHED_SPIN, CU_CTX_SCHED_YIELD,
                                     CU_CTX_SCHED_BLOCKING_SYNC};
    for (int i = 0; i < 4; i++) {
        CUcontext context;
        _Atomic int count = 0;
        OK(cuCtxCreate_v2(&context, flags[i], 0));
        CUstream stream = new_stream(0);
        CUevent event = new_event(i % 2 ? CU_EVENT_BLOCKING_SYNC : 0);
        for (int round = 0; round < 30; round++) {
            OK(cuLaunchHostFunc(stream, look_at_thread, NULL));
            OK(launch(stream, &code_count, 2, &count));
            OK(cuEventRecord(event, stream));
            if (round % 2)
                OK(cuEventSynchronize(event));
            else
                OK(cuStreamSynchronize(stream));
            assert_int_equal(count, 2 * (round + 1));
        }
        OK(cuCtxDestroy(context));
    }
    OK(cuCtxSetCurrent(the_context));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_spinning_kernels),
        cmocka_unit_test(test_spinning_kernels_that_never_yield),
        cmocka_unit_test(test_setter_comes_last),
        cmocka_unit_test(test_blocked_host_functions),
        cmocka_unit_test(test_blocks_wait_for_their_own_grid),
        cmocka_unit_test(test_blocks_that_may_wait_meet),
        cmocka_unit_test(test_blocks_that_nobody_expects_to_wait_meet),
        cmocka_unit_test(test_every_block_once),
        cmocka_unit_test(test_helping_stops_at_the_event),
        cmocka_unit_test(test_host_functions_run_on_workers),
        cmocka_unit_test(test_policies),
    };
    return cmocka_run_group_tests(tests, support_begin, support_end);
}
