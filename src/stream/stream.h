/* SPDX-License-Identifier: Apache-2.0 */
/* Streams: first in, first out queues of commands; waits between them; the default-stream rules.
 *
 * API code resolves a handle, builds a command and submits it. The stream owns the command from then on, whatever the
 * outcome. (Driver API manual, Stream Management; Stream synchronization behavior.) */
#ifndef MR_STREAM_STREAM_H
#define MR_STREAM_STREAM_H

#include <cuda.h>
#include <stdbool.h>

#include "command/command.h"
#include "memory/mempool.h"
#include "object/context.h"

struct mr_stream;

/* The stream behind a handle: CU_STREAM_LEGACY and 0 are the current context's legacy stream, CU_STREAM_PER_THREAD the
 * calling thread's own stream in the current context (made on first use); these two need a current context (errors of
 * mr_context_require). Other handles name their context themselves, as on hardware, whatever is current.
 * CUDA_ERROR_INVALID_HANDLE for a stale or foreign handle, the sticky error of the stream's context,
 * CUDA_ERROR_NOT_PERMITTED inside a host function. No reference is taken: valid until the program destroys the stream.
 * With a sticky error *out is a stream of that context, too. */
CUresult mr_stream_resolve(CUstream handle, struct mr_stream **out) __attribute__((warn_unused_result));

/* As mr_stream_resolve, for the few calls that hardware allows inside host functions. */
CUresult mr_stream_find(CUstream handle, struct mr_stream **out) __attribute__((warn_unused_result));

/* For calls that have found another argument bad: hardware checks the context of a default stream first.
 * CUDA_ERROR_INVALID_CONTEXT or CUDA_ERROR_CONTEXT_IS_DESTROYED if the handle is a default stream's and there is no
 * context, else CUDA_SUCCESS. */
CUresult mr_stream_default_missing(CUstream handle) __attribute__((cold, warn_unused_result));

/* The context that the stream belongs to; borrowed. */
struct mr_context *mr_stream_context(struct mr_stream *stream);

/* A stream with a live handle; priority is clamped to the range. NULL if memory is short or the context was destroyed
 * meanwhile; then mr_stream_why_none tells which. */
struct mr_stream *mr_stream_new(struct mr_context *context, unsigned flags, int priority)
    __attribute__((warn_unused_result));

CUresult mr_stream_why_none(struct mr_context *context);

/* Ends the handle; what is queued still runs, and the record goes when it is done. Never waits. False if it was
 * destroyed before. */
bool mr_stream_destroy(struct mr_stream *stream);

/* What the API shows of a stream. `sync_policy` is a CUsynchronizationPolicy, or this until one is set: hardware shows
 * all ones. */
#define MR_SYNC_POLICY_UNSET (-1)
unsigned mr_stream_flags(const struct mr_stream *stream);
int mr_stream_priority(struct mr_stream *stream);
uint64_t mr_stream_id(const struct mr_stream *stream);
int mr_stream_sync_policy(struct mr_stream *stream);
void mr_stream_set_sync_policy(struct mr_stream *stream, int policy);
/* The priority is moved into the range. It counts for work that is taken up from now on. */
void mr_stream_set_priority(struct mr_stream *stream, int priority);
bool mr_stream_is_default(const struct mr_stream *stream);
bool mr_stream_is_legacy(const struct mr_stream *stream);

/* The capture layer's place in a stream: its seat in a capture, NULL as a rule. Changed under that layer's lock. */
struct mr_seat;
_Atomic(struct mr_seat *) *mr_stream_seat(struct mr_stream *stream);

/* `ended` is called by mr_stream_destroy for a stream that has a seat, once its handle is dead, with no lock held. Set
 * once, by cuInit. */
void mr_stream_set_seat_hook(void (*ended)(struct mr_stream *stream));

/* Puts the command at the end of the stream. On an idle stream, short commands (records, waits on complete marks, small
 * copies and fills) are done on the calling thread before this returns. Takes ownership always; on failure the command
 * is freed and nothing was queued. Returns the context's sticky error if it has one, or the command's own failure if it
 * was done at once. */
CUresult mr_stream_submit(struct mr_stream *stream, struct mr_command *command) __attribute__((warn_unused_result));

