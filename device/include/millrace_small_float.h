/* SPDX-License-Identifier: Apache-2.0 */
/* What the types of 16 bits have in common on both sides: arithmetic, comparisons, operators and whole numbers of MR_SMALL and of the pair MR_SMALL2;
 * millrace_small_device.h has what only kernels have.
 *
 * cuda_fp16.h and cuda_bf16.h include this file with these names defined, and with mr_wide (to float), mr_narrow_as (back, rounded to nearest), mr_small_as (of
 * bits), mr_pair, MR_TO and MR_OF (the names of conversions), MR_DIGITS (behind the first), MR_BIAS (of the exponent), MR_SMALL_INFINITY (its bits), and MR_OPERATORS
 * and MR_OPERATORS2 unless the source wants none. A sum, product, quotient or root of two such values computed as a float and rounded again is the
 * correctly rounded one, since a float has more than twice the digits. No include guard: it is made to be included twice. */

#define MR_FROM(value) mr_narrow_as(value, (const MR_SMALL *)0)
#define MR_BITS(bits) mr_small_as((unsigned short)(bits), (const MR_SMALL *)0)

/* A kernel may be compiled to take subnormal floats for zeros; that does not concern bfloat16, whose subnormal numbers are such. */
#if MR_DIGITS == 7 && defined(__CUDA_ARCH__)
#define MR_WIDE_RESULT(operation, ptx)                                                      \
    float wide;                                                                             \
    __asm__(ptx " %0, %1, %2;" : "=f"(wide) : "f"(mr_wide(x)), "f"(mr_wide(y)));            \
    return MR_FROM(wide);
#define MR_WIDE_TEST(operation, ptx)                                                        \
    unsigned int holds;                                                                     \
    __asm__("{ .reg .pred p; setp." ptx ".f32 p, %1, %2; selp.u32 %0, 1, 0, p; }" : "=r"(holds) : "f"(mr_wide(x)), "f"(mr_wide(y))); \
    return holds != 0;
