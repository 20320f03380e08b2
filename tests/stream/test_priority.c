/* SPDX-License-Identifier: Apache-2.0 */
/* Two workers (MILLRACE_WORKERS=2) inside a large launch of a low priority: one of them leaves for work of a higher
 * priority, and the launch still ends whole. */
#include "monitor.h"

enum { BLOCKS = 500 };

struct large {
    struct gate gate;
    _Atomic int blocks, urgent;
};

/* The first two blocks hold both workers until the gate opens, the others until the urgent work is done: unless a
 * worker leaves, none of this ever ends. */
static void kernel_large(struct mr_block *block, uint32_t first_warp, uint32_t end_warp)
{
    (void)first_warp, (void)end_warp;
    struct large *large = kernel_data(block);
    _Atomic int *held_by = atomic_fetch_add(&large->gate.entered, 1) < 2 ? &large->gate.open : &large->urgent;
    while (!atomic_load(held_by))
        sched_yield();
    atomic_fetch_add(&large->blocks, 1);
}

static const struct mr_code code_large = {
    .function = kernel_large, .flags = MR_CODE_WAITS, .stack_bytes = 16384}; /* always shared, block by block */

static void kernel_urgent(struct mr_block *block, uint32_t first_warp, uint32_t end_warp)
{
    (void)first_warp, (void)end_warp;
    struct large *large = kernel_data(block);
    atomic_store(&large->urgent, 1);
}

static const struct mr_code code_urgent = {.function = kernel_urgent, .stack_bytes = 16384};

static void test_large_launch_gives_way(void **state)
{
    (void)state;
    enum { ROUNDS = 20 };
    CUstream low, high;
    OK(cuStreamCreateWithPriority(&low, CU_STREAM_NON_BLOCKING, MR_PRIORITY_LEAST));
    OK(cuStreamCreateWithPriority(&high, CU_STREAM_NON_BLOCKING, MR_PRIORITY_GREATEST));
    for (int round = 0; round < ROUNDS; round++) {
        struct large large = {0};
        keep_monitor_asleep(true);
        OK(launch(low, &code_large, BLOCKS, &large));
        while (atomic_load(&large.gate.entered) < 2)
            sched_yield();
        OK(launch(high, &code_urgent, 1, &large));
        gate_open(&large.gate);
        watch(high);
        watch(low);
        keep_monitor_asleep(false);
        assert_int_equal(large.blocks, BLOCKS);
    }
    OK(cuStreamDestroy(low));
    OK(cuStreamDestroy(high));
}

int main(void)
{
    (void)setenv("MILLRACE_WORKERS", "2", 1);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_large_launch_gives_way),
    };
    return cmocka_run_group_tests(tests, support_begin, support_end);
}
