/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Memory and calls in hand-written PTX: vectors of elements, all spaces,
 * initialised variables, addresses that step in odd ways, functions with
 * parameters in registers and in memory, exits inside functions, jump tables.
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
#define FOR_VARIANTS for (rig_variant = 0; rig_variant < RIG_VARIANTS; rig_variant++)

static uint32_t in[4096] __attribute__((aligned(64))), out[4096] __attribute__((aligned(64)));

static void start(void)
{
    for (uint32_t i = 0; i < 4096; i++) {
        in[i] = i * 2654435761u >> 7;
        out[i] = 0xdeadbeef;
    }
}

static void launch(struct rig *rig, const char *entry, unsigned threads, uint32_t n)
{
    struct {
        uint32_t *in, *out;
        uint32_t n;
    } params = {in, out, n};
    rig_run(rig, entry, 1, threads, &params, 20);
}

#define ENTRY(name, registers, body) \
    ".visible .entry " name \
    "(.param .u64 in, .param .u64 out, .param .u32 n)\n{\n.reg .b32 %t, %n; .reg .b64 %in, %out, %o; " registers "\n" \
    "ld.param.u64 %in, [in]; ld.param.u64 %out, [out]; ld.param.u32 %n, [n]; mov.u32 %t, %tid.x;\n" body "\nret;\n}\n"

static const char elements_text[] = HEAD ENTRY(
    "quads", ".reg .b32 %a<9>; .reg .b64 %p, %q;",
    "mul.wide.u32 %o, %t, 16; add.u64 %p, %in, %o; add.u64 %q, %out, %o; ld.global.v4.u32 {%a1, %a2, %a3, %a4}, [%p+16];\n"
    "add.u32 %a1, %a1, %t; st.global.v4.u32 [%q], {%a4, %a3, %a2, %a1};")
ENTRY("pairs", ".reg .b32 %a<9>; .reg .b64 %p, %q, %d<4>; .reg .pred %c;",
      "setp.ge.u32 %c, %t, %n; @%c exit; mul.wide.u32 %o, %t, 16; add.u64 %p, %in, %o; add.u64 %q, %out, %o;\n"
      "ld.global.v2.u64 {%d1, %d2}, [%p]; add.u64 %d3, %d1, %d2; st.global.v2.u64 [%q], {%d3, %d1};")
ENTRY(
    "bytes", ".reg .b32 %a<9>; .reg .b16 %h<9>; .reg .b64 %p, %q;",
    "cvt.u64.u32 %o, %t; add.u64 %p, %in, %o; ld.global.s8 %a1, [%p]; ld.global.u8 %h1, [%p+1]; cvt.u32.u16 %a2, %h1; add.u32 %a1, %a1, %a2;\n"
    "mul.wide.u32 %o, %t, 2; add.u64 %q, %out, %o; st.global.u16 [%q], %a1;")
ENTRY(
    "strides", ".reg .b32 %a<9>; .reg .b64 %p, %q;",
    "mul.lo.u32 %a1, %t, 3; sub.u32 %a1, 600, %a1; mul.wide.u32 %o, %a1, 4; add.u64 %p, %in, %o; ld.global.u32 %a2, [%p];\n"
    "mul.wide.u32 %o, %t, 12; add.u64 %q, %out, %o; st.global.u32 [%q+4], %a2; mad.lo.u32 %a3, %t, 4, 0; neg.s32 %a3, %a3; cvt.s64.s32 %o, %a3;\n"
    "add.u64 %q, %out, %o; st.global.u32 [%q+8000], %t;")
ENTRY(
    "whole", ".reg .b32 %a<9>; .reg .b64 %p, %q, %d<4>; .reg .b128 %w;",
    "mul.wide.u32 %o, %t, 16; add.u64 %p, %in, %o; add.u64 %q, %out, %o; ld.global.b64 %d1, [%p]; ld.global.b64 %d2, [%p+8]; mov.b64 {%a1, %a2}, %d1;\n"
    "mov.b64 %d3, {%a2, %a1}; st.global.b64 [%q], %d3; st.global.b64 [%q+8], %d2;")
