/* SPDX-License-Identifier: Apache-2.0 */
/* Faults: hardware signals that a kernel or a guarded copy causes are turned into a status; all others go to the
 * program's own handlers.
 *
 * The handlers are installed at the first launch (or guarded copy), so that a program that only uses events keeps its
 * signals untouched. A program may install its own handlers at any time, before or after: a handler is noticed when it
 * next loads a module or looks a kernel up, else at the next launch or copy after 20 microseconds (SIGSEGV) or 4
 * milliseconds (the others). From then on it is called for every signal that isn't ours. */
#ifndef MR_KERNEL_FAULT_H
#define MR_KERNEL_FAULT_H

#include <cuda.h>
#include <stdbool.h>
#include <stdint.h>

struct mr_executor;

/* Calls work(data) on the calling thread. If it touches memory that isn't there, it is left at that point and the
 * result is CUDA_ERROR_ILLEGAL_ADDRESS; otherwise CUDA_SUCCESS. `work` must hold no lock and own nothing that needs
 * freeing while it touches foreign memory. May not be nested. About 40 ns. */
CUresult mr_fault_guard(void (*work)(void *data), void *data) __attribute__((warn_unused_result));

/* Installs the handlers if that hasn't been done. */
void mr_fault_install(void);

/* Puts ours back in front if the program has installed a handler since. */
void mr_fault_recheck(void);

/* The same, once there has been a launch; for calls that come before launches but not with each of them. Under a
 * microsecond. */
void mr_fault_launch_near(void);

/* Sets what is asked first about a write that was refused: true means that the reason has gone and the thread tries
 * again. Called in the handler, so async-signal-safe. Also installs the handlers, or puts them back in front. */
void mr_fault_set_retry(bool (*retry)(uintptr_t address));

/* Gives the calling thread a signal stack, unless it has one; returns it for mr_fault_thread_end, or NULL. */
void *mr_fault_thread_begin(void);
void mr_fault_thread_end(void *signal_stack);

/* Before a run of blocks: looks now and then whether the handlers and the thread's signal stack are still in place. */
void mr_fault_thread_check(struct mr_executor *executor);

#endif
