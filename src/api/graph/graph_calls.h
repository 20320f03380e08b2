/* SPDX-License-Identifier: Apache-2.0 */
/* What the entry points of graphs share: adding nodes, and answering with lists of handles. */
#ifndef MR_API_GRAPH_CALLS_H
#define MR_API_GRAPH_CALLS_H

#include <cuda.h>
#include <stdbool.h>
#include <stddef.h>

#include "graph/graph.h"

/* The arguments that all functions which add a node have in common. */
struct mr_addition {
    CUgraphNode *out;
    CUgraph graph;
    const CUgraphNode *before;     /* `count` handles */
    const CUgraphEdgeData *data;   /* as many, or NULL: plain edges */
    size_t count;
};

/* The checks that come before those of the node's parameters: CUDA_ERROR_INVALID_VALUE for null pointers and dead
 * handles. `params` is what must not be NULL either. */
CUresult mr_addition_check(const struct mr_addition *addition, const void *params, struct mr_graph **graph)
    __attribute__((warn_unused_result));

/* Adds a node with this work, to which it takes over the reference, also on failure, and stores its handle. */
CUresult mr_addition_finish(const struct mr_addition *addition, struct mr_graph *graph, struct mr_work *work)
    __attribute__((warn_unused_result));

/* Handles of nodes behind `count` handles, in *out, which is `few` or an array to be freed with mr_free if it isn't.
 * CUDA_ERROR_INVALID_VALUE. */
enum { MR_FEW_NODES = 16 };
CUresult mr_nodes_require(const CUgraphNode *handles, size_t count, struct mr_node *few[MR_FEW_NODES],
                          struct mr_node ***out) __attribute__((warn_unused_result));

/* The node's work, held, if it is of a type. CUDA_ERROR_INVALID_VALUE. */
CUresult mr_node_work_require(CUgraphNode handle, CUgraphNodeType type, struct mr_work **out)
    __attribute__((warn_unused_result));

/* Gives the node behind a handle another work; takes over the reference. CUDA_ERROR_INVALID_VALUE if it is of another
 * type. */
CUresult mr_node_change(CUgraphNode handle, struct mr_work *work) __attribute__((warn_unused_result));

/* As mr_node_change for a kernel's work, which only the caller has yet: the node keeps its attributes. */
CUresult mr_node_change_kernel(CUgraphNode handle, struct mr_work *work) __attribute__((warn_unused_result));

/* "kernel", "memcpy", …: for messages and DOT. */
const char *mr_node_type_name(CUgraphNodeType type);

struct mr_stream;

/* cuMemFree and cuMemFreeAsync of memory that an allocation node gave out: it can be given out again from then on.
 * `context` is the memory's. CUDA_ERROR_INVALID_VALUE if another thread was faster. */
CUresult mr_graph_memory_free_now(CUdeviceptr address, struct mr_context *context) __attribute__((warn_unused_result));
CUresult mr_graph_memory_free_in(CUdeviceptr address, struct mr_stream *stream) __attribute__((warn_unused_result));

#endif
