/* SPDX-License-Identifier: Apache-2.0 */
/* Elementary functions of double precision for kernel sources, included by millrace_device.h.
 *
 * The work is done in pairs of doubles, whose sum is the value to about 100 bits: mr_pair. A reduction brings the argument near 0, a series
 * gives the result there: its first terms in pairs, the rest, which weighs little, in plain doubles. So most results are good to within
 * 0.51 units in the last place, far inside the bounds that CUDA's manual states; tests/device compares them with the C library.
 * Special values follow Annex F of the C standard.
 *
 * Products that a pair is made of go through mr_times: the compiler may not fuse them with a sum.
 *
 * Order: pairs, exponentials, logarithms, hyperbolic functions, powers and roots, remainders and rounding. millrace_double_trig.h has the
 * trigonometric functions, millrace_double_special.h error functions and gamma functions,
 * millrace_bessel.h Bessel functions. */
#ifndef MILLRACE_DOUBLE_H
#define MILLRACE_DOUBLE_H

#define MR_INF_D __builtin_inf()
#define MR_NAN_D __builtin_nan("")

struct mr_pair { double high, low; };

MR_DEVICE double mr_times(double x, double y) { return __nvvm_mul_rn_d(x, y); }
/* |x| >= |y| or x == 0. */
MR_DEVICE mr_pair mr_fast_sum(double x, double y)
{
    double sum = x + y;
    return {sum, y - (sum - x)};
}
MR_DEVICE mr_pair mr_sum(double x, double y)
{
    double sum = x + y, part = sum - x;
    return {sum, (x - (sum - part)) + (y - part)};
}
MR_DEVICE mr_pair mr_product(double x, double y)
{
    double product = mr_times(x, y);
    return {product, __builtin_fma(x, y, -product)};
}
MR_DEVICE mr_pair mr_add(mr_pair x, mr_pair y)
{
    mr_pair high = mr_sum(x.high, y.high), low = mr_sum(x.low, y.low);
    high = mr_fast_sum(high.high, high.low + low.high);
    return mr_fast_sum(high.high, high.low + low.low);
}
MR_DEVICE mr_pair mr_add(mr_pair x, double y)
{
    mr_pair high = mr_sum(x.high, y);
    return mr_fast_sum(high.high, high.low + x.low);
}
MR_DEVICE mr_pair mr_negate(mr_pair x) { return {-x.high, -x.low}; }
MR_DEVICE mr_pair mr_multiply(mr_pair x, mr_pair y)
{
    mr_pair product = mr_product(x.high, y.high);
    return mr_fast_sum(product.high, product.low + (mr_times(x.high, y.low) + mr_times(x.low, y.high)));
}
MR_DEVICE mr_pair mr_multiply(mr_pair x, double y)
{
    mr_pair product = mr_product(x.high, y);
    return mr_fast_sum(product.high, __builtin_fma(x.low, y, product.low));
}
MR_DEVICE mr_pair mr_divide(mr_pair x, mr_pair y)
{
    double quotient = x.high / y.high;
    double rest = __builtin_fma(-quotient, y.high, x.high) + (x.low - mr_times(quotient, y.low));
    return mr_fast_sum(quotient, rest / y.high);
}
/* Of a value that is not negative; the square must neither overflow nor underflow. */
MR_DEVICE mr_pair mr_root(mr_pair x)
{
    double root = __nvvm_sqrt_rn_d(x.high);
    double rest = __builtin_fma(-root, root, x.high) + x.low;
    return root > 0 ? mr_fast_sum(root, rest / (2.0 * root)) : mr_pair{root, 0.0};
}
MR_DEVICE mr_pair mr_halve(mr_pair x) { return {x.high * 0.5, x.low * 0.5}; }
MR_DEVICE double mr_value(mr_pair x) { return x.high + x.low; }

