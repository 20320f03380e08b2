/* SPDX-License-Identifier: Apache-2.0 */
/* Atomics with scopes, and the intrinsics that few sources use, for test_more.c. */

/* Each of 256 threads of some blocks does its part on numbers that start as the test has set them. */
template <class T> static __device__ void by_all(T *p)
{
    T one = (T)1;
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    __nv_atomic_fetch_add(&p[0], one, __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_DEVICE);
    __nv_atomic_fetch_sub(&p[1], one, __NV_ATOMIC_ACQ_REL, __NV_THREAD_SCOPE_SYSTEM);
    __nv_atomic_fetch_max(&p[2], (T)(i % 97), __NV_ATOMIC_SEQ_CST, __NV_THREAD_SCOPE_DEVICE);
    __nv_atomic_min(&p[3], (T)(i % 97), __NV_ATOMIC_RELEASE, __NV_THREAD_SCOPE_BLOCK);
    T seen = __nv_atomic_load_n(&p[4], __NV_ATOMIC_ACQUIRE, __NV_THREAD_SCOPE_DEVICE);
    while (!__nv_atomic_compare_exchange_n(&p[4], &seen, (T)(seen + one), true, __NV_ATOMIC_ACQ_REL, __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_DEVICE))
        ;
    T mine = (T)(i % 100), before;
    __nv_atomic_exchange(&p[5], &mine, &before, __NV_ATOMIC_ACQ_REL, __NV_THREAD_SCOPE_SYSTEM);
    __nv_atomic_store_n(&p[6], (T)77, __NV_ATOMIC_RELEASE, __NV_THREAD_SCOPE_SYSTEM);
}
extern "C" __global__ void ordered_int(int *p) { by_all(p); }
extern "C" __global__ void ordered_byte(unsigned char *p) { by_all(p); }
extern "C" __global__ void ordered_short(short *p) { by_all(p); }
extern "C" __global__ void ordered_long(unsigned long long *p) { by_all(p); }
extern "C" __global__ void ordered_float(float *p) { by_all(p); }
extern "C" __global__ void ordered_double(double *p) { by_all(p); }

extern "C" __global__ void scoped(unsigned *p, unsigned long long *q, float *f, double *d)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    atomicAdd_block(&p[0], 2u), atomicAdd_system(&p[0], 1u);
    atomicSub_block(&p[1], 1u), atomicSub_system(&p[1], 1u);
    atomicMin_system(&p[2], (unsigned)i + 5), atomicMax_block(&p[3], (unsigned)i);
    atomicInc_block(&p[4], 1000u), atomicDec_system(&p[5], 1000u);
    atomicAnd_system(&p[6], ~(1u << i % 32)), atomicOr_block(&p[7], 1u << i % 32), atomicXor_system(&p[8], 1u << i % 32);
    unsigned seen = p[9], before;
    do
        before = seen, seen = atomicCAS_system(&p[9], before, before + 1);
    while (seen != before);
    atomicExch_block(&p[10], 5u);
    atomicAdd_system(&q[0], 1ull << 33), atomicMax_system(&q[1], (unsigned long long)i << 33), atomicCAS_block(&q[2], 0ull, 9ull);
    atomicAdd_system(&f[0], 1.0f), atomicExch_system(&f[1], 2.5f), atomicAdd_block(&d[0], 0.5);
}

/* One producer, one consumer: what was written before a release is seen behind an acquire. */
extern "C" __global__ void handed_over(int *data, int *flag, int *wrong, int rounds)
{
    for (int i = 1; i <= rounds; i++) {
        if (blockIdx.x == 0) {
            while (__nv_atomic_load_n(flag, __NV_ATOMIC_ACQUIRE, __NV_THREAD_SCOPE_DEVICE) != 2 * i - 2)
                __nanosleep(20);
            *data = i * 3;
            __nv_atomic_store_n(flag, 2 * i - 1, __NV_ATOMIC_RELEASE, __NV_THREAD_SCOPE_DEVICE);
        } else {
            while (__nv_atomic_load_n(flag, __NV_ATOMIC_ACQUIRE, __NV_THREAD_SCOPE_DEVICE) != 2 * i - 1)
                __nanosleep(20);
            if (*data != i * 3)
                ++*wrong;
            __nv_atomic_store_n(flag, 2 * i, __NV_ATOMIC_RELEASE, __NV_THREAD_SCOPE_DEVICE);
        }
    }
}

/* Thread i of one warp writes row i. */
extern "C" __global__ void others(unsigned *out, const unsigned *in, const float *numbers, float *floats)
{
    int i = threadIdx.x, all;
    unsigned x = in[i], *row = out + i * 16;
    row[0] = __match_all_sync(0xffffffffu, i < 40 ? 7 : x, &all);
    row[1] = all;
    row[2] = __match_all_sync(0xffffffffu, (unsigned long long)i, &all);
    row[3] = all;
    row[4] = __reduce_and_sync(0xffffffffu, x | 0xf0000000u);
    row[5] = __reduce_or_sync(0xffffffffu, x & 0x0000ff00u);
    row[6] = __reduce_xor_sync(0xffffffffu, x);
    row[7] = __fns(x, i, 3);
    row[8] = __fns(x, i, -2);
    row[9] = __fns(x, i, 0);
    row[10] = __funnelshift_lc(x, ~x, i + 8);
    row[11] = __funnelshift_rc(x, ~x, i + 8);
    int4 wide = __ldcg((const int4 *)in + i % 8);
    row[12] = wide.x ^ wide.w ^ __ldcv(in + i) ^ __ldca((const unsigned short *)in + i) ^ __ldcs((const unsigned char *)in + i) ^ (unsigned)__double_as_longlong(__ldlu((const double *)in + 1));
    __stcg(row + 13, x), __stwt((unsigned short *)(row + 14), (unsigned short)x), __stwb((unsigned short *)(row + 14) + 1, (unsigned short)~x);
    __stcs(row + 15, umin(x, 1000u) + umax(x, 5u) + (unsigned)llmax(3, -4) + (unsigned)ullmin(3, 4));
    float sine, cosine;
    __sincosf(numbers[i] / 100, &sine, &cosine);
    floats[i * 4] = sine;
    floats[i * 4 + 1] = cosine;
    floats[i * 4 + 2] = __frsqrt_rn(numbers[i]);
    floats[i * 4 + 3] = __tanhf(numbers[i] / 50);
}

/* Two halves of a block, each with a barrier of its own: 64 threads with number 1, 64 with number 2. */
extern "C" __global__ void named(int *out)
{
    __shared__ int s[128];
    int i = threadIdx.x, half = i / 64;
    s[i] = i;
    __barrier_sync_count(half + 1, 64);
    int other = s[half * 64 + (i + 33) % 64];
    __barrier_sync(0);
    out[i] = other;
}
