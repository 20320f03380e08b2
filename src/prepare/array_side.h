/* SPDX-License-Identifier: Apache-2.0 */
/* Arrays as operands: handles looked up, parts of arrays as sides of copies. */
#ifndef MR_PREPARE_ARRAY_SIDE_H
#define MR_PREPARE_ARRAY_SIDE_H

#include <cuda.h>
#include <stddef.h>

#include "module/array.h"
#include "prepare/side.h"

/* The live array or mipmapped array behind a handle, with a reference: drop it. CUDA_ERROR_INVALID_HANDLE;
 * CUDA_ERROR_CONTEXT_IS_DESTROYED. */
CUresult mr_array_require(CUarray handle, struct mr_array **out) __attribute__((warn_unused_result));
CUresult mr_mipmap_require(CUmipmappedArray handle, struct mr_mipmap **out) __attribute__((warn_unused_result));

/* A box of an array as a side: `x` and `width` are bytes, whole elements or not. CUDA_ERROR_INVALID_VALUE if it leaves
 * the array, or for NULL. `role` is "source" or "destination", for the log. No reference is kept: a thread that frees
 * an array waits for its context's work first. */
CUresult mr_array_side(const char *role, CUarray handle, size_t x, size_t y, size_t z, size_t width, size_t height,
                       size_t depth, struct mr_side *out) __attribute__((warn_unused_result));

#endif
