/* SPDX-License-Identifier: Apache-2.0 */
/* From the records of one file to a process of the timeline: ends, calls, works, names. */
#include <stdlib.h>
#include <string.h>

#include "reading.h"
#include "report/names.h"

const char *reading_own(struct timeline_process *process, char *text)
{
    char **place = text ? ADD(process, texts) : NULL;
    if (!place) {
        free(text);
        return NULL;
    }
    return *place = text;
}

static int by_key(const void *a, const void *b)
{
    const struct entry *x = a, *y = b;
    return x->key < y->key ? -1 : x->key > y->key;
}

/* Of two with the same number the texts are the same. */
static const char *text_of(const struct reading *reading, uint64_t key)
{
    struct entry wanted = {.key = key};
    const struct entry *found = key && reading->names_count
                                    ? bsearch(&wanted, reading->names, reading->names_count, sizeof wanted, by_key)
                                    : NULL;
    return found ? found->text : NULL;
}

static int compare(uint64_t a, uint64_t b)
{
    return a < b ? -1 : a > b;
}

static int by_begin_of_step(const void *a, const void *b)
{
    const struct timeline_work *x = a, *y = b;
    int order = compare(x->work, y->work);
    order = order ? order : compare(x->node, y->node);
    return order ? order : compare(x->from, y->from);
}

static int by_end_of_step(const void *a, const void *b)
{
    const struct end *x = a, *y = b;
    int order = compare(x->work, y->work);
    order = order ? order : compare(x->node, y->node);
    return order ? order : compare(x->time, y->time);
}

/* The same node may run several times in one run; one ends before the next begins. */
static void pair_ends(struct reading *reading, uint64_t last)
{
    struct timeline_process *process = reading->process;
    size_t end = 0;
    if (process->works_count)
        qsort(process->works, process->works_count, sizeof *process->works, by_begin_of_step);
    if (reading->ends_count)
        qsort(reading->ends, reading->ends_count, sizeof *reading->ends, by_end_of_step);
    for (size_t i = 0; i < process->works_count; i++) {
        struct timeline_work *work = &process->works[i];
        struct end wanted = {.work = work->work, .node = work->node, .time = work->from};
        while (end < reading->ends_count && by_end_of_step(&reading->ends[end], &wanted) < 0)
            end++;
        const struct end *found = end < reading->ends_count ? &reading->ends[end] : NULL;
        work->to = last > work->from ? last : work->from;
        if (found && found->work == work->work && found->node == work->node) {
            work->to = found->time;
            work->status = found->status;
            work->open = false;
            end++;
        }
    }
}

static int by_work(const void *a, const void *b)
{
    return compare(((const struct bind *)a)->work, ((const struct bind *)b)->work);
}

/* As they lie in each other. */
static int by_call(const void *a, const void *b)
{
    const struct timeline_call *x = a, *y = b;
    int order = compare(x->from, y->from);
    order = order ? order : compare(y->to, x->to);
    return order ? order : compare(x->number, y->number);
}

static int by_number(const void *a, const void *b)
{
    return compare(((const struct entry *)a)->key, ((const struct entry *)b)->key);
}

/* Which call asked for each work. */
static bool give_calls(struct reading *reading)
{
    struct timeline_process *process = reading->process;
    struct entry *calls = calloc(process->calls_count + 1, sizeof *calls);
    if (!calls)
        return false;
    if (process->calls_count)
        qsort(process->calls, process->calls_count, sizeof *process->calls, by_call);
    for (size_t i = 0; i < process->calls_count; i++)
        calls[i] = (struct entry){process->calls[i].number, (const char *)(uintptr_t)i};
    qsort(calls, process->calls_count, sizeof *calls, by_number);
    if (reading->binds_count)
        qsort(reading->binds, reading->binds_count, sizeof *reading->binds, by_work);
    for (size_t i = 0; i < process->works_count; i++) {
        struct timeline_work *work = &process->works[i];
        struct bind wanted = {.work = work->work};
        const struct bind *bind = reading->binds_count && work->node == 0
                                      ? bsearch(&wanted, reading->binds, reading->binds_count, sizeof wanted, by_work)
                                      : NULL;
        if (!bind)
            continue;
        struct entry number = {.key = bind->call};
        const struct entry *call = bsearch(&number, calls, process->calls_count, sizeof number, by_number);
        /* A GPU's work may run before the call returns, and the call tells of it then. */
        work->bound = bind->time < work->from ? bind->time : work->from;
        work->is_bound = true;
        work->call = call ? (uint32_t)(uintptr_t)call->text : NONE;
    }
    free(calls);
    return true;
}

