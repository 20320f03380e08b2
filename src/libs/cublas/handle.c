/* SPDX-License-Identifier: Apache-2.0 */
/* Handles of cuBLAS: making, ending, settings. Millrace needs no workspace and has no multiprocessors to reserve: such
 * settings are kept and given back. */
#include <stdarg.h>
#include <stdlib.h>

#include "libs/cublas/blas.h"
#include "libs/cublas/logger.h"
#include "libs/cublas/refuse.h"
#include "libs/math/blas_status.h"
#include "libs/math/driver.h"
#include "libs/math/handles.h"
#include "libs/math/refusal.h"

cublasStatus_t mr_cublas_bad(const struct mr_form *form, cublasStatus_t status, const char *format, ...)
{
    char reason[MR_MATH_REASON];
    va_list arguments;
    va_start(arguments, format);
    mr_math_refuse(form->name, status == CUBLAS_STATUS_NOT_SUPPORTED, reason, format, arguments);
    va_end(arguments);
    mr_cublas_tell(form->name, reason);
    return status;
}

cublasStatus_t mr_cublas_refuse(const char *function)
{
    mr_math_refuse_function(function);
    mr_cublas_tell(function, "not implemented");
    return CUBLAS_STATUS_NOT_SUPPORTED;
}

cublasStatus_t mr_cublas_status(const struct mr_form *form, CUresult result)
{
    switch (result) {
    case CUDA_SUCCESS:
        return CUBLAS_STATUS_SUCCESS;
    case CUDA_ERROR_OUT_OF_MEMORY:
        return mr_cublas_bad(form, CUBLAS_STATUS_ALLOC_FAILED, "memory is short");
    default:
        return mr_cublas_bad(form, CUBLAS_STATUS_EXECUTION_FAILED, "the driver answers %d", (int)result);
    }
}

cublasStatus_t mr_cublas_submit(const struct mr_form *form, const struct mr_cublas *blas, uint64_t parts,
                                void (*run)(void *record, uint64_t first, uint64_t end), const void *record,
                                size_t size)
{
    return mr_cublas_status(form, mr_math_submit(blas->stream, parts, run, record, size));
}

cublasStatus_t mr_cublas_finish(const struct mr_form *form, const struct mr_cublas *blas)
{
    if (mr_cublas_on_device(blas))
        return CUBLAS_STATUS_SUCCESS;
    CUresult result = mr_math_driver.cuStreamSynchronize(blas->stream);
    if (result >= CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED && result <= CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD)
        return mr_cublas_bad(form, CUBLAS_STATUS_INTERNAL_ERROR,
                             "a result for the host can't be waited for in a capture: use the device's pointer mode");
    return mr_cublas_status(form, result);
}

