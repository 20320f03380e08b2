/* SPDX-License-Identifier: Apache-2.0 */
/* The tool schedule: carries the program's works out in the order that a schedule (schedule.h) says, and, for a
 * witness, keeps the bytes that two operations touch.
 *
 * One lock guards the schedule. The driver's at_rest is called with it, so that a host thread which was seen waiting
 * has queued all that it had to queue before.
 *
 * A thread of the tool's own looks whether anything moves. If nothing has for as long as the patience goes, what is
 * held or stopped is let go, and counted: a program may wait in ways that the driver doesn't see. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#include "base/log.h"
#include "base/mutex.h"
#include "libs/observer/identity.h"
#include "libs/observer/schedule.h"
#include "libs/observer/schedule_tool.h"
#include "libs/observer/threads.h"
#include "libs/observer/tool.h"

enum { ASKS = 8, BUSY_PATIENCE = 10 };

static const struct mr_observed_driver *driver;
static struct obs_schedule *schedule;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t moved = PTHREAD_COND_INITIALIZER; /* host threads that have stopped go on */
static pthread_key_t gone;
static bool acts; /* there is something to hold or to stop */
static _Atomic uint64_t moves;
static _Atomic uint64_t host_functions; /* that run: one may wait for what a thread that has stopped would do */

/* What the tool knows of the running thread. */
static _Thread_local bool is_worker, is_known;
static _Thread_local unsigned asks; /* how often it was told that something isn't done, since it did anything else */

static void note_move(void)
{
    atomic_fetch_add_explicit(&moves, 1, memory_order_relaxed);
}

/* Does what was decided, and lets the lock go. */
static void carry_out(enum obs_decision decision)
{
    MR_MUTEX_HELD(&lock);
    if (decision == OBS_WORK) {
        obs_schedule_forget(schedule);
        driver->ask_again(); /* with the lock: nobody decides before all have been asked about again */
    }
    if (decision != OBS_NOTHING)
        pthread_cond_broadcast(&moved); /* a witness may hold a thread, too */
    pthread_mutex_unlock(&lock);
    if (decision != OBS_NOTHING)
        note_move();
}

/* ---- works ---- */

static void tool_bind(const struct mr_observed_work *work)
{
    const struct obs_thread *thread = obs_thread_here();
    asks = 0;
    pthread_mutex_lock(&lock);
    bool good = obs_schedule_bound(schedule, work->work, work->stream, thread->number, thread->calls);
    pthread_mutex_unlock(&lock);
    if (!good && !atomic_exchange(&obs_schedule_state.short_of_memory, true))
        mr_log(MR_LOG_WARN, "memory is short: not all works follow the schedule");
}

static bool tool_may_begin(const struct mr_observed_work *work)
{
    is_worker = true;
    if (!acts)
        return true;
    pthread_mutex_lock(&lock);
    bool may = obs_schedule_ask(schedule, work->work, work->node);
    pthread_mutex_unlock(&lock);
    if (may)
        note_move();
    return may;
}

static void tool_rest(void)
{
    is_worker = true;
    if (!acts)
        return;
    pthread_mutex_lock(&lock);
    carry_out(driver->at_rest() ? obs_schedule_rest(schedule) : OBS_NOTHING);
}

static enum obs_role role_of(const struct mr_observed_work *work)
{
    if (!obs_schedule_state.options.witness)
        return OBS_NO_ROLE;
    pthread_mutex_lock(&lock);
    enum obs_role role = obs_schedule_role(schedule, work->work, work->node);
    pthread_mutex_unlock(&lock);
    return role;
}

/* Keeps what the bytes are now. Reads as another process would: the memory may have gone. */
static void keep_bytes(enum obs_kept_when when)
{
    struct obs_schedule_state *state = &obs_schedule_state;
    struct obs_kept_bytes *kept = &state->kept[when];
    bool begins = when == OBS_HELD_BEGINS || when == OBS_AWAITED_BEGINS;
    uintptr_t from = atomic_load(&state->address);
    if (!from || !kept->bytes || (begins && kept->size > 0))
        return;
    struct iovec to = {kept->bytes, state->kept_size}, at = {(void *)from, state->kept_size};
    ssize_t got = process_vm_readv(getpid(), &to, 1, &at, 1, 0);
    kept->size = got > 0 ? (size_t)got : 0;
}

