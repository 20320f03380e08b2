/* SPDX-License-Identifier: Apache-2.0 */
/* Error functions, their inverses and gamma functions of double precision; a part of millrace_double.h, which explains pairs.
 *
 * erfc(x) is exp(-x^2), good to a pair, times a slow function: a polynomial in (x - 4) / (x + 4) that was fitted at Chebyshev's points in 200 bits.
 * The gamma function is Stirling's series beyond 16; smaller arguments are moved there by products. */
#ifndef MILLRACE_DOUBLE_SPECIAL_H
#define MILLRACE_DOUBLE_SPECIAL_H

/* exp(x^2) erfc(x) for x >= 0. */
MR_DEVICE double mr_erfcx_positive(double x)
{
    double t = x > 0x1p60 ? 1.0 : (x - 4.0) / (x + 4.0);
    double sum = mr_series(t, {0x1.6fbfbc73f7b96p-35, -0x1.2e4a1567a7226p-33, -0x1.279c6e4c55443p-31, 0x1.ec1f75354e746p-30,
        0x1.0f809a563bdc6p-28, -0x1.f96a93e7cc6f0p-27, -0x1.77b283fa2e4e6p-26, 0x1.d8dd577cdf1c6p-24, 0x1.52cb6cb440e9fp-24,
        -0x1.bae01eb0d8ac7p-21, 0x1.386645c623edcp-22, 0x1.7f2369c34c9ffp-18, -0x1.7881b41b9237dp-17, -0x1.9958ab3ba5c33p-16,
        0x1.3be033c67d86cp-13, -0x1.a1df2abbaddf5p-13, -0x1.8d4a999e1af42p-11, 0x1.49c6728d8f7d4p-8, -0x1.09623885391d1p-6,
        0x1.3079edf66992fp-5, -0x1.0fb06dfe49094p-4, 0x1.7fee004e1312cp-4, -0x1.9ddb23c3e90c5p-4, 0x1.16ecefcfa5342p-4,
        0x1.f7f5df66fd7b5p-7, -0x1.1df1ad154a28ep-3, 0x1.3ba5916e9fd7fp+0});
    return x > 0x1p60 ? 0.56418958354775628695 / x : sum / (1.0 + 2.0 * x);
}
/* erf(x) for |x| <= 1. */
MR_DEVICE double mr_erf_near_0(double x)
{
    double square = x * x;
    /* The series of 1 / (n! (2n + 1)), from its small end. */
    double sum = 0.0, factor = 2432902008176640000.0;
#pragma unroll
    for (int n = 20; n > 0; n--) {
        sum = __builtin_fma(sum, square, (n & 1 ? -1.0 : 1.0) / (factor * (2 * n + 1)));
        factor /= n;
    }
    return __builtin_fma(sum * square * 1.12837916709551257390, x, __builtin_fma(x, 0x1.1ae3a914fed80p-56, x * 0x1.20dd750429b6dp+0));
}
/* erfc(x) for x > 0.4, where the low part counts only in the exponential. */
MR_DEVICE double mr_erfc_positive(mr_pair x, double factor)
{
    if (x.high > 28.0 || !(x.high > 0))
        return 0.0;
    int k;
    mr_pair square = mr_multiply(x, x), part = mr_exp_pair(mr_negate(square), &k);
    return mr_scale(mr_value(mr_multiply(part, factor * mr_erfcx_positive(x.high))), k);
}
MR_DEVICE double erf(double x)
{
    double size = __builtin_fabs(x);
    if (isnan(x) || x == 0)
        return x;
    return size < 0.875 ? mr_erf_near_0(x) : __builtin_copysign(size > 6.0 ? 1.0 : 1.0 - mr_erfc_positive({size, 0.0}, 1.0), x);
}
/* erfc(x) * factor, a power of 2. */
MR_DEVICE double mr_erfc_pair(mr_pair x, double factor)
{
    if (x.high > 0.5)
        return mr_erfc_positive(x, factor);
    if (x.high >= -1.0)
        return factor * ((1.0 - mr_erf_near_0(x.high)) - 1.12837916709551257390 * x.low);
    return factor * (2.0 - mr_erfc_positive(mr_negate(x), 1.0));
}
MR_DEVICE double erfc(double x) { return isnan(x) ? x : mr_erfc_pair({x, 0.0}, 1.0); }
MR_DEVICE double erfcx(double x)
{
    if (__builtin_fabs(x) < 0.5)
        return exp(x * x) * (1.0 - mr_erf_near_0(x));
    if (x >= 0 || isnan(x))
        return isnan(x) ? x : x == MR_INF_D ? 0.0 : mr_erfcx_positive(x);
    if (x < -27.0)
        return MR_INF_D;
    return 2.0 * mr_exp_value(mr_product(x, x)) - mr_erfcx_positive(-x);
}
MR_DEVICE double normcdf(double x)
{
    if (!(__builtin_fabs(x) < 40.0))
        return isnan(x) ? x : x > 0 ? 1.0 : 0.0;
    return mr_erfc_pair(mr_multiply({-0x1.6a09e667f3bcdp-1, 0x1.bdd3413b26456p-55}, x), 0.5);
}

