/* SPDX-License-Identifier: Apache-2.0 */
/* The observer that the driver loads: it reads which tools are wanted, opens them, and calls them.
 *
 * What tools find is written when the process ends, and before that once as soon as they are open, and again when a
 * call returns and they have found more: a process may end without a word, by _exit, by exec or killed. Behind the
 * first findings, writing gets rarer as it gets longer, so that it takes at most a twentieth of the time. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/log.h"
#include "base/settings.h"
#include "libs/observer/folder.h"
#include "libs/observer/threads.h"
#include "libs/observer/tool.h"
#include "observe/calls.h"

enum { MOST = 8, DEPTH = 8, REST = 20, FIRST = 16 };

/* Nanoseconds without progress that the end of the process waits for works: a host function that is running may be the
 * one that ends the process, and would never end. */
#define PATIENCE 5000000000u
#define PATIENCE_WITH_HOST 1000000000u

/* What each tool keeps for one call. */
struct call_data {
    void *of[MOST];
    bool spare; /* not one of the thread's own */
};

static const struct obs_tool *on[MOST];
static uint32_t used;
static char options[512]; /* MILLRACE_OBSERVE, cut into words */
static const char *folder;
static _Atomic bool writing, forked;
static _Atomic uint64_t written_found, written_at, write_took;
static _Atomic uint64_t bound, ended; /* works */
static _Atomic uint64_t in_host;      /* host functions that run */
static struct mr_observer table;

/* Calls nest: a call may run a host function, which may call. */
static _Thread_local struct call_data calls[DEPTH];
static _Thread_local unsigned depth;

static uint64_t now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

static uint64_t found_in_all(void)
{
    uint64_t found = 0;
    for (uint32_t i = 0; i < used; i++)
        found += on[i]->found ? on[i]->found() : 0;
    return found;
}

/* Leaves a file that says that this process has not left all it should have: for the command, which can't see the
 * log. */
static void leave_mark(void)
{
    char path[PATH_MAX];
    if (snprintf(path, sizeof path, "%s/%ld.failed", folder, (long)getpid()) < (int)sizeof path) {
        int file = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
        if (file >= 0)
            close(file);
    }
}

/* Writes what all tools have. False if one could not; it has been told. */
static bool write_all(const char *end)
{
    uint64_t found = found_in_all(), start = now();
    bool good = true;
    for (uint32_t i = 0; i < used; i++)
        if (on[i]->write && !on[i]->write(folder, end)) {
            mr_log(MR_LOG_ERROR, "what the tool %s has found could not be written to the folder %s: %s", on[i]->name,
                   folder, strerror(errno));
            good = false;
        }
    if (!good)
        leave_mark();
    atomic_store(&written_found, found);
    atomic_store(&written_at, now());
    atomic_store(&write_took, now() - start);
    return good;
}

/* cuProfilerStop, which has nothing else to do, writes at once: for programs that look at their own results. */
static void write_if_more(bool at_once)
{
    uint64_t found = found_in_all();
    if (found == atomic_load_explicit(&written_found, memory_order_relaxed) ||
        (!at_once && found > FIRST && now() - atomic_load(&written_at) < REST * atomic_load(&write_took)))
        return;
    while (atomic_exchange(&writing, true)) {
        if (!at_once)
            return;
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    }
    write_all("");
    atomic_store(&writing, false);
}

static void enter(struct mr_observed_call *call)
{
    if (forked)
        return;
    obs_thread_calls();
    struct call_data *data = depth < DEPTH ? &calls[depth] : calloc(1, sizeof *data);
    if (!data) {
        obs_thread_leaves();
        return;
    }
    if (depth < DEPTH)
        *data = (struct call_data){0};
    else
        data->spare = true;
    depth++;
    for (uint32_t i = 0; i < used; i++)
        if (on[i]->enter) {
            call->data = NULL;
            on[i]->enter(call);
            data->of[i] = call->data;
        }
    call->data = data;
}

