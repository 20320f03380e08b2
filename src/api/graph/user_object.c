/* SPDX-License-Identifier: Apache-2.0 */
/* User objects (driver API manual, Graph Management): what they are is in graph/user_object.h. */
#include <limits.h>

#include "api_impl.h"
#include "base/alloc.h"
#include "base/call.h"
#include "graph/user_object.h"
#include "prepare/check.h"
#include "prepare/work.h"

/* CUDA_ERROR_INVALID_VALUE for a dead handle or a count that is 0 or above INT_MAX. */
static CUresult require(CUuserObject handle, unsigned count, struct mr_user_object **out)
{
    *out = mr_object_find(handle, MR_KIND_USER_OBJECT);
    if (!*out)
        return mr_bad_value("%p is not a live user object", (void *)handle);
    return count == 0 || count > INT_MAX ? mr_bad_value("a count of %u", count) : CUDA_SUCCESS;
}

CUresult mr_cuUserObjectCreate(CUuserObject *object_out, void *ptr, CUhostFn destroy, unsigned int initialRefcount,
                               unsigned int flags)
{
    if (!object_out || !destroy)
        return mr_bad_value(object_out ? "destroy is NULL" : "object_out is NULL");
    if (initialRefcount == 0)
        return mr_bad_value("a count of 0");
    if (flags != CU_USER_OBJECT_NO_DESTRUCTOR_SYNC)
        return mr_bad_value("flags are %#x and must be CU_USER_OBJECT_NO_DESTRUCTOR_SYNC", flags);
    struct mr_user_object *object = mr_user_object_new(ptr, destroy, initialRefcount);
    if (!object)
        return CUDA_ERROR_OUT_OF_MEMORY;
    *object_out = mr_object_handle(object);
    return CUDA_SUCCESS;
}

CUresult mr_cuUserObjectRetain(CUuserObject object, unsigned int count)
{
    struct mr_user_object *found;
    CUresult status = require(object, count, &found);
    if (status == CUDA_SUCCESS)
        mr_user_object_retain(found, count);
    return status;
}

CUresult mr_cuUserObjectRelease(CUuserObject object, unsigned int count)
{
    struct mr_user_object *found;
    CUresult status = require(object, count, &found);
    if (status == CUDA_SUCCESS)
        mr_user_object_release(found, count);
    return status;
}

/* The graph lock is held. */
static struct mr_user_holding *find_holding(struct mr_graph *graph, const struct mr_user_object *object)
{
    MR_HELD(&mr_graph_lock);
    for (struct mr_list *at = graph->user_objects.next; at != &graph->user_objects; at = at->next) {
        struct mr_user_holding *holding = MR_CONTAINER(at, struct mr_user_holding, link);
        if (holding->object == object)
            return holding;
    }
    return NULL;
}

/* With CU_GRAPH_USER_OBJECT_MOVE the references are taken from the caller; else they are new. */
CUresult mr_cuGraphRetainUserObject(CUgraph graph, CUuserObject object, unsigned int count, unsigned int flags)
{
    struct mr_graph *found_graph;
    struct mr_user_object *found;
    CUresult status = mr_graph_require(graph, &found_graph);
    if (status == CUDA_SUCCESS)
        status = require(object, count, &found);
    if (status == CUDA_SUCCESS && (flags & ~(unsigned)CU_GRAPH_USER_OBJECT_MOVE))
        status = mr_bad_value("flags %#x are not CU_GRAPH_USER_OBJECT_*", flags);
    if (status != CUDA_SUCCESS)
        return status;
    struct mr_user_holding *fresh = mr_calloc(1, sizeof *fresh);
    if (!fresh)
        return CUDA_ERROR_OUT_OF_MEMORY;
    mr_lock_take(&mr_graph_lock);
    if (!mr_object_handle(found_graph)) {
        mr_lock_drop(&mr_graph_lock);
        mr_free(fresh);
        return mr_bad_value("graph %p was destroyed meanwhile", (void *)graph);
    }
    if (!(flags & CU_GRAPH_USER_OBJECT_MOVE))
        mr_user_object_retain(found, count);
    struct mr_user_holding *holding = find_holding(found_graph, found);
    if (!holding) {
        holding = fresh;
        fresh = NULL;
        holding->object = found;
        mr_list_append(&found_graph->user_objects, &holding->link);
    }
    holding->count += count;
    mr_lock_drop(&mr_graph_lock);
    mr_free(fresh);
    return CUDA_SUCCESS;
}

/* A graph that holds fewer gives what it has: hardware does not call that an error. */
CUresult mr_cuGraphReleaseUserObject(CUgraph graph, CUuserObject object, unsigned int count)
{
    struct mr_graph *found_graph;
    struct mr_user_object *found;
    struct mr_user_holding *gone = NULL;
    CUresult status = mr_graph_require(graph, &found_graph);
    if (status == CUDA_SUCCESS)
        status = require(object, count, &found);
    if (status != CUDA_SUCCESS)
        return status;
    mr_lock_take(&mr_graph_lock);
    struct mr_user_holding *holding = find_holding(found_graph, found);
    uint64_t held = holding ? holding->count : 0, given = held < count ? held : count;
    if (holding) {
        holding->count -= given;
        if (holding->count == 0) {
            mr_list_remove(&holding->link);
            gone = holding;
        }
    }
    mr_lock_drop(&mr_graph_lock);
    if (given < count)
        mr_call_log(MR_LOG_INFO, "the graph held %llu references to %p, not %u", (unsigned long long)held,
                    (void *)object, count);
    mr_free(gone);
    if (given)
        mr_user_object_release(found, given);
    return CUDA_SUCCESS;
}
