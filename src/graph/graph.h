/* SPDX-License-Identifier: Apache-2.0 */
/* Graphs: nodes of work, and edges that say what comes before what (driver API manual, Graph Management).
 *
 * A graph is a description and runs nothing. What a node does is its *work*: a counted record that never changes once a
 * node has it. Setting a node's parameters gives it a new work, so that clones, executable graphs and runs that began
 * before keep what they had by holding a reference.
 *
 * graph.c      graphs and their nodes: making, adding, removing, destroying, sorting
 * clone.c      clones, and finding a node's twin in one
 * work.c       works: making, holding, freeing
 * graph_memory.c  memory of allocation nodes: addresses that stay, and what is accounted of them
 * dot.c        graphs as DOT text
 * user_object.c  things of the program's that graphs keep alive
 * conditional.c  the values that conditional nodes look at
 * exec.h       executable graphs: the flat plan that is made of a graph, and its runs
 *
 * Graphs are not for several threads at once (the manual says so); a lock, mr_graph_lock, keeps them whole all the
 * same. */
#ifndef MR_GRAPH_GRAPH_H
#define MR_GRAPH_GRAPH_H

#include <cuda.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/list.h"
#include "base/thread.h"
#include "command/command.h"
#include "object/handle.h"

struct mr_context;
struct mr_event;
struct mr_graph;
struct mr_graph_memory;
struct mr_launch;
struct mr_parts;

/* What a node does. The variant in use follows from `type`. Never changes once a node has it. */
struct mr_work {
    _Atomic uint32_t references;
    CUgraphNodeType type;
    bool moved; /* `child` is the program's own graph: it stays the program's until a node has this work */
    struct mr_context *context; /* where it runs; counted; NULL for the types that have none */
    union {
        struct {
            CUDA_KERNEL_NODE_PARAMS_v3
                params; /* as the program gave it; kernelParams is `pointers` or extra is `extra` */
            struct mr_launch *launch; /* owned: checked, with a copy of the parameters; a run copies it */
            void **pointers; /* owned: to each parameter inside `launch`; NULL ends them */
            void **extra; /* owned: the buffer form, if the program gave that one; or NULL */
            CUlaunchAttribute *attributes; /* owned; those that were set */
            size_t attribute_count;
        } kernel;
        struct {
            CUDA_MEMCPY3D params;
            struct mr_copy box;
        } copy; /* box: checked, what a run executes; owns no source */
        struct {
            CUDA_MEMSET_NODE_PARAMS params;
            struct mr_fill rows;
        } fill; /* rows: checked, what a run executes */
        struct {
            CUhostFn function;
            void *data;
            struct mr_parts *parts; /* counted: work of a library, which any thread may do; or NULL */
        } host;
        struct mr_graph *child; /* owned: a clone that belongs to the node */
        struct {
            struct mr_event *event;
            CUevent event_handle;
        }; /* of a record or wait node; counted; the handle as given, though it may be dead */
        struct {
            CUDA_MEM_ALLOC_NODE_PARAMS params; /* dptr: the address, the same in every run; accessDescs owned */
            struct mr_graph_memory *memory; /* counted */
        } alloc;
        struct {
            CUdeviceptr address;
            struct mr_graph_memory *memory; /* counted */
            uint64_t claimed_for; /* the graph that the memory is claimed for, until a node has this work */
            uint32_t holder; /* whose memory it frees (graph_memory.h) */
        } free;
        struct {
            CUstreamBatchMemOpParams *ops;
            unsigned count, flags;
        } batch; /* ops owned */
        struct {
            struct mr_conditional *handle; /* counted; conditional.h */
            CUgraphConditionalNodeType type;
            unsigned count;
            struct mr_graph **bodies; /* owned */
            CUgraph *handles; /* owned; the bodies' handles: what phGraph_out shows */
        } conditional;
    };
};

/* A work with one reference, zeroed except for `type` and `context` (held by it; may be NULL). NULL when memory is
 * short. */
struct mr_work *mr_work_new(CUgraphNodeType type, struct mr_context *context) __attribute__((warn_unused_result));
void mr_work_hold(struct mr_work *work);
void mr_work_drop(struct mr_work *work);

struct mr_node;

/* One end of an edge: the node at the other end, and what the edge carries. */
struct mr_edge {
    struct mr_node *node;
    CUgraphEdgeData data;
};
struct mr_edges {
    struct mr_edge *at;
    size_t count, room;
};

struct mr_node {
    struct mr_object object; /* MR_KIND_GRAPH_NODE */
    struct mr_graph *graph; /* borrowed: a node goes with its graph */
    struct mr_list link; /* in graph->nodes */
    struct mr_list root; /* in graph->roots if it depends on nothing */
    uint64_t id; /* counts up within a graph; a clone's node has the original's */
    struct mr_work *work; /* counted */
    struct mr_edges before, after; /* dependencies; dependent nodes */
    size_t mark; /* scratch for walks over the graph, under the lock */
};

