/* SPDX-License-Identifier: Apache-2.0 */
/* What cases of NVML stand on: the words for its statuses, and the child's device and memory. */
#include "nv.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *nv_status_name(nvmlReturn_t status)
{
#define NAME(name) \
    case name: \
        return #name
    switch (status) {
        NAME(NVML_SUCCESS);
        NAME(NVML_ERROR_UNINITIALIZED);
        NAME(NVML_ERROR_INVALID_ARGUMENT);
        NAME(NVML_ERROR_NOT_SUPPORTED);
        NAME(NVML_ERROR_NO_PERMISSION);
        NAME(NVML_ERROR_ALREADY_INITIALIZED);
        NAME(NVML_ERROR_NOT_FOUND);
        NAME(NVML_ERROR_INSUFFICIENT_SIZE);
        NAME(NVML_ERROR_INSUFFICIENT_POWER);
        NAME(NVML_ERROR_DRIVER_NOT_LOADED);
        NAME(NVML_ERROR_TIMEOUT);
        NAME(NVML_ERROR_IRQ_ISSUE);
        NAME(NVML_ERROR_LIBRARY_NOT_FOUND);
        NAME(NVML_ERROR_FUNCTION_NOT_FOUND);
        NAME(NVML_ERROR_CORRUPTED_INFOROM);
        NAME(NVML_ERROR_GPU_IS_LOST);
        NAME(NVML_ERROR_RESET_REQUIRED);
        NAME(NVML_ERROR_OPERATING_SYSTEM);
        NAME(NVML_ERROR_LIB_RM_VERSION_MISMATCH);
        NAME(NVML_ERROR_IN_USE);
        NAME(NVML_ERROR_MEMORY);
        NAME(NVML_ERROR_NO_DATA);
        NAME(NVML_ERROR_VGPU_ECC_NOT_SUPPORTED);
        NAME(NVML_ERROR_INSUFFICIENT_RESOURCES);
        NAME(NVML_ERROR_FREQ_NOT_SUPPORTED);
        NAME(NVML_ERROR_ARGUMENT_VERSION_MISMATCH);
        NAME(NVML_ERROR_DEPRECATED);
        NAME(NVML_ERROR_NOT_READY);
        NAME(NVML_ERROR_GPU_NOT_FOUND);
        NAME(NVML_ERROR_INVALID_STATE);
        NAME(NVML_ERROR_RESET_TYPE_NOT_SUPPORTED);
        NAME(NVML_ERROR_UNKNOWN);
    default:
        return NULL;
    }
#undef NAME
}

void nv(nvmlReturn_t status)
{
    const char *name = nv_status_name(status);
    if (name)
        say_text(name + strlen("NVML_"));
    else
        say_value("status", (long long)status);
}

void nv_need(nvmlReturn_t status, const char *what)
{
    char text[300];
    const char *name = nv_status_name(status);
    if (status == NVML_SUCCESS)
        return;
    snprintf(text, sizeof text, "%s %s", what, name ? name : "unknown status");
    gold_stop(text);
}

static nvmlDevice_t device;
static _Alignas(64) unsigned char memory[8][NV_MEMORY];

nvmlDevice_t nv_device(void)
{
    return device;
}

void *nv_memory(unsigned n)
{
    return memset(memory[n], 0, NV_MEMORY);
}

void gold_child_begin(bool bare)
{
    if (bare)
        return;
    nvmlReturn_t status = nvmlInit_v2();
    if (status == NVML_SUCCESS)
        status = nvmlDeviceGetHandleByIndex_v2(0, &device);
    if (status != NVML_SUCCESS) {
        const char *name = nv_status_name(status);
        fprintf(stderr, "nvml_cases: no device: %s\n", name ? name : "unknown status");
        exit(4);
    }
}

bool gold_child_reset(void)
{
    return true;
}

int gold_device_count(void)
{
    unsigned count = 0;
    bool known = nvmlInit_v2() == NVML_SUCCESS && nvmlDeviceGetCount_v2(&count) == NVML_SUCCESS;
    nvmlShutdown();
    return known ? (int)count : 0;
}
