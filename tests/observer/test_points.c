/* SPDX-License-Identifier: Apache-2.0 */
/* What an observer is told, against what the program does: each kind of work, in quiet and in busy streams.
 *
 * The observer is points.c, which this program finds loaded and asks for its points. Each test begins with `mark`,
 * which waits for all work, and looks at the points that came since. */
#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "points.h"
#include "points_test.h"

static points_count_function *points_count;
static points_get_function *points_get;
static points_driver_function *points_driver;
static struct point *seen;
static size_t seen_count;
static uint64_t seen_from;
static unsigned failures;

void fail_at(const char *file, int line, const char *what)
{
    fprintf(stderr, "%s:%d: %s\n", file, line, what);
    failures++;
}

void mark(void)
{
    OK(cuCtxSynchronize());
    seen_from = points_count();
}

void look(void)
{
    OK(cuCtxSynchronize());
    uint64_t end = points_count();
    free(seen);
    seen = calloc(end - seen_from + 1, sizeof *seen);
    seen_count = points_get(seen_from, seen, end - seen_from);
}

const struct point *next_point(const struct point *after, enum point_kind kind)
{
    for (size_t i = after ? (size_t)(after - seen) + 1 : 0; i < seen_count; i++)
        if (seen[i].kind == kind)
            return &seen[i];
    return NULL;
}

const struct point *next_call(const struct point *after, enum point_kind kind, uint32_t call)
{
    do
        after = next_point(after, kind);
    while (after && after->call.call != call);
    return after;
}

const struct point *next_of(const struct point *after, enum point_kind kind, uint64_t work, uint64_t node)
{
    do
        after = next_point(after, kind);
    while (after && (after->work.work != work || after->work.node != node));
    return after;
}

unsigned count_of(enum point_kind kind, uint64_t work, uint64_t node)
{
    unsigned count = 0;
    for (const struct point *at = next_of(NULL, kind, work, node); at; at = next_of(at, kind, work, node))
        count++;
    return count;
}

bool has_box(uint64_t work, uint64_t node, struct mr_access box)
{
    for (const struct point *at = next_of(NULL, POINT_ACCESS, work, node); at;
         at = next_of(at, POINT_ACCESS, work, node))
        if (at->box.first == box.first && at->box.width == box.width && at->box.rows == box.rows &&
            (box.rows == 1 || at->box.pitch == box.pitch) && at->box.how == box.how)
            return true;
    return false;
}

static bool same_work(const struct mr_observed_work *a, const struct mr_observed_work *b)
{
    return a->work == b->work && a->node == b->node && a->grid == b->grid && a->kind == b->kind &&
           a->stream == b->stream && a->context == b->context && a->kernel == b->kernel && a->bytes == b->bytes &&
           memcmp(a->blocks, b->blocks, sizeof a->blocks) == 0 &&
           memcmp(a->threads, b->threads, sizeof a->threads) == 0;
}

/* Every work that was bound began once after that and ended once after that, with its boxes in between, and nothing
 * else began. */
void check_works(void)
{
    for (size_t i = 0; i < seen_count; i++) {
        const struct point *at = &seen[i];
        uint64_t work = at->work.work, node = at->work.node;
        if (at->kind == POINT_BIND) {
            const struct point *begin = next_of(NULL, POINT_BEGIN, work, 0), *end = next_of(NULL, POINT_END, work, 0);
            CHECK(begin > at && end > begin);
            CHECK(count_of(POINT_BIND, work, 0) == 1 && count_of(POINT_BEGIN, work, 0) == 1 &&
                  count_of(POINT_END, work, 0) == 1);
            CHECK(begin && same_work(&begin->work, &at->work));
        } else if (at->kind == POINT_BEGIN) {
            CHECK(next_of(NULL, POINT_BIND, work, 0) && next_of(NULL, POINT_BIND, work, 0) < at);
            CHECK(next_of(at, POINT_END, work, node) != NULL);
        } else if (at->kind == POINT_ACCESS || at->kind == POINT_SLICE) {
            CHECK(next_of(NULL, POINT_BEGIN, work, node) < at && next_of(at, POINT_END, work, node) > at);
        }
        if (at->kind == POINT_SLICE)
            CHECK(at->from <= at->to);
    }
}

const struct point *bound_by(uint32_t call)
{
    const struct point *enter = next_call(NULL, POINT_ENTER, call);
    const struct point *bind = next_point(enter, POINT_BIND), *leave = next_call(enter, POINT_LEAVE, call);
    if (enter && bind && leave && bind < leave && bind->thread == enter->thread)
        return bind;
    fprintf(stderr, "call %u has bound nothing\n", call);
    failures++;
    static const struct point none;
    return &none;
}

const struct mr_observed_driver *observed_driver(void)
{
    return points_driver();
}

static void find_observer(void)
{
    void *library = dlopen(getenv("MILLRACE_OBSERVER"), RTLD_NOW | RTLD_NOLOAD);
    if (!library) {
        fprintf(stderr, "the observer is not loaded\n");
        exit(1);
    }
    points_count = (points_count_function *)dlsym(library, "points_count");
    points_get = (points_get_function *)dlsym(library, "points_get");
    points_driver = (points_driver_function *)dlsym(library, "points_driver");
}

int main(int count, char **names)
{
    CUdevice device;
    CUcontext context;
    OK(cuInit(0));
    find_observer();
    OK(cuDeviceGet(&device, 0));
    OK(cuCtxCreate(&context, NULL, 0, device));
    static const struct {
        const char *name;
        void (*run)(void);
    } tests[] = {{"calls", test_calls},
                 {"copies", test_copies},
                 {"staged", test_staged},
                 {"arrays", test_arrays},
                 {"kernels", test_kernels},
                 {"texels", test_texels},
                 {"graph kernels", test_graph_kernels},
                 {"busy", test_busy},
                 {"memory_ops", test_memory_ops},
                 {"graphs", test_graphs},
                 {"graph_steps", test_graph_steps},
                 {"threads", test_threads},
                 {"failure", test_failure}};
    for (size_t i = 0; i < sizeof tests / sizeof *tests; i++) {
        if (count > 1 && strcmp(names[1], tests[i].name) != 0)
            continue;
        unsigned before = failures;
        tests[i].run();
        if (failures != before)
            fprintf(stderr, "%s failed\n", tests[i].name);
    }
    free(seen);
    return failures != 0;
}
