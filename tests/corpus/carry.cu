/* SPDX-License-Identifier: Apache-2.0 */
/* Sums and products over several words. */
#include "corpus.h"

struct words2 { u64 low, high; };
struct words4 { u32 w[4]; };

KERNEL(carry_add_128)
{
    unsigned __int128 a = (unsigned __int128)LOAD(u64, 0) << 64 | LOAD(u64, 1), b = (unsigned __int128)LOAD(u64, 1) << 64 | LOAD(u64, 2);
    a += b;
    words2 r = {(u64)a, (u64)(a >> 64)};
    STORE(r);
}
KERNEL(carry_sub_128)
{
    unsigned __int128 a = (unsigned __int128)LOAD(u64, 0) << 64 | LOAD(u64, 1), b = (unsigned __int128)LOAD(u64, 1) << 64 | LOAD(u64, 2);
    a -= b;
    words2 r = {(u64)a, (u64)(a >> 64)};
    STORE(r);
}
KERNEL(carry_mul_128)
{
    unsigned __int128 a = (unsigned __int128)LOAD(u64, 0) * LOAD(u64, 1) + LOAD(u64, 2);
    words2 r = {(u64)a, (u64)(a >> 64)};
    STORE(r);
}
KERNEL(carry_shift_128)
{
    unsigned __int128 a = (unsigned __int128)LOAD(u64, 0) << 64 | LOAD(u64, 1);
    u32 s = LOAD(u32, 2) & 127;
    a = (a << s) ^ (a >> (127 - s));
    words2 r = {(u64)a, (u64)(a >> 64)};
    STORE(r);
}
KERNEL(carry_signed_128)
{
    __int128 a = (__int128)LOAD(s64, 0) * LOAD(s64, 1), b = (__int128)LOAD(s64, 2) << 40;
    words2 r = {(u64)((a < b ? a : b) >> 3), (u64)(a == b) + 2 * (a > b)};
    STORE(r);
}
KERNEL(carry_add_4)
{
    u32 a[4] = {LOAD(u32, 0), LOAD(u32, 1), LOAD(u32, 2), (u32)i}, b[4] = {LOAD(u32, 1), LOAD(u32, 2), LOAD(u32, 0), 0xffffffffu};
    words4 r;
    asm("add.cc.u32 %0, %4, %8;\n\taddc.cc.u32 %1, %5, %9;\n\taddc.cc.u32 %2, %6, %10;\n\taddc.u32 %3, %7, %11;"
        : "=r"(r.w[0]), "=r"(r.w[1]), "=r"(r.w[2]), "=r"(r.w[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]), "r"(b[2]), "r"(b[3]));
    STORE(r);
}
KERNEL(carry_sub_4)
{
    u32 a[4] = {LOAD(u32, 0), LOAD(u32, 1), LOAD(u32, 2), (u32)i}, b[4] = {LOAD(u32, 1), LOAD(u32, 2), LOAD(u32, 0), 0xffffffffu};
    words4 r;
    asm("sub.cc.u32 %0, %4, %8;\n\tsubc.cc.u32 %1, %5, %9;\n\tsubc.cc.u32 %2, %6, %10;\n\tsubc.u32 %3, %7, %11;"
        : "=r"(r.w[0]), "=r"(r.w[1]), "=r"(r.w[2]), "=r"(r.w[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]), "r"(b[2]), "r"(b[3]));
    STORE(r);
}
KERNEL(carry_mad_4)
{
    words4 r;
    asm("mad.lo.cc.u32 %0, %4, %5, %6;\n\tmadc.hi.cc.u32 %1, %4, %5, %6;\n\tmadc.lo.cc.u32 %2, %5, %6, %4;\n\tmadc.hi.u32 %3, %5, %6, 7;"
        : "=&r"(r.w[0]), "=&r"(r.w[1]), "=&r"(r.w[2]), "=&r"(r.w[3])
        : "r"(LOAD(u32, 0)), "r"(LOAD(u32, 1)), "r"(LOAD(u32, 2)));
    STORE(r);
}
KERNEL(carry_add_u64)
{
    words2 r;
    asm("add.cc.u64 %0, %2, %3;\n\taddc.u64 %1, %4, 0;" : "=&l"(r.low), "=l"(r.high) : "l"(LOAD(u64, 0)), "l"(LOAD(u64, 1)), "l"(LOAD(u64, 2)));
    STORE(r);
}
KERNEL(carry_sub_u64)
{
    words2 r;
    asm("sub.cc.u64 %0, %2, %3;\n\tsubc.u64 %1, %4, 0;" : "=&l"(r.low), "=l"(r.high) : "l"(LOAD(u64, 0)), "l"(LOAD(u64, 1)), "l"(LOAD(u64, 2)));
    STORE(r);
}
KERNEL(carry_mad_u64)
{
    words2 r;
    asm("mad.lo.cc.u64 %0, %2, %3, %4;\n\tmadc.hi.u64 %1, %2, %3, 0;"
        : "=&l"(r.low), "=l"(r.high) : "l"(LOAD(u64, 0)), "l"(LOAD(u64, 1)), "l"(LOAD(u64, 2)));
    STORE(r);
}
KERNEL(carry_bit)
{
    u32 carry, borrow;
    asm("{ .reg .u32 t;\n\tadd.cc.u32 t, %2, %3;\n\taddc.u32 %0, 0, 0;\n\tsub.cc.u32 t, %2, %3;\n\tsubc.u32 %1, 0, 0; }"
        : "=r"(carry), "=r"(borrow) : "r"(LOAD(u32, 0)), "r"(LOAD(u32, 1)));
    STORE((carry << 8) ^ borrow);
}
/* Numbers of 256 bits by the schoolbook, reduced to a word. */
KERNEL(carry_square_256)
{
    u32 a[8], r[16] = {0};
    for (int k = 0; k < 8; k++)
        a[k] = LOAD(u32, k % 3) * (2 * k + 1) + k;
    for (int j = 0; j < 8; j++) {
        u64 carry = 0;
        for (int k = 0; k < 8; k++) {
            carry += (u64)a[j] * a[k] + r[j + k];
            r[j + k] = (u32)carry;
            carry >>= 32;
        }
        r[j + 8] = (u32)carry;
    }
    u32 fold = 0;
    for (int k = 0; k < 16; k++)
        fold = fold * 31 + r[k];
    STORE(fold);
}
/* a * b modulo 2^61 - 1 and modulo a prime by Montgomery's way. */
KERNEL(carry_mersenne)
{
    u64 p = (1ull << 61) - 1, a = LOAD(u64, 0) % p, b = LOAD(u64, 1) % p;
    u64 low = a * b, high = __umul64hi(a, b);
    u64 sum = (low & p) + ((low >> 61) | (high << 3));
    STORE(sum >= p ? sum - p : sum);
}
KERNEL(carry_montgomery)
{
    const u32 p = 998244353u, inverse = 998244351u;
    u32 x = LOAD(u32, 0) % p, result = 1, e = LOAD(u32, 1) & 0xffff;
    while (e) {
        u64 t = (u64)result * x;
        u32 m = (u32)t * inverse;
        u32 reduced = (u32)((t + (u64)m * p) >> 32);
        if (e & 1)
            result = reduced >= p ? reduced - p : reduced;
        t = (u64)x * x;
        m = (u32)t * inverse;
        reduced = (u32)((t + (u64)m * p) >> 32);
        x = reduced >= p ? reduced - p : reduced;
        e >>= 1;
    }
    STORE(result);
}
