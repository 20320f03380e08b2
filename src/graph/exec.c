/* SPDX-License-Identifier: Apache-2.0 */
/* Executable graphs as the program holds them: made of a graph, launched, changed.
 *
 * A launch is one command of the stream. What belongs to the call and not to the run happens here: events that nodes
 * wait for are asked for their marks, events that nodes record get new ones, memory that nodes allocate is live from
 * the call on and memory that they free is not (nothing else ever lives at its address). */
#include "graph/exec.h"

#include "base/alloc.h"
#include "base/call.h"
#include "base/log.h"
#include "graph/conditional.h"
#include "graph/exec_private.h"
#include "graph/graph_memory.h"
#include "graph/user_object.h"
#include "object/context.h"

static void exec_finish(void *object)
{
    struct mr_exec *exec = object;
    if (exec->owns_memory) {
        mr_lock_take(&mr_graph_lock);
        struct mr_graph *graph = mr_object_find((void *)(uintptr_t)exec->graph, MR_KIND_GRAPH);
        if (graph)
            graph->execs--;
        mr_lock_drop(&mr_graph_lock);
    }
    if (exec->plan)
        mr_plan_drop(exec->plan);
    if (exec->last)
        mr_mark_drop(exec->last);
    mr_graph_user_objects_drop(&exec->users);
}

static bool all_handles_used(const struct mr_graph *graph)
{
    for (const struct mr_list *at = graph->conditionals.next; at != &graph->conditionals; at = at->next)
        if (!MR_CONTAINER(at, struct mr_conditional, link)->used)
            return false;
    return true;
}

/* Lays out the plan; the graph lock is held. */
static CUresult build_locked(struct mr_exec *exec, struct mr_graph *graph, struct mr_exec_problem *problem)
{
    MR_HELD(&mr_graph_lock);
    if (!mr_object_handle(graph))
        return CUDA_ERROR_INVALID_VALUE;
    if (graph->parent && graph->parent->work->type == CU_GRAPH_NODE_TYPE_CONDITIONAL)
        return CUDA_ERROR_NOT_SUPPORTED;
    if (!all_handles_used(graph)) {
        problem->result = CUDA_GRAPH_INSTANTIATE_CONDITIONAL_HANDLE_UNUSED;
        return CUDA_ERROR_INVALID_VALUE;
    }
    CUresult status = mr_plan_build(graph, &exec->plan, problem);
    if (status != CUDA_SUCCESS)
        return status;
    if (exec->plan->has_memory && graph->execs > 0)
        return CUDA_ERROR_NOT_SUPPORTED;
    exec->owns_memory = exec->plan->has_memory;
    graph->execs += exec->owns_memory;
    return CUDA_SUCCESS;
}

CUresult mr_exec_new(struct mr_graph *graph, uint64_t flags, struct mr_exec **out, struct mr_exec_problem *problem)
{
    *problem = (struct mr_exec_problem){.result = CUDA_GRAPH_INSTANTIATE_ERROR};
    struct mr_exec *exec = mr_object_new(MR_KIND_GRAPH_EXEC, sizeof *exec, exec_finish);
    if (!exec)
        return CUDA_ERROR_OUT_OF_MEMORY;
    mr_lock_init(&exec->lock, MR_LOCK_EXEC);
    mr_list_init(&exec->users);
    exec->flags = flags;
    exec->graph = (uint64_t)(uintptr_t)mr_object_handle(graph);
    mr_lock_take(&mr_graph_lock);
    CUresult status = build_locked(exec, graph, problem);
    mr_lock_drop(&mr_graph_lock);
    if (status == CUDA_SUCCESS && (!mr_plan_prepare(exec->plan) || !mr_graph_user_objects_hold(graph, &exec->users)))
        status = CUDA_ERROR_OUT_OF_MEMORY;
    if (status != CUDA_SUCCESS) {
        (void)mr_exec_destroy(exec);
        return status;
    }
    exec->plan->node_priorities = flags & CUDA_GRAPH_INSTANTIATE_FLAG_USE_NODE_PRIORITY;
    problem->result = CUDA_GRAPH_INSTANTIATE_SUCCESS;
    *out = exec;
    return CUDA_SUCCESS;
}

bool mr_exec_destroy(struct mr_exec *exec)
{
    if (!mr_object_retire(exec))
        return false;
    mr_object_drop(exec);
    return true;
}

/* ---- memory nodes of a launch ---- */

