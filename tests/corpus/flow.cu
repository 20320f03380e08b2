/* SPDX-License-Identifier: Apache-2.0 */
/* Branches, loops, switches, calls: what compilers make of control flow. */
#include "corpus.h"

KERNEL(flow_nested_if)
{
    s32 a = LOAD(s32, 0), b = LOAD(s32, 1), r = 0;
    if (a > b) {
        if (a & 1)
            r = b & 2 ? 1 : i & 4 ? 2 : 3;
        else if (b > 100)
            r = 4;
        r += 10;
    } else {
        if (b == a)
            r = 5;
        else
            for (s32 k = 0; k < (a & 7); k++)
                r += k * i;
        r ^= 20;
    }
    STORE(r);
}
KERNEL(flow_collatz)
{
    u32 x = (LOAD(u32, 0) & 0xffff) + 1, steps = 0;
    while (x != 1 && steps < 400) {
        x = x & 1 ? 3 * x + 1 : x / 2;
        steps++;
    }
    STORE(steps * 1000 + x % 1000);
}
KERNEL(flow_break_continue)
{
    u32 r = 0;
    for (u32 k = 0; k < 40; k++) {
        u32 v = in->i32[1][(i + k * 17) & 2047];
        if (v % 3 == 0)
            continue;
        r = r * 3 + v;
        if (v % 31 == 5)
            break;
    }
    STORE(r);
}
KERNEL(flow_nested_loops)
{
    u32 r = 0;
    for (u32 x = 0; x < (LOAD(u32, 0) & 7); x++)
        for (u32 y = x; y < (LOAD(u32, 1) & 7); y++) {
            for (u32 z = 0; z <= y; z++) {
                if (((x ^ y ^ z) + i) % 5 == 0)
                    goto next;
                r += x * y + z;
            }
        next:
            r = r * 2 + 1;
        }
    STORE(r);
}
KERNEL(flow_switch_dense)
{
    u32 r = LOAD(u32, 1);
    switch (LOAD(u32, 0) % 12) {
    case 0: r += 5; break;
    case 1: r *= 3;
    case 2: r ^= 0xff; break;
    case 3: r = ~r; break;
    case 4: r >>= 3; break;
    case 5: r = r << 4 | 1; break;
    case 6: r %= 1000;
    case 7: r = r * r; break;
    case 8: r -= i; break;
    case 10: r |= 0x80; break;
    default: r = 99; break;
    }
    STORE(r);
}
KERNEL(flow_switch_sparse)
{
    u32 r;
    switch (LOAD(s32, 0)) {
    case -1: r = 1; break;
    case 0: r = 2; break;
    case 7: r = 3; break;
    case 1000: r = 4; break;
    case 0x7fffffff: r = 5; break;
    case 0x12340000: r = 6 + i; break;
    default: r = LOAD(s32, 0) & 0xff;
    }
    STORE(r);
}
KERNEL(flow_switch_in_loop)
{
    /* A machine with four states that reads bits. */
    u32 state = 0, count = 0;
    for (u64 bits = LOAD(u64, 0) ^ i; bits; bits >>= 1)
        switch (state) {
        case 0: state = bits & 1 ? 1 : 0; break;
        case 1: state = bits & 1 ? 2 : 0; break;
        case 2: state = bits & 1 ? 2 : 3; break;
        default: count++; state = bits & 1 ? 1 : 0;
        }
    STORE(count * 8 + state);
}
KERNEL(flow_duff)
{
    u32 n = (LOAD(u32, 0) & 31) + 1, rounds = (n + 7) / 8, r = 0;
    switch (n % 8) {
    case 0: do { r = r * 3 + 1;
    case 7: r = r * 3 + 2;
    case 6: r = r * 3 + 3;
    case 5: r = r * 3 + 4;
    case 4: r = r * 3 + 5;
    case 3: r = r * 3 + 6;
    case 2: r = r * 3 + 7;
    case 1: r = r * 3 + 8;
        } while (--rounds > 0);
    }
    STORE(r);
}
KERNEL(flow_irreducible)
{
    /* Two ways into one loop. */
    u32 x = LOAD(u32, 0) & 0xff, r = 0, rounds = 0;
    if (i & 1)
        goto middle;
top:
    r += x;
    x = x * 5 + 1;
middle:
    r ^= x << 3;
    if (++rounds < (LOAD(u32, 1) & 15))
        goto top;
    STORE(r);
}
KERNEL(flow_short_circuit)
{
    u32 a = LOAD(u32, 0), b = LOAD(u32, 1), c = LOAD(u32, 2);
    u32 r = ((a && b / (a | 1) > 2) || (c && a % (c | 1) == 1)) + 2 * (a > b && (b > c || a == 7)) + 4 * !(a & b || c & 1);
    STORE(r);
}
KERNEL(flow_early_return)
{
    u32 a = LOAD(u32, 0);
    if (a == 0)
        return;
    ((u32 *)out)[i] = a;
    if (a % 7 == 3)
        return;
    ((u32 *)out)[i] = a * 5;
    for (u32 k = 0; k < 10; k++)
        if ((a >> k) % 13 == 1)
            return;
    ((u32 *)out)[i] = a + 1;
}
KERNEL(flow_do_while)
{
    u32 x = LOAD(u32, 0) | 1, n = 0;
    do {
        x = x * 1664525 + 1013904223;
        n++;
    } while (x >> 28 != 3 && n < 100);
    STORE(x + n);
}
KERNEL(flow_gcd)
{
    u32 a = LOAD(u32, 0), b = LOAD(u32, 1);
    while (b) {
        u32 t = a % b;
        a = b;
        b = t;
    }
    STORE(a);
}
KERNEL(flow_binary_search)
{
    u32 wanted = LOAD(u32, 0) % 4096, low = 0, high = 2048;
    while (low < high) {
        u32 middle = (low + high) / 2;
        if (middle * 2 + middle % 2 < wanted)
            low = middle + 1;
        else
            high = middle;
    }
    STORE(low);
}
KERNEL(flow_exit_ptx)
{
    asm volatile("{ .reg .pred p;\n\tsetp.eq.u32 p, %0, 3;\n\t@p exit; }" :: "r"(LOAD(u32, 0) & 3) : "memory");
    STORE(i);
}
KERNEL(flow_brx_ptx)
{
    u32 r = LOAD(u32, 1);
    asm volatile("{ .reg .u32 x;\n\tand.b32 x, %1, 3;\n\tts: .branchtargets A, B, C, D;\n\tbrx.idx x, ts;\n\tA: add.u32 %0, %0, 1;\n\tbra E;\n\tB: mul.lo.u32 %0, %0, 3;\n\tbra E;\n\t"
                 "C: not.b32 %0, %0;\n\tD: xor.b32 %0, %0, 0xff00;\n\tE: }" : "+r"(r) : "r"(LOAD(u32, 0)));
    STORE(r);
}

