/* SPDX-License-Identifier: Apache-2.0 */
/* What cuRAND answers to arguments that are wrong, or ask for nothing. */
#include "rn.h"

#include <math.h>

/* A case of some calls with a generator g, and memory at. */
#define ONE(title, type, calls, ...) \
    CASE(rand_status, title, __VA_ARGS__) \
    { \
        curandGenerator_t g = rn_new(type); \
        void *at = rn_memory(); \
        (void)at; \
        calls; \
        RT_NEED(cudaDeviceSynchronize()); \
        RN_NEED(curandDestroyGenerator(g)); \
    }
#define XORWOW CURAND_RNG_PSEUDO_XORWOW
#define MRG CURAND_RNG_PSEUDO_MRG32K3A
#define MTGP CURAND_RNG_PSEUDO_MTGP32
#define MT CURAND_RNG_PSEUDO_MT19937
#define PHILOX CURAND_RNG_PSEUDO_PHILOX4_32_10
#define SOBOL32 CURAND_RNG_QUASI_SOBOL32
#define SOBOL64 CURAND_RNG_QUASI_SOBOL64

CASE(rand_status, create)
{
    static const int types[] = {100, 101, 121, 141, 142, 161, 200, 201, 203, -1, 1, 99, 102, 199, 205, 300};
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        curandGenerator_t g = NULL;
        rn(curandCreateGenerator(&g, (curandRngType_t)types[i]));
        if (g)
            RN_NEED(curandDestroyGenerator(g));
    }
}

CASE(rand_status, create_host)
{
    static const int types[] = {100, 101, 121, 141, 161, 200, 201, 203, -1, 1, 99, 102, 199, 205, 300};
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        curandGenerator_t g = NULL;
        rn(curandCreateGeneratorHost(&g, (curandRngType_t)types[i]));
        if (g)
            RN_NEED(curandDestroyGenerator(g));
    }
}

CASE(rand_status, create_null, RT_CRASHES("NOT_INITIALIZED"))
{
    rn(curandCreateGenerator(NULL, XORWOW));
}

CASE(rand_status, null_destroy)
{
    rn(curandDestroyGenerator(NULL));
}
CASE(rand_status, null_generate)
{
    rn(curandGenerate(NULL, rn_memory(), 4));
}
CASE(rand_status, null_normal)
{
    rn(curandGenerateNormal(NULL, rn_memory(), 4, 0, 1));
}
CASE(rand_status, null_settings)
{
    rn(curandSetStream(NULL, NULL));
    rn(curandSetPseudoRandomGeneratorSeed(NULL, 1));
    rn(curandSetGeneratorOffset(NULL, 1));
    rn(curandSetGeneratorOrdering(NULL, CURAND_ORDERING_PSEUDO_DEFAULT));
    rn(curandSetQuasiRandomGeneratorDimensions(NULL, 1));
    rn(curandGenerateSeeds(NULL));
}
CASE(rand_status, version)
{
    int value = 0;
    rn(curandGetVersion(&value));
    say_if("positive", value > 0);
    rn(curandGetProperty(MAJOR_VERSION, &value));
    say_int(value);
    rn(curandGetProperty((libraryPropertyType)3, &value));
    rn(curandGetProperty((libraryPropertyType)-1, &value));
}

#define ORDERS(title, type) \
    ONE(title, type, for (int i = 100; i < 105; i++) rn(curandSetGeneratorOrdering(g, (curandOrdering_t)i)); \
        rn(curandSetGeneratorOrdering(g, CURAND_ORDERING_QUASI_DEFAULT)))
ORDERS(orders_xorwow, XORWOW)
ORDERS(orders_mrg32k3a, MRG)
ORDERS(orders_mtgp32, MTGP)
ORDERS(orders_mt19937, MT)
ORDERS(orders_philox, PHILOX)
ORDERS(orders_sobol32, SOBOL32)
ORDERS(orders_sobol64, SOBOL64)

#define SETTINGS(title, type) \
    ONE(title, type, rn(curandSetPseudoRandomGeneratorSeed(g, 5)); rn(curandSetGeneratorOffset(g, 5)); \
        rn(curandSetQuasiRandomGeneratorDimensions(g, 0)); rn(curandSetQuasiRandomGeneratorDimensions(g, 2)); \
        rn(curandSetQuasiRandomGeneratorDimensions(g, 20000)); rn(curandSetQuasiRandomGeneratorDimensions(g, 20001)); \
        rn(curandSetStream(g, NULL)); rn(curandGenerateSeeds(g)))
