/* SPDX-License-Identifier: Apache-2.0 */
/* Zones and chunks: what owns which pages of the reserved address space (space.h draws the map).
 *
 * A chunk is taken from, in this order: kept chunks of its stride with the same number of pages (nothing to do), kept
 * chunks of its stride with another number (one system call for the difference), chunks without pages, never used
 * chunks, a new superblock. A chunk that is given back keeps its pages for the next taker; beyond a limit the oldest
 * kept chunks lose theirs.
 *
 * A large chunk (MR_HUGE and more) is sealed while it is kept: its pages stay, but touching them faults, as hardware
 * faults on freed memory whose pages are unmapped, and the system may take them when memory is short. Small ones stay
 * open, since a system call would be most of what an allocation costs; hold_cache_down bounds how much that can be. */
#include "memory/space.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/log.h"
#include "memory/guard.h"
#include "memory/sharing.h"

#define REST_CHUNKS \
    4096u /* with MILLRACE_GUARD: freed chunks of a stride that rest before the oldest is taken again \
           */
#define SAME_SEARCH 8 /* kept chunks to look at for the right number of pages */

mr_lock mr_memory_lock = MR_LOCK_INIT(MEMORY);
size_t mr_page_size = 4096;
struct mr_kept mr_memory_kept[2] = {
    {{&mr_memory_kept[0].age, &mr_memory_kept[0].age}, 0},
    {{&mr_memory_kept[1].age, &mr_memory_kept[1].age}, 0},
};
size_t mr_memory_chunks;

/* Superblocks are large enough for long strides and small enough that the zone has a few thousand of them. */
static unsigned superblock_shift(size_t size)
{
    unsigned shift = 22;
    while (shift < 28 && size >> (shift + 1) >= 1024)
        shift++;
    return shift;
}

static void *reserve(size_t size, uintptr_t limit)
{
    const int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
    if (!limit) {
        void *space = mmap(NULL, size, PROT_NONE, flags, -1, 0);
        return space == MAP_FAILED ? NULL : space;
    }
    for (uintptr_t at = (uintptr_t)16 << 20; at + size <= limit; at += (uintptr_t)16 << 20) {
        void *space = mmap((void *)at, size, PROT_NONE, flags | MAP_FIXED_NOREPLACE, -1, 0);
        if (space == (void *)at)
            return space;
        if (space != MAP_FAILED)
            munmap(space, size);
    }
    return NULL;
}

bool mr_zone_init(struct mr_zone *zone, size_t size, uintptr_t limit)
{
    long page = sysconf(_SC_PAGESIZE);
    if (page > 0)
        mr_page_size = (size_t)page;
    unsigned shift = superblock_shift(size);
    size_t block = (size_t)1 << shift;
    char *space = reserve(size, limit);
    if (!space)
        return false;
    uintptr_t base = ((uintptr_t)space + block - 1) & ~(uintptr_t)(block - 1);
    memset(zone, 0, sizeof *zone);
    zone->base = base;
    zone->shift = shift;
    zone->count = (size - (base - (uintptr_t)space)) >> shift;
    zone->end = base + (zone->count << shift);
    zone->first_free = 1;
    zone->table = mr_calloc(zone->count, sizeof *zone->table);
    zone->taken = mr_calloc(zone->count, 1);
    if (!zone->table || !zone->taken) {
        mr_free(zone->table);
        mr_free(zone->taken);
        munmap(space, size);
        return false;
    }
    for (unsigned i = 0; i < MR_STRIDES; i++) {
        mr_list_init(&zone->cached[i]);
        mr_list_init(&zone->empty[i]);
    }
    mr_list_init(&zone->spare);
    mr_list_init(&zone->resting);
    return true;
}

/* The first of `run` superblocks that are free and stand together; 0 if there are none. */
static size_t superblocks_take(struct mr_zone *zone, size_t run)
{
    size_t length = 0;
    for (size_t i = zone->first_free; i < zone->count; i++) {
        length = zone->taken[i] ? 0 : length + 1;
        if (length == run) {
            size_t first = i + 1 - run;
            memset(zone->taken + first, 1, run);
            while (zone->first_free < zone->count && zone->taken[zone->first_free])
                zone->first_free++;
            return first;
        }
    }
    return 0;
}

