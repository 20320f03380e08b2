/* SPDX-License-Identifier: Apache-2.0 */
/* Reading the files of processes. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "model.h"
#include "report/names.h"

/* A text, or a thing that has a number in a file. */
struct entry {
    uint64_t key;
    const char *text;
};

struct end {
    uint64_t time, work, node;
    int status;
};

struct bind {
    uint64_t time, work, call;
};

struct site {
    uint64_t number;
    struct trace_site record;
};

/* What is read of one file, before it is put together. */
struct reading {
    struct timeline_process *process;
    uint32_t thread;
    LIST(struct entry, names);
    LIST(struct end, ends);
    LIST(struct bind, binds);
    LIST(struct site, sites);
    bool short_of_memory;
};

void *list_grow(void *list, size_t *count, size_t *room, size_t size)
{
    void **at = list;
    if (*count == *room) {
        size_t more = *room ? 2 * *room : 64;
        void *grown = realloc(*at, more * size);
        if (!grown)
            return NULL;
        *at = grown;
        *room = more;
    }
    void *made = (char *)*at + size * (*count)++;
    memset(made, 0, size);
    return made;
}

static bool cannot(const char *what, const char *name)
{
    fprintf(stderr, "millrace trace: %s %s: %s\n", what, name, strerror(errno));
    return false;
}

/* ---- texts ---- */

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

/* A text that the process owns; NULL: memory is short, or `text` is NULL. */
static const char *own(struct timeline_process *process, char *text)
{
    char **place = text ? ADD(process, texts) : NULL;
    if (!place) {
        free(text);
        return NULL;
    }
    return *place = text;
}

/* ---- records ---- */

static bool take_thread(struct reading *reading, const struct trace_thread *record)
{
    struct timeline_process *process = reading->process;
    if (record->record.more == 0 || record->record.more > 1 << 24)
        return false;
    while (process->threads_count <= record->record.more)
        if (!ADD(process, threads))
            return !(reading->short_of_memory = true);
    struct timeline_thread *thread = &process->threads[record->record.more];
    thread->thread = record->thread;
    if (*record->name)
        memcpy(thread->name, record->name, sizeof thread->name);
    thread->name[sizeof thread->name - 1] = 0;
    reading->thread = record->record.more;
    return true;
}

static bool take_name(struct reading *reading, const struct trace_name *record)
{
    if (record->record.more > record->record.size - sizeof *record)
        return false;
    struct entry *entry = ADD(reading, names);
    if (!entry)
        return !(reading->short_of_memory = true);
    entry->key = record->name;
    entry->text = own(reading->process, strndup((const char *)(record + 1), record->record.more));
    return entry->text || !(reading->short_of_memory = true);
}

static bool take_call(struct reading *reading, const struct trace_call *record)
{
    struct timeline_call *call = ADD(reading->process, calls);
    if (!call)
        return !(reading->short_of_memory = true);
    *call = (struct timeline_call){.from = record->from,
                                   .to = record->to,
                                   .number = record->number,
                                   .event = record->event,
                                   .stream = record->stream,
                                   .name = (const char *)(uintptr_t)record->name, /* named later */
                                   .thread = reading->thread,
                                   .range = NONE,
                                   .site = record->site,
                                   .role = record->record.more,
                                   .status = record->status,
                                   .open = record->record.type == TRACE_OPEN};
    return record->to >= record->from && record->record.more <= TRACE_WAITS_VALUE;
}

static bool take_begin(struct reading *reading, const struct trace_begin *record)
{
    struct timeline_work *work = ADD(reading->process, works);
    if (!work)
        return !(reading->short_of_memory = true);
    *work = (struct timeline_work){.from = record->time,
                                   .work = record->work,
                                   .node = record->node,
                                   .grid = record->grid,
                                   .stream = record->stream,
                                   .context = record->context,
                                   .bytes = record->bytes,
                                   .kernel = (const char *)(uintptr_t)record->kernel, /* named later */
                                   .call = NONE,
                                   .before = NONE,
                                   .kind = record->record.more,
                                   .open = true};
    memcpy(work->blocks, record->blocks, sizeof work->blocks);
    memcpy(work->threads, record->threads, sizeof work->threads);
    return record->record.more <= MR_OBSERVED_OTHER;
}

