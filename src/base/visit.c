/* SPDX-License-Identifier: Apache-2.0 */
/* The visitors of visit.h, and when their visits are over.
 *
 * The epoch moves on when every visitor is outside or has entered in the present epoch. Something put aside in epoch e
 * was made unreachable before; a visit that can have found it began in e + 1 at the latest, since the step to e + 2
 * begins with a barrier that all threads pass, after which nobody finds it; and the step to e + 3 happens only when no
 * such visit is left. */
#define _GNU_SOURCE
#include "base/visit.h"

#include <linux/membarrier.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/thread.h"

#define STEPS 3u
#define KEPT_MOST (sizeof mr_visit_self.things / sizeof mr_visit_self.things[0])

_Thread_local struct mr_visitor mr_visit_self
    __attribute__((tls_model("initial-exec"), aligned(64))) = {.epoch = MR_VISIT_STRANGER};
_Atomic uint64_t mr_visit_epoch = 1;

static mr_lock list_lock = MR_LOCK_INIT(VISITORS);               /* guards the list; a leaf */
static struct mr_visitor *visitors;
static _Atomic uint32_t counted;
static _Atomic bool fences = true;      /* the kernel doesn't help: visits have fences of their own */
static _Atomic(void (*)(void *)) give_back;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static pthread_key_t key;
static _Atomic bool key_made;

static void release_kept(struct mr_visitor *self)
{
    void (*release)(void *) = atomic_load_explicit(&give_back, memory_order_relaxed);
    while (self->kept > 0) {
        self->kept--;
        release(self->things[--self->kept_all]);
    }
}

/* Also of a thread that ends inside of a call, by pthread_exit in a function of the program's. Calls in other
 * destructors may follow: they are counted, since nobody takes the thread off the list again. */
static void end_of_thread(void *data)
{
    struct mr_visitor *self = data;
    self->kept = self->kept_all;
    release_kept(self);
    mr_lock_take(&list_lock);
    if (self->next)
        self->next->previous = self->previous;
    *(self->previous ? &self->previous->next : &visitors) = self->next;
    mr_lock_drop(&list_lock);
    atomic_store_explicit(&self->epoch, MR_VISIT_COUNTED, memory_order_release);
}

static void prepare(void)
{
    atomic_store_explicit(&key_made, pthread_key_create(&key, end_of_thread) == 0, memory_order_release);
    if (syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0, 0) == 0)
        atomic_store(&fences, false);
}

/* Puts the thread on the list. From then on its epoch says that it is outside, or why it takes the slow way. */
static void enlist(struct mr_visitor *self)
{
    pthread_once(&once, prepare);
    if (!atomic_load_explicit(&key_made, memory_order_acquire) || pthread_setspecific(key, self) != 0) {
        atomic_store_explicit(&self->epoch, MR_VISIT_COUNTED, memory_order_relaxed);
        return;
    }
    mr_lock_take(&list_lock);
    self->previous = NULL;
    self->next = visitors;
    if (visitors)
        visitors->previous = self;
    visitors = self;
    mr_lock_drop(&list_lock);
    if (!atomic_load_explicit(&fences, memory_order_relaxed))
        atomic_store_explicit(&self->epoch, MR_VISIT_OUTSIDE, memory_order_relaxed);
}

static bool is_listed(const struct mr_visitor *self)
{
    return atomic_load_explicit(&key_made, memory_order_acquire) && pthread_getspecific(key) == self;
}

uint64_t mr_visit_begin_slow(uint64_t outer)
{
    struct mr_visitor *self = &mr_visit_self;
    if (outer == MR_VISIT_STRANGER && !is_listed(self)) {
        enlist(self);
        outer = atomic_load_explicit(&self->epoch, memory_order_relaxed);
        if (outer == MR_VISIT_OUTSIDE)
            return mr_visit_begin();
    }
    if (outer == MR_VISIT_STRANGER) {
        atomic_store_explicit(&self->epoch, atomic_load_explicit(&mr_visit_epoch, memory_order_acquire),
                              memory_order_release);
        atomic_thread_fence(memory_order_seq_cst);
    } else if (outer == MR_VISIT_COUNTED) {
        atomic_fetch_add(&counted, 1);
    }
    return outer;
}

void mr_visit_end_slow(uint64_t outer)
{
    struct mr_visitor *self = &mr_visit_self;
    if (outer == MR_VISIT_COUNTED) {
        atomic_fetch_sub(&counted, 1);
        return;
    }
    if (outer == MR_VISIT_OUTSIDE || outer == MR_VISIT_STRANGER)
        release_kept(self);
    atomic_store_explicit(&self->epoch, outer, memory_order_release);
}

static bool is_inside(uint64_t epoch)
{
    return epoch != MR_VISIT_OUTSIDE && epoch < MR_VISIT_COUNTED;
}

bool mr_visit_keep(void *thing, void (*release)(void *thing))
{
    struct mr_visitor *self = &mr_visit_self;
    if (self->kept_all == KEPT_MOST || !is_inside(atomic_load_explicit(&self->epoch, memory_order_relaxed)))
        return false;
    atomic_store_explicit(&give_back, release, memory_order_relaxed);
    self->things[self->kept_all++] = thing;
    self->kept++;
    return true;
}

struct mr_visit_paused mr_visit_pause(void)
{
    struct mr_visitor *self = &mr_visit_self;
    struct mr_visit_paused paused = {atomic_load_explicit(&self->epoch, memory_order_relaxed), 0};
    if (!is_inside(paused.epoch))
        return (struct mr_visit_paused){0, 0};
    paused.kept = self->kept;
    self->kept = 0;
    atomic_store_explicit(&self->epoch,
                          atomic_load_explicit(&fences, memory_order_relaxed) ? MR_VISIT_STRANGER : MR_VISIT_OUTSIDE,
                          memory_order_release);
    return paused;
}

void mr_visit_resume(struct mr_visit_paused paused)
{
    if (!paused.epoch)
        return;
    (void)mr_visit_begin();
    mr_visit_self.kept = paused.kept;
}

uint64_t mr_visit_now(void)
{
    atomic_thread_fence(memory_order_seq_cst);
    return atomic_load_explicit(&mr_visit_epoch, memory_order_relaxed);
}

bool mr_visit_is_over(uint64_t then)
{
    return atomic_load_explicit(&mr_visit_epoch, memory_order_acquire) - then >= STEPS;
}

/* Is every visitor outside, or did it enter in this epoch? The list's lock is held. */
static bool all_are_here(uint64_t epoch)
{
    MR_HELD(&list_lock);
    for (struct mr_visitor *visitor = visitors; visitor; visitor = visitor->next) {
        uint64_t inside = atomic_load_explicit(&visitor->epoch, memory_order_acquire);
        if (is_inside(inside) && inside != epoch)
            return false;
    }
    return atomic_load(&counted) == 0;
}

void mr_visit_advance(void)
{
    pthread_once(&once, prepare);
    if (!mr_lock_try(&list_lock))
        return;
    uint64_t epoch = atomic_load_explicit(&mr_visit_epoch, memory_order_relaxed);
    bool alone = visitors == &mr_visit_self && !visitors->next;
    /* Often somebody is still inside. A look without the barrier shows that. */
    if (all_are_here(epoch)) {
        if (!alone && !atomic_load_explicit(&fences, memory_order_relaxed))
            (void)syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0);
        else
            atomic_thread_fence(memory_order_seq_cst);
        if (all_are_here(epoch))
            atomic_store_explicit(&mr_visit_epoch, epoch + 1, memory_order_release);
    }
    mr_lock_drop(&list_lock);
}
