/* SPDX-License-Identifier: Apache-2.0 */
/* A report as SARIF 2.1.0 (OASIS), which code hosts and editors show beside the source. */
#include <cjson/cJSON.h>
#include <stdlib.h>
#include <string.h>

#include "write.h"

#define SCHEMA "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"

/* A path as the URI that SARIF wants: absolute ones with a scheme, others relative. NULL: memory is short. */
static char *uri_of(const char *path)
{
    char *uri = malloc(strlen(path) * 3 + 8), *to = uri;
    if (!uri)
        return NULL;
    if (*path == '/')
        to = stpcpy(to, "file://");
    for (; *path; path++) {
        if ((*path >= 'a' && *path <= 'z') || (*path >= 'A' && *path <= 'Z') || (*path >= '0' && *path <= '9') ||
            strchr("/-_.~+", *path))
            *to++ = *path;
        else
            to += sprintf(to, "%%%02X", (unsigned char)*path);
    }
    *to = 0;
    return uri;
}

static void add_message(cJSON *object, const char *text)
{
    cJSON_AddStringToObject(cJSON_AddObjectToObject(object, "message"), "text", text);
}

/* A location; file NULL: of a name alone. */
static cJSON *location_of(const char *file, unsigned line, unsigned column, const char *function)
{
    cJSON *location = cJSON_CreateObject();
    char *uri = file ? uri_of(file) : NULL;
    if (uri) {
        cJSON *physical = cJSON_AddObjectToObject(location, "physicalLocation");
        cJSON_AddStringToObject(cJSON_AddObjectToObject(physical, "artifactLocation"), "uri", uri);
        if (line) {
            cJSON *region = cJSON_AddObjectToObject(physical, "region");
            cJSON_AddNumberToObject(region, "startLine", line);
            if (column)
                cJSON_AddNumberToObject(region, "startColumn", column);
        }
    }
    if (function) {
        cJSON *logical = cJSON_CreateObject();
        cJSON_AddStringToObject(logical, "fullyQualifiedName", function);
        cJSON_AddStringToObject(logical, "kind", "function");
        cJSON_AddItemToArray(cJSON_AddArrayToObject(location, "logicalLocations"), logical);
    }
    free(uri);
    return location;
}

static void add_stack(cJSON *stacks, const struct report_stack *stack, const char *message)
{
    if (stack->count == 0)
        return;
    cJSON *item = cJSON_CreateObject();
    add_message(item, message);
    cJSON *frames = cJSON_AddArrayToObject(item, "frames");
    for (size_t i = 0; i < stack->count; i++) {
        const struct report_frame *frame = &stack->frames[i];
        cJSON *out = cJSON_CreateObject();
        cJSON_AddItemToObject(out, "location", location_of(frame->file, frame->line, frame->column, frame->function));
        if (frame->module)
            cJSON_AddStringToObject(out, "module", frame->module);
        cJSON_AddItemToArray(frames, out);
    }
    cJSON_AddItemToArray(stacks, item);
}

static void add_sides(cJSON *result, const struct report_finding *finding)
{
    cJSON *related = cJSON_AddArrayToObject(result, "relatedLocations"),
          *stacks = cJSON_AddArrayToObject(result, "stacks");
    for (size_t i = 0; i < finding->side_count; i++) {
        const struct report_side *side = &finding->sides[i];
        unsigned line;
        const char *file = report_place(side, &line);
        char *message =
            report_format("%s%s%s%s %s%s%s", side->what ? side->what : "work", side->kernel ? " '" : "",
                          side->kernel ? side->kernel : "", side->kernel ? "'" : "", side->how ? side->how : "works",
                          side->stream ? ", in " : "", side->stream ? side->stream : "");
        if (!message)
            continue;
        if (file) {
            cJSON *location = location_of(file, line, 0, NULL);
            add_message(location, message);
            cJSON_AddItemToArray(related, location);
        }
        add_stack(stacks, &side->stack, message);
        free(message);
    }
    add_stack(stacks, &finding->allocation.stack, "allocation");
    add_stack(stacks, &finding->allocation.freed, "free");
}

static cJSON *result_of(const struct report_finding *finding)
{
    cJSON *result = cJSON_CreateObject();
    unsigned line;
    const char *file = report_place(&finding->sides[0], &line);
    cJSON_AddStringToObject(result, "ruleId", finding->kind);
    cJSON_AddStringToObject(result, "level", finding->note ? "note" : finding->luck ? "warning" : "error");
    char *text = report_format("%s.%s%s%s%s", finding->title, finding->missing ? " Missing: " : "",
                               finding->missing ? finding->missing : "", finding->advice ? " Mend: " : "",
                               finding->advice ? finding->advice : "");
    add_message(result, text ? text : finding->title);
    free(text);
    cJSON *locations = cJSON_AddArrayToObject(result, "locations");
    if (file)
        cJSON_AddItemToArray(locations, location_of(file, line, 0, NULL));
    add_sides(result, finding);
    if (finding->times)
        cJSON_AddNumberToObject(result, "occurrenceCount", (double)finding->times);
    cJSON *suppressions = cJSON_AddArrayToObject(result, "suppressions");
    if (finding->suppressed) {
        cJSON *suppression = cJSON_CreateObject();
        cJSON_AddStringToObject(suppression, "kind", "external");
        cJSON_AddStringToObject(suppression, "justification", finding->suppressed);
        cJSON_AddItemToArray(suppressions, suppression);
    }
    return result;
}

static void add_rules(cJSON *driver, const struct report *report)
{
    cJSON *rules = cJSON_AddArrayToObject(driver, "rules");
    for (size_t i = 0; i < report->finding_count; i++) {
        size_t before = 0;
        while (strcmp(report->findings[before].kind, report->findings[i].kind) != 0)
            before++;
        if (before < i)
            continue;
        cJSON *rule = cJSON_CreateObject();
        cJSON_AddStringToObject(rule, "id", report->findings[i].kind);
        cJSON_AddItemToArray(rules, rule);
    }
}

bool report_write_sarif(FILE *out, const struct report *report)
{
    cJSON *root = cJSON_CreateObject(), *run = cJSON_CreateObject();
    cJSON_AddStringToObject(root, "$schema", SCHEMA);
    cJSON_AddStringToObject(root, "version", "2.1.0");
    cJSON_AddItemToArray(cJSON_AddArrayToObject(root, "runs"), run);
    cJSON *driver = cJSON_AddObjectToObject(cJSON_AddObjectToObject(run, "tool"), "driver");
    cJSON_AddStringToObject(driver, "name", "millrace check");
    cJSON_AddStringToObject(driver, "version", MR_VERSION);
    add_rules(driver, report);
    cJSON *results = cJSON_AddArrayToObject(run, "results");
    for (size_t i = 0; i < report->finding_count; i++)
        cJSON_AddItemToArray(results, result_of(&report->findings[i]));
    char *text = root ? cJSON_Print(root) : NULL;
    cJSON_Delete(root);
    if (!text)
        return false;
    fprintf(out, "%s\n", text);
    free(text);
    return true;
}
