/* SPDX-License-Identifier: Apache-2.0 */
/* Running a plan.
 *
 * A run begins on the thread that owns the stream. It carries out a step, takes off one from what each step behind it
 * still waits for, goes on with one of those that have become ready, and leaves the rest in the plan's list. So a chain
 * runs on one thread with nothing handed over. While there are ready steps that this thread won't get to at once, the
 * plan's task is queued: an invitation. The thread that takes it (a worker, or one that waits for the stream) joins in
 * and passes the invitation on if there is more.
 *
 * `inside` counts what has part in the run: threads, steps whose end will come from elsewhere, the queued invitation.
 * Nothing can be ready without one of them, so the run is over when the count gets to zero, and the thread that takes
 * it there ends the run.
 *
 * Inviting costs more than a few short steps do. If the steps of the latest run were so short that what is ready will
 * be over in SHARE_NS, nobody is invited; unless this thread is about to do something that might wait for another step:
 * a kernel that polls memory, a host function. That keeps the promise that independent branches make progress at the
 * same time.
 *
 * A thread that came to move something on (a mark completed, a watched word changed) runs no steps: it makes them
 * ready, and invites. */
#include "base/clock.h"
#include "base/log.h"
#include "engine/batch.h"
#include "engine/gate.h"
#include "engine/tell.h"
#include "engine/transfer.h"
#include "engine/watch.h"
#include "graph/conditional.h"
#include "graph/exec_private.h"
#include "kernel/launch.h"
#include "object/context.h"

#define SHARE_NS 6000u                 /* about what inviting costs */

/* ---- lists of ready steps ---- */

static void append(struct mr_plan *plan, struct mr_ready *list, uint32_t at)
{
    plan->steps[at].next = MR_STEP_NONE;
    if (list->first == MR_STEP_NONE)
        list->first = at;
    else
        plan->steps[list->last].next = at;
    list->last = at;
    list->count++;
}

static uint32_t take_first(struct mr_plan *plan, struct mr_ready *list)
{
    uint32_t at = list->first;
    if (at != MR_STEP_NONE) {
        list->first = plan->steps[at].next;
        list->count--;
    }
    return at;
}

static bool is_host(const struct mr_plan *plan, uint32_t at)
{
    const struct mr_work *work = plan->steps[at].work;
    return work && work->type == CU_GRAPH_NODE_TYPE_HOST && !work->host.parts;
}

/* ---- invitations ---- */

/* Queues the task, which then counts as inside. Plan's lock held. */
static struct mr_call invite(struct mr_plan *plan)
{
    MR_HELD(&plan->lock);
    struct mr_call none = {0};
    if (plan->invited)
        return mr_gate_on() ? mr_gate_recall(&plan->task) : none;
    plan->invited = true;
    atomic_fetch_add_explicit(&plan->inside, 1, memory_order_relaxed);
    bool offer = plan->ready.count > 0;
    if (offer != plan->offered) {
        plan->offered = offer;
        mr_job_offer(plan->run->resume, offer ? &plan->task : NULL);
    }
    return mr_engine_push(&plan->task, plan->run->key);
}

/* The same for a plan whose steps are held: the task comes when the observer wants to be asked again. */
static struct mr_call invite_later(struct mr_plan *plan)
{
    MR_HELD(&plan->lock);
    struct mr_call none = {0};
    if (plan->invited)
        return none;
    plan->invited = true;
    atomic_fetch_add_explicit(&plan->inside, 1, memory_order_relaxed);
    return mr_gate_hold(&plan->task, plan->run->key, plan->held_ticket);
}

/* Makes the steps of a list ready for all. */
static void publish(struct mr_plan *plan, struct mr_ready *list)
{
    struct mr_call call = {0};
    mr_lock_take(&plan->lock);
    for (uint32_t at; (at = take_first(plan, list)) != MR_STEP_NONE;)
        append(plan, is_host(plan, at) ? &plan->host : &plan->ready, at);
    if (plan->ready.count + plan->host.count > 0)
        call = invite(plan);
    mr_lock_drop(&plan->lock);
    mr_call_make(call);
}

