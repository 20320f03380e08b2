/* SPDX-License-Identifier: Apache-2.0 */
/* Two lists, of memory and of mappings: programs have few of both, and map them seldom. */
#include "libs/observer/mappings.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>

#include "base/mutex.h"
#include "libs/observer/generation.h"

struct memory {
    struct memory *next;
    uint64_t handle; /* 0: released, and mapped still */
    uint64_t handles, mappings;
    uintptr_t range;
    size_t size;
};

struct mapping {
    struct mapping *next;
    struct memory *memory; /* NULL: its handle is not known */
    uintptr_t base;
    size_t size;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* guards what follows */
static struct memory *memories;
static struct mapping *mappings;

/* With the lock held. */
static struct memory *find(uint64_t handle)
{
    MR_MUTEX_HELD(&lock);
    struct memory *memory = memories;
    while (memory && memory->handle != handle)
        memory = memory->next;
    return memory;
}

/* With the lock held: forgets the memory if nobody has it any more. */
static void drop_unused(struct memory *memory)
{
    MR_MUTEX_HELD(&lock);
    struct memory **at = &memories;
    if (memory->handles > 0 || memory->mappings > 0)
        return;
    while (*at != memory)
        at = &(*at)->next;
    *at = memory->next;
    obs_generation_over(memory->range);
    free(memory);
}

void obs_mapping_created(struct obs_operation *made, uint64_t handle, size_t size)
{
    pthread_mutex_lock(&lock);
    struct memory *memory = find(handle);
    if (!memory && size > 0 && (memory = calloc(1, sizeof *memory))) {
        memory->handle = handle;
        memory->range = obs_generation_range(size);
        memory->size = size;
        memory->next = memories;
        memories = memory;
        obs_generation_made(made, MR_ALLOCATION_MAPPED, memory->range, size);
    }
    if (memory)
        memory->handles++;
    pthread_mutex_unlock(&lock);
}

void obs_mapping_released(uint64_t handle)
{
    pthread_mutex_lock(&lock);
    struct memory *memory = find(handle);
    if (memory && --memory->handles == 0) {
        memory->handle = 0;
        drop_unused(memory);
    }
    pthread_mutex_unlock(&lock);
}

void obs_mapping_mapped(struct obs_operation *mapped, uint64_t handle, uintptr_t base, size_t size, size_t offset)
{
    pthread_mutex_lock(&lock);
    struct mapping *mapping = calloc(1, sizeof *mapping);
    struct memory *memory = mapping ? find(handle) : NULL;
    if (memory && (offset > memory->size || size > memory->size - offset))
        memory = NULL;
    if (mapping) {
        *mapping = (struct mapping){mappings, memory, base, size};
        mappings = mapping;
    }
    if (memory) {
        memory->mappings++;
        obs_generation_alias(mapped, MR_ALLOCATION_MAPPED, base, size, memory->range + offset);
    } else {
        obs_generation_made(mapped, MR_ALLOCATION_MAPPED, base, size);
    }
    pthread_mutex_unlock(&lock);
}

void obs_mapping_unmapped(struct obs_operation *unmapped, uintptr_t base, size_t size)
{
    pthread_mutex_lock(&lock);
    for (struct mapping **at = &mappings; *at;) {
        struct mapping *mapping = *at;
        if (mapping->base < base || mapping->base - base >= size) {
            at = &mapping->next;
            continue;
        }
        *at = mapping->next;
        obs_generation_ended(unmapped, mapping->base);
        if (mapping->memory) {
            mapping->memory->mappings--;
            drop_unused(mapping->memory);
        }
        free(mapping);
    }
    pthread_mutex_unlock(&lock);
}
