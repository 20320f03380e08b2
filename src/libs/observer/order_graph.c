/* SPDX-License-Identifier: Apache-2.0 */
/* The rules for graphs (plan.h, order_call.h): instantiating, launching, and the steps of a run.
 *
 * A step comes after the steps that its edges name and after all that the launch comes after. Its operation is made
 * when it begins, since all that come before it have begun by then. Nodes that don't begin (empty ones, those that are
 * off) pass on what they come after. A body of a conditional node that begins again comes after all that it did the
 * time before. Launches of one executable graph are in order, in whichever streams they are.
 *
 * A kernel with a programmatic edge to it has an early part, an operation of its own: until it waits for the kernel at
 * the edge's other end, it comes after what that one comes after. Its later part comes after both. */
#include <stdlib.h>

#include "libs/observer/order_call.h"
#include "libs/observer/plan.h"

struct state {
    struct obs_operation *operation, *early; /* early: before it waits for those that it may overlap with, or NULL */
    const struct obs_clock *passed[OBS_EDGES_KINDS];   /* of a node without an operation: what it comes after */
    const struct obs_clock *acquired[OBS_EDGES_KINDS]; /* what the event or values stood for at the launch that it waits
                                                          for */
    const struct obs_clock *again[OBS_EDGES_KINDS]; /* of a conditional node: what its bodies did before */
    uint64_t seen_before, seen_after; /* the latest search that has added what is before, after it */
    bool has_passed, begun, repeats;
    bool open; /* it waits for a value that was not there at the launch */
};

struct obs_run {
    struct obs_plan *plan;
    struct obs_operation *launch;
    struct obs_point start; /* what all steps come after */
    struct obs_operation *rest;
    uint64_t search, searches; /* the search under way, and how many there were */
    struct state state[];
};

/* The node in whose region the node is, if that can run several times: the nearest one. */
static uint32_t repeating_owner(const struct obs_plan *plan, uint32_t index)
{
    uint32_t owner = plan->node[index].owner;
    while (owner != OBS_NO_NODE && plan->node[owner].type != CU_GRAPH_NODE_TYPE_CONDITIONAL)
        owner = plan->node[owner].owner;
    return owner;
}

static void add(const struct obs_clock *to[OBS_EDGES_KINDS], const struct obs_clock *const from[OBS_EDGES_KINDS])
{
    for (int i = 0; i <= obs_edges_apart; i++)
        to[i] = obs_clock_join(to[i], from[i]);
}

static void drop(const struct obs_clock *clocks[OBS_EDGES_KINDS])
{
    for (int i = 0; i < OBS_EDGES_KINDS; i++) {
        obs_clock_drop(clocks[i]);
        clocks[i] = NULL;
    }
}

static void go_after(struct obs_run *run, uint32_t index, const struct obs_clock *to[OBS_EDGES_KINDS]);
static void go_before(struct obs_run *run, uint32_t index, const struct obs_clock *to[OBS_EDGES_KINDS]);

/* What the node's edges lead from; `early`: as far as it comes before the node waits for what it may overlap with. */
static void go_edges(struct obs_run *run, uint32_t index, bool early, const struct obs_clock *to[OBS_EDGES_KINDS])
{
    const struct obs_plan_node *node = &run->plan->node[index];
    for (uint32_t i = 0; i < node->before_count; i++)
        if (node->edge[i] == OBS_EDGE_PLAIN || (node->edge[i] == OBS_EDGE_PROGRAMMATIC && !early))
            go_after(run, node->before[i], to);
        else
            go_before(run, node->before[i], to);
}

/* Adds what the node comes after. A search comes to a node by many ways, and adds it once. */
static void go_before(struct obs_run *run, uint32_t index, const struct obs_clock *to[OBS_EDGES_KINDS])
{
    const struct obs_plan_node *node = &run->plan->node[index];
    if (run->state[index].seen_before == run->search)
        return;
    run->state[index].seen_before = run->search;
    go_edges(run, index, false, to);
    if (node->before_count == 0) {
        if (node->owner == OBS_NO_NODE) {
            add(to, run->start.before);
        } else {
            go_before(run, node->owner, to);
            add(to, run->state[node->owner].again);
        }
    }
    add(to, run->state[index].acquired);
}