/* The last thing in a call that has submitted commands with a weight. If more weight waits in the stream than the
 * context lets each stream have (stream_most), it waits until half of that is done (the calling thread helps) or the
 * context fails. All streams of a context together may have MR_STREAMS_MOST, one of them at most MR_STREAM_MOST, and at
 * least MR_STREAM_LEAST. Hardware blocks once 1,021 kernels, copies, fills, memory operations and graphs wait in a
 * stream, or 8,168 in all streams of a context. Half of each bound here is more than that. So a program that works
 * there never waits here for something that only the program itself could let go on. The thread leaves its visit
 * meanwhile, and holds no lock. Never waits in a host function, or on a thread of the engine. */
#define MR_STREAMS_MOST 524288u
#define MR_STREAM_MOST 65536u
#define MR_STREAM_LEAST 4096u
void mr_stream_hold_back(struct mr_stream *stream);

/* Submits, then waits for this command to be complete (the calling thread helps). Returns the command's status. For
 * synchronous calls. */
CUresult mr_stream_submit_wait(struct mr_stream *stream, struct mr_command *command)
    __attribute__((warn_unused_result));

/* Records the event: complete at once if the stream has nothing pending. */
CUresult mr_stream_record(struct mr_stream *stream, struct mr_event *event) __attribute__((warn_unused_result));

/* Holds later work of the stream until the event's latest recording is complete. */
CUresult mr_stream_wait_event(struct mr_stream *stream, struct mr_event *event) __attribute__((warn_unused_result));

/* Records the event behind all that every stream of the context has now. The event is one of that context. */
CUresult mr_context_record(struct mr_context *context, struct mr_event *event) __attribute__((warn_unused_result));

/* Holds all later work of the context, on streams made meanwhile too, until the event's latest recording is complete.
 */
CUresult mr_context_wait_event(struct mr_context *context, struct mr_event *event) __attribute__((warn_unused_result));

/* For memory pools: a place behind all that is in the stream now, by the default-stream rules too; its mark is NULL if
 * that is over already, else the caller's reference. */
CUresult mr_stream_fence(struct mr_stream *stream, struct mr_fence *out) __attribute__((warn_unused_result));

/* Holds later work of the stream until the mark is complete. Takes over the reference, also on failure. */
CUresult mr_stream_wait_mark(struct mr_stream *stream, struct mr_mark *mark) __attribute__((warn_unused_result));

/* What the stream's next work comes after, as far as it is pending and the search goes: itself, events that it waits
 * for and what these waited for, what the default-stream rules say. Only waits since mr_stream_keep_joins was first
 * called are known. */
void mr_stream_view(struct mr_stream *stream, struct mr_mempool_view *view);
void mr_stream_keep_joins(void);

/* True if everything in the stream is done, by the default-stream rules: for the legacy stream also the work on the
 * context's blocking streams. */
bool mr_stream_is_done(struct mr_stream *stream);

/* Waits until everything in the stream is done (the calling thread helps). The sticky error if there is one. */
CUresult mr_stream_synchronize(struct mr_stream *stream) __attribute__((warn_unused_result));

/* Waits for all streams of a context, including work on the legacy stream. */
CUresult mr_context_synchronize(struct mr_context *context) __attribute__((warn_unused_result));

/* Waits for a mark; the thread helps with the stream that will complete it, then spins, yields or sleeps as
 * `event_flags` and the context's scheduling flags ask. */
CUresult mr_mark_wait(struct mr_mark *mark, struct mr_context *context, unsigned event_flags)
    __attribute__((warn_unused_result));

/* For mr_gate_wait_is_over (engine/gate.h). Takes a lock of its own alone. */
bool mr_stream_wait_is_over(void);

/* Moves on the streams whose marks were completed on this thread; a thread that completes marks outside of a stream's
 * work calls it, with no lock held. */
void mr_stream_drain_released(void);

/* Makes a context's legacy stream. False when memory is short. */
bool mr_context_streams_init(struct mr_context *context) __attribute__((warn_unused_result));
/* Ends all streams of a destroyed context: they accept nothing more, every handle is retired, and the work that they
 * have is waited for. */
void mr_context_streams_end(struct mr_context *context);
/* Gives up the legacy stream, when the context's last reference has gone. */
void mr_context_streams_release(struct mr_context *context);

#endif
