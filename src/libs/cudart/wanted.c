/* SPDX-License-Identifier: Apache-2.0 */
/* Reading the heads of the program's fat binaries: of each entry the kind and the target. The memory may be anything,
 * so the system copies it, which says where there is none. */
#include "libs/cudart/wanted.h"

#include <errno.h>
#include <stdint.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#include "base/mapped.h"
#include "libs/cudart/fatbin.h"
#include "libs/cudart/register.h"

enum { ENTRY_PTX = 1, ENTRIES_MOST = 4096 };

struct entry_head {
    uint16_t kind, version;
    uint32_t size; /* of this head */
    uint64_t body;
    uint32_t others[3], target; /* 80 for 8.0 */
};

static bool copy(void *to, uintptr_t from, size_t size)
{
    struct iovec here = {to, size}, there = {(void *)from, size};
    ssize_t copied = process_vm_readv(getpid(), &here, 1, &there, 1, 0);
    if (copied >= 0 || (errno != EPERM && errno != ENOSYS))
        return copied == (ssize_t)size;
    /* A sandbox forbids that call. */
    if (!mr_mapped_allows(from, size, false))
        return false;
    memcpy(to, (const void *)from, size);
    return true;
}

/* The lowest target of a fat binary's PTX; 0: it has none. */
static unsigned lowest(const void *data)
{
    struct mr_fatbin_head head;
    unsigned found = 0;
    if (!copy(&head, (uintptr_t)data, sizeof head) || head.magic != MR_FATBIN_MAGIC || head.rest > PTRDIFF_MAX)
        return 0;
    uintptr_t at = (uintptr_t)data + head.size, end = at + (uintptr_t)head.rest;
    for (unsigned i = 0; i < ENTRIES_MOST && end - at >= sizeof(struct entry_head) && at < end; i++) {
        struct entry_head entry;
        if (!copy(&entry, at, sizeof entry) || entry.size < sizeof entry || entry.size > end - at ||
            entry.body > end - at - entry.size)
            break;
        if (entry.kind == ENTRY_PTX && (!found || entry.target < found))
            found = entry.target;
        at += entry.size + (uintptr_t)entry.body;
    }
    return found;
}

static void see_fatbin(unsigned *most, const void *data)
{
    unsigned one = lowest(data);
    *most = one > *most ? one : *most;
}

/* The last of several objects that are to be linked is the device runtime, which nvcc always adds: the program does
 * without. */
static void see_image(void *wanted, const void *data, void *const *objects)
{
    see_fatbin(wanted, data);
    void *object, *next;
    for (bool first = true; objects && copy(&object, (uintptr_t)objects, sizeof object) && object;
         first = false, objects++) {
        bool last = !copy(&next, (uintptr_t)(objects + 1), sizeof next) || !next;
        if (first || !last)
            see_fatbin(wanted, object);
    }
}

unsigned mr_rt_wanted_capability(void)
{
    unsigned wanted = 0;
    mr_rt_each_image(see_image, &wanted);
    return wanted;
}
