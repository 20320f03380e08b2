/* SPDX-License-Identifier: Apache-2.0 */
/* What is read of one process's file, before it is put together into a timeline. */
#ifndef MILLRACE_TRACE_READING_H
#define MILLRACE_TRACE_READING_H

#include "model.h"

/* A text, or a thing that has a number in a file. */
struct entry {
    uint64_t key;
    const char *text;
};

struct end {
    uint64_t time, work, node;
    int status;
};

struct bind {
    uint64_t time, work, call;
};

struct site {
    uint64_t number;
    struct trace_site record;
};

/* What is read of one file, before it is put together. */
struct reading {
    struct timeline_process *process;
    uint32_t thread;
    LIST(struct entry, names);
    LIST(struct end, ends);
    LIST(struct bind, binds);
    LIST(struct site, sites);
    bool short_of_memory;
};

/* A text that the process owns; NULL: memory is short, or `text` is NULL. Takes the text over. */
const char *reading_own(struct timeline_process *process, char *text);

/* Once all records are taken: pairs begins with ends, tells which call asked for a work and which work a slice is of,
 * names kernels and the places of calls. False: memory is short, or a number in the file is senseless. */
bool reading_put_together(struct reading *reading);

#endif
