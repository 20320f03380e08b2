/* SPDX-License-Identifier: Apache-2.0 */
/* Running the blocks of a launch on the calling thread.
 *
 * Direct mode, for kernels whose warps never wait for each other and for blocks of one warp: one fiber calls the
 * kernel's function for block after block. Otherwise a fiber per warp, taken in turn: a warp runs until it waits at a
 * barrier, yields or returns, and then switches straight to the next warp that can go on. The warp that finishes a
 * block last starts the next one, so that `home` sees only the run's end.
 *
 * A fault anywhere leaves the fibers for good; they are prepared anew before the next launch. */
#include "kernel/executor.h"

#include <sched.h>
#include <stdio.h>
#include <string.h>

#include "abi/tier.h"
#include "base/alloc.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/visit.h"
#include "kernel/fault.h"
#include "kernel/notes.h"
#include "memory/allocation.h"
#include "object/context.h"

/* Room for the runtime's own calls below generated code: printf, the allocator, a signal frame with AVX-512 state. */
#define STACK_MARGIN (96u << 10)
#define STACK_LIMIT_MAX (1u << 20)

/* Where shared memory begins for code with MR_CODE_ALIGNED: tensor copies exchange pieces within 1 KiB. */
#define SHARED_ALIGNED 1024u

/* How many blocks of several rows of threads one call runs, where the code can: so many threads of a row of all, which
 * have their turn before the next row's. */
#define ROW_THREADS 128u

void (*mr_engine_note_waiting)(bool left);

static inline uint32_t first_bits(uint32_t count)
{
    return count >= 32 ? UINT32_MAX : (1u << count) - 1;
}

/* The warps that have a fiber, one or every second. */
static uint32_t fibers_of(const struct mr_executor *executor)
{
    return first_bits(executor->block.warps) & (executor->step == 2 ? 0x55555555u : UINT32_MAX);
}

/* Fresh records for the block at hand. */
static void begin_block(struct mr_executor *executor)
{
    struct mr_block *block = &executor->block;
    uint32_t warps = block->warps;
    for (uint32_t i = 0; i + 1 < warps; i++)
        executor->warps[i].live = UINT32_MAX;
    executor->warps[warps - 1].live = first_bits(block->threads - (warps - 1) * MR_WARP_LANES);
    executor->live_threads = block->threads;
    executor->runnable = executor->direct ? 1 : fibers_of(executor);
    executor->unfinished = (uint32_t)__builtin_popcount(executor->runnable);
    executor->current = 0;
    block->warp_limit = UINT32_MAX;
    executor->idle_yields = 0;
    memset(&executor->cluster, 0, sizeof executor->cluster);
    if (executor->barriers_used) {
        memset(executor->barriers, 0, sizeof executor->barriers);
        executor->barriers_used = 0;
        for (uint32_t i = 0; i < warps; i++) {
            executor->warps[i].joined = executor->warps[i].released = 0;
            executor->warps[i].asleep = false;
        }
    }
}

/* Blocks that one call may run. */
static uint32_t blocks_of_call(const struct mr_executor *executor)
{
    const struct mr_block *block = &executor->block;
    if (!(executor->code->flags & MR_CODE_BLOCKS))
        return 1;
    uint32_t most = MR_CALL_WARPS / block->warps, row = ROW_THREADS / block->ntid[0];
    return block->ntid[0] == block->threads || row > most ? most : row ? row : 1;
}

/* How many blocks the next call is to run, of those that are left: no further than the row's end. */
static uint32_t next_count(const struct mr_executor *executor)
{
    const struct mr_block *block = &executor->block;
    uint32_t most = executor->most, left = block->nctaid[0] - block->ctaid[0], count = left < most ? left : most;
    return executor->remaining < count ? (uint32_t)executor->remaining : count;
}

/* Blocks of the run were taken back, or somebody looks at it: false if none are left. */
static __attribute__((noinline)) bool heed(struct mr_executor *executor)
{
    return (executor->remaining -= mr_progress_heed(executor->progress)) != 0;
}

/* Makes the index that of the block behind those of the call that has ended, x fastest, and block.more_blocks those of
 * the next; false when the run is over or its context has failed meanwhile. */
