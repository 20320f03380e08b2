/* SPDX-License-Identifier: Apache-2.0 */

/*
 * What targets above sm_90 have without being named after one: arithmetic of pairs of f32, of f32 with halves, the
 * least of three, accesses of 256 bits. No hardware of such a target was there to ask, so each is compared with the
 * instructions that the manual says it stands for, which were compared with hardware.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "codegen_rig.h"

#define HEAD ".version 9.1\n.target sm_100\n.address_size 64\n"
#define KERNEL(name) \
    ".visible .entry " name "(.param .u64 pin, .param .u64 pout, .param .u32 pn)\n{\n" \
    ".reg .b32 %t, %s, %n, %a<30>; .reg .b64 %in, %out, %o, %d<20>; .reg .pred %p<8>; .reg .f32 %f<30>; .reg .b16 %h<20>; .reg .b128 %q<4>; .reg .f64 %g<8>;\n" \
    "ld.param.u64 %in, [pin]; ld.param.u64 %out, [pout]; ld.param.u32 %n, [pn]; mov.u32 %t, %tid.x; mov.u32 %a0, %ctaid.x; mad.lo.u32 %t, %a0, 128, %t;\n"
#define END "ret; }\n"
#define THREADS 256u

static uint32_t in[THREADS * 8] __attribute__((aligned(64)));
static uint32_t out[THREADS * 8] __attribute__((aligned(64)));

static const uint32_t edges[] = {0x00000000, 0x80000000, 0x3f800000, 0xbf800001, 0x00000001, 0x807fffff,
                                 0x00800000, 0x7f7fffff, 0xff7fffff, 0x7f800000, 0xff800000, 0x7fc12345,
                                 0x7f800001, 0x33800000, 0x3f7fffff, 0x4b000001};

static void fill(void)
{
    uint64_t state = 88172645463325252u;
    for (uint32_t i = 0; i < THREADS * 8; i++) {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        in[i] = state >> 60 < 8 ? edges[state >> 40 & 15] : (uint32_t)state;
    }
    memset(out, 0xee, sizeof out);
}

static void run(struct rig *rig, const char *entry, uint32_t n)
{
    struct {
        uint32_t *in, *out;
        uint32_t n;
    } params = {in, out, n};
    rig_run(rig, entry, 2, 128, &params, 20);
}

/* Both ways of a kernel leave the same: words 0 and 1 of a thread's eight by one, 2 and 3 by the other. */
static void same(const char *what, const char *text)
{
    static char whole[16384];
    snprintf(
        whole, sizeof whole,
        "%s"
        "mul.wide.u32 %%o, %%t, 32; add.u64 %%d0, %%in, %%o; add.u64 %%o, %%o, %%out;\n"
        "ld.global.v4.u32 {%%a1, %%a2, %%a3, %%a4}, [%%d0]; ld.global.v4.u32 {%%a5, %%a6, %%a7, %%a8}, [%%d0+16];\n"
        "mov.b64 %%d1, {%%a1, %%a2}; mov.b64 %%d2, {%%a3, %%a4}; mov.b64 %%d3, {%%a5, %%a6}; mov.b32 {%%h1, %%h2}, %%a1; mov.b32 {%%h3, %%h4}, %%a2;\n"
        "mov.b32 %%f1, %%a1; mov.b32 %%f2, %%a2; mov.b32 %%f3, %%a3; mov.b32 %%f4, %%a4; mov.b32 %%f5, %%a5; mov.b32 %%f6, %%a6; setp.gt.s32 %%p1, %%a8, 0;\n"
        "mov.b64 %%d4, 7; mov.f32 %%f10, 0f00000001; mov.f32 %%f11, 0f00000002; mov.f32 %%f20, %%f10; mov.f32 %%f21, %%f11;\n"
        "%s\nst.global.v4.f32 [%%o], {%%f10, %%f11, %%f20, %%f21};\n" END,
        HEAD KERNEL("k"), text);
    struct rig *rig = rig_open(whole);
    for (rig_variant = 0; rig_variant < RIG_VARIANTS; rig_variant++) {
        fill();
        run(rig, "k", 0);
        for (uint32_t t = 0; t < THREADS; t++)
            if (memcmp(&out[t * 8], &out[t * 8 + 2], 8) != 0)
                fail_msg("%s, variant %u, thread %u: %08x %08x, not %08x %08x", what, rig_variant, t, out[t * 8],
                         out[t * 8 + 1], out[t * 8 + 2], out[t * 8 + 3]);
    }
    rig_close(rig);
}