/* x 2^k for any k; one rounding, except for results that are not normal. */
MR_DEVICE double mr_scale(double x, int k)
{
    k = k < -2200 ? -2200 : k > 2200 ? 2200 : k;
    for (; k > 1000; k -= 1000)
        x *= mr_power_of_2(1000);
    for (; k < -1000; k += 900)
        x *= mr_power_of_2(-900);
    return x * mr_power_of_2(k);
}
/* The exponent and the fraction, from 1 to 2 without 2, of a value other than 0, infinity and NaN. */
MR_DEVICE double mr_split(double x, int *exponent)
{
    bool tiny = __builtin_fabs(x) < 0x1p-1022;
    long long bits = __builtin_bit_cast(long long, tiny ? x * 0x1p54 : x);
    *exponent = (int)(bits >> 52 & 0x7ff) - 1023 - (tiny ? 54 : 0);
    return __builtin_bit_cast(double, (bits & ~(0x7ffll << 52)) | 0x3ffll << 52);
}

constexpr mr_pair mr_ln2 = {0x1.62e42fefa39efp-1, 0x1.abc9e3b39803fp-56}, mr_log2_e = {0x1.71547652b82fep+0, 0x1.777d0ffda0d24p-56},
                  mr_log10_e = {0x1.bcb7b1526e50ep-2, 0x1.95355baaafad3p-57}, mr_ln10 = {0x1.26bb1bbb55516p+1, -0x1.f48ad494ea3e9p-53};

/* exp(x) - 1 for |x| <= ln(2)/2 or a little more. */
MR_DEVICE mr_pair mr_exp_part(mr_pair x)
{
    double rest = mr_series(x.high, {1 / 6402373705728000.0, 1 / 355687428096000.0, 1 / 20922789888000.0, 1 / 1307674368000.0,
        1 / 87178291200.0, 1 / 6227020800.0, 1 / 479001600.0, 1 / 39916800.0, 1 / 3628800.0, 1 / 362880.0, 1 / 40320.0, 1 / 5040.0,
        1 / 720.0, 1 / 120.0, 1 / 24.0});
    mr_pair sum = mr_add({0x1.5555555555555p-3, 0x1.5555555555555p-57}, mr_product(x.high, rest));
    sum = mr_add(mr_multiply(x, sum), 0.5);
    sum = mr_add(mr_multiply(x, sum), 1.0);
    return mr_multiply(x, sum);
}
/* Brings x, |x| < 1100, near 0: x - k ln(2), and k. */
MR_DEVICE mr_pair mr_exp_reduce(mr_pair x, int *k)
{
    double whole = __nvvm_round_d(x.high * mr_log2_e.high);
    mr_pair taken = mr_multiply(mr_ln2, whole);
    *k = (int)whole;
    return mr_add(x, mr_negate(taken));
}
/* exp(x) = result 2^k, for |x| < 1100. */
MR_DEVICE mr_pair mr_exp_pair(mr_pair x, int *k) { return mr_add(mr_exp_part(mr_exp_reduce(x, k)), 1.0); }
MR_DEVICE double mr_exp_value(mr_pair x)
{
    int k;
    if (!(x.high > -800.0 && x.high < 800.0))
        return x.high > 0 ? MR_INF_D : 0.0;
    mr_pair result = mr_exp_pair(x, &k);
    return mr_scale(mr_value(result), k);
}
/* exp(x) - 1 with full relative precision, for |x| < 50. */
MR_DEVICE mr_pair mr_expm1_pair(mr_pair x)
{
    int k;
    mr_pair part = mr_exp_part(mr_exp_reduce(x, &k));
    double power = mr_power_of_2(k);
    return k == 0 ? part : mr_add({part.high * power, part.low * power}, mr_sum(power, -1.0));
}

MR_DEVICE double exp(double x) { return isnan(x) ? x : mr_exp_value({x, 0.0}); }
MR_DEVICE double exp2(double x)
{
    if (!(__builtin_fabs(x) < 1100.0))
        return isnan(x) ? x : x > 0 ? MR_INF_D : 0.0;
    double whole = __nvvm_round_d(x);
    return mr_scale(mr_value(mr_add(mr_exp_part(mr_multiply(mr_ln2, x - whole)), 1.0)), (int)whole);
}
MR_DEVICE double exp10(double x)
{
    if (!(__builtin_fabs(x) < 340.0))
        return isnan(x) ? x : x > 0 ? MR_INF_D : 0.0;
    return mr_exp_value(mr_multiply(mr_ln10, x));
}
MR_DEVICE double expm1(double x)
{
    if (__builtin_fabs(x) < 0x1p-54 || isnan(x))
        return x;
    return x > 45.0 ? exp(x) : x < -45.0 ? -1.0 : mr_value(mr_expm1_pair({x, 0.0}));
}

