/* SPDX-License-Identifier: Apache-2.0 */
/* Executable graphs: a flat plan made of a graph, and its runs (driver API manual, Graph Management).
 *
 * A plan is an array of steps: one for each node, and for a child graph one before and one after its nodes, which are
 * steps like all others. Bodies of conditional nodes are steps of the same array, in regions of their own that the
 * conditional step starts. Works are shared with the graph (they never change); setting a node's parameters gives the
 * step another work. A launch that was made before keeps what it had: while runs of a plan are queued or running, a
 * change goes to a copy of it (copy on write).
 *
 * exec.c         the executable graph's record; making one, launching
 * exec_plan.c    from a graph to a plan; copies of plans
 * exec_run.c     running a plan: which step is ready, which thread takes it
 * exec_stage.c   copies from and to pageable memory
 * exec_update.c  taking over parameters from another graph
 *
 * Runs of one executable graph never overlap: a launch in another stream waits for the one before. So a plan also holds
 * what its one run needs (counters, jobs, launch records), and a run allocates nothing. */
#ifndef MR_GRAPH_EXEC_H
#define MR_GRAPH_EXEC_H

#include <cuda.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/list.h"
#include "base/thread.h"
#include "command/command.h"
#include "object/handle.h"

struct mr_context;
struct mr_graph;
struct mr_node;
struct mr_plan;
struct mr_stream;
struct mr_work;

struct mr_exec {
    struct mr_object object;           /* MR_KIND_GRAPH_EXEC; a run holds a reference */
    uint64_t flags;                    /* CUDA_GRAPH_INSTANTIATE_FLAG_* */
    uint64_t graph;                    /* handle of the graph it was made of */
    bool owns_memory;                  /* it has allocation nodes: counted in the graph's `execs` */
    struct mr_list users;              /* holdings of user objects */
    mr_lock lock; /* guards what follows; held while a launch is submitted, so that launches have an order */
    struct mr_plan *plan; /* counted; the one that later launches get */
    struct mr_mark *last; /* completes with the latest launch; counted; NULL before the first */
};

/* Why a graph can't be instantiated: a CUgraphInstantiateResult, and the handle of the node that is to blame, or NULL.
 */
struct mr_exec_problem {
    CUgraphInstantiateResult result;
    CUgraphNode node;
};

/* Makes an executable graph with a live handle. CUDA_ERROR_INVALID_VALUE (cycles, unused conditional handles),
 * CUDA_ERROR_NOT_SUPPORTED (memory nodes in a second executable graph), CUDA_ERROR_OUT_OF_MEMORY; *problem says more.
 */
CUresult mr_exec_new(struct mr_graph *graph, uint64_t flags, struct mr_exec **out, struct mr_exec_problem *problem)
    __attribute__((warn_unused_result));

/* Ends the handle. Runs that are queued or running come to their end. False if it was destroyed before. */
bool mr_exec_destroy(struct mr_exec *exec);

struct mr_exec_launch;

/* Does before the first launch what can be done: memory of allocation nodes becomes the device's. The rest has been
 * done when the plan was made, but an upload has its place in the order of work: behind what its stream has and behind
 * launches and uploads of the same executable graph before it, and before later ones. So it is submitted and ended as a
 * launch is; but *launch has no command if the graph is empty, and then nothing is to be done.
 * CUDA_ERROR_OUT_OF_MEMORY. */
CUresult mr_exec_upload_begin(struct mr_exec *exec, struct mr_stream *stream, struct mr_exec_launch *launch)
    __attribute__((warn_unused_result));

/* A launch on its way into a stream. Between begin and end the executable graph is locked: the caller submits `wait`
 * (unless NULL) and then `command`, in this order, to the stream, and says how that went. */
struct mr_exec_launch {
    struct mr_command *wait, *command;
    struct mr_run *run; /* exec.c's own, as `done`; NULL if there is nothing to do with it afterwards */
    struct mr_mark *done;
    struct mr_mark *end; /* after the end: what the call has to wait for, held for the caller; or NULL */
};

/* Builds the commands of a launch into `stream` (which is only named: marks carry it) of `context`.
 * CUDA_ERROR_OUT_OF_MEMORY; CUDA_ERROR_INVALID_VALUE if memory that a node would allocate is still allocated, or memory
 * that one would free isn't. After a failure there is no end to call. */
CUresult mr_exec_launch_begin(struct mr_exec *exec, struct mr_stream *stream, struct mr_context *context,
                              struct mr_exec_launch *launch) __attribute__((warn_unused_result));

/* `submitted`: the command is in the stream. Events that nodes record are pending from then on. Else everything is
 * taken back; what wasn't submitted of the commands is the caller's to free first. */
void mr_exec_launch_end(struct mr_exec *exec, struct mr_exec_launch *launch, bool submitted);

/* Of a node of the graph (or of a clone of it that the graph was updated from): CUDA_ERROR_INVALID_VALUE if the
 * executable graph has no such node. */
CUresult mr_exec_enable(struct mr_exec *exec, struct mr_node *node, bool enabled) __attribute__((warn_unused_result));
CUresult mr_exec_is_enabled(struct mr_exec *exec, struct mr_node *node, bool *enabled)
    __attribute__((warn_unused_result));

/* Gives the step of a node another work, which no other node has yet; takes over the reference, also on failure.
 * CUDA_ERROR_INVALID_VALUE for a node that isn't there, another type, and a change that can't be made in an executable
 * graph. */
CUresult mr_exec_set_work(struct mr_exec *exec, struct mr_node *node, struct mr_work *work)
    __attribute__((warn_unused_result));

/* The work of a node's step, with a reference; NULL if there is none. */
struct mr_work *mr_exec_work(struct mr_exec *exec, struct mr_node *node) __attribute__((warn_unused_result));

/* Gives the steps of a child node the works of another graph of the same shape. CUDA_ERROR_INVALID_VALUE if it is no
 * child node, CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE for another shape. */
CUresult mr_exec_set_child(struct mr_exec *exec, struct mr_node *node, struct mr_graph *child)
    __attribute__((warn_unused_result));

/* Takes over all works from a graph of the same shape: all or nothing. CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE with *info
 * filled in. */
CUresult mr_exec_update(struct mr_exec *exec, struct mr_graph *graph, CUgraphExecUpdateResultInfo *info)
    __attribute__((warn_unused_result));

/* Numbers for tests. */
struct mr_exec_numbers {
    size_t steps;
    uint64_t runs;
};
struct mr_exec_numbers mr_exec_look(struct mr_exec *exec);

#endif
