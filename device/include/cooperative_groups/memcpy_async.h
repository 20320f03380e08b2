/* SPDX-License-Identifier: Apache-2.0 */
/* Copies by a group. They are done when the call returns to the thread that did its part; wait makes the parts of all threads visible. */
#ifndef MILLRACE_COOPERATIVE_GROUPS_MEMCPY_ASYNC_H
#define MILLRACE_COOPERATIVE_GROUPS_MEMCPY_ASYNC_H
#include <cooperative_groups.h>

namespace cooperative_groups {

template <class Group> MR_DEVICE void memcpy_async(const Group &group, void *to, const void *from, size_t size)
{
    for (size_t i = group.thread_rank(); i < size; i += group.size())
        ((unsigned char *)to)[i] = ((const unsigned char *)from)[i];
}
template <class Group> MR_DEVICE void wait(const Group &group) { group.sync(); }
template <unsigned int stages, class Group> MR_DEVICE void wait_prior(const Group &group) { group.sync(); }

}   // namespace cooperative_groups
#endif
