/* SPDX-License-Identifier: Apache-2.0 */
/* Every SIMD intrinsic, for test_simd.c: thread i gives each three of the input's n words, and writes one word for each function. */
extern "C" __global__ void simd(unsigned *out, const unsigned *in, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    unsigned a = in[i], b = in[(i * 7 + 3) % n], c = in[(i * 13 + 5) % n], value;
    bool one, other;
    out += i;
#define PUT(word) do { *out = (unsigned)(word); out += n; } while (0)
#define ONE(name) PUT(name(a));
#define TWO(name) PUT(name(a, b));
#define THREE(name) PUT(name(a, b, c));
#define SIDE(name) value = (unsigned)name(a, b, &one); PUT(value ^ (one ? 0x5a5a5a5au : 0));
#define SIDES(name) value = (unsigned)name(a, b, &one, &other); PUT(value ^ (one ? 0x5a5a5a5au : 0) ^ (other ? 0xa1b2c3d4u : 0));
#define DOT(name, type) PUT(name((type)a, (type)b, (type)c));
#include "simd_functions.def"
}