ENTRY(
    "as_floats", ".reg .f32 %f; .reg .f64 %d; .reg .b64 %q, %w;",
    "mov.b32 %f, %t; add.f32 %f, %f, %f; cvt.u64.u32 %w, %t; shl.b64 %w, %w, 2; mov.b64 %d, %w; add.f64 %d, %d, %d; mul.wide.u32 %o, %t, 16;\n"
    "add.u64 %q, %out, %o; st.global.f32 [%q], %f; st.global.f64 [%q+8], %d;")
ENTRY("one", ".reg .b32 %a<9>;",
      "add.u32 %a1, %t, 5; st.global.u32 [%out], %a1; mov.u32 %a2, 9; st.global.v2.u32 [%out+8], {%a2, %n};");

static void vectors_of_elements(void **unused)
{
    (void)unused;
    struct rig *rig = rig_open(elements_text);
    FOR_VARIANTS {
        start();
        launch(rig, "quads", 70, 0);
        for (uint32_t t = 0; t < 70; t++) {
            assert_int_equal(out[4 * t], in[4 * t + 7]);
            assert_int_equal(out[4 * t + 1], in[4 * t + 6]);
            assert_int_equal(out[4 * t + 2], in[4 * t + 5]);
            assert_int_equal(out[4 * t + 3], in[4 * t + 4] + t);
        }
        assert_int_equal(out[280], 0xdeadbeef);
        start();
        launch(rig, "pairs", 64, 45);
        for (uint32_t t = 0; t < 45; t++) {
            uint64_t x, y, z[2];
            memcpy(&x, &in[4 * t], 8);
            memcpy(&y, &in[4 * t + 2], 8);
            memcpy(z, &out[4 * t], 16);
            assert_int_equal(z[0], x + y);
            assert_int_equal(z[1], x);
        }
        assert_int_equal(out[180], 0xdeadbeef);
        start();
        launch(rig, "as_floats", 40, 0);
        for (uint32_t t = 0; t < 40; t++) {
            assert_int_equal(out[4 * t], 2 * t);
            assert_int_equal(out[4 * t + 2], 8 * t);
        }
        start();
        launch(rig, "bytes", 40, 0);
        for (uint32_t t = 0; t < 40; t++) {
            uint16_t r;
            memcpy(&r, (char *)out + 2 * t, 2);
            assert_int_equal(r, (uint16_t)(((signed char *)in)[t] + ((unsigned char *)in)[t + 1]));
        }
        start();
        launch(rig, "strides", 64, 0);
        for (uint32_t t = 0; t < 64; t++) {
            assert_int_equal(out[3 * t + 1], in[600 - 3 * t]);
            assert_int_equal(out[2000 - t], t);
        }
        start();
        launch(rig, "whole", 33, 0);
        for (uint32_t t = 0; t < 33; t++) {
            assert_int_equal(out[4 * t], in[4 * t + 1]);
            assert_int_equal(out[4 * t + 1], in[4 * t]);
            assert_int_equal(out[4 * t + 3], in[4 * t + 3]);
        }
        start();
        launch(rig, "one", 50, 77);
        assert_in_range(out[0], 5, 54);
        assert_int_equal(out[2], 9);
        assert_int_equal(out[3], 77);
    }
    rig_close(rig);
}

/* Element t * stride of arrays whose stride is a parameter: n is 128 + stride, 256 times the first lane that takes
 * part, 65536 times the last. */
#define STRIDED(name, shift, access, value) \
    ENTRY( \
        name, ".reg .b32 %s, %from, %to, %a, %b; .reg .b64 %p, %q, %d; .reg .b16 %h; .reg .pred %c;", \
        "and.b32 %s, %n, 255; sub.u32 %s, %s, 128; bfe.u32 %from, %n, 8, 8; shr.u32 %to, %n, 16;\n" \
        "setp.lt.u32 %c, %t, %from; @%c exit; setp.gt.u32 %c, %t, %to; @%c exit; mul.wide.s32 %o, %t, %s; shl.b64 %o, %o, " shift \
        "; add.u64 %o, %o, 4096;\n" \
        "add.u64 %p, %in, %o; add.u64 %q, %out, %o; ld.global" access " " value ", [%p]; st.global" access \
        " [%q], " value ";")

