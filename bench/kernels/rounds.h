/* SPDX-License-Identifier: Apache-2.0 */
/* How the plain programs that kernels are measured beside time what they do: some rounds, of which the best counts. */
#ifndef BENCH_KERNELS_ROUNDS_H
#define BENCH_KERNELS_ROUNDS_H

#include <stdbool.h>

#include "kernels.h"

#ifndef BEFORE_ROUND /* what a program does before each round, outside of its time */
#define BEFORE_ROUND ((void)0)
#endif

static struct {
    double begin, best;
    int left;
} timing;

/* Called before each round and after the last: false when that many have been. */
static bool another_round(void)
{
    double now = kernels_seconds(), took = (now - timing.begin) * 1e3;
    if (timing.begin != 0 && took < timing.best)
        timing.best = took;
    if (timing.left-- == 0)
        return false;
    BEFORE_ROUND;
    timing.begin = kernels_seconds();
    return true;
}

/* Runs what follows some times; the best of them is then in timing.best. */
#define REPEAT(rounds) for (timing.begin = 0, timing.best = 1e9, timing.left = (rounds); another_round();)

#endif
