/* SPDX-License-Identifier: Apache-2.0 */
/* Arguments for the functions of small floats, and one number for all their results, alike on both sides and with any
 * compiler.
 *
 * Argument `place` of call `call` depends on nothing else. A function of one number of 16 bits gets all of them; pairs
 * meet edges, random numbers, and numbers near each other; wider ones have few digits half of the time, and are next to
 * such ones, so that ties are met. */
#ifndef HALVES_INPUTS_H
#define HALVES_INPUTS_H
#include "calls.h"

/* 16 bits of a float with `digits` of them behind the first: one of several, each like its own kind. */
static inline word small(word call, int place, int several, int digits)
{
    word random = mixed(call * 8 + (word)place), edge = random >> 32 & 31, infinity = 0x7fff ^ ((1u << digits) - 1),
         half = infinity >> 1 & infinity;
    if (!several)
        return call;
    if (call < 1024)
        edge = call >> 5 * (place & 1) & 31;
    else if (call % 4 == 1 && place)   /* near the first one */
        return (small(call, 0, several, digits) ^ (random >> 8 & 0x8000)) + (random & 7) - 3;
    else if (call % 4 == 2)            /* products about the smallest numbers */
        return (random & 0x80ff) | (half - (random >> 16 & 7) * (infinity >> 4 & infinity));
    else if (call % 4)
        return random & 0xffff;
    switch (edge >> 1) {
    case 0:
        edge = edge << 15;
        break;
    case 1:
        edge = (edge << 15 & 0x8000) | 1;
        break;
    case 2:
        edge = (edge << 15 & 0x8000) | infinity;
        break;
    case 3:
        edge = (edge << 15 & 0x8000) | (infinity + 1);
        break;
    case 4:
        edge = (edge << 15 & 0x8000) | 0x7fff;
        break;
    case 5:
        edge = (edge << 15 & 0x8000) | (infinity - 1);
        break;
    case 6:
        edge = (edge << 15 & 0x8000) | half;
        break;                       /* 1, or near it */
    case 7:
        edge = (edge << 15 & 0x8000) | ((1u << digits) - 1);
        break;       /* the largest subnormal number */
    case 8:
        edge = (edge << 15 & 0x8000) | 1u << digits;
        break;
    case 9:
        edge = (edge << 15 & 0x8000) | (half + 1);
        break;
    case 10:
        edge = (edge << 15 & 0x8000) | (half - 1);
        break;
    case 11:
        edge = (edge << 15 & 0x8000) | (half + (1u << digits));
        break;
    default:
        edge = random & 0xffff;
        break;
    }
    return edge & 0xffff;
}
/* A float or a double by its fields, with all digits or the first few, or next to that. */
static inline word wide(word call, int place, int digits, int bias, int exponents)
{
    word random = mixed(call * 8 + (word)place + 0x100000), sign = random & 1, exponent, fraction = mixed(random),
         kept = random >> 8 & 15;
    word mask = ((word)1 << digits) - 1;
    exponent = random >> 16 & 1 ? (random >> 20) % (word)exponents : (word)(bias - 32) + (random >> 20) % 56;
    if (call % 64 == 0)
        exponent = call % 128 ? (word)exponents - 1 : 0;
    if (random >> 17 & 1) {
        fraction &= mask ^ (mask >> kept);
        if (random >> 18 & 1)
            return (sign << (digits + 1 + (digits == 23 ? 7 : 10)) | exponent << digits | fraction) +
                   (random >> 19 & 1 ? 1 : ~(word)0) * (fraction != 0);
    }
    return sign << (digits == 23 ? 31 : 63) | exponent << digits | (fraction & mask);
}
static inline word whole(word call, int place)
{
    word random = mixed(call * 8 + (word)place + 0x200000), value = mixed(random) >> (random & 63);
    if (random >> 8 & 1)
        value &= ~(word)0 << (random >> 9 & 63);
    return (random >> 16 & 1 ? 0 - value : value) + (random >> 20 & 3) - 1;
}

/* Argument `place` of type T; `several`: the function has more than one of varied type. */
template <class T> struct argument;
#define ARGUMENT(type, bits) \
    template <> struct argument<type> { \
        static type of(word call, int place, int several) \
        { \
            (void)call; \
            (void)place; \
            (void)several; \
            return of_bits<type>(bits); \
        } \
    };
