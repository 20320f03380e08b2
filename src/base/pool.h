/* SPDX-License-Identifier: Apache-2.0 */
/* Pools of records of one size, with a cache per thread.
 *
 * Records that come and go on hot paths (marks, commands, objects) are taken from a pool. A thread keeps up to 2 *
 * MR_POOL_BATCH free records of each pool to itself and trades whole batches with the pool under its lock, so that
 * taking and giving back cost a few nanoseconds, also when one thread makes what another frees. Memory of a pool is
 * type-stable: it is never given back to the system and never used for records of another kind. A thread that ends
 * gives its records back.
 *
 * A free record is linked through two pointers at `link` bytes from its start; everything else in it is left as it was.
 */
#ifndef MR_BASE_POOL_H
#define MR_BASE_POOL_H

#include <stddef.h>

#include "base/thread.h"

#define MR_POOL_BATCH 32u

/* Places in the per-thread record: one for each pool there can be. */
enum mr_pool_place {
    MR_POOL_OBJECTS = 0,   /* 24 pools, one for each kind of object */
    MR_POOL_MARKS = 24,
    MR_POOL_COMMANDS,      /* 2 sizes */
    MR_POOL_LAUNCHES = MR_POOL_COMMANDS + 2, /* 3 sizes */
    MR_POOL_PLACES = MR_POOL_LAUNCHES + 3
};

struct mr_pool {
    enum mr_pool_place place;
    size_t size;                                 /* bytes of a record; at least link + 2 pointers */
    size_t link;                                 /* where a free record may be overwritten */
    /* Makes up to a batch of new records, or returns 0; the lock is held. NULL: zeroed slabs from mr_calloc. */
    unsigned (*refill)(struct mr_pool *pool, void *records[MR_POOL_BATCH]);
    mr_lock lock;
    void *batches; /* full batches, under lock */
    void *loose; /* single records, under lock */
};

struct mr_pool_cache {
    void *head;
    unsigned count;
};
struct mr_pool_thread {
    struct mr_pool_cache caches[MR_POOL_PLACES];
};

/* The calling thread's caches; NULL before first use. */
extern _Thread_local struct mr_pool_thread *mr_pool_self
    __attribute__((tls_model("initial-exec"), visibility("hidden")));

void *mr_pool_get_slow(struct mr_pool *pool) __attribute__((warn_unused_result));
void mr_pool_put_slow(struct mr_pool *pool, void *record);

/* A record, with whatever it last held (zeros if it is new, except for the link); NULL when memory is short. */
__attribute__((warn_unused_result)) static inline void *mr_pool_get(struct mr_pool *pool)
{
    struct mr_pool_thread *self = mr_pool_self;
    if (__builtin_expect(self != NULL, 1)) {
        struct mr_pool_cache *cache = &self->caches[pool->place];
        void *record = cache->head;
        if (__builtin_expect(record != NULL, 1)) {
            cache->head = *(void **)((char *)record + pool->link);
            cache->count--;
            return record;
        }
    }
    return mr_pool_get_slow(pool);
}

/* Gives a record back. */
static inline void mr_pool_put(struct mr_pool *pool, void *record)
{
    struct mr_pool_thread *self = mr_pool_self;
    if (__builtin_expect(self != NULL, 1)) {
        struct mr_pool_cache *cache = &self->caches[pool->place];
        if (__builtin_expect(cache->count < 2 * MR_POOL_BATCH, 1)) {
            *(void **)((char *)record + pool->link) = cache->head;
            cache->head = record;
            cache->count++;
            return;
        }
    }
    mr_pool_put_slow(pool, record);
}

#endif
