/* SPDX-License-Identifier: Apache-2.0 */
/* Handles and other objects of cuSOLVER; refusals; the way into the stream. */
#include "libs/cusolver/solver.h"

#include <stdarg.h>
#include <stdlib.h>

#include "libs/cusolver/refuse.h"
#include "libs/math/driver.h"
#include "libs/math/handles.h"
#include "libs/math/refusal.h"

cusolverStatus_t mr_solver_bad(const struct mr_form *form, cusolverStatus_t status, const char *format, ...)
{
    char reason[MR_MATH_REASON];
    va_list arguments;
    va_start(arguments, format);
    mr_math_refuse(form->name, status == CUSOLVER_STATUS_NOT_SUPPORTED, reason, format, arguments);
    va_end(arguments);
    return status;
}

cusolverStatus_t mr_cusolver_refuse(const char *function)
{
    mr_math_refuse_function(function);
    return CUSOLVER_STATUS_NOT_SUPPORTED;
}

void *mr_solver_find(enum mr_solver_kind kind, const void *handle)
{
    enum mr_solver_kind *object = mr_math_handle_find(handle);
    return object && *object == kind ? object : NULL;
}

void *mr_solver_end(enum mr_solver_kind kind, const void *handle)
{
    return mr_solver_find(kind, handle) ? mr_math_handle_end(handle) : NULL;
}

cusolverStatus_t mr_solver_create(const struct mr_form *form, enum mr_solver_kind kind, void **handle)
{
    MR_CHECK(form, handle);
    if (!mr_math_driver_open() || !mr_lapack_open())
        return CUSOLVER_STATUS_NOT_INITIALIZED;
    CUcontext context = mr_math_context(NULL);
    if (!context)
        return mr_solver_bad(form, CUSOLVER_STATUS_NOT_INITIALIZED, "there is no context");
    struct mr_solver *solver = calloc(1, sizeof *solver);
    if (!solver)
        return CUSOLVER_STATUS_ALLOC_FAILED;
    solver->kind = kind;
    solver->context = context;
    solver->deterministic = CUSOLVER_DETERMINISTIC_RESULTS;
    solver->math_mode = CUSOLVER_DEFAULT_MATH;
    *handle = mr_math_handle_new(solver);
    if (*handle)
        return CUSOLVER_STATUS_SUCCESS;
    free(solver);
    return mr_solver_bad(form, CUSOLVER_STATUS_ALLOC_FAILED, "there are %u handles already", MR_MATH_HANDLES);
}

cusolverStatus_t mr_solver_destroy(const struct mr_form *form, enum mr_solver_kind kind, const void *handle)
{
    struct mr_solver *solver = mr_solver_end(kind, handle);
    if (!solver)
        return mr_solver_bad(form, CUSOLVER_STATUS_NOT_INITIALIZED, "%p is not a live handle", handle);
    free(solver);
    return CUSOLVER_STATUS_SUCCESS;
}

cusolverStatus_t mr_solver_enter(const struct mr_form *form, enum mr_solver_kind kind, const void *handle,
                                 struct mr_solver **solver)
{
    *solver = mr_solver_find(kind, handle);
    if (!*solver)
        return mr_solver_bad(form, CUSOLVER_STATUS_NOT_INITIALIZED, "%p is not a live handle", handle);
    if (!mr_math_context((*solver)->context))
        return mr_solver_bad(form, CUSOLVER_STATUS_NOT_INITIALIZED, "the handle's context is gone");
    return CUSOLVER_STATUS_SUCCESS;
}

cusolverStatus_t mr_solver_status(const struct mr_form *form, CUresult result)
{
    switch (result) {
    case CUDA_SUCCESS:
        return CUSOLVER_STATUS_SUCCESS;
    case CUDA_ERROR_OUT_OF_MEMORY:
        return mr_solver_bad(form, CUSOLVER_STATUS_ALLOC_FAILED, "memory is short");
    default:
        return mr_solver_bad(form, CUSOLVER_STATUS_INTERNAL_ERROR, "the driver answers %d", (int)result);
    }
}

cusolverStatus_t mr_solver_submit(const struct mr_form *form, const struct mr_solver *solver, uint64_t parts,
                                  void (*run)(void *record, uint64_t first, uint64_t end), const void *record,
                                  size_t size)
{
    return mr_solver_status(form, mr_math_submit(solver->stream, parts, run, record, size));
}

cusolverStatus_t mr_solver_wait(const struct mr_form *form, const struct mr_solver *solver)
{
    CUresult result = mr_math_driver.cuStreamSynchronize(solver->stream);
    if (result >= CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED && result <= CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD)
        return mr_solver_bad(form, CUSOLVER_STATUS_INTERNAL_ERROR,
                             "a result for the host can't be waited for in a capture");
    return mr_solver_status(form, result);
}
