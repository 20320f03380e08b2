/* SPDX-License-Identifier: Apache-2.0 */
/* Addresses only grow, so allocations lie in a row in the order of their addresses. Those that were freed stay in it
 * until they are more than those that are alive; so long a second free of one is told from a free of something else. */
#include "kernel/heap_apart.h"

#include <string.h>
#include <sys/mman.h>

#include "base/alloc.h"
#include "base/log.h"

#define GRAIN 16u
#define GAP 64u /* at least, behind each allocation */
#define PAGE ((uintptr_t)4096)
#define MOST_ADDRESSES ((size_t)4 << 40)
#define LEAST_ADDRESSES ((size_t)1 << 32)
#define FREED_MOST 4096u /* so many, and as many as are alive, may lie in the row */
#define FREED_BYTES ((uint64_t)64 << 20)
#define LARGE ((uint64_t)64 << 10) /* memory of this size goes back at once */

struct piece {
    uint64_t first;
    uint64_t size : 63, freed : 1;
};

/* A change that was not told yet. */
struct change {
    uint64_t launch;
    struct mr_observed_heap what;
};

struct mr_heap_apart {
    unsigned char *base;
    size_t addresses, used; /* bytes of the range; those that were handed out */
    uint64_t limit, live;   /* bytes */
    struct piece *pieces;
    size_t count, room, freed;
    uint64_t freed_bytes; /* of those in the row that were freed */
    struct change *changes;
    size_t change_count, change_room;
    bool told_end;
};

