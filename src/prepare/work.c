/* SPDX-License-Identifier: Apache-2.0 */
/* Works of kernels, copies, fills, host functions and events; see work.h. Statuses are those that hardware gave
 * (tests/golden).
 *
 * A kernel's parameters are copied into a launch record at once, so what the program passed may go; what
 * cuGraphKernelNodeGetParams shows are pointers into that record. */
#include "prepare/work.h"

#include <string.h>

#include "base/alloc.h"
#include "base/call.h"
#include "command/parts.h"
#include "event/event.h"
#include "kernel/launch.h"
#include "module/module.h"
#include "object/context.h"
#include "prepare/box.h"
#include "prepare/check.h"
#include "prepare/launch_request.h"

CUresult mr_graph_require(CUgraph handle, struct mr_graph **out)
{
    *out = mr_object_find(handle, MR_KIND_GRAPH);
    return *out ? CUDA_SUCCESS : mr_bad_value("%p is not a live graph", (void *)handle);
}

CUresult mr_node_require(CUgraphNode handle, struct mr_node **out)
{
    *out = mr_object_find(handle, MR_KIND_GRAPH_NODE);
    return *out ? CUDA_SUCCESS : mr_bad_value("%p is not a live node of a graph", (void *)handle);
}

CUresult mr_node_context(CUcontext handle, struct mr_context **out)
{
    *out = handle ? mr_object_borrow(handle, MR_KIND_CONTEXT) : NULL;
    if (!handle || *out)
        return CUDA_SUCCESS;
    mr_call_log(MR_LOG_INFO, "%p is not a live context", (void *)handle);
    return CUDA_ERROR_CONTEXT_IS_DESTROYED;
}

/* ---- kernels ---- */

/* Pointers to the parameters inside the launch, as the program gets to see them. */
static bool point_at_params(struct mr_work *work, const struct mr_entry *info)
{
    work->kernel.pointers = mr_calloc(info->param_count + 1, sizeof *work->kernel.pointers);
    if (!work->kernel.pointers)
        return false;
    for (size_t i = 0; i < info->param_count; i++)
        work->kernel.pointers[i] = work->kernel.launch->params + info->params[i].offset;
    work->kernel.params.kernelParams = info->param_count ? work->kernel.pointers : NULL;
    return true;
}

/* The buffer form, for a program that passed its parameters in that: the keys, and the size in the last place. */
static bool point_at_buffer(struct mr_work *work)
{
    enum { PLACES = 6 };
    struct mr_launch *launch = work->kernel.launch;
    void **extra = mr_calloc(PLACES, sizeof *extra);
    if (!extra)
        return false;
    memcpy(&extra[PLACES - 1], &launch->param_bytes, sizeof launch->param_bytes);
    extra[0] = CU_LAUNCH_PARAM_BUFFER_POINTER;
    extra[1] = launch->params;
    extra[2] = CU_LAUNCH_PARAM_BUFFER_SIZE;
    extra[3] = &extra[PLACES - 1];
    extra[4] = CU_LAUNCH_PARAM_END;
    work->kernel.extra = extra;
    work->kernel.params.extra = extra;
    work->kernel.params.kernelParams = NULL;
    return true;
}

/* A copy of a kernel's work with the same parameters, and no attributes yet; NULL when memory is short. */
struct mr_work *mr_work_copy_kernel(const struct mr_work *from)
{
    size_t count = 0;
    struct mr_work *work = mr_work_new(CU_GRAPH_NODE_TYPE_KERNEL, from->context);
    if (!work)
        return NULL;
    while (from->kernel.pointers[count])
        count++;
    work->kernel.params = from->kernel.params;
    work->kernel.launch = mr_launch_copy(from->kernel.launch);
    work->kernel.pointers = mr_calloc(count + 1, sizeof *work->kernel.pointers);
    if (!work->kernel.launch || !work->kernel.pointers) {
        mr_work_drop(work);
        return NULL;
    }
    for (size_t i = 0; i < count; i++)
        work->kernel.pointers[i] =
            work->kernel.launch->params + ((unsigned char *)from->kernel.pointers[i] - from->kernel.launch->params);
    work->kernel.params.kernelParams = count ? work->kernel.pointers : NULL;
    if (from->kernel.extra && !point_at_buffer(work)) {
        mr_work_drop(work);
        return NULL;
    }
    return work;
}

