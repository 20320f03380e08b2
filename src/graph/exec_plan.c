/* SPDX-License-Identifier: Apache-2.0 */
/* From a graph to a plan.
 *
 * Built in three passes under the graph lock: count steps and edges; lay out the steps, nodes in an order of running,
 * the nodes of a child between the child's two steps, bodies behind their conditional; collect the edges as pairs. The
 * pairs are then sorted into one array of successors and one of predecessors by counting. While a graph is laid out, a
 * node's `mark` is its step. */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "command/parts.h"
#include "engine/batch.h"
#include "engine/transfer.h"
#include "graph/conditional.h"
#include "graph/exec_private.h"
#include "kernel/launch.h"

struct sums {
    size_t steps, edges, regions, events, conditionals, nodes;
};

static bool is_event(const struct mr_work *work)
{
    return work->type == CU_GRAPH_NODE_TYPE_EVENT_RECORD || work->type == CU_GRAPH_NODE_TYPE_WAIT_EVENT;
}

static void count_graph(const struct mr_graph *graph, struct sums *sums)
{
    for (const struct mr_list *at = graph->nodes.next; at != &graph->nodes; at = at->next) {
        const struct mr_node *node = MR_CONTAINER(at, struct mr_node, link);
        const struct mr_work *work = node->work;
        sums->steps++;
        sums->nodes++;
        sums->edges += node->before.count;
        sums->events += is_event(work);
        if (work->type == CU_GRAPH_NODE_TYPE_GRAPH) {
            sums->steps++;
            sums->edges += 2 * work->child->count + 1; /* more than there can be roots and ends */
            count_graph(work->child, sums);
        } else if (work->type == CU_GRAPH_NODE_TYPE_CONDITIONAL) {
            sums->conditionals++;
            for (unsigned i = 0; i < work->conditional.count; i++) {
                sums->regions++;
                count_graph(work->conditional.bodies[i], sums);
            }
        }
    }
}

struct pair {
    uint32_t from, to;
};

struct builder {
    struct mr_plan *plan;
    struct pair *pairs;
    struct mr_node **order;            /* room for the nodes of all graphs on the way down */
    size_t ordered;
    uint32_t next_region;
    unsigned bodies;                   /* that are being laid out, one inside the other */
    struct mr_exec_problem *problem;
    CUresult status;
};

static void add_edge(struct builder *builder, uint32_t from, uint32_t to)
{
    builder->pairs[builder->plan->edge_count++] = (struct pair){from, to};
}

static uint32_t add_step(struct builder *builder, struct mr_work *work, uint64_t node, uint32_t region)
{
    struct mr_plan *plan = builder->plan;
    uint32_t at = (uint32_t)plan->step_count++;
    struct mr_step *step = &plan->steps[at];
    if (work)
        mr_work_hold(work);
    step->work = work;
    step->node = node;
    step->region = region;
    plan->regions[region].count++;
    if (node)
        plan->by_node[plan->node_count++] = at;
    if (work && is_event(work)) {
        step->extra = (uint32_t)plan->event_count;
        plan->events[plan->event_count++] = at;
    }
    if (work && work->type == CU_GRAPH_NODE_TYPE_MEMCPY &&
        (work->copy.params.srcMemoryType != CU_MEMORYTYPE_DEVICE ||
         work->copy.params.dstMemoryType != CU_MEMORYTYPE_DEVICE))
        plan->has_host_copies = true;
    if (work && (work->type == CU_GRAPH_NODE_TYPE_MEM_ALLOC || work->type == CU_GRAPH_NODE_TYPE_MEM_FREE))
        plan->has_memory = true;
    return at;
}

static bool lay_out(struct builder *builder, struct mr_graph *graph, uint32_t region, uint32_t enter, uint32_t *ends,
                    size_t *end_count);

/* The nodes of a child graph between two steps: one that all its roots come after, one that comes after all its ends.
 */
