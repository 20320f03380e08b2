/* SPDX-License-Identifier: Apache-2.0 */
/* The SIMD intrinsics: two numbers of 16 bits or four of 8 in a word. Part of millrace_device.h.
 *
 * Each is a loop over the parts, which the compiler unrolls. A part is widened to int, computed with, and cut off again (or saturated first). */
#ifndef MILLRACE_SIMD_H
#define MILLRACE_SIMD_H

/* Part number i of `bits` bits, with and without its sign. */
template <int bits> MR_BOTH int mr_part_s(unsigned int word, int i) { return (int)(word << (32 - bits * (i + 1))) >> (32 - bits); }
template <int bits> MR_BOTH int mr_part_u(unsigned int word, int i) { return (int)(word << (32 - bits * (i + 1)) >> (32 - bits)); }
template <int bits> MR_BOTH unsigned int mr_put_part(int value, int i) { return ((unsigned int)value & ((1u << bits) - 1)) << (bits * i); }
template <int bits> MR_DEVICE int mr_saturate_s(int value)
{
    return value > (1 << (bits - 1)) - 1 ? (1 << (bits - 1)) - 1 : value < -(1 << (bits - 1)) ? -(1 << (bits - 1)) : value;
}
template <int bits> MR_DEVICE int mr_saturate_u(int value) { return value > (1 << bits) - 1 ? (1 << bits) - 1 : value < 0 ? 0 : value; }

/* Functions of the parts x and y (z), signed or unsigned by `kind`. */
#define MR_SIMD_OF(name, count, kind, expression)                                                        \
    MR_DEVICE unsigned int name##count(unsigned int a, unsigned int b)                                   \
    {                                                                                                    \
        constexpr int bits = 32 / count;                                                                 \
        unsigned int result = 0;                                                                         \
        for (int i = 0; i < count; i++) {                                                                \
            int x = mr_part_##kind<bits>(a, i), y = mr_part_##kind<bits>(b, i);                          \
            result |= mr_put_part<bits>(expression, i);                                                  \
        }                                                                                                \
        return result;                                                                                   \
    }
#define MR_SIMD1_OF(name, count, expression)                                                             \
    MR_DEVICE unsigned int name##count(unsigned int a)                                                   \
    {                                                                                                    \
        constexpr int bits = 32 / count;                                                                 \
        unsigned int result = 0;                                                                         \
        for (int i = 0; i < count; i++) {                                                                \
            int x = mr_part_s<bits>(a, i);                                                               \
            result |= mr_put_part<bits>(expression, i);                                                  \
        }                                                                                                \
        return result;                                                                                   \
    }
#define MR_SIMD_SUM_OF(name, count, kind)                                                                \
    MR_DEVICE unsigned int name##count(unsigned int a, unsigned int b)                                   \
    {                                                                                                    \
        constexpr int bits = 32 / count;                                                                 \
        unsigned int sum = 0;                                                                            \
        for (int i = 0; i < count; i++) {                                                                \
            int x = mr_part_##kind<bits>(a, i), y = mr_part_##kind<bits>(b, i);                          \
            sum += (unsigned int)(x > y ? x - y : y - x);                                                \
        }                                                                                                \
        return sum;                                                                                      \
    }