/* ---- Calls ---- */

NOINLINE u32 fibonacci(u32 n) { return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2); }
KERNEL(call_fibonacci) { STORE(fibonacci(LOAD(u32, 0) % 11)); }
NOINLINE u32 ackermann(u32 m, u32 n) { return m == 0 ? n + 1 : n == 0 ? ackermann(m - 1, 1) : ackermann(m - 1, ackermann(m, n - 1)); }
KERNEL(call_ackermann) { STORE(ackermann(LOAD(u32, 0) % 3, LOAD(u32, 1) % 4)); }
NOINLINE bool is_odd(u32 n);
NOINLINE bool is_even(u32 n) { return n == 0 || is_odd(n - 1); }
NOINLINE bool is_odd(u32 n) { return n != 0 && is_even(n - 1); }
KERNEL(call_mutual) { STORE(is_even(LOAD(u32, 0) & 31) + 2 * is_odd(LOAD(u32, 1) & 15)); }
NOINLINE void hanoi(u32 n, u32 from, u32 to, u32 *moves, u32 *hash)
{
    if (n == 0)
        return;
    hanoi(n - 1, from, 3 - from - to, moves, hash);
    ++*moves;
    *hash = *hash * 31 + from * 3 + to;
    hanoi(n - 1, 3 - from - to, to, moves, hash);
}
KERNEL(call_hanoi)
{
    u32 moves = 0, hash = 0;
    hanoi(LOAD(u32, 0) % 6, 0, 2, &moves, &hash);
    STORE(hash + moves);
}
NOINLINE void quicksort(s32 *a, s32 low, s32 high)
{
    if (low >= high)
        return;
    s32 pivot = a[(low + high) / 2], l = low, h = high;
    while (l <= h) {
        while (a[l] < pivot)
            l++;
        while (a[h] > pivot)
            h--;
        if (l <= h) {
            s32 t = a[l];
            a[l++] = a[h];
            a[h--] = t;
        }
    }
    quicksort(a, low, h);
    quicksort(a, l, high);
}
KERNEL(call_quicksort)
{
    s32 a[12];
    for (int k = 0; k < 12; k++)
        a[k] = in->i32[k % 3][(i * 5 + k * 31) & 2047];
    quicksort(a, 0, 11);
    u32 r = 0;
    for (int k = 0; k < 12; k++)
        r = r * 31 + a[k];
    STORE(r);
}
NOINLINE u32 queens(u32 n, u32 columns, u32 left, u32 right)
{
    u32 all = (1u << n) - 1, count = 0;
    if (columns == all)
        return 1;
    for (u32 free = all & ~(columns | left | right); free; free &= free - 1) {
        u32 bit = free & -free;
        count += queens(n, columns | bit, (left | bit) << 1, (right | bit) >> 1);
    }
    return count;
}
KERNEL(call_queens) { STORE(queens(4 + i % 3, 0, 0, 0)); }