#else
#define MR_WIDE_RESULT(operation, ptx) return MR_FROM(mr_wide(x) operation mr_wide(y));
#define MR_WIDE_TEST(operation, ptx) return mr_wide(x) operation mr_wide(y);
#endif
MR_BOTH MR_SMALL __hadd(MR_SMALL x, MR_SMALL y) { MR_WIDE_RESULT(+, "add.rn.f32") }
MR_BOTH MR_SMALL __hsub(MR_SMALL x, MR_SMALL y) { MR_WIDE_RESULT(-, "sub.rn.f32") }
MR_BOTH MR_SMALL __hmul(MR_SMALL x, MR_SMALL y) { MR_WIDE_RESULT(*, "mul.rn.f32") }
MR_BOTH MR_SMALL __hdiv(MR_SMALL x, MR_SMALL y) { MR_WIDE_RESULT(/, "div.rn.f32") }
MR_BOTH MR_SMALL __hadd_rn(MR_SMALL x, MR_SMALL y) { return __hadd(x, y); }
MR_BOTH MR_SMALL __hsub_rn(MR_SMALL x, MR_SMALL y) { return __hsub(x, y); }
MR_BOTH MR_SMALL __hmul_rn(MR_SMALL x, MR_SMALL y) { return __hmul(x, y); }
MR_BOTH bool __hisnan(MR_SMALL x) { return (x.__x & 0x7fff) > MR_SMALL_INFINITY; }
MR_BOTH int __hisinf(MR_SMALL x) { return (x.__x & 0x7fff) != MR_SMALL_INFINITY ? 0 : x.__x & 0x8000 ? -1 : 1; }
/* Into 0 to 1; a NaN and -0 become 0. */
MR_BOTH MR_SMALL mr_saturate(MR_SMALL x)
{
    return __hisnan(x) || x.__x & 0x8000 ? MR_BITS(0) : x.__x < MR_BIAS << MR_DIGITS ? x : MR_BITS(MR_BIAS << MR_DIGITS);
}
MR_BOTH MR_SMALL __hadd_sat(MR_SMALL x, MR_SMALL y) { return mr_saturate(__hadd(x, y)); }
MR_BOTH MR_SMALL __hsub_sat(MR_SMALL x, MR_SMALL y) { return mr_saturate(__hsub(x, y)); }
MR_BOTH MR_SMALL __hmul_sat(MR_SMALL x, MR_SMALL y) { return mr_saturate(__hmul(x, y)); }
/* What is no number has no sign to change. */
MR_BOTH MR_SMALL __hneg(MR_SMALL x) { return MR_BITS(__hisnan(x) ? 0x7fff : x.__x ^ 0x8000); }
MR_BOTH MR_SMALL __habs(MR_SMALL x) { return MR_BITS(__hisnan(x) ? 0x7fff : x.__x & 0x7fff); }
/* A number's place among the numbers, -0 before 0. */
MR_BOTH int mr_place(MR_SMALL x) { return x.__x & 0x8000 ? ~(x.__x & 0x7fff) : x.__x; }
MR_BOTH MR_SMALL mr_less(MR_SMALL x, MR_SMALL y) { return __hisnan(x) || __hisnan(y) ? MR_BITS(0x7fff) : mr_place(y) < mr_place(x) ? y : x; }
MR_BOTH MR_SMALL mr_more(MR_SMALL x, MR_SMALL y) { return __hisnan(x) || __hisnan(y) ? MR_BITS(0x7fff) : mr_place(x) < mr_place(y) ? y : x; }
/* On the host NVIDIA's bfloat16 takes the first of two zeros here, and only here. */
#if MR_DIGITS == 7 && !defined(__CUDA_ARCH__)
#define MR_ZEROS(x, y) ((x.__x | y.__x) & 0x7fff) == 0 ? x :
#else
#define MR_ZEROS(x, y)
#endif
MR_BOTH MR_SMALL __hmin_nan(MR_SMALL x, MR_SMALL y) { return MR_ZEROS(x, y) mr_less(x, y); }
MR_BOTH MR_SMALL __hmax_nan(MR_SMALL x, MR_SMALL y) { return MR_ZEROS(x, y) mr_more(x, y); }
#undef MR_ZEROS
MR_BOTH MR_SMALL __hmin(MR_SMALL x, MR_SMALL y)
{
#ifdef __CUDA_ARCH__
    return MR_FROM(__nvvm_fmin_f(mr_wide(x), mr_wide(y)));
#else
    return __hisnan(x) == __hisnan(y) ? mr_less(x, y) : __hisnan(x) ? y : x;
#endif
}
MR_BOTH MR_SMALL __hmax(MR_SMALL x, MR_SMALL y)
{
#ifdef __CUDA_ARCH__
    return MR_FROM(__nvvm_fmax_f(mr_wide(x), mr_wide(y)));
#else
    return __hisnan(x) == __hisnan(y) ? mr_more(x, y) : __hisnan(x) ? y : x;
#endif
}

#define MR_PAIR1(name, single) MR_BOTH MR_SMALL2 name(MR_SMALL2 x) { return mr_pair(single(x.x), single(x.y)); }
#define MR_PAIR2(name, single) MR_BOTH MR_SMALL2 name(MR_SMALL2 x, MR_SMALL2 y) { return mr_pair(single(x.x, y.x), single(x.y, y.y)); }
MR_PAIR1(__hneg2, __hneg) MR_PAIR1(__habs2, __habs)
MR_PAIR2(__hadd2, __hadd) MR_PAIR2(__hsub2, __hsub) MR_PAIR2(__hmul2, __hmul) MR_PAIR2(__h2div, __hdiv)
MR_PAIR2(__hadd2_rn, __hadd) MR_PAIR2(__hsub2_rn, __hsub) MR_PAIR2(__hmul2_rn, __hmul)
MR_PAIR2(__hadd2_sat, __hadd_sat) MR_PAIR2(__hsub2_sat, __hsub_sat) MR_PAIR2(__hmul2_sat, __hmul_sat)
MR_PAIR2(__hmin2, __hmin) MR_PAIR2(__hmax2, __hmax) MR_PAIR2(__hmin2_nan, __hmin_nan) MR_PAIR2(__hmax2_nan, __hmax_nan)

