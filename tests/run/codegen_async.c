/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Asynchronous copies and what waits for them, clusters of one block, accesses of
 * 128 bits, atomic operations on vectors.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "codegen_rig.h"
#include "abi/abi.h"

#define HEAD ".version 8.8\n.target sm_90\n.address_size 64\n"
#define KERNEL(name) \
    ".visible .entry " name "(.param .u64 pin, .param .u64 pout, .param .u32 pn)\n{\n" \
    ".reg .b32 %t, %s, %n, %a<20>; .reg .b64 %in, %out, %o, %d<20>; .reg .pred %p<8>; .reg .f32 %f<20>; .reg .b16 %h<20>; .reg .b128 %q<4>;\n" \
    "ld.param.u64 %in, [pin]; ld.param.u64 %out, [pout]; ld.param.u32 %n, [pn]; mov.u32 %t, %tid.x;\n"
#define END "ret; }\n"

static uint32_t in[4096] __attribute__((aligned(64)));
static uint32_t out[4096] __attribute__((aligned(64)));

static void fill(void)
{
    for (uint32_t i = 0; i < 4096; i++)
        in[i] = i * 2654435761u;
    memset(out, 0, sizeof out);
}

static void run(struct rig *rig, const char *entry, unsigned threads, uint32_t n)
{
    struct {
        uint32_t *in, *out;
        uint32_t n;
    } params = {in, out, n};
    rig_run(rig, entry, 2, threads, &params, 20);
}

/* --- cp.async ----------------------------------------------------------------------------------- */

/* Every thread copies one piece to where its right neighbour's stands, with the block's own 4 KiB; then all is written
 * out. */
static void copies(void **unused)
{
    (void)unused;
    for (unsigned bytes = 4; bytes <= 16; bytes *= 2) {
        static const char *const tails[] = {"", ", %a5", ", %p1", ", 4"};
        for (unsigned tail = 0; tail < 4; tail++) {
            char text[4096];
            strcpy(text, HEAD ".shared .align 16 .b8 tile[4096];\n" KERNEL("k"));
            snprintf(
                text + strlen(text), sizeof text - strlen(text),
                "mov.u32 %%s, tile; mul.lo.u32 %%a1, %%t, %u; add.u32 %%a1, %%a1, %%s; mov.u32 %%a2, %%ctaid.x; mad.lo.u32 %%a2, %%a2, 256, %%t;\n"
                "xor.b32 %%a3, %%a2, %%n; mul.wide.u32 %%d1, %%a3, %u; add.u64 %%d1, %%d1, %%in;\n"
                "mul.lo.u32 %%a5, %%t, 3; rem.u32 %%a5, %%a5, %u; setp.eq.u32 %%p1, %%a5, 1; setp.ne.u32 %%p2, %%t, 77;\n"
                "mov.u32 %%a6, 0x55; st.shared.b32 [%%a1], %%a6;\n"
                "@%%p2 cp.async.c%c.shared.global [%%a1], [%%d1], %u%s;\n"
                "cp.async.commit_group; cp.async.wait_group 0; bar.sync 0;\n"
                "xor.b32 %%a7, %%t, 255; mul.lo.u32 %%a8, %%a7, %u; add.u32 %%a8, %%a8, %%s; mad.lo.u32 %%a9, %%a2, 0, %%a2; sub.u32 %%a9, %%a9, %%t; add.u32 %%a9, %%a9, %%a7;\n"
                "mul.wide.u32 %%o, %%a9, %u; add.u64 %%o, %%o, %%out;\n"
                "mov.u32 %%a10, 0;\nmore: add.u32 %%a11, %%a8, %%a10; ld.shared.b32 %%a12, [%%a11]; cvt.u64.u32 %%d2, %%a10; add.u64 %%d2, %%d2, %%o;\n"
                "st.global.b32 [%%d2], %%a12; add.u32 %%a10, %%a10, 4; setp.lt.u32 %%p3, %%a10, %u; @%%p3 bra more;\n" END,
                bytes, bytes, bytes + 1, bytes == 16 ? 'g' : 'a', bytes, tails[tail], bytes, bytes, bytes);
            struct rig *rig = rig_open(text);
            for (rig_variant = 0; rig_variant < RIG_VARIANTS; rig_variant++)
                for (uint32_t n = 0; n < 6; n += 5) {
                    fill();
                    run(rig, "k", 256, n);
                    for (uint32_t i = 0; i < 512; i++) {
                        uint32_t t = i % 256, reads = t * 3 % (bytes + 1);
                        reads = tail == 0 ? bytes : tail == 1 ? reads : tail == 2 ? reads == 1 ? 0 : bytes : 4;
                        unsigned char expected[16] = {0};
                        memcpy(expected, (char *)in + (i ^ n) * bytes, reads);
                        if (t == 77) {
                            uint32_t before = 0x55;
                            memcpy(expected, &before, 4);
                            assert_memory_equal((char *)out + i * bytes, expected, 4);
                            continue;
                        }
                        if (memcmp((char *)out + i * bytes, expected, bytes) != 0)
                            fail_msg("%u bytes%s, variant %u, thread %u", bytes, tails[tail], rig_variant, i);
                    }
                }
            rig_close(rig);
        }
    }
}

/* A block of known size, whose loads ask for what the next block reads. */
static void copies_of_sized_blocks(void **unused)
{
    (void)unused;
    struct rig *rig =
        rig_open(HEAD ".shared .align 16 .b8 tile[4096];\n"
                      ".visible .entry k(.param .u64 pin, .param .u64 pout, .param .u32 pn) .reqntid 256, 1, 1\n{\n"
                      ".reg .b32 %t, %b, %s, %a<9>; .reg .b64 %in, %out, %d<7>;\n"
                      "ld.param.u64 %in, [pin]; ld.param.u64 %out, [pout]; mov.u32 %t, %tid.x; mov.u32 %b, %ctaid.x;\n"
                      "mov.u32 %a0, tile; mul.lo.u32 %a1, %t, 16; add.u32 %s, %a0, %a1;\n"
                      "mul.wide.u32 %d1, %t, 16; mul.wide.u32 %d2, %b, 4096; add.u64 %d3, %d1, %d2;\n"
                      "add.u64 %d4, %in, %d3; add.u64 %d5, %out, %d3; cp.async.cg.shared.global [%s], [%d4], 16;\n"
                      "cp.async.wait_all; ld.shared.v4.b32 {%a2, %a3, %a4, %a5}, [%s];\n"
                      "st.global.v4.b32 [%d5], {%a2, %a3, %a4, %a5};\n" END);
    for (rig_variant = 0; rig_variant < RIG_VARIANTS; rig_variant++) {
        fill();
        run(rig, "k", 256, 0);
        assert_memory_equal(out, in, 8192);
    }
    rig_close(rig);
}

