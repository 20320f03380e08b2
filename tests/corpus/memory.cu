/* SPDX-License-Identifier: Apache-2.0 */
/* Loads and stores of all widths in all spaces, local and shared arrays, constants, generic pointers. */
#include "corpus.h"

struct alignas(8) pair32 { u32 x, y; };
struct alignas(16) quad32 { u32 x, y, z, w; };
struct alignas(16) pair64 { u64 x, y; };
struct alignas(16) quadf { f32 x, y, z, w; };
struct alignas(4) quad8 { u8 x, y, z, w; };
struct alignas(8) quad16 { s16 x, y, z, w; };
struct packed { u8 a; u16 b; u32 c; u64 d; u8 e; };

static __constant__ u32 table32[16] = {1, 2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41, 43, 47};
static __constant__ u8 table8[256] = {9, 8, 7, 6, 5, 4, 3, 2, 1};
static __constant__ f64 tablef[4] = {0.5, 1.25, -3.0, 1e100};
static __device__ u32 initialised[8] = {100, 200, 300, 400, 500, 600, 700, 800};
static __device__ const char letters[] = "the quick brown fox jumps over the lazy dog";
static __device__ const u32 *pointer_to_table = initialised + 2;

/* An element of another thread: no step of one. */
#define OTHER ((i * 37 + 11) & (CORPUS_THREADS - 1))

