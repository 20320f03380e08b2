/* SPDX-License-Identifier: Apache-2.0 */
/* Registered host memory: ranges of the program's own memory that the device may use.
 *
 * The device is the host's processor, so registering does little to the pages: they are made present, which tells
 * whether they may be written, and the range is remembered, because copies to and from registered memory are
 * asynchronous and pointer attributes tell of it. Ranges are kept sorted in one array. Programs register few ranges, so
 * lookups share a lock, and skip it when nothing is registered. */
#include "memory/space.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>

#include "base/alloc.h"
#include "base/log.h"
#include "base/mapped.h"
#include "object/context.h"
#include "object/machine.h"

#ifndef MADV_POPULATE_READ      /* Linux 5.14 */
#define MADV_POPULATE_READ 22
#define MADV_POPULATE_WRITE 23
#endif

#define USER_END ((uintptr_t)1 << 48)   /* hardware calls what is above unsupported */

/* Under `lock`, sorted by base, without overlaps. */
static struct mr_allocation *ranges;
static size_t room;
static _Atomic size_t count;
static mr_lock lock = MR_LOCK_INIT(REGISTERED);

bool mr_registered_any(void)
{
    return atomic_load_explicit(&count, memory_order_acquire) != 0;
}

/* Index of the first range that ends after `address`. */
static size_t position(uintptr_t address)
{
    size_t low = 0, high = atomic_load_explicit(&count, memory_order_relaxed);
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (ranges[middle].base + ranges[middle].size <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

bool mr_registered_find(uintptr_t address, struct mr_allocation *out)
{
    mr_lock_take(&lock);
    size_t at = position(address);
    bool found = at < atomic_load_explicit(&count, memory_order_relaxed) && ranges[at].base <= address;
    if (found)
        *out = ranges[at];
    mr_lock_drop(&lock);
    return found;
}

/* Makes all pages of the range present, as pinning would. False if there are none, or the program may not read or write
 * them. */
static bool make_present(uintptr_t base, size_t size, bool write)
{
    uintptr_t start = base & ~(uintptr_t)(mr_page_size - 1),
              end = (base + size + mr_page_size - 1) & ~(uintptr_t)(mr_page_size - 1);
    if (madvise((void *)start, end - start, write ? MADV_POPULATE_WRITE : MADV_POPULATE_READ) == 0)
        return true;
    return errno == EINVAL &&
           mr_mapped_allows(start, end - start, write); /* a system that can't be asked to make pages present */
}

CUresult mr_memory_register(struct mr_context *context, void *start, size_t size, unsigned flags)
{
    uintptr_t base = (uintptr_t)start, end;
    if (!base || !size || __builtin_add_overflow(base, size, &end))
        return CUDA_ERROR_INVALID_VALUE;
    if (end > USER_END)
        return CUDA_ERROR_NOT_SUPPORTED;
    if (size > mr_machine_memory())
        return CUDA_ERROR_OUT_OF_MEMORY;
    if (mr_memory_touches_space(base, size) || !make_present(base, size, !(flags & CU_MEMHOSTREGISTER_READ_ONLY)))
        return CUDA_ERROR_INVALID_VALUE;
    CUresult status = CUDA_SUCCESS;
    mr_lock_take(&lock);
    size_t old = atomic_load_explicit(&count, memory_order_relaxed), at = position(base);
    if (atomic_load_explicit(&context->destroyed, memory_order_acquire)) {
        status = CUDA_ERROR_CONTEXT_IS_DESTROYED; /* its registrations may have ended already */
    } else if (at < old && ranges[at].base < end) {
        status = CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED;
    } else if (!mr_array_reserve((void **)&ranges, &room, old + 1, sizeof *ranges)) {
        status = CUDA_ERROR_OUT_OF_MEMORY;
    } else {
        memmove(ranges + at + 1, ranges + at, (old - at) * sizeof *ranges);
        ranges[at] = (struct mr_allocation){.kind = MR_MEMORY_REGISTERED,
                                            .base = base,
                                            .size = size,
                                            .mapped = size,
                                            .flags = flags,
                                            .id = mr_memory_next_id(),
                                            .context = context,
                                            .device = context->device};
        atomic_store_explicit(&count, old + 1, memory_order_release);
    }
    mr_lock_drop(&lock);
    return status;
}

/* Lock held. */
static void remove_at(size_t at)
{
    MR_HELD(&lock);
    size_t left = atomic_load_explicit(&count, memory_order_relaxed) - 1;
    memmove(ranges + at, ranges + at + 1, (left - at) * sizeof *ranges);
    atomic_store_explicit(&count, left, memory_order_release);
}

/* Lock held. Gives the memory of the list back once nothing is in it. */
static void free_if_empty(void)
{
    MR_HELD(&lock);
    if (atomic_load_explicit(&count, memory_order_relaxed) > 0)
        return;
    mr_free(ranges);
    ranges = NULL;
    room = 0;
}

CUresult mr_memory_unregister(void *start)
{
    CUresult status = CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED;
    mr_lock_take(&lock);
    size_t at = position((uintptr_t)start);
    if (at < atomic_load_explicit(&count, memory_order_relaxed) && ranges[at].base == (uintptr_t)start) {
        remove_at(at);
        free_if_empty();
        status = CUDA_SUCCESS;
    }
    mr_lock_drop(&lock);
    return status;
}

void mr_registered_release_context(struct mr_context *context)
{
    mr_lock_take(&lock);
    for (size_t i = atomic_load_explicit(&count, memory_order_relaxed); i-- > 0;)
        if (ranges[i].context == context)
            remove_at(i);
    free_if_empty();
    mr_lock_drop(&lock);
}
