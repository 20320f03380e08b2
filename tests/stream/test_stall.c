/* SPDX-License-Identifier: Apache-2.0 */
/* Blocks that are taken back from the threads that have not begun them: here all the time, since the engine looks for
 * stalled launches as often as it can. */
#include "support.h"

#include "base/thread.h"
#include "engine/workers.h"

enum { BLOCKS = 3000 };

struct tally {
    _Atomic unsigned char runs[BLOCKS];
    _Atomic unsigned sum;
    unsigned work, fails_at;
};

static void note_block(struct tally *tally, uint32_t index)
{
    atomic_fetch_add_explicit(&tally->runs[index], 1, memory_order_relaxed);
    for (unsigned i = 0; i < tally->work; i++)
        mr_pause();
}

static void kernel_tally(struct mr_block *block, uint32_t first_warp, uint32_t end_warp)
{
    (void)first_warp, (void)end_warp;
    struct tally *tally = kernel_data(block);
    if (tally->fails_at && block->ctaid[0] == tally->fails_at)
        block->runtime->trap(block, MR_TRAP_TRAP, 0);
    note_block(tally, block->ctaid[0]);
}

/* As code does that runs several blocks in one call. */
static void kernel_tally_many(struct mr_block *block, uint32_t first_warp, uint32_t end_warp)
{
    (void)first_warp, (void)end_warp;
    struct tally *tally = kernel_data(block);
    for (uint32_t i = 0; i <= block->more_blocks; i++)
        note_block(tally, block->ctaid[0] + i);
}

static const struct mr_code codes[] = {
    {.function = kernel_tally, .flags = MR_CODE_MAY_WAIT, .stack_bytes = 16384},
    {.function = kernel_tally, .stack_bytes = 16384},
    {.function = kernel_tally_many, .flags = MR_CODE_BLOCKS, .stack_bytes = 16384},
    {.function = kernel_tally, .flags = MR_CODE_COOPERATIVE, .stack_bytes = 16384},
};

static void run(unsigned work, unsigned blocks, int rounds)
{
    static struct tally tallies[2];
    CUstream streams[2] = {new_stream(CU_STREAM_NON_BLOCKING), new_stream(CU_STREAM_NON_BLOCKING)};
    for (int round = 0; round < rounds; round++) {
        for (int s = 0; s < 2; s++) {
            memset((void *)&tallies[s], 0, sizeof tallies[s]);
            tallies[s].work = work;
            OK(launch(streams[s], &codes[(round + s) % 4], blocks, &tallies[s]));
        }
        for (int s = 0; s < 2; s++) {
            OK(cuStreamSynchronize(streams[s]));
            for (unsigned i = 0; i < BLOCKS; i++)
                assert_int_equal(tallies[s].runs[i], i < blocks);
        }
    }
    for (int s = 0; s < 2; s++)
        OK(cuStreamDestroy(streams[s]));
}

/* Each block runs once, be it taken back or not. */
static void test_small_grids(void **state)
{
    (void)state;
    run(100, 40, 400);
}

static void test_large_grids(void **state)
{
    (void)state;
    run(20, BLOCKS, 100);
}

static void test_long_blocks(void **state)
{
    (void)state;
    run(5000, 30, 30);
}

/* A block that fails ends the launch, though some of it has come back. */
static void test_a_block_that_fails(void **state)
{
    (void)state;
    static struct tally tally;
    for (int round = 0; round < 20; round++) {
        CUcontext context;
        OK(cuCtxCreate_v2(&context, 0, 0));
        memset((void *)&tally, 0, sizeof tally);
        tally.work = 300;
        tally.fails_at = 1 + (unsigned)round * 7;
        CUstream stream = new_stream(CU_STREAM_NON_BLOCKING);
        OK(launch(stream, &codes[round % 2], 500, &tally));
        FAILS(cuStreamSynchronize(stream), CUDA_ERROR_LAUNCH_FAILED);
        for (unsigned i = 0; i < BLOCKS; i++)
            assert_true(tally.runs[i] <= 1);
        (void)cuCtxDestroy(context);
    }
    OK(cuCtxSetCurrent(the_context));
}

static uint64_t taken_back(void)
{
    mr_lock_take(&mr_engine.lock);
    uint64_t times = mr_engine.taken_back;
    mr_lock_drop(&mr_engine.lock);
    return times;
}

/* The tests above have tested something; if not, more of it does. */
static void test_some_were_taken_back(void **state)
{
    (void)state;
    while (taken_back() == 0)
        run(5000, 30, 4);
}

int main(void)
{
    mr_engine.stall_pace = (struct mr_stall_pace){.tick_ns = 1, .soon_ns = 1000, .late_ns = 1000, .turn_ns = 1000};
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_small_grids),          cmocka_unit_test(test_large_grids),
        cmocka_unit_test(test_long_blocks),          cmocka_unit_test(test_a_block_that_fails),
        cmocka_unit_test(test_some_were_taken_back),
    };
    return cmocka_run_group_tests(tests, support_begin, support_end);
}
