/* SPDX-License-Identifier: Apache-2.0 */
/* Devices: how many, which one a thread uses, flags; peers and versions.
 *
 * A thread's device is that of its current context. Before it has one, it is what cudaSetDevice chose, or the first
 * device. */
#include "libs/cudart/device.h"

#include "libs/cudart/runtime.h"
#include "runtime_impl.h"

/* Flags that cudaSetDeviceFlags knows, as far as a context takes them. */
#define FLAGS_KNOWN (cudaDeviceScheduleMask | cudaDeviceMapHost | cudaDeviceLmemResizeToMax | cudaDeviceSyncMemops)

cudaError_t mr_cudaGetDeviceCount(int *count)
{
    if (!count)
        return cudaErrorInvalidValue;
    cudaError_t status = mr_rt_driver();
    if (status == cudaSuccess)
        status = (cudaError_t)mr_driver.cuDeviceGetCount(count);
    if (status == cudaSuccess && *count == 0)
        status = cudaErrorNoDevice;
    return status;
}

static cudaError_t require_device(int device)
{
    int count;
    CUresult status = mr_driver.cuDeviceGetCount(&count);
    if (status != CUDA_SUCCESS)
        return (cudaError_t)status;
    if (device < 0 || device >= count)
        return mr_rt_bad(cudaErrorInvalidDevice, "there is no device %d; there are %d", device, count);
    return cudaSuccess;
}

cudaError_t mr_cudaSetDevice(int device)
{
    cudaError_t status = require_device(device);
    if (status == cudaSuccess)
        status = mr_rt_use_device(device);
    if (status == cudaSuccess)
        mr_rt_thread.device = device;
    return status;
}

cudaError_t mr_cudaGetDevice(int *device)
{
    if (!device)
        return cudaErrorInvalidValue;
    unsigned flags;
    cudaError_t status = mr_rt_driver();
    /* Nothing is asked of the context, but hardware does not permit the call in a host function. */
    if (status == cudaSuccess && mr_driver.cuCtxGetFlags(&flags) == CUDA_ERROR_NOT_PERMITTED)
        status = cudaErrorNotPermitted;
    if (status == cudaSuccess)
        *device = mr_rt_device();
    return status;
}

cudaError_t mr_cudaInitDevice(int device, unsigned int deviceFlags, unsigned int flags)
{
    CUcontext made; /* other flags than the one that is known are not looked at */
    cudaError_t status = require_device(device);
    if (status == cudaSuccess && (flags & cudaInitDeviceFlagsAreValid)) {
        if (deviceFlags & ~(unsigned)FLAGS_KNOWN)
            return mr_rt_bad(cudaErrorInvalidValue, "cudaInitDevice: deviceFlags are 0x%x", deviceFlags);
        status = (cudaError_t)mr_driver.cuDevicePrimaryCtxSetFlags(device, deviceFlags & ~(unsigned)cudaDeviceMapHost);
    }
    /* The context is made, but the thread keeps the one it has. */
    return status == cudaSuccess ? mr_rt_primary(device, &made) : status;
}

cudaError_t mr_cudaSetValidDevices(int *device_arr, int len)
{
    if (len < 0 || (len > 0 && !device_arr))
        return cudaErrorInvalidValue;
    cudaError_t status = mr_rt_driver();
    for (int i = 0; status == cudaSuccess && i < len; i++)
        status = require_device(device_arr[i]);
    if (status == cudaSuccess)
        mr_rt_set_first_device(len > 0 ? device_arr[0] : 0);
    return status;
}

cudaError_t mr_cudaSetDeviceFlags(unsigned int flags)
{
    if (flags & ~(unsigned)FLAGS_KNOWN)
        return mr_rt_bad(cudaErrorInvalidValue, "cudaSetDeviceFlags: flags are 0x%x", flags);
    int device = mr_rt_device();
    CUresult status = mr_driver.cuDevicePrimaryCtxSetFlags(device, flags & ~(unsigned)cudaDeviceMapHost);
    return status == CUDA_SUCCESS ? mr_rt_context() : (cudaError_t)status; /* the context is made at once */
}

