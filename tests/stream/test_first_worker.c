/* SPDX-License-Identifier: Apache-2.0 */
/* The first worker when memory or threads are short: work that only a worker may do (host functions) is done in the end
 * all the same, whichever way the program waits. Each case is a process of its own, because only the first worker's
 * start is of interest. */
#include "support.h"

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/sanitizer.h"

#if defined(MR_ASAN) || defined(MR_TSAN)
#define SANITIZED true
#else
#define SANITIZED false
#endif

static const unsigned policies[] = {CU_CTX_SCHED_AUTO, CU_CTX_SCHED_SPIN, CU_CTX_SCHED_YIELD,
                                    CU_CTX_SCHED_BLOCKING_SYNC};

static void CUDA_CB count(void *data)
{
    atomic_fetch_add((_Atomic int *)data, 1);
}

/* One host function, submitted while `shorten(how)` holds, and waited for. 0 if it ran, or its submission was refused
 * for want of memory. */
static int host_function(unsigned policy, void (*shorten)(uint64_t how), uint64_t how)
{
    _Atomic int ran = 0;
    CUcontext context;
    CUstream stream;
    if (cuInit(0) != CUDA_SUCCESS || cuCtxCreate_v2(&context, policy, 0) != CUDA_SUCCESS ||
        cuStreamCreate(&stream, 0) != CUDA_SUCCESS)
        return 2;
    shorten(how);
    CUresult put = cuLaunchHostFunc(stream, count, &ran);
    sched_yield();
    shorten(0);
    CUresult waited = cuStreamSynchronize(stream);
    if (put != CUDA_SUCCESS)
        return put == CUDA_ERROR_OUT_OF_MEMORY && waited == CUDA_SUCCESS && atomic_load(&ran) == 0 ? 0 : 3;
    return waited == CUDA_SUCCESS && atomic_load(&ran) == 1 ? 0 : 4;
}

static void in_child(unsigned policy, void (*shorten)(uint64_t how), uint64_t how)
{
    pid_t child = fork();
    int status = -1;
    if (child == 0) {
        alarm(100);
        _exit(host_function(policy, shorten, how));
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
}

/* Whoever makes the allocation: the caller or the worker on its first steps. */
static void test_memory_is_short(void **state)
{
    (void)state;
    for (unsigned i = 0; i < sizeof policies / sizeof *policies; i++)
        for (uint64_t n = 1; n < 10; n++)
            in_child(policies[i], mr_alloc_fail_after, n);
}

/* No new mapping, so no new thread's stack, while `how` isn't 0. */
static void no_more_mappings(uint64_t how)
{
    struct rlimit limit;
    getrlimit(RLIMIT_AS, &limit);
    limit.rlim_cur = how ? 4096 : limit.rlim_max;
    setrlimit(RLIMIT_AS, &limit);
}

static void test_threads_are_short(void **state)
{
    (void)state;
    if (SANITIZED)
        skip(); /* a sanitizer's runtime needs mappings of its own */
    for (unsigned i = 0; i < sizeof policies / sizeof *policies; i++)
        in_child(policies[i], no_more_mappings, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_memory_is_short),
                                       cmocka_unit_test(test_threads_are_short)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
