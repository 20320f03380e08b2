/* SPDX-License-Identifier: Apache-2.0 */
/* Half precision and bfloat16 for test_half.c: each kernel goes through all pairs that its grid makes of two tables of bits. */
#include <cuda_fp16.h>
#include <cuda_bf16.h>

/* For every pair x = bits[i], y = bits[j]: sum, difference, product, quotient, x * y + x, comparisons. */
template <class T> static __device__ void arithmetic(unsigned short *out, const unsigned short *bits, int count)
{
    int i = blockIdx.x, j = threadIdx.x;
    T x = T(__builtin_bit_cast(T, bits[i])), y = __builtin_bit_cast(T, bits[j]);
    T results[5] = {x + y, x - y, x * y, x / y, __hfma(x, y, x)};
    for (int k = 0; k < 5; k++)
        out[(i * count + j) * 6 + k] = __builtin_bit_cast(unsigned short, results[k]);
    out[(i * count + j) * 6 + 5] = (unsigned short)((x < y) | (x <= y) << 1 | (x == y) << 2 | (x != y) << 3 | (x >= y) << 4 | (x > y) << 5 | __hne(x, y) << 6);
}
extern "C" __global__ void halves(unsigned short *out, const unsigned short *bits, int count) { arithmetic<__half>(out, bits, count); }
extern "C" __global__ void bfloats(unsigned short *out, const unsigned short *bits, int count) { arithmetic<__nv_bfloat16>(out, bits, count); }

extern "C" __global__ void convert(unsigned short *half, unsigned short *bfloat, const float *x)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    half[i] = __half_as_ushort(__float2half(x[i]));
    bfloat[i] = __bfloat16_as_ushort(__float2bfloat16(x[i]));
}

/* Sums of 256 threads in one half, one bfloat16 and pairs; shuffles; functions of pairs. */
extern "C" __global__ void others(float *out)
{
    __shared__ __half sum[2];
    __shared__ half2 sums;
    __shared__ nv_bfloat16 other[2];
    if (threadIdx.x == 0) {
        sum[0] = sum[1] = 0;
        other[0] = other[1] = 0.0f;
        sums = __float2half2_rn(0.0f);
    }
    __syncthreads();
    atomicAdd(&sum[1], __half(1));
    atomicAdd(&other[1], __nv_bfloat16(1.0f));
    atomicAdd(&sums, make_half2(1.0f, 2.0f));
    __half lane = __shfl_xor_sync(0xffffffffu, __half((int)threadIdx.x % 32), 1);
    half2 lanes = __shfl_sync(0xffffffffu, __floats2half2_rn(threadIdx.x % 32, 7), 5);
    __syncthreads();
    if (threadIdx.x != 4)
        return;
    half2 two = h2sqrt(__floats2half2_rn(4, 9)) * __half2half2(2.0f);
    two += __float2half2_rn(1);
    const float values[] = {sum[0], sum[1], other[0], other[1], __low2float(sums), __high2float(sums), lane, __low2float(lanes), __low2float(two),
        __high2float(two), (float)__half2int_rn(__half(2.5f)), __half2float(__float2half_rz(2049.5f)), __half2float(__float2half_ru(2049.0f)), hexp(__half(0.0f))};
    for (int i = 0; i < 14; i++)
        out[i] = values[i];
}

/* From whole numbers: for each of `count` numbers 4 roundings of 6 types. To whole numbers: for each of all bits the same. */
#define MODES(all, name) all(name, rn) all(name, rz) all(name, rd) all(name, ru)
#define TYPES(all) MODES(all, short) MODES(all, ushort) MODES(all, int) MODES(all, uint) MODES(all, ll) MODES(all, ull)
extern "C" __global__ void from_whole(unsigned short *half, unsigned short *bfloat, const long long *numbers)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    long long x = numbers[i];
    half += i * 24, bfloat += i * 24;
#define ONE(name, mode) *half++ = __half_as_ushort(__##name##2half_##mode(x)), *bfloat++ = __bfloat16_as_ushort(__##name##2bfloat16_##mode(x));
    TYPES(ONE)