/* ln((1 + s) / (1 - s)) for |s| < 0.18. */
MR_DEVICE mr_pair mr_log_part(mr_pair s)
{
    mr_pair square = mr_multiply(s, s);
    double rest = mr_series(square.high, {1 / 29.0, 1 / 27.0, 1 / 25.0, 1 / 23.0, 1 / 21.0, 1 / 19.0, 1 / 17.0, 1 / 15.0, 1 / 13.0, 1 / 11.0,
        1 / 9.0, 1 / 7.0});
    mr_pair sum = mr_add({0x1.999999999999ap-3, -0x1.999999999999ap-57}, mr_product(square.high, rest));
    sum = mr_add(mr_multiply(square, sum), {0x1.5555555555555p-2, 0x1.5555555555555p-56});
    sum = mr_add(mr_multiply(square, sum), 1.0);
    sum = mr_multiply(s, sum);
    return {2.0 * sum.high, 2.0 * sum.low};
}
/* ln(x) = result + k ln(2) for finite x > 0. */
MR_DEVICE mr_pair mr_log_reduced(mr_pair x, int *k)
{
    double fraction = mr_split(x.high, k);
    if (fraction > 1.41421356237309504880) {
        fraction *= 0.5;
        *k += 1;
    }
    double low = x.low == 0 ? 0.0 : mr_scale(x.low, -*k);
    return mr_log_part(mr_divide(mr_add(mr_sum(fraction, -1.0), low), mr_add(mr_sum(fraction, 1.0), low)));
}
MR_DEVICE mr_pair mr_log_pair(mr_pair x)
{
    int k;
    mr_pair part = mr_log_reduced(x, &k);
    return k ? mr_add(mr_multiply(mr_ln2, (double)k), part) : part;
}
/* ln(1 + x) for x > -1, with full relative precision. */
MR_DEVICE mr_pair mr_log1p_pair(mr_pair x)
{
    if (__builtin_fabs(x.high) < 0.25)
        return mr_log_part(mr_divide(x, mr_add(x, 2.0)));
    return mr_log_pair(mr_add(x, 1.0));
}
/* A logarithm's values where x is not a finite number above 0. */
MR_DEVICE double mr_log_special(double x) { return x == 0 ? -MR_INF_D : x > 0 ? x : MR_NAN_D; }
MR_DEVICE bool mr_log_plain(double x) { return x > 0 && x < MR_INF_D; }

MR_DEVICE double log(double x) { return mr_log_plain(x) ? mr_value(mr_log_pair({x, 0.0})) : mr_log_special(x); }
MR_DEVICE double log2(double x)
{
    int k;
    if (!mr_log_plain(x))
        return mr_log_special(x);
    mr_pair part = mr_multiply(mr_log_reduced({x, 0.0}, &k), mr_log2_e);
    return mr_value(mr_add(part, (double)k));
}
MR_DEVICE double log10(double x)
{
    return mr_log_plain(x) ? mr_value(mr_multiply(mr_log_pair({x, 0.0}), mr_log10_e)) : mr_log_special(x);
}
MR_DEVICE double log1p(double x)
{
    if (__builtin_fabs(x) < 0x1p-54)
        return x;
    return x > -1.0 && x < MR_INF_D ? mr_value(mr_log1p_pair({x, 0.0})) : x == -1.0 ? -MR_INF_D : mr_log_special(x);
}

