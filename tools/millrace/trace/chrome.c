/* SPDX-License-Identifier: Apache-2.0 */
/* A timeline in Chrome's trace format, one event a line.
 *
 * Spans are complete events ("X"), arrows are pairs of flow events ("s" and "f"), lanes are threads with a name and a
 * place in the order. Times are microseconds with three digits after the point, from the first moment on. What the
 * format has no word for stands under "millrace", which viewers leave alone. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/utf8.h"
#include "model.h"

static uint64_t start;

/* A text in quotes. `<` is escaped, so that the text may stand in a page. */
static void put(FILE *out, const char *text)
{
    putc('"', out);
    for (const unsigned char *at = (const unsigned char *)text; *at;) {
        size_t length = mr_utf8_length(at);
        if (length == 0) {
            fputs("\\ufffd", out);
            at++;
        } else if (length > 1) {
            for (; length > 0; length--)
                putc(*at++, out);
        } else {
            if (*at == '"' || *at == '\\')
                fprintf(out, "\\%c", *at);
            else if (*at < 0x20 || *at == '<' || *at == 0x7f)
                fprintf(out, "\\u%04x", *at);
            else
                putc(*at, out);
            at++;
        }
    }
    putc('"', out);
}

static void put_text(FILE *out, const char *key, const char *text)
{
    fprintf(out, ",\"%s\":", key);
    put(out, text);
}

static void put_time(FILE *out, const char *key, uint64_t time)
{
    fprintf(out, ",\"%s\":%" PRIu64 ".%03" PRIu64, key, time / 1000, time % 1000);
}

/* The begin of an event up to its time. */
static void begin(FILE *out, const char *phase, const struct timeline_process *process, uint32_t lane, uint64_t time)
{
    fprintf(out, ",\n{\"ph\":\"%s\",\"pid\":%" PRIu64 ",\"tid\":%" PRIu64, phase, process->shown,
            process->lanes[lane].id);
    put_time(out, "ts", time > start ? time - start : 0);
}

/* What a viewer sorts and colours lanes by. */
static const char *const lane_kinds[] = {"ranges", "ranges", "host thread", "stream", "worker"};

static uint64_t number_of(const struct timeline_process *process, const struct timeline_lane *lane)
{
    return lane->kind == LANE_THREAD || lane->kind == LANE_PUSHED ? process->threads[lane->of].thread : lane->of;
}

static void put_lanes(FILE *out, const struct timeline_process *process, size_t index)
{
    fprintf(out,
            "%s{\"ph\":\"M\",\"pid\":%" PRIu64 ",\"name\":\"process_name\",\"args\":{\"name\":", index ? ",\n" : "\n",
            process->shown);
    put(out, process->program);
    fprintf(out,
            "}},\n{\"ph\":\"M\",\"pid\":%" PRIu64 ",\"name\":\"process_sort_index\",\"args\":{\"sort_index\":%zu}}",
            process->shown, index);
    for (size_t i = 0; i < process->lanes_count; i++) {
        const struct timeline_lane *lane = &process->lanes[i];
        fprintf(out,
                ",\n{\"ph\":\"M\",\"pid\":%" PRIu64 ",\"tid\":%" PRIu64 ",\"name\":\"thread_name\",\"args\":{\"name\":",
                process->shown, lane->id);
        put(out, lane->name);
        fprintf(out, ",\"kind\":\"%s\",\"number\":%" PRIu64 "}}", lane_kinds[lane->kind], number_of(process, lane));
        fprintf(out,
                ",\n{\"ph\":\"M\",\"pid\":%" PRIu64 ",\"tid\":%" PRIu64
                ",\"name\":\"thread_sort_index\",\"args\":{\"sort_index\":%" PRIu32 "}}",
                process->shown, lane->id, lane->order);
    }
}

static void put_site(FILE *out, const struct timeline_process *process, uint32_t index)
{
    char place[64];
    if (index == NONE)
        return;
    const struct timeline_site *site = &process->sites[index];
    if (site->function)
        put_text(out, "function", site->function);
    if (site->file) {
        put_text(out, "file", site->file);
        fprintf(out, ",\"line\":%" PRIu64, site->line);
    } else if (site->module) {
        snprintf(place, sizeof place, "0x%" PRIx64, site->offset);
        put_text(out, "module", site->module);
        put_text(out, "offset", place);
    }
}

