/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Barriers under different numbers that lanes of one warp come to at the same
 * time: in the arms of a branch, under a number that each lane calculates, in
 * loops of different lengths, in functions; producers and consumers that are
 * halves of the same warps. Each lane waits at its own barrier while the others go on.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "codegen_rig.h"

#define THREADS 64u

/* %t is the thread, %l its lane, %h 1 in the second half of a warp; [%s] in shared memory is the thread's word, [%v]
 * that of the same lane in the other warp; %r goes out. */
#define KERNEL(name, body) \
    ".visible .entry " name "(.param .u64 out)\n{\n" \
    ".reg .b32 %t, %l, %h, %s, %v, %r, %a<10>; .reg .b64 %d<4>; .reg .pred %p<6>;\n" \
    "mov.u32 %t, %tid.x; and.b32 %l, %t, 31; shr.u32 %h, %l, 4; mov.u32 %s, tile; mad.lo.u32 %s, %t, 4, %s; xor.b32 %a9, %t, 32;\n" \
    "mov.u32 %v, tile; mad.lo.u32 %v, %a9, 4, %v; mov.u32 %r, 0; setp.ne.u32 %p0, %h, 0;\n" body \
    "\nld.param.u64 %d0, [out]; mul.wide.u32 %d1, %t, 4; add.u64 %d0, %d0, %d1; st.global.u32 [%d0], %r;\nret;\n}\n"

static const char text[] =
    ".version 8.0\n.target sm_80\n.address_size 64\n.shared .align 4 .b8 tile[1024];\n.global .align 4 .u32 turns;\n"

    /* An arm for each half, with a barrier of its own for the halves of both warps. */
    KERNEL("arms",
           "st.shared.u32 [%s], %t; @%p0 bra second;\n"
           "barrier.sync 1, 32; ld.shared.u32 %r, [%v]; barrier.sync 1, 32; bra.uni join;\n"
           "second: barrier.sync 2, 32; ld.shared.u32 %r, [%v]; add.u32 %r, %r, 100; barrier.sync 2, 32;\njoin:")

    /* bar counts whole warps: each of the two barriers gets two. */
KERNEL(
    "aligned",
    "st.shared.u32 [%s], %t; @%p0 bra second;\n"
    "bar.sync 1, 64; ld.shared.u32 %r, [%v]; bra.uni join;\n"
    "second: bar.sync 2, 64; ld.shared.u32 %r, [%v]; add.u32 %r, %r, 100;\njoin: bar.sync 0; shfl.sync.bfly.b32 %a1, %r, 16, 31, -1; add.u32 %r, %r, %a1;")

/* The second half of the first warp comes to its barrier only when the first half is past its own, and the other way
 * round in the second warp. */
KERNEL("crossed",
       "shr.u32 %a1, %t, 5; xor.b32 %a2, %a1, %h; setp.ne.u32 %p1, %a2, 0; @%p1 bra other;\n"
       "barrier.sync 1, 32; st.shared.u32 [%s], %t; barrier.sync 2, 32; bra.uni join;\n"
       "other: barrier.sync 1, 32; barrier.sync 2, 32; xor.b32 %a3, %s, 128; ld.shared.u32 %r, [%a3];\njoin:")

/* The number differs from lane to lane in one instruction; a guard holds for nobody. */
KERNEL(
    "numbers",
    "setp.gt.u32 %p1, %l, 99; add.u32 %a1, %h, 4; st.shared.u32 [%s], %t; barrier.sync %a1, 32; ld.shared.u32 %r, [%v];\n"
    "@%p1 barrier.sync 9, 64; barrier.sync 0; st.shared.u32 [%s], %l; barrier.sync %a1, 32; ld.shared.u32 %a4, [%v]; mad.lo.u32 %r, %r, 64, %a4;")

/* First halves write, second halves read, five times; the readers' first word of leave comes before. */
KERNEL(
    "produce",
    "mov.u32 %a1, 0; @%p0 bra consume;\n"
    "make: barrier.sync 3, 64; add.u32 %a2, %a1, 1; mul.lo.u32 %a2, %a2, %t; st.shared.u32 [%s], %a2; barrier.arrive 4, 64;\n"
    "add.u32 %a1, %a1, 1; setp.lt.u32 %p1, %a1, 5; @%p1 bra make; bra.uni join;\n"
    "consume: barrier.arrive 3, 64; barrier.sync 4, 64; ld.shared.u32 %a3, [%v+-64]; add.u32 %r, %r, %a3;\n"
    "add.u32 %a1, %a1, 1; setp.lt.u32 %p1, %a1, 5; @%p1 bra consume;\njoin:")

/* Results under different numbers: a count, and whether all and any. */
KERNEL(
    "results",
    "setp.lt.u32 %p1, %l, 5; setp.eq.u32 %p2, %t, 50; @%p0 bra second;\n"
    "barrier.red.popc.u32 %r, 1, 32, %p1; bra.uni join;\n"
    "second: barrier.red.or.pred %p3, 2, 32, %p2; barrier.red.and.pred %p4, 2, 32, !%p1; selp.u32 %r, 100, 200, %p3; selp.u32 %a1, 1, 2, %p4; add.u32 %r, %r, %a1;\njoin:")

/* Loops of three and of ten rounds; everybody sees the other warp's round. Lanes 7 and 20 leave; the last barrier is
 * for all others. */
