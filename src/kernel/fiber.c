/* SPDX-License-Identifier: Apache-2.0 */
/* The two fiber switchers: assembly for x86-64, ucontext for the rest. See fiber.h.
 *
 * Assembly: a stopped fiber is one number, its stack pointer; on its stack lie six registers and the address to go on
 * at. A fresh fiber's stack is laid out as if it had stopped at the first instruction of mr_fiber_begin. Leaving from a
 * signal handler rewrites the interrupted registers, so that the kernel's own return from the handler lands in the
 * other fiber; nothing of the handler is left behind. */
#include "kernel/fiber.h"

#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <ucontext.h>

#include "base/sanitizer.h"

#ifdef MR_ASAN
void __sanitizer_start_switch_fiber(void **save, const void *bottom, size_t size);
void __sanitizer_finish_switch_fiber(void *saved, const void **old_bottom, size_t *old_size);
void __asan_unpoison_memory_region(const volatile void *start, size_t size);
#endif
#ifdef MR_TSAN
void *__tsan_get_current_fiber(void);
void *__tsan_create_fiber(unsigned flags);
void __tsan_destroy_fiber(void *fiber);
void __tsan_switch_to_fiber(void *fiber, unsigned flags);
#endif

/* For the functions between the end of a fiber's AddressSanitizer record and the switch: they may not keep their locals
 * in it. */
#define UNTRACKED __attribute__((no_sanitize_address))
/* What they call may not be a function of its own: ThreadSanitizer would see its return in the other fiber. */
#define INLINED UNTRACKED __attribute__((always_inline)) static inline

/* Before a switch. `from` is NULL when the running fiber is abandoned. */
INLINED void announce_leave(struct mr_fiber *from, struct mr_fiber *to)
{
#ifdef MR_ASAN
    __sanitizer_start_switch_fiber(from ? &from->sanitizer : NULL, to->stack_low, to->stack_size);
#endif
#ifdef MR_TSAN
    __tsan_switch_to_fiber(to->sanitizer, 0);
#endif
    (void)from;
    (void)to;
}

/* After a switch, in the fiber that goes on. */
INLINED void announce_arrive(struct mr_fiber *self)
{
#ifdef MR_ASAN
    __sanitizer_finish_switch_fiber(self->sanitizer, NULL, NULL);
    self->sanitizer = NULL;
#endif
    (void)self;
}

void mr_fiber_adopt_thread(struct mr_fiber *fiber)
{
    *fiber = (struct mr_fiber){.sanitizer = NULL};
#ifdef MR_ASAN
    pthread_attr_t attributes;
    if (pthread_getattr_np(pthread_self(), &attributes) == 0) {
        pthread_attr_getstack(&attributes, &fiber->stack_low, &fiber->stack_size);
        pthread_attr_destroy(&attributes);
    }
#endif
#ifdef MR_TSAN
    fiber->sanitizer = __tsan_get_current_fiber();
#endif
}

void mr_fiber_release(struct mr_fiber *fiber)
{
#ifdef MR_TSAN
    if (fiber->sanitizer)
        __tsan_destroy_fiber(fiber->sanitizer);
#endif
#ifdef MR_VALGRIND
    if (fiber->valgrind_stack)
        VALGRIND_STACK_DEREGISTER(fiber->valgrind_stack - 1);
#endif
    fiber->valgrind_stack = 0;
    fiber->sanitizer = NULL;
}

/* Reached from the assembly below by name, so it is not static. */
void mr_fiber_start(struct mr_fiber *fiber) __attribute__((noreturn, visibility("hidden")));

UNTRACKED void mr_fiber_start(struct mr_fiber *fiber)
{
    announce_arrive(fiber);
    fiber->run(fiber->data);
    abort();
}

static void fiber_describe(struct mr_fiber *fiber, void *stack_low, size_t stack_size, void (*run)(void *data),
                           void *data)
{
    mr_fiber_release(fiber);
    fiber->run = run;
    fiber->data = data;
    fiber->stack_low = stack_low;
    fiber->stack_size = stack_size;
#ifdef MR_ASAN
    /* Frames that were abandoned left their red zones behind. */
    __asan_unpoison_memory_region(stack_low, stack_size);
#endif
#ifdef MR_TSAN
    fiber->sanitizer = __tsan_create_fiber(0);
#endif
#ifdef MR_VALGRIND
    if (RUNNING_ON_VALGRIND)
        fiber->valgrind_stack = VALGRIND_STACK_REGISTER(stack_low, (char *)stack_low + stack_size) + 1;
#endif
}

#ifndef MR_FIBER_UCONTEXT

void mr_fiber_swap_stacks(void **save, void *load);
void mr_fiber_load_stack(void *load) __attribute__((noreturn));
void mr_fiber_begin(void);

