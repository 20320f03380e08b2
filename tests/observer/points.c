/* SPDX-License-Identifier: Apache-2.0 */
/* An observer that writes down every point. MILLRACE_OBSERVE=points; with points:FILE it writes "finish" and the number
 * of points into FILE when the process ends. "none" and "other" make it refuse, and be of another version. */
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

static void put(const struct point *point)
{
    pthread_mutex_lock(&lock);
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
    fprintf(out, "finish %d %d\n", number, count > 0);
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
    static struct mr_observer table = {MR_OBSERVER_VERSION,
                                       MR_OBSERVE_CALLS | MR_OBSERVE_WORK | MR_OBSERVE_ACCESS,
                                       enter,
                                       leave,
                                       bind,
                                       begin,
                                       end,
                                       access_boxes,
                                       slice,
                                       NULL,
                                       finish};
    the_driver = driver;
    if (strcmp(tools, "none") == 0)
        return NULL;
    if (strcmp(tools, "other") == 0)
        table.version++;
    if (strncmp(tools, "points:", 7) == 0)
        file = tools + 7;
    return &table;
}