static void leave(struct mr_observed_call *call, CUresult status)
{
    struct call_data *data = call->data;
    if (forked || !data)
        return;
    for (uint32_t i = 0; i < used; i++)
        if (on[i]->leave) {
            call->data = data->of[i];
            on[i]->leave(call, status);
        }
    depth--;
    obs_thread_leaves();
    if (data->spare)
        free(data);
    write_if_more(call->call == MR_CALL_cuProfilerStop);
}

static void bind(const struct mr_observed_work *work)
{
    atomic_fetch_add_explicit(&bound, 1, memory_order_relaxed);
    for (uint32_t i = 0; i < used && !forked; i++)
        if (on[i]->bind)
            on[i]->bind(work);
}

static void begin(const struct mr_observed_work *work)
{
    if (work->kind == MR_OBSERVED_HOST)
        atomic_fetch_add_explicit(&in_host, 1, memory_order_relaxed);
    for (uint32_t i = 0; i < used; i++)
        if (on[i]->begin)
            on[i]->begin(work);
}

static void end(const struct mr_observed_work *work, CUresult status)
{
    for (uint32_t i = 0; i < used; i++)
        if (on[i]->end)
            on[i]->end(work, status);
    if (work->kind == MR_OBSERVED_HOST)
        atomic_fetch_sub_explicit(&in_host, 1, memory_order_relaxed);
    if (work->node == 0)
        atomic_fetch_add_explicit(&ended, 1, memory_order_relaxed);
}

static void access_boxes(const struct mr_observed_work *work, const struct mr_access *boxes, size_t count)
{
    size_t first = 0; /* so many boxes are for those that want them alone */
    while (first < count && boxes[first].how & MR_ACCESS_FIRST)
        first++;
    for (uint32_t i = 0; i < used; i++) {
        size_t without = on[i]->points & MR_OBSERVE_FIRST ? 0 : first;
        if (on[i]->access && without < count)
            on[i]->access(work, boxes + without, count - without);
    }
}

static void heap(const struct mr_observed_work *work, const struct mr_observed_heap *changes, size_t count)
{
    for (uint32_t i = 0; i < used; i++)
        if (on[i]->heap)
            on[i]->heap(work, changes, count);
}

static void slice(const struct mr_observed_work *work, unsigned worker, uint64_t from, uint64_t to)
{
    for (uint32_t i = 0; i < used; i++)
        if (on[i]->slice)
            on[i]->slice(work, worker, from, to);
}

static void ran(const struct mr_observed_work *work, uint64_t from, uint64_t to, CUresult status)
{
    for (uint32_t i = 0; i < used; i++)
        if (on[i]->ran)
            on[i]->ran(work, from, to, status);
}

static bool may_begin(const struct mr_observed_work *work)
{
    bool may = true;
    for (uint32_t i = 0; i < used && may; i++)
        may = !on[i]->may_begin || on[i]->may_begin(work);
    return may;
}

static void rest_of_all(void)
{
    for (uint32_t i = 0; i < used; i++)
        if (on[i]->rest)
            on[i]->rest();
}

static void waits(bool begins, uint64_t stream)
{
    for (uint32_t i = 0; i < used && !forked; i++)
        if (on[i]->waits)
            on[i]->waits(begins, stream);
}

/* A program may end while its last works run, and what these touch is told when they end. Waits until all have ended,
 * or none has for a while. */
static void let_works_end(void)
{
    uint64_t before = 0, since = now();
    for (;;) {
        uint64_t done = atomic_load(&ended);
        if (done >= atomic_load(&bound))
            return;
        if (done != before)
            since = now();
        before = done;
        if (now() - since > (atomic_load(&in_host) ? PATIENCE_WITH_HOST : PATIENCE)) {
            mr_log(MR_LOG_WARN,
                   "the program ends while work runs that does not end; what it touches was not looked at");
            return;
        }
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    }
}

/* Another thread may be writing. If it is one that this signal has stopped, it never ends; what it wrote before is
 * there, whole. */