__asm__(".text\n"
        ".p2align 4\n"
        ".hidden mr_fiber_swap_stacks\n"
        ".globl mr_fiber_swap_stacks\n"
        ".type mr_fiber_swap_stacks, @function\n"
        "mr_fiber_swap_stacks:\n"
        "    endbr64\n"
        "    pushq %rbp\n"
        "    pushq %rbx\n"
        "    pushq %r12\n"
        "    pushq %r13\n"
        "    pushq %r14\n"
        "    pushq %r15\n"
        "    movq %rsp, (%rdi)\n"
        "    movq %rsi, %rsp\n"
        "    popq %r15\n"
        "    popq %r14\n"
        "    popq %r13\n"
        "    popq %r12\n"
        "    popq %rbx\n"
        "    popq %rbp\n"
        "    ret\n"
        ".size mr_fiber_swap_stacks, .-mr_fiber_swap_stacks\n"
        ".p2align 4\n"
        ".hidden mr_fiber_load_stack\n"
        ".globl mr_fiber_load_stack\n"
        ".type mr_fiber_load_stack, @function\n"
        "mr_fiber_load_stack:\n"
        "    movq %rdi, %rsp\n"
        "    popq %r15\n"
        "    popq %r14\n"
        "    popq %r13\n"
        "    popq %r12\n"
        "    popq %rbx\n"
        "    popq %rbp\n"
        "    ret\n"
        ".size mr_fiber_load_stack, .-mr_fiber_load_stack\n"
        /* A fresh fiber arrives here with its record in rbx; rbp is zero, so that unwinders stop. */
        ".p2align 4\n"
        ".hidden mr_fiber_begin\n"
        ".globl mr_fiber_begin\n"
        ".type mr_fiber_begin, @function\n"
        "mr_fiber_begin:\n"
        "    .cfi_startproc\n"
        "    .cfi_undefined rip\n"
        "    endbr64\n"
        "    movq %rbx, %rdi\n"
        "    call mr_fiber_start\n"
        "    ud2\n"
        "    .cfi_endproc\n"
        ".size mr_fiber_begin, .-mr_fiber_begin\n");

void mr_fiber_prepare(struct mr_fiber *fiber, void *stack_low, size_t stack_size, void (*run)(void *data), void *data)
{
    fiber_describe(fiber, stack_low, stack_size, run, data);
    uintptr_t top = ((uintptr_t)stack_low + stack_size) & ~(uintptr_t)63;
    uintptr_t *frame = (uintptr_t *)top - 9;
    frame[0] = frame[1] = frame[2] = frame[3] = 0; /* r15, r14, r13, r12 */
    frame[4] = (uintptr_t)fiber; /* rbx */
    frame[5] = 0; /* rbp */
    frame[6] = (uintptr_t)mr_fiber_begin; /* leaves the stack aligned to 16 before its call */
    frame[7] = frame[8] = 0;
    fiber->stack_pointer = frame;
}

UNTRACKED void mr_fiber_switch(struct mr_fiber *from, struct mr_fiber *to)
{
    announce_leave(from, to);
    mr_fiber_swap_stacks(&from->stack_pointer, to->stack_pointer);
    announce_arrive(from);
}

UNTRACKED void mr_fiber_abandon(struct mr_fiber *to)
{
    announce_leave(NULL, to);
    mr_fiber_load_stack(to->stack_pointer);
}

/* The handler returns into mr_fiber_abandon(to). The stack that it leaves may be used up, so that function runs on the
 * other one, below where that stopped. Nothing is announced in here: ThreadSanitizer would take the handler's returns
 * off the other fiber's record. */
UNTRACKED void mr_fiber_abandon_in_signal(struct mr_fiber *to, void *context)
{
    greg_t *registers = ((ucontext_t *)context)->uc_mcontext.gregs;
    const greg_t direction_flag = 0x400;
    registers[REG_RIP] = (greg_t)(uintptr_t)mr_fiber_abandon;
    registers[REG_RDI] = (greg_t)(uintptr_t)to;
    registers[REG_RSP] = ((greg_t)(uintptr_t)to->stack_pointer & ~(greg_t)15) - 8; /* as a call leaves it */
    registers[REG_EFL] &= ~direction_flag;
}

#else

/* makecontext passes ints only, so the record's address travels in two halves. */
static void fiber_enter(unsigned high, unsigned low)
{
    mr_fiber_start((struct mr_fiber *)(uintptr_t)((uint64_t)high << 32 | low));
}

void mr_fiber_prepare(struct mr_fiber *fiber, void *stack_low, size_t stack_size, void (*run)(void *data), void *data)
{
    fiber_describe(fiber, stack_low, stack_size, run, data);
    getcontext(&fiber->context);
    fiber->context.uc_stack.ss_sp = stack_low;
    fiber->context.uc_stack.ss_size = stack_size;
    fiber->context.uc_link = NULL;
    uint64_t address = (uint64_t)(uintptr_t)fiber;
    makecontext(&fiber->context, (void (*)(void))fiber_enter, 2, (unsigned)(address >> 32), (unsigned)address);
}

UNTRACKED void mr_fiber_switch(struct mr_fiber *from, struct mr_fiber *to)
{
    announce_leave(from, to);
    swapcontext(&from->context, &to->context);
    announce_arrive(from);
}

UNTRACKED void mr_fiber_abandon(struct mr_fiber *to)
{
    announce_leave(NULL, to);
    setcontext(&to->context);
    abort();
}

UNTRACKED void mr_fiber_abandon_in_signal(struct mr_fiber *to, void *context)
{
    const ucontext_t *interrupted = context;
    to->context.uc_sigmask = interrupted->uc_sigmask;
    mr_fiber_abandon(to);
}

#endif
