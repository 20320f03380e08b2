/* SPDX-License-Identifier: Apache-2.0 */
/* The one way from a copy or fill entry point to a command in a stream.
 *
 * Every form (linear, two- and three-dimensional, peer, batched; synchronous or not) describes its operands as sides
 * and ends in mr_transfer_copy or mr_transfer_fill, which check the ranges, decide what the calling thread has to wait
 * for, and submit. (Driver API manual, "API synchronization behavior".) */
#ifndef MR_API_TRANSFER_H
#define MR_API_TRANSFER_H

#include <cuda.h>
#include <stddef.h>
#include <stdint.h>

#include "prepare/side.h"

/* How the call stands to the calling thread. */
enum mr_transfer_mode {
    MR_TRANSFER_SYNC,         /* complete on return, except for copies within device memory */
    MR_TRANSFER_ASYNC,        /* on return, pageable sources have been read and pageable destinations written */
    MR_TRANSFER_STREAM_ORDER, /* pageable memory too is used in stream order: the program promised to leave it alone */
};

/* Copies `depth` slices of `height` rows of `width` bytes. Nothing to do is a success once context and stream are known
 * to be good. CUDA_ERROR_INVALID_VALUE for a null operand, a range that wraps or leaves its allocation, and pageable
 * memory where device memory belongs; the log says which. */
CUresult mr_transfer_copy(const struct mr_side *to, const struct mr_side *from, size_t width, size_t height,
                          size_t depth, CUstream stream, enum mr_transfer_mode mode);

/* Fills `height` rows of `width` elements of `element` bytes. */
CUresult mr_transfer_fill(CUdeviceptr address, size_t pitch, uint32_t value, unsigned element, size_t width,
                          size_t height, CUstream stream, enum mr_transfer_mode mode);

/* A copy that a descriptor tells, between memory and arrays, in the current context; for all but its last parameters as
 * mr_transfer_copy. CUDA_ERROR_INVALID_HANDLE for a value that is no array's handle. */
CUresult mr_transfer_box(const CUDA_MEMCPY3D *box, CUstream stream, enum mr_transfer_mode mode);

/* The same between the devices that the sides of the box belong to, as `by` of mr_side has them. */
CUresult mr_transfer_box_between(const CUDA_MEMCPY3D *box, int to, int from, CUstream stream,
                                 enum mr_transfer_mode mode);

/* Copies between contexts can't be captured, on hardware: CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED if the stream is, and
 * its capture is invalidated. Anything else that is wrong with the stream is left to be found later. */
CUresult mr_transfer_refuse_captured(CUstream stream) __attribute__((warn_unused_result));

/* The context that a peer copy names, as `by` of mr_side: CUDA_ERROR_INVALID_CONTEXT unless it is a live one, or NULL,
 * which hardware takes as the current one. */
CUresult mr_transfer_peer(CUcontext context, int *by);

#endif
