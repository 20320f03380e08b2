/* SPDX-License-Identifier: Apache-2.0 */
/* What can be wrong with a launch, in the order in which hardware reports it, and the record of one that is right.
 * Nothing here takes a lock: handles are looked up without one, machine code comes from a table of the program, and the
 * launch record, which holds a copy of the parameters, from a per-thread cache. */
#include "prepare/launch_request.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/call.h"
#include "base/demangle.h"
#include "base/hot.h"
#include "compile/compile.h"
#include "kernel/launch_shape.h"
#include "module/module.h"
#include "object/context.h"
#include "prepare/check.h"
#include "prepare/function.h"
#include "prepare/resident.h"

/* A launch that fails is told of by default: few programs look at what a launch answers. */
__attribute__((cold, format(printf, 3, 4))) static CUresult refuse(const struct mr_entry *info, CUresult status,
                                                                   const char *format, ...)
{
    char kernel[512], why[512];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(why, sizeof why, format, arguments);
    va_end(arguments);
    mr_demangle(info->name, kernel, sizeof kernel);
    mr_call_log(MR_LOG_WARN, "kernel '%s' is not launched: %s", kernel, why);
    return status;
}

/* Why a shape is wrong, for the log; the status is the same for all of them. */
__attribute__((cold)) static CUresult refuse_shape(const struct mr_launch_request *request, const struct mr_entry *info)
{
    const unsigned *grid = request->grid, *block = request->block;
    if (info->launch_threads == 0)
        return refuse(info, CUDA_ERROR_INVALID_VALUE,
                      "%zu bytes of local memory for each thread are more than a thread can have", info->local_bytes);
    return refuse(
        info, CUDA_ERROR_INVALID_VALUE,
        "a grid of %ux%ux%u blocks of %ux%ux%u threads; a block has 1 to %u threads (x to %u, y to %u, z to %u)%s, "
        "a grid 1 to %ux%ux%u blocks",
        grid[0], grid[1], grid[2], block[0], block[1], block[2], info->max_threads, MR_MAX_BLOCK_X, MR_MAX_BLOCK_Y,
        MR_MAX_BLOCK_Z, info->required[0] ? ", the shape that its .reqntid states" : "", MR_MAX_GRID_X, MR_MAX_GRID_Y,
        MR_MAX_GRID_Z);
}

/* Parameters in one buffer. A C struct may be padded at its end. Hardware takes a buffer that is too short, if not
 * empty, and one that is too long exhausts its resources. What is missing is zero here. */
static CUresult copy_buffer(const struct mr_launch_request *request, const struct mr_entry *info, unsigned char *to)
{
    size_t size = request->buffer_size;
    if (!request->buffer || size == 0)
        return refuse(info, CUDA_ERROR_INVALID_VALUE, "it takes %zu bytes of parameters, and none were passed",
                      info->param_bytes);
    if (size > ((info->param_bytes + 7) & ~(size_t)7))
        return refuse(info, CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES, "it takes %zu bytes of parameters, and %zu were passed",
                      info->param_bytes, size);
    if (size != info->param_bytes)
        mr_call_log(MR_LOG_INFO, "kernel '%s' takes %zu bytes of parameters, and %zu were passed", info->name,
                    info->param_bytes, size);
    memcpy(to, request->buffer, size < info->param_bytes ? size : info->param_bytes);
    return CUDA_SUCCESS;
}

/* Copies the parameters into the launch from whichever form they came in. */
static CUresult copy_params(const struct mr_launch_request *request, const struct mr_entry *info, unsigned char *to)
{
    if (info->param_count == 0)
        return CUDA_SUCCESS;
    if (request->params) {
        for (size_t i = 0; i < info->param_count; i++) {
            const struct mr_param *param = &info->params[i];
            const void *from = request->params[i];
            if (__builtin_expect(!from, 0))
                return refuse(info, CUDA_ERROR_INVALID_VALUE, "the pointer to parameter %zu is NULL", i);
            /* Sizes that are nearly all there is, as single moves. */
            if (param->size == 8)
                memcpy(to + param->offset, from, 8);
            else if (param->size == 4)
                memcpy(to + param->offset, from, 4);
            else
                memcpy(to + param->offset, from, param->size);
        }
        return CUDA_SUCCESS;
    }
    return copy_buffer(request, info, to);
}

/* Checks the request against the function and fills in the launch, which has the module already. */
static CUresult prepare(const struct mr_launch_request *request, struct mr_function *function, struct mr_launch *launch)
{
    const struct mr_entry *info = function->info;
    if (__builtin_expect(!mr_launch_shape_is_valid(request->grid, request->block, info), 0))
        return refuse_shape(request, info);
    if (__builtin_expect(request->cooperative, 0)) {
        CUresult fits = mr_cooperative_check(function, request->grid, request->block, request->shared);
        if (fits != CUDA_SUCCESS)
            return fits;
        launch->cooperative = true;
    }
    unsigned limit = mr_function_dynamic_limit(info, &function->settings);
    if (__builtin_expect(request->shared > limit, 0))
        return refuse(info, CUDA_ERROR_INVALID_VALUE,
                      "%u bytes of dynamic shared memory; %u are allowed beside %zu static ones%s", request->shared,
                      limit, info->static_shared,
                      limit < 48u << 10 ? "; CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES can raise that" : "");
    CUresult status = copy_params(request, info, launch->params);
    if (status != CUDA_SUCCESS)
        return status;
    status = mr_program_code(launch->module->program, function->entry, request->block, &launch->code);
    if (__builtin_expect(status != CUDA_SUCCESS, 0))
        return refuse(info, status, "no machine code could be made: status %d", (int)status);
    mr_launch_set_shape(launch, info, request->grid, request->block, request->shared);
    return CUDA_SUCCESS;
}