MR_DEVICE double sinh(double x)
{
    double size = __builtin_fabs(x);
    if (size < 0x1p-28 || !(size < MR_INF_D))
        return x;
    double value;
    if (size > 40.0) {
        value = mr_exp_value(mr_add(mr_negate(mr_ln2), size));
    } else {
        mr_pair e = mr_expm1_pair({size, 0.0});
        value = mr_value(mr_halve(mr_add(e, mr_divide(e, mr_add(e, 1.0)))));
    }
    return __builtin_copysign(value, x);
}
MR_DEVICE double cosh(double x)
{
    double size = __builtin_fabs(x);
    if (size > 40.0)
        return size < MR_INF_D ? mr_exp_value(mr_add(mr_negate(mr_ln2), size)) : size;
    mr_pair e = mr_add(mr_expm1_pair({size, 0.0}), 1.0);
    return isnan(x) ? x : mr_value(mr_halve(mr_add(e, mr_divide({1.0, 0.0}, e))));
}
MR_DEVICE double tanh(double x)
{
    double size = __builtin_fabs(x);
    if (size < 0x1p-28 || isnan(x))
        return x;
    mr_pair e = mr_expm1_pair({2.0 * __builtin_fmin(size, 20.0), 0.0});
    return __builtin_copysign(mr_value(mr_divide(e, mr_add(e, 2.0))), x);
}
MR_DEVICE double asinh(double x)
{
    double size = __builtin_fabs(x);
    if (size < 0x1p-28 || !(size < MR_INF_D))
        return x;
    mr_pair value;
    if (size > 0x1p28) {
        value = mr_add(mr_log_pair({size, 0.0}), mr_ln2);
    } else {
        mr_pair square = mr_product(size, size);
        mr_pair part = mr_divide(square, mr_add(mr_root(mr_add(square, 1.0)), 1.0));
        value = mr_log1p_pair(mr_add(part, size));
    }
    return __builtin_copysign(mr_value(value), x);
}
MR_DEVICE double acosh(double x)
{
    if (!(x >= 1.0))
        return MR_NAN_D;
    if (x > 0x1p28)
        return x < MR_INF_D ? mr_value(mr_add(mr_log_pair({x, 0.0}), mr_ln2)) : x;
    double less = x - 1.0;   /* exact, or x is so large that it does not matter */
    mr_pair exact = mr_sum(x, -1.0);
    return less == 0 ? 0.0 : mr_value(mr_log1p_pair(mr_add(exact, mr_root(mr_multiply(exact, mr_sum(x, 1.0))))));
}
MR_DEVICE double atanh(double x)
{
    double size = __builtin_fabs(x);
    if (size < 0x1p-28 || !(size < 1.0))
        return size == 1.0 ? __builtin_copysign(MR_INF_D, x) : size < 1.0 ? x : MR_NAN_D;
    mr_pair value = size < 0.17 ? mr_log_part({size, 0.0}) : mr_log1p_pair(mr_divide({2.0 * size, 0.0}, mr_sum(1.0, -size)));
    return __builtin_copysign(mr_value(mr_halve(value)), x);
}

MR_DEVICE double pow(double x, double y)
{
    double size = __builtin_fabs(x), strength = __builtin_fabs(y);
    bool whole = __nvvm_trunc_d(y) == y, odd = whole && strength < 0x1p53 && ((long long)y & 1);
    if (x == 1.0 || y == 0.0)
        return 1.0;
    if (isnan(x) || isnan(y))
        return MR_NAN_D;
    if (isinf(y))
        return size == 1.0 ? 1.0 : (size > 1.0) == (y > 0) ? MR_INF_D : 0.0;
    double result;
    if (size == 0.0 || isinf(x)) {
        result = (size == 0.0) == (y < 0) ? MR_INF_D : 0.0;
    } else if (x < 0 && !whole) {
        return MR_NAN_D;
    } else {
        mr_pair log = mr_log_pair({size, 0.0});
        bool safe = strength < 0x1p70;   /* beyond, the product is 0 or too large for any x */
        mr_pair exponent = mr_multiply(log, safe ? y : __builtin_copysign(0x1p70, y));
        result = mr_exp_value(exponent);
    }
    return signbit(x) && odd ? -result : result;
}

/* The cube root of x from 1 to 8, to a pair. */
MR_DEVICE mr_pair mr_cube_root(double x)
{
    double root = 1.0 + (x - 1.0) * (1 / 7.0);
    for (int i = 0; i < 5; i++)
        root -= (root - x / (root * root)) * (1 / 3.0);
    mr_pair cube = mr_multiply(mr_product(root, root), root);
    return mr_fast_sum(root, ((x - cube.high) - cube.low) / (3.0 * root * root));
}
/* x = sign * fraction * 8^k with a fraction from 1 to 8. */
MR_DEVICE double mr_split_by_8(double x, int *k)
{
    int exponent;
    double fraction = mr_split(__builtin_fabs(x), &exponent);
    int more = (exponent + 1200) % 3;
    *k = (exponent - more) / 3;
    return fraction * (double)(1 << more);
}
MR_DEVICE double cbrt(double x)
{
    int k;
    if (x == 0 || !isfinite(x))
        return x;
    double fraction = mr_split_by_8(x, &k);
    return __builtin_copysign(mr_scale(mr_value(mr_cube_root(fraction)), k), x);
}
MR_DEVICE double rcbrt(double x)
{
    int k;
    if (x == 0 || !isfinite(x))
        return isnan(x) ? x : 1.0 / x;
    double fraction = mr_split_by_8(x, &k);
    return __builtin_copysign(mr_scale(mr_value(mr_divide({1.0, 0.0}, mr_cube_root(fraction))), -k), x);
}

