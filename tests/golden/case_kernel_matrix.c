/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Warp matrices, asynchronous copies and their barriers, clusters of one block.
 * Floats are few bits long, so that their sums are exact in any order: how
 * hardware rounds and in which order it adds is its own affair.
 */
#include "gold_kernel.h"

/* Pairs of halves, of bfloats, fours of fp8: a sign, an exponent of zero, few bits. */
#define HALF(to, from) "and.b32 " to ", " from ", 0x83c083c0; or.b32 " to ", " to ", 0x3c003c00; "
/* Sums of these are exact in halves, too. */
#define SHORT(to, from) "and.b32 " to ", " from ", 0x82008200; or.b32 " to ", " to ", 0x3c003c00; "
#define BFLOAT(to, from) "and.b32 " to ", " from ", 0x80708070; or.b32 " to ", " to ", 0x3f803f80; "
#define FOUR_E4M3(to, from) "and.b32 " to ", " from ", 0x87878787; or.b32 " to ", " to ", 0x38383838; "
#define FOUR_E5M2(to, from) "and.b32 " to ", " from ", 0x83838383; or.b32 " to ", " to ", 0x3c3c3c3c; "
#define SINGLE(to, from) "and.b32 %r60, " from ", 255; sub.s32 %r60, %r60, 128; cvt.rn.f32.s32 " to ", %r60; "
#define BITS(to, from) SINGLE("%f30", from) "mov.b32 " to ", %f30; "
#define DOUBLE(to, from) "and.b32 %r60, " from ", 255; sub.s32 %r60, %r60, 100; cvt.rn.f64.s32 " to ", %r60; "

/* Six numbers from the inputs: %r11 to %r16. */
#define SIX \
    "shf.l.wrap.b32 %r11, %r1, %r2, 5; xor.b32 %r12, %r2, 0x5bd1e995; mad.lo.u32 %r13, %r1, 0x9e3779b1, %r0; mad.lo.u32 %r14, %r2, 0x85ebca6b, %r0; " \
    "xor.b32 %r15, %r13, %r1; add.u32 %r16, %r14, %r11; "
#define SIX_OF(as) \
    SIX as("%r21", "%r11") as("%r22", "%r12") as("%r23", "%r13") as("%r24", "%r14") as("%r25", "%r15") \
        as("%r26", "%r16")
#define FOUR_SINGLES SINGLE("%f4", "%r11") SINGLE("%f5", "%r12") SINGLE("%f6", "%r13") SINGLE("%f7", "%r14")
/* All of the results in one number. */
#define FOLD2(a, b) "mad.lo.u32 %r10, " a ", 31, " b ";"
#define FOLD4 "mad.lo.u32 %r10, %r31, 31, %r32; mad.lo.u32 %r10, %r10, 31, %r33; mad.lo.u32 %r10, %r10, 31, %r34;"
#define FOLD_SINGLES "mov.b32 %r31, %f11; mov.b32 %r32, %f12; mov.b32 %r33, %f13; mov.b32 %r34, %f14; " FOLD4
#define INTEGERS(form, a, b) \
    "mma.sync.aligned." form " {%r31, %r32, %r33, %r34}, " a ", " b ", {%r11, %r2, %r13, %r1}; " FOLD4