/* The pages of the nodes' memory stay while a launch is queued or runs. */
static void use_memory(const struct mr_plan *plan, int by)
{
    for (size_t i = 0; i < plan->step_count; i++) {
        const struct mr_work *work = plan->steps[i].work;
        if (work && work->type == CU_GRAPH_NODE_TYPE_MEM_ALLOC)
            mr_graph_memory_use(work->alloc.memory, by);
        else if (work && work->type == CU_GRAPH_NODE_TYPE_MEM_FREE)
            mr_graph_memory_use(work->free.memory, by);
    }
}

void mr_run_leave_memory(struct mr_run *run)
{
    if (run->uses_memory)
        use_memory(run->plan, -1);
    run->uses_memory = false;
}

/* Takes back what the first `count` steps did. */
static void undo_memory(const struct mr_plan *plan, size_t count)
{
    while (count-- > 0) {
        const struct mr_work *work = plan->steps[count].work;
        if (work && work->type == CU_GRAPH_NODE_TYPE_MEM_ALLOC)
            (void)!mr_graph_memory_end(work->alloc.memory);
        else if (work && work->type == CU_GRAPH_NODE_TYPE_MEM_FREE && !mr_graph_memory_begin(work->free.memory, 0))
            mr_log(MR_LOG_WARN, "memory of a graph at %#llx was allocated by another thread meanwhile",
                   (unsigned long long)work->free.address);
    }
}

/* One launch's effect on the memory of its nodes, in the order of the steps. False, with everything as it was, if a
 * step can't be done. */
static bool move_memory(struct mr_exec *exec, struct mr_plan *plan)
{
    bool auto_free = exec->flags & CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH;
    size_t done = 0;
    bool possible = true;
    for (; done < plan->step_count && possible; done++) {
        const struct mr_work *work = plan->steps[done].work;
        if (work && work->type == CU_GRAPH_NODE_TYPE_MEM_ALLOC) {
            if (auto_free)
                (void)!mr_graph_memory_end(work->alloc.memory);
            possible = mr_graph_memory_begin(work->alloc.memory, work->alloc.params.bytesize);
        } else if (work && work->type == CU_GRAPH_NODE_TYPE_MEM_FREE) {
            possible = mr_graph_memory_end(work->free.memory);
        }
    }
    if (!possible)
        undo_memory(plan, done - 1);
    return possible;
}

/* ---- launching ---- */

static void run_drop(void *data)
{
    struct mr_run *run = data;
    if (!run || atomic_fetch_sub_explicit(&run->references, 1, memory_order_acq_rel) != 1)
        return;
    for (size_t i = 0; i < run->plan->event_count; i++)
        if (run->marks[i])
            mr_mark_drop(run->marks[i]);
    mr_run_leave_memory(run);
    mr_run_unstage(run);
    struct mr_plan *plan = run->plan;
    if (run->exec)
        mr_object_drop(run->exec);
    mr_free(atomic_exchange_explicit(&plan->spare, run, memory_order_acq_rel));
    mr_plan_drop(plan);
}

/* What a node waits for: the latest record of its event before it, of this run, in the order of the plan; else what the
 * event holds now. */
static struct mr_mark *mark_to_wait_for(const struct mr_run *run, size_t at)
{
    const struct mr_plan *plan = run->plan;
    struct mr_event *event = plan->steps[plan->events[at]].work->event;
    for (size_t i = at; i-- > 0;) {
        const struct mr_work *work = plan->steps[plan->events[i]].work;
        if (work->type != CU_GRAPH_NODE_TYPE_EVENT_RECORD || work->event != event)
            continue;
        if (run->marks[i])
            mr_mark_hold(run->marks[i]);
        return run->marks[i];
    }
    return mr_event_mark(event);
}

/* A run with its marks; NULL when memory is short. */
static struct mr_run *run_new(struct mr_exec *exec, struct mr_stream *stream, struct mr_context *context)
{
    struct mr_plan *plan = exec->plan;
    struct mr_run *run = atomic_exchange_explicit(&plan->spare, NULL, memory_order_acq_rel);
    if (!run)
        run = mr_alloc(sizeof *run + plan->event_count * sizeof *run->marks);
    if (!run)
        return NULL;
    *run = (struct mr_run){.references = 1, .plan = plan, .context = context};
    mr_plan_hold(plan);
    if (!mr_list_empty(&exec->users)) {
        mr_object_hold(exec); /* which keeps the user objects */
        run->exec = exec;
    }
    bool done = true;
    for (size_t i = 0; i < plan->event_count; i++) {
        const struct mr_work *work = plan->steps[plan->events[i]].work;
        if (work->type == CU_GRAPH_NODE_TYPE_WAIT_EVENT) {
            run->marks[i] = mark_to_wait_for(run, i);
            continue;
        }
        run->marks[i] = mr_mark_new();
        if (!run->marks[i]) {
            done = false;
            continue;
        }
        run->marks[i]->stream = stream;
        run->marks[i]->inside = true;
    }
    if (done)
        return run;
    run_drop(run);
    return NULL;
}

