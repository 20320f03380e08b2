/* SPDX-License-Identifier: Apache-2.0 */
/* Cooperative groups of several warps, scans that update, and clusters of one block: what each thread has to find. */
#include <cuda.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define OK(call) assert_int_equal(call, CUDA_SUCCESS)
#define THREADS 512
#define ROWS 22
#define TOTALS (16 + THREADS / 8)

static CUmodule module;

static int set_up(void **state)
{
    CUcontext context;
    (void)state;
    OK(cuInit(0));
    OK(cuCtxCreate_v4(&context, NULL, 0, 0));
    OK(cuModuleLoad(&module, getenv("DEVICE_GROUPS_PTX")));
    return 0;
}

static int sum_of(int first, int end, int modulus, int add)
{
    int sum = 0;
    for (int i = first; i < end; i++)
        sum += i % modulus + add;
    return sum;
}

/* Scans hand the later thread's value to the operation first. */
static unsigned composed(int first, int last)
{
    unsigned f = (unsigned)((last % 5 + 1) << 16 | last % 7);
    for (int i = last - 1; i >= first; i--) {
        unsigned factor = (unsigned)(i % 5 + 1), term = (unsigned)(i % 7);
        f = ((f >> 16) * factor & 0xffff) << 16 | (((f & 0xffff) * factor + term) & 0xffff);
    }
    return f;
}

static float number(int i)
{
    return 1.1f * (float)(i * i % 1009) + 0.3f;
}

static int bits(float x)
{
    int result;
    memcpy(&result, &x, sizeof result);
    return result;
}

/* Both in the order of NVIDIA's headers: halves of a group added lane by lane; sums of the 1, 2, 4, … ranks before. */
static float folded(float *x, int count)
{
    for (int half = count / 2; half > 0; half /= 2)
        for (int i = 0; i < half; i++)
            x[i] += x[i + half];
    return x[0];
}
static void scanned(float *x, int count)
{
    for (int by = 1; by < count; by *= 2)
        for (int i = count - 1; i >= by; i--)
            x[i] += x[i - by];
}

static int right_sum(int row, int me)
{
    float x[32], parts[THREADS / 32];
    int count = 0;
    for (int warp = 0; warp < THREADS / 32; warp++) {
        for (int i = 0; i < 32; i++)
            x[i] = number(warp * 32 + i);
        parts[warp] = folded(x, 32);
    }
    for (int i = 0; i < 32; i++)
        x[i] = number(me / 32 * 32 + i);
    switch (row) {
    case 18:
        return bits(parts[me / 32]);
    case 19:
        scanned(x, 32);
        for (int warp = me / 128 * 4; warp < me / 32; warp++) {
            float other[32];
            for (int i = 0; i < 32; i++)
                other[i] = number(warp * 32 + i);
            scanned(other, 32);
            parts[count++] = other[31];
        }
        scanned(parts, count);
        return bits(count == 0 ? x[me % 32] : x[me % 32] + parts[count - 1]);
    case 20:
        return bits(folded(parts, THREADS / 32));
    default:
        if (me % 3 == 1)
            return 0;
        for (int i = 0; i < 32; i++)
            if ((me / 32 * 32 + i) % 3 != 1)
                x[count++] = number(me / 32 * 32 + i);
        scanned(x, count);
        return bits(x[count - 1]);
    }
}

static int right(int row, int me)
{
    int in64 = me / 64 * 64, in128 = me / 128 * 128, in256 = me / 256 * 256, eight = me / 8 * 8;
    switch (row) {
    case 0:
        return me % 64 + 100 * (me / 64) + 10000 * (THREADS / 64);
    case 1:
        return in128 + 77;
    case 2:
        return (in256 == 256) + 2 * (in256 == 256) + 4 * (in64 == 64) + 8 * (in64 < 128);
    case 3:
        return sum_of(in64, in64 + 64, THREADS, 0);
    case 4:
        return THREADS - 1;
    case 5:
        return sum_of(in128, me + 1, THREADS, 0);
    case 6:
        return sum_of(in256, me, 7, 1);
    case 7:
        return in64 + 9;
    case 8:
        return me % 128 / 32 + 10 * 4 + 100 * (me % 128 / 64) + 1000 * 2 + 10000 * (in64 + 5);
    case 9:
        return me % 128 / 64 + 10 * 2 + 100 * 64;
    case 10:
        return in64 + (me + 50) % 64 + 50;
    case 11:
        return me % 32 / 8 + 10 * 4 + 100 * (me / 32);
    case 12:
        return 1000 * (me / 64) + sum_of(in64, me + 1, 3, 0);
    case 13:
        return 1000 * (16 + me / 8) + sum_of(eight, me, 5, 0);
    case 14:
        return (int)composed(in128, me);
    case 15:
        return sum_of(in128, in128 + 128, THREADS, 0);
    case 16:
        return me % 16 + 1000 * (me / 16) + 100000 * 16;
    case 17:
        return 32;
    default:
        return right_sum(row, me);
    }
}

