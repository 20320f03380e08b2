/* SPDX-License-Identifier: Apache-2.0 */
/* States of the generators of curand_kernel.h: part of it for kernels, and all of it for compilers of host code, which
 * allocate states and count their bytes. */
#ifndef MILLRACE_CURAND_STATES_H
#define MILLRACE_CURAND_STATES_H

#include <vector_types.h>

/* The second number of a pair of normal ones, kept for the next call: whether and of which kind for float and double,
 * and the two. */
#define MR_KEPT_NUMBERS \
    int boxmuller_flag, boxmuller_flag_double; \
    float boxmuller_extra; \
    double boxmuller_extra_double;

struct curandStateXORWOW {
    unsigned int d, v[5];
    MR_KEPT_NUMBERS
};
struct curandStateMRG32k3a {
    unsigned int s1[3], s2[3];
    MR_KEPT_NUMBERS
};
struct curandStatePhilox4_32_10 {
    uint4 ctr, output;
    uint2 key;
    unsigned int STATE;
    MR_KEPT_NUMBERS
};
struct curandStateSobol32 {
    unsigned int i, x, c, direction_vectors[32];
};
struct curandStateScrambledSobol32 {
    unsigned int i, x, c, direction_vectors[32];
};
struct curandStateSobol64 {
    unsigned long long i, x, c, direction_vectors[64];
};
struct curandStateScrambledSobol64 {
    unsigned long long i, x, c, direction_vectors[64];
};

/* MTGP32: sizes of the public headers. A set of parameters as the tables have it; all of them as kernels read them; a state. */
#define MTGPDC_MEXP 11213
#define MTGPDC_N 351
#define MTGPDC_FLOOR_2P 256
#define MTGPDC_CEIL_2P 512
#define MTGPDC_PARAM_TABLE mtgp32dc_params_fast_11213
#define MTGP32_STATE_SIZE 1024
#define MTGP32_STATE_MASK 1023
#define CURAND_NUM_MTGP32_PARAMS 200
struct mtgp32_params_fast {
    int mexp, pos, sh1, sh2;
    unsigned int tbl[16], tmp_tbl[16], flt_tmp_tbl[16], mask;
    unsigned char poly_sha1[21];
};
struct mtgp32_kernel_params {
    unsigned int pos_tbl[CURAND_NUM_MTGP32_PARAMS];
    unsigned int param_tbl[CURAND_NUM_MTGP32_PARAMS][16], temper_tbl[CURAND_NUM_MTGP32_PARAMS][16];
    unsigned int single_temper_tbl[CURAND_NUM_MTGP32_PARAMS][16];
    unsigned int sh1_tbl[CURAND_NUM_MTGP32_PARAMS], sh2_tbl[CURAND_NUM_MTGP32_PARAMS], mask[1];
};
typedef mtgp32_params_fast mtgp32_params_fast_t;
typedef mtgp32_kernel_params mtgp32_kernel_params_t;
struct curandStateMtgp32 {
    unsigned int s[MTGP32_STATE_SIZE];
    int offset, pIdx;
    mtgp32_kernel_params_t *k;
};
typedef curandStateMtgp32 curandStateMtgp32_t;

/* A table of counts, which curandCreatePoissonDistribution makes and curand_discrete reads. The names are those of curand.h. */
struct curandHistogramM2_st {
    double *V, *host_V;
    unsigned int *K, *host_K, host_gen;
};
struct curandDistributionM2Shift_st {
    curandHistogramM2_st *histogram, *host_histogram;
    unsigned int shift, length, host_gen;
};
struct curandDiscreteDistribution_st {
    curandDiscreteDistribution_st *self_host_ptr;
    curandDistributionM2Shift_st *M2, *host_M2;
    double stddev, mean;
    int method; /* curandMethod_t */
    unsigned int host_gen;
};
typedef curandDiscreteDistribution_st *curandDiscreteDistribution_t;

typedef curandStateXORWOW curandStateXORWOW_t, curandState_t, curandState;
typedef curandStateMRG32k3a curandStateMRG32k3a_t;
typedef curandStatePhilox4_32_10 curandStatePhilox4_32_10_t;
typedef curandStateSobol32 curandStateSobol32_t;
typedef curandStateScrambledSobol32 curandStateScrambledSobol32_t;
typedef curandStateSobol64 curandStateSobol64_t;
typedef curandStateScrambledSobol64 curandStateScrambledSobol64_t;
typedef unsigned int curandDirectionVectors32_t[32];
typedef unsigned long long curandDirectionVectors64_t[64];

#endif
