/* SPDX-License-Identifier: Apache-2.0 */
/* Classes of numbers of 8, 6 and 4 bits: one, two and four of them. Part of cuda_fp8.h, cuda_fp6.h and cuda_fp4.h. */
#ifndef MILLRACE_TINY_CLASSES_H
#define MILLRACE_TINY_CLASSES_H

#include "millrace_small_casts.h"

/* Numbers in one word, each of `width` bits, the first in the lowest. */
#define MR_TINY_TWO(low, high, width) ((unsigned int)(low) | (unsigned int)(high) << (width))
#define MR_TINY_FOUR(a, b, c, d, width) (MR_TINY_TWO(a, b, width) | MR_TINY_TWO(c, d, width) << (2 * (width)))

#define MR_TINY_CAST(type) MR_SMALL_MEMBER explicit operator type() const { return mr_limited<type>((float)*this); }
#define MR_TINY_CASTS                                                                                                              \
    MR_TINY_CAST(char) MR_TINY_CAST(signed char) MR_TINY_CAST(unsigned char) MR_TINY_CAST(short) MR_TINY_CAST(unsigned short)      \
    MR_TINY_CAST(int) MR_TINY_CAST(unsigned int) MR_TINY_CAST(long) MR_TINY_CAST(unsigned long) MR_TINY_CAST(long long)            \
    MR_TINY_CAST(unsigned long long)
#define MR_TINY_FROM_WHOLE(name, type, value) MR_SMALL_MEMBER explicit name(type x) : __x(value) {}
#define MR_TINY_FROM_WHOLES(name, value)                                                                                           \
    MR_TINY_FROM_WHOLE(name, short, value) MR_TINY_FROM_WHOLE(name, unsigned short, value) MR_TINY_FROM_WHOLE(name, int, value)    \
    MR_TINY_FROM_WHOLE(name, unsigned int, value) MR_TINY_FROM_WHOLE(name, long, value)                                            \
    MR_TINY_FROM_WHOLE(name, unsigned long, value) MR_TINY_FROM_WHOLE(name, long long, value)                                      \
    MR_TINY_FROM_WHOLE(name, unsigned long long, value)

/* What constructors are made of: `of` makes one from a double's bits. */
#define MR_TINY_OF_FLOAT(of, x) of(mr_double_bits_of_float(x))
#define MR_TINY_OF_DOUBLE(of, x) of(mr_bits_of_double(x))
#define MR_TINY_OF_SMALL(of, x) of(mr_double_bits_of_float(mr_wide(x)))

/* `half` makes a half's bits from one. FROM and TO keep their arguments, or drop them where a source wants no conversions. */
#define MR_TINY_ONE(name, storage, of, half, sizes, FROM, TO)                                                                      \
    struct name {                                                                                                                  \
        storage __x;                                                                                                               \
        MR_PLAIN_CONSTRUCTOR(name)                                                                                                 \
        FROM(MR_SMALL_MEMBER explicit name(__half x) : __x((storage)MR_TINY_OF_SMALL(of, x)) {}                                          \
             MR_SMALL_MEMBER explicit name(__nv_bfloat16 x) : __x((storage)MR_TINY_OF_SMALL(of, x)) {}                                   \
             MR_SMALL_MEMBER explicit name(float x) : __x((storage)MR_TINY_OF_FLOAT(of, x)) {}                                           \
             MR_SMALL_MEMBER explicit name(double x) : __x((storage)MR_TINY_OF_DOUBLE(of, x)) {}                                         \
             MR_TINY_FROM_WHOLES(name, (storage)MR_TINY_OF_FLOAT(of, (float)x)))                                                   \
        TO(MR_SMALL_MEMBER explicit operator __half() const { return mr_half_raw((unsigned short)half(__x)); }                           \
           MR_SMALL_MEMBER explicit operator float() const { return mr_half_widened((unsigned short)half(__x)); }                        \
           MR_SMALL_MEMBER explicit operator double() const { return (double)(float)*this; }                                             \
           MR_SMALL_MEMBER explicit operator __nv_bfloat16() const { return mr_bfloat16_raw(mr_upper_half((float)*this)); }              \
           MR_SMALL_MEMBER explicit operator bool() const { return (__x & (sizes)) != 0; }                                               \
           MR_TINY_CASTS)                                                                                                          \
    }
