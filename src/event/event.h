/* SPDX-License-Identifier: Apache-2.0 */
/* Marks and events.
 *
 * A mark is a small counted record that completes once: {state, status, timestamp, waiters}. Everything that can be waited
 * for is a mark: an event's recording, a stream's latest command, a synchronous copy. An event holds a reference to the mark of
 * its latest recording; re-recording swaps the mark and leaves earlier waiters alone. (Driver API manual, Event Management.)
 *
 * Waiters are pushed on the mark without a lock; completion takes the whole list and notifies each, on the completing thread. */
#ifndef MR_EVENT_EVENT_H
#define MR_EVENT_EVENT_H

#include <cuda.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/thread.h"
#include "object/context.h"
#include "object/object.h"

struct mr_mark;

/* One registration on a mark. The owner keeps the record alive until `notify` has run. `notify` is called exactly once, on the
 * completing thread, with no lock of the mark held; it must not block. */
struct mr_waiter {
    struct mr_waiter *next;
    void (*notify)(struct mr_waiter *waiter);
};

struct mr_mark {
    _Atomic uint32_t references;
    _Atomic uint32_t done;              /* 0 pending, 1 complete, 2 pending with sleeping threads; futex word */
    int status;                         /* CUresult, valid when complete */
    uint64_t timestamp;                 /* mr_clock_ns at completion, 0 if the event has no timing */
    _Atomic(struct mr_waiter *) waiters;
    struct mr_stream *stream;           /* where it was recorded, for threads that help; borrowed; may be NULL */
};

/* A pending mark with one reference, or NULL. Recycled through a per-thread cache: a few nanoseconds. */
struct mr_mark *mr_mark_new(void) __attribute__((warn_unused_result));
void mr_mark_hold(struct mr_mark *mark);
void mr_mark_drop(struct mr_mark *mark);

static inline bool mr_mark_is_done(struct mr_mark *mark)
{
    return atomic_load_explicit(&mark->done, memory_order_acquire) == 1;
}

/* Completes the mark: stores status and timestamp, wakes sleeping threads, notifies waiters. Exactly once per mark. */
void mr_mark_complete(struct mr_mark *mark, CUresult status, uint64_t timestamp);

/* Registers a waiter. False if the mark is already complete: the waiter is then not registered and will not be notified. */
bool mr_mark_watch(struct mr_mark *mark, struct mr_waiter *waiter);

struct mr_event {
    struct mr_object object;
    struct mr_context *context;         /* counted */
    unsigned flags;                     /* CU_EVENT_* */
    mr_lock lock;                       /* guards `mark` */
    struct mr_mark *mark;               /* latest recording, NULL if never recorded; counted */
};

/* A reference to the event's current mark, or NULL if it was never recorded. */
struct mr_mark *mr_event_mark(struct mr_event *event);

#endif
