/* SPDX-License-Identifier: Apache-2.0 */
/* Finding devices, and what they are: names, identities, places on the bus, modes. */
#include <stdio.h>
#include <string.h>

#include "libs/nvml/nvml.h"

/* Older programs have room for this many characters of a name, and the zero behind them. */
#define NAME_ROOM NVML_DEVICE_NAME_BUFFER_SIZE

nvmlReturn_t mr_nvmlDeviceGetCount_v2(unsigned int *deviceCount)
{
    if (!deviceCount)
        return NVML_ERROR_INVALID_ARGUMENT;
    *deviceCount = mr_nvml_count();
    return NVML_SUCCESS;
}

nvmlReturn_t mr_nvmlDeviceGetCount(unsigned int *deviceCount)
{
    return mr_nvmlDeviceGetCount_v2(deviceCount);
}

nvmlReturn_t mr_nvmlDeviceGetHandleByIndex_v2(unsigned int index, nvmlDevice_t *device)
{
    if (!device || index >= mr_nvml_count())
        return NVML_ERROR_INVALID_ARGUMENT;
    *device = mr_nvml_handle(index);
    return NVML_SUCCESS;
}

nvmlReturn_t mr_nvmlDeviceGetHandleByIndex(unsigned int index, nvmlDevice_t *device)
{
    return mr_nvmlDeviceGetHandleByIndex_v2(index, device);
}

/* Devices have no serial numbers. */
nvmlReturn_t mr_nvmlDeviceGetHandleBySerial(const char *serial, nvmlDevice_t *device)
{
    return serial && device ? NVML_ERROR_NOT_FOUND : NVML_ERROR_INVALID_ARGUMENT;
}

/* With the prefix "GPU-" or without. */
nvmlReturn_t mr_nvmlDeviceGetHandleByUUID(const char *uuid, nvmlDevice_t *device)
{
    if (!uuid || !device)
        return NVML_ERROR_INVALID_ARGUMENT;
    for (unsigned i = 0; i < mr_nvml_count(); i++) {
        const char *own = mr_nvml_device_of(mr_nvml_handle(i))->uuid;
        if (strcmp(own, uuid) == 0 || strcmp(own + strlen("GPU-"), uuid) == 0)
            return mr_nvmlDeviceGetHandleByIndex_v2(i, device);
    }
    return NVML_ERROR_NOT_FOUND;
}

nvmlReturn_t mr_nvmlDeviceGetHandleByUUIDV(const nvmlUUID_t *uuid, nvmlDevice_t *device)
{
    if (!uuid || !device)
        return NVML_ERROR_INVALID_ARGUMENT;
    if (uuid->version != nvmlUUID_v1)
        return NVML_ERROR_ARGUMENT_VERSION_MISMATCH;
    if (uuid->type == NVML_UUID_TYPE_ASCII) {
        char text[NVML_DEVICE_UUID_ASCII_LEN + 1] = "";
        memcpy(text, uuid->value.str, NVML_DEVICE_UUID_ASCII_LEN);
        return mr_nvmlDeviceGetHandleByUUID(text, device);
    }
    if (uuid->type != NVML_UUID_TYPE_BINARY)
        return NVML_ERROR_INVALID_ARGUMENT;
    for (unsigned i = 0; i < mr_nvml_count(); i++)
        if (memcmp(mr_nvml_device_of(mr_nvml_handle(i))->facts.uuid, uuid->value.bytes, 16) == 0)
            return mr_nvmlDeviceGetHandleByIndex_v2(i, device);
    return NVML_ERROR_NOT_FOUND;
}

/* [domain:]bus:device[.0], hexadecimal. */
nvmlReturn_t mr_nvmlDeviceGetHandleByPciBusId_v2(const char *pciBusId, nvmlDevice_t *device)
{
    unsigned domain = 0, bus = 0, slot = 0;
    int end = 0;
    if (!pciBusId || !device)
        return NVML_ERROR_INVALID_ARGUMENT;
    if (sscanf(pciBusId, "%8x:%2x:%2x%n", &domain, &bus, &slot, &end) != 3) {
        domain = 0;
        if (sscanf(pciBusId, "%2x:%2x%n", &bus, &slot, &end) != 2)
            return NVML_ERROR_INVALID_ARGUMENT;
    }
    if (pciBusId[end] && strcmp(pciBusId + end, ".0") != 0)
        return NVML_ERROR_INVALID_ARGUMENT;
    for (unsigned i = 0; i < mr_nvml_count(); i++)
        if (mr_nvml_device_of(mr_nvml_handle(i))->facts.bus == bus && !domain && !slot)
            return mr_nvmlDeviceGetHandleByIndex_v2(i, device);
    return NVML_ERROR_NOT_FOUND;
}

nvmlReturn_t mr_nvmlDeviceGetHandleByPciBusId(const char *pciBusId, nvmlDevice_t *device)
{
    return mr_nvmlDeviceGetHandleByPciBusId_v2(pciBusId, device);
}

