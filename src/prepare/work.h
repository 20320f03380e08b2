/* SPDX-License-Identifier: Apache-2.0 */
/* From a program's description of a node to a work (graph/graph.h), with the checks and statuses that hardware has.
 * Used by nodes, by stream capture and by calls that change executable graphs.
 *
 * Each function gives a work with one reference in *out, which is untouched on failure. */
#ifndef MR_PREPARE_WORK_H
#define MR_PREPARE_WORK_H

#include <cuda.h>

#include "graph/graph.h"

struct mr_launch_request;
struct mr_parts;
struct mr_side;

/* A kernel's launch, in the function's context or, for params->kern, in params->ctx or the current one.
 * CUDA_ERROR_INVALID_HANDLE for no function; CUDA_ERROR_INVALID_VALUE for shapes and parameters. */
CUresult mr_work_from_kernel(const CUDA_KERNEL_NODE_PARAMS_v3 *params, struct mr_work **out)
    __attribute__((warn_unused_result));

/* The first version's struct has neither kern nor ctx. */
CUDA_KERNEL_NODE_PARAMS_v3 mr_kernel_params_widen(const CUDA_KERNEL_NODE_PARAMS_v1 *params);

/* A copy of a kernel's work with the same parameters, and no attributes yet; NULL when memory is short. */
struct mr_work *mr_work_copy_kernel(const struct mr_work *from) __attribute__((warn_unused_result));

/* Gives a kernel's work, which has none, the attributes of another one, with room for one more. False when memory is
 * short. */
bool mr_work_copy_attributes(struct mr_work *to, const struct mr_work *from) __attribute__((warn_unused_result));

/* The launch that a captured call asked for, in a stream of `context`. Attributes are copied; they have been checked.
 */
CUresult mr_work_from_launch(const struct mr_launch_request *request, struct mr_context *context,
                             const CUlaunchAttribute *attributes, size_t attribute_count, struct mr_work **out)
    __attribute__((warn_unused_result));

/* Copies and fills. `context` may be NULL. */
CUresult mr_work_from_copy(const CUDA_MEMCPY3D *params, struct mr_context *context, struct mr_work **out)
    __attribute__((warn_unused_result));
CUresult mr_work_from_fill(const CUDA_MEMSET_NODE_PARAMS *params, struct mr_context *context, struct mr_work **out)
    __attribute__((warn_unused_result));

/* As a captured copy call has it: sides instead of a box. */
CUresult mr_work_from_sides(const struct mr_side *to, const struct mr_side *from, size_t width, size_t height,
                            size_t depth, struct mr_context *context, struct mr_work **out)
    __attribute__((warn_unused_result));

CUresult mr_work_from_host(CUhostFn function, void *data, struct mr_work **out) __attribute__((warn_unused_result));
/* Work in parts (command/parts.h), as a host node that any thread may run. Takes over a reference to `parts`, also on
 * failure. */
CUresult mr_work_from_parts(struct mr_parts *parts, struct mr_work **out) __attribute__((warn_unused_result));
CUresult mr_work_empty(struct mr_work **out) __attribute__((warn_unused_result));

/* A record or a wait: `type` is CU_GRAPH_NODE_TYPE_EVENT_RECORD or CU_GRAPH_NODE_TYPE_WAIT_EVENT. */
CUresult mr_work_from_event(CUgraphNodeType type, CUevent event, struct mr_work **out)
    __attribute__((warn_unused_result));

/* A clone of the graph, or the graph itself if it is moved, for a node of `parent`. CUDA_ERROR_NOT_SUPPORTED for graphs
 * that can't be children. */
CUresult mr_work_from_child(struct mr_graph *parent, CUgraph graph, CUgraphChildGraphNodeOwnership ownership,
                            struct mr_work **out) __attribute__((warn_unused_result));

/* Memory: params->dptr is filled in. `graph` is the one that gets the node, behind those `before`, which says what
 * memory it can take over. */
CUresult mr_work_from_alloc(CUDA_MEM_ALLOC_NODE_PARAMS *params, struct mr_graph *graph, const CUgraphNode *before,
                            size_t count, struct mr_work **out) __attribute__((warn_unused_result));
CUresult mr_work_from_free(CUdeviceptr address, struct mr_graph *graph, struct mr_work **out)
    __attribute__((warn_unused_result));

/* A batch of memory operations; the array is copied. */
CUresult mr_work_from_batch(const CUDA_BATCH_MEM_OP_NODE_PARAMS *params, struct mr_work **out)
    __attribute__((warn_unused_result));

/* Makes the body graphs; params->phGraph_out is filled in with their handles, in an array that the work owns. */
CUresult mr_work_from_conditional(CUDA_CONDITIONAL_NODE_PARAMS *params, struct mr_graph *graph, struct mr_work **out)
    __attribute__((warn_unused_result));

/* Any of the above, for a node of `graph` behind those `before`. */
CUresult mr_work_from_params(CUgraphNodeParams *params, struct mr_graph *graph, const CUgraphNode *before, size_t count,
                             struct mr_work **out) __attribute__((warn_unused_result));

/* The live graph or node behind a handle; CUDA_ERROR_INVALID_VALUE. No reference is taken. */
CUresult mr_graph_require(CUgraph handle, struct mr_graph **out) __attribute__((warn_unused_result));
CUresult mr_node_require(CUgraphNode handle, struct mr_node **out) __attribute__((warn_unused_result));

/* The context that a node's parameters name: NULL stays NULL. CUDA_ERROR_CONTEXT_IS_DESTROYED for a handle that is not
 * live. */
CUresult mr_node_context(CUcontext handle, struct mr_context **out) __attribute__((warn_unused_result));

#endif
