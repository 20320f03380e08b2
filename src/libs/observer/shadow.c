/* SPDX-License-Identifier: Apache-2.0 */
/* From boxes to touches of generations. */
#include "libs/observer/shadow.h"

#include <assert.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

#include "libs/observer/gather.h"
#include "libs/observer/generation.h"
#include "libs/observer/history.h"
#include "libs/observer/shape.h"

/* A part of a box that lies in one generation. */
struct item {
    struct obs_generation *generation;
    struct obs_shape shape;
    uint32_t how, place;
};

struct items {
    struct obs_operation *operation;
    size_t count, room;
    struct item few[8], *all;
};

static _Atomic uint64_t accesses, unknown, unseen;
static atomic_bool short_of_memory;

/* Takes over the reference to the generation. */
static void append(struct items *items, struct obs_generation *generation, struct obs_shape shape,
                   const struct mr_access *box)
{
    if (items->count == items->room) {
        struct item *larger = malloc(items->room * 2 * sizeof *larger);
        if (!larger) {
            short_of_memory = true;
            obs_generation_drop(generation);
            return;
        }
        for (size_t i = 0; i < items->count; i++)
            larger[i] = items->all[i];
        if (items->all != items->few)
            free(items->all);
        items->all = larger;
        items->room *= 2;
    }
    items->all[items->count++] = (struct item){generation, shape, box->how, box->place};
}

/* Looks up one box, which may lie in several generations. */
static void look_up(struct items *items, const struct mr_access *box)
{
    struct obs_shape parts[3];
    bool is_kernel = items->operation->side.what == MR_SIDE_KERNEL || items->operation->side.what == MR_SIDE_GRAPH;
    if (box->width == 0 || box->rows == 0)
        return;
    uintptr_t end = obs_shape_rows(box->first, box->width, box->rows, box->pitch).end;
    bool missed = false;
    for (uintptr_t at = box->first; at < end;) {
        struct obs_found found = obs_generation_find(at, end, items->operation);
        int count = obs_shape_clip(box, at, found.end, parts);
        for (int i = 0; i < count && found.generation; i++) {
            if (i > 0)
                obs_generation_keep(found.generation);
            append(items, found.generation, parts[i], box);
        }
        if (count == 0)
            obs_generation_drop(found.generation);
        missed = missed || (count > 0 && !found.generation);
        at = found.end;
    }
    if (missed && is_kernel)
        atomic_fetch_add_explicit(&unknown, 1, memory_order_relaxed);
}

/* By generation; then what writes, so that reads of the same bytes need no note; then what can be one note. */
static int in_order(const void *one, const void *other)
{
    const struct item *a = one, *b = other;
    if (a->generation != b->generation)
        return (uintptr_t)a->generation < (uintptr_t)b->generation ? -1 : 1;
    if (a->how != b->how) {
        uint32_t writes_a = a->how & MR_ACCESS_WRITE, writes_b = b->how & MR_ACCESS_WRITE;
        return writes_a != writes_b ? writes_a > writes_b ? -1 : 1 : a->how < b->how ? -1 : 1;
    }
    if (a->place != b->place)
        return a->place < b->place ? -1 : 1;
    return a->shape.first < b->shape.first ? -1 : a->shape.first > b->shape.first;
}

static void sort(struct items *items)
{
    bool sorted = true;
    for (size_t i = 1; i < items->count && sorted; i++)
        sorted = in_order(&items->all[i - 1], &items->all[i]) <= 0;
    if (!sorted)
        qsort(items->all, items->count, sizeof *items->all, in_order);
}

/* Notes touches of one generation. An alias is looked up again where its bytes are. */
static void note(struct obs_operation *operation, struct obs_generation *generation, struct obs_touched *touched,
                 size_t count)
{
    struct obs_told told = {.allocation = obs_generation_allocation(generation)};
    assert(count > 0);
    if (!obs_generation_is_alias(generation)) {
        obs_history_touch(obs_generation_history(generation), operation, &told, touched, count);
        return;
    }
    ptrdiff_t shift = obs_generation_shift(generation);
    told.elsewhere = true;
    for (size_t i = 0; i < count; i++) {
        struct obs_touched copy = touched[i];
        if (obs_shape_copy(&touched[i].shape, &copy.shape))
            obs_history_touch(obs_generation_history(generation), operation, &told, &copy, 1);
        else
            short_of_memory = true;
        touched[i].shape.first += (uintptr_t)shift;
        touched[i].shape.end += (uintptr_t)shift;
    }
    told.elsewhere = false;
    told.shift = -shift;
    struct obs_found found = obs_generation_find(touched[0].shape.first, touched[0].shape.end, operation);
    if (found.generation)
        obs_history_touch(obs_generation_history(found.generation), operation, &told, touched, count);
    for (size_t i = 0; i < count && !found.generation; i++)
        obs_shape_free(&touched[i].shape);
    obs_generation_drop(found.generation);
}

