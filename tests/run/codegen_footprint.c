/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Which bytes kernels touch, as their notes tell (kernel/footprint.h), compared byte by byte with what is known of
 * each kernel. Every kernel runs in all variants of the rig, so the same bytes come from scalars, rows, vectors, pairs
 * of warps and lanes one by one. All is done twice, the second time with what kernels read first (MR_ACCESS_FIRST).
 */
#include "codegen_rig.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "abi/note.h"
#include "kernel/touched.h"
#include "observe/hooks.h"

#define ROOM (4u << 20)
#define FOR_VARIANTS for (rig_variant = 0; rig_variant < RIG_VARIANTS; rig_variant++)
#define HEAD ".version 8.0\n.target sm_90\n.address_size 64\n"

/* A buffer that kernels get. `wanted` and `noted` have bits of enum mr_access_how for each byte. */
static unsigned char *buffer, *wanted, *noted, *first;
static unsigned boxes;
/* What reads in each page of the buffer decide, of those that come first: MR_ACCESS_WAY, MR_ACCESS_PLACE. */
static uint32_t decided[ROOM / 4096];
/* By which code each page of the buffer was touched: 1 by some that is surely before griddepcontrol.wait, 2 by other.
 */
static unsigned past[ROOM / 4096];
static bool rough;
/* Bytes of other memory that were noted: by how. */
static uint64_t others[16];

enum { R = MR_ACCESS_READ, W = MR_ACCESS_WRITE, A = MR_ACCESS_READ | MR_ACCESS_WRITE | MR_ACCESS_ATOMIC };

static void take(const struct mr_access *box, const struct mr_site *site)
{
    boxes++;
    rough |= (box->how & MR_ACCESS_ROUGH) != 0;
    if (box->how & MR_ACCESS_FIRST) {
        boxes--;
        assert_true(box->how & R && mr_observes(MR_OBSERVE_FIRST) && box->width);
        if (box->first - (uintptr_t)buffer < ROOM)
            decided[(box->first - (uintptr_t)buffer) / 4096] |= box->how & (MR_ACCESS_WAY | MR_ACCESS_PLACE);
        for (size_t row = 0; box->first - (uintptr_t)buffer < ROOM && row < box->rows; row++)
            memset(first + (box->first + row * box->pitch - (uintptr_t)buffer), 1, box->width);
        return;
    }
    assert_true(site->line > 3);
    if (box->first - (uintptr_t)buffer < ROOM)
        past[(box->first - (uintptr_t)buffer) / 4096] |= box->how & MR_ACCESS_PAST_GRIDS ? 2 : 1;
    assert_true(box->width > 0 && box->rows > 0 && (box->rows == 1 || box->pitch > box->width));
    for (size_t row = 0; row < box->rows; row++)
        for (size_t i = 0; i < box->width; i++) {
            uintptr_t at = box->first + row * box->pitch + i - (uintptr_t)buffer;
            if (at < ROOM)
                noted[at] |= (unsigned char)(box->how & 7);
            else
                others[box->how & 7]++;
        }
}

static void begin(void)
{
    memset(wanted, 0, ROOM);
    memset(noted, 0, ROOM);
    memset(first, 0, ROOM);
    memset(decided, 0, sizeof decided);
    memset(past, 0, sizeof past);
    memset(others, 0, sizeof others);
    boxes = 0;
    rough = false;
}

static void want(size_t at, size_t bytes, unsigned how)
{
    assert_true(at + bytes <= ROOM);
    for (size_t i = 0; i < bytes; i++)
        wanted[at + i] |= (unsigned char)how;
}

static void compare(const char *what)
{
    for (size_t i = 0; i < ROOM; i++)
        if (wanted[i] != noted[i])
            fail_msg("%s, variant %u: byte %zu has been touched as %u, and was noted as %u", what, rig_variant, i,
                     wanted[i], noted[i]);
        else if (first[i] ? !(noted[i] & R) : mr_observes(MR_OBSERVE_FIRST) && (noted[i] & (R | W)) == R)
            fail_msg("%s, variant %u: byte %zu has been touched as %u, and %s", what, rig_variant, i, noted[i],
                     first[i] ? "read first" : "not read first");
    assert_false(rough);
}

static int set_up(void **state)
{
    (void)state;
    buffer = aligned_alloc(4096, ROOM);
    wanted = malloc(ROOM);
    noted = malloc(ROOM);
    first = malloc(ROOM);
    rig_touched = take;
    return buffer && wanted && noted && first ? 0 : -1;
}

static int tear_down(void **state)
{
    (void)state;
    free(buffer);
    free(wanted);
    free(noted);
    free(first);
    rig_touched = NULL;
    return 0;
}