/* How many short steps a thread takes off the shared list at once: for about a third of what inviting costs, if the
 * list lasts much longer than that. */
static uint32_t portion(const struct mr_plan *plan)
{
    uint64_t all = (uint64_t)plan->ready.count * plan->step_ns;
    return plan->step_ns == 0 || all < 8 * SHARE_NS ? 0 : SHARE_NS / 3 / plan->step_ns;
}

/* The next step for this thread, out of the shared lists, unless it only looks (`over`) whether there is one to invite
 * somebody for. If there is none left the invitation is withdrawn: nobody shall come for nothing. */
static uint32_t take_shared(struct mr_plan *plan, struct mr_ready *mine, bool worker, bool over)
{
    struct mr_call call = {0};
    mr_lock_take(&plan->lock);
    uint32_t at = worker && !over ? take_first(plan, &plan->host) : MR_STEP_NONE;
    if (at == MR_STEP_NONE && !over) {
        at = take_first(plan, &plan->ready);
        for (uint32_t more = portion(plan); more > 0; more--)
            append(plan, mine, take_first(plan, &plan->ready));
    }
    if (plan->ready.count + plan->host.count > 0) {
        call = invite(plan);
    } else {
        if (plan->invited && mr_engine_take(&plan->task)) {
            plan->invited = false;
            atomic_fetch_sub_explicit(&plan->inside, 1, memory_order_relaxed);
        }
        if (plan->held.count > 0)
            call = invite_later(plan);
    }
    mr_lock_drop(&plan->lock);
    mr_call_make(call);
    return at;
}

/* ---- the end of a step ---- */

static void note_status(struct mr_plan *plan, struct mr_context *context, CUresult status)
{
    int none = CUDA_SUCCESS;
    if (!atomic_compare_exchange_strong(&plan->status, &none, (int)status))
        return;
    if (mr_context_error(context) == CUDA_SUCCESS) {
        mr_log(MR_LOG_INFO, "a node of a graph failed with status %d", (int)status);
        mr_context_fail(context, status);
    }
}

/* What the run is stopped by: the first failure of a step, or of the stream's context. */
static CUresult run_error(struct mr_plan *plan)
{
    int status = atomic_load_explicit(&plan->status, memory_order_relaxed);
    return status != CUDA_SUCCESS ? (CUresult)status : mr_context_error(plan->run->context);
}

/* Starts a region: its roots are ready. */
static void start_region(struct mr_plan *plan, uint32_t number, struct mr_ready *ready)
{
    struct mr_region *region = &plan->regions[number];
    atomic_store_explicit(&region->left, region->count, memory_order_relaxed);
    for (uint32_t i = 0; i < region->root_count; i++)
        append(plan, ready, plan->roots[region->first_root + i]);
}

/* Which body a conditional step runs now, or -1. */
static int choose_body(const struct mr_plan *plan, uint32_t at)
{
    const struct mr_step *step = &plan->steps[at];
    unsigned value = atomic_load(&step->work->conditional.handle->value), count = step->work->conditional.count;
    switch (step->work->conditional.type) {
    case CU_GRAPH_COND_TYPE_IF:
        return value ? 0 : count > 1 ? 1 : -1;
    case CU_GRAPH_COND_TYPE_WHILE:
        return value ? 0 : -1;
    default:
        return value < count ? (int)value : -1;
    }
}

/* Starts what the conditional step has to run. False if that is nothing: the step is over. A loop whose body is empty
 * would never end by itself, on hardware neither; here the thread looks for a failure each time. */
static bool start_body(struct mr_plan *plan, uint32_t at, struct mr_ready *ready)
{
    for (;;) {
        int body = run_error(plan) == CUDA_SUCCESS ? choose_body(plan, at) : -1;
        if (body < 0)
            return false;
        uint32_t region = plan->steps[at].extra + (uint32_t)body;
        if (plan->regions[region].count > 0) {
            start_region(plan, region, ready);
            return true;
        }
        if (plan->steps[at].work->conditional.type != CU_GRAPH_COND_TYPE_WHILE)
            return false;
        mr_pause();
    }
}

