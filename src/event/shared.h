/* SPDX-License-Identifier: Apache-2.0 */
/* Events between processes.
 *
 * An event made with CU_EVENT_INTERPROCESS is like any other until a handle is asked for. From then on its recordings
 * are kept in shared memory (slot.h), and any process that has it open may record it, ask for it and wait for it. The
 * functions of event.h serve both kinds: the stamp of a shared event is always MR_STAMP_PENDING, which is where they
 * come by here.
 *
 * Within the process a mark stands for another process's recording, as for everything that can be waited for. A thread
 * per arena sleeps until something in it completes, and completes these marks (shared_wait.c); it also looks every now
 * and then whether the processes that owe something live. */
#ifndef MR_EVENT_SHARED_H
#define MR_EVENT_SHARED_H

#include <cuda.h>
#include <stdbool.h>

#include "event/event.h"
#include "event/slot.h"
#include "share/share.h"

struct mr_arena;

/* An event of one or more processes, as this one knows it. Counted by the events of this process that stand for it,
 * pending recordings and waits. */
struct mr_shared_event {
    _Atomic uint32_t references;
    uint32_t index;                      /* of the slot in its arena */
    struct mr_arena *arena;
    struct mr_slot *slot;
    struct mr_shared_event *next;        /* among those that have ended */
    _Atomic uint64_t next_look;          /* clock: when to ask again whether the recording process lives */
    mr_lock lock;                        /* guards what follows, except `streams`; a leaf */
    struct mr_mark *mark;                /* this process's latest recording; counted; may be complete */
    struct mr_ticket mark_ticket;
    struct mr_mark *remote;              /* stands for another process's recording; counted; may be complete */
    struct mr_ticket remote_ticket;
    const void *streams[MR_SLOT_LANES];  /* under the slot's lock */
};

/* Makes the event a shared one if it isn't yet; a handle that leads to it. CUDA_ERROR_INVALID_HANDLE for an event
 * without CU_EVENT_INTERPROCESS and for another process's; CUDA_ERROR_OUT_OF_MEMORY when memory or descriptors are
 * short. No lock held. */
CUresult mr_event_export(struct mr_event *event, struct mr_share_handle *out) __attribute__((warn_unused_result));

/* A new event that stands for another process's. CUDA_ERROR_INVALID_CONTEXT for a handle of this process;
 * CUDA_ERROR_MAP_FAILED if there is no such event (any more), it is another user's, or memory or descriptors are short;
 * CUDA_ERROR_OUT_OF_MEMORY. No lock held. */
CUresult mr_event_import(struct mr_context *context, const struct mr_share_handle *handle, struct mr_event **out)
    __attribute__((warn_unused_result));

/* A recording in three steps, so that it can fail before anything is submitted: `announce` with the pending mark (its
 * `stream` set), submit, `publish`, which takes over one reference to the mark as mr_event_set_mark does. If the
 * submission fails, complete the mark instead. For an event that isn't shared the first does nothing and the ticket's
 * number is 0. CUDA_ERROR_OUT_OF_MEMORY. */
CUresult mr_event_announce(struct mr_event *event, struct mr_mark *mark, struct mr_ticket *ticket)
    __attribute__((warn_unused_result));
void mr_event_publish(struct mr_event *event, struct mr_mark *mark, struct mr_ticket ticket);

/* Waits on the calling thread for a shared event whose latest recording another process has to complete, as the flags
 * of event and context ask. False at once if the event isn't such a one. Ends early when the context fails. */
bool mr_event_wait_remote(struct mr_event *event, struct mr_context *context);

/* CUDA_ERROR_CONTEXT_IS_DESTROYED if the process that made the latest recording died before it was complete, else
 * CUDA_SUCCESS. */
CUresult mr_event_lost(struct mr_event *event);

/* ---- for event.c ---- */

/* What the event stands for, with a reference; NULL if it isn't shared. */
struct mr_shared_event *mr_shared_of(struct mr_event *event);
void mr_shared_drop(struct mr_shared_event *shared);
/* The same for the event's own reference: an exported one's handles lead nowhere from now on, though what is recorded
 * still completes. */
void mr_shared_end(struct mr_shared_event *shared);
uint64_t mr_shared_stamp(struct mr_shared_event *shared);
struct mr_mark *mr_shared_mark(struct mr_shared_event *shared);
void mr_shared_record_complete(struct mr_shared_event *shared);
void mr_shared_set_mark(struct mr_shared_event *shared, struct mr_mark *mark);

/* ---- between shared.c and shared_wait.c ---- */

enum mr_shared_state { MR_SHARED_NONE, MR_SHARED_COMPLETE, MR_SHARED_LOST, MR_SHARED_PENDING };
enum mr_shared_state mr_shared_look(struct mr_shared_event *shared, struct mr_ticket *ticket);
bool mr_shared_try_hold(struct mr_shared_event *shared);

/* A mark that completes with another process's recording; counted. NULL if it is complete by now, also because memory
 * was short and the calling thread has waited for it. */
struct mr_mark *mr_shared_watch(struct mr_shared_event *shared, struct mr_ticket ticket)
    __attribute__((warn_unused_result));

/* Tells the arena's thread, if there is one, to look whether it is still wanted. mr_arena_lock held. */
void mr_shared_watcher_nudge(struct mr_arena *arena);

#endif