/* --- mbarrier ------------------------------------------------------------------------------------- */

/* Warps hand numbers around through shared memory, a phase for each: the sum of all threads' numbers in every round. */
#define ROUNDS(name, wait) \
    KERNEL(name) \
    "mov.u32 %s, bar; mov.u32 %a1, %ntid.x; setp.eq.u32 %p1, %t, 0; @%p1 mbarrier.init.shared.b64 [%s], %a1; mov.u32 %a3, sums; mov.u32 %a2, 0; \n" \
    "clear: st.shared.u32 [%a3], %a2; add.u32 %a3, %a3, 4; mov.u32 %a5, sums; add.u32 %a5, %a5, 256; setp.lt.u32 %p4, %a3, %a5; @%p4 bra clear; bar.sync 0;\n" \
    "mov.u32 %a3, sums; mov.u32 %a4, %t;\n" \
    "round: atom.shared.add.u32 %a5, [%a3], %a4; mbarrier.arrive.shared.b64 %d1, [%s]; and.b32 %a6, %a2, 1;\n" \
    "wait: " wait "\n@!%p2 bra wait;\n" \
    "ld.shared.u32 %a7, [%a3]; mad.lo.u32 %a4, %a4, 3, %a7; add.u32 %a3, %a3, 4; add.u32 %a2, %a2, 1; setp.lt.u32 %p3, %a2, %n; @%p3 bra round;\n" \
    "mov.u32 %a8, %ctaid.x; mad.lo.u32 %a8, %a8, %a1, %t; mul.wide.u32 %o, %a8, 4; add.u64 %o, %o, %out; st.global.u32 [%o], %a4;\n" END

#define ROUND_COUNT 6

static const char *const phase_kernels[] = {"token", "parity", "patient", "hinted"};

static void phases(void **unused)
{
    (void)unused;
    struct rig *rig =
        rig_open(HEAD ".shared .align 8 .b64 bar; .shared .align 4 .b32 sums[64];\n" ROUNDS(
            "token", "mbarrier.test_wait.shared.b64 %p2, [%s], %d1;")
                     ROUNDS("parity", "mbarrier.test_wait.parity.acquire.cta.shared::cta.b64 %p2, [%s], %a6;")
                         ROUNDS("patient", "mbarrier.try_wait.parity.shared.b64 %p2, [%s], %a6;")
                             ROUNDS("hinted", "mbarrier.try_wait.shared::cta.b64 %p2, [%s], %d1, 1000;"));
    static const unsigned sizes[] = {32, 64, 100, 1024};
    for (unsigned k = 0; k < 4; k++)
        for (rig_variant = 0; rig_variant < RIG_VARIANTS; rig_variant++)
            for (unsigned i = 0; i < 4; i++) {
                unsigned threads = sizes[i];
                fill();
                run(rig, phase_kernels[k], threads, ROUND_COUNT);
                uint32_t values[1024];
                for (uint32_t t = 0; t < threads; t++)
                    values[t] = t;
                for (unsigned round = 0; round < ROUND_COUNT; round++) {
                    uint32_t sum = 0;
                    for (uint32_t t = 0; t < threads; t++)
                        sum += values[t];
                    for (uint32_t t = 0; t < threads; t++)
                        values[t] = values[t] * 3 + sum;
                }
                for (uint32_t t = 0; t < 2 * threads; t++)
                    assert_int_equal(out[t], values[t % threads]);
            }
    rig_close(rig);
}

