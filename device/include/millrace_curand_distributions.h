/* SPDX-License-Identifier: Apache-2.0 */
/* Uniform, normal and log-normal numbers from any generator; millrace_curand_poisson.h: Poisson numbers. Part of curand_kernel.h.
 *
 * Uniform numbers have cuRAND's bits. Normal ones are made the same way (Box and Muller; for Sobol and MTGP32, one number from one by the inverse of
 * the normal distribution) with our logarithm and sine, so the last bits may differ. */
#ifndef MILLRACE_CURAND_DISTRIBUTIONS_H
#define MILLRACE_CURAND_DISTRIBUTIONS_H

/* Long functions that many kernels of a module call stay calls: copies of them in each would take long to compile. */
#define MR_CALLED static __attribute__((device, noinline, unused))

/* Uniform in (0, 1]: the middle of the step that an integer stands for, rounded; its end for a double of one 32-bit word. */
MR_DEVICE float _curand_uniform(unsigned int x) { return __fmaf_rn((float)x, 0x1p-32f, 0x1p-33f); }
MR_DEVICE float _curand_uniform(unsigned long long x) { return _curand_uniform((unsigned int)(x >> 32)); }
MR_DEVICE double _curand_uniform_double(unsigned int x) { return x * 0x1p-32 + 0x1p-32; }
MR_DEVICE double _curand_uniform_double(unsigned long long x) { return (double)(x >> 11) * 0x1p-53 + 0x1p-54; }
/* 53 bits from two words. */
MR_DEVICE unsigned long long mr_word_of_53(unsigned int x, unsigned int y) { return x ^ (unsigned long long)y << 21; }
MR_DEVICE double mr_uniform_of_two(unsigned int x, unsigned int y) { return (double)mr_word_of_53(x, y) * 0x1p-53 + 0x1p-54; }

template <class State> MR_DEVICE float curand_uniform(State *state) { return _curand_uniform(curand(state)); }
MR_DEVICE float curand_uniform(curandStateMRG32k3a *state) { return (float)(curand_MRG32k3a(state) * MR_MRG_FRACTION); }
template <class State> MR_DEVICE double curand_uniform_double(State *state) { return _curand_uniform_double(curand(state)); }
MR_DEVICE double curand_uniform_double(curandStateMRG32k3a *state) { return curand_MRG32k3a(state) * MR_MRG_FRACTION; }
MR_DEVICE double curand_uniform_double(curandStateXORWOW *state)
{
    unsigned int x = curand(state);
    return mr_uniform_of_two(x, curand(state));
}
MR_DEVICE float4 curand_uniform4(curandStatePhilox4_32_10 *state)
{
    uint4 x = curand4(state);
    return {_curand_uniform(x.x), _curand_uniform(x.y), _curand_uniform(x.z), _curand_uniform(x.w)};
}
MR_DEVICE double2 curand_uniform2_double(curandStatePhilox4_32_10 *state)
{
    uint4 x = curand4(state);
    return {mr_uniform_of_two(x.x, x.y), mr_uniform_of_two(x.z, x.w)};
}
MR_DEVICE double4 curand_uniform4_double(curandStatePhilox4_32_10 *state)
{
    double2 first = curand_uniform2_double(state), second = curand_uniform2_double(state);
    return {first.x, first.y, second.x, second.y};
}

/* Two normal numbers from two uniform ones (Box and Muller, 1958). */
MR_CALLED float2 mr_box_muller(unsigned int x, unsigned int y)
{
    float sine, cosine, size = sqrtf(-2.0f * logf(_curand_uniform(x)));
    sincosf(__fmaf_rn((float)y, 0x1p-32f * 6.2831855f, 0x1p-33f * 6.2831855f), &sine, &cosine);
    return {sine * size, cosine * size};
}
MR_CALLED double2 mr_box_muller_double(uint4 x)
{
    double sine, cosine, size = sqrt(-2.0 * log(mr_uniform_of_two(x.x, x.y)));
    sincospi((double)mr_word_of_53(x.z, x.w) * 0x1p-52 + 0x1p-53, &sine, &cosine);
    return {sine * size, cosine * size};
}