bool mr_work_copy_attributes(struct mr_work *to, const struct mr_work *from)
{
    to->kernel.attributes = mr_calloc(from->kernel.attribute_count + 1, sizeof *to->kernel.attributes);
    if (!to->kernel.attributes)
        return false;
    if (from->kernel.attribute_count)
        memcpy(to->kernel.attributes, from->kernel.attributes,
               from->kernel.attribute_count * sizeof *to->kernel.attributes);
    to->kernel.attribute_count = from->kernel.attribute_count;
    return true;
}

/* Makes the work of a launch that was checked, which it takes over, also on failure. `buffer`: the program gave its
 * parameters in one. */
static CUresult work_of_launch(struct mr_launch *launch, const struct mr_entry *info, CUfunction function,
                               CUkernel kernel, bool buffer, struct mr_work **out)
{
    struct mr_work *work = mr_work_new(CU_GRAPH_NODE_TYPE_KERNEL, launch->context);
    if (!work) {
        mr_launch_free(launch);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    work->kernel.launch = launch;
    work->kernel.params = (CUDA_KERNEL_NODE_PARAMS_v3){
        .func = function,
        .gridDimX = launch->grid[0],
        .gridDimY = launch->grid[1],
        .gridDimZ = launch->grid[2],
        .blockDimX = launch->block[0],
        .blockDimY = launch->block[1],
        .blockDimZ = launch->block[2],
        .sharedMemBytes = launch->dynamic_shared,
        .kern = kernel,
        .ctx = launch->context->handle,
    };
    if (!point_at_params(work, info) || (buffer && !point_at_buffer(work))) {
        mr_work_drop(work);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    *out = work;
    return CUDA_SUCCESS;
}

/* The function of a kernel in a context, and the other way round, so that a node shows both whichever it was made of.
 */
static CUresult resolve_kernel(CUfunction given, struct mr_context *context, CUfunction *function, CUkernel *kernel)
{
    struct mr_kernel *found = mr_object_borrow(given, MR_KIND_KERNEL);
    struct mr_function *made = mr_object_find(given, MR_KIND_FUNCTION);
    if (found) {
        CUresult status = mr_kernel_function_in(found, context, &made);
        if (status != CUDA_SUCCESS)
            return status;
        *kernel = (CUkernel)given;
    } else {
        *kernel = made && made->kernel ? mr_object_handle(made->kernel) : NULL;
    }
    *function = made ? mr_object_handle(made) : given;
    return CUDA_SUCCESS;
}

static CUresult prepare_work(const struct mr_launch_request *request, struct mr_context *context, struct mr_work **out)
{
    struct mr_launch *launch;
    const struct mr_entry *info;
    CUfunction function;
    CUkernel kernel;
    CUresult status = mr_launch_prepare(request, context, &launch, &info);
    if (status != CUDA_SUCCESS)
        return status;
    status = resolve_kernel(request->function, launch->context, &function, &kernel);
    if (status != CUDA_SUCCESS) {
        mr_launch_free(launch);
        return status;
    }
    return work_of_launch(launch, info, function, kernel, request->buffer != NULL, out);
}

CUresult mr_work_from_launch(const struct mr_launch_request *request, struct mr_context *context,
                             const CUlaunchAttribute *attributes, size_t attribute_count, struct mr_work **out)
{
    struct mr_work *work;
    CUresult status = prepare_work(request, context, &work);
    if (status != CUDA_SUCCESS)
        return status;
    if (attribute_count) {
        work->kernel.attributes = mr_memdup(attributes, attribute_count * sizeof *attributes);
        if (!work->kernel.attributes) {
            mr_work_drop(work);
            return CUDA_ERROR_OUT_OF_MEMORY;
        }
        work->kernel.attribute_count = attribute_count;
    }
    *out = work;
    return CUDA_SUCCESS;
}

CUDA_KERNEL_NODE_PARAMS_v3 mr_kernel_params_widen(const CUDA_KERNEL_NODE_PARAMS_v1 *params)
{
    CUDA_KERNEL_NODE_PARAMS_v3 wide = {0};
    memcpy(&wide, params, sizeof *params);
    return wide;
}

CUresult mr_work_from_kernel(const CUDA_KERNEL_NODE_PARAMS_v3 *params, struct mr_work **out)
{
    struct mr_context *context = NULL;
    struct mr_launch_request request = {
        .function = params->func ? params->func : (CUfunction)params->kern,
        .grid = {params->gridDimX, params->gridDimY, params->gridDimZ},
        .block = {params->blockDimX, params->blockDimY, params->blockDimZ},
        .shared = params->sharedMemBytes,
        .params = params->kernelParams,
    };
    if (!mr_object_find(request.function, params->func ? MR_KIND_FUNCTION : MR_KIND_KERNEL))
        return mr_bad_handle(params->func ? "function" : "kernel", request.function);
    CUresult status = params->func ? CUDA_SUCCESS : mr_node_context(params->ctx, &context);
    if (status == CUDA_SUCCESS)
        status = mr_launch_read_extra(&request, params->extra);
    return status == CUDA_SUCCESS ? prepare_work(&request, context, out) : status;
}

/* ---- copies and fills ---- */

/* The device whose rights to memory count: the context's, or that of the current one. */
static int device_of(const struct mr_context *context)
{
    const struct mr_context *known = context ? context : mr_context_current();
    return known ? known->device->ordinal : 0;
}

CUresult mr_work_from_sides(const struct mr_side *to, const struct mr_side *from, size_t width, size_t height,
                            size_t depth, struct mr_context *context, struct mr_work **out)
{
    static const CUmemorytype types[] = {[MR_SIDE_HOST] = CU_MEMORYTYPE_HOST,
                                         [MR_SIDE_DEVICE] = CU_MEMORYTYPE_DEVICE,
                                         [MR_SIDE_UNIFIED] = CU_MEMORYTYPE_UNIFIED};
    struct mr_place places[2];
    struct mr_copy box;
    if (!width || !height || !depth)
        return mr_bad_value("a copy of nothing");
    CUresult status = mr_copy_prepare(device_of(context), to, from, width, height, depth, &places[0], &places[1], &box);
    if (status != CUDA_SUCCESS)
        return status;
    struct mr_work *work = mr_work_new(CU_GRAPH_NODE_TYPE_MEMCPY, context);
    if (!work)
        return CUDA_ERROR_OUT_OF_MEMORY;
    CUDA_MEMCPY3D *params = &work->copy.params;
    params->srcMemoryType = types[from->kind];
    params->srcHost = from->kind == MR_SIDE_HOST ? (void *)from->address : NULL;
    params->srcDevice = from->kind == MR_SIDE_HOST ? 0 : (CUdeviceptr)from->address;
    params->srcPitch = from->pitch;
    params->srcHeight = from->pitch ? from->slice / from->pitch : 0;
    params->dstMemoryType = types[to->kind];
    params->dstHost = to->kind == MR_SIDE_HOST ? (void *)to->address : NULL;
    params->dstDevice = to->kind == MR_SIDE_HOST ? 0 : (CUdeviceptr)to->address;
    params->dstPitch = to->pitch;
    params->dstHeight = to->pitch ? to->slice / to->pitch : 0;
    params->WidthInBytes = width;
    params->Height = height;
    params->Depth = depth;
    work->copy.box = box;
    *out = work;
    return CUDA_SUCCESS;
}

CUresult mr_work_from_copy(const CUDA_MEMCPY3D *params, struct mr_context *context, struct mr_work **out)
{
    struct mr_side to, from;
    struct mr_place places[2];
    struct mr_copy box;
    if (!params->WidthInBytes || !params->Height || !params->Depth)
        return mr_bad_value("a copy can't have %zu x %zu x %zu bytes", params->WidthInBytes, params->Height,
                            params->Depth);
    if ((params->srcMemoryType == CU_MEMORYTYPE_ARRAY && !params->srcArray) ||
        (params->dstMemoryType == CU_MEMORYTYPE_ARRAY && !params->dstArray))
        return mr_bad_value("an array is NULL");
    CUresult status = mr_box_sides(params, &to, &from);
    if (status == CUDA_SUCCESS)
        status = mr_copy_prepare(device_of(context), &to, &from, params->WidthInBytes, params->Height, params->Depth,
                                 &places[0], &places[1], &box);
    if (status != CUDA_SUCCESS)
        return status;
    struct mr_work *work = mr_work_new(CU_GRAPH_NODE_TYPE_MEMCPY, context);
    if (!work)
        return CUDA_ERROR_OUT_OF_MEMORY;
    work->copy.params = *params;
    work->copy.box = box;
    *out = work;
    return CUDA_SUCCESS;
}

CUresult mr_work_from_fill(const CUDA_MEMSET_NODE_PARAMS *params, struct mr_context *context, struct mr_work **out)
{
    struct mr_place place;
    struct mr_fill rows;
    unsigned element = params->elementSize;
    if (element != 1 && element != 2 && element != 4)
        return mr_bad_value("elements of %u bytes; 1, 2 and 4 are possible", element);
    if (!params->width || !params->height)
        return mr_bad_value("a fill can't have %zu x %zu elements", params->width, params->height);
    CUresult status = mr_fill_prepare(device_of(context), params->dst, params->pitch, params->value, element,
                                      params->width, params->height, &place, &rows);
    if (status != CUDA_SUCCESS)
        return status;
    struct mr_work *work = mr_work_new(CU_GRAPH_NODE_TYPE_MEMSET, context);
    if (!work)
        return CUDA_ERROR_OUT_OF_MEMORY;
    work->fill.params = *params;
    work->fill.rows = rows;
    *out = work;
    return CUDA_SUCCESS;
}

/* ---- host functions, nothing, events ---- */

CUresult mr_work_from_host(CUhostFn function, void *data, struct mr_work **out)
{
    if (!function)
        return mr_bad_value("the function is NULL");
    struct mr_work *work = mr_work_new(CU_GRAPH_NODE_TYPE_HOST, NULL);
    if (!work)
        return CUDA_ERROR_OUT_OF_MEMORY;
    work->host.function = function;
    work->host.data = data;
    *out = work;
    return CUDA_SUCCESS;
}

CUresult mr_work_from_parts(struct mr_parts *parts, struct mr_work **out)
{
    struct mr_work *work;
    CUresult status = mr_work_from_host(mr_parts_run_all, parts, &work);
    if (status != CUDA_SUCCESS) {
        mr_parts_drop(parts);
        return status;
    }
    work->host.parts = parts;
    *out = work;
    return CUDA_SUCCESS;
}

CUresult mr_work_empty(struct mr_work **out)
{
    struct mr_work *work = mr_work_new(CU_GRAPH_NODE_TYPE_EMPTY, NULL);
    if (!work)
        return CUDA_ERROR_OUT_OF_MEMORY;
    *out = work;
    return CUDA_SUCCESS;
}

CUresult mr_work_from_event(CUgraphNodeType type, CUevent handle, struct mr_work **out)
{
    struct mr_event *event = mr_object_acquire(handle, MR_KIND_EVENT);
    if (!event)
        return mr_bad_value("%p is not a live event", (void *)handle);
    struct mr_work *work = mr_work_new(type, event->context);
    if (!work) {
        mr_object_drop(event);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    work->event = event;
    work->event_handle = handle;
    *out = work;
    return CUDA_SUCCESS;
}
