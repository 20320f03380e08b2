/* SPDX-License-Identifier: Apache-2.0 */
/* The rules of slot.h: the lock, numbers and lanes, completion, the dead. */
#define _GNU_SOURCE
#include "event/slot.h"

#include <limits.h>
#include <linux/futex.h>
#include <sched.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/thread.h"
#include "share/share.h"

#define SPINS 200
#define SUSPECT_NS 1000000u     /* a lock held for longer makes one ask whether its holder lives */

void mr_shared_futex_wait(_Atomic uint32_t *word, uint32_t expected, uint64_t timeout_ns)
{
    struct timespec limit = {(time_t)(timeout_ns / 1000000000u), (long)(timeout_ns % 1000000000u)};
    syscall(SYS_futex, word, FUTEX_WAIT, expected, &limit, NULL, 0);
}

static void shared_futex_wake(_Atomic uint32_t *word)
{
    syscall(SYS_futex, word, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
}

/* Spins: what is done under the lock takes some dozens of instructions. */
static void lock_take(struct mr_slot *slot, uint64_t self)
{
    uint64_t since = 0;
    for (int spin = 0;; spin++) {
        uint64_t holder = 0;
        if (atomic_compare_exchange_strong_explicit(&slot->lock, &holder, self, memory_order_acquire,
                                                    memory_order_relaxed))
            return;
        if (spin < SPINS) {
            mr_pause();
            continue;
        }
        sched_yield();
        uint64_t now = mr_clock_ns();
        if (!since)
            since = now;
        if (now - since < SUSPECT_NS)
            continue;
        since = now;
        /* Another thread of this process will come to it. */
        if (holder != self && !mr_process_lives(holder) &&
            atomic_compare_exchange_strong_explicit(&slot->lock, &holder, self, memory_order_acquire,
                                                    memory_order_relaxed))
            return;
    }
}

static void lock_drop(struct mr_slot *slot)
{
    atomic_store_explicit(&slot->lock, 0, memory_order_release);
}

struct mr_ticket mr_slot_latest(struct mr_slot *slot)
{
    uint64_t latest = atomic_load_explicit(&slot->latest, memory_order_acquire);
    uint32_t lane = (uint32_t)(latest & 0xff);
    return (struct mr_ticket){latest >> 8, lane == 0 || lane > MR_SLOT_LANES ? MR_SLOT_NO_LANE : lane - 1};
}

bool mr_slot_is_complete(struct mr_slot *slot, struct mr_ticket ticket)
{
    return ticket.lane == MR_SLOT_NO_LANE ||
           atomic_load_explicit(&slot->lanes[ticket.lane].completed, memory_order_acquire) >= ticket.number;
}

static bool lane_pending(struct mr_lane *lane)
{
    return atomic_load_explicit(&lane->completed, memory_order_acquire) <
           atomic_load_explicit(&lane->last, memory_order_relaxed);
}

/* Raises a number; never lowers it. */
static void raise_to(_Atomic uint64_t *number, uint64_t to)
{
    uint64_t now = atomic_load_explicit(number, memory_order_relaxed);
    while (now < to &&
           !atomic_compare_exchange_weak_explicit(number, &now, to, memory_order_seq_cst, memory_order_relaxed))
        ;
}

/* Completes what the lane's dead owner left. Lock held. */
static void lane_bury(struct mr_slot *slot, uint32_t index)
{
    struct mr_lane *lane = &slot->lanes[index];
    struct mr_ticket latest = mr_slot_latest(slot);
    if (latest.lane == index && !mr_slot_is_complete(slot, latest))
        atomic_store_explicit(&slot->lost, latest.number, memory_order_release);
    raise_to(&lane->completed, atomic_load_explicit(&lane->last, memory_order_relaxed));
    atomic_store_explicit(&lane->owner, 0, memory_order_relaxed);
}

/* The lane that this stream records into, or a free one. Lock held. */
static uint32_t lane_choose(struct mr_slot *slot, uint64_t self, const void *stream, const void *streams[MR_SLOT_LANES])
{
    uint32_t free = MR_SLOT_NO_LANE;
    for (uint32_t i = 0; i < MR_SLOT_LANES; i++) {
        struct mr_lane *lane = &slot->lanes[i];
        if (!lane_pending(lane)) {
            if (free == MR_SLOT_NO_LANE)
                free = i;
        } else if (stream && streams[i] == stream && atomic_load_explicit(&lane->owner, memory_order_relaxed) == self) {
            return i;
        }
    }
    for (uint32_t i = 0; i < MR_SLOT_LANES && free == MR_SLOT_NO_LANE; i++) {
        uint64_t owner = atomic_load_explicit(&slot->lanes[i].owner, memory_order_relaxed);
        if (owner != self && !mr_process_lives(owner)) {
            lane_bury(slot, i);
            free = i;
        }
    }
    return free;
}

bool mr_slot_begin(struct mr_slot *slot, uint64_t self, const void *stream, const void *streams[MR_SLOT_LANES],
                   struct mr_ticket *out)
{
    lock_take(slot, self);
    uint32_t index = lane_choose(slot, self, stream, streams);
    if (index != MR_SLOT_NO_LANE) {
        struct mr_lane *lane = &slot->lanes[index];
        uint64_t number = atomic_load_explicit(&slot->next, memory_order_relaxed) + 1;
        atomic_store_explicit(&slot->next, number, memory_order_relaxed);
        /* The owner is written first: threads would wait for ever for a number whose process nobody knows. */
        atomic_store_explicit(&lane->owner, self, memory_order_release);
        atomic_store_explicit(&lane->last, number, memory_order_release);
        streams[index] = stream;
        *out = (struct mr_ticket){number, index};
    }
    lock_drop(slot);
    return index != MR_SLOT_NO_LANE;
}

void mr_slot_publish(struct mr_slot *slot, struct mr_ticket ticket)
{
    raise_to(&slot->latest, ticket.number << 8 | (ticket.lane == MR_SLOT_NO_LANE ? 0 : ticket.lane + 1));
}

void mr_slot_record_complete(struct mr_slot *slot, uint64_t self)
{
    lock_take(slot, self);
    struct mr_ticket ticket = {atomic_load_explicit(&slot->next, memory_order_relaxed) + 1, MR_SLOT_NO_LANE};
    atomic_store_explicit(&slot->next, ticket.number, memory_order_relaxed);
    mr_slot_publish(slot, ticket);
    lock_drop(slot);
}

void mr_slot_complete(struct mr_slot *slot, struct mr_ticket ticket)
{
    raise_to(&slot->lanes[ticket.lane].completed, ticket.number);
}

/* A sleeper counts itself, and then looks for the last time; a thread that completes does that first, and then looks
 * for sleepers. */
static void ring(_Atomic uint32_t *bell, _Atomic uint32_t *sleepers)
{
    if (atomic_load(sleepers) == 0)
        return;
    atomic_fetch_add(bell, 1);
    shared_futex_wake(bell);
}

void mr_slot_ring(struct mr_slot *slot, struct mr_arena_head *head)
{
    atomic_thread_fence(memory_order_seq_cst);
    ring(&slot->bell, &slot->sleepers);
    ring(&head->bell, &head->sleepers);
}

bool mr_slot_bury(struct mr_slot *slot, struct mr_arena_head *head, uint64_t self, struct mr_ticket ticket)
{
    if (mr_slot_is_complete(slot, ticket))
        return false;
    struct mr_lane *lane = &slot->lanes[ticket.lane];
    uint64_t owner = atomic_load_explicit(&lane->owner, memory_order_acquire);
    if (owner == self || mr_process_lives(owner))
        return false;
    lock_take(slot, self);
    bool still =
        atomic_load_explicit(&lane->owner, memory_order_relaxed) == owner && !mr_slot_is_complete(slot, ticket);
    if (still)
        lane_bury(slot, ticket.lane);
    lock_drop(slot);
    if (still) {
        mr_log(MR_LOG_WARN, "process %u died before it completed its recording of a shared event",
               (unsigned)(owner & 0x3fffff));
        mr_slot_ring(slot, head);
    }
    return still;
}
