/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of the capture layer share: the records, and functions that are called with mr_capture_lock held.
 *
 * Lock order: mr_capture_lock, then mr_graph_lock, an event's lock, the pools' (docs/locking.md). */
#ifndef MR_CAPTURE_PRIVATE_H
#define MR_CAPTURE_PRIVATE_H

#include "base/list.h"
#include "base/thread.h"
#include "capture/capture.h"

/* A set of nodes with what the edges from them will carry. Each node is there once. */
struct mr_points {
    CUgraphNode *nodes;
    CUgraphEdgeData *data;
    size_t count, room;
};

/* A stream's part in a capture. */
struct mr_seat {
    struct mr_list link;               /* in capture->seats */
    struct mr_capture *capture;
    struct mr_stream *stream;          /* counted; NULL once the stream is gone */
    struct mr_points points;           /* what the next node depends on */
};

struct mr_capture {
    _Atomic uint32_t references;       /* one while it is open, one for each point */
    struct mr_list link;               /* in mr_capture_list while open */
    uint64_t id;
    uint64_t thread;                   /* that began it */
    CUstreamCaptureMode mode;
    CUgraph graph;
    bool owns_graph;                   /* made by the capture: goes with it if it fails */
    bool open, invalidated;
    struct mr_seat *origin;
    struct mr_list seats;
};

/* What an event holds that was recorded in a captured stream. Never changes; counted, since the event may be recorded
 * again while it is read. */
struct mr_event_point {
    _Atomic uint32_t references;
    struct mr_capture *capture;
    struct mr_points points;
};

extern mr_lock mr_capture_lock;
/* Every open capture, oldest first. */
extern struct mr_list mr_capture_list;

void mr_capture_hold(struct mr_capture *capture);
void mr_capture_drop(struct mr_capture *capture);

/* The stream's seat, or NULL. */
struct mr_seat *mr_seat_of(struct mr_stream *stream);

/* A seat for a stream that has none; NULL when memory is short or the stream is gone. */
struct mr_seat *mr_seat_new(struct mr_capture *capture, struct mr_stream *stream);

void mr_capture_invalidate(struct mr_capture *capture, const char *why);

/* Sets of nodes. Copying and adding are all or nothing; false when memory is short. */
bool mr_points_set(struct mr_points *points, const CUgraphNode *nodes, const CUgraphEdgeData *data, size_t count);
bool mr_points_add(struct mr_points *points, const CUgraphNode *nodes, const CUgraphEdgeData *data, size_t count);
void mr_points_free(struct mr_points *points);

/* The calling thread's number: never 0, never used again. */
uint64_t mr_capture_thread(void);

/* Captures of blocking streams of the context forbid work on its legacy stream: is there one? */
bool mr_capture_blocks_legacy(struct mr_context *context);

/* CUDA_ERROR_STREAM_CAPTURE_IMPLICIT if the stream is a legacy one and there is: those captures are invalidated then.
 */
CUresult mr_capture_check_legacy(struct mr_stream *stream) __attribute__((warn_unused_result));

#endif
