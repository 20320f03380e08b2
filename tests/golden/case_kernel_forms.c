/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Forms of instructions that NVIDIA's assembler takes and the manual hardly mentions: addresses of 32 bits in .const
 * and of parameters, fences and hints in all their wordings, halves of bfloats, carries into 16 bits, special registers
 * cut short, sums of f32 in the shapes of small numbers.  Forms that look at registers alone are the corpus's affair
 * (tests/corpus/forms.py).
 */
#include "gold_kernel.h"

#define TABLES \
    ".const .align 4 .u32 ca[8] = {10, 11, 12, 13, 14, 15, 16, 17};\n.const .align 8 .u64 cb = 99;\n.const .align 16 .u32 cc[8] = {20, 21, 22, 23, 24, 25, 26, 27};\n"
#define READ TABLES ".func (.reg .u32 r) read (.reg .u32 a) { ld.const.u32 r, [a+8]; ret; }\n"
#define GLOBAL ".global .align 8 .u32 gv[4] = {5, 6, 7, 8};\n.shared .align 8 .u32 sv[4];\n"
#define THIRD \
    ".func (.param .b64 r) third (.param .align 8 .b8 s[40])\n{ .reg .b32 n, x; .reg .b64 w; mov.u32 n, s; ld.param.u32 x, [n+12]; cvt.u64.u32 w, x; st.param.b64 [r], w; ret; }\n"

