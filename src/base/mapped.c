/* SPDX-License-Identifier: Apache-2.0 */
#include "base/mapped.h"

#include <errno.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

bool mr_mapped_exists(uintptr_t start, size_t size)
{
    unsigned char seen[4096];
    size_t page_size = (size_t)sysconf(_SC_PAGESIZE);
    uintptr_t page = start & ~(uintptr_t)(page_size - 1), end;
    if (__builtin_add_overflow(start, size, &end))
        return false;
    while (page < end) {
        size_t bytes = end - page;
        if (bytes > sizeof seen * page_size)
            bytes = sizeof seen * page_size;
        if (mincore((void *)page, bytes, seen) != 0 && errno == ENOMEM)
            return false;
        page += bytes;
    }
    return true;
}

bool mr_mapped_allows(uintptr_t start, size_t size, bool write)
{
    char line[512], rights[8];
    unsigned long long low, high;
    uintptr_t end;
    if (__builtin_add_overflow(start, size, &end))
        return false;
    FILE *list = fopen("/proc/self/maps", "re");
    if (!list)
        return mr_mapped_exists(start, size);
    /* The list is in the order of addresses; a line that is longer than the buffer goes on in pieces that aren't
     * ranges. */
    while (start < end && fgets(line, sizeof line, list))
        if (sscanf(line, "%llx-%llx %7s", &low, &high, rights) == 3 && start >= low && start < high) {
            if (rights[write ? 1 : 0] == '-')
                break;
            start = (uintptr_t)high;
        }
    fclose(list);
    return start >= end;
}
