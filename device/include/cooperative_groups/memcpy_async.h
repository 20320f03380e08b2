/* SPDX-License-Identifier: Apache-2.0 */
/* Copies by a group. They are done when the call returns to the thread that did its part; wait makes the parts of all threads visible. */
#ifndef _COOPERATIVE_GROUPS_MEMCPY_ASYNC
#define _COOPERATIVE_GROUPS_MEMCPY_ASYNC
#include <cooperative_groups.h>

namespace cooperative_groups { namespace __v1 {

template <class Piece, class Group> MR_DEVICE void mr_copy_pieces(const Group &group, void *to, const void *from, size_t count)
{
    for (size_t i = group.thread_rank(); i < count; i += group.size())
        ((Piece *)to)[i] = ((const Piece *)from)[i];
}
/* `size` bytes: a number, or a cuda::aligned_size_t. Pieces are as wide as the places allow. */
template <class Group, class T, class Size> MR_DEVICE void memcpy_async(const Group &group, T *to, const T *from, const Size &size)
{
    size_t bytes = size;
    unsigned long long low = (unsigned long long)to | (unsigned long long)from | bytes;
    if (low % 16 == 0)
        mr_copy_pieces<int4>(group, to, from, bytes / 16);
    else if (low % 4 == 0)
        mr_copy_pieces<int>(group, to, from, bytes / 4);
    else
        mr_copy_pieces<char>(group, to, from, bytes);
}
/* As many elements as fit both layouts. */
template <class Group, class T, class To, class From>
MR_DEVICE void memcpy_async(const Group &group, T *to, const To &to_layout, const T *from, const From &from_layout)
{
    size_t room = to_layout, there = from_layout;
    memcpy_async(group, to, from, (room < there ? room : there) * sizeof(T));
}
template <class Group> MR_DEVICE void wait(const Group &group) { group.sync(); }
template <unsigned int stages, class Group> MR_DEVICE void wait_prior(const Group &group) { group.sync(); }

} using namespace __v1; }   // namespace cooperative_groups
#endif