#define MR_SIMD(name, kind, expression) MR_SIMD_OF(name, 2, kind, expression) MR_SIMD_OF(name, 4, kind, expression)
#define MR_SIMD1(name, expression) MR_SIMD1_OF(name, 2, expression) MR_SIMD1_OF(name, 4, expression)
MR_SIMD1(__vabs, x < 0 ? -x : x) MR_SIMD1(__vabsss, mr_saturate_s<bits>(x < 0 ? -x : x))
MR_SIMD1(__vneg, -x) MR_SIMD1(__vnegss, mr_saturate_s<bits>(-x))
MR_SIMD(__vadd, u, x + y) MR_SIMD(__vaddss, s, mr_saturate_s<bits>(x + y)) MR_SIMD(__vaddus, u, mr_saturate_u<bits>(x + y))
MR_SIMD(__vsub, u, x - y) MR_SIMD(__vsubss, s, mr_saturate_s<bits>(x - y)) MR_SIMD(__vsubus, u, mr_saturate_u<bits>(x - y))
/* Averages: rounded up, of signed numbers away from zero; __vhaddu rounds down. */
MR_SIMD(__vavgs, s, (x + y + (x + y >= 0)) >> 1) MR_SIMD(__vavgu, u, (x + y + 1) >> 1) MR_SIMD(__vhaddu, u, (x + y) >> 1)
MR_SIMD(__vabsdiffs, s, x > y ? x - y : y - x) MR_SIMD(__vabsdiffu, u, x > y ? x - y : y - x)
MR_SIMD(__vmaxs, s, x > y ? x : y) MR_SIMD(__vmaxu, u, x > y ? x : y) MR_SIMD(__vmins, s, x < y ? x : y) MR_SIMD(__vminu, u, x < y ? x : y)
/* Comparisons: all ones, or a one. */
#define MR_SIMD_COMPARE(name, kind, operation) MR_SIMD(__vcmp##name, kind, x operation y ? -1 : 0) MR_SIMD(__vset##name, kind, x operation y)
MR_SIMD_COMPARE(eq, u, ==) MR_SIMD_COMPARE(ne, u, !=)
MR_SIMD_COMPARE(ges, s, >=) MR_SIMD_COMPARE(geu, u, >=) MR_SIMD_COMPARE(gts, s, >) MR_SIMD_COMPARE(gtu, u, >)
MR_SIMD_COMPARE(les, s, <=) MR_SIMD_COMPARE(leu, u, <=) MR_SIMD_COMPARE(lts, s, <) MR_SIMD_COMPARE(ltu, u, <)
#undef MR_SIMD_COMPARE
MR_SIMD_SUM_OF(__vsads, 2, s) MR_SIMD_SUM_OF(__vsads, 4, s) MR_SIMD_SUM_OF(__vsadu, 2, u) MR_SIMD_SUM_OF(__vsadu, 4, u)
#undef MR_SIMD1
#undef MR_SIMD
#undef MR_SIMD_SUM_OF
#undef MR_SIMD1_OF
#undef MR_SIMD_OF

/* Extremes of two, three, and of a sum and a number; with relu at least 0. A sum wraps. These are on both sides. */
template <class T> MR_BOTH T mr_most(T x, T y) { return x > y ? x : y; }
template <class T> MR_BOTH T mr_least(T x, T y) { return x < y ? x : y; }
#define MR_HALVES(name, kind, half, expression)                                                          \
    MR_BOTH unsigned int name(unsigned int a, unsigned int b, unsigned int c)                          \
    {                                                                                                    \
        unsigned int result = 0;                                                                         \
        for (int i = 0; i < 2; i++) {                                                                    \
            half x = (half)mr_part_##kind<16>(a, i), y = (half)mr_part_##kind<16>(b, i), z = (half)mr_part_##kind<16>(c, i); \
            result |= mr_put_part<16>(expression, i);                                                    \
        }                                                                                                \
        return result;                                                                                   \
    }
