/* SPDX-License-Identifier: Apache-2.0 */
/* What NVML answers to arguments that are wrong, buffers that are too small, versions of structures, and to calls in
 * and out of order. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "nv.h"

/* ---- the library ---- */

CASE(nv_init, twice, .bare = true)
{
    unsigned count;
    nv(nvmlInit_v2());
    nv(nvmlInit_v2());
    nv(nvmlShutdown());
    nv(nvmlDeviceGetCount_v2(&count));
    nv(nvmlShutdown());
    nv(nvmlDeviceGetCount_v2(&count));
    nv(nvmlShutdown());
}

CASE(nv_init, flags, .bare = true)
{
    static const unsigned flags[] = {0, NVML_INIT_FLAG_NO_GPUS, NVML_INIT_FLAG_NO_ATTACH, 3, 4, 8, 0x80000000u};
    for (size_t i = 0; i < sizeof flags / sizeof *flags; i++) {
        nvmlReturn_t status = nvmlInitWithFlags(flags[i]);
        nv(status);
        if (status == NVML_SUCCESS)
            nv(nvmlShutdown());
    }
}

CASE(nv_init, handle_survives, .bare = true)
{
    nvmlDevice_t device;
    unsigned index = 7;
    NV_NEED(nvmlInit_v2());
    NV_NEED(nvmlDeviceGetHandleByIndex_v2(0, &device));
    NV_NEED(nvmlShutdown());
    nv(nvmlDeviceGetIndex(device, &index));
    NV_NEED(nvmlInit_v2());
    nv(nvmlDeviceGetIndex(device, &index));
    say_int(index);
}

CASE(nv_init, older, .bare = true)
{
    unsigned count = 0;
    nv(nvmlInit());
    nv(nvmlDeviceGetCount(&count));
    say_if("some", count > 0);
    nv(nvmlShutdown());
}

CASE(nv_init, early_questions, .bare = true)
{
    char text[80] = "";
    int version = 0;
    nv(nvmlSystemGetDriverVersion(text, sizeof text));
    nv(nvmlSystemGetNVMLVersion(text, sizeof text));
    nv(nvmlSystemGetCudaDriverVersion(&version));
    say_if("known", version >= 12000);
    version = 0;
    nv(nvmlSystemGetCudaDriverVersion_v2(&version));
    say_if("known", version >= 12000);
    nv(nvmlSystemGetProcessName((unsigned)getpid(), text, sizeof text));
}

CASE(nv_text, each_status)
{
    for (int status = -1; status <= 40; status++) {
        const char *text = nvmlErrorString((nvmlReturn_t)status);
        say_if(nv_status_name((nvmlReturn_t)status) ? nv_status_name((nvmlReturn_t)status) : "unnamed", text && *text);
    }
    say_if("999", nvmlErrorString(NVML_ERROR_UNKNOWN) != NULL);
}

CASE(nv_text, unknown_status)
{
    say_if("same", strcmp(nvmlErrorString((nvmlReturn_t)500), nvmlErrorString((nvmlReturn_t)-3)) == 0);
    say_if("as_unknown", strcmp(nvmlErrorString((nvmlReturn_t)500), nvmlErrorString(NVML_ERROR_UNKNOWN)) == 0);
}

/* ---- texts and the room for them: the length that fits, one less, others ---- */

static void rooms(const char *(*ask)(unsigned length, char *text, nvmlReturn_t *status))
{
    char text[256];
    nvmlReturn_t status;
    memset(text, 0, sizeof text);
    ask(sizeof text, text, &status);
    nv(status);
    unsigned length = (unsigned)strlen(text);
    unsigned tried[] = {length + 1, length, 1, 0};
    for (size_t i = 0; i < sizeof tried / sizeof *tried; i++) {
        memset(text, 'x', sizeof text);
        ask(tried[i], text, &status);
        nv(status);
        say_if("kept", text[0] == 'x' && text[1] == 'x');
    }
}

