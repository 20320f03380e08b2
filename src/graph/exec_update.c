/* SPDX-License-Identifier: Apache-2.0 */
/* Taking over parameters from another graph.
 *
 * Which node stands for which step isn't given: both shapes are walked backwards at the same time, from the nodes that
 * nothing comes after, the latest first, through the dependencies in their order. That is the pairing that hardware
 * makes, as its answers show, with the node that it names when the shapes differ. Then types are compared, then what
 * may change. */
#include <string.h>

#include "base/alloc.h"
#include "graph/exec_private.h"
#include "kernel/launch.h"

/* ---- one work for another ---- */

static int attribute(const struct mr_work *work, CUlaunchAttributeID id)
{
    for (size_t i = 0; i < work->kernel.attribute_count; i++)
        if (work->kernel.attributes[i].id == id)
            return work->kernel.attributes[i].value.cooperative; /* an int, as of all below */
    return 0;
}

/* On hardware (driver 580) these attributes alone must stay, a priority only if kernels run with their own. */
static bool same_attributes(const struct mr_plan *plan, const struct mr_work *one, const struct mr_work *two)
{
    static const CUlaunchAttributeID stay[] = {CU_LAUNCH_ATTRIBUTE_COOPERATIVE,
                                               CU_LAUNCH_ATTRIBUTE_NVLINK_UTIL_CENTRIC_SCHEDULING,
                                               CU_LAUNCH_ATTRIBUTE_PRIORITY};
    for (size_t i = 0; i < sizeof stay / sizeof stay[0]; i++)
        if ((stay[i] != CU_LAUNCH_ATTRIBUTE_PRIORITY || plan->node_priorities) &&
            attribute(one, stay[i]) != attribute(two, stay[i]))
            return false;
    return true;
}

static bool is_linear(const CUDA_MEMCPY3D *copy)
{
    return copy->Height <= 1 && copy->Depth <= 1;
}

/* Kinds of memory stay; so does the shape, except for the length of a linear copy. */
static bool copy_may_change(const CUDA_MEMCPY3D *old, const CUDA_MEMCPY3D *new)
{
    if (old->srcMemoryType != new->srcMemoryType || old->dstMemoryType != new->dstMemoryType)
        return false;
    if (is_linear(old) && is_linear(new))
        return true;
    return old->WidthInBytes == new->WidthInBytes && old->Height == new->Height && old->Depth == new->Depth &&
           old->srcPitch == new->srcPitch && old->dstPitch == new->dstPitch && old->srcHeight == new->srcHeight &&
           old->dstHeight == new->dstHeight;
}

static bool fill_may_change(const CUDA_MEMSET_NODE_PARAMS *old, const CUDA_MEMSET_NODE_PARAMS *new)
{
    if (old->height == 1 && new->height == 1)
        return true;
    return old->height == new->height && old->width == new->width && old->elementSize == new->elementSize &&
           old->pitch == new->pitch;
}

CUgraphExecUpdateResult mr_work_change(const struct mr_plan *plan, const struct mr_work *old, const struct mr_work *new)
{
    bool may = true;
    if (old->type != new->type)
        return CU_GRAPH_EXEC_UPDATE_ERROR_NODE_TYPE_CHANGED;
    switch ((int)old->type) {
    case CU_GRAPH_NODE_TYPE_KERNEL:
        if (old->kernel.launch->context != new->kernel.launch->context)
            return CU_GRAPH_EXEC_UPDATE_ERROR_UNSUPPORTED_FUNCTION_CHANGE;
        if (!same_attributes(plan, old, new))
            return CU_GRAPH_EXEC_UPDATE_ERROR_ATTRIBUTES_CHANGED;
        break;
    case CU_GRAPH_NODE_TYPE_MEMCPY:
        may = copy_may_change(&old->copy.params, &new->copy.params);
        break;
    case CU_GRAPH_NODE_TYPE_MEMSET:
        may = fill_may_change(&old->fill.params, &new->fill.params);
        break;
    case CU_GRAPH_NODE_TYPE_BATCH_MEM_OP:
        may = old->batch.count == new->batch.count;
        break;
    case CU_GRAPH_NODE_TYPE_CONDITIONAL:
        may = old->conditional.type == new->conditional.type && old->conditional.count == new->conditional.count;
        break;
    default:
        break;
    }
    return may ? CU_GRAPH_EXEC_UPDATE_SUCCESS : CU_GRAPH_EXEC_UPDATE_ERROR_PARAMETERS_CHANGED;
}

