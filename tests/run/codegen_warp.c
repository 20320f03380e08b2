/* SPDX-License-Identifier: Apache-2.0 */

/*
 * What threads do together: barriers, shared memory, shuffles, votes, matches,
 * reductions, atomics, waiting for each other. Kernels are PTX text here.
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
#include "abi/abi.h"

#define HEAD ".version 8.0\n.target sm_80\n.address_size 64\n"

/* Around a body that has the thread's number in %t, its input word in %x (from [in + 4t]) and leaves its result in %r.
 */
#define KERNEL(name, declarations, body) \
    declarations \
        "\n.visible .entry " name "(.param .u64 in, .param .u64 out, .param .u32 n)\n{\n" \
        ".reg .b32 %t, %x, %r, %n, %a<20>; .reg .b64 %in0, %out0, %in, %out, %o, %d<10>; .reg .pred %p<8>; .reg .f32 %f<4>;\n" \
        "ld.param.u64 %in0, [in]; ld.param.u64 %out0, [out]; ld.param.u32 %n, [n];\n" \
        "mov.u32 %a0, %ctaid.x; mov.u32 %a1, %ntid.x; mov.u32 %a19, %tid.x; mad.lo.u32 %t, %a0, %a1, %a19;\n" \
        "mul.wide.u32 %o, %t, 4; add.u64 %in, %in0, %o; add.u64 %out, %out0, %o; ld.global.u32 %x, [%in];\n" body \
        "\nst.global.u32 [%out], %r;\nret;\n}\n"

static uint32_t in[2048], out[2048];

static void start(void)
{
    for (uint32_t i = 0; i < 2048; i++) {
        in[i] = i * 2654435761u >> 7;
        out[i] = 0xdeadbeef;
    }
}

static void launch(struct rig *rig, const char *entry, unsigned blocks, unsigned threads, uint32_t n)
{
    struct {
        uint32_t *in, *out;
        uint32_t n;
    } params = {in, out, n};
    rig_run(rig, entry, blocks, threads, &params, 20);
}

#define FOR_VARIANTS for (rig_variant = 0; rig_variant < RIG_VARIANTS; rig_variant++)

/* Reverses a block through shared memory, then sums it by halves. */
static void barriers_and_shared_memory(void **unused)
{
    (void)unused;
    struct rig *rig = rig_open(
        HEAD KERNEL(
            "reverse", ".shared .align 4 .b8 tile[1024];",
            "mov.u32 %a2, tile; mov.u32 %a3, %tid.x; mul.lo.u32 %a4, %a3, 4; add.u32 %a5, %a2, %a4; st.shared.u32 [%a5], %x;\n"
            "bar.sync 0; sub.u32 %a6, %a1, %a3; mul.lo.u32 %a6, %a6, 4; add.u32 %a6, %a6, %a2; ld.shared.u32 %r, [%a6+-4];")
            KERNEL(
                "total", ".extern .shared .align 16 .b8 dynamic[];",
                "mov.u32 %a2, dynamic; mov.u32 %a3, %tid.x; shl.b32 %a4, %a3, 2; add.u32 %a5, %a2, %a4; st.shared.u32 [%a5], %x;\n"
                "shr.u32 %a6, %a1, 1;\n"
                "loop: bar.sync 0; setp.ge.u32 %p1, %a3, %a6; @%p1 bra skip;\n"
                "shl.b32 %a7, %a6, 2; add.u32 %a7, %a7, %a5; ld.shared.u32 %a8, [%a7]; ld.shared.u32 %a9, [%a5]; add.u32 %a9, %a9, %a8;\n"
                "st.shared.u32 [%a5], %a9;\n"
                "skip: shr.u32 %a6, %a6, 1; setp.ne.u32 %p2, %a6, 0; @%p2 bra loop;\n"
                "bar.sync 0; ld.shared.u32 %r, [dynamic];")
        /* Barriers in both arms of an if, in a loop with its own number of rounds, and after lanes have left. */
        KERNEL(
            "arms", ".shared .align 4 .b8 cells[512];",
            "mov.u32 %a2, cells; mov.u32 %a3, %tid.x; shl.b32 %a4, %a3, 2; add.u32 %a4, %a4, %a2; mov.u32 %r, 0; mov.u32 %a10, 0;\n"
            "xor.b32 %a6, %a3, 1; shl.b32 %a6, %a6, 2; add.u32 %a6, %a6, %a2; and.b32 %a5, %a3, 1; setp.eq.u32 %p1, %a5, 0; @%p1 bra even;\n"
            "st.shared.u32 [%a4], %x; barrier.sync 0; ld.shared.u32 %r, [%a6]; bra join;\n"
            "even: add.u32 %a7, %x, 1; st.shared.u32 [%a4], %a7; barrier.sync 0; ld.shared.u32 %r, [%a6]; add.u32 %r, %r, 5;\n"
            "join: barrier.sync 0; and.b32 %a8, %a3, 3; setp.eq.u32 %p2, %a8, 3; @%p2 st.global.u32 [%out], %r; @%p2 exit;\n"
            "round: st.shared.u32 [%a4], %r; barrier.sync 0; add.u32 %a10, %a10, 1; setp.le.u32 %p3, %a10, %a8; @%p3 bra round;\n"
            "@!%p3 add.u32 %r, %r, %a10;")
            KERNEL(
                "reductions", "",
                "setp.gt.u32 %p1, %x, 1000000; bar.red.popc.u32 %a2, 0, %p1; bar.red.and.pred %p2, 0, %p1; bar.red.or.pred %p3, 0, %p1;\n"
                "selp.u32 %a3, 1000, 0, %p2; selp.u32 %a4, 2000, 0, %p3; add.u32 %r, %a2, %a3; add.u32 %r, %r, %a4;"));
    FOR_VARIANTS {
        start();
        launch(rig, "reverse", 2, 128, 0);
        for (uint32_t i = 0; i < 256; i++)
            assert_int_equal(out[i], in[i / 128 * 128 + 127 - i % 128]);
        start();
        struct {
            uint32_t *in, *out;
            uint32_t n;
        } params = {in, out, 0};
        unsigned grid[3] = {2, 1, 1}, block[3] = {256, 1, 1};
        assert_int_equal(rig_launch(rig, "total", grid, block, 1024, &params, 20), CUDA_SUCCESS);
        for (uint32_t b = 0; b < 2; b++) {
            uint32_t sum = 0;
            for (uint32_t i = 0; i < 256; i++)
                sum += in[b * 256 + i];
            for (uint32_t i = 0; i < 256; i++)
                assert_int_equal(out[b * 256 + i], sum);
        }
        start();
        launch(rig, "arms", 2, 72, 0);
        for (uint32_t i = 0; i < 144; i++) {
            uint32_t t = i % 72, value = in[i ^ 1] + (t & 1 ? 1 : 5);
            assert_int_equal(out[i], (t & 3) == 3 ? value : value + (t & 3) + 1);
        }
        start();
        launch(rig, "reductions", 3, 100, 0);
        for (uint32_t i = 0; i < 300; i++) {
            uint32_t count = 0;
            for (uint32_t k = 0; k < 100; k++)
                count += in[i / 100 * 100 + k] > 1000000;
            assert_int_equal(out[i], count + (count == 100 ? 1000 : 0) + (count ? 2000 : 0));
        }
    }
    rig_close(rig);
}

