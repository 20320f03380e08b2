/* SPDX-License-Identifier: Apache-2.0 */
/* Waiting for other processes: threads that sleep on a shared word, and the thread of each arena that completes marks
 * for streams.
 *
 * That thread is made with the first stream that waits for something in the arena. While marks are outstanding it
 * sleeps on the arena's bell, which any process rings that completes something there and sees sleepers; every SLEEP_NS
 * it looks whether the processes that owe a recording live. With nothing outstanding it sleeps on a word of its own,
 * and ends when nothing of the arena is open here any more.
 *
 * Locks: a watcher's lock guards its list, and is a leaf except for the slots' locks. */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>

#include "base/clock.h"
#include "base/visit.h"
#include "base/log.h"
#include "base/alloc.h"
#include "event/arena.h"
#include "event/release.h"
#include "event/shared.h"

#define SPIN_NS 20000u
#define SLEEP_NS 20000000u
#define DEATH_NS 40000000u

/* A recording of another process that a mark stands for. */
struct remote_wait {
    struct mr_list link;
    struct mr_shared_event *shared;      /* counted */
    struct mr_ticket ticket;
    struct mr_mark *mark;                /* counted */
};

struct mr_watcher {
    struct mr_arena *arena;              /* counted as open */
    mr_lock lock;
    struct mr_list waits;                /* struct remote_wait */
    _Atomic uint32_t work;               /* futex: something was added, or is to end */
    _Atomic uint32_t state;              /* futex: enum start */
};

/* A thread is made before it is known whether it is needed, since that must not be done with a lock held. */
enum start { START_OPEN, START_WANTED, START_UNWANTED };

static _Atomic bool ending;

/* The process ends: nothing is completed any more. */
__attribute__((destructor)) static void end_of_process(void)
{
    atomic_store(&ending, true);
}

static void watcher_call(struct mr_watcher *watcher)
{
    atomic_fetch_add(&watcher->work, 1);
    mr_futex_wake(&watcher->work, 1);
}

void mr_shared_watcher_nudge(struct mr_arena *arena)
{
    MR_HELD(&mr_arena_lock);
    if (arena->watcher)
        watcher_call(arena->watcher);
}

/* Moves what is over from the watcher's list to `over`. True if anything is left. */
static bool collect(struct mr_watcher *watcher, struct mr_list *over, bool bury)
{
    struct mr_arena_head *head = &watcher->arena->file->head;
    mr_lock_take(&watcher->lock);
    for (struct mr_list *link = watcher->waits.next, *next; link != &watcher->waits; link = next) {
        struct remote_wait *wait = MR_CONTAINER(link, struct remote_wait, link);
        next = link->next;
        if (mr_slot_is_complete(wait->shared->slot, wait->ticket) ||
            (bury && mr_slot_bury(wait->shared->slot, head, mr_process_self(), wait->ticket))) {
            mr_list_remove(link);
            mr_list_append(over, link);
        }
    }
    bool left = !mr_list_empty(&watcher->waits);
    mr_lock_drop(&watcher->lock);
    return left;
}

static void finish(struct mr_list *over)
{
    while (!mr_list_empty(over)) {
        struct remote_wait *wait = MR_CONTAINER(over->next, struct remote_wait, link);
        mr_list_remove(&wait->link);
        mr_mark_complete(wait->mark, CUDA_SUCCESS, 0);
        mr_release_all();
        mr_mark_drop(wait->mark);
        mr_shared_drop(wait->shared);
        mr_free(wait);
    }
}

/* Nothing is outstanding: sleeps until something is. False if the arena isn't wanted any more; then the watcher is
 * gone. */
static bool rest(struct mr_watcher *watcher, uint32_t heard)
{
    mr_lock_take(&mr_arena_lock);
    bool over = !watcher->arena->own && watcher->arena->open == 1;
    if (over) {
        watcher->arena->watcher = NULL;
        mr_arena_close(watcher->arena);
    }
    mr_lock_drop(&mr_arena_lock);
    if (over) {
        mr_free(watcher);
        return false;
    }
    mr_futex_wait(&watcher->work, heard, UINT64_MAX);
    return true;
}

static void *watcher_main(void *data)
{
    struct mr_watcher *watcher = data;
    while (atomic_load(&watcher->state) == START_OPEN)
        mr_futex_wait(&watcher->state, START_OPEN, UINT64_MAX);
    if (atomic_load(&watcher->state) == START_UNWANTED) {
        mr_free(watcher);
        return NULL;
    }
    struct mr_arena_head *head = &watcher->arena->file->head;
    uint64_t looked = mr_clock_ns();
    pthread_setname_np(pthread_self(), "millrace-share");
    while (!atomic_load(&ending)) {
        struct mr_list over = {&over, &over};
        uint32_t work = atomic_load(&watcher->work);
        uint64_t now = mr_clock_ns();
        bool bury = now - looked >= DEATH_NS;
        if (bury)
            looked = now;
        atomic_fetch_add(&head->sleepers, 1);
        uint32_t heard = atomic_load(&head->bell);
        bool left = collect(watcher, &over, bury);
        if (left && mr_list_empty(&over))
            mr_shared_futex_wait(&head->bell, heard, SLEEP_NS);
        atomic_fetch_sub(&head->sleepers, 1);
        finish(&over);
        if (!left && !rest(watcher, work))
            break;
    }
    return NULL;
}

