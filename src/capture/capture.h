/* SPDX-License-Identifier: Apache-2.0 */
/* Stream capture: work that is put into a stream becomes nodes of a graph instead (driver API manual, Stream
 * Management; Graph Management).
 *
 * A *capture* begins on one stream, its origin, and ends there. Streams that wait for an event of the capture join it.
 * What each of these streams has is its *seat*: which capture, and the nodes that its next node will depend on. An
 * event that is recorded in a captured stream holds a *point*: the capture, and the nodes that the stream had then.
 *
 * capture.c   captures and seats: beginning, ending, adding nodes, invalidation, queries
 * point.c     events: points, forks and joins, what may not be asked of a captured event
 * mode.c      which calls are refused meanwhile, in which threads; the legacy stream
 *
 * Nodes are kept as handles and looked up when they are used: the program may destroy a node, or the graph, at any
 * time.
 *
 * All of it is guarded by one lock, mr_capture_lock. While no capture is open, none of this costs more than a load of
 * mr_captures. */
#ifndef MR_CAPTURE_CAPTURE_H
#define MR_CAPTURE_CAPTURE_H

#include <cuda.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct mr_context;
struct mr_event;
struct mr_graph;
struct mr_stream;
struct mr_work;

/* Captures that have begun and not ended, invalidated ones among them, in the whole process. A call that sees 0 has
 * nothing to do with capture: it came before any capture of this thread, and captures that other threads begin at the
 * same time may come after it. */
extern _Atomic uint32_t mr_captures;

static inline bool mr_capture_open(void)
{
    return __builtin_expect(atomic_load_explicit(&mr_captures, memory_order_relaxed) != 0, 0);
}

/* ---- calls that put work into a stream ---- */

CUresult mr_capture_route_slow(struct mr_stream *stream, bool *captured);

/* Where does work for the stream go? *captured: into a graph, with mr_capture_add; else into the stream.
 * CUDA_ERROR_STREAM_CAPTURE_INVALIDATED for a stream whose capture was; CUDA_ERROR_STREAM_CAPTURE_IMPLICIT for a legacy
 * stream if a blocking stream of its context is captured, which invalidates that capture. */
__attribute__((warn_unused_result)) static inline CUresult mr_capture_route(struct mr_stream *stream, bool *captured)
{
    *captured = false;
    return mr_capture_open() ? mr_capture_route_slow(stream, captured) : CUDA_SUCCESS;
}

/* Adds a node behind what the stream has; it is then what the stream has. Takes over the reference to `work`, also on
 * failure. CUDA_ERROR_STREAM_CAPTURE_INVALIDATED, CUDA_ERROR_OUT_OF_MEMORY. */
CUresult mr_capture_add(struct mr_stream *stream, struct mr_work *work) __attribute__((warn_unused_result));

/* As mr_capture_add, for a kernel that may begin before those that it comes behind are over: plain edges from kernels
 * become programmatic ones. */
CUresult mr_capture_add_overlapping(struct mr_stream *stream, struct mr_work *work) __attribute__((warn_unused_result));

CUresult mr_capture_refuse_slow(struct mr_stream *stream);

/* The graph that the stream is captured to; NULL if it isn't, or the graph is gone. */
struct mr_graph *mr_capture_graph(struct mr_stream *stream);

/* A call that can't be captured (a query, say) names a captured stream: CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, and the
 * capture is invalidated. CUDA_SUCCESS for a stream that isn't captured; CUDA_ERROR_STREAM_CAPTURE_IMPLICIT as above.
 */
__attribute__((warn_unused_result)) static inline CUresult mr_capture_refuse(struct mr_stream *stream)
{
    return mr_capture_open() ? mr_capture_refuse_slow(stream) : CUDA_SUCCESS;
}

/* A call on a captured stream went wrong in a way that spoils the capture, if it is still there. */
void mr_capture_spoil(struct mr_stream *stream, const char *why);

/* Work of the whole context (cuCtxSynchronize) while one of its streams is captured: as mr_capture_refuse. */
CUresult mr_capture_refuse_context_slow(struct mr_context *context);

__attribute__((warn_unused_result)) static inline CUresult mr_capture_refuse_context(struct mr_context *context)
{
    return mr_capture_open() ? mr_capture_refuse_context_slow(context) : CUDA_SUCCESS;
}

/* ---- calls that touch no captured stream, but might wait or have side effects ---- */

CUresult mr_capture_permit_slow(void);

/* May the calling thread make a potentially unsafe call (cuMemAlloc)? If the modes of captures and thread say no,
 * CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, and the captures that forbid it are invalidated. */
__attribute__((warn_unused_result)) static inline CUresult mr_capture_permit(void)
{
    return mr_capture_open() ? mr_capture_permit_slow() : CUDA_SUCCESS;
}

/* Sets the calling thread's mode and returns the one that it had. */
CUstreamCaptureMode mr_capture_exchange_mode(CUstreamCaptureMode mode);

/* ---- events ---- */

/* cuEventRecord in a captured stream: the event gets the stream's point. */
CUresult mr_capture_record(struct mr_stream *stream, struct mr_event *event) __attribute__((warn_unused_result));

/* cuStreamWaitEvent where stream or event is captured: forks, joins, or refuses. *plain says that neither is captured
 * after all: the caller goes on as without captures. */
CUresult mr_capture_wait(struct mr_stream *stream, struct mr_event *event, bool *plain)
    __attribute__((warn_unused_result));

/* An event whose latest recording was captured is asked or waited for: CUDA_ERROR_CAPTURED_EVENT, and the capture is
 * invalidated if `spoils`; CUDA_ERROR_INVALID_VALUE once the capture has ended or was invalidated. */
CUresult mr_capture_refuse_event(struct mr_event *event, bool spoils) __attribute__((warn_unused_result));

/* ---- beginning, ending, asking ---- */

/* Begins a capture on the stream: into a new graph, or into `graph` behind `count` nodes of it (`data` may be NULL). */
CUresult mr_capture_begin(struct mr_stream *stream, CUstreamCaptureMode mode, struct mr_graph *graph,
                          const CUgraphNode *nodes, const CUgraphEdgeData *data, size_t count)
    __attribute__((warn_unused_result));

/* Ends the capture that began on the stream. *out is the graph, NULL on failure; `out` may be NULL. */
CUresult mr_capture_end(struct mr_stream *stream, CUgraph *out) __attribute__((warn_unused_result));

/* What is known of a stream's capture. The arrays are valid until the next call that changes the stream's dependencies.
 */
struct mr_capture_info {
    CUstreamCaptureStatus status;
    uint64_t id;
    CUgraph graph;
    const CUgraphNode *nodes;
    const CUgraphEdgeData *data;
    size_t count;
    bool plain; /* all of `data` is zero */
};

/* CUDA_ERROR_STREAM_CAPTURE_IMPLICIT for a legacy stream with a capture in its way, which stays as it is. */
CUresult mr_capture_ask(struct mr_stream *stream, struct mr_capture_info *out) __attribute__((warn_unused_result));

/* Sets, or adds to, what the stream's next node depends on. */
CUresult mr_capture_update(struct mr_stream *stream, const CUgraphNode *nodes, const CUgraphEdgeData *data,
                           size_t count, bool add) __attribute__((warn_unused_result));

/* Makes the stream layer tell of streams that end while they are captured. Once, by cuInit. */
void mr_capture_setup(void);

#endif
