/* SPDX-License-Identifier: Apache-2.0 */
/* Philox4x32-10 (Salmon and others, Parallel random numbers: as easy as 1, 2, 3, 2011). Part of curand_kernel.h.
 *
 * The counter's lower half counts groups of four numbers, its upper half is the subsequence. output is the group that ctr stands for, STATE the next
 * number's place in it, 0 to 3. */
#ifndef MILLRACE_CURAND_PHILOX_H
#define MILLRACE_CURAND_PHILOX_H

MR_DEVICE uint4 curand_Philox4x32_10(uint4 counter, uint2 key)
{
    for (int round = 0; round < 10; round++) {
        unsigned long long first = 0xd2511f53ull * counter.x, second = 0xcd9e8d57ull * counter.z;
        counter = {(unsigned int)(second >> 32) ^ counter.y ^ key.x, (unsigned int)second, (unsigned int)(first >> 32) ^ counter.w ^ key.y, (unsigned int)first};
        key.x += 0x9e3779b9u;
        key.y += 0xbb67ae85u;
    }
    return counter;
}

/* Adds to the counter, as one number of 128 bits. */
MR_DEVICE void mr_philox_add(uint4 *counter, unsigned long long low, unsigned long long high)
{
    unsigned long long l = ((unsigned long long)counter->y << 32 | counter->x) + low;
    unsigned long long h = ((unsigned long long)counter->w << 32 | counter->z) + high + (l < low);
    *counter = {(unsigned int)l, (unsigned int)(l >> 32), (unsigned int)h, (unsigned int)(h >> 32)};
}

MR_DEVICE void mr_philox_next(curandStatePhilox4_32_10 *state, unsigned long long groups, unsigned long long subsequences)
{
    mr_philox_add(&state->ctr, groups, subsequences);
    state->output = curand_Philox4x32_10(state->ctr, state->key);
}

MR_DEVICE void skipahead(unsigned long long n, curandStatePhilox4_32_10 *state)
{
    unsigned int place = state->STATE + (unsigned int)(n & 3);
    state->STATE = place & 3;
    mr_philox_next(state, n / 4 + place / 4, 0);
}

MR_DEVICE void skipahead_sequence(unsigned long long n, curandStatePhilox4_32_10 *state) { mr_philox_next(state, 0, n); }

MR_DEVICE void curand_init(unsigned long long seed, unsigned long long subsequence, unsigned long long offset, curandStatePhilox4_32_10 *state)
{
    state->ctr = {0, 0, (unsigned int)subsequence, (unsigned int)(subsequence >> 32)};
    state->key = {(unsigned int)seed, (unsigned int)(seed >> 32)};
    state->STATE = 0;
    mr_keep_nothing(state);
    skipahead(offset, state);
}

MR_DEVICE unsigned int mr_of_four(uint4 group, unsigned int place)
{
    return place == 0 ? group.x : place == 1 ? group.y : place == 2 ? group.z : group.w;
}

MR_DEVICE unsigned int curand(curandStatePhilox4_32_10 *state)
{
    unsigned int x = mr_of_four(state->output, state->STATE);
    if (++state->STATE == 4) {
        state->STATE = 0;
        mr_philox_next(state, 1, 0);
    }
    return x;
}

/* The next four numbers, which may be of two groups. */
MR_DEVICE uint4 curand4(curandStatePhilox4_32_10 *state)
{
    uint4 old = state->output;
    mr_philox_next(state, 1, 0);
    uint4 next = state->output;
    switch (state->STATE) {
    case 0: return old;
    case 1: return {old.y, old.z, old.w, next.x};
    case 2: return {old.z, old.w, next.x, next.y};
    default: return {old.w, next.x, next.y, next.z};
    }
}

#endif
