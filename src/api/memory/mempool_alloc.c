/* SPDX-License-Identifier: Apache-2.0 */
/* Allocation and free in stream order.
 *
 * An allocation is nothing that the stream has to do: the address is chosen at the call, so that all that will use it
 * comes after what used it before. Usually that is so by itself (memory that nobody uses, or that the same stream
 * freed); otherwise the stream gets a wait. A free leaves a record in the stream if that has anything pending;
 * memory/mempool.h tells when the memory is given out again.
 *
 * Memory of cuMemAlloc can be freed in stream order too: it is unknown to the program from then on, and goes when the
 * stream comes there. */
#include "api/memory/mempool_calls.h"

#include "api/graph/graph_calls.h"
#include "api_impl.h"
#include "base/alloc.h"
#include "base/call.h"
#include "capture/capture.h"
#include "command/command.h"
#include "graph/graph_memory.h"
#include "memory/allocation.h"
#include "memory/mempool.h"
#include "object/context.h"
#include "prepare/check.h"
#include "prepare/work.h"
#include "stream/stream.h"

/* ---- allocation ---- */

CUresult mr_mempool_take(struct mr_stream *stream, struct mr_mempool *pool, size_t size, CUdeviceptr *out)
{
    struct mr_mempool_grant grant;
    uint64_t id = mr_stream_id(stream);
    CUresult status = mr_mempool_allocate(pool, size, id, MR_MEMPOOL_QUICK, NULL, &grant);
    if (__builtin_expect(status != CUDA_SUCCESS, 0)) {
        struct mr_mempool_view view;
        mr_stream_view(stream, &view);
        status = mr_mempool_allocate(pool, size, id, MR_MEMPOOL_FULL, &view, &grant);
        if (status == CUDA_ERROR_OUT_OF_MEMORY && mr_mempools_trim_all())
            status = mr_mempool_allocate(pool, size, id, MR_MEMPOOL_FULL, &view, &grant);
    }
    if (status == CUDA_ERROR_OUT_OF_MEMORY)
        mr_call_log(MR_LOG_INFO, "there are no %zu bytes left", size);
    if (status == CUDA_SUCCESS && grant.wait) {
        mr_mark_hold(grant.wait);
        status = mr_stream_wait_mark(stream, grant.wait);
        if (status == CUDA_SUCCESS)
            mr_mark_drop(grant.wait);
        else
            mr_mempool_free(grant.address, (struct mr_fence){.mark = grant.wait}, NULL);
    }
    if (status == CUDA_SUCCESS)
        *out = grant.address;
    return status;
}

/* An allocation in a captured stream is a node of the graph; its address is known at once. */
__attribute__((cold)) static CUresult allocate_captured(CUdeviceptr *dptr, size_t size, struct mr_stream *stream)
{
    CUDA_MEM_ALLOC_NODE_PARAMS params = {.bytesize = size,
                                         .poolProps = {.allocType = CU_MEM_ALLOCATION_TYPE_PINNED,
                                                       .location = {.type = CU_MEM_LOCATION_TYPE_DEVICE,
                                                                    .id = mr_stream_context(stream)->device->ordinal}}};
    struct mr_work *work;
    struct mr_graph *graph = mr_capture_graph(stream);
    if (!graph)
        return CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
    struct mr_capture_info info;
    CUresult status = mr_capture_ask(stream, &info);
    if (status == CUDA_SUCCESS)
        status = mr_work_from_alloc(&params, graph, info.nodes, info.count, &work);
    if (status == CUDA_SUCCESS)
        status = mr_capture_add(stream, work);
    if (status == CUDA_SUCCESS)
        *dptr = params.dptr;
    return status;
}

static CUresult allocate(CUdeviceptr *dptr, size_t size, struct mr_mempool *pool, struct mr_stream *stream)
{
    if (!dptr)
        return mr_bad_value("the place for the address is null");
    bool captured;
    CUresult status = mr_capture_route(stream, &captured);
    if (status == CUDA_SUCCESS && !captured)
        status = mr_capture_permit();
    if (__builtin_expect(status != CUDA_SUCCESS, 0))
        return status;
    if (!size) {
        *dptr = 0;   /* nothing, which can be freed */
        return CUDA_SUCCESS;
    }
    if (captured)
        return allocate_captured(dptr, size, stream);
    mr_stream_keep_joins();
    return mr_mempool_take(stream, pool, size, dptr);
}

CUresult mr_cuMemAllocAsync(CUdeviceptr *dptr, size_t bytesize, CUstream hStream)
{
    struct mr_stream *stream;
    CUresult status = mr_stream_resolve(hStream, &stream);
    if (status != CUDA_SUCCESS)
        return status;
    CUmemLocation location = {.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = mr_stream_context(stream)->device->ordinal};
    struct mr_mempool *pool = mr_mempool_current(&location, CU_MEM_ALLOCATION_TYPE_PINNED);
    return pool ? allocate(dptr, bytesize, pool, stream) : CUDA_ERROR_OUT_OF_MEMORY;
}

CUresult mr_cuMemAllocFromPoolAsync(CUdeviceptr *dptr, size_t bytesize, CUmemoryPool pool, CUstream hStream)
{
    struct mr_stream *stream;
    struct mr_mempool *found;
    CUresult status = mr_mempool_require(pool, &found);
    if (status == CUDA_SUCCESS)
        status = mr_stream_resolve(hStream, &stream);
    if (status != CUDA_SUCCESS)
        return status;
    if (mr_mempool_is_imported(found))
        return mr_bad_value("nothing can be allocated from an imported pool");
    return allocate(dptr, bytesize, found, stream);
}

