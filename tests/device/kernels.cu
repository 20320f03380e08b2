/* SPDX-License-Identifier: Apache-2.0 */
/* Kernels in the style of real programs, for test_kernels.c; compiled by the nvcc shim, optimised and with -G. The headers are included because
 * programs do that. */
#include <cuda_runtime.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

template <class T, int width> __device__ T warp_sum(T value)
{
    for (int step = width / 2; step > 0; step /= 2)
        value += __shfl_down_sync(0xffffffffu, value, step, width);
    return value;
}

template <class T> __device__ void block_sum(T *out, const T *in, int n)
{
    __shared__ T partial[32];
    T sum = 0;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        sum += in[i];
    sum = warp_sum<T, 32>(sum);
    if (threadIdx.x % warpSize == 0)
        partial[threadIdx.x / warpSize] = sum;
    __syncthreads();
    if (threadIdx.x < warpSize) {
        sum = threadIdx.x < (blockDim.x + warpSize - 1) / warpSize ? partial[threadIdx.x] : T(0);
        sum = warp_sum<T, 32>(sum);
        if (threadIdx.x == 0)
            out[blockIdx.x] = sum;
    }
}

extern "C" __global__ void reduce_int(int *out, const int *in, int n) { block_sum(out, in, n); }
extern "C" __global__ void reduce_double(double *out, const double *in, int n) { block_sum(out, in, n); }

extern "C" __global__ void __launch_bounds__(256) histogram(unsigned int *bins, const uint8_t *data, int n)
{
    __shared__ unsigned int local[256];
    for (int i = threadIdx.x; i < 256; i += blockDim.x)
        local[i] = 0;
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        atomicAdd(&local[data[i]], 1u);
    __syncthreads();
    for (int i = threadIdx.x; i < 256; i += blockDim.x)
        atomicAdd(&bins[i], local[i]);
}

#define TILE 16
extern "C" __global__ void multiply(float *c, const float *a, const float *b, int n)
{
    __shared__ float left[TILE][TILE], right[TILE][TILE];
    int row = blockIdx.y * TILE + threadIdx.y, column = blockIdx.x * TILE + threadIdx.x;
    float sum = 0;
    for (int tile = 0; tile < (n + TILE - 1) / TILE; tile++) {
        int inner = tile * TILE;
        left[threadIdx.y][threadIdx.x] = row < n && inner + threadIdx.x < n ? a[row * n + inner + threadIdx.x] : 0;
        right[threadIdx.y][threadIdx.x] = column < n && inner + threadIdx.y < n ? b[(inner + threadIdx.y) * n + column] : 0;
        __syncthreads();
        for (int k = 0; k < TILE; k++)
            sum += left[threadIdx.y][k] * right[k][threadIdx.x];
        __syncthreads();
    }
    if (row < n && column < n)
        c[row * n + column] = sum;
}

__constant__ float weights[5];

/* Five points, with a frame of one cell held in dynamic shared memory. */
extern "C" __global__ void stencil(float *out, const float *in, int width, int height)
{
    extern __shared__ float cells[];
    int pitch = blockDim.x + 2, x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    for (int j = threadIdx.y; j < blockDim.y + 2; j += blockDim.y)
        for (int i = threadIdx.x; i < pitch; i += blockDim.x) {
            int u = min(max((int)(blockIdx.x * blockDim.x) + i - 1, 0), width - 1);
            int v = min(max((int)(blockIdx.y * blockDim.y) + j - 1, 0), height - 1);
            cells[j * pitch + i] = __ldg(&in[v * width + u]);
        }
    __syncthreads();
    if (x >= width || y >= height)
        return;
    const float *at = &cells[(threadIdx.y + 1) * pitch + threadIdx.x + 1];
    out[y * width + x] = weights[0] * at[0] + weights[1] * at[-1] + weights[2] * at[1] + weights[3] * at[-pitch] + weights[4] * at[pitch];
}

struct Vector { float x, y, z; };
struct Particles { Vector *position, *velocity; float4 force; short count; double step; char fixed[3]; };

__device__ __noinline__ Vector advance(Vector v, const float4 &force, double step)
{
    v.x += force.x * (float)step;
    v.y += force.y * (float)step;
    v.z += force.z * (float)step;
    return v;
}

