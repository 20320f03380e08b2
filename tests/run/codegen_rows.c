/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Blocks whose warps are several rows: 16 and 8 threads wide, beside shapes that are nearly so.
 *
 * Each kernel writes a record for each thread, which is compared with what C makes of the thread's three numbers. What
 * is tried: rows with a pitch known when the kernel runs, elements in pairs and quads, one address for a row, rows
 * without lanes that run, sums that overflow 32 bits in some lanes of some rows, strides in both directions, shared and
 * local memory, loops over rows, functions.
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
#define WORDS 65536u

static const unsigned shapes[][3] = {{16, 16, 1}, {8, 8, 1}, {16, 2, 3}, {8, 4, 2},  {8, 12, 1}, {16, 6, 5},
                                     {16, 3, 2},  {8, 2, 2}, {4, 8, 1},  {32, 4, 1}, {24, 4, 1}, {64, 1, 1}};
static uint32_t in[WORDS] __attribute__((aligned(64)));
static uint64_t out[2048] __attribute__((aligned(64)));

struct where {
    unsigned x, y, z, block, linear, lane;
};
typedef uint64_t expected_fn(struct where at, uint32_t n);

#define REGISTERS \
    ".reg .b32 %x, %y, %z, %n, %nx, %ny, %l, %bx, %a<20>; .reg .b64 %in, %out, %o, %r, %d<20>; .reg .pred %c, %e; .reg .f32 %f<8>;\n"
/* %x %y %z; %l the thread's number over all blocks; %r the result, which starts as 77. */
#define ENTRY(name, declarations, body) \
    ".visible .entry " name "(.param .u64 in, .param .u64 out, .param .u32 n)\n{\n" REGISTERS declarations \
    "ld.param.u64 %in, [in]; ld.param.u64 %out, [out]; ld.param.u32 %n, [n]; mov.u32 %x, %tid.x; mov.u32 %y, %tid.y; mov.u32 %z, %tid.z;\n" \
    "mov.u32 %nx, %ntid.x; mov.u32 %ny, %ntid.y; mov.u32 %bx, %ctaid.x; mad.lo.u32 %l, %z, %ny, %y; mad.lo.u32 %l, %l, %nx, %x;\n" \
    "mul.lo.u32 %a1, %nx, %ny; mov.u32 %a2, %ntid.z; mul.lo.u32 %a1, %a1, %a2; mad.lo.u32 %l, %bx, %a1, %l; mov.u64 %r, 77;\n" body \
    "\nend: mul.wide.u32 %o, %l, 8; add.u64 %o, %out, %o; st.global.u64 [%o], %r; ret;\n}\n"

static void check(struct rig *rig, const char *entry, uint32_t n, expected_fn *expected)
{
    for (rig_variant = 0; rig_variant < RIG_VARIANTS; rig_variant++)
        for (unsigned k = 0; k < sizeof shapes / sizeof *shapes; k++) {
            const unsigned *block = shapes[k], grid[3] = {2, 1, 1};
            unsigned threads = block[0] * block[1] * block[2];
            struct {
                uint32_t *in;
                uint64_t *out;
                uint32_t n;
            } params = {in, out, n};
            for (uint32_t i = 0; i < WORDS; i++)
                in[i] = i * 2654435761u >> 3;
            memset(out, 0xee, sizeof out);
            assert_int_equal(rig_launch(rig, entry, grid, block, 0, &params, 20), CUDA_SUCCESS);
            for (unsigned i = 0; i < 2 * threads; i++) {
                unsigned t = i % threads;
                struct where at = {t % block[0], t / block[0] % block[1], t / block[0] / block[1], i / threads, i,
                                   t % 32};
                if (out[i] != expected(at, n))
                    fail_msg("%s, variant %u, block %ux%ux%u, thread %u: %llx, expected %llx", entry, rig_variant,
                             block[0], block[1], block[2], i, (unsigned long long)out[i],
                             (unsigned long long)expected(at, n));
            }
            assert_true(out[2 * threads] == 0xeeeeeeeeeeeeeeee);
        }
}

static uint32_t word(uint64_t i)
{
    return (uint32_t)i * 2654435761u >> 3;
}

static uint64_t pitch_expected(struct where at, uint32_t n)
{
    uint64_t i = (at.y + 1) * n + at.x + 1;
    return (uint64_t)word(i) + word(i - 1) + word(i - n) * 2;
}

static uint64_t quads_expected(struct where at, uint32_t n)
{
    uint64_t i = at.y * n * 4 + at.x * 4;
    return (uint64_t)word(i) + word(i + 3) + word(1024 + i / 2 + 1);
}

