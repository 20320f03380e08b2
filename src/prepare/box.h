/* SPDX-License-Identifier: Apache-2.0 */
/* The descriptor of a two- or three-dimensional copy, as the sides of a copy. */
#ifndef MR_PREPARE_BOX_H
#define MR_PREPARE_BOX_H

#include <cuda.h>

#include "prepare/side.h"

/* The sides of a box, with the checks of its shape: CUDA_ERROR_INVALID_VALUE; CUDA_ERROR_INVALID_HANDLE for a value
 * that is no array's handle. */
CUresult mr_box_sides(const CUDA_MEMCPY3D *box, struct mr_side *to, struct mr_side *from)
    __attribute__((warn_unused_result));

#endif
