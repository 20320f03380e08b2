/* SPDX-License-Identifier: Apache-2.0 */
/* Blocks that wait for each other: threads come in for those that have not begun when all that have only wait, and not
 * while one of them gets on. With two workers, and without the monitor's help. */
#include "support.h"

#include "engine/workers.h"

enum { BLOCKS = 24, ROUNDS = 400 };

static struct {
    _Atomic unsigned begun, done, most;
} shared;

static void wait_while(struct mr_block *block, bool (*waits)(void), bool says_so)
{
    while (waits()) {
        block->changed_wait = says_so;
        block->runtime->yield(block);
    }
}

static bool some_are_missing(void)
{
    return atomic_load(&shared.begun) < BLOCKS;
}

static bool is_held(void)
{
    return !atomic_load(&shared.done);
}

/* A barrier of the whole grid, made by hand. */
static void kernel_meet(struct mr_block *block, uint32_t first_warp, uint32_t end_warp)
{
    (void)first_warp, (void)end_warp;
    atomic_fetch_add(&shared.begun, 1);
    wait_while(block, some_are_missing, false);
}

/* The same; those that wait change memory again and again. */
static void kernel_meet_alive(struct mr_block *block, uint32_t first_warp, uint32_t end_warp)
{
    (void)first_warp, (void)end_warp;
    atomic_fetch_add(&shared.begun, 1);
    wait_while(block, some_are_missing, true);
}

/* The first block holds what the others wait for; it yields, too, but between that lanes go on. */
static void kernel_hold(struct mr_block *block, uint32_t first_warp, uint32_t end_warp)
{
    (void)first_warp, (void)end_warp;
    atomic_fetch_add(&shared.begun, 1);
    if (block->ctaid[0]) {
        wait_while(block, is_held, false);
        return;
    }
    for (int i = 0; i < ROUNDS; i++) {
        block->left_wait = 1;
        block->runtime->yield(block);
        unsigned begun = atomic_load(&shared.begun);
        if (begun > atomic_load(&shared.most))
            atomic_store(&shared.most, begun);
    }
    atomic_store(&shared.done, 1);
}

static const struct mr_code meet = {
    .function = kernel_meet, .flags = MR_CODE_COOPERATIVE | MR_CODE_WAITS, .stack_bytes = 16384};
static const struct mr_code meet_alive = {
    .function = kernel_meet_alive, .flags = MR_CODE_COOPERATIVE | MR_CODE_WAITS, .stack_bytes = 16384};
static const struct mr_code hold = {
    .function = kernel_hold, .flags = MR_CODE_COOPERATIVE | MR_CODE_WAITS, .stack_bytes = 16384};

static void run(const struct mr_code *code)
{
    atomic_store(&shared.begun, 0);
    atomic_store(&shared.done, 0);
    atomic_store(&shared.most, 0);
    CUstream stream = new_stream(CU_STREAM_NON_BLOCKING);
    OK(launch(stream, code, BLOCKS, &shared));
    OK(cuStreamSynchronize(stream));
    OK(cuStreamDestroy(stream));
    assert_int_equal(atomic_load(&shared.begun), BLOCKS);
}

static void test_all_wait(void **state)
{
    (void)state;
    for (int round = 0; round < 20; round++) {
        run(&meet);
        run(&meet_alive);
    }
}

static void test_one_gets_on(void **state)
{
    (void)state;
    for (int round = 0; round < 50; round++) {
        run(&hold);
        assert_in_range(atomic_load(&shared.most), 1, 2);
    }
}

/* The one after the other, so that what is noted of threads in one launch does not count in the next. */
static void test_by_turns(void **state)
{
    (void)state;
    for (int round = 0; round < 20; round++) {
        run(&meet);
        run(&hold);
        assert_in_range(atomic_load(&shared.most), 1, 2);
    }
}

int main(void)
{
    setenv("MILLRACE_WORKERS", "2", 1);
    uint64_t never = UINT64_C(1) << 60;
    mr_engine.stall_pace =
        (struct mr_stall_pace){.tick_ns = 50000000, .soon_ns = never, .late_ns = never, .turn_ns = never};
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_all_wait), cmocka_unit_test(test_one_gets_on),
                                       cmocka_unit_test(test_by_turns)};
    return cmocka_run_group_tests(tests, support_begin, support_end);
}
