/* SPDX-License-Identifier: Apache-2.0 */
/* The device records: names, identities, sizes.
 *
 * Everything is read from the machine once. What a GPU has and a CPU has not (shared memory, multiprocessors) follows
 * the table of compute capabilities, because programs size their launches by it. */
#include "object/device.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "base/settings.h"
#include "object/visible.h"

#define KIB 1024u
#define MIB (1024u * KIB)

/* Shared memory and occupancy by compute capability (CUDA programming guide, technical specifications; units and
 * partitions as NVIDIA's occupancy calculator has them). Rising order. */
static const struct mr_capability capabilities[] = {
    {5, 0, 64 * KIB, 48 * KIB, 0, 2048, 32, 256, 4},          {5, 2, 96 * KIB, 48 * KIB, 0, 2048, 32, 256, 4},
    {5, 3, 64 * KIB, 48 * KIB, 0, 2048, 32, 256, 4},          {6, 0, 64 * KIB, 48 * KIB, 0, 2048, 32, 256, 2},
    {6, 1, 96 * KIB, 48 * KIB, 0, 2048, 32, 256, 4},          {6, 2, 64 * KIB, 48 * KIB, 0, 2048, 32, 256, 4},
    {7, 0, 96 * KIB, 96 * KIB, 0, 2048, 32, 256, 4},          {7, 2, 96 * KIB, 96 * KIB, 0, 2048, 32, 256, 4},
    {7, 5, 64 * KIB, 64 * KIB, 0, 1024, 16, 256, 4},          {8, 0, 164 * KIB, 163 * KIB, 1 * KIB, 2048, 32, 128, 4},
    {8, 6, 100 * KIB, 99 * KIB, 1 * KIB, 1536, 16, 128, 4},   {8, 7, 164 * KIB, 163 * KIB, 1 * KIB, 1536, 16, 128, 4},
    {8, 8, 100 * KIB, 99 * KIB, 1 * KIB, 1536, 16, 128, 4},   {8, 9, 100 * KIB, 99 * KIB, 1 * KIB, 1536, 24, 128, 4},
    {9, 0, 228 * KIB, 227 * KIB, 1 * KIB, 2048, 32, 128, 4},  {10, 0, 228 * KIB, 227 * KIB, 1 * KIB, 2048, 32, 128, 4},
    {10, 3, 228 * KIB, 227 * KIB, 1 * KIB, 2048, 32, 128, 4}, {11, 0, 228 * KIB, 227 * KIB, 1 * KIB, 1536, 24, 128, 4},
    {12, 0, 100 * KIB, 99 * KIB, 1 * KIB, 1536, 24, 128, 4},  {12, 1, 100 * KIB, 99 * KIB, 1 * KIB, 1536, 24, 128, 4},
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
    unsigned major, minor;
    char rest;
    const char *text = mr_setting_text(MR_SETTING_COMPUTE_CAPABILITY);
    if (strcmp(text, "auto") == 0)
        return automatic_capability();
    if (sscanf(text, "%u.%u%c", &major, &minor, &rest) == 2) {
        const struct mr_capability *found = find_capability(major, minor);
        if (found)
            return found;
    }
    mr_log(MR_LOG_WARN,
           "MILLRACE_COMPUTE_CAPABILITY='%s' is neither auto nor a compute capability from 5.0 to 12.1; 8.0 is used",
           text);
    return find_capability(8, 0);
}

/* The first line of a file without its newline; false if the file can't be read. */
static bool read_line(const char *path, char *line, size_t room)
{
    FILE *file = fopen(path, "re");
    if (!file)
        return false;
    bool got = fgets(line, (int)room, file) != NULL;
    fclose(file);
    if (got)
        line[strcspn(line, "\n")] = 0;
    return got;
}

/* The text after the colon of the first line of /proc/cpuinfo that begins with `key`. */
static bool read_cpuinfo(const char *key, char *value, size_t room)
{
    FILE *file = fopen("/proc/cpuinfo", "re");
    if (!file)
        return false;
    char line[512];
    bool found = false;
    while (!found && fgets(line, sizeof line, file)) {
        const char *colon = strchr(line, ':');
        if (strncmp(line, key, strlen(key)) != 0 || !colon)
            continue;
        colon += 1 + strspn(colon + 1, " \t");
        snprintf(value, room, "%.*s", (int)strcspn(colon, "\n"), colon);
        found = *value != 0;
    }
    fclose(file);
    return found;
}

