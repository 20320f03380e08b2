/* SPDX-License-Identifier: Apache-2.0 */
/* Telling an observer of works and of graphs' steps: when they begin, what they touch, which threads carry them out,
 * and when they end (observe/observe.h).
 *
 * The thread that carries out a work, the stream's owner or one in a graph's run, makes a record when it begins
 * (mr_tell_begin) and gives it up when the work has ended (mr_tell_end), before anything learns of that end. Between
 * the two the record hangs on the job, if there is one, so that threads which join can tell of their part. */
#ifndef MR_ENGINE_TELL_H
#define MR_ENGINE_TELL_H

#include <cuda.h>
#include <stdatomic.h>
#include <stdint.h>

#include "command/command.h"
#include "observe/hooks.h"

/* A work or step that goes on. */
struct mr_told {
    struct mr_observed_work work;
    uint64_t began;                    /* nanoseconds of mr_clock_ns; 0 unless slices are told of */
    _Atomic bool sliced;               /* a thread has told of its part */
};

/* The calling thread's number for observers, which its record as a thread that runs commands sets; a thread that has
 * none shares the last one. */
#define MR_TELL_NO_WORKER 1024u
extern _Thread_local unsigned mr_tell_worker __attribute__((tls_model("initial-exec")));

/* Whether works are told of at all. */
static inline bool mr_tells(void)
{
    return mr_observes(MR_OBSERVE_WORK | MR_OBSERVE_ACCESS);
}

/* What a command is, as a work of a stream. Of a kernel that has been given its %gridid. */
void mr_tell_describe(const struct mr_command *command, uint64_t stream, const struct mr_context *context,
                      struct mr_observed_work *out);

/* The same of a launch, into a record whose other members are set. */
void mr_tell_describe_launch(const struct mr_launch *launch, struct mr_observed_work *out);

/* The same of a copy, where `staged` says where it took from if the call has read that before; and of a fill. */
void mr_tell_describe_copy(const struct mr_copy *copy, const struct mr_copy_origin *staged,
                           struct mr_observed_work *out);
void mr_tell_describe_fill(const struct mr_fill *fill, struct mr_observed_work *out);

/* The same of work in parts. */
struct mr_parts;
void mr_tell_describe_parts(const struct mr_parts *parts, struct mr_observed_work *out);

/* Bytes that a copy or fill writes. */
uint64_t mr_tell_copy_bytes(const struct mr_copy *copy);
uint64_t mr_tell_fill_bytes(const struct mr_fill *fill);

/* The work begins. NULL when memory is short: then nothing is told of it. */
struct mr_told *mr_tell_begin(const struct mr_observed_work *work);

/* The work has ended: tells of the calling thread's part where no thread has told of one, and gives up the record.
 * NULL does nothing. */
void mr_tell_end(struct mr_told *told, CUresult status);

/* The calling thread has carried out a part of a job since `from`, and is still inside. */
void mr_tell_slice(struct mr_told *told, uint64_t from);

/* What was touched; nothing if accesses are not observed. `staged`: where a copy took from, if the call has read it
 * before; else NULL. NULL for `told` does nothing. */
void mr_tell_copy(struct mr_told *told, const struct mr_copy *copy, const struct mr_copy_origin *staged);
void mr_tell_fill(struct mr_told *told, const struct mr_fill *fill);
/* `done`: the work has been carried out, so that what it read is there. */
void mr_tell_parts(struct mr_told *told, const struct mr_parts *parts, bool done);
void mr_tell_memory_op(struct mr_told *told, const CUstreamBatchMemOpParams *op);

/* What a launch touched whose blocks have ended, also after a fault. With NULL for `told` it is forgotten. The second
 * is for one that a kernel has launched: it counts as behind the wait for the grids before, if that kernel may overlap.
 */
void mr_tell_launch(struct mr_told *told, const struct mr_launch *launch);
void mr_tell_launched(struct mr_told *told, const struct mr_launch *launch);

/* What a command of a stream touched that has been carried out with this status; batches tell for themselves. */
void mr_tell_command(struct mr_told *told, const struct mr_command *command, CUresult status);

#endif