static uint64_t pairs_expected(struct where at, uint32_t n)
{
    (void)n;
    return (uint64_t)word(at.y * 100 + at.x * 2) << 32 | word(at.y * 100 + at.x * 2 + 1);
}

static void rows_with_a_pitch(void **unused)
{
    (void)unused;
    struct rig *rig = rig_open(
        HEAD ENTRY(
            "pitch", "",
            "add.u32 %a3, %y, 1; mad.lo.s32 %a3, %a3, %n, %x; add.s32 %a3, %a3, 1; mul.wide.s32 %d1, %a3, 4; add.s64 %d1, %in, %d1;\n"
            "ld.global.u32 %a4, [%d1]; ld.global.u32 %a5, [%d1+-4]; mul.wide.s32 %d2, %n, 4; sub.s64 %d1, %d1, %d2; ld.global.u32 %a6, [%d1];\n"
            "shl.b32 %a6, %a6, 1; cvt.u64.u32 %d3, %a4; cvt.u64.u32 %d4, %a5; cvt.u64.u32 %d5, %a6; add.u64 %r, %d3, %d4; add.u64 %r, %r, %d5;")
            ENTRY(
                "quads", "",
                "mul.lo.u32 %a3, %y, %n; add.u32 %a3, %a3, %x; mul.wide.u32 %d1, %a3, 16; add.u64 %d1, %d1, %in; ld.global.v4.u32 {%a4, %a5, %a6, %a7}, [%d1];\n"
                "mul.wide.u32 %d2, %a3, 8; add.u64 %d2, %d2, %in; ld.global.v2.u32 {%a8, %a9}, [%d2+4096]; cvt.u64.u32 %d3, %a4; cvt.u64.u32 %d4, %a7;\n"
                "cvt.u64.u32 %d5, %a9; add.u64 %r, %d3, %d4; add.u64 %r, %r, %d5;")
                ENTRY(
                    "pairs", "",
                    "mul.lo.u32 %a3, %y, 100; mad.lo.u32 %a3, %x, 2, %a3; mul.wide.u32 %d1, %a3, 4; add.u64 %d1, %d1, %in; mov.u32 %a4, 5;\n"
                    "ld.global.v2.u32 {%a5, %a6}, [%d1]; mul.wide.u32 %d2, %l, 8; add.u64 %d2, %out, %d2; st.global.v2.u32 [%d2], {%a6, %a5}; ld.global.u64 %r, [%d2];"));
    for (uint32_t n = 1; n < 300; n += 97) {
        check(rig, "pitch", n, pitch_expected);
        check(rig, "quads", n, quads_expected);
        check(rig, "pairs", n, pairs_expected);
    }
    rig_close(rig);
}

static uint64_t shared_row_expected(struct where at, uint32_t n)
{
    return word(at.y * n) + (uint64_t)word(at.y * 3 + 1);
}

static uint64_t one_row_expected(struct where at, uint32_t n)
{
    return at.y == n ? word(40) + (uint64_t)word(40 + at.x) : 77;
}

static uint64_t some_expected(struct where at, uint32_t n)
{
    return at.y % 4 == n % 4 && at.x > 2 ? word(at.y) : 77;
}

/* Addresses that are the same in a row. A row that doesn't run has an address that leads nowhere. */
static void one_address_for_a_row(void **unused)
{
    (void)unused;
    struct rig *rig = rig_open(
        HEAD ENTRY(
            "shared_row", "",
            "mul.wide.u32 %d1, %y, %n; shl.b64 %d1, %d1, 2; add.u64 %d1, %in, %d1; ld.global.u32 %a4, [%d1]; mul.wide.u32 %d2, %y, 12; add.u64 %d2, %in, %d2;\n"
            "ld.global.u32 %a5, [%d2+4]; cvt.u64.u32 %d3, %a4; cvt.u64.u32 %d4, %a5; add.u64 %r, %d3, %d4;")
            ENTRY(
                "one_row", "",
                "setp.ne.u32 %c, %y, %n; sub.u32 %a3, %y, %n; cvt.s64.s32 %d1, %a3; shl.b64 %d1, %d1, 40; add.u64 %d1, %d1, %in; @%c bra end;\n"
                "ld.global.u32 %a4, [%d1+160]; mul.wide.u32 %d2, %x, 4; add.u64 %d2, %d2, %d1; ld.global.u32 %a5, [%d2+160]; cvt.u64.u32 %d3, %a4;\n"
                "cvt.u64.u32 %d4, %a5; add.u64 %r, %d3, %d4;")
                ENTRY(
                    "some", "",
                    "xor.b32 %a3, %y, %n; and.b32 %a3, %a3, 3; setp.eq.u32 %c, %a3, 0; setp.gt.u32 %e, %x, 2; and.pred %c, %c, %e; mul.wide.u32 %d1, %y, 4;\n"
                    "add.u64 %d1, %in, %d1; @%c ld.global.u32 %a4, [%d1]; @%c cvt.u64.u32 %r, %a4;"));
    for (uint32_t n = 0; n < 6; n++) {
        check(rig, "shared_row", n, shared_row_expected);
        check(rig, "one_row", n, one_row_expected);
        check(rig, "some", n, some_expected);
    }
    rig_close(rig);
}

