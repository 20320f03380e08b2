/* SPDX-License-Identifier: Apache-2.0 */
/* When works ran (works.h).
 *
 * Around the works of a call two events are recorded in its stream. When the second one is done, the driver behind is
 * asked how far both are from an *anchor*: an event in a stream of its own, recorded while the host's clock was read. A
 * new anchor is made twice a second, because clocks drift apart, so times of a stream may go back by some microseconds
 * where an anchor is exchanged. They are then taken to be those of the work before. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <time.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/mutex.h"
#include "libs/forward/works.h"

enum { MOST = 65536, STEP = 64, TRIALS = 3 };
#define ANCHOR_STAYS 500000000u /* nanoseconds, all three */
#define ANCHOR_TAKES 20000000u  /* at most, until its event is done */
#define END_TAKES 10000000000u  /* at most, for works to end before they are given up */

/* The works of one call. */
struct timed {
    struct timed *next;
    struct times *of;
    CUstream stream;
    CUevent begin, end;
    uint64_t asked; /* when the begin was recorded */
    struct mr_observed_work *works;
    size_t works_count, works_room;
};

struct stream_end {
    uint64_t stream, end;
};

/* What a context has. */
struct times {
    struct times *next;
    CUcontext context;
    CUdevice device;
    bool over; /* a thread waits for its last works */
    CUstream stream;
    CUevent anchor, trial;
    uint64_t anchored; /* the anchor's time by the host's clock; 0: there is none yet */
    uint64_t tried;
    struct timed *pending, **last, *spare;
    size_t pending_count;
    struct stream_end *ends; /* of the last work of each stream */
    size_t ends_count, ends_room;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* guards what follows; pending_count is read without it */
static struct times *contexts;
static _Atomic size_t pending_count, collect_at = STEP;

/* Of the call that the thread is in. */
static _Thread_local struct timed *here;

#define DRIVER mr_forward_driver

/* A capture in another stream forbids some calls, which are harmless to it here. Exchanges the thread's mode. */
static CUstreamCaptureMode relax(CUstreamCaptureMode mode)
{
    (void)DRIVER.capture_mode(&mode);
    return mode;
}

/* ---- anchors ---- */

/* Records the trial, and waits until that is done: when it was asked for, and when it was seen to be done. False: it
 * takes too long, or can't be. */
static bool try_anchor(const struct times *of, uint64_t *from, uint64_t *to)
{
    *from = mr_clock_ns();
    if (DRIVER.event_record(of->trial, of->stream) != CUDA_SUCCESS)
        return false;
    for (;;) {
        CUresult status = DRIVER.event_query(of->trial);
        *to = mr_clock_ns();
        if (status != CUDA_ERROR_NOT_READY || *to - *from >= ANCHOR_TAKES)
            return status == CUDA_SUCCESS;
    }
}

/* With the lock held: the context has an anchor that is not old. */
static bool anchor(struct times *of)
{
    MR_MUTEX_HELD(&lock);
    uint64_t least = UINT64_MAX, now = mr_clock_ns(), from, to;
    if ((of->anchored && now - of->anchored < ANCHOR_STAYS) || (of->tried && now - of->tried < ANCHOR_STAYS))
        return of->anchored != 0;
    of->tried = now;
    for (int i = 0; i < TRIALS && try_anchor(of, &from, &to); i++) {
        if (to - from < least) {
            CUevent before = of->anchor;
            least = to - from;
            of->anchor = of->trial;
            of->trial = before;
            of->anchored = from + least / 2;
        }
    }
    return of->anchored != 0;
}

/* With the lock held: the event's time by the host's clock. */
static bool time_of(const struct times *of, CUevent event, uint64_t *time)
{
    MR_MUTEX_HELD(&lock);
    float milliseconds;
    if (DRIVER.event_elapsed(&milliseconds, of->anchor, event) != CUDA_SUCCESS)
        return false;
    *time = of->anchored + (uint64_t)(int64_t)((double)milliseconds * 1e6);
    return true;
}

/* ---- contexts ---- */

static void drop_timed(struct timed *timed)
{
    if (timed->begin)
        (void)DRIVER.event_destroy(timed->begin);
    if (timed->end)
        (void)DRIVER.event_destroy(timed->end);
    free(timed->works);
    free(timed);
}

static void drop_times(struct times *of)
{
    for (struct timed *one = of->spare, *next; one; one = next) {
        next = one->next;
        drop_timed(one);
    }
    if (of->anchor)
        (void)DRIVER.event_destroy(of->anchor);
    if (of->trial)
        (void)DRIVER.event_destroy(of->trial);
    if (of->stream)
        (void)DRIVER.stream_destroy(of->stream);
    free(of->ends);
    free(of);
}

/* With the lock held, in the context. */
static struct times *make_times(CUcontext context)
{
    MR_MUTEX_HELD(&lock);
    struct times *of = calloc(1, sizeof *of);
    if (!of)
        return NULL;
    of->context = context;
    of->last = &of->pending;
    if (DRIVER.context_device(&of->device) != CUDA_SUCCESS ||
        DRIVER.stream_create(&of->stream, CU_STREAM_NON_BLOCKING) != CUDA_SUCCESS ||
        DRIVER.event_create(&of->anchor, CU_EVENT_DEFAULT) != CUDA_SUCCESS ||
        DRIVER.event_create(&of->trial, CU_EVENT_DEFAULT) != CUDA_SUCCESS) {
        drop_times(of);
        return NULL;
    }
    of->next = contexts;
    contexts = of;
    return of;
}

/* With the lock held, in the context. */
static struct timed *make_timed(struct times *of)
{
    MR_MUTEX_HELD(&lock);
    struct timed *timed = of->spare;
    if (timed) {
        of->spare = timed->next;
        return timed;
    }
    timed = calloc(1, sizeof *timed);
    if (!timed)
        return NULL;
    timed->of = of;
    if (DRIVER.event_create(&timed->begin, CU_EVENT_DEFAULT) == CUDA_SUCCESS &&
        DRIVER.event_create(&timed->end, CU_EVENT_DEFAULT) == CUDA_SUCCESS)
        return timed;
    drop_timed(timed);
    return NULL;
}

static void give_back(struct timed *timed)
{
    MR_MUTEX_HELD(&lock);
    timed->works_count = 0;
    timed->next = timed->of->spare;
    timed->of->spare = timed;
}

/* ---- works that have run ---- */

/* With the lock held: where the end of the stream's last work stands; NULL: memory is short. */
static uint64_t *end_of(struct times *of, uint64_t stream)
{
    MR_MUTEX_HELD(&lock);
    for (size_t i = of->ends_count; i-- > 0;)
        if (of->ends[i].stream == stream)
            return &of->ends[i].end;
    if (of->ends_count == of->ends_room) {
        size_t room = of->ends_room ? 2 * of->ends_room : 8;
        struct stream_end *grown = realloc(of->ends, room * sizeof *grown);
        if (!grown)
            return NULL;
        of->ends = grown;
        of->ends_room = room;
    }
    of->ends[of->ends_count] = (struct stream_end){stream, 0};
    return &of->ends[of->ends_count++].end;
}

/* With the lock held. A work runs behind the one before it in its stream, and not before it was asked for. */
static void tell(struct timed *timed, CUresult status)
{
    MR_MUTEX_HELD(&lock);
    struct times *of = timed->of;
    uint64_t now = mr_clock_ns(), from = timed->asked, to = now;
    bool known = status == CUDA_SUCCESS && time_of(of, timed->begin, &from) && time_of(of, timed->end, &to);
    uint64_t *before = end_of(of, timed->works[0].stream);
    from = known && from > timed->asked ? from : timed->asked;
    from = before && from < *before ? *before : from;
    to = known && to < now ? to : now;
    to = to < from ? from : to;
    if (before)
        *before = to;
    for (size_t i = 0; i < timed->works_count; i++)
        mr_observer.ran(&timed->works[i], from, to, status);
}

/* With the lock held: tells of the works of a context that have ended; and, if it is over, of all. */
static void collect(struct times *of, bool over)
{
    MR_MUTEX_HELD(&lock);
    of->last = &of->pending;
    for (struct timed *timed; (timed = *of->last);) {
        CUresult status = DRIVER.event_query(timed->end);
        if (status == CUDA_ERROR_NOT_READY && !over) {
            of->last = &timed->next;
            continue;
        }
        tell(timed, status);
        *of->last = timed->next;
        of->pending_count--;
        atomic_fetch_sub_explicit(&pending_count, 1, memory_order_relaxed);
        give_back(timed);
    }
}

static void collect_all(void)
{
    CUstreamCaptureMode mode = relax(CU_STREAM_CAPTURE_MODE_RELAXED);
    pthread_mutex_lock(&lock);
    for (struct times *of = contexts; of; of = of->next)
        collect(of, false);
    pthread_mutex_unlock(&lock);
    relax(mode);
    atomic_store_explicit(&collect_at, atomic_load_explicit(&pending_count, memory_order_relaxed) + STEP,
                          memory_order_relaxed);
}

/* Waits until the works have ended, as long as is to be waited. Lets go of the lock meanwhile: the context is this
 * thread's by `over`. */
static void wait_for(struct times *of)
{
    uint64_t since = mr_clock_ns();
    for (collect(of, false); of->pending && mr_clock_ns() - since < END_TAKES; collect(of, false)) {
        pthread_mutex_unlock(&lock);
        nanosleep(&(struct timespec){.tv_nsec = 200000}, NULL);
        pthread_mutex_lock(&lock);
    }
    collect(of, true);
}

/* ---- calls ---- */

/* The context's, with room for the works of a call, or NULL. */
static struct timed *timed_of(CUcontext context)
{
    CUcontext popped;
    CUcontext current = NULL;
    struct timed *timed = NULL;
    (void)DRIVER.context_current(&current);
    if (current != context && DRIVER.context_push(context) != CUDA_SUCCESS)
        return NULL;
    pthread_mutex_lock(&lock);
    struct times *of = contexts;
    while (of && of->context != context)
        of = of->next;
    if (!of)
        of = make_times(context);
    if (of && !of->over && anchor(of) && of->pending_count < MOST)
        timed = make_timed(of);
    pthread_mutex_unlock(&lock);
    if (current != context)
        (void)DRIVER.context_pop(&popped);
    return timed;
}

void mr_forward_times_begin(CUstream stream, CUcontext context)
{
    if (here || !mr_observes(MR_OBSERVE_SLICES) || !context)
        return;
    CUstreamCaptureMode mode = relax(CU_STREAM_CAPTURE_MODE_RELAXED);
    struct timed *timed = timed_of(context);
    if (timed) {
        timed->stream = stream;
        timed->asked = mr_clock_ns();
        if (DRIVER.event_record(timed->begin, stream) == CUDA_SUCCESS) {
            here = timed;
        } else {
            pthread_mutex_lock(&lock);
            give_back(timed);
            pthread_mutex_unlock(&lock);
        }
    }
    relax(mode);
}

void mr_forward_times_work(const struct mr_observed_work *work)
{
    static _Atomic bool told;
    if (!mr_observes(MR_OBSERVE_SLICES))
        return;
    if (here && here->works_count == here->works_room) {
        size_t room = here->works_room ? 2 * here->works_room : 1;
        struct mr_observed_work *grown = realloc(here->works, room * sizeof *grown);
        if (grown) {
            here->works = grown;
            here->works_room = room;
        }
    }
    if (here && here->works_count < here->works_room)
        here->works[here->works_count++] = *work;
    else if (!atomic_exchange(&told, true))
        mr_log(MR_LOG_WARN, "nobody knows when some of the works run: their events can't be recorded, or too many "
                            "works have not ended");
}

void mr_forward_times_end(void)
{
    struct timed *timed = here;
    if (!timed)
        return;
    here = NULL;
    CUstreamCaptureMode mode = relax(CU_STREAM_CAPTURE_MODE_RELAXED);
    bool good = timed->works_count > 0 && DRIVER.event_record(timed->end, timed->stream) == CUDA_SUCCESS;
    relax(mode);
    pthread_mutex_lock(&lock);
    if (good) {
        struct times *of = timed->of;
        timed->next = NULL;
        *of->last = timed;
        of->last = &timed->next;
        of->pending_count++;
        atomic_fetch_add_explicit(&pending_count, 1, memory_order_relaxed);
    } else {
        give_back(timed);
    }
    pthread_mutex_unlock(&lock);
    if (atomic_load_explicit(&pending_count, memory_order_relaxed) >=
        atomic_load_explicit(&collect_at, memory_order_relaxed))
        collect_all();
}

void mr_forward_times_collect(void)
{
    if (atomic_load_explicit(&pending_count, memory_order_relaxed))
        collect_all();
}

void mr_forward_times_over(CUcontext context, const CUdevice *device)
{
    if (!mr_observes(MR_OBSERVE_SLICES))
        return;
    CUstreamCaptureMode mode = relax(CU_STREAM_CAPTURE_MODE_RELAXED);
    pthread_mutex_lock(&lock);
    for (struct times **at = &contexts; *at;) {
        struct times *of = *at;
        if (of->over || (context && of->context != context) || (device && of->device != *device)) {
            at = &of->next;
            continue;
        }
        of->over = true;
        wait_for(of);
        at = &contexts;
        while (*at != of)
            at = &(*at)->next;
        *at = of->next;
        drop_times(of);
    }
    pthread_mutex_unlock(&lock);
    relax(mode);
}
