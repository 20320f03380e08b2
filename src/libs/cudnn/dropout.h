/* SPDX-License-Identifier: Apache-2.0 */
/* Which elements a dropout keeps.
 *
 * The program's buffer of states has a seed and how many numbers have been drawn. A number follows from the seed and
 * from its place in the row of all numbers, so parts draw without knowing of each other. Work that draws `count`
 * numbers moves the states on by as many when it is done, in the stream's order: so each replay of a graph draws new
 * ones. */
#ifndef MR_CUDNN_DROPOUT_H
#define MR_CUDNN_DROPOUT_H

#include <stdbool.h>
#include <stdint.h>

struct mr_dropout_states {
    uint64_t seed, drawn;
};

/* The bits are mixed so that each depends on all (the constants are those of the generator SplitMix64). */
static inline uint64_t mr_dropout_mix(uint64_t bits)
{
    bits = (bits ^ (bits >> 30)) * 0xbf58476d1ce4e5b9u;
    bits = (bits ^ (bits >> 27)) * 0x94d049bb133111ebu;
    return bits ^ (bits >> 31);
}

/* Whether the element of number `index` behind those drawn is kept: with probability 1 - p. */
static inline bool mr_dropout_keeps(const struct mr_dropout_states *states, uint64_t index, double p)
{
    uint64_t begin = mr_dropout_mix(states->seed + 0x9e3779b97f4a7c15u);
    uint64_t bits = mr_dropout_mix(begin + (states->drawn + index + 1) * 0x9e3779b97f4a7c15u);
    return (double)(bits >> 11) * 0x1p-53 >= p;
}

#endif
