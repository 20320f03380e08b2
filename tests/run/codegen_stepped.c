/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Values that step from lane to lane by what only the running code knows (src/compile/codegen/operands/stepped.c):
 * strides that are parameters. Each is compared with the same in C, lane by lane, with numbers that wrap 32 bits
 * nowhere, once or many times within a warp.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include <cmocka.h>

#include "codegen_rig.h"

#define HEAD ".version 8.8\n.target sm_80\n.address_size 64\n"

#define RESULTS 14

/* result k of thread t to out[RESULTS * t + k]; `i` is a number that steps by 3 from `first`, all of 32 bits. */
static const char values_text[] = HEAD
    ".visible .entry values(.param .u64 out, .param .u64 base, .param .u64 stride, .param .u32 first, .param .u32 factor, .param .u32 odd) {\n"
    ".reg .b32 %r<20>; .reg .b64 %rd<40>; .reg .pred %p<3>;\n"
    "mov.u32 %r1, %tid.x; cvt.u64.u32 %rd1, %r1; ld.param.u64 %rd2, [base]; ld.param.u64 %rd3, [stride]; ld.param.u32 %r2, [first];\n"
    "ld.param.u32 %r3, [factor]; ld.param.u32 %r9, [odd]; setp.ne.u32 %p1, %r9, 0;\n"
    "mad.lo.u32 %r4, %r1, 3, %r2;\n"                                        /* i */
    "mul.lo.u64 %rd10, %rd1, %rd3; add.u64 %rd10, %rd10, %rd2;\n"           /* 0: t * stride + base */
    "shl.b64 %rd4, %rd10, 32; shr.s64 %rd11, %rd4, 32; shr.u64 %rd12, %rd4, 32;\n" /* 1, 2: its lower half, widened */
    "mul.wide.s32 %rd13, %r4, %r3; mul.wide.u32 %rd14, %r3, %r4;\n"         /* 3, 4 */
    "mad.wide.s32 %rd15, %r4, %r3, %rd2; mad.lo.s64 %rd16, %rd3, %rd1, %rd2;\n" /* 5, 6 */
    "mul.lo.s32 %r5, %r4, %r3; cvt.s64.s32 %rd17, %r5; cvt.u64.u32 %rd18, %r5;\n" /* 7, 8 */
    "sub.s64 %rd19, %rd2, %rd17; sub.s64 %rd19, %rd19, %rd10;\n"            /* 9 */
    "cvt.u32.u64 %r6, %rd10; cvt.u64.u32 %rd20, %r6; shl.b64 %rd20, %rd20, 2; mul.lo.s64 %rd20, %rd20, %rd3;\n" /* 10 */
    "mov.u64 %rd21, %rd10; @%p1 add.s64 %rd21, %rd10, %rd17;\n" /* 11 */
    "cvt.s64.s32 %rd5, %r4; mul.lo.s64 %rd22, %rd5, %rd3; add.s64 %rd22, %rd22, %rd10;\n" /* 12 */
    "mov.u64 %rd23, %rd10; mov.u32 %r7, 0;\n" /* 13: some rounds of a loop */
    "again: add.s64 %rd23, %rd23, %rd3; shl.b64 %rd6, %rd23, 32; shr.s64 %rd7, %rd6, 32; add.s64 %rd23, %rd23, %rd2; add.u32 %r7, %r7, 1;\n"
    "setp.lt.u32 %p2, %r7, 5; @%p2 bra again; xor.b64 %rd23, %rd23, %rd7;\n"
    "ld.param.u64 %rd8, [out]; mad.wide.u32 %rd9, %r1, 112, %rd8;\n"
    "st.global.u64 [%rd9], %rd10; st.global.u64 [%rd9+8], %rd11; st.global.u64 [%rd9+16], %rd12; st.global.u64 [%rd9+24], %rd13;\n"
    "st.global.u64 [%rd9+32], %rd14; st.global.u64 [%rd9+40], %rd15; st.global.u64 [%rd9+48], %rd16; st.global.u64 [%rd9+56], %rd17;\n"
    "st.global.u64 [%rd9+64], %rd18; st.global.u64 [%rd9+72], %rd19; st.global.u64 [%rd9+80], %rd20; st.global.u64 [%rd9+88], %rd21;\n"
    "st.global.u64 [%rd9+96], %rd22; st.global.u64 [%rd9+104], %rd23; ret; }\n";

struct numbers {
    uint64_t out, base, stride;
    uint32_t first, factor, odd;
};

static uint64_t sign_extended(uint64_t value)
{
    return (uint64_t)(int64_t)(int32_t)(uint32_t)value;
}