/* A readable name without the list of parameters and the result's type. */
static const char *short_name(struct timeline_process *process, const char *full)
{
    size_t length = strlen(full), depth = 0;
    if (length && full[length - 1] == ')')
        for (size_t i = length; i-- > 0;) {
            depth += full[i] == ')';
            if (full[i] == '(' && --depth == 0) {
                length = i ? i : length;
                break;
            }
        }
    size_t skip = strncmp(full, "void ", 5) == 0 && length > 5 ? 5 : 0;
    return reading_own(process, strndup(full + skip, length - skip));
}

static bool name_works(struct reading *reading)
{
    enum { KNOWN = 256 };
    struct {
        const char *symbol, *full, *name;
    } known[KNOWN] = {0};
    struct timeline_process *process = reading->process;
    for (size_t i = 0; i < process->works_count; i++) {
        struct timeline_work *work = &process->works[i];
        work->kernel = text_of(reading, (uintptr_t)work->kernel);
        work->name = timeline_kind(work->kind);
        if (!work->kernel)
            continue;
        size_t at = ((uintptr_t)work->kernel * 0x9e3779b97f4a7c15u) >> 56;
        if (known[at].symbol != work->kernel) {
            known[at].symbol = work->kernel;
            known[at].full = reading_own(process, names_demangle(work->kernel));
            known[at].name = known[at].full ? short_name(process, known[at].full) : NULL;
        }
        if (!known[at].name)
            return false;
        work->full = known[at].full;
        work->name = known[at].name;
    }
    for (size_t i = 0; i < process->calls_count; i++) {
        process->calls[i].name = text_of(reading, (uintptr_t)process->calls[i].name);
        if (!process->calls[i].name)
            process->calls[i].name = "?";
    }
    return true;
}

/* The file with code that was looked at last. */
struct opened {
    const char *path;
    struct names_module *module;
};

/* Names the place by the file that the code is in; `module` is NULL if that is gone. */
static bool name_place(struct timeline_process *process, struct timeline_site *site, struct names_module *module)
{
    struct name *names = NULL;
    size_t count = module ? names_find(module, site->offset, &names) : 0;
    bool good = true;
    size_t at = 0; /* inlined functions stand before those that they are in */
    while (at + 1 < count && names_is_runtime(names[at].function, names[at].file))
        at++;
    if (count) {
        site->line = names[at].line;
        if (names[at].function)
            good = (site->function = reading_own(process, strdup(names[at].function))) != NULL;
        if (names[at].file)
            good = (site->file = reading_own(process, strdup(names[at].file))) != NULL && good;
    }
    names_free(names, count);
    return good;
}

/* Is the frame in the runtime library, or in what compilers put between it and the program? */
static bool is_runtime(const struct timeline_site *site)
{
    const char *path = site->module ? site->module : "", *name = strrchr(path, '/') ? strrchr(path, '/') + 1 : path;
    return strncmp(name, "libcudart.so", 12) == 0 || names_is_runtime(site->function, site->file);
}