/* Barriers with a predicate, reached by a warp's lanes in different places. */
static void reductions_apart(void **unused)
{
    (void)unused;
    struct rig *rig = rig_open(
        HEAD
            /* A warp's lanes at three places at once, each with a predicate, in a loop with its own number of rounds;
               the others in one place. */
            KERNEL(
                "apart", "",
                "setp.gt.u32 %p1, %x, 5000000; and.b32 %a3, %a19, 3; mov.u32 %r, 0; mov.u32 %a10, 0; setp.ge.u32 %p5, %a19, 64; @%p5 bra whole;\n"
                "setp.eq.u32 %p2, %a3, 1; @%p2 bra one; setp.eq.u32 %p2, %a3, 2; @%p2 bra two;\n"
                "barrier.red.popc.u32 %a4, 0, %p1; mul.lo.u32 %a4, %a4, 1; bra join;\n"
                "one: barrier.red.popc.u32 %a4, 0, %p1; mul.lo.u32 %a4, %a4, 3; bra join;\n"
                "two: barrier.red.popc.u32 %a5, 0, %p1; mul.lo.u32 %a4, %a5, 5; bra join;\n"
                "whole: barrier.red.popc.u32 %a4, 0, %p1; mul.lo.u32 %a4, %a4, 7;\n"
                "join: add.u32 %r, %r, %a4; add.u32 %a10, %a10, 1; setp.gt.u32 %p3, %a10, 1; @%p3 bra last;\n"
                "setp.gt.u32 %p1, %x, 9000000; setp.ne.u32 %p4, %a3, 1; @%p4 bra more;\n"
                "barrier.red.or.pred %p6, 0, %p1; bra last;\n"
                "more: barrier.red.or.pred %p6, 0, %p1; selp.u32 %a6, 1000, 0, %p6; add.u32 %r, %r, %a6;\n"
                "last: selp.u32 %a6, 10000, 0, %p6; add.u32 %r, %r, %a6; barrier.red.and.pred %p7, 0, %p3; selp.u32 %a6, 100000, 0, %p7; add.u32 %r, %r, %a6;"));
    FOR_VARIANTS {
        start();
        launch(rig, "apart", 3, 100, 0);
        for (uint32_t i = 0; i < 300; i++) {
            static const uint32_t factors[] = {1, 3, 5, 1};
            uint32_t t = i % 100, count = 0, any = 0;
            for (uint32_t k = 0; k < 100; k++) {
                count += in[i / 100 * 100 + k] > 5000000;
                any |= in[i / 100 * 100 + k] > 9000000;
            }
            assert_int_equal(out[i], count * (t >= 64 ? 7 : factors[t & 3]) + (any ? 10000 : 0) +
                                         (any && (t & 3) != 1 ? 1000 : 0));
        }
    }
    rig_close(rig);
}

static uint32_t shuffled(unsigned mode, const uint32_t *lanes, uint32_t lane, uint32_t b, uint32_t c, uint32_t *valid)
{
    uint32_t segment = c >> 8 & 31, clamp = c & 31, most = (lane & segment) | (clamp & ~segment & 31);
    int32_t j;
    b &= 31;
    switch (mode) {
    case 0:
        j = (int32_t)(lane - b);
        *valid = j >= (int32_t)most;
        break;
    case 1:
        j = (int32_t)(lane + b);
        *valid = j <= (int32_t)most;
        break;
    case 2:
        j = (int32_t)(lane ^ b);
        *valid = j <= (int32_t)most;
        break;
    default:
        j = (int32_t)((lane & segment) | (b & ~segment & 31));
        *valid = j <= (int32_t)most;
        break;
    }
    return lanes[*valid ? (uint32_t)j : lane];
}

