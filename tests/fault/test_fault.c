/* SPDX-License-Identifier: Apache-2.0 */
/* Faults of kernels, contained: each kind, in each way of running blocks, on the program's thread and on others; and
 * the guard for host copies. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/log.h"
#include "base/alloc.h"
#include "kernel/fault.h"
#include "kernel_double.h"

enum {
    NONE,
    READ,
    WRITE,
    WILD,
    TRAP,
    BREAKPOINT,
    BAD_CALL,
    RECURSE,
    DIVIDE,
    ILLEGAL,
    ASSERTION,
    SHARED_END,
    SHARED_NEGATIVE,
    MISALIGNED,
    BAD_FORMAT,
    BAD_TEXT
};

struct args {
    uint32_t what, where;
};

static uint32_t sink;

static __attribute__((noinline)) uint32_t recurse(volatile uint32_t *depth)
{
    volatile unsigned char frame[3000];
    frame[*depth % 3000] = 1;
    if (++*depth == UINT32_MAX)
        return 0;
    return recurse(depth) + frame[*depth % 3000];
}

/* Lane 0 prints; the format, or the text for its %s, is at an address where nothing is. */
static void print_from(struct mr_block *block, const char *format, const char *text)
{
    const char *packed[] = {text};
    uint64_t formats[32] = {(uint64_t)(uintptr_t)format}, arguments[32] = {(uint64_t)(uintptr_t)packed};
    int32_t results[32];
    block->runtime->print(block, 1, formats, arguments, results);
}

/* Does the deed in warp `where` of each block, after a barrier if there are several warps. Several threads write to the
 * same wrong place, which ThreadSanitizer need not say. */
static __attribute__((no_sanitize_thread)) void deed(struct mr_block *block, uint32_t first, uint32_t end)
{
    const struct args *args = (const struct args *)block->params;
    volatile uint32_t zero = 0;
    if (end == first + 1)
        block->runtime->barrier_sync(block, 0, 0, UINT32_MAX, 0, 0);
    if (args->where < first || args->where >= end) {
        block->runtime->barrier_sync(block, 0, 0, UINT32_MAX, 0, 0);
        return;
    }
    switch (args->what) {
    case READ:
        sink = *(volatile uint32_t *)(uintptr_t)(64 + zero);
        break;
    case WRITE:
        *(volatile uint32_t *)(uintptr_t)(4096 + zero) = 1;
        break;
    case WILD:
        sink = *(volatile uint32_t *)((uintptr_t)0xdead000000000000 + zero);
        break;
    case TRAP:
        block->runtime->trap(block, MR_TRAP_TRAP, 7);
        break;
    case BREAKPOINT:
        block->runtime->trap(block, MR_TRAP_BREAKPOINT, 0);
        break;
    case BAD_CALL:
        block->runtime->trap(block, MR_TRAP_BAD_CALL, 0);
        break;
    case RECURSE:
        sink = recurse(&(volatile uint32_t){0});
        break;
#if defined(__x86_64__)
    case DIVIDE:
        __asm__ volatile("xorl %%edx, %%edx; xorl %%ecx, %%ecx; movl $1, %%eax; divl %%ecx" ::
                             : "eax", "ecx", "edx", "cc");
        break;
#else
    case DIVIDE:
        raise(SIGFPE);
        break;
#endif
    case ILLEGAL:
        __builtin_trap();
    case ASSERTION:
        block->runtime->assert_fail(block, "x > 0", "file.cu", 12, "kernel", 5);
        break;
    case SHARED_END:
        block->shared[(block->shared_size + 255) / 256 * 256 + zero] = 1;
        break;
    case SHARED_NEGATIVE:
        block->shared[(uint32_t)-4 + zero] = 1;
        break;
    case MISALIGNED:
        block->runtime->trap(block, MR_TRAP_MISALIGNED, 3);
        break;
    case BAD_FORMAT:
        print_from(block, (const char *)(uintptr_t)8, NULL);
        break;
    case BAD_TEXT:
        print_from(block, "%s", (const char *)(uintptr_t)16);
        break;
    default:
        break;
    }
    block->runtime->barrier_sync(block, 0, 0, UINT32_MAX, 0, 0);
}

static CUresult expected_of(uint32_t what)
{
    switch (what) {
    case NONE:
        return CUDA_SUCCESS;
    case READ:
    case WRITE:
    case WILD:
    case BAD_CALL:
    case SHARED_END:
    case SHARED_NEGATIVE:
    case BAD_FORMAT:
    case BAD_TEXT:
        return CUDA_ERROR_ILLEGAL_ADDRESS;
    case RECURSE:
        return CUDA_ERROR_HARDWARE_STACK_ERROR;
    case ILLEGAL:
        return CUDA_ERROR_ILLEGAL_INSTRUCTION;
    case ASSERTION:
        return CUDA_ERROR_ASSERT;
    case MISALIGNED:
        return CUDA_ERROR_MISALIGNED_ADDRESS;
    default:
        return CUDA_ERROR_LAUNCH_FAILED;
    }
}

static CUresult run_deed(uint32_t what, unsigned warps)
{
    struct mr_context *context = double_context();
    struct args args = {what, warps - 1};
    struct mr_launch *launch = double_launch(context, deed, MR_CODE_COOPERATIVE, 3, warps * 32, &args, sizeof args);
    CUresult status = double_run(launch);
    if (mr_context_error(context) != status)
        status = CUDA_ERROR_UNKNOWN;
    double_launch_free(launch);
    mr_free(context);
    return status;
}

