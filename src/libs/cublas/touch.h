/* SPDX-License-Identifier: Apache-2.0 */
/* The words of spec/math for cuBLAS. Bodies of other functions tell themselves, where sizes alone don't say it. */
#ifndef MR_CUBLAS_TOUCH_H
#define MR_CUBLAS_TOUCH_H

#include "libs/cublas/blas.h"
#include "libs/math/handles.h"
#include "libs/math/touch.h"

/* n elements of a vector of BLAS. */
#define mr_touch_vector(function, how, at, n, increment) \
    (void)mr_tell_vector(function, at, n, increment, sizeof *(at), how)

/* What lies in device memory only if the handle's pointer mode says so. */
#define mr_touch_one(function, how, handle, at) mr_touch_number(function, how, handle, at, sizeof *(at))
static inline void mr_touch_number(const char *function, unsigned how, cublasHandle_t handle, const void *at,
                                   size_t size)
{
    const struct mr_cublas *blas = mr_math_handle_find(handle);
    if (blas && mr_cublas_on_device(blas))
        (void)mr_tell_rows(function, at, size, 1, 0, how);
}

#endif
