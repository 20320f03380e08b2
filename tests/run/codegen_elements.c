/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Elements of arrays at an index in a register, a[%r1+2], in every space: index and constant count elements of the
 * declared type, whatever the access's, in 32 bits without a sign. What each kernel gives was compared with an H100.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "codegen_rig.h"

#define THREADS 64u

/* %t is the thread, %i the thread modulo 8; %r goes out. */
#define KERNEL(name, body) \
    ".visible .entry " name "(.param .u64 out, .param .align 8 .b32 given[8])\n{\n" \
    ".reg .b32 %t, %i, %r, %a<10>; .reg .s32 %s<4>; .reg .b16 %h<4>; .reg .b64 %d<6>; .reg .pred %p<3>; .local .align 8 .b32 own[8];\n" \
    "mov.u32 %t, %tid.x; and.b32 %i, %t, 7; mov.u32 %r, 0;\n" body \
    "\nld.param.u64 %d0, [out]; mul.wide.u32 %d1, %t, 4; add.u64 %d0, %d0, %d1; st.global.u32 [%d0], %r;\nret;\n}\n"

static const char text[] =
    ".version 8.0\n.target sm_80\n.address_size 64\n"
    ".global .align 8 .b32 words[8] = {10, 11, 12, 13, 14, 15, 16, 17};\n.global .align 8 .b8 bytes[16] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};\n"
    ".global .align 8 .b64 longs[8] = {0x1500000020, 0x1600000021, 0x1700000022, 0x1800000023, 0x1900000024, 0x1a00000025, 0x1b00000026, 0x1c00000027};\n"
    ".global .align 16 .v4 .b32 fours[2] = {{1, 2, 3, 4}, {5, 6, 7, 8}};\n.global .align 8 .b32 stored[64];\n.global .align 4 .b32 plane[2][4] = {{1, 2, 3, 4}, {5, 6, 7, 8}};\n"
    ".const .align 8 .b32 fixed[8] = {20, 21, 22, 23, 24, 25, 26, 27};\n.shared .align 8 .b32 tile[64];\n"
    ".func (.param .b32 r) one (.param .b32 a) { .reg .b32 %x; ld.param.b32 %x, [a]; add.u32 %x, %x, 1; st.param.b32 [r], %x; ret; }\n"
    ".func (.param .b32 r) two (.param .b32 a) { .reg .b32 %x; ld.param.b32 %x, [a]; add.u32 %x, %x, 200; st.param.b32 [r], %x; ret; }\n"
    ".global .align 8 .u64 callables[2] = {one, two};\n"
    ".func (.param .align 8 .b32 r[2]) pick (.param .align 8 .b32 a[4], .param .b32 i)\n{ .reg .b32 %x, %i, %j; ld.param.b32 %i, [i]; ld.param.b32 %x, a[%i]; and.b32 %j, %i, 1; "
    "st.param.b32 r[%j], %x; xor.b32 %j, %j, 1; st.param.b32 r[%j], 100; ret; }\n"

    KERNEL("global", "ld.global.u32 %r, words[%i];")
KERNEL("ahead", "and.b32 %i, %i, 3; ld.global.u32 %r, words[%i+3];")
KERNEL("behind", "or.b32 %i, %i, 1; ld.global.u32 %r, words[%i+-1];")
KERNEL("negative", "sub.s32 %s1, %i, 8; ld.global.u32 %r, words[%s1+8];")
KERNEL("cut", "cvt.u64.u32 %d2, %i; or.b64 %d2, %d2, 0x500000000; ld.global.u32 %r, words[%d2];")
KERNEL("wrapped", "or.b32 %a1, %i, 0x40000000; ld.global.u32 %r, words[%a1];")
KERNEL("short", "cvt.u16.u32 %h1, %i; ld.global.u32 %r, words[%h1];")
KERNEL("special", "ld.global.u32 %r, stored[%laneid]; add.u32 %r, %r, 3;")
KERNEL("wide_element", "ld.global.u32 %r, longs[%i];")
KERNEL("wide_access", "and.b32 %a1, %i, 6; ld.global.v2.u32 {%a2, %a3}, words[%a1]; mad.lo.u32 %r, %a2, 100, %a3;")
KERNEL("byte_element", "and.b32 %a1, %i, 4; ld.global.u32 %r, bytes[%a1+4];")
KERNEL("of_vectors", "ld.global.u32 %r, fours[%i];")
KERNEL("of_rows", "ld.global.u32 %r, plane[%i];")
KERNEL("generic", "ld.u32 %r, words[%i];")
KERNEL(
    "address",
    "mov.u64 %d2, words[%i+1]; ld.global.u32 %r, [%d2+-4]; cvta.global.u64 %d3, words[%i]; ld.u32 %a1, [%d3]; mad.lo.u32 %r, %a1, 100, %r;")