/* --- Streams ---------------------------------------------------------------------------- */

static const char stream_ptx[] =
    HEAD ".visible .entry copy(.param .u64 to, .param .u64 from, .param .u32 count)\n{\n"
         ".reg .u32 %r<8>; .reg .u64 %d<8>; .reg .f32 %f<4>; .reg .pred %p;\n"
         "ld.param.u64 %d1, [to]; ld.param.u64 %d2, [from]; ld.param.u32 %r5, [count];\n"
         "mov.u32 %r1, %ctaid.x; mov.u32 %r2, %ntid.x; mov.u32 %r3, %tid.x; mad.lo.u32 %r4, %r1, %r2, %r3;\n"
         "setp.ge.u32 %p, %r4, %r5; @%p bra DONE;\n"
         "mul.wide.u32 %d3, %r4, 4; add.u64 %d4, %d2, %d3; add.u64 %d5, %d1, %d3;\n"
         "ld.global.f32 %f1, [%d4]; st.global.f32 [%d5], %f1;\nDONE: ret;\n}\n"
    /* The same through generic addresses, by pairs, a stride over the grid, volatile loads. */
         ".visible .entry strides(.param .u64 to, .param .u64 from, .param .u32 count)\n{\n"
         ".reg .u32 %r<8>; .reg .u64 %d<8>; .reg .f32 %f<4>; .reg .pred %p;\n"
         "ld.param.u64 %d1, [to]; ld.param.u64 %d2, [from]; ld.param.u32 %r5, [count];\n"
         "mov.u32 %r1, %ctaid.x; mov.u32 %r2, %ntid.x; mov.u32 %r3, %tid.x; mad.lo.u32 %r4, %r1, %r2, %r3;\n"
         "mov.u32 %r6, %nctaid.x; mul.lo.u32 %r6, %r6, %r2;\n"
         "LOOP: setp.ge.u32 %p, %r4, %r5; @%p bra DONE;\n"
         "mul.wide.u32 %d3, %r4, 8; add.u64 %d4, %d2, %d3; add.u64 %d5, %d1, %d3;\n"
         "ld.volatile.v2.f32 {%f1, %f2}, [%d4]; st.v2.f32 [%d5], {%f2, %f1};\n"
         "add.u32 %r4, %r4, %r6; bra LOOP;\nDONE: ret;\n}\n";

struct copy {
    uint64_t to, from;
    uint32_t count;
};

static void test_streams(void **state)
{
    (void)state;
    static const uint32_t counts[] = {1, 31, 32, 1000, 4096, 50001};
    struct rig *rig = rig_open(stream_ptx);
    FOR_VARIANTS
        for (unsigned i = 0; i < sizeof counts / sizeof *counts; i++) {
            uint32_t count = counts[i];
            struct copy copy = {(uint64_t)(uintptr_t)buffer + 1000000, (uint64_t)(uintptr_t)buffer + 64, count};
            begin();
            rig_run(rig, "copy", (count + 95) / 96, 96, &copy, sizeof copy);
            want(64, 4 * count, R);
            want(1000000, 4 * count, W);
            compare("copy");
            if (count % 32 == 0)
                assert_true(boxes == 2);
            begin();
            rig_run(rig, "strides", 5, 96, &copy, sizeof copy);
            want(64, 8 * count, R | MR_ACCESS_ATOMIC);
            want(1000000, 8 * count, W);
            compare("strides");
        }
    rig_close(rig);
}

/* --- Columns, transposes, tiles ------------------------------------------------------------ */