static const struct gold_kernel products[] = {
    {"kernel.mma_f32_f16_k8", IN_INT, 'r',
     SIX_OF(HALF) FOUR_SINGLES
     "mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%f11, %f12, %f13, %f14}, {%r21, %r22}, {%r23}, {%f4, %f5, %f6, %f7}; " FOLD_SINGLES,
     .target = 80},
    {"kernel.mma_f32_f16_k16", IN_INT, 'r',
     SIX_OF(HALF) FOUR_SINGLES
     "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%f11, %f12, %f13, %f14}, {%r21, %r22, %r23, %r24}, {%r25, %r26}, {%f4, %f5, %f6, %f7}; " FOLD_SINGLES,
     .target = 80},
    {"kernel.mma_f16_f16_k16", IN_INT, 'r',
     SIX_OF(SHORT) "mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16 {%r31, %r32}, {%r21, %r22, %r23, %r24}, {%r25, %r26}, {%r21, %r25}; " FOLD2(
         "%r31", "%r32"),
     .target = 80},
    {"kernel.mma_f32_bf16_k8", IN_INT, 'r',
     SIX_OF(BFLOAT) FOUR_SINGLES
     "mma.sync.aligned.m16n8k8.row.col.f32.bf16.bf16.f32 {%f11, %f12, %f13, %f14}, {%r21, %r22}, {%r23}, {%f4, %f5, %f6, %f7}; " FOLD_SINGLES,
     .target = 80},
    {"kernel.mma_f32_bf16_k16", IN_INT, 'r',
     SIX_OF(BFLOAT) FOUR_SINGLES
     "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%f11, %f12, %f13, %f14}, {%r21, %r22, %r23, %r24}, {%r25, %r26}, {%f4, %f5, %f6, %f7}; " FOLD_SINGLES,
     .target = 80},
    {"kernel.mma_f32_tf32_k4", IN_INT, 'r',
     SIX_OF(BITS) FOUR_SINGLES
     "mma.sync.aligned.m16n8k4.row.col.f32.tf32.tf32.f32 {%f11, %f12, %f13, %f14}, {%r21, %r22}, {%r23}, {%f4, %f5, %f6, %f7}; " FOLD_SINGLES,
     .target = 80},
    {"kernel.mma_f32_tf32_k8", IN_INT, 'r',
     SIX_OF(BITS) FOUR_SINGLES
     "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%f11, %f12, %f13, %f14}, {%r21, %r22, %r23, %r24}, {%r25, %r26}, {%f4, %f5, %f6, %f7}; " FOLD_SINGLES,
     .target = 80},
    {"kernel.mma_tf32_low_bits", IN_INT, 'r',
     SIX_OF(BITS) FOUR_SINGLES
     "or.b32 %r21, %r21, 0x1fff; or.b32 %r25, %r25, 0x0fff; "
     "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%f11, %f12, %f13, %f14}, {%r21, %r22, %r23, %r24}, {%r25, %r26}, {%f4, %f5, %f6, %f7}; " FOLD_SINGLES,
     .target = 80},
    {"kernel.mma_f64_k4", IN_INT, 'd',
     SIX DOUBLE("%d4", "%r11") DOUBLE("%d5", "%r12") DOUBLE("%d6", "%r13") DOUBLE(
         "%d7",
         "%r14") "mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%d8, %d9}, {%d4}, {%d5}, {%d6, %d7}; fma.rn.f64 %d10, %d8, 0d40E0000000000000, %d9;",
     .target = 80},
    {"kernel.mma_f64_m16_k4", IN_INT, 'd',
     SIX DOUBLE("%d4", "%r11") DOUBLE("%d5", "%r12") DOUBLE("%d6", "%r13") DOUBLE(
         "%d7",
         "%r14") "mma.sync.aligned.m16n8k4.row.col.f64.f64.f64.f64 {%d8, %d9, %d11, %d12}, {%d4, %d5}, {%d6}, {%d6, %d7, %d5, %d4}; "
                 "fma.rn.f64 %d10, %d8, 0d40E0000000000000, %d9; fma.rn.f64 %d10, %d11, 0d3FF4000000000000, %d10; add.f64 %d10, %d10, %d12;",
     .target = 90, .version = 80},
    {"kernel.mma_u8_s8_k16", IN_INT, 'r',
     SIX
     "mma.sync.aligned.m8n8k16.row.col.s32.u8.s8.s32 {%r31, %r32}, {%r12}, {%r13}, {%r1, %r14}; " FOLD2("%r31", "%r32"),
     .target = 80},
    {"kernel.mma_s8_satfinite_k32", IN_INT, 'r',
     SIX INTEGERS("m16n8k32.row.col.satfinite.s32.s8.s8.s32", "{%r11, %r12, %r13, %r14}", "{%r15, %r16}"),
     .target = 80},
    {"kernel.mma_u8_k16", IN_INT, 'r', SIX INTEGERS("m16n8k16.row.col.s32.u8.u8.s32", "{%r11, %r12}", "{%r13}"),
     .target = 80},
    {"kernel.mma_s4_u4_k64", IN_INT, 'r',
     SIX INTEGERS("m16n8k64.row.col.s32.s4.u4.s32", "{%r11, %r12, %r13, %r14}", "{%r15, %r16}"), .target = 80},
    {"kernel.mma_u4_satfinite_k32", IN_INT, 'r',
     SIX INTEGERS("m16n8k32.row.col.satfinite.s32.u4.u4.s32", "{%r11, %r12}", "{%r13}"), .target = 80},
    {"kernel.mma_b1_xor", IN_INT, 'r',
     SIX
     "mma.sync.aligned.m16n8k256.row.col.s32.b1.b1.s32.xor.popc {%r31, %r32, %r33, %r34}, {%r11, %r12, %r13, %r14}, {%r15, %r16}, "
     "{%r11, %r2, %r13, %r1}; " FOLD4,
     .target = 80},
    {"kernel.mma_b1_and", IN_INT, 'r',
     SIX "mma.sync.aligned.m16n8k128.row.col.s32.b1.b1.s32.and.popc {%r31, %r32, %r33, %r34}, {%r11, %r12}, {%r15}, "
         "{%r11, %r2, %r13, %r1}; " FOLD4,
     .target = 80, .version = 71},
    {"kernel.mma_e4m3", IN_INT, 'r',
     SIX_OF(FOUR_E4M3) FOUR_SINGLES
     "mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e4m3.f32 {%f11, %f12, %f13, %f14}, {%r21, %r22, %r23, %r24}, {%r25, %r26}, {%f4, %f5, %f6, %f7}; " FOLD_SINGLES,
     .target = 90, .version = 84},
    {"kernel.mma_e5m2", IN_INT, 'r',
     SIX_OF(FOUR_E5M2) FOUR_SINGLES
     "mma.sync.aligned.m16n8k32.row.col.f32.e5m2.e5m2.f32 {%f11, %f12, %f13, %f14}, {%r21, %r22, %r23, %r24}, {%r25, %r26}, {%f4, %f5, %f6, %f7}; " FOLD_SINGLES,
     .target = 90, .version = 84},
    {"kernel.mma_quads_row_col", IN_INT, 'r',
     SIX_OF(
         SHORT) "mma.sync.aligned.m8n8k4.row.col.f16.f16.f16.f16 {%r31, %r32, %r33, %r34}, {%r21, %r22}, {%r23, %r24}, {%r25, %r26, %r21, %r24}; " FOLD4,
     .target = 80},
    {"kernel.mma_quads_col_row", IN_INT, 'r',
     SIX_OF(
         HALF) "mma.sync.aligned.m8n8k4.col.row.f32.f16.f16.f16 {%f11, %f12, %f13, %f14, %f15, %f16, %f17, %f18}, {%r21, %r22}, {%r23, %r24}, {%r25, %r26, %r21, %r24}; "
               "fma.rn.f32 %f11, %f15, 0f43800000, %f11; fma.rn.f32 %f12, %f16, 0f43800000, %f12; fma.rn.f32 %f13, %f17, 0f43800000, %f13; fma.rn.f32 %f14, %f18, 0f43800000, %f14; " FOLD_SINGLES,
     .target = 80},
};
KERNELS(products);

