/* SPDX-License-Identifier: Apache-2.0 */
/* Atomics with a scope in the name, and __nv_atomic_…, with order and scope as arguments. Part of millrace_device.h.
 *
 * Threads of a block, of a device and of the host share one kind of memory here, so each scope is as wide as the widest; and an order that is not known when
 * the source is compiled is the strongest. */
#ifndef MILLRACE_SCOPES_H
#define MILLRACE_SCOPES_H

#define MR_SCOPED(name)                                                                                                     \
    template <class T, class V> MR_DEVICE auto name##_block(T *address, V value) -> decltype(name(address, (T)value)) { return name(address, (T)value); } \
    template <class T, class V> MR_DEVICE auto name##_system(T *address, V value) -> decltype(name(address, (T)value)) { return name(address, (T)value); }
MR_SCOPED(atomicAdd) MR_SCOPED(atomicSub) MR_SCOPED(atomicExch) MR_SCOPED(atomicMin) MR_SCOPED(atomicMax) MR_SCOPED(atomicInc)
MR_SCOPED(atomicDec) MR_SCOPED(atomicAnd) MR_SCOPED(atomicOr) MR_SCOPED(atomicXor)
#undef MR_SCOPED
template <class T, class W, class V> MR_DEVICE T atomicCAS_block(T *address, W compare, V value) { return atomicCAS(address, (T)compare, (T)value); }
template <class T, class W, class V> MR_DEVICE T atomicCAS_system(T *address, W compare, V value) { return atomicCAS(address, (T)compare, (T)value); }

#define __NV_ATOMIC_RELAXED 0
#define __NV_ATOMIC_CONSUME 1
#define __NV_ATOMIC_ACQUIRE 2
#define __NV_ATOMIC_RELEASE 3
#define __NV_ATOMIC_ACQ_REL 4
#define __NV_ATOMIC_SEQ_CST 5
#define __NV_THREAD_SCOPE_THREAD 0
#define __NV_THREAD_SCOPE_BLOCK 1
#define __NV_THREAD_SCOPE_CLUSTER 2
#define __NV_THREAD_SCOPE_DEVICE 3
#define __NV_THREAD_SCOPE_SYSTEM 4

/* The whole number of T's size that atomics work on. */
template <int size> struct mr_word_of;
template <> struct mr_word_of<1> { typedef unsigned char type; };
template <> struct mr_word_of<2> { typedef unsigned short type; };
template <> struct mr_word_of<4> { typedef unsigned int type; };
template <> struct mr_word_of<8> { typedef unsigned long long type; };
template <class T> struct mr_plain { typedef T type; };
template <class T> struct mr_plain<volatile T> { typedef T type; };
template <class T> struct mr_plain<const T> { typedef T type; };
template <class T> struct mr_plain<const volatile T> { typedef T type; };

MR_DEVICE void __nv_atomic_thread_fence(int order, int scope = __NV_THREAD_SCOPE_SYSTEM)
{
    (void)scope;
    if (order == __NV_ATOMIC_SEQ_CST)
        __asm__ volatile("fence.sc.sys;" : : : "memory");
    else if (order != __NV_ATOMIC_RELAXED)
        __asm__ volatile("fence.acq_rel.sys;" : : : "memory");
}
MR_DEVICE void mr_before(int order)
{
    if (order == __NV_ATOMIC_RELEASE || order >= __NV_ATOMIC_ACQ_REL)
        __nv_atomic_thread_fence(order == __NV_ATOMIC_SEQ_CST ? order : __NV_ATOMIC_ACQ_REL);
}
MR_DEVICE void mr_after(int order)
{
    if (order != __NV_ATOMIC_RELAXED && order != __NV_ATOMIC_RELEASE)
        __nv_atomic_thread_fence(__NV_ATOMIC_ACQ_REL);
}
template <class T> MR_DEVICE typename mr_plain<T>::type __nv_atomic_load_n(T *address, int order, int scope = __NV_THREAD_SCOPE_SYSTEM)
{
    typedef typename mr_plain<T>::type value;
    typedef typename mr_word_of<sizeof(T)>::type word;
    (void)scope;
    mr_before(order == __NV_ATOMIC_SEQ_CST ? order : __NV_ATOMIC_RELAXED);
    word bits = __atomic_load_n((const volatile word *)address, __ATOMIC_RELAXED);
    mr_after(order);
    return __builtin_bit_cast(value, bits);
}
template <class T, class V> MR_DEVICE void __nv_atomic_load(T *address, V *result, int order, int scope = __NV_THREAD_SCOPE_SYSTEM)
{
    *result = __nv_atomic_load_n(address, order, scope);
}
template <class T, class V> MR_DEVICE void __nv_atomic_store_n(T *address, V value, int order, int scope = __NV_THREAD_SCOPE_SYSTEM)
{
    typedef typename mr_word_of<sizeof(T)>::type word;
    (void)scope;
    typename mr_plain<T>::type converted = value;
    mr_before(order);
    __atomic_store_n((volatile word *)address, __builtin_bit_cast(word, converted), __ATOMIC_RELAXED);
}
template <class T, class V> MR_DEVICE void __nv_atomic_store(T *address, V *value, int order, int scope = __NV_THREAD_SCOPE_SYSTEM)
{
    __nv_atomic_store_n(address, *value, order, scope);
}
/* Puts value in the place of what a number of 1 or 2 bytes was found to be, in the word around it, whose latest content is `seen`. True if that was
 * still so; `seen` is brought up to date. */