static const char columns_ptx[] = HEAD
    /* Thread x of a row reads down a column, and writes one element far from the others'. */
    ".visible .entry columns(.param .u64 to, .param .u64 from, .param .u32 pitch, .param .u32 rows)\n{\n"
    ".reg .u32 %r<9>; .reg .u64 %d<8>; .reg .f32 %f<4>; .reg .pred %p;\n"
    "ld.param.u64 %d1, [to]; ld.param.u64 %d2, [from]; ld.param.u32 %r5, [pitch]; ld.param.u32 %r6, [rows];\n"
    "mov.u32 %r1, %ctaid.x; mov.u32 %r2, %ntid.x; mov.u32 %r3, %tid.x; mad.lo.u32 %r4, %r1, %r2, %r3;\n"
    "mul.wide.u32 %d3, %r4, 4; add.u64 %d4, %d2, %d3; mov.f32 %f1, 0f00000000; mov.u32 %r7, 0;\n"
    "cvt.u64.u32 %d6, %r5;\n"
    "LOOP: ld.global.f32 %f2, [%d4]; add.f32 %f1, %f1, %f2; add.u64 %d4, %d4, %d6;\n"
    "add.u32 %r7, %r7, 1; setp.lt.u32 %p, %r7, %r6; @%p bra LOOP;\n"
    "mul.wide.u32 %d3, %r4, %r5; add.u64 %d5, %d1, %d3; st.global.f32 [%d5], %f1; ret;\n}\n"
    /* A tile through shared memory, 16 by 16, with generic accesses to it and to local memory. */
    ".visible .entry transpose(.param .u64 to, .param .u64 from, .param .u32 pitch, .param .u32 rows)\n{\n"
    ".shared .align 4 .b8 tile[1088]; .local .align 4 .b8 own[64];\n"
    ".reg .u32 %r<12>; .reg .u64 %d<12>; .reg .f32 %f<4>;\n"
    "ld.param.u64 %d1, [to]; ld.param.u64 %d2, [from]; ld.param.u32 %r5, [pitch];\n"
    "mov.u32 %r1, %tid.x; mov.u32 %r2, %tid.y; mov.u32 %r3, %ctaid.x; mov.u32 %r4, %ctaid.y;\n"
    "mad.lo.u32 %r6, %r3, 16, %r1; mad.lo.u32 %r7, %r4, 16, %r2; mad.lo.u32 %r8, %r7, %r5, 0;\n"
    "mad.lo.u32 %r8, %r6, 4, %r8; cvt.u64.u32 %d3, %r8; add.u64 %d3, %d3, %d2; ld.global.f32 %f1, [%d3];\n"
    "mov.u64 %d4, own; cvta.local.u64 %d4, %d4; st.f32 [%d4+4], %f1; ld.f32 %f1, [%d4+4];\n"
    "mov.u64 %d5, tile; cvta.shared.u64 %d5, %d5; mad.lo.u32 %r9, %r2, 17, %r1; mul.wide.u32 %d6, %r9, 4;\n"
    "add.u64 %d6, %d6, %d5; st.f32 [%d6], %f1; bar.sync 0;\n"
    "mad.lo.u32 %r9, %r1, 17, %r2; mul.wide.u32 %d6, %r9, 4; add.u64 %d6, %d6, %d5; ld.f32 %f2, [%d6];\n"
    "mad.lo.u32 %r6, %r4, 16, %r1; mad.lo.u32 %r7, %r3, 16, %r2; mad.lo.u32 %r8, %r7, %r5, 0;\n"
    "mad.lo.u32 %r8, %r6, 4, %r8; cvt.u64.u32 %d3, %r8; add.u64 %d3, %d3, %d1; st.f32 [%d3], %f2; ret;\n}\n";

struct columns {
    uint64_t to, from;
    uint32_t pitch, rows;
};

static void test_columns(void **state)
{
    (void)state;
    struct rig *rig = rig_open(columns_ptx);
    FOR_VARIANTS {
        struct columns p = {(uint64_t)(uintptr_t)buffer + 2000000, (uint64_t)(uintptr_t)buffer + 4, 4000, 70};
        begin();
        rig_run(rig, "columns", 3, 72, &p, sizeof p);
        for (unsigned row = 0; row < 70; row++)
            want(4 + row * 4000, 4 * 3 * 72, R);
        for (unsigned thread = 0; thread < 3 * 72; thread++)
            want(2000000 + thread * 4000, 4, W);
        compare("columns");
        begin();
        unsigned grid[3] = {4, 3, 1}, block[3] = {16, 16, 1};
        assert_int_equal(rig_launch(rig, "transpose", grid, block, 0, &p, sizeof p), CUDA_SUCCESS);
        for (unsigned row = 0; row < 48; row++)
            want(4 + row * 4000, 256, R);
        for (unsigned row = 0; row < 64; row++)
            want(2000000 + row * 4000, 192, W);
        compare("transpose");
        assert_int_equal(others[R] + others[W], 0);
    }
    rig_close(rig);
}

/* --- Scatter, atomics, divergence ------------------------------------------------------------ */

