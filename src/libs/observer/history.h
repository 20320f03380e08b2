/* SPDX-License-Identifier: Apache-2.0 */
/* The history of one allocation: which operations touched which of its bytes last.
 *
 * A note says that an operation read or wrote the bytes of a shape. A note is dropped, or loses bytes, when another one
 * makes it needless: one of an operation that comes after it, touches the same bytes, and races with whatever the first
 * one could still race with. So a history has notes of what is last, not of all that was, and an allocation that one
 * stream uses as a whole has one or two notes.
 *
 * Notes may be told in any order, as long as an operation's are told after those of the operations before it that write
 * the same bytes, or else some races are missed: the engine runs an operation when those before it have ended.
 *
 * A note is rough if its shape may have bytes that were not touched. A rough note races for certain only with one that
 * has all bytes of its shape; nothing else is reported of it, and it makes no other note needless. Histories become
 * rough, and forget their oldest notes, when they are larger than memory for notes allows (obs_history_limit).
 *
 * Threads: any number, on any history; each history has a lock. Findings are noted with it held (found.h). */
#ifndef MR_OBSERVER_HISTORY_H
#define MR_OBSERVER_HISTORY_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "libs/observer/finding.h"
#include "libs/observer/operation.h"
#include "libs/observer/shape.h"
#include "libs/observer/spans.h"

struct obs_history {
    pthread_mutex_t lock; /* guards what follows */
    struct obs_span *notes;
    size_t count;
    uint64_t stamp; /* of the last note */
    enum mr_allocation_kind kind; /* constant */
    struct obs_operation *made, *ended; /* ended: NULL until then */
};

/* With MR_ACCESS_ATOMIC and MR_ACCESS_WRITE: a stream sets the whole word, whatever was there. Two of these race with
 * each other, and with nothing else that is atomic. */
enum { OBS_ACCESS_SETS = 1 << 16 };

/* The host's code has touched a single word: no race with what talks by it (talk.h). */
enum { OBS_ACCESS_WORD = 1 << 17 };

/* What one operation touches of the allocation. */
struct obs_touched {
    struct obs_shape shape;
    uint32_t how, place; /* as in struct mr_access; how may have OBS_ACCESS_SETS as well */
};

/* What memory of the heap of kernels comes from and goes by, in place of a call. */
extern const char obs_heap_malloc[], obs_heap_free[];

/* How findings of a history are told. */
struct obs_told {
    struct mr_finding_allocation allocation;
    ptrdiff_t shift; /* added to the addresses of shapes: an allocation may be seen at another address */
    bool elsewhere;  /* races are looked for in another history of the same bytes; this one is for the end */
};

/* `made` made the allocation; the history keeps a reference. NULL: no call is known that did. */
void obs_history_init(struct obs_history *history, enum mr_allocation_kind kind, struct obs_operation *made);
void obs_history_free(struct obs_history *history);

/* The operation touches these bytes. The shapes are the history's from now on. Reports races, uses that don't come
 * after the allocation, and uses that the end of the allocation doesn't come after. */
void obs_history_touch(struct obs_history *history, struct obs_operation *operation, const struct obs_told *told,
                       struct obs_touched *touched, size_t count);

/* The operation ends the allocation: reports what it doesn't come after. Only the first end counts. */
void obs_history_end(struct obs_history *history, struct obs_operation *operation, const struct obs_told *told);

/* The operations of notes that say that some of the bytes were written, with these bits of `how`, kept for the caller;
 * `most` at most. */
size_t obs_history_writers(struct obs_history *history, uintptr_t first, uintptr_t end, struct obs_operation *out[],
                           uint32_t how, size_t most);

/* Forgets all notes. */
void obs_history_forget(struct obs_history *history);

/* Memory for notes of all histories; notes are made rough and forgotten beyond it. */
void obs_history_limit(size_t bytes);
size_t obs_history_bytes(void);
bool obs_history_full(void); /* notes take more than three quarters of the limit */

/* Counts since the start, as in struct mr_race_summary. */
struct obs_history_counts {
    uint64_t coarse, forgotten;
    bool short_of_memory;
};
struct obs_history_counts obs_history_counts(void);

#endif
