/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Warps that take turns at barriers within one call: which kernels do, and that
 * each warp finds what it left. Every result is compared with what C makes of the same; variant 3 has stacks.
 */
#include <pthread.h>
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

#define HEAD ".version 8.0\n.target sm_90\n.address_size 64\n"

/* Around a body that has the thread's number in the grid in %t and in the block in %i, its input word in %x, cells of
 * shared memory at %s, its own at %c, and leaves its result in %r. */
#define KERNEL(name, body) \
    ".visible .entry " name "(.param .u64 in, .param .u64 out, .param .u32 n)\n{\n.shared .align 4 .b8 cells_" name \
    "[4096];\n" \
    ".reg .b32 %t, %i, %x, %r, %n, %s, %c, %b, %z, %y, %a<16>; .reg .b64 %in0, %out0, %in, %out, %o, %d<8>; .reg .pred %p<8>; .reg .f64 %f<4>; .reg .b16 %h<4>;\n" \
    "ld.param.u64 %in0, [in]; ld.param.u64 %out0, [out]; ld.param.u32 %n, [n];\n" \
    "mov.u32 %a0, %ntid.x; mov.u32 %a1, %tid.x; mov.u32 %a2, %tid.y; mad.lo.u32 %i, %a2, %a0, %a1; mov.u32 %a3, %ntid.y; mul.lo.u32 %b, %a0, %a3;\n" \
    "mov.u32 %a4, %ctaid.x; mad.lo.u32 %t, %a4, %b, %i;\n" \
    "mul.wide.u32 %o, %t, 4; add.u64 %in, %in0, %o; add.u64 %out, %out0, %o; ld.global.u32 %x, [%in];\n" \
    "mov.u32 %s, cells_" name "; shl.b32 %c, %i, 2; add.u32 %c, %c, %s;\n" body \
    "\nst.global.u32 [%out], %r;\nret;\n}\n"

#define THREADS_MAX 4096u
static uint32_t in[THREADS_MAX], out[THREADS_MAX];

#define FOR_VARIANTS for (rig_variant = 0; rig_variant < RIG_VARIANTS; rig_variant++)

static void start(void)
{
    for (uint32_t i = 0; i < THREADS_MAX; i++) {
        in[i] = i * 2654435761u >> 7;
        out[i] = 0xdeadbeef;
    }
}

static CUresult launch(struct rig *rig, const char *entry, unsigned blocks, unsigned x, unsigned y, uint32_t n)
{
    struct {
        uint32_t *in, *out;
        uint32_t n;
    } params = {in, out, n};
    unsigned grid[3] = {blocks, 1, 1}, block[3] = {x, y, 1};
    start();
    return rig_launch(rig, entry, grid, block, 0, &params, 20);
}

static const unsigned shapes[][2] = {{256, 1}, {1024, 1}, {32, 1}, {100, 1}, {7, 1}, {16, 16},
                                     {16, 6},  {8, 12},   {10, 7}, {64, 3},  {33, 3}};
#define SHAPES (sizeof shapes / sizeof *shapes)

/* Rounds in which each thread takes its neighbour's number: %z rounds, then what the rounds were. Warps leave it in a
 * state of their own. */
#define ROTATE \
    "st.shared.u32 [%c], %x; mov.u32 %z, 0; mov.u32 %r, 0;\n" \
    "add.u32 %a5, %i, 1; setp.eq.u32 %p1, %a5, %b; selp.u32 %a5, 0, %a5, %p1; shl.b32 %a5, %a5, 2; add.u32 %a5, %a5, %s;\n" \
    "round: bar.sync 0; ld.shared.u32 %a6, [%a5]; bar.sync 0; st.shared.u32 [%c], %a6; mad.lo.u32 %r, %r, 3, %a6;\n" \
    "add.u32 %z, %z, 1; setp.lt.u32 %p2, %z, %n; @%p2 bra round;\n"

static void barriers_in_loops(void **unused)
{
    (void)unused;
    struct rig *rig = rig_open(HEAD KERNEL("rotate", ROTATE));
    assert_int_equal(rig_flags(rig, "rotate"), 0);
    FOR_VARIANTS
        for (unsigned s = 0; s < SHAPES; s++) {
            unsigned threads = shapes[s][0] * shapes[s][1];
            assert_int_equal(launch(rig, "rotate", 3, shapes[s][0], shapes[s][1], 5), CUDA_SUCCESS);
            for (uint32_t i = 0; i < 3 * threads; i++) {
                uint32_t value = 0, t = i % threads;
                for (uint32_t k = 1; k <= 5; k++)
                    value = value * 3 + in[i - t + (t + k) % threads];
                assert_int_equal(out[i], value);
            }
        }
    rig_close(rig);
}

