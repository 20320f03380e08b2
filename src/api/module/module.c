/* SPDX-License-Identifier: Apache-2.0 */
/* Modules (driver API manual, Module Management): load an image into the current context, find functions and variables
 * in it. */
#include "api_impl.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "api/module/image.h"
#include "base/call.h"
#include "kernel/fault.h"
#include "module/module.h"
#include "module/reference.h"
#include "object/context.h"
#include "prepare/check.h"
#include "stream/stream.h"

/* Makes a module of a loaded program, whose reference it takes over. */
static CUresult finish_load(struct mr_context *context, struct mr_program *program, CUmodule *out)
{
    struct mr_module *module;
    CUresult status = mr_module_new(context, program, NULL, &module);
    mr_program_drop(program);
    if (status == CUDA_SUCCESS)
        *out = mr_object_handle(module);
    return status;
}

static CUresult load_data(CUmodule *out, const void *image, const struct mr_image_options *options)
{
    struct mr_context *context;
    struct mr_program *program;
    CUresult status = mr_context_require(&context);
    if (status != CUDA_SUCCESS)
        return status;
    if (!out)
        return mr_bad_value("module is NULL");
    status = mr_image_load(context->device, image, (size_t)-1, options, &program);
    return status == CUDA_SUCCESS ? finish_load(context, program, out) : status;
}

CUresult mr_cuModuleLoad(CUmodule *module, const char *fname)
{
    struct mr_context *context;
    struct mr_program *program;
    CUresult status = mr_context_require(&context);
    if (status != CUDA_SUCCESS)
        return status;
    if (!module)
        return mr_bad_value("module is NULL");
    status = mr_image_load_file(context->device, fname, &(struct mr_image_options){0}, &program);
    return status == CUDA_SUCCESS ? finish_load(context, program, module) : status;
}

CUresult mr_cuModuleLoadData(CUmodule *module, const void *image)
{
    return load_data(module, image, &(struct mr_image_options){0});
}

CUresult mr_cuModuleLoadDataEx(CUmodule *module, const void *image, unsigned int numOptions, CUjit_option *options,
                               void **optionValues)
{
    return load_data(module, image, &(struct mr_image_options){numOptions, options, optionValues});
}

CUresult mr_cuModuleLoadFatBinary(CUmodule *module, const void *fatCubin)
{
    return load_data(module, fatCubin, &(struct mr_image_options){0});
}

/* The live module behind a handle, for a call that needs a current context; with a reference, since its context may end
 * on another thread. */
static CUresult find_module(CUmodule handle, struct mr_module **out)
{
    struct mr_context *context;
    CUresult status = mr_context_require(&context);
    if (status != CUDA_SUCCESS)
        return status;
    *out = mr_object_acquire(handle, MR_KIND_MODULE);
    return *out ? CUDA_SUCCESS : mr_bad_handle("module", handle);
}

/* Waits for the context's work, as hardware does (conformance cases unload.*). */
CUresult mr_cuModuleUnload(CUmodule hmod)
{
    struct mr_module *module;
    CUresult status = find_module(hmod, &module);
    if (status != CUDA_SUCCESS)
        return status;
    if (module->library) {
        mr_call_log(MR_LOG_INFO, "the module belongs to a library and ends with it");
        status = CUDA_ERROR_NOT_PERMITTED;
    } else {
        status = mr_context_synchronize(module->context);
        if (!mr_module_unload(module))
            status = mr_bad_handle("module", hmod);
    }
    mr_object_drop(module);
    return status;
}

CUresult mr_cuModuleGetLoadingMode(CUmoduleLoadingMode *mode)
{
    const char *wanted = getenv("CUDA_MODULE_LOADING");
    if (!mode)
        return mr_bad_value("mode is NULL");
    *mode = wanted && strcmp(wanted, "EAGER") == 0 ? CU_MODULE_EAGER_LOADING : CU_MODULE_LAZY_LOADING;
    return CUDA_SUCCESS;
}

CUresult mr_cuModuleGetFunction(CUfunction *hfunc, CUmodule hmod, const char *name)
{
    struct mr_module *module;
    if (!hfunc || !name || !*name)
        return mr_bad_value("hfunc is NULL or there is no name");
    CUresult status = find_module(hmod, &module);
    if (status != CUDA_SUCCESS)
        return status;
    size_t entry = mr_program_find_entry(module->program, name);
    struct mr_function *function = entry == (size_t)-1 ? NULL : mr_module_function(module, entry);
    if (function) {
        *hfunc = mr_object_handle(function);
        mr_program_expect(module->program, entry);
    }
    mr_object_drop(module);
    if (entry == (size_t)-1) {
        mr_call_log(MR_LOG_INFO, "the module has no kernel '%s'", name);
        return CUDA_ERROR_NOT_FOUND;
    }
    if (!function)
        return CUDA_ERROR_OUT_OF_MEMORY;
    if (!*hfunc) /* the module has just ended */
        return mr_bad_handle("module", hmod);
    mr_fault_launch_near();
    return CUDA_SUCCESS;
}

