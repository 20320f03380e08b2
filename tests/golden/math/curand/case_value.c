/* SPDX-License-Identifier: Apache-2.0 */
/* The bits of integers and uniform numbers, and normal numbers to four bits behind the point: of each generator and
 * ordering, from seeds and offsets, in one call and in two. */
#include "rn.h"

#include <math.h>
#include <stdlib.h>

struct value {
    curandRngType_t type;
    curandOrdering_t order; /* 0: as it is */
    unsigned long long seed, offset;
    unsigned dimensions; /* 0: as it is */
    char kind; /* w: words, l: long ones, u and d: uniform, n and m: normal, p: Poisson */
    size_t count;
    double mean;
};

static bool is_quasi(curandRngType_t type)
{
    return type >= CURAND_RNG_QUASI_DEFAULT;
}

static void say_near(const void *at, size_t count, bool is_double)
{
    static double host[64];
    RT_NEED(cudaDeviceSynchronize());
    RT_NEED(cudaMemcpy(host, at, count * (is_double ? 8 : 4), cudaMemcpyDefault));
    for (size_t i = 0; i < count; i++)
        say_int(llrint(16 * (is_double ? host[i] : ((const float *)(const void *)host)[i])));
}

static void draw(curandGenerator_t generator, const struct value *value)
{
    void *at = rn_memory();
    size_t count = value->count;
    switch (value->kind) {
    case 'w':
        rn(curandGenerate(generator, at, count));
        rn_say(count * 4);
        break;
    case 'l':
        rn(curandGenerateLongLong(generator, at, count));
        rn_say(count * 8);
        break;
    case 'u':
        rn(curandGenerateUniform(generator, at, count));
        rn_say(count * 4);
        break;
    case 'd':
        rn(curandGenerateUniformDouble(generator, at, count));
        rn_say(count * 8);
        break;
    case 'n':
        rn(curandGenerateNormal(generator, at, count, 1, 2));
        say_near(at, count, false);
        break;
    case 'm':
        rn(curandGenerateNormalDouble(generator, at, count, 1, 2));
        say_near(at, count, true);
        break;
    default:
        rn(curandGeneratePoisson(generator, at, count, value->mean));
        rn_say(count * 4);
    }
}

static void run(const struct gold_case *self)
{
    const struct value *value = self->data;
    curandGenerator_t generator = rn_new(value->type);
    if (value->order)
        RN_NEED(curandSetGeneratorOrdering(generator, value->order));
    if (!is_quasi(value->type))
        RN_NEED(curandSetPseudoRandomGeneratorSeed(generator, value->seed));
    if (value->offset)
        RN_NEED(curandSetGeneratorOffset(generator, value->offset));
    if (value->dimensions)
        RN_NEED(curandSetQuasiRandomGeneratorDimensions(generator, value->dimensions));
    draw(generator, value);
    draw(generator, value);
    RN_NEED(curandDestroyGenerator(generator));
}

#define V(title, ...) \
    { \
        .name = "rand_value." title, .run = run, .data = &(const struct value) \
        { \
            __VA_ARGS__ \
        } \
    }
#define BIG 0xfedcba9876543210u

/* Of generators that have lanes. */
#define LANES(title, type, order) \
    V(title "_word_1", type, order, 0, 0, 0, 'w', 1), V(title "_word_7", type, order, 1, 0, 0, 'w', 7), \
        V(title "_word_100001", type, order, 1234, 0, 0, 'w', 100001), \
        V(title "_word_1m", type, order, BIG, 0, 0, 'w', 1 << 20), \
        V(title "_uniform_4097", type, order, 5, 0, 0, 'u', 4097), \
        V(title "_uniform_1m", type, order, 6, 0, 0, 'u', 1000001), \
        V(title "_double_30", type, order, 5, 0, 0, 'd', 30), \
        V(title "_double_200001", type, order, 7, 0, 0, 'd', 200001), \
        V(title "_normal_64", type, order, 8, 0, 0, 'n', 64), \
        V(title "_normal_double_64", type, order, 9, 0, 0, 'm', 64)
#define OFFSETS(title, type, order) \
    V(title "_offset_1", type, order, 77, 1, 0, 'w', 10000), V(title "_offset_5", type, order, 77, 5, 0, 'd', 1000), \
        V(title "_offset_4097", type, order, 77, 4097, 0, 'w', 10000), \
        V(title "_offset_123457", type, order, 77, 123457, 0, 'u', 10000), \
        V(title "_offset_many", type, order, 77, 0x123456789au, 0, 'w', 10000)
#define COUNTS(title, type) \
    V(title "_poisson_half", type, 0, 8, 0, 0, 'p', 5000, 0.5), \
        V(title "_poisson_3", type, 0, 8, 0, 0, 'p', 100001, 3), \
        V(title "_poisson_64", type, 0, 8, 0, 0, 'p', 5000, 64), \
        V(title "_poisson_500", type, 0, 8, 0, 0, 'p', 5000, 500)