/* Threads from n on leave at once; warp w leaves after w + 1 barriers; odd lanes leave behind the second barrier. */
static void early_exits(void **unused)
{
    (void)unused;
    struct rig *rig = rig_open(
        HEAD KERNEL("some",
                    "setp.ge.u32 %p1, %i, %n; @%p1 ret; st.shared.u32 [%c], %x; bar.sync 0;\n"
                    "sub.u32 %a5, %n, %i; shl.b32 %a5, %a5, 2; add.u32 %a5, %a5, %s; ld.shared.u32 %r, [%a5+-4];")
            KERNEL(
                "warps",
                "shr.u32 %a5, %i, 5; mov.u32 %z, 0; mov.u32 %r, 0;\n"
                "setp.eq.u32 %p1, %i, 0; @%p1 st.shared.u32 [%s], 0; bar.sync 0;\n"
                "round: atom.shared.add.u32 %a6, [%s], 1; bar.sync 0; ld.shared.u32 %a7, [%s]; mad.lo.u32 %r, %r, 5, %a7; bar.sync 0;\n"
                "setp.lt.u32 %p2, %z, %a5; add.u32 %z, %z, 1; @%p2 bra round;")
                KERNEL(
                    "lanes",
                    "mov.u32 %r, %x; and.b32 %a5, %i, 1; setp.eq.u32 %p1, %a5, 1; bar.sync 0; st.shared.u32 [%c], %x; bar.sync 0;\n"
                    "@%p1 st.global.u32 [%out], %a5; @%p1 exit; st.shared.u32 [%c+4], %i; bar.sync 0; ld.shared.u32 %a6, [%c]; ld.shared.u32 %a7, [%c+4]; add.u32 %r, %a6, %a7;"));
    assert_int_equal(rig_flags(rig, "some"), 0);
    assert_int_equal(rig_flags(rig, "lanes"), 0);
    FOR_VARIANTS {
        for (unsigned n = 1; n < 128; n += 21) {
            assert_int_equal(launch(rig, "some", 2, 128, 1, n), CUDA_SUCCESS);
            for (uint32_t i = 0; i < 256; i++)
                assert_int_equal(out[i], i % 128 < n ? in[i / 128 * 128 + n - 1 - i % 128] : 0xdeadbeef);
        }
        assert_int_equal(launch(rig, "lanes", 2, 96, 1, 0), CUDA_SUCCESS);
        for (uint32_t i = 0; i < 192; i++)
            assert_int_equal(out[i], i & 1 ? 1 : in[i] + i % 96);
        assert_int_equal(launch(rig, "warps", 1, 128, 1, 0), CUDA_SUCCESS);
        uint32_t value = 0, count = 0;
        for (uint32_t w = 0; w < 4; w++) {
            count += 128 - 32 * w;
            value = value * 5 + count;
            for (uint32_t i = 0; i < 32; i++)
                assert_int_equal(out[32 * w + i], value);
        }
    }
    rig_close(rig);
}

