/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Numbers that rise by one from lane to lane, compared with a limit where only a guard asks: how many lanes hold is
 * calculated with scalars then (emit/compare.c). And accesses by all, some and none of a warp's lanes, of all sizes,
 * which without AVX-512 go different ways (access.c).
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

#define HEAD ".version 8.8\n.target sm_80\n.address_size 64\n"

enum { THREADS = 96, CASES = 10 + 3 * 6 };

static const char *const comparisons[] = {"eq", "ne", "lt", "le", "gt", "ge", "lo", "ls", "hi", "hs"};
static const char *const types[] = {"u32", "s32", "u64", "s64"};

/* Types and comparisons by turns: all ten for u32, six for the others. */
static bool case_of(unsigned number, unsigned *type, unsigned *comparison)
{
    *type = number < 10 ? 0 : (number - 10) / 6 + 1;
    *comparison = number < 10 ? number : (number - 10) % 6;
    return number < CASES;
}

/* Bit k of a thread's number: case k, and bit k + 32: with the sides changed. `at` is tid.x + first; a 64-bit one is
 * the sum of wide numbers, or a 32-bit sum widened, which may have overflowed at some lane. */
static char *comparing_text(void)
{
    static char text[24000];
    size_t used = (size_t)snprintf(
        text, sizeof text,
        HEAD
        ".visible .entry compare(.param .u64 out, .param .u64 first, .param .u64 limit, .param .u32 widened) {\n"
        ".reg .b32 %%r<9>; .reg .b64 %%rd<19>; .reg .pred %%p<%u>;\n"
        "ld.param.u64 %%rd1, [out]; ld.param.u64 %%rd2, [first]; ld.param.u64 %%rd3, [limit]; ld.param.u32 %%r5, [widened];\n"
        "mov.u32 %%r1, %%tid.x; cvt.u32.u64 %%r2, %%rd2; cvt.u32.u64 %%r3, %%rd3; add.u32 %%r4, %%r1, %%r2;\n"
        "cvt.u64.u32 %%rd4, %%r1; add.u64 %%rd5, %%rd4, %%rd2; cvt.s64.s32 %%rd6, %%r4; setp.ne.u32 %%p0, %%r5, 0;\n"
        "mov.u64 %%rd7, 0; mad.wide.u32 %%rd8, %%r1, 8, %%rd1;\n",
        4 * CASES + 4);
    unsigned type, comparison;
    for (unsigned number = 0; case_of(number, &type, &comparison); number++)
        for (unsigned other = 0; other < 2; other++) {
            const char *rising = type < 2 ? "%r4" : number & 1 ? "%rd6" : "%rd5", *limit = type < 2 ? "%r3" : "%rd3";
            used += (size_t)snprintf(
                text + used, sizeof text - used, "setp.%s.%s %%p%u, %s, %s; @%%p%u or.b64 %%rd7, %%rd7, 0x%llx;\n",
                comparisons[comparison], types[type], 2 * number + other + 1, other ? limit : rising,
                other ? rising : limit, 2 * number + other + 1, 1ull << (number + 32 * other));
        }
    /* The same as a branch and a loop that strides. */
    snprintf(
        text + used, sizeof text - used,
        "st.global.u64 [%%rd8], %%rd7; mov.u64 %%rd9, 0; mov.u32 %%r6, %%r4;\n"
        "setp.ge.s32 %%p%u, %%r4, %%r3; @%%p%u bra over; again: add.u64 %%rd9, %%rd9, 1; add.s32 %%r6, %%r6, 96; setp.lt.s32 %%p%u, %%r6, %%r3;\n"
        "setp.lt.u64 %%p%u, %%rd9, 9; @%%p%u bra on; bra over; on: @%%p%u bra again; over: st.global.u64 [%%rd8+768], %%rd9; ret; }\n",
        4 * CASES, 4 * CASES, 4 * CASES + 1, 4 * CASES + 2, 4 * CASES + 2, 4 * CASES + 1);
    return text;
}