/* Counts, drops, transactions, tokens, one thread. */
static void one_thread(void **unused)
{
    (void)unused;
    struct rig *rig = rig_open(HEAD ".shared .align 8 .b64 bar;\n" KERNEL(
        "k") "setp.ne.u32 %p1, %t, 0; @%p1 ret; mov.u32 %s, bar; cvta.shared.u64 %d9, %d9; mov.u64 %d10, bar; cvta.shared.u64 %d10, %d10;\n"
             "mbarrier.init.b64 [%d10], 3;\n"
#define NOTE(index, predicate) "selp.u32 %a10, 1, 0, " predicate "; st.global.u32 [%out+" #index "*4], %a10;\n"
#define NUMBER(index, reg) "st.global.u32 [%out+" #index "*4], " reg ";\n"
             "mbarrier.test_wait.parity.shared.b64 %p2, [%s], 1;" NOTE(0, "%p2") "mbarrier.test_wait.parity.shared.b64 %p2, [%s], 0;" NOTE(
                 1,
                 "%p2") "mbarrier.arrive.shared.b64 %d1, [%s]; mbarrier.pending_count.b64 %a1, %d1;" NUMBER(2,
                                                                                                            "%a1") "mbarrier.arrive.noComplete.release.cta.shared.b64 %d2, [%s], 1; mbarrier.pending_count.b64 %a1, %d2;" NUMBER(3,
                                                                                                                                                                                                                                 "%a1") "mbarrier.test_wait.shared.b64 %p2, [%s], %d2;" NOTE(4,
                                                                                                                                                                                                                                                                                             "%p2") "mbarrier.arrive.expect_tx.shared.b64 %d3, [%s], 48; mbarrier.test_wait.shared.b64 %p2, [%s], %d3;" NOTE(5, "%p2") "mbarrier.complete_tx.shared.b64 [%s], 32; mbarrier.test_wait.shared.b64 %p2, [%s], %d3;" NOTE(6,
                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                      "%p2") "mbarrier.complete_tx.relaxed.cluster.shared::cluster.b64 [%s], 16; mbarrier.test_wait.shared.b64 %p2, [%s], %d3;" NOTE(7,
                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                     "%p2") "mbarrier.test_wait.parity.shared.b64 %p2, [%s], 0;" NOTE(8,
                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                      "%p2") "mbarrier.test_wait.parity.shared.b64 %p2, [%s], 1;" NOTE(9,
                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                       "%p2") "mbarrier.arrive_drop.shared.b64 %d4, [%s]; mbarrier.pending_count.b64 %a1, %d4;" NUMBER(10, "%a1") "mbarrier.arrive.shared.b64 _, [%s], 2; mbarrier.test_wait.shared.b64 %p2, [%s], %d4;" NOTE(11, "%p2") "mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%s]; mbarrier.arrive.b64 %d5, [%d10]; mbarrier.pending_count.b64 %a1, %d5;" NUMBER(12, "%a1") "mbarrier.test_wait.shared.b64 %p2, [%s], %d5;" NOTE(13,
                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                     "%p2")
                               /* transactions may come before they are announced; two phases later the parity is the
                                  first one again */
                               "mbarrier.complete_tx.shared.b64 [%s], 64; mbarrier.expect_tx.relaxed.cta.shared.b64 [%s], 64; mbarrier.arrive_drop.expect_tx.shared.b64 _, [%s], 0;\n"
                               "cp.async.mbarrier.arrive.shared.b64 [%s]; mbarrier.test_wait.parity.shared.b64 %p2, [%s], 1;" NOTE(14, "%p2") "cp.async.mbarrier.arrive.noinc.b64 [%d10]; mbarrier.test_wait.parity.shared.b64 %p2, [%s], 1;" NOTE(15, "%p2") "mbarrier.arrive.shared.b64 %d6, [%s]; mbarrier.pending_count.b64 %a1, %d6;" NUMBER(
                                   16,
                                   "%a1") "mbarrier.try_wait.shared.b64 %p2, [%s], %d6;" NOTE(17,
                                                                                              "%p2") "mbarrier.try_wait.parity.shared.b64 %p2, [%s], 1, 100;" NOTE(18,
                                                                                                                                                                   "%p2") "mbarrier.inval.shared.b64 [%s];\n" END);
    static const uint32_t expected[] = {1, 0, 3, 2, 0, 0, 0, 1, 1, 0, 3, 1, 1, 1, 0, 1, 1, 1, 0};
    for (rig_variant = 0; rig_variant < RIG_VARIANTS; rig_variant++) {
        fill();
        run(rig, "k", 32, 0);
        for (unsigned i = 0; i < sizeof expected / sizeof *expected; i++)
            if (out[i] != expected[i])
                fail_msg("variant %u, answer %u: %u, expected %u", rig_variant, i, out[i], expected[i]);
    }
    rig_close(rig);
}

/* One lane of a warp waits for what another lane of it, and another warp, do afterwards. */
static void waits_give_way(void **unused)
{
    (void)unused;
    struct rig *rig = rig_open(HEAD ".shared .align 8 .b64 bar; .shared .b32 cell;\n" KERNEL(
        "k") "mov.u32 %s, bar; setp.eq.u32 %p1, %t, 0; @%p1 mbarrier.init.shared.b64 [%s], 2; bar.sync 0;\n"
             "setp.eq.u32 %p2, %t, 0; @%p2 bra waits; setp.eq.u32 %p3, %t, 1; @%p3 bra arrives; setp.eq.u32 %p4, %t, 63; @%p4 bra arrives; bra done;\n"
             "waits: mbarrier.try_wait.parity.shared.b64 %p5, [%s], 0; @!%p5 bra waits; st.global.u32 [%out], 7; bra done;\n"
             "arrives: mbarrier.arrive.shared.b64 _, [%s]; bra done;\ndone:\n" END);
    for (rig_variant = 0; rig_variant < RIG_VARIANTS; rig_variant++) {
        fill();
        run(rig, "k", 64, 0);
        assert_int_equal(out[0], 7);
        assert_true(rig_flags(rig, "k") & MR_CODE_COOPERATIVE);
    }
    rig_close(rig);
}

/* An object that one warp ends at once when a phase is over, before the other warps have come to see that: they see it
 * afterwards. (NVIDIA's sample of tensor copies does so, and prints in between.) */
static void ended_before_all_have_seen(void **unused)
{
    (void)unused;
    struct rig *rig = rig_open(HEAD ".shared .align 8 .b64 bar;\n" KERNEL(
        "k") "mov.u32 %s, bar; setp.eq.u32 %p1, %t, 0; @%p1 mbarrier.init.shared.b64 [%s], %n; bar.sync 0;\n"
             "mbarrier.arrive.shared.b64 %d1, [%s]; bar.sync 0; @%p1 mbarrier.inval.shared.b64 [%s]; bar.sync 0;\n"
             "waits: mbarrier.try_wait.shared.b64 %p5, [%s], %d1; @!%p5 bra waits;\n"
             "parity: mbarrier.test_wait.parity.shared.b64 %p5, [%s], 0; @!%p5 bra parity;\n"
             "bar.sync 0; @%p1 st.global.u32 [%out], 7;\n" END);
    for (rig_variant = 0; rig_variant < RIG_VARIANTS; rig_variant++) {
        fill();
        run(rig, "k", 96, 96);
        assert_int_equal(out[0], 7);
    }
    rig_close(rig);
}

