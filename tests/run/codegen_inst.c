/* SPDX-License-Identifier: Apache-2.0 */

/*
 * One instruction at a time over awkward operands, against C. Each case runs in
 * two forms: a lane per triple of operands (vectors) and a block per triple, with
 * operands that are the same for all lanes (scalars).
 *
 * A case names its result by a letter: w 32 bits, l 64 bits, h 16 bits, f f32,
 * d f64, p predicate. In the text, registers are %wa %wb %wc (32 bits), %la %lb %lc,
 * %ha.. (16), %fa.. (f32), %da.. (f64), %pa.. (bit 0), and the result %X with that letter.
 * Floats are equal if their bits are, or if both are NaN.
 */
#include <fenv.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "codegen_rig.h"

typedef uint32_t u32;
typedef int32_t s32;
typedef uint64_t u64;
typedef int64_t s64;
typedef __int128 s128;

static float fl(u64 x)
{
    u32 w = (u32)x;
    float f;
    memcpy(&f, &w, 4);
    return f;
}
static double db(u64 x)
{
    double d;
    memcpy(&d, &x, 8);
    return d;
}
static u64 fb(float f)
{
    u32 w;
    memcpy(&w, &f, 4);
    return w;
}
static u64 dbits(double d)
{
    u64 l;
    memcpy(&l, &d, 8);
    return l;
}

/* A half from a double that is exactly between its neighbours or not: by search, slow and plain. */
static double half_value(u32 h)
{
    int exponent = h >> 10 & 31;
    double m = exponent ? 1024.0 + (h & 1023) : (h & 1023);
    double v = exponent == 31 ? (h & 1023 ? NAN : INFINITY) : ldexp(m, (exponent ? exponent : 1) - 25);
    return h & 0x8000 ? -v : v;
}

/* A double's NaN keeps its sign and its first digits. */
static u32 half_nan(u64 x)
{
    return (u32)(x >> 48 & 0x8000) | 0x7e00 | (u32)(x >> 42 & 0x3ff);
}
static u32 half_bits(double v)
{
    if (v != v)
        return 0x7fff;
    u32 sign = signbit(v) ? 0x8000 : 0;
    double size = fabs(v);
    if (size >= 65520.0)
        return sign | 0x7c00;
    u32 low = 0, high = 0x7c00;
    while (high - low > 1) {
        u32 middle = (low + high) / 2;
        if (half_value(middle) <= size)
            low = middle;
        else
            high = middle;
    }
    double below = half_value(low), above = low == 0x7bff ? 65536.0 : half_value(low + 1);
    if (size - below > above - size || (size - below == above - size && (low & 1)))
        low++;
    return sign | low;
}

/* A half or bfloat (the upper 16 bits of a float) rounded in a direction: the neighbours of a number, by search. */
static u32 bits_toward(int mode, bool bfloat, long double v)
{
    u32 sign = signbit(v) ? 0x8000 : 0, low = 0, high = bfloat ? 0x7f80 : 0x7c00;
    long double size = fabsl(v);
    if (v != v)
        return 0x7fff;
    if (isinf(v))
        return sign | high;
    while (high - low > 1) {
        u32 middle = (low + high) / 2;
        if ((bfloat ? (long double)fl((u64)middle << 16) : (long double)half_value(middle)) <= size)
            low = middle;
        else
            high = middle;
    }
    bool exact = (bfloat ? (long double)fl((u64)low << 16) : (long double)half_value(low)) == size;
    bool away = mode == FE_TOWARDZERO ? false : (mode == FE_UPWARD) == !sign;
    return sign | (low + (away && !exact));
}

static u32 nearest_bfloat(float f)
{
    u32 w;
    memcpy(&w, &f, 4);
    return (w + 0x7fff + (w >> 16 & 1)) >> 16;
}

static float flush(float f)
{
    return fabsf(f) < 0x1p-126f ? copysignf(0, f) : f;
}

static float in_direction(int mode, char op, float a, float b, float c)
{
    volatile float x = a, y = b, z = c, r;
    fesetround(mode);
    switch (op) {
    case '+':
        r = x + y;
        break;
    case '-':
        r = x - y;
        break;
    case '*':
        r = x * y;
        break;
    case '/':
        r = x / y;
        break;
    case 's':
        r = sqrtf(x);
        break;
    default:
        r = fmaf(x, y, z);
        break;
    }
    fesetround(FE_TONEAREST);
    return r;
}

static double in_direction_d(int mode, char op, double a, double b, double c)
{
    volatile double x = a, y = b, z = c, r;
    fesetround(mode);
    switch (op) {
    case '+':
        r = x + y;
        break;
    case '*':
        r = x * y;
        break;
    case '/':
        r = x / y;
        break;
    case 's':
        r = sqrt(x);
        break;
    default:
        r = fma(x, y, z);
        break;
    }
    fesetround(FE_TONEAREST);
    return r;
}

static float narrowed(int mode, double a)
{
    volatile double x = a;
    volatile float r;
    fesetround(mode);
    r = (float)x;
    fesetround(FE_TONEAREST);
    return r;
}

static s64 clamp(double v, double low, double high, s64 least, s64 most, s64 nan)
{
    return v != v ? nan : v < low ? least : v > high ? most : (s64)v;
}

static u32 bfe_u(u32 a, u32 pos, u32 len)
{
    pos &= 255;
    len &= 255;
    u64 v = pos > 31 ? 0 : a >> pos;
    return (u32)(len > 31 ? v : v & ((1ull << len) - 1));
}

static s32 bfe_s(s32 a, u32 pos, u32 len)
{
    pos &= 255;
    len &= 255;
    if (!len)
        return 0;
    u32 last = pos + len - 1 > 31 ? 31 : pos + len - 1, sign = (u32)a >> last & 1, r = 0;
    for (u32 i = 0; i < 32; i++)
        r |= (i < len && pos + i < 32 ? (u32)a >> (pos + i) & 1 : sign) << i;
    return (s32)r;
}

static u32 bfi(u32 a, u32 b, u32 pos, u32 len)
{
    pos &= 255;
    len &= 255;
    for (u32 i = 0; i < len && pos + i < 32; i++)
        b = (b & ~(1u << (pos + i))) | (a >> i & 1) << (pos + i);
    return b;
}

