/* SPDX-License-Identifier: Apache-2.0 */
/* Who uses a device: memory, processes, and how busy they are.
 *
 * A device's memory in use is what the processes with contexts on it say that they have, as the driver counts it for
 * cuMemGetInfo. How busy it is comes from the processor time of these processes: all of it, the program's own code
 * included, because the device is the processor. A process with contexts on several devices counts for each of them in
 * equal parts. */
#include <ctype.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "libs/nvml/nvml.h"

#define NO_INSTANCE 0xffffffffu

/* ---- memory ---- */

static void memory_of(const struct mr_nvml_device *device, unsigned long long *total, unsigned long long *used)
{
    struct mr_use_found uses[MR_NVML_PROCESSES];
    size_t count = mr_nvml_uses(device, uses);
    *total = device->facts.total_memory;
    *used = 0;
    for (size_t i = 0; i < count; i++)
        *used += uses[i].bytes;
    /* Each process has the device's whole memory for itself. */
    if (*used > *total)
        *used = *total;
}

nvmlReturn_t mr_nvmlDeviceGetMemoryInfo(nvmlDevice_t device, nvmlMemory_t *memory)
{
    if (!memory)
        return NVML_ERROR_INVALID_ARGUMENT;
    memory_of(mr_nvml_device_of(device), &memory->total, &memory->used);
    memory->free = memory->total - memory->used;
    return NVML_SUCCESS;
}

nvmlReturn_t mr_nvmlDeviceGetMemoryInfo_v2(nvmlDevice_t device, nvmlMemory_v2_t *memory)
{
    if (!memory)
        return NVML_ERROR_INVALID_ARGUMENT;
    if (memory->version != nvmlMemory_v2)
        return NVML_ERROR_FUNCTION_NOT_FOUND;
    memory_of(mr_nvml_device_of(device), &memory->total, &memory->used);
    memory->reserved = 0;
    memory->free = memory->total - memory->used;
    return NVML_SUCCESS;
}

/* ---- processes ---- */

/* The list in the caller's array, whose elements have `size` bytes and begin as nvmlProcessInfo_v1_t does. */
static nvmlReturn_t list_processes(nvmlDevice_t device, unsigned *count, void *infos, size_t size)
{
    struct mr_use_found uses[MR_NVML_PROCESSES];
    if (!count)
        return NVML_ERROR_INVALID_ARGUMENT;
    size_t found = mr_nvml_uses(mr_nvml_device_of(device), uses), room = *count;
    *count = (unsigned)found;
    if (found > room)
        return NVML_ERROR_INSUFFICIENT_SIZE;
    if (room && !infos)
        return NVML_ERROR_INVALID_ARGUMENT;
    for (size_t i = 0; i < found; i++) {
        nvmlProcessInfo_v2_t info = {uses[i].process, uses[i].bytes, NO_INSTANCE, NO_INSTANCE};
        memcpy((char *)infos + i * size, &info, size);
    }
    return NVML_SUCCESS;
}

/* No process draws graphics, and processes share a device without a server. */
static nvmlReturn_t no_processes(unsigned *count, const void *infos)
{
    if (!count || (*count && !infos))
        return NVML_ERROR_INVALID_ARGUMENT;
    *count = 0;
    return NVML_SUCCESS;
}

#define LISTS(version, type) \
    nvmlReturn_t mr_nvmlDeviceGetComputeRunningProcesses##version(nvmlDevice_t device, unsigned int *infoCount, \
                                                                  type *infos) \
    { \
        return list_processes(device, infoCount, infos, sizeof *infos); \
    } \
    nvmlReturn_t mr_nvmlDeviceGetGraphicsRunningProcesses##version(nvmlDevice_t device, unsigned int *infoCount, \
                                                                   type *infos) \
    { \
        (void)device; \
        return no_processes(infoCount, infos); \
    } \
    nvmlReturn_t mr_nvmlDeviceGetMPSComputeRunningProcesses##version(nvmlDevice_t device, unsigned int *infoCount, \
                                                                     type *infos) \
    { \
        (void)device; \
        return no_processes(infoCount, infos); \
    }
LISTS(, nvmlProcessInfo_v1_t)
LISTS(_v2, nvmlProcessInfo_v2_t)
LISTS(_v3, nvmlProcessInfo_t)

