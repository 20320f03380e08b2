/* SPDX-License-Identifier: Apache-2.0 */
/* Devices (driver API manual, Device Management): thin readers of the device records. */
#include "api_impl.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "base/call.h"
#include "object/device.h"
#include "object/machine.h"
#include "prepare/check.h"

CUresult mr_cuDeviceGet(CUdevice *device, int ordinal)
{
    if (!device)
        return mr_bad_value("device is NULL");
    struct mr_device *found;
    CUresult status = mr_device_require(ordinal, &found);
    if (status == CUDA_SUCCESS)
        *device = found->ordinal;
    return status;
}

CUresult mr_cuDeviceGetCount(int *count)
{
    if (!count)
        return mr_bad_value("count is NULL");
    *count = mr_device_count();
    return CUDA_SUCCESS;
}

CUresult mr_cuDeviceGetName(char *name, int len, CUdevice dev)
{
    struct mr_device *device;
    if (!name || len <= 0)
        return mr_bad_value("the buffer has no room for a name");
    CUresult status = mr_device_require(dev, &device);
    if (status == CUDA_SUCCESS)
        snprintf(name, (size_t)len, "%s", device->name);
    return status;
}

CUresult mr_cuDeviceGetUuid_v2(CUuuid *uuid, CUdevice dev)
{
    struct mr_device *device;
    if (!uuid)
        return mr_bad_value("uuid is NULL");
    CUresult status = mr_device_require(dev, &device);
    if (status == CUDA_SUCCESS)
        memcpy(uuid->bytes, device->uuid, sizeof uuid->bytes);
    return status;
}

CUresult mr_cuDeviceGetLuid(char *luid, unsigned int *deviceNodeMask, CUdevice dev)
{
    struct mr_device *device;
    if (!luid || !deviceNodeMask)
        return mr_bad_value("an output is NULL");
    CUresult status = mr_device_require(dev, &device);
    if (status != CUDA_SUCCESS)
        return status;
    mr_call_log(MR_LOG_INFO, "only Windows has LUIDs");
    return CUDA_ERROR_NOT_SUPPORTED;
}

CUresult mr_cuDeviceTotalMem(unsigned int *bytes, CUdevice dev)
{
    struct mr_device *device;
    if (!bytes)
        return mr_bad_value("bytes is NULL");
    CUresult status = mr_device_require(dev, &device);
    if (status == CUDA_SUCCESS)
        *bytes = device->total_memory > UINT_MAX ? UINT_MAX : (unsigned)device->total_memory;
    return status;
}

CUresult mr_cuDeviceTotalMem_v2(size_t *bytes, CUdevice dev)
{
    struct mr_device *device;
    if (!bytes)
        return mr_bad_value("bytes is NULL");
    CUresult status = mr_device_require(dev, &device);
    if (status == CUDA_SUCCESS)
        *bytes = device->total_memory;
    return status;
}

/* Bytes of one channel, 0 for a format that linear textures do not take. */
static unsigned channel_bytes(CUarray_format format)
{
    switch ((int)format) {
    case CU_AD_FORMAT_UNSIGNED_INT8:
    case CU_AD_FORMAT_SIGNED_INT8:
        return 1;
    case CU_AD_FORMAT_UNSIGNED_INT16:
    case CU_AD_FORMAT_SIGNED_INT16:
    case CU_AD_FORMAT_HALF:
        return 2;
    case CU_AD_FORMAT_UNSIGNED_INT32:
    case CU_AD_FORMAT_SIGNED_INT32:
    case CU_AD_FORMAT_FLOAT:
        return 4;
    default:
        return 0;
    }
}

CUresult mr_cuDeviceGetTexture1DLinearMaxWidth(size_t *maxWidthInElements, CUarray_format format, unsigned numChannels,
                                               CUdevice dev)
{
    struct mr_device *device;
    unsigned bytes = channel_bytes(format);
    if (!maxWidthInElements)
        return mr_bad_value("maxWidthInElements is NULL");
    if (!bytes || (numChannels != 1 && numChannels != 2 && numChannels != 4))
        return mr_bad_value("there is no element of format %d with %u channels", (int)format, numChannels);
    CUresult status = mr_device_require(dev, &device);
    int widest = 0;
    if (status == CUDA_SUCCESS)
        status = mr_device_attribute(device, CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE1D_LINEAR_WIDTH, &widest);
    if (status == CUDA_SUCCESS)
        *maxWidthInElements = (size_t)widest;
    return status;
}