static void add_before(struct obs_run *run, uint32_t index, const struct obs_clock *to[OBS_EDGES_KINDS])
{
    uint64_t outer = run->search;
    run->search = ++run->searches;
    go_before(run, index, to);
    run->search = outer;
}

/* Adds what has happened once the node is done. */
static void go_after(struct obs_run *run, uint32_t index, const struct obs_clock *to[OBS_EDGES_KINDS])
{
    const struct obs_plan_node *node = &run->plan->node[index];
    struct state *state = &run->state[index];
    if (state->seen_after == run->search)
        return;
    state->seen_after = run->search;
    if (state->operation) {
        struct obs_point point = {.before = {state->operation->before[0], state->operation->before[1]},
                                  .timeline = state->operation->timeline,
                                  .tick = atomic_load(&state->operation->tick)};
        obs_point_join(to, &point);
    } else if (state->has_passed) {
        add(to, state->passed);
    } else if (node->inner == OBS_NO_NODE) {
        add_before(run, index, state->passed);
        state->has_passed = true;
        add(to, state->passed);
    }
    if (node->inner == OBS_NO_NODE)
        return;
    go_before(run, index, to);
    add(to, state->again);
    for (uint32_t i = node->inner; i != OBS_NO_NODE; i = run->plan->node[i].next)
        if (run->plan->node[i].last)
            go_after(run, i, to);
}

static void add_after(struct obs_run *run, uint32_t index, const struct obs_clock *to[OBS_EDGES_KINDS])
{
    uint64_t outer = run->search;
    run->search = ++run->searches;
    go_after(run, index, to);
    run->search = outer;
}

/* An operation at the next tick of a chain, which belongs to the run; what it comes after isn't said yet. */
static struct obs_operation *at_chain(struct obs_run *run, uint32_t index, uint32_t chain)
{
    struct obs_plan *plan = run->plan;
    struct obs_operation *operation = obs_operation_new();
    if (!plan->timeline[chain])
        plan->timeline[chain] = obs_timeline_take(obs_lane_here(), &plan->tick[chain]);
    if (!operation) {
        obs_order_short = true;
        return NULL;
    }
    operation->timeline = plan->timeline[chain];
    atomic_store(&operation->tick, ++plan->tick[chain]);
    operation->lane = run->launch->lane;
    operation->lane_tick = run->launch->lane_tick;
    operation->launch = run->launch->timeline;
    operation->launch_tick = atomic_load(&run->launch->tick);
    operation->two = obs_edges_apart;
    operation->side = run->launch->side;
    operation->side.what = MR_SIDE_GRAPH;
    operation->side.node = plan->node[index].handle;
    return operation;
}

/* What the kernel does before it waits for those that it may overlap with. */
static struct obs_operation *early_new(struct obs_run *run, uint32_t index)
{
    struct obs_operation *early = at_chain(run, index, run->plan->node[index].early);
    if (!early)
        return NULL;
    uint64_t outer = run->search;
    run->search = ++run->searches;
    go_edges(run, index, true, early->before);
    run->search = outer;
    early->side.overlaps = true;
    return early;
}

static struct obs_operation *step_new(struct obs_run *run, uint32_t index)
{
    const struct obs_plan_node *node = &run->plan->node[index];
    struct obs_operation *operation = at_chain(run, index, node->chain), *early = NULL;
    if (!operation)
        return NULL;
    add_before(run, index, operation->before);
    if (node->early != OBS_NO_NODE)
        early = early_new(run, index);
    for (int i = 0; i <= obs_edges_apart && early; i++)
        operation->before[i] = obs_clock_with(operation->before[i], early->timeline, run->plan->tick[node->early]);
    run->state[index].operation = operation;
    run->state[index].early = early;
    return operation;
}

static bool is_inside(const struct obs_plan *plan, uint32_t index, uint32_t owner)
{
    while (index != OBS_NO_NODE && index != owner)
        index = plan->node[index].owner;
    return index == owner;
}

/* The region of a conditional node runs once more: its steps come after all that it did. */
static void run_again(struct obs_run *run, uint32_t owner)
{
    const struct obs_clock *done[OBS_EDGES_KINDS] = {0};
    add_after(run, owner, done);
    for (uint32_t i = owner + 1; i < run->plan->count; i++) {
        struct state *state = &run->state[i];
        if (!is_inside(run->plan, i, owner))
            continue;
        obs_operation_drop(state->operation);
        obs_operation_drop(state->early);
        state->operation = state->early = NULL;
        state->begun = state->has_passed = false;
        drop(state->passed);
        drop(state->again);
    }
    drop(run->state[owner].again);
    for (int i = 0; i < OBS_EDGES_KINDS; i++)
        run->state[owner].again[i] = done[i];
}

