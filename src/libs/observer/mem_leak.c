/* SPDX-License-Identifier: Apache-2.0 */
/* Walks over the generations that are alive (mem_leak.h). */
#include "libs/observer/mem_leak.h"

#include <stdbool.h>
#include <stdlib.h>

#include "libs/observer/found.h"
#include "libs/observer/generation.h"

/* Above this, addresses are made up (generation.h). */
#define REAL ((uintptr_t)1 << 57)

struct list {
    const struct mr_observed_driver *driver;
    size_t count, room;
    struct obs_generation_view *views;
};

static void append(struct list *list, const struct obs_generation_view *view)
{
    if (list->count == list->room) {
        size_t room = list->room ? 2 * list->room : 64;
        struct obs_generation_view *more = realloc(list->views, room * sizeof *more);
        if (!more)
            return; /* it is not told of */
        list->views = more;
        list->room = room;
    }
    list->views[list->count++] = *view;
}

static bool is_gone(const struct obs_generation_view *view, void *data)
{
    struct list *list = data;
    if (view->base < REAL && list->driver->memory(view->base) != MR_OBSERVED_ALLOCATED)
        append(list, view);
    return true;
}

void obs_mem_context_ended(const struct mr_observed_driver *driver)
{
    struct list list = {.driver = driver};
    obs_generation_each(true, is_gone, &list);
    for (size_t i = 0; i < list.count; i++)
        obs_generation_over(list.views[i].base);
    free(list.views);
}

static bool is_leak(const struct obs_generation_view *view, void *data)
{
    struct list *list = data;
    switch (view->kind) {
    case MR_ALLOCATION_DEVICE:
    case MR_ALLOCATION_POOL:
    case MR_ALLOCATION_PINNED:
    case MR_ALLOCATION_MANAGED:
    case MR_ALLOCATION_GRAPH:
        if (list->driver->memory(view->base) == MR_OBSERVED_ALLOCATED)
            append(list, view);
        return true;
    case MR_ALLOCATION_MAPPED: /* the memory itself; its mappings are no memory of their own */
        if (view->base >= REAL)
            append(list, view);
        return true;
    default:
        return true;
    }
}

static int by_site(const void *one, const void *other)
{
    const struct obs_generation_view *a = one, *b = other;
    if (a->made.site != b->made.site)
        return a->made.site < b->made.site ? -1 : 1;
    return a->number < b->number ? -1 : a->number > b->number;
}

void obs_mem_find_leaks(const struct mr_observed_driver *driver)
{
    struct list list = {.driver = driver};
    obs_generation_each(true, is_leak, &list);
    if (list.count)
        qsort(list.views, list.count, sizeof *list.views, by_site);
    for (size_t i = 0, next; i < list.count; i = next) {
        struct mr_finding finding = {.kind = MR_FINDING_LEAK, .later = list.views[i].made};
        finding.later.what = MR_SIDE_ALLOCATION;
        for (next = i; next < list.count && list.views[next].made.site == list.views[i].made.site; next++)
            finding.touched += list.views[next].size;
        finding.further = next - i - 1;
        obs_finding_note(&finding);
    }
    free(list.views);
}
