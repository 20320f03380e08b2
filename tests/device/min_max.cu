/* SPDX-License-Identifier: Apache-2.0 */
/* min and max of two types: which type comes out, and which value, on the host and in a kernel. */
#include <cmath>
#include <cstdio>

#include "both_sides.h"

template <class A, class B> struct same { static constexpr bool value = false; };
template <class A> struct same<A, A> { static constexpr bool value = true; };

/* The type, and the value, which is told apart from others by its bits. */
#define IS(type, expression, right)                                                             \
    do {                                                                                        \
        static_assert(same<decltype(expression), type>::value, #expression);                    \
        expect((expression) == (type)(right) && (std::signbit)((double)(expression)) == (std::signbit)((double)(type)(right)), __LINE__); \
    } while (0)

/* The signed number of a pair becomes an unsigned one. */
template <class S, class U> static __host__ __device__ void whole(S s, U u)
{
    IS(S, min(s, (S)5), -3);
    IS(S, max(s, (S)5), 5);
    IS(U, min(u, (U)5), 5);
    IS(U, max(u, (U)5), 7);
    IS(U, min(s, u), 7);
    IS(U, max(s, u), -3);
    IS(U, min(u, s), 7);
    IS(U, max(u, s), -3);
    IS(U, min((S)2, u), 2);
    IS(U, max(u, (S)2), 7);
}

static __host__ __device__ void all(float f, double d, float none)
{
    whole(-3, 7u);
    whole(-3l, 7ul);
    whole(-3ll, 7ull);
    IS(float, min(f, 2.5f), 1.5f);
    IS(float, max(f, 2.5f), 2.5f);
    IS(double, min(d, 2.5), 0.1);
    IS(double, max(d, 2.5), 2.5);
    IS(double, min(f, d), 0.1);
    IS(double, min(d, f), 0.1);
    IS(double, max(f, d), 1.5);
    IS(double, max(d, f), 1.5);
    IS(float, min(none, f), 1.5f);
    IS(float, max(f, none), 1.5f);
    IS(double, min(none, d), 0.1);
    IS(double, max(d, none), 0.1);
    /* Narrow types become int, as everywhere. */
    IS(int, min((short)-3, (unsigned char)200), -3);
    IS(int, max('a', true), 'a');
    IS(int, min((short)4, 9), 4);
    IS(unsigned int, max((short)-1, 9u), ~0u);
    IS(unsigned int, umin(1u, 2u), 1);
    IS(unsigned int, umax(1u, 2u), 2);
    IS(long long, llmin(-1ll, 2ll), -1);
    IS(long long, llmax(-1ll, 2ll), 2);
    IS(unsigned long long, ullmin(~0ull, 2ull), 2);
    IS(unsigned long long, ullmax(~0ull, 2ull), ~0ull);
}
static __global__ void kernel(float f, double d, float none) { all(f, d, none); }

int main()
{
    all(1.5f, 0.1, NAN);
    kernel<<<1, 1>>>(1.5f, 0.1, NAN);
    if (cudaDeviceSynchronize() != cudaSuccess)
        return 2;
    return wrong || wrong_there;
}
