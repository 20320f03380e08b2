/* SPDX-License-Identifier: Apache-2.0 */
/* What an observer is told of the steps of a run. Steps that do nothing by themselves (empty nodes, child graphs,
 * conditional nodes) are left out: the steps inside are told of. */
#include "engine/tell.h"
#include "graph/exec_private.h"
#include "kernel/launch.h"
#include "observe/hooks.h"

/* False for a step that is left out. */
static bool describe(const struct mr_step *step, struct mr_observed_work *out)
{
    const struct mr_work *work = step->work;
    switch ((int)work->type) {
    case CU_GRAPH_NODE_TYPE_KERNEL:
        mr_tell_describe_launch(step->launch, out);
        return true;
    case CU_GRAPH_NODE_TYPE_MEMCPY:
        mr_tell_describe_copy(&work->copy.box, NULL, out);
        return true;
    case CU_GRAPH_NODE_TYPE_MEMSET:
        mr_tell_describe_fill(&work->fill.rows, out);
        return true;
    case CU_GRAPH_NODE_TYPE_HOST:
        out->kind = MR_OBSERVED_HOST;
        if (work->host.parts)
            mr_tell_describe_parts(work->host.parts, out);
        return true;
    case CU_GRAPH_NODE_TYPE_EVENT_RECORD:
        out->kind = MR_OBSERVED_RECORD;
        return true;
    case CU_GRAPH_NODE_TYPE_WAIT_EVENT:
        out->kind = MR_OBSERVED_WAIT;
        return true;
    case CU_GRAPH_NODE_TYPE_BATCH_MEM_OP:
        out->kind = MR_OBSERVED_MEMORY_OP;
        return true;
    case CU_GRAPH_NODE_TYPE_MEM_ALLOC:
    case CU_GRAPH_NODE_TYPE_MEM_FREE:
        out->kind = MR_OBSERVED_OTHER;
        return true;
    default:
        return false;
    }
}

bool mr_run_describe(const struct mr_plan *plan, const struct mr_step *step, struct mr_observed_work *out)
{
    const struct mr_told *run = plan->run->resume->told;
    if (!run)
        return false;
    const struct mr_context *context = step->work->context;
    *out = (struct mr_observed_work){.work = run->work.work,
                                     .node = step->node,
                                     .stream = run->work.stream,
                                     .context = context ? context->handle : run->work.context,
                                     .context_number = context ? context->id : run->work.context_number,
                                     .device = context ? context->device->ordinal : run->work.device};
    return describe(step, out);
}

void mr_run_tell_begin(struct mr_plan *plan, struct mr_step *step)
{
    struct mr_observed_work work;
    if (!mr_run_describe(plan, step, &work))
        return;
    step->told = mr_tell_begin(&work);
    if (step->shared)
        step->shared->job.told = step->told;
}

void mr_run_tell_end(struct mr_step *step, CUresult status)
{
    struct mr_told *told = step->told;
    if (step->work->type == CU_GRAPH_NODE_TYPE_KERNEL && step->launch)
        mr_tell_launch(told, step->launch);
    if (!told)
        return;
    step->told = NULL;
    if (step->shared)
        step->shared->job.told = NULL;
    const struct mr_copy *box = &step->work->copy.box;
    const struct mr_copy_origin origin = {box->source, box->source_pitch, box->source_slice};
    if (status == CUDA_SUCCESS && told->work.kind == MR_OBSERVED_COPY)
        mr_tell_copy(told, box, step->staged ? &origin : NULL);
    else if (status == CUDA_SUCCESS && told->work.kind == MR_OBSERVED_FILL)
        mr_tell_fill(told, &step->work->fill.rows);
    else if (told->work.parts && step->work->host.parts)
        mr_tell_parts(told, step->work->host.parts, status == CUDA_SUCCESS);
    mr_tell_end(told, status);
}
