/* SPDX-License-Identifier: Apache-2.0 */
/* Reductions over tiles and coalesced groups, and the operations that reduce and scan take. */
#ifndef _COOPERATIVE_GROUPS_REDUCE_H
#define _COOPERATIVE_GROUPS_REDUCE_H
#include <cooperative_groups.h>

namespace cooperative_groups { namespace __v1 {

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

/* Steps of 1, 2, 4, … ranks; the later thread's value comes first, as on hardware. */
template <class Group, class T, class Operation> MR_DEVICE T mr_scan(const Group &group, T value, Operation operation)
{
    for (unsigned int by = 1; by < group.size(); by *= 2) {
        T other = group.shfl_up(value, by);
        if (group.thread_rank() >= by)
            value = operation(value, other);
    }
    return value;
}
template <class T, class Operation, unsigned int Size, class Parent> MR_DEVICE T mr_fold(const thread_block_tile<Size, Parent> &tile, T value, Operation operation)
{
    for (unsigned int by = Size / 2; by > 0; by /= 2)
        value = operation(value, tile.shfl_xor(value, by));
    return value;
}
/* Values are combined in the order in which hardware combines them, so sums of floats have the same bits. */
template <class Group, class T, class Operation> MR_DEVICE T reduce(const Group &group, T value, Operation operation)
{
    if constexpr (mr_is_large<Group>) {
        value = mr_fold(thread_block_tile<32>(), value, operation);
        T parts[mr_tile_size<Group> / 32];
        for (unsigned int warp = 0; warp < mr_tile_size<Group> / 32; warp++)
            parts[warp] = group.shfl(value, warp * 32 + 31);
        for (unsigned int half = mr_tile_size<Group> / 64; half > 0; half /= 2)
            for (unsigned int warp = 0; warp < half; warp++)
                parts[warp] = operation(parts[warp], parts[warp + half]);
        return parts[0];
    } else if constexpr (mr_tile_size<Group> != 0) {
        return mr_fold(group, value, operation);
    } else {
        if (group.size() == 32)
            return mr_fold(thread_block_tile<32>(), value, operation);
        return group.shfl(mr_scan(group, value, operation), group.size() - 1);
    }
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
    auto old = to.load();
    while (!to.compare_exchange_weak(old, (decltype(old))operation(old, sum)))
        ;
}

} using namespace __v1; }   // namespace cooperative_groups
#endif