/* A step has ended: what comes after it and is ready goes on the list. The end of a body's last step starts a loop
 * anew, or ends the conditional step, and so on outwards. */
static void end_step(struct mr_plan *plan, uint32_t at, struct mr_ready *ready)
{
    for (;;) {
        const struct mr_step *step = &plan->steps[at];
        for (uint32_t i = 0; i < step->after_count; i++) {
            struct mr_step *next = &plan->steps[plan->after[step->first_after + i]];
            if (next->before_count > 1) {
                if (atomic_fetch_sub_explicit(&next->pending, 1, memory_order_acq_rel) != 1)
                    continue;
                atomic_store_explicit(&next->pending, next->before_count, memory_order_relaxed);
            }
            append(plan, ready, plan->after[step->first_after + i]);
        }
        if (step->region == 0)
            return;
        struct mr_region *region = &plan->regions[step->region];
        if (atomic_fetch_sub_explicit(&region->left, 1, memory_order_acq_rel) != 1)
            return;
        at = region->owner;
        if (plan->steps[at].work->conditional.type == CU_GRAPH_COND_TYPE_WHILE && start_body(plan, at, ready))
            return;
    }
}

/* ---- carrying out a step ---- */

static uint64_t key_of(const struct mr_plan *plan, const struct mr_work *work)
{
    int priority = MR_PRIORITY_LEAST;
    if (!plan->node_priorities)
        return plan->run->key;
    for (size_t i = 0; i < work->kernel.attribute_count; i++)
        if (work->kernel.attributes[i].id == CU_LAUNCH_ATTRIBUTE_PRIORITY)
            priority = work->kernel.attributes[i].value.priority;
    return mr_engine_key(mr_priority_clamp(priority), plan->run->key & (((uint64_t)1 << 56) - 1));
}

/* Begins something that may end on another thread, which counts as inside until then. */
static bool run_kernel(struct mr_plan *plan, struct mr_step *step, CUresult *status)
{
    if (!step->shared)
        return mr_job_run(NULL, step->launch, 0, status);
    atomic_fetch_add_explicit(&plan->inside, 1, memory_order_relaxed);
    if (!mr_job_run(&step->shared->job, step->launch, key_of(plan, step->work), status))
        return false;
    atomic_fetch_sub_explicit(&plan->inside, 1, memory_order_relaxed);
    return true;
}

static CUresult run_staged(const struct mr_step *step)
{
    struct mr_command command = {.kind = MR_COMMAND_COPY, .copy = step->work->copy.box};
    command.copy.source = step->staged;
    command.copy.source_pitch = command.copy.width;
    command.copy.source_slice = command.copy.width * command.copy.height;
    return mr_command_execute(&command, CUDA_SUCCESS);
}

static bool run_transfer(struct mr_plan *plan, struct mr_step *step, CUresult *status)
{
    if (step->staged) {
        *status = run_staged(step);
        return true;
    }
    if (step->shared) { /* cut into pieces, or parts */
        struct mr_shared_step *shared = step->shared;
        atomic_fetch_add_explicit(&plan->inside, 1, memory_order_relaxed);
        if (!mr_job_run_pieces(&shared->job, &shared->command, mr_transfer_pieces(&shared->command), plan->run->key,
                               status))
            return false;
        atomic_fetch_sub_explicit(&plan->inside, 1, memory_order_relaxed);
        return true;
    }
    if (step->work->type == CU_GRAPH_NODE_TYPE_HOST) {
        struct mr_command parts = {.kind = MR_COMMAND_PARTS, .parts = step->work->host.parts};
        *status = mr_command_execute(&parts, CUDA_SUCCESS);
        return true;
    }
    struct mr_command command = {.kind =
                                     step->work->type == CU_GRAPH_NODE_TYPE_MEMCPY ? MR_COMMAND_COPY : MR_COMMAND_FILL};
    if (command.kind == MR_COMMAND_COPY)
        command.copy = step->work->copy.box;
    else
        command.fill = step->work->fill.rows;
    *status = mr_command_execute(&command, CUDA_SUCCESS);
    return true;
}

