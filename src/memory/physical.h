/* SPDX-License-Identifier: Apache-2.0 */
/* Memory without an address (physical.c) as mappings see it (mapping.c); private to src/memory. */
#ifndef MR_MEMORY_PHYSICAL_H
#define MR_MEMORY_PHYSICAL_H

#include <cuda.h>
#include <sys/types.h>

#include "base/list.h"
#include "memory/space.h"
#include "memory/vmm.h"

struct mr_physical_handle;

/* One piece of memory. All fields are under mr_vmm_lock; what is set at creation stays. */
struct mr_physical {
    struct mr_list link;                /* in the list of all */
    unsigned uses;                      /* the handle, and each mapping */
    struct mr_physical_handle *handle;  /* the live one, or NULL */
    struct mr_device *device;           /* whose memory it is; NULL: the host's */
    size_t size;
    uintptr_t home;                     /* a shared mapping without access, the source of all others */
    int descriptor;                     /* -1 if it may not be exported */
    dev_t file_system;                  /* with `file`: tells which file a descriptor is */
    ino_t file;
    bool imported;                      /* somebody else's pages: not counted */
    struct mr_physical *origin; /* of imported memory, if this process made it: held, so that it stays counted */
    CUmemAllocationProp properties;
};

/* Guards handles, memory, reservations and mappings. A leaf: under it only the locks of the object registry's pools and
 * mr_memory_lock are taken. */
extern mr_lock mr_vmm_lock;

/* The memory of a live handle, or NULL after logging. Lock held. */
struct mr_physical *mr_physical_find(CUmemGenericAllocationHandle handle);

/* The live handle with one use more, or a new one; 0 when memory is short. Lock held. */
CUmemGenericAllocationHandle mr_physical_handle_use(struct mr_physical *memory);

/* Takes a use away; the memory ends with the last. Lock held. */
void mr_physical_drop(struct mr_physical *memory);

/* Puts a view of the whole memory, without access, at `start`. False when the system has no mapping left. Lock held. */
bool mr_physical_view(struct mr_physical *memory, uintptr_t start) __attribute__((warn_unused_result));

/* How many pieces there are. Lock held. */
size_t mr_physical_count(void);

#endif
