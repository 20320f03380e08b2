/* SPDX-License-Identifier: Apache-2.0 */
/* Handles of cuSPARSE: making, ending, settings; statuses; the way into the stream. */
#include <pthread.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/mutex.h"
#include "libs/cusparse/logger.h"
#include "libs/cusparse/refuse.h"
#include "libs/cusparse/sparse.h"
#include "libs/math/driver.h"
#include "libs/math/handles.h"
#include "libs/math/refusal.h"

cusparseStatus_t mr_cusparse_bad(const struct mr_form *form, cusparseStatus_t status, const char *format, ...)
{
    char reason[MR_MATH_REASON];
    va_list arguments;
    va_start(arguments, format);
    mr_math_refuse(form->name, status == CUSPARSE_STATUS_NOT_SUPPORTED, reason, format, arguments);
    va_end(arguments);
    mr_cusparse_tell(form->name, reason);
    return status;
}

cusparseStatus_t mr_cusparse_refuse(const char *function)
{
    mr_math_refuse_function(function);
    mr_cusparse_tell(function, "not implemented");
    return CUSPARSE_STATUS_NOT_SUPPORTED;
}

cusparseStatus_t mr_cusparse_status(const struct mr_form *form, CUresult result)
{
    switch (result) {
    case CUDA_SUCCESS:
        return CUSPARSE_STATUS_SUCCESS;
    case CUDA_ERROR_OUT_OF_MEMORY:
        return mr_cusparse_bad(form, CUSPARSE_STATUS_ALLOC_FAILED, "memory is short");
    default:
        return mr_cusparse_bad(form, CUSPARSE_STATUS_EXECUTION_FAILED, "the driver answers %d", (int)result);
    }
}

cusparseStatus_t mr_cusparse_submit(const struct mr_form *form, const struct mr_cusparse *sparse, uint64_t parts,
                                    void (*run)(void *record, uint64_t first, uint64_t end), const void *record,
                                    size_t size)
{
    return mr_cusparse_status(form, mr_math_submit(sparse->stream, parts, run, record, size));
}

bool mr_cusparse_captures(const struct mr_cusparse *sparse)
{
    CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
    return mr_math_driver.cuStreamIsCapturing(sparse->stream, &status) == CUDA_SUCCESS &&
           status != CU_STREAM_CAPTURE_STATUS_NONE;
}

cusparseStatus_t mr_cusparse_wait(const struct mr_form *form, const struct mr_cusparse *sparse)
{
    if (mr_cusparse_captures(sparse))
        return mr_cusparse_bad(form, CUSPARSE_STATUS_INTERNAL_ERROR,
                               "a result for the host can't be waited for in a capture");
    return mr_cusparse_status(form, mr_math_driver.cuStreamSynchronize(sparse->stream));
}

cusparseStatus_t mr_cusparse_enter(const struct mr_form *form, cusparseHandle_t handle, struct mr_cusparse **sparse)
{
    *sparse = mr_math_handle_find(handle);
    if (!handle)
        return mr_cusparse_bad(form, CUSPARSE_STATUS_INVALID_VALUE, "the handle is NULL");
    if (!*sparse)
        return mr_cusparse_bad(form, CUSPARSE_STATUS_NOT_INITIALIZED, "%p is not a live handle", (void *)handle);
    if (!mr_math_context((*sparse)->context))
        return mr_cusparse_bad(form, CUSPARSE_STATUS_NOT_INITIALIZED, "the handle's context is gone");
    mr_cusparse_tell(form->name, NULL);
    return CUSPARSE_STATUS_SUCCESS;
}

/* ---- descriptions ---- */

#define CHUNK 64 /* descriptions that are allocated at once */

union place {
    union place *next;
    _Alignas(16) char bytes[MR_DESCRIPTION_SIZE];
};