/* Modes: 0 is compute, 1 graphics, 2 the server of shared devices. */
nvmlReturn_t mr_nvmlDeviceGetRunningProcessDetailList(nvmlDevice_t device, nvmlProcessDetailList_t *plist)
{
    struct mr_use_found uses[MR_NVML_PROCESSES];
    if (!plist)
        return NVML_ERROR_INVALID_ARGUMENT;
    if (plist->version != nvmlProcessDetailList_v1)
        return NVML_ERROR_ARGUMENT_VERSION_MISMATCH;
    if (plist->mode > 2)
        return NVML_ERROR_INVALID_ARGUMENT;
    size_t found = plist->mode == 0 ? mr_nvml_uses(mr_nvml_device_of(device), uses) : 0;
    size_t room = plist->numProcArrayEntries;
    plist->numProcArrayEntries = (unsigned)found;
    if (found > room || (found && !plist->procArray))
        return NVML_ERROR_INSUFFICIENT_SIZE;
    for (size_t i = 0; i < found; i++)
        plist->procArray[i] = (nvmlProcessDetail_v1_t){uses[i].process, uses[i].bytes, NO_INSTANCE, NO_INSTANCE, 0};
    return NVML_SUCCESS;
}

/* The program that the process was started with, as much as there is room for; the kernel's name for it where that
 * can't be read. */
nvmlReturn_t mr_nvmlSystemGetProcessName(unsigned int pid, char *name, unsigned int length)
{
    char path[64], text[4096] = "";
    if (!name || !length)
        return NVML_ERROR_INVALID_ARGUMENT;
    static const char *const files[] = {"cmdline", "comm"};
    for (unsigned i = 0; i < 2 && !*text; i++) {
        snprintf(path, sizeof path, "/proc/%u/%s", pid, files[i]);
        FILE *file = fopen(path, "re");
        if (!file)
            return NVML_ERROR_NOT_FOUND;
        text[fread(text, 1, sizeof text - 1, file)] = '\0';
        fclose(file);
    }
    text[strcspn(text, "\n")] = '\0';
    snprintf(name, length, "%s", text);
    return NVML_SUCCESS;
}

/* ---- how busy they are ---- */

#define SECOND UINT64_C(1000000000)

/* The processor time of processes at some moment. */
struct moment {
    uint64_t when; /* nanoseconds, monotonic; 0: none */
    size_t count;
    struct {
        uint32_t process;
        uint64_t spent; /* nanoseconds */
    } of[MR_NVML_PROCESSES];
};

/* For each device the moment that the next answer begins at, and a later one that may take its place. */
static struct history {
    struct moment base, latest;
} histories[MR_DEVICE_LIMIT];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static uint64_t read_clock(clockid_t clock)
{
    struct timespec now;
    return clock_gettime(clock, &now) == 0 ? (uint64_t)now.tv_sec * SECOND + (uint64_t)now.tv_nsec : 0;
}

static void take_moment(struct moment *out, const struct mr_use_found *uses, size_t count)
{
    out->when = read_clock(CLOCK_MONOTONIC);
    out->count = count;
    for (size_t i = 0; i < count; i++) {
        clockid_t clock;
        out->of[i].process = uses[i].process;
        out->of[i].spent = clock_getcpuclockid((pid_t)uses[i].process, &clock) == 0 ? read_clock(clock) : 0;
    }
}

/* What the process had spent then; `now` if it was not there, or was another one with more. */
static uint64_t spent_then(const struct moment *then, uint32_t process, uint64_t now)
{
    for (size_t i = 0; i < then->count; i++)
        if (then->of[i].process == process)
            return then->of[i].spent < now ? then->of[i].spent : now;
    return now;
}

