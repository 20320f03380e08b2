/* SPDX-License-Identifier: Apache-2.0 */
/* A plan and its run, as the files exec*.c share them. */
#ifndef MR_GRAPH_EXEC_PRIVATE_H
#define MR_GRAPH_EXEC_PRIVATE_H

#include <stdatomic.h>

#include "engine/engine.h"
#include "event/event.h"
#include "event/release.h"
#include "graph/exec.h"
#include "graph/graph.h"

struct mr_batch;
struct mr_plan;
struct mr_told;

#define MR_STEP_NONE UINT32_MAX

/* What a step needs when it doesn't end on the thread that began it: a launch or transfer that is shared out, memory
 * operations. */
struct mr_shared_step {
    struct mr_job job;
    struct mr_plan *plan;
    uint32_t step;
    struct mr_command command;         /* the copy or fill, or unused */
};

/* A step that waits for a mark. */
struct mr_waiting_step {
    struct mr_waiter waiter;
    struct mr_release release;
    struct mr_plan *plan;
    uint32_t step;
};

struct mr_step {
    struct mr_work *work;              /* counted; NULL after a child graph's nodes */
    uint64_t node; /* handle of the graph's node; 0 for those of clones inside child nodes that have no handle of their
                      own to be named by */
    uint32_t first_after, after_count; /* in plan->after */
    uint32_t first_before, before_count; /* in plan->before */
    _Atomic uint32_t pending; /* of before_count, those that are still to come; reset when it gets to 0 */
    uint32_t next; /* in a list of ready steps */
    uint32_t span; /* a child's first step: how many steps further on its last one is */
    uint32_t inner; /* how many steps after it are of graphs inside it (child, bodies), with a child's last step */
    uint32_t region; /* that it belongs to */
    uint32_t extra; /* an event's index in plan->events; a conditional's first region; a child's last step: its first */
    bool disabled;
    struct mr_told *told; /* of this run, while an observer is told of it; else NULL */
    void *staged; /* of this run, for a copy: where it takes from; borrowed */
    struct mr_shared_step *shared; /* owned; NULL if it never needs one */
    union {
        struct mr_launch *launch; /* owned; of a kernel */
        struct mr_batch *batch; /* owned */
        struct mr_waiting_step *waiting; /* owned; of an event wait */
    };
};

/* The whole graph (region 0), or a body of a conditional step. */
struct mr_region {
    uint32_t owner; /* the conditional step, or MR_STEP_NONE */
    uint32_t count; /* steps in it, without those of regions inside */
    uint32_t first_root, root_count; /* in plan->roots */
    _Atomic uint32_t left; /* steps that haven't ended */
};

/* Ready steps, first in first out, linked by `next`. */
struct mr_ready {
    uint32_t first, last, count;
};

struct mr_plan {
    _Atomic uint32_t references; /* the executable graph's and the runs' */
    size_t step_count, edge_count, region_count, root_count, event_count, conditional_count;
    struct mr_step *steps;
    uint32_t *after, *before; /* step numbers */
    uint32_t *roots;
    uint32_t *events; /* steps that record or wait */
    uint32_t *conditionals;
    uint32_t *by_node; /* steps with a node, sorted by its handle */
    size_t node_count;
    struct mr_region *regions;
    bool tasked; /* room in the engine's queue was made for `task` */
    bool has_host_copies; /* copies that name host memory, or memory of any kind */
    bool has_memory; /* allocation or free nodes */
    bool node_priorities; /* kernels run with their own priorities */

    _Atomic(struct mr_run *) spare; /* the record of a launch that is over, for the next one */

    /* The run. */
    struct mr_run *run;
    _Atomic uint32_t inside; /* threads in the run, steps that end later, and the queued task */
    _Atomic int status; /* the first failure */
    struct mr_task task; /* invites threads */
    mr_lock lock; /* guards what follows */
    struct mr_ready ready, host; /* steps for any thread, and for workers only */
    struct mr_ready
        held; /* steps that an observer doesn't let begin yet; asked about again by the thread that takes the task */
    uint64_t held_ticket; /* the gate's, the oldest of theirs */
    bool invited; /* the task is queued or held by the gate, or taken and not yet begun */
    bool offered;
    _Atomic uint32_t
        step_ns; /* what a step took in the latest run, on average; 0: unknown; a hint, for copies of the plan too */
};