static bool holds(unsigned type, unsigned comparison, uint64_t a, uint64_t b)
{
    if (type < 2) {
        a = (uint32_t)a;
        b = (uint32_t)b;
    }
    if (comparison < 2)
        return (a == b) == (comparison == 0);
    uint64_t flip = comparison > 5 || type == 0 || type == 2 ? 0 : type == 1 ? UINT64_C(1) << 31 : UINT64_C(1) << 63;
    a ^= flip;
    b ^= flip;
    switch (comparison > 5 ? comparison - 4 : comparison) {
    case 2:
        return a < b;
    case 3:
        return a <= b;
    case 4:
        return a > b;
    default:
        return a >= b;
    }
}

static uint64_t expected_bits(uint32_t t, uint64_t first, uint64_t limit)
{
    uint64_t bits = 0, sum = t + first, widened = (uint64_t)(int64_t)(int32_t)(uint32_t)sum;
    unsigned type, comparison;
    for (unsigned number = 0; case_of(number, &type, &comparison); number++) {
        uint64_t at = type >= 2 && (number & 1) ? widened : sum;
        bits |= (uint64_t)holds(type, comparison, at, limit) << number | (uint64_t)holds(type, comparison, limit, at)
                                                                             << (number + 32);
    }
    return bits;
}

static uint64_t expected_rounds(uint32_t t, uint64_t first, uint64_t limit)
{
    uint64_t rounds = 0;
    uint32_t at = t + (uint32_t)first;
    if ((int32_t)at >= (int32_t)limit)
        return 0;
    do {
        rounds++;
        at += 96;
    } while (rounds < 9 && (int32_t)at < (int32_t)limit);
    return rounds;
}

static uint64_t state;

static uint64_t next(void)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return state ^ state >> 29;
}

/* Near the ends of all ranges, or anything. */
static uint64_t edge(void)
{
    uint64_t x = next(), near = (x & 127) - 64;
    switch (x >> 60 & 7) {
    case 0:
    case 1:
        return near;
    case 2:
        return (UINT64_C(1) << 31) + near;
    case 3:
        return (UINT64_C(1) << 32) + near;
    case 4:
        return (UINT64_C(1) << 63) + near;
    case 5:
        return (UINT64_C(5) << 32) + near;
    default:
        return x;
    }
}

static void rising_numbers_compare_as_each_lane_does(void **unused)
{
    (void)unused;
    enum { ROUNDS = 600 };
    uint64_t *out = calloc(2 * THREADS, sizeof *out);
    struct rig *rig = rig_open(comparing_text());
    for (rig_variant = 0; rig_variant < RIG_VARIANTS; rig_variant++) {
        state = 7;
        for (unsigned round = 0; round < ROUNDS; round++) {
            struct {
                uint64_t out, first, limit;
                uint32_t widened;
            } n = {(uintptr_t)out, edge(), 0, 0};
            n.limit = round & 1 ? n.first + next() % 160 - 32 : edge();
            unsigned threads = round % 7 ? THREADS : 1 + (unsigned)(next() % THREADS);
            rig_run(rig, "compare", 1, threads, &n, sizeof n);
            for (uint32_t t = 0; t < threads; t++) {
                uint64_t bits = expected_bits(t, n.first, n.limit), rounds = expected_rounds(t, n.first, n.limit);
                if (out[t] != bits || out[THREADS + t] != rounds)
                    fail_msg("variant %u, thread %u: %llx, %llu rounds; not %llx, %llu (first %llx, limit %llx)",
                             rig_variant, t, (unsigned long long)out[t], (unsigned long long)out[THREADS + t],
                             (unsigned long long)bits, (unsigned long long)rounds, (unsigned long long)n.first,
                             (unsigned long long)n.limit);
            }
        }
    }
    rig_variant = 0;
    rig_close(rig);
    free(out);
}

