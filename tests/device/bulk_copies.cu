/* SPDX-License-Identifier: Apache-2.0 */
/* cuda::device of cuda/barrier: copies in bulk and boxes of tensors with one, two, three and five coordinates, into
 * shared memory by a barrier's bytes and back by groups. Each box gives its sum and goes back with 1 more everywhere.
 */
#include <cuda/barrier>
#include <cstdio>
#include <cuda.h>
#include <cuda_runtime.h>

using block_barrier = cuda::barrier<cuda::thread_scope_block>;
namespace copies = cuda::device::experimental;

static __managed__ __align__(128) int table[4096];
static __managed__ int sums[6], next[64];

static __device__ int add_up(int *part, int count)
{
    int sum = 0;
    for (int i = threadIdx.x; i < count; i += blockDim.x)
        sum += part[i]++;
    return sum;
}

template <int Dimensions> static __device__ void load(int *part, const CUtensorMap *map, block_barrier &arrived)
{
    if constexpr (Dimensions == 0)
        cuda::device::memcpy_async_tx(part, table + 32, cuda::aligned_size_t<16>(256), arrived);
    else if constexpr (Dimensions == 1)
        copies::cp_async_bulk_tensor_1d_global_to_shared(part, map, 64, arrived);
    else if constexpr (Dimensions == 2)
        copies::cp_async_bulk_tensor_2d_global_to_shared(part, map, 8, 16, arrived);
    else if constexpr (Dimensions == 3)
        copies::cp_async_bulk_tensor_3d_global_to_shared(part, map, 4, 2, 1, arrived);
    else if constexpr (Dimensions == 4)
        copies::cp_async_bulk_tensor_4d_global_to_shared(part, map, 4, 0, 2, 1, arrived);
    else
        copies::cp_async_bulk_tensor_5d_global_to_shared(part, map, 0, 1, 0, 1, 2, arrived);
}

template <int Dimensions> static __device__ void store(const int *part, const CUtensorMap *map)
{
    if constexpr (Dimensions == 0)
        copies::cp_async_bulk_shared_to_global(table + 32, part, 256);
    else if constexpr (Dimensions == 1)
        copies::cp_async_bulk_tensor_1d_shared_to_global(map, 64, part);
    else if constexpr (Dimensions == 2)
        copies::cp_async_bulk_tensor_2d_shared_to_global(map, 8, 16, part);
    else if constexpr (Dimensions == 3)
        copies::cp_async_bulk_tensor_3d_shared_to_global(map, 4, 2, 1, part);
    else if constexpr (Dimensions == 4)
        copies::cp_async_bulk_tensor_4d_shared_to_global(map, 4, 0, 2, 1, part);
    else
        copies::cp_async_bulk_tensor_5d_shared_to_global(map, 0, 1, 0, 1, 2, part);
}

template <int Dimensions> static __global__ void one_box(const __grid_constant__ CUtensorMap map, int count)
{
    __shared__ alignas(128) int part[512];
    __shared__ block_barrier arrived;
    if (threadIdx.x == 0)
        init(&arrived, blockDim.x);
    __syncthreads();
    block_barrier::arrival_token token;
    if (threadIdx.x == 0) {
        load<Dimensions>(part, &map, arrived);
        token = cuda::device::barrier_arrive_tx(arrived, 1, count * sizeof(int));
    } else {
        token = arrived.arrive();
    }
    arrived.wait(static_cast<block_barrier::arrival_token &&>(token));
    atomicAdd(&sums[Dimensions], add_up(part, count));
    copies::fence_proxy_async_shared_cta();
    __syncthreads();
    if (threadIdx.x == 0) {
        store<Dimensions>(part, &map);
        copies::cp_async_bulk_commit_group();
        copies::cp_async_bulk_wait_group_read<0>();
    }
}

/* More bytes are told of than one copy brings, and two copies bring them. */
static __global__ void two_copies()
{
    __shared__ alignas(128) int part[64];
    __shared__ block_barrier arrived;
    init(&arrived, 1);
    cuda::device::barrier_expect_tx(arrived, 128);
    copies::cp_async_bulk_global_to_shared(part, table, 128, arrived);
    copies::cp_async_bulk_global_to_shared(part + 32, table + 512, 128, arrived);
    arrived.wait(cuda::device::barrier_arrive_tx(arrived, 1, 128));
    for (int i = 0; i < 64; i++)
        next[i] = part[i];
    sums[0] += cuda::device::barrier_native_handle(arrived) == (void *)&arrived ? 0 : 1000;
}

static decltype(&cuTensorMapEncodeTiled) encode;

/* Boxes of `box` elements in a tensor of `size` elements, first the innermost; both without gaps. */
template <int Dimensions>
static bool right(const cuuint64_t (&size)[Dimensions], const cuuint32_t (&box)[Dimensions],
                  const int (&at)[Dimensions])
{
    cuuint64_t strides[Dimensions], step = sizeof(int);
    cuuint32_t ones[Dimensions];
    int count = 1, sum = 0;
    for (int i = 0; i < Dimensions; i++) {
        strides[i] = step *= size[i];
        ones[i] = 1;
        count *= box[i];
    }
    for (int i = 0; i < 4096; i++)
        table[i] = i;
    for (int n = 0; n < count; n++) {
        int rest = n, place = 0, stride = 1;
        for (int i = 0; i < Dimensions; i++) {
            place += (at[i] + rest % (int)box[i]) * stride;
            stride *= (int)size[i];
            rest /= (int)box[i];
        }
        sum += place;
    }
    CUtensorMap map;
    if (encode(&map, CU_TENSOR_MAP_DATA_TYPE_INT32, Dimensions, table, size, strides, box, ones,
               CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_NONE, CU_TENSOR_MAP_L2_PROMOTION_NONE,
               CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE) != CUDA_SUCCESS)
        return false;
    one_box<Dimensions><<<1, 64>>>(map, count);
    if (cudaDeviceSynchronize() != cudaSuccess || sums[Dimensions] != sum)
        return false;
    int more = 0;
    for (int i = 0; i < 4096; i++)
        more += table[i] - i;
    return more == count;
}

int main()
{
    cudaDriverEntryPointQueryResult found;
    if (cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", (void **)&encode, 12000, cudaEnableDefault,
                                         &found) != cudaSuccess ||
        !encode)
        return 1;
    for (int i = 0; i < 4096; i++)
        table[i] = i;
    one_box<0><<<1, 64>>>(CUtensorMap{}, 64);
    if (cudaDeviceSynchronize() != cudaSuccess || sums[0] != 64 * 32 + 63 * 32 || table[31] != 31 || table[32] != 33 ||
        table[95] != 96 || table[96] != 96)
        return 2;
    two_copies<<<1, 1>>>();
    if (cudaDeviceSynchronize() != cudaSuccess || next[31] != 31 || next[32] != 512 || next[63] != 543 ||
        sums[0] != 64 * 32 + 63 * 32)
        return 3;
    if (!right<1>({4096}, {128}, {64}))
        return 4;
    if (!right<2>({64, 64}, {16, 8}, {8, 16}))
        return 5;
    if (!right<3>({16, 16, 16}, {8, 4, 2}, {4, 2, 1}))
        return 6;
    if (!right<4>({8, 8, 8, 8}, {4, 2, 4, 2}, {4, 0, 2, 1}))
        return 7;
    if (!right<5>({4, 4, 4, 8, 8}, {4, 2, 2, 2, 2}, {0, 1, 0, 1, 2}))
        return 8;
    puts("right");
    return 0;
}
