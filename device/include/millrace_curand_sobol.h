/* SPDX-License-Identifier: Apache-2.0 */
/* Sobol's sequences in Gray code order (Antonov and Saleev, 1979), of 32 and 64 bits. Part of curand_kernel.h.
 *
 * The caller brings the direction vectors. A scrambled sequence starts at the caller's constant in place of 0. */
#ifndef MILLRACE_CURAND_SOBOL_H
#define MILLRACE_CURAND_SOBOL_H

#define MR_SOBOL(state_type, word, count, zeros)                                                                       \
    MR_DEVICE word curand(state_type *state)                                                                           \
    {                                                                                                                  \
        word x = state->x, place = (word)zeros(~state->i);                                                             \
        state->x ^= state->direction_vectors[place < count ? place : count - 1];                                       \
        state->i++;                                                                                                    \
        return x;                                                                                                      \
    }                                                                                                                  \
    MR_DEVICE void skipahead(word n, state_type *state)                                                                \
    {                                                                                                                  \
        state->i += n;                                                                                                 \
        word gray = state->i ^ (state->i >> 1), x = state->c;                                                          \
        for (int bit = 0; bit < count; bit++)                                                                          \
            if (gray >> bit & 1)                                                                                       \
                x ^= state->direction_vectors[bit];                                                                    \
        state->x = x;                                                                                                  \
    }                                                                                                                  \
    MR_DEVICE void mr_sobol_init(const word *vectors, word start, word offset, state_type *state)                      \
    {                                                                                                                  \
        for (int bit = 0; bit < count; bit++)                                                                          \
            state->direction_vectors[bit] = vectors[bit];                                                              \
        state->i = 0;                                                                                                  \
        state->c = start;                                                                                              \
        skipahead(offset, state);                                                                                      \
    }
#define MR_TRAILING_32(x) ((x) ? __builtin_ctz(x) : 32)
#define MR_TRAILING_64(x) ((x) ? __builtin_ctzll(x) : 64)
MR_SOBOL(curandStateSobol32, unsigned int, 32, MR_TRAILING_32)
MR_SOBOL(curandStateScrambledSobol32, unsigned int, 32, MR_TRAILING_32)
MR_SOBOL(curandStateSobol64, unsigned long long, 64, MR_TRAILING_64)
MR_SOBOL(curandStateScrambledSobol64, unsigned long long, 64, MR_TRAILING_64)
#undef MR_SOBOL
#undef MR_TRAILING_32
#undef MR_TRAILING_64

MR_DEVICE void curand_init(const unsigned int *vectors, unsigned int offset, curandStateSobol32 *state) { mr_sobol_init(vectors, 0, offset, state); }
MR_DEVICE void curand_init(const unsigned int *vectors, unsigned int scramble, unsigned int offset, curandStateScrambledSobol32 *state)
{
    mr_sobol_init(vectors, scramble, offset, state);
}
MR_DEVICE void curand_init(const unsigned long long *vectors, unsigned long long offset, curandStateSobol64 *state)
{
    mr_sobol_init(vectors, 0, offset, state);
}
MR_DEVICE void curand_init(const unsigned long long *vectors, unsigned long long scramble, unsigned long long offset, curandStateScrambledSobol64 *state)
{
    mr_sobol_init(vectors, scramble, offset, state);
}

#endif
