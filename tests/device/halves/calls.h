/* SPDX-License-Identifier: Apache-2.0 */
/* What programs that call functions of small floats need on either side, also in sources compiled at run time. */
#ifndef HALVES_CALLS_H
#define HALVES_CALLS_H
#ifndef __CUDACC_RTC__
#include <stdio.h>
#include <string.h>
#endif

#ifdef __CUDACC_RTC__
#define SIDES __device__
#elif defined(__CUDACC__)
#define SIDES __host__ __device__
#else
#define SIDES
#endif
typedef unsigned long long word;
enum { CALLS = 65536 };

SIDES static inline word mixed(word x)
{
    x += 0x9e3779b97f4a7c15ull;
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9ull;
    x = (x ^ x >> 27) * 0x94d049bb133111ebull;
    return x ^ x >> 31;
}
template <class T> SIDES T of_bits(word bits)
{
    T x;
    memcpy((void *)&x, &bits, sizeof x);
    return x;
}
template <class T> SIDES word bits_of(const T &x)
{
    word bits[2] = {0};
    memcpy(bits, (const void *)&x, sizeof x);
    return sizeof x > 8 ? bits[0] ^ mixed(bits[1]) : bits[0];
}

#ifdef __CUDACC__
/* Arguments of kernels: four for each call. */
struct slot {
    uint4 bytes[2];
};
template <class T> __device__ T read(const slot *given, word call, int place)
{
    T x;
    memcpy((void *)&x, &given[place * CALLS + call], sizeof x);
    return x;
}
#endif
template <class A, class B> struct same_type;
template <class A> struct same_type<A, A> {
    enum { value = 1 };
};
#endif