/* Graphs may be this deep inside one another: walks over them are recursive. */
#define MR_GRAPH_DEPTH 256u

struct mr_graph {
    struct mr_object object; /* MR_KIND_GRAPH */
    struct mr_list nodes; /* oldest first */
    struct mr_list roots; /* latest to become one first */
    size_t count;
    uint64_t next_id;
    _Atomic(struct mr_node *) parent; /* the child or conditional node that owns this graph, or NULL */
    uint64_t cloned_from; /* handle of the graph that this one is a clone of, or 0 */
    uint64_t cloned_next; /* next_id when it was cloned: nodes below are twins */
    bool tangled; /* an edge leads to a node of lower id: the list is no order to run in */
    struct mr_list user_objects; /* struct mr_user_holding; user_object.h */
    struct mr_list conditionals; /* struct mr_conditional: handles made for this graph */
    unsigned height; /* graphs inside one another, this one counted; an upper bound once nodes were removed */
    struct mr_node *hint; /* where the search for a twin went last; clone.c's */
    _Atomic size_t
        memory_nodes; /* allocation and free nodes in it or in graphs moved into it: nodes and edges then stay */
    _Atomic bool capturing; /* a stream capture adds to it: it can't be instantiated or destroyed */
    unsigned execs; /* executable graphs alive that were made of it (graphs with allocation nodes can have one) */
};

/* Guards the topology of all graphs. A leaf: under it only the allocator's and the registry's locks are taken. */
extern mr_lock mr_graph_lock;

/* An empty graph with a live handle; NULL when memory is short. */
struct mr_graph *mr_graph_new(void) __attribute__((warn_unused_result));

/* Ends the graph, its nodes and its children; their handles are dead from then on. */
void mr_graph_destroy(struct mr_graph *graph);

/* A copy whose nodes share their works with the original's (child graphs are cloned); NULL when memory is short. User
 * objects are held by the copy too. Whether a graph may be cloned (one with allocation or conditional nodes may not) is
 * the caller's to check. */
struct mr_graph *mr_graph_clone(struct mr_graph *graph) __attribute__((warn_unused_result));

/* The handle of the node of a clone that was made from `original`, or NULL. */
void *mr_graph_find_twin(struct mr_node *original, struct mr_graph *clone);

/* Adds a node after `count` nodes of the same graph (`data` may be NULL: plain edges). Takes over the caller's
 * reference to `work`, also on failure. CUDA_ERROR_INVALID_VALUE for a dependency that is of another graph or named
 * twice; CUDA_ERROR_NOT_SUPPORTED for graphs more than MR_GRAPH_DEPTH deep inside one another;
 * CUDA_ERROR_OUT_OF_MEMORY. */
CUresult mr_graph_add(struct mr_graph *graph, struct mr_node *const *before, const CUgraphEdgeData *data, size_t count,
                      struct mr_work *work, struct mr_node **out) __attribute__((warn_unused_result));

/* Adds or removes `count` edges of one graph (`data` may be NULL: plain edges). A node that is of another graph, and
 * data that an edge between such nodes can't have, are found before anything is changed. Then edges are changed in turn
 * up to the first that can't be, as on hardware: one that is there already (add) or isn't (remove; whatever data it
 * has), or from a node to itself. Cycles are let through. CUDA_ERROR_INVALID_VALUE for all of these;
 * CUDA_ERROR_NOT_SUPPORTED for removing in a graph with memory nodes; CUDA_ERROR_OUT_OF_MEMORY. */
CUresult mr_graph_change_edges(struct mr_graph *graph, struct mr_node *const *from, struct mr_node *const *to,
                               const CUgraphEdgeData *data, size_t count, bool add) __attribute__((warn_unused_result));

/* Takes a node, and all its edges, out of its graph and ends its handle. */
void mr_graph_remove(struct mr_node *node);

/* Gives a node another work of the same type; takes over the reference. False, with the work dropped, if the node is
 * gone or of another type. */
bool mr_node_set_work(struct mr_node *node, struct mr_work *work);

/* The node's work, held for the caller; NULL if the node is gone. */
struct mr_work *mr_node_work(struct mr_node *node) __attribute__((warn_unused_result));

/* Must the node stay? CUDA_ERROR_NOT_SUPPORTED if its graph has memory nodes, CUDA_ERROR_ILLEGAL_STATE if a stream is
 * being captured to it, CUDA_ERROR_INVALID_VALUE if the node is gone. */
bool mr_node_stays(struct mr_node *node, CUresult *status);

/* Is it the graph of a child node? */
bool mr_graph_is_child(struct mr_graph *graph);

/* Has the graph (not those inside it) a node of a type? */
bool mr_graph_has_type(struct mr_graph *graph, CUgraphNodeType type);

/* The nodes in an order in which each comes after all it depends on, as a rule the order in which they were made:
 * `order` has room for graph->count. Returns how many there are: fewer than graph->count if there is a cycle. The lock
 * is held. */
size_t mr_graph_sort(struct mr_graph *graph, struct mr_node **order);

#endif
