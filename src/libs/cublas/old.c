/* SPDX-License-Identifier: Apache-2.0 */
/* The old interface: the default handle, the error, memory, and vectors. */
#include "libs/cublas/old.h"

#include <stdatomic.h>

#include "libs/math/driver.h"

static _Atomic(cublasHandle_t) default_handle;
static _Atomic(cublasStatus_t) error;

/* Sets *handle to the default handle, which is made if there is none. */
static cublasStatus_t open_default(cublasHandle_t *handle)
{
    static const struct mr_form form = {"cublasInit", 'X', false};
    cublasHandle_t made, expected = NULL;
    *handle = atomic_load_explicit(&default_handle, memory_order_acquire);
    if (*handle)
        return CUBLAS_STATUS_SUCCESS;
    cublasStatus_t status = mr_cublas_Create(&form, &made);
    if (status != CUBLAS_STATUS_SUCCESS)
        return status;
    if (atomic_compare_exchange_strong(&default_handle, &expected, made)) {
        *handle = made;
        return CUBLAS_STATUS_SUCCESS;
    }
    *handle = expected; /* another thread was quicker */
    return mr_cublas_Destroy(&form, made);
}

cublasHandle_t mr_cublas_old_handle(void)
{
    cublasHandle_t handle;
    return open_default(&handle) == CUBLAS_STATUS_SUCCESS ? handle : NULL;
}

void mr_cublas_old_keep(cublasStatus_t status)
{
    atomic_store_explicit(&error, status, memory_order_relaxed);
}

cublasStatus_t mr_cublas_old_Init(const struct mr_form *form)
{
    (void)form;
    cublasHandle_t handle;
    return open_default(&handle);
}

/* A success where there is nothing to end, as on hardware. */
cublasStatus_t mr_cublas_old_Shutdown(const struct mr_form *form)
{
    cublasHandle_t handle = atomic_exchange(&default_handle, NULL);
    return handle ? mr_cublas_Destroy(form, handle) : CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t mr_cublas_old_GetError(const struct mr_form *form)
{
    (void)form;
    return atomic_exchange_explicit(&error, CUBLAS_STATUS_SUCCESS, memory_order_relaxed);
}

cublasStatus_t mr_cublas_old_GetVersion(const struct mr_form *form, int *version)
{
    return mr_cublas_GetVersion(form, NULL, version);
}

cublasStatus_t mr_cublas_old_Alloc(const struct mr_form *form, int64_t n, int64_t elemSize, void **devicePtr)
{
    MR_CHECK(form, devicePtr && n > 0 && elemSize > 0);
    CUdeviceptr memory;
    if (!mr_math_driver_open() || !mr_math_context(NULL))
        return CUBLAS_STATUS_NOT_INITIALIZED;
    if (mr_math_driver.cuMemAlloc_v2(&memory, (size_t)n * (size_t)elemSize) != CUDA_SUCCESS)
        return mr_cublas_bad(form, CUBLAS_STATUS_ALLOC_FAILED, "the device has no %lld elements of %lld bytes",
                             (long long)n, (long long)elemSize);
    *devicePtr = (void *)(uintptr_t)memory;
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t mr_cublas_old_Free(const struct mr_form *form, void *devicePtr)
{
    if (!mr_math_driver_open() || !mr_math_context(NULL))
        return CUBLAS_STATUS_NOT_INITIALIZED;
    if (mr_math_driver.cuMemFree_v2((CUdeviceptr)(uintptr_t)devicePtr) != CUDA_SUCCESS)
        return mr_cublas_bad(form, CUBLAS_STATUS_INTERNAL_ERROR, "%p is not memory that cublasAlloc gave", devicePtr);
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t mr_cublas_old_SetKernelStream(const struct mr_form *form, cudaStream_t stream)
{
    return mr_cublas_SetStream(form, mr_cublas_old_handle(), stream);
}

/* ---- vectors ---- */

void mr_cublas_old_nrm2(const struct mr_form *form, int64_t n, const void *x, int64_t incx, void *result)
{
    MR_OLD(nrm2, n, x, incx, result);
}

void mr_cublas_old_dot(const struct mr_form *form, int64_t n, const void *x, int64_t incx, const void *y, int64_t incy,
                       void *result)
{
    MR_OLD(dot, n, x, incx, y, incy, result);
}

void mr_cublas_old_dotu(const struct mr_form *form, int64_t n, const void *x, int64_t incx, const void *y, int64_t incy,
                        void *result)
{
    MR_OLD(dotu, n, x, incx, y, incy, result);
}

void mr_cublas_old_dotc(const struct mr_form *form, int64_t n, const void *x, int64_t incx, const void *y, int64_t incy,
                        void *result)
{
    MR_OLD(dotc, n, x, incx, y, incy, result);
}

void mr_cublas_old_scal(const struct mr_form *form, int64_t n, const void *alpha, void *x, int64_t incx)
{
    MR_OLD(scal, n, alpha, x, incx);
}

void mr_cublas_old_rscal(const struct mr_form *form, int64_t n, double alpha, void *x, int64_t incx)
{
    MR_OLD(rscal, n, MR_OLD_REAL(alpha), x, incx);
}

void mr_cublas_old_axpy(const struct mr_form *form, int64_t n, const void *alpha, const void *x, int64_t incx, void *y,
                        int64_t incy)
{
    MR_OLD(axpy, n, alpha, x, incx, y, incy);
}

void mr_cublas_old_copy(const struct mr_form *form, int64_t n, const void *x, int64_t incx, void *y, int64_t incy)
{
    MR_OLD(copy, n, x, incx, y, incy);
}

void mr_cublas_old_swap(const struct mr_form *form, int64_t n, void *x, int64_t incx, void *y, int64_t incy)
{
    MR_OLD(swap, n, x, incx, y, incy);
}

void mr_cublas_old_iamax(const struct mr_form *form, int64_t n, const void *x, int64_t incx, void *result)
{
    MR_OLD(iamax, n, x, incx, result);
}

void mr_cublas_old_iamin(const struct mr_form *form, int64_t n, const void *x, int64_t incx, void *result)
{
    MR_OLD(iamin, n, x, incx, result);
}

void mr_cublas_old_asum(const struct mr_form *form, int64_t n, const void *x, int64_t incx, void *result)
{
    MR_OLD(asum, n, x, incx, result);
}

void mr_cublas_old_rot(const struct mr_form *form, int64_t n, void *x, int64_t incx, void *y, int64_t incy, double c,
                       const void *s)
{
    MR_OLD(rot, n, x, incx, y, incy, MR_OLD_REAL(c), s);
}

void mr_cublas_old_rrot(const struct mr_form *form, int64_t n, void *x, int64_t incx, void *y, int64_t incy, double c,
                        double s)
{
    MR_OLD(rrot, n, x, incx, y, incy, MR_OLD_REAL(c), MR_OLD_REAL(s));
}

void mr_cublas_old_rotg(const struct mr_form *form, void *a, void *b, void *c, void *s)
{
    MR_OLD(rotg, a, b, c, s);
}

void mr_cublas_old_crotg(const struct mr_form *form, void *a, const void *b, void *c, void *s)
{
    MR_OLD(rotg, a, (void *)b, c, s);
}

void mr_cublas_old_rotm(const struct mr_form *form, int64_t n, void *x, int64_t incx, void *y, int64_t incy,
                        const void *param)
{
    MR_OLD(rotm, n, x, incx, y, incy, param);
}

void mr_cublas_old_rotmg(const struct mr_form *form, void *d1, void *d2, void *x1, const void *y1, void *param)
{
    MR_OLD(rotmg, d1, d2, x1, y1, param);
}