KERNEL(
    "loops",
    "setp.eq.u32 %p2, %l, 7; setp.eq.u32 %p3, %l, 20; st.shared.u32 [%s], 0; barrier.sync 0; mov.u32 %a1, 0; @%p0 bra second;\n"
    "first: ld.shared.u32 %a4, [%v]; setp.ne.u32 %p4, %a4, %a1; @%p4 trap; barrier.red.popc.u32 %a8, 1, 32, 1; add.u32 %a1, %a1, 1; st.shared.u32 [%s], %a1; add.u32 %r, %r, %a8;\n"
    "barrier.sync 1, 32; setp.lt.u32 %p1, %a1, 3; @%p1 bra first; @%p2 exit; bra.uni join;\n"
    "second: ld.shared.u32 %a4, [%v]; setp.ne.u32 %p4, %a4, %a1; @%p4 trap; barrier.red.popc.u32 %a8, 2, 32, 1; add.u32 %a1, %a1, 1; st.shared.u32 [%s], %a1; add.u32 %r, %r, %a8;\n"
    "barrier.sync 2, 32; setp.lt.u32 %p1, %a1, 10; @%p1 bra second; @%p3 exit;\njoin: barrier.red.popc.u32 %a1, 0, 1; mad.lo.u32 %r, %r, 100, %a1;")

/* The barrier is in a function, the number its argument. */
".func meet(.param .b32 number)\n{\n.reg .b32 %n; ld.param.u32 %n, [number]; barrier.sync %n, 32; ret;\n}\n" KERNEL(
    "function",
    "add.u32 %a1, %h, 5; st.shared.u32 [%s], %t; { .param .b32 a; st.param.b32 [a], %a1; call meet, (a); } ld.shared.u32 %r, [%v];\n"
    "@%p0 bra second; { .param .b32 a; st.param.b32 [a], 8; call meet, (a); } bra.uni join;\n"
    "second: { .param .b32 a; st.param.b32 [a], 9; call meet, (a); } add.u32 %r, %r, 100;\njoin:")

/* Thirty-two threads come to a barrier of sixty-four. */
KERNEL("stuck", "@%p0 bra second;\nbarrier.sync 1, 32; bra.uni join;\nsecond: barrier.sync 2, 64;\njoin:");

static uint32_t out[THREADS];

static void each_variant(const char *entry, uint32_t (*expected)(uint32_t thread))
{
    struct rig *rig = rig_open(text);
    for (rig_variant = 0; rig_variant < RIG_VARIANTS; rig_variant++) {
        struct {
            void *out;
        } params = {out};
        memset(out, 0, sizeof out);
        rig_run(rig, entry, 3, THREADS, &params, sizeof params);
        for (uint32_t t = 0; t < THREADS; t++)
            assert_int_equal(out[t], expected(t));
    }
    rig_close(rig);
}

static uint32_t expected_arms(uint32_t t)
{
    return (t ^ 32) + (t & 16 ? 100 : 0);
}

static void in_two_arms(void **unused)
{
    (void)unused;
    each_variant("arms", expected_arms);
}

static uint32_t expected_aligned(uint32_t t)
{
    return expected_arms(t) + expected_arms(t ^ 16);
}

static void of_whole_warps(void **unused)
{
    (void)unused;
    each_variant("aligned", expected_aligned);
}

static uint32_t expected_crossed(uint32_t t)
{
    return (t >> 5 ^ t >> 4) & 1 ? t ^ 32 : 0;
}

static void one_after_the_other(void **unused)
{
    (void)unused;
    each_variant("crossed", expected_crossed);
}

static uint32_t expected_numbers(uint32_t t)
{
    return (t ^ 32) * 64 + (t & 31);
}

static void numbers_by_lane(void **unused)
{
    (void)unused;
    each_variant("numbers", expected_numbers);
}

static uint32_t expected_produce(uint32_t t)
{
    return t & 16 ? 15 * ((t ^ 32) - 16) : 0;
}

static void producers_and_consumers(void **unused)
{
    (void)unused;
    each_variant("produce", expected_produce);
}

static uint32_t expected_results(uint32_t t)
{
    return t & 16 ? 101 : 10;
}

static void results(void **unused)
{
    (void)unused;
    each_variant("results", expected_results);
}

static uint32_t expected_loops(uint32_t t)
{
    return t % 32 == 7 || t % 32 == 20 ? 0 : (t & 16 ? 10 : 3) * 3200 + 60;
}

static void in_loops(void **unused)
{
    (void)unused;
    each_variant("loops", expected_loops);
}

static uint32_t expected_function(uint32_t t)
{
    return expected_arms(t);
}

static void in_functions(void **unused)
{
    (void)unused;
    each_variant("function", expected_function);
}

static void never_complete(void **unused)
{
    (void)unused;
    struct rig *rig = rig_open(text);
    struct {
        void *out;
    } params = {out};
    for (rig_variant = 0; rig_variant < RIG_VARIANTS; rig_variant++)
        assert_int_equal(
            rig_launch(rig, "stuck", (unsigned[3]){1, 1, 1}, (unsigned[3]){THREADS, 1, 1}, 0, &params, sizeof params),
            CUDA_ERROR_LAUNCH_FAILED);
    rig_close(rig);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(in_two_arms),
                                       cmocka_unit_test(of_whole_warps),
                                       cmocka_unit_test(one_after_the_other),
                                       cmocka_unit_test(numbers_by_lane),
                                       cmocka_unit_test(producers_and_consumers),
                                       cmocka_unit_test(results),
                                       cmocka_unit_test(in_loops),
                                       cmocka_unit_test(in_functions),
                                       cmocka_unit_test(never_complete)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
