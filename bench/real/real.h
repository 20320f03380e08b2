/* SPDX-License-Identifier: Apache-2.0 */
/* Sizes that the programs of this part and their twins in C share, and the arithmetic of one element where both do the
 * same. */
#ifndef BENCH_REAL_H
#define BENCH_REAL_H

#ifdef BENCH_DEVICE
#define BOTH static __device__ __forceinline__
typedef unsigned u32;
#else
#include <stdint.h>
#define BOTH static inline
typedef uint32_t u32;
/* Of the C library: a math.h of the benchmarks' own hides its header. */
float sqrtf(float), expf(float), logf(float), cosf(float), sinf(float);
#endif

#define RECORDS (1 << 17)
#define RECORD_WORDS 16
#define KEYS (1 << 19)
#define SLOTS (1 << 20)
#define WAVE_SIDE 1024
#define WAVE_STEPS 16
#define HEAT_SIDE 128
#define HEAT_STEPS 10
#define IMAGE_SIDE 1024
#define IMAGE_REACH 2
#define NODES (1 << 18)
#define EDGES 8 /* of a node */
#define SORTED (1 << 18)
#define ROWS (1 << 17)
#define ENTRIES 24 /* of a row at most */
#define GENES 2048 /* letters of each of two texts */
#define GENE_TILE 32
#define CELL_SIDE 16 /* cells of a row of a cube */
#define CELL_ROOM 16 /* particles of a cell */
#define PATHS (1 << 16)
#define PATH_STEPS 64
#define LINE 256 /* numbers of a transform */
#define LINES (1 << 13)
#define POINTS (1 << 17)
#define POINT_SIZE 16
#define CENTRES 16
#define TOWNS 512
#define SPINS 1024
#define SWEEPS 8
#define TEXT (1 << 22) /* letters that are searched */
#define WORD_LENGTH 8

BOTH u32 mixed(u32 x)
{
    x ^= x >> 16;
    x *= 0x85ebca6bu;
    x ^= x >> 13;
    x *= 0xc2b2ae35u;
    return x ^ x >> 16;
}

BOTH u32 next_random(u32 *state)
{
    *state = *state * 1664525u + 1013904223u;
    return *state >> 8;
}

BOTH u32 hash_record(const u32 *record)
{
    u32 hash = 0x9e3779b9u;
    for (int i = 0; i < RECORD_WORDS; i++) {
        u32 x = record[i] * 0xcc9e2d51u;
        x = x << 15 | x >> 17;
        hash ^= x * 0x1b873593u;
        hash = (hash << 13 | hash >> 19) * 5 + 0xe6546b64u;
    }
    return mixed(hash);
}

/* The end of a path of a price, in steps of a normal number each (Box and Muller's, the cosine alone). */
BOTH float walked(u32 number)
{
    float price = 100.0f;
    u32 state = mixed(number + 1);
    for (int i = 0; i < PATH_STEPS; i++) {
        float u = ((float)next_random(&state) + 1.0f) * (1.0f / 16777217.0f),
              v = (float)next_random(&state) * (6.2831853f / 16777216.0f);
        float normal = sqrtf(-2.0f * logf(u)) * cosf(v);
        price *= expf(0.0001f + 0.01f * normal);
    }
    return price;
}

/* The force of one particle on another along x, y, z, less than a cell away; distances in cells. */
BOTH void add_force(float *force, float dx, float dy, float dz)
{
    float square = dx * dx + dy * dy + dz * dz;
    if (square >= 1.0f || square == 0.0f)
        return;
    float inverse = 0.04f / (square + 0.01f), sixth = inverse * inverse * inverse;
    float size = sixth * (2.0f * sixth - 1.0f) * inverse;
    force[0] += size * dx;
    force[1] += size * dy;
    force[2] += size * dz;
}

/* Whether a spin turns over, with this sum of its neighbours. */
BOTH int turns_over(int spin, int sum, u32 random)
{
    float gain = 2.0f * (float)(spin * sum);
    return (float)random * (1.0f / 16777216.0f) < expf(-0.44f * gain);
}

#endif