/* Newton's method on erf, for |y| <= 0.5. */
MR_DEVICE double mr_erfinv_near_0(double y)
{
    double x = 0.88622692545275801365 * y * (1.0 + 0.26179938779914943654 * y * y);
    if (__builtin_fabs(y) < 0x1p-28)
        return x;
    for (int i = 0; i < 4; i++)
        x -= (mr_erf_near_0(x) - y) * exp(x * x) * 0.88622692545275801365;
    return x;
}
/* Newton's method on the logarithm of erfc, for 0 < y < 0.5. */
MR_DEVICE double mr_erfcinv_small(double y)
{
    mr_pair goal = mr_log_pair({y, 0.0});
    double x = __nvvm_sqrt_rn_d(__builtin_fmax(0.2, -goal.high - 0.5 * log(1.0 - goal.high * 3.0)));
    for (int i = 0; i < 7; i++) {
        double slow = mr_erfcx_positive(x);
        mr_pair rest = mr_add(mr_add(mr_negate(mr_product(x, x)), mr_negate(goal)), log(slow));
        x += mr_value(rest) * slow * 0.88622692545275801365;
    }
    return x;
}
MR_DEVICE double erfcinv(double y)
{
    if (!(y > 0 && y < 2.0))
        return y == 0 ? MR_INF_D : y == 2.0 ? -MR_INF_D : MR_NAN_D;
    return y < 0.5 ? mr_erfcinv_small(y) : y > 1.5 ? -mr_erfcinv_small(2.0 - y) : mr_erfinv_near_0(1.0 - y);
}
MR_DEVICE double erfinv(double y)
{
    double size = __builtin_fabs(y);
    if (!(size < 1.0))
        return size == 1.0 ? __builtin_copysign(MR_INF_D, y) : MR_NAN_D;
    return size <= 0.5 ? mr_erfinv_near_0(y) : __builtin_copysign(mr_erfcinv_small(1.0 - size), y);
}
MR_DEVICE double normcdfinv(double y)
{
    if (!(y > 0 && y < 1.0))
        return y == 0 ? -MR_INF_D : y == 1.0 ? MR_INF_D : MR_NAN_D;
    return 0.0 - 1.41421356237309504880 * (y < 0x1p-1000 ? mr_erfcinv_small(2.0 * y) : erfcinv(2.0 * y));
}

