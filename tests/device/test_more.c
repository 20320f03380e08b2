/* SPDX-License-Identifier: Apache-2.0 */
/* Atomics with scopes and orders, over types of 1 to 8 bytes; warp functions, cache operators, bits and barriers of
 * millrace_more.h. */
#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "device_support.h"

#define BLOCKS 4
#define THREADS (BLOCKS * 256)

static int begin(void **state)
{
    (void)state;
    return begin_with("DEVICE_MORE_PTX");
}

/* Every type's numbers start as 0, 200, 0, 99, 0, 0, 0; sums of a byte wrap. */
#define ORDERED(type, name, modulus) \
    do { \
        type start[7] = {0, 200 % 128, 0, 99, 0, 0, 0}, end[7]; \
        CUdeviceptr p; \
        OK(cuMemAlloc(&p, sizeof start)); \
        OK(cuMemcpyHtoD(p, start, sizeof start)); \
        OK(cuLaunchKernel(function_of(name), BLOCKS, 1, 1, 256, 1, 1, 0, NULL, (void *[]){&p}, NULL)); \
        OK(cuMemcpyDtoH(end, p, sizeof end)); \
        OK(cuMemFree(p)); \
        assert_true(end[0] == (type)(THREADS % (modulus)) && \
                    end[1] == (type)((200 % 128) - (int64_t)(THREADS % (modulus)))); \
        assert_true(end[2] == (type)96 && end[3] == (type)0 && end[4] == (type)(THREADS % (modulus))); \
        assert_true(end[5] < (type)100 && end[6] == (type)77); \
    } while (0)

static void ordered(void **state)
{
    (void)state;
    ORDERED(int, "ordered_int", 1 << 20);
    ORDERED(unsigned char, "ordered_byte", 256);
    ORDERED(short, "ordered_short", 1 << 16);
    ORDERED(unsigned long long, "ordered_long", 1 << 20);
    ORDERED(float, "ordered_float", 1 << 20);
    ORDERED(double, "ordered_double", 1 << 20);
}

static void scoped(void **state)
{
    unsigned p[11] = {0, 5000, 1000, 0, 0, 0, ~0u, 0, 0, 0, 0};
    unsigned long long q[3] = {0, 0, 0};
    float f[2] = {0, 0};
    double d = 0;
    CUdeviceptr places[4];
    const size_t sizes[4] = {sizeof p, sizeof q, sizeof f, sizeof d};
    void *const hosts[4] = {p, q, f, &d};
    (void)state;
    for (int i = 0; i < 4; i++) {
        OK(cuMemAlloc(&places[i], sizes[i]));
        OK(cuMemcpyHtoD(places[i], hosts[i], sizes[i]));
    }
    OK(cuLaunchKernel(function_of("scoped"), BLOCKS, 1, 1, 256, 1, 1, 0, NULL,
                      (void *[]){&places[0], &places[1], &places[2], &places[3]}, NULL));
    for (int i = 0; i < 4; i++) {
        OK(cuMemcpyDtoH(hosts[i], places[i], sizes[i]));
        OK(cuMemFree(places[i]));
    }
    const unsigned right[11] = {3 * THREADS,
                                5000 - 2 * THREADS,
                                5,
                                THREADS - 1,
                                THREADS % 1001,
                                1001 - THREADS % 1001 /* down from 0 is 1000 */,
                                0,
                                ~0u,
                                0,
                                THREADS,
                                5};
    for (int i = 0; i < 11; i++)
        if (p[i] != right[i])
            fail_msg("scoped[%d] is %u, must be %u", i, p[i], right[i]);
    assert_true(q[0] == (unsigned long long)THREADS << 33 && q[1] == (unsigned long long)(THREADS - 1) << 33 &&
                q[2] == 9);
    assert_true(f[0] == THREADS && f[1] == 2.5f && d == THREADS / 2.0);
}

static void handed_over(void **state)
{
    int host[3] = {0}, rounds = 300;
    CUdeviceptr data, flag, wrong;
    (void)state;
    OK(cuMemAlloc(&data, sizeof host));
    OK(cuMemcpyHtoD(data, host, sizeof host));
    flag = data + 4;
    wrong = data + 8;
    OK(cuLaunchCooperativeKernel(function_of("handed_over"), 2, 1, 1, 1, 1, 1, 0, NULL,
                                 (void *[]){&data, &flag, &wrong, &rounds}));
    OK(cuMemcpyDtoH(host, data, sizeof host));
    OK(cuMemFree(data));
    assert_int_equal(host[1], 2 * rounds);
    assert_int_equal(host[2], 0);
}

