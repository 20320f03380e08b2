/* SPDX-License-Identifier: Apache-2.0 */
/* Access of one device to another's memory. All devices are the same processor, so every device can reach every other one; what is
 * kept is which contexts asked for it, because asking twice and giving back what was not asked for are errors. */
#define __CUDA_API_VERSION_INTERNAL
#include <cuda.h>

#include <stdbool.h>
#include <string.h>

#include "api/check.h"
#include "api_impl.h"
#include "base/log.h"
#include "base/memory.h"
#include "object/context.h"

struct pair { CUcontext from, to; };

/* Under `lock`. Pairs of contexts that are gone are dropped when the next one is added. */
static struct pair *pairs;
static size_t count, room;
static mr_lock lock;

static bool is_live(CUcontext handle)
{
    return mr_object_find(handle, MR_KIND_CONTEXT) != NULL;
}

/* The pair's index, or `count`. Lock held. */
static size_t find(CUcontext from, CUcontext to)
{
    size_t i = 0;
    while (i < count && (pairs[i].from != from || pairs[i].to != to))
        i++;
    return i;
}

/* The two devices of a question about a pair. */
static CUresult check_devices(const char *name, CUdevice one, CUdevice two)
{
    struct mr_device *device;
    CUresult status = mr_device_require(name, one, &device);
    return status == CUDA_SUCCESS ? mr_device_require(name, two, &device) : status;
}

CUresult mr_cuDeviceCanAccessPeer(int *canAccessPeer, CUdevice dev, CUdevice peerDev)
{
    CUresult status = check_devices("cuDeviceCanAccessPeer", dev, peerDev);
    if (status != CUDA_SUCCESS)
        return status;
    if (!canAccessPeer)
        return mr_bad_value("cuDeviceCanAccessPeer", "the place for the answer is null");
    *canAccessPeer = dev != peerDev;
    return CUDA_SUCCESS;
}

CUresult mr_cuCtxEnablePeerAccess(CUcontext peerContext, unsigned int Flags)
{
    static const char name[] = "cuCtxEnablePeerAccess";
    struct mr_context *context;
    CUresult status = mr_context_require(&context);
    if (status != CUDA_SUCCESS)
        return status;
    if (Flags)
        return mr_bad_value(name, "flags are %#x; they must be 0", Flags);
    struct mr_context *peer = mr_object_find(peerContext, MR_KIND_CONTEXT);
    if (!peer) {
        mr_log(MR_LOG_INFO, "%s: %p is not a live context", name, (void *)peerContext);
        return CUDA_ERROR_INVALID_CONTEXT;
    }
    if (peer->device == context->device) {
        mr_log(MR_LOG_INFO, "%s: both contexts are on device %d", name, context->device->ordinal);
        return CUDA_ERROR_PEER_ACCESS_UNSUPPORTED;
    }
    mr_lock_take(&lock);
    size_t kept = 0;
    for (size_t i = 0; i < count; i++)
        if (is_live(pairs[i].from) && is_live(pairs[i].to))
            pairs[kept++] = pairs[i];
    count = kept;
    if (find(context->handle, peerContext) < count)
        status = CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED;
    else if (!mr_array_reserve((void **)&pairs, &room, count + 1, sizeof *pairs))
        status = CUDA_ERROR_OUT_OF_MEMORY;
    else
        pairs[count++] = (struct pair){ context->handle, peerContext };
    mr_lock_drop(&lock);
    return status;
}

CUresult mr_cuCtxDisablePeerAccess(CUcontext peerContext)
{
    struct mr_context *context;
    CUresult status = mr_context_require(&context);
    if (status != CUDA_SUCCESS)
        return status;
    if (!is_live(peerContext)) {
        mr_log(MR_LOG_INFO, "cuCtxDisablePeerAccess: %p is not a live context", (void *)peerContext);
        return CUDA_ERROR_INVALID_CONTEXT;
    }
    mr_lock_take(&lock);
    size_t at = find(context->handle, peerContext);
    if (at == count)
        status = CUDA_ERROR_PEER_ACCESS_NOT_ENABLED;
    else
        pairs[at] = pairs[--count];
    mr_lock_drop(&lock);
    return status;
}

CUresult mr_cuDeviceGetP2PAttribute(int *value, CUdevice_P2PAttribute attrib, CUdevice srcDevice, CUdevice dstDevice)
{
    static const char name[] = "cuDeviceGetP2PAttribute";
    CUresult status = check_devices(name, srcDevice, dstDevice);
    if (status != CUDA_SUCCESS)
        return status;
    if (!value)
        return mr_bad_value(name, "the place for the value is null");
    if (srcDevice == dstDevice) {
        mr_log(MR_LOG_INFO, "%s: both devices are %d", name, srcDevice);
        return CUDA_ERROR_INVALID_DEVICE;
    }
    switch (attrib) {
    case CU_DEVICE_P2P_ATTRIBUTE_PERFORMANCE_RANK:
        *value = 0;
        return CUDA_SUCCESS;
    case CU_DEVICE_P2P_ATTRIBUTE_ACCESS_SUPPORTED:
    case CU_DEVICE_P2P_ATTRIBUTE_NATIVE_ATOMIC_SUPPORTED:
        *value = 1;
        return CUDA_SUCCESS;
    case CU_DEVICE_P2P_ATTRIBUTE_CUDA_ARRAY_ACCESS_SUPPORTED:
        *value = 0;
        return CUDA_SUCCESS;
    default:
        return mr_bad_value(name, "there is no attribute %d", (int)attrib);
    }
}