static const char scatter_ptx[] = HEAD
    ".visible .global .align 4 .u32 counter[2];\n.const .align 4 .u32 factors[4] = {3, 5, 7, 9};\n"
    /* to[map[i]] = i by even threads, a byte each by odd ones whose number has bit 1; all count. */
    ".visible .entry scatter(.param .u64 to, .param .u64 map)\n{\n"
    ".reg .u32 %r<12>; .reg .u64 %d<12>; .reg .pred %p, %q;\n"
    "ld.param.u64 %d1, [to]; ld.param.u64 %d2, [map];\n"
    "mov.u32 %r1, %ctaid.x; mov.u32 %r2, %ntid.x; mov.u32 %r3, %tid.x; mad.lo.u32 %r4, %r1, %r2, %r3;\n"
    "mul.wide.u32 %d3, %r4, 4; add.u64 %d3, %d3, %d2; ld.global.nc.u32 %r5, [%d3];\n"
    "ld.const.u32 %r8, [factors+8]; mul.wide.u32 %d4, %r5, 4; add.u64 %d4, %d4, %d1;\n"
    "and.b32 %r6, %r4, 1; setp.eq.u32 %p, %r6, 0; @!%p bra ODD;\n"
    "st.global.u32 [%d4], %r8; bra ON;\n"
    "ODD: and.b32 %r6, %r4, 2; setp.ne.u32 %q, %r6, 0; @%q st.global.u8 [%d4+1], %r4;\n"
    "ON: mov.u64 %d5, counter; cvta.global.u64 %d5, %d5; atom.add.u32 %r7, [%d5+4], 1; red.global.max.u32 [%d4], %r4; ret;\n}\n";

static void test_scatter(void **state)
{
    (void)state;
    enum { COUNT = 32 * 300 };
    struct rig *rig = rig_open(scatter_ptx);
    static uint32_t map[COUNT];
    for (uint32_t i = 0; i < COUNT; i++)
        map[i] = (uint32_t)((uint64_t)i * 7919 % COUNT * 13);
    FOR_VARIANTS {
        begin();
        memcpy(buffer, map, sizeof map);
        struct {
            uint64_t to, map;
        } p = {(uint64_t)(uintptr_t)buffer + 100000, (uint64_t)(uintptr_t)buffer};
        rig_run(rig, "scatter", 75, 128, &p, sizeof p);
        want(0, sizeof map, R);
        for (uint32_t i = 0; i < COUNT; i++) {
            want(100000 + 4 * map[i], 4, A);
            if (i % 2 == 0)
                want(100000 + 4 * map[i], 4, W);
            else if (i & 2)
                want(100000 + 4 * map[i] + 1, 1, W);
        }
        compare("scatter");
        assert_int_equal(others[A], 4);
        assert_int_equal(others[R], 4);
        assert_int_equal(others[W], 0);
    }
    rig_close(rig);
}

/* --- Asynchronous copies ----------------------------------------------------------------------- */

static const char async_ptx[] = HEAD
    /* Thread i copies 16 bytes, and i % 9 of 8 bytes behind them. */
    ".visible .entry few(.param .u64 from)\n{\n.shared .align 16 .b8 to[4096];\n"
    ".reg .u32 %r<8>; .reg .u64 %d<8>;\nld.param.u64 %d1, [from]; mov.u32 %r1, %tid.x; mul.wide.u32 %d2, %r1, 32;\n"
    "add.u64 %d2, %d1, %d2; mov.u32 %r2, to; mad.lo.u32 %r3, %r1, 32, %r2; rem.u32 %r4, %r1, 9;\n"
    "cp.async.cg.shared.global [%r3], [%d2], 16; cp.async.ca.shared.global [%r3+16], [%d2+16], 8, %r4;\n"
    "cp.async.commit_group; cp.async.wait_group 0; ret;\n}\n"
    /* The first thread: 512 bytes in, 256 of them out, 128 added. */
    ".visible .entry many(.param .u64 from, .param .u64 to)\n{\n"
    ".shared .align 16 .b8 a[512]; .shared .align 8 .b64 bar;\n"
    ".reg .u32 %r<8>; .reg .u64 %d<8>; .reg .pred %p;\n"
    "ld.param.u64 %d1, [from]; ld.param.u64 %d2, [to]; mov.u32 %r1, %tid.x; setp.ne.u32 %p, %r1, 0; @%p bra DONE;\n"
    "mov.u32 %r2, a; mov.u32 %r3, bar; mbarrier.init.shared.b64 [%r3], 1;\n"
    "mbarrier.arrive.expect_tx.shared.b64 _, [%r3], 512;\n"
    "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r2], [%d1], 512, [%r3];\n"
    "WAIT: mbarrier.test_wait.parity.shared.b64 %p, [%r3], 0; @!%p bra WAIT;\n"
    "cp.async.bulk.global.shared::cta.bulk_group [%d2], [%r2], 256;\n"
    "cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 [%d2+1024], [%r2], 128;\n"
    "cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;\nDONE: ret;\n}\n";

