/* SPDX-License-Identifier: Apache-2.0 */
/* Events between processes: exporting, importing, recording, asking; see shared.h. Waiting is in shared_wait.c.
 *
 * Records of shared events end on any thread, perhaps with a stream's lock held (the last pending recording completes).
 * So the last reference only puts the record on a list, without a lock; calls that come later, and hold none, do the
 * rest. */
#include "event/shared.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "base/log.h"
#include "event/arena.h"

#define LOOK_NS 2000000u    /* queries ask at most so often whether a process lives */

/* A pending recording of this process. */
struct recording {
    struct mr_waiter waiter;
    struct mr_shared_event *shared;      /* counted */
    struct mr_ticket ticket;
};

static _Atomic(struct mr_shared_event *) ended;

bool mr_shared_try_hold(struct mr_shared_event *shared)
{
    uint32_t count = atomic_load_explicit(&shared->references, memory_order_relaxed);
    while (count && !atomic_compare_exchange_weak_explicit(&shared->references, &count, count + 1, memory_order_relaxed,
                                                           memory_order_relaxed))
        ;
    return count != 0;
}

/* Drops a reference; takes no lock. True if it was the last. */
static bool drop_quietly(struct mr_shared_event *shared)
{
    if (atomic_fetch_sub_explicit(&shared->references, 1, memory_order_acq_rel) != 1)
        return false;
    struct mr_shared_event *first = atomic_load_explicit(&ended, memory_order_relaxed);
    do
        shared->next = first;
    while (!atomic_compare_exchange_weak_explicit(&ended, &first, shared, memory_order_acq_rel, memory_order_relaxed));
    return true;
}

static void close_slot(struct mr_slot *slot)
{
    uint64_t self = mr_process_self();
    for (unsigned i = 0; i < MR_SLOT_OPENERS; i++) {
        uint64_t process = self;
        if (atomic_compare_exchange_strong(&slot->openers[i], &process, 0))
            return;
    }
}

/* Frees what has ended. mr_arena_lock held. */
static void sweep(void)
{
    MR_HELD(&mr_arena_lock);
    struct mr_shared_event *shared = atomic_exchange_explicit(&ended, NULL, memory_order_acq_rel);
    while (shared) {
        struct mr_shared_event *next = shared->next;
        struct mr_arena *arena = shared->arena;
        if (arena->known[shared->index] == shared)
            arena->known[shared->index] = NULL;
        if (shared->mark)
            mr_mark_drop(shared->mark);
        if (shared->remote)
            mr_mark_drop(shared->remote);
        if (arena->own) {
            mr_arena_slot_end(arena, shared->index);
        } else {
            close_slot(shared->slot);
            mr_shared_watcher_nudge(arena);
            mr_arena_close(arena);
        }
        mr_free(shared);
        shared = next;
    }
}

void mr_shared_drop(struct mr_shared_event *shared)
{
    if (!drop_quietly(shared))
        return;
    mr_lock_take(&mr_arena_lock);
    sweep();
    mr_lock_drop(&mr_arena_lock);
}

void mr_shared_end(struct mr_shared_event *shared)
{
    if (shared->arena->own)
        atomic_store(&shared->slot->nonce, 0);
    mr_shared_drop(shared);
}

/* The event may be destroyed by another thread at any time: its lock tells whether it still has what it stands for. */
struct mr_shared_event *mr_shared_of(struct mr_event *event)
{
    if (__builtin_expect(!atomic_load_explicit(&event->shared, memory_order_acquire), 1))
        return NULL;
    mr_lock_take(&event->lock);
    struct mr_shared_event *shared = atomic_load_explicit(&event->shared, memory_order_relaxed);
    if (shared)
        atomic_fetch_add_explicit(&shared->references, 1, memory_order_relaxed);
    mr_lock_drop(&event->lock);
    return shared;
}

static struct mr_shared_event *shared_new(struct mr_arena *arena, uint32_t index)
{
    struct mr_shared_event *shared = mr_calloc(1, sizeof *shared);
    if (!shared)
        return NULL;
    mr_lock_init(&shared->lock, MR_LOCK_SHARED);
    atomic_store_explicit(&shared->references, 1, memory_order_relaxed);
    shared->arena = arena;
    shared->index = index;
    shared->slot = &arena->file->slots[index];
    arena->known[index] = shared;
    return shared;
}

/* ---- recording ---- */

