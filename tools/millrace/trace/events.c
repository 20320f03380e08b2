/* SPDX-License-Identifier: Apache-2.0 */
/* From the model's spans and arrows to events: which details each one has is said here alone. */
#include "events.h"

#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <string.h>

struct giving {
    event_take *take;
    void *form;
    uint64_t start;
    struct event event;
};

static void begin(struct giving *giving, enum event_phase phase, const char *name, const char *category, uint32_t lane,
                  uint64_t from, uint64_t to)
{
    giving->event.phase = phase;
    giving->event.name = name;
    giving->event.category = category;
    giving->event.lane = giving->event.to_lane = lane;
    giving->event.from = from > giving->start ? from - giving->start : 0;
    giving->event.to = giving->event.from + (to > from ? to - from : 0);
    giving->event.critical = false;
    giving->event.count = 0;
}

static struct event_detail *add(struct giving *giving, const char *key, enum event_type type)
{
    assert(giving->event.count < EVENT_DETAILS);
    struct event_detail *detail = &giving->event.details[giving->event.count++];
    detail->key = key;
    detail->type = type;
    return detail;
}

static void add_text(struct giving *giving, const char *key, const char *text)
{
    add(giving, key, EVENT_TEXT)->text = text;
}

static void add_number(struct giving *giving, const char *key, uint64_t number)
{
    add(giving, key, EVENT_NUMBER)->number = number;
}

/* A default stream whose number would tell nothing is the lane's name. */
static void add_stream(struct giving *giving, uint64_t stream)
{
    if (!(stream & MR_OBSERVED_DEFAULT_STREAM))
        add_number(giving, "stream", stream);
    else
        add_text(giving, "stream",
                 MR_OBSERVED_DEFAULT_STREAM_THREAD(stream) ? "a thread's default stream" : "legacy default stream");
}

static void add_address(struct giving *giving, const char *key, uint64_t number)
{
    add(giving, key, EVENT_ADDRESS)->number = number;
}

__attribute__((format(printf, 3, 4))) static void add_literal(struct giving *giving, const char *key,
                                                              const char *format, ...)
{
    struct event_detail *detail = add(giving, key, EVENT_LITERAL);
    va_list values;
    va_start(values, format);
    vsnprintf(detail->literal, sizeof detail->literal, format, values);
    va_end(values);
}

static void add_site(struct giving *giving, uint32_t index)
{
    if (index == NONE)
        return;
    const struct timeline_site *site = &giving->event.process->sites[index];
    if (site->function)
        add_text(giving, "function", site->function);
    if (site->file) {
        add_text(giving, "file", site->file);
        add_number(giving, "line", site->line);
    } else if (site->module) {
        add_text(giving, "module", site->module);
        add_address(giving, "offset", site->offset);
    }
}

static void give(struct giving *giving)
{
    giving->take(giving->form, &giving->event);
}

static void give_call(struct giving *giving, const struct timeline_call *call)
{
    begin(giving, EVENT_SPAN, call->name, "call", call->lane, call->from, call->to);
    add_number(giving, "call", call->number);
    if (call->open)
        add_literal(giving, "unfinished", "true");
    else if (call->status)
        add_literal(giving, "status", "%d", call->status);
    if (call->role == TRACE_WRITES_VALUE || call->role == TRACE_WAITS_VALUE)
        add_address(giving, "address", call->event);
    else if (call->role != TRACE_PLAIN && call->role != TRACE_HOST_STREAM && call->role != TRACE_HOST_ALL)
        add_address(giving, "event", call->event);
    if (call->event_name)
        add_text(giving, "event name", call->event_name);
    if (call->role == TRACE_RECORDS || call->role == TRACE_WAITS || call->role == TRACE_HOST_STREAM ||
        call->role == TRACE_WRITES_VALUE || call->role == TRACE_WAITS_VALUE)
        add_stream(giving, call->stream);
    add_site(giving, call->site);
    give(giving);
}

/* `kernel`: also of a library's work, which has a name, but no grid. */
static void add_kernel(struct giving *giving, const struct timeline_work *work)
{
    if (!work->kernel)
        return;
    add_text(giving, "kernel", work->full);
    add_text(giving, "symbol", work->kernel);
    if (work->kind != MR_OBSERVED_KERNEL)
        return;
    add_literal(giving, "grid", "[%u,%u,%u]", work->blocks[0], work->blocks[1], work->blocks[2]);
    add_literal(giving, "block", "[%u,%u,%u]", work->threads[0], work->threads[1], work->threads[2]);
}

static void give_work(struct giving *giving, const struct timeline_work *work)
{
    const struct timeline_process *process = giving->event.process;
    begin(giving, EVENT_SPAN, work->name, timeline_kind(work->kind), work->lane, work->from, work->to);
    giving->event.critical = work->critical;
    add_number(giving, "work", work->work);
    add_stream(giving, work->stream);
    if (work->node)
        add_address(giving, "node", work->node);
    add_kernel(giving, work);
    if (work->bytes)
        add_number(giving, "bytes", work->bytes);
    if (work->status)
        add_literal(giving, "status", "%d", work->status);
    if (work->open)
        add_literal(giving, "unfinished", "true");
    if (work->critical)
        add_literal(giving, "critical", "true");
    if (work->call != NONE) {
        const struct timeline_call *call = &process->calls[work->call];
        add_text(giving, "asked by", call->name);
        if (call->range != NONE)
            add_text(giving, "in", process->ranges[call->range].text);
        add_number(giving, "call", call->number);
        add_site(giving, call->site);
    }
    give(giving);
}

