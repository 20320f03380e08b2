/* SPDX-License-Identifier: Apache-2.0 */
/* The queue of ready tasks: for each priority a binary heap by age, from which any task can be taken by its place.
 *
 * A higher priority goes before, but not for ever: each time that something of a higher priority is taken while a heap
 * has tasks waiting, that heap is passed over, and after MR_PATIENCE times its oldest task is next. A worker goes on
 * with the stream that it has, though older work of the same priority waits: what the one command wrote is still in the
 * caches for the next. But a task of a stream is at most MR_TURN commands long while others wait, so a command of the
 * lowest priority whose turn it would be waits for a bounded number of others, whatever is submitted later.
 *
 * Each change ends in mr_engine_publish, which keeps words up to date that other threads read without the lock: whether
 * there is anything to do, and the key that goes first. */
#include "base/alloc.h"
#include "base/chaos.h"
#include "base/clock.h"
#include "engine/workers.h"
#include "observe/hooks.h"

struct mr_engine mr_engine = {.jobs = {&mr_engine.jobs, &mr_engine.jobs},
                              .runners = {&mr_engine.runners, &mr_engine.runners},
                              .lock = MR_LOCK_INIT(ENGINE),
                              .top_key = MR_ENGINE_KEY_NONE,
                              .stall_pace = {50000000, 100000000, 1000000000, 4000000}};

static _Atomic uint64_t next_sequence = 1;

uint64_t mr_engine_sequence(void)
{
    return atomic_fetch_add_explicit(&next_sequence, 1, memory_order_relaxed);
}

/* Room in all heaps, and among the held tasks, for one more. False when memory is short. Lock held. */
__attribute__((noinline)) static bool grow(void)
{
    MR_HELD(&mr_engine.lock);
    bool room = true;
    size_t needed = mr_engine.tasks + 2; /* a heap's first place stays empty */
    if (mr_observes(MR_OBSERVE_ORDER))
        room = mr_array_reserve((void **)&mr_engine.gate.held, &mr_engine.gate.room, needed, sizeof(struct mr_task *));
    for (unsigned i = 0; i < MR_LEVELS && room; i++)
        room = mr_array_reserve((void **)&mr_engine.levels[i].at, &mr_engine.levels[i].room, needed,
                                sizeof(struct mr_task *));
    return room;
}

