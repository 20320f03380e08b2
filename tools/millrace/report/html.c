/* SPDX-License-Identifier: Apache-2.0 */
/* A report as one page that needs nothing else: for a browser, in light or dark, wide or narrow. */
#include <inttypes.h>

#include "write.h"

static const char head[] =
    "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n"
    "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>millrace check</title>\n<style>\n"
    ":root{color-scheme:light dark;--back:#fff;--text:#1b1f24;--soft:#57606a;--line:#d0d7de;--bad:#b3261e;--good:#1a7f37;--box:#f6f8fa}\n"
    "@media(prefers-color-scheme:dark){:root{--back:#0d1117;--text:#e6edf3;--soft:#9198a1;--line:#30363d;--bad:#ff7b72;--good:#3fb950;--box:#161b22}}\n"
    "body{margin:0 auto;padding:1rem;max-width:64rem;background:var(--back);color:var(--text);font:16px/1.5 system-ui,sans-serif}\n"
    "article{border:1px solid var(--line);border-radius:6px;padding:.5rem 1rem;margin:1rem 0}\n"
    "h1{font-size:1.4rem}h2{font-size:1.05rem;margin:.3rem 0;overflow-wrap:anywhere}h3{font-size:1rem;margin:.8rem 0 .2rem}\n"
    ".kind{color:var(--bad);font-weight:600}.soft{color:var(--soft)}.mend{color:var(--good)}p{margin:.3rem 0;overflow-wrap:anywhere}\n"
    "ol{margin:.2rem 0;padding:.4rem .4rem .4rem 2.4rem;background:var(--box);border-radius:4px;font:13px/1.5 ui-monospace,monospace;overflow-wrap:anywhere}\n"
    "</style></head><body>\n";

static void put(FILE *out, const char *text)
{
    for (; text && *text; text++)
        switch (*text) {
        case '<':
            fputs("&lt;", out);
            break;
        case '>':
            fputs("&gt;", out);
            break;
        case '&':
            fputs("&amp;", out);
            break;
        case '"':
            fputs("&quot;", out);
            break;
        default:
            fputc(*text, out);
        }
}

static void put_stack(FILE *out, const struct report_stack *stack)
{
    if (stack->count == 0) {
        fputs("<p class=\"soft\">(no call stack)</p>\n", out);
        return;
    }
    fputs("<ol start=\"0\">", out);
    for (size_t i = 0; i < stack->count; i++) {
        const struct report_frame *frame = &stack->frames[i];
        fputs("<li><b>", out);
        put(out, frame->function ? frame->function : "?");
        fputs("</b> <span class=\"soft\">", out);
        put(out, frame->file ? frame->file : frame->module);
        if (frame->file)
            fprintf(out, ":%u", frame->line);
        else
            fprintf(out, "+0x%" PRIx64, frame->offset);
        fputs(frame->inlined ? " [inlined]</span></li>\n" : "</span></li>\n", out);
    }
    fputs("</ol>\n", out);
}

static void put_side(FILE *out, const struct report_side *side, size_t number)
{
    fprintf(out, "<h3>%zu. ", number);
    put(out, side->what);
    if (side->kernel) {
        fputs(" <code>", out);
        put(out, side->kernel);
        fputs("</code>", out);
    }
    fputs(" ", out);
    put(out, side->how);
    fputs("</h3>\n<p class=\"soft\">", out);
    put(out, side->call);
    if (side->stream)
        fputs(", in ", out);
    put(out, side->stream);
    if (side->file) {
        fputs(", at ", out);
        put(out, side->file);
        fprintf(out, ":%u", side->line);
    }
    fputs("</p>\n", out);
    put_stack(out, &side->stack);
}

static void put_finding(FILE *out, const struct report_finding *finding)
{
    fputs("<article><h2><span class=\"kind\">", out);
    put(out, finding->kind);
    fputs(finding->note ? "</span> note: " : "</span> ", out);
    put(out, finding->title);
    fputs("</h2>\n", out);
    for (size_t i = 0; i < finding->side_count; i++)
        put_side(out, &finding->sides[i], i + 1);
    if (finding->bytes)
        fprintf(out, "<p>Bytes: %s%" PRIu64 ", from 0x%" PRIx64 " on.</p>\n", finding->rough ? "at most " : "",
                finding->bytes, finding->first);
    if (finding->allocation.known) {
        fprintf(out, "<h3>Allocation of %" PRIu64 " bytes</h3><p class=\"soft\">", finding->allocation.size);
        put(out, finding->allocation.call);
        fputs("</p>\n", out);
        put_stack(out, &finding->allocation.stack);
    }
    if (finding->missing) {
        fputs("<p>Missing: ", out);
        put(out, finding->missing);
        fputs("</p>\n", out);
    }
    if (finding->advice) {
        fputs("<p class=\"mend\">Mend: ", out);
        put(out, finding->advice);
        fputs("</p>\n", out);
    }
    if (finding->times > 1)
        fprintf(out, "<p class=\"soft\">Seen %" PRIu64 " times.</p>\n", finding->times);
    fputs("</article>\n", out);
}

void report_write_html(FILE *out, const struct report *report)
{
    size_t shown = report_shown(report), notes = report_notes(report);
    fputs(head, out);
    fprintf(out, "<h1>millrace check: %zu finding%s</h1>\n", shown, shown == 1 ? "" : "s");
    if (notes)
        fprintf(out, "<p class=\"soft\">%zu note%s.</p>\n", notes, notes == 1 ? "" : "s");
    if (report->finding_count > shown + notes)
        fprintf(out, "<p class=\"soft\">%zu suppressed.</p>\n", report->finding_count - shown - notes);
    for (size_t i = 0; i < report->finding_count; i++)
        if (!report->findings[i].suppressed)
            put_finding(out, &report->findings[i]);
    for (size_t i = 0; i < report->process_count; i++)
        for (size_t n = 0; n < report->processes[i].note_count; n++) {
            fputs("<p class=\"soft\">Note: ", out);
            put(out, report->processes[i].notes[n]);
            fputs("</p>\n", out);
        }
    fputs("</body></html>\n", out);
}
