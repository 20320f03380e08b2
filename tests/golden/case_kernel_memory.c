/* SPDX-License-Identifier: Apache-2.0 */
/*
 * State spaces, access widths and atomics.
 *
 * Atomics leave their sum in scratch memory, whose final state does not depend
 * on the order of threads.
 */
#include "gold_kernel.h"

#define SHARED ".shared .align 16 .b8 shared_room[8192];\n"
#define TABLE ".const .align 4 .u32 primes[8] = {2, 3, 5, 7, 11, 13, 17, 19};\n"

/* %rd14 = the address of thread's own 16 bytes of scratch (only 1024 threads x 16 = 16 KiB). */
#define OWN_SCRATCH "mul.wide.u32 %rd14, %r0, 16; add.u64 %rd14, %rd3, %rd14; "

static const struct gold_kernel memory[] = {
    {"kernel.ld_u8_s8", IN_INT, 'r',
     "ld.global.u8 %r4, [%rd2+1]; ld.global.s8 %r5, [%rd2+3]; mad.lo.u32 %r10, %r4, 1000, %r5;"},
    {"kernel.ld_u16_s16", IN_INT, 'r',
     "ld.global.u16 %r4, [%rd2]; ld.global.s16 %r5, [%rd2+10]; mad.lo.u32 %r10, %r4, 3, %r5;"},
    {"kernel.ld_s32_into_64", IN_INT, 'x', "ld.global.s32 %rd10, [%rd2];"},
    {"kernel.ld_b64_negative_offset", IN_INT, 'x', "add.u64 %rd14, %rd2, 64; ld.global.b64 %rd10, [%rd14+-64];"},
    {"kernel.ld_v2_u32", IN_INT, 'r', "ld.global.v2.u32 {%r4, %r5}, [%rd2+8]; xor.b32 %r10, %r4, %r5;"},
    {"kernel.ld_v4_u32", IN_INT, 'r',
     "ld.global.v4.u32 {%r4, %r5, %r6, %r7}, [%rd2]; mad.lo.u32 %r8, %r4, 3, %r5; mad.lo.u32 %r9, %r8, 3, %r6; "
     "mad.lo.u32 %r10, %r9, 3, %r7;"},
    {"kernel.ld_v2_f64", IN_DOUBLE, 'd', "ld.global.v2.f64 {%d4, %d5}, [%rd2]; add.rn.f64 %d10, %d4, %d5;"},
    {"kernel.ld_v4_u8", IN_INT, 'r',
     "ld.global.v4.u8 {%h4, %h5, %h6, %h7}, [%rd2]; mad.lo.u16 %h8, %h4, 3, %h5; mad.lo.u16 %h8, %h8, 3, %h6; "
     "mad.lo.u16 %h8, %h8, 3, %h7; cvt.u32.u16 %r10, %h8;"},
    {"kernel.ld_nc_and_cache", IN_INT, 'r',
     "ld.global.nc.u32 %r4, [%rd2]; ld.global.ca.u32 %r5, [%rd2+8]; ld.global.cg.u32 %r6, [%rd2+16]; "
     "xor.b32 %r10, %r4, %r5; xor.b32 %r10, %r10, %r6;"},
    {"kernel.ld_st_order", IN_INT, 'r',
     OWN_SCRATCH
     "st.relaxed.gpu.global.u32 [%rd14], %r1; ld.relaxed.gpu.global.u32 %r4, [%rd14]; "
     "st.release.gpu.global.u32 [%rd14+4], %r2; ld.acquire.gpu.global.u32 %r5, [%rd14+4]; fence.acq_rel.gpu; "
     "membar.gl; sub.u32 %r10, %r4, %r5;",
     .scratch_words = 4096},
    {"kernel.st_u8_u16", IN_INT, 'r',
     OWN_SCRATCH "st.global.u8 [%rd14+1], %r1; st.global.u16 [%rd14+6], %r2; ld.global.u32 %r10, [%rd14];",
     .scratch_words = 4096},
    {"kernel.st_v4_u32", IN_INT, 'r', OWN_SCRATCH "st.global.v4.u32 [%rd14], {%r1, %r2, %r3, %r0}; mov.u32 %r10, 1;",
     .scratch_words = 4096},
    {"kernel.st_v2_b64", IN_INT, 'r', OWN_SCRATCH "st.global.v2.b64 [%rd14], {%rd11, %rd12}; mov.u32 %r10, 1;",
     .scratch_words = 4096},
    {"kernel.generic_global", IN_INT, 'r',
     OWN_SCRATCH
     "cvta.global.u64 %rd15, %rd14; st.u32 [%rd15], %r1; ld.u32 %r4, [%rd15]; isspacep.global %p1, %rd15; "
     "isspacep.shared %p2, %rd15; selp.u32 %r5, 1, 0, %p1; selp.u32 %r6, 2, 0, %p2; add.u32 %r10, %r4, %r5; "
     "add.u32 %r10, %r10, %r6;"},
    {"kernel.generic_shared", IN_INT, 'r',
     "mov.u64 %rd15, shared_room; mov.u32 %r4, %tid.x; mul.wide.u32 %rd16, %r4, 8; add.u64 %rd15, %rd15, %rd16; "
     "st.shared.u32 [%rd15], %r1; cvta.shared.u64 %rd17, %rd15; ld.u32 %r5, [%rd17]; st.u32 [%rd17+4], %r2; "
     "ld.shared.u32 %r6, [%rd15+4]; isspacep.shared %p1, %rd17; selp.u32 %r7, 1, 0, %p1; mad.lo.u32 %r10, %r5, 3, %r6; "
     "add.u32 %r10, %r10, %r7;",
     SHARED},
    {"kernel.generic_local", IN_INT, 'r',
     ".local .align 8 .b8 room[64]; mov.u64 %rd15, room; cvta.local.u64 %rd16, %rd15; and.b32 %r4, %r3, 15; "
     "mul.wide.u32 %rd17, %r4, 4; add.u64 %rd18, %rd16, %rd17; mov.u32 %r5, 0; st.local.v2.u32 [%rd15], {%r5, %r5}; "
     "st.local.v2.u32 [%rd15+8], {%r1, %r2}; add.u64 %rd19, %rd15, 8; st.u32 [%rd18], %r1; ld.local.u32 %r6, [%rd19]; "
     "add.u64 %rd20, %rd15, %rd17; ld.local.u32 %r7, [%rd20]; add.u32 %r10, %r6, %r7;"},
    {"kernel.local_array", IN_INT, 'r',
     ".local .align 4 .b8 room[128]; mov.u64 %rd15, room; mov.u32 %r4, 0;\n"
     "fill: mul.wide.u32 %rd16, %r4, 4; add.u64 %rd17, %rd15, %rd16; mad.lo.u32 %r5, %r4, %r1, %r2; "
     "st.local.u32 [%rd17], %r5; add.u32 %r4, %r4, 1; setp.lt.u32 %p1, %r4, 32; @%p1 bra fill; "
     "and.b32 %r6, %r3, 31; mul.wide.u32 %rd16, %r6, 4; add.u64 %rd17, %rd15, %rd16; ld.local.u32 %r10, [%rd17];"},
    {"kernel.const_array", IN_INT, 'r',
     "mov.u64 %rd15, primes; and.b32 %r4, %r1, 7; mul.wide.u32 %rd16, %r4, 4; add.u64 %rd17, %rd15, %rd16; "
     "ld.const.u32 %r5, [%rd17]; ld.const.u32 %r6, [primes+12]; cvta.const.u64 %rd18, %rd17; ld.u32 %r7, [%rd18]; "
     "mad.lo.u32 %r10, %r5, 100, %r6; add.u32 %r10, %r10, %r7;",
     TABLE},
    {"kernel.global_initialised", IN_INDEX, 'x',
     "ld.global.u8 %r4, [bytes+2]; ld.global.s16 %r5, [shorts+2]; ld.global.f64 %d4, [one]; ld.global.u64 %rd14, [where]; "
     "ld.u32 %r6, [%rd14]; cvt.rzi.u32.f64 %r7, %d4; mad.lo.u32 %r8, %r4, 3, %r5; mad.lo.u32 %r8, %r8, 3, %r6; "
     "mad.lo.u32 %r8, %r8, 3, %r7; cvt.u64.u32 %rd10, %r8;",
     ".global .align 1 .b8 bytes[4] = {1, 2, 200, 4};\n.global .align 2 .s16 shorts[2] = {5, -6};\n"
     ".global .align 8 .f64 one = 0d3FF8000000000000;\n.global .align 4 .u32 there = 77;\n"
     ".global .align 8 .u64 where = generic(there);\n"},
    {"kernel.shared_exchange", IN_INT, 'r',
     "mov.u64 %rd15, shared_room; mov.u32 %r4, %tid.x; mul.wide.u32 %rd16, %r4, 4; add.u64 %rd17, %rd15, %rd16; "
     "st.shared.u32 [%rd17], %r1; bar.sync 0; xor.b32 %r5, %r4, 85; mul.wide.u32 %rd18, %r5, 4; "
     "add.u64 %rd19, %rd15, %rd18; ld.shared.u32 %r10, [%rd19];",
     SHARED},
    {"kernel.shared_vectors", IN_INT, 'r',
     "mov.u64 %rd15, shared_room; mov.u32 %r4, %tid.x; mul.wide.u32 %rd16, %r4, 16; add.u64 %rd17, %rd15, %rd16; "
     "st.shared.v4.u32 [%rd17], {%r1, %r2, %r3, %r4}; bar.sync 0; xor.b32 %r5, %r4, 1; mul.wide.u32 %rd18, %r5, 16; "
     "add.u64 %rd19, %rd15, %rd18; ld.shared.v4.u32 {%r6, %r7, %r8, %r9}, [%rd19]; mad.lo.u32 %r10, %r6, 3, %r7; "
     "mad.lo.u32 %r10, %r10, 3, %r8; mad.lo.u32 %r10, %r10, 3, %r9;",
     SHARED},
    {"kernel.dynamic_shared", IN_INT, 'r',
     "mov.u64 %rd15, dynamic_room; mov.u32 %r4, %tid.x; mul.wide.u32 %rd16, %r4, 4; add.u64 %rd17, %rd15, %rd16; "
     "st.shared.u32 [%rd17], %r2; bar.sync 0; xor.b32 %r5, %r4, 200; mul.wide.u32 %rd18, %r5, 4; "
     "add.u64 %rd19, %rd15, %rd18; ld.shared.u32 %r10, [%rd19];",
     ".extern .shared .align 16 .b8 dynamic_room[];\n", .dynamic_shared = 1024},
    {"kernel.static_and_dynamic_shared", IN_INT, 'r',
     "mov.u64 %rd15, dynamic_room; mov.u64 %rd16, shared_room; mov.u32 %r4, %tid.x; mul.wide.u32 %rd17, %r4, 4; "
     "add.u64 %rd18, %rd15, %rd17; add.u64 %rd19, %rd16, %rd17; st.shared.u32 [%rd18], %r1; st.shared.u32 [%rd19], %r2; "
     "bar.sync 0; ld.shared.u32 %r5, [%rd18]; ld.shared.u32 %r6, [%rd19]; sub.u32 %r10, %r5, %r6;",
     SHARED ".extern .shared .align 16 .b8 dynamic_room[];\n", .dynamic_shared = 1024},
    /* ---- atomics in global memory ---- */
    {"kernel.atom_add_u32", IN_INT, 'r', "atom.global.add.u32 %r4, [%rd3], %r1; mov.u32 %r10, 0;", .scratch_words = 1},
    {"kernel.atom_add_returns_old", IN_INDEX, 'r',
     /* Every old value is claimed by exactly one thread. */
     "atom.global.add.u32 %r4, [%rd3], 1; mul.wide.u32 %rd14, %r4, 4; add.u64 %rd15, %rd3, %rd14; "
     "red.global.add.u32 [%rd15+4], 1; mov.u32 %r10, 0;",
     .scratch_words = 1025},
    {"kernel.red_add_many_places", IN_INT, 'r',
     "and.b32 %r4, %r3, 63; mul.wide.u32 %rd14, %r4, 4; add.u64 %rd15, %rd3, %rd14; red.global.add.u32 [%rd15], %r1; "
     "mov.u32 %r10, 0;",
     .scratch_words = 64},
    {"kernel.atom_add_u64", IN_INT, 'r', "red.global.add.u64 [%rd3], %rd11; mov.u32 %r10, 0;", .scratch_words = 2},
    {"kernel.atom_add_f32", IN_INDEX, 'r',
     "cvt.rn.f32.u32 %f4, %r0; atom.global.add.f32 %f5, [%rd3], %f4; mov.u32 %r10, 0;", .scratch_words = 1},
    {"kernel.atom_add_f64", IN_INDEX, 'r',
     "cvt.rn.f64.u32 %d4, %r0; atom.global.add.f64 %d5, [%rd3], %d4; mov.u32 %r10, 0;", .scratch_words = 2},
    {"kernel.atom_min_max_s32", IN_INT, 'r',
     "atom.global.min.s32 %r4, [%rd3], %r1; atom.global.max.s32 %r4, [%rd3+4], %r1; mov.u32 %r10, 0;",
     .scratch_words = 2},
    {"kernel.atom_min_max_u32", IN_INT, 'r',
     "not.b32 %r5, %r1; red.global.min.u32 [%rd3], %r5; red.global.max.u32 [%rd3+4], %r2; mov.u32 %r10, 0;",
     .scratch_words = 2},
    {"kernel.atom_min_max_64", IN_INT, 'r',
     "atom.global.min.s64 %rd14, [%rd3], %rd11; atom.global.max.u64 %rd14, [%rd3+8], %rd11; mov.u32 %r10, 0;",
     .scratch_words = 4},
    {"kernel.atom_and_or_xor", IN_INT, 'r',
     "atom.global.or.b32 %r4, [%rd3], %r1; atom.global.xor.b32 %r4, [%rd3+4], %r2; "
     "atom.global.and.b32 %r4, [%rd3+8], %r1; red.global.xor.b64 [%rd3+16], %rd12; mov.u32 %r10, 0;",
     .scratch_words = 6},
    {"kernel.atom_inc", IN_INDEX, 'r', "atom.global.inc.u32 %r4, [%rd3], 99; mov.u32 %r10, 0;", .scratch_words = 1},
    {"kernel.atom_dec", IN_INDEX, 'r', "atom.global.dec.u32 %r4, [%rd3], 99; mov.u32 %r10, 0;", .scratch_words = 1},
    {"kernel.atom_exch", IN_INDEX, 'r',
     /* The sum of all values that came back, and of the last, is the sum of all put in. */
     "atom.global.exch.b32 %r4, [%rd3], %r0; red.global.add.u32 [%rd3+8], %r4; mov.u32 %r10, 0; "
     "membar.gl; setp.eq.u32 %p1, %r0, 9999; @%p1 st.global.u32 [%rd3+4], %r4; "
     "atom.global.exch.b64 %rd14, [%rd3+16], 5; atom.global.exch.b32 %r5, [%rd3], 0; red.global.add.u32 [%rd3+8], %r5;",
     .scratch_words = 6},
    {"kernel.atom_cas", IN_INDEX, 'r',
     "again: ld.volatile.global.u32 %r4, [%rd3]; add.u32 %r5, %r4, 3; atom.global.cas.b32 %r6, [%rd3], %r4, %r5; "
     "setp.ne.u32 %p1, %r6, %r4; @%p1 bra again; mov.u32 %r10, 0;",
     .scratch_words = 1},
    {"kernel.atom_cas_64", IN_INDEX, 'r',
     "again: ld.volatile.global.u64 %rd14, [%rd3]; add.u64 %rd15, %rd14, 0x100000001; "
     "atom.global.cas.b64 %rd16, [%rd3], %rd14, %rd15; setp.ne.u64 %p1, %rd16, %rd14; @%p1 bra again; mov.u32 %r10, 0;",
     .scratch_words = 2},
    {"kernel.atom_scopes", IN_INDEX, 'r',
     "atom.relaxed.gpu.global.add.u32 %r4, [%rd3], 1; atom.acq_rel.sys.global.add.u32 %r4, [%rd3+4], 2; "
     "red.release.gpu.global.add.u32 [%rd3+8], 3; mov.u32 %r10, 0;",
     .scratch_words = 3},
    {"kernel.atom_generic", IN_INDEX, 'r',
     "cvta.global.u64 %rd14, %rd3; atom.add.u32 %r4, [%rd14], 2; red.or.b32 [%rd14+4], %r0; mov.u32 %r10, 0;",
     .scratch_words = 2},
    /* ---- atomics in shared memory ---- */
    {"kernel.atom_shared_add", IN_INT, 'r',
     "mov.u64 %rd15, shared_room; mov.u32 %r4, %tid.x; setp.eq.u32 %p1, %r4, 0; @%p1 st.shared.u32 [%rd15], 0; "
     "bar.sync 0; atom.shared.add.u32 %r5, [%rd15], %r1; bar.sync 0; ld.shared.u32 %r10, [%rd15];",
     SHARED},
    {"kernel.atom_shared_histogram", IN_INT, 'r',
     "mov.u64 %rd15, shared_room; mov.u32 %r4, %tid.x; mul.wide.u32 %rd16, %r4, 4; add.u64 %rd17, %rd15, %rd16; "
     "st.shared.u32 [%rd17], 0; bar.sync 0; and.b32 %r5, %r1, 255; mul.wide.u32 %rd18, %r5, 4; "
     "add.u64 %rd19, %rd15, %rd18; red.shared.add.u32 [%rd19], 1; bar.sync 0; ld.shared.u32 %r10, [%rd17];",
     SHARED},
    {"kernel.atom_shared_max_f32_add", IN_INDEX, 'f',
     "mov.u64 %rd15, shared_room; mov.u32 %r4, %tid.x; setp.eq.u32 %p1, %r4, 0; @%p1 st.shared.u64 [%rd15], 0; "
     "bar.sync 0; cvt.rn.f32.u32 %f4, %r4; atom.shared.add.f32 %f5, [%rd15], %f4; "
     "atom.shared.max.u32 %r5, [%rd15+4], %r0; bar.sync 0; ld.shared.f32 %f6, [%rd15]; ld.shared.u32 %r6, [%rd15+4]; "
     "cvt.rn.f32.u32 %f7, %r6; add.rn.f32 %f10, %f6, %f7;",
     SHARED},
    {"kernel.atom_shared_cas", IN_INDEX, 'r',
     "mov.u64 %rd15, shared_room; mov.u32 %r4, %tid.x; setp.eq.u32 %p1, %r4, 0; @%p1 st.shared.u32 [%rd15], 0; "
     "bar.sync 0;\n"
     "again: ld.volatile.shared.u32 %r5, [%rd15]; add.u32 %r6, %r5, 2; atom.shared.cas.b32 %r7, [%rd15], %r5, %r6; "
     "setp.ne.u32 %p2, %r7, %r5; @%p2 bra again; bar.sync 0; ld.shared.u32 %r10, [%rd15];",
     SHARED},
};
KERNELS(memory);
