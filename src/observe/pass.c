/* SPDX-License-Identifier: Apache-2.0 */
/* The driver's table of points. Each hands on to the loaded observer and to the attached one, if they want the point.
 *
 * The loaded one's table is written before any call is open. The attached one's is set once (attach.h), so a thread
 * that has seen one of its points on finds it. */
#include "observe/pass.h"

#include <stddef.h>

#include "observe/attach.h"

_Alignas(64) _Atomic uint32_t mr_observing;

static struct mr_observer loaded;
static uint32_t loaded_points; /* as written by mr_observe_open */
static _Atomic(const struct mr_observer *) attached;
static _Atomic uint32_t attached_points;

/* The attached observer if it wants the point. */
static const struct mr_observer *attached_for(uint32_t points)
{
    if (!(atomic_load_explicit(&attached_points, memory_order_acquire) & points))
        return NULL;
    return atomic_load_explicit(&attached, memory_order_acquire);
}

static bool loaded_wants(uint32_t points)
{
    return (loaded_points & points) != 0;
}

/* ---- the points ---- */

/* Each of the two finds what it has left at the call. */
static void enter(struct mr_observed_call *call)
{
    if (loaded_wants(MR_OBSERVE_CALLS) && loaded.enter)
        loaded.enter(call);
    const struct mr_observer *other = attached_for(MR_OBSERVE_CALLS);
    if (!other || !other->enter)
        return;
    void *data = call->data;
    call->data = NULL;
    other->enter(call);
    call->attached = call->data;
    call->data = data;
}

/* What the attached one keeps about the call since its enter must go, whether or not it still wants calls. */
static void leave(struct mr_observed_call *call, CUresult status)
{
    const struct mr_observer *other = atomic_load_explicit(&attached, memory_order_acquire);
    if (call->attached && other->leave) {
        void *data = call->data;
        call->data = call->attached;
        other->leave(call, status);
        call->data = data;
    }
    if (loaded_wants(MR_OBSERVE_CALLS) && loaded.leave)
        loaded.leave(call, status);
}

static void bind(const struct mr_observed_work *work)
{
    if (loaded_wants(MR_OBSERVE_CALLS) && loaded.bind)
        loaded.bind(work);
    const struct mr_observer *other = attached_for(MR_OBSERVE_CALLS);
    if (other && other->bind)
        other->bind(work);
}

static void begin(const struct mr_observed_work *work)
{
    if (loaded_wants(MR_OBSERVE_WORK) && loaded.begin)
        loaded.begin(work);
    const struct mr_observer *other = attached_for(MR_OBSERVE_WORK);
    if (other && other->begin)
        other->begin(work);
}

static void end(const struct mr_observed_work *work, CUresult status)
{
    const struct mr_observer *other = attached_for(MR_OBSERVE_WORK);
    if (other && other->end)
        other->end(work, status);
    if (loaded_wants(MR_OBSERVE_WORK) && loaded.end)
        loaded.end(work, status);
}

/* The rest is for loaded observers alone. */

static void slice(const struct mr_observed_work *work, unsigned worker, uint64_t from, uint64_t to)
{
    if (loaded.slice)
        loaded.slice(work, worker, from, to);
}

static void ran(const struct mr_observed_work *work, uint64_t from, uint64_t to, CUresult status)
{
    if (loaded.ran)
        loaded.ran(work, from, to, status);
}

static void access(const struct mr_observed_work *work, const struct mr_access *boxes, size_t count)
{
    if (loaded.access)
        loaded.access(work, boxes, count);
}

static void heap(const struct mr_observed_work *work, const struct mr_observed_heap *changes, size_t count)
{
    if (loaded.heap)
        loaded.heap(work, changes, count);
}

static bool may_begin(const struct mr_observed_work *work)
{
    return !loaded.may_begin || loaded.may_begin(work);
}

static void rest(void)
{
    if (loaded.rest)
        loaded.rest();
}

static void waits(bool on, uint64_t stream)
{
    if (loaded.waits)
        loaded.waits(on, stream);
}

static void finish(int number)
{
    if (loaded.finish)
        loaded.finish(number);
}

const struct mr_observer mr_observer = {.version = MR_OBSERVER_VERSION,
                                        .enter = enter,
                                        .leave = leave,
                                        .bind = bind,
                                        .begin = begin,
                                        .end = end,
                                        .access = access,
                                        .heap = heap,
                                        .slice = slice,
                                        .ran = ran,
                                        .may_begin = may_begin,
                                        .rest = rest,
                                        .waits = waits,
                                        .finish = finish};

/* ---- who observes ---- */

void mr_observe_take(const struct mr_observer *table)
{
    loaded = *table;
}

void mr_observe_open(void)
{
    loaded_points = loaded.points;
    atomic_fetch_or(&mr_observing, loaded_points);
}

bool mr_observe_attach(const struct mr_observer *table, uint32_t points)
{
    const uint32_t own = MR_OBSERVE_CALLS | MR_OBSERVE_WORK;
    const struct mr_observer *before = atomic_load_explicit(&attached, memory_order_acquire);
    if (!table || table->version != MR_OBSERVER_VERSION || (before && before != table) ||
        (points & ~(own | MR_ATTACH_RUNTIME)))
        return false;
    atomic_store_explicit(&attached, table, memory_order_release);
    atomic_store_explicit(&attached_points, points, memory_order_release);
    atomic_store_explicit(&mr_observing, loaded_points | (points & own), memory_order_release);
    return true;
}

void mr_observe_opened(void)
{
    const struct mr_observer *other = attached_for(MR_OBSERVE_CALLS);
    if (other && other->opened)
        other->opened();
}

void mr_observe_runtime_enter(struct mr_observed_call *call)
{
    const struct mr_observer *other = attached_for(MR_ATTACH_RUNTIME);
    if (other && other->runtime_enter)
        other->runtime_enter(call);
}

void mr_observe_runtime_leave(struct mr_observed_call *call, int status)
{
    const struct mr_observer *other = atomic_load_explicit(&attached, memory_order_acquire);
    if (call->data && other->runtime_leave)
        other->runtime_leave(call, status);
}