/* What lives across a barrier: predicates, 16 and 64 bits, vectors and scalars, .local memory, the thread's place. */
static void registers_are_kept(void **unused)
{
    (void)unused;
    struct rig *rig = rig_open(
        HEAD KERNEL(
            "kinds",
            "setp.gt.u32 %p1, %x, 99999; setp.lt.u32 %p2, %i, 40; cvt.u16.u32 %h1, %x; cvt.rn.f64.u32 %f1, %x; mul.wide.u32 %d1, %x, %x; shr.u32 %a5, %i, 5;\n"
            "mul.lo.u32 %a6, %a4, 77; bar.sync 0; mov.u32 %a7, %tid.x; mov.u32 %a8, %laneid; cvt.u32.u16 %a9, %h1; cvt.rzi.u32.f64 %a10, %f1; cvt.u32.u64 %a11, %d1;\n"
            "selp.u32 %r, 1, 2, %p1; selp.u32 %a12, 4, 8, %p2; add.u32 %r, %r, %a12; add.u32 %r, %r, %a7; mad.lo.u32 %r, %a8, 16, %r; add.u32 %r, %r, %a9;\n"
            "add.u32 %r, %r, %a10; add.u32 %r, %r, %a11; add.u32 %r, %r, %a5; add.u32 %r, %r, %a6;")
            KERNEL(
                "locals",
                ".local .align 16 .b8 mine[40]; .local .align 4 .u32 other; and.b32 %a5, %x, 7; mov.u64 %d1, mine; mul.wide.u32 %d2, %a5, 4; add.u64 %d1, %d1, %d2;\n"
                "st.local.u32 [mine+4], 3; st.local.u32 [%d1], %x; st.local.u32 [other], %i; bar.sync 0; st.shared.u32 [%c], %t; bar.sync 0;\n"
                "ld.local.u32 %r, [%d1]; ld.local.u32 %a6, [other]; add.u32 %r, %r, %a6;")
        /* Lanes that stop at different barriers, and lanes that go around while others wait, each with numbers of its
           own. */
        KERNEL(
            "apart",
            "and.b32 %a5, %i, 3; mul.lo.u32 %a6, %x, 3; mov.u32 %r, 0; mov.u32 %z, 0; setp.eq.u32 %p1, %a5, 0; @%p1 bra other;\n"
            "around: add.u32 %z, %z, 1; mad.lo.u32 %r, %r, 7, %a6; setp.lt.u32 %p2, %z, %a5; @%p2 bra around; barrier.sync 0; add.u32 %r, %r, %a5; bra join;\n"
            "other: xor.b32 %a7, %a6, 85; barrier.sync 0; add.u32 %r, %a7, 1;\n"
            "join: add.u32 %r, %r, %a6; barrier.sync 0; add.u32 %r, %r, %z;"));
    FOR_VARIANTS
        for (unsigned s = 0; s < SHAPES; s++) {
            unsigned x = shapes[s][0], threads = x * shapes[s][1];
            assert_int_equal(launch(rig, "kinds", 3, x, shapes[s][1], 0), CUDA_SUCCESS);
            for (uint32_t k = 0; k < 3 * threads; k++) {
                uint32_t i = k % threads, value = (in[k] > 99999 ? 1 : 2) + (i < 40 ? 4 : 8) + i % x + i % 32 * 16;
                assert_int_equal(out[k], value + (in[k] & 0xffff) + in[k] + in[k] * in[k] + i / 32 + k / threads * 77);
            }
            assert_int_equal(launch(rig, "locals", 3, x, shapes[s][1], 0), CUDA_SUCCESS);
            for (uint32_t k = 0; k < 3 * threads; k++)
                assert_int_equal(out[k], in[k] + k % threads);
            assert_int_equal(launch(rig, "apart", 3, x, shapes[s][1], 0), CUDA_SUCCESS);
            for (uint32_t k = 0; k < 3 * threads; k++) {
                uint32_t kind = k % threads & 3, value = 0, by = in[k] * 3;
                for (uint32_t z = 0; z < kind; z++)
                    value = value * 7 + by;
                assert_int_equal(out[k], kind ? value + kind + by + kind : (by ^ 85) + 1 + by);
            }
        }
    assert_int_equal(rig_flags(rig, "kinds") | rig_flags(rig, "locals") | rig_flags(rig, "apart"), 0);
    rig_close(rig);
}

/* bar.red in a loop: each round other lanes say yes; the results of a round don't leak into the next. */
static void reductions(void **unused)
{
    (void)unused;
    struct rig *rig = rig_open(HEAD KERNEL(
        "reduce",
        "mov.u32 %r, 0; mov.u32 %z, 0;\n"
        "round: shr.u32 %a5, %x, %z; and.b32 %a5, %a5, 1; setp.eq.u32 %p1, %a5, 1; bar.red.popc.u32 %a6, 2, %p1; setp.ge.u32 %p2, %i, %z; bar.red.and.pred %p3, 2, %p2;\n"
        "setp.eq.u32 %p4, %i, %z; bar.red.or.pred %p5, 2, %p4; selp.u32 %a7, 1, 0, %p3; selp.u32 %a8, 2, 0, %p5; add.u32 %a7, %a7, %a8;\n"
        "mad.lo.u32 %r, %r, 9, %a6; mad.lo.u32 %r, %r, 5, %a7; add.u32 %z, %z, 1; setp.lt.u32 %p6, %z, %n; @%p6 bra round;"));
    assert_int_equal(rig_flags(rig, "reduce"), 0);
    FOR_VARIANTS
        for (unsigned s = 0; s < SHAPES; s++) {
            unsigned threads = shapes[s][0] * shapes[s][1];
            assert_int_equal(launch(rig, "reduce", 2, shapes[s][0], shapes[s][1], 10), CUDA_SUCCESS);
            for (uint32_t b = 0; b < 2; b++) {
                uint32_t value = 0;
                for (uint32_t z = 0; z < 10; z++) {
                    uint32_t count = 0;
                    for (uint32_t i = 0; i < threads; i++)
                        count += in[b * threads + i] >> z & 1;
                    value = (value * 9 + count) * 5 + (z == 0) + (z < threads ? 2 : 0);
                }
                for (uint32_t i = 0; i < threads; i++)
                    assert_int_equal(out[b * threads + i], value);
            }
        }
    rig_close(rig);
}

