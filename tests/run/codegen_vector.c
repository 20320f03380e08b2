/* SPDX-License-Identifier: Apache-2.0 */

/*
 * What the machine code of array kernels looks like: whole vectors in, arithmetic
 * on whole vectors, whole vectors out. That it calculates the right thing is
 * tested elsewhere; that it is fast would be lost without a test that fails.
 * The arguments are the PTX of examples/kernels/arrays.cu, masks.ptx and selected_masks.ptx. Code is made for named
 * processors, which this one need not be.
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
#include "compile/codegen.h"

extern const struct mr_codegen_api mr_codegen;

static const char *path, *masks_paths[2];

/* Lines with both texts. */
static unsigned lines_with(const char *text, const char *first, const char *second)
{
    unsigned count = 0;
    for (const char *line = text; *line;) {
        size_t length = strcspn(line, "\n");
        char copy[512];
        snprintf(copy, sizeof copy, "%.*s", (int)length, line);
        count += strstr(copy, first) && strstr(copy, second);
        line += length + (line[length] == '\n');
    }
    return count;
}

/* 50 rounds of two multiplications on each vector, and nothing of it lane by lane. The other way of loading and
 * storing, for lanes whose index overflows, stays out of the rounds: they are one block, or one loop of one block. */
static void chain(const char *ir, const char *vector, bool rolled)
{
    unsigned products = lines_with(ir, "fmul", vector);
    if (rolled ? products == 0 || products % 2 : products != 100)
        fail_msg("%u products of vectors", products);
    assert_int_equal(lines_with(ir, "fmul", ""), products);
    assert_int_equal(lines_with(ir, "masked.gather", ""), 0);
    assert_int_equal(lines_with(ir, "masked.scatter", ""), 0);
    assert_int_equal(lines_with(ir, "call", "masked.load"), 1);
    assert_int_equal(lines_with(ir, "call", "masked.store"), 1);
    const char *first = strstr(ir, "fmul"), *last = first;
    for (const char *at = first; at; at = strstr(at + 1, "fmul"))
        last = at;
    char *rounds = strndup(first, (size_t)(last - first));
    assert_int_equal(lines_with(rounds, "br ", ""), 0);
    assert_int_equal(lines_with(rounds, "load", ""), 0);
    assert_int_equal(lines_with(rounds, "extractelement", ""), 0);
    free(rounds);
}

static void chains_run_in_vectors(void **unused)
{
    (void)unused;
    struct rig *rig = rig_open_file(path);
    unsigned full = MR_SHAPE_LINEAR | MR_SHAPE_FULL;
    struct {
        const char *cpu, *vector, *reg;
        unsigned shape, regs;
    } ways[] = {{"x86-64-v3", "<32 x float>", "%ymm", full, 4},
                {"x86-64-v4", "<32 x float>", "%zmm", full, 2},
                {"x86-64-v4", "<64 x float>", "%zmm", full | MR_SHAPE_PAIRED, 4},
                {"x86-64-v4", "<32 x float>", "%zmm", MR_SHAPE_LINEAR, 2}};
    for (unsigned i = 0; i < sizeof ways / sizeof *ways; i++) {
        char *ir = rig_text(rig, "double_and_halve", ways[i].shape, ways[i].cpu, false);
        bool rolled = lines_with(ir, "fmul", "") != 100;
        chain(ir, ways[i].vector, rolled);
        unsigned products = lines_with(ir, "fmul", "");
        free(ir);
        char *assembly = rig_text(rig, "double_and_halve", ways[i].shape, ways[i].cpu, true);
        /* Twice a number may be done as the number plus itself, and a block may be there twice. */
        unsigned whole = lines_with(assembly, "vmulps", ways[i].reg) + lines_with(assembly, "vaddps", ways[i].reg);
        assert_in_range(whole, products * ways[i].regs, UINT32_MAX);
        assert_int_equal(whole % ways[i].regs, 0);
        assert_int_equal(lines_with(assembly, "vmulss", ""), 0);
        assert_int_equal(lines_with(assembly, "vaddss", ""), 0);
        free(assembly);
    }
    rig_close(rig);
}

