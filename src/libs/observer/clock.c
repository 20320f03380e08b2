/* SPDX-License-Identifier: Apache-2.0 */
/* Clocks as trees that share what is the same (clock.h). A root's level says how many timelines the tree can hold; a
 * tree grows at its root. */
#include "libs/observer/clock.h"

#include <stdlib.h>
#include <string.h>

enum { FAN = OBS_CLOCK_FAN, FAN_BITS = 4, SLAB = 256 };

struct obs_clock {
    uint32_t references;
    uint32_t level; /* 0: a leaf */
    union {
        uint64_t tick[FAN];
        struct obs_clock *child[FAN];
        struct obs_clock *next; /* of a free node */
    } of;
};

static struct obs_clock *free_nodes;
static size_t nodes, slabs;
static bool is_short;

static struct obs_clock *node_take(void)
{
    if (!free_nodes) {
        struct obs_clock *slab = calloc(SLAB, sizeof *slab);
        if (!slab) {
            is_short = true;
            return NULL;
        }
        slabs++;
        for (int i = 0; i < SLAB; i++) {
            slab[i].of.next = free_nodes;
            free_nodes = &slab[i];
        }
    }
    struct obs_clock *node = free_nodes;
    free_nodes = node->of.next;
    nodes++;
    return node;
}

static struct obs_clock *node_new(uint32_t level)
{
    struct obs_clock *node = node_take();
    if (node) {
        memset(node, 0, sizeof *node);
        node->references = 1;
        node->level = level;
    }
    return node;
}

static void node_drop(struct obs_clock *node)
{
    if (!node || --node->references > 0)
        return;
    if (node->level > 0)
        for (int i = 0; i < FAN; i++)
            node_drop(node->of.child[i]);
    node->of.next = free_nodes;
    free_nodes = node;
    nodes--;
}

const struct obs_clock *obs_clock_keep(const struct obs_clock *clock)
{
    if (clock)
        ((struct obs_clock *)clock)->references++;
    return clock;
}

void obs_clock_drop(const struct obs_clock *clock)
{
    node_drop((struct obs_clock *)clock);
}

/* Turns the caller's reference to a node into one to a node that nobody else has. NULL when memory is short: the
 * reference is then still to `node`. */
static struct obs_clock *node_own(struct obs_clock *node)
{
    if (node->references == 1)
        return node;
    struct obs_clock *own = node_take();
    if (!own)
        return NULL;
    *own = *node;
    own->references = 1;
    if (own->level > 0)
        for (int i = 0; i < FAN; i++)
            if (own->of.child[i])
                own->of.child[i]->references++;
    node->references--;
    return own;
}

/* Turns the caller's reference to a node into one to a tree of a higher level. */
static struct obs_clock *node_grow(struct obs_clock *node, uint32_t level)
{
    while (node && node->level < level) {
        struct obs_clock *root = node_new(node->level + 1);
        if (!root)
            break;
        root->of.child[0] = node;
        node = root;
    }
    return node;
}

static uint32_t level_for(uint32_t timeline)
{
    uint32_t level = 0;
    while (timeline >>= FAN_BITS)
        level++;
    return level;
}

uint64_t obs_clock_at(const struct obs_clock *clock, uint32_t timeline)
{
    if (!clock || level_for(timeline) > clock->level)
        return 0;
    for (; clock && clock->level > 0;)
        clock = clock->of.child[(timeline >> (FAN_BITS * clock->level)) % FAN];
    return clock ? clock->of.tick[timeline % FAN] : 0;
}

bool obs_clock_covers(const struct obs_clock *clock, const struct obs_clock *other)
{
    if (clock == other || !other)
        return true;
    if (!clock)
        return false;
    if (other->level < clock->level)
        return obs_clock_covers(clock->of.child[0], other);
    if (other->level > clock->level) {
        for (int i = 1; i < FAN; i++)
            if (other->of.child[i])
                return false;
        return obs_clock_covers(clock, other->of.child[0]);
    }
    for (int i = 0; i < FAN; i++)
        if (clock->level > 0 ? !obs_clock_covers(clock->of.child[i], other->of.child[i])
                             : clock->of.tick[i] < other->of.tick[i])
            return false;
    return true;
}