static const struct gold_kernel narrow[] = {
    {"kernel.const_narrow", IN_INT, 'r',
     "mov.u32 %r4, ca; ld.const.u32 %r5, [%r4+4]; mov.u32 %r6, ca+12; ld.const.u32 %r7, [%r6]; mad.lo.u32 %r10, %r5, 100, %r7;",
     TABLES},
    {"kernel.const_narrow_by_lane", IN_INT, 'r',
     "mov.u32 %r4, ca; and.b32 %r5, %r1, 7; mad.lo.u32 %r4, %r5, 4, %r4; ld.const.u32 %r10, [%r4];", TABLES},
    {"kernel.const_narrow_chosen", IN_INT, 'r',
     "mov.u32 %r4, ca; mov.u32 %r5, cc+4; setp.lt.s32 %p1, %r1, %r2; selp.u32 %r6, %r4, %r5, %p1; ld.const.u32 %r10, [%r6+8];",
     TABLES},
    {"kernel.const_narrow_widened", IN_INT, 'x',
     "mov.u32 %r4, cb; cvt.u64.u32 %rd14, %r4; ld.const.u64 %rd15, [%rd14]; add.u64 %rd10, %rd15, %rd11;", TABLES},
    {"kernel.const_narrow_generic", IN_INT, 'r',
     "mov.u32 %r4, cc; and.b32 %r5, %r2, 7; mad.lo.u32 %r4, %r5, 4, %r4; cvt.u64.u32 %rd14, %r4; cvta.const.u64 %rd15, %rd14; "
     "ld.u32 %r10, [%rd15];",
     TABLES, .version = 81},
    {"kernel.const_narrow_cut", IN_INT, 'r', "mov.u64 %rd14, cc; cvt.u32.u64 %r4, %rd14; ld.const.u32 %r10, [%r4+20];",
     TABLES},
    {"kernel.const_narrow_vector", IN_INT, 'r',
     "mov.u32 %r4, cc; and.b32 %r5, %r1, 16; add.u32 %r4, %r4, %r5; ld.const.v4.u32 {%r6, %r7, %r8, %r9}, [%r4]; "
     "mad.lo.u32 %r10, %r6, 31, %r7; mad.lo.u32 %r10, %r10, 31, %r8; mad.lo.u32 %r10, %r10, 31, %r9;",
     TABLES},
    {"kernel.const_narrow_passed", IN_INT, 'r',
     "mov.u64 %rd14, cc; cvt.u32.u64 %r4, %rd14; call (%r5), read, (%r4); mov.u32 %r4, ca; call (%r6), read, (%r4); mad.lo.u32 %r10, %r5, 100, %r6;",
     READ},
    {"kernel.cvta_to_global_of_variable", IN_INT, 'r', "cvta.to.global.u64 %rd14, gv+4; ld.global.u32 %r10, [%rd14];",
     GLOBAL},
    {"kernel.cvta_to_shared_of_variable", IN_INT, 'r',
     "st.shared.u32 [sv+4], 77; bar.sync 0; cvta.to.shared.u64 %rd14, sv+4; ld.shared.u32 %r10, [%rd14];", GLOBAL},
    {"kernel.cvta_to_shared_of_global", IN_INT, 'r',
     "mov.u64 %rd15, gv; cvta.to.shared.u64 %rd14, gv+4; sub.u64 %rd14, %rd14, %rd15; cvt.u32.u64 %r10, %rd14;",
     GLOBAL},
    {"kernel.cvta_to_global_of_shared", IN_INT, 'r',
     "mov.u64 %rd15, sv; cvta.to.global.u64 %rd14, sv+4; sub.u64 %rd14, %rd14, %rd15; cvt.u32.u64 %r10, %rd14;",
     GLOBAL},
    {"kernel.param_narrow", IN_INT, 'x',
     "mov.u32 %r4, in; ld.param.u64 %rd14, [%r4]; mad.wide.u32 %rd14, %r0, 32, %rd14; ld.u64 %rd10, [%rd14];"},
    {"kernel.param_narrow_by_lane", IN_INT, 'r',
     "mov.u32 %r4, in; and.b32 %r5, %r1, 1; mad.lo.u32 %r4, %r5, 8, %r4; ld.param.u64 %rd14, [%r4]; ld.param.u64 %rd15, [in]; "
     "ld.param.u64 %rd16, [scratch]; setp.eq.u64 %p1, %rd14, %rd15; setp.eq.u64 %p2, %rd14, %rd16; selp.u32 %r6, 1, 0, %p1; selp.u32 %r7, 2, 0, %p2; add.u32 %r10, %r6, %r7;"},
    {"kernel.param_narrow_vector", IN_INT, 'x',
     "mov.u32 %r4, out; ld.param.v2.u64 {%rd14, %rd15}, [%r4]; ld.param.u64 %rd16, [out]; sub.u64 %rd17, %rd14, %rd16; "
     "mad.wide.u32 %rd15, %r0, 32, %rd15; ld.u64 %rd10, [%rd15]; add.u64 %rd10, %rd10, %rd17;"},
    {"kernel.param_narrow_generic", IN_INT, 'x',
     "mov.u32 %r4, in; cvt.u64.u32 %rd14, %r4; cvta.param.u64 %rd15, %rd14; isspacep.param %p1, %rd15; ld.u64 %rd16, [%rd15]; "
     "mad.wide.u32 %rd16, %r0, 32, %rd16; ld.u64 %rd10, [%rd16]; selp.u64 %rd17, 1, 0, %p1; add.u64 %rd10, %rd10, %rd17;",
     .version = 77},
    {"kernel.param_narrow_of_function", IN_INT, 'x',
     "{ .param .align 8 .b8 s[40]; .param .b64 r; st.param.b64 [s+8], %rd11; call (r), third, (s); ld.param.b64 %rd10, [r]; }",
     THIRD},
};
KERNELS(narrow);

/* What is stored before is loaded behind, so that fences which did something else would show. */
#define AROUND(fences) \
    "mov.u32 %r4, sv; mov.u32 %r5, %tid.x; mad.lo.u32 %r6, %r5, 4, %r4; st.shared.u32 [%r6], %r1; mad.wide.u32 %rd14, %r0, 4, %rd3; st.global.u32 [%rd14], %r2; " fences \
    " bar.sync 0; xor.b32 %r7, %r5, 85; mad.lo.u32 %r6, %r7, 4, %r4; ld.shared.u32 %r8, [%r6]; ld.global.u32 %r9, [%rd14]; mad.lo.u32 %r10, %r8, 31, %r9;"