/* The mark of a recording is complete: perhaps with a stream's lock held. */
static void recording_done(struct mr_waiter *waiter)
{
    struct recording *recording = MR_CONTAINER(waiter, struct recording, waiter);
    struct mr_shared_event *shared = recording->shared;
    mr_slot_complete(shared->slot, recording->ticket);
    mr_slot_ring(shared->slot, &shared->arena->file->head);
    mr_free(recording);
    (void)drop_quietly(shared);
}

static CUresult announce(struct mr_shared_event *shared, struct mr_mark *mark, struct mr_ticket *ticket)
{
    struct recording *recording = mr_calloc(1, sizeof *recording);
    if (!recording)
        return CUDA_ERROR_OUT_OF_MEMORY;
    if (!mr_slot_begin(shared->slot, mr_process_self(), mark->stream, shared->streams, ticket)) {
        mr_log(MR_LOG_INFO, "more than %u streams have recordings of one shared event pending", MR_SLOT_LANES);
        mr_free(recording);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    atomic_fetch_add_explicit(&shared->references, 1, memory_order_relaxed);
    recording->waiter.notify = recording_done;
    recording->shared = shared;
    recording->ticket = *ticket;
    if (!mr_mark_watch(mark, &recording->waiter))
        recording_done(&recording->waiter);
    return CUDA_SUCCESS;
}

/* Takes over the reference. */
static void publish(struct mr_shared_event *shared, struct mr_mark *mark, struct mr_ticket ticket)
{
    mr_lock_take(&shared->lock);
    struct mr_mark *old = mark;
    if (!shared->mark || shared->mark_ticket.number < ticket.number) {
        old = shared->mark;
        shared->mark = mark;
        shared->mark_ticket = ticket;
    }
    mr_lock_drop(&shared->lock);
    mr_slot_publish(shared->slot, ticket);
    if (old)
        mr_mark_drop(old);
}

CUresult mr_event_announce(struct mr_event *event, struct mr_mark *mark, struct mr_ticket *ticket)
{
    struct mr_shared_event *shared = mr_shared_of(event);
    *ticket = (struct mr_ticket){0, MR_SLOT_NO_LANE};
    if (!shared)
        return CUDA_SUCCESS;
    CUresult status = announce(shared, mark, ticket);
    mr_shared_drop(shared);
    return status;
}

void mr_event_publish(struct mr_event *event, struct mr_mark *mark, struct mr_ticket ticket)
{
    struct mr_shared_event *shared = ticket.number ? mr_shared_of(event) : NULL;
    if (shared) {
        publish(shared, mark, ticket);
        mr_shared_drop(shared);
    } else if (ticket.number) {
        mr_mark_drop(mark);   /* destroyed meanwhile */
    } else {
        mr_event_set_mark(event, mark);
    }
}

void mr_shared_record_complete(struct mr_shared_event *shared)
{
    mr_slot_record_complete(shared->slot, mr_process_self());
    mr_slot_ring(shared->slot, &shared->arena->file->head);
}

/* For callers that can't fail: if memory is short, the recording is waited for here. */
void mr_shared_set_mark(struct mr_shared_event *shared, struct mr_mark *mark)
{
    struct mr_ticket ticket;
    if (announce(shared, mark, &ticket) == CUDA_SUCCESS) {
        publish(shared, mark, ticket);
        return;
    }
    while (!mr_mark_is_done(mark))
        mr_mark_sleep(mark, LOOK_NS);
    mr_mark_drop(mark);
    mr_shared_record_complete(shared);
}

/* ---- asking ---- */

enum mr_shared_state mr_shared_look(struct mr_shared_event *shared, struct mr_ticket *ticket)
{
    struct mr_slot *slot = shared->slot;
    *ticket = mr_slot_latest(slot);
    if (ticket->number == 0)
        return MR_SHARED_NONE;
    if (!mr_slot_is_complete(slot, *ticket)) {
        /* A thread that has seen its own mark complete sees the event complete, and so does a thread that it tells,
         * even before the mark's waiters are called. */
        mr_lock_take(&shared->lock);
        bool done = shared->mark && shared->mark_ticket.number == ticket->number && mr_mark_is_done(shared->mark);
        mr_lock_drop(&shared->lock);
        if (done) {
            mr_slot_complete(slot, *ticket);
            mr_slot_ring(slot, &shared->arena->file->head);
            return MR_SHARED_COMPLETE;
        }
        uint64_t now = mr_clock_ns(), due = atomic_load_explicit(&shared->next_look, memory_order_relaxed);
        if (now < due)
            return MR_SHARED_PENDING;
        atomic_store_explicit(&shared->next_look, now + LOOK_NS, memory_order_relaxed);
        if (!mr_slot_bury(slot, &shared->arena->file->head, mr_process_self(), *ticket) &&
            !mr_slot_is_complete(slot, *ticket))
            return MR_SHARED_PENDING;
    }
    return atomic_load_explicit(&slot->lost, memory_order_acquire) == ticket->number ? MR_SHARED_LOST
                                                                                     : MR_SHARED_COMPLETE;
}

uint64_t mr_shared_stamp(struct mr_shared_event *shared)
{
    struct mr_ticket ticket;
    switch (mr_shared_look(shared, &ticket)) {
    case MR_SHARED_NONE:
        return MR_STAMP_NONE;
    case MR_SHARED_PENDING:
        return MR_STAMP_PENDING;
    default:
        return MR_STAMP_UNTIMED;
    }
}

CUresult mr_event_lost(struct mr_event *event)
{
    struct mr_ticket ticket;
    struct mr_shared_event *shared = mr_shared_of(event);
    if (__builtin_expect(!shared, 1))
        return CUDA_SUCCESS;
    bool lost = mr_shared_look(shared, &ticket) == MR_SHARED_LOST;
    mr_shared_drop(shared);
    if (!lost)
        return CUDA_SUCCESS;
    mr_log(MR_LOG_INFO, "the process that recorded event %p died before the work was done", mr_object_handle(event));
    return CUDA_ERROR_CONTEXT_IS_DESTROYED;
}

struct mr_mark *mr_shared_mark(struct mr_shared_event *shared)
{
    struct mr_ticket ticket;
    struct mr_mark *mark = NULL;
    if (mr_shared_look(shared, &ticket) != MR_SHARED_PENDING)
        return NULL;
    mr_lock_take(&shared->lock);
    if (shared->mark && shared->mark_ticket.number == ticket.number)
        mark = shared->mark;
    else if (shared->remote && shared->remote_ticket.number == ticket.number)
        mark = shared->remote;
    if (mark)
        mr_mark_hold(mark);
    mr_lock_drop(&shared->lock);
    return mark ? mark : mr_shared_watch(shared, ticket);
}

/* ---- handles ---- */

/* Puts into the slot what the event has recorded so far, and makes it a shared one. False when memory is short. */
static bool convert(struct mr_event *event, struct mr_shared_event *shared)
{
    for (;;) {
        struct mr_ticket ticket;
        mr_lock_take(&event->lock);
        struct mr_mark *mark = event->mark;
        uint64_t stamp = atomic_load_explicit(&event->stamp, memory_order_relaxed);
        if (mark)
            mr_mark_hold(mark);
        mr_lock_drop(&event->lock);
        if (mark) {
            if (announce(shared, mark, &ticket) != CUDA_SUCCESS) {
                mr_mark_drop(mark);
                return false;
            }
            publish(shared, mark, ticket);
        } else if (stamp != MR_STAMP_NONE) {
            mr_shared_record_complete(shared);
        }
        mr_lock_take(&event->lock);
        bool same = event->mark == mark && atomic_load_explicit(&event->stamp, memory_order_relaxed) == stamp;
        if (same) {
            event->mark = NULL;
            atomic_store_explicit(&event->shared, shared, memory_order_release);
            atomic_store_explicit(&event->stamp, MR_STAMP_PENDING, memory_order_release);
        }
        mr_lock_drop(&event->lock);
        if (same) {
            if (mark)
                mr_mark_drop(mark);
            return true;
        }
    }
}

static CUresult share(struct mr_event *event)
{
    static mr_lock sharing = MR_LOCK_INIT(SHARING); /* two threads don't export one event at the same time */
    CUresult status = CUDA_SUCCESS;
    mr_lock_take(&sharing);
    if (!atomic_load_explicit(&event->shared, memory_order_acquire)) {
        struct mr_shared_event *shared = NULL;
        struct mr_arena *arena;
        uint32_t index;
        mr_lock_take(&mr_arena_lock);
        sweep();
        status = mr_arena_slot_new(mr_process_self(), &arena, &index);
        if (status == CUDA_SUCCESS && !(shared = shared_new(arena, index))) {
            mr_arena_slot_end(arena, index);
            status = CUDA_ERROR_OUT_OF_MEMORY;
        }
        mr_lock_drop(&mr_arena_lock);
        if (shared && !convert(event, shared)) {
            mr_shared_drop(shared);
            status = CUDA_ERROR_OUT_OF_MEMORY;
        }
    }
    mr_lock_drop(&sharing);
    return status;
}

CUresult mr_event_export(struct mr_event *event, struct mr_share_handle *out)
{
    MR_MAY_WAIT();
    if (!(event->flags & CU_EVENT_INTERPROCESS) || event->imported) {
        mr_log(MR_LOG_INFO, "event %p %s", mr_object_handle(event),
               event->imported ? "is another process's" : "was made without CU_EVENT_INTERPROCESS");
        return CUDA_ERROR_INVALID_HANDLE;
    }
    CUresult status = share(event);
    if (status != CUDA_SUCCESS)
        return status;
    struct mr_shared_event *shared = atomic_load_explicit(&event->shared, memory_order_acquire);
    uint64_t value[3] = {shared->index, atomic_load(&shared->slot->nonce), 0};
    mr_share_handle_make(&shared->arena->share, MR_SHARE_EVENT, value, out);
    return CUDA_SUCCESS;
}

/* Says in the slot that this process has it open. False if the event that the handle led to has ended. */
static bool open_slot(struct mr_slot *slot, uint64_t self, uint64_t nonce)
{
    unsigned place = MR_SLOT_OPENERS;
    if (!nonce || atomic_load(&slot->nonce) != nonce)
        return false;
    for (unsigned pass = 0; pass < 2 && place == MR_SLOT_OPENERS; pass++)
        for (unsigned i = 0; i < MR_SLOT_OPENERS && place == MR_SLOT_OPENERS; i++) {
            uint64_t process = atomic_load(&slot->openers[i]);
            if (process && (pass == 0 || mr_process_lives(process)))
                continue;
            if (atomic_compare_exchange_strong(&slot->openers[i], &process, self))
                place = i;
        }
    if (place == MR_SLOT_OPENERS)
        atomic_store(&slot->crowded, 1);
    if (atomic_load(&slot->nonce) == nonce)
        return true;
    if (place != MR_SLOT_OPENERS)
        atomic_compare_exchange_strong(&slot->openers[place], &self, 0);
    return false;
}

/* The record of the slot that a handle leads to, with a reference. Lock held. */
static CUresult open_shared(const struct mr_share_handle *handle, struct mr_shared_event **out)
{
    MR_HELD(&mr_arena_lock);
    struct mr_arena *arena;
    uint64_t self = mr_process_self();
    if (!self || handle->value[0] >= MR_ARENA_SLOTS)
        return CUDA_ERROR_MAP_FAILED;
    uint32_t index = (uint32_t)handle->value[0];
    CUresult status = mr_arena_open(handle, &arena);
    if (status != CUDA_SUCCESS)
        return status;
    struct mr_slot *slot = &arena->file->slots[index];
    struct mr_shared_event *known = arena->known[index];
    if (known && atomic_load(&slot->nonce) == handle->value[1] && mr_shared_try_hold(known)) {
        mr_arena_close(arena);
        *out = known;
        return CUDA_SUCCESS;
    }
    if (!open_slot(slot, self, handle->value[1])) {
        mr_log(MR_LOG_INFO, "the event that the handle led to has been destroyed");
        mr_arena_close(arena);
        return CUDA_ERROR_MAP_FAILED;
    }
    *out = shared_new(arena, index);
    if (*out)
        return CUDA_SUCCESS;
    close_slot(slot);
    mr_arena_close(arena);
    return CUDA_ERROR_OUT_OF_MEMORY;
}

CUresult mr_event_import(struct mr_context *context, const struct mr_share_handle *handle, struct mr_event **out)
{
    MR_MAY_WAIT();
    struct mr_shared_event *shared = NULL;
    if (mr_share_handle_is_own(handle)) {
        mr_log(MR_LOG_INFO, "the handle is of this very process");
        return CUDA_ERROR_INVALID_CONTEXT;
    }
    CUevent made;
    struct mr_event *event = mr_event_new(context, CU_EVENT_INTERPROCESS | CU_EVENT_DISABLE_TIMING, &made);
    if (!event)
        return CUDA_ERROR_OUT_OF_MEMORY;
    mr_lock_take(&mr_arena_lock);
    sweep();
    CUresult status = open_shared(handle, &shared);
    mr_lock_drop(&mr_arena_lock);
    if (status != CUDA_SUCCESS) {
        if (mr_object_retire(event))
            mr_object_drop(event);
        return status;
    }
    event->imported = true;
    atomic_store_explicit(&event->shared, shared, memory_order_release);
    atomic_store_explicit(&event->stamp, MR_STAMP_PENDING, memory_order_release);
    *out = event;
    return CUDA_SUCCESS;
}