/* ---- a graph against steps ---- */

struct pair {
    uint32_t step;
    struct mr_node *node;
};

/* One graph against the steps of one. */
struct match {
    const struct mr_plan *plan;
    struct mr_graph *graph;
    uint32_t first, end, enter;        /* as of mr_plan_matches */
    struct pair *pairs;                /* in the order in which they were made */
    size_t paired;
    struct mr_node **partner;          /* of step first + i */
    CUgraphExecUpdateResultInfo *info;
};

static bool differ(struct match *match, CUgraphExecUpdateResult result, struct mr_node *node)
{
    match->info->result = result;
    match->info->errorNode = node ? mr_object_handle(node) : NULL;
    match->info->errorFromNode = NULL;
    return false;
}

static bool changed_shape(struct match *match, struct mr_node *node)
{
    return differ(match, CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED, node);
}

/* The node after `at` of the same graph. */
static uint32_t next_of(const struct mr_plan *plan, uint32_t at)
{
    return at + plan->steps[at].inner + 1;
}

static bool is_end(const struct match *match, uint32_t at)
{
    const struct mr_plan *plan = match->plan;
    const struct mr_step *last = &plan->steps[at + plan->steps[at].span];
    return last->after_count == 0 || (match->enter != MR_STEP_NONE && plan->after[last->first_after] == match->end);
}

/* A dependency as the step that stands for the node: a child's first one. */
static uint32_t before_of(const struct mr_plan *plan, const struct mr_step *step, uint32_t i)
{
    uint32_t at = plan->before[step->first_before + i];
    return plan->steps[at].work ? at : plan->steps[at].extra;
}

/* True if they are partners, now or already. `mark` says whether a node has one. */
static bool make_pair(struct match *match, uint32_t step, struct mr_node *node)
{
    struct mr_node **partner = &match->partner[step - match->first];
    if (*partner == node)
        return true;
    if (*partner || node->mark)
        return false;
    *partner = node;
    node->mark = (size_t)step + 1;
    match->pairs[match->paired++] = (struct pair){step, node};
    return true;
}

/* Both sides' ends, the latest first. */
static bool pair_ends(struct match *match)
{
    size_t count = 0, i = 0;
    uint32_t *ends = mr_alloc((match->end - match->first + 1) * sizeof *ends);
    if (!ends)
        return differ(match, CU_GRAPH_EXEC_UPDATE_ERROR, NULL);
    for (uint32_t at = match->first; at < match->end; at = next_of(match->plan, at))
        if (is_end(match, at))
            ends[count++] = at;
    bool same = true;
    for (struct mr_list *at = match->graph->nodes.prev; at != &match->graph->nodes && same; at = at->prev) {
        struct mr_node *node = MR_CONTAINER(at, struct mr_node, link);
        if (node->after.count > 0)
            continue;
        same = i < count ? make_pair(match, ends[count - 1 - i], node) || changed_shape(match, node)
                         : changed_shape(match, node);
        i++;
    }
    mr_free(ends);
    return same && (i == count || changed_shape(match, NULL));
}

static bool pair_dependencies(struct match *match, struct pair pair)
{
    const struct mr_step *step = &match->plan->steps[pair.step];
    bool root = step->before_count == 0 || match->plan->before[step->first_before] == match->enter;
    uint32_t count = root ? 0 : step->before_count;
    if (count != pair.node->before.count)
        return changed_shape(match, pair.node);
    for (uint32_t i = 0; i < count; i++)
        if (!make_pair(match, before_of(match->plan, step, i), pair.node->before.at[i].node))
            return changed_shape(match, pair.node);
    return true;
}

