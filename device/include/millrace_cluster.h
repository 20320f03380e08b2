/* SPDX-License-Identifier: Apache-2.0 */
/* Part of cooperative_groups.h: clusters of blocks, from compute capability 9.0 on. Millrace's driver has clusters of one block. */
#ifndef MILLRACE_CLUSTER_H
#define MILLRACE_CLUSTER_H

namespace cooperative_groups { namespace __v1 {

struct cluster_group {
    struct arrival_token {};
    MR_MEMBER static arrival_token barrier_arrive()
    {
        __cluster_barrier_arrive();
        return {};
    }
    MR_MEMBER static void barrier_wait() { __cluster_barrier_wait(); }
    MR_MEMBER static void barrier_wait(arrival_token &&) { barrier_wait(); }
    MR_MEMBER static void sync() { barrier_wait(barrier_arrive()); }
    /* The block in whose shared memory the address is; and the same place in another block's. */
    MR_MEMBER static unsigned int query_shared_rank(const void *address) { return __cluster_query_shared_rank(address); }
    template <class T> MR_MEMBER static T *map_shared_rank(T *address, int rank)
    {
        return (T *)__cluster_map_shared_rank((const void *)address, (unsigned int)rank);
    }
    MR_MEMBER static dim3 block_index() { return __clusterRelativeBlockIdx(); }
    MR_MEMBER static unsigned int block_rank() { return __clusterRelativeBlockRank(); }
    MR_MEMBER static dim3 dim_blocks() { return __clusterDim(); }
    MR_MEMBER static unsigned int num_blocks() { return __clusterSizeInBlocks(); }
    MR_MEMBER static dim3 thread_index()
    {
        return dim3(mr_cluster_block_x() * blockDim.x + threadIdx.x, mr_cluster_block_y() * blockDim.y + threadIdx.y, mr_cluster_block_z() * blockDim.z + threadIdx.z);
    }
    MR_MEMBER static unsigned int thread_rank() { return block_rank() * mr_block_size() + mr_block_rank(); }
    MR_MEMBER static dim3 dim_threads() { return dim3(mr_cluster_blocks_x() * blockDim.x, mr_cluster_blocks_y() * blockDim.y, mr_cluster_blocks_z() * blockDim.z); }
    MR_MEMBER static unsigned int num_threads() { return num_blocks() * mr_block_size(); }
    MR_MEMBER static unsigned int size() { return num_threads(); }
};
MR_DEVICE cluster_group this_cluster() { return {}; }

} using namespace __v1; }   // namespace cooperative_groups
#endif