KERNEL("same_for_all", "mov.u32 %a1, %ntid.x; shr.u32 %a1, %a1, 5; ld.global.u32 %r, words[%a1+1];")
KERNEL("const", "ld.const.u32 %r, fixed[%i];")
KERNEL("param", "ld.param.u32 %r, given[%i];")
KERNEL("shared", "st.shared.u32 tile[%t], %t; bar.sync 0; xor.b32 %a1, %t, 37; ld.shared.u32 %r, tile[%a1];")
KERNEL(
    "shared_generic",
    "st.u32 tile[%t], %t; bar.sync 0; sub.s32 %s1, 0, %t; ld.u32 %r, tile[%s1+63]; mov.u32 %a2, tile[%s1+63]; ld.shared.u32 %a3, [%a2]; mad.lo.u32 %r, %a3, 100, %r;")
KERNEL(
    "local",
    "mov.u32 %a1, 0;\nnext: mul.lo.u32 %a2, %a1, %t; st.local.u32 own[%a1], %a2; add.u32 %a1, %a1, 1; setp.lt.u32 %p1, %a1, 8; @%p1 bra next;\n"
    "ld.local.u32 %r, own[%i]; sub.u32 %a3, 0, %i; ld.local.u32 %a4, own[%a3+7]; mad.lo.u32 %r, %r, 1000, %a4;")
KERNEL(
    "local_vector",
    "st.local.v2.u32 [own], {1, %t}; st.local.v2.u32 [own+8], {3, 4}; and.b32 %a1, %t, 1; shl.b32 %a1, %a1, 1; st.local.v2.u32 own[%a1+4], {%t, 7}; "
    "ld.local.v2.u32 {%a2, %a3}, own[%a1]; ld.local.u32 %a4, own[%a1+4]; mad.lo.u32 %r, %a2, 1000, %a3; add.u32 %r, %r, %a4;")
KERNEL(
    "guarded",
    "mov.u32 %r, 5; setp.lt.u32 %p1, %i, 4; @%p1 ld.global.u32 %r, words[%i]; mov.u32 %a1, 9; @!%p1 st.global.u32 stored[%t], %a1; @!%p1 ld.global.u32 %r, stored[%t]; @!%p1 st.global.u32 stored[%t], 0;")
KERNEL(
    "called",
    "and.b32 %a1, %t, 1; ld.global.u64 %d2, callables[%a1];\n{ .param .b32 a; .param .b32 r; proto: .callprototype (.param .b32 _) _ (.param .b32 _);\n"
    "st.param.b32 [a], %t; call (r), %d2, (a), proto; ld.param.b32 %r, [r]; }")
KERNEL(
    "passed",
    "{ .param .align 8 .b32 a[4]; .param .b32 i; .param .align 8 .b32 r[2]; and.b32 %a1, %t, 3; st.param.b32 [a], 40; st.param.b32 [a+4], 41; st.param.b32 [a+8], 42; "
    "st.param.b32 [a+12], 43; st.param.b32 [i], %a1; call (r), pick, (a, i); ld.param.b32 %a2, [r]; ld.param.b32 %a3, [r+4]; mad.lo.u32 %r, %a2, 1000, %a3; }")
    /* Almost 4 GiB behind the array, where nothing is. */
KERNEL("far", "mov.u32 %a1, -1; ld.global.u32 %r, words[%a1];")
KERNEL("far_constant", "ld.global.u32 %r, words[-1];");

static uint32_t out[THREADS];

struct params {
    void *out;
    uint32_t given[8];
};

static const struct params params = {out, {30, 31, 32, 33, 34, 35, 36, 37}};

