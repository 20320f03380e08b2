/* SPDX-License-Identifier: Apache-2.0 */
/* Clocks and temperatures, as far as the kernel shows them. Virtual machines mostly show none. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "libs/nvml/nvml.h"

static bool read_text(const char *path, char *text, size_t room)
{
    FILE *file = fopen(path, "re");
    if (!file)
        return false;
    bool got = fgets(text, (int)room, file) != NULL;
    fclose(file);
    if (got)
        text[strcspn(text, "\n")] = '\0';
    return got;
}

static bool read_number(const char *path, long *value)
{
    char text[64], *end;
    if (!read_text(path, text, sizeof text))
        return false;
    *value = strtol(text, &end, 10);
    return end != text;
}

/* The mean over the processors, from cpufreq or, without it, /proc/cpuinfo. */
bool mr_nvml_host_clock(unsigned *mhz)
{
    char path[96], line[512];
    double sum = 0;
    unsigned count = 0;
    for (unsigned cpu = 0; cpu < 4096; cpu++, count++) {
        long khz;
        snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu%u/cpufreq/scaling_cur_freq", cpu);
        if (!read_number(path, &khz))
            break;
        sum += (double)khz / 1000;
    }
    FILE *file = count ? NULL : fopen("/proc/cpuinfo", "re");
    while (file && fgets(line, sizeof line, file)) {
        const char *colon = strchr(line, ':');
        if (strncmp(line, "cpu MHz", 7) == 0 && colon) {
            sum += atof(colon + 1);
            count++;
        }
    }
    if (file)
        fclose(file);
    *mhz = count ? (unsigned)(sum / count + 0.5) : 0;
    return *mhz > 0;
}

bool mr_nvml_host_greatest_clock(unsigned *mhz)
{
    long khz;
    if (!read_number("/sys/devices/system/cpu/cpu0/cpufreq/cpuinfo_max_freq", &khz) || khz <= 0)
        return false;
    *mhz = (unsigned)(khz / 1000);
    return true;
}

/* The sensor of the processor as a whole. */
bool mr_nvml_host_temperature(int *celsius)
{
    static const char *const drivers[] = {"coretemp", "k10temp", "zenpower", "cpu_thermal"};
    char path[96], name[64];
    long value;
    for (unsigned n = 0; n < 64; n++) {
        snprintf(path, sizeof path, "/sys/class/hwmon/hwmon%u/name", n);
        if (!read_text(path, name, sizeof name))
            continue;
        for (unsigned i = 0; i < sizeof drivers / sizeof *drivers; i++) {
            snprintf(path, sizeof path, "/sys/class/hwmon/hwmon%u/temp1_input", n);
            if (strcmp(name, drivers[i]) == 0 && read_number(path, &value)) {
                *celsius = (int)(value / 1000);
                return true;
            }
        }
    }
    for (unsigned n = 0; n < 64; n++) {
        snprintf(path, sizeof path, "/sys/class/thermal/thermal_zone%u/type", n);
        if (!read_text(path, name, sizeof name) || strcmp(name, "x86_pkg_temp") != 0)
            continue;
        snprintf(path, sizeof path, "/sys/class/thermal/thermal_zone%u/temp", n);
        if (read_number(path, &value)) {
            *celsius = (int)(value / 1000);
            return true;
        }
    }
    return false;
}

/* The processor's clock stands for that of the multiprocessors. Other clocks are not known. */
static bool is_processors(nvmlClockType_t type)
{
    return type == NVML_CLOCK_GRAPHICS || type == NVML_CLOCK_SM;
}

nvmlReturn_t mr_nvmlDeviceGetClockInfo(nvmlDevice_t device, nvmlClockType_t type, unsigned int *clock)
{
    (void)device;
    if (!clock)
        return NVML_ERROR_INVALID_ARGUMENT;
    return is_processors(type) && mr_nvml_host_clock(clock) ? NVML_SUCCESS : NVML_ERROR_NOT_SUPPORTED;
}

nvmlReturn_t mr_nvmlDeviceGetMaxClockInfo(nvmlDevice_t device, nvmlClockType_t type, unsigned int *clock)
{
    (void)device;
    if (!clock)
        return NVML_ERROR_INVALID_ARGUMENT;
    return is_processors(type) && mr_nvml_host_greatest_clock(clock) ? NVML_SUCCESS : NVML_ERROR_NOT_SUPPORTED;
}

nvmlReturn_t mr_nvmlDeviceGetClock(nvmlDevice_t device, nvmlClockType_t clockType, nvmlClockId_t clockId,
                                   unsigned int *clockMHz)
{
    if (!clockMHz || (unsigned)clockId >= NVML_CLOCK_ID_COUNT)
        return NVML_ERROR_INVALID_ARGUMENT;
    if (clockId == NVML_CLOCK_ID_CURRENT)
        return mr_nvmlDeviceGetClockInfo(device, clockType, clockMHz);
    return NVML_ERROR_NOT_SUPPORTED;
}

nvmlReturn_t mr_nvmlDeviceGetTemperature(nvmlDevice_t device, nvmlTemperatureSensors_t sensorType, unsigned int *temp)
{
    int celsius;
    (void)device;
    if (!temp || (unsigned)sensorType >= NVML_TEMPERATURE_COUNT)
        return NVML_ERROR_INVALID_ARGUMENT;
    if (!mr_nvml_host_temperature(&celsius))
        return NVML_ERROR_NOT_SUPPORTED;
    *temp = (unsigned)celsius;
    return NVML_SUCCESS;
}

nvmlReturn_t mr_nvmlDeviceGetTemperatureV(nvmlDevice_t device, nvmlTemperature_t *temperature)
{
    unsigned celsius;
    if (!temperature)
        return NVML_ERROR_INVALID_ARGUMENT;
    if (temperature->version != nvmlTemperature_v1)
        return NVML_ERROR_ARGUMENT_VERSION_MISMATCH;
    nvmlReturn_t status = mr_nvmlDeviceGetTemperature(device, temperature->sensorType, &celsius);
    if (status == NVML_SUCCESS)
        temperature->temperature = (int)celsius;
    return status;
}
