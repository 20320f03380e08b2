/* SPDX-License-Identifier: Apache-2.0 */
/* Works that allocate and free memory; see work.h. Addresses and sums are graph/graph_memory.c's. */
#include "base/alloc.h"
#include "base/call.h"
#include "graph/graph_memory.h"
#include "object/context.h"
#include "object/device.h"
#include "prepare/check.h"
#include "prepare/work.h"

/* Only plain memory of a device, and access from devices that there are. */
static CUresult check_alloc(const CUDA_MEM_ALLOC_NODE_PARAMS *params, struct mr_device **device)
{
    const CUmemPoolProps *props = &params->poolProps;
    if (params->bytesize == 0)
        return mr_bad_value("the allocation has 0 bytes");
    if (props->handleTypes != CU_MEM_HANDLE_TYPE_NONE || props->allocType == CU_MEM_ALLOCATION_TYPE_MANAGED) {
        mr_call_log(MR_LOG_INFO, "memory of graphs is not shared between processes, and not managed");
        return CUDA_ERROR_NOT_SUPPORTED;
    }
    if (props->allocType != CU_MEM_ALLOCATION_TYPE_PINNED || props->location.type != CU_MEM_LOCATION_TYPE_DEVICE)
        return mr_bad_value("the pool's properties ask for allocation type %d, handle types %d, location type %d",
                            (int)props->allocType, (int)props->handleTypes, (int)props->location.type);
    *device = mr_device_get(props->location.id);
    if (!*device)
        return mr_bad_value("there is no device %d", props->location.id);
    if (params->accessDescCount && !params->accessDescs)
        return mr_bad_value("accessDescs is NULL");
    for (size_t i = 0; i < params->accessDescCount; i++) {
        const CUmemAccessDesc *access = &params->accessDescs[i];
        struct mr_device *accessor;
        if (access->location.type != CU_MEM_LOCATION_TYPE_DEVICE)
            return mr_bad_value("access description %zu is not about a device", i);
        CUresult status = mr_device_require(access->location.id, &accessor);
        if (status != CUDA_SUCCESS)
            return status;
        if (access->flags != CU_MEM_ACCESS_FLAGS_PROT_READWRITE) {
            mr_call_log(MR_LOG_INFO, "access description %zu gives less than reading and writing", i);
            return CUDA_ERROR_NOT_SUPPORTED;
        }
    }
    return CUDA_SUCCESS;
}

struct search {
    struct mr_device *device;
    struct mr_context *found;
};

static void visit_context(void *object, void *data)
{
    struct mr_context *context = object;
    struct search *search = data;
    if (search->found || context->device != search->device ||
        atomic_load_explicit(&context->destroyed, memory_order_acquire))
        return;
    mr_object_hold(context);
    search->found = context;
}

/* The context whose memory it is: the current one if it is on that device, else the device's primary context, else any
 * on it. */
static CUresult context_on(struct mr_device *device, struct mr_context **out)
{
    struct mr_context *current = mr_context_current();
    if (current && current->device == device && !atomic_load_explicit(&current->destroyed, memory_order_acquire)) {
        mr_object_hold(current);
        *out = current;
        return CUDA_SUCCESS;
    }
    mr_lock_take(&device->lock);
    *out = device->primary;
    if (*out)
        mr_object_hold(*out);
    mr_lock_drop(&device->lock);
    struct search search = {device, *out};
    if (!search.found)
        mr_object_each(MR_KIND_CONTEXT, visit_context, &search);
    *out = search.found;
    if (*out)
        return CUDA_SUCCESS;
    mr_call_log(MR_LOG_INFO, "device %d has no context that the memory could belong to", device->ordinal);
    return CUDA_ERROR_INVALID_CONTEXT;
}

CUresult mr_work_from_alloc(CUDA_MEM_ALLOC_NODE_PARAMS *params, struct mr_graph *graph, const CUgraphNode *before,
                            size_t count, struct mr_work **out)
{
    static const CUmemAccessDesc nothing;
    struct mr_device *device = NULL;
    struct mr_context *context;
    CUresult status = check_alloc(params, &device);
    if (status == CUDA_SUCCESS && mr_graph_is_child(graph)) {
        mr_call_log(MR_LOG_INFO, "memory nodes can't be added to a child graph");
        status = CUDA_ERROR_NOT_SUPPORTED;
    }
    if (status == CUDA_SUCCESS)
        status = context_on(device, &context);
    if (status != CUDA_SUCCESS)
        return status;
    struct mr_work *work = mr_work_new(CU_GRAPH_NODE_TYPE_MEM_ALLOC, context);
    mr_object_drop(context);
    if (!work)
        return CUDA_ERROR_OUT_OF_MEMORY;
    work->alloc.params = *params;
    work->alloc.params.accessDescs =
        mr_memdup(params->accessDescs ? params->accessDescs : &nothing, params->accessDescCount * sizeof nothing);
    status = work->alloc.params.accessDescs ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
    if (status == CUDA_SUCCESS && params->bytesize)
        work->alloc.memory = mr_graph_memory_reuse(graph, before, count, work->context, params->bytesize);
    bool fresh = !work->alloc.memory;
    if (status == CUDA_SUCCESS && fresh)
        status = mr_graph_memory_new(work->context, params->bytesize, &work->alloc.memory);
    if (status != CUDA_SUCCESS) {
        mr_work_drop(work);
        return status;
    }
    if (fresh)
        work->alloc.memory->owner = (uint64_t)(uintptr_t)mr_object_handle(graph);
    work->alloc.params.dptr = work->alloc.memory->address;
    params->dptr = work->alloc.params.dptr;
    *out = work;
    return CUDA_SUCCESS;
}

CUresult mr_work_from_free(CUdeviceptr address, struct mr_graph *graph, struct mr_work **out)
{
    if (mr_graph_is_child(graph)) {
        mr_call_log(MR_LOG_INFO, "memory nodes can't be added to a child graph");
        return CUDA_ERROR_NOT_SUPPORTED;
    }
    struct mr_graph_memory *memory = mr_graph_memory_find(address);
    if (!memory)
        return mr_bad_value("%#llx is not an address of an allocation node", (unsigned long long)address);
    struct mr_work *work = mr_work_new(CU_GRAPH_NODE_TYPE_MEM_FREE, memory->context);
    if (!work) {
        mr_graph_memory_drop(memory);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    work->free.address = address;
    work->free.memory = memory;
    uint64_t claimant = (uint64_t)(uintptr_t)mr_object_handle(graph);
    if (!mr_graph_memory_claim(memory, claimant, &work->free.holder)) {
        mr_work_drop(work);
        return mr_bad_value("the memory at %#llx is freed by another node", (unsigned long long)address);
    }
    work->free.claimed_for = claimant;
    *out = work;
    return CUDA_SUCCESS;
}