/* The text with every '@' replaced; the caller frees. */
static char *with_mode(const char *text, const char *mode)
{
    char *result = calloc(strlen(text) * 4 + 1, 1), *to = result;
    for (; *text; text++)
        if (*text == '@')
            to += sprintf(to, "%s", mode);
        else
            *to++ = *text;
    return result;
}

static void shuffles(void **unused)
{
    (void)unused;
    static const char *const modes[] = {"up", "down", "bfly", "idx"};
    static const struct {
        uint32_t b, c;
    } cases[] = {{1, 0}, {3, 31}, {16, 31}, {5, 0x1807}, {1, 0x1c03}, {31, 31}, {0, 0}, {7, 0x100f}};
    for (unsigned mode = 0; mode < 4; mode++) {
        char *text = with_mode(
            HEAD KERNEL("constant", "",
                        "shfl.sync.@.b32 %r|%p1, %x, 5, 31, 0xffffffff; selp.u32 %a2, 1, 0, %p1; xor.b32 %r, %r, %a2;")
                KERNEL("variable", "",
                       "and.b32 %a2, %n, 255; shr.u32 %a3, %n, 8; shfl.sync.@.b32 %r|%p1, %x, %a2, %a3, -1;\n"
                       "selp.u32 %a2, 1, 0, %p1; xor.b32 %r, %r, %a2;")
                    KERNEL("own", "", "and.b32 %a2, %x, 31; shfl.sync.@.b32 %r, %x, %a2, 31, -1;"),
            modes[mode]);
        struct rig *rig = rig_open(text);
        free(text);
        FOR_VARIANTS {
            uint32_t valid;
            start();
            launch(rig, "constant", 1, 64, 0);
            for (uint32_t i = 0; i < 64; i++) {
                uint32_t value = shuffled(mode, &in[i & ~31u], i & 31, 5, 31, &valid);
                assert_int_equal(out[i], value ^ valid);
            }
            for (unsigned k = 0; k < sizeof cases / sizeof *cases; k++) {
                start();
                launch(rig, "variable", 1, 32, cases[k].b | cases[k].c << 8);
                for (uint32_t i = 0; i < 32; i++) {
                    uint32_t value = shuffled(mode, in, i, cases[k].b, cases[k].c, &valid);
                    assert_int_equal(out[i], value ^ valid);
                }
            }
            start();
            launch(rig, "own", 1, 32, 0);
            for (uint32_t i = 0; i < 32; i++)
                assert_int_equal(out[i], shuffled(mode, in, i, in[i] & 31, 31, &valid));
        }
        rig_close(rig);
    }
}

static void votes(void **unused)
{
    (void)unused;
    struct rig *rig = rig_open(
        HEAD KERNEL(
            "vote", "",
            "and.b32 %a2, %x, 3; setp.eq.u32 %p1, %a2, 1; vote.sync.ballot.b32 %a3, %p1, -1; vote.sync.any.pred %p2, %p1, -1;\n"
            "vote.sync.all.pred %p3, %p1, 0x11; vote.sync.uni.pred %p4, %p1, 0x3; selp.u32 %a4, 1, 0, %p2; selp.u32 %a5, 2, 0, %p3;\n"
            "selp.u32 %a6, 4, 0, %p4; add.u32 %a4, %a4, %a5; add.u32 %a4, %a4, %a6; xor.b32 %r, %a3, %a4;")
            KERNEL(
                "match", "",
                "and.b32 %a2, %x, 3; match.any.sync.b32 %a3|_, %a2, -1; match.all.sync.b32 %a4|%p1, %a2, 0x1; selp.u32 %a5, 1, 0, %p1;\n"
                "redux.sync.add.u32 %a6, %x, -1; redux.sync.min.s32 %a7, %x, 0xff; redux.sync.xor.b32 %a8, %x, -1;\n"
                "add.u32 %r, %a3, %a4; add.u32 %r, %r, %a5; add.u32 %r, %r, %a6; add.u32 %r, %r, %a7; add.u32 %r, %r, %a8;")
                KERNEL("divergent", "",
                       "and.b32 %a2, %x, 1; setp.eq.u32 %p1, %a2, 1; @%p1 bra odd; activemask.b32 %r; bra join;\n"
                       "odd: activemask.b32 %r; not.b32 %r, %r;\njoin: activemask.b32 %a3; add.u32 %r, %r, %a3;")
                    KERNEL(
                        "lanes", "",
                        "mov.u32 %r, %lanemask_lt; mov.u32 %a2, %lanemask_ge; xor.b32 %r, %r, %a2; mov.u32 %a3, %laneid; add.u32 %r, %r, %a3;\n"
                        "mov.u32 %a4, %warpid; mad.lo.u32 %r, %a4, 100, %r; mov.u32 %a5, %nwarpid; mad.lo.u32 %r, %a5, 10000, %r;"));
    FOR_VARIANTS {
        start();
        launch(rig, "vote", 1, 64, 0);
        for (uint32_t w = 0; w < 2; w++) {
            uint32_t ballot = 0;
            for (uint32_t l = 0; l < 32; l++)
                ballot |= (uint32_t)((in[w * 32 + l] & 3) == 1) << l;
            /* All lanes are there with one mask: all count, whatever it names. */
            uint32_t more =
                (ballot ? 1 : 0) + (ballot == UINT32_MAX ? 2 : 0) + (ballot == UINT32_MAX || ballot == 0 ? 4 : 0);
            for (uint32_t l = 0; l < 32; l++)
                assert_int_equal(out[w * 32 + l], ballot ^ more);
        }
        start();
        launch(rig, "match", 1, 32, 0);
        uint32_t sum = 0, xored = 0;
        int32_t least = INT32_MAX;
        for (uint32_t l = 0; l < 32; l++) {
            sum += in[l];
            xored ^= in[l];
            if ((int32_t)in[l] < least)
                least = (int32_t)in[l];
        }
        for (uint32_t l = 0; l < 32; l++) {
            uint32_t same = 0;
            for (uint32_t k = 0; k < 32; k++)
                same |= (uint32_t)((in[l] & 3) == (in[k] & 3)) << k;
            assert_int_equal(out[l], same + (same == UINT32_MAX ? UINT32_MAX + 1u : 0) + sum + (uint32_t)least + xored);
        }
        start();
        launch(rig, "divergent", 1, 32, 0);
        uint32_t odd = 0;
        for (uint32_t l = 0; l < 32; l++)
            odd |= (in[l] & 1) << l;
        for (uint32_t l = 0; l < 32; l++)
            assert_int_equal(out[l], (in[l] & 1 ? ~odd : ~odd) + UINT32_MAX);
        start();
        launch(rig, "lanes", 1, 96, 0);
        for (uint32_t i = 0; i < 96; i++) {
            uint32_t lane = i & 31, less = (1u << lane) - 1;
            assert_int_equal(out[i], (less ^ ~less) + lane + i / 32 * 100 + 3 * 10000);
        }
    }
    rig_close(rig);
}

