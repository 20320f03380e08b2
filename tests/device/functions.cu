/* SPDX-License-Identifier: Apache-2.0 */
/* Functions that few sources use: what they give in a kernel, and those of both sides on the host as well. */
#include <cmath>
#include <cstdio>
#include <new>

#include "both_sides.h"

static __managed__ struct { float2 two; float4 four; unsigned short half[6]; } shared_by_all;

#define IS(expression, right) expect((expression) == (right), __LINE__)

/* On both sides. `one` is 1, so that nothing is known to the compiler. */
static __host__ __device__ void both(int one)
{
    float f = one, none = NAN;
    double d = one;
    bool first, second;
    IS(__nv_bswap16((unsigned short)(0x1233 + one)), 0x3412);
    IS(__nv_bswap32(0x12345677u + one), 0x78563412u);
    IS(__nv_bswap64(0x123456789abcdeefull + one), 0xf0debc9a78563412ull);
    IS(__vimax3_s32(-one, -7, -3), -1);
    IS(__vimax3_s32_relu(-one, -7, -3), 0);
    IS(__vimin3_u32(one, 7u, ~0u), 1u);
    IS(__viaddmax_s32(0x7fffffff, one, -5), -5);
    IS(__viaddmin_u32(~0u, one, 5u), 0u);
    IS(__vimax3_s16x2(0x7fff8000u, 0x00010001u * one, 0x00020003u), 0x7fff0003u);
    IS(__viaddmin_u16x2(0xffff0001u, 0x00010001u * one, 0x00050005u), 0x00000002u);
    IS(__vimin_s16x2_relu(0xffff0005u, 0x00010001u * one), 0x00000001u);
    IS(__vibmax_s32(one, 2, &first), 2);
    IS(first, false);
    IS(__vibmin_u32(one, 1u, &first), 1u);
    IS(first, true);
    IS(__vibmax_u16x2(0x00010005u * one, 0x00010006u, &first, &second), 0x00010006u);
    IS(first && !second, true);
    IS(__vibmin_s16x2(0xffff0005u * one, 0x00010006u, &first, &second), 0xffff0005u);
    IS(first && second, true);
    IS(__isnan(d * NAN) != 0, true);
    IS(__isnanf(none * f) != 0, true);
    IS(__isnanf(f), 0);
    IS(__isinff(f * INFINITY) > 0, true);
    IS(__isinf(d * -INFINITY) != 0, true);
    IS(__isinf(d), 0);
    IS(__finite(d) != 0 && __finitef(f) != 0, true);
    IS(__finitef(f * INFINITY) + __finite(d * NAN), 0);
    IS(__signbitf(-f) != 0 && __signbit(-0.0 * d) != 0, true);
    IS(__signbit(d), 0);
    IS(lrintf(3e9f * f), 3000000000l);
    IS(lroundf(-3e9f * f), -3000000000l);
    IS(llrintf(2.5f * f), 2);
    IS(std::scalbln(f, 3l), 8.0f);
    IS(std::isnan(none * f) && !std::isinf(d) && std::isfinite(f) && std::signbit(-d), true);
    int quotient = 0;
    IS(std::remquo(f * 7.0f, 2.0f, &quotient), -1.0f);
    IS(quotient & 7, 4);
    float sine, cosine;
    sincospi(f * 0.5f, &sine, &cosine);
    IS(sine == 1.0f && cosine == 0.0f && !std::signbit(cosine), true);
    IS(erfinv(f), INFINITY);
    IS(normcdf(f * 0.0f), 0.5f);
    IS(rsqrt(4.0f * f), 0.5f);
    IS(rcbrt(8.0 * d), 0.5);
    IS(sinpi(0.5 * d) + cospi(d), 0.0);
}

