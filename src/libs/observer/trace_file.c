/* SPDX-License-Identifier: Apache-2.0 */
/* Chunks of the file, and records in them. */
#include "libs/observer/trace_file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"

static int file = -1;
static uint64_t limit;
static struct trace_head *head;
static _Atomic uint64_t size, lost;
static _Atomic uint32_t threads;
static _Atomic(struct trace_writer *) writers;
static _Atomic bool told;
static pthread_key_t key;
static bool forked; /* the chunks are the parent's */
static _Thread_local struct trace_writer *here;

/* Of threads that have ended, with what is left of their chunks. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct trace_writer *spare;

static void thread_ends(void *data)
{
    struct trace_writer *writer = data;
    here = NULL;
    __atomic_store_n(&writer->depth, 0, __ATOMIC_RELAXED);
    pthread_mutex_lock(&lock);
    writer->next_spare = spare;
    spare = writer;
    pthread_mutex_unlock(&lock);
}

/* A process may take another program's place, which keeps its number: then the file's name has one more. */
static int make_file(const char *folder)
{
    char path[PATH_MAX];
    for (unsigned again = 0; again < 10000; again++) {
        int length = again ? snprintf(path, sizeof path, "%s/%ld-%u.trace", folder, (long)getpid(), again)
                           : snprintf(path, sizeof path, "%s/%ld.trace", folder, (long)getpid());
        if (length >= (int)sizeof path) {
            errno = ENAMETOOLONG;
            return -1;
        }
        int made = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (made >= 0 || errno != EEXIST)
            return made;
    }
    return -1;
}

static void in_child(void)
{
    forked = true;
}

