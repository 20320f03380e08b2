/* SPDX-License-Identifier: Apache-2.0 */
/* The CUDA C++ that kernel sources see when clang 19 compiles them for Millrace.
 *
 * The nvcc shim and the examples' build include this file before the first line of a kernel source, in place of NVIDIA's
 * headers. It holds the language's keywords, built-in variables, vector types, synchronisation, warp functions, atomics and the
 * mathematics that a PTX instruction does exactly; millrace_math.h adds the elementary functions of single precision, millrace_double.h
 * those of double precision.
 *
 * Order: keywords, vector types, built-in variables, synchronisation, warps, atomics, mathematics, the rest. */
#ifndef MILLRACE_DEVICE_H
#define MILLRACE_DEVICE_H

/* No warnings about what is in here, whatever standard the source is compiled by. */
#pragma clang system_header

/* Sources written for nvcc call log and the like in constexpr functions, which count as constant there. Here they are called when the kernel runs. */
#pragma clang diagnostic ignored "-Winvalid-constexpr"

#ifndef __CUDACC__
#define __CUDACC__ 1
#endif

/* Where the runtime library that a program has inside of it finds the driver, if the loader finds none (src/libs/cudart/state.c). */
#ifdef MILLRACE_LIBRARIES
extern "C" __attribute__((weak, used, visibility("hidden"))) const char millrace_libraries[] = MILLRACE_LIBRARIES;
#undef MILLRACE_LIBRARIES
#endif

#define __global__ __attribute__((global))
#define __device__ __attribute__((device))
#define __host__ __attribute__((host))
#define __shared__ __attribute__((shared))
#define __constant__ __attribute__((constant))
/* clang 19 knows managed variables in HIP alone. Who compiles for Millrace (the nvcc shim, libnvrtc) finds them by their section; docs/compilers.md. */
#if defined(__NVCC__) || defined(__CUDACC_RTC__)
#define __managed__ __attribute__((device, section("millrace_managed")))
#else
#define __managed__ managed_variables_are_compiled_by_millrace_cc
#endif
#define __launch_bounds__(...) __attribute__((launch_bounds(__VA_ARGS__)))
#define __noinline__ __attribute__((noinline))
#define __forceinline__ __inline__ __attribute__((always_inline))
#define __align__(n) __attribute__((aligned(n)))
#define __builtin_align__(n) __attribute__((aligned(n)))
/* What code for one chip ("sm_90a") or one family ("sm_100f") asks about its architecture. */
#define __CUDA_ARCH_HAS_FEATURE__(feature) __CUDA_ARCH_FEAT_##feature
#ifdef __CUDA_ARCH_SPECIFIC__
#define __CUDA_HAS_ARCH_SPECIFIC(n) (__CUDA_ARCH_SPECIFIC__ == n##0)
#else
#define __CUDA_HAS_ARCH_SPECIFIC(n) 0
#endif
#ifdef __CUDA_ARCH_FAMILY_SPECIFIC__
#define __CUDA_HAS_ARCH_FAMILY_SPECIFIC(n) (__CUDA_ARCH_FAMILY_SPECIFIC__ == n##0)
#else
#define __CUDA_HAS_ARCH_FAMILY_SPECIFIC(n) 0
#endif
#define __no_return__ __attribute__((noreturn))
#define __restrict __restrict__
#define __grid_constant__
/* Words by which NVIDIA's headers, and CCCL's, tell their compiler what it knows already. */
#define __device_builtin__
#define __device_builtin_texture_type__
#define __device_builtin_surface_type__
#define __cudart_builtin__
#define __specialization_static static

/* Lambdas with a side are ordinary ones here, of which the host can ask everything; nvcc makes classes of another kind of them. */
#ifdef __CUDACC_EXTENDED_LAMBDA__
#define __nv_is_extended_device_lambda_closure_type(...) false
#define __nv_is_extended_host_device_lambda_closure_type(...) false
#define __nv_is_extended_device_lambda_with_preserved_return_type(...) false
#endif