static void test_large_groups(void **state)
{
    static int results[ROWS][THREADS], totals[TOTALS];
    CUfunction function;
    CUdeviceptr out, sums, in;
    float numbers[THREADS];
    (void)state;
    if (cuModuleGetFunction(&function, module, "large_groups") != CUDA_SUCCESS)
        skip(); /* cuda::atomic is for 7.0 and later */
    for (int i = 0; i < TOTALS; i++)
        totals[i] = 1000 * i;
    for (int i = 0; i < THREADS; i++)
        numbers[i] = number(i);
    OK(cuMemAlloc(&out, sizeof results));
    OK(cuMemAlloc(&sums, sizeof totals));
    OK(cuMemcpyHtoD(sums, totals, sizeof totals));
    OK(cuMemAlloc(&in, sizeof numbers));
    OK(cuMemcpyHtoD(in, numbers, sizeof numbers));
    OK(cuLaunchKernel(function, 1, 1, 1, 16, THREADS / 16, 1, 0, NULL, (void *[]){&out, &sums, &in}, NULL));
    OK(cuMemcpyDtoH(results, out, sizeof results));
    OK(cuMemcpyDtoH(totals, sums, sizeof totals));
    for (int row = 0; row < ROWS; row++)
        for (int me = 0; me < THREADS; me++)
            if (results[row][me] != right(row, me))
                fail_msg("row %d, thread %d: %d in place of %d", row, me, results[row][me], right(row, me));
    for (int i = 0; i < 8; i++)
        assert_int_equal(totals[i], 1000 * i + sum_of(64 * i, 64 * i + 64, 3, 0));
    for (int i = 0; i < THREADS / 8; i++)
        assert_int_equal(totals[16 + i], 1000 * (16 + i) + sum_of(8 * i, 8 * i + 8, 5, 0));
    OK(cuMemFree(out));
    OK(cuMemFree(sums));
    OK(cuMemFree(in));
}

static void test_large_blocks(void **state)
{
    enum { MOST = 1024, KINDS = 6 };
    static const unsigned sizes[] = {1024, 640, 256};
    static int results[KINDS * MOST];
    CUfunction function;
    CUdeviceptr out;
    (void)state;
    OK(cuModuleGetFunction(&function, module, "large_blocks"));
    OK(cuMemAlloc(&out, sizeof results));
    for (int i = 0; i < 3; i++) {
        int size = (int)sizes[i];
        OK(cuLaunchKernel(function, 3, 1, 1, sizes[i], 1, 1, 0, NULL, (void *[]){&out}, NULL));
        OK(cuMemcpyDtoH(results, out, sizeof results));
        for (int me = 0; me < size; me++) {
            int in64 = me / 64 * 64, in128 = me / 128 * 128, sum = 20 * in64 + 190 + 20 * in128 + 380;
            int rung = in64 + (me + 50) % 64 + 50;
            int right_ones[KINDS] = {rung, 64 * in64 + 2016, rung, sum, sum_of(in64, me + 1, MOST, 0), sum + me / 64};
            for (int kind = 0; kind < KINDS; kind++)
                if (results[kind * size + me] != right_ones[kind])
                    fail_msg("block of %d, kind %d, thread %d: %d in place of %d", size, kind, me,
                             results[kind * size + me], right_ones[kind]);
        }
    }
    OK(cuMemFree(out));
}

static void test_grid_meets(void **state)
{
    enum { GRID = 5, SIZE = 64, ALL = GRID * SIZE };
    static int results[ALL];
    CUfunction function;
    CUdeviceptr out, rooms;
    (void)state;
    OK(cuModuleGetFunction(&function, module, "grid_meets"));
    OK(cuMemAlloc(&out, sizeof results));
    OK(cuMemAlloc(&rooms, sizeof results));
    OK(cuLaunchCooperativeKernel(function, GRID, 1, 1, SIZE, 1, 1, 0, NULL, (void *[]){&rooms, &out}));
    OK(cuMemcpyDtoH(results, out, sizeof results));
    for (int me = 0; me < ALL; me++)
        assert_int_equal(results[me], (me + 330) % ALL + 10);
    OK(cuMemFree(out));
    OK(cuMemFree(rooms));
}

#define CLUSTERS 3
#define CLUSTER_SIZE 64
#define CLUSTER_ALL (CLUSTERS * CLUSTER_SIZE)
static unsigned found[16][CLUSTER_ALL];

/* In PTX for 9.0 alone. */
static void ask_clusters(const char *name)
{
    CUfunction function;
    CUdeviceptr out;
    if (cuModuleGetFunction(&function, module, name) != CUDA_SUCCESS)
        skip();
    OK(cuMemAlloc(&out, sizeof found));
    OK(cuLaunchKernel(function, CLUSTERS, 1, 1, CLUSTER_SIZE, 1, 1, 0, NULL, (void *[]){&out}, NULL));
    OK(cuMemcpyDtoH(found, out, sizeof found));
    OK(cuMemFree(out));
}

static void test_clusters(void **state)
{
    (void)state;
    ask_clusters("clusters");
    for (unsigned i = 0; i < CLUSTER_ALL; i++) {
        unsigned block = i / CLUSTER_SIZE, me = i % CLUSTER_SIZE, all = CLUSTER_SIZE;
        const unsigned expected[16] = {0,        1,     me,       all, all,          0,           1, me, all, block,
                                       CLUSTERS, block, CLUSTERS, 0,   1000 + block, 1000 + block};
        for (int row = 0; row < 16; row++)
            assert_int_equal(found[row][i], expected[row]);
    }
}

static void test_cluster_words(void **state)
{
    (void)state;
    ask_clusters("cluster_words");
    for (unsigned i = 0; i < CLUSTER_ALL; i++) {
        unsigned block = i / CLUSTER_SIZE;
        const unsigned expected[16] = {0, 1, 1, 0, block, CLUSTERS, 0, 0, 1000 + block, 1, 1, 0, 0, 0, 5, 1};
        for (int row = 0; row < 16; row++)
            assert_int_equal(found[row][i], expected[row]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_large_groups), cmocka_unit_test(test_large_blocks),
                                       cmocka_unit_test(test_grid_meets), cmocka_unit_test(test_clusters),
                                       cmocka_unit_test(test_cluster_words)};
    return cmocka_run_group_tests(tests, set_up, NULL);
}
