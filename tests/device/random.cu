/* SPDX-License-Identifier: Apache-2.0 */
/* Random numbers of each generator and distribution; thread i takes part i of a sequence. Also compiles with NVIDIA's curand_kernel.h. */
#include <curand_kernel.h>

#define COUNT 16

template <class State> __device__ void draw(State state, unsigned int *words, float *floats, double *doubles, unsigned int *counts)
{
    unsigned int at = (blockIdx.x * blockDim.x + threadIdx.x) * COUNT;
    _Pragma("unroll 1") for (int i = 0; i < COUNT; i++)
        words[at + i] = (unsigned int)(curand(&state) >> (sizeof(curand(&state)) * 8 - 32));
    _Pragma("unroll 1") for (int i = 0; i < COUNT; i += 4) {
        floats[at + i] = curand_uniform(&state);
        floats[at + i + 1] = curand_normal(&state);
        floats[at + i + 2] = curand_normal(&state);
        floats[at + i + 3] = curand_log_normal(&state, 1.0f, 0.5f);
        doubles[at + i] = curand_uniform_double(&state);
        doubles[at + i + 1] = curand_normal_double(&state);
        doubles[at + i + 2] = curand_normal_double(&state);
        doubles[at + i + 3] = curand_log_normal_double(&state, 1.0, 0.5);
    }
    _Pragma("unroll 1") for (int i = 0; i < COUNT; i++)
        counts[at + i] = curand_poisson(&state, i < COUNT / 2 ? 13.0 : 5000.0);
}

#define PSEUDO(name, type)                                                                                             \
    extern "C" __global__ void name(unsigned long long seed, unsigned long long sequence, unsigned long long offset,   \
                                    unsigned int *words, float *floats, double *doubles, unsigned int *counts)         \
    {                                                                                                                  \
        type state;                                                                                                    \
        curand_init(seed, sequence + blockIdx.x * blockDim.x + threadIdx.x, offset, &state);                           \
        draw(state, words, floats, doubles, counts);                                                                   \
    }                                                                                                                  \
    extern "C" __global__ void name##_skip(unsigned long long seed, unsigned long long sequence, unsigned long long offset, \
                                           unsigned int *words, float *floats, double *doubles, unsigned int *counts)  \
    {                                                                                                                  \
        type state;                                                                                                    \
        curand_init(seed, 0, 0, &state);                                                                               \
        SKIP_##name(sequence + blockIdx.x * blockDim.x + threadIdx.x, &state);                                         \
        skipahead(offset / 2, &state);                                                                                 \
        skipahead(offset - offset / 2, &state);                                                                        \
        draw(state, words, floats, doubles, counts);                                                                   \
    }
#define SKIP_xorwow skipahead_sequence
#define SKIP_mrg32k3a skipahead_subsequence
#define SKIP_philox skipahead_sequence
PSEUDO(xorwow, curandStateXORWOW_t)
PSEUDO(mrg32k3a, curandStateMRG32k3a_t)
PSEUDO(philox, curandStatePhilox4_32_10_t)

/* The direction vectors of the first dimension: bit b is the number with that bit from the top. */
template <class Word> __device__ void first_dimension(Word *vectors)
{
    for (unsigned int i = 0; i < sizeof(Word) * 8; i++)
        vectors[i] = (Word)1 << (sizeof(Word) * 8 - 1 - i);
}
#define SOBOL(name, type, word, start)                                                                                 \
    extern "C" __global__ void name(unsigned long long seed, unsigned long long sequence, unsigned long long offset,   \
                                    unsigned int *words, float *floats, double *doubles, unsigned int *counts)         \
    {                                                                                                                  \
        type state;                                                                                                    \
        word vectors[sizeof(word) * 8];                                                                                \
        first_dimension(vectors);                                                                                      \
        curand_init(vectors, start(word)(offset + 100 * (blockIdx.x * blockDim.x + threadIdx.x)), &state);             \
        draw(state, words, floats, doubles, counts);                                                                   \
    }
#define PLAIN(word) (word)
#define SCRAMBLED(word) (word)seed, (word)
SOBOL(sobol32, curandStateSobol32_t, unsigned int, PLAIN)
SOBOL(sobol64, curandStateSobol64_t, unsigned long long, PLAIN)
SOBOL(scrambled32, curandStateScrambledSobol32_t, unsigned int, SCRAMBLED)
SOBOL(scrambled64, curandStateScrambledSobol64_t, unsigned long long, SCRAMBLED)

/* Philox's groups, from a place within one. */
extern "C" __global__ void philox_groups(unsigned long long seed, unsigned long long sequence, unsigned long long offset, unsigned int *words,
                                         float *floats, double *doubles, unsigned int *counts)
{
    curandStatePhilox4_32_10_t state;
    unsigned int at = (blockIdx.x * blockDim.x + threadIdx.x) * COUNT;
    curand_init(seed, sequence, offset + threadIdx.x, &state);
    *(uint4 *)(words + at) = curand4(&state);
    *(float4 *)(floats + at) = curand_uniform4(&state);
    *(float4 *)(floats + at + 4) = curand_normal4(&state);
    *(float4 *)(floats + at + 8) = curand_log_normal4(&state, 1.0f, 0.5f);
    double2 two = curand_uniform2_double(&state);
    doubles[at] = two.x;
    doubles[at + 1] = two.y;
    two = curand_normal2_double(&state);
    doubles[at + 2] = two.x;
    doubles[at + 3] = two.y;
    (void)counts;
}

/* Counts of a mean for each block, by the generator that `kind` names. */
template <class State> __device__ void count(State state, double mean, unsigned int *out)
{
    for (int i = 0; i < COUNT; i++)
        out[i] = curand_poisson(&state, mean);
}
extern "C" __global__ void poisson(unsigned int *out, const double *means, int kind, unsigned long long seed)
{
    double mean = means[blockIdx.x];
    out += (blockIdx.x * blockDim.x + threadIdx.x) * COUNT;
    curandStateXORWOW_t xorwow;
    curandStatePhilox4_32_10_t philox;
    curandStateMRG32k3a_t mrg32k3a;
    curandStateScrambledSobol32_t sobol32;
    curandStateScrambledSobol64_t sobol64;
    unsigned int vectors32[32];
    unsigned long long vectors64[64];
    switch (kind) {
    case 0:
        curand_init(seed, threadIdx.x, 3, &xorwow);
        count(xorwow, mean, out);
        break;
    case 1:
        curand_init(seed, threadIdx.x, 3, &philox);
        count(philox, mean, out);
        break;
    case 2:
        curand_init(seed, threadIdx.x, 3, &mrg32k3a);
        count(mrg32k3a, mean, out);
        break;
    case 3:
        curand_init(seed, threadIdx.x, 3, &philox);
        for (int i = 0; i < COUNT; i += 4)
            *(uint4 *)(out + i) = curand_poisson4(&philox, mean);
        break;
    case 4:
        first_dimension(vectors32);
        curand_init(vectors32, (unsigned int)seed, 64 * threadIdx.x, &sobol32);
        count(sobol32, mean, out);
        break;
    case 5:
        first_dimension(vectors64);
        curand_init(vectors64, seed, 64 * threadIdx.x, &sobol64);
        count(sobol64, mean, out);
        break;
    }
}
