/* SPDX-License-Identifier: Apache-2.0 */
/* Barriers in shared memory whose arrivals and waits are apart: mbarrier from sm_80 on, atomics from sm_70 on. */
#ifndef _CUDA_AWBARRIER_PRIMITIVES_H_
#define _CUDA_AWBARRIER_PRIMITIVES_H_

typedef unsigned long long __mbarrier_t;
typedef unsigned long long __mbarrier_token_t;

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 700
#define MR_BARRIER static __device__ __inline__ __attribute__((always_inline))

static __host__ __device__ __inline__ __attribute__((always_inline)) unsigned __mbarrier_maximum_count() { return (1u << 20) - 1; }

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
MR_BARRIER unsigned mr_barrier_place(const __mbarrier_t *barrier) { return (unsigned)__cvta_generic_to_shared(barrier); }

MR_BARRIER void __mbarrier_init(__mbarrier_t *barrier, unsigned expected)
{
    asm volatile("mbarrier.init.shared.b64 [%0], %1;" : : "r"(mr_barrier_place(barrier)), "r"(expected) : "memory");
}

MR_BARRIER void __mbarrier_inval(__mbarrier_t *barrier)
{
    asm volatile("mbarrier.inval.shared.b64 [%0];" : : "r"(mr_barrier_place(barrier)) : "memory");
}

MR_BARRIER __mbarrier_token_t __mbarrier_arrive(__mbarrier_t *barrier)
{
    __mbarrier_token_t token;
    asm volatile("mbarrier.arrive.shared.b64 %0, [%1];" : "=l"(token) : "r"(mr_barrier_place(barrier)) : "memory");
    return token;
}

MR_BARRIER __mbarrier_token_t __mbarrier_arrive_and_drop(__mbarrier_t *barrier)
{
    __mbarrier_token_t token;
    asm volatile("mbarrier.arrive_drop.shared.b64 %0, [%1];" : "=l"(token) : "r"(mr_barrier_place(barrier)) : "memory");
    return token;
}

MR_BARRIER bool __mbarrier_test_wait(__mbarrier_t *barrier, __mbarrier_token_t token)
{
    unsigned over;
    asm volatile("{ .reg .pred %%p; mbarrier.test_wait.shared.b64 %%p, [%1], %2; selp.u32 %0, 1, 0, %%p; }"
        : "=r"(over) : "r"(mr_barrier_place(barrier)), "l"(token) : "memory");
    return over != 0;
}

/* True if the phase of that parity is over: the one before a new barrier's first phase counts as odd. */
MR_BARRIER bool __mbarrier_test_wait_parity(__mbarrier_t *barrier, bool odd)
{
    unsigned over;
    asm volatile("{ .reg .pred %%p; mbarrier.test_wait.parity.shared.b64 %%p, [%1], %2; selp.u32 %0, 1, 0, %%p; }"
        : "=r"(over) : "r"(mr_barrier_place(barrier)), "r"((unsigned)odd) : "memory");
    return over != 0;
}

MR_BARRIER unsigned __mbarrier_token_pending_count(__mbarrier_token_t token)
{
    unsigned count;
    asm volatile("mbarrier.pending_count.b64 %0, %1;" : "=r"(count) : "l"(token));
    return count;
}
#else
/* Without mbarrier: a word with the arrivals that are missing in bits 0 to 19, those of a whole phase in 20 to 39, and the
 * parity of the phase in the highest bit. A token is what the word was before the arrival. */
MR_BARRIER void __mbarrier_init(__mbarrier_t *barrier, unsigned expected)
{
    *(volatile __mbarrier_t *)barrier = (__mbarrier_t)expected << 20 | expected;
}

MR_BARRIER void __mbarrier_inval(__mbarrier_t *barrier) { *(volatile __mbarrier_t *)barrier = 0; }

MR_BARRIER __mbarrier_token_t mr_barrier_arrive(__mbarrier_t *barrier, __mbarrier_t dropped)
{
    __mbarrier_t old = *(volatile __mbarrier_t *)barrier, found;
    __threadfence_block();
    for (;; old = found) {
        __mbarrier_t after = old - 1 - (dropped << 20), whole = after >> 20 & 0xfffff;
        if ((after & 0xfffff) == 0)
            after = ((old ^ 1ull << 63) & 1ull << 63) | whole << 20 | whole;
        found = atomicCAS(barrier, old, after);
        if (found == old)
            return old;
    }
}
MR_BARRIER __mbarrier_token_t __mbarrier_arrive(__mbarrier_t *barrier) { return mr_barrier_arrive(barrier, 0); }
MR_BARRIER __mbarrier_token_t __mbarrier_arrive_and_drop(__mbarrier_t *barrier) { return mr_barrier_arrive(barrier, 1); }

MR_BARRIER bool __mbarrier_test_wait_parity(__mbarrier_t *barrier, bool odd)
{
    bool over = (*(volatile __mbarrier_t *)barrier >> 63 != 0) != odd;
    __threadfence_block();
    return over;
}
MR_BARRIER bool __mbarrier_test_wait(__mbarrier_t *barrier, __mbarrier_token_t token)
{
    return __mbarrier_test_wait_parity(barrier, token >> 63 != 0);
}
MR_BARRIER unsigned __mbarrier_token_pending_count(__mbarrier_token_t token) { return (unsigned)(token & 0xfffff); }
#endif

/* As test_wait, for at most about `ns` nanoseconds: others run meanwhile, and one look is enough for a phase that is over. */
MR_BARRIER bool __mbarrier_try_wait(__mbarrier_t *barrier, __mbarrier_token_t token, unsigned ns)
{
    if (!__mbarrier_test_wait(barrier, token))
        __nanosleep(ns);
    return __mbarrier_test_wait(barrier, token);
}

MR_BARRIER bool __mbarrier_try_wait_parity(__mbarrier_t *barrier, bool odd, unsigned ns)
{
    if (!__mbarrier_test_wait_parity(barrier, odd))
        __nanosleep(ns);
    return __mbarrier_test_wait_parity(barrier, odd);
}

#undef MR_BARRIER
#endif
#endif
