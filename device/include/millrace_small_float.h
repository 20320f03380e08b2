/* SPDX-License-Identifier: Apache-2.0 */
/* What the types of 16 bits have in common: operators, comparisons, arithmetic, mathematics, shuffles and atomics of MR_SMALL and of the pair MR_SMALL2.
 *
 * cuda_fp16.h and cuda_bf16.h include this file with these names defined, and with mr_wide (to float), mr_narrow_as (back, rounded to nearest)
 * mr_fused (fma with one rounding), MR_TO and MR_OF (the names of
 * conversions), MR_DIGITS and MR_LARGEST. A sum, product, quotient or root of two such values computed as a float and rounded again is the
 * correctly rounded one, since a float has more than twice the digits. No include guard: it is made to be included twice. */

#define MR_FROM(value) mr_narrow_as(value, (MR_SMALL *)0)

MR_BOTH MR_SMALL __hadd(MR_SMALL x, MR_SMALL y) { return MR_FROM(mr_wide(x) + mr_wide(y)); }
MR_BOTH MR_SMALL __hsub(MR_SMALL x, MR_SMALL y) { return MR_FROM(mr_wide(x) - mr_wide(y)); }
MR_BOTH MR_SMALL __hmul(MR_SMALL x, MR_SMALL y) { return MR_FROM(mr_wide(x) * mr_wide(y)); }
MR_BOTH MR_SMALL __hdiv(MR_SMALL x, MR_SMALL y) { return MR_FROM(mr_wide(x) / mr_wide(y)); }
MR_BOTH MR_SMALL __hadd_rn(MR_SMALL x, MR_SMALL y) { return __hadd(x, y); }
MR_BOTH MR_SMALL __hsub_rn(MR_SMALL x, MR_SMALL y) { return __hsub(x, y); }
MR_BOTH MR_SMALL __hmul_rn(MR_SMALL x, MR_SMALL y) { return __hmul(x, y); }
MR_DEVICE MR_SMALL __hfma(MR_SMALL x, MR_SMALL y, MR_SMALL z) { return mr_fused(x, y, z); }
MR_DEVICE MR_SMALL mr_saturate(MR_SMALL x) { return MR_FROM(__saturatef(mr_wide(x))); }
MR_DEVICE MR_SMALL __hadd_sat(MR_SMALL x, MR_SMALL y) { return mr_saturate(__hadd(x, y)); }
MR_DEVICE MR_SMALL __hsub_sat(MR_SMALL x, MR_SMALL y) { return mr_saturate(__hsub(x, y)); }
MR_DEVICE MR_SMALL __hmul_sat(MR_SMALL x, MR_SMALL y) { return mr_saturate(__hmul(x, y)); }
MR_DEVICE MR_SMALL __hfma_sat(MR_SMALL x, MR_SMALL y, MR_SMALL z) { return mr_saturate(mr_fused(x, y, z)); }
MR_BOTH MR_SMALL __hneg(MR_SMALL x) { x.__x ^= 0x8000; return x; }
MR_BOTH MR_SMALL __habs(MR_SMALL x) { x.__x &= 0x7fff; return x; }
MR_BOTH bool __hisnan(MR_SMALL x) { return mr_wide(x) != mr_wide(x); }
MR_BOTH int __hisinf(MR_SMALL x) { return __builtin_fabsf(mr_wide(x)) != __builtin_inff() ? 0 : mr_wide(x) > 0 ? 1 : -1; }
MR_DEVICE MR_SMALL __hmin(MR_SMALL x, MR_SMALL y) { return MR_FROM(__nvvm_fmin_f(mr_wide(x), mr_wide(y))); }
MR_DEVICE MR_SMALL __hmax(MR_SMALL x, MR_SMALL y) { return MR_FROM(__nvvm_fmax_f(mr_wide(x), mr_wide(y))); }
MR_DEVICE MR_SMALL __hmin_nan(MR_SMALL x, MR_SMALL y) { return __hisnan(x) ? x : __hisnan(y) ? y : __hmin(x, y); }
MR_DEVICE MR_SMALL __hmax_nan(MR_SMALL x, MR_SMALL y) { return __hisnan(x) ? x : __hisnan(y) ? y : __hmax(x, y); }
MR_DEVICE MR_SMALL __hfma_relu(MR_SMALL x, MR_SMALL y, MR_SMALL z) { return __hmax_nan(mr_fused(x, y, z), MR_FROM(0.0f)); }