static void superblocks_give(struct mr_zone *zone, size_t first, size_t run)
{
    memset(zone->taken + first, 0, run);
    if (first < zone->first_free)
        zone->first_free = first;
}

static void chunk_setup(struct mr_chunk *chunk, struct mr_zone *zone, uintptr_t base, unsigned stride, uint32_t run)
{
    chunk->zone = zone;
    chunk->base = base;
    chunk->stride = stride;
    chunk->run = run;
    mr_list_init(&chunk->same);
    mr_list_init(&chunk->age);
}

/* Records for `count` chunks, zeroed and aligned so that an address has room for the stride. Never freed. */
static struct mr_chunk *chunks_new(size_t count)
{
    char *memory = mr_calloc(1, count * sizeof(struct mr_chunk) + 64);
    return memory ? (struct mr_chunk *)(((uintptr_t)memory + 63) & ~(uintptr_t)63) : NULL;
}

/* A never used chunk of a stride, from a new superblock if need be. */
static struct mr_chunk *chunk_fresh(struct mr_zone *zone, unsigned stride)
{
    size_t per_block = (size_t)1 << (zone->shift - stride);
    if (zone->fresh_left[stride] == 0) {
        size_t first = superblocks_take(zone, 1);
        if (!first)
            return NULL;
        struct mr_chunk *chunks = chunks_new(per_block);
        if (!chunks) {
            superblocks_give(zone, first, 1);
            return NULL;
        }
        zone->fresh[stride] = chunks;
        zone->fresh_left[stride] = per_block;
        chunk_setup(chunks, zone, zone->base + (first << zone->shift), stride, 0);
        atomic_store_explicit(&zone->table[first], (uintptr_t)chunks | stride, memory_order_release);
    }
    struct mr_chunk *first = zone->fresh[stride];
    size_t index = per_block - zone->fresh_left[stride]--;
    struct mr_chunk *chunk = first + index;
    chunk_setup(chunk, zone, first->base + (index << stride), stride, 0);
    return chunk;
}

/* A chunk of whole superblocks. */
static struct mr_chunk *chunk_fresh_run(struct mr_zone *zone, size_t run)
{
    if (run >= zone->count)
        return NULL;
    struct mr_chunk *chunk;
    if (mr_list_empty(&zone->spare)) {
        chunk = chunks_new(1);
        if (!chunk)
            return NULL;
    } else {
        chunk = MR_CONTAINER(zone->spare.next, struct mr_chunk, same);
        mr_list_remove(&chunk->same);
    }
    size_t first = superblocks_take(zone, run);
    if (!first) {
        mr_list_append(&zone->spare, &chunk->same);
        return NULL;
    }
    chunk_setup(chunk, zone, zone->base + (first << zone->shift), MR_STRIDE_RUN, (uint32_t)run);
    for (size_t i = 0; i < run; i++)
        atomic_store_explicit(&zone->table[first + i], (uintptr_t)chunk | MR_STRIDE_RUN, memory_order_release);
    return chunk;
}

static void chunk_end_run(struct mr_chunk *chunk)
{
    struct mr_zone *zone = chunk->zone;
    size_t first = (chunk->base - zone->base) >> zone->shift;
    for (size_t i = 0; i < chunk->run; i++)
        atomic_store_explicit(&zone->table[first + i], 0, memory_order_release);
    superblocks_give(zone, first, chunk->run);
    mr_list_append(&zone->spare, &chunk->same);
}

/* Ends runs that rest, oldest first, until at most `target` superblocks do. */
static void runs_wake(struct mr_zone *zone, size_t target)
{
    while (zone->resting_blocks > target) {
        struct mr_chunk *chunk = MR_CONTAINER(zone->resting.next, struct mr_chunk, same);
        mr_list_remove(&chunk->same);
        zone->resting_blocks -= chunk->run;
        chunk_end_run(chunk);
    }
}

/* A run without pages: its addresses are free, at once or, with MILLRACE_GUARD, after some time. */
static void run_rest(struct mr_chunk *chunk)
{
    struct mr_zone *zone = chunk->zone;
    if (!mr_guard_on()) {
        chunk_end_run(chunk);
        return;
    }
    mr_list_append(&zone->resting, &chunk->same);
    zone->resting_blocks += chunk->run;
    runs_wake(zone, zone->count / 4);
}

/* A chunk of the stride without pages: the newest, whose records are warm; with MILLRACE_GUARD the oldest,
 * if enough rest or `must` holds. NULL if there is none. */
