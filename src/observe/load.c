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

#include "base/beside.h"
#include "base/log.h"
#include "base/settings.h"
#include "base/thread.h"
#include "observe/pass.h"

#define LIBRARY_NAME "libmillrace-observer.so"
#define FINISH_S 30            /* for how long a thread that dies waits for the finisher */

_Thread_local unsigned mr_observe_depth __attribute__((tls_model("initial-exec")));
_Thread_local const void *mr_observe_site __attribute__((tls_model("initial-exec")));

static const int fatal_signals[] = {SIGHUP,  SIGINT,  SIGQUIT, SIGILL,  SIGTRAP, SIGABRT, SIGBUS,  SIGFPE,
                                    SIGSEGV, SIGTERM, SIGALRM, SIGUSR1, SIGUSR2, SIGPIPE, SIGXCPU, SIGXFSZ};

static sem_t asked, finished;
static _Atomic bool begun, over;
static _Atomic int ending_signal;
static pid_t observed_process;

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
    if (!observed_process || getpid() != observed_process)
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

static bool start_finisher(void)
{
    return sem_init(&asked, 0, 0) == 0 && sem_init(&finished, 0, 0) == 0 && mr_thread_start(finisher, NULL) == 0 &&
           at_quick_exit(mr_observe_finish) == 0;
}

/* ---- loading ---- */

static void choose_path(char path[PATH_MAX])
{
    const char *wanted = mr_setting_text(MR_SETTING_OBSERVER);
    snprintf(path, PATH_MAX, "%s", *wanted ? wanted : LIBRARY_NAME);
    if (!*wanted)
        mr_beside(&observed_process, LIBRARY_NAME, path);
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
        return NULL; /* and it has said why */
    if (table->version != MR_OBSERVER_VERSION)
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
    char path[PATH_MAX];
    if (!*tools)
        return;
    choose_path(path);
    mr_observe_depth++;
    const struct mr_observer *table = open_table(driver, tools, path);
    mr_observe_depth--;
    if (!table)
        return;
    mr_observe_take(table);
    if (!start_finisher()) {
        mr_log(MR_LOG_ERROR, "no thread for the observer, so nothing is observed");
        return;
    }
    observed_process = getpid();
    mr_observe_open();
    watch_signals();
    mr_log(MR_LOG_INFO, "'%s' observes (MILLRACE_OBSERVE=%s)", path, tools);
}
