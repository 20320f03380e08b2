/* SPDX-License-Identifier: Apache-2.0 */
/* Where the lanes of XORWOW and MRG32k3a begin: lane k at 2^67 k, or 2^76 k, numbers from the seed's state; in the
 * seeded order at a seed of its own. An offset moves each lane on by its share.
 *
 * XORWOW's five words are a linear map T over GF(2). T^n is p(T) for p = x^n modulo T's minimal polynomial, which has
 * 160 terms at most (gen/curand_jumps.py). MRG32k3a's two halves are linear maps of three words each, which have
 * matrices. */
#include <string.h>

#include "curand_jumps.inc"
#include "libs/curand/lanes.h"

#define SEEDED_STEP 0x2fd111u /* between the seeds of lanes, in the seeded order */

/* ---- XORWOW ---- */

static void seed_xorwow(uint32_t *s, uint64_t seed)
{
    uint32_t low = ((uint32_t)seed ^ 0xaad26b49u) * 1099087573u;
    uint32_t high = ((uint32_t)(seed >> 32) ^ 0xf7dcefddu) * 2591861531u;
    s[0] = 6615241u + low + high;
    s[1] = 123456789u + low;
    s[2] = 362436069u ^ low;
    s[3] = 521288629u + high;
    s[4] = 88675123u ^ high;
    s[5] = 5783321u + low;
}

/* The five words become p(T) of themselves. */
static void apply(const uint32_t p[5], uint32_t *s)
{
    uint32_t sum[MR_LANE_WORDS] = {0};
    for (int word = 4; word >= 0; word--)
        for (uint32_t mask = 0x80000000u; mask; mask >>= 1) {
            (void)mr_xorwow_step(sum);
            uint32_t all = p[word] & mask ? 0xffffffffu : 0;
            for (unsigned i = 1; i < MR_LANE_WORDS; i++)
                sum[i] ^= s[i] & all;
        }
    memcpy(s + 1, sum + 1, 5 * sizeof *s);
}

static void skip_xorwow(uint32_t *s, uint64_t n)
{
    s[0] += 362437u * (uint32_t)n;
    for (unsigned bit = 0; n; bit++, n >>= 1)
        if (n & 1)
            apply(mr_xorwow_jumps[bit], s);
}

void mr_lanes_start_xorwow(struct mr_lanes *lanes, const struct mr_generator *generator)
{
    bool is_seeded = generator->ordering == CURAND_ORDERING_PSEUDO_SEEDED;
    uint64_t each = generator->place / lanes->count, more = generator->place % lanes->count;
    uint32_t start[MR_LANE_WORDS];
    seed_xorwow(start, generator->seed);
    skip_xorwow(start, each);
    for (unsigned lane = 0; lane < lanes->count; lane++) {
        uint32_t s[MR_LANE_WORDS];
        if (is_seeded) {
            seed_xorwow(start, generator->seed + (uint64_t)lane * SEEDED_STEP);
            skip_xorwow(start, each);
        }
        memcpy(s, start, sizeof s);
        if (lane < more)
            (void)mr_xorwow_step(s);
        for (unsigned w = 0; w < MR_LANE_WORDS; w++)
            lanes->word[w][lane] = s[w];
        if (!is_seeded)
            apply(mr_xorwow_sequence_jumps[0], start);
    }
}

/* ---- MRG32k3a ---- */

struct matrix {
    uint32_t at[3][3];
};

static void multiply(const struct matrix *m, uint32_t *v, uint64_t modulus)
{
    uint32_t old[3] = {v[0], v[1], v[2]};
    for (int row = 0; row < 3; row++) {
        uint64_t sum = 0;
        for (int i = 0; i < 3; i++)
            sum = (sum + (uint64_t)m->at[row][i] * old[i] % modulus) % modulus;
        v[row] = (uint32_t)sum;
    }
}

static void square(struct matrix *m, uint64_t modulus)
{
    struct matrix old = *m;
    for (int column = 0; column < 3; column++) {
        uint32_t v[3] = {old.at[0][column], old.at[1][column], old.at[2][column]};
        multiply(&old, v, modulus);
        for (int row = 0; row < 3; row++)
            m->at[row][column] = v[row];
    }
}

static const struct matrix step_1 = {{{0, 1, 0}, {0, 0, 1}, {4294156359u, 1403580, 0}}};
static const struct matrix step_2 = {{{0, 1, 0}, {0, 0, 1}, {4293573854u, 0, 527612}}};

static void skip_mrg(uint32_t *s, uint64_t n)
{
    struct matrix a = step_1, b = step_2;
    for (; n; n >>= 1) {
        if (n & 1) {
            multiply(&a, s, MR_MRG_1);
            multiply(&b, s + 3, MR_MRG_2);
        }
        square(&a, MR_MRG_1);
        square(&b, MR_MRG_2);
    }
}

void mr_lanes_start_mrg(struct mr_lanes *lanes, const struct mr_generator *generator)
{
    uint64_t each = generator->place / lanes->count, more = generator->place % lanes->count, seed = generator->seed;
    /* With seed 0 the state is the one that the generator's author starts with. */
    uint64_t low = seed ? (uint32_t)seed ^ 0x55555555u : 1, high = seed ? (uint32_t)(seed >> 32) ^ 0xaaaaaaaau : 1;
    struct matrix a = step_1, b = step_2;
    uint32_t start[MR_LANE_WORDS];
    for (int i = 0; i < 3; i++) {
        start[i] = (uint32_t)((i == 1 ? high : low) * 12345 % MR_MRG_1);
        start[3 + i] = (uint32_t)((i == 1 ? low : high) * 12345 % MR_MRG_2);
    }
    for (int i = 0; i < 76; i++) {
        square(&a, MR_MRG_1);
        square(&b, MR_MRG_2);
    }
    skip_mrg(start, each);
    for (unsigned lane = 0; lane < lanes->count; lane++) {
        uint32_t s[MR_LANE_WORDS];
        memcpy(s, start, sizeof s);
        if (lane < more)
            (void)mr_mrg_step(s);
        for (unsigned w = 0; w < MR_LANE_WORDS; w++)
            lanes->word[w][lane] = s[w];
        multiply(&a, start, MR_MRG_1);
        multiply(&b, start + 3, MR_MRG_2);
    }
}