static u32 prmt(u32 a, u32 b, u32 c)
{
    u64 both = (u64)b << 32 | a;
    u32 r = 0;
    for (u32 i = 0; i < 4; i++) {
        u32 s = c >> 4 * i & 15, byte = both >> 8 * (s & 7) & 255;
        r |= (s & 8 ? (byte & 128 ? 255u : 0u) : byte) << 8 * i;
    }
    return r;
}

static u32 fminmax(u64 a, u64 b, int maximum)
{
    float x = fl(a), y = fl(b);
    if (x != x)
        return y != y ? 0x7fffffff : (u32)b;
    if (y != y)
        return (u32)a;
    if (x == y)
        return maximum ? (u32)a & (u32)b : (u32)a | (u32)b;
    return (maximum ? x > y : x < y) ? (u32)a : (u32)b;
}

#define A ((u32)a)
#define B ((u32)b)
#define C ((u32)c)
#define SA ((s32)A)
#define SB ((s32)B)
#define SC ((s32)C)

/* X(number, letter of the result, text, expected bits) */
#define CASES(X) \
    X(0, w, "add.sat.s32 %w, %wa, %wb;", \
      (u64)(u32)((s64)SA + SB > INT32_MAX   ? INT32_MAX \
                 : (s64)SA + SB < INT32_MIN ? INT32_MIN \
                                            : SA + (s64)SB)) \
    X(1, w, "mul.hi.s32 %w, %wa, %wb;", (u32)((u64)((s64)SA * SB) >> 32)) \
    X(2, l, "mul.hi.u64 %l, %la, %lb;", (u64)((unsigned __int128)a * b >> 64)) \
    X(3, l, "mad.wide.s32 %l, %wa, %wb, %lc;", (u64)((s64)SA * SB) + c) \
    X(4, w, "div.s32 %w, %wa, %wb;", SB == 0 ? UINT32_MAX : (u32)((s64)SA / SB)) \
    X(5, w, "rem.u32 %w, %wa, %wb;", B == 0 ? UINT32_MAX : A % B) \
    X(6, w, "div.u32 %w, %wa, %wb;", B == 0 ? UINT32_MAX : A / B) \
    X(7, l, "div.s64 %l, %la, %lb;", b == 0 ? UINT64_MAX : b == UINT64_MAX ? 0 - a : (u64)((s64)a / (s64)b)) \
    X(8, l, "rem.s64 %l, %la, %lb;", b == 0 ? UINT64_MAX : b == UINT64_MAX ? 0 : (u64)((s64)a % (s64)b)) \
    X(9, w, "sad.s32 %w, %wa, %wb, %wc;", C + (u32)(SA < SB ? (u32)SB - (u32)SA : (u32)SA - (u32)SB)) \
    X(10, w, "mul24.lo.s32 %w, %wa, %wb;", (u32)((s64)((s32)(A << 8) >> 8) * ((s32)(B << 8) >> 8))) \
    X(11, w, "mul24.hi.u32 %w, %wa, %wb;", (u32)((u64)(A & 0xffffff) * (B & 0xffffff) >> 16)) \
    X(12, w, "bfe.u32 %w, %wa, %wb, %wc;", bfe_u(A, B, C)) \
    X(13, w, "bfe.s32 %w, %wa, %wb, %wc;", (u32)bfe_s(SA, B, C)) \
    X(14, w, "bfi.b32 %w, %wa, %wb, %wc, 9;", bfi(A, B, C, 9)) \
    X(15, w, "prmt.b32 %w, %wa, %wb, %wc;", prmt(A, B, C)) \
    X(16, w, "shf.l.clamp.b32 %w, %wa, %wb, %wc;", \
      (u32)((u64)B << 32 >> (32 - (C > 32 ? 32 : C)) >> 0 | 0) * 0 + \
          (u32)((((u64)B << 32 | A) << (C > 31 ? 31 : C) << (C > 31)) >> 32)) \
    X(17, w, "shf.r.wrap.b32 %w, %wa, %wb, %wc;", (u32)(((u64)B << 32 | A) >> (C & 31))) \
    X(18, w, "shl.b32 %w, %wa, %wb;", B > 31 ? 0 : A << B) \
    X(19, w, "shr.s32 %w, %wa, %wb;", (u32)(SA >> (B > 31 ? 31 : B))) \
    X(20, l, "shr.u64 %l, %la, %wb;", B > 63 ? 0 : a >> B) \
    X(21, w, "bfind.s32 %w, %wa;", (SA < 0 ? ~A : A) ? 31u - (u32)__builtin_clz(SA < 0 ? ~A : A) : UINT32_MAX) \
    X(22, w, "clz.b64 %w, %la;", a ? (u32)__builtin_clzll(a) : 64) \
    X(23, w, "lop3.b32 %w, %wa, %wb, %wc, 0x6a;", (A & B) ^ C) \
    X(24, w, "dp4a.s32.u32 %w, %wa, %wb, %wc;", \
      C + (u32)((s32)(signed char)A * (s32)(unsigned char)B + (signed char)(A >> 8) * (unsigned char)(B >> 8) + \
                (signed char)(A >> 16) * (unsigned char)(B >> 16) + \
                (signed char)(A >> 24) * (unsigned char)(B >> 24))) \
    X(25, l, "add.cc.u32 %w, %wa, %wb; addc.u32 %wa, %wc, 0; mov.b64 %l, {%w, %wa};", \
      (u64)(A + B) | (u64)(C + (u32)(((u64)A + B) >> 32)) << 32) \
    X(26, l, "sub.cc.u32 %w, %wa, %wb; subc.u32 %wa, %wc, %wb; mov.b64 %l, {%w, %wa};", \
      (u64)(A - B) | (u64)(C - B - (A < B)) << 32) \
    X(27, f, "add.rz.f32 %f, %fa, %fb;", fb(in_direction(FE_TOWARDZERO, '+', fl(a), fl(b), 0))) \
    X(28, f, "sub.rm.f32 %f, %fa, %fb;", fb(in_direction(FE_DOWNWARD, '-', fl(a), fl(b), 0))) \
    X(29, f, "mul.rp.f32 %f, %fa, %fb;", fb(in_direction(FE_UPWARD, '*', fl(a), fl(b), 0))) \
    X(30, f, "div.rz.f32 %f, %fa, %fb;", fb(in_direction(FE_TOWARDZERO, '/', fl(a), fl(b), 0))) \
    X(31, f, "fma.rm.f32 %f, %fa, %fb, %fc;", fb(in_direction(FE_DOWNWARD, 'f', fl(a), fl(b), fl(c)))) \
    X(32, f, "sqrt.rp.f32 %f, %fa;", fb(in_direction(FE_UPWARD, 's', fl(a), 0, 0))) \
    X(33, f, "fma.rn.f32 %f, %fa, %fb, %fc;", fb(fmaf(fl(a), fl(b), fl(c)))) \
    X(34, d, "fma.rz.f64 %d, %da, %db, %dc;", dbits(in_direction_d(FE_TOWARDZERO, 'f', db(a), db(b), db(c)))) \
    X(35, d, "div.rp.f64 %d, %da, %db;", dbits(in_direction_d(FE_UPWARD, '/', db(a), db(b), 0))) \
    X(36, f, "add.ftz.f32 %f, %fa, %fb;", fb(flush(flush(fl(a)) + flush(fl(b))))) \
    X(37, f, "mul.sat.f32 %f, %fa, %fb;", fb(fl(a) * fl(b) > 0 ? fl(a) * fl(b) > 1 ? 1.0f : fl(a) * fl(b) : 0.0f)) \
    X(38, f, "min.f32 %f, %fa, %fb;", fminmax(a, b, 0)) \
    X(39, f, "max.f32 %f, %fa, %fb;", fminmax(a, b, 1)) \
    X(40, f, "cvt.rz.f32.f64 %f, %da;", fb(narrowed(FE_TOWARDZERO, db(a)))) \
    X(41, w, "cvt.rni.s32.f32 %w, %fa;", \
      (u32)clamp(nearbyint((double)fl(a)), INT32_MIN, INT32_MAX, INT32_MIN, INT32_MAX, 0)) \
    X(42, w, "cvt.rzi.u32.f32 %w, %fa;", (u32)clamp(trunc((double)fl(a)), 0, UINT32_MAX, 0, UINT32_MAX, 0)) \
    X(43, l, "cvt.rmi.s64.f64 %l, %da;", \
      db(a) != db(a)    ? 1ull << 63 \
      : db(a) >= 0x1p63 ? INT64_MAX \
      : db(a) < -0x1p63 ? 1ull << 63 \
                        : (u64)(s64)floor(db(a))) \
    X(44, w, "cvt.sat.s8.s32 %w, %wa;", (u32)(SA > 127 ? 127 : SA < -128 ? -128 : SA)) \
    X(45, w, "cvt.s32.s8 %w, %wa;", (u32)(s32)(signed char)A) \
    X(46, f, "cvt.rn.f32.u64 %f, %la;", fb((float)a)) \
    X(47, f, "cvt.rp.f32.s32 %f, %wa;", \
      fb(in_direction(FE_UPWARD, '+', (float)(SA >> 16) * 65536.0f, (float)(A & 0xffff), 0))) \
    X(48, h, "cvt.rn.f16.f32 %h, %fa;", half_bits((double)fl(a))) \
    X(71, h, "cvt.rz.f16.f32 %h, %fa;", bits_toward(FE_TOWARDZERO, false, (long double)fl(a))) \
    X(72, h, "cvt.rm.f16.f32 %h, %fa;", bits_toward(FE_DOWNWARD, false, (long double)fl(a))) \
    X(73, h, "cvt.rp.f16.f64 %h, %da;", \
      db(a) != db(a) ? half_nan(a) : bits_toward(FE_UPWARD, false, (long double)db(a))) \
    X(74, h, "cvt.rz.f16.f64 %h, %da;", \
      db(a) != db(a) ? half_nan(a) : bits_toward(FE_TOWARDZERO, false, (long double)db(a))) \
    X(75, h, "cvt.rm.f16.s32 %h, %wa;", bits_toward(FE_DOWNWARD, false, (long double)SA)) \
    X(76, h, "cvt.rp.f16.u64 %h, %la;", bits_toward(FE_UPWARD, false, (long double)a)) \
    X(77, h, "cvt.rz.bf16.f32 %h, %fa;", bits_toward(FE_TOWARDZERO, true, (long double)fl(a))) \
    X(78, h, "cvt.rm.bf16.s64 %h, %la;", bits_toward(FE_DOWNWARD, true, (long double)(s64)a)) \
    X(79, h, "cvt.rp.bf16.u64 %h, %la;", bits_toward(FE_UPWARD, true, (long double)a)) \
    X(49, h, "cvt.rn.f16.f64 %h, %da;", db(a) != db(a) ? half_nan(a) : half_bits(db(a))) \
    X(50, f, "cvt.f32.f16 %f, %ha;", fb((float)half_value(A & 0xffff))) \
    X(51, h, "fma.rn.f16 %h, %ha, %hb, %hc;", \
      half_bits_sum(half_value(A & 0xffff) * half_value(B & 0xffff), half_value(C & 0xffff))) \
    X(52, h, "add.f16 %h, %ha, %hb;", half_bits(half_value(A & 0xffff) + half_value(B & 0xffff))) \
    X(53, p, "setp.ltu.f32 %p, %fa, %fb;", !(fl(a) >= fl(b))) \
    X(54, p, "setp.ne.f64 %p, %da, %db;", db(a) < db(b) || db(a) > db(b)) \
    X(55, p, "setp.hi.and.u32 %p, %wa, %wb, !%pc;", A > B && !(c & 1)) \
    X(56, w, "slct.u32.s32 %w, %wa, %wb, %wc;", SC >= 0 ? A : B) \
    X(57, p, "testp.subnormal.f32 %p, %fa;", fpclassify(fl(a)) == FP_SUBNORMAL) \
    X(58, f, "copysign.f32 %f, %fa, %fb;", fb(copysignf(fl(b), fl(a)))) \
    X(59, w, "brev.b32 %w, %wa;", reversed(A)) \
    X(60, w, "vadd: add.u32 %w, %wa, %wb;", A + B) \
    X(61, h, "cvt.rn.bf16.f32 %h, %fa;", fl(a) != fl(a) ? 0x7fff : (A + 0x7fff + (A >> 16 & 1)) >> 16) \
    X(62, d, "sqrt.rn.f64 %d, %da;", dbits(sqrt(db(a)))) \
    X(63, d, "rcp.rn.f64 %d, %da;", dbits(1.0 / db(a))) \
    X(64, f, "cvt.rni.f32.f32 %f, %fa;", fb(nearbyintf(fl(a)))) \
    X(65, w, "szext.wrap.s32 %w, %wa, %wb;", (B & 31) ? (u32)((s32)(A << (32 - (B & 31))) >> (32 - (B & 31))) : 0) \
    X(66, w, "mad.hi.u32 %w, %wa, %wb, %wc;", (u32)((u64)A * B >> 32) + C) \
    X(67, w, "neg.s32 %wa, %wa; abs.s32 %w, %wa;", (0 - A) >> 31 ? A : 0 - A) \
    X(68, w, "cvt.u16.s32 %ha, %wa; cvt.u32.u16 %w, %ha;", A & 0xffff) \
    X(70, w, "setp.lt.f16x2 %p|%pb, %wa, %wb; selp.u32 %wa, 1, 0, %p; selp.u32 %wb, 2, 0, %pb; or.b32 %w, %wa, %wb;", \
      (u64)((half_value(A & 0xffff) < half_value(B & 0xffff) ? 1 : 0) | \
            (half_value(A >> 16) < half_value(B >> 16) ? 2 : 0))) \
    X(171, w, "set.gt.u32.f16x2 %w, %wa, %wb;", \
      (u64)((half_value(A & 0xffff) > half_value(B & 0xffff) ? 0xffff : 0) | \
            (half_value(A >> 16) > half_value(B >> 16) ? 0xffff0000u : 0))) \
    X(172, l, \
      "P: createpolicy.fractional.L2::evict_first.b64 %l, 0.5; ld.global.L2::cache_hint.u32 %w, [%q], %l; createpolicy.range.global.L2::evict_last.b64 %l, [%q], 64, %wb; createpolicy.cvt.L2.b64 %l, %la; mov.b64 %l, {%w, %w};", \
      (u64)A << 32 | A) \
    X(173, f, "{ .reg .f32 t; mul.f32 t, %fa, %fb; sub.f32 %f, t, %fc; }", fb(fmaf(fl(a), fl(b), -fl(c)))) \
    X(174, d, "{ .reg .f64 t; mul.f64 t, %da, %db; add.f64 %d, %dc, t; }", dbits(fma(db(a), db(b), db(c)))) \
    X(175, f, "{ .reg .f32 t; mul.rn.f32 t, %fa, %fb; add.f32 %f, t, %fc; }", fb(fl(a) * fl(b) + fl(c))) \
    X(176, f, "{ .reg .f32 t, u; mul.f32 t, %fa, %fb; add.f32 u, t, %fc; add.f32 %f, u, t; }", \
      fb(fl(a) * fl(b) + fl(c) + fl(a) * fl(b))) \
    X(177, h, "{ .reg .b16 t; mul.f16 t, %ha, %hb; sub.f16 %h, %hc, t; }", \
      half_bits_sum(-half_value(A & 0xffff) * half_value(B & 0xffff), half_value(C & 0xffff))) \
    X(178, f, "{ .reg .f32 t; mul.f32 t, %fa, %fb; mov.f32 %fa, %fc; sub.f32 %f, %fa, t; }", \
      fb(fl(c) - fl(a) * fl(b))) \
    X(179, l, "bfi.b64 %l, %la, %lb, %wc, 21;", C > 63 ? b : (b & ~(0x1fffffull << C)) | (a & 0x1fffff) << C) \
    X(180, w, "neg.f32 %f, %fa; mov.b32 %w, %f;", fl(a) != fl(a) ? 0x7fffffff : A ^ 0x80000000) \
    X(181, w, "cvt.f32.f16 %f, %ha; mov.b32 %w, %f;", \
      (A & 0x7fff) > 0x7c00 ? 0x7fffffff : (u32)fb((float)half_value(A & 0xffff))) \
    X(182, h, "neg.f16 %h, %ha;", (A & 0x7fff) > 0x7c00 ? 0x7fff : (A & 0xffff) ^ 0x8000) \
    X(183, f, "mul.f32 %fb, %fa, 0f3F000000; fma.rn.f32 %f, %fa, 0f3F000000, %fb;", \
      fb(fmaf(fl(a), 0.5f, fl(a) * 0.5f))) \
    X(184, f, "mul.rn.f32 %fb, 0fC1000000, %fa; fma.rn.f32 %f, %fa, 0fC1000000, %fb;", \
      fb(fmaf(fl(a), -8.0f, fl(a) * -8.0f))) \
    X(185, f, "mul.f32 %fb, %fa, 0f3DCCCCCD; fma.rn.f32 %f, %fa, 0f3DCCCCCD, %fb;", \
      fb(fmaf(fl(a), 0.1f, fl(a) * 0.1f))) \
    X(186, d, "mul.f64 %db, %da, 0d3FD0000000000000; fma.rn.f64 %d, %da, 0d3FD0000000000000, %db;", \
      dbits(fma(db(a), 0.25, db(a) * 0.25))) \
    X(187, f, "mul.f32 %fb, %fa, 0f3F000000; mov.f32 %fa, %fc; fma.rn.f32 %f, %fa, 0f3F000000, %fb;", \
      fb(fmaf(fl(c), 0.5f, fl(a) * 0.5f))) \
    X(188, f, "mul.f32 %fb, %fa, 0f3F000000; fma.rz.f32 %f, %fa, 0f3F000000, %fb;", \
      fb(in_direction(FE_TOWARDZERO, 'f', fl(a), 0.5f, fl(a) * 0.5f))) \
    X(189, f, "mul.f32 %fb, %fa, 0f3F000000; mov.f32 %fb, %fc; fma.rn.f32 %f, %fa, 0f3F000000, %fb;", \
      fb(fmaf(fl(a), 0.5f, fl(c)))) \
    X(190, f, "cvt.rm.f32.u32 %f, %wa;", \
      fb(in_direction(FE_DOWNWARD, '+', (float)(A >> 16) * 65536.0f, (float)(A & 0xffff), 0))) \
    X(191, f, "cvt.rm.f32.u16 %f, %ha;", fb((float)(A & 0xffff))) \
    X(192, d, "cvt.rm.f64.u32 %d, %wa;", dbits((double)A)) \
    X(193, d, "cvt.rm.f64.u64 %d, %la;", \
      dbits(in_direction_d(FE_DOWNWARD, '+', (double)(a >> 32) * 0x1p32, (double)A, 0))) \
    X(194, d, "rcp.rz.ftz.f64 %d, %da;", dbits(in_direction_d(FE_TOWARDZERO, '/', 1, db(a), 0))) \
    X(195, h, "add.cc.u32 %w, %wa, %wb; addc.u16 %h, %ha, %hb;", (u64)((A + B + (u32)(((u64)A + B) >> 32)) & 0xffff)) \
    X(196, h, "sub.cc.u32 %w, %wa, %wb; subc.s16 %h, %ha, %hc;", (u64)((A - C - (A < B)) & 0xffff)) \
    X(197, h, "add.cc.u32 %w, %wa, %wb; madc.lo.s16 %h, %ha, %hb, %hc;", \
      (u64)((A * B + C + (u32)(((u64)A + B) >> 32)) & 0xffff)) \
    X(198, h, "add.cc.u32 %w, %wa, %wb; madc.lo.u16 %h, %hb, %hc, 7;", \
      (u64)((B * C + 7 + (u32)(((u64)A + B) >> 32)) & 0xffff)) \
    X(199, h, "cvt.f16.bf16 %h, %ha;", half_bits((double)fl((u64)(A & 0xffff) << 16))) \
    X(200, h, "cvt.bf16.f16 %h, %ha;", (A & 0x7fff) > 0x7c00 ? 0x7fff : nearest_bfloat((float)half_value(A & 0xffff))) \
    X(201, f, "cvt.rz.f32.bf16 %f, %ha;", (u64)(A & 0xffff) << 16) \
    X(202, f, "cvt.rp.ftz.f32.bf16 %f, %ha;", fb(flush(fl((u64)(A & 0xffff) << 16)))) \
    X(203, d, "cvt.rm.f64.bf16 %d, %ha;", dbits((double)fl((u64)(A & 0xffff) << 16))) \
    X(204, w, "fma.rz.relu.bf16x2 %w, %wa, %wb, %wc; fma.rn.relu.bf16x2 %wa, %wa, %wb, %wc; xor.b32 %w, %w, %wa;", 0) \
    X(205, w, "vmad.u32.s32.s32.po %w, -%wa, -%wb, %wc;", A *B + C + 1) \
    X(206, l, "cvt.u64.u32 %l, %globaltimer; shr.u64 %l, %l, 32;", 0) \
    X(207, h, "{ .reg .u64 g; mov.u64 g, %gridid; cvt.u16.u64 %ha, g; mov.u16 %h, %gridid; xor.b16 %h, %h, %ha; }", 0) \
    X(208, h, "abs.f16 %h, %ha;", (A & 0x7fff) > 0x7c00 ? 0x7fff : A & 0x7fff) \
    X(209, h, "abs.bf16 %h, %ha;", (A & 0x7fff) > 0x7f80 ? 0x7fff : A & 0x7fff) \
    X(210, h, "add.cc.u32 %w, %wa, %wb; madc.hi.u16 %h, %ha, %hb, %hc;", \
      (u64)((C + (u32)(((u64)A + B) >> 32)) & 0xffff)) \
    X(211, h, "add.cc.u32 %w, %wa, %wb; madc.hi.s16 %h, %ha, %hb, %hc;", \
      (u64)((C + (u32)(((u64)A + B) >> 32) - ((int)(int16_t)A * (int16_t)B < 0)) & 0xffff)) \
    X(212, h, "fma.rz.relu.bf16 %h, %ha, %hb, %hc;", \
      half_bits_sum(half_value(A & 0xffff) * half_value(B & 0xffff), half_value(C & 0xffff))) \
    X(213, w, \
      "{ .reg .b64 t; mov.u64 t, gone+4; cvt.u32.u64 %wa, t; mov.u32 %wb, gone+4; sub.u32 %wa, %wa, %wb; mov.b16 %ha, gone+4; cvt.u32.u16 %wc, %ha; and.b32 %wb, %wb, 0xffff; sub.u32 %wb, %wb, %wc; or.b32 %w, %wa, %wb; }", \
      0) \
    X(69, w, "add.s16x2 %w, %wa, %wb;", ((A + B) & 0xffff) | (((A >> 16) + (B >> 16)) << 16))

