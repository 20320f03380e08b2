/* SPDX-License-Identifier: Apache-2.0 */
/* Access of one device to another's memory. All devices are the same processor, so every device can reach every other
 * one; what is kept is which contexts asked for it, because asking twice and giving back what was not asked for are
 * errors. */
#define __CUDA_API_VERSION_INTERNAL
#include <cuda.h>

#include <stdbool.h>
#include <string.h>

#include "api/device/peer.h"
#include "api_impl.h"
#include "base/alloc.h"
#include "base/call.h"
#include "object/context.h"
#include "prepare/check.h"

struct pair {
    CUcontext from, to;
};

/* Under `lock`. Pairs of contexts that are gone are dropped when the next one is added. */
static struct pair *pairs;
static size_t pair_count, pair_room;
static mr_lock lock = MR_LOCK_INIT(PEER);

static bool is_live(CUcontext handle)
{
    return mr_object_find(handle, MR_KIND_CONTEXT) != NULL;
}

/* The pair's index, or `pair_count`. Lock held. */
static size_t find(CUcontext from, CUcontext to)
{
    MR_HELD(&lock);
    size_t i = 0;
    while (i < pair_count && (pairs[i].from != from || pairs[i].to != to))
        i++;
    return i;
}

bool mr_peer_may_use(struct mr_context *context, const struct mr_allocation *what)
{
    if ((what->kind != MR_MEMORY_DEVICE && what->kind != MR_MEMORY_GRAPH && what->kind != MR_MEMORY_MODULE) ||
        !what->context || what->device == context->device)
        return true;
    mr_lock_take(&lock);
    bool enabled = find(context->handle, what->context->handle) < pair_count;
    mr_lock_drop(&lock);
    return enabled;
}

/* The two devices of a question about a pair. */
static CUresult check_devices(CUdevice one, CUdevice two)
{
    struct mr_device *device;
    CUresult status = mr_device_require(one, &device);
    return status == CUDA_SUCCESS ? mr_device_require(two, &device) : status;
}

CUresult mr_cuDeviceCanAccessPeer(int *canAccessPeer, CUdevice dev, CUdevice peerDev)
{
    CUresult status = check_devices(dev, peerDev);
    if (status != CUDA_SUCCESS)
        return status;
    if (!canAccessPeer)
        return mr_bad_value("the place for the answer is null");
    *canAccessPeer = dev != peerDev;
    return CUDA_SUCCESS;
}

CUresult mr_cuCtxEnablePeerAccess(CUcontext peerContext, unsigned int Flags)
{
    struct mr_context *context;
    CUresult status = mr_context_require(&context);
    if (status != CUDA_SUCCESS)
        return status;
    if (Flags)
        return mr_bad_value("flags are %#x; they must be 0", Flags);
    struct mr_context *peer = mr_object_borrow(peerContext, MR_KIND_CONTEXT);
    if (!peer) {
        mr_call_log(MR_LOG_INFO, "%p is not a live context", (void *)peerContext);
        return CUDA_ERROR_INVALID_CONTEXT;
    }
    if (peer->device == context->device) {
        mr_call_log(MR_LOG_INFO, "both contexts are on device %d", context->device->ordinal);
        return CUDA_ERROR_PEER_ACCESS_UNSUPPORTED;
    }
    mr_lock_take(&lock);
    size_t kept = 0;
    for (size_t i = 0; i < pair_count; i++)
        if (is_live(pairs[i].from) && is_live(pairs[i].to))
            pairs[kept++] = pairs[i];
    pair_count = kept;
    if (find(context->handle, peerContext) < pair_count)
        status = CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED;
    else if (!mr_array_reserve((void **)&pairs, &pair_room, pair_count + 1, sizeof *pairs))
        status = CUDA_ERROR_OUT_OF_MEMORY;
    else
        pairs[pair_count++] = (struct pair){context->handle, peerContext};
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
        mr_call_log(MR_LOG_INFO, "%p is not a live context", (void *)peerContext);
        return CUDA_ERROR_INVALID_CONTEXT;
    }
    mr_lock_take(&lock);
    size_t at = find(context->handle, peerContext);
    if (at == pair_count)
        status = CUDA_ERROR_PEER_ACCESS_NOT_ENABLED;
    else
        pairs[at] = pairs[--pair_count];
    mr_lock_drop(&lock);
    return status;
}

