/* SPDX-License-Identifier: Apache-2.0 */
/* How the schedules of an exploration ended (millrace check --explore): kept, told, and left in a file for others to
 * join.
 *
 * A share is the part of an exploration that one process of the command makes; its file is FOLDER/explore-R.json,
 * "format": "millrace-exploration". */
#ifndef MILLRACE_OUTCOMES_H
#define MILLRACE_OUTCOMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* How one schedule ended. */
struct outcome {
    char schedule[96];
    int status;
    bool out_of_time;
    uint64_t sum; /* of the output */
    char line[200]; /* the first line of its output that is another one than in the eager run */
};

struct exploration {
    struct outcome eager, *outcomes; /* eager: what all are compared with */
    size_t count, room;
    bool output_varies; /* eager runs differ in their output */
    uint64_t total; /* schedules that were asked for, over all shares */
    char *program;
};

/* Room for one more outcome, all 0. NULL, with a message, when memory is short. */
struct outcome *outcomes_add(struct exploration *all);

/* Prints which schedules end otherwise than an eager run, with a command for one of each kind. Sorts the outcomes.
 * Returns how many schedules differ. */
size_t outcomes_tell(struct exploration *all);

/* Leaves the outcomes of share `share` of `shares` in the folder, which is made if it is not there. False, with a
 * message. */
bool outcomes_leave(const struct exploration *all, const char *folder, uint64_t share, uint64_t shares);

/* Adds the outcomes of all shares in the folder. False, with a message: a share is missing or broken, or the files are
 * of several explorations; what could be read has been added. */
bool outcomes_join(struct exploration *all, const char *folder);

/* Frees what it points to. */
void outcomes_free(struct exploration *all);

#endif
