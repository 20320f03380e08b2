/* SPDX-License-Identifier: Apache-2.0 */
/* Extents: address space for memory pools (extent.h tells what they are).
 *
 * Chunks of the space are found first fit, or if allocations lie apart (guard.h) next fit, so that addresses rest; a
 * run is followed by a hole: one chunk that stays inaccessible, or more if they lie apart. For an observer, what was
 * given back last keeps its pages for a while, so that a program that uses freed memory goes on. Private memory that is
 * decommitted is only sealed, and the system is free to take it: a pool that releases memory at every synchronisation
 * (the default threshold is 0) usually wants the same again. */
#include "memory/extent.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>

#include "base/alloc.h"
#include "base/log.h"
#include "base/thread.h"
#include "memory/guard.h"
#include "memory/space.h"
#include "object/device.h"

/* If allocations lie apart: the largest hole, in chunks, and how many holes the space must have room for. */
#define HOLE_MOST 32u
#define HOLES 16384u
/* For an observer: guarded extents that were given back and keep their pages, and the bytes of these. */
#define REST_MOST 64u
#define REST_BYTES ((size_t)256 << 20)

_Atomic uintptr_t mr_extents_base, mr_extents_end;

static mr_lock lock = MR_LOCK_INIT(EXTENTS);                          /* guards what follows; a leaf */
static _Atomic(struct mr_extent *) *table;    /* by chunk; written under the lock */
static uint8_t *taken;                        /* by chunk; 1: in use, or in the hole behind a run */
static size_t chunks, first_free;
static size_t hole = 1;                       /* chunks behind a run */
static size_t next;                           /* if allocations lie apart: the search goes on from here */
static struct note {
    uintptr_t base;
    size_t size;                              /* 0: nothing was noted */
    bool freed;
} *notes;                                     /* if allocations lie apart, by first chunk */
static size_t notes_end;
static struct mr_list spare = {&spare, &spare};     /* records without address space */
static struct mr_list resting = {&resting, &resting};   /* given back, with pages; oldest first */
static size_t rest_count, rest_bytes;