CUresult mr_cuDeviceGetAttribute(int *pi, CUdevice_attribute attrib, CUdevice dev)
{
    struct mr_device *device;
    if (!pi)
        return mr_bad_value("pi is NULL");
    CUresult status = mr_device_require(dev, &device);
    if (status != CUDA_SUCCESS)
        return status;
    status = mr_device_attribute(device, attrib, pi);
    if (status != CUDA_SUCCESS)
        mr_call_log(MR_LOG_INFO, "no attribute %d", (int)attrib);
    return status;
}

CUresult mr_cuDeviceGetExecAffinitySupport(int *pi, CUexecAffinityType type, CUdevice dev)
{
    struct mr_device *device;
    (void)type; /* a type that does not exist is not supported either */
    if (!pi)
        return mr_bad_value("pi is NULL");
    CUresult status = mr_device_require(dev, &device);
    if (status == CUDA_SUCCESS)
        *pi = 0;
    return status;
}

CUresult mr_cuDeviceGetProperties(CUdevprop *prop, CUdevice dev)
{
    struct mr_device *device;
    if (!prop)
        return mr_bad_value("prop is NULL");
    CUresult status = mr_device_require(dev, &device);
    if (status != CUDA_SUCCESS)
        return status;
    *prop = (CUdevprop){
        .maxThreadsPerBlock = MR_MAX_BLOCK_THREADS,
        .maxThreadsDim = {MR_MAX_BLOCK_X, MR_MAX_BLOCK_Y, MR_MAX_BLOCK_Z},
        .maxGridSize = {MR_MAX_GRID_X, MR_MAX_GRID_Y, MR_MAX_GRID_Z},
        .sharedMemPerBlock = MR_SHARED_DEFAULT,
        .totalConstantMemory = MR_CONSTANT_BYTES,
        .SIMDWidth = 32,
        .memPitch = INT_MAX,
        .regsPerBlock = MR_REGISTERS_PER_SM,
        .clockRate = device->clock_khz,
        .textureAlign = 512,
    };
    return CUDA_SUCCESS;
}

CUresult mr_cuDeviceComputeCapability(int *major, int *minor, CUdevice dev)
{
    struct mr_device *device;
    if (!major || !minor)
        return mr_bad_value("an output is NULL");
    CUresult status = mr_device_require(dev, &device);
    if (status == CUDA_SUCCESS) {
        *major = device->capability_major;
        *minor = device->capability_minor;
    }
    return status;
}

/* Devices sit at 0000:NN:00.0, NN being the machine's number of the device plus one in hexadecimal: the same numbers as
 * the PCI attributes. */
CUresult mr_cuDeviceGetPCIBusId(char *pciBusId, int len, CUdevice dev)
{
    struct mr_device *device;
    if (!pciBusId || len <= 0)
        return mr_bad_value("the buffer has no room for an identifier");
    CUresult status = mr_device_require(dev, &device);
    if (status != CUDA_SUCCESS)
        return status;
    char text[16];
    int length = snprintf(text, sizeof text, "0000:%02X:00.0", MR_DEVICE_BUS(device->number));
    if (len <= length)
        return mr_bad_value("%d bytes are too few for '%s'", len, text);
    memcpy(pciBusId, text, (size_t)length + 1);
    return CUDA_SUCCESS;
}

/* [domain:]bus:device[.function], hexadecimal. */
CUresult mr_cuDeviceGetByPCIBusId(CUdevice *dev, const char *pciBusId)
{
    unsigned domain = 0, bus, slot, function = 0;
    char rest;
    if (!dev || !pciBusId)
        return mr_bad_value("an argument is NULL");
    bool parsed = sscanf(pciBusId, "%4x:%2x:%2x.%1x%c", &domain, &bus, &slot, &function, &rest) == 4;
    if (!parsed)
        parsed = sscanf(pciBusId, "%4x:%2x:%2x%c", &domain, &bus, &slot, &rest) == 3;
    if (!parsed) {
        domain = 0;
        parsed = sscanf(pciBusId, "%2x:%2x.%1x%c", &bus, &slot, &function, &rest) == 3 ||
                 sscanf(pciBusId, "%2x:%2x%c", &bus, &slot, &rest) == 2;
    }
    if (!parsed)
        return mr_bad_value("'%s' is not a PCI bus identifier", pciBusId);
    struct mr_device *device = bus ? mr_device_numbered((int)bus - 1) : NULL;
    if (!device || domain || slot || function) {
        mr_call_log(MR_LOG_INFO, "no device at '%s'", pciBusId);
        return CUDA_ERROR_INVALID_DEVICE;
    }
    *dev = device->ordinal;
    return CUDA_SUCCESS;
}
