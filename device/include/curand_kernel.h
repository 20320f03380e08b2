/* SPDX-License-Identifier: Apache-2.0 */
/* Random numbers in kernels: the generators XORWOW, MRG32k3a, Philox4x32-10, MTGP32 and Sobol (32 and 64 bits,
 * plain and scrambled), written from the published algorithms. Same seeds give the same sequences as cuRAND's generators;
 * millrace_curand_distributions.h says what differs.
 *
 * A state belongs to one thread at a time, MTGP32's to one block.
 */
#ifndef CURAND_KERNEL_H_
#define CURAND_KERNEL_H_

#include "millrace_curand_jumps.h"
#include "millrace_curand_states.h"

#define MR_NORMAL_KEPT 1u
#define MR_LOG_NORMAL_KEPT 2u

template <class State> MR_DEVICE void mr_keep_nothing(State *state)
{
    state->boxmuller_flag = state->boxmuller_flag_double = 0;
    state->boxmuller_extra = 0;
    state->boxmuller_extra_double = 0;
}

/* XORWOW (Marsaglia, Xorshift RNGs, 2003): five words of xorshift and a counter that is added. */

MR_DEVICE unsigned int mr_xorwow_step(unsigned int *v)
{
    unsigned int t = v[0] ^ (v[0] >> 2);
    v[0] = v[1];
    v[1] = v[2];
    v[2] = v[3];
    v[3] = v[4];
    return v[4] = v[4] ^ (v[4] << 4) ^ t ^ (t << 1);
}

MR_DEVICE unsigned int curand(curandStateXORWOW *state)
{
    unsigned int x = mr_xorwow_step(state->v);
    return x + (state->d += 362437);
}

/* Puts p(T) of the state in the state's place for each bit of n, p from the table: gen/curand_jumps.py tells why that
 * is a jump. */
MR_DEVICE void mr_xorwow_jump(unsigned int *v, const unsigned int jumps[64][5], unsigned long long n)
{
    for (int bit = 0; n; bit++, n >>= 1) {
        if (!(n & 1))
            continue;
        unsigned int sum[5] = {0, 0, 0, 0, 0};
        for (int word = 4; word >= 0; word--)
            for (unsigned int mask = 0x80000000u, terms = jumps[bit][word]; mask; mask >>= 1) {
                mr_xorwow_step(sum);
                unsigned int all = terms & mask ? 0xffffffffu : 0;
                for (int i = 0; i < 5; i++)
                    sum[i] ^= v[i] & all;
            }
        for (int i = 0; i < 5; i++)
            v[i] = sum[i];
    }
}

/* n numbers ahead. */
MR_DEVICE void skipahead(unsigned long long n, curandStateXORWOW *state)
{
    mr_xorwow_jump(state->v, mr_xorwow_jumps, n);
    state->d += 362437 * (unsigned int)n;
}

/* n sequences ahead: 2^67 n numbers, after which the counter is where it was. */
MR_DEVICE void skipahead_sequence(unsigned long long n, curandStateXORWOW *state)
{
    mr_xorwow_jump(state->v, mr_xorwow_sequence_jumps, n);
}

MR_DEVICE void curand_init(unsigned long long seed, unsigned long long subsequence, unsigned long long offset,
                           curandStateXORWOW *state)
{
    unsigned int low = ((unsigned int)seed ^ 0xaad26b49u) * 1099087573u,
                 high = ((unsigned int)(seed >> 32) ^ 0xf7dcefddu) * 2591861531u;
    state->d = 6615241 + low + high;
    state->v[0] = 123456789u + low;
    state->v[1] = 362436069u ^ low;
    state->v[2] = 521288629u + high;
    state->v[3] = 88675123u ^ high;
    state->v[4] = 5783321u + low;
    mr_keep_nothing(state);
    skipahead_sequence(subsequence, state);
    skipahead(offset, state);
}

#include "millrace_curand_mrg32k3a.h"
#include "millrace_curand_philox.h"
#include "millrace_curand_sobol.h"
#include "millrace_curand_mtgp32.h"

#include "millrace_curand_distributions.h"
#include "millrace_curand_discrete.h"

#endif