/* What a `__shared__` variable of a class with a constructor or destructor becomes: as with nvcc, nobody runs them (src/ptx/unmade.h). */
template <class T> union mr_unmade {
    T value;
    __attribute__((host, device)) mr_unmade() {}
    __attribute__((host, device)) ~mr_unmade() {}
};

/* What the initialiser of an array becomes whose size is known late (src/ptx/sized.h). What has no value is made as
 * such an array's elements are: with 0. */
template <class T, __SIZE_TYPE__ N> static __attribute__((host, unused)) inline void mr_fill_sized(const T *array, __SIZE_TYPE__ count, const T (&values)[N])
{
    for (__SIZE_TYPE__ i = 0; i < count; i++)
        const_cast<T *>(array)[i] = i < N ? values[i] : T();
}
template <class T> static __attribute__((host, unused)) inline void mr_fill_sized(const T *array, __SIZE_TYPE__ count)
{
    for (__SIZE_TYPE__ i = 0; i < count; i++)
        const_cast<T *>(array)[i] = T();
}

/* What arithmetic on a pointer to void is done on (src/ptx/ranges.h): its bytes, as with nvcc. */
#define MR_MEMBER __attribute__((host, device, always_inline))
template <class T, class mr_byte> struct mr_void_value {
    T *pointer;
    MR_MEMBER T *operator+(__PTRDIFF_TYPE__ n) const { return (mr_byte *)pointer + n; }
    MR_MEMBER T *operator-(__PTRDIFF_TYPE__ n) const { return (mr_byte *)pointer - n; }
};
template <class T, class mr_byte> struct mr_void_place {
    T *&pointer;
    MR_MEMBER T *operator+(__PTRDIFF_TYPE__ n) const { return (mr_byte *)pointer + n; }
    MR_MEMBER T *operator-(__PTRDIFF_TYPE__ n) const { return (mr_byte *)pointer - n; }
    MR_MEMBER T *&operator+=(__PTRDIFF_TYPE__ n) const { return pointer = (mr_byte *)pointer + n; }
    MR_MEMBER T *&operator-=(__PTRDIFF_TYPE__ n) const { return pointer = (mr_byte *)pointer - n; }
};
#undef MR_MEMBER
#define MR_PART static __attribute__((host, device, always_inline, unused)) inline
template <class T, class mr_byte> MR_PART T *operator+(__PTRDIFF_TYPE__ n, const mr_void_value<T, mr_byte> &p) { return p + n; }
template <class T, class mr_byte> MR_PART T *operator+(__PTRDIFF_TYPE__ n, const mr_void_place<T, mr_byte> &p) { return p + n; }
template <class T> MR_PART T &mr_void_pointer(T &p) { return p; }
template <class T> MR_PART const T &mr_void_pointer(const T &p) { return p; }
#define MR_VOID(T, mr_byte) \
    MR_PART mr_void_value<T, mr_byte> mr_void_pointer(T *const &p) { mr_void_value<T, mr_byte> made = {p}; return made; } \
    MR_PART mr_void_place<T, mr_byte> mr_void_pointer(T *&p) { mr_void_place<T, mr_byte> made = {p}; return made; }
MR_VOID(void, char)
MR_VOID(const void, const char)
#undef MR_VOID

/* What a function with "..." gets for an object of a class that is more than its bytes: with nvcc's g++ its address. */
template <class T> MR_PART const T *mr_object_address(const T &object)
{
    return (const T *)&reinterpret_cast<const volatile char &>(object);
}
#undef MR_PART

/* What the functions of this file are: the device's, or those of both sides. The device's have no lines of their own:
 * what they do is told of the line that calls them. */