static uint32_t index_of(struct where at, uint32_t n, int32_t x, int32_t y)
{
    return n + (uint32_t)x * at.x + (uint32_t)y * at.y;
}

static uint64_t up_expected(struct where at, uint32_t n)
{
    return index_of(at, n, 3, 7);
}
static uint64_t down_expected(struct where at, uint32_t n)
{
    return (uint64_t)(int32_t)index_of(at, n, -3, -7);
}
static uint64_t mixed_expected(struct where at, uint32_t n)
{
    return (uint64_t)index_of(at, n, 5, -9) * 12;
}
static uint64_t guarded_expected(struct where at, uint32_t n)
{
    uint32_t i = index_of(at, n, 1, 3);
    return i < 4000 ? word(i) : 77;
}

/* 32-bit sums that overflow in some lanes, widened. */
static void overflow_in_some_lanes(void **unused)
{
    (void)unused;
    struct rig *rig = rig_open(
        HEAD ENTRY("up", "", "mad.lo.u32 %a3, %x, 3, %n; mad.lo.u32 %a3, %y, 7, %a3; cvt.u64.u32 %r, %a3;") ENTRY(
            "down", "",
            "mul.lo.s32 %a3, %x, -3; add.s32 %a3, %a3, %n; mul.lo.s32 %a4, %y, -7; add.s32 %a3, %a3, %a4; cvt.s64.s32 %r, %a3;")
            ENTRY("mixed", "",
                  "mad.lo.u32 %a3, %x, 5, %n; mul.lo.u32 %a4, %y, 9; sub.u32 %a3, %a3, %a4; mul.wide.u32 %r, %a3, 12;")
                ENTRY(
                    "guarded", "",
                    "mad.lo.u32 %a3, %y, 3, %x; add.u32 %a3, %a3, %n; mul.wide.u32 %d1, %a3, 4; add.u64 %d1, %in, %d1; setp.lt.u32 %c, %a3, 4000;\n"
                    "@%c ld.global.u32 %a4, [%d1]; @%c cvt.u64.u32 %r, %a4; @%c st.global.u32 [%d1], %a4;"));
    static const uint32_t starts[] = {0,          1,          20,         100,        0x7fffffff,
                                      0x7fffffe0, 0x80000000, 0x80000010, 0x80000040, 0xffffffff,
                                      0xfffffff0, 0xffffffd7, 0xffffff90};
    for (unsigned i = 0; i < sizeof starts / sizeof *starts; i++) {
        check(rig, "up", starts[i], up_expected);
        check(rig, "down", starts[i], down_expected);
        check(rig, "mixed", starts[i], mixed_expected);
        check(rig, "guarded", starts[i], guarded_expected);
    }
    rig_close(rig);
}

static uint64_t tile_expected(struct where at, uint32_t n)
{
    (void)n;
    uint64_t sum = 0;
    for (uint32_t k = 0; k < 4; k++)
        sum += (uint64_t)(at.y * 64 + k) * (k * 64 + at.x);
    return sum + at.z;
}

static uint64_t local_expected(struct where at, uint32_t n)
{
    (void)n;
    return at.x * 1000 + at.y + 7u * at.lane;
}

static uint64_t climb_expected(struct where at, uint32_t n)
{
    uint64_t sum = 0;
    for (uint32_t k = 0; k < n; k++)
        sum += word(at.y * 50 + at.x + k * 64) + word(at.y + k);
    return sum;
}

static uint64_t call_expected(struct where at, uint32_t n)
{
    return word(at.y * n + at.x);
}

