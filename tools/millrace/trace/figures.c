/* SPDX-License-Identifier: Apache-2.0 */
/* Totals of works by name, and how the time went.
 *
 * The critical path goes back from the work that ended last. A work began because the last of three things had
 * happened: the work before it in its stream had ended, a work that it had to wait for (by an event, a value, or the
 * default stream's rules) had ended, or the host had submitted it. The host went on because a call that waits had
 * returned: then the path goes on with the work that the call waited for. A thread that had waited for nothing may have
 * been told by another one: then the latest wait of any thread counts. The path ends where no thread of the host had
 * waited for anything. */
#include <stdlib.h>
#include <string.h>

#include "model.h"

/* Kernels, copies, fills and host functions: works that keep a thread busy. */
static bool is_busy(const struct timeline_work *work)
{
    return work->kind <= MR_OBSERVED_HOST;
}

/* ---- totals ---- */

static struct timeline_total *total_of(struct timeline_process *process, const struct timeline_work *work)
{
    for (size_t i = 0; i < process->totals_count; i++) {
        struct timeline_total *total = &process->totals[i];
        if (total->kind == work->kind &&
            (total->full == work->full || (total->full && work->full && strcmp(total->full, work->full) == 0)))
            return total;
    }
    struct timeline_total *total = ADD(process, totals);
    if (total)
        *total =
            (struct timeline_total){.name = work->name, .full = work->full, .kind = work->kind, .least = UINT64_MAX};
    return total;
}

static int by_total(const void *a, const void *b)
{
    const struct timeline_total *x = a, *y = b;
    return x->total > y->total ? -1 : x->total < y->total;
}

static bool add_totals(struct timeline_process *process)
{
    for (size_t i = 0; i < process->works_count; i++) {
        const struct timeline_work *work = &process->works[i];
        struct timeline_total *total = total_of(process, work);
        uint64_t time = work->to - work->from;
        if (!total)
            return false;
        total->count++;
        total->total += time;
        total->bytes += work->bytes;
        total->least = time < total->least ? time : total->least;
        total->most = time > total->most ? time : total->most;
    }
    if (process->totals_count)
        qsort(process->totals, process->totals_count, sizeof *process->totals, by_total);
    return true;
}

/* ---- busy and idle ---- */

struct edge {
    uint64_t time;
    int more; /* 1: one begins, -1: one ends */
};

static int by_time(const void *a, const void *b)
{
    const struct edge *x = a, *y = b;
    return x->time < y->time ? -1 : x->time > y->time ? 1 : x->more - y->more;
}

static bool add_busy(struct timeline_process *process)
{
    struct timeline_figures *figures = &process->figures;
    struct edge *edges = calloc(2 * process->works_count + 1, sizeof *edges);
    size_t count = 0;
    int running = 0;
    if (!edges)
        return false;
    for (size_t i = 0; i < process->works_count; i++) {
        const struct timeline_work *work = &process->works[i];
        if (!is_busy(work))
            continue;
        edges[count++] = (struct edge){work->from, 1};
        edges[count++] = (struct edge){work->to, -1};
        figures->work += work->to - work->from;
    }
    qsort(edges, count, sizeof *edges, by_time);
    for (size_t i = 0; i + 1 < count; i++) {
        running += edges[i].more;
        figures->busy += running > 0 ? edges[i + 1].time - edges[i].time : 0;
        figures->overlap += running > 1 ? edges[i + 1].time - edges[i].time : 0;
    }
    figures->device = count ? edges[count - 1].time - edges[0].time : 0;
    free(edges);
    return true;
}

static void add_host(struct timeline_process *process)
{
    struct timeline_figures *figures = &process->figures;
    uint64_t last = process->end;
    for (size_t i = 0; i < process->calls_count; i++) {
        const struct timeline_call *call = &process->calls[i];
        if (call->role == TRACE_HOST_EVENT || call->role == TRACE_HOST_STREAM || call->role == TRACE_HOST_ALL)
            figures->waited += call->to - call->from;
        last = call->to > last ? call->to : last;
    }
    for (size_t i = 0; i < process->works_count; i++)
        last = process->works[i].to > last ? process->works[i].to : last;
    figures->span = last > process->start ? last - process->start : 0;
    for (size_t i = 0; i < process->slices_count; i++)
        figures->worked += process->slices[i].to - process->slices[i].from;
    for (size_t i = 0; i < process->lanes_count; i++)
        figures->workers += process->lanes[i].kind == LANE_WORKER && process->lanes[i].further == 0;
}

/* ---- the critical path ---- */