static bool lay_out_child(struct builder *builder, uint32_t enter, struct mr_graph *child, uint32_t region)
{
    size_t end_count = 0;
    uint32_t *ends = mr_calloc(child->count + 1, sizeof *ends);
    bool done = ends && lay_out(builder, child, region, enter, ends, &end_count);
    if (!ends)
        builder->status = CUDA_ERROR_OUT_OF_MEMORY;
    if (done) {
        uint32_t exit = add_step(builder, NULL, 0, region);
        builder->plan->steps[enter].span = builder->plan->steps[enter].inner = exit - enter;
        builder->plan->steps[exit].extra = enter;
        for (size_t i = 0; i < end_count; i++)
            add_edge(builder, ends[i], exit);
        if (end_count == 0)
            add_edge(builder, enter, exit);
    }
    mr_free(ends);
    return done;
}

static bool lay_out_bodies(struct builder *builder, uint32_t at, const struct mr_work *work)
{
    struct mr_plan *plan = builder->plan;
    uint32_t first = builder->next_region;
    builder->next_region += work->conditional.count;
    plan->steps[at].extra = first;
    plan->conditionals[plan->conditional_count++] = at;
    builder->bodies++;
    for (unsigned i = 0; i < work->conditional.count; i++) {
        plan->regions[first + i].owner = at;
        if (!lay_out(builder, work->conditional.bodies[i], first + i, MR_STEP_NONE, NULL, NULL))
            return false;
    }
    plan->steps[at].inner = (uint32_t)plan->step_count - at - 1;
    builder->bodies--;
    return true;
}

static bool may_be_in_body(const struct mr_work *work)
{
    return work->type == CU_GRAPH_NODE_TYPE_KERNEL || work->type == CU_GRAPH_NODE_TYPE_EMPTY ||
           work->type == CU_GRAPH_NODE_TYPE_GRAPH || work->type == CU_GRAPH_NODE_TYPE_MEMSET ||
           work->type == CU_GRAPH_NODE_TYPE_MEMCPY || work->type == CU_GRAPH_NODE_TYPE_CONDITIONAL;
}

static bool is_cooperative(const struct mr_work *work)
{
    for (size_t i = 0; work->type == CU_GRAPH_NODE_TYPE_KERNEL && i < work->kernel.attribute_count; i++)
        if (work->kernel.attributes[i].id == CU_LAUNCH_ATTRIBUTE_COOPERATIVE &&
            work->kernel.attributes[i].value.cooperative)
            return true;
    return false;
}

/* The nodes of one graph. Roots come after `enter`, if there is such a step. `ends`, if not NULL, gets the steps that
 * nothing comes after. */
static bool lay_out(struct builder *builder, struct mr_graph *graph, uint32_t region, uint32_t enter, uint32_t *ends,
                    size_t *end_count)
{
    struct mr_node **order = builder->order + builder->ordered;
    if (mr_graph_sort(graph, order) != graph->count) {
        builder->problem->result = CUDA_GRAPH_INSTANTIATE_INVALID_STRUCTURE;
        builder->status = CUDA_ERROR_INVALID_VALUE;
        return false;
    }
    builder->ordered += graph->count;
    struct mr_plan *plan = builder->plan;
    bool done = true;
    for (size_t i = 0; i < graph->count && done; i++) {
        struct mr_node *node = order[i];
        if (builder->bodies > 0 && !may_be_in_body(node->work)) {
            builder->problem->result = CUDA_GRAPH_INSTANTIATE_NODE_OPERATION_NOT_SUPPORTED;
            builder->status = CUDA_ERROR_INVALID_VALUE;
            done = false;
            break;
        }
        uint32_t at = add_step(builder, node->work, (uint64_t)(uintptr_t)mr_object_handle(node), region);
        node->mark = at;
        for (size_t k = 0; k < node->before.count; k++) {
            uint32_t from = (uint32_t)node->before.at[k].node->mark;
            add_edge(builder, from + plan->steps[from].span, at);
        }
        if (node->before.count == 0 && enter != MR_STEP_NONE)
            add_edge(builder, enter, at);
        if (node->work->type == CU_GRAPH_NODE_TYPE_GRAPH)
            done = lay_out_child(builder, at, node->work->child, region);
        else if (node->work->type == CU_GRAPH_NODE_TYPE_CONDITIONAL)
            done = lay_out_bodies(builder, at, node->work);
        if (done && ends && node->after.count == 0)
            ends[(*end_count)++] = at + plan->steps[at].span;
    }
    for (size_t i = 0; i < graph->count; i++)
        order[i]->mark = 0;
    builder->ordered -= graph->count;
    return done;
}

