/* SPDX-License-Identifier: Apache-2.0 */
/* The deepest chain of calls from each function: frames.h tells what counts.
 *
 * Functions are taken in an order in which all that one calls comes before it. A function that no such order has is in
 * a ring of calls, or calls into one. The latter are found from the other end: those that nobody calls, then those that
 * only these call, and so on. What is left is rings, and what lies between two of them. */
#include "compile/frames.h"

#include "base/alloc.h"

#define FRAME_LIMIT (UINT64_C(1) << 60) /* sums stay where they can't wrap around */

struct frames {
    const struct mr_reach *reach;
    uint32_t *order, ordered;  /* functions, callees first */
    uint32_t *calls, *callers; /* of each, those that have not been put in order yet */
    uint32_t *first, *from;    /* from[first[f]] to from[first[f + 1] - 1] call f */
    bool *placed;
};

static uint64_t align_up(uint64_t value, uint64_t alignment)
{
    return alignment ? (value + alignment - 1) / alignment * alignment : value;
}

static uint64_t frame_of(const struct mr_ptx_function *func)
{
    uint64_t frame = 0;
    for (uint32_t i = 0; i < func->var_count; i++)
        if (func->vars[i]->space == MR_PTX_SPACE_LOCAL && frame < FRAME_LIMIT)
            frame = align_up(frame, func->vars[i]->align) +
                    (func->vars[i]->size < FRAME_LIMIT ? func->vars[i]->size : FRAME_LIMIT);
    return frame;
}

/* Counts calls both ways, and lists the callers of each. */
static void list_callers(struct frames *frames)
{
    const struct mr_reach *reach = frames->reach;
    uint32_t count = reach->module->function_count;
    for (uint32_t f = 0; f < count; f++)
        for (size_t i = reach->bodies[f].functions; i < reach->bodies[f].taken; i++) {
            frames->calls[f]++;
            frames->callers[reach->items[i]]++;
        }
    for (uint32_t f = 0; f < count; f++)
        frames->first[f + 1] = frames->first[f] + frames->callers[f];
    for (uint32_t f = count; f-- > 0;)
        for (size_t i = reach->bodies[f].taken; i-- > reach->bodies[f].functions;)
            frames->from[frames->first[reach->items[i]] + --frames->callers[reach->items[i]]] = f;
    for (uint32_t f = 0; f < count; f++)
        frames->callers[f] = frames->first[f + 1] - frames->first[f];
}

static void place(struct frames *frames, uint32_t f)
{
    frames->placed[f] = true;
    frames->order[frames->ordered++] = f;
}

/* What calls nothing, and what calls only that. */
static void place_leaves(struct frames *frames)
{
    uint32_t count = frames->reach->module->function_count;
    for (uint32_t f = 0; f < count; f++)
        if (frames->calls[f] == 0)
            place(frames, f);
    for (uint32_t next = 0; next < frames->ordered; next++)
        for (uint32_t i = frames->first[frames->order[next]]; i < frames->first[frames->order[next] + 1]; i++)
            if (--frames->calls[frames->from[i]] == 0)
                place(frames, frames->from[i]);
}

/* What nobody calls, and what only that calls, behind the leaves and the other way around. */
static void place_roots(struct frames *frames)
{
    const struct mr_reach *reach = frames->reach;
    uint32_t count = reach->module->function_count, begin = frames->ordered;
    for (uint32_t f = 0; f < count; f++)
        if (!frames->placed[f] && frames->callers[f] == 0)
            place(frames, f);
    for (uint32_t next = begin; next < frames->ordered; next++) {
        const struct mr_reach_body *body = &reach->bodies[frames->order[next]];
        for (size_t i = body->functions; i < body->taken; i++)
            if (!frames->placed[reach->items[i]] && --frames->callers[reach->items[i]] == 0)
                place(frames, reach->items[i]);
    }
    for (uint32_t low = begin, high = frames->ordered; low + 1 < high; low++) {
        uint32_t other = frames->order[--high];
        frames->order[high] = frames->order[low];
        frames->order[low] = other;
    }
}

/* Adds up along the calls. `pointed`: what a call through a pointer takes. */
static void add_up(const struct frames *frames, uint64_t pointed, uint64_t *deepest)
{
    const struct mr_reach *reach = frames->reach;
    for (uint32_t next = 0; next < frames->ordered; next++) {
        uint32_t f = frames->order[next];
        const struct mr_reach_body *body = &reach->bodies[f];
        uint64_t below = body->calls_indirectly ? pointed : 0, frame = frame_of(reach->module->functions[f]);
        for (size_t i = body->functions; i < body->taken; i++)
            if (deepest[reach->items[i]] > below)
                below = deepest[reach->items[i]];
        deepest[f] = frame + below < FRAME_LIMIT ? frame + below : FRAME_LIMIT;
    }
}

bool mr_frames_find(const struct mr_reach *reach, uint64_t *deepest)
{
    uint32_t count = reach->module->function_count;
    struct frames frames = {.reach = reach};
    frames.order = mr_calloc(count + 1, sizeof *frames.order);
    frames.calls = mr_calloc(count + 1, sizeof *frames.calls);
    frames.callers = mr_calloc(count + 1, sizeof *frames.callers);
    frames.first = mr_calloc(count + 2, sizeof *frames.first);
    frames.from = mr_calloc(reach->item_count + 1, sizeof *frames.from);
    frames.placed = mr_calloc(count + 1, sizeof *frames.placed);
    bool good = frames.order && frames.calls && frames.callers && frames.first && frames.from && frames.placed;
    if (good) {
        list_callers(&frames);
        place_leaves(&frames);
        place_roots(&frames);
        for (uint32_t f = 0; f < count; f++)
            deepest[f] = 0;
        add_up(&frames, 0, deepest);
        uint64_t pointed = 0;
        for (uint32_t t = 0; t < reach->target_count; t++)
            if (deepest[reach->targets[t]] > pointed)
                pointed = deepest[reach->targets[t]];
        if (pointed > 0)
            add_up(&frames, pointed, deepest);
    }
    mr_free(frames.order);
    mr_free(frames.calls);
    mr_free(frames.callers);
    mr_free(frames.first);
    mr_free(frames.from);
    mr_free(frames.placed);
    return good;
}