#define ROOM ".shared .align 16 .b8 sv[1024];\n"

static const struct gold_kernel fences[] = {
    {"kernel.fence_orders", IN_INT, 'r',
     AROUND(
         "fence.sc.cta; fence.sc.cluster; fence.sc.gpu; fence.sc.sys; fence.acq_rel.cta; fence.acq_rel.cluster; fence.acq_rel.gpu; fence.acq_rel.sys; "
         "fence.cta; fence.cluster; fence.gpu; fence.sys; fence.gpu.acq_rel;"),
     ROOM, .target = 90, .version = 78},
    {"kernel.fence_one_way", IN_INT, 'r',
     AROUND(
         "fence.acquire.cta; fence.acquire.cluster; fence.acquire.gpu; fence.acquire.sys; fence.release.cta; fence.release.cluster; fence.release.gpu; "
         "fence.release.sys;"),
     ROOM, .target = 90, .version = 86},
    {"kernel.fence_restricted", IN_INT, 'r',
     AROUND(
         "fence.acquire.sync_restrict::shared::cluster.cluster; fence.release.sync_restrict::shared::cta.cluster; fence.mbarrier_init.release.cluster; "
         "fence.mbarrier_init.release.cluster.sync_restrict::shared::cta; fence.mbarrier_init.release.sync_restrict::shared::cluster.cluster;"),
     ROOM, .target = 90, .version = 86},
    {"kernel.fence_proxies", IN_INT, 'r',
     AROUND(
         "fence.proxy.alias; fence.proxy.async; fence.proxy.async.global; fence.proxy.async.shared::cta; fence.proxy.async.shared::cluster; "
         "fence.proxy.async::generic.acquire.sync_restrict::shared::cluster.cluster; fence.proxy.async::generic.release.sync_restrict::shared::cta.cluster;"),
     ROOM, .target = 90, .version = 86},
    {"kernel.fence_tensormap", IN_INT, 'r',
     AROUND(
         "fence.proxy.tensormap::generic.release.cta; fence.proxy.tensormap::generic.release.cluster; fence.proxy.tensormap::generic.release.gpu; "
         "fence.proxy.tensormap::generic.release.sys;"),
     ROOM, .target = 90, .version = 83},
    {"kernel.membars", IN_INT, 'r', AROUND("membar.cta; membar.gl; membar.sys; membar.proxy.alias;"), ROOM,
     .version = 75},
};
KERNELS(fences);

/* A warp's word after 128 bytes that are its own, written before; what was told to be discarded is written again. */
#define LINE \
    "shr.u32 %r4, %r0, 5; mad.wide.u32 %rd14, %r4, 128, %rd3; mov.u32 %r5, %laneid; mad.wide.u32 %rd15, %r5, 4, %rd14; st.global.u32 [%rd15], %r1; bar.warp.sync -1; "
#define LOADED(how, policy) \
    LINE how "; ld.global.L2::cache_hint.u32 %r6, [%rd15], " policy \
             "; st.global.L2::cache_hint.u32 [%rd15], %r2, " policy "; ld.global.u32 %r7, [%rd15]; " \
             "mad.lo.u32 %r10, %r6, 31, %r7;"

