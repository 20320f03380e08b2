/* SPDX-License-Identifier: Apache-2.0 */
/* The registry of objects.
 *
 * Each kind has a table of records in chunks that double in size: chunk k holds records FIRST * (2^k - 1) up to FIRST *
 * (2^(k+1) - 1). A slot number finds its record with one shift and one load, no chunk ever moves, and none is given
 * back, so a lookup needs no lock: it computes where the record is and compares the whole handle with the one that the
 * record has now.
 *
 * A handle, from the low bits up: 5 bits kind, 22 bits slot, 20 bits generation (never 0). It is below 2^47, never
 * aligned like a pointer to a record, and greater than any of the special values that the API gives to stream handles.
 * A slot's generation changes with each object; free slots wait in the pool's batches, so a handle's value comes back
 * only after a million objects in one slot. */
#include "object/handle.h"

#include <string.h>

#include "base/alloc.h"
#include "base/pool.h"
#include "base/visit.h"

#define FIRST_BITS \
    9u /* 512 records in the first chunk: more than are put aside as a rule, and only touched when used */
#define CHUNKS 14u
#define LINE 64u /* long records are cache lines of their own */
#define SMALL_RECORD 128u /* up to this size they are packed: of these a program may hold a million */
#define PACK 16u
#define SLOT_BITS 22u
#define GENERATION_BITS 20u
#define KIND_BITS 5u
#define ASIDE 64u /* ended records that are put aside together */
#define ASIDE_ROUNDS 4u /* as many of those that come back at once, at most */

_Static_assert(MR_KIND_COUNT <= (1 << KIND_BITS), "a kind must fit its bits of a handle");

/* Records that ended and that calls may still look at, which they do without a reference. A full batch says when it was
 * put aside; it comes back to the pool when every call is over that began before (base/visit.h). In a batch's first
 * record the second link is that time, in its second record the next batch. */
struct aside {
    mr_lock lock;
    unsigned count; /* in the open batch */
    struct mr_object *open, *oldest, *newest;
};

struct kind_table {
    struct mr_pool pool; /* first: refill gets the table from it */
    size_t stride;
    void (*finish)(void *object);
    uint32_t used; /* slots handed out so far; under pool.lock */
    _Atomic(char *) chunks[CHUNKS];
    struct aside aside;
};

static unsigned refill(struct mr_pool *pool, void *records[MR_POOL_BATCH]);

static struct kind_table tables[MR_KIND_COUNT];
static _Atomic uint32_t ready[MR_KIND_COUNT]; /* the table's constant part is set; 2 while it is being set */

static unsigned chunk_of(uint32_t slot, uint32_t *first)
{
    unsigned chunk = 31u - (unsigned)__builtin_clz((slot >> FIRST_BITS) + 1);
    *first = ((1u << chunk) - 1) << FIRST_BITS;
    return chunk;
}

/* The record of a slot, or NULL if there has never been one. */
static struct mr_object *record_of(struct kind_table *table, uint32_t slot)
{
    uint32_t first;
    unsigned number = chunk_of(slot, &first);
    char *chunk = number < CHUNKS ? atomic_load_explicit(&table->chunks[number], memory_order_acquire) : NULL;
    return chunk ? (struct mr_object *)(void *)(chunk + (size_t)(slot - first) * table->stride) : NULL;
}

/* New slots for the pool: cuts records off the last chunk, makes the next chunk when that is used up. */
static unsigned refill(struct mr_pool *pool, void *records[MR_POOL_BATCH])
{
    MR_HELD(&pool->lock);
    struct kind_table *table = (struct kind_table *)pool;
    unsigned count = 0;
    while (count < MR_POOL_BATCH && table->used < (1u << SLOT_BITS)) {
        uint32_t first;
        unsigned number = chunk_of(table->used, &first);
        if (number >= CHUNKS)
            break;
        if (table->used == first && !atomic_load_explicit(&table->chunks[number], memory_order_relaxed)) {
            /* Never freed, so it may be lost where it begins. Not mr_calloc_aligned, which would touch all pages. */
            char *chunk = mr_calloc(1, (table->stride << (FIRST_BITS + number)) + LINE);
            if (!chunk)
                break;
            chunk += -(uintptr_t)chunk & (LINE - 1);
            atomic_store_explicit(&table->chunks[number], chunk, memory_order_release);
        }
        struct mr_object *object = record_of(table, table->used);
        object->kind = (uint8_t)(table - tables);
        object->slot = table->used++;
        records[count++] = object;
    }
    return count;
}

