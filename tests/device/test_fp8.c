/* SPDX-License-Identifier: Apache-2.0 */
/* cuda_fp8.h against a table of all values: the nearest one is looked for. NVIDIA's header gives the same bytes on the
 * host. */
#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "device_support.h"

#define COUNT 65536

static int begin(void **state)
{
    (void)state;
    return begin_with("DEVICE_FP8_PTX");
}

/* The number with this code; of e5m2, infinity for 0x7c. */
static double value_of(unsigned code, bool e5m2)
{
    int digits = e5m2 ? 2 : 3, bias = e5m2 ? 15 : 7, exponent = (int)(code & 0x7f) >> digits;
    double fraction = (code & ((1u << digits) - 1)) / (double)(1 << digits);
    double size = exponent ? ldexp(1 + fraction, exponent - bias) : ldexp(fraction, 1 - bias);
    if (e5m2 && exponent == 31)
        size = fraction > 0 ? NAN : INFINITY;
    if (!e5m2 && (code & 0x7f) == 0x7f)
        size = NAN;
    return code & 0x80 ? -size : size;
}

static unsigned right_code(double x, bool e5m2, bool saturate)
{
    unsigned sign = signbit(x) ? 0x80 : 0, largest = e5m2 ? 0x7b : 0x7e, best = 0;
    /* Half a step above the largest: a tie with the next power, whose last digit is even, or odd. */
    double size = fabs(x), beyond = e5m2 ? 61440 : 464;
    if (isnan(x))
        return 0x7f;
    if (e5m2 ? size >= beyond : size > beyond)
        return sign | (saturate ? largest : e5m2 ? 0x7c : 0x7f);
    for (unsigned code = 1; code <= largest; code++) {
        double was = fabs(value_of(best, e5m2) - size), now = fabs(value_of(code, e5m2) - size);
        if (now < was || (now == was && code % 2 == 0))
            best = code;
    }
    return sign | best;
}

static unsigned double_nan_code(double x, bool e5m2)
{
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    return (unsigned)(bits >> 63) << 7 | (e5m2 ? 0x7e | (bits >> 50 & 1) : 0x7f);
}

static double half_of(unsigned bits)
{
    int exponent = (int)(bits >> 10 & 31);
    double fraction = (bits & 1023) / 1024.0,
           size = exponent ? ldexp(1 + fraction, exponent - 15) : ldexp(fraction, -14);
    if (exponent == 31)
        size = fraction > 0 ? NAN : INFINITY;
    return bits & 0x8000 ? -size : size;
}

static void to_eight_bits(void **state)
{
    static double doubles[COUNT];
    static unsigned char out[4 * 3 * COUNT];
    CUdeviceptr to, from;
    CUfunction function;
    int count = COUNT;
    (void)state;
    /* Around every value and every middle of two: itself, the double below and above. */
    for (int i = 0; i < COUNT; i++) {
        unsigned code = (unsigned)i & 0xff;
        bool e5m2 = i >> 8 & 1, middle = i >> 9 & 1;
        double x = value_of(code, e5m2);
        if (middle && (code & 0x7f) < 0x7f)
            x = (x + value_of(code + 1, e5m2)) / 2;
        int step = (i >> 10) % 3 - 1;
        doubles[i] = step < 0        ? nextafter(x, -INFINITY)
                     : step > 0      ? nextafter(x, INFINITY)
                     : i >> 10 == 63 ? x * 1e-3
                                     : x;
    }
    OK(cuMemAlloc(&to, sizeof out));
    OK(cuMemAlloc(&from, sizeof doubles));
    OK(cuMemcpyHtoD(from, doubles, sizeof doubles));
    OK(cuModuleGetFunction(&function, module, "narrow"));
    OK(cuLaunchKernel(function, COUNT / 256, 1, 1, 256, 1, 1, 0, NULL, (void *[]){&to, &from, &count}, NULL));
    OK(cuMemcpyDtoH(out, to, sizeof out));
    for (int way = 0; way < 4; way++)
        for (unsigned i = 0; i < COUNT; i++) {
            uint32_t wide = i << 16;
            float bfloat;
            memcpy(&bfloat, &wide, sizeof bfloat);
            double from_what[3] = {half_of(i), (double)bfloat, doubles[i]};
            for (int kind = 0; kind < 3; kind++) {
                unsigned got = out[(way * 3 + kind) * COUNT + (int)i],
                         right = right_code(from_what[kind], way & 2, way & 1);
                if (kind == 2 &&
                    isnan(doubles[i]))   /* a double's NaN keeps its sign and, as an e5m2, its second digit */
                    right = double_nan_code(doubles[i], way & 2);
                if (got != right)
                    fail_msg("way %d, kind %d, number %u (%.17g): 0x%02x instead of 0x%02x", way, kind, i,
                             from_what[kind], got, right);
            }
        }
    OK(cuMemFree(to));
    OK(cuMemFree(from));
}