static void pairs_of_floats(void **unused)
{
    (void)unused;
    static const char *const operations[] = {"add", "sub", "mul", "fma"}, *const ways[] = {".rn", ".rz",     ".rm",
                                                                                           ".rp", ".rn.ftz", ".rp.ftz",
                                                                                           "",    ".ftz"};
    for (unsigned op = 0; op < 4; op++)
        for (unsigned way = 0; way < (op == 3 ? 6 : 8); way++) {
            char text[1024];
            const char *third = op == 3 ? ", %d3" : "", *low = op == 3 ? ", %f5" : "", *high = op == 3 ? ", %f6" : "";
            snprintf(
                text, sizeof text,
                "%s%s.f32x2 %%d4, %%d1, %%d2%s; mov.b64 {%%f10, %%f11}, %%d4;\n%s%s.f32 %%f20, %%f1, %%f3%s; %s%s.f32 %%f21, %%f2, %%f4%s;",
                operations[op], ways[way], third, operations[op], ways[way], low, operations[op], ways[way], high);
            same(text, text);
        }
    same(
        "under a guard",
        "mov.b64 {%f20, %f21}, %d4; @%p1 add.rn.f32 %f20, %f1, %f3; @%p1 add.rn.f32 %f21, %f2, %f4; @%p1 add.rn.f32x2 %d4, %d1, %d2; mov.b64 {%f10, %f11}, %d4;");
    same(
        "in place",
        "add.rn.f32 %f20, %f1, %f1; add.rn.f32 %f21, %f2, %f2; add.rn.f32x2 %d1, %d1, %d1; mov.b64 {%f10, %f11}, %d1;");
}

static void halves_beside_floats(void **unused)
{
    (void)unused;
    static const char *const ways[] = {".rn", ".rz", ".rm.sat", ".rp", "", ".sat"}, *const halves[] = {"f16", "bf16"};
    for (unsigned half = 0; half < 2; half++)
        for (unsigned way = 0; way < 6; way++) {
            char text[1024];
            snprintf(
                text, sizeof text,
                "add%s.f32.%s %%f10, %%h1, %%f3; sub%s.f32.%s %%f11, %%h2, %%f4; cvt.f32.%s %%f7, %%h1; cvt.f32.%s %%f8, %%h2;\n"
                "add%s.f32 %%f20, %%f7, %%f3; sub%s.f32 %%f21, %%f8, %%f4;",
                ways[way], halves[half], ways[way], halves[half], halves[half], halves[half], ways[way], ways[way]);
            same(text, text);
            if (way >= 4)
                continue;
            snprintf(
                text, sizeof text,
                "fma%s.f32.%s %%f10, %%h1, %%h3, %%f3; fma%s.f32.%s %%f11, %%h2, %%h4, 0f3f800001; cvt.f32.%s %%f7, %%h1; cvt.f32.%s %%f8, %%h2;\n"
                "cvt.f32.%s %%f9, %%h3; cvt.f32.%s %%f12, %%h4; fma%s.f32 %%f20, %%f7, %%f9, %%f3; fma%s.f32 %%f21, %%f8, %%f12, 0f3f800001;",
                ways[way], halves[half], ways[way], halves[half], halves[half], halves[half], halves[half],
                halves[half], ways[way], ways[way]);
            same(text, text);
        }
}

static void least_of_three(void **unused)
{
    (void)unused;
    static const char *const ways[] = {"", ".ftz", ".NaN", ".ftz.NaN"};
    for (unsigned way = 0; way < 4; way++) {
        char text[1024];
        snprintf(
            text, sizeof text,
            "min%s.f32 %%f10, %%f1, %%f2, %%f3; max%s.f32 %%f11, %%f1, %%f2, 0fbf800000; min%s.f32 %%f20, %%f1, %%f2; min%s.f32 %%f20, %%f20, %%f3;\n"
            "max%s.f32 %%f21, %%f1, %%f2; max%s.f32 %%f21, %%f21, 0fbf800000;",
            ways[way], ways[way], ways[way], ways[way], ways[way], ways[way]);
        same(text, text);
        snprintf(
            text, sizeof text,
            "min%s.abs.f32 %%f10, %%f1, %%f2, %%f3; max%s.abs.f32 %%f11, %%f1, %%f2, %%f3; abs.f32 %%f1, %%f1; abs.f32 %%f2, %%f2; abs.f32 %%f3, %%f3;\n"
            "min%s.f32 %%f20, %%f1, %%f2; min%s.f32 %%f20, %%f20, %%f3; max%s.f32 %%f21, %%f1, %%f2; max%s.f32 %%f21, %%f21, %%f3;",
            ways[way], ways[way], ways[way], ways[way], ways[way], ways[way]);
        same(text, text);
    }
}