/* Each warp has 512 bytes of the tile: %r40 where they begin; each lane has put four words there. */
#define TILE ".shared .align 32 .b8 tile[4096];\n"
#define FILL \
    SIX "mov.u32 %r41, %tid.x; shr.u32 %r42, %r41, 5; mov.u32 %r40, tile; mad.lo.u32 %r40, %r42, 512, %r40; mov.u32 %r43, %laneid; mad.lo.u32 %r44, %r43, 16, %r40; "
#define FILL_WORDS FILL "st.shared.v4.b32 [%r44], {%r11, %r12, %r13, %r14}; bar.warp.sync -1; "

static const struct gold_kernel moves[] = {
    {"kernel.ldmatrix_x1", IN_INT, 'r', FILL_WORDS "ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r10}, [%r44];", TILE,
     .target = 80},
    {"kernel.ldmatrix_x2_trans", IN_INT, 'r',
     FILL_WORDS "ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%r31, %r32}, [%r44]; " FOLD2("%r31", "%r32"), TILE,
     .target = 80},
    {"kernel.ldmatrix_x4", IN_INT, 'r',
     FILL_WORDS "xor.b32 %r45, %r43, 5; mad.lo.u32 %r45, %r45, 16, %r40; "
                "ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%r31, %r32, %r33, %r34}, [%r45]; " FOLD4,
     TILE, .target = 80},
    {"kernel.stmatrix_x4_trans", IN_INT, 'r',
     FILL "stmatrix.sync.aligned.m8n8.x4.trans.shared.b16 [%r44], {%r11, %r12, %r13, %r14}; bar.warp.sync -1; "
          "ld.shared.v4.b32 {%r31, %r32, %r33, %r34}, [%r44]; " FOLD4,
     TILE, .target = 90, .version = 78},
    {"kernel.movmatrix", IN_INT, 'r', "movmatrix.sync.aligned.m8n8.trans.b16 %r10, %r1;", .target = 80, .version = 78},
    {"kernel.wmma_f16", IN_INT, 'r',
     FILL SHORT("%r21", "%r11") SHORT("%r22", "%r12") SHORT("%r23", "%r13") SHORT(
         "%r24",
         "%r14") "st.shared.v4.b32 [%r44], {%r21, %r22, %r23, %r24}; bar.warp.sync -1; "
                 "wmma.load.a.sync.aligned.row.m16n16k16.shared.f16 {%r11, %r12, %r13, %r14, %r15, %r16, %r17, %r18}, [%r40], 16; "
                 "wmma.load.b.sync.aligned.row.m16n16k16.shared.f16 {%r21, %r22, %r23, %r24, %r25, %r26, %r27, %r28}, [%r40], 16; "
                 "mov.b32 %r31, 0; wmma.mma.sync.aligned.row.row.m16n16k16.f16.f16 {%r32, %r33, %r34, %r35}, {%r11, %r12, %r13, %r14, %r15, %r16, %r17, %r18}, "
                 "{%r21, %r22, %r23, %r24, %r25, %r26, %r27, %r28}, {%r31, %r31, %r31, %r31}; bar.warp.sync -1; "
                 "wmma.store.d.sync.aligned.col.m16n16k16.shared.f16 [%r40], {%r32, %r33, %r34, %r35}, 16; bar.warp.sync -1; "
                 "ld.shared.v4.b32 {%r31, %r32, %r33, %r34}, [%r44]; " FOLD4,
     TILE, .target = 80},
    {"kernel.wmma_s8_m32", IN_INT, 'r',
     FILL_WORDS
     "wmma.load.a.sync.aligned.col.m32n8k16.shared.s8 {%r11, %r12, %r13, %r14}, [%r40], 32; wmma.load.b.sync.aligned.col.m32n8k16.shared.s8 {%r15}, [%r40], 16; "
     "mov.b32 %r16, 5; wmma.mma.sync.aligned.col.col.m32n8k16.s32.s8.s8.s32 {%r21, %r22, %r23, %r24, %r25, %r26, %r27, %r28}, {%r11, %r12, %r13, %r14}, {%r15}, "
     "{%r16, %r16, %r16, %r16, %r16, %r16, %r16, %r16}; mov.u32 %r17, sums; "
     "wmma.store.d.sync.aligned.row.m32n8k16.shared.s32 [%r17], {%r21, %r22, %r23, %r24, %r25, %r26, %r27, %r28}, 8; bar.warp.sync -1; mad.lo.u32 %r17, %r43, 32, %r17; "
     "ld.shared.v4.b32 {%r31, %r32, %r33, %r34}, [%r17]; ld.shared.v4.b32 {%r35, %r36, %r37, %r38}, [%r17+16]; mad.lo.u32 %r31, %r35, 7, %r31; mad.lo.u32 %r32, %r36, 7, %r32; "
     "mad.lo.u32 %r33, %r37, 7, %r33; mad.lo.u32 %r34, %r38, 7, %r34; " FOLD4,
     TILE ".shared .align 32 .b8 sums[1024];\n", .block = 32, .target = 80},
};
KERNELS(moves);