template <class T> MR_DEVICE bool mr_exchange_part(T *address, unsigned int &seen, T value)
{
    typedef typename mr_word_of<sizeof(T)>::type word;
    unsigned long long place = (unsigned long long)address;
    unsigned int shift = (unsigned int)(place & 3) * 8, mask = (unsigned int)(word)~0u << shift, before = seen;
    seen = atomicCAS((unsigned int *)(place & ~3ull), before, (before & ~mask) | (unsigned int)__builtin_bit_cast(word, value) << shift);
    return seen == before;
}
template <class T> MR_DEVICE T mr_part_of(T *address, unsigned int seen)
{
    return __builtin_bit_cast(T, (typename mr_word_of<sizeof(T)>::type)(seen >> ((unsigned int)((unsigned long long)address & 3) * 8)));
}
template <class T> MR_DEVICE unsigned int mr_word_around(T *address)
{
    return *(volatile unsigned int *)((unsigned long long)address & ~3ull);
}
/* Compares and exchanges bits; true if they were equal, else *expected is what was found. */
template <class T> MR_DEVICE bool mr_exchange_if(T *address, T *expected, T value, bool weak)
{
    typedef typename mr_word_of<sizeof(T)>::type word;
    if constexpr (sizeof(T) >= 4) {
        word compare = __builtin_bit_cast(word, *expected), found = atomicCAS((word *)address, compare, __builtin_bit_cast(word, value));
        *expected = __builtin_bit_cast(T, found);
        return found == compare;
    } else {
        unsigned int seen = mr_word_around(address);
        word compare = __builtin_bit_cast(word, *expected);
        bool done = false, same;
        do {
            same = __builtin_bit_cast(word, mr_part_of(address, seen)) == compare;
            if (same)
                done = mr_exchange_part(address, seen, value);
        } while (!weak && same && !done);
        *expected = mr_part_of(address, seen);
        return done;
    }
}
template <class T, class V> MR_DEVICE bool __nv_atomic_compare_exchange_n(T *address, T *expected, V value, bool weak, int success, int failure,
    int scope = __NV_THREAD_SCOPE_SYSTEM)
{
    (void)scope;
    int order = success > failure ? success : failure;
    mr_before(order);
    bool done = mr_exchange_if(address, expected, (T)value, weak);
    mr_after(order);
    return done;
}
template <class T> MR_DEVICE bool __nv_atomic_compare_exchange(T *address, T *expected, T *value, bool weak, int success, int failure,
    int scope = __NV_THREAD_SCOPE_SYSTEM)
{
    return __nv_atomic_compare_exchange_n(address, expected, *value, weak, success, failure, scope);
}
/* What one step makes of the value that was there: for sizes and types that have no atomic of their own, by comparing and exchanging. */
template <class T, class Step> MR_DEVICE T mr_atomic_step(T *address, int order, Step step)
{
    T old;
    mr_before(order);
    if constexpr (sizeof(T) >= 4) {
        old = __nv_atomic_load_n(address, __NV_ATOMIC_RELAXED);
        while (!mr_exchange_if(address, &old, step(old), true))
            ;
    } else {
        unsigned int seen = mr_word_around(address);
        do
            old = mr_part_of(address, seen);
        while (!mr_exchange_part(address, seen, step(old)));
    }
    mr_after(order);
    return old;
}
template <class T, class V> MR_DEVICE T __nv_atomic_exchange_n(T *address, V value, int order, int scope = __NV_THREAD_SCOPE_SYSTEM)
{
    (void)scope;
    return mr_atomic_step(address, order, [=](T) { return (T)value; });
}
template <class T> MR_DEVICE void __nv_atomic_exchange(T *address, T *value, T *result, int order, int scope = __NV_THREAD_SCOPE_SYSTEM)
{
    *result = __nv_atomic_exchange_n(address, *value, order, scope);
}
#define MR_NV_ATOMIC(name, expression, direct)                                                                              \
    template <class T, class V> MR_DEVICE T __nv_atomic_fetch_##name(T *address, V value, int order, int scope = __NV_THREAD_SCOPE_SYSTEM) \
    {                                                                                                                       \
        (void)scope;                                                                                                        \
        T y = (T)value;                                                                                                     \
        if constexpr (mr_has_atomics<T>::value) {                                                                           \
            mr_before(order);                                                                                               \
            T old = direct;                                                                                                 \
            mr_after(order);                                                                                                \
            return old;                                                                                                     \
        } else {                                                                                                            \
            return mr_atomic_step(address, order, [=](T x) { return (T)(expression); });                                    \
        }                                                                                                                   \
    }                                                                                                                       \
    template <class T, class V> MR_DEVICE void __nv_atomic_##name(T *address, V value, int order, int scope = __NV_THREAD_SCOPE_SYSTEM) \
    {                                                                                                                       \
        __nv_atomic_fetch_##name(address, value, order, scope);                                                             \
    }
template <class T> struct mr_has_atomics { static constexpr bool value = false; };
template <> struct mr_has_atomics<int> { static constexpr bool value = true; };
template <> struct mr_has_atomics<unsigned int> { static constexpr bool value = true; };
template <> struct mr_has_atomics<unsigned long long> { static constexpr bool value = true; };
MR_NV_ATOMIC(add, x + y, atomicAdd(address, y)) MR_NV_ATOMIC(sub, x - y, atomicAdd(address, (T)(0 - y))) MR_NV_ATOMIC(and, x & y, atomicAnd(address, y))
MR_NV_ATOMIC(or, x | y, atomicOr(address, y)) MR_NV_ATOMIC(xor, x ^ y, atomicXor(address, y))
MR_NV_ATOMIC(min, y < x ? y : x, atomicMin(address, y)) MR_NV_ATOMIC(max, x < y ? y : x, atomicMax(address, y))
#undef MR_NV_ATOMIC

#endif