/* Pairs to arrays, sorted by step; the order of a node's dependencies is kept. */
static void place_edges(struct mr_plan *plan, const struct pair *pairs)
{
    uint32_t after = 0, before = 0;
    for (size_t i = 0; i < plan->edge_count; i++) {
        plan->steps[pairs[i].from].after_count++;
        plan->steps[pairs[i].to].before_count++;
    }
    for (size_t i = 0; i < plan->step_count; i++) {
        struct mr_step *step = &plan->steps[i];
        step->first_after = after;
        step->first_before = before;
        after += step->after_count;
        before += step->before_count;
        step->after_count = 0;
        atomic_store_explicit(&step->pending, step->before_count, memory_order_relaxed);
        step->before_count = 0;
    }
    for (size_t i = 0; i < plan->edge_count; i++) {
        struct mr_step *from = &plan->steps[pairs[i].from], *to = &plan->steps[pairs[i].to];
        plan->after[from->first_after + from->after_count++] = pairs[i].to;
        plan->before[to->first_before + to->before_count++] = pairs[i].from;
    }
}

static void place_roots(struct mr_plan *plan)
{
    for (size_t i = 0; i < plan->step_count; i++)
        if (plan->steps[i].before_count == 0)
            plan->regions[plan->steps[i].region].root_count++;
    uint32_t next = 0;
    for (size_t i = 0; i < plan->region_count; i++) {
        plan->regions[i].first_root = next;
        next += plan->regions[i].root_count;
        plan->regions[i].root_count = 0;
    }
    plan->root_count = next;
    for (size_t i = 0; i < plan->step_count; i++) {
        struct mr_region *region = &plan->regions[plan->steps[i].region];
        if (plan->steps[i].before_count == 0)
            plan->roots[region->first_root + region->root_count++] = (uint32_t)i;
    }
}

/* qsort has no argument for the plan; the array is small or made once, so an array of pairs is sorted instead. */
struct named {
    uint64_t node;
    uint32_t step;
};

static int compare_named(const void *left, const void *right)
{
    const struct named *one = left, *two = right;
    return one->node < two->node ? -1 : one->node > two->node;
}

static bool sort_nodes(struct mr_plan *plan)
{
    bool sorted = true;
    for (size_t i = 1; i < plan->node_count && sorted; i++)
        sorted = plan->steps[plan->by_node[i - 1]].node < plan->steps[plan->by_node[i]].node;
    if (sorted)
        return true;
    struct named *named = mr_alloc(plan->node_count * sizeof *named);
    if (!named)
        return false;
    for (size_t i = 0; i < plan->node_count; i++)
        named[i] = (struct named){plan->steps[plan->by_node[i]].node, plan->by_node[i]};
    qsort(named, plan->node_count, sizeof *named, compare_named);
    for (size_t i = 0; i < plan->node_count; i++)
        plan->by_node[i] = named[i].step;
    mr_free(named);
    return true;
}

uint32_t mr_plan_find(const struct mr_plan *plan, uint64_t node)
{
    size_t low = 0, high = plan->node_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        uint64_t here = plan->steps[plan->by_node[middle]].node;
        if (here == node)
            return plan->by_node[middle];
        if (here < node)
            low = middle + 1;
        else
            high = middle;
    }
    return MR_STEP_NONE;
}

/* ---- what a step needs to run ---- */

static void step_resume(struct mr_job *job);
static void step_notify(struct mr_waiter *waiter);
static void step_release(struct mr_release *release);