NOINLINE u32 op_add(u32 a, u32 b) { return a + b; }
NOINLINE u32 op_mul(u32 a, u32 b) { return a * b; }
NOINLINE u32 op_mix(u32 a, u32 b) { return (a << 5 | a >> 27) ^ b; }
NOINLINE u32 op_loop(u32 a, u32 b) { u32 r = 0; for (u32 k = 0; k < (b & 7); k++) r += a ^ k; return r; }
typedef u32 (*operation)(u32, u32);
static __device__ operation operations[4] = {op_add, op_mul, op_mix, op_loop};
KERNEL(pointer_table) { STORE(operations[LOAD(u32, 0) & 3](LOAD(u32, 1), i)); }
KERNEL(pointer_uniform) { STORE(operations[blockIdx.x & 3](LOAD(u32, 0), LOAD(u32, 1))); }
KERNEL(pointer_choice)
{
    operation f = i & 1 ? op_add : op_mix;
    u32 r = i;
    for (int k = 0; k < 4; k++) {
        r = f(r, LOAD(u32, 0));
        f = r & 1 ? op_mul : f;
    }
    STORE(r);
}
NOINLINE u32 apply(operation f, u32 x) { return f(x, 3) + f(3, x); }
KERNEL(pointer_argument) { STORE(apply(i % 3 ? op_mix : op_loop, LOAD(u32, 0))); }

struct shape {
    u32 size;
    __device__ shape(u32 s) : size(s) {}
    virtual __device__ u32 area() const { return size; }
    virtual __device__ u32 edge() const = 0;
};
struct square : shape {
    __device__ square(u32 s) : shape(s) {}
    __device__ u32 area() const override { return size * size; }
    __device__ u32 edge() const override { return 4 * size; }
};
struct strip : shape {
    u32 width;
    __device__ strip(u32 s, u32 w) : shape(s), width(w) {}
    __device__ u32 edge() const override { return 2 * (size + width); }
};
KERNEL(virtual_call)
{
    square a(LOAD(u32, 0) & 0xff);
    strip b(LOAD(u32, 1) & 0xff, i);
    const shape *s = i % 3 ? (const shape *)&a : &b;
    asm volatile("" : "+l"(s));
    STORE(s->area() * 1000 + s->edge());
}