/* ln(gamma(x)) for x >= 16 and below 2^60. */
MR_DEVICE mr_pair mr_stirling(mr_pair x)
{
    double inverse = 1.0 / x.high;
    double series = inverse * mr_series(inverse * inverse, {0x1.ace44322ce006p+3, -0x1.6476701181f3ap+0, 0x1.6fe96381e0680p-3,
        -0x1.e4286cb0f5398p-6, 0x1.a41a41a41a41ap-8, -0x1.f6ab0d9993c7dp-10, 0x1.b951e2b18ff23p-11, -0x1.3813813813814p-11,
        0x1.a01a01a01a01ap-11, -0x1.6c16c16c16c17p-9, 0x1.5555555555555p-4});
    mr_pair sum = mr_multiply(mr_add(x, -0.5), mr_log_pair(x));
    sum = mr_add(mr_add(sum, mr_negate(x)), {0x1.d67f1c864beb5p-1, -0x1.65b5a1b7ff5dfp-55});
    return mr_add(sum, series);
}
/* Moves x > 0 to 16 or beyond: gamma(x) = gamma(result) / product. */
MR_DEVICE mr_pair mr_gamma_shift(mr_pair x, mr_pair *product)
{
    *product = {1.0, 0.0};
    while (x.high < 16.0) {
        *product = mr_multiply(*product, x);
        x = mr_add(x, 1.0);
    }
    return x;
}
/* sin(pi x) for a value that is not whole. */
MR_DEVICE mr_pair mr_sine_by_pi(double x)
{
    mr_turned turned = mr_turn_by_pi(x);
    mr_pair value = turned.quarters & 1 ? mr_cosine_pair(turned.rest) : mr_sine_pair(turned.rest);
    return turned.quarters & 2 ? mr_negate(value) : value;
}
MR_DEVICE double tgamma(double x)
{
    if (isnan(x) || x == 0 || (x < 0 && (x == __nvvm_trunc_d(x) || isinf(x))))
        return x == 0 ? 1.0 / x : isnan(x) ? x : MR_NAN_D;
    if (x > 172.0)
        return MR_INF_D;
    if (__builtin_fabs(x) < 0x1p-60)
        return 1.0 / x;
    if (x < -190.0)
        return (long long)__nvvm_trunc_d(__builtin_fmax(x, -0x1p62)) & 1 ? 0.0 : -0.0;
    int k;
    bool mirror = x < 0.5;
    mr_pair product, shifted = mr_gamma_shift(mirror ? mr_sum(1.0, -x) : mr_pair{x, 0.0}, &product);
    mr_pair value = mr_exp_pair(mr_stirling(shifted), &k);
    if (!mirror)
        return mr_scale(mr_value(mr_divide(value, product)), k);
    /* gamma(x) = pi / (sin(pi x) gamma(1 - x)) */
    value = mr_divide(mr_multiply(mr_pi_pair, product), mr_multiply(value, mr_sine_by_pi(x)));
    return mr_scale(mr_value(value), -k);
}
/* ln(gamma(2 + x)) for |x| <= 0.5. */
MR_DEVICE double mr_lgamma_near_2(double x)
{
    return x * mr_series(x, {-0x1.2f69a9fabe3e0p-32, 0x1.3b15d2b2fc10cp-31, -0x1.47b1679258d0ep-30, 0x1.555a877ffd2c3p-29,
        -0x1.6434a8447aeadp-28, 0x1.7469daccfadcdp-27, -0x1.862c734df3eacp-26, 0x1.99b93c2070b0fp-25, -0x1.af5a6cbbf8a97p-24,
        0x1.c76bbb3f07a4dp-23, -0x1.e2600d93cfd2fp-22, 0x1.0064cdeb22f0fp-20, -0x1.11b2eb7679541p-19, 0x1.2597a39f34aacp-18,
        -0x1.3cbc963ce2243p-17, 0x1.580dcee66eb02p-16, -0x1.78de5bd7c81efp-15, 0x1.a127b0f17d65ap-14, -0x1.d3fd4c76d2fc8p-13,
        0x1.0b36af86396e9p-11, -0x1.38ac5c2bf8e08p-10, 0x1.7add6eadb6c30p-9, -0x1.e404fc218f5f2p-8, 0x1.51322ac7d8483p-6,
        -0x1.13e001a557607p-4, 0x1.4a34cc4a60fa6p-2, 0x1.b0ee6072093cep-2});
}
MR_DEVICE mr_pair mr_lgamma_positive(mr_pair x)
{
    double from_1 = (x.high - 1.0) + x.low, from_2 = (x.high - 2.0) + x.low;
    if (__builtin_fabs(from_2) <= 0.25)
        return {mr_lgamma_near_2(from_2), 0.0};
    if (__builtin_fabs(from_1) <= 0.25)
        return mr_add(mr_negate(mr_log1p_pair({from_1, 0.0})), mr_lgamma_near_2(from_1));
    mr_pair product, shifted = mr_gamma_shift(x, &product), value = mr_stirling(shifted);
    return product.high == 1.0 ? value : mr_add(value, mr_negate(mr_log_pair(product)));
}
MR_DEVICE double lgamma(double x)
{
    if (isnan(x) || isinf(x))
        return isnan(x) ? x : MR_INF_D;
    if (x <= 0 && x == __nvvm_trunc_d(x))
        return MR_INF_D;
    if (__builtin_fabs(x) < 0x1p-60)
        return -log(__builtin_fabs(x));
    if (x >= 0x1p60)
        return x * (log(x) - 1.0);
    if (x > 0)
        return mr_value(mr_lgamma_positive({x, 0.0}));
    mr_pair sine = mr_sine_by_pi(x);
    mr_pair other = mr_add(mr_log_pair(signbit(sine.high) ? mr_negate(sine) : sine), mr_lgamma_positive(mr_sum(1.0, -x)));
    return mr_value(mr_add({0x1.250d048e7a1bdp+0, 0x1.7abf2ad8d5088p-57}, mr_negate(other)));
}

#endif