CUresult mr_cuModuleGetFunctionCount(unsigned int *count, CUmodule mod)
{
    struct mr_module *module;
    if (!count)
        return mr_bad_value("count is NULL");
    CUresult status = find_module(mod, &module);
    if (status != CUDA_SUCCESS)
        return status;
    *count = (unsigned)module->function_count;
    mr_object_drop(module);
    return CUDA_SUCCESS;
}

CUresult mr_cuModuleEnumerateFunctions(CUfunction *functions, unsigned int numFunctions, CUmodule mod)
{
    struct mr_module *module;
    if (!functions)
        return mr_bad_value("functions is NULL");
    CUresult status = find_module(mod, &module);
    if (status != CUDA_SUCCESS)
        return status;
    for (size_t i = 0; status == CUDA_SUCCESS && i < numFunctions && i < module->function_count; i++) {
        struct mr_function *function = mr_module_function(module, i);
        if (function)
            functions[i] = mr_object_handle(function);
        else
            status = CUDA_ERROR_OUT_OF_MEMORY;
    }
    mr_object_drop(module);
    return status;
}

/* Where a module's variable is and how large. */
static CUresult find_global(struct mr_module *module, const char *name, CUdeviceptr *address, size_t *bytes)
{
    size_t index = mr_program_find_variable(module->program, name);
    if (index == (size_t)-1) {
        if (mr_program_find_entry(module->program, name) != (size_t)-1)
            return mr_bad_value("'%s' is a kernel", name);
        mr_call_log(MR_LOG_INFO, "the module has no variable '%s'", name);
        return CUDA_ERROR_NOT_FOUND;
    }
    if (mr_program_symbol(module->program, index)->reference)
        return mr_bad_value("'%s' is a texture or surface reference", name);
    *address = module->symbols[index];
    *bytes = mr_program_symbol(module->program, index)->size;
    return CUDA_SUCCESS;
}

CUresult mr_cuModuleGetGlobal_v2(CUdeviceptr *dptr, size_t *bytes, CUmodule hmod, const char *name)
{
    struct mr_module *module;
    CUdeviceptr address = 0;
    size_t size = 0;
    if (!name || (!dptr && !bytes))
        return mr_bad_value("name or both outputs are NULL");
    CUresult status = find_module(hmod, &module);
    if (status != CUDA_SUCCESS)
        return status;
    status = find_global(module, name, &address, &size);
    mr_object_drop(module);
    if (status == CUDA_SUCCESS && dptr)
        *dptr = address;
    if (status == CUDA_SUCCESS && bytes)
        *bytes = size;
    return status;
}

/* The interface before CUDA 3.2, whose device pointers have 32 bits: what lies higher cannot be told. */
CUresult mr_cuModuleGetGlobal(CUdeviceptr_v1 *dptr, unsigned int *bytes, CUmodule hmod, const char *name)
{
    CUdeviceptr address;
    size_t size;
    CUresult status = mr_cuModuleGetGlobal_v2(&address, &size, hmod, name);
    if (status != CUDA_SUCCESS)
        return status;
    if (address > UINT_MAX || size > UINT_MAX) {
        mr_call_log(MR_LOG_INFO, "the variable '%s' lies above 4 GiB; use cuModuleGetGlobal_v2", name);
        return CUDA_ERROR_NOT_SUPPORTED;
    }
    if (dptr)
        *dptr = (CUdeviceptr_v1)address;
    if (bytes)
        *bytes = (unsigned)size;
    return CUDA_SUCCESS;
}

/* The reference of that name; hardware tells a name that is something else from one that is not there. */
static CUresult find_reference(struct mr_module *module, const char *name, enum mr_kind kind, struct mr_reference **out)
{
    size_t index = mr_program_find_variable(module->program, name);
    if (index == (size_t)-1) {
        mr_call_log(MR_LOG_INFO, "the module has no reference '%s'", name);
        return CUDA_ERROR_NOT_FOUND;
    }
    if (mr_program_symbol(module->program, index)->reference !=
        (kind == MR_KIND_TEXREF ? MR_REFERENCE_TEXTURE : MR_REFERENCE_SURFACE)) {
        mr_call_log(MR_LOG_INFO, "'%s' is something else", name);
        return CUDA_ERROR_NOT_FOUND;
    }
    *out = mr_module_reference(module, index, kind);
    return *out ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

static CUresult get_reference(void **out, CUmodule hmod, const char *name, enum mr_kind kind)
{
    struct mr_module *module;
    struct mr_reference *reference;
    if (!out || !name)
        return mr_bad_value("an argument is NULL");
    CUresult status = find_module(hmod, &module);
    if (status != CUDA_SUCCESS)
        return status;
    status = find_reference(module, name, kind, &reference);
    if (status == CUDA_SUCCESS)
        *out = mr_object_handle(reference);
    mr_object_drop(module);
    return status;
}

CUresult mr_cuModuleGetTexRef(CUtexref *pTexRef, CUmodule hmod, const char *name)
{
    return get_reference((void **)pTexRef, hmod, name, MR_KIND_TEXREF);
}

CUresult mr_cuModuleGetSurfRef(CUsurfref *pSurfRef, CUmodule hmod, const char *name)
{
    return get_reference((void **)pSurfRef, hmod, name, MR_KIND_SURFREF);
}
