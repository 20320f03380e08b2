/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Numbers that need no flush (`.ftz`) as operands or results: code generation finds bits that a mask or a shift leaves,
 * halves as floats, and results that can't be subnormal (numbers/flush.c). Any bits are drawn, subnormal numbers more
 * often than others; each result has to have the bits of the host's, flushed. Masks and shifts that may leave a
 * subnormal number stand beside those that can't.
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

enum { COUNT = 256, PATTERNS = 8, OTHERS = 9, RESULTS = 2 * PATTERNS + OTHERS, ROUNDS = 16 };

static uint32_t given[2][COUNT], out[RESULTS][COUNT];

static uint64_t seed = 30;

static uint32_t drawn(void)
{
    uint32_t bits = draw_from(&seed), kind = draw_from(&seed) % 8;
    if (kind < 3)
        return bits & 0x807fffff;
    if (kind == 3)
        return bits & 0x81ffffff;
    if (kind == 4)
        return bits & 0xff800000;
    return kind == 5 ? bits | 0x7f800000 : bits;
}

static float flushed(float value)
{
    return fabsf(value) < 0x1p-126f ? copysignf(0.0f, value) : value;
}

/* Below the least normal number before it is rounded: a double holds the product. */
static float product(float a, float b)
{
    return fabs((double)a * (double)b) < 0x1p-126 ? copysignf(0.0f, a * b) : a * b;
}

static uint32_t shifted_23(uint32_t bits)
{
    return bits << 23;
}

static uint32_t no_fraction(uint32_t bits)
{
    return bits & 0xff800000;
}

static uint32_t with_exponent(uint32_t bits)
{
    return bits | 0x00800000;
}

static uint32_t large(uint32_t bits)
{
    return bits | 0x3f800000;
}

static uint32_t size_of_flushed(uint32_t bits)
{
    float value = flushed(float_of(bits));
    return isnan(value) ? 0x7fffffff : bits_of(fabsf(value));
}

static uint32_t shifted_22(uint32_t bits)
{
    return bits << 22;
}

static uint32_t fraction(uint32_t bits)
{
    return bits & 0x80000001;
}

static uint32_t with_one(uint32_t bits)
{
    return bits | 1;
}

/* What each pattern makes of bits: four that can't be subnormal, the size of a flushed number, and three that can. */
static const struct {
    const char *text;
    uint32_t (*of)(uint32_t bits);
} patterns[PATTERNS] = {
    {"shl.b32 %p0, %x, 23;", shifted_23},
    {"and.b32 %p1, %x, 0xff800000;", no_fraction},
    {"or.b32 %p2, 0x00800000, %x;", with_exponent},
    {"or.b32 %p3, %x, 0x3f800000;", large},
    {"mov.b32 %n, %x; neg.ftz.f32 %n, %n; mov.b32 %t, %n; and.b32 %p4, 0x7fffffff, %t;", size_of_flushed},
    {"shl.b32 %p5, %x, 22;", shifted_22},
    {"and.b32 %p6, %x, 0x80000001;", fraction},
    {"or.b32 %p7, %x, 1;", with_one},
};

static float half_number(uint32_t bits)
{
    _Float16 half;
    uint16_t low = (uint16_t)bits;
    memcpy(&half, &low, sizeof half);
    return (float)half;
}

/* The other number of a NaN; -0 is less than 0. */
static float smaller(float a, float b)
{
    a = flushed(a), b = flushed(b);
    if (isnan(a) || isnan(b))
        return isnan(a) ? b : a;
    return a < b || (a == b && signbit(a)) ? a : b;
}

static float larger(float a, float b)
{
    return -smaller(-a, -b);
}

static float absolute(float a, float b)
{
    (void)b;
    return fabsf(flushed(a));
}

static float negative(float a, float b)
{
    (void)b;
    return -flushed(a);
}

static float root(float a, float b)
{
    (void)b;
    return sqrtf(flushed(a));
}

static float saturated(float a, float b)
{
    float value = flushed(a);
    (void)b;
    return value > 0 ? value > 1 ? 1.0f : value : 0.0f;
}

static float whole(float a, float b)
{
    (void)b;
    return rintf(flushed(a));
}

static float sum_with_half(float a, float b)
{
    return flushed(half_number(bits_of(a)) + flushed(b));
}

static float sum_of_saturated(float a, float b)
{
    return flushed(saturated(a, a) + flushed(b));
}

static const struct {
    const char *text;
    float (*of)(float a, float b);
} others[OTHERS] = {
    {"min.ftz.f32 %r, %a, %b;", smaller},
    {"max.ftz.f32 %r, %a, %b;", larger},
    {"abs.ftz.f32 %s, %a; add.ftz.f32 %r, %s, 0f00000000;", absolute},
    {"neg.ftz.f32 %r, %a;", negative},
    {"sqrt.rn.ftz.f32 %r, %a;", root},
    {"cvt.ftz.sat.f32.f32 %r, %a;", saturated},
    {"cvt.rni.ftz.f32.f32 %s, %a; add.ftz.f32 %r, %s, 0f80000000;", whole},
    {"cvt.u16.u32 %h, %x; cvt.f32.f16 %s, %h; add.ftz.f32 %r, %s, %b;", sum_with_half},
    {"cvt.ftz.sat.f32.f32 %s, %a; add.ftz.f32 %r, %s, %b;", sum_of_saturated},
};

