/* SPDX-License-Identifier: Apache-2.0 */

/* Random kernels whose threads wait for each other: polls.c draws, calculates and runs them, polls_text.c writes them
 * as PTX. */
#ifndef MR_TESTS_PTXRANDOM_POLLS_H
#define MR_TESTS_PTXRANDOM_POLLS_H

#include "program.h"

enum { BLOCKS_MAX = 6, THREADS_ALL = 512, PHASES_MAX = 3, DEPS = 3, WORDS = THREADS_ALL * PHASES_MAX };
#define READY 0x80000000u

/* Who waits for whom: threads for any, also of their warp; warps for other warps; blocks for other blocks; threads for
 * those of their block, in shared memory. */
enum grain { LANE_GRAIN, WARP_GRAIN, BLOCK_GRAIN, SHARED_GRAIN, GRAINS };

/* How the loop is left: polls_text.c. */
enum way {
    BY_VALUE,
    BY_COUNT,
    BY_ALL,
    BY_LOCAL_COUNT,
    BY_PREDICATE,
    BY_STATE,
    BY_ROUNDS,
    BY_EXIT,
    BY_LOOK,
    BY_WAIT,
    BY_CHOICE,
    BY_GUARD,
    BY_TABLE,
    BY_FLAG,
    WAYS
};

enum load { VOLATILE, RELAXED_GPU, RELAXED_SYS, ACQUIRE, NO_CACHE, ATOM_ADD, ATOM_CAS, FENCED, PLAIN, LOADS };
enum store { ST_VOLATILE, ST_RELAXED, ST_RELEASE, ST_EXCHANGE, ST_REDUCE, ST_PLAIN, STORES };

struct polls {
    u64 seed;
    u32 grid, threads, phases;           /* threads: of a block */
    unsigned grain, way, load, store;
    bool generic;                        /* addresses without a space */
    bool meets_before, meets_behind;     /* barriers in front of the phases, and in each, behind the waiting */
    bool scratch;                        /* each round stores something that nobody reads */
    bool parted;                         /* even and odd threads wait in loops of their own */
    u32 own[THREADS_ALL];
    /* Words: thread t of all has its word of phase p at p * all + t. */
    u32 count[WORDS], dep[WORDS][DEPS];  /* what it waits for */
    u32 wanted[WORDS];
};

void put_polls(FILE *file, const struct polls *polls);

#endif
