/* SPDX-License-Identifier: Apache-2.0 */
/* Watches: conditions in memory whose change is not signalled.
 *
 * A stream that waits for a value in memory, or for another process, waits for something that a store brings about: by
 * the host, by a kernel, from outside. A watch is such a condition; the service looks at it until it holds, and then
 * calls `done` once. Ten thousand watches cost one thread, the poller, which starts with the first use and sleeps for
 * good while there are none.
 *
 * These look: the thread that adds the watch; what this process itself changes in stream order (mr_watch_ring,
 * mr_watch_ring_at); threads that wait and have nothing better to do (mr_watch_ring); and the poller. It naps for 20 µs
 * after something happened, and longer and longer while nothing does: a sixteenth of the time that has passed, up to
 * four milliseconds. So what a watch adds to a wait is small against the wait, and one that waits for long costs under
 * a hundredth of a processor.
 *
 * All functions may be called by any thread. */
#ifndef MR_ENGINE_WATCH_H
#define MR_ENGINE_WATCH_H

#include <cuda.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/list.h"

/* Embedded in what waits; its owner sets the first three members and keeps it in place until `done` was called or
 * mr_watch_cancel said true. */
struct mr_watch {
    /* Does the condition hold? Called often, on any thread, with a lock of the service held: takes no lock, allocates
     * nothing, reads memory by atomic loads. It may touch memory that the program has taken away: then the watch is
     * over, with status CUDA_ERROR_ILLEGAL_ADDRESS. */
    bool (*ready)(struct mr_watch *watch);
    /* The condition held (or `status` says why not). Called once, with no lock held, on the thread that saw it; the
     * watch is the owner's again, which may free or add it anew here. It may complete marks: what waits for them is
     * moved on afterwards. It must not block, nor run kernels. */
    void (*done)(struct mr_watch *watch);
    const void *word; /* what it looks at, for mr_watch_ring_at; NULL if that isn't one place */

    CUresult status; /* set before `done` */
    struct mr_list link; /* the service's */
    struct mr_watch *next;
    bool added;
};

/* Makes sure that there is a poller. False if the thread can't be made: then nothing may be added. Before the first
 * mr_watch_add; no lock held. */
bool mr_watch_begin(void) __attribute__((warn_unused_result));

/* Adds a watch. False if its condition holds already: it isn't added, and `done` won't be called. */
bool mr_watch_add(struct mr_watch *watch) __attribute__((warn_unused_result));

/* Takes a watch back. False if it is over: `done` was called, is running, or will be, on another thread. Not from
 * within `ready`. */
bool mr_watch_cancel(struct mr_watch *watch) __attribute__((warn_unused_result));

extern _Atomic uint32_t mr_watch_count; /* watches that are added and not over */
void mr_watch_ring_slow(const void *word);

/* Something may have changed: look. At once on this thread if the watches are few, else the poller is called. No lock
 * held. One load when there are no watches, and no fence: a watch that is added at this very moment may be left to the
 * poller. */
static inline void mr_watch_ring(void)
{
    if (__builtin_expect(atomic_load_explicit(&mr_watch_count, memory_order_relaxed) != 0, 0))
        mr_watch_ring_slow(NULL);
}

/* The eight bytes around `word` have changed: looks at the watches on them, at once, however many others there are, and
 * misses none. No lock held. */
static inline void mr_watch_ring_at(const void *word)
{
    atomic_thread_fence(memory_order_seq_cst);
    if (__builtin_expect(atomic_load_explicit(&mr_watch_count, memory_order_relaxed) != 0, 0))
        mr_watch_ring_slow(word);
}

/* True if there are watches. One load. */
static inline bool mr_watch_any(void)
{
    return atomic_load_explicit(&mr_watch_count, memory_order_relaxed) != 0;
}

/* The stream layer's way of moving on the streams whose marks were completed on this thread; called after `done`s, no
 * lock held. Set once, before any use. */
extern void (*mr_watch_settle)(void);

/* Numbers for tests and benchmarks: looks over all watches by the poller so far. */
uint64_t mr_watch_rounds(void);

#endif