/* Two numbers by turns are fine; warps at different numbers can't go on. */
static void named_barriers(void **unused)
{
    (void)unused;
    struct rig *rig = rig_open(
        HEAD KERNEL(
            "turns",
            "st.shared.u32 [%c], %x; bar.sync 3; xor.b32 %a5, %i, 64; shl.b32 %a5, %a5, 2; add.u32 %a5, %a5, %s; ld.shared.u32 %r, [%a5]; bar.sync 7;\n"
            "st.shared.u32 [%c], %r; barrier.sync.aligned 15; ld.shared.u32 %a6, [%a5]; sub.u32 %r, %r, %a6;")
            KERNEL("stuck",
                   "setp.lt.u32 %p1, %i, 32; mov.u32 %r, 1; @%p1 bra one; bar.sync 1; bra on; one: bar.sync 2; on:")
                KERNEL("leaves", "setp.lt.u32 %p1, %i, 32; mov.u32 %r, 1; @%p1 bra on; bar.sync 1; on:"));
    assert_int_equal(rig_flags(rig, "turns"), 0);
    assert_int_equal(rig_flags(rig, "stuck"), MR_CODE_COOPERATIVE | MR_CODE_WAITS); /* one warp could stand at both */
    FOR_VARIANTS {
        assert_int_equal(launch(rig, "turns", 2, 128, 1, 0), CUDA_SUCCESS);
        for (uint32_t i = 0; i < 256; i++)
            assert_int_equal(out[i], in[i ^ 64] - in[i]);
        assert_int_equal(launch(rig, "stuck", 1, 64, 1, 0), CUDA_ERROR_LAUNCH_FAILED);
        assert_int_equal(launch(rig, "leaves", 1, 96, 1, 0), CUDA_SUCCESS);
        assert_int_equal(launch(rig, "turns", 2, 128, 1, 0), CUDA_SUCCESS);
        for (uint32_t i = 0; i < 256; i++)
            assert_int_equal(out[i], in[i ^ 64] - in[i]);
    }
    rig_close(rig);
}

/* What needs stacks has them; functions are called between barriers, and have barriers. */
static void stacks_where_they_are_needed(void **unused)
{
    (void)unused;
    static const char functions[] =
        ".func (.param .b32 r) twice(.param .b32 a)\n{ .reg .b32 %a; ld.param.b32 %a, [a]; add.u32 %a, %a, %a; st.param.b32 [r], %a; ret; }\n"
        ".func meet()\n{ bar.sync 0; ret; }\n";
    char *text = malloc(16384);
    snprintf(
        text, 16384, "%s%s%s%s%s%s%s%s%s", HEAD, functions,
        KERNEL(
            "calls",
            "st.shared.u32 [%c], %x; bar.sync 0; { .param .b32 a; .param .b32 r; ld.shared.u32 %a5, [%c]; st.param.b32 [a], %a5; call (r), twice, (a); ld.param.b32 %a6, [r]; }\n"
            "bar.sync 0; { .param .b32 a; .param .b32 r; st.param.b32 [a], %a6; call (r), twice, (a); ld.param.b32 %r, [r]; }"),
        KERNEL(
            "inside",
            "st.shared.u32 [%c], %x; call meet; xor.b32 %a5, %i, 32; shl.b32 %a5, %a5, 2; add.u32 %a5, %a5, %s; ld.shared.u32 %r, [%a5];"),
        KERNEL("counted", "bar.sync 0, %b; bar.sync 1; mov.u32 %r, %x;"),
        KERNEL("guarded", "setp.eq.u32 %p1, %n, 0; @%p1 bar.sync 0; mov.u32 %r, %x;"),
        KERNEL(
            "arrives",
            "setp.lt.u32 %p1, %i, 32; @%p1 bra one; bar.arrive 1, 64; bra on; one: bar.sync 1, 64; on: bar.sync 0; mov.u32 %r, %x;"),
        KERNEL("numbered", "bar.sync %n; mov.u32 %r, %x;"),
        KERNEL("sleeps", "bar.sync 0; nanosleep.u32 10; mov.u32 %r, %x;"));
    struct rig *rig = rig_open(text);
    assert_int_equal(rig_flags(rig, "calls"), 0);
    static const char *const others[] = {"inside", "counted", "guarded", "arrives", "numbered", "sleeps"};
    for (unsigned k = 0; k < sizeof others / sizeof *others; k++)
        assert_int_equal(rig_flags(rig, others[k]),
                         strcmp(others[k], "arrives") == 0 ? MR_CODE_COOPERATIVE | MR_CODE_WAITS : MR_CODE_COOPERATIVE);
    FOR_VARIANTS {
        assert_int_equal(launch(rig, "calls", 2, 64, 1, 0), CUDA_SUCCESS);
        for (uint32_t i = 0; i < 128; i++)
            assert_int_equal(out[i], 4 * in[i]);
        for (unsigned k = 0; k < sizeof others / sizeof *others; k++) {
            assert_int_equal(launch(rig, others[k], 2, 64, 1, 0), CUDA_SUCCESS);
            for (uint32_t i = 0; i < 128; i++)
                assert_int_equal(out[i], in[k == 0 ? i ^ 32 : i]);
        }
    }
    free(text);
    rig_close(rig);
}