/* A step of a node that the plan doesn't know: it comes after all that has begun, which is more than is promised. */
static struct obs_operation *rest_new(struct obs_run *run)
{
    struct obs_operation *operation = obs_operation_new();
    if (!operation)
        return NULL;
    add(operation->before, run->start.before);
    for (uint32_t i = 0; i < run->plan->count; i++)
        if (run->state[i].operation)
            add_after(run, i, operation->before);
    operation->timeline = run->launch->timeline;
    atomic_store(&operation->tick, atomic_load(&run->launch->tick));
    operation->lane = run->launch->lane;
    operation->lane_tick = run->launch->lane_tick;
    operation->two = obs_edges_apart;
    operation->side = run->launch->side;
    return operation;
}

struct obs_operation *obs_run_step(struct obs_run *run, const struct mr_observed_work *work, bool begins,
                                   struct obs_operation **early)
{
    struct obs_operation *operation;
    obs_order_lock();
    uint32_t index = obs_plan_find(run->plan, work->node);
    if (index == OBS_NO_NODE) {
        if (!run->rest || begins) {
            if (run->rest)
                obs_operation_drop(run->rest);
            run->rest = rest_new(run);
        }
        operation = run->rest;
    } else {
        struct state *state = &run->state[index];
        uint32_t owner = repeating_owner(run->plan, index);
        if (begins && state->begun && owner != OBS_NO_NODE)
            run_again(run, owner);
        state->begun = state->begun || begins;
        operation = state->operation ? state->operation : step_new(run, index);
        *early = operation && state->early ? obs_operation_keep(state->early) : NULL;
        if (*early && begins) {
            (*early)->side.what = obs_side_of(work);
            (*early)->side.kernel = work->kernel;
        }
    }
    if (operation) {
        if (begins) {
            operation->side.what = obs_side_of(work);
            operation->side.kernel = work->kernel;
        }
        obs_operation_keep(operation);
    }
    obs_order_unlock();
    return operation;
}

/* Memory that the run's nodes allocate and free. */
static void tell_memory(struct obs_run *run)
{
    for (uint32_t i = 0; i < run->plan->count; i++) {
        const struct obs_plan_node *node = &run->plan->node[i];
        struct obs_operation *operation = run->state[i].operation;
        if (!operation || !node->memory)
            continue;
        if (node->type == CU_GRAPH_NODE_TYPE_MEM_ALLOC)
            obs_generation_made(operation, MR_ALLOCATION_GRAPH, (uintptr_t)node->memory, node->size);
        else
            obs_generation_ended(operation, (uintptr_t)node->memory);
    }
}

/* What waits for values acquire that are there. */
static void acquire_values(struct obs_run *run)
{
    for (uint32_t i = 0; i < run->plan->count; i++) {
        const struct obs_plan_node *node = &run->plan->node[i];
        for (uint32_t n = 0; n < node->values; n++)
            if (obs_values_is_wait(&node->value[n]) && !obs_values_acquire(&node->value[n], run->state[i].acquired))
                run->state[i].open = true;
    }
}

/* The other waits, then the writes, of steps that run once. */
static void tell_values(struct obs_run *run, bool waits)
{
    for (uint32_t i = 0; i < run->plan->count; i++) {
        const struct obs_plan_node *node = &run->plan->node[i];
        const struct obs_operation *step = run->state[i].operation;
        if (!step || (waits && !run->state[i].open))
            continue;
        for (uint32_t n = 0; n < node->values; n++) {
            const CUstreamBatchMemOpParams *op = &node->value[n];
            if (waits && obs_values_is_wait(op))
                obs_values_await(op, step);
            else if (!waits && !obs_values_is_wait(op))
                obs_values_release(op, step, run->launch->side.number);
        }
    }
}