static bool take_rest(struct reading *reading, const struct trace_record *record)
{
    switch (record->type) {
    case TRACE_BIND: {
        const struct trace_bind *from = (const void *)record;
        struct bind *bind = ADD(reading, binds);
        if (bind)
            *bind = (struct bind){from->time, from->work, from->call};
        return bind || !(reading->short_of_memory = true);
    }
    case TRACE_END: {
        const struct trace_end *from = (const void *)record;
        struct end *end = ADD(reading, ends);
        if (end)
            *end = (struct end){from->time, from->work, from->node, (int)record->more};
        return end || !(reading->short_of_memory = true);
    }
    case TRACE_SLICE: {
        const struct trace_slice *from = (const void *)record;
        struct timeline_slice *slice = ADD(reading->process, slices);
        if (slice)
            *slice = (struct timeline_slice){from->from, from->to, from->work, from->node, record->more, NONE, NONE};
        return slice ? from->to >= from->from : !(reading->short_of_memory = true);
    }
    case TRACE_CONTEXT: {
        const struct trace_context *from = (const void *)record;
        struct timeline_context *context = ADD(reading->process, contexts);
        if (context)
            *context = (struct timeline_context){from->context, record->more};
        return context || !(reading->short_of_memory = true);
    }
    case TRACE_STREAM: {
        const struct trace_stream *from = (const void *)record;
        struct timeline_stream *stream = ADD(reading->process, streams);
        if (stream)
            *stream = (struct timeline_stream){from->stream, from->context, record->more};
        return stream ? record->more <= TRACE_STREAM_LEGACY : !(reading->short_of_memory = true);
    }
    case TRACE_RANGE:
    case TRACE_RANGE_END:
    case TRACE_GIVEN: {
        bool memory = true, good = ranges_take(reading->process, reading->thread, record, &memory);
        reading->short_of_memory = !memory;
        return good;
    }
    default: {
        const struct trace_site *from = (const void *)record;
        struct site *site = ADD(reading, sites);
        if (site)
            *site = (struct site){record->more, *from};
        return site || !(reading->short_of_memory = true);
    }
    }
}

/* One record; false: it is none, or memory is short. */
static bool take(struct reading *reading, const struct trace_record *record)
{
    static const uint16_t sizes[] = {
        [TRACE_THREAD] = sizeof(struct trace_thread),       [TRACE_NAME] = sizeof(struct trace_name),
        [TRACE_SITE] = sizeof(struct trace_site),           [TRACE_CALL] = sizeof(struct trace_call),
        [TRACE_OPEN] = sizeof(struct trace_call),           [TRACE_BIND] = sizeof(struct trace_bind),
        [TRACE_BEGIN] = sizeof(struct trace_begin),         [TRACE_END] = sizeof(struct trace_end),
        [TRACE_SLICE] = sizeof(struct trace_slice),         [TRACE_RANGE] = sizeof(struct trace_range),
        [TRACE_RANGE_END] = sizeof(struct trace_range_end), [TRACE_GIVEN] = sizeof(struct trace_given),
        [TRACE_CONTEXT] = sizeof(struct trace_context),     [TRACE_STREAM] = sizeof(struct trace_stream)};
    if (record->type < TRACE_THREAD || record->type > TRACE_STREAM || record->size < sizes[record->type] ||
        (record->type != TRACE_THREAD && reading->thread == 0))
        return false;
    switch (record->type) {
    case TRACE_THREAD:
        return take_thread(reading, (const void *)record);
    case TRACE_NAME:
        return take_name(reading, (const void *)record);
    case TRACE_CALL:
    case TRACE_OPEN:
        return take_call(reading, (const void *)record);
    case TRACE_BEGIN:
        return take_begin(reading, (const void *)record);
    default:
        return take_rest(reading, record);
    }
}

static bool take_chunk(struct reading *reading, const char *chunk, size_t bytes)
{
    reading->thread = 0;
    for (size_t at = 0; at + sizeof(struct trace_record) <= bytes;) {
        const struct trace_record *record = (const void *)(chunk + at);
        if (record->size == 0)
            return true;
        if (record->size % 8 || record->size > bytes - at || !take(reading, record))
            return false;
        at += record->size;
    }
    return true;
}

