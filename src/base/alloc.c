/* SPDX-License-Identifier: Apache-2.0 */
/* The driver's own allocations: libc's allocator behind one gate that counts and can fail on request.
 *
 * The counters are relaxed atomics: they are read by tests that have quiesced the driver, and cost a nanosecond. */
#include "base/alloc.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

static _Atomic uint64_t allocations;
static _Atomic int64_t live;
static _Atomic uint64_t fail_at;
static _Thread_local uint64_t fail_mine __attribute__((tls_model("initial-exec")));

/* True when this allocation is the one that a test asked to fail. */
static bool gate_fails(void)
{
    uint64_t number = atomic_fetch_add_explicit(&allocations, 1, memory_order_relaxed) + 1;
    uint64_t target = atomic_load_explicit(&fail_at, memory_order_relaxed);
    if (__builtin_expect(fail_mine != 0, 0) && --fail_mine == 0)
        return true;
    if (__builtin_expect(target == 0 || number < target, 1))
        return false;
    return atomic_compare_exchange_strong(&fail_at, &target, 0);
}

static void *count_live(void *memory)
{
    if (memory)
        atomic_fetch_add_explicit(&live, 1, memory_order_relaxed);
    return memory;
}

void *mr_alloc(size_t size)
{
    return gate_fails() ? NULL : count_live(malloc(size ? size : 1));
}

void *mr_calloc(size_t count, size_t size)
{
    return gate_fails() ? NULL : count_live(calloc(count ? count : 1, size ? size : 1));
}

void *mr_calloc_aligned(size_t alignment, size_t size)
{
    void *memory = NULL;
    if (alignment < sizeof(void *))
        alignment = sizeof(void *);
    if (gate_fails() || posix_memalign(&memory, alignment, size ? size : 1) != 0)
        return NULL;
    memset(memory, 0, size);
    return count_live(memory);
}

void *mr_realloc(void *memory, size_t size)
{
    if (gate_fails())
        return NULL;
    void *moved = realloc(memory, size ? size : 1);
    return memory ? moved : count_live(moved);
}

void *mr_memdup(const void *source, size_t size)
{
    void *copy = mr_alloc(size);
    if (copy && size)
        memcpy(copy, source, size);
    return copy;
}

void mr_free(void *memory)
{
    if (!memory)
        return;
    atomic_fetch_sub_explicit(&live, 1, memory_order_relaxed);
    free(memory);
}

bool mr_array_reserve(void **array, size_t *capacity, size_t needed, size_t size)
{
    if (needed <= *capacity)
        return true;
    size_t room = *capacity ? *capacity : 8;
    while (room < needed) {
        if (room > SIZE_MAX / 2)
            return false;
        room *= 2;
    }
    if (size && room > SIZE_MAX / size)
        return false;
    void *moved = mr_realloc(*array, room * size);
    if (!moved)
        return false;
    *array = moved;
    *capacity = room;
    return true;
}

void mr_alloc_fail_after(uint64_t n)
{
    atomic_store(&fail_at, n ? atomic_load(&allocations) + n : 0);
}

uint64_t mr_alloc_fail_mine(uint64_t n)
{
    uint64_t left = fail_mine;
    fail_mine = n;
    return left;
}

uint64_t mr_alloc_count(void)
{
    return atomic_load(&allocations);
}

uint64_t mr_alloc_live(void)
{
    return (uint64_t)atomic_load(&live);
}