ARGUMENT(unsigned char, whole(call, place) & 0xff)
ARGUMENT(unsigned short, several ? whole(call, place) & 0xffff : call)
ARGUMENT(short, several ? whole(call, place) & 0xffff : call)
ARGUMENT(unsigned int, whole(call, place) & 0xffffffff)
ARGUMENT(int, whole(call, place) & 0xffffffff)
ARGUMENT(unsigned long long, whole(call, place))
ARGUMENT(long long, whole(call, place))
ARGUMENT(long, whole(call, place))
ARGUMENT(unsigned long, whole(call, place))
ARGUMENT(float, wide(call, place, 23, 127, 256) & 0xffffffff)
ARGUMENT(double, wide(call, place, 52, 1023, 2048))
ARGUMENT(float2, (wide(call, place, 23, 127, 256) & 0xffffffff) | wide(call, place + 4, 23, 127, 256) << 32)
#define WIDER(type, make, ...) \
    template <> struct argument<type> { \
        static type of(word call, int place, int several) \
        { \
            return make(__VA_ARGS__); \
        } \
    };
#define PART(type, offset) argument<type>::of(call, place + offset, several)
WIDER(double2, make_double2, PART(double, 0), PART(double, 4))
WIDER(float4, make_float4, PART(float, 0), PART(float, 4), PART(float, 2), PART(float, 6))
WIDER(double4, make_double4, PART(double, 0), PART(double, 4), PART(double, 2), PART(double, 6))
WIDER(double4_16a, make_double4_16a, PART(double, 0), PART(double, 4), PART(double, 2), PART(double, 6))
WIDER(double4_32a, make_double4_32a, PART(double, 0), PART(double, 4), PART(double, 2), PART(double, 6))
/* Of pairs the second number is any other one. */
#define SMALL(one, two, digits) \
    ARGUMENT(one, small(call, place, several, digits) & 0xffff) \
    ARGUMENT(two, (small(call, place, several, digits) & 0xffff) | \
                      (small(several ? call + 77777 : (call * 40503 + 7) & 0xffff, place, several, digits) & 0xffff) \
                          << 16)
SMALL(__half, __half2, 10)
SMALL(__half_raw, __half2_raw, 10)
SMALL(__nv_bfloat16, __nv_bfloat162, 7)
SMALL(__nv_bfloat16_raw, __nv_bfloat162_raw, 7)
#define CHOICE(type, count) \
    template <> struct argument<type> { \
        static type of(word call, int place, int several) \
        { \
            (void)several; \
            return (type)(mixed(call * 8 + (word)place) % (count)); \
        } \
    };
#ifdef __CUDA_FP8_TYPES_EXIST__
CHOICE(__nv_saturation_t, 2)
CHOICE(__nv_fp8_interpretation_t, 2)
#endif
#ifdef __CUDA_FP6_TYPES_EXIST__
CHOICE(__nv_fp6_interpretation_t, 2)
#endif
#ifdef __CUDA_FP4_TYPES_EXIST__
CHOICE(__nv_fp4_interpretation_t, 1)
#endif

/* Of those of a byte or two every value, of fours some. */
#define TINY(bits, one, two, four) \
    ARGUMENT(one, call & ((1 << bits) - 1)) \
    ARGUMENT(two, call & ((1 << 2 * bits) - 1)) \
    ARGUMENT(four, whole(call, place) & 0xffffffff)
#ifdef __CUDA_FP8_TYPES_EXIST__
TINY(8, __nv_fp8_e4m3, __nv_fp8x2_e4m3, __nv_fp8x4_e4m3)
TINY(8, __nv_fp8_e5m2, __nv_fp8x2_e5m2, __nv_fp8x4_e5m2)
TINY(8, __nv_fp8_e8m0, __nv_fp8x2_e8m0, __nv_fp8x4_e8m0)
#endif
#ifdef __CUDA_FP6_TYPES_EXIST__
TINY(8, __nv_fp6_e2m3, __nv_fp6x2_e2m3, __nv_fp6x4_e2m3)
TINY(8, __nv_fp6_e3m2, __nv_fp6x2_e3m2, __nv_fp6x4_e3m2)
#endif
#ifdef __CUDA_FP4_TYPES_EXIST__
TINY(4, __nv_fp4_e2m1, __nv_fp4x2_e2m1, __nv_fp4x4_e2m1)
#endif

/* One number for the results of all calls: their order counts. */
static inline word sum_of(const word *results)
{
    word sum = 0;
    for (int i = 0; i < CALLS; i++)
        sum += mixed(results[i] ^ mixed((word)i));
    return sum;
}
#endif
