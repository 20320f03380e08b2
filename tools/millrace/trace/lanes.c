/* SPDX-License-Identifier: Apache-2.0 */
/* Lanes: which spans stand in which, their names and their order. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"
#include "model.h"

static int compare(uint64_t a, uint64_t b)
{
    return a < b ? -1 : a > b;
}

struct placing {
    struct timeline_process *process;
    LIST(uint64_t, ends); /* of each lane, the end of its last span */
    uint64_t next_id;
};

/* The lane of a kind, of a thing and of a domain of ranges (else 0). */
struct place {
    enum lane_kind kind;
    uint64_t of, domain;
};

/* The further lane `further` of a place; NONE: memory is short. */
static uint32_t lane(struct placing *placing, struct place place, uint32_t further)
{
    struct timeline_process *process = placing->process;
    for (size_t i = process->lanes_count; i-- > 0;) {
        const struct timeline_lane *known = &process->lanes[i];
        if (known->kind == place.kind && known->of == place.of && known->domain == place.domain &&
            known->further == further)
            return (uint32_t)i;
    }
    struct timeline_lane *made = ADD(process, lanes);
    uint64_t *end = made ? ADD(placing, ends) : NULL;
    if (!end)
        return NONE;
    *made = (struct timeline_lane){
        .kind = place.kind, .of = place.of, .domain = place.domain, .further = further, .id = placing->next_id++};
    return (uint32_t)(process->lanes_count - 1);
}

/* The first lane of the place that is free from `from` on; takes it until `to`. */
static uint32_t free_lane(struct placing *placing, struct place place, uint64_t from, uint64_t to)
{
    for (uint32_t further = 0;; further++) {
        uint32_t found = lane(placing, place, further);
        if (found == NONE)
            return NONE;
        assert(found < placing->ends_count);
        if (placing->ends[found] <= from) {
            placing->ends[found] = to;
            return found;
        }
    }
}

/* Works of streams in their order, each run before its steps. */
static int by_place(const void *a, const void *b)
{
    const struct timeline_work *const *x = a, *const *y = b;
    int order = compare((*x)->stream, (*y)->stream);
    order = order ? order : compare((*x)->from, (*y)->from);
    order = order ? order : ((*x)->node != 0) - ((*y)->node != 0);
    order = order ? order : compare((*x)->to, (*y)->to);
    return order ? order : compare((*x)->work, (*y)->work);
}

/* A graph's steps stand inside of its run as long as they don't overlap; else in further lanes. */
static bool place_works(struct placing *placing)
{
    struct timeline_process *process = placing->process;
    struct timeline_work **order = calloc(process->works_count + 1, sizeof(struct timeline_work *));
    uint64_t stream = 0, inside = 0;
    uint32_t run = NONE;
    if (!order)
        return false;
    for (size_t i = 0; i < process->works_count; i++)
        order[i] = &process->works[i];
    qsort(order, process->works_count, sizeof *order, by_place);
    for (size_t i = 0; i < process->works_count; i++) {
        struct timeline_work *work = order[i];
        uint32_t index = (uint32_t)(work - process->works);
        if (i == 0 || work->stream != stream)
            run = NONE;
        stream = work->stream;
        const struct timeline_work *around = run == NONE ? NULL : &process->works[run];
        if (work->node && around && around->work == work->work && inside <= work->from && work->to <= around->to) {
            work->lane = around->lane;
            inside = work->to;
        } else {
            work->lane = free_lane(placing, (struct place){LANE_STREAM, work->stream, 0}, work->from, work->to);
        }
        if (work->lane == NONE) {
            free(order);
            return false;
        }
        if (!work->node) {
            run = index;
            inside = work->from;
        }
    }
    free(order);
    return true;
}

static int by_begin(const void *a, const void *b)
{
    const struct timeline_range *const *x = a, *const *y = b;
    int order = compare((*x)->from, (*y)->from);
    return order ? order : compare((*y)->to, (*x)->to);
}

