/* SPDX-License-Identifier: Apache-2.0 */
/* Kernels that every compiler has to make the same of: exact arithmetic, so the results are compared bit by bit; those named close_… within a few
 * units in the last place. Each runs with 4 blocks of 96 threads over 384 numbers. */
#define AT (blockIdx.x * blockDim.x + threadIdx.x)

extern "C" __global__ void integers(unsigned *out, const unsigned *in)
{
    unsigned x = in[AT], y = in[(AT + 7) % 384];
    int s = (int)x;
    unsigned long long wide = (unsigned long long)x * y;
    out[AT] = (x ^ (y >> 3)) + __umulhi(x, y) + __popc(x) * 3 + __clz(s) + __brev(y) + (unsigned)(wide >> 17) + (s >> 5) + x / (y | 1) + x % (y | 1) +
        (unsigned)((s / 7) * 31 + s % 11) + __byte_perm(x, y, 0x2461) + __funnelshift_l(x, y, 9) + max(s, (int)y) + min(x, y);
}

extern "C" __global__ void floats(unsigned *out, const unsigned *in)
{
    float x = (float)(int)in[AT] * 1e-3f, y = (float)(in[(AT + 5) % 384] | 1) * 0.25f;
    double d = (double)x / 3.0 + sqrt((double)y);
    float r = fmaf(x, y, 1.5f) / (y + 2.0f) + sqrtf(fabsf(x)) - floorf(x) + rintf(y) + fminf(x, y) + (float)d;
    out[AT] = __float_as_uint(r) ^ (unsigned)__float2int_rn(x) ^ (unsigned)(long long)d;
}

extern "C" __global__ void branches(unsigned *out, const unsigned *in)
{
    unsigned x = in[AT], steps = 0;
    while (x != 1 && steps < 200) {
        if (x & 1)
            x = 3 * x + 1;
        else
            x >>= 1;
        switch (x % 5) {
        case 0: steps += 2; break;
        case 3: steps += 3; continue;
        default: break;
        }
        steps++;
    }
    out[AT] = steps * 1000003u + x;
}

extern "C" __global__ void shared_sum(unsigned *out, const unsigned *in)
{
    __shared__ unsigned part[128];
    part[threadIdx.x] = in[AT];
    if (threadIdx.x < 32)
        part[96 + threadIdx.x] = 0;
    __syncthreads();
    for (unsigned step = 64; step; step >>= 1) {
        if (threadIdx.x < step)
            part[threadIdx.x] += part[threadIdx.x + step];
        __syncthreads();
    }
    out[AT] = part[0] + threadIdx.x;
}

extern "C" __global__ void warps(unsigned *out, const unsigned *in)
{
    unsigned x = in[AT], sum = x;
    for (int step = 16; step; step >>= 1)
        sum += __shfl_xor_sync(0xffffffffu, sum, step);
    unsigned votes = __ballot_sync(0xffffffffu, x & 1);
    out[AT] = sum ^ votes ^ __shfl_up_sync(0xffffffffu, x, 3) ^ __shfl_sync(0xffffffffu, x, (int)(x % 32)) ^
        (__any_sync(0xffffffffu, x > 0xf0000000u) ? 5u : 9u);
}

__device__ unsigned counter[8];
__constant__ unsigned weights[4] = { 3, 5, 7, 11 };

extern "C" __global__ void atomics(unsigned *out, const unsigned *in)
{
    __shared__ unsigned bins[16];
    if (threadIdx.x < 16)
        bins[threadIdx.x] = 0;
    __syncthreads();
    atomicAdd(&bins[in[AT] % 16], weights[in[AT] % 4]);
    atomicMax(&counter[in[AT] % 8], 0u);
    __syncthreads();
    out[AT] = bins[threadIdx.x % 16];
}

struct point { float x, y; unsigned char tag; };

template <class T, int N> struct rolling {
    T last[N];
    __device__ T push(T value)
    {
        T sum = value;
        for (int i = N - 1; i > 0; i--)
            sum += last[i] = last[i - 1];
        last[0] = value;
        return sum;
    }
};

__device__ __noinline__ unsigned mix(point p, unsigned salt)
{
    return __float_as_uint(p.x - p.y) * 31 + p.tag + salt;
}

extern "C" __global__ void templates(unsigned *out, const unsigned *in)
{
    rolling<unsigned, 4> sums = {};
    unsigned total = 0;
    for (int i = 0; i < 10; i++)
        total += sums.push(in[(AT + i * 13) % 384]) * (i + 1);
    point p = { (float)(total >> 8), (float)(total & 255), (unsigned char)total };
    auto twice = [=](unsigned v) { return v * 2 + total; };
    out[AT] = mix(p, twice(in[AT]));
}

/* 19 bytes a thread, which go through shared memory in rounds, as CUB's radix sort has them: compilers may read several at
 * once, and their addresses are multiples of 1. */
extern "C" __global__ void byte_rounds(unsigned *out, const unsigned *in)
{
    __shared__ unsigned char all[96 * 19];
    unsigned char mine[19];
    unsigned sum = 0;
    for (int i = 0; i < 19; i++)
        mine[i] = in[(AT + i * 17) % 384] >> 11;
    for (int round = 0;; round++) {
#pragma unroll
        for (int i = 0; i < 19; i++)
            all[(threadIdx.x + i * 96 + round * 7) % (96 * 19)] = mine[i] + round;
        __syncthreads();
        if (round == 3)
            break;
#pragma unroll
        for (int i = 0; i < 19; i++)
            mine[i] = all[threadIdx.x * 19 + i];
        __syncthreads();
    }
    for (int i = 0; i < 19; i++)
        sum = sum * 31 + all[threadIdx.x + i * 96];
    out[AT] = sum;
}

extern "C" __global__ void close_math(unsigned *out, const unsigned *in)
{
    float x = (float)(in[AT] % 1000) * 0.01f;
    out[AT] = __float_as_uint(sinf(x) + expf(-x) + logf(x + 1.0f) + powf(x + 0.5f, 1.7f) + tanhf(x) + rsqrtf(x + 1.0f));
}