static bool next_block(struct mr_executor *executor)
{
    struct mr_block *block = &executor->block;
    uint32_t count = block->more_blocks + 1;
    if ((executor->remaining -= count) == 0)
        return false;
    if (mr_context_error(executor->launch->context) != CUDA_SUCCESS) {
        executor->fault = (struct mr_fault){.status = mr_context_error(executor->launch->context), .quiet = true};
        return false;
    }
    if ((block->ctaid[0] += count) == block->nctaid[0]) {
        block->ctaid[0] = 0;
        if (++block->ctaid[1] == block->nctaid[1]) {
            block->ctaid[1] = 0;
            block->ctaid[2]++;
        }
    }
    count = next_count(executor);
    if (__builtin_expect(mr_progress_note(executor->progress, executor->remaining - count) != 0, 0)) {
        if (!heed(executor))
            return false;
        count = next_count(executor);
    }
    block->more_blocks = count - 1;
    return true;
}

static void finish_warp(struct mr_executor *executor);

/* False if the block was split on the way, so that the run is over or goes on with a fiber for each warp. */
static bool run_direct(struct mr_executor *executor)
{
    struct mr_block *block = &executor->block;
    uint32_t first;
    do {
        if (executor->track)
            begin_block(executor);
        first = block->ctaid[0];
        mr_kernel_call(executor->code->function, block, 0, block->warps);
        block->ctaid[0] = first;
        if (__builtin_expect(!executor->direct, 0)) {
            finish_warp(executor);
            return false;
        }
    } while (next_block(executor));
    return true;
}

/* Goes on with the next runnable warp after the current one. False if there is none. */
static bool switch_warp(struct mr_executor *executor)
{
    uint32_t self = executor->current, runnable = executor->runnable;
    if (!runnable)
        return false;
    uint32_t after = runnable & ~((2u << self) - 1);
    uint32_t next = (uint32_t)__builtin_ctz(after ? after : runnable);
    if (next == self)
        return true;
    executor->current = next;
    executor->block.notes = executor->warps[next].notes;
    mr_fiber_switch(&executor->warps[self].fiber, &executor->warps[next].fiber);
    return true;
}

/* The current warp has returned from the kernel. Comes back when there is a block to run for it. */
static void finish_warp(struct mr_executor *executor)
{
    uint32_t self = executor->current;
    executor->runnable &= ~(1u << self);
    executor->unfinished--;
    executor->idle_yields = 0;
    mr_barrier_threads_left(executor, (uint32_t)__builtin_popcount(executor->warps[self].live));
    executor->warps[self].live = 0;
    if (executor->unfinished) {
        if (!switch_warp(executor))
            mr_executor_fault(executor, CUDA_ERROR_LAUNCH_FAILED, 0,
                              "deadlock: every warp that is left waits at a barrier");
        return;
    }
    if (next_block(executor)) {
        begin_block(executor);
        executor->current = self;
        return;
    }
    mr_fiber_switch(&executor->warps[self].fiber, &executor->home);
}

void mr_warp_main(void *data)
{
    struct mr_warp *warp = data;
    struct mr_executor *executor = warp->executor;
    uint32_t index = (uint32_t)(warp - executor->warps);
    for (;;) {
        if (!executor->direct) {
            mr_kernel_call(executor->code->function, &executor->block, index, index + executor->step);
            finish_warp(executor);
        } else if (run_direct(executor)) {
            executor->unfinished = 0;
            mr_fiber_switch(&warp->fiber, &executor->home);
        }
    }
}

/* In the middle of a direct call: the warps behind the one at hand get fibers of their own, and the call ends with it.
 */
static void split(struct mr_executor *executor)
{
    struct mr_block *block = &executor->block;
    uint32_t next = block->warp + executor->step;
    if (next >= block->warps)
        return;
    block->warp_limit = next;
    executor->direct = false;
    executor->runnable = 1u | (fibers_of(executor) & ~first_bits(next));
    executor->unfinished = (uint32_t)__builtin_popcount(executor->runnable);
    executor->current = 0;
}

void mr_executor_force(struct mr_executor *executor)
{
    struct mr_block *block = &executor->block;
    const struct mr_block before = *block;
    if (mr_context_error(executor->launch->context) != CUDA_SUCCESS)
        (void)mr_executor_yield(executor);
    if (executor->direct && (executor->code->flags & MR_CODE_PARTS))
        split(executor);
    if (executor->together)
        mr_fiber_switch(&executor->warps[executor->current].fiber, &executor->home);
    if (executor->runnable != 1u << executor->current)
        (void)switch_warp(executor);
    block->warp = before.warp;
    block->service_line = before.service_line;
    block->access_bytes = before.access_bytes;
    block->access_mask = before.access_mask;
    block->access = before.access;
}

