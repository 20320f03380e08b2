/* SPDX-License-Identifier: Apache-2.0 */
/* Copies of vectors and matrices between the host and the device: the driver's copies of two dimensions. */
#include <string.h>

#include "libs/cublas/blas.h"
#include "libs/math/driver.h"

/* `rows` runs of `width` bytes, `pitch` bytes apart on each side. The driver tells host memory from the device's. */
static cublasStatus_t copy(const struct mr_form *form, size_t width, size_t rows, const void *from, size_t from_pitch,
                           void *to, size_t to_pitch, CUstream stream, bool async)
{
    if (!mr_math_driver_open() || !mr_math_context(NULL))
        return CUBLAS_STATUS_NOT_INITIALIZED;
    if (width == 0 || rows == 0)
        return CUBLAS_STATUS_SUCCESS;
    MR_CHECK(form, from && to);
    CUDA_MEMCPY2D params;
    memset(&params, 0, sizeof params);
    params.srcMemoryType = params.dstMemoryType = CU_MEMORYTYPE_UNIFIED;
    params.srcDevice = (CUdeviceptr)(uintptr_t)from;
    params.dstDevice = (CUdeviceptr)(uintptr_t)to;
    params.srcPitch = from_pitch;
    params.dstPitch = to_pitch;
    params.WidthInBytes = width;
    params.Height = rows;
    CUresult status =
        async ? mr_math_driver.cuMemcpy2DAsync_v2(&params, stream) : mr_math_driver.cuMemcpy2D_v2(&params);
    if (status == CUDA_SUCCESS || status == CUDA_ERROR_OUT_OF_MEMORY)
        return mr_cublas_status(form, status);
    return mr_cublas_bad(form, CUBLAS_STATUS_MAPPING_ERROR, "the driver's copy answers %d", (int)status);
}

static cublasStatus_t vector(const struct mr_form *form, int64_t n, int64_t size, const void *from, int64_t from_step,
                             void *to, int64_t to_step, CUstream stream, bool async)
{
    MR_CHECK(form, size > 0 && from_step > 0 && to_step > 0);
    if (n < 0)
        return mr_cublas_bad(form, CUBLAS_STATUS_MAPPING_ERROR, "n is %lld", (long long)n);
    if (from_step == 1 && to_step == 1) /* one run */
        return copy(form, (size_t)(n * size), 1, from, (size_t)(n * size), to, (size_t)(n * size), stream, async);
    return copy(form, (size_t)size, (size_t)n, from, (size_t)(from_step * size), to, (size_t)(to_step * size), stream,
                async);
}

static cublasStatus_t matrix(const struct mr_form *form, int64_t rows, int64_t columns, int64_t size, const void *from,
                             int64_t from_lead, void *to, int64_t to_lead, CUstream stream, bool async)
{
    MR_CHECK(form, rows >= 0 && columns >= 0);
    MR_CHECK(form, size > 0 && from_lead > 0 && to_lead > 0);
    if (from_lead < rows || to_lead < rows)
        return mr_cublas_bad(form, CUBLAS_STATUS_MAPPING_ERROR, "a leading dimension is less than %lld",
                             (long long)rows);
    return copy(form, (size_t)(rows * size), (size_t)columns, from, (size_t)(from_lead * size), to,
                (size_t)(to_lead * size), stream, async);
}

cublasStatus_t mr_cublas_SetVector(const struct mr_form *form, int64_t n, int64_t elemSize, const void *x, int64_t incx,
                                   void *devicePtr, int64_t incy)
{
    return vector(form, n, elemSize, x, incx, devicePtr, incy, NULL, false);
}

cublasStatus_t mr_cublas_GetVector(const struct mr_form *form, int64_t n, int64_t elemSize, const void *x, int64_t incx,
                                   void *y, int64_t incy)
{
    return vector(form, n, elemSize, x, incx, y, incy, NULL, false);
}

cublasStatus_t mr_cublas_SetMatrix(const struct mr_form *form, int64_t rows, int64_t cols, int64_t elemSize,
                                   const void *A, int64_t lda, void *B, int64_t ldb)
{
    return matrix(form, rows, cols, elemSize, A, lda, B, ldb, NULL, false);
}

cublasStatus_t mr_cublas_GetMatrix(const struct mr_form *form, int64_t rows, int64_t cols, int64_t elemSize,
                                   const void *A, int64_t lda, void *B, int64_t ldb)
{
    return matrix(form, rows, cols, elemSize, A, lda, B, ldb, NULL, false);
}

cublasStatus_t mr_cublas_SetVectorAsync(const struct mr_form *form, int64_t n, int64_t elemSize, const void *hostPtr,
                                        int64_t incx, void *devicePtr, int64_t incy, cudaStream_t stream)
{
    return vector(form, n, elemSize, hostPtr, incx, devicePtr, incy, stream, true);
}

cublasStatus_t mr_cublas_GetVectorAsync(const struct mr_form *form, int64_t n, int64_t elemSize, const void *devicePtr,
                                        int64_t incx, void *hostPtr, int64_t incy, cudaStream_t stream)
{
    return vector(form, n, elemSize, devicePtr, incx, hostPtr, incy, stream, true);
}

cublasStatus_t mr_cublas_SetMatrixAsync(const struct mr_form *form, int64_t rows, int64_t cols, int64_t elemSize,
                                        const void *A, int64_t lda, void *B, int64_t ldb, cudaStream_t stream)
{
    return matrix(form, rows, cols, elemSize, A, lda, B, ldb, stream, true);
}

cublasStatus_t mr_cublas_GetMatrixAsync(const struct mr_form *form, int64_t rows, int64_t cols, int64_t elemSize,
                                        const void *A, int64_t lda, void *B, int64_t ldb, cudaStream_t stream)
{
    return matrix(form, rows, cols, elemSize, A, lda, B, ldb, stream, true);
}