/* A wait for the launch before, if that is in another stream and not over. */
static bool make_wait(struct mr_exec *exec, struct mr_stream *stream, struct mr_command **out)
{
    *out = NULL;
    if (!exec->last || mr_mark_is_done(exec->last) || exec->last->stream == stream)
        return true;
    *out = mr_command_new(MR_COMMAND_WAIT);
    if (!*out)
        return false;
    mr_mark_hold(exec->last);
    (*out)->wait.on = exec->last;
    return true;
}

CUresult mr_exec_launch_begin(struct mr_exec *exec, struct mr_stream *stream, struct mr_context *context,
                              struct mr_exec_launch *launch)
{
    mr_lock_take(&exec->lock);
    struct mr_run *run = run_new(exec, stream, context);
    struct mr_mark *done = mr_mark_new();
    struct mr_command *command = mr_command_new(MR_COMMAND_ASYNC), *wait = NULL;
    if (command)
        command->async = (struct mr_async){
            .begin = mr_run_begin, .free = run_drop, .data = run, .kind = MR_ASYNC_GRAPH, .always = true};
    bool made =
        run && done && command && make_wait(exec, stream, &wait) && (!exec->plan->has_host_copies || mr_run_stage(run));
    CUresult status = made ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
    if (status == CUDA_SUCCESS && exec->plan->has_memory && !move_memory(exec, exec->plan)) {
        mr_call_log(MR_LOG_INFO, "memory of the graph is still allocated from an earlier launch, or was freed already");
        status = CUDA_ERROR_INVALID_VALUE;
    }
    if (status == CUDA_SUCCESS && exec->plan->has_memory) {
        run->uses_memory = true;
        use_memory(exec->plan, 1);
    }
    if (status == CUDA_SUCCESS) {
        done->stream = stream;
        command->mark = done;
        mr_mark_hold(done);
        *launch = (struct mr_exec_launch){.wait = wait, .command = command, .done = done};
        if (exec->plan->event_count > 0 || exec->plan->has_memory || run->waits) {
            atomic_store_explicit(&run->references, 2, memory_order_relaxed);
            launch->run = run;
        }
        return CUDA_SUCCESS;
    }
    mr_lock_drop(&exec->lock);
    if (wait)
        mr_command_free(wait);
    if (command)
        mr_command_free(command); /* and the run */
    else
        run_drop(run);
    if (done)
        mr_mark_drop(done);
    return status;
}

static void nothing(void *data)
{
    (void)data;
}

CUresult mr_exec_upload_begin(struct mr_exec *exec, struct mr_stream *stream, struct mr_exec_launch *launch)
{
    *launch = (struct mr_exec_launch){.command = NULL};
    mr_lock_take(&exec->lock);
    const struct mr_plan *plan = exec->plan;
    if (plan->step_count == 0) {
        mr_lock_drop(&exec->lock);
        return CUDA_SUCCESS;
    }
    struct mr_mark *done = mr_mark_new();
    struct mr_command *command = mr_command_new(MR_COMMAND_RELEASE);
    if (done && command && make_wait(exec, stream, &launch->wait)) {
        for (size_t i = 0; plan->has_memory && i < plan->step_count; i++)
            if (plan->steps[i].work && plan->steps[i].work->type == CU_GRAPH_NODE_TYPE_MEM_ALLOC)
                mr_graph_memory_reserve(plan->steps[i].work->alloc.memory);
        done->stream = stream;
        command->release.function = nothing;
        command->mark = done;
        mr_mark_hold(done);
        launch->command = command;
        launch->done = done;
        return CUDA_SUCCESS;
    }
    mr_lock_drop(&exec->lock);
    if (done)
        mr_mark_drop(done);
    if (command)
        mr_command_free(command);
    return CUDA_ERROR_OUT_OF_MEMORY;
}

