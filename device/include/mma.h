/* SPDX-License-Identifier: Apache-2.0 */
/* Warp matrices for CUDA C++: nvcuda::wmma, over the compiler's own functions for wmma.load, wmma.mma and wmma.store. A fragment's elements are the warp's
 * share of a matrix; which lane holds which is left open, as in CUDA. All lanes of the warp call these functions together. */
#ifndef MILLRACE_MMA_H
#define MILLRACE_MMA_H
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#define MR_MMA static __device__ __inline__ __attribute__((always_inline))

namespace nvcuda {
namespace wmma {

enum layout_t { mem_row_major, mem_col_major };
struct row_major {};
struct col_major {};
struct matrix_a {};
struct matrix_b {};
struct accumulator {};

namespace precision {
struct tf32;
}
namespace experimental {
namespace precision {
struct u4;
struct s4;
struct b1;
}
enum bmmaBitOp { bmmaBitOpXOR = 1, bmmaBitOpAND = 2 };
enum bmmaAccumulateOp { bmmaAccumulateOpPOPC = 1 };
}

template <class T> struct mr_stored { typedef T type; };
template <> struct mr_stored<precision::tf32> { typedef float type; };
template <> struct mr_stored<experimental::precision::u4> { typedef int type; };
template <> struct mr_stored<experimental::precision::s4> { typedef int type; };
template <> struct mr_stored<experimental::precision::b1> { typedef int type; };

/* `count` elements as the type that holds them; of 4 bits and 1 bit, a register full. */
template <class T, int count> struct alignas(8) mr_elements {
    enum { num_elements = count, num_storage_elements = count };
    typedef typename mr_stored<T>::type element_type;
    typedef element_type storage_element_type;
    element_type x[count];
};

template <class Use, int m, int n, int k, class T, class Layout = void> struct fragment;

#define MR_FACTORS(M, N, K, T, a, b)                                                                                                                 \
    template <class Layout> struct fragment<matrix_a, M, N, K, T, Layout> : mr_elements<T, a> {};                                               \
    template <class Layout> struct fragment<matrix_b, M, N, K, T, Layout> : mr_elements<T, b> {};
#define MR_SUM(M, N, K, T, c) template <> struct fragment<accumulator, M, N, K, T, void> : mr_elements<T, c> {};
#define MR_BIG(M, N, bf_a, bf_b)                                                                                                                 \
    MR_FACTORS(M, N, 16, __half, 16, 16) MR_FACTORS(M, N, 16, __nv_bfloat16, bf_a, bf_b) MR_FACTORS(M, N, 16, signed char, bf_a, bf_b)            \
    MR_FACTORS(M, N, 16, unsigned char, bf_a, bf_b) MR_SUM(M, N, 16, __half, 8) MR_SUM(M, N, 16, float, 8) MR_SUM(M, N, 16, int, 8)
MR_BIG(16, 16, 8, 8)
MR_BIG(32, 8, 16, 4)
MR_BIG(8, 32, 4, 16)
MR_FACTORS(16, 16, 8, precision::tf32, 4, 4)
MR_SUM(16, 16, 8, float, 8)
MR_FACTORS(8, 8, 4, double, 1, 1)
MR_SUM(8, 8, 4, double, 2)
MR_FACTORS(8, 8, 32, experimental::precision::u4, 1, 1)
MR_FACTORS(8, 8, 32, experimental::precision::s4, 1, 1)
MR_SUM(8, 8, 32, int, 2)
MR_FACTORS(8, 8, 128, experimental::precision::b1, 1, 1)
MR_SUM(8, 8, 128, int, 2)
#undef MR_FACTORS
#undef MR_SUM
#undef MR_BIG

/* The registers of a fragment: as many words as its elements fill. */
template <class Fragment, class Word> struct mr_words {
    enum { count = sizeof(((Fragment *)0)->x) / sizeof(Word) };
    Word word[count];
    static __device__ __inline__ mr_words of(const Fragment &fragment)
    {
        mr_words words;
        __builtin_memcpy(words.word, fragment.x, sizeof words.word);
        return words;
    }
    __device__ __inline__ void to(Fragment &fragment) const { __builtin_memcpy(fragment.x, word, sizeof word); }
};

template <class Layout> struct mr_is_col;
template <> struct mr_is_col<row_major> { enum { value = 0 }; };
template <> struct mr_is_col<col_major> { enum { value = 1 }; };

/* Loads of A and B. */
#define MR_LOAD(USE, M, N, K, T, MEMORY, WORD, FUNCTION)                                                                                            \
    template <class Layout> MR_MMA void load_matrix_sync(fragment<USE, M, N, K, T, Layout> &to, const MEMORY *from, unsigned pitch)               \
    {                                                                                                                                            \
        mr_words<fragment<USE, M, N, K, T, Layout>, WORD> words;                                                                                 \
        FUNCTION(words.word, (const WORD *)from, pitch, mr_is_col<Layout>::value);                                                              \
        words.to(to);                                                                                                                            \
    }
/* Loads and stores of C and D. */
#define MR_LOAD_SUM(M, N, K, T, WORD, FUNCTION)                                                                                                      \
    MR_MMA void load_matrix_sync(fragment<accumulator, M, N, K, T> &to, const T *from, unsigned pitch, layout_t layout)                           \
    {                                                                                                                                            \
        mr_words<fragment<accumulator, M, N, K, T>, WORD> words;                                                                                 \
        if (layout == mem_row_major)                                                                                                            \
            FUNCTION(words.word, (const WORD *)from, pitch, 0);                                                                                 \
        else                                                                                                                                    \
            FUNCTION(words.word, (const WORD *)from, pitch, 1);                                                                                 \
        words.to(to);                                                                                                                            \
    }
#define MR_STORE_SUM(M, N, K, T, WORD, FUNCTION)                                                                                                     \
    MR_MMA void store_matrix_sync(T *to, const fragment<accumulator, M, N, K, T> &from, unsigned pitch, layout_t layout)                          \
    {                                                                                                                                            \
        mr_words<fragment<accumulator, M, N, K, T>, WORD> words = mr_words<fragment<accumulator, M, N, K, T>, WORD>::of(from);                  \
        if (layout == mem_row_major)                                                                                                            \
            FUNCTION((WORD *)to, words.word, pitch, 0);                                                                                         \
        else                                                                                                                                    \
            FUNCTION((WORD *)to, words.word, pitch, 1);                                                                                         \
    }
/* D = A * B + C. */
#define MR_MULTIPLY(M, N, K, T, D, C, IN, OUT_D, OUT_C, FUNCTION, ...)                                                                               \
    template <class La, class Lb>                                                                                                                \
    MR_MMA void mma_sync(fragment<accumulator, M, N, K, D> &d, const fragment<matrix_a, M, N, K, T, La> &a,                                    \
        const fragment<matrix_b, M, N, K, T, Lb> &b, const fragment<accumulator, M, N, K, C> &c, bool saturate = false)                         \
    {                                                                                                                                            \
        mr_words<fragment<matrix_a, M, N, K, T, La>, IN> in_a = mr_words<fragment<matrix_a, M, N, K, T, La>, IN>::of(a);                        \
        mr_words<fragment<matrix_b, M, N, K, T, Lb>, IN> in_b = mr_words<fragment<matrix_b, M, N, K, T, Lb>, IN>::of(b);                        \
        mr_words<fragment<accumulator, M, N, K, C>, OUT_C> in_c = mr_words<fragment<accumulator, M, N, K, C>, OUT_C>::of(c);                    \
        mr_words<fragment<accumulator, M, N, K, D>, OUT_D> out;                                                                                  \
        (void)saturate;                                                                                                                          \
        constexpr int layout = 2 * mr_is_col<La>::value + mr_is_col<Lb>::value;                                                                  \
        __VA_ARGS__(FUNCTION)                                                                                                                    \
        out.to(d);                                                                                                                              \
    }
#define MR_PLAIN(FUNCTION) FUNCTION(out.word, in_a.word, in_b.word, in_c.word, layout, 0);
#define MR_SATURATING(FUNCTION)                                                                                                                      \
    if (saturate)                                                                                                                                \
        FUNCTION(out.word, in_a.word, in_b.word, in_c.word, layout, 1);                                                                          \
    else                                                                                                                                        \
        FUNCTION(out.word, in_a.word, in_b.word, in_c.word, layout, 0);

#define MR_SHAPE(M, N, NAME)                                                                                                                         \
    MR_LOAD(matrix_a, M, N, 16, __half, __half, int, __hmma_##NAME##_ld_a)                                                                       \
    MR_LOAD(matrix_b, M, N, 16, __half, __half, int, __hmma_##NAME##_ld_b)                                                                       \
    MR_LOAD(matrix_a, M, N, 16, __nv_bfloat16, __nv_bfloat16, int, __mma_bf16_##NAME##_ld_a)                                                      \
    MR_LOAD(matrix_b, M, N, 16, __nv_bfloat16, __nv_bfloat16, int, __mma_bf16_##NAME##_ld_b)                                                      \
    MR_LOAD(matrix_a, M, N, 16, signed char, signed char, int, __imma_##NAME##_ld_a_s8)                                                          \
    MR_LOAD(matrix_b, M, N, 16, signed char, signed char, int, __imma_##NAME##_ld_b_s8)                                                          \
    MR_LOAD(matrix_a, M, N, 16, unsigned char, unsigned char, int, __imma_##NAME##_ld_a_u8)                                                      \
    MR_LOAD(matrix_b, M, N, 16, unsigned char, unsigned char, int, __imma_##NAME##_ld_b_u8)                                                      \
    MR_LOAD_SUM(M, N, 16, __half, int, __hmma_##NAME##_ld_c_f16)                                                                                \
    MR_LOAD_SUM(M, N, 16, float, float, __hmma_##NAME##_ld_c_f32)                                                                               \
    MR_LOAD_SUM(M, N, 16, int, int, __imma_##NAME##_ld_c)                                                                                       \
    MR_STORE_SUM(M, N, 16, __half, int, __hmma_##NAME##_st_c_f16)                                                                               \
    MR_STORE_SUM(M, N, 16, float, float, __hmma_##NAME##_st_c_f32)                                                                              \
    MR_STORE_SUM(M, N, 16, int, int, __imma_##NAME##_st_c_i32)                                                                                  \
    MR_MULTIPLY(M, N, 16, __half, float, float, int, float, float, __hmma_##NAME##_mma_f32f32, MR_PLAIN)                                         \
    MR_MULTIPLY(M, N, 16, __half, float, __half, int, float, int, __hmma_##NAME##_mma_f32f16, MR_PLAIN)                                          \
    MR_MULTIPLY(M, N, 16, __half, __half, float, int, int, float, __hmma_##NAME##_mma_f16f32, MR_PLAIN)                                          \
    MR_MULTIPLY(M, N, 16, __half, __half, __half, int, int, int, __hmma_##NAME##_mma_f16f16, MR_PLAIN)                                           \
    MR_MULTIPLY(M, N, 16, __nv_bfloat16, float, float, int, float, float, __mma_bf16_##NAME##_mma_f32, MR_PLAIN)                                  \
    MR_MULTIPLY(M, N, 16, signed char, int, int, int, int, int, __imma_##NAME##_mma_s8, MR_SATURATING)                                           \
    MR_MULTIPLY(M, N, 16, unsigned char, int, int, int, int, int, __imma_##NAME##_mma_u8, MR_SATURATING)
MR_SHAPE(16, 16, m16n16k16)
MR_SHAPE(32, 8, m32n8k16)
MR_SHAPE(8, 32, m8n32k16)
#undef MR_SHAPE

MR_LOAD(matrix_a, 16, 16, 8, precision::tf32, float, int, __mma_tf32_m16n16k8_ld_a)
MR_LOAD(matrix_b, 16, 16, 8, precision::tf32, float, int, __mma_tf32_m16n16k8_ld_b)
MR_LOAD_SUM(16, 16, 8, float, float, __mma_tf32_m16n16k8_ld_c)
MR_STORE_SUM(16, 16, 8, float, float, __mma_m16n16k8_st_c_f32)
MR_MULTIPLY(16, 16, 8, precision::tf32, float, float, int, float, float, __mma_tf32_m16n16k8_mma_f32, MR_PLAIN)

MR_LOAD(matrix_a, 8, 8, 4, double, double, double, __dmma_m8n8k4_ld_a)
MR_LOAD(matrix_b, 8, 8, 4, double, double, double, __dmma_m8n8k4_ld_b)
MR_LOAD_SUM(8, 8, 4, double, double, __dmma_m8n8k4_ld_c)
MR_STORE_SUM(8, 8, 4, double, double, __dmma_m8n8k4_st_c_f64)
MR_MULTIPLY(8, 8, 4, double, double, double, double, double, double, __dmma_m8n8k4_mma_f64, MR_PLAIN)

MR_LOAD(matrix_a, 8, 8, 32, experimental::precision::s4, void, int, __imma_m8n8k32_ld_a_s4)
MR_LOAD(matrix_b, 8, 8, 32, experimental::precision::s4, void, int, __imma_m8n8k32_ld_b_s4)
MR_LOAD(matrix_a, 8, 8, 32, experimental::precision::u4, void, int, __imma_m8n8k32_ld_a_u4)
MR_LOAD(matrix_b, 8, 8, 32, experimental::precision::u4, void, int, __imma_m8n8k32_ld_b_u4)
MR_LOAD_SUM(8, 8, 32, int, int, __imma_m8n8k32_ld_c)
MR_STORE_SUM(8, 8, 32, int, int, __imma_m8n8k32_st_c_i32)
MR_MULTIPLY(8, 8, 32, experimental::precision::s4, int, int, int, int, int, __imma_m8n8k32_mma_s4, MR_SATURATING)
MR_MULTIPLY(8, 8, 32, experimental::precision::u4, int, int, int, int, int, __imma_m8n8k32_mma_u4, MR_SATURATING)

MR_LOAD(matrix_a, 8, 8, 128, experimental::precision::b1, void, int, __bmma_m8n8k128_ld_a_b1)
MR_LOAD(matrix_b, 8, 8, 128, experimental::precision::b1, void, int, __bmma_m8n8k128_ld_b_b1)
MR_LOAD_SUM(8, 8, 128, int, int, __bmma_m8n8k128_ld_c)
MR_STORE_SUM(8, 8, 128, int, int, __bmma_m8n8k128_st_c_i32)

/* Bits: how many of a row and a column differ, or are both set. */
MR_MMA void bmma_sync(fragment<accumulator, 8, 8, 128, int> &d, const fragment<matrix_a, 8, 8, 128, experimental::precision::b1, row_major> &a,
    const fragment<matrix_b, 8, 8, 128, experimental::precision::b1, col_major> &b, const fragment<accumulator, 8, 8, 128, int> &c,
    experimental::bmmaBitOp operation = experimental::bmmaBitOpXOR, experimental::bmmaAccumulateOp = experimental::bmmaAccumulateOpPOPC)
{
    fragment<accumulator, 8, 8, 128, int> sum;
    if (operation == experimental::bmmaBitOpAND)
        __bmma_m8n8k128_mma_and_popc_b1(sum.x, a.x, b.x, c.x, 1);
    else
        __bmma_m8n8k128_mma_xor_popc_b1(sum.x, a.x, b.x, c.x, 1);
    d = sum;
}

template <class Use, int m, int n, int k, class T, class Layout, class Value>
MR_MMA void fill_fragment(fragment<Use, m, n, k, T, Layout> &to, const Value &value)
{
    for (int i = 0; i < to.num_elements; i++)
        to.x[i] = value;
}

/* Rounded to 10 bits, to nearest, ties away from zero. */
MR_MMA float __float_to_tf32(float value)
{
    unsigned bits;
    asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(bits) : "f"(value));
    __builtin_memcpy(&value, &bits, sizeof value);
    return value;
}

namespace experimental {
using wmma::bmma_sync;
using wmma::fill_fragment;
using wmma::load_matrix_sync;
using wmma::mma_sync;
using wmma::store_matrix_sync;
}

#undef MR_LOAD
#undef MR_LOAD_SUM
#undef MR_STORE_SUM
#undef MR_MULTIPLY
#undef MR_PLAIN
#undef MR_SATURATING

}   // namespace wmma
}   // namespace nvcuda
#undef MR_MMA
#endif
