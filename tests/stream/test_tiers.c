/* SPDX-License-Identifier: Apache-2.0 */
/* Launches whose code gets replaced while they are under way: each block runs once, in one version or the other, and
 * those that begin after the better version is there run in it. The versions are C functions; how real ones are made is
 * not looked at here. */
#include "support.h"

#include "abi/tier.h"
#include "engine/workers.h"

/* How many blocks have begun in which version. */
struct counts {
    _Atomic unsigned first, better;
    unsigned blocks;                        /* where they wait for each other: how many there are */
};

static struct {
    struct mr_tier tier;
    _Atomic unsigned asked;                 /* is_hot has been called so often */
} hot;

static struct mr_code code_first, code_better;

static void kernel_better(struct mr_block *block, uint32_t first_warp, uint32_t end_warp)
{
    (void)first_warp, (void)end_warp;
    atomic_fetch_add(&((struct counts *)kernel_data(block))->better, 1);
}

static void kernel_first(struct mr_block *block, uint32_t first_warp, uint32_t end_warp)
{
    (void)first_warp, (void)end_warp;
    atomic_fetch_add(&((struct counts *)kernel_data(block))->first, 1);
}

/* As tiers.c does later and on another thread. */
static void replace_now(struct mr_tier *tier)
{
    assert_ptr_equal(tier, &hot.tier);
    atomic_fetch_add(&hot.asked, 1);
    atomic_store(&hot.tier.better, &code_better);
}

static void note_only(struct mr_tier *tier)
{
    assert_ptr_equal(tier, &hot.tier);
    atomic_fetch_add(&hot.asked, 1);
}

/* Nobody looks at runs under way here. */
static void watch_nothing(struct mr_tier *tier)
{
    atomic_store(&tier->watched, true);
}

static void prepare(mr_kernel_function *first, unsigned flags, uint64_t enough, void (*is_hot)(struct mr_tier *tier))
{
    memset(&hot, 0, sizeof hot);
    hot.tier.enough = enough;
    hot.tier.is_hot = is_hot;
    hot.tier.watch = watch_nothing;
    code_first = (struct mr_code){.function = first, .flags = flags, .stack_bytes = 16384, .tier = &hot.tier};
    code_better = (struct mr_code){.function = kernel_better, .flags = flags, .stack_bytes = 65536};
}

/* A grid that is open goes on in the better version, whoever runs it. With one worker, too, though that runs other
 * grids in one go. */
static void test_a_grid_changes_its_code(void **state)
{
    (void)state;
    enum { BLOCKS = 100000 };
    CUstream stream = new_stream(0);
    for (int round = 0; round < 20; round++) {
        struct counts counts = {0};
        prepare(kernel_first, 0, 1, replace_now);
        OK(launch(stream, &code_first, BLOCKS, &counts));
        OK(cuStreamSynchronize(stream));
        assert_int_equal(atomic_load(&hot.asked), 1);
        assert_in_range(counts.first, 1, BLOCKS - 1);
        assert_int_equal(counts.first + counts.better, BLOCKS);
        /* The record has the first version's address; what runs is the better one. */
        unsigned before = counts.first;
        OK(launch(stream, &code_first, BLOCKS, &counts));
        OK(cuStreamSynchronize(stream));
        assert_int_equal(counts.first, before);
        assert_int_equal(counts.first + counts.better, 2 * BLOCKS);
    }
    OK(cuStreamDestroy(stream));
}

/* Time counts over launches, and is said to be enough once. A launch of one block counts, too; of short ones, one in
 * some. */
static void test_time_is_added_up(void **state)
{
    (void)state;
    CUstream stream = new_stream(0);
    struct counts counts = {0};
    prepare(kernel_first, 0, UINT64_MAX, note_only);
    OK(launch(stream, &code_first, 1, &counts));
    OK(cuStreamSynchronize(stream));
    uint64_t one = atomic_load(&hot.tier.spent);
    assert_true(one > 0);
    for (int i = 0; i < 50; i++)
        OK(launch(stream, &code_first, 6, &counts));
    OK(cuStreamSynchronize(stream));
    uint64_t both = atomic_load(&hot.tier.spent);
    assert_true(both > one);
    assert_int_equal(atomic_load(&hot.asked), 0);
    hot.tier.enough = both + 1;
    for (int i = 0; i < 50; i++)
        OK(launch(stream, &code_first, 10, &counts));
    OK(cuStreamSynchronize(stream));
    assert_int_equal(atomic_load(&hot.asked), 1);
    assert_int_equal(counts.first, 801);
    assert_int_equal(counts.better, 0);
    OK(cuStreamDestroy(stream));
}

static void kernel_long(struct mr_block *block, uint32_t first_warp, uint32_t end_warp)
{
    uint64_t begin = block->runtime->global_timer();
    kernel_first(block, first_warp, end_warp);
    while (block->runtime->global_timer() - begin < 2 * MR_TIER_BRIEF_NS)
        ;
}

