/* SPDX-License-Identifier: Apache-2.0 */
/* The device heap: size classes in pages of 64 KiB, larger requests in runs of whole pages.
 *
 * Each page has a record: free, a slab of equal chunks with a bit per chunk, or part of a run. A pointer is checked
 * against the record before it
 * is freed, so that double and foreign frees are found. One lock per heap, taken once for all lanes of a warp. */
#include "kernel/heap.h"

#include <string.h>
#include <sys/mman.h>

#include "base/alloc.h"
#include "base/log.h"
#include "base/thread.h"
#include "kernel/heap_apart.h"
#include "kernel/launch.h"
#include "object/context.h"
#include "observe/hooks.h"

#define PAGE_BYTES (64u << 10)
#define CLASS_COUNT 21u
#define CHUNK_WORDS (PAGE_BYTES / 16 / 64)
#define NO_PAGE UINT32_MAX
#define HEAP_HOLE (1u << 20)

/* Powers of two and the steps halfway between them, multiples of 16, up to half a page. */
static const uint16_t class_bytes[CLASS_COUNT] = {16,   32,   48,   64,   96,   128,  192,  256,   384,   512,  768,
                                                  1024, 1536, 2048, 3072, 4096, 6144, 8192, 12288, 16384, 32768};

enum page_state { PAGE_FREE, PAGE_SLAB, PAGE_RUN, PAGE_BODY };

struct heap_page {
    uint8_t state;               /* enum page_state */
    uint8_t class;               /* SLAB */
    uint32_t used;               /* SLAB: chunks in use; RUN: pages of the run */
    uint32_t next, previous;     /* SLAB with a free chunk: its class's list */
    uint64_t *taken;             /* SLAB: a bit per chunk; kept for the page's next use */
};

struct mr_heap {
    struct mr_heap *next;
    unsigned long long context_id;
    mr_lock lock;
    struct mr_heap_apart *apart; /* in place of all that follows, if an observer looks; else NULL */
    unsigned char *map, *base;
    size_t map_bytes;
    uint32_t page_count, first_free;   /* no page below first_free is free */
    uint32_t partial[CLASS_COUNT];     /* slabs with a free chunk */
    struct heap_page pages[];
};

static mr_lock heaps_lock = MR_LOCK_INIT(HEAPS);
static struct mr_heap *heaps;