static void tool_begin(const struct mr_observed_work *work)
{
    enum obs_role role = role_of(work);
    note_move();
    if (work->kind == MR_OBSERVED_HOST)
        atomic_fetch_add_explicit(&host_functions, 1, memory_order_relaxed);
    if (role != OBS_NO_ROLE)
        keep_bytes(role == OBS_HELD ? OBS_HELD_BEGINS : OBS_AWAITED_BEGINS);
}

static void tool_end(const struct mr_observed_work *work, CUresult status)
{
    enum obs_role role = role_of(work);
    (void)status;
    note_move();
    if (work->kind == MR_OBSERVED_HOST)
        atomic_fetch_sub_explicit(&host_functions, 1, memory_order_relaxed);
    if (role != OBS_NO_ROLE)
        keep_bytes(role == OBS_HELD ? OBS_HELD_ENDS : OBS_AWAITED_ENDS);
    pthread_mutex_lock(&lock);
    carry_out(obs_schedule_ended(schedule, work->work, work->node) ? OBS_WORK : OBS_NOTHING);
}

/* ---- host threads ---- */

static void thread_gone(void *value)
{
    pthread_mutex_lock(&lock);
    bool again = obs_schedule_gone(schedule, (uint32_t)(uintptr_t)value);
    carry_out(again ? OBS_WORK : OBS_NOTHING);
    driver->ask_again(); /* a witness may have waited for what it would do */
}

static void know_thread(uint32_t number)
{
    if (is_known || is_worker)
        return;
    is_known = true;
    (void)pthread_setspecific(gone, (void *)(uintptr_t)number);
    pthread_mutex_lock(&lock);
    obs_schedule_host(schedule, number, OBS_HOST_RUNS, 0);
    pthread_mutex_unlock(&lock);
}

/* The thread's code behind its call number `call` begins or ends, or nothing is known of it. */
static void keep_bytes_of_code(uint64_t call, bool begins)
{
    enum obs_role role = obs_schedule_code_role(schedule, obs_thread_here()->number, call);
    if (role == OBS_HELD)
        keep_bytes(begins ? OBS_HELD_BEGINS : OBS_HELD_ENDS);
    else if (role == OBS_AWAITED)
        keep_bytes(begins ? OBS_AWAITED_BEGINS : OBS_AWAITED_ENDS);
}

static void tool_enter(struct mr_observed_call *call)
{
    const struct obs_thread *thread = obs_thread_here();
    (void)call;
    note_move();
    if (acts)
        know_thread(thread->number);
    if (!acts || is_worker || !obs_schedule_state.options.witness)
        return;
    keep_bytes_of_code(thread->calls - 1, false);
    pthread_mutex_lock(&lock);
    carry_out(obs_schedule_entered(schedule, thread->number, thread->calls) ? OBS_WORK : OBS_NOTHING);
}

/* Stops the running thread until the schedule lets it go on. With the lock, which is let go. */
static void stop(enum obs_host how)
{
    MR_MUTEX_HELD(&lock);
    uint32_t number = obs_thread_here()->number;
    obs_schedule_host(schedule, number, how, 0);
    pthread_mutex_unlock(&lock);
    driver->ask_again();
    pthread_mutex_lock(&lock);
    while (!obs_schedule_runs(schedule, number))
        pthread_cond_wait(&moved, &lock);
    pthread_mutex_unlock(&lock);
}

/* Counts queries that say "not ready". What the runtime library calls in between is of no account. */
static void count_asks(const struct mr_observed_call *call, CUresult status)
{
    if (strcmp(call->name, "cuStreamQuery") == 0 || strcmp(call->name, "cuEventQuery") == 0)
        asks = status == CUDA_ERROR_NOT_READY ? asks + 1 : 0;
}

/* The thread goes on with its own code, once that may begin. */
static void begin_code(const struct obs_thread *thread)
{
    pthread_mutex_lock(&lock);
    if (obs_schedule_holds_code(schedule, thread->number, thread->calls))
        stop(OBS_HOST_HELD);
    else
        pthread_mutex_unlock(&lock);
    keep_bytes_of_code(thread->calls, true);
}

static void tool_leave(struct mr_observed_call *call, CUresult status)
{
    const struct obs_thread *thread = obs_thread_here();
    if (!acts || is_worker)
        return;
    count_asks(call, status);
    if (obs_schedule_state.options.bytes.size && status == CUDA_SUCCESS)
        obs_schedule_find_bytes(call, thread);
    pthread_mutex_lock(&lock);
    bool again = obs_schedule_left(schedule, thread->number, thread->calls);
    bool stops = obs_schedule_stops(schedule) && obs_schedule_any(schedule);
    carry_out(again ? OBS_WORK : OBS_NOTHING);
    if (asks >= ASKS || stops) {
        pthread_mutex_lock(&lock);
        stop(asks >= ASKS ? OBS_HOST_POLLS : OBS_HOST_STOPS);
    }
    if (obs_schedule_state.options.witness)
        begin_code(thread);
}