static bool open_file(const char *folder, uint64_t most)
{
    file = make_file(folder);
    if (file < 0)
        return false;
    int failed = posix_fallocate(file, 0, TRACE_HEAD);
    if (failed) {
        errno = failed;
        return false;
    }
    head = mmap(NULL, TRACE_HEAD, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (head == MAP_FAILED || pthread_key_create(&key, thread_ends) != 0 || pthread_atfork(NULL, NULL, in_child) != 0)
        return false;
    memcpy(head->magic, TRACE_MAGIC, sizeof head->magic);
    head->process = (uint64_t)getpid();
    head->start = mr_clock_ns();
    ssize_t length = readlink("/proc/self/exe", head->program, sizeof head->program - 1);
    head->program[length > 0 ? length : 0] = 0;
    limit = most;
    atomic_store(&size, TRACE_HEAD);
    return true;
}

bool trace_file_open(const char *folder, uint64_t most)
{
    static pthread_mutex_t opening = PTHREAD_MUTEX_INITIALIZER;
    static bool tried, good;
    pthread_mutex_lock(&opening);
    if (!tried)
        good = open_file(folder, most);
    tried = true;
    pthread_mutex_unlock(&opening);
    return good;
}

static void no_room(void)
{
    head->lost = atomic_fetch_add_explicit(&lost, 1, memory_order_relaxed) + 1;
}

static void tell(const char *why)
{
    if (!atomic_exchange(&told, true))
        mr_log(MR_LOG_WARN, "the trace ends here, and the program goes on: %s", why);
}

/* A new chunk at the file's end. Room on the disk is taken first: a page without would end the process. */
static char *new_chunk(void)
{
    uint64_t at = atomic_load_explicit(&size, memory_order_relaxed);
    do {
        if (at + TRACE_CHUNK > limit) {
            tell("its file has the full size ('millrace trace --limit')");
            return NULL;
        }
    } while (!atomic_compare_exchange_weak(&size, &at, at + TRACE_CHUNK));
    int failed = posix_fallocate(file, (off_t)at, TRACE_CHUNK);
    void *chunk = failed ? MAP_FAILED
                         : mmap(NULL, TRACE_CHUNK, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, file, (off_t)at);
    if (chunk != MAP_FAILED)
        return chunk;
    atomic_store(&size, limit); /* no other tries */
    tell(strerror(failed ? failed : errno));
    return NULL;
}

/* Writes who the thread is. */
static void put_thread(struct trace_writer *writer, const char *name)
{
    struct trace_thread *record = (void *)(writer->chunk + writer->used);
    writer->used += sizeof *record;
    record->record.type = TRACE_THREAD;
    record->record.more = writer->number;
    record->thread = writer->thread;
    memcpy(record->name, name, sizeof record->name);
    trace_done(record, sizeof *record);
}

static void put_running(struct trace_writer *writer)
{
    char name[16] = "";
    prctl(PR_GET_NAME, name);
    put_thread(writer, name);
}

static struct trace_writer *old_writer(void)
{
    pthread_mutex_lock(&lock);
    struct trace_writer *writer = spare;
    if (writer)
        spare = writer->next_spare;
    pthread_mutex_unlock(&lock);
    return writer;
}

struct trace_writer *trace_writer_here(void)
{
    if (here && !forked)
        return here;
    if (forked)
        return NULL;
    struct trace_writer *writer = old_writer();
    bool old = writer != NULL;
    if (!old)
        writer = calloc(1, sizeof *writer);
    if (!writer)
        return NULL;
    writer->number = atomic_fetch_add(&threads, 1) + 1;
    writer->thread = (uint64_t)syscall(SYS_gettid);
    if (writer->chunk && writer->used + sizeof(struct trace_thread) <= TRACE_CHUNK) {
        put_running(writer);
    } else if (writer->chunk) {
        munmap(writer->chunk, TRACE_CHUNK);
        writer->chunk = NULL;
    }
    if (!old) {
        writer->next = atomic_load(&writers);
        while (!atomic_compare_exchange_weak(&writers, &writer->next, writer))
            continue;
    }
    here = writer;
    pthread_setspecific(key, writer);
    return writer;
}

static bool next_chunk(struct trace_writer *writer)
{
    if (writer->chunk)
        munmap(writer->chunk, TRACE_CHUNK);
    writer->chunk = new_chunk();
    writer->used = 0;
    if (writer->chunk)
        put_running(writer);
    return writer->chunk != NULL;
}

void *trace_room(struct trace_writer *writer, size_t room, enum trace_type type)
{
    if ((!writer->chunk || writer->used + room > TRACE_CHUNK) && !next_chunk(writer)) {
        no_room();
        return NULL;
    }
    struct trace_record *record = (void *)(writer->chunk + writer->used);
    writer->used += room;
    record->type = (uint16_t)type;
    return record;
}

void trace_done(void *record, size_t bytes)
{
    struct trace_record *head_of = record;
    __atomic_store_n(&head_of->size, (uint16_t)bytes, __ATOMIC_RELEASE);
}

uint64_t trace_text(struct trace_writer *writer, const char *text)
{
    uint64_t number = (uintptr_t)text;
    uint64_t *known = &writer->named[(number * 0x9e3779b97f4a7c15u) >> 54];
    if (*known == number)
        return number;
    size_t length = strnlen(text, TRACE_TEXT), bytes = sizeof(struct trace_name) + ((length + 7) & ~(size_t)7);
    struct trace_name *record = trace_room(writer, bytes, TRACE_NAME);
    if (!record)
        return number;
    record->record.more = (uint32_t)length;
    record->name = number;
    memcpy(record + 1, text, length);
    trace_done(record, bytes);
    *known = number;
    return number;
}

/* The calls of one thread that have not returned, in a chunk that no thread writes into. */
static void put_open(struct trace_writer *writer, const struct trace_writer *of, uint64_t now)
{
    uint32_t depth = __atomic_load_n(&of->depth, __ATOMIC_ACQUIRE);
    if (depth == 0 || writer->used + sizeof(struct trace_thread) > TRACE_CHUNK)
        return;
    writer->number = of->number;
    writer->thread = of->thread;
    put_thread(writer, "\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0");
    for (uint32_t i = 0; i < depth && i < TRACE_DEPTH; i++) {
        if (writer->used + sizeof(struct trace_call) > TRACE_CHUNK)
            return;
        struct trace_call *call = trace_room(writer, sizeof *call, TRACE_OPEN);
        call->name = of->open[i].name;
        call->number = of->open[i].number;
        call->from = of->open[i].from;
        call->to = now;
        trace_done(call, sizeof *call);
    }
}

void trace_file_end(const char *how, uint64_t now)
{
    static struct trace_writer last;
    bool any = false;
    for (struct trace_writer *writer = atomic_load(&writers); writer; writer = writer->next)
        any = any || __atomic_load_n(&writer->depth, __ATOMIC_RELAXED) > 0;
    last.chunk = any ? new_chunk() : NULL;
    for (struct trace_writer *writer = atomic_load(&writers); writer && last.chunk; writer = writer->next)
        put_open(&last, writer, now);
    snprintf(head->how, sizeof head->how, "%s", how);
    head->end = now;
}
