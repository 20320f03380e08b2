/* SPDX-License-Identifier: Apache-2.0 */
/* Trigonometric functions of double precision and their inverses; a part of millrace_double.h, which explains pairs.
 *
 * An angle is reduced to at most an eighth of a turn, as a pair: with pi/2 in three parts up to 2^20, beyond by a product with those 192 bits of
 * 2/pi that matter. */
#ifndef MILLRACE_DOUBLE_TRIG_H
#define MILLRACE_DOUBLE_TRIG_H

constexpr mr_pair mr_pi_pair = {0x1.921fb54442d18p+1, 0x1.1a62633145c07p-53}, mr_half_pi_pair = {0x1.921fb54442d18p+0, 0x1.1a62633145c07p-54};

struct mr_turned { int quarters; mr_pair rest; };

/* For |x| >= 2^20. The first word is nothing but zeros: bits in front of the point. */
static __attribute__((device, noinline, unused)) mr_turned mr_turn_large(double x)
{
    const unsigned long long two_over_pi[] = {0, 0xa2f9836e4e441529, 0xfc2757d1f534ddc0, 0xdb6295993c439041, 0xfe5163abdebbc561,
        0xb7246e3a424dd2e0, 0x06492eea09d1921c, 0xfe1deb1cb129a73e, 0xe88235f52ebb4484, 0xe99c7026b45f7e41, 0x3991d639835339f4,
        0x9c845f8bbdf9283b, 0x1ff897ffde05980f, 0xef2f118b5a0a6d1f, 0x6d367ecf27cb09b7, 0x4f463f669e5fea2d, 0x7527bac7ebe5f17b,
        0x3d0739f78a5292ea, 0x6bfb5fb11f8d5d08, 0x56033046fc7b6bab, 0xf0cfbc209af4361d};
    unsigned long long bits = __builtin_bit_cast(unsigned long long, x), fraction = (bits & 0xfffffffffffffull) | 1ull << 52;
    int skip = (int)(bits >> 52 & 0x7ff) - 1075 - 2 + 64;   /* bits in front that only add multiples of 4 */
    int first = skip / 64, shift = skip % 64;
    unsigned long long word[3];
    for (int i = 0; i < 3; i++)
        word[i] = shift ? two_over_pi[first + i] << shift | two_over_pi[first + i + 1] >> (64 - shift) : two_over_pi[first + i];
    /* fraction * 2/pi modulo 4 in units of 2^-190. */
    unsigned __int128 low = (unsigned __int128)fraction * word[2], middle = (unsigned __int128)fraction * word[1] + (unsigned long long)(low >> 64);
    unsigned long long part[3] = {fraction * word[0] + (unsigned long long)(middle >> 64), (unsigned long long)middle, (unsigned long long)low};
    int quarters = (int)((part[0] + (1ull << 61)) >> 62);
    part[0] -= (unsigned long long)quarters << 62;
    bool below = (long long)part[0] < 0;
    if (below) {
        for (int i = 0; i < 3; i++)
            part[i] = ~part[i];   /* less by one unit, which is nothing */
    }
    mr_pair sum = {0.0, 0.0};
    double unit = 0x1p-30;
    for (int i = 0; i < 3; i++) {
        sum = mr_add(sum, (double)(part[i] >> 32) * unit);
        sum = mr_add(sum, (double)(part[i] & 0xffffffff) * (unit * 0x1p-32));
        unit *= 0x1p-64;
    }
    mr_turned turned = {quarters & 3, mr_multiply(sum, mr_half_pi_pair)};
    if (below != (x < 0))
        turned.rest = mr_negate(turned.rest);
    if (x < 0)
        turned.quarters = -turned.quarters & 3;
    return turned;
}

/* For finite x. */
MR_DEVICE mr_turned mr_turn(double x)
{
    if (__builtin_fabs(x) >= 1048576.0)
        return mr_turn_large(x);
    double turns = __nvvm_round_d(x * 0x1.45f306dc9c883p-1);
    mr_pair rest = mr_add(mr_negate(mr_product(turns, 0x1.921fb54442d18p+0)), x);
    rest = mr_add(rest, mr_negate(mr_product(turns, 0x1.1a62633145c07p-54)));
    rest = mr_add(rest, mr_times(turns, 0x1.f1976b7ed8fbcp-110));
    return {(int)turns & 3, turns == 0 ? mr_pair{x, 0.0} : rest};
}