#define MR_TINY_PAIR(name, storage, of, halves, width, FROM, TO)                                                                   \
    struct __attribute__((aligned(sizeof(storage)))) name {                                                                        \
        storage __x;                                                                                                               \
        MR_PLAIN_CONSTRUCTOR(name)                                                                                                 \
        FROM(MR_SMALL_MEMBER explicit name(__half2 x)                                                                                    \
                 : __x((storage)MR_TINY_TWO(MR_TINY_OF_SMALL(of, x.x), MR_TINY_OF_SMALL(of, x.y), width)) {}                       \
             MR_SMALL_MEMBER explicit name(__nv_bfloat162 x)                                                                             \
                 : __x((storage)MR_TINY_TWO(MR_TINY_OF_SMALL(of, x.x), MR_TINY_OF_SMALL(of, x.y), width)) {}                       \
             MR_SMALL_MEMBER explicit name(float2 x)                                                                                     \
                 : __x((storage)MR_TINY_TWO(MR_TINY_OF_FLOAT(of, x.x), MR_TINY_OF_FLOAT(of, x.y), width)) {}                       \
             MR_SMALL_MEMBER explicit name(double2 x)                                                                                    \
                 : __x((storage)MR_TINY_TWO(MR_TINY_OF_DOUBLE(of, x.x), MR_TINY_OF_DOUBLE(of, x.y), width)) {})                    \
        TO(MR_SMALL_MEMBER explicit operator __half2() const { return __half2(halves(__x)); }                                            \
           MR_SMALL_MEMBER explicit operator float2() const { return __half22float2(__half2(halves(__x))); })                            \
    }
#define MR_TINY_FOUR_DOUBLES(name, storage, of, type, width)                                                                       \
    MR_SMALL_MEMBER explicit name(type x)                                                                                                \
        : __x((storage)MR_TINY_FOUR(MR_TINY_OF_DOUBLE(of, x.x), MR_TINY_OF_DOUBLE(of, x.y), MR_TINY_OF_DOUBLE(of, x.z),            \
                                    MR_TINY_OF_DOUBLE(of, x.w), width)) {}
#define MR_TINY_FOUR_SMALL(name, storage, of, type, width)                                                                         \
    MR_SMALL_MEMBER explicit name(type low, type high)                                                                                   \
        : __x((storage)MR_TINY_FOUR(MR_TINY_OF_SMALL(of, low.x), MR_TINY_OF_SMALL(of, low.y), MR_TINY_OF_SMALL(of, high.x),        \
                                    MR_TINY_OF_SMALL(of, high.y), width)) {}
#define MR_TINY_FOUR_OF(name, storage, of, floats, width, FROM, TO)                                                                \
    struct __attribute__((aligned(sizeof(storage)))) name {                                                                        \
        storage __x;                                                                                                               \
        MR_PLAIN_CONSTRUCTOR(name)                                                                                                 \
        FROM(MR_TINY_FOUR_SMALL(name, storage, of, __half2, width) MR_TINY_FOUR_SMALL(name, storage, of, __nv_bfloat162, width)    \
             MR_SMALL_MEMBER explicit name(float4 x)                                                                                     \
                 : __x((storage)MR_TINY_FOUR(MR_TINY_OF_FLOAT(of, x.x), MR_TINY_OF_FLOAT(of, x.y), MR_TINY_OF_FLOAT(of, x.z),      \
                                             MR_TINY_OF_FLOAT(of, x.w), width)) {}                                                 \
             MR_TINY_FOUR_DOUBLES(name, storage, of, double4, width) MR_TINY_FOUR_DOUBLES(name, storage, of, double4_16a, width)   \
             MR_TINY_FOUR_DOUBLES(name, storage, of, double4_32a, width))                                                          \
        TO(MR_SMALL_MEMBER explicit operator float4() const { return floats(__x); })                                                     \
    }

#endif
