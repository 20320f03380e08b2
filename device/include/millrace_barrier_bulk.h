/* SPDX-License-Identifier: Apache-2.0 */
/* Part of cuda/barrier, from sm_90 on: copies in bulk and of tensors, by whose bytes a barrier's phase is counted, too
 * (CUDA's programming guide, "Asynchronous data copies using the tensor memory accelerator"). In the other direction
 * they are counted in groups. */
typedef struct CUtensorMap_st CUtensorMap;

namespace cuda
{
namespace mr
{

MR_MEMBER unsigned shared_place(const void *at)
{
    return (unsigned)__cvta_generic_to_shared(at);
}
MR_MEMBER unsigned shared_place(barrier<thread_scope_block> &b)
{
    return shared_place((const void *)barrier_native_handle(b));
}

}   // namespace mr

namespace device
{

/* The phase waits for so many bytes more. */
MR_MEMBER void barrier_expect_tx(barrier<thread_scope_block> &b, ptrdiff_t size)
{
    asm volatile("mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [%0], %1;"
                 :
                 : "r"(mr::shared_place(b)), "r"((unsigned)size)
                 : "memory");
}
[[nodiscard]] MR_MEMBER barrier<thread_scope_block>::arrival_token barrier_arrive_tx(barrier<thread_scope_block> &b,
                                                                                     ptrdiff_t count, ptrdiff_t size)
{
    barrier_expect_tx(b, size);
    return b.arrive(count);
}

namespace experimental
{

MR_MEMBER void cp_async_bulk_global_to_shared(void *to, const void *from, unsigned size, barrier<thread_scope_block> &b)
{
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];"
                 :
                 : "r"(mr::shared_place(to)), "l"(__cvta_generic_to_global(from)), "r"(size), "r"(mr::shared_place(b))
                 : "memory");
}
MR_MEMBER void cp_async_bulk_shared_to_global(void *to, const void *from, unsigned size)
{
    asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;"
                 :
                 : "l"(__cvta_generic_to_global(to)), "r"(mr::shared_place(from)), "r"(size)
                 : "memory");
}

/* Copies of a box with n coordinates, which stand in the text from operand 3 on. */
#define MR_COPY_BOX(n, places, coordinates, ...) \
    MR_MEMBER void cp_async_bulk_tensor_##n##d_global_to_shared(void *to, const CUtensorMap *map, __VA_ARGS__, \
                                                                barrier<thread_scope_block> &b) \
    { \
        asm volatile("cp.async.bulk.tensor." #n \
                     "d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {" places "}], [%2];" \
                     : \
                     : "r"(mr::shared_place(to)), "l"(map), "r"(mr::shared_place(b)), coordinates \
                     : "memory"); \
    } \
    MR_MEMBER void cp_async_bulk_tensor_##n##d_shared_to_global(const CUtensorMap *map, __VA_ARGS__, const void *from) \
    { \
        asm volatile("cp.async.bulk.tensor." #n "d.global.shared::cta.tile.bulk_group [%1, {" places "}], [%0];" \
                     : \
                     : "r"(mr::shared_place(from)), "l"(map), "r"(0), coordinates \
                     : "memory"); \
    }
#define MR_AT_1 "r"(c0)
#define MR_AT_2 MR_AT_1, "r"(c1)
#define MR_AT_3 MR_AT_2, "r"(c2)
#define MR_AT_4 MR_AT_3, "r"(c3)
MR_COPY_BOX(1, "%3", MR_AT_1, int c0)
MR_COPY_BOX(2, "%3, %4", MR_AT_2, int c0, int c1)
MR_COPY_BOX(3, "%3, %4, %5", MR_AT_3, int c0, int c1, int c2)
MR_COPY_BOX(4, "%3, %4, %5, %6", MR_AT_4, int c0, int c1, int c2, int c3)
#define MR_AT_5 MR_AT_4, "r"(c4)
MR_COPY_BOX(5, "%3, %4, %5, %6, %7", MR_AT_5, int c0, int c1, int c2, int c3, int c4)
#undef MR_COPY_BOX
#undef MR_AT_1
#undef MR_AT_2
#undef MR_AT_3
#undef MR_AT_4
#undef MR_AT_5

/* What the thread wrote into shared memory is seen by its copies in bulk. */
MR_MEMBER void fence_proxy_async_shared_cta()
{
    asm volatile("fence.proxy.async.shared::cta;" : : : "memory");
}
MR_MEMBER void cp_async_bulk_commit_group()
{
    asm volatile("cp.async.bulk.commit_group;" : : : "memory");
}
/* Waits until all but the Left newest groups have read what they copy. */
template <int Left> MR_MEMBER void cp_async_bulk_wait_group_read()
{
    asm volatile("cp.async.bulk.wait_group.read %0;" : : "n"(Left) : "memory");
}

}   // namespace experimental

/* As memcpy_async(), but the phase waits only for bytes that it was told of, by one of the functions above. */
template <class T, size_t Alignment>
MR_MEMBER void memcpy_async_tx(T *to, const T *from, aligned_size_t<Alignment> size, barrier<thread_scope_block> &b)
{
    experimental::cp_async_bulk_global_to_shared(to, from, (unsigned)size.value, b);
}

}   // namespace device
}   // namespace cuda
