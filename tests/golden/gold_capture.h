/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the capture families share: streams that are being captured, what state
 * they are in, how a capture ends, and a picture of the graph that it gives.
 *
 * A picture lists the nodes in an order that depends on the graph's shape only
 * (depth, kind, what comes before), one word each: "K<0,1" is a kernel node
 * behind the nodes 0 and 1.
 */
#ifndef GOLD_CAPTURE_H
#define GOLD_CAPTURE_H

#include "gold.h"

/* A new stream (CU_STREAM_NON_BLOCKING unless FLAGS say otherwise) that is being captured. */
CUstream gold_capture(CUstreamCaptureMode mode);

/* Says none, active or invalidated, or the status of the query. */
void say_state(CUstream stream);
/* Says the picture of a graph. */
void say_graph(CUgraph graph);
/* Ends the capture: says the status and, if there is a graph, its picture; destroys the graph. */
void say_end(CUstream stream);
/* say_state, then say_end. */
void say_rest(CUstream stream);
/* Ends the capture and gives the graph; stops the case when there is none. */
CUgraph gold_capture_end(CUstream stream);
/* The only node of a type in the graph; stops the case when there is none. */
CUgraphNode gold_node_of(CUgraph graph, CUgraphNodeType type);

/* A new event, recorded in the stream. */
CUevent gold_mark(CUstream stream);
/* TO waits for what FROM has now. */
void gold_after(CUstream to, CUstream from);

/* Enqueues the kernel that does nothing. */
CUresult gold_empty(CUstream stream);

/* What calls under capture are tried on; made before the capture begins. */
struct gold_set {
    CUstream captured, other, blocking;
    CUdeviceptr a, b, managed;  /* 4096 bytes each; a and b from cuMemAlloc */
    unsigned char *pinned;      /* 4096 bytes */
    unsigned char *pageable;    /* 4096 bytes */
    CUevent done, done2;        /* recorded before the capture, complete, with timing */
    CUevent fresh;              /* never recorded */
    CUgraph graph;              /* one kernel node */
    CUgraphExec exec;           /* of that graph */
    CUfunction empty;
};

/* Makes the set with a captured stream; the same objects, except for the stream, in every case of a process. */
struct gold_set *gold_set_begin(CUstreamCaptureMode mode);
/* The same, with nothing captured yet. */
struct gold_set *gold_set_idle(void);

#endif
