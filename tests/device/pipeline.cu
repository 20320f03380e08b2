/* SPDX-License-Identifier: Apache-2.0 */
/* cuda::pipeline, cuda::barrier and cuda::atomic for test_pipeline.c. Every kernel is one block, or some that meet in global memory. */
#include <cooperative_groups.h>
#include <cuda/atomic>
#include <cuda/barrier>
#include <cuda/pipeline>
namespace cg = cooperative_groups;

#define STAGES 3

/* All threads fill and read: out[i] is the double of another thread's copy. */
extern "C" __global__ void unified(int *out, const int *in, int batches)
{
    extern __shared__ int places[];
    __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, STAGES> state;
    auto block = cg::this_thread_block();
    int n = (int)block.size(), me = threadIdx.x;
    auto pipe = cuda::make_pipeline(block, &state);
    for (int read = 0, filled = 0; read < batches; read++) {
        for (; filled < batches && filled < read + STAGES; filled++) {
            pipe.producer_acquire();
            cuda::memcpy_async(block, places + filled % STAGES * n, in + filled * n, cuda::aligned_size_t<4>(sizeof(int) * n), pipe);
            pipe.producer_commit();
        }
        pipe.consumer_wait();
        out[read * n + me] = 2 * places[read % STAGES * n + (me + 37) % n];
        pipe.consumer_release();
    }
}

/* The first warp fills, the others read; by number or by role. */
template <class Pipe> static __device__ void divided(Pipe &pipe, int *places, int *out, const int *in, int batches, bool fills)
{
    int readers = blockDim.x - 32, me = threadIdx.x - 32;
    for (int i = 0; i < batches; i++) {
        int *place = places + i % STAGES * readers;
        if (fills) {
            pipe.producer_acquire();
            for (int k = threadIdx.x; k < readers; k += 32)
                cuda::memcpy_async(&place[k], &in[i * readers + k], sizeof(int), pipe);
            pipe.producer_commit();
        } else {
            pipe.consumer_wait();
            out[i * readers + me] = 3 * place[readers - 1 - me];
            pipe.consumer_release();
        }
    }
}
extern "C" __global__ void by_number(int *out, const int *in, int batches)
{
    extern __shared__ int places[];
    __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, STAGES> state;
    auto pipe = cuda::make_pipeline(cg::this_thread_block(), &state, 32);
    divided(pipe, places, out, in, batches, threadIdx.x < 32);
}
extern "C" __global__ void by_role(int *out, const int *in, int batches)
{
    extern __shared__ int places[];
    __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, STAGES> state;
    auto pipe = cuda::make_pipeline(cg::this_thread_block(), &state, threadIdx.x < 32 ? cuda::pipeline_role::producer : cuda::pipeline_role::consumer);
    divided(pipe, places, out, in, batches, threadIdx.x < 32);
}
/* Threads that leave: the last warp's reads two batches, then the others go on without it; when all have left, which one of them learns, the state is
 * used again. out[0] to out[3]: who was told so, first and second time; what was read wrong. */
extern "C" __global__ void leave(int *out, const int *in, int batches)
{
    __shared__ int place[STAGES];
    __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, STAGES> state;
    for (int time = 0; time < 2; time++) {
        auto pipe = cuda::make_pipeline(cg::this_thread_block(), &state, 32);
        for (int i = 0; i < batches && !(threadIdx.x >= blockDim.x - 32 && i == 2 + time); i++) {
            if (threadIdx.x < 32) {
                pipe.producer_acquire();
                if (threadIdx.x == 0)
                    cuda::memcpy_async(&place[i % STAGES], &in[i + time], sizeof(int), pipe);
                pipe.producer_commit();
            } else {
                pipe.consumer_wait();
                if (*(volatile int *)&place[i % STAGES] != in[i + time])
                    atomicAdd(&out[3], 1);
                pipe.consumer_release();
            }
        }
        if (pipe.quit())
            atomicAdd(&out[time], 1);
        if (pipe.quit())   /* left already */
            atomicAdd(&out[2], 1);
        __syncthreads();
    }
}

