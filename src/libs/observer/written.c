/* SPDX-License-Identifier: Apache-2.0 */
/* Two levels: chunks of 2 MiB, each of 512 pages of 4 KiB, each with 4,096 bits. A chunk or page is none, all, or has
 * something below it. */
#include "libs/observer/written.h"

#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { PAGE = 4096, PAGES = 512, WORD = 64, CHUNK = PAGE * PAGES };

/* A bit for each byte; 1: it has been written. */
struct page {
    uint64_t bits[PAGE / WORD];
};

struct chunk {
    struct page *page[PAGES]; /* NULL: none; ALL */
};

static struct page all_page;
static struct chunk all_chunk;
#define ALL_PAGE (&all_page)
#define ALL_CHUNK (&all_chunk)

struct obs_written {
    pthread_mutex_t lock;
    size_t count;
    struct chunk *chunk[]; /* NULL: none; ALL_CHUNK */
};

struct obs_written *obs_written_new(size_t size)
{
    size_t count = size / CHUNK + 1;
    struct obs_written *written = calloc(1, sizeof *written + count * sizeof(struct chunk *));
    if (!written)
        return NULL;
    pthread_mutex_init(&written->lock, NULL);
    written->count = count;
    return written;
}

static void free_chunk(struct chunk *chunk)
{
    if (!chunk || chunk == ALL_CHUNK)
        return;
    for (size_t i = 0; i < PAGES; i++)
        if (chunk->page[i] != ALL_PAGE)
            free(chunk->page[i]);
    free(chunk);
}

void obs_written_free(struct obs_written *written)
{
    for (size_t i = 0; written && i < written->count; i++)
        free_chunk(written->chunk[i]);
    if (written)
        pthread_mutex_destroy(&written->lock);
    free(written);
}

/* The bits from `first` up to `end` - 1 of a word; end is at most 64 and more than first. */
static uint64_t mask(size_t first, size_t end)
{
    return (UINT64_MAX << first) & (UINT64_MAX >> (WORD - end));
}

static void set_bits(struct page *page, size_t first, size_t end, bool to)
{
    for (size_t at = first, next; at < end; at = next) {
        size_t word = at / WORD * WORD;
        next = word + WORD < end ? word + WORD : end;
        uint64_t bits = mask(at - word, next - word);
        if (to)
            page->bits[at / WORD] |= bits;
        else
            page->bits[at / WORD] &= ~bits;
    }
}

/* Have all bits of the page this value? */
static bool is_full_of(const struct page *page, uint64_t value)
{
    for (size_t i = 0; i < PAGE / WORD; i++)
        if (page->bits[i] != value)
            return false;
    return true;
}

/* first up to end - 1 of the page become written, or (to: false) not. */
static void set_in_page(struct page **at, size_t first, size_t end, bool to)
{
    struct page *page = *at, *same = to ? ALL_PAGE : NULL;
    if (page == same)
        return;
    if (first == 0 && end == PAGE) {
        if (page != ALL_PAGE)
            free(page);
        *at = same;
        return;
    }
    if (!page || page == ALL_PAGE) {
        struct page *more = malloc(sizeof *more);
        if (!more) {
            *at = ALL_PAGE;
            return;
        }
        memset(more->bits, page ? 0xff : 0, sizeof more->bits);
        *at = page = more;
    }
    set_bits(page, first, end, to);
    if (is_full_of(page, to ? UINT64_MAX : 0)) {
        free(page);
        *at = same;
    }
}

static void set_in_chunk(struct chunk **at, size_t first, size_t end, bool to)
{
    struct chunk *chunk = *at, *same = to ? ALL_CHUNK : NULL;
    if (chunk == same)
        return;
    if (first == 0 && end == CHUNK) {
        free_chunk(chunk);
        *at = same;
        return;
    }
    if (!chunk || chunk == ALL_CHUNK) {
        struct chunk *more = malloc(sizeof *more);
        if (!more) {
            *at = ALL_CHUNK;
            return;
        }
        for (size_t i = 0; i < PAGES; i++)
            more->page[i] = chunk ? ALL_PAGE : NULL;
        *at = chunk = more;
    }
    for (size_t from = first, next; from < end; from = next) {
        size_t start = from / PAGE * PAGE;
        next = start + PAGE < end ? start + PAGE : end;
        set_in_page(&chunk->page[from / PAGE], from - start, next - start, to);
    }
}

static void set(struct obs_written *written, size_t first, size_t end, bool to)
{
    pthread_mutex_lock(&written->lock);
    for (size_t from = first, next; from < end; from = next) {
        size_t start = from / CHUNK * CHUNK;
        next = start + CHUNK < end ? start + CHUNK : end;
        set_in_chunk(&written->chunk[from / CHUNK], from - start, next - start, to);
    }
    pthread_mutex_unlock(&written->lock);
}

void obs_written_add(struct obs_written *written, size_t first, size_t end)
{
    set(written, first, end, true);
}

void obs_written_remove(struct obs_written *written, size_t first, size_t end)
{
    set(written, first, end, false);
}

/* The first byte from `at` on, below `end`, that has (written: true) or has not been written; else `end`. */
static size_t seek(const struct obs_written *map, size_t at, size_t end, bool written)
{
    while (at < end) {
        const struct chunk *chunk = map->chunk[at / CHUNK];
        if (!chunk || chunk == ALL_CHUNK) {
            if ((chunk == ALL_CHUNK) == written)
                return at;
            at = (at / CHUNK + 1) * CHUNK;
            continue;
        }
        const struct page *page = chunk->page[at % CHUNK / PAGE];
        if (!page || page == ALL_PAGE) {
            if ((page == ALL_PAGE) == written)
                return at;
            at = (at / PAGE + 1) * PAGE;
            continue;
        }
        uint64_t bits = page->bits[at % PAGE / WORD];
        bits = (written ? bits : ~bits) & (UINT64_MAX << at % WORD);
        if (bits) {
            at = at / WORD * WORD + (size_t)__builtin_ctzll(bits);
            return at < end ? at : end;
        }
        at = (at / WORD + 1) * WORD;
    }
    return end;
}

bool obs_written_gap(struct obs_written *written, size_t first, size_t end, size_t *gap, size_t *gap_end)
{
    pthread_mutex_lock(&written->lock);
    *gap = seek(written, first, end, false);
    *gap_end = *gap < end ? seek(written, *gap, end, true) : end;
    pthread_mutex_unlock(&written->lock);
    return *gap < end;
}
