/* SPDX-License-Identifier: Apache-2.0 */
/* Scans over tiles and coalesced groups: each thread gets what the threads up to it (inclusive) or before it (exclusive) make together. */
#ifndef _COOPERATIVE_GROUPS_SCAN_H
#define _COOPERATIVE_GROUPS_SCAN_H
#include <cooperative_groups/reduce.h>

namespace cooperative_groups { namespace __v1 {

/* What the warps before the caller's make together, of a tile of several; nothing for the first. `value` is a warp's inclusive scan. */
template <class Group, class T, class Operation> MR_DEVICE T mr_warps_before(const Group &group, T value, Operation operation)
{
    constexpr int count = mr_tile_size<Group> / 32 - 1;
    int mine = (int)group.thread_rank() / 32;
    T parts[count], before = T();
    for (int warp = 0; warp < count; warp++)
        parts[warp] = group.shfl(value, (unsigned int)warp * 32 + 31);
    for (int by = 1; by < count; by *= 2)
        for (int warp = count - 1; warp >= by; warp--)
            parts[warp] = operation(parts[warp], parts[warp - by]);
    for (int warp = 0; warp < count; warp++)
        before = warp == mine - 1 ? parts[warp] : before;
    return before;
}
template <class Group, class T, class Operation> MR_DEVICE T inclusive_scan(const Group &group, T value, Operation operation)
{
    if constexpr (mr_is_large<Group>) {
        value = inclusive_scan(thread_block_tile<32>(), value, operation);
        T before = mr_warps_before(group, value, operation);
        return group.thread_rank() < 32 ? value : operation(value, before);
    } else {
        return mr_scan(group, value, operation);
    }
}
template <class Group, class T> MR_DEVICE T inclusive_scan(const Group &group, T value) { return inclusive_scan(group, value, plus<T>()); }
/* The first thread gets a value made of nothing: 0 for numbers. */
template <class Group, class T, class Operation> MR_DEVICE T exclusive_scan(const Group &group, T value, Operation operation)
{
    if constexpr (mr_is_large<Group>) {
        thread_block_tile<32> warp;
        value = inclusive_scan(warp, value, operation);
        T before = mr_warps_before(group, value, operation), other = warp.shfl_up(value, 1);
        return group.thread_rank() < 32 ? (group.thread_rank() == 0 ? T() : other) : warp.thread_rank() == 0 ? before : operation(other, before);
    } else {
        T other = group.shfl_up(inclusive_scan(group, value, operation), 1);
        return group.thread_rank() == 0 ? T() : other;
    }
}
template <class Group, class T> MR_DEVICE T exclusive_scan(const Group &group, T value) { return exclusive_scan(group, value, plus<T>()); }

/* The same behind what `to` (a cuda::atomic or cuda::atomic_ref) held before, to which the group's whole result is added in one step. */
template <class Group, class Atomic, class T, class Operation> MR_DEVICE auto mr_update(const Group &group, Atomic &to, T value, Operation operation) -> decltype(to.load())
{
    T whole = reduce(group, value, operation);
    decltype(to.load()) old{};
    if (group.thread_rank() == 0) {
        old = to.load();
        while (!to.compare_exchange_weak(old, (decltype(old))operation(old, whole)))
            ;
    }
    return group.shfl(old, 0);
}
template <class Group, class Atomic, class T, class Operation> MR_DEVICE auto inclusive_scan_update(const Group &group, Atomic &&to, T value, Operation operation) -> decltype(operation(value, value))
{
    auto old = mr_update(group, to, value, operation);
    return operation(old, inclusive_scan(group, value, operation));
}
template <class Group, class Atomic, class T> MR_DEVICE auto inclusive_scan_update(const Group &group, Atomic &&to, T value) { return inclusive_scan_update(group, to, value, plus<T>()); }
template <class Group, class Atomic, class T, class Operation> MR_DEVICE auto exclusive_scan_update(const Group &group, Atomic &&to, T value, Operation operation) -> decltype(operation(value, value))
{
    auto old = mr_update(group, to, value, operation);
    T before = exclusive_scan(group, value, operation);
    return group.thread_rank() == 0 ? (decltype(operation(value, value)))old : operation(old, before);
}
template <class Group, class Atomic, class T> MR_DEVICE auto exclusive_scan_update(const Group &group, Atomic &&to, T value) { return exclusive_scan_update(group, to, value, plus<T>()); }

} using namespace __v1; }   // namespace cooperative_groups
#endif