static const struct gold_kernel hints[] = {
    {"kernel.prefetches", IN_INT, 'r',
     ".local .align 16 .b8 lv[64]; st.local.u32 [lv+4], %r1; " LINE
     "prefetch.global.L1 [%rd14]; prefetch.global.L2 [%rd14]; prefetch.L1 [%rd14]; prefetch.L2 [%rd14]; "
     "prefetch.local.L1 [lv]; prefetch.local.L2 [lv]; prefetchu.L1 [%rd14]; ld.local.u32 %r6, [lv+4]; ld.global.u32 %r7, [%rd15]; add.u32 %r10, %r6, %r7;"},
    {"kernel.prefetches_evicting", IN_INT, 'r',
     LINE
     "prefetch.global.L2::evict_last [%rd14]; prefetch.global.L2::evict_normal [%rd14]; prefetch.L2::evict_last [%rd14]; "
     "prefetch.L2::evict_normal [%rd14]; ld.global.u32 %r10, [%rd15];",
     .target = 80, .version = 74},
    {"kernel.prefetch_of_nothing", IN_INT, 'r',
     "mul.wide.u32 %rd14, %r0, 4096; add.u64 %rd14, %rd14, %rd3; add.u64 %rd14, %rd14, 0x7000000000; prefetch.global.L2 [%rd14]; prefetch.L1 [%rd14]; prefetch.global.L1 [%rd14]; "
     "mov.u32 %r10, %r1;"},
    {"kernel.applypriority", IN_INT, 'r',
     LINE
     "applypriority.global.L2::evict_normal [%rd14], 128; applypriority.L2::evict_normal [%rd14], 128; ld.global.u32 %r10, [%rd15];",
     .target = 80, .version = 74},
    {"kernel.discard", IN_INT, 'r',
     LINE
     "bar.warp.sync -1; discard.global.L2 [%rd14], 128; discard.L2 [%rd14], 128; bar.warp.sync -1; st.global.u32 [%rd15], %r2; ld.global.u32 %r10, [%rd15];",
     .target = 80, .version = 74},
    {"kernel.createpolicy_fractional", IN_INT, 'r',
     LOADED("createpolicy.fractional.L2::evict_last.b64 %rd16, 0.5", "%rd16"), .target = 80, .version = 74},
    {"kernel.createpolicy_fractional_pair", IN_INT, 'r',
     LOADED("createpolicy.fractional.L2::evict_first.L2::evict_unchanged.b64 %rd16", "%rd16"), .target = 80,
     .version = 74},
    {"kernel.createpolicy_fractional_register", IN_INT, 'r',
     LOADED("mov.f32 %f4, 0f3F400000; createpolicy.fractional.L2::evict_normal.b64 %rd16, %f4", "%rd16"), .target = 80,
     .version = 74},
    {"kernel.createpolicy_range", IN_INT, 'r',
     LOADED("createpolicy.range.L2::evict_last.L2::evict_first.b64 %rd16, [%rd14], 64, 128", "%rd16"), .target = 80,
     .version = 74},
    {"kernel.createpolicy_range_global", IN_INT, 'r',
     LOADED("mov.u32 %r8, 64; createpolicy.range.L2::evict_last.global.b64 %rd16, [%rd14], %r8, %r8", "%rd16"),
     .target = 80, .version = 74},
    {"kernel.createpolicy_cvt", IN_INT, 'r', LOADED("createpolicy.cvt.L2.b64 %rd16, 0x14F0000000000000", "%rd16"),
     .target = 80, .version = 74},
};
KERNELS(hints);

#define HALF_OUT " cvt.u32.u16 %r10, %h10;"