static void expect(const struct numbers *n, uint32_t t, uint64_t *to)
{
    uint32_t i = t * 3 + n->first, product = i * n->factor;
    uint64_t at = t * n->stride + n->base, loop = at, half = 0;
    for (int round = 0; round < 5; round++) {
        half = sign_extended(loop += n->stride);
        loop += n->base;
    }
    uint64_t values[RESULTS] = {at,
                                sign_extended(at),
                                (uint32_t)at,
                                sign_extended(i) * sign_extended(n->factor),
                                (uint64_t)i * n->factor,
                                sign_extended(i) * sign_extended(n->factor) + n->base,
                                at,
                                sign_extended(product),
                                product,
                                n->base - sign_extended(product) - at,
                                ((uint64_t)(uint32_t)at << 2) * n->stride,
                                n->odd ? at + sign_extended(product) : at,
                                sign_extended(i) * n->stride + at,
                                loop ^ half};
    memcpy(to, values, sizeof values);
}

static uint64_t state;

static uint64_t any(void)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    uint64_t x = state ^ state >> 29;
    switch (x >> 60 & 7) { /* small, of either sign, around the edges of 32 bits, anything */
    case 0:
    case 1:
        return (x & 31) * 4;
    case 2:
        return -(x & 31);
    case 3:
        return (UINT64_C(1) << 31) - (x & 63);
    case 4:
        return (UINT64_C(1) << 32) - (x & 63);
    case 5:
        return x & UINT32_MAX;
    default:
        return x;
    }
}

static void values_are_those_of_each_lane(void **unused)
{
    (void)unused;
    enum { THREADS = 96, ROUNDS = 300 };
    uint64_t *out = calloc(THREADS, RESULTS * sizeof *out), expected[RESULTS];
    struct rig *rig = rig_open(values_text);
    for (rig_variant = 0; rig_variant < RIG_VARIANTS; rig_variant++) {
        state = 1;
        for (unsigned round = 0; round < ROUNDS; round++) {
            struct numbers n = {(uintptr_t)out, any(), any(), (uint32_t)any(), (uint32_t)any(), round & 1};
            rig_run(rig, "values", 1, THREADS, &n, sizeof n);
            for (uint32_t t = 0; t < THREADS; t++) {
                expect(&n, t, expected);
                for (unsigned k = 0; k < RESULTS; k++)
                    if (out[t * RESULTS + k] != expected[k])
                        fail_msg(
                            "variant %u, round %u, thread %u, result %u: %llx, not %llx (base %llx, stride %llx, first %x, factor %x)",
                            rig_variant, round, t, k, (unsigned long long)out[t * RESULTS + k],
                            (unsigned long long)expected[k], (unsigned long long)n.base, (unsigned long long)n.stride,
                            n.first, n.factor);
            }
        }
    }
    rig_variant = 0;
    rig_close(rig);
    free(out);
}

/* out[i * to] = in[i * from + off] + 1 for i < n, a loop over the grid, with products cut to 32 bits as CuPy's kernels
 * have them; all distances in bytes. */
static const char copy_text[] = HEAD
    ".visible .entry copy(.param .u64 in, .param .u64 out, .param .u64 from, .param .u64 to, .param .u64 n, .param .u64 off) {\n"
    ".reg .b32 %r<9>; .reg .b64 %rd<30>; .reg .pred %p<3>;\n"
    "mov.u32 %r1, %ctaid.x; mov.u32 %r2, %ntid.x; mul.wide.u32 %rd1, %r1, %r2; mov.u32 %r3, %tid.x; cvt.u64.u32 %rd2, %r3; add.s64 %rd3, %rd1, %rd2;\n"
    "ld.param.u64 %rd4, [n]; setp.ge.s64 %p1, %rd3, %rd4; @%p1 bra done;\n"
    "ld.param.u64 %rd5, [in]; ld.param.u64 %rd6, [out]; ld.param.u64 %rd7, [from]; ld.param.u64 %rd8, [to];\n"
    "mov.u32 %r4, %nctaid.x; cvt.u64.u32 %rd9, %r4; cvt.u64.u32 %rd10, %r2; mul.lo.s64 %rd11, %rd9, %rd10;\n"
    "ld.param.u64 %rd24, [off]; mad.lo.s64 %rd12, %rd7, %rd3, %rd24; shl.b64 %rd13, %rd12, 32; mul.lo.s64 %rd14, %rd7, %rd11; shl.b64 %rd15, %rd14, 32;\n"
    "mul.lo.s64 %rd16, %rd8, %rd3; shl.b64 %rd17, %rd16, 32; mul.lo.s64 %rd18, %rd8, %rd11; shl.b64 %rd19, %rd18, 32;\n"
    "again: shr.s64 %rd20, %rd13, 32; add.s64 %rd21, %rd5, %rd20; ld.global.u32 %r5, [%rd21]; add.u32 %r5, %r5, 1;\n"
    "shr.s64 %rd22, %rd17, 32; add.s64 %rd23, %rd6, %rd22; st.global.u32 [%rd23], %r5;\n"
    "add.s64 %rd13, %rd13, %rd15; add.s64 %rd17, %rd17, %rd19; add.s64 %rd3, %rd3, %rd11; setp.lt.s64 %p2, %rd3, %rd4; @%p2 bra again;\n"
    "done: ret; }\n";