/* Older programs get a name that is too long for them cut short. */
nvmlReturn_t mr_nvmlDeviceGetName(nvmlDevice_t device, char *name, unsigned int length)
{
    char cut[NVML_DEVICE_NAME_V2_BUFFER_SIZE];
    unsigned room = length < NAME_ROOM ? NAME_ROOM : length < sizeof cut ? length : (unsigned)sizeof cut;
    snprintf(cut, room, "%.*s", (int)sizeof cut - 1, mr_nvml_device_of(device)->facts.name);
    return mr_nvml_text(cut, name, length);
}

nvmlReturn_t mr_nvmlDeviceGetUUID(nvmlDevice_t device, char *uuid, unsigned int length)
{
    return mr_nvml_text(mr_nvml_device_of(device)->uuid, uuid, length);
}

nvmlReturn_t mr_nvmlDeviceGetBrand(nvmlDevice_t device, nvmlBrandType_t *type)
{
    (void)device;
    if (!type)
        return NVML_ERROR_INVALID_ARGUMENT;
    *type = NVML_BRAND_UNKNOWN;
    return NVML_SUCCESS;
}

static nvmlReturn_t number(unsigned value, unsigned *out)
{
    if (!out)
        return NVML_ERROR_INVALID_ARGUMENT;
    *out = value;
    return NVML_SUCCESS;
}

nvmlReturn_t mr_nvmlDeviceGetIndex(nvmlDevice_t device, unsigned int *index)
{
    return number(mr_nvml_device_of(device)->index, index);
}

/* The number of /dev/nvidiaN, which `millrace run` shows. */
nvmlReturn_t mr_nvmlDeviceGetMinorNumber(nvmlDevice_t device, unsigned int *minorNumber)
{
    return number(mr_nvml_device_of(device)->index, minorNumber);
}

nvmlReturn_t mr_nvmlDeviceGetBoardId(nvmlDevice_t device, unsigned int *boardId)
{
    return number(mr_nvml_device_of(device)->facts.bus << 8, boardId);
}

nvmlReturn_t mr_nvmlDeviceGetMultiGpuBoard(nvmlDevice_t device, unsigned int *multiGpuBool)
{
    (void)device;
    return number(0, multiGpuBool);
}

nvmlReturn_t mr_nvmlDeviceGetNumFans(nvmlDevice_t device, unsigned int *numFans)
{
    (void)device;
    return number(0, numFans);
}

nvmlReturn_t mr_nvmlDeviceGetBusType(nvmlDevice_t device, nvmlBusType_t *type)
{
    (void)device;
    return number(NVML_BUS_TYPE_UNKNOWN, type);
}

/* No device is divided into instances. */
nvmlReturn_t mr_nvmlDeviceIsMigDeviceHandle(nvmlDevice_t device, unsigned int *isMigDevice)
{
    (void)device;
    return number(0, isMigDevice);
}

nvmlReturn_t mr_nvmlDeviceGetMaxMigDeviceCount(nvmlDevice_t device, unsigned int *count)
{
    (void)device;
    return number(0, count);
}

nvmlReturn_t mr_nvmlDeviceGetPciInfoExt(nvmlDevice_t device, nvmlPciInfoExt_t *pci)
{
    if (!pci)
        return NVML_ERROR_INVALID_ARGUMENT;
    if (pci->version != nvmlPciInfoExt_v1)
        return NVML_ERROR_ARGUMENT_VERSION_MISMATCH;
    unsigned version = pci->version;
    memset(pci, 0, sizeof *pci);
    pci->version = version;
    pci->bus = mr_nvml_device_of(device)->facts.bus;
    snprintf(pci->busId, sizeof pci->busId, NVML_DEVICE_PCI_BUS_ID_FMT, NVML_DEVICE_PCI_BUS_ID_FMT_ARGS(pci));
    return NVML_SUCCESS;
}

/* There is no card, so there are no numbers of its maker. */
nvmlReturn_t mr_nvmlDeviceGetPciInfo_v3(nvmlDevice_t device, nvmlPciInfo_t *pci)
{
    if (!pci)
        return NVML_ERROR_INVALID_ARGUMENT;
    memset(pci, 0, sizeof *pci);
    pci->bus = mr_nvml_device_of(device)->facts.bus;
    snprintf(pci->busId, sizeof pci->busId, NVML_DEVICE_PCI_BUS_ID_FMT, NVML_DEVICE_PCI_BUS_ID_FMT_ARGS(pci));
    snprintf(pci->busIdLegacy, sizeof pci->busIdLegacy, NVML_DEVICE_PCI_BUS_ID_LEGACY_FMT,
             NVML_DEVICE_PCI_BUS_ID_FMT_ARGS(pci));
    return NVML_SUCCESS;
}

/* The older structures end where busId begins, the oldest one before pciSubSystemId. */
static nvmlReturn_t older_pci(nvmlDevice_t device, nvmlPciInfo_t *pci, size_t size)
{
    nvmlPciInfo_t whole;
    if (!pci)
        return NVML_ERROR_INVALID_ARGUMENT;
    mr_nvmlDeviceGetPciInfo_v3(device, &whole);
    memcpy(pci, &whole, size);
    return NVML_SUCCESS;
}

