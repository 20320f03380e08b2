/* SPDX-License-Identifier: Apache-2.0 */
/* Elementary functions of single precision for kernel sources, included by millrace_device.h.
 *
 * Each function works in double precision with a reduction and a short series, and rounds once at the end. The series are cut where the
 * rest is below 2^-33 of the result, so the error stays under 0.51 units in the last place, inside every bound that CUDA's programming
 * guide states; tests/device compares them with the C library. Sine and cosine, of which programs calculate many, are the exception: they work in single
 * precision with errors up to 1.51 units, where CUDA's are up to 2. Special values follow Annex F of the C standard.
 *
 * Functions that start with mr_ take and give doubles that are good for about 33 bits or more; they are private to this file. The functions
 * for double precision are in millrace_double.h; the rarer ones of single precision are those, rounded.
 *
 * Order: pieces, exponentials and logarithms, hyperbolic functions and their inverses, powers and roots, error function, remainder and
 * rounding; millrace_trig.h: trigonometric functions and their inverses; at the end the names that C++ overloads. */
#ifndef MILLRACE_MATH_H
#define MILLRACE_MATH_H

#define MR_INFINITY __builtin_inff()
#define MR_NAN __builtin_nanf("")
#define MR_PI 3.14159265358979323846
#define MR_LN2 0.69314718055994530942
#define MR_LOG2E 1.44269504088896340736

MR_DEVICE bool isnan(float x) { return x != x; }
MR_DEVICE bool isnan(double x) { return x != x; }
MR_DEVICE bool isinf(float x) { return __builtin_fabsf(x) == MR_INFINITY; }
MR_DEVICE bool isinf(double x) { return __builtin_fabs(x) == __builtin_inf(); }
MR_DEVICE bool isfinite(float x) { return __builtin_fabsf(x) < MR_INFINITY; }
MR_DEVICE bool isfinite(double x) { return __builtin_fabs(x) < __builtin_inf(); }
MR_DEVICE bool signbit(float x) { return __builtin_bit_cast(int, x) < 0; }
MR_DEVICE bool signbit(double x) { return __builtin_bit_cast(long long, x) < 0; }

/* The same by the C library's names, and of long double, which is a double in kernels. */
#define MR_CLASS(name, value)                                        \
    MR_DEVICE int __##name(double x) { return value(x); }            \
    MR_DEVICE int __##name##f(float x) { return value(x); }          \
    MR_DEVICE int __##name##l(long double x) { return value((double)x); }
MR_CLASS(isnan, isnan) MR_CLASS(isinf, isinf) MR_CLASS(finite, isfinite) MR_CLASS(signbit, signbit)
#undef MR_CLASS

/* 2^k for k from -1022 to 1023. */
MR_DEVICE double mr_power_of_2(int k) { return __builtin_bit_cast(double, (long long)(k + 1023) << 52); }

/* Horner's scheme, highest power first. */
template <int n> MR_DEVICE double mr_series(double x, const double (&terms)[n])
{
    double sum = terms[0];
#pragma unroll
    for (int i = 1; i < n; i++)
        sum = __builtin_fma(sum, x, terms[i]);
    return sum;
}

/* exp(x) - 1 for |x| <= ln(2)/2 or a little more: x + x^2/2! + … */
MR_DEVICE double mr_expm1_near_0(double x)
{
    return x * mr_series(x, {1 / 39916800.0, 1 / 3628800.0, 1 / 362880.0, 1 / 40320.0, 1 / 5040.0, 1 / 720.0, 1 / 120.0, 1 / 24.0, 1 / 6.0, 0.5, 1.0});
}

/* 2^x, for any x that is not NaN; overflow and underflow are left to the conversion to float. */
MR_DEVICE double mr_exp2(double x)
{
    x = __builtin_fmin(__builtin_fmax(x, -300.0), 300.0);
    double whole = __nvvm_round_d(x);
    return (1.0 + mr_expm1_near_0((x - whole) * MR_LN2)) * mr_power_of_2((int)whole);
}

/* exp(x) - 1 with full relative precision near 0. */
MR_DEVICE double mr_expm1(double x)
{
    double far = mr_exp2(x * MR_LOG2E) - 1.0, near = mr_expm1_near_0(x);
    return __builtin_fabs(x) < 0.35 ? near : far;
}

/* 2 artanh(s) for |s| < 0.1716: 2s (1 + s^2/3 + s^4/5 + …). It is ln((1 + s) / (1 - s)). */
MR_DEVICE double mr_log_ratio(double s)
{
    return 2.0 * s * mr_series(s * s, {1 / 15.0, 1 / 13.0, 1 / 11.0, 1 / 9.0, 1 / 7.0, 1 / 5.0, 1 / 3.0, 1.0});
}

