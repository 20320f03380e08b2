/* SPDX-License-Identifier: Apache-2.0 */
/* Submitting work, and memory for its parts. */
#include "libs/math/work.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "libs/math/driver.h"

#define SLOTS 4
#define KEPT ((size_t)8 << 20) /* more than this is not kept for the next part */

struct mr_scalar mr_scalar_take(const void *pointer, size_t size, bool on_device)
{
    struct mr_scalar scalar = {.device = on_device ? pointer : NULL};
    if (!on_device)
        memcpy(scalar.value, pointer, size);
    return scalar;
}

CUresult mr_math_submit_more(CUstream stream, uint64_t parts, void (*run)(void *record, uint64_t first, uint64_t end),
                             const void *record, size_t size, const void *more, size_t extra)
{
    char *copy = parts ? malloc(size + extra) : NULL;
    if (!copy) {
        mr_tell_no_work();
        return parts ? CUDA_ERROR_OUT_OF_MEMORY : CUDA_SUCCESS;
    }
    memcpy(copy, record, size);
    mr_tell_work();
    if (extra)
        memcpy(copy + size, more, extra);
    CUresult status = mr_math_driver.submit_parts(stream, parts, run, free, copy);
    if (status != CUDA_SUCCESS)
        free(copy);
    return status;
}

CUresult mr_math_submit(CUstream stream, uint64_t parts, void (*run)(void *record, uint64_t first, uint64_t end),
                        const void *record, size_t size)
{
    return mr_math_submit_more(stream, parts, run, record, size, NULL, 0);
}

CUresult mr_math_submit_own(CUstream stream, uint64_t parts, void (*run)(void *record, uint64_t first, uint64_t end),
                            void (*release)(void *record), void *record)
{
    mr_tell_work();
    return mr_math_driver.submit_parts(stream, parts, run, release, record);
}

struct scratch {
    void *at[SLOTS];
    size_t size[SLOTS];
    void *zeros;
    size_t zeros_size;
    bool zeros_taken;
};

static pthread_key_t key;
static pthread_once_t key_once = PTHREAD_ONCE_INIT;
static _Thread_local struct scratch *scratch;

static void end_scratch(void *data)
{
    struct scratch *all = data;
    for (unsigned i = 0; i < SLOTS; i++)
        free(all->at[i]);
    free(all->zeros);
    free(all);
}

static void make_key(void)
{
    (void)pthread_key_create(&key, end_scratch);
}

/* This thread's. */
static bool have_scratch(void)
{
    if (!scratch) {
        pthread_once(&key_once, make_key);
        scratch = calloc(1, sizeof *scratch);
        if (scratch)
            pthread_setspecific(key, scratch);
    }
    return scratch;
}

void *mr_math_zeros(size_t bytes)
{
    if (!have_scratch())
        return NULL;
    bytes = (bytes + 63) & ~(size_t)63;
    bool is_large = scratch->zeros_size > KEPT && bytes <= KEPT;
    if (scratch->zeros_size < bytes || is_large || !scratch->zeros) {
        free(scratch->zeros);
        scratch->zeros = aligned_alloc(64, bytes ? bytes : 64);
        scratch->zeros_size = scratch->zeros ? bytes : 0;
        scratch->zeros_taken = true; /* not yet 0 */
    }
    if (scratch->zeros && scratch->zeros_taken)
        memset(scratch->zeros, 0, scratch->zeros_size);
    scratch->zeros_taken = true;
    return scratch->zeros;
}

void mr_math_zeros_back(void)
{
    scratch->zeros_taken = false;
}

void *mr_math_scratch(unsigned slot, size_t bytes)
{
    if (!have_scratch())
        return NULL;
    bytes = (bytes + 63) & ~(size_t)63;
    bool is_large = scratch->size[slot] > KEPT && bytes <= KEPT;
    if (scratch->size[slot] < bytes || is_large || !scratch->at[slot]) {
        free(scratch->at[slot]);
        scratch->at[slot] = aligned_alloc(64, bytes ? bytes : 64);
        scratch->size[slot] = scratch->at[slot] ? bytes : 0;
    }
    return scratch->at[slot];
}

void mr_math_short_of_memory(const char *function)
{
    mr_log(MR_LOG_ERROR, "%s: memory is short: its result is not written, and its context fails", function);
    mr_math_driver.fail_part(CUDA_ERROR_OUT_OF_MEMORY);
}