static void tool_waits(bool on, uint64_t stream)
{
    uint32_t number = obs_thread_here()->number;
    if (!acts || is_worker || number == 0)
        return;
    asks = 0;
    pthread_mutex_lock(&lock);
    obs_schedule_host(schedule, number, on ? OBS_HOST_WAITS : OBS_HOST_RUNS, stream);
    pthread_mutex_unlock(&lock);
    if (on)
        driver->ask_again();
}

static void tool_ends(void)
{
    if (!acts)
        return;
    pthread_mutex_lock(&lock);
    carry_out(obs_schedule_open(schedule) ? OBS_WORK : OBS_NOTHING);
}

/* With the lock, unless a thread has it that the end of the process has stopped. */
static bool tool_write(const char *folder, const char *end)
{
    bool locked = false;
    for (int i = 0; i < 100 && !(locked = pthread_mutex_trylock(&lock) == 0); i++)
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    bool good = obs_schedule_write(folder, end);
    if (locked)
        pthread_mutex_unlock(&lock);
    return good;
}

/* ---- the thread that looks whether anything moves ---- */

static void *look(void *data)
{
    unsigned patience = obs_schedule_state.options.patience, still = 0;
    uint64_t seen = 0;
    struct timespec nap = {.tv_sec = patience / 8000, .tv_nsec = (patience % 8000) * (1000000 / 8)};
    driver->pause(true);
    for (;;) {
        nanosleep(&nap, NULL);
        uint64_t now = atomic_load_explicit(&moves, memory_order_relaxed);
        still = now == seen ? still + 1 : 0;
        seen = now;
        bool busy = atomic_load_explicit(&host_functions, memory_order_relaxed) == 0 && !driver->at_rest();
        if (still < 8 || (still < 8 * BUSY_PATIENCE && busy))
            continue;
        still = 0;
        pthread_mutex_lock(&lock);
        enum obs_decision decision = obs_schedule_overdue(schedule);
        carry_out(decision);
        if (decision != OBS_NOTHING)
            mr_log(MR_LOG_INFO, "nothing moved for %u ms: what the schedule held goes on", patience);
    }
    return data;
}

/* ---- the tool ---- */

static bool keep_room(struct obs_schedule_state *state)
{
    state->kept_size = state->options.bytes.size < OBS_KEPT_MOST ? state->options.bytes.size : OBS_KEPT_MOST;
    for (int i = 0; i < OBS_KEPT && state->kept_size; i++)
        if (!(state->kept[i].bytes = malloc(state->kept_size)))
            return false;
    return true;
}

static bool tool_open(const struct mr_observed_driver *with, const char *text)
{
    struct obs_schedule_state *state = &obs_schedule_state;
    char problem[512];
    pthread_t thread;
    driver = with;
    if (!obs_schedule_read(text, &state->options, problem, sizeof problem)) {
        mr_log(MR_LOG_ERROR, "MILLRACE_OBSERVE: %s", problem);
        return false;
    }
    state->text = text;
    state->identity = obs_identity("/proc/self/exe");
    state->other_program = state->options.program && state->options.program != state->identity;
    schedule = obs_schedule_new(&state->options);
    state->schedule = schedule;
    acts = !state->other_program && (state->options.mode != OBS_PLAIN || state->options.witness);
    if (!schedule || !keep_room(state) || pthread_key_create(&gone, thread_gone) != 0 ||
        (acts && pthread_create(&thread, NULL, look, NULL) != 0)) {
        mr_log(MR_LOG_ERROR, "memory is short: no schedule is followed");
        return false;
    }
    return true;
}

const struct obs_tool obs_tool_schedule = {
    .name = "schedule",
    .points = MR_OBSERVE_CALLS | MR_OBSERVE_WORK | MR_OBSERVE_ORDER,
    .open = tool_open,
    .enter = tool_enter,
    .leave = tool_leave,
    .bind = tool_bind,
    .begin = tool_begin,
    .end = tool_end,
    .may_begin = tool_may_begin,
    .rest = tool_rest,
    .waits = tool_waits,
    .ends = tool_ends,
    .write = tool_write,
};
