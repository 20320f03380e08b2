/* SPDX-License-Identifier: Apache-2.0 */
/* Handles of the dense part and their settings; versions. Settings of precision and determinism are kept and given
 * back: every result here is the same on every run, and computed in the type that was asked for. */
#include "libs/cusolver/solver.h"

cusolverStatus_t mr_cusolver_GetProperty(const struct mr_form *form, libraryPropertyType type, int *value)
{
    MR_CHECK(form, value);
    MR_CHECK(form, type == MAJOR_VERSION || type == MINOR_VERSION || type == PATCH_LEVEL);
    *value = type == MAJOR_VERSION   ? MR_LIBRARY_VERSION / 1000
             : type == MINOR_VERSION ? MR_LIBRARY_VERSION / 100 % 10
                                     : MR_LIBRARY_VERSION % 100;
    return CUSOLVER_STATUS_SUCCESS;
}

cusolverStatus_t mr_cusolver_GetVersion(const struct mr_form *form, int *version)
{
    MR_CHECK(form, version);
    *version = MR_LIBRARY_VERSION;
    return CUSOLVER_STATUS_SUCCESS;
}

cusolverStatus_t mr_cusolver_Create(const struct mr_form *form, cusolverDnHandle_t *handle)
{
    return mr_solver_create(form, MR_SOLVER_DENSE, (void **)handle);
}

cusolverStatus_t mr_cusolver_Destroy(const struct mr_form *form, cusolverDnHandle_t handle)
{
    return mr_solver_destroy(form, MR_SOLVER_DENSE, handle);
}

cusolverStatus_t mr_cusolver_SetStream(const struct mr_form *form, cusolverDnHandle_t handle, cudaStream_t streamId)
{
    MR_ENTER();
    solver->stream = streamId;
    return CUSOLVER_STATUS_SUCCESS;
}

cusolverStatus_t mr_cusolver_GetStream(const struct mr_form *form, cusolverDnHandle_t handle, cudaStream_t *streamId)
{
    MR_ENTER();
    MR_CHECK(form, streamId);
    *streamId = solver->stream;
    return CUSOLVER_STATUS_SUCCESS;
}

#define KEPT(Name, type, field, parameter, right, wrong) \
    cusolverStatus_t mr_cusolver_Get##Name(const struct mr_form *form, cusolverDnHandle_t handle, type *parameter) \
    { \
        MR_ENTER(); \
        MR_CHECK(form, parameter); \
        *parameter = solver->field; \
        return CUSOLVER_STATUS_SUCCESS; \
    } \
    cusolverStatus_t mr_cusolver_Set##Name(const struct mr_form *form, cusolverDnHandle_t handle, type parameter) \
    { \
        MR_ENTER(); \
        if (!(right)) \
            return mr_solver_bad(form, wrong, "%s does not hold", #right); \
        solver->field = parameter; \
        return CUSOLVER_STATUS_SUCCESS; \
    }

KEPT(DeterministicMode, cusolverDeterministicMode_t, deterministic, mode,
     mode == CUSOLVER_DETERMINISTIC_RESULTS || mode == CUSOLVER_ALLOW_NON_DETERMINISTIC_RESULTS,
     CUSOLVER_STATUS_INTERNAL_ERROR)
KEPT(MathMode, cusolverMathMode_t, math_mode, mode,
     mode == CUSOLVER_DEFAULT_MATH || mode == CUSOLVER_FP32_EMULATED_BF16X9_MATH, CUSOLVER_STATUS_INVALID_VALUE)
KEPT(EmulationStrategy, cudaEmulationStrategy_t, strategy, strategy,
     (unsigned)strategy <= CUDA_EMULATION_STRATEGY_EAGER, CUSOLVER_STATUS_INVALID_VALUE)
