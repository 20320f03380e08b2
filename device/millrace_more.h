/* SPDX-License-Identifier: Apache-2.0 */
/* Intrinsics that few sources use: loads and stores with a cache operator, warp votes and reductions beside the usual
 * ones, named barriers, bits. Part of
 * millrace_device.h. */
#ifndef MILLRACE_MORE_H
#define MILLRACE_MORE_H

/* Cache operators: those that mean "see what others have written" (cg, cv; and the stores) are volatile, the others
 * are plain. */
template <class T> MR_DEVICE T mr_load_again(const T *address)
{
    typedef typename mr_word_of<(sizeof(T) > 8 ? 8 : sizeof(T))>::type word;
    word parts[sizeof(T) / sizeof(word)];
    T result;
    for (unsigned int i = 0; i < sizeof(T) / sizeof(word); i++)
        parts[i] = ((const volatile word *)address)[i];
    __builtin_memcpy(&result, parts, sizeof(T));
    return result;
}
template <class T> MR_DEVICE void mr_store_now(T *address, const T &value)
{
    typedef typename mr_word_of<(sizeof(T) > 8 ? 8 : sizeof(T))>::type word;
    word parts[sizeof(T) / sizeof(word)];
    __builtin_memcpy(parts, &value, sizeof(T));
    for (unsigned int i = 0; i < sizeof(T) / sizeof(word); i++)
        ((volatile word *)address)[i] = parts[i];
}
template <class T> MR_DEVICE T __ldcg(const T *address) { return mr_load_again(address); }
template <class T> MR_DEVICE T __ldcv(const T *address) { return mr_load_again(address); }
template <class T> MR_DEVICE T __ldca(const T *address) { return *address; }
template <class T> MR_DEVICE T __ldcs(const T *address) { return *address; }
template <class T> MR_DEVICE T __ldlu(const T *address) { return *address; }
template <class T, class V> MR_DEVICE void __stwb(T *address, V value) { mr_store_now(address, (T)value); }
template <class T, class V> MR_DEVICE void __stcg(T *address, V value) { mr_store_now(address, (T)value); }
template <class T, class V> MR_DEVICE void __stcs(T *address, V value) { mr_store_now(address, (T)value); }
template <class T, class V> MR_DEVICE void __stwt(T *address, V value) { mr_store_now(address, (T)value); }

MR_DEVICE void __barrier_sync(unsigned int id) { __nvvm_barrier_sync(id); }
MR_DEVICE void __barrier_sync_count(unsigned int id, unsigned int count) { __nvvm_barrier_sync_cnt(id, count); }

/* The place of the offset-th set bit of a mask, from bit `base` upwards, or downwards for a negative offset; all ones
 * if there is none. */
MR_DEVICE unsigned int __fns(unsigned int mask, unsigned int base, int offset)
{
    if (offset == 0)
        return mask >> base & 1 ? base : ~0u;
    int step = offset > 0 ? 1 : -1, left = offset > 0 ? offset : -offset;
    for (int at = (int)base; at >= 0 && at < 32; at += step)
        if ((mask >> at & 1) && --left == 0)
            return (unsigned int)at;
    return ~0u;
}

MR_DEVICE void __sincosf(float x, float *sine, float *cosine)
{
    *sine = __sinf(x);
    *cosine = __cosf(x);
}
MR_DEVICE float __tanhf(float x) { return tanhf(x); }
MR_DEVICE float __frsqrt_rn(float x) { return (float)(1.0 / __nvvm_sqrt_rn_d((double)x)); }
/* With denormals, whatever -ftz says. */
MR_DEVICE float __fmaf_ieee_rn(float x, float y, float z) { return __nvvm_fma_rn_f(x, y, z); }
MR_DEVICE float __fmaf_ieee_rz(float x, float y, float z) { return __nvvm_fma_rz_f(x, y, z); }
MR_DEVICE float __fmaf_ieee_ru(float x, float y, float z) { return __nvvm_fma_rp_f(x, y, z); }
MR_DEVICE float __fmaf_ieee_rd(float x, float y, float z) { return __nvvm_fma_rm_f(x, y, z); }

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
/* A copy of 4, 8 or 16 bytes to shared memory that goes on by itself; what is behind the `count` bytes that are read
 * becomes zeros. */
#define MR_ASYNC_COPY(size, cache)                                                                                    \
    MR_DEVICE void __nv_memcpy_async_shared_global_##size(void *to, const void *from, unsigned int count)             \
    {                                                                                                                 \
        unsigned int place = (unsigned int)__cvta_generic_to_shared(to);                                              \
        size_t source = __cvta_generic_to_global(from);                                                               \
        __asm__ volatile("cp.async." cache ".shared.global [%0], [%1], " #size ", %2;" : : "r"(place), "l"(source), "r"(count) : "memory"); \
    }
MR_ASYNC_COPY(4, "ca") MR_ASYNC_COPY(8, "ca") MR_ASYNC_COPY(16, "cg")
#undef MR_ASYNC_COPY
/* Caches are the CPU's: a property of them changes nothing. */
MR_DEVICE void *__nv_associate_access_property(const void *p, unsigned long long) { return const_cast<void *>(p); }
#endif

/* A place to stop a debugger at, and a counter of NVIDIA's profiler: neither is here. */
MR_DEVICE void __brkpt() { __asm__ volatile("" : : : "memory"); }
MR_DEVICE void __prof_trigger(int counter) { (void)counter; }

/* Launches that may overlap with the grid before (programmatic dependent launch): the kernel waits for that grid and
 * what it has written; the kernel lets those that depend on it begin. */
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
MR_DEVICE void cudaGridDependencySynchronize() { __asm__ volatile("griddepcontrol.wait;" : : : "memory"); }
MR_DEVICE void cudaTriggerProgrammaticLaunchCompletion() { __asm__ volatile("griddepcontrol.launch_dependents;" : : : "memory"); }
#endif

#endif
