/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Kernels with very much of something: words of a struct, instructions of a block, ways out of a jump, atomic
 * operations, values that are alive. Code generation does such things in pieces.
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

#define THREADS 96u
#define FOR_VARIANTS for (rig_variant = 0; rig_variant < RIG_VARIANTS; rig_variant++)
#define FOR_SOME_VARIANTS for (rig_variant = 0; rig_variant < RIG_VARIANTS; rig_variant += 3) /* they take long */
#define BEGIN(name, parameters, declarations) \
    ".version 8.1\n.target sm_80\n.address_size 64\n.visible .entry " name "(.param .u64 out" parameters \
    ")\n{\n" declarations \
    ".reg .b32 %%t, %%r, %%x<9>; .reg .b64 %%out, %%d<9>; .reg .pred %%p<4>;\nld.param.u64 %%out, [out]; mov.u32 %%t, %%tid.x; mul.wide.u32 %%d0, %%t, 8;\n" \
    "add.u64 %%out, %%out, %%d0; mov.u32 %%r, %%t;\n"
#define END "st.global.u32 [%%out], %%r; ret;\n}\n"

static uint64_t out[THREADS];
static char *text;
static size_t length;

/* A text is written piece by piece; the first piece begins it. */
static FILE *begin_text(void)
{
    FILE *file = open_memstream(&text, &length);
    assert_non_null(file);
    return file;
}

static struct rig *open_text(FILE *file)
{
    fclose(file);
    struct rig *rig = rig_open(text);
    free(text);
    return rig;
}

/* A struct parameter that is copied to local memory word by word, and read there at an index of each lane's own. */
static void structs_in_local_memory(void **unused)
{
    (void)unused;
    enum { WORDS = 256 };
    static struct {
        uint64_t *out;
        uint32_t words[WORDS];
    } params = {.out = out};
    FILE *file = begin_text();
    fprintf(file, BEGIN("copied", ", .param .align 8 .b8 s[%u]", ".local .align 8 .b8 l[%u];\n"), WORDS * 4, WORDS * 4);
    for (unsigned i = 0; i < WORDS; i++) {
        params.words[i] = i * 2654435761u;
        fprintf(file, "ld.param.u32 %%x0, [s+%u]; st.local.u32 [l+%u], %%x0;\n", 4 * i, 4 * i);
    }
    fprintf(
        file,
        "mul.lo.u32 %%x1, %%t, 7; rem.u32 %%x1, %%x1, %u; mul.wide.u32 %%d1, %%x1, 4; mov.u64 %%d2, l; add.u64 %%d2, %%d2, %%d1; ld.local.u32 %%r, [%%d2];\n" END,
        WORDS);
    struct rig *rig = open_text(file);
    FOR_VARIANTS {
        rig_run(rig, "copied", 1, THREADS, &params, sizeof params);
        for (uint32_t t = 0; t < THREADS; t++)
            assert_int_equal((uint32_t)out[t], params.words[t * 7 % WORDS]);
    }
    rig_close(rig);
}

/* A block of 1,200 instructions that is a loop by itself, and one that is a whole function, with values from its
 * beginning used at its end. */
static void long_blocks(void **unused)
{
    (void)unused;
    enum { STEPS = 400 };
    struct {
        uint64_t *out;
    } params = {out};
    FILE *file = begin_text();
    fprintf(file, BEGIN("loop", "", "") "mov.u32 %%x0, 0; mov.u32 %%x1, 1;\nagain:\n");
    for (unsigned i = 0; i < STEPS; i++)
        fprintf(file, "mad.lo.u32 %%r, %%r, %%x1, %u; xor.b32 %%x1, %%x1, %%r; shr.u32 %%x1, %%x1, 1;\n", i);
    fprintf(
        file,
        "add.u32 %%x0, %%x0, 1; and.b32 %%x2, %%t, 3; setp.le.u32 %%p1, %%x0, %%x2; @%%p1 bra again; add.u32 %%r, %%r, %%x1;\n" END);
    struct rig *rig = open_text(file);
    FOR_VARIANTS {
        rig_run(rig, "loop", 1, THREADS, &params, sizeof params);
        for (uint32_t t = 0; t < THREADS; t++) {
            uint32_t r = t, x = 1;
            for (uint32_t round = 0; round <= (t & 3); round++)
                for (uint32_t i = 0; i < STEPS; i++) {
                    r = r * x + i;
                    x = (x ^ r) >> 1;
                }
            assert_int_equal((uint32_t)out[t], r + x);
        }
    }
    rig_close(rig);
}

