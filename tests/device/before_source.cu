/* SPDX-License-Identifier: Apache-2.0 */
/* What NVIDIA's NVRTC 13.5 has before a source's first line, and what it has not: headers of theirs ask. Only libnvrtc has that. */
#if defined(__FLOAT128__) || defined(__SIZEOF_FLOAT128__) || defined(__cpp_pack_indexing) || defined(__cpp_impl_coroutine)
#error a type or a feature that is not there
#endif
#if __has_include(<version>)
#include <version>
#endif
#if defined(__cpp_lib_optional) || defined(__cpp_lib_constexpr_dynamic_alloc)
#error a C++ library
#endif
#if __CUDA_API_VER_MAJOR__ != __CUDACC_VER_MAJOR__ || __CUDA_ARCH_LIST__ != __CUDA_ARCH__
#error versions
#endif

struct __device_builtin__ __builtin_align__(16) wide { int x; };
__device__ __cudart_builtin__ int twice(int x) { return 2 * x; }
__specialization_static __device__ int more(int x) { return twice(x) + (int)sizeof(wide); }
__NV_SILENCE_DEPRECATION_BEGIN
__device__ double4 four(double x) { return make_double4(x, x, x, x); }
__NV_SILENCE_DEPRECATION_END
__NV_SILENCE_HOST_DEPRECATION_BEGIN
__NV_SILENCE_HOST_DEPRECATION_END

extern "C" __global__ void kernel(int *results)
{
    results[0] = more((int)threadIdx.x) == 2 * (int)threadIdx.x + 16 && four(3).w == 3 ? 0 : __LINE__;
    results[1] = (int)threadIdx.x;
}