/* log2(x) for finite x > 0 that came from a float, or 1 + one. Exact for powers of two, since the fraction is then 1. */
MR_DEVICE double mr_log2(double x)
{
    long long bits = __builtin_bit_cast(long long, x);
    long long exponent = (bits - 0x3fe6a09e667f3bcd) >> 52;
    double fraction = __builtin_bit_cast(double, bits - (exponent << 52));   /* from sqrt(1/2) to sqrt(2) */
    return (double)exponent + MR_LOG2E * mr_log_ratio((fraction - 1.0) / (fraction + 1.0));
}

/* A logarithm's special values; `value` for all others. */
MR_DEVICE float mr_log_result(float x, double value)
{
    if (x > 0)
        return x == MR_INFINITY ? x : (float)value;
    return x == 0 ? -MR_INFINITY : MR_NAN;
}

MR_DEVICE float exp2f(float x) { return isnan(x) ? x : (float)mr_exp2(x); }
MR_DEVICE float expf(float x) { return isnan(x) ? x : (float)mr_exp2(x * MR_LOG2E); }
MR_DEVICE float exp10f(float x) { return isnan(x) ? x : (float)mr_exp2(x * 3.32192809488736234787); }
MR_DEVICE float expm1f(float x) { return isnan(x) ? x : (float)mr_expm1(x); }
MR_DEVICE float log2f(float x) { return mr_log_result(x, mr_log2(x)); }
MR_DEVICE float logf(float x) { return mr_log_result(x, mr_log2(x) * MR_LN2); }
MR_DEVICE float log10f(float x) { return mr_log_result(x, mr_log2(x) * 0.30102999566398119521); }
MR_DEVICE float log1pf(float x)
{
    double wide = x, near = mr_log_ratio(wide / (2.0 + wide)), far = mr_log2(1.0 + wide) * MR_LN2;
    return __builtin_fabsf(x) < 0.3f ? (float)near : mr_log_result(1.0f + x, far);
}

MR_DEVICE float sinhf(float x)
{
    double e = mr_expm1(__builtin_fabs((double)x));
    return isfinite(x) ? __builtin_copysignf((float)((e + e / (e + 1.0)) * 0.5), x) : x;
}
MR_DEVICE float coshf(float x)
{
    double e = mr_exp2(__builtin_fabs((double)x) * MR_LOG2E);
    return isnan(x) ? x : (float)((e + 1.0 / e) * 0.5);
}
MR_DEVICE float tanhf(float x)
{
    double e = mr_expm1(2.0 * __builtin_fmin(__builtin_fmax((double)x, -20.0), 20.0));
    return isnan(x) ? x : (float)(e / (e + 2.0));
}

MR_DEVICE float atanhf(float x)
{
    double size = __builtin_fabs((double)x), far = mr_log2((1.0 + size) / (1.0 - size)) * (MR_LN2 / 2);
    double near = size * mr_series(size * size, {1 / 11.0, 1 / 9.0, 1 / 7.0, 1 / 5.0, 1 / 3.0, 1.0});
    float value = size < 0.1 ? (float)near : size < 1.0 ? (float)far : size == 1.0 ? MR_INFINITY : MR_NAN;
    return __builtin_copysignf(value, x);
}
MR_DEVICE float asinhf(float x)
{
    double wide = __builtin_fabs((double)x), root = __nvvm_sqrt_rn_d(wide * wide + 1.0), less = wide + wide * wide / (1.0 + root);
    double value = less < 0.3 ? mr_log_ratio(less / (2.0 + less)) : mr_log2(1.0 + less) * MR_LN2;
    return isfinite(x) ? __builtin_copysignf((float)value, x) : x;
}
MR_DEVICE float acoshf(float x)
{
    double wide = x, less = wide - 1.0 + __nvvm_sqrt_rn_d((wide - 1.0) * (wide + 1.0));
    double value = less < 0.3 ? mr_log_ratio(less / (2.0 + less)) : mr_log2(1.0 + less) * MR_LN2;
    return x >= 1 ? isfinite(x) ? (float)value : x : MR_NAN;
}

/* |x|^y in double precision, for finite x other than 0. */
MR_DEVICE double mr_power(double x, double y) { return mr_exp2(y * mr_log2(__builtin_fabs(x))); }

