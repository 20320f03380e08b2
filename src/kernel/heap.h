/* SPDX-License-Identifier: Apache-2.0 */
/* The device heap: where malloc() in a kernel takes its memory from.
 *
 * One heap per context, of CU_LIMIT_MALLOC_HEAP_SIZE bytes, made at the context's first allocation from a kernel. What
 * a kernel allocates lives until a kernel frees it or the context ends. The heap's records stand outside of its memory,
 * so that a kernel that writes past its allocation harms only its own data. (CUDA C++ programming guide, dynamic global
 * memory allocation.)
 *
 * Where an observer looks at accesses when the heap is made, the heap hands no address out twice, and tells the
 * observer what kernels allocate and free (heap_apart.h). */
#ifndef MR_KERNEL_HEAP_H
#define MR_KERNEL_HEAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct mr_context;
struct mr_heap;
struct mr_launch;
struct mr_observed_heap;

/* The context's heap, made on first use; NULL when memory is short. Any thread. */
struct mr_heap *mr_heap_get(struct mr_context *context) __attribute__((warn_unused_result));

/* Allocates size[l] bytes for each lane l of `mask` of the launch: result[l] is the address, aligned to alignment[l]
 * bytes and to 16 at least, or 0 when the heap is full or the alignment is no power of two. A request of 0 bytes gets
 * an address of its own. `alignment` may be NULL: 16. */
void mr_heap_allocate(struct mr_heap *heap, uint64_t launch, uint32_t mask, const uint64_t *size,
                      const uint64_t *alignment, uint64_t *result);

/* Frees pointer[l] of each lane of `mask`; 0 is allowed. False if one of them is no live allocation of the heap; the
 * others are freed. */
bool mr_heap_release(struct mr_heap *heap, uint64_t launch, uint32_t mask, const uint64_t *pointer);

/* Where an address is in the heaps of all contexts. Any thread. */
enum mr_heap_place {
    MR_HEAP_ELSEWHERE,
    MR_HEAP_FREE, /* in a heap for an observer, close behind an allocation or where none has been */
    MR_HEAP_LIVE
};
enum mr_heap_place mr_heap_at(uintptr_t address);

/* Calls `give` with what the launch has allocated and freed, in the order in which it was done, if its context's heap
 * notes that, and forgets it. When its blocks have ended; no lock held. */
void mr_heap_give(const struct mr_launch *launch,
                  void (*give)(void *data, const struct mr_observed_heap *changes, size_t count), void *data);

/* Frees the context's heap, if it has one. Called when the context ends and nothing runs in it any more. */
void mr_heap_end(struct mr_context *context);

#endif
