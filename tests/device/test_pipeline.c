/* SPDX-License-Identifier: Apache-2.0 */
/* cuda::pipeline of a block and of a thread, cuda::barrier in every memory, cuda::atomic: compiled for an architecture
 * with mbarrier and for one without. */
#include <string.h>

#include "device_support.h"

#define THREADS 96
#define BATCHES 7

static int begin(void **state)
{
    (void)state;
    return begin_with("DEVICE_PIPELINE_PTX");
}

/* Runs a kernel over `words` numbers that are 5 n + 1. */
static void run(const char *name, int words, int *out)
{
    int in[THREADS * BATCHES], batches = BATCHES;
    CUdeviceptr from, to;
    for (int i = 0; i < words; i++)
        in[i] = 5 * i + 1;
    OK(cuMemAlloc(&from, sizeof in));
    OK(cuMemAlloc(&to, sizeof in));
    OK(cuMemcpyHtoD(from, in, sizeof in));
    OK(cuMemsetD8(to, 0, sizeof in));
    OK(cuLaunchKernel(function_of(name), 1, 1, 1, THREADS, 1, 1, 3 * THREADS * sizeof(int), NULL,
                      (void *[]){&to, &from, &batches}, NULL));
    OK(cuMemcpyDtoH(out, to, sizeof in));
    OK(cuMemFree(from));
    OK(cuMemFree(to));
}

static void all_fill_and_read(void **state)
{
    int out[THREADS * BATCHES];
    (void)state;
    run("unified", THREADS * BATCHES, out);
    for (int i = 0; i < BATCHES; i++)
        for (int me = 0; me < THREADS; me++)
            assert_int_equal(out[i * THREADS + me], 2 * (5 * (i * THREADS + (me + 37) % THREADS) + 1));
}

static void threads_that_leave(void **state)
{
    int out[THREADS * BATCHES];
    (void)state;
    run("leave", THREADS * BATCHES, out);
    const int expected[4] = {1, 1, 0, 0};
    for (int i = 0; i < 4; i++)
        assert_int_equal(out[i], expected[i]);
}

static void some_fill_others_read(void **state)
{
    int out[THREADS * BATCHES], readers = THREADS - 32;
    (void)state;
    for (int way = 0; way < 2; way++) {
        run(way ? "by_role" : "by_number", readers * BATCHES, out);
        for (int i = 0; i < BATCHES; i++)
            for (int me = 0; me < readers; me++)
                assert_int_equal(out[i * readers + me], 3 * (5 * (i * readers + readers - 1 - me) + 1));
    }
}

static void one_threads_own(void **state)
{
    int out[THREADS * BATCHES];
    (void)state;
    run("own", THREADS * BATCHES, out);
    for (int i = 0; i < BATCHES; i++)
        for (int me = 0; me < THREADS; me++)
            assert_int_equal(out[i * THREADS + me], 5 * (i * THREADS + me) + 1 + 5 * (i * THREADS + (me ^ 1)) + 1);
}

static void blocks_meet(void **state)
{
    int blocks = 3, threads = 64, all = blocks * threads, rounds = 9, right = 0;
    CUdeviceptr barrier, words, count;
    (void)state;
    OK(cuMemAlloc(&barrier, 64));
    OK(cuMemAlloc(&words, sizeof(int) * (size_t)all));
    OK(cuMemAlloc(&count, sizeof right));
    OK(cuMemcpyHtoD(count, &right, sizeof right));
    OK(cuLaunchKernel(function_of("set_up"), 1, 1, 1, 1, 1, 1, 0, NULL, (void *[]){&barrier, &all}, NULL));
    OK(cuLaunchCooperativeKernel(function_of("meet"), (unsigned)blocks, 1, 1, (unsigned)threads, 1, 1, 0, NULL,
                                 (void *[]){&barrier, &words, &count, &rounds}));
    OK(cuMemcpyDtoH(&right, count, sizeof right));
    assert_int_equal(right, all * rounds * 2);
    OK(cuMemFree(barrier));
    OK(cuMemFree(words));
    OK(cuMemFree(count));
}

#define STARTS(type) {0, (type)49, 0, 0, 0}
static void atomics(void **state)
{
    int blocks = 4, ints[5] = STARTS(int), again[5];
    double doubles[5] = STARTS(double), more[5];
    unsigned short shorts[5] = STARTS(unsigned short), few[5];
    unsigned count = 0;
    CUdeviceptr p;
    (void)state;
    OK(cuMemAlloc(&p, 256));
    CUdeviceptr at[4] = {p, p + 64, p + 128, p + 192};
    OK(cuMemcpyHtoD(at[0], ints, sizeof ints));
    OK(cuMemcpyHtoD(at[1], doubles, sizeof doubles));
    OK(cuMemcpyHtoD(at[2], shorts, sizeof shorts));
    OK(cuMemcpyHtoD(at[3], &count, sizeof count));
    OK(cuLaunchKernel(function_of("atomics"), (unsigned)blocks, 1, 1, 128, 1, 1, 0, NULL,
                      (void *[]){&at[0], &at[1], &at[2], &at[3]}, NULL));
    OK(cuMemcpyDtoH(again, at[0], sizeof again));
    OK(cuMemcpyDtoH(more, at[1], sizeof more));
    OK(cuMemcpyDtoH(few, at[2], sizeof few));
    OK(cuMemcpyDtoH(&count, at[3], sizeof count));
    assert_int_equal(count, 512);
    assert_int_equal(again[0], 512);
    assert_int_equal(again[1], 0);
    assert_int_equal(again[2], 49);
    assert_int_equal(again[3], 512);
    assert_int_equal(again[4], blocks * (1 + 256));
    for (int i = 0; i < 4; i++)
        assert_true(more[i] == again[i] && few[i] == again[i]);
    OK(cuMemFree(p));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_fill_and_read),  cmocka_unit_test(some_fill_others_read),
        cmocka_unit_test(threads_that_leave), cmocka_unit_test(one_threads_own),
        cmocka_unit_test(blocks_meet),        cmocka_unit_test(atomics),
    };
    return cmocka_run_group_tests(tests, begin, NULL);
}