/* Eight words of a thread, to where a thread with another number has its own, in several orders. */
/* A volatile access of a thread's own memory is one like any other. */
static void volatile_locals(void **unused)
{
    (void)unused;
    same(
        "volatile in .local",
        "{ .local .align 8 .b32 own[4]; st.volatile.local.b32 [own], %a1; st.volatile.local.v2.b32 [own+8], {%a2, %a3};\n"
        "@%p1 st.volatile.local.b32 [own], %a4; ld.volatile.local.b32 %f10, [own]; ld.volatile.local.v2.b32 {%a9, %f11}, [own+8]; }\n"
        "mov.b32 %f20, %a1; @%p1 mov.b32 %f20, %a4; mov.b32 %f21, %a3;");
}

static void wide_accesses(void **unused)
{
    (void)unused;
    static const char *const words[] = {"%a10, %a11, %a12, %a13, %a14, %a15, %a16, %a17", "%d10, %d11, %d12, %d13",
                                        "%f10, %f11, %f12, %f13, %f14, %f15, %f16, %f17", "%g1, %g2, %g3, %g4"};
    static const struct {
        const char *load, *store;
        unsigned registers;
    } ways[] = {{"ld.global.v8.b32", "st.global.v8.b32", 0},
                {"ld.v8.u32", "st.v8.s32", 0},
                {"ld.global.nc.v4.b64", "st.global.v4.u64", 1},
                {"ld.global.v8.f32", "st.v8.f32", 2},
                {"ld.volatile.global.v4.f64", "st.volatile.global.v4.f64", 3},
                {"ld.acquire.gpu.global.v8.b32", "st.release.gpu.global.v8.b32", 0},
                {"ld.global.L1::evict_last.L2::evict_first.v8.b32", "st.global.L2::evict_last.v8.b32", 0}};
    for (unsigned way = 0; way < sizeof ways / sizeof *ways; way++) {
        char text[4096];
        snprintf(
            text, sizeof text,
            "%sxor.b32 %%a1, %%t, %%n; mul.wide.u32 %%o, %%t, 32; mul.wide.u32 %%d1, %%a1, 32; add.u64 %%o, %%o, %%out; add.u64 %%d1, %%d1, %%in;\n"
            "and.b32 %%a2, %%t, 7; setp.ne.u32 %%p1, %%a2, 5;\n%s {%s}, [%%d1];\n@%%p1 %s [%%o], {%s};\n" END
            "%smul.wide.u32 %%o, %%t, 32; add.u64 %%o, %%o, %%out; mov.u64 %%d1, %%in; %s {%s}, [%%d1+64]; %s [%%o], {%s};\n" END,
            HEAD KERNEL("k"), ways[way].load, words[ways[way].registers], ways[way].store, words[ways[way].registers],
            KERNEL("uniform"), ways[way].load, words[ways[way].registers], ways[way].store, words[ways[way].registers]);
        struct rig *rig = rig_open(text);
        for (rig_variant = 0; rig_variant < RIG_VARIANTS; rig_variant++) {
            for (uint32_t n = 0; n < 30; n += 29) {
                fill();
                run(rig, "k", n);
                for (uint32_t t = 0; t < THREADS; t++)
                    for (uint32_t i = 0; i < 8; i++)
                        if (out[t * 8 + i] != (t % 8 == 5 ? 0xeeeeeeee : in[(t ^ n) * 8 + i]))
                            fail_msg("%s, variant %u, thread %u, word %u", ways[way].load, rig_variant, t, i);
            }
            fill();
            run(rig, "uniform", 0);
            for (uint32_t t = 0; t < THREADS; t++)
                assert_memory_equal(&out[t * 8], &in[16], 32);
        }
        rig_close(rig);
    }
    struct rig *rig = rig_open(HEAD KERNEL(
        "k") "ld.global.v8.b32 {%a1, _, %a3, _, %a5, _, _, %a8}, [%in]; add.u32 %a1, %a1, %a3; add.u32 %a1, %a1, %a5; add.u32 %a1, %a1, %a8;\n"
             "mul.wide.u32 %o, %t, 32; add.u64 %o, %o, %out; st.global.v8.b32 [%o], {%a1, 1, 2, 3, 4, 5, 6, %t};\n" END);
    fill();
    rig_variant = 0;
    run(rig, "k", 0);
    assert_int_equal(out[8], in[0] + in[2] + in[4] + in[7]);
    assert_int_equal(out[8 + 6], 6);
    assert_int_equal(out[8 + 7], 1);
    rig_close(rig);
}

