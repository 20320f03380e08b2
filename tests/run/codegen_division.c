/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Whole numbers divided by one that is the same for all lanes, for which code generation multiplies with a factor
 * (emit/division.c): quotients and remainders are those of C, next to each multiple of the divisor and at the ends. So
 * are those of indexes, whose quotients are the first lane's or the next one.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "codegen_numbers.h"
#include "codegen_rig.h"
#include "compile/codegen.h"

enum { COUNT = 512, RESULTS = 8, DRAWN = 60 };

static uint32_t given[COUNT], out[RESULTS][COUNT];

static uint64_t seed = 5;

static uint32_t draw(void)
{
    return draw_from(&seed);
}

static const char text[] =
    ".version 8.0\n.target sm_80\n.address_size 64\n"
    ".visible .entry divide(.param .u64 given, .param .u64 out, .param .u32 n)\n{\n"
    ".reg .b32 %a, %n, %t, %r<8>; .reg .b16 %h, %m, %q<4>; .reg .b64 %g, %o, %d;\n"
    "mov.u32 %t, %tid.x; mul.wide.u32 %d, %t, 4; ld.param.u64 %g, [given]; ld.param.u64 %o, [out]; ld.param.u32 %n, [n];\n"
    "add.u64 %g, %g, %d; add.u64 %o, %o, %d; ld.global.u32 %a, [%g]; cvt.u16.u32 %h, %a; cvt.u16.u32 %m, %n;\n"
    "div.u32 %r0, %a, %n; rem.u32 %r1, %a, %n; div.s32 %r2, %a, %n; rem.s32 %r3, %a, %n;\n"
    "div.u16 %q0, %h, %m; rem.u16 %q1, %h, %m; div.s16 %q2, %h, %m; rem.s16 %q3, %h, %m;\n"
    "cvt.u32.u16 %r4, %q0; cvt.u32.u16 %r5, %q1; cvt.u32.u16 %r6, %q2; cvt.u32.u16 %r7, %q3;\n"
    "st.global.u32 [%o], %r0; st.global.u32 [%o+2048], %r1; st.global.u32 [%o+4096], %r2; st.global.u32 [%o+6144], %r3;\n"
    "st.global.u32 [%o+8192], %r4; st.global.u32 [%o+10240], %r5; st.global.u32 [%o+12288], %r6;\n"
    "st.global.u32 [%o+14336], %r7;\nret;\n}\n";

/* Quotient and remainder as hardware has them: all ones by zero; the least number by -1 wraps. */
static void divided(int64_t a, int64_t b, uint32_t ones, uint32_t *quotient, uint32_t *rest)
{
    *quotient = b ? (uint32_t)(uint64_t)(a / b) & ones : ones;
    *rest = b ? (uint32_t)(uint64_t)(a % b) & ones : ones;
}

static void draw_given(uint32_t n)
{
    static const uint32_t ends[] = {0,       1,          2,          0x7fff,     0x8000,    0xffff,
                                    0x10000, 0x7fffffff, 0x80000000, 0x80000001, UINT32_MAX};
    for (unsigned i = 0; i < COUNT; i++) {
        uint32_t k = n ? draw() % (UINT32_MAX / n) : draw();
        given[i] = i < sizeof ends / sizeof *ends ? ends[i]
                   : i % 4 == 0                   ? draw()
                   : i % 4 == 1                   ? UINT32_MAX / (n ? n : 1) * n + i % 3 - 1
                                                  : k * n + i % 3 - 1;
    }
}

static void check(struct rig *rig, uint32_t n)
{
    const struct {
        const void *given, *out;
        uint32_t n;
    } params = {given, out, n};
    uint32_t wanted[RESULTS];
    draw_given(n);
    for (rig_variant = 0; rig_variant < RIG_VARIANTS; rig_variant++) {
        memset(out, 0x55, sizeof out);
        rig_run(rig, "divide", 1, COUNT, &params, 20);
        for (unsigned i = 0; i < COUNT; i++) {
            uint32_t a = given[i];
            divided(a, n, UINT32_MAX, &wanted[0], &wanted[1]);
            divided((int32_t)a, (int32_t)n, UINT32_MAX, &wanted[2], &wanted[3]);
            divided((uint16_t)a, (uint16_t)n, UINT16_MAX, &wanted[4], &wanted[5]);
            divided((int16_t)a, (int16_t)n, UINT16_MAX, &wanted[6], &wanted[7]);
            for (unsigned r = 0; r < RESULTS; r++)
                if (out[r][i] != wanted[r])
                    fail_msg("variant %u, result %u of %u and %u: %u, not %u", rig_variant, r, a, n, out[r][i],
                             wanted[r]);
        }
    }
}

