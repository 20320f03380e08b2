/* SPDX-License-Identifier: Apache-2.0 */
/* What memory there is: the devices' totals, the machine's, and how much of them is in use. */
#include "memory/space.h"

#include "base/thread.h"
#include "object/device.h"
#include "object/machine.h"
#include "share/use.h"

/* Under mr_memory_lock. */
static size_t machine_memory;     /* bytes of the machine: the limit of pinned memory */
static size_t pinned_used;
static size_t device_used;        /* of all devices */
static size_t device_total;

size_t mr_budget_init(void)
{
    MR_HELD(&mr_memory_lock);
    machine_memory = mr_machine_memory();
    for (int i = 0; i < mr_device_count(); i++)
        device_total += mr_device_get(i)->total_memory;
    if (!device_total)
        device_total = machine_memory;
    return device_total;
}

size_t mr_budget_room(void)
{
    MR_HELD(&mr_memory_lock);
    return device_total > device_used ? device_total - device_used : 0;
}

static bool is_device_kind(enum mr_memory_kind kind)
{
    return kind == MR_MEMORY_DEVICE || kind == MR_MEMORY_MANAGED || kind == MR_MEMORY_MODULE ||
           kind == MR_MEMORY_ARRAY || kind == MR_MEMORY_POOL || kind == MR_MEMORY_PARTING || kind == MR_MEMORY_GRAPH ||
           kind == MR_MEMORY_GRAPH_RESERVED;
}

bool mr_budget_take(struct mr_device *device, enum mr_memory_kind kind, size_t bytes)
{
    MR_HELD(&mr_memory_lock);
    if (!is_device_kind(kind)) {
        if (bytes > machine_memory - pinned_used)
            return false;
        pinned_used += bytes;
        return true;
    }
    size_t used = atomic_load_explicit(&device->used_memory, memory_order_relaxed);
    if (used > device->total_memory || bytes > device->total_memory - used)
        return false;
    atomic_store_explicit(&device->used_memory, used + bytes, memory_order_relaxed);
    mr_use_memory(device->number, used + bytes);
    device_used += bytes;
    return true;
}

void mr_budget_give(struct mr_device *device, enum mr_memory_kind kind, size_t bytes)
{
    MR_HELD(&mr_memory_lock);
    if (!is_device_kind(kind)) {
        pinned_used -= bytes;
        return;
    }
    size_t used = atomic_load_explicit(&device->used_memory, memory_order_relaxed) - bytes;
    atomic_store_explicit(&device->used_memory, used, memory_order_relaxed);
    mr_use_memory(device->number, used);
    device_used -= bytes;
}

bool mr_memory_charge(struct mr_device *device, enum mr_memory_kind kind, size_t bytes)
{
    mr_lock_take(&mr_memory_lock);
    bool done = mr_budget_take(device, kind, bytes);
    mr_lock_drop(&mr_memory_lock);
    return done;
}

void mr_memory_refund(struct mr_device *device, enum mr_memory_kind kind, size_t bytes)
{
    mr_lock_take(&mr_memory_lock);
    mr_budget_give(device, kind, bytes);
    mr_lock_drop(&mr_memory_lock);
}