cudaError_t mr_cudaGetDeviceFlags(unsigned int *flags)
{
    int active;
    unsigned version;
    CUcontext current;
    if (!flags)
        return cudaErrorInvalidValue;
    CUresult status = mr_driver.cuCtxGetCurrent(&current);
    if (status != CUDA_SUCCESS)
        return (cudaError_t)status;
    if (current)
        status = mr_driver.cuCtxGetFlags(flags);
    /* After a reset the thread's current context is one that is no more. Hardware doesn't add cudaDeviceMapHost then,
     * as it does before the first use. */
    bool gone = current && mr_driver.cuCtxGetApiVersion(NULL, &version) == CUDA_ERROR_CONTEXT_IS_DESTROYED;
    if (!current || gone)
        status = mr_driver.cuDevicePrimaryCtxGetState(mr_rt_device(), flags, &active);
    if (status == CUDA_SUCCESS)
        *flags = (*flags & ~(unsigned)cudaDeviceMapHost) | (gone ? 0 : cudaDeviceMapHost);
    return (cudaError_t)status;
}

/* The driver counts in elements of a format and a number of channels. */
cudaError_t mr_cudaDeviceGetTexture1DLinearMaxWidth(size_t *maxWidthInElements,
                                                    const struct cudaChannelFormatDesc *fmtDesc, int device)
{
    CUarray_format format;
    unsigned channels;
    if (!maxWidthInElements || !fmtDesc)
        return cudaErrorInvalidValue;
    cudaError_t status = mr_rt_format(fmtDesc, &format, &channels);
    return status == cudaSuccess
               ? (cudaError_t)mr_driver.cuDeviceGetTexture1DLinearMaxWidth(maxWidthInElements, format, channels, device)
               : status;
}

cudaError_t mr_cudaDeviceEnablePeerAccess(int peerDevice, unsigned int flags)
{
    CUcontext peer;
    if (flags != 0)
        return mr_rt_bad(cudaErrorInvalidValue, "cudaDeviceEnablePeerAccess: flags must be 0");
    cudaError_t status = require_device(peerDevice);
    if (status == cudaSuccess && peerDevice == mr_rt_device())
        return mr_rt_bad(cudaErrorPeerAccessUnsupported, "cudaDeviceEnablePeerAccess: device %d is the current one",
                         peerDevice);
    /* The peer's context must be there before the current one can reach into it. */
    if (status == cudaSuccess)
        status = mr_rt_primary(peerDevice, &peer);
    return status == cudaSuccess ? (cudaError_t)mr_driver.cuCtxEnablePeerAccess(peer, 0) : status;
}

cudaError_t mr_cudaDeviceDisablePeerAccess(int peerDevice)
{
    CUcontext peer;
    cudaError_t status = require_device(peerDevice);
    if (status == cudaSuccess)
        status = mr_rt_primary(peerDevice, &peer);
    return status == cudaSuccess ? (cudaError_t)mr_driver.cuCtxDisablePeerAccess(peer) : status;
}

cudaError_t mr_cudaIpcOpenEventHandle(cudaEvent_t *event, cudaIpcEventHandle_t handle)
{
    CUipcEventHandle given;
    __builtin_memcpy(&given, &handle, sizeof given);
    return (cudaError_t)mr_driver.cuIpcOpenEventHandle(event, given);
}

cudaError_t mr_cudaIpcOpenMemHandle(void **devPtr, cudaIpcMemHandle_t handle, unsigned int flags)
{
    CUipcMemHandle given;
    __builtin_memcpy(&given, &handle, sizeof given);
    return (cudaError_t)mr_driver.cuIpcOpenMemHandle((CUdeviceptr *)devPtr, given, flags);
}

cudaError_t mr_cudaRuntimeGetVersion(int *runtimeVersion)
{
    if (!runtimeVersion)
        return cudaErrorInvalidValue;
    *runtimeVersion = mr_rt_version;
    return cudaSuccess;
}

/* Without a driver the version is 0, which is no error. */
cudaError_t mr_cudaDriverGetVersion(int *driverVersion)
{
    if (!driverVersion)
        return cudaErrorInvalidValue;
    cudaError_t status = mr_rt_driver();
    if (status == cudaErrorInsufficientDriver) {
        *driverVersion = 0;
        return cudaSuccess;
    }
    /* The driver is open, though it may have no device. */
    return (cudaError_t)mr_driver.cuDriverGetVersion(driverVersion);
}