static void test_async(void **state)
{
    (void)state;
    struct rig *rig = rig_open(async_ptx);
    struct {
        uint64_t from, to;
    } p = {(uint64_t)(uintptr_t)buffer, (uint64_t)(uintptr_t)buffer + 8192};
    memset(buffer, 0, 16384);
    FOR_VARIANTS {
        begin();
        rig_run(rig, "few", 1, 100, &p, 8);
        for (unsigned i = 0; i < 100; i++) {
            want(32 * i, 16, R);
            want(32 * i + 16, i % 9, R);
        }
        compare("cp.async");
        begin();
        rig_run(rig, "many", 1, 64, &p, sizeof p);
        want(0, 512, R);
        want(8192, 256, W);
        want(8192 + 1024, 128, A);
        compare("cp.async.bulk");
    }
    rig_close(rig);
}

/* --- Matrices ------------------------------------------------------------------------------------ */

static void test_matrices(void **state)
{
    (void)state;
    /* Elements of f16, rows of 40 or columns of 24; sums of f32. */
    static const struct {
        const char *part, *regs;
        bool row;
        unsigned rows, bytes, stride;
    } cases[] = {{"a", "%r0,%r1,%r2,%r3,%r4,%r5,%r6,%r7", true, 32, 32, 40},
                 {"a", "%r0,%r1,%r2,%r3,%r4,%r5,%r6,%r7", false, 16, 64, 48},
                 {"b", "%r0,%r1,%r2,%r3,%r4,%r5,%r6,%r7", true, 16, 16, 24},
                 {"b", "%r0,%r1,%r2,%r3,%r4,%r5,%r6,%r7", false, 8, 32, 40},
                 {"c", "%f0,%f1,%f2,%f3,%f4,%f5,%f6,%f7", true, 32, 32, 12},
                 {"c", "%f0,%f1,%f2,%f3,%f4,%f5,%f6,%f7", false, 8, 128, 36}};
    uint64_t p[2] = {(uint64_t)(uintptr_t)buffer, (uint64_t)(uintptr_t)buffer + 65536};
    for (unsigned i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[1500];
        const char *layout = cases[i].row ? "row" : "col", *part = cases[i].part;
        bool sums = *part == 'c';
        unsigned pitch = cases[i].stride * (sums ? 4 : 2);
        snprintf(
            text, sizeof text,
            HEAD
            ".visible .entry k(.param .u64 from, .param .u64 to)\n{\n.reg .u64 %%d<4>; .reg .b32 %%r<8>; .reg .f32 %%f<8>;\n"
            "ld.param.u64 %%d0, [from]; ld.param.u64 %%d1, [to];\n"
            "wmma.load.%s.sync.aligned.%s.m32n8k16.global.%s {%s}, [%%d0], %u;\n"
            "wmma.store.d.sync.aligned.%s.m32n8k16.f32 [%%d1], {%%f0,%%f1,%%f2,%%f3,%%f4,%%f5,%%f6,%%f7}, %u;\nret;\n}\n",
            part, layout, sums ? "f32" : "f16", cases[i].regs, cases[i].stride, layout, cases[i].row ? 12 : 36);
        struct rig *rig = rig_open(text);
        FOR_VARIANTS {
            begin();
            rig_run(rig, "k", 1, 32, p, sizeof p);
            for (unsigned row = 0; row < cases[i].rows; row++)
                want(row * pitch, cases[i].bytes, R);
            for (unsigned row = 0; row < (cases[i].row ? 32 : 8); row++)
                want(65536 + row * (cases[i].row ? 48 : 144), cases[i].row ? 32 : 128, W);
            compare(layout);
        }
        rig_close(rig);
    }
}

/* --- Any accesses ---------------------------------------------------------------------------------- */

/* Kernels of a few random accesses in a loop. Place of an access: x * a + y * b + block * c + round * d, perhaps cut to
 * some bits, times its size; the factors stand in the text, or come with the launch. It may be under a condition on a
 * bit of x. */
struct any {
    uint32_t factor[4], mask, bit; /* mask 0: none; bit 0: no condition */
    bool given; /* factors come with the launch */
    unsigned op;
};

static const struct {
    const char *text;
    unsigned bytes, how;
} any_ops[] = {{"ld.global.u32 %v0, [%at];", 4, R},
               {"ld.global.v2.u32 {%v0, %v1}, [%at];", 8, R},
               {"ld.global.u8 %v0, [%at];", 1, R},
               {"ld.u64 %w0, [%at];", 8, R},
               {"ld.relaxed.gpu.global.u32 %v0, [%at];", 4, R | MR_ACCESS_ATOMIC},
               {"st.global.u16 [%at], %h0;", 2, W},
               {"st.v4.u32 [%at], {%v0, %v1, %v0, %v1};", 16, W},
               {"st.release.gpu.global.u32 [%at], %v1;", 4, W | MR_ACCESS_ATOMIC},
               {"atom.global.add.u32 %v0, [%at], 1;", 4, A},
               {"red.max.u32 [%at], %v0;", 4, A}};