/* More arrivals than a phase expects, a count of none: the launch ends, the process does not. */
static void wrong_counts(void **unused)
{
    (void)unused;
    struct rig *rig =
        rig_open(HEAD ".shared .align 8 .b64 bar;\n" KERNEL(
            "many") "mbarrier.init.shared.b64 [bar], 3; mbarrier.arrive.shared.b64 _, [bar], 4;\n" END
                     KERNEL("none") "mbarrier.init.shared.b64 [bar], 0;\n" END KERNEL(
                         "odd") "mov.u32 %s, bar; add.u32 %s, %s, 4; mbarrier.init.shared.b64 [%s], 1;\n" END);
    unsigned one[3] = {1, 1, 1};
    struct {
        uint32_t *in, *out;
        uint32_t n;
    } params = {in, out, 0};
    for (rig_variant = 0; rig_variant < RIG_VARIANTS; rig_variant++) {
        assert_int_equal(rig_launch(rig, "many", one, one, 0, &params, 20), CUDA_ERROR_LAUNCH_FAILED);
        assert_int_equal(rig_launch(rig, "none", one, one, 0, &params, 20), CUDA_ERROR_LAUNCH_FAILED);
        assert_int_equal(rig_launch(rig, "odd", one, one, 0, &params, 20), CUDA_ERROR_MISALIGNED_ADDRESS);
    }
    rig_close(rig);
}

/* --- In bulk ------------------------------------------------------------------------------------------ */

/* Through shared memory and back, in two stages, as pipelines do. */
static void bulk_copies(void **unused)
{
    (void)unused;
    struct rig *rig = rig_open(
        HEAD ".shared .align 16 .b8 a[1024]; .shared .align 16 .b8 b[1024]; .shared .align 8 .b64 bar;\n" KERNEL(
            "k") "mov.u32 %s, bar; setp.eq.u32 %p1, %t, 0; @!%p1 bra ready;\n"
                 "mbarrier.init.shared.b64 [%s], 1; fence.mbarrier_init.release.cluster; fence.proxy.async;\n"
                 "mov.u32 %a1, %ctaid.x; mul.wide.u32 %d1, %a1, 1024; add.u64 %d2, %d1, %in; add.u64 %d3, %d1, %out; mov.u32 %a2, a; mov.u32 %a3, b;\n"
                 "mbarrier.arrive.expect_tx.shared.b64 _, [%s], 1024;\n"
                 "cp.async.bulk.prefetch.L2.global [%d2], 1024;\n"
                 "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%a2], [%d2], %n, [%s];\n"
                 "cvt.u64.u32 %d4, %n; add.u64 %d2, %d2, %d4; add.u32 %a4, %a2, %n; sub.u32 %a5, 1024, %n;\n"
                 "cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes [%a4], [%d2], %a5, [%s];\n"
                 "ready: bar.sync 0;\nwait: mbarrier.try_wait.parity.shared.b64 %p2, [%s], 0; @!%p2 bra wait;\n"
                 "bar.sync 0; @!%p1 bra done;\n"
                 "mbarrier.arrive.expect_tx.shared.b64 %d5, [%s], 512;\n"
                 "cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [b], [%a2], 512, [%s];\n"
                 "again: mbarrier.test_wait.shared.b64 %p3, [%s], %d5; @!%p3 bra again;\n"
                 "cp.async.bulk.global.shared::cta.bulk_group [%d3], [b], 512; add.u64 %d3, %d3, 512;\n"
                 "cp.async.bulk.global.shared::cta.bulk_group [%d3], [%a2+512], 512;\n"
                 "cp.async.bulk.commit_group; cp.async.bulk.wait_group.read 0; cp.async.bulk.wait_group 0;\ndone:\n" END);
    for (rig_variant = 0; rig_variant < RIG_VARIANTS; rig_variant++)
        for (uint32_t n = 0; n <= 1024; n += 256) {
            fill();
            run(rig, "k", 96, n);
            assert_memory_equal(out, in, 2048);
            assert_int_equal(out[512], 0);
        }
    rig_close(rig);
}

struct reduction {
    const char *name;
    unsigned bytes;
    bool shared; /* also into shared memory */
    uint64_t a, b, expected;
};