static u32 reversed(u32 x)
{
    u32 r = 0;
    for (u32 i = 0; i < 32; i++)
        r |= (x >> i & 1) << (31 - i);
    return r;
}

/* A product of halves (exact in a double) plus a half, rounded once: in extended precision, which is wide enough. */
static u32 half_bits_sum(double product, double c)
{
    long double exact = (long double)product + (long double)c;
    double near = (double)exact;
    if ((long double)near != exact && isfinite(near)) {
        /* To odd, so that the second rounding sees which side it came from. */
        u64 bits = dbits(near);
        if (fabsl((long double)near) > fabsl(exact))
            bits--;
        near = db(bits | 1);
    }
    return half_bits(near);
}

#define INPUTS 256u
static struct {
    u64 a, b, c;
} input[INPUTS];
static u64 output[INPUTS];

static void fill(void)
{
    static const u64 special[] = {0,
                                  1,
                                  2,
                                  31,
                                  32,
                                  33,
                                  0x7fffffff,
                                  0x80000000,
                                  0xffffffff,
                                  0x3f800000,
                                  0xbf800000,
                                  0x7f800000,
                                  0xff800000,
                                  0x7fc00000,
                                  0x00000001,
                                  0x807fffff,
                                  0x00800000,
                                  0x4b000001,
                                  0x3f000000,
                                  0x40200000,
                                  0xffffffffffffffff,
                                  0x8000000000000000,
                                  0x3ff0000000000000,
                                  0x7ff0000000000000,
                                  0x7ff8000000000001,
                                  0x0000000000000001,
                                  0xc1e0000000000000,
                                  0x43e0000000000000,
                                  0x36a0000000000000,
                                  0x3e70000000000000,
                                  0x40effe0000000000,
                                  0x477fffff};
    u64 state = 88172645463325252ull;
    unsigned count = sizeof special / sizeof *special;
    for (unsigned i = 0; i < INPUTS; i++)
        for (unsigned k = 0; k < 3; k++) {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            u64 value = (state >> 20) % 3 ? special[(state >> 30) % count] : state;
            if ((state >> 24) % 5 == 0) /* floats of ordinary size */
                value = 0x3f000000u + (u32)(state >> 33) % 0x02000000u + ((state & 1) << 31) +
                        ((u64)(0x3fe00000u + (u32)(state >> 40) % 0x400000u) << 32);
            if ((state >> 27) % 7 == 0)
                value &= 63;
            *(&input[i].a + k) = value;
        }
}

