/* SPDX-License-Identifier: Apache-2.0 */

/*
 * alloca, stacksave and stackrestore: sizes that differ from lane to lane, loops
 * that give back what they took, functions that leave it to their end, guards,
 * alignment, and too much. Then isspacep in .const space, and a function whose last
 * parameter is an array of any size.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "codegen_rig.h"

#define THREADS 96

static const char text[] =
    ".version 8.0\n.target sm_80\n.address_size 64\n"
    ".const .align 4 .u32 bank[4] = {1, 2, 3, 4};\n.const .align 4 .u32 other = 5;\n.global .align 4 .u32 plain;\n"

    /* Sum of 1 to n by way of n words from alloca: fill(n). */
    ".func (.param .b32 result) fill(.param .b32 n)\n{\n"
    "    .reg .b32 %r<8>; .reg .b64 %d<6>; .reg .pred %p;\n"
    "    ld.param.u32 %r1, [n]; mul.wide.u32 %d1, %r1, 4; alloca.u64 %d2, %d1;\n"
    "    mov.u32 %r2, 0; mov.u32 %r3, 0; mov.u64 %d3, %d2;\n"
    "PUT: add.u32 %r2, %r2, 1; st.local.u32 [%d3], %r2; add.u64 %d3, %d3, 4; setp.lt.u32 %p, %r2, %r1; @%p bra PUT;\n"
    "    mov.u32 %r2, 0; cvta.local.u64 %d4, %d2;\n"
    "GET: ld.u32 %r4, [%d4]; add.u32 %r3, %r3, %r4; add.u64 %d4, %d4, 4; add.u32 %r2, %r2, 1; setp.lt.u32 %p, %r2, %r1; @%p bra GET;\n"
    "    st.param.b32 [result], %r3; ret;\n}\n"

    /* Calls that much of it that the memory of a lane would not do if functions kept what they take. */
    ".visible .entry functions(.param .u64 out)\n{\n"
    "    .reg .b32 %r<8>; .reg .b64 %d<4>; .reg .pred %p; .param .b32 a; .param .b32 b;\n"
    "    mov.u32 %r1, %tid.x; mul.wide.u32 %d1, %r1, 4; ld.param.u64 %d2, [out]; add.u64 %d2, %d2, %d1;\n"
    "    mov.u32 %r2, 0; mov.u32 %r3, 0; add.u32 %r4, %r1, 1;\n"
    "AGAIN: add.u32 %r5, %r4, %r2; st.param.b32 [a], %r5; call (b), fill, (a); ld.param.b32 %r6, [b]; add.u32 %r3, %r3, %r6;\n"
    "    add.u32 %r2, %r2, 1; setp.lt.u32 %p, %r2, 50; @%p bra AGAIN;\n"
    "    st.global.u32 [%d2], %r3; ret;\n}\n"

    /* Two blocks of each round live at the same time; the guard leaves odd lanes without the second. */
    ".visible .entry loop(.param .u64 out)\n{\n"
    "    .reg .b32 %r<8>; .reg .b64 %d<12>; .reg .pred %p<3>;\n"
    "    mov.u32 %r1, %tid.x; mul.wide.u32 %d1, %r1, 4; ld.param.u64 %d2, [out]; add.u64 %d2, %d2, %d1;\n"
    "    and.b32 %r2, %r1, 1; setp.eq.u32 %p1, %r2, 0; mov.u32 %r3, 0; mov.u32 %r4, 0; mul.wide.u32 %d3, %r1, 8; add.u64 %d3, %d3, 8;\n"
    "    stacksave.u64 %d9;\n"
    "ROUND: stacksave.u64 %d4; alloca.u64 %d5, %d3; mov.u64 %d6, %d5; @%p1 alloca.u64 %d6, 512, 256;\n"
    "    st.local.u32 [%d6], %r3; st.local.u32 [%d5+4], %r1;\n"
    "    @%p1 and.b64 %d7, %d6, 255; @!%p1 mov.u64 %d7, 0; cvt.u32.u64 %r5, %d7; add.u32 %r4, %r4, %r5;\n"
    "    ld.local.u32 %r5, [%d6]; add.u32 %r4, %r4, %r5; ld.local.u32 %r5, [%d5+4]; add.u32 %r4, %r4, %r5;\n"
    "    stackrestore.u64 %d4; add.u32 %r3, %r3, 1; setp.lt.u32 %p2, %r3, 100; @%p2 bra ROUND;\n"
    "    stacksave.u64 %d10; sub.u64 %d10, %d10, %d9; cvt.u32.u64 %r5, %d10; add.u32 %r4, %r4, %r5;\n"
    "    st.global.u32 [%d2], %r4; ret;\n}\n"

    /* Local addresses in 32 bits: of alloca, of a variable, widened and made generic, cut from 64 bits, through a
       function; and stacksave with its counterpart. */
    ".func (.param .b32 r) twice(.param .b32 a)\n{\n    .reg .b32 %r<4>; ld.param.u32 %r1, [a]; ld.local.u32 %r2, [%r1+4]; add.u32 %r2, %r2, %r2; st.param.b32 [r], %r2; ret;\n}\n"
    ".visible .entry narrow(.param .u64 out)\n{\n    .local .align 4 .b32 mine[3]; .reg .b32 %r<16>; .reg .b64 %d<8>; .reg .pred %p; .param .b32 a; .param .b32 b;\n"
    "    ld.param.u64 %d1, [out]; mov.u32 %r1, %tid.x; mul.wide.u32 %d2, %r1, 4; add.u64 %d1, %d1, %d2; mul.lo.u32 %r2, %r1, 4; add.u32 %r2, %r2, 8; mov.u32 %r9, 0; mov.u32 %r11, 0;\n"
    "ROUND: stacksave.u32 %r3; alloca.u32 %r4, %r2, 32; and.b32 %r5, %r4, 31; add.u32 %r9, %r9, %r5; st.local.u32 [%r4+4], %r1; cvt.u64.u32 %d3, %r4; cvta.local.u64 %d4, %d3;\n"
    "    ld.u32 %r5, [%d4+4]; add.u32 %r9, %r9, %r5; stackrestore.u32 %r3; stacksave.u32 %r5; sub.u32 %r5, %r5, %r3; add.u32 %r9, %r9, %r5; add.u32 %r10, %r9, 0;\n"
    "    add.u32 %r11, %r11, 1; setp.lt.u32 %p, %r11, 50; @%p bra ROUND;\n"
    "    mov.u32 %r6, mine+4; st.local.u32 [%r6+4], %r1; st.param.b32 [a], %r6; call (b), twice, (a); ld.param.b32 %r7, [b]; add.u32 %r9, %r9, %r7;\n"
    "    mov.u64 %d5, mine; cvta.local.u64 %d5, %d5; cvta.to.local.u64 %d6, %d5; cvt.u32.u64 %r8, %d6; ld.local.u32 %r7, [%r8+8]; add.u32 %r9, %r9, %r7; st.global.u32 [%d1], %r9; ret;\n}\n"

    ".visible .entry too_much(.param .u64 size)\n{\n"
    "    .reg .b32 %r; .reg .b64 %d<4>; .reg .pred %p;\n"
    "    ld.param.u64 %d1, [size]; mov.u32 %r, %tid.x; setp.eq.u32 %p, %r, 40; @%p alloca.u64 %d2, %d1; @%p st.local.u8 [%d2], %r; ret;\n}\n"

    /* Memory of alloca and a variable of the kernel are local, seen from the kernel and from a function: local(generic
       address) gives 1, and 2 if it is global. */
    ".func (.param .b32 r) local(.param .b64 a)\n{\n    .reg .b64 %d; .reg .b32 %r<2>; .reg .pred %p, %q; ld.param.u64 %d, [a]; isspacep.local %p, %d; isspacep.global %q, %d;\n"
    "    selp.u32 %r0, 1, 0, %p; selp.u32 %r1, 2, 0, %q; add.u32 %r0, %r0, %r1; st.param.b32 [r], %r0; ret;\n}\n"
    ".visible .entry far(.param .u64 out)\n{\n    .local .b32 mine[4]; .reg .b32 %r<8>; .reg .b64 %d<4>; .reg .pred %p; .param .b64 a; .param .b32 b;\n"
    "    ld.param.u64 %d1, [out]; mov.u32 %r1, %tid.x; mul.wide.u32 %d2, %r1, 4; add.u64 %d1, %d1, %d2; alloca.u64 %d2, 64; cvta.local.u64 %d2, %d2; mov.u64 %d3, mine; cvta.local.u64 %d3, %d3;\n"
    "    st.param.b64 [a], %d2; call (b), local, (a); ld.param.b32 %r2, [b]; st.param.b64 [a], %d3; call (b), local, (a); ld.param.b32 %r3, [b];\n"
    "    st.param.b64 [a], %d1; call (b), local, (a); ld.param.b32 %r4, [b]; isspacep.local %p, %d2; selp.u32 %r5, 1, 0, %p; isspacep.local %p, %d3; selp.u32 %r6, 1, 0, %p;\n"
    "    mad.lo.u32 %r2, %r2, 10, %r3; mad.lo.u32 %r2, %r2, 10, %r4; mad.lo.u32 %r2, %r2, 10, %r5; mad.lo.u32 %r2, %r2, 10, %r6; st.global.u32 [%d1], %r2; ret;\n}\n"

    ".func (.param .b32 r) sum(.param .b32 n, .param .align 8 .b8 va[])\n{\n"
    "    .reg .b32 %r<4>; .reg .b64 %d; .reg .pred %p; ld.param.u32 %r1, [n]; mov.u64 %d, va; mov.u32 %r2, 0;\n"
    "NEXT: ld.param.u32 %r3, [%d]; add.u32 %r2, %r2, %r3; add.u64 %d, %d, 4; sub.u32 %r1, %r1, 1; setp.ne.u32 %p, %r1, 0; @%p bra NEXT;\n"
    "    st.param.b32 [r], %r2; ret;\n}\n"
    ".visible .entry variadic(.param .u64 out)\n{\n"
    "    .reg .b32 %r<4>; .reg .b64 %d<4>; ld.param.u64 %d1, [out]; mov.u32 %r1, %tid.x; mul.wide.u32 %d2, %r1, 4; add.u64 %d1, %d1, %d2;\n"
    "    { .param .b32 n; .param .align 8 .b8 va[12]; .param .b32 r; st.param.b32 [n], 3; st.param.b32 [va], 10; st.param.b32 [va+4], %r1; st.param.b32 [va+8], 12;\n"
    "      call (r), sum, (n, va); ld.param.b32 %r2, [r]; }\n"
    "    { .param .b32 n; .param .align 8 .b8 va[8]; .param .b32 r; st.param.b32 [n], 2; st.param.b32 [va], %r1; st.param.b32 [va+4], %r2;\n"
    "      call (r), sum, (n, va); ld.param.b32 %r2, [r]; }\n"
    "    st.global.u32 [%d1], %r2; ret;\n}\n"

    /* 1,003 bytes for it, of which the last is thread + 7, then none at all; and as many for a parameter and a result
       of that size. */
    ".func (.param .b32 r) last(.param .b32 n, .param .align 1 .b8 va[])\n{\n"
    "    .reg .b32 %r<4>; .reg .b64 %d<3>; .reg .pred %p; ld.param.u32 %r1, [n]; mov.u32 %r2, 5; setp.eq.u32 %p, %r1, 0; @%p bra OUT; mov.u64 %d1, va; cvt.u64.u32 %d2, %r1;\n"
    "    add.u64 %d1, %d1, %d2; ld.param.u8 %r2, [%d1+-1]; ld.param.u8 %r3, [%d1+-1003]; shl.b32 %r3, %r3, 8; add.u32 %r2, %r2, %r3;\nOUT: st.param.b32 [r], %r2; ret;\n}\n"
    ".func (.param .align 4 .b8 r[1000]) same(.param .align 4 .b8 a[1000])\n{\n    .reg .b32 %r<4>; ld.param.u32 %r1, [a]; ld.param.u32 %r2, [a+996];\n"
    "    st.param.u32 [r+996], %r1; st.param.u32 [r], %r2; ret;\n}\n"
    ".visible .entry large(.param .u64 out)\n{\n"
    "    .reg .b32 %r<8>; .reg .b64 %d<4>; .reg .pred %p; ld.param.u64 %d1, [out]; mov.u32 %r1, %tid.x; mul.wide.u32 %d2, %r1, 4; add.u64 %d1, %d1, %d2; add.u32 %r3, %r1, 7;\n"
    "    setp.ne.u32 %p, %r1, 9; mov.u32 %r2, 0;\n"
    "    { .param .b32 n; .param .align 1 .b8 va[1003]; .param .b32 r; st.param.b32 [n], 1003; st.param.b8 [va+1002], %r3; st.param.b8 [va], 3; @%p call (r), last, (n, va); @%p ld.param.b32 %r2, [r]; }\n"
    "    { .param .b32 n; .param .b32 r; st.param.b32 [n], 0; call (r), last, (n); ld.param.b32 %r4, [r]; }\n"
    "    { .param .align 4 .b8 a[1000]; .param .align 4 .b8 r[1000]; st.param.b32 [a], 11; st.param.b32 [a+996], %r1; call (r), same, (a); ld.param.u32 %r5, [r+996]; ld.param.u32 %r6, [r]; }\n"
    "    add.u32 %r2, %r2, %r4; mad.lo.u32 %r5, %r5, 1000, %r6; mad.lo.u32 %r2, %r2, 100000, %r5; st.global.u32 [%d1], %r2; ret;\n}\n"

    ".visible .entry spaces(.param .u64 out)\n{\n"
    "    .reg .b32 %r<4>; .reg .b64 %d<4>; .reg .pred %p;\n    ld.param.u64 %d1, [out]; mov.u32 %r2, 0;\n"
    "    cvta.const.u64 %d2, bank; add.u64 %d3, %d2, 15; isspacep.const %p, %d3; @%p or.b32 %r2, %r2, 1;\n"
    "    cvta.const.u64 %d2, other; isspacep.const %p, %d2; @%p or.b32 %r2, %r2, 2;\n"
    "    cvta.global.u64 %d2, plain; isspacep.const %p, %d2; @%p or.b32 %r2, %r2, 4; isspacep.global %p, %d2; @%p or.b32 %r2, %r2, 8;\n"
    "    isspacep.const %p, %d1; @%p or.b32 %r2, %r2, 16;\n"
    "    st.global.u32 [%d1], %r2; ret;\n}\n";

