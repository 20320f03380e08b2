/* SPDX-License-Identifier: Apache-2.0 */
/* The services that generated code calls through mr_block.runtime: thin functions over the executor, the heap and the
 * clock.
 *
 * All of them run on a fiber, with the thread marked as inside a kernel: a fault while they read what the kernel gave
 * them ends the launch like any other. Therefore none touches a kernel's memory while it holds a lock. */
#include "kernel/executor.h"

#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#if defined(__x86_64__)
#include <x86intrin.h>
#endif

#include "base/clock.h"
#include "base/log.h"
#include "kernel/heap.h"
#include "kernel/image.h"
#include "kernel/launched.h"
#include "kernel/notes.h"
#include "kernel/progress.h"
#include "kernel/scan.h"
#include "object/context.h"

/* Shorter sleeps spin; the hardware's own limit on a sleep is a millisecond. */
#define SLEEP_SPIN_NS 20000u
#define SLEEP_MAX_NS 1000000u

static void yield(struct mr_block *block)
{
    mr_executor_yield(block->engine);
}

static __attribute__((noreturn)) void trap(struct mr_block *block, uint32_t kind, uint32_t pc_line)
{
    struct mr_executor *executor = block->engine;
    switch (kind) {
    case MR_TRAP_BAD_CALL:
        mr_executor_fault(executor, CUDA_ERROR_ILLEGAL_ADDRESS, pc_line, "call through a bad function pointer");
    case MR_TRAP_UNREACHABLE:
        mr_executor_fault(executor, CUDA_ERROR_LAUNCH_FAILED, pc_line, "the end of a function that must not return");
    case MR_TRAP_BREAKPOINT:
        mr_executor_fault(executor, CUDA_ERROR_LAUNCH_FAILED, pc_line, "breakpoint");
    case MR_TRAP_ASSERT:
        mr_executor_fault(executor, CUDA_ERROR_ASSERT, pc_line, "assertion failed");
    case MR_TRAP_STACK:
        mr_executor_fault(executor, CUDA_ERROR_HARDWARE_STACK_ERROR, pc_line, "stack overflow");
    case MR_TRAP_MISALIGNED:
        mr_executor_fault(executor, CUDA_ERROR_MISALIGNED_ADDRESS, pc_line, "misaligned access");
    case MR_TRAP_DEADLOCK:
        mr_executor_fault(executor, CUDA_ERROR_LAUNCH_FAILED, pc_line,
                          "deadlock: every warp that is left waits at a barrier");
    case MR_TRAP_NO_MEMBER:
        mr_executor_fault(executor, CUDA_ERROR_ILLEGAL_INSTRUCTION, pc_line,
                          "a warp operation's mask lacks a lane that came to it");
    case MR_TRAP_NO_BLOCK:
        mr_executor_fault(executor, CUDA_ERROR_ILLEGAL_INSTRUCTION, pc_line,
                          "a copy to blocks that the cluster has not");
    case MR_TRAP_NO_MULTICAST:
        mr_executor_fault(executor, CUDA_ERROR_ILLEGAL_ADDRESS, pc_line,
                          "a multimem load from an address that is not a multicast object's");
    default:
        mr_executor_fault(executor, CUDA_ERROR_LAUNCH_FAILED, pc_line, "trap");
    }
}

static void allocate(struct mr_block *block, uint32_t mask, const uint64_t *size, const uint64_t *alignment,
                     uint64_t *result)
{
    struct mr_executor *executor = block->engine;
    struct mr_heap *heap = mr_heap_get(executor->launch->context);
    if (heap) {
        mr_heap_allocate(heap, executor->launch->id, mask, size, alignment, result);
        return;
    }
    for (; mask; mask &= mask - 1)
        result[__builtin_ctz(mask)] = 0;
}

static void release(struct mr_block *block, uint32_t mask, const uint64_t *pointer)
{
    struct mr_executor *executor = block->engine;
    struct mr_heap *heap = mr_heap_get(executor->launch->context);
    if (heap && !mr_heap_release(heap, executor->launch->id, mask, pointer))
        mr_executor_fault(executor, CUDA_ERROR_LAUNCH_FAILED, 0,
                          "free() of a pointer that malloc() has not given, or twice");
}

bool (*mr_kernel_set_conditional)(uint64_t handle, uint32_t value);

static void set_conditional(struct mr_block *block, uint32_t mask, const uint64_t *handle, const uint32_t *value)
{
    for (; mask; mask &= mask - 1) {
        int lane = __builtin_ctz(mask);
        if (!mr_kernel_set_conditional || !mr_kernel_set_conditional(handle[lane], value[lane]))
            mr_executor_fault(block->engine, CUDA_ERROR_ILLEGAL_ADDRESS, 0,
                              "cudaGraphSetConditional() outside of a run of the handle's graph");
    }
}

