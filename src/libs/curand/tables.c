/* SPDX-License-Identifier: Apache-2.0 */
/* Sobol's direction vectors from the numbers of Joe and Kuo, and the tables that programs ask for.
 *
 * A dimension has a primitive polynomial of degree s and s initial numbers m; the recurrence of Bratley and Fox (1988)
 * makes the others. Vector i is m(i) shifted so that its point stands behind the first bit.
 *
 * Scrambled (Matousek, On the L2-discrepancy for anchored boxes, 1998): each dimension's vectors are multiplied by a
 * triangular matrix of random bits with ones on its diagonal, and its sequence begins at a random number. Boxes that
 * hold equally many points still do. The bits come from a generator with a seed of ours (Steele, Lea, Flood, Fast
 * splittable pseudorandom number generators, 2014): NVIDIA's are published nowhere. */
#include "libs/curand/tables.h"

#include <curand.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>

#include "curand_impl.h"

static const unsigned char packed[] = {
#include "joe_kuo.inc"
};

/* How many primitive polynomials of a degree there are. */
static const unsigned short polynomials[] = {0,  1,   1,   2,   2,   6,    6,    18,   16,  48,
                                             60, 176, 144, 630, 756, 1800, 2048, 7710, 7776};

/* `count` bits at *at, lowest first. */
static uint64_t take(uint64_t *at, unsigned count)
{
    uint64_t value = 0;
    for (unsigned i = 0; i < count; i++, ++*at)
        value |= (uint64_t)(packed[*at / 8] >> *at % 8 & 1) << i;
    return value;
}

void mr_sobol_vectors(unsigned dimension, uint64_t vectors[64])
{
    uint64_t m[64], at = 0;
    unsigned degree = 1, left = dimension - 1;
    if (dimension == 0) {
        for (unsigned i = 0; i < 64; i++)
            vectors[i] = 1ull << (63 - i);
        return;
    }
    for (; left >= polynomials[degree]; degree++) {
        at += (uint64_t)polynomials[degree] * (degree - 1) * (degree + 2) / 2;
        left -= polynomials[degree];
    }
    at += (uint64_t)left * (degree - 1) * (degree + 2) / 2;
    uint64_t inner = take(&at, degree - 1);
    for (unsigned i = 0; i < 64; i++) {
        if (i < degree) {
            m[i] = take(&at, i) << 1 | 1;
        } else {
            m[i] = m[i - degree] ^ m[i - degree] << degree;
            for (unsigned k = 1; k < degree; k++)
                m[i] ^= inner >> (degree - 1 - k) & 1 ? m[i - k] << k : 0;
        }
        vectors[i] = m[i] << (63 - i);
    }
}

/* The next of a dimension's random numbers. */
static uint64_t split_mix(uint64_t *state)
{
    uint64_t x = *state += 0x9e3779b97f4a7c15;
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9;
    x = (x ^ x >> 27) * 0x94d049bb133111eb;
    return x ^ x >> 31;
}

uint64_t mr_sobol_scramble(unsigned dimension, uint64_t vectors[64])
{
    uint64_t columns[64], state = ((uint64_t)dimension + 1) << 32;
    for (unsigned bit = 0; bit < 64; bit++) {
        uint64_t one = 1ull << bit;
        columns[bit] = one | (split_mix(&state) & (one - 1));
    }
    for (unsigned i = 0; i < 64; i++) {
        uint64_t product = 0;
        for (unsigned bit = 0; bit < 64; bit++)
            product ^= columns[bit] & -(vectors[i] >> bit & 1);
        vectors[i] = product;
    }
    return split_mix(&state);
}

/* ---- what programs ask for ---- */

/* A set of tables: plain, or scrambled with the constants. */
struct set {
    pthread_once_t once;
    curandDirectionVectors32_t *vectors_32;
    curandDirectionVectors64_t *vectors_64;
    unsigned int *constants_32;
    unsigned long long *constants_64;
};
static struct set plain = {.once = PTHREAD_ONCE_INIT}, scrambled = {.once = PTHREAD_ONCE_INIT};

