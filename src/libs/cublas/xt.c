/* SPDX-License-Identifier: Apache-2.0 */
/* cublasXt: level 3 with matrices in the host's memory or any device's. A call returns when its result is there.
 *
 * On hardware the work is cut into tiles, which travel to the devices that a program selects. Here memory of the host
 * and of all devices is the processor's, and all devices share it: the first selected one's context gets the work as a
 * whole, by the body of cuBLAS's function of the same name, through a cuBLAS handle of the Xt handle's own. The tiles'
 * size, pinning, and what share of the work a routine of the program's own should do, are kept and not needed. */
#include <stdlib.h>
#include <string.h>

#include "libs/cublas/blas.h"
#include "libs/math/driver.h"
#include "libs/math/handles.h"

#define BLOCK_DIM 1024 /* at first */
#define MATRIX_ORDER 1048576 /* beyond it a packed matrix has more elements than memory has bytes */

struct xt {
    cublasHandle_t blas; /* NULL until devices are selected */
    CUdevice device; /* the first selected one: its primary context is retained */
    CUcontext context;
    int block_dim;
    cublasXtPinnedMemMode_t pinning;
    void *routines[CUBLASXT_ROUTINE_MAX][CUBLASXT_DOUBLECOMPLEX + 1];
    float ratios[CUBLASXT_ROUTINE_MAX][CUBLASXT_DOUBLECOMPLEX + 1];
};

static cublasStatus_t enter(const struct mr_form *form, cublasXtHandle_t handle, struct xt **xt)
{
    *xt = mr_math_handle_find(handle);
    return *xt ? CUBLAS_STATUS_SUCCESS
               : mr_cublas_bad(form, CUBLAS_STATUS_INVALID_VALUE, "%p is not a live handle", (void *)handle);
}

#define ENTER(condition) \
    struct xt *xt; \
    cublasStatus_t entered = enter(form, handle, &xt); \
    if (entered != CUBLAS_STATUS_SUCCESS) \
        return entered; \
    MR_CHECK(form, condition)

/* ---- handles and devices ---- */

cublasStatus_t mr_cublas_XtCreate(const struct mr_form *form, cublasXtHandle_t *handle)
{
    MR_CHECK(form, handle);
    if (!mr_math_driver_open() || !mr_cpu_open())
        return CUBLAS_STATUS_NOT_INITIALIZED;
    struct xt *xt = calloc(1, sizeof *xt);
    if (!xt)
        return CUBLAS_STATUS_ALLOC_FAILED;
    xt->block_dim = BLOCK_DIM;
    *handle = mr_math_handle_new(xt);
    if (*handle)
        return CUBLAS_STATUS_SUCCESS;
    free(xt);
    return mr_cublas_bad(form, CUBLAS_STATUS_ALLOC_FAILED, "there are %u handles already", MR_MATH_HANDLES);
}

cublasStatus_t mr_cublas_XtDestroy(const struct mr_form *form, cublasXtHandle_t handle)
{
    struct xt *xt = mr_math_handle_end(handle);
    if (!xt)
        return mr_cublas_bad(form, CUBLAS_STATUS_INVALID_VALUE, "%p is not a live handle", (void *)handle);
    if (xt->blas) {
        (void)mr_cublas_Destroy(form, xt->blas);
        (void)mr_math_driver.cuDevicePrimaryCtxRelease_v2(xt->device);
    }
    free(xt);
    return CUBLAS_STATUS_SUCCESS;
}

/* How many devices there are; 0 if the driver can't tell. */
static int devices(void)
{
    int count = 0;
    if (!mr_math_driver_open() || mr_math_driver.cuDeviceGetCount(&count) != CUDA_SUCCESS)
        return 0;
    return count;
}

