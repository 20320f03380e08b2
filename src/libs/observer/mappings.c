/* SPDX-License-Identifier: Apache-2.0 */
/* Lists of memory, of its handles and of mappings: programs have few of them, and map them seldom. */
#include "libs/observer/mappings.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "base/mutex.h"
#include "libs/observer/generation.h"

struct memory {
    struct memory *next;
    uint64_t handles, mappings; /* how often handles were given and not released, and how many mappings there are */
    uintptr_t range;
    size_t size;
    bool is_file; /* a descriptor has stood for it, of this file: */
    dev_t device;
    ino_t inode;
};

/* Memory that was imported has a handle for each import. */
struct handle {
    struct handle *next;
    uint64_t handle, given;
    struct memory *memory;
};

struct mapping {
    struct mapping *next;
    struct memory *memory; /* NULL: its handle is not known */
    uintptr_t base;
    size_t size;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* guards what follows */
static struct memory *memories;
static struct handle *handles;
static struct mapping *mappings;

/* With the lock held: where the handle stands in the list, or the list's end. */
static struct handle **find(uint64_t handle)
{
    MR_MUTEX_HELD(&lock);
    struct handle **at = &handles;
    while (*at && (*at)->handle != handle)
        at = &(*at)->next;
    return at;
}

/* With the lock held: the memory that the file stands for, or NULL. */
static struct memory *find_file(const struct stat *file)
{
    MR_MUTEX_HELD(&lock);
    struct memory *memory = memories;
    while (memory && !(memory->is_file && memory->device == file->st_dev && memory->inode == file->st_ino))
        memory = memory->next;
    return memory;
}

static struct memory *add_memory(struct obs_operation *made, size_t size)
{
    MR_MUTEX_HELD(&lock);
    struct memory *memory = calloc(1, sizeof *memory);
    if (!memory)
        return NULL;
    memory->range = obs_generation_range(size);
    memory->size = size;
    memory->next = memories;
    memories = memory;
    obs_generation_made(made, MR_ALLOCATION_MAPPED, memory->range, size);
    return memory;
}

static bool add_handle(struct memory *memory, uint64_t number)
{
    MR_MUTEX_HELD(&lock);
    struct handle *handle = malloc(sizeof *handle);
    if (!handle)
        return false;
    *handle = (struct handle){handles, number, 1, memory};
    handles = handle;
    memory->handles++;
    return true;
}

/* With the lock held: the program has the handle once more. False: it is not known. */
static bool give_again(uint64_t number)
{
    MR_MUTEX_HELD(&lock);
    struct handle *handle = *find(number);
    if (!handle)
        return false;
    handle->given++;
    handle->memory->handles++;
    return true;
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
    if (!give_again(handle) && size > 0) {
        struct memory *memory = add_memory(made, size);
        if (memory && !add_handle(memory, handle))
            drop_unused(memory);
    }
    pthread_mutex_unlock(&lock);
}

/* Does the descriptor tell what it stands for? Descriptors of other drivers are no files, and all have one number. */
static bool is_told(int descriptor, struct stat *file)
{
    return fstat(descriptor, file) == 0 && S_ISREG(file->st_mode);
}

/* With the lock held: a descriptor of the file stands for the memory. */
static void set_file(struct memory *memory, const struct stat *file)
{
    MR_MUTEX_HELD(&lock);
    memory->is_file = true;
    memory->device = file->st_dev;
    memory->inode = file->st_ino;
}

void obs_mapping_exported(uint64_t handle, int descriptor)
{
    struct stat file;
    if (!is_told(descriptor, &file))
        return;
    pthread_mutex_lock(&lock);
    struct handle *known = *find(handle);
    if (known)
        set_file(known->memory, &file);
    pthread_mutex_unlock(&lock);
}

void obs_mapping_imported(struct obs_operation *made, uint64_t handle, int descriptor)
{
    enum { UNIT = 1 << 21 }; /* the size of memory is a multiple of it; the file has a label behind that */
    struct stat file;
    bool told = is_told(descriptor, &file);
    pthread_mutex_lock(&lock);
    if (!give_again(handle) && told) {
        struct memory *memory = find_file(&file);
        if (!memory && file.st_size >= UNIT)
            memory = add_memory(made, (size_t)file.st_size / UNIT * UNIT);
        if (memory)
            set_file(memory, &file);
        if (memory && !add_handle(memory, handle))
            drop_unused(memory);
    }
    pthread_mutex_unlock(&lock);
}

void obs_mapping_released(uint64_t handle)
{
    pthread_mutex_lock(&lock);
    struct handle **at = find(handle), *known = *at;
    if (known) {
        struct memory *memory = known->memory;
        memory->handles--;
        if (--known->given == 0) {
            *at = known->next;
            free(known);
        }
        drop_unused(memory);
    }
    pthread_mutex_unlock(&lock);
}

void obs_mapping_mapped(struct obs_operation *mapped, uint64_t handle, uintptr_t base, size_t size, size_t offset)
{
    pthread_mutex_lock(&lock);
    struct mapping *mapping = calloc(1, sizeof *mapping);
    struct handle *known = mapping ? *find(handle) : NULL;
    struct memory *memory = known ? known->memory : NULL;
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