SETTINGS(settings_xorwow, XORWOW)
SETTINGS(settings_mrg32k3a, MRG)
SETTINGS(settings_mtgp32, MTGP)
SETTINGS(settings_philox, PHILOX)
SETTINGS(settings_sobol32, SOBOL32)
SETTINGS(settings_sobol64, SOBOL64)

/* Lengths: 0, 1, odd and even. */
static void lengths(curandGenerator_t g, void *at)
{
    static const size_t all[] = {0, 1, 2, 7, 1000};
    for (int i = 0; i < 5; i++) {
        rn(curandGenerate(g, at, all[i]));
        rn(curandGenerateLongLong(g, at, all[i]));
        rn(curandGenerateUniform(g, at, all[i]));
        rn(curandGenerateUniformDouble(g, at, all[i]));
        rn(curandGenerateNormal(g, at, all[i], 0, 1));
        rn(curandGenerateNormalDouble(g, at, all[i], 0, 1));
        rn(curandGenerateLogNormal(g, at, all[i], 0, 1));
        rn(curandGenerateLogNormalDouble(g, at, all[i], 0, 1));
        rn(curandGeneratePoisson(g, at, all[i], 3));
    }
}
#define LENGTHS(title, type) ONE(title, type, lengths(g, at))
LENGTHS(lengths_xorwow, XORWOW)
LENGTHS(lengths_mrg32k3a, MRG)
LENGTHS(lengths_mtgp32, MTGP)
LENGTHS(lengths_mt19937, MT)
LENGTHS(lengths_philox, PHILOX)
LENGTHS(lengths_sobol32, SOBOL32)
LENGTHS(lengths_sobol64, SOBOL64)

static void means(curandGenerator_t g, void *at)
{
    static const double all[] = {-1, 0, 1e-300, 0.001, 1, 1999, 2000, 5000, 399999, 400001, 1e6, 1e300};
    for (int i = 0; i < 12; i++)
        rn(curandGeneratePoisson(g, at, 10, all[i]));
}
#define MEANS(title, type) ONE(title, type, means(g, at))
MEANS(means_xorwow, XORWOW)
MEANS(means_mrg32k3a, MRG)
MEANS(means_mtgp32, MTGP)
MEANS(means_philox, PHILOX)
MEANS(means_sobol32, SOBOL32)

#define METHODS(title, type) \
    ONE(title, type, for (int i = -1; i < 15; i++) rn(curandGeneratePoissonMethod(g, at, 10, 3, (curandMethod_t)i)))
METHODS(methods_xorwow, XORWOW)
METHODS(methods_philox, PHILOX)
METHODS(methods_sobol32, SOBOL32)

ONE(dimensions_length, SOBOL32, rn(curandSetQuasiRandomGeneratorDimensions(g, 3)); rn(curandGenerate(g, at, 7));
    rn(curandGenerate(g, at, 6)); rn(curandGenerateNormal(g, at, 4, 0, 1)))
ONE(deviation_negative, XORWOW, rn(curandGenerateNormal(g, at, 4, 0, -1)); rn(curandGenerateNormal(g, at, 4, 0, 0)))
ONE(deviation_nan, PHILOX, rn(curandGenerateNormal(g, at, 4, 0, NAN)))

CASE(rand_status, sets)
{
    curandDirectionVectors32_t *small = NULL;
    curandDirectionVectors64_t *large = NULL;
    for (int set = 100; set < 106; set++)
        if (set != CURAND_SCRAMBLED_DIRECTION_VECTORS_32_JOEKUO6 &&
            set != CURAND_SCRAMBLED_DIRECTION_VECTORS_64_JOEKUO6) {
            rn(curandGetDirectionVectors32(&small, (curandDirectionVectorSet_t)set));
            rn(curandGetDirectionVectors64(&large, (curandDirectionVectorSet_t)set));
        }
    say_hash(small, 20000 * sizeof *small);
    say_hash(large, 20000 * sizeof *large);
}

CASE(rand_status, distribution)
{
    curandDiscreteDistribution_t distribution = NULL;
    rn(curandCreatePoissonDistribution(-1, &distribution));
    rn(curandCreatePoissonDistribution(0, &distribution));
    rn(curandCreatePoissonDistribution(3, &distribution));
    rn(curandDestroyDistribution(distribution));
    rn(curandCreatePoissonDistribution(5000, &distribution));
    rn(curandDestroyDistribution(distribution));
    rn(curandDestroyDistribution(NULL));
}
