/* SPDX-License-Identifier: Apache-2.0 */
/* Memory that allocation nodes of graphs give out (driver API manual, cuGraphAddMemAllocNode).
 *
 * The address is fixed when the node is made and stays the same in every run, so that other nodes can name it. Whether
 * there is an allocation behind it is another matter: it is live from the run of the allocation node until a free node,
 * cuMemFree or cuMemFreeAsync ends it. Pages are taken from the system when they are first touched, so an address that
 * was never live costs none.
 *
 * Within one graph memory may have several holders, one allocation node after the other: a later one behind a free node
 * by dependencies takes over the address if it is long enough (reuse.c). They have the record together; `holder` counts
 * them, and only the last one can still be freed by a node.
 *
 * A record is counted: by the works of the allocation node and of free nodes, which clones and executable graphs share,
 * and by the allocation itself while it is live, so that memory outlives the graph that made it.
 *
 * Sums per device answer cuDeviceGetGraphMemAttribute: they count what has been live since the last trim.
 * Every function may be called from any thread. */
#ifndef MR_GRAPH_GRAPH_MEMORY_H
#define MR_GRAPH_GRAPH_MEMORY_H

#include <cuda.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/list.h"

struct mr_context;
struct mr_device;

struct mr_graph_memory {
    _Atomic uint32_t references;
    struct mr_context *context;        /* counted */
    uintptr_t address;
    size_t room;                       /* bytes that a holder may ask for */
    size_t size; /* bytes of the holder that has it, or had it last, live; under the table's lock */
    size_t most; /* bytes of the largest holder so far: nodes may name as many; under the table's lock */
    uint32_t holder; /* how many holders there were before the last one; under the table's lock */
    size_t pages; /* what is accounted */
    struct mr_list link; /* in the table of all */
    uint64_t id; /* the memory layer's name of it */
    _Atomic unsigned users; /* launches and frees that streams have yet to come to: a trim leaves the pages */
    bool live; /* under the table's lock, as what follows */
    bool reserved; /* counted in the device's reserved sum */
    uint64_t owner; /* handle of the graph that has the allocation node */
    unsigned freed_by_owner, freed_by_other; /* free nodes made so far in that graph and in others */
};

/* Reserves an address with one reference. CUDA_ERROR_OUT_OF_MEMORY; CUDA_ERROR_INVALID_VALUE for 0 bytes. */
CUresult mr_graph_memory_new(struct mr_context *context, size_t size, struct mr_graph_memory **out)
    __attribute__((warn_unused_result));
void mr_graph_memory_hold(struct mr_graph_memory *memory);
void mr_graph_memory_drop(struct mr_graph_memory *memory);

/* The memory that starts at an address, held for the caller; NULL if no allocation node gave it out. */
struct mr_graph_memory *mr_graph_memory_find(CUdeviceptr address) __attribute__((warn_unused_result));

/* Counts the memory as the device's, as a run would. */
void mr_graph_memory_reserve(struct mr_graph_memory *memory);

/* A run allocates `size` bytes, or as many as last if that is 0: false if it is live already. A run, or the program,
 * frees: false if it is not live. */
bool mr_graph_memory_begin(struct mr_graph_memory *memory, size_t size) __attribute__((warn_unused_result));
bool mr_graph_memory_end(struct mr_graph_memory *memory) __attribute__((warn_unused_result));

/* What is queued will use the memory (1), or has come to its end (-1): the pages stay meanwhile, though the memory may
 * be freed already. */
void mr_graph_memory_use(struct mr_graph_memory *memory, int by);

/* A graph gets a free node for the memory: false if that may not be, since it has one already, or since owner and
 * others would both free it. A claim is for good once there is a node; mr_graph_memory_unclaim is for a node that could
 * not be added. */
bool mr_graph_memory_claim(struct mr_graph_memory *memory, uint64_t graph, uint32_t *holder)
    __attribute__((warn_unused_result));
void mr_graph_memory_unclaim(struct mr_graph_memory *memory, uint64_t graph);

struct mr_graph;

/* Memory that the graph has freed before a node behind those `behind`, for that node to hold `size` bytes: with a
 * reference; NULL if there is none. */
struct mr_graph_memory *mr_graph_memory_reuse(struct mr_graph *graph, const CUgraphNode *behind, size_t count,
                                              struct mr_context *context, size_t size)
    __attribute__((warn_unused_result));

/* For reuse.c: can the memory go from that holder, which a node of the graph `owner` frees, to another one? And make it
 * so; false if it has gone already. */
bool mr_graph_memory_may_pass(const struct mr_graph_memory *memory, uint32_t holder, uint64_t owner,
                              const struct mr_context *context, size_t size);
bool mr_graph_memory_pass(struct mr_graph_memory *memory, uint32_t holder, size_t size)
    __attribute__((warn_unused_result));

/* Gives pages of memory that is not live back to the system. */
void mr_graph_memory_trim(struct mr_device *device);

/* CU_GRAPH_MEM_ATTR_*: the sum, and setting a high watermark to 0 (the caller has checked that it is one).
 * CUDA_ERROR_INVALID_VALUE for an unknown attribute. */
CUresult mr_graph_memory_attribute(struct mr_device *device, CUgraphMem_attribute attribute, uint64_t *value)
    __attribute__((warn_unused_result));
void mr_graph_memory_reset_high(struct mr_device *device, CUgraphMem_attribute attribute);

#endif