static void quotients_are_those_of_c(void **state)
{
    (void)state;
    static const uint32_t divisors[] = {
        0,          1,          2,          3,          5,          6,          7,          9,
        10,         11,         13,         16,         25,         31,         32,         33,
        60,         100,        127,        128,        129,        224,        255,        256,
        257,        641,        1000,       4095,       4096,       32767,      32768,      32769,
        65535,      65536,      65537,      1000000,    6700417,    0x3fffffff, 0x55555555, 0x7ffffffe,
        0x7fffffff, 0x80000000, 0x80000001, 0xaaaaaaab, 0xfffffff0, 0xfffffffd, 0xfffffffe, UINT32_MAX};
    struct rig *rig = rig_open(text);
    for (unsigned i = 0; i < sizeof divisors / sizeof *divisors; i++)
        check(rig, divisors[i]);
    for (unsigned i = 0; i < DRAWN; i++)
        check(rig, draw() >> draw() % 32);
    char *ir = rig_text(rig, "divide", MR_SHAPE_LINEAR | MR_SHAPE_FULL, "x86-64-v4", false);
    assert_null(strstr(ir, "fdiv <32 x double>"));
    free(ir);
    rig_close(rig);
}

/* Thread t divides i = base + t, the quotient once more, and -i; threads whose bit in `idle` is set do nothing. */
static const char rows_text[] =
    ".version 8.0\n.target sm_80\n.address_size 64\n"
    ".visible .entry rows(.param .u64 out, .param .u32 base, .param .u32 n, .param .u32 idle)\n{\n"
    ".reg .pred %p; .reg .b32 %i, %n, %t, %m, %r<8>; .reg .b64 %o, %d;\n"
    "mov.u32 %t, %tid.x; mul.wide.u32 %d, %t, 4; ld.param.u64 %o, [out]; ld.param.u32 %i, [base]; ld.param.u32 %n, [n];\n"
    "ld.param.u32 %m, [idle]; add.u64 %o, %o, %d; add.u32 %i, %i, %t; and.b32 %t, %t, 31; shr.u32 %m, %m, %t;\n"
    "and.b32 %m, %m, 1; setp.ne.u32 %p, %m, 0; @%p ret;\n"
    "div.u32 %r0, %i, %n; rem.u32 %r1, %i, %n; div.s32 %r2, %i, %n; rem.s32 %r3, %i, %n;\n"
    "div.s32 %r4, %r2, %n; rem.s32 %r5, %r2, %n; neg.s32 %r6, %i; rem.s32 %r7, %r6, %n; div.s32 %r6, %r6, %n;\n"
    "st.global.u32 [%o], %r0; st.global.u32 [%o+2048], %r1; st.global.u32 [%o+4096], %r2; st.global.u32 [%o+6144], %r3;\n"
    "st.global.u32 [%o+8192], %r4; st.global.u32 [%o+10240], %r5; st.global.u32 [%o+12288], %r6;\n"
    "st.global.u32 [%o+14336], %r7;\nret;\n}\n";

static void check_rows(struct rig *rig, uint32_t base, uint32_t n, uint32_t idle)
{
    const struct {
        const void *out;
        uint32_t base, n, idle;
    } params = {out, base, n, idle};
    uint32_t wanted[RESULTS];
    for (rig_variant = 0; rig_variant < RIG_VARIANTS; rig_variant++) {
        memset(out, 0x55, sizeof out);
        rig_run(rig, "rows", 1, COUNT, &params, 20);
        for (unsigned i = 0; i < COUNT; i++) {
            uint32_t a = base + i;
            divided(a, n, UINT32_MAX, &wanted[0], &wanted[1]);
            divided((int32_t)a, (int32_t)n, UINT32_MAX, &wanted[2], &wanted[3]);
            divided((int32_t)wanted[2], (int32_t)n, UINT32_MAX, &wanted[4], &wanted[5]);
            divided((int32_t)(0 - a), (int32_t)n, UINT32_MAX, &wanted[6], &wanted[7]);
            for (unsigned r = 0; r < RESULTS; r++) {
                if (idle >> i % 32 & 1)
                    wanted[r] = 0x55555555;
                if (out[r][i] != wanted[r])
                    fail_msg("variant %u, result %u of %u and %u, idle %#x: %u, not %u", rig_variant, r, a, n, idle,
                             out[r][i], wanted[r]);
            }
        }
    }
}

static void rows_and_columns_are_those_of_c(void **state)
{
    (void)state;
    static const uint32_t divisors[] = {
        0,   1,    2,     15,         16,         17,         31,         32,         33,         61,        100,
        255, 1000, 65537, 0x3ffffffe, 0x3fffffff, 0x40000000, 0x40000001, 0x7fffffff, 0x80000000, UINT32_MAX};
    static const uint32_t bases[] = {0, 1, 990, 0x3fffff00, 0x7ffffe00, 0x7fffff80, 0x80000000, 0xffffff00};
    struct rig *rig = rig_open(rows_text);
    for (unsigned i = 0; i < sizeof divisors / sizeof *divisors; i++)
        for (unsigned k = 0; k < sizeof bases / sizeof *bases; k++)
            check_rows(rig, bases[k], divisors[i], k % 4 == 1 ? 1 : k % 4 == 2 ? 0xaaaaaaaa : 0);
    for (unsigned i = 0; i < DRAWN; i++)
        check_rows(rig, draw() >> draw() % 32, draw() >> draw() % 32, i % 2 ? draw() & draw() : 0);
    char *ir = rig_text(rig, "rows", MR_SHAPE_LINEAR | MR_SHAPE_FULL, "x86-64-v3", false);
    assert_non_null(strstr(ir, "near:"));
    free(ir);
    rig_close(rig);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(quotients_are_those_of_c),
                                       cmocka_unit_test(rows_and_columns_are_those_of_c)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
