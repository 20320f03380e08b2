/* SPDX-License-Identifier: Apache-2.0 */
/* Half precision and bfloat16 of the device headers. Arithmetic: all pairs of 256 values that spread over the types'
 * bits, against the exact result rounded once. Conversions: floats around every kind of border. Then atomics, shuffles
 * and pairs. */
#include <cuda.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define OK(call) assert_int_equal(call, CUDA_SUCCESS)
#define COUNT 256

/* A type: bits of the fraction, the largest exponent (of a fraction from 1 to 2). */
struct type {
    int digits, most;
};
static const struct type half = {10, 15}, bfloat = {7, 127};
static CUmodule module;

static double value_of(struct type type, uint16_t bits)
{
    int exponent = (bits & 0x7fff) >> type.digits, fraction = bits & ((1 << type.digits) - 1);
    double value = exponent == 2 * type.most + 1 ? fraction ? NAN : INFINITY
                   : exponent ? ldexp(fraction + (1 << type.digits), exponent - type.most - type.digits)
                              : ldexp(fraction, 1 - type.most - type.digits);
    return bits & 0x8000 ? -value : value;
}

/* The nearest value of the type; even in the middle. `value` is exact, or its last bits say on which side it is. */
static long double round_to(struct type type, long double value)
{
    int exponent;
    if (value == 0 || !isfinite(value))
        return value;
    frexpl(value, &exponent);
    exponent = exponent - 1 < 1 - type.most ? 1 - type.most : exponent - 1;
    long double rounded = ldexpl(rintl(ldexpl(value, type.digits - exponent)), exponent - type.digits);
    return fabsl(rounded) >= ldexpl(1, type.most + 1) ? copysignl(INFINITY, value) : rounded;
}

static void same(struct type type, const char *what, double x, double y, uint16_t got, long double exact)
{
    double right = (double)round_to(type, exact), value = value_of(type, got);
    if (isnan(right) ? !isnan(value) : value != right || !signbit(value) != !signbit(right))
        fail_msg("%s of %a and %a: %a, must be %a", what, x, y, value, right);
}

static int begin(void **state)
{
    CUcontext context;
    (void)state;
    OK(cuInit(0));
    OK(cuCtxCreate_v4(&context, NULL, 0, 0));
    OK(cuModuleLoad(&module, getenv("DEVICE_HALF_PTX")));
    return 0;
}

static void arithmetic(const char *kernel, struct type type)
{
    static uint16_t bits[COUNT], results[COUNT * COUNT][6];
    CUfunction function;
    CUdeviceptr in, out;
    int count = COUNT;
    for (int i = 0; i < COUNT; i++)
        bits[i] = (uint16_t)(i * 257 + (i % 4 == 1 ? 77 : 0));
    bits[3] = (uint16_t)((2 * type.most + 1) << type.digits);
    bits[4] = bits[3] | 0x8000;
    bits[5] = bits[3] - 1;
    bits[6] = 1;
    bits[7] = (uint16_t)(type.most << type.digits);
    bits[8] = 0x8000;
    OK(cuModuleGetFunction(&function, module, kernel));
    OK(cuMemAlloc(&in, sizeof bits));
    OK(cuMemAlloc(&out, sizeof results));
    OK(cuMemcpyHtoD(in, bits, sizeof bits));
    OK(cuLaunchKernel(function, COUNT, 1, 1, COUNT, 1, 1, 0, NULL, (void *[]){&out, &in, &count}, NULL));
    OK(cuMemcpyDtoH(results, out, sizeof results));
    for (int i = 0; i < COUNT * COUNT; i++) {
        double x = value_of(type, bits[i / COUNT]), y = value_of(type, bits[i % COUNT]);
        same(type, "sum", x, y, results[i][0], (long double)(x + y));
        same(type, "difference", x, y, results[i][1], (long double)(x - y));
        same(type, "product", x, y, results[i][2], (long double)x * y);
        same(type, "quotient", x, y, results[i][3], (long double)x / y);
        long double product = (long double)x * y, fused = product + x;
        long double part = fused - product,
                    lost = (product - (fused - part)) + (x - part); /* exactly what the sum lost */
        if (lost != 0 && isfinite(lost))
            fused = nextafterl(fused, lost > 0 ? INFINITY : -INFINITY);
        same(type, "fma", x, y, results[i][4], fused);
        int order = (x < y) | (x <= y) << 1 | (x == y) << 2 | (x != y) << 3 | (x >= y) << 4 | (x > y) << 5 |
                    (x < y || x > y) << 6;
        assert_int_equal(results[i][5], order);
    }
    OK(cuMemFree(in));
    OK(cuMemFree(out));
}
static void test_half(void **state)
{
    (void)state;
    arithmetic("halves", half);
}
static void test_bfloat16(void **state)
{
    (void)state;
    arithmetic("bfloats", bfloat);
}