/* Straight code stays in pieces to the end: LLVM moves nothing that only later pieces need down into the last of them.
 */
static void long_straight_code(void **unused)
{
    (void)unused;
    enum { STEPS = 2000, REGS = 64, MOST = 4000 };
    struct {
        uint64_t *out;
    } params = {out};
    FILE *file = begin_text();
    fprintf(file, BEGIN("straight", "", "") ".reg .f32 %%f<64>; cvt.rn.f32.u32 %%f0, %%t;\n");
    for (unsigned i = 1; i < REGS; i++)
        fprintf(file, "add.rn.f32 %%f%u, %%f%u, 0f3F800000;\n", i, i - 1);
    for (unsigned i = 0; i < STEPS; i++)
        fprintf(file, "fma.rn.f32 %%f%u, %%f%u, 0f3F000000, %%f%u; \n", i % REGS, (i * 7 + 1) % REGS,
                (i * 29 + 3) % REGS);
    fprintf(file, "cvt.rni.u32.f32 %%r, %%f5;\n" END);
    struct rig *rig = open_text(file);
    char *code = rig_text(rig, "straight", MR_SHAPE_LINEAR | MR_SHAPE_FULL, "x86-64-v4", true);
    unsigned lines = 0;
    for (const char *line = code; (line = strchr(line, '\n')); line++, lines++) {
        if (strncmp(line, "\n\tj", 3) == 0)
            lines = 0;
        assert_true(lines < MOST);
    }
    free(code);
    FOR_VARIANTS {
        rig_run(rig, "straight", 1, THREADS, &params, sizeof params);
        for (uint32_t t = 0; t < THREADS; t++) {
            float f[REGS];
            for (unsigned i = 0; i < REGS; i++)
                f[i] = (float)(t + i);
            for (unsigned i = 0; i < STEPS; i++)
                f[i % REGS] = fmaf(f[(i * 7 + 1) % REGS], 0.5f, f[(i * 29 + 3) % REGS]);
            double result = rint(f[5]);
            assert_int_equal((uint32_t)out[t], result > 4294967295.0 ? UINT32_MAX : (uint32_t)result);
        }
    }
    rig_close(rig);
}

/* A jump by a number with more ways than one switch has, for all lanes the same way and for each its own. */
static void many_ways(void **unused)
{
    (void)unused;
    enum { WAYS = 131 };
    struct {
        uint64_t *out;
        uint32_t way;
    } params = {.out = out};
    FILE *file = begin_text();
    fprintf(file,
            BEGIN("ways", ", .param .u32 way", "") "ld.param.u32 %%x0, [way]; mov.u32 %%x2, 0;\nT: .branchtargets ");
    for (unsigned i = 0; i < WAYS; i++)
        fprintf(file, "%sL%u", i ? ", " : "", i);
    fprintf(file, ";\nbrx.idx %%x0, T;\n");
    for (unsigned i = 0; i < WAYS; i++)
        fprintf(file, "L%u: mad.lo.u32 %%r, %%r, 5, %u; bra past;\n", i, i * i);
    fprintf(
        file,
        "past: setp.ne.u32 %%p1, %%x2, 0; @%%p1 bra out; mov.u32 %%x2, 1; mad.lo.u32 %%x0, %%t, 3, %%x0; rem.u32 %%x0, %%x0, %u; brx.idx %%x0, T;\nout:\n" END,
        WAYS);
    struct rig *rig = open_text(file);
    FOR_VARIANTS
        for (params.way = 0; params.way < WAYS; params.way += 13) {
            rig_run(rig, "ways", 1, THREADS, &params, sizeof params);
            for (uint32_t t = 0; t < THREADS; t++) {
                uint32_t other = (t * 3 + params.way) % WAYS;
                assert_int_equal((uint32_t)out[t], (t * 5 + params.way * params.way) * 5 + other * other);
            }
        }
    rig_close(rig);
}