static const struct gold_kernel numbers[] = {
    {"kernel.rcp_ftz_f64", IN_DOUBLE, 'd', "rcp.rn.ftz.f64 %d4, %d1; rcp.rz.ftz.f64 %d5, %d2; add.f64 %d10, %d4, %d5;"},
    {"kernel.rcp_ftz_f64_subnormal", IN_DOUBLE, 'd',
     "rcp.rp.ftz.f64 %d4, %d1; rcp.rm.ftz.f64 %d5, %d4; selp.f64 %d10, %d4, %d5, 1;"},
    {"kernel.addc_u16", IN_INT, 'h', "add.cc.u32 %r4, %r1, %r2; addc.u16 %h10, %h1, %h2;"},
    {"kernel.addc_u16_of_64", IN_INT, 'h', "add.cc.u64 %rd14, %rd11, %rd12; addc.s16 %h10, %h3, 5;"},
    {"kernel.subc_s16", IN_INT, 'h', "sub.cc.u32 %r4, %r1, %r2; subc.s16 %h10, %h1, %h3;"},
    {"kernel.subc_u16_of_64", IN_INT, 'h', "sub.cc.u64 %rd14, %rd11, %rd12; subc.u16 %h10, %h2, %h1;"},
    {"kernel.madc_s16", IN_INT, 'h', "add.cc.u32 %r4, %r1, %r2; madc.lo.s16 %h10, %h1, %h2, %h3;"},
    {"kernel.madc_u16", IN_INT, 'h', "add.cc.u32 %r4, %r1, %r2; madc.lo.u16 %h10, %h2, %h3, 7;"},
    {"kernel.carry_through_16_bits", IN_INT, 'r',
     "add.cc.u32 %r4, %r1, %r2; addc.u16 %h4, %h1, %h2; addc.u32 %r5, 0, 0; cvt.u32.u16 %r6, %h4; mad.lo.u32 %r10, %r5, 0x10000, %r6;"},
    {"kernel.cvt_f16_of_bf16", IN_INT, 'h', "cvt.f16.bf16 %h10, %h1;", .target = 90, .version = 78},
    {"kernel.cvt_f16_of_bf16_floats", IN_FLOAT, 'h',
     "shr.u32 %r4, %r1, 16; cvt.u16.u32 %h4, %r4; cvt.f16.bf16 %h10, %h4;", .target = 90, .version = 78},
    {"kernel.cvt_bf16_of_f16", IN_INT, 'h', "cvt.bf16.f16 %h10, %h1;", .target = 90, .version = 78},
    {"kernel.cvt_f32_of_bf16_rounded", IN_NAN, 'f',
     "shr.u32 %r4, %r1, 16; cvt.u16.u32 %h4, %r4; cvt.rz.f32.bf16 %f10, %h4;", .target = 90, .version = 78,
     .exact_nan = true},
    {"kernel.cvt_f32_of_bf16_flushed", IN_FLOAT, 'f',
     "shr.u32 %r4, %r1, 16; cvt.u16.u32 %h4, %r4; cvt.rp.ftz.f32.bf16 %f10, %h4;", .target = 90, .version = 78},
    {"kernel.cvt_f64_of_bf16_rounded", IN_FLOAT, 'd',
     "shr.u32 %r4, %r1, 16; cvt.u16.u32 %h4, %r4; cvt.rm.f64.bf16 %d10, %h4;", .target = 90, .version = 78},
    {"kernel.fma_bf16x2_rounded", IN_INT, 'r',
     "fma.rz.bf16x2 %r4, %r1, %r2, %r3; fma.rp.bf16x2 %r5, %r1, %r2, %r3; fma.rm.bf16x2 %r6, %r1, %r2, %r3; fma.rn.bf16x2 %r7, %r1, %r2, %r3; "
     "xor.b32 %r4, %r4, %r7; xor.b32 %r5, %r5, %r7; xor.b32 %r6, %r6, %r7; or.b32 %r10, %r4, %r5; or.b32 %r10, %r10, %r6; mad.lo.u32 %r10, %r10, 31, %r7;",
     .target = 90, .version = 81},
    {"kernel.fma_bf16x2_rounded_relu", IN_INT, 'r', "fma.rp.oob.relu.bf16x2 %r10, %r1, %r2, %r3;", .target = 90,
     .version = 81},
    {"kernel.vmad_po_of_negated", IN_INT, 'r',
     "vmad.u32.u32.u32.po %r4, -%r1, -%r2, %r3; vmad.s32.s32.u32.po.sat.shr7 %r5, -%r2.h1, -%r3.b2, %r1; mad.lo.u32 %r10, %r4, 31, %r5;"},
    {"kernel.match_any_without_predicate", IN_INT, 'r', "and.b32 %r4, %r1, 3; match.any.sync.b32 %r10|_, %r4, -1;"},
    {"kernel.gridid_cut", IN_INT, 'h',
     "mov.u64 %rd14, %gridid; cvt.u16.u64 %h4, %rd14; mov.u16 %h5, %gridid; xor.b16 %h6, %h4, %h5; mov.u32 %r4, %gridid; cvt.u32.u64 %r5, %rd14; "
     "sub.u32 %r4, %r4, %r5; cvt.u16.u32 %h7, %r4; or.b16 %h10, %h6, %h7;"},
    {"kernel.clock_cut_to_32", IN_INT, 'r',
     "cvt.u64.u32 %rd14, %clock64; shr.u64 %rd14, %rd14, 32; cvt.u32.u64 %r10, %rd14;"},
    {"kernel.clock_cut_to_16", IN_INT, 'r',
     "cvt.u64.s16 %rd16, %clock64; cvt.s64.s16 %rd17, %rd16; sub.u64 %rd16, %rd16, %rd17; cvt.u32.u64 %r10, %rd16;"},
    {"kernel.timer_cut_to_32", IN_INT, 'r',
     "cvt.u64.u32 %rd14, %globaltimer; shr.u64 %rd14, %rd14, 32; cvt.u32.u64 %r10, %rd14;"},
    {"kernel.timer_cut_to_8", IN_INT, 'r', "cvt.u32.u8 %r5, %globaltimer; shr.u32 %r10, %r5, 8;"},
    {"kernel.gridid_cut_to_32", IN_INT, 'x',
     "mov.u64 %rd14, %gridid; cvt.u64.u32 %rd15, %gridid; cvt.u64.u32 %rd16, %rd14; sub.u64 %rd10, %rd16, %rd15;"},
    {"kernel.brx_uni", IN_INDEX, 'r',
     "and.b32 %r4, %r0, 1023; shr.u32 %r4, %r4, 8; ts: .branchtargets t0, t1, t2, t3; brx.idx.uni %r4, ts;\n"
     "t0: mov.u32 %r10, 100; bra over;\nt1: mov.u32 %r10, %r1; bra over;\nt2: mul.lo.u32 %r10, %r0, %r0; bra over;\nt3: mov.u32 %r10, 3;\nover:"},
    {"kernel.pmevents", IN_INT, 'r', "pmevent 15; pmevent.mask 65535; mov.u32 %r10, %r1;"},
};
KERNELS(numbers);

