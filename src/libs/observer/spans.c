/* SPDX-License-Identifier: Apache-2.0 */
/* The treap. Functions call themselves once for each level, of which there are some 2 log n. */
#include "libs/observer/spans.h"

#include <stdbool.h>

static void measure(struct obs_span *span)
{
    span->reach = span->end;
    if (span->low && span->low->reach > span->reach)
        span->reach = span->low->reach;
    if (span->high && span->high->reach > span->reach)
        span->reach = span->high->reach;
}

/* The order in the tree: spans that begin at the same address are told apart by where they lie. */
static bool stands_before(const struct obs_span *one, const struct obs_span *other)
{
    return one->first != other->first ? one->first < other->first : (uintptr_t)one < (uintptr_t)other;
}

/* Parts a tree into the spans before `at` and the others. */
static void part(struct obs_span *root, const struct obs_span *at, struct obs_span **low, struct obs_span **high)
{
    if (!root) {
        *low = *high = NULL;
        return;
    }
    if (stands_before(root, at)) {
        part(root->high, at, &root->high, high);
        *low = root;
    } else {
        part(root->low, at, low, &root->low);
        *high = root;
    }
    measure(root);
}

/* One tree of two; all of `low` stands before all of `high`. */
static struct obs_span *join(struct obs_span *low, struct obs_span *high)
{
    if (!low || !high)
        return low ? low : high;
    struct obs_span *root = low->weight >= high->weight ? low : high;
    if (root == low)
        low->high = join(low->high, high);
    else
        high->low = join(low, high->low);
    measure(root);
    return root;
}

static uint64_t draw(void)
{
    static _Thread_local uint64_t state = 0x2545f4914f6cdd1du;
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state;
}

void obs_span_insert(struct obs_span **root, struct obs_span *span)
{
    span->weight = draw();
    while (*root && (*root)->weight >= span->weight) {
        if ((*root)->reach < span->end)
            (*root)->reach = span->end;
        root = stands_before(span, *root) ? &(*root)->low : &(*root)->high;
    }
    part(*root, span, &span->low, &span->high);
    measure(span);
    *root = span;
}

void obs_span_remove(struct obs_span **root, struct obs_span *span)
{
    if (*root == span) {
        *root = join(span->low, span->high);
        return;
    }
    struct obs_span *above = *root;
    obs_span_remove(stands_before(span, above) ? &above->low : &above->high, span);
    measure(above);
}

struct obs_span *obs_span_lowest(struct obs_span *root, uintptr_t first, uintptr_t end)
{
    while (root) {
        if (root->low && root->low->reach > first) {
            /* Something below reaches far enough. If it begins too late, all that follows does so too. */
            root = root->low;
            continue;
        }
        if (root->first >= end)
            return NULL;
        if (root->end > first)
            return root;
        root = root->high && root->high->reach > first ? root->high : NULL;
    }
    return NULL;
}

size_t obs_span_collect(struct obs_span *root, uintptr_t first, uintptr_t end, struct obs_span **out, size_t room)
{
    size_t count = 0;
    while (root && root->reach > first) {
        size_t below = obs_span_collect(root->low, first, end, out, room);
        count += below;
        size_t taken = below < room ? below : room;
        if (taken > 0) /* `out` may be NULL where there is no room */
            out += taken;
        room -= taken;
        if (root->first >= end)
            break;
        if (root->end > first) {
            count++;
            if (room > 0) {
                *out++ = root;
                room--;
            }
        }
        root = root->high;
    }
    return count;
}

struct obs_span *obs_span_before(struct obs_span *root, uintptr_t at)
{
    struct obs_span *found = NULL;
    while (root) {
        if (root->first <= at)
            found = root;
        root = root->first <= at ? root->high : root->low;
    }
    return found;
}