static void finish(int signal)
{
    char how[32] = "exit";
    if (forked)
        return;
    for (uint32_t i = 0; i < used && signal == 0; i++)
        if (on[i]->ends)
            on[i]->ends();
    if (signal == 0)
        let_works_end();
    for (int wait = 0; atomic_exchange(&writing, true); wait++) {
        if (wait == 1000)
            return;
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    }
    if (signal)
        snprintf(how, sizeof how, "signal %d", signal);
    write_all(how);
    /* `writing` stays: nothing is written after the end. */
}

static void in_child(void)
{
    forked = true;
}

/* One word of MILLRACE_OBSERVE: "NAME" or "NAME:OPTIONS". */
static bool open_tool(const struct mr_observed_driver *driver, char *word)
{
    char *colon = strchr(word, ':');
    const char *text = colon ? colon + 1 : "";
    if (colon)
        *colon = 0;
    const struct obs_tool *const *tool = obs_tools;
    while (*tool && strcmp((*tool)->name, word) != 0)
        tool++;
    if (!*tool) {
        char names[256] = "none";
        for (size_t i = 0, length = 0; obs_tools[i] && length < sizeof names; i++)
            length +=
                (size_t)snprintf(names + length, sizeof names - length, "%s%s", i ? ", " : "", obs_tools[i]->name);
        if (mr_setting_is_good(MR_SETTING_OBSERVE) || !mr_log_enabled(MR_LOG_WARN)) /* else it has been said */
            mr_log(MR_LOG_ERROR,
                   "MILLRACE_OBSERVE names the tool '%s', which this version does not have (it has %s); nothing is "
                   "observed",
                   word, names);
        return false;
    }
    for (uint32_t i = 0; i < used; i++)
        if (on[i] == *tool) {
            mr_log(MR_LOG_ERROR, "MILLRACE_OBSERVE names the tool '%s' twice; nothing is observed", word);
            return false;
        }
    if (used == MOST || ((*tool)->open && !(*tool)->open(driver, text)))
        return false;
    on[used++] = *tool;
    table.points |= (*tool)->points;
    return true;
}

static bool open_tools(const struct mr_observed_driver *driver, const char *tools)
{
    char *rest;
    if (driver->version != MR_OBSERVER_VERSION) {
        mr_log(MR_LOG_ERROR, "libmillrace-observer.so is of another version than the driver; nothing is observed");
        return false;
    }
    if (snprintf(options, sizeof options, "%s", tools) >= (int)sizeof options) {
        mr_log(MR_LOG_ERROR, "MILLRACE_OBSERVE is too long; nothing is observed");
        return false;
    }
    for (char *word = strtok_r(options, ",", &rest); word; word = strtok_r(NULL, ",", &rest))
        if (!open_tool(driver, word))
            return false;
    if (used == 0) {
        mr_log(MR_LOG_ERROR, "MILLRACE_OBSERVE names no tool; nothing is observed");
        return false;
    }
    if (pthread_atfork(NULL, NULL, in_child) != 0) {
        mr_log(MR_LOG_ERROR, "memory is short: nothing is observed");
        return false;
    }
    return write_all("");
}

__attribute__((visibility("default"))) mr_observer_open millrace_observer;

const struct mr_observer *millrace_observer(const struct mr_observed_driver *driver, const char *tools)
{
    folder = obs_folder();
    if (!folder)
        return NULL;
    if (!open_tools(driver, tools)) {
        leave_mark();
        return NULL;
    }
    table = (struct mr_observer){.version = MR_OBSERVER_VERSION,
                                 .points = table.points,
                                 .enter = enter,
                                 .leave = leave,
                                 .bind = bind,
                                 .begin = begin,
                                 .end = end,
                                 .access = access_boxes,
                                 .heap = heap,
                                 .slice = slice,
                                 .ran = ran,
                                 .may_begin = may_begin,
                                 .rest = rest_of_all,
                                 .waits = waits,
                                 .finish = finish};
    return &table;
}
