/* SPDX-License-Identifier: Apache-2.0 */
/* A block's sixteen barriers. (PTX manual: bar, barrier.)
 *
 * A barrier counts threads. Without an explicit number it expects all threads of the block that have not left the kernel; a warp that returns, or
 * lanes that exit, lower that expectation and may be what completes the barrier.
 *
 * An arrival of some lanes of a warp counts for all of its lanes, as the manual has it for `bar` and for every aligned form: the others have nothing more to
 * do with this barrier, or the program is wrong. (Typically they are on their way out, and wait only for the warp's lanes to come together at the
 * kernel's end.) With an explicit number, a multiple of the warp's size by the manual, a warp counts as 32 even if the block's last one has fewer. Only
 * `barrier` without .aligned (MR_BARRIER_PER_THREAD) counts lanes one by one. A fiber can't run a warp's other lanes while some of them wait, so an
 * arrival that needs them ends in a reported deadlock, never in a barrier that lets go too early.
 *
 * The warp that completes a barrier hands each stopped warp its reduction and goes on; the stopped ones become runnable. The record is then fresh for
 * the barrier's next phase, which a fast warp may enter before a slow one has looked at its result. */
#include "kernel/executor.h"

/* Lanes of a warp that haven't left; all of them, as a rule, and then nothing is counted. */
static inline uint32_t live_lanes(const struct mr_warp *warp)
{
    return __builtin_expect(warp->live == UINT32_MAX, 1) ? MR_WARP_LANES : (uint32_t)__builtin_popcount(warp->live);
}

/* Threads that an arrival with these lanes stands for. */
static uint32_t arriving_threads(const struct mr_warp *warp, uint32_t threads, uint32_t mask, bool per_thread)
{
    if (per_thread && mask != warp->live)
        return (uint32_t)__builtin_popcount(mask);
    return threads != 0 ? MR_WARP_LANES : live_lanes(warp);
}

static uint32_t reduction_of(const struct mr_barrier *barrier, uint32_t operation)
{
    switch (operation) {
    case 1: return barrier->true_count;
    case 2: return barrier->all_true;
    case 3: return barrier->any_true;
    default: return 0;
    }
}

/* Ends the barrier's phase if enough threads have come; true if so. The waiting warps become runnable. */
static bool complete_if_due(struct mr_executor *executor, struct mr_barrier *barrier)
{
    uint32_t expected = barrier->expected ? barrier->expected : executor->live_threads;
    if (barrier->arrived == 0 || barrier->arrived < expected)
        return false;
    for (uint32_t left = barrier->operation ? barrier->waiting : 0; left; left &= left - 1) {
        struct mr_warp *warp = &executor->warps[__builtin_ctz(left)];
        warp->reduction = reduction_of(barrier, barrier->operation);
    }
    executor->runnable |= barrier->waiting;
    executor->idle_yields = 0;
    *barrier = (struct mr_barrier){ .arrived = 0 };
    return true;
}

static struct mr_barrier *barrier_enter(struct mr_executor *executor, uint32_t id, uint32_t threads, uint32_t mask, bool per_thread)
{
    if (id >= MR_BARRIERS)
        mr_executor_fault(executor, CUDA_ERROR_LAUNCH_FAILED, 0, "a barrier's number is above 15");
    struct mr_barrier *barrier = &executor->barriers[id];
    executor->barriers_used |= 1u << id;
    if (barrier->arrived == 0) {
        barrier->expected = threads;
        barrier->true_count = 0;
        barrier->all_true = true;
        barrier->any_true = false;
    }
    barrier->arrived += arriving_threads(&executor->warps[executor->current], threads, mask, per_thread);
    return barrier;
}

uint32_t mr_barrier_sync(struct mr_block *block, uint32_t id, uint32_t threads, uint32_t mask, uint32_t op, uint32_t pred)
{
    struct mr_executor *executor = block->engine;
    struct mr_warp *warp = &executor->warps[executor->current];
    struct mr_barrier *barrier = barrier_enter(executor, id, threads, mask, (op & MR_BARRIER_PER_THREAD) != 0);
    if (__builtin_expect((op & 3) == 0, 1)) {
        barrier->operation = 0;
        barrier->waiting |= 1u << executor->current;
        if (!complete_if_due(executor, barrier))
            mr_executor_block(executor);
        return 0;
    }
    barrier->operation = (uint8_t)(op & 3);
    barrier->true_count += (uint32_t)__builtin_popcount(pred & mask);
    barrier->all_true = barrier->all_true && (pred & mask) == mask;
    barrier->any_true = barrier->any_true || (pred & mask) != 0;
    barrier->waiting |= 1u << executor->current;
    if (!complete_if_due(executor, barrier))
        mr_executor_block(executor);
    return warp->reduction;
}

void mr_barrier_arrive(struct mr_block *block, uint32_t id, uint32_t threads, uint32_t mask)
{
    struct mr_executor *executor = block->engine;
    complete_if_due(executor, barrier_enter(executor, id, threads, mask, false));
}

/* The cluster's barrier has arrivals apart from waits; a cluster is one block. A warp waits for the end of the phase in which it arrived. */
static void end_cluster_phase_if_due(struct mr_executor *executor)
{
    if (executor->cluster.arrived == 0 || executor->cluster.arrived < executor->live_threads)
        return;
    executor->runnable |= executor->cluster.waiting;
    executor->idle_yields = 0;
    executor->cluster.arrived = executor->cluster.waiting = 0;
    executor->cluster.phase++;
}

void mr_cluster_arrive(struct mr_block *block, uint32_t mask)
{
    struct mr_executor *executor = block->engine;
    struct mr_warp *warp = &executor->warps[executor->current];
    warp->cluster_phase = executor->cluster.phase;
    executor->cluster.arrived += (uint32_t)__builtin_popcount(mask & warp->live);
    end_cluster_phase_if_due(executor);
}

void mr_cluster_wait(struct mr_block *block, uint32_t mask)
{
    struct mr_executor *executor = block->engine;
    (void)mask;
    if (executor->cluster.phase != executor->warps[executor->current].cluster_phase)
        return;
    executor->cluster.waiting |= 1u << executor->current;
    mr_executor_block(executor);
}

void mr_barrier_threads_left(struct mr_executor *executor, uint32_t count)
{
    executor->live_threads -= count;
    for (uint32_t used = executor->barriers_used; used; used &= used - 1) {
        struct mr_barrier *barrier = &executor->barriers[__builtin_ctz(used)];
        if (barrier->expected == 0)
            complete_if_due(executor, barrier);
    }
    end_cluster_phase_if_due(executor);
}

void mr_barrier_lanes_exit(struct mr_block *block, uint32_t mask)
{
    struct mr_executor *executor = block->engine;
    struct mr_warp *warp = &executor->warps[executor->current];
    uint32_t leaving = warp->live & mask;
    warp->live &= ~leaving;
    mr_barrier_threads_left(executor, (uint32_t)__builtin_popcount(leaving));
}
