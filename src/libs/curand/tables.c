/* SPDX-License-Identifier: Apache-2.0 */
/* Sobol's direction vectors from the numbers of Joe and Kuo, and the tables that programs ask for.
 *
 * A dimension has a primitive polynomial of degree s and s initial numbers m; the recurrence of Bratley and Fox (1988)
 * makes the others. Vector i is m(i) shifted so that its point stands behind the first bit. */
#include "libs/curand/tables.h"

#include <curand.h>
#include <pthread.h>
#include <stdlib.h>

#include "base/log.h"
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

/* ---- what programs ask for ---- */

static pthread_once_t once = PTHREAD_ONCE_INIT;
static curandDirectionVectors32_t *vectors_32;
static curandDirectionVectors64_t *vectors_64;

static void make_tables(void)
{
    vectors_32 = malloc(MR_SOBOL_DIMENSIONS * sizeof *vectors_32);
    vectors_64 = malloc(MR_SOBOL_DIMENSIONS * sizeof *vectors_64);
    for (unsigned i = 0; i < MR_SOBOL_DIMENSIONS && vectors_32 && vectors_64; i++) {
        uint64_t vectors[64];
        mr_sobol_vectors(i, vectors);
        for (unsigned bit = 0; bit < 64; bit++)
            vectors_64[i][bit] = vectors[bit];
        for (unsigned bit = 0; bit < 32; bit++)
            vectors_32[i][bit] = (unsigned)(vectors[bit] >> 32);
    }
}

/* Scrambled sets are tables of random numbers inside NVIDIA's library, and are published nowhere. */
static curandStatus_t no_scrambled(const struct mr_form *form)
{
    mr_log_setup();
    mr_log(
        MR_LOG_WARN,
        "%s: scrambled Sobol numbers are not there: their tables are NVIDIA's own. Use the set that is not scrambled",
        form->name);
    return CURAND_STATUS_INTERNAL_ERROR;
}

curandStatus_t mr_curand_GetDirectionVectors32(const struct mr_form *form, curandDirectionVectors32_t *vectors[],
                                               curandDirectionVectorSet_t set)
{
    if (set == CURAND_SCRAMBLED_DIRECTION_VECTORS_32_JOEKUO6)
        return no_scrambled(form);
    if (set != CURAND_DIRECTION_VECTORS_32_JOEKUO6)
        return CURAND_STATUS_OUT_OF_RANGE;
    pthread_once(&once, make_tables);
    if (!vectors_32 || !vectors_64)
        return CURAND_STATUS_ALLOCATION_FAILED;
    *vectors = vectors_32;
    return CURAND_STATUS_SUCCESS;
}

curandStatus_t mr_curand_GetDirectionVectors64(const struct mr_form *form, curandDirectionVectors64_t *vectors[],
                                               curandDirectionVectorSet_t set)
{
    if (set == CURAND_SCRAMBLED_DIRECTION_VECTORS_64_JOEKUO6)
        return no_scrambled(form);
    if (set != CURAND_DIRECTION_VECTORS_64_JOEKUO6)
        return CURAND_STATUS_OUT_OF_RANGE;
    pthread_once(&once, make_tables);
    if (!vectors_32 || !vectors_64)
        return CURAND_STATUS_ALLOCATION_FAILED;
    *vectors = vectors_64;
    return CURAND_STATUS_SUCCESS;
}