/* a[i] * b[i] + c: two loads, a store, no gathers; under a mask, and without one where all lanes run. */
static void elementwise_kernels_load_whole_vectors(void **unused)
{
    (void)unused;
    struct rig *rig = rig_open_file(path);
    char *ir = rig_text(rig, "multiply_add", MR_SHAPE_LINEAR | MR_SHAPE_FULL, "x86-64-v4", false);
    assert_int_equal(lines_with(ir, "call", "masked.load"), 2);
    assert_int_equal(lines_with(ir, "call", "masked.store"), 1);
    assert_in_range(lines_with(ir, " = load <32 x i64>", "dbg"), 2,
                    4); /* two, and what lanes past a break read one by one, from the frame */
    assert_int_equal(lines_with(ir, "masked.gather", ""), 0);
    assert_int_equal(lines_with(ir, "mul", "<32 x i64>"), 2);
    free(ir);
    rig_close(rig);
}

/* A pointer's alignment is tested once, not in the loop. */
static void alignment_is_tested_outside_of_loops(void **unused)
{
    (void)unused;
    struct rig *rig = rig_open_file(path);
    char *ir = rig_text(rig, "double_and_halve", MR_SHAPE_LINEAR | MR_SHAPE_FULL, "x86-64-v4", false);
    assert_int_equal(lines_with(ir, "misaligned", ":"), 1);
    assert_true(strstr(ir, "label %misaligned") < strstr(ir, "fmul"));
    free(ir);
    rig_close(rig);
}

/* A place in shared memory by the thread's number can't overflow: there is no way lane by lane, on either side of a
 * barrier. */
static void numbers_of_threads_do_not_overflow(void **unused)
{
    (void)unused;
    struct rig *rig = rig_open(
        ".version 8.8\n.target sm_80\n.address_size 64\n.shared .align 4 .b8 tile[8192];\n"
        ".visible .entry tiles(.param .u64 out) { .reg .b32 %r<5>; .reg .b64 %rd<8>;\n"
        "mov.u32 %r1, %tid.x; mov.u32 %r2, %tid.y; mul.wide.u32 %rd1, %r1, 4; mul.wide.u32 %rd2, %r2, 64; mov.u64 %rd3, tile;\n"
        "add.s64 %rd4, %rd3, %rd1; add.s64 %rd5, %rd4, %rd2; st.shared.u32 [%rd5], %r1; bar.sync 0; ld.shared.u32 %r3, [%rd4];\n"
        "ld.param.u64 %rd6, [out]; add.s64 %rd7, %rd6, %rd1; st.global.u32 [%rd7], %r3; ret; }\n");
    const unsigned shapes[] = {MR_SHAPE_LINEAR | MR_SHAPE_FULL, MR_SHAPE_ROWS_16 | MR_SHAPE_FULL,
                               MR_SHAPE_ROWS_8 | MR_SHAPE_FULL};
    for (unsigned i = 0; i < 3; i++) {
        char *ir = rig_text(rig, "tiles", shapes[i], "x86-64-v4", false);
        assert_int_equal(lines_with(ir, "scattered", ":"), 0);
        assert_int_equal(lines_with(ir, "extractelement", ""), 0);
        free(ir);
    }
    rig_close(rig);
}

/* A loop with barriers asks for the next round's part of each row, from where this warp, not the one before it, has
 * been. */