/* A fault in one warp's turn ends the launch with its status, and the next launch is whole again. */
static void faults(void **unused)
{
    (void)unused;
    struct rig *rig = rig_open(
        HEAD KERNEL(
            "odd",
            "bar.sync 0; setp.eq.u32 %p1, %i, 70; selp.u64 %d1, 2, 0, %p1; add.u64 %d1, %d1, %in; ld.global.u32 %r, [%d1]; bar.sync 0;")
            KERNEL("traps", "bar.sync 0; setp.ne.u32 %p1, %i, 70; @%p1 bra on; trap; on: bar.sync 0; mov.u32 %r, %x;")
                KERNEL("rotate", ROTATE));
    FOR_VARIANTS {
        assert_int_equal(launch(rig, "odd", 2, 128, 1, 0), CUDA_ERROR_MISALIGNED_ADDRESS);
        assert_int_equal(launch(rig, "rotate", 2, 128, 1, 1), CUDA_SUCCESS);
        assert_int_equal(launch(rig, "traps", 2, 128, 1, 0), CUDA_ERROR_LAUNCH_FAILED);
        assert_int_equal(launch(rig, "rotate", 2, 128, 1, 1), CUDA_SUCCESS);
        for (uint32_t i = 0; i < 256; i++)
            assert_int_equal(out[i], in[i / 128 * 128 + (i + 1) % 128]);
    }
    rig_close(rig);
}

/* Two blocks at once, each on a thread: the code keeps nothing outside of its frame. */
struct side {
    struct rig *rig;
    uint32_t in[256], out[256];
    CUresult status;
};

static void *run_side(void *data)
{
    struct side *side = data;
    struct {
        uint32_t *in, *out;
        uint32_t n;
    } params = {side->in, side->out, 3};
    unsigned grid[3] = {2, 1, 1}, block[3] = {128, 1, 1};
    for (unsigned round = 0; round < 50 && side->status == CUDA_SUCCESS; round++)
        side->status = rig_launch(side->rig, "rotate", grid, block, 0, &params, 20);
    return NULL;
}

static void blocks_on_two_threads(void **unused)
{
    (void)unused;
    struct rig *rig = rig_open(HEAD KERNEL("rotate", ROTATE));
    rig_variant = 0;
    assert_int_equal(launch(rig, "rotate", 2, 128, 1, 3), CUDA_SUCCESS); /* compiles */
    struct side *sides = calloc(2, sizeof *sides);
    pthread_t threads[2];
    for (unsigned s = 0; s < 2; s++) {
        sides[s].rig = rig;
        for (uint32_t i = 0; i < 256; i++)
            sides[s].in[i] = i * 2654435761u >> (s + 3);
        assert_int_equal(pthread_create(&threads[s], NULL, run_side, &sides[s]), 0);
    }
    for (unsigned s = 0; s < 2; s++) {
        pthread_join(threads[s], NULL);
        assert_int_equal(sides[s].status, CUDA_SUCCESS);
        for (uint32_t i = 0; i < 256; i++) {
            uint32_t value = 0;
            for (uint32_t k = 1; k <= 3; k++)
                value = value * 3 + sides[s].in[i / 128 * 128 + (i + k) % 128];
            assert_int_equal(sides[s].out[i], value);
        }
    }
    free(sides);
    rig_close(rig);
}

