/* SPDX-License-Identifier: Apache-2.0 */
/* Libraries (driver API manual, Library Management): images that are loaded without a context. */
#include "api_impl.h"

#include "api/module/image.h"
#include "base/call.h"
#include "kernel/fault.h"
#include "memory/allocation.h"
#include "module/module.h"
#include "object/context.h"
#include "prepare/check.h"
#include "stream/stream.h"

/* `from_file`: the promise to preserve the image says nothing about a file and is an error there. */
static CUresult check_options(const CUlibraryOption *options, unsigned count, bool from_file)
{
    if (count > 0 && !options)
        return mr_bad_value("%u library options, but no array of them", count);
    for (unsigned i = 0; i < count; i++) {
        switch ((int)options[i]) {
        case CU_LIBRARY_HOST_UNIVERSAL_FUNCTION_AND_DATA_TABLE:
            mr_call_log(MR_LOG_INFO, "tables of universal functions are not supported");
            return CUDA_ERROR_NOT_SUPPORTED;
        case CU_LIBRARY_BINARY_IS_PRESERVED:
            /* It allows the driver not to copy the image. The driver copies what it needs in any case. */
            if (from_file)
                return mr_bad_value("CU_LIBRARY_BINARY_IS_PRESERVED is for images in memory");
            break;
        default:
            return mr_bad_value("there is no library option %d", (int)options[i]);
        }
    }
    return CUDA_SUCCESS;
}

/* A library needs no context; without one it is compiled for the first device. All devices have one compute capability.
 */
static const struct mr_device *target_device(void)
{
    const struct mr_context *context = mr_context_current();
    return context ? context->device : mr_device_get(0);
}

static CUresult finish_load(struct mr_program *program, CUlibrary *out)
{
    struct mr_library *library = mr_library_new(program);
    mr_program_drop(program);
    if (!library)
        return CUDA_ERROR_OUT_OF_MEMORY;
    *out = mr_object_handle(library);
    return CUDA_SUCCESS;
}

CUresult mr_cuLibraryLoadData(CUlibrary *library, const void *code, CUjit_option *jitOptions, void **jitOptionsValues,
                              unsigned int numJitOptions, CUlibraryOption *libraryOptions, void **libraryOptionValues,
                              unsigned int numLibraryOptions)
{
    struct mr_program *program;
    (void)libraryOptionValues; /* the options that are known have none */
    if (!library)
        return mr_bad_value("library is NULL");
    CUresult status = check_options(libraryOptions, numLibraryOptions, false);
    if (status != CUDA_SUCCESS)
        return status;
    struct mr_image_options options = {numJitOptions, jitOptions, jitOptionsValues};
    status = mr_image_load(target_device(), code, (size_t)-1, &options, &program);
    return status == CUDA_SUCCESS ? finish_load(program, library) : status;
}

CUresult mr_cuLibraryLoadFromFile(CUlibrary *library, const char *fileName, CUjit_option *jitOptions,
                                  void **jitOptionsValues, unsigned int numJitOptions, CUlibraryOption *libraryOptions,
                                  void **libraryOptionValues, unsigned int numLibraryOptions)
{
    struct mr_program *program;
    (void)libraryOptionValues;
    if (!library)
        return mr_bad_value("library is NULL");
    CUresult status = check_options(libraryOptions, numLibraryOptions, true);
    if (status != CUDA_SUCCESS)
        return status;
    struct mr_image_options options = {numJitOptions, jitOptions, jitOptionsValues};
    status = mr_image_load_file(target_device(), fileName, &options, &program);
    return status == CUDA_SUCCESS ? finish_load(program, library) : status;
}

static CUresult find_library(CUlibrary handle, struct mr_library **out)
{
    *out = mr_object_borrow(handle, MR_KIND_LIBRARY);
    return *out ? CUDA_SUCCESS : mr_bad_handle("library", handle);
}

static void wait_for_context(void *object, void *data)
{
    struct mr_context *context = object;
    (void)data;
    if (mr_context_synchronize(context) != CUDA_SUCCESS)
        mr_call_log(MR_LOG_DEBUG, "context %llu has failed before", context->id);
}

/* Waits for the work of all contexts, as hardware does (conformance cases unload.*). */
CUresult mr_cuLibraryUnload(CUlibrary library)
{
    struct mr_library *found;
    CUresult status = find_library(library, &found);
    if (status != CUDA_SUCCESS)
        return status;
    if (mr_in_host_function)
        return CUDA_ERROR_NOT_PERMITTED;
    mr_object_each(MR_KIND_CONTEXT, wait_for_context, NULL);
    return mr_library_unload(found) ? CUDA_SUCCESS : mr_bad_handle("library", library);
}

CUresult mr_cuLibraryGetKernel(CUkernel *pKernel, CUlibrary library, const char *name)
{
    struct mr_library *found;
    if (!pKernel || !name)
        return mr_bad_value("pKernel or name is NULL");
    CUresult status = find_library(library, &found);
    if (status != CUDA_SUCCESS)
        return status;
    size_t entry = mr_program_find_entry(found->program, name);
    if (entry == (size_t)-1) {
        mr_call_log(MR_LOG_INFO, "the library has no kernel '%s'", name);
        return CUDA_ERROR_NOT_FOUND;
    }
    struct mr_kernel *kernel = mr_library_kernel(found, entry);
    if (!kernel)
        return CUDA_ERROR_OUT_OF_MEMORY;
    *pKernel = mr_object_handle(kernel);
    if (!*pKernel) /* the library has just ended */
        return mr_bad_handle("library", library);
    mr_program_expect(found->program, entry);
    mr_fault_launch_near();
    return CUDA_SUCCESS;
}

