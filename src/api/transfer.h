/* SPDX-License-Identifier: Apache-2.0 */
/* The one way from a copy or fill entry point to a command in a stream.
 *
 * Every form (linear, two- and three-dimensional, peer, batched; synchronous or not) describes its operands as sides and ends in
 * mr_transfer_copy or mr_transfer_fill, which check the ranges, decide what the calling thread has to wait for, and submit.
 * (Driver API manual, "API synchronization behavior".) */
#ifndef MR_API_TRANSFER_H
#define MR_API_TRANSFER_H

#include <cuda.h>
#include <stddef.h>
#include <stdint.h>

/* What the program says an address is. The addresses are unified, so this only tells whether pageable memory is allowed. */
enum mr_side_kind { MR_SIDE_HOST, MR_SIDE_DEVICE, MR_SIDE_UNIFIED };

/* One operand: the address of its first byte, and the distances in bytes between rows and between slices. */
struct mr_side {
    uintptr_t address;
    enum mr_side_kind kind;
    size_t pitch, slice;
};

/* How the call stands to the calling thread. */
enum mr_transfer_mode {
    MR_TRANSFER_SYNC,         /* complete on return, but for copies within device memory */
    MR_TRANSFER_ASYNC,        /* on return, pageable sources have been read and pageable destinations written */
    MR_TRANSFER_STREAM_ORDER, /* pageable memory too is used in stream order: the program promised to leave it alone */
};

/* Copies `depth` slices of `height` rows of `width` bytes. Nothing to do is a success once context and stream are known to be good.
 * CUDA_ERROR_INVALID_VALUE for a null operand, a range that wraps or leaves its allocation, and pageable memory where device memory
 * belongs; the log says which. */
CUresult mr_transfer_copy(const struct mr_side *to, const struct mr_side *from, size_t width, size_t height,
    size_t depth, CUstream stream, enum mr_transfer_mode mode);

/* Fills `height` rows of `width` elements of `element` bytes. */
CUresult mr_transfer_fill(CUdeviceptr address, size_t pitch, uint32_t value, unsigned element, size_t width,
    size_t height, CUstream stream, enum mr_transfer_mode mode);

struct mr_copy;
struct mr_fill;

/* The checks of mr_transfer_copy and mr_transfer_fill alone: fill in what a run executes, on `device`. A copy of nothing has a width of 0.
 * For graphs. */
CUresult mr_transfer_copy_check(int device, const struct mr_side *to, const struct mr_side *from, size_t width, size_t height,
    size_t depth, struct mr_copy *out) __attribute__((warn_unused_result));
CUresult mr_transfer_fill_check(int device, CUdeviceptr address, size_t pitch, uint32_t value, unsigned element,
    size_t width, size_t height, struct mr_fill *out) __attribute__((warn_unused_result));

/* A copy that a descriptor tells, between memory and arrays, in the current context; for all but its last parameters as mr_transfer_copy.
 * CUDA_ERROR_INVALID_HANDLE for an array that is none. */
CUresult mr_transfer_box(const CUDA_MEMCPY3D *box, CUstream stream, enum mr_transfer_mode mode);

/* The sides of a box, with the checks of its shape. */
CUresult mr_transfer_box_sides(const CUDA_MEMCPY3D *box, struct mr_side *to, struct mr_side *from)
    __attribute__((warn_unused_result));

/* Copies between contexts can't be captured, on hardware: CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED if the stream is, and its capture is invalidated.
 * Anything else that is wrong with the stream is left to be found later. */
CUresult mr_transfer_refuse_captured(CUstream stream) __attribute__((warn_unused_result));

/* The context a peer copy names: CUDA_ERROR_INVALID_CONTEXT unless it is a live one, or NULL, which hardware takes as the current one. */
CUresult mr_transfer_check_context(CUcontext context);

#endif
