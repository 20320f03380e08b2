/* SPDX-License-Identifier: Apache-2.0 */
/* Primary contexts (driver API manual, Primary Context Management): one per device, made by the first retain, ended by
 * the last release.
 *
 * The device's lock guards the count and the pointer. It is held while the context is made, so that two first retains
 * make one; it is not held while one ends, because ending waits for work. */
#include "api_impl.h"

#include "base/call.h"
#include "object/context.h"
#include "prepare/check.h"

CUresult mr_cuDevicePrimaryCtxRetain(CUcontext *pctx, CUdevice dev)
{
    struct mr_device *device;
    if (!pctx)
        return mr_bad_value("pctx is NULL");
    CUresult status = mr_device_require(dev, &device);
    if (status != CUDA_SUCCESS)
        return status;
    if (mr_in_host_function)
        return CUDA_ERROR_NOT_PERMITTED;
    mr_lock_take(&device->lock);
    if (!device->primary)
        device->primary = mr_context_new(device, device->primary_flags | CU_CTX_MAP_HOST, true);
    if (device->primary) {
        device->primary_references++;
        *pctx = device->primary->handle;
    } else {
        status = CUDA_ERROR_OUT_OF_MEMORY;
    }
    mr_lock_drop(&device->lock);
    return status;
}

/* Ends a primary context that nothing points to any more; waits for its work. */
static void end_primary(struct mr_context *context)
{
    if (context)
        mr_context_destroy(context);
}

CUresult mr_cuDevicePrimaryCtxRelease_v2(CUdevice dev)
{
    struct mr_device *device;
    struct mr_context *ended = NULL;
    CUresult status = mr_device_require(dev, &device);
    if (status != CUDA_SUCCESS)
        return status;
    if (mr_in_host_function)
        return CUDA_ERROR_NOT_PERMITTED;
    mr_lock_take(&device->lock);
    if (device->primary_references == 0) {
        status = CUDA_ERROR_INVALID_CONTEXT;
    } else if (--device->primary_references == 0) {
        ended = device->primary;
        device->primary = NULL;
    }
    mr_lock_drop(&device->lock);
    if (status != CUDA_SUCCESS)
        mr_call_log(MR_LOG_INFO, "the primary context of device %d is not retained", dev);
    end_primary(ended);
    return status;
}

/* The first version doesn't complain where nobody has retained it. */
CUresult mr_cuDevicePrimaryCtxRelease(CUdevice dev)
{
    CUresult status = mr_cuDevicePrimaryCtxRelease_v2(dev);
    return status == CUDA_ERROR_INVALID_CONTEXT ? CUDA_SUCCESS : status;
}

/* A primary context always maps host memory, which its own flags show and the device's do not. The new flags also go to
 * the context that is active now. */
CUresult mr_cuDevicePrimaryCtxSetFlags_v2(CUdevice dev, unsigned int flags)
{
    struct mr_device *device;
    CUresult status = mr_context_flags_check(flags);
    if (status == CUDA_SUCCESS)
        status = mr_device_require(dev, &device);
    if (status != CUDA_SUCCESS)
        return status;
    mr_lock_take(&device->lock);
    device->primary_flags = flags;
    if (device->primary) {
        mr_lock_take(&device->primary->lock);
        device->primary->flags = flags | CU_CTX_MAP_HOST;
        mr_lock_drop(&device->primary->lock);
    }
    mr_lock_drop(&device->lock);
    return CUDA_SUCCESS;
}

CUresult mr_cuDevicePrimaryCtxGetState(CUdevice dev, unsigned int *flags, int *active)
{
    struct mr_device *device;
    if (!flags || !active)
        return mr_bad_value("an output is NULL");
    CUresult status = mr_device_require(dev, &device);
    if (status != CUDA_SUCCESS)
        return status;
    mr_lock_take(&device->lock);
    *flags = device->primary_flags;
    *active = device->primary != NULL;
    mr_lock_drop(&device->lock);
    return CUDA_SUCCESS;
}

/* Everything in the context goes, even if others have retained it, and the flags return to 0. Retains stay to be
 * released, and the next one makes a new context. */
CUresult mr_cuDevicePrimaryCtxReset_v2(CUdevice dev)
{
    struct mr_device *device;
    CUresult status = mr_device_require(dev, &device);
    if (status != CUDA_SUCCESS)
        return status;
    if (mr_in_host_function)
        return CUDA_ERROR_NOT_PERMITTED;
    mr_lock_take(&device->lock);
    struct mr_context *ended = device->primary;
    device->primary = NULL;
    device->primary_flags = 0;
    mr_lock_drop(&device->lock);
    end_primary(ended);
    return CUDA_SUCCESS;
}