MR_DEVICE float powf(float x, float y)
{
    bool whole = __nvvm_trunc_f(y) == y, odd = whole && __builtin_fabsf(y) < 16777216.0f && ((int)y & 1);
    float size = __builtin_fabsf(x), result;
    if (x == 1.0f || y == 0.0f)
        return 1.0f;
    if (isnan(x) || isnan(y))
        return MR_NAN;
    if (isinf(y))
        return size == 1.0f ? 1.0f : (size > 1.0f) == (y > 0) ? MR_INFINITY : 0.0f;
    if (size == 0.0f || isinf(x))
        result = (size == 0.0f) == (y < 0) ? MR_INFINITY : 0.0f;
    else if (x < 0 && !whole)
        return MR_NAN;
    else
        result = (float)mr_power(x, y);
    return signbit(x) && odd ? -result : result;
}
MR_DEVICE float cbrtf(float x)
{
    return x == 0.0f || !isfinite(x) ? x : __builtin_copysignf((float)mr_power(x, 1 / 3.0), x);
}
MR_DEVICE float rcbrtf(float x) { return x == 0.0f || isinf(x) ? 1.0f / x : isnan(x) ? x : __builtin_copysignf((float)mr_power(x, -1 / 3.0), x); }
MR_DEVICE float hypotf(float x, float y)
{
    if (isinf(x) || isinf(y))
        return MR_INFINITY;
    return (float)__nvvm_sqrt_rn_d((double)x * x + (double)y * y);
}

/* erf by its series of positive terms up to 2.5, erfc by its continued fraction beyond. */
MR_DEVICE double mr_erf_series(double x)
{
    double term = x, sum = x, square = 2.0 * x * x;
    for (int i = 3; i < 85; i += 2)
        sum += term *= square / i;
    return 2 / 1.77245385090551602730 * mr_exp2(-x * x * MR_LOG2E) * sum;
}
MR_DEVICE double mr_erfc_fraction(double x)
{
    double rest = x;
    for (int i = 50; i > 0; i--)
        rest = x + 0.5 * i / rest;
    return mr_exp2(-x * x * MR_LOG2E) / (1.77245385090551602730 * rest);
}
MR_DEVICE float erff(float x)
{
    double size = __builtin_fabs((double)x);
    double value = size > 4.0 ? 1.0 : size > 2.5 ? 1.0 - mr_erfc_fraction(size) : mr_erf_series(size);
    return isnan(x) ? x : __builtin_copysignf((float)value, x);
}
MR_DEVICE double mr_erfc(double x)
{
    double size = __builtin_fabs(x);
    double value = size > 14.0 ? 0.0 : size > 2.5 ? mr_erfc_fraction(size) : 1.0 - mr_erf_series(size);
    return x < 0 ? 2.0 - value : value;
}
MR_DEVICE float erfcf(float x) { return isnan(x) ? x : (float)mr_erfc(x); }
MR_DEVICE float normcdff(float x) { return isnan(x) ? x : (float)(0.5 * mr_erfc(x * -0.70710678118654752440)); }

/* Exact: long division of the fractions, 32 bits at a time. */
MR_DEVICE float fmodf(float x, float y)
{
    float size = __builtin_fabsf(x), divisor = __builtin_fabsf(y);
    if (!(size < MR_INFINITY) || !(divisor > 0))
        return MR_NAN;
    if (size < divisor)
        return x;
    unsigned int a = __builtin_bit_cast(unsigned int, size), b = __builtin_bit_cast(unsigned int, divisor);
    int above = a >> 23 ? (int)(a >> 23) : 1, below = b >> 23 ? (int)(b >> 23) : 1;
    unsigned long long rest = (a & 0x7fffff) | (a >> 23 ? 0x800000 : 0), by = (b & 0x7fffff) | (b >> 23 ? 0x800000 : 0);
    rest %= by;
    for (int left = above - below; left > 0; left -= 32)
        rest = (rest << (left < 32 ? left : 32)) % by;
    return __builtin_copysignf((float)((double)rest * mr_power_of_2(below - 150)), x);
}

MR_DEVICE float roundf(float x)
{
    float near = __nvvm_trunc_f(x);
    return __builtin_copysignf(__builtin_fabsf(x - near) >= 0.5f ? near + __builtin_copysignf(1.0f, x) : near, x);
}
MR_DEVICE float nearbyintf(float x) { return __nvvm_round_f(x); }
MR_DEVICE long lrintf(float x) { return (long)__nvvm_round_f(x); }
MR_DEVICE long lroundf(float x) { return (long)roundf(x); }
MR_DEVICE float fdimf(float x, float y) { return x <= y ? 0.0f : x - y; }
MR_DEVICE float ldexpf(float x, int k)
{
    k = k < -300 ? -300 : k > 300 ? 300 : k;
    return (float)((double)x * mr_power_of_2(k));
}