static const char head[] = ".version 8.8\n.target sm_90\n.address_size 64\n.global .align 4 .u32 gone[4];\n";

static char *program(char letter, const char *text)
{
    char *all = NULL;
    size_t size;
    FILE *file = open_memstream(&all, &size);
    fputs(head, file);
    for (int scalar = 0; scalar < 2; scalar++) {
        fprintf(
            file,
            ".visible .entry %s(.param .u64 in, .param .u64 out)\n{\n.reg .b32 %%i, %%w, %%wa, %%wb, %%wc; .reg .b64 %%p0, %%p1, %%q, %%o, %%o2, "
            "%%l, %%la, %%lb, %%lc, %%res; .reg .b16 %%h, %%ha, %%hb, %%hc; .reg .f32 %%f, %%fa, %%fb, %%fc; .reg .f64 %%d, %%da, %%db, %%dc; "
            ".reg .pred %%p, %%pa, %%pb, %%pc;\n",
            scalar ? "scalar" : "vector");
        fprintf(
            file,
            "ld.param.u64 %%p0, [in]; ld.param.u64 %%p1, [out]; mov.u32 %%i, %%%s.x; mul.wide.u32 %%o, %%i, 24; mul.wide.u32 %%o2, %%i, 8;\n"
            "add.u64 %%q, %%p0, %%o; add.u64 %%res, %%p1, %%o2;\n",
            scalar ? "ctaid" : "tid");
        for (int k = 0; k < 3; k++) {
            char n = (char)('a' + k);
            fprintf(
                file,
                "ld.global.u64 %%l%c, [%%q+%d]; cvt.u32.u64 %%w%c, %%l%c; cvt.u16.u32 %%h%c, %%w%c; mov.b32 %%f%c, %%w%c; mov.b64 %%d%c, %%l%c;\n"
                "and.b32 %%w, %%w%c, 1; setp.ne.u32 %%p%c, %%w, 0;\n",
                n, 8 * k, n, n, n, n, n, n, n, n, n, n);
        }
        fprintf(file, "%s\n", text);
        switch (letter) {
        case 'w':
            fputs("cvt.u64.u32 %l, %w;", file);
            break;
        case 'h':
            fputs("cvt.u64.u16 %l, %h;", file);
            break;
        case 'f':
            fputs("mov.b32 %w, %f; cvt.u64.u32 %l, %w;", file);
            break;
        case 'd':
            fputs("mov.b64 %l, %d;", file);
            break;
        case 'p':
            fputs("selp.u64 %l, 1, 0, %p;", file);
            break;
        default:
            break;
        }
        fputs("\nst.global.u64 [%res], %l; ret;\n}\n", file);
    }
    fclose(file);
    return all;
}