static const struct gold_kernel copies[] = {
    {"kernel.cp_async_sizes", IN_SMALL, 'r',
     FILL
     "mov.b32 %r31, -1; st.shared.v4.b32 [%r44], {%r31, %r31, %r31, %r31}; mad.wide.u32 %rd14, %r0, 16, %rd3; "
     "st.global.v4.b32 [%rd14], {%r11, %r12, %r13, %r14}; and.b32 %r32, %r3, 15; cp.async.cg.shared.global [%r44], [%rd14], 16, %r32; "
     "cp.async.commit_group; cp.async.wait_group 0; ld.shared.v4.b32 {%r31, %r32, %r33, %r34}, [%r44]; " FOLD4,
     TILE, .target = 80},
    {"kernel.cp_async_ignore", IN_INT, 'r',
     FILL
     "mov.b32 %r31, -1; st.shared.v4.b32 [%r44], {%r31, %r31, %r31, %r31}; mad.wide.u32 %rd14, %r0, 16, %rd3; "
     "st.global.v4.b32 [%rd14], {%r11, %r12, %r13, %r14}; setp.gt.s32 %p1, %r1, %r2; cp.async.ca.shared.global [%r44], [%rd14], 8, %p1; cp.async.wait_all; "
     "ld.shared.v4.b32 {%r31, %r32, %r33, %r34}, [%r44]; " FOLD4,
     TILE, .target = 80, .version = 75},
    {"kernel.mbarrier_phases", IN_INT, 'r',
     "mov.u32 %r11, %tid.x; setp.eq.u32 %p1, %r11, 0; mov.u32 %r12, bar; @%p1 mbarrier.init.shared.b64 [%r12], 256; "
     "mov.u32 %r13, sum; mov.b32 %r14, 0; @%p1 st.shared.v2.b32 [%r13], {%r14, %r14}; bar.sync 0; atom.shared.add.u32 %r15, [%r13], %r1; mbarrier.arrive.shared.b64 %rd14, [%r12];\n"
     "one: mbarrier.test_wait.shared.b64 %p2, [%r12], %rd14; @!%p2 bra one; ld.shared.b32 %r16, [%r13]; atom.shared.xor.b32 %r15, [%r13+4], %r2; mbarrier.arrive.shared.b64 %rd15, [%r12];\n"
     "two: mbarrier.test_wait.parity.shared.b64 %p2, [%r12], 1; @!%p2 bra two; ld.shared.b32 %r17, [%r13+4]; mad.lo.u32 %r10, %r16, 3, %r17;",
     ".shared .align 8 .b64 bar;\n.shared .align 8 .b32 sum[2];\n", .target = 80, .version = 71},
    {"kernel.mbarrier_pending", IN_INDEX, 'r',
     "mov.u32 %r12, bar; mbarrier.init.shared.b64 [%r12], 4; mbarrier.arrive.shared.b64 %rd14, [%r12]; mbarrier.pending_count.b64 %r13, %rd14; "
     "mbarrier.arrive.noComplete.shared.b64 %rd15, [%r12], 2; mbarrier.pending_count.b64 %r14, %rd15; mbarrier.test_wait.shared.b64 %p1, [%r12], %rd15; selp.u32 %r15, 1, 0, %p1; "
     "mbarrier.arrive_drop.shared.b64 %rd16, [%r12]; mbarrier.test_wait.shared.b64 %p1, [%r12], %rd15; selp.u32 %r16, 1, 0, %p1; mbarrier.arrive.shared.b64 %rd17, [%r12]; "
     "mbarrier.pending_count.b64 %r17, %rd17; mad.lo.u32 %r10, %r13, 10, %r14; mad.lo.u32 %r10, %r10, 10, %r15; mad.lo.u32 %r10, %r10, 10, %r16; mad.lo.u32 %r10, %r10, 10, %r17;",
     ".shared .align 8 .b64 bar;\n", .block = 1, .target = 80, .version = 71},
    {"kernel.bulk_there_and_back", IN_INT, 'r',
     SIX
     "mad.wide.u32 %rd14, %r0, 16, %rd3; st.global.v4.b32 [%rd14], {%r11, %r12, %r13, %r14}; fence.proxy.async; "
     "mov.u32 %r20, %tid.x; setp.ne.u32 %p1, %r20, 0; mov.u32 %r21, bar; mov.u32 %r22, tile; bar.sync 0; @%p1 bra wait;\n"
     "    mbarrier.init.shared.b64 [%r21], 1; fence.mbarrier_init.release.cluster; fence.proxy.async; mbarrier.arrive.expect_tx.shared.b64 _, [%r21], 1024;\n"
     "    cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r22], [%rd14], 1024, [%r21];\n"
     "wait: bar.sync 0;\nagain: mbarrier.try_wait.parity.shared.b64 %p2, [%r21], 0; @!%p2 bra again;\n"
     "xor.b32 %r23, %r20, 63; mad.lo.u32 %r24, %r23, 16, %r22; ld.shared.v4.b32 {%r31, %r32, %r33, %r34}, [%r24]; " FOLD4,
     ".shared .align 16 .b8 tile[1024];\n.shared .align 8 .b64 bar;\n", .block = 64, .target = 90, .version = 80},
    {"kernel.bulk_reduce", IN_INT, 'r',
     SIX
     "mad.wide.u32 %rd14, %r0, 4, %rd3; st.global.b32 [%rd14], %r1; fence.proxy.async; "
     "mov.u32 %r20, %tid.x; mov.u32 %r22, tile; mad.lo.u32 %r23, %r20, 4, %r22; st.shared.b32 [%r23], %r2; fence.proxy.async; bar.sync 0; setp.ne.u32 %p1, %r20, 0; @%p1 bra over;\n"
     "    cp.reduce.async.bulk.global.shared::cta.bulk_group.min.s32 [%rd14], [%r22], 128; cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 [%rd14+128], [%r22+128], 128;\n"
     "    cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;\n"
     "over: bar.sync 0; ld.global.b32 %r10, [%rd14];",
     ".shared .align 16 .b8 tile[256];\n", .block = 64, .target = 90, .version = 80},
    {"kernel.cluster_of_one", IN_INT, 'r',
     "mov.u32 %r11, %tid.x; mov.u32 %r12, cells; mad.lo.u32 %r13, %r11, 4, %r12; mapa.shared::cluster.u32 %r14, %r13, 0; st.shared::cluster.u32 [%r14], %r1; "
     "barrier.cluster.arrive.release.aligned; barrier.cluster.wait.acquire.aligned; xor.b32 %r15, %r11, 77; mad.lo.u32 %r15, %r15, 4, %r12; ld.shared.u32 %r16, [%r15]; "
     "mov.u32 %r17, %cluster_ctarank; mov.u32 %r18, %cluster_nctarank; mov.u32 %r19, %cluster_nctaid.x; getctarank.shared::cluster.u32 %r20, %r14; mov.u32 %r21, %clusterid.x; mov.u32 %r22, %nclusterid.x; "
     "mov.pred %p1, %is_explicit_cluster; selp.u32 %r23, 1, 0, %p1; mad.lo.u32 %r10, %r16, 3, %r17; mad.lo.u32 %r10, %r10, 3, %r18; mad.lo.u32 %r10, %r10, 3, %r19; mad.lo.u32 %r10, %r10, 3, %r20; "
     "mad.lo.u32 %r10, %r10, 3, %r21; mad.lo.u32 %r10, %r10, 3, %r22; mad.lo.u32 %r10, %r10, 3, %r23;",
     ".shared .align 4 .b32 cells[256];\n", .target = 90, .version = 80},
    {"kernel.atom_v4_f32", IN_INT, 'f',
     SINGLE("%f4", "%r1")
         SINGLE("%f5", "%r2") "and.b32 %r11, %r0, 7; mad.wide.u32 %rd14, %r11, 16, %rd3; "
                              "red.global.add.v4.f32 [%rd14], {%f4, %f5, 0f3F800000, %f4}; mov.f32 %f10, 0f00000000;",
     .scratch_words = 32, .target = 90, .version = 81},
    {"kernel.atom_max_v2_f16x2", IN_INT, 'r',
     "and.b32 %r11, %r1, 0xfbfffbff; and.b32 %r12, %r2, 0xfbfffbff; mad.wide.u32 %rd14, %r0, 8, %rd3; st.global.v2.b32 [%rd14], {%r12, %r11}; "
     "atom.global.max.noftz.v2.f16x2 {%r13, %r14}, [%rd14], {%r11, %r12}; ld.global.v2.b32 {%r15, %r16}, [%rd14]; mad.lo.u32 %r10, %r15, 7, %r16; mad.lo.u32 %r10, %r10, 7, %r13;",
     .target = 90, .version = 81},
    {"kernel.b128_exchange", IN_INT, 'r',
     ".reg .b128 %q<5>; mov.b128 %q1, {%rd11, %rd12}; mad.wide.u32 %rd14, %r0, 16, %rd3; st.global.b128 [%rd14], %q1; ld.global.b128 %q2, [%rd14]; mov.b128 {%rd15, %rd16}, %q2; "
     "mov.b128 %q3, {%rd16, %rd15}; atom.global.exch.b128 %q4, [%rd14], %q3; mov.b128 {%rd17, %rd18}, %q4; ld.global.v2.b64 {%rd19, %rd20}, [%rd14]; xor.b64 %rd21, %rd17, %rd19; mad.lo.u64 %rd21, %rd21, 3, %rd18; "
     "cvt.u32.u64 %r10, %rd21;",
     .target = 90, .version = 83},
};
KERNELS(copies);

