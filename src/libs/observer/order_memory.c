/* SPDX-License-Identifier: Apache-2.0 */
/* Memory that comes and goes (order_call.h): allocations begin generations, frees end them (generation.h).
 *
 * What a synchronous call allocates is there for all that the host asks for after its return. Stream-ordered memory is
 * there for what comes after its allocation in the stream, and goes with the free in its stream. A synchronous free of
 * stream-ordered memory waits for nothing. One of other memory waits for the context's work on hardware, which no
 * manual promises: it is an edge by luck. */
#include "libs/observer/mappings.h"
#include "libs/observer/order_call.h"
#include "libs/observer/shares.h"

/* The host's operation of a call: it has been done when the call returns. */
static struct obs_operation *by_host(struct obs_call *call, enum mr_side_what what, uint64_t base, size_t size)
{
    obs_order_lock();
    struct obs_operation *operation = obs_order_host(call->stamp);
    if (operation) {
        operation->side = call->side;
        operation->side.what = what;
        obs_order_returns(operation);
    }
    obs_flags_forget(base, size);
    obs_order_unlock();
    return operation;
}

static void made_by_host(struct obs_call *call, enum mr_allocation_kind kind, uint64_t base, size_t size)
{
    struct obs_operation *operation = base && size ? by_host(call, MR_SIDE_ALLOCATION, base, size) : NULL;
    if (!operation)
        return;
    obs_generation_made(operation, kind, (uintptr_t)base, size);
    obs_operation_drop(operation);
}

/* `to` of the family is where the pointer goes, `size` its size; `number` the kind of memory. */
void obs_allocate_leave(struct obs_call *call)
{
    const struct obs_family *family = call->family;
    made_by_host(call, (enum mr_allocation_kind)family->number, *(const uint64_t *)obs_param_handle(call, family->to),
                 (size_t)obs_param_handle(call, family->size));
}

void obs_allocate_pitch_leave(struct obs_call *call)
{
    const struct mr_params_cuMemAllocPitch_v2 *params = call->call->params;
    made_by_host(call, MR_ALLOCATION_DEVICE, *params->dptr, *params->pPitch * params->Height);
}

/* `to` is where the handle goes; `number` 1: a mipmapped array. */
void obs_array_made_leave(struct obs_call *call)
{
    uint64_t handle = *(const uint64_t *)obs_param_handle(call, call->family->to);
    uintptr_t base;
    size_t size;
    if (obs_driver.driver->array(handle, call->family->number != 0, &base, &size))
        made_by_host(call, MR_ALLOCATION_ARRAY, base, size);
}

/* `to` is the address itself. */
void obs_register_leave(struct obs_call *call)
{
    const struct obs_family *family = call->family;
    made_by_host(call, (enum mr_allocation_kind)family->number, obs_param_handle(call, family->to),
                 (size_t)obs_param_handle(call, family->size));
}

void obs_import_leave(struct obs_call *call)
{
    CUdeviceptr pointer = *(const CUdeviceptr *)obs_param_handle(call, call->family->to), base;
    size_t size;
    obs_order_lock();
    bool first = obs_import_opened(pointer);
    obs_order_unlock();
    if (first && obs_driver.address_range(&base, &size, pointer) == CUDA_SUCCESS)
        made_by_host(call, (enum mr_allocation_kind)call->family->number, base, size);
}

void obs_pointer_exported_leave(struct obs_call *call)
{
    const struct mr_params_cuMemPoolExportPointer *params = call->call->params;
    obs_share_exported(params->shareData_out, (uintptr_t)params->ptr);
}

void obs_pointer_imported_leave(struct obs_call *call)
{
    const struct mr_params_cuMemPoolImportPointer *params = call->call->params;
    CUdeviceptr base;
    size_t size;
    if (obs_driver.address_range(&base, &size, *params->ptr_out) != CUDA_SUCCESS)
        return;
    struct obs_operation *operation = by_host(call, MR_SIDE_ALLOCATION, base, size);
    if (!operation)
        return;
    if (!obs_share_imported(operation, params->shareData, (uintptr_t)base, size))
        obs_generation_made(operation, MR_ALLOCATION_IMPORTED, (uintptr_t)base, size);
    obs_operation_drop(operation);
}

