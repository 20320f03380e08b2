/* SPDX-License-Identifier: Apache-2.0 */
/* The signal handlers for SIGSEGV, SIGBUS, SIGFPE and SIGILL, and living together with the program's own.
 *
 * A signal is ours if the thread is on a fiber (then the run of blocks ends with a fault) or inside mr_fault_guard.
 * Everything else is passed on to the handler that was there before us, with its mask and flags, or to the default
 * action, as if we weren't here.
 *
 * Chains. Each signal has a short list of handlers that we found in place: the one from before our first installation,
 * and any that the program installed later (mr_fault_recheck finds those, remembers them and puts us in front again).
 * The latest is called first. It may itself call the handler that it replaced, which is ours: a nested entry on the
 * same signal delivery goes one step down the list, so that this ends. */
#include "kernel/fault.h"

#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/thread.h"
#include "kernel/executor.h"

#define CHAIN_MAX 8u
#define SIGNAL_STACK (128u << 10)
/* How long a look at the handlers counts. It takes a system call, so not every launch can have one. SIGSEGV, the
 * handler that programs install, is looked at more often than the others and the signal stack. */
#define RECHECK_FIRST_NS 20000u
#define RECHECK_ALL_NS 4000000u

static const int our_signals[] = {SIGSEGV /* first: recheck_if_due */, SIGBUS, SIGFPE, SIGILL};
#define SIGNAL_COUNT (sizeof our_signals / sizeof our_signals[0])

struct chain {
    _Atomic unsigned count;
    struct sigaction
        before[CHAIN_MAX];   /* a change of an entry below `count` happens only with the program's own sigaction */
};

static struct chain chains[SIGNAL_COUNT];
static mr_lock chain_lock = MR_LOCK_INIT(FAULTS);                /* held while a chain grows; never in a handler */
static _Atomic bool installed;
static _Atomic(bool (*)(uintptr_t)) retry;   /* mr_fault_set_retry */
static _Atomic uint64_t next_look, next_look_at_all;   /* clock, ns */

/* What the handler needs to know of the thread; initial-exec, since a handler may not allocate. */
struct thread_state {
    sigjmp_buf *guard;          /* set inside mr_fault_guard */
    unsigned depth;             /* handlers of a chain that are active for the delivery below */
    const void *delivery;       /* its ucontext */
    uintptr_t frame;            /* our own frame of that delivery: a nested entry lies below it */
};
static _Thread_local struct thread_state state __attribute__((tls_model("initial-exec")));

static void on_signal(int number, siginfo_t *info, void *context);

static unsigned signal_slot(int number)
{
    for (unsigned i = 0; i < SIGNAL_COUNT; i++)
        if (our_signals[i] == number)
            return i;
    return 0;
}

static bool is_ours(const struct sigaction *action)
{
    return (action->sa_flags & SA_SIGINFO) && action->sa_sigaction == on_signal;
}

/* sa_handler and sa_sigaction share their place on Linux, so that one comparison serves both kinds. */
static bool same_handler(const struct sigaction *a, const struct sigaction *b)
{
    return a->sa_flags == b->sa_flags && a->sa_handler == b->sa_handler;
}

/* The default action: for a fault, going back to the instruction brings it about; a signal that somebody sent is sent
 * again. */
static void take_default(int number, const siginfo_t *info)
{
    struct sigaction action = {.sa_handler = SIG_DFL};
    sigaction(number, &action, NULL);
    if (info->si_code <= 0)
        raise(number);
}

