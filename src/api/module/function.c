/* SPDX-License-Identifier: Apache-2.0 */
/* Functions (driver API manual, Execution Control): attributes, names, parameters. Launches are in execution.c. */
#include "api_impl.h"

#include "api/module/function.h"
#include "base/call.h"
#include "prepare/check.h"
#include "prepare/function.h"

static CUresult find(CUfunction handle, struct mr_function **out)
{
    *out = mr_object_find(handle, MR_KIND_FUNCTION);
    return *out && mr_function_hold(*out) ? CUDA_SUCCESS : mr_bad_handle("function", handle);
}

CUresult mr_function_require(CUfunction handle, struct mr_function **out)
{
    struct mr_context *context;
    CUresult status = mr_context_require(&context);
    return status == CUDA_SUCCESS ? find(handle, out) : status;
}

/* The same for what is known of the function itself: a thread without a context may ask. */
static CUresult require_known(CUfunction handle, struct mr_function **out)
{
    return mr_context_current() ? mr_function_require(handle, out) : find(handle, out);
}

CUresult mr_function_attribute_get(const struct mr_entry *info, struct mr_function_settings *settings,
                                   CUfunction_attribute attribute, int *value)
{
    switch ((int)attribute) {
    case CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK:
        /* A .reqntid binds launches, but hardware does not show it here: what the registers leave room for. */
        *value = (int)info->max_threads;
        break;
    case CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES:
        *value = (int)info->static_shared;
        break;
    case CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES:
        *value = (int)info->constant_bytes;
        break;
    case CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES:
        *value = (int)info->local_bytes;
        break;
    case CU_FUNC_ATTRIBUTE_NUM_REGS:
        *value = (int)info->registers;
        break;
    case CU_FUNC_ATTRIBUTE_PTX_VERSION:
        *value = (int)info->ptx_version;
        break;
    case CU_FUNC_ATTRIBUTE_BINARY_VERSION:
        *value = (int)info->binary_version;
        break;
    case CU_FUNC_ATTRIBUTE_CACHE_MODE_CA:
        *value = 0;
        break;
    case CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES:
        *value = (int)mr_function_dynamic_limit(info, settings);
        break;
    case CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT:
        *value = settings->carveout;
        break;
    case CU_FUNC_ATTRIBUTE_CLUSTER_SIZE_MUST_BE_SET:
    case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH:
    case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_HEIGHT:
    case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_DEPTH:
        *value = 0;
        break;
    case CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED:
        *value = settings->non_portable_cluster;
        break;
    case CU_FUNC_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE:
        *value = settings->cluster_policy;
        break;
    default:
        return mr_bad_value("functions have no attribute %d", (int)attribute);
    }
    return CUDA_SUCCESS;
}

CUresult mr_function_attribute_set(const struct mr_entry *info, struct mr_function_settings *settings,
                                   const struct mr_device *device, CUfunction_attribute attribute, int value)
{
    switch ((int)attribute) {
    case CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES:
        if (value < 0 || (size_t)value + info->static_shared > device->capability->shared_optin)
            return mr_bad_value("%d bytes of dynamic and %zu of static shared memory; a block can have %u", value,
                                info->static_shared, device->capability->shared_optin);
        settings->dynamic_shared = value;
        break;
    case CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT:
        if (value < CU_SHAREDMEM_CARVEOUT_DEFAULT || value > CU_SHAREDMEM_CARVEOUT_MAX_SHARED)
            return mr_bad_value("a carve-out of %d is not in -1 to 100", value);
        settings->carveout = value;
        break;
    case CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED:
        if (value != 0 && value != 1)
            return mr_bad_value("%d is neither 0 nor 1", value);
        settings->non_portable_cluster = value;
        break;
    case CU_FUNC_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE:
        if (value < CU_CLUSTER_SCHEDULING_POLICY_DEFAULT || value > CU_CLUSTER_SCHEDULING_POLICY_LOAD_BALANCING)
            return mr_bad_value("there is no cluster policy %d", value);
        settings->cluster_policy = value;
        break;
    case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH:
    case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_HEIGHT:
    case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_DEPTH:
        if (value != 0 && value != 1) {
            mr_call_log(MR_LOG_INFO, "clusters of blocks are not supported");
            return CUDA_ERROR_NOT_SUPPORTED;
        }
        break;
    default:
        return mr_bad_value("the attribute %d does not exist or cannot be set", (int)attribute);
    }
    return CUDA_SUCCESS;
}

