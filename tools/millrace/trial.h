/* SPDX-License-Identifier: Apache-2.0 */
/* A trial: one run of a program under a schedule (src/libs/observer/schedule.h), its output kept in a file. `millrace
 * replay` and `millrace check --explore` compare trials. */
#ifndef MILLRACE_TRIAL_H
#define MILLRACE_TRIAL_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

struct cJSON;

struct trial {
    char schedule[512];    /* options of the tool schedule; "": no schedule, a plain run */
    char folder[PATH_MAX]; /* what its processes leave, and `output`: standard output and error together */
    pid_t process;         /* 0: it doesn't run */
    int status;            /* once it has ended: the exit status, or 128 and the signal's number */
    bool out_of_time;
    uint64_t deadline;     /* nanoseconds of CLOCK_MONOTONIC; 0: none */
};

/* Starts the program; `name` is the trial's folder in `above`. One worker carries its work out, unless MILLRACE_WORKERS
 * says otherwise. False, with a message: memory is short, or the process or the folder can't be made. A program that
 * is not there ends with 127, as in a shell. */
bool trial_start(struct trial *trial, const char *command, char **program, const char *above, const char *name);

/* Waits until one of the trials that run has ended, and gives it; NULL if none runs. A trial whose time is over is
 * ended. */
struct trial *trial_wait(struct trial *trials, size_t count);

/* Starts it and waits for its end. */
bool trial_run(struct trial *trial, const char *command, char **program, const char *above, const char *name);

/* A number made of the whole output; 0: it can't be read. */
uint64_t trial_output_sum(const struct trial *trial);
FILE *trial_output(const struct trial *trial);

/* What the trial's processes left of their schedules: calls `each` with each file. False, with a message, for a file
 * that can't be read. */
bool trial_results(const struct trial *trial, const char *command, void (*each)(const struct cJSON *root, void *data),
                   void *data);

/* Reads a file of JSON. NULL with a message from `millrace command`, which calls it `what`. To be deleted. */
struct cJSON *trial_read_json(const char *command, const char *path, const char *what);

#endif
