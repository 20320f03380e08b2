/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Where AVX-512 has one instruction for what takes other processors several: ex2, the smaller and the larger of two
 * numbers, rows of a matrix that lie one behind the other. The bits are the same everywhere: each variant
 * (RIG_VARIANTS, of which some are of older processors) is compared with C or with the others.
 */
#include <math.h>
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

#define HEAD ".version 8.8\n.target sm_80\n.address_size 64\n"
#define FOR_VARIANTS for (rig_variant = 0; rig_variant < RIG_VARIANTS; rig_variant++)

enum { COUNT = 1 << 14, THREADS = 256, RESULTS = 7 };

static uint32_t given[2][COUNT], out[RESULTS][COUNT], first[RESULTS][COUNT];

static uint64_t seed = 3;

static uint32_t draw(void)
{
    return draw_from(&seed);
}

static const uint32_t special[] = {0,          0x80000000, 1,          0x80000001, 0x007fffff, 0x00800000, 0x80800000,
                                   0x3f800000, 0xbf800000, 0x7f7fffff, 0xff7fffff, 0x7f800000, 0xff800000, 0x7fffffff,
                                   0x7fc00000, 0xffc00001, 0x7f800001, 0xff812345, 0x3f7fffff, 0x34000000, 0xc2fc0000};
#define SPECIAL (sizeof special / sizeof *special)

/* All pairs of special numbers, numbers around the ends of ex2's range and of each step in it, and any bits. */
static void draw_given(void)
{
    for (unsigned i = 0; i < COUNT; i++) {
        given[0][i] = draw(), given[1][i] = draw();
        if (i < SPECIAL * SPECIAL)
            given[0][i] = special[i / SPECIAL], given[1][i] = special[i % SPECIAL];
        else if (i % 3 == 0)
            given[0][i] = bits_of((float)(draw() % 640) / 2 - 160) + draw() % 3 - 1;
        else if (i % 3 == 1)
            given[0][i] = bits_of((float)((double)draw() / 0x1p32 * 320 - 160));
    }
}

static float flushed(float value)
{
    return fabsf(value) < 0x1p-126f ? copysignf(0.0f, value) : value;
}

/* max.NaN, min.NaN: any NaN gives hardware's; -0 is less than +0. */
static uint32_t larger(float a, float b, bool smaller)
{
    if (isnan(a) || isnan(b))
        return 0x7fffffff;
    if (a == b)
        return bits_of((signbit(a) != 0) == smaller ? a : b);
    return bits_of((a > b) == smaller ? b : a);
}

static const char numbers[] = HEAD
    ".visible .entry numbers(.param .u64 given, .param .u64 out)\n{\n"
    ".reg .f32 %a, %b, %r<7>; .reg .b32 %t, %n, %c; .reg .b64 %g, %o, %d;\n"
    "mov.u32 %t, %tid.x; mov.u32 %n, %ntid.x; mov.u32 %c, %ctaid.x; mad.lo.u32 %t, %c, %n, %t; mul.wide.u32 %d, %t, 4;\n"
    "ld.param.u64 %g, [given]; ld.param.u64 %o, [out]; add.u64 %g, %g, %d; add.u64 %o, %o, %d;\n"
    "ld.global.f32 %a, [%g]; ld.global.f32 %b, [%g+65536];\n"
    "max.NaN.f32 %r0, %a, %b; min.NaN.f32 %r1, %a, %b; max.NaN.ftz.f32 %r2, %a, %b; min.NaN.f32 %r3, %a, 0f00000000;\n"
    "ex2.approx.f32 %r4, %a; ex2.approx.ftz.f32 %r5, %a; tanh.approx.f32 %r6, %a;\n"
    "st.global.f32 [%o], %r0; st.global.f32 [%o+65536], %r1; st.global.f32 [%o+131072], %r2;\n"
    "st.global.f32 [%o+196608], %r3; st.global.f32 [%o+262144], %r4; st.global.f32 [%o+327680], %r5;\n"
    "st.global.f32 [%o+393216], %r6;\nret;\n}\n";

