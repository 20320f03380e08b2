/* SPDX-License-Identifier: Apache-2.0 */
/* Ranges, marks and names that the program gives (NVTX). */
#include <stdlib.h>
#include <string.h>

#include "model.h"

static int compare(uint64_t a, uint64_t b)
{
    return a < b ? -1 : a > b;
}

/* The text behind a record, which the process then owns; NULL: memory is short. */
static const char *text_behind(struct timeline_process *process, const void *record, size_t size, uint32_t length)
{
    char *text = strndup((const char *)record + size, length), **place = text ? ADD(process, texts) : NULL;
    if (!place) {
        free(text);
        return NULL;
    }
    return *place = text;
}

/* ---- reading ---- */

static bool take_range(struct timeline_process *process, uint32_t thread, const struct trace_range *record,
                       bool *memory)
{
    if (record->record.more > record->record.size - sizeof *record || record->kind > TRACE_MARK ||
        record->payload_type > TRACE_FLOAT)
        return false;
    const char *text = text_behind(process, record, sizeof *record, record->record.more);
    struct timeline_range *range = text ? ADD(process, ranges) : NULL;
    uint32_t *pushed = range && record->kind == TRACE_PUSHED ? ADD(process, pushed) : NULL;
    if (!range || (record->kind == TRACE_PUSHED && !pushed))
        return *memory = false;
    if (pushed)
        *pushed = (uint32_t)(process->ranges_count - 1);
    *range = (struct timeline_range){.from = record->time,
                                     .to = record->time,
                                     .domain = record->domain,
                                     .payload = record->payload,
                                     .text = text,
                                     .thread = thread,
                                     .category = record->category,
                                     .colour = record->colour,
                                     .around = NONE,
                                     .id = record->id,
                                     .kind = record->kind,
                                     .payload_type = record->payload_type,
                                     .open = record->kind != TRACE_MARK};
    return true;
}

/* A pop ends the thread's latest range of that domain. A thread's records come in the order in which it wrote them. */
static bool take_end(struct timeline_process *process, uint32_t thread, const struct trace_range_end *record,
                     bool *memory)
{
    if (record->record.more == TRACE_STARTED) {
        struct timeline_range_end *end = ADD(process, range_ends);
        if (!end)
            return *memory = false;
        *end = (struct timeline_range_end){record->id, record->time};
        return true;
    }
    for (size_t i = process->pushed_count; i-- > 0;) {
        struct timeline_range *range = &process->ranges[process->pushed[i]];
        if (range->thread != thread || range->domain != record->domain)
            continue;
        range->to = record->time > range->from ? record->time : range->from;
        range->open = false;
        memmove(process->pushed + i, process->pushed + i + 1, (--process->pushed_count - i) * sizeof *process->pushed);
        break;
    }
    return record->record.more == TRACE_PUSHED;
}

static bool take_given(struct timeline_process *process, const struct trace_given *record, bool *memory)
{
    if (record->record.more > record->record.size - sizeof *record || record->kind >= TRACE_GIVEN_KINDS)
        return false;
    const char *text = text_behind(process, record, sizeof *record, record->record.more);
    struct timeline_given *given = text ? ADD(process, given) : NULL;
    if (!given)
        return *memory = false;
    *given = (struct timeline_given){record->key, record->domain, record->time, text, record->kind};
    return true;
}

bool ranges_take(struct timeline_process *process, uint32_t thread, const struct trace_record *record, bool *memory)
{
    if (record->type == TRACE_RANGE)
        return take_range(process, thread, (const void *)record, memory);
    if (record->type == TRACE_RANGE_END)
        return take_end(process, thread, (const void *)record, memory);
    return take_given(process, (const void *)record, memory);
}

/* ---- putting together ---- */

static int by_id(const void *a, const void *b)
{
    return compare(((const struct timeline_range_end *)a)->id, ((const struct timeline_range_end *)b)->id);
}