/* Each device is a board of its own. */
cublasStatus_t mr_cublas_XtGetNumBoards(const struct mr_form *form, int64_t nbDevices, int deviceId[], int *nbBoards)
{
    MR_CHECK(form, nbDevices >= 0 && deviceId && nbBoards);
    int count = devices(), boards = 0;
    for (int64_t i = 0; i < nbDevices; i++) {
        MR_CHECK(form, deviceId[i] >= 0 && deviceId[i] < count);
        bool again = false;
        for (int64_t j = 0; j < i; j++)
            again |= deviceId[j] == deviceId[i];
        boards += !again;
    }
    *nbBoards = boards;
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t mr_cublas_XtMaxBoards(const struct mr_form *form, int *nbGpuBoards)
{
    MR_CHECK(form, nbGpuBoards);
    *nbGpuBoards = devices();
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t mr_cublas_XtDeviceSelect(const struct mr_form *form, cublasXtHandle_t handle, int64_t nbDevices,
                                        int deviceId[])
{
    ENTER(nbDevices > 0 && deviceId && !xt->blas);
    int count = devices();
    for (int64_t i = 0; i < nbDevices; i++)
        if (deviceId[i] < 0 || deviceId[i] >= count)
            return mr_cublas_bad(form, CUBLAS_STATUS_INTERNAL_ERROR, "there is no device %d", deviceId[i]);
    CUdevice device;
    CUcontext context, mine;
    cublasHandle_t blas;
    if (mr_math_driver.cuDeviceGet(&device, deviceId[0]) != CUDA_SUCCESS ||
        mr_math_driver.cuDevicePrimaryCtxRetain(&context, device) != CUDA_SUCCESS)
        return mr_cublas_bad(form, CUBLAS_STATUS_ALLOC_FAILED, "device %d has no context", deviceId[0]);
    cublasStatus_t status = CUBLAS_STATUS_NOT_INITIALIZED;
    if (mr_math_driver.cuCtxPushCurrent_v2(context) == CUDA_SUCCESS) {
        status = mr_cublas_Create(form, &blas);
        (void)mr_math_driver.cuCtxPopCurrent_v2(&mine);
    }
    if (status != CUBLAS_STATUS_SUCCESS) {
        (void)mr_math_driver.cuDevicePrimaryCtxRelease_v2(device);
        return status;
    }
    xt->blas = blas;
    xt->device = device;
    xt->context = context;
    return CUBLAS_STATUS_SUCCESS;
}

/* ---- settings ---- */

cublasStatus_t mr_cublas_XtSetBlockDim(const struct mr_form *form, cublasXtHandle_t handle, int64_t blockDim)
{
    ENTER(blockDim > 0);
    xt->block_dim = (int)blockDim;
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t mr_cublas_XtGetBlockDim(const struct mr_form *form, cublasXtHandle_t handle, int *blockDim)
{
    ENTER(blockDim);
    *blockDim = xt->block_dim;
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t mr_cublas_XtGetPinningMemMode(const struct mr_form *form, cublasXtHandle_t handle,
                                             cublasXtPinnedMemMode_t *mode)
{
    ENTER(mode);
    *mode = xt->pinning;
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t mr_cublas_XtSetPinningMemMode(const struct mr_form *form, cublasXtHandle_t handle,
                                             cublasXtPinnedMemMode_t mode)
{
    ENTER(mode == CUBLASXT_PINNING_DISABLED || mode == CUBLASXT_PINNING_ENABLED);
    xt->pinning = mode;
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t mr_cublas_XtSetCpuRoutine(const struct mr_form *form, cublasXtHandle_t handle, cublasXtBlasOp_t blasOp,
                                         cublasXtOpType_t type, void *blasFunctor)
{
    ENTER(blasOp < CUBLASXT_ROUTINE_MAX && type <= CUBLASXT_DOUBLECOMPLEX);
    xt->routines[blasOp][type] = blasFunctor;
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t mr_cublas_XtSetCpuRatio(const struct mr_form *form, cublasXtHandle_t handle, cublasXtBlasOp_t blasOp,
                                       cublasXtOpType_t type, float ratio)
{
    ENTER(blasOp < CUBLASXT_ROUTINE_MAX && type <= CUBLASXT_DOUBLECOMPLEX);
    if (blasOp != CUBLASXT_GEMM)
        return mr_cublas_bad(form, CUBLAS_STATUS_NOT_SUPPORTED, "only products are shared with the processor");
    xt->ratios[blasOp][type] = ratio;
    return CUBLAS_STATUS_SUCCESS;
}

/* ---- the work ---- */

/* Makes the handle's context current until finish. */
static cublasStatus_t start(const struct mr_form *form, cublasXtHandle_t handle, struct xt **xt)
{
    cublasStatus_t status = enter(form, handle, xt);
    if (!*xt)
        return status;
    if (!(*xt)->blas)
        return mr_cublas_bad(form, CUBLAS_STATUS_NOT_INITIALIZED, "no device is selected: call cublasXtDeviceSelect");
    if (mr_math_driver.cuCtxPushCurrent_v2((*xt)->context) != CUDA_SUCCESS)
        return mr_cublas_bad(form, CUBLAS_STATUS_NOT_INITIALIZED, "the device's context is gone");
    return CUBLAS_STATUS_SUCCESS;
}

/* Waits for the work if it was taken. */
static cublasStatus_t finish(const struct mr_form *form, cublasStatus_t status)
{
    CUcontext context;
    if (status == CUBLAS_STATUS_SUCCESS)
        status = mr_cublas_status(form, mr_math_driver.cuStreamSynchronize(NULL));
    (void)mr_math_driver.cuCtxPopCurrent_v2(&context);
    return status;
}

/* Sizes beyond 63 bits are beyond 31 as well: the bodies refuse them. */
static int64_t size_of(size_t size)
{
    return size > INT64_MAX ? INT64_MAX : (int64_t)size;
}

/* Calls cuBLAS's body of the same name. */
#define CALL(name, ...) \
    do { \
        struct xt *xt; \
        cublasStatus_t started = start(form, handle, &xt); \
        return started != CUBLAS_STATUS_SUCCESS ? started \
                                                : finish(form, mr_cublas_##name(form, xt->blas, __VA_ARGS__)); \
    } while (0)

cublasStatus_t mr_cublas_Xtgemm(const struct mr_form *form, cublasXtHandle_t handle, cublasOperation_t transa,
                                cublasOperation_t transb, size_t m, size_t n, size_t k, const void *alpha,
                                const void *A, size_t lda, const void *B, size_t ldb, const void *beta, void *C,
                                size_t ldc)
{
    CALL(gemm, transa, transb, size_of(m), size_of(n), size_of(k), alpha, A, size_of(lda), B, size_of(ldb), beta, C,
         size_of(ldc));
}

/* Functions of one shape. */
#define RANK(name) \
    cublasStatus_t mr_cublas_Xt##name(const struct mr_form *form, cublasXtHandle_t handle, cublasFillMode_t uplo, \
                                      cublasOperation_t trans, size_t n, size_t k, const void *alpha, const void *A, \
                                      size_t lda, const void *beta, void *C, size_t ldc) \
    { \
        CALL(name, uplo, trans, size_of(n), size_of(k), alpha, A, size_of(lda), beta, C, size_of(ldc)); \
    }
RANK(syrk)
RANK(herk)

#define RANK_OF_TWO(name) \
    cublasStatus_t mr_cublas_Xt##name(const struct mr_form *form, cublasXtHandle_t handle, cublasFillMode_t uplo, \
                                      cublasOperation_t trans, size_t n, size_t k, const void *alpha, const void *A, \
                                      size_t lda, const void *B, size_t ldb, const void *beta, void *C, size_t ldc) \
    { \
        CALL(name, uplo, trans, size_of(n), size_of(k), alpha, A, size_of(lda), B, size_of(ldb), beta, C, \
             size_of(ldc)); \
    }
RANK_OF_TWO(syr2k)
RANK_OF_TWO(her2k)
RANK_OF_TWO(syrkx)
RANK_OF_TWO(herkx)

#define PRODUCT(name) \
    cublasStatus_t mr_cublas_Xt##name(const struct mr_form *form, cublasXtHandle_t handle, cublasSideMode_t side, \
                                      cublasFillMode_t uplo, size_t m, size_t n, const void *alpha, const void *A, \
                                      size_t lda, const void *B, size_t ldb, const void *beta, void *C, size_t ldc) \
    { \
        CALL(name, side, uplo, size_of(m), size_of(n), alpha, A, size_of(lda), B, size_of(ldb), beta, C, \
             size_of(ldc)); \
    }
PRODUCT(symm)
PRODUCT(hemm)

cublasStatus_t mr_cublas_Xttrsm(const struct mr_form *form, cublasXtHandle_t handle, cublasSideMode_t side,
                                cublasFillMode_t uplo, cublasOperation_t trans, cublasDiagType_t diag, size_t m,
                                size_t n, const void *alpha, const void *A, size_t lda, void *B, size_t ldb)
{
    CALL(trsm, side, uplo, trans, diag, size_of(m), size_of(n), alpha, A, size_of(lda), B, size_of(ldb));
}

cublasStatus_t mr_cublas_Xttrmm(const struct mr_form *form, cublasXtHandle_t handle, cublasSideMode_t side,
                                cublasFillMode_t uplo, cublasOperation_t trans, cublasDiagType_t diag, size_t m,
                                size_t n, const void *alpha, const void *A, size_t lda, const void *B, size_t ldb,
                                void *C, size_t ldc)
{
    CALL(trmm, side, uplo, trans, diag, size_of(m), size_of(n), alpha, A, size_of(lda), B, size_of(ldb), C,
         size_of(ldc));
}

/* ---- a symmetric matrix, packed ---- */

/* The packed triangle as a whole one with columns `n` apart. */
static void unpack(const struct mr_form *form, cublasFillMode_t uplo, size_t n, const char *packed, char *whole)
{
    size_t size = mr_size_of(mr_type_of(form));
    for (size_t j = 0; j < n; j++) {
        size_t first = uplo == CUBLAS_FILL_MODE_UPPER ? 0 : j, count = uplo == CUBLAS_FILL_MODE_UPPER ? j + 1 : n - j;
        memcpy(whole + (j * n + first) * size, packed, count * size);
        packed += count * size;
    }
}

static bool is_on_device(const void *memory)
{
    CUmemorytype type = 0;
    unsigned managed = 0;
    CUdeviceptr at = (CUdeviceptr)(uintptr_t)memory;
    return mr_math_driver.cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, at) == CUDA_SUCCESS &&
           type == CU_MEMORYTYPE_DEVICE &&
           mr_math_driver.cuPointerGetAttribute(&managed, CU_POINTER_ATTRIBUTE_IS_MANAGED, at) == CUDA_SUCCESS &&
           !managed;
}

/* The packed matrix has to be the host's, as in the manual. The call waits before it reads it. */
cublasStatus_t mr_cublas_Xtspmm(const struct mr_form *form, cublasXtHandle_t handle, cublasSideMode_t side,
                                cublasFillMode_t uplo, size_t m, size_t n, const void *alpha, const void *AP,
                                const void *B, size_t ldb, const void *beta, void *C, size_t ldc)
{
    struct xt *xt;
    cublasStatus_t status = start(form, handle, &xt);
    if (status != CUBLAS_STATUS_SUCCESS)
        return status;
    size_t order = side == CUBLAS_SIDE_LEFT ? m : n;
    char *whole = NULL;
    if (!mr_is_side(side) || !mr_is_uplo(uplo) || (m > 0 && n > 0 && !AP))
        return finish(form, mr_cublas_bad(form, CUBLAS_STATUS_INVALID_VALUE, "the side, the triangle or the matrix"));
    if (is_on_device(AP))
        return finish(form, mr_cublas_bad(form, CUBLAS_STATUS_NOT_SUPPORTED, "the packed matrix is not the host's"));
    if (m > 0 && n > 0) {
        whole = order <= MATRIX_ORDER ? malloc(order * order * mr_size_of(mr_type_of(form))) : NULL;
        if (!whole)
            return finish(form, mr_cublas_bad(form, CUBLAS_STATUS_ALLOC_FAILED, "memory is short"));
        status = mr_cublas_status(form, mr_math_driver.cuStreamSynchronize(NULL));
        if (status == CUBLAS_STATUS_SUCCESS)
            unpack(form, uplo, order, AP, whole);
    }
    if (status == CUBLAS_STATUS_SUCCESS)
        status = mr_cublas_symm(form, xt->blas, side, uplo, size_of(m), size_of(n), alpha, whole,
                                size_of(order ? order : 1), B, size_of(ldb), beta, C, size_of(ldc));
    status = finish(form, status);
    free(whole);
    return status;
}
