/* SPDX-License-Identifier: Apache-2.0 */
/* The sources of XORWOW and MRG32k3a: some thousand lanes, each with six words of state. */
#ifndef MR_CURAND_LANES_H
#define MR_CURAND_LANES_H

#include "libs/curand/generator.h"

#define MR_LANE_WORDS 6

struct mr_lanes {
    struct mr_rand_source head;
    unsigned count;
    bool is_mrg;
    uint32_t *word[MR_LANE_WORDS]; /* word[w][lane]. XORWOW: the counter, then the five words that shift */
    float *kept; /* of each lane: the second normal number of a pair that a Poisson number began; NAN: none */
    uint32_t memory[];
};

/* Puts each lane to its place for the settings. */
void mr_lanes_start_xorwow(struct mr_lanes *lanes, const struct mr_generator *generator);
void mr_lanes_start_mrg(struct mr_lanes *lanes, const struct mr_generator *generator);

/* The next word of a state, changed in place. */
static inline uint32_t mr_xorwow_step(uint32_t *s)
{
    uint32_t t = s[1] ^ s[1] >> 2;
    s[1] = s[2];
    s[2] = s[3];
    s[3] = s[4];
    s[4] = s[5];
    s[5] = s[5] ^ s[5] << 4 ^ t ^ t << 1;
    s[0] += 362437;
    return s[0] + s[5];
}

#define MR_MRG_1 4294967087ull
#define MR_MRG_2 4294944443ull

/* The rest of a number below 2^64 divided by 2^32 - below, for a `below` of at most 15 bits. */
static inline uint32_t mr_mrg_rest(uint64_t x, uint64_t below, uint64_t modulus)
{
    x = (x & 0xffffffffu) + (x >> 32) * below;
    x = (x & 0xffffffffu) + (x >> 32) * below;
    return (uint32_t)(x >= modulus ? x - modulus : x);
}

static inline uint32_t mr_mrg_step(uint32_t *s)
{
    uint32_t a = mr_mrg_rest(1403580ull * s[1] + 810728ull * (MR_MRG_1 - s[0]), 209, MR_MRG_1);
    uint32_t b = mr_mrg_rest(527612ull * s[5] + 1370589ull * (MR_MRG_2 - s[3]), 22853, MR_MRG_2);
    s[0] = s[1];
    s[1] = s[2];
    s[2] = a;
    s[3] = s[4];
    s[4] = s[5];
    s[5] = b;
    return a > b ? a - b : (uint32_t)(a + MR_MRG_1 - b);
}

#endif