static void atomics(void **unused)
{
    (void)unused;
    struct rig *rig = rig_open(
        HEAD ".visible .global .align 8 .b8 g[64];\n" KERNEL(
            "count", "",
            "atom.global.add.u32 %r, [g], 1; red.global.add.u32 [g+4], %x; red.global.max.u32 [g+8], %x;\n"
            "atom.global.min.s32 %a2, [g+12], %x; red.global.xor.b32 [g+16], %x; atom.global.inc.u32 %a3, [g+20], 6;\n"
            "atom.global.dec.u32 %a4, [g+24], 4; mov.b64 %d1, 1; red.global.add.u64 [g+32], %d1; atom.global.exch.b32 %a5, [g+40], %t;\n"
            "mov.f32 %f1, 0f3F800000; red.global.add.f32 [g+44], %f1;")
            KERNEL(
                "histogram", ".shared .align 4 .b8 bins[64];",
                "mov.u32 %a3, %tid.x; setp.lt.u32 %p1, %a3, 16; shl.b32 %a4, %a3, 2; mov.u32 %a5, bins; add.u32 %a4, %a4, %a5;\n"
                "mov.u32 %a6, 0; @%p1 st.shared.u32 [%a4], %a6; bar.sync 0; and.b32 %a7, %x, 15; shl.b32 %a7, %a7, 2; add.u32 %a7, %a7, %a5;\n"
                "atom.shared.add.u32 %a8, [%a7], 1; bar.sync 0; mov.u32 %r, 0; @%p1 ld.shared.u32 %r, [%a4];")
                KERNEL(
                    "lock", "", /* a spin lock whose holder is a lane of the same warp */
                    "again: atom.global.cas.b32 %a2, [g+48], 0, 1; setp.ne.u32 %p1, %a2, 0; @%p1 bra again;\n"
                    "ld.volatile.global.u32 %a3, [g+52]; add.u32 %a3, %a3, 1; st.volatile.global.u32 [g+52], %a3; membar.gl;\n"
                    "atom.global.exch.b32 %a4, [g+48], 0; mov.u32 %r, %a3;"));
    FOR_VARIANTS {
        start();
        uint32_t *g = rig_symbol(rig, "g");
        memset(g, 0, 64);
        launch(rig, "count", 2, 75, 0);
        uint32_t seen[150] = {0}, sum = 0, most = 0, xored = 0;
        for (uint32_t i = 0; i < 150; i++) {
            assert_true(out[i] < 150 && !seen[out[i]]++);
            sum += in[i];
            xored ^= in[i];
            most = in[i] > most ? in[i] : most;
        }
        assert_int_equal(g[0], 150);
        assert_int_equal(g[1], sum);
        assert_int_equal(g[2], most);
        assert_int_equal(g[3], 0);
        assert_int_equal(g[4], xored);
        assert_int_equal(g[5], 150 % 7);
        assert_int_equal(g[6], 0); /* 0, 4, 3, 2, 1, 0: a period of five */
        assert_int_equal(g[8], 150);
        assert_int_equal(g[11], 0x43160000); /* 150.0f */
        start();
        launch(rig, "histogram", 1, 160, 0);
        uint32_t bins[16] = {0};
        for (uint32_t i = 0; i < 160; i++)
            bins[in[i] & 15]++;
        for (uint32_t i = 0; i < 16; i++)
            assert_int_equal(out[i], bins[i]);
        start();
        launch(rig, "lock", 1, 64, 0);
        assert_int_equal(g[13], 64);
    }
    rig_close(rig);
}