#define WARP_ROOM \
    "mov.u32 %r40, %tid.x; shr.u32 %r41, %r40, 5; mov.u32 %r42, tile; mad.lo.u32 %r42, %r41, 512, %r42; mov.u32 %r43, %laneid; mad.lo.u32 %r44, %r43, 16, %r42; " \
    "st.shared.v4.b32 [%r44], {%r1, %r2, %r0, %r3}; bar.warp.sync -1; "
#define TILE ".shared .align 32 .b8 tile[4096];\n.shared .align 32 .b8 other[4096];\n"
#define OTHER \
    " mov.u32 %r45, other; mad.lo.u32 %r45, %r41, 512, %r45; mad.lo.u32 %r46, %r43, 16, %r45; st.shared.v4.b32 [%r46], {%r43, %r43, %r43, %r43}; bar.warp.sync -1; "
#define FOLDED \
    " bar.warp.sync -1; ld.shared.v4.b32 {%r31, %r32, %r33, %r34}, [%r46]; mad.lo.u32 %r10, %r31, 31, %r32; mad.lo.u32 %r10, %r10, 31, %r33; mad.lo.u32 %r10, %r10, 31, %r34;"
#define MEETING ".shared .align 16 .b8 words[4096];\n.shared .align 8 .b64 bar;\n"
/* Thread 0 makes a barrier that waits for one arrival and so many bytes; all wait for it. */
#define BAR(bytes) \
    "mov.u32 %r40, %tid.x; mov.u32 %r41, bar; mov.u32 %r42, words; setp.eq.u32 %p1, %r40, 0; @%p1 mbarrier.init.shared.b64 [%r41], 1; " \
    "mad.lo.u32 %r43, %r40, 16, %r42; st.shared.v4.b32 [%r43], {%r2, %r2, %r3, %r3}; fence.mbarrier_init.release.cluster; bar.sync 0; " \
    "@%p1 mbarrier.arrive.expect_tx.shared.b64 _, [%r41], " bytes "; "
