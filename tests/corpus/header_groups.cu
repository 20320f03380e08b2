/* SPDX-License-Identifier: Apache-2.0 */
/* The compiler's own <cooperative_groups.h>. */
#include <cooperative_groups.h>
#include "corpus.h"

namespace cg = cooperative_groups;

KERNEL(groups_block)
{
    __shared__ u32 s[CORPUS_BLOCK];
    cg::thread_block block = cg::this_thread_block();
    s[block.thread_rank()] = LOAD(u32, 0);
    block.sync();
    STORE(s[(block.thread_rank() + 17) % block.size()]);
}
KERNEL(groups_tile_reduce)
{
    cg::thread_block_tile<8> tile = cg::tiled_partition<8>(cg::this_thread_block());
    u32 sum = LOAD(u32, 0);
    for (u32 step = tile.size() / 2; step; step /= 2)
        sum += tile.shfl_down(sum, step);
    STORE(tile.thread_rank() == 0 ? sum : tile.meta_group_rank());
}
KERNEL(groups_tile_vote)
{
    cg::thread_block_tile<16> tile = cg::tiled_partition<16>(cg::this_thread_block());
    STORE(tile.ballot(LOAD(u32, 0) & 1) | tile.any(LOAD(u32, 0) == 7) << 20 | tile.all(LOAD(u32, 1) < 100000) << 21);
}
KERNEL(groups_tile_match)
{
    cg::thread_block_tile<32> tile = cg::tiled_partition<32>(cg::this_thread_block());
    STORE(tile.match_any(LOAD(u32, 0) % 3));
}
KERNEL(groups_coalesced)
{
    u32 r = 0;
    if (LOAD(u32, 0) & 1) {
        cg::coalesced_group here = cg::coalesced_threads();
        r = here.size() <= 32 ? here.shfl(7u, 0) : 0;
    }
    STORE(r);
}