static void faults_and_guards(void **unused)
{
    (void)unused;
    struct rig *rig = rig_open(HEAD KERNEL("trapping", "", "setp.eq.u32 %p1, %t, 40; @%p1 trap; mov.u32 %r, 1;") KERNEL(
        "guarded", "",
        "and.b32 %a2, %x, 1; setp.eq.u32 %p1, %a2, 1; mov.u32 %r, 7; mov.u64 %d1, 8; @%p1 mov.u64 %d1, %in;\n"
        "@%p1 ld.global.u32 %r, [%d1]; @!%p1 add.u32 %r, %r, %t; @%p1 bra done; setp.lt.u32 %p2, %t, 5; @%p2 ret; add.u32 %r, %r, 100;\ndone:"));
    FOR_VARIANTS {
        start();
        struct {
            uint32_t *in, *out;
            uint32_t n;
        } params = {in, out, 0};
        unsigned grid[3] = {1, 1, 1}, block[3] = {64, 1, 1};
        assert_int_equal(rig_launch(rig, "trapping", grid, block, 0, &params, 20), CUDA_ERROR_LAUNCH_FAILED);
        start();
        launch(rig, "guarded", 1, 64, 0);
        for (uint32_t i = 0; i < 64; i++)
            assert_int_equal(out[i], in[i] & 1 ? in[i] : i < 5 ? 0xdeadbeef : 7 + i + 100);
    }
    rig_close(rig);
}

/* Blocks of two and three dimensions: %tid from the number of the thread. */
static void shapes(void **unused)
{
    (void)unused;
    struct rig *rig = rig_open(
        HEAD
        ".visible .entry where(.param .u64 out)\n{\n.reg .b32 %a<20>; .reg .b64 %d<4>;\n"
        "ld.param.u64 %d1, [out]; mov.u32 %a1, %tid.x; mov.u32 %a2, %tid.y; mov.u32 %a3, %tid.z; mov.u32 %a4, %ntid.x; mov.u32 %a5, %ntid.y;\n"
        "mad.lo.u32 %a6, %a3, %a5, %a2; mad.lo.u32 %a6, %a6, %a4, %a1; mul.wide.u32 %d2, %a6, 4; add.u64 %d1, %d1, %d2;\n"
        "shl.b32 %a7, %a3, 20; shl.b32 %a8, %a2, 10; or.b32 %a9, %a7, %a8; or.b32 %a9, %a9, %a1; st.global.u32 [%d1], %a9; ret;\n}\n");
    static const unsigned blocks[][3] = {{5, 7, 3},  {32, 4, 2},  {64, 2, 1},  {33, 1, 5},
                                         {1, 1, 64}, {16, 16, 1}, {1000, 1, 1}};
    FOR_VARIANTS
        for (unsigned k = 0; k < sizeof blocks / sizeof *blocks; k++) {
            unsigned grid[3] = {1, 1, 1};
            uint32_t *to = out;
            start();
            assert_int_equal(rig_launch(rig, "where", grid, blocks[k], 0, &to, 8), CUDA_SUCCESS);
            for (uint32_t z = 0, i = 0; z < blocks[k][2]; z++)
                for (uint32_t y = 0; y < blocks[k][1]; y++)
                    for (uint32_t x = 0; x < blocks[k][0]; x++, i++)
                        assert_int_equal(out[i], z << 20 | y << 10 | x);
        }
    rig_close(rig);
}

/* tid.x / 32 and tid.x % 32 are not vectors where a warp lies in one row, and have to be right where it doesn't. The
 * kernel has no lane numbers, so it may be asked to run in pairs. */
static void parts_of_a_number(void **unused)
{
    (void)unused;
    struct rig *rig = rig_open(
        HEAD
        ".visible .entry parts(.param .u64 out)\n{\n.reg .b32 %a<20>; .reg .b64 %d<4>;\n"
        "ld.param.u64 %d1, [out]; mov.u32 %a1, %tid.x; mov.u32 %a2, %tid.y; mov.u32 %a4, %ntid.x;\n"
        "mad.lo.u32 %a6, %a2, %a4, %a1; mul.wide.u32 %d2, %a6, 4; add.u64 %d1, %d1, %d2; shr.u32 %a7, %a1, 5; and.b32 %a8, %a1, 31; and.b32 %a9, %a1, 992;\n"
        "shr.s32 %a10, %a1, 6; shr.u32 %a11, %a8, 5; and.b32 %a12, %a1, 15; shr.u32 %a13, %a1, 4; mul.lo.u32 %a7, %a7, 3; mul.lo.u32 %a8, %a8, 1000; add.u32 %a7, %a7, %a8;\n"
        "mad.lo.u32 %a7, %a9, 100000, %a7; mad.lo.u32 %a7, %a10, 7, %a7; mad.lo.u32 %a7, %a11, 99, %a7; mad.lo.u32 %a7, %a12, 13, %a7; mad.lo.u32 %a7, %a13, 17, %a7;\n"
        "st.global.u32 [%d1], %a7; ret;\n}\n");
    static const unsigned blocks[][3] = {{256, 1, 1}, {64, 3, 1},  {96, 2, 1},   {40, 3, 1},
                                         {16, 16, 1}, {128, 2, 1}, {1000, 1, 1}, {33, 2, 1}};
    FOR_VARIANTS
        for (unsigned k = 0; k < sizeof blocks / sizeof *blocks; k++) {
            unsigned grid[3] = {1, 1, 1};
            uint32_t *to = out;
            start();
            assert_int_equal(rig_launch(rig, "parts", grid, blocks[k], 0, &to, 8), CUDA_SUCCESS);
            for (uint32_t y = 0, i = 0; y < blocks[k][1]; y++)
                for (uint32_t x = 0; x < blocks[k][0]; x++, i++)
                    assert_int_equal(out[i], x / 32 * 3 + x % 32 * 1000 + (x & 992) * 100000 + x / 64 * 7 +
                                                 x % 16 * 13 + x / 16 * 17);
        }
    rig_close(rig);
}

