/* SPDX-License-Identifier: Apache-2.0 */
/* Reading the heads of the program's fat binaries: of each entry the kind and the target. The memory may be anything,
 * so the system copies it, which says where there is none. */
#include "libs/cudart/image_heads.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdint.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#include "base/log.h"
#include "base/mapped.h"
#include "libs/cudart/fatbin.h"

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

static void see_fatbin(struct mr_rt_image_heads *seen, const void *data)
{
    unsigned one = lowest(data);
    seen->wanted = one > seen->wanted ? one : seen->wanted;
    seen->lacks |= one == 0;
}

/* Objects that are to be linked run if each has PTX: if one has none, that of the others counts for nothing. The last
 * of several is the device runtime, which nvcc always adds: the program does without. */
static void see_objects(struct mr_rt_image_heads *seen, void *const *objects)
{
    struct mr_rt_image_heads all = {0, false};
    void *object, *next;
    for (bool first = true; objects && copy(&object, (uintptr_t)objects, sizeof object) && object;
         first = false, objects++) {
        bool last = !copy(&next, (uintptr_t)(objects + 1), sizeof next) || !next;
        if (first || !last)
            see_fatbin(&all, object);
    }
    seen->lacks |= all.lacks;
    if (!all.lacks && all.wanted > seen->wanted)
        seen->wanted = all.wanted;
}

void mr_rt_see_image(void *seen, const void *data, void *const *objects)
{
    see_fatbin(seen, data);
    see_objects(seen, objects);
}

void mr_rt_tell_no_code(const void *data, void *const *objects)
{
    Dl_info file;
    struct mr_rt_image_heads seen = {0, false};
    const char *name = dladdr(data, &file) != 0 && file.dli_fname ? file.dli_fname : "the program";
    if (objects)
        see_objects(&seen, objects);
    else
        see_fatbin(&seen, data);
    if (seen.lacks)
        mr_log(MR_LOG_WARN,
               "libcudart: an image of %s holds machine code only, and Millrace runs PTX: take a version of it that "
               "holds PTX, or compile it so, with nvcc by -gencode arch=compute_80,code=compute_80",
               name);
    else
        mr_log(MR_LOG_WARN,
               "libcudart: an image of %s holds PTX for compute capability %u.%u and newer only: "
               "MILLRACE_COMPUTE_CAPABILITY=%u.%u makes the device such a one",
               name, seen.wanted / 10, seen.wanted % 10, seen.wanted / 10, seen.wanted % 10);
}
