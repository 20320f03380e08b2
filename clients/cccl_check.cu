/* SPDX-License-Identifier: Apache-2.0 */
/* Thrust, CUB and libcu++ on the device and on the host, each against a loop: what each line prints is in cccl.sh. */
#include <cub/block/block_reduce.cuh>
#include <cub/device/device_radix_sort.cuh>
#include <cub/device/device_reduce.cuh>
#include <cub/device/device_scan.cuh>
#include <cuda/atomic>
#include <cuda/std/array>
#include <cuda/std/complex>
#include <cuda/std/tuple>
#include <thrust/copy.h>
#include <thrust/device_vector.h>
#include <thrust/execution_policy.h>
#include <thrust/host_vector.h>
#include <thrust/reduce.h>
#include <thrust/scan.h>
#include <thrust/sequence.h>
#include <thrust/sort.h>
#include <thrust/transform.h>
#include <thrust/version.h>

#include <algorithm>
#include <cstdio>
#include <vector>

static const int N = 1000;

static unsigned number(unsigned i)
{
    return i * 2654435761u >> 7;
}

__global__ void block_sums(const unsigned *from, unsigned *to, int n)
{
    using reduce = cub::BlockReduce<unsigned, 128>;
    __shared__ typename reduce::TempStorage room;
    int i = blockIdx.x * 128 + threadIdx.x;
    unsigned sum = reduce(room).Sum(i < n ? from[i] : 0);
    if (threadIdx.x == 0)
        to[blockIdx.x] = sum;
}

__host__ __device__ double standard(int i)
{
    cuda::std::array<double, 2> two{{i + 1.0, i + 2.0}};
    cuda::std::complex<double> product = cuda::std::complex<double>(two[0], two[1]) * cuda::std::complex<double>(0, 1);
    auto pair = cuda::std::make_tuple(product.real(), product.imag());
    return cuda::std::get<0>(pair) * 100 + cuda::std::get<1>(pair);
}

__global__ void standards(double *to, unsigned *count)
{
    cuda::atomic_ref<unsigned, cuda::thread_scope_device> all(*count);
    to[threadIdx.x] = standard(threadIdx.x);
    all.fetch_add(2u, cuda::memory_order_relaxed);
}

static int failures;

static void expect(const char *what, bool good)
{
    std::printf("%s: %s\n", what, good ? "right" : "WRONG");
    failures += !good;
}

/* Bytes, of which CUB's kernels keep 19 in a thread, few and many: one block sorts them, or several do. */
static bool sorts_bytes(int n)
{
    std::vector<signed char> bytes(n);
    for (int i = 0; i < n; i++)
        bytes[i] = (signed char)number(i);
    thrust::device_vector<signed char> device(bytes.begin(), bytes.end());
    thrust::sort(device.begin(), device.end());
    thrust::host_vector<signed char> host = device;
    std::sort(bytes.begin(), bytes.end());
    return std::equal(bytes.begin(), bytes.end(), host.begin());
}

int main()
{
    std::vector<unsigned> plain(N), sorted;
    for (unsigned i = 0; i < N; i++)
        plain[i] = number(i);
    unsigned sum = 0, block = 0;
    for (unsigned v : plain)
        sum += v;
    for (unsigned i = 0; i < 128; i++)
        block += plain[i];
    sorted = plain;
    std::sort(sorted.begin(), sorted.end());

    thrust::device_vector<unsigned> a(plain.begin(), plain.end()), b(N), sums((N + 127) / 128);
    expect("thrust::reduce", thrust::reduce(a.begin(), a.end()) == sum);
    thrust::transform(a.begin(), a.end(), b.begin(), [] __host__ __device__(unsigned v) { return v * 3 + 1; });
    expect("thrust::transform", b[7] == plain[7] * 3 + 1 && b[N - 1] == plain[N - 1] * 3 + 1);
    thrust::inclusive_scan(a.begin(), a.end(), b.begin());
    expect("thrust::inclusive_scan", b[N - 1] == sum);
    b = a;
    thrust::sort(b.begin(), b.end());
    thrust::host_vector<unsigned> host = b;
    expect("thrust::sort", std::equal(sorted.begin(), sorted.end(), host.begin()));
    expect("thrust::sort of bytes", sorts_bytes(40) && sorts_bytes(20000));
    host.assign(plain.begin(), plain.end());
    thrust::sort(thrust::host, host.begin(), host.end());
    expect("thrust::sort on the host", std::equal(sorted.begin(), sorted.end(), host.begin()));

    size_t bytes = 0;
    void *room = nullptr;
    const unsigned *from = thrust::raw_pointer_cast(a.data());
    unsigned *to = thrust::raw_pointer_cast(b.data());
    cub::DeviceReduce::Sum(room, bytes, from, to, N);
    cudaMalloc(&room, bytes);
    cub::DeviceReduce::Sum(room, bytes, from, to, N);
    expect("cub::DeviceReduce", b[0] == sum);
    cudaFree(room);
    room = nullptr;
    cub::DeviceRadixSort::SortKeys(room, bytes, from, to, N);
    cudaMalloc(&room, bytes);
    cub::DeviceRadixSort::SortKeys(room, bytes, from, to, N);
    host = b;
    expect("cub::DeviceRadixSort", std::equal(sorted.begin(), sorted.end(), host.begin()));
    cudaFree(room);
    block_sums<<<sums.size(), 128>>>(from, thrust::raw_pointer_cast(sums.data()), N);
    expect("cub::BlockReduce", sums[0] == block && thrust::reduce(sums.begin(), sums.end()) == sum);

    thrust::device_vector<double> d(64);
    thrust::device_vector<unsigned> count(1);
    standards<<<1, 64>>>(thrust::raw_pointer_cast(d.data()), thrust::raw_pointer_cast(count.data()));
    bool good = count[0] == 128;
    for (int i = 0; i < 64; i++)
        good = good && d[i] == standard(i) && standard(i) == -(i + 2.0) * 100 + i + 1.0;
    expect("cuda::std, cuda::atomic_ref", good);
    std::printf("version %d, %s\n", THRUST_VERSION, cudaGetErrorString(cudaDeviceSynchronize()));
    return failures != 0;
}
