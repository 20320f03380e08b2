/* SPDX-License-Identifier: Apache-2.0 */
/* What is declared for the device alone (under __CUDA_ARCH__) is called by templates that the host's half makes
 * instances of, as in CuPy's sources; around it, bodies that the host needs. */
#include <cstdio>
#include <utility>

#ifdef __CUDA_ARCH__
__device__ long long atomicAdd(long long *a, long long v) { return atomicAdd((unsigned long long *)a, (unsigned long long)v); }
#endif

template <class T> __device__ void add(T *p, T v) { atomicAdd(p, v); }
template <class T> __host__ __device__ T both(T *p, T v)
{
#ifndef __CUDA_ARCH__
    return *p += v;
#else
    return atomicAdd(p, v) + v;
#endif
}
template <class T> __host__ __device__ void unlucky(T *p) { atomicAdd(p, (T)1); }
template <class T, int times = 1> struct adder {
    T *to;
    __device__ adder(T *p) : to{p} { atomicAdd(to, (T)times); }
    [[nodiscard]] __device__ static T twice(T *p)
    {
        const char *s = R"x({ " )x" "}\"";   /* } */
        return atomicAdd(p, (T)(*s == '{' ? 1 : 1'00)) + atomicAdd(p, (T)(s[4] == '}'));
    }
    __device__ T operator()(T v) const noexcept { return atomicAdd(to, v); }
};

/* What these are, the host must know. */
template <class T> __device__ auto open_type(T v) { return v * 2.0; }
template <class T> __device__ auto arrow(T *p) -> T { return atomicAdd(p, (T)1); }
template <class T> __device__ constexpr int size_of() { return (int)sizeof(T); }
static_assert(size_of<long long>() == 8);

/* A device function that is no template makes an instance as well. */
__device__ void plain(long long *p) { add(p, 1ll); }

template <class T> __global__ __launch_bounds__(64) void kernel(T *p)
{
#pragma unroll
    for (int i = 0; i < 2; i++)
        add(p, (T)1);
    unlucky(p);
    adder<T> one(p);
    one((T)3);
    (void)adder<T, 2>::twice(p + 1);
    (void)arrow(p + 1);
    (void)both(p + 1, (T)1);
}
__global__ void no_template(long long *p) { plain(p); }
template <class F> __global__ void apply(F f, long long *p) { f(p); }

#if defined(WRONG) && !defined(__CUDA_ARCH__)
static int wrong() { return "text"; }
#endif

int main()
{
    long long *p;
    int unused_here;
    cudaMallocManaged(&p, 2 * sizeof *p);
    auto f = [] __device__ (long long *at) -> int { add(at, 10ll); return 1; };
    apply<<<1, 2>>>(f, p);
    apply<<<1, 1>>>([=] __device__ (long long *at) { add(at, 100ll); }, p);
    kernel<<<1, 64>>>(p);
    no_template<<<1, 1>>>(p);
    cudaError_t status = cudaDeviceSynchronize();
    both(p + 1, 1000ll);
    std::printf("%lld %lld %d\n", p[0], p[1], (int)status);
    return !(p[0] == 20 + 100 + 64 * 7 + 1 && p[1] == 1000 + 64 * 4 && status == cudaSuccess);
}