static void prepare(enum mr_kind kind, size_t size, void (*finish)(void *object))
{
    uint32_t state = 0;
    if (atomic_compare_exchange_strong(&ready[kind], &state, 2)) {
        struct kind_table *table = &tables[kind];
        size_t step = size <= SMALL_RECORD ? PACK : LINE;
        table->stride = (size + step - 1) & ~(step - 1);
        table->finish = finish;
        table->pool = (struct mr_pool){.place = MR_POOL_OBJECTS + (enum mr_pool_place)kind,
                                       .size = table->stride,
                                       .link = offsetof(struct mr_object, link),
                                       .refill = refill,
                                       .lock = MR_LOCK_INIT(POOL)};
        mr_lock_init(&table->aside.lock, MR_LOCK_ASIDE);
        atomic_store_explicit(&ready[kind], 1, memory_order_release);
        return;
    }
    while (atomic_load_explicit(&ready[kind], memory_order_acquire) != 1)
        mr_pause();
}

void *mr_object_new(enum mr_kind kind, size_t size, void (*finish)(void *object))
{
    struct kind_table *table = &tables[kind];
    if (__builtin_expect(atomic_load_explicit(&ready[kind], memory_order_acquire) != 1, 0))
        prepare(kind, size, finish);
    struct mr_object *object = mr_pool_get(&table->pool);
    if (!object)
        return NULL;
    memset((char *)object + sizeof *object, 0, size - sizeof *object);
    object->generation = (object->generation + 1) & ((1u << GENERATION_BITS) - 1);
    if (object->generation == 0)
        object->generation = 1;
    atomic_store_explicit(&object->orphan, false, memory_order_relaxed);
    atomic_store_explicit(&object->references, 1, memory_order_relaxed);
    uint64_t handle = ((uint64_t)object->generation << (SLOT_BITS + KIND_BITS)) |
                      ((uint64_t)object->slot << KIND_BITS) | (uint64_t)kind;
    atomic_store_explicit(&object->handle, handle, memory_order_release);
    return object;
}

/* The record that a handle of the kind names, whatever is in it now; NULL if the handle does not have that form. */
static inline struct mr_object *record_named(uint64_t handle, enum mr_kind kind)
{
    if ((handle & ((1u << KIND_BITS) - 1)) != (uint64_t)kind)
        return NULL;
    return record_of(&tables[kind], (uint32_t)(handle >> KIND_BITS) & ((1u << SLOT_BITS) - 1));
}

void *mr_object_find(const void *handle, enum mr_kind kind)
{
    uint64_t value = (uint64_t)(uintptr_t)handle;
    struct mr_object *object = record_named(value, kind);
    if (!object || atomic_load_explicit(&object->handle, memory_order_acquire) != value)
        return NULL;
    return object;
}

const void *mr_object_find_ended(const void *handle, enum mr_kind kind)
{
    uint64_t value = (uint64_t)(uintptr_t)handle;
    struct mr_object *object = record_named(value, kind);
    bool same = object && object->generation == value >> (SLOT_BITS + KIND_BITS);
    return same && atomic_load_explicit(&object->handle, memory_order_acquire) == 0 ? object : NULL;
}

bool mr_object_is_orphan(const void *handle, enum mr_kind kind)
{
    const struct mr_object *object = mr_object_find_ended(handle, kind);
    return object && atomic_load_explicit(&object->orphan, memory_order_relaxed);
}

void *mr_object_acquire(const void *handle, enum mr_kind kind)
{
    struct mr_object *object = mr_object_find(handle, kind);
    if (!object || !mr_object_try_hold(object))
        return NULL;
    if (atomic_load_explicit(&object->handle, memory_order_acquire) == (uint64_t)(uintptr_t)handle)
        return object;
    mr_object_drop(object);
    return NULL;
}

static void keep_held(struct mr_object *object)
{
    if (!mr_visit_keep(object, mr_object_drop))
        mr_object_drop(object); /* more than any call looks at: as good as found */
}

void *mr_object_borrow(const void *handle, enum mr_kind kind)
{
    struct mr_object *object = mr_object_acquire(handle, kind);
    if (object)
        keep_held(object);
    return object;
}