/* Takes the reference to `node`, of which `level` is the level (NULL: an empty one). */
static struct obs_clock *node_with(struct obs_clock *node, uint32_t level, uint32_t timeline, uint64_t tick)
{
    struct obs_clock *own = node ? node_own(node) : node_new(level);
    if (!own)
        return node;
    if (level == 0) {
        own->of.tick[timeline % FAN] = tick;
    } else {
        struct obs_clock **child = &own->of.child[(timeline >> (FAN_BITS * level)) % FAN];
        *child = node_with(*child, level - 1, timeline, tick);
    }
    return own;
}

const struct obs_clock *obs_clock_with(const struct obs_clock *clock, uint32_t timeline, uint64_t tick)
{
    if (obs_clock_at(clock, timeline) >= tick)
        return clock;
    uint32_t level = level_for(timeline);
    struct obs_clock *root = node_grow((struct obs_clock *)clock, level);
    if (root && root->level < level)
        return root; /* memory is short */
    return node_with(root, root ? root->level : level, timeline, tick);
}

static struct obs_clock *leaf_join(struct obs_clock *node, struct obs_clock *other)
{
    bool less = false, more = false;
    for (int i = 0; i < FAN; i++) {
        less |= node->of.tick[i] < other->of.tick[i];
        more |= node->of.tick[i] > other->of.tick[i];
    }
    if (!less)
        return node;
    if (!more) {
        node_drop(node);
        other->references++;
        return other;
    }
    struct obs_clock *own = node_own(node);
    if (!own)
        return node;
    for (int i = 0; i < FAN; i++)
        if (own->of.tick[i] < other->of.tick[i])
            own->of.tick[i] = other->of.tick[i];
    return own;
}

/* Takes the reference to `node`. Both are of one level. If the result is the same as `other`, it is `other`, so that
 * the next comparison of the two ends at once. */
static struct obs_clock *node_join(struct obs_clock *node, struct obs_clock *other)
{
    if (node == other || !other)
        return node;
    if (!node) {
        other->references++;
        return other;
    }
    if (node->level == 0)
        return leaf_join(node, other);
    bool same = true;
    for (int i = 0; i < FAN; i++) {
        struct obs_clock *old = node->of.child[i], *from = other->of.child[i];
        if (old == from)
            continue;
        if (!from) {
            same = false;
            continue;
        }
        /* A subtree is changed in place only if nobody else has it or what is above it. */
        if (old && node->references == 1) {
            node->of.child[i] = node_join(old, from);
        } else {
            if (old)
                old->references++;
            struct obs_clock *joined = node_join(old, from);
            struct obs_clock *own = joined != old ? node_own(node) : NULL;
            if (!own) {
                node_drop(joined);
            } else {
                node = own;
                node_drop(node->of.child[i]);
                node->of.child[i] = joined;
            }
        }
        same = same && node->of.child[i] == from;
    }
    if (!same)
        return node;
    node_drop(node);
    other->references++;
    return other;
}

const struct obs_clock *obs_clock_join(const struct obs_clock *clock, const struct obs_clock *other)
{
    if (clock == other || !other)
        return clock;
    struct obs_clock *from = (struct obs_clock *)other, *to = (struct obs_clock *)clock;
    if (!to) {
        from->references++;
        return from;
    }
    from->references++;
    if (from->level < to->level)
        from = node_grow(from, to->level);
    else
        to = node_grow(to, from->level);
    if (from->level == to->level)
        to = node_join(to, from);
    node_drop(from);
    return to;
}

bool obs_clock_short(void)
{
    return is_short;
}

size_t obs_clock_nodes(void)
{
    return nodes;
}

size_t obs_clock_bytes(void)
{
    return slabs * SLAB * sizeof(struct obs_clock);
}