struct mr_heap_apart *mr_heap_apart_new(uint64_t limit)
{
    struct mr_heap_apart *heap = mr_calloc(1, sizeof *heap);
    if (!heap)
        return NULL;
    heap->limit = limit;
    for (heap->addresses = MOST_ADDRESSES; heap->addresses >= LEAST_ADDRESSES; heap->addresses /= 2) {
        heap->base =
            mmap(NULL, heap->addresses, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (heap->base != MAP_FAILED)
            break;
    }
    if (heap->base == MAP_FAILED) {
        mr_free(heap);
        return NULL;
    }
    heap->used = LARGE; /* what lies before the first allocation is nobody's, as what lies behind the last one is */
    return heap;
}

void mr_heap_apart_free(struct mr_heap_apart *heap)
{
    if (!heap)
        return;
    munmap(heap->base, heap->addresses);
    mr_free(heap->pieces);
    mr_free(heap->changes);
    mr_free(heap);
}

/* `rows` with room for one more than `count`; NULL when memory is short: it stays as it is then. */
static void *grown(void *rows, size_t count, size_t *room, size_t row_bytes)
{
    if (count < *room)
        return rows;
    size_t more = *room ? 2 * *room : 64;
    void *larger = mr_realloc(rows, more * row_bytes);
    if (larger)
        *room = more;
    return larger;
}

/* Room for one more change; it is reserved before anything is done, so that what is done is also told. */
static bool can_tell(struct mr_heap_apart *heap)
{
    struct change *changes = grown(heap->changes, heap->change_count, &heap->change_room, sizeof *changes);
    if (changes)
        heap->changes = changes;
    return changes;
}

static bool has_room(struct mr_heap_apart *heap)
{
    struct piece *pieces = grown(heap->pieces, heap->count, &heap->room, sizeof *pieces);
    if (pieces)
        heap->pieces = pieces;
    return pieces;
}

/* Bytes of the heap that a request for `size` takes. */
static uint64_t taken_by(uint64_t size)
{
    return size ? (size + GRAIN - 1) / GRAIN * GRAIN : GRAIN;
}

static void tell(struct mr_heap_apart *heap, uint64_t launch, uint64_t first, size_t size,
                 enum mr_observed_heap_how how)
{
    heap->changes[heap->change_count++] = (struct change){launch, {(uintptr_t)first, size, how}};
}

/* The memory between two addresses goes back to the system; the addresses stay. */
static void give_back(uint64_t first, uint64_t end)
{
    uint64_t from = (first + PAGE - 1) / PAGE * PAGE, to = end / PAGE * PAGE;
    if (from < to)
        (void)madvise((void *)(uintptr_t)from, to - from, MADV_DONTNEED);
}

/* Those that were freed leave the row. */
static void forget_freed(struct mr_heap_apart *heap)
{
    uint64_t end = (uint64_t)(uintptr_t)heap->base;
    size_t kept = 0;
    for (size_t i = 0; i < heap->count; i++) {
        struct piece piece = heap->pieces[i];
        if (piece.freed)
            continue;
        if (piece.first - end >= LARGE)
            give_back(end, piece.first);
        end = piece.first + piece.size;
        heap->pieces[kept++] = piece;
    }
    give_back(end, (uint64_t)(uintptr_t)heap->base + heap->used);
    heap->count = kept;
    heap->freed = 0;
    heap->freed_bytes = 0;
}

uint64_t mr_heap_apart_allocate(struct mr_heap_apart *heap, uint64_t launch, uint64_t size, uint64_t alignment)
{
    if (alignment == 0 || (alignment & (alignment - 1)) != 0 || size > heap->limit)
        return 0;
    uint64_t taken = taken_by(size);
    if (taken > heap->limit - heap->live || !can_tell(heap) || !has_room(heap))
        return 0;
    alignment = alignment < GRAIN ? GRAIN : alignment;
    if (alignment > heap->addresses)
        return 0;
    uint64_t at = (uint64_t)(uintptr_t)heap->base + heap->used;
    uint64_t first = (at + alignment - 1) / alignment * alignment;
    uint64_t end = first + taken + GAP - (uint64_t)(uintptr_t)heap->base;
    if (end > heap->addresses) {
        if (!heap->told_end)
            mr_log(
                MR_LOG_WARN,
                "malloc() in kernels has used up the addresses that it has under an observer, and fails from now on");
        heap->told_end = true;
        return 0;
    }
    heap->used = end;
    heap->live += taken;
    heap->pieces[heap->count++] = (struct piece){.first = first, .size = size};
    tell(heap, launch, first, size, MR_OBSERVED_HEAP_ALLOCATED);
    return first;
}

/* The last allocation that begins at or below the address, or NULL. */
static struct piece *below(const struct mr_heap_apart *heap, uint64_t address)
{
    size_t low = 0, high = heap->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (heap->pieces[middle].first <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low ? &heap->pieces[low - 1] : NULL;
}

bool mr_heap_apart_release(struct mr_heap_apart *heap, uint64_t launch, uint64_t pointer)
{
    if (pointer == 0)
        return true;
    bool tells = can_tell(heap);
    struct piece *piece = below(heap, pointer);
    if (!piece || piece->first != pointer || piece->freed) {
        if (tells)
            tell(heap, launch, pointer, 0, MR_OBSERVED_HEAP_BAD_FREE);
        return false;
    }
    uint64_t size = piece->size;
    piece->freed = true;
    heap->live -= taken_by(size);
    heap->freed++;
    heap->freed_bytes += size;
    if (tells)
        tell(heap, launch, pointer, size, MR_OBSERVED_HEAP_FREED);
    if (size >= LARGE)
        give_back(pointer, pointer + size);
    if (heap->freed > heap->count / 2 + FREED_MOST || heap->freed_bytes > FREED_BYTES)
        forget_freed(heap);
    return true;
}

enum mr_heap_place mr_heap_apart_at(const struct mr_heap_apart *heap, uintptr_t address)
{
    uintptr_t offset = address - (uintptr_t)heap->base;
    if (offset >= heap->addresses)
        return MR_HEAP_ELSEWHERE;
    const struct piece *piece = below(heap, address);
    bool behind = piece && address - piece->first >= piece->size && address - piece->first < piece->size + GAP;
    return behind || offset < LARGE || offset >= heap->used ? MR_HEAP_FREE : MR_HEAP_LIVE;
}

struct mr_observed_heap *mr_heap_apart_take(struct mr_heap_apart *heap, uint64_t launch, size_t *count)
{
    size_t found = 0, kept = 0;
    for (size_t i = 0; i < heap->change_count; i++)
        found += heap->changes[i].launch == launch;
    *count = found;
    if (!found)
        return NULL;
    struct mr_observed_heap *out = mr_alloc(found * sizeof *out);
    found = 0;
    for (size_t i = 0; i < heap->change_count; i++) {
        struct change change = heap->changes[i];
        if (change.launch != launch)
            heap->changes[kept++] = change;
        else if (out)
            out[found++] = change.what;
    }
    heap->change_count = kept;
    return out;
}
