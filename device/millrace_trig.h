/* SPDX-License-Identifier: Apache-2.0 */
/* Trigonometric functions of single precision and their inverses; a part of millrace_math.h, which explains how they work. */
#ifndef MILLRACE_TRIG_H
#define MILLRACE_TRIG_H

/* An angle as a number of quarter turns and a rest of at most an eighth of a turn, in radians. */
struct mr_angle { int quarters; double rest; };

/* For |x| >= 2^28: multiplies the 24-bit fraction with the 96 bits of 2/pi that matter for the result modulo 4. */
static __attribute__((device, noinline, unused)) mr_angle mr_reduce_large(float x)
{
    const unsigned int two_over_pi[] = {0xa2f9836e, 0x4e441529, 0xfc2757d1, 0xf534ddc0, 0xdb629599, 0x3c439041, 0xfe5163ab};
    unsigned int bits = __builtin_bit_cast(unsigned int, x), fraction = (bits & 0x7fffff) | 0x800000;
    int skip = (int)((bits >> 23) & 0xff) - 150 - 2;   /* bits in front that only add multiples of 4 */
    const unsigned int *word = two_over_pi + skip / 32;
    unsigned int shift = (unsigned int)skip % 32;
    unsigned long long high = (unsigned long long)word[0] << 32 | word[1], low = (unsigned long long)word[2] << 32 | word[3];
    if (shift) {
        high = high << shift | low >> (64 - shift);
        low <<= shift;
    }
    /* In units of 2^-62: fraction * 0.high modulo 4, with the carry out of the next 32 bits. */
    unsigned long long product = fraction * high + ((fraction * (low >> 32)) >> 32);
    int quarters = (int)((product + (1ull << 61)) >> 62);
    long long rest = (long long)(product - ((unsigned long long)quarters << 62));
    mr_angle angle = {quarters & 3, (double)rest * (MR_PI / 2 / 4611686018427387904.0)};
    if (x < 0) {
        angle.quarters = -angle.quarters & 3;
        angle.rest = -angle.rest;
    }
    return angle;
}

MR_DEVICE mr_angle mr_reduce(float x)
{
    if (__builtin_fabsf(x) >= 268435456.0f && isfinite(x))
        return mr_reduce_large(x);
    double turns = __nvvm_round_d((double)x * (2 / MR_PI));
    double rest = __builtin_fma(turns, -1.57079632679489655800, (double)x);
    rest = __builtin_fma(turns, -6.12323399573676603587e-17, rest);
    return {(int)turns & 3, rest};
}

/* For |x| <= pi/4. */
MR_DEVICE double mr_sine(double x)
{
    return x * mr_series(x * x, {1 / 6227020800.0, -1 / 39916800.0, 1 / 362880.0, -1 / 5040.0, 1 / 120.0, -1 / 6.0, 1.0});
}
MR_DEVICE double mr_cosine(double x)
{
    return mr_series(x * x, {-1 / 87178291200.0, 1 / 479001600.0, -1 / 3628800.0, 1 / 40320.0, -1 / 720.0, 1 / 24.0, -0.5, 1.0});
}

/* The same in single precision: the last two bits of `quarters` count, and the rest may be wrong by a unit in the last place. The intrinsics name
 * their rounding and do not flush to zero, whatever the options: flushing each operand takes longer than calculating. */
struct mr_quarters { unsigned int quarters; float rest; };

/* For |x| >= 2^16: rare, and kept out of the way of the others. */
static __attribute__((device, noinline, unused)) mr_quarters mr_quarters_far(float x)
{
    mr_angle angle = mr_reduce(x);
    return {(unsigned int)angle.quarters, (float)angle.rest};
}

MR_DEVICE mr_quarters mr_quarters_of(float x)
{
    /* 1.5 * 2^23 is added so that the sum has no fraction: its last bits are the number of quarters. Then three pieces of pi/2, the first of which leaves
     * no error. All are rounded down, so that a zero keeps its sign. */
    float sum = __nvvm_fma_rn_f(x, (float)(2 / MR_PI), 12582912.0f), whole = __nvvm_add_rn_f(sum, -12582912.0f);
    float rest = __nvvm_fma_rn_f(whole, -0x1.921fb4p+0f, x);
    rest = __nvvm_fma_rn_f(whole, -0x1.4442dp-24f, rest);
    rest = __nvvm_fma_rn_f(whole, -0x1.84698ap-48f, rest);
    mr_quarters turn = {__builtin_bit_cast(unsigned int, sum), rest};
    unsigned int size = __builtin_bit_cast(unsigned int, x) & 0x7fffffff;
    if (size - 0x47800000 < 0x7f800000 - 0x47800000)
        turn = mr_quarters_far(x);
    return turn;
}

