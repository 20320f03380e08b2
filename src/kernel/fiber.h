/* SPDX-License-Identifier: Apache-2.0 */
/* Fibers: stacks of their own that one thread runs by turns.
 *
 * A warp of a kernel with barriers runs on a fiber, so that it can stop in the middle of any function and go on later.
 * A fiber never moves to another thread. Switching saves what the C calling convention asks a callee to keep, and
 * nothing else: signal masks and floating-point modes are those of the thread.
 *
 * There are two switchers behind this header: a few instructions of assembly for x86-64 (about 3 ns), and ucontext for
 * every other machine (or with MR_FIBER_UCONTEXT defined, so that tests cover both). AddressSanitizer and
 * ThreadSanitizer are told of every switch, Valgrind of every stack. */
#ifndef MR_KERNEL_FIBER_H
#define MR_KERNEL_FIBER_H

#include <stddef.h>

#if !defined(MR_FIBER_UCONTEXT) && !defined(__x86_64__)
#define MR_FIBER_UCONTEXT 1
#endif

#ifdef MR_FIBER_UCONTEXT
#include <ucontext.h>
#endif

struct mr_fiber {
#ifdef MR_FIBER_UCONTEXT
    ucontext_t context;
#else
    void *stack_pointer;            /* valid while the fiber is not running */
#endif
    void (*run)(void *data);
    void *data;
    void *stack_low; /* lowest usable byte; NULL for a thread's own stack until its first switch away */
    size_t stack_size;
    void *sanitizer; /* ThreadSanitizer's fiber, or AddressSanitizer's fake stack */
    unsigned valgrind_stack; /* Valgrind's number of the stack, plus 1; 0: not known to it */
};

/* Makes `fiber` stand for the calling thread's own stack. Call it on the thread, before the first switch away from it.
 */
void mr_fiber_adopt_thread(struct mr_fiber *fiber);

/* Makes `fiber` ready to call run(data) on the given stack at the first switch to it. `run` must never return. May be
 * called again on a fiber that was abandoned. The stack stays the caller's. */
void mr_fiber_prepare(struct mr_fiber *fiber, void *stack_low, size_t stack_size, void (*run)(void *data), void *data);

/* Ends what sanitizers and Valgrind know of a prepared fiber. The fiber must not be running. */
void mr_fiber_release(struct mr_fiber *fiber);

/* Stops here (in `from`, which is running) and goes on in `to`. Returns when somebody switches back. */
void mr_fiber_switch(struct mr_fiber *from, struct mr_fiber *to);

/* Goes on in `to` and forgets the running fiber, which must be prepared anew before it runs again. */
void mr_fiber_abandon(struct mr_fiber *to) __attribute__((noreturn));

/* The same from a signal handler: `context` is the handler's third argument. The thread's signal mask becomes what it
 * was when the signal came. The handler must return at once after this call (the ucontext switcher does not return from
 * it). */
void mr_fiber_abandon_in_signal(struct mr_fiber *to, void *context);

#endif