/* A pipeline of each thread's own, with pieces of every alignment; and a barrier that copies are bound to. */
extern "C" __global__ void own(int *out, const int *in, int batches)
{
    extern __shared__ int places[];
    __shared__ cuda::barrier<cuda::thread_scope_block> ready;
    int n = blockDim.x, me = threadIdx.x;
    if (me == 0)
        init(&ready, n);
    __syncthreads();
    cuda::pipeline<cuda::thread_scope_thread> pipe = cuda::make_pipeline();
    for (int i = 0; i < batches; i++) {
        pipe.producer_acquire();
        char *to = (char *)&places[me];
        const char *from = (const char *)&in[i * n + me];
        cuda::memcpy_async(to, from, 1, pipe);
        cuda::memcpy_async(to + 1, from + 1, 3, pipe);
        pipe.producer_commit();
        cuda::pipeline_consumer_wait_prior<0>(pipe);
        cuda::memcpy_async(cg::this_thread_block(), places + n, in + i * n, cuda::aligned_size_t<16>(sizeof(int) * n), ready);
        ready.arrive_and_wait();
        out[i * n + me] = places[me] + places[n + (me ^ 1)];
        pipe.consumer_release();
        ready.arrive_and_wait();
    }
}

/* Rounds between blocks, by a barrier in global memory; what happens at the end of a block's phases. */
struct count_up {
    int *counter;
    __device__ void operator()() const { ++*counter; }
};
extern "C" __global__ void meet(cuda::barrier<cuda::thread_scope_device> *all, int *words, int *right, int rounds)
{
    __shared__ cuda::barrier<cuda::thread_scope_block, count_up> inner;
    __shared__ int phases;
    int me = blockIdx.x * blockDim.x + threadIdx.x, n = gridDim.x * blockDim.x, good = 0;
    if (threadIdx.x == 0) {
        phases = 0;
        init(&inner, blockDim.x, count_up{&phases});
    }
    __syncthreads();
    for (int i = 0; i < rounds; i++) {
        words[me] = i + me;
        all->arrive_and_wait();
        good += *(volatile int *)&words[(me + blockDim.x) % n] == i + (int)(me + blockDim.x) % n;
        inner.arrive_and_wait();
        good += *(volatile int *)&phases == i + 1;
        all->arrive_and_wait();
    }
    atomicAdd(right, good);
}
extern "C" __global__ void set_up(cuda::barrier<cuda::thread_scope_device> *all, int expected) { init(all, expected); }

/* Each class and operation by all threads; the test knows the sums. */
__device__ cuda::atomic<unsigned int, cuda::thread_scope_device> counter;
template <class T> static __device__ void all_of(T *p)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    cuda::atomic_ref<T, cuda::thread_scope_device> sum(p[0]), low(p[1]), high(p[2]), turn(p[3]);
    sum.fetch_add((T)1, cuda::memory_order_relaxed);
    low.fetch_min((T)(i % 50), cuda::std::memory_order_acq_rel);
    high.fetch_max((T)(i % 50));
    T seen = turn.load(cuda::memory_order_acquire);
    while (!turn.compare_exchange_weak(seen, (T)(seen + 1), cuda::memory_order_acq_rel, cuda::memory_order_relaxed))
        ;
    sum += (T)1;
    sum -= (T)1;
}
extern "C" __global__ void atomics(int *ints, double *doubles, unsigned short *shorts, unsigned int *count)
{
    all_of(ints);
    all_of(doubles);
    all_of(shorts);
    counter++;
    cuda::atomic_thread_fence(cuda::memory_order_seq_cst, cuda::thread_scope_device);
    __syncthreads();
    if (threadIdx.x == 0)
        atomicMax(count, counter.load(cuda::memory_order_relaxed));
    __shared__ cuda::atomic_flag taken;
    __shared__ cuda::atomic<int *, cuda::thread_scope_block> at;
    __shared__ int winners;
    if (threadIdx.x == 0) {
        taken.clear();
        winners = 0;
        at = ints;
    }
    __syncthreads();
    if (!taken.test_and_set())
        atomicAdd(&winners, 1);
    at.fetch_add(2, cuda::memory_order_relaxed);
    __syncthreads();
    if (threadIdx.x == 0)
        atomicAdd(&ints[4], winners + (int)(at.load() - ints));
}
