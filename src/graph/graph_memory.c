/* SPDX-License-Identifier: Apache-2.0 */
/* Memory of allocation nodes; see graph_memory.h.
 *
 * All records stand in a table by address under one lock, with the sums per device. The lock is a leaf: the memory
 * layer is called without it. */
#include "graph/graph_memory.h"

#include <sys/mman.h>

#include "base/alloc.h"
#include "base/thread.h"
#include "memory/allocation.h"
#include "object/context.h"

#define BLOCK ((size_t)2 << 20)
#define GRAIN ((size_t)512)            /* granularity of sizes, where one allocation takes over another's memory */
#define CHUNK ((uint64_t)32 << 20)     /* sums are told in multiples of this, as on hardware */

/* Hardware's "used" and "reserved" are the same in all answers that it gave: memory that runs have touched, whether it
 * is live or not, until a trim. */
struct sums {
    uint64_t now, used_high, reserved_high;
};

#define BUCKET_BITS 10u
#define BUCKETS (1u << BUCKET_BITS)

static struct {
    mr_lock lock;
    bool ready;
    struct mr_list buckets[BUCKETS];   /* by address */
    struct sums of[MR_DEVICE_LIMIT];
} table = {.lock = MR_LOCK_INIT(GRAPH_MEMORY)};

static struct sums *sums_of(const struct mr_device *device)
{
    return &table.of[device->ordinal];
}

static void lock_table(void)
{
    mr_lock_take(&table.lock);
    if (!table.ready) {
        for (unsigned i = 0; i < BUCKETS; i++)
            mr_list_init(&table.buckets[i]);
        table.ready = true;
    }
}

static struct mr_list *bucket_of(uintptr_t address)
{
    return &table.buckets[((uint64_t)address >> 8) * 0x9e3779b97f4a7c15u >> (64 - BUCKET_BITS)];
}

CUresult mr_graph_memory_new(struct mr_context *context, size_t size, struct mr_graph_memory **out)
{
    if (size == 0)
        return CUDA_ERROR_INVALID_VALUE;
    struct mr_graph_memory *memory = mr_calloc(1, sizeof *memory);
    if (!memory)
        return CUDA_ERROR_OUT_OF_MEMORY;
    memory->room = (size + GRAIN - 1) & ~(GRAIN - 1);
    CUresult status = memory->room >= size
                          ? mr_memory_graph_reserve(context, memory->room, &memory->address, &memory->id)
                          : CUDA_ERROR_OUT_OF_MEMORY;
    if (status != CUDA_SUCCESS) {
        mr_free(memory);
        return status;
    }
    atomic_store_explicit(&memory->references, 1, memory_order_relaxed);
    mr_object_hold(context);
    memory->context = context;
    memory->size = memory->most = size;
    mr_memory_graph_resize(memory->address, memory->id, size);
    memory->pages = (size + BLOCK - 1) & ~(BLOCK - 1);
    lock_table();
    mr_list_append(bucket_of(memory->address), &memory->link);
    mr_lock_drop(&table.lock);
    *out = memory;
    return CUDA_SUCCESS;
}

void mr_graph_memory_hold(struct mr_graph_memory *memory)
{
    atomic_fetch_add_explicit(&memory->references, 1, memory_order_relaxed);
}

void mr_graph_memory_drop(struct mr_graph_memory *memory)
{
    /* The last reference goes under the lock, so that nobody finds a record that is going. */
    lock_table();
    bool last = atomic_fetch_sub_explicit(&memory->references, 1, memory_order_acq_rel) == 1;
    if (last) {
        mr_list_remove(&memory->link);
        if (memory->reserved)
            sums_of(memory->context->device)->now -= memory->pages;
    }
    mr_lock_drop(&table.lock);
    if (!last)
        return;
    /* Already gone if the context is. */
    mr_memory_graph_release(memory->address, memory->id);
    mr_object_drop(memory->context);
    mr_free(memory);
}

struct mr_graph_memory *mr_graph_memory_find(CUdeviceptr address)
{
    struct mr_graph_memory *found = NULL;
    lock_table();
    struct mr_list *bucket = bucket_of((uintptr_t)address);
    /* The latest first: an older one with the address belongs to a context that is gone, and so is its memory. */
    for (struct mr_list *at = bucket->prev; at != bucket && !found; at = at->prev) {
        struct mr_graph_memory *memory = MR_CONTAINER(at, struct mr_graph_memory, link);
        if (memory->address == (uintptr_t)address)
            found = memory;
    }
    if (found)
        mr_graph_memory_hold(found);
    mr_lock_drop(&table.lock);
    return found;
}

static uint64_t told(uint64_t sum)
{
    return (sum + CHUNK - 1) / CHUNK * CHUNK;
}

/* The table's lock is held. */
static void reserve(struct mr_graph_memory *memory)
{
    MR_HELD(&table.lock);
    struct sums *sums = sums_of(memory->context->device);
    if (memory->reserved)
        return;
    memory->reserved = true;
    sums->now += memory->pages;
    if (told(sums->now) > sums->used_high)
        sums->used_high = told(sums->now);
    if (told(sums->now) > sums->reserved_high)
        sums->reserved_high = told(sums->now);
}

