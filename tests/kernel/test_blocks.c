/* SPDX-License-Identifier: Apache-2.0 */
/* Running blocks: indices, barriers in loops, early exits, reductions, named barriers, yields, deadlocks, shared
 * memory. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "kernel_double.h"

#define COOPERATIVE MR_CODE_COOPERATIVE

struct args {
    uint32_t *out;
    uint32_t n;
};

static const struct args *args_of(const struct mr_block *block)
{
    return (const struct args *)block->params;
}

static uint32_t lanes_of(const struct mr_block *block, uint32_t warp)
{
    uint32_t left = block->threads - 32 * warp;
    return left >= 32 ? UINT32_MAX : (1u << left) - 1;
}

static void run(mr_kernel_function *function, unsigned flags, unsigned blocks, unsigned threads, uint32_t *out,
                uint32_t n, CUresult expected)
{
    struct mr_context *context = double_context();
    struct args args = {out, n};
    struct mr_launch *launch = double_launch(context, function, flags, blocks, threads, &args, sizeof args);
    assert_int_equal(double_run(launch), expected);
    assert_int_equal(mr_context_error(context), expected);
    double_launch_free(launch);
    mr_free(context);
}

static void write_indices(struct mr_block *block, uint32_t first, uint32_t end)
{
    for (uint32_t warp = first; warp < end; warp++)
        for (uint32_t lane = 0; lane < 32; lane++)
            if (lanes_of(block, warp) >> lane & 1) {
                uint32_t linear =
                    (block->ctaid[2] * block->nctaid[1] + block->ctaid[1]) * block->nctaid[0] + block->ctaid[0];
                args_of(block)->out[linear * block->threads + warp * 32 + lane] += linear + 1;
            }
}

static void every_thread_of_every_block_runs_once(void **unused)
{
    (void)unused;
    for (int cooperative = 0; cooperative < 2; cooperative++) {
        uint32_t out[3 * 2 * 4 * 50] = {0};
        struct mr_context *context = double_context();
        struct args args = {out, 0};
        struct mr_launch *launch =
            double_launch(context, write_indices, cooperative ? COOPERATIVE : 0, 3, 5, &args, sizeof args);
        launch->grid[1] = 2;
        launch->grid[2] = 4;
        launch->block[1] = 10;
        assert_int_equal(mr_launch_run_blocks(launch, 0, 7, 0), CUDA_SUCCESS);
        assert_int_equal(mr_launch_run_blocks(launch, 7, 24, 3), CUDA_SUCCESS);
        for (uint32_t i = 0; i < 24 * 50; i++)
            assert_int_equal(out[i], i / 50 + 1);
        double_launch_free(launch);
        mr_free(context);
    }
}

/* Each round, a warp writes its cell and after the barrier checks that all others have written theirs. */
static void barrier_loop(struct mr_block *block, uint32_t first, uint32_t end)
{
    (void)end;
    uint32_t *cells = (uint32_t *)block->shared, mask = lanes_of(block, first);
    for (uint32_t round = 1; round <= args_of(block)->n; round++) {
        cells[first] = round;
        block->runtime->barrier_sync(block, 0, 0, mask, 0, 0);
        for (uint32_t w = 0; w < block->warps; w++)
            if (cells[w] != round)
                args_of(block)->out[block->ctaid[0]]++;
        block->runtime->barrier_sync(block, 1, 0, mask, 0, 0);
    }
    args_of(block)->out[block->ctaid[0]] += 1000;
}

static void barriers_in_loops_keep_warps_in_step(void **unused)
{
    (void)unused;
    for (unsigned threads = 1; threads <= 1024; threads += 93) {
        uint32_t out[3] = {0};
        run(barrier_loop, COOPERATIVE, 3, threads, out, 20, CUDA_SUCCESS);
        for (int i = 0; i < 3; i++)
            assert_int_equal(out[i], 1000 * ((threads + 31) / 32));
    }
}

