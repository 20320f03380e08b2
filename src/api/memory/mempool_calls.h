/* SPDX-License-Identifier: Apache-2.0 */
/* What the files about memory pools share, and stream-ordered frees for the files about ordinary memory. */
#ifndef MR_API_MEMPOOL_CALLS_H
#define MR_API_MEMPOOL_CALLS_H

#include <cuda.h>
#include <stddef.h>
#include <stdint.h>

struct mr_allocation;
struct mr_mempool;
struct mr_stream;

/* The live pool behind a handle; CUDA_ERROR_INVALID_VALUE otherwise. */
CUresult mr_mempool_require(CUmemoryPool handle, struct mr_mempool **out) __attribute__((warn_unused_result));

/* Allocates in the order of the stream. The arguments were checked. */
CUresult mr_mempool_take(struct mr_stream *stream, struct mr_mempool *pool, size_t size, CUdeviceptr *out)
    __attribute__((warn_unused_result));

/* cuMemFree of memory of a pool: waits for all work on its device, then frees it. */
CUresult mr_mempool_free_now(CUdeviceptr address, const struct mr_allocation *found)
    __attribute__((warn_unused_result));

#endif
