/* SPDX-License-Identifier: Apache-2.0 */
/* The executor: what one host thread needs to run blocks of kernels, and what a block's warps share while they run.
 * Private to src/kernel.
 *
 * Every thread that runs a launch (a worker, or a program's thread that helps) has one executor, made at its first
 * launch and freed when the thread ends: fibers with guarded stacks, a shared memory window with holes around it, the
 * barriers of the block at hand, and a place where a fault is noted. No lock is needed: only the owning thread touches
 * it.
 *
 * Generated code always runs on fiber stacks, never on the thread's own: then any fault is left by switching back to
 * `home`. */
#ifndef MR_KERNEL_EXECUTOR_H
#define MR_KERNEL_EXECUTOR_H

#include <cuda.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "abi/abi.h"
#include "kernel/fiber.h"
#include "kernel/launch.h"
#include "kernel/progress.h"

#define MR_WARPS_MAX 32u        /* 1,024 threads a block */
#define MR_BARRIERS 16u

struct mr_executor;
struct mr_part;

struct mr_warp {
    struct mr_fiber fiber;
    struct mr_executor *executor;
    struct mr_note *notes;      /* of code that makes notes: the warp's own (notes.h) */
    uint32_t live;              /* lanes that exist and have not left the kernel */
    uint32_t reduction;         /* result of the barrier that this warp waited at */
    uint32_t cluster_phase;     /* of the cluster's barrier, at this warp's latest arrival */
    /* Where lanes wait each at a barrier of its own (barrier_join): those that wait, those that may go on and have not
     * heard of it, */
    uint32_t joined, released;
    bool asleep; /* whether the warp is stopped until some may; */
    uint8_t joined_at[MR_WARP_LANES]; /* the barrier of each, */
    uint32_t lane_reduction[MR_WARP_LANES]; /* and its reduction */
};

/* One of a block's numbered barriers, in its present phase. */
struct mr_barrier {
    uint32_t arrived; /* threads counted so far */
    uint32_t expected; /* threads asked for; 0: all that have not exited */
    uint32_t waiting; /* a bit per warp that is stopped here */
    uint32_t joined; /* a bit per warp with lanes that wait here by themselves; */
    uint32_t aligned, whole; /* of these: it counts as a whole; it has been counted so */
    uint32_t true_count; /* arrived threads whose predicate holds, for .popc */
    bool all_true, any_true; /* .and, .or */
    uint8_t operation; /* of the waiting warps: as mr_runtime.barrier_sync's `op` */
};

/* How a launch went wrong: first the raw facts, noted where the fault was; report_fault turns them into a status and a
 * log line. */
struct mr_fault {
    CUresult status; /* CUDA_SUCCESS: none */
    int signal; /* 0: not a signal */
    int code; /* si_code */
    uintptr_t address; /* si_addr */
    uintptr_t pc; /* of a signal: the instruction, or 0 */
    uint32_t line; /* PTX line, or 0 */
    bool quiet; /* somebody else's fault ended this run; nothing to report */
    const char *what; /* a few words, static text */
};

struct mr_executor {
    struct mr_block block;
    struct mr_launch *launch;
    const struct mr_code *code; /* the version of the launch's code that this run has */
    unsigned turn; /* of mr_code_begins */
    struct mr_part *part; /* of code that makes notes: what this thread notes of the launch (notes.h), */
    uint64_t part_launch; /* which has this id; else the part may be gone */
    struct mr_progress *progress; /* of the thread */
    uint64_t remaining; /* blocks of this run that have not ended, those of the call under way included */
    uint32_t most; /* blocks that one call may run */
    bool direct; /* whole blocks are called on warps[0]'s fiber; no longer if such a block was split (mr_executor_split)
                  */
    uint32_t step; /* warps of one call, where each has a fiber: 2 for code that runs two as one */
    bool track; /* the kernel may use barriers: keep the warps' records */
    bool together; /* one of several blocks that this thread runs by turns (together.c): stops where it can only wait */
    bool seated; /* of those: has a block that has not ended */
    volatile int in_kernel; /* nonzero while the thread is on a fiber: read by the signal handler */
    volatile bool visits; /* a visit is open that the kernel's code began: */
    volatile uint64_t outer_visit; /* what mr_visit_begin gave it */