nvmlReturn_t mr_nvmlDeviceGetPciInfo_v2(nvmlDevice_t device, nvmlPciInfo_t *pci)
{
    return older_pci(device, pci, offsetof(nvmlPciInfo_t, busId));
}

nvmlReturn_t mr_nvmlDeviceGetPciInfo(nvmlDevice_t device, nvmlPciInfo_t *pci)
{
    return older_pci(device, pci, offsetof(nvmlPciInfo_t, pciSubSystemId));
}

/* The link that the made-up card has: generation 3 with 16 lanes. Frameworks take that where they get no answer, and
 * complain of it each time. */
enum { LINK_GENERATION = 3, LINK_LANES = 16 };

nvmlReturn_t mr_nvmlDeviceGetMaxPcieLinkGeneration(nvmlDevice_t device, unsigned int *maxLinkGen)
{
    (void)device;
    return number(LINK_GENERATION, maxLinkGen);
}

nvmlReturn_t mr_nvmlDeviceGetGpuMaxPcieLinkGeneration(nvmlDevice_t device, unsigned int *maxLinkGenDevice)
{
    (void)device;
    return number(LINK_GENERATION, maxLinkGenDevice);
}

nvmlReturn_t mr_nvmlDeviceGetMaxPcieLinkWidth(nvmlDevice_t device, unsigned int *maxLinkWidth)
{
    (void)device;
    return number(LINK_LANES, maxLinkWidth);
}

nvmlReturn_t mr_nvmlDeviceGetCurrPcieLinkGeneration(nvmlDevice_t device, unsigned int *currLinkGen)
{
    (void)device;
    return number(LINK_GENERATION, currLinkGen);
}

nvmlReturn_t mr_nvmlDeviceGetCurrPcieLinkWidth(nvmlDevice_t device, unsigned int *currLinkWidth)
{
    (void)device;
    return number(LINK_LANES, currLinkWidth);
}

nvmlReturn_t mr_nvmlDeviceGetCudaComputeCapability(nvmlDevice_t device, int *major, int *minor)
{
    if (!major || !minor)
        return NVML_ERROR_INVALID_ARGUMENT;
    *major = (int)mr_nvml_device_of(device)->facts.capability_major;
    *minor = (int)mr_nvml_device_of(device)->facts.capability_minor;
    return NVML_SUCCESS;
}

/* The generation that has the device's compute capability. */
nvmlReturn_t mr_nvmlDeviceGetArchitecture(nvmlDevice_t device, nvmlDeviceArchitecture_t *arch)
{
    const struct millrace_device *facts = &mr_nvml_device_of(device)->facts;
    unsigned capability = facts->capability_major * 10 + facts->capability_minor;
    unsigned generation = capability < 60    ? NVML_DEVICE_ARCH_MAXWELL
                          : capability < 70  ? NVML_DEVICE_ARCH_PASCAL
                          : capability < 75  ? NVML_DEVICE_ARCH_VOLTA
                          : capability < 80  ? NVML_DEVICE_ARCH_TURING
                          : capability < 89  ? NVML_DEVICE_ARCH_AMPERE
                          : capability < 90  ? NVML_DEVICE_ARCH_ADA
                          : capability < 100 ? NVML_DEVICE_ARCH_HOPPER
                                             : NVML_DEVICE_ARCH_BLACKWELL;
    return number(generation, arch);
}

static nvmlReturn_t disabled(nvmlEnableState_t *out)
{
    if (!out)
        return NVML_ERROR_INVALID_ARGUMENT;
    *out = NVML_FEATURE_DISABLED;
    return NVML_SUCCESS;
}

nvmlReturn_t mr_nvmlDeviceGetDisplayMode(nvmlDevice_t device, nvmlEnableState_t *display)
{
    (void)device;
    return disabled(display);
}

nvmlReturn_t mr_nvmlDeviceGetDisplayActive(nvmlDevice_t device, nvmlEnableState_t *isActive)
{
    (void)device;
    return disabled(isActive);
}

nvmlReturn_t mr_nvmlDeviceGetComputeMode(nvmlDevice_t device, nvmlComputeMode_t *mode)
{
    (void)device;
    if (!mode)
        return NVML_ERROR_INVALID_ARGUMENT;
    *mode = NVML_COMPUTEMODE_DEFAULT;
    return NVML_SUCCESS;
}

nvmlReturn_t mr_nvmlDeviceGetVirtualizationMode(nvmlDevice_t device, nvmlGpuVirtualizationMode_t *pVirtualMode)
{
    (void)device;
    if (!pVirtualMode)
        return NVML_ERROR_INVALID_ARGUMENT;
    *pVirtualMode = NVML_GPU_VIRTUALIZATION_MODE_NONE;
    return NVML_SUCCESS;
}
