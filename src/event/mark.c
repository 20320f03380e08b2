/* SPDX-License-Identifier: Apache-2.0 */
/* Marks: completion, sleeping threads, and the lock-free list of waiters.
 *
 * The list head is NULL (no waiter), a chain of waiters, or CLOSED once the mark is complete. Completion swaps CLOSED
 * in and owns the chain it gets; a waiter that finds CLOSED knows that there is nothing to wait for. */
#include <limits.h>

#include "base/pool.h"
#include "event/event.h"

#define CLOSED ((struct mr_waiter *)(uintptr_t)1)

static struct mr_pool marks = {.place = MR_POOL_MARKS,
                               .size = sizeof(struct mr_mark),
                               .link = offsetof(struct mr_mark, link),
                               .lock = MR_LOCK_INIT(POOL)};

struct mr_mark *mr_mark_new(void)
{
    struct mr_mark *mark = mr_pool_get(&marks);
    if (!mark)
        return NULL;
    atomic_store_explicit(&mark->references, 1, memory_order_relaxed);
    atomic_store_explicit(&mark->done, MR_MARK_PENDING, memory_order_relaxed);
    atomic_store_explicit(&mark->waiters, NULL, memory_order_relaxed);
    mark->status = CUDA_SUCCESS;
    mark->timestamp = 0;
    atomic_store_explicit(&mark->sequence, 0, memory_order_relaxed);
    mark->stream = NULL;
    mark->inside = false;
    return mark;
}

void mr_mark_hold(struct mr_mark *mark)
{
    atomic_fetch_add_explicit(&mark->references, 1, memory_order_relaxed);
}

void mr_mark_drop(struct mr_mark *mark)
{
    if (atomic_fetch_sub_explicit(&mark->references, 1, memory_order_acq_rel) == 1)
        mr_pool_put(&marks, mark);
}

void mr_mark_complete(struct mr_mark *mark, CUresult status, uint64_t timestamp)
{
    mark->status = (int)status;
    mark->timestamp = timestamp;
    if (atomic_exchange_explicit(&mark->done, MR_MARK_DONE, memory_order_acq_rel) == MR_MARK_SLEEPERS)
        mr_futex_wake(&mark->done, INT_MAX);
    struct mr_waiter *newest = atomic_exchange_explicit(&mark->waiters, CLOSED, memory_order_acq_rel);
    struct mr_waiter *oldest = NULL;
    while (newest) {
        struct mr_waiter *next = newest->next;
        newest->next = oldest;
        oldest = newest;
        newest = next;
    }
    while (oldest) {
        struct mr_waiter *waiter = oldest;
        oldest = oldest->next;
        waiter->notify(waiter);
    }
}

bool mr_mark_watch(struct mr_mark *mark, struct mr_waiter *waiter)
{
    struct mr_waiter *head = atomic_load_explicit(&mark->waiters, memory_order_acquire);
    do {
        if (head == CLOSED)
            return false;
        waiter->next = head;
    } while (!atomic_compare_exchange_weak_explicit(&mark->waiters, &head, waiter, memory_order_acq_rel,
                                                    memory_order_acquire));
    return true;
}

void mr_mark_sleep(struct mr_mark *mark, uint64_t timeout_ns)
{
    uint32_t state = MR_MARK_PENDING;
    if (atomic_compare_exchange_strong_explicit(&mark->done, &state, MR_MARK_SLEEPERS, memory_order_acq_rel,
                                                memory_order_acquire) ||
        state == MR_MARK_SLEEPERS)
        mr_futex_wait(&mark->done, MR_MARK_SLEEPERS, timeout_ns);
}
