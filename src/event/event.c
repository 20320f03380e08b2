/* SPDX-License-Identifier: Apache-2.0 */
/* Events: the stamp, the pending mark, and how one becomes the other.
 *
 * Stores that leave MR_STAMP_PENDING alone take no lock. Two threads that record one event at the same time may come in either order; what must
 * hold is that a complete recording is never overwritten by an older one that completes later, which is why folding compares before
 * it stores. */
#include "event/event.h"

static void event_finish(void *object)
{
    struct mr_event *event = object;
    if (event->mark)
        mr_mark_drop(event->mark);
    mr_object_drop(event->context);
}

struct mr_event *mr_event_new(struct mr_context *context, unsigned flags)
{
    struct mr_event *event = mr_object_new(MR_KIND_EVENT, sizeof *event, event_finish);
    if (!event)
        return NULL;
    mr_object_hold(context);
    event->context = context;
    event->flags = flags;
    return event;
}

uint64_t mr_event_settle_slow(struct mr_event *event)
{
    struct mr_mark *done = NULL;
    mr_lock_take(&event->lock);
    uint64_t stamp = MR_STAMP_PENDING;
    if (event->mark && mr_mark_is_done(event->mark)) {
        done = event->mark;
        uint64_t wanted = event->flags & CU_EVENT_DISABLE_TIMING ? MR_STAMP_UNTIMED : done->timestamp;
        if (wanted <= MR_STAMP_PENDING)
            wanted = MR_STAMP_UNTIMED;
        event->mark = NULL;
        if (atomic_compare_exchange_strong_explicit(&event->stamp, &stamp, wanted, memory_order_acq_rel, memory_order_acquire))
            stamp = wanted;
    } else {
        stamp = atomic_load_explicit(&event->stamp, memory_order_acquire);
    }
    mr_lock_drop(&event->lock);
    if (done)
        mr_mark_drop(done);
    return stamp;
}

void mr_event_set_stamp(struct mr_event *event, uint64_t stamp)
{
    if (__builtin_expect(atomic_load_explicit(&event->stamp, memory_order_relaxed) != MR_STAMP_PENDING, 1)) {
        atomic_store_explicit(&event->stamp, stamp, memory_order_release);
        return;
    }
    mr_lock_take(&event->lock);
    struct mr_mark *old = event->mark;
    event->mark = NULL;
    atomic_store_explicit(&event->stamp, stamp, memory_order_release);
    mr_lock_drop(&event->lock);
    if (old)
        mr_mark_drop(old);
}

void mr_event_set_mark(struct mr_event *event, struct mr_mark *mark)
{
    mr_lock_take(&event->lock);
    struct mr_mark *old = event->mark;
    event->mark = mark;
    atomic_store_explicit(&event->stamp, MR_STAMP_PENDING, memory_order_release);
    mr_lock_drop(&event->lock);
    if (old)
        mr_mark_drop(old);
}

struct mr_mark *mr_event_mark(struct mr_event *event)
{
    if (mr_event_stamp(event) != MR_STAMP_PENDING)
        return NULL;
    struct mr_mark *mark = NULL;
    mr_lock_take(&event->lock);
    if (event->mark && atomic_load_explicit(&event->stamp, memory_order_relaxed) == MR_STAMP_PENDING) {
        mark = event->mark;
        mr_mark_hold(mark);
    }
    mr_lock_drop(&event->lock);
    return mark;
}
