/* SPDX-License-Identifier: Apache-2.0 */
/* Interrupting warps.
 *
 * A warp that goes round in a loop of which nobody knew that it waits gives way to no other. Such a thread is sent a
 * signal, and the handler, which runs on the warp's own stack, switches to another fiber as a service of the runtime
 * would. Generated code holds no lock and calls services only; so when it is interrupted in its own instructions, and
 * only then, everything may be done that a service may. The warp goes on when the handler returns, much later.
 *
 * The signal is SIGURG, which hardly anybody needs and whose default is to be ignored. It is sent only while our
 * handler is in place: a program that has one keeps it, and SIGWINCH is used; if it has one for that, too, its warps
 * are not interrupted. */
#define _GNU_SOURCE
#include "kernel/executor.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#include "base/log.h"
#include "base/sanitizer.h"

/* ThreadSanitizer puts signals off until the program makes a call that it knows, which a kernel never does. */
#ifdef MR_TSAN
#define CAN_FORCE 0
#else
#define CAN_FORCE 1
#endif

/* Whether the interrupted instruction is the kernel's own. */
static bool in_generated_code(const struct mr_executor *executor, const ucontext_t *context)
{
#if defined(__x86_64__)
    uintptr_t at = (uintptr_t)context->uc_mcontext.gregs[REG_RIP];
#elif defined(__aarch64__)
    uintptr_t at = (uintptr_t)context->uc_mcontext.pc;
#else
    uintptr_t at = 0;
    (void)context;
#endif
    return executor->code && at - (uintptr_t)executor->code->text < executor->code->text_bytes;
}

static void on_force(int number, siginfo_t *info, void *context)
{
    struct mr_executor *executor = mr_executor_self;
    (void)number;
    (void)info;
    if (!executor || !executor->in_kernel || !in_generated_code(executor, context))
        return;
    int saved = errno;
    mr_executor_force(executor);
    errno = saved;
}

/* What is in place is ours, or nothing. */
static bool is_free(const struct sigaction *now)
{
    return now->sa_flags & SA_SIGINFO ? now->sa_sigaction == on_force
                                      : now->sa_handler == SIG_DFL || now->sa_handler == SIG_IGN;
}

/* The first that nobody else handles is used. By default both are ignored, so that one which comes after the program
 * has put a handler back does no harm. */
static const int signals[] = {SIGURG, SIGWINCH};
#define SIGNALS (sizeof signals / sizeof *signals)

/* The signal that our handler is in place for, now if not before; 0: none. */
static int handled(void)
{
    struct sigaction now;
    for (unsigned i = 0; CAN_FORCE && i < SIGNALS; i++) {
        if (sigaction(signals[i], NULL, &now) != 0 || !is_free(&now))
            continue;
        struct sigaction ours = {.sa_sigaction = on_force, .sa_flags = SA_SIGINFO | SA_NODEFER | SA_RESTART};
        sigemptyset(&ours.sa_mask);
        if ((now.sa_flags & SA_SIGINFO) || sigaction(signals[i], &ours, NULL) == 0)
            return signals[i];
    }
    return 0;
}

void mr_progress_thread_begin(void)
{
    sigset_t set;
    struct sigaction now;
    sigemptyset(&set);
    for (unsigned i = 0; i < SIGNALS; i++)
        if (sigaction(signals[i], NULL, &now) == 0 && is_free(&now))
            sigaddset(&set, signals[i]);
    if (CAN_FORCE)
        pthread_sigmask(SIG_UNBLOCK, &set, NULL);
}

void mr_progress_force(struct mr_progress *progress)
{
    int number = progress->thread ? handled() : 0;
    if (number)
        (void)syscall(SYS_tgkill, getpid(), progress->thread, number);
}
