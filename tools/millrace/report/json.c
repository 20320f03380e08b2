/* SPDX-License-Identifier: Apache-2.0 */
/* A report as JSON, for programs: "format": "millrace-report", version 1. */
#include <cjson/cJSON.h>
#include <stdlib.h>

#include "write.h"

static void add_text(cJSON *object, const char *key, const char *text)
{
    if (text)
        cJSON_AddStringToObject(object, key, text);
}

static void add_number(cJSON *object, const char *key, uint64_t number)
{
    if (number)
        cJSON_AddNumberToObject(object, key, (double)number);
}

static void add_stack(cJSON *object, const char *key, const struct report_stack *stack)
{
    cJSON *frames = cJSON_AddArrayToObject(object, key);
    for (size_t i = 0; i < stack->count; i++) {
        const struct report_frame *frame = &stack->frames[i];
        cJSON *item = cJSON_CreateObject();
        add_text(item, "function", frame->function);
        add_text(item, "file", frame->file);
        add_number(item, "line", frame->line);
        add_number(item, "column", frame->column);
        add_text(item, "module", frame->module);
        add_number(item, "offset", frame->offset);
        add_number(item, "past", frame->past);
        if (frame->inlined)
            cJSON_AddTrueToObject(item, "inlined");
        cJSON_AddItemToArray(frames, item);
    }
}

static cJSON *side_object(const struct report_side *side)
{
    cJSON *item = cJSON_CreateObject();
    add_text(item, "what", side->what);
    add_text(item, "how", side->how);
    add_text(item, "kernel", side->kernel);
    add_text(item, "symbol", side->symbol);
    add_text(item, "call", side->call);
    add_text(item, "stream", side->stream);
    add_text(item, "file", side->file);
    add_number(item, "line", side->line);
    add_number(item, "ptx_line", side->ptx_line);
    add_number(item, "number", side->number);
    add_number(item, "thread", side->thread);
    if (side->device >= 0)
        cJSON_AddNumberToObject(item, "device", side->device);
    add_text(item, "note", side->note);
    add_stack(item, "stack", &side->stack);
    return item;
}

static cJSON *finding_object(const struct report_finding *finding)
{
    cJSON *item = cJSON_CreateObject(), *sides;
    add_text(item, "tool", finding->tool);
    add_text(item, "kind", finding->kind);
    add_text(item, "level", finding->note ? "note" : "error");
    add_text(item, "title", finding->title);
    add_number(item, "first", finding->first);
    add_number(item, "bytes", finding->bytes);
    cJSON_AddBoolToObject(item, "rough", finding->rough);
    cJSON_AddBoolToObject(item, "luck", finding->luck);
    add_number(item, "times", finding->times);
    add_number(item, "process", finding->process);
    add_text(item, "missing", finding->missing);
    add_text(item, "advice", finding->advice);
    add_text(item, "suppressed", finding->suppressed);
    if (finding->allocation.known) {
        cJSON *allocation = cJSON_AddObjectToObject(item, "allocation");
        add_number(allocation, "first", finding->allocation.first);
        add_number(allocation, "size", finding->allocation.size);
        add_text(allocation, "call", finding->allocation.call);
        add_stack(allocation, "stack", &finding->allocation.stack);
        add_text(allocation, "freed_call", finding->allocation.freed_call);
        if (finding->allocation.freed_call)
            add_stack(allocation, "freed_stack", &finding->allocation.freed);
    }
    sides = cJSON_AddArrayToObject(item, "sides");
    for (size_t i = 0; i < finding->side_count; i++)
        cJSON_AddItemToArray(sides, side_object(&finding->sides[i]));
    return item;
}

bool report_write_json(FILE *out, const struct report *report)
{
    cJSON *root = cJSON_CreateObject();
    add_text(root, "format", "millrace-report");
    cJSON_AddNumberToObject(root, "version", 1);
    cJSON *findings = cJSON_AddArrayToObject(root, "findings"), *processes;
    for (size_t i = 0; i < report->finding_count; i++)
        cJSON_AddItemToArray(findings, finding_object(&report->findings[i]));
    processes = cJSON_AddArrayToObject(root, "processes");
    for (size_t i = 0; i < report->process_count; i++) {
        const struct report_process *process = &report->processes[i];
        cJSON *item = cJSON_CreateObject();
        add_number(item, "pid", process->pid);
        add_text(item, "program", process->program);
        add_text(item, "end", process->end);
        add_number(item, "operations", process->operations);
        cJSON_AddItemToObject(item, "notes",
                              cJSON_CreateStringArray((const char *const *)process->notes, (int)process->note_count));
        cJSON_AddItemToArray(processes, item);
    }
    char *text = root ? cJSON_Print(root) : NULL;
    cJSON_Delete(root);
    if (!text)
        return false;
    fprintf(out, "%s\n", text);
    free(text);
    return true;
}