static void bulk_reductions(void **unused)
{
    (void)unused;
    static const struct reduction all[] = {
        {"add.u32", 4, true, 0xfffffffe, 5, 3},
        {"add.s32", 4, true, 0x7fffffff, 1, 0x80000000},
        {"add.u64", 8, true, UINT64_MAX, 2, 1},
        {"add.f32", 4, false, 0x3f800000, 0x40000000, 0x40400000},
        {"add.f32", 4, false, 0x00400000, 0x00400000, 0x00800000},
        {"add.f64", 8, false, 0x3ff0000000000000, 0x3ff0000000000000, 0x4000000000000000},
        {"add.noftz.f16", 2, false, 0x3c00, 0x0001, 0x3c00},
        {"add.noftz.f16", 2, false, 0x0001, 0x0002, 0x0003},
        {"add.noftz.f16", 2, false, 0x7bff, 0x7bff, 0x7c00},
        {"add.noftz.f16", 2, false, 0xbc00, 0x3800, 0xb800},
        {"add.noftz.bf16", 2, false, 0x3f80, 0x3f80, 0x4000},
        {"min.u32", 4, true, 0xffffffff, 1, 1},
        {"min.s32", 4, true, 0xffffffff, 1, 0xffffffff},
        {"max.u64", 8, false, UINT64_MAX, 1, UINT64_MAX},
        {"max.s64", 8, false, UINT64_MAX, 1, 1},
        {"max.s32", 4, true, 3, 0x80000000, 3},
        {"min.f16", 2, false, 0x3c00, 0x7e00, 0x3c00},
        {"max.f16", 2, false, 0x8000, 0x0000, 0x0000},
        {"min.f16", 2, false, 0x0000, 0x8000, 0x8000},
        {"max.bf16", 2, false, 0xbf80, 0xc000, 0xbf80},
        {"inc.u32", 4, true, 7, 7, 0},
        {"inc.u32", 4, true, 6, 7, 7},
        {"dec.u32", 4, true, 0, 9, 9},
        {"dec.u32", 4, true, 5, 9, 4},
        {"and.b32", 4, true, 0xff00ff, 0xf0f0f0, 0xf000f0},
        {"or.b64", 8, false, UINT64_C(1) << 63, 1, (UINT64_C(1) << 63) | 1},
        {"xor.b32", 4, true, 0xff, 0xf, 0xf0},
    };
    for (unsigned i = 0; i < sizeof all / sizeof *all; i++)
        for (unsigned shared = 0; shared <= all[i].shared; shared++) {
            char text[4096];
            const char *copy =
                shared
                    ? "cp.reduce.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes.%s [b], [a], 32, [bar];\n"
                      "wait: mbarrier.test_wait.parity.shared.b64 %%p2, [bar], 0; @!%%p2 bra wait; cp.async.bulk.global.shared::cta.bulk_group [%%d1], [b], 32;\n"
                    : "cp.reduce.async.bulk.global.shared::cta.bulk_group.%s [%%d1], [a], 32;\n";
            char line[512];
            snprintf(line, sizeof line, copy, all[i].name);
            strcpy(
                text, HEAD
                ".shared .align 16 .b8 a[32]; .shared .align 16 .b8 b[32]; .shared .align 8 .b64 bar;\n" KERNEL("k"));
            snprintf(
                text + strlen(text), sizeof text - strlen(text),
                "setp.ne.u32 %%p1, %%t, 0; @%%p1 bra done; mbarrier.init.shared.b64 [bar], 1; mbarrier.arrive.expect_tx.shared.b64 _, [bar], 96;\n"
                "mov.u32 %%a1, %%ctaid.x; mul.wide.u32 %%d1, %%a1, 32; add.u64 %%d1, %%d1, %%out;\n"
                "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [a], [%%in], 32, [bar];\n"
                "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [b], [%%d1], 32, [bar]; @!%%p1 mbarrier.complete_tx.shared.b64 [bar], %u;\n"
                "%sdone:\n" END,
                shared ? 0 : 32, line);
            struct rig *rig = rig_open(text);
            for (rig_variant = 0; rig_variant < RIG_VARIANTS; rig_variant++) {
                fill();
                for (unsigned at = 0; at < 64; at += all[i].bytes) {
                    memcpy((char *)in + at, &all[i].b, all[i].bytes);
                    memcpy((char *)out + at, &all[i].a, all[i].bytes);
                }
                run(rig, "k", 32, 0);
                for (unsigned at = 0; at < 64; at += all[i].bytes)
                    if (memcmp((char *)out + at, &all[i].expected, all[i].bytes) != 0)
                        fail_msg("%s%s, variant %u, byte %u: %08x", all[i].name, shared ? " shared" : "", rig_variant,
                                 at, out[at / 4]);
            }
            rig_close(rig);
        }
}

/* st.async and red.async: each thread for itself. */
static void remote_stores(void **unused)
{
    (void)unused;
    struct rig *rig = rig_open(HEAD ".shared .align 16 .b8 a[2048]; .shared .align 8 .b64 bar; .shared .b32 sum;\n" KERNEL(
        "k") "setp.eq.u32 %p1, %t, 0; mov.u32 %s, bar; @%p1 mbarrier.init.shared.b64 [%s], 1; mov.u32 %a1, sum; mov.u32 %a2, 0; @%p1 st.shared.u32 [%a1], %a2; bar.sync 0;\n"
             "mul.lo.u32 %a3, %t, 16; mov.u32 %a4, a; add.u32 %a3, %a3, %a4; mapa.shared::cluster.u32 %a3, %a3, 0; mapa.shared::cluster.u32 %a5, %s, 0;\n"
             "add.u32 %a6, %t, 1; add.u32 %a7, %t, 2; add.u32 %a8, %t, 3;\n"
             "st.async.shared::cluster.mbarrier::complete_tx::bytes.v4.b32 [%a3], {%t, %a6, %a7, %a8}, [%a5];\n"
             "red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.add.u32 [%a1], %t, [%a5];\n"
             "@%p1 mbarrier.arrive.expect_tx.shared.b64 _, [%s], 2560;\n"
             "wait: mbarrier.try_wait.parity.acquire.cluster.shared.b64 %p2, [%s], 0; @!%p2 bra wait;\n"
             "xor.b32 %a9, %t, 127; mul.lo.u32 %a10, %a9, 16; add.u32 %a10, %a10, %a4; ld.shared.v4.u32 {%a11, %a12, %a13, %a14}, [%a10];\n"
             "mov.u32 %a15, %ctaid.x; mad.lo.u32 %a15, %a15, 128, %t; mul.wide.u32 %o, %a15, 8; add.u64 %o, %o, %out; add.u32 %a11, %a11, %a12; mad.lo.u32 %a11, %a13, %a14, %a11;\n"
             "st.global.u32 [%o], %a11; ld.shared.u32 %a16, [%a1]; st.global.u32 [%o+4], %a16;\n" END);
    for (rig_variant = 0; rig_variant < RIG_VARIANTS; rig_variant++) {
        fill();
        run(rig, "k", 128, 0);
        for (uint32_t i = 0; i < 256; i++) {
            uint32_t t = i % 128 ^ 127;
            assert_int_equal(out[2 * i], t + (t + 1) + (t + 2) * (t + 3));
            assert_int_equal(out[2 * i + 1], 127 * 128 / 2);
        }
    }
    rig_close(rig);
}

/* --- Clusters of one -------------------------------------------------------------------------------------- */