/* Eight numbers, as SIX; and metadata that names two of four for each group, or (of tf32) one of two. */
#define EIGHT SIX "xor.b32 %r17, %r13, %r12; mad.lo.u32 %r18, %r14, 0x01000193, %r11; "
#define EIGHT_OF(as) \
    EIGHT as("%r21", "%r11") as("%r22", "%r12") as("%r23", "%r13") as("%r24", "%r14") as("%r25", "%r15") \
        as("%r26", "%r16") as("%r27", "%r17") as("%r28", "%r18")
#define PAIRS \
    "shf.l.wrap.b32 %r41, %r2, %r1, 9; xor.b32 %r41, %r41, %r13; and.b32 %r42, %r41, 0x77777777; mov.b32 %r45, 0x0c090804; mov.b32 %r46, 0x0e040e0d; " \
    "prmt.b32 %r43, %r45, %r46, %r42; shr.u32 %r42, %r42, 16; prmt.b32 %r44, %r45, %r46, %r42; shl.b32 %r44, %r44, 4; or.b32 %r40, %r43, %r44; "
#define SINGLES \
    "shf.l.wrap.b32 %r41, %r2, %r1, 9; xor.b32 %r41, %r41, %r13; and.b32 %r42, %r41, 0x11111111; mad.lo.u32 %r40, %r42, 10, 0x44444444; "
