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