static void put_call(FILE *out, const struct timeline_process *process, const struct timeline_call *call)
{
    begin(out, "X", process, call->lane, call->from);
    put_time(out, "dur", call->to - call->from);
    put_text(out, "name", call->name);
    fprintf(out, ",\"cat\":\"call\",\"args\":{\"call\":%" PRIu64, call->number);
    if (call->open)
        fputs(",\"unfinished\":true", out);
    else if (call->status)
        fprintf(out, ",\"status\":%d", call->status);
    if (call->role == TRACE_WRITES_VALUE || call->role == TRACE_WAITS_VALUE)
        fprintf(out, ",\"address\":\"0x%" PRIx64 "\"", call->event);
    else if (call->role != TRACE_PLAIN && call->role != TRACE_HOST_STREAM && call->role != TRACE_HOST_ALL)
        fprintf(out, ",\"event\":\"0x%" PRIx64 "\"", call->event);
    if (call->event_name)
        put_text(out, "event name", call->event_name);
    if (call->role == TRACE_RECORDS || call->role == TRACE_WAITS || call->role == TRACE_HOST_STREAM ||
        call->role == TRACE_WRITES_VALUE || call->role == TRACE_WAITS_VALUE)
        fprintf(out, ",\"stream\":%" PRIu64, call->stream);
    put_site(out, process, call->site);
    fputs("}}", out);
}