/* Around a loop over every word from %t on by the width of the grid, which is in %a7 then. */
#define STRIDE(label, inside) \
    "mov.u32 %z, %t; mov.u32 %a5, %nctaid.x; mul.lo.u32 %a6, %a5, %b; setp.ge.u32 %p1, %z, %n; @%p1 bra " label \
    "done;\n" label ": mul.wide.u32 %d1, %z, 4; add.u64 %d1, %d1, %in0; ld.global.u32 %a7, [%d1];\n" inside \
    "add.u32 %z, %z, %a6; setp.lt.u32 %p2, %z, %n; @%p2 bra " label ";\n" label "done:\n"

static uint32_t strided(uint32_t value, uint32_t factor, uint32_t first, uint32_t step, uint32_t n)
{
    for (uint32_t i = first; i < n; i += step)
        value = value * factor + in[i];
    return value;
}

/* Loops that stride over memory: warps take turns in them too, while others wait at the barrier behind, and whatever
 * number of rounds each has. */
static void striding_loops(void **unused)
{
    (void)unused;
    struct rig *rig =
        rig_open(
            HEAD KERNEL("alone", "mov.u32 %r, %x;\n" STRIDE("one", "mad.lo.u32 %r, %r, 3, %a7;")) KERNEL(
                "barriers",
                "mov.u32 %r, %i;\n" STRIDE("one", "mad.lo.u32 %r, %r, 3, %a7;") "st.shared.u32 [%c], %r; setp.lt.u32 %p3, %t, %n; bar.red.popc.u32 %a9, 0, %p3;\n" STRIDE(
                    "two",
                    "mad.lo.u32 %r, %r, 5, %a7;") "sub.u32 %a8, %b, %i; shl.b32 %a8, %a8, 2; add.u32 %a8, %a8, %s; ld.shared.u32 %a8, [%a8+-4]; add.u32 %r, %r, %a8; add.u32 %r, %r, %a9; bar.sync 0;")
                KERNEL(
                    "exits",
                    "mov.u32 %r, 0;\n" STRIDE(
                        "one",
                        "mad.lo.u32 %r, %r, 3, %a7; and.b32 %a8, %a7, 7; setp.eq.u32 %p3, %a8, 5; @%p3 st.global.u32 [%out], %r; @%p3 exit;") "bar.sync 0; add.u32 %r, %r, 1;"));
    static const char *const names[] = {"alone", "barriers", "exits"};
    for (unsigned k = 0; k < 3; k++) {
        char *ir = rig_text(rig, names[k], MR_SHAPE_LINEAR, "x86-64-v4", false);
        assert_non_null(strstr(ir, "i32 65537"));
        free(ir);
        assert_int_equal(rig_flags(rig, names[k]) & MR_CODE_COOPERATIVE, 0);
    }
    FOR_VARIANTS
        for (unsigned s = 0; s < SHAPES; s++) {
            unsigned x = shapes[s][0], threads = x * shapes[s][1], step = 3 * threads;
            for (unsigned n = 0; n <= THREADS_MAX; n = n * 5 + 40) {
                assert_int_equal(launch(rig, "alone", 3, x, shapes[s][1], n), CUDA_SUCCESS);
                for (uint32_t k = 0; k < step; k++)
                    assert_int_equal(out[k], strided(in[k], 3, k, step, n));
                assert_int_equal(launch(rig, "barriers", 3, x, shapes[s][1], n), CUDA_SUCCESS);
                for (uint32_t k = 0; k < step; k++) {
                    uint32_t i = k % threads, first = k - i, other = threads - 1 - i;
                    uint32_t value =
                        strided(strided(i, 3, k, step, n), 5, k, step, n) + strided(other, 3, first + other, step, n);
                    assert_int_equal(out[k], value + (n <= first ? 0 : n - first < threads ? n - first : threads));
                }
                assert_int_equal(launch(rig, "exits", 3, x, shapes[s][1], n), CUDA_SUCCESS);
                for (uint32_t k = 0; k < step; k++) {
                    uint32_t value = 0, end = 1;
                    for (uint32_t i = k; i < n && end; i += step) {
                        value = value * 3 + in[i];
                        end = (in[i] & 7) != 5;
                    }
                    assert_int_equal(out[k], value + end);
                }
            }
        }
    rig_close(rig);
}

/* Such a loop by the width of the block, which lanes leave at its head: what a warp needs to go on is not what lives
 * where they leave to. */