MR_DEVICE float2 curand_normal2(curandStateXORWOW *state)
{
    unsigned int x = curand(state);
    return mr_box_muller(x, curand(state));
}
MR_DEVICE float2 curand_normal2(curandStatePhilox4_32_10 *state)
{
    unsigned int x = curand(state);
    return mr_box_muller(x, curand(state));
}
MR_DEVICE float2 curand_normal2(curandStateMRG32k3a *state)
{
    float sine, cosine, size = sqrtf(-2.0f * logf(curand_uniform(state)));
    sincosf(curand_uniform(state) * 6.2831855f, &sine, &cosine);
    return {sine * size, cosine * size};
}
MR_DEVICE double2 curand_normal2_double(curandStateXORWOW *state)
{
    uint4 x;
    x.x = curand(state);
    x.y = curand(state);
    x.z = curand(state);
    x.w = curand(state);
    return mr_box_muller_double(x);
}
MR_DEVICE double2 curand_normal2_double(curandStatePhilox4_32_10 *state) { return mr_box_muller_double(curand4(state)); }
MR_DEVICE double2 curand_normal2_double(curandStateMRG32k3a *state)
{
    double sine, cosine, size = sqrt(-2.0 * log(curand_uniform_double(state)));
    sincospi(curand_uniform_double(state) * 2.0, &sine, &cosine);
    return {sine * size, cosine * size};
}
MR_DEVICE float4 curand_normal4(curandStatePhilox4_32_10 *state)
{
    uint4 x = curand4(state);
    float2 first = mr_box_muller(x.x, x.y), second = mr_box_muller(x.z, x.w);
    return {first.x, first.y, second.x, second.y};
}
MR_DEVICE double4 curand_normal4_double(curandStatePhilox4_32_10 *state)
{
    double2 first = curand_normal2_double(state), second = curand_normal2_double(state);
    return {first.x, first.y, second.x, second.y};
}

/* One number for one: the normal distribution's inverse, reached from the nearer end so that both tails are as exact. */
MR_CALLED float mr_normal_of(unsigned int x)
{
    bool upper = x > 0x80000000u;
    float v = 1.41421356f * erfcinvf(__fmaf_rn((float)(upper ? ~x : x), 0x1p-31f, 0x1p-32f));
    return upper ? v : -v;
}
MR_CALLED double mr_normal_double_of(unsigned int x)
{
    bool upper = x > 0x80000000u;
    double v = 1.4142135623730951 * erfcinv((upper ? ~x : x) * 0x1p-31 + 0x1p-32);
    return upper ? v : -v;
}
MR_DEVICE float mr_normal_of(unsigned long long x) { return mr_normal_of((unsigned int)(x >> 32)); }
MR_CALLED double mr_normal_double_of(unsigned long long x)
{
    bool upper = x >> 63;
    double v = 1.4142135623730951 * erfcinv((double)((upper ? ~x : x) >> 11) * 0x1p-52 + 0x1p-53);
    return upper ? v : -v;
}

