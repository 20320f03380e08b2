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
        case 0:
            r += 5;
            break;
        case 1:
            r *= 3; /* fall through */
        case 2:
            r ^= 0x55;
            break;
        case 3:
            r = (r << 3) | (r >> 29);
            break;
        case 4:
            x += r;
            break;
        case 5:
            r -= x;
            break;
        case 6:
            r = ~r;
            break;
        case 7:
            r = r / 3;
            break;
        default:
            r += i;
            break;
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

static NOINLINE u32 add_one(u32 x)
{
    return x + 1;
}
static NOINLINE u32 times_two(u32 x)
{
    return x * 2;
}
static NOINLINE u32 flipped(u32 x)
{
    return ~x;
}

KERNEL(k_pointers)
{
    u32 (*volatile table[3])(u32) = {add_one, times_two, flipped};
    u32 t = THREAD, x = in[t % n], r = x;
    for (u32 i = 0; i < (x & 3) + 1; i++)
        r = table[(r + i) % 3](r);
    out[t] = r;
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

#include "codegen_kernels_data.h"

#define ALL_KERNELS(X) \
    X(k_straight) \
    X(k_nested) \
    X(k_trips) \
    X(k_uniform_loop) \
    X(k_breaks) \
    X(k_nested_loops) \
    X(k_switch) \
    X(k_irreducible) \
    X(k_recursion) \
    X(k_mutual) \
    X(k_pointers) \
    X(k_structs) \
    X(k_local) \
    X(k_wide) \
    X(k_signed) \
    X(k_floats) \
    X(k_doubles) \
    X(k_overflow) \
    X(k_divergent_values) \
    X(k_quads) \
    X(k_collatz)

#endif