bool mr_engine_task_begin(void)
{
    mr_lock_take(&mr_engine.lock);
    /* The last heap grows last. */
    bool room = mr_engine.levels[MR_LEVELS - 1].room >= mr_engine.tasks + 2 || grow();
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

static struct mr_heap *heap_of(uint64_t key)
{
    return &mr_engine.levels[mr_engine_level(key)];
}

/* The heap of the highest priority that has tasks, or NULL. */
static struct mr_heap *first_heap(void)
{
    for (unsigned i = 0; i < MR_LEVELS; i++)
        if (mr_engine.levels[i].count)
            return &mr_engine.levels[i];
    return NULL;
}

/* A worker whose work only waits, for memory that others change, counts as one that rests. */
bool mr_engine_is_calm(void)
{
    MR_HELD(&mr_engine.lock);
    return mr_engine.gate.busy <= mr_engine.waiting;
}

void mr_engine_note_change(void)
{
    MR_HELD(&mr_engine.lock);
    mr_engine.gate.changed = true;
    mr_engine_publish();
}

void mr_engine_publish(void)
{
    MR_HELD(&mr_engine.lock);
    uint32_t count = 0;
    for (unsigned i = 0; i < MR_LEVELS; i++)
        count += mr_engine.levels[i].count;
    struct mr_heap *first = count ? first_heap() : NULL;
    atomic_store_explicit(&mr_engine.top_key, first ? first->at[1]->key : MR_ENGINE_KEY_NONE, memory_order_relaxed);
    atomic_store_explicit(&mr_engine.queued, count, memory_order_relaxed);
    bool tells = mr_observes(MR_OBSERVE_ORDER) && mr_engine.gate.changed && mr_engine_is_calm();
    atomic_store_explicit(&mr_engine.ready, count + mr_engine.hot_jobs + tells, memory_order_relaxed);
}

static void put_at(struct mr_heap *heap, struct mr_task *task, uint32_t place)
{
    heap->at[place] = task;
    task->place = place;
}

static void sift_up(struct mr_heap *heap, struct mr_task *task, uint32_t place)
{
    for (; place > 1 && heap->at[place / 2]->key > task->key; place /= 2)
        put_at(heap, heap->at[place / 2], place);
    put_at(heap, task, place);
}

static void sift_down(struct mr_heap *heap, struct mr_task *task, uint32_t place)
{
    for (;;) {
        uint32_t child = place * 2;
        if (child > heap->count)
            break;
        if (child < heap->count && heap->at[child + 1]->key < heap->at[child]->key)
            child++;
        if (heap->at[child]->key >= task->key)
            break;
        put_at(heap, heap->at[child], place);
        place = child;
    }
    put_at(heap, task, place);
}

/* Lock held; the task is queued. */
static void remove_task(struct mr_task *task)
{
    MR_HELD(&mr_engine.lock);
    struct mr_heap *heap = heap_of(task->key);
    uint32_t place = task->place;
    struct mr_task *last = heap->at[heap->count--];
    task->place = 0;
    if (last != task) {
        if (place > 1 && heap->at[place / 2]->key > last->key)
            sift_up(heap, last, place);
        else
            sift_down(heap, last, place);
    }
    if (heap->count == 0)
        heap->passed_over = 0;
    mr_engine_publish();
}

/* `key` is the task's, which the caller has in a register. Lock held. */
static inline struct mr_call queue(struct mr_task *task, uint64_t key)
{
    MR_HELD(&mr_engine.lock);
    struct mr_heap *heap = heap_of(key);
    task->key = key;
    sift_up(heap, task, ++heap->count);
    mr_engine_publish();
    return mr_engine_call();
}

struct mr_call mr_engine_queue(struct mr_task *task)
{
    return queue(task, task->key);
}

struct mr_call mr_engine_push(struct mr_task *task, uint64_t key)
{
    mr_lock_take(&mr_engine.lock);
    struct mr_call call = queue(task, key);
    mr_lock_drop(&mr_engine.lock);
    return call;
}

bool mr_engine_remove(struct mr_task *task)
{
    MR_HELD(&mr_engine.lock);
    if (task->place == 0)
        return false;
    remove_task(task);
    return true;
}

bool mr_engine_take(struct mr_task *task)
{
    mr_lock_take(&mr_engine.lock);
    bool queued = mr_engine_remove(task);
    mr_lock_drop(&mr_engine.lock);
    return queued;
}

bool mr_engine_turn_is_over(uint64_t key, struct mr_turn *turn)
{
    uint64_t top = atomic_load_explicit(&mr_engine.top_key, memory_order_relaxed);
    if (turn->ran >= MR_TURN)
        return top < key || atomic_load_explicit(&mr_engine.queued, memory_order_relaxed) != 0;
    if (__builtin_expect(top >= key, 1))
        return false;
    if (mr_engine_level(top) < mr_engine_level(key))
        return true;
    uint64_t now = mr_clock_ns();
    if (!turn->began)
        turn->began = now;
    if (now - turn->began >= MR_TURN_NS)
        return true;
    atomic_fetch_add_explicit(&mr_engine.goes_on, 1, memory_order_relaxed);
    return false;
}

/* Something of this level is about to be taken: notes which heaps are passed over, and gives the one that was passed
 * over too often, or NULL. */
static struct mr_heap *pass_over(unsigned level)
{
    struct mr_heap *due = NULL;
    for (unsigned i = level + 1; i < MR_LEVELS; i++) {
        struct mr_heap *heap = &mr_engine.levels[i];
        if (heap->count && ++heap->passed_over > MR_PATIENCE && (!due || heap->passed_over > due->passed_over))
            due = heap;
    }
    return due;
}

bool mr_engine_pick(struct mr_task **task, struct mr_job **job)
{
    MR_HELD(&mr_engine.lock);
    struct mr_job *best = mr_engine.hot_jobs ? mr_job_best() : NULL;
    struct mr_heap *first = first_heap(), *due = NULL;
    *task = NULL;
    *job = NULL;
    if (!best && !first)
        return false;
    bool job_first = best && (!first || best->key <= first->at[1]->key);
    if (first)
        due = pass_over(mr_engine_level(job_first ? best->key : first->at[1]->key));
    if (due)
        first = due;
    if (job_first && !due) {
        mr_job_enter(best);
        *job = best;
    } else {
        *task = first->at[mr_chaos_turn(50) ? 1 + mr_chaos_draw(first->count < 16 ? first->count : 16) : 1];
        first->passed_over = 0;
        remove_task(*task);
    }
    mr_engine.takes++;
    return true;
}