/* Barriers in both arms of many branches, so that lanes of a warp arrive at different ones: those of the first arm wait
 * for the others. */
static void many_barriers(void **unused)
{
    (void)unused;
    enum { COUNT = 60 };
    struct {
        uint64_t *out;
    } params = {out};
    FILE *file = begin_text();
    fprintf(
        file,
        BEGIN(
            "barriers", "",
            ".shared .align 4 .b8 s[4096];\n") "mov.u32 %%x4, s; shl.b32 %%x0, %%t, 2; add.u32 %%x0, %%x0, %%x4; add.u32 %%x1, %%t, 1;\n"
                                               "rem.u32 %%x1, %%x1, %u; shl.b32 %%x1, %%x1, 2; add.u32 %%x1, %%x1, %%x4;\n",
        THREADS);
    for (unsigned i = 0; i < COUNT; i++)
        fprintf(
            file,
            "st.shared.u32 [%%x0], %%r; shr.u32 %%x2, %%t, %u; and.b32 %%x2, %%x2, 1; setp.eq.u32 %%p1, %%x2, 0; @%%p1 bra A%u;\nbar.sync 0; ld.shared.u32 %%x3, [%%x1]; bra B%u;\n"
            "A%u: bar.sync 0; ld.shared.u32 %%x3, [%%x1];\nB%u: mad.lo.u32 %%r, %%r, 3, %%x3; bar.sync 0;\n",
            i % 6, i, i, i, i);
    fprintf(file, END);
    struct rig *rig = open_text(file);
    char *code = rig_text(rig, "barriers", 0, NULL, false);
    assert_non_null(strstr(code, "\nlook"));
    free(code);
    FOR_VARIANTS {
        rig_run(rig, "barriers", 1, THREADS, &params, sizeof params);
        uint32_t r[THREADS], next[THREADS];
        for (uint32_t t = 0; t < THREADS; t++)
            r[t] = t;
        for (uint32_t i = 0; i < COUNT; i++) {
            for (uint32_t t = 0; t < THREADS; t++)
                next[t] = r[t] * 3 + r[(t + 1) % THREADS];
            memcpy(r, next, sizeof r);
        }
        for (uint32_t t = 0; t < THREADS; t++)
            assert_int_equal((uint32_t)out[t], r[t]);
    }
    rig_close(rig);
}

/* More blocks than LLVM is to choose masks for in a hurry (they stay in memory there), with lanes that part at each,
 * loops among them, and barriers at which all meet. */