#define SOBOL(title, type, kind) \
    V(title "_1", type, 0, 0, 0, 0, kind, 1000), V(title "_3", type, 0, 0, 0, 3, kind, 300), \
        V(title "_20000", type, 0, 0, 0, 20000, kind, 20000), V(title "_order", type, 201, 0, 0, 2, kind, 20), \
        V(title "_offset_7", type, 0, 0, 7, 5, kind, 50), \
        V(title "_offset_many", type, 0, 0, 1u << 31, 2, kind, 2000), V(title "_1m", type, 0, 0, 0, 1, kind, 1 << 19), \
        V(title "_uniform", type, 0, 0, 0, 3, 'u', 9999), V(title "_double", type, 0, 0, 5, 3, 'd', 9999), \
        V(title "_normal", type, 0, 0, 3, 1, 'n', 64), V(title "_normal_double", type, 0, 0, 3, 1, 'm', 64), \
        V(title "_poisson_3", type, 0, 0, 0, 1, 'p', 5000, 3), \
        V(title "_poisson_500", type, 0, 0, 0, 1, 'p', 5000, 500)

/* MT19937's lanes give their state in 78 rounds of 65,536: so many, and more, by calls whose lengths fit nothing. */
CASE(rand_value, mt19937_rounds)
{
    curandGenerator_t generator = rn_new(CURAND_RNG_PSEUDO_MT19937);
    RN_NEED(curandSetPseudoRandomGeneratorSeed(generator, 4357));
    for (size_t i = 0, count = 1; i < 12; i++, count = count * 37 % 1999993 + 1) {
        RN_NEED(curandGenerate(generator, rn_memory(), count));
        rn_say(count * 4);
    }
    RN_NEED(curandDestroyGenerator(generator));
}

static struct gold_case values[] = {
    LANES("xorwow", CURAND_RNG_PSEUDO_XORWOW, 0),
    LANES("xorwow_legacy", CURAND_RNG_PSEUDO_XORWOW, CURAND_ORDERING_PSEUDO_LEGACY),
    LANES("xorwow_best", CURAND_RNG_PSEUDO_XORWOW, CURAND_ORDERING_PSEUDO_BEST),
    LANES("xorwow_seeded", CURAND_RNG_PSEUDO_XORWOW, CURAND_ORDERING_PSEUDO_SEEDED),
    LANES("mrg32k3a", CURAND_RNG_PSEUDO_MRG32K3A, 0),
    LANES("mrg32k3a_legacy", CURAND_RNG_PSEUDO_MRG32K3A, CURAND_ORDERING_PSEUDO_LEGACY),
    LANES("mtgp32", CURAND_RNG_PSEUDO_MTGP32, 0),
    LANES("mtgp32_legacy", CURAND_RNG_PSEUDO_MTGP32, CURAND_ORDERING_PSEUDO_LEGACY),
    LANES("mt19937", CURAND_RNG_PSEUDO_MT19937, 0),
    LANES("philox", CURAND_RNG_PSEUDO_PHILOX4_32_10, 0),
    LANES("philox_legacy", CURAND_RNG_PSEUDO_PHILOX4_32_10, CURAND_ORDERING_PSEUDO_LEGACY),
    OFFSETS("xorwow", CURAND_RNG_PSEUDO_XORWOW, 0),
    OFFSETS("xorwow_seeded", CURAND_RNG_PSEUDO_XORWOW, CURAND_ORDERING_PSEUDO_SEEDED),
    OFFSETS("mrg32k3a", CURAND_RNG_PSEUDO_MRG32K3A, 0),
    OFFSETS("mrg32k3a_legacy", CURAND_RNG_PSEUDO_MRG32K3A, CURAND_ORDERING_PSEUDO_LEGACY),
    OFFSETS("philox", CURAND_RNG_PSEUDO_PHILOX4_32_10, 0),
    COUNTS("xorwow", CURAND_RNG_PSEUDO_XORWOW),
    COUNTS("mrg32k3a", CURAND_RNG_PSEUDO_MRG32K3A),
    COUNTS("mtgp32", CURAND_RNG_PSEUDO_MTGP32),
    COUNTS("mt19937", CURAND_RNG_PSEUDO_MT19937),
    COUNTS("philox", CURAND_RNG_PSEUDO_PHILOX4_32_10),
    SOBOL("sobol32", CURAND_RNG_QUASI_SOBOL32, 'w'),
    SOBOL("sobol64", CURAND_RNG_QUASI_SOBOL64, 'l'),
    SOBOL("scrambled32", CURAND_RNG_QUASI_SCRAMBLED_SOBOL32, 'w'),
    SOBOL("scrambled64", CURAND_RNG_QUASI_SCRAMBLED_SOBOL64, 'l'),
};

__attribute__((constructor)) static void add(void)
{
    gold_register_all(values, sizeof values / sizeof *values);
}
