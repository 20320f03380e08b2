/* SPDX-License-Identifier: Apache-2.0 */
/* What works touch, on its way to the observer, and waits for values (works.h).
 *
 * The end of a wait is known when the host has waited for its stream. What it comes after may be asked for later than
 * what comes after it, as the value's write is. Until all waits have ended, what works touch is put off, so that it is
 * told of in an order that could be the true one. */
#include "libs/forward/works.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/mutex.h"

/* Waits for values that have not ended. */
struct waiting {
    struct waiting *next;
    struct mr_observed_work work;
};

/* What a work touches; or, without boxes, that it has ended. */
struct put_off {
    struct put_off *next;
    struct mr_observed_work work;
    size_t count;
    struct mr_access boxes[];
};

enum { MOST = 65536 }; /* that are put off; what is touched beyond that is not looked at */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* guards what follows; some_wait is read without it */
static struct waiting *waiting;
static _Atomic bool some_wait;
static struct put_off *put_off_first, **put_off_last = &put_off_first;
static size_t put_off_count;

/* False: it is to be told of now. */
static bool put_off(const struct mr_observed_work *work, const struct mr_access *boxes, size_t count)
{
    if (!atomic_load_explicit(&some_wait, memory_order_acquire))
        return false;
    pthread_mutex_lock(&lock);
    bool wanted = waiting != NULL, full = put_off_count >= MOST && count > 0;
    struct put_off *made = wanted && !full ? malloc(sizeof *made + count * sizeof *boxes) : NULL;
    if (made) {
        *made = (struct put_off){.work = *work, .count = count};
        if (count)
            memcpy(made->boxes, boxes, count * sizeof *boxes);
        *put_off_last = made;
        put_off_last = &made->next;
        if (++put_off_count == MOST)
            mr_log(MR_LOG_WARN, "a stream waits for a value for so long that not all is looked at which works touch "
                                "meanwhile");
    }
    pthread_mutex_unlock(&lock);
    return wanted && (made || count > 0);
}

/* With the lock held. */
static void tell_put_off(void)
{
    MR_MUTEX_HELD(&lock);
    for (struct put_off *one = put_off_first, *next; one; one = next) {
        next = one->next;
        if (one->count)
            mr_observer.access(&one->work, one->boxes, one->count);
        else
            mr_observer.end(&one->work, CUDA_SUCCESS);
        free(one);
    }
    put_off_first = NULL;
    put_off_last = &put_off_first;
    put_off_count = 0;
}

/* ---- what is told of a work ---- */

void mr_forward_end(const struct mr_observed_work *work)
{
    if (!put_off(work, NULL, 0))
        mr_observer.end(work, CUDA_SUCCESS);
}

void mr_forward_boxes_end(struct mr_forward_boxes *boxes)
{
    if (boxes->count && !put_off(boxes->work, boxes->at, boxes->count))
        mr_observer.access(boxes->work, boxes->at, boxes->count);
    boxes->count = 0;
}

void mr_forward_box(struct mr_forward_boxes *boxes, uintptr_t first, size_t width, size_t rows, size_t pitch,
                    uint32_t how)
{
    if (!first || !width || !rows)
        return;
    if (boxes->count == MR_FORWARD_BOXES)
        mr_forward_boxes_end(boxes);
    boxes->at[boxes->count++] =
        (struct mr_access){.first = first, .width = width, .rows = rows, .pitch = pitch, .how = how};
}

/* ---- waits ---- */

bool mr_forward_waits(void)
{
    return atomic_load_explicit(&some_wait, memory_order_acquire);
}

bool mr_forward_wait_begins(const struct mr_observed_work *work)
{
    struct waiting *made = malloc(sizeof *made);
    if (!made)
        return false;
    made->work = *work;
    pthread_mutex_lock(&lock);
    made->next = waiting;
    waiting = made;
    atomic_store_explicit(&some_wait, true, memory_order_release);
    pthread_mutex_unlock(&lock);
    return true;
}

void mr_forward_wait_ends(uint64_t stream, CUcontext context)
{
    struct waiting *ended = NULL;
    pthread_mutex_lock(&lock);
    for (struct waiting **at = &waiting; *at;) {
        struct waiting *one = *at;
        if ((stream && one->work.stream != stream) || (context && one->work.context != context)) {
            at = &one->next;
            continue;
        }
        *at = one->next;
        one->next = ended;
        ended = one;
    }
    for (struct waiting *next; ended; ended = next) {
        next = ended->next;
        mr_observer.end(&ended->work, CUDA_SUCCESS);
        free(ended);
    }
    if (!waiting) {
        atomic_store_explicit(&some_wait, false, memory_order_release);
        tell_put_off();
    }
    pthread_mutex_unlock(&lock);
}
