/* SPDX-License-Identifier: Apache-2.0 */
/* MTGP32 and tables of counts in kernels give the numbers of libcurand's generators, which hardware has confirmed. */
#include <cuda_runtime.h>
#include <curand_kernel.h>
#include <curand_mtgp32_host.h>
#include <curand_mtgp32dc_p_11213.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LANES 64 /* of MTGP32 in its legacy ordering */
#define TURN 256 /* results of a lane, then the next has its turn */
#define SEED 0x123456789abcull

#define OK(call)                                                                                                       \
    do {                                                                                                               \
        int status_ = (int)(call);                                                                                     \
        if (status_ != 0) {                                                                                            \
            fprintf(stderr, "%s:%d: %s: %d\n", __FILE__, __LINE__, #call, status_);                                    \
            exit(1);                                                                                                   \
        }                                                                                                              \
    } while (0)
#define EXPECT(what)                                                                                                   \
    do {                                                                                                               \
        if (!(what)) {                                                                                                 \
            fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #what);                                         \
            exit(1);                                                                                                   \
        }                                                                                                              \
    } while (0)

/* How a kernel takes one number from each thread's turn. */
enum way { WORDS, UNIFORM, UNIFORM_DOUBLE, BACKWARDS };

__global__ void from_lanes(curandStateMtgp32 *states, enum way way, void *out)
{
    unsigned at = blockIdx.x * TURN + threadIdx.x;
    curandStateMtgp32 *state = &states[blockIdx.x];
    if (way == WORDS)
        ((unsigned *)out)[at] = curand(state);
    else if (way == UNIFORM)
        ((float *)out)[at] = curand_uniform(state);
    else if (way == UNIFORM_DOUBLE)
        ((double *)out)[at] = curand_uniform_double(state);
    else /* two calls of 128 threads each, which take the results in the other order */
        for (unsigned half = 0; half < TURN; half += 128) {
            unsigned char index = 127 - threadIdx.x;
            ((unsigned *)out)[blockIdx.x * TURN + half + index] = curand_mtgp32_specific(state, index, 128);
        }
}

__global__ void singles(curandStateMtgp32 *state, float *out)
{
    out[threadIdx.x] = curand_mtgp32_single(state);
}

template <class State> __global__ void counts(unsigned long long seed, curandDiscreteDistribution_t distribution, unsigned *out)
{
    State state;
    unsigned lane = blockIdx.x * blockDim.x + threadIdx.x;
    curand_init(seed, lane, 0, &state);
    out[lane] = curand_discrete(&state, distribution);
}

static bool same(const void *first, const void *second, size_t size)
{
    return memcmp(first, second, size) == 0;
}

static void lanes()
{
    const size_t count = LANES * TURN, size = count * sizeof(double);
    curandGenerator_t generator;
    curandStateMtgp32 *states;
    mtgp32_kernel_params_t *params;
    void *ours, *wanted;
    OK(cudaMallocManaged(&ours, size));
    OK(cudaMallocManaged(&wanted, size));
    OK(cudaMalloc(&states, LANES * sizeof *states));
    OK(cudaMalloc(&params, sizeof *params));
    OK(curandMakeMTGP32Constants(mtgp32dc_params_fast_11213, params));
    OK(curandMakeMTGP32KernelState(states, mtgp32dc_params_fast_11213, params, LANES, SEED));
    OK(curandCreateGenerator(&generator, CURAND_RNG_PSEUDO_MTGP32));
    OK(curandSetGeneratorOrdering(generator, CURAND_ORDERING_PSEUDO_LEGACY));
    OK(curandSetPseudoRandomGeneratorSeed(generator, SEED));
    for (int round = 0; round < 9; round++) { /* past the end of the ring of 1,024 words, twice */
        enum way way = (enum way)(round % 4);
        from_lanes<<<LANES, way == BACKWARDS ? 128 : TURN>>>(states, way, ours);
        if (way == UNIFORM)
            OK(curandGenerateUniform(generator, (float *)wanted, count));
        else if (way == UNIFORM_DOUBLE)
            OK(curandGenerateUniformDouble(generator, (double *)wanted, count));
        else
            OK(curandGenerate(generator, (unsigned *)wanted, count));
        OK(cudaDeviceSynchronize());
        EXPECT(same(ours, wanted, count * (way == UNIFORM_DOUBLE ? sizeof(double) : sizeof(unsigned))));
    }
    singles<<<1, 256>>>(states, (float *)ours);
    OK(cudaDeviceSynchronize());
    double sum = 0;
    for (int i = 0; i < 256; i++) {
        float x = ((float *)ours)[i];
        EXPECT(x >= 1 && x < 2);
        sum += x;
    }
    EXPECT(sum > 1.4 * 256 && sum < 1.6 * 256);
    EXPECT(curandMakeMTGP32KernelState(states, mtgp32dc_params_fast_11213, params, 0, 1) == CURAND_STATUS_ALLOCATION_FAILED);
    OK(curandDestroyGenerator(generator));
    OK(cudaFree(ours));
    OK(cudaFree(wanted));
    OK(cudaFree(states));
    OK(cudaFree(params));
}

/* A generator gives each lane's first number in turn. */
static void tables(curandRngType_t type, void (*kernel)(unsigned long long, curandDiscreteDistribution_t, unsigned *))
{
    const unsigned count = 4096;
    unsigned *ours, *wanted;
    OK(cudaMallocManaged(&ours, count * sizeof *ours));
    OK(cudaMallocManaged(&wanted, count * sizeof *wanted));
    for (double mean : {0.5, 30.0, 1500.0}) {
        curandGenerator_t generator;
        curandDiscreteDistribution_t distribution;
        OK(curandCreateGenerator(&generator, type));
        OK(curandSetPseudoRandomGeneratorSeed(generator, SEED));
        OK(curandCreatePoissonDistribution(mean, &distribution));
        kernel<<<count / 64, 64>>>(SEED, distribution, ours);
        OK(curandGeneratePoisson(generator, wanted, count, mean));
        OK(cudaDeviceSynchronize());
        EXPECT(same(ours, wanted, count * sizeof *ours));
        OK(curandDestroyDistribution(distribution));
        OK(curandDestroyGenerator(generator));
    }
    OK(cudaFree(ours));
    OK(cudaFree(wanted));
}

int main()
{
    lanes();
    tables(CURAND_RNG_PSEUDO_XORWOW, counts<curandStateXORWOW>);
    tables(CURAND_RNG_PSEUDO_MRG32K3A, counts<curandStateMRG32k3a>);
    puts("all numbers are the library's");
    return 0;
}