/* Calls a handler of the program as the system would: with its mask, its flags, its signature. */
static void call_handler(struct sigaction *before, int number, siginfo_t *info, void *context)
{
    if (!(before->sa_flags & SA_SIGINFO) && before->sa_handler == SIG_IGN && info->si_code <= 0)
        return;
    if (!(before->sa_flags & SA_SIGINFO) && (before->sa_handler == SIG_DFL || before->sa_handler == SIG_IGN)) {
        take_default(number, info);
        return;
    }
    sigset_t mask = before->sa_mask, own;
    if (!(before->sa_flags & SA_NODEFER))
        sigaddset(&mask, number);
    pthread_sigmask(SIG_BLOCK, &mask, &own);
    if (before->sa_flags & SA_NODEFER) {
        sigset_t self;
        sigemptyset(&self);
        sigaddset(&self, number);
        pthread_sigmask(SIG_UNBLOCK, &self, NULL);
    }
    struct sigaction handler = *before;
    if (handler.sa_flags & (int)SA_RESETHAND)
        *before = (struct sigaction){.sa_handler = SIG_DFL};
    if (handler.sa_flags & SA_SIGINFO)
        handler.sa_sigaction(number, info, context);
    else
        handler.sa_handler(number);
    pthread_sigmask(SIG_SETMASK, &own, NULL);
}

/* Not ours: the program's handlers, latest first. */
static void pass_on(int number, siginfo_t *info, void *context)
{
    struct chain *chain = &chains[signal_slot(number)];
    uintptr_t frame = (uintptr_t)__builtin_frame_address(0);
    struct thread_state outer = state;
    bool nested = outer.depth && outer.delivery == context && frame < outer.frame;
    unsigned depth = nested ? outer.depth : 0, count = atomic_load_explicit(&chain->count, memory_order_acquire);
    if (depth >= count) {
        take_default(number, info);
        return;
    }
    state.depth = depth + 1;
    state.delivery = context;
    if (!nested)
        state.frame = frame;
    call_handler(&chain->before[count - 1 - depth], number, info, context);
    state.depth = nested ? outer.depth : 0;
}

/* A general protection fault gives no address: a misaligned vector access, or an address outside the canonical
 * half-spaces. The latter shows in a register. */
static bool looks_misaligned(const ucontext_t *context, const siginfo_t *info)
{
#if defined(__x86_64__)
    if (info->si_code != SI_KERNEL || context->uc_mcontext.gregs[REG_TRAPNO] != 13)
        return false;
    for (int i = REG_R8; i <= REG_RSP; i++) {
        int64_t high = (int64_t)context->uc_mcontext.gregs[i] >> 47;
        if (high != 0 && high != -1)
            return false;
    }
    return true;
#else
    (void)context;
    (void)info;
    return false;
#endif
}

static uintptr_t instruction_of(const ucontext_t *context)
{
#if defined(__x86_64__)
    return (uintptr_t)context->uc_mcontext.gregs[REG_RIP];
#elif defined(__aarch64__)
    return (uintptr_t)context->uc_mcontext.pc;
#else
    (void)context;
    return 0;
#endif
}

/* 0 where it isn't known. */
static uintptr_t stack_pointer_of(const ucontext_t *context)
{
#if defined(__x86_64__)
    return (uintptr_t)context->uc_mcontext.gregs[REG_RSP];
#elif defined(__aarch64__)
    return (uintptr_t)context->uc_mcontext.sp;
#else
    (void)context;
    return 0;
#endif
}

static void note_fault(struct mr_executor *executor, int number, const siginfo_t *info, const ucontext_t *context)
{
    struct mr_fault *fault = &executor->fault;
    *fault = (struct mr_fault){
        .signal = number, .code = info->si_code, .address = (uintptr_t)info->si_addr, .pc = instruction_of(context)};
    enum mr_guard_hit guard =
        number == SIGSEGV ? mr_executor_guard_hit(executor, fault->address, stack_pointer_of(context)) : MR_GUARD_NONE;
    if (guard == MR_GUARD_STACK) {
        fault->status = CUDA_ERROR_HARDWARE_STACK_ERROR;
        fault->what = "stack overflow";
    } else if (guard == MR_GUARD_LOCAL) {
        fault->status = CUDA_ERROR_ILLEGAL_ADDRESS;
        fault->what = "access outside of local memory";
    } else if ((number == SIGBUS && info->si_code == BUS_ADRALN) ||
               (number == SIGSEGV && looks_misaligned(context, info))) {
        fault->status = CUDA_ERROR_MISALIGNED_ADDRESS;
        fault->what = "misaligned access";
    } else if (number == SIGSEGV || number == SIGBUS) {
        fault->status = CUDA_ERROR_ILLEGAL_ADDRESS;
        fault->what = "access to an illegal address";
    } else if (number == SIGFPE) {
        fault->status = CUDA_ERROR_LAUNCH_FAILED;
        fault->what = "arithmetic trap";
    } else {
        fault->status = CUDA_ERROR_ILLEGAL_INSTRUCTION;
        fault->what = "illegal instruction";
    }
}

