/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers of 8 bits for test_fp8.c: every half, every bfloat16 and some doubles to each kind, and back. */
#include <cuda_fp8.h>

extern "C" __global__ void narrow(unsigned char *out, const double *doubles, int count)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    for (int way = 0; way < 4; way++) {
        __nv_saturation_t saturate = way & 1 ? __NV_SATFINITE : __NV_NOSAT;
        __nv_fp8_interpretation_t kind = way & 2 ? __NV_E5M2 : __NV_E4M3;
        unsigned char *row = out + way * 3 * count;
        row[i] = __nv_cvt_halfraw_to_fp8(__half_raw{(unsigned short)i}, saturate, kind);
        row[count + i] = __nv_cvt_bfloat16raw_to_fp8(__nv_bfloat16_raw{(unsigned short)i}, saturate, kind);
        row[2 * count + i] = __nv_cvt_double_to_fp8(doubles[i], saturate, kind);
    }
}

/* Each of the 256 numbers of both kinds as a float, an int and a byte; then pairs, fours and numbers made from whole ones: 1 if right. */
extern "C" __global__ void widen(float *floats, int *ints, unsigned char *bytes, int *right)
{
    int i = threadIdx.x;
    __nv_fp8_e4m3 a;
    __nv_fp8_e5m2 b;
    a.__x = b.__x = (unsigned char)i;
    floats[i] = (float)a;
    floats[256 + i] = (float)b;
    ints[i] = (int)a;
    ints[256 + i] = (int)b;
    bytes[i] = (unsigned char)a;
    bytes[256 + i] = (unsigned char)b;
    float4 four = {1.0f, -2.5f, 448.0f, (float)i};
    float4 again = (float4)__nv_fp8x4_e4m3(four);
    float2 two = (float2)__nv_fp8x2_e5m2(make_half2(__half(3.0f), __half(-96.0f)));
    right[i] = again.x == 1.0f && again.y == -2.5f && again.z == 448.0f && again.w == (float)__nv_fp8_e4m3(i) && two.x == 3.0f && two.y == -96.0f &&
               (float)__nv_fp8_e5m2(-3) == -3.0f && !(bool)__nv_fp8_e4m3(-0.0f) && (bool)__nv_fp8_e4m3(0.01) && (float)(__nv_bfloat16)__nv_fp8_e4m3(0.5) == 0.5f;
}