static void test_conversions(void **state)
{
    static float values[65536];
    static uint16_t halves[65536], bfloats[65536];
    CUfunction function;
    CUdeviceptr in, out, other;
    (void)state;
    for (uint32_t i = 0; i < 65536; i++) {
        uint32_t bits = i << 16 | (i % 5 == 0   ? 0x8000
                                   : i % 5 == 1 ? 0x7fff
                                   : i % 5 == 2 ? 0x8001
                                                : i * 2654435761u >> 16);
        if (i % 3 == 0)
            bits = (bits & 0xfffff000) | (i % 2 ? 0x1000 : 0x1001);
        memcpy(&values[i], &bits, sizeof bits);
    }
    OK(cuModuleGetFunction(&function, module, "convert"));
    OK(cuMemAlloc(&in, sizeof values));
    OK(cuMemAlloc(&out, sizeof halves));
    OK(cuMemAlloc(&other, sizeof bfloats));
    OK(cuMemcpyHtoD(in, values, sizeof values));
    OK(cuLaunchKernel(function, 256, 1, 1, 256, 1, 1, 0, NULL, (void *[]){&out, &other, &in}, NULL));
    OK(cuMemcpyDtoH(halves, out, sizeof halves));
    OK(cuMemcpyDtoH(bfloats, other, sizeof bfloats));
    for (int i = 0; i < 65536; i++) {
        same(half, "half", values[i], 0, halves[i], values[i]);
        same(bfloat, "bfloat16", values[i], 0, bfloats[i], values[i]);
    }
    OK(cuMemFree(in));
    OK(cuMemFree(out));
    OK(cuMemFree(other));
}

static void test_others(void **state)
{
    static const float right[] = {0, 256, 0, 256, 256, 512, 5, 5, 5, 7, 2, 2048, 2050, 1};
    float results[14];
    CUfunction function;
    CUdeviceptr out;
    (void)state;
    OK(cuModuleGetFunction(&function, module, "others"));
    OK(cuMemAlloc(&out, sizeof results));
    OK(cuLaunchKernel(function, 1, 1, 1, 256, 1, 1, 0, NULL, (void *[]){&out}, NULL));
    OK(cuMemcpyDtoH(results, out, sizeof results));
    for (int i = 0; i < 14; i++) {
        if (results[i] != right[i])
            fail_msg("others[%d] is %g, must be %g", i, (double)results[i], (double)right[i]);
    }
    OK(cuMemFree(out));
}

enum mode { RN, RZ, RD, RU };
static const struct whole {
    int bits;
    bool is_signed;
} wholes[6] = {{16, true}, {16, false}, {32, true}, {32, false}, {64, true}, {64, false}};

/* To a whole number, in a direction. */
static long double directed_to_whole(long double value, enum mode mode)
{
    return mode == RN ? rintl(value) : mode == RZ ? truncl(value) : mode == RD ? floorl(value) : ceill(value);
}

/* To the type, in a direction; what is too large becomes the largest number where the direction is inwards. */
static long double directed_to(struct type type, long double value, enum mode mode)
{
    int exponent;
    if (mode == RN || value == 0)
        return round_to(type, value);
    frexpl(value, &exponent);
    long double rounded =
        ldexpl(directed_to_whole(ldexpl(value, type.digits - exponent + 1), mode), exponent - 1 - type.digits);
    long double largest = ldexpl(2 - ldexpl(1, -type.digits), type.most);
    bool inwards = mode == RZ || (mode == RD) == (value > 0);
    return fabsl(rounded) <= largest ? rounded : copysignl(inwards ? largest : INFINITY, value);
}

