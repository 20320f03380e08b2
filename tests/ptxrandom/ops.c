/* SPDX-License-Identifier: Apache-2.0 */

/* What the instructions of ops.def calculate, as functions. Compiled so that C keeps to the rounding that is set and
 * fuses nothing. */
#include <fenv.h>
#include <math.h>
#include <string.h>

#include "program.h"

typedef unsigned __int128 u128;

enum { INT, LONG, HALF, FLOAT, DOUBLE, PREDICATE };

#define S(x) ((int32_t)(u32)(x))
#define F(x) as_float((u32)(x))
#define G(x) as_double(x)
#define W(x) float_bits(x)
#define L(x) double_bits(x)
#define Z(x) flushed((u32)(x))
#define ROUNDED(mode, value) rounded_##mode(A, B)
#define ROUNDED_DOUBLE(mode, value) double_minus_toward_zero(A, B)

static float as_float(u32 bits)
{
    float f;
    memcpy(&f, &bits, 4);
    return f;
}
static double as_double(u64 bits)
{
    double d;
    memcpy(&d, &bits, 8);
    return d;
}

static u64 float_bits(float f)
{
    u32 bits;
    memcpy(&bits, &f, 4);
    return f != f ? 0x7fffffff : bits;
}

static u64 double_bits(double d)
{
    u64 bits;
    memcpy(&bits, &d, 8);
    return d != d ? UINT64_C(0x3ff0000000000000) : bits;
}

static u32 flushed(u32 bits)
{
    return bits & 0x7f800000 || (bits & 0x7fffffff) == 0 ? bits : bits & 0x80000000;
}

/* A calculation under another rounding; volatile, so that it stays where it is. */
#define DIRECTED(name, type, read, write, mode, expression) \
    static u64 name(u64 a, u64 b) \
    { \
        volatile type v[2] = {read(a), read(b)}, r; \
        fesetround(mode); \
        r = expression; \
        fesetround(FE_TONEAREST); \
        return write(r); \
    }
DIRECTED(rounded_FE_TOWARDZERO, float, F, W, FE_TOWARDZERO, v[0] + v[1])
DIRECTED(rounded_FE_UPWARD, float, F, W, FE_UPWARD, v[0] * v[1])
DIRECTED(rounded_FE_DOWNWARD, float, F, W, FE_DOWNWARD, v[0] - v[1])
DIRECTED(double_minus_toward_zero, double, G, L, FE_TOWARDZERO, v[0] - v[1])

static u64 truncated(u64 a)
{
    volatile u64 v = a;
    volatile float r;
    fesetround(FE_TOWARDZERO);
    r = (float)v;
    fesetround(FE_TONEAREST);
    return W(r);
}

static u64 saturated(float f)
{
    return f != f ? 0 : W(f <= 0 ? 0.0f : f > 1 ? 1.0f : f);
}

static u32 lesser(u64 a, u64 b)
{
    float x = F(a), y = F(b);
    if (x != x)
        return (u32)W(y);
    if (y != y)
        return (u32)W(x);
    if (x == 0 && y == 0)
        return (u32)(a | b) & 0x80000000;
    return (u32)(x < y ? a : b);
}

static u32 to_integer(float f, double low, double high)
{
    if (f != f)
        return 0;
    double d = f < low ? low : f > high ? high : (double)f;
    return (u32)(s64)d;
}

static u32 clamped(s64 x)
{
    return (u32)(x < INT32_MIN ? INT32_MIN : x > INT32_MAX ? INT32_MAX : x);
}

static u32 reversed(u32 x)
{
    u32 r = 0;
    for (u32 i = 0; i < 32; i++)
        r |= (x >> i & 1) << (31 - i);
    return r;
}

static u32 field_u(u32 x, u32 at, u32 length)
{
    u64 wide = at > 31 ? 0 : x >> at;
    return (u32)(length > 31 ? wide : wide & ((1u << length) - 1));
}

static u32 field_s(u32 x, u32 at, u32 length)
{
    if (length == 0)
        return 0;
    u32 top = at + length - 1 > 31 ? 31 : at + length - 1, sign = x >> top & 1, r = 0;
    for (u32 i = 0; i < 32; i++)
        r |= (i < length && at + i <= 31 ? x >> (at + i) & 1 : sign) << i;
    return r;
}

static u32 inserted(u32 from, u32 into, u32 at, u32 length)
{
    for (u32 i = 0; i < length && at + i < 32; i++)
        into = (into & ~(1u << (at + i))) | (from >> i & 1) << (at + i);
    return into;
}

static u32 permuted(u32 a, u32 b, u32 c)
{
    u64 both = (u64)b << 32 | a;
    u32 r = 0;
    for (u32 i = 0; i < 4; i++) {
        u32 choice = c >> (4 * i) & 15, byte = both >> (8 * (choice & 7)) & 255;
        if (choice & 8)
            byte = byte & 128 ? 255 : 0;
        r |= byte << (8 * i);
    }
    return r;
}

static u32 looked_up(u32 a, u32 b, u32 c, u32 table)
{
    u32 r = 0;
    for (u32 i = 0; i < 32; i++)
        r |= (table >> ((a >> i & 1) << 2 | (b >> i & 1) << 1 | (c >> i & 1)) & 1) << i;
    return r;
}

static u32 dot_su(u32 a, u32 b, u32 c)
{
    for (u32 i = 0; i < 4; i++)
        c += (u32)((int8_t)(a >> (8 * i)) * (int)(b >> (8 * i) & 255));
    return c;
}

static u32 mask_of(u32 at, u32 length)
{
    u32 r = 0;
    for (u32 i = 0; i < 32; i++)
        r |= (u32)(i >= at && i - at < length) << i;
    return r;
}

static u32 video(u32 a, u32 b, u32 c)
{
    int32_t sum = (int32_t)(a >> 8 & 255) + (int16_t)b, third = (int32_t)c;
    return (u32)(sum > third ? sum : third);
}

static _Float16 half(u64 bits)
{
    uint16_t low = (uint16_t)bits;
    _Float16 h;
    memcpy(&h, &low, 2);
    return h;
}

static u32 to_half(__float128 x)
{
    _Float16 h = (_Float16)x;
    uint16_t bits;
    memcpy(&bits, &h, 2);
    return x != x ? 0x7fff : bits;
}

static u32 half_pair(u32 a, u32 b)
{
    u32 low = to_half((__float128)half(a) + (__float128)half(b));
    return low | to_half((__float128)half(a >> 16) + (__float128)half(b >> 16)) << 16;
}

#define OP_NAME2(line) op_##line
#define OP_NAME(line) OP_NAME2(line)
#define OP(group, result, sources, text, value) \
    static u64 OP_NAME(__LINE__)(u64 A, u64 B, u64 C, u32 I, const struct thread *t) \
    { \
        (void)A; \
        (void)B; \
        (void)C; \
        (void)I; \
        (void)t; \
        return (u64)(value); \
    }
#include "ops.def"

const struct op ops[] = {
#define OP(group, result, sources, text, value) {group, #result[0], sources, text, OP_NAME(__LINE__)},
#include "ops.def"
};
const unsigned op_count = sizeof ops / sizeof *ops;
