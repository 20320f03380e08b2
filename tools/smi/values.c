/* SPDX-License-Identifier: Apache-2.0 */
/* What NVML answers, as texts. */
#include <stddef.h>
#include <string.h>
#include <time.h>

#include "smi.h"

#define MIB(bytes) ((bytes) >> 20)

static bool text_of(char text[SMI_TEXT], nvmlReturn_t status, const char *value)
{
    if (status == NVML_SUCCESS)
        snprintf(text, SMI_TEXT, "%s", value);
    return status == NVML_SUCCESS;
}

static bool number_of(char text[SMI_TEXT], nvmlReturn_t status, unsigned long long value)
{
    if (status == NVML_SUCCESS)
        snprintf(text, SMI_TEXT, "%llu", value);
    return status == NVML_SUCCESS;
}

bool smi_name(nvmlDevice_t device, char text[SMI_TEXT])
{
    return nvmlDeviceGetName(device, text, NVML_DEVICE_NAME_V2_BUFFER_SIZE) == NVML_SUCCESS;
}

bool smi_uuid(nvmlDevice_t device, char text[SMI_TEXT])
{
    return nvmlDeviceGetUUID(device, text, NVML_DEVICE_UUID_V2_BUFFER_SIZE) == NVML_SUCCESS;
}

bool smi_serial(nvmlDevice_t device, char text[SMI_TEXT])
{
    return nvmlDeviceGetSerial(device, text, NVML_DEVICE_SERIAL_BUFFER_SIZE) == NVML_SUCCESS;
}

bool smi_bus(nvmlDevice_t device, char text[SMI_TEXT])
{
    nvmlPciInfo_t pci;
    nvmlReturn_t status = nvmlDeviceGetPciInfo(device, &pci);
    return text_of(text, status, pci.busId);
}

bool smi_index(nvmlDevice_t device, char text[SMI_TEXT])
{
    unsigned index = 0;
    nvmlReturn_t status = nvmlDeviceGetIndex(device, &index);
    return number_of(text, status, index);
}

bool smi_minor(nvmlDevice_t device, char text[SMI_TEXT])
{
    unsigned minor = 0;
    nvmlReturn_t status = nvmlDeviceGetMinorNumber(device, &minor);
    return number_of(text, status, minor);
}

bool smi_count(nvmlDevice_t device, char text[SMI_TEXT])
{
    unsigned count = 0;
    (void)device;
    nvmlReturn_t status = nvmlDeviceGetCount(&count);
    return number_of(text, status, count);
}

bool smi_driver(nvmlDevice_t device, char text[SMI_TEXT])
{
    (void)device;
    return nvmlSystemGetDriverVersion(text, NVML_SYSTEM_DRIVER_VERSION_BUFFER_SIZE) == NVML_SUCCESS;
}

bool smi_cuda(nvmlDevice_t device, char text[SMI_TEXT])
{
    int version;
    (void)device;
    if (nvmlSystemGetCudaDriverVersion(&version) != NVML_SUCCESS)
        return false;
    snprintf(text, SMI_TEXT, "%d.%d", NVML_CUDA_DRIVER_VERSION_MAJOR(version), NVML_CUDA_DRIVER_VERSION_MINOR(version));
    return true;
}

bool smi_capability(nvmlDevice_t device, char text[SMI_TEXT])
{
    int major, minor;
    if (nvmlDeviceGetCudaComputeCapability(device, &major, &minor) != NVML_SUCCESS)
        return false;
    snprintf(text, SMI_TEXT, "%d.%d", major, minor);
    return true;
}