static void put_work(FILE *out, const struct timeline_process *process, const struct timeline_work *work)
{
    begin(out, "X", process, work->lane, work->from);
    put_time(out, "dur", work->to - work->from);
    put_text(out, "name", work->name);
    put_text(out, "cat", timeline_kind(work->kind));
    if (work->critical)
        fputs(",\"cname\":\"terrible\"", out);
    fprintf(out, ",\"args\":{\"work\":%" PRIu64 ",\"stream\":%" PRIu64, work->work, work->stream);
    if (work->node)
        fprintf(out, ",\"node\":\"0x%" PRIx64 "\"", work->node);
    if (work->kernel) {
        put_text(out, "kernel", work->full);
        put_text(out, "symbol", work->kernel);
        fprintf(out, ",\"grid\":[%u,%u,%u],\"block\":[%u,%u,%u]", work->blocks[0], work->blocks[1], work->blocks[2],
                work->threads[0], work->threads[1], work->threads[2]);
    }
    if (work->bytes)
        fprintf(out, ",\"bytes\":%" PRIu64, work->bytes);
    if (work->status)
        fprintf(out, ",\"status\":%d", work->status);
    if (work->open)
        fputs(",\"unfinished\":true", out);
    if (work->critical)
        fputs(",\"critical\":true", out);
    if (work->call != NONE) {
        const struct timeline_call *call = &process->calls[work->call];
        put_text(out, "asked by", call->name);
        if (call->range != NONE)
            put_text(out, "in", process->ranges[call->range].text);
        fprintf(out, ",\"call\":%" PRIu64, call->number);
        put_site(out, process, call->site);
    }
    fputs("}}", out);
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

static void put_payload(FILE *out, const struct timeline_range *range)
{
    switch (range->payload_type) {
    case TRACE_UINT64:
        fprintf(out, ",\"payload\":%" PRIu64, range->payload);
        break;
    case TRACE_INT64:
        fprintf(out, ",\"payload\":%" PRId64, (int64_t)range->payload);
        break;
    case TRACE_UINT32:
        fprintf(out, ",\"payload\":%" PRIu32, (uint32_t)range->payload);
        break;
    case TRACE_INT32:
        fprintf(out, ",\"payload\":%" PRId32, (int32_t)(uint32_t)range->payload);
        break;
    case TRACE_DOUBLE:
    case TRACE_FLOAT: {
        double number = as_number(range->payload_type, range->payload);
        if (isfinite(number)) /* JSON has no others */
            fprintf(out, ",\"payload\":%.*g", range->payload_type == TRACE_FLOAT ? 9 : 17, number);
        else
            fprintf(out, ",\"payload\":\"%s\"", isnan(number) ? "nan" : number < 0 ? "-inf" : "inf");
        break;
    }
    case TRACE_NO_PAYLOAD:
        break;
    }
}

static void put_range(FILE *out, const struct timeline_process *process, const struct timeline_range *range)
{
    bool mark = range->kind == TRACE_MARK;
    begin(out, mark ? "i" : "X", process, range->lane, range->from);
    if (mark)
        fputs(",\"s\":\"t\"", out);
    else
        put_time(out, "dur", range->to - range->from);
    put_text(out, "name", *range->text ? range->text : "(no message)");
    fprintf(out, ",\"cat\":\"%s\",\"args\":{\"thread\":%" PRIu64, mark ? "mark" : "range",
            process->threads[range->thread].thread);
    const struct timeline_given *domain = ranges_given(process, TRACE_GIVEN_DOMAIN, 0, range->domain, UINT64_MAX);
    if (range->domain && domain)
        put_text(out, "domain", domain->text);
    const struct timeline_given *category =
        ranges_given(process, TRACE_GIVEN_CATEGORY, range->domain, range->category, UINT64_MAX);
    if (range->category && category)
        put_text(out, "category", category->text);
    else if (range->category)
        fprintf(out, ",\"category\":%" PRIu32, range->category);
    put_payload(out, range);
    if (range->colour)
        fprintf(out, ",\"colour\":\"#%06" PRIx32 "\"", range->colour & 0xffffff);
    if (range->open)
        fputs(",\"unfinished\":true", out);
    fputs("}}", out);
}

static void put_slice(FILE *out, const struct timeline_process *process, const struct timeline_slice *slice)
{
    const struct timeline_work *work = slice->of == NONE ? NULL : &process->works[slice->of];
    begin(out, "X", process, slice->lane, slice->from);
    put_time(out, "dur", slice->to - slice->from);
    put_text(out, "name", work ? work->name : "?");
    fprintf(out, ",\"cat\":\"slice\",\"args\":{\"work\":%" PRIu64, slice->work);
    if (work)
        fprintf(out, ",\"kind\":\"%s\",\"stream\":%" PRIu64, timeline_kind(work->kind), work->stream);
    if (slice->node)
        fprintf(out, ",\"node\":\"0x%" PRIx64 "\"", slice->node);
    fputs("}}", out);
}

static void put_arrow(FILE *out, const struct timeline_process *process, const struct timeline_arrow *arrow,
                      uint64_t id)
{
    static const char *const names[] = {"submit", "event", "host waits", "default stream", "value", "graph"};
    begin(out, "s", process, arrow->from_lane, arrow->from);
    fprintf(out, ",\"id\":%" PRIu64 ",\"name\":\"%s\",\"cat\":\"arrow\"}", id, names[arrow->kind]);
    begin(out, "f", process, arrow->to_lane, arrow->to);
    fprintf(out, ",\"bp\":\"e\",\"id\":%" PRIu64 ",\"name\":\"%s\",\"cat\":\"arrow\"}", id, names[arrow->kind]);
}

/* A finding is an instant at each end, and an arrow between them. */
static void put_finding(FILE *out, const struct timeline_process *process, const struct timeline_finding *finding,
                        uint64_t id)
{
    for (size_t i = 0; i < finding->ends_count; i++) {
        begin(out, "i", process, finding->ends[i].lane, finding->ends[i].time);
        fputs(",\"s\":\"t\"", out);
        put_text(out, "name", finding->kind);
        fprintf(out, ",\"cat\":\"finding\",\"args\":{\"finding\":%" PRIu32, finding->number);
        put_text(out, "title", finding->title);
        if (finding->advice)
            put_text(out, "mend", finding->advice);
        fputs("}}", out);
    }
    for (size_t i = 0; i < 2 && finding->ends_count == 2; i++) {
        begin(out, i ? "f" : "s", process, finding->ends[i].lane, finding->ends[i].time);
        fprintf(out, "%s,\"id\":%" PRIu64, i ? ",\"bp\":\"e\"" : "", id);
        put_text(out, "name", finding->kind);
        fprintf(out, ",\"cat\":\"finding\",\"args\":{\"finding\":%" PRIu32 "}}", finding->number);
    }
}

static void put_findings_list(FILE *out, const struct timeline_process *process)
{
    fputs(",\"findings\":[", out);
    for (size_t i = 0; i < process->findings_count; i++) {
        const struct timeline_finding *finding = &process->findings[i];
        fprintf(out, "%s{\"number\":%" PRIu32 ",\"times\":%" PRIu64, i ? ",\n" : "\n", finding->number, finding->times);
        put_text(out, "kind", finding->kind);
        put_text(out, "title", finding->title);
        if (finding->missing)
            put_text(out, "missing", finding->missing);
        if (finding->advice)
            put_text(out, "mend", finding->advice);
        fputs(",\"drawn\":[", out);
        for (size_t j = 0; j < finding->ends_count; j++) {
            fprintf(out, "%s{\"tid\":%" PRIu64, j ? "," : "", process->lanes[finding->ends[j].lane].id);
            put_time(out, "ts", finding->ends[j].time > start ? finding->ends[j].time - start : 0);
            fputs("}", out);
        }
        fputs("]}", out);
    }
    fputs("]", out);
}

static void put_totals(FILE *out, const struct timeline_process *process)
{
    fputs(",\"works\":[", out);
    for (size_t i = 0; i < process->totals_count; i++) {
        const struct timeline_total *total = &process->totals[i];
        fprintf(out, "%s{\"kind\":\"%s\"", i ? ",\n" : "\n", timeline_kind(total->kind));
        put_text(out, "name", total->name);
        if (total->full)
            put_text(out, "kernel", total->full);
        fprintf(out,
                ",\"count\":%" PRIu64 ",\"total_ns\":%" PRIu64 ",\"least_ns\":%" PRIu64 ",\"most_ns\":%" PRIu64
                ",\"bytes\":%" PRIu64 "}",
                total->count, total->total, total->least, total->most, total->bytes);
    }
    fputs("]", out);
}

static void put_range_totals(FILE *out, const struct timeline_process *process)
{
    fputs(",\"ranges\":[", out);
    for (size_t i = 0; i < process->range_totals_count; i++) {
        const struct timeline_range_total *total = &process->range_totals[i];
        const struct timeline_given *domain = ranges_given(process, TRACE_GIVEN_DOMAIN, 0, total->domain, UINT64_MAX);
        fputs(i ? ",\n{\"name\":" : "\n{\"name\":", out);
        put(out, *total->text ? total->text : "(no message)");
        if (total->domain && domain)
            put_text(out, "domain", domain->text);
        fprintf(out,
                ",\"count\":%" PRIu64 ",\"total_ns\":%" PRIu64 ",\"least_ns\":%" PRIu64 ",\"most_ns\":%" PRIu64
                ",\"works\":%" PRIu64 ",\"work_ns\":%" PRIu64 "}",
                total->count, total->total, total->least, total->most, total->works, total->work);
    }
    fputs("]", out);
}

static void put_summary(FILE *out, const struct timeline_process *process)
{
    const struct timeline_figures *figures = &process->figures;
    fprintf(out, "{\"pid\":%" PRIu64 ",\"process\":%" PRIu64 ",\"lost\":%" PRIu64, process->shown, process->pid,
            process->lost);
    put_text(out, "program", process->program);
    put_text(out, "end", process->how);
    const struct {
        const char *name;
        uint64_t value;
    } all[] = {{"span_ns", figures->span},
               {"device_ns", figures->device},
               {"busy_ns", figures->busy},
               {"idle_ns", figures->device - figures->busy},
               {"overlap_ns", figures->overlap},
               {"work_ns", figures->work},
               {"host_waits_ns", figures->waited},
               {"workers", figures->workers},
               {"worked_ns", figures->worked},
               {"critical_ns", figures->critical},
               {"critical_works", figures->critical_works},
               {"critical_host_ns", figures->critical_host}};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        fprintf(out, ",\"%s\":%" PRIu64, all[i].name, all[i].value);
    put_totals(out, process);
    put_range_totals(out, process);
    put_findings_list(out, process);
    fputs("}", out);
}

void timeline_write_chrome(FILE *out, const struct timeline *timeline)
{
    uint64_t id = 0;
    start = timeline->start;
    fputs("{\"displayTimeUnit\":\"ns\",\"otherData\":{\"made by\":\"millrace trace\",\"version\":\"" MR_VERSION
          "\"},\n\"millrace\":{\"processes\":[\n",
          out);
    for (size_t i = 0; i < timeline->processes_count; i++) {
        fputs(i ? ",\n" : "", out);
        put_summary(out, &timeline->processes[i]);
    }
    fputs("]},\n\"traceEvents\":[", out);
    for (size_t i = 0; i < timeline->processes_count; i++)
        put_lanes(out, &timeline->processes[i], i);
    for (size_t i = 0; i < timeline->processes_count; i++) {
        const struct timeline_process *process = &timeline->processes[i];
        for (size_t j = 0; j < process->ranges_count; j++)
            put_range(out, process, &process->ranges[j]);
        for (size_t j = 0; j < process->calls_count; j++)
            put_call(out, process, &process->calls[j]);
        for (size_t j = 0; j < process->works_count; j++)
            put_work(out, process, &process->works[j]);
        for (size_t j = 0; j < process->slices_count; j++)
            put_slice(out, process, &process->slices[j]);
        for (size_t j = 0; j < process->arrows_count; j++)
            put_arrow(out, process, &process->arrows[j], ++id);
        for (size_t j = 0; j < process->findings_count; j++)
            put_finding(out, process, &process->findings[j], ++id);
    }
    fputs("\n]}\n", out);
}
