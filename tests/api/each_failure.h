/* SPDX-License-Identifier: Apache-2.0 */
/* For tests that are linked with the whole driver: a call with each of its allocations failing in turn. Only the
 * calling thread's allocations count: what workers do meanwhile would make the count, and the outcome, differ from run
 * to run. */
#ifndef TESTS_API_EACH_FAILURE_H
#define TESTS_API_EACH_FAILURE_H

#include <time.h>

#include "base/alloc.h"
#include "compile/program.h"

#define MOST_TRIES 200

/* Runs the call with the first, second, ... allocation failing until none failed; `undo` after a success that still had
 * one. What else than CUDA_ERROR_OUT_OF_MEMORY may be said: `refusal`. */
#define EACH_FAILURE_SAYS(call, undo, refusal) \
    do { \
        CUresult status_ = CUDA_ERROR_UNKNOWN; \
        bool failed_ = true; \
        for (uint64_t try_ = 1; failed_ && try_ <= MOST_TRIES; try_++) { \
            (void)mr_alloc_fail_mine(try_); \
            status_ = call; \
            failed_ = mr_alloc_fail_mine(0) == 0; \
            if (status_ != CUDA_SUCCESS && status_ != CUDA_ERROR_OUT_OF_MEMORY) \
                assert_int_equal(status_, refusal); \
            else if (status_ == CUDA_SUCCESS && failed_) \
                undo; \
        } \
        assert_int_equal(status_, CUDA_SUCCESS); \
    } while (0)

#define EACH_FAILURE(call, undo) EACH_FAILURE_SAYS(call, undo, CUDA_ERROR_OUT_OF_MEMORY)

/* As EACH_FAILURE, and the success at the end is undone as well. */
#define EACH_FAILURE_UNDONE(call, undo) \
    do { \
        EACH_FAILURE(call, undo); \
        undo; \
    } while (0)

/* The number of live allocations once no code is being made ahead of a launch. */
__attribute__((unused)) static uint64_t live_at_rest(void)
{
    mr_ahead_settle();
    return mr_alloc_live();
}

/* The number of live allocations, as soon as it is at most `limit`, or after ten seconds: a worker lets go of what it
 * ran a moment after the waiting thread knows. */
__attribute__((unused)) static uint64_t live_once_settled(uint64_t limit)
{
    for (unsigned ms = 0; mr_alloc_live() > limit && ms < 10000; ms++)
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    return mr_alloc_live();
}

#endif