/* Not instrumented: after it has left a fiber, AddressSanitizer's record of that fiber's locals is gone. */
static __attribute__((no_sanitize_address)) void on_signal(int number, siginfo_t *info, void *context)
{
    int saved = errno;
    struct mr_executor *executor = mr_executor_self;
    bool sent = info->si_code <= 0;   /* by kill() and its like: never a fault of a kernel */
    if (number == SIGSEGV && info->si_code == SEGV_ACCERR) {
        bool (*again)(uintptr_t) = atomic_load_explicit(&retry, memory_order_acquire);
        if (again && again((uintptr_t)info->si_addr)) {
            errno = saved;
            return;
        }
    }
    if (executor && executor->in_kernel && !sent) {
        note_fault(executor, number, info, context);
        executor->in_kernel = 0;
        errno = saved;
        mr_fiber_abandon_in_signal(&executor->home, context);
        return;
    }
    if (state.guard && !sent && (number == SIGSEGV || number == SIGBUS)) {
        const ucontext_t *interrupted = context;
        pthread_sigmask(SIG_SETMASK, &interrupted->uc_sigmask, NULL);
        siglongjmp(*state.guard, 1);
    }
    pass_on(number, info, context);
    errno = saved;
}

/* Puts ours in front of whatever is in place. Call with chain_lock held. */
static void install_one(unsigned slot)
{
    MR_HELD(&chain_lock);
    struct chain *chain = &chains[slot];
    struct sigaction now;
    if (sigaction(our_signals[slot], NULL, &now) != 0 || is_ours(&now))
        return;
    unsigned count = atomic_load_explicit(&chain->count, memory_order_relaxed);
    bool plain_default = !(now.sa_flags & SA_SIGINFO) && now.sa_handler == SIG_DFL;
    if (plain_default && count > 0) {
        /* The program took our handler away and wants the default action from now on. */
        atomic_store_explicit(&chain->count, 0, memory_order_release);
        count = 0;
    }
    /* A handler that we know already has been put back: those that came after it are gone. */
    for (unsigned i = 0; i < count; i++)
        if (same_handler(&chain->before[i], &now)) {
            atomic_store_explicit(&chain->count, i, memory_order_release);
            count = i;
        }
    if (count == CHAIN_MAX) {
        mr_log(
            MR_LOG_WARN,
            "signal %d: the program has installed more than %u handlers; faults of kernels may reach the latest of them",
            our_signals[slot], CHAIN_MAX);
        return;
    }
    if (!plain_default) {
        chain->before[count] = now;
        atomic_store_explicit(&chain->count, count + 1, memory_order_release);
    }
    struct sigaction ours = {.sa_sigaction = on_signal,
                             .sa_flags = SA_SIGINFO | SA_ONSTACK | (now.sa_flags & SA_RESTART)};
    sigemptyset(&ours.sa_mask);
    sigaction(our_signals[slot], &ours, NULL);
}

static void look(unsigned slots)
{
    mr_lock_take(&chain_lock);
    for (unsigned i = 0; i < slots; i++)
        install_one(i);
    mr_lock_drop(&chain_lock);
}

