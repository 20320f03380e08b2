/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What lanes of a warp say to each other: shuffles, votes, matches, masks; and
 * the special registers that name a thread's place.
 */
#include "gold_kernel.h"

/* Adds 1000 where the shuffle's lane was in range, so that its predicate shows. */
#define SHOW_PREDICATE " selp.u32 %r9, 1000, 0, %p1; add.u32 %r10, %r8, %r9;"

#define TILES "mov.u32 %r20, %laneid; and.b32 %r21, %r20, 24; mov.u32 %r22, 255; shl.b32 %r22, %r22, %r21; "

static const struct gold_kernel warp[] = {
    {"kernel.shfl_idx", IN_SMALL, 'r', "shfl.sync.idx.b32 %r8|%p1, %r0, %r3, 31, -1;" SHOW_PREDICATE},
    {"kernel.shfl_idx_values", IN_SMALL, 'r', "shfl.sync.idx.b32 %r10, %r1, %r3, 31, -1;"},
    {"kernel.shfl_up", IN_INDEX, 'r', "shfl.sync.up.b32 %r8|%p1, %r0, 3, 0, -1;" SHOW_PREDICATE},
    {"kernel.shfl_down", IN_INDEX, 'r', "shfl.sync.down.b32 %r8|%p1, %r0, 5, 31, -1;" SHOW_PREDICATE},
    {"kernel.shfl_bfly", IN_INDEX, 'r', "shfl.sync.bfly.b32 %r8|%p1, %r0, 17, 31, -1;" SHOW_PREDICATE},
    {"kernel.shfl_idx_width8", IN_SMALL, 'r', "shfl.sync.idx.b32 %r8|%p1, %r0, %r3, 0x181f, -1;" SHOW_PREDICATE},
    {"kernel.shfl_up_width8", IN_INDEX, 'r', "shfl.sync.up.b32 %r8|%p1, %r0, 3, 0x1800, -1;" SHOW_PREDICATE},
    {"kernel.shfl_down_width16", IN_INDEX, 'r', "shfl.sync.down.b32 %r8|%p1, %r0, 9, 0x101f, -1;" SHOW_PREDICATE},
    {"kernel.shfl_bfly_width4", IN_INDEX, 'r', "shfl.sync.bfly.b32 %r8|%p1, %r0, 6, 0x1c1f, -1;" SHOW_PREDICATE},
    {"kernel.shfl_down_varying", IN_SMALL, 'r', "shfl.sync.down.b32 %r8|%p1, %r0, %r3, 31, -1;" SHOW_PREDICATE},
    {"kernel.shfl_sum", IN_INT, 'r',
     "mov.u32 %r10, %r1; shfl.sync.bfly.b32 %r4, %r10, 16, 31, -1; add.u32 %r10, %r10, %r4; "
     "shfl.sync.bfly.b32 %r4, %r10, 8, 31, -1; add.u32 %r10, %r10, %r4; "
     "shfl.sync.bfly.b32 %r4, %r10, 4, 31, -1; add.u32 %r10, %r10, %r4; "
     "shfl.sync.bfly.b32 %r4, %r10, 2, 31, -1; add.u32 %r10, %r10, %r4; "
     "shfl.sync.bfly.b32 %r4, %r10, 1, 31, -1; add.u32 %r10, %r10, %r4;"},
    {"kernel.shfl_scan", IN_INT, 'r',
     "mov.u32 %r10, %r1; mov.u32 %r5, 1;\n"
     "again: shfl.sync.up.b32 %r4|%p1, %r10, %r5, 0, -1; @%p1 add.u32 %r10, %r10, %r4; shl.b32 %r5, %r5, 1; "
     "setp.lt.u32 %p2, %r5, 32; @%p2 bra again;"},
    {"kernel.shfl_in_half_warps", IN_INDEX, 'r',
     "mov.u32 %r4, %laneid; setp.lt.u32 %p2, %r4, 16; @%p2 bra low;\n"
     "    shfl.sync.bfly.b32 %r8, %r0, 1, 31, 0xffff0000; add.u32 %r10, %r8, 5000; bra done;\n"
     "low: shfl.sync.bfly.b32 %r8, %r0, 2, 31, 0x0000ffff; add.u32 %r10, %r8, 100;\n"
     "done:"},
    {"kernel.vote_all", IN_INT, 'r',
     "setp.ge.u32 %p1, %r1, 0; vote.sync.all.pred %p2, %p1, -1; setp.gt.u32 %p3, %r2, 40; "
     "vote.sync.all.pred %p4, %p3, -1; selp.u32 %r4, 1, 0, %p2; selp.u32 %r5, 2, 0, %p4; or.b32 %r10, %r4, %r5;"},
    {"kernel.vote_any", IN_INT, 'r',
     "setp.eq.u32 %p1, %r1, 33; vote.sync.any.pred %p2, %p1, -1; setp.eq.u32 %p3, %r2, 40; "
     "vote.sync.any.pred %p4, %p3, -1; selp.u32 %r4, 1, 0, %p2; selp.u32 %r5, 2, 0, %p4; or.b32 %r10, %r4, %r5;"},
    {"kernel.vote_uni", IN_INT, 'r',
     "setp.eq.u32 %p1, %r2, 33; vote.sync.uni.pred %p2, %p1, -1; selp.u32 %r10, 1, 0, %p2;"},
    {"kernel.vote_ballot", IN_INT, 'r', "setp.gt.s32 %p1, %r1, %r2; vote.sync.ballot.b32 %r10, %p1, -1;"},
    {"kernel.vote_ballot_negated", IN_INT, 'r', "setp.gt.s32 %p1, %r1, %r2; vote.sync.ballot.b32 %r10, !%p1, -1;"},
    {"kernel.vote_in_branch", IN_INDEX, 'r',
     "mov.u32 %r4, %laneid; and.b32 %r5, %r4, 3; setp.ne.u32 %p2, %r5, 0; mov.u32 %r10, 7; @%p2 bra done;\n"
     "    and.b32 %r6, %r4, 4; setp.ne.u32 %p1, %r6, 0; vote.sync.ballot.b32 %r10, %p1, 0x11111111;\n"
     "done:"},
    /* Member masks that differ from lane to lane: tiles of 8 lanes. */
    {"kernel.tiles_redux_add", IN_INT, 'r', TILES "redux.sync.add.u32 %r10, %r1, %r22;", .target = 80},
    {"kernel.tiles_redux_min", IN_INT, 'r', TILES "redux.sync.min.s32 %r10, %r1, %r22;", .target = 80},
    {"kernel.tiles_ballot", IN_INT, 'r', TILES "setp.gt.s32 %p1, %r1, %r2; vote.sync.ballot.b32 %r10, %p1, %r22;"},
    {"kernel.tiles_any", IN_INT, 'r',
     TILES "setp.eq.u32 %p1, %r20, 13; vote.sync.any.pred %p2, %p1, %r22; selp.u32 %r10, 1, 0, %p2;"},
    {"kernel.tiles_match_any", IN_SMALL, 'r', TILES "and.b32 %r4, %r3, 3; match.any.sync.b32 %r10, %r4, %r22;"},
    {"kernel.tiles_match_all", IN_INT, 'r',
     TILES
     "shr.u32 %r4, %r20, 4; mul.lo.u32 %r4, %r4, %r20; match.all.sync.b32 %r5|%p1, %r4, %r22; selp.u32 %r6, 1, 0, %p1; "
     "xor.b32 %r10, %r5, %r6;"},
    {"kernel.tiles_shfl", IN_INT, 'r', TILES "shfl.sync.down.b32 %r10|%p1, %r1, 3, 0x181f, %r22;"},
    {"kernel.redux_add", IN_INT, 'r', "redux.sync.add.s32 %r10, %r1, -1;", .target = 80},
    {"kernel.redux_max", IN_INT, 'r', "redux.sync.max.u32 %r10, %r1, -1;", .target = 80},
    {"kernel.redux_xor", IN_INT, 'r', "redux.sync.xor.b32 %r10, %r1, -1;", .target = 80},
    {"kernel.match_any_b32", IN_SMALL, 'r', "and.b32 %r4, %r3, 7; match.any.sync.b32 %r10, %r4, -1;"},
    {"kernel.match_any_b64", IN_SMALL, 'r',
     "and.b32 %r4, %r3, 3; cvt.u64.u32 %rd14, %r4; shl.b64 %rd14, %rd14, 40; match.any.sync.b64 %r10, %rd14, -1;"},
    {"kernel.match_all_b32", IN_INT, 'r',
     "match.all.sync.b32 %r4|%p1, %r2, -1; selp.u32 %r5, 1, 0, %p1; xor.b32 %r10, %r4, %r5;"},
    {"kernel.activemask_converged", IN_INDEX, 'r', "bar.warp.sync -1; activemask.b32 %r10;"},
    {"kernel.lanemasks", IN_INDEX, 'r',
     "mov.u32 %r4, %lanemask_eq; mov.u32 %r5, %lanemask_le; mov.u32 %r6, %lanemask_lt; mov.u32 %r7, %lanemask_ge; "
     "mov.u32 %r8, %lanemask_gt; mad.lo.u32 %r10, %r4, 3, %r5; mad.lo.u32 %r10, %r10, 3, %r6; "
     "mad.lo.u32 %r10, %r10, 3, %r7; mad.lo.u32 %r10, %r10, 3, %r8;"},
    {"kernel.laneid_and_warp", IN_INDEX, 'r',
     "mov.u32 %r4, %laneid; mov.u32 %r5, %tid.x; shr.u32 %r6, %r5, 5; mad.lo.u32 %r10, %r6, 100, %r4;"},
    {"kernel.warp_size", IN_INDEX, 'r', "mov.u32 %r10, WARP_SZ;"},
    {"kernel.shape_registers", IN_INDEX, 'r',
     "mov.u32 %r4, %ntid.x; mov.u32 %r5, %nctaid.x; mov.u32 %r6, %ntid.y; mov.u32 %r7, %nctaid.z; "
     "mov.u32 %r8, %ctaid.x; mad.lo.u32 %r10, %r4, 7, %r5; mad.lo.u32 %r10, %r10, 7, %r6; "
     "mad.lo.u32 %r10, %r10, 7, %r7; mad.lo.u32 %r10, %r10, 7, %r8;",
     .block = 128},
    {"kernel.short_warp", IN_INDEX, 'r',
     "mov.u32 %r4, %laneid; setp.lt.u32 %p1, %r4, 100; vote.sync.ballot.b32 %r10, %p1, 0xffff;", .block = 16},
    {"kernel.clock_moves_on", IN_INDEX, 'r',
     "mov.u64 %rd14, %clock64; membar.cta; mov.u64 %rd15, %clock64; setp.ge.u64 %p1, %rd15, %rd14; "
     "mov.u64 %rd16, %globaltimer; setp.gt.u64 %p2, %rd16, 0; selp.u32 %r4, 1, 0, %p1; selp.u32 %r5, 2, 0, %p2; "
     "or.b32 %r10, %r4, %r5;"},
    {"kernel.nanosleep", IN_INDEX, 'r', "nanosleep.u32 100; mov.u32 %r10, 4;"},
    {"kernel.dynamic_shared_size", IN_INDEX, 'r', "mov.u32 %r10, %dynamic_smem_size;", .dynamic_shared = 512},
    /* Masks that lack the caller or most of the lanes that are there. */
    {"kernel.mask_without_caller_ballot", IN_INT, 'r',
     "setp.gt.s32 %p1, %r1, %r2; vote.sync.ballot.b32 %r10, %p1, 0xfffffffe;"},
    {"kernel.mask_of_odd_lanes_ballot", IN_INT, 'r',
     "mov.u32 %r4, %laneid; and.b32 %r5, %r4, 2; setp.ne.u32 %p1, %r5, 0; vote.sync.ballot.b32 %r10, %p1, 0xaaaaaaaa;"},
    {"kernel.mask_of_one_ballot", IN_INT, 'r', "setp.gt.s32 %p1, %r1, %r2; vote.sync.ballot.b32 %r10, %p1, 2;"},
    {"kernel.mask_of_none_ballot", IN_INT, 'r', "setp.gt.s32 %p1, %r1, %r2; vote.sync.ballot.b32 %r10, %p1, 0;"},
    {"kernel.mask_in_register_ballot", IN_INT, 'r',
     "mov.u32 %r5, %ctaid.x; add.u32 %r5, %r5, 1; setp.gt.s32 %p1, %r1, %r2; vote.sync.ballot.b32 %r10, %p1, %r5;"},
    {"kernel.mask_without_caller_any", IN_INT, 'r',
     "mov.u32 %r4, %laneid; setp.eq.u32 %p1, %r4, 0; vote.sync.any.pred %p2, %p1, 0xfffffffe; setp.ne.u32 %p3, %r4, 0; "
     "vote.sync.all.pred %p4, %p3, 0xfffffffe; vote.sync.uni.pred %p5, %p3, 0xfffffffe; selp.u32 %r4, 1, 0, %p2; "
     "selp.u32 %r5, 2, 0, %p4; or.b32 %r10, %r4, %r5; selp.u32 %r4, 4, 0, %p5; or.b32 %r10, %r10, %r4;"},
    {"kernel.mask_of_one_shfl_idx", IN_SMALL, 'r', "shfl.sync.idx.b32 %r8|%p1, %r0, %r3, 31, 2;" SHOW_PREDICATE},
    {"kernel.mask_of_one_shfl_down", IN_INDEX, 'r', "shfl.sync.down.b32 %r8|%p1, %r0, 5, 31, 2;" SHOW_PREDICATE},
    {"kernel.mask_of_one_match_any", IN_SMALL, 'r', "and.b32 %r4, %r3, 7; match.any.sync.b32 %r10, %r4, 2;"},
    {"kernel.mask_of_none_match_any", IN_SMALL, 'r', "and.b32 %r4, %r3, 7; match.any.sync.b32 %r10, %r4, 0;"},
    {"kernel.mask_of_one_match_all", IN_INT, 'r',
     "match.all.sync.b32 %r4|%p1, %r2, 2; selp.u32 %r5, 1, 0, %p1; xor.b32 %r10, %r4, %r5;"},
    {"kernel.mask_of_one_match_all_same", IN_INDEX, 'r',
     "mov.u32 %r4, %ctaid.x; match.all.sync.b32 %r4|%p1, %r4, 2; selp.u32 %r5, 1, 0, %p1; xor.b32 %r10, %r4, %r5;"},
    {"kernel.mask_of_one_redux_add", IN_INT, 'r', "redux.sync.add.u32 %r10, %r1, 2;", .target = 80},
    {"kernel.mask_of_one_bar_warp", IN_INDEX, 'r', "bar.warp.sync 2; activemask.b32 %r10;"},
};
KERNELS(warp);