CUresult mr_function_param(const struct mr_entry *info, size_t index, size_t *offset, size_t *size)
{
    if (!offset)
        return mr_bad_value("paramOffset is NULL");
    if (index >= info->param_count)
        return mr_bad_value("there is no parameter %zu among %zu", index, info->param_count);
    *offset = info->params[index].offset;
    if (size)
        *size = info->params[index].size;
    return CUDA_SUCCESS;
}

CUresult mr_cuFuncGetAttribute(int *pi, CUfunction_attribute attrib, CUfunction hfunc)
{
    struct mr_function *function;
    if (!pi)
        return mr_bad_value("pi is NULL");
    CUresult status = mr_function_require(hfunc, &function);
    if (status != CUDA_SUCCESS)
        return status;
    status = mr_function_attribute_get(function->info, &function->settings, attrib, pi);
    mr_object_drop(function->module);
    return status;
}

CUresult mr_cuFuncSetAttribute(CUfunction hfunc, CUfunction_attribute attrib, int value)
{
    struct mr_function *function;
    CUresult status = mr_function_require(hfunc, &function);
    if (status != CUDA_SUCCESS)
        return status;
    status = mr_function_attribute_set(function->info, &function->settings, function->module->context->device, attrib,
                                       value);
    mr_object_drop(function->module);
    return status;
}

CUresult mr_cuFuncSetCacheConfig(CUfunction hfunc, CUfunc_cache config)
{
    struct mr_function *function;
    CUresult status = mr_function_require(hfunc, &function);
    if (status != CUDA_SUCCESS)
        return status;
    if ((unsigned)config > CU_FUNC_CACHE_PREFER_EQUAL)
        status = mr_bad_value("there is no cache preference %d", (int)config);
    else
        function->settings.cache_config = (int)config;
    mr_object_drop(function->module);
    return status;
}

/* Banks are four bytes wide whatever is asked for, as on every device since capability 5.0. */
CUresult mr_cuFuncSetSharedMemConfig(CUfunction hfunc, CUsharedconfig config)
{
    struct mr_function *function;
    CUresult status = mr_function_require(hfunc, &function);
    if (status == CUDA_SUCCESS)
        mr_object_drop(function->module);
    if (status == CUDA_SUCCESS && (unsigned)config > CU_SHARED_MEM_CONFIG_EIGHT_BYTE_BANK_SIZE)
        return mr_bad_value("there is no bank size %d", (int)config);
    return status;
}

CUresult mr_cuFuncGetModule(CUmodule *hmod, CUfunction hfunc)
{
    struct mr_function *function;
    if (!hmod)
        return mr_bad_value("hmod is NULL");
    CUresult status = mr_function_require(hfunc, &function);
    if (status != CUDA_SUCCESS)
        return status;
    *hmod = function->module_handle;
    mr_object_drop(function->module);
    return CUDA_SUCCESS;
}

CUresult mr_cuFuncGetName(const char **name, CUfunction hfunc)
{
    struct mr_function *function;
    if (!name)
        return mr_bad_value("name is NULL");
    CUresult status = require_known(hfunc, &function);
    if (status != CUDA_SUCCESS)
        return status;
    *name = function->info->name;
    mr_object_drop(function->module);
    return CUDA_SUCCESS;
}

CUresult mr_cuFuncGetParamInfo(CUfunction func, size_t paramIndex, size_t *paramOffset, size_t *paramSize)
{
    struct mr_function *function;
    CUresult status = require_known(func, &function);
    if (status != CUDA_SUCCESS)
        return status;
    status = mr_function_param(function->info, paramIndex, paramOffset, paramSize);
    mr_object_drop(function->module);
    return status;
}

/* A function is checked in full when its module loads; there is no later point at which loading it could fail. */
CUresult mr_cuFuncIsLoaded(CUfunctionLoadingState *state, CUfunction function)
{
    struct mr_function *found;
    if (!state)
        return mr_bad_value("state is NULL");
    CUresult status = mr_function_require(function, &found);
    if (status != CUDA_SUCCESS)
        return status;
    *state = CU_FUNCTION_LOADING_STATE_LOADED;
    mr_object_drop(found->module);
    return CUDA_SUCCESS;
}

/* Makes the machine code for the commonest class of block shapes (whole warps in one row), so that the first launch
 * need not. */
CUresult mr_cuFuncLoad(CUfunction function)
{
    static const unsigned warp[3] = {32, 1, 1};
    const struct mr_code *code;
    struct mr_function *found;
    CUresult status = mr_function_require(function, &found);
    if (status != CUDA_SUCCESS)
        return status;
    status = mr_program_code(found->module->program, found->entry, warp, &code);
    mr_object_drop(found->module);
    return status;
}
