/* SPDX-License-Identifier: Apache-2.0 */
/* Instructions whose error the PTX manual bounds. bounds.py has the bounds. */
#include "corpus.h"

APPROX1(rcp_f32, f32, "rcp.approx.f32 %0, %1;")
APPROX1(rcp_ftz_f32, f32, "rcp.approx.ftz.f32 %0, %1;")
APPROX1(sqrt_f32, f32, "sqrt.approx.f32 %0, %1;")
APPROX1(sqrt_ftz_f32, f32, "sqrt.approx.ftz.f32 %0, %1;")
APPROX1(rsqrt_f32, f32, "rsqrt.approx.f32 %0, %1;")
APPROX1(rsqrt_ftz_f32, f32, "rsqrt.approx.ftz.f32 %0, %1;")
APPROX1(sin_f32, f32, "sin.approx.f32 %0, %1;")
APPROX1(sin_ftz_f32, f32, "sin.approx.ftz.f32 %0, %1;")
APPROX1(cos_f32, f32, "cos.approx.f32 %0, %1;")
APPROX1(cos_ftz_f32, f32, "cos.approx.ftz.f32 %0, %1;")
APPROX1(lg2_f32, f32, "lg2.approx.f32 %0, %1;")
APPROX1(lg2_ftz_f32, f32, "lg2.approx.ftz.f32 %0, %1;")
APPROX1(ex2_f32, f32, "ex2.approx.f32 %0, %1;")
APPROX1(ex2_ftz_f32, f32, "ex2.approx.ftz.f32 %0, %1;")
APPROX1(tanh_f32, f32, "tanh.approx.f32 %0, %1;")
APPROX2(div_f32, f32, "div.approx.f32 %0, %1, %2;")
APPROX2(div_ftz_f32, f32, "div.approx.ftz.f32 %0, %1, %2;")
APPROX2(div_full_f32, f32, "div.full.f32 %0, %1, %2;")
APPROX2(div_full_ftz_f32, f32, "div.full.ftz.f32 %0, %1, %2;")
APPROX1(rcp_ftz_f64, f64, "rcp.approx.ftz.f64 %0, %1;")
APPROX1(rsqrt_f64, f64, "rsqrt.approx.f64 %0, %1;")
#if __CUDA_ARCH__ >= 800
APPROX1(rsqrt_ftz_f64, f64, "rsqrt.approx.ftz.f64 %0, %1;")
#endif
APPROX1(ex2_f16, f16, "ex2.approx.f16 %0, %1;")
APPROX1(tanh_f16, f16, "tanh.approx.f16 %0, %1;")
APPROX1(ex2_f16x2, f16x2, "ex2.approx.f16x2 %0, %1;")
APPROX1(tanh_f16x2, f16x2, "tanh.approx.f16x2 %0, %1;")
#if __CUDA_ARCH__ >= 900
APPROX1(ex2_bf16, bf16, "ex2.approx.ftz.bf16 %0, %1;")
APPROX1(tanh_bf16, bf16, "tanh.approx.bf16 %0, %1;")
APPROX1(ex2_bf16x2, bf16x2, "ex2.approx.ftz.bf16x2 %0, %1;")
APPROX1(tanh_bf16x2, bf16x2, "tanh.approx.bf16x2 %0, %1;")
#endif