static void clusters(void **unused)
{
    (void)unused;
    struct rig *rig =
        rig_open(HEAD ".shared .align 4 .b32 cells[128];\n" KERNEL(
            "k") "mov.u32 %s, cells; mad.lo.u32 %a1, %t, 4, %s; mov.u32 %a2, 0;\n"
                 "again: mad.lo.u32 %a3, %a2, 1000, %t; mapa.shared::cluster.u32 %a4, %a1, 0; st.shared::cluster.u32 [%a4], %a3;\n"
                 "barrier.cluster.arrive.release; add.u32 %a5, %t, 37; and.b32 %a5, %a5, 127; mad.lo.u32 %a6, %a5, 4, %s; barrier.cluster.wait.acquire;\n"
                 "ld.shared::cluster.u32 %a7, [%a6]; barrier.cluster.arrive.relaxed.aligned; barrier.cluster.wait.aligned; add.u32 %a2, %a2, 1; setp.lt.u32 %p1, %a2, %n; @%p1 bra again;\n"
                 "mov.u32 %a8, %cluster_ctarank; add.u32 %a7, %a7, %a8; mov.u32 %a8, %cluster_nctarank; add.u32 %a7, %a7, %a8; mov.u32 %a8, %cluster_nctaid.x; add.u32 %a7, %a7, %a8;\n"
                 "getctarank.shared::cluster.u32 %a9, %a1; add.u32 %a7, %a7, %a9; mov.u32 %a10, %clusterid.x; mad.lo.u32 %a10, %a10, 128, %t;\n"
                 "cvta.shared::cluster.u64 %d1, %d2; mov.u64 %d2, cells; cvta.shared::cluster.u64 %d1, %d2; mapa.u64 %d1, %d1, 0; isspacep.shared::cluster %p2, %d1; selp.u32 %a11, 10000, 0, %p2; add.u32 %a7, %a7, %a11;\n"
                 "griddepcontrol.wait; griddepcontrol.launch_dependents; createpolicy.fractional.L2::evict_last.b64 %d3, 0.5;\n"
                 "mul.wide.u32 %o, %a10, 4; add.u64 %o, %o, %out; st.global.L2::cache_hint.u32 [%o], %a7, %d3;\n" END
                     /* Threads that have left are not waited for. */
                     KERNEL(
                         "leave") "setp.ge.u32 %p1, %t, 40; @%p1 ret; barrier.cluster.arrive; barrier.cluster.wait; mul.wide.u32 %o, %t, 4; add.u64 %o, %o, %out; st.global.u32 [%o], %t;\n" END
                         KERNEL("far") "mapa.shared::cluster.u32 %a1, 0, 1; st.shared::cluster.u32 [%a1], %t;\n" END);
    for (rig_variant = 0; rig_variant < RIG_VARIANTS; rig_variant++) {
        fill();
        run(rig, "k", 128, 5);
        for (uint32_t i = 0; i < 256; i++)
            assert_int_equal(out[i], 4000 + (i % 128 + 37) % 128 + 2 + 10000);
        fill();
        run(rig, "leave", 100, 0);
        for (uint32_t i = 0; i < 100; i++)
            assert_int_equal(out[i], i < 40 ? i : 0);
        unsigned one[3] = {1, 1, 1};
        struct {
            uint32_t *in, *out;
            uint32_t n;
        } params = {in, out, 0};
        assert_int_equal(rig_launch(rig, "far", one, one, 0, &params, 20), CUDA_ERROR_ILLEGAL_ADDRESS);
    }
    rig_close(rig);
}

/* --- 128 bits, vectors --------------------------------------------------------------------------------------- */

static void wide_words(void **unused)
{
    (void)unused;
    struct rig *rig =
        rig_open(HEAD ".shared .align 16 .b8 tile[2048]; .global .align 16 .b8 cell[32];\n" KERNEL(
            "k") "mul.wide.u32 %d1, %t, 16; add.u64 %d2, %d1, %in; ld.global.b128 %q0, [%d2]; mov.b128 {%d3, %d4}, %q0; xor.b64 %d3, %d3, %d4; mov.b128 %q1, {%d4, %d3};\n"
                 "mov.u32 %s, tile; mad.lo.u32 %a1, %t, 16, %s; st.shared.b128 [%a1], %q1; bar.sync 0; xor.b32 %a2, %t, 127; mad.lo.u32 %a2, %a2, 16, %s; ld.shared.b128 %q2, [%a2];\n"
                 "mov.b128 %q3, %q2; add.u64 %d5, %d1, %out; st.global.b128 [%d5], %q3;\n" END
                     /* Each thread adds to both halves of one cell. */
                     KERNEL(
                         "swap") "mov.u64 %d1, cell; ld.relaxed.gpu.global.b128 %q0, [%d1];\n"
                                 "again: mov.b128 {%d2, %d3}, %q0; add.u64 %d4, %d2, 1; sub.u64 %d5, %d3, 3; mov.b128 %q1, {%d4, %d5}; mov.b128 %q2, %q0; atom.acq_rel.gpu.global.cas.b128 %q0, [%d1], %q2, %q1;\n"
                                 "mov.b128 {%d6, %d7}, %q0; setp.ne.u64 %p1, %d6, %d2; @%p1 bra again; setp.ne.u64 %p1, %d7, %d3; @%p1 bra again;\n" END
                                     KERNEL(
                                         "exchange") "setp.ne.u32 %p1, %t, 5; @%p1 ret; mov.u64 %d1, cell; mov.b128 %q1, {%in, %out}; atom.exch.b128 %q0, [%d1+16], %q1; mov.b128 {%d2, %d3}, %q0; st.global.u64 [%out], %d2; st.global.u64 [%out+8], %d3;\n" END);
    for (rig_variant = 0; rig_variant < RIG_VARIANTS; rig_variant++) {
        struct {
            uint32_t *in, *out;
            uint32_t n;
        } params = {in, out, 0};
        uint64_t *cell = rig_symbol(rig, "cell"), *got = (uint64_t *)out, *from = (uint64_t *)in;
        fill();
        rig_run(rig, "k", 1, 128, &params, 20);
        for (unsigned i = 0; i < 128; i++) {
            assert_true(got[2 * i] == from[2 * (i ^ 127) + 1]);
            assert_true(got[2 * i + 1] == (from[2 * (i ^ 127)] ^ from[2 * (i ^ 127) + 1]));
        }
        cell[0] = 5;
        cell[1] = 7;
        cell[2] = 11;
        cell[3] = 13;
        rig_run(rig, "swap", 3, 100, &params, 20);
        assert_true(cell[0] == 305 && cell[1] == 7 - UINT64_C(900));
        rig_run(rig, "exchange", 1, 32, &params, 20);
        assert_true(got[0] == 11 && got[1] == 13 && cell[2] == (uintptr_t)in && cell[3] == (uintptr_t)out);
    }
    rig_close(rig);
}

