/* SPDX-License-Identifier: Apache-2.0 */
/* Reading the heads of the program's fat binaries: of each entry the kind and the target. The memory is whoever's, so that it is copied by the system, which
 * says where there is none. */
#include "cudart/wanted.h"

#include <errno.h>
#include <stdint.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#include "base/mapped.h"
#include "cudart/register.h"

#define FATBIN_MAGIC 0xba55ed50u

enum { ENTRY_PTX = 1, ENTRIES_MOST = 4096 };

struct head {
    uint32_t magic;
    uint16_t version, size; /* of this head */
    uint64_t rest;
};

struct entry_head {
    uint16_t kind, version;
    uint32_t size; /* of this head */
    uint64_t body;
    uint32_t others[3], target; /* 80 for 8.0 */
};

static bool copy(void *to, uintptr_t from, size_t size)
{
    struct iovec here = { to, size }, there = { (void *)from, size };
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
    struct head head;
    unsigned found = 0;
    if (!copy(&head, (uintptr_t)data, sizeof head) || head.magic != FATBIN_MAGIC || head.rest > PTRDIFF_MAX)
        return 0;
    uintptr_t at = (uintptr_t)data + head.size, end = at + (uintptr_t)head.rest;
    for (unsigned i = 0; i < ENTRIES_MOST && end - at >= sizeof(struct entry_head) && at < end; i++) {
        struct entry_head entry;
        if (!copy(&entry, at, sizeof entry) || entry.size < sizeof entry || entry.size > end - at || entry.body > end - at - entry.size)
            break;
        if (entry.kind == ENTRY_PTX && (!found || entry.target < found))
            found = entry.target;
        at += entry.size + (uintptr_t)entry.body;
    }
    return found;
}

static void see_image(void *wanted, const void *data, void *const *objects)
{
    unsigned *most = wanted, one = lowest(data);
    *most = one > *most ? one : *most;
    for (void *object; objects && copy(&object, (uintptr_t)objects, sizeof object) && object; objects++) {
        one = lowest(object);
        *most = one > *most ? one : *most;
    }
}

unsigned mr_rt_wanted_capability(void)
{
    unsigned wanted = 0;
    mr_rt_each_image(see_image, &wanted);
    return wanted;
}
