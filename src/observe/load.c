/* SPDX-License-Identifier: Apache-2.0 */
/* The observer's library: found beside the driver, loaded, and told of the end of the process.
 *
 * It is never closed: threads may be inside of it whenever the process ends.
 *
 * The end is told by a thread that is made with the observer and sleeps until then (the finisher). So a handler of a
 * signal need only wake it, which is all that a handler may do; and where the signal came while its thread held a lock
 * that the observer needs, the handler gives up in time. Signals count as fatal whose action is the default one when
 * the observer is loaded. A handler that the program puts in our place later has its way. */
#include "observe/hooks.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/log.h"
#include "base/settings.h"

#define LIBRARY_NAME "libmillrace-observer.so"
#define FINISH_S 30            /* for how long a thread that dies waits for the finisher */

_Alignas(64) uint32_t mr_observing;
struct mr_observer mr_observer;
_Thread_local unsigned mr_observe_depth __attribute__((tls_model("initial-exec")));
_Thread_local const void *mr_observe_site __attribute__((tls_model("initial-exec")));

static const int fatal_signals[] = {SIGHUP,  SIGINT,  SIGQUIT, SIGILL,  SIGTRAP, SIGABRT, SIGBUS,  SIGFPE,
                                    SIGSEGV, SIGTERM, SIGALRM, SIGUSR1, SIGUSR2, SIGPIPE, SIGXCPU, SIGXFSZ};

static sem_t asked, finished;
static _Atomic bool begun, over;
static _Atomic int ending_signal;
static pid_t observed_process;

/* ---- what an observer leaves out ---- */

static void no_enter(struct mr_observed_call *call)
{
    (void)call;
}

static void no_leave(struct mr_observed_call *call, CUresult status)
{
    (void)call, (void)status;
}

static void no_work(const struct mr_observed_work *work)
{
    (void)work;
}

static void no_end(const struct mr_observed_work *work, CUresult status)
{
    (void)work, (void)status;
}

static void no_access(const struct mr_observed_work *work, const struct mr_access *boxes, size_t count)
{
    (void)work, (void)boxes, (void)count;
}

static void no_slice(const struct mr_observed_work *work, unsigned worker, uint64_t from, uint64_t to)
{
    (void)work, (void)worker, (void)from, (void)to;
}

static bool begins(const struct mr_observed_work *work)
{
    (void)work;
    return true;
}

static void no_rest(void)
{
}

static void no_waits(bool on, uint64_t stream)
{
    (void)on, (void)stream;
}

static void no_finish(int number)
{
    (void)number;
}

static void take_over(const struct mr_observer *table)
{
#define OR(member, none) .member = table->member ? table->member : none
    mr_observer = (struct mr_observer){.version = table->version,
                                       .points = table->points,
                                       OR(enter, no_enter),
                                       OR(leave, no_leave),
                                       OR(bind, no_work),
                                       OR(begin, no_work),
                                       OR(end, no_end),
                                       OR(access, no_access),
                                       OR(slice, no_slice),
                                       OR(may_begin, begins),
                                       OR(rest, no_rest),
                                       OR(waits, no_waits),
                                       OR(finish, no_finish)};
#undef OR
}

/* ---- the end of the process ---- */

static void *finisher(void *nothing)
{
    mr_observe_depth = 1;
    while (sem_wait(&asked) != 0 && errno == EINTR)
        ;
    mr_observer.finish(atomic_load(&ending_signal));
    atomic_store(&over, true);
    sem_post(&finished);
    return nothing;
}

static bool ask(int number)
{
    if (!mr_observing || getpid() != observed_process)
        return false;
    if (!atomic_exchange(&begun, true)) {
        atomic_store(&ending_signal, number);
        sem_post(&asked);
    }
    return true;
}

void mr_observe_finish(void)
{
    if (!ask(0))
        return;
    while (!atomic_load(&over) && (sem_wait(&finished) == 0 || errno == EINTR))
        ;
    sem_post(&finished); /* for another thread that waits */
}

