/* SPDX-License-Identifier: Apache-2.0 */
/* Interrupting warps.
 *
 * A warp that goes round in a loop of which nobody knew that it waits gives way to no other. Such a thread is sent a signal, and the handler, which runs on the warp's
 * own stack, switches to another fiber as a service of the runtime would. Generated code holds no lock and calls services only; so when it is interrupted in its own
 * instructions, and only then, everything may be done that a service may. The warp goes on when the handler returns, much later.
 *
 * The signal is SIGURG, which nobody needs and whose default is to be ignored. It is sent only while our handler is in place: a program that has one keeps it, and its warps are
 * not interrupted. */
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
    return now->sa_flags & SA_SIGINFO ? now->sa_sigaction == on_force : now->sa_handler == SIG_DFL || now->sa_handler == SIG_IGN;
}

/* True if our handler is in place, now if not before. */
static bool have_handler(void)
{
    struct sigaction now;
    if (!CAN_FORCE || sigaction(SIGURG, NULL, &now) != 0 || !is_free(&now))
        return false;
    if (now.sa_flags & SA_SIGINFO)
        return true;
    struct sigaction ours = { .sa_sigaction = on_force, .sa_flags = SA_SIGINFO | SA_NODEFER | SA_RESTART };
    sigemptyset(&ours.sa_mask);
    return sigaction(SIGURG, &ours, NULL) == 0;
}

void mr_progress_thread_begin(void)
{
    sigset_t set;
    struct sigaction now;
    sigemptyset(&set);
    sigaddset(&set, SIGURG);
    if (CAN_FORCE && sigaction(SIGURG, NULL, &now) == 0 && is_free(&now))
        pthread_sigmask(SIG_UNBLOCK, &set, NULL);
}

void mr_progress_force(struct mr_progress *progress)
{
    if (progress->thread && have_handler())
        (void)syscall(SYS_tgkill, getpid(), progress->thread, SIGURG);
}