CUresult mr_cuLibraryGetKernelCount(unsigned int *count, CUlibrary lib)
{
    struct mr_library *library;
    if (!count)
        return mr_bad_value("count is NULL");
    CUresult status = find_library(lib, &library);
    if (status == CUDA_SUCCESS)
        *count = (unsigned)library->kernel_count;
    return status;
}

CUresult mr_cuLibraryEnumerateKernels(CUkernel *kernels, unsigned int numKernels, CUlibrary lib)
{
    struct mr_library *library;
    if (!kernels)
        return mr_bad_value("kernels is NULL");
    CUresult status = find_library(lib, &library);
    for (size_t i = 0; status == CUDA_SUCCESS && i < numKernels && i < library->kernel_count; i++) {
        struct mr_kernel *kernel = mr_library_kernel(library, i);
        if (!kernel)
            return CUDA_ERROR_OUT_OF_MEMORY;
        kernels[i] = mr_object_handle(kernel);
    }
    return status;
}

/* The library's module in the current context, loaded there if it is not yet. */
static CUresult current_module(CUlibrary handle, struct mr_module **out)
{
    struct mr_context *context;
    struct mr_library *library;
    CUresult status = mr_context_require(&context);
    if (status == CUDA_SUCCESS)
        status = find_library(handle, &library);
    return status == CUDA_SUCCESS ? mr_library_module(library, context, out) : status;
}

CUresult mr_cuLibraryGetModule(CUmodule *pMod, CUlibrary library)
{
    struct mr_module *module;
    if (!pMod)
        return mr_bad_value("pMod is NULL");
    CUresult status = current_module(library, &module);
    if (status == CUDA_SUCCESS)
        *pMod = mr_object_handle(module);
    return status;
}

static CUresult find_variable(CUdeviceptr *dptr, size_t *bytes, CUlibrary library, const char *name, bool managed)
{
    struct mr_module *module;
    if (!name || (!dptr && !bytes))
        return mr_bad_value("name or both outputs are NULL");
    CUresult status = current_module(library, &module);
    if (status != CUDA_SUCCESS)
        return status;
    size_t index = mr_program_find_variable(module->program, name);
    if (index == (size_t)-1 || (managed && !mr_program_symbol(module->program, index)->managed)) {
        mr_call_log(MR_LOG_INFO, "the library has no such variable '%s'", name);
        return CUDA_ERROR_NOT_FOUND;
    }
    if (dptr)
        *dptr = module->symbols[index];
    if (bytes)
        *bytes = mr_program_symbol(module->program, index)->size;
    return CUDA_SUCCESS;
}

CUresult mr_cuLibraryGetGlobal(CUdeviceptr *dptr, size_t *bytes, CUlibrary library, const char *name)
{
    return find_variable(dptr, bytes, library, name, false);
}

/* Without a current context, which hardware does not ask for: the variable is made on the first device. One that holds
 * pointers into a context's memory can't be. */
static CUresult find_managed(CUdeviceptr *dptr, size_t *bytes, CUlibrary handle, const char *name)
{
    struct mr_library *library;
    uintptr_t address;
    if (!name || (!dptr && !bytes))
        return mr_bad_value("name or both outputs are NULL");
    CUresult status = find_library(handle, &library);
    if (status != CUDA_SUCCESS)
        return status;
    size_t index = mr_program_find_variable(library->program, name);
    const struct mr_symbol *symbol = index == (size_t)-1 ? NULL : mr_program_symbol(library->program, index);
    if (!symbol || !symbol->managed) {
        mr_call_log(MR_LOG_INFO, "the library has no managed variable '%s'", name);
        return CUDA_ERROR_NOT_FOUND;
    }
    if (symbol->relocation_count)
        return CUDA_ERROR_INVALID_CONTEXT;
    status = mr_library_managed_alone(library, index, mr_device_get(0), &address);
    if (status == CUDA_SUCCESS && dptr)
        *dptr = address;
    if (status == CUDA_SUCCESS && bytes)
        *bytes = symbol->size;
    return status;
}

CUresult mr_cuLibraryGetManaged(CUdeviceptr *dptr, size_t *bytes, CUlibrary library, const char *name)
{
    if (!mr_context_current() && !mr_in_host_function)
        return find_managed(dptr, bytes, library, name);
    return find_variable(dptr, bytes, library, name, true);
}

/* The device says that functions have no addresses that host and device share, so no library has one. */
CUresult mr_cuLibraryGetUnifiedFunction(void **fptr, CUlibrary library, const char *symbol)
{
    struct mr_library *found;
    if (!fptr || !symbol)
        return mr_bad_value("fptr or symbol is NULL");
    CUresult status = find_library(library, &found);
    if (status != CUDA_SUCCESS)
        return status;
    return mr_bad_value("there is no unified function '%s'", symbol);
}
