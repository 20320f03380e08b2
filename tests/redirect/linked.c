/* SPDX-License-Identifier: Apache-2.0 */
/* A stand-in for a runtime library that has been linked: code of its own, under the names that such code has, and
 * public functions between. SPACE moves what the code refers to away from it, so that two libraries of this file differ
 * where a linker makes them differ. */
#include <stdint.h>

struct data {
    char space[SPACE], touched[64];
};
static struct data data;

#define INSIDE(name, factor) \
    __attribute__((noinline)) static uint64_t libcudart_static_##name(uint64_t value) \
    { \
        data.touched[value & 63]++; \
        for (int i = 0; i < 3; i++) \
            value = (value ^ value >> 29) * (factor##9e3779b97f4a7c1) + 0x##name##39cc0605cedc835; \
        value = (value << 13 | value >> 51) * 0x##name##a0761d6478bd642 ^ 0x##name##e7037ed1a0b428d; \
        return value ^ value >> 31 ^ 0x##name##8ebc6af09c88c6e; \
    }
#define PUBLIC(name, inside) \
    __attribute__((visibility("hidden"), used)) int name(uint64_t value); \
    int name(uint64_t value) \
    { \
        data.touched[value & 63] = (char)libcudart_static_##inside(value ^ 0x##inside##589965cc75374cc); \
        return (int)(libcudart_static_##inside(value) >> 40) + data.touched[0]; \
    }

INSIDE(1, 0xb)
PUBLIC(cudaMalloc, 1)
INSIDE(2, 0xc)
PUBLIC(cudaFree, 2)
INSIDE(3, 0xd)
PUBLIC(cudaRuntimeGetVersion, 3)
INSIDE(4, 0xe)
PUBLIC(cudaMemset, 4)
INSIDE(5, 0xf)
PUBLIC(cudaGetLastError, 5)
INSIDE(6, 0xa)
PUBLIC(cudaDeviceSynchronize, 6)
INSIDE(7, 0x1)
PUBLIC(cudaStreamSynchronize, 7)
