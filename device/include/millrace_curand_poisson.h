/* SPDX-License-Identifier: Apache-2.0 */
/* Poisson numbers, by cuRAND's three ways, so that a seed gives cuRAND's counts. Part of curand_kernel.h.
 *
 * From XORWOW, MRG32k3a and Philox: below a mean of 64 uniform numbers are multiplied until the product falls to exp(-mean) (Knuth, The Art of Computer
 * Programming, volume 2); above 4000 a normal number is scaled and rounded; between, counts are proposed and rejected. From Sobol, which must use one number
 * for one: the inverse of the distribution below 1000, the normal distribution's from there.
 *
 * A proposal is the whole part of a number with the distribution 1 / (1 + exp(b - a (x - mean)))^2, near the gamma distribution's for the right a and b,
 * which are cuRAND's. It is taken with the probability of the count over 1.3 times that of its proposal. Both are worked out by approximate instructions
 * in single precision, in cuRAND's order, since a last bit can decide: this file and cuRAND's count the same on one machine. The approximate
 * instructions of the CPU and of a GPU differ in last bits; there about one proposal in 5,600 ends differently, and the sequence goes on behind it. */
#ifndef MILLRACE_CURAND_POISSON_H
#define MILLRACE_CURAND_POISSON_H

MR_DEVICE float mr_poisson_exp(float x) { return __nvvm_ex2_approx_ftz_f((float)(x * 1.4426950408889634074)); }
MR_DEVICE float mr_poisson_log(float x) { return (float)(__nvvm_lg2_approx_ftz_f(x) * 0.69314718055994530942); }

struct mr_poisson_shape { float mean, a, b; };
MR_DEVICE mr_poisson_shape mr_poisson_shape_of(float mean)
{
    float a = __fmaf_rn(1.4324803507554091f, __nvvm_rsqrt_approx_ftz_f(mean - 0.12400979329415655f), 0.00025361074907033f);
    float b = __fmaf_rn(0.21096734870196546f, __nvvm_rsqrt_approx_ftz_f(mean - 1.9738116408999942f), 0.94201734077887530f);
    return {mean, a, b};
}
/* The proposals' distribution at x, and where it is y. */
MR_DEVICE float mr_poisson_below(mr_poisson_shape shape, float x)
{
    float root = 1.0f + mr_poisson_exp(__fmaf_rn(shape.a, shape.mean - x, -shape.b));
    return __nvvm_rcp_approx_ftz_f(root * root);
}
MR_DEVICE float mr_poisson_at(mr_poisson_shape shape, float y)
{
    float size = shape.b + mr_poisson_log(__nvvm_rsqrt_approx_ftz_f(y) - 1.0f);
    return __fmaf_rn(-size, __nvvm_rcp_approx_ftz_f(shape.a), shape.mean);
}
/* Of a count, with the logarithm of the mean. */
MR_CALLED float mr_poisson_probability(float mean, float log, float count)
{
    return mr_poisson_exp(__fmaf_rn(count, log, -mean) - (float)lgamma((double)(int)(1.0f + count)));
}
template <class State> MR_DEVICE unsigned int mr_poisson_rejected(State *state, float mean)
{
    mr_poisson_shape shape = mr_poisson_shape_of(mean);
    float log = mr_poisson_log(mean);
    for (;;) {
        float count = __nvvm_floor_f(mr_poisson_at(shape, curand_uniform(state)));
        float height = curand_uniform(state), most = (mr_poisson_below(shape, count + 1.0f) - mr_poisson_below(shape, count)) * 1.3f;
        if (height * most < mr_poisson_probability(mean, log, count) && most >= 1e-20)
            return __nvvm_f2ui_rz(count);
    }
}
template <class State> MR_DEVICE unsigned int mr_poisson_product(State *state, float mean)
{
    float product = expf(mean);
    unsigned int count = 0;
    while ((product *= curand_uniform(state)) > 1.0f)
        count++;
    return count;
}
MR_DEVICE unsigned int mr_poisson_normal(double normal, double mean)
{
    return __double2uint_rz(__fma_rn(__dsqrt_rn(mean), normal, mean) + 0.5);
}
/* The least count whose cumulated probability reaches u, 0 < u < 1. exp(-mean) is taken in parts that don't underflow; all sums grow by each. */
MR_CALLED unsigned int mr_poisson_inverse(double u, double mean)
{
    double term = 1.0, sum = 1.0, taken = 0.0;
    unsigned int count = 0;
    do {
        double part = exp(mean > taken + 500.0 ? -500.0 : taken - mean);
        term *= part;
        sum *= part;
        taken += 500.0;
        while (u > sum && term > 0) {
            count++;
            term *= mean / count;
            sum += term;
        }
    } while (taken < mean);
    return count;
}
/* Never 1, which no sum may reach. */
MR_DEVICE double mr_uniform_below_1(unsigned int x) { return x * 0x1p-32 + 0x1p-33; }
MR_DEVICE double mr_uniform_below_1(unsigned long long x) { return (double)(x >> 11) * 0x1p-53 + 0x1p-55; }

template <class State> MR_CALLED unsigned int mr_poisson_of_many(State *state, double mean)
{
    return mean < 64.0     ? mr_poisson_product(state, (float)mean)
           : mean > 4000.0 ? mr_poisson_normal(curand_normal_double(state), mean)
                           : mr_poisson_rejected(state, (float)mean);
}
template <class State> MR_CALLED unsigned int mr_poisson_of_one(State *state, double mean)
{
    auto x = curand(state);
    return mean < 1000.0 ? mr_poisson_inverse(mr_uniform_below_1(x), mean) : mr_poisson_normal(mr_normal_double_of(x), mean);
}
MR_DEVICE unsigned int curand_poisson(curandStateXORWOW *state, double mean) { return mr_poisson_of_many(state, mean); }
MR_DEVICE unsigned int curand_poisson(curandStateMRG32k3a *state, double mean) { return mr_poisson_of_many(state, mean); }
MR_DEVICE unsigned int curand_poisson(curandStatePhilox4_32_10 *state, double mean) { return mr_poisson_of_many(state, mean); }
MR_DEVICE unsigned int curand_poisson(curandStateSobol32 *state, double mean) { return mr_poisson_of_one(state, mean); }
MR_DEVICE unsigned int curand_poisson(curandStateScrambledSobol32 *state, double mean) { return mr_poisson_of_one(state, mean); }
MR_DEVICE unsigned int curand_poisson(curandStateSobol64 *state, double mean) { return mr_poisson_of_one(state, mean); }
MR_DEVICE unsigned int curand_poisson(curandStateScrambledSobol64 *state, double mean) { return mr_poisson_of_one(state, mean); }
MR_DEVICE unsigned int curand_poisson(curandStateMtgp32 *state, double mean) { return mr_poisson_of_one(state, mean); }
MR_DEVICE uint4 curand_poisson4(curandStatePhilox4_32_10 *state, double mean)
{
    if (mean > 4000.0) {
        double4 normal = curand_normal4_double(state);
        return {mr_poisson_normal(normal.x, mean), mr_poisson_normal(normal.y, mean), mr_poisson_normal(normal.z, mean), mr_poisson_normal(normal.w, mean)};
    }
    unsigned int counts[4];
    for (int i = 0; i < 4; i++)
        counts[i] = mr_poisson_of_many(state, mean);
    return {counts[0], counts[1], counts[2], counts[3]};
}

#endif
