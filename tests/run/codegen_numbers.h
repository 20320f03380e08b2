/* SPDX-License-Identifier: Apache-2.0 */

/* Numbers that tests draw, and floats as their bits. */
#ifndef MR_TESTS_CODEGEN_NUMBERS_H
#define MR_TESTS_CODEGEN_NUMBERS_H

#include <stdint.h>
#include <string.h>

/* The next of a row of numbers that the state begins. */
static inline uint32_t draw_from(uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(*state >> 32);
}

static inline uint32_t bits_of(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static inline float float_of(uint32_t bits)
{
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

#endif