/* The root of a sum of squares, or one divided by it. The largest is brought near 1 first; what is too small to count may underflow. */
MR_DEVICE double mr_norm(const double *values, int count, bool inverse)
{
    double most = 0.0;
    bool unknown = false;
    for (int i = 0; i < count; i++) {
        if (isinf(values[i]))
            return inverse ? 0.0 : MR_INF_D;
        unknown = unknown || isnan(values[i]);
        most = __builtin_fmax(most, __builtin_fabs(values[i]));
    }
    if (unknown || most == 0.0)
        return unknown ? MR_NAN_D : inverse ? MR_INF_D : 0.0;
    int exponent;
    mr_split(most, &exponent);
    mr_pair sum = {0.0, 0.0};
    for (int i = 0; i < count; i++) {
        double value = mr_scale(values[i], -exponent);
        sum = mr_add(sum, mr_product(value, value));
    }
    mr_pair root = mr_root(sum);
    return inverse ? mr_scale(mr_value(mr_divide({1.0, 0.0}, root)), -exponent) : mr_scale(mr_value(root), exponent);
}
MR_DEVICE double hypot(double x, double y) { const double all[] = {x, y}; return mr_norm(all, 2, false); }
MR_DEVICE double rhypot(double x, double y) { const double all[] = {x, y}; return mr_norm(all, 2, true); }
MR_DEVICE double norm3d(double x, double y, double z) { const double all[] = {x, y, z}; return mr_norm(all, 3, false); }
MR_DEVICE double rnorm3d(double x, double y, double z) { const double all[] = {x, y, z}; return mr_norm(all, 3, true); }
MR_DEVICE double norm4d(double x, double y, double z, double w) { const double all[] = {x, y, z, w}; return mr_norm(all, 4, false); }
MR_DEVICE double rnorm4d(double x, double y, double z, double w) { const double all[] = {x, y, z, w}; return mr_norm(all, 4, true); }
MR_DEVICE double norm(int count, const double *values) { return mr_norm(values, count, false); }
MR_DEVICE double rnorm(int count, const double *values) { return mr_norm(values, count, true); }
MR_DEVICE double rsqrt(double x)
{
    int exponent;
    if (!mr_log_plain(x))
        return x == 0 ? 1.0 / x : x > 0 ? 0.0 : MR_NAN_D;
    double fraction = mr_split(x, &exponent);
    int odd = exponent & 1;
    mr_pair root = mr_root({odd ? 2.0 * fraction : fraction, 0.0});
    return mr_scale(mr_value(mr_divide({1.0, 0.0}, root)), -((exponent - odd) / 2));
}