/* A watcher whose thread waits to hear whether it is wanted. NULL when memory or threads are short. */
static struct mr_watcher *watcher_new(struct mr_arena *arena)
{
    struct mr_watcher *watcher = mr_calloc(1, sizeof *watcher);
    if (!watcher)
        return NULL;
    mr_lock_init(&watcher->lock, MR_LOCK_WATCHER);
    watcher->arena = arena;
    mr_list_init(&watcher->waits);
    int error = mr_thread_start(watcher_main, watcher);
    if (error == 0)
        return watcher;
    mr_log(MR_LOG_INFO, "no thread to wait for other processes (errno %d)", error);
    mr_free(watcher);
    return NULL;
}

/* The arena's watcher, made if there is none. NULL when memory or threads are short. The caller holds an event of the
 * arena. */
static struct mr_watcher *watcher_of(struct mr_arena *arena)
{
    mr_lock_take(&mr_arena_lock);
    struct mr_watcher *watcher = arena->watcher;
    mr_lock_drop(&mr_arena_lock);
    if (watcher)
        return watcher;
    struct mr_watcher *made = watcher_new(arena);
    if (!made)
        return NULL;
    mr_lock_take(&mr_arena_lock);
    watcher = arena->watcher;
    if (!watcher) {
        watcher = arena->watcher = made;
        arena->open++;
    }
    mr_lock_drop(&mr_arena_lock);
    atomic_store(&made->state, watcher == made ? START_WANTED : START_UNWANTED);
    mr_futex_wake(&made->state, 1);
    return watcher;
}

/* Sleeps until the recording is complete, for SLEEP_NS at most; may return early. */
static void sleep_on(struct mr_shared_event *shared, struct mr_ticket ticket)
{
    struct mr_slot *slot = shared->slot;
    atomic_fetch_add(&slot->sleepers, 1);
    uint32_t heard = atomic_load(&slot->bell);
    if (!mr_slot_is_complete(slot, ticket))
        mr_shared_futex_wait(&slot->bell, heard, SLEEP_NS);
    atomic_fetch_sub(&slot->sleepers, 1);
}

static bool is_over(struct mr_shared_event *shared, struct mr_ticket ticket)
{
    return mr_slot_is_complete(shared->slot, ticket) ||
           mr_slot_bury(shared->slot, &shared->arena->file->head, mr_process_self(), ticket);
}

struct mr_mark *mr_shared_watch(struct mr_shared_event *shared, struct mr_ticket ticket)
{
    struct mr_watcher *watcher = watcher_of(shared->arena);
    struct remote_wait *wait = watcher ? mr_calloc(1, sizeof *wait) : NULL;
    struct mr_mark *mark = wait ? mr_mark_new() : NULL;
    if (!mark) {
        mr_free(wait);
        while (!is_over(shared, ticket))
            sleep_on(shared, ticket);
        return NULL;
    }
    atomic_fetch_add_explicit(&shared->references, 1, memory_order_relaxed);
    mr_mark_hold(mark);
    mr_mark_hold(mark);
    *wait = (struct remote_wait){.shared = shared, .ticket = ticket, .mark = mark};
    mr_list_init(&wait->link);
    mr_lock_take(&shared->lock);
    struct mr_mark *old = shared->remote;
    shared->remote = mark;
    shared->remote_ticket = ticket;
    mr_lock_drop(&shared->lock);
    if (old)
        mr_mark_drop(old);
    mr_lock_take(&watcher->lock);
    bool first = mr_list_empty(&watcher->waits);
    mr_list_append(&watcher->waits, &wait->link);
    mr_lock_drop(&watcher->lock);
    /* If it sleeps already, on the arena's bell, a completion from now on wakes it; one that came before has to be
     * found by looking. */
    if (first || mr_slot_is_complete(shared->slot, ticket))
        watcher_call(watcher);
    if (!first && mr_slot_is_complete(shared->slot, ticket))
        mr_slot_ring(shared->slot, &shared->arena->file->head);
    return mark;
}

bool mr_event_wait_remote(struct mr_event *event, struct mr_context *context)
{
    struct mr_shared_event *shared = mr_shared_of(event);
    struct mr_ticket ticket;
    if (!shared)
        return false;
    if (mr_shared_look(shared, &ticket) != MR_SHARED_PENDING) {
        mr_shared_drop(shared);
        return false;
    }
    mr_lock_take(&shared->lock);
    bool own = shared->mark && shared->mark_ticket.number == ticket.number;
    mr_lock_drop(&shared->lock);
    unsigned how = atomic_load_explicit(&context->flags, memory_order_relaxed) & CU_CTX_SCHED_MASK;
    bool sleeps = (event->flags & CU_EVENT_BLOCKING_SYNC) || how == CU_CTX_SCHED_BLOCKING_SYNC;
    uint64_t begin = mr_clock_ns(), looked = begin;
    struct mr_visit_paused visit = mr_visit_pause();
    while (!own && !mr_slot_is_complete(shared->slot, ticket) && mr_context_error(context) == CUDA_SUCCESS) {
        uint64_t now = mr_clock_ns();
        if (now - looked >= DEATH_NS) {
            looked = now;
            if (is_over(shared, ticket))
                break;
        }
        if (sleeps || (how == CU_CTX_SCHED_AUTO && now - begin >= SPIN_NS))
            sleep_on(shared, ticket);
        else if (how == CU_CTX_SCHED_YIELD)
            sched_yield();
        else
            for (int i = 0; i < 16; i++)
                mr_pause();
    }
    mr_visit_resume(visit);
    mr_shared_drop(shared);
    return !own;
}