extern "C" __global__ void move_particles(Particles all, int steps)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= all.count)
        return;
    for (int fixed : all.fixed)
        if (fixed == i)
            return;
    Vector v = all.velocity[i], p = all.position[i];
    for (int k = 0; k < steps; k++) {
        v = advance(v, all.force, all.step);
        p = advance(p, make_float4(v.x, v.y, v.z, 0), all.step);
    }
    all.velocity[i] = v;
    all.position[i] = p;
}

class Shape {
public:
    __device__ virtual float area() const = 0;
};
class Square : public Shape {
    float side;
public:
    __device__ explicit Square(float s) : side(s) {}
    __device__ float area() const override { return side * side; }
};
class Circle : public Shape {
    float radius;
public:
    __device__ explicit Circle(float r) : radius(r) {}
    __device__ float area() const override { return 3.0f * radius * radius; }
};

extern "C" __global__ void virtual_calls(float *out)
{
    Square square(threadIdx.x);
    Circle circle(threadIdx.x);
    const Shape *shape = threadIdx.x % 3 ? static_cast<const Shape *>(&square) : &circle;
    auto twice = [](float x) { return 2 * x; };
    out[threadIdx.x] = twice(shape->area());
}

/* A list in device memory, a lock by atomicCAS, memcpy and memset. */
struct Node { Node *next; int value; char name[8]; };
__device__ Node *list;
__device__ int lock;

extern "C" __global__ void push_nodes()
{
    Node *node = (Node *)malloc(sizeof(Node));
    memset(node, 0, sizeof *node);
    memcpy(node->name, "node", 5);
    node->value = blockIdx.x * blockDim.x + threadIdx.x;
    for (bool done = false; !done;)
        if (atomicCAS(&lock, 0, 1) == 0) {
            node->next = list;
            list = node;
            __threadfence();
            atomicExch(&lock, 0);
            done = true;
        }
}

extern "C" __global__ void sum_nodes(int *sum)
{
    for (Node *node = list, *next; node; node = next) {
        next = node->next;
        *sum += node->name[3] == 'e' ? node->value : -1000000;
        free(node);
    }
}

extern "C" __global__ void say(int x)
{
    if (threadIdx.x == 1)
        printf("thread %d of %u says %s, %.2f\n", threadIdx.x, blockDim.x, x ? "yes" : "no", 1.5);
}

#include <assert.h>
extern "C" __global__ void insist(const int *x) { assert(x[threadIdx.x] > 0); }

extern "C" __global__ void warp_things(unsigned int *out)
{
    unsigned int lane = threadIdx.x;
    out[lane] = __match_any_sync(0xffffffffu, lane % 5);
    out[32 + lane] = __reduce_add_sync(0xffffffffu, lane) + __reduce_max_sync(0xffffffffu, lane);
    out[64 + lane] = __ballot_sync(0xffffffffu, lane & 4) ^ (__any_sync(0xffffffffu, lane == 9) ? 1u : 0u);
    out[96 + lane] = __byte_perm(0x33221100u, 0x77665544u, 0x7531) + __funnelshift_l(0x80000000u, lane, 1);
    double wide = __shfl_xor_sync(0xffffffffu, lane * 0.5, 1);
    out[128 + lane] = (unsigned int)(wide * 2) + __popc(lane) + __clz(lane) + __ffs(lane) + (__brev(lane) >> 24);
    int all, none;
    out[160 + lane] = (__match_all_sync(0xffffffffu, 7u, &all) == 0xffffffffu) + 4 * (__match_all_sync(0xffffffffu, lane, &none) == 0);
    out[160 + lane] += 2 * (all != 0) + 8 * (none != 0);
    out[192 + lane] = __reduce_and_sync(0xffffffffu, lane | 64) + 2 * __reduce_or_sync(0xffffffffu, lane) + __reduce_xor_sync(0xffffffffu, lane);
    out[224 + lane] = __funnelshift_lc(5u, 9u, lane + 16) ^ __funnelshift_rc(5u, 9u, lane + 16) ^ __byte_perm(0x80u, lane, 0x8888u);
}