#undef ONE
}
extern "C" __global__ void to_whole(long long *half, long long *bfloat)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    __half h = __ushort_as_half((unsigned short)i);
    __nv_bfloat16 b = __ushort_as_bfloat16((unsigned short)i);
    half += i * 24, bfloat += i * 24;
#define ONE(name, mode) *half++ = (long long)__half2##name##_##mode(h), *bfloat++ = (long long)__bfloat162##name##_##mode(b);
    TYPES(ONE)
#undef ONE
}

/* All bits of both types: wrong[i] counts those for which the type's conversion by the language is not what the function of the same purpose gives. */
extern "C" __global__ void casts(unsigned int *wrong)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    __half h = __ushort_as_half((unsigned short)i);
    __nv_bfloat16 b = __ushort_as_bfloat16((unsigned short)i);
#define ONE(type, name) atomicAdd(wrong++, ((type)h != __half2##name##_rz(h)) + (b.operator type() != __bfloat162##name##_rz(b)));
    ONE(signed char, char) ONE(unsigned char, uchar) ONE(short, short) ONE(unsigned short, ushort) ONE(int, int) ONE(unsigned int, uint)
    ONE(long, ll) ONE(unsigned long, ull) ONE(long long, ll) ONE(unsigned long long, ull) ONE(char, char)
#undef ONE
    atomicAdd(wrong++, ((bool)h != ((float)h != 0)) + ((b ? 1 : 0) != ((float)b != 0)));
    atomicAdd(wrong++, __half_as_ushort(__half(b)) != __half_as_ushort(__float2half(__bfloat162float(b))));
    __nv_bfloat162 turned = __lowhigh2highlow(__halves2bfloat162(b, __nv_bfloat16(1)));
    atomicAdd(wrong++, __bfloat16_as_ushort(turned.y) != (unsigned short)i || (float)turned.x != 1);
    atomicAdd(wrong++, __bfloat16_as_ushort(__nv_bfloat16(h)) != __bfloat16_as_ushort(__float2bfloat16(__half2float(h))));
}

/* A float's bits around every border, rounded down and up; pairs compared to masks. */
extern "C" __global__ void directed(unsigned short *out, unsigned int *masks, const float *x)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i * 2] = __bfloat16_as_ushort(__float2bfloat16_rd(x[i]));
    out[i * 2 + 1] = __bfloat16_as_ushort(__float2bfloat16_ru(x[i]));
    half2 a = __floats2half2_rn(i % 3, i % 5), b = __floats2half2_rn(1, i % 2 ? __int_as_float(0x7fc00000) : 2);
    unsigned int all[12] = {__heq2_mask(a, b), __hne2_mask(a, b), __hle2_mask(a, b), __hge2_mask(a, b), __hlt2_mask(a, b), __hgt2_mask(a, b),
        __hequ2_mask(a, b), __hneu2_mask(a, b), __hleu2_mask(a, b), __hgeu2_mask(a, b), __hltu2_mask(a, b), __hgtu2_mask(a, b)};
    for (int k = 0; k < 12; k++)
        masks[i * 12 + k] = all[k];
}

/* Hardware's tangent of all numbers: of halves, then of bfloat16s; singly, then in pairs. */
extern "C" __global__ void tangents(unsigned short *out)
{
    unsigned int i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned short bits = (unsigned short)i;
    out[i] = __half_as_ushort(htanh_approx(__ushort_as_half(bits)));
    out[65536 + i] = __bfloat16_as_ushort(htanh_approx(__ushort_as_bfloat16(bits)));
    out[2 * 65536 + i] = __half_as_ushort(__high2half(h2tanh_approx(__halves2half2(__ushort_as_half(1), __ushort_as_half(bits)))));
    out[3 * 65536 + i] = __bfloat16_as_ushort(__low2bfloat16(h2tanh_approx(__halves2bfloat162(__ushort_as_bfloat16(bits), __ushort_as_bfloat16(1)))));
}