static void vectors(void **unused)
{
    (void)unused;
    struct rig *rig = rig_open(HEAD KERNEL(
        "k") "cvt.rn.f32.u32 %f1, %t; mov.f32 %f2, 0f3f800000; and.b32 %a1, %t, 7; mul.wide.u32 %d1, %a1, 16; add.u64 %d1, %d1, %out; setp.lt.u32 %p1, %t, 60;\n"
             "@%p1 red.global.add.v4.f32 [%d1], {%f1, %f2, 0f40000000, %f1};\n"
             "mul.wide.u32 %d2, %t, 8; add.u64 %d2, %d2, %in; atom.global.add.v2.f32 {%f2, %f1}, [%d2], {%f1, %f2}; add.f32 %f3, %f2, %f1; mul.wide.u32 %d3, %t, 4; add.u64 %d3, %d3, %out; st.global.f32 [%d3+1024], %f3;\n"
             "mov.b16 %h1, 0x3c00; mov.b16 %h2, 0x4000; add.u64 %d4, %out, 2048; atom.global.max.noftz.v4.f16 {%h3, _, _, _}, [%d4], {%h1, %h2, %h1, %h2}; mov.b32 %a2, 0x3f803f80; mov.b32 %a3, 0x40004000; red.global.add.noftz.v2.bf16x2 [%d4+16], {%a2, %a3};\n" END);
    for (rig_variant = 0; rig_variant < RIG_VARIANTS; rig_variant++) {
        struct {
            uint32_t *in, *out;
            uint32_t n;
        } params = {in, out, 0};
        fill();
        for (unsigned i = 0; i < 128; i++) {
            float value = (float)i / 4;
            memcpy(&in[i], &value, 4);
        }
        rig_run(rig, "k", 1, 64, &params, 20);
        float *got = (float *)out;
        for (unsigned i = 0; i < 8; i++) {
            float sum = 0, count = 0;
            for (unsigned t = i; t < 60; t += 8) {
                sum += (float)t;
                count++;
            }
            assert_true(got[4 * i] == sum && got[4 * i + 1] == count && got[4 * i + 2] == 2 * count &&
                        got[4 * i + 3] == sum);
        }
        for (unsigned t = 0; t < 64; t++) {
            assert_true(got[256 + t] == (float)(2 * t) / 4 + (float)(2 * t + 1) / 4);
            assert_true(((float *)in)[2 * t] == (float)(2 * t) / 4 + (float)t &&
                        ((float *)in)[2 * t + 1] == (float)(2 * t + 1) / 4 + 1);
        }
        assert_int_equal(out[512], 0x40003c00);
        assert_int_equal(out[513], 0x40003c00);
        assert_int_equal(out[516], 0x42804280); /* 64 */
        assert_int_equal(out[517], 0x43004300); /* 128 */
    }
    rig_close(rig);
}

/* A mask of the blocks that get a copy names the first one, or none. Other blocks are not there: an H100 ends such
 * launches, with another status in kernels that ask for clusters. */
static void many_at_once(void **unused)
{
    (void)unused;
#define MANY(name, directives) \
    ".visible .entry " name "(.param .u64 pin, .param .u64 pout, .param .u32 pn) " directives \
    "{\n.reg .b32 %s, %b, %n, %a<8>; .reg .b64 %in, %out, %d<4>; " \
    ".reg .pred %p<4>; .reg .b16 %h<4>;\nld.param.u64 %in, [pin]; ld.param.u64 %out, [pout]; ld.param.u32 %n, [pn]; mov.u32 %s, tile; mov.u32 %b, bar; cvt.u16.u32 %h1, %n;\n" \
    "mbarrier.init.shared.b64 [%b], 1; st.shared.u32 [%s], 77; mbarrier.arrive.expect_tx.shared.b64 %d1, [%b], 16;\n" \
    "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [%s], [%in], 16, [%b], %h1;\n" \
    "mbarrier.test_wait.shared.b64 %p1, [%b], %d1; selp.u32 %a1, 1, 0, %p1; ld.shared.u32 %a2, [%s]; st.global.u32 [%out], %a1; st.global.u32 [%out+4], %a2; ret;\n}\n"
    struct rig *rig = rig_open(HEAD ".shared .align 16 .b8 tile[16];\n.shared .align 8 .b64 bar;\n" MANY("alone", "")
                                   MANY("cluster", ".reqnctapercluster 1 "));
    struct {
        uint32_t *in, *out;
        uint32_t n;
    } params = {in, out, 0};
    const unsigned one[3] = {1, 1, 1};
    for (rig_variant = 0; rig_variant < RIG_VARIANTS; rig_variant++) {
        fill();
        in[0] = 1234;
        for (params.n = 0; params.n < 2; params.n++) {
            rig_run(rig, "alone", 1, 1, &params, 20);
            assert_int_equal(out[0], params.n);
            assert_int_equal(out[1], params.n ? 1234 : 77);
        }
        assert_int_equal(rig_launch(rig, "alone", one, one, 0, &params, 20), CUDA_ERROR_ILLEGAL_INSTRUCTION);
        assert_int_equal(rig_launch(rig, "cluster", one, one, 0, &params, 20), CUDA_ERROR_LAUNCH_FAILED);
        params.n = 0xffff;
        assert_int_equal(rig_launch(rig, "alone", one, one, 0, &params, 20), CUDA_ERROR_ILLEGAL_INSTRUCTION);
    }
    rig_close(rig);
}