static uint64_t any_seed;

static uint32_t some(uint32_t below)
{
    any_seed = any_seed * UINT64_C(6364136223846793005) + 1442695040888963407u;
    return (uint32_t)(any_seed >> 33) % below;
}

static void draw(struct any *any, bool linear)
{
    static const uint32_t factors[] = {0, 1, 1, 1, 2, 3, 16, 17, 64, 100, 1000};
    for (unsigned i = 0; i < 4; i++)
        any->factor[i] = factors[some(11)];
    if (linear)
        any->factor[1] = 0;
    any->mask = some(4) ? 0 : (1u << (4 + some(8))) - 1;
    any->bit = some(3) ? 0 : 1u << some(4);
    any->given = some(2);
    any->op = some(sizeof any_ops / sizeof *any_ops);
}

static char *write_any(char *end, const struct any *any, unsigned index)
{
    static const char names[] = "xybk";
    end += sprintf(end, "mov.u32 %%i, 0;\n");
    for (unsigned i = 0; i < 4; i++)
        if (any->given)
            end += sprintf(end, "ld.param.u32 %%f, [factors+%u]; mad.lo.u32 %%i, %%%c, %%f, %%i;\n", 16 * index + 4 * i,
                           names[i]);
        else
            end += sprintf(end, "mad.lo.u32 %%i, %%%c, %u, %%i;\n", names[i], any->factor[i]);
    if (any->mask)
        end += sprintf(end, "and.b32 %%i, %%i, %u;\n", any->mask);
    end += sprintf(end, "mul.wide.u32 %%at, %%i, %u; add.u64 %%at, %%at, %%to;\n", any_ops[any->op].bytes);
    if (any->bit)
        end += sprintf(end, "and.b32 %%f, %%x, %u; setp.ne.u32 %%p, %%f, 0; @%%p ", any->bit);
    return end + sprintf(end, "%s\n", any_ops[any->op].text);
}

static void want_any(const struct any *any, const unsigned at[4])
{
    uint32_t index = 0;
    for (unsigned i = 0; i < 4; i++)
        index += any->factor[i] * at[i];
    index &= any->mask ? any->mask : UINT32_MAX;
    if (!any->bit || (at[0] & any->bit))
        want((size_t)index * any_ops[any->op].bytes, any_ops[any->op].bytes, any_ops[any->op].how);
}

static void test_any(void **state)
{
    (void)state;
    enum { COUNT = 4, ROUNDS = 5, BLOCKS = 3 };
    static const unsigned shapes[][2] = {{32, 1}, {64, 1}, {100, 1}, {16, 8}, {8, 8}, {7, 9}, {64, 2}};
    for (unsigned seed = 0; seed < 25; seed++) {
        struct any all[COUNT];
        struct {
            uint64_t to;
            uint32_t factors[COUNT][4];
        } p = {.to = (uint64_t)(uintptr_t)buffer};
        any_seed = seed;
        const unsigned *shape = shapes[some(7)];
        unsigned grid[3] = {BLOCKS, 1, 1}, block[3] = {shape[0], shape[1], 1};
        char text[6000], *end = text;
        end += sprintf(
            end,
            HEAD ".visible .entry any(.param .u64 to, .param .align 4 .b8 factors[64])\n{\n"
                 ".reg .u32 %%x, %%y, %%b, %%k, %%i, %%f, %%v<2>; .reg .u16 %%h0; .reg .u64 %%w0, %%at, %%to;\n"
                 ".reg .pred %%p, %%q;\nld.param.u64 %%to, [to]; mov.u32 %%x, %%tid.x; mov.u32 %%y, %%tid.y;\n"
                 "mov.u32 %%b, %%ctaid.x; mov.u32 %%k, 0; mov.u32 %%v0, 1; mov.u32 %%v1, 2; mov.u16 %%h0, 3;\nLOOP:\n");
        for (unsigned i = 0; i < COUNT; i++) {
            draw(&all[i], shape[1] == 1);
            memcpy(p.factors[i], all[i].factor, sizeof p.factors[i]);
            end = write_any(end, &all[i], i);
        }
        sprintf(end, "add.u32 %%k, %%k, 1; setp.lt.u32 %%q, %%k, %u; @%%q bra LOOP;\nret;\n}\n", ROUNDS);
        struct rig *rig = rig_open(text);
        FOR_VARIANTS {
            begin();
            assert_int_equal(rig_launch(rig, "any", grid, block, 0, &p, sizeof p), CUDA_SUCCESS);
            for (unsigned i = 0; i < COUNT * ROUNDS * BLOCKS * shape[0] * shape[1]; i++) {
                unsigned rest = i / COUNT / ROUNDS
                / BLOCKS;
                unsigned at[4] = { rest % shape[0], rest / shape[0], i / COUNT / ROUNDS % BLOCKS, i / COUNT % ROUNDS };
                want_any(&all[i % COUNT], at);
            }
            snprintf(text, 40, "seed %u", seed);
            compare(text);
        }
        rig_close(rig);
    }
}