static void striding_loops_left_at_their_head(void **unused)
{
    (void)unused;
    struct rig *rig = rig_open(
        HEAD
        ".visible .entry left(.param .u64 in, .param .u64 out, .param .u32 n)\n{\n"
        ".reg .b32 %i, %b, %z, %a, %x, %n; .reg .b64 %in0, %out0, %in, %out, %o, %w; .reg .pred %p<2>;\n"
        "ld.param.u64 %in0, [in]; ld.param.u64 %out0, [out]; ld.param.u32 %n, [n]; mov.u32 %i, %tid.x; mov.u32 %b, %ntid.x;\n"
        "mul.wide.u32 %o, %i, 4; mul.wide.u32 %w, %b, 4; add.u64 %in, %in0, %o; add.u64 %out, %out0, %o; mov.u32 %z, 0;\n"
        "around: add.u32 %a, %i, %z; setp.ge.u32 %p0, %a, %n; @%p0 bra over; ld.global.u32 %x, [%in]; add.u32 %x, %x, %x;\n"
        "st.global.u32 [%out], %x; add.u32 %z, %z, %b; add.u64 %in, %in, %w; add.u64 %out, %out, %w;\n"
        "setp.lt.u32 %p1, %z, %n; @%p1 bra around;\nover: ret;\n}\n");
    char *ir = rig_text(rig, "left", MR_SHAPE_LINEAR, "x86-64-v4", false);
    assert_non_null(strstr(ir, "i32 65537"));
    free(ir);
    FOR_VARIANTS
        for (unsigned s = 0; s < SHAPES; s++)
            for (unsigned n = 1; n <= THREADS_MAX && shapes[s][1] == 1; n = n * 5 + 40) {
                assert_int_equal(launch(rig, "left", 1, shapes[s][0], 1, n), CUDA_SUCCESS);
                for (uint32_t i = 0; i < THREADS_MAX; i++)
                    assert_int_equal(out[i], i < n ? 2 * in[i] : 0xdeadbeef);
            }
    rig_close(rig);
}

/* Lines that have all three texts. */
static unsigned lines_with(const char *text, const char *first, const char *second, const char *third)
{
    unsigned count = 0;
    for (const char *line = text; *line;) {
        size_t length = strcspn(line, "\n");
        char copy[1024];
        snprintf(copy, sizeof copy, "%.*s", (int)length, line);
        count += strstr(copy, first) && strstr(copy, second) && strstr(copy, third);
        line += length + (line[length] == '\n');
    }
    return count;
}

/* The code itself. What a lane is in its warp is known when the code is made: no comparisons are left. A comparison of
 * warps is one of scalars. Bins are counted through addresses read from memory. */
static void code_of_warps(void **unused)
{
    (void)unused;
    struct rig *rig = rig_open(
        HEAD KERNEL(
            "lanes",
            "and.b32 %a5, %a1, 31; setp.lt.u32 %p1, %a5, 4; shfl.sync.up.b32 %a6, %x, 4, 0, -1; add.u32 %a6, %a6, %x; selp.u32 %r, %x, %a6, %p1;")
            KERNEL(
                "warps",
                "mov.u32 %r, %x; setp.lt.u32 %p1, %a1, 64; @%p1 bra on; mul.lo.u32 %r, %r, 3; on: setp.le.s32 %p2, %a1, 31; @%p2 bra off; add.u32 %r, %r, 1; off:")
                KERNEL(
                    "bins",
                    "and.b32 %a5, %x, 63; shl.b32 %a5, %a5, 2; add.u32 %a5, %a5, %s; mov.u32 %z, 0; bar.sync 0; atom.shared.add.u32 %a6, [%a5], 1; bar.sync 0; ld.shared.u32 %r, [%c];"));
    unsigned shape = MR_SHAPE_LINEAR | MR_SHAPE_FULL;
    char *ir = rig_text(rig, "lanes", shape, "x86-64-v4", false);
    assert_int_equal(lines_with(ir, "icmp", "<32 x i32>", ""), 0);
    free(ir);
    ir = rig_text(rig, "warps", shape, "x86-64-v4", false);
    assert_int_equal(lines_with(ir, "icmp", "<32 x i32>", ""), 0);
    assert_int_equal(lines_with(ir, "mul", "<32 x i32>", ""), 1);
    free(ir);
    char *assembly = rig_text(rig, "bins", shape, "x86-64-v4", true);
    assert_int_equal(lines_with(assembly, "vpextrq", "", ""), 0);
    assert_in_range(lines_with(assembly, "inc", "(", ")"), 32, 40);
    free(assembly);
    FOR_VARIANTS
        for (unsigned s = 0; s < SHAPES; s++) {
            unsigned x = shapes[s][0], threads = x * shapes[s][1];
            assert_int_equal(launch(rig, "warps", 3, x, shapes[s][1], 0), CUDA_SUCCESS);
            for (uint32_t k = 0; k < 3 * threads; k++)
                assert_int_equal(out[k], in[k] * (k % threads % x < 64 ? 1 : 3) + (k % threads % x > 31));
            if (shapes[s][1] > 1 || threads % 32)
                continue;
            assert_int_equal(launch(rig, "lanes", 3, x, 1, 0), CUDA_SUCCESS);
            for (uint32_t k = 0; k < 3 * threads; k++)
                assert_int_equal(out[k], in[k] + (k % 32 < 4 ? 0 : in[k - 4]));
        }
    rig_close(rig);
}