/* What a copy step of one launch takes from, in the place of pageable memory; NULL if that couldn't be read. */
struct mr_staged {
    uint32_t step;
    void *bytes;
};

/* One launch. */
struct mr_run {
    _Atomic uint32_t references; /* the command's, and the launching call's */
    struct mr_plan *plan; /* counted */
    struct mr_exec *exec; /* counted; NULL if it holds no user objects */
    struct mr_context *context; /* borrowed; of the stream, which holds it as long as it has the command */
    struct mr_job *resume; /* of the stream, while it runs */
    uint64_t key, began;
    struct mr_staged *staged; /* owned */
    size_t staged_count;
    bool waits; /* for the end, in the call that launches */
    bool uses_memory; /* counted in its memory nodes' users */
    struct mr_mark
        *marks[]; /* by plan->events: of a record, what it completes; of a wait, what it waits for or NULL; counted */
};

/* exec_plan.c. Under the graph lock. *out may be an unfinished plan, or NULL, after a failure: for the caller to drop
 * once it holds no lock. */
CUresult mr_plan_build(struct mr_graph *graph, struct mr_plan **out, struct mr_exec_problem *problem)
    __attribute__((warn_unused_result));
/* With no lock held: what steps need to run. False when memory is short. */
bool mr_plan_prepare(struct mr_plan *plan) __attribute__((warn_unused_result));
struct mr_plan *mr_plan_copy(const struct mr_plan *plan) __attribute__((warn_unused_result));
void mr_plan_hold(struct mr_plan *plan);
void mr_plan_drop(struct mr_plan *plan);
/* The step of a node, or MR_STEP_NONE. */
uint32_t mr_plan_find(const struct mr_plan *plan, uint64_t node);
/* Gives a step another work of its type, and what it needs to run; *work becomes the old one, for the caller to drop
 * once it holds no lock. False when memory is short: nothing has changed then. */
bool mr_plan_set_work(struct mr_plan *plan, uint32_t step, struct mr_work **work) __attribute__((warn_unused_result));

/* exec_stage.c: reads what copies take from pageable memory. False when memory is short; what was read is freed by
 * mr_run_unstage in any case. */
bool mr_run_stage(struct mr_run *run) __attribute__((warn_unused_result));
void mr_run_unstage(struct mr_run *run);

/* exec.c: the launch counts among the users of its nodes' memory no longer. Once it does, further calls do nothing. */
void mr_run_leave_memory(struct mr_run *run);

/* exec_run.c: struct mr_async's begin; the task's function; and what goes on when a step that was left to others has
 * ended (no lock held). */
bool mr_run_begin(void *data, uint64_t key, struct mr_job *resume, CUresult *status);
void mr_run_task(struct mr_task *task);
void mr_run_step_ended(struct mr_plan *plan, uint32_t step, CUresult status);

/* exec_tell.c: what an observer calls a step of the run; false for one that it is not told of. */
struct mr_observed_work;
bool mr_run_describe(const struct mr_plan *plan, const struct mr_step *step, struct mr_observed_work *out);

/* exec_tell.c: a step begins; it has ended, and nobody has learnt of that. Where works are told of. */
void mr_run_tell_begin(struct mr_plan *plan, struct mr_step *step);
void mr_run_tell_end(struct mr_step *step, CUresult status);

/* A copy with other works for some steps: works[i], unless NULL, for step i, whose references the caller keeps. */
struct mr_plan *mr_plan_copy_with(const struct mr_plan *plan, struct mr_work *const *works)
    __attribute__((warn_unused_result));

/* exec_update.c. What stands against giving a step another work: CU_GRAPH_EXEC_UPDATE_SUCCESS if nothing. */
CUgraphExecUpdateResult mr_work_change(const struct mr_plan *plan, const struct mr_work *old,
                                       const struct mr_work *new);

/* Whether a graph has the shape of the steps [first, end), which are those of a whole graph, or come after the step
 * `enter` of a child (else MR_STEP_NONE). Then works[i] becomes what step i is to do, with a reference (also on
 * failure, for some). Else *info tells why. The graph lock is held. False also when memory is short: info->result is
 * then CU_GRAPH_EXEC_UPDATE_ERROR. */
bool mr_plan_matches(const struct mr_plan *plan, struct mr_graph *graph, uint32_t first, uint32_t end, uint32_t enter,
                     struct mr_work **works, CUgraphExecUpdateResultInfo *info) __attribute__((warn_unused_result));

#endif
