/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers of 8 bits for test_fp8.c: every half, every bfloat16 and some doubles to each kind, and back. */
#include <cuda_fp8.h>

struct __CUDA_ALIGN__(4) aligned { __nv_fp8_e4m3 numbers[3]; };
static_assert(sizeof(aligned) == 4, "__CUDA_ALIGN__");

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

/* Every bfloat16, floats and doubles to scales. */
extern "C" __global__ void scale(unsigned char *out, const float *floats, const double *doubles, int count, int saturate, int rounding)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = __nv_cvt_bfloat16raw_to_e8m0(__nv_bfloat16_raw{(unsigned short)i}, (__nv_saturation_t)saturate, (cudaRoundMode)rounding);
    out[count + i] = __nv_cvt_float_to_e8m0(floats[i], (__nv_saturation_t)saturate, (cudaRoundMode)rounding);
    out[2 * count + i] = __nv_cvt_double_to_e8m0(doubles[i], (__nv_saturation_t)saturate, (cudaRoundMode)rounding);
}

/* Each scale in other types, and pairs, fours and scales made from whole numbers: 1 if right. */
extern "C" __global__ void unscale(float *floats, int *ints, unsigned short *halves, unsigned char *bytes, int *right)
{
    int i = threadIdx.x;
    __nv_fp8_e8m0 a;
    a.__x = (unsigned char)i;
    floats[i] = (float)a;
    ints[i] = (int)a;
    halves[i] = __half_raw((__half)a).x;
    bytes[i] = (unsigned char)a;
    float4 four = (float4)__nv_fp8x4_e8m0(float4{1.0f, 2.0f, -3.0f, 1e9f});
    float2 two = (float2)__nv_fp8x2_e8m0(double2{5.0, 0.3}), halves2 = __half22float2((__half2)__nv_fp8x2_e8m0(make_half2(__half(3.0f), __half(-96.0f))));
    __nv_bfloat162 pair = (__nv_bfloat162)__nv_fp8x2_e8m0(__nv_bfloat162(__nv_bfloat16(0.75f), __nv_bfloat16(9.0f)));
    right[i] = four.x == 1 && four.y == 2 && four.z == 4 && four.w == 0x1p30f && two.x == 8 && two.y == 0.5f && halves2.x == 4 && halves2.y == 128 &&
               (float)pair.x == 1 && (float)pair.y == 16 && (bool)a && ((double)a == (double)(float)a) == (i < 255);
    const unsigned long long whole[] = {0, 1, 3, 255, 257, 1ull << 63, (1ull << 63) + 1, ~0ull, (1ull << 53) + 1};
    const unsigned char up[] = {0, 0x7f, 0x81, 0x87, 0x88, 0xbe, 0xbf, 0xbf, 0xb5};
    for (int k = 0; k < 9; k++)
        right[i] &= __nv_fp8_e8m0(whole[k]).__x == up[k];
    right[i] &= __nv_fp8_e8m0((long long)whole[5]).__x == 0xbe && __nv_fp8_e8m0((short)-3).__x == 0x81 && __nv_fp8_e8m0(-1).__x == 0x7f;
}

/* What NVIDIA's header asserts against. */
extern "C" __global__ void scale_to_nearest(unsigned char *out, float x) { *out = __nv_cvt_float_to_e8m0(x, __NV_NOSAT, cudaRoundNearest); }