static void tiles_are_fetched_ahead(void **unused)
{
    (void)unused;
    struct rig *rig = rig_open(
        ".version 8.8\n.target sm_80\n.address_size 64\n.shared .align 4 .b8 tile[8192];\n"
        ".visible .entry tiles(.param .u64 in, .param .u32 n) { .reg .b32 %r<9>; .reg .b64 %rd<8>; .reg .pred %p;\n"
        "mov.u32 %r1, %tid.x; mov.u32 %r2, %tid.y; ld.param.u32 %r3, [n]; ld.param.u64 %rd6, [in]; mad.lo.u32 %r4, %r2, %r3, %r1;\n"
        "mul.wide.u32 %rd1, %r1, 4; mov.u64 %rd3, tile; add.s64 %rd4, %rd3, %rd1; mov.u32 %r5, 0;\n"
        "again: add.u32 %r6, %r4, %r5; mul.wide.u32 %rd2, %r6, 4; add.s64 %rd5, %rd6, %rd2; ld.global.u32 %r7, [%rd5];\n"
        "st.shared.u32 [%rd4], %r7; bar.sync 0; add.u32 %r5, %r5, 16; setp.lt.u32 %p, %r5, %r3; @%p bra again; ret; }\n");
    char *ir = rig_text(rig, "tiles", MR_SHAPE_ROWS_16 | MR_SHAPE_FULL, "x86-64-v4", false);
    assert_int_equal(lines_with(ir, "call", "llvm.prefetch"), 2);
    free(ir);
    ir = rig_text(rig, "tiles", MR_SHAPE_LINEAR | MR_SHAPE_FULL, "x86-64-v4", false);
    assert_int_equal(lines_with(ir, "call", "llvm.prefetch"), 2);
    free(ir);
    rig_close(rig);
}

/* Two warps of two rows each run as one of four rows, for which each line of the right tile is read once; not so if
 * their barriers may be apart. */
static void rows_of_a_tile_share_loads(void **unused)
{
    (void)unused;
    static const char *const guards[] = {"", "setp.lt.u32 %p, %r2, 3; @%p bra apart; bar.sync 0; bra on; apart:"};
    for (unsigned i = 0; i < 2; i++) {
        char text[2048];
        snprintf(
            text, sizeof text,
            ".version 8.8\n.target sm_80\n.address_size 64\n.shared .align 4 .b8 left[1024];\n.shared .align 4 .b8 right[1024];\n"
            ".visible .entry tiles(.param .u64 out) { .reg .b32 %%r<3>; .reg .f32 %%f<10>; .reg .b64 %%rd<10>; .reg .pred %%p;\n"
            "mov.u32 %%r1, %%tid.x; mov.u32 %%r2, %%tid.y; mul.wide.u32 %%rd1, %%r1, 4; mul.wide.u32 %%rd2, %%r2, 64; mov.u64 %%rd3, left; mov.u64 %%rd4, right;\n"
            "add.s64 %%rd5, %%rd3, %%rd2; add.s64 %%rd6, %%rd4, %%rd1; add.s64 %%rd8, %%rd5, %%rd1; st.shared.u32 [%%rd8], %%r1; mov.f32 %%f9, 0f00000000; %s bar.sync 0; on:\n"
            "ld.shared.f32 %%f1, [%%rd5]; ld.shared.f32 %%f2, [%%rd6]; fma.rn.f32 %%f9, %%f1, %%f2, %%f9;\n"
            "ld.shared.f32 %%f1, [%%rd5+4]; ld.shared.f32 %%f2, [%%rd6+64]; fma.rn.f32 %%f9, %%f1, %%f2, %%f9;\n"
            "ld.shared.f32 %%f1, [%%rd5+8]; ld.shared.f32 %%f2, [%%rd6+128]; fma.rn.f32 %%f9, %%f1, %%f2, %%f9;\n"
            "ld.shared.f32 %%f1, [%%rd5+12]; ld.shared.f32 %%f2, [%%rd6+192]; fma.rn.f32 %%f9, %%f1, %%f2, %%f9;\n"
            "ld.param.u64 %%rd9, [out]; add.s64 %%rd7, %%rd9, %%rd1; st.global.f32 [%%rd7], %%f9; ret; }\n",
            guards[i]);
        struct rig *rig = rig_open(text);
        char *ir = rig_text(rig, "tiles", MR_SHAPE_ROWS_16 | MR_SHAPE_FULL | MR_SHAPE_PAIRED, "x86-64-v4", false);
        assert_int_equal(lines_with(ir, "call", "llvm.fma.v64f32"), i ? 0 : 4);
        if (i == 0)
            assert_int_equal(lines_with(ir, " = load <16 x float>", ""), 4);
        free(ir);
        rig_close(rig);
    }
}