    uint32_t runnable; /* a bit per warp that can go on */
    uint32_t unfinished; /* warps that have not returned */
    uint32_t current; /* the warp that runs */
    uint32_t live_threads; /* of the block: neither exited nor returned */
    uint32_t idle_yields; /* yields since something last moved on */
    uint32_t barriers_used; /* a bit per barrier whose record is not fresh */
    struct mr_barrier barriers[MR_BARRIERS];
    struct {
        uint32_t arrived, waiting, phase;
    } cluster; /* barrier.cluster: threads, a bit per stopped warp, phases that are over */

    struct mr_fault fault;
    struct mr_fiber home; /* the thread's own stack while fibers run */

    unsigned char *stacks; /* one mapping: guard, stack, guard, stack, …, guard */
    size_t stacks_bytes; /* of the mapping */
    size_t stack_bytes; /* of one stack */
    size_t stack_guard; /* of one guard */
    size_t guards_claimed; /* of the process's address space for guards */
    bool stacks_low; /* they lie below 4 GiB */
    unsigned stack_count;
    unsigned prepared; /* fibers that are ready to run */

    unsigned char *shared_map; /* hole, window, hole */
    size_t shared_map_bytes;
    unsigned char *shared_end; /* end of the window: the launch's shared memory is placed right before it */
    size_t shared_room;
    unsigned char *params; /* a copy of the launch's parameters, where code wants them aligned: MR_CODE_ALIGNED; NULL
                              before the first of that kind */

    void *signal_stack; /* NULL if the thread had one of its own */
    uint64_t signal_stack_checked; /* clock of the latest check that one is in place */
    struct mr_executor *next; /* the thread's executors beyond its first, for blocks that run together */
    struct mr_warp warps[MR_WARPS_MAX];
};

/* The calling thread's executor, or NULL before its first launch. Initial-exec, so that reading it in a signal handler
 * never allocates. */
extern _Thread_local struct mr_executor *mr_executor_self __attribute__((tls_model("initial-exec")));

/* The calling thread's executor, made on first use; NULL when memory is short. */
struct mr_executor *mr_executor_get(void) __attribute__((warn_unused_result));

/* The executor after this one in the calling thread's chain, made on first use; NULL when memory is short. Only the
 * first is ever the thread's own; together.c names another in mr_executor_self while its fibers run. */
struct mr_executor *mr_executor_after(struct mr_executor *executor) __attribute__((warn_unused_result));

/* Sees to `count` fibers with stacks of at least `stack_bytes`, below 4 GiB if `low`, and a shared window of
 * `shared_bytes`. False when memory is short. */
bool mr_executor_provide(struct mr_executor *executor, unsigned count, size_t stack_bytes, bool low,
                         size_t shared_bytes) __attribute__((warn_unused_result));

/* What an access inside a guard between stacks was: the stack ran out (the stack pointer is there too, or isn't known:
 * 0), or an address of local memory with an index that leads out of the stack. Safe in a signal handler. */
enum mr_guard_hit { MR_GUARD_NONE, MR_GUARD_STACK, MR_GUARD_LOCAL };
enum mr_guard_hit mr_executor_guard_hit(const struct mr_executor *executor, uintptr_t address, uintptr_t stack_pointer);

/* What every warp fiber runs; see run_block.c. `data` is its struct mr_warp. */
void mr_warp_main(void *data);

/* Notes a fault (the first one counts) and leaves the fiber for the runner. Called on a fiber. */
void mr_executor_fault(struct mr_executor *executor, CUresult status, uint32_t line, const char *what)
    __attribute__((noreturn));

/* report.c: finds out where executor->fault happened, and says so in the log. On the thread's own stack, with the
 * block's record as it was. */
void mr_executor_report(struct mr_executor *executor);

/* Stops the warp at hand, wherever it is in generated code, for another one of the block, or another block where some
 * run together; splits a direct call for that if it can. Comes back when it is the warp's turn. Called on a fiber, by a
 * signal handler. */
void mr_executor_force(struct mr_executor *executor);