/* ---- putting together ---- */

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
        work->bound = bind->time;
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
    return own(process, strndup(full + skip, length - skip));
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
            known[at].full = own(process, names_demangle(work->kernel));
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
    if (count) {
        site->line = names[0].line;
        if (names[0].function)
            good = (site->function = own(process, strdup(names[0].function))) != NULL;
        if (names[0].file)
            good = (site->file = own(process, strdup(names[0].file))) != NULL && good;
    }
    names_free(names, count);
    return good;
}

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
        struct timeline_site *site = &process->sites[reading->sites[i].number];
        *site = (struct timeline_site){.function = text_of(reading, from->function),
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

static bool put_together(struct reading *reading)
{
    struct timeline_process *process = reading->process;
    if (reading->names_count)
        qsort(reading->names, reading->names_count, sizeof *reading->names, by_key);
    uint64_t last = last_moment(process, reading);
    pair_ends(reading, last);
    give_works(process);
    return give_calls(reading) && name_works(reading) && name_sites(reading) && ranges_put_together(process, last);
}

static bool take_file(struct timeline_process *process, const char *bytes, size_t size, bool *whole)
{
    struct trace_head head;
    struct reading reading = {.process = process};
    if (size < TRACE_HEAD || memcmp(bytes, TRACE_MAGIC, sizeof head.magic) != 0) {
        *whole = size == 0; /* a process that was ended before it had begun */
        return true;
    }
    memcpy(&head, bytes, sizeof head);
    process->pid = head.process;
    process->start = head.start;
    process->end = head.end;
    process->lost = head.lost;
    memcpy(process->how, head.how, sizeof process->how - 1);
    memcpy(process->program, head.program, sizeof process->program - 1);
    for (size_t at = TRACE_HEAD; at < size && !reading.short_of_memory; at += TRACE_CHUNK)
        *whole = take_chunk(&reading, bytes + at, size - at < TRACE_CHUNK ? size - at : TRACE_CHUNK) && *whole;
    bool good = !reading.short_of_memory && put_together(&reading);
    free(reading.names);
    free(reading.ends);
    free(reading.binds);
    free(reading.sites);
    return good;
}

static bool read_file(struct timeline *timeline, const char *path)
{
    struct stat status;
    bool whole = true;
    int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0 || fstat(file, &status) != 0) {
        cannot("cannot read", path);
        if (file >= 0)
            close(file);
        return false;
    }
    size_t size = (size_t)status.st_size;
    void *bytes = size ? mmap(NULL, size, PROT_READ, MAP_PRIVATE, file, 0) : NULL;
    close(file);
    if (bytes == MAP_FAILED)
        return cannot("cannot read", path);
    struct timeline_process *process = ADD(timeline, processes);
    bool good = process && take_file(process, bytes, size, &whole);
    if (size)
        munmap(bytes, size);
    if (!good) {
        errno = ENOMEM;
        return cannot("cannot read", path);
    }
    if (process->pid == 0)
        timeline->processes_count--;
    if (!whole)
        fprintf(stderr, "millrace trace: %s is damaged; what could be read of it is shown\n", path);
    return whole;
}

static int trace_files(const struct dirent *entry)
{
    size_t length = strlen(entry->d_name);
    return length > 6 && strcmp(entry->d_name + length - 6, ".trace") == 0;
}

static int by_start(const void *a, const void *b)
{
    return compare(((const struct timeline_process *)a)->start, ((const struct timeline_process *)b)->start);
}

bool timeline_read(struct timeline *timeline, const char *folder)
{
    struct dirent **entries;
    int count = scandir(folder, &entries, trace_files, alphasort);
    bool good = true;
    if (count < 0)
        return cannot("cannot read the folder", folder);
    for (int i = 0; i < count; i++) {
        size_t length = strlen(folder) + strlen(entries[i]->d_name) + 2;
        char *path = malloc(length);
        if (path) {
            snprintf(path, length, "%s/%s", folder, entries[i]->d_name);
            good = read_file(timeline, path) && good;
        } else {
            good = false;
        }
        free(path);
        free(entries[i]);
    }
    free(entries);
    if (timeline->processes_count)
        qsort(timeline->processes, timeline->processes_count, sizeof *timeline->processes, by_start);
    return good;
}

const char *timeline_kind(enum mr_observed_kind kind)
{
    static const char *const names[] = {"kernel", "copy",   "fill", "host function", "memory operation",
                                        "graph",  "record", "wait", "driver"};
    return kind <= MR_OBSERVED_OTHER ? names[kind] : "?";
}

void timeline_free(struct timeline *timeline)
{
    for (size_t i = 0; i < timeline->processes_count; i++) {
        struct timeline_process *process = &timeline->processes[i];
        for (size_t j = 0; j < process->texts_count; j++)
            free(process->texts[j]);
        free(process->texts);
        free(process->threads);
        free(process->sites);
        free(process->calls);
        free(process->works);
        free(process->slices);
        free(process->lanes);
        free(process->arrows);
        free(process->totals);
        free(process->ranges);
        free(process->range_ends);
        free(process->pushed);
        free(process->given);
        free(process->contexts);
        free(process->streams);
        free(process->findings);
        free(process->range_totals);
    }
    free(timeline->processes);
}
