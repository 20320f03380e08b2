/* SPDX-License-Identifier: Apache-2.0 */
/* libmillrace-threads.so: the functions of POSIX and C11 by which threads order each other. Each does what the C
 * library's does, and tells of it (observe/threads.h).
 *
 * Readers of a lock for reading and writing count as ordered among each other: that hides some races and makes up none.
 * A condition counts as a way to order threads by itself, beside its mutex. */
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <threads.h>
#include <time.h>

#include "observe/threads.h"

#define OPEN __attribute__((visibility("default")))

OPEN struct mr_threads millrace_threads = {.version = MR_THREADS_VERSION};

/* The runtime library's own locks say nothing of the program: it calls this around them. */
OPEN void millrace_threads_pause(bool on);
static _Thread_local unsigned paused __attribute__((tls_model("initial-exec")));

void millrace_threads_pause(bool on)
{
    paused += on ? 1u : -1u;
}

static void tell(_Atomic(mr_threads_tell *) *what, uintptr_t object, const void *caller)
{
    mr_threads_tell *function = atomic_load_explicit(what, memory_order_acquire);
    if (function && paused == 0)
        function(object, caller);
}

#define ACQUIRED(object) tell(&millrace_threads.acquired, (uintptr_t)(object), __builtin_return_address(0))
#define RELEASED(object) tell(&millrace_threads.released, (uintptr_t)(object), __builtin_return_address(0))

/* The C library's function. Conditions once had another form, which lives on under an older version. */
static void *find(_Atomic(void *) *known, const char *name)
{
    void *function = atomic_load_explicit(known, memory_order_acquire);
    if (function)
        return function;
    function = dlvsym(RTLD_NEXT, name, "GLIBC_2.3.2");
    if (!function)
        function = dlsym(RTLD_NEXT, name);
    if (!function)
        abort(); /* a program that calls it has it */
    atomic_store_explicit(known, function, memory_order_release);
    return function;
}