static void prepare_run(struct obs_run *run, struct obs_stream *stream)
{
    struct obs_plan *plan = run->plan;
    if (plan->has_values)
        acquire_values(run);
    for (uint32_t i = 0; plan->has_waits && i < plan->count; i++) {
        const struct obs_plan_node *node = &plan->node[i];
        const struct obs_event *event =
            node->type == CU_GRAPH_NODE_TYPE_WAIT_EVENT ? obs_event_find(node->event, false) : NULL;
        if (event)
            obs_point_join(run->state[i].acquired, &event->point);
    }
    for (uint32_t i = 0; (plan->has_waits || plan->has_values) && i < plan->count; i++) {
        struct obs_point acquired = {.before = {run->state[i].acquired[0], run->state[i].acquired[1]}};
        obs_order_wait(stream, &acquired); /* what comes after the launch comes after its steps */
    }
    bool repeats = false;
    bool all = plan->has_records || plan->has_memory || plan->has_values;
    for (uint32_t i = 0; all && i < plan->count; i++) {
        repeats = repeats || plan->node[i].type == CU_GRAPH_NODE_TYPE_CONDITIONAL;
        if (plan->node[i].inner == OBS_NO_NODE && repeating_owner(plan, i) == OBS_NO_NODE)
            step_new(run, i);
        if (plan->node[i].memory && run->state[i].operation)
            run->state[i].operation->side.what =
                plan->node[i].type == CU_GRAPH_NODE_TYPE_MEM_ALLOC ? MR_SIDE_ALLOCATION : MR_SIDE_FREE;
    }
    if (plan->has_values) {
        tell_values(run, true);
        tell_values(run, false);
    }
    for (uint32_t i = 0; plan->has_records && i < plan->count; i++) {
        const struct obs_plan_node *node = &plan->node[i];
        struct obs_event *event =
            node->type == CU_GRAPH_NODE_TYPE_EVENT_RECORD ? obs_event_find(node->event, true) : NULL;
        if (!event)
            continue;
        if (repeats) { /* how often bodies run isn't known yet: the whole launch is more than that */
            obs_point_set(&event->point, &stream->now);
            continue;
        }
        obs_point_clear(&event->point);
        add_before(run, i, event->point.before);
    }
}

/* The executable graph that the call launches, if it is known. */
static struct obs_exec *launched(const struct obs_call *call)
{
    static const uint16_t launch_at = offsetof(struct mr_params_cuGraphLaunch, hGraph) + 1,
                          upload_at = offsetof(struct mr_params_cuGraphUpload, hGraph) + 1;
    uint16_t at = call->call->call == MR_CALL_cuGraphLaunch   ? launch_at
                  : call->call->call == MR_CALL_cuGraphUpload ? upload_at
                                                              : 0;
    return at ? obs_exec_find(obs_param_handle(call, at), false) : NULL;
}

void obs_run_before(const struct obs_call *call, struct obs_stream *stream)
{
    const struct obs_exec *exec = launched(call);
    if (exec)
        obs_order_wait(stream, &exec->launch);
}

struct obs_run *obs_run_new(struct obs_call *call, struct obs_stream *stream, struct obs_operation *launch)
{
    struct obs_exec *exec = launched(call);
    if (exec)
        obs_point_set(&exec->launch, &stream->now);
    if (!exec || !exec->plan)
        return NULL;
    struct obs_run *run = calloc(1, sizeof *run + exec->plan->count * sizeof run->state[0]);
    if (!run) {
        obs_order_short = true;
        return NULL;
    }
    run->plan = obs_plan_keep(exec->plan);
    run->launch = obs_operation_keep(launch);
    add(run->start.before, launch->before);
    uint64_t tick = atomic_load(&launch->tick);
    for (int i = 0; i <= obs_edges_apart && tick > 1; i++)
        run->start.before[i] = obs_clock_with(run->start.before[i], launch->timeline, tick - 1);
    prepare_run(run, stream);
    obs_point_set(&exec->launch, &stream->now);
    return run;
}

void obs_run_tell_memory(struct obs_run *run)
{
    if (run->plan->has_memory)
        tell_memory(run);
}

void obs_run_end(struct obs_run *run)
{
    obs_order_lock();
    struct obs_point last = {.timeline = run->launch->timeline, .tick = atomic_load(&run->launch->tick)};
    for (uint32_t i = 0; i < run->plan->count; i++) {
        struct state *state = &run->state[i];
        obs_operation_drop(state->operation);
        obs_operation_drop(state->early);
        drop(state->passed);
        drop(state->acquired);
        drop(state->again);
    }
    if (run->rest)
        obs_operation_drop(run->rest);
    obs_plan_drop(run->plan, &last);
    obs_point_clear(&run->start);
    obs_operation_drop(run->launch);
    free(run);
    obs_order_unlock();
}