CUresult mr_cuDeviceGetP2PAttribute(int *value, CUdevice_P2PAttribute attrib, CUdevice srcDevice, CUdevice dstDevice)
{
    CUresult status = check_devices(srcDevice, dstDevice);
    if (status != CUDA_SUCCESS)
        return status;
    if (!value)
        return mr_bad_value("the place for the value is null");
    if (srcDevice == dstDevice) {
        mr_call_log(MR_LOG_INFO, "both devices are %d", srcDevice);
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
        return mr_bad_value("there is no attribute %d", (int)attrib);
    }
}

/* ---- atomic operations between devices, and between a device and the host ---- */

/* All devices are one processor, so an operation is atomic on any device's memory: what PTX has, both as an operation
 * and as a reduction. */
static unsigned atomic_capability(CUatomicOperation operation)
{
    const unsigned both = CU_ATOMIC_CAPABILITY_SIGNED | CU_ATOMIC_CAPABILITY_UNSIGNED,
                   reduction = CU_ATOMIC_CAPABILITY_REDUCTION;
    const unsigned scalars = CU_ATOMIC_CAPABILITY_SCALAR_32 | CU_ATOMIC_CAPABILITY_SCALAR_64;
    switch (operation) {
    case CU_ATOMIC_OPERATION_INTEGER_ADD:
    case CU_ATOMIC_OPERATION_INTEGER_MIN:
    case CU_ATOMIC_OPERATION_INTEGER_MAX:
        return both | reduction | scalars;
    case CU_ATOMIC_OPERATION_INTEGER_INCREMENT:
    case CU_ATOMIC_OPERATION_INTEGER_DECREMENT:
        return CU_ATOMIC_CAPABILITY_UNSIGNED | reduction | CU_ATOMIC_CAPABILITY_SCALAR_32;
    case CU_ATOMIC_OPERATION_AND:
    case CU_ATOMIC_OPERATION_OR:
    case CU_ATOMIC_OPERATION_XOR:
        return both | reduction | scalars;
    case CU_ATOMIC_OPERATION_EXCHANGE:
    case CU_ATOMIC_OPERATION_CAS:
        return both | scalars;
    case CU_ATOMIC_OPERATION_FLOAT_ADD:
        return CU_ATOMIC_CAPABILITY_SIGNED | reduction | scalars;
    default:
        return 0;
    }
}

static CUresult put_capabilities(unsigned *capabilities, const CUatomicOperation *operations, unsigned count)
{
    if (!capabilities || !operations || !count)
        return mr_bad_value("there are no operations, or a list is null");
    for (unsigned i = 0; i < count; i++)
        if ((int)operations[i] < 0 || operations[i] >= CU_ATOMIC_OPERATION_MAX)
            return mr_bad_value("there is no operation %d", (int)operations[i]);
    for (unsigned i = 0; i < count; i++)
        capabilities[i] = atomic_capability(operations[i]);
    return CUDA_SUCCESS;
}

CUresult mr_cuDeviceGetP2PAtomicCapabilities(unsigned int *capabilities, const CUatomicOperation *operations,
                                             unsigned int count, CUdevice srcDevice, CUdevice dstDevice)
{
    CUresult status = check_devices(srcDevice, dstDevice);
    if (status != CUDA_SUCCESS)
        return status;
    if (!capabilities || !operations || !count)
        return mr_bad_value("there are no operations, or a list is null");
    if (srcDevice == dstDevice) {
        mr_call_log(MR_LOG_INFO, "both devices are %d", srcDevice);
        return CUDA_ERROR_INVALID_DEVICE;
    }
    return put_capabilities(capabilities, operations, count);
}

/* Between a device and the host, which are one processor too. */
CUresult mr_cuDeviceGetHostAtomicCapabilities(unsigned int *capabilities, const CUatomicOperation *operations,
                                              unsigned int count, CUdevice dev)
{
    struct mr_device *device;
    CUresult status = mr_device_require(dev, &device);
    return status == CUDA_SUCCESS ? put_capabilities(capabilities, operations, count) : status;
}