static int by_target(const void *a, const void *b)
{
    const struct timeline_arrow *x = *(const struct timeline_arrow *const *)a,
                                *y = *(const struct timeline_arrow *const *)b;
    return x->to_work < y->to_work ? -1 : x->to_work > y->to_work;
}

/* The arrows between works, by the work that they go to. */
struct waits {
    const struct timeline_arrow **arrows;
    size_t count;
};

static bool find_waits(const struct timeline_process *process, struct waits *out)
{
    out->arrows = calloc(process->arrows_count + 1, sizeof(struct timeline_arrow *));
    if (!out->arrows)
        return false;
    for (size_t i = 0; i < process->arrows_count; i++) {
        const struct timeline_arrow *arrow = &process->arrows[i];
        bool waits = arrow->kind == ARROW_EVENT || arrow->kind == ARROW_DEFAULT || arrow->kind == ARROW_VALUE;
        if (waits && arrow->from_work != NONE && arrow->to_work != NONE)
            out->arrows[out->count++] = arrow;
    }
    qsort(out->arrows, out->count, sizeof(struct timeline_arrow *), by_target);
    return true;
}

static uint32_t later(const struct timeline_process *process, uint32_t a, uint32_t b)
{
    if (a == NONE || b == NONE)
        return a == NONE ? b : a;
    return process->works[b].to > process->works[a].to ? b : a;
}

/* The work that ended last of those that this one had to wait for; NONE: none. */
static uint32_t waited_for(const struct timeline_process *process, const struct waits *waits, uint32_t work)
{
    size_t low = 0, high = waits->count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (waits->arrows[middle]->to_work < work)
            low = middle + 1;
        else
            high = middle;
    }
    uint32_t found = process->works[work].before;
    for (; low < waits->count && waits->arrows[low]->to_work == work; low++)
        found = later(process, found, waits->arrows[low]->from_work);
    return found;
}

/* The work that the host had last waited for when it made this call, on the same thread, else on any; NONE: it had for
 * none. */
static uint32_t host_waited_for(const struct timeline_process *process, const uint32_t *sources, uint32_t call)
{
    uint32_t elsewhere = NONE;
    for (size_t i = call; i-- > 0;) {
        if (sources[i] == NONE || process->calls[i].to > process->calls[call].from)
            continue;
        if (process->calls[i].thread == process->calls[call].thread)
            return sources[i];
        if (elsewhere == NONE || process->calls[i].to > process->calls[elsewhere].to)
            elsewhere = (uint32_t)i;
    }
    return elsewhere == NONE ? NONE : sources[elsewhere];
}

/* Of each call, the work that it waited for, or NONE. */
static uint32_t *find_sources(const struct timeline_process *process)
{
    uint32_t *sources = malloc((process->calls_count + 1) * sizeof *sources);
    for (size_t i = 0; sources && i < process->calls_count; i++)
        sources[i] = NONE;
    for (size_t i = 0; sources && i < process->arrows_count; i++)
        if (process->arrows[i].kind == ARROW_HOST && process->arrows[i].to_call != NONE)
            sources[process->arrows[i].to_call] = process->arrows[i].from_work;
    return sources;
}

static void walk(struct timeline_process *process, const struct waits *waits, const uint32_t *sources, uint32_t at)
{
    struct timeline_figures *figures = &process->figures;
    while (at != NONE && !process->works[at].critical) {
        struct timeline_work *work = &process->works[at];
        uint32_t next = waited_for(process, waits, at);
        work->critical = true;
        figures->critical += work->to - work->from;
        figures->critical_works++;
        if (work->call != NONE && (next == NONE || process->works[next].to < work->bound)) {
            next = host_waited_for(process, sources, work->call);
            uint64_t since = next == NONE ? process->start : process->works[next].to;
            figures->critical_host += work->bound > since ? work->bound - since : 0;
        }
        at = next;
    }
}

static bool find_path(struct timeline_process *process)
{
    struct waits waits = {0};
    uint32_t *sources = find_sources(process), last = NONE;
    bool good = sources && find_waits(process, &waits);
    for (size_t i = 0; i < process->works_count; i++)
        if (!process->works[i].node)
            last = later(process, last, (uint32_t)i);
    if (good)
        walk(process, &waits, sources, last);
    free(sources);
    free(waits.arrows);
    return good;
}

bool timeline_sum(struct timeline *timeline)
{
    for (size_t i = 0; i < timeline->processes_count; i++) {
        struct timeline_process *process = &timeline->processes[i];
        add_host(process);
        if (!add_totals(process) || !add_busy(process) || !find_path(process) || !ranges_sum(process))
            return false;
    }
    return true;
}