/* Copies a kernel's string; a null pointer reads as "?". */
static void copy_text(char *to, size_t room, const char *from)
{
    size_t length = 0;
    if (!from)
        from = "?";
    while (length + 1 < room && from[length])
        length++;
    memcpy(to, from, length);
    to[length] = '\0';
}

static __attribute__((noreturn)) void assert_fail(struct mr_block *block, const char *message, const char *file,
                                                  uint32_t line, const char *function, uint32_t thread)
{
    struct mr_executor *executor = block->engine;
    char text[1024], where[256], name[256], whole[2048];
    copy_text(text, sizeof text, message);
    copy_text(where, sizeof where, file);
    copy_text(name, sizeof name, function);
    uint32_t row = thread / block->ntid[0];
    int length =
        snprintf(whole, sizeof whole, "%s:%u: %s: block: [%u,%u,%u], thread: [%u,%u,%u] Assertion `%s` failed.\n",
                 where, line, name, block->ctaid[0], block->ctaid[1], block->ctaid[2], thread % block->ntid[0],
                 row % block->ntid[1], row / block->ntid[1], text);
    if (length >= (int)sizeof whole)
        length = (int)sizeof whole - 1;
    if (write(STDERR_FILENO, whole, (size_t)length) < 0)
        mr_log(MR_LOG_INFO, "the message of a failed assertion could not be written");
    mr_executor_fault(executor, CUDA_ERROR_ASSERT, 0, "assertion failed");
}

static uint64_t cycles(void)
{
#if defined(__x86_64__)
    return __rdtsc();
#else
    return mr_clock_ns();
#endif
}

/* Other warps go on meanwhile; with none, the thread sleeps once the rest is long enough for that. */
static void sleep_ns(struct mr_block *block, uint32_t ns)
{
    if (ns > SLEEP_MAX_NS)
        ns = SLEEP_MAX_NS;
    uint64_t end = mr_clock_ns() + ns;
    for (;;) {
        bool others = mr_executor_yield(block->engine);
        uint64_t now = mr_clock_ns();
        if (now >= end)
            return;
        if (!others && end - now > SLEEP_SPIN_NS) {
            struct timespec rest = {0, (long)(end - now)};
            nanosleep(&rest, NULL);
        }
    }
}

/* clusterlaunchcontrol.try_cancel: a block takes over the work of one that has not begun, which then never begins. (PTX
 * manual.) The thread that runs the block has some of the grid's blocks to itself, and gives the last of those away.
 * When it has none left the answer is that there is no block; the manual lets an answer be that for any reason. So it
 * is where blocks of a grid run together. */
static void cancel(struct mr_block *block, uint32_t mask, const uint64_t *answer, const uint64_t *barrier)
{
    struct mr_executor *executor = block->engine;
    const uint32_t *count = block->nctaid;
    for (; mask; mask &= mask - 1) {
        int lane = __builtin_ctz(mask);
        uint32_t words[4] = {0};
        uint64_t index;
        if (mr_progress_give(executor->progress, &index)) {
            words[0] = 1;
            words[1] = (uint32_t)(index % count[0]);
            words[2] = (uint32_t)(index / count[0] % count[1]);
            words[3] = (uint32_t)(index / count[0] / count[1]);
        }
        memcpy((void *)(uintptr_t)answer[lane], words, sizeof words);
        mr_mbarrier_complete(executor, barrier[lane], sizeof words);
    }
}

const struct mr_runtime mr_runtime_table = {
    .barrier_sync = mr_barrier_sync,
    .barrier_arrive = mr_barrier_arrive,
    .barrier_join = mr_barrier_join,
    .barrier_test = mr_barrier_test,
    .lanes_exit = mr_barrier_lanes_exit,
    .yield = yield,
    .trap = trap,
    .print = mr_print_lanes,
    .allocate = allocate,
    .release = release,
    .assert_fail = assert_fail,
    .set_conditional = set_conditional,
    .launch = mr_launched_note,
    .global_timer = mr_clock_ns,
    .clock64 = cycles,
    .nanosleep = sleep_ns,
    .image = mr_image_run,
    .mbarrier = mr_mbarrier,
    .copy_part = mr_copy_part,
    .copy_bulk = mr_copy_bulk,
    .copy_masked = mr_copy_masked,
    .change_map = mr_change_map,
    .cancel = cancel,
    .copy_tensor = mr_copy_tensor,
    .cluster_arrive = mr_cluster_arrive,
    .cluster_wait = mr_cluster_wait,
    .next_block = mr_scan_next,
    .note_piece = mr_note_piece,
    .note_steps = mr_note_steps,
    .note_lanes = mr_note_lanes,
    .note_sizes = mr_note_sizes,
    .note_rows = mr_note_rows,
};