bool smi_architecture(nvmlDevice_t device, char text[SMI_TEXT])
{
    static const char *const names[] = {
        [NVML_DEVICE_ARCH_KEPLER] = "Kepler",      [NVML_DEVICE_ARCH_MAXWELL] = "Maxwell",
        [NVML_DEVICE_ARCH_PASCAL] = "Pascal",      [NVML_DEVICE_ARCH_VOLTA] = "Volta",
        [NVML_DEVICE_ARCH_TURING] = "Turing",      [NVML_DEVICE_ARCH_AMPERE] = "Ampere",
        [NVML_DEVICE_ARCH_ADA] = "Ada Lovelace",   [NVML_DEVICE_ARCH_HOPPER] = "Hopper",
        [NVML_DEVICE_ARCH_BLACKWELL] = "Blackwell"};
    nvmlDeviceArchitecture_t generation;
    if (nvmlDeviceGetArchitecture(device, &generation) != NVML_SUCCESS || generation >= sizeof names / sizeof *names ||
        !names[generation])
        return false;
    return text_of(text, NVML_SUCCESS, names[generation]);
}

bool smi_compute_mode(nvmlDevice_t device, char text[SMI_TEXT])
{
    static const char *const names[] = {"Default", "Exclusive_Thread", "Prohibited", "Exclusive_Process"};
    nvmlComputeMode_t mode = NVML_COMPUTEMODE_COUNT;
    nvmlReturn_t status = nvmlDeviceGetComputeMode(device, &mode);
    return status == NVML_SUCCESS && mode < NVML_COMPUTEMODE_COUNT && text_of(text, status, names[mode]);
}

static bool state_of(char text[SMI_TEXT], nvmlReturn_t status, nvmlEnableState_t state)
{
    return text_of(text, status, state == NVML_FEATURE_ENABLED ? "Enabled" : "Disabled");
}

bool smi_display_mode(nvmlDevice_t device, char text[SMI_TEXT])
{
    nvmlEnableState_t state = NVML_FEATURE_DISABLED;
    nvmlReturn_t status = nvmlDeviceGetDisplayMode(device, &state);
    return state_of(text, status, state);
}

bool smi_display_active(nvmlDevice_t device, char text[SMI_TEXT])
{
    nvmlEnableState_t state = NVML_FEATURE_DISABLED;
    nvmlReturn_t status = nvmlDeviceGetDisplayActive(device, &state);
    return state_of(text, status, state);
}

bool smi_persistence(nvmlDevice_t device, char text[SMI_TEXT])
{
    nvmlEnableState_t state = NVML_FEATURE_DISABLED;
    nvmlReturn_t status = nvmlDeviceGetPersistenceMode(device, &state);
    return state_of(text, status, state);
}

#define NUMBER(function, type, call) \
    bool function(nvmlDevice_t device, char text[SMI_TEXT]) \
    { \
        type value = 0; \
        nvmlReturn_t status = call; \
        return number_of(text, status, value); \
    }
NUMBER(smi_temperature, unsigned, nvmlDeviceGetTemperature(device, NVML_TEMPERATURE_GPU, &value))
NUMBER(smi_clock_graphics, unsigned, nvmlDeviceGetClockInfo(device, NVML_CLOCK_GRAPHICS, &value))
NUMBER(smi_clock_sm, unsigned, nvmlDeviceGetClockInfo(device, NVML_CLOCK_SM, &value))
NUMBER(smi_clock_memory, unsigned, nvmlDeviceGetClockInfo(device, NVML_CLOCK_MEM, &value))
NUMBER(smi_clock_video, unsigned, nvmlDeviceGetClockInfo(device, NVML_CLOCK_VIDEO, &value))
NUMBER(smi_max_graphics, unsigned, nvmlDeviceGetMaxClockInfo(device, NVML_CLOCK_GRAPHICS, &value))
NUMBER(smi_max_sm, unsigned, nvmlDeviceGetMaxClockInfo(device, NVML_CLOCK_SM, &value))
NUMBER(smi_max_memory, unsigned, nvmlDeviceGetMaxClockInfo(device, NVML_CLOCK_MEM, &value))
NUMBER(smi_fan, unsigned, nvmlDeviceGetFanSpeed(device, &value))

bool smi_power(nvmlDevice_t device, char text[SMI_TEXT])
{
    unsigned milliwatts;
    if (nvmlDeviceGetPowerUsage(device, &milliwatts) != NVML_SUCCESS)
        return false;
    snprintf(text, SMI_TEXT, "%.2f", milliwatts / 1000.0);
    return true;
}