/* Ranges of the process are in the order of their threads: in that of time each gets the first lane that is free. */
static bool place_started(struct placing *placing)
{
    struct timeline_process *process = placing->process;
    struct timeline_range **order = calloc(process->ranges_count + 1, sizeof(struct timeline_range *));
    size_t count = 0;
    bool good = order != NULL;
    for (size_t i = 0; good && i < process->ranges_count; i++)
        if (process->ranges[i].kind == TRACE_STARTED)
            order[count++] = &process->ranges[i];
    if (count)
        qsort(order, count, sizeof *order, by_begin);
    for (size_t i = 0; good && i < count; i++) {
        order[i]->lane =
            free_lane(placing, (struct place){LANE_RANGES, 0, order[i]->domain}, order[i]->from, order[i]->to);
        good = order[i]->lane != NONE;
    }
    free(order);
    return good;
}

/* A name that was cut may end in a part of a character. */
static void mend_end(char *text)
{
    size_t length = strlen(text), at = length;
    while (at > 0 && length - at < 4 && ((unsigned char)text[at - 1] & 0xc0) == 0x80)
        at--;
    if (at > 0 && mr_utf8_length((const unsigned char *)text + at - 1) == 0)
        text[at - 1] = 0;
}

/* A thread's ranges of one domain lie inside each other. Those of the process may overlap. */
static bool place_ranges(struct placing *placing)
{
    struct timeline_process *process = placing->process;
    for (size_t i = 0; i < process->ranges_count; i++) {
        struct timeline_range *range = &process->ranges[i];
        range->lane = range->kind == TRACE_STARTED
                          ? NONE
                          : lane(placing, (struct place){LANE_PUSHED, range->thread, range->domain}, 0);
        if (range->kind != TRACE_STARTED && range->lane == NONE)
            return false;
    }
    return place_started(placing);
}

static const char *given_name(const struct timeline_process *process, enum trace_given_kind kind, uint64_t key)
{
    const struct timeline_given *given = ranges_given(process, kind, 0, key, UINT64_MAX);
    return given && *given->text ? given->text : NULL;
}

/* Which device a stream's lane is of, where there is a choice or the program has given it a name. */
static void name_device(const struct timeline_process *process, uint64_t stream, char *text, size_t size)
{
    uint64_t context = 0;
    bool several = false;
    const struct timeline_context *found = NULL;
    for (size_t i = 0; i < process->works_count && !context; i++)
        context = process->works[i].stream == stream ? process->works[i].context : 0;
    for (size_t i = 0; i < process->contexts_count; i++) {
        several = several || process->contexts[i].device != process->contexts[0].device;
        found = process->contexts[i].context == context ? &process->contexts[i] : found;
    }
    const char *name = found ? given_name(process, TRACE_GIVEN_DEVICE, found->device) : NULL;
    const char *of = given_name(process, TRACE_GIVEN_CONTEXT, context);
    *text = 0;
    if (name)
        snprintf(text, size, ", %.40s", name);
    else if (found && several)
        snprintf(text, size, ", device %u", found->device);
    if (of)
        snprintf(text + strlen(text), size - strlen(text), ", %.40s", of);
}

static int name_stream(uint64_t stream, char *text, size_t size)
{
    if (!(stream & MR_OBSERVED_DEFAULT_STREAM))
        return snprintf(text, size, "stream %llu", (unsigned long long)stream);
    unsigned thread = MR_OBSERVED_DEFAULT_STREAM_THREAD(stream);
    return thread ? snprintf(text, size, "default stream of a thread (%u)", thread)
                  : snprintf(text, size, "legacy default stream");
}

static int name_thread(const struct timeline_process *process, const struct timeline_lane *lane, char *text,
                       size_t size)
{
    const struct timeline_thread *thread = &process->threads[lane->of];
    const char *name = given_name(process, TRACE_GIVEN_THREAD, thread->thread);
    name = name ? name : thread->name;
    return snprintf(text, size, "thread %llu%s%.60s", (unsigned long long)thread->thread, *name ? " " : "", name);
}

