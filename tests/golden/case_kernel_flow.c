/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Control flow: divergence, loops, calls, recursion, barriers wherever the
 * language allows them, and lanes that wait for one another.
 */
#include "gold_kernel.h"

#define SHARED ".shared .align 16 .b8 shared_room[8192];\n"

/* Two steps of the 3n+1 sequence's length; recursion in the plainest form. */
#define FACTORIAL \
    ".visible .func (.reg .b32 %out) factorial(.reg .b32 %n)\n" \
    "{\n" \
    "    .reg .pred %p<2>;\n    .reg .b32 %r<4>;\n" \
    "    setp.gt.u32 %p0, %n, 1;\n    @%p0 bra deeper;\n    mov.u32 %out, 1;\n    ret;\n" \
    "deeper:\n    sub.u32 %r0, %n, 1;\n    call (%r1), factorial, (%r0);\n" \
    "    mul.lo.u32 %out, %r1, %n;\n    ret;\n}\n"

#define PARAM_FUNCTIONS \
    ".func (.param .b32 out) scale(.param .b32 a, .param .b64 b)\n" \
    "{\n    .reg .b32 %r<4>;\n    .reg .b64 %rd<3>;\n    ld.param.b32 %r0, [a];\n" \
    "    ld.param.b64 %rd0, [b];\n    cvt.u32.u64 %r1, %rd0;\n    mul.lo.u32 %r2, %r0, %r1;\n" \
    "    st.param.b32 [out], %r2;\n    ret;\n}\n" \
    ".func (.param .b32 out) shift(.param .b32 a, .param .b64 b)\n" \
    "{\n    .reg .b32 %r<4>;\n    .reg .b64 %rd<3>;\n    ld.param.b32 %r0, [a];\n" \
    "    ld.param.b64 %rd0, [b];\n    cvt.u32.u64 %r1, %rd0;\n    add.u32 %r2, %r0, %r1;\n" \
    "    st.param.b32 [out], %r2;\n    ret;\n}\n" \
    ".func (.param .align 8 .b8 out[16]) pair(.param .align 8 .b8 in[16])\n" \
    "{\n    .reg .b64 %rd<3>;\n    ld.param.b64 %rd0, [in];\n    ld.param.b64 %rd1, [in+8];\n" \
    "    st.param.b64 [out+8], %rd0;\n    st.param.b64 [out], %rd1;\n    ret;\n}\n"