/* Zeros in shared and in global memory, each thread its own. */
static void zeros(void **unused)
{
    (void)unused;
    struct rig *rig = rig_open(HEAD ".shared .align 16 .b8 room[4096];\n" KERNEL(
        "k") "mov.u32 %a1, %tid.x; mov.u32 %s, room; mad.lo.u32 %s, %a1, 32, %s; mul.wide.u32 %o, %t, 32; add.u64 %o, %o, %out;\n"
             "mov.u64 %d5, -1; st.shared.v2.b64 [%s], {%d5, %d5}; st.shared.v2.b64 [%s+16], {%d5, %d5}; cvt.u64.u32 %d6, %n; st.bulk.weak.shared::cta [%s], %d6, 0;\n"
             "ld.shared.v2.b64 {%d1, %d2}, [%s]; ld.shared.v2.b64 {%d3, %d4}, [%s+16]; st.global.v4.b64 [%o], {%d1, %d2, %d3, %d4}; and.b32 %a2, %t, 3; setp.eq.u32 %p1, %a2, 1;\n"
             "@%p1 st.bulk [%o], 32, 0;\n" END);
    for (rig_variant = 0; rig_variant < RIG_VARIANTS; rig_variant++)
        for (uint32_t n = 0; n <= 32; n += 8) {
            fill();
            run(rig, "k", n);
            for (uint32_t i = 0; i < THREADS * 8; i++)
                assert_int_equal(out[i], i / 8 % 4 == 1 || i % 8 * 4 < n ? 0 : UINT32_MAX);
        }
    rig_close(rig);
}

static void what_is_refused(void **unused)
{
    (void)unused;
    static const struct {
        const char *statement, *expected;
    } wrong[] = {
        {"st.bulk.weak [%in], 60, 0;", "multiple of 8"},
        {"st.bulk [%in], %d1, 1;", "the value is 0"},
        {"add.sat.f32x2 %d1, %d2, %d3;", "'add.f32x2' takes a rounding"},
        {"fma.f32x2 %d1, %d2, %d3, %d4;", "needs a rounding"},
        {"add.f32x2 %d1, %d2, 1;", "registers of type '.b64'"},
        {"add.f32x2 %g1, %d2, %d3;", "registers of type '.b64'"},
        {"neg.f32x2 %d1, %d2;", "type '.f32x2' is not allowed"},
        {"add.f32.f16 %f1, %a1, %f2;", "register of 16 bits"},
        {"add.ftz.f32.f16 %f1, %h1, %f2;", "takes a rounding"},
        {"mul.f32.f16 %f1, %h1, %h2;", "too many types"},
        {"fma.f32.bf16 %f1, %h1, %h2, %f2;", "needs a rounding"},
        {"min.f64 %g1, %g2, %g3, %g4;", "of three numbers"},
        {"min.xorsign.abs.f32 %f1, %f2, %f3, %f4;", "of three numbers"},
        {"ld.shared.v8.b32 {%a1,%a2,%a3,%a4,%a5,%a6,%a7,%a8}, [%a9];", "for space '.global'"},
        {"ldu.global.v4.b64 {%d1,%d2,%d3,%d4}, [%in];", "up to 128 bits"},
        {"ld.global.L2::evict_last.b32 %a1, [%in];", "this cache hint is for"},
        {"ld.global.v8.b64 {%d1,%d2,%d3,%d4,%d5,%d6,%d7,%d8}, [%in];", "'.v8' needs a type"},
    };
    for (unsigned i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        char text[2048];
        snprintf(text, sizeof text, "%s%s\n%s", HEAD KERNEL("k"), wrong[i].statement, END);
        rig_refuses(text, wrong[i].expected);
    }
    rig_refuses(".version 8.8\n.target sm_90\n.address_size 64\n" KERNEL("k") "add.f32x2 %d1, %d2, %d3;\n" END,
                "sm_100");
    rig_refuses(".version 8.8\n.target sm_90\n.address_size 64\n" KERNEL(
                    "k") "ld.global.v4.b64 {%d1,%d2,%d3,%d4}, [%in];\n" END,
                "sm_100");
    rig_refuses(".version 8.7\n.target sm_100\n.address_size 64\n" KERNEL("k") "min.f32 %f1, %f2, %f3, %f4;\n" END,
                "PTX 8.8");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(pairs_of_floats), cmocka_unit_test(halves_beside_floats),
                                       cmocka_unit_test(least_of_three),  cmocka_unit_test(wide_accesses),
                                       cmocka_unit_test(volatile_locals), cmocka_unit_test(zeros),
                                       cmocka_unit_test(what_is_refused)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