static struct mr_chunk *chunk_emptied(struct mr_zone *zone, unsigned stride, bool must)
{
    struct mr_list *head = &zone->empty[stride];
    if (mr_list_empty(head) || (mr_guard_on() && !must && zone->empty_count[stride] <= REST_CHUNKS))
        return NULL;
    struct mr_chunk *chunk = MR_CONTAINER(mr_guard_on() ? head->next : head->prev, struct mr_chunk, same);
    mr_list_remove(&chunk->same);
    zone->empty_count[stride]--;
    return chunk;
}

/* Takes pages away: a fresh inaccessible mapping in place of the old one drops the pages and joins its neighbours. */
static bool pages_drop(uintptr_t base, size_t bytes)
{
    void *at = mmap((void *)base, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
    return at != MAP_FAILED;
}

static bool chunk_resize(struct mr_chunk *chunk, size_t bytes)
{
    if (bytes > chunk->mapped) {
        if (mprotect((void *)(chunk->base + chunk->mapped), bytes - chunk->mapped, PROT_READ | PROT_WRITE) != 0)
            return false;
        if (bytes >= MR_HUGE)
            madvise((void *)chunk->base, bytes, MADV_HUGEPAGE);
    } else if (bytes < chunk->mapped) {
        if (!pages_drop(chunk->base + bytes, chunk->mapped - bytes))
            return false;
    }
    if (!chunk->mapped && bytes)
        mr_memory_chunks++;
    else if (chunk->mapped && !bytes)
        mr_memory_chunks--;
    chunk->mapped = bytes;
    return true;
}

static void chunk_cache(struct mr_chunk *chunk)
{
    mr_list_append(&chunk->zone->cached[chunk->stride], &chunk->same);
    mr_list_append(&mr_memory_kept[chunk->sealed].age, &chunk->age);
    mr_memory_kept[chunk->sealed].bytes += chunk->mapped;
}

static void chunk_uncache(struct mr_chunk *chunk)
{
    mr_list_remove(&chunk->same);
    mr_list_remove(&chunk->age);
    mr_memory_kept[chunk->sealed].bytes -= chunk->mapped;
}

/* Makes the pages of a chunk inaccessible without giving them up; the system may take their contents. */
static bool chunk_seal(struct mr_chunk *chunk)
{
    madvise((void *)chunk->base, chunk->mapped, MADV_FREE);
    chunk->sealed = mprotect((void *)chunk->base, chunk->mapped, PROT_NONE) == 0;
    return chunk->sealed;
}

static bool chunk_unseal(struct mr_chunk *chunk)
{
    if (chunk->sealed && mprotect((void *)chunk->base, chunk->mapped, PROT_READ | PROT_WRITE) != 0)
        return false;
    chunk->sealed = false;
    return true;
}

/* Takes the pages of a chunk that is in no list, and puts it where chunks without pages wait. */
static void chunk_empty(struct mr_chunk *chunk)
{
    struct mr_sharing *sharing = chunk->sharing;
    if (sharing && pages_drop(chunk->base, chunk->mapped)) {
        chunk->sharing = NULL;
        mr_sharing_end(sharing);
    } else if (sharing) {
        /* Others may still write to these pages: nobody gets them again. */
        mr_log(MR_LOG_WARN, "%zu shared bytes at %#zx cannot be taken back: %s", chunk->mapped, (size_t)chunk->base,
               strerror(errno));
        return;
    }
    if (!chunk_resize(chunk, 0)) {
        /* The kernel has no room to split a mapping. Keep the pages, at least without their contents. */
        madvise((void *)chunk->base, chunk->mapped, MADV_DONTNEED);
        chunk_cache(chunk);
        return;
    }
    chunk->sealed = false;
    if (chunk->stride == MR_STRIDE_RUN) {
        run_rest(chunk);
    } else {
        mr_list_append(&chunk->zone->empty[chunk->stride], &chunk->same);
        chunk->zone->empty_count[chunk->stride]++;
    }
}

void mr_chunks_trim(bool sealed, size_t target)
{
    MR_HELD(&mr_memory_lock);
    struct mr_kept *kept = &mr_memory_kept[sealed];
    struct mr_list *last = kept->age.prev;
    while (kept->bytes > target && !mr_list_empty(&kept->age)) {
        struct mr_chunk *chunk = MR_CONTAINER(kept->age.next, struct mr_chunk, age);
        bool was_last = &chunk->age == last;
        chunk_uncache(chunk);
        chunk_empty(chunk);
        if (was_last)
            break;
    }
}

/* A kept chunk for `bytes`: the newest with exactly these pages, else the newest with room and not more than twice the
 * pages. */
static inline __attribute__((always_inline)) struct mr_chunk *chunk_kept(struct mr_zone *zone, unsigned stride,
                                                                         size_t bytes, size_t room)
{
    struct mr_list *head = &zone->cached[stride];
    struct mr_chunk *best = NULL;
    int looked = 0;
    for (struct mr_list *node = head->prev; node != head && looked < SAME_SEARCH; node = node->prev, looked++) {
        struct mr_chunk *chunk = MR_CONTAINER(node, struct mr_chunk, same);
        size_t capacity = stride == MR_STRIDE_RUN ? (size_t)chunk->run << zone->shift : (size_t)1 << stride;
        if (!best && capacity >= room && capacity / 2 <= room)
            best = chunk;
        if (chunk->mapped == bytes) {
            best = chunk;
            break;
        }
    }
    if (!best)
        return NULL;
    chunk_uncache(best);
    if (!chunk_unseal(best) || !chunk_resize(best, bytes)) {
        chunk_empty(best);
        return NULL;
    }
    return best;
}

/* A chunk with `bytes` accessible bytes and at least `gap` others behind them. */
static inline __attribute__((always_inline)) struct mr_chunk *chunk_take(struct mr_zone *zone, size_t bytes, size_t gap)
{
    size_t room = bytes + gap;
    size_t block = (size_t)1 << zone->shift;
    if (room < bytes || room > zone->end - zone->base)
        return NULL;
    unsigned stride = MR_STRIDE_MIN; /* the least whose power of two is enough */
    if (room > (size_t)1 << MR_STRIDE_MIN)
        stride = 64 - (unsigned)__builtin_clzl(room - 1);
    if (stride >= zone->shift)
        stride = MR_STRIDE_RUN;
    struct mr_chunk *chunk = chunk_kept(zone, stride, bytes, room);
    if (chunk)
        return chunk;
    if (stride == MR_STRIDE_RUN) {
        size_t run = (room + block - 1) >> zone->shift;
        chunk = chunk_fresh_run(zone, run);
        if (!chunk && zone->resting_blocks) {
            runs_wake(zone, 0);
            chunk = chunk_fresh_run(zone, run);
        }
    } else {
        chunk = chunk_emptied(zone, stride, false);
        if (!chunk)
            chunk = chunk_fresh(zone, stride);
        if (!chunk)
            chunk = chunk_emptied(zone, stride, true);
        if (!chunk && zone->resting_blocks) {
            runs_wake(zone, 0);
            chunk = chunk_fresh(zone, stride);
        }
    }
    if (chunk && !chunk_resize(chunk, bytes)) {
        mr_log(MR_LOG_INFO, "the system has no %zu bytes of memory at %#zx: %s", bytes, (size_t)chunk->base,
               strerror(errno));
        chunk_empty(chunk);
        return NULL;
    }
    return chunk;
}

/* As mr_chunk_take, with as much behind the chunk as the space allows. */
__attribute__((noinline, cold)) static struct mr_chunk *chunk_take_apart(struct mr_zone *zone, size_t bytes)
{
    size_t gap = mr_guard_gap(bytes, zone->end - zone->base, mr_memory_chunks);
    struct mr_chunk *chunk = chunk_take(zone, bytes, gap);
    return chunk || gap == mr_page_size ? chunk : chunk_take(zone, bytes, mr_page_size);
}

struct mr_chunk *mr_chunk_take(struct mr_zone *zone, size_t bytes)
{
    MR_HELD(&mr_memory_lock);
    return mr_guard_apart() ? chunk_take_apart(zone, bytes) : chunk_take(zone, bytes, mr_page_size);
}

void mr_chunk_give(struct mr_chunk *chunk, bool keep)
{
    MR_HELD(&mr_memory_lock);
    if (keep && !chunk->sharing && (chunk->mapped < MR_HUGE || chunk_seal(chunk)))
        chunk_cache(chunk);
    else
        chunk_empty(chunk);
}
