/* SPDX-License-Identifier: Apache-2.0 */
/* What the two files that draw a program share. */
#ifndef RANDOM_DRAW_H
#define RANDOM_DRAW_H

#include "program.h"

struct drawer {
    struct program *program;
    struct order *order;
    struct dice dice;
    int events, streams, buffers, execs, flags, posts;   /* names used so far */
    int kept;                                            /* the first buffers are never freed */
    uint8_t place[BUFFERS], device[BUFFERS];
    bool pooled[BUFFERS];                                /* from a pool: hardware allows no memory operations on it */
    int exec_body[EXECS];
    int held, hold_until; /* the hold that is on, or -1; to be released before this many operations */
    int depth;
    bool by_library; /* work may be a library's: it goes into a stream, or into a graph that is captured */
    const struct op
        *pending; /* what a wait is being added for, and whether it would have missed something before the last one */
    bool was_missing;
};

/* An operation with everything set to "none". */
struct op draw_op(int kind, int thread, int stream);

/* Appends the operation, after waits that put it in order. False: it can't be had, and perhaps some waits were added.
 */
bool draw_emit(struct drawer *drawer, struct op op);

/* Adds something that orders `op` behind what it missed. False if there is no way. */
bool draw_wait(struct drawer *drawer, const struct op *op, const struct miss *miss);

/* Lets go of the stream that is held, before something on which the thread might wait for it. */
bool draw_release(struct drawer *drawer);

/* An event that the thread may record, perhaps a new one; -1 if there is none. */
int draw_event(struct drawer *drawer, int thread);

bool draw_can(const struct drawer *drawer, unsigned features);

#endif