static void many_branches(void **unused)
{
    (void)unused;
    enum { COUNT = 760, APART = 100 };
    struct {
        uint64_t *out;
    } params = {out};
    FILE *file = begin_text();
    fprintf(
        file,
        BEGIN(
            "branches", "",
            ".shared .align 4 .b8 s[4096];\n") "mov.u32 %%x4, s; shl.b32 %%x0, %%t, 2; add.u32 %%x0, %%x0, %%x4; add.u32 %%x1, %%t, 1;\n"
                                               "rem.u32 %%x1, %%x1, %u; shl.b32 %%x1, %%x1, 2; add.u32 %%x1, %%x1, %%x4; mov.u32 %%x5, 0;\n",
        THREADS);
    for (unsigned i = 0; i < COUNT; i++) {
        fprintf(file, "S%u: shr.u32 %%x2, %%r, %u; and.b32 %%x2, %%x2, 1; setp.eq.u32 %%p1, %%x2, 0; @%%p1 bra A%u;\n",
                i, i % 7, i);
        fprintf(file, "mad.lo.u32 %%r, %%r, 5, %u;\nA%u: add.u32 %%r, %%r, %%x2;\n", i, i);
        if (i % APART == 0) /* some lanes a second time */
            fprintf(file,
                    "add.u32 %%x5, %%x5, 1; and.b32 %%x3, %%r, 1; setp.lt.u32 %%p2, %%x5, 4; setp.eq.and.u32 %%p2, "
                    "%%x3, 1, %%p2; @%%p2 bra S%u; mov.u32 %%x5, 0;\n",
                    i);
        if (i % APART == 1)
            fprintf(file, "st.shared.u32 [%%x0], %%r; bar.sync 0; ld.shared.u32 %%x3, [%%x1]; add.u32 %%r, %%r, %%x3; "
                          "bar.sync 0;\n");
    }
    fprintf(file, END);
    struct rig *rig = open_text(file);
    uint32_t r[THREADS], next[THREADS];
    for (uint32_t t = 0; t < THREADS; t++)
        r[t] = t;
    for (uint32_t i = 0; i < COUNT; i++) {
        for (uint32_t t = 0, rounds = 0; t < THREADS; rounds = 0, t++)
            do {
                uint32_t bit = r[t] >> i % 7 & 1;
                r[t] = (bit ? r[t] * 5 + i : r[t]) + bit;
            } while (i % APART == 0 && ++rounds < 4 && (r[t] & 1));
        for (uint32_t t = 0; t < THREADS; t++)
            next[t] = r[t] + (i % APART == 1 ? r[(t + 1) % THREADS] : 0);
        memcpy(r, next, sizeof r);
    }
    FOR_SOME_VARIANTS
    {
        rig_run(rig, "branches", 1, THREADS, &params, sizeof params);
        for (uint32_t t = 0; t < THREADS; t++)
            assert_int_equal((uint32_t)out[t], r[t]);
    }
    rig_close(rig);
}

/* So many barriers that the place where a warp goes on is found in steps, in a loop that goes round three times; and so
 * many that a kernel with as many other blocks would have a dispatcher. */
static void barriers_in_turns(void **unused)
{
    (void)unused;
    static const unsigned counts[] = {65, 400};
    for (unsigned c = 0; c < sizeof counts / sizeof *counts; c++) {
        struct {
            uint64_t *out;
        } params = {out};
        FILE *file = begin_text();
        fprintf(
            file,
            BEGIN(
                "turns", "",
                ".shared .align 4 .b8 s[4096];\n") "mov.u32 %%x4, s; shl.b32 %%x0, %%t, 2; add.u32 %%x0, %%x0, %%x4; add.u32 %%x1, %%t, 1;\n"
                                                   "rem.u32 %%x1, %%x1, %u; shl.b32 %%x1, %%x1, 2; add.u32 %%x1, %%x1, %%x4; mov.u32 %%x5, 0;\nagain:\n",
            THREADS);
        for (unsigned i = 0; i < counts[c]; i++)
            fprintf(file,
                    "st.shared.u32 [%%x0], %%r; bar.sync 0; ld.shared.u32 %%x3, [%%x1]; mad.lo.u32 %%r, %%r, 3, %%x3; "
                    "bar.sync 0;\n");
        fprintf(file, "add.u32 %%x5, %%x5, 1; setp.lt.u32 %%p1, %%x5, 3; @%%p1 bra again;\n" END);
        struct rig *rig = open_text(file);
        uint32_t r[THREADS], next[THREADS];
        for (uint32_t t = 0; t < THREADS; t++)
            r[t] = t;
        for (uint32_t i = 0; i < counts[c] * 3; i++) {
            for (uint32_t t = 0; t < THREADS; t++)
                next[t] = r[t] * 3 + r[(t + 1) % THREADS];
            memcpy(r, next, sizeof r);
        }
        FOR_SOME_VARIANTS
        {
            rig_run(rig, "turns", 1, THREADS, &params, sizeof params);
            for (uint32_t t = 0; t < THREADS; t++)
                assert_int_equal((uint32_t)out[t], r[t]);
        }
        char *code = rig_text(rig, "turns", MR_SHAPE_LINEAR | MR_SHAPE_FULL, NULL, false);
        assert_null(strstr(code, "\ndispatcher"));
        assert_non_null(strstr(code, "\nlatch"));
        free(code);
        rig_close(rig);
    }
}

