/* SPDX-License-Identifier: Apache-2.0 */
/* Cooperative groups of the device headers: one kernel writes what each of 128 threads finds; here is what it has to
 * find. */
#include <cuda.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#define OK(call) assert_int_equal(call, CUDA_SUCCESS)
#define THREADS 128
#define ROWS 19

static int right(int row, int me)
{
    int tile = me & ~7, warp = me & ~31, rank = me % 8, sum = 0, count = 0, before = 0, number;
    switch (row) {
    case 0:
        return me;
    case 1:
        return rank + 100 * (me / 8) + 10000 * (THREADS / 8);
    case 2:
        return tile + 3;
    case 3:
        return rank < 2 ? me : me - 2;
    case 4:
        return rank >= 6 ? me : me + 2;
    case 5:
        return tile + (rank ^ 5);
    case 6:
        return 8 * tile + 28;
    case 7:
        return warp + 31;
    case 8:
        return (rank + 1) * tile + rank * (rank + 1) / 2;
    case 9:
        return me % 32;
    case 10:
        for (int i = 0; i < 8; i++)
            sum |= ((tile + i) % 3 == 0) << i;
        return sum;
    case 11:
        return (tile == 8) + 2 * (tile >= 8);
    case 12:
        return 2 * (tile + 7);
    case 13:
    case 14:
        for (int i = warp; i < warp + 32; i++) {
            count += i % 3 == me % 3;
            before += i % 3 == me % 3 && i < me;
            sum += i % 3 == me % 3 ? i : 0;
        }
        number = (me % 3 - warp % 3 + 3) % 3;
        return row == 14 ? sum : count * 100 + before + 10000 * number;
    case 15:
        return 40 + rank / 2;
    case 16:
        return me % 4 == 1 ? 800 + me % 32 / 4 + 9 * 10000 : -1;
    case 17:
        return (me + 1) % THREADS * 3;
    default:
        return me + 1000 * THREADS;
    }
}

static void test_groups(void **state)
{
    static int results[ROWS][THREADS], numbers[THREADS];
    CUcontext context;
    CUmodule module;
    CUfunction function;
    CUdeviceptr in, out;
    (void)state;
    for (int i = 0; i < THREADS; i++)
        numbers[i] = i * 3;
    OK(cuInit(0));
    OK(cuCtxCreate_v4(&context, NULL, 0, 0));
    OK(cuModuleLoad(&module, getenv("DEVICE_GROUPS_PTX")));
    OK(cuModuleGetFunction(&function, module, "groups"));
    OK(cuMemAlloc(&in, sizeof numbers));
    OK(cuMemAlloc(&out, sizeof results));
    OK(cuMemcpyHtoD(in, numbers, sizeof numbers));
    OK(cuLaunchKernel(function, 1, 1, 1, 16, THREADS / 16, 1, 0, NULL, (void *[]){&out, &in}, NULL));
    OK(cuMemcpyDtoH(results, out, sizeof results));
    for (int row = 0; row < ROWS; row++) {
        for (int me = 0; me < THREADS; me++) {
            if (results[row][me] != right(row, me))
                fail_msg("row %d, thread %d: %d, must be %d", row, me, results[row][me], right(row, me));
        }
    }
    OK(cuCtxDestroy(context));
}

static int right_other(int row, int me)
{
    int lane = me % 32, count = 0, rank = 0, warp = me / 32;
    switch (row) {
    case 0:
        return me == 0 ? 127 * 64 : 0;
    case 1:
        return me % 8 + 800 + 10000 * (me % 2) + 200000;
    case 2:
        return 8;
    case 3:
        return warp + 7;
    case 4:
        return 32 * (3 - warp) * 32 + 31 * 16;
    case 5:
        return 5 + 128;
    case 8:
        return 3 * (me % 64 + 1);
    case 9:
        return 1;
    default:
        break;
    }
    if (me % 3 != 0)
        return -1;
    for (int i = 0; i < 32; i++) {
        bool in = (warp * 32 + i) % 3 == 0;
        rank += in && i < lane;
        count += in;
    }
    int parts = (count + 3) / 4, size = rank / 4 < parts - 1 || count % 4 == 0 ? 4 : count % 4;
    return row == 6 ? rank % 4 + 10 * size + 100 * (rank / 4) + 1000 * parts : 3;
}

static void test_other_groups(void **state)
{
    static int results[10][128], numbers[128];
    CUcontext context;
    CUmodule module;
    CUfunction function;
    CUdeviceptr in, out;
    (void)state;
    for (int i = 0; i < 128; i++)
        numbers[i] = i * 3;
    OK(cuInit(0));
    OK(cuCtxCreate_v4(&context, NULL, 0, 0));
    OK(cuModuleLoad(&module, getenv("DEVICE_GROUPS_PTX")));
    OK(cuModuleGetFunction(&function, module, "other_groups"));
    OK(cuMemAlloc(&in, sizeof numbers));
    OK(cuMemAlloc(&out, sizeof results));
    OK(cuMemcpyHtoD(in, numbers, sizeof numbers));
    OK(cuLaunchKernel(function, 1, 1, 1, 128, 1, 1, 0, NULL, (void *[]){&out, &in}, NULL));
    OK(cuMemcpyDtoH(results, out, sizeof results));
    for (int row = 0; row < 10; row++)
        for (int me = 0; me < 128; me++)
            if (results[row][me] != right_other(row, me))
                fail_msg("row %d, thread %d: %d, must be %d", row, me, results[row][me], right_other(row, me));
    OK(cuCtxDestroy(context));
}

static void test_grid(void **state)
{
    enum { BLOCKS = 24, BLOCK = 48, ROUNDS = 6 };
    CUcontext context;
    CUmodule module;
    CUfunction function;
    CUdeviceptr words, right;
    int rounds = ROUNDS
    , count;
    (void)state;
    OK(cuInit(0));
    OK(cuCtxCreate_v4(&context, NULL, 0, 0));
    OK(cuModuleLoad(&module, getenv("DEVICE_GROUPS_PTX")));
    OK(cuModuleGetFunction(&function, module, "grid_rounds"));
    OK(cuMemAlloc(&words, BLOCKS * BLOCK * sizeof(int)));
    OK(cuMemAlloc(&right, sizeof(int)));
    OK(cuMemsetD32(right, 0, 1));
    OK(cuLaunchCooperativeKernel(function, BLOCKS, 1, 1, BLOCK, 1, 1, 0, NULL, (void *[]){&words, &right, &rounds}));
    OK(cuMemcpyDtoH(&count, right, sizeof count));
    assert_int_equal(count, BLOCKS * BLOCK * ROUNDS);
    /* There is no barrier in an ordinary launch. */
    OK(cuMemsetD32(right, 0, 1));
    OK(cuLaunchKernel(function, BLOCKS, 1, 1, BLOCK, 1, 1, 0, NULL, (void *[]){&words, &right, &rounds}, NULL));
    OK(cuMemcpyDtoH(&count, right, sizeof count));
    assert_int_equal(count, 0);
    OK(cuCtxDestroy(context));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_groups), cmocka_unit_test(test_other_groups),
                                       cmocka_unit_test(test_grid)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
