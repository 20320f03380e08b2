/* SPDX-License-Identifier: Apache-2.0 */
/* Functions for several GPUs: such plans can't be made here, so nothing executes them. And callbacks, which are machine
 * code for a GPU: they are refused by name. */
#include <stdlib.h>

#include "libs/cufft/fft.h"
#include "libs/cufft/refuse.h"

cufftResult mr_cufft_XtSetGPUs(const struct mr_form *form, cufftHandle plan, int64_t count, int *gpus)
{
    struct mr_fft *fft;
    cufftResult status = mr_fft_enter(form, plan, &fft);
    if (status != CUFFT_SUCCESS)
        return status;
    if (fft->made)
        return mr_fft_bad(form, CUFFT_INVALID_PLAN, "the plan is made already");
    if (!gpus || count < 2 || count > 16)
        return mr_fft_bad(form, CUFFT_INVALID_VALUE, "%d GPUs: from 2 to 16 can be named", (int)count);
    for (int64_t i = 0; i < count; i++)
        if (gpus[i] != 0)
            return mr_fft_bad(form, CUFFT_INVALID_VALUE, "there is no GPU %d", gpus[i]);
    return mr_fft_bad(form, CUFFT_NOT_SUPPORTED, "a transform on several GPUs is not implemented");
}

/* There are no plans for several GPUs: what is asked about one is refused. */
static cufftResult not_several(const struct mr_form *form, cufftHandle plan)
{
    struct mr_fft *fft;
    cufftResult status = mr_fft_enter(form, plan, &fft);
    return status == CUFFT_SUCCESS ? mr_fft_bad(form, CUFFT_INVALID_PLAN, "the plan is not for several GPUs") : status;
}

cufftResult mr_cufft_XtMalloc(const struct mr_form *form, cufftHandle plan, cudaLibXtDesc **descriptor,
                              cufftXtSubFormat format)
{
    (void)descriptor;
    (void)format;
    return not_several(form, plan);
}

cufftResult mr_cufft_XtMemcpy(const struct mr_form *form, cufftHandle plan, void *to, void *from, cufftXtCopyType type)
{
    (void)to;
    (void)from;
    (void)type;
    return not_several(form, plan);
}

/* No descriptor has been given out. */
cufftResult mr_cufft_XtFree(const struct mr_form *form, cudaLibXtDesc *descriptor)
{
    return descriptor ? mr_fft_bad(form, CUFFT_INVALID_VALUE, "the descriptor is not this library's") : CUFFT_SUCCESS;
}

#define EXECUTE_DESCRIPTOR(name) \
    cufftResult mr_cufft_XtExecDescriptor##name(const struct mr_form *form, cufftHandle plan, cudaLibXtDesc *in, \
                                                cudaLibXtDesc *out)
#define EXECUTE_DESCRIPTOR_WAY(name) \
    cufftResult mr_cufft_XtExecDescriptor##name(const struct mr_form *form, cufftHandle plan, cudaLibXtDesc *in, \
                                                cudaLibXtDesc *out, int64_t direction)

static cufftResult execute_descriptor(const struct mr_form *form, cufftHandle plan, cudaLibXtDesc *in,
                                      cudaLibXtDesc *out)
{
    (void)in;
    (void)out;
    return not_several(form, plan);
}

EXECUTE_DESCRIPTOR(R2C)
{
    return execute_descriptor(form, plan, in, out);
}

EXECUTE_DESCRIPTOR(C2R)
{
    return execute_descriptor(form, plan, in, out);
}

EXECUTE_DESCRIPTOR(D2Z)
{
    return execute_descriptor(form, plan, in, out);
}

EXECUTE_DESCRIPTOR(Z2D)
{
    return execute_descriptor(form, plan, in, out);
}

EXECUTE_DESCRIPTOR_WAY(C2C)
{
    (void)direction;
    return execute_descriptor(form, plan, in, out);
}

EXECUTE_DESCRIPTOR_WAY(Z2Z)
{
    (void)direction;
    return execute_descriptor(form, plan, in, out);
}

EXECUTE_DESCRIPTOR_WAY()
{
    (void)direction;
    return execute_descriptor(form, plan, in, out);
}

cufftResult mr_cufft_XtQueryPlan(const struct mr_form *form, cufftHandle plan, void *query, cufftXtQueryType type)
{
    (void)query;
    if (type != CUFFT_QUERY_1D_FACTORS)
        return mr_fft_bad(form, CUFFT_INVALID_VALUE, "there is no query %d", (int)type);
    return not_several(form, plan);
}

/* ---- callbacks ---- */

/* As NVIDIA's shared library of CUDA 13 answers: callbacks that are linked need the static one. */
cufftResult mr_cufft_XtSetCallback(const struct mr_form *form, cufftHandle plan, void **routine,
                                   cufftXtCallbackType type, void **information)
{
    (void)plan;
    (void)routine;
    (void)type;
    (void)information;
    return mr_fft_bad(form, CUFFT_NOT_IMPLEMENTED, "callbacks are not implemented");
}

cufftResult mr_cufft_XtClearCallback(const struct mr_form *form, cufftHandle plan, cufftXtCallbackType type)
{
    (void)plan;
    (void)type;
    return mr_fft_bad(form, CUFFT_NOT_IMPLEMENTED, "callbacks are not implemented");
}

cufftResult mr_cufft_XtSetCallbackSharedSize(const struct mr_form *form, cufftHandle plan, cufftXtCallbackType type,
                                             size_t size)
{
    (void)type;
    (void)size;
    return mr_fft_bad(form, CUFFT_INVALID_PLAN, "plan %d has no callback: they are not implemented", plan);
}

cufftResult mr_cufft_XtSetJITCallback(const struct mr_form *form, cufftHandle plan, const char *name, const void *code,
                                      size_t size, cufftXtCallbackType type, void **information)
{
    struct mr_fft *fft;
    cufftResult status = mr_fft_enter(form, plan, &fft);
    (void)name;
    (void)information;
    if (status != CUFFT_SUCCESS)
        return status;
    if (fft->made)
        return mr_fft_bad(form, CUFFT_INVALID_PLAN, "the plan is made already");
    if (!code || !size)
        return mr_fft_bad(form, CUFFT_INVALID_VALUE, "there is no code");
    if ((unsigned)type >= CUFFT_CB_UNDEFINED)
        return mr_fft_bad(form, CUFFT_INVALID_TYPE, "there is no callback of type %d", (int)type);
    return mr_fft_bad(form, CUFFT_NOT_SUPPORTED, "callbacks are not implemented");
}