/* A module's variable is told of when the program asks where it is, and has been there for longer: kernels that were
 * launched before may still use it. */
void obs_global_leave(struct obs_call *call)
{
    const CUdeviceptr *pointer = (const CUdeviceptr *)obs_param_handle(call, call->family->to);
    const size_t *size = (const size_t *)obs_param_handle(call, call->family->size);
    size_t bytes;
    CUdeviceptr base;
    if (!pointer || !*pointer)
        return;
    if (size)
        bytes = *size;
    else if (obs_driver.address_range(&base, &bytes, *pointer) != CUDA_SUCCESS)
        return;
    struct obs_operation *operation = bytes ? by_host(call, MR_SIDE_ALLOCATION, *pointer, bytes) : NULL;
    if (!operation)
        return;
    operation->side.number = 0;
    obs_generation_fill(operation, MR_ALLOCATION_MODULE, (uintptr_t)*pointer, bytes);
    obs_operation_drop(operation);
}

static struct obs_operation *in_stream(struct obs_call *call, enum mr_side_what what, uint64_t base, size_t size)
{
    obs_order_lock();
    struct obs_stream *stream = obs_call_stream(call);
    struct obs_operation *operation = NULL;
    if (stream)
        operation = what == MR_SIDE_FREE ? obs_order_free(stream, call->stamp)
                                         : obs_order_work(stream, call->stamp, false, NULL);
    if (operation) {
        operation->side = call->side;
        operation->side.what = what;
        operation->side.behind = stream->last_call;
        operation->side.behind_thread = stream->last_thread;
        operation->side.stream = stream->id;
        operation->side.stream_kind = stream->kind;
    }
    obs_flags_forget(base, size);
    obs_order_unlock();
    return operation;
}

void obs_allocate_async_leave(struct obs_call *call)
{
    const struct obs_family *family = call->family;
    uint64_t base = *(const uint64_t *)obs_param_handle(call, family->to);
    size_t size = (size_t)obs_param_handle(call, family->size);
    if (call->captured || !base || !size)
        return;
    struct obs_operation *operation = in_stream(call, MR_SIDE_ALLOCATION, base, size);
    if (!operation)
        return;
    obs_generation_made(operation, MR_ALLOCATION_POOL, (uintptr_t)base, size);
    obs_operation_drop(operation);
}

static void ends(struct obs_call *call, uint64_t base)
{
    if (call->operation && !obs_generation_ended(call->operation, (uintptr_t)base))
        call->view.base = 0;
}

/* Does this call end what begins at `base`? Fills in the call's view of it. */
static bool goes(struct obs_call *call, uint64_t base)
{
    if (!obs_generation_at((uintptr_t)base, UINT64_MAX, &call->view) || call->view.base != base)
        return false;
    if (call->view.kind == MR_ALLOCATION_POOL && atomic_load_explicit(&obs_share_exports, memory_order_relaxed) > 0)
        obs_share_freed((uintptr_t)base);
    if (call->view.kind != MR_ALLOCATION_IMPORTED || call->view.target)
        return true;
    obs_order_lock();
    bool last = obs_import_closed(base);
    obs_order_unlock();
    return last;
}

void obs_free_async_enter(struct obs_call *call)
{
    uint64_t base = obs_param_handle(call, call->family->to);
    if (call->captured || !goes(call, base))
        return;
    call->operation = in_stream(call, MR_SIDE_FREE, base, call->view.size);
    ends(call, base);
}

/* What begins at `base` goes, by a call that perhaps waits for the context's work. */
static void goes_now(struct obs_call *call, uint64_t base, bool waits)
{
    if (!goes(call, base))
        return;
    obs_order_lock();
    struct obs_context *context = call->call->context ? obs_context_find(call->call->context, false) : NULL;
    call->operation = waits ? obs_order_host_after(context, call->stamp) : obs_order_host(call->stamp);
    if (call->operation) {
        call->operation->side = call->side;
        call->operation->side.what = MR_SIDE_FREE;
    }
    if (waits && context)
        obs_order_of_context(context, &call->point);
    obs_order_unlock();
    ends(call, base);
}

