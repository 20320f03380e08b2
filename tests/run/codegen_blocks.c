/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Kernels that run several blocks in one call: every thread of every block runs once and knows its numbers, in blocks
 * of one row and of several, in grids that no call divides evenly, in device functions too; a fault is found in the
 * block where it was.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "codegen_rig.h"
#include "compile/codegen.h"
#include "kernel/executor.h"

#define HEAD ".version 8.8\n.target sm_80\n.address_size 64\n"
#define THREADS_MAX (1u << 18)

static uint64_t out[THREADS_MAX + 1] __attribute__((aligned(64)));

/* %l: the thread's number in the launch, blocks one after the other; %r: ctaid and tid in one number. Adds 1 << 56, so
 * that a second visit shows. */
#define BODY(read_ctaid) \
    ".reg .b32 %r<24>; .reg .b64 %o, %w, %v, %rd<4>; .reg .pred %p;\n" \
    "mov.u32 %r1, %tid.x; mov.u32 %r2, %tid.y; mov.u32 %r3, %tid.z; mov.u32 %r4, %ntid.x; mov.u32 %r5, %ntid.y; mov.u32 %r6, %ntid.z;\n" read_ctaid \
    "mov.u32 %r8, %ctaid.y; mov.u32 %r9, %ctaid.z; mov.u32 %r10, %nctaid.x; mov.u32 %r11, %nctaid.y;\n" \
    "mad.lo.u32 %r12, %r3, %r5, %r2; mad.lo.u32 %r12, %r12, %r4, %r1;\n" \
    "mad.lo.u32 %r13, %r9, %r11, %r8; mad.lo.u32 %r13, %r13, %r10, %r7;\n" \
    "mul.lo.u32 %r14, %r4, %r5; mul.lo.u32 %r14, %r14, %r6; mad.lo.u32 %r15, %r13, %r14, %r12;\n" \
    "shl.b32 %r16, %r7, 4; add.u32 %r16, %r16, %r8; shl.b32 %r16, %r16, 4; add.u32 %r16, %r16, %r9; shl.b32 %r16, %r16, 10; add.u32 %r16, %r16, %r12;\n"

#define FINISH \
    "ld.param.u64 %o, [out]; mul.wide.u32 %rd1, %r15, 8; add.u64 %o, %o, %rd1; ld.global.u64 %w, [%o]; cvt.u64.u32 %v, %r16;\n" \
    "add.u64 %v, %v, 0x100000000000000; add.u64 %v, %v, %w; st.global.u64 [%o], %v;\n"

static const char *const text =
    HEAD ".func (.param .b32 x) block() { .reg .b32 %a; mov.u32 %a, %ctaid.x; st.param.b32 [x], %a; ret; }\n"
         ".visible .entry plain(.param .u64 out) {\n" BODY("mov.u32 %r7, %ctaid.x;\n") FINISH
    "ret; }\n"
    ".visible .entry calls(.param .u64 out) {\n" BODY("{ .param .b32 x; call (x), block; ld.param.b32 %r7, [x]; }\n")
        FINISH
    "ret; }\n"
    /* Threads leave early, by their number; others go round a few times. */
    ".visible .entry leaves(.param .u64 out) {\n" BODY(
        "mov.u32 %r7, %ctaid.x;\n") "and.b32 %r17, %r12, 3; setp.eq.u32 %p, %r17, 3; @%p ret; mov.u32 %r18, 0;\n"
                                    "again: add.u32 %r16, %r16, 1; add.u32 %r18, %r18, 1; setp.lt.u32 %p, %r18, %r17; @%p bra again;\n" FINISH
                                    "ret; }\n"
    /* Traps in block (5, 1, 0). */
                                    ".visible .entry traps(.param .u64 out) {\n" BODY(
                                        "mov.u32 %r7, %ctaid.x;\n") "setp.ne.u32 %p, %r7, 5; @%p bra good; setp.ne.u32 %p, %r8, 1; @%p bra good; trap; good:\n" FINISH
                                                                    "ret; }\n";