/* The rate of what clock64 counts (kernel/runtime.c): on x86 the time stamp counter, whose rate Linux reports as half
 * the "bogomips"; elsewhere nanoseconds. Programs turn one into the other, so it must not be the core's momentary or
 * greatest frequency. */
static int read_clock_khz(void)
{
#if defined(__x86_64__)
    char text[64];
    double mhz = read_cpuinfo("bogomips", text, sizeof text) ? atof(text) / 2 : 0;
    if (mhz >= 100 && mhz < 100000)
        return (int)(mhz * 1000);
#endif
    return 1000000;
}

size_t mr_machine_memory(void)
{
    long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);
    size_t bytes = pages > 0 && page > 0 ? (size_t)pages * (size_t)page : (size_t)1 << 32;
    char text[64], *end;
    if (read_line("/sys/fs/cgroup/memory.max", text, sizeof text)) {
        unsigned long long limit = strtoull(text, &end, 10);
        if (end != text && limit > 0 && limit < bytes)
            bytes = (size_t)limit;
    }
    return bytes;
}

static uint64_t mix(uint64_t x)
{
    x += 0x9e3779b97f4a7c15u;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
}

/* Stable over processes and reboots: made from the machine's own identity and the number. Marked as a version 8 UUID,
 * the kind that is free for any scheme (RFC 9562). */
static void make_uuid(uint8_t uuid[16], int number)
{
    char text[128];
    if (!read_line("/etc/machine-id", text, sizeof text) && gethostname(text, sizeof text) != 0)
        strcpy(text, "millrace");
    text[sizeof text - 1] = 0;
    uint64_t low = mix((uint64_t)number), high = mix(low);
    for (const char *c = text; *c; c++) {
        low = mix(low ^ (uint8_t)*c);
        high = mix(high + (uint8_t)*c);
    }
    memcpy(uuid, &low, 8);
    memcpy(uuid + 8, &high, 8);
    uuid[6] = (uint8_t)((uuid[6] & 0x0f) | 0x80);
    uuid[8] = (uint8_t)((uuid[8] & 0x3f) | 0x80);
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
    uint64_t asked = mr_setting_number(MR_SETTING_DEVICES, 1), wanted = mr_setting_devices();
    assert(wanted > 0);
    if (asked != wanted)
        mr_log(MR_LOG_WARN, "MILLRACE_DEVICES=%llu is not in 1 to %d; 1 is used", (unsigned long long)asked,
               MR_DEVICE_LIMIT);
    uint8_t uuids[MR_DEVICE_LIMIT][16];
    int chosen[MR_DEVICE_LIMIT], count;
    for (int i = 0; i < (int)wanted; i++)
        make_uuid(uuids[i], i);
    CUresult status = choose((int)wanted, uuids, chosen, &count);
    if (status != CUDA_SUCCESS)
        return status;
    char model[96] = "CPU";
    if (!read_cpuinfo("model name", model, sizeof model))
        read_cpuinfo("Model", model, sizeof model);
    const struct mr_capability *capability = chosen_capability();
    int clock_khz = read_clock_khz();
    /* Together the devices offer no more than one would, so that a program that fills them all runs out as it would on
     * hardware. */
    size_t share = (mr_machine_memory() / 4 * 3 / wanted) & ~(size_t)(MIB - 1);
    size_t memory = (size_t)mr_setting_number(MR_SETTING_MEMORY, share);
    for (int i = 0; i < count; i++) {
        struct mr_device *device = &devices[i];
        mr_lock_init(&device->lock, MR_LOCK_DEVICE);
        device->ordinal = i;
        device->number = chosen[i];
        snprintf(device->name, sizeof device->name, "Millrace (%s)", model);
        memcpy(device->uuid, uuids[chosen[i]], sizeof device->uuid);
        device->capability = capability;
        device->capability_major = capability->major;
        device->capability_minor = capability->minor;
        device->capability_is_ours = strcmp(mr_setting_text(MR_SETTING_COMPUTE_CAPABILITY), "auto") == 0;
        device->multiprocessors = (int)mr_cpu_count();
        device->clock_khz = clock_khz;
        device->total_memory = memory;
    }
    device_count = count;
    return CUDA_SUCCESS;
}