static int by_thing(const struct timeline_given *x, const struct timeline_given *y)
{
    int order = (int)x->kind - (int)y->kind;
    order = order ? order : compare(x->domain, y->domain);
    return order ? order : compare(x->key, y->key);
}

static int by_given(const void *a, const void *b)
{
    const struct timeline_given *x = a, *y = b;
    int order = by_thing(x, y);
    return order ? order : compare(x->time, y->time);
}

/* By thread, those around others first. */
static int by_range(const void *a, const void *b)
{
    const struct timeline_range *x = a, *y = b;
    int order = compare(x->thread, y->thread);
    order = order ? order : compare(x->from, y->from);
    order = order ? order : compare(y->to, x->to);
    return order ? order : compare(x->domain, y->domain);
}

static void end_ranges(struct timeline_process *process, uint64_t last)
{
    if (process->range_ends_count)
        qsort(process->range_ends, process->range_ends_count, sizeof *process->range_ends, by_id);
    for (size_t i = 0; i < process->ranges_count; i++) {
        struct timeline_range *range = &process->ranges[i];
        struct timeline_range_end wanted = {.id = range->id};
        const struct timeline_range_end *end =
            range->kind == TRACE_STARTED && process->range_ends_count
                ? bsearch(&wanted, process->range_ends, process->range_ends_count, sizeof wanted, by_id)
                : NULL;
        if (end) {
            range->to = end->time > range->from ? end->time : range->from;
            range->open = false;
        }
        if (range->open)
            range->to = last > range->from ? last : range->from;
    }
}

struct call_of_thread {
    uint64_t from, to;
    uint32_t thread, call;
};

static int by_thread(const void *a, const void *b)
{
    const struct call_of_thread *x = a, *y = b;
    int order = compare(x->thread, y->thread);
    order = order ? order : compare(x->from, y->from);
    return order ? order : compare(x->call, y->call);
}

/* The ranges that a thread is in, the latest last. */
struct inside {
    uint32_t *ranges;
    size_t count;
};

/* Takes those out that have ended at `time`; the innermost of the others, or NONE. */
static uint32_t innermost(const struct timeline_process *process, struct inside *inside, uint64_t time)
{
    size_t kept = 0;
    for (size_t i = 0; i < inside->count; i++)
        if (process->ranges[inside->ranges[i]].to > time || process->ranges[inside->ranges[i]].open)
            inside->ranges[kept++] = inside->ranges[i];
    inside->count = kept;
    return kept ? inside->ranges[kept - 1] : NONE;
}

/* Ranges and calls are sorted by thread, then by time. */
static bool give_ranges(struct timeline_process *process)
{
    struct call_of_thread *calls = malloc((process->calls_count + 1) * sizeof *calls);
    struct inside inside = {malloc((process->ranges_count + 1) * sizeof(uint32_t)), 0};
    size_t range = 0;
    uint32_t thread = 0;
    bool good = calls && inside.ranges;
    for (uint32_t i = 0; good && i < process->calls_count; i++)
        calls[i] = (struct call_of_thread){process->calls[i].from, process->calls[i].to, process->calls[i].thread, i};
    if (good)
        qsort(calls, process->calls_count, sizeof *calls, by_thread);
    for (size_t i = 0; good && i <= process->calls_count; i++) {
        const struct call_of_thread *call = i < process->calls_count ? &calls[i] : NULL;
        for (; range < process->ranges_count; range++) {
            struct timeline_range *next = &process->ranges[range];
            if (call && (next->thread > call->thread || (next->thread == call->thread && next->from > call->from)))
                break;
            inside.count = next->thread == thread ? inside.count : 0;
            thread = next->thread;
            next->around = innermost(process, &inside, next->from);
            if (next->kind == TRACE_PUSHED)
                inside.ranges[inside.count++] = (uint32_t)range;
        }
        if (call && call->thread == thread)
            process->calls[call->call].range = innermost(process, &inside, call->from);
    }
    free(calls);
    free(inside.ranges);
    return good;
}

