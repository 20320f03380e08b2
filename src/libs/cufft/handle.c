/* SPDX-License-Identifier: Apache-2.0 */
/* Handles of cuFFT: making, ending, settings, versions. */
#include <stdarg.h>
#include <stdlib.h>

#include "libs/cufft/fft.h"
#include "libs/cufft/refuse.h"
#include "libs/math/driver.h"
#include "libs/math/handles.h"
#include "libs/math/refusal.h"

void mr_fft_say_bad(const struct mr_form *form, cufftResult status, const char *format, ...)
{
    char reason[MR_MATH_REASON];
    va_list arguments;
    va_start(arguments, format);
    mr_math_refuse(form->name, status == CUFFT_NOT_SUPPORTED || status == CUFFT_NOT_IMPLEMENTED, reason, format,
                   arguments);
    va_end(arguments);
}

cufftResult mr_cufft_refuse(const char *function)
{
    mr_math_refuse_function(function);
    return CUFFT_NOT_SUPPORTED;
}

cufftResult mr_fft_enter(const struct mr_form *form, cufftHandle plan, struct mr_fft **fft)
{
    *fft = plan < 0 ? NULL : mr_math_handle_find(mr_math_handle_of_number(plan));
    if (!*fft)
        return mr_fft_bad(form, CUFFT_INVALID_PLAN, "%d is not a live plan", plan);
    if (!mr_math_context((*fft)->context))
        return mr_fft_bad(form, CUFFT_INTERNAL_ERROR, "the plan's context is gone");
    return CUFFT_SUCCESS;
}

cufftResult mr_fft_create(const struct mr_form *form, cufftHandle *plan)
{
    CUcontext context;
    if (!mr_math_driver_open() || !(context = mr_math_context(NULL)))
        return mr_fft_bad(form, CUFFT_SETUP_FAILED, "there is no device");
    struct mr_fft *fft = calloc(1, sizeof *fft);
    if (!fft)
        return CUFFT_ALLOC_FAILED;
    fft->context = context;
    void *handle = mr_math_handle_new(fft);
    if (!handle) {
        free(fft);
        return mr_fft_bad(form, CUFFT_ALLOC_FAILED, "there are %u plans already", MR_MATH_HANDLES);
    }
    *plan = mr_math_handle_number(handle);
    return CUFFT_SUCCESS;
}

cufftResult mr_cufft_Create(const struct mr_form *form, cufftHandle *plan)
{
    if (!plan)
        return mr_fft_bad(form, CUFFT_INVALID_VALUE, "the pointer is NULL");
    return mr_fft_create(form, plan);
}

/* Work that the plan has submitted holds what it needs: nothing is waited for. */
cufftResult mr_cufft_Destroy(const struct mr_form *form, cufftHandle plan)
{
    if (plan == CUFFT_PLAN_NULL)
        return CUFFT_SUCCESS;
    struct mr_fft *fft = plan < 0 ? NULL : mr_math_handle_end(mr_math_handle_of_number(plan));
    if (!fft)
        return mr_fft_bad(form, CUFFT_INVALID_PLAN, "%d is not a live plan", plan);
    mr_fft_end(fft);
    return CUFFT_SUCCESS;
}

cufftResult mr_cufft_SetStream(const struct mr_form *form, cufftHandle plan, cudaStream_t stream)
{
    struct mr_fft *fft;
    cufftResult status = mr_fft_enter(form, plan, &fft);
    if (status == CUFFT_SUCCESS)
        fft->stream = (CUstream)stream;
    return status;
}

cufftResult mr_cufft_GetVersion(const struct mr_form *form, int *version)
{
    if (!version)
        return mr_fft_bad(form, CUFFT_INVALID_VALUE, "the pointer is NULL");
    *version = MR_LIBRARY_VERSION;
    return CUFFT_SUCCESS;
}

cufftResult mr_cufft_GetProperty(const struct mr_form *form, libraryPropertyType type, int *value)
{
    if (type > PATCH_LEVEL)
        return mr_fft_bad(form, CUFFT_INVALID_TYPE, "there is no property %d", (int)type);
    if (!value)
        return mr_fft_bad(form, CUFFT_INVALID_VALUE, "the pointer is NULL");
    *value = type == MAJOR_VERSION   ? MR_LIBRARY_VERSION / 1000
             : type == MINOR_VERSION ? MR_LIBRARY_VERSION / 100 % 10
                                     : MR_LIBRARY_VERSION % 100;
    return CUFFT_SUCCESS;
}

/* ---- properties of plans ---- */

/* Whether the plan has that property. As on hardware: the number of the host's threads is known and not supported. */
static cufftResult check_property(const struct mr_form *form, cufftHandle plan, cufftProperty property,
                                  struct mr_fft **fft)
{
    cufftResult status = mr_fft_enter(form, plan, fft);
    if (status != CUFFT_SUCCESS)
        return status;
    if (property == NVFFT_PLAN_PROPERTY_INT64_MAX_NUM_HOST_THREADS)
        return mr_fft_bad(form, CUFFT_NOT_SUPPORTED, "the number of the host's threads can't be limited");
    if (property != NVFFT_PLAN_PROPERTY_INT64_PATIENT_JIT)
        return mr_fft_bad(form, CUFFT_INVALID_VALUE, "there is no property %d", (int)property);
    return CUFFT_SUCCESS;
}

cufftResult mr_cufft_SetPlanPropertyInt64(const struct mr_form *form, cufftHandle plan, cufftProperty property,
                                          const long long value)
{
    struct mr_fft *fft;
    cufftResult status = check_property(form, plan, property, &fft);
    if (status != CUFFT_SUCCESS)
        return status;
    if (fft->made)
        return mr_fft_bad(form, CUFFT_NOT_SUPPORTED, "the plan is made already");
    fft->patient = value;
    return CUFFT_SUCCESS;
}

cufftResult mr_cufft_GetPlanPropertyInt64(const struct mr_form *form, cufftHandle plan, cufftProperty property,
                                          long long *value)
{
    struct mr_fft *fft;
    cufftResult status = check_property(form, plan, property, &fft);
    if (status != CUFFT_SUCCESS)
        return status;
    if (!value)
        return mr_fft_bad(form, CUFFT_INVALID_VALUE, "the pointer is NULL");
    *value = fft->patient;
    return CUFFT_SUCCESS;
}

cufftResult mr_cufft_ResetPlanProperty(const struct mr_form *form, cufftHandle plan, cufftProperty property)
{
    return mr_cufft_SetPlanPropertyInt64(form, plan, property, 0);
}
