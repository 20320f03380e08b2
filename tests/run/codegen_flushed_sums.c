/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Sums with a constant that flush (`.ftz`): code generation leaves out the flush of a result that can't be subnormal
 * (numbers/flush.c). For constants above and below that bound, numbers are drawn that cancel the constant almost or
 * wholly, and numbers near the least normal one; each result has to have the bits of the host's, flushed.
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

enum { COUNT = 256, RESULTS = 6, ROUNDS = 40 };

static float given[2][COUNT], out[RESULTS][COUNT];

static uint64_t seed = 12;

static uint32_t draw(void)
{
    return draw_from(&seed);
}

static float flushed(float value)
{
    return fabsf(value) < 0x1p-126f ? copysignf(0.0f, value) : value;
}

/* Of the size of 2^exponent, with 24 bits drawn. */
static float drawn(int exponent)
{
    return ldexpf((draw() & 1 ? -1.0f : 1.0f) * (1.0f + (float)(draw() >> 9) * 0x1p-23f), exponent);
}

/* A factor of any size, and the number that makes of it about -constant; some are the constant itself, or tiny. */
static void draw_given(float constant)
{
    for (unsigned i = 0; i < COUNT; i++) {
        float a = drawn((int)(draw() % 100) - 50), b = -constant / a;
        uint32_t kind = draw() % 8;
        if (kind == 0 && fabsf(b) > 0x1p-120f)
            b = float_of(bits_of(b) + draw() % 5 - 2);
        else if (kind == 1)
            a = -constant, b = 1.0f;
        else if (kind == 2 && fabsf(constant) > 0x1p-120f)
            a = float_of(bits_of(-constant) + draw() % 9 - 4), b = 1.0f;
        else if (kind == 3)
            a = drawn(-126 - (int)(draw() % 3)), b = drawn((int)(draw() % 4) - 2);
        given[0][i] = a, given[1][i] = b;
    }
}

static void check(unsigned result, unsigned i, float wanted, float constant)
{
    if (bits_of(out[result][i]) != bits_of(wanted))
        fail_msg("variant %u, result %u: %a, %a and %a gave %a, not %a", rig_variant, result, (double)given[0][i],
                 (double)given[1][i], (double)constant, (double)out[result][i], (double)wanted);
}

/* Results 3 to 5 have the constant in a register that holds nothing else. */
static const char text[] =
    ".version 8.0\n.target sm_80\n.address_size 64\n"
    ".visible .entry sums(.param .u64 given, .param .u64 out)\n{\n"
    ".reg .%s %%a, %%b, %%c, %%r<6>; .reg .b32 %%t; .reg .b64 %%g, %%o, %%d;\n"
    "mov.u32 %%t, %%tid.x; mul.wide.u32 %%d, %%t, 4; ld.param.u64 %%g, [given]; ld.param.u64 %%o, [out];\n"
    "add.u64 %%g, %%g, %%d; add.u64 %%o, %%o, %%d; ld.global.f32 %%a, [%%g]; ld.global.f32 %%b, [%%g+1024];\n"
    "mov.f32 %%c, 0f%08X;\n"
    "fma.rn.ftz.f32 %%r0, %%a, %%b, 0f%08X; add.rn.ftz.f32 %%r1, %%a, 0f%08X; sub.rn.ftz.f32 %%r2, 0f%08X, %%a;\n"
    "fma.rm.ftz.f32 %%r3, %%a, %%b, %%c; add.rn.ftz.f32 %%r4, %%c, %%a; mad.rn.ftz.f32 %%r5, %%b, %%a, %%c;\n"
    "st.global.f32 [%%o], %%r0; st.global.f32 [%%o+1024], %%r1; st.global.f32 [%%o+2048], %%r2;\n"
    "st.global.f32 [%%o+3072], %%r3; st.global.f32 [%%o+4096], %%r4; st.global.f32 [%%o+5120], %%r5;\nret;\n}\n";

/* The fma rounded down, flushed; a double has the product, and long double has the sum where it can be told. */
static bool is_down(float a, float b, float c, float got)
{
    float nearest = flushed(fmaf(a, b, c));
    return bits_of(got) == bits_of(nearest) || got == nextafterf(nearest, -INFINITY) || (got == 0 && nearest == 0) ||
           (nearest == 0x1p-126f && got == 0);
}

static void test_sums(void **state)
{
    (void)state;
    const struct {
        const void *given, *out;
    } params = {given, out};
    static const int exponents[] = {0, 10, -20, -43, -74, -75, -76, -77, -78, -90, -102, -110, -125, -126};
    for (unsigned round = 0; round < ROUNDS; round++) {
        float constant = drawn(exponents[round % (sizeof exponents / sizeof *exponents)]);
        uint32_t c = bits_of(constant);
        char program[sizeof text + 64];
        snprintf(program, sizeof program, text, round % 2 ? "b32" : "f32", c, c, c, c);
        draw_given(constant);
        struct rig *rig = rig_open(program);
        rig_variant = round % RIG_VARIANTS;
        rig_run(rig, "sums", 1, COUNT, &params, sizeof params);
        for (unsigned i = 0; i < COUNT; i++) {
            float a = flushed(given[0][i]), b = flushed(given[1][i]);
            check(0, i, flushed(fmaf(a, b, constant)), constant);
            check(1, i, flushed(a + constant), constant);
            check(2, i, flushed(constant - a), constant);
            assert_true(is_down(a, b, constant, out[3][i]));
            check(4, i, flushed(constant + a), constant);
            check(5, i, flushed(fmaf(a, b, constant)), constant);
        }
        rig_close(rig);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_sums)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
