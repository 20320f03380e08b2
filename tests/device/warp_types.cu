/* SPDX-License-Identifier: Apache-2.0 */
/* Shuffles, votes and matches of every type that goes: which overload is taken, what comes out. As a program, and its kernels by libnvrtc. */
/* NVIDIA's C++ headers (CCCL) name groups so, before or after the header has come. */
#define NAME_GROUPS                                                                        \
    namespace cooperative_groups {                                                         \
    namespace __v1 {                                                                       \
    class thread_block;                                                                    \
    template <unsigned int Size, typename ParentT> class thread_block_tile;                \
    }                                                                                      \
    using namespace __v1;                                                                  \
    }
NAME_GROUPS
#include <cooperative_groups.h>
NAME_GROUPS
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
namespace cg = cooperative_groups;

template <class Group> constexpr bool is_block = false;
template <> constexpr bool is_block<cg::thread_block> = true;
template <class Group> constexpr bool is_warp = false;
template <class Parent> constexpr bool is_warp<cg::thread_block_tile<32, Parent>> = true;

template <class A, class B> struct same { static constexpr bool value = false; };
template <class A> struct same<A, A> { static constexpr bool value = true; };

/* What went wrong: a line and a lane. */
__device__ int wrong_line, wrong_lane;
__device__ void expect(bool good, int line)
{
    if (!good) {
        wrong_line = line;
        wrong_lane = (int)threadIdx.x;
    }
}
#define IS(type, expression, right)                                                         \
    do {                                                                                    \
        static_assert(same<decltype(expression), type>::value, #expression);                \
        expect((expression) == (type)(right), __LINE__);                                    \
    } while (0)

/* A value of T for a lane, and back. */
template <class T> __device__ T of(unsigned lane) { return (T)(lane * 3); }
template <> __device__ bool of<bool>(unsigned lane) { return lane & 1; }
template <> __device__ __half2 of<__half2>(unsigned lane) { return __half2((__half)(float)lane, (__half)(float)(lane + 100)); }
template <> __device__ __nv_bfloat162 of<__nv_bfloat162>(unsigned lane) { return __nv_bfloat162((__nv_bfloat16)(float)lane, (__nv_bfloat16)(float)(lane + 128)); }
template <> __device__ __half of<__half>(unsigned lane) { return (__half)(float)lane; }
template <> __device__ __nv_bfloat16 of<__nv_bfloat16>(unsigned lane) { return (__nv_bfloat16)(float)lane; }

template <class T, class R> __device__ void shuffles()
{
    unsigned lane = threadIdx.x, full = ~0u;
    T value = of<T>(lane);
    IS(R, __shfl_sync(full, value, 7), of<T>(7));
    IS(R, __shfl_sync(full, value, 35, 16), of<T>(lane < 16 ? 3 : 19));
    IS(R, __shfl_up_sync(full, value, 2), of<T>(lane < 2 ? lane : lane - 2));
    IS(R, __shfl_down_sync(full, value, 5, 8), of<T>(lane % 8 >= 3 ? lane : lane + 5));
    IS(R, __shfl_xor_sync(full, value, 9), of<T>(lane ^ 9));
#if __CUDA_ARCH__ < 700
    IS(R, __shfl(value, 7), of<T>(7));
    IS(R, __shfl_up(value, 2, 32), of<T>(lane < 2 ? lane : lane - 2));
    IS(R, __shfl_down(value, 5, 8), of<T>(lane % 8 >= 3 ? lane : lane + 5));
    IS(R, __shfl_xor(value, 9), of<T>(lane ^ 9));
#endif
}

template <class T> __device__ void matches()
{
#if __CUDA_ARCH__ >= 700
    unsigned lane = threadIdx.x, full = ~0u;
    int pred = 5;
    IS(unsigned, __match_any_sync(full, (T)(lane & 1)), lane & 1 ? 0xaaaaaaaa : 0x55555555);
    IS(unsigned, __match_all_sync(full, (T)1, &pred), ~0u);
    expect(pred == 1, __LINE__);
    IS(unsigned, __match_all_sync(full, (T)(lane == 9), &pred), 0);
    expect(pred == 0, __LINE__);
#endif
}

__device__ void votes(float f)
{
    unsigned lane = threadIdx.x, full = ~0u;
    IS(int, __any_sync(full, lane == 3), 1);
    IS(int, __all_sync(full, lane < 32u), 1);
    IS(unsigned, __ballot_sync(full, f), 0xfffffffe); /* a number that is not 0 */
    IS(int, __uni_sync(full, lane > 3), 0);
    IS(int, syncthreads_count(lane < 5), 5);
    IS(bool, syncthreads_and(lane < 5), false);
    IS(bool, syncthreads_or(lane < 5), true);
#if __CUDA_ARCH__ < 700
    IS(int, __any(lane == 3), 1);
    IS(int, __all(lane == 3), 0);
    IS(unsigned, __ballot(lane & 2), 0xcccccccc);
    IS(bool, any(lane == 3), true);
    IS(bool, all(lane == 3), false);
    IS(unsigned, ballot(lane & 2), 0xcccccccc);
    if (lane < 8)
        IS(unsigned, __ballot(1), 0xff);
#endif
#if __CUDA_ARCH__ >= 800
    IS(int, __reduce_add_sync(full, (short)-1), -32);
    IS(int, __reduce_min_sync(full, (signed char)(-1 - (int)lane)), -32);
    IS(int, __reduce_max_sync(full, (unsigned char)lane), 31);
    IS(int, __reduce_add_sync(full, lane == 4), 1);
    IS(unsigned, __reduce_max_sync(full, lane), 31);
    IS(unsigned, __reduce_or_sync(full, 1 << lane), ~0u);
#endif
}

/* Groups take anything that can be copied bit by bit. */
template <unsigned Bytes> struct __attribute__((packed)) some {
    unsigned char bytes[Bytes];
    __device__ bool operator==(const some &other) const
    {
        for (unsigned i = 0; i < Bytes; i++)
            if (bytes[i] != other.bytes[i])
                return false;
        return true;
    }
};
template <unsigned Bytes> __device__ some<Bytes> some_of(unsigned lane)
{
    some<Bytes> r;
    for (unsigned i = 0; i < Bytes; i++)
        r.bytes[i] = (unsigned char)(lane * 5 + i);
    return r;
}
template <class Group, unsigned Bytes> __device__ void moved(const Group &group)
{
    unsigned lane = threadIdx.x, first = lane - group.thread_rank(), last = group.size() - 1;
    some<Bytes> value = some_of<Bytes>(lane);
    expect(group.shfl(value, 3) == some_of<Bytes>(first + 3), __LINE__);
    expect(group.shfl_up(value, 1) == some_of<Bytes>(group.thread_rank() ? lane - 1 : lane), __LINE__);
    expect(group.shfl_down(value, 1) == some_of<Bytes>(group.thread_rank() < last ? lane + 1 : lane), __LINE__);
}
template <class Group> __device__ void groups(const Group &group)
{
    moved<Group, 1>(group);
    moved<Group, 3>(group);
    moved<Group, 16>(group);
    moved<Group, 31>(group);
    moved<Group, 32>(group);
    unsigned rank = group.thread_rank(), size = group.size();
    IS(short, cg::reduce(group, (short)rank, cg::plus<short>()), size * (size - 1) / 2);
    IS(signed char, cg::reduce(group, (signed char)-(int)rank, cg::less<signed char>()), 1 - (int)size);
    IS(unsigned long long, cg::inclusive_scan(group, 1ull << 40), (rank + 1ull) << 40);
    IS(char, cg::exclusive_scan(group, (char)1), rank);
    IS(double, cg::reduce(group, 0.5, cg::plus<double>()), size * 0.5);
    IS(bool, group.shfl(rank == 2, 2), true);
    IS(int, (int)cg::labeled_partition(group, rank & 3).size(), size / 4);
    IS(int, (int)cg::labeled_partition(group, (rank & 1) != 0).thread_rank(), rank / 2);
    IS(int, (int)cg::labeled_partition(group, (short)(rank & 1)).size(), size / 2);
    IS(int, (int)cg::labeled_partition(group, (long long)rank << 33).size(), 1);
    IS(int, (int)cg::labeled_partition(group, (unsigned char)rank).meta_group_rank(), rank);
    IS(int, (int)cg::binary_partition(group, rank == 1).size(), rank == 1 ? 1 : size - 1);
    IS(unsigned, group.match_any((int)(rank == 1)), rank == 1 ? 2u : (size == 32 ? ~0u : (1u << size) - 1) & ~2u);
    IS(int, group.any(rank == 1), 1);
    IS(unsigned, group.ballot(rank < 3), 7);
}

extern "C" __global__ void kernel(int *results)
{
    static_assert(is_block<decltype(cg::this_thread_block())> && is_warp<decltype(cg::tiled_partition<32>(cg::this_thread_block()))>, "one name each");
    shuffles<int, int>();
    shuffles<unsigned, unsigned>();
    shuffles<long, long>();
    shuffles<unsigned long, unsigned long>();
    shuffles<long long, long long>();
    shuffles<unsigned long long, unsigned long long>();
    shuffles<float, float>();
    shuffles<double, double>();
    shuffles<bool, int>();
    shuffles<char, int>();
    shuffles<signed char, int>();
    shuffles<unsigned char, int>();
    shuffles<short, int>();
    shuffles<unsigned short, int>();
    shuffles<char16_t, int>();
    shuffles<wchar_t, int>();
    shuffles<__half, __half>();
    shuffles<__half2, __half2>();
    shuffles<__nv_bfloat16, __nv_bfloat16>();
    shuffles<__nv_bfloat162, __nv_bfloat162>();
    matches<int>();
    matches<unsigned>();
    matches<long>();
    matches<unsigned long>();
    matches<long long>();
    matches<unsigned long long>();
    matches<float>();
    matches<double>();
    matches<bool>();
    matches<char>();
    matches<unsigned short>();
    votes((float)threadIdx.x * 0x1p0f);
#if __CUDA_ARCH__ >= 700
    groups(cg::coalesced_threads());
    groups(cg::tiled_partition<16>(cg::this_thread_block()));
    groups(cg::tiled_partition<32>(cg::this_thread_block()));
#endif
    results[0] = wrong_line;
    results[1] = wrong_lane;
}

#ifndef __CUDACC_RTC__
#include <cstdio>
int main()
{
    int *results;
    if (cudaMallocManaged(&results, 2 * sizeof *results))
        return 1;
    kernel<<<1, 32>>>(results);
    if (cudaDeviceSynchronize() || results[0])
        printf("line %d lane %d\n", results[0], results[1]);
    return cudaGetLastError() || results[0];
}
#endif