#include "millrace_trig.h"

#include "millrace_double.h"

/* The rarer functions: the double's value, rounded. */
#define MR_ROUNDED(name) MR_DEVICE float name##f(float x) { return (float)name((double)x); }
MR_ROUNDED(sinpi) MR_ROUNDED(cospi) MR_ROUNDED(erfcx) MR_ROUNDED(erfinv) MR_ROUNDED(erfcinv) MR_ROUNDED(normcdfinv) MR_ROUNDED(lgamma)
MR_ROUNDED(tgamma) MR_ROUNDED(logb) MR_ROUNDED(j0) MR_ROUNDED(j1) MR_ROUNDED(y0) MR_ROUNDED(y1) MR_ROUNDED(cyl_bessel_i0) MR_ROUNDED(cyl_bessel_i1)
#undef MR_ROUNDED
MR_DEVICE float jnf(int n, float x) { return (float)jn(n, (double)x); }
MR_DEVICE float ynf(int n, float x) { return (float)yn(n, (double)x); }
MR_DEVICE void sincospif(float x, float *sine, float *cosine)
{
    double s, c;
    sincospi((double)x, &s, &c);
    *sine = (float)s;
    *cosine = (float)c;
}
MR_DEVICE float rhypotf(float x, float y) { return (float)rhypot((double)x, (double)y); }
MR_DEVICE float norm3df(float x, float y, float z) { return (float)norm3d((double)x, (double)y, (double)z); }
MR_DEVICE float rnorm3df(float x, float y, float z) { return (float)rnorm3d((double)x, (double)y, (double)z); }
MR_DEVICE float norm4df(float x, float y, float z, float w) { return (float)norm4d((double)x, (double)y, (double)z, (double)w); }
MR_DEVICE float rnorm4df(float x, float y, float z, float w) { return (float)rnorm4d((double)x, (double)y, (double)z, (double)w); }
MR_DEVICE float mr_normf(const float *values, int count, bool inverse)
{
    double most = 0.0, sum = 0.0;
    for (int i = 0; i < count; i++) {
        most = isinf(values[i]) ? MR_INFINITY : most;
        sum += (double)values[i] * values[i];
    }
    sum = most > 0 ? MR_INFINITY : __nvvm_sqrt_rn_d(sum);
    return (float)(inverse ? 1.0 / sum : sum);
}
MR_DEVICE float normf(int count, const float *values) { return mr_normf(values, count, false); }
MR_DEVICE float rnormf(int count, const float *values) { return mr_normf(values, count, true); }
MR_DEVICE float nanf(const char *) { return MR_NAN; }
MR_DEVICE double nan(const char *) { return MR_NAN; }
MR_DEVICE float remainderf(float x, float y) { return (float)remainder((double)x, (double)y); }
MR_DEVICE float remquof(float x, float y, int *quotient) { return (float)remquo((double)x, (double)y, quotient); }
MR_DEVICE float frexpf(float x, int *exponent) { return (float)frexp((double)x, exponent); }
MR_DEVICE float modff(float x, float *whole)
{
    double large, rest = modf((double)x, &large);
    *whole = (float)large;
    return (float)rest;
}
MR_DEVICE int ilogbf(float x) { return ilogb((double)x); }
MR_DEVICE float scalbnf(float x, int k) { return ldexpf(x, k); }
MR_DEVICE float scalblnf(float x, long k) { return (float)scalbln((double)x, k); }
MR_DEVICE long long llrintf(float x) { return (long long)__nvvm_round_f(x); }
MR_DEVICE long long llroundf(float x) { return (long long)roundf(x); }
MR_DEVICE float fdividef(float x, float y) { return x / y; }
MR_DEVICE float nextafterf(float x, float y)
{
    if (isnan(x) || isnan(y) || x == y)
        return isnan(x) ? x : y;
    if (x == 0)
        return __builtin_copysignf(__builtin_bit_cast(float, 1), y);
    int bits = __builtin_bit_cast(int, x);
    return __builtin_bit_cast(float, (x < y) == (x > 0) ? bits + 1 : bits - 1);
}