static void on_fatal(int number)
{
    int saved = errno;
    struct timespec until;
    if (ask(number) && clock_gettime(CLOCK_REALTIME, &until) == 0) {
        until.tv_sec += FINISH_S;
        while (!atomic_load(&over) && (sem_timedwait(&finished, &until) == 0 || errno == EINTR))
            ;
        sem_post(&finished);
    }
    signal(number, SIG_DFL);
    raise(number); /* comes once this handler returns */
    errno = saved;
}

static void watch_signals(void)
{
    for (size_t i = 0; i < sizeof fatal_signals / sizeof fatal_signals[0]; i++) {
        struct sigaction now, ours = {.sa_handler = on_fatal, .sa_flags = SA_ONSTACK};
        sigemptyset(&ours.sa_mask);
        if (sigaction(fatal_signals[i], NULL, &now) == 0 && !(now.sa_flags & SA_SIGINFO) && now.sa_handler == SIG_DFL)
            sigaction(fatal_signals[i], &ours, NULL);
    }
}

/* The finisher takes no signals: those of the program go to the program's threads. */
static bool start_finisher(void)
{
    pthread_t thread;
    sigset_t all, own;
    if (sem_init(&asked, 0, 0) != 0 || sem_init(&finished, 0, 0) != 0)
        return false;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &own);
    bool made = pthread_create(&thread, NULL, finisher, NULL) == 0;
    pthread_sigmask(SIG_SETMASK, &own, NULL);
    if (made)
        pthread_detach(thread);
    return made && at_quick_exit(mr_observe_finish) == 0;
}

/* ---- loading ---- */

static void choose_path(char *path, size_t room)
{
    const char *wanted = mr_setting_text(MR_SETTING_OBSERVER);
    Dl_info self;
    snprintf(path, room, "%s", *wanted ? wanted : LIBRARY_NAME);
    if (*wanted || dladdr((void *)&observed_process, &self) == 0 || !self.dli_fname)
        return;
    const char *slash = strrchr(self.dli_fname, '/');
    if (slash)
        snprintf(path, room, "%.*s/" LIBRARY_NAME, (int)(slash - self.dli_fname), self.dli_fname);
}

static const struct mr_observer *open_table(const struct mr_observed_driver *driver, const char *tools,
                                            const char *path)
{
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!library) {
        mr_log(MR_LOG_ERROR,
               "MILLRACE_OBSERVE is '%s', but the observer cannot be loaded, so nothing is observed: %s; it belongs "
               "beside libcuda.so.1, or where MILLRACE_OBSERVER says",
               tools, dlerror());
        return NULL;
    }
    mr_observer_open *open = (mr_observer_open *)dlsym(library, MR_OBSERVER_SYMBOL);
    if (!open) {
        mr_log(MR_LOG_ERROR, "'%s' is no observer (it has no " MR_OBSERVER_SYMBOL "), so nothing is observed", path);
        dlclose(library);
        return NULL;
    }
    const struct mr_observer *table = open(driver, tools);
    if (!table)
        mr_log(MR_LOG_ERROR, "'%s' observes nothing of '%s' (MILLRACE_OBSERVE)", path, tools);
    else if (table->version != MR_OBSERVER_VERSION)
        mr_log(MR_LOG_ERROR,
               "the observer '%s' is of version %u, and the driver of %u, so nothing is observed; install both from "
               "one build",
               path, table->version, MR_OBSERVER_VERSION);
    else
        return table;
    return NULL;
}

void mr_observe_load(const struct mr_observed_driver *driver)
{
    const char *tools = mr_setting_text(MR_SETTING_OBSERVE);
    char path[4096];
    if (!*tools)
        return;
    choose_path(path, sizeof path);
    mr_observe_depth++;
    const struct mr_observer *table = open_table(driver, tools, path);
    mr_observe_depth--;
    if (!table)
        return;
    take_over(table);
    if (!start_finisher()) {
        mr_log(MR_LOG_ERROR, "no thread for the observer, so nothing is observed");
        return;
    }
    observed_process = getpid();
    mr_observing = mr_observer.points;
    watch_signals();
    mr_log(MR_LOG_INFO, "'%s' observes (MILLRACE_OBSERVE=%s)", path, tools);
}
