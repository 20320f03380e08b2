/* SPDX-License-Identifier: Apache-2.0 */
/* Mathematics on the host that CUDA C++ has and the C library has not, and names that C++ overloads. Part of
 * millrace_device.h.
 *
 * They work in long double, which has eleven bits more than a double here, and round once at the end. Special values
 * are those of the device's functions. */
#ifndef MILLRACE_HOST_H
#define MILLRACE_HOST_H

#if __has_include(<features.h>)
#include <features.h>
#endif
/* Newer C libraries have these functions themselves. */
#if defined(__GLIBC__) && (__GLIBC__ > 2 || __GLIBC_MINOR__ >= 41)
#define MR_LIBRARY_HAS_SINPI 1
#endif
#if defined(__GLIBC__) && (__GLIBC__ > 2 || __GLIBC_MINOR__ >= 42)
#define MR_LIBRARY_HAS_RSQRT 1
#endif

#define MR_PI_L 3.14159265358979323846264338327950288L
#define MR_ROOT_PI_L 1.77245385090551602729816748334114518L   /* the root of pi */
#define MR_HALF_ROOT_L 0.707106781186547524400844362104849039L /* of one half */

#ifndef MR_LIBRARY_HAS_RSQRT
MR_HOST double rsqrt(double x) { return 1.0 / __builtin_sqrt(x); }
MR_HOST float rsqrtf(float x) { return (float)rsqrt((double)x); }
#endif
MR_HOST double rcbrt(double x) { return x == 0 ? 1.0 / x : (double)(1.0L / __builtin_cbrtl(x)); }

/* The sine of x pi, of a multiple of a quarter turn more. A whole x gives a zero with x's sign. */
MR_HOST long double mr_host_wave(double x, int quarters)
{
    double turn = __builtin_fmod(__builtin_fabs(x), 2.0);
    int nearest = (int)(turn * 2.0 + 0.5);
    long double rest = MR_PI_L * (turn - nearest * 0.5);
    quarters += nearest;
    long double value = quarters & 1 ? __builtin_cosl(rest) : __builtin_sinl(rest);
    return value == 0 ? 0.0L : quarters & 2 ? -value : value;
}
#ifndef MR_LIBRARY_HAS_SINPI
MR_HOST double sinpi(double x) { return __builtin_isfinite(x) ? __builtin_copysign(1.0, x) * (double)mr_host_wave(x, 0) : x - x; }
MR_HOST double cospi(double x) { return __builtin_isfinite(x) ? (double)mr_host_wave(x, 1) : x - x; }
#endif
MR_HOST void sincospi(double x, double *sine, double *cosine)
{
    bool finite = __builtin_isfinite(x);
    *sine = finite ? __builtin_copysign(1.0, x) * (double)mr_host_wave(x, 0) : x - x;
    *cosine = finite ? (double)mr_host_wave(x, 1) : x - x;
}

/* exp(x^2) erfc(x): the product up to 10, beyond the series of falling powers, whose terms fall as long as there are
 * 16 of them. */
MR_HOST double erfcx(double x)
{
    if (x < 10.0)
        return x < -27.0 ? __builtin_inf() : (double)(__builtin_expl((long double)x * x) * __builtin_erfcl(x));
    long double step = 0.5L / ((long double)x * x), term = 1.0L, sum = 1.0L;
    for (int i = 1; i <= 31; i += 2)
        sum += term *= -step * i;
    return x != x ? x : (double)(sum / (MR_ROOT_PI_L * x));
}
MR_HOST double normcdf(double x) { return (double)(0.5L * __builtin_erfcl(-MR_HALF_ROOT_L * x)); }