#define MET \
    " wait: mbarrier.test_wait.parity.shared.b64 %p2, [%r41], 0; @!%p2 bra wait; ld.shared.v4.b32 {%r31, %r32, %r33, %r34}, [%r43]; mad.lo.u32 %r10, %r31, 31, %r32; " \
    "mad.lo.u32 %r10, %r10, 31, %r33; mad.lo.u32 %r10, %r10, 31, %r34;"
#define STORES "st.async.shared::cta.mbarrier::complete_tx::bytes."

static const struct gold_kernel others[] = {
    {"kernel.wmma_sums_of_f32", IN_INT, 'r',
     WARP_ROOM OTHER "wmma.load.c.sync.aligned.row.m8n8k32.shared.f32 {%f4, %f5}, [%r42], 12; "
                     "wmma.store.d.sync.aligned.col.m8n8k128.shared.f32 [%r45], {%f4, %f5};" FOLDED,
     TILE, .target = 80},
    {"kernel.wmma_sums_of_f32_by_columns", IN_INT, 'r',
     WARP_ROOM OTHER "wmma.load.c.sync.aligned.col.m8n8k128.shared.f32 {%f4, %f5}, [%r42]; "
                     "wmma.store.d.sync.aligned.row.m8n8k32.shared.f32 [%r45], {%f4, %f5}, 16;" FOLDED,
     TILE, .target = 80},
    {"kernel.wmma_sums_of_f32_in_lanes", IN_INT, 'r',
     WARP_ROOM
     "wmma.load.c.sync.aligned.row.m8n8k32.shared.f32 {%f4, %f5}, [%r42]; mov.b32 %r31, %f4; mov.b32 %r32, %f5; "
     "mad.lo.u32 %r10, %r31, 31, %r32;",
     TILE, .target = 80},
    {"kernel.mma_words_in_another_order", IN_INT, 'r',
     "mma.row.sync.col.aligned.m8n8k16.s32.u8.s8.s32 {%r31, %r32}, {%r1}, {%r2}, {%r3, %r0}; mad.lo.u32 %r10, %r31, 31, %r32;",
     .target = 80},
    {"kernel.st_async_own", IN_INT, 'r', BAR("1024") STORES "u32 [%r43], %r1, [%r41];" MET, MEETING, .target = 90,
     .version = 81},
    {"kernel.st_async_own_pair_in_a_cluster", IN_INT, 'r',
     BAR("4096") STORES "v2.s64 [%r43], {%rd11, %rd12}, [%r41];" MET, MEETING, .target = 90, .version = 81,
     .directives = ".reqnctapercluster 1"},
    {"kernel.st_async_in_a_cluster", IN_INT, 'r',
     BAR("1024") "st.async.shared::cluster.mbarrier::complete_tx::bytes.u32 [%r43], %r1, [%r41];" MET, MEETING,
     .target = 90, .version = 81, .directives = ".reqnctapercluster 1"},
    {"kernel.st_async_own_in_a_cluster", IN_INT, 'r', BAR("1024") STORES "u32 [%r43], %r1, [%r41];" MET, MEETING,
     .target = 90, .version = 81, .directives = ".reqnctapercluster 1"},
    {"kernel.st_async_own_vector_in_a_cluster", IN_INT, 'r',
     BAR("4096") "mov.b32 %f4, %r1; mov.b32 %f5, %r2; mov.b32 %f6, %r0; "
                 "st.async.weak.shared::cta.mbarrier::complete_tx::bytes.v4.f32 [%r43], {%f4, %f5, %f6, %f4}, [%r41];" MET,
     MEETING, .target = 90, .version = 81, .directives = ".reqnctapercluster 1"},
    {"kernel.red_async_s64_in_a_cluster", IN_INT, 'r',
     BAR("2048") "red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.add.s64 [%r43], %rd11, [%r41];" MET,
     MEETING, .target = 90, .version = 81, .directives = ".reqnctapercluster 1"},
    {"kernel.st_async_mapped", IN_INT, 'r',
     BAR("1024") "mapa.shared::cluster.u32 %r44, %r43, 0; mapa.shared::cluster.u32 %r45, %r41, 0; "
                 "st.async.shared::cluster.mbarrier::complete_tx::bytes.u32 [%r44], %r1, [%r45];" MET,
     MEETING, .target = 90, .version = 81},
    {"kernel.red_async_mapped", IN_INT, 'r',
     BAR("2048") "mapa.shared::cluster.u32 %r44, %r43, 0; mapa.shared::cluster.u32 %r45, %r41, 0; "
                 "red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.add.u64 [%r44], %rd11, [%r45];" MET,
     MEETING, .target = 90, .version = 81},
};
KERNELS(others);