/* The events that the launch's nodes record are pending from here on, or complete, if the run is over already. */
static void publish_records(const struct mr_run *run)
{
    const struct mr_plan *plan = run->plan;
    for (size_t i = 0; i < plan->event_count; i++) {
        const struct mr_work *work = plan->steps[plan->events[i]].work;
        if (work->type != CU_GRAPH_NODE_TYPE_EVENT_RECORD)
            continue;
        mr_mark_hold(run->marks[i]);
        mr_event_set_mark(work->event, run->marks[i]);
    }
}

void mr_exec_launch_end(struct mr_exec *exec, struct mr_exec_launch *launch, bool submitted)
{
    struct mr_mark *old = launch->done;
    launch->end = NULL;
    if (submitted) {
        old = exec->last;
        if (launch->run && launch->run->waits) {
            launch->end = launch->done;
            mr_mark_hold(launch->end);
        }
        exec->last = launch->done;
        if (launch->run)
            publish_records(launch->run);
    } else if (launch->run && launch->run->plan->has_memory) {
        undo_memory(launch->run->plan, launch->run->plan->step_count);
    }
    mr_lock_drop(&exec->lock);
    if (old)
        mr_mark_drop(old);
    run_drop(launch->run);
}

/* ---- changes ---- */

/* A plan that may be changed: the one there is, or, while runs have it, a copy. *old is for the caller to drop once it
 * holds no lock. Lock held. */
static struct mr_plan *writable(struct mr_exec *exec, struct mr_plan **old)
{
    MR_HELD(&exec->lock);
    *old = NULL;
    if (atomic_load_explicit(&exec->plan->references, memory_order_acquire) == 1)
        return exec->plan;
    struct mr_plan *copy = mr_plan_copy(exec->plan);
    if (copy) {
        *old = exec->plan;
        exec->plan = copy;
    }
    return copy;
}

static uint32_t find(const struct mr_plan *plan, const struct mr_node *node)
{
    uint64_t handle = (uint64_t)(uintptr_t)mr_object_handle(node);
    return handle ? mr_plan_find(plan, handle) : MR_STEP_NONE;
}

static bool can_be_disabled(const struct mr_work *work)
{
    return work->type == CU_GRAPH_NODE_TYPE_KERNEL || work->type == CU_GRAPH_NODE_TYPE_MEMCPY ||
           work->type == CU_GRAPH_NODE_TYPE_MEMSET;
}

CUresult mr_exec_enable(struct mr_exec *exec, struct mr_node *node, bool enabled)
{
    struct mr_plan *plan, *old = NULL;
    CUresult status = CUDA_SUCCESS;
    mr_lock_take(&exec->lock);
    uint32_t at = find(exec->plan, node);
    if (at == MR_STEP_NONE || !can_be_disabled(exec->plan->steps[at].work))
        status = CUDA_ERROR_INVALID_VALUE;
    else if (exec->plan->steps[at].disabled == enabled && !(plan = writable(exec, &old)))
        status = CUDA_ERROR_OUT_OF_MEMORY;
    else if (exec->plan->steps[at].disabled == enabled)
        plan->steps[at].disabled = !enabled;
    mr_lock_drop(&exec->lock);
    if (old)
        mr_plan_drop(old);
    return status;
}