static void *all_deeds(void *failures)
{
    static const uint32_t deeds[] = {READ,       WRITE,           WILD,       TRAP,       BREAKPOINT,
                                     BAD_CALL,   RECURSE,         DIVIDE,     ILLEGAL,    ASSERTION,
                                     SHARED_END, SHARED_NEGATIVE, MISALIGNED, BAD_FORMAT, BAD_TEXT};
    for (unsigned warps = 1; warps <= 32; warps += warps < 4 ? 1 : 28)
        for (size_t i = 0; i < sizeof deeds / sizeof deeds[0]; i++) {
            if (run_deed(deeds[i], warps) != expected_of(deeds[i]))
                ++*(unsigned *)failures;
            if (run_deed(NONE, warps) != CUDA_SUCCESS)
                ++*(unsigned *)failures;
        }
    return NULL;
}

/* The assertion's message goes to standard error; keep the test's output readable. */
static int quiet_begin(void)
{
    int saved = dup(STDERR_FILENO), pipes[2];
    if (pipe(pipes) != 0)
        abort();
    dup2(pipes[1], STDERR_FILENO);
    close(pipes[1]);
    return saved << 16 | pipes[0];
}

static void quiet_end(int state, char *text, size_t room)
{
    dup2(state >> 16, STDERR_FILENO);
    close(state >> 16);
    ssize_t length = text ? read(state & 0xffff, text, room - 1) : 0;
    if (text)
        text[length > 0 ? length : 0] = '\0';
    close(state & 0xffff);
}

static void every_fault_is_contained(void **unused)
{
    (void)unused;
    unsigned failures = 0;
    int quiet = quiet_begin();
    all_deeds(&failures);
    quiet_end(quiet, NULL, 0);
    assert_int_equal(failures, 0);
}

static void faults_on_several_threads_at_once(void **unused)
{
    (void)unused;
    pthread_t threads[4];
    unsigned failures[4] = {0};
    int quiet = quiet_begin();
    for (int i = 0; i < 4; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, all_deeds, &failures[i]), 0);
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
    quiet_end(quiet, NULL, 0);
    for (int i = 0; i < 4; i++)
        assert_int_equal(failures[i], 0);
}

static void an_assertion_says_what_failed(void **unused)
{
    (void)unused;
    char text[512];
    int quiet = quiet_begin();
    CUresult status = run_deed(ASSERTION, 1);
    quiet_end(quiet, text, sizeof text);
    assert_int_equal(status, CUDA_ERROR_ASSERT);
    assert_non_null(strstr(text, "file.cu:12: kernel: block: [0,0,0], thread: [5,0,0]"));
    assert_non_null(strstr(text, "Assertion `x > 0` failed."));
}

static void the_signal_mask_is_as_before(void **unused)
{
    (void)unused;
    sigset_t before, after;
    pthread_sigmask(SIG_SETMASK, NULL, &before);
    assert_int_equal(run_deed(READ, 1), CUDA_ERROR_ILLEGAL_ADDRESS);
    assert_int_equal(run_deed(READ, 3), CUDA_ERROR_ILLEGAL_ADDRESS);
    pthread_sigmask(SIG_SETMASK, NULL, &after);
    for (int i = 1; i < 32; i++)
        assert_int_equal(sigismember(&before, i), sigismember(&after, i));
}

/* Deep but bounded recursion must fit once the context's stack limit says so. */
static void deep(struct mr_block *block, uint32_t first, uint32_t end)
{
    volatile unsigned char frame[20u << 20];
    (void)end;
    for (size_t i = sizeof frame; i-- > 0;)
        if (i % 4096 == 0)
            frame[i] = (unsigned char)first;
    ((uint32_t *)block->shared)[0] = frame[4096];
}

static void the_stack_limit_is_honoured(void **unused)
{
    (void)unused;
    struct mr_context *context = double_context();
    context->limits[CU_LIMIT_STACK_SIZE] = 512u << 10;
    for (unsigned threads = 32; threads <= 64; threads += 32) {
        struct mr_launch *launch = double_launch(context, deep, MR_CODE_COOPERATIVE, 1, threads, NULL, 0);
        assert_int_equal(double_run(launch), CUDA_SUCCESS);
        double_launch_free(launch);
    }
    mr_free(context);
}

struct copy {
    void *to;
    const void *from;
    size_t size;
};

static void copy(void *data)
{
    const struct copy *c = data;
    memcpy(c->to, c->from, c->size);
}

static void guarded_copies_fail_with_a_status(void **unused)
{
    (void)unused;
    char a[64] = "source", b[64] = "";
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    char *map = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_ptr_not_equal(map, MAP_FAILED);
    munmap(map + page, page);
    mr_fault_recheck();
    assert_int_equal(mr_fault_guard(copy, &(struct copy){b, a, sizeof a}), CUDA_SUCCESS);
    assert_string_equal(b, "source");
    for (int i = 0; i < 3; i++) {
        assert_int_equal(mr_fault_guard(copy, &(struct copy){map, (char *)16 + i, 64}), CUDA_ERROR_ILLEGAL_ADDRESS);
        assert_int_equal(mr_fault_guard(copy, &(struct copy){map + page - 32, a, sizeof a}),
                         CUDA_ERROR_ILLEGAL_ADDRESS);
    }
    assert_int_equal(mr_fault_guard(copy, &(struct copy){b, map, 64}), CUDA_SUCCESS);
    munmap(map, page);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_fault_is_contained),      cmocka_unit_test(faults_on_several_threads_at_once),
        cmocka_unit_test(an_assertion_says_what_failed), cmocka_unit_test(the_signal_mask_is_as_before),
        cmocka_unit_test(the_stack_limit_is_honoured),   cmocka_unit_test(guarded_copies_fail_with_a_status),
    };
    mr_log_threshold = MR_LOG_ERROR; /* thousands of faults are told otherwise */
    return cmocka_run_group_tests(tests, NULL, NULL);
}
