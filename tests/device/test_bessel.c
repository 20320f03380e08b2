/* SPDX-License-Identifier: Apache-2.0 */
/* Bessel functions: values from a library of high precision (bessel_right.txt), within the bounds of CUDA's manual;
 * special values, as the manual and an H200 have them, but that the H200's jn is NaN at 0 and its yn +infinity at -0;
 * and the Wronskian of functions of both kinds at random arguments.
 *
 * The manual's bounds: for |x| below 8 units of the last place, from there on an absolute error; for ynf units below n;
 * an absolute error for all other jn and yn. Ours are half of the manual's or less, and so are those here. */
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "device_support.h"

#define COUNT 40000
#define PI 3.14159265358979323846

enum { J0, J1, JN, Y0, Y1, YN, I0, I1 };
static const char *const names[] = {"j0", "j1", "jn", "y0", "y1", "yn", "cyl_bessel_i0", "cyl_bessel_i1"};

static struct {
    double x[COUNT], out[COUNT];
    float single[COUNT];
    int which[COUNT], order[COUNT];
} at;

static int begin(void **state)
{
    (void)state;
    return begin_with("DEVICE_BESSEL_PTX");
}

static void calculate(int count)
{
    CUdeviceptr out, single, which, order, x;
    OK(cuMemAlloc(&out, sizeof at.out));
    OK(cuMemAlloc(&single, sizeof at.single));
    OK(cuMemAlloc(&which, sizeof at.which));
    OK(cuMemAlloc(&order, sizeof at.order));
    OK(cuMemAlloc(&x, sizeof at.x));
    OK(cuMemcpyHtoD(which, at.which, sizeof at.which));
    OK(cuMemcpyHtoD(order, at.order, sizeof at.order));
    OK(cuMemcpyHtoD(x, at.x, sizeof at.x));
    OK(cuLaunchKernel(function_of("bessel"), ((unsigned)count + 127) / 128, 1, 1, 128, 1, 1, 0, NULL,
                      (void *[]){&out, &single, &which, &order, &x, &count}, NULL));
    OK(cuMemcpyDtoH(at.out, out, sizeof at.out));
    OK(cuMemcpyDtoH(at.single, single, sizeof at.single));
    OK(cuMemFree(out));
    OK(cuMemFree(single));
    OK(cuMemFree(which));
    OK(cuMemFree(order));
    OK(cuMemFree(x));
}

/* The distance in units of the last place of a number with that many digits near `right`. */
static double units(double got, double right, int digits)
{
    int exponent, least = digits == 53 ? -1021 : -125;
    frexp(right, &exponent);
    return ldexp(fabs(got - right), digits - (exponent < least ? least : exponent));
}

static void compare(int i, double got, double right, int digits)
{
    int which = at.which[i], order = at.order[i];
    double x = at.x[i], most = digits == 53 ? 0x1.fffffffffffffp1023 : 0x1.fffffep127;
    bool by_units = which == YN ? digits == 24 && fabs(x) < order : which >= I0 || (which != JN && fabs(x) < 8);
    /* yn's error in units grows with the order. */
    double bound = by_units ? which == YN ? 1 : 4 : digits == 53 ? 1e-15 : 1e-7;
    if (which == YN && !by_units)
        bound *= fmax(1, fabs(right)) * (x < order ? 100 : 1);
    bool right_one = got == right || (fabs(got) > most && fabs(right) >= most && signbit(got) == signbit(right)) ||
                     (by_units ? units(got, right, digits) : fabs(got - right)) <= bound;
    if (!right_one)
        fail_msg("%s%s(%d, %a) is %a instead of %a", names[which], digits == 53 ? "" : "f", order, x, got, right);
}

static void known_values(void **state)
{
    static double right[COUNT];
    char name[32], x[64], value[64];
    int count = 0, singles = 0;
    FILE *file = fopen(getenv("DEVICE_BESSEL_RIGHT"), "r");
    (void)state;
    assert_non_null(file);
    while (fscanf(file, "%31s %d %63s %63s", name, &at.order[count], x, value) == 4) {
        at.which[count] = 0;
        while (strcmp(names[at.which[count]], name) != 0)
            assert_in_range(++at.which[count], J1, I1);
        at.x[count] = strtod(x, NULL);
        right[count++] = strtod(value, NULL);
        assert_in_range(count, 1, COUNT - 1);
    }
    fclose(file);
    assert_true(count > 1000);
    calculate(count);
    for (int i = 0; i < count; i++) {
        compare(i, at.out[i], right[i], 53);
        if (at.x[i] != (double)(float)at.x[i])
            continue;
        compare(i, (double)at.single[i], right[i], 24);
        singles++;
    }
    assert_true(singles > 400);
}

