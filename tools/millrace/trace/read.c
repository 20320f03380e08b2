/* SPDX-License-Identifier: Apache-2.0 */
/* Reading the files of processes: their records, one by one (together.c puts them together). */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "reading.h"

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
    entry->text = reading_own(reading->process, strndup((const char *)(record + 1), record->record.more));
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

/* One record; false: it is no record, or memory is short. */
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
    bool good = !reading.short_of_memory && reading_put_together(&reading);
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
    const struct timeline_process *x = a, *y = b;
    return x->start < y->start ? -1 : x->start > y->start;
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
