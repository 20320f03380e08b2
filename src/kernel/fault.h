/* SPDX-License-Identifier: Apache-2.0 */
/* Faults: hardware signals that a kernel or a guarded copy causes are turned into a status; all others go to the program's own handlers.
 *
 * The handlers are installed at the first launch (or guarded copy), so that a program that only uses events keeps its signals untouched. A program
 * may install its own handlers at any time, before or after: it is noticed within a few milliseconds at the next launch, and from then on its
 * handler is called for every signal that isn't ours. */
#ifndef MR_KERNEL_FAULT_H
#define MR_KERNEL_FAULT_H

#include <cuda.h>

struct mr_executor;

/* Calls work(data) on the calling thread. If it touches memory that isn't there, it is left at that point and the result is CUDA_ERROR_ILLEGAL_ADDRESS;
 * otherwise CUDA_SUCCESS. `work` must hold no lock and own nothing that needs freeing while it touches foreign memory. May not be nested. About 15 ns. */
CUresult mr_fault_guard(void (*work)(void *data), void *data) __attribute__((warn_unused_result));

/* Installs the handlers if that hasn't been done. */
void mr_fault_install(void);

/* Puts ours back in front if the program has installed a handler since. */
void mr_fault_recheck(void);

/* Gives the calling thread a signal stack, unless it has one; returns it for mr_fault_thread_end, or NULL. */
void *mr_fault_thread_begin(void);
void mr_fault_thread_end(void *signal_stack);

/* Before a run of blocks: every few milliseconds, looks whether the handlers and the thread's signal stack are still in place. */
void mr_fault_thread_check(struct mr_executor *executor);

#endif