cublasStatus_t mr_cublas_enter(const struct mr_form *form, cublasHandle_t handle, struct mr_cublas **blas)
{
    *blas = mr_math_handle_find(handle);
    if (!*blas)
        return mr_cublas_bad(form, CUBLAS_STATUS_NOT_INITIALIZED, "%p is not a live handle", (void *)handle);
    if (!mr_math_context((*blas)->context))
        return mr_cublas_bad(form, CUBLAS_STATUS_NOT_INITIALIZED, "the handle's context is gone");
    mr_cublas_tell(form->name, NULL);
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t mr_cublas_Create(const struct mr_form *form, cublasHandle_t *handle)
{
    if (!handle)
        return mr_cublas_bad(form, CUBLAS_STATUS_INVALID_VALUE, "the pointer is NULL");
    CUcontext context;
    if (!mr_math_driver_open() || !mr_cpu_open() || !(context = mr_math_context(NULL)))
        return CUBLAS_STATUS_NOT_INITIALIZED;
    struct mr_cublas *blas = calloc(1, sizeof *blas);
    if (!blas)
        return CUBLAS_STATUS_ALLOC_FAILED;
    blas->context = context;
    blas->atomics_mode = CUBLAS_ATOMICS_NOT_ALLOWED;
    blas->special_values = CUDA_EMULATION_SPECIAL_VALUES_SUPPORT_DEFAULT;
    *handle = mr_math_handle_new(blas);
    if (*handle)
        return CUBLAS_STATUS_SUCCESS;
    free(blas);
    return mr_cublas_bad(form, CUBLAS_STATUS_ALLOC_FAILED, "there are %u handles already", MR_MATH_HANDLES);
}

/* Waits for the device, as on hardware. */
cublasStatus_t mr_cublas_Destroy(const struct mr_form *form, cublasHandle_t handle)
{
    struct mr_cublas *blas = mr_math_handle_end(handle);
    if (!blas)
        return mr_cublas_bad(form, CUBLAS_STATUS_NOT_INITIALIZED, "%p is not a live handle", (void *)handle);
    if (mr_math_context(blas->context))
        (void)mr_math_driver.cuCtxSynchronize();
    free(blas);
    return CUBLAS_STATUS_SUCCESS;
}

/* Enters, and returns from the body unless `pointer` is there. */
#define ENTER(pointer) \
    struct mr_cublas *blas; \
    cublasStatus_t entered = mr_cublas_enter(form, handle, &blas); \
    if (entered != CUBLAS_STATUS_SUCCESS) \
        return entered; \
    MR_CHECK(form, pointer)

cublasStatus_t mr_cublas_GetVersion(const struct mr_form *form, cublasHandle_t handle, int *version)
{
    (void)handle;
    MR_CHECK(form, version);
    *version = MR_LIBRARY_VERSION;
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t mr_cublas_GetProperty(const struct mr_form *form, libraryPropertyType type, int *value)
{
    MR_CHECK(form, value);
    MR_CHECK(form, type == MAJOR_VERSION || type == MINOR_VERSION || type == PATCH_LEVEL);
    *value = type == MAJOR_VERSION   ? MR_LIBRARY_VERSION / 10000
             : type == MINOR_VERSION ? MR_LIBRARY_VERSION / 100 % 100
                                     : MR_LIBRARY_VERSION % 100;
    return CUBLAS_STATUS_SUCCESS;
}

size_t mr_cublas_GetCudartVersion(const struct mr_form *form)
{
    (void)form;
    return MR_CUDA_VERSION;
}

cublasStatus_t mr_cublas_SetStream(const struct mr_form *form, cublasHandle_t handle, cudaStream_t streamId)
{
    ENTER(true);
    blas->stream = streamId;
    blas->workspace = NULL; /* a stream begins with the library's own */
    blas->workspace_size = 0;
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t mr_cublas_GetStream(const struct mr_form *form, cublasHandle_t handle, cudaStream_t *streamId)
{
    ENTER(streamId);
    *streamId = blas->stream;
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t mr_cublas_SetWorkspace(const struct mr_form *form, cublasHandle_t handle, void *workspace,
                                      size_t workspaceSizeInBytes)
{
    ENTER(true);
    blas->workspace = workspace;
    blas->workspace_size = workspaceSizeInBytes;
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t mr_cublas_GetPointerMode(const struct mr_form *form, cublasHandle_t handle, cublasPointerMode_t *mode)
{
    ENTER(mode);
    *mode = blas->pointer_mode;
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t mr_cublas_SetPointerMode(const struct mr_form *form, cublasHandle_t handle, cublasPointerMode_t mode)
{
    ENTER(mode == CUBLAS_POINTER_MODE_HOST || mode == CUBLAS_POINTER_MODE_DEVICE);
    blas->pointer_mode = mode;
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t mr_cublas_GetAtomicsMode(const struct mr_form *form, cublasHandle_t handle, cublasAtomicsMode_t *mode)
{
    ENTER(mode);
    *mode = blas->atomics_mode;
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t mr_cublas_SetAtomicsMode(const struct mr_form *form, cublasHandle_t handle, cublasAtomicsMode_t mode)
{
    ENTER(mode == CUBLAS_ATOMICS_NOT_ALLOWED || mode == CUBLAS_ATOMICS_ALLOWED);
    blas->atomics_mode = mode;
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t mr_cublas_GetMathMode(const struct mr_form *form, cublasHandle_t handle, cublasMath_t *mode)
{
    ENTER(mode);
    *mode = blas->math_mode;
    return CUBLAS_STATUS_SUCCESS;
}

/* All modes compute as the default does: in the elements' own precision. */
cublasStatus_t mr_cublas_SetMathMode(const struct mr_form *form, cublasHandle_t handle, cublasMath_t mode)
{
    unsigned kind = (unsigned)mode & 15u;
    ENTER(((unsigned)mode & ~31u) == 0 &&
          (kind <= CUBLAS_FP32_EMULATED_BF16X9_MATH || kind == CUBLAS_FP64_EMULATED_FIXEDPOINT_MATH));
    blas->math_mode = mode;
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t mr_cublas_GetSmCountTarget(const struct mr_form *form, cublasHandle_t handle, int *smCountTarget)
{
    ENTER(smCountTarget);
    *smCountTarget = blas->sm_count;
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t mr_cublas_SetSmCountTarget(const struct mr_form *form, cublasHandle_t handle, int64_t smCountTarget)
{
    CUdevice device = 0;
    int all = 0;
    ENTER(smCountTarget >= 0);
    if (mr_math_driver.cuCtxGetDevice(&device) != CUDA_SUCCESS ||
        mr_math_driver.cuDeviceGetAttribute(&all, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, device) != CUDA_SUCCESS)
        return CUBLAS_STATUS_INTERNAL_ERROR;
    MR_CHECK(form, smCountTarget <= all);
    blas->sm_count = (int)smCountTarget;
    return CUBLAS_STATUS_SUCCESS;
}

/* Settings of emulations: kept for the program. Millrace computes in the type that was asked for. */
#define KEPT(name, type, value_type, field, parameter, right) \
    cublasStatus_t mr_cublas_Get##name(const struct mr_form *form, cublasHandle_t handle, type *parameter) \
    { \
        ENTER(parameter); \
        *parameter = blas->field; \
        return CUBLAS_STATUS_SUCCESS; \
    } \
    cublasStatus_t mr_cublas_Set##name(const struct mr_form *form, cublasHandle_t handle, value_type parameter) \
    { \
        ENTER(right); \
        blas->field = (type)parameter; \
        return CUBLAS_STATUS_SUCCESS; \
    }

KEPT(EmulationStrategy, cublasEmulationStrategy_t, cublasEmulationStrategy_t, strategy, emulationStrategy,
     (unsigned)emulationStrategy <= CUBLAS_EMULATION_STRATEGY_EAGER)
KEPT(EmulationSpecialValuesSupport, cudaEmulationSpecialValuesSupport, cudaEmulationSpecialValuesSupport,
     special_values, mask, true)
KEPT(FixedPointEmulationMantissaControl, cudaEmulationMantissaControl, cudaEmulationMantissaControl, mantissa_control,
     mantissaControl, (unsigned)mantissaControl <= CUDA_EMULATION_MANTISSA_CONTROL_FIXED)
KEPT(FixedPointEmulationMaxMantissaBitCount, int, int64_t, mantissa_bits, maxMantissaBitCount, maxMantissaBitCount >= 0)
KEPT(FixedPointEmulationMantissaBitOffset, int, int64_t, mantissa_offset, mantissaBitOffset, true)
KEPT(FixedPointEmulationMantissaBitCountPointer, int *, int *, mantissa_pointer, mantissaBitCount, true)

const char *mr_cublas_GetStatusName(const struct mr_form *form, cublasStatus_t status)
{
    (void)form;
    return mr_blas_status_name(status);
}

const char *mr_cublas_GetStatusString(const struct mr_form *form, cublasStatus_t status)
{
    (void)form;
    return mr_blas_status_text(status);
}