struct chunk {
    struct chunk *next;
    union place places[CHUNK];
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* guards the lists */
static struct chunk *chunks; /* all of them, for the life of the process */
static union place *free_places;

/* The link lies behind the kind, which stays 0. The lock is held. */
static union place **link_of(union place *place)
{
    MR_MUTEX_HELD(&lock);
    return (union place **)(void *)(place->bytes + 8);
}

static void push(union place *place)
{
    memset(place, 0, sizeof *place);
    *link_of(place) = free_places;
    free_places = place;
}

void *mr_cusparse_description(enum mr_kind kind, size_t size)
{
    (void)size;
    pthread_mutex_lock(&lock);
    if (!free_places) {
        struct chunk *chunk = calloc(1, sizeof *chunk);
        if (chunk) {
            chunk->next = chunks;
            chunks = chunk;
            for (unsigned i = 0; i < CHUNK; i++)
                push(&chunk->places[i]);
        }
    }
    union place *place = free_places;
    if (place) {
        free_places = *link_of(place);
        memset(place, 0, sizeof *place);
        memcpy(place, &kind, sizeof kind);
    }
    pthread_mutex_unlock(&lock);
    return place;
}

bool mr_cusparse_forget(const void *description, enum mr_kind kind)
{
    pthread_mutex_lock(&lock);
    bool is_one = mr_is(description, kind);
    if (is_one)
        push((union place *)description);
    pthread_mutex_unlock(&lock);
    return is_one;
}

/* ---- handles ---- */

cusparseStatus_t mr_cusparse_Create(const struct mr_form *form, cusparseHandle_t *handle)
{
    MR_CHECK(form, handle);
    CUcontext context;
    if (!mr_math_driver_open() || !(context = mr_math_context(NULL)))
        return CUSPARSE_STATUS_NOT_INITIALIZED;
    struct mr_cusparse *sparse = calloc(1, sizeof *sparse);
    if (!sparse)
        return CUSPARSE_STATUS_ALLOC_FAILED;
    sparse->context = context;
    *handle = mr_math_handle_new(sparse);
    if (*handle)
        return CUSPARSE_STATUS_SUCCESS;
    free(sparse);
    return mr_cusparse_bad(form, CUSPARSE_STATUS_ALLOC_FAILED, "there are %u handles already", MR_MATH_HANDLES);
}

/* Waits for the device, as on hardware. */
cusparseStatus_t mr_cusparse_Destroy(const struct mr_form *form, cusparseHandle_t handle)
{
    if (!handle)
        return CUSPARSE_STATUS_SUCCESS;
    struct mr_cusparse *sparse = mr_math_handle_end(handle);
    if (!sparse)
        return mr_cusparse_bad(form, CUSPARSE_STATUS_NOT_INITIALIZED, "%p is not a live handle", (void *)handle);
    if (mr_math_context(sparse->context))
        (void)mr_math_driver.cuCtxSynchronize();
    free(sparse);
    return CUSPARSE_STATUS_SUCCESS;
}

cusparseStatus_t mr_cusparse_GetVersion(const struct mr_form *form, cusparseHandle_t handle, int *version)
{
    MR_ENTER(form, handle);
    MR_CHECK(form, version);
    *version = CUSPARSE_VERSION;
    return CUSPARSE_STATUS_SUCCESS;
}

cusparseStatus_t mr_cusparse_GetProperty(const struct mr_form *form, libraryPropertyType type, int *value)
{
    MR_CHECK(form, value);
    MR_CHECK(form, type == MAJOR_VERSION || type == MINOR_VERSION || type == PATCH_LEVEL);
    *value = type == MAJOR_VERSION   ? CUSPARSE_VER_MAJOR
             : type == MINOR_VERSION ? CUSPARSE_VER_MINOR
                                     : CUSPARSE_VER_PATCH;
    return CUSPARSE_STATUS_SUCCESS;
}

cusparseStatus_t mr_cusparse_SetStream(const struct mr_form *form, cusparseHandle_t handle, cudaStream_t streamId)
{
    MR_ENTER(form, handle);
    sparse->stream = streamId;
    return CUSPARSE_STATUS_SUCCESS;
}

cusparseStatus_t mr_cusparse_GetStream(const struct mr_form *form, cusparseHandle_t handle, cudaStream_t *streamId)
{
    MR_ENTER(form, handle);
    MR_CHECK(form, streamId);
    *streamId = sparse->stream;
    return CUSPARSE_STATUS_SUCCESS;
}

cusparseStatus_t mr_cusparse_GetPointerMode(const struct mr_form *form, cusparseHandle_t handle,
                                            cusparsePointerMode_t *mode)
{
    MR_ENTER(form, handle);
    MR_CHECK(form, mode);
    *mode = sparse->pointer_mode;
    return CUSPARSE_STATUS_SUCCESS;
}

cusparseStatus_t mr_cusparse_SetPointerMode(const struct mr_form *form, cusparseHandle_t handle,
                                            cusparsePointerMode_t mode)
{
    MR_ENTER(form, handle);
    MR_CHECK(form, mode == CUSPARSE_POINTER_MODE_HOST || mode == CUSPARSE_POINTER_MODE_DEVICE);
    sparse->pointer_mode = mode;
    return CUSPARSE_STATUS_SUCCESS;
}

/* ---- statuses ---- */

static const struct {
    const char *name, *text;
} statuses[] = {
    [CUSPARSE_STATUS_SUCCESS] = {"CUSPARSE_STATUS_SUCCESS", "success"},
    [CUSPARSE_STATUS_NOT_INITIALIZED] = {"CUSPARSE_STATUS_NOT_INITIALIZED", "initialization error"},
    [CUSPARSE_STATUS_ALLOC_FAILED] = {"CUSPARSE_STATUS_ALLOC_FAILED", "out of memory"},
    [CUSPARSE_STATUS_INVALID_VALUE] = {"CUSPARSE_STATUS_INVALID_VALUE", "invalid value"},
    [CUSPARSE_STATUS_ARCH_MISMATCH] = {"CUSPARSE_STATUS_ARCH_MISMATCH", "architecture mismatch"},
    [CUSPARSE_STATUS_MAPPING_ERROR] = {"CUSPARSE_STATUS_MAPPING_ERROR", "texture memory mapping error"},
    [CUSPARSE_STATUS_EXECUTION_FAILED] = {"CUSPARSE_STATUS_EXECUTION_FAILED", "kernel launch failure"},
    [CUSPARSE_STATUS_INTERNAL_ERROR] = {"CUSPARSE_STATUS_INTERNAL_ERROR", "internal error"},
    [CUSPARSE_STATUS_MATRIX_TYPE_NOT_SUPPORTED] = {"CUSPARSE_STATUS_MATRIX_TYPE_NOT_SUPPORTED",
                                                   "matrix type not supported"},
    [CUSPARSE_STATUS_ZERO_PIVOT] = {"CUSPARSE_STATUS_ZERO_PIVOT", "zero pivot"},
    [CUSPARSE_STATUS_NOT_SUPPORTED] = {"CUSPARSE_STATUS_NOT_SUPPORTED", "operation not supported"},
    [CUSPARSE_STATUS_INSUFFICIENT_RESOURCES] = {"CUSPARSE_STATUS_INSUFFICIENT_RESOURCES", "insufficient resources"},
};

const char *mr_cusparse_GetErrorName(const struct mr_form *form, cusparseStatus_t status)
{
    (void)form;
    return (unsigned)status < sizeof statuses / sizeof *statuses ? statuses[status].name : "unrecognized error code";
}

const char *mr_cusparse_GetErrorString(const struct mr_form *form, cusparseStatus_t status)
{
    (void)form;
    return (unsigned)status < sizeof statuses / sizeof *statuses ? statuses[status].text : "unrecognized error code";
}