static CUresult run_host(struct mr_step *step)
{
    struct mr_command command = {.kind = MR_COMMAND_HOST};
    command.host.function = step->work->host.function;
    command.host.data = step->work->host.data;
    return mr_command_execute(&command, CUDA_SUCCESS);
}

static bool run_batch(struct mr_plan *plan, struct mr_step *step, CUresult *status)
{
    atomic_fetch_add_explicit(&plan->inside, 1, memory_order_relaxed);
    if (!mr_batch_begin(step->batch, &step->shared->job, status))
        return false;
    atomic_fetch_sub_explicit(&plan->inside, 1, memory_order_relaxed);
    return true;
}

static bool run_wait(struct mr_plan *plan, struct mr_step *step)
{
    struct mr_mark *mark = plan->run->marks[step->extra];
    if (!mark || mr_mark_is_done(mark))
        return true;
    atomic_fetch_add_explicit(&plan->inside, 1, memory_order_relaxed);
    if (mr_mark_watch(mark, &step->waiting->waiter))
        return false;
    atomic_fetch_sub_explicit(&plan->inside, 1, memory_order_relaxed);
    return true;
}

static void run_record(struct mr_run *run, const struct mr_step *step, CUresult status)
{
    struct mr_mark *mark = run->marks[step->extra];
    if (mr_mark_is_done(mark))         /* in the body of a loop */
        return;
    mr_mark_complete(mark, status, step->work->event->flags & CU_EVENT_DISABLE_TIMING ? 0 : mr_clock_ns());
    mr_release_all();
}

/* Completes what no step of this run has recorded: after a failure, or in a body that didn't run. */
static void complete_records(struct mr_run *run, CUresult status)
{
    const struct mr_plan *plan = run->plan;
    for (size_t i = 0; i < plan->event_count; i++)
        if (plan->steps[plan->events[i]].work->type == CU_GRAPH_NODE_TYPE_EVENT_RECORD)
            run_record(run, &plan->steps[plan->events[i]], status);
}

/* Carries out a step, or leaves it out if the run has failed. False if it goes on elsewhere. */
static bool carry_out(struct mr_plan *plan, uint32_t at)
{
    struct mr_step *step = &plan->steps[at];
    CUresult status = CUDA_SUCCESS, before = run_error(plan);
    bool done = true;
    if (!step->work || step->disabled)
        return true;
    if (before != CUDA_SUCCESS)
        return true;
    if (step->work->type == CU_GRAPH_NODE_TYPE_KERNEL)
        mr_launch_renew(step->launch);
    if (mr_tells())
        mr_run_tell_begin(plan, step);
    switch ((int)step->work->type) {
    case CU_GRAPH_NODE_TYPE_KERNEL:
        done = run_kernel(plan, step, &status);
        break;
    case CU_GRAPH_NODE_TYPE_MEMCPY:
    case CU_GRAPH_NODE_TYPE_MEMSET:
        done = run_transfer(plan, step, &status);
        break;
    case CU_GRAPH_NODE_TYPE_HOST:
        if (step->work->host.parts)
            done = run_transfer(plan, step, &status);
        else
            status = run_host(step);
        break;
    case CU_GRAPH_NODE_TYPE_EVENT_RECORD:
        if (mr_tells() || step->told)
            mr_run_tell_end(step, CUDA_SUCCESS);
        run_record(plan->run, step, CUDA_SUCCESS);
        break;
    case CU_GRAPH_NODE_TYPE_WAIT_EVENT:
        done = run_wait(plan, step);
        break;
    case CU_GRAPH_NODE_TYPE_BATCH_MEM_OP:
        done = run_batch(plan, step, &status);
        break;
    default: /* empty, the start of a child, memory nodes: their work was done when the run was made */
        break;
    }
    if (done && (mr_tells() || step->told))
        mr_run_tell_end(step, status);
    if (done)
        mr_watch_ring();
    if (done && status != CUDA_SUCCESS)
        note_status(plan, step->work->context ? step->work->context : plan->run->context, status);
    return done;
}

