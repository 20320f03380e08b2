/* SPDX-License-Identifier: Apache-2.0 */
/* Arenas: shared files of slots (slot.h), those that this process made for its own events and those of others that it
 * has open. Private to src/event.
 *
 * Exported events lie in arenas of their process, a few thousand in each. An arena of another process is mapped once,
 * for as long as an event in it is open here. Lock: mr_arena_lock guards the lists and every arena's counts; it is a
 * leaf. */
#ifndef MR_EVENT_ARENA_H
#define MR_EVENT_ARENA_H

#include <cuda.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/list.h"
#include "base/thread.h"
#include "event/slot.h"
#include "share/share.h"

#define MR_ARENA_SLOTS 4092u           /* with the head, 4 MiB */

/* The file. */
struct mr_arena_file {
    struct mr_arena_head head;
    uint64_t fill[511];
    struct mr_slot slots[MR_ARENA_SLOTS];
};

struct mr_shared_event;

struct mr_arena {
    struct mr_share share;             /* of an arena of another process only the token */
    bool own;
    struct mr_arena_file *file;        /* mapped */
    struct mr_list link;
    unsigned open;                     /* of another process: events that are open here, and a thread that watches */
    struct mr_shared_event *known[MR_ARENA_SLOTS]; /* by slot; perhaps one that has just ended */
    uint32_t fresh;                    /* own: slots from here on were never used */
    uint32_t *free, free_count;        /* own: slots that may be used again */
    uint32_t *orphans, orphan_count;   /* own: slots whose event is destroyed here but open elsewhere */
    uint64_t swept;                    /* own: clock, when the orphans were last looked through */
    struct mr_watcher *watcher;        /* shared_wait.c; NULL until somebody waits */
};

extern mr_lock mr_arena_lock;

/* A slot for an event of this process, all its fields as for an event that was never recorded.
 * CUDA_ERROR_OUT_OF_MEMORY. Lock held. */
CUresult mr_arena_slot_new(uint64_t self, struct mr_arena **arena, uint32_t *index) __attribute__((warn_unused_result));

/* Gives up an own slot: no handle leads there any more; it is used again when no other process has it open. Lock held.
 */
void mr_arena_slot_end(struct mr_arena *arena, uint32_t index);

/* The arena that a handle leads to, mapped, and counted as open once more. CUDA_ERROR_MAP_FAILED. Lock held. */
CUresult mr_arena_open(const struct mr_share_handle *handle, struct mr_arena **arena)
    __attribute__((warn_unused_result));

/* Takes one count back; with the last one the arena goes. Lock held. */
void mr_arena_close(struct mr_arena *arena);

#endif
