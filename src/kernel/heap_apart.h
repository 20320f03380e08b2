/* SPDX-License-Identifier: Apache-2.0 */
/* The device heap for an observer: no address is handed out twice.
 *
 * So memory that was freed is not taken for what would lie in its place afterwards, whenever the observer learns of it,
 * and each allocation ends in a gap. What kernels allocate and free is noted, and told when their launch has ended,
 * before what it has touched (observe/observe.h).
 *
 * Addresses come from a range that is far larger than the heap; the memory behind those that were freed goes back to
 * the system. The lock is the caller's. */
#ifndef MR_KERNEL_HEAP_APART_H
#define MR_KERNEL_HEAP_APART_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "kernel/heap.h"
#include "observe/observe.h"

struct mr_heap_apart;

/* A heap of so many bytes; NULL when memory or addresses are short. */
struct mr_heap_apart *mr_heap_apart_new(uint64_t limit) __attribute__((warn_unused_result));
void mr_heap_apart_free(struct mr_heap_apart *heap); /* NULL is allowed */

/* As mr_heap_allocate and mr_heap_release, for one lane of the launch. */
uint64_t mr_heap_apart_allocate(struct mr_heap_apart *heap, uint64_t launch, uint64_t size, uint64_t alignment);
bool mr_heap_apart_release(struct mr_heap_apart *heap, uint64_t launch, uint64_t pointer);

enum mr_heap_place mr_heap_apart_at(const struct mr_heap_apart *heap, uintptr_t address);

/* What the launch has changed, in the order in which it was done, and forgets it. The caller frees it (mr_free). NULL
 * with *count 0: nothing; NULL with *count above it: memory is short, and it is forgotten. */
struct mr_observed_heap *mr_heap_apart_take(struct mr_heap_apart *heap, uint64_t launch, size_t *count);

#endif
