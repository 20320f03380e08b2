/* SPDX-License-Identifier: Apache-2.0 */
/* Normal floats of the device by the transformation of Box and Muller (1958), many at once.
 *
 * The C library's logf and sincosf take one number a call. Here both are polynomials without branches, fitted for these
 * arguments alone, so that compilers make vectors of them. A logarithm is off by one unit in the last place at most,
 * and so are sines and cosines, or by 1e-7 near their zeros. All forms of a function compute the same: sums and
 * products are rounded one by one. */
#include "libs/curand/normal.h"

#include <math.h>
#include <string.h>

#define ROOT_OF_HALF 0x3f3504f3u /* the square root of 1/2, as bits */
#define BIT_OF_1 23
#define LN_2_HIGH 0x1.62e4p-1f /* its products with an exponent are exact */
#define LN_2_LOW 0x1.7f7d1cp-20f
#define HALF_PI_HIGH 0x1.922p+0f /* the like */
#define HALF_PI_MIDDLE -0x1.2aep-18f
#define HALF_PI_LOW -0x1.de973ep-31f

#define INLINE static inline __attribute__((always_inline))

INLINE uint32_t bits_of(float x)
{
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

INLINE float float_of(uint32_t bits)
{
    float x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

/* The logarithm of x, 2^-33 <= x <= 1: of 2^e * (1 + f), with 1 + f between the roots of 1/2 and 2. */
INLINE float logarithm(float x)
{
    uint32_t bits = bits_of(x) - ROOT_OF_HALF;
    float e = (float)((int32_t)bits >> BIT_OF_1);
    float f = float_of((bits & ((1u << BIT_OF_1) - 1)) + ROOT_OF_HALF) - 1;
    float p = -0.0763443792f;
    p = p * f + 0.127615629f;
    p = p * f - 0.13160198f;
    p = p * f + 0.14201761f;
    p = p * f - 0.16623356f;
    p = p * f + 0.200012267f;
    p = p * f - 0.250008211f;
    p = p * f + 0.333333317f;
    float square = f * f;
    return e * LN_2_HIGH + (f + ((square * f * p + e * LN_2_LOW) - 0.5f * square));
}

/* The sine and the cosine of y, 0 <= y <= 2 pi. */
INLINE void sine_cosine(float y, float *sine, float *cosine)
{
    int32_t quarter = (int32_t)(y * 0.636619772f + 0.5f);
    float q = (float)quarter, r = ((y - q * HALF_PI_HIGH) - q * HALF_PI_MIDDLE) - q * HALF_PI_LOW, square = r * r;
    float s = (-0.000195069397f * square + 0.00833209973f) * square - 0.166666537f;
    float c = (2.4423622e-05f * square - 0.00138872334f) * square + 0.041666644f;
    s = s * square * r + r;
    c = c * square * square - 0.5f * square + 1;
    uint32_t turns = (uint32_t)quarter, odd = 0u - (turns & 1u), both = bits_of(s) ^ bits_of(c);
    *sine = float_of((bits_of(s) ^ (both & odd)) ^ (turns & 2u) << 30);
    *cosine = float_of((bits_of(c) ^ (both & odd)) ^ ((turns + 1) & 2u) << 30);
}

/* In two loops, of which compilers make vectors: none that stores in pairs. */
INLINE void pairs(const float *restrict x, const float *restrict y, unsigned count, float *restrict out)
{
    float sines[MR_NORMAL_MOST], cosines[MR_NORMAL_MOST];
    for (unsigned i = 0; i < count; i++) {
        float size = sqrtf(-2 * logarithm(x[i])), sine, cosine;
        sine_cosine(y[i], &sine, &cosine);
        sines[i] = sine * size;
        cosines[i] = cosine * size;
    }
    for (unsigned i = 0; i < count; i++) {
        out[2 * i] = sines[i];
        out[2 * i + 1] = cosines[i];
    }
}

INLINE void moved(float *at, unsigned count, float mean, float deviation)
{
    for (unsigned i = 0; i < count; i++)
        at[i] = __builtin_fmaf(deviation, at[i], mean);
}

/* Without fused operations, which would round otherwise than the plain form. */
__attribute__((target("avx2"))) static void pairs_avx2(const float *x, const float *y, unsigned count, float *out)
{
    pairs(x, y, count, out);
}

__attribute__((target("avx2,fma"))) static void moved_fma(float *at, unsigned count, float mean, float deviation)
{
    moved(at, count, mean, deviation);
}

void mr_rand_normal_floats(const float *x, const float *y, unsigned count, float *out)
{
    if (__builtin_cpu_supports("avx2"))
        pairs_avx2(x, y, count, out);
    else
        pairs(x, y, count, out);
}

void mr_rand_move_floats(float *at, unsigned count, float mean, float deviation)
{
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
        moved_fma(at, count, mean, deviation);
    else
        moved(at, count, mean, deviation);
}
