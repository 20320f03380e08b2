/* SPDX-License-Identifier: Apache-2.0 */
/* The elementary functions of the device headers against the C library's in double precision: special values are the
 * same, all others are within half a unit in the last place and what the series leave out. Arguments: a sweep over all
 * exponents, values near each function's corners, and random bits. */
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
#define COUNT 60000
#define ULPS_MOST 0.51
#define ULPS_SINE 1.51 /* sinf, cosf: in single precision throughout */

static const float corners[] = {0.0f,
                                -0.0f,
                                1,
                                -1,
                                0.5f,
                                2,
                                3,
                                -3,
                                10,
                                88.72284f,
                                -87.33655f,
                                -103.97208f,
                                89.4f,
                                128,
                                -149,
                                -150,
                                0.35f,
                                -0.35f,
                                0.29999f,
                                0.3f,
                                2.5f,
                                4,
                                10.1f,
                                0.78539819f,
                                1.5707964f,
                                3.1415927f,
                                268435456.0f,
                                268435440.0f,
                                1e22f,
                                3.4e38f,
                                1.17549435e-38f,
                                1e-45f,
                                16367173.0f,
                                0.70710678f,
                                1.41421356f,
                                INFINITY,
                                -INFINITY,
                                NAN,
                                16777216,
                                16777215,
                                -16777215,
                                0.49999997f,
                                8388609};
#define CORNERS (sizeof corners / sizeof corners[0])

static CUmodule module;
static float xs[COUNT], ys[COUNT], results[COUNT];
static CUdeviceptr x_device, y_device, out_device;

static float random_float(void)
{
    static uint64_t state = 88172645463325252u;
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    uint32_t bits = (uint32_t)(state >> 20);
    float value;
    if (state & 1) /* as many of a common size as of any */
        bits = (bits & 0x807fffffu) | (110u + (bits >> 23) % 32) << 23;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static int begin(void **state)
{
    CUcontext context;
    (void)state;
    for (size_t i = 0; i < COUNT; i++) {
        xs[i] = i < CORNERS * CORNERS ? corners[i % CORNERS] : random_float();
        ys[i] = i < CORNERS * CORNERS ? corners[i / CORNERS] : random_float();
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

/* The distance in units of the last place of a float near `right`. */
static double ulps(float got, double right)
{
    int exponent;
    frexp(right, &exponent);
    exponent = exponent < -125 ? -125 : exponent;
    return fabs(got - right) / ldexp(1, exponent - 24);
}

static double ulps_most(const char *name)
{
    return strcmp(name, "sinf") == 0 || strcmp(name, "cosf") == 0 ? ULPS_SINE : ULPS_MOST;
}

static void compare(const char *name, float x, float y, float got, double right)
{
    float rounded = (float)right;
    if (isnan(right)                     ? isnan(got)
        : isinf(rounded) || rounded == 0 ? got == rounded && signbit(got) == signbit(rounded)
                                         : ulps(got, right) <= ulps_most(name))
        return;
    /* A result that rounds to the border of the range may fall on either side of it. */
    if (isinf(got) && signbit(got) == signbit(rounded) && fabsf(rounded) == 0x1.fffffep127f)
        return;
    fail_msg("%s(%a, %a) is %a, must be %a (%.3f units)", name, x, y, got, right, ulps(got, right));
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

/* The C library's function of a kernel's name: the name without its last letter. */
#define UNARY(name) static double right_##name(double x);
#define BINARY(name) static double right_##name(double x, double y);
#include "math_functions.def"
#undef UNARY
#undef BINARY
#define RIGHT1(name) \
    static double right_##name##f(double x) \
    { \
        return name(x); \
    }
#define RIGHT2(name) \
    static double right_##name##f(double x, double y) \
    { \
        return name(x, y); \
    }
RIGHT1(exp)
RIGHT1(exp2)
RIGHT1(exp10)
RIGHT1(expm1)
RIGHT1(log)
RIGHT1(log2)
RIGHT1(log10)
RIGHT1(log1p)
RIGHT1(sinh)
RIGHT1(cosh)
RIGHT1(tanh)
RIGHT1(asinh)
RIGHT1(acosh)
RIGHT1(atanh)
RIGHT1(sin)
RIGHT1(cos)
RIGHT1(tan)
RIGHT1(asin)
RIGHT1(acos)
RIGHT1(atan)
RIGHT1(cbrt)
RIGHT1(erf)
RIGHT1(erfc)
RIGHT1(round)
RIGHT2(pow)
RIGHT2(atan2)
RIGHT2(hypot)
RIGHT2(fmod)
RIGHT2(fdim)

#define UNARY(name) \
    static void test_##name(void **state) \
    { \
        (void)state; \
        run(#name, 0); \
        for (int i = 0; i < COUNT; i++) \
            compare(#name, xs[i], 0, results[i], right_##name(xs[i])); \
    }
#define BINARY(name) \
    static void test_##name(void **state) \
    { \
        (void)state; \
        run(#name, 1); \
        for (int i = 0; i < COUNT; i++) \
            compare(#name, xs[i], ys[i], results[i], right_##name(xs[i], ys[i])); \
    }
#include "math_functions.def"
#undef UNARY
#undef BINARY

static void test_overloads(void **state)
{
    (void)state;
    CUfunction function;
    float x = 1.25f, differences[4];
    OK(cuModuleGetFunction(&function, module, "overloads"));
    OK(cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, NULL, (void *[]){&out_device, &x}, NULL));
    OK(cuMemcpyDtoH(differences, out_device, sizeof differences));
    for (int i = 0; i < 4; i++)
        assert_true(differences[i] == 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define UNARY(name) cmocka_unit_test(test_##name),
#define BINARY(name) cmocka_unit_test(test_##name),
#include "math_functions.def"
        cmocka_unit_test(test_overloads),
    };
    return cmocka_run_group_tests(tests, begin, NULL);
}