/* ---- free ---- */

static CUresult free_pool_memory(CUdeviceptr address, struct mr_stream *stream)
{
    struct mr_fence fence;
    void *birth = NULL;
    CUresult status = mr_stream_fence(stream, &fence);
    if (status == CUDA_SUCCESS)
        status = mr_mempool_free((uintptr_t)address, fence, &birth);
    if (__builtin_expect(status != CUDA_ERROR_NOT_READY, 1))
        return status;
    status = mr_stream_wait_mark(stream, birth);
    if (status == CUDA_SUCCESS)
        status = mr_stream_fence(stream, &fence);
    return status == CUDA_SUCCESS ? mr_mempool_free((uintptr_t)address, fence, NULL) : status;
}

/* An allocation of cuMemAlloc on its way out. */
struct parting {
    uintptr_t base;
    uint64_t id;
};

static void part(void *data)
{
    struct parting *parting = data;
    mr_memory_release_parting(parting->base, parting->id);
    mr_free(parting);
}

static CUresult free_plain_memory(const struct mr_allocation *found, struct mr_stream *stream)
{
    struct parting *parting = mr_alloc(sizeof *parting);
    struct mr_command *command = parting ? mr_command_new(MR_COMMAND_RELEASE) : NULL;
    if (!command) {
        mr_free(parting);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    *parting = (struct parting){found->base, found->id};
    command->release.function = part;
    command->release.data = parting;
    if (!mr_memory_part(found->base, found->id)) {
        mr_command_free(command);
        mr_free(parting);
        return mr_bad_value("%#zx was freed by another thread", (size_t)found->base);
    }
    CUresult status = mr_stream_submit(stream, command);
    if (status != CUDA_SUCCESS)
        mr_memory_stay(found->base, found->id);
    return status;
}

/* In a captured stream, memory of an allocation node can be freed, once. */
__attribute__((cold)) static CUresult free_captured(CUdeviceptr address, struct mr_stream *stream)
{
    struct mr_work *work;
    struct mr_graph *graph = mr_capture_graph(stream);
    if (!address)
        return CUDA_SUCCESS;
    if (!graph)
        return CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
    CUresult status = mr_work_from_free(address, graph, &work);
    return status == CUDA_SUCCESS ? mr_capture_add(stream, work) : status;
}

CUresult mr_cuMemFreeAsync(CUdeviceptr dptr, CUstream hStream)
{
    struct mr_stream *stream;
    struct mr_allocation found;
    CUresult status = mr_stream_resolve(hStream, &stream);
    if (status != CUDA_SUCCESS)
        return status;
    bool captured;
    status = mr_capture_route(stream, &captured);
    if (__builtin_expect(status != CUDA_SUCCESS || captured, 0))
        return captured ? free_captured(dptr, stream) : status;
    status = mr_capture_permit();
    if (__builtin_expect(status != CUDA_SUCCESS, 0))
        return status;
    if (mr_mempool_is_address((uintptr_t)dptr)) {
        status = free_pool_memory(dptr, stream);
        return status == CUDA_ERROR_INVALID_VALUE
                   ? mr_bad_value("no allocation starts at %#llx", (unsigned long long)dptr)
                   : status;
    }
    if (!dptr)
        return CUDA_SUCCESS;
    if (!mr_memory_find((uintptr_t)dptr, &found) || found.base != dptr)
        return mr_bad_value("no allocation starts at %#llx", (unsigned long long)dptr);
    if (found.kind == MR_MEMORY_MANAGED) {
        mr_call_log(MR_LOG_INFO, "%#llx is managed memory, which cuMemFree frees", (unsigned long long)dptr);
        return CUDA_ERROR_NOT_SUPPORTED;
    }
    if (found.kind == MR_MEMORY_GRAPH)
        return mr_graph_memory_free_in(dptr, stream);
    if (found.kind != MR_MEMORY_DEVICE || found.imported)
        return mr_bad_value("%#llx is not memory of cuMemAlloc or of a pool", (unsigned long long)dptr);
    return free_plain_memory(&found, stream);
}

/* ---- free without a stream ---- */

struct waiting {
    const struct mr_device *device;
    CUresult status;
};

static void wait_for(void *object, void *data)
{
    struct mr_context *context = object;
    struct waiting *waiting = data;
    if (context->device != waiting->device || atomic_load_explicit(&context->destroyed, memory_order_relaxed))
        return;
    CUresult status = mr_context_synchronize(context);
    if (status != CUDA_SUCCESS && context == mr_context_current())
        waiting->status = status;
}

CUresult mr_mempool_free_now(CUdeviceptr address, const struct mr_allocation *found)
{
    struct waiting waiting = {found->device, CUDA_SUCCESS};
    mr_object_each(MR_KIND_CONTEXT, wait_for, &waiting);
    if (waiting.status != CUDA_SUCCESS)
        return waiting.status;
    CUresult status = mr_mempool_free((uintptr_t)address, (struct mr_fence){0}, NULL);
    return status == CUDA_ERROR_INVALID_VALUE
               ? mr_bad_value("no allocation starts at %#llx", (unsigned long long)address)
               : status;
}