static bool same(char letter, u64 x, u64 y)
{
    if (letter == 'f' && fl(x) != fl(x))
        return fl(y) != fl(y);
    if (letter == 'd' && db(x) != db(x))
        return db(y) != db(y);
    if (letter == 'h' && ((x & 0x7fff) > 0x7c00 || x == 0x7fff))
        return (y & 0x7fff) > 0x7c00;
    return x == y;
}

static void run_case(char letter, const char *text, u64 (*expected)(u64, u64, u64))
{
    if (strchr(text, ':')) /* a label before an instruction is fine as well */
        text = strchr(text, ':') + 2;
    char *source = program(letter, text);
    struct rig *rig = rig_open(source);
    struct {
        void *in, *out;
    } params = {input, output};
    for (rig_variant = 0; rig_variant < RIG_VARIANTS; rig_variant += rig_variant == 2 ? 2 : 1)
        for (int scalar = 0; scalar < 2; scalar++) {
            memset(output, 0xcc, sizeof output);
            rig_run(rig, scalar ? "scalar" : "vector", scalar ? INPUTS : 1, scalar ? 1 : INPUTS, &params,
                    sizeof params);
            for (unsigned i = 0; i < INPUTS; i++) {
                u64 want = expected(input[i].a, input[i].b, input[i].c);
                if (!same(letter, want, output[i]))
                    fail_msg("%s %s, variant %u: (%#llx, %#llx, %#llx) gives %#llx, expected %#llx",
                             scalar ? "scalar" : "vector", text, rig_variant, (unsigned long long)input[i].a,
                             (unsigned long long)input[i].b, (unsigned long long)input[i].c,
                             (unsigned long long)output[i], (unsigned long long)want);
            }
        }
    rig_close(rig);
    free(source);
}

