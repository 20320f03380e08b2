/* SPDX-License-Identifier: Apache-2.0 */
/* What a report says of itself: titles, places, findings that are the same. */
#include "model.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

char *report_format(const char *format, ...)
{
    char *text = NULL;
    va_list arguments;
    va_start(arguments, format);
    int length = vasprintf(&text, format, arguments);
    va_end(arguments);
    return length < 0 ? NULL : text;
}

void report_cut_stack(struct report_stack *stack, size_t keep)
{
    for (size_t i = keep; i < stack->count; i++) {
        free(stack->frames[i].function);
        free(stack->frames[i].file);
        free(stack->frames[i].module);
    }
    if (keep < stack->count)
        stack->count = keep;
    if (keep == 0) {
        free(stack->frames);
        *stack = (struct report_stack){0};
    }
}

static void free_side(struct report_side *side)
{
    char *texts[] = {side->what,          side->how,  side->kernel, side->symbol, side->within,
                     side->within_symbol, side->call, side->stream, side->file,   side->note};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        free(texts[i]);
    report_cut_stack(&side->stack, 0);
}

void report_free_finding(struct report_finding *finding)
{
    for (size_t i = 0; i < finding->side_count; i++)
        free_side(&finding->sides[i]);
    free(finding->sides);
    report_cut_stack(&finding->allocation.stack, 0);
    report_cut_stack(&finding->allocation.freed, 0);
    char *texts[] = {finding->tool,    finding->kind,   finding->detail,          finding->title,
                     finding->missing, finding->advice, finding->allocation.call, finding->allocation.freed_call};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        free(texts[i]);
}

void report_free(struct report *report)
{
    for (size_t i = 0; i < report->finding_count; i++)
        report_free_finding(&report->findings[i]);
    for (size_t i = 0; i < report->process_count; i++) {
        struct report_process *process = &report->processes[i];
        for (size_t n = 0; n < process->note_count; n++)
            free(process->notes[n]);
        free(process->notes);
        free(process->program);
        free(process->end);
    }
    free(report->findings);
    free(report->processes);
    *report = (struct report){0};
}

static size_t count_of(const struct report *report, bool notes)
{
    size_t shown = 0;
    for (size_t i = 0; i < report->finding_count; i++)
        shown += report->findings[i].suppressed == NULL && report->findings[i].note == notes;
    return shown;
}

size_t report_shown(const struct report *report)
{
    return count_of(report, false);
}

size_t report_notes(const struct report *report)
{
    return count_of(report, true);
}

static bool is_of_library(const struct report_frame *frame)
{
    const char *name = frame->module ? strrchr(frame->module, '/') : NULL;
    return name && strncmp(name, "/libc.so", 8) == 0;
}

/* A file that Python has come with ("<frozen runpy>", too, which runs `python -m`), or that was installed for it. */
static bool is_of_python(const char *path)
{
    return path &&
           (strstr(path, "/lib/python3") || strstr(path, "/site-packages/") || strstr(path, "/dist-packages/") ||
            strstr(path, "/millrace_torch/") || strncmp(path, "<frozen ", 8) == 0);
}

/* Lines of Python's packages say less than those of the program that uses them, and the C library's say less than those
 * of its caller. */
enum { OF_PROGRAM, OF_PACKAGE, OF_LIBRARY };

static int origin_of(const struct report_frame *frame)
{
    return is_of_library(frame)                                       ? OF_LIBRARY
           : is_of_python(frame->file) || is_of_python(frame->module) ? OF_PACKAGE
                                                                      : OF_PROGRAM;
}

const char *report_place(const struct report_side *side, unsigned *line)
{
    for (int most = OF_PROGRAM; most <= OF_LIBRARY; most++) {
        *line = side->line;
        if (side->file && side->line && (most > OF_PROGRAM || !is_of_python(side->file)))
            return side->file;
        for (size_t i = 0; i < side->stack.count; i++) {
            const struct report_frame *frame = &side->stack.frames[i];
            if (!frame->file || !frame->line || origin_of(frame) > most)
                continue;
            *line = frame->line;
            return frame->file;
        }
    }
    *line = 0;
    return NULL;
}

