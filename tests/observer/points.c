/* SPDX-License-Identifier: Apache-2.0 */
/* An observer that writes down every point (MILLRACE_OBSERVE=points), or looks whether the order of points is right
 * (rules). With points:FILE or rules:FILE it writes a line into FILE when the process ends: "finish", the signal,
 * whether there were points, and how many broke a rule. "none" and "other" make it refuse, and be of another version.
 */
#include "points.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define EXPORT __attribute__((visibility("default")))

EXPORT points_count_function points_count;
EXPORT points_get_function points_get;
EXPORT points_driver_function points_driver;
EXPORT mr_observer_open millrace_observer;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct point *points;
static uint64_t count, room;
static const struct mr_observed_driver *the_driver;
static const char *file;

/* Sizes are not known here, so a fixed number of words is read: all structs lie on the stack of a call. */
__attribute__((no_sanitize("address", "thread"))) static void keep_params(uint64_t *out, const void *params)
{
    const volatile uint64_t *from = params;
    for (int i = 0; params && i < POINT_PARAMS; i++)
        out[i] = from[i];
}

/* ---- rules ---- */

enum stage { NEW, BOUND, BEGUN, ENDED };

/* How far a work or step has come; an open hash table. */
struct progress {
    uint64_t work, node;               /* work 0: free */
    enum stage stage;
    unsigned open;                     /* of a run: steps that have begun and not ended */
};

static bool only_rules;
static uint64_t broken;
static struct progress *table;
static uint64_t table_room, table_used;

static struct progress *find(struct progress *in, uint64_t size, uint64_t work, uint64_t node)
{
    uint64_t at = (work * 0x9e3779b97f4a7c15u ^ node * 0xc2b2ae3d27d4eb4fu) % size;
    while (in[at].work && (in[at].work != work || in[at].node != node))
        at = (at + 1) % size;
    return &in[at];
}

/* Room for two more, so that what is found stays where it is. */
static void make_room(void)
{
    if ((table_used + 2) * 2 < table_room)
        return;
    uint64_t size = table_room ? table_room * 2 : 4096;
    struct progress *larger = calloc(size, sizeof *larger);
    if (!larger)
        abort();
    for (uint64_t i = 0; i < table_room; i++)
        if (table[i].work)
            *find(larger, size, table[i].work, table[i].node) = table[i];
    free(table);
    table = larger;
    table_room = size;
}

static struct progress *progress_of(uint64_t work, uint64_t node)
{
    struct progress *found = find(table, table_room, work, node);
    if (!found->work) {
        *found = (struct progress){.work = work, .node = node};
        table_used++;
    }
    return found;
}

/* A work is bound, begins and ends, once each; a step begins and ends inside its run, again and again; boxes and parts
 * come in between. */
static bool is_right(const struct point *point)
{
    const struct mr_observed_work *work = &point->work;
    if (point->kind == POINT_ENTER || point->kind == POINT_LEAVE)
        return true;
    make_room();
    bool step = work->node != 0;
    struct progress *run = step ? progress_of(work->work, 0) : NULL;
    if (run && run->stage != BEGUN)
        return false;
    struct progress *own = progress_of(work->work, work->node);
    enum stage before = own->stage;
    switch (point->kind) {
    case POINT_BIND:
        own->stage = BOUND;
        return before == NEW && !step;
    case POINT_BEGIN:
        own->stage = BEGUN;
        if (step)
            run->open++;
        return step ? before != BEGUN : before == BOUND;
    case POINT_END:
        own->stage = ENDED;
        if (step)
            run->open--;
        return before == BEGUN && own->open == 0;
    default:
        return before == BEGUN;
    }
}

static void put(const struct point *point)
{
    pthread_mutex_lock(&lock);
    if (!is_right(point)) {
        static const char *const names[] = {"enter", "leave", "bind", "begin", "end", "access", "slice"};
        fprintf(stderr, "%s breaks a rule: work %llu node %#llx kind %d, thread %ld\n", names[point->kind],
                (unsigned long long)point->work.work, (unsigned long long)point->work.node, (int)point->work.kind,
                syscall(SYS_gettid));
        broken++;
    }
    if (only_rules) {
        count++;
        pthread_mutex_unlock(&lock);
        return;
    }
    if (count == room) {
        room = room ? room * 2 : 1024;
        points = realloc(points, room * sizeof *points);
        if (!points)
            abort();
    }
    points[count] = *point;
    points[count].thread = (uint64_t)syscall(SYS_gettid);
    count++;
    pthread_mutex_unlock(&lock);
}

static void enter(struct mr_observed_call *call)
{
    call->data = (void *)(uintptr_t)call->number;
    struct point point = {.kind = POINT_ENTER, .call = *call};
    keep_params(point.params, call->params);
    put(&point);
}

static void leave(struct mr_observed_call *call, CUresult status)
{
    struct point point = {.kind = POINT_LEAVE, .call = *call, .status = status};
    keep_params(point.params, call->params);
    put(&point);
}

static void bind(const struct mr_observed_work *work)
{
    put(&(struct point){.kind = POINT_BIND, .work = *work});
}

static void begin(const struct mr_observed_work *work)
{
    put(&(struct point){.kind = POINT_BEGIN, .work = *work});
}

static void end(const struct mr_observed_work *work, CUresult status)
{
    put(&(struct point){.kind = POINT_END, .work = *work, .status = status});
}

static void access_boxes(const struct mr_observed_work *work, const struct mr_access *boxes, size_t number)
{
    for (size_t i = 0; i < number; i++)
        put(&(struct point){.kind = POINT_ACCESS, .work = *work, .box = boxes[i]});
}

static void slice(const struct mr_observed_work *work, unsigned worker, uint64_t from, uint64_t to)
{
    put(&(struct point){.kind = POINT_SLICE, .work = *work, .worker = worker, .from = from, .to = to});
}

static void finish(int number)
{
    FILE *out = file ? fopen(file, "a") : NULL;
    if (!out)
        return;
    fprintf(out, "finish %d %d %llu\n", number, count > 0, (unsigned long long)broken);
    fclose(out);
}

uint64_t points_count(void)
{
    pthread_mutex_lock(&lock);
    uint64_t now = count;
    pthread_mutex_unlock(&lock);
    return now;
}

uint64_t points_get(uint64_t first, struct point *out, uint64_t most)
{
    pthread_mutex_lock(&lock);
    uint64_t number = count - first < most ? count - first : most;
    memcpy(out, points + first, number * sizeof *out);
    pthread_mutex_unlock(&lock);
    return number;
}

const struct mr_observed_driver *points_driver(void)
{
    return the_driver;
}

const struct mr_observer *millrace_observer(const struct mr_observed_driver *driver, const char *tools)
{
    static struct mr_observer own_table = {MR_OBSERVER_VERSION,
                                           MR_OBSERVE_CALLS | MR_OBSERVE_WORK | MR_OBSERVE_ACCESS | MR_OBSERVE_SLICES,
                                           enter,
                                           leave,
                                           bind,
                                           begin,
                                           end,
                                           access_boxes,
                                           NULL,
                                           slice,
                                           NULL,
                                           NULL,
                                           NULL,
                                           NULL,
                                           finish};
    the_driver = driver;
    if (strcmp(tools, "none") == 0) {
        fputs("points: refused\n", stderr);
        return NULL;
    }
    if (strcmp(tools, "other") == 0)
        own_table.version++;
    only_rules = strncmp(tools, "rules", 5) == 0;
    file = strchr(tools, ':') ? strchr(tools, ':') + 1 : NULL;
    return &own_table;
}