/* ---- steps that an observer holds ---- */

/* May the step begin? If not it is kept with those that are held. */
__attribute__((noinline, cold)) static bool may_begin(struct mr_plan *plan, uint32_t at)
{
    const struct mr_step *step = &plan->steps[at];
    struct mr_observed_work work;
    if (!step->work || step->disabled || step->node == 0 || run_error(plan) != CUDA_SUCCESS ||
        !mr_run_describe(plan, step, &work))
        return true;
    uint64_t ticket = mr_gate_ask(&work);
    if (!ticket)
        return true;
    mr_lock_take(&plan->lock);
    if (plan->held.count == 0 || ticket < plan->held_ticket)
        plan->held_ticket = ticket;
    append(plan, &plan->held, at);
    mr_lock_drop(&plan->lock);
    return false;
}

/* What was held is ready again, if the observer wants to be asked about it again. Plan's lock held. */
static void take_back(struct mr_plan *plan)
{
    MR_HELD(&plan->lock);
    if (plan->held.count == 0 || !mr_gate_is_old(plan->held_ticket))
        return;
    for (uint32_t at; (at = take_first(plan, &plan->held)) != MR_STEP_NONE;)
        append(plan, is_host(plan, at) ? &plan->host : &plan->ready, at);
}

/* ---- threads in a run ---- */

static void finish(struct mr_plan *plan)
{
    if (plan->offered) {
        plan->offered = false;
        mr_job_offer(plan->run->resume, NULL);
    }
    for (size_t i = 0; i < plan->conditional_count; i++)
        atomic_fetch_sub_explicit(&plan->steps[plan->conditionals[i]].work->conditional.handle->runs, 1,
                                  memory_order_relaxed);
    for (size_t i = 0; i < plan->run->staged_count; i++)
        plan->steps[plan->run->staged[i].step].staged = NULL;
    if (plan->event_count > 0)
        complete_records(plan->run, (CUresult)atomic_load(&plan->status));
    mr_run_leave_memory(plan->run); /* before anybody learns of the end: a trim that follows finds it unused */
    uint64_t took = plan->step_count > 1 ? mr_clock_ns() - plan->run->began : 0;
    if (plan->step_count > 1)
        atomic_store_explicit(
            &plan->step_ns,
            (uint32_t)(took / plan->step_count < UINT32_MAX - 1 ? took / plan->step_count : UINT32_MAX - 1) + 1,
            memory_order_relaxed);
}

/* Leaves the run; true for the last one, whose call ends it. */
static bool leave(struct mr_plan *plan)
{
    if (atomic_fetch_sub_explicit(&plan->inside, 1, memory_order_acq_rel) != 1)
        return false;
    finish(plan);
    return true;
}

static void leave_elsewhere(struct mr_plan *plan)
{
    struct mr_job *resume = plan->run->resume;
    if (!leave(plan))
        return;
    atomic_store(&resume->status, atomic_load(&plan->status));
    resume->resume(resume); /* the plan may be gone after this */
}

static bool may_wait(const struct mr_plan *plan, uint32_t at)
{
    const struct mr_step *step = &plan->steps[at];
    return step->work &&
           ((step->work->type == CU_GRAPH_NODE_TYPE_KERNEL && (step->launch->code->flags & MR_CODE_WAITS)) ||
            is_host(plan, at));
}

/* True if what is on the list is better shared than done by this thread alone. */
static bool worth_sharing(const struct mr_plan *plan, const struct mr_ready *mine)
{
    uint32_t step_ns = atomic_load_explicit(&plan->step_ns, memory_order_relaxed);
    return step_ns == 0 || (uint64_t)mine->count * step_ns > SHARE_NS;
}

/* The step that this thread does next, with others left to other threads; MR_STEP_NONE if it shall leave. `turn`: what
 * it has done. */