void mr_graph_memory_reserve(struct mr_graph_memory *memory)
{
    lock_table();
    reserve(memory);
    mr_lock_drop(&table.lock);
}

bool mr_graph_memory_begin(struct mr_graph_memory *memory, size_t size)
{
    lock_table();
    bool was = memory->live;
    if (!was) {
        memory->live = true;
        if (size)
            memory->size = size;
        size = memory->size;
        mr_graph_memory_hold(memory);
        reserve(memory);
    }
    mr_lock_drop(&table.lock);
    if (!was)
        mr_memory_graph_lend(memory->address, memory->id, true, size);
    return !was;
}

bool mr_graph_memory_end(struct mr_graph_memory *memory)
{
    lock_table();
    bool was = memory->live;
    size_t most = memory->most;
    memory->live = false;
    mr_lock_drop(&table.lock);
    if (was) {
        mr_memory_graph_lend(memory->address, memory->id, false, most);
        mr_graph_memory_drop(memory);
    }
    return was;
}

void mr_graph_memory_use(struct mr_graph_memory *memory, int by)
{
    atomic_fetch_add_explicit(&memory->users, (unsigned)by, memory_order_acq_rel);
}

bool mr_graph_memory_may_pass(const struct mr_graph_memory *memory, uint32_t holder, uint64_t owner,
                              const struct mr_context *context, size_t size)
{
    lock_table();
    bool may = memory->holder == holder && memory->owner == owner && memory->context == context &&
               memory->freed_by_owner > 0 && size <= memory->room;
    mr_lock_drop(&table.lock);
    return may;
}

bool mr_graph_memory_pass(struct mr_graph_memory *memory, uint32_t holder, size_t size)
{
    lock_table();
    bool mine = memory->holder == holder, grows = mine && size > memory->most && !memory->live;
    if (mine) {
        memory->holder++;
        memory->freed_by_owner = memory->freed_by_other = 0;
        if (size > memory->most)
            memory->most = size;
    }
    mr_lock_drop(&table.lock);
    if (grows)
        mr_memory_graph_resize(memory->address, memory->id, size);
    return mine;
}

bool mr_graph_memory_claim(struct mr_graph_memory *memory, uint64_t graph, uint32_t *holder)
{
    lock_table();
    *holder = memory->holder;
    bool mine = graph == memory->owner;
    bool may = memory->freed_by_owner == 0 && (!mine || memory->freed_by_other == 0);
    if (may)
        ++*(mine ? &memory->freed_by_owner : &memory->freed_by_other);
    mr_lock_drop(&table.lock);
    return may;
}

void mr_graph_memory_unclaim(struct mr_graph_memory *memory, uint64_t graph)
{
    lock_table();
    --*(graph == memory->owner ? &memory->freed_by_owner : &memory->freed_by_other);
    mr_lock_drop(&table.lock);
}

/* The pages of memory that is not live hold nothing that anybody may read. They come back as zeros when touched. */
static void trim(struct mr_graph_memory *memory, struct mr_device *device)
{
    struct mr_allocation found;
    if (memory->live || !memory->reserved || memory->context->device != device ||
        atomic_load_explicit(&memory->users, memory_order_acquire) > 0)
        return;
    memory->reserved = false;
    sums_of(device)->now -= memory->pages;
    if (mr_memory_find(memory->address, &found) && found.mapped >= BLOCK)
        madvise((void *)memory->address, found.mapped, MADV_DONTNEED);
}

void mr_graph_memory_trim(struct mr_device *device)
{
    lock_table();
    for (unsigned i = 0; i < BUCKETS; i++)
        for (struct mr_list *at = table.buckets[i].next; at != &table.buckets[i]; at = at->next)
            trim(MR_CONTAINER(at, struct mr_graph_memory, link), device);
    mr_lock_drop(&table.lock);
}

CUresult mr_graph_memory_attribute(struct mr_device *device, CUgraphMem_attribute attribute, uint64_t *value)
{
    CUresult status = CUDA_SUCCESS;
    lock_table();
    const struct sums *sums = sums_of(device);
    switch ((int)attribute) {
    case CU_GRAPH_MEM_ATTR_USED_MEM_CURRENT:
        *value = told(sums->now);
        break;
    case CU_GRAPH_MEM_ATTR_USED_MEM_HIGH:
        *value = sums->used_high;
        break;
    case CU_GRAPH_MEM_ATTR_RESERVED_MEM_CURRENT:
        *value = told(sums->now);
        break;
    case CU_GRAPH_MEM_ATTR_RESERVED_MEM_HIGH:
        *value = sums->reserved_high;
        break;
    default:
        status = CUDA_ERROR_INVALID_VALUE;
        break;
    }
    mr_lock_drop(&table.lock);
    return status;
}

void mr_graph_memory_reset_high(struct mr_device *device, CUgraphMem_attribute attribute)
{
    lock_table();
    struct sums *sums = sums_of(device);
    if (attribute == CU_GRAPH_MEM_ATTR_USED_MEM_HIGH)
        sums->used_high = told(sums->now);
    else
        sums->reserved_high = told(sums->now);
    mr_lock_drop(&table.lock);
}
