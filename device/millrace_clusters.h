/* SPDX-License-Identifier: Apache-2.0 */
/* Clusters of blocks, as the toolkit's sm_90_rt.h names what kernels ask about them; cooperative_groups.h has the rest. Millrace's driver has clusters of
 * one block. From compute capability 9.0 on. */
#ifndef MILLRACE_CLUSTERS_H
#define MILLRACE_CLUSTERS_H

#define MR_CLUSTER_REGISTER(name, text) \
    MR_DEVICE unsigned int name() { unsigned int value; asm("mov.u32 %0, %%" text ";" : "=r"(value)); return value; }
MR_CLUSTER_REGISTER(mr_cluster_block_x, "cluster_ctaid.x")
MR_CLUSTER_REGISTER(mr_cluster_block_y, "cluster_ctaid.y")
MR_CLUSTER_REGISTER(mr_cluster_block_z, "cluster_ctaid.z")
MR_CLUSTER_REGISTER(mr_cluster_blocks_x, "cluster_nctaid.x")
MR_CLUSTER_REGISTER(mr_cluster_blocks_y, "cluster_nctaid.y")
MR_CLUSTER_REGISTER(mr_cluster_blocks_z, "cluster_nctaid.z")
MR_CLUSTER_REGISTER(mr_cluster_x, "clusterid.x")
MR_CLUSTER_REGISTER(mr_cluster_y, "clusterid.y")
MR_CLUSTER_REGISTER(mr_cluster_z, "clusterid.z")
MR_CLUSTER_REGISTER(mr_clusters_x, "nclusterid.x")
MR_CLUSTER_REGISTER(mr_clusters_y, "nclusterid.y")
MR_CLUSTER_REGISTER(mr_clusters_z, "nclusterid.z")
MR_CLUSTER_REGISTER(__clusterRelativeBlockRank, "cluster_ctarank")
MR_CLUSTER_REGISTER(__clusterSizeInBlocks, "cluster_nctarank")
#undef MR_CLUSTER_REGISTER

MR_DEVICE dim3 __clusterDim() { return dim3(mr_cluster_blocks_x(), mr_cluster_blocks_y(), mr_cluster_blocks_z()); }
MR_DEVICE dim3 __clusterRelativeBlockIdx() { return dim3(mr_cluster_block_x(), mr_cluster_block_y(), mr_cluster_block_z()); }
MR_DEVICE dim3 __clusterIdx() { return dim3(mr_cluster_x(), mr_cluster_y(), mr_cluster_z()); }
MR_DEVICE dim3 __clusterGridDimInClusters() { return dim3(mr_clusters_x(), mr_clusters_y(), mr_clusters_z()); }
MR_DEVICE unsigned int __clusterDimIsSpecified()
{
    unsigned int value;
    asm("{ .reg .pred p; mov.pred p, %%is_explicit_cluster; selp.u32 %0, 1, 0, p; }" : "=r"(value));
    return value;
}

MR_DEVICE void __cluster_barrier_arrive() { asm volatile("barrier.cluster.arrive;" ::: "memory"); }
MR_DEVICE void __cluster_barrier_arrive_relaxed() { asm volatile("barrier.cluster.arrive.relaxed;" ::: "memory"); }
MR_DEVICE void __cluster_barrier_wait() { asm volatile("barrier.cluster.wait;" ::: "memory"); }
MR_DEVICE void __threadfence_cluster() { asm volatile("fence.sc.cluster;" ::: "memory"); }

/* The block in whose shared memory the address is, the same place in another block's, and the place in all blocks of a mask. */
MR_DEVICE unsigned int __cluster_query_shared_rank(const void *address)
{
    unsigned int rank;
    asm("getctarank.u64 %0, %1;" : "=r"(rank) : "l"(address));
    return rank;
}
MR_DEVICE void *__cluster_map_shared_rank(const void *address, unsigned int rank)
{
    void *there;
    asm("mapa.u64 %0, %1, %2;" : "=l"(there) : "l"(address), "r"(rank));
    return there;
}
MR_DEVICE uint2 __cluster_map_shared_multicast(const void *address, unsigned int mask)
{
    return make_uint2((unsigned int)__cvta_generic_to_shared(address), mask);
}
MR_DEVICE unsigned int __isCtaShared(const void *address) { return __isShared(address); }
MR_DEVICE unsigned int __isClusterShared(const void *address)
{
    unsigned int value;
    asm("{ .reg .pred p; isspacep.shared::cluster p, %1; selp.u32 %0, 1, 0, p; }" : "=r"(value) : "l"(address));
    return value;
}

#endif