/* Lanes whose bit is set in the warp's mask copy an element and the pair behind the array: as a branch and under a
 * guard. */
#define COPY(name, bits, bytes, pair, reg) \
    ".visible .entry " name "(.param .u64 in, .param .u64 out, .param .u64 masks) {\n" \
    ".reg .b32 %r<9>; .reg .b64 %rd<12>; .reg .b16 %h<6>; .reg .pred %p<3>;\n" \
    "ld.param.u64 %rd1, [in]; ld.param.u64 %rd2, [out]; ld.param.u64 %rd3, [masks]; mov.u32 %r1, %tid.x; shr.u32 %r2, %r1, 5;\n" \
    "mad.wide.u32 %rd4, %r2, 4, %rd3; ld.global.u32 %r3, [%rd4]; and.b32 %r4, %r1, 31; shr.u32 %r3, %r3, %r4; and.b32 %r3, %r3, 1;\n" \
    "setp.ne.u32 %p1, %r3, 0; mad.wide.u32 %rd5, %r1, " bytes ", %rd1; mad.wide.u32 %rd6, %r1, " bytes ", %rd2;\n" \
    "mad.wide.u32 %rd7, %r1, " pair ", %rd1; mad.wide.u32 %rd8, %r1, " pair ", %rd2;\n" \
    "@%p1 ld.global." bits " " reg "1, [%rd5]; @%p1 st.global." bits " [%rd6], " reg "1;\n" \
    "@!%p1 bra over; ld.global.v2." bits " {" reg "1, " reg "2}, [%rd7+1024]; add.u32 %r5, %r5, 1;\n" \
    "st.global.v2." bits " [%rd8+1024], {" reg "2, " reg "1}; over: ret; }\n"

static void lanes_that_do_not_run_touch_nothing(void **unused)
{
    (void)unused;
    enum { ROUNDS = 200, BYTES = 4096 };
    static const char *const names[] = {"by_1", "by_2", "by_4", "by_8"};
    unsigned char *in = malloc(BYTES), *out = malloc(BYTES), *want = malloc(BYTES);
    struct rig *rig = rig_open(HEAD COPY("by_1", "u8", "1", "2", "%h") COPY("by_2", "u16", "2", "4", "%h")
                                   COPY("by_4", "u32", "4", "8", "%r") COPY("by_8", "u64", "8", "16", "%rd"));
    for (rig_variant = 0; rig_variant < RIG_VARIANTS; rig_variant++) {
        state = 3;
        for (unsigned round = 0; round < ROUNDS; round++) {
            uint32_t masks[3];
            for (unsigned w = 0; w < 3; w++)
                masks[w] = next() % 3 == 0 ? UINT32_MAX : next() % 4 == 0 ? 0 : (uint32_t)(next() >> 20);
            for (unsigned i = 0; i < BYTES; i++)
                in[i] = (unsigned char)(next() >> 33);
            unsigned size = 1u << (round % 4);
            memset(out, 0xee, BYTES);
            memset(want, 0xee, BYTES);
            for (unsigned t = 0; t < THREADS; t++)
                if (masks[t / 32] >> (t % 32) & 1) {
                    memcpy(want + t * size, in + t * size, size);
                    memcpy(want + 1024 + t * 2 * size, in + 1024 + (t * 2 + 1) * size, size);
                    memcpy(want + 1024 + (t * 2 + 1) * size, in + 1024 + t * 2 * size, size);
                }
            struct {
                const void *in, *out, *masks;
            } n = {in, out, masks};
            rig_run(rig, names[round % 4], 1, THREADS, &n, sizeof n);
            assert_memory_equal(out, want, BYTES);
        }
    }
    rig_variant = 0;
    rig_close(rig);
    free(in);
    free(out);
    free(want);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(rising_numbers_compare_as_each_lane_does),
                                       cmocka_unit_test(lanes_that_do_not_run_touch_nothing)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