/* The items from `first` to `end` - 1 are of one generation. */
static void note_items(struct items *items, size_t first, size_t end, struct obs_touched *touched,
                       struct obs_shape *shapes)
{
    size_t count = 0;
    for (size_t i = first, next; i < end; i = next) {
        const struct item *item = &items->all[i];
        for (next = i; next < end && items->all[next].how == item->how && items->all[next].place == item->place; next++)
            shapes[next - i] = items->all[next].shape;
        size_t left = obs_gather(shapes, next - i);
        for (size_t n = 0; n < left; n++)
            touched[count++] = (struct obs_touched){shapes[n], item->how, item->place};
    }
    note(items->operation, items->all[first].generation, touched, count);
}

static void note_all(struct items *items)
{
    struct obs_touched few_touched[8], *touched = few_touched;
    struct obs_shape few_shapes[8], *shapes = few_shapes;
    if (items->count > 8) {
        touched = malloc(items->count * sizeof *touched);
        shapes = malloc(items->count * sizeof *shapes);
    }
    for (size_t i = 0, next; i < items->count; i = next) {
        for (next = i; next < items->count && items->all[next].generation == items->all[i].generation; next++)
            ;
        if (touched && shapes)
            note_items(items, i, next, touched, shapes);
        else
            short_of_memory = true;
        if (obs_history_full())
            obs_generation_forget_ended();
    }
    if (touched != few_touched) {
        free(touched);
        free(shapes);
    }
}

/* The usual case: one box, in one generation. */
static bool touch_one(struct obs_operation *operation, const struct mr_access *box)
{
    if (box->width == 0 || box->rows == 0)
        return true;
    struct obs_shape shape = obs_shape_rows(box->first, box->width, box->rows, box->pitch);
    struct obs_found found = obs_generation_find(shape.first, shape.end, operation);
    bool whole = found.generation && found.end == shape.end;
    if (whole) {
        struct obs_touched touched = {shape, box->how, box->place};
        note(operation, found.generation, &touched, 1);
    }
    obs_generation_drop(found.generation);
    return whole;
}

void obs_shadow_touch(struct obs_operation *operation, const struct mr_access *boxes, size_t count)
{
    atomic_fetch_add_explicit(&accesses, count, memory_order_relaxed);
    if (count == 1 && touch_one(operation, boxes)) {
        if (obs_history_full())
            obs_generation_forget_ended();
        return;
    }
    if (count == 2) { /* a copy, mostly: what it writes first, as in_order has it */
        int first = !(boxes[0].how & MR_ACCESS_WRITE);
        bool done[2] = {false};
        done[first] = touch_one(operation, &boxes[first]);
        done[!first] = done[first] && touch_one(operation, &boxes[!first]);
        if (done[first] && done[!first]) {
            if (obs_history_full())
                obs_generation_forget_ended();
            return;
        }
        boxes += done[first] ? !first : 0;
        count -= done[first];
    }
    struct items items; /* `few` is large, and needs no value */
    items.operation = operation;
    items.count = 0;
    items.room = 8;
    items.all = items.few;
    for (size_t i = 0; i < count; i++)
        look_up(&items, &boxes[i]);
    sort(&items);
    note_all(&items);
    for (size_t i = 0; i < items.count; i++)
        obs_generation_drop(items.all[i].generation);
    if (items.all != items.few)
        free(items.all);
}

size_t obs_shadow_writers(uintptr_t first, uintptr_t end, uint32_t how, const struct obs_operation *asking,
                          struct obs_operation *out[], size_t most)
{
    struct obs_found found = obs_generation_find(first, end, asking);
    size_t count = 0;
    if (found.generation && obs_generation_is_alias(found.generation)) {
        uintptr_t shift = (uintptr_t)obs_generation_shift(found.generation);
        first += shift;
        end += shift;
        obs_generation_drop(found.generation);
        found = obs_generation_find(first, end, asking);
    }
    if (found.generation)
        count = obs_history_writers(obs_generation_history(found.generation), first, end, out, how, most);
    obs_generation_drop(found.generation);
    return count;
}

void obs_shadow_unseen(void)
{
    atomic_fetch_add_explicit(&unseen, 1, memory_order_relaxed);
}

void obs_shadow_summary(struct mr_race_summary *out)
{
    struct obs_history_counts counts = obs_history_counts();
    out->accesses += accesses;
    out->allocations += obs_generation_count();
    out->coarse += counts.coarse;
    out->forgotten += counts.forgotten;
    out->unknown += unknown;
    out->unseen += unseen;
    out->bytes += obs_history_bytes();
    out->short_of_memory = out->short_of_memory || short_of_memory || counts.short_of_memory;
}