static const struct gold_kernel flow[] = {
    {"kernel.if_else", IN_INT, 'r',
     "setp.lt.s32 %p1, %r1, %r2; @%p1 bra less; mul.lo.u32 %r10, %r1, 3; bra done;\n"
     "less: add.u32 %r10, %r2, 7;\n"
     "done:"},
    {"kernel.if_nested", IN_INT, 'r',
     "mov.u32 %r10, 0; and.b32 %r4, %r1, 1; setp.eq.u32 %p1, %r4, 0; and.b32 %r5, %r2, 2; setp.eq.u32 %p2, %r5, 0; "
     "@%p1 bra even; @%p2 bra odd_low; mov.u32 %r10, 1; bra done;\n"
     "odd_low: mov.u32 %r10, 2; bra done;\n"
     "even: @%p2 bra even_low; mov.u32 %r10, 3; bra done;\n"
     "even_low: mov.u32 %r10, 4;\n"
     "done: add.u32 %r10, %r10, %r3;"},
    {"kernel.loop_by_lane", IN_INDEX, 'r',
     "mov.u32 %r10, 0; and.b32 %r4, %r0, 63;\n"
     "again: setp.eq.u32 %p1, %r4, 0; @%p1 bra done; mad.lo.u32 %r10, %r10, 31, %r4; sub.u32 %r4, %r4, 1; bra again;\n"
     "done:"},
    {"kernel.loop_three_n_plus_one", IN_INDEX, 'r',
     "mov.u32 %r10, 0; add.u32 %r4, %r0, 1;\n"
     "again: setp.le.u32 %p1, %r4, 1; @%p1 bra done; and.b32 %r5, %r4, 1; setp.eq.u32 %p2, %r5, 0; "
     "add.u32 %r10, %r10, 1; @%p2 bra even; mad.lo.u32 %r4, %r4, 3, 1; bra again;\n"
     "even: shr.u32 %r4, %r4, 1; bra again;\n"
     "done:"},
    {"kernel.loop_nested_with_break", IN_INDEX, 'r',
     "mov.u32 %r10, 0; mov.u32 %r4, 0; and.b32 %r7, %r0, 15;\n"
     "outer: setp.ge.u32 %p1, %r4, 10; @%p1 bra done; mov.u32 %r5, 0;\n"
     "inner: setp.ge.u32 %p2, %r5, %r7; @%p2 bra next; add.u32 %r6, %r4, %r5; setp.eq.u32 %p3, %r6, 12; @%p3 bra done; "
     "mad.lo.u32 %r10, %r10, 5, %r6; add.u32 %r5, %r5, 1; bra inner;\n"
     "next: add.u32 %r4, %r4, 1; bra outer;\n"
     "done:"},
    {"kernel.irreducible", IN_INDEX, 'r',
     /* Odd lanes enter the loop in its middle. */
     "mov.u32 %r10, 1; mov.u32 %r4, 0; and.b32 %r5, %r0, 1; setp.eq.u32 %p1, %r5, 1; @%p1 bra middle;\n"
     "top: mad.lo.u32 %r10, %r10, 3, 1;\n"
     "middle: mad.lo.u32 %r10, %r10, 5, 2; add.u32 %r4, %r4, 1; and.b32 %r6, %r0, 7; setp.lt.u32 %p2, %r4, %r6; "
     "@%p2 bra top;"},
    {"kernel.early_return", IN_INDEX, 'r',
     "st.global.u32 [%rd1], 5; and.b32 %r4, %r0, 3; setp.eq.u32 %p1, %r4, 1; @%p1 ret; setp.eq.u32 %p2, %r4, 2; "
     "@%p2 exit; mov.u32 %r10, %r0;"},
    {"kernel.branch_table", IN_INDEX, 'r',
     "and.b32 %r4, %r0, 3; ts: .branchtargets zero, one, two, three; brx.idx %r4, ts;\n"
     "zero: mov.u32 %r10, 100; bra done;\n"
     "one: mov.u32 %r10, %r1; bra done;\n"
     "two: mul.lo.u32 %r10, %r0, %r0; bra done;\n"
     "three: mov.u32 %r10, 3;\n"
     "done:"},
    {"kernel.branch_table_range", IN_INDEX, 'r',
     "rem.u32 %r4, %r0, 5; ts: .branchtargets last, part<3>, part1; brx.idx %r4, ts;\n"
     "part2: mov.u32 %r10, 100; bra done;\n"
     "part0: mov.u32 %r10, %r1; bra done;\n"
     "last: mul.lo.u32 %r10, %r0, %r0; bra done;\n"
     "part1: mov.u32 %r10, 3;\n"
     "done:"},
    {"kernel.uniform_branch", IN_INDEX, 'r',
     "mov.u32 %r4, %ctaid.x; setp.gt.u32 %p1, %r4, 1; @%p1 bra.uni high; mov.u32 %r10, 11; bra.uni done;\n"
     "high: mov.u32 %r10, 22;\n"
     "done:"},
    {"kernel.call_param", IN_INT, 'r',
     "{ .param .b32 a0; .param .b64 b0; .param .b32 o0; st.param.b32 [a0], %r1; st.param.b64 [b0], %rd12; "
     "call.uni (o0), scale, (a0, b0); ld.param.b32 %r10, [o0]; }",
     PARAM_FUNCTIONS},
    {"kernel.call_struct", IN_INT, 'x',
     "{ .param .align 8 .b8 i0[16]; .param .align 8 .b8 o0[16]; st.param.b64 [i0], %rd11; st.param.b64 [i0+8], %rd12; "
     "call.uni (o0), pair, (i0); ld.param.b64 %rd14, [o0]; ld.param.b64 %rd15, [o0+8]; sub.u64 %rd10, %rd14, %rd15; }",
     PARAM_FUNCTIONS},
    {"kernel.call_in_branch", IN_INT, 'r',
     "mov.u32 %r10, 4; and.b32 %r4, %r0, 1; setp.eq.u32 %p1, %r4, 0; @%p1 bra done;\n"
     "{ .param .b32 a0; .param .b64 b0; .param .b32 o0; st.param.b32 [a0], %r1; st.param.b64 [b0], %rd12; "
     "call (o0), shift, (a0, b0); ld.param.b32 %r10, [o0]; }\n"
     "done:",
     PARAM_FUNCTIONS},
    {"kernel.call_indirect", IN_INT, 'r',
     "mov.u64 %rd14, scale; mov.u64 %rd15, shift; and.b32 %r4, %r0, 1; setp.eq.u32 %p1, %r4, 0; "
     "selp.b64 %rd16, %rd14, %rd15, %p1;\n"
     "{ .param .b32 a0; .param .b64 b0; .param .b32 o0; st.param.b32 [a0], %r1; st.param.b64 [b0], %rd12; "
     "proto: .callprototype (.param .b32 _) _ (.param .b32 _, .param .b64 _); "
     "call (o0), %rd16, (a0, b0), proto; ld.param.b32 %r10, [o0]; }",
     PARAM_FUNCTIONS},
    {"kernel.recursion", IN_INDEX, 'r', "and.b32 %r4, %r0, 15; call (%r10), factorial, (%r4);", FACTORIAL},
    /* ---- barriers ---- */
    {"kernel.barrier_loop", IN_INT, 'r',
     /* Sum of a block in shared memory, halving. */
     "mov.u64 %rd15, shared_room; mov.u32 %r4, %tid.x; mul.wide.u32 %rd16, %r4, 4; add.u64 %rd17, %rd15, %rd16; "
     "st.shared.u32 [%rd17], %r1; mov.u32 %r5, 128; bar.sync 0;\n"
     "again: setp.ge.u32 %p1, %r4, %r5; @%p1 bra skip; mul.wide.u32 %rd18, %r5, 4; add.u64 %rd19, %rd17, %rd18; "
     "ld.shared.u32 %r6, [%rd19]; ld.shared.u32 %r7, [%rd17]; add.u32 %r8, %r6, %r7; st.shared.u32 [%rd17], %r8;\n"
     "skip: bar.sync 0; shr.u32 %r5, %r5, 1; setp.ne.u32 %p2, %r5, 0; @%p2 bra again; ld.shared.u32 %r10, [%rd15];",
     SHARED},
    {"kernel.barrier_in_call", IN_INT, 'r',
     "mov.u64 %rd15, shared_room; mov.u32 %r4, %tid.x; mul.wide.u32 %rd16, %r4, 4; add.u64 %rd17, %rd15, %rd16; "
     "st.shared.u32 [%rd17], %r1; call meet; xor.b32 %r5, %r4, 255; mul.wide.u32 %rd18, %r5, 4; "
     "add.u64 %rd19, %rd15, %rd18; ld.shared.u32 %r10, [%rd19];",
     SHARED ".func meet()\n{\n    bar.sync 0;\n    ret;\n}\n"},
    {"kernel.barrier_in_uniform_branch", IN_INT, 'r',
     "mov.u64 %rd15, shared_room; mov.u32 %r4, %tid.x; mul.wide.u32 %rd16, %r4, 4; add.u64 %rd17, %rd15, %rd16; "
     "st.shared.u32 [%rd17], %r1; mov.u32 %r5, %ctaid.x; and.b32 %r6, %r5, 1; setp.eq.u32 %p1, %r6, 0; mov.u32 %r10, 9; "
     "@%p1 bra done; bar.sync 0; xor.b32 %r7, %r4, 64; mul.wide.u32 %rd18, %r7, 4; add.u64 %rd19, %rd15, %rd18; "
     "ld.shared.u32 %r10, [%rd19];\n"
     "done:",
     SHARED},
    {"kernel.barrier_after_returns", IN_INDEX, 'r',
     /* Warps that have left no longer count. */
     "mov.u32 %r4, %tid.x; setp.ge.u32 %p1, %r4, 128; mov.u32 %r10, 3; st.global.u32 [%rd1], 3; @%p1 exit; bar.sync 0; "
     "mov.u32 %r10, 8;"},
    {"kernel.barrier_red_popc", IN_INT, 'r', "setp.gt.s32 %p1, %r1, %r2; bar.red.popc.u32 %r10, 0, %p1;"},
    {"kernel.barrier_red_and_or", IN_INT, 'r',
     "setp.gt.s32 %p1, %r1, %r2; bar.red.or.pred %p2, 0, %p1; bar.red.and.pred %p3, 0, %p1; selp.u32 %r4, 1, 0, %p2; "
     "selp.u32 %r5, 2, 0, %p3; or.b32 %r10, %r4, %r5;"},
    {"kernel.barrier_named_subsets", IN_INT, 'r',
     /* Each half of the block meets at a barrier of its own. */
     "mov.u64 %rd15, shared_room; mov.u32 %r4, %tid.x; mul.wide.u32 %rd16, %r4, 4; add.u64 %rd17, %rd15, %rd16; "
     "st.shared.u32 [%rd17], %r1; shr.u32 %r5, %r4, 7; add.u32 %r6, %r5, 1; bar.sync %r6, 128; xor.b32 %r7, %r4, 127; "
     "mul.wide.u32 %rd18, %r7, 4; add.u64 %rd19, %rd15, %rd18; ld.shared.u32 %r10, [%rd19];",
     SHARED},
    {"kernel.barrier_arrive", IN_INT, 'r',
     /* The first half produces and goes on, the second consumes. */
     "mov.u64 %rd15, shared_room; mov.u32 %r4, %tid.x; mul.wide.u32 %rd16, %r4, 4; add.u64 %rd17, %rd15, %rd16; "
     "mov.u32 %r10, 1; setp.ge.u32 %p1, %r4, 128; @%p1 bra consume; st.shared.u32 [%rd17], %r1; membar.cta; "
     "bar.arrive 3, 256; bra done;\n"
     "consume: bar.sync 3, 256; ld.shared.u32 %r10, [%rd17+-512];\n"
     "done:",
     SHARED},
    {"kernel.barrier_many_times", IN_INDEX, 'r',
     "mov.u64 %rd15, shared_room; mov.u32 %r4, %tid.x; mul.wide.u32 %rd16, %r4, 4; add.u64 %rd17, %rd15, %rd16; "
     "add.u32 %r5, %r4, 1; and.b32 %r5, %r5, 255; mul.wide.u32 %rd18, %r5, 4; add.u64 %rd19, %rd15, %rd18; "
     "mov.u32 %r10, %r4; mov.u32 %r6, 0;\n"
     "again: st.shared.u32 [%rd17], %r10; bar.sync 0; ld.shared.u32 %r10, [%rd19]; bar.sync 0; add.u32 %r6, %r6, 1; "
     "setp.lt.u32 %p1, %r6, 100; @%p1 bra again;",
     SHARED},
    {"kernel.barrier_block_of_1024", IN_INT, 'r',
     "mov.u64 %rd15, shared_room; mov.u32 %r4, %tid.x; mul.wide.u32 %rd16, %r4, 4; add.u64 %rd17, %rd15, %rd16; "
     "st.shared.u32 [%rd17], %r1; bar.sync 0; xor.b32 %r5, %r4, 1023; mul.wide.u32 %rd18, %r5, 4; "
     "add.u64 %rd19, %rd15, %rd18; ld.shared.u32 %r10, [%rd19];",
     SHARED, .block = 1024},
    {"kernel.warp_barrier", IN_INT, 'r',
     "mov.u64 %rd15, shared_room; mov.u32 %r4, %tid.x; mul.wide.u32 %rd16, %r4, 4; add.u64 %rd17, %rd15, %rd16; "
     "st.shared.u32 [%rd17], %r1; bar.warp.sync -1; xor.b32 %r5, %r4, 31; mul.wide.u32 %rd18, %r5, 4; "
     "add.u64 %rd19, %rd15, %rd18; ld.shared.u32 %r10, [%rd19];",
     SHARED},
    /* ---- lanes that wait for lanes ---- */
    {"kernel.lock_within_warp", IN_INDEX, 'r',
     "again: atom.global.cas.b32 %r4, [%rd3], 0, 1; setp.ne.u32 %p1, %r4, 0; @%p1 bra again; membar.gl; "
     "ld.volatile.global.u32 %r5, [%rd3+4]; add.u32 %r6, %r5, 1; st.volatile.global.u32 [%rd3+4], %r6; membar.gl; "
     "atom.global.exch.b32 %r7, [%rd3], 0; mov.u32 %r10, 0;",
     .scratch_words = 2},
    {"kernel.lane_waits_for_neighbour", IN_INDEX, 'r',
     /* Lane 0 of each warp waits for a word that lane 31 stores. */
     "mov.u32 %r4, %laneid; shr.u32 %r5, %r0, 5; mul.wide.u32 %rd14, %r5, 4; add.u64 %rd15, %rd3, %rd14; mov.u32 %r10, 1; "
     "setp.eq.u32 %p1, %r4, 0; @%p1 bra wait; setp.eq.u32 %p2, %r4, 31; @%p2 st.volatile.global.u32 [%rd15], 7; bra done;\n"
     "wait: ld.volatile.global.u32 %r10, [%rd15]; setp.eq.u32 %p3, %r10, 0; @%p3 bra wait;\n"
     "done:",
     .scratch_words = 32},
    {"kernel.warp_waits_for_warp", IN_INDEX, 'r',
     "mov.u64 %rd15, shared_room; mov.u32 %r4, %tid.x; setp.eq.u32 %p1, %r4, 0; @%p1 st.volatile.shared.u32 [%rd15], 0; "
     "bar.sync 0; mov.u32 %r10, 2; setp.lt.u32 %p2, %r4, 32; @%p2 bra wait; setp.eq.u32 %p3, %r4, 255; "
     "@%p3 st.volatile.shared.u32 [%rd15], 9; bra done;\n"
     "wait: ld.volatile.shared.u32 %r10, [%rd15]; setp.eq.u32 %p4, %r10, 0; @%p4 bra wait;\n"
     "done:",
     SHARED},
};
KERNELS(flow);
