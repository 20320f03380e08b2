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

}   // namespace cooperative_groups
#endif
