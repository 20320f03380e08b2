/* SPDX-License-Identifier: Apache-2.0 */
/* Running the compiler: a process of its own, without a shell, with files in memory for its input and outputs. */
#ifndef MR_NVRTC_RUN_H
#define MR_NVRTC_RUN_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "base/text.h"

struct mr_standby;

enum mr_run_status {
    MR_RUN_DONE,        /* ended with status 0 */
    MR_RUN_FAILED,      /* ended otherwise; standard error says why */
    MR_RUN_NOT_STARTED, /* errno is in run->reason */
    MR_RUN_CANCELLED,
};

struct mr_run {
    char *const *words;               /* the first is the program, looked for in PATH */
    const char *input;                /* standard input */
    size_t input_length;
    int (*cancel)(void *, void *);    /* asked now and then; not 0 stops the compiler. May be NULL */
    void *cancel_data;
    const struct mr_standby *standby; /* a waiting compiler that does it in place of a new process; NULL: none */
    struct mr_text output, messages, depends;   /* standard output, standard error, what was written to /dev/fd/3 */
    int reason;
};

/* Starts a program with the descriptors `files` as its 0 to count-1 and no others, a clean signal mask, and an
 * environment without what steers clang from outside. 0 or an errno. The descriptors must be above `count`. */
int mr_run_start(char *const *words, const int *files, int count, pid_t *child);

/* Runs and waits. Any number of threads at a time. Free the three texts with mr_run_forget. */
enum mr_run_status mr_run(struct mr_run *run);
void mr_run_forget(struct mr_run *run);

/* Runs the compiler as `run` was run, by other words and with another input (NULL: the same); what comes out is in
 * `next`, which the caller forgets. Where the answer is not DONE, run->reason says why. */
enum mr_run_status mr_run_again(struct mr_run *run, struct mr_run *next, const struct mr_words *words,
                                const struct mr_text *input);

#endif