static struct mr_heap *heap_new(struct mr_context *context)
{
    size_t limit = atomic_load_explicit(&context->limits[CU_LIMIT_MALLOC_HEAP_SIZE], memory_order_relaxed);
    uint64_t pages = ((uint64_t)limit + PAGE_BYTES - 1) / PAGE_BYTES;
    if (pages == 0 || pages > UINT32_MAX / 2)
        return NULL;
    struct mr_heap *heap = mr_calloc(1, sizeof *heap + pages * sizeof(struct heap_page));
    if (!heap)
        return NULL;
    mr_lock_init(&heap->lock, MR_LOCK_HEAP);
    heap->context_id = context->id;
    if (mr_observes(MR_OBSERVE_ACCESS) && (heap->apart = mr_heap_apart_new(limit)))
        return heap;
    heap->map_bytes = (pages + 1) * PAGE_BYTES + 2 * (size_t)HEAP_HOLE;
    heap->map = mmap(NULL, heap->map_bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (heap->map == MAP_FAILED) {
        mr_free(heap);
        return NULL;
    }
    heap->base = (unsigned char *)(((uintptr_t)heap->map + HEAP_HOLE + PAGE_BYTES - 1) / PAGE_BYTES * PAGE_BYTES);
    if (mprotect(heap->base, pages * PAGE_BYTES, PROT_READ | PROT_WRITE) != 0) {
        munmap(heap->map, heap->map_bytes);
        mr_free(heap);
        return NULL;
    }
    heap->page_count = (uint32_t)pages;
    for (unsigned i = 0; i < CLASS_COUNT; i++)
        heap->partial[i] = NO_PAGE;
    return heap;
}

/* The context's heap, or NULL. Lock held. */
static struct mr_heap *find(const struct mr_context *context)
{
    MR_HELD(&heaps_lock);
    struct mr_heap *heap = heaps;
    while (heap && heap->context_id != context->id)
        heap = heap->next;
    return heap;
}

struct mr_heap *mr_heap_get(struct mr_context *context)
{
    mr_lock_take(&heaps_lock);
    struct mr_heap *heap = find(context);
    if (!heap && (heap = heap_new(context))) {
        heap->next = heaps;
        heaps = heap;
    }
    mr_lock_drop(&heaps_lock);
    return heap;
}

static enum mr_heap_place place_in(struct mr_heap *heap, uintptr_t address)
{
    if (!heap->apart)
        return address - (uintptr_t)heap->base < (uintptr_t)heap->page_count * PAGE_BYTES ? MR_HEAP_LIVE
                                                                                          : MR_HEAP_ELSEWHERE;
    mr_lock_take(&heap->lock);
    enum mr_heap_place place = mr_heap_apart_at(heap->apart, address);
    mr_lock_drop(&heap->lock);
    return place;
}

enum mr_heap_place mr_heap_at(uintptr_t address)
{
    enum mr_heap_place place = MR_HEAP_ELSEWHERE;
    mr_lock_take(&heaps_lock);
    for (struct mr_heap *heap = heaps; heap && place == MR_HEAP_ELSEWHERE; heap = heap->next)
        place = place_in(heap, address);
    mr_lock_drop(&heaps_lock);
    return place;
}

void mr_heap_give(const struct mr_launch *launch,
                  void (*give)(void *data, const struct mr_observed_heap *changes, size_t count), void *data)
{
    size_t count = 0;
    struct mr_observed_heap *changes = NULL;
    mr_lock_take(&heaps_lock);
    struct mr_heap *heap = find(launch->context);
    mr_lock_drop(&heaps_lock);
    if (!heap || !heap->apart)
        return;
    mr_lock_take(&heap->lock);
    changes = mr_heap_apart_take(heap->apart, launch->id, &count);
    mr_lock_drop(&heap->lock);
    if (changes)
        give(data, changes, count);
    else if (count)
        mr_log(MR_LOG_WARN, "memory is short: an observer is not told what a kernel has allocated");
    mr_free(changes);
}

void mr_heap_end(struct mr_context *context)
{
    mr_lock_take(&heaps_lock);
    struct mr_heap **link = &heaps;
    while (*link && (*link)->context_id != context->id)
        link = &(*link)->next;
    struct mr_heap *heap = *link;
    if (heap)
        *link = heap->next;
    mr_lock_drop(&heaps_lock);
    if (!heap)
        return;
    for (uint32_t i = 0; i < heap->page_count; i++)
        mr_free(heap->pages[i].taken);
    if (heap->map)
        munmap(heap->map, heap->map_bytes);
    mr_heap_apart_free(heap->apart);
    mr_free(heap);
}

/* First fit over the pages: the index of `count` free ones in a row, the first of them aligned to `alignment` bytes,
 * or NO_PAGE. */
static uint32_t find_pages(struct mr_heap *heap, uint32_t count, uint64_t alignment)
{
    uint32_t run = 0;
    for (uint32_t i = heap->first_free; i < heap->page_count; i++) {
        bool begins = run || ((uintptr_t)heap->base + (size_t)i * PAGE_BYTES) % alignment == 0;
        run = heap->pages[i].state == PAGE_FREE && begins ? run + 1 : 0;
        if (run == count) {
            uint32_t start = i + 1 - count;
            if (start == heap->first_free)
                heap->first_free = i + 1;
            return start;
        }
    }
    return NO_PAGE;
}

static void list_insert(struct mr_heap *heap, uint32_t index)
{
    struct heap_page *page = &heap->pages[index];
    page->previous = NO_PAGE;
    page->next = heap->partial[page->class];
    if (page->next != NO_PAGE)
        heap->pages[page->next].previous = index;
    heap->partial[page->class] = index;
}

static void list_remove(struct mr_heap *heap, uint32_t index)
{
    struct heap_page *page = &heap->pages[index];
    if (page->next != NO_PAGE)
        heap->pages[page->next].previous = page->previous;
    if (page->previous != NO_PAGE)
        heap->pages[page->previous].next = page->next;
    else
        heap->partial[page->class] = page->next;
}

static uint32_t new_slab(struct mr_heap *heap, unsigned class)
{
    uint32_t index = find_pages(heap, 1, PAGE_BYTES);
    if (index == NO_PAGE)
        return NO_PAGE;
    struct heap_page *page = &heap->pages[index];
    if (page->taken)
        memset(page->taken, 0, CHUNK_WORDS * sizeof *page->taken);
    else if (!(page->taken = mr_calloc(CHUNK_WORDS, sizeof *page->taken))) {
        if (index < heap->first_free)
            heap->first_free = index;
        return NO_PAGE;
    }
    page->state = PAGE_SLAB;
    page->class = (uint8_t)class;
    page->used = 0;
    list_insert(heap, index);
    return index;
}

static uint64_t allocate_chunk(struct mr_heap *heap, unsigned class)
{
    uint32_t index = heap->partial[class];
    if (index == NO_PAGE && (index = new_slab(heap, class)) == NO_PAGE)
        return 0;
    struct heap_page *page = &heap->pages[index];
    uint32_t capacity = PAGE_BYTES / class_bytes[class], word = 0;
    while (page->taken[word] == UINT64_MAX)
        word++;
    uint32_t chunk = word * 64 + (uint32_t)__builtin_ctzll(~page->taken[word]);
    page->taken[word] |= 1ull << (chunk % 64);
    if (++page->used == capacity)
        list_remove(heap, index);
    return (uint64_t)(uintptr_t)(heap->base + (size_t)index * PAGE_BYTES + (size_t)chunk * class_bytes[class]);
}

/* Slabs begin where pages do, so that a chunk is aligned as far as its class is. */
static uint64_t allocate_one(struct mr_heap *heap, uint64_t size, uint64_t alignment)
{
    if (alignment == 0 || (alignment & (alignment - 1)) != 0)
        return 0;
    /* A request of 0 bytes gets an address of its own, too, as on hardware. */
    for (unsigned class = 0; class < CLASS_COUNT; class ++)
        if (size <= class_bytes[class] && class_bytes[class] % alignment == 0)
            return allocate_chunk(heap, class);
    if (size > (uint64_t)heap->page_count * PAGE_BYTES)
        return 0;
    uint32_t count = (uint32_t)((size + PAGE_BYTES - 1) / PAGE_BYTES), index = find_pages(heap, count, alignment);
    if (index == NO_PAGE)
        return 0;
    heap->pages[index].state = PAGE_RUN;
    heap->pages[index].used = count;
    for (uint32_t i = 1; i < count; i++)
        heap->pages[index + i].state = PAGE_BODY;
    return (uint64_t)(uintptr_t)(heap->base + (size_t)index * PAGE_BYTES);
}

static void free_pages(struct mr_heap *heap, uint32_t index, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        heap->pages[index + i].state = PAGE_FREE;
    if (index < heap->first_free)
        heap->first_free = index;
}

static bool release_one(struct mr_heap *heap, uint64_t pointer)
{
    uint64_t offset = pointer - (uint64_t)(uintptr_t)heap->base;
    if (pointer == 0)
        return true;
    if (offset >= (uint64_t)heap->page_count * PAGE_BYTES)
        return false;
    uint32_t index = (uint32_t)(offset / PAGE_BYTES), inner = (uint32_t)(offset % PAGE_BYTES);
    struct heap_page *page = &heap->pages[index];
    if (page->state == PAGE_RUN && inner == 0) {
        free_pages(heap, index, page->used);
        return true;
    }
    if (page->state != PAGE_SLAB)
        return false;
    uint32_t bytes = class_bytes[page->class], chunk = inner / bytes;
    if (inner % bytes != 0 || !(page->taken[chunk / 64] >> (chunk % 64) & 1))
        return false;
    page->taken[chunk / 64] &= ~(1ull << (chunk % 64));
    if (page->used-- == PAGE_BYTES / bytes)
        list_insert(heap, index);
    if (page->used == 0) {
        list_remove(heap, index);
        free_pages(heap, index, 1);
    }
    return true;
}

void mr_heap_allocate(struct mr_heap *heap, uint64_t launch, uint32_t mask, const uint64_t *size,
                      const uint64_t *alignment, uint64_t *result)
{
    mr_lock_take(&heap->lock);
    for (; mask; mask &= mask - 1) {
        unsigned lane = (unsigned)__builtin_ctz(mask);
        uint64_t aligned = alignment ? alignment[lane] : 16;
        result[lane] = heap->apart ? mr_heap_apart_allocate(heap->apart, launch, size[lane], aligned)
                                   : allocate_one(heap, size[lane], aligned);
    }
    mr_lock_drop(&heap->lock);
}

bool mr_heap_release(struct mr_heap *heap, uint64_t launch, uint32_t mask, const uint64_t *pointer)
{
    bool good = true;
    mr_lock_take(&heap->lock);
    for (; mask; mask &= mask - 1) {
        uint64_t one = pointer[__builtin_ctz(mask)];
        good = (heap->apart ? mr_heap_apart_release(heap->apart, launch, one) : release_one(heap, one)) && good;
    }
    mr_lock_drop(&heap->lock);
    return good;
}