size_t mr_nvml_busy(const struct mr_nvml_device *device, struct mr_nvml_share *out, unsigned *total, uint64_t *when)
{
    static struct moment now; /* under lock */
    struct mr_use_found uses[MR_NVML_PROCESSES];
    size_t count = mr_nvml_uses(device, uses);
    struct history *history = &histories[device->index];
    double sum = 0;
    pthread_mutex_lock(&lock);
    take_moment(&now, uses, count);
    /* An old moment tells of a time that nobody asks about any more. */
    if (count && (!history->base.when || now.when - history->base.when > 10 * SECOND)) {
        history->base = now;
        history->latest = now;
        usleep(100000);
        take_moment(&now, uses, count);
    }
    double room = (double)(now.when - history->base.when) * device->facts.processors;
    for (size_t i = 0; i < count; i++) {
        uint64_t spent = now.of[i].spent - spent_then(&history->base, uses[i].process, now.of[i].spent);
        double part = room > 0 ? 100.0 * (double)spent / __builtin_popcountll(uses[i].devices) / room : 0;
        sum += part;
        out[i] = (struct mr_nvml_share){uses[i].process, (unsigned)(part < 100 ? part + 0.5 : 100)};
    }
    if (now.when - history->latest.when > SECOND / 2) {
        history->base = history->latest;
        history->latest = now;
    }
    pthread_mutex_unlock(&lock);
    *total = (unsigned)(sum < 100 ? sum + 0.5 : 100);
    *when = read_clock(CLOCK_REALTIME) / 1000;
    return count;
}

/* For how much of the time memory is read or written is not known; the answer is 0. */
nvmlReturn_t mr_nvmlDeviceGetUtilizationRates(nvmlDevice_t device, nvmlUtilization_t *utilization)
{
    struct mr_nvml_share shares[MR_NVML_PROCESSES];
    uint64_t when;
    if (!utilization)
        return NVML_ERROR_INVALID_ARGUMENT;
    utilization->memory = 0;
    mr_nvml_busy(mr_nvml_device_of(device), shares, &utilization->gpu, &when);
    return NVML_SUCCESS;
}

nvmlReturn_t mr_nvmlDeviceGetProcessUtilization(nvmlDevice_t device, nvmlProcessUtilizationSample_t *utilization,
                                                unsigned int *processSamplesCount, unsigned long long lastSeenTimeStamp)
{
    struct mr_nvml_share shares[MR_NVML_PROCESSES];
    unsigned total;
    uint64_t when;
    if (!processSamplesCount)
        return NVML_ERROR_INVALID_ARGUMENT;
    size_t count = mr_nvml_busy(mr_nvml_device_of(device), shares, &total, &when), room = *processSamplesCount;
    if (!utilization) {
        *processSamplesCount = MR_NVML_PROCESSES;
        return NVML_ERROR_INSUFFICIENT_SIZE;
    }
    *processSamplesCount = (unsigned)count;
    if (!count || when <= lastSeenTimeStamp)
        return NVML_ERROR_NOT_FOUND;
    if (count > room)
        return NVML_ERROR_INSUFFICIENT_SIZE;
    for (size_t i = 0; i < count; i++)
        utilization[i] =
            (nvmlProcessUtilizationSample_t){.pid = shares[i].process, .timeStamp = when, .smUtil = shares[i].percent};
    return NVML_SUCCESS;
}

nvmlReturn_t mr_nvmlDeviceGetProcessesUtilizationInfo(nvmlDevice_t device,
                                                      nvmlProcessesUtilizationInfo_t *procesesUtilInfo)
{
    struct mr_nvml_share shares[MR_NVML_PROCESSES];
    unsigned total;
    uint64_t when;
    if (!procesesUtilInfo)
        return NVML_ERROR_INVALID_ARGUMENT;
    if (procesesUtilInfo->version != nvmlProcessesUtilizationInfo_v1)
        return NVML_ERROR_ARGUMENT_VERSION_MISMATCH;
    size_t count = mr_nvml_busy(mr_nvml_device_of(device), shares, &total, &when);
    size_t room = procesesUtilInfo->processSamplesCount;
    if (!procesesUtilInfo->procUtilArray) {
        procesesUtilInfo->processSamplesCount = MR_NVML_PROCESSES;
        return NVML_ERROR_INSUFFICIENT_SIZE;
    }
    procesesUtilInfo->processSamplesCount = (unsigned)count;
    if (!count || when <= procesesUtilInfo->lastSeenTimeStamp)
        return NVML_ERROR_NOT_FOUND;
    if (count > room)
        return NVML_ERROR_INSUFFICIENT_SIZE;
    for (size_t i = 0; i < count; i++)
        procesesUtilInfo->procUtilArray[i] =
            (nvmlProcessUtilizationInfo_v1_t){.timeStamp = when, .pid = shares[i].process, .smUtil = shares[i].percent};
    return NVML_SUCCESS;
}
