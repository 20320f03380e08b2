/* SPDX-License-Identifier: Apache-2.0 */
/* Copies from global to shared memory that go on while the thread does other things, one per call, in groups: cp.async from sm_80 on, plain copies before. */
#ifndef _CUDA_PIPELINE_PRIMITIVES_H_
#define _CUDA_PIPELINE_PRIMITIVES_H_
#include <cuda_awbarrier_primitives.h>

#define MR_PIPELINE static __device__ __inline__ __attribute__((always_inline))

/* Copies `size` bytes (4, 8 or 16, both places aligned to that), the last `zeros` of them as zeros. */
MR_PIPELINE void __pipeline_memcpy_async(void *__restrict__ to, const void *__restrict__ from, size_t size, size_t zeros = 0)
{
    unsigned reads = (unsigned)(size - zeros);
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
    if (size == 16)
        __nv_memcpy_async_shared_global_16(to, from, reads);
    else if (size == 8)
        __nv_memcpy_async_shared_global_8(to, from, reads);
    else if (size == 4)
        __nv_memcpy_async_shared_global_4(to, from, reads);
    else
        __builtin_trap();
#else
    for (unsigned i = 0; i < size; i++)
        ((unsigned char *)to)[i] = i < reads ? ((const unsigned char *)from)[i] : 0;
#endif
}

MR_PIPELINE void __pipeline_commit()
{
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
    asm volatile("cp.async.commit_group;" : : : "memory");
#endif
}

/* Waits for all groups but the latest `count`. All of them are complete as soon as they are made, so the number does not matter. */
MR_PIPELINE void __pipeline_wait_prior(size_t count)
{
    (void)count;
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
    asm volatile("cp.async.wait_all;" : : : "memory");
#endif
}

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
/* Arrives at the barrier when the thread's copies up to here are done; the phase does not count this arrival among those that it expects. */
MR_PIPELINE void __pipeline_arrive_on(__mbarrier_t *barrier)
{
    asm volatile("cp.async.mbarrier.arrive.shared.b64 [%0];" : : "r"((unsigned)__cvta_generic_to_shared(barrier)) : "memory");
}
#elif __CUDA_ARCH__ >= 700
/* Copies are done when they are called: there is nothing that the barrier has to wait for. */
MR_PIPELINE void __pipeline_arrive_on(__mbarrier_t *) { }
#endif

#undef MR_PIPELINE
#endif
