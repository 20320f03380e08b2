// SPDX-License-Identifier: Apache-2.0
// Products of matrices by the matrix instructions of a warp, as libraries for devices write them: tiles in shared
// memory that asynchronous copies fill one round ahead, ldmatrix, mma; and a short one with wmma. All of them calculate
// C = A * transposed B, so both factors lie along k.
#define BENCH_DEVICE
#include "matrix.h"

#define KERNEL extern "C" __global__ void

typedef unsigned u32;

static __device__ u32 shared_address(const void *pointer)
{
    return (u32)__cvta_generic_to_shared(pointer);
}

// A format: the bytes of an element, the type of its sums (asm's letter for it), and the instruction.
#define FORMAT(name, size, type, letter, form) \
    struct name { \
        static constexpr int bytes = size; \
        using sum = type; \
        static __device__ void multiply(type (&c)[4], const u32 (&a)[4], u32 b0, u32 b1) \
        { \
            asm volatile("mma.sync.aligned." form " {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};" \
                         : letter(c[0]), letter(c[1]), letter(c[2]), letter(c[3]) \
                         : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1)); \
        } \
    };
FORMAT(halves, 2, float, "+f", "m16n8k16.row.col.f32.f16.f16.f32")
FORMAT(bfloats, 2, float, "+f", "m16n8k16.row.col.f32.bf16.bf16.f32")
FORMAT(tensor_floats, 4, float, "+f", "m16n8k8.row.col.f32.tf32.tf32.f32")
FORMAT(eights, 1, int, "+r", "m16n8k32.row.col.s32.s8.s8.s32")

// A tile of `rows` rows of TILE_BYTES each, 16 bytes a thread and turn.
template <int rows> static __device__ void fetch(char *tile, const char *from, int pitch)
{
    for (int at = threadIdx.x; at < rows * (TILE_BYTES / 16); at += THREADS) {
        int row = at / (TILE_BYTES / 16), piece = at % (TILE_BYTES / 16) * 16;
        asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(shared_address(tile + row * PITCH + piece)),
                     "l"(from + (long long)row * pitch + piece));
    }
}

static __device__ void four_matrices(u32 (&to)[4], const char *at)
{
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];"
                 : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3]) : "r"(shared_address(at)));
}

template <typename T> static __device__ void product(const char *a, const char *b, typename T::sum *c)
{
    alignas(16) __shared__ char tiles[2][(TILE_ROWS + TILE_COLS) * PITCH];
    const int pitch = SIDE * T::bytes, rounds = pitch / TILE_BYTES, lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const int row = warp / (TILE_COLS / WARP_COLS) * WARP_ROWS, col = warp % (TILE_COLS / WARP_COLS) * WARP_COLS;
    typename T::sum sums[WARP_ROWS / 16][WARP_COLS / 8][4] = {};
    a += (long long)blockIdx.y * TILE_ROWS * pitch;
    b += (long long)blockIdx.x * TILE_COLS * pitch;
    fetch<TILE_ROWS>(tiles[0], a, pitch);
    fetch<TILE_COLS>(tiles[0] + TILE_ROWS * PITCH, b, pitch);
    asm volatile("cp.async.commit_group;");
    for (int round = 0; round < rounds; round++) {
        asm volatile("cp.async.wait_group 0;");
        __syncthreads();
        if (round + 1 < rounds) {
            char *next = tiles[(round + 1) % 2];
            fetch<TILE_ROWS>(next, a + (round + 1) * TILE_BYTES, pitch);
            fetch<TILE_COLS>(next + TILE_ROWS * PITCH, b + (round + 1) * TILE_BYTES, pitch);
            asm volatile("cp.async.commit_group;");
        }
        const char *left = tiles[round % 2] + row * PITCH, *right = tiles[round % 2] + (TILE_ROWS + col) * PITCH;
#pragma unroll
        for (int k = 0; k < TILE_BYTES; k += 32) {
            u32 rows[WARP_ROWS / 16][4], cols[WARP_COLS / 16][4];
#pragma unroll
            for (int i = 0; i < WARP_ROWS / 16; i++)
                four_matrices(rows[i], left + (i * 16 + lane % 16) * PITCH + k + lane / 16 * 16);
#pragma unroll
            for (int j = 0; j < WARP_COLS / 16; j++)
                four_matrices(cols[j], right + (j * 16 + lane % 8 + lane / 16 * 8) * PITCH + k + lane / 8 % 2 * 16);
#pragma unroll
            for (int i = 0; i < WARP_ROWS / 16; i++)
#pragma unroll
                for (int j = 0; j < WARP_COLS / 8; j++)
                    T::multiply(sums[i][j], rows[i], cols[j / 2][j % 2 * 2], cols[j / 2][j % 2 * 2 + 1]);
        }
    }
#pragma unroll
    for (int i = 0; i < WARP_ROWS / 16; i++)
#pragma unroll
        for (int j = 0; j < WARP_COLS / 8; j++)
#pragma unroll
            for (int e = 0; e < 4; e++)
                c[(long long)(blockIdx.y * TILE_ROWS + row + i * 16 + lane / 4 + e / 2 * 8) * SIDE + blockIdx.x * TILE_COLS +
                  col + j * 8 + lane % 4 * 2 + e % 2] = sums[i][j][e];
}