/* Comparisons: of one, of two to 1.0 or 0.0 each, of both, and to 16 ones for each half that holds; those with u are true of NaN. */
#define MR_ONE_IF(holds) MR_BITS((holds) ? MR_BIAS << MR_DIGITS : 0)
#define MR_COMPARE_PAIRS(name)                                                                                                         \
    MR_BOTH MR_SMALL2 name##2(MR_SMALL2 x, MR_SMALL2 y) { return mr_pair(MR_ONE_IF(name(x.x, y.x)), MR_ONE_IF(name(x.y, y.y))); }      \
    MR_BOTH unsigned int name##2_mask(MR_SMALL2 x, MR_SMALL2 y) { return (name(x.x, y.x) ? 0xffffu : 0) | (name(x.y, y.y) ? 0xffff0000u : 0); }
#define MR_COMPARE(name, operation)                                                                                                    \
    MR_BOTH bool __h##name(MR_SMALL x, MR_SMALL y) { MR_WIDE_TEST(operation, #name) }                                                  \
    MR_BOTH bool __h##name##u(MR_SMALL x, MR_SMALL y) { return __hisnan(x) || __hisnan(y) || __h##name(x, y); }                        \
    MR_COMPARE_PAIRS(__h##name) MR_COMPARE_PAIRS(__h##name##u)                                                                         \
    MR_BOTH bool __hb##name##2(MR_SMALL2 x, MR_SMALL2 y) { return __h##name(x.x, y.x) && __h##name(x.y, y.y); }                        \
    MR_BOTH bool __hb##name##u2(MR_SMALL2 x, MR_SMALL2 y) { return __h##name##u(x.x, y.x) && __h##name##u(x.y, y.y); }
MR_COMPARE(eq, ==) MR_COMPARE(lt, <) MR_COMPARE(le, <=) MR_COMPARE(gt, >) MR_COMPARE(ge, >=)
#undef MR_COMPARE
/* Not equal: without u it is false of NaN, and the operator is not. */
MR_BOTH bool __hne(MR_SMALL x, MR_SMALL y) { return __hlt(x, y) || __hgt(x, y); }
MR_BOTH bool __hneu(MR_SMALL x, MR_SMALL y) { return !__heq(x, y); }
MR_COMPARE_PAIRS(__hne) MR_COMPARE_PAIRS(__hneu)
MR_BOTH bool __hbne2(MR_SMALL2 x, MR_SMALL2 y) { return __hne(x.x, y.x) && __hne(x.y, y.y); }
MR_BOTH bool __hbneu2(MR_SMALL2 x, MR_SMALL2 y) { return __hneu(x.x, y.x) && __hneu(x.y, y.y); }
MR_BOTH MR_SMALL2 __hisnan2(MR_SMALL2 x) { return mr_pair(MR_ONE_IF(__hisnan(x.x)), MR_ONE_IF(__hisnan(x.y))); }
#undef MR_COMPARE_PAIRS
#undef MR_ONE_IF

/* Operators, of `type` with the functions that end in `pairs`, 2 or nothing. */
#define MR_OPERATORS_OF(type, one, pairs, quotient)                                                                                    \
    MR_OPERATOR(type, +, __hadd##pairs) MR_OPERATOR(type, -, __hsub##pairs) MR_OPERATOR(type, *, __hmul##pairs) MR_OPERATOR(type, /, quotient) \
    MR_BOTH type &operator++(type &x) { return x = __hadd##pairs(x, one); }                                                            \
    MR_BOTH type &operator--(type &x) { return x = __hsub##pairs(x, one); }                                                            \
    MR_BOTH type operator++(type &x, int) { type before = x; x = __hadd##pairs(x, one); return before; }                               \
    MR_BOTH type operator--(type &x, int) { type before = x; x = __hsub##pairs(x, one); return before; }                               \
    MR_BOTH type operator+(const type &x) { return x; }                                                                                \
    MR_BOTH type operator-(const type &x) { return __hneg##pairs(x); }
#define MR_OPERATOR(type, operation, function)                                                                                         \
    MR_BOTH type operator operation(const type &x, const type &y) { return function(x, y); }                                           \
    MR_BOTH type &operator operation##=(type &x, const type &y) { return x = function(x, y); }
#define MR_COMPARISON(type, operation, function) MR_BOTH bool operator operation(const type &x, const type &y) { return function(x, y); }
#ifdef MR_OPERATORS
MR_OPERATORS_OF(MR_SMALL, MR_FROM(1.0f), , __hdiv)
MR_COMPARISON(MR_SMALL, ==, __heq) MR_COMPARISON(MR_SMALL, !=, __hneu) MR_COMPARISON(MR_SMALL, <, __hlt)
MR_COMPARISON(MR_SMALL, <=, __hle) MR_COMPARISON(MR_SMALL, >, __hgt) MR_COMPARISON(MR_SMALL, >=, __hge)
#endif
#ifdef MR_OPERATORS2
MR_OPERATORS_OF(MR_SMALL2, mr_pair(MR_FROM(1.0f), MR_FROM(1.0f)), 2, __h2div)
MR_COMPARISON(MR_SMALL2, ==, __hbeq2) MR_COMPARISON(MR_SMALL2, !=, __hbneu2) MR_COMPARISON(MR_SMALL2, <, __hblt2)
MR_COMPARISON(MR_SMALL2, <=, __hble2) MR_COMPARISON(MR_SMALL2, >, __hbgt2) MR_COMPARISON(MR_SMALL2, >=, __hbge2)
#endif
#undef MR_OPERATORS_OF
#undef MR_OPERATOR
#undef MR_COMPARISON

/* To whole numbers, cut towards zero. */
#define MR_TO_WHOLE(type, name) MR_BOTH type MR_TO(name##_rz)(MR_SMALL x) { return mr_limited<type>(mr_wide(x)); }
MR_TO_WHOLE(signed char, char) MR_TO_WHOLE(unsigned char, uchar) MR_TO_WHOLE(short, short) MR_TO_WHOLE(unsigned short, ushort)
#ifndef __CUDA_ARCH__   /* in kernels there are instructions for these, in millrace_small_device.h */
MR_TO_WHOLE(int, int) MR_TO_WHOLE(unsigned int, uint) MR_TO_WHOLE(long long, ll) MR_TO_WHOLE(unsigned long long, ull)
#endif
#undef MR_TO_WHOLE
/* From whole numbers, in each of CUDA's roundings rn rz rd ru. */
#ifndef MR_SIZE_OF
#define MR_SIZE_OF
/* A number without its sign. */
template <class T> MR_BOTH unsigned long long mr_size_of(T x) { return x < 0 ? 0 - (unsigned long long)x : (unsigned long long)x; }
#endif
#define MR_FROM_WHOLE1(side, type, name, mode, rounding)                                                                                       \
    side MR_SMALL MR_OF(name, mode)(type x)                                                                                                    \
    {                                                                                                                                          \
        return MR_BITS((x < 0) << 15 | mr_small_size_of_whole(mr_size_of(x), x < 0, MR_DIGITS, MR_BIAS, MR_SMALL_INFINITY, rounding));               \
    }
#define MR_FROM_WHOLE(type, name)                                                                                                              \
    MR_FROM_WHOLE1(MR_BOTH, type, name, rn, cudaRoundNearest) MR_FROM_WHOLE1(MR_BOTH_IF_HALF, type, name, rz, cudaRoundZero)                   \
    MR_FROM_WHOLE1(MR_BOTH_IF_HALF, type, name, rd, cudaRoundMinInf) MR_FROM_WHOLE1(MR_BOTH_IF_HALF, type, name, ru, cudaRoundPosInf)
#if defined(__CUDA__) || MR_DIGITS == 10   /* bfloat16 has rn alone on the host */
MR_FROM_WHOLE(short, short) MR_FROM_WHOLE(unsigned short, ushort) MR_FROM_WHOLE(int, int) MR_FROM_WHOLE(unsigned int, uint)
MR_FROM_WHOLE(long long, ll) MR_FROM_WHOLE(unsigned long long, ull)
#else
#define MR_FROM_WHOLE_RN(type, name) MR_FROM_WHOLE1(MR_BOTH, type, name, rn, cudaRoundNearest)
MR_FROM_WHOLE_RN(short, short) MR_FROM_WHOLE_RN(unsigned short, ushort) MR_FROM_WHOLE_RN(int, int) MR_FROM_WHOLE_RN(unsigned int, uint)
MR_FROM_WHOLE_RN(long long, ll) MR_FROM_WHOLE_RN(unsigned long long, ull)
#undef MR_FROM_WHOLE_RN
#endif
#undef MR_FROM_WHOLE
#undef MR_FROM_WHOLE1

#undef MR_PAIR1
#undef MR_PAIR2
#undef MR_WIDE_RESULT
#undef MR_WIDE_TEST
#undef MR_FROM
#undef MR_BITS