#define SPARSE_FLOATS(form, a, b, rest) \
    "mma.sp" form " {%f11, %f12, %f13, %f14}, " a ", " b ", {%f4, %f5, %f6, %f7}, %r40, " rest "; " FOLD_SINGLES
#define SPARSE_HALVES(form, a, b, rest) \
    "mma.sp" form " {%r31, %r32}, " a ", " b ", {%r28, %r27}, %r40, " rest "; " FOLD2("%r31", "%r32")
#define SPARSE_INTEGERS(form, a, b, rest) \
    "mma.sp" form " {%r31, %r32, %r33, %r34}, " a ", " b ", {%r11, %r2, %r13, %r1}, %r40, " rest "; " FOLD4
#define TWO_A "{%r21, %r22}"
#define FOUR_A "{%r21, %r22, %r23, %r24}"
#define TWO_B "{%r25, %r26}"
#define FOUR_B "{%r25, %r26, %r27, %r28}"
#define AS_IT_IS(to, from) "mov.b32 " to ", " from "; "
#define ORDERED "::ordered_metadata"
#define SP ".sync.aligned"

static const struct gold_kernel sparse_products[] = {
    {"kernel.mma_sp_tf32_k8_0", IN_INT, 'r',
     EIGHT_OF(BITS) FOUR_SINGLES SINGLES SPARSE_FLOATS(SP ".m16n8k8.row.col.f32.tf32.tf32.f32", TWO_A, TWO_B, "0"),
     .target = 80, .version = 71},
    {"kernel.mma_sp_tf32_k8_3", IN_INT, 'r',
     EIGHT_OF(BITS)
         FOUR_SINGLES SINGLES SPARSE_FLOATS(ORDERED SP ".m16n8k8.row.col.f32.tf32.tf32.f32", TWO_A, TWO_B, "3"),
     .target = 80, .version = 85},
    {"kernel.mma_sp_tf32_k16_0", IN_INT, 'r',
     EIGHT_OF(BITS) FOUR_SINGLES SINGLES SPARSE_FLOATS(SP ".m16n8k16.row.col.f32.tf32.tf32.f32", FOUR_A, FOUR_B, "0"),
     .target = 80, .version = 71},
    {"kernel.mma_sp_tf32_k16_1", IN_INT, 'r',
     EIGHT_OF(BITS) FOUR_SINGLES SINGLES SPARSE_FLOATS(SP ".m16n8k16.row.col.f32.tf32.tf32.f32", FOUR_A, FOUR_B, "1"),
     .target = 80, .version = 71},
    {"kernel.mma_sp_f16_k16_0", IN_INT, 'r',
     EIGHT_OF(SHORT) PAIRS SPARSE_HALVES(SP ".m16n8k16.row.col.f16.f16.f16.f16", TWO_A, TWO_B, "0"), .target = 80,
     .version = 71},
    {"kernel.mma_sp_f16_k32_1", IN_INT, 'r',
     EIGHT_OF(SHORT) PAIRS SPARSE_HALVES(ORDERED SP ".m16n8k32.row.col.f16.f16.f16.f16", FOUR_A, FOUR_B, "1"),
     .target = 80, .version = 85},
    {"kernel.mma_sp_f32_f16_k16_1", IN_INT, 'r',
     EIGHT_OF(HALF) FOUR_SINGLES PAIRS SPARSE_FLOATS(SP ".m16n8k16.row.col.f32.f16.f16.f32", TWO_A, TWO_B, "1"),
     .target = 80, .version = 71},
    {"kernel.mma_sp_f32_f16_k16_2", IN_INT, 'r',
     EIGHT_OF(HALF) FOUR_SINGLES PAIRS SPARSE_FLOATS(ORDERED SP ".m16n8k16.row.col.f32.f16.f16.f32", TWO_A, TWO_B, "2"),
     .target = 80, .version = 85},
    {"kernel.mma_sp_f32_f16_k32_0", IN_INT, 'r',
     EIGHT_OF(HALF) FOUR_SINGLES PAIRS SPARSE_FLOATS(SP ".m16n8k32.row.col.f32.f16.f16.f32", FOUR_A, FOUR_B, "0"),
     .target = 80, .version = 71},
    {"kernel.mma_sp_f32_f16_k32_1", IN_INT, 'r',
     EIGHT_OF(HALF) FOUR_SINGLES PAIRS SPARSE_FLOATS(SP ".m16n8k32.row.col.f32.f16.f16.f32", FOUR_A, FOUR_B, "1"),
     .target = 80, .version = 71},
    {"kernel.mma_sp_bf16_k16_3", IN_INT, 'r',
     EIGHT_OF(BFLOAT) FOUR_SINGLES PAIRS SPARSE_FLOATS(SP ".m16n8k16.row.col.f32.bf16.bf16.f32", TWO_A, TWO_B, "3"),
     .target = 80, .version = 71},
    {"kernel.mma_sp_bf16_k32_0", IN_INT, 'r',
     EIGHT_OF(BFLOAT) FOUR_SINGLES PAIRS SPARSE_FLOATS(SP ".m16n8k32.row.col.f32.bf16.bf16.f32", FOUR_A, FOUR_B, "0"),
     .target = 80, .version = 71},
    {"kernel.mma_sp_bf16_k32_1", IN_INT, 'r',
     EIGHT_OF(BFLOAT)
         FOUR_SINGLES PAIRS SPARSE_FLOATS(ORDERED SP ".m16n8k32.row.col.f32.bf16.bf16.f32", FOUR_A, FOUR_B, "1"),
     .target = 80, .version = 85},
    {"kernel.mma_sp_e4m3_e5m2", IN_INT, 'r',
     EIGHT_OF(FOUR_E4M3) FOUR_E5M2("%r25", "%r15") FOUR_E5M2("%r26", "%r16") FOUR_E5M2("%r27", "%r17")
         FOUR_E5M2("%r28", "%r18")
             FOUR_SINGLES PAIRS SPARSE_FLOATS(SP ".m16n8k64.row.col.f32.e4m3.e5m2.f32", FOUR_A, FOUR_B, "0"),
     .target = 90, .version = 84},
    {"kernel.mma_sp_e5m2_ordered", IN_INT, 'r',
     EIGHT_OF(FOUR_E5M2)
         FOUR_SINGLES PAIRS SPARSE_FLOATS(ORDERED SP ".m16n8k64.row.col.f32.e5m2.e5m2.f32", FOUR_A, FOUR_B, "0"),
     .target = 90, .version = 85},
    {"kernel.mma_sp_s8_u8_k32_0", IN_INT, 'r',
     EIGHT_OF(AS_IT_IS) PAIRS SPARSE_INTEGERS(SP ".m16n8k32.row.col.s32.s8.u8.s32", TWO_A, TWO_B, "0"), .target = 80,
     .version = 71},
    {"kernel.mma_sp_u8_s8_k32_1", IN_INT, 'r',
     EIGHT_OF(AS_IT_IS)
         PAIRS SPARSE_INTEGERS(ORDERED SP ".m16n8k32.row.col.satfinite.s32.u8.s8.s32", TWO_A, TWO_B, "1"),
     .target = 80, .version = 85},
    {"kernel.mma_sp_s8_k64", IN_INT, 'r',
     EIGHT_OF(AS_IT_IS) PAIRS SPARSE_INTEGERS(SP ".m16n8k64.row.col.satfinite.s32.s8.s8.s32", FOUR_A, FOUR_B, "0"),
     .target = 80, .version = 71},
    {"kernel.mma_sp_u8_k64", IN_INT, 'r',
     EIGHT_OF(AS_IT_IS) PAIRS SPARSE_INTEGERS(ORDERED SP ".m16n8k64.row.col.s32.u8.u8.s32", FOUR_A, FOUR_B, "0"),
     .target = 80, .version = 85},
    {"kernel.mma_sp_s4_u4_k64_0", IN_INT, 'r',
     EIGHT_OF(AS_IT_IS) PAIRS SPARSE_INTEGERS(SP ".m16n8k64.row.col.s32.s4.u4.s32", TWO_A, TWO_B, "0"), .target = 80,
     .version = 71},
    {"kernel.mma_sp_u4_s4_k64_1", IN_INT, 'r',
     EIGHT_OF(AS_IT_IS) PAIRS SPARSE_INTEGERS(SP ".m16n8k64.row.col.satfinite.s32.u4.s4.s32", TWO_A, TWO_B, "1"),
     .target = 80, .version = 71},
    {"kernel.mma_sp_s4_k128", IN_INT, 'r',
     EIGHT_OF(AS_IT_IS) PAIRS SPARSE_INTEGERS(SP ".m16n8k128.row.col.satfinite.s32.s4.s4.s32", FOUR_A, FOUR_B, "0"),
     .target = 80, .version = 71},
    {"kernel.mma_sp_u4_s4_k128", IN_INT, 'r',
     EIGHT_OF(AS_IT_IS) PAIRS SPARSE_INTEGERS(ORDERED SP ".m16n8k128.row.col.s32.u4.s4.s32", FOUR_A, FOUR_B, "0"),
     .target = 80, .version = 85},
};
KERNELS(sparse_products);

