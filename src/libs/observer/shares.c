/* SPDX-License-Identifier: Apache-2.0 */
/* A list of what is shared: programs share few allocations, and seldom. */
#include "libs/observer/shares.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/mutex.h"
#include "libs/observer/generation.h"

struct share {
    struct share *next;
    CUmemPoolPtrExportData data;
    uintptr_t target;
    bool own; /* this process has exported it: `target` is its allocation */
    bool freed; /* an own one, whose allocation has been freed */
    uint64_t imports;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* guards what follows */
static struct share *shares;
_Atomic size_t obs_share_exports;

/* With the lock held. */
static struct share *find(const CUmemPoolPtrExportData *data)
{
    MR_MUTEX_HELD(&lock);
    struct share *share = shares;
    while (share && (share->freed || memcmp(&share->data, data, sizeof *data) != 0))
        share = share->next;
    return share;
}

static struct share *add(const CUmemPoolPtrExportData *data, uintptr_t target, bool own)
{
    MR_MUTEX_HELD(&lock);
    struct share *share = malloc(sizeof *share);
    if (!share)
        return NULL;
    *share = (struct share){.next = shares, .data = *data, .target = target, .own = own};
    shares = share;
    if (own)
        atomic_fetch_add_explicit(&obs_share_exports, 1, memory_order_relaxed);
    return share;
}

/* With the lock held: forgets it if nobody can come to it any more. */
static void drop_unused(struct share *share)
{
    MR_MUTEX_HELD(&lock);
    struct share **at = &shares;
    if (share->imports > 0 || (share->own && !share->freed))
        return;
    while (*at != share)
        at = &(*at)->next;
    *at = share->next;
    if (!share->own)
        obs_generation_over(share->target);
    free(share);
}

void obs_share_exported(const CUmemPoolPtrExportData *data, uintptr_t base)
{
    pthread_mutex_lock(&lock);
    if (!find(data))
        (void)add(data, base, true); /* without it, an import counts as memory of its own */
    pthread_mutex_unlock(&lock);
}

void obs_share_freed(uintptr_t base)
{
    pthread_mutex_lock(&lock);
    for (struct share *share = shares, *next; share; share = next) {
        next = share->next;
        if (!share->own || share->freed || share->target != base)
            continue;
        share->freed = true;
        atomic_fetch_sub_explicit(&obs_share_exports, 1, memory_order_relaxed);
        drop_unused(share);
    }
    pthread_mutex_unlock(&lock);
}

/* With the lock held: is the import of the share at `base` alive? */
static bool is_there(uintptr_t base, uintptr_t target)
{
    struct obs_generation_view view;
    return obs_generation_at(base, UINT64_MAX, &view) && view.alive && view.base == base && view.target == target;
}

bool obs_share_imported(struct obs_operation *made, const CUmemPoolPtrExportData *data, uintptr_t base, size_t size)
{
    pthread_mutex_lock(&lock);
    struct share *share = find(data);
    if (!share && (share = add(data, obs_generation_range(size), false)))
        obs_generation_made(made, MR_ALLOCATION_IMPORTED, share->target, size);
    if (share && !is_there(base, share->target)) {
        share->imports++;
        obs_generation_alias(made, MR_ALLOCATION_IMPORTED, base, size, share->target);
    }
    pthread_mutex_unlock(&lock);
    return share != NULL;
}

void obs_share_closed(uintptr_t target)
{
    pthread_mutex_lock(&lock);
    struct share *share = shares;
    while (share && (share->target != target || share->imports == 0))
        share = share->next;
    if (share) {
        share->imports--;
        drop_unused(share);
    }
    pthread_mutex_unlock(&lock);
}
