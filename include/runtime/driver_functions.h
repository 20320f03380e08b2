/* SPDX-License-Identifier: Apache-2.0 */
/* make_cudaExtent and its like. */
#ifndef MILLRACE_DRIVER_FUNCTIONS_H
#define MILLRACE_DRIVER_FUNCTIONS_H

#include "driver_types.h"

static inline MR_VECTOR_BOTH struct cudaPitchedPtr make_cudaPitchedPtr(void *d, size_t p, size_t xsz, size_t ysz)
{
    struct cudaPitchedPtr v = { d, p, xsz, ysz };
    return v;
}

static inline MR_VECTOR_BOTH struct cudaPos make_cudaPos(size_t x, size_t y, size_t z)
{
    struct cudaPos v = { x, y, z };
    return v;
}

static inline MR_VECTOR_BOTH struct cudaExtent make_cudaExtent(size_t w, size_t h, size_t d)
{
    struct cudaExtent v = { w, h, d };
    return v;
}

#endif
