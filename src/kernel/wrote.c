/* SPDX-License-Identifier: Apache-2.0 */
/* What a launch has written until now: see wrote.h.
 *
 * Pages of 4 KiB have bits of their own once something in them is written. The pages of a chunk of 8 MiB stand in a
 * table, and chunks in a list for each bucket of a hash table. Nothing is taken out before the end, and what is put in
 * is put in by one exchange, so no lock is needed. */
#include "kernel/wrote.h"

#include "base/alloc.h"

#define PAGE_BITS 12u
#define PAGE ((uint64_t)1 << PAGE_BITS)
#define CHUNK_PAGES 2048u
#define BUCKETS 512u
#define WORDS (PAGE / 64)

struct page {
    _Atomic uint64_t bits[WORDS];
};

struct chunk {
    struct chunk *next;
    uint64_t number; /* address / 8 MiB */
    _Atomic(struct page *) pages[CHUNK_PAGES];
};

struct mr_wrote {
    atomic_bool is_short;
    _Atomic(struct chunk *) buckets[BUCKETS];
};

_Atomic size_t mr_wrote_most = (size_t)256 << 20;
static _Atomic size_t taken; /* bytes, of all launches */

static void *take(struct mr_wrote *wrote, size_t bytes)
{
    void *made = NULL;
    if (atomic_fetch_add_explicit(&taken, bytes, memory_order_relaxed) + bytes <= atomic_load(&mr_wrote_most))
        made = mr_calloc(1, bytes);
    if (!made) {
        atomic_fetch_sub_explicit(&taken, bytes, memory_order_relaxed);
        if (wrote)
            atomic_store_explicit(&wrote->is_short, true, memory_order_relaxed);
    }
    return made;
}

static void give(void *memory, size_t bytes)
{
    mr_free(memory);
    atomic_fetch_sub_explicit(&taken, bytes, memory_order_relaxed);
}

struct mr_wrote *mr_wrote_new(void)
{
    return take(NULL, sizeof(struct mr_wrote));
}

void mr_wrote_free(struct mr_wrote *wrote)
{
    if (!wrote)
        return;
    for (unsigned i = 0; i < BUCKETS; i++)
        for (struct chunk *chunk = atomic_load(&wrote->buckets[i]), *next; chunk; chunk = next) {
            next = chunk->next;
            for (unsigned page = 0; page < CHUNK_PAGES; page++)
                if (atomic_load_explicit(&chunk->pages[page], memory_order_relaxed))
                    give(atomic_load(&chunk->pages[page]), sizeof(struct page));
            give(chunk, sizeof *chunk);
        }
    give(wrote, sizeof *wrote);
}

/* NULL: there is none, and with `make`, memory is short. */
static struct chunk *chunk_of(struct mr_wrote *wrote, uint64_t number, bool make)
{
    _Atomic(struct chunk *) *bucket = &wrote->buckets[(number * UINT64_C(0x9e3779b97f4a7c15)) >> 55];
    struct chunk *head = atomic_load_explicit(bucket, memory_order_acquire), *made = NULL;
    for (;;) {
        for (struct chunk *at = head; at; at = at->next)
            if (at->number == number) {
                if (made)
                    give(made, sizeof *made);
                return at;
            }
        if (!made && (!make || !(made = take(wrote, sizeof *made))))
            return NULL;
        made->number = number;
        made->next = head;
        if (atomic_compare_exchange_strong_explicit(bucket, &head, made, memory_order_acq_rel, memory_order_acquire))
            return made;
    }
}

/* The page that holds the address, as chunk_of. */
static struct page *page_of(struct mr_wrote *wrote, uint64_t address, bool make)
{
    struct chunk *chunk = chunk_of(wrote, address / PAGE / CHUNK_PAGES, make);
    if (!chunk)
        return NULL;
    _Atomic(struct page *) *place = &chunk->pages[address / PAGE % CHUNK_PAGES];
    struct page *page = atomic_load_explicit(place, memory_order_acquire);
    if (page || !make)
        return page;
    struct page *made = take(wrote, sizeof *made);
    if (!made)
        return NULL;
    if (atomic_compare_exchange_strong_explicit(place, &page, made, memory_order_acq_rel, memory_order_acquire))
        return made;
    give(made, sizeof *made);
    return page;
}

/* Bits first up to end - 1 of a word; first < end <= 64. */
static uint64_t bits_of(unsigned first, unsigned end)
{
    return (UINT64_MAX >> (64 - (end - first))) << first;
}

void mr_wrote_add(struct mr_wrote *wrote, uint64_t from, uint64_t to)
{
    while (from < to) {
        uint64_t page_end = (from | (PAGE - 1)) + 1, end = to < page_end || !page_end ? to : page_end;
        struct page *page = page_of(wrote, from, true);
        for (uint64_t at = from; page && at < end;) {
            uint64_t word_end = at - at % 64 + 64;
            unsigned first = (unsigned)(at % 64), last = end < word_end ? (unsigned)(end % 64) : 64;
            _Atomic uint64_t *word = &page->bits[at % PAGE / 64];
            uint64_t bits = bits_of(first, last);
            if ((atomic_load_explicit(word, memory_order_relaxed) & bits) != bits)
                atomic_fetch_or_explicit(word, bits, memory_order_relaxed);
            at += last - first;
        }
        from = end;
    }
}

/* The first byte in from up to to - 1 that is written, or isn't; `to` if there is none. */
static uint64_t first_that(struct mr_wrote *wrote, uint64_t from, uint64_t to, bool written)
{
    while (from < to) {
        uint64_t page_end = (from | (PAGE - 1)) + 1, end = to < page_end || !page_end ? to : page_end;
        struct page *page = page_of(wrote, from, false);
        if (!page && !written)
            return from;
        while (page && from < end) {
            uint64_t word = atomic_load_explicit(&page->bits[from % PAGE / 64], memory_order_relaxed);
            word = (written ? word : ~word) >> (from % 64);
            if (word) {
                from += (unsigned)__builtin_ctzll(word);
                return from < to ? from : to;
            }
            from += 64 - from % 64;
        }
        from = end;
    }
    return to;
}

bool mr_wrote_gap(struct mr_wrote *wrote, uint64_t from, uint64_t to, uint64_t *gap, uint64_t *gap_end)
{
    if (mr_wrote_is_short(wrote))
        return false;
    *gap = first_that(wrote, from, to, false);
    if (*gap >= to)
        return false;
    *gap_end = first_that(wrote, *gap, to, true);
    return true;
}

bool mr_wrote_is_short(const struct mr_wrote *wrote)
{
    return atomic_load_explicit(&wrote->is_short, memory_order_relaxed);
}