static void each_variant(const char *entry, unsigned threads, uint32_t (*expected)(uint32_t thread))
{
    struct rig *rig = rig_open(text);
    for (rig_variant = 0; rig_variant < RIG_VARIANTS; rig_variant++) {
        uint32_t out[THREADS] = {0};
        void *to = out;
        rig_run(rig, entry, 1, threads, &to, sizeof to);
        for (uint32_t i = 0; i < threads; i++)
            if (out[i] != expected(i))
                fail_msg("%s, variant %u, thread %u: %u, must be %u", entry, rig_variant, i, out[i], expected(i));
    }
    rig_close(rig);
}

static uint32_t of_functions(uint32_t thread)
{
    uint32_t sum = 0;
    for (uint32_t i = 0; i < 50; i++) {
        uint32_t n = thread + 1 + i;
        sum += n * (n + 1) / 2;
    }
    return sum;
}

static uint32_t of_loop(uint32_t thread)
{
    return 100 * 99 / 2 + 100 * thread;
}

static uint32_t of_spaces(uint32_t thread)
{
    (void)thread;
    return 1 | 2 | 8;
}

static uint32_t of_variadic(uint32_t thread)
{
    return 22 + 2 * thread;
}

static uint32_t of_narrow(uint32_t thread)
{
    return 53 * thread;
}