static uint32_t next_step(struct mr_plan *plan, struct mr_ready *mine, bool worker, struct mr_turn *turn)
{
    bool over = worker && turn->ran > 0 && mr_engine_turn_is_over(plan->run->key, turn);
    if (mine->first != MR_STEP_NONE && (over || (!worker && is_host(plan, mine->first))))
        publish(plan, mine);
    uint32_t at = take_first(plan, mine);
    if (at == MR_STEP_NONE)
        at = take_shared(plan, mine, worker, over);
    if (at == MR_STEP_NONE)
        return at;
    if (mine->first != MR_STEP_NONE && (may_wait(plan, at) || worth_sharing(plan, mine)))
        publish(plan, mine);
    return at;
}

/* Runs steps, from those on the list on, until none is left that this thread may take, or (on a worker) it is others'
 * turn. */
static void run_steps(struct mr_plan *plan, struct mr_ready *mine)
{
    bool worker = mr_engine_on_worker();
    uint32_t at;
    for (struct mr_turn turn = {0}; (at = next_step(plan, mine, worker, &turn)) != MR_STEP_NONE; turn.ran++) {
        const struct mr_work *work = plan->steps[at].work;
        if (work && work->type == CU_GRAPH_NODE_TYPE_CONDITIONAL && start_body(plan, at, mine))
            continue;
        if (mr_gate_on() && !may_begin(plan, at))
            continue;
        if (carry_out(plan, at))
            end_step(plan, at, mine);
    }
}

void mr_run_task(struct mr_task *task)
{
    struct mr_plan *plan = MR_CONTAINER(task, struct mr_plan, task);
    struct mr_ready mine = {.first = MR_STEP_NONE};
    mr_lock_take(&plan->lock);
    plan->invited = false; /* its count is this thread's now */
    take_back(plan);
    mr_lock_drop(&plan->lock);
    run_steps(plan, &mine);
    leave_elsewhere(plan);
}

void mr_run_step_ended(struct mr_plan *plan, uint32_t at, CUresult status)
{
    struct mr_ready ready = {.first = MR_STEP_NONE};
    const struct mr_work *work = plan->steps[at].work;
    if (mr_tells() || plan->steps[at].told)
        mr_run_tell_end(&plan->steps[at], status);
    if (status != CUDA_SUCCESS)
        note_status(plan, work->context ? work->context : plan->run->context, status);
    end_step(plan, at, &ready);
    if (work->type == CU_GRAPH_NODE_TYPE_WAIT_EVENT || work->type == CU_GRAPH_NODE_TYPE_BATCH_MEM_OP)
        publish(plan, &ready);
    else
        run_steps(plan, &ready);
    leave_elsewhere(plan);
}

bool mr_run_begin(void *data, uint64_t key, struct mr_job *resume, CUresult *status)
{
    MR_MAY_WAIT();
    struct mr_run *run = data;
    struct mr_plan *plan = run->plan;
    struct mr_ready mine = {.first = MR_STEP_NONE};
    *status = mr_context_error(run->context);
    if (*status != CUDA_SUCCESS) {
        /* The run before may still be in the plan: its part of it isn't touched. */
        complete_records(run, *status);
        return true;
    }
    run->key = key;
    run->resume = resume;
    run->began = plan->step_count > 1 ? mr_clock_ns() : 0;
    plan->run = run;
    atomic_store_explicit(&plan->status, CUDA_SUCCESS, memory_order_relaxed);
    atomic_store_explicit(&plan->inside, 1, memory_order_relaxed);
    for (size_t i = 0; i < plan->conditional_count; i++) {
        struct mr_conditional *conditional = plan->steps[plan->conditionals[i]].work->conditional.handle;
        if (conditional->assigns)
            atomic_store_explicit(&conditional->value, conditional->initial, memory_order_relaxed);
        atomic_fetch_add_explicit(&conditional->runs, 1, memory_order_relaxed);
    }
    for (size_t i = 0; i < run->staged_count; i++)
        plan->steps[run->staged[i].step].staged = run->staged[i].bytes;
    start_region(plan, 0, &mine);
    run_steps(plan, &mine);
    if (!leave(plan))
        return false;
    *status = (CUresult)atomic_load(&plan->status);
    return true;
}