/* The names that C++ overloads: a float stays one, a whole number counts as a double. */
template <class T, bool whole = __is_integral(T)> struct mr_if_whole {};
template <class T> struct mr_if_whole<T, true> { typedef double type; };
#define MR_WHOLE(name) template <class T> MR_DEVICE typename mr_if_whole<T>::type name(T x) { return name((double)x); }
#define MR_OVERLOAD(name)                                \
    MR_DEVICE float name(float x) { return name##f(x); } \
    MR_WHOLE(name)
MR_OVERLOAD(exp) MR_OVERLOAD(exp2) MR_OVERLOAD(expm1) MR_OVERLOAD(log) MR_OVERLOAD(log2) MR_OVERLOAD(log10) MR_OVERLOAD(log1p)
MR_OVERLOAD(sin) MR_OVERLOAD(cos) MR_OVERLOAD(tan) MR_OVERLOAD(asin) MR_OVERLOAD(acos) MR_OVERLOAD(atan)
MR_OVERLOAD(sinh) MR_OVERLOAD(cosh) MR_OVERLOAD(tanh) MR_OVERLOAD(asinh) MR_OVERLOAD(acosh) MR_OVERLOAD(atanh)
MR_OVERLOAD(cbrt) MR_OVERLOAD(erf) MR_OVERLOAD(erfc) MR_OVERLOAD(round) MR_OVERLOAD(lgamma) MR_OVERLOAD(tgamma) MR_OVERLOAD(logb)
MR_OVERLOAD(nearbyint) MR_OVERLOAD(exp10) MR_OVERLOAD(sinpi) MR_OVERLOAD(cospi) MR_OVERLOAD(rcbrt) MR_OVERLOAD(rsqrt)
MR_OVERLOAD(j0) MR_OVERLOAD(j1) MR_OVERLOAD(y0) MR_OVERLOAD(y1) MR_OVERLOAD(cyl_bessel_i0) MR_OVERLOAD(cyl_bessel_i1)
MR_OVERLOAD(erfcx) MR_OVERLOAD(erfinv) MR_OVERLOAD(erfcinv) MR_OVERLOAD(normcdf) MR_OVERLOAD(normcdfinv)
MR_OVERLOAD(floor) MR_OVERLOAD(ceil) MR_OVERLOAD(trunc) MR_OVERLOAD(rint)
MR_WHOLE(sqrt)
#undef MR_OVERLOAD
#undef MR_WHOLE
template <bool> struct mr_if_number {};
template <> struct mr_if_number<true> { typedef double type; };
#define MR_OVERLOAD2(name)                                                                                  \
    MR_DEVICE float name(float x, float y) { return name##f(x, y); }                                        \
    template <class T, class U> MR_DEVICE typename mr_if_number<__is_arithmetic(T) && __is_arithmetic(U)>::type name(T x, U y) \
    {                                                                                                       \
        return name((double)x, (double)y);                                                                  \
    }
MR_OVERLOAD2(pow) MR_OVERLOAD2(atan2) MR_OVERLOAD2(fmod) MR_OVERLOAD2(hypot) MR_OVERLOAD2(remainder) MR_OVERLOAD2(fdim)
MR_OVERLOAD2(fmin) MR_OVERLOAD2(fmax) MR_OVERLOAD2(copysign) MR_OVERLOAD2(nextafter)
#undef MR_OVERLOAD2
MR_DEVICE float ldexp(float x, int k) { return ldexpf(x, k); }
MR_DEVICE float jn(int n, float x) { return jnf(n, x); }
MR_DEVICE float yn(int n, float x) { return ynf(n, x); }
MR_DEVICE float scalbn(float x, int k) { return ldexpf(x, k); }
MR_DEVICE float frexp(float x, int *exponent) { return frexpf(x, exponent); }
MR_DEVICE float modf(float x, float *whole) { return modff(x, whole); }
MR_DEVICE void sincos(float x, float *sine, float *cosine) { sincosf(x, sine, cosine); }
MR_DEVICE int ilogb(float x) { return ilogbf(x); }
MR_DEVICE float scalbln(float x, long k) { return scalblnf(x, k); }
MR_DEVICE float remquo(float x, float y, int *quotient) { return remquof(x, y, quotient); }
MR_DEVICE void sincospi(float x, float *sine, float *cosine) { sincospif(x, sine, cosine); }
MR_DEVICE long lrint(float x) { return (long)__nvvm_round_f(x); }
MR_DEVICE long lround(float x) { return (long)roundf(x); }
MR_DEVICE long long llrint(float x) { return llrintf(x); }
MR_DEVICE long long llround(float x) { return llroundf(x); }

#undef MR_INFINITY
#undef MR_NAN
#undef MR_PI
#undef MR_LN2
#undef MR_LOG2E

#endif
