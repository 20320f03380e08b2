/* SPDX-License-Identifier: Apache-2.0 */
/* The rules of happens-before: which operation comes after which.
 *
 * The rules know what the manual promises and what hardware does, and nothing of how this driver runs work. They are
 * fed by the calls (order_calls.c), which find objects and say what happened; each rule is a function here. The page
 * docs/race-rules.md lists them with their places in the manual.
 *
 * All functions need the rules' lock (operation.h). A call gives its stamp: obs_stamp(), taken when it was entered. */
#ifndef MR_OBSERVER_ORDER_H
#define MR_OBSERVER_ORDER_H

#include <stdatomic.h>

#include "libs/observer/objects.h"

/* Stamps of the host's lane, from 1 up. Any thread, no lock. */
extern _Atomic uint64_t obs_stamps;
static inline uint64_t obs_stamp(void)
{
    return atomic_fetch_add_explicit(&obs_stamps, 1, memory_order_relaxed) + 1;
}

/* Keeps documented edges apart from those that hardware alone has. Before anything else. */
void obs_order_begin(bool apart);

/* How far the host had come, for the running thread: one lane for all, or, with obs_lanes_apart, the thread's own. */
struct obs_lane *obs_lane_here(void);

/* The running thread lets others know what it knows, by adding it to the point, which has no timeline of its own. They
 * learn it by obs_order_known. Lanes are apart. */
void obs_order_release(struct obs_point *point);

/* A host function begins on this thread: its lane knows what the function comes after, and the function. If there is
 * one lane for all, that knows what the function comes after: it may tell the program's threads while it runs. Nothing
 * of that with obs_order_strict. */
void obs_order_function_begins(const struct obs_operation *function);

/* What a call has queued into a stream: a new operation behind all that the stream has, and behind what the
 * default-stream rules add. `solid`: the default-stream rules build on it. `early` is NULL or is given a second
 * operation for what the work may touch without regard to those rules (a copy's pinned source), or NULL if there is no
 * difference. The caller has one reference to each and fills in `side`. NULL: memory is short. */
struct obs_operation *obs_order_work(struct obs_stream *stream, uint64_t stamp, bool solid,
                                     struct obs_operation **early);

/* As obs_order_work, for a free in stream order. */
struct obs_operation *obs_order_free(struct obs_stream *stream, uint64_t stamp);

/* As obs_order_work, for a kernel. `overlaps`: it may begin before the kernel in front of it has ended, if that is the
 * stream's latest work. `early` is then given an operation for what it does before it waits for that one, else NULL. */
struct obs_operation *obs_order_kernel(struct obs_stream *stream, uint64_t stamp, bool overlaps,
                                       struct obs_operation **early);

/* The host itself inside of a call. Nothing comes after it until obs_order_returns. */
struct obs_operation *obs_order_host(uint64_t stamp);
/* As obs_order_host, for a free that hardware lets wait for all work of the context. */
struct obs_operation *obs_order_host_after(struct obs_context *context, uint64_t stamp);
/* One that all others come after. */
struct obs_operation *obs_order_before_all(void);
/* The call has returned. */
void obs_order_returns(struct obs_operation *host);

/* What somebody else does for the host from now on, beside all streams: an operation behind all that the host knows,
 * and the point that the host knows once it has ended. NULL, and no point: memory is short. */
struct obs_operation *obs_order_apart(uint64_t stamp, struct obs_point *point);
/* It has ended, and the running thread knows. The point is given back. */
void obs_order_apart_ends(struct obs_point *point);

/* What an event recorded now in the stream, or in all streams of a context, stands for. */
void obs_order_record(struct obs_stream *stream, bool timed, struct obs_point *out);
void obs_order_record_all(struct obs_context *context, struct obs_point *out);

/* Later work of the stream, or of all streams of the context, comes after the point. */
void obs_order_wait(struct obs_stream *stream, const struct obs_point *point);
void obs_order_wait_all(struct obs_context *context, const struct obs_point *point);

/* A copy between contexts, in `stream`: before it, and behind it. It comes after what the other context's
 * default-stream rules take for the work of its legacy stream, and before what they put behind that. `edges`: as
 * obs_order_known. */
void obs_order_meet_before(struct obs_stream *stream, struct obs_stream *legacy, uint64_t stamp, enum obs_edges edges);
void obs_order_meet_after(struct obs_stream *stream, struct obs_stream *legacy, uint64_t stamp, enum obs_edges edges);

/* What the host knows once it has waited for the stream, or for the context. */
void obs_order_of_stream(struct obs_stream *stream, struct obs_point *out);
/* Gives the stream a timeline before its first work has one. */
void obs_order_timeline(struct obs_stream *stream);
void obs_order_of_context(struct obs_context *context, struct obs_point *out);
/* The context has ended, or been reset: its work is done, and the host knows that. */
void obs_order_reset(struct obs_context *context);
/* The host knows it from now on. `edges`: OBS_EDGES_ALL if it is so by luck alone; OBS_EDGES_DOCUMENTED for both. */
void obs_order_known(const struct obs_point *point, enum obs_edges edges);
/* Streams of the context all of whose work the host knows to be done are idle from now on. */
void obs_order_settle(struct obs_context *context);
void obs_order_settle_stream(struct obs_stream *stream);

#endif