/* More blocks than the static order takes: a dispatcher runs them. Two thousand ifs on bits of a changing number, in a
 * loop. */
static void large_functions(void **unused)
{
    (void)unused;
    char *text = calloc(1 << 20, 1), *to = text;
    to += sprintf(
        to, "%s",
        HEAD
        ".visible .entry big(.param .u64 in, .param .u64 out)\n{\n.reg .b32 %t, %x, %i, %m; .reg .b64 %p, %q, %o, %p2, %q2; .reg .pred %c;\n"
        "ld.param.u64 %p, [in]; ld.param.u64 %q, [out]; mov.u32 %t, %tid.x; mul.wide.u32 %o, %t, 4; add.u64 %p2, %p, %o; add.u64 %q2, %q, %o;\n"
        "ld.global.u32 %x, [%p2]; mov.u32 %i, 0;\nagain:\n");
    for (int k = 0; k < 1000; k++)
        to += sprintf(to,
                      "and.b32 %%m, %%x, %d; setp.eq.u32 %%c, %%m, 0; @%%c bra L%d; mad.lo.u32 %%x, %%x, 3, %d; L%d:\n",
                      1 << k % 13, k, k, k);
    sprintf(
        to,
        "add.u32 %%i, %%i, 1; and.b32 %%m, %%t, 3; setp.lt.u32 %%c, %%i, %%m; @%%c bra again;\nst.global.u32 [%%q2], %%x; ret;\n}\n");
    struct rig *rig = rig_open(text);
    struct {
        uint32_t *in, *out;
    } params = {in, out};
    start();
    rig_variant = 0;
    rig_run(rig, "big", 1, 70, &params, sizeof params);
    for (uint32_t t = 0; t < 70; t++) {
        uint32_t x = in[t], i = 0;
        do
            for (uint32_t k = 0; k < 1000; k++)
                x = x & 1u << k % 13 ? x * 3 + k : x;
        while (++i < (t & 3));
        assert_int_equal(out[t], x);
    }
    rig_close(rig);
    free(text);
}

/* The same, where lanes leave a loop at different times, and a warp operation behind it names them all; a lock that
 * lanes of a warp take from one another, with a warp operation behind it, and barriers in both arms of an if. */
static void large_functions_meet(void **unused)
{
    (void)unused;
    char *text = calloc(1 << 20, 1), *to = text;
    to += sprintf(
        to, "%s",
        HEAD
        ".visible .entry big(.param .u64 in, .param .u64 out)\n{\n.reg .b32 %t, %x, %i, %m, %v, %n, %s, %e; .reg .b64 %p, %q, %o, %p2, %q2; .reg .pred %c; .shared .b32 words[64];\n"
        "ld.param.u64 %p, [in]; ld.param.u64 %q, [out]; mov.u32 %t, %tid.x; mul.wide.u32 %o, %t, 4; add.u64 %p2, %p, %o; add.u64 %q2, %q, %o;\n"
        "mov.u32 %s, words; add.u32 %e, %s, 252; shl.b32 %m, %t, 2; add.u32 %s, %s, %m; sub.u32 %e, %e, %m; ld.global.u32 %x, [%p2]; mov.u32 %i, 0; mov.u32 %v, 0; mov.u32 %n, 0;\nagain:\n");
    for (int k = 0; k < 800; k++)
        to += sprintf(to,
                      "and.b32 %%m, %%x, %d; setp.eq.u32 %%c, %%m, 0; @%%c bra L%d; mad.lo.u32 %%x, %%x, 3, %d; L%d:\n",
                      1 << k % 13, k, k, k);
    to += sprintf(
        to,
        "round: add.u32 %%i, %%i, 1; and.b32 %%m, %%t, 7; setp.lt.u32 %%c, %%i, %%m; @%%c bra round;\n"
        "setp.eq.u32 %%c, %%t, %%t; vote.sync.ballot.b32 %%m, %%c, 0xffffffff; add.u32 %%v, %%v, %%m; mov.u32 %%i, 0; add.u32 %%n, %%n, 1; setp.lt.u32 %%c, %%n, 3; @%%c bra again;\n"
        "take: atom.global.acquire.gpu.cas.b32 %%m, [%%q+4096], 0, 1; setp.ne.u32 %%c, %%m, 0; @%%c bra take;\n"
        "ld.relaxed.gpu.global.u32 %%m, [%%q+4100]; add.u32 %%m, %%m, 1; st.relaxed.gpu.global.u32 [%%q+4100], %%m; st.release.gpu.global.u32 [%%q+4096], 0;\n"
        "setp.lt.u32 %%c, %%t, 40; vote.sync.ballot.b32 %%m, %%c, 0xffffffff; st.global.u32 [%%q2+3072], %%m;\n"
        "and.b32 %%m, %%t, 3; setp.eq.u32 %%c, %%m, 0; st.shared.u32 [%%s], %%t; @%%c bra other; barrier.sync 0; ld.shared.u32 %%m, [%%e]; bra both;\n"
        "other: barrier.sync 0; ld.shared.u32 %%m, [%%e];\nboth: st.global.u32 [%%q2+2048], %%m;\n"
        "st.global.u32 [%%q2], %%x; st.global.u32 [%%q2+1024], %%v; ret;\n}\n");
    struct rig *rig = rig_open(text);
    struct {
        uint32_t *in, *out;
    } params = {in, out};
    start();
    out[1024] = out[1025] = 0;
    rig_variant = 0;
    rig_run(rig, "big", 1, 64, &params, sizeof params);
    for (uint32_t t = 0; t < 64; t++) {
        uint32_t x = in[t];
        for (unsigned round = 0; round < 3; round++)
            for (uint32_t k = 0; k < 800; k++)
                x = x & 1u << k % 13 ? x * 3 + k : x;
        assert_int_equal(out[t], x);
        assert_int_equal(out[256 + t], 3 * UINT32_MAX);
        assert_int_equal(out[512 + t], 63 - t);
        assert_int_equal(out[768 + t], t < 32 ? UINT32_MAX : 0xff);
    }
    assert_int_equal(out[1025], 64);
    rig_close(rig);
    free(text);
}