/* For |x| <= pi/4 and a little more: polynomials in the square that are off by 2^-28 at most. */
MR_DEVICE float mr_sine_near_0(float x)
{
    float square = __nvvm_mul_rn_f(x, x), sum = __nvvm_fma_rn_f(square, -0x1.994cfap-13f, 0x1.11075cp-7f);
    return __nvvm_fma_rn_f(__nvvm_mul_rn_f(square, x), __nvvm_fma_rn_f(sum, square, -0x1.555546p-3f), x);
}
MR_DEVICE float mr_cosine_near_0(float x)
{
    float square = __nvvm_mul_rn_f(x, x), sum = __nvvm_fma_rn_f(square, 0x1.9a00cep-16f, -0x1.6c0c86p-10f);
    sum = __nvvm_fma_rn_f(__nvvm_fma_rn_f(sum, square, 0x1.55554ap-5f), square, -0.5f);
    return __nvvm_fma_rn_f(sum, square, 1.0f);
}

/* (Choices among what has been calculated: no branches.) */
MR_DEVICE void sincosf(float x, float *sine, float *cosine)
{
    mr_quarters turn = mr_quarters_of(x);
    float s = mr_sine_near_0(turn.rest), c = mr_cosine_near_0(turn.rest);
    float first = turn.quarters & 1 ? c : s, second = turn.quarters & 1 ? s : c;
    first = __builtin_bit_cast(float, __builtin_bit_cast(unsigned int, first) ^ (turn.quarters & 2) << 30);
    *sine = __builtin_bit_cast(unsigned int, x) << 1 ? first : x;
    *cosine = __builtin_bit_cast(float, __builtin_bit_cast(unsigned int, second) ^ ((turn.quarters + 1) & 2) << 30);
}
MR_DEVICE float sinf(float x) { float s, c; sincosf(x, &s, &c); return s; }
MR_DEVICE float cosf(float x) { float s, c; sincosf(x, &s, &c); return c; }
MR_DEVICE float tanf(float x)
{
    mr_angle angle = mr_reduce(x);
    double s = mr_sine(angle.rest), c = mr_cosine(angle.rest);
    return x == 0 ? x : isfinite(x) ? (float)(angle.quarters & 1 ? -c / s : s / c) : MR_NAN;
}

/* For 0 <= x <= 1, also behind the pole: arctan of tan(pi/8) and less by its series, the rest by the sum formula with arctan(1). */
MR_DEVICE double mr_arctan_to_1(double x)
{
    bool upper = x > 0.41421356237309504880;
    double t = upper ? (x - 1.0) / (x + 1.0) : x;
    double sum = t * mr_series(t * t, {1 / 25.0, -1 / 23.0, 1 / 21.0, -1 / 19.0, 1 / 17.0, -1 / 15.0, 1 / 13.0, -1 / 11.0, 1 / 9.0, -1 / 7.0,
        1 / 5.0, -1 / 3.0, 1.0});
    return upper ? MR_PI / 4 + sum : sum;
}

/* The angle of the point (x, y), y >= 0, from 0 to pi. */
MR_DEVICE double mr_arctan2(double y, double x)
{
    double size = __builtin_fabs(x), small = __builtin_fmin(size, y), large = __builtin_fmax(size, y);
    double angle = mr_arctan_to_1(large == 0 ? 0.0 : small == large ? 1.0 : small / large);
    angle = y > size ? MR_PI / 2 - angle : angle;
    return signbit(x) ? MR_PI - angle : angle;
}

MR_DEVICE float atan2f(float y, float x)
{
    if (isnan(x) || isnan(y))
        return MR_NAN;
    return __builtin_copysignf((float)mr_arctan2(__builtin_fabs((double)y), x), y);
}
MR_DEVICE float atanf(float x) { return atan2f(x, 1.0f); }
MR_DEVICE float asinf(float x)
{
    double wide = __builtin_fabs((double)x);
    return wide <= 1 ? __builtin_copysignf((float)mr_arctan2(wide, __nvvm_sqrt_rn_d((1 - wide) * (1 + wide))), x) : MR_NAN;
}
MR_DEVICE float acosf(float x)
{
    double wide = x;
    return __builtin_fabs(wide) <= 1 ? (float)mr_arctan2(__nvvm_sqrt_rn_d((1 - wide) * (1 + wide)), wide) : MR_NAN;
}

#endif
