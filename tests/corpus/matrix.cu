/* SPDX-License-Identifier: Apache-2.0 */
/* Matrices of a warp. Elements are small whole numbers, so that every order of additions gives the same bits. */
#include "corpus.h"

/* Two halves, each a whole number from -4 to 3; the same in other formats. */
static __device__ u32 small(u32 x) { return (x & 7) - 4; }
static __device__ u32 half_of(u32 x) { u16 h; asm("cvt.rn.f16.s32 %0, %1;" : "=h"(h) : "r"((s32)small(x))); return h; }
static __device__ u32 halves(corpus_in *in, int operand, int at) { u32 x = in->i32[operand][at & 2047] * 2654435761u >> 7; return half_of(x) | half_of(x >> 9) << 16; }
static __device__ u32 bfloat_of(u32 x) { return __float_as_uint((f32)(s32)small(x)) >> 16; }
static __device__ u32 bfloats(corpus_in *in, int operand, int at) { u32 x = in->i32[operand][at & 2047] * 2654435761u >> 7; return bfloat_of(x) | bfloat_of(x >> 9) << 16; }
static __device__ u32 tf32(corpus_in *in, int operand, int at) { return __float_as_uint((f32)(s32)small(in->i32[operand][at & 2047] * 2654435761u >> 11)); }
static __device__ f64 number(corpus_in *in, int operand, int at) { return (s32)small(in->i32[operand][at & 2047] * 2654435761u >> 11); }
static __device__ u32 bits(corpus_in *in, int operand, int at) { return in->i32[operand][at & 2047] * 2654435761u; }

struct alignas(16) four { f32 x[4]; };
struct alignas(16) whole4 { s32 x[4]; };
struct alignas(16) eight { f32 x[8]; };
struct alignas(8) two { u32 x[2]; };
struct alignas(16) doubles { f64 x[2]; };

