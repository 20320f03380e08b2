/* SPDX-License-Identifier: Apache-2.0 */
/* An event as several processes see it: the layout of shared memory, and the rules by which it changes. Private to
 * src/event.
 *
 * Each recording of a shared event gets a number, from one on. `latest` says which came last; a wait is for the number
 * that it finds there. A pending recording stands in a lane. Numbers of a lane complete in order, so that a lane says
 * with one number (`completed`) what is done: one stream of one process at a time records into a lane, and the lane is
 * free for others once it has nothing pending. So a later recording that completes early, in another stream or process,
 * never lets a wait for an earlier one go.
 *
 * Assigning numbers and lanes takes the slot's lock, a word that names its holder: a process that finds its holder dead
 * takes it over. Every state in which a holder can die is a good one. Completing takes no lock. What a dead process
 * left pending is completed by the process that notices (mr_slot_bury), and `lost` tells that of the latest recording.
 *
 * Nothing here is trusted further than to be a number: another process may write anything at any time. */
#ifndef MR_EVENT_SLOT_H
#define MR_EVENT_SLOT_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#define MR_SLOT_LANES 28u
#define MR_SLOT_OPENERS 32u
#define MR_SLOT_NO_LANE UINT32_MAX

struct mr_lane {
    _Atomic uint64_t owner;              /* the process (share.h) that records here; under the lock */
    _Atomic uint64_t last;               /* the newest number; under the lock */
    _Atomic uint64_t completed;          /* all numbers up to this one are complete; only grows */
};

struct mr_slot {
    _Atomic uint64_t lock;               /* 0, or the process that holds it */
    _Atomic uint64_t nonce;              /* stands in the event's handles; 0: no handle leads here */
    _Atomic uint64_t next;               /* the newest number that was given out; under the lock */
    _Atomic uint64_t latest; /* number << 8 | lane + 1, or | 0 if it was complete at once; 0: never recorded */
    _Atomic uint64_t lost; /* the latest number that a process took with it when it died */
    _Atomic uint32_t bell, sleepers; /* futex of threads that wait for this event, and how many they are */
    _Atomic uint32_t crowded; /* more processes have opened it than `openers` can hold */
    uint32_t unused[3];
    _Atomic uint64_t openers[MR_SLOT_OPENERS]; /* other processes that have it open */
    struct mr_lane lanes[MR_SLOT_LANES];
    uint64_t fill[4];
};
_Static_assert(sizeof(struct mr_slot) == 1024, "a slot's size is part of the layout");

/* What all events of an arena share: threads that wait for any of them. */
struct mr_arena_head {
    _Atomic uint32_t bell, sleepers;
};

/* A recording as a wait takes it. */
struct mr_ticket {
    uint64_t number;
    uint32_t lane;
};

/* The latest recording; number 0 if there was none. */
struct mr_ticket mr_slot_latest(struct mr_slot *slot);

/* Is that recording complete? One or two loads. */
bool mr_slot_is_complete(struct mr_slot *slot, struct mr_ticket ticket);

/* Takes a number and a lane for a recording in a stream; `streams` is this process's own note of which stream uses
 * which lane, also under the lock. False if all lanes are taken: more than MR_SLOT_LANES streams have recordings of the
 * event pending. */
bool mr_slot_begin(struct mr_slot *slot, uint64_t self, const void *stream, const void *streams[MR_SLOT_LANES],
                   struct mr_ticket *out) __attribute__((warn_unused_result));

/* Makes it the latest, unless there is a later one. */
void mr_slot_publish(struct mr_slot *slot, struct mr_ticket ticket);

/* A recording that is complete at once. */
void mr_slot_record_complete(struct mr_slot *slot, uint64_t self);

/* Completes a recording. Takes no lock, doesn't block; the caller rings afterwards. */
void mr_slot_complete(struct mr_slot *slot, struct mr_ticket ticket);

/* Wakes the threads that wait for the event, in any process. */
void mr_slot_ring(struct mr_slot *slot, struct mr_arena_head *head);

/* If the process that has to complete the recording has died, completes what it left. True if it did. A system call. */
bool mr_slot_bury(struct mr_slot *slot, struct mr_arena_head *head, uint64_t self, struct mr_ticket ticket);

/* Sleeping on a word that other processes change. */
void mr_shared_futex_wait(_Atomic uint32_t *word, uint32_t expected, uint64_t timeout_ns);

#endif