static uint32_t of_large(uint32_t thread)
{
    return ((thread == 9 ? 0 : 3 * 256 + thread + 7) + 5) * 100000 + 11000 + thread;
}

static void functions(void **unused)
{
    (void)unused;
    each_variant("functions", THREADS, of_functions);
}
static void loop(void **unused)
{
    (void)unused;
    each_variant("loop", THREADS - 7, of_loop);
}
static void large(void **unused)
{
    (void)unused;
    each_variant("large", THREADS, of_large);
}
static void narrow(void **unused)
{
    (void)unused;
    each_variant("narrow", THREADS, of_narrow);
}
static void variadic(void **unused)
{
    (void)unused;
    each_variant("variadic", THREADS, of_variadic);
}
static void spaces(void **unused)
{
    (void)unused;
    each_variant("spaces", 1, of_spaces);
}

static uint32_t of_far(uint32_t thread)
{
    (void)thread;
    return 11211;
}

static void far(void **unused)
{
    (void)unused;
    static const size_t limits[] = {0, 200000, 1 << 20};
    for (unsigned i = 0; i < 3; i++) {
        rig_stack_limit = limits[i];
        each_variant("far", THREADS, of_far);
    }
    rig_stack_limit = 0;
}

static void too_much(void **unused)
{
    (void)unused;
    static const struct {
        size_t limit;
        uint64_t size;
        CUresult status;
    } cases[] = {{0, 8192, CUDA_SUCCESS},
                 {1024, 8193, CUDA_ERROR_HARDWARE_STACK_ERROR},
                 {0, UINT64_MAX, CUDA_ERROR_HARDWARE_STACK_ERROR},
                 {0, UINT64_C(1) << 63, CUDA_ERROR_HARDWARE_STACK_ERROR},
                 {50001, 50048, CUDA_SUCCESS},
                 {50001, 50049, CUDA_ERROR_HARDWARE_STACK_ERROR}};
    for (rig_variant = 0; rig_variant < RIG_VARIANTS; rig_variant++)
        for (unsigned i = 0; i < sizeof cases / sizeof *cases; i++) {
            struct rig *rig = rig_open(text);
            unsigned grid[3] = {1, 1, 1}, block[3] = {64, 1, 1};
            rig_stack_limit = cases[i].limit;
            assert_int_equal(rig_launch(rig, "too_much", grid, block, 0, &cases[i].size, sizeof cases[i].size),
                             cases[i].status);
            rig_close(rig);
        }
    rig_stack_limit = 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(functions), cmocka_unit_test(loop),     cmocka_unit_test(too_much), cmocka_unit_test(far),
        cmocka_unit_test(spaces),    cmocka_unit_test(variadic), cmocka_unit_test(large),    cmocka_unit_test(narrow)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
