/* SPDX-License-Identifier: Apache-2.0 */

/*
 * A thread's number as a signed one, divided by powers of two as compilers write it: the sign makes what is added
 * before the shift. What code generation knows of the bits of numbers (analysis/uniformity.c) makes of it a number that
 * is the same for a warp, or one that steps; each result is compared with C's, also of numbers that are negative, grow
 * in a loop, or wrap.
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

enum { THREADS = 1024, RESULTS = 10 };

static int32_t out[RESULTS][THREADS];

/* Quotient and rest of `from` by 2^by go to the results `to` and `to` + 1. */
#define DIVIDED(from, by, round, to) \
    "shr.s32 %s, " from ", 31; shr.u32 %u, %s, " round "; add.s32 %v, " from ", %u; shr.s32 %r" #to ", %v, " by \
    "; shl.b32 %w, %r" #to ", " by "; sub.s32 %x, " from ", %w; st.global.b32 [%o+" to_bytes_##to \
        "], %r" #to "; st.global.b32 [%o+" next_bytes_##to "], %x;\n"
#define to_bytes_0 "0"
#define next_bytes_0 "4096"
#define to_bytes_2 "8192"
#define next_bytes_2 "12288"
#define to_bytes_4 "16384"
#define next_bytes_4 "20480"
#define to_bytes_6 "24576"
#define next_bytes_6 "28672"
#define to_bytes_8 "32768"
#define next_bytes_8 "36864"

/* By 32 and 8; of the number less 500, of a number that grew in a loop of `rounds`, and of one that wraps. */
static const char text[] =
    ".version 8.0\n.target sm_80\n.address_size 64\n"
    ".visible .entry divide(.param .u64 out, .param .u32 rounds)\n{\n"
    ".reg .b32 %t, %s, %u, %v, %w, %x, %y, %k, %n, %r<10>; .reg .b64 %o, %d; .reg .pred %p;\n"
    "mov.u32 %t, %tid.x; mul.wide.u32 %d, %t, 4; ld.param.u64 %o, [out]; add.u64 %o, %o, %d;\n" //
    DIVIDED("%t", "5", "27", 0)                                                                 //
    DIVIDED("%t", "3", "29", 2)                                                                 //
    "sub.s32 %y, %t, 512;\n" DIVIDED("%y", "5", "27", 4)                                        //
    "mov.u32 %k, 0; mov.u32 %y, 0; ld.param.u32 %n, [rounds];\n"
    "again: add.s32 %y, %y, 0x02000000; add.s32 %k, %k, 1; setp.lt.u32 %p, %k, %n; @%p bra again;\n"
    "add.s32 %y, %y, %t;\n" DIVIDED("%y", "5", "27", 6) //
    "mul.lo.s32 %y, %n, 32; mad.lo.s32 %y, %y, 0x00800000, %t;\n" DIVIDED("%y", "6", "26", 8) "ret;\n}\n";

static void check(unsigned result, unsigned t, int32_t from, int32_t by)
{
    if (out[result][t] != from / by || out[result + 1][t] != from % by)
        fail_msg("variant %u, result %u, thread %u: %d by %d gave %d and %d", rig_variant, result, t, from, by,
                 out[result][t], out[result + 1][t]);
}

static void test_divide(void **state)
{
    (void)state;
    static const uint32_t sizes[] = {1, 32, 96, 100, 1024}, rounds[] = {1, 3, 64, 127};
    struct rig *rig = rig_open(text);
    for (unsigned i = 0; i < 5 * 4 * RIG_VARIANTS; i++) {
        uint32_t size = sizes[i % 5], n = rounds[i / 5 % 4];
        const struct {
            const void *out;
            uint32_t rounds;
        } params = {out, n};
        rig_variant = i / 20;
        memset(out, 0, sizeof out);
        rig_run(rig, "divide", 1, size, &params, sizeof params);
        for (unsigned t = 0; t < size; t++) {
            check(0, t, (int32_t)t, 32);
            check(2, t, (int32_t)t, 8);
            check(4, t, (int32_t)t - 512, 32);
            check(6, t, (int32_t)(n * 0x02000000u + t), 32);
            check(8, t, (int32_t)(n * 32u * 0x00800000u + t), 64);
        }
    }
    rig_close(rig);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_divide)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
