/* SPDX-License-Identifier: Apache-2.0 */
/* The program's own signal handlers beside the driver's: installed before, after, with and without flags, leaving by
 * siglongjmp, chaining to ours, and the default action. Each case runs in a child process, so that every chain starts
 * empty and a death can be looked at. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/alloc.h"
#include "kernel/fault.h"
#include "kernel_double.h"

static volatile sig_atomic_t calls, last_signal, mask_held;
static sigjmp_buf escape;
static struct sigaction replaced;
static volatile char *page;

static void bad_kernel(struct mr_block *block, uint32_t first, uint32_t end)
{
    (void)block;
    (void)first;
    (void)end;
    volatile uintptr_t address = 16;
    *(volatile int *)address = 1;
}

static CUresult kernel_fault(void)
{
    struct mr_context *context = double_context();
    struct mr_launch *launch = double_launch(context, bad_kernel, 0, 1, 32, NULL, 0);
    CUresult status = double_run(launch);
    double_launch_free(launch);
    mr_free(context);
    return status;
}

struct copy {
    void *to;
    const void *from;
};

static void bad_copy(void *data)
{
    const struct copy *copy = data;
    memcpy(copy->to, copy->from, 64);
}

static void own_fault(void)
{
    *page = 1;
}

static void counting(int number, siginfo_t *info, void *context)
{
    sigset_t mask;
    (void)context;
    calls++;
    last_signal = number;
    pthread_sigmask(SIG_SETMASK, NULL, &mask);
    mask_held = sigismember(&mask, SIGUSR1) && sigismember(&mask, number);
    /* Makes the access good, so that the program goes on after it. */
    if ((uintptr_t)info->si_addr == (uintptr_t)page)
        mprotect((void *)(uintptr_t)page, 4096, PROT_READ | PROT_WRITE);
}

static void counting_plain(int number)
{
    calls++;
    last_signal = number;
    mprotect((void *)(uintptr_t)page, 4096, PROT_READ | PROT_WRITE);
}

static void escaping(int number, siginfo_t *info, void *context)
{
    (void)number;
    (void)info;
    (void)context;
    calls++;
    siglongjmp(escape, 1);
}

static void chaining(int number, siginfo_t *info, void *context)
{
    calls += 10;
    replaced.sa_sigaction(number, info, context);
}

static void install(void (*handler)(int, siginfo_t *, void *), int flags, struct sigaction *old)
{
    struct sigaction action = {.sa_sigaction = handler, .sa_flags = SA_SIGINFO | flags};
    sigemptyset(&action.sa_mask);
    sigaddset(&action.sa_mask, SIGUSR1);
    sigaction(SIGSEGV, &action, old);
}

static void protect(void)
{
    mprotect((void *)(uintptr_t)page, 4096, PROT_NONE);
}

#define CHECK(condition) \
    do { \
        if (!(condition)) \
            _exit(100 + (__LINE__ % 100)); \
    } while (0)

static void handler_from_before(void)
{
    install(counting, 0, NULL);
    CHECK(kernel_fault() == CUDA_ERROR_ILLEGAL_ADDRESS && calls == 0);
    own_fault();
    CHECK(calls == 1 && last_signal == SIGSEGV && mask_held);
    protect();
    own_fault();
    CHECK(calls == 2);
    CHECK(kernel_fault() == CUDA_ERROR_ILLEGAL_ADDRESS && calls == 2);
}

static void handler_from_after(void)
{
    CHECK(kernel_fault() == CUDA_ERROR_ILLEGAL_ADDRESS);
    install(counting, SA_ONSTACK, NULL);
    own_fault();
    CHECK(calls == 1);
    CHECK(kernel_fault() == CUDA_ERROR_ILLEGAL_ADDRESS && calls == 1);
    protect();
    own_fault();
    CHECK(calls == 2 && mask_held);
}

/* With nobody to tell the driver: it looks by itself. */
static void handler_is_noticed(void)
{
    static char to[64];
    struct mr_context *context = double_context();
    struct mr_launch *launch = double_launch(context, bad_kernel, 0, 1, 32, NULL, 0);
    struct copy copy = {to, (const void *)(uintptr_t)page};
    CHECK(mr_launch_run_blocks(launch, 0, 1, 0) == CUDA_ERROR_ILLEGAL_ADDRESS);
    install(counting, SA_ONSTACK, NULL);
    usleep(10000);
    CHECK(mr_fault_guard(bad_copy, &copy) == CUDA_ERROR_ILLEGAL_ADDRESS && calls == 0);
    install(counting, 0, NULL);
    usleep(10000);
    atomic_store(&context->error, CUDA_SUCCESS);
    CHECK(mr_launch_run_blocks(launch, 0, 1, 0) == CUDA_ERROR_ILLEGAL_ADDRESS && calls == 0);
    own_fault();
    CHECK(calls == 1);
}

static void plain_handler(void)
{
    signal(SIGSEGV, counting_plain);
    CHECK(kernel_fault() == CUDA_ERROR_ILLEGAL_ADDRESS && calls == 0);
    own_fault();
    CHECK(calls == 1 && last_signal == SIGSEGV);
}