static void strides_of_parameters(void **unused)
{
    static const struct {
        const char *name;
        unsigned bytes;
    } entries[] = {{"by_1", 1}, {"by_2", 2}, {"by_4", 4}, {"by_8", 8}, {"by_pairs", 8}};
    (void)unused;
    struct rig *rig = rig_open(HEAD STRIDED("by_1", "0", ".u8", "%h") STRIDED("by_2", "1", ".u16", "%h") STRIDED(
        "by_4", "2", ".u32", "%a") STRIDED("by_8", "3", ".u64", "%d") STRIDED("by_pairs", "3", ".v2.u32", "{%a, %b}"));
    FOR_VARIANTS {
        for (unsigned run = 0; run < 5 * 7 * 3 * 4; run++) {
            static uint8_t expected[sizeof out];
            unsigned entry = run % 5, from = run / 35 % 3 * 3, to = (unsigned[]){99, 69, 31, 4}[run / 105];
            int stride = (int)(run / 5 % 7) - 3;
            start();
            memcpy(expected, out, sizeof out);
            for (unsigned t = from; t <= to; t++) {
                size_t at = (size_t)(4096 + (int)t * stride * (int)entries[entry].bytes);
                memcpy(expected + at, (uint8_t *)in + at, entries[entry].bytes);
            }
            launch(rig, entries[entry].name, 100, (unsigned)(128 + stride) | from << 8 | to << 16);
            assert_memory_equal(out, expected, sizeof out);
        }
    }
    rig_close(rig);
}

static void variables(void **unused)
{
    (void)unused;
    struct rig *rig = rig_open(
        HEAD
        ".const .align 4 .u32 numbers[4] = {10, 20, 30, 40};\n.global .u32 cell = 7;\n.global .u64 where[2] = {generic(cell), generic(numbers)+4};\n" ENTRY(
            "read", ".reg .b32 %a<9>; .reg .b64 %p, %q, %d<6>;",
            "and.b32 %a1, %t, 3; mul.wide.u32 %o, %a1, 4; mov.u64 %d1, numbers; add.u64 %d1, %d1, %o; ld.const.u32 %a2, [%d1]; ld.global.u64 %d2, [where];\n"
            "ld.u32 %a3, [%d2]; ld.global.u64 %d3, [where+8]; ld.u32 %a4, [%d3]; add.u32 %a5, %a2, %a3; add.u32 %a5, %a5, %a4;\n"
            "mul.wide.u32 %o, %t, 4; add.u64 %q, %out, %o; st.global.u32 [%q], %a5;")
            ENTRY(
                "spaces",
                ".reg .b32 %a<9>; .reg .b64 %p, %q, %d<8>; .reg .pred %c<4>; .shared .align 4 .b8 s[16]; .local .align 8 .b8 l[24];",
                "mov.u64 %d1, s; cvta.shared.u64 %d1, %d1; mov.u64 %d2, l; cvta.local.u64 %d2, %d2; isspacep.shared %c0, %d1; isspacep.local %c1, %d2;\n"
                "isspacep.global %c2, %out; isspacep.shared %c3, %d2; selp.u32 %a0, 1, 0, %c0; selp.u32 %a1, 2, 0, %c1; selp.u32 %a2, 4, 0, %c2; selp.u32 %a3, 8, 0, %c3;\n"
                "add.u32 %a0, %a0, %a1; add.u32 %a0, %a0, %a2; add.u32 %a0, %a0, %a3; st.u32 [%d2+8], %t; st.local.u32 [l+12], %a0; ld.local.u64 %d3, [l+8];\n"
                "mul.wide.u32 %o, %t, 8; add.u64 %q, %out, %o; st.global.u64 [%q], %d3;"));
    FOR_VARIANTS {
        start();
        launch(rig, "read", 40, 0);
        for (uint32_t t = 0; t < 40; t++)
            assert_int_equal(out[t], 10 * (t % 4 + 1) + 7 + 20);
        launch(rig, "spaces", 40, 0);
        for (uint32_t t = 0; t < 40; t++) {
            assert_int_equal(out[2 * t], t);
            assert_int_equal(out[2 * t + 1], 7);
        }
    }
    rig_close(rig);
}

/* Elements of arrays as addresses, without brackets; integers that hold floats of a vector, pairs of halves that hold
 * integers. */