struct copy {
    uint64_t in, out, from, to, n, off;
};

static void elements_at_any_distance(void **unused)
{
    (void)unused;
    enum { COUNT = 333, WORDS = 4096 };
    static uint32_t in[WORDS], out[WORDS];
    static const int64_t distances[] = {4, 8, 0, -4, 12, -8, 40};
    struct rig *rig = rig_open(copy_text);
    for (unsigned i = 0; i < WORDS; i++)
        in[i] = i * 7;
    for (rig_variant = 0; rig_variant < RIG_VARIANTS; rig_variant++)
        for (unsigned f = 0; f < 7; f++)
            for (unsigned t = 0; t < 7; t++) {
                int64_t from = distances[f], to = distances[t];
                if (to == 0)
                    continue; /* any of the values may stay */
                memset(out, 0, sizeof out);
                uint32_t *start = out + (to < 0 ? WORDS - 1 : 0);
                const uint32_t *first = in + (from < 0 ? WORDS - 1 : 0);
                struct copy params = {(uintptr_t)first, (uintptr_t)start, (uint64_t)from, (uint64_t)to, COUNT, 0};
                rig_run(rig, "copy", 3, 48, &params, sizeof params);
                for (int64_t i = 0; i < COUNT; i++)
                    assert_int_equal(start[i * (to / 4)], first[i * (from / 4)] + 1);
                unsigned written = 0;
                for (unsigned i = 0; i < WORDS; i++)
                    written += out[i] != 0;
                assert_in_range(written, COUNT - 1, COUNT);
            }
    rig_variant = 0;
    rig_close(rig);
}

/* The products of 32 bits overflow within a warp: lanes behind that are 4 GiB further down, in either direction of the
 * steps. */
static void elements_behind_an_overflow(void **unused)
{
    (void)unused;
    const size_t half = (size_t)1 << 31;
    char *space =
        mmap(NULL, 2 * half + 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (space == MAP_FAILED)
        skip();
    static uint32_t out[64];
    struct rig *rig = rig_open(copy_text);
    for (rig_variant = 0; rig_variant < RIG_VARIANTS; rig_variant++)
        for (int64_t from = -4; from <= 4; from += 8) {
            /* Thread t reads at (distance * t) cut to 32 bits, from the middle. Distance 2^26 and a bit: 64 threads
             * pass 2^31 and 2^32. */
            int64_t distance = ((int64_t)1 << 26) + from;
            for (uint32_t t = 0; t < 64; t++)
                *(uint32_t *)(space + half + (int32_t)(uint32_t)(distance * t)) = 1000 + t;
            struct copy params = {(uintptr_t)space + half, (uintptr_t)out, (uint64_t)distance, 4, 64, 0};
            memset(out, 0, sizeof out);
            rig_run(rig, "copy", 1, 64, &params, sizeof params);
            for (uint32_t t = 0; t < 64; t++)
                assert_int_equal(out[t], 1001 + t);
            /* Steps of one element, from just before the edge. */
            const uint32_t off = 0x7fffffc0u;
            for (uint32_t t = 0; t < 64; t++)
                *(uint32_t *)(space + half + (int32_t)(off + (uint32_t)from * t)) = 2000 + t;
            params = (struct copy){(uintptr_t)space + half, (uintptr_t)out, (uint64_t)from, 4, 64, off};
            rig_run(rig, "copy", 1, 64, &params, sizeof params);
            for (uint32_t t = 0; t < 64; t++)
                assert_int_equal(out[t], 2001 + t);
        }
    rig_variant = 0;
    rig_close(rig);
    munmap(space, 2 * half + 4096);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(values_are_those_of_each_lane),
                                       cmocka_unit_test(elements_at_any_distance),
                                       cmocka_unit_test(elements_behind_an_overflow)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