static const unsigned launches[][2][3] = {
    {{37, 5, 2}, {32, 8, 1}}, {{129, 3, 1}, {64, 1, 1}}, {{600, 1, 1}, {96, 1, 1}}, {{17, 3, 2}, {16, 16, 1}},
    {{9, 2, 1}, {8, 4, 3}},   {{70, 2, 1}, {33, 1, 1}},  {{3, 2, 1}, {256, 2, 1}},  {{2, 2, 2}, {1024, 1, 1}},
    {{50, 1, 3}, {7, 5, 2}},  {{1, 70, 1}, {32, 4, 1}}};

static void everybody_once(struct rig *rig, const char *entry, bool leaves)
{
    for (rig_variant = 0; rig_variant < RIG_VARIANTS; rig_variant++)
        for (unsigned k = 0; k < sizeof launches / sizeof *launches; k++) {
            const unsigned *grid = launches[k][0], *block = launches[k][1];
            unsigned threads = block[0] * block[1] * block[2], total = grid[0] * grid[1] * grid[2] * threads;
            uint64_t *to = out;
            assert_in_range(total, 1, THREADS_MAX);
            memset(out, 0, sizeof out);
            assert_int_equal(rig_launch(rig, entry, grid, block, 0, &to, sizeof to), CUDA_SUCCESS);
            for (unsigned i = 0; i < total; i++) {
                unsigned b = i / threads, t = i % threads, x = b % grid[0], y = b / grid[0] % grid[1],
                         z = b / grid[0] / grid[1];
                uint64_t expected = UINT64_C(0x100000000000000) + (((x << 4) + y) << 14) + (z << 10) + t;
                if (leaves)
                    expected = t % 4 == 3 ? 0 : expected + (t % 4 ? t % 4 : 1);
                if (out[i] != expected)
                    fail_msg("%s, variant %u, launch %u, thread %u of block (%u,%u,%u): %llx, expected %llx", entry,
                             rig_variant, k, t, x, y, z, (unsigned long long)out[i], (unsigned long long)expected);
            }
            assert_true(out[total] == 0);
        }
}

static void every_thread_runs_once(void **unused)
{
    (void)unused;
    struct rig *rig = rig_open(text);
    assert_true(rig_flags(rig, "plain") & MR_CODE_BLOCKS);
    everybody_once(rig, "plain", false);
    everybody_once(rig, "calls", false);
    everybody_once(rig, "leaves", true);
    rig_close(rig);
}

/* Shared memory is one window for the blocks of a call, and barriers belong to one block. */
static void what_ties_a_block_together(void **unused)
{
    (void)unused;
    struct rig *rig = rig_open(
        HEAD ".shared .b32 place;\n"
             ".visible .entry shares() { .reg .b32 %r; mov.u32 %r, %ctaid.x; st.shared.b32 [place], %r; ret; }\n"
             ".visible .entry waits() { bar.sync 0; ret; }\n"
             ".visible .entry dynamic() { .reg .b32 %r; mov.u32 %r, 0; ld.shared.b32 %r, [%r]; ret; }\n");
    assert_false(rig_flags(rig, "shares") & MR_CODE_BLOCKS);
    assert_false(rig_flags(rig, "waits") & MR_CODE_BLOCKS);
    assert_false(rig_flags(rig, "dynamic") & MR_CODE_BLOCKS);
    rig_close(rig);
}

static void faults_are_found_in_their_block(void **unused)
{
    (void)unused;
    struct rig *rig = rig_open(text);
    uint64_t *to = out;
    for (rig_variant = 0; rig_variant < RIG_VARIANTS; rig_variant++)
        for (unsigned rows = 1; rows <= 4; rows += 3) {
            const unsigned grid[3] = {40, 3, 1}, block[3] = {32, rows, 1};
            memset(out, 0, sizeof out);
            assert_int_equal(rig_launch(rig, "traps", grid, block, 0, &to, sizeof to), CUDA_ERROR_LAUNCH_FAILED);
            const uint32_t *at = mr_executor_self->block.ctaid;
            assert_int_equal(at[0], 5);
            assert_int_equal(at[1], 1);
            assert_int_equal(at[2], 0);
        }
    rig_close(rig);
}

/* Loops that stride over the grid: out[i] += 3 * i + 1 for i < n, then the thread's number of rounds goes to
 * rounds[thread]. */