/* Halves as they come, infinities and NaNs among them, times three and a bit: .satfinite of floats, which PTX 6.5 took
 * away. */
#define FACTORS ".shared .align 32 .b8 factors[4096];\n"
#define SCALE \
    "shr.u32 %r21, %r43, 1; shr.u32 %r22, %r21, 3; and.b32 %r23, %r43, 1; setp.eq.u32 %p1, %r22, %r23; and.b32 %r24, %r21, 1; shl.b32 %r24, %r24, 4; " \
    "mov.b32 %r25, 0x4201; shl.b32 %r25, %r25, %r24; selp.b32 %r25, %r25, 0, %p1; shr.u32 %r26, %r21, 1; and.b32 %r26, %r26, 3; " \
    "setp.eq.u32 %p2, %r26, 0; selp.b32 %r31, %r25, 0, %p2; setp.eq.u32 %p2, %r26, 1; selp.b32 %r32, %r25, 0, %p2; " \
    "setp.eq.u32 %p2, %r26, 2; selp.b32 %r33, %r25, 0, %p2; setp.eq.u32 %p2, %r26, 3; selp.b32 %r34, %r25, 0, %p2; " \
    "mov.u32 %r27, tile; sub.u32 %r28, %r44, %r27; mov.u32 %r29, factors; add.u32 %r28, %r28, %r29; sub.u32 %r30, %r40, %r27; add.u32 %r30, %r30, %r29; " \
    "st.shared.v4.b32 [%r28], {%r31, %r32, %r33, %r34}; "