static void numbers_are_the_same(void **state)
{
    (void)state;
    const struct {
        const void *given, *out;
    } params = {given, out};
    struct rig *rig = rig_open(numbers);
    draw_given();
    FOR_VARIANTS {
        memset(out, 0x55, sizeof out);
        rig_run(rig, "numbers", COUNT / THREADS, THREADS, &params, sizeof params);
        if (rig_variant == 0)
            memcpy(first, out, sizeof out);
        for (unsigned i = 0; i < COUNT; i++) {
            float a = float_of(given[0][i]), b = float_of(given[1][i]);
            assert_int_equal(out[0][i], larger(a, b, false));
            assert_int_equal(out[1][i], larger(a, b, true));
            assert_int_equal(out[2][i], larger(flushed(a), flushed(b), false));
            assert_int_equal(out[3][i], larger(a, 0.0f, true));
            for (unsigned r = 4; r < RESULTS; r++)
                if (out[r][i] != first[r][i])
                    fail_msg("variant %u, result %u of %a: %08x, not %08x", rig_variant, r, (double)a, out[r][i],
                             first[r][i]);
            if (isnan(a)) {
                assert_int_equal(out[4][i], 0x7fffffff);
                assert_int_equal(out[5][i], 0x7fffffff);
                continue;
            }
            double exact = exp2((double)a);
            float power = float_of(out[4][i]);
            if (exact >= 0x1p128 || exact < 0x1p-150)
                assert_int_equal(out[4][i], exact > 1 ? 0x7f800000 : 0);
            else
                assert_true(fabs((double)power - exact) <= exact * 0x1p-22 + 0x1p-150);
            assert_int_equal(out[5][i], bits_of(flushed(power)));
        }
    }
    char *assembly = rig_text(rig, "numbers", MR_SHAPE_LINEAR | MR_SHAPE_FULL, "x86-64-v4", true);
    assert_non_null(strstr(assembly, "vscalefps"));
    assert_non_null(strstr(assembly, "vrangeps"));
    free(assembly);
    rig_close(rig);
}

/* Rows of eight halves at offsets that each lane reads from a table. */
static const char rows[] = HEAD
    ".shared .align 16 .b8 cells[4096];\n"
    ".visible .entry rows(.param .u64 given, .param .u64 out)\n{\n"
    ".reg .b32 %a, %t, %c, %r<8>; .reg .b64 %g, %o, %d; .reg .pred %p;\n"
    "mov.u32 %t, %tid.x; shl.b32 %c, %t, 2; cvt.u64.u32 %d, %c; mov.u32 %a, cells; add.u32 %a, %a, %c;\n"
    "ld.param.u64 %g, [given]; ld.param.u64 %o, [out]; add.u64 %g, %g, %d; add.u64 %o, %o, %d;\n"
    "mov.u32 %r0, 0; again: ld.global.b32 %r1, [%g]; st.shared.b32 [%a], %r1; add.u64 %g, %g, 128; add.u32 %a, %a, 128;\n"
    "add.u32 %r0, %r0, 1; setp.lt.u32 %p, %r0, 32; @%p bra again; bar.sync 0;\n"
    "ld.global.b32 %r1, [%g]; mov.u32 %a, cells; add.u32 %a, %a, %r1;\n"
    "ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%r2, %r3, %r4, %r5}, [%a];\n"
    "ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%r6, %r7}, [%a]; ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r0}, [%a];\n"
    "st.global.b32 [%o], %r2; st.global.b32 [%o+128], %r3; st.global.b32 [%o+256], %r4; st.global.b32 [%o+384], %r5;\n"
    "st.global.b32 [%o+512], %r6; st.global.b32 [%o+640], %r7; st.global.b32 [%o+768], %r0;\nret;\n}\n";

enum { WORDS = 1024, LANES = 32, TABLES = 5 };

static uint32_t row_offset(unsigned table, unsigned lane)
{
    switch (table) {
    case 0: /* all in one piece */
        return 16 * lane;
    case 1: /* a piece for each matrix */
        return 1024 * (3 - lane / 8) + 16 * (lane % 8) + 48;
    case 2: /* as before products */
        return 128 * (lane % 16) + (lane / 16 ^ lane % 8) * 16;
    case 3: /* one row elsewhere */
        return lane == 29 ? 0 : 16 * lane + 512;
    default:
        return draw() % 255 * 16;
    }
}

static void rows_are_where_they_are(void **state)
{
    (void)state;
    static uint32_t memory[WORDS + LANES], got[7][LANES];
    const struct {
        const void *given, *out;
    } params = {memory, got};
    struct rig *rig = rig_open(rows);
    for (unsigned i = 0; i < WORDS; i++)
        memory[i] = draw();
    FOR_VARIANTS
        for (unsigned table = 0; table < TABLES; table++) {
            for (unsigned l = 0; l < LANES; l++)
                memory[WORDS + l] = row_offset(table, l);
            memset(got, 0x55, sizeof got);
            rig_run(rig, "rows", 1, LANES, &params, sizeof params);
            for (unsigned r = 0; r < 7; r++)
                for (unsigned l = 0; l < LANES; l++) {
                    unsigned matrix = r < 4   ? r
                                      : r < 6 ? r - 4
                                              : 0,
                             at = memory[WORDS + matrix * 8 + l / 4] / 4 + l % 4;
                    assert_int_equal(got[r][l], memory[at]);
                }
        }
    rig_close(rig);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(numbers_are_the_same),
                                       cmocka_unit_test(rows_are_where_they_are)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