CUresult mr_exec_is_enabled(struct mr_exec *exec, struct mr_node *node, bool *enabled)
{
    mr_lock_take(&exec->lock);
    uint32_t at = find(exec->plan, node);
    bool found = at != MR_STEP_NONE && can_be_disabled(exec->plan->steps[at].work);
    if (found)
        *enabled = !exec->plan->steps[at].disabled;
    mr_lock_drop(&exec->lock);
    return found ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

struct mr_work *mr_exec_work(struct mr_exec *exec, struct mr_node *node)
{
    struct mr_work *work = NULL;
    mr_lock_take(&exec->lock);
    uint32_t at = find(exec->plan, node);
    if (at != MR_STEP_NONE) {
        work = exec->plan->steps[at].work;
        mr_work_hold(work);
    }
    mr_lock_drop(&exec->lock);
    return work;
}

/* A kernel's attributes aren't among its parameters: the new work has those of the old one. */
static bool keep_attributes(const struct mr_work *old, struct mr_work *new)
{
    if (old->type != CU_GRAPH_NODE_TYPE_KERNEL || new->type != CU_GRAPH_NODE_TYPE_KERNEL ||
        old->kernel.attribute_count == 0 || new->kernel.attribute_count > 0)
        return true;
    new->kernel.attributes =
        mr_memdup(old->kernel.attributes, old->kernel.attribute_count * sizeof *old->kernel.attributes);
    if (new->kernel.attributes)
        new->kernel.attribute_count = old->kernel.attribute_count;
    return new->kernel.attributes != NULL;
}

CUresult mr_exec_set_work(struct mr_exec *exec, struct mr_node *node, struct mr_work *work)
{
    struct mr_plan *plan, *old = NULL;
    CUresult status = CUDA_ERROR_OUT_OF_MEMORY;
    mr_lock_take(&exec->lock);
    uint32_t at = find(exec->plan, node);
    if (at == MR_STEP_NONE)
        status = CUDA_ERROR_INVALID_VALUE;
    else if (keep_attributes(exec->plan->steps[at].work, work)) {
        if (mr_work_change(exec->plan, exec->plan->steps[at].work, work) != CU_GRAPH_EXEC_UPDATE_SUCCESS)
            status = CUDA_ERROR_INVALID_VALUE;
        else if ((plan = writable(exec, &old)) && mr_plan_set_work(plan, at, &work))
            status = CUDA_SUCCESS;
    }
    mr_lock_drop(&exec->lock);
    if (old)
        mr_plan_drop(old);
    mr_work_drop(work);
    return status;
}

/* Puts a plan with other works in the place of the one there is. Lock held; *old as above. */
static CUresult take_works(struct mr_exec *exec, struct mr_work *const *works, struct mr_plan **old)
{
    MR_HELD(&exec->lock);
    struct mr_plan *plan = mr_plan_copy_with(exec->plan, works);
    if (!plan)
        return CUDA_ERROR_OUT_OF_MEMORY;
    *old = exec->plan;
    exec->plan = plan;
    return CUDA_SUCCESS;
}

static void drop_works(struct mr_work **works, size_t count)
{
    for (size_t i = 0; works && i < count; i++)
        if (works[i])
            mr_work_drop(works[i]);
    mr_free(works);
}

/* Takes over the works of a graph for the steps [first, end). Lock held; gives it up. */
static CUresult update_and_unlock(struct mr_exec *exec, struct mr_graph *graph, uint32_t first, uint32_t end,
                                  uint32_t enter, CUgraphExecUpdateResultInfo *info)
{
    MR_HELD(&exec->lock);
    struct mr_plan *old = NULL;
    size_t count = exec->plan->step_count;
    struct mr_work **works = mr_calloc(count + 1, sizeof *works);
    CUresult status = works ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
    if (works) {
        mr_lock_take(&mr_graph_lock);
        bool same = mr_plan_matches(exec->plan, graph, first, end, enter, works, info);
        mr_lock_drop(&mr_graph_lock);
        /* UPDATE_ERROR stands for memory that was short, nothing else. */
        status = same                                         ? take_works(exec, works, &old)
                 : info->result == CU_GRAPH_EXEC_UPDATE_ERROR ? CUDA_ERROR_OUT_OF_MEMORY
                                                              : CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE;
    }
    mr_lock_drop(&exec->lock);
    drop_works(works, count);
    if (old)
        mr_plan_drop(old);
    if (status == CUDA_ERROR_OUT_OF_MEMORY)
        info->result = CU_GRAPH_EXEC_UPDATE_ERROR;
    return status;
}

CUresult mr_exec_set_child(struct mr_exec *exec, struct mr_node *node, struct mr_graph *child)
{
    CUgraphExecUpdateResultInfo info = {0};
    mr_lock_take(&exec->lock);
    uint32_t at = find(exec->plan, node);
    const struct mr_step *step = at == MR_STEP_NONE ? NULL : &exec->plan->steps[at];
    if (step && step->work->type == CU_GRAPH_NODE_TYPE_GRAPH)
        return update_and_unlock(exec, child, at + 1, at + step->span, at, &info);
    mr_lock_drop(&exec->lock);
    return CUDA_ERROR_INVALID_VALUE;
}

CUresult mr_exec_update(struct mr_exec *exec, struct mr_graph *graph, CUgraphExecUpdateResultInfo *info)
{
    *info = (CUgraphExecUpdateResultInfo){.result = CU_GRAPH_EXEC_UPDATE_SUCCESS};
    mr_lock_take(&exec->lock);
    return update_and_unlock(exec, graph, 0, (uint32_t)exec->plan->step_count, MR_STEP_NONE, info);
}

struct mr_exec_numbers mr_exec_look(struct mr_exec *exec)
{
    mr_lock_take(&exec->lock);
    struct mr_exec_numbers numbers = {exec->plan->step_count, atomic_load(&exec->plan->references) - 1};
    mr_lock_drop(&exec->lock);
    return numbers;
}