static void named_otherwise(void **unused)
{
    (void)unused;
    static const char text[] =
        ".version 8.6\n.target sm_90\n.address_size 64\n.global .align 16 .b32 words[8] = {0x10, 0x11, 0x12, 0x80f3, 0xbf800000, 0x3f800000, 0x16, 0x17};\n"
        ".global .b64 lines[2][2] = {{20, 21}, {22, 23}};\n.const .b16 halves[4] = {30, 31, 32, 33};\n.shared .b32 sums[4];\n"
        ".visible .entry k(.param .u64 out, .param .align 4 .b8 bytes[8]) { .reg .b32 %r<4>; .reg .b64 %d<4>; .reg .s32 %s<4>; .reg .f16x2 %h<3>; .reg .u64 %u<2>; .local .b64 mine[2];\n"
        "ld.param.u64 %d0, [out]; ld.global.b32 %r0, words[1+1]; st.global.b32 [%d0], %r0; ld.global.b64 %d1, lines[3]; st.global.b64 [%d0+8], %d1;\n"
        "ld.const.u16 %r1, halves[3]; st.global.b32 [%d0+4], %r1; st.shared.b32 sums[2], %r1; ld.shared.b32 %r2, [sums+8]; st.global.b32 [%d0+16], %r2;\n"
        "st.local.b64 mine[1], %d1; ld.local.b64 %d2, [mine+8]; st.global.b64 [%d0+24], %d2; ld.param.b16 %r3, bytes[4]; st.global.b32 [%d0+20], %r3; st.b32 words[7], %r3;\n"
        "ld.global.v2.f32 {%s0, %s1}, [words+16]; st.global.v2.f32 [%d0+32], {%s1, %s0}; ld.global.s16 %h0, words[3]; st.global.b32 [%d0+40], %h0; st.global.u8 [%d0+44], %h0;\n"
        "ld.global.b32 %r0, [words+28]; st.global.b32 [%d0+48], %r0; ret; }\n";
    static const uint32_t expected[13] = {0x12, 33,         23,         0,          33,   0x605, 23,
                                          0,    0x3f800000, 0xbf800000, 0xffff80f3, 0xf3, 0x605};
    struct rig *rig = rig_open(text);
    uint32_t got[16];
    struct {
        void *out;
        uint8_t bytes[8];
    } params = {got, {1, 2, 3, 4, 5, 6, 7, 8}};
    for (rig_variant = 0; rig_variant < RIG_VARIANTS; rig_variant++) {
        memset(got, 0, sizeof got);
        rig_run(rig, "k", 1, 3, &params, sizeof params);
        assert_memory_equal(got, expected, sizeof expected);
    }
    rig_close(rig);
}

/* A variable's name without a space, whose place it is: in shared memory too, where the first lies at 0. red does
 * nothing in local memory, as on hardware. */
static void names_without_space(void **unused)
{
    (void)unused;
    static const char text[] =
        ".version 8.6\n.target sm_90\n.address_size 64\n.shared .align 8 .b32 sums[4];\n.global .b32 word;\n"
        ".visible .entry k(.param .u64 out) .explicitcluster .reqnctapercluster 1 { .reg .b32 %r<8>; .reg .f32 %f<3>; .reg .b64 %d; .reg .pred %p; .local .align 8 .b32 mine[2];\n"
        "ld.param.u64 %d, [out]; mov.b32 %r0, 41; st.b32 [sums], %r0; st.v2.b32 [sums+8], {%r0, %r0}; ld.shared.b32 %r1, [sums]; ld.b32 %r2, [sums]; ld.volatile.u16 %r3, [sums+12];\n"
        "st.shared.b32 [sums+4], %r0; atom.add.u32 %r4, [sums+4], 2; red.max.u32 [sums+4], 5; ld.b32 %r5, sums[1]; atom.cas.b32 %r6, [sums+12], 41, 7; ld.shared.b32 %r6, [sums+12];\n"
        "st.b32 [mine], %r0; red.add.u32 [mine], 1; ld.local.b32 %r7, [mine]; st.global.v4.b32 [%d], {%r1, %r2, %r3, %r4}; st.global.v4.b32 [%d+16], {%r5, %r6, %r7, %r0};\n"
        "st.b32 [word], %r0; ld.b32 %r1, [word]; mov.pred %p, %is_explicit_cluster; selp.u32 %r2, 1, 0, %p; st.global.v2.b32 [%d+32], {%r1, %r2}; ret; }\n";
    static const uint32_t expected[10] = {41, 41, 41, 41, 43, 7, 41, 41, 41, 1};
    struct rig *rig = rig_open(text);
    uint32_t got[12] __attribute__((aligned(16)));
    void *param = got;
    for (rig_variant = 0; rig_variant < RIG_VARIANTS; rig_variant++) {
        memset(got, 0, sizeof got);
        rig_run(rig, "k", 1, 1, &param, sizeof param);
        assert_memory_equal(got, expected, sizeof expected);
    }
    rig_close(rig);
}

