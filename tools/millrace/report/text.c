/* SPDX-License-Identifier: Apache-2.0 */
/* A report for people who read it in a terminal: the first line of a finding says where and what, as compilers do; then
 * both sides with their stacks, the memory, what is missing and what would mend it. */
#include <inttypes.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>

#include "suppress.h"
#include "write.h"

struct ink {
    const char *bold, *red, *dim, *green, *plain;
};

static const struct ink no_ink = {"", "", "", "", ""};
static const struct ink ink = {"\033[1m", "\033[1;31m", "\033[2m", "\033[32m", "\033[0m"};

static const char *last_part(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/* A path as it is seen from the working directory. */
static const char *from_here(const char *path)
{
    static char here[PATH_MAX];
    if (!*here && !getcwd(here, sizeof here))
        strcpy(here, "?");
    size_t length = strlen(here);
    path += strncmp(path, "./", 2) == 0 ? 2 : 0;
    return length > 1 && strncmp(path, here, length) == 0 && path[length] == '/' ? path + length + 1 : path;
}

static void write_frame(FILE *out, const struct report_frame *frame, size_t number, const struct report_style *style,
                        const struct ink *in)
{
    fprintf(out, "      #%zu ", number);
    if (frame->function)
        fprintf(out, "%s%s%s", in->bold, frame->function, in->plain);
    else if (!frame->module)
        fprintf(out, "0x%" PRIx64, frame->offset);
    if (frame->function && frame->past && !frame->line)
        fprintf(out, "+0x%" PRIx64, frame->past);
    if (frame->file) {
        fprintf(out, " %s:%u", from_here(frame->file), frame->line);
        if (frame->column)
            fprintf(out, ":%u", frame->column);
    }
    if (frame->module && (!frame->file || style->verbose))
        fprintf(out, "%s%s(%s+0x%" PRIx64 ")%s", frame->function ? " " : "", in->dim,
                style->verbose ? frame->module : last_part(frame->module), frame->offset, in->plain);
    if (frame->inlined)
        fprintf(out, " %s[inlined]%s", in->dim, in->plain);
    fputc('\n', out);
}

static void write_stack(FILE *out, const struct report_stack *stack, const struct report_style *style,
                        const struct ink *in)
{
    for (size_t i = 0; i < stack->count; i++)
        write_frame(out, &stack->frames[i], i, style, in);
    if (stack->count == 0)
        fputs("      (no call stack)\n", out);
}

static void write_side(FILE *out, const struct report_side *side, size_t number, const struct report_style *style,
                       const struct ink *in)
{
    fprintf(out, "  %zu) %s", number, side->what ? side->what : "work");
    if (side->kernel)
        fprintf(out, " '%s'", side->kernel);
    if (side->how)
        fprintf(out, " %s", side->how);
    if (side->stream)
        fprintf(out, ", in %s", side->stream);
    if (side->device >= 0)
        fprintf(out, ", device %d", side->device);
    if (side->file && side->line)
        fprintf(out, ", at %s:%u", from_here(side->file), side->line);
    else if (side->ptx_line)
        fprintf(out, ", at line %u of its PTX", side->ptx_line);
    fputc('\n', out);
    if (side->note)
        fprintf(out, "     %s\n", side->note);
    if (side->call) {
        fprintf(out, "     by %s", side->call);
        if (side->number)
            fprintf(out, ", %scall %" PRIu64, report_is_of_a_call(side) ? "" : "after ", side->number);
        if (side->thread)
            fprintf(out, " of the program, thread %" PRIu64, side->thread);
        fputs(":\n", out);
    }
    write_stack(out, &side->stack, style, in);
}

/* A kernel's line touches more than there is of the allocation in which it was seen first. */
static bool in_several(const struct report_finding *finding)
{
    uint64_t offset = finding->first - finding->allocation.first;
    return offset < finding->allocation.size && finding->bytes > finding->allocation.size - offset;
}

static void write_memory(FILE *out, const struct report_finding *finding, const struct report_style *style,
                         const struct ink *in)
{
    const struct report_allocation *allocation = &finding->allocation;
    if (finding->bytes) {
        fprintf(out, "  bytes: %s%" PRIu64, finding->rough ? "at most " : "", finding->bytes);
        if (!finding->first)
            fputc('\n', out);
        else if (!allocation->known)
            fprintf(out, ", from 0x%" PRIx64 " on\n", finding->first);
        else if (in_several(finding))
            fprintf(out, ", in several allocations, in the first one from offset %" PRIu64 " on\n",
                    finding->first - allocation->first);
        else if (finding->first >= allocation->first)
            fprintf(out, ", from offset %" PRIu64 " of the allocation on\n", finding->first - allocation->first);
        else
            fprintf(out, ", from %" PRIu64 " before the allocation on\n", allocation->first - finding->first);
    }
    if (!allocation->known)
        return;
    fprintf(out, "  allocation: %" PRIu64 " bytes at 0x%" PRIx64, allocation->size, allocation->first);
    if (allocation->call)
        fprintf(out, ", by %s", allocation->call);
    fputs(":\n", out);
    write_stack(out, &allocation->stack, style, in);
    if (allocation->freed_call) {
        fprintf(out, "  freed by %s:\n", allocation->freed_call);
        write_stack(out, &allocation->freed, style, in);
    }
}

static void write_finding(FILE *out, const struct report_finding *finding, const struct report_style *style,
                          const struct ink *in)
{
    unsigned line;
    const char *file = report_place(&finding->sides[0], &line);
    if (file)
        fprintf(out, "%s%s:%u:%s ", in->bold, from_here(file), line, in->plain);
    fprintf(out, "%s%s:%s %s%s%s%s [%s]\n", finding->note ? in->bold : in->red, finding->tool, in->plain,
            finding->note ? "note: " : "", in->bold, finding->title, in->plain, finding->kind);
    for (size_t i = 0; i < finding->side_count; i++)
        write_side(out, &finding->sides[i], i + 1, style, in);
    write_memory(out, finding, style, in);
    if (finding->missing)
        fprintf(out, "  missing: %s\n", finding->missing);
    if (finding->advice)
        fprintf(out, "  %smend: %s%s\n", in->green, finding->advice, in->plain);
    if (finding->luck)
        fputs("  Hardware orders these, as far as was observed; no manual promises it.\n", out);
    if (finding->times > 1)
        fprintf(out, "  seen %" PRIu64 " times\n", finding->times);
    if (style->verbose)
        fprintf(out, "  process %" PRIu64 "\n", finding->process);
    if (style->suppressions) {
        fputs("  suppression: ", out);
        suppress_write_rule(out, finding);
    }
    fputc('\n', out);
}

static void write_processes(FILE *out, const struct report *report, const struct report_style *style)
{
    for (size_t i = 0; i < report->process_count; i++) {
        const struct report_process *process = &report->processes[i];
        if (style->verbose)
            fprintf(out, "millrace check: process %" PRIu64 " (%s), %" PRIu64 " operations, ended by %s\n",
                    process->pid, process->program ? process->program : "?", process->operations,
                    process->end && *process->end ? process->end : "?");
        for (size_t n = 0; n < process->note_count; n++)
            fprintf(out, "millrace check: note: %s\n", process->notes[n]);
    }
}

void report_write_text(FILE *out, const struct report *report, const struct report_style *style)
{
    const struct ink *in = style->colour ? &ink : &no_ink;
    size_t shown = report_shown(report), notes = report_notes(report), hidden = report->finding_count - shown - notes;
    for (size_t i = 0; i < report->finding_count; i++)
        if (!report->findings[i].suppressed)
            write_finding(out, &report->findings[i], style, in);
    write_processes(out, report, style);
    fprintf(out, "millrace check: %s%zu finding%s%s", shown ? in->red : in->green, shown, shown == 1 ? "" : "s",
            in->plain);
    if (notes)
        fprintf(out, ", %zu note%s", notes, notes == 1 ? "" : "s");
    if (hidden)
        fprintf(out, ", %zu suppressed", hidden);
    if (report->process_count != 1)
        fprintf(out, ", in %zu processes", report->process_count);
    fputc('\n', out);
}
