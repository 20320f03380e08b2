/* SPDX-License-Identifier: Apache-2.0 */
/* Scans over tiles and coalesced groups: each thread gets what the threads up to it (inclusive) or before it (exclusive) make together. */
#ifndef MILLRACE_COOPERATIVE_GROUPS_SCAN_H
#define MILLRACE_COOPERATIVE_GROUPS_SCAN_H
#include <cooperative_groups/reduce.h>

namespace cooperative_groups {

template <class Group, class T, class Operation> MR_DEVICE T inclusive_scan(const Group &group, T value, Operation operation)
{
    for (unsigned int by = 1; by < group.size(); by *= 2) {
        T other = group.shfl_up(value, by);
        if (group.thread_rank() >= by)
            value = operation(other, value);
    }
    return value;
}
template <class Group, class T> MR_DEVICE T inclusive_scan(const Group &group, T value) { return inclusive_scan(group, value, plus<T>()); }
/* The first thread gets a value made of nothing: 0 for numbers. */
template <class Group, class T, class Operation> MR_DEVICE T exclusive_scan(const Group &group, T value, Operation operation)
{
    T other = group.shfl_up(inclusive_scan(group, value, operation), 1);
    return group.thread_rank() == 0 ? T() : other;
}
template <class Group, class T> MR_DEVICE T exclusive_scan(const Group &group, T value) { return exclusive_scan(group, value, plus<T>()); }

}   // namespace cooperative_groups
#endif
