/* SPDX-License-Identifier: Apache-2.0 */
/* Copy nodes and pageable memory.
 *
 * A launch reads what its copies take from pageable memory, up to STAGE_MOST bytes each, before it returns: the program
 * may change it then. A launch that copies to pageable memory, or more than that from it, is waited for by the call.
 * That is what hardware does, and what the manual says of copies in streams. What was read is packed without gaps and
 * belongs to the run. */
#include "base/alloc.h"
#include "engine/transfer.h"
#include "graph/exec_private.h"
#include "kernel/fault.h"
#include "memory/allocation.h"

#define STAGE_MOST ((size_t)64 << 10)

static bool is_pageable(const void *address)
{
    return !mr_memory_is_known((uintptr_t)address);
}

static void copy_out(void *data)
{
    mr_copy_execute(data);
}

/* False when memory is short. A source that can't be read is left to the run, which fails then. */
static bool stage_one(struct mr_staged *staged, uint32_t at, const struct mr_copy *box)
{
    struct mr_copy pack = *box;
    pack.destination = mr_alloc(box->width * box->height * box->depth);
    if (!pack.destination)
        return false;
    pack.destination_pitch = box->width;
    pack.destination_slice = box->width * box->height;
    if (mr_fault_guard(copy_out, &pack) != CUDA_SUCCESS) {
        mr_free(pack.destination);
        pack.destination = NULL;
    }
    *staged = (struct mr_staged){at, pack.destination};
    return true;
}

bool mr_run_stage(struct mr_run *run)
{
    const struct mr_plan *plan = run->plan;
    size_t room = 0;
    for (uint32_t at = 0; at < plan->step_count; at++) {
        const struct mr_step *step = &plan->steps[at];
        if (!step->work || step->work->type != CU_GRAPH_NODE_TYPE_MEMCPY || step->disabled)
            continue;
        const struct mr_copy *box = &step->work->copy.box;
        run->waits |= is_pageable(box->destination);
        if (!is_pageable(box->source))
            continue;
        if (box->width > STAGE_MOST || box->height > STAGE_MOST || box->depth > STAGE_MOST ||
            box->width * box->height > STAGE_MOST || box->width * box->height * box->depth > STAGE_MOST) {
            run->waits = true;
            continue;
        }
        void *staged = run->staged;
        if (!mr_array_reserve(&staged, &room, run->staged_count + 1, sizeof *run->staged))
            return false;
        run->staged = staged;
        if (!stage_one(&run->staged[run->staged_count], at, box))
            return false;
        run->staged_count++;
    }
    return true;
}

void mr_run_unstage(struct mr_run *run)
{
    for (size_t i = 0; i < run->staged_count; i++)
        mr_free(run->staged[i].bytes);
    mr_free(run->staged);
}