/* For |x| <= pi/4 or a little more. */
MR_DEVICE mr_pair mr_sine_pair(mr_pair x)
{
    double square = x.high * x.high;
    double sum = mr_series(square, {-1 / 121645100408832000.0, 1 / 355687428096000.0, -1 / 1307674368000.0, 1 / 6227020800.0, -1 / 39916800.0,
        1 / 362880.0, -1 / 5040.0, 1 / 120.0, -1 / 6.0});
    return mr_fast_sum(x.high, __builtin_fma(square * x.high, sum, __builtin_fma(-0.5 * square, x.low, x.low)));
}
MR_DEVICE mr_pair mr_cosine_pair(mr_pair x)
{
    mr_pair square = mr_product(x.high, x.high);
    double sum = mr_series(square.high, {-1 / 6402373705728000.0, 1 / 20922789888000.0, -1 / 87178291200.0, 1 / 479001600.0, -1 / 3628800.0,
        1 / 40320.0, -1 / 720.0, 1 / 24.0});
    mr_pair start = mr_fast_sum(1.0, -0.5 * square.high);
    double rest = __builtin_fma(square.high * square.high, sum, -0.5 * square.low);
    return mr_fast_sum(start.high, start.low + (rest - mr_times(x.high, x.low)));
}
/* The sine `quarters` quarter turns further. */
MR_DEVICE double mr_wave(mr_turned x, int quarters)
{
    quarters += x.quarters;
    double value = mr_value(quarters & 1 ? mr_cosine_pair(x.rest) : mr_sine_pair(x.rest));
    return quarters & 2 ? -value : value;
}

MR_DEVICE void sincos(double x, double *sine, double *cosine)
{
    if (!isfinite(x)) {
        *sine = *cosine = MR_NAN_D;
        return;
    }
    mr_turned turned = mr_turn(x);
    *sine = x == 0 ? x : mr_wave(turned, 0);
    *cosine = mr_wave(turned, 1);
}
MR_DEVICE double sin(double x) { return x == 0 ? x : isfinite(x) ? mr_wave(mr_turn(x), 0) : MR_NAN_D; }
MR_DEVICE double cos(double x) { return isfinite(x) ? mr_wave(mr_turn(x), 1) : MR_NAN_D; }
MR_DEVICE double tan(double x)
{
    if (__builtin_fabs(x) < 0x1p-28)
        return x;
    if (!isfinite(x))
        return MR_NAN_D;
    mr_turned turned = mr_turn(x);
    mr_pair sine = mr_sine_pair(turned.rest), cosine = mr_cosine_pair(turned.rest);
    return turned.quarters & 1 ? -mr_value(mr_divide(cosine, sine)) : mr_value(mr_divide(sine, cosine));
}
/* pi x as quarter turns and a rest. */
MR_DEVICE mr_turned mr_turn_by_pi(double x)
{
    double part = x - 2.0 * __nvvm_trunc_d(x * 0.5), turns = __nvvm_round_d(part * 2.0);
    return {(int)turns & 3, mr_multiply(mr_pi_pair, part - 0.5 * turns)};
}
MR_DEVICE void sincospi(double x, double *sine, double *cosine)
{
    if (!isfinite(x)) {
        *sine = *cosine = MR_NAN_D;
        return;
    }
    mr_turned turned = mr_turn_by_pi(x);
    double value = mr_wave(turned, 0);
    *sine = value == 0 ? __builtin_copysign(0.0, x) : value;
    *cosine = mr_wave(turned, 1) + 0.0;   /* never -0 */
}
MR_DEVICE double sinpi(double x) { double s, c; sincospi(x, &s, &c); return s; }
MR_DEVICE double cospi(double x) { double s, c; sincospi(x, &s, &c); return c; }