void obs_instantiate_leave(struct obs_call *call)
{
    const CUgraphExec *handle = (const CUgraphExec *)obs_param_handle(call, call->family->object);
    struct obs_plan *plan = obs_plan_new((CUgraph)obs_param_handle(call, call->family->from));
    obs_order_lock();
    struct obs_exec *exec = obs_exec_find((uintptr_t)*handle, true);
    if (exec) {
        obs_plan_drop(exec->plan, &exec->launch);
        exec->plan = plan;
    }
    obs_order_unlock();
}

void obs_exec_end_enter(struct obs_call *call)
{
    uint64_t handle = obs_param_handle(call, call->family->object);
    obs_order_lock();
    struct obs_exec *exec = obs_exec_find(handle, false);
    if (exec)
        obs_plan_drop(exec->plan, &exec->launch);
    obs_exec_end(handle);
    obs_order_unlock();
}

/* An event of an executable graph's node is another one from now on. */
/* The node of an executable graph that the call has changed, NULL if it is not known. With the lock. */
static struct obs_plan_node *changed_node(const struct obs_call *call)
{
    const struct obs_exec *exec = obs_exec_find(obs_param_handle(call, call->family->object), false);
    uint32_t index =
        exec && exec->plan ? obs_plan_find(exec->plan, obs_param_handle(call, call->family->from)) : OBS_NO_NODE;
    return index != OBS_NO_NODE ? &exec->plan->node[index] : NULL;
}

void obs_exec_event_leave(struct obs_call *call)
{
    obs_order_lock();
    struct obs_plan_node *node = changed_node(call);
    if (node)
        node->event = obs_param_handle(call, call->family->to);
    obs_order_unlock();
}

/* A node of an executable graph has other parameters from now on: values or an event. */
void obs_exec_params_leave(struct obs_call *call)
{
    const void *params = (const void *)obs_param_handle(call, call->family->to);
    CUgraphNodeParams any = {.type = CU_GRAPH_NODE_TYPE_BATCH_MEM_OP};
    if (call->family->number == 1) {
        any.memOp.paramArray = ((const CUDA_BATCH_MEM_OP_NODE_PARAMS *)params)->paramArray;
        any.memOp.count = ((const CUDA_BATCH_MEM_OP_NODE_PARAMS *)params)->count;
    } else {
        any = *(const CUgraphNodeParams *)params;
    }
    obs_order_lock();
    struct obs_plan_node *node = changed_node(call);
    if (node && any.type == CU_GRAPH_NODE_TYPE_BATCH_MEM_OP)
        obs_plan_set_values(node, any.memOp.paramArray, any.memOp.count);
    else if (node && any.type == CU_GRAPH_NODE_TYPE_EVENT_RECORD)
        node->event = (uintptr_t)any.eventRecord.event;
    else if (node && any.type == CU_GRAPH_NODE_TYPE_WAIT_EVENT)
        node->event = (uintptr_t)any.eventWait.event;
    obs_order_unlock();
}

/* Its nodes have what those of a graph like its own have now. */
void obs_exec_updated_leave(struct obs_call *call)
{
    struct obs_plan *like = obs_plan_new((CUgraph)obs_param_handle(call, call->family->from));
    obs_order_lock();
    const struct obs_exec *exec = obs_exec_find(obs_param_handle(call, call->family->object), false);
    if (exec && exec->plan && like)
        obs_plan_take_over(exec->plan, like);
    obs_plan_drop(like, &(struct obs_point){0});
    obs_order_unlock();
}

void obs_node_added_leave(struct obs_call *call)
{
    const CUgraphNode *node = (const CUgraphNode *)obs_param_handle(call, call->family->object);
    const CUgraphNodeParams *params = (const CUgraphNodeParams *)obs_param_handle(call, call->family->from);
    if (params->type == CU_GRAPH_NODE_TYPE_CONDITIONAL)
        obs_plan_bodies(*node, params->conditional.phGraph_out, params->conditional.size);
}
