/* SPDX-License-Identifier: Apache-2.0 */
/* What a thread that runs blocks lets others see of its run, and how another thread takes back blocks that it has not
 * begun.
 *
 * The thread writes down how far it is by plain stores, and looks at `attention` behind them. A thread that wants to
 * know more holds the run: it sets a bit of `attention`, makes all threads of the process pass a barrier (membarrier),
 * and then reads. Either the thread's store has been seen, or the thread sees the bit and waits. So all that the thread
 * pays for each call of generated code is a store and a load.
 *
 * What is held goes on in the generated code where it is; it neither ends its run nor begins another block until it is
 * let go. */
#ifndef MR_KERNEL_PROGRESS_H
#define MR_KERNEL_PROGRESS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/thread.h"

struct mr_launch;

enum {
    MR_ATTENTION_HELD = 1u << 0,      /* wait at the next block or at the run's end */
    MR_ATTENTION_CUT = 1u << 1,       /* blocks of the run were taken back */
    MR_ATTENTION_TELL = 1u << 2       /* say in the log what the run waits for */
};

/* One for each thread, in its thread-local storage. Written by the thread, except where said. */
struct mr_progress {
    _Atomic uint32_t attention;       /* MR_ATTENTION_*: set by others */
    _Atomic(struct mr_launch *) launch;   /* that the thread runs, or NULL; alive while the run is held */
    _Atomic uint64_t id;              /* of the launch: its %gridid */
    _Atomic uint64_t begun; /* grows when a run begins; where blocks run together, when one begins or ends */
    _Atomic uint64_t spare; /* blocks of the run behind those that have begun: falls with each call of generated code */
    _Atomic uint64_t
        waited; /* grows while all that the thread's block does is wait, or all its blocks, where they run together */
    _Atomic uint64_t moved; /* grows when, between such waits, lanes have left a loop that waits, or changed memory */
    _Atomic uint32_t blocks; /* under way on this thread */
    uint64_t end; /* of the run: one behind its last block; changed only by the thread that holds the run */
    uint64_t cut; /* under `lock`: blocks taken back that the thread has not heard of */
    struct {
        uint64_t blocks, ns;
    } tell; /* under `lock`, for the log: blocks of the launch under way, and for how long nothing has moved */
    int thread; /* its number, for signals; 0 before its first run */
    mr_lock lock; /* held by the thread that holds the run */
};

/* The calling thread's. */
struct mr_progress *mr_progress_self(void);

/* What watches runs: `watched` is set while somebody looks now and then; else `watch` is called when a run begins, on
 * its thread, outside of generated code, no lock held. Set once before any launch; NULL: none does. */
extern _Atomic bool mr_progress_watched;
extern void (*mr_progress_watch)(void);

/* What the runner calls: a run begins; it ends; something of the run's state asks for attention: the number of blocks
 * by which the run is shorter now. */
void mr_progress_begin(struct mr_progress *progress, struct mr_launch *launch, uint64_t end, uint64_t spare);
void mr_progress_end(struct mr_progress *progress);
uint64_t mr_progress_heed(struct mr_progress *progress);

/* Adds to a number that only this thread writes. */
static inline void mr_progress_add(_Atomic uint64_t *number)
{
    atomic_store_explicit(number, atomic_load_explicit(number, memory_order_relaxed) + 1, memory_order_relaxed);
}

/* The next call of generated code leaves so many blocks of the run to later ones. Nonzero: mr_progress_heed has to be
 * called before it. */
static inline uint32_t mr_progress_note(struct mr_progress *progress, uint64_t spare)
{
    atomic_store_explicit(&progress->spare, spare, memory_order_relaxed);
    atomic_signal_fence(memory_order_seq_cst);
    return atomic_load_explicit(&progress->attention, memory_order_relaxed);
}

/* Holds a run of another thread. The launch, or NULL if the thread runs none: then nothing is held. The launch is alive
 * until mr_progress_let_go. The caller may hold the engine's lock. */
struct mr_launch *mr_progress_hold(struct mr_progress *progress) __attribute__((warn_unused_result));
void mr_progress_let_go(struct mr_progress *progress);

/* The blocks of a run that is held that it has not begun, *first to *end - 1. False if there are none. They stay as
 * they are while it is held. */
bool mr_progress_spare(const struct mr_progress *progress, uint64_t *first, uint64_t *end);
/* Takes blocks back, from `first` on, which is one of those: the run will not begin them. */
void mr_progress_cut(struct mr_progress *progress, uint64_t first);

/* The running thread gives away the last block that its run has not begun; *block gets its number. False if all have
 * begun. Called in the middle of the run, which is not held. */
bool mr_progress_give(struct mr_progress *progress, uint64_t *block);

/* Interrupts a run that is held in the middle of generated code, so that another warp of its block, or another of its
 * blocks, has its turn. Nothing happens if the thread is elsewhere just then, or if the program has uses of its own for
 * both signals, SIGURG and SIGWINCH. */
void mr_progress_force(struct mr_progress *progress);

/* A thread of the driver's, which has all signals blocked, may be interrupted from now on. Those of the program's
 * threads that block the signal are not. */
void mr_progress_thread_begin(void);

/* Makes a run that is held say what it waits for, when it next looks. */
void mr_progress_tell(struct mr_progress *progress, uint64_t blocks, uint64_t ns);

/* All threads of the process pass a memory barrier before this returns: what they stored before it can be read, and
 * what is stored here they read behind it. */
void mr_progress_barrier(void);

#endif