static void calls(void **unused)
{
    (void)unused;
    struct rig *rig = rig_open(
        HEAD
        ".func (.reg .b32 r) in_registers (.reg .b32 a, .reg .b32 b)\n{\n.reg .pred %p;\nsetp.gt.u32 %p, a, b; mov.u32 r, 1; @%p ret; sub.u32 r, b, a; ret;\n}\n"
        ".func leaves (.param .b32 a)\n{\n.reg .b32 %x; .reg .pred %p;\nld.param.b32 %x, [a]; and.b32 %x, %x, 3; setp.eq.u32 %p, %x, 2; @%p exit; ret;\n}\n"
        ".func (.param .align 8 .b8 r[16]) turns (.param .align 8 .b8 a[16], .param .b64 b)\n{\n.reg .b64 %d<4>;\nld.param.b64 %d0, [a]; ld.param.b64 %d1, [a+8];\n"
        "ld.param.b64 %d2, [b]; add.u64 %d0, %d0, %d2; st.param.v2.b64 [r], {%d1, %d0}; ret;\n}\n" ENTRY(
            "kernel", ".reg .b32 %a<9>; .reg .b64 %p, %q, %d<6>; .reg .pred %c;",
            "mul.wide.u32 %o, %t, 4; add.u64 %p, %in, %o; add.u64 %q, %out, %o; ld.global.u32 %a1, [%p]; and.b32 %a1, %a1, 31; call.uni (%a2), in_registers, (%a1, 12);\n"
            "{ .param .b32 x; st.param.b32 [x], %t; call.uni leaves, (x); }\n"
            "{ .param .align 8 .b8 x[16]; .param .b64 y; .param .align 8 .b8 z[16]; cvt.u64.u32 %d1, %t; st.param.b64 [x], %d1; cvt.u64.u32 %d2, %a2;\n"
            "st.param.b64 [x+8], %d2; st.param.b64 [y], %d2; setp.lt.u32 %c, %a1, 16; @!%c bra over; call.uni (z), turns, (x, y);\n"
            "ld.param.v2.b64 {%d3, %d4}, [z]; mad.lo.u64 %d5, %d3, 1000, %d4; cvt.u32.u64 %a3, %d5; bra done; }\nover: mov.u32 %a3, 5;\ndone: st.global.u32 [%q], %a3;")
            ENTRY(
                "table", ".reg .b32 %a<9>; .reg .b64 %q; .reg .pred %c;",
                "and.b32 %a1, %t, 3; mov.u32 %a2, 0;\nts: .branchtargets L0, L1, L2, L1;\nbrx.idx %a1, ts;\nL0: add.u32 %a2, %a2, 1;\nL1: add.u32 %a2, %a2, 10; bra E;\n"
                "L2: mov.u32 %a2, 77;\nE: mul.wide.u32 %o, %t, 4; add.u64 %q, %out, %o; st.global.u32 [%q], %a2;"));
    FOR_VARIANTS {
        start();
        launch(rig, "kernel", 75, 0);
        for (uint32_t t = 0; t < 75; t++) {
            uint32_t a = in[t] & 31, r = a > 12 ? 1 : 12 - a;
            assert_int_equal(out[t], (t & 3) == 2 ? 0xdeadbeef : a < 16 ? r * 1000 + t + r : 5);
        }
        start();
        launch(rig, "table", 75, 0);
        for (uint32_t t = 0; t < 75; t++)
            assert_int_equal(out[t], (t & 3) == 0 ? 11 : (t & 3) == 2 ? 77 : 10);
    }
    rig_close(rig);
}