static int name_ranges(const struct timeline_process *process, const struct timeline_lane *lane, char *text,
                       size_t size)
{
    int used = lane->kind == LANE_PUSHED ? name_thread(process, lane, text, size) : 0;
    const struct timeline_given *domain = ranges_given(process, TRACE_GIVEN_DOMAIN, 0, lane->domain, UINT64_MAX);
    if (used < 0 || (size_t)used >= size)
        return used;
    return used + snprintf(text + used, size - (size_t)used, "%s%s%.40s", lane->kind == LANE_PUSHED ? ": " : "",
                           lane->domain ? "ranges of " : "ranges", domain ? domain->text : "");
}

static void name_lanes(struct timeline_process *process)
{
    for (size_t i = 0; i < process->lanes_count; i++) {
        struct timeline_lane *at = &process->lanes[i];
        char *text = at->name, device[96];
        size_t size = sizeof at->name;
        int used = 0;
        if (at->kind == LANE_THREAD) {
            used = name_thread(process, at, text, size);
        } else if (at->kind == LANE_PUSHED || at->kind == LANE_RANGES) {
            used = name_ranges(process, at, text, size);
        } else if (at->kind == LANE_STREAM) {
            const char *name = given_name(process, TRACE_GIVEN_STREAM, at->of);
            name_device(process, at->of, device, sizeof device);
            used = name_stream(at->of, text, size);
            used += snprintf(text + used, size - (size_t)used, "%s%.60s%s", name ? " " : "", name ? name : "", device);
        } else if (at->of == 1024) { /* the driver's number for all threads that are no workers */
            used = snprintf(text, size, "calling threads");
        } else {
            used = snprintf(text, size, "worker %llu", (unsigned long long)at->of);
        }
        if (at->further && used > 0 && (size_t)used < size)
            snprintf(text + used, size - (size_t)used, " (%u)", at->further + 1);
        mend_end(text);
    }
}

static int by_lane(const void *a, const void *b)
{
    const struct timeline_lane *x = *(const struct timeline_lane *const *)a,
                               *y = *(const struct timeline_lane *const *)b;
    uint64_t x_kind = x->kind == LANE_PUSHED ? LANE_THREAD : x->kind,
             y_kind = y->kind == LANE_PUSHED ? LANE_THREAD : y->kind;
    int order = compare(x_kind, y_kind);
    order = order ? order : compare(x->of, y->of);
    order = order ? order : compare(x->kind, y->kind);
    order = order ? order : compare(x->domain, y->domain);
    return order ? order : compare(x->further, y->further);
}

static bool order_lanes(struct timeline_process *process)
{
    struct timeline_lane **order = calloc(process->lanes_count + 1, sizeof(struct timeline_lane *));
    if (!order)
        return false;
    for (size_t i = 0; i < process->lanes_count; i++)
        order[i] = &process->lanes[i];
    qsort(order, process->lanes_count, sizeof *order, by_lane);
    for (size_t i = 0; i < process->lanes_count; i++)
        order[i]->order = (uint32_t)i;
    free(order);
    return true;
}

/* Perfetto wants numbers of lanes that no other process has; numbers of threads end below 2^22. */
bool timeline_place(struct timeline_process *process, uint64_t number)
{
    struct placing placing = {.process = process, .next_id = 10000000 + number * 1000000};
    bool good = true;
    for (size_t i = 0; i < process->calls_count && good; i++) {
        struct timeline_call *call = &process->calls[i];
        call->lane = lane(&placing, (struct place){LANE_THREAD, call->thread, 0}, 0);
        good = call->lane != NONE;
    }
    good = good && place_ranges(&placing) && place_works(&placing);
    for (size_t i = 0; i < process->slices_count && good; i++) {
        struct timeline_slice *slice = &process->slices[i];
        slice->lane = free_lane(&placing, (struct place){LANE_WORKER, slice->worker, 0}, slice->from, slice->to);
        good = slice->lane != NONE;
    }
    name_lanes(process);
    free(placing.ends);
    return good && order_lanes(process);
}