#define ROOMS(title, call) \
    static const char *ask_##title(unsigned length, char *text, nvmlReturn_t *status) \
    { \
        *status = call; \
        return text; \
    } \
    CASE(nv_room, title) \
    { \
        rooms(ask_##title); \
    }
ROOMS(driver_version, nvmlSystemGetDriverVersion(text, length))
ROOMS(nvml_version, nvmlSystemGetNVMLVersion(text, length))
ROOMS(name, nvmlDeviceGetName(nv_device(), text, length))
ROOMS(uuid, nvmlDeviceGetUUID(nv_device(), text, length))
ROOMS(process_name, nvmlSystemGetProcessName((unsigned)getpid(), text, length))

CASE(nv_room, wide_enough)
{
    char text[NVML_DEVICE_NAME_V2_BUFFER_SIZE];
    nv(nvmlDeviceGetName(nv_device(), text, NVML_DEVICE_NAME_BUFFER_SIZE));
    nv(nvmlDeviceGetUUID(nv_device(), text, NVML_DEVICE_UUID_BUFFER_SIZE));
    say_if("prefix", strncmp(text, "GPU-", 4) == 0);
    say_int((long long)strlen(text));
}

CASE(nv_room, process_lost)
{
    char text[64];
    nv(nvmlSystemGetProcessName(0, text, sizeof text));
    nv(nvmlSystemGetProcessName(0x7fffffff, text, sizeof text));
}

/* ---- finding devices ---- */

CASE(nv_find, index)
{
    static const unsigned extra[] = {0, 1, 100, 0x7fffffff};
    unsigned count = 0;
    nvmlDevice_t device = NULL;
    NV_NEED(nvmlDeviceGetCount_v2(&count));
    for (size_t i = 0; i < sizeof extra / sizeof *extra; i++)
        nv(nvmlDeviceGetHandleByIndex_v2(count + extra[i], &device));
    nv(nvmlDeviceGetHandleByIndex_v2(0, NULL));
    nv(nvmlDeviceGetHandleByIndex(0, &device));
    say_if("same", device == nv_device());
}

CASE(nv_find, uuid)
{
    char uuid[96];
    nvmlDevice_t device = NULL;
    NV_NEED(nvmlDeviceGetUUID(nv_device(), uuid, sizeof uuid));
    nv(nvmlDeviceGetHandleByUUID(uuid, &device));
    say_if("same", device == nv_device());
    nv(nvmlDeviceGetHandleByUUID(uuid + 4, &device));
    nv(nvmlDeviceGetHandleByUUID("GPU-00000000-0000-0000-0000-000000000000", &device));
    nv(nvmlDeviceGetHandleByUUID("", &device));
    nv(nvmlDeviceGetHandleByUUID("GPU-", &device));
    nv(nvmlDeviceGetHandleByUUID("nonsense", &device));
    uuid[10] = '\0';
    nv(nvmlDeviceGetHandleByUUID(uuid, &device));
}

CASE(nv_find, uuid_upper)
{
    char uuid[96];
    nvmlDevice_t device = NULL;
    NV_NEED(nvmlDeviceGetUUID(nv_device(), uuid, sizeof uuid));
    for (char *c = uuid + 4; *c; c++)
        if (*c >= 'a' && *c <= 'f')
            *c = (char)(*c - 'a' + 'A');
    nv(nvmlDeviceGetHandleByUUID(uuid, &device));
}

static void by_struct(unsigned version, unsigned type, bool right)
{
    nvmlUUID_t uuid;
    char text[96];
    unsigned part[16];
    nvmlDevice_t device = NULL;
    memset(&uuid, 0, sizeof uuid);
    uuid.version = version;
    uuid.type = type;
    NV_NEED(nvmlDeviceGetUUID(nv_device(), text, sizeof text));
    if (type == NVML_UUID_TYPE_BINARY) {
        unsigned n = 0;
        for (const char *c = text + 4; *c && n < 16; c++)
            if (*c != '-' && sscanf(c++, "%2x", &part[n]) == 1)
                n++;
        for (unsigned i = 0; i < n; i++)
            uuid.value.bytes[i] = (unsigned char)part[i];
    } else {
        memcpy(uuid.value.str, text, sizeof uuid.value.str - 1);
    }
    if (!right)
        uuid.value.bytes[15] ^= 1;
    nv(nvmlDeviceGetHandleByUUIDV(&uuid, &device));
    say_if("same", device == nv_device());
}

CASE(nv_find, uuid_struct)
{
    by_struct(nvmlUUID_v1, NVML_UUID_TYPE_ASCII, true);
    by_struct(nvmlUUID_v1, NVML_UUID_TYPE_BINARY, true);
    by_struct(nvmlUUID_v1, NVML_UUID_TYPE_BINARY, false);
    by_struct(nvmlUUID_v1, NVML_UUID_TYPE_NONE, true);
    by_struct(nvmlUUID_v1, 7, true);
    by_struct(0, NVML_UUID_TYPE_ASCII, true);
    by_struct(nvmlUUID_v1 + 1, NVML_UUID_TYPE_ASCII, true);
}

CASE(nv_find, serial)
{
    nvmlDevice_t device = NULL;
    nv(nvmlDeviceGetHandleBySerial("nonsense", &device));
    nv(nvmlDeviceGetHandleBySerial("", &device));
}

static nvmlReturn_t by_bus(const char *form, const nvmlPciInfo_t *pci, unsigned more)
{
    char text[64];
    nvmlDevice_t device = NULL;
    snprintf(text, sizeof text, form, pci->domain, pci->bus, pci->device, more);
    nvmlReturn_t status = nvmlDeviceGetHandleByPciBusId_v2(text, &device);
    say_if("same", device == nv_device());
    return status;
}

CASE(nv_find, bus)
{
    nvmlPciInfo_t pci;
    nvmlDevice_t device = NULL;
    NV_NEED(nvmlDeviceGetPciInfo_v3(nv_device(), &pci));
    nv(by_bus("%08X:%02X:%02X.%u", &pci, 0));
    nv(by_bus("%04X:%02X:%02X.%u", &pci, 0));
    nv(by_bus("%x:%x:%x.%u", &pci, 0));
    nv(by_bus("%04x:%02x:%02x.%u", &pci, 0));
    nv(by_bus("%04x:%02x:%02x", &pci, 0));
    nv(by_bus("%04x:%02x:%02x.%u", &pci, 1));
    nv(by_bus("%04x:%02x:%02x.%u ", &pci, 0));
    nv(by_bus(" %04x:%02x:%02x.%u", &pci, 0));
    nv(by_bus("%04x:%02x:%02x.%uz", &pci, 0));
    nv(nvmlDeviceGetHandleByPciBusId_v2("0000:ff:1f.0", &device));
    nv(nvmlDeviceGetHandleByPciBusId_v2("", &device));
    nv(nvmlDeviceGetHandleByPciBusId_v2("nonsense", &device));
    nv(nvmlDeviceGetHandleByPciBusId("nonsense", &device));
}

CASE(nv_find, bus_without_domain)
{
    nvmlPciInfo_t pci;
    char text[64];
    nvmlDevice_t device = NULL;
    NV_NEED(nvmlDeviceGetPciInfo_v3(nv_device(), &pci));
    snprintf(text, sizeof text, "%02x:%02x.0", pci.bus, pci.device);
    nv(nvmlDeviceGetHandleByPciBusId_v2(text, &device));
    say_if("domain", pci.domain != 0);
}

CASE(nv_find, wild_handle, .alone = true)
{
    unsigned index;
    nv(nvmlDeviceGetIndex((nvmlDevice_t)nv_memory(0), &index));
}

/* ---- what a device says of itself ---- */

CASE(nv_device, bus_texts)
{
    nvmlPciInfo_t pci;
    char text[64];
    NV_NEED(nvmlDeviceGetPciInfo_v3(nv_device(), &pci));
    snprintf(text, sizeof text, NVML_DEVICE_PCI_BUS_ID_FMT, NVML_DEVICE_PCI_BUS_ID_FMT_ARGS(&pci));
    say_if("id", strcmp(text, pci.busId) == 0);
    snprintf(text, sizeof text, NVML_DEVICE_PCI_BUS_ID_LEGACY_FMT, NVML_DEVICE_PCI_BUS_ID_FMT_ARGS(&pci));
    say_if("legacy", strcmp(text, pci.busIdLegacy) == 0);
    nvmlPciInfo_t older;
    memset(&older, 0x55, sizeof older);
    nv(nvmlDeviceGetPciInfo_v2(nv_device(), &older));
    say_if("v2_legacy", strcmp(older.busIdLegacy, pci.busIdLegacy) == 0);
    say_if("v2_subsystem", older.pciSubSystemId == pci.pciSubSystemId);
    say_if("v2_id", strncmp(older.busId, pci.busId, 12) == 0);
    memset(&older, 0x55, sizeof older);
    nv(nvmlDeviceGetPciInfo(nv_device(), &older));
    say_if("v1_legacy", strcmp(older.busIdLegacy, pci.busIdLegacy) == 0);
    say_if("v1_subsystem", older.pciSubSystemId == pci.pciSubSystemId);
    say_if("v1_id", strncmp(older.busId, pci.busId, 12) == 0);
}

CASE(nv_device, index)
{
    unsigned index = 9, minor = 999;
    nv(nvmlDeviceGetIndex(nv_device(), &index));
    say_int(index);
    nv(nvmlDeviceGetMinorNumber(nv_device(), &minor));
    say_if("small", minor < 256);
}

CASE(nv_device, memory)
{
    nvmlMemory_t one;
    nvmlMemory_v2_t two;
    nv(nvmlDeviceGetMemoryInfo(nv_device(), &one));
    say_if("sum", one.total == one.used + one.free);
    memset(&two, 0, sizeof two);
    two.version = nvmlMemory_v2;
    nv(nvmlDeviceGetMemoryInfo_v2(nv_device(), &two));
    say_if("sum", two.total == two.used + two.free + two.reserved);
    say_if("same", one.total == two.total);
    say_if("version", two.version == nvmlMemory_v2);
}

CASE(nv_device, mode)
{
    nvmlComputeMode_t mode = NVML_COMPUTEMODE_COUNT;
    nv(nvmlDeviceGetComputeMode(nv_device(), &mode));
    say_int((long long)mode);
    nvmlDevice_t device = nv_device();
    int same = 5;
    nv(nvmlDeviceOnSameBoard(device, device, &same));
    say_int(same);
}

CASE(nv_device, topology)
{
    nvmlGpuTopologyLevel_t level = NVML_TOPOLOGY_SYSTEM;
    nv(nvmlDeviceGetTopologyCommonAncestor(nv_device(), nv_device(), &level));
    say_int((long long)level);
    nvmlGpuP2PStatus_t status = NVML_P2P_STATUS_UNKNOWN;
    for (int index = -1; index <= 7; index++)
        nv(nvmlDeviceGetP2PStatus(nv_device(), nv_device(), (nvmlGpuP2PCapsIndex_t)index, &status));
}

CASE(nv_device, nearest)
{
    static const int levels[] = {-1, 0, 5, 10, 20, 30, 40, 50, 60};
    for (size_t i = 0; i < sizeof levels / sizeof *levels; i++) {
        unsigned count = 0;
        nv(nvmlDeviceGetTopologyNearestGpus(nv_device(), (nvmlGpuTopologyLevel_t)levels[i], &count, NULL));
    }
}

CASE(nv_device, affinity)
{
    unsigned long set[64];
    for (unsigned size = 0; size < 3; size++)
        nv(nvmlDeviceGetCpuAffinity(nv_device(), size ? 64 : 0, set));
    nv(nvmlDeviceGetCpuAffinityWithinScope(nv_device(), 64, set, NVML_AFFINITY_SCOPE_NODE));
    nv(nvmlDeviceGetCpuAffinityWithinScope(nv_device(), 64, set, NVML_AFFINITY_SCOPE_SOCKET));
    nv(nvmlDeviceGetCpuAffinityWithinScope(nv_device(), 64, set, 2));
    nv(nvmlDeviceGetMemoryAffinity(nv_device(), 64, set, 2));
    nv(nvmlDeviceGetMemoryAffinity(nv_device(), 0, set, NVML_AFFINITY_SCOPE_NODE));
}

CASE(nv_device, clock_kinds,
     .allow = "ERROR_NOT_SUPPORTED * * ERROR_NOT_SUPPORTED ERROR_NOT_SUPPORTED ERROR_NOT_SUPPORTED ERROR_NOT_SUPPORTED "
              "ERROR_INVALID_ARGUMENT * ERROR_NOT_SUPPORTED ERROR_NOT_SUPPORTED ERROR_NOT_SUPPORTED "
              "ERROR_INVALID_ARGUMENT ERROR_INVALID_ARGUMENT",
     .why = "a processor has two of the clocks, if the host shows them")
{
    unsigned clock;
    for (int type = -1; type <= 5; type++)
        nv(nvmlDeviceGetClockInfo(nv_device(), (nvmlClockType_t)type, &clock));
    for (int id = -1; id <= 5; id++)
        nv(nvmlDeviceGetClock(nv_device(), NVML_CLOCK_SM, (nvmlClockId_t)id, &clock));
}

CASE(nv_device, sensors,
     .allow = "ERROR_INVALID_ARGUMENT ERROR_NOT_SUPPORTED ERROR_INVALID_ARGUMENT ERROR_INVALID_ARGUMENT",
     .why = "the host may show none")
{
    unsigned value;
    for (int sensor = -1; sensor <= 2; sensor++)
        nv(nvmlDeviceGetTemperature(nv_device(), (nvmlTemperatureSensors_t)sensor, &value));
}

/* ---- versions of structures ---- */

#define NONE \
    .allow = "ERROR_NOT_SUPPORTED ERROR_ARGUMENT_VERSION_MISMATCH ERROR_ARGUMENT_VERSION_MISMATCH " \
             "ERROR_ARGUMENT_VERSION_MISMATCH ERROR_ARGUMENT_VERSION_MISMATCH ERROR_ARGUMENT_VERSION_MISMATCH", \
    .why = "a processor has none"
#define VERSIONS(title, type, right, call, ...) \
    CASE(nv_version, title, __VA_ARGS__) \
    { \
        static const unsigned versions[] = {right, 0, right + 1, right + (1u << 24), right & 0xffffffu, ~0u}; \
        for (size_t i = 0; i < sizeof versions / sizeof *versions; i++) { \
            type *at = nv_memory(0); \
            *(unsigned *)(void *)at = versions[i]; \
            nv(call); \
        } \
    }
VERSIONS(memory, nvmlMemory_v2_t, nvmlMemory_v2, nvmlDeviceGetMemoryInfo_v2(nv_device(), at))
VERSIONS(pci, nvmlPciInfoExt_t, nvmlPciInfoExt_v1, nvmlDeviceGetPciInfoExt(nv_device(), at))
VERSIONS(branch, nvmlSystemDriverBranchInfo_t, nvmlSystemDriverBranchInfo_v1, nvmlSystemGetDriverBranch(at, 80))
VERSIONS(temperature, nvmlTemperature_t, nvmlTemperature_v1, nvmlDeviceGetTemperatureV(nv_device(), at), NONE)
VERSIONS(processes, nvmlProcessDetailList_t, nvmlProcessDetailList_v1,
         nvmlDeviceGetRunningProcessDetailList(nv_device(), at), .allow = "SUCCESS ERROR_ARGUMENT_VERSION_MISMATCH*",
         .why = "depends on how many processes there are")
VERSIONS(utilization, nvmlProcessesUtilizationInfo_t, nvmlProcessesUtilizationInfo_v1,
         nvmlDeviceGetProcessesUtilizationInfo(nv_device(), at))
VERSIONS(platform, nvmlPlatformInfo_t, nvmlPlatformInfo_v2, nvmlDeviceGetPlatformInfo(nv_device(), at))
VERSIONS(capabilities, nvmlDeviceCapabilities_t, nvmlDeviceCapabilities_v1, nvmlDeviceGetCapabilities(nv_device(), at),
         NONE)
VERSIONS(margin, nvmlMarginTemperature_t, nvmlMarginTemperature_v1, nvmlDeviceGetMarginTemperature(nv_device(), at),
         NONE)
VERSIONS(cooler, nvmlCoolerInfo_t, nvmlCoolerInfo_v1, nvmlDeviceGetCoolerInfo(nv_device(), at))
VERSIONS(fan, nvmlFanSpeedInfo_t, nvmlFanSpeedInfo_v1, nvmlDeviceGetFanSpeedRPM(nv_device(), at), NONE)
VERSIONS(fabric, nvmlGpuFabricInfoV_t, nvmlGpuFabricInfo_v3, nvmlDeviceGetGpuFabricInfoV(nv_device(), at), NONE)
VERSIONS(ecc, nvmlEccSramErrorStatus_t, nvmlEccSramErrorStatus_v1, nvmlDeviceGetSramEccErrorStatus(nv_device(), at),
         NONE)
VERSIONS(settings, nvmlSystemConfComputeSettings_t, nvmlSystemConfComputeSettings_v1,
         nvmlSystemGetConfComputeSettings(at), NONE)
VERSIONS(offsets, nvmlClockOffset_t, nvmlClockOffset_v1, nvmlDeviceGetClockOffsets(nv_device(), at), NONE)
VERSIONS(perf_modes, nvmlDevicePerfModes_t, nvmlDevicePerfModes_v1, nvmlDeviceGetPerformanceModes(nv_device(), at),
         NONE)

/* ---- lists ---- */

CASE(nv_list, processes, .allow = "as_announced=yes SUCCESS SUCCESS SUCCESS 0 ERROR_INVALID_ARGUMENT",
     .why = "depends on how many processes there are")
{
    unsigned count = 0;
    nvmlProcessInfo_t infos[64];
    nvmlReturn_t status = nvmlDeviceGetComputeRunningProcesses_v3(nv_device(), &count, NULL);
    say_if("as_announced", status == (count ? NVML_ERROR_INSUFFICIENT_SIZE : NVML_SUCCESS));
    count = 64;
    nv(nvmlDeviceGetComputeRunningProcesses_v3(nv_device(), &count, infos));
    count = 64;
    nv(nvmlDeviceGetGraphicsRunningProcesses_v3(nv_device(), &count, infos));
    count = 64;
    nv(nvmlDeviceGetMPSComputeRunningProcesses_v3(nv_device(), &count, infos));
    say_int(count);
    count = 5;
    nv(nvmlDeviceGetComputeRunningProcesses_v3(nv_device(), &count, NULL));
}

CASE(nv_list, utilisation_of_processes)
{
    unsigned count = 0;
    nvmlReturn_t status = nvmlDeviceGetProcessUtilization(nv_device(), NULL, &count, 0);
    say_if("size", status == NVML_ERROR_INSUFFICIENT_SIZE);
    say_if("room", count > 0);
}

CASE(nv_list, hic)
{
    unsigned count = 0;
    nv(nvmlSystemGetHicVersion(&count, NULL));
    say_int(count);
    nv(nvmlUnitGetCount(&count));
    say_int(count);
    nvmlUnit_t unit;
    nv(nvmlUnitGetHandleByIndex(0, &unit));
    nv(nvmlGetExcludedDeviceCount(&count));
    say_int(count);
    nvmlExcludedDeviceInfo_t info;
    nv(nvmlGetExcludedDeviceInfoByIndex(0, &info));
}

CASE(nv_list, fields)
{
    nvmlFieldValue_t values[4];
    memset(values, 0, sizeof values);
    values[0].fieldId = 0;
    values[1].fieldId = NVML_FI_MAX;
    values[2].fieldId = NVML_FI_MAX + 1000;
    values[3].fieldId = NVML_FI_DEV_MEMORY_TEMP;
    nv(nvmlDeviceGetFieldValues(nv_device(), 4, values));
    for (int i = 0; i < 3; i++)
        nv(values[i].nvmlReturn);
    nv(nvmlDeviceGetFieldValues(nv_device(), 0, values));
    nv(nvmlDeviceGetFieldValues(nv_device(), -1, values));
    nv(nvmlDeviceGetFieldValues(nv_device(), 1, NULL));
}

/* ---- instances of GPUs ---- */

CASE(nv_instance, whole)
{
    unsigned value = 9;
    nvmlDevice_t device = NULL;
    nv(nvmlDeviceIsMigDeviceHandle(nv_device(), &value));
    say_int(value);
    nv(nvmlDeviceGetMigDeviceHandleByIndex(nv_device(), 0, &device));
    nv(nvmlDeviceGetDeviceHandleFromMigDeviceHandle(nv_device(), &device));
    nv(nvmlDeviceGetGpuInstanceId(nv_device(), &value));
    nv(nvmlDeviceGetComputeInstanceId(nv_device(), &value));
}

/* ---- events ---- */

CASE(nv_event, nothing_happens)
{
    nvmlEventSet_t set = NULL;
    nvmlEventData_t data;
    nv(nvmlEventSetCreate(&set));
    nv(nvmlEventSetWait_v2(set, &data, 0));
    nv(nvmlEventSetWait_v2(set, &data, 20));
    nv(nvmlEventSetWait_v2(set, NULL, 0));
    nv(nvmlDeviceRegisterEvents(nv_device(), 0, set));
    nv(nvmlDeviceRegisterEvents(nv_device(), 1ull << 62, set));
    nv(nvmlDeviceRegisterEvents(nv_device(), 0, NULL));
    nv(nvmlEventSetFree(set));
}

CASE(nv_event, null)
{
    nvmlEventData_t data;
    nv(nvmlEventSetCreate(NULL));
    nv(nvmlEventSetWait_v2(NULL, &data, 0));
    nv(nvmlEventSetFree(NULL));
}
