/* SPDX-License-Identifier: Apache-2.0 */
/* Contexts: creation in all ABI versions, the thread's stack, and what can be read from a context (driver API manual,
 * Context Management). Limits and other settings are in limits.c. */
#include "api_impl.h"

#include "base/call.h"
#include "capture/capture.h"
#include "event/event.h"
#include "memory/mempool.h"
#include "object/context.h"
#include "prepare/check.h"
#include "stream/stream.h"

static CUresult create(CUcontext *pctx, unsigned flags, CUdevice dev, unsigned version)
{
    struct mr_device *device;
    if (!pctx)
        return mr_bad_value("pctx is NULL");
    CUresult status = mr_context_flags_check(flags);
    if (status == CUDA_SUCCESS)
        status = mr_device_require(dev, &device);
    if (status != CUDA_SUCCESS)
        return status;
    if (mr_in_host_function)
        return CUDA_ERROR_NOT_PERMITTED;
    struct mr_context *context = mr_context_new(device, flags, false);
    if (!context)
        return CUDA_ERROR_OUT_OF_MEMORY;
    context->api_version = version;
    if (!mr_context_push(context)) {
        mr_context_destroy(context);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    *pctx = context->handle;
    return CUDA_SUCCESS;
}

CUresult mr_cuCtxCreate_v2(CUcontext *pctx, unsigned int flags, CUdevice dev)
{
    return create(pctx, flags, dev, 3020);
}

/* What the first version of the interface makes is where the first versions of other functions work. */
CUresult mr_cuCtxCreate(CUcontext *pctx, unsigned int flags, CUdevice dev)
{
    return create(pctx, flags, dev, 3010);
}

/* Execution affinity is not offered (cuDeviceGetExecAffinitySupport says so), so only the empty list is right. */
static CUresult check_affinity(const CUexecAffinityParam *params, int count)
{
    if (count < 0 || (count > 0 && !params))
        return mr_bad_value("there are %d affinity parameters, and the pointer to them is %p", count,
                            (const void *)params);
    if (count == 0)
        return CUDA_SUCCESS;
    mr_call_log(MR_LOG_INFO, "execution affinity is not supported");
    return CUDA_ERROR_UNSUPPORTED_EXEC_AFFINITY;
}

CUresult mr_cuCtxCreate_v3(CUcontext *pctx, CUexecAffinityParam *paramsArray, int numParams, unsigned int flags,
                           CUdevice dev)
{
    CUresult status = check_affinity(paramsArray, numParams);
    return status == CUDA_SUCCESS ? create(pctx, flags, dev, 3020) : status;
}

CUresult mr_cuCtxCreate_v4(CUcontext *pctx, CUctxCreateParams *ctxCreateParams, unsigned int flags, CUdevice dev)
{
    if (ctxCreateParams) {
        if (ctxCreateParams->execAffinityParams && ctxCreateParams->cigParams)
            return mr_bad_value("affinity and shared graphics parameters exclude each other");
        if (ctxCreateParams->cigParams) {
            mr_call_log(MR_LOG_INFO, "sharing with graphics is not supported");
            return CUDA_ERROR_NOT_SUPPORTED;
        }
        CUresult status = check_affinity(ctxCreateParams->execAffinityParams, ctxCreateParams->numExecAffinityParams);
        if (status != CUDA_SUCCESS)
            return status;
    }
    return create(pctx, flags, dev, 3020);
}

/* A context that is on top of the calling thread's stack is popped as well; elsewhere it stays, and is reported as
 * destroyed. */
static CUresult destroy(struct mr_context *context)
{
    bool on_top = mr_context_current() == context;
    if (!mr_context_destroy(context))
        return CUDA_ERROR_CONTEXT_IS_DESTROYED;
    if (on_top)
        mr_object_drop(mr_context_pop());
    return CUDA_SUCCESS;
}

CUresult mr_cuCtxDestroy_v2(CUcontext ctx)
{
    if (!ctx)
        return mr_bad_value("ctx is NULL");
    if (mr_in_host_function)
        return CUDA_ERROR_NOT_PERMITTED;
    struct mr_context *context = mr_object_acquire(ctx, MR_KIND_CONTEXT);
    if (!context) {
        mr_call_log(MR_LOG_INFO, "%p is not a live context", (void *)ctx);
        return CUDA_ERROR_INVALID_CONTEXT;
    }
    CUresult status;
    if (context->is_primary) {
        mr_call_log(MR_LOG_INFO, "a primary context ends with cuDevicePrimaryCtxRelease");
        status = CUDA_ERROR_INVALID_CONTEXT;
    } else {
        status = destroy(context);
    }
    mr_object_drop(context);
    return status;
}

CUresult mr_cuCtxPushCurrent_v2(CUcontext ctx)
{
    if (!ctx)
        return mr_bad_value("ctx is NULL");
    if (mr_in_host_function)
        return CUDA_ERROR_NOT_PERMITTED;
    struct mr_context *context = mr_object_acquire(ctx, MR_KIND_CONTEXT);
    if (!context) {
        mr_call_log(MR_LOG_INFO, "%p is not a live context", (void *)ctx);
        return CUDA_ERROR_INVALID_CONTEXT;
    }
    bool pushed = mr_context_push(context);
    mr_object_drop(context);
    return pushed ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

CUresult mr_cuCtxPopCurrent_v2(CUcontext *pctx)
{
    if (mr_in_host_function)
        return CUDA_ERROR_NOT_PERMITTED;
    struct mr_context *context = mr_context_pop();
    if (!context)
        return CUDA_ERROR_INVALID_CONTEXT;
    if (pctx)
        *pctx = context->handle;
    mr_object_drop(context);
    return CUDA_SUCCESS;
}

CUresult mr_cuCtxSetCurrent(CUcontext ctx)
{
    struct mr_context *context = NULL;
    if (mr_in_host_function)
        return CUDA_ERROR_NOT_PERMITTED;
    if (ctx) {
        /* Clients set the context that is current already before every call. */
        struct mr_context *top = mr_context_current();
        if (top && top->handle == ctx && !atomic_load_explicit(&top->destroyed, memory_order_acquire))
            return CUDA_SUCCESS;
        context = mr_object_acquire(ctx, MR_KIND_CONTEXT);
        if (!context) {
            mr_call_log(MR_LOG_INFO, "%p is not a live context", (void *)ctx);
            return CUDA_ERROR_INVALID_CONTEXT;
        }
    }
    bool done = mr_context_replace(context);
    if (context)
        mr_object_drop(context);
    return done ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

CUresult mr_cuCtxGetCurrent(CUcontext *pctx)
{
    struct mr_context *context = mr_context_current();
    if (!pctx)
        return mr_bad_value("pctx is NULL");
    *pctx = context ? context->handle : NULL;
    return CUDA_SUCCESS;
}

CUresult mr_cuCtxGetDevice(CUdevice *device)
{
    struct mr_context *context = mr_context_current();
    if (!device)
        return mr_bad_value("device is NULL");
    if (!context)
        return CUDA_ERROR_INVALID_CONTEXT;
    *device = context->device->ordinal; /* of a destroyed context, too, as on hardware */
    return CUDA_SUCCESS;
}

CUresult mr_cuCtxGetDevice_v2(CUdevice *device, CUcontext ctx)
{
    struct mr_context *context;
    if (!device)
        return mr_bad_value("device is NULL");
    if (!ctx)
        return mr_in_host_function ? CUDA_ERROR_NOT_PERMITTED : mr_cuCtxGetDevice(device);
    CUresult status = mr_context_resolve(ctx, &context);
    if (status == CUDA_SUCCESS)
        *device = context->device->ordinal;
    return status;
}

CUresult mr_cuCtxGetFlags(unsigned int *flags)
{
    struct mr_context *context;
    if (!flags)
        return mr_bad_value("flags is NULL");
    CUresult status = mr_context_require(&context);
    if (status != CUDA_SUCCESS) { /* a context that failed, or was destroyed, still tells its flags */
        context = mr_context_current();
        if (!context || (status != CUDA_ERROR_CONTEXT_IS_DESTROYED && status != mr_context_error(context)))
            return status;
    }
    mr_lock_take(&context->lock);
    *flags = context->flags;
    mr_lock_drop(&context->lock);
    return CUDA_SUCCESS;
}

/* Whether `status`, which looking for *context gave, is no more than the error of a context that is there. */
static bool there_is(CUresult status, struct mr_context *context)
{
    return status == CUDA_SUCCESS || (context && status == mr_context_error(context));
}

CUresult mr_cuCtxSetFlags(unsigned int flags)
{
    struct mr_context *context = NULL;
    CUresult status = mr_context_require(&context);
    if (there_is(status, context))
        status = mr_context_flags_check(flags);
    if (status != CUDA_SUCCESS)
        return status;
    /* Host mapping is decided at creation: the bit is ignored here, as hardware does. */
    mr_lock_take(&context->lock);
    context->flags = (flags & ~(unsigned)CU_CTX_MAP_HOST) | (context->flags & CU_CTX_MAP_HOST);
    mr_lock_drop(&context->lock);
    return CUDA_SUCCESS;
}

CUresult mr_cuCtxGetId(CUcontext ctx, unsigned long long *ctxId)
{
    struct mr_context *context;
    if (!ctxId)
        return mr_bad_value("ctxId is NULL");
    CUresult status = mr_context_resolve(ctx, &context);
    if (status == CUDA_SUCCESS)
        *ctxId = context->id;
    return status;
}

CUresult mr_cuCtxGetApiVersion(CUcontext ctx, unsigned int *version)
{
    struct mr_context *context;
    if (!version)
        return mr_bad_value("version is NULL");
    CUresult status = mr_context_resolve(ctx, &context);
    if (status == CUDA_SUCCESS)
        *version = context->api_version;
    return status;
}

/* Refused, in any mode, while a stream of the context is being captured. Memory pools give back what they hold beyond
 * their thresholds. `context` is NULL if there is none; one that has failed is waited for, too: its kernels may still
 * be coming to their end. */
static CUresult synchronize(struct mr_context *context, CUresult status)
{
    if (status != CUDA_SUCCESS)
        return context ? mr_context_synchronize(context) : status;
    status = mr_capture_refuse_context(context);
    if (status == CUDA_SUCCESS)
        status = mr_context_synchronize(context);
    mr_mempools_settle();
    return status;
}

CUresult mr_cuCtxSynchronize(void)
{
    struct mr_context *context = NULL;
    CUresult status = mr_context_require(&context);
    return synchronize(context, status);
}

CUresult mr_cuCtxSynchronize_v2(CUcontext ctx)
{
    struct mr_context *context = NULL;
    CUresult status = mr_context_resolve(ctx, &context);
    return synchronize(context, status);
}

CUresult mr_cuCtxGetExecAffinity(CUexecAffinityParam *pExecAffinity, CUexecAffinityType type)
{
    struct mr_context *context;
    if (!pExecAffinity || (int)type < 0 || type >= CU_EXEC_AFFINITY_TYPE_MAX)
        return mr_bad_value("pExecAffinity is NULL or type %d is unknown", (int)type);
    CUresult status = mr_context_require(&context);
    if (status != CUDA_SUCCESS)
        return status;
    mr_call_log(MR_LOG_INFO, "execution affinity is not supported");
    return CUDA_ERROR_UNSUPPORTED_EXEC_AFFINITY;
}

/* The usage count of the interface before CUDA 4.0: creation counts 1, the last detach destroys. A detach names its
 * context; NULL doesn't mean the current one. */
CUresult mr_cuCtxAttach(CUcontext *pctx, unsigned int flags)
{
    struct mr_context *context = NULL;
    CUresult status = mr_context_require(&context);
    if (!there_is(status, context))
        return status;
    if (!pctx || flags != 0)
        return mr_bad_value("pctx is NULL or flags %#x are not 0", flags);
    mr_lock_take(&context->lock);
    context->usage++;
    mr_lock_drop(&context->lock);
    *pctx = context->handle;
    return CUDA_SUCCESS;
}

CUresult mr_cuCtxDetach(CUcontext ctx)
{
    struct mr_context *context = NULL;
    CUresult status = mr_context_resolve(ctx, &context);
    if (!there_is(status, context))
        return status;
    if (!ctx || context != mr_context_current() || context->is_primary) {
        mr_call_log(MR_LOG_INFO, "the context is not the thread's current one, or is a primary context");
        return CUDA_ERROR_INVALID_CONTEXT;
    }
    mr_lock_take(&context->lock);
    bool last = --context->usage == 0;
    mr_lock_drop(&context->lock);
    return last ? destroy(context) : CUDA_SUCCESS;
}
