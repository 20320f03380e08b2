/* SPDX-License-Identifier: Apache-2.0 */
/* A block's sixteen barriers. (PTX manual: bar, barrier.)
 *
 * A barrier counts threads. Without an explicit number it expects all threads of the block that have not left the
 * kernel; a warp that returns, or lanes that exit, lower that expectation and may be what completes the barrier.
 *
 * An arrival of some lanes of a warp counts for all of its lanes, as the manual has it for `bar` and for every aligned
 * form: the others have nothing more to do with this barrier, or the program is wrong. (Typically they are on their way
 * out, and wait only for the warp's lanes to come together at the kernel's end.) With an explicit number, a multiple of
 * the warp's size (another one ends the launch, as on an H200), a warp counts as 32 even if the block's last one has
 * fewer. Only `barrier` without .aligned (MR_BARRIER_PER_THREAD) counts lanes one by one. A fiber can't run a warp's
 * other lanes while some of them wait, so an arrival that needs them ends in a reported deadlock, never in a barrier
 * that lets go too early.
 *
 * Where lanes of one warp may be at barriers of different numbers, code does not wait in here: lanes join the barrier,
 * and the code runs others until a test says that they may go on. A warp all of whose lanes have joined barriers stops.
 * A part of a warp at an aligned form is counted lane by lane at first, since others may be about to come to the same
 * barrier, and for the whole warp when all wait and nobody comes any more.
 *
 * The warp that completes a barrier hands each stopped warp its reduction and goes on; the stopped ones become
 * runnable. The record is then fresh for the barrier's next phase, which a fast warp may enter before a slow one has
 * looked at its result. */
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
    case 1:
        return barrier->true_count;
    case 2:
        return barrier->all_true;
    case 3:
        return barrier->any_true;
    default:
        return 0;
    }
}

/* Lanes of a warp that wait at barrier `id` by themselves. */
static uint32_t joined_lanes(const struct mr_warp *warp, uint32_t id)
{
    uint32_t lanes = 0;
    for (uint32_t left = warp->joined; left; left &= left - 1) {
        unsigned lane = (unsigned)__builtin_ctz(left);
        lanes |= warp->joined_at[lane] == id ? 1u << lane : 0;
    }
    return lanes;
}

/* Lets all such lanes go on. */
static void release_joined(struct mr_executor *executor, const struct mr_barrier *barrier)
{
    for (uint32_t left = barrier->joined; left; left &= left - 1) {
        struct mr_warp *warp = &executor->warps[__builtin_ctz(left)];
        uint32_t lanes = joined_lanes(warp, (uint32_t)(barrier - executor->barriers));
        warp->joined &= ~lanes;
        warp->released |= lanes;
        for (uint32_t rest = lanes; rest; rest &= rest - 1)
            warp->lane_reduction[__builtin_ctz(rest)] = reduction_of(barrier, barrier->operation);
        if (warp->asleep)
            executor->runnable |= left & -left;
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
    if (__builtin_expect(barrier->joined != 0, 0))
        release_joined(executor, barrier);
    executor->idle_yields = 0;
    *barrier = (struct mr_barrier){.arrived = 0};
    return true;
}

/* The barrier's record, made ready if this is the first arrival of a phase. */
static struct mr_barrier *barrier_open(struct mr_executor *executor, uint32_t id, uint32_t threads)
{
    if (id >= MR_BARRIERS)
        mr_executor_fault(executor, CUDA_ERROR_LAUNCH_FAILED, 0, "a barrier's number is above 15");
    if (__builtin_expect(threads % MR_WARP_LANES != 0, 0))
        mr_executor_fault(executor, CUDA_ERROR_ILLEGAL_INSTRUCTION, 0, "a barrier's count is not a multiple of 32");
    struct mr_barrier *barrier = &executor->barriers[id];
    executor->barriers_used |= 1u << id;
    if (barrier->arrived == 0) {
        barrier->expected = threads;
        barrier->true_count = 0;
        barrier->all_true = true;
        barrier->any_true = false;
    }
    return barrier;
}

static struct mr_barrier *barrier_enter(struct mr_executor *executor, uint32_t id, uint32_t threads, uint32_t mask,
                                        bool per_thread)
{
    struct mr_barrier *barrier = barrier_open(executor, id, threads);
    barrier->arrived += arriving_threads(&executor->warps[executor->current], threads, mask, per_thread);
    return barrier;
}

static void add_predicates(struct mr_barrier *barrier, uint32_t op, uint32_t mask, uint32_t pred)
{
    barrier->operation = (uint8_t)(op & 3);
    barrier->true_count += (uint32_t)__builtin_popcount(pred & mask);
    barrier->all_true = barrier->all_true && (pred & mask) == mask;
    barrier->any_true = barrier->any_true || (pred & mask) != 0;
}

uint32_t mr_barrier_sync(struct mr_block *block, uint32_t id, uint32_t threads, uint32_t mask, uint32_t op,
                         uint32_t pred)
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
    add_predicates(barrier, op, mask, pred);
    barrier->waiting |= 1u << executor->current;
    if (!complete_if_due(executor, barrier))
        mr_executor_block(executor);
    return warp->reduction;
}