/* The same for both precisions. */
static const struct {
    int which, order;
    double x, right;
} special[] = {
    {J0, 0, 0, 1},
    {J0, 0, -0.0, 1},
    {J0, 0, INFINITY, 0},
    {J0, 0, -INFINITY, 0},
    {J0, 0, NAN, NAN},
    {J1, 0, 0, 0},
    {J1, 0, -0.0, -0.0},
    {J1, 0, INFINITY, 0},
    {J1, 0, -INFINITY, -0.0},
    {J1, 0, NAN, NAN},
    {JN, -1, 1, NAN},
    {JN, INT32_MIN, 0, NAN},
    {JN, 2, NAN, NAN},
    {JN, 2, INFINITY, 0},
    {JN, 5, 0, 0},
    {JN, 5, -0.0, -0.0},
    {JN, 0, 0, 1},
    {JN, 1, -INFINITY, -0.0},
    {JN, INT32_MAX, 1e8, 0},
    {JN, INT32_MAX, -1e-40, -0.0},
    {Y0, 0, 0, -INFINITY},
    {Y0, 0, -0.0, -INFINITY},
    {Y0, 0, INFINITY, 0},
    {Y0, 0, -INFINITY, NAN},
    {Y0, 0, -0x1p-149, NAN},
    {Y0, 0, NAN, NAN},
    {Y1, 0, 0, -INFINITY},
    {Y1, 0, -0.0, -INFINITY},
    {Y1, 0, INFINITY, 0},
    {Y1, 0, -INFINITY, NAN},
    {Y1, 0, -1, NAN},
    {Y1, 0, NAN, NAN},
    {YN, -1, 1, NAN},
    {YN, INT32_MIN, 0, NAN},
    {YN, 2, 0, -INFINITY},
    {YN, 3, -0.0, -INFINITY},
    {YN, 2, INFINITY, 0},
    {YN, 3, -1, NAN},
    {YN, 4, NAN, NAN},
    {YN, 1, 0, -INFINITY},
    {YN, INT32_MAX, 1, -INFINITY},
    {YN, 100, 0x1p-140, -INFINITY},
    {I0, 0, 0, 1},
    {I0, 0, INFINITY, INFINITY},
    {I0, 0, -INFINITY, INFINITY},
    {I0, 0, NAN, NAN},
    {I0, 0, -714, INFINITY},
    {I1, 0, 0, 0},
    {I1, 0, -0.0, -0.0},
    {I1, 0, INFINITY, INFINITY},
    {I1, 0, -INFINITY, -INFINITY},
    {I1, 0, NAN, NAN},
    {I1, 0, -715, -INFINITY},
};
#define SPECIAL (int)(sizeof special / sizeof *special)

static bool same(double x, double y)
{
    return isnan(x) ? isnan(y) : x == y && signbit(x) == signbit(y);
}

static void special_values(void **state)
{
    (void)state;
    for (int i = 0; i < SPECIAL; i++) {
        at.which[i] = special[i].which;
        at.order[i] = special[i].order;
        at.x[i] = special[i].x;
    }
    calculate(SPECIAL);
    for (int i = 0; i < SPECIAL; i++)
        if (!same(at.out[i], special[i].right) || !same((double)at.single[i], special[i].right))
            fail_msg("%s(%d, %g) is %g, in single precision %g, instead of %g", names[special[i].which],
                     special[i].order, special[i].x, at.out[i], (double)at.single[i], special[i].right);
}

static double random_part(void)
{
    static uint64_t state = 88172645463325252u;
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return (double)(state >> 11) * 0x1p-53;
}

/* J of order n + 1 times Y of order n, less J of n times Y of n + 1, is 2 / (pi x). */
static void wronskian(void **state)
{
    (void)state;
    for (int i = 0; i < COUNT; i += 4) {
        bool higher = i % 8 == 4;
        int n = higher ? 2 + (int)(random_part() * 200) : 0;
        double part = random_part(), x = higher ? n * (0.5 + 3 * part) : i % 3 ? 12 * part : exp2(60 * part - 30);
        static const int kinds[2][4] = {{J1, Y0, J0, Y1}, {JN, YN, JN, YN}};
        for (int k = 0; k < 4; k++) {
            at.which[i + k] = kinds[higher][k];
            at.order[i + k] = n + (k == 0 || k == 3);
            at.x[i + k] = x;
        }
    }
    calculate(COUNT);
    for (int i = 0; i < COUNT; i += 4) {
        double first = at.out[i] * at.out[i + 1], second = at.out[i + 2] * at.out[i + 3], right = 2 / (PI * at.x[i]);
        if (!(fabs(first - second - right) <= (at.order[i] > 1 ? 2e-13 : 2e-15) * (fabs(right) + fabs(first))))
            fail_msg("%s(%d) and %d at %a: %.17g instead of %.17g", names[at.which[i]], at.order[i], at.order[i + 1],
                     at.x[i], first - second, right);
    }
}

static void overloads(void **state)
{
    int sizes[3], whole = 3;
    float x = 2.5f;
    CUdeviceptr out;
    (void)state;
    OK(cuMemAlloc(&out, sizeof sizes));
    OK(cuLaunchKernel(function_of("overloads"), 1, 1, 1, 1, 1, 1, 0, NULL, (void *[]){&out, &x, &whole}, NULL));
    OK(cuMemcpyDtoH(sizes, out, sizeof sizes));
    OK(cuMemFree(out));
    assert_int_equal(sizes[0], 8 * sizeof(float));
    assert_int_equal(sizes[1], 3 * sizeof(double));
    assert_int_equal(sizes[2], 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(known_values), cmocka_unit_test(special_values),
                                       cmocka_unit_test(wronskian), cmocka_unit_test(overloads)};
    return cmocka_run_group_tests(tests, begin, NULL);
}