MR_BOTH float mr_low(MR_SMALL2 x) { return mr_wide(x.x); }
MR_BOTH float mr_high(MR_SMALL2 x) { return mr_wide(x.y); }
#define MR_PAIR1(name, single) MR_DEVICE MR_SMALL2 name(MR_SMALL2 x) { return MR_SMALL2{single(x.x), single(x.y)}; }
#define MR_PAIR2(name, single) MR_DEVICE MR_SMALL2 name(MR_SMALL2 x, MR_SMALL2 y) { return MR_SMALL2{single(x.x, y.x), single(x.y, y.y)}; }
#define MR_PAIR3(name, single) \
    MR_DEVICE MR_SMALL2 name(MR_SMALL2 x, MR_SMALL2 y, MR_SMALL2 z) { return MR_SMALL2{single(x.x, y.x, z.x), single(x.y, y.y, z.y)}; }
MR_PAIR1(__hneg2, __hneg) MR_PAIR1(__habs2, __habs)
MR_PAIR2(__hadd2, __hadd) MR_PAIR2(__hsub2, __hsub) MR_PAIR2(__hmul2, __hmul) MR_PAIR2(__h2div, __hdiv)
MR_PAIR2(__hadd2_rn, __hadd) MR_PAIR2(__hsub2_rn, __hsub) MR_PAIR2(__hmul2_rn, __hmul)
MR_PAIR2(__hadd2_sat, __hadd_sat) MR_PAIR2(__hsub2_sat, __hsub_sat) MR_PAIR2(__hmul2_sat, __hmul_sat)
MR_PAIR2(__hmin2, __hmin) MR_PAIR2(__hmax2, __hmax) MR_PAIR2(__hmin2_nan, __hmin_nan) MR_PAIR2(__hmax2_nan, __hmax_nan)
MR_PAIR3(__hfma2, __hfma) MR_PAIR3(__hfma2_sat, __hfma_sat) MR_PAIR3(__hfma2_relu, __hfma_relu)