/* Predicates as parameters and results, negated too, in calls that stay calls: direct ones and through a pointer. */
static void passing_predicates(void **unused)
{
    (void)unused;
    struct rig *rig = rig_open(
        HEAD
        ".func (.reg .pred o, .reg .b32 n) both(.reg .pred a, .reg .b32 x, .reg .pred b)\n{\nmov.u32 n, x; @a add.u32 n, n, 1000; xor.pred o, a, b; @o ret; add.u32 n, n, 5; ret;\n}\n"
        ".global .u64 table[1] = {both};\n" ENTRY(
            "kernel", ".reg .b32 %a<9>; .reg .b64 %q, %f; .reg .pred %c<4>;",
            "P: .callprototype (.reg .pred _, .reg .b32 _) _ (.reg .pred _, .reg .b32 _, .reg .pred _); ld.global.u64 %f, [table];\n"
            "and.b32 %a0, %t, 1; setp.ne.u32 %c0, %a0, 0; and.b32 %a0, %t, 2; setp.ne.u32 %c1, %a0, 0; call (%c2, %a1), both, (%c0, %t, %c1); selp.u32 %a2, 100000, 0, %c2; add.u32 %a1, %a1, %a2;\n"
            "call (%c3, %a3), %f, (!%c0, 7, %c1), P; selp.u32 %a2, 1000000, 0, %c3; add.u32 %a1, %a1, %a2; mad.lo.u32 %a1, %a3, 10000000, %a1;\n"
            "mul.wide.u32 %o, %t, 4; add.u64 %q, %out, %o; st.global.u32 [%q], %a1;"));
    FOR_VARIANTS {
        start();
        launch(rig, "kernel", 75, 0);
        for (uint32_t t = 0; t < 75; t++) {
            uint32_t a = t & 1, b = t >> 1 & 1, one = t + a * 1000 + (a != b ? 100000 : 5),
                     other = 7 + (1 - a) * 1000 + (a == b ? 0 : 5);
            assert_int_equal(out[t], one + other * 10000000 + (a == b ? 1000000 : 0));
        }
    }
    rig_close(rig);
}

/* A bad pointer ends the launch, whatever kind of access it is. */
static void bad_addresses(void **unused)
{
    (void)unused;
    struct rig *rig = rig_open(
        HEAD ENTRY("uniform", ".reg .b32 %a;", "ld.global.u32 %a, [%in]; st.global.u32 [%out], %a;") ENTRY(
            "wide", ".reg .b32 %a; .reg .b64 %p;",
            "mul.wide.u32 %o, %t, 4; add.u64 %p, %in, %o; ld.global.u32 %a, [%p]; st.global.u32 [%out], %a;")
            ENTRY(
                "gather", ".reg .b32 %a; .reg .b64 %p;",
                "mul.lo.u32 %a, %t, %t; mul.wide.u32 %o, %a, 4; add.u64 %p, %in, %o; ld.global.u32 %a, [%p]; st.global.u32 [%out], %a;")
                ENTRY("call", ".reg .b32 %a; .reg .b64 %p;", "P: .callprototype _ (); call %in, (), P;"));
    static const char *const names[] = {"uniform", "wide", "gather"};
    struct {
        void *in, *out;
        uint32_t n;
    } params = {(void *)0x10, out, 0};
    unsigned grid[3] = {2, 1, 1}, block[3] = {64, 1, 1};
    FOR_VARIANTS {
        for (unsigned i = 0; i < 3; i++)
            assert_int_equal(rig_launch(rig, names[i], grid, block, 0, &params, 20), CUDA_ERROR_ILLEGAL_ADDRESS);
        assert_int_not_equal(rig_launch(rig, "call", grid, block, 0, &params, 20), CUDA_SUCCESS);
    }
    rig_close(rig);
}

/* An address that is no multiple of the access's size ends the launch if its lane takes part, and only then. `n` is the
 * odd lane, and is what its address is off by in the kernels where all lanes are. */