#define MR_DEVICE static __attribute__((device, always_inline, nodebug, unused)) inline
#define MR_BOTH static __attribute__((host, device, always_inline, unused)) inline
/* A function of the host that CUDA C++ has without an include, beside the device's of the same name. */
#define MR_HOST static __attribute__((host, unused)) inline

typedef __SIZE_TYPE__ size_t;
typedef __PTRDIFF_TYPE__ ptrdiff_t;
#ifndef NULL
#define NULL __null
#endif
#ifndef __CUDACC_RTC__   /* NVRTC has none of these; sources bring their own, with other 64-bit types */
typedef signed char int8_t;
typedef unsigned char uint8_t;
typedef short int16_t;
typedef unsigned short uint16_t;
typedef int int32_t;
typedef unsigned int uint32_t;
typedef long int64_t;
typedef unsigned long uint64_t;
typedef unsigned long uintptr_t;
typedef long intptr_t;
#endif

#include "include/vector_types.h"
#include "include/vector_functions.h"
#include "include/texture_types.h"
#include "include/surface_types.h"

/* Built-in variables: each member reads a special register. All become uint3, and dim3 by its constructor. */
#define MR_SREG(member, sreg)                                                                 \
    __declspec(property(get = mr_get_##member)) unsigned int member;                          \
    static __attribute__((device, always_inline)) inline unsigned int mr_get_##member() { return __nvvm_read_ptx_sreg_##sreg(); }
#define MR_BUILTIN(name, sreg)                                                                \
    struct mr_builtin_##name {                                                                \
        typedef void mr_builtin;                                                              \
        MR_SREG(x, sreg##_x) MR_SREG(y, sreg##_y) MR_SREG(z, sreg##_z)                        \
        __attribute__((device, always_inline)) operator uint3() const                         \
        {                                                                                     \
            uint3 all = {x, y, z};                                                            \
            return all;                                                                       \
        }                                                                                     \
    };                                                                                        \
    extern const __attribute__((device, weak)) mr_builtin_##name name;
MR_BUILTIN(threadIdx, tid)
MR_BUILTIN(blockIdx, ctaid)
MR_BUILTIN(blockDim, ntid)
MR_BUILTIN(gridDim, nctaid)
#undef MR_BUILTIN
#undef MR_SREG
constexpr int warpSize = 32;

/* Synchronisation. */
/* __syncthreads is a builtin of clang itself. */
MR_DEVICE int __syncthreads_count(int p) { return __nvvm_bar0_popc(p); }
MR_DEVICE int __syncthreads_and(int p) { return __nvvm_bar0_and(p); }
MR_DEVICE int __syncthreads_or(int p) { return __nvvm_bar0_or(p); }
MR_DEVICE void __syncwarp(unsigned int mask = 0xffffffffu) { __nvvm_bar_warp_sync(mask); }
MR_DEVICE void __threadfence_block() { __nvvm_membar_cta(); }
MR_DEVICE void __threadfence() { __nvvm_membar_gl(); }
MR_DEVICE void __threadfence_system() { __nvvm_membar_sys(); }

#include "millrace_warp.h"

/* Atomics on global and shared memory; relaxed, device-wide. */
#define MR_ATOMIC_FETCH(name, type, builtin) \
    MR_DEVICE type name(type *address, type value) { return builtin(address, value, __ATOMIC_RELAXED); }
#define MR_ATOMIC_INTEGER(type)                                       \
    MR_ATOMIC_FETCH(atomicAdd, type, __atomic_fetch_add)              \
    MR_ATOMIC_FETCH(atomicMin, type, __atomic_fetch_min)              \
    MR_ATOMIC_FETCH(atomicMax, type, __atomic_fetch_max)              \
    MR_ATOMIC_FETCH(atomicAnd, type, __atomic_fetch_and)              \
    MR_ATOMIC_FETCH(atomicOr, type, __atomic_fetch_or)                \
    MR_ATOMIC_FETCH(atomicXor, type, __atomic_fetch_xor)              \
    MR_ATOMIC_FETCH(atomicExch, type, __atomic_exchange_n)            \
    MR_DEVICE type atomicCAS(type *address, type compare, type value) \
    {                                                                 \
        __atomic_compare_exchange_n(address, &compare, value, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED); \
        return compare;                                               \
    }
MR_ATOMIC_INTEGER(int)
MR_ATOMIC_INTEGER(unsigned int)
MR_ATOMIC_INTEGER(unsigned long long)
MR_ATOMIC_FETCH(atomicMin, long long, __atomic_fetch_min)
MR_ATOMIC_FETCH(atomicMax, long long, __atomic_fetch_max)
MR_ATOMIC_FETCH(atomicAnd, long long, __atomic_fetch_and)
MR_ATOMIC_FETCH(atomicOr, long long, __atomic_fetch_or)
MR_ATOMIC_FETCH(atomicXor, long long, __atomic_fetch_xor)
#undef MR_ATOMIC_FETCH
#undef MR_ATOMIC_INTEGER
MR_DEVICE int atomicSub(int *a, int v) { return __atomic_fetch_sub(a, v, __ATOMIC_RELAXED); }
MR_DEVICE unsigned int atomicSub(unsigned int *a, unsigned int v) { return __atomic_fetch_sub(a, v, __ATOMIC_RELAXED); }
MR_DEVICE float atomicAdd(float *a, float v) { return __nvvm_atom_add_gen_f(a, v); }
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 600
/* Sources define it themselves for older architectures, as the programming guide shows. */
MR_DEVICE double atomicAdd(double *a, double v) { return __nvvm_atom_add_gen_d(a, v); }
#endif
MR_DEVICE float atomicExch(float *a, float v) { return __builtin_bit_cast(float, atomicExch((unsigned int *)a, __builtin_bit_cast(unsigned int, v))); }
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 700
MR_DEVICE unsigned short atomicCAS(unsigned short *a, unsigned short compare, unsigned short v)
{
    unsigned short found;
    __asm__ volatile("atom.cas.b16 %0, [%1], %2, %3;" : "=h"(found) : "l"(a), "h"(compare), "h"(v) : "memory");
    return found;
}
#endif
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
/* Each member on its own: there is no moment at which all are added. */
MR_DEVICE float2 atomicAdd(float2 *a, float2 v) { return float2{atomicAdd(&a->x, v.x), atomicAdd(&a->y, v.y)}; }
MR_DEVICE float4 atomicAdd(float4 *a, float4 v) { return float4{atomicAdd(&a->x, v.x), atomicAdd(&a->y, v.y), atomicAdd(&a->z, v.z), atomicAdd(&a->w, v.w)}; }
/* Anything that fills 16 bytes, and is aligned to as many. */
template <bool is> struct mr_if_wide { };
template <> struct mr_if_wide<true> { struct words { unsigned long long low, high; }; };
#define MR_WIDE(T) typename mr_if_wide<sizeof(T) == 16 && alignof(T) >= 16 && __is_trivially_copyable(T)>::words
template <class T, class words = MR_WIDE(T)> MR_DEVICE T atomicCAS(T *address, T compare, T value)
{
    words c = __builtin_bit_cast(words, compare), v = __builtin_bit_cast(words, value), found;
    asm volatile("{ .reg .b128 c, v, f; mov.b128 c, {%3, %4}; mov.b128 v, {%5, %6}; atom.cas.b128 f, [%2], c, v; mov.b128 {%0, %1}, f; }"
                 : "=l"(found.low), "=l"(found.high) : "l"(address), "l"(c.low), "l"(c.high), "l"(v.low), "l"(v.high) : "memory");
    return __builtin_bit_cast(T, found);
}
template <class T, class words = MR_WIDE(T)> MR_DEVICE T atomicExch(T *address, T value)
{
    words v = __builtin_bit_cast(words, value), found;
    asm volatile("{ .reg .b128 v, f; mov.b128 v, {%3, %4}; atom.exch.b128 f, [%2], v; mov.b128 {%0, %1}, f; }"
                 : "=l"(found.low), "=l"(found.high) : "l"(address), "l"(v.low), "l"(v.high) : "memory");
    return __builtin_bit_cast(T, found);
}
#undef MR_WIDE
#endif
MR_DEVICE unsigned int atomicInc(unsigned int *a, unsigned int v) { return __nvvm_atom_inc_gen_ui(a, v); }
MR_DEVICE unsigned int atomicDec(unsigned int *a, unsigned int v) { return __nvvm_atom_dec_gen_ui(a, v); }

/* Mathematics that one instruction does. */
MR_DEVICE float fabsf(float x) { return __builtin_fabsf(x); }
MR_DEVICE double fabs(double x) { return __builtin_fabs(x); }
MR_DEVICE float fabs(float x) { return __builtin_fabsf(x); }
MR_DEVICE float sqrtf(float x) { return __nvvm_sqrt_rn_f(x); }
MR_DEVICE double sqrt(double x) { return __nvvm_sqrt_rn_d(x); }
MR_DEVICE float sqrt(float x) { return __nvvm_sqrt_rn_f(x); }
MR_DEVICE float rsqrtf(float x) { return __nvvm_rsqrt_approx_f(x); }
MR_DEVICE float fmaf(float x, float y, float z) { return __nvvm_fma_rn_f(x, y, z); }
MR_DEVICE double fma(double x, double y, double z) { return __nvvm_fma_rn_d(x, y, z); }
MR_DEVICE float fma(float x, float y, float z) { return __nvvm_fma_rn_f(x, y, z); }
MR_DEVICE float fminf(float x, float y) { return __nvvm_fmin_f(x, y); }
MR_DEVICE float fmaxf(float x, float y) { return __nvvm_fmax_f(x, y); }
MR_DEVICE double fmin(double x, double y) { return __nvvm_fmin_d(x, y); }
MR_DEVICE double fmax(double x, double y) { return __nvvm_fmax_d(x, y); }
MR_DEVICE float floorf(float x) { return __nvvm_floor_f(x); }
MR_DEVICE float ceilf(float x) { return __nvvm_ceil_f(x); }
MR_DEVICE float truncf(float x) { return __nvvm_trunc_f(x); }
MR_DEVICE float rintf(float x) { return __nvvm_round_f(x); }
MR_DEVICE double floor(double x) { return __nvvm_floor_d(x); }
MR_DEVICE double ceil(double x) { return __nvvm_ceil_d(x); }
MR_DEVICE double trunc(double x) { return __nvvm_trunc_d(x); }
MR_DEVICE double rint(double x) { return __nvvm_round_d(x); }
MR_DEVICE float copysignf(float x, float y) { return __builtin_copysignf(x, y); }
MR_DEVICE double copysign(double x, double y) { return __builtin_copysign(x, y); }
MR_DEVICE float __fadd_rn(float x, float y) { return __nvvm_add_rn_f(x, y); }
MR_DEVICE float __fmul_rn(float x, float y) { return __nvvm_mul_rn_f(x, y); }
MR_DEVICE float __fdiv_rn(float x, float y) { return __nvvm_div_rn_f(x, y); }
MR_DEVICE float __fmaf_rn(float x, float y, float z) { return __nvvm_fma_rn_f(x, y, z); }
MR_DEVICE float __expf(float x) { return __nvvm_ex2_approx_f(x * 1.4426950408889634f); }
MR_DEVICE float __logf(float x) { return __nvvm_lg2_approx_f(x) * 0.6931471805599453f; }
MR_DEVICE float __sinf(float x) { return __nvvm_sin_approx_f(x); }
MR_DEVICE float __cosf(float x) { return __nvvm_cos_approx_f(x); }
MR_DEVICE float __log2f(float x) { return __nvvm_lg2_approx_f(x); }
MR_DEVICE float __log10f(float x) { return __nvvm_lg2_approx_f(x) * 0.30102999566398119f; }
MR_DEVICE float __exp10f(float x) { return __nvvm_ex2_approx_f(x * 3.3219280948873623f); }
MR_DEVICE float __powf(float x, float y) { return __nvvm_ex2_approx_f(y * __nvvm_lg2_approx_f(x)); }
MR_DEVICE float __tanf(float x) { return __nvvm_sin_approx_f(x) / __nvvm_cos_approx_f(x); }
MR_DEVICE float __fdividef(float x, float y) { return __nvvm_div_approx_f(x, y); }
MR_DEVICE float __frcp_rn(float x) { return __nvvm_rcp_rn_f(x); }
MR_DEVICE float __fsqrt_rn(float x) { return __nvvm_sqrt_rn_f(x); }
MR_DEVICE float __saturatef(float x) { return __nvvm_saturate_f(x); }
MR_DEVICE float __int2float_rn(int x) { return (float)x; }
MR_DEVICE int __float_as_int(float x) { return __builtin_bit_cast(int, x); }
MR_DEVICE unsigned int __float_as_uint(float x) { return __builtin_bit_cast(unsigned int, x); }
MR_DEVICE float __int_as_float(int x) { return __builtin_bit_cast(float, x); }
MR_DEVICE float __uint_as_float(unsigned int x) { return __builtin_bit_cast(float, x); }
MR_DEVICE long long __double_as_longlong(double x) { return __builtin_bit_cast(long long, x); }
MR_DEVICE double __longlong_as_double(long long x) { return __builtin_bit_cast(double, x); }
MR_DEVICE int abs(int x) { return x < 0 ? -x : x; }
MR_DEVICE long abs(long x) { return x < 0 ? -x : x; }
MR_DEVICE long long abs(long long x) { return x < 0 ? -x : x; }
MR_DEVICE float abs(float x) { return __builtin_fabsf(x); }
MR_DEVICE double abs(double x) { return __builtin_fabs(x); }
MR_DEVICE long labs(long x) { return x < 0 ? -x : x; }
MR_DEVICE long long llabs(long long x) { return x < 0 ? -x : x; }
#include "millrace_min_max.h"
MR_DEVICE int __popc(unsigned int x) { return __builtin_popcount(x); }
MR_DEVICE int __popcll(unsigned long long x) { return __builtin_popcountll(x); }
MR_DEVICE int __clz(int x) { return x ? __builtin_clz((unsigned)x) : 32; }
MR_DEVICE int __clzll(long long x) { return x ? __builtin_clzll((unsigned long long)x) : 64; }
MR_DEVICE int __ffs(int x) { return __builtin_ffs(x); }
MR_DEVICE int __ffsll(long long x) { return __builtin_ffsll(x); }
MR_DEVICE unsigned int __brev(unsigned int x) { return __builtin_bitreverse32(x); }
MR_DEVICE unsigned long long __brevll(unsigned long long x) { return __builtin_bitreverse64(x); }
MR_DEVICE unsigned int __umulhi(unsigned int x, unsigned int y) { return (unsigned int)(((unsigned long long)x * y) >> 32); }
MR_DEVICE unsigned int __byte_perm(unsigned int x, unsigned int y, unsigned int s) { return (unsigned int)__nvvm_prmt((int)x, (int)y, (int)(s & 0x7777)); }
MR_DEVICE unsigned int __funnelshift_l(unsigned int low, unsigned int high, unsigned int n)
{
    return (unsigned int)((((unsigned long long)high << 32 | low) << (n & 31)) >> 32);
}
MR_DEVICE unsigned int __funnelshift_r(unsigned int low, unsigned int high, unsigned int n)
{
    return (unsigned int)(((unsigned long long)high << 32 | low) >> (n & 31));
}
/* The same with an amount that stops at 32. */
MR_DEVICE unsigned int __funnelshift_lc(unsigned int low, unsigned int high, unsigned int n)
{
    return n < 32 ? __funnelshift_l(low, high, n) : low;
}
MR_DEVICE unsigned int __funnelshift_rc(unsigned int low, unsigned int high, unsigned int n)
{
    return n < 32 ? __funnelshift_r(low, high, n) : high;
}
MR_BOTH unsigned short __nv_bswap16(unsigned short x) { return __builtin_bswap16(x); }
MR_BOTH unsigned int __nv_bswap32(unsigned int x) { return __builtin_bswap32(x); }
MR_BOTH unsigned long long __nv_bswap64(unsigned long long x) { return __builtin_bswap64(x); }
MR_DEVICE int __mulhi(int x, int y) { return (int)(((long long)x * y) >> 32); }

#include "millrace_address.h"
#include "millrace_casts.h"
#include "millrace_math.h"
#include "millrace_texture.h"
#include "millrace_surface.h"
#include "millrace_simd.h"
#include "millrace_scopes.h"
#include "millrace_more.h"
#include "millrace_old.h"
#include "millrace_builtins.h"
#ifndef __CUDACC_RTC__
#include "millrace_host.h"
#endif
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
#include "millrace_clusters.h"
#endif

/* The rest. */
MR_DEVICE void *memcpy(void *to, const void *from, size_t size) { return __builtin_memcpy(to, from, size); }
MR_DEVICE void *memset(void *to, int value, size_t size) { return __builtin_memset(to, value, size); }
template <class T> MR_DEVICE T __ldg(const T *address) { return *address; }
MR_DEVICE long long clock64() { return (long long)__nvvm_read_ptx_sreg_clock64(); }
typedef long clock_t;
MR_DEVICE clock_t clock() { return (clock_t)__nvvm_read_ptx_sreg_clock(); }
MR_DEVICE void __nanosleep(unsigned int ns) { __nvvm_nanosleep(ns); }
static __attribute__((device, always_inline, unused, noreturn)) inline void __trap() { __asm__ volatile("trap;"); __builtin_unreachable(); }
extern "C" __attribute__((device)) int vprintf(const char *format, const char *arguments);

/* Gives the handle of a conditional node a value, from a kernel of a graph that runs. */
typedef unsigned long long cudaGraphConditionalHandle;
extern "C" __attribute__((device)) void cudaGraphSetConditional(cudaGraphConditionalHandle handle, unsigned int value);
/* As a function that clang knows nothing of (-fno-builtin-printf), so that no call of it is doubled: lanes print together what they reach together. The \001 makes it another function than vprintf to LLVM, which takes other arguments; in PTX both have one name. */
extern "C" __attribute__((device, format(printf, 1, 2))) int printf(const char *format, ...) __asm__("\001vprintf");
extern "C" __attribute__((device)) void *malloc(size_t size);
extern "C" __attribute__((device)) void free(void *pointer);
/* It has a name of its own here, since CCCL declares the other one, for both sides where libnvrtc is told to. free() takes back what it gives. */
extern "C" __attribute__((device)) void *mr_aligned_malloc(size_t size, size_t alignment) __asm__("__cuda_syscall_aligned_malloc");
MR_DEVICE void *__nv_aligned_device_malloc(size_t size, size_t alignment) { return mr_aligned_malloc(size, alignment); }
/* new and delete for the device, placement new among them: clang has its own header of this name before the host's, which makes them of malloc and free. */
#include <new>
#ifdef __cpp_aligned_new
__attribute__((device, unused)) inline void *operator new(size_t size, std::align_val_t alignment) { return __nv_aligned_device_malloc(size ? size : 1, (size_t)alignment); }
__attribute__((device, unused)) inline void *operator new[](size_t size, std::align_val_t alignment) { return ::operator new(size, alignment); }
__attribute__((device, unused)) inline void operator delete(void *pointer, std::align_val_t) noexcept { free(pointer); }
__attribute__((device, unused)) inline void operator delete[](void *pointer, std::align_val_t) noexcept { free(pointer); }
__attribute__((device, unused)) inline void operator delete(void *pointer, size_t, std::align_val_t) noexcept { free(pointer); }
__attribute__((device, unused)) inline void operator delete[](void *pointer, size_t, std::align_val_t) noexcept { free(pointer); }
#endif
#ifdef __CUDACC_RTC__
/* What NVRTC has without an include: this class, whose members are constexpr, and so the device's too, and the runtime's types. The guards are those of
 * NVIDIA's headers, which a client may bring. */
#include <initializer_list>
#define __NV_BUILTIN_INITIALIZER_LIST 1
#define __CUDA_API_VER_MAJOR__ __CUDACC_VER_MAJOR__
#define __CUDA_API_VER_MINOR__ __CUDACC_VER_MINOR__
#define __CUDA_ARCH_LIST__ __CUDA_ARCH__
#define CUDARTAPI
#define CUDART_CB
#include "include/device_types.h"
#include "include/millrace_driver_types.h"
#include "include/millrace_library_types.h"
#define __LIBRARY_TYPES_H__
#define __DEVICE_TYPES_H__
/* CUB has this for hosts alone, and names it in a template that nobody makes an instance of; NVIDIA's compiler looks for it when one is made, clang at once.
 * Older versions define it for both sides: beside a template they may. */
namespace cub { template <class T> __attribute__((host)) cudaError_t SyncStream(T stream); }
#endif
extern "C" __attribute__((device, noreturn)) void __assertfail(const char *message, const char *file, unsigned int line,
    const char *function, size_t character_size);
/* What stands in the table of an abstract class. */
extern "C" __attribute__((device, weak)) void __cxa_pure_virtual() { __trap(); }
/* What the assert of the C library's own header calls. With NDEBUG that header declares no such function; CCCL's then do, for both sides, so it is one
 * function for both. The host's is the C library's. */
#if defined(NDEBUG) && !defined(__CUDACC_RTC__)
#define MR_ASSERT_FAIL_BOTH
extern "C" __attribute__((host, device, noreturn)) void __assert_fail(const char *message, const char *file, unsigned int line, const char *function) noexcept;
#ifdef __CUDA_ARCH__
extern "C" __attribute__((host, device, noreturn, unused)) inline void __assert_fail(const char *message, const char *file, unsigned int line,
    const char *function) noexcept
{
    __assertfail(message, file, line, function, 1);
}
#endif
#else
extern "C" __attribute__((device, noreturn, unused)) inline void __assert_fail(const char *message, const char *file, unsigned int line, const char *function)
{
    __assertfail(message, file, line, function, 1);
}
#endif
#ifdef NDEBUG
#define assert(condition) ((void)0)
#else
#define assert(condition) ((condition) ? (void)0 : __assertfail(#condition, __FILE__, __LINE__, __func__, 1))
#endif

#ifdef __CUDACC_RTC__
/* NVRTC is none of these compilers, and has none of their C++ libraries. Headers that ask, as NVIDIA's own (CCCL) do, then bring what they need themselves
 * instead of including the host's headers. */
#undef __clang__
#undef __GNUC__
#undef __GLIBCXX__
/* Nor has it a type of 128 bits with a point, without an option, or these features of the language. */
#undef __FLOAT128__
#undef __SIZEOF_FLOAT128__
#undef __cpp_constexpr_in_decltype
#undef __cpp_deleted_function
#undef __cpp_impl_coroutine
#undef __cpp_named_character_escapes
#undef __cpp_pack_indexing
#undef __cpp_placeholder_variables
#undef __cpp_static_call_operator
#undef __cpp_template_auto
#endif

#endif
