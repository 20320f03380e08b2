/* SPDX-License-Identifier: Apache-2.0 */
/* Small algorithms, each a mixture as programs have it. */
#include "corpus.h"

KERNEL(algo_crc32)
{
    u32 crc = ~0u;
    for (int k = 0; k < 16; k++) {
        crc ^= in->i8[k % 3][(i + k) & 2047];
        for (int b = 0; b < 8; b++)
            crc = crc >> 1 ^ (0xedb88320u & -(crc & 1));
    }
    STORE(~crc);
}
static __device__ u32 rotate(u32 x, u32 n) { return x << n | x >> (32 - n); }
KERNEL(algo_md5_rounds)
{
    u32 a = 0x67452301, b = 0xefcdab89, c = 0x98badcfe, d = 0x10325476;
    for (u32 k = 0; k < 64; k++) {
        u32 f = k < 16 ? (b & c) | (~b & d) : k < 32 ? (d & b) | (~d & c) : k < 48 ? b ^ c ^ d : c ^ (b | ~d);
        u32 g = k < 16 ? k : k < 32 ? 5 * k + 1 : k < 48 ? 3 * k + 5 : 7 * k, t = d;
        d = c;
        c = b;
        b += rotate(a + f + in->i32[1][(i + g % 16) & 2047] + k * 0x9e3779b9u, 7 + k % 4 * 5);
        a = t;
    }
    STORE(a ^ b * 3 ^ c * 5 ^ d * 7);
}
KERNEL(algo_sha256_schedule)
{
    u32 w[64], h = 0x6a09e667, e = 0x510e527f;
    for (int k = 0; k < 16; k++)
        w[k] = in->i32[0][(i + k) & 2047];
    for (int k = 16; k < 64; k++) {
        u32 s0 = rotate(w[k - 15], 25) ^ rotate(w[k - 15], 14) ^ w[k - 15] >> 3, s1 = rotate(w[k - 2], 15) ^ rotate(w[k - 2], 13) ^ w[k - 2] >> 10;
        w[k] = w[k - 16] + s0 + w[k - 7] + s1;
    }
    for (int k = 0; k < 64; k++) {
        u32 t = h + (rotate(e, 26) ^ rotate(e, 21) ^ rotate(e, 7)) + w[k];
        h = e + t;
        e = rotate(t, 3) ^ (h & e);
    }
    STORE(h ^ e);
}
KERNEL(algo_chacha)
{
    u32 s[16];
    for (int k = 0; k < 16; k++)
        s[k] = LOAD(u32, k % 3) + k;
#define QUARTER(a, b, c, d) s[a] += s[b], s[d] = rotate(s[d] ^ s[a], 16), s[c] += s[d], s[b] = rotate(s[b] ^ s[c], 12), s[a] += s[b], s[d] = rotate(s[d] ^ s[a], 8), s[c] += s[d], s[b] = rotate(s[b] ^ s[c], 7)
    for (int k = 0; k < 10; k++) {
        QUARTER(0, 4, 8, 12); QUARTER(1, 5, 9, 13); QUARTER(2, 6, 10, 14); QUARTER(3, 7, 11, 15);
        QUARTER(0, 5, 10, 15); QUARTER(1, 6, 11, 12); QUARTER(2, 7, 8, 13); QUARTER(3, 4, 9, 14);
    }
    u32 r = 0;
    for (int k = 0; k < 16; k++)
        r = r * 31 + s[k];
    STORE(r);
}
KERNEL(algo_siphash)
{
    u64 a = 0x736f6d6570736575ull ^ LOAD(u64, 0), b = 0x646f72616e646f6dull ^ LOAD(u64, 1), c = 0x6c7967656e657261ull ^ LOAD(u64, 0), d = 0x7465646279746573ull ^ LOAD(u64, 1);
    for (int k = 0; k < 6; k++) {
        a += b, b = b << 13 | b >> 51, b ^= a, a = a << 32 | a >> 32;
        c += d, d = d << 16 | d >> 48, d ^= c;
        a += d, d = d << 21 | d >> 43, d ^= a;
        c += b, b = b << 17 | b >> 47, b ^= c, c = c << 32 | c >> 32;
    }
    STORE(a ^ b ^ c ^ d);
}
KERNEL(algo_xorshift)
{
    u64 x = LOAD(u64, 0) | 1;
    for (int k = 0; k < 50; k++)
        x ^= x << 13, x ^= x >> 7, x ^= x << 17;
    STORE(x * 0x2545f4914f6cdd1dull);
}
KERNEL(algo_pcg)
{
    u64 state = LOAD(u64, 0);
    u32 r = 0;
    for (int k = 0; k < 10; k++) {
        u64 old = state;
        state = old * 6364136223846793005ull + (LOAD(u64, 1) | 1);
        u32 x = (u32)((old >> 18 ^ old) >> 27), n = (u32)(old >> 59);
        r ^= x >> n | x << (-n & 31);
    }
    STORE(r);
}
KERNEL(algo_sieve)
{
    u32 sieve[8] = {0}, count = 0;
    for (u32 p = 2; p < 256; p++)
        if (!(sieve[p / 32] >> p % 32 & 1)) {
            count += p % (i % 7 + 1) == 0;
            for (u32 q = p * p; q < 256; q += p)
                sieve[q / 32] |= 1u << q % 32;
        }
    STORE(count);
}
KERNEL(algo_power_mod)
{
    u64 base = LOAD(u32, 0), r = 1, m = LOAD(u32, 1) | 1;
    for (u32 e = LOAD(u32, 2); e; e >>= 1) {
        if (e & 1)
            r = r * base % m;
        base = base * base % m;
    }
    STORE(r % m);
}
KERNEL(algo_isqrt)
{
    u64 n = LOAD(u64, 0), r = 0, bit = 1ull << 62;
    while (bit > n)
        bit >>= 2;
    for (; bit; bit >>= 2)
        if (n >= r + bit)
            n -= r + bit, r = (r >> 1) + bit;
        else
            r >>= 1;
    STORE(r);
}
KERNEL(algo_decimal)
{
    char digits[12];
    u32 n = LOAD(u32, 0), count = 0, r = 0;
    do
        digits[count++] = '0' + n % 10;
    while (n /= 10);
    while (count)
        r = r * 131 + digits[--count];
    STORE(r);
}
KERNEL(algo_utf8)
{
    u8 bytes[4];
    u32 c = LOAD(u32, 0) % 0x110000, n;
    if (c < 0x80)
        bytes[0] = c, n = 1;
    else if (c < 0x800)
        bytes[0] = 0xc0 | c >> 6, bytes[1] = 0x80 | (c & 63), n = 2;
    else if (c < 0x10000)
        bytes[0] = 0xe0 | c >> 12, bytes[1] = 0x80 | (c >> 6 & 63), bytes[2] = 0x80 | (c & 63), n = 3;
    else
        bytes[0] = 0xf0 | c >> 18, bytes[1] = 0x80 | (c >> 12 & 63), bytes[2] = 0x80 | (c >> 6 & 63), bytes[3] = 0x80 | (c & 63), n = 4;
    u32 r = n;
    for (u32 k = 0; k < n; k++)
        r = r << 7 ^ bytes[k] ^ r >> 25;
    STORE(r);
}
KERNEL(algo_levenshtein)
{
    u8 row[9];
    for (int k = 0; k < 9; k++)
        row[k] = k;
    for (int a = 0; a < 8; a++) {
        u8 diagonal = row[0]++;
        for (int b = 0; b < 8; b++) {
            u8 cost = diagonal + ((in->i8[0][(i + a) & 2047] & 3) != (in->i8[1][(i * 3 + b) & 2047] & 3));
            diagonal = row[b + 1];
            u8 best = row[b] < row[b + 1] ? row[b] : row[b + 1];
            row[b + 1] = cost < best + 1 ? cost : best + 1;
        }
    }
    STORE((u32)row[8]);
}
KERNEL(algo_insertion_sort)
{
    u16 a[16];
    for (int k = 0; k < 16; k++) {
        u16 x = in->i16[k % 3][(i + k * 3) & 2047];
        int at = k;
        for (; at && a[at - 1] > x; at--)
            a[at] = a[at - 1];
        a[at] = x;
    }
    u32 r = 0;
    for (int k = 0; k < 16; k++)
        r = r * 31 + a[k];
    STORE(r);
}
KERNEL(algo_heap)
{
    s64 a[10];
    int n = 0;
    u64 r = 0;
    for (int k = 0; k < 10; k++) {
        int at = n++;
        a[at] = in->i64[k % 3][(i + k) & 2047];
        for (; at && a[(at - 1) / 2] < a[at]; at = (at - 1) / 2) {
            s64 t = a[at];
            a[at] = a[(at - 1) / 2];
            a[(at - 1) / 2] = t;
        }
    }
    while (n) {
        r = r * 31 + a[0];
        a[0] = a[--n];
        for (int at = 0;;) {
            int child = 2 * at + 1;
            if (child + 1 < n && a[child + 1] > a[child])
                child++;
            if (child >= n || a[child] <= a[at])
                break;
            s64 t = a[at];
            a[at] = a[child];
            a[child] = t;
            at = child;
        }
    }
    STORE(r);
}
KERNEL(algo_mandelbrot)
{
    f32 x0 = (i % 64) / 21.3f - 2.0f, y0 = (i / 64) / 16.0f - 1.0f, x = 0, y = 0;
    u32 n = 0;
    while (x * x + y * y < 4.0f && n < 100) {
        f32 t = x * x - y * y + x0;
        y = 2 * x * y + y0;
        x = t;
        n++;
    }
    STORE(n);
}
KERNEL(algo_julia_double)
{
    f64 x = (i % 64) / 21.3 - 1.5, y = (i / 64) / 16.0 - 1.0;
    u32 n = 0;
    for (; x * x + y * y < 4.0 && n < 60; n++) {
        f64 t = x * x - y * y - 0.8;
        y = 2 * x * y + 0.156;
        x = t;
    }
    STORE(n * 1000 + (u32)(x * x < 1.0));
}
KERNEL(algo_ntt)
{
    /* A number-theoretic transform of 8 points. */
    const u32 p = 257;
    u32 a[8], r = 0;
    for (int k = 0; k < 8; k++)
        a[k] = in->i32[k % 3][(i + k) & 2047] % p;
    for (u32 half = 4, root = 64; half; half >>= 1, root = root * root % p)
        for (u32 start = 0; start < 8; start += 2 * half) {
            u32 w = 1;
            for (u32 k = 0; k < half; k++) {
                u32 u = a[start + k], v = a[start + k + half];
                a[start + k] = (u + v) % p;
                a[start + k + half] = (u + p - v) * w % p;
                w = w * root % p;
            }
        }
    for (int k = 0; k < 8; k++)
        r = r * 263 + a[k];
    STORE(r);
}
KERNEL(algo_gauss)
{
    f64 m[4][5];
    for (int r = 0; r < 4; r++)
        for (int c = 0; c < 5; c++)
            m[r][c] = (f64)(in->i32[(r + c) % 3][(i + r * 5 + c) & 2047] % 97u) + (r == c) * 200;
    for (int k = 0; k < 4; k++)
        for (int r = 0; r < 4; r++)
            if (r != k) {
                f64 f = m[r][k] / m[k][k];
                for (int c = k; c < 5; c++)
                    m[r][c] -= f * m[k][c];
            }
    f64 sum = 0;
    for (int k = 0; k < 4; k++)
        sum += m[k][4] / m[k][k];
    STORE(sum);
}
KERNEL(algo_stencil)
{
    f32 c = in->f32[0][0] * 0.0f, s = 0;
    for (int k = -3; k <= 3; k++)
        s += (f32)(in->i16[0][(i + k + 2048) & 2047]) * (0.25f * k);
    STORE(s + (c == c ? 1 : 0));
}
KERNEL(algo_life)
{
    u64 board = LOAD(u64, 0), next = 0;
    for (int round = 0; round < 2; round++) {
        next = 0;
        for (int k = 0; k < 64; k++) {
            int n = 0;
            for (int y = -1; y <= 1; y++)
                for (int x = -1; x <= 1; x++)
                    if (x || y)
                        n += board >> (((k / 8 + y) & 7) * 8 + ((k + x) & 7)) & 1;
            if (n == 3 || (n == 2 && board >> k & 1))
                next |= 1ull << k;
        }
        board = next;
    }
    STORE(next);
}
KERNEL(algo_strings)
{
    const char *a = "conformance", *b = i & 1 ? "conform" : "confirmed";
    int k = 0;
    while (a[k] && a[k] == b[k])
        k++;
    STORE(a[k] - b[k] + k * 1000);
}
KERNEL(algo_soft_float)
{
    /* Halves to single precision by integers, which conversions must agree with. */
    u32 h = LOAD(f16, 0), sign = (h & 0x8000) << 16, e = h >> 10 & 31, m = h & 0x3ff, bits;
    if (e == 31)
        bits = sign | 0x7f800000 | m << 13;
    else if (e)
        bits = sign | (e + 112) << 23 | m << 13;
    else if (!m)
        bits = sign;
    else {
        int shift = __clz(m) - 21;
        bits = sign | (113 - shift) << 23 | (m << shift & 0x3ff) << 13;
    }
    f32 converted;
    asm("cvt.f32.f16 %0, %1;" : "=f"(converted) : "h"((u16)h));
    STORE(bits ^ __float_as_uint(converted));
}
KERNEL(algo_fixed_point)
{
    s32 a = LOAD(s32, 0), b = LOAD(s32, 1);
    s64 product = (s64)a * b + 0x8000;
    s32 q = (s32)(product >> 16), sum;
    sum = q > 0x7fff ? 0x7fff : q < -0x8000 ? -0x8000 : q;
    STORE(sum);
}
KERNEL(algo_popcount_matrix)
{
    u32 r = 0;
    for (int k = 0; k < 32; k++)
        r ^= (__popc(in->i32[0][k + 32 * (i & 31)] & LOAD(u32, 1)) & 1) << k;
    STORE(r);
}
KERNEL(algo_bigint_factorial)
{
    u32 digits[8] = {1};
    for (u32 k = 2; k <= 10 + (i & 15); k++) {
        u64 carry = 0;
        for (int d = 0; d < 8; d++) {
            carry += (u64)digits[d] * k;
            digits[d] = (u32)carry;
            carry >>= 32;
        }
    }
    STORE(digits[0] ^ digits[1] * 3 ^ digits[2] * 5 ^ digits[3] * 7);
}
KERNEL(algo_run_length)
{
    u32 x = LOAD(u32, 0), best = 0, run = 0;
    for (int k = 0; k < 32; k++) {
        run = x >> k & 1 ? run + 1 : 0;
        best = best < run ? run : best;
    }
    STORE(best);
}
KERNEL(algo_stack_machine)
{
    u32 stack[8], top = 0;
    u64 program = LOAD(u64, 0);
    stack[top++] = i;
    for (int k = 0; k < 21; k++, program >>= 3)
        switch (program & 7) {
        case 0: if (top < 8) stack[top++] = k; break;
        case 1: if (top > 1) top--, stack[top - 1] += stack[top]; break;
        case 2: if (top > 1) top--, stack[top - 1] *= stack[top]; break;
        case 3: stack[top - 1] = ~stack[top - 1]; break;
        case 4: if (top < 8) stack[top] = stack[top - 1], top++; break;
        case 5: stack[top - 1] >>= 1; break;
        case 6: if (top > 1) { u32 t = stack[top - 1]; stack[top - 1] = stack[top - 2]; stack[top - 2] = t; } break;
        default: stack[top - 1] ^= 0x55;
        }
    STORE(stack[top - 1] + top);
}