#define X(number, letter, text, value) \
    static u64 expected_##number(u64 a, u64 b, u64 c) \
    { \
        (void)a; \
        (void)b; \
        (void)c; \
        return (u64)(value); \
    } \
    static void test_##number(void **unused) \
    { \
        (void)unused; \
        run_case(#letter[0], text, expected_##number); \
    }
CASES(X)
#undef X

/* Errors that the PTX manual allows, over the range that matters. */
static void approximations(void **unused)
{
    (void)unused;
    static const struct {
        const char *text;
        double (*exact)(double);
        float low, high;
        double bound;
        bool relative;
    } cases[] = {{"sin.approx.f32 %f, %fa;", sin, -3.14159f, 3.14159f, 0x1p-20, false},
                 {"cos.approx.f32 %f, %fa;", cos, -3.14159f, 3.14159f, 0x1p-20, false},
                 {"ex2.approx.f32 %f, %fa;", exp2, -120, 120, 0x1p-22, true},
                 {"lg2.approx.f32 %f, %fa;", log2, 0.5f, 2, 0x1p-22, false},
                 {"lg2.approx.f32 %f, %fa;", log2, 2, 1e30f, 0x1p-22, true},
                 {"tanh.approx.f32 %f, %fa;", tanh, -9, 9, 0x1p-10, true}};
    static struct {
        u64 a, b, c;
    } points[1024];
    static u64 results[1024];
    for (unsigned k = 0; k < sizeof cases / sizeof *cases; k++) {
        char *source = program('f', cases[k].text);
        struct rig *rig = rig_open(source);
        for (unsigned i = 0; i < 1024; i++)
            points[i].a = fb(cases[k].low + (cases[k].high - cases[k].low) * (float)i / 1023.0f);
        struct {
            void *in, *out;
        } params = {points, results};
        rig_variant = 0;
        rig_run(rig, "vector", 1, 1024, &params, sizeof params);
        for (unsigned i = 0; i < 1024; i++) {
            double want = cases[k].exact((double)fl(points[i].a)), error = fabs((double)fl(results[i]) - want);
            if (cases[k].relative && want != 0)
                error /= fabs(want);
            if (!(error <= cases[k].bound))
                fail_msg("%s of %.9g gives %.9g, expected %.9g", cases[k].text, (double)fl(points[i].a),
                         (double)fl(results[i]), want);
        }
        rig_close(rig);
        free(source);
    }
}

/* fma(a, c, a * c), which is made as a sum where c is a power of two, of numbers so small that the product is rounded.
 */
static void doubled_products(void **unused)
{
    (void)unused;
    static const float factors[] = {0.5f,      -0.5f, 0.25f,    0x1p-7f, -0x1p-23f, 0x1p-126f,
                                    0x1p-149f, 2.0f,  0x1p127f, 0.75f,   3.0f};
    static struct {
        u64 a, b, c;
    } points[1024];
    static u64 results[1024];
    for (unsigned k = 0; k < sizeof factors / sizeof *factors; k++) {
        char text[128];
        snprintf(text, sizeof text, "mul.f32 %%fb, %%fa, 0f%08X; fma.rn.f32 %%f, %%fa, 0f%08X, %%fb;",
                 (u32)fb(factors[k]), (u32)fb(factors[k]));
        char *source = program('f', text);
        struct rig *rig = rig_open(source);
        for (u32 i = 0; i < 1024; i++) /* the smallest, those where normal ones begin, and all others in steps */
            points[i].a = i < 300   ? i
                          : i < 600 ? (i % 8 << 23) + i - 450 + 0x00800000u
                                    : i * 4194301u + (i & 1) * 0x80000000u;
        struct {
            void *in, *out;
        } params = {points, results};
        for (rig_variant = 0; rig_variant < 3; rig_variant++) {
            rig_run(rig, "vector", 1, 1024, &params, sizeof params);
            for (unsigned i = 0; i < 1024; i++) {
                float a = fl(points[i].a), want = fmaf(a, factors[k], a * factors[k]), have = fl(results[i]);
                if (memcmp(&have, &want, sizeof want) != 0 && !(have != have && want != want))
                    fail_msg("%s of %a gives %a, expected %a", text, (double)a, (double)have, (double)want);
            }
        }
        rig_variant = 0;
        rig_close(rig);
        free(source);
    }
}

/* mad.f32 without a rounding: rounded once; on targets before sm_20 subnormal numbers are zeros. */
static void old_mads(void **unused)
{
    (void)unused;
    static const char *const heads[2] = {".version 1.4\n.target sm_10, map_f64_to_f32\n",
                                         ".version 2.0\n.target sm_20\n"};
    static const struct {
        float a, b, c, flushed, kept;
    } cases[] = {{0x1.000002p0f, 0x1.000002p0f, -0x1.000004p0f, 0x1p-46f, 0x1p-46f},
                 {3, 5, 7, 22, 22},
                 {0x1p-126f, -0.5f, 0, 0, -0x1p-127f},
                 {0x1p-130f, 0x1p10f, 1, 1, 1},
                 {0x1p-130f, 0x1p20f, 0, 0, 0x1p-110f},
                 {1, 0x1p-125f, -0x1p-127f, 0x1p-125f, 0x1.8p-126f}};
    enum { COUNT = sizeof cases / sizeof *cases };
    float in[COUNT][3], out[COUNT];
    for (unsigned i = 0; i < COUNT; i++)
        memcpy(in[i], &cases[i].a, sizeof in[i]);
    for (unsigned k = 0; k < 2; k++) {
        char text[1024];
        snprintf(
            text, sizeof text,
            "%s.entry k (.param .u64 in, .param .u64 out)\n{\n.reg .u64 %%d<4>; .reg .u32 %%r<2>; .reg .f32 %%f<5>;\n"
            "ld.param.u64 %%d0, [in]; ld.param.u64 %%d1, [out]; cvt.u32.u16 %%r0, %%tid.x; mul.wide.u32 %%d2, %%r0, 12; mul.wide.u32 %%d3, %%r0, 4;\n"
            "add.u64 %%d0, %%d0, %%d2; add.u64 %%d1, %%d1, %%d3;\n"
            "ld.global.f32 %%f1, [%%d0]; ld.global.f32 %%f2, [%%d0+4]; ld.global.f32 %%f3, [%%d0+8];\n"
            "mad.f32 %%f4, %%f1, %%f2, %%f3;\nst.global.f32 [%%d1], %%f4;\nexit;\n}\n",
            heads[k]);
        struct rig *rig = rig_open(text);
        struct {
            void *in, *out;
        } params = {in, out};
        for (rig_variant = 0; rig_variant < RIG_VARIANTS; rig_variant++) {
            rig_run(rig, "k", 1, COUNT, &params, sizeof params);
            for (unsigned i = 0; i < COUNT; i++)
                if (out[i] != (k ? cases[i].kept : cases[i].flushed))
                    fail_msg("%smad.f32 of %a, %a, %a gives %a", heads[k], (double)cases[i].a, (double)cases[i].b,
                             (double)cases[i].c, (double)out[i]);
        }
        rig_variant = 0;
        rig_close(rig);
    }
}

/* f32 arithmetic on targets before sm_20 has no subnormal numbers, except for conversions from and to f64 before
 * PTX 1.5. Of two inputs each; an H100 gave these. */
static void old_floats(void **unused)
{
    (void)unused;
    enum { PAIRS = 4 };
    static const u32 pairs[PAIRS][2] = {
        {1, 0x80000000}, {0x400000, 0x3f800000}, {0x80300000, 0x300000}, {0x800000, 0x3f000000}};
    static const struct {
        const char *text;
        u32 old[PAIRS], kept[PAIRS];
    } cases[] = {
        {"add.f32 %f3, %f1, %f2;", {0, 0x3f800000, 0, 0x3f000000}, {1, 0x3f800000, 0, 0x3f000000}},
        {"sub.f32 %f3, %f1, %f2;", {0, 0xbf800000, 0x80000000, 0xbf000000}, {1, 0xbf800000, 0x80600000, 0xbf000000}},
        {"mul.f32 %f3, %f1, %f2;", {0x80000000, 0, 0x80000000, 0}, {0x80000000, 0x400000, 0x80000000, 0x400000}},
        {"mad.sat.f32 %f3, %f1, %f2, %f1;", {0, 0, 0, 0xc00000}, {1, 0x800000, 0, 0xc00000}},
        {"rcp.approx.f32 %f3, %f1;",
         {0x7f800000, 0x7f800000, 0xff800000, 0x7e800000},
         {0x7f800000, 0x7f000000, 0xff2aaaab, 0x7e800000}},
        {"sqrt.approx.f32 %f3, %f1;", {0, 0, 0x80000000, 0x20000000}, {0x1a3504f3, 0x1fb504f3, 0x7fffffff, 0x20000000}},
        {"abs.f32 %f3, %f1;", {0, 0, 0, 0x800000}, {1, 0x400000, 0x300000, 0x800000}},
        {"neg.f32 %f3, %f1;", {0x80000000, 0x80000000, 0, 0x80800000}, {0x80000001, 0x80400000, 0x300000, 0x80800000}},
        {"min.f32 %f3, %f1, %f2;", {0x80000000, 0, 0x80000000, 0x800000}, {0x80000000, 0x400000, 0x80300000, 0x800000}},
        {"max.f32 %f3, %f1, %f2;", {0, 0x3f800000, 0, 0x3f000000}, {1, 0x3f800000, 0x300000, 0x3f000000}},
        {"cvt.f32.f32 %f3, %f1;", {0, 0, 0x80000000, 0x800000}, {1, 0x400000, 0x80300000, 0x800000}},
        {"cvt.rpi.f32.f32 %f3, %f1;", {0, 0, 0x80000000, 0x3f800000}, {0x3f800000, 0x3f800000, 0x80000000, 0x3f800000}},
        {"cvt.rpi.s32.f32 %r3, %f1; mov.b32 %f3, %r3;", {0, 0, 0, 1}, {1, 1, 0, 1}},
        {"cvt.f64.f32 %d1, %f1; cvt.rn.f32.f64 %f3, %d1;",
         {0, 0, 0x80000000, 0x800000},
         {1, 0x400000, 0x80300000, 0x800000}},
        {"setp.gt.f32 %p1, %f1, %f2; selp.f32 %f3, %f1, %f2, %p1;",
         {0x80000000, 0x3f800000, 0x300000, 0x3f000000},
         {1, 0x3f800000, 0x300000, 0x3f000000}},
        {"set.gt.u32.f32 %r3, %f1, %f2; mov.b32 %f3, %r3;", {0, 0, 0, 0}, {~0u, 0, 0, 0}},
        {"set.gt.f32.f32 %f3, %f1, %f2;", {0, 0, 0, 0}, {0x3f800000, 0, 0, 0}},
        {"mov.b32 %f4, 0x80000001; mov.f32 %f5, 0f41200000; slct.f32.f32 %f3, %f2, %f5, %f4;",
         {0x80000000, 0x3f800000, 0x300000, 0x3f000000},
         {0x41200000, 0x41200000, 0x41200000, 0x41200000}},
        {"mov.f32 %f3, %f1;", {1, 0x400000, 0x80300000, 0x800000}, {1, 0x400000, 0x80300000, 0x800000}},
    };
    static const struct {
        const char *text;
        bool flushes, narrow;
    } heads[] = {{".version 1.4\n.target sm_13\n", true, true},
                 {".version 3.0\n.target sm_13\n", true, false},
                 {".version 2.3\n.target sm_20\n", false, false}};
    for (size_t h = 0; h < sizeof heads / sizeof *heads; h++)
        for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
            char text[1024];
            bool kept = !heads[h].flushes || (heads[h].narrow && strstr(cases[k].text, "f64"));
            u32 out[PAIRS];
            snprintf(
                text, sizeof text,
                "%s.entry k (.param .u64 in, .param .u64 out)\n{\n.reg .u64 %%l<4>; .reg .b32 %%r<4>; .reg .f32 %%f<6>; .reg .f64 %%d<2>; .reg .pred %%p<2>;\n"
                "ld.param.u64 %%l0, [in]; ld.param.u64 %%l1, [out]; cvt.u32.u16 %%r0, %%tid.x; mul.wide.u32 %%l2, %%r0, 8; mul.wide.u32 %%l3, %%r0, 4;\n"
                "add.u64 %%l0, %%l0, %%l2; add.u64 %%l1, %%l1, %%l3; ld.global.f32 %%f1, [%%l0]; ld.global.f32 %%f2, [%%l0+4];\n%s\nst.global.f32 [%%l1], %%f3; exit;\n}\n",
                heads[h].text, cases[k].text);
            struct rig *rig = rig_open(text);
            struct {
                const void *in;
                void *out;
            } params = {pairs, out};
            rig_variant = 0;
            rig_run(rig, "k", 1, PAIRS, &params, sizeof params);
            for (unsigned i = 0; i < PAIRS; i++)
                if (out[i] != (kept ? cases[k].kept[i] : cases[k].old[i]))
                    fail_msg("%s%s gives %x for %x and %x", heads[h].text, cases[k].text, out[i], pairs[i][0],
                             pairs[i][1]);
            rig_close(rig);
        }
}

static void refusals(void **unused)
{
    (void)unused;
    rig_refuses(".version 8.0\n.target sm_80\n.address_size 32\n", "32-bit addresses");
    rig_refuses(
        ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry k()\n{\n.reg .b32 %r<9>;\nmma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%r0,%r1}, {%r2}, {%r3}, {%r4};\nret;\n}\n",
        "line 7");
    rig_refuses(
        ".version 8.0\n.target sm_80\n.address_size 64\n.global .u32 x;\n.visible .entry k()\n{\n.reg .b32 %r<9>;\nmov.u32 %r0, x;\nret;\n}\n",
        "line 8");
}

int main(void)
{
    fill();
    const struct CMUnitTest tests[] = {
#define X(number, letter, text, value) {text, test_##number, NULL, NULL, NULL},
        CASES(X)
#undef X
            cmocka_unit_test(approximations),
        cmocka_unit_test(doubled_products),
        cmocka_unit_test(old_mads),
        cmocka_unit_test(old_floats),
        cmocka_unit_test(refusals)
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