KERNEL(mma_m16n8k8_f16)
{
    four c = {{1, 2, 3, (f32)(i & 7)}};
    asm volatile("mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5}, {%6}, {%0,%1,%2,%3};"
                 : "+f"(c.x[0]), "+f"(c.x[1]), "+f"(c.x[2]), "+f"(c.x[3]) : "r"(halves(in, 0, 2 * i)), "r"(halves(in, 0, 2 * i + 1)), "r"(halves(in, 1, i)));
    STORE(c);
}
KERNEL(mma_m16n8k8_f16_f16)
{
    two c = {{0x3c003c00, 0}};
    asm volatile("mma.sync.aligned.m16n8k8.row.col.f16.f16.f16.f16 {%0,%1}, {%2,%3}, {%4}, {%0,%1};"
                 : "+r"(c.x[0]), "+r"(c.x[1]) : "r"(halves(in, 0, 2 * i)), "r"(halves(in, 0, 2 * i + 1)), "r"(halves(in, 1, i)));
    STORE(c);
}
KERNEL(mma_m8n8k4_f16)
{
    eight c = {{1, 0, 2, 0, 3, 0, 4, 0}};
    asm volatile("mma.sync.aligned.m8n8k4.row.col.f32.f16.f16.f32 {%0,%1,%2,%3,%4,%5,%6,%7}, {%8,%9}, {%10,%11}, {%0,%1,%2,%3,%4,%5,%6,%7};"
                 : "+f"(c.x[0]), "+f"(c.x[1]), "+f"(c.x[2]), "+f"(c.x[3]), "+f"(c.x[4]), "+f"(c.x[5]), "+f"(c.x[6]), "+f"(c.x[7])
                 : "r"(halves(in, 0, 2 * i)), "r"(halves(in, 0, 2 * i + 1)), "r"(halves(in, 1, 2 * i)), "r"(halves(in, 1, 2 * i + 1)));
    STORE(c);
}
KERNEL(mma_m8n8k16_s8)
{
    s32 c[2] = {i, -i};
    asm volatile("mma.sync.aligned.m8n8k16.row.col.s32.s8.s8.s32 {%0,%1}, {%2}, {%3}, {%0,%1};" : "+r"(c[0]), "+r"(c[1]) : "r"(bits(in, 0, i)), "r"(bits(in, 1, i)));
    STORE((u64)(u32)c[0] << 32 | (u32)c[1]);
}
KERNEL(mma_m8n8k16_u8_sat)
{
    s32 c[2] = {0x7fffff00, i};
    asm volatile("mma.sync.aligned.m8n8k16.row.col.satfinite.s32.u8.s8.s32 {%0,%1}, {%2}, {%3}, {%0,%1};" : "+r"(c[0]), "+r"(c[1]) : "r"(bits(in, 0, i)), "r"(bits(in, 1, i)));
    STORE((u64)(u32)c[0] << 32 | (u32)c[1]);
}
KERNEL(mma_m8n8k32_s4)
{
    s32 c[2] = {i, -i};
    asm volatile("mma.sync.aligned.m8n8k32.row.col.s32.s4.u4.s32 {%0,%1}, {%2}, {%3}, {%0,%1};" : "+r"(c[0]), "+r"(c[1]) : "r"(bits(in, 0, i)), "r"(bits(in, 1, i)));
    STORE((u64)(u32)c[0] << 32 | (u32)c[1]);
}
KERNEL(mma_m8n8k128_b1)
{
    s32 c[2] = {i, -i};
    asm volatile("mma.sync.aligned.m8n8k128.row.col.s32.b1.b1.s32.xor.popc {%0,%1}, {%2}, {%3}, {%0,%1};" : "+r"(c[0]), "+r"(c[1]) : "r"(bits(in, 0, i)), "r"(bits(in, 1, i)));
    STORE((u64)(u32)c[0] << 32 | (u32)c[1]);
}
#if __CUDA_ARCH__ >= 800
KERNEL(mma_m16n8k16_f16)
{
    four c = {{1, 2, 3, (f32)(i & 7)}};
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
                 : "+f"(c.x[0]), "+f"(c.x[1]), "+f"(c.x[2]), "+f"(c.x[3])
                 : "r"(halves(in, 0, i)), "r"(halves(in, 0, i + 50)), "r"(halves(in, 0, i + 100)), "r"(halves(in, 0, i + 150)), "r"(halves(in, 1, i)), "r"(halves(in, 1, i + 50)));
    STORE(c);
}
KERNEL(mma_m16n8k16_bf16)
{
    four c = {{1, 2, 3, (f32)(i & 7)}};
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
                 : "+f"(c.x[0]), "+f"(c.x[1]), "+f"(c.x[2]), "+f"(c.x[3])
                 : "r"(bfloats(in, 0, i)), "r"(bfloats(in, 0, i + 50)), "r"(bfloats(in, 0, i + 100)), "r"(bfloats(in, 0, i + 150)), "r"(bfloats(in, 1, i)), "r"(bfloats(in, 1, i + 50)));
    STORE(c);
}
KERNEL(mma_m16n8k8_tf32)
{
    four c = {{1, 2, 3, (f32)(i & 7)}};
    asm volatile("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
                 : "+f"(c.x[0]), "+f"(c.x[1]), "+f"(c.x[2]), "+f"(c.x[3])
                 : "r"(tf32(in, 0, i)), "r"(tf32(in, 0, i + 50)), "r"(tf32(in, 0, i + 100)), "r"(tf32(in, 0, i + 150)), "r"(tf32(in, 1, i)), "r"(tf32(in, 1, i + 50)));
    STORE(c);
}
KERNEL(mma_m8n8k4_f64)
{
    doubles c = {{1, (f64)i}};
    asm volatile("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0,%1}, {%2}, {%3}, {%0,%1};" : "+d"(c.x[0]), "+d"(c.x[1]) : "d"(number(in, 0, i)), "d"(number(in, 1, i)));
    STORE(c);
}
KERNEL(mma_m16n8k32_s8)
{
    whole4 c = {{i, -i, 5, 7}};
    asm volatile("mma.sync.aligned.m16n8k32.row.col.s32.s8.u8.s32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
                 : "+r"(c.x[0]), "+r"(c.x[1]), "+r"(c.x[2]), "+r"(c.x[3])
                 : "r"(bits(in, 0, i)), "r"(bits(in, 0, i + 50)), "r"(bits(in, 0, i + 100)), "r"(bits(in, 0, i + 150)), "r"(bits(in, 1, i)), "r"(bits(in, 1, i + 50)));
    STORE(c);
}
KERNEL(mma_m16n8k64_u4)
{
    whole4 c = {{i, -i, 5, 7}};
    asm volatile("mma.sync.aligned.m16n8k64.row.col.s32.u4.s4.s32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
                 : "+r"(c.x[0]), "+r"(c.x[1]), "+r"(c.x[2]), "+r"(c.x[3])
                 : "r"(bits(in, 0, i)), "r"(bits(in, 0, i + 50)), "r"(bits(in, 0, i + 100)), "r"(bits(in, 0, i + 150)), "r"(bits(in, 1, i)), "r"(bits(in, 1, i + 50)));
    STORE(c);
}
KERNEL(mma_m16n8k256_b1_and)
{
    whole4 c = {{i, -i, 5, 7}};
    asm volatile("mma.sync.aligned.m16n8k256.row.col.s32.b1.b1.s32.and.popc {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
                 : "+r"(c.x[0]), "+r"(c.x[1]), "+r"(c.x[2]), "+r"(c.x[3])
                 : "r"(bits(in, 0, i)), "r"(bits(in, 0, i + 50)), "r"(bits(in, 0, i + 100)), "r"(bits(in, 0, i + 150)), "r"(bits(in, 1, i)), "r"(bits(in, 1, i + 50)));
    STORE(c);
}
#endif
#if __CUDA_ARCH__ >= 900
KERNEL(mma_m16n8k16_f64)
{
    doubles c = {{1, (f64)i}}, d = {{2, 3}};
    f64 a[8], b[4];
    for (int k = 0; k < 8; k++)
        a[k] = number(in, 0, i + k * 40);
    for (int k = 0; k < 4; k++)
        b[k] = number(in, 1, i + k * 40);
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f64.f64.f64.f64 {%0,%1,%2,%3}, {%4,%5,%6,%7,%8,%9,%10,%11}, {%12,%13,%14,%15}, {%0,%1,%2,%3};"
                 : "+d"(c.x[0]), "+d"(c.x[1]), "+d"(d.x[0]), "+d"(d.x[1])
                 : "d"(a[0]), "d"(a[1]), "d"(a[2]), "d"(a[3]), "d"(a[4]), "d"(a[5]), "d"(a[6]), "d"(a[7]), "d"(b[0]), "d"(b[1]), "d"(b[2]), "d"(b[3]));
    c.x[0] += d.x[0] * 1000;
    c.x[1] += d.x[1] * 1000;
    STORE(c);
}
KERNEL(matrix_store)
{
    alignas(16) __shared__ u32 s[4][32];
    u32 warp = threadIdx.x / 32;
    asm volatile("stmatrix.sync.aligned.m8n8.x1.shared.b16 [%0], {%1};" :: "r"((u32)__cvta_generic_to_shared(&s[warp][(threadIdx.x & 7) * 4])), "r"(bits(in, 0, i)) : "memory");
    __syncwarp();
    STORE(s[warp][threadIdx.x & 31]);
}
#endif
KERNEL(matrix_load)
{
    alignas(16) __shared__ u32 s[4][128];
    u32 warp = threadIdx.x / 32, lane = threadIdx.x & 31;
    whole4 r;
    for (int k = 0; k < 4; k++)
        s[warp][lane * 4 + k] = bits(in, k % 3, i + k);
    __syncwarp();
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];" : "=r"(r.x[0]), "=r"(r.x[1]), "=r"(r.x[2]), "=r"(r.x[3]) : "r"((u32)__cvta_generic_to_shared(&s[warp][lane * 4])));
    STORE(r);
}
KERNEL(matrix_load_transposed)
{
    alignas(16) __shared__ u32 s[4][128];
    u32 warp = threadIdx.x / 32, lane = threadIdx.x & 31;
    two r;
    for (int k = 0; k < 4; k++)
        s[warp][lane * 4 + k] = bits(in, k % 3, i + k);
    __syncwarp();
    asm volatile("ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%0,%1}, [%2];" : "=r"(r.x[0]), "=r"(r.x[1]) : "r"((u32)__cvta_generic_to_shared(&s[warp][lane * 4])));
    STORE(r);
}
KERNEL(matrix_move)
{
    u32 r;
    asm volatile("movmatrix.sync.aligned.m8n8.trans.b16 %0, %1;" : "=r"(r) : "r"(bits(in, 0, i)));
    STORE(r);
}
KERNEL(wmma_f16)
{
    alignas(32) __shared__ u16 a[4][256], b[4][256];
    alignas(32) __shared__ f32 d[4][256];
    u32 warp = threadIdx.x / 32, lane = threadIdx.x & 31;
    for (u32 k = lane; k < 256; k += 32) {
        a[warp][k] = half_of(bits(in, 0, i + k) >> 9);
        b[warp][k] = half_of(bits(in, 1, i + k) >> 9);
        d[warp][k] = (f32)(k & 15);
    }
    __syncwarp();
    asm volatile("{ .reg .b32 a<8>, b<8>;\n\t.reg .f32 c<8>, d<8>;\n\t"
                 "wmma.load.a.sync.aligned.row.m16n16k16.shared.f16 {a0,a1,a2,a3,a4,a5,a6,a7}, [%0], 16;\n\t"
                 "wmma.load.b.sync.aligned.col.m16n16k16.shared.f16 {b0,b1,b2,b3,b4,b5,b6,b7}, [%1], 16;\n\t"
                 "wmma.load.c.sync.aligned.row.m16n16k16.shared.f32 {c0,c1,c2,c3,c4,c5,c6,c7}, [%2], 16;\n\t"
                 "wmma.mma.sync.aligned.row.col.m16n16k16.f32.f32 {d0,d1,d2,d3,d4,d5,d6,d7}, {a0,a1,a2,a3,a4,a5,a6,a7}, {b0,b1,b2,b3,b4,b5,b6,b7}, {c0,c1,c2,c3,c4,c5,c6,c7};\n\t"
                 "wmma.store.d.sync.aligned.row.m16n16k16.shared.f32 [%2], {d0,d1,d2,d3,d4,d5,d6,d7}, 16; }"
                 :: "r"((u32)__cvta_generic_to_shared(a[warp])), "r"((u32)__cvta_generic_to_shared(b[warp])), "r"((u32)__cvta_generic_to_shared(d[warp])) : "memory");
    __syncwarp();
    eight r;
    for (int k = 0; k < 8; k++)
        r.x[k] = d[warp][lane * 8 + k];
    STORE(r);
}
KERNEL(wmma_s8)
{
    alignas(32) __shared__ s8 a[4][256], b[4][256];
    alignas(32) __shared__ s32 d[4][256];
    u32 warp = threadIdx.x / 32, lane = threadIdx.x & 31;
    for (u32 k = lane; k < 256; k += 32) {
        a[warp][k] = bits(in, 0, i + k) >> 9;
        b[warp][k] = bits(in, 1, i + k) >> 9;
        d[warp][k] = k;
    }
    __syncwarp();
    asm volatile("{ .reg .b32 a<2>, b<2>, c<8>, d<8>;\n\t"
                 "wmma.load.a.sync.aligned.row.m16n16k16.shared.s8 {a0,a1}, [%0], 16;\n\t"
                 "wmma.load.b.sync.aligned.col.m16n16k16.shared.s8 {b0,b1}, [%1], 16;\n\t"
                 "wmma.load.c.sync.aligned.col.m16n16k16.shared.s32 {c0,c1,c2,c3,c4,c5,c6,c7}, [%2], 16;\n\t"
                 "wmma.mma.sync.aligned.row.col.m16n16k16.s32.s8.s8.s32 {d0,d1,d2,d3,d4,d5,d6,d7}, {a0,a1}, {b0,b1}, {c0,c1,c2,c3,c4,c5,c6,c7};\n\t"
                 "wmma.store.d.sync.aligned.row.m16n16k16.shared.s32 [%2], {d0,d1,d2,d3,d4,d5,d6,d7}, 16; }"
                 :: "r"((u32)__cvta_generic_to_shared(a[warp])), "r"((u32)__cvta_generic_to_shared(b[warp])), "r"((u32)__cvta_generic_to_shared(d[warp])) : "memory");
    __syncwarp();
    u32 r = 0;
    for (int k = 0; k < 8; k++)
        r = r * 31 + d[warp][lane * 8 + k];
    STORE(r);
}