/* --- What is read first ------------------------------------------------------------------- */

static const char first_ptx[] = HEAD
    /* Adds to each element. */
    ".visible .entry increase(.param .u64 to)\n{\n"
    ".reg .u32 %r<4>; .reg .u64 %d<4>;\n"
    "ld.param.u64 %d1, [to]; mov.u32 %r1, %tid.x; mul.wide.u32 %d2, %r1, 4; add.u64 %d3, %d1, %d2;\n"
    "ld.global.u32 %r2, [%d3]; add.u32 %r2, %r2, 1; st.global.u32 [%d3], %r2; ret;\n}\n"
    /* Writes one byte of each element, waits for the others, and reads another thread's whole element. */
    ".visible .entry partly(.param .u64 to)\n{\n"
    ".reg .u32 %r<6>; .reg .u64 %d<6>;\n"
    "ld.param.u64 %d1, [to]; mov.u32 %r1, %tid.x; mul.wide.u32 %d2, %r1, 4; add.u64 %d3, %d1, %d2;\n"
    "st.global.u8 [%d3+1], %r1; bar.sync 0;\n"
    "mov.u32 %r2, %ntid.x; sub.u32 %r2, %r2, 1; sub.u32 %r2, %r2, %r1; mul.wide.u32 %d4, %r2, 4;\n"
    "add.u64 %d4, %d1, %d4; ld.global.u32 %r3, [%d4]; st.global.u32 [%d4+4096], %r3; ret;\n}\n"
    /* Counts in a word that nobody has set, and in one of each thread's own that it has set. */
    ".visible .entry count(.param .u64 to)\n{\n"
    ".reg .u32 %r<6>; .reg .u64 %d<6>;\n"
    "ld.param.u64 %d1, [to]; mov.u32 %r1, %tid.x; mul.wide.u32 %d2, %r1, 16; add.u64 %d3, %d1, %d2;\n"
    "st.global.u32 [%d3+64], %r1; atom.global.add.u32 %r2, [%d3+64], 1; atom.global.add.u32 %r2, [%d1], 1; ret;\n}\n"
    /* In each of five pages a load that decides: a way; a place; nothing for certain; a way by a bit of a byte; no more
     * once its register has another value. */
    ".visible .entry decide(.param .u64 to)\n{\n"
    ".reg .u32 %r<9>; .reg .u64 %d<6>; .reg .pred %p, %q;\n"
    "ld.param.u64 %d1, [to]; mov.u32 %r1, %tid.x; mul.wide.u32 %d2, %r1, 4; add.u64 %d3, %d1, %d2;\n"
    "ld.global.u32 %r2, [%d3]; add.u32 %r2, %r2, 1; setp.gt.u32 %p, %r2, 5; @%p bra ON;\n"
    "st.global.u32 [%d3+32768], %r1;\n"
    "ON: ld.global.u32 %r3, [%d3+4096]; mul.wide.u32 %d4, %r3, 4; add.u64 %d4, %d1, %d4;\n"
    "ld.global.u32 %r4, [%d4+24576]; st.global.u32 [%d3+40960], %r4;\n"
    "ld.global.u32 %r5, [%d3+8192]; setp.lt.u32 %q, %r1, 7; selp.u32 %r5, %r5, 0, %q; setp.eq.u32 %p, %r5, 9;\n"
    "@%p bra FAR;\nst.global.u32 [%d3+49152], %r1;\n"
    "FAR: ld.global.u8 %r6, [%d3+12288]; and.b32 %r6, %r6, 1; setp.ne.u32 %p, %r6, 0; @%p bra END;\n"
    "ld.global.u32 %r7, [%d3+16384]; st.global.u32 [%d3+57344], %r7; mov.u32 %r7, %r1; setp.gt.u32 %p, %r7, 3;\n"
    "@%p bra END;\nst.global.u32 [%d3+61440], %r1;\nEND: ret;\n}\n";

