/* SPDX-License-Identifier: Apache-2.0 */
/* MRG32k3a (L'Ecuyer, Good parameters and implementations for combined multiple recursive random number generators, 1999). Part of curand_kernel.h. */
#ifndef MILLRACE_CURAND_MRG32K3A_H
#define MILLRACE_CURAND_MRG32K3A_H

#define MR_MRG_M1 4294967087ull
#define MR_MRG_M2 4294944443ull

/* The next number, 1 to MR_MRG_M1. */
MR_DEVICE unsigned int mr_mrg_step(curandStateMRG32k3a *state)
{
    unsigned int *a = state->s1, *b = state->s2;
    unsigned int first = (unsigned int)((1403580ull * a[1] + 810728ull * (MR_MRG_M1 - a[0])) % MR_MRG_M1);
    unsigned int second = (unsigned int)((527612ull * b[2] + 1370589ull * (MR_MRG_M2 - b[0])) % MR_MRG_M2);
    a[0] = a[1];
    a[1] = a[2];
    a[2] = first;
    b[0] = b[1];
    b[1] = b[2];
    b[2] = second;
    return first > second ? first - second : (unsigned int)(first + MR_MRG_M1 - second);
}

/* The number as a fraction of MR_MRG_M1 + 1, and spread over all 32 bits. */
MR_DEVICE double curand_MRG32k3a(curandStateMRG32k3a *state) { return (double)mr_mrg_step(state); }
#define MR_MRG_FRACTION 2.3283065498378288e-10
MR_DEVICE unsigned int curand(curandStateMRG32k3a *state) { return (unsigned int)(mr_mrg_step(state) * 1.000000048662); }

/* The powers of the two recurrences' matrices that a jump begins with: 1, and the published 2^76 and 2^127. */
struct mr_mrg_matrix { unsigned int at[3][3]; };
static __attribute__((device)) const mr_mrg_matrix mr_mrg_jumps[3][2] = {
    {{{{0, 1, 0}, {0, 0, 1}, {4294156359u, 1403580, 0}}}, {{{0, 1, 0}, {0, 0, 1}, {4293573854u, 0, 527612}}}},
    {{{{82758667u, 1871391091u, 4127413238u}, {3672831523u, 69195019u, 1871391091u}, {3672091415u, 3528743235u, 69195019u}}},
     {{{1511326704u, 3759209742u, 1610795712u}, {4292754251u, 1511326704u, 3889917532u}, {3859662829u, 4292754251u, 3708466080u}}}},
    {{{{2427906178u, 3580155704u, 949770784u}, {226153695u, 1230515664u, 3580155704u}, {1988835001u, 986791581u, 1230515664u}}},
     {{{1464411153u, 277697599u, 1610723613u}, {32183930u, 1464411153u, 1022607788u}, {2824425944u, 32183930u, 2093834863u}}}}};

MR_DEVICE void mr_mrg_apply(const mr_mrg_matrix *matrix, unsigned int *v, unsigned long long modulus)
{
    unsigned int old[3] = {v[0], v[1], v[2]};
    for (int row = 0; row < 3; row++) {
        unsigned long long sum = 0;
        for (int i = 0; i < 3; i++)
            sum = (sum + (unsigned long long)matrix->at[row][i] * old[i] % modulus) % modulus;
        v[row] = (unsigned int)sum;
    }
}

MR_DEVICE void mr_mrg_square(mr_mrg_matrix *matrix, unsigned long long modulus)
{
    mr_mrg_matrix old = *matrix;
    for (int column = 0; column < 3; column++) {
        unsigned int v[3] = {old.at[0][column], old.at[1][column], old.at[2][column]};
        mr_mrg_apply(&old, v, modulus);
        for (int row = 0; row < 3; row++)
            matrix->at[row][column] = v[row];
    }
}

/* n times 1, 2^76 or 2^127 numbers ahead, for kind 0, 1 and 2. */
MR_DEVICE void mr_mrg_jump(curandStateMRG32k3a *state, int kind, unsigned long long n)
{
    mr_mrg_matrix first = mr_mrg_jumps[kind][0], second = mr_mrg_jumps[kind][1];
    for (; n; n >>= 1) {
        if (n & 1) {
            mr_mrg_apply(&first, state->s1, MR_MRG_M1);
            mr_mrg_apply(&second, state->s2, MR_MRG_M2);
        }
        mr_mrg_square(&first, MR_MRG_M1);
        mr_mrg_square(&second, MR_MRG_M2);
    }
}

MR_DEVICE void skipahead(unsigned long long n, curandStateMRG32k3a *state) { mr_mrg_jump(state, 0, n); }
MR_DEVICE void skipahead_subsequence(unsigned long long n, curandStateMRG32k3a *state) { mr_mrg_jump(state, 1, n); }
MR_DEVICE void skipahead_sequence(unsigned long long n, curandStateMRG32k3a *state) { mr_mrg_jump(state, 2, n); }

MR_DEVICE void curand_init(unsigned long long seed, unsigned long long subsequence, unsigned long long offset, curandStateMRG32k3a *state)
{
    /* Seed 0 leaves the state that the generator's author starts with. */
    unsigned long long low = seed ? (unsigned int)seed ^ 0x55555555u : 1, high = seed ? (unsigned int)(seed >> 32) ^ 0xaaaaaaaau : 1;
    for (int i = 0; i < 3; i++) {
        state->s1[i] = (unsigned int)((i == 1 ? high : low) * 12345 % MR_MRG_M1);
        state->s2[i] = (unsigned int)((i == 1 ? low : high) * 12345 % MR_MRG_M2);
    }
    mr_keep_nothing(state);
    skipahead_subsequence(subsequence, state);
    skipahead(offset, state);
}

#endif