#define MR_WHOLE(name, type, expression) MR_BOTH type name(type x, type y, type z) { return expression; }
#define MR_EXTREMES(name, pick)                                                                                            \
    MR_BOTH int __vi##name##_s32_relu(int x, int y) { return mr_most(pick(x, y), 0); }                                   \
    MR_WHOLE(__vi##name##3_s32, int, pick(pick(x, y), z)) MR_WHOLE(__vi##name##3_u32, unsigned int, pick(pick(x, y), z))   \
    MR_WHOLE(__vi##name##3_s32_relu, int, mr_most(pick(pick(x, y), z), 0))                                                 \
    MR_WHOLE(__viadd##name##_s32, int, pick((int)((unsigned int)x + (unsigned int)y), z))                                  \
    MR_WHOLE(__viadd##name##_s32_relu, int, mr_most(pick((int)((unsigned int)x + (unsigned int)y), z), 0))                 \
    MR_WHOLE(__viadd##name##_u32, unsigned int, pick(x + y, z))                                                            \
    MR_HALVES(__vi##name##3_s16x2, s, short, pick(pick(x, y), z))                                                          \
    MR_HALVES(__vi##name##3_u16x2, u, unsigned short, pick(pick(x, y), z))                                                 \
    MR_HALVES(__vi##name##3_s16x2_relu, s, short, mr_most<short>(pick(pick(x, y), z), 0))                                  \
    MR_HALVES(__viadd##name##_s16x2, s, short, pick((short)(x + y), z))                                                    \
    MR_HALVES(__viadd##name##_s16x2_relu, s, short, mr_most<short>(pick((short)(x + y), z), 0))                            \
    MR_HALVES(__viadd##name##_u16x2, u, unsigned short, pick((unsigned short)(x + y), z))                                  \
    MR_BOTH unsigned int __vi##name##_s16x2_relu(unsigned int a, unsigned int b) { return __vi##name##3_s16x2_relu(a, b, b); }
MR_EXTREMES(max, mr_most)
MR_EXTREMES(min, mr_least)
#undef MR_EXTREMES
#undef MR_WHOLE
#undef MR_HALVES
/* Extremes of two that say whether the first was taken: of halves the high one and the low one. */
#define MR_WITH_SIDE(name, pick, operation)                                                                                \
    MR_BOTH int __vib##name##_s32(int x, int y, bool *first) { *first = x operation y; return pick(x, y); }              \
    MR_BOTH unsigned int __vib##name##_u32(unsigned int x, unsigned int y, bool *first) { *first = x operation y; return pick(x, y); } \
    MR_BOTH unsigned int __vib##name##_s16x2(unsigned int a, unsigned int b, bool *high, bool *low)                      \
    {                                                                                                                      \
        *high = mr_part_s<16>(a, 1) operation mr_part_s<16>(b, 1);                                                         \
        *low = mr_part_s<16>(a, 0) operation mr_part_s<16>(b, 0);                                                          \
        return __vi##name##3_s16x2(a, b, b);                                                                                        \
    }                                                                                                                      \
    MR_BOTH unsigned int __vib##name##_u16x2(unsigned int a, unsigned int b, bool *high, bool *low)                      \
    {                                                                                                                      \
        *high = mr_part_u<16>(a, 1) operation mr_part_u<16>(b, 1);                                                         \
        *low = mr_part_u<16>(a, 0) operation mr_part_u<16>(b, 0);                                                          \
        return __vi##name##3_u16x2(a, b, b);                                                                                        \
    }
MR_WITH_SIDE(max, mr_most, >=)
MR_WITH_SIDE(min, mr_least, <=)
#undef MR_WITH_SIDE

/* Sums of products of the parts, and a number. */
MR_DEVICE int __dp4a(int a, int b, int c)
{
    for (int i = 0; i < 4; i++)
        c = (int)((unsigned int)c + (unsigned int)(mr_part_s<8>((unsigned int)a, i) * mr_part_s<8>((unsigned int)b, i)));
    return c;
}
MR_DEVICE unsigned int __dp4a(unsigned int a, unsigned int b, unsigned int c)
{
    for (int i = 0; i < 4; i++)
        c += (unsigned int)(mr_part_u<8>(a, i) * mr_part_u<8>(b, i));
    return c;
}
MR_DEVICE int __dp4a(char4 a, char4 b, int c) { return __dp4a(__builtin_bit_cast(int, a), __builtin_bit_cast(int, b), c); }
MR_DEVICE unsigned int __dp4a(uchar4 a, uchar4 b, unsigned int c)
{
    return __dp4a(__builtin_bit_cast(unsigned int, a), __builtin_bit_cast(unsigned int, b), c);
}
#define MR_DP2A(name, from)                                                                                                \
    MR_DEVICE int name(int a, int b, int c)                                                                                \
    {                                                                                                                      \
        for (int i = 0; i < 2; i++)                                                                                        \
            c = (int)((unsigned int)c + (unsigned int)(mr_part_s<16>((unsigned int)a, i) * mr_part_s<8>((unsigned int)b, i + from))); \
        return c;                                                                                                          \
    }                                                                                                                      \
    MR_DEVICE unsigned int name(unsigned int a, unsigned int b, unsigned int c)                                            \
    {                                                                                                                      \
        for (int i = 0; i < 2; i++)                                                                                        \
            c += (unsigned int)(mr_part_u<16>(a, i) * mr_part_u<8>(b, i + from));                                          \
        return c;                                                                                                          \
    }                                                                                                                      \
    MR_DEVICE int name(short2 a, char4 b, int c) { return name(__builtin_bit_cast(int, a), __builtin_bit_cast(int, b), c); } \
    MR_DEVICE unsigned int name(ushort2 a, uchar4 b, unsigned int c)                                                       \
    {                                                                                                                      \
        return name(__builtin_bit_cast(unsigned int, a), __builtin_bit_cast(unsigned int, b), c);                          \
    }
MR_DP2A(__dp2a_lo, 0)
MR_DP2A(__dp2a_hi, 2)
#undef MR_DP2A

#endif
