/* SPDX-License-Identifier: Apache-2.0 */
/* Witnesses: files from which `millrace replay` makes a race do its damage.
 *
 * A witness names two operations by the calls that asked for them (src/libs/observer/schedule.h), the bytes that both
 * touch, and the program; or several such pairs, of which one may do damage where another does none. In the program's
 * own order all that a call asks for is done before the call returns. Forced, one operation is held until another is
 * done:
 *
 *     race           the earlier operation until the later one is done
 *     early free     the use, as long as anything else can go on: meanwhile the memory gets a new owner
 *     use after free likewise
 *     unordered use  what the allocation's stream had before the allocation, until the use is done: it may be the
 *                    memory's former owner
 *
 * A file is JSON, "format": "millrace-witness", and is good for the version of Millrace that made it. */
#ifndef MILLRACE_WITNESS_H
#define MILLRACE_WITNESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct witness_side {
    char title[200];  /* in words, for people */
    bool reads, writes;
};

struct witness_pair {
    struct witness_side earlier, later;
    bool holds_later;           /* the later one is held, not the earlier one */
    char hold[80], until[80];   /* as the schedule's options have them; "rest" if the other operation is no work */
    char bytes[100];            /* likewise; "": not known */
};

enum { WITNESS_PAIRS = 8 };

struct witness {
    char kind[40];
    char program[4096]; /* its path */
    uint64_t identity;  /* obs_identity of it */
    unsigned pairs;     /* at least 1 */
    struct witness_pair pair[WITNESS_PAIRS];
};

/* Reads a witness. False, with a message from `millrace replay`: it can't be read, is cut short, is no witness, or is
 * of another version. */
bool witness_read(const char *path, struct witness *out);

/* Makes witnesses FOLDER/race-N.json, N from 1 up, of the findings that the processes of a run have left in `results`,
 * and tells of each on standard error. A finding for which no schedule can change the order has none. The folder is
 * made if it is not there. False, with a message from `millrace check`: not all could be written. */
bool witness_write_all(const char *results, const char *folder);

#endif
