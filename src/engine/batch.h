/* SPDX-License-Identifier: Apache-2.0 */
/* Batches of memory operations: writes of a value, waits for a value, barriers, in order (driver API manual, Stream
 * Memory Operations).
 *
 * A batch runs up to the first wait whose condition doesn't hold, puts a watch on that word and lets its thread go; the
 * thread that sees the condition hold goes on with it. So a stream that waits for a value takes no worker. Running one
 * is the same for a stream and for a node of a graph: mr_batch_begin with a job whose `resume` says what comes then.
 */
#ifndef MR_ENGINE_BATCH_H
#define MR_ENGINE_BATCH_H

#include <cuda.h>
#include <stdbool.h>
#include <stdint.h>

#include "engine/engine.h"

struct mr_batch;

/* The most operations that a batch may have; hardware has the same limit. */
#define MR_BATCH_MOST 255u

/* CUDA_SUCCESS if the operations can be carried out: CUDA_ERROR_INVALID_VALUE for too many, an unknown operation or
 * flag, an address that is not aligned or not in device, pinned or registered memory (managed memory and memory of
 * pools are refused, as on hardware); CUDA_ERROR_NOT_SUPPORTED for a flush of remote writes, which this device has none
 * of. */
CUresult mr_batch_check(const CUstreamBatchMemOpParams *ops, unsigned count) __attribute__((warn_unused_result));

/* A batch with a copy of operations that were checked; NULL when memory is short or the service that watches memory
 * can't start. The context, whose failure ends a wait, stays the caller's to keep. */
struct mr_batch *mr_batch_new(const CUstreamBatchMemOpParams *ops, unsigned count, struct mr_context *context)
    __attribute__((warn_unused_result));
void mr_batch_free(struct mr_batch *batch);

/* Runs it from the start, with no lock held. True if it is complete, *status says how. False if a wait is pending:
 * later, on some thread with no lock held, resume->status is set and resume->resume(resume) called. Not twice at a
 * time. A write or wait whose memory has gone ends it with CUDA_ERROR_ILLEGAL_ADDRESS. */
bool mr_batch_begin(struct mr_batch *batch, struct mr_job *resume, CUresult *status)
    __attribute__((warn_unused_result));

/* A stream's command that owns the batch; NULL when memory is short (the batch stays the caller's). */
struct mr_command *mr_batch_command(struct mr_batch *batch) __attribute__((warn_unused_result));

#endif
