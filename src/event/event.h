/* SPDX-License-Identifier: Apache-2.0 */
/* Marks and events.
 *
 * A mark is a small counted record that completes once: {state, status, timestamp, waiters}. Everything that can be
 * waited for is a mark: an event's recording, a stream's latest command, a synchronous copy. An event holds a reference
 * to the mark of its latest recording; re-recording swaps the mark and leaves earlier waiters alone. (Driver API
 * manual, Event Management.)
 *
 * Waiters are pushed on the mark without a lock; completion takes the whole list and notifies each, on the completing
 * thread.
 *
 * Most recordings are complete when they are made (the stream is idle). Those need no mark: an event's `stamp` alone
 * says that it is complete and when, in one word that is read and written without a lock. A pending recording's mark is
 * folded into the stamp by the thread that first looks at the event after the mark completed. */
#ifndef MR_EVENT_EVENT_H
#define MR_EVENT_EVENT_H

#include <cuda.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/thread.h"
#include "object/context.h"
#include "object/handle.h"

struct mr_mark;
struct mr_shared_event;

/* One registration on a mark. The owner keeps the record alive until `notify` has run. `notify` is called exactly once,
 * on the completing thread, with no lock of the mark held but perhaps that of the stream that completed it: it must not
 * block and takes no lock. */
struct mr_waiter {
    struct mr_waiter *next;
    void (*notify)(struct mr_waiter *waiter);
};

enum { MR_MARK_PENDING = 0, MR_MARK_DONE = 1, MR_MARK_SLEEPERS = 2 };

struct mr_mark {
    void *link[2]; /* the pool's */
    _Atomic uint32_t references;
    _Atomic uint32_t done; /* MR_MARK_*; MR_MARK_SLEEPERS is pending with sleeping threads; futex word */
    int status; /* CUresult, valid when complete */
    _Atomic uint32_t sequence; /* of the record that will complete it, low 32 bits: its place among all commands; 0 if
                                  it is not a record's */
    uint64_t timestamp; /* mr_clock_ns at completion, 0 if the event has no timing */
    _Atomic(struct mr_waiter *) waiters;
    struct mr_stream *stream; /* where it was recorded, for threads that help; borrowed; may be NULL */
    bool inside; /* a node of a graph records it: it completes before the run does, which may wait for
                    what the program does then */
};

/* A pending mark with one reference, or NULL. Recycled through a per-thread cache: a few nanoseconds. */
struct mr_mark *mr_mark_new(void) __attribute__((warn_unused_result));
void mr_mark_hold(struct mr_mark *mark);
void mr_mark_drop(struct mr_mark *mark);

static inline bool mr_mark_is_done(struct mr_mark *mark)
{
    return atomic_load_explicit(&mark->done, memory_order_acquire) == MR_MARK_DONE;
}

/* Completes the mark: stores status and timestamp, wakes sleeping threads, notifies waiters. Exactly once per mark; the
 * caller holds a reference. */
void mr_mark_complete(struct mr_mark *mark, CUresult status, uint64_t timestamp);

/* Registers a waiter. False if the mark is already complete: the waiter is then not registered and will not be
 * notified. */
bool mr_mark_watch(struct mr_mark *mark, struct mr_waiter *waiter) __attribute__((warn_unused_result));

/* Sleeps until the mark is complete or about `timeout_ns` have passed; may return early. */
void mr_mark_sleep(struct mr_mark *mark, uint64_t timeout_ns);

/* An event's stamp when it has no timestamp to hold. Pending and captured are the two that hold a record; they stand
 * side by side. */
enum { MR_STAMP_NONE = 0, MR_STAMP_PENDING = 1, MR_STAMP_CAPTURED = 2, MR_STAMP_UNTIMED = 3 };

struct mr_event_point; /* the capture layer's */

/* A program may hold a million: at most 64 bytes beside the handle's record. */
struct mr_event {
    struct mr_object object;
    struct mr_context *context; /* counted */
    _Atomic uint64_t stamp; /* MR_STAMP_NONE: never recorded; MR_STAMP_PENDING: look at the mark; MR_STAMP_CAPTURED: at
                               the point; else complete: the timestamp, or MR_STAMP_UNTIMED */
    struct mr_mark *mark; /* latest pending recording; counted */
    /* Counted; once set (shared.h), the stamp is MR_STAMP_PENDING and `mark` NULL for good. */
    _Atomic(struct mr_shared_event *) shared;
    struct mr_event_point *point; /* latest recording, in a captured stream; owned */
    mr_lock lock; /* guards `mark` and `point`, and the stamp's changes to and from MR_STAMP_PENDING and
                     MR_STAMP_CAPTURED */
    uint8_t flags; /* CU_EVENT_* */
    bool imported; /* another process's event */
    bool ended; /* under the lock: the last reference has gone, and the event takes nothing up any more */
    _Atomic bool orphan; /* it ended with its context, and the program hasn't destroyed it since */
};
_Static_assert(sizeof(struct mr_event) <= sizeof(struct mr_object) + 64, "an event has grown");

/* A new event with a live handle; NULL when memory is short, or the context was destroyed meanwhile. As that may happen
 * at any time, the event is to be used by its handle from here on, unless it has CU_EVENT_INTERPROCESS. */
struct mr_event *mr_event_new(struct mr_context *context, unsigned flags, CUevent *handle)
    __attribute__((warn_unused_result));

/* Ends the handles of all events of a context that was destroyed. Of an event only what its handle is answered with is
 * left. */
void mr_events_end_all(struct mr_context *context);

/* Did the event behind a handle end with its context? This is known until its record is used again, or until a call
 * with `destroy`, which makes it forgotten. */
bool mr_event_is_orphan(const void *handle, bool destroy);

/* The event's stamp as of now: a mark that has completed is folded in first. Nanoseconds when there is nothing pending.
 */
uint64_t mr_event_settle_slow(struct mr_event *event);

static inline uint64_t mr_event_stamp(struct mr_event *event)
{
    uint64_t stamp = atomic_load_explicit(&event->stamp, memory_order_acquire);
    return __builtin_expect(stamp != MR_STAMP_PENDING, 1) ? stamp : mr_event_settle_slow(event);
}

/* Makes the event complete, with a stamp of MR_STAMP_UNTIMED or later. */
void mr_event_set_stamp(struct mr_event *event, uint64_t stamp);

/* Makes `mark` the event's latest recording; takes over one reference. */
void mr_event_set_mark(struct mr_event *event, struct mr_mark *mark);

/* A reference to the event's pending mark, or NULL if there is nothing to wait for: it is complete, was never recorded,
 * or is captured (mr_event_is_captured tells). */
struct mr_mark *mr_event_mark(struct mr_event *event) __attribute__((warn_unused_result));

/* Was the latest recording made in a captured stream? */
static inline bool mr_event_is_captured(struct mr_event *event)
{
    return __builtin_expect(atomic_load_explicit(&event->stamp, memory_order_acquire) == MR_STAMP_CAPTURED, 0);
}

/* Makes a point the event's latest recording; takes it over. `release` frees a point, with no lock of the event held;
 * the same for all. */
void mr_event_set_point(struct mr_event *event, struct mr_event_point *point,
                        void (*release)(struct mr_event_point *point));

/* The event's point if that is its latest recording, else NULL. The event's lock is held. */
struct mr_event_point *mr_event_point(struct mr_event *event);

#endif