static void test_from_whole(void **state)
{
    enum { NUMBERS = 1024 };
    static long long numbers[NUMBERS];
    static uint16_t out[2][NUMBERS][24];
    CUfunction function;
    CUdeviceptr in, half_out, bfloat_out;
    (void)state;
    uint64_t random = 88172645463325252u;
    for (int i = 0; i < NUMBERS; i++) {
        random ^= random << 13, random ^= random >> 7, random ^= random << 17;
        /* Random ones of all sizes; borders of both types and their middles. */
        uint64_t border = (1ull << (i % 64)) +
                          (i % 5 == 0   ? 1ull << (i % 64) >> 9
                           : i % 5 == 1 ? 1ull << (i % 64) >> 12
                                        : 0) +
                          (uint64_t)(i / 64 % 3) - 1;
        numbers[i] = i % 2 ? (long long)(random >> (i / 2 % 64)) : (long long)(i % 4 ? border : 0 - border);
    }
    numbers[0] = 0, numbers[1] = 65519, numbers[2] = 65520, numbers[3] = -65520, numbers[4] = INT64_MIN,
    numbers[5] = -1, numbers[6] = 65535;
    OK(cuModuleGetFunction(&function, module, "from_whole"));
    OK(cuMemAlloc(&in, sizeof numbers));
    OK(cuMemAlloc(&half_out, sizeof out[0]));
    OK(cuMemAlloc(&bfloat_out, sizeof out[1]));
    OK(cuMemcpyHtoD(in, numbers, sizeof numbers));
    OK(cuLaunchKernel(function, NUMBERS / 128, 1, 1, 128, 1, 1, 0, NULL, (void *[]){&half_out, &bfloat_out, &in},
                      NULL));
    OK(cuMemcpyDtoH(out[0], half_out, sizeof out[0]));
    OK(cuMemcpyDtoH(out[1], bfloat_out, sizeof out[1]));
    for (int i = 0; i < NUMBERS; i++)
        for (int k = 0; k < 24; k++) {
            struct whole to = wholes[k / 4];
            uint64_t bits = to.bits == 64 ? (uint64_t)numbers[i] : (uint64_t)numbers[i] & ((1ull << to.bits) - 1);
            bool negative = to.is_signed && bits >> (to.bits - 1) & 1;
            long double value =
                negative ? -(long double)((to.bits == 64 ? 0 : 1ull << to.bits) - bits) : (long double)bits;
            for (int t = 0; t < 2; t++) {
                double right = (double)directed_to(t ? bfloat : half, value, (enum mode)(k % 4)),
                       got = value_of(t ? bfloat : half, out[t][i][k]);
                if (got != right)
                    fail_msg("%s of %Lf, rounding %d, is %a, must be %a", t ? "bfloat16" : "half", value, k % 4, got,
                             right);
            }
        }
    OK(cuMemFree(in));
    OK(cuMemFree(half_out));
    OK(cuMemFree(bfloat_out));
}

static void test_to_whole(void **state)
{
    static long long out[2][65536][24];
    CUfunction function;
    CUdeviceptr half_out, bfloat_out;
    (void)state;
    OK(cuModuleGetFunction(&function, module, "to_whole"));
    OK(cuMemAlloc(&half_out, sizeof out[0]));
    OK(cuMemAlloc(&bfloat_out, sizeof out[1]));
    OK(cuLaunchKernel(function, 256, 1, 1, 256, 1, 1, 0, NULL, (void *[]){&half_out, &bfloat_out}, NULL));
    OK(cuMemcpyDtoH(out[0], half_out, sizeof out[0]));
    OK(cuMemcpyDtoH(out[1], bfloat_out, sizeof out[1]));
    for (int i = 0; i < 65536; i++)
        for (int k = 0; k < 24; k++)
            for (int t = 0; t < 2; t++) {
                struct whole to = wholes[k / 4];
                double value = value_of(t ? bfloat : half, (uint16_t)i);
                long double most = ldexpl(1, to.bits - to.is_signed) - 1, least = to.is_signed ? -most - 1 : 0;
                long double whole = directed_to_whole(value, (enum mode)(k % 4));
                if (isnan(value))   /* to 64 bits it is what the instruction makes of it */
                    continue;
                whole = whole > most ? most : whole < least ? least : whole;
                long long right =
                    to.bits == 64 && !to.is_signed ? (long long)(unsigned long long)whole : (long long)whole;
                if (out[t][i][k] != right)
                    fail_msg("%s %a to %d bits, rounding %d: %lld, must be %lld", t ? "bfloat16" : "half", value,
                             to.bits, k % 4, out[t][i][k], right);
            }
    OK(cuMemFree(half_out));
    OK(cuMemFree(bfloat_out));
}

