/* SPDX-License-Identifier: Apache-2.0 */
/* Handles of cuDNN, versions, errors in words, callbacks. */
#include <cuda_runtime_api.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cudnn_impl.h"
#include "libs/cudnn/dnn.h"
#include "libs/cudnn/refuse.h"
#include "libs/math/driver.h"
#include "libs/math/refusal.h"

static _Thread_local char last_error[512];

/* The program's callback, which hears of calls that fail; it is called without the lock. */
static pthread_mutex_t callback_lock = PTHREAD_MUTEX_INITIALIZER;
static unsigned callback_mask;
static void *callback_data;
static cudnnCallback_t callback;

static void tell_callback(cudnnStatus_t status)
{
    pthread_mutex_lock(&callback_lock);
    cudnnCallback_t wanted = callback_mask & CUDNN_SEV_ERROR_EN ? callback : NULL;
    void *data = callback_data;
    pthread_mutex_unlock(&callback_lock);
    if (!wanted)
        return;
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    cudnnDebug_t debug = {.cudnn_version = CUDNN_VERSION,
                          .cudnnStatus = status,
                          .time_sec = (unsigned)now.tv_sec,
                          .time_usec = (unsigned)(now.tv_nsec / 1000),
                          .pid = (unsigned long long)getpid(),
                          .tid = (unsigned long long)gettid()};
    wanted(CUDNN_SEV_ERROR, data, &debug, last_error);
}

cudnnStatus_t mr_dnn_bad(const char *function, cudnnStatus_t status, const char *format, ...)
{
    char reason[MR_MATH_REASON];
    bool is_missing = CUDNN_STATUS_CATEGORY(status) == CUDNN_STATUS_NOT_SUPPORTED;
    va_list arguments;
    va_start(arguments, format);
    mr_math_refuse(function, is_missing, reason, format, arguments);
    va_end(arguments);
    snprintf(last_error, sizeof last_error, "%s: %s", function, reason);
    tell_callback(status);
    return status;
}

cudnnStatus_t mr_cudnn_refuse(const char *function)
{
    return mr_dnn_bad(function, CUDNN_STATUS_NOT_SUPPORTED, "it is not implemented");
}

cudnnStatus_t mr_dnn_enter(const char *function, cudnnHandle_t handle)
{
    if (!handle)
        return mr_dnn_bad(function, CUDNN_STATUS_BAD_PARAM, "the handle is NULL");
    if (!mr_math_context(handle->context))
        return mr_dnn_bad(function, CUDNN_STATUS_NOT_INITIALIZED, "the handle's context is gone");
    return CUDNN_STATUS_SUCCESS;
}

static cudnnStatus_t submitted(const char *function, CUresult result)
{
    if (result == CUDA_SUCCESS)
        return CUDNN_STATUS_SUCCESS;
    if (result == CUDA_ERROR_OUT_OF_MEMORY)
        return mr_dnn_bad(function, CUDNN_STATUS_ALLOC_FAILED, "memory is short");
    return mr_dnn_bad(function, CUDNN_STATUS_EXECUTION_FAILED, "the driver answers %d", (int)result);
}

cudnnStatus_t mr_dnn_submit(const char *function, cudnnHandle_t handle, uint64_t parts,
                            void (*run)(void *record, uint64_t first, uint64_t end), const void *record, size_t size)
{
    return submitted(function, mr_math_submit(handle->stream, parts, run, record, size));
}

cudnnStatus_t mr_dnn_submit_more(const char *function, cudnnHandle_t handle, uint64_t parts,
                                 void (*run)(void *record, uint64_t first, uint64_t end), const void *record,
                                 size_t size, const void *more, size_t extra)
{
    return submitted(function, mr_math_submit_more(handle->stream, parts, run, record, size, more, extra));
}

cudnnStatus_t mr_cudnn_Create(const struct mr_form *form, cudnnHandle_t *handle)
{
    CUcontext context;
    MR_POINTER(handle);
    MR_WANT(mr_math_driver_open() && (context = mr_math_context(NULL)), CUDNN_STATUS_NOT_INITIALIZED,
            "there is no device");
    struct cudnnContext *made = calloc(1, sizeof *made);
    MR_WANT(made, CUDNN_STATUS_ALLOC_FAILED, "memory is short");
    made->context = context;
    *handle = made;
    return CUDNN_STATUS_SUCCESS;
}

