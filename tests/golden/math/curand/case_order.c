/* SPDX-License-Identifier: Apache-2.0 */
/* cuRAND in stream order, settings between calls, captures, and generators of the host. */
#include "rn.h"

#include <stdlib.h>

#define N 64

static void draw(curandGenerator_t g, curandRngType_t type)
{
    if (type >= CURAND_RNG_QUASI_SOBOL64)
        RN_NEED(curandGenerateLongLong(g, rn_memory(), N / 2));
    else
        RN_NEED(curandGenerate(g, rn_memory(), N));
    rn_say(N * 4);
}

/* A setting between two calls: what goes on, and what begins anew. */
#define BETWEEN(title, type, setting) \
    CASE(rand_between, title) \
    { \
        curandGenerator_t g = rn_new(type); \
        draw(g, type); \
        draw(g, type); \
        setting; \
        draw(g, type); \
        draw(g, type); \
        RN_NEED(curandDestroyGenerator(g)); \
    }
#define ALL_BETWEEN(name, type) \
    BETWEEN(name##_seed, type, rn(curandSetPseudoRandomGeneratorSeed(g, 9))) \
    BETWEEN(name##_same_seed, type, rn(curandSetPseudoRandomGeneratorSeed(g, 0))) \
    BETWEEN(name##_offset, type, rn(curandSetGeneratorOffset(g, 16))) \
    BETWEEN(name##_offset_seed, type, rn(curandSetGeneratorOffset(g, 16)); \
            rn(curandSetPseudoRandomGeneratorSeed(g, 0))) \
    BETWEEN(name##_ordering, type, rn(curandSetGeneratorOrdering(g, CURAND_ORDERING_PSEUDO_LEGACY))) \
    BETWEEN(name##_seeds, type, rn(curandGenerateSeeds(g))) \
    BETWEEN(name##_doubles, type, rn(curandGenerateUniformDouble(g, rn_memory(), 10))) \
    BETWEEN(name##_normals, type, rn(curandGenerateNormal(g, rn_memory(), 10, 0, 1))) \
    BETWEEN(name##_normal_doubles, type, rn(curandGenerateNormalDouble(g, rn_memory(), 10, 0, 1))) \
    BETWEEN(name##_poisson, type, rn(curandGeneratePoisson(g, rn_memory(), 10, 3))) \
    BETWEEN(name##_poisson_large, type, rn(curandGeneratePoisson(g, rn_memory(), 10, 5000)))
ALL_BETWEEN(xorwow, CURAND_RNG_PSEUDO_XORWOW)
ALL_BETWEEN(mrg32k3a, CURAND_RNG_PSEUDO_MRG32K3A)
ALL_BETWEEN(mtgp32, CURAND_RNG_PSEUDO_MTGP32)
ALL_BETWEEN(philox, CURAND_RNG_PSEUDO_PHILOX4_32_10)
ALL_BETWEEN(mt19937, CURAND_RNG_PSEUDO_MT19937)
#define QUASI_BETWEEN(name, type) \
    BETWEEN(name##_offset, type, rn(curandSetGeneratorOffset(g, 16))) \
    BETWEEN(name##_dimensions, type, rn(curandSetQuasiRandomGeneratorDimensions(g, 2))) \
    BETWEEN(name##_same_dimensions, type, rn(curandSetQuasiRandomGeneratorDimensions(g, 1))) \
    BETWEEN(name##_ordering, type, rn(curandSetGeneratorOrdering(g, CURAND_ORDERING_QUASI_DEFAULT))) \
    BETWEEN(name##_seeds, type, rn(curandGenerateSeeds(g))) \
    BETWEEN(name##_normals, type, rn(curandGenerateNormal(g, rn_memory(), 10, 0, 1)))
QUASI_BETWEEN(sobol32, CURAND_RNG_QUASI_SOBOL32)
QUASI_BETWEEN(sobol64, CURAND_RNG_QUASI_SOBOL64)

/* A kernel before and one behind, behind a gate. */
#define KERNELS(title, type) \
    CASE(rand_order, title) \
    { \
        curandGenerator_t g = rn_new(type); \
        cudaStream_t stream = rt_stream(cudaStreamNonBlocking); \
        unsigned *at = rn_memory(); \
        RN_NEED(curandSetStream(g, stream)); \
        RN_NEED(curandGenerate(g, at, N)); \
        RT_NEED(cudaDeviceSynchronize()); \
        struct rt_gate gate = rt_gate_close(stream); \
        rt_store(stream, at, 1); \
        rn(curandGenerate(g, at, N)); \
        rt_store(stream, at + 1, 2); \
        rt(cudaStreamQuery(stream)); \
        rt_gate_open(gate); \
        rt(cudaStreamSynchronize(stream)); \
        rn_say(N * 4); \
        RN_NEED(curandDestroyGenerator(g)); \
    }
KERNELS(xorwow, CURAND_RNG_PSEUDO_XORWOW)
KERNELS(mrg32k3a, CURAND_RNG_PSEUDO_MRG32K3A)
KERNELS(mtgp32, CURAND_RNG_PSEUDO_MTGP32)
KERNELS(philox, CURAND_RNG_PSEUDO_PHILOX4_32_10)
KERNELS(mt19937, CURAND_RNG_PSEUDO_MT19937)
KERNELS(sobol32, CURAND_RNG_QUASI_SOBOL32)

/* Captured behind a first call, launched three times, and a call after that. */
#define CAPTURE(title, type) \
    CASE(rand_capture, title, .alone = true) \
    { \
        curandGenerator_t g = rn_new(type); \
        cudaStream_t stream = rt_stream(cudaStreamNonBlocking); \
        cudaGraph_t graph = NULL; \
        cudaGraphExec_t exec = NULL; \
        RN_NEED(curandSetStream(g, stream)); \
        draw(g, type); \
        RT_NEED(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal)); \
        rn(curandGenerate(g, rn_memory(), N)); \
        rt(cudaStreamEndCapture(stream, &graph)); \
        rt(cudaGraphInstantiate(&exec, graph, 0)); \
        for (int i = 0; i < 3; i++) { \
            rt(cudaGraphLaunch(exec, stream)); \
            rn_say(N * 4); \
        } \
        draw(g, type); \
        RN_NEED(curandDestroyGenerator(g)); \
    }
CAPTURE(xorwow, CURAND_RNG_PSEUDO_XORWOW)
CAPTURE(mrg32k3a, CURAND_RNG_PSEUDO_MRG32K3A)
CAPTURE(mtgp32, CURAND_RNG_PSEUDO_MTGP32)
CAPTURE(philox, CURAND_RNG_PSEUDO_PHILOX4_32_10)
CAPTURE(mt19937, CURAND_RNG_PSEUDO_MT19937)
CAPTURE(sobol32, CURAND_RNG_QUASI_SOBOL32)

/* The first call of a generator in a capture. */
#define FIRST(title, type) \
    CASE(rand_capture, title##_first, .alone = true) \
    { \
        curandGenerator_t g = rn_new(type); \
        cudaStream_t stream = rt_stream(cudaStreamNonBlocking); \
        cudaGraph_t graph = NULL; \
        RN_NEED(curandSetStream(g, stream)); \
        (void)rn_memory(); \
        RT_NEED(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal)); \
        rn(curandGenerate(g, rn_memory(), N)); \
        rt(cudaStreamEndCapture(stream, &graph)); \
    }
FIRST(xorwow, CURAND_RNG_PSEUDO_XORWOW)
FIRST(philox, CURAND_RNG_PSEUDO_PHILOX4_32_10)
FIRST(sobol32, CURAND_RNG_QUASI_SOBOL32)

/* On the host. */
static void draw_host(curandRngType_t type)
{
    static double host[20000];
    curandGenerator_t g = NULL;
    RN_NEED(curandCreateGeneratorHost(&g, type));
    if (type < CURAND_RNG_QUASI_DEFAULT)
        RN_NEED(curandSetPseudoRandomGeneratorSeed(g, 0x123456789abcdefu));
    for (int i = 0; i < 2; i++) {
        if (type == CURAND_RNG_QUASI_SOBOL64)
            rn(curandGenerateLongLong(g, (unsigned long long *)(void *)host, 10001));
        else
            rn(curandGenerate(g, (unsigned *)(void *)host, 20002));
        say_hash(host, 80008);
        rn(curandGenerateUniform(g, (float *)(void *)host, 20002));
        say_hash(host, 80008);
        rn(curandGenerateUniformDouble(g, host, 20000));
        say_hash(host, sizeof host);
    }
    RN_NEED(curandDestroyGenerator(g));
}
CASE(rand_host, xorwow)
{
    draw_host(CURAND_RNG_PSEUDO_XORWOW);
}
CASE(rand_host, mrg32k3a)
{
    draw_host(CURAND_RNG_PSEUDO_MRG32K3A);
}
CASE(rand_host, mtgp32)
{
    draw_host(CURAND_RNG_PSEUDO_MTGP32);
}
CASE(rand_host, mt19937)
{
    draw_host(CURAND_RNG_PSEUDO_MT19937);
}
CASE(rand_host, philox)
{
    draw_host(CURAND_RNG_PSEUDO_PHILOX4_32_10);
}
CASE(rand_host, sobol32)
{
    draw_host(CURAND_RNG_QUASI_SOBOL32);
}
CASE(rand_host, sobol64)
{
    draw_host(CURAND_RNG_QUASI_SOBOL64);
}
