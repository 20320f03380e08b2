/* SPDX-License-Identifier: Apache-2.0 */
/* Handles of cuBLASLt, versions, names of statuses. A handle of cuBLAS is one of cuBLASLt, too: libcublas, if the
 * program has loaded it, says whether it lives. */
#include <dlfcn.h>

#include "libs/cublaslt/lt.h"
#include "libs/cublaslt/refuse.h"
#include "libs/math/blas_status.h"
#include "libs/math/cpu.h"
#include "libs/math/driver.h"
#include "libs/math/handles.h"
#include "libs/math/refusal.h"

cublasStatus_t mr_cublaslt_refuse(const char *function)
{
    mr_math_refuse_function(function);
    mr_lt_tell(function, "not implemented");
    return CUBLAS_STATUS_NOT_SUPPORTED;
}

static bool is_of_cublas(cublasLtHandle_t handle)
{
    static const char *const names[] = {"libcublas.so.13", "libcublas.so.12"};
    for (unsigned i = 0; i < sizeof names / sizeof *names; i++) {
        void *library = dlopen(names[i], RTLD_NOW | RTLD_NOLOAD);
        if (!library)
            continue;
        cublasPointerMode_t mode;
        cublasStatus_t (*get)(cublasHandle_t, cublasPointerMode_t *) =
            (cublasStatus_t(*)(cublasHandle_t, cublasPointerMode_t *))dlsym(library, "cublasGetPointerMode_v2");
        bool lives = get && get((cublasHandle_t)handle, &mode) == CUBLAS_STATUS_SUCCESS;
        dlclose(library);
        if (lives)
            return true;
    }
    return false;
}

cublasStatus_t mr_lt_enter(const struct mr_form *form, cublasLtHandle_t handle)
{
    CUcontext context = mr_math_handle_find(handle);
    if (!context && !is_of_cublas(handle))
        return mr_lt_bad(form, CUBLAS_STATUS_NOT_INITIALIZED, "%p is not a live handle", (void *)handle);
    if (!mr_math_driver_open() || !mr_cpu_open() || !mr_math_context(context))
        return mr_lt_bad(form, CUBLAS_STATUS_NOT_INITIALIZED, "the driver or the CPU library can't be used");
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t mr_cublaslt_Create(const struct mr_form *form, cublasLtHandle_t *lightHandle)
{
    MR_LT_CHECK(form, lightHandle);
    CUcontext context;
    if (!mr_math_driver_open() || !mr_cpu_open() || !(context = mr_math_context(NULL)))
        return CUBLAS_STATUS_NOT_INITIALIZED;
    *lightHandle = mr_math_handle_new(context);
    return *lightHandle ? CUBLAS_STATUS_SUCCESS
                        : mr_lt_bad(form, CUBLAS_STATUS_ALLOC_FAILED, "there are %u handles already", MR_MATH_HANDLES);
}

cublasStatus_t mr_cublaslt_Destroy(const struct mr_form *form, cublasLtHandle_t lightHandle)
{
    MR_LT_CHECK(form, lightHandle);
    if (!mr_math_handle_end(lightHandle))
        return mr_lt_bad(form, CUBLAS_STATUS_NOT_INITIALIZED, "%p is not a live handle", (void *)lightHandle);
    return CUBLAS_STATUS_SUCCESS;
}

const char *mr_cublaslt_GetStatusName(const struct mr_form *form, cublasStatus_t status)
{
    (void)form;
    return mr_blas_status_name(status);
}

const char *mr_cublaslt_GetStatusString(const struct mr_form *form, cublasStatus_t status)
{
    (void)form;
    return mr_blas_status_text(status);
}

size_t mr_cublaslt_GetVersion(const struct mr_form *form)
{
    (void)form;
    return MR_LIBRARY_VERSION;
}

size_t mr_cublaslt_GetCudartVersion(const struct mr_form *form)
{
    (void)form;
    return MR_CUDA_VERSION;
}

cublasStatus_t mr_cublaslt_GetProperty(const struct mr_form *form, libraryPropertyType type, int *value)
{
    MR_LT_CHECK(form, value && (type == MAJOR_VERSION || type == MINOR_VERSION || type == PATCH_LEVEL));
    *value = type == MAJOR_VERSION   ? MR_LIBRARY_VERSION / 10000
             : type == MINOR_VERSION ? MR_LIBRARY_VERSION / 100 % 100
                                     : MR_LIBRARY_VERSION % 100;
    return CUBLAS_STATUS_SUCCESS;
}

/* There is nothing to look up in a cache: the capacity is kept and given back. */
static size_t capacity = 8192;

cublasStatus_t mr_cublaslt_HeuristicsCacheGetCapacity(const struct mr_form *form, size_t *out)
{
    MR_LT_CHECK(form, out);
    *out = __atomic_load_n(&capacity, __ATOMIC_RELAXED);
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t mr_cublaslt_HeuristicsCacheSetCapacity(const struct mr_form *form, size_t wanted)
{
    (void)form;
    __atomic_store_n(&capacity, wanted, __ATOMIC_RELAXED);
    return CUBLAS_STATUS_SUCCESS;
}

unsigned mr_cublaslt_DisableCpuInstructionsSetMask(const struct mr_form *form, unsigned mask)
{
    static unsigned kept;
    (void)form;
    return __atomic_exchange_n(&kept, mask, __ATOMIC_RELAXED);
}