static unsigned nth_bit(unsigned mask, int base, int offset)
{
    if (!offset)
        return mask >> base & 1 ? (unsigned)base : ~0u;
    int left = abs(offset);
    for (int at = base; at >= 0 && at < 32; at += offset > 0 ? 1 : -1)
        if (mask >> at & 1 && !--left)
            return (unsigned)at;
    return ~0u;
}

static void others(void **state)
{
    static unsigned in[64], out[32][16];
    static float numbers[32], floats[32][4];
    CUdeviceptr input, output, input_floats, output_floats;
    unsigned state_of = 99, all_and = ~0u, all_or = 0, all_xor = 0;
    (void)state;
    for (int i = 0; i < 64; i++)
        in[i] = state_of = state_of * 1664525u + 1013904223u;
    for (int i = 0; i < 32; i++) {
        numbers[i] = (float)(i * i + 1) * 0.37f;
        all_and &= in[i] | 0xf0000000u;
        all_or |= in[i] & 0xff00;
        all_xor ^= in[i];
    }
    OK(cuMemAlloc(&input, sizeof in));
    OK(cuMemAlloc(&output, sizeof out));
    OK(cuMemAlloc(&input_floats, sizeof numbers));
    OK(cuMemAlloc(&output_floats, sizeof floats));
    OK(cuMemcpyHtoD(input, in, sizeof in));
    OK(cuMemcpyHtoD(input_floats, numbers, sizeof numbers));
    OK(cuLaunchKernel(function_of("others"), 1, 1, 1, 32, 1, 1, 0, NULL,
                      (void *[]){&output, &input, &input_floats, &output_floats}, NULL));
    OK(cuMemcpyDtoH(out, output, sizeof out));
    OK(cuMemcpyDtoH(floats, output_floats, sizeof floats));
    for (int i = 0; i < 32; i++) {
        unsigned x = in[i], y = ~x, n = (unsigned)i + 8 > 32 ? 32 : (unsigned)i + 8;
        uint64_t both = (uint64_t)y << 32 | x;
        unsigned short shorts[64];
        memcpy(shorts, in, sizeof shorts);
        const unsigned right[16] = {~0u,
                                    1,
                                    0,
                                    0,
                                    all_and,
                                    all_or,
                                    all_xor,
                                    nth_bit(x, i, 3),
                                    nth_bit(x, i, -2),
                                    nth_bit(x, i, 0),
                                    n == 32 ? x : (unsigned)(both << n >> 32),
                                    n == 32 ? y : (unsigned)(both >> n),
                                    in[i % 8 * 4] ^ in[i % 8 * 4 + 3] ^ x ^ shorts[i] ^ ((unsigned char *)in)[i] ^
                                        in[2],
                                    x,
                                    (x & 0xffff) | (y << 16),
                                    (x < 1000 ? x : 1000) + (x > 5 ? x : 5) + 3 + 3};
        for (int j = 0; j < 16; j++)
            if (out[i][j] != right[j])
                fail_msg("thread %d, number %d: %08x, must be %08x", i, j, out[i][j], right[j]);
        assert_true(fabs((double)floats[i][0] - sin((double)(numbers[i] / 100))) < 1e-6 &&
                    fabs((double)floats[i][1] - cos((double)(numbers[i] / 100))) < 1e-6);
        assert_true(floats[i][2] == (float)(1 / sqrtl((long double)numbers[i])));
        assert_true(fabs((double)floats[i][3] - tanh((double)(numbers[i] / 50))) < 1e-3);
    }
    OK(cuMemFree(input));
    OK(cuMemFree(output));
    OK(cuMemFree(input_floats));
    OK(cuMemFree(output_floats));
}

static void named(void **state)
{
    int host[128];
    CUdeviceptr out;
    (void)state;
    OK(cuMemAlloc(&out, sizeof host));
    OK(cuLaunchKernel(function_of("named"), 1, 1, 1, 128, 1, 1, 0, NULL, (void *[]){&out}, NULL));
    OK(cuMemcpyDtoH(host, out, sizeof host));
    OK(cuMemFree(out));
    for (int i = 0; i < 128; i++)
        assert_int_equal(host[i], i / 64 * 64 + (i + 33) % 64);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ordered), cmocka_unit_test(scoped), cmocka_unit_test(handed_over),
        cmocka_unit_test(others),  cmocka_unit_test(named),
    };
    return cmocka_run_group_tests(tests, begin, NULL);
}
