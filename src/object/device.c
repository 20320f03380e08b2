/* SPDX-License-Identifier: Apache-2.0 */
/* The device records. What a GPU has and a CPU has not (shared memory, multiprocessors) follows the table of compute
 * capabilities, because programs size their launches by it. */
#include "object/device.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/settings.h"
#include "base/share.h"
#include "object/machine.h"
#include "object/visible.h"

#define KIB 1024u

static const struct mr_capability capabilities[] = {
#define MR_CAPABILITY(major, minor, shared_per_sm, shared_optin, shared_reserved, threads, blocks, unit, partitions) \
    {major, minor,     (shared_per_sm) * KIB, (shared_optin) * KIB, (shared_reserved) * KIB, threads, blocks, \
     unit,  partitions},
#include "base/capabilities.def"
#undef MR_CAPABILITY
};

static struct mr_device devices[MR_DEVICE_LIMIT];
static int device_count;

int mr_device_count(void)
{
    return device_count;
}

struct mr_device *mr_device_get(int ordinal)
{
    return ordinal >= 0 && ordinal < device_count ? &devices[ordinal] : NULL;
}

struct mr_device *mr_device_numbered(int number)
{
    for (int i = 0; i < device_count; i++)
        if (devices[i].number == number)
            return &devices[i];
    return NULL;
}

static const struct mr_capability *find_capability(unsigned major, unsigned minor)
{
    for (size_t i = 0; i < sizeof capabilities / sizeof *capabilities; i++)
        if (capabilities[i].major == major && capabilities[i].minor == minor)
            return &capabilities[i];
    return NULL;
}

/* What libcudart wants, as 80 for 8.0. Atomic. */
static unsigned preferred;

void millrace_prefer_capability(unsigned capability)
{
    __atomic_store_n(&preferred, capability, __ATOMIC_RELAXED);
}

/* The lowest capability from 8.0 up that is not below what libcudart wants; 8.0 if there is none. */
static const struct mr_capability *automatic_capability(void)
{
    unsigned wanted = __atomic_load_n(&preferred, __ATOMIC_RELAXED);
    for (size_t i = 0; i < sizeof capabilities / sizeof *capabilities; i++) {
        unsigned number = (unsigned)capabilities[i].major * 10 + (unsigned)capabilities[i].minor;
        if (number >= 80 && number >= wanted) {
            if (number > 80)
                mr_log(MR_LOG_INFO,
                       "the devices have compute capability %u.%u, since the program has PTX for no older one",
                       number / 10, number % 10);
            return &capabilities[i];
        }
    }
    return find_capability(8, 0);
}

static const struct mr_capability *chosen_capability(void)
{
    unsigned major = 0, minor = 0;
    const char *text = mr_setting_in_force(MR_SETTING_COMPUTE_CAPABILITY);
    if (sscanf(text, "%u.%u", &major, &minor) != 2)
        return automatic_capability();
    const struct mr_capability *found = find_capability(major, minor);
    assert(found); /* the setting takes no others */
    return found;
}

/* Which of the machine's `count` devices the program sees. */
static CUresult choose(int count, const uint8_t (*uuids)[16], int chosen[MR_DEVICE_LIMIT], int *chosen_count)
{
    const char *list = getenv("CUDA_VISIBLE_DEVICES");
    if (list) {
        CUresult status = mr_visible_devices(list, count, uuids, chosen, chosen_count);
        if (status == CUDA_ERROR_INVALID_DEVICE)
            mr_log(MR_LOG_WARN, "CUDA_VISIBLE_DEVICES='%s' names a device twice", list);
        else if (status != CUDA_SUCCESS)
            mr_log(*list && *list != '-' ? MR_LOG_WARN : MR_LOG_INFO,
                   "CUDA_VISIBLE_DEVICES='%s' leaves none of the %d devices (MILLRACE_DEVICES)", list, count);
        else if (*chosen_count < count)
            mr_log(MR_LOG_INFO, "CUDA_VISIBLE_DEVICES='%s' leaves %d of %d devices", list, *chosen_count, count);
        return status;
    }
    *chosen_count = count;
    for (int i = 0; i < count; i++)
        chosen[i] = i;
    return CUDA_SUCCESS;
}

CUresult mr_devices_setup(void)
{
    uint64_t wanted = mr_setting_devices();
    assert(wanted > 0);
    uint8_t uuids[MR_DEVICE_LIMIT][16];
    int chosen[MR_DEVICE_LIMIT], count;
    for (int i = 0; i < (int)wanted; i++)
        mr_machine_device_uuid(uuids[i], i);
    CUresult status = choose((int)wanted, uuids, chosen, &count);
    if (status != CUDA_SUCCESS)
        return status;
    struct mr_machine machine;
    mr_machine_read(&machine);
    const struct mr_capability *capability = chosen_capability();
    size_t memory = mr_machine_device_memory((unsigned)wanted);
    struct mr_share share = mr_share_of_machine();
    if (share.told_by)
        mr_log(MR_LOG_INFO,
               "%u processes share this node (%s): %u processors and %zu MiB of device memory are this one's",
               share.ranks, share.told_by, share.processors, memory >> 20);
    for (int i = 0; i < count; i++) {
        struct mr_device *device = &devices[i];
        mr_lock_init(&device->lock, MR_LOCK_DEVICE);
        device->ordinal = i;
        device->number = chosen[i];
        memcpy(device->name, machine.device_name, sizeof device->name);
        memcpy(device->uuid, uuids[chosen[i]], sizeof device->uuid);
        device->capability = capability;
        device->capability_major = capability->major;
        device->capability_minor = capability->minor;
        device->capability_is_ours = strcmp(mr_setting_in_force(MR_SETTING_COMPUTE_CAPABILITY), "auto") == 0;
        device->multiprocessors = machine.processors;
        device->clock_khz = machine.clock_khz;
        device->total_memory = memory;
    }
    device_count = count;
    return CUDA_SUCCESS;
}

unsigned millrace_machine_device(unsigned number, struct millrace_device *out)
{
    unsigned count = mr_setting_devices();
    if (number >= count)
        return count;
    struct mr_machine machine;
    mr_machine_read(&machine);
    const struct mr_capability *capability = device_count ? devices[0].capability : chosen_capability();
    memset(out, 0, sizeof *out);
    memcpy(out->name, machine.device_name, sizeof out->name);
    mr_machine_device_uuid(out->uuid, (int)number);
    out->capability_major = capability->major;
    out->capability_minor = capability->minor;
    out->bus = MR_DEVICE_BUS(number);
    out->processors = (unsigned)machine.processors;
    out->total_memory = mr_machine_device_memory(count);
    return count;
}

size_t millrace_machine_uses(unsigned number, struct mr_use_found *out, size_t room)
{
    return mr_use_list((int)number, out, room);
}
