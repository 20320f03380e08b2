/* SPDX-License-Identifier: Apache-2.0 */
/* Events: the stamp, what it stands for (a pending mark, a point in a capture), and how one becomes the other.
 *
 * Stores that leave MR_STAMP_PENDING alone take no lock. Two threads that record one event at the same time may come in
 * either order; what must hold is that a complete recording is never overwritten by an older one that completes later,
 * which is why folding compares before it stores. */
#include "event/event.h"
#include "event/shared.h"

static _Atomic(void (*)(struct mr_event_point *)) release_point;

static void drop_point(struct mr_event_point *point)
{
    void (*release)(struct mr_event_point *) = atomic_load_explicit(&release_point, memory_order_acquire);
    release(point);
}

/* Does a stamp stand for a record that the event holds? */
static bool holds_record(uint64_t stamp)
{
    return stamp - MR_STAMP_PENDING <= MR_STAMP_CAPTURED - MR_STAMP_PENDING;
}

static void event_finish(void *object)
{
    struct mr_event *event = object;
    /* Calls that found the event before it ended may still look at it. */
    mr_lock_take(&event->lock);
    struct mr_mark *mark = event->mark;
    struct mr_event_point *point = event->point;
    struct mr_shared_event *shared = event->shared;
    event->mark = NULL;
    event->point = NULL;
    event->shared = NULL;
    event->ended = true;
    mr_lock_drop(&event->lock);
    if (mark)
        mr_mark_drop(mark);
    if (shared)
        mr_shared_end(shared);
    if (point)
        drop_point(point);
    mr_object_drop(event->context);
}

struct mr_event *mr_event_new(struct mr_context *context, unsigned flags, CUevent *handle)
{
    struct mr_event *event = mr_object_new(MR_KIND_EVENT, sizeof *event, event_finish);
    if (!event)
        return NULL;
    mr_lock_init(&event->lock, MR_LOCK_EVENT);
    *handle = mr_object_handle(event);
    mr_object_hold(context);
    event->flags = (uint8_t)flags;
    /* Either this sees that the context has ended, or its end sees the event: both sides write first and then read, in
     * one order for all threads. */
    __atomic_store_n(&event->context, context, __ATOMIC_SEQ_CST);
    if (__builtin_expect(atomic_load(&context->destroyed), 0)) {
        if (mr_object_retire(event))
            mr_object_drop(event);
        return NULL;
    }
    return event;
}

static void end_with_context(void *object, void *context)
{
    struct mr_event *event = object;
    if (__atomic_load_n(&event->context, __ATOMIC_SEQ_CST) != context || (event->flags & CU_EVENT_INTERPROCESS))
        return; /* it lives on: other processes may open it */
    atomic_store(&event->orphan, true);
    if (mr_object_retire(event))
        mr_object_drop(event);
}

void mr_events_end_all(struct mr_context *context)
{
    mr_object_each(MR_KIND_EVENT, end_with_context, context);
}

bool mr_event_is_orphan(const void *handle, bool destroy)
{
    struct mr_event *event = (struct mr_event *)(uintptr_t)mr_object_find_ended(handle, MR_KIND_EVENT);
    if (!event)
        return false;
    return destroy ? atomic_exchange(&event->orphan, false) : atomic_load(&event->orphan);
}

uint64_t mr_event_settle_slow(struct mr_event *event)
{
    struct mr_mark *done = NULL;
    struct mr_shared_event *shared = mr_shared_of(event);
    if (shared) {
        uint64_t now = mr_shared_stamp(shared);
        mr_shared_drop(shared);
        return now;
    }
    mr_lock_take(&event->lock);
    uint64_t stamp = MR_STAMP_PENDING;
    if (event->mark && mr_mark_is_done(event->mark)) {
        done = event->mark;
        uint64_t wanted = event->flags & CU_EVENT_DISABLE_TIMING ? MR_STAMP_UNTIMED : done->timestamp;
        if (wanted < MR_STAMP_UNTIMED)
            wanted = MR_STAMP_UNTIMED;
        event->mark = NULL;
        if (atomic_compare_exchange_strong_explicit(&event->stamp, &stamp, wanted, memory_order_acq_rel,
                                                    memory_order_acquire))
            stamp = wanted;
    } else {
        stamp = atomic_load_explicit(&event->stamp, memory_order_acquire);
    }
    mr_lock_drop(&event->lock);
    if (done)
        mr_mark_drop(done);
    return stamp;
}

/* Gives the event another latest recording. True if it is shared: its stamp is then MR_STAMP_PENDING for good (except
 * while it is captured), and the shared record says more. */
static bool replace(struct mr_event *event, struct mr_mark *mark, struct mr_event_point *point, uint64_t stamp)
{
    mr_lock_take(&event->lock);
    struct mr_mark *old_mark = event->mark;
    struct mr_event_point *old_point = event->point;
    bool is_shared = event->shared != NULL;
    if (__builtin_expect(event->ended, 0)) {
        /* Another thread destroyed the event during this call: nobody wants the recording. */
        old_mark = mark;
        old_point = point;
    } else {
        event->mark = mark;
        event->point = point;
        atomic_store_explicit(&event->stamp, is_shared && !point ? MR_STAMP_PENDING : stamp, memory_order_release);
    }
    mr_lock_drop(&event->lock);
    if (old_mark)
        mr_mark_drop(old_mark);
    if (old_point)
        drop_point(old_point);
    return is_shared;
}

void mr_event_set_stamp(struct mr_event *event, uint64_t stamp)
{
    if (__builtin_expect(!(event->flags & CU_EVENT_INTERPROCESS) &&
                             !holds_record(atomic_load_explicit(&event->stamp, memory_order_relaxed)),
                         1)) {
        atomic_store_explicit(&event->stamp, stamp, memory_order_release);
        return;
    }
    struct mr_shared_event *shared = replace(event, NULL, NULL, stamp) ? mr_shared_of(event) : NULL;
    if (shared) {
        mr_shared_record_complete(shared);
        mr_shared_drop(shared);
    }
}

void mr_event_set_mark(struct mr_event *event, struct mr_mark *mark)
{
    struct mr_shared_event *shared = mr_shared_of(event);
    if (__builtin_expect(shared != NULL, 0)) {
        mr_shared_set_mark(shared, mark);
        mr_shared_drop(shared);
        return;
    }
    (void)replace(event, mark, NULL, MR_STAMP_PENDING);
}

void mr_event_set_point(struct mr_event *event, struct mr_event_point *point,
                        void (*release)(struct mr_event_point *point))
{
    atomic_store_explicit(&release_point, release, memory_order_release);
    (void)replace(event, NULL, point, MR_STAMP_CAPTURED);
}

struct mr_event_point *mr_event_point(struct mr_event *event)
{
    MR_HELD(&event->lock);
    return mr_event_is_captured(event) ? event->point : NULL;
}

struct mr_mark *mr_event_mark(struct mr_event *event)
{
    struct mr_shared_event *shared = mr_shared_of(event);
    if (__builtin_expect(shared != NULL, 0)) {
        struct mr_mark *pending = mr_shared_mark(shared);
        mr_shared_drop(shared);
        return pending;
    }
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
