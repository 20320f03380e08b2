/* SPDX-License-Identifier: Apache-2.0 */
/* MT19937's recurrence, and far jumps along its sequence (Haramoto, Matsumoto, Nishimura, Panneton and L'Ecuyer,
 * Efficient jump ahead for F2-linear random number generators, 2008).
 *
 * A jump by some number of words is a polynomial over the field of two elements: the words behind the jump are the sum
 * of those words before it whose place has a coefficient 1. */
#ifndef MR_CURAND_MT_JUMP_H
#define MR_CURAND_MT_JUMP_H

#include <stdbool.h>
#include <stdint.h>

#define MR_MT_SIZE 624u /* words of state */
#define MR_MT_JUMPS 13u

/* The word MR_MT_SIZE places behind `at`, from the words there. */
static inline uint32_t mr_mt_next(const uint32_t *at)
{
    uint32_t y = (at[0] & 0x80000000u) | (at[1] & 0x7fffffffu);
    return at[397] ^ y >> 1 ^ (0x9908b0dfu & -(y & 1));
}

/* Jumps by 2^(2048 + power) words, power < MR_MT_JUMPS: `to` gets the MR_MT_SIZE words that stand so far behind those
 * at `from`. The words are of the sequence proper, which begins behind a seed's first MR_MT_SIZE. False if memory is
 * short. Any thread; the first call takes some tens of milliseconds. */
bool mr_mt_jump(unsigned power, const uint32_t *from, uint32_t *to) __attribute__((warn_unused_result));

#endif