/* The angle of the point (x, y), both at least 0, y at most x, x not 0: arctan(c) from a table for the nearest eighth c, and a short series. */
MR_DEVICE mr_pair mr_arctan_pair(mr_pair y, mr_pair x)
{
    const mr_pair eighths[] = {{0.0, 0.0}, {0x1.fd5ba9aac2f6ep-4, -0x1.cd37686760c17p-59}, {0x1.f5b75f92c80ddp-3, 0x1.8ab6e3cf7afbdp-57},
        {0x1.6f61941e4def1p-2, -0x1.c63aae6f6e918p-56}, {0x1.dac670561bb4fp-2, 0x1.a2b7f222f65e2p-56},
        {0x1.1e00babdefeb4p-1, -0x1.928df287a668fp-58}, {0x1.4978fa3269ee1p-1, 0x1.2419a87f2a458p-56},
        {0x1.700a7c5784634p-1, -0x1.8c34d25aadef6p-56}, {0x1.921fb54442d18p-1, 0x1.1a62633145c07p-55}};
    int index = (int)__nvvm_round_d(y.high / x.high * 8.0);
    double c = index * 0.125;
    mr_pair t = mr_divide(mr_add(y, mr_multiply(x, -c)), mr_add(x, mr_multiply(y, c)));
    double square = t.high * t.high;
    double sum = mr_series(square, {-1 / 19.0, 1 / 17.0, -1 / 15.0, 1 / 13.0, -1 / 11.0, 1 / 9.0, -1 / 7.0, 1 / 5.0, -1 / 3.0});
    mr_pair near = mr_fast_sum(t.high, __builtin_fma(square * t.high, sum, t.low));
    return index ? mr_add(eighths[index], near) : near;
}
/* The angle of the point (x, y), y >= 0, from 0 to pi; x and y not both 0. */
MR_DEVICE mr_pair mr_arctan2_pair(mr_pair y, mr_pair x)
{
    bool left = signbit(x.high);
    mr_pair size = left ? mr_negate(x) : x;
    bool upper = y.high > size.high;
    mr_pair angle = upper ? mr_arctan_pair(size, y) : mr_arctan_pair(y, size);
    angle = upper ? mr_add(mr_half_pi_pair, mr_negate(angle)) : angle;
    return left ? mr_add(mr_pi_pair, mr_negate(angle)) : angle;
}

MR_DEVICE double atan2(double y, double x)
{
    if (isnan(x) || isnan(y))
        return MR_NAN_D;
    double up = __builtin_fabs(y), side = __builtin_fabs(x), value;
    if (up == 0 || side == MR_INF_D || up == MR_INF_D || side == 0) {
        if (up == MR_INF_D && side == MR_INF_D)
            value = signbit(x) ? 3 * 0.78539816339744830962 : 0.78539816339744830962;
        else if (up == 0 || side == MR_INF_D)
            value = signbit(x) ? 3.14159265358979323846 : 0.0;
        else
            value = 1.57079632679489661923;
        return __builtin_copysign(value, y);
    }
    int exponent_up, exponent_side;
    double fraction_up = mr_split(up, &exponent_up), fraction_side = mr_split(side, &exponent_side);
    int apart = exponent_up - exponent_side;
    if (apart > 64)
        value = 1.57079632679489661923;
    else if (apart < -64)
        value = signbit(x) ? 3.14159265358979323846 : apart < -1000 ? mr_scale(fraction_up / fraction_side, apart) : up / side;
    else
        value = mr_value(mr_arctan2_pair({fraction_up * mr_power_of_2(apart), 0.0}, {__builtin_copysign(fraction_side, x), 0.0}));
    return __builtin_copysign(value, y);
}
MR_DEVICE double atan(double x) { return __builtin_fabs(x) < 0x1p-28 ? x : atan2(x, 1.0); }
/* sqrt(1 - x^2) */
MR_DEVICE mr_pair mr_other_side(double x) { return mr_root(mr_multiply(mr_sum(1.0, -x), mr_sum(1.0, x))); }
MR_DEVICE double asin(double x)
{
    double size = __builtin_fabs(x);
    if (size < 0x1p-28)
        return x;
    return size <= 1.0 ? __builtin_copysign(mr_value(mr_arctan2_pair({size, 0.0}, mr_other_side(size))), x) : MR_NAN_D;
}
MR_DEVICE double acos(double x)
{
    return __builtin_fabs(x) <= 1.0 ? mr_value(mr_arctan2_pair(mr_other_side(x), {x, 0.0})) : MR_NAN_D;
}

#endif
