/* SPDX-License-Identifier: Apache-2.0 */
/* The queue of ready tasks: a binary heap by key, from which any task can be taken by its place.
 *
 * Each change ends in mr_engine_publish, which keeps two words up to date that other threads read without the lock: whether there is anything
 * to do, and the key that goes first. */
#include "base/memory.h"
#include "engine/workers.h"

struct mr_engine mr_engine = { .grids = { &mr_engine.grids, &mr_engine.grids }, .top_key = MR_ENGINE_KEY_NONE };

static _Atomic uint64_t next_sequence = 1;

uint64_t mr_engine_sequence(void)
{
    return atomic_fetch_add_explicit(&next_sequence, 1, memory_order_relaxed);
}

bool mr_engine_task_begin(void)
{
    mr_lock_take(&mr_engine.lock);
    bool room = mr_array_reserve((void **)&mr_engine.heap, &mr_engine.heap_room, mr_engine.tasks + 2, sizeof *mr_engine.heap);
    if (room)
        mr_engine.tasks++;
    mr_lock_drop(&mr_engine.lock);
    return room;
}

void mr_engine_task_end(void)
{
    mr_lock_take(&mr_engine.lock);
    mr_engine.tasks--;
    mr_lock_drop(&mr_engine.lock);
}

void mr_engine_publish(void)
{
    uint64_t top = mr_engine.heap_count ? mr_engine.heap[1]->key : MR_ENGINE_KEY_NONE;
    atomic_store_explicit(&mr_engine.top_key, top, memory_order_relaxed);
    atomic_store_explicit(&mr_engine.ready, mr_engine.heap_count + mr_engine.hot_grids, memory_order_relaxed);
}

static void put_at(struct mr_task *task, uint32_t place)
{
    mr_engine.heap[place] = task;
    task->place = place;
}

static void sift_up(struct mr_task *task, uint32_t place)
{
    for (; place > 1 && mr_engine.heap[place / 2]->key > task->key; place /= 2)
        put_at(mr_engine.heap[place / 2], place);
    put_at(task, place);
}

static void sift_down(struct mr_task *task, uint32_t place)
{
    for (;;) {
        uint32_t child = place * 2;
        if (child > mr_engine.heap_count)
            break;
        if (child < mr_engine.heap_count && mr_engine.heap[child + 1]->key < mr_engine.heap[child]->key)
            child++;
        if (mr_engine.heap[child]->key >= task->key)
            break;
        put_at(mr_engine.heap[child], place);
        place = child;
    }
    put_at(task, place);
}

/* Lock held; the task is queued. */
static void remove_task(struct mr_task *task)
{
    uint32_t place = task->place;
    struct mr_task *last = mr_engine.heap[mr_engine.heap_count--];
    task->place = 0;
    if (last != task) {
        if (place > 1 && mr_engine.heap[place / 2]->key > last->key)
            sift_up(last, place);
        else
            sift_down(last, place);
    }
    mr_engine_publish();
}

struct mr_call mr_engine_push(struct mr_task *task, uint64_t key)
{
    mr_lock_take(&mr_engine.lock);
    task->key = key;
    sift_up(task, ++mr_engine.heap_count);
    mr_engine_publish();
    struct mr_call call = mr_engine_call();
    mr_lock_drop(&mr_engine.lock);
    return call;
}

bool mr_engine_take(struct mr_task *task)
{
    mr_lock_take(&mr_engine.lock);
    bool queued = task->place != 0;
    if (queued)
        remove_task(task);
    mr_lock_drop(&mr_engine.lock);
    return queued;
}

bool mr_engine_has_older(uint64_t key)
{
    return atomic_load_explicit(&mr_engine.top_key, memory_order_relaxed) < key;
}

bool mr_engine_pick(struct mr_task **task, struct mr_grid **grid)
{
    struct mr_grid *best = mr_engine.hot_grids ? mr_grid_best() : NULL;
    struct mr_task *top = mr_engine.heap_count ? mr_engine.heap[1] : NULL;
    *task = NULL;
    *grid = NULL;
    if (best && (!top || best->key <= top->key)) {
        atomic_fetch_add_explicit(&best->inside, 1, memory_order_relaxed);
        *grid = best;
    } else if (top) {
        remove_task(top);
        *task = top;
    } else {
        return false;
    }
    mr_engine.takes++;
    return true;
}