bool ranges_put_together(struct timeline_process *process, uint64_t last)
{
    end_ranges(process, last);
    if (process->given_count)
        qsort(process->given, process->given_count, sizeof *process->given, by_given);
    if (process->ranges_count == 0)
        return true;
    qsort(process->ranges, process->ranges_count, sizeof *process->ranges, by_range);
    return give_ranges(process);
}

const struct timeline_given *ranges_given(const struct timeline_process *process, enum trace_given_kind kind,
                                          uint64_t domain, uint64_t key, uint64_t time)
{
    struct timeline_given wanted = {.kind = kind, .domain = domain, .key = key, .time = time};
    size_t low = 0, high = process->given_count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (by_given(&process->given[middle], &wanted) <= 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low && by_thing(&process->given[low - 1], &wanted) == 0 ? &process->given[low - 1] : NULL;
}

/* ---- sums ---- */

static int by_text(const void *a, const void *b)
{
    const struct timeline_range_total *x = a, *y = b;
    int order = compare(x->domain, y->domain);
    return order ? order : strcmp(x->text, y->text);
}

/* One total for each text and domain, in their order. */
static bool make_totals(struct timeline_process *process)
{
    size_t kept = 0;
    for (size_t i = 0; i < process->ranges_count; i++) {
        const struct timeline_range *range = &process->ranges[i];
        struct timeline_range_total *total = range->kind == TRACE_MARK ? NULL : ADD(process, range_totals);
        if (total)
            *total = (struct timeline_range_total){.text = range->text, .domain = range->domain, .least = UINT64_MAX};
        else if (range->kind != TRACE_MARK)
            return false;
    }
    struct timeline_range_total *totals = process->range_totals;
    if (process->range_totals_count)
        qsort(totals, process->range_totals_count, sizeof *totals, by_text);
    for (size_t i = 0; i < process->range_totals_count; i++)
        if (kept == 0 || by_text(&totals[kept - 1], &totals[i]) != 0)
            totals[kept++] = totals[i];
    process->range_totals_count = kept;
    return true;
}

static struct timeline_range_total *total_of(struct timeline_process *process, const struct timeline_range *range)
{
    struct timeline_range_total wanted = {.text = range->text, .domain = range->domain};
    return bsearch(&wanted, process->range_totals, process->range_totals_count, sizeof wanted, by_text);
}

static int by_total(const void *a, const void *b)
{
    const struct timeline_range_total *x = a, *y = b;
    return x->total > y->total ? -1 : x->total < y->total;
}

/* Each text counts a work once, though ranges of one text may lie in each other. */
static bool is_first_of_text(const struct timeline_process *process, uint32_t from, uint32_t at)
{
    for (uint32_t i = from; i != at; i = process->ranges[i].around)
        if (process->ranges[i].domain == process->ranges[at].domain &&
            strcmp(process->ranges[i].text, process->ranges[at].text) == 0)
            return false;
    return true;
}

bool ranges_sum(struct timeline_process *process)
{
    if (!make_totals(process))
        return false;
    for (size_t i = 0; i < process->ranges_count; i++) {
        const struct timeline_range *range = &process->ranges[i];
        uint64_t time = range->to - range->from;
        struct timeline_range_total *total = range->kind == TRACE_MARK ? NULL : total_of(process, range);
        if (!total)
            continue;
        total->count++;
        total->total += time;
        total->least = time < total->least ? time : total->least;
        total->most = time > total->most ? time : total->most;
    }
    for (size_t i = 0; i < process->works_count; i++) {
        const struct timeline_work *work = &process->works[i];
        uint32_t first = work->call == NONE ? NONE : process->calls[work->call].range;
        for (uint32_t at = first; at != NONE; at = process->ranges[at].around) {
            if (process->ranges[at].to < process->calls[work->call].from || !is_first_of_text(process, first, at))
                continue;
            struct timeline_range_total *total = total_of(process, &process->ranges[at]);
            total->works++;
            total->work += work->to - work->from;
        }
    }
    if (process->range_totals_count)
        qsort(process->range_totals, process->range_totals_count, sizeof *process->range_totals, by_total);
    return true;
}
