/* SPDX-License-Identifier: Apache-2.0 */
/* Arrows.
 *
 * A record or a wait is no work, so an arrow from a record begins where the last work ended that its stream had got
 * before, and an arrow to a wait ends where the first work began that its stream got afterwards. Without such a work
 * the arrow begins or ends in the call. */
#include <stdlib.h>
#include <string.h>

#include "model.h"

static int compare(uint64_t a, uint64_t b)
{
    return a < b ? -1 : a > b;
}

/* ---- arrows ---- */

/* An event's latest record: the call, by the event's handle, in a table with open addresses. */
struct recorded {
    uint64_t event;
    uint64_t ended; /* when the last event with this handle was destroyed */
    uint32_t call;
};

struct linking {
    struct timeline_process *process;
    struct timeline_work **order; /* bound works by stream, then as they were bound */
    size_t count;
    struct recorded *table;
    size_t mask;
};

static int by_bound(const void *a, const void *b)
{
    const struct timeline_work *const *x = a, *const *y = b;
    int order = compare((*x)->stream, (*y)->stream);
    order = order ? order : compare((*x)->bound, (*y)->bound);
    return order ? order : compare((*x)->work, (*y)->work);
}

/* How many of `order` are of earlier streams, or of this one and bound before `time`. */
static size_t before(const struct linking *linking, uint64_t stream, uint64_t time)
{
    size_t low = 0, high = linking->count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        const struct timeline_work *work = linking->order[middle];
        if (work->stream < stream || (work->stream == stream && work->bound < time))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static struct recorded *find(struct linking *linking, uint64_t event)
{
    size_t at = (event * 0x9e3779b97f4a7c15u) >> 32 & linking->mask;
    while (linking->table[at].event && linking->table[at].event != event)
        at = (at + 1) & linking->mask;
    return &linking->table[at];
}

/* The last work in a stream before a call; NONE: none. */
static uint32_t last_work(const struct linking *linking, uint64_t stream, uint64_t time)
{
    size_t at = before(linking, stream, time);
    if (at == 0 || linking->order[at - 1]->stream != stream)
        return NONE;
    return (uint32_t)(linking->order[at - 1] - linking->process->works);
}

static uint32_t first_work(const struct linking *linking, uint64_t stream, uint64_t time)
{
    size_t at = before(linking, stream, time);
    if (at == linking->count || linking->order[at]->stream != stream)
        return NONE;
    return (uint32_t)(linking->order[at] - linking->process->works);
}

/* A moment inside of a span close to its end. */
static uint64_t inner_end(uint64_t from, uint64_t to)
{
    return to > from ? to - 1 : from;
}

/* Adds the arrow unless it would go back in time. False: memory is short. */
static bool add(struct linking *linking, struct timeline_arrow arrow)
{
    struct timeline_arrow *made;
    if (arrow.from > arrow.to)
        return true;
    made = ADD(linking->process, arrows);
    if (made)
        *made = arrow;
    return made != NULL;
}

static void from_work(const struct linking *linking, struct timeline_arrow *arrow, uint32_t index)
{
    const struct timeline_work *work = &linking->process->works[index];
    arrow->from_work = index;
    arrow->from = inner_end(work->from, work->to);
    arrow->from_lane = work->lane;
}

static void from_call(const struct linking *linking, struct timeline_arrow *arrow, uint32_t index)
{
    const struct timeline_call *call = &linking->process->calls[index];
    arrow->from_call = index;
    arrow->from = call->from;
    arrow->from_lane = call->lane;
}

static void to_call(const struct linking *linking, struct timeline_arrow *arrow, uint32_t index)
{
    const struct timeline_call *call = &linking->process->calls[index];
    arrow->to_call = index;
    arrow->to = inner_end(call->from, call->to);
    arrow->to_lane = call->lane;
}

static void to_work(const struct linking *linking, struct timeline_arrow *arrow, uint32_t index)
{
    const struct timeline_work *work = &linking->process->works[index];
    arrow->to_work = index;
    arrow->to = work->from;
    arrow->to_lane = work->lane;
}

/* What a call learns by the record that the event had: from that record's last work, or from the record. */
static bool link_event(struct linking *linking, uint32_t index, struct timeline_arrow arrow)
{
    const struct timeline_call *call = &linking->process->calls[index];
    const struct recorded *recorded = find(linking, call->event);
    if (!recorded->event || recorded->call == NONE)
        return true;
    const struct timeline_call *record = &linking->process->calls[recorded->call];
    uint32_t source = record->role == TRACE_RECORDS ? last_work(linking, record->stream, record->from) : NONE;
    uint32_t target = call->role == TRACE_WAITS ? first_work(linking, call->stream, call->to) : NONE;
    if (source != NONE)
        from_work(linking, &arrow, source);
    else
        from_call(linking, &arrow, recorded->call);
    if (target != NONE)
        to_work(linking, &arrow, target);
    else
        to_call(linking, &arrow, index);
    return add(linking, arrow);
}

static void name_event(struct linking *linking, struct timeline_call *call)
{
    const struct timeline_given *given =
        linking->process->given_count && call->event
            ? ranges_given(linking->process, TRACE_GIVEN_EVENT, 0, call->event, call->from)
            : NULL;
    if (given && given->time >= find(linking, call->event)->ended)
        call->event_name = given->text;
}

static bool link_call(struct linking *linking, uint32_t index)
{
    struct timeline_call *call = &linking->process->calls[index];
    name_event(linking, call);
    struct timeline_arrow arrow = {ARROW_EVENT, 0, 0, NONE, NONE, NONE, NONE, NONE, NONE};
    switch (call->role) {
    case TRACE_RECORDS:
    case TRACE_RECORDS_ALL:
    case TRACE_FORGETS: {
        struct recorded *recorded = find(linking, call->event);
        recorded->event = call->event;
        recorded->call = call->role == TRACE_FORGETS ? NONE : index;
        if (call->role == TRACE_FORGETS)
            recorded->ended = call->to;
        return true;
    }
    case TRACE_HOST_EVENT:
        arrow.kind = ARROW_HOST;
        return link_event(linking, index, arrow);
    case TRACE_WAITS:
    case TRACE_WAITS_ALL:
        return link_event(linking, index, arrow);
    case TRACE_HOST_STREAM: {
        uint32_t source = last_work(linking, call->stream, call->from);
        if (source == NONE)
            return true;
        arrow.kind = ARROW_HOST;
        from_work(linking, &arrow, source);
        to_call(linking, &arrow, index);
        return add(linking, arrow);
    }
    default:
        return true;
    }
}

static bool link_submits(struct linking *linking)
{
    struct timeline_process *process = linking->process;
    for (size_t i = 0; i < linking->count; i++) {
        struct timeline_work *work = linking->order[i];
        struct timeline_arrow arrow = {ARROW_SUBMIT, work->bound, 0, 0, 0, NONE, NONE, work->call, NONE};
        if (i > 0 && linking->order[i - 1]->stream == work->stream)
            work->before = (uint32_t)(linking->order[i - 1] - process->works);
        if (work->call == NONE)
            continue;
        const struct timeline_call *call = &process->calls[work->call];
        arrow.from_lane = call->lane;
        arrow.from = work->bound < call->from  ? call->from
                     : work->bound >= call->to ? inner_end(call->from, call->to)
                                               : work->bound;
        to_work(linking, &arrow, (uint32_t)(work - process->works));
        if (!add(linking, arrow))
            return false;
    }
    return true;
}

/* ---- waits that no event tells of ---- */

/* Copies and fills that return when they are done. */
static bool waits_by_itself(const struct timeline_call *call)
{
    return (strncmp(call->name, "cuMemcpy", 8) == 0 || strncmp(call->name, "cuMemset", 8) == 0) &&
           !strstr(call->name, "Async");
}

/* From a copy to the end of the call that has waited for it. */
static bool link_synchronous(struct linking *linking)
{
    for (size_t i = 0; i < linking->count; i++) {
        uint32_t index = (uint32_t)(linking->order[i] - linking->process->works), call = linking->order[i]->call;
        struct timeline_arrow arrow = {ARROW_HOST, 0, 0, NONE, NONE, NONE, NONE, NONE, NONE};
        if (call == NONE || !waits_by_itself(&linking->process->calls[call]) ||
            linking->order[i]->to > linking->process->calls[call].to)
            continue;
        from_work(linking, &arrow, index);
        to_call(linking, &arrow, call);
        if (!add(linking, arrow))
            return false;
    }
    return true;
}

static int by_end(const void *a, const void *b)
{
    const struct timeline_work *const *x = a, *const *y = b;
    int order = compare((*x)->to, (*y)->to);
    return order ? order : compare((*x)->work, (*y)->work);
}

/* A call that waits for all streams has waited for the work that ended last before it returned. */
static bool link_all(struct linking *linking)
{
    struct timeline_process *process = linking->process;
    struct timeline_work **order = malloc((linking->count + 1) * sizeof(struct timeline_work *));
    bool good = order != NULL;
    if (good && linking->count)
        memcpy(order, linking->order, linking->count * sizeof(struct timeline_work *));
    if (good)
        qsort(order, linking->count, sizeof *order, by_end);
    for (uint32_t i = 0; good && i < process->calls_count; i++) {
        const struct timeline_call *call = &process->calls[i];
        struct timeline_arrow arrow = {ARROW_HOST, 0, 0, NONE, NONE, NONE, NONE, NONE, NONE};
        size_t low = 0, high = linking->count;
        while (call->role == TRACE_HOST_ALL && low < high) {
            size_t middle = (low + high) / 2;
            if (order[middle]->to <= call->to)
                low = middle + 1;
            else
                high = middle;
        }
        if (call->role != TRACE_HOST_ALL || low == 0)
            continue;
        from_work(linking, &arrow, (uint32_t)(order[low - 1] - process->works));
        to_call(linking, &arrow, i);
        good = add(linking, arrow);
    }
    free(order);
    return good;
}

static bool between_works(struct linking *linking, enum arrow_kind kind, uint32_t from, uint32_t to)
{
    struct timeline_arrow arrow = {kind, 0, 0, NONE, NONE, NONE, NONE, NONE, NONE};
    from_work(linking, &arrow, from);
    to_work(linking, &arrow, to);
    return add(linking, arrow);
}

/* ---- the legacy default stream ---- */

/* A stream as the rules see it: its latest work, whether a legacy work has come after that, and the latest legacy work
 * that it comes after. */
struct followed {
    uint64_t stream, context;
    enum trace_stream_kind kind;
    uint32_t last, after;
    bool taken;
};

struct following {
    LIST(struct followed, streams);
};

static struct followed *follow(struct following *following, const struct timeline_process *process,
                               const struct timeline_work *work)
{
    for (size_t i = following->streams_count; i-- > 0;)
        if (following->streams[i].stream == work->stream)
            return &following->streams[i];
    struct followed *made = ADD(following, streams);
    if (!made)
        return NULL;
    *made = (struct followed){.stream = work->stream, .context = work->context, .last = NONE, .after = NONE};
    for (size_t i = 0; i < process->streams_count; i++)
        if (process->streams[i].stream == work->stream)
            made->kind = process->streams[i].kind;
    return made;
}

/* The legacy stream's work comes after the latest works of the context's blocking streams. */
static bool take_all(struct linking *linking, struct following *following, const struct followed *legacy, uint32_t work)
{
    for (size_t i = 0; i < following->streams_count; i++) {
        struct followed *other = &following->streams[i];
        if (other->context != legacy->context || other->kind != TRACE_STREAM_BLOCKING || other->taken)
            continue;
        other->taken = true;
        if (!between_works(linking, ARROW_DEFAULT, other->last, work))
            return false;
    }
    return true;
}

/* A blocking stream's work comes after the legacy stream's latest. */
static bool take_legacy(struct linking *linking, struct following *following, struct followed *stream, uint32_t work)
{
    for (size_t i = 0; i < following->streams_count; i++) {
        const struct followed *legacy = &following->streams[i];
        if (legacy->kind != TRACE_STREAM_LEGACY || legacy->context != stream->context || legacy->last == stream->after)
            continue;
        stream->after = legacy->last;
        if (!between_works(linking, ARROW_DEFAULT, legacy->last, work))
            return false;
    }
    return true;
}

static int by_time_bound(const void *a, const void *b)
{
    const struct timeline_work *const *x = a, *const *y = b;
    int order = compare((*x)->bound, (*y)->bound);
    return order ? order : compare((*x)->work, (*y)->work);
}

static bool link_default(struct linking *linking)
{
    struct timeline_work **order = malloc((linking->count + 1) * sizeof(struct timeline_work *));
    struct following following = {0};
    bool good = order != NULL;
    if (good && linking->count)
        memcpy(order, linking->order, linking->count * sizeof(struct timeline_work *));
    if (good)
        qsort(order, linking->count, sizeof *order, by_time_bound);
    for (size_t i = 0; good && i < linking->count; i++) {
        uint32_t index = (uint32_t)(order[i] - linking->process->works);
        struct followed *stream = follow(&following, linking->process, order[i]);
        good = stream != NULL;
        if (good && stream->kind == TRACE_STREAM_LEGACY)
            good = take_all(linking, &following, stream, index);
        else if (good && stream->kind == TRACE_STREAM_BLOCKING)
            good = take_legacy(linking, &following, stream, index);
        if (good) {
            stream->last = index;
            stream->taken = false;
        }
    }
    free(order);
    free(following.streams);
    return good;
}

/* ---- values in memory ---- */

struct written {
    uint64_t address, time;
    uint32_t work;
};

static int by_written(const void *a, const void *b)
{
    const struct written *x = a, *y = b;
    int order = compare(x->address, y->address);
    return order ? order : compare(x->time, y->time);
}

/* The work that a call about a value has asked for. */
static uint32_t work_of(const struct linking *linking, uint32_t call)
{
    uint32_t work = first_work(linking, linking->process->calls[call].stream, linking->process->calls[call].from);
    return work != NONE && linking->process->works[work].call == call ? work : NONE;
}

/* A wait ends by the latest write at its address that had begun before: a write is done before its end is noted. What
 * kernels and the host write is not known. */
static bool link_values(struct linking *linking)
{
    const struct timeline_process *process = linking->process;
    struct {
        LIST(struct written, writes);
    } all = {0};
    bool good = true;
    for (uint32_t i = 0; good && i < process->calls_count; i++) {
        uint32_t work = process->calls[i].role == TRACE_WRITES_VALUE ? work_of(linking, i) : NONE;
        struct written *write = work != NONE ? ADD(&all, writes) : NULL;
        good = work == NONE || write;
        if (write)
            *write = (struct written){process->calls[i].event, process->works[work].from, work};
    }
    if (all.writes_count)
        qsort(all.writes, all.writes_count, sizeof *all.writes, by_written);
    for (uint32_t i = 0; good && all.writes_count && i < process->calls_count; i++) {
        uint32_t work = process->calls[i].role == TRACE_WAITS_VALUE ? work_of(linking, i) : NONE;
        size_t low = 0, high = all.writes_count;
        struct written wanted = {process->calls[i].event, work == NONE ? 0 : process->works[work].to, work};
        while (low < high) {
            size_t middle = (low + high) / 2;
            if (by_written(&all.writes[middle], &wanted) <= 0)
                low = middle + 1;
            else
                high = middle;
        }
        if (work == NONE || low == 0 || all.writes[low - 1].address != wanted.address ||
            process->works[all.writes[low - 1].work].stream == process->works[work].stream)
            continue;
        struct timeline_arrow arrow = {ARROW_VALUE, 0, 0, NONE, NONE, NONE, NONE, NONE, NONE};
        from_work(linking, &arrow, all.writes[low - 1].work);
        to_work(linking, &arrow, work);
        arrow.from = all.writes[low - 1].time;
        if (arrow.to < arrow.from) /* it was waiting already */
            arrow.to = arrow.from < wanted.time ? arrow.from : inner_end(arrow.to, wanted.time);
        good = add(linking, arrow);
    }
    free(all.writes);
    return good;
}

/* ---- graphs ---- */

/* From a run to those of its steps that stand in further lanes. A run comes before its steps in the order of works. */
static bool link_steps(struct linking *linking)
{
    struct timeline_process *process = linking->process;
    uint32_t run = NONE;
    for (uint32_t i = 0; i < process->works_count; i++) {
        const struct timeline_work *work = &process->works[i];
        if (!work->node)
            run = i;
        if (!work->node || run == NONE || process->works[run].work != work->work ||
            process->works[run].lane == work->lane)
            continue;
        struct timeline_arrow arrow = {
            ARROW_STEP, process->works[run].from, 0, process->works[run].lane, 0, run, NONE, NONE, NONE};
        to_work(linking, &arrow, i);
        if (!add(linking, arrow))
            return false;
    }
    return true;
}

static bool link_process(struct timeline_process *process)
{
    struct linking linking = {.process = process, .mask = 1};
    while (linking.mask < 2 * process->calls_count)
        linking.mask *= 2;
    linking.order = calloc(process->works_count + 1, sizeof(struct timeline_work *));
    linking.table = calloc(linking.mask, sizeof *linking.table);
    linking.mask--;
    for (size_t i = 0; linking.order && i < process->works_count; i++)
        if (process->works[i].is_bound && process->works[i].node == 0)
            linking.order[linking.count++] = &process->works[i];
    bool good = linking.order && linking.table;
    if (good) {
        qsort(linking.order, linking.count, sizeof *linking.order, by_bound);
        good = link_submits(&linking);
    }
    for (size_t i = 0; i < process->calls_count && good; i++)
        good = link_call(&linking, (uint32_t)i);
    good = good && link_synchronous(&linking) && link_all(&linking) && link_default(&linking) &&
           link_values(&linking) && link_steps(&linking);
    free(linking.order);
    free(linking.table);
    return good;
}

/* Two programs that one process ran, one after the other, have one number. */
static uint64_t number_to_show(const struct timeline *timeline, size_t index)
{
    for (size_t i = 0; i < index; i++)
        if (timeline->processes[i].pid == timeline->processes[index].pid)
            return 5000000 + index;
    return timeline->processes[index].pid;
}

bool timeline_link(struct timeline *timeline)
{
    timeline->start = UINT64_MAX;
    for (size_t i = 0; i < timeline->processes_count; i++) {
        struct timeline_process *process = &timeline->processes[i];
        process->shown = number_to_show(timeline, i);
        if (process->start < timeline->start)
            timeline->start = process->start;
        if (!timeline_place(process, i) || !link_process(process))
            return false;
    }
    return true;
}
