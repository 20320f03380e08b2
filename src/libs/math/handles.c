/* SPDX-License-Identifier: Apache-2.0 */
/* A handle's value has the place, counted from 1, in its low 32 bits (times 8: pointers are even), the generation
 * above. */
#include "libs/math/handles.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

static struct {
    _Atomic(void *) object;
    _Atomic uint32_t generation;
} table[MR_MATH_HANDLES];

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static uint32_t next; /* where the search for a free place begins */

#define GENERATIONS 0x7fffu /* so that a handle is a positive number of 47 bits, as pointers are */

static void *handle_of(uint32_t place, uint32_t generation)
{
    return (void *)(uintptr_t)((uint64_t)(generation & GENERATIONS) << 32 | (uint64_t)(place + 1) << 3);
}

void *mr_math_handle_new(void *object)
{
    void *handle = NULL;
    pthread_mutex_lock(&lock);
    for (uint32_t i = 0; i < MR_MATH_HANDLES && !handle; i++) {
        uint32_t place = (next + i) % MR_MATH_HANDLES;
        if (atomic_load_explicit(&table[place].object, memory_order_relaxed))
            continue;
        uint32_t generation = atomic_fetch_add_explicit(&table[place].generation, 1, memory_order_relaxed) + 1;
        atomic_store_explicit(&table[place].object, object, memory_order_release);
        handle = handle_of(place, generation);
        next = place + 1;
    }
    pthread_mutex_unlock(&lock);
    return handle;
}

static uint32_t place_of(const void *handle)
{
    uintptr_t value = (uintptr_t)handle & 0xffffffffu;
    uintptr_t place = (value >> 3) - 1;
    if ((value & 7) || place >= MR_MATH_HANDLES ||
        handle_of((uint32_t)place, atomic_load_explicit(&table[place].generation, memory_order_relaxed)) != handle)
        return MR_MATH_HANDLES;
    return (uint32_t)place;
}

void *mr_math_handle_find(const void *handle)
{
    uint32_t place = place_of(handle);
    return place < MR_MATH_HANDLES ? atomic_load_explicit(&table[place].object, memory_order_acquire) : NULL;
}

void *mr_math_handle_end(const void *handle)
{
    pthread_mutex_lock(&lock);
    uint32_t place = place_of(handle);
    void *object = place < MR_MATH_HANDLES ? atomic_exchange(&table[place].object, NULL) : NULL;
    pthread_mutex_unlock(&lock);
    return object;
}

/* The place in the low 15 bits, the generation above. */
int mr_math_handle_number(const void *handle)
{
    uint64_t value = (uintptr_t)handle;
    return (int)((value >> 32 & 0xffff) << 15 | (value & 0xffffffffu) >> 3);
}

void *mr_math_handle_of_number(int number)
{
    uint64_t value = number < 0 ? 0 : (uint64_t)number;
    return (void *)(uintptr_t)((value >> 15) << 32 | (value & 0x7fff) << 3);
}