/* Warp w leaves before round w; the rest must not wait for it. Odd warps leave lane by lane. */
static void early_exit(struct mr_block *block, uint32_t first, uint32_t end)
{
    (void)end;
    uint32_t mask = lanes_of(block, first);
    for (uint32_t round = 0; round < block->warps; round++) {
        if (round == first)
            return;
        if (first % 2 && round + 1 == first) {
            block->runtime->lanes_exit(block, mask & 0xffff);
            mask &= 0xffff0000;
            if (!mask)
                return;
        }
        uint32_t count = block->runtime->barrier_sync(block, 0, 0, mask, 1, mask);
        args_of(block)->out[round] = count;
    }
}

static void barriers_expect_only_threads_that_are_left(void **unused)
{
    (void)unused;
    uint32_t out[8] = {0};
    run(early_exit, COOPERATIVE, 1, 256, out, 0, CUDA_SUCCESS);
    for (uint32_t round = 0; round < 7; round++) {
        /* Warps after `round` are there; the one that leaves next with half of its lanes if its number is odd. */
        uint32_t expected = (7 - round) * 32 - ((round + 1) % 2 ? 16 : 0);
        assert_int_equal(out[round], expected);
    }
}

static void reductions(struct mr_block *block, uint32_t first, uint32_t end)
{
    (void)end;
    uint32_t mask = lanes_of(block, first), bad = 0;
    const struct mr_runtime *rt = block->runtime;
    for (uint32_t i = 0; i < 50; i++) {
        bad += rt->barrier_sync(block, i % 16, 0, mask, 1, 0x5) != 2 * block->warps;
        bad += rt->barrier_sync(block, i % 16, 0, mask, 2, UINT32_MAX) != 1;
        bad += rt->barrier_sync(block, i % 16, 0, mask, 2, first == 1 ? 0xfffffffe : UINT32_MAX) != 0;
        bad += rt->barrier_sync(block, i % 16, 0, mask, 3, first == 2 ? 4 : 0) != 1;
        bad += rt->barrier_sync(block, i % 16, 0, mask, 3, 0) != 0;
    }
    args_of(block)->out[first] = bad;
}

static void barrier_reductions(void **unused)
{
    (void)unused;
    uint32_t out[4];
    memset(out, 0xff, sizeof out);
    run(reductions, COOPERATIVE, 2, 100, out, 0, CUDA_SUCCESS);
    for (int i = 0; i < 4; i++)
        assert_int_equal(out[i], 0);
}

/* Warps 0 and 1 produce for 2 and 3 through barriers 3 (full) and 4 (empty), each for 128 threads; the last warp has 20
 * lanes. */
static void produce_consume(struct mr_block *block, uint32_t first, uint32_t end)
{
    (void)end;
    uint32_t mask = lanes_of(block, first), *cell = (uint32_t *)block->shared;
    for (uint32_t i = 0; i < args_of(block)->n; i++) {
        if (first < 2) {
            block->runtime->barrier_sync(block, 4, 128, mask, 0, 0);
            cell[first] = i * 10 + first;
            block->runtime->barrier_arrive(block, 3, 128, mask, 0);
        } else {
            block->runtime->barrier_arrive(block, 4, 128, mask, 0);
            block->runtime->barrier_sync(block, 3, 128, mask, 0, 0);
            args_of(block)->out[first - 2] += cell[first - 2] == i * 10 + first - 2;
        }
    }
}

static void named_barriers_pair_producers_with_consumers(void **unused)
{
    (void)unused;
    uint32_t out[2] = {0};
    run(produce_consume, COOPERATIVE, 1, 116, out, 100, CUDA_SUCCESS);
    assert_int_equal(out[0], 100);
    assert_int_equal(out[1], 100);
}

/* Two groups of two warps synchronise among themselves, a different number of times. */
static void groups(struct mr_block *block, uint32_t first, uint32_t end)
{
    (void)end;
    uint32_t *cells = (uint32_t *)block->shared, group = first / 2;
    for (uint32_t i = 1; i <= 10 * (group + 1); i++) {
        cells[first] = i;
        block->runtime->barrier_sync(block, 1 + group, 64, UINT32_MAX, 0, 0);
        args_of(block)->out[first] += cells[first ^ 1] == i;
        block->runtime->barrier_sync(block, 1 + group, 64, UINT32_MAX, 0, 0);
    }
}

