/* SPDX-License-Identifier: Apache-2.0 */
/* Floats of 16 bits to and from float, without branches where that lets the compiler use vectors. */
#ifndef MR_MATH_HALF_H
#define MR_MATH_HALF_H

#include <stdint.h>
#include <string.h>

static inline float mr_float_of_bits(uint32_t bits)
{
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static inline uint32_t mr_bits_of_float(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

/* The exponent is moved by a multiplication, which makes subnormals right, too. */
static inline float mr_half_to_float(uint16_t half)
{
    float value = mr_float_of_bits((uint32_t)(half & 0x7fff) << 13) * 0x1p112f;
    uint32_t bits = mr_bits_of_float(value) | ((half & 0x7c00) == 0x7c00 ? 0x7f800000u : 0);
    return mr_float_of_bits(bits | (uint32_t)(half & 0x8000) << 16);
}

/* Rounded to nearest, ties to even. Adding a number whose last bit is the half's rounds as the processor does. */
static inline uint16_t mr_float_to_half(float value)
{
    uint32_t bits = mr_bits_of_float(value), sign = bits & 0x80000000u;
    bits ^= sign;
    uint32_t normal = (bits + 0xc8000fffu + ((bits >> 13) & 1)) >> 13;
    uint32_t small = mr_bits_of_float(mr_float_of_bits(bits) + 0.5f) - 0x3f000000u;
    uint32_t special = bits > 0x7f800000u ? 0x7e00 : 0x7c00;
    uint32_t half = bits >= 0x47800000u ? special : bits < 0x38800000u ? small : normal;
    return (uint16_t)(half | sign >> 16);
}

static inline float mr_bfloat_to_float(uint16_t value)
{
    return mr_float_of_bits((uint32_t)value << 16);
}

/* Rounded to nearest, ties to even. */
static inline uint16_t mr_float_to_bfloat(float value)
{
    uint32_t bits = mr_bits_of_float(value);
    uint32_t rounded = (bits + 0x7fffu + ((bits >> 16) & 1)) >> 16;
    return (uint16_t)((bits & 0x7fffffffu) > 0x7f800000u ? (bits >> 16 | 0x40) : rounded);
}

#endif
