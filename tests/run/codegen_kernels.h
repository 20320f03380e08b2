/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Kernels that are compiled twice from one text: by clang to PTX, at -O0 and -O3,
 * and into the test itself, where a loop runs them thread by thread. Whatever the
 * lanes do together has to give what each thread gives alone.
 *
 * KERNEL(name) defines a kernel over (const uint32_t *in, uint32_t *out, uint32_t n)
 * in which `t` is the thread's number in the grid.
 */
#ifndef MR_TESTS_CODEGEN_KERNELS_H
#define MR_TESTS_CODEGEN_KERNELS_H

typedef unsigned int u32;
typedef unsigned long long u64;
typedef int s32;
typedef long long s64;

#ifdef __NVPTX__
#define KERNEL(name) __attribute__((nvptx_kernel)) void name(const u32 *in, u32 *out, u32 n)
#define THREAD (__nvvm_read_ptx_sreg_ctaid_x() * __nvvm_read_ptx_sreg_ntid_x() + __nvvm_read_ptx_sreg_tid_x())
#define SQRT(x) __nvvm_sqrt_rn_f(x)
#else
extern u32 host_thread;
#define KERNEL(name) static void name(const u32 *in, u32 *out, u32 n)
#define THREAD host_thread
#define SQRT(x) __builtin_sqrtf(x)
#endif
#define NOINLINE __attribute__((noinline))

static inline u32 mix(u32 x)
{
    x ^= x >> 16;
    x *= 0x7feb352du;
    x ^= x >> 15;
    x *= 0x846ca68bu;
    return x ^ (x >> 16);
}

KERNEL(k_straight)
{
    u32 t = THREAD;
    if (t < n)
        out[t] = in[t] * 3 + (t ^ 5);
}

KERNEL(k_nested)
{
    u32 t = THREAD, x = in[t % n], r = 0;
    if (x & 1) {
        if (x & 2)
            r = x * 7;
        else if (x & 4)
            r = x + 11;
        r ^= t;
    } else {
        if (x & 8) {
            r = x >> 3;
            if (t & 1)
                r += 1000;
        }
        r -= 3;
    }
    out[t] = r + x;
}

KERNEL(k_trips)
{
    u32 t = THREAD, x = in[t % n], sum = 0, i;
    for (i = 0; i < (x & 31); i++)
        sum += mix(x + i);
    out[t] = sum ^ i;
}

KERNEL(k_uniform_loop)
{
    u32 t = THREAD, sum = 0;
    for (u32 i = 0; i < n; i++) {
        sum += in[i] * (t + i);
        if ((sum & 7) == 3)
            sum ^= i;
    }
    out[t] = sum;
}

KERNEL(k_breaks)
{
    u32 t = THREAD, x = mix(in[t % n]), i, r = 0;
    for (i = 0; i < 50; i++) {
        x = mix(x + i);
        if (x % 17 == 3)
            break;
        if (x % 5 == 1)
            continue;
        if (x % 29 == 2) {
            out[t] = r + 77;
            return;
        }
        r += x;
    }
    out[t] = r * 31 + i;
}

KERNEL(k_nested_loops)
{
    u32 t = THREAD, x = in[t % n], r = 0;
    for (u32 i = 0; i < (x & 7); i++)
        for (u32 j = i; j < ((x >> 3) & 7); j++) {
            if (((i ^ j) & 1) && (x & 64))
                goto next;
            for (u32 k = 0; k <= (t & 3); k++)
                r += i * 100 + j * 10 + k;
        next:
            r ^= j;
        }
    out[t] = r;
}

KERNEL(k_switch)
{
    u32 t = THREAD, x = in[t % n], r = 1;
    for (u32 i = 0; i < 6; i++) {
        switch (x % 9) {
        case 0: r += 5; break;
        case 1: r *= 3; /* fall through */
        case 2: r ^= 0x55; break;
        case 3: r = (r << 3) | (r >> 29); break;
        case 4: x += r; break;
        case 5: r -= x; break;
        case 6: r = ~r; break;
        case 7: r = r / 3; break;
        default: r += i; break;
        }
        x = mix(x + i);
    }
    out[t] = r;
}