static void named_barriers_are_independent(void **unused)
{
    (void)unused;
    uint32_t out[4] = {0};
    run(groups, COOPERATIVE, 1, 128, out, 0, CUDA_SUCCESS);
    for (uint32_t i = 0; i < 4; i++)
        assert_int_equal(out[i], 10 * (i / 2 + 1));
}

/* Half of the lanes of warp 1 are on their way out: bar.sync doesn't wait for them, barrier.sync can't do without them.
 */
static void partial(struct mr_block *block, uint32_t first, uint32_t end)
{
    (void)end;
    uint32_t op = args_of(block)->n, mask = first == 1 ? 0xffff : UINT32_MAX;
    for (int i = 0; i < 5; i++)
        args_of(block)->out[first] += block->runtime->barrier_sync(block, 0, 0, mask, op | 1, UINT32_MAX);
    block->runtime->lanes_exit(block, mask);
}

static void lanes_that_take_no_part(void **unused)
{
    (void)unused;
    uint32_t out[4] = {0};
    run(partial, COOPERATIVE, 1, 128, out, 0, CUDA_SUCCESS);
    for (int i = 0; i < 4; i++)
        assert_int_equal(out[i], 5 * 112);
    run(partial, COOPERATIVE, 1, 128, out, MR_BARRIER_PER_THREAD, CUDA_ERROR_LAUNCH_FAILED);
}

static void half_waits(struct mr_block *block, uint32_t first, uint32_t end)
{
    (void)end;
    if (first == 0)
        block->runtime->barrier_sync(block, 0, 64, UINT32_MAX, 0, 0);
}

static void wrong_barrier(struct mr_block *block, uint32_t first, uint32_t end)
{
    (void)end;
    block->runtime->barrier_sync(block, 16 + first, 0, UINT32_MAX, 0, 0);
}

static void impossible_barriers_end_the_launch(void **unused)
{
    (void)unused;
    uint32_t out[1];
    run(half_waits, COOPERATIVE, 4, 64, out, 0, CUDA_ERROR_LAUNCH_FAILED);
    run(half_waits, COOPERATIVE, 4, 32, out, 0, CUDA_ERROR_LAUNCH_FAILED);
    run(wrong_barrier, COOPERATIVE, 4, 64, out, 0, CUDA_ERROR_LAUNCH_FAILED);
    uint32_t after[2] = {0};
    run(barrier_loop, COOPERATIVE, 2, 64, after, 3, CUDA_SUCCESS);
    assert_int_equal(after[1], 2000);
}

/* Warp 0 spins on what the last warp writes. */
static void spin(struct mr_block *block, uint32_t first, uint32_t end)
{
    (void)end;
    volatile uint32_t *flag = (uint32_t *)block->shared;
    if (first == 0)
        *flag = 0;
    block->runtime->barrier_sync(block, 0, 0, UINT32_MAX, 0, 0);
    if (first + 1 == block->warps) {
        block->runtime->nanosleep(block, 1000);
        *flag = 7;
    }
    while (*flag != 7)
        block->runtime->yield(block);
    args_of(block)->out[first]++;
}

static unsigned waiting_notes;

static void note_waiting(bool moved)
{
    (void)moved;
    waiting_notes++;
}

static void yields_let_other_warps_go_on(void **unused)
{
    (void)unused;
    uint32_t out[32] = {0};
    mr_engine_note_waiting = note_waiting;
    run(spin, COOPERATIVE | MR_CODE_WAITS, 5, 1024, out, 0, CUDA_SUCCESS);
    mr_engine_note_waiting = NULL;
    for (int i = 0; i < 32; i++)
        assert_int_equal(out[i], 5);
}

static void spin_forever(struct mr_block *block, uint32_t first, uint32_t end)
{
    (void)first;
    (void)end;
    if (++*args_of(block)->out == 100)
        mr_context_fail((struct mr_context *)(uintptr_t)*(uint64_t *)(args_of(block)->out + 2), CUDA_ERROR_ASSERT);
    for (;;) {
        ++*args_of(block)->out;
        block->runtime->yield(block);
        if (*args_of(block)->out > 100)
            mr_context_fail((struct mr_context *)(uintptr_t)*(uint64_t *)(args_of(block)->out + 2), CUDA_ERROR_ASSERT);
    }
}