/* Lets another warp of the block go on, if one can; true if so. */
bool mr_executor_yield(struct mr_executor *executor);

/* tell.c: says in the log what the executor's block waits for, if somebody asks (MR_ATTENTION_TELL). On a fiber, in a
 * waiting loop. */
void mr_executor_tell(struct mr_executor *executor);

/* run_block.c: makes the executor ready for the launch: stacks, shared memory, the block record for block number
 * `first` with `count` blocks to run. CUDA_ERROR_INVALID_VALUE for a shape that can't be, CUDA_ERROR_OUT_OF_MEMORY. */
CUresult mr_executor_load(struct mr_executor *executor, struct mr_launch *launch, uint64_t first, uint64_t count,
                          unsigned worker) __attribute__((warn_unused_result));

/* Runs the executor's fibers until its blocks have ended, something went wrong, or (together) its block can only wait:
 * `unfinished` tells. The status is CUDA_SUCCESS or the fault's, which has been reported then. */
CUresult mr_executor_go(struct mr_executor *executor) __attribute__((warn_unused_result));

/* The services that generated code reaches through mr_block.runtime. */
extern const struct mr_runtime mr_runtime_table;

/* barrier.c: the barrier services. */
uint32_t mr_barrier_sync(struct mr_block *block, uint32_t id, uint32_t threads, uint32_t mask, uint32_t op,
                         uint32_t pred);
void mr_barrier_arrive(struct mr_block *block, uint32_t id, uint32_t threads, uint32_t mask, uint32_t op);
void mr_barrier_join(struct mr_block *block, const uint32_t *id, const uint32_t *threads, uint32_t mask, uint32_t op,
                     uint32_t pred);
uint32_t mr_barrier_test(struct mr_block *block, uint32_t mask, uint32_t *result);
void mr_barrier_lanes_exit(struct mr_block *block, uint32_t mask);

/* Takes `count` threads of the current warp out of the block: barriers no longer expect them. */
void mr_barrier_threads_left(struct mr_executor *executor, uint32_t count);

/* Stops the current warp until somebody sets its bit in `runnable`; a deadlock ends the launch. */
void mr_executor_block(struct mr_executor *executor);

void mr_cluster_arrive(struct mr_block *block, uint32_t mask);
void mr_cluster_wait(struct mr_block *block, uint32_t mask);

/* mbarrier.c: the mbarrier service; and what a copy of so many bytes does to the mbarrier at that address. */
void mr_mbarrier(struct mr_block *block, uint32_t operation, uint32_t mask, const uint64_t *address,
                 const uint64_t *value, uint64_t *result);
void mr_mbarrier_complete(struct mr_executor *executor, uint64_t address, uint32_t bytes);

/* bulk.c: the copy services. */
void mr_copy_part(struct mr_block *block, uint32_t mask, uint32_t bytes, const uint64_t *to, const uint64_t *from,
                  const uint32_t *reads);
void mr_copy_bulk(struct mr_block *block, uint32_t operation, uint32_t number, uint32_t mask, const uint64_t *to,
                  const uint64_t *from, const uint32_t *size, const uint64_t *barrier);
/* A reduction (enum mr_reduce, enum mr_number) of `bytes` into memory that other blocks may reduce into, an atomic
 * operation for each element. */
void mr_copy_reduce(uint32_t operation, uint32_t number, void *to, const void *from, uint32_t bytes);

void mr_copy_masked(struct mr_block *block, uint32_t mask, const uint64_t *to, const uint64_t *from,
                    const uint32_t *size, const uint32_t *bytes);

/* tensor_map.c: the service that changes tensor maps. */
void mr_change_map(struct mr_block *block, uint32_t mask, uint32_t field, uint32_t dimension, uint32_t line,
                   const uint64_t *map, const uint64_t *value);

/* tensor.c: the service for parts of tensors. */
void mr_copy_tensor(struct mr_block *block, uint32_t mask, uint32_t code, uint32_t line,
                    const struct mr_tensor_lanes *lanes);

/* print.c: the print service. */
void mr_print_lanes(struct mr_block *block, uint32_t mask, const uint64_t *format, const uint64_t *arguments,
                    int32_t *result);

#endif
