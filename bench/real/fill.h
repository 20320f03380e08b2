/* SPDX-License-Identifier: Apache-2.0 */
/* What both sides begin with. */
#ifndef BENCH_REAL_FILL_H
#define BENCH_REAL_FILL_H

#include <string.h>

#include "../kernels/kernels.h"
#include "real.h"

static inline void fill_words(u32 *to, size_t count, u32 seed)
{
    for (size_t i = 0; i < count; i++)
        to[i] = mixed((u32)i * 2654435761u + seed);
}

static inline void fill_edges(u32 *edges)
{
    for (size_t i = 0; i < (size_t)NODES * EDGES; i++)
        edges[i] = mixed((u32)i) % NODES;
}

/* Rows of 8 to 23 entries, columns about the diagonal. */
static inline int fill_sparse(int *starts, int *columns, float *entries)
{
    int count = 0;
    for (int row = 0; row < ROWS; row++) {
        starts[row] = count;
        for (u32 i = 0; i < 8 + mixed((u32)row) % 16; i++, count++) {
            columns[count] = (int)((u32)row + mixed((u32)count) % 4096) % ROWS;
            entries[count] = (float)(mixed((u32)count + 7) % 1000) * 0.001f;
        }
    }
    starts[ROWS] = count;
    return count;
}

static inline void fill_genes(signed char *one, signed char *two, int *table)
{
    for (int i = 0; i < GENES; i++) {
        one[i] = (signed char)(mixed((u32)i) % 4);
        two[i] = mixed((u32)i + 99) % 8 ? one[i] : (signed char)(mixed((u32)i + 5) % 4);
    }
    for (int i = 0; i <= GENES; i++)
        table[i] = table[i * (GENES + 1)] = -2 * i;
}

static inline void fill_spins(signed char *spins, u32 *states)
{
    for (int i = 0; i < SPINS * SPINS; i++) {
        states[i] = mixed((u32)i);
        spins[i] = states[i] & 1 ? 1 : -1;
    }
}

static inline void fill_text(unsigned char *text, unsigned char *word)
{
    for (int i = 0; i < TEXT; i++)
        text[i] = (unsigned char)('a' + mixed((u32)i) % 4);
    memcpy(word, "abcadbca", WORD_LENGTH);
}

/* Cosine and sine of each of half a turn's steps. */
static inline void fill_turns(float *turns)
{
    for (int i = 0; i < LINE / 2; i++) {
        turns[2 * i] = cosf(-3.14159265f * (float)i / (LINE / 2));
        turns[2 * i + 1] = sinf(-3.14159265f * (float)i / (LINE / 2));
    }
}

static inline double sum_words(const u32 *values, size_t count)
{
    double sum = 0;
    for (size_t i = 0; i < count; i++)
        sum += values[i] >> 4;
    return sum;
}

/* Of values in order: each with its place, so that another order gives something else. */
static inline double sum_in_order(const u32 *values, size_t count)
{
    double sum = 0;
    for (size_t i = 0; i < count; i++)
        sum += (double)values[i] * (double)(i % 1021);
    return sum;
}

static inline double sum_sizes(const float *values, size_t count)
{
    double sum = 0;
    for (size_t i = 0; i < count; i++)
        sum += values[i] < 0 ? -values[i] : values[i];
    return sum;
}

#endif