/* A dozen additions to bytes, each two loops around a compare-and-exchange of its word: any block may have lanes
 * waiting while any other runs. */
static void many_waiting_loops(void **unused)
{
    (void)unused;
    char *text = calloc(1 << 16, 1), *to = text;
    to += sprintf(
        to, "%s",
        HEAD
        ".visible .entry bytes(.param .u64 in, .param .u64 out)\n{\n.reg .b32 %t, %x, %o, %n, %g, %s, %w, %v; .reg .b64 %p, %q, %a; .reg .pred %c;\n"
        "ld.param.u64 %p, [in]; ld.param.u64 %q, [out]; mov.u32 %t, %tid.x; mul.wide.u32 %a, %t, 4; add.u64 %p, %p, %a; ld.global.u32 %x, [%p];\n");
    for (int k = 0; k < 12; k++)
        to += sprintf(
            to,
            "and.b32 %%s, %%t, 3; shl.b32 %%s, %%s, 3; ld.global.u32 %%o, [%%q+%d];\n"
            "outer%d: shr.u32 %%g, %%o, %%s; and.b32 %%g, %%g, 255; shr.u32 %%w, %%x, %d; add.u32 %%n, %%g, %%w; and.b32 %%n, %%n, 255; shl.b32 %%n, %%n, %%s;\n"
            "inner%d: shl.b32 %%w, 255, %%s; not.b32 %%w, %%w; and.b32 %%w, %%o, %%w; or.b32 %%w, %%w, %%n; atom.global.cas.b32 %%v, [%%q+%d], %%o, %%w;\n"
            "setp.eq.u32 %%c, %%v, %%o; @%%c bra done%d; mov.u32 %%o, %%v; shr.u32 %%v, %%v, %%s; and.b32 %%v, %%v, 255; setp.eq.u32 %%c, %%v, %%g; @%%c bra inner%d; bra outer%d;\ndone%d:\n",
            4 * k, k, k, k, 4 * k, k, k, k, k);
    sprintf(to, "ret;\n}\n");
    struct rig *rig = rig_open(text);
    struct {
        uint32_t *in, *out;
    } params = {in, out};
    FOR_VARIANTS {
        start();
        for (unsigned k = 0; k < 12; k++)
            out[k] = 0x04030201;
        rig_run(rig, "bytes", 2, 72, &params, sizeof params);
        for (unsigned k = 0; k < 48; k++) {
            uint32_t sum = k % 4 + 1;
            for (uint32_t t = k % 4; t < 72; t += 4)
                sum += 2 * (in[t] >> k / 4);
            assert_int_equal(out[k / 4] >> k % 4 * 8 & 255, sum & 255);
        }
    }
    /* Jumps from each place to each other one, with a choice of all registers at each, would be some 3,000 choices. */
    char *ir = rig_text(rig, "bytes", 3, NULL, false);
    unsigned choices = 0;
    for (const char *at = ir; (at = strstr(at, " phi <32 x ")); at++)
        choices++;
    assert_in_range(choices, 0, 600);
    free(ir);
    rig_close(rig);
    free(text);
}

