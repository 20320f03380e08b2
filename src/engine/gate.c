/* SPDX-License-Identifier: Apache-2.0 */
/* Held tasks, and when the engine rests.
 *
 * A ticket is the number of times that the observer has wanted to be asked again. It is read before the observer is
 * asked: where it has grown by the time the task is to be held, the answer may be another one now. */
#include "engine/gate.h"

#include "engine/workers.h"

bool (*mr_gate_wait_is_over)(void);

uint64_t mr_gate_ask(const struct mr_observed_work *work)
{
    MR_MAY_WAIT();
    mr_lock_take(&mr_engine.lock);
    uint64_t ticket = mr_engine.gate.asked + 1;
    mr_lock_drop(&mr_engine.lock);
    return mr_observer.may_begin(work) ? 0 : ticket;
}

bool mr_gate_is_old(uint64_t ticket)
{
    mr_lock_take(&mr_engine.lock);
    bool is_old = ticket != mr_engine.gate.asked + 1;
    mr_lock_drop(&mr_engine.lock);
    return is_old;
}

/* Takes a task off the held ones, whose place another one gets. Lock held. */
static void release(struct mr_task *task)
{
    struct mr_gate *gate = &mr_engine.gate;
    MR_HELD(&mr_engine.lock);
    struct mr_task *last = gate->held[--gate->count];
    gate->held[task->held - 1] = last;
    last->held = task->held;
    task->held = 0;
}

struct mr_call mr_gate_hold(struct mr_task *task, uint64_t key, uint64_t ticket)
{
    struct mr_gate *gate = &mr_engine.gate;
    struct mr_call call = {0};
    mr_lock_take(&mr_engine.lock);
    task->key = key;
    if (ticket == gate->asked + 1) {
        gate->held[gate->count++] = task;
        task->held = (uint32_t)gate->count;
    } else {
        call = mr_engine_queue(task);
    }
    mr_lock_drop(&mr_engine.lock);
    return call;
}

struct mr_call mr_gate_recall(struct mr_task *task)
{
    struct mr_call call = {0};
    mr_lock_take(&mr_engine.lock);
    if (task->held) {
        release(task);
        call = mr_engine_queue(task);
    }
    mr_lock_drop(&mr_engine.lock);
    return call;
}

void mr_gate_ask_again(void)
{
    struct mr_gate *gate = &mr_engine.gate;
    struct mr_call call = {0};
    mr_lock_take(&mr_engine.lock);
    gate->asked++;
    while (gate->count > 0) {
        struct mr_task *task = gate->held[gate->count - 1];
        release(task);
        call = mr_call_both(call, mr_engine_queue(task));
    }
    mr_engine_note_change();
    call = mr_call_both(call, mr_engine_call());
    mr_lock_drop(&mr_engine.lock);
    mr_call_make(call);
}

void mr_gate_note_change(void)
{
    mr_lock_take(&mr_engine.lock);
    mr_engine_note_change();
    struct mr_call call = mr_engine_call();
    mr_lock_drop(&mr_engine.lock);
    mr_call_make(call);
}

bool mr_gate_at_rest(void)
{
    mr_lock_take(&mr_engine.lock);
    bool rests = mr_engine_is_calm() && !atomic_load_explicit(&mr_engine.queued, memory_order_relaxed) &&
                 mr_engine.hot_jobs == 0;
    mr_lock_drop(&mr_engine.lock);
    return rests && !mr_gate_wait_is_over();
}