bool mr_object_keep(void *object)
{
    bool held = mr_object_try_hold(object);
    if (held)
        keep_held(object);
    return held;
}

enum mr_kind mr_object_kind(const void *handle)
{
    unsigned kind = (unsigned)((uintptr_t)handle & ((1u << KIND_BITS) - 1));
    if (kind == MR_KIND_NONE || kind >= MR_KIND_COUNT || !mr_object_find(handle, (enum mr_kind)kind))
        return MR_KIND_NONE;
    return (enum mr_kind)kind;
}

bool mr_object_retire(void *object)
{
    return atomic_exchange_explicit(&((struct mr_object *)object)->handle, 0, memory_order_acq_rel) != 0;
}

void mr_object_hold(void *object)
{
    atomic_fetch_add_explicit(&((struct mr_object *)object)->references, 1, memory_order_relaxed);
}

bool mr_object_try_hold(void *object)
{
    _Atomic uint32_t *references = &((struct mr_object *)object)->references;
    uint32_t count = atomic_load_explicit(references, memory_order_relaxed);
    while (count != 0)
        if (atomic_compare_exchange_weak_explicit(references, &count, count + 1, memory_order_acquire,
                                                  memory_order_relaxed))
            return true;
    return false;
}

/* The next batch, from the oldest on; a place for it. */
static void **next_batch(struct mr_object *batch)
{
    return &((struct mr_object *)batch->link[0])->link[1];
}

/* Closes the open batch. The lock is held. */
static void close_batch(struct aside *aside)
{
    MR_HELD(&aside->lock);
    struct mr_object *batch = aside->open;
    batch->link[1] = (void *)(uintptr_t)mr_visit_now();
    *next_batch(batch) = NULL;
    if (aside->newest)
        *next_batch(aside->newest) = batch;
    else
        aside->oldest = batch;
    aside->newest = batch;
    aside->open = NULL;
    aside->count = 0;
}

/* The oldest batch if nobody looks at it any more, else NULL. */
static struct mr_object *take_batch(struct aside *aside)
{
    mr_lock_take(&aside->lock);
    struct mr_object *batch = aside->oldest;
    if (batch && mr_visit_is_over((uint64_t)(uintptr_t)batch->link[1])) {
        aside->oldest = *next_batch(batch);
        if (!aside->oldest)
            aside->newest = NULL;
    } else {
        batch = NULL;
    }
    mr_lock_drop(&aside->lock);
    return batch;
}

static void put_aside(struct kind_table *table, struct mr_object *object)
{
    struct aside *aside = &table->aside;
    mr_lock_take(&aside->lock);
    object->link[0] = aside->open;
    aside->open = object;
    bool full = ++aside->count == ASIDE;
    if (full)
        close_batch(aside);
    mr_lock_drop(&aside->lock);
    if (!full)
        return;
    mr_visit_advance();
    for (unsigned i = 0; i < ASIDE_ROUNDS && (object = take_batch(aside)); i++) {
        for (struct mr_object *next; object; object = next) {
            next = object->link[0];
            mr_pool_put(&table->pool, object);
        }
    }
}

void mr_object_drop(void *data)
{
    struct mr_object *object = data;
    if (atomic_fetch_sub_explicit(&object->references, 1, memory_order_acq_rel) != 1)
        return;
    struct kind_table *table = &tables[object->kind];
    atomic_store_explicit(&object->handle, 0, memory_order_release);
    if (table->finish)
        table->finish(object);
    put_aside(table, object);
}

void mr_object_each(enum mr_kind kind, void (*visit)(void *object, void *data), void *data)
{
    struct kind_table *table = &tables[kind];
    if (atomic_load_explicit(&ready[kind], memory_order_acquire) != 1)
        return;
    mr_lock_take(&table->pool.lock);
    uint32_t used = table->used;
    mr_lock_drop(&table->pool.lock);
    for (uint32_t slot = 0; slot < used; slot++) {
        struct mr_object *object = record_of(table, slot);
        uint64_t handle = atomic_load_explicit(&object->handle, memory_order_acquire);
        if (handle && (object = mr_object_acquire((void *)(uintptr_t)handle, kind))) {
            visit(object, data);
            mr_object_drop(object);
        }
    }
}
