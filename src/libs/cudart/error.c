/* SPDX-License-Identifier: Apache-2.0 */
/* Errors: names and texts, and the last error of a thread.
 *
 * The runtime's statuses carry the driver's numbers wherever both have one, so that a driver's status is the runtime's
 * by a cast. The few that only the driver has become cudaErrorUnknown. */
#include <stddef.h>

#include "base/log.h"
#include "libs/cudart/runtime.h"
#include "runtime_impl.h"

static const struct error_row {
    int value;
    const char *name, *text;
} rows[] = {
#include "runtime_errors.inc"
};

static const struct error_row *find_row(cudaError_t status)
{
    size_t low = 0, high = sizeof rows / sizeof *rows;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (rows[middle].value == (int)status)
            return &rows[middle];
        if (rows[middle].value < (int)status)
            low = middle + 1;
        else
            high = middle;
    }
    return NULL;
}

bool mr_rt_error_known(cudaError_t status)
{
    return find_row(status) != NULL;
}

const char *mr_cudaGetErrorName(cudaError_t error)
{
    const struct error_row *row = find_row(error);
    return row ? row->name : "unrecognized error code";
}

const char *mr_cudaGetErrorString(cudaError_t error)
{
    const struct error_row *row = find_row(error);
    return row ? row->text : "unrecognized error code";
}

cudaError_t mr_rt_fail(cudaError_t status, const char *call)
{
    const struct error_row *row = find_row(status);
    if (!row) {
        mr_log(MR_LOG_INFO, "%s: the driver answered %d, which the runtime API has no name for", call, (int)status);
        status = cudaErrorUnknown;
    } else if (status != cudaErrorNotReady && mr_log_enabled(MR_LOG_DEBUG)) {
        mr_log(MR_LOG_DEBUG, "%s: %s (%s)", call, row->name, row->text);
    }
    if (status != cudaErrorNotReady) /* an answer, and no failure */
        mr_rt_thread.last = status;
    return status;
}

/* Any call initialises the driver, these two as well; a driver that can't be had is told by calls that need it. */
cudaError_t mr_cudaPeekAtLastError(void)
{
    (void)mr_rt_driver();
    return mr_rt_thread.last;
}

cudaError_t mr_cudaGetLastError(void)
{
    (void)mr_rt_driver();
    cudaError_t last = mr_rt_thread.last;
    mr_rt_thread.last = cudaSuccess;
    return last;
}
