/* SPDX-License-Identifier: Apache-2.0 */
/* The line of the log about a launch that does nothing but wait, written by a thread that runs one of its blocks, from
 * inside of a waiting loop. */
#include "kernel/executor.h"

#include <stdio.h>

#include "base/log.h"

void mr_executor_tell(struct mr_executor *executor)
{
    struct mr_progress *progress = executor->progress;
    const struct mr_block *block = &executor->block;
    mr_lock_take(&progress->lock);
    bool wanted = (atomic_fetch_and_explicit(&progress->attention, ~(uint32_t)MR_ATTENTION_TELL, memory_order_relaxed) &
                   MR_ATTENTION_TELL) != 0;
    uint64_t blocks = progress->tell.blocks, tenths = progress->tell.ns / 100000000u;
    mr_lock_drop(&progress->lock);
    if (!wanted)
        return;
    uint32_t warp = executor->direct ? block->warp : executor->current, first = warp * MR_WARP_LANES;
    uint32_t going = (uint32_t)__builtin_popcount(executor->runnable), stopped = executor->unfinished - going;
    char line[40] = "", others[80] = "";
    if (block->service_line)
        snprintf(line, sizeof line, " at line %u of the PTX", block->service_line);
    if (executor->unfinished > 1)
        snprintf(others, sizeof others, "; %u more warps in loops, %u at barriers", going - 1, stopped);
    mr_log(
        MR_LOG_WARN,
        "kernel %s: no block has begun or ended for %llu.%llu s, and all that the %llu under way do is wait; block (%u,%u,%u), warp %u "
        "(from thread (%u,%u,%u) on): in a loop%s%s",
        executor->code->name ? executor->code->name : "?", (unsigned long long)(tenths / 10),
        (unsigned long long)(tenths % 10), (unsigned long long)blocks, block->ctaid[0], block->ctaid[1],
        block->ctaid[2], warp, first % block->ntid[0], first / block->ntid[0] % block->ntid[1],
        first / block->ntid[0] / block->ntid[1], line, others);
}
