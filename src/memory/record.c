/* SPDX-License-Identifier: Apache-2.0 */
/* Records of allocations: writing one, reading one without a lock, and the numbers that tell allocations apart.
 *
 * Readers copy a record between two looks at its version, so that a lookup that races with a free sees the allocation
 * as it was, or none. */
#include "memory/space.h"

#define LOAD(field) atomic_load_explicit(&record->field, memory_order_relaxed)
#define STORE(field, value) atomic_store_explicit(&record->field, value, memory_order_relaxed)

static _Atomic uint64_t last_id;

uint64_t mr_memory_next_id(void)
{
    return atomic_fetch_add_explicit(&last_id, 1, memory_order_relaxed) + 1;
}

bool mr_record_read(struct mr_record *record, struct mr_allocation *out)
{
    uint32_t before, after;
    do {
        before = atomic_load_explicit(&record->version, memory_order_acquire);
        out->kind = (enum mr_memory_kind)LOAD(kind);
        out->base = LOAD(base);
        out->size = LOAD(size);
        out->mapped = LOAD(mapped);
        out->flags = LOAD(flags);
        out->id = LOAD(id);
        out->context = LOAD(context);
        out->device = LOAD(device);
        out->sync_memops = LOAD(sync_memops) != 0;
        out->imported = LOAD(imported) != 0;
        atomic_thread_fence(memory_order_acquire);
        after = LOAD(version);
        if (before & 1)
            mr_pause();
    } while (before != after || (before & 1));
    return out->size != 0;
}

void mr_record_write(struct mr_record *record, const struct mr_allocation *value)
{
    static const struct mr_allocation nothing;
    const struct mr_allocation *from = value ? value : &nothing;
    uint32_t version = LOAD(version);
    STORE(version, version + 1);
    atomic_thread_fence(memory_order_release);
    STORE(kind, (uint32_t)from->kind);
    STORE(base, from->base);
    STORE(size, from->size);
    STORE(mapped, from->mapped);
    STORE(flags, from->flags);
    STORE(id, from->id);
    STORE(context, from->context);
    STORE(device, from->device);
    STORE(sync_memops, from->sync_memops);
    STORE(imported, from->imported);
    atomic_store_explicit(&record->version, version + 2, memory_order_release);
}