/* |x| modulo |y| and the last bits of the quotient, exactly, by long division of the fractions; both finite, y not 0. */
MR_DEVICE double mr_remainder(double x, double y, unsigned int *quotient)
{
    double size = __builtin_fabs(x), divisor = __builtin_fabs(y);
    *quotient = 0;
    if (size < divisor)
        return size;
    unsigned long long a = __builtin_bit_cast(unsigned long long, size), b = __builtin_bit_cast(unsigned long long, divisor);
    int above = a >> 52 ? (int)(a >> 52) : 1, below = b >> 52 ? (int)(b >> 52) : 1;
    unsigned long long fraction = 0xfffffffffffffull, one = fraction + 1;
    unsigned long long rest = (a & fraction) | (a >> 52 ? one : 0), by = (b & fraction) | (b >> 52 ? one : 0);
    *quotient = (unsigned int)(rest / by);
    rest %= by;
    for (int left = above - below; left > 0; left -= 11) {
        int step = left < 11 ? left : 11;
        rest <<= step;
        *quotient = *quotient << step | (unsigned int)(rest / by);
        rest %= by;
    }
    /* In units of 2^(below - 1075). */
    return mr_scale((double)rest, below - 1075);
}
MR_DEVICE double fmod(double x, double y)
{
    unsigned int quotient;
    if (!isfinite(x) || isnan(y) || y == 0)
        return MR_NAN_D;
    return isinf(y) ? x : __builtin_copysign(mr_remainder(x, y, &quotient), x);
}
MR_DEVICE double remquo(double x, double y, int *quotient)
{
    unsigned int whole = 0;
    *quotient = 0;
    if (!isfinite(x) || isnan(y) || y == 0)
        return MR_NAN_D;
    if (isinf(y))
        return x;
    double rest = mr_remainder(x, y, &whole), size = __builtin_fabs(y);
    /* Above half of y, or half with an odd quotient: one more. size - rest is exact there. */
    double other = size - rest;
    if (rest > other || (rest == other && (whole & 1))) {
        rest = -other;
        whole++;
    }
    whole &= 7; /* three bits, as on hardware */
    *quotient = signbit(x) != signbit(y) ? -(int)whole : (int)whole;
    double value = signbit(x) ? -rest : rest;
    return value == 0 ? __builtin_copysign(0.0, x) : value;
}
MR_DEVICE double remainder(double x, double y) { int quotient; return remquo(x, y, &quotient); }

MR_DEVICE double round(double x)
{
    double near = __nvvm_trunc_d(x);
    return __builtin_copysign(__builtin_fabs(x - near) >= 0.5 ? near + __builtin_copysign(1.0, x) : near, x);
}
MR_DEVICE double nearbyint(double x) { return __nvvm_round_d(x); }
MR_DEVICE long lrint(double x) { return (long)__nvvm_round_d(x); }
MR_DEVICE long long llrint(double x) { return (long long)__nvvm_round_d(x); }
MR_DEVICE long lround(double x) { return (long)round(x); }
MR_DEVICE long long llround(double x) { return (long long)round(x); }
MR_DEVICE double fdim(double x, double y) { return x <= y ? 0.0 : x - y; }
MR_DEVICE double ldexp(double x, int k)
{
    int exponent;
    if (x == 0 || !isfinite(x))
        return x;
    double fraction = mr_split(x, &exponent);
    k = k < -5000 ? -5000 : k > 5000 ? 5000 : k;
    k += exponent;
    return k < -1022 ? fraction * mr_power_of_2(-1000) * mr_power_of_2(k < -2000 ? -1000 : k + 1000)
                     : k > 1023 ? __builtin_copysign(MR_INF_D, x) : fraction * mr_power_of_2(k);
}
MR_DEVICE double scalbn(double x, int k) { return ldexp(x, k); }
MR_DEVICE double scalbln(double x, long k) { return ldexp(x, k < -5000 ? -5000 : k > 5000 ? 5000 : (int)k); }
MR_DEVICE double frexp(double x, int *exponent)
{
    *exponent = 0;
    if (x == 0 || !isfinite(x))
        return x;
    double fraction = mr_split(x, exponent);
    *exponent += 1;
    return fraction * 0.5;
}
MR_DEVICE int ilogb(double x)
{
    int exponent;
    if (x == 0 || !isfinite(x))
        return x == 0 || isnan(x) ? -2147483647 - 1 : 2147483647;
    mr_split(x, &exponent);
    return exponent;
}
MR_DEVICE double logb(double x) { return x == 0 ? -MR_INF_D : isfinite(x) ? (double)ilogb(x) : isnan(x) ? x : MR_INF_D; }
MR_DEVICE double modf(double x, double *whole)
{
    *whole = __nvvm_trunc_d(x);
    return __builtin_copysign(isinf(x) ? 0.0 : x - *whole, x);
}
MR_DEVICE double nextafter(double x, double y)
{
    if (isnan(x) || isnan(y) || x == y)
        return isnan(x) ? x : y;
    if (x == 0)
        return __builtin_copysign(0x1p-1074, y);
    long long bits = __builtin_bit_cast(long long, x);
    return __builtin_bit_cast(double, (x < y) == (x > 0) ? bits + 1 : bits - 1);
}

#include "millrace_double_trig.h"
#include "millrace_double_special.h"
#include "millrace_bessel.h"

#undef MR_INF_D
#undef MR_NAN_D

#endif