void mr_executor_block(struct mr_executor *executor)
{
    uint32_t bit = 1u << executor->current;
    executor->runnable &= ~bit;
    executor->idle_yields = 0;
    if (!switch_warp(executor))
        mr_executor_fault(executor, CUDA_ERROR_LAUNCH_FAILED, 0,
                          executor->direct || executor->unfinished == 1
                              ? "deadlock: a barrier waits for threads that cannot come"
                              : "deadlock: every warp that is left waits at a barrier");
}

bool mr_executor_yield(struct mr_executor *executor)
{
    struct mr_context *context = executor->launch->context;
    if (mr_context_error(context) != CUDA_SUCCESS) {
        executor->fault = (struct mr_fault){.status = mr_context_error(context), .quiet = true};
        mr_fiber_abandon(&executor->home);
    }
    /* After a round in which nobody did anything but yield, the block waits for something outside. */
    if (++executor->idle_yields >= (uint32_t)__builtin_popcount(executor->runnable)) {
        executor->idle_yields = 0;
        mr_progress_add(&executor->progress->waited);
        bool left = executor->block.left_wait != 0;
        if (left || executor->block.changed_wait) {
            executor->block.left_wait = executor->block.changed_wait = 0;
            mr_progress_add(&executor->progress->moved);
        }
        if (__builtin_expect(
                atomic_load_explicit(&executor->progress->attention, memory_order_relaxed) & MR_ATTENTION_TELL, 0))
            mr_executor_tell(executor);
        if (executor->together) {
            mr_fiber_switch(&executor->warps[executor->current].fiber, &executor->home);
        } else {
            if (mr_engine_note_waiting)
                mr_engine_note_waiting(left);
            sched_yield();
        }
    }
    uint32_t self = executor->current;
    switch_warp(executor);
    return executor->together || executor->runnable != 1u << self;
}

void mr_executor_fault(struct mr_executor *executor, CUresult status, uint32_t line, const char *what)
{
    executor->fault = (struct mr_fault){.status = status, .line = line, .what = what};
    mr_fiber_abandon(&executor->home);
}

/* On the thread's own stack again: says what happened, and marks the context. */
static CUresult end_with_fault(struct mr_executor *executor)
{
    struct mr_launch *launch = executor->launch;
    struct mr_fault *fault = &executor->fault;
    executor->prepared = 0;
    if (executor->visits) {
        executor->visits = false;
        mr_visit_end(executor->outer_visit);
    }
    if (fault->quiet)
        return fault->status;
    mr_executor_report(executor);
    mr_context_fail(launch->context, fault->status);
    return fault->status;
}

/* The context's limit for recursion and variable frames: bytes per thread. */
static size_t stack_limit(const struct mr_launch *launch)
{
    size_t limit = atomic_load_explicit(&launch->context->limits[CU_LIMIT_STACK_SIZE], memory_order_relaxed);
    return limit > STACK_LIMIT_MAX ? STACK_LIMIT_MAX : (limit + 63) / 64 * 64;
}

/* The block record for the launch's block number `first`. */
static void fill_block(struct mr_executor *executor, struct mr_launch *launch, uint64_t first, unsigned worker,
                       size_t limit)
{
    struct mr_block *block = &executor->block;
    bool aligned = executor->code->flags & MR_CODE_ALIGNED;
    uint32_t round = aligned ? SHARED_ALIGNED : 256u;
    block->params = aligned ? memcpy(executor->params, launch->params, launch->param_bytes) : launch->params;
    block->symbols = launch->symbols;
    block->shared_size = launch->shared_size;
    block->shared = executor->shared_end - ((launch->shared_size + round - 1) & ~(round - 1));
    block->dynamic_shared_size = launch->dynamic_shared;
    block->dynamic_shared_offset = launch->dynamic_offset;
    for (int i = 0; i < 3; i++) {
        block->ntid[i] = launch->block[i];
        block->nctaid[i] = launch->grid[i];
    }
    block->threads = launch->block[0] * launch->block[1] * launch->block[2];
    block->warps = (block->threads + MR_WARP_LANES - 1) / MR_WARP_LANES;
    uint64_t rows = first / launch->grid[0];
    block->ctaid[0] = (uint32_t)(first % launch->grid[0]);
    block->ctaid[1] = (uint32_t)(rows % launch->grid[1]);
    block->ctaid[2] = (uint32_t)(rows / launch->grid[1]);
    block->more_blocks = 0;
    block->warp_limit = UINT32_MAX;
    block->service_line = 0;
    block->worker = worker;
    block->lane_stack = limit > MR_LANE_STACK ? (uint32_t)limit : MR_LANE_STACK;
    block->grid_id = launch->id;
    block->grid_workspace = NULL;
    block->warp = 0;
    block->access_bytes = 0;
    block->left_wait = block->changed_wait = 0;
}