/* A fence about a tensor map looks at the address only: it must be a multiple of 128, as on an H100. */
static void tensor_map_fences(void **unused)
{
    (void)unused;
    static uint8_t maps[256] __attribute__((aligned(128)));
    struct rig *rig = rig_open(HEAD KERNEL(
        "k") "prefetch.tensormap [%in]; fence.proxy.tensormap::generic.acquire.gpu [%in], 128; st.global.u32 [%out], 1;\n" END);
    struct {
        void *in;
        uint32_t *out;
        uint32_t n;
    } params = {maps, out, 0};
    const unsigned one[3] = {1, 1, 1};
    for (rig_variant = 0; rig_variant < RIG_VARIANTS; rig_variant++) {
        fill();
        params.in = maps;
        rig_run(rig, "k", 1, 1, &params, 20);
        assert_int_equal(out[0], 1);
        params.in = NULL;
        rig_run(rig, "k", 1, 1, &params, 20);
        params.in = maps + 4;
        assert_int_equal(rig_launch(rig, "k", one, one, 0, &params, 20), CUDA_ERROR_MISALIGNED_ADDRESS);
    }
    rig_close(rig);
}

/* Addresses in 32 bits: a function's for a call, one in shared memory for ldmatrix without a space. */
static void narrow_addresses(void **unused)
{
    (void)unused;
    struct rig *rig = rig_open(
        HEAD
        ".shared .align 16 .b8 tile[512];\n.global .align 4 .u32 gone[4];\n.func (.reg .b32 r) more(.reg .b32 a) { add.u32 r, a, 5; ret; }\n"
        ".func (.reg .b32 r) less(.reg .b32 a) { sub.u32 r, a, 5; ret; }\n" KERNEL(
            "k") "P: .callprototype (.reg .b32 _) _ (.reg .b32 _); mov.u32 %a1, more; mov.u32 %a2, less; setp.lt.u32 %p1, %t, 9; selp.u32 %a3, %a1, %a2, %p1; call (%a4), %a3, (%t), P;\n"
                 "mov.u32 %s, tile; mad.lo.u32 %s, %t, 4, %s; st.shared.u32 [%s], %t; bar.warp.sync -1; mov.u32 %s, tile; and.b32 %a5, %t, 7; mad.lo.u32 %s, %a5, 16, %s;\n"
                 "ldmatrix.sync.sync.aligned.m8n8.x1.b16 {%a6}, [%s]; isspacep.global %p2, gone+4; isspacep.shared %p3, gone+4; selp.u32 %a7, 1, 0, %p2; selp.u32 %a8, 2, 0, %p3; or.b32 %a7, %a7, %a8;\n"
                 "mul.wide.u32 %o, %t, 4; add.u64 %o, %o, %out; st.global.u32 [%o], %a4; st.global.u32 [%o+256], %a6; st.global.u32 [%o+512], %a7;\n" END);
    struct {
        uint32_t *in, *out;
        uint32_t n;
    } params = {in, out, 0};
    for (rig_variant = 0; rig_variant < RIG_VARIANTS; rig_variant++) {
        fill();
        rig_run(rig, "k", 1, 32, &params, 20);
        for (uint32_t t = 0; t < 32; t++) {
            assert_int_equal(out[t], t < 9 ? t + 5 : t - 5);
            assert_int_equal(out[64 + t], t);
            assert_int_equal(out[128 + t], 1);
        }
    }
    rig_close(rig);
}

/* setmaxnreg changes nothing that a kernel can see: not what its registers hold, nor which lanes run. */
static void register_counts(void **unused)
{
    (void)unused;
    struct rig *rig = rig_open(".version 8.8\n.target sm_90a\n.address_size 64\n" KERNEL(
        "k") "mad.lo.u32 %a1, %t, 7, %n; and.b32 %a2, %t, 32; setp.ne.u32 %p1, %a2, 0; @%p1 bra less;\n"
             "setmaxnreg.inc.sync.aligned.u32 240; add.u32 %a1, %a1, 1000; bra on;\n"
             "less: setmaxnreg.dec.sync.aligned.u32 24; add.u32 %a1, %a1, 2000;\n"
             "on: @%p1 setmaxnreg.inc.sync.aligned.u32 64;\n"
             "mul.wide.u32 %o, %t, 4; add.u64 %o, %o, %out; st.global.u32 [%o], %a1;\n" END);
    for (rig_variant = 0; rig_variant < RIG_VARIANTS; rig_variant++) {
        fill();
        run(rig, "k", 128, 5);
        for (uint32_t i = 0; i < 128; i++)
            assert_int_equal(out[i], 7 * i + 5 + (i & 32 ? 2000 : 1000));
    }
    rig_close(rig);
}

/* What a cluster of one cannot be. */
static void refusals(void **unused)
{
    (void)unused;
    rig_refuses(HEAD ".visible .entry k() .reqnctapercluster 2, 1, 1 { ret; }\n", "cluster of more than one block");
    rig_refuses(HEAD KERNEL("k") "wgmma.fence.sync.aligned;\n" END, "unsupported instruction 'wgmma.fence");
    rig_refuses(
        HEAD KERNEL(
            "k") "cp.async.bulk.tensor.1d.shared::cluster.global.mbarrier::complete_tx::bytes.cta_group::1 [%s], [%in, {%t}], [%s];\n" END,
        "unsupported instruction 'cp.async.bulk.tensor");
    rig_refuses(HEAD KERNEL("k") "setmaxnreg.inc.sync.aligned.u32 64;\n" END, "needs a target like sm_90a");
}

int main(int argc, char **argv)
{
    if (argc > 1)
        cmocka_set_test_filter(argv[1]);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(copies),           cmocka_unit_test(copies_of_sized_blocks),
        cmocka_unit_test(phases),           cmocka_unit_test(one_thread),
        cmocka_unit_test(waits_give_way),   cmocka_unit_test(wrong_counts),
        cmocka_unit_test(bulk_copies),      cmocka_unit_test(ended_before_all_have_seen),
        cmocka_unit_test(many_at_once),     cmocka_unit_test(tensor_map_fences),
        cmocka_unit_test(narrow_addresses), cmocka_unit_test(bulk_reductions),
        cmocka_unit_test(remote_stores),    cmocka_unit_test(clusters),
        cmocka_unit_test(wide_words),       cmocka_unit_test(vectors),
        cmocka_unit_test(register_counts),  cmocka_unit_test(refusals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