static void handler_that_escapes(void)
{
    install(escaping, 0, NULL);
    for (volatile int i = 1; i <= 5; i++) {
        CHECK(kernel_fault() == CUDA_ERROR_ILLEGAL_ADDRESS);
        if (sigsetjmp(escape, 1) == 0)
            own_fault();
        CHECK(calls == i);
    }
}

static void handler_that_chains_to_ours(void)
{
    install(counting, 0, NULL);
    CHECK(kernel_fault() == CUDA_ERROR_ILLEGAL_ADDRESS);
    install(chaining, 0, &replaced);
    CHECK(kernel_fault() == CUDA_ERROR_ILLEGAL_ADDRESS && calls == 0);
    own_fault();
    CHECK(calls == 11);
    protect();
    own_fault();
    CHECK(calls == 22);
}

static void handler_that_chains_before_we_look(void)
{
    CHECK(kernel_fault() == CUDA_ERROR_ILLEGAL_ADDRESS);
    install(chaining, 0, &replaced);
    own_fault();
}

static void sent_signals_reach_the_program(void)
{
    install(counting, 0, NULL);
    CHECK(kernel_fault() == CUDA_ERROR_ILLEGAL_ADDRESS);
    raise(SIGSEGV);
    CHECK(calls == 1);
    kill(getpid(), SIGSEGV);
    CHECK(calls == 2);
}

static void one_shot_handler(void)
{
    install(counting, (int)SA_RESETHAND, NULL);
    CHECK(kernel_fault() == CUDA_ERROR_ILLEGAL_ADDRESS);
    own_fault();
    CHECK(calls == 1);
    protect();
    own_fault();
}

static void default_action(void)
{
    CHECK(kernel_fault() == CUDA_ERROR_ILLEGAL_ADDRESS);
    own_fault();
}

static void default_action_of_sent_signal(void)
{
    CHECK(kernel_fault() == CUDA_ERROR_ILLEGAL_ADDRESS);
    raise(SIGFPE);
}

static void default_asked_for_later(void)
{
    install(counting, 0, NULL);
    CHECK(kernel_fault() == CUDA_ERROR_ILLEGAL_ADDRESS);
    signal(SIGSEGV, SIG_DFL);
    CHECK(kernel_fault() == CUDA_ERROR_ILLEGAL_ADDRESS);
    own_fault();
}

static void ignored_signals_stay_ignored(void)
{
    signal(SIGFPE, SIG_IGN);
    CHECK(kernel_fault() == CUDA_ERROR_ILLEGAL_ADDRESS);
    raise(SIGFPE);
}

static void the_program_s_signal_stack_stays(void)
{
    static char stack[64 << 10];
    stack_t theirs = {.ss_sp = stack, .ss_size = sizeof stack}, now;
    sigaltstack(&theirs, NULL);
    CHECK(kernel_fault() == CUDA_ERROR_ILLEGAL_ADDRESS);
    sigaltstack(NULL, &now);
    CHECK(now.ss_sp == stack);
}

/* Runs `body` in a child; 0 = it must end well, else the signal that must kill it. */
static void in_child(void (*body)(void), int death)
{
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        static const int used[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL};
        for (size_t i = 0; i < sizeof used / sizeof used[0]; i++)
            signal(used[i], SIG_DFL);
        setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
        page = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        alarm(20);
        body();
        _exit(0);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    if (death) {
        assert_true(WIFSIGNALED(status));
        assert_int_equal(WTERMSIG(status), death);
    } else {
        assert_true(WIFEXITED(status));
        assert_int_equal(WEXITSTATUS(status), 0);
    }
}

#define CASE(body, death) \
    static void case_##body(void **unused) \
    { \
        (void)unused; \
        in_child(body, death); \
    }
CASE(handler_from_before, 0)
CASE(handler_from_after, 0)
CASE(handler_is_noticed, 0)
CASE(plain_handler, 0)
CASE(handler_that_escapes, 0)
CASE(handler_that_chains_to_ours, 0)
CASE(handler_that_chains_before_we_look, SIGSEGV)
CASE(sent_signals_reach_the_program, 0)
CASE(one_shot_handler, SIGSEGV)
CASE(default_action, SIGSEGV)
CASE(default_action_of_sent_signal, SIGFPE)
CASE(default_asked_for_later, SIGSEGV)
CASE(ignored_signals_stay_ignored, 0)
CASE(the_program_s_signal_stack_stays, 0)

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(case_handler_from_before),
        cmocka_unit_test(case_handler_from_after),
        cmocka_unit_test(case_handler_is_noticed),
        cmocka_unit_test(case_plain_handler),
        cmocka_unit_test(case_handler_that_escapes),
        cmocka_unit_test(case_handler_that_chains_to_ours),
        cmocka_unit_test(case_handler_that_chains_before_we_look),
        cmocka_unit_test(case_sent_signals_reach_the_program),
        cmocka_unit_test(case_one_shot_handler),
        cmocka_unit_test(case_default_action),
        cmocka_unit_test(case_default_action_of_sent_signal),
        cmocka_unit_test(case_default_asked_for_later),
        cmocka_unit_test(case_ignored_signals_stay_ignored),
        cmocka_unit_test(case_the_program_s_signal_stack_stays),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