CUresult mr_executor_load(struct mr_executor *executor, struct mr_launch *launch, uint64_t first, uint64_t count,
                          unsigned worker)
{
    uint64_t threads = (uint64_t)launch->block[0] * launch->block[1] * launch->block[2];
    if (threads == 0 || threads > (uint64_t)MR_WARPS_MAX * MR_WARP_LANES)
        return CUDA_ERROR_INVALID_VALUE;
    uint32_t warps = (uint32_t)((threads + MR_WARP_LANES - 1) / MR_WARP_LANES);
    const struct mr_code *code = mr_code_now(launch->code);
    executor->track = (code->flags & MR_CODE_COOPERATIVE) != 0;
    executor->direct = !executor->track || warps == 1;
    executor->step = code->flags & MR_CODE_PAIRS && !executor->track ? 2 : 1;
    bool splits = executor->direct && warps > executor->step && (code->flags & MR_CODE_PARTS);
    size_t limit = stack_limit(launch), stack_bytes = code->stack_bytes + limit * MR_WARP_LANES * 2 + STACK_MARGIN;
    if (!mr_executor_provide(executor, executor->direct && !splits ? 1 : warps, stack_bytes,
                             code->flags & MR_CODE_LOW_STACK, launch->shared_size + SHARED_ALIGNED))
        return CUDA_ERROR_OUT_OF_MEMORY;
    if (code->flags & MR_CODE_ALIGNED && !executor->params && !(executor->params = mr_calloc_aligned(128, UINT16_MAX)))
        return CUDA_ERROR_OUT_OF_MEMORY;
    executor->launch = launch;
    executor->code = code;
    executor->remaining = count;
    executor->fault.status = CUDA_SUCCESS;
    executor->fault.quiet = false;
    fill_block(executor, launch, first, worker, limit);
    executor->most = blocks_of_call(executor);
    executor->block.more_blocks = next_count(executor) - 1;
    begin_block(executor);
    if (__builtin_expect(code->sites != NULL, 0) &&
        !mr_footprint_begin(executor, executor->direct && !splits ? 1 : warps))
        return CUDA_ERROR_OUT_OF_MEMORY;
    return CUDA_SUCCESS;
}

CUresult mr_executor_go(struct mr_executor *executor)
{
    uint64_t begin = mr_code_begins(executor->code, &executor->turn);
    executor->in_kernel = 1;
    mr_fiber_switch(&executor->home, &executor->warps[executor->current].fiber);
    executor->in_kernel = 0;
    mr_code_ends(executor->code, begin);

    CUresult status = CUDA_SUCCESS;
    if (__builtin_expect(executor->fault.status != CUDA_SUCCESS, 0))
        status = end_with_fault(executor);
    return status;
}

CUresult mr_launch_run_blocks(struct mr_launch *launch, uint64_t first, uint64_t end, unsigned worker)
{
    struct mr_executor *executor = mr_executor_get();
    if (!executor)
        return CUDA_ERROR_OUT_OF_MEMORY;
    if (first >= end)
        return CUDA_SUCCESS;
    if (executor->in_kernel) {
        mr_log(MR_LOG_ERROR, "a launch was started from inside a kernel's runtime call");
        return CUDA_ERROR_INVALID_VALUE;
    }
    CUresult status = mr_executor_load(executor, launch, first, end - first, worker);
    if (status != CUDA_SUCCESS)
        return status;
    mr_fault_thread_check(executor);
    mr_progress_begin(executor->progress, launch, end, executor->remaining - executor->block.more_blocks - 1);
    status = mr_executor_go(executor);
    mr_progress_end(executor->progress);
    executor->launch = NULL;
    return status;
}