/* In kernels alone. */
static __device__ void there(int one)
{
    double d = one, third = d / 3;
    IS(dadd(d, 0x1p-60, cudaRoundPosInf), 1.0 + 0x1p-52);
    IS(dadd(d, 0x1p-60), 1.0);
    IS(dsub(d, 0x1p-60, cudaRoundMinInf), 1.0 - 0x1p-53);
    IS(dmul(third, 3.0, cudaRoundZero), 1.0 - 0x1p-53);
    IS(fma(third, 3.0, 0.0, cudaRoundMinInf), 1.0 - 0x1p-53);
    IS(double2int(1.5 * d), 1);
    IS(double2int(1.5 * d, cudaRoundPosInf), 2);
    IS(double2uint(1.5 * d, cudaRoundNearest), 2u);
    IS(double2ll(-1.5 * d, cudaRoundMinInf), -2ll);
    IS(double2ull(1.5 * d, cudaRoundMinInf), 1ull);
    IS(ll2double(0x20000000000001ll * one, cudaRoundPosInf), 0x1p53 + 2);
    IS(ull2double(0x20000000000001ull * one, cudaRoundZero), 0x1p53);
    IS(int2double(one) + uint2double(one) + float2double(one), 3.0);
    IS(fdivide(d, 4.0), 0.25);
    int quotient;
    IS(remquo(9.0 * d, 1.0, &quotient), 0.0);
    IS(quotient, 1);
    IS(remquof(-1e20f * one, 3.0f, &quotient), 1.0f);
    IS(quotient, -3);
    IS(__double_as_longlong(normcdfinv(0.5 * d)), 0ll);
    IS(__float_as_int(normcdfinvf(0.5f * one)), 0);
    IS(__isnanl(NAN * one) && __isinfl(INFINITY * one) && __finitel(d) && __signbitl(-d), true);
    int same = 5;
    IS(__nv_associate_access_property(&same, 0), (void *)&same);
    for (size_t alignment = 1; alignment <= 1 << 20; alignment *= 4) {
        void *place = __nv_aligned_device_malloc(100, alignment);
        IS(place != nullptr && (size_t)place % alignment == 0, true);
        *((char *)place + 99) = 1;
        free(place);
    }
    void *empty = malloc((size_t)one - 1), *other = __nv_aligned_device_malloc((size_t)one - 1, 64);
    IS(empty && other && empty != other && (size_t)other % 64 == 0, true);
    IS(__nv_aligned_device_malloc(100, (size_t)one + 2) == nullptr, true);
    free(empty);
    free(other);
    struct alignas(128) wide { char c[128]; };
    wide *object = new wide, *row = new wide[3];
    IS(object && row && ((size_t)object | (size_t)row) % 128 == 0, true);
    delete object;
    delete[] row;
}

static __global__ void kernel(int one)
{
    if (threadIdx.x == 0 && blockIdx.x == 0) {
        both(one);
        there(one);
    }
    atomicAdd(&shared_by_all.two, make_float2(1, 2));
    float4 before = atomicAdd_block(&shared_by_all.four, make_float4(1, 0, 0.5f, -1));
    atomicAdd_system(&shared_by_all.four, make_float4(0, before.x >= 0 ? 1 : 100, 0, 0));
    /* Neighbours in one word, each counted by many. */
    for (int i = 0; i < 6; i++) {
        unsigned short old = shared_by_all.half[i], found;
        while ((found = atomicCAS(&shared_by_all.half[i], old, (unsigned short)(old + i))) != old)
            old = found;
    }
}

int main()
{
    both(1);
    kernel<<<4, 64>>>(1);
    if (cudaDeviceSynchronize() != cudaSuccess)
        return 2;
    IS(shared_by_all.two.x == 256 && shared_by_all.two.y == 512, true);
    IS(shared_by_all.four.x == 256 && shared_by_all.four.y == 256 && shared_by_all.four.z == 128 && shared_by_all.four.w == -256, true);
    for (int i = 0; i < 6; i++)
        IS(shared_by_all.half[i], 256 * i);
    return wrong || wrong_there;
}
