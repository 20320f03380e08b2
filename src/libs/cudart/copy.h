/* SPDX-License-Identifier: Apache-2.0 */
/* Copies: from the runtime's descriptions to the driver's. */
#ifndef MR_CUDART_COPY_H
#define MR_CUDART_COPY_H

#include "libs/cudart/runtime.h"

/* Checks a direction. cudaErrorInvalidMemcpyDirection. */
cudaError_t mr_rt_kind_check(enum cudaMemcpyKind kind);

/* A box described as cudaMemcpy3DParms does, for the driver. Sizes of boxes with an array are counted in its elements.
 */
cudaError_t mr_rt_box(const struct cudaMemcpy3DParms *from, CUDA_MEMCPY3D *out);

/* And back. */
void mr_rt_box_back(const CUDA_MEMCPY3D *from, struct cudaMemcpy3DParms *out);

/* A copy of `count` bytes as a box, for graphs. */
cudaError_t mr_rt_line(void *dst, const void *src, size_t count, enum cudaMemcpyKind kind, CUDA_MEMCPY3D *out);

#endif