/* One of a pair; the other is kept in the state. A kept number is of one kind, normal or log-normal, and is dropped when the other kind is asked for. */
#define MR_FROM_PAIR(state_type)                                                                                       \
    MR_DEVICE float curand_normal(state_type *state)                                                                   \
    {                                                                                                                  \
        if (state->boxmuller_flag == MR_NORMAL_KEPT) {                                                                 \
            state->boxmuller_flag = 0;                                                                                 \
            return state->boxmuller_extra;                                                                             \
        }                                                                                                              \
        float2 pair = curand_normal2(state);                                                                           \
        state->boxmuller_flag = MR_NORMAL_KEPT;                                                                        \
        state->boxmuller_extra = pair.y;                                                                               \
        return pair.x;                                                                                                 \
    }                                                                                                                  \
    MR_DEVICE double curand_normal_double(state_type *state)                                                           \
    {                                                                                                                  \
        if (state->boxmuller_flag_double == MR_NORMAL_KEPT) {                                                          \
            state->boxmuller_flag_double = 0;                                                                          \
            return state->boxmuller_extra_double;                                                                      \
        }                                                                                                              \
        double2 pair = curand_normal2_double(state);                                                                   \
        state->boxmuller_flag_double = MR_NORMAL_KEPT;                                                                 \
        state->boxmuller_extra_double = pair.y;                                                                        \
        return pair.x;                                                                                                 \
    }                                                                                                                  \
    MR_DEVICE float2 curand_log_normal2(state_type *state, float mean, float deviation)                                \
    {                                                                                                                  \
        float2 pair = curand_normal2(state);                                                                           \
        return {expf(mean + deviation * pair.x), expf(mean + deviation * pair.y)};                                     \
    }                                                                                                                  \
    MR_DEVICE double2 curand_log_normal2_double(state_type *state, double mean, double deviation)                      \
    {                                                                                                                  \
        double2 pair = curand_normal2_double(state);                                                                   \
        return {exp(mean + deviation * pair.x), exp(mean + deviation * pair.y)};                                       \
    }                                                                                                                  \
    MR_DEVICE float curand_log_normal(state_type *state, float mean, float deviation)                                  \
    {                                                                                                                  \
        if (state->boxmuller_flag == MR_LOG_NORMAL_KEPT) {                                                             \
            state->boxmuller_flag = 0;                                                                                 \
            return state->boxmuller_extra;                                                                             \
        }                                                                                                              \
        float2 pair = curand_log_normal2(state, mean, deviation);                                                      \
        state->boxmuller_flag = MR_LOG_NORMAL_KEPT;                                                                    \
        state->boxmuller_extra = pair.y;                                                                               \
        return pair.x;                                                                                                 \
    }                                                                                                                  \
    MR_DEVICE double curand_log_normal_double(state_type *state, double mean, double deviation)                        \
    {                                                                                                                  \
        if (state->boxmuller_flag_double == MR_LOG_NORMAL_KEPT) {                                                      \
            state->boxmuller_flag_double = 0;                                                                          \
            return state->boxmuller_extra_double;                                                                      \
        }                                                                                                              \
        double2 pair = curand_log_normal2_double(state, mean, deviation);                                              \
        state->boxmuller_flag_double = MR_LOG_NORMAL_KEPT;                                                             \
        state->boxmuller_extra_double = pair.y;                                                                        \
        return pair.x;                                                                                                 \
    }
#define MR_FROM_ONE(state_type)                                                                                        \
    MR_DEVICE float curand_normal(state_type *state) { return mr_normal_of(curand(state)); }                           \
    MR_DEVICE double curand_normal_double(state_type *state) { return mr_normal_double_of(curand(state)); }            \
    MR_DEVICE float curand_log_normal(state_type *state, float mean, float deviation)                                  \
    {                                                                                                                  \
        return expf(mean + deviation * curand_normal(state));                                                          \
    }                                                                                                                  \
    MR_DEVICE double curand_log_normal_double(state_type *state, double mean, double deviation)                        \
    {                                                                                                                  \
        return exp(mean + deviation * curand_normal_double(state));                                                    \
    }
MR_FROM_PAIR(curandStateXORWOW)
MR_FROM_PAIR(curandStateMRG32k3a)
MR_FROM_PAIR(curandStatePhilox4_32_10)
MR_FROM_ONE(curandStateSobol32)
MR_FROM_ONE(curandStateScrambledSobol32)
MR_FROM_ONE(curandStateSobol64)
MR_FROM_ONE(curandStateScrambledSobol64)
MR_FROM_ONE(curandStateMtgp32)
#undef MR_FROM_PAIR
#undef MR_FROM_ONE
MR_DEVICE float4 curand_log_normal4(curandStatePhilox4_32_10 *state, float mean, float deviation)
{
    float4 x = curand_normal4(state);
    return {expf(mean + deviation * x.x), expf(mean + deviation * x.y), expf(mean + deviation * x.z), expf(mean + deviation * x.w)};
}
MR_DEVICE double4 curand_log_normal4_double(curandStatePhilox4_32_10 *state, double mean, double deviation)
{
    double2 first = curand_log_normal2_double(state, mean, deviation), second = curand_log_normal2_double(state, mean, deviation);
    return {first.x, first.y, second.x, second.y};
}

#include "millrace_curand_poisson.h"

#undef MR_CALLED

#endif