/* A stride that is a parameter may be the element's size: there is a way with whole vectors, and one without. */
static void strides_of_parameters_are_tested(void **unused)
{
    (void)unused;
    struct rig *rig = rig_open(
        ".version 8.8\n.target sm_80\n.address_size 64\n"
        ".visible .entry strided(.param .u64 in, .param .u64 stride) { .reg .b32 %r<3>; .reg .b64 %rd<6>;\n"
        "mov.u32 %r1, %tid.x; cvt.u64.u32 %rd1, %r1; ld.param.u64 %rd2, [in]; ld.param.u64 %rd3, [stride]; mul.lo.u64 %rd4, %rd1, %rd3;\n"
        "add.u64 %rd5, %rd2, %rd4; ld.global.u32 %r2, [%rd5]; add.u32 %r2, %r2, 1; st.global.u32 [%rd5], %r2; ret; }\n");
    char *ir = rig_text(rig, "strided", MR_SHAPE_LINEAR | MR_SHAPE_FULL, "x86-64-v4", false);
    assert_in_range(lines_with(ir, "br i1", "%together"), 1,
                    2); /* asked for the load, and for the store if LLVM does not see that it is the same question */
    assert_int_equal(lines_with(ir, "extractelement", ""), 0); /* the stride is compared, not the lanes' addresses */
    assert_in_range(lines_with(ir, "call", "masked.load") + lines_with(ir, " = load ", "<32 x i32>"), 1, 1);
    assert_int_equal(lines_with(ir, "call", "masked.gather"), 1);
    assert_int_equal(lines_with(ir, "call", "masked.scatter"), 1);
    free(ir);
    rig_close(rig);
}

/* Conversions to integers, which saturate, do not go element by element. */
static void conversions_stay_in_vectors(void **unused)
{
    (void)unused;
    struct rig *rig = rig_open(
        ".version 8.8\n.target sm_80\n.address_size 64\n"
        ".visible .entry convert(.param .u64 in, .param .u64 out) { .reg .f32 %f; .reg .f64 %d; .reg .b32 %r<5>; .reg .b64 %rd<6>;\n"
        "mov.u32 %r1, %tid.x; mul.wide.u32 %rd1, %r1, 4; ld.param.u64 %rd2, [in]; ld.param.u64 %rd3, [out];\n"
        "add.u64 %rd4, %rd2, %rd1; add.u64 %rd5, %rd3, %rd1; ld.global.f32 %f, [%rd4]; cvt.f64.f32 %d, %f;\n"
        "add.f64 %d, %d, %d; cvt.rzi.s32.f64 %r2, %d; cvt.rni.s32.f32 %r3, %f; add.u32 %r4, %r2, %r3; cvt.rzi.u32.f32 %r3, %f; add.u32 %r4, %r4, %r3;\n"
        "st.global.u32 [%rd5], %r4; ret; }\n");
    static const char *const cpus[] = {"x86-64-v3", "x86-64-v4"};
    for (unsigned i = 0; i < 2; i++) {
        char *assembly = rig_text(rig, "convert", MR_SHAPE_LINEAR | MR_SHAPE_FULL, cpus[i], true);
        assert_int_not_equal(lines_with(assembly, "vcvttpd2dq", ""), 0);
        assert_int_not_equal(lines_with(assembly, "vcvttps2dq", ""), 0);
        assert_int_equal(lines_with(assembly, "vcvttsd2si", "") + lines_with(assembly, "vcvttss2si", ""), 0);
        free(assembly);
    }
    rig_close(rig);
}

/* Without mend.c this does not end. */
static void logic_of_masks_ends(void **unused)
{
    (void)unused;
    static const char *const processors[] = {"haswell", "x86-64-v4", "sapphirerapids"};
    for (unsigned file = 0; file < 2; file++) {
        struct rig *rig = rig_open_file(masks_paths[file]);
        for (unsigned i = 0; i < sizeof processors / sizeof *processors; i++) {
            char *assembly = rig_text(rig, "k", MR_SHAPE_LINEAR, processors[i], true);
            assert_non_null(assembly);
            free(assembly);
        }
        rig_close(rig);
    }
}

