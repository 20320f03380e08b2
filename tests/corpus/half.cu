/* SPDX-License-Identifier: Apache-2.0 */
/* 16-bit floating point, one and two at a time. */
#include "corpus.h"

#define PTX_PAIR(T) \
    PTX2(T##_add, T, T, T, "add." #T " %0, %1, %2;") \
    PTX2(T##_sub, T, T, T, "sub." #T " %0, %1, %2;") \
    PTX2(T##_mul, T, T, T, "mul." #T " %0, %1, %2;") \
    PTX3(T##_fma, T, T, T, T, "fma.rn." #T " %0, %1, %2, %3;") \
    PTX2(T##_add_sat, T, T, T, "add.rn.sat." #T " %0, %1, %2;") \
    PTX2(T##_mul_ftz, T, T, T, "mul.ftz." #T " %0, %1, %2;") \
    PTX2(T##_sub_ftz_sat, T, T, T, "sub.ftz.sat." #T " %0, %1, %2;") \
    PTX3(T##_fma_ftz, T, T, T, T, "fma.rn.ftz." #T " %0, %1, %2, %3;") \
    PTX3(T##_fma_sat, T, T, T, T, "fma.rn.sat." #T " %0, %1, %2, %3;") \
    PTX1(T##_neg, T, T, "neg." #T " %0, %1;") \
    PTX1(T##_neg_ftz, T, T, "neg.ftz." #T " %0, %1;") \
    PTX1(T##_abs, T, T, "abs." #T " %0, %1;")
PTX_PAIR(f16)
PTX_PAIR(f16x2)

#if __CUDA_ARCH__ >= 800
#define PTX_80(T) \
    PTX2(T##_min, T, T, T, "min." #T " %0, %1, %2;") \
    PTX2(T##_max, T, T, T, "max." #T " %0, %1, %2;") \
    PTX2(T##_min_nan, T, T, T, "min.NaN." #T " %0, %1, %2;") \
    PTX2(T##_max_nan, T, T, T, "max.NaN." #T " %0, %1, %2;") \
    PTX3(T##_fma_relu, T, T, T, T, "fma.rn.relu." #T " %0, %1, %2, %3;")
PTX_80(f16)
PTX_80(f16x2)
PTX_80(bf16)
PTX_80(bf16x2)
PTX2(f16_min_ftz, f16, f16, f16, "min.ftz.f16 %0, %1, %2;")
PTX3(f16x2_fma_ftz_relu, f16x2, f16x2, f16x2, f16x2, "fma.rn.ftz.relu.f16x2 %0, %1, %2, %3;")
PTX3(bf16_fma, bf16, bf16, bf16, bf16, "fma.rn.bf16 %0, %1, %2, %3;")
PTX3(bf16x2_fma, bf16x2, bf16x2, bf16x2, bf16x2, "fma.rn.bf16x2 %0, %1, %2, %3;")
PTX1(bf16_neg, bf16, bf16, "neg.bf16 %0, %1;")
PTX1(bf16x2_abs, bf16x2, bf16x2, "abs.bf16x2 %0, %1;")
#endif
#if __CUDA_ARCH__ >= 860
PTX2(f16_max_xorsign, f16, f16, f16, "max.xorsign.abs.f16 %0, %1, %2;")
PTX2(bf16x2_min_nan_xorsign, bf16x2, bf16x2, bf16x2, "min.NaN.xorsign.abs.bf16x2 %0, %1, %2;")
#endif
#if __CUDA_ARCH__ >= 900
PTX2(bf16_add, bf16, bf16, bf16, "add.bf16 %0, %1, %2;")
PTX2(bf16_sub, bf16, bf16, bf16, "sub.rn.bf16 %0, %1, %2;")
PTX2(bf16_mul, bf16, bf16, bf16, "mul.bf16 %0, %1, %2;")
PTX2(bf16x2_add, bf16x2, bf16x2, bf16x2, "add.rn.bf16x2 %0, %1, %2;")
PTX2(bf16x2_mul, bf16x2, bf16x2, bf16x2, "mul.bf16x2 %0, %1, %2;")
#endif

#define SETP16(T, OP) PTX2(T##_setp_##OP, u32, T, T, "{ .reg .pred p;\n\tsetp." #OP "." #T " p, %1, %2;\n\tselp.u32 %0, 1, 0, p; }")
SETP16(f16, lt)
SETP16(f16, ne)
SETP16(f16, geu)
SETP16(f16, num)
SETP16(f16, nan)
#define SETP2(T, OP) \
    PTX2(T##_setp_##OP, u32, T, T, "{ .reg .pred p, q;\n\t.reg .u32 t;\n\tsetp." #OP "." #T " p|q, %1, %2;\n\tselp.u32 %0, 1, 0, p;\n\tselp.u32 t, 2, 0, q;\n\tor.b32 %0, %0, t; }")
SETP2(f16x2, le)
SETP2(f16x2, gtu)
SETP2(f16x2, equ)
PTX2(f16_set_u16, u16, f16, f16, "set.ge.u16.f16 %0, %1, %2;")
PTX2(f32_set_f16, f16, f32, f32, "set.gtu.f16.f32 %0, %1, %2;")
PTX2(f16_set_u32_ftz, u32, f16, f16, "set.lt.ftz.u32.f16 %0, %1, %2;")
PTX2(f16_set_f16, f16, f16, f16, "set.ne.f16.f16 %0, %1, %2;")
PTX2(f16x2_set, f16x2, f16x2, f16x2, "set.ltu.f16x2.f16x2 %0, %1, %2;")
#if __CUDA_ARCH__ >= 900
SETP16(bf16, lt)
SETP16(bf16, leu)
SETP2(bf16x2, ge)
PTX2(bf16x2_set, bf16x2, bf16x2, bf16x2, "set.eq.bf16x2.bf16x2 %0, %1, %2;")
#endif
/* A halves' chain with its parts taken out and put back. */
KERNEL(f16x2_chain)
{
    u32 x = LOAD(f16x2, 0), y = LOAD(f16x2, 1);
    for (int k = 0; k < 5; k++) {
        u32 r;
        asm("{ .reg .b16 l, h, t;\n\tmov.b32 {l, h}, %1;\n\tadd.f16 t, l, h;\n\tmov.b32 %0, {h, t};\n\tfma.rn.f16x2 %0, %0, %2, %1; }" : "=&r"(r) : "r"(x), "r"(y));
        x = r;
    }
    STORE(x);
}
