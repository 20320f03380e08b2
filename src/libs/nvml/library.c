/* SPDX-License-Identifier: Apache-2.0 */
/* The library itself: initialisation, the driver behind it, versions, texts of statuses, functions that are refused. */
#include "libs/nvml/nvml.h"

#include <cuda.h>
#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "base/log.h"
#include "base/mutex.h"

/* Release of the driver that Millrace stands for: the same in /proc/driver/nvidia/version (lib/proc). */
#ifndef MR_DRIVER_RELEASE
#error the build says which release of the driver Millrace stands for
#endif

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static _Atomic unsigned references; /* of nvmlInit; changed under lock */

/* Set under lock by the first nvmlInit, and unchanged from then on. */
static unsigned (*machine_device)(unsigned number, struct millrace_device *out);
static size_t (*machine_uses)(unsigned number, struct mr_use_found *out, size_t room);
static CUresult (*driver_version)(int *version);
static struct mr_nvml_device devices[MR_DEVICE_LIMIT];
static unsigned device_count;

bool mr_nvml_ready(void)
{
    return atomic_load_explicit(&references, memory_order_acquire) > 0;
}

const struct mr_nvml_device *mr_nvml_device_of(nvmlDevice_t device)
{
    for (unsigned i = 0; i < device_count; i++)
        if ((const void *)device == (const void *)&devices[i])
            return &devices[i];
    return NULL;
}

unsigned mr_nvml_count(void)
{
    return device_count;
}

nvmlDevice_t mr_nvml_handle(unsigned index)
{
    return (nvmlDevice_t)(void *)&devices[index];
}

/* Under lock. */
static bool open_driver(void)
{
    MR_MUTEX_HELD(&lock);
    static bool is_set_up;
    if (!is_set_up)
        mr_log_setup();
    is_set_up = true;
    if (machine_device)
        return true;
    void *library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    if (!library) {
        mr_log(MR_LOG_WARN, "there is no driver: %s (run the program through 'millrace run')", dlerror());
        return false;
    }
    *(void **)&machine_uses = dlsym(library, "millrace_machine_uses");
    *(void **)&driver_version = dlsym(library, "cuDriverGetVersion");
    if (machine_uses && driver_version)
        *(void **)&machine_device = dlsym(library, "millrace_machine_device");
    if (!machine_device)
        mr_log(MR_LOG_WARN, "the driver that was found is not Millrace's, or an older one");
    return machine_device != NULL;
}

/* Under lock. */
static void read_devices(void)
{
    MR_MUTEX_HELD(&lock);
    unsigned count = 1;
    for (unsigned i = 0; i < count && i < MR_DEVICE_LIMIT; i++) {
        struct mr_nvml_device *device = &devices[i];
        count = machine_device(i, &device->facts);
        device->index = i;
        const uint8_t *u = device->facts.uuid;
        snprintf(device->uuid, sizeof device->uuid,
                 "GPU-%02x%02x%02x%02x-%02x%02x-%02x%02x-%02x%02x-%02x%02x%02x%02x%02x%02x", u[0], u[1], u[2], u[3],
                 u[4], u[5], u[6], u[7], u[8], u[9], u[10], u[11], u[12], u[13], u[14], u[15]);
    }
    device_count = count < MR_DEVICE_LIMIT ? count : MR_DEVICE_LIMIT;
}

nvmlReturn_t mr_nvmlInitWithFlags(unsigned int flags)
{
    nvmlReturn_t status = NVML_SUCCESS;
    (void)flags; /* NO_GPUS and NO_ATTACH: there is always a device, and none is attached to; others mean nothing */
    pthread_mutex_lock(&lock);
    if (!open_driver())
        status = NVML_ERROR_DRIVER_NOT_LOADED;
    else if (!device_count)
        read_devices();
    if (status == NVML_SUCCESS)
        atomic_fetch_add_explicit(&references, 1, memory_order_release);
    pthread_mutex_unlock(&lock);
    return status;
}

nvmlReturn_t mr_nvmlInit_v2(void)
{
    return mr_nvmlInitWithFlags(0);
}

nvmlReturn_t mr_nvmlInit(void)
{
    return mr_nvmlInitWithFlags(0);
}

nvmlReturn_t mr_nvmlShutdown(void)
{
    pthread_mutex_lock(&lock);
    bool is_open = mr_nvml_ready();
    if (is_open)
        atomic_fetch_sub_explicit(&references, 1, memory_order_release);
    pthread_mutex_unlock(&lock);
    return is_open ? NVML_SUCCESS : NVML_ERROR_UNINITIALIZED;
}

