/* SPDX-License-Identifier: Apache-2.0 */
/* The device headers' functions of double precision against the C library's in extended precision, whose own error is a
 * thousandth of a unit here. Special values are the same, all others within the bound that math_double_functions.def
 * states. Arguments: pairs of corners, then random ones, a third with any bits, the rest of the sizes where functions
 * do something. Each test prints the largest error that it saw. */
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
#define COUNT 40000

static const double corners[] = {0.0,
                                 -0.0,
                                 1,
                                 -1,
                                 0.5,
                                 -0.5,
                                 2,
                                 -2,
                                 3,
                                 1.5,
                                 10,
                                 16,
                                 1e-300,
                                 -1e-300,
                                 5e-324,
                                 1e308,
                                 -1e308,
                                 709.7,
                                 709.79,
                                 -745.2,
                                 -708.5,
                                 1024,
                                 -1074,
                                 -1075,
                                 1e22,
                                 1048576,
                                 1048575.5,
                                 0x1p-30,
                                 0.25,
                                 171.6,
                                 171.7,
                                 0x1p53,
                                 0.41421356,
                                 0.70710678118654752,
                                 6381956970095103.0 * 0x1p797,
                                 27.2,
                                 INFINITY,
                                 -INFINITY,
                                 NAN};
#define CORNERS (sizeof corners / sizeof corners[0])

static CUmodule module;
static double xs[COUNT], ys[COUNT], results[COUNT];
static CUdeviceptr x_device, y_device, out_device;

static uint64_t random_bits(void)
{
    static uint64_t state = 88172645463325252u;
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state;
}

static double random_double(void)
{
    uint64_t bits = random_bits();
    double value;
    memcpy(&value, &bits, sizeof value);
    if (bits % 3 == 0)
        return value;
    value = (double)(int64_t)bits * 0x1p-63;
    return bits % 3 == 1 ? value * 50 : ldexp(value, (int)(random_bits() % 40) - 30);
}

static int begin(void **state)
{
    CUcontext context;
    (void)state;
    for (size_t i = 0; i < COUNT; i++) {
        xs[i] = i < CORNERS * CORNERS ? corners[i % CORNERS] : random_double();
        ys[i] = i < CORNERS * CORNERS ? corners[i / CORNERS] : random_double();
    }
    OK(cuInit(0));
    OK(cuCtxCreate_v4(&context, NULL, 0, 0));
    OK(cuModuleLoad(&module, getenv("DEVICE_MATH_PTX")));
    OK(cuMemAlloc(&x_device, sizeof xs));
    OK(cuMemAlloc(&y_device, sizeof ys));
    OK(cuMemAlloc(&out_device, sizeof results));
    OK(cuMemcpyHtoD(x_device, xs, sizeof xs));
    OK(cuMemcpyHtoD(y_device, ys, sizeof ys));
    return 0;
}

/* The distance in units of the last place of a double near `right`. */
static double ulps(double got, long double right)
{
    int exponent;
    frexpl(right, &exponent);
    exponent = exponent < -1021 ? -1021 : exponent;
    return (double)ldexpl(fabsl((long double)got - right), 53 - exponent);
}

static double compare(const char *name, double bound, double x, double y, double got, long double right)
{
    double rounded = (double)right;
    if (isnan(right) && isnan(got))
        return 0;
    if (isinf(rounded) || (rounded == 0 && got == 0)) {
        /* A result that rounds to the border of the range may fall on either side of it. */
        if ((got == rounded || (isinf(rounded) && fabs(got) == 0x1.fffffffffffffp1023)) &&
            signbit(got) == signbit(rounded))
            return 0;
    } else if (!isnan(right) &&
               (ulps(got, right) <= bound || (isinf(got) && fabs(rounded) == 0x1.fffffffffffffp1023))) {
        return isinf(got) ? 0 : ulps(got, right);
    }
    fail_msg("%s(%a, %a) is %a, must be %La (%.3f units)", name, x, y, got, right, ulps(got, right));
    return 0;
}

static void run(const char *name, int binary)
{
    CUfunction function;
    char symbol[32] = "k_";
    int n = COUNT;
    strcat(symbol, name);
    OK(cuModuleGetFunction(&function, module, symbol));
    void *two[] = {&out_device, &x_device, &y_device, &n}, *one[] = {&out_device, &x_device, &n};
    OK(cuLaunchKernel(function, (COUNT + 255) / 256, 1, 1, 256, 1, 1, 0, NULL, binary ? two : one, NULL));
    OK(cuMemcpyDtoH(results, out_device, sizeof results));
}

#define UNARY(name, bound) \
    static void test_##name(void **state) \
    { \
        double most = 0; \
        (void)state; \
        run(#name, 0); \
        for (int i = 0; i < COUNT; i++) \
            most = fmax(most, compare(#name, bound, xs[i], 0, results[i], name##l(xs[i]))); \
        print_message("%s: %.3f\n", #name, most); \
    }
#define BINARY(name, bound) \
    static void test_##name(void **state) \
    { \
        double most = 0; \
        (void)state; \
        run(#name, 1); \
        for (int i = 0; i < COUNT; i++) \
            most = fmax(most, compare(#name, bound, xs[i], ys[i], results[i], name##l(xs[i], ys[i]))); \
        print_message("%s: %.3f\n", #name, most); \
    }
#include "math_double_functions.def"
#undef UNARY
#undef BINARY

static void test_others(void **state)
{
    (void)state;
    CUfunction function;
    double differences[16];
    OK(cuModuleGetFunction(&function, module, "others"));
    for (double x = 0.1; x < 0.95; x += 0.1) {
        OK(cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, NULL, (void *[]){&out_device, &x}, NULL));
        OK(cuMemcpyDtoH(differences, out_device, sizeof differences));
        for (int i = 0; i < 16; i++) {
            if (fabs(differences[i]) > (i == 14 ? 1e-7 : 2e-15))
                fail_msg("others[%d] at %g is %g", i, x, differences[i]);
        }
    }
}

static void test_complex(void **state)
{
    (void)state;
    CUfunction function;
    double differences[9], x = 0.7;
    OK(cuModuleGetFunction(&function, module, "complex"));
    OK(cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, NULL, (void *[]){&out_device, &x}, NULL));
    OK(cuMemcpyDtoH(differences, out_device, sizeof differences));
    for (int i = 0; i < 9; i++) {
        if (!(fabs(differences[i]) < 2e-15))
            fail_msg("complex[%d] is %g", i, differences[i]);
    }
}

static void test_casts(void **state)
{
    (void)state;
    CUfunction function;
    double third = 1 / 3.0;
    float tenth = 0.1f;
    int facts[8], big = 16777217;
    OK(cuModuleGetFunction(&function, module, "casts"));
    OK(cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, NULL, (void *[]){&out_device, &third, &tenth, &big}, NULL));
    OK(cuMemcpyDtoH(facts, out_device, sizeof facts));
    for (int i = 0; i < 8; i++) {
        if (facts[i] != 1)
            fail_msg("casts[%d] does not hold", i);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define UNARY(name, bound) cmocka_unit_test(test_##name),
#define BINARY(name, bound) cmocka_unit_test(test_##name),
#include "math_double_functions.def"
        cmocka_unit_test(test_others),
        cmocka_unit_test(test_complex),
        cmocka_unit_test(test_casts),
    };
    return cmocka_run_group_tests(tests, begin, NULL);
}
