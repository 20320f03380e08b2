/* SPDX-License-Identifier: Apache-2.0 */
/* A ring of edges (late.h). Each question goes from what the later operation knows along the edges that it reaches. */
#include "libs/observer/late.h"

#include <string.h>

enum { EDGES = 256 };

struct edge {
    uint32_t timeline, from, lane;
    uint64_t tick, from_tick, lane_tick;
    const struct obs_clock *before; /* by all kinds of edges */
    bool own;
};

_Atomic uint32_t obs_late_edges;
static struct edge edges[EDGES]; /* under the rules' lock */
static uint32_t next_edge;

void obs_late_add(uint32_t timeline, uint64_t tick, const struct obs_late_source *source)
{
    const struct obs_point *point = source->point;
    for (uint32_t i = 0; i < obs_late_edges; i++) {
        struct edge *edge = &edges[i];
        if (edge->timeline != timeline || edge->tick != tick || edge->from != point->timeline ||
            edge->lane != source->lane)
            continue;
        edge->from_tick = point->tick > edge->from_tick ? point->tick : edge->from_tick;
        edge->lane_tick = source->lane_tick > edge->lane_tick ? source->lane_tick : edge->lane_tick;
        edge->before = obs_clock_join(edge->before, point->before[OBS_EDGES_ALL]);
        edge->own = edge->own || source->own;
        return;
    }
    struct edge *edge = &edges[next_edge++ % EDGES];
    obs_clock_drop(edge->before);
    *edge = (struct edge){.timeline = timeline,
                          .tick = tick,
                          .from = point->timeline,
                          .from_tick = point->tick,
                          .lane = source->lane,
                          .lane_tick = source->lane_tick,
                          .before = obs_clock_keep(point->before[OBS_EDGES_ALL]),
                          .own = source->own};
    if (obs_late_edges < EDGES)
        obs_late_edges++;
}

struct obs_late_source obs_late_source_of(const struct obs_operation *operation, struct obs_point *point)
{
    *point = (struct obs_point){.before = {operation->before[0], operation->before[1]},
                                .timeline = operation->timeline,
                                .tick = atomic_load(&((struct obs_operation *)operation)->tick)};
    return (struct obs_late_source){point, operation->lane, operation->lane_tick, false};
}

static bool knows(const struct obs_operation *operation, const struct edge *edge)
{
    uint32_t timeline = edge->timeline;
    uint64_t tick = edge->tick, own = atomic_load(&((struct obs_operation *)operation)->tick);
    return (operation->timeline == timeline && !operation->host && (own > tick || (edge->own && own == tick))) ||
           (operation->launch == timeline && operation->launch_tick > tick) ||
           (operation->lane == timeline && operation->lane_tick >= tick) ||
           obs_clock_at(operation->before[OBS_EDGES_ALL], timeline) >= tick;
}

/* Does what is behind the edge know the timeline up to the tick? */
static bool leads_to(const struct edge *edge, uint32_t timeline, uint64_t tick)
{
    return (edge->from == timeline && edge->from_tick >= tick) || (edge->lane == timeline && edge->lane_tick >= tick) ||
           obs_clock_at(edge->before, timeline) >= tick;
}

static bool leads_to_operation(const struct edge *edge, const struct obs_operation *operation)
{
    return leads_to(edge, operation->timeline, atomic_load(&((struct obs_operation *)operation)->tick)) ||
           (operation->launch && leads_to(edge, operation->launch, operation->launch_tick));
}

static bool leads(const struct obs_operation *later, const struct obs_operation *earlier)
{
    uint32_t reached[EDGES], count = 0;
    bool seen[EDGES] = {false}, found = false;
    for (uint32_t i = 0; i < obs_late_edges; i++)
        if (knows(later, &edges[i])) {
            seen[i] = true;
            reached[count++] = i;
        }
    for (uint32_t at = 0; at < count && !found; at++) {
        found = leads_to_operation(&edges[reached[at]], earlier);
        for (uint32_t i = 0; i < obs_late_edges && !found; i++)
            if (!seen[i] && leads_to(&edges[reached[at]], edges[i].timeline, edges[i].tick)) {
                seen[i] = true;
                reached[count++] = i;
            }
    }
    return found;
}

bool obs_late_comes_after(const struct obs_operation *later, const struct obs_operation *earlier)
{
    obs_order_lock();
    bool found = leads(later, earlier);
    obs_order_unlock();
    return found;
}

bool obs_late_point_after(const struct obs_point *later, const struct obs_point *earlier)
{
    if (later->timeline == earlier->timeline
            ? later->tick > earlier->tick
            : obs_clock_at(later->before[OBS_EDGES_ALL], earlier->timeline) >= earlier->tick)
        return true;
    struct obs_operation one = {.before = {later->before[0], later->before[1]}, .timeline = later->timeline},
                         other = {.timeline = earlier->timeline};
    atomic_store(&one.tick, later->tick);
    atomic_store(&other.tick, earlier->tick);
    return obs_late_edges && leads(&one, &other);
}
