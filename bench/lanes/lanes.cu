// SPDX-License-Identifier: Apache-2.0
// What costs real programs more than it should: long arithmetic that flushes subnormal numbers, as Dr.Jit writes it;
// reads of textures; sums and scans in shared memory by many small steps; loads of small structures at a stride.
#define BENCH_DEVICE
#include "lanes.h"

#define KERNEL extern "C" __global__ void

static __device__ float sine(float x)
{
    float r;
    asm("sin.approx.ftz.f32 %0, %1;" : "=f"(r) : "f"(x));
    return r;
}

static __device__ float product(float a, float b)
{
    float r;
    asm("mul.ftz.f32 %0, %1, %2;" : "=f"(r) : "f"(a), "f"(b));
    return r;
}

static __device__ float power(float x)
{
    float r;
    asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(r) : "f"(product(x, 1.4426950408889634f)));
    return r;
}

static __device__ float sum(float a, float b)
{
    float r;
    asm("add.ftz.f32 %0, %1, %2;" : "=f"(r) : "f"(a), "f"(b));
    return r;
}

KERNEL waves(const float *in, float *out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float x = in[i];
    out[i] = product(sine(x), power(x));
}

KERNEL set(const float *, float *out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, count = 0;
    float cx = sum(product((float)(i % SET_SIDE), 3.0f / SET_SIDE), -2.0f),
          cy = sum(product((float)(i / SET_SIDE), 2.0f / SET_SIDE), -1.0f), x = 0, y = 0;
    for (; count < SET_ROUNDS; count++) {
        float xx = product(x, x), yy = product(y, y);
        if (!(sum(xx, yy) < 4.0f))
            break;
        y = sum(product(product(2.0f, x), y), cy);
        x = sum(sum(xx, -yy), cx);
    }
    out[i] = (float)count;
}

static __device__ float weight(int k)
{
    return 0.2f - 0.04f * (float)(k > TAPS / 2 ? k - TAPS / 2 : TAPS / 2 - k);
}

static __device__ float clamped(const float *in, int x, int y)
{
    x = x < 0 ? 0 : x < PICTURE ? x : PICTURE - 1;
    y = y < 0 ? 0 : y < PICTURE ? y : PICTURE - 1;
    return in[y * PICTURE + x];
}

KERNEL loads(const float *in, float *out)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    float all = 0;
    for (int k = 0; k < TAPS; k++)
        all += clamped(in, x + k - TAPS / 2, y) * weight(k);
    out[y * PICTURE + x] = all;
}

KERNEL points(cudaTextureObject_t in, float *out)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    float all = 0;
    for (int k = 0; k < TAPS; k++)
        all += tex2D<float>(in, (float)(x + k - TAPS / 2) + 0.5f, (float)y + 0.5f) * weight(k);
    out[y * PICTURE + x] = all;
}

// A picture turned by some degrees about its corner.
KERNEL turned_loads(const float *in, float *out)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    float u = 0.96f * (float)x - 0.28f * (float)y + 300.0f, v = 0.28f * (float)x + 0.96f * (float)y - 300.0f;
    out[y * PICTURE + x] = clamped(in, (int)floorf(u), (int)floorf(v));
}

KERNEL turned_points(cudaTextureObject_t in, float *out)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    float u = 0.96f * (float)x - 0.28f * (float)y + 300.0f, v = 0.28f * (float)x + 0.96f * (float)y - 300.0f;
    out[y * PICTURE + x] = tex2D<float>(in, u, v);
}

// Both with a texture of f32, clamped, and with one of bytes as [0, 1], wrapped.
KERNEL turned_linear(cudaTextureObject_t in, float *out)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    float u = 0.96f * (float)x - 0.28f * (float)y + 300.0f, v = 0.28f * (float)x + 0.96f * (float)y - 300.0f;
    out[y * PICTURE + x] = tex2D<float>(in, u, v);
}

KERNEL turned_bytes(cudaTextureObject_t in, float *out)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    float u = 0.96f * (float)x - 0.28f * (float)y + 300.0f, v = 0.28f * (float)x + 0.96f * (float)y - 300.0f;
    float4 texel = tex2D<float4>(in, u / PICTURE, v / PICTURE);
    out[y * PICTURE + x] = texel.x + texel.y + texel.z + texel.w;
}

// The sum of a block's values, halving the threads that add.
KERNEL tree(const float *in, float *out)
{
    __shared__ float values[TREE_THREADS];
    int thread = threadIdx.x;
    values[thread] = in[blockIdx.x * TREE_THREADS + thread];
    __syncthreads();
    for (int by = TREE_THREADS / 2; by > 0; by /= 2) {
        if (thread < by)
            values[thread] += values[thread + by];
        __syncthreads();
    }
    if (thread == 0)
        out[blockIdx.x] = values[0];
}

// The sums up to each of a block's values, by doubling distances; the lower half of the memory stays zero.
KERNEL steps(const float *in, float *out)
{
    __shared__ float values[2 * TREE_THREADS];
    int at = threadIdx.x + TREE_THREADS;
    float x = in[blockIdx.x * TREE_THREADS + threadIdx.x];
    values[threadIdx.x] = 0;
    values[at] = x;
    for (int by = 1; by < TREE_THREADS; by *= 2) {
        __syncthreads();
        x = values[at] + values[at - by];
        __syncthreads();
        values[at] = x;
    }
    out[blockIdx.x * TREE_THREADS + threadIdx.x] = x;
}

struct key {
    uint3 words;
    unsigned rest[KEY_BYTES / 4 - 3];
};

static __device__ unsigned mixed(unsigned hash, unsigned word)
{
    hash = (hash ^ word) * 0x9e3779b1u;
    return hash ^ hash >> 15;
}

// A thread hashes a key as often as the key says.
KERNEL keys(const key *in, unsigned *out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned hash = 1, rounds = in[i].words.x % 8 + 12;
    for (unsigned k = 0; k < rounds; k++) {
        uint3 words = in[(i + k) % KEYS].words;
        hash = mixed(mixed(mixed(hash, words.x), words.y), words.z);
    }
    out[i] = hash;
}
