/* SPDX-License-Identifier: Apache-2.0 */
/* Host memory for the driver's own records, with fault injection.
 *
 * Every allocation that the driver makes for itself goes through here, so that a test can make each one fail in turn
 * (mr_alloc_fail_after) and watch the status that reaches the program. All functions are thread-safe. */
#ifndef MR_BASE_ALLOC_H
#define MR_BASE_ALLOC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Uninitialised memory of `size` bytes (size 0 gives a valid, unique pointer), or NULL. Free with mr_free. */
void *mr_alloc(size_t size) __attribute__((malloc, warn_unused_result));

/* Zeroed memory for `count` elements of `size` bytes, overflow checked, or NULL. */
void *mr_calloc(size_t count, size_t size) __attribute__((malloc, warn_unused_result));

/* As mr_calloc, at an address that is a multiple of `alignment` (a power of two). Free with mr_free. */
void *mr_calloc_aligned(size_t alignment, size_t size) __attribute__((malloc, warn_unused_result));

/* Changes the size; on failure returns NULL and leaves `memory` as it was. */
void *mr_realloc(void *memory, size_t size) __attribute__((warn_unused_result));

/* A copy of a byte range; NULL when memory is short. */
void *mr_memdup(const void *source, size_t size) __attribute__((warn_unused_result));

/* NULL is allowed. */
void mr_free(void *memory);

/* Grows a dynamic array: makes room for at least `needed` elements of `size` bytes in *array whose room is *capacity.
 * Doubles. False when memory is short; the array is then unchanged. */
bool mr_array_reserve(void **array, size_t *capacity, size_t needed, size_t size) __attribute__((warn_unused_result));

/* Tests only: the allocation number `n` from now on (1 = the next) fails, once; 0 turns injection off. */
void mr_alloc_fail_after(uint64_t n);

/* Tests only: as mr_alloc_fail_after, but counts and fails the calling thread's allocations only. Returns what was left
 * of the count before: 0 if that allocation has failed, or none was to. */
uint64_t mr_alloc_fail_mine(uint64_t n);

/* Tests only: allocations made since the process began, and those alive now. */
uint64_t mr_alloc_count(void);
uint64_t mr_alloc_live(void);

#endif
