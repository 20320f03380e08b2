/* SPDX-License-Identifier: Apache-2.0 */

/* Between draw.c (statements) and draw_calls.c (functions with signatures of their own, and calls of them). */
#ifndef MR_TESTS_PTXRANDOM_DRAW_H
#define MR_TESTS_PTXRANDOM_DRAW_H

#include "program.h"

struct drawer {
    struct program *program;
    u64 state;
    int budget;
    bool full;        /* all lanes of every warp exist and are there: nobody has left */
    bool in_function;
    struct function *function; /* the one at hand, if it has a signature of its own */
    unsigned ring_calls;       /* in it */
    u32 cost;         /* of what has been drawn of a function or of the kernel, and what is allowed */
    u32 cost_limit;
};

/* Where a list stands. */
struct spot {
    int depth;
    bool uniform;     /* all threads of the block that have not left are here */
    bool in_loop;
    u32 times;        /* at most so often, in one run of the function or kernel */
};

unsigned draw_below(struct drawer *d, unsigned n);
u64 draw_constant(struct drawer *d);
int draw_list(struct drawer *d, struct spot spot, int length);
/* Functions with signatures, all of a program. */
void draw_functions(struct drawer *d);
bool can_invoke(const struct drawer *d, struct spot spot);
void draw_invoke(struct drawer *d, struct node *n, struct spot spot);

#endif