static void make_set(struct set *set, bool is_scrambled)
{
    curandDirectionVectors32_t *vectors_32 = malloc(MR_SOBOL_DIMENSIONS * sizeof *vectors_32);
    curandDirectionVectors64_t *vectors_64 = malloc(MR_SOBOL_DIMENSIONS * sizeof *vectors_64);
    unsigned int *constants_32 = malloc(MR_SOBOL_DIMENSIONS * sizeof *constants_32);
    unsigned long long *constants_64 = malloc(MR_SOBOL_DIMENSIONS * sizeof *constants_64);
    if (!vectors_32 || !vectors_64 || !constants_32 || !constants_64) {
        free(vectors_32);
        free(vectors_64);
        free(constants_32);
        free(constants_64);
        return;
    }
    for (unsigned i = 0; i < MR_SOBOL_DIMENSIONS; i++) {
        uint64_t vectors[64];
        mr_sobol_vectors(i, vectors);
        constants_64[i] = is_scrambled ? mr_sobol_scramble(i, vectors) : 0;
        constants_32[i] = (unsigned)(constants_64[i] >> 32);
        for (unsigned bit = 0; bit < 64; bit++)
            vectors_64[i][bit] = vectors[bit];
        for (unsigned bit = 0; bit < 32; bit++)
            vectors_32[i][bit] = (unsigned)(vectors[bit] >> 32);
    }
    *set = (struct set){set->once, vectors_32, vectors_64, constants_32, constants_64};
}

static void make_plain(void)
{
    make_set(&plain, false);
}

static void make_scrambled(void)
{
    make_set(&scrambled, true);
}

/* The set, with its tables; NULL if memory is short. */
static const struct set *set_of(bool is_scrambled)
{
    struct set *set = is_scrambled ? &scrambled : &plain;
    pthread_once(&set->once, is_scrambled ? make_scrambled : make_plain);
    return set->vectors_32 ? set : NULL;
}

curandStatus_t mr_curand_GetDirectionVectors32(const struct mr_form *form, curandDirectionVectors32_t *vectors[],
                                               curandDirectionVectorSet_t set)
{
    (void)form;
    if (set != CURAND_DIRECTION_VECTORS_32_JOEKUO6 && set != CURAND_SCRAMBLED_DIRECTION_VECTORS_32_JOEKUO6)
        return CURAND_STATUS_OUT_OF_RANGE;
    const struct set *tables = set_of(set == CURAND_SCRAMBLED_DIRECTION_VECTORS_32_JOEKUO6);
    if (!tables)
        return CURAND_STATUS_ALLOCATION_FAILED;
    *vectors = tables->vectors_32;
    return CURAND_STATUS_SUCCESS;
}

curandStatus_t mr_curand_GetDirectionVectors64(const struct mr_form *form, curandDirectionVectors64_t *vectors[],
                                               curandDirectionVectorSet_t set)
{
    (void)form;
    if (set != CURAND_DIRECTION_VECTORS_64_JOEKUO6 && set != CURAND_SCRAMBLED_DIRECTION_VECTORS_64_JOEKUO6)
        return CURAND_STATUS_OUT_OF_RANGE;
    const struct set *tables = set_of(set == CURAND_SCRAMBLED_DIRECTION_VECTORS_64_JOEKUO6);
    if (!tables)
        return CURAND_STATUS_ALLOCATION_FAILED;
    *vectors = tables->vectors_64;
    return CURAND_STATUS_SUCCESS;
}

curandStatus_t mr_curand_GetScrambleConstants32(const struct mr_form *form, unsigned int **constants)
{
    (void)form;
    const struct set *tables = set_of(true);
    if (!tables)
        return CURAND_STATUS_ALLOCATION_FAILED;
    *constants = tables->constants_32;
    return CURAND_STATUS_SUCCESS;
}

curandStatus_t mr_curand_GetScrambleConstants64(const struct mr_form *form, unsigned long long **constants)
{
    (void)form;
    const struct set *tables = set_of(true);
    if (!tables)
        return CURAND_STATUS_ALLOCATION_FAILED;
    *constants = tables->constants_64;
    return CURAND_STATUS_SUCCESS;
}