static uint32_t word(uint32_t i)
{
    return 10 + i;
}
static uint32_t global(uint32_t t)
{
    return word(t % 8);
}
static uint32_t ahead(uint32_t t)
{
    return word(t % 4 + 3);
}
static uint32_t behind(uint32_t t)
{
    return word((t % 8 | 1) - 1);
}
static uint32_t special(uint32_t t)
{
    (void)t;
    return 3;
}
static uint32_t wide_element(uint32_t t)
{
    return 0x20 + t % 8;
}
static uint32_t wide_access(uint32_t t)
{
    return word(t & 6) * 100 + word((t & 6) + 1);
}
static uint32_t byte_element(uint32_t t)
{
    return t & 4 ? 0x0b0a0908 : 0x07060504;
}
static uint32_t counted(uint32_t t)
{
    return t % 8 + 1;
}
static uint32_t address(uint32_t t)
{
    return word(t % 8) * 101;
}
static uint32_t same_for_all(uint32_t t)
{
    (void)t;
    return word(3);
}
static uint32_t constant(uint32_t t)
{
    return 20 + t % 8;
}
static uint32_t param(uint32_t t)
{
    return 30 + t % 8;
}
static uint32_t shared(uint32_t t)
{
    return t ^ 37;
}
static uint32_t shared_generic(uint32_t t)
{
    return (63 - t) * 101;
}
static uint32_t local(uint32_t t)
{
    return t % 8 * t * 1000 + (7 - t % 8) * t;
}
static uint32_t local_vector(uint32_t t)
{
    return (t & 1 ? 3004 : 1000 + t) + t;
}
static uint32_t guarded(uint32_t t)
{
    return t % 8 < 4 ? word(t % 8) : 9;
}
static uint32_t called(uint32_t t)
{
    return t + (t & 1 ? 200 : 1);
}
static uint32_t passed(uint32_t t)
{
    return t & 1 ? 100 * 1000 + 40 + t % 4 : (40 + t % 4) * 1000 + 100;
}

static void elements(void **state)
{
    static const struct {
        const char *entry;
        uint32_t (*expected)(uint32_t thread);
    } kernels[] = {
        {"global", global},
        {"ahead", ahead},
        {"behind", behind},
        {"negative", global},
        {"cut", global},
        {"wrapped", global},
        {"short", global},
        {"special", special},
        {"wide_element", wide_element},
        {"wide_access", wide_access},
        {"byte_element", byte_element},
        {"of_vectors", counted},
        {"of_rows", counted},
        {"generic", global},
        {"address", address},
        {"same_for_all", same_for_all},
        {"const", constant},
        {"param", param},
        {"shared", shared},
        {"shared_generic", shared_generic},
        {"local", local},
        {"local_vector", local_vector},
        {"guarded", guarded},
        {"called", called},
        {"passed", passed},
    };
    (void)state;
    struct rig *rig = rig_open(text);
    for (size_t i = 0; i < sizeof kernels / sizeof kernels[0]; i++)
        for (rig_variant = 0; rig_variant < RIG_VARIANTS; rig_variant++) {
            memset(out, 0xee, sizeof out);
            rig_run(rig, kernels[i].entry, 1, THREADS, &params, sizeof params);
            for (uint32_t t = 0; t < THREADS; t++)
                if (out[t] != kernels[i].expected(t))
                    fail_msg("%s, variant %u, thread %u: %u, not %u", kernels[i].entry, rig_variant, t, out[t],
                             kernels[i].expected(t));
        }
    rig_close(rig);
}

static void far_behind(void **state)
{
    (void)state;
    struct rig *rig = rig_open(text);
    for (rig_variant = 0; rig_variant < RIG_VARIANTS; rig_variant++) {
        assert_int_equal(
            rig_launch(rig, "far", (unsigned[3]){1, 1, 1}, (unsigned[3]){1, 1, 1}, 0, &params, sizeof params),
            CUDA_ERROR_ILLEGAL_ADDRESS);
        assert_int_equal(
            rig_launch(rig, "far_constant", (unsigned[3]){1, 1, 1}, (unsigned[3]){1, 1, 1}, 0, &params, sizeof params),
            CUDA_ERROR_ILLEGAL_ADDRESS);
    }
    rig_close(rig);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(elements), cmocka_unit_test(far_behind)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