#define WIDTH(T, member)                                                    \
    KERNEL(load_##T) { STORE((T)(*(const T *)&in->member[0][i] + *(const T *)&in->member[1][OTHER])); }
WIDTH(u8, i8)
WIDTH(s8, i8)
WIDTH(u16, i16)
WIDTH(s16, i16)
WIDTH(u32, i32)
WIDTH(s64, i64)
WIDTH(f32, f32)
WIDTH(f64, f64)
KERNEL(load_s8_wide) { STORE((s64)*(const s8 *)&in->i8[0][i] * 3); }
KERNEL(load_bytes_unaligned)
{
    const u8 *bytes = (const u8 *)in->i32 + i * 3;
    STORE(bytes[0] | bytes[1] << 8 | bytes[2] << 16 | (u32)bytes[5] << 24);
}
KERNEL(load_v2_u32) { pair32 v = ((const pair32 *)in->i32[0])[i & 1023]; STORE(v.x * 3 + v.y); }
KERNEL(load_v4_u32) { quad32 v = ((const quad32 *)in->i32[0])[i & 511]; STORE(v.x + v.y * 3 + v.z * 5 + v.w * 7); }
KERNEL(load_v2_u64) { pair64 v = ((const pair64 *)in->i64[0])[OTHER & 1023]; STORE(v.x ^ v.y * 3); }
KERNEL(load_v4_f32) { quadf v = ((const quadf *)in->i16[0])[i & 127]; STORE(v); }
KERNEL(load_v4_u8) { quad8 v = ((const quad8 *)in->i8[0])[i & 511]; STORE((u32)v.x * v.y + v.z * v.w); }
KERNEL(load_v4_s16) { quad16 v = ((const quad16 *)in->i16[0])[OTHER & 511]; STORE((s32)v.x * v.y + v.z * v.w); }
KERNEL(load_restrict_nc)
{
    u32 r;
    asm("ld.global.nc.u32 %0, [%1];" : "=r"(r) : "l"(&in->i32[1][OTHER]));
    STORE(r);
}
KERNEL(load_nc_v4)
{
    quad32 r;
    asm("ld.global.nc.v4.u32 {%0, %1, %2, %3}, [%4];" : "=r"(r.x), "=r"(r.y), "=r"(r.z), "=r"(r.w) : "l"(&in->i32[1][(i * 4) & 2047]));
    STORE(r);
}
KERNEL(load_nc_u8)
{
    u32 r;
    asm("ld.global.nc.u8 %0, [%1];" : "=r"(r) : "l"(&in->i8[1][OTHER]));
    STORE(r);
}
KERNEL(load_operators)
{
    u32 a, b, c, d;
    asm volatile("ld.global.ca.u32 %0, [%4];\n\tld.global.cg.u32 %1, [%4+4];\n\tld.global.cs.u32 %2, [%4+8];\n\tld.global.lu.u32 %3, [%4+12];"
                 : "=r"(a), "=r"(b), "=r"(c), "=r"(d) : "l"(&in->i32[1][i & 2043]));
    STORE(a ^ b * 3 ^ c * 5 ^ d * 7);
}
KERNEL(load_ordered)
{
    u32 a, b, c;
    asm volatile("ld.relaxed.gpu.global.u32 %0, [%3];\n\tld.acquire.sys.u32 %1, [%3+4];\n\tld.volatile.global.u32 %2, [%3+8];"
                 : "=r"(a), "=r"(b), "=r"(c) : "l"(&in->i32[1][i & 2043]) : "memory");
    STORE(a ^ b * 3 ^ c * 5);
}
KERNEL(load_signed_narrow)
{
    s32 a, b;
    s64 c;
    asm volatile("ld.s8 %0, [%3];\n\tld.s16 %1, [%4];\n\tld.s32 %2, [%5];" : "=r"(a), "=r"(b), "=l"(c) : "l"(&in->i8[0][i]), "l"(&in->i16[0][i]), "l"(&in->i32[0][i]));
    STORE(a * 3 + b * 5 + c);
}
KERNEL(load_f16_bits)
{
    u16 a;
    asm volatile("ld.global.b16 %0, [%1];" : "=h"(a) : "l"(&in->f16[0][OTHER]));
    STORE(a);
}
KERNEL(load_volatile) { STORE(*(volatile const u32 *)&in->i32[0][i] + *(volatile const u64 *)&in->i64[1][i]); }
KERNEL(load_uniform) { STORE(in->i32[1][1500] + in->i64[0][blockIdx.x] * i); }
KERNEL(load_gather)
{
    u32 sum = 0;
    for (int k = 0; k < 8; k++)
        sum = sum * 5 + in->i32[k % 3][(LOAD(u32, 0) + k * LOAD(u32, 1)) % CORPUS_THREADS];
    STORE(sum);
}
KERNEL(load_predicated)
{
    u32 r = 77;
    if (LOAD(s32, 0) > 20)
        r = in->i32[1][LOAD(u32, 1) & 2047];
    STORE(r);
}
KERNEL(store_u8) { ((u8 *)out)[i * 3] = LOAD(u32, 0); }
KERNEL(store_u16) { ((u16 *)out)[i * 2 + 1] = LOAD(u64, 0); }
KERNEL(store_v2_f64) { ((pair64 *)out)[i] = {LOAD(u64, 0), LOAD(u64, 1)}; }
KERNEL(store_v4_u8) { ((quad8 *)out)[CORPUS_THREADS - 1 - i] = {(u8)LOAD(u32, 0), (u8)LOAD(u32, 1), (u8)i, 0x77}; }
KERNEL(store_v2_u16) { *(quad16 *)((char *)out + i * 32 + 16) = {LOAD(s16, 0), LOAD(s16, 1), LOAD(s16, 2), (s16)i}; }
KERNEL(store_scatter) { ((u32 *)out)[OTHER] = LOAD(u32, 0) + i; }
KERNEL(store_conditional)
{
    if (LOAD(u32, 0) & 1)
        ((u64 *)out)[i] = LOAD(u64, 1);
    else if (i % 5 == 0)
        ((u32 *)out)[2 * i] = i;
}
KERNEL(store_operators)
{
    asm volatile("st.global.wb.u32 [%0], %1;\n\tst.global.cg.u32 [%0+4], %2;\n\tst.global.cs.u16 [%0+8], %3;\n\tst.global.wt.u8 [%0+13], %1;"
                 :: "l"((u32 *)out + 4 * i), "r"(LOAD(u32, 0)), "r"(LOAD(u32, 1)), "h"(LOAD(u16, 0)) : "memory");
}
KERNEL(store_ordered)
{
    asm volatile("st.relaxed.cta.u32 [%0], %1;\n\tst.release.gpu.global.u64 [%0+8], %2;\n\tst.volatile.u32 [%0+4], %1;"
                 :: "l"((u64 *)out + 2 * i), "r"(LOAD(u32, 0)), "l"(LOAD(u64, 1)) : "memory");
}
KERNEL(store_structure)
{
    packed p = {(u8)i, LOAD(u16, 0), LOAD(u32, 1), LOAD(u64, 2), 0x5a};
    packed *to = (packed *)((char *)out + i * 32);
    to->a = p.a, to->b = p.b, to->c = p.c, to->d = p.d, to->e = p.e;
}
KERNEL(constant_uniform) { STORE(table32[3] + table32[blockIdx.x & 15]); }
KERNEL(constant_varying) { STORE(table32[LOAD(u32, 0) & 15] * 256 + table8[LOAD(u32, 1) & 255]); }
KERNEL(constant_double) { STORE(tablef[i & 3] * 2); }
KERNEL(constant_generic)
{
    const u32 *p = (i & 1) ? table32 : initialised;
    STORE(p[i & 7]);
}
KERNEL(global_initialised) { STORE(initialised[i & 7] + pointer_to_table[i & 3] + letters[i % 43]); }
KERNEL(local_array)
{
    u32 a[16];
    for (int k = 0; k < 16; k++)
        a[k] = LOAD(u32, k % 3) + k;
    u32 at = LOAD(u32, 0) & 15, r = 0;
    for (int k = 0; k < 20; k++) {
        a[at] += r + k;
        r ^= a[(at * 3 + k) & 15];
        at = (at + a[at]) & 15;
    }
    STORE(r);
}
KERNEL(local_bytes)
{
    u8 a[64];
    for (int k = 0; k < 64; k++)
        a[k] = (u8)(k * 7 + LOAD(u8, 0));
    for (int k = 0; k < 64; k += 4)
        a[(k + i) & 63] ^= a[(k * 5 + LOAD(u8, 1)) & 63];
    u32 r = 0;
    for (int k = 0; k < 64; k++)
        r = r * 33 + a[k];
    STORE(r);
}
KERNEL(local_matrix)
{
    f64 m[4][4];
    for (int r = 0; r < 4; r++)
        for (int c = 0; c < 4; c++)
            m[r][c] = r * 4 + c + (i & 7);
    int r = i & 3, c = (i >> 2) & 3;
    m[r][c] *= 2;
    m[c][r] += 1;
    STORE(m[i % 4][(i / 16) % 4] + m[1][2]);
}
KERNEL(local_structures)
{
    packed p[3] = {{1, 2, 3, 4, 5}, {6, 7, 8, 9, 10}, {(u8)i, LOAD(u16, 0), LOAD(u32, 0), LOAD(u64, 0), 3}};
    p[i % 3] = p[(i + 1) % 3];
    const packed *q = &p[(i / 3) % 3];
    STORE(q->a + q->b * 3ull + q->c * 5ull + q->d * 7 + q->e);
}
KERNEL(local_union)
{
    union { u64 whole; u32 words[2]; u16 halves[4]; u8 bytes[8]; f64 number; } x;
    x.whole = LOAD(u64, 0);
    x.bytes[i & 7] ^= 0x5a;
    x.halves[(i >> 3) & 3] += 1;
    STORE(x.words[0] * 3ull + x.words[1]);
}
NOINLINE void swap_words(u32 *a, u32 *b) { u32 t = *a; *a = *b; *b = t; }
KERNEL(local_addresses)
{
    u32 x = LOAD(u32, 0), y = LOAD(u32, 1);
    swap_words(&x, &y);
    if (x > y)
        swap_words(&x, &y);
    STORE((u64)x << 32 | y);
}
KERNEL(shared_neighbour)
{
    __shared__ u32 s[CORPUS_BLOCK];
    s[threadIdx.x] = LOAD(u32, 0);
    __syncthreads();
    STORE(s[threadIdx.x ^ 1] + s[(threadIdx.x * 7 + 3) & 127]);
}
KERNEL(shared_bytes)
{
    __shared__ u8 s[CORPUS_BLOCK * 3];
    for (int k = 0; k < 3; k++)
        s[threadIdx.x + k * CORPUS_BLOCK] = (u8)LOAD(u32, k);
    __syncthreads();
    STORE(s[threadIdx.x * 3] | s[threadIdx.x * 3 + 1] << 8 | s[threadIdx.x * 3 + 2] << 16);
}
KERNEL(shared_vectors)
{
    __shared__ quad32 s[CORPUS_BLOCK];
    s[threadIdx.x] = {LOAD(u32, 0), LOAD(u32, 1), LOAD(u32, 2), (u32)i};
    __syncthreads();
    STORE(s[127 - threadIdx.x]);
}
KERNEL(shared_transpose)
{
    __shared__ f32 s[8][17];
    u32 x = threadIdx.x % 16, y = threadIdx.x / 16;
    s[y][x] = (f32)(i * 3);
    __syncthreads();
    STORE(s[x % 8][y + 8 * (x / 8)]);
}
KERNEL(shared_doubles)
{
    __shared__ f64 s[CORPUS_BLOCK];
    s[threadIdx.x] = threadIdx.x * 0.5 + blockIdx.x;
    __syncthreads();
    f64 sum = 0;
    for (int k = 0; k < 16; k++)
        sum += s[(threadIdx.x + k * 5) & 127];
    STORE(sum);
}
KERNEL(generic_pointers)
{
    __shared__ u32 s[CORPUS_BLOCK];
    u32 local[4] = {1, 2, 3, 4};
    s[threadIdx.x] = i * 5;
    __syncthreads();
    const u32 *p = i % 3 == 0 ? s : i % 3 == 1 ? local : in->i32[0];
    asm volatile("" : "+l"(p));
    STORE(p[i & 3]);
}
KERNEL(generic_which)
{
    __shared__ u32 s[4];
    u32 local[4];
    const void *p = i % 4 == 0 ? (const void *)s : i % 4 == 1 ? (const void *)local : i % 4 == 2 ? (const void *)in : (const void *)table32;
    asm volatile("" : "+l"(p));
    u32 r;
    asm("{ .reg .pred a, b, c, d;\n\t.reg .u32 t;\n\tisspacep.global a, %1;\n\tisspacep.shared b, %1;\n\tisspacep.local c, %1;\n\tisspacep.const d, %1;\n\t"
        "selp.u32 %0, 1, 0, a;\n\t@b add.u32 %0, %0, 2;\n\t@c add.u32 %0, %0, 4;\n\t@d add.u32 %0, %0, 8; }" : "=r"(r) : "l"(p));
    STORE(r);
}
NOINLINE u32 sum_of(const u32 *p, int count)
{
    u32 sum = 0;
    for (int k = 0; k < count; k++)
        sum = sum * 3 + p[k];
    return sum;
}
KERNEL(generic_argument)
{
    __shared__ u32 s[CORPUS_BLOCK + 8];
    u32 local[8];
    for (int k = 0; k < 8; k++)
        local[k] = i + k;
    s[threadIdx.x] = i;
    if (threadIdx.x < 8)
        s[CORPUS_BLOCK + threadIdx.x] = 7;
    __syncthreads();
    STORE(sum_of(local, i & 7) + sum_of(s + threadIdx.x, 8) + sum_of(in->i32[0] + (i & 1023), i % 5) + sum_of(table32, 16));
}
KERNEL(copy_of_structure)
{
    struct big { u32 w[13]; } a;
    for (int k = 0; k < 13; k++)
        a.w[k] = in->i32[k % 3][(i + k) & 2047];
    big b = a;
    b.w[i % 13] = 5;
    u32 r = 0;
    for (int k = 0; k < 13; k++)
        r = r * 7 + b.w[k];
    STORE(r);
}
KERNEL(copy_words_ptx)
{
    u64 r;
    asm volatile("{ .local .align 8 .b8 buffer[32];\n\t.reg .u64 p, v;\n\t.reg .u32 t;\n\tmov.u64 p, buffer;\n\tst.local.u64 [p], %1;\n\tst.local.v2.u32 [p+8], {%2, %3};\n\t"
                 "st.local.u8 [p+3], %2;\n\tld.local.u64 v, [p+8];\n\tld.local.u32 t, [p+4];\n\tcvt.u64.u32 %0, t;\n\tmad.lo.u64 %0, v, 3, %0; }"
                 : "=l"(r) : "l"(LOAD(u64, 0)), "r"(LOAD(u32, 1)), "r"(LOAD(u32, 2)) : "memory");
    STORE(r);
}
KERNEL(pack_registers)
{
    u64 r;
    asm("{ .reg .b16 a, b, c, d;\n\t.reg .b32 e, f;\n\tmov.b64 {a, b, c, d}, %1;\n\tmov.b32 e, {d, a};\n\tmov.b32 f, {c, b};\n\tmov.b64 %0, {f, e}; }" : "=l"(r) : "l"(LOAD(u64, 0)));
    STORE(r);
}
KERNEL(pack_v4)
{
    quad32 r;
    asm("mov.b64 {%0, %1}, %4;\n\tmov.b64 {%2, %3}, %5;" : "=r"(r.x), "=r"(r.y), "=r"(r.z), "=r"(r.w) : "l"(LOAD(u64, 0)), "l"(LOAD(u64, 1)));
    STORE(r);
}
