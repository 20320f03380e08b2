/* SPDX-License-Identifier: Apache-2.0 */

/*
 * The arena of a syntax tree: a list of chunks, each twice the size of the one
 * before up to a limit. A request larger than a chunk gets one of its own,
 * behind the current chunk, so that the room left in that is not lost.
 */
#include "ptx/arena.h"

#include <stdint.h>

#include "base/alloc.h"

#define CHUNK_FIRST ((size_t)16 << 10)
#define CHUNK_LAST ((size_t)1 << 20)

struct chunk {
    struct chunk *next;
    size_t size, used; /* of `data` */
    max_align_t data[];
};

struct mr_ptx_arena {
    struct chunk *chunks; /* the current one first */
    size_t next_size;
};

struct mr_ptx_arena *mr_ptx_arena_create(void)
{
    struct mr_ptx_arena *arena = mr_calloc(1, sizeof *arena);
    if (arena)
        arena->next_size = CHUNK_FIRST;
    return arena;
}

void mr_ptx_arena_destroy(struct mr_ptx_arena *arena)
{
    if (!arena)
        return;
    for (struct chunk *chunk = arena->chunks; chunk;) {
        struct chunk *next = chunk->next;
        mr_free(chunk);
        chunk = next;
    }
    mr_free(arena);
}

static struct chunk *chunk_create(size_t size)
{
    if (size > SIZE_MAX - sizeof(struct chunk))
        return NULL;
    struct chunk *chunk = mr_calloc(1, sizeof *chunk + size);
    if (chunk)
        chunk->size = size;
    return chunk;
}

void *mr_ptx_arena_alloc(struct mr_ptx_arena *arena, size_t size)
{
    if (size > SIZE_MAX - 7)
        return NULL;
    size = (size + 7) & ~(size_t)7;
    struct chunk *chunk = arena->chunks;
    if (chunk && chunk->size - chunk->used >= size) {
        void *memory = (char *)chunk->data + chunk->used;
        chunk->used += size;
        return memory;
    }
    if (size > arena->next_size / 2) {
        struct chunk *own = chunk_create(size);
        if (!own)
            return NULL;
        own->used = size;
        if (chunk) {
            own->next = chunk->next;
            chunk->next = own;
        } else {
            arena->chunks = own;
        }
        return own->data;
    }
    struct chunk *fresh = chunk_create(arena->next_size);
    if (!fresh)
        return NULL;
    if (arena->next_size < CHUNK_LAST)
        arena->next_size *= 2;
    fresh->next = chunk;
    fresh->used = size;
    arena->chunks = fresh;
    return fresh->data;
}
