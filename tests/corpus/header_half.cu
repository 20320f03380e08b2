/* SPDX-License-Identifier: Apache-2.0 */
/* The compiler's own <cuda_fp16.h>. */
#include <cuda_fp16.h>
#include "corpus.h"

#define H(operand) __ushort_as_half(LOAD(f16, operand))
#define BITS(h) __half_as_ushort(h)
static __device__ __half2 pair(corpus_in *in, int operand, int i) { return __halves2half2(__ushort_as_half((u16)in->f16x2[operand][i]), __ushort_as_half((u16)(in->f16x2[operand][i] >> 16))); }
static __device__ u32 bits(__half2 h) { return BITS(__low2half(h)) | (u32)BITS(__high2half(h)) << 16; }

KERNEL(half_add) { STORE(BITS(__hadd(H(0), H(1)))); }
KERNEL(half_operators) { STORE(BITS((H(0) + H(1)) * H(2) - H(0))); }
KERNEL(half_divide) { STORE(BITS(H(0) / H(1))); }
KERNEL(half_fma) { STORE(BITS(__hfma(H(0), H(1), H(2)))); }
KERNEL(half_compare) { STORE((H(0) < H(1)) | (H(0) == H(1)) << 1 | (u32)__hgeu(H(0), H(1)) << 2 | (u32)__hisnan(H(0)) << 3); }
KERNEL(half_convert) { STORE(__half2float(H(0)) + (f32)__half2int_rn(H(1))); }
KERNEL(half_from_float) { STORE(BITS(__float2half_rn(LOAD(f32, 0))) | BITS(__float2half_rz(LOAD(f32, 0))) << 16); }
KERNEL(half2_add) { STORE(bits(__hadd2(pair(in, 0, i), pair(in, 1, i)))); }
KERNEL(half2_fma) { STORE(bits(__hfma2(pair(in, 0, i), pair(in, 1, i), pair(in, 2, i)))); }
KERNEL(half2_operators) { STORE(bits(pair(in, 0, i) * pair(in, 1, i) + pair(in, 2, i))); }
KERNEL(half2_compare) { STORE(bits(__hgt2(pair(in, 0, i), pair(in, 1, i)))); }
KERNEL(half2_parts) { STORE(bits(__lows2half2(pair(in, 0, i), pair(in, 1, i))) ^ bits(__lowhigh2highlow(pair(in, 2, i)))); }
KERNEL(half_shuffle) { STORE(BITS(__shfl_xor_sync(0xffffffffu, H(0), 3))); }
