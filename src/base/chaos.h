/* SPDX-License-Identifier: Apache-2.0 */
/* Random delays and choices, for finding synchronisation that is missing: in a program, or in the driver.
 *
 * With MILLRACE_CHAOS=SEED the engine pauses at points where another order of events would be just as right, and
 * chooses at random where the rules leave the choice. Without, each point is a load and a branch that is never taken.
 * The seed makes the draws of each thread repeatable, not what the threads make of them. */
#ifndef MR_BASE_CHAOS_H
#define MR_BASE_CHAOS_H

#include <stdbool.h>

/* Whether delays are on. Set once, by mr_chaos_setup. */
extern bool mr_chaos_on __attribute__((visibility("hidden")));

/* Reads the setting; called by cuInit, before there is a second thread. */
void mr_chaos_setup(void);

/* Mostly nothing; sometimes yields, or sleeps up to a tenth of a millisecond. Called with no lock held. */
void mr_chaos_pause(void);

/* A number from 0 up to limit - 1. Any thread. */
unsigned mr_chaos_draw(unsigned limit);

static inline void mr_chaos_point(void)
{
    if (__builtin_expect(mr_chaos_on, 0))
        mr_chaos_pause();
}

/* True in `percent` of the calls if delays are on, else never. */
static inline bool mr_chaos_turn(unsigned percent)
{
    return __builtin_expect(mr_chaos_on, 0) && mr_chaos_draw(100) < percent;
}

#endif