static void free_needs(struct mr_step *step, CUgraphNodeType type)
{
    mr_free(step->shared);
    if (type == CU_GRAPH_NODE_TYPE_KERNEL)
        mr_launch_free(step->launch);
    else if (type == CU_GRAPH_NODE_TYPE_BATCH_MEM_OP && step->batch)
        mr_batch_free(step->batch);
    else if (type == CU_GRAPH_NODE_TYPE_WAIT_EVENT)
        mr_free(step->waiting);
}

static uint64_t blocks_of(const struct mr_launch *launch)
{
    return (uint64_t)launch->grid[0] * launch->grid[1] * launch->grid[2];
}

static struct mr_shared_step *shared_of(struct mr_plan *plan, uint32_t at)
{
    struct mr_shared_step *shared = mr_calloc(1, sizeof *shared);
    if (shared) {
        shared->job.resume = step_resume;
        shared->plan = plan;
        shared->step = at;
    }
    return shared;
}

static bool shared_transfer(struct mr_plan *plan, uint32_t at, const struct mr_work *work, struct mr_step *needs)
{
    struct mr_command command = {.kind = work->type == CU_GRAPH_NODE_TYPE_MEMCPY ? MR_COMMAND_COPY : MR_COMMAND_FILL};
    if (command.kind == MR_COMMAND_COPY)
        command.copy = work->copy.box;
    else
        command.fill = work->fill.rows;
    if (mr_transfer_pieces(&command) <= 1)
        return true;
    needs->shared = shared_of(plan, at);
    if (needs->shared)
        needs->shared->command = command;
    return needs->shared != NULL;
}

static bool shared_parts(struct mr_plan *plan, uint32_t at, const struct mr_work *work, struct mr_step *needs)
{
    if (!work->host.parts || work->host.parts->count <= 1)
        return true;
    needs->shared = shared_of(plan, at);
    if (!needs->shared)
        return false;
    needs->shared->command = (struct mr_command){.kind = MR_COMMAND_PARTS, .parts = work->host.parts};
    return true;
}

/* Makes what a step of this number needs for a work, in *needs, whose other fields it leaves alone. */
static bool make_needs(struct mr_plan *plan, uint32_t at, const struct mr_work *work, struct mr_step *needs)
{
    needs->shared = NULL;
    needs->launch = NULL;
    if (!work)
        return true;
    switch ((int)work->type) {
    case CU_GRAPH_NODE_TYPE_KERNEL:
        needs->launch = mr_launch_copy(work->kernel.launch);
        if (needs->launch)
            needs->launch->cooperative = is_cooperative(work);
        if (needs->launch &&
            (needs->launch->cooperative || blocks_of(needs->launch) > 1 ||
             (needs->launch->code->flags & MR_CODE_LAUNCHES)) &&
            !(needs->shared = shared_of(plan, at)))
            break;
        return needs->launch != NULL;
    case CU_GRAPH_NODE_TYPE_MEMCPY:
    case CU_GRAPH_NODE_TYPE_MEMSET:
        return shared_transfer(plan, at, work, needs);
    case CU_GRAPH_NODE_TYPE_HOST:
        return shared_parts(plan, at, work, needs);
    case CU_GRAPH_NODE_TYPE_BATCH_MEM_OP:
        needs->batch = mr_batch_new(work->batch.ops, work->batch.count, work->context);
        if (needs->batch && !(needs->shared = shared_of(plan, at)))
            break;
        return needs->batch != NULL;
    case CU_GRAPH_NODE_TYPE_WAIT_EVENT:
        needs->waiting = mr_calloc(1, sizeof *needs->waiting);
        if (!needs->waiting)
            return false;
        *needs->waiting = (struct mr_waiting_step){
            .waiter.notify = step_notify, .release.go = step_release, .plan = plan, .step = at};
        return true;
    default:
        return true;
    }
    free_needs(needs, work->type);
    needs->shared = NULL; /* the step is dropped with its plan: not a second time */
    needs->launch = NULL;
    return false;
}