/* Of a place's frames the innermost one in the program counts; where there is none, the innermost one. */
static bool take_sites(struct reading *reading, struct opened *opened)
{
    struct timeline_process *process = reading->process;
    for (size_t i = 0; i < reading->sites_count; i++) {
        const struct trace_site *from = &reading->sites[i].record;
        if (reading->sites[i].number > 1 << 24)
            return false;
        while (process->sites_count <= reading->sites[i].number)
            if (!ADD(process, sites))
                return false;
        struct timeline_site *known = &process->sites[reading->sites[i].number], made, *site = &made;
        if (known->is_known)
            continue;
        made = (struct timeline_site){.function = text_of(reading, from->function),
                                      .file = text_of(reading, from->file),
                                      .module = text_of(reading, from->module),
                                      .line = from->line,
                                      .offset = from->offset};
        if (site->module && site->module != opened->path) {
            const char *build = text_of(reading, from->build), *why;
            if (opened->module)
                names_close(opened->module);
            opened->path = site->module;
            opened->module = names_open(site->module, build ? build : "", &why);
        }
        if (site->module && !name_place(process, site, opened->module))
            return false;
        made.is_known = (site->function || site->file || site->module) && !is_runtime(site);
        if (made.is_known || (!known->function && !known->file && !known->module))
            *known = made;
    }
    return true;
}

static bool name_sites(struct reading *reading)
{
    struct timeline_process *process = reading->process;
    struct opened opened = {0};
    bool good = take_sites(reading, &opened);
    if (opened.module)
        names_close(opened.module);
    for (size_t i = 0; i < process->calls_count; i++) {
        uint32_t number = process->calls[i].site;
        const struct timeline_site *site = number < process->sites_count ? &process->sites[number] : NULL;
        if (number == 0 || !site || (!site->function && !site->file && !site->module))
            process->calls[i].site = NONE;
    }
    return good;
}

static uint64_t last_moment(const struct timeline_process *process, const struct reading *reading)
{
    uint64_t last = process->end > process->start ? process->end : process->start;
    for (size_t i = 0; i < process->calls_count; i++)
        last = process->calls[i].to > last ? process->calls[i].to : last;
    for (size_t i = 0; i < process->works_count; i++)
        last = process->works[i].from > last ? process->works[i].from : last;
    for (size_t i = 0; i < reading->ends_count; i++)
        last = reading->ends[i].time > last ? reading->ends[i].time : last;
    for (size_t i = 0; i < process->ranges_count; i++)
        last = process->ranges[i].to > last ? process->ranges[i].to : last;
    for (size_t i = 0; i < process->range_ends_count; i++)
        last = process->range_ends[i].time > last ? process->range_ends[i].time : last;
    return last;
}

static int by_slice(const void *a, const void *b)
{
    const struct timeline_slice *x = a, *y = b;
    int order = compare(x->from, y->from);
    return order ? order : compare(y->to, x->to);
}

static void give_works(struct timeline_process *process)
{
    if (process->slices_count)
        qsort(process->slices, process->slices_count, sizeof *process->slices, by_slice);
    for (size_t i = 0; i < process->slices_count; i++) {
        struct timeline_slice *slice = &process->slices[i];
        size_t low = 0, high = process->works_count;
        struct timeline_work wanted = {.work = slice->work, .node = slice->node, .from = slice->to};
        while (low < high) {
            size_t middle = (low + high) / 2;
            if (by_begin_of_step(&process->works[middle], &wanted) <= 0)
                low = middle + 1;
            else
                high = middle;
        }
        if (low && process->works[low - 1].work == slice->work && process->works[low - 1].node == slice->node)
            slice->of = (uint32_t)(low - 1);
    }
}

bool reading_put_together(struct reading *reading)
{
    struct timeline_process *process = reading->process;
    if (reading->names_count)
        qsort(reading->names, reading->names_count, sizeof *reading->names, by_key);
    uint64_t last = last_moment(process, reading);
    pair_ends(reading, last);
    give_works(process);
    return give_calls(reading) && name_works(reading) && name_sites(reading) && ranges_put_together(process, last);
}