/* Two ways into a loop, in the middle and at the top. */
KERNEL(k_irreducible)
{
    u32 t = THREAD, x = in[t % n], r = t, i = 0;
    if (x & 1)
        goto middle;
top:
    r = r * 5 + i;
    if (r & 0x100)
        goto out;
middle:
    r ^= x + i;
    i++;
    if (i < (x & 15))
        goto top;
    if ((r & 3) == 0 && i < 40)
        goto middle;
out:
    out[t] = r + i;
}

static NOINLINE u32 fibonacci(u32 x)
{
    return x < 2 ? x : fibonacci(x - 1) + fibonacci(x - 2);
}

KERNEL(k_recursion)
{
    u32 t = THREAD;
    out[t] = fibonacci(in[t % n] % 11);
}

static NOINLINE u32 even_steps(u32 x, u32 depth);
static NOINLINE u32 odd_steps(u32 x, u32 depth)
{
    return depth > 20 ? x : even_steps(x * 3 + 1, depth + 1);
}

static NOINLINE u32 even_steps(u32 x, u32 depth)
{
    while (!(x & 1) && x)
        x >>= 1;
    return x <= 1 ? depth : odd_steps(x, depth);
}

KERNEL(k_mutual)
{
    u32 t = THREAD;
    out[t] = even_steps(in[t % n] & 0xffff, 0);
}

static NOINLINE u32 add_one(u32 x) { return x + 1; }
static NOINLINE u32 times_two(u32 x) { return x * 2; }
static NOINLINE u32 flipped(u32 x) { return ~x; }

KERNEL(k_pointers)
{
    u32 (*volatile table[3])(u32) = {add_one, times_two, flipped};
    u32 t = THREAD, x = in[t % n], r = x;
    for (u32 i = 0; i < (x & 3) + 1; i++)
        r = table[(r + i) % 3](r);
    out[t] = r;
}

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
    out[t] = (u32)(q ^ (q >> 32) ^ r ^ (u64)s ^ ((u64)s >> 32) ^ high ^ (high >> 32) ^ (u64)__builtin_popcountll(x)
                   ^ (u64)(x ? __builtin_clzll(x) : 5));
}

KERNEL(k_signed)
{
    u32 t = THREAD;
    s32 x = (s32)mix(in[t % n]), y = (s32)mix(t) >> (t & 15), z = y ? y : 1;
    s32 r = z == -1 ? 3 : x / z + x % z;
    short h = (short)x, k = (short)y;
    signed char c = (signed char)x;
    r += h * k + (x < y ? c : h >> 3) + (short)(h / (k ? k : 7)) + (x > 0 ? x : -(s64)x > 100);
    out[t] = (u32)r + (u32)(unsigned char)(c * 3) + ((u32)x >> (y & 31)) + ((u32)x << (c & 31));
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
    union { float f; u32 u; } r = {.f = d};
    out[t] = r.u + (u32)(s32)(b * 3.0f) + (c < a ? 1 : 2);
}

KERNEL(k_doubles)
{
    u32 t = THREAD;
    double a = (double)(s32)in[t % n] / 3.0, b = t + 0.25, s = 0;
    for (u32 i = 1; i < 8 + (t & 3); i++)
        s += a / (b * i) - (double)(float)(a + i);
    u64 w = (u64)(s < 0 ? -s : s);
    union { double f; u64 u; } r = {.f = s};
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

KERNEL(k_divergent_values)
{
    u32 t = THREAD, k = 3, m = 0, i = 0;
    if (in[t % n] & 1)
        k = 9;
    while (1) {
        i++;
        if (i == k)
            break;
        if (i > 4)
            m = i;
    }
    out[t] = k * 100 + m * 10 + i;
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

KERNEL(k_collatz)
{
    u32 t = THREAD, x = (in[t % n] & 1023) + 1, steps = 0;
    do {
        x = x & 1 ? 3 * x + 1 : x / 2;
        if (++steps > 300)
            return;
    } while (x != 1);
    out[t] = steps;
}

#define ALL_KERNELS(X)                                                                                               \
    X(k_straight) X(k_nested) X(k_trips) X(k_uniform_loop) X(k_breaks) X(k_nested_loops) X(k_switch) X(k_irreducible)  \
    X(k_recursion) X(k_mutual) X(k_pointers) X(k_structs) X(k_local) X(k_wide) X(k_signed) X(k_floats) X(k_doubles)    \
    X(k_overflow) X(k_divergent_values) X(k_quads) X(k_collatz)

#endif