void mr_barrier_arrive(struct mr_block *block, uint32_t id, uint32_t threads, uint32_t mask, uint32_t op)
{
    struct mr_executor *executor = block->engine;
    complete_if_due(executor, barrier_enter(executor, id, threads, mask, (op & MR_BARRIER_PER_THREAD) != 0));
}

/* Some lanes of the current warp, at one barrier. */
static void join_one(struct mr_executor *executor, uint32_t id, uint32_t threads, uint32_t mask, uint32_t op,
                     uint32_t pred)
{
    struct mr_warp *warp = &executor->warps[executor->current];
    struct mr_barrier *barrier = barrier_open(executor, id, threads);
    uint32_t bit = 1u << executor->current;
    bool per_thread = (op & MR_BARRIER_PER_THREAD) != 0;
    /* Where threads are counted, those that have left don't; the block's last warp may never have had more. */
    uint32_t behind = executor->block.threads - executor->current * MR_WARP_LANES;
    bool all = mask == warp->live &&
               (!per_thread || mask == UINT32_MAX || (behind < MR_WARP_LANES && mask == (1u << behind) - 1));
    if (!(barrier->whole & bit))
        barrier->arrived +=
            all ? arriving_threads(warp, threads, mask, per_thread) : (uint32_t)__builtin_popcount(mask);
    barrier->joined |= bit;
    if (!per_thread)
        barrier->aligned |= bit;
    if (!per_thread && mask == warp->live)
        barrier->whole |= bit;
    warp->joined |= mask;
    for (uint32_t rest = mask; rest; rest &= rest - 1)
        warp->joined_at[__builtin_ctz(rest)] = (uint8_t)id;
    add_predicates(barrier, op, mask, pred);
    complete_if_due(executor, barrier);
}

void mr_barrier_join(struct mr_block *block, const uint32_t *id, const uint32_t *threads, uint32_t mask, uint32_t op,
                     uint32_t pred)
{
    while (mask) {
        unsigned first = (unsigned)__builtin_ctz(mask);
        uint32_t same = 0;
        for (uint32_t rest = mask; rest; rest &= rest - 1)
            same |= id[__builtin_ctz(rest)] == id[first] ? rest & -rest : 0;
        join_one(block->engine, id[first], threads[first], same, op, pred);
        mask &= ~same;
    }
}

/* All lanes of the current warp wait, so nobody comes any more: a part that was counted lane by lane now stands for the
 * warp. */
static void count_as_whole(struct mr_executor *executor, struct mr_warp *warp)
{
    uint32_t bit = 1u << executor->current;
    for (uint32_t used = executor->barriers_used; used; used &= used - 1) {
        uint32_t id = (uint32_t)__builtin_ctz(used);
        struct mr_barrier *barrier = &executor->barriers[id];
        if (!(barrier->aligned & ~barrier->whole & bit))
            continue;
        uint32_t lanes = (uint32_t)__builtin_popcount(joined_lanes(warp, id));
        barrier->arrived += (barrier->expected ? MR_WARP_LANES : live_lanes(warp)) - lanes;
        barrier->whole |= bit;
        complete_if_due(executor, barrier);
    }
}

uint32_t mr_barrier_test(struct mr_block *block, uint32_t mask, uint32_t *result)
{
    struct mr_executor *executor = block->engine;
    struct mr_warp *warp = &executor->warps[executor->current];
    if (!warp->released && warp->joined == warp->live)
        count_as_whole(executor, warp);
    if (!warp->released && warp->joined == warp->live) {
        warp->asleep = true;
        mr_executor_block(executor);
        warp->asleep = false;
    }
    uint32_t go = warp->released & mask;
    warp->released &= ~go;
    for (uint32_t rest = go; rest; rest &= rest - 1)
        result[__builtin_ctz(rest)] = warp->lane_reduction[__builtin_ctz(rest)];
    return go;
}

/* The cluster's barrier has arrivals apart from waits; a cluster is one block. A warp waits for the end of the phase in
 * which it arrived. */
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