static void test_directed(void **state)
{
    enum { COUNT_OF = 4096 };
    static float values[COUNT_OF];
    static uint16_t out[COUNT_OF][2];
    static unsigned masks[COUNT_OF][12];
    CUfunction function;
    CUdeviceptr in, results, all_masks;
    (void)state;
    for (uint32_t i = 0; i < COUNT_OF; i++) {
        uint32_t bits = i << 20 | (i % 4 == 0 ? 0 : i % 4 == 1 ? 1 : i % 4 == 2 ? 0xffff : i * 2654435761u >> 14);
        memcpy(&values[i], &bits, sizeof bits);
    }
    OK(cuModuleGetFunction(&function, module, "directed"));
    OK(cuMemAlloc(&in, sizeof values));
    OK(cuMemAlloc(&results, sizeof out));
    OK(cuMemAlloc(&all_masks, sizeof masks));
    OK(cuMemcpyHtoD(in, values, sizeof values));
    OK(cuLaunchKernel(function, COUNT_OF / 128, 1, 1, 128, 1, 1, 0, NULL, (void *[]){&results, &all_masks, &in}, NULL));
    OK(cuMemcpyDtoH(out, results, sizeof out));
    OK(cuMemcpyDtoH(masks, all_masks, sizeof masks));
    for (int i = 0; i < COUNT_OF; i++) {
        float down = (float)value_of(bfloat, out[i][0]), up = (float)value_of(bfloat, out[i][1]);
        uint32_t bits;
        memcpy(&bits, &values[i], sizeof bits);
        if (isnan(values[i]))
            assert_true(isnan(down) && isnan(up));
        else if (!(bits & 0xffff))
            assert_true(down == values[i] && up == values[i]);
        else   /* neighbours, on both sides */
            assert_true(down < values[i] && values[i] < up &&
                        (out[i][0] == out[i][1] + 1 || out[i][0] + 1 == out[i][1] || down == up));
        float a[2] = {(float)(i % 3), (float)(i % 5)}, b[2] = {1, i % 2 ? NAN : 2};
        for (int k = 0; k < 12; k++) {
            unsigned right = 0;
            for (int j = 0; j < 2; j++) {
                float x = a[j], y = b[j];
                bool holds[6] = {x == y, x < y || x > y, x <= y, x >= y, x<y, x> y};
                if (holds[k % 6] || (k >= 6 && isnan(y)))
                    right |= 0xffffu << (16 * j);
            }
            assert_int_equal(masks[i][k], right);
        }
    }
    OK(cuMemFree(in));
    OK(cuMemFree(results));
    OK(cuMemFree(all_masks));
}

/* Conversions by the language, explicit and implied, are those of the functions; half.cu compares them. */
static void test_casts(void **state)
{
    unsigned wrong[15];
    CUfunction function;
    CUdeviceptr memory;
    (void)state;
    OK(cuModuleGetFunction(&function, module, "casts"));
    OK(cuMemAlloc(&memory, sizeof wrong));
    OK(cuMemsetD8(memory, 0, sizeof wrong));
    OK(cuLaunchKernel(function, 256, 1, 1, 256, 1, 1, 0, NULL, (void *[]){&memory}, NULL));
    OK(cuMemcpyDtoH(wrong, memory, sizeof wrong));
    OK(cuMemFree(memory));
    for (int i = 0; i < 15; i++)
        if (wrong[i])
            fail_msg("conversion %d: %u are wrong", i, wrong[i]);
}

static uint32_t checksum(const uint16_t *numbers, size_t count)
{
    uint32_t sum = 0xffffffff;
    for (size_t i = 0; i < 2 * count; i++) {
        sum ^= (numbers[i / 2] >> (i % 2 * 8)) & 0xff;
        for (int k = 0; k < 8; k++)
            sum = sum >> 1 ^ (sum & 1 ? 0xedb88320 : 0);
    }
    return ~sum;
}

/* htanh_approx and h2tanh_approx of each number, against an H100's: the CRC-32 of its results. */
static void test_tangents(void **state)
{
    static uint16_t got[4][65536];
    CUfunction function;
    CUdeviceptr memory;
    (void)state;
    OK(cuModuleGetFunction(&function, module, "tangents"));
    OK(cuMemAlloc(&memory, sizeof got));
    OK(cuLaunchKernel(function, 256, 1, 1, 256, 1, 1, 0, NULL, (void *[]){&memory}, NULL));
    OK(cuMemcpyDtoH(got, memory, sizeof got));
    OK(cuMemFree(memory));
    for (int i = 0; i < 4; i++)
        assert_int_equal(checksum(got[i], 65536), i % 2 ? 0xa1373044 : 0x4fdbebf7);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_half),   cmocka_unit_test(test_bfloat16),   cmocka_unit_test(test_conversions),
        cmocka_unit_test(test_others), cmocka_unit_test(test_from_whole), cmocka_unit_test(test_to_whole),
        cmocka_unit_test(test_casts),  cmocka_unit_test(test_directed),   cmocka_unit_test(test_tangents),
    };
    return cmocka_run_group_tests(tests, begin, NULL);
}
