/* SPDX-License-Identifier: Apache-2.0 */
/* Half precision and bfloat16 of the device headers. Arithmetic: all pairs of 256 values that spread over the types' bits, against the exact
 * result rounded once. Conversions: floats around every kind of border. Then atomics, shuffles and pairs. */
#include <cuda.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define OK(call) assert_int_equal(call, CUDA_SUCCESS)
#define COUNT 256

/* A type: bits of the fraction, the largest exponent (of a fraction from 1 to 2). */
struct type { int digits, most; };
static const struct type half = { 10, 15 }, bfloat = { 7, 127 };
static CUmodule module;

static double value_of(struct type type, uint16_t bits)
{
    int exponent = (bits & 0x7fff) >> type.digits, fraction = bits & ((1 << type.digits) - 1);
    double value = exponent == 2 * type.most + 1 ? fraction ? NAN : INFINITY
                   : exponent                    ? ldexp(fraction + (1 << type.digits), exponent - type.most - type.digits)
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
    OK(cuLaunchKernel(function, COUNT, 1, 1, COUNT, 1, 1, 0, NULL, (void *[]){ &out, &in, &count }, NULL));
    OK(cuMemcpyDtoH(results, out, sizeof results));
    for (int i = 0; i < COUNT * COUNT; i++) {
        double x = value_of(type, bits[i / COUNT]), y = value_of(type, bits[i % COUNT]);
        same(type, "sum", x, y, results[i][0], (long double)(x + y));
        same(type, "difference", x, y, results[i][1], (long double)(x - y));
        same(type, "product", x, y, results[i][2], (long double)x * y);
        same(type, "quotient", x, y, results[i][3], (long double)x / y);
        long double product = (long double)x * y, fused = product + x;
        long double part = fused - product, lost = (product - (fused - part)) + (x - part); /* exactly what the sum lost */
        if (lost != 0 && isfinite(lost))
            fused = nextafterl(fused, lost > 0 ? INFINITY : -INFINITY);
        same(type, "fma", x, y, results[i][4], fused);
        int order = (x < y) | (x <= y) << 1 | (x == y) << 2 | (x != y) << 3 | (x >= y) << 4 | (x > y) << 5 | (x < y || x > y) << 6;
        assert_int_equal(results[i][5], order);
    }
    OK(cuMemFree(in));
    OK(cuMemFree(out));
}
static void test_half(void **state) { (void)state; arithmetic("halves", half); }
static void test_bfloat16(void **state) { (void)state; arithmetic("bfloats", bfloat); }

static void test_conversions(void **state)
{
    static float values[65536];
    static uint16_t halves[65536], bfloats[65536];
    CUfunction function;
    CUdeviceptr in, out, other;
    (void)state;
    for (uint32_t i = 0; i < 65536; i++) {
        uint32_t bits = i << 16 | (i % 5 == 0 ? 0x8000 : i % 5 == 1 ? 0x7fff : i % 5 == 2 ? 0x8001 : i * 2654435761u >> 16);
        if (i % 3 == 0)
            bits = (bits & 0xfffff000) | (i % 2 ? 0x1000 : 0x1001);
        memcpy(&values[i], &bits, sizeof bits);
    }
    OK(cuModuleGetFunction(&function, module, "convert"));
    OK(cuMemAlloc(&in, sizeof values));
    OK(cuMemAlloc(&out, sizeof halves));
    OK(cuMemAlloc(&other, sizeof bfloats));
    OK(cuMemcpyHtoD(in, values, sizeof values));
    OK(cuLaunchKernel(function, 256, 1, 1, 256, 1, 1, 0, NULL, (void *[]){ &out, &other, &in }, NULL));
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
    static const float right[] = { 0, 256, 0, 256, 256, 512, 5, 5, 5, 7, 2, 2048, 2050, 1 };
    float results[14];
    CUfunction function;
    CUdeviceptr out;
    (void)state;
    OK(cuModuleGetFunction(&function, module, "others"));
    OK(cuMemAlloc(&out, sizeof results));
    OK(cuLaunchKernel(function, 1, 1, 1, 256, 1, 1, 0, NULL, (void *[]){ &out }, NULL));
    OK(cuMemcpyDtoH(results, out, sizeof results));
    for (int i = 0; i < 14; i++) {
        if (results[i] != right[i])
            fail_msg("others[%d] is %g, must be %g", i, (double)results[i], (double)right[i]);
    }
    OK(cuMemFree(out));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_half),
        cmocka_unit_test(test_bfloat16),
        cmocka_unit_test(test_conversions),
        cmocka_unit_test(test_others),
    };
    return cmocka_run_group_tests(tests, begin, NULL);
}