static const char *const striding = HEAD
    ".visible .entry strides(.param .u64 out, .param .u64 rounds, .param .u32 n) {\n"
    ".reg .b32 %r<12>; .reg .b64 %rd<9>, %v<3>; .reg .pred %p;\n"
    "mov.u32 %r1, %ctaid.x; mov.u32 %r2, %ntid.x; mov.u32 %r3, %tid.x; mad.lo.s32 %r4, %r1, %r2, %r3; mov.u32 %r10, %r4; mov.u32 %r9, 0;\n"
    "ld.param.u64 %rd1, [out]; ld.param.u64 %rd2, [rounds]; ld.param.u32 %r5, [n]; mov.u32 %r6, %nctaid.x; mul.lo.s32 %r7, %r6, %r2;\n"
    "setp.ge.s32 %p, %r4, %r5; @%p bra done;\n"
    "again: mul.wide.s32 %rd3, %r4, 8; add.s64 %rd4, %rd1, %rd3; ld.global.u64 %v1, [%rd4]; mul.lo.u32 %r8, %r4, 3; cvt.u64.u32 %v2, %r8;\n"
    "add.u64 %v1, %v1, %v2; add.u64 %v1, %v1, 1; st.global.u64 [%rd4], %v1; add.u32 %r9, %r9, 1; add.s32 %r4, %r4, %r7;\n"
    "setp.lt.s32 %p, %r4, %r5; @%p bra again;\n"
    "done: mul.wide.s32 %rd5, %r10, 8; add.s64 %rd6, %rd2, %rd5; cvt.u64.u32 %rd7, %r9; st.global.u64 [%rd6], %rd7; ret; }\n";

static uint64_t rounds[THREADS_MAX + 1] __attribute__((aligned(64)));

static void striding_loops_reach_everything_once(void **unused)
{
    (void)unused;
    struct rig *rig = rig_open(striding);
    const unsigned shapes[][2] = {{1, 64}, {3, 96}, {40, 64}, {37, 33}, {130, 256}, {20, 1024}, {600, 32}, {513, 20}};
    const unsigned sizes[] = {1, 31, 1000, 40000, 131072, THREADS_MAX};
    for (rig_variant = 0; rig_variant < RIG_VARIANTS; rig_variant++)
        for (unsigned k = 0; k < sizeof shapes / sizeof *shapes; k++)
            for (unsigned s = 0; s < sizeof sizes / sizeof *sizes; s++) {
                unsigned threads = shapes[k][0] * shapes[k][1], n = sizes[s];
                struct {
                    uint64_t *out, *rounds;
                    uint32_t n;
                } params = {out, rounds, n};
                memset(out, 0, sizeof out);
                memset(rounds, 0xee, sizeof rounds);
                rig_run(rig, "strides", shapes[k][0], shapes[k][1], &params, 20);
                for (unsigned i = 0; i < THREADS_MAX; i++) {
                    if (out[i] != (i < n ? UINT64_C(3) * i + 1 : 0))
                        fail_msg("variant %u, %u blocks of %u, n %u: out[%u] is %llu", rig_variant, shapes[k][0],
                                 shapes[k][1], n, i, (unsigned long long)out[i]);
                    uint64_t expected = i >= threads ? UINT64_C(0xeeeeeeeeeeeeeeee)
                                        : i < n      ? (n - i + threads - 1) / threads
                                                     : 0;
                    if (rounds[i] != expected)
                        fail_msg("variant %u, %u blocks of %u, n %u: thread %u went %llu rounds", rig_variant,
                                 shapes[k][0], shapes[k][1], n, i, (unsigned long long)rounds[i]);
                }
            }
    /* And they do take turns, at the head of the loop. */
    char *ir = rig_text(rig, "strides", MR_SHAPE_LINEAR | MR_SHAPE_FULL, "x86-64-v4", false);
    assert_non_null(strstr(ir, "behind"));
    free(ir);
    rig_close(rig);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_thread_runs_once), cmocka_unit_test(striding_loops_reach_everything_once),
        cmocka_unit_test(what_ties_a_block_together), cmocka_unit_test(faults_are_found_in_their_block)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
