/* SPDX-License-Identifier: Apache-2.0 */
/* What the entry points of graphs need of nodes: behind which handles they are, and what work they have or get. */
#include "api/graph/graph_calls.h"
#include "base/alloc.h"
#include "prepare/check.h"
#include "prepare/work.h"

const char *mr_node_type_name(CUgraphNodeType type)
{
    static const char *const names[] = {"kernel",
                                        "memcpy",
                                        "memset",
                                        "host",
                                        "graph",
                                        "empty",
                                        "event wait",
                                        "event record",
                                        "semaphores signal",
                                        "semaphores wait",
                                        "mem alloc",
                                        "mem free",
                                        "batch mem op",
                                        "conditional"};
    return (unsigned)type < sizeof names / sizeof *names ? names[type] : "unknown";
}

CUresult mr_nodes_require(const CUgraphNode *handles, size_t count, struct mr_node *few[MR_FEW_NODES],
                          struct mr_node ***out)
{
    struct mr_node **nodes = count > MR_FEW_NODES ? mr_calloc(count, sizeof *nodes) : few;
    CUresult status = nodes ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
    for (size_t i = 0; status == CUDA_SUCCESS && i < count; i++)
        status = mr_node_require(handles[i], &nodes[i]);
    if (status != CUDA_SUCCESS && nodes != few)
        mr_free(nodes);
    *out = nodes;
    return status;
}

CUresult mr_node_work_require(CUgraphNode handle, CUgraphNodeType type, struct mr_work **out)
{
    struct mr_node *node;
    CUresult status = mr_node_require(handle, &node);
    if (status != CUDA_SUCCESS)
        return status;
    struct mr_work *work = mr_node_work(node);
    if (work && work->type == type) {
        *out = work;
        return CUDA_SUCCESS;
    }
    mr_work_drop(work);
    return mr_bad_value("node %p is not a %s node", (void *)handle, mr_node_type_name(type));
}

CUresult mr_node_change(CUgraphNode handle, struct mr_work *work)
{
    struct mr_node *node;
    CUgraphNodeType type = work->type;
    CUresult status = mr_node_require(handle, &node);
    if (status != CUDA_SUCCESS) {
        mr_work_drop(work);
        return status;
    }
    return mr_node_set_work(node, work)
               ? CUDA_SUCCESS
               : mr_bad_value("node %p is not a %s node", (void *)handle, mr_node_type_name(type));
}

/* New parameters leave a node its attributes. The work is the caller's alone still. */
CUresult mr_node_change_kernel(CUgraphNode handle, struct mr_work *work)
{
    struct mr_work *old;
    CUresult status = mr_node_work_require(handle, CU_GRAPH_NODE_TYPE_KERNEL, &old);
    if (status == CUDA_SUCCESS) {
        mr_free(work->kernel.attributes);
        if (!mr_work_copy_attributes(work, old))
            status = CUDA_ERROR_OUT_OF_MEMORY;
        mr_work_drop(old);
    }
    if (status == CUDA_SUCCESS)
        return mr_node_change(handle, work);
    mr_work_drop(work);
    return status;
}
