/* SPDX-License-Identifier: Apache-2.0 */
/* What is read from the machine: its processor's model, clock and memory, and what devices get of them. */
#include "object/machine.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/settings.h"
#include "base/share.h"

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

/* Made from the machine's own identity and the number. Marked as a version 8 UUID, the kind that is free for any scheme
 * (RFC 9562). */
void mr_machine_device_uuid(uint8_t uuid[16], int number)
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

size_t mr_machine_device_memory(unsigned count)
{
    struct mr_share share = mr_share_of_machine();
    size_t part = mr_machine_memory() / 4 * 3 / count / (share.divides_memory ? share.ranks : 1);
    return (size_t)mr_setting_number(MR_SETTING_MEMORY, part & ~(((size_t)1 << 20) - 1));
}

void mr_machine_read(struct mr_machine *out)
{
    char model[96] = "CPU";
    if (!read_cpuinfo("model name", model, sizeof model))
        read_cpuinfo("Model", model, sizeof model);
    memset(out, 0, sizeof *out);
    snprintf(out->device_name, sizeof out->device_name, "Millrace (%s)", model);
    out->clock_khz = read_clock_khz();
    out->processors = (int)mr_share_of_machine().processors;
}
