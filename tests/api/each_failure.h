/* SPDX-License-Identifier: Apache-2.0 */
/* For tests that are linked with the whole driver: a call with each of its allocations failing in turn. */
#ifndef TESTS_API_EACH_FAILURE_H
#define TESTS_API_EACH_FAILURE_H

#include "api_support.h"
#include "base/memory.h"

#define MOST_TRIES 200

/* Runs the call with the first, second, ... allocation failing until none failed; `undo` after a success that still had one. */
#define EACH_FAILURE(call, undo)                                                         \
    do {                                                                                 \
        CUresult status_ = CUDA_ERROR_UNKNOWN;                                           \
        bool failed_ = true;                                                             \
        for (uint64_t try_ = 1; failed_ && try_ <= MOST_TRIES; try_++) {                 \
            uint64_t made_ = mr_alloc_count();                                           \
            mr_alloc_fail_after(try_);                                                   \
            status_ = call;                                                              \
            mr_alloc_fail_after(0);                                                      \
            failed_ = mr_alloc_count() - made_ >= try_;                                  \
            if (status_ != CUDA_SUCCESS)                                                 \
                assert_int_equal(status_, CUDA_ERROR_OUT_OF_MEMORY);                     \
            else if (failed_)                                                            \
                undo;                                                                    \
        }                                                                                \
        assert_int_equal(status_, CUDA_SUCCESS);                                         \
    } while (0)

#endif
