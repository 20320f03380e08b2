/* SPDX-License-Identifier: Apache-2.0 */

/*
 * An arena: memory that is given out piece by piece and freed all at once. The
 * syntax tree and everything it refers to lives in one. Not thread-safe.
 */
#ifndef MR_PTX_ARENA_H
#define MR_PTX_ARENA_H

#include <stddef.h>

struct mr_ptx_arena;

/* NULL when memory is short. */
struct mr_ptx_arena *mr_ptx_arena_create(void);

/* NULL is allowed. */
void mr_ptx_arena_destroy(struct mr_ptx_arena *arena);

/* Zeroed memory aligned to 8 bytes, or NULL when memory is short. */
void *mr_ptx_arena_alloc(struct mr_ptx_arena *arena, size_t size) __attribute__((warn_unused_result));

#endif