void obs_free_enter(struct obs_call *call)
{
    uint64_t base = obs_param_handle(call, call->family->to);
    struct obs_generation_view view;
    bool in_pool = obs_generation_at((uintptr_t)base, UINT64_MAX, &view) && view.kind == MR_ALLOCATION_POOL;
    goes_now(call, base, call->family->number && !in_pool);
}

/* `to` is the handle; `number` 1: of a mipmapped array. */
void obs_array_free_enter(struct obs_call *call)
{
    uintptr_t base;
    size_t size;
    if (obs_driver.driver->array(obs_param_handle(call, call->family->to), call->family->number != 0, &base, &size))
        goes_now(call, base, true);
}

/* The view of a call that frees nothing is zero. */
static void known_free(struct obs_call *call)
{
    if (!call->operation)
        return;
    obs_order_lock();
    if (call->operation->host)
        obs_order_returns(call->operation);
    obs_order_known(&call->point, OBS_EDGES_ALL);
    obs_order_unlock();
}

void obs_free_leave(struct obs_call *call)
{
    known_free(call);
    if (call->operation && call->view.base && call->view.kind == MR_ALLOCATION_IMPORTED && call->view.target)
        obs_share_closed(call->view.target);
}

/* The memory is there after all, and is still what made it. */
void obs_free_failed(struct obs_call *call)
{
    if (!call->operation)
        return;
    known_free(call);
    if (!call->view.base)
        return;
    struct obs_operation *made = by_host(call, MR_SIDE_ALLOCATION, call->view.base, call->view.size);
    if (made && call->view.made.call)
        made->side = call->view.made;
    if (made && call->view.target)
        obs_generation_alias(made, call->view.kind, call->view.base, call->view.size, call->view.target);
    else if (made)
        obs_generation_made(made, call->view.kind, call->view.base, call->view.size);
    obs_operation_drop(made);
}

/* Memory that is made first and mapped later. `size` of the family is 0 where the call doesn't say how large it is. */
void obs_memory_made_leave(struct obs_call *call)
{
    const struct obs_family *family = call->family;
    uint64_t handle = *(const uint64_t *)obs_param_handle(call, family->to);
    struct obs_operation *operation = by_host(call, MR_SIDE_ALLOCATION, 0, 0);
    if (!operation)
        return;
    obs_mapping_created(operation, handle, family->size ? (size_t)obs_param_handle(call, family->size) : 0);
    obs_operation_drop(operation);
}

void obs_memory_exported_leave(struct obs_call *call)
{
    const struct mr_params_cuMemExportToShareableHandle *params = call->call->params;
    if (params->handleType == CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR)
        obs_mapping_exported(params->handle, *(const int *)params->shareableHandle);
}

void obs_memory_imported_leave(struct obs_call *call)
{
    const struct mr_params_cuMemImportFromShareableHandle *params = call->call->params;
    bool is_file = params->shHandleType == CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
    struct obs_operation *operation = by_host(call, MR_SIDE_ALLOCATION, 0, 0);
    if (!operation)
        return;
    obs_mapping_imported(operation, *params->handle, is_file ? (int)(intptr_t)params->osHandle : -1);
    obs_operation_drop(operation);
}

void obs_memory_released_leave(struct obs_call *call)
{
    obs_mapping_released(obs_param_handle(call, call->family->object));
}

void obs_map_leave(struct obs_call *call)
{
    const struct mr_params_cuMemMap *params = call->call->params;
    struct obs_operation *operation = by_host(call, MR_SIDE_ALLOCATION, params->ptr, params->size);
    if (!operation)
        return;
    obs_mapping_mapped(operation, params->handle, (uintptr_t)params->ptr, params->size, params->offset);
    obs_operation_drop(operation);
}

/* At enter, before the addresses can be another's. */
void obs_unmap_enter(struct obs_call *call)
{
    const struct mr_params_cuMemUnmap *params = call->call->params;
    obs_order_lock();
    call->operation = obs_order_host(call->stamp);
    if (call->operation) {
        call->operation->side = call->side;
        call->operation->side.what = MR_SIDE_FREE;
    }
    obs_order_unlock();
    if (call->operation)
        obs_mapping_unmapped(call->operation, (uintptr_t)params->ptr, params->size);
}
