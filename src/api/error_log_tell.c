/* SPDX-License-Identifier: Apache-2.0 */
/* Callbacks of the error log (driver API manual, Error Log Management).
 *
 * A message may be written by any thread of the driver, under any of its locks, and a callback may do anything. So a
 * thread of its own makes the calls, one after the other and in the order of the messages. The thread that wrote the
 * message waits until that is done, so that a program finds its callback called when its call returns; but not for
 * long, since the callback may be waiting for what the writer holds. The writer's context is current meanwhile, as
 * hardware, which makes the calls on the writer's thread, has it. */
#include "api_impl.h"

#include <pthread.h>

#include "base/alloc.h"
#include "base/call_program.h"
#include "base/clock.h"
#include "base/log_kept.h"
#include "base/thread.h"
#include "base/visit.h"
#include "prepare/check.h"

#define PATIENCE_NS 200000000u /* a busy machine may not run the teller for tens of milliseconds */

struct CUlogsCallbackEntry_st {
    struct CUlogsCallbackEntry_st *next;
    CUlogsCallback function;
    void *data;
    unsigned from; /* told of messages from this number on */
    bool gone;     /* unregistered by a callback while calls are being made; freed after them */
};

static struct {
    pthread_mutex_t calling; /* held while callbacks run; before `lock` */
    mr_lock lock;            /* guards the list and `made` */
    struct CUlogsCallbackEntry_st *entries;
    bool made;
    _Atomic uint32_t posted; /* number of the next message, as far as the teller was rung for it */
    _Atomic uint32_t told;   /* all messages before this number have been told */
} logs = {.calling = PTHREAD_MUTEX_INITIALIZER, .lock = MR_LOCK_INIT(TELLER)};

static _Thread_local bool is_teller;

struct told {
    const struct CUlogsCallbackEntry_st *entry;
    struct mr_log_kept_message *message;
};

static void call_entry(void *data)
{
    const struct told *told = data;
    struct mr_log_kept_message *message = told->message;
    told->entry->function(told->entry->data, message->level == MR_LOG_WARN ? CU_LOG_LEVEL_WARNING : CU_LOG_LEVEL_ERROR,
                          message->text, message->length);
}

static void tell_one(unsigned number)
{
    static struct mr_log_kept_message message; /* of the teller alone */
    if (!mr_log_kept_one(number, &message))
        return; /* forgotten already */
    uint64_t outer = mr_visit_begin(); /* as a call of a program's */
    (void)mr_cuCtxSetCurrent(message.from);
    mr_visit_end(outer);
    pthread_mutex_lock(&logs.calling);
    mr_lock_take(&logs.lock);
    struct CUlogsCallbackEntry_st *entry = logs.entries;
    mr_lock_drop(&logs.lock);
    /* Entries come in front of the list, and go only by this thread or while `calling` is free. */
    for (; entry; entry = entry->next)
        if (!entry->gone && (int)(number - entry->from) >= 0)
            mr_call_program(
                call_entry,
                &(struct told){entry, &message});   /* this thread goes on, even if a callback calls pthread_exit */
    mr_lock_take(&logs.lock);
    for (struct CUlogsCallbackEntry_st **at = &logs.entries; *at;) {
        struct CUlogsCallbackEntry_st *gone = *at;
        if (gone->gone) {
            *at = gone->next;
            mr_free(gone);
        } else {
            at = &gone->next;
        }
    }
    mr_lock_drop(&logs.lock);
    pthread_mutex_unlock(&logs.calling);
}

static void *teller_main(void *unused)
{
    (void)unused;
    is_teller = true;
    pthread_setname_np(pthread_self(), "millrace-log");
    for (;;) {
        uint32_t told = atomic_load_explicit(&logs.told, memory_order_relaxed);
        uint32_t posted = atomic_load_explicit(&logs.posted, memory_order_acquire);
        if (told == posted) {
            mr_futex_wait(&logs.posted, posted, UINT64_MAX);
            continue;
        }
        tell_one(told);
        atomic_store_explicit(&logs.told, told + 1, memory_order_release);
        mr_futex_wake(&logs.told, INT32_MAX);
    }
    return NULL;
}

/* The context of a message's writer. What the teller itself writes has none: it must not fail to find a context again
 * and again. */
static void *writer_context(void)
{
    CUcontext context = NULL;
    if (!is_teller)
        (void)mr_cuCtxGetCurrent(&context);
    return context;
}

/* A message was added. */
static void ring(unsigned added)
{
    uint32_t number = added + 1, before = atomic_load_explicit(&logs.posted, memory_order_relaxed);
    while ((int32_t)(number - before) > 0 &&
           !atomic_compare_exchange_weak_explicit(&logs.posted, &before, number, memory_order_release,
                                                  memory_order_relaxed)) {
    }
    mr_futex_wake(&logs.posted, 1);
    if (is_teller)
        return;
    uint64_t end = mr_clock_ns() + PATIENCE_NS, now;
    for (;;) {
        uint32_t told = atomic_load_explicit(&logs.told, memory_order_acquire);
        if ((int32_t)(told - number) >= 0 || (now = mr_clock_ns()) >= end)
            return;
        mr_futex_wait(&logs.told, told, end - now);
    }
}

/* Under `lock`, with the first entry in place. */
static bool start_teller(void)
{
    MR_HELD(&logs.lock);
    if (logs.made)
        return true;
    atomic_store_explicit(&logs.told, mr_log_kept_next(), memory_order_relaxed);
    atomic_store_explicit(&logs.posted, mr_log_kept_next(), memory_order_relaxed);
    if (mr_thread_start(teller_main, NULL) != 0)
        return false;
    logs.made = true;
    static const struct mr_log_listener listener = {writer_context, ring};
    mr_log_listen(&listener);
    return true;
}

CUresult mr_cuLogsRegisterCallback(CUlogsCallback callbackFunc, void *userData, CUlogsCallbackHandle *callback_out)
{
    if (!callbackFunc)
        return mr_bad_value("callbackFunc is NULL");
    struct CUlogsCallbackEntry_st *entry = mr_alloc(sizeof *entry);
    if (!entry)
        return CUDA_ERROR_OUT_OF_MEMORY;
    mr_lock_take(&logs.lock);
    bool started = start_teller();
    if (started) {
        *entry = (struct CUlogsCallbackEntry_st){logs.entries, callbackFunc, userData, mr_log_kept_next(), false};
        logs.entries = entry;
    }
    mr_lock_drop(&logs.lock);
    if (!started) {
        mr_free(entry);
        mr_log(MR_LOG_WARN, "no thread for callbacks of the error log");
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    if (callback_out)
        *callback_out = entry;
    return CUDA_SUCCESS;
}

/* When it returns, the callback is not running, unless it is the callback that calls, and will not be called again. */
CUresult mr_cuLogsUnregisterCallback(CUlogsCallbackHandle callback)
{
    bool found = false;
    if (!is_teller)
        pthread_mutex_lock(&logs.calling);
    mr_lock_take(&logs.lock);
    for (struct CUlogsCallbackEntry_st **at = &logs.entries; *at; at = &(*at)->next) {
        struct CUlogsCallbackEntry_st *entry = *at;
        if (entry != callback || entry->gone)
            continue;
        found = true;
        entry->gone = true;
        if (!is_teller) {
            *at = entry->next;
            mr_free(entry);
        }
        break;
    }
    mr_lock_drop(&logs.lock);
    if (!is_teller)
        pthread_mutex_unlock(&logs.calling);
    return found ? CUDA_SUCCESS : mr_bad_value("%p is not a registered callback", (void *)callback);
}