struct vector3 { f64 x, y, z; };
NOINLINE vector3 cross(vector3 a, vector3 b) { return {a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x}; }
KERNEL(call_structures)
{
    vector3 a = {(f64)(i & 15), (f64)(i >> 4 & 15), (f64)(i >> 8)}, b = {1.5, -2.0, (f64)(LOAD(u32, 0) & 255)};
    vector3 c = cross(cross(a, b), a);
    STORE(c.x * 3 + c.y * 5 + c.z * 7);
}
struct many { u8 a; u16 b; f32 c; u64 d[5]; };
NOINLINE many change(many m, u8 x, s16 y, bool z, f32 w)
{
    m.a += x;
    m.b = z ? y : m.b;
    m.c *= w;
    m.d[m.a % 5] ^= m.b;
    return m;
}
KERNEL(call_mixed)
{
    many m = {LOAD(u8, 0), LOAD(u16, 0), 2.5f, {1, 2, 3, LOAD(u64, 0), 5}};
    m = change(m, LOAD(u8, 1), LOAD(s16, 1), i & 1, (f32)(i & 7));
    STORE(m.a + m.b * 3ull + (u32)m.c * 5 + m.d[0] * 7 + m.d[1] * 11 + m.d[2] * 13 + m.d[3] * 17 + m.d[4] * 19);
}
NOINLINE u64 ten(u32 a, u64 b, u32 c, u64 d, u8 e, u16 f, s32 g, s64 h, bool j, u32 k) { return a + b * 3 + c * 5 + d * 7 + e * 11 + f * 13 + g * 17ll + h * 19 + j * 23 + k * 29; }
KERNEL(call_many_parameters) { STORE(ten(LOAD(u32, 0), LOAD(u64, 0), LOAD(u32, 1), LOAD(u64, 1), LOAD(u8, 0), LOAD(u16, 1), LOAD(s32, 2), LOAD(s64, 2), i & 1, i)); }
NOINLINE void divide(u32 a, u32 b, u32 *quotient, u32 *rest) { *quotient = b ? a / b : 0; *rest = b ? a % b : a; }
KERNEL(call_out_parameters)
{
    u32 q, r;
    divide(LOAD(u32, 0), LOAD(u32, 1), &q, &r);
    STORE(q * 3 + r);
}
NOINLINE bool any_above(const u32 *a, u32 n, u32 limit)
{
    for (u32 k = 0; k < n; k++)
        if (a[k] > limit)
            return true;
    return false;
}
KERNEL(call_early_return) { STORE(any_above(in->i32[0] + (i & 1023), i % 9, LOAD(u32, 1))); }
KERNEL(call_divergent)
{
    u32 r;
    if (LOAD(u32, 0) & 1)
        r = fibonacci(i % 7);
    else if (i & 2)
        r = op_loop(LOAD(u32, 1), i);
    else
        r = is_even(i & 7);
    STORE(r);
}
NOINLINE u32 lanes_here(u32 x)
{
    u32 mask = __activemask();
    return __popc(__ballot_sync(mask, x & 1)) <= __popc(mask);
}
KERNEL(call_vote) { STORE(LOAD(u32, 0) & 1 ? lanes_here(i) : 7); }

/* ---- Templates and lambdas ---- */

template <int N, typename T>
struct unrolled {
    static __device__ T sum(const T *a) { return unrolled<N - 1, T>::sum(a) * 3 + a[N - 1]; }
};
template <typename T>
struct unrolled<0, T> {
    static __device__ T sum(const T *) { return 0; }
};
KERNEL(template_recursive)
{
    u64 a[6] = {LOAD(u64, 0), LOAD(u64, 1), LOAD(u64, 2), (u64)i, 5, 6};
    STORE((unrolled<6, u64>::sum(a)));
}
template <typename F>
static __device__ u32 fold(u32 start, u32 n, F f)
{
    for (u32 k = 0; k < n; k++)
        start = f(start, k);
    return start;
}
KERNEL(lambda_fold)
{
    u32 factor = LOAD(u32, 1), calls = 0;
    u32 r = fold(LOAD(u32, 0), i % 10, [&](u32 a, u32 k) { calls++; return a * factor + k; });
    STORE(r + calls);
}
template <typename... T>
static __device__ u64 total(T... values)
{
    u64 r = 0;
    u64 all[] = {(u64)values...};
    for (u64 v : all)
        r = r * 7 + v;
    return r;
}
KERNEL(template_pack) { STORE(total(LOAD(u8, 0), LOAD(s16, 0), LOAD(u32, 0), LOAD(u64, 0), i)); }
struct counter {
    u32 n;
    __device__ counter &operator+=(u32 x) { n += x; return *this; }
    __device__ counter operator+(const counter &other) const { return {n * 2 + other.n}; }
    __device__ ~counter() {}
};
KERNEL(class_operators)
{
    counter a = {LOAD(u32, 0)}, b = {LOAD(u32, 1)};
    a += 3;
    STORE((a + b + a).n);
}
