/* SPDX-License-Identifier: Apache-2.0 */
/* Eleven kernels as CUDA programmers write them, each with a twin in openmp.c. */
#define BENCH_DEVICE
#include "kernels.h"

#define TILE 16
#define SCAN_BLOCK 256

extern "C" __global__ void vector_add(const float *a, const float *b, float *c, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        c[i] = a[i] + b[i];
}

extern "C" __global__ void saxpy(float k, const float *x, float *y, int n)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        y[i] = k * x[i] + y[i];
}

extern "C" __global__ void stencil(const float *in, float *out, int side)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x > 0 && y > 0 && x < side - 1 && y < side - 1)
        out[y * side + x] = 0.2f * (in[y * side + x] + in[y * side + x - 1] + in[y * side + x + 1] + in[(y - 1) * side + x] +
                                    in[(y + 1) * side + x]);
}

extern "C" __global__ void reduce(const float *in, float *out, int n)
{
    __shared__ float part[256];
    float sum = 0;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        sum += in[i];
    part[threadIdx.x] = sum;
    __syncthreads();
    for (unsigned half = blockDim.x / 2; half > 0; half /= 2) {
        if (threadIdx.x < half)
            part[threadIdx.x] += part[threadIdx.x + half];
        __syncthreads();
    }
    if (threadIdx.x == 0)
        out[blockIdx.x] = part[0];
}

/* Running sums within each stretch of SCAN_BLOCK. */
extern "C" __global__ void scan(const float *in, float *out, int n)
{
    __shared__ float warps[SCAN_BLOCK / 32];
    int i = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    float value = i < n ? in[i] : 0;
    for (int step = 1; step < 32; step *= 2) {
        float other = __shfl_up_sync(0xffffffffu, value, step);
        if (lane >= step)
            value += other;
    }
    if (lane == 31)
        warps[warp] = value;
    __syncthreads();
    for (int k = 0; k < warp; k++)
        value += warps[k];
    if (i < n)
        out[i] = value;
}

extern "C" __global__ void matrix(const float *a, const float *b, float *c, int n)
{
    __shared__ float left[TILE][TILE], right[TILE][TILE];
    int x = threadIdx.x, y = threadIdx.y, row = blockIdx.y * TILE + y, column = blockIdx.x * TILE + x;
    float sum = 0;
    for (int at = 0; at < n; at += TILE) {
        left[y][x] = a[row * n + at + x];
        right[y][x] = b[(at + y) * n + column];
        __syncthreads();
        for (int k = 0; k < TILE; k++)
            sum += left[y][k] * right[k][x];
        __syncthreads();
    }
    c[row * n + column] = sum;
}

extern "C" __global__ void transpose(const float *in, float *out, int side)
{
    __shared__ float tile[TILE][TILE + 1];
    int x = blockIdx.x * TILE + threadIdx.x, y = blockIdx.y * TILE + threadIdx.y;
    tile[threadIdx.y][threadIdx.x] = in[y * side + x];
    __syncthreads();
    x = blockIdx.y * TILE + threadIdx.x;
    y = blockIdx.x * TILE + threadIdx.y;
    out[y * side + x] = tile[threadIdx.x][threadIdx.y];
}

extern "C" __global__ void bodies(const float4 *at, float4 *pull, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float4 me = at[i];
    float x = 0, y = 0, z = 0;
    for (int k = 0; k < n; k++) {
        float4 other = at[k];
        float dx = other.x - me.x, dy = other.y - me.y, dz = other.z - me.z;
        float square = dx * dx + dy * dy + dz * dz + 0.01f, inverse = rsqrtf(square), force = other.w * inverse * inverse * inverse;
        x += dx * force;
        y += dy * force;
        z += dz * force;
    }
    pull[i] = make_float4(x, y, z, 0);
}

extern "C" __global__ void fractal(float *out, int side, int rounds)
{
    int px = blockIdx.x * blockDim.x + threadIdx.x, py = blockIdx.y * blockDim.y + threadIdx.y;
    float cx = -2.0f + 3.0f * px / side, cy = -1.5f + 3.0f * py / side, x = 0, y = 0;
    int k = 0;
    while (k < rounds && x * x + y * y < 4.0f) {
        float next = x * x - y * y + cx;
        y = 2.0f * x * y + cy;
        x = next;
        k++;
    }
    out[py * side + px] = k;
}

static __device__ float normal(float d)
{
    float k = 1.0f / (1.0f + 0.2316419f * fabsf(d));
    float tail = 0.39894228f * expf(-0.5f * d * d) *
                 (k * (0.31938153f + k * (-0.356563782f + k * (1.781477937f + k * (-1.821255978f + k * 1.330274429f)))));
    return d > 0 ? 1.0f - tail : tail;
}

extern "C" __global__ void options(const float *price, const float *strike, const float *years, float *call, float *put, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    float s = 5.0f + 25.0f * price[i], x = 1.0f + 99.0f * strike[i], t = 0.25f + 9.75f * years[i], rate = 0.02f, swing = 0.30f;
    float root = sqrtf(t), d1 = (logf(s / x) + (rate + 0.5f * swing * swing) * t) / (swing * root), d2 = d1 - swing * root;
    float n1 = normal(d1), n2 = normal(d2), discount = expf(-rate * t);
    call[i] = s * n1 - x * discount * n2;
    put[i] = x * discount * (1.0f - n2) - s * (1.0f - n1);
}

extern "C" __global__ void histogram(const unsigned char *in, unsigned *bins, int n)
{
    __shared__ unsigned mine[BINS];
    mine[threadIdx.x] = 0;
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        atomicAdd(&mine[in[i]], 1u);
    __syncthreads();
    atomicAdd(&bins[threadIdx.x], mine[threadIdx.x]);
}