static void step_resume(struct mr_job *job)
{
    struct mr_shared_step *shared = MR_CONTAINER(job, struct mr_shared_step, job);
    mr_run_step_ended(shared->plan, shared->step, (CUresult)atomic_load(&job->status));
}

/* On the thread that completes the mark, perhaps with a stream's lock held. */
static void step_notify(struct mr_waiter *waiter)
{
    mr_release_add(&MR_CONTAINER(waiter, struct mr_waiting_step, waiter)->release);
}

static void step_release(struct mr_release *release)
{
    struct mr_waiting_step *waiting = MR_CONTAINER(release, struct mr_waiting_step, release);
    mr_run_step_ended(waiting->plan, waiting->step, CUDA_SUCCESS);
}

bool mr_plan_set_work(struct mr_plan *plan, uint32_t at, struct mr_work **work)
{
    struct mr_step *step = &plan->steps[at], needs;
    struct mr_work *old = step->work;
    if (!make_needs(plan, at, *work, &needs))
        return false;
    free_needs(step, old->type);
    step->work = *work;
    step->shared = needs.shared;
    step->launch = needs.launch;
    *work = old;
    return true;
}

bool mr_plan_prepare(struct mr_plan *plan)
{
    MR_MAY_WAIT();
    plan->tasked = mr_engine_task_begin();
    if (!plan->tasked)
        return false;
    for (size_t i = 0; i < plan->step_count; i++)
        if (!make_needs(plan, (uint32_t)i, plan->steps[i].work, &plan->steps[i]))
            return false;
    return sort_nodes(plan);
}

/* ---- plans as a whole ---- */

/* An empty plan with arrays of these sizes; NULL when memory is short. */
static struct mr_plan *plan_new(const struct sums *sums)
{
    struct mr_plan *plan = mr_calloc(1, sizeof *plan);
    if (!plan)
        return NULL;
    mr_lock_init(&plan->lock, MR_LOCK_PLAN);
    atomic_store_explicit(&plan->references, 1, memory_order_relaxed);
    plan->ready.first = plan->host.first = plan->held.first = MR_STEP_NONE;
    plan->task.run = mr_run_task;
    plan->steps = mr_calloc(sums->steps + 1, sizeof *plan->steps);
    plan->after = mr_alloc((sums->edges + 1) * sizeof *plan->after);
    plan->before = mr_alloc((sums->edges + 1) * sizeof *plan->before);
    plan->roots = mr_alloc((sums->steps + 1) * sizeof *plan->roots);
    plan->by_node = mr_alloc((sums->nodes + 1) * sizeof *plan->by_node);
    plan->events = mr_alloc((sums->events + 1) * sizeof *plan->events);
    plan->conditionals = mr_alloc((sums->conditionals + 1) * sizeof *plan->conditionals);
    plan->regions = mr_calloc(sums->regions, sizeof *plan->regions);
    if (plan->steps && plan->after && plan->before && plan->roots && plan->by_node && plan->events &&
        plan->conditionals && plan->regions)
        return plan;
    mr_plan_drop(plan);
    return NULL;
}

void mr_plan_hold(struct mr_plan *plan)
{
    atomic_fetch_add_explicit(&plan->references, 1, memory_order_relaxed);
}

void mr_plan_drop(struct mr_plan *plan)
{
    if (atomic_fetch_sub_explicit(&plan->references, 1, memory_order_acq_rel) != 1)
        return;
    for (size_t i = 0; i < plan->step_count; i++) {
        if (!plan->steps[i].work)
            continue;
        free_needs(&plan->steps[i], plan->steps[i].work->type);
        mr_work_drop(plan->steps[i].work);
    }
    if (plan->tasked)
        mr_engine_task_end();
    mr_free(plan->steps);
    mr_free(plan->after);
    mr_free(plan->before);
    mr_free(plan->roots);
    mr_free(plan->by_node);
    mr_free(plan->events);
    mr_free(plan->conditionals);
    mr_free(plan->regions);
    mr_free(atomic_load_explicit(&plan->spare, memory_order_acquire));
    mr_free(plan);
}