/* Where erf is y, |y| <= 0.5: by Newton's method. */
MR_HOST long double mr_host_erfinv_near_0(long double y)
{
    long double x = y * (MR_ROOT_PI_L / 2);
    for (int i = 0; i < 6; i++)
        x -= (__builtin_erfl(x) - y) * (MR_ROOT_PI_L / 2) * __builtin_expl(x * x);
    return x;
}
/* Where erfc is y, from above 0 to 0.5. Halley's method, from where the tail's logarithm says. */
MR_HOST long double mr_host_erfcinv_tail(long double y)
{
    long double log = -__builtin_logl(y), x = __builtin_sqrtl(log - 0.5L * __builtin_logl(log + 0.5L) - 0.45L);
    for (int i = 0; i < 6; i++) {
        long double above = (__builtin_erfcl(x) - y) * (MR_ROOT_PI_L / 2) * __builtin_expl(x * x);
        x += above / (1.0L - x * above);
    }
    return x;
}
MR_HOST double mr_host_erfcinv(double y, long double factor)
{
    if (!(y > 0.0 && y < 2.0))
        return (double)(y == 0 ? factor * __builtin_infl() : y == 2.0 ? -factor * __builtin_infl() : __builtin_nanl(""));
    return (double)(factor * (y < 0.5 ? mr_host_erfcinv_tail(y) : y > 1.5 ? -mr_host_erfcinv_tail(2.0L - y) : mr_host_erfinv_near_0(1.0L - y)));
}
MR_HOST double erfcinv(double y) { return mr_host_erfcinv(y, 1.0L); }
MR_HOST double normcdfinv(double y) { return mr_host_erfcinv(2.0 * y, -2.0L * MR_HALF_ROOT_L); }
MR_HOST double erfinv(double y)
{
    double size = __builtin_fabs(y);
    if (size <= 0.5)
        return y == 0 ? y : (double)mr_host_erfinv_near_0(y);
    return __builtin_copysign(1.0, y) * mr_host_erfcinv(1.0 - size, 1.0L);
}
#undef MR_PI_L
#undef MR_ROOT_PI_L
#undef MR_HALF_ROOT_L

/* Single precision is the double's value, rounded. */
#define MR_ROUNDED(name) MR_HOST float name##f(float x) { return (float)name((double)x); }
MR_ROUNDED(rcbrt) MR_ROUNDED(erfcx) MR_ROUNDED(erfinv) MR_ROUNDED(erfcinv) MR_ROUNDED(normcdf) MR_ROUNDED(normcdfinv)
#ifndef MR_LIBRARY_HAS_SINPI
MR_ROUNDED(sinpi) MR_ROUNDED(cospi)
#endif
#undef MR_ROUNDED
MR_HOST void sincospif(float x, float *sine, float *cosine)
{
    double s, c;
    sincospi((double)x, &s, &c);
    *sine = (float)s;
    *cosine = (float)c;
}

/* What the C library calls otherwise for a float. */
#define MR_OF_FLOAT(name)                                                                      \
    extern "C" __attribute__((host)) float name##f(float) noexcept(true);                      \
    MR_HOST float name(float x) { return name##f(x); }
MR_OF_FLOAT(exp10) MR_OF_FLOAT(j0) MR_OF_FLOAT(j1) MR_OF_FLOAT(y0) MR_OF_FLOAT(y1)
#ifdef MR_LIBRARY_HAS_SINPI
MR_OF_FLOAT(sinpi) MR_OF_FLOAT(cospi)
#else
MR_HOST float sinpi(float x) { return sinpif(x); }
MR_HOST float cospi(float x) { return cospif(x); }
#endif
#ifdef MR_LIBRARY_HAS_RSQRT
MR_OF_FLOAT(rsqrt)
#else
MR_HOST float rsqrt(float x) { return rsqrtf(x); }
#endif
#undef MR_OF_FLOAT
extern "C" __attribute__((host)) float jnf(int, float) noexcept(true);
extern "C" __attribute__((host)) float ynf(int, float) noexcept(true);
extern "C" __attribute__((host)) void sincosf(float, float *, float *) noexcept(true);
MR_HOST float jn(int n, float x) { return jnf(n, x); }
MR_HOST float yn(int n, float x) { return ynf(n, x); }
MR_HOST void sincos(float x, float *sine, float *cosine) { sincosf(x, sine, cosine); }
MR_HOST float rcbrt(float x) { return rcbrtf(x); }
MR_HOST void sincospi(float x, float *sine, float *cosine) { sincospif(x, sine, cosine); }
MR_HOST float erfcx(float x) { return erfcxf(x); }
MR_HOST float erfinv(float x) { return erfinvf(x); }
MR_HOST float erfcinv(float x) { return erfcinvf(x); }
MR_HOST float normcdf(float x) { return normcdff(x); }
MR_HOST float normcdfinv(float x) { return normcdfinvf(x); }
#undef MR_LIBRARY_HAS_SINPI
#undef MR_LIBRARY_HAS_RSQRT

#endif
