/* SPDX-License-Identifier: Apache-2.0 */
/* The keywords of CUDA C++: attributes where the compiler takes CUDA, nothing where it compiles plain C or C++. */
#ifndef MILLRACE_HOST_DEFINES_H
#define MILLRACE_HOST_DEFINES_H
#define __HOST_DEFINES_H__

#define CUDARTAPI
#define CUDARTAPI_CDECL
#define CUDART_CB

#ifdef __CUDACC__
#define MR_KEYWORD(name) __attribute__((name))
#else
#define MR_KEYWORD(name)
#endif

#ifndef MILLRACE_DEVICE_H
#define __host__ MR_KEYWORD(host)
#define __device__ MR_KEYWORD(device)
#define __global__ MR_KEYWORD(global)
#define __shared__ MR_KEYWORD(shared)
#define __constant__ MR_KEYWORD(constant)
#ifdef __CUDACC__
#define __managed__ managed_variables_are_compiled_by_millrace_cc
#define __launch_bounds__(...) __attribute__((launch_bounds(__VA_ARGS__)))
#else
#define __managed__
#define __launch_bounds__(...)
#endif
#define __grid_constant__
#define __forceinline__ __inline__ __attribute__((always_inline))
#define __align__(n) __attribute__((aligned(n)))
#endif
#define __builtin_align__(n) __attribute__((aligned(n)))
#define __no_return__ __attribute__((noreturn))
#define __device_builtin__
#define __device_builtin_texture_type__
#define __device_builtin_surface_type__
#define __cudart_builtin__
#define __specialization_static static

#endif
