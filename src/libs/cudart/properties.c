/* SPDX-License-Identifier: Apache-2.0 */
/* cudaDeviceProp, in the forms of CUDA 11, 12 and 13: one table says which attribute each member shows. */
#include <stddef.h>
#include <string.h>

#include "libs/cudart/device.h"
#include "libs/cudart/runtime.h"
#include "runtime_impl.h"

/* Which form is filled; indices of `at`. */
enum form { FORM_11, FORM_12, FORM_13, FORMS };

#define NOWHERE 0xffff

static const struct member {
    CUdevice_attribute attribute;
    unsigned short at[FORMS]; /* offsets; NOWHERE: the form has no such member */
    unsigned short wide;      /* a size_t, else an int */
} members[] = {
#define ROW(member, name, at11, at12, at13, type) \
    {CU_DEVICE_ATTRIBUTE_##name, {at11, at12, at13}, sizeof(((type *)0)->member) == 8},
#define BOTH(member, name) \
    ROW(member, name, offsetof(struct mr_device_prop_11, member), offsetof(struct mr_device_prop_11, member), \
        offsetof(struct cudaDeviceProp, member), struct cudaDeviceProp)
#define TAIL(member, name) \
    ROW(member, name, NOWHERE, offsetof(struct mr_device_prop_12, member), offsetof(struct cudaDeviceProp, member), \
        struct cudaDeviceProp)
#define OLD(member, name) \
    ROW(member, name, offsetof(struct mr_device_prop_11, member), offsetof(struct mr_device_prop_11, member), NOWHERE, \
        struct mr_device_prop_11)
#define NEW(member, name) \
    ROW(member, name, NOWHERE, NOWHERE, offsetof(struct cudaDeviceProp, member), struct cudaDeviceProp)
#include "properties.def"
};

/* Name, identity and memory stand first in every form. */
static CUresult fill_head(struct mr_device_prop_11 *out, int device)
{
    CUuuid uuid;
    CUresult status = mr_driver.cuDeviceGetName(out->name, sizeof out->name, device);
    if (status == CUDA_SUCCESS)
        status = mr_driver.cuDeviceGetUuid_v2(&uuid, device);
    if (status == CUDA_SUCCESS) {
        memcpy(&out->uuid, &uuid, sizeof uuid);
        status = mr_driver.cuDeviceTotalMem(&out->totalGlobalMem, device);
    }
    return status;
}
_Static_assert(offsetof(struct mr_device_prop_11, totalGlobalMem) == offsetof(struct cudaDeviceProp, totalGlobalMem),
               "the forms begin alike");

static cudaError_t fill(void *prop, size_t size, enum form form, int device)
{
    int value;
    if (!prop)
        return mr_rt_bad(cudaErrorInvalidValue, "cudaGetDeviceProperties: prop is NULL");
    /* The attribute asked first also tells whether there is such a device; nothing is written before. */
    CUresult status = mr_driver.cuDeviceGetAttribute(&value, members[0].attribute, device);
    if (status != CUDA_SUCCESS)
        return (cudaError_t)status;
    memset(prop, 0, size);
    status = fill_head(prop, device);
    for (size_t i = 0; status == CUDA_SUCCESS && i < sizeof members / sizeof *members; i++) {
        if (members[i].at[form] == NOWHERE)
            continue;
        status = mr_driver.cuDeviceGetAttribute(&value, members[i].attribute, device);
        if (status != CUDA_SUCCESS)
            break;
        char *place = (char *)prop + members[i].at[form];
        if (members[i].wide)
            *(size_t *)(void *)place = (size_t)value;
        else
            *(int *)(void *)place = value;
    }
    return (cudaError_t)status;
}

cudaError_t mr_cudaGetDeviceProperties(struct cudaDeviceProp *prop, int device)
{
    return fill(prop, sizeof *prop, FORM_13, device);
}

cudaError_t mr_cudaGetDeviceProperties_12(struct mr_device_prop_12 *prop, int device)
{
    return fill(prop, sizeof *prop, FORM_12, device);
}

cudaError_t mr_cudaGetDeviceProperties_11(struct mr_device_prop_11 *prop, int device)
{
    return fill(prop, sizeof *prop, FORM_11, device);
}

/* All devices here are alike, so the first that has what is asked for is as good as any; without one it is the first
 * device. */
static cudaError_t choose(int *device, const void *prop, int major, int minor, size_t memory)
{
    int count, found_major, found_minor;
    size_t total;
    if (!device || !prop)
        return cudaErrorInvalidValue;
    cudaError_t status = mr_rt_driver();
    if (status != cudaSuccess)
        return status;
    CUresult got = mr_driver.cuDeviceGetCount(&count);
    for (int i = 0; got == CUDA_SUCCESS && i < count; i++) {
        if (mr_driver.cuDeviceGetAttribute(&found_major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, i) !=
                CUDA_SUCCESS ||
            mr_driver.cuDeviceGetAttribute(&found_minor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, i) !=
                CUDA_SUCCESS ||
            mr_driver.cuDeviceTotalMem(&total, i) != CUDA_SUCCESS)
            continue;
        if (found_major * 10 + found_minor >= major * 10 + minor && total >= memory) {
            *device = i;
            return cudaSuccess;
        }
    }
    if (got == CUDA_SUCCESS)
        *device = 0;
    return (cudaError_t)got;
}

cudaError_t mr_cudaChooseDevice(int *device, const struct cudaDeviceProp *prop)
{
    return prop ? choose(device, prop, prop->major, prop->minor, prop->totalGlobalMem) : cudaErrorInvalidValue;
}

cudaError_t mr_cudaChooseDevice_12(int *device, const struct mr_device_prop_12 *prop)
{
    return prop ? choose(device, prop, prop->old.major, prop->old.minor, prop->old.totalGlobalMem)
                : cudaErrorInvalidValue;
}
