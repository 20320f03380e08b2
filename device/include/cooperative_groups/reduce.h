/* SPDX-License-Identifier: Apache-2.0 */
/* Reductions over tiles and coalesced groups, and the operations that reduce and scan take. Values are combined in the order of ranks. */
#ifndef MILLRACE_COOPERATIVE_GROUPS_REDUCE_H
#define MILLRACE_COOPERATIVE_GROUPS_REDUCE_H
#include <cooperative_groups.h>

namespace cooperative_groups {

#define MR_OPERATION(name, expression)                                                                                    \
    template <class T = void> struct name {                                                                               \
        __attribute__((device, always_inline)) T operator()(T x, T y) const { return expression; }                        \
    };                                                                                                                    \
    template <> struct name<void> {                                                                                       \
        template <class T> __attribute__((device, always_inline)) T operator()(T x, T y) const { return expression; }     \
    };
MR_OPERATION(plus, x + y) MR_OPERATION(less, y < x ? y : x) MR_OPERATION(greater, x < y ? y : x)
MR_OPERATION(bit_and, x & y) MR_OPERATION(bit_or, x | y) MR_OPERATION(bit_xor, x ^ y)
#undef MR_OPERATION

template <class Group, class T, class Operation> MR_DEVICE T reduce(const Group &group, T value, Operation operation)
{
    T sum = group.shfl(value, 0);
    for (unsigned int rank = 1; rank < group.size(); rank++)
        sum = operation(sum, group.shfl(value, rank));
    return sum;
}
template <class Group, class T> MR_DEVICE T reduce(const Group &group, T value) { return reduce(group, value, plus<T>()); }

/* The group's result goes to one place: instead of what is there, or combined with that in one step (a cuda::atomic or cuda::atomic_ref). */
template <class Group, class T, class Value, class Operation>
MR_DEVICE void reduce_store_async(const Group &group, T *to, Value value, Operation operation)
{
    T sum = (T)reduce(group, value, operation);
    if (group.thread_rank() == 0)
        *to = sum;
}
template <class Group, class Atomic, class Value, class Operation>
MR_DEVICE void reduce_update_async(const Group &group, Atomic &to, Value value, Operation operation)
{
    Value sum = reduce(group, value, operation);
    if (group.thread_rank() != 0)
        return;
    typename Atomic::value_type old = to.load();
    while (!to.compare_exchange_weak(old, (typename Atomic::value_type)operation(old, sum)))
        ;
}

}   // namespace cooperative_groups
#endif