static void test_first(void **state)
{
    (void)state;
    uint64_t to = (uint64_t)(uintptr_t)buffer + 256;
    struct rig *rig = rig_open(first_ptx);
    FOR_VARIANTS
        for (unsigned threads = 1; threads <= 225; threads += 32) {
            begin();
            rig_run(rig, "increase", 1, threads, &to, sizeof to);
            for (unsigned i = 0; i < ROOM; i++)
                assert_int_equal(first[i], mr_observes(MR_OBSERVE_FIRST) && i >= 256 && i < 256 + 4 * threads);
            begin();
            rig_run(rig, "partly", 1, threads, &to, sizeof to);
            for (unsigned i = 0; i < ROOM; i++)
                assert_int_equal(first[i],
                                 mr_observes(MR_OBSERVE_FIRST) && i >= 256 && i < 256 + 4 * threads && i % 4 != 1);
            begin();
            rig_run(rig, "count", 1, threads, &to, sizeof to);
            for (unsigned i = 0; i < ROOM; i++)
                assert_int_equal(first[i], mr_observes(MR_OBSERVE_FIRST) && i >= 256 && i < 260);
            begin();
            memset(buffer, 0, 65536);
            to -= 256;
            rig_run(rig, "decide", 1, threads, &to, sizeof to);
            to += 256;
            for (unsigned i = 0; i < ROOM / 4096; i++)
                assert_int_equal(decided[i], !mr_observes(MR_OBSERVE_FIRST) ? 0
                                             : i == 0 || i == 3             ? MR_ACCESS_WAY
                                             : i == 1                       ? MR_ACCESS_PLACE
                                                                            : 0);
        }
    rig_close(rig);
}

/* --- Before and behind griddepcontrol.wait -------------------------------------------------- */

static const char grids_ptx[] =
    HEAD ".func helper\n{\ngriddepcontrol.wait; ret;\n}\n"
         /* By pages: before; in a way that waits; where ways meet; in a loop that waits at its end; behind it. */
         ".visible .entry ways(.param .u64 to)\n{\n"
         ".reg .u32 %r<4>; .reg .u64 %d<4>; .reg .pred %p;\n"
         "ld.param.u64 %d1, [to]; mov.u32 %r1, %tid.x; mul.wide.u32 %d2, %r1, 4; add.u64 %d3, %d1, %d2;\n"
         "st.global.u32 [%d3], %r1; setp.gt.u32 %p, %r1, 7; @%p bra MEET;\n"
         "griddepcontrol.wait; st.global.u32 [%d3+4096], %r1;\n"
         "MEET: st.global.u32 [%d3+8192], %r1; mov.u32 %r2, 0;\n"
         "LOOP: st.global.u32 [%d3+12288], %r2; griddepcontrol.wait; add.u32 %r2, %r2, 1; setp.lt.u32 %p, %r2, 3;\n"
         "@%p bra LOOP;\nst.global.u32 [%d3+16384], %r1; ret;\n}\n"
         ".visible .entry by_call(.param .u64 to)\n{\n"
         ".reg .u32 %r<4>; .reg .u64 %d<4>;\n"
         "ld.param.u64 %d1, [to]; mov.u32 %r1, %tid.x; mul.wide.u32 %d2, %r1, 4; add.u64 %d3, %d1, %d2;\n"
         "st.global.u32 [%d3], %r1; call helper; st.global.u32 [%d3+4096], %r1; ret;\n}\n"
         ".visible .entry never(.param .u64 to)\n{\n"
         ".reg .u32 %r<4>; .reg .u64 %d<4>;\n"
         "ld.param.u64 %d1, [to]; mov.u32 %r1, %tid.x; mul.wide.u32 %d2, %r1, 4; add.u64 %d3, %d1, %d2;\n"
         "st.global.u32 [%d3], %r1; griddepcontrol.launch_dependents; st.global.u32 [%d3+4096], %r1; ret;\n}\n";

static void test_grids(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        unsigned past[5];
    } kernels[] = {{"ways", {1, 2, 2, 2, 2}}, {"by_call", {1, 2}}, {"never", {1, 1}}};
    uint64_t to = (uint64_t)(uintptr_t)buffer;
    struct rig *rig = rig_open(grids_ptx);
    FOR_VARIANTS
        for (size_t i = 0; i < sizeof kernels / sizeof *kernels; i++) {
            begin();
            rig_run(rig, kernels[i].name, 1, 64, &to, sizeof to);
            assert_memory_equal(past, kernels[i].past, sizeof kernels[i].past);
        }
    rig_close(rig);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_streams), cmocka_unit_test(test_columns),  cmocka_unit_test(test_scatter),
        cmocka_unit_test(test_async),   cmocka_unit_test(test_matrices), cmocka_unit_test(test_any),
        cmocka_unit_test(test_first),   cmocka_unit_test(test_grids),
    };
    int failed = cmocka_run_group_tests(tests, set_up, tear_down);
    mr_observing = MR_OBSERVE_FIRST;
    return failed + cmocka_run_group_tests(tests, set_up, tear_down);
}