/* Loops that may wait for someone else are told from those that can't. */
static void waiting_loops(void **unused)
{
    (void)unused;
    struct rig *rig = rig_open(
        HEAD ".visible .global .u32 flag;\n" KERNEL(
            "counts", "",
            "mov.u32 %r, 0; loop: add.u32 %r, %r, %x; ld.global.u32 %a2, [%in]; red.global.add.u32 [flag], 1; setp.lt.u32 %p1, %r, 1000; @%p1 bra loop;")
            KERNEL("polls", "", "loop: ld.volatile.global.u32 %r, [flag]; setp.eq.u32 %p1, %r, 0; @%p1 bra loop;") KERNEL(
                "acquires", "",
                "loop: ld.acquire.gpu.global.u32 %r, [flag]; add.u32 %a3, %r, 1; setp.eq.u32 %p1, %a3, 1; @!%p1 bra done; bra loop; done:")
                KERNEL("fenced", "",
                       "loop: membar.gl; ld.global.u32 %r, [flag]; setp.eq.u32 %p1, %r, 0; @%p1 bra loop;"));
    assert_int_equal(rig_flags(rig, "counts") & ~(unsigned)MR_CODE_BLOCKS, 0);
    assert_int_equal(rig_flags(rig, "polls"), MR_CODE_COOPERATIVE | MR_CODE_WAITS);
    assert_int_equal(rig_flags(rig, "acquires"), MR_CODE_COOPERATIVE | MR_CODE_WAITS);
    assert_int_equal(rig_flags(rig, "fenced"), MR_CODE_COOPERATIVE | MR_CODE_WAITS);
    rig_close(rig);
}

/* A lock that lanes of one warp take in a function that is called by another: what waits becomes part of the kernel.
 * Called under a guard and in a loop, with ways out in the middle, a table, local memory and a result that nobody
 * wants. */
static void locks_in_functions(void **unused)
{
    (void)unused;
    struct rig *rig = rig_open(
        HEAD
        ".func take(.param .b64 lock)\n{\n.reg .b64 %p; .reg .b32 %v; .reg .pred %c; ld.param.u64 %p, [lock];\n"
        "again: atom.acquire.gpu.cas.b32 %v, [%p], 0, 1; setp.ne.u32 %c, %v, 0; @%c bra again;\nret;\n}\n"
        ".func (.param .b32 o) add(.param .b64 p, .param .b32 x)\n{\n.reg .b64 %p; .reg .b32 %v, %x, %k; .reg .pred %c; .local .align 4 .b8 mine[8];\n"
        "ways: .branchtargets even, odd;\n"
        "ld.param.u64 %p, [p]; ld.param.u32 %x, [x]; st.local.u32 [mine+4], %x; { .param .b64 a; st.param.b64 [a], %p; call take, (a); }\n"
        "ld.relaxed.gpu.u32 %v, [%p+4]; add.u32 %v, %v, %x; st.relaxed.gpu.u32 [%p+4], %v; st.release.gpu.u32 [%p], 0;\n"
        "and.b32 %k, %x, 1; brx.idx %k, ways;\n"
        "even: ld.local.u32 %v, [mine+4]; st.param.b32 [o], %v; ret;\n"
        "odd: st.param.b32 [o], 7; setp.gt.u32 %c, %x, 5000000; @%c ret; st.param.b32 [o], 9;\nret;\n}\n" KERNEL(
            "locked", "",
            "add.u64 %d0, %out0, 8184; mov.u32 %r, 0; and.b32 %a2, %t, 3;\n"
            "round: { .param .b64 a; .param .b32 b; .param .b32 c; st.param.b64 [a], %d0; st.param.b32 [b], %x; call (c), add, (a, b); ld.param.b32 %a3, [c]; }\n"
            "add.u32 %r, %r, %a3; setp.ne.u32 %p1, %a2, 0; sub.u32 %a2, %a2, 1; @%p1 bra round;\n"
            "setp.eq.u32 %p2, %t, 5; { .param .b64 a; .param .b32 b; st.param.b64 [a], %d0; st.param.b32 [b], 1; @%p2 call (_), add, (a, b); }"));
    FOR_VARIANTS {
        uint32_t total = 1;
        start();
        out[2046] = out[2047] = 0;
        launch(rig, "locked", 2, 72, 0);
        for (uint32_t t = 0; t < 144; t++) {
            uint32_t x = in[t], rounds = (t & 3) + 1;
            total += x * rounds;
            assert_int_equal(out[t], rounds * (x % 2 == 0 ? x : x > 5000000 ? 7 : 9));
        }
        assert_int_equal(out[2046], 0);
        assert_int_equal(out[2047], total);
    }
    rig_close(rig);
}

static void vector_code(void **unused)
{
    (void)unused;
    struct rig *rig =
        rig_open(HEAD KERNEL("scale", "", "cvt.rn.f32.u32 %f1, %x; mul.f32 %f1, %f1, 0f3F000000; mov.b32 %r, %f1;"));
    char *ir = rig_text(rig, "scale", 3, NULL, false);
    assert_non_null(strstr(ir, "fmul <32 x float>"));
    assert_non_null(strstr(ir, "<32 x i32>"));
    assert_null(strstr(ir, "masked.gather"));
    free(ir);
    rig_close(rig);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(barriers_and_shared_memory),
                                       cmocka_unit_test(reductions_apart),
                                       cmocka_unit_test(shuffles),
                                       cmocka_unit_test(votes),
                                       cmocka_unit_test(atomics),
                                       cmocka_unit_test(faults_and_guards),
                                       cmocka_unit_test(shapes),
                                       cmocka_unit_test(parts_of_a_number),
                                       cmocka_unit_test(large_functions),
                                       cmocka_unit_test(large_functions_meet),
                                       cmocka_unit_test(many_waiting_loops),
                                       cmocka_unit_test(waiting_loops),
                                       cmocka_unit_test(locks_in_functions),
                                       cmocka_unit_test(vector_code)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
