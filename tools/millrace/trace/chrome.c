/* SPDX-License-Identifier: Apache-2.0 */
/* A timeline in Chrome's trace format, one event a line.
 *
 * Spans are complete events ("X"), marks instant ones ("i"), arrows pairs of flow events ("s" and "f"), lanes threads
 * with a name and a place in the order. Times are microseconds with three digits after the point, from the first moment
 * on. What the format has no word for stands under "millrace", which viewers leave alone. */
#include <inttypes.h>

#include "events.h"
#include "json.h"

struct chrome {
    FILE *out;
    uint64_t arrows; /* so many are written */
};

/* The begin of an event up to its time. */
static void begin(FILE *out, const char *phase, const struct timeline_process *process, uint32_t lane, uint64_t time)
{
    fprintf(out, ",\n{\"ph\":\"%s\",\"pid\":%" PRIu64 ",\"tid\":%" PRIu64, phase, process->shown,
            process->lanes[lane].id);
    json_put_time(out, "ts", time);
}

static void put_lanes(FILE *out, const struct timeline_process *process, size_t index)
{
    fprintf(out,
            "%s{\"ph\":\"M\",\"pid\":%" PRIu64 ",\"name\":\"process_name\",\"args\":{\"name\":", index ? ",\n" : "\n",
            process->shown);
    json_text(out, process->program);
    fprintf(out,
            "}},\n{\"ph\":\"M\",\"pid\":%" PRIu64 ",\"name\":\"process_sort_index\",\"args\":{\"sort_index\":%zu}}",
            process->shown, index);
    for (size_t i = 0; i < process->lanes_count; i++) {
        const struct timeline_lane *lane = &process->lanes[i];
        fprintf(out,
                ",\n{\"ph\":\"M\",\"pid\":%" PRIu64 ",\"tid\":%" PRIu64 ",\"name\":\"thread_name\",\"args\":{\"name\":",
                process->shown, lane->id);
        json_text(out, lane->name);
        fprintf(out, ",\"kind\":\"%s\",\"number\":%" PRIu64 "}}", json_lane_kind(lane->kind),
                json_lane_number(process, lane));
        fprintf(out,
                ",\n{\"ph\":\"M\",\"pid\":%" PRIu64 ",\"tid\":%" PRIu64
                ",\"name\":\"thread_sort_index\",\"args\":{\"sort_index\":%" PRIu32 "}}",
                process->shown, lane->id, lane->order);
    }
}

static void put_details(FILE *out, const struct event *event)
{
    const char *before = ",\"args\":{";
    for (size_t i = 0; i < event->count; i++) {
        const struct event_detail *detail = &event->details[i];
        fprintf(out, "%s\"%s\":", before, detail->key);
        before = ",";
        switch (detail->type) {
        case EVENT_TEXT:
            json_text(out, detail->text);
            break;
        case EVENT_NUMBER:
            fprintf(out, "%" PRIu64, detail->number);
            break;
        case EVENT_ADDRESS:
            fprintf(out, "\"0x%" PRIx64 "\"", detail->number);
            break;
        case EVENT_LITERAL:
            fputs(detail->literal, out);
            break;
        }
    }
    fputs(event->count ? "}}" : "}", out);
}

static void put_event(void *form, const struct event *event)
{
    struct chrome *chrome = form;
    FILE *out = chrome->out;
    switch (event->phase) {
    case EVENT_SPAN:
        begin(out, "X", event->process, event->lane, event->from);
        json_put_time(out, "dur", event->to - event->from);
        break;
    case EVENT_MARK:
        begin(out, "i", event->process, event->lane, event->from);
        fputs(",\"s\":\"t\"", out);
        break;
    case EVENT_ARROW:
        begin(out, "s", event->process, event->lane, event->from);
        fprintf(out, ",\"id\":%" PRIu64, ++chrome->arrows);
        json_put_text(out, "name", event->name);
        json_put_text(out, "cat", event->category);
        put_details(out, event);
        begin(out, "f", event->process, event->to_lane, event->to);
        fprintf(out, ",\"bp\":\"e\",\"id\":%" PRIu64, chrome->arrows);
        break;
    }
    json_put_text(out, "name", event->name);
    json_put_text(out, "cat", event->category);
    if (event->critical)
        fputs(",\"cname\":\"terrible\"", out);
    put_details(out, event);
}

void timeline_write_chrome(FILE *out, const struct timeline *timeline)
{
    struct chrome chrome = {.out = out};
    fputs("{\"displayTimeUnit\":\"ns\",\"otherData\":{\"made by\":\"millrace trace\",\"version\":\"" MR_VERSION
          "\"},\n\"millrace\":{",
          out);
    json_put_summaries(out, timeline);
    fputs("},\n\"traceEvents\":[", out);
    for (size_t i = 0; i < timeline->processes_count; i++)
        put_lanes(out, &timeline->processes[i], i);
    events_each(timeline, put_event, &chrome);
    fputs("\n]}\n", out);
}