/* Of long runs each is timed; what short ones take counts as much. */
static void test_long_runs_count_each(void **state)
{
    (void)state;
    enum { COUNT = 20 };
    CUstream stream = new_stream(0);
    struct counts counts = {0};
    prepare(kernel_long, 0, UINT64_MAX, note_only);
    for (int i = 0; i < COUNT; i++) {
        OK(launch(stream, &code_first, 1, &counts));
        OK(cuStreamSynchronize(stream));
        assert_true(atomic_load(&hot.tier.spent) >= (uint64_t)(i + 1) * 2 * MR_TIER_BRIEF_NS);
    }
    mr_code_ran(&code_first, 10);
    assert_true(atomic_load(&hot.tier.brief));
    uint64_t before = atomic_load(&hot.tier.spent);
    mr_code_ran(&code_first, 10);
    assert_int_equal(atomic_load(&hot.tier.spent), before + 10 * MR_TIER_STANDS_FOR);
    OK(cuStreamDestroy(stream));
}

static void kernel_fault(struct mr_block *block, uint32_t first_warp, uint32_t end_warp)
{
    (void)first_warp, (void)end_warp;
    *(volatile int *)kernel_data(block) = 1;
}

static _Atomic unsigned asked_first, asked_better;

static uint32_t line_first(const struct mr_code *code, uintptr_t address)
{
    (void)address;
    assert_ptr_equal(code, &code_first);
    atomic_fetch_add(&asked_first, 1);
    return 11;
}

static uint32_t line_better(const struct mr_code *code, uintptr_t address)
{
    (void)address;
    assert_ptr_equal(code, &code_better);
    atomic_fetch_add(&asked_better, 1);
    return 12;
}

/* The line of a fault is asked of the version that it happened in. */
static void test_a_fault_is_the_versions_that_ran(void **state)
{
    (void)state;
    for (int replaced = 0; replaced < 2; replaced++) {
        CUcontext other;
        OK(cuCtxCreate_v2(&other, 0, 0));
        CUstream stream = new_stream(0);
        prepare(kernel_fault, 0, UINT64_MAX, note_only);
        code_better.function = kernel_fault;
        code_first.line_of = line_first;
        code_better.line_of = line_better;
        if (replaced)
            atomic_store(&hot.tier.better, &code_better);
        OK(launch(stream, &code_first, 1, (void *)16));
        FAILS(cuStreamSynchronize(stream), CUDA_ERROR_ILLEGAL_ADDRESS);
        assert_int_equal(atomic_load(&asked_first), 1); /* in the first turn */
        assert_int_equal(atomic_load(&asked_better), replaced);
        OK(cuCtxDestroy(other));
        OK(cuCtxSetCurrent(the_context));
    }
}

/* Blocks that wait for each other: those that began in the first version stay in it, and end. */
static void kernel_meets(struct mr_block *block, uint32_t first_warp, uint32_t end_warp)
{
    struct counts *counts = kernel_data(block);
    kernel_first(block, first_warp, end_warp);
    while (atomic_load(&counts->first) + atomic_load(&counts->better) < counts->blocks)
        block->runtime->yield(block);
}

static void kernel_meets_better(struct mr_block *block, uint32_t first_warp, uint32_t end_warp)
{
    struct counts *counts = kernel_data(block);
    kernel_better(block, first_warp, end_warp);
    while (atomic_load(&counts->first) + atomic_load(&counts->better) < counts->blocks)
        block->runtime->yield(block);
}

static CUresult launch_together(CUstream handle, unsigned blocks, void *data)
{
    struct mr_launch *made = mr_launch_new(sizeof data);
    struct mr_command *command = mr_command_new(MR_COMMAND_LAUNCH);
    assert_non_null(made);
    assert_non_null(command);
    made->code = &code_first;
    made->context = mr_stream_context(inside(handle));
    made->cooperative = true;
    for (int i = 0; i < 3; i++)
        made->grid[i] = made->block[i] = 1;
    made->grid[0] = blocks;
    memcpy(made->params, &data, sizeof data);
    command->launch = made;
    return mr_stream_submit(inside(handle), command);
}

static void test_blocks_that_run_together(void **state)
{
    (void)state;
    enum { BLOCKS = 64 };
    CUstream stream = new_stream(0);
    for (int round = 0; round < 20; round++) {
        struct counts counts = {.blocks = BLOCKS};
        prepare(kernel_meets, MR_CODE_COOPERATIVE | MR_CODE_WAITS, 1, replace_now);
        code_better.function = kernel_meets_better;
        OK(launch_together(stream, BLOCKS, &counts));
        OK(cuStreamSynchronize(stream));
        assert_int_equal(atomic_load(&hot.asked), 1);
        assert_true(counts.first >= 1);
        assert_int_equal(counts.first + counts.better, BLOCKS);
    }
    OK(cuStreamDestroy(stream));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_grid_changes_its_code),
        cmocka_unit_test(test_time_is_added_up),
        cmocka_unit_test(test_long_runs_count_each),
        cmocka_unit_test(test_blocks_that_run_together),
        cmocka_unit_test(test_a_fault_is_the_versions_that_ran),
    };
    return cmocka_run_group_tests(tests, support_begin, support_end);
}
