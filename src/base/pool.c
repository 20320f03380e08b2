/* SPDX-License-Identifier: Apache-2.0 */
/* The pools' slow paths: trading batches, making slabs, and what happens when a thread ends.
 *
 * A batch is a chain of MR_POOL_BATCH records; its first record also links the next batch through its second pointer.
 */
#include "base/pool.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/alloc.h"

#define LINE 64u
#define SLAB_BATCHES 16u
#define SLAB_MOST ((size_t)128 << 10)   /* longer slabs hold one batch only */

_Thread_local struct mr_pool_thread *mr_pool_self __attribute__((tls_model("initial-exec")));

/* Every pool that a cache may hold records of, so that a thread's end finds them by place. */
static _Atomic(struct mr_pool *) pools[MR_POOL_PLACES];

static pthread_once_t key_once = PTHREAD_ONCE_INIT;
static pthread_key_t key;
static bool key_made;

static void **next_of(const struct mr_pool *pool, void *record)
{
    return (void **)((char *)record + pool->link);
}

static void **next_batch_of(const struct mr_pool *pool, void *record)
{
    return (void **)((char *)record + pool->link) + 1;
}

/* Cuts a batch off the front of a cache that holds at least that many, and hands it to the pool. */
static void give_batch(struct mr_pool *pool, struct mr_pool_cache *cache)
{
    void *first = cache->head, *last = first;
    for (unsigned i = 1; i < MR_POOL_BATCH; i++)
        last = *next_of(pool, last);
    cache->head = *next_of(pool, last);
    cache->count -= MR_POOL_BATCH;
    *next_of(pool, last) = NULL;
    mr_lock_take(&pool->lock);
    *next_batch_of(pool, first) = pool->batches;
    pool->batches = first;
    mr_lock_drop(&pool->lock);
}

static void end_of_thread(void *data)
{
    struct mr_pool_thread *self = data;
    mr_pool_self = NULL;
    for (unsigned place = 0; place < MR_POOL_PLACES; place++) {
        struct mr_pool_cache *cache = &self->caches[place];
        struct mr_pool *pool = atomic_load(&pools[place]);
        while (cache->count >= MR_POOL_BATCH)
            give_batch(pool, cache);
        while (cache->head) {
            void *record = cache->head;
            cache->head = *next_of(pool, record);
            mr_pool_put_slow(pool, record);
        }
    }
    mr_free(self);
}

static void make_key(void)
{
    key_made = pthread_key_create(&key, end_of_thread) == 0;
}

/* The calling thread's caches, made now if there is memory; else NULL, and the thread works on the pools themselves. */
static struct mr_pool_thread *provide_self(void)
{
    if (mr_pool_self)
        return mr_pool_self;
    pthread_once(&key_once, make_key);
    struct mr_pool_thread *self = key_made ? mr_calloc(1, sizeof *self) : NULL;
    if (self && pthread_setspecific(key, self) != 0) {
        mr_free(self);
        self = NULL;
    }
    return mr_pool_self = self;
}

/* Makes a slab: one batch for the caller, the others for the pool, whose lock is held. Slabs are never freed, so that
 * their start may be lost. */
static unsigned refill_slab(struct mr_pool *pool, void *records[MR_POOL_BATCH])
{
    MR_HELD(&pool->lock);
    size_t stride = (pool->size + LINE - 1) & ~(size_t)(LINE - 1), batch = stride * MR_POOL_BATCH;
    size_t batches = batch * SLAB_BATCHES <= SLAB_MOST ? SLAB_BATCHES : 1;
    char *slab = mr_calloc(1, batch * batches + LINE);
    if (!slab)
        return 0;
    slab += -(uintptr_t)slab & (LINE - 1);
    for (unsigned i = 0; i < MR_POOL_BATCH; i++)
        records[i] = slab + i * stride;
    for (size_t b = 1; b < batches; b++) {
        char *first = slab + b * batch;
        for (unsigned i = 0; i < MR_POOL_BATCH; i++)
            *next_of(pool, first + i * stride) = i + 1 < MR_POOL_BATCH ? first + (i + 1) * stride : NULL;
        *next_batch_of(pool, first) = pool->batches;
        pool->batches = first;
    }
    return MR_POOL_BATCH;
}

/* Takes what there is, in this order: a batch, single records, new memory. Returns a chain, its length in *count. */
static void *take_chain(struct mr_pool *pool, unsigned *count)
{
    void *chain = NULL;
    *count = 0;
    mr_lock_take(&pool->lock);
    if (pool->batches) {
        chain = pool->batches;
        pool->batches = *next_batch_of(pool, chain);
        *count = MR_POOL_BATCH;
    } else if (pool->loose) {
        chain = pool->loose;
        void *last = chain;
        for (*count = 1; *count < MR_POOL_BATCH && *next_of(pool, last); ++*count)
            last = *next_of(pool, last);
        pool->loose = *next_of(pool, last);
        *next_of(pool, last) = NULL;
    } else {
        void *records[MR_POOL_BATCH];
        *count = pool->refill ? pool->refill(pool, records) : refill_slab(pool, records);
        for (unsigned i = *count; i-- > 0;) {
            *next_of(pool, records[i]) = chain;
            chain = records[i];
        }
    }
    mr_lock_drop(&pool->lock);
    return chain;
}

void *mr_pool_get_slow(struct mr_pool *pool)
{
    atomic_store_explicit(&pools[pool->place], pool, memory_order_release);
    struct mr_pool_thread *self = provide_self();
    unsigned count;
    void *record = take_chain(pool, &count);
    if (!record)
        return NULL;
    void *rest = *next_of(pool, record);
    if (self) {
        self->caches[pool->place].head = rest;
        self->caches[pool->place].count = count - 1;
        return record;
    }
    while (rest) {
        void *next = *next_of(pool, rest);
        mr_pool_put_slow(pool, rest);
        rest = next;
    }
    return record;
}

void mr_pool_put_slow(struct mr_pool *pool, void *record)
{
    struct mr_pool_thread *self = mr_pool_self;
    if (self) {
        struct mr_pool_cache *cache = &self->caches[pool->place];
        if (cache->count >= MR_POOL_BATCH)
            give_batch(pool, cache);
        *next_of(pool, record) = cache->head;
        cache->head = record;
        cache->count++;
        return;
    }
    mr_lock_take(&pool->lock);
    *next_of(pool, record) = pool->loose;
    pool->loose = record;
    mr_lock_drop(&pool->lock);
}