static void misaligned_addresses(void **unused)
{
    (void)unused;
#define ODD_LANE \
    "mul.lo.u32 %a, %t, %t; mul.wide.u32 %o, %a, 16; add.u64 %p, %in, %o; setp.eq.u32 %c, %t, %n; selp.u64 %d, 4, 0, %c; add.u64 %p, %p, %d;\n"
#define STEPS "cvt.u64.u32 %d, %n; mul.wide.u32 %o, %t, 8; add.u64 %p, %in, %o; add.u64 %p, %p, %d;\n"
#define REGISTERS ".reg .b32 %a<4>, %a; .reg .b64 %p, %d, %d<3>; .reg .pred %c;"
    struct rig *rig = rig_open(
        HEAD ENTRY("gather", REGISTERS, ODD_LANE "ld.global.u64 %d1, [%p];") ENTRY(
            "scatter", REGISTERS,
            ODD_LANE
            "st.global.u64 [%p], %d;") ENTRY("quad", REGISTERS, ODD_LANE "ld.global.v4.u32 {%a0, %a1, %a2, %a3}, [%p];")
            ENTRY("atomic", REGISTERS, ODD_LANE "atom.global.add.u64 %d1, [%p], 1;") ENTRY(
                "steps", REGISTERS, STEPS "ld.global.u64 %d1, [%p];") ENTRY("store_steps", REGISTERS,
                                                                            STEPS "st.global.u64 [%p], %d;")
                ENTRY("uniform", REGISTERS, "cvt.u64.u32 %d, %n; add.u64 %p, %in, %d; ld.global.u64 %d1, [%p];") ENTRY(
                    "reduce", REGISTERS, "cvt.u64.u32 %d, %n; add.u64 %p, %in, %d; red.global.add.u64 [%p], 1;")
                    ENTRY("shared", REGISTERS " .shared .align 16 .b8 s[1024];",
                          "mov.u64 %p, s; cvt.u64.u32 %d, %n; add.u64 %p, %p, %d; ld.shared.u64 %d1, [%p];")
                        ENTRY(
                            "generic", REGISTERS " .shared .align 16 .b8 s[1024];",
                            "mov.u64 %p, s; cvta.shared.u64 %p, %p; cvt.u64.u32 %d, %n; add.u64 %p, %p, %d; ld.u64 %d1, [%p];")
                            ENTRY("guarded", REGISTERS,
                                  ODD_LANE "@!%c ld.global.u64 %d1, [%p]; @!%c st.global.u64 [%p], %d;")
                                ENTRY(
                                    "passed", REGISTERS,
                                    ODD_LANE
                                    "@%c bra over; atom.global.add.u64 %d1, [%p], 1; ld.global.v2.u64 {%d1, %d2}, [%p];\nover:")
                                    ENTRY("halves", REGISTERS,
                                          ODD_LANE "ld.global.v2.u16 {%a0, %a1}, [%p]; ld.global.u32 %a2, [%p];"));
    static const char *const bad[] = {"gather",      "scatter", "quad",   "atomic", "steps",
                                      "store_steps", "uniform", "reduce", "shared", "generic"};
    static const char *const good[] = {"guarded", "passed", "halves"};
    struct {
        void *in, *out;
        uint32_t n;
    } params = {in, out, 4}, none = {in, out, 64};
    unsigned grid[3] = {1, 1, 1}, block[3] = {21, 1, 1};
    FOR_VARIANTS {
        for (unsigned i = 0; i < sizeof bad / sizeof *bad; i++) {
            start();
            assert_int_equal(rig_launch(rig, bad[i], grid, block, 0, &params, 20), CUDA_ERROR_MISALIGNED_ADDRESS);
            assert_int_equal(rig_launch(rig, bad[i], grid, block, 0, &none, 20), CUDA_SUCCESS);
        }
        for (unsigned i = 0; i < sizeof good / sizeof *good; i++)
            assert_int_equal(rig_launch(rig, good[i], grid, block, 0, &params, 20), CUDA_SUCCESS);
    }
    rig_close(rig);
}

/* Addresses in .const of 32 bits: the same in all lanes, one for each, among several variables, widened again, generic,
 * and passed on. */