static bool same_text(const char *one, const char *other)
{
    return one && other ? strcmp(one, other) == 0 : one == other;
}

static bool same_stack(const struct report_stack *one, const struct report_stack *other)
{
    if (one->count != other->count)
        return false;
    for (size_t i = 0; i < one->count; i++) {
        const struct report_frame *a = &one->frames[i], *b = &other->frames[i];
        if (a->line != b->line || a->offset != b->offset || !same_text(a->function, b->function) ||
            !same_text(a->file, b->file) || !same_text(a->module, b->module))
            return false;
    }
    return true;
}

static bool same_finding(const struct report_finding *one, const struct report_finding *other)
{
    if (!same_text(one->tool, other->tool) || !same_text(one->kind, other->kind) ||
        one->side_count != other->side_count)
        return false;
    for (size_t i = 0; i < one->side_count; i++) {
        const struct report_side *a = &one->sides[i], *b = &other->sides[i];
        if (!same_text(a->what, b->what) || !same_text(a->how, b->how) || !same_text(a->symbol, b->symbol) ||
            !same_text(a->call, b->call) || !same_text(a->file, b->file) || a->line != b->line ||
            a->ptx_line != b->ptx_line || !same_stack(&a->stack, &b->stack))
            return false;
    }
    return true;
}

bool report_is_of_a_call(const struct report_side *side)
{
    return side->call && strncmp(side->call, "cu", 2) == 0;
}

/* What does it: "kernel 'scale(float*)'", "the copy by cuMemcpyAsync", "cuMemFree". */
static char *name_side(const struct report_side *side)
{
    const char *what = side->what ? side->what : "work";
    if (side->kernel)
        return report_format("%s '%s'", what, side->kernel);
    if (side->call && (strcmp(what, "free") == 0 || strcmp(what, "allocation") == 0))
        return strdup(side->call);
    if (side->call && strcmp(what, "host") == 0)
        return report_is_of_a_call(side) ? report_format("the host, inside of %s,", side->call) : strdup(side->call);
    if (side->call)
        return report_format("the %s by %s", what, side->call);
    return report_format("the %s", what);
}

static char *make_title(const struct report_finding *finding)
{
    char *first = name_side(&finding->sides[0]);
    char *second = finding->side_count > 1 ? name_side(&finding->sides[1]) : NULL;
    const char *how = finding->sides[0].how ? finding->sides[0].how : "uses";
    char *title = NULL;
    if (!first || (finding->side_count > 1 && !second))
        ; /* memory is short */
    else if (finding->detail)
        title = report_format("%s %s", first, finding->detail);
    else if (second && strcmp(finding->kind, "use-after-free") == 0)
        title = report_format("%s %s what %s has freed", first, how, second);
    else if (second)
        title = report_format("%s %s what %s %s, and nothing orders them", first, how, second,
                              finding->sides[1].how ? finding->sides[1].how : "uses");
    else
        title = report_format("%s %s memory", first, how);
    free(first);
    free(second);
    return title;
}

bool report_finish(struct report *report)
{
    size_t kept = 0;
    for (size_t i = 0; i < report->finding_count; i++) {
        struct report_finding finding = report->findings[i];
        size_t same = 0;
        while (same < kept && !same_finding(&report->findings[same], &finding))
            same++;
        if (same < kept) {
            report->findings[same].times += finding.times;
            report_free_finding(&finding);
            continue;
        }
        report->findings[kept++] = finding;
    }
    report->finding_count = kept;
    for (size_t i = 0; i < kept; i++) {
        if (!report->findings[i].title)
            report->findings[i].title = make_title(&report->findings[i]);
        if (!report->findings[i].title)
            return false;
    }
    return true;
}
