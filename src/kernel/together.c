/* SPDX-License-Identifier: Apache-2.0 */
/* Blocks of a cooperative launch: all of them have to be under way at the same time, however few threads there are.
 *
 * Each block has an executor of its own: its warps' stacks, its shared memory, its barriers. A thread keeps a chain of
 * them and runs one after the other; a block whose warps do nothing but wait goes back to `home` (mr_executor_yield)
 * and the next one has its turn. When the thread has been around, it takes more blocks from the grid. So blocks are
 * begun as long as others wait for them, and threads that come later still find some.
 *
 * A fault ends the thread's other blocks where they stand. The context has failed then, and blocks on other threads see
 * that when they next yield. */
#include "kernel/executor.h"

#include <sched.h>

#include "base/log.h"
#include "kernel/fault.h"
#include "object/context.h"

/* Gives the block to the first executor of the chain that has none. */
static CUresult seat(struct mr_executor *first, struct mr_launch *launch, const struct mr_block_source *source,
                     uint64_t index, unsigned worker)
{
    struct mr_executor *executor = first;
    while (executor && executor->seated)
        executor = mr_executor_after(executor);
    CUresult status = executor ? mr_executor_load(executor, launch, index, 1, worker) : CUDA_ERROR_OUT_OF_MEMORY;
    if (status != CUDA_SUCCESS) {
        /* The others would wait for this block for ever. */
        mr_log(MR_LOG_WARN, "kernel %s: no memory to have all %llu blocks of a cooperative launch under way",
               launch->code->name ? launch->code->name : "?",
               (unsigned long long)launch->grid[0] * launch->grid[1] * launch->grid[2]);
        mr_context_fail(launch->context, status);
        return status;
    }
    executor->block.grid_workspace = source->workspace;
    executor->together = executor->seated = true;
    mr_progress_add(&executor->progress->begun);
    return CUDA_SUCCESS;
}

/* A turn for each block. */
static CUresult go_around(struct mr_executor *first, unsigned *seated)
{
    CUresult status = CUDA_SUCCESS;
    for (struct mr_executor *executor = first; executor && status == CUDA_SUCCESS; executor = executor->next) {
        if (!executor->seated)
            continue;
        mr_executor_self = executor;
        status = mr_executor_go(executor);
        mr_executor_self = first;
        if (status == CUDA_SUCCESS && executor->unfinished == 0) {
            executor->seated = false;
            --*seated;
            mr_progress_add(&executor->progress->begun);
        }
    }
    return status;
}

CUresult mr_launch_run_together(struct mr_launch *launch, const struct mr_block_source *source, unsigned worker)
{
    struct mr_executor *first = mr_executor_get();
    if (!first || first->in_kernel) {
        mr_log(MR_LOG_ERROR, "a cooperative launch found no place to run");
        mr_context_fail(launch->context, CUDA_ERROR_OUT_OF_MEMORY);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    mr_fault_thread_check(first);
    mr_progress_begin(first->progress, launch, 0, 0);
    CUresult status = CUDA_SUCCESS;
    unsigned seated = 0;
    bool more = true;
    while (status == CUDA_SUCCESS && (more || seated)) {
        for (unsigned wanted = seated / 2 + 1; more && wanted && status == CUDA_SUCCESS; wanted--) {
            uint64_t index;
            more = source->take(source->data, &index);
            if (more)
                status = seat(first, launch, source, index, worker);
            seated += more;
        }
        atomic_store_explicit(&first->progress->blocks, seated, memory_order_relaxed);
        if (status == CUDA_SUCCESS)
            status = go_around(first, &seated);
        if (!more && seated) {
            if (mr_engine_note_waiting)
                mr_engine_note_waiting(false);
            sched_yield();
        }
    }
    for (struct mr_executor *executor = first; executor; executor = executor->next) {
        if (executor->seated)
            executor->prepared = 0;   /* stopped in the middle: its fibers begin anew */
        executor->seated = executor->together = false;
        executor->launch = NULL;
    }
    mr_progress_end(first->progress);
    return status;
}
