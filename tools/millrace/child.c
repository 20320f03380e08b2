/* SPDX-License-Identifier: Apache-2.0 */
/* A program that the command starts and waits for. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "millrace.h"

static const int forwarded[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2};
enum { FORWARDED = sizeof forwarded / sizeof *forwarded };

static volatile pid_t child;

/* A signal that the kernel sends (Ctrl-C) goes to all processes of the terminal: the program has got it already. */
static void forward(int signal, siginfo_t *info, void *context)
{
    int before = errno;
    (void)context;
    if (info->si_code <= 0 && child > 0)
        kill(child, signal);
    errno = before;
}

/* In the child: the program takes its place, or the reason goes into the pipe. */
static void start(char *const *argv, const struct sigaction *old, const sigset_t *mask, int report)
{
    for (int i = 0; i < FORWARDED; i++)
        sigaction(forwarded[i], &old[i], NULL);
    sigprocmask(SIG_SETMASK, mask, NULL);
    execvp(argv[0], argv);
    int reason = errno;
    ssize_t wrote = write(report, &reason, sizeof reason);
    _exit(wrote == sizeof reason ? 127 : 126);
}

int tool_wait_for(char *const *argv)
{
    struct sigaction action = {.sa_sigaction = forward, .sa_flags = SA_SIGINFO | SA_RESTART}, old[FORWARDED];
    sigset_t all, mask;
    int report[2], reason = 0, status = -1;
    if (pipe2(report, O_CLOEXEC) != 0)
        return -1;
    /* No signal comes before there is a child to give it to. */
    sigfillset(&all);
    sigprocmask(SIG_BLOCK, &all, &mask);
    for (int i = 0; i < FORWARDED; i++) {
        sigaction(forwarded[i], NULL, &old[i]);
        if (old[i].sa_handler != SIG_IGN) /* nohup */
            sigaction(forwarded[i], &action, NULL);
    }
    child = fork();
    if (child == 0)
        start(argv, old, &mask, report[1]);
    if (child < 0)
        reason = errno;
    sigprocmask(SIG_SETMASK, &mask, NULL);
    close(report[1]);
    if (child > 0) {
        ssize_t got;
        do
            got = read(report[0], &reason, sizeof reason);
        while (got < 0 && errno == EINTR);
        if (got != sizeof reason)
            reason = 0;
        siginfo_t end;
        while (waitid(P_PID, (id_t)child, &end, WEXITED | WNOWAIT) < 0 && errno == EINTR)
            continue;
        pid_t ended = child;
        child = 0; /* from here on its number may be another process's */
        waitpid(ended, &status, 0);
    }
    close(report[0]);
    for (int i = 0; i < FORWARDED; i++)
        sigaction(forwarded[i], &old[i], NULL);
    errno = reason;
    return reason ? -1 : status;
}
