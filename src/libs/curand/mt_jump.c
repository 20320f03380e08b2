/* SPDX-License-Identifier: Apache-2.0 */
/* Jumps: the polynomial x^(2^n) modulo the characteristic one, by n squarings, and its use on a state.
 *
 * Polynomials are bits, the coefficient of x^i in bit i modulo 64 of word i / 64. */
#include "libs/curand/mt_jump.h"

#include <pthread.h>
#include <string.h>

#include "libs/math/work.h"

#define DEGREE 19937u
#define HALF ((DEGREE + 63) / 64) /* words of a rest */
#define REST (DEGREE % 64)
#define WHOLE (2 * HALF + 1)      /* words of a product of two rests */
#define FIRST 2048u               /* lanes are 2^2048 words apart */
#define TERMS 160u                /* more than the characteristic polynomial has */
#define GROUP 8u                  /* coefficients that are handled together: as many as a vector has words */

static pthread_once_t once = PTHREAD_ONCE_INIT;
static uint64_t jumps[MR_MT_JUMPS][HALF];

/* ---- the polynomials ---- */

/* to += from x^shift, for a `from` of `words` words; `to` has room. */
static void add_shifted(uint64_t *to, const uint64_t *from, unsigned words, unsigned shift)
{
    unsigned down = shift / 64, bits = shift % 64;
    for (unsigned i = 0; i < words; i++) {
        to[down + i] ^= from[i] << bits;
        if (bits)
            to[down + i + 1] ^= from[i] >> (64 - bits);
    }
}

/* p = p (x^high + x^low); its degree stays below DEGREE + 1. */
static void times_two_terms(uint64_t p[HALF + 1], unsigned high, unsigned low)
{
    uint64_t product[WHOLE + 1] = {0};
    add_shifted(product, p, HALF, high);
    add_shifted(product, p, HALF, low);
    memcpy(p, product, (HALF + 1) * sizeof *p);
}

/* The places of the characteristic polynomial's terms below the highest; how many there are. With A = x^624 + x^397 and
 * B = x^623 + x^396 it is A B^31 + the sum of A B^(30-i) over the bits i that the recurrence adds, and 1 for bit 31. */
static unsigned characteristic(uint16_t terms[TERMS])
{
    uint64_t sum[HALF + 1] = {0}, power[HALF + 1] = {1};
    unsigned count = 0;
    times_two_terms(power, 624, 397);
    for (unsigned i = 0; i <= 31; i++) {
        if (i == 31 || 0x9908b0dfu >> (30 - i) & 1)
            for (unsigned w = 0; w <= HALF; w++)
                sum[w] ^= power[w];
        if (i < 31)
            times_two_terms(power, 623, 396);
    }
    sum[0] ^= 1;
    for (unsigned i = 0; i < DEGREE && count < TERMS; i++)
        if (sum[i / 64] >> i % 64 & 1)
            terms[count++] = (uint16_t)i;
    return count;
}

static uint64_t spread(uint32_t x)
{
    uint64_t y = x;
    y = (y | y << 16) & 0x0000ffff0000ffffu;
    y = (y | y << 8) & 0x00ff00ff00ff00ffu;
    y = (y | y << 4) & 0x0f0f0f0f0f0f0f0fu;
    y = (y | y << 2) & 0x3333333333333333u;
    return (y | y << 1) & 0x5555555555555555u;
}

/* p = p^2 modulo the characteristic polynomial. */
static void square(uint64_t p[HALF], const uint16_t *terms, unsigned count)
{
    uint64_t all[WHOLE + 1] = {0};
    for (unsigned i = 0; i < HALF; i++) {
        all[2 * i] = spread((uint32_t)p[i]);
        all[2 * i + 1] = spread((uint32_t)(p[i] >> 32));
    }
    for (unsigned w = 2 * HALF - 1; w >= HALF - 1; w--) {
        /* x^DEGREE is bit REST of word HALF - 1. The highest term below it is so far from it that none of what is added
         * comes back to word w. */
        bool is_last = w == HALF - 1;
        uint64_t high = is_last ? all[w] >> REST : all[w];
        all[w] = is_last ? all[w] & ((1ull << REST) - 1) : 0;
        if (high)
            for (unsigned t = 0; t < count; t++)
                add_shifted(all, &high, 1, (is_last ? 0 : w * 64 - DEGREE) + terms[t]);
    }
    memcpy(p, all, HALF * sizeof *p);
}

static void make_jumps(void)
{
    uint16_t terms[TERMS];
    unsigned count = characteristic(terms);
    uint64_t p[HALF] = {2};
    for (unsigned i = 0; i < FIRST; i++)
        square(p, terms, count);
    for (unsigned i = 0; i < MR_MT_JUMPS; i++) {
        memcpy(jumps[i], p, sizeof p);
        square(p, terms, count);
    }
}

/* ---- a jump ---- */

/* Words that stand anywhere in memory. */
typedef uint32_t words8 __attribute__((vector_size(4 * GROUP), aligned(4), may_alias));

#define LOAD(from) (*(const words8 *)(from))

/* mr_mt_next of GROUP places at once. */
static void next_group(uint32_t *at)
{
    words8 y = (LOAD(at) & 0x80000000u) | (LOAD(at + 1) & 0x7fffffffu);
    *(words8 *)(at + MR_MT_SIZE) = LOAD(at + 397) ^ y >> 1 ^ (0x9908b0dfu & -(y & 1));
}

static void add(uint32_t *to, const uint32_t *from)
{
    for (unsigned i = 0; i < MR_MT_SIZE; i += GROUP)
        *(words8 *)(to + i) ^= LOAD(from + i);
}

/* By Horner's rule: from the highest coefficients on, the sum so far moves on by GROUP words, and the next
 * coefficients' words are added. A table has the sums for all values of GROUP coefficients. */
bool mr_mt_jump(unsigned power, const uint32_t *from, uint32_t *to)
{
    enum { GROUPS = (DEGREE + GROUP - 1) / GROUP, SUMS = 1 << GROUP };
    uint32_t *table = mr_math_scratch(0, SUMS * MR_MT_SIZE * sizeof *table);
    uint32_t *sum = mr_math_scratch(1, (MR_MT_SIZE + GROUPS * GROUP) * sizeof *sum);
    uint32_t words[MR_MT_SIZE + GROUP];
    if (!table || !sum)
        return false;
    pthread_once(&once, make_jumps);
    memcpy(words, from, MR_MT_SIZE * sizeof *words);
    next_group(words);
    memset(table, 0, MR_MT_SIZE * sizeof *table);
    for (unsigned value = 1; value < SUMS; value++) {
        unsigned low = (unsigned)__builtin_ctz(value);
        memcpy(table + (size_t)value * MR_MT_SIZE, table + (size_t)(value & (value - 1)) * MR_MT_SIZE,
               MR_MT_SIZE * sizeof *table);
        add(table + (size_t)value * MR_MT_SIZE, words + low);
    }
    memset(sum, 0, MR_MT_SIZE * sizeof *sum);
    for (unsigned group = GROUPS; group-- > 0;) {
        unsigned value = (unsigned)(jumps[power][group / 8] >> group % 8 * GROUP) & (SUMS - 1);
        next_group(sum);
        sum += GROUP;
        if (value)
            add(sum, table + (size_t)value * MR_MT_SIZE);
    }
    memcpy(to, sum, MR_MT_SIZE * sizeof *to);
    return true;
}