static void from_eight_bits(void **state)
{
    float floats[512];
    int ints[512], right[256];
    unsigned char bytes[512];
    CUdeviceptr at[4];
    CUfunction function;
    (void)state;
    for (int i = 0; i < 4; i++)
        OK(cuMemAlloc(&at[i], sizeof floats));
    OK(cuModuleGetFunction(&function, module, "widen"));
    OK(cuLaunchKernel(function, 1, 1, 1, 256, 1, 1, 0, NULL, (void *[]){&at[0], &at[1], &at[2], &at[3]}, NULL));
    OK(cuMemcpyDtoH(floats, at[0], sizeof floats));
    OK(cuMemcpyDtoH(ints, at[1], sizeof ints));
    OK(cuMemcpyDtoH(bytes, at[2], sizeof bytes));
    OK(cuMemcpyDtoH(right, at[3], sizeof right));
    for (int i = 0; i < 512; i++) {
        double x = value_of((unsigned)i & 0xff, i >= 256);
        assert_true(isnan(x) ? isnan(floats[i]) : (double)floats[i] == x && !signbit(floats[i]) == !signbit(x));
        assert_int_equal(ints[i], isnan(x) ? 0 : isinf(x) ? (x > 0 ? INT32_MAX : INT32_MIN) : (int)x);
        assert_int_equal(bytes[i], isnan(x) || x < 0 ? 0 : x > 255 ? 255 : (int)x);
        assert_int_equal(right[i & 0xff], 1);
    }
    for (int i = 0; i < 4; i++)
        OK(cuMemFree(at[i]));
}

static uint64_t mixed(uint64_t sum, unsigned value)
{
    sum = (sum ^ value) * 1099511628211u;
    return sum ^ sum >> 29;
}

/* The sums are those of NVIDIA's header on the host. */
static void to_scales(void **state)
{
    static float floats[COUNT];
    static double doubles[COUNT];
    static unsigned char out[3 * COUNT];
    static const uint64_t right[2][2] = {{0x194a2bd10e4f42b2u, 0x757583a55b9066ffu},
                                         {0x0a85b6ddf3979cf1u, 0x2fc39143c0dc6a29u}};
    CUdeviceptr to, from_float, from_double;
    int count = COUNT;
    (void)state;
    for (uint32_t i = 0; i < COUNT; i++) {
        uint32_t bits = i * 65537 * 3 + i;
        uint64_t wide = (uint64_t)i << 48 | (i * 2654435761u & 7 ? (uint64_t)i * i * 0x1234567u & 0xffffffffffffu : 0);
        memcpy(&floats[i], &bits, sizeof bits);
        memcpy(&doubles[i], &wide, sizeof wide);
    }
    OK(cuMemAlloc(&to, sizeof out));
    OK(cuMemAlloc(&from_float, sizeof floats));
    OK(cuMemAlloc(&from_double, sizeof doubles));
    OK(cuMemcpyHtoD(from_float, floats, sizeof floats));
    OK(cuMemcpyHtoD(from_double, doubles, sizeof doubles));
    for (int rounding = 1; rounding <= 2; rounding++)
        for (int saturate = 0; saturate < 2; saturate++) {
            OK(cuLaunchKernel(function_of("scale"), COUNT / 256, 1, 1, 256, 1, 1, 0, NULL,
                              (void *[]){&to, &from_float, &from_double, &count, &saturate, &rounding}, NULL));
            OK(cuMemcpyDtoH(out, to, sizeof out));
            uint64_t sum = 1469598103934665603u;
            for (int i = 0; i < 3 * COUNT; i++)
                sum = mixed(sum, out[i]);
            assert_int_equal(sum, right[rounding - 1][saturate]);
        }
    OK(cuMemFree(to));
    OK(cuMemFree(from_float));
    OK(cuMemFree(from_double));
}

static void from_scales(void **state)
{
    float floats[256];
    int ints[256], right[256];
    unsigned short halves[256];
    unsigned char bytes[256];
    CUdeviceptr at[5];
    (void)state;
    for (int i = 0; i < 5; i++)
        OK(cuMemAlloc(&at[i], sizeof floats));
    OK(cuLaunchKernel(function_of("unscale"), 1, 1, 1, 256, 1, 1, 0, NULL,
                      (void *[]){&at[0], &at[1], &at[2], &at[3], &at[4]}, NULL));
    OK(cuMemcpyDtoH(floats, at[0], sizeof floats));
    OK(cuMemcpyDtoH(ints, at[1], sizeof ints));
    OK(cuMemcpyDtoH(halves, at[2], sizeof halves));
    OK(cuMemcpyDtoH(bytes, at[3], sizeof bytes));
    OK(cuMemcpyDtoH(right, at[4], sizeof right));
    for (int i = 0; i < 256; i++) {
        double x = i == 255 ? NAN : ldexp(1, i - 127);
        assert_true(isnan(x) ? isnan(floats[i]) : (double)floats[i] == x);
        assert_int_equal(ints[i], isnan(x) ? 0 : x > INT32_MAX ? INT32_MAX : (int)x);
        assert_int_equal(bytes[i], isnan(x) ? 0 : x > 255 ? 255 : (int)x);
        assert_true(isnan(x)  ? halves[i] == 0x7fff
                    : i > 142 ? halves[i] == 0x7c00
                              : half_of(halves[i]) == (i < 103 ? 0 : x));
        assert_int_equal(right[i], 1);
    }
    for (int i = 0; i < 5; i++)
        OK(cuMemFree(at[i]));
}

/* Last: the context is of no more use. */
static void wrong_rounding(void **state)
{
    CUdeviceptr out;
    float x = 1;
    (void)state;
    OK(cuMemAlloc(&out, 1));
    OK(cuLaunchKernel(function_of("scale_to_nearest"), 1, 1, 1, 1, 1, 1, 0, NULL, (void *[]){&out, &x}, NULL));
    assert_int_equal(cuCtxSynchronize(), CUDA_ERROR_LAUNCH_FAILED);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(to_eight_bits), cmocka_unit_test(from_eight_bits),
                                       cmocka_unit_test(to_scales), cmocka_unit_test(from_scales),
                                       cmocka_unit_test(wrong_rounding)};
    return cmocka_run_group_tests(tests, begin, NULL);
}
