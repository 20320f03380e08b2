/* SPDX-License-Identifier: Apache-2.0 */
/* What can be asked of a stream, and its attributes (driver API manual, Stream Management).
 *
 * Attributes that say something about caches or memory domains that this device doesn't have are read as their
 * defaults, and set only to those. */
#include <string.h>

#include "api_impl.h"
#include "base/call.h"
#include "capture/capture.h"
#include "engine/engine.h"
#include "memory/allocation.h"
#include "object/context.h"
#include "object/device.h"
#include "prepare/check.h"
#include "stream/stream.h"

/* Resolves the stream and checks a result pointer. */
static CUresult look_at(CUstream handle, const void *result, struct mr_stream **out)
{
    CUresult status = mr_stream_resolve(handle, out);
    if (status != CUDA_SUCCESS)
        return status;
    return result ? CUDA_SUCCESS : mr_bad_value("the pointer for the result is NULL");
}

/* As look_at, for what can't be asked of a captured stream, on hardware. */
static CUresult look_at_uncaptured(CUstream handle, const void *result, struct mr_stream **out)
{
    CUresult status = look_at(handle, result, out);
    return status == CUDA_SUCCESS ? mr_capture_refuse(*out) : status;
}

/* As look_at, for what can be asked while the capture, if there is one, is sound. */
static CUresult look_at_sound(CUstream handle, const void *result, struct mr_stream **out)
{
    bool captured;
    CUresult status = look_at(handle, result, out);
    return status == CUDA_SUCCESS ? mr_capture_route(*out, &captured) : status;
}

CUresult mr_cuStreamGetPriority(CUstream hStream, int *priority)
{
    struct mr_stream *stream;
    CUresult status = look_at_sound(hStream, priority, &stream);
    if (status == CUDA_SUCCESS)
        *priority = mr_stream_priority(stream);
    return status;
}

CUresult mr_cuStreamGetFlags(CUstream hStream, unsigned int *flags)
{
    struct mr_stream *stream;
    CUresult status = look_at_uncaptured(hStream, flags, &stream);
    if (status == CUDA_SUCCESS)
        *flags = mr_stream_flags(stream);
    return status;
}

CUresult mr_cuStreamGetId(CUstream hStream, unsigned long long *streamId)
{
    struct mr_stream *stream;
    CUresult status = look_at_uncaptured(hStream, streamId, &stream);
    if (status == CUDA_SUCCESS)
        *streamId = mr_stream_id(stream);
    return status;
}

CUresult mr_cuStreamGetDevice(CUstream hStream, CUdevice *device)
{
    struct mr_stream *stream;
    CUresult status = look_at_uncaptured(hStream, device, &stream);
    if (status == CUDA_SUCCESS)
        *device = mr_stream_context(stream)->device->ordinal;
    return status;
}

CUresult mr_cuStreamGetCtx(CUstream hStream, CUcontext *pctx)
{
    struct mr_stream *stream;
    CUresult status = look_at_sound(hStream, pctx, &stream);
    if (status == CUDA_SUCCESS)
        *pctx = mr_stream_context(stream)->handle;
    return status;
}

/* No stream belongs to a green context here. */
CUresult mr_cuStreamGetCtx_v2(CUstream hStream, CUcontext *pCtx, CUgreenCtx *pGreenCtx)
{
    CUresult status = mr_cuStreamGetCtx(hStream, pCtx);
    if (status == CUDA_SUCCESS && pGreenCtx)
        *pGreenCtx = NULL;
    return status;
}

/* ---- attributes ---- */

CUresult mr_cuStreamGetAttribute(CUstream hStream, CUstreamAttrID attr, CUstreamAttrValue *value)
{
    struct mr_stream *stream;
    CUresult status = look_at_sound(hStream, value, &stream);
    if (status != CUDA_SUCCESS)
        return status;
    switch ((int)attr) {
    case CU_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY:
        value->syncPolicy = (CUsynchronizationPolicy)mr_stream_sync_policy(stream);
        return CUDA_SUCCESS;
    case CU_LAUNCH_ATTRIBUTE_PRIORITY:
        value->priority = mr_stream_priority(stream);
        return CUDA_SUCCESS;
    case CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW:
        memset(&value->accessPolicyWindow, 0, sizeof value->accessPolicyWindow);
        return CUDA_SUCCESS;
    case CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP:
        value->memSyncDomainMap.default_ = 0;
        value->memSyncDomainMap.remote = 0;
        return CUDA_SUCCESS;
    case CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN:
        value->memSyncDomain = CU_LAUNCH_MEM_SYNC_DOMAIN_DEFAULT;
        return CUDA_SUCCESS;
    default:
        return mr_bad_value("streams have no attribute %d", (int)attr);
    }
}