/* A tile in shared memory, private arrays, a loop whose addresses go on by rows, and a device function. */
static void spaces_and_loops(void **unused)
{
    (void)unused;
    struct rig *rig = rig_open(
        HEAD
        ".func (.param .u32 got) fetch(.param .u64 from, .param .u32 row)\n{\n.reg .b64 %p, %o; .reg .b32 %r, %x, %v; ld.param.u64 %p, [from]; ld.param.u32 %r, [row];\n"
        "mov.u32 %x, %tid.x; add.u32 %r, %r, %x; mul.wide.u32 %o, %r, 4; add.u64 %p, %p, %o; ld.global.u32 %v, [%p]; st.param.u32 [got], %v; ret;\n}\n" ENTRY(
            "tile", ".shared .align 4 .b8 left[16384]; .shared .align 8 .b8 right[16384];",
            "mov.u32 %a3, left; shl.b32 %a4, %y, 8; add.u32 %a5, %a3, %a4; shl.b32 %a6, %x, 2; add.u32 %a6, %a5, %a6; shl.b32 %a7, %y, 6; add.u32 %a7, %a7, %x;\n"
            "mov.u32 %a8, right; sub.u32 %a9, %a6, %a3; add.u32 %a9, %a9, %a8; setp.ge.u32 %c, %y, 16; @%c bra over; st.shared.u32 [%a6], %a7; st.shared.u32 [%a9], %a7;\n"
            "over: bar.sync 0; mov.u64 %r, 0; mov.u32 %a10, 0; shl.b32 %a11, %x, 2; add.u32 %a11, %a8, %a11;\n"
            "more: ld.shared.u32 %a12, [%a5]; ld.shared.u32 %a13, [%a11]; setp.ge.u32 %e, %x, 0; mad.wide.u32 %r, %a12, %a13, %r; add.u32 %a5, %a5, 4; add.u32 %a11, %a11, 256;\n"
            "add.u32 %a10, %a10, 1; setp.lt.u32 %c, %a10, 4; @%c bra more; cvt.u64.u32 %d1, %z; add.u64 %r, %r, %d1;")
            ENTRY(
                "local", ".local .align 8 .b8 own[32];",
                "mov.u32 %a3, %laneid; mov.u64 %d1, own; mad.lo.u32 %a4, %x, 1000, %y; st.local.u32 [%d1+12], %a4; mul.lo.u32 %a3, %a3, 7; st.local.u32 [%d1+16], %a3;\n"
                "ld.local.u32 %a5, [own+12]; ld.local.u32 %a6, [%d1+16]; add.u32 %a5, %a5, %a6; cvt.u64.u32 %r, %a5;")
                ENTRY(
                    "climb", "",
                    "mul.wide.u32 %d1, %y, 200; add.u64 %d1, %d1, %in; mul.wide.u32 %d2, %x, 4; add.u64 %d1, %d1, %d2; mul.wide.u32 %d3, %y, 4; add.u64 %d3, %d3, %in; mov.u64 %r, 0; mov.u32 %a3, 0;\n"
                    "again: setp.ge.u32 %c, %a3, %n; @%c bra end; ld.global.u32 %a4, [%d1]; cvt.u64.u32 %d4, %a4; add.u64 %r, %r, %d4; ld.global.u32 %a4, [%d3]; cvt.u64.u32 %d4, %a4; add.u64 %r, %r, %d4;\n"
                    "add.u64 %d1, %d1, 256; add.u64 %d3, %d3, 4; add.u32 %a3, %a3, 1; bra again;")
                    ENTRY(
                        "call", "",
                        "{ .param .u64 p0; .param .u32 p1; .param .u32 g; mul.lo.u32 %a3, %y, %n; st.param.u64 [p0], %in; st.param.u32 [p1], %a3; call (g), fetch, (p0, p1);\n"
                        "ld.param.u32 %a4, [g]; } cvt.u64.u32 %r, %a4;"));
    for (uint32_t n = 1; n < 30; n += 14) {
        check(rig, "local", n, local_expected);
        check(rig, "climb", n, climb_expected);
        check(rig, "call", n, call_expected);
    }
    /* The tile has 16 rows of 64 words, and the sums want four of them. */
    unsigned grid[3] = {2, 1, 1}, wide[3] = {16, 16, 1}, narrow[3] = {8, 8, 1};
    for (rig_variant = 0; rig_variant < RIG_VARIANTS; rig_variant++)
        for (unsigned k = 0; k < 2; k++) {
            const unsigned *block = k ? narrow : wide;
            struct {
                uint32_t *in;
                uint64_t *out;
                uint32_t n;
            } params = {in, out, 4};
            assert_int_equal(rig_launch(rig, "tile", grid, block, 0, &params, 20), CUDA_SUCCESS);
            for (unsigned i = 0; i < 2 * block[0] * block[1]; i++) {
                unsigned t = i % (block[0] * block[1]);
                struct where at = {t % block[0], t / block[0], 0, 0, i, t % 32};
                assert_int_equal(out[i], tile_expected(at, 4));
            }
        }
    rig_close(rig);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_with_a_pitch),
        cmocka_unit_test(one_address_for_a_row),
        cmocka_unit_test(overflow_in_some_lanes),
        cmocka_unit_test(spaces_and_loops),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