/* The context of a launch that names no stream which has one: the function's own, or the current one for a kernel of a
 * library. */
static CUresult own_context(const struct mr_launch_request *request, struct mr_context **out)
{
    struct mr_function *function = mr_object_find(request->function, MR_KIND_FUNCTION);
    struct mr_module *module = function ? mr_function_hold(function) : NULL;
    if (!module)
        return mr_context_require(out);
    *out = module->context;
    mr_object_drop(module);
    return CUDA_SUCCESS;
}

MR_HOT CUresult mr_launch_prepare(const struct mr_launch_request *request, struct mr_context *context,
                                  struct mr_launch **out, const struct mr_entry **info)
{
    struct mr_function *function;
    CUresult status = context ? CUDA_SUCCESS : own_context(request, &context);
    if (__builtin_expect(status != CUDA_SUCCESS, 0))
        return status;
    status = mr_function_find(request->function, context, &function);
    if (status != CUDA_SUCCESS)
        return status;
    struct mr_module *module = mr_function_hold(function);
    if (!module)
        return mr_bad_handle("function", request->function);
    if (module->context != context) {
        mr_object_drop(module);
        mr_call_log(MR_LOG_INFO, "function and stream belong to different contexts");
        return CUDA_ERROR_INVALID_HANDLE;
    }
    struct mr_launch *launch = mr_launch_new(function->info->param_bytes);
    if (!launch) {
        mr_object_drop(module);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    launch->module = module;
    launch->context = context;
    status = prepare(request, function, launch);
    if (status != CUDA_SUCCESS) {
        mr_launch_free(launch);
        return status;
    }
    *out = launch;
    *info = function->info;
    return CUDA_SUCCESS;
}

CUresult mr_launch_read_extra(struct mr_launch_request *request, void **extra)
{
    if (!extra)
        return CUDA_SUCCESS;
    if (request->params)
        return mr_bad_value("kernelParams and extra exclude each other");
    for (; extra[0] != CU_LAUNCH_PARAM_END; extra += 2) {
        if (extra[0] == CU_LAUNCH_PARAM_BUFFER_POINTER)
            request->buffer = extra[1];
        else if (extra[0] == CU_LAUNCH_PARAM_BUFFER_SIZE && extra[1])
            request->buffer_size = *(const size_t *)extra[1];
        else
            return mr_bad_value("the array extra has the unknown key %p", extra[0]);
    }
    return CUDA_SUCCESS;
}

bool mr_launch_fits(const struct mr_launch_request *request, struct mr_function *function)
{
    return mr_launch_shape_is_valid(request->grid, request->block, function->info) &&
           request->shared <= mr_function_dynamic_limit(function->info, &function->settings);
}

bool mr_attributes_cooperative(const CUlaunchAttribute *attributes, size_t count)
{
    bool cooperative = false;
    for (size_t i = 0; i < count; i++)
        if (attributes[i].id == CU_LAUNCH_ATTRIBUTE_COOPERATIVE)
            cooperative = attributes[i].value.cooperative != 0;
    return cooperative;
}

static bool is_one_block(unsigned x, unsigned y, unsigned z)
{
    return x <= 1 && y <= 1 && z <= 1;
}

__attribute__((cold)) static CUresult refuse_attribute(int id, const char *what)
{
    mr_call_log(MR_LOG_INFO, "%s (attribute %d)", what, id);
    return CUDA_ERROR_NOT_SUPPORTED;
}

/* Attributes that permit something (overlap with the kernel before, a cache window, a domain for fences) or state a
 * preference are met by doing the ordinary thing. Those that demand something are refused unless they demand the
 * ordinary thing. */
CUresult mr_launch_attribute_check(const CUlaunchAttribute *attribute)
{
    const CUlaunchAttributeValue *value = &attribute->value;
    switch ((int)attribute->id) {
    case CU_LAUNCH_ATTRIBUTE_IGNORE:
    case CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW:
    case CU_LAUNCH_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE:
    case CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION:
    case CU_LAUNCH_ATTRIBUTE_PRIORITY:
    case CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP:
    case CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN:
    case CU_LAUNCH_ATTRIBUTE_PREFERRED_CLUSTER_DIMENSION:
    case CU_LAUNCH_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT:
    case CU_LAUNCH_ATTRIBUTE_COOPERATIVE:
    case CU_LAUNCH_ATTRIBUTE_NVLINK_UTIL_CENTRIC_SCHEDULING:
        return CUDA_SUCCESS;
    case CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION:
        return is_one_block(value->clusterDim.x, value->clusterDim.y, value->clusterDim.z)
                   ? CUDA_SUCCESS
                   : refuse_attribute(attribute->id, "clusters of blocks are not supported");
    case CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_EVENT:
    case CU_LAUNCH_ATTRIBUTE_LAUNCH_COMPLETION_EVENT:
        return refuse_attribute(attribute->id, "a node's launch records no event; add a node that does");
    case CU_LAUNCH_ATTRIBUTE_DEVICE_UPDATABLE_KERNEL_NODE:
        return value->deviceUpdatableKernelNode.deviceUpdatable
                   ? refuse_attribute(attribute->id, "device-updatable nodes are not supported")
                   : CUDA_SUCCESS;
    default:
        return mr_bad_value("a launch has no attribute %d", (int)attribute->id);
    }
}