/* A value that names the only state there is. */
static CUresult set_default_only(bool is_default, const char *what)
{
    if (is_default)
        return CUDA_SUCCESS;
    mr_call_log(MR_LOG_INFO, "%s is not supported", what);
    return CUDA_ERROR_NOT_SUPPORTED;
}

CUresult mr_cuStreamSetAttribute(CUstream hStream, CUstreamAttrID attr, const CUstreamAttrValue *param)
{
    struct mr_stream *stream;
    CUresult status = look_at_sound(hStream, param, &stream);
    if (status != CUDA_SUCCESS)
        return status;
    switch ((int)attr) {
    case CU_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY:
        if (param->syncPolicy < CU_SYNC_POLICY_AUTO || param->syncPolicy > CU_SYNC_POLICY_BLOCKING_SYNC)
            return mr_bad_value("there is no synchronization policy %d", (int)param->syncPolicy);
        mr_stream_set_sync_policy(stream, (int)param->syncPolicy);
        return CUDA_SUCCESS;
    case CU_LAUNCH_ATTRIBUTE_PRIORITY:
        mr_stream_set_priority(stream, param->priority); /* of any stream, moved into the range: as hardware does */
        return CUDA_SUCCESS;
    case CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW:
        return set_default_only(param->accessPolicyWindow.num_bytes == 0, "an access policy window");
    case CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP:
        return set_default_only(param->memSyncDomainMap.default_ == 0 && param->memSyncDomainMap.remote == 0,
                                "a second memory domain");
    case CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN:
        return set_default_only(param->memSyncDomain == CU_LAUNCH_MEM_SYNC_DOMAIN_DEFAULT, "a second memory domain");
    default:
        return mr_bad_value("streams have no attribute %d", (int)attr);
    }
}

CUresult mr_cuStreamCopyAttributes(CUstream dstStream, CUstream srcStream)
{
    struct mr_stream *to, *from;
    CUresult status = mr_stream_resolve(dstStream, &to);
    if (status == CUDA_SUCCESS)
        status = mr_stream_resolve(srcStream, &from);
    bool captured;
    if (status == CUDA_SUCCESS)
        status = mr_capture_route(to, &captured);
    if (status == CUDA_SUCCESS)
        status = mr_capture_route(from, &captured);
    if (status != CUDA_SUCCESS)
        return status;
    if (mr_stream_context(to) != mr_stream_context(from))
        return mr_bad_value("the streams belong to different contexts");
    mr_stream_set_sync_policy(to, mr_stream_sync_policy(from));
    mr_stream_set_priority(to, mr_stream_priority(from));
    return CUDA_SUCCESS;
}

/* ---- managed memory ---- */

/* Which stream may touch managed memory says when pages have to be moved. Here host and device share them, and every
 * stream may touch them at any time: what is asked for holds as soon as the arguments are right. */
CUresult mr_cuStreamAttachMemAsync(CUstream hStream, CUdeviceptr dptr, size_t length, unsigned int flags)
{
    struct mr_stream *stream;
    struct mr_allocation found;
    CUresult status = mr_stream_resolve(hStream, &stream);
    if (status == CUDA_SUCCESS)
        status = mr_capture_refuse(stream);
    if (status == CUDA_SUCCESS)
        status = mr_capture_permit();
    if (status != CUDA_SUCCESS)
        return status;
    if (flags != CU_MEM_ATTACH_GLOBAL && flags != CU_MEM_ATTACH_HOST && flags != CU_MEM_ATTACH_SINGLE)
        return mr_bad_value("flags are %#x and must be one of CU_MEM_ATTACH_*", flags);
    if (flags == CU_MEM_ATTACH_SINGLE && hStream == NULL)
        return mr_bad_value("memory cannot be attached to the default stream alone");
    if (!mr_memory_find((uintptr_t)dptr, &found) || found.kind != MR_MEMORY_MANAGED || found.base != (uintptr_t)dptr)
        return mr_bad_value("no managed allocation starts at %#llx", dptr);
    if (length != 0 && length != found.size)
        return mr_bad_value("the length is %zu; 0 and the allocation's whole %zu bytes can be attached", length,
                            found.size);
    return CUDA_SUCCESS;
}