CUresult mr_plan_build(struct mr_graph *graph, struct mr_plan **out, struct mr_exec_problem *problem)
{
    MR_HELD(&mr_graph_lock);
    struct sums sums = {.regions = 1};
    count_graph(graph, &sums);
    if (sums.steps >= MR_STEP_NONE || sums.edges >= UINT32_MAX)
        return CUDA_ERROR_OUT_OF_MEMORY;
    struct builder builder = {.plan = plan_new(&sums), .next_region = 1, .problem = problem, .status = CUDA_SUCCESS};
    builder.pairs = mr_alloc((sums.edges + 1) * sizeof *builder.pairs);
    builder.order = mr_alloc((sums.nodes + 1) * sizeof *builder.order);
    bool done = builder.plan && builder.pairs && builder.order;
    if (!done) {
        builder.status = CUDA_ERROR_OUT_OF_MEMORY;
    } else {
        builder.plan->region_count = sums.regions;
        builder.plan->regions[0].owner = MR_STEP_NONE;
        done = lay_out(&builder, graph, 0, MR_STEP_NONE, NULL, NULL);
    }
    if (done) {
        place_edges(builder.plan, builder.pairs);
        place_roots(builder.plan);
    }
    *out = builder.plan;
    mr_free(builder.pairs);
    mr_free(builder.order);
    return builder.status;
}

struct mr_plan *mr_plan_copy(const struct mr_plan *plan)
{
    return mr_plan_copy_with(plan, NULL);
}

struct mr_plan *mr_plan_copy_with(const struct mr_plan *plan, struct mr_work *const *works)
{
    struct sums sums = {plan->step_count,  plan->edge_count,        plan->region_count,
                        plan->event_count, plan->conditional_count, plan->node_count};
    struct mr_plan *copy = plan_new(&sums);
    if (!copy)
        return NULL;
    for (size_t i = 0; i < plan->step_count; i++) {
        const struct mr_step *from = &plan->steps[i];
        struct mr_step *to = &copy->steps[i];
        struct mr_work *work = works && works[i] ? works[i] : from->work;
        if (work)
            mr_work_hold(work);
        *to = (struct mr_step){.work = work,
                               .node = from->node,
                               .first_after = from->first_after,
                               .after_count = from->after_count,
                               .first_before = from->first_before,
                               .before_count = from->before_count,
                               .pending = from->before_count,
                               .span = from->span,
                               .inner = from->inner,
                               .region = from->region,
                               .extra = from->extra,
                               .disabled = from->disabled};
    }
    for (size_t i = 0; i < plan->region_count; i++)
        copy->regions[i] = (struct mr_region){.owner = plan->regions[i].owner,
                                              .count = plan->regions[i].count,
                                              .first_root = plan->regions[i].first_root,
                                              .root_count = plan->regions[i].root_count};
    memcpy(copy->after, plan->after, plan->edge_count * sizeof *plan->after);
    memcpy(copy->before, plan->before, plan->edge_count * sizeof *plan->before);
    memcpy(copy->roots, plan->roots, plan->root_count * sizeof *plan->roots);
    memcpy(copy->by_node, plan->by_node, plan->node_count * sizeof *plan->by_node);
    memcpy(copy->events, plan->events, plan->event_count * sizeof *plan->events);
    memcpy(copy->conditionals, plan->conditionals, plan->conditional_count * sizeof *plan->conditionals);
    copy->step_count = plan->step_count;
    copy->edge_count = plan->edge_count;
    copy->region_count = plan->region_count;
    copy->root_count = plan->root_count;
    copy->event_count = plan->event_count;
    copy->conditional_count = plan->conditional_count;
    copy->node_count = plan->node_count;
    copy->has_memory = plan->has_memory;
    copy->has_host_copies = plan->has_host_copies;
    copy->node_priorities = plan->node_priorities;
    atomic_store_explicit(&copy->step_ns, atomic_load_explicit(&plan->step_ns, memory_order_relaxed),
                          memory_order_relaxed);
    if (mr_plan_prepare(copy))
        return copy;
    mr_plan_drop(copy);
    return NULL;
}