/* Lock held. */
static bool space_init(void)
{
    MR_HELD(&lock);
    if (table)
        return true;
    size_t total = 0, size = (size_t)1 << 36;
    for (int i = 0; i < mr_device_count(); i++)
        total += mr_device_get(i)->total_memory;
    while (size < total * 16 && size < (size_t)1 << 44)
        size *= 2;
    if (mr_guard_apart())
        size = (size_t)1 << 44;               /* an allocation has whole chunks */
    void *space = MAP_FAILED;
    for (; size >= (size_t)1 << 30; size /= 2) {
        space = mmap(NULL, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (space != MAP_FAILED)
            break;
    }
    if (space == MAP_FAILED) {
        mr_log(MR_LOG_WARN, "no address space for memory pools: is there a limit (ulimit -v)?");
        return false;
    }
    uintptr_t base = ((uintptr_t)space + MR_EXTENT_CHUNK - 1) & ~(uintptr_t)(MR_EXTENT_CHUNK - 1);
    chunks = (size - (base - (uintptr_t)space)) / MR_EXTENT_CHUNK;
    taken = mr_calloc(chunks, 1);
    table = mr_calloc(chunks, sizeof *table);
    notes = mr_guard_apart() ? mr_calloc(chunks, sizeof *notes) : NULL;
    if (!taken || !table || (mr_guard_apart() && !notes)) {
        mr_free(taken);
        mr_free(table);
        mr_free(notes);
        table = NULL;
        munmap(space, size);
        return false;
    }
    if (mr_guard_apart())
        hole = chunks > HOLE_MOST * HOLES ? HOLE_MOST : chunks / HOLES + 1;
    first_free = hole;                        /* the hole before the first */
    memset(taken, 1, hole);
    atomic_store_explicit(&mr_extents_end, base + chunks * MR_EXTENT_CHUNK, memory_order_relaxed);
    atomic_store_explicit(&mr_extents_base, base, memory_order_release);
    return true;
}

/* The first chunk, from `from` on, of a run of `run` and its hole; 0 if there is none. Lock held. */
static size_t chunks_take_from(size_t from, size_t run)
{
    MR_HELD(&lock);
    size_t length = 0;
    for (size_t i = from; i < chunks; i++) {
        length = taken[i] ? 0 : length + 1;
        if (length == run + hole) {
            size_t first = i + 1 - length;
            memset(taken + first, 1, length);
            while (first_free < chunks && taken[first_free])
                first_free++;
            return first;
        }
    }
    return 0;
}

static size_t chunks_take(size_t run)
{
    MR_HELD(&lock);
    if (!notes) /* allocations need not lie apart */
        return chunks_take_from(first_free, run);
    size_t first = next > first_free ? chunks_take_from(next, run) : 0;
    if (!first)
        first = chunks_take_from(first_free, run);
    if (!first)
        return 0;
    next = first + run + hole;
    memset(notes + first, 0, run * sizeof *notes);
    return first;
}

static size_t chunk_of(uintptr_t address)
{
    return (address - atomic_load_explicit(&mr_extents_base, memory_order_relaxed)) / MR_EXTENT_CHUNK;
}

static void publish(struct mr_extent *extent, struct mr_extent *as)
{
    size_t first = chunk_of(extent->base), run = extent->size / MR_EXTENT_CHUNK;
    for (size_t i = 0; i < run; i++)
        atomic_store_explicit(&table[first + i], as, memory_order_release);
}

/* The addresses of a run, and of the hole behind it, are free again. Lock held. */
static void chunks_give(size_t first, size_t run)
{
    MR_HELD(&lock);
    memset(taken + first, 0, run + hole);
    if (first < first_free)
        first_free = first;
}

struct mr_extent *mr_extent_take(size_t size)
{
    struct mr_extent *extent = NULL;
    mr_lock_take(&lock);
    size_t first = space_init() ? chunks_take(size / MR_EXTENT_CHUNK) : 0;
    if (first && !mr_list_empty(&spare)) {
        extent = MR_CONTAINER(spare.next, struct mr_extent, link);
        mr_list_remove(&extent->link);
    } else if (first) {
        extent = mr_calloc(1, sizeof *extent);
        if (extent)
            mr_list_init(&extent->link);
    }
    if (extent) {
        extent->base = atomic_load_explicit(&mr_extents_base, memory_order_relaxed) + first * MR_EXTENT_CHUNK;
        extent->size = size;
        extent->offset = 0;
        extent->is_file = false;
        extent->pages = extent->shift = 0;
        publish(extent, extent);
    } else if (first) {
        chunks_give(first, size / MR_EXTENT_CHUNK);
    }
    mr_lock_drop(&lock);
    return extent;
}

bool mr_extent_map(struct mr_extent *extent, int file, size_t offset, size_t bytes, bool accessible)
{
    int flags = MAP_SHARED | MAP_FIXED | MAP_NORESERVE, right = accessible ? PROT_READ | PROT_WRITE : PROT_NONE;
    if (mmap((void *)extent->base, bytes, right, flags, file, (off_t)offset) == MAP_FAILED) {
        mr_log(MR_LOG_INFO, "%zu bytes of a shared memory pool cannot be mapped: %s", bytes, strerror(errno));
        return false;
    }
    extent->is_file = true;
    extent->offset = offset;
    return true;
}

bool mr_extent_commit(struct mr_extent *extent, size_t start, size_t bytes)
{
    void *at = (void *)(extent->base + start);
    if (mprotect(at, bytes, PROT_READ | PROT_WRITE) != 0) {
        mr_log(MR_LOG_INFO, "the system has no %zu bytes for a memory pool: %s", bytes, strerror(errno));
        return false;
    }
    if (!extent->is_file)
        madvise(at, bytes, MADV_HUGEPAGE);
    return true;
}

void mr_extent_decommit(struct mr_extent *extent, size_t start, size_t bytes)
{
    void *at = (void *)(extent->base + start);
    if (!extent->is_file)
        madvise(at, bytes, MADV_FREE);
    if (mprotect(at, bytes, PROT_NONE) != 0)
        mr_log(MR_LOG_INFO, "%zu bytes of a memory pool at %p stay accessible: %s", bytes, at, strerror(errno));
}

/* No look-up finds the extent any more. Lock held. */
static void forget(struct mr_extent *extent)
{
    MR_HELD(&lock);
    publish(extent, NULL);
    if (notes)
        notes[chunk_of(extent->base)].freed = true;
}

static void end(struct mr_extent *extent)
{
    /* A fresh inaccessible mapping drops the pages and joins its neighbours. */
    const int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED;
    if (mmap((void *)extent->base, extent->size, PROT_NONE, flags, -1, 0) == MAP_FAILED) {
        /* The kernel has no room to split a mapping. The addresses are lost, private memory is not. */
        mr_log(MR_LOG_WARN, "%zu bytes of a memory pool at %#zx cannot be unmapped: %s", extent->size,
               (size_t)extent->base, strerror(errno));
        if (!extent->is_file)
            madvise((void *)extent->base, extent->size, MADV_DONTNEED);
        return;
    }
    mr_lock_take(&lock);
    forget(extent);
    chunks_give(chunk_of(extent->base), extent->size / MR_EXTENT_CHUNK);
    mr_list_append(&spare, &extent->link);
    mr_lock_drop(&lock);
}

/* Lays a guarded extent to rest, and returns the oldest one if too many rest now. */
static struct mr_extent *rest(struct mr_extent *extent)
{
    struct mr_extent *oldest = NULL;
    mr_lock_take(&lock);
    forget(extent);
    mr_list_append(&resting, &extent->link);
    rest_bytes += extent->pages;
    if (++rest_count > REST_MOST || rest_bytes > REST_BYTES) {
        oldest = MR_CONTAINER(resting.next, struct mr_extent, link);
        mr_list_remove(&oldest->link);
        rest_bytes -= oldest->pages;
        rest_count--;
    }
    mr_lock_drop(&lock);
    return oldest;
}

void mr_extent_give(struct mr_extent *extent)
{
    if (extent->pages && mr_guard_apart() && !mr_guard_on())
        extent = rest(extent);
    if (extent)
        end(extent);
}

struct mr_extent *mr_extent_at(uintptr_t address)
{
    return atomic_load_explicit(&table[chunk_of(address)], memory_order_acquire);
}

void mr_extent_note(const struct mr_extent *extent, size_t size)
{
    mr_lock_take(&lock);
    size_t first = chunk_of(extent->base);
    notes[first] = (struct note){extent->base + extent->shift, size, false};
    if (first >= notes_end)
        notes_end = first + 1;
    mr_lock_drop(&lock);
}

void mr_extents_visit(void (*visit)(uintptr_t base, size_t size, bool freed, void *data), void *data)
{
    mr_lock_take(&lock);
    for (size_t i = 0; i < notes_end; i++)
        if (notes[i].size)
            visit(notes[i].base, notes[i].size, notes[i].freed, data);
    mr_lock_drop(&lock);
}