/* Registers that are written once each, some under a guard, and read wherever: what is written before it is read has no
 * value at a warp's start. */
static void registers_written_once(void **unused)
{
    (void)unused;
    enum { COUNT = 1500 };
    struct {
        uint64_t *out;
    } params = {out};
    static uint32_t y[COUNT];
    FILE *file = begin_text();
    fprintf(file,
            BEGIN("once", "", ".reg .b32 %%y<%u>; .reg .pred %%q;\n") "mov.u32 %%y0, %%t; setp.lt.u32 %%q, %%t, 40;\n",
            COUNT);
    for (unsigned i = 1; i < COUNT; i++)
        fprintf(file, "%smad.lo.u32 %%y%u, %%y%u, %%y%u, %u;\n", i % 50 == 7 ? "@%q " : "", i, i - 1, i / 3, i);
    fprintf(file, "mov.u32 %%r, %%y%u;\n" END, COUNT - 1);
    struct rig *rig = open_text(file);
    FOR_VARIANTS {
        rig_run(rig, "once", 1, THREADS, &params, sizeof params);
        for (uint32_t t = 0; t < THREADS; t++) {
            y[0] = t;
            for (uint32_t i = 1; i < COUNT; i++)
                y[i] = i % 50 == 7 && t >= 40 ? 0 : y[i - 1] * y[i / 3] + i;
            assert_int_equal((uint32_t)out[t], y[COUNT - 1]);
        }
    }
    rig_close(rig);
}

/* Atomic operations in shared memory, each on what the one before gave. */
static void many_atomics(void **unused)
{
    (void)unused;
    enum { COUNT = 30 };
    struct {
        uint64_t *out;
    } params = {out};
    FILE *file = begin_text();
    fprintf(
        file,
        BEGIN(
            "atomics", "",
            ".shared .align 4 .b8 s[65536];\n") "mul.lo.u32 %%x0, %%t, 4; mov.u32 %%x1, s; add.u32 %%x0, %%x0, %%x1;\n");
    for (unsigned i = 0; i < COUNT; i++)
        fprintf(file,
                "st.shared.u32 [%%x0], %u; atom.shared.add.u32 %%x2, [%%x0], %%r; mad.lo.u32 %%r, %%x2, 3, %%r;\n", i);
    fprintf(file, END);
    struct rig *rig = open_text(file);
    FOR_VARIANTS {
        rig_run(rig, "atomics", 1, THREADS, &params, sizeof params);
        for (uint32_t t = 0; t < THREADS; t++) {
            uint32_t r = t;
            for (uint32_t i = 0; i < COUNT; i++)
                r += i * 3;
            assert_int_equal((uint32_t)out[t], r);
        }
    }
    rig_close(rig);
}

/* So many values at a time that the frame is larger than that of all slots and what a stack has to spare: more than a
 * megabyte. */
