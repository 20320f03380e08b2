/* SPDX-License-Identifier: Apache-2.0 */
/* From words of a sequence to results.
 *
 * A *word* is a number of 32 bits; of MRG32k3a it is a number from 1 to 2^32 - 209, whose fractions are finer. */
#ifndef MR_CURAND_CONVERT_H
#define MR_CURAND_CONVERT_H

#include <stdint.h>

#include "libs/curand/generator.h"
#include "libs/curand/normal.h"

#define MR_RAND_ROW MR_NORMAL_MOST /* items at most in one call of mr_rand_convert */

/* Words of an item whose words are 32 bits, and of one of MRG32k3a. */
unsigned mr_rand_words(enum mr_rand_kind kind, bool is_mrg);

/* `count` items to `out`; word w of item i is words[w * MR_RAND_ROW + i]. Not for Poisson numbers. */
void mr_rand_convert(const struct mr_rand_work *work, bool is_mrg, const uint32_t *words, unsigned count, void *out);

/* A word as a fraction above 0, at most 1; and normal numbers of mean 0 and deviation 1, two of each item's two words,
 * by the C library's functions. */
double mr_rand_fraction(bool is_mrg, uint32_t word);
void mr_rand_normal_pairs(bool is_mrg, const uint32_t *words, unsigned count, float *out);

/* One result from one word of 32 or of 64 bits, by the inverse of the distribution: for sequences that may not skip.
 * `is_wide`: the word has 64 bits; then a double has 53 of them. */
void mr_rand_convert_one(const struct mr_rand_work *work, bool is_wide, const uint64_t *words, unsigned count,
                         void *out);

#endif
