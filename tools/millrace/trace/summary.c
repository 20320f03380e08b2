/* SPDX-License-Identifier: Apache-2.0 */
/* What a timeline says in figures. */
#include <inttypes.h>

#include "json.h"

static void put_findings(FILE *out, const struct timeline_process *process, uint64_t start)
{
    fputs(",\"findings\":[", out);
    for (size_t i = 0; i < process->findings_count; i++) {
        const struct timeline_finding *finding = &process->findings[i];
        fprintf(out, "%s{\"number\":%" PRIu32 ",\"times\":%" PRIu64, i ? ",\n" : "\n", finding->number, finding->times);
        json_put_text(out, "kind", finding->kind);
        json_put_text(out, "title", finding->title);
        if (finding->missing)
            json_put_text(out, "missing", finding->missing);
        if (finding->advice)
            json_put_text(out, "mend", finding->advice);
        fputs(",\"drawn\":[", out);
        for (size_t j = 0; j < finding->ends_count; j++) {
            fprintf(out, "%s{\"tid\":%" PRIu64, j ? "," : "", process->lanes[finding->ends[j].lane].id);
            json_put_time(out, "ts", finding->ends[j].time > start ? finding->ends[j].time - start : 0);
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
        json_put_text(out, "name", total->name);
        if (total->full)
            json_put_text(out, "kernel", total->full);
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
        json_text(out, *total->text ? total->text : "(no message)");
        if (total->domain && domain)
            json_put_text(out, "domain", domain->text);
        fprintf(out,
                ",\"count\":%" PRIu64 ",\"total_ns\":%" PRIu64 ",\"least_ns\":%" PRIu64 ",\"most_ns\":%" PRIu64
                ",\"works\":%" PRIu64 ",\"work_ns\":%" PRIu64 "}",
                total->count, total->total, total->least, total->most, total->works, total->work);
    }
    fputs("]", out);
}

static void put_summary(FILE *out, const struct timeline_process *process, uint64_t start)
{
    const struct timeline_figures *figures = &process->figures;
    fprintf(out, "{\"pid\":%" PRIu64 ",\"process\":%" PRIu64 ",\"lost\":%" PRIu64, process->shown, process->pid,
            process->lost);
    json_put_text(out, "program", process->program);
    json_put_text(out, "end", process->how);
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
    put_findings(out, process, start);
    fputs("}", out);
}

void json_put_summaries(FILE *out, const struct timeline *timeline)
{
    fputs("\"processes\":[\n", out);
    for (size_t i = 0; i < timeline->processes_count; i++) {
        fputs(i ? ",\n" : "", out);
        put_summary(out, &timeline->processes[i], timeline->start);
    }
    fputs("]", out);
}