KERNEL half_product(const char *a, const char *b, float *c) { product<halves>(a, b, c); }
KERNEL bfloat_product(const char *a, const char *b, float *c) { product<bfloats>(a, b, c); }
KERNEL tensor_product(const char *a, const char *b, float *c) { product<tensor_floats>(a, b, c); }
KERNEL byte_product(const char *a, const char *b, int *c) { product<eights>(a, b, c); }

// As in first lessons: a warp makes one tile of 16 x 16, straight from memory.
KERNEL wmma_product(const char *a, const char *b, float *c)
{
    u32 x[8], y[8];
    float d[8] = {};
    int row = blockIdx.y * 16, col = (blockIdx.x * 4 + threadIdx.x / 32) * 16;
    for (int k = 0; k < WMMA_SIDE; k += 16) {
        asm volatile("wmma.load.a.sync.aligned.row.m16n16k16.global.f16 {%0,%1,%2,%3,%4,%5,%6,%7}, [%8], %9;"
                     : "=r"(x[0]), "=r"(x[1]), "=r"(x[2]), "=r"(x[3]), "=r"(x[4]), "=r"(x[5]), "=r"(x[6]), "=r"(x[7])
                     : "l"(a + (row * WMMA_SIDE + k) * 2), "r"(WMMA_SIDE));
        asm volatile("wmma.load.b.sync.aligned.col.m16n16k16.global.f16 {%0,%1,%2,%3,%4,%5,%6,%7}, [%8], %9;"
                     : "=r"(y[0]), "=r"(y[1]), "=r"(y[2]), "=r"(y[3]), "=r"(y[4]), "=r"(y[5]), "=r"(y[6]), "=r"(y[7])
                     : "l"(b + (col * WMMA_SIDE + k) * 2), "r"(WMMA_SIDE));
        asm volatile("wmma.mma.sync.aligned.row.col.m16n16k16.f32.f32 {%0,%1,%2,%3,%4,%5,%6,%7}, {%8,%9,%10,%11,%12,%13,%14,%15}, "
                     "{%16,%17,%18,%19,%20,%21,%22,%23}, {%0,%1,%2,%3,%4,%5,%6,%7};"
                     : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]), "+f"(d[4]), "+f"(d[5]), "+f"(d[6]), "+f"(d[7])
                     : "r"(x[0]), "r"(x[1]), "r"(x[2]), "r"(x[3]), "r"(x[4]), "r"(x[5]), "r"(x[6]), "r"(x[7]), "r"(y[0]),
                       "r"(y[1]), "r"(y[2]), "r"(y[3]), "r"(y[4]), "r"(y[5]), "r"(y[6]), "r"(y[7]));
    }
    asm volatile("wmma.store.d.sync.aligned.row.m16n16k16.global.f32 [%0], {%1,%2,%3,%4,%5,%6,%7,%8}, %9;" ::"l"(c + row * WMMA_SIDE + col),
                 "f"(d[0]), "f"(d[1]), "f"(d[2]), "f"(d[3]), "f"(d[4]), "f"(d[5]), "f"(d[6]), "f"(d[7]), "r"(WMMA_SIDE));
}