/* A block that reads its stretch in pieces asks for the next block's, if the size of blocks is known; not if it reads
 * it in one. A warp's record is there as often as a block has warps. */
static void next_blocks_are_fetched_ahead(void **unused)
{
    (void)unused;
    static const char body[] =
        "{ .reg .b32 %r<9>; .reg .b64 %rd<8>; .reg .f32 %f<9>;\n"
        "mov.u32 %r1, %tid.x; mov.u32 %r2, %ctaid.x; ld.param.u64 %rd1, [in]; shl.b32 %r3, %r1, 2; shl.b32 %r4, %r2, 11;\n"
        "or.b32 %r5, %r3, %r4; mul.wide.u32 %rd2, %r5, 4; add.s64 %rd3, %rd1, %rd2; mul.wide.u32 %rd4, %r1, 4;\n"
        "mov.u64 %rd5, tile; add.s64 %rd5, %rd5, %rd4;\n"
        "ld.global.v4.f32 {%f1, %f2, %f3, %f4}, [%rd3]; ld.global.v4.f32 {%f5, %f6, %f7, %f8}, [%rd3+2048];\n"
        "add.f32 %f1, %f1, %f5; add.f32 %f2, %f2, %f6; st.shared.f32 [%rd5], %f2; bar.sync 0; ld.shared.f32 %f3, [tile];\n"
        "add.f32 %f1, %f1, %f3; st.global.f32 [%rd3+4096], %f1; ret; }\n";
    char text[4096];
    snprintf(text, sizeof text,
             ".version 8.8\n.target sm_80\n.address_size 64\n.shared .align 4 .b8 tile[4096];\n"
             ".visible .entry pieces(.param .u64 in) .reqntid 128, 1, 1\n%s"
             ".visible .entry one(.param .u64 in) .reqntid 512, 1, 1\n%s.visible .entry any(.param .u64 in)\n%s",
             body, body, body);
    struct rig *rig = rig_open(text);
    static const struct {
        const char *name;
        unsigned fetches;
    } kernels[] = {{"pieces", 16}, {"one", 0}, {"any", 0}};
    uint64_t bytes[3] = {0};
    for (unsigned k = 0; k < 3; k++) {
        char *ir = rig_text(rig, kernels[k].name, MR_SHAPE_LINEAR | MR_SHAPE_FULL, "x86-64-v4", false);
        assert_int_equal(lines_with(ir, "call", "llvm.prefetch"), kernels[k].fetches);
        const char *records = strstr(ir, "%records = alloca [");
        assert_non_null(records);
        bytes[k] = strtoull(strchr(records, '[') + 1, NULL, 10);
        free(ir);
    }
    assert_int_equal(bytes[0] * 8, bytes[2]);
    assert_int_equal(bytes[1] * 2, bytes[2]);
    rig_close(rig);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(chains_run_in_vectors),
                                       cmocka_unit_test(elementwise_kernels_load_whole_vectors),
                                       cmocka_unit_test(alignment_is_tested_outside_of_loops),
                                       cmocka_unit_test(numbers_of_threads_do_not_overflow),
                                       cmocka_unit_test(tiles_are_fetched_ahead),
                                       cmocka_unit_test(next_blocks_are_fetched_ahead),
                                       cmocka_unit_test(rows_of_a_tile_share_loads),
                                       cmocka_unit_test(strides_of_parameters_are_tested),
                                       cmocka_unit_test(conversions_stay_in_vectors),
                                       cmocka_unit_test(logic_of_masks_ends)};
    if (argc != 4)
        return 1;
    path = argv[1];
    masks_paths[0] = argv[2];
    masks_paths[1] = argv[3];
    return cmocka_run_group_tests(tests, NULL, NULL);
}
