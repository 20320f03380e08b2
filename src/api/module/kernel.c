/* SPDX-License-Identifier: Apache-2.0 */
/* Kernels of libraries (driver API manual, Library Management). Their attributes are set per device and go to the
 * functions that come from them. */
#include "api_impl.h"

#include "api/module/function.h"
#include "kernel/fault.h"
#include "prepare/check.h"

static CUresult find_kernel(CUkernel handle, struct mr_kernel **out)
{
    *out = mr_object_borrow(handle, MR_KIND_KERNEL);
    /* What is known of it is the library's. */
    return *out && mr_object_keep((*out)->library) ? CUDA_SUCCESS : mr_bad_handle("kernel", handle);
}

CUresult mr_cuKernelGetFunction(CUfunction *pFunc, CUkernel kernel)
{
    struct mr_context *context;
    struct mr_kernel *found;
    struct mr_function *function;
    if (!pFunc)
        return mr_bad_value("pFunc is NULL");
    CUresult status = mr_context_require(&context);
    if (status == CUDA_SUCCESS)
        status = find_kernel(kernel, &found);
    if (status == CUDA_SUCCESS)
        status = mr_kernel_function_in(found, context, &function);
    if (status != CUDA_SUCCESS)
        return status;
    *pFunc = mr_object_handle(function);
    if (!*pFunc) /* the library has just ended */
        return mr_bad_handle("kernel", kernel);
    mr_fault_launch_near();
    return CUDA_SUCCESS;
}

CUresult mr_cuKernelGetLibrary(CUlibrary *pLib, CUkernel kernel)
{
    struct mr_kernel *found;
    if (!pLib)
        return mr_bad_value("pLib is NULL");
    CUresult status = find_kernel(kernel, &found);
    if (status == CUDA_SUCCESS)
        *pLib = mr_object_handle(found->library);
    return status;
}

CUresult mr_cuKernelGetAttribute(int *pi, CUfunction_attribute attrib, CUkernel kernel, CUdevice dev)
{
    struct mr_device *device;
    struct mr_kernel *found;
    if (!pi)
        return mr_bad_value("pi is NULL");
    CUresult status = find_kernel(kernel, &found);
    if (status == CUDA_SUCCESS)
        status = mr_device_require(dev, &device);
    return status == CUDA_SUCCESS
               ? mr_function_attribute_get(found->info, &found->settings[device->ordinal], attrib, pi)
               : status;
}

/* Hands a kernel's settings to the functions that it already has on a device. */
static void pass_on(struct mr_kernel *kernel, const struct mr_device *device)
{
    struct mr_library *library = kernel->library;
    mr_lock_take(&library->lock);
    struct mr_kernel_table *table = atomic_load(&kernel->table);
    for (size_t i = 0; table && i < table->room; i++) {
        struct mr_function *function = atomic_load(&table->functions[i]);
        if (function && function->module->context->device == device)
            mr_function_settings_copy(&function->settings, &kernel->settings[device->ordinal]);
    }
    mr_lock_drop(&library->lock);
}

CUresult mr_cuKernelSetAttribute(CUfunction_attribute attrib, int val, CUkernel kernel, CUdevice dev)
{
    struct mr_device *device;
    struct mr_kernel *found;
    CUresult status = find_kernel(kernel, &found);
    if (status == CUDA_SUCCESS)
        status = mr_device_require(dev, &device);
    if (status == CUDA_SUCCESS)
        status = mr_function_attribute_set(found->info, &found->settings[device->ordinal], device, attrib, val);
    if (status == CUDA_SUCCESS)
        pass_on(found, device);
    return status;
}

CUresult mr_cuKernelSetCacheConfig(CUkernel kernel, CUfunc_cache config, CUdevice dev)
{
    struct mr_device *device;
    struct mr_kernel *found;
    CUresult status = find_kernel(kernel, &found);
    if (status == CUDA_SUCCESS)
        status = mr_device_require(dev, &device);
    if (status != CUDA_SUCCESS)
        return status;
    if ((unsigned)config > CU_FUNC_CACHE_PREFER_EQUAL)
        return mr_bad_value("there is no cache preference %d", (int)config);
    found->settings[device->ordinal].cache_config = (int)config;
    pass_on(found, device);
    return CUDA_SUCCESS;
}

CUresult mr_cuKernelGetName(const char **name, CUkernel hfunc)
{
    struct mr_kernel *found;
    if (!name)
        return mr_bad_value("name is NULL");
    CUresult status = find_kernel(hfunc, &found);
    if (status == CUDA_SUCCESS)
        *name = found->info->name;
    return status;
}

CUresult mr_cuKernelGetParamInfo(CUkernel kernel, size_t paramIndex, size_t *paramOffset, size_t *paramSize)
{
    struct mr_context *context;
    struct mr_kernel *found;
    CUresult status = mr_context_require(&context);
    if (status == CUDA_SUCCESS)
        status = find_kernel(kernel, &found);
    return status == CUDA_SUCCESS ? mr_function_param(found->info, paramIndex, paramOffset, paramSize) : status;
}