static void narrow_constants(void **unused)
{
    (void)unused;
    struct rig *rig = rig_open(
        HEAD
        ".const .align 4 .u32 ca[8] = {10, 11, 12, 13, 14, 15, 16, 17};\n.const .u64 cb = 99;\n.shared .align 4 .u32 sv[2];\n.const .align 4 .u32 cc[4] = {20, 21, 22, 23};\n"
        ".func (.reg .u32 r) read (.reg .u32 a) { ld.const.u32 r, [a+8]; ret; }\n" ENTRY(
            "narrow", ".reg .b32 %a<9>; .reg .b64 %p, %q; .reg .pred %c;",
            "mul.wide.u32 %o, %t, 32; add.u64 %q, %out, %o; mov.u32 %a0, ca; ld.const.u32 %a1, [%a0+4]; st.global.u32 [%q], %a1;\n"
            "and.b32 %a2, %t, 7; mad.lo.u32 %a3, %a2, 4, %a0; ld.const.u32 %a1, [%a3]; st.global.u32 [%q+4], %a1;\n"
            "mov.u32 %a4, cc+4; setp.lt.u32 %c, %t, 5; selp.u32 %a4, %a4, %a0, %c; ld.const.u32 %a1, [%a4+8]; st.global.u32 [%q+8], %a1;\n"
            "mov.u32 %a5, cb; cvt.u64.u32 %p, %a5; ld.const.u32 %a1, [%p]; st.global.u32 [%q+12], %a1;\n"
            "cvta.const.u64 %p, %p; ld.u32 %a1, [%p]; st.global.u32 [%q+16], %a1;\n"
            "mov.u64 %p, cc; cvt.u32.u64 %a6, %p; call (%a1), read, (%a6); st.global.u32 [%q+20], %a1;\n"
            "mov.u64 %p, cc; ld.const.u32 %a1, [%p+12]; st.global.u32 [%q+24], %a1; st.shared.u32 [sv+4], 21; cvta.to.shared.u64 %p, sv+4; ld.shared.u32 %a1, [%p]; st.global.u32 [%q+28], %a1;"));
    FOR_VARIANTS {
        start();
        launch(rig, "narrow", 45, 0);
        for (uint32_t t = 0; t < 45; t++) {
            const uint32_t want[] = {11, 10 + t % 8, t < 5 ? 23 : 12, 99, 99, 22, 23, 21};
            assert_memory_equal(&out[t * 8], want, sizeof want);
        }
    }
    rig_close(rig);
}

/* Where nothing is, and code generation knows it: a fault like any other, and no licence to leave the kernel out. */
static void address_zero(void **unused)
{
    (void)unused;
    static const char text[] =
        ".version 8.8\n.target sm_80\n.address_size 64\n"
        ".func stores(.param .b64 p) { .reg .b64 %p; ld.param.b64 %p, [p]; st.u32 [%p], 1; ret; }\n"
        ".visible .entry store(.param .u64 to) { .reg .b64 %a; mov.u64 %a, 0; st.global.u32 [%a], 1; ret; }\n"
        ".visible .entry load(.param .u64 to) { .reg .b64 %a; .reg .b32 %x; mov.u64 %a, 0; ld.global.u32 %x, [%a+8]; ld.param.u64 %a, [to]; st.global.u32 [%a], %x; ret; }\n"
        ".visible .entry never_written(.param .u64 to) { .reg .b64 %a; st.global.u32 [%a], 1; ret; }\n"
        ".visible .entry by_function(.param .u64 to) { .param .b64 a; .reg .b64 %a; mov.u64 %a, 0; st.param.b64 [a], %a; call stores, (a); ret; }\n";
    static const char *const names[] = {"store", "load", "never_written", "by_function"};
    unsigned grid[3] = {1, 1, 1}, block[3] = {32, 1, 1};
    struct rig *rig = rig_open(text);
    void *to = out;
    FOR_VARIANTS
        for (unsigned i = 0; i < sizeof names / sizeof *names; i++)
            assert_int_equal(rig_launch(rig, names[i], grid, block, 0, &to, sizeof to), CUDA_ERROR_ILLEGAL_ADDRESS);
    rig_close(rig);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(vectors_of_elements),  cmocka_unit_test(strides_of_parameters), cmocka_unit_test(variables),
        cmocka_unit_test(named_otherwise),      cmocka_unit_test(names_without_space),   cmocka_unit_test(calls),
        cmocka_unit_test(passing_predicates),   cmocka_unit_test(bad_addresses),         cmocka_unit_test(address_zero),
        cmocka_unit_test(misaligned_addresses), cmocka_unit_test(narrow_constants)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