/* What waits at several barriers unchanged goes to the warp's record once. What is written here and there, under
 * guards, in branches and in rounds, is what it was at each of them. */
static void unchanged_registers_are_kept_once(void **unused)
{
    (void)unused;
    struct rig *rig = rig_open(
        HEAD KERNEL(
            "unchanged",
            "st.shared.u32 [%c], %i; bar.sync 0; ld.shared.u32 %a5, [%s]; bar.sync 0; st.shared.u32 [%c], %a5;\n"
            "bar.sync 0; bar.sync 0; bar.sync 0; bar.sync 0; add.u32 %r, %a5, %x;")
            KERNEL(
                "changing",
                "mul.lo.u32 %a5, %x, 5; and.b32 %a6, %x, 7; setp.lt.u32 %p1, %a6, 3; mov.u32 %z, %x; bar.sync 0;\n"
                "@%p1 add.u32 %z, %z, 11; bar.sync 0; @%p1 bra past; mul.lo.u32 %z, %z, 3; mov.u32 %a9, %i; past:\n"
                "bar.sync 0; @%p1 mov.u32 %a9, 7; mov.u32 %y, 0; mov.u32 %a7, 0; bar.sync 0;\n"
                "round: mad.lo.u32 %y, %y, 3, %a5; add.u32 %a7, %a7, 1; bar.sync 0; xor.b32 %y, %y, %z;\n"
                "setp.lt.u32 %p2, %a7, %n; @%p2 bra round; bar.sync 0; mad.lo.u32 %r, %y, 7, %a9; add.u32 %r, %r, %z;"));
    unsigned shape = MR_SHAPE_LINEAR | MR_SHAPE_FULL;
    char *ir = rig_text(rig, "unchanged", shape, "x86-64-v4", false);
    assert_int_equal(lines_with(ir, "store", "<32 x i32>", "align 64"), 1); /* in records; others are less aligned */
    free(ir);
    FOR_VARIANTS
        for (unsigned s = 0; s < SHAPES; s++) {
            unsigned threads = shapes[s][0] * shapes[s][1];
            assert_int_equal(launch(rig, "unchanged", 3, shapes[s][0], shapes[s][1], 0), CUDA_SUCCESS);
            for (uint32_t i = 0; i < 3 * threads; i++)
                assert_int_equal(out[i], in[i]);
            assert_int_equal(launch(rig, "changing", 3, shapes[s][0], shapes[s][1], 4), CUDA_SUCCESS);
            for (uint32_t i = 0; i < 3 * threads; i++) {
                bool guard = (in[i] & 7) < 3;
                uint32_t z = guard ? in[i] + 11 : in[i] * 3, y = 0;
                for (unsigned round = 0; round < 4; round++)
                    y = (y * 3 + in[i] * 5) ^ z;
                assert_int_equal(out[i], y * 7 + (guard ? 7 : i % threads) + z);
            }
        }
    rig_close(rig);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(barriers_in_loops),
                                       cmocka_unit_test(early_exits),
                                       cmocka_unit_test(registers_are_kept),
                                       cmocka_unit_test(unchanged_registers_are_kept_once),
                                       cmocka_unit_test(reductions),
                                       cmocka_unit_test(named_barriers),
                                       cmocka_unit_test(stacks_where_they_are_needed),
                                       cmocka_unit_test(faults),
                                       cmocka_unit_test(striding_loops),
                                       cmocka_unit_test(striding_loops_left_at_their_head),
                                       cmocka_unit_test(code_of_warps),
                                       cmocka_unit_test(blocks_on_two_threads)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