/* Elements of arrays at an index in a register: what is loaded, and how far behind the array an element's address is.
 */
#define ARRAYS \
    ".global .align 8 .b32 words[8] = {10, 11, 12, 13, 14, 15, 16, 17};\n.global .align 8 .b64 longs[8] = {20, 21, 22, 23, 24, 25, 26, 27};\n.shared .align 8 .b32 tile[256];\n" \
    ".const .align 8 .b32 fixed[8] = {30, 31, 32, 33, 34, 35, 36, 37};\n.global .align 16 .v4 .b32 fours[8];\n"

static const struct gold_kernel elements[] = {
    {"kernel.element_global", IN_INT, 'r',
     "and.b32 %r4, %r1, 7; ld.global.u32 %r5, words[%r4]; ld.global.u32 %r6, longs[%r4]; mad.lo.u32 %r10, %r5, 100, %r6;",
     ARRAYS},
    {"kernel.element_const", IN_INT, 'r',
     "and.b32 %r4, %r1, 3; ld.const.u32 %r5, fixed[%r4+4]; ld.const.u32 %r6, fixed[%r4]; mad.lo.u32 %r10, %r5, 100, %r6;",
     ARRAYS},
    {"kernel.element_shared", IN_INT, 'r',
     "mov.u32 %r4, %tid.x; st.shared.u32 tile[%r4], %r1; bar.sync 0; xor.b32 %r5, %r4, 85; ld.shared.u32 %r10, tile[%r5];",
     ARRAYS},
    {"kernel.element_local", IN_INT, 'r',
     ".local .align 8 .b32 own[8]; mov.u32 %r4, 0; next: mul.lo.u32 %r5, %r4, %r2; st.local.u32 own[%r4], %r5; add.u32 %r4, %r4, 1; setp.lt.u32 %p1, %r4, 8; "
     "@%p1 bra next; and.b32 %r6, %r1, 7; sub.u32 %r7, 0, %r6; ld.local.u32 %r8, own[%r6]; ld.local.u32 %r9, own[%r7+7]; mad.lo.u32 %r10, %r8, 31, %r9;",
     ARRAYS},
    {"kernel.element_far", IN_INT, 'x',
     "mov.u64 %rd14, words; mov.u64 %rd15, words[%r1+3]; sub.u64 %rd10, %rd15, %rd14;", ARRAYS},
    {"kernel.element_far_by_64_bits", IN_INT, 'x',
     "mov.u64 %rd14, longs; mov.u64 %rd15, longs[%rd11+-1]; sub.u64 %rd10, %rd15, %rd14;", ARRAYS},
    {"kernel.element_of_vectors", IN_INT, 'x',
     "mov.u64 %rd14, fours; mov.u64 %rd15, fours[%r1+1]; mov.u64 %rd16, fours[-2]; sub.u64 %rd15, %rd15, %rd14; sub.u64 %rd16, %rd16, %rd14; "
     "mad.lo.u64 %rd10, %rd15, 31, %rd16;",
     ARRAYS},
};
KERNELS(elements);