#define OLD_PRODUCT(c, sums) \
    FILL SCALE \
        "xor.b32 %r11, %r11, %r13; and.b32 %r12, %r12, 0x7bff7bff; st.shared.v4.b32 [%r44], {%r11, %r12, %r13, %r14}; bar.warp.sync -1; " \
        "wmma.load.a.sync.aligned.row.m16n16k16.shared.f16 {%r11, %r12, %r13, %r14, %r15, %r16, %r17, %r18}, [%r40], 16; " \
        "wmma.load.b.sync.aligned.row.m16n16k16.shared.f16 {%r21, %r22, %r23, %r24, %r25, %r26, %r27, %r28}, [%r30], 16; mov.f32 %f4, 0f00000000; mov.b32 %r35, 0; " \
        "wmma.mma.sync.aligned.row.row.m16n16k16.f16." c \
        ".satfinite {%r31, %r32, %r33, %r34}, {%r11, %r12, %r13, %r14, %r15, %r16, %r17, %r18}, " \
        "{%r21, %r22, %r23, %r24, %r25, %r26, %r27, %r28}, " sums "; bar.warp.sync -1; " \
        "wmma.store.d.sync.aligned.row.m16n16k16.shared.f16 [%r40], {%r31, %r32, %r33, %r34}, 16; bar.warp.sync -1; ld.shared.v4.b32 {%r31, %r32, %r33, %r34}, [%r44]; " FOLD4

static const struct gold_kernel old_products[] = {
    {"kernel.wmma_satfinite_f16_f32", IN_INT, 'r', OLD_PRODUCT("f32", "{%f4, %f4, %f4, %f4, %f4, %f4, %f4, %f4}"),
     TILE FACTORS, .target = 75, .version = 64},
    {"kernel.wmma_satfinite_f16_f16", IN_INT, 'r', OLD_PRODUCT("f16", "{%r35, %r35, %r35, %r35}"), TILE FACTORS,
     .target = 75, .version = 64},
};
KERNELS(old_products);