static const char head[] =
    ".version 8.0\n.target sm_80\n.address_size 64\n"
    ".visible .entry bits(.param .u64 given, .param .u64 out)\n{\n"
    ".reg .f32 %a, %b, %n, %r, %s, %q<8>; .reg .b32 %x, %t, %p<8>; .reg .b16 %h; .reg .b64 %g, %o, %d;\n"
    "mov.u32 %t, %tid.x; mul.wide.u32 %d, %t, 4; ld.param.u64 %g, [given]; ld.param.u64 %o, [out];\n"
    "add.u64 %g, %g, %d; add.u64 %o, %o, %d; ld.global.b32 %x, [%g]; mov.b32 %a, %x; ld.global.f32 %b, [%g+1024];\n";

/* Each pattern's bits are added to and multiplied with the other number. */
static void write_program(char *program, size_t room)
{
    size_t at = (size_t)snprintf(program, room, "%s", head);
    for (unsigned i = 0; i < PATTERNS; i++)
        at += (size_t)snprintf(program + at, room - at,
                               "%s mov.b32 %%q%u, %%p%u; add.ftz.f32 %%r, %%q%u, %%b; st.global.f32 [%%o+%u], %%r;\n"
                               "mul.ftz.f32 %%r, %%b, %%q%u; st.global.f32 [%%o+%u], %%r;\n",
                               patterns[i].text, i, i, i, 2 * i * 1024, i, (2 * i + 1) * 1024);
    for (unsigned i = 0; i < OTHERS; i++)
        at += (size_t)snprintf(program + at, room - at, "%s st.global.f32 [%%o+%u], %%r;\n", others[i].text,
                               (2 * PATTERNS + i) * 1024);
    snprintf(program + at, room - at, "ret;\n}\n");
}

static void check(unsigned result, unsigned i, float wanted)
{
    uint32_t bits = isnan(wanted) ? 0x7fffffff : bits_of(wanted);
    if (out[result][i] != bits)
        fail_msg("variant %u, result %u: %08x and %08x gave %08x, not %08x", rig_variant, result, given[0][i],
                 given[1][i], out[result][i], bits);
}

static void test_bits(void **state)
{
    (void)state;
    const struct {
        const void *given, *out;
    } params = {given, out};
    static char program[8192];
    write_program(program, sizeof program);
    for (unsigned round = 0; round < ROUNDS; round++) {
        for (unsigned i = 0; i < COUNT; i++)
            given[0][i] = drawn(), given[1][i] = drawn();
        struct rig *rig = rig_open(program);
        rig_variant = round % RIG_VARIANTS;
        rig_run(rig, "bits", 1, COUNT, &params, sizeof params);
        for (unsigned i = 0; i < COUNT; i++) {
            float a = float_of(given[0][i]), b = float_of(given[1][i]);
            for (unsigned p = 0; p < PATTERNS; p++) {
                float other = flushed(float_of(patterns[p].of(given[0][i])));
                check(2 * p, i, flushed(other + flushed(b)));
                check(2 * p + 1, i, product(flushed(b), other));
            }
            for (unsigned p = 0; p < OTHERS; p++)
                check(2 * PATTERNS + p, i, others[p].of(a, b));
        }
        rig_close(rig);
    }
}

/* The approximations that need no flush: what they give for numbers near 1, near powers of two and for any bits. */
static void test_approximate(void **state)
{
    (void)state;
    const struct {
        const void *given, *out;
    } params = {given, out};
    static const char text[] =
        ".version 8.0\n.target sm_80\n.address_size 64\n"
        ".visible .entry near(.param .u64 given, .param .u64 out)\n{\n"
        ".reg .f32 %a, %r<2>; .reg .b32 %t; .reg .b64 %g, %o, %d;\n"
        "mov.u32 %t, %tid.x; mul.wide.u32 %d, %t, 4; ld.param.u64 %g, [given]; ld.param.u64 %o, [out];\n"
        "add.u64 %g, %g, %d; add.u64 %o, %o, %d; ld.global.f32 %a, [%g];\n"
        "lg2.approx.ftz.f32 %r0, %a; rsqrt.approx.ftz.f32 %r1, %a;\n"
        "st.global.f32 [%o], %r0; st.global.f32 [%o+1024], %r1;\nret;\n}\n";
    for (unsigned round = 0; round < ROUNDS; round++) {
        for (unsigned i = 0; i < COUNT; i++)
            given[0][i] = i % 2 ? drawn() : (draw_from(&seed) % 256 << 23) + draw_from(&seed) % 9 - 4;
        struct rig *rig = rig_open(text);
        rig_variant = round % RIG_VARIANTS;
        rig_run(rig, "near", 1, COUNT, &params, sizeof params);
        for (unsigned i = 0; i < COUNT; i++) {
            float a = flushed(float_of(given[0][i]));
            for (unsigned r = 0; r < 2; r++) {
                float got = float_of(out[r][i]);
                assert_true(bits_of(got) == bits_of(flushed(got)));
                if (a == 0)
                    assert_true(isinf(got) && (r || got < 0));
            }
        }
        rig_close(rig);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_bits), cmocka_unit_test(test_approximate)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
