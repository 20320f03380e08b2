/* SPDX-License-Identifier: Apache-2.0 */

/*
 * The second half of codegen_kernels.h, which includes this: there kernels that
 * take their way by branches and calls, here kernels about values, namely structures,
 * local memory, wide, signed and floating-point arithmetic, vectors.
 */
#ifndef MR_TESTS_CODEGEN_KERNELS_DATA_H
#define MR_TESTS_CODEGEN_KERNELS_DATA_H

struct triple {
    u32 a, b[3];
    u64 c;
};

static NOINLINE struct triple turn(struct triple v, u32 by)
{
    struct triple r = {v.b[by % 3], {v.a, v.b[0], v.b[1]}, v.c * by + v.a};
    return r;
}

KERNEL(k_structs)
{
    u32 t = THREAD, x = in[t % n];
    struct triple v = {x, {t, x ^ t, x + t}, (u64)x << 20};
    for (u32 i = 0; i < (x & 3); i++)
        v = turn(v, i + t);
    out[t] = v.a + v.b[0] * 3 + v.b[1] * 5 + v.b[2] * 7 + (u32)(v.c >> 16);
}

KERNEL(k_local)
{
    u32 t = THREAD, x = in[t % n], a[16];
    unsigned char bytes[32];
    for (u32 i = 0; i < 16; i++)
        a[i] = mix(x + i);
    for (u32 i = 0; i < 32; i++)
        bytes[i] = (unsigned char)(x >> (i & 7));
    for (u32 i = 0; i < 40; i++) {
        u32 j = a[i & 15] & 15;
        u32 swap = a[j];
        a[j] = a[i & 15] + bytes[(j + i) & 31];
        a[i & 15] = swap;
        bytes[j] = (unsigned char)(bytes[j] + swap);
    }
    out[t] = a[x & 15] ^ a[3] ^ bytes[t & 31];
}

KERNEL(k_wide)
{
    u32 t = THREAD;
    u64 x = in[t % n] * 0x9e3779b97f4a7c15ull + t;
    s64 y = (s64)x >> 7;
    u64 q = x / ((t & 0xff) + 3), r = x % ((t & 0xffff) + 7);
    s64 s = y / ((s64)t - 50 == 0 ? 1 : (s64)t - 50);
    u64 high = (u64)(((unsigned __int128)x * q) >> 64);
    out[t] = (u32)(q ^ (q >> 32) ^ r ^ (u64)s ^ ((u64)s >> 32) ^ high ^ (high >> 32) ^ (u64)__builtin_popcountll(x) ^
                   (u64)(x ? __builtin_clzll(x) : 5));
}

KERNEL(k_signed)
{
    u32 t = THREAD;
    s32 x = (s32)mix(in[t % n]), y = (s32)mix(t) >> (t & 15), z = y ? y : 1;
    u32 r = (u32)(z == -1 ? 3 : x / z + x % z);
    short h = (short)x, k = (short)y;
    signed char c = (signed char)x;
    r += (u32)(h * k) + (u32)((x < y ? c : h >> 3) + (short)(h / (k ? k : 7))) + (u32)(x > 0 ? x : -(s64)x > 100);
    out[t] = r + (u32)(unsigned char)(c * 3) + ((u32)x >> (y & 31)) + ((u32)x << (c & 31));
}

KERNEL(k_floats)
{
    u32 t = THREAD;
    float a = (float)(s32)in[t % n] * 0.001f, b = (float)t - 7.5f, c = a * b;
    float d = c / (b == 0 ? 1.0f : b) + SQRT(a < 0 ? -a : a);
    if (d > 3)
        d = d - (float)(s32)d;
    for (u32 i = 0; i < (t & 7); i++)
        d = d * 0.75f + a;
    union {
        float f;
        u32 u;
    } r = {.f = d};
    out[t] = r.u + (u32)(s32)(b * 3.0f) + (c < a ? 1 : 2);
}

KERNEL(k_doubles)
{
    u32 t = THREAD;
    double a = (double)(s32)in[t % n] / 3.0, b = t + 0.25, s = 0;
    for (u32 i = 1; i < 8 + (t & 3); i++)
        s += a / (b * i) - (double)(float)(a + i);
    u64 w = (u64)(s < 0 ? -s : s);
    union {
        double f;
        u64 u;
    } r = {.f = s};
    out[t] = (u32)(r.u ^ (r.u >> 32)) + (u32)w + (u32)(s32)(float)b;
}

/* Indices that overflow 32 bits somewhere within a warp, in unsigned and in signed arithmetic. */
KERNEL(k_overflow)
{
    u32 t = THREAD;
    u32 i = t + 0xfffffff0u;            /* wraps at thread 16 */
    u64 wide = (u64)i * 4;              /* exact: from near 2^34 down to 0 */
    const u32 *p = (const u32 *)((const char *)in + (wide % (4ull * n)) / 4 * 4);
    u32 small = (i + 16) % n;
    out[t] = *p + in[small] + (u32)(wide >> 32);
}

KERNEL(k_quads)
{
    typedef u32 quad __attribute__((vector_size(16)));
    u32 t = THREAD;
    const quad *q = (const quad *)in;
    quad v = q[t % (n / 4)], w = {v[3] + t, v[2], v[1] * 2, v[0]};
    if (t & 1)
        w[0] ^= w[2];
    out[t] = w[0] + w[1] * 3 + w[2] * 5 + w[3] * 7;
}

#endif