/* Comparisons: of one, of two to 1.0 or 0.0 each, of both; those with u are true of NaN. */
#define MR_COMPARE(name, operation)                                                                                                  \
    MR_BOTH bool __h##name(MR_SMALL x, MR_SMALL y) { return mr_wide(x) operation mr_wide(y); }                                       \
    MR_BOTH bool __h##name##u(MR_SMALL x, MR_SMALL y) { return __hisnan(x) || __hisnan(y) || mr_wide(x) operation mr_wide(y); }      \
    MR_DEVICE MR_SMALL mr_##name(MR_SMALL x, MR_SMALL y) { return MR_FROM(__h##name(x, y) ? 1.0f : 0.0f); }                          \
    MR_DEVICE MR_SMALL mr_##name##u(MR_SMALL x, MR_SMALL y) { return MR_FROM(__h##name##u(x, y) ? 1.0f : 0.0f); }                    \
    MR_PAIR2(__h##name##2, mr_##name) MR_PAIR2(__h##name##u2, mr_##name##u)                                                          \
    MR_BOTH bool __hb##name##2(MR_SMALL2 x, MR_SMALL2 y) { return __h##name(x.x, y.x) && __h##name(x.y, y.y); }                      \
    MR_BOTH bool __hb##name##u2(MR_SMALL2 x, MR_SMALL2 y) { return __h##name##u(x.x, y.x) && __h##name##u(x.y, y.y); }               \
    MR_BOTH bool operator operation(MR_SMALL x, MR_SMALL y) { return mr_wide(x) operation mr_wide(y); }                              \
    MR_BOTH bool operator operation(MR_SMALL2 x, MR_SMALL2 y) { return mr_low(x) operation mr_low(y) && mr_high(x) operation mr_high(y); }
MR_COMPARE(eq, ==) MR_COMPARE(lt, <) MR_COMPARE(le, <=) MR_COMPARE(gt, >) MR_COMPARE(ge, >=)
#undef MR_COMPARE
/* Not equal: without u it is false of NaN, and the operator is not. */
MR_BOTH bool __hne(MR_SMALL x, MR_SMALL y) { return mr_wide(x) < mr_wide(y) || mr_wide(x) > mr_wide(y); }
MR_BOTH bool __hneu(MR_SMALL x, MR_SMALL y) { return mr_wide(x) != mr_wide(y); }
MR_DEVICE MR_SMALL mr_ne(MR_SMALL x, MR_SMALL y) { return MR_FROM(__hne(x, y) ? 1.0f : 0.0f); }
MR_DEVICE MR_SMALL mr_neu(MR_SMALL x, MR_SMALL y) { return MR_FROM(__hneu(x, y) ? 1.0f : 0.0f); }
MR_PAIR2(__hne2, mr_ne) MR_PAIR2(__hneu2, mr_neu)
MR_BOTH bool __hbne2(MR_SMALL2 x, MR_SMALL2 y) { return __hne(x.x, y.x) && __hne(x.y, y.y); }
MR_BOTH bool __hbneu2(MR_SMALL2 x, MR_SMALL2 y) { return __hneu(x.x, y.x) && __hneu(x.y, y.y); }
/* Comparisons of pairs to masks: 16 ones for each half that holds. */
#define MR_MASK(name) \
    MR_BOTH unsigned int name##2_mask(MR_SMALL2 x, MR_SMALL2 y) { return (name(x.x, y.x) ? 0xffffu : 0) | (name(x.y, y.y) ? 0xffff0000u : 0); }
MR_MASK(__heq) MR_MASK(__hne) MR_MASK(__hle) MR_MASK(__hge) MR_MASK(__hlt) MR_MASK(__hgt)
MR_MASK(__hequ) MR_MASK(__hneu) MR_MASK(__hleu) MR_MASK(__hgeu) MR_MASK(__hltu) MR_MASK(__hgtu)
#undef MR_MASK
MR_BOTH MR_SMALL2 __hisnan2(MR_SMALL2 x) { return MR_SMALL2{MR_FROM(__hisnan(x.x) ? 1.0f : 0.0f), MR_FROM(__hisnan(x.y) ? 1.0f : 0.0f)}; }
/* Complex x * y + z, with x as the real and y as the imaginary part. */
MR_DEVICE MR_SMALL2 __hcmadd(MR_SMALL2 x, MR_SMALL2 y, MR_SMALL2 z)
{
    MR_SMALL real = __hfma(x.x, y.x, z.x), imaginary = __hfma(x.x, y.y, z.y);
    return MR_SMALL2{__hfma(__hneg(x.y), y.y, real), __hfma(x.y, y.x, imaginary)};
}
MR_BOTH bool operator!=(MR_SMALL x, MR_SMALL y) { return __hneu(x, y); }
MR_BOTH bool operator!=(MR_SMALL2 x, MR_SMALL2 y) { return __hneu(x.x, y.x) && __hneu(x.y, y.y); }

#define MR_OPERATOR(operation, single)                                                                                     \
    MR_BOTH MR_SMALL operator operation(MR_SMALL x, MR_SMALL y) { return single(x, y); }                                   \
    MR_BOTH MR_SMALL &operator operation##=(MR_SMALL &x, MR_SMALL y) { return x = single(x, y); }                          \
    MR_BOTH MR_SMALL2 operator operation(MR_SMALL2 x, MR_SMALL2 y) { return MR_SMALL2{single(x.x, y.x), single(x.y, y.y)}; } \
    MR_BOTH MR_SMALL2 &operator operation##=(MR_SMALL2 &x, MR_SMALL2 y) { return x = x operation y; }
MR_OPERATOR(+, __hadd) MR_OPERATOR(-, __hsub) MR_OPERATOR(*, __hmul) MR_OPERATOR(/, __hdiv)
#undef MR_OPERATOR
MR_BOTH MR_SMALL operator-(MR_SMALL x) { return __hneg(x); }
MR_BOTH MR_SMALL operator+(MR_SMALL x) { return x; }
MR_BOTH MR_SMALL2 operator-(MR_SMALL2 x) { return MR_SMALL2{__hneg(x.x), __hneg(x.y)}; }
MR_BOTH MR_SMALL2 operator+(MR_SMALL2 x) { return x; }
MR_BOTH MR_SMALL &operator++(MR_SMALL &x) { return x = __hadd(x, MR_FROM(1.0f)); }
MR_BOTH MR_SMALL &operator--(MR_SMALL &x) { return x = __hsub(x, MR_FROM(1.0f)); }

/* Mathematics: the float's function, rounded. */
#define MR_MATH(name, function)                                                             \
    MR_DEVICE MR_SMALL h##name(MR_SMALL x) { return MR_FROM(function(mr_wide(x))); }        \
    MR_PAIR1(h2##name, h##name)
#define MR_RECIPROCAL(x) (1.0f / (x))
#define MR_RECIPROCAL_ROOT(x) (float)rsqrt((double)(x))
MR_MATH(sqrt, sqrtf) MR_MATH(rsqrt, MR_RECIPROCAL_ROOT) MR_MATH(rcp, MR_RECIPROCAL) MR_MATH(exp, expf) MR_MATH(exp2, exp2f) MR_MATH(exp10, exp10f)
MR_MATH(log, logf) MR_MATH(log2, log2f) MR_MATH(log10, log10f) MR_MATH(sin, sinf) MR_MATH(cos, cosf) MR_MATH(tanh, tanhf)
MR_MATH(floor, floorf) MR_MATH(ceil, ceilf) MR_MATH(trunc, truncf) MR_MATH(rint, rintf)
MR_MATH(tanh_approx, tanhf)
#undef MR_MATH
#undef MR_RECIPROCAL
#undef MR_RECIPROCAL_ROOT

/* Shuffles: the value or the pair travels in a word. */
#define MR_SHUFFLE(name, by)                                                                                                              \
    MR_DEVICE MR_SMALL name##_sync(unsigned int mask, MR_SMALL value, by lane, int width = 32) { MR_SHUFFLE_WORD(name##_sync, mask, word) }    \
    MR_DEVICE MR_SMALL2 name##_sync(unsigned int mask, MR_SMALL2 value, by lane, int width = 32) { MR_SHUFFLE_WORD(name##_sync, mask, word) }
#define MR_SHUFFLE_HERE(name, by)                                                                        \
    MR_DEVICE MR_SMALL name(MR_SMALL value, by lane, int width = 32) { MR_SHUFFLE_WORD(name, word) }     \
    MR_DEVICE MR_SMALL2 name(MR_SMALL2 value, by lane, int width = 32) { MR_SHUFFLE_WORD(name, word) }
#define MR_SHUFFLE_WORD(name, ...)                      \
    unsigned int word = 0;                              \
    __builtin_memcpy(&word, &value, sizeof(value));     \
    word = name(__VA_ARGS__, lane, width);              \
    __builtin_memcpy(&value, &word, sizeof(value));     \
    return value;
MR_SHUFFLE(__shfl, int) MR_SHUFFLE(__shfl_up, unsigned int) MR_SHUFFLE(__shfl_down, unsigned int) MR_SHUFFLE(__shfl_xor, int)
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ < 700
MR_SHUFFLE_HERE(__shfl, int) MR_SHUFFLE_HERE(__shfl_up, unsigned int) MR_SHUFFLE_HERE(__shfl_down, unsigned int) MR_SHUFFLE_HERE(__shfl_xor, int)
#endif
#undef MR_SHUFFLE
#undef MR_SHUFFLE_HERE
#undef MR_SHUFFLE_WORD

/* Atomic sums, by comparing and exchanging the word around the value. */
MR_DEVICE MR_SMALL2 atomicAdd(MR_SMALL2 *address, MR_SMALL2 value)
{
    unsigned int *word = (unsigned int *)address, seen = *(volatile unsigned int *)word, before;
    do {
        before = seen;
        MR_SMALL2 sum = __builtin_bit_cast(MR_SMALL2, before) + value;
        seen = atomicCAS(word, before, __builtin_bit_cast(unsigned int, sum));
    } while (seen != before);
    return __builtin_bit_cast(MR_SMALL2, before);
}
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 700
/* Not below, where sources define their own, as with NVIDIA's headers. */
MR_DEVICE MR_SMALL atomicAdd(MR_SMALL *address, MR_SMALL value)
{
    unsigned long long place = (unsigned long long)address;
    unsigned int *word = (unsigned int *)(place & ~3ull), shift = (unsigned int)(place & 2) * 8, seen = *(volatile unsigned int *)word, before;
    MR_SMALL old;
    do {
        before = seen;
        old.__x = (unsigned short)(before >> shift);
        MR_SMALL sum = old + value;
        seen = atomicCAS(word, before, (before & ~(0xffffu << shift)) | (unsigned int)sum.__x << shift);
    } while (seen != before);
    return old;
}
#endif

/* From and to whole numbers, in each of CUDA's roundings rn rz rd ru, which are PTX's rn rz rm rp. */
#define MR_TO_WHOLE(mode, ptx)                                                                                                    \
    MR_DEVICE int MR_TO(int_##mode)(MR_SMALL x) { return __nvvm_f2i_##ptx(mr_wide(x)); }                                          \
    MR_DEVICE unsigned int MR_TO(uint_##mode)(MR_SMALL x) { return __nvvm_f2ui_##ptx(mr_wide(x)); }                               \
    MR_DEVICE long long MR_TO(ll_##mode)(MR_SMALL x) { return __nvvm_f2ll_##ptx(mr_wide(x)); }                                    \
    MR_DEVICE unsigned long long MR_TO(ull_##mode)(MR_SMALL x) { return __nvvm_f2ull_##ptx(mr_wide(x)); }                         \
    MR_DEVICE short MR_TO(short_##mode)(MR_SMALL x) { return (short)max(-32768, min(32767, MR_TO(int_##mode)(x))); }              \
    MR_DEVICE unsigned short MR_TO(ushort_##mode)(MR_SMALL x) { return (unsigned short)min(65535u, MR_TO(uint_##mode)(x)); }
MR_TO_WHOLE(rn, rn) MR_TO_WHOLE(rz, rz) MR_TO_WHOLE(rd, rm) MR_TO_WHOLE(ru, rp)
#undef MR_TO_WHOLE
MR_DEVICE signed char MR_TO(char_rz)(MR_SMALL x) { return (signed char)max(-128, min(127, MR_TO(int_rz)(x))); }
MR_DEVICE unsigned char MR_TO(uchar_rz)(MR_SMALL x) { return (unsigned char)min(255u, MR_TO(uint_rz)(x)); }
/* A whole number cut to the type's digits, rounded; `up`: any rest goes away from zero, `down`: it is dropped, else to nearest. */
MR_BOTH MR_SMALL mr_from_whole(unsigned long long size, bool negative, bool up, bool down, const MR_SMALL *)
{
    int shift = 64 - MR_DIGITS - (size ? __builtin_clzll(size) : 63);
    unsigned long long kept = size;
    float step = 1;
    if (shift > 0) {
        unsigned long long rest = size & ((1ull << shift) - 1), half = 1ull << (shift - 1);
        kept = size >> shift;
        kept += up ? rest != 0 : down ? 0 : rest > half || (rest == half && (kept & 1));
        step = (float)(1ull << shift);
    }
    float value = (float)kept * step;
    if (down && value > MR_LARGEST)
        value = MR_LARGEST;
    return MR_FROM(negative ? -value : value);
}
#define MR_FROM_WHOLE(type, name)                                                                                                 \
    MR_BOTH MR_SMALL MR_OF(name, rn)(type x) { return mr_from_whole(mr_size_of(x), x < 0, false, false, (MR_SMALL *)0); }         \
    MR_BOTH MR_SMALL MR_OF(name, rz)(type x) { return mr_from_whole(mr_size_of(x), x < 0, false, true, (MR_SMALL *)0); }          \
    MR_BOTH MR_SMALL MR_OF(name, rd)(type x) { return mr_from_whole(mr_size_of(x), x < 0, x < 0, x >= 0, (MR_SMALL *)0); }        \
    MR_BOTH MR_SMALL MR_OF(name, ru)(type x) { return mr_from_whole(mr_size_of(x), x < 0, x >= 0, x < 0, (MR_SMALL *)0); }
MR_FROM_WHOLE(short, short) MR_FROM_WHOLE(unsigned short, ushort) MR_FROM_WHOLE(int, int) MR_FROM_WHOLE(unsigned int, uint)
MR_FROM_WHOLE(long long, ll) MR_FROM_WHOLE(unsigned long long, ull)
#undef MR_FROM_WHOLE

#undef MR_PAIR1
#undef MR_PAIR2
#undef MR_PAIR3
#undef MR_FROM