bool smi_pstate(nvmlDevice_t device, char text[SMI_TEXT])
{
    nvmlPstates_t state;
    if (nvmlDeviceGetPerformanceState(device, &state) != NVML_SUCCESS || state > NVML_PSTATE_15)
        return false;
    snprintf(text, SMI_TEXT, "P%d", (int)state);
    return true;
}

/* Which part of a device's memory. */
static bool memory_of(nvmlDevice_t device, char text[SMI_TEXT], size_t part)
{
    nvmlMemory_v2_t memory = {.version = nvmlMemory_v2};
    nvmlReturn_t status = nvmlDeviceGetMemoryInfo_v2(device, &memory);
    return number_of(text, status, MIB(*(const unsigned long long *)((const char *)&memory + part)));
}

bool smi_memory_total(nvmlDevice_t device, char text[SMI_TEXT])
{
    return memory_of(device, text, offsetof(nvmlMemory_v2_t, total));
}

bool smi_memory_reserved(nvmlDevice_t device, char text[SMI_TEXT])
{
    return memory_of(device, text, offsetof(nvmlMemory_v2_t, reserved));
}

bool smi_memory_used(nvmlDevice_t device, char text[SMI_TEXT])
{
    return memory_of(device, text, offsetof(nvmlMemory_v2_t, used));
}

bool smi_memory_free(nvmlDevice_t device, char text[SMI_TEXT])
{
    return memory_of(device, text, offsetof(nvmlMemory_v2_t, free));
}

bool smi_busy(nvmlDevice_t device, char text[SMI_TEXT])
{
    nvmlUtilization_t rates = {0, 0};
    nvmlReturn_t status = nvmlDeviceGetUtilizationRates(device, &rates);
    return number_of(text, status, rates.gpu);
}

bool smi_memory_busy(nvmlDevice_t device, char text[SMI_TEXT])
{
    nvmlUtilization_t rates = {0, 0};
    nvmlReturn_t status = nvmlDeviceGetUtilizationRates(device, &rates);
    return number_of(text, status, rates.memory);
}

/* How busy the processes are, into the list that is there. */
static void add_busy(nvmlDevice_t device, struct smi_process *list, unsigned count)
{
    nvmlProcessUtilizationSample_t samples[SMI_PROCESSES];
    unsigned found = SMI_PROCESSES;
    if (nvmlDeviceGetProcessUtilization(device, samples, &found, 0) != NVML_SUCCESS)
        return;
    for (unsigned i = 0; i < count; i++)
        for (unsigned k = 0; k < found; k++)
            if (samples[k].pid == list[i].pid)
                list[i].percent = samples[k].smUtil;
}

unsigned smi_processes(nvmlDevice_t device, struct smi_process *out, unsigned room, bool busy)
{
    nvmlProcessInfo_t infos[SMI_PROCESSES];
    unsigned count = SMI_PROCESSES;
    if (nvmlDeviceGetComputeRunningProcesses(device, &count, infos) != NVML_SUCCESS)
        return 0;
    if (count > room)
        count = room;
    for (unsigned i = 0; i < count; i++) {
        out[i] = (struct smi_process){.pid = infos[i].pid, .bytes = infos[i].usedGpuMemory};
        if (nvmlSystemGetProcessName(infos[i].pid, out[i].name, sizeof out[i].name) != NVML_SUCCESS)
            strcpy(out[i].name, "[Not Found]");
    }
    if (busy)
        add_busy(device, out, count);
    return count;
}

void smi_date(char text[SMI_TEXT])
{
    time_t now = time(NULL);
    struct tm parts;
    strftime(text, SMI_TEXT, "%a %b %e %H:%M:%S %Y", localtime_r(&now, &parts));
}

void smi_timestamp(char text[SMI_TEXT])
{
    struct timespec now;
    struct tm parts;
    clock_gettime(CLOCK_REALTIME, &now);
    size_t length = strftime(text, SMI_TEXT, "%Y/%m/%d %H:%M:%S", localtime_r(&now.tv_sec, &parts));
    snprintf(text + length, SMI_TEXT - length, ".%03ld", now.tv_nsec / 1000000);
}