nvmlReturn_t mr_nvml_refuse(const char *function, bool *told)
{
    if (!__atomic_exchange_n(told, true, __ATOMIC_RELAXED))
        mr_log(MR_LOG_INFO, "%s: a processor has nothing to answer, or Millrace does not know it", function);
    return NVML_ERROR_NOT_SUPPORTED;
}

nvmlReturn_t mr_nvml_text(const char *text, char *buffer, unsigned length)
{
    size_t size = strlen(text) + 1;
    if (!buffer)
        return NVML_ERROR_INVALID_ARGUMENT;
    if (size > length)
        return NVML_ERROR_INSUFFICIENT_SIZE;
    memcpy(buffer, text, size);
    return NVML_SUCCESS;
}

size_t mr_nvml_uses(const struct mr_nvml_device *device, struct mr_use_found *out)
{
    size_t count = machine_uses(device->index, out, MR_NVML_PROCESSES);
    return count < MR_NVML_PROCESSES ? count : MR_NVML_PROCESSES;
}

const char *mr_nvmlErrorString(nvmlReturn_t result)
{
    switch (result) {
#define MR_STATUS(name, text) \
    case NVML_##name: \
        return text;
#include "libs/nvml/statuses.def"
#undef MR_STATUS
    default:
        return mr_nvmlErrorString(NVML_ERROR_UNKNOWN);
    }
}

nvmlReturn_t mr_nvmlSystemGetDriverVersion(char *version, unsigned int length)
{
    return mr_nvml_text(MR_DRIVER_RELEASE, version, length);
}

/* The CUDA version's major number and the driver's release. May come before nvmlInit. */
nvmlReturn_t mr_nvmlSystemGetNVMLVersion(char *version, unsigned int length)
{
    return mr_nvml_text(NVML_API_VERSION_STR "." MR_DRIVER_RELEASE, version, length);
}

nvmlReturn_t mr_nvmlSystemGetDriverBranch(nvmlSystemDriverBranchInfo_t *branchInfo, unsigned int length)
{
    if (!branchInfo)
        return NVML_ERROR_INVALID_ARGUMENT;
    if (branchInfo->version != nvmlSystemDriverBranchInfo_v1)
        return NVML_ERROR_ARGUMENT_VERSION_MISMATCH;
    unsigned room = length < sizeof branchInfo->branch ? length : (unsigned)sizeof branchInfo->branch;
    return mr_nvml_text("r580_00", branchInfo->branch, room);
}

nvmlReturn_t mr_nvmlSystemGetCudaDriverVersion_v2(int *cudaDriverVersion)
{
    if (!cudaDriverVersion)
        return NVML_ERROR_INVALID_ARGUMENT;
    return driver_version(cudaDriverVersion) == CUDA_SUCCESS ? NVML_SUCCESS : NVML_ERROR_LIBRARY_NOT_FOUND;
}

nvmlReturn_t mr_nvmlSystemGetCudaDriverVersion(int *cudaDriverVersion)
{
    return mr_nvmlSystemGetCudaDriverVersion_v2(cudaDriverVersion);
}

/* Host interface cards and units are external boxes of NVIDIA's. There are none. */
nvmlReturn_t mr_nvmlSystemGetHicVersion(unsigned int *hwbcCount, nvmlHwbcEntry_t *hwbcEntries)
{
    (void)hwbcEntries;
    if (!hwbcCount)
        return NVML_ERROR_INVALID_ARGUMENT;
    *hwbcCount = 0;
    return NVML_SUCCESS;
}

nvmlReturn_t mr_nvmlUnitGetCount(unsigned int *unitCount)
{
    if (!unitCount)
        return NVML_ERROR_INVALID_ARGUMENT;
    *unitCount = 0;
    return NVML_SUCCESS;
}

nvmlReturn_t mr_nvmlUnitGetHandleByIndex(unsigned int index, nvmlUnit_t *unit)
{
    (void)index;
    (void)unit;
    return NVML_ERROR_INVALID_ARGUMENT;
}

nvmlReturn_t mr_nvmlGetExcludedDeviceCount(unsigned int *deviceCount)
{
    return mr_nvmlUnitGetCount(deviceCount);
}

nvmlReturn_t mr_nvmlGetExcludedDeviceInfoByIndex(unsigned int index, nvmlExcludedDeviceInfo_t *info)
{
    (void)index;
    (void)info;
    return NVML_ERROR_INVALID_ARGUMENT;
}

nvmlReturn_t mr_nvmlGetBlacklistDeviceCount(unsigned int *deviceCount)
{
    return mr_nvmlGetExcludedDeviceCount(deviceCount);
}

nvmlReturn_t mr_nvmlGetBlacklistDeviceInfoByIndex(unsigned int index, nvmlExcludedDeviceInfo_t *info)
{
    return mr_nvmlGetExcludedDeviceInfoByIndex(index, info);
}
