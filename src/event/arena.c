/* SPDX-License-Identifier: Apache-2.0 */
/* Where slots come from and go to, and mapping other processes' arenas; see arena.h.
 *
 * A slot that another process has open is not used again, since that process may still write to it. Who has it open
 * stands in the slot, process by process, so that one that was killed can be told: orphans are looked through when many
 * have gathered. */
#include "event/arena.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/log.h"

#define ORPHANS_MANY 64u
#define SWEEP_NS 100000000u     /* looking through many orphans takes milliseconds: not more often */

mr_lock mr_arena_lock = MR_LOCK_INIT(ARENA);
static struct mr_list own_arenas = {&own_arenas, &own_arenas}, other_arenas = {&other_arenas, &other_arenas};

static struct mr_arena_file *map(int fd)
{
    void *at = mmap(NULL, sizeof(struct mr_arena_file), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (at != MAP_FAILED)
        return at;
    mr_log(MR_LOG_INFO, "events of several processes cannot be mapped: %s", strerror(errno));
    return NULL;
}

static struct mr_arena *arena_new(void)
{
    struct mr_arena *arena = mr_calloc(1, sizeof *arena);
    if (arena)
        mr_list_init(&arena->link);
    return arena;
}

static void arena_free(struct mr_arena *arena)
{
    mr_free(arena->free);
    mr_free(arena->orphans);
    mr_free(arena);
}

static struct mr_arena *own_new(void)
{
    MR_HELD(&mr_arena_lock);
    struct mr_arena *arena = arena_new();
    if (!arena)
        return NULL;
    arena->own = true;
    arena->free = mr_calloc(MR_ARENA_SLOTS, sizeof *arena->free);
    arena->orphans = mr_calloc(MR_ARENA_SLOTS, sizeof *arena->orphans);
    if (!arena->free || !arena->orphans || !mr_share_create(sizeof(struct mr_arena_file), &arena->share)) {
        arena_free(arena);
        return NULL;
    }
    arena->file = map(arena->share.fd);
    if (!arena->file) {
        mr_share_destroy(&arena->share);
        arena_free(arena);
        return NULL;
    }
    mr_list_append(&own_arenas, &arena->link);
    return arena;
}

/* Is a slot open in a process that lives? Entries of others are taken out on the way. */
static bool is_open(struct mr_slot *slot)
{
    bool open = atomic_load(&slot->crowded) != 0;
    for (unsigned i = 0; i < MR_SLOT_OPENERS; i++) {
        uint64_t process = atomic_load(&slot->openers[i]);
        if (process && mr_process_lives(process))
            open = true;
        else if (process)
            atomic_compare_exchange_strong(&slot->openers[i], &process, 0);
    }
    return open;
}

static void orphans_sweep(struct mr_arena *arena)
{
    uint32_t kept = 0;
    arena->swept = mr_clock_ns();
    for (uint32_t i = 0; i < arena->orphan_count; i++) {
        uint32_t index = arena->orphans[i];
        if (is_open(&arena->file->slots[index]))
            arena->orphans[kept++] = index;
        else
            arena->free[arena->free_count++] = index;
    }
    arena->orphan_count = kept;
}

static bool slot_take(struct mr_arena *arena, uint32_t *index)
{
    if (!arena->free_count && arena->fresh < MR_ARENA_SLOTS) {
        *index = arena->fresh++;
        return true;
    }
    if (!arena->free_count && arena->orphan_count && mr_clock_ns() - arena->swept > SWEEP_NS)
        orphans_sweep(arena);
    if (!arena->free_count)
        return false;
    *index = arena->free[--arena->free_count];
    return true;
}

CUresult mr_arena_slot_new(uint64_t self, struct mr_arena **out, uint32_t *index)
{
    MR_HELD(&mr_arena_lock);
    struct mr_arena *arena = NULL;
    uint64_t nonce = 0;
    if (!self || !mr_share_random(&nonce, sizeof nonce))
        return CUDA_ERROR_OUT_OF_MEMORY;
    for (struct mr_list *link = own_arenas.next; link != &own_arenas && !arena; link = link->next) {
        struct mr_arena *candidate = MR_CONTAINER(link, struct mr_arena, link);
        if (slot_take(candidate, index))
            arena = candidate;
    }
    if (!arena && (!(arena = own_new()) || !slot_take(arena, index)))
        return CUDA_ERROR_OUT_OF_MEMORY;
    struct mr_slot *slot = &arena->file->slots[*index];
    atomic_store(&slot->lock, 0);
    atomic_store(&slot->latest, 0);   /* numbers go on where the slot's last event ended */
    atomic_store(&slot->lost, 0);
    atomic_store(&slot->nonce, nonce | 1);
    *out = arena;
    return CUDA_SUCCESS;
}

void mr_arena_slot_end(struct mr_arena *arena, uint32_t index)
{
    MR_HELD(&mr_arena_lock);
    struct mr_slot *slot = &arena->file->slots[index];
    /* Who opens it says so first and then looks at the nonce again: one of the two sees the other. */
    atomic_store(&slot->nonce, 0);
    bool open = atomic_load(&slot->crowded) != 0;
    for (unsigned i = 0; i < MR_SLOT_OPENERS && !open; i++)
        open = atomic_load(&slot->openers[i]) != 0;
    if (open)
        arena->orphans[arena->orphan_count++] = index;
    else
        arena->free[arena->free_count++] = index;
    if (arena->orphan_count >= ORPHANS_MANY && mr_clock_ns() - arena->swept > SWEEP_NS)
        orphans_sweep(arena);
}

CUresult mr_arena_open(const struct mr_share_handle *handle, struct mr_arena **out)
{
    MR_HELD(&mr_arena_lock);
    for (struct mr_list *link = other_arenas.next; link != &other_arenas; link = link->next) {
        struct mr_arena *arena = MR_CONTAINER(link, struct mr_arena, link);
        if (memcmp(&arena->share.token, &handle->token, sizeof handle->token) == 0) {
            arena->open++;
            *out = arena;
            return CUDA_SUCCESS;
        }
    }
    size_t size = 0;
    int fd = mr_share_open(handle, &size);
    if (fd < 0) {
        mr_log(MR_LOG_INFO, "an event of process %u cannot be opened: %s", handle->process, strerror(errno));
        return CUDA_ERROR_MAP_FAILED;
    }
    struct mr_arena *arena = size == sizeof(struct mr_arena_file) ? arena_new() : NULL;
    if (arena)
        arena->file = map(fd);
    close(fd);
    if (!arena || !arena->file) {
        mr_free(arena);
        return CUDA_ERROR_MAP_FAILED;
    }
    arena->share = (struct mr_share){.fd = -1, .token = handle->token};
    arena->open = 1;
    mr_list_append(&other_arenas, &arena->link);
    *out = arena;
    return CUDA_SUCCESS;
}

void mr_arena_close(struct mr_arena *arena)
{
    MR_HELD(&mr_arena_lock);
    if (arena->own || --arena->open > 0)
        return;
    mr_list_remove(&arena->link);
    munmap(arena->file, sizeof(struct mr_arena_file));
    arena_free(arena);
}