static bool pair_all(struct match *match)
{
    size_t count = 0;
    for (uint32_t at = match->first; at < match->end; at = next_of(match->plan, at))
        count++;
    if (count != match->graph->count)
        return changed_shape(match, NULL);
    for (struct mr_list *at = match->graph->nodes.next; at != &match->graph->nodes; at = at->next)
        MR_CONTAINER(at, struct mr_node, link)->mark = 0;
    bool same = pair_ends(match);
    for (size_t i = 0; i < match->paired && same; i++)
        same = pair_dependencies(match, match->pairs[i]);
    return same && (match->paired == count || changed_shape(match, NULL));
}

static bool match_inside(const struct match *match, struct pair pair, struct mr_work **works)
{
    const struct mr_plan *plan = match->plan;
    const struct mr_step *step = &plan->steps[pair.step];
    const struct mr_work *work = pair.node->work;
    if (work->type == CU_GRAPH_NODE_TYPE_GRAPH)
        return mr_plan_matches(plan, work->child, pair.step + 1, pair.step + step->span, pair.step, works, match->info);
    if (work->type != CU_GRAPH_NODE_TYPE_CONDITIONAL)
        return true;
    /* The bodies' steps follow each other. */
    uint32_t first = pair.step + 1;
    for (unsigned i = 0; i < work->conditional.count; i++) {
        uint32_t end = first;
        while (end < pair.step + 1 + step->inner && plan->steps[end].region == step->extra + i)
            end = next_of(plan, end);
        if (!mr_plan_matches(plan, work->conditional.bodies[i], first, end, MR_STEP_NONE, works, match->info))
            return false;
        first = end;
    }
    return true;
}

static bool compare_works(struct match *match, struct mr_work **works)
{
    for (int pass = 0; pass < 2; pass++)
        for (size_t i = 0; i < match->paired; i++) {
            struct pair pair = match->pairs[i];
            CUgraphExecUpdateResult result =
                mr_work_change(match->plan, match->plan->steps[pair.step].work, pair.node->work);
            if (result != CU_GRAPH_EXEC_UPDATE_SUCCESS &&
                (pass == 1 || result == CU_GRAPH_EXEC_UPDATE_ERROR_NODE_TYPE_CHANGED))
                return differ(match, result, pair.node);
            if (pass == 1 && !match_inside(match, pair, works))
                return false;
        }
    return true;
}

/* Memory nodes keep what they have: their addresses are fixed. So do child nodes: what is inside has steps of its own.
 */
static void take_works(const struct match *match, struct mr_work **works)
{
    for (size_t i = 0; i < match->paired; i++) {
        struct pair pair = match->pairs[i];
        struct mr_work *work = pair.node->work;
        if (work->type == CU_GRAPH_NODE_TYPE_MEM_ALLOC || work->type == CU_GRAPH_NODE_TYPE_MEM_FREE ||
            work->type == CU_GRAPH_NODE_TYPE_GRAPH)
            continue;
        mr_work_hold(work);
        works[pair.step] = work;
    }
}

bool mr_plan_matches(const struct mr_plan *plan, struct mr_graph *graph, uint32_t first, uint32_t end, uint32_t enter,
                     struct mr_work **works, CUgraphExecUpdateResultInfo *info)
{
    MR_HELD(&mr_graph_lock);
    struct match match = {.plan = plan, .graph = graph, .first = first, .end = end, .enter = enter, .info = info};
    size_t room = end - first + 1;
    match.pairs = mr_alloc(room * sizeof *match.pairs);
    match.partner = mr_calloc(room, sizeof *match.partner);
    bool same = match.pairs && match.partner;
    if (!same)
        (void)differ(&match, CU_GRAPH_EXEC_UPDATE_ERROR, NULL);
    same = same && pair_all(&match);
    for (size_t i = 0; i < match.paired; i++)
        match.pairs[i].node->mark = 0;
    same = same && compare_works(&match, works);
    if (same)
        take_works(&match, works);
    mr_free(match.pairs);
    mr_free(match.partner);
    return same;
}