void mr_fault_recheck(void)
{
    look(SIGNAL_COUNT);
    atomic_store_explicit(&installed, true, memory_order_release);
}

/* True once for each time that `*due` passes, and puts it off by `interval`. */
static bool is_due(_Atomic uint64_t *due, uint64_t now, uint64_t interval)
{
    uint64_t before = atomic_load_explicit(due, memory_order_relaxed);
    return now >= before && atomic_compare_exchange_strong_explicit(due, &before, now + interval, memory_order_relaxed,
                                                                    memory_order_relaxed);
}

/* Before generated code or a guarded copy runs: are our handlers still in place, as far as a few nanoseconds can tell?
 */
static void recheck_if_due(uint64_t now)
{
    if (is_due(&next_look_at_all, now, RECHECK_ALL_NS))
        mr_fault_recheck();
    else if (is_due(&next_look, now, RECHECK_FIRST_NS))
        look(1);
}

void mr_fault_set_retry(bool (*again)(uintptr_t address))
{
    atomic_store_explicit(&retry, again, memory_order_release);
    mr_fault_recheck();
}

void mr_fault_install(void)
{
    if (!atomic_load_explicit(&installed, memory_order_acquire))
        mr_fault_recheck();
}

void mr_fault_launch_near(void)
{
    if (atomic_load_explicit(&installed, memory_order_acquire))
        mr_fault_recheck();
}

static size_t signal_stack_bytes(void)
{
    size_t least = (size_t)getauxval(AT_MINSIGSTKSZ);
    return SIGNAL_STACK + ((least + 4095) & ~(size_t)4095);
}

void *mr_fault_thread_begin(void)
{
    stack_t present;
    mr_fault_install();
    if (sigaltstack(NULL, &present) != 0 || !(present.ss_flags & SS_DISABLE))
        return NULL;
    size_t bytes = signal_stack_bytes();
    void *stack = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (stack == MAP_FAILED)
        return NULL;
    stack_t ours = {.ss_sp = stack, .ss_size = bytes};
    if (sigaltstack(&ours, NULL) == 0)
        return stack;
    munmap(stack, bytes);
    return NULL;
}

void mr_fault_thread_end(void *signal_stack)
{
    stack_t present;
    if (!signal_stack)
        return;
    if (sigaltstack(NULL, &present) == 0 && present.ss_sp == signal_stack && !(present.ss_flags & SS_DISABLE)) {
        stack_t none = {.ss_flags = SS_DISABLE};
        sigaltstack(&none, NULL);
    }
    munmap(signal_stack, signal_stack_bytes());
}

void mr_fault_thread_check(struct mr_executor *executor)
{
    uint64_t now = mr_clock_ns();
    recheck_if_due(now);
    if (now - executor->signal_stack_checked < RECHECK_ALL_NS)
        return;
    executor->signal_stack_checked = now;
    stack_t present;
    if (sigaltstack(NULL, &present) != 0 || !(present.ss_flags & SS_DISABLE))
        return;
    /* Somebody switched the thread's signal stack off: ours, or their own that we had found. */
    if (!executor->signal_stack)
        executor->signal_stack = mr_fault_thread_begin();
    else {
        stack_t ours = {.ss_sp = executor->signal_stack, .ss_size = signal_stack_bytes()};
        sigaltstack(&ours, NULL);
    }
}

CUresult mr_fault_guard(void (*work)(void *data), void *data)
{
    sigjmp_buf back;
    mr_fault_install();
    recheck_if_due(mr_clock_ns());
    if (sigsetjmp(back, 0) != 0) {
        state.guard = NULL;
        return CUDA_ERROR_ILLEGAL_ADDRESS;
    }
    state.guard = &back;
    atomic_signal_fence(memory_order_seq_cst);
    work(data);
    atomic_signal_fence(memory_order_seq_cst);
    state.guard = NULL;
    return CUDA_SUCCESS;
}