static double as_number(enum trace_payload type, uint64_t bits)
{
    double number;
    float small;
    if (type == TRACE_DOUBLE) {
        memcpy(&number, &bits, sizeof number);
        return number;
    }
    memcpy(&small, &bits, sizeof small);
    return (double)small;
}

static void add_payload(struct giving *giving, const struct timeline_range *range)
{
    switch (range->payload_type) {
    case TRACE_UINT64:
        add_literal(giving, "payload", "%" PRIu64, range->payload);
        break;
    case TRACE_INT64:
        add_literal(giving, "payload", "%" PRId64, (int64_t)range->payload);
        break;
    case TRACE_UINT32:
        add_literal(giving, "payload", "%" PRIu32, (uint32_t)range->payload);
        break;
    case TRACE_INT32:
        add_literal(giving, "payload", "%" PRId32, (int32_t)(uint32_t)range->payload);
        break;
    case TRACE_DOUBLE:
    case TRACE_FLOAT: {
        double number = as_number(range->payload_type, range->payload);
        if (isfinite(number)) /* JSON has no others */
            add_literal(giving, "payload", "%.*g", range->payload_type == TRACE_FLOAT ? 9 : 17, number);
        else
            add_text(giving, "payload", isnan(number) ? "nan" : number < 0 ? "-inf" : "inf");
        break;
    }
    case TRACE_NO_PAYLOAD:
        break;
    }
}

static void give_range(struct giving *giving, const struct timeline_range *range)
{
    const struct timeline_process *process = giving->event.process;
    bool mark = range->kind == TRACE_MARK;
    begin(giving, mark ? EVENT_MARK : EVENT_SPAN, *range->text ? range->text : "(no message)", mark ? "mark" : "range",
          range->lane, range->from, mark ? range->from : range->to);
    add_number(giving, "thread", process->threads[range->thread].thread);
    const struct timeline_given *domain = ranges_given(process, TRACE_GIVEN_DOMAIN, 0, range->domain, UINT64_MAX);
    if (range->domain && domain)
        add_text(giving, "domain", domain->text);
    const struct timeline_given *category =
        ranges_given(process, TRACE_GIVEN_CATEGORY, range->domain, range->category, UINT64_MAX);
    if (range->category && category)
        add_text(giving, "category", category->text);
    else if (range->category)
        add_number(giving, "category", range->category);
    add_payload(giving, range);
    if (range->colour)
        add_literal(giving, "colour", "\"#%06" PRIx32 "\"", range->colour & 0xffffff);
    if (range->open)
        add_literal(giving, "unfinished", "true");
    give(giving);
}

static void give_slice(struct giving *giving, const struct timeline_slice *slice)
{
    const struct timeline_work *work = slice->of == NONE ? NULL : &giving->event.process->works[slice->of];
    begin(giving, EVENT_SPAN, work ? work->name : "?", "slice", slice->lane, slice->from, slice->to);
    add_number(giving, "work", slice->work);
    if (work) {
        add_text(giving, "kind", timeline_kind(work->kind));
        add_number(giving, "stream", work->stream);
    }
    if (slice->node)
        add_address(giving, "node", slice->node);
    give(giving);
}

static void give_arrow(struct giving *giving, const struct timeline_arrow *arrow)
{
    static const char *const names[] = {"submit", "event", "host waits", "default stream", "value", "graph"};
    begin(giving, EVENT_ARROW, names[arrow->kind], "arrow", arrow->from_lane, arrow->from, arrow->to);
    giving->event.to_lane = arrow->to_lane;
    give(giving);
}

/* A finding is a mark at each end, and an arrow between them. */
static void give_finding(struct giving *giving, const struct timeline_finding *finding)
{
    const struct timeline_end *ends = finding->ends;
    for (size_t i = 0; i < finding->ends_count; i++) {
        begin(giving, EVENT_MARK, finding->kind, "finding", ends[i].lane, ends[i].time, ends[i].time);
        add_number(giving, "finding", finding->number);
        add_text(giving, "title", finding->title);
        if (finding->advice)
            add_text(giving, "mend", finding->advice);
        give(giving);
    }
    if (finding->ends_count != 2)
        return;
    begin(giving, EVENT_ARROW, finding->kind, "finding", ends[0].lane, ends[0].time, ends[1].time);
    giving->event.to_lane = ends[1].lane;
    add_number(giving, "finding", finding->number);
    give(giving);
}

void events_each(const struct timeline *timeline, event_take *take, void *form)
{
    struct giving giving = {.take = take, .form = form, .start = timeline->start};
    for (size_t i = 0; i < timeline->processes_count; i++) {
        const struct timeline_process *process = &timeline->processes[i];
        giving.event.process = process;
        for (size_t j = 0; j < process->ranges_count; j++)
            give_range(&giving, &process->ranges[j]);
        for (size_t j = 0; j < process->calls_count; j++)
            give_call(&giving, &process->calls[j]);
        for (size_t j = 0; j < process->works_count; j++)
            give_work(&giving, &process->works[j]);
        for (size_t j = 0; j < process->slices_count; j++)
            give_slice(&giving, &process->slices[j]);
        for (size_t j = 0; j < process->arrows_count; j++)
            give_arrow(&giving, &process->arrows[j]);
        for (size_t j = 0; j < process->findings_count; j++)
            give_finding(&giving, &process->findings[j]);
    }
}