static void a_waiting_kernel_ends_when_its_context_fails(void **unused)
{
    (void)unused;
    _Alignas(8) uint32_t out[4] = {0};
    struct mr_context *context = double_context();
    uint64_t address = (uint64_t)(uintptr_t)context;
    memcpy(out + 2, &address, sizeof address);
    struct args args = {out, 0};
    waiting_notes = 0;
    mr_engine_note_waiting = note_waiting;
    for (unsigned threads = 32; threads <= 96; threads += 64) {
        struct mr_launch *launch =
            double_launch(context, spin_forever, COOPERATIVE | MR_CODE_WAITS, 1, threads, &args, sizeof args);
        assert_int_equal(double_run(launch), CUDA_ERROR_ASSERT);
        double_launch_free(launch);
    }
    mr_engine_note_waiting = NULL;
    assert_true(waiting_notes > 0);
    mr_free(context);
}

static void fill_shared(struct mr_block *block, uint32_t first, uint32_t end)
{
    if (first == 0)
        memset(block->shared, 0x5a, block->shared_size);
    if ((uintptr_t)block->shared % 256 == 0)
        args_of(block)->out[0] += end - first;
}

static void shared_memory_of_any_size(void **unused)
{
    (void)unused;
    static const uint32_t sizes[] = {0, 1, 255, 256, 49152, 232448, 1u << 20, 16};
    struct mr_context *context = double_context();
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        uint32_t out = 0;
        struct args args = {&out, 0};
        struct mr_launch *launch = double_launch(context, fill_shared, 0, 2, 64, &args, sizeof args);
        launch->shared_size = sizes[i];
        assert_int_equal(double_run(launch), CUDA_SUCCESS);
        assert_int_equal(out, 4);
        double_launch_free(launch);
    }
    mr_free(context);
}

static void no_memory_is_a_status(void **unused)
{
    (void)unused;
    mr_alloc_fail_after(1);
    assert_null(mr_launch_new(1u << 20));
    mr_alloc_fail_after(0);
    assert_null(mr_launch_new(SIZE_MAX));
    struct mr_launch *launches[200];
    for (int i = 0; i < 200; i++) {
        launches[i] = mr_launch_new((size_t)i * 37);
        assert_non_null(launches[i]);
        for (size_t b = 0; b < launches[i]->param_bytes; b++)
            assert_int_equal(launches[i]->params[b], 0);
        memset(launches[i]->params, 0xee, launches[i]->param_bytes);
        assert_int_equal((uintptr_t)launches[i]->params % 16, 0);
        assert_true(i == 0 || launches[i]->id != launches[i - 1]->id);
    }
    for (int i = 0; i < 200; i++)
        mr_launch_free(launches[i]);
    mr_launch_free(NULL);
}

static void too_many_threads_are_refused(void **unused)
{
    (void)unused;
    struct mr_context *context = double_context();
    struct mr_launch *launch = double_launch(context, fill_shared, 0, 1, 1025, NULL, 0);
    assert_int_equal(double_run(launch), CUDA_ERROR_INVALID_VALUE);
    launch->block[0] = 0;
    assert_int_equal(double_run(launch), CUDA_ERROR_INVALID_VALUE);
    double_launch_free(launch);
    mr_free(context);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_thread_of_every_block_runs_once),
        cmocka_unit_test(barriers_in_loops_keep_warps_in_step),
        cmocka_unit_test(barriers_expect_only_threads_that_are_left),
        cmocka_unit_test(barrier_reductions),
        cmocka_unit_test(named_barriers_pair_producers_with_consumers),
        cmocka_unit_test(named_barriers_are_independent),
        cmocka_unit_test(lanes_that_take_no_part),
        cmocka_unit_test(impossible_barriers_end_the_launch),
        cmocka_unit_test(yields_let_other_warps_go_on),
        cmocka_unit_test(a_waiting_kernel_ends_when_its_context_fails),
        cmocka_unit_test(shared_memory_of_any_size),
        cmocka_unit_test(no_memory_is_a_status),
        cmocka_unit_test(too_many_threads_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