#define REAL(name) \
    __extension__({ \
        static _Atomic(void *) known; \
        (__typeof__(&name))find(&known, #name); \
    })

/* A function that waits for an object and has it if it returns 0 (or what `got` says of `status`). */
#define TAKES(name, parameters, arguments, object, got) \
    OPEN int name parameters \
    { \
        int status = REAL(name) arguments; \
        if (got) \
            ACQUIRED(object); \
        return status; \
    }

/* One that gives an object up. */
#define GIVES(name, parameters, arguments, object) \
    OPEN int name parameters \
    { \
        RELEASED(object); \
        return REAL(name) arguments; \
    }

/* ---- mutexes, and locks of other kinds ---- */

#define LOCKED (status == 0 || status == EOWNERDEAD)
TAKES(pthread_mutex_lock, (pthread_mutex_t * mutex), (mutex), mutex, LOCKED)
TAKES(pthread_mutex_trylock, (pthread_mutex_t * mutex), (mutex), mutex, LOCKED)
TAKES(pthread_mutex_timedlock, (pthread_mutex_t * mutex, const struct timespec *until), (mutex, until), mutex, LOCKED)
TAKES(pthread_mutex_clocklock, (pthread_mutex_t * mutex, clockid_t clock, const struct timespec *until),
      (mutex, clock, until), mutex, LOCKED)
GIVES(pthread_mutex_unlock, (pthread_mutex_t * mutex), (mutex), mutex)
TAKES(pthread_spin_lock, (pthread_spinlock_t * spin), (spin), spin, status == 0)
TAKES(pthread_spin_trylock, (pthread_spinlock_t * spin), (spin), spin, status == 0)
GIVES(pthread_spin_unlock, (pthread_spinlock_t * spin), (spin), spin)
TAKES(pthread_rwlock_rdlock, (pthread_rwlock_t * both), (both), both, status == 0)
TAKES(pthread_rwlock_tryrdlock, (pthread_rwlock_t * both), (both), both, status == 0)
TAKES(pthread_rwlock_timedrdlock, (pthread_rwlock_t * both, const struct timespec *until), (both, until), both,
      status == 0)
TAKES(pthread_rwlock_clockrdlock, (pthread_rwlock_t * both, clockid_t clock, const struct timespec *until),
      (both, clock, until), both, status == 0)
TAKES(pthread_rwlock_wrlock, (pthread_rwlock_t * both), (both), both, status == 0)
TAKES(pthread_rwlock_trywrlock, (pthread_rwlock_t * both), (both), both, status == 0)
TAKES(pthread_rwlock_timedwrlock, (pthread_rwlock_t * both, const struct timespec *until), (both, until), both,
      status == 0)
TAKES(pthread_rwlock_clockwrlock, (pthread_rwlock_t * both, clockid_t clock, const struct timespec *until),
      (both, clock, until), both, status == 0)
GIVES(pthread_rwlock_unlock, (pthread_rwlock_t * both), (both), both)
TAKES(mtx_lock, (mtx_t * mutex), (mutex), mutex, status == thrd_success)
TAKES(mtx_trylock, (mtx_t * mutex), (mutex), mutex, status == thrd_success)
TAKES(mtx_timedlock, (mtx_t * mutex, const struct timespec *until), (mutex, until), mutex, status == thrd_success)
GIVES(mtx_unlock, (mtx_t * mutex), (mutex), mutex)

/* ---- semaphores ---- */

GIVES(sem_post, (sem_t * semaphore), (semaphore), semaphore)
TAKES(sem_wait, (sem_t * semaphore), (semaphore), semaphore, status == 0)
TAKES(sem_trywait, (sem_t * semaphore), (semaphore), semaphore, status == 0)
TAKES(sem_timedwait, (sem_t * semaphore, const struct timespec *until), (semaphore, until), semaphore, status == 0)
TAKES(sem_clockwait, (sem_t * semaphore, clockid_t clock, const struct timespec *until), (semaphore, clock, until),
      semaphore, status == 0)

/* ---- conditions: the mutex is given up meanwhile ---- */

#define WAITS(name, parameters, arguments, condition, mutex, good) \
    OPEN int name parameters \
    { \
        RELEASED(mutex); \
        int status = REAL(name) arguments; \
        ACQUIRED(mutex); \
        if (status == (good)) \
            ACQUIRED(condition); \
        return status; \
    }
WAITS(pthread_cond_wait, (pthread_cond_t * condition, pthread_mutex_t *mutex), (condition, mutex), condition, mutex, 0)
WAITS(pthread_cond_timedwait, (pthread_cond_t * condition, pthread_mutex_t *mutex, const struct timespec *until),
      (condition, mutex, until), condition, mutex, 0)
WAITS(pthread_cond_clockwait,
      (pthread_cond_t * condition, pthread_mutex_t *mutex, clockid_t clock, const struct timespec *until),
      (condition, mutex, clock, until), condition, mutex, 0)
GIVES(pthread_cond_signal, (pthread_cond_t * condition), (condition), condition)
GIVES(pthread_cond_broadcast, (pthread_cond_t * condition), (condition), condition)
WAITS(cnd_wait, (cnd_t * condition, mtx_t *mutex), (condition, mutex), condition, mutex, thrd_success)
WAITS(cnd_timedwait, (cnd_t *restrict condition, mtx_t *restrict mutex, const struct timespec *restrict until),
      (condition, mutex, until), condition, mutex, thrd_success)
GIVES(cnd_signal, (cnd_t * condition), (condition), condition)
GIVES(cnd_broadcast, (cnd_t * condition), (condition), condition)

/* ---- barriers, and what is done once ---- */

OPEN int pthread_barrier_wait(pthread_barrier_t *barrier)
{
    RELEASED(barrier);
    int status = REAL(pthread_barrier_wait)(barrier);
    if (status == 0 || status == PTHREAD_BARRIER_SERIAL_THREAD)
        ACQUIRED(barrier);
    return status;
}

static _Thread_local struct once {
    void (*function)(void);
    void *control;
    const void *caller;
} once;

static void do_once(void)
{
    struct once mine = once;
    mine.function();
    tell(&millrace_threads.released, (uintptr_t)mine.control, mine.caller);
}

OPEN int pthread_once(pthread_once_t *control, void (*function)(void))
{
    once = (struct once){function, control, __builtin_return_address(0)};
    int status = REAL(pthread_once)(control, do_once);
    ACQUIRED(control);
    return status;
}

OPEN void call_once(once_flag *control, void (*function)(void))
{
    once = (struct once){function, control, __builtin_return_address(0)};
    REAL(call_once)(control, do_once);
    ACQUIRED(control);
}

/* ---- threads ---- */

/* The beginning of a thread is an object with an odd number that no other has; its end is that at its handle plus 1. */
static _Atomic uintptr_t begun;
#define END_OF(thread) ((uintptr_t)(thread) | 1)

struct start {
    void *(*function)(void *);
    int (*function_11)(void *);
    void *data;
    uintptr_t object;
    const void *caller;
};

static void end_thread(void *data)
{
    const struct start *start = data;
    tell(&millrace_threads.released, END_OF(pthread_self()), start->caller);
    free(data);
}

static void *run(void *data)
{
    struct start *start = data;
    void *result;
    tell(&millrace_threads.acquired, start->object, start->caller);
    pthread_cleanup_push(end_thread, start);
    result = start->function(start->data);
    pthread_cleanup_pop(1);
    return result;
}

static int run_11(void *data)
{
    struct start *start = data;
    int result;
    tell(&millrace_threads.acquired, start->object, start->caller);
    pthread_cleanup_push(end_thread, start);
    result = start->function_11(start->data);
    pthread_cleanup_pop(1);
    return result;
}

static struct start *new_start(struct start value)
{
    struct start *start = malloc(sizeof *start);
    if (!start)
        return NULL;
    *start = value;
    start->object = 2 * atomic_fetch_add(&begun, 1) + 1;
    tell(&millrace_threads.released, start->object, start->caller);
    return start;
}

OPEN int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*function)(void *), void *data)
{
    struct start *start =
        new_start((struct start){.function = function, .data = data, .caller = __builtin_return_address(0)});
    int status = start ? REAL(pthread_create)(thread, attributes, run, start) : EAGAIN;
    if (status != 0)
        free(start);
    return status;
}

OPEN int thrd_create(thrd_t *thread, thrd_start_t function, void *data)
{
    struct start *start =
        new_start((struct start){.function_11 = function, .data = data, .caller = __builtin_return_address(0)});
    int status = start ? REAL(thrd_create)(thread, run_11, start) : thrd_nomem;
    if (status != thrd_success)
        free(start);
    return status;
}

TAKES(pthread_join, (pthread_t thread, void **result), (thread, result), END_OF(thread), status == 0)
TAKES(pthread_tryjoin_np, (pthread_t thread, void **result), (thread, result), END_OF(thread), status == 0)
TAKES(pthread_timedjoin_np, (pthread_t thread, void **result, const struct timespec *until), (thread, result, until),
      END_OF(thread), status == 0)
TAKES(pthread_clockjoin_np, (pthread_t thread, void **result, clockid_t clock, const struct timespec *until),
      (thread, result, clock, until), END_OF(thread), status == 0)
TAKES(thrd_join, (thrd_t thread, int *result), (thread, result), END_OF(thread), status == thrd_success)
