/* SPDX-License-Identifier: Apache-2.0 */
/* The gate: an observer says when a work, or a step of a graph's run, may begin (MR_OBSERVE_ORDER in
 * observe/observe.h).
 *
 * Without such an observer the gate is open: mr_gate_on is a load and a branch, and nothing else here is called. With
 * one, workers alone run works: no call does its own at once, and no thread that waits helps. Before a worker begins a
 * work it asks. What may not begin goes back: its task is held, and queued again when the observer wants to be asked
 * again. When nothing runs and nothing is queued, and something has changed since the last time, a worker tells the
 * observer that the engine rests. */
#ifndef MR_ENGINE_GATE_H
#define MR_ENGINE_GATE_H

#include <stdbool.h>
#include <stdint.h>

#include "engine/engine.h"
#include "observe/hooks.h"

static inline bool mr_gate_on(void)
{
    return mr_observes(MR_OBSERVE_ORDER);
}

/* May the work or step begin now? 0: it may. Else a ticket for mr_gate_hold. Called on a worker, no lock held. */
uint64_t mr_gate_ask(const struct mr_observed_work *work) __attribute__((warn_unused_result));

/* Has the observer wanted to be asked again since the ticket was given? The caller may hold a task's lock. */
bool mr_gate_is_old(uint64_t ticket) __attribute__((warn_unused_result));

/* Holds a task that isn't queued. If the observer has wanted to be asked again since the ticket was given, the task is
 * queued at once. The caller may hold the task's own lock; it makes the call afterwards. */
struct mr_call mr_gate_hold(struct mr_task *task, uint64_t key, uint64_t ticket) __attribute__((warn_unused_result));

/* Queues a task again that is held, because there is more to do in it. Nothing if it isn't held. Locks as above. */
struct mr_call mr_gate_recall(struct mr_task *task) __attribute__((warn_unused_result));

/* struct mr_observed_driver's functions of these names. Any thread; no lock of the driver's held. */
void mr_gate_ask_again(void);
bool mr_gate_at_rest(void);

/* Something has changed that mr_gate_at_rest looks at: if the engine rests the observer is told. No lock of the
 * driver's is held. */
void mr_gate_note_change(void);

/* The stream layer's: a thread that the observer was told waits has what it waits for, but has not gone on yet. The
 * engine doesn't rest then. Set once, before any use; no lock of the engine is held when it is called. */
extern bool (*mr_gate_wait_is_over)(void);

#endif
