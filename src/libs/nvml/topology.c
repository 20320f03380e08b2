/* SPDX-License-Identifier: Apache-2.0 */
/* Which processors and memory are near a device, and how near devices are to each other. A device is all processors
 * and all memory of the machine. */
#define _GNU_SOURCE
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "libs/nvml/nvml.h"

#define WORD_BITS (8 * sizeof(unsigned long))

/* Sets the bits of a list as the kernel writes it ("0-3,8"), as far as they fit. */
static void set_bits(const char *list, unsigned long *set, unsigned words)
{
    for (const char *at = list; *at >= '0' && *at <= '9';) {
        char *end;
        unsigned long first = strtoul(at, &end, 10), last = first;
        if (*end == '-')
            last = strtoul(end + 1, &end, 10);
        for (unsigned long i = first; i <= last && i < words * WORD_BITS; i++)
            set[i / WORD_BITS] |= 1ul << (i % WORD_BITS);
        at = *end == ',' ? end + 1 : end;
    }
}

/* The machine's processors ("cpu") or nodes of memory ("node") that are in use. */
static nvmlReturn_t online(const char *kind, unsigned long *set, unsigned words)
{
    char path[64], list[4096] = "";
    if (!set || !words)
        return NVML_ERROR_INVALID_ARGUMENT;
    snprintf(path, sizeof path, "/sys/devices/system/%s/online", kind);
    FILE *file = fopen(path, "re");
    if (file && !fgets(list, sizeof list, file))
        *list = '\0';
    if (file)
        fclose(file);
    memset(set, 0, words * sizeof *set);
    set_bits(*list ? list : "0", set, words);
    return NVML_SUCCESS;
}

nvmlReturn_t mr_nvmlDeviceGetCpuAffinity(nvmlDevice_t device, unsigned int cpuSetSize, unsigned long *cpuSet)
{
    (void)device;
    return online("cpu", cpuSet, cpuSetSize);
}

nvmlReturn_t mr_nvmlDeviceGetCpuAffinityWithinScope(nvmlDevice_t device, unsigned int cpuSetSize, unsigned long *cpuSet,
                                                    nvmlAffinityScope_t scope)
{
    (void)device;
    return scope > NVML_AFFINITY_SCOPE_SOCKET ? NVML_ERROR_INVALID_ARGUMENT : online("cpu", cpuSet, cpuSetSize);
}

nvmlReturn_t mr_nvmlDeviceGetMemoryAffinity(nvmlDevice_t device, unsigned int nodeSetSize, unsigned long *nodeSet,
                                            nvmlAffinityScope_t scope)
{
    (void)device;
    return scope > NVML_AFFINITY_SCOPE_SOCKET ? NVML_ERROR_INVALID_ARGUMENT : online("node", nodeSet, nodeSetSize);
}

/* The thread may run on all processors again. */
nvmlReturn_t mr_nvmlDeviceClearCpuAffinity(nvmlDevice_t device)
{
    cpu_set_t all;
    (void)device;
    CPU_ZERO(&all);
    online("cpu", (unsigned long *)&all, sizeof all / sizeof(unsigned long));
    return sched_setaffinity(0, sizeof all, &all) == 0 ? NVML_SUCCESS : NVML_ERROR_UNKNOWN;
}

nvmlReturn_t mr_nvmlDeviceSetCpuAffinity(nvmlDevice_t device)
{
    return mr_nvmlDeviceClearCpuAffinity(device);
}

nvmlReturn_t mr_nvmlSystemGetTopologyGpuSet(unsigned int cpuNumber, unsigned int *count, nvmlDevice_t *deviceArray)
{
    unsigned long set[64];
    if (!count || !*count != !deviceArray || cpuNumber >= 64 * WORD_BITS)
        return NVML_ERROR_INVALID_ARGUMENT;
    online("cpu", set, 64);
    if (!(set[cpuNumber / WORD_BITS] >> (cpuNumber % WORD_BITS) & 1))
        return NVML_ERROR_INVALID_ARGUMENT;
    unsigned room = *count;
    *count = mr_nvml_count();
    for (unsigned i = 0; i < room && i < *count; i++)
        deviceArray[i] = mr_nvml_handle(i);
    return NVML_SUCCESS;
}

/* A device counts as on the same board as itself. Two different devices share the machine's memory. */
nvmlReturn_t mr_nvmlDeviceGetTopologyCommonAncestor(nvmlDevice_t device1, nvmlDevice_t device2,
                                                    nvmlGpuTopologyLevel_t *pathInfo)
{
    if (!mr_nvml_device_of(device1) || !mr_nvml_device_of(device2) || !pathInfo)
        return NVML_ERROR_INVALID_ARGUMENT;
    *pathInfo = device1 == device2 ? NVML_TOPOLOGY_INTERNAL : NVML_TOPOLOGY_NODE;
    return NVML_SUCCESS;
}

nvmlReturn_t mr_nvmlDeviceGetTopologyNearestGpus(nvmlDevice_t device, nvmlGpuTopologyLevel_t level, unsigned int *count,
                                                 nvmlDevice_t *deviceArray)
{
    if (!count || !*count != !deviceArray)
        return NVML_ERROR_INVALID_ARGUMENT;
    unsigned room = *count;
    *count = 0;
    for (unsigned i = 0; i < mr_nvml_count() && level >= NVML_TOPOLOGY_NODE; i++) {
        if (mr_nvml_handle(i) == device)
            continue;
        if (*count < room)
            deviceArray[*count] = mr_nvml_handle(i);
        ++*count;
    }
    return NVML_SUCCESS;
}

/* Every device reaches the others' memory, by the processor's own loads, stores and atomics. */
nvmlReturn_t mr_nvmlDeviceGetP2PStatus(nvmlDevice_t device1, nvmlDevice_t device2, nvmlGpuP2PCapsIndex_t p2pIndex,
                                       nvmlGpuP2PStatus_t *p2pStatus)
{
    if (!mr_nvml_device_of(device1) || !mr_nvml_device_of(device2) || !p2pStatus)
        return NVML_ERROR_INVALID_ARGUMENT;
    *p2pStatus = (unsigned)p2pIndex >= NVML_P2P_CAPS_INDEX_UNKNOWN ? NVML_P2P_STATUS_UNKNOWN
                 : p2pIndex == NVML_P2P_CAPS_INDEX_NVLINK          ? NVML_P2P_STATUS_NOT_SUPPORTED
                                                                   : NVML_P2P_STATUS_OK;
    return NVML_SUCCESS;
}

nvmlReturn_t mr_nvmlDeviceOnSameBoard(nvmlDevice_t device1, nvmlDevice_t device2, int *onSameBoard)
{
    if (!mr_nvml_device_of(device1) || !mr_nvml_device_of(device2) || !onSameBoard)
        return NVML_ERROR_INVALID_ARGUMENT;
    *onSameBoard = device1 == device2;
    return NVML_SUCCESS;
}
