/* SPDX-License-Identifier: Apache-2.0 */
/* Plans: the nodes of a graph as it was instantiated, and what comes before what.
 *
 * A plan has an entry for each node, also of graphs inside graphs. Such a graph is a region: its first nodes come after
 * what its owner (a child node or conditional node) comes after, and what comes after the owner comes after the
 * region's last nodes. Nodes are cut into chains, each of which is a timeline of the executable graph's: launches of
 * one executable graph are in order, so all of them use the same. */
#ifndef MR_OBSERVER_PLAN_H
#define MR_OBSERVER_PLAN_H

#include <cuda.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "libs/observer/objects.h"

enum { OBS_NO_NODE = 0xffffffffu };

/* What an edge says. */
enum obs_plan_edge {
    OBS_EDGE_PLAIN,        /* the node comes after all of the other one */
    OBS_EDGE_PROGRAMMATIC, /* a kernel that comes after another one from where it waits for it */
    OBS_EDGE_LAUNCH,       /* it comes after the beginning of the other one, which says nothing of what that does */
};

struct obs_plan_node {
    uint64_t handle;
    CUgraphNodeType type;
    uint32_t owner;        /* the node in whose region it is, or OBS_NO_NODE */
    uint32_t inner, next;  /* the first node of its own region, and the next of the region that it is in */
    uint32_t chain;
    uint32_t *before;      /* nodes of its region with an edge to it */
    uint8_t *edge;         /* enum obs_plan_edge of each */
    uint32_t before_count;
    uint32_t early; /* of a kernel with a programmatic edge to it: the chain of its early part; else OBS_NO_NODE */
    bool last; /* of its region: nothing comes after all of it */
    uint64_t event; /* of an event node */
    uint64_t memory; /* of an allocation or free */
    size_t size;
    CUstreamBatchMemOpParams *value; /* of memory operations: which */
    uint32_t values;
};

struct obs_plan {
    uint32_t references;
    uint32_t count, room, chains;
    struct obs_plan_node *node; /* a region's nodes stand in an order of running, behind their owner */
    uint32_t *by_handle; /* a hash table of indices plus 1 */
    uint32_t heads;
    uint32_t *timeline; /* by chain; 0: none yet */
    uint64_t *tick;
    bool has_waits, has_records, has_memory, has_values;
};

/* What the graph holds now. On a thread that is in leave, with no lock held. NULL: it could not be read, or memory is
 * short. */
struct obs_plan *obs_plan_new(CUgraph graph);
struct obs_plan *obs_plan_keep(struct obs_plan *plan);
/* With the rules' lock, as all that follow. */
void obs_plan_drop(struct obs_plan *plan, const struct obs_point *last);

/* The node has these values now, which are copied. Nothing changes if memory is short. */
void obs_plan_set_values(struct obs_plan_node *node, const CUstreamBatchMemOpParams *values, uint32_t count);
/* What an update of an executable graph may change: the nodes of `plan` take the values and events of those of `from`,
 * which has the same nodes in the same order, and gets the old ones. Else nothing happens. */
void obs_plan_take_over(struct obs_plan *plan, struct obs_plan *from);
/* The index of a node, or OBS_NO_NODE. */
uint32_t obs_plan_find(const struct obs_plan *plan, uint64_t handle);

/* Which graphs are the bodies of a conditional node; told when the node is added. Without the lock. */
void obs_plan_bodies(CUgraphNode node, const CUgraph *bodies, unsigned count);

#endif