/* Work that was submitted holds what it needs: nothing is waited for. */
cudnnStatus_t mr_cudnn_Destroy(const struct mr_form *form, cudnnHandle_t handle)
{
    (void)form;
    free(handle);
    return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t mr_cudnn_SetStream(const struct mr_form *form, cudnnHandle_t handle, cudaStream_t streamId)
{
    MR_POINTER(handle);
    handle->stream = (CUstream)streamId;
    return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t mr_cudnn_GetStream(const struct mr_form *form, cudnnHandle_t handle, cudaStream_t *streamId)
{
    MR_POINTER(handle);
    MR_POINTER(streamId);
    *streamId = (cudaStream_t)handle->stream;
    return CUDNN_STATUS_SUCCESS;
}

/* ---- versions ---- */

size_t mr_cudnn_GetVersion(const struct mr_form *form)
{
    (void)form;
    return CUDNN_VERSION;
}

size_t mr_cudnn_GetMaxDeviceVersion(const struct mr_form *form)
{
    (void)form;
    return CUDNN_MAX_DEVICE_VERSION;
}

size_t mr_cudnn_GetCudartVersion(const struct mr_form *form)
{
    (void)form;
    return MR_CUDA_VERSION / 10 * 10;
}

cudnnStatus_t mr_cudnn_GetProperty(const struct mr_form *form, libraryPropertyType type, int *value)
{
    MR_WANT(type <= PATCH_LEVEL, CUDNN_STATUS_BAD_PARAM, "there is no property %d", (int)type);
    MR_POINTER(value);
    *value = type == MAJOR_VERSION ? CUDNN_MAJOR : type == MINOR_VERSION ? CUDNN_MINOR : CUDNN_PATCHLEVEL;
    return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t mr_cudnn_GraphVersionCheck(const struct mr_form *form)
{
    (void)form;
    return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t mr_cudnn_OpsVersionCheck(const struct mr_form *form)
{
    (void)form;
    return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t mr_cudnn_CnnVersionCheck(const struct mr_form *form)
{
    (void)form;
    return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t mr_cudnn_AdvVersionCheck(const struct mr_form *form)
{
    (void)form;
    return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t mr_cudnn_SubquadraticOpsVersionCheck(const struct mr_form *form)
{
    (void)form;
    return CUDNN_STATUS_SUCCESS;
}

/* ---- errors ---- */

const char *mr_cudnn_GetErrorString(const struct mr_form *form, cudnnStatus_t status)
{
    (void)form;
    switch ((int)status) {
#define NAME(name) \
    case name: \
        return #name;
        NAME(CUDNN_STATUS_SUCCESS)
        NAME(CUDNN_STATUS_NOT_INITIALIZED)
        NAME(CUDNN_STATUS_SUBLIBRARY_VERSION_MISMATCH)
        NAME(CUDNN_STATUS_SERIALIZATION_VERSION_MISMATCH)
        NAME(CUDNN_STATUS_DEPRECATED)
        NAME(CUDNN_STATUS_LICENSE_ERROR)
        NAME(CUDNN_STATUS_RUNTIME_IN_PROGRESS)
        NAME(CUDNN_STATUS_RUNTIME_FP_OVERFLOW)
        NAME(CUDNN_STATUS_SUBLIBRARY_LOADING_FAILED)
        NAME(CUDNN_STATUS_BAD_PARAM)
        NAME(CUDNN_STATUS_INVALID_VALUE)
        NAME(CUDNN_STATUS_BAD_PARAM_NULL_POINTER)
        NAME(CUDNN_STATUS_BAD_PARAM_MISALIGNED_POINTER)
        NAME(CUDNN_STATUS_BAD_PARAM_NOT_FINALIZED)
        NAME(CUDNN_STATUS_BAD_PARAM_OUT_OF_BOUND)
        NAME(CUDNN_STATUS_BAD_PARAM_SIZE_INSUFFICIENT)
        NAME(CUDNN_STATUS_BAD_PARAM_STREAM_MISMATCH)
        NAME(CUDNN_STATUS_BAD_PARAM_SHAPE_MISMATCH)
        NAME(CUDNN_STATUS_BAD_PARAM_DUPLICATED_ENTRIES)
        NAME(CUDNN_STATUS_BAD_PARAM_ATTRIBUTE_TYPE)
        NAME(CUDNN_STATUS_BAD_PARAM_CUDA_GRAPH_MISMATCH)
        NAME(CUDNN_STATUS_BAD_PARAM_DESCRIPTOR_TYPE)
        NAME(CUDNN_STATUS_NOT_SUPPORTED)
        NAME(CUDNN_STATUS_NOT_SUPPORTED_GRAPH_PATTERN)
        NAME(CUDNN_STATUS_NOT_SUPPORTED_SHAPE)
        NAME(CUDNN_STATUS_NOT_SUPPORTED_DATA_TYPE)
        NAME(CUDNN_STATUS_NOT_SUPPORTED_LAYOUT)
        NAME(CUDNN_STATUS_NOT_SUPPORTED_INCOMPATIBLE_CUDA_DRIVER)
        NAME(CUDNN_STATUS_NOT_SUPPORTED_INCOMPATIBLE_CUDART)
        NAME(CUDNN_STATUS_NOT_SUPPORTED_ARCH_MISMATCH)
        NAME(CUDNN_STATUS_NOT_SUPPORTED_RUNTIME_PREREQUISITE_MISSING)
        NAME(CUDNN_STATUS_NOT_SUPPORTED_SUBLIBRARY_UNAVAILABLE)
        NAME(CUDNN_STATUS_NOT_SUPPORTED_SHARED_MEMORY_INSUFFICIENT)
        NAME(CUDNN_STATUS_NOT_SUPPORTED_PADDING)
        NAME(CUDNN_STATUS_NOT_SUPPORTED_BAD_LAUNCH_PARAM)
        NAME(CUDNN_STATUS_NOT_SUPPORTED_CUDA_GRAPH_NATIVE_API)
        NAME(CUDNN_STATUS_NOT_SUPPORTED_INVALID_DYNAMIC_SHAPE)
        NAME(CUDNN_STATUS_INTERNAL_ERROR)
        NAME(CUDNN_STATUS_INTERNAL_ERROR_COMPILATION_FAILED)
        NAME(CUDNN_STATUS_INTERNAL_ERROR_UNEXPECTED_VALUE)
        NAME(CUDNN_STATUS_INTERNAL_ERROR_HOST_ALLOCATION_FAILED)
        NAME(CUDNN_STATUS_INTERNAL_ERROR_DEVICE_ALLOCATION_FAILED)
        NAME(CUDNN_STATUS_INTERNAL_ERROR_BAD_LAUNCH_PARAM)
        NAME(CUDNN_STATUS_INTERNAL_ERROR_TEXTURE_CREATION_FAILED)
        NAME(CUDNN_STATUS_EXECUTION_FAILED)
        NAME(CUDNN_STATUS_EXECUTION_FAILED_CUDA_DRIVER)
        NAME(CUDNN_STATUS_EXECUTION_FAILED_CUBLAS)
        NAME(CUDNN_STATUS_EXECUTION_FAILED_CUDART)
        NAME(CUDNN_STATUS_EXECUTION_FAILED_CURAND)
#undef NAME
    default:
        return "CUDNN_UNKNOWN_STATUS";
    }
}

void mr_cudnn_GetLastErrorString(const struct mr_form *form, char *message, size_t max_size)
{
    (void)form;
    if (message && max_size)
        snprintf(message, max_size, "%s", last_error);
    last_error[0] = 0;
}

/* Kernels here report no errors of their own beyond those of the stream. */
cudnnStatus_t mr_cudnn_QueryRuntimeError(const struct mr_form *form, cudnnHandle_t handle, cudnnStatus_t *rstatus,
                                         cudnnErrQueryMode_t mode, cudnnRuntimeTag_t *tag)
{
    (void)tag;
    MR_STEP(mr_dnn_enter(form->name, handle));
    MR_POINTER(rstatus);
    MR_WANT(mode <= CUDNN_ERRQUERY_BLOCKING, CUDNN_STATUS_BAD_PARAM, "there is no mode %d", (int)mode);
    *rstatus = CUDNN_STATUS_SUCCESS;
    if (mode == CUDNN_ERRQUERY_BLOCKING && mr_math_driver.cuStreamSynchronize(handle->stream) != CUDA_SUCCESS)
        *rstatus = CUDNN_STATUS_EXECUTION_FAILED;
    return CUDNN_STATUS_SUCCESS;
}

/* ---- the program's callback ---- */

cudnnStatus_t mr_cudnn_SetCallback(const struct mr_form *form, unsigned mask, void *udata, cudnnCallback_t fptr)
{
    (void)form;
    pthread_mutex_lock(&callback_lock);
    callback_mask = mask;
    callback_data = udata;
    callback = fptr;
    pthread_mutex_unlock(&callback_lock);
    return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t mr_cudnn_GetCallback(const struct mr_form *form, unsigned *mask, void **udata, cudnnCallback_t *fptr)
{
    MR_POINTER(mask);
    MR_POINTER(udata);
    MR_POINTER(fptr);
    pthread_mutex_lock(&callback_lock);
    *mask = callback_mask;
    *udata = callback_data;
    *fptr = callback;
    pthread_mutex_unlock(&callback_lock);
    return CUDNN_STATUS_SUCCESS;
}
