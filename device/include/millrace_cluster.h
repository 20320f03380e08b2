/* SPDX-License-Identifier: Apache-2.0 */
/* Part of cooperative_groups.h: clusters of blocks, from compute capability 9.0 on. Millrace's driver has clusters of one block. */
#ifndef MILLRACE_CLUSTER_H
#define MILLRACE_CLUSTER_H

namespace cooperative_groups {

#define MR_CLUSTER_REGISTER(name, text) \
    MR_DEVICE unsigned int name() { unsigned int value; asm("mov.u32 %0, %%" text ";" : "=r"(value)); return value; }
MR_CLUSTER_REGISTER(mr_cluster_block_x, "cluster_ctaid.x")
MR_CLUSTER_REGISTER(mr_cluster_block_y, "cluster_ctaid.y")
MR_CLUSTER_REGISTER(mr_cluster_block_z, "cluster_ctaid.z")
MR_CLUSTER_REGISTER(mr_cluster_blocks_x, "cluster_nctaid.x")
MR_CLUSTER_REGISTER(mr_cluster_blocks_y, "cluster_nctaid.y")
MR_CLUSTER_REGISTER(mr_cluster_blocks_z, "cluster_nctaid.z")
MR_CLUSTER_REGISTER(mr_cluster_block_rank, "cluster_ctarank")
MR_CLUSTER_REGISTER(mr_cluster_blocks, "cluster_nctarank")
MR_CLUSTER_REGISTER(mr_cluster_x, "clusterid.x")
MR_CLUSTER_REGISTER(mr_cluster_y, "clusterid.y")
MR_CLUSTER_REGISTER(mr_cluster_z, "clusterid.z")
MR_CLUSTER_REGISTER(mr_clusters_x, "nclusterid.x")
MR_CLUSTER_REGISTER(mr_clusters_y, "nclusterid.y")
MR_CLUSTER_REGISTER(mr_clusters_z, "nclusterid.z")
#undef MR_CLUSTER_REGISTER

struct cluster_group {
    struct arrival_token {};
    MR_MEMBER static arrival_token barrier_arrive()
    {
        asm volatile("barrier.cluster.arrive;" ::: "memory");
        return {};
    }
    MR_MEMBER static void barrier_wait() { asm volatile("barrier.cluster.wait;" ::: "memory"); }
    MR_MEMBER static void barrier_wait(arrival_token &&) { barrier_wait(); }
    MR_MEMBER static void sync() { barrier_wait(barrier_arrive()); }
    /* The block in whose shared memory the address is; and the same place in another block's. */
    MR_MEMBER static unsigned int query_shared_rank(const void *address)
    {
        unsigned int rank;
        asm("getctarank.u64 %0, %1;" : "=r"(rank) : "l"(address));
        return rank;
    }
    template <class T> MR_MEMBER static T *map_shared_rank(T *address, int rank)
    {
        T *there;
        asm("mapa.u64 %0, %1, %2;" : "=l"(there) : "l"(address), "r"(rank));
        return there;
    }
    MR_MEMBER static dim3 block_index() { return dim3(mr_cluster_block_x(), mr_cluster_block_y(), mr_cluster_block_z()); }
    MR_MEMBER static unsigned int block_rank() { return mr_cluster_block_rank(); }
    MR_MEMBER static dim3 dim_blocks() { return dim3(mr_cluster_blocks_x(), mr_cluster_blocks_y(), mr_cluster_blocks_z()); }
    MR_MEMBER static unsigned int num_blocks() { return mr_cluster_blocks(); }
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

}   // namespace cooperative_groups
#endif
