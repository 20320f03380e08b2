/* SPDX-License-Identifier: Apache-2.0 */
/* Running the compiler: a process of its own, without a shell, with files in memory for its input and outputs. */
#ifndef MR_NVRTC_RUN_H
#define MR_NVRTC_RUN_H

#include <stdbool.h>
#include <stddef.h>

#include "base/text.h"

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
    struct mr_text output, messages, depends;   /* standard output, standard error, what was written to /dev/fd/3 */
    int reason;
};

/* Runs and waits. Any number of threads at a time. Free the three texts with mr_text_clear. */
enum mr_run_status mr_run(struct mr_run *run);

#endif