static void more_alive_than_expected(void **unused)
{
    (void)unused;
    enum { VALUES = 5000, NOT_OPTIMISED = 3 };
    struct {
        uint64_t *out;
    } params = {out};
    FILE *file = begin_text();
    fprintf(file, BEGIN("alive", "", ".reg .b64 %%a<%u>;\n") "ld.global.u64 %%d1, [%%out];\n", VALUES);
    for (unsigned i = 0; i < VALUES; i++)
        fprintf(file, "xor.b64 %%a%u, %%d1, %u;\n", i, i * i);
    for (unsigned i = VALUES; i-- > 0;)
        fprintf(file, "add.u64 %%d1, %%d1, %%a%u;\n", i);
    fprintf(file, "st.global.u64 [%%out], %%d1; ret;\n}\n");
    struct rig *rig = open_text(file);
    for (uint32_t t = 0; t < THREADS; t++)
        out[t] = UINT64_C(0x123456789) * t;
    rig_variant = NOT_OPTIMISED;
    rig_run(rig, "alive", 1, THREADS, &params, sizeof params);
    for (uint32_t t = 0; t < THREADS; t++) {
        uint64_t x = UINT64_C(0x123456789) * t, sum = x;
        for (uint64_t i = 0; i < VALUES; i++)
            sum += x ^ i * i;
        assert_true(out[t] == sum);
    }
    rig_close(rig);
}

/* More constants than stay in the instructions: of integers and floats, in sums, products, comparisons and choices. */
static void many_constants(void **unused)
{
    (void)unused;
    enum { ROUNDS = 160 };
    struct {
        uint64_t *out;
    } params = {.out = out};
    FILE *file = begin_text();
    fprintf(file, BEGIN("constants", "", ".reg .f32 %%f<4>;\n"));
    fprintf(file, "cvt.rn.f32.u32 %%f0, %%t; mov.f32 %%f1, 0f3F800000;\n");
    for (unsigned i = 0; i < ROUNDS; i++) {
        fprintf(file, "add.u32 %%r, %%r, %u; mul.lo.u32 %%x0, %%r, %u; xor.b32 %%r, %%x0, %u;\n", i * 2654435761u + 7,
                i * 2246822519u | 1, i * 3266489917u);
        fprintf(file, "setp.gt.u32 %%p0, %%r, %u; selp.b32 %%x1, %u, %%r, %%p0; add.u32 %%r, %%r, %%x1;\n",
                i * 668265263u, i * 374761393u);
        fprintf(file, "fma.rn.f32 %%f0, %%f0, 0f%08X, 0f%08X; fma.rn.f32 %%f1, %%f1, 0f%08X, 0f%08X;\n",
                bits_of(0.5f + (float)i / 1024), bits_of((float)i / 3), bits_of(0.25f + (float)i / 2048),
                bits_of((float)i / 7));
    }
    fprintf(file, "mov.b32 %%x2, %%f0; xor.b32 %%r, %%r, %%x2; mov.b32 %%x2, %%f1; add.u32 %%r, %%r, %%x2;\n" END);
    struct rig *rig = open_text(file);
    uint32_t expected[THREADS];
    for (uint32_t t = 0; t < THREADS; t++) {
        uint32_t r = t;
        float f0 = (float)t, f1 = 1;
        for (unsigned i = 0; i < ROUNDS; i++) {
            r = ((r + (i * 2654435761u + 7)) * (i * 2246822519u | 1)) ^ i * 3266489917u;
            r += r > i * 668265263u ? i * 374761393u : r;
            f0 = fmaf(f0, 0.5f + (float)i / 1024, (float)i / 3);
            f1 = fmaf(f1, 0.25f + (float)i / 2048, (float)i / 7);
        }
        expected[t] = (r ^ bits_of(f0)) + bits_of(f1);
    }
    FOR_VARIANTS {
        rig_run(rig, "constants", 1, THREADS, &params, sizeof params);
        for (uint32_t t = 0; t < THREADS; t++)
            assert_int_equal((uint32_t)out[t], expected[t]);
    }
    rig_close(rig);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(structs_in_local_memory),
                                       cmocka_unit_test(long_blocks),
                                       cmocka_unit_test(long_straight_code),
                                       cmocka_unit_test(many_ways),
                                       cmocka_unit_test(many_barriers),
                                       cmocka_unit_test(many_branches),
                                       cmocka_unit_test(barriers_in_turns),
                                       cmocka_unit_test(registers_written_once),
                                       cmocka_unit_test(many_atomics),
                                       cmocka_unit_test(more_alive_than_expected),
                                       cmocka_unit_test(many_constants)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
