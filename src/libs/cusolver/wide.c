/* SPDX-License-Identifier: Apache-2.0 */
/* The 64-bit interface: sizes of 64 bits, types by parameters, workspaces on the device and on the host. Each function
 * fills in the record that its typed twin fills in. */
#include <stdlib.h>

#include "libs/cusolver/dense.h"
#include "libs/math/handles.h"

/* Behind a cusolverDnParams_t: settings that are kept. There is one way to compute. */
struct params {
    enum mr_solver_kind kind;
    cusolverAlgMode_t algorithms[3];
};

cusolverStatus_t mr_cusolver_CreateParams(const struct mr_form *form, cusolverDnParams_t *params)
{
    MR_CHECK(form, params);
    struct params *made = calloc(1, sizeof *made);
    if (!made)
        return CUSOLVER_STATUS_ALLOC_FAILED;
    made->kind = MR_SOLVER_PARAMS;
    *params = mr_math_handle_new(made);
    if (*params)
        return CUSOLVER_STATUS_SUCCESS;
    free(made);
    return CUSOLVER_STATUS_ALLOC_FAILED;
}

cusolverStatus_t mr_cusolver_DestroyParams(const struct mr_form *form, cusolverDnParams_t params)
{
    struct params *object = mr_solver_end(MR_SOLVER_PARAMS, params);
    MR_CHECK(form, object || !params);
    free(object);
    return CUSOLVER_STATUS_SUCCESS;
}

cusolverStatus_t mr_cusolver_SetAdvOptions(const struct mr_form *form, cusolverDnParams_t params,
                                           cusolverDnFunction_t function, cusolverAlgMode_t algo)
{
    struct params *object = mr_solver_find(MR_SOLVER_PARAMS, params);
    MR_CHECK(form, object);
    MR_CHECK(form, (unsigned)function <= CUSOLVERDN_SYEVBATCHED);
    MR_CHECK(form, (unsigned)algo <= (function == CUSOLVERDN_SYEVBATCHED ? CUSOLVER_ALG_1 : CUSOLVER_ALG_2));
    object->algorithms[function] = algo;
    return CUSOLVER_STATUS_SUCCESS;
}

/* Enters; the type of the elements, which is the type to compute in. */
#define ENTER_TYPED(data_type, compute_type) \
    MR_ENTER(); \
    (void)params; \
    enum mr_cpu_type type = mr_type_of_data(data_type); \
    MR_CHECK(form, type != MR_CPU_TYPES); \
    MR_CHECK(form, (data_type) == (compute_type))

#define UNUSED_BUFFERS() \
    (void)bufferOnDevice; \
    (void)workspaceInBytesOnDevice; \
    (void)bufferOnHost; \
    (void)workspaceInBytesOnHost

static bool is_real_of(cudaDataType_t real, cudaDataType_t of)
{
    return real == (of == CUDA_R_32F || of == CUDA_C_32F ? CUDA_R_32F : CUDA_R_64F);
}

#define MUTABLE(pointer) ((void *)(uintptr_t)(pointer))

/* ---- Cholesky, triangles ---- */

cusolverStatus_t mr_cusolver_Xpotrf_bufferSize(const struct mr_form *form, cusolverDnHandle_t handle,
                                               cusolverDnParams_t params, cublasFillMode_t uplo, int64_t n,
                                               cudaDataType dataTypeA, const void *A, int64_t lda,
                                               cudaDataType computeType, size_t *workspaceInBytesOnDevice,
                                               size_t *workspaceInBytesOnHost)
{
    ENTER_TYPED(dataTypeA, computeType);
    (void)A;
    (void)lda;
    MR_CHECK(form, mr_is_uplo(uplo) && n >= 0);
    return mr_dense_buffers(form, n, n, workspaceInBytesOnDevice, workspaceInBytesOnHost);
}

cusolverStatus_t mr_cusolver_Xpotrf(const struct mr_form *form, cusolverDnHandle_t handle, cusolverDnParams_t params,
                                    cublasFillMode_t uplo, int64_t n, cudaDataType dataTypeA, void *A, int64_t lda,
                                    cudaDataType computeType, void *bufferOnDevice, size_t workspaceInBytesOnDevice,
                                    void *bufferOnHost, size_t workspaceInBytesOnHost, int *info)
{
    ENTER_TYPED(dataTypeA, computeType);
    UNUSED_BUFFERS();
    struct mr_dense r = {.type = type, .uplo = mr_uplo_letter(uplo), .n = n, .a = A, .lda = lda, .info = info};
    return mr_dense_potrf(form, solver, &r);
}

cusolverStatus_t mr_cusolver_Xpotrs(const struct mr_form *form, cusolverDnHandle_t handle, cusolverDnParams_t params,
                                    cublasFillMode_t uplo, int64_t n, int64_t nrhs, cudaDataType dataTypeA,
                                    const void *A, int64_t lda, cudaDataType dataTypeB, void *B, int64_t ldb, int *info)
{
    ENTER_TYPED(dataTypeA, dataTypeB);
    struct mr_dense r = {.type = type,
                         .uplo = mr_uplo_letter(uplo),
                         .n = n,
                         .nrhs = nrhs,
                         .a = MUTABLE(A),
                         .lda = lda,
                         .b = B,
                         .ldb = ldb,
                         .info = info};
    return mr_dense_potrs(form, solver, &r);
}

cusolverStatus_t mr_cusolver_Xtrtri_bufferSize(const struct mr_form *form, cusolverDnHandle_t handle,
                                               cublasFillMode_t uplo, cublasDiagType_t diag, int64_t n,
                                               cudaDataType dataTypeA, void *A, int64_t lda,
                                               size_t *workspaceInBytesOnDevice, size_t *workspaceInBytesOnHost)
{
    MR_ENTER();
    (void)A;
    MR_CHECK(form, mr_type_of_data(dataTypeA) != MR_CPU_TYPES);
    (void)lda;
    MR_CHECK(form, mr_is_uplo(uplo) && mr_is_diag(diag) && n >= 0);
    return mr_dense_buffers(form, n, n, workspaceInBytesOnDevice, workspaceInBytesOnHost);
}

cusolverStatus_t mr_cusolver_Xtrtri(const struct mr_form *form, cusolverDnHandle_t handle, cublasFillMode_t uplo,
                                    cublasDiagType_t diag, int64_t n, cudaDataType dataTypeA, void *A, int64_t lda,
                                    void *bufferOnDevice, size_t workspaceInBytesOnDevice, void *bufferOnHost,
                                    size_t workspaceInBytesOnHost, int *devInfo)
{
    MR_ENTER();
    UNUSED_BUFFERS();
    MR_CHECK(form, mr_type_of_data(dataTypeA) != MR_CPU_TYPES);
    MR_CHECK(form, mr_is_diag(diag));
    struct mr_dense r = {.type = mr_type_of_data(dataTypeA),
                         .uplo = mr_uplo_letter(uplo),
                         .diag = mr_letter_of_diag(diag),
                         .n = n,
                         .a = A,
                         .lda = lda,
                         .info = devInfo};
    return mr_dense_trtri(form, solver, &r);
}

/* ---- LU, symmetric indefinite ---- */

cusolverStatus_t mr_cusolver_Xgetrf_bufferSize(const struct mr_form *form, cusolverDnHandle_t handle,
                                               cusolverDnParams_t params, int64_t m, int64_t n, cudaDataType dataTypeA,
                                               const void *A, int64_t lda, cudaDataType computeType,
                                               size_t *workspaceInBytesOnDevice, size_t *workspaceInBytesOnHost)
{
    ENTER_TYPED(dataTypeA, computeType);
    (void)A;
    (void)lda;
    MR_CHECK(form, m >= 0 && n >= 0);
    return mr_dense_buffers(form, m, n, workspaceInBytesOnDevice, workspaceInBytesOnHost);
}

cusolverStatus_t mr_cusolver_Xgetrf(const struct mr_form *form, cusolverDnHandle_t handle, cusolverDnParams_t params,
                                    int64_t m, int64_t n, cudaDataType dataTypeA, void *A, int64_t lda, int64_t *ipiv,
                                    cudaDataType computeType, void *bufferOnDevice, size_t workspaceInBytesOnDevice,
                                    void *bufferOnHost, size_t workspaceInBytesOnHost, int *info)
{
    ENTER_TYPED(dataTypeA, computeType);
    UNUSED_BUFFERS();
    struct mr_dense r = {.type = type, .m = m, .n = n, .a = A, .lda = lda, .wide_pivots = ipiv, .info = info};
    return mr_dense_getrf(form, solver, &r);
}

cusolverStatus_t mr_cusolver_Xgetrs(const struct mr_form *form, cusolverDnHandle_t handle, cusolverDnParams_t params,
                                    cublasOperation_t trans, int64_t n, int64_t nrhs, cudaDataType dataTypeA,
                                    const void *A, int64_t lda, const int64_t *ipiv, cudaDataType dataTypeB, void *B,
                                    int64_t ldb, int *info)
{
    ENTER_TYPED(dataTypeA, dataTypeB);
    struct mr_dense r = {.type = type,
                         .trans = mr_op_letter(trans),
                         .n = n,
                         .nrhs = nrhs,
                         .a = MUTABLE(A),
                         .lda = lda,
                         .wide_pivots = MUTABLE(ipiv),
                         .b = B,
                         .ldb = ldb,
                         .info = info};
    return mr_dense_getrs(form, solver, &r);
}

cusolverStatus_t mr_cusolver_Xsytrs_bufferSize(const struct mr_form *form, cusolverDnHandle_t handle,
                                               cublasFillMode_t uplo, int64_t n, int64_t nrhs, cudaDataType dataTypeA,
                                               const void *A, int64_t lda, const int64_t *ipiv, cudaDataType dataTypeB,
                                               void *B, int64_t ldb, size_t *workspaceInBytesOnDevice,
                                               size_t *workspaceInBytesOnHost)
{
    MR_ENTER();
    (void)A;
    (void)B;
    (void)ipiv;
    MR_CHECK(form, mr_type_of_data(dataTypeA) != MR_CPU_TYPES && dataTypeA == dataTypeB);
    (void)lda;
    (void)ldb;
    MR_CHECK(form, mr_is_uplo(uplo) && n >= 0 && nrhs >= 0);
    return mr_dense_buffers(form, n, nrhs, workspaceInBytesOnDevice, workspaceInBytesOnHost);
}

cusolverStatus_t mr_cusolver_Xsytrs(const struct mr_form *form, cusolverDnHandle_t handle, cublasFillMode_t uplo,
                                    int64_t n, int64_t nrhs, cudaDataType dataTypeA, const void *A, int64_t lda,
                                    const int64_t *ipiv, cudaDataType dataTypeB, void *B, int64_t ldb,
                                    void *bufferOnDevice, size_t workspaceInBytesOnDevice, void *bufferOnHost,
                                    size_t workspaceInBytesOnHost, int *info)
{
    MR_ENTER();
    UNUSED_BUFFERS();
    MR_CHECK(form, mr_type_of_data(dataTypeA) != MR_CPU_TYPES && dataTypeA == dataTypeB);
    struct mr_dense r = {.type = mr_type_of_data(dataTypeA),
                         .uplo = mr_uplo_letter(uplo),
                         .n = n,
                         .nrhs = nrhs,
                         .a = MUTABLE(A),
                         .lda = lda,
                         .wide_pivots = MUTABLE(ipiv),
                         .b = B,
                         .ldb = ldb,
                         .info = info};
    return mr_dense_sytrs(form, solver, &r);
}

/* ---- QR ---- */

cusolverStatus_t mr_cusolver_Xgeqrf_bufferSize(const struct mr_form *form, cusolverDnHandle_t handle,
                                               cusolverDnParams_t params, int64_t m, int64_t n, cudaDataType dataTypeA,
                                               const void *A, int64_t lda, cudaDataType dataTypeTau, const void *tau,
                                               cudaDataType computeType, size_t *workspaceInBytesOnDevice,
                                               size_t *workspaceInBytesOnHost)
{
    ENTER_TYPED(dataTypeA, computeType);
    (void)A;
    (void)tau;
    MR_CHECK(form, dataTypeTau == dataTypeA);
    (void)lda;
    MR_CHECK(form, m >= 0 && n >= 0);
    return mr_dense_buffers(form, m, n, workspaceInBytesOnDevice, workspaceInBytesOnHost);
}

cusolverStatus_t mr_cusolver_Xgeqrf(const struct mr_form *form, cusolverDnHandle_t handle, cusolverDnParams_t params,
                                    int64_t m, int64_t n, cudaDataType dataTypeA, void *A, int64_t lda,
                                    cudaDataType dataTypeTau, void *tau, cudaDataType computeType, void *bufferOnDevice,
                                    size_t workspaceInBytesOnDevice, void *bufferOnHost, size_t workspaceInBytesOnHost,
                                    int *info)
{
    ENTER_TYPED(dataTypeA, computeType);
    UNUSED_BUFFERS();
    MR_CHECK(form, dataTypeTau == dataTypeA);
    struct mr_dense r = {.type = type, .m = m, .n = n, .a = A, .lda = lda, .tau = tau, .info = info};
    return mr_dense_geqrf(form, solver, &r);
}

static cusolverStatus_t check_larft(const struct mr_form *form, cusolverDirectMode_t direct,
                                    cusolverStorevMode_t storev, cudaDataType v, cudaDataType tau, cudaDataType t)
{
    MR_CHECK(form, v == tau && v == t);
    if (direct != CUBLAS_DIRECT_FORWARD || storev != CUBLAS_STOREV_COLUMNWISE)
        return mr_solver_bad(form, CUSOLVER_STATUS_NOT_SUPPORTED, "only forward, by columns");
    return CUSOLVER_STATUS_SUCCESS;
}

cusolverStatus_t mr_cusolver_Xlarft_bufferSize(const struct mr_form *form, cusolverDnHandle_t handle,
                                               cusolverDnParams_t params, cusolverDirectMode_t direct,
                                               cusolverStorevMode_t storev, int64_t n, int64_t k,
                                               cudaDataType dataTypeV, const void *V, int64_t ldv,
                                               cudaDataType dataTypeTau, const void *tau, cudaDataType dataTypeT,
                                               void *T, int64_t ldt, cudaDataType computeType,
                                               size_t *workspaceInBytesOnDevice, size_t *workspaceInBytesOnHost)
{
    ENTER_TYPED(dataTypeV, computeType);
    (void)V;
    (void)tau;
    (void)T;
    cusolverStatus_t status = check_larft(form, direct, storev, dataTypeV, dataTypeTau, dataTypeT);
    if (status)
        return status;
    (void)ldv;
    (void)ldt;
    MR_CHECK(form, n >= 0 && k >= 0 && k <= n);
    return mr_dense_buffers(form, n, k, workspaceInBytesOnDevice, workspaceInBytesOnHost);
}

cusolverStatus_t mr_cusolver_Xlarft(const struct mr_form *form, cusolverDnHandle_t handle, cusolverDnParams_t params,
                                    cusolverDirectMode_t direct, cusolverStorevMode_t storev, int64_t n, int64_t k,
                                    cudaDataType dataTypeV, const void *V, int64_t ldv, cudaDataType dataTypeTau,
                                    const void *tau, cudaDataType dataTypeT, void *T, int64_t ldt,
                                    cudaDataType computeType, void *bufferOnDevice, size_t workspaceInBytesOnDevice,
                                    void *bufferOnHost, size_t workspaceInBytesOnHost)
{
    ENTER_TYPED(dataTypeV, computeType);
    UNUSED_BUFFERS();
    cusolverStatus_t status = check_larft(form, direct, storev, dataTypeV, dataTypeTau, dataTypeT);
    if (status)
        return status;
    struct mr_dense r = {
        .type = type, .n = n, .k = k, .a = MUTABLE(V), .lda = ldv, .tau = MUTABLE(tau), .b = T, .ldb = ldt};
    return mr_dense_larft(form, solver, &r);
}

/* ---- eigenvalues ---- */

#define SYMMETRIC(...) \
    MR_CHECK(form, is_real_of(dataTypeW, dataTypeA)); \
    struct mr_dense r = {.type = type, \
                         .job = mr_job_letter(jobz), \
                         .uplo = mr_uplo_letter(uplo), \
                         .n = n, \
                         .a = MUTABLE(A), \
                         .lda = lda, \
                         .w = MUTABLE(W), \
                         __VA_ARGS__}

#define CHECK_SYMMETRIC() MR_CHECK(form, r.job != 'X' && r.uplo != 'X' && n >= 0)

cusolverStatus_t mr_cusolver_Xsyevd_bufferSize(const struct mr_form *form, cusolverDnHandle_t handle,
                                               cusolverDnParams_t params, cusolverEigMode_t jobz, cublasFillMode_t uplo,
                                               int64_t n, cudaDataType dataTypeA, const void *A, int64_t lda,
                                               cudaDataType dataTypeW, const void *W, cudaDataType computeType,
                                               size_t *workspaceInBytesOnDevice, size_t *workspaceInBytesOnHost)
{
    ENTER_TYPED(dataTypeA, computeType);
    SYMMETRIC(.info = NULL);
    CHECK_SYMMETRIC();
    return mr_dense_buffers(form, n, n, workspaceInBytesOnDevice, workspaceInBytesOnHost);
}

cusolverStatus_t mr_cusolver_Xsyevd(const struct mr_form *form, cusolverDnHandle_t handle, cusolverDnParams_t params,
                                    cusolverEigMode_t jobz, cublasFillMode_t uplo, int64_t n, cudaDataType dataTypeA,
                                    void *A, int64_t lda, cudaDataType dataTypeW, void *W, cudaDataType computeType,
                                    void *bufferOnDevice, size_t workspaceInBytesOnDevice, void *bufferOnHost,
                                    size_t workspaceInBytesOnHost, int *info)
{
    ENTER_TYPED(dataTypeA, computeType);
    UNUSED_BUFFERS();
    SYMMETRIC(.info = info);
    return mr_dense_syev(form, solver, &r);
}

cusolverStatus_t mr_cusolver_XsyevBatched_bufferSize(const struct mr_form *form, cusolverDnHandle_t handle,
                                                     cusolverDnParams_t params, cusolverEigMode_t jobz,
                                                     cublasFillMode_t uplo, int64_t n, cudaDataType dataTypeA,
                                                     const void *A, int64_t lda, cudaDataType dataTypeW, const void *W,
                                                     cudaDataType computeType, size_t *workspaceInBytesOnDevice,
                                                     size_t *workspaceInBytesOnHost, int64_t batchSize)
{
    ENTER_TYPED(dataTypeA, computeType);
    SYMMETRIC(.info = NULL);
    CHECK_SYMMETRIC();
    MR_CHECK(form, batchSize >= 0);
    return mr_dense_buffers(form, n, n, workspaceInBytesOnDevice, workspaceInBytesOnHost);
}

cusolverStatus_t mr_cusolver_XsyevBatched(const struct mr_form *form, cusolverDnHandle_t handle,
                                          cusolverDnParams_t params, cusolverEigMode_t jobz, cublasFillMode_t uplo,
                                          int64_t n, cudaDataType dataTypeA, void *A, int64_t lda,
                                          cudaDataType dataTypeW, void *W, cudaDataType computeType,
                                          void *bufferOnDevice, size_t workspaceInBytesOnDevice, void *bufferOnHost,
                                          size_t workspaceInBytesOnHost, int *info, int64_t batchSize)
{
    ENTER_TYPED(dataTypeA, computeType);
    UNUSED_BUFFERS();
    SYMMETRIC(.info = info, .batch = batchSize);
    return mr_dense_syev_batch(form, solver, &r);
}

#define RANGE(vl, vu, real) \
    .range = range == CUSOLVER_EIG_RANGE_ALL ? 'A' \
             : range == CUSOLVER_EIG_RANGE_I ? 'I' \
             : range == CUSOLVER_EIG_RANGE_V ? 'V' \
                                             : 'X', \
    .vl = bound(vl, real), .vu = bound(vu, real), .il = il, .iu = iu

/* A bound in host memory, of W's type. */
static double bound(const void *at, cudaDataType_t real)
{
    return !at ? 0 : real == CUDA_R_32F ? (double)*(const float *)at : *(const double *)at;
}

cusolverStatus_t mr_cusolver_Xsyevdx_bufferSize(const struct mr_form *form, cusolverDnHandle_t handle,
                                                cusolverDnParams_t params, cusolverEigMode_t jobz,
                                                cusolverEigRange_t range, cublasFillMode_t uplo, int64_t n,
                                                cudaDataType dataTypeA, const void *A, int64_t lda, void *vl, void *vu,
                                                int64_t il, int64_t iu, int64_t *h_meig, cudaDataType dataTypeW,
                                                const void *W, cudaDataType computeType,
                                                size_t *workspaceInBytesOnDevice, size_t *workspaceInBytesOnHost)
{
    ENTER_TYPED(dataTypeA, computeType);
    (void)h_meig;
    SYMMETRIC(RANGE(vl, vu, dataTypeW));
    CHECK_SYMMETRIC();
    MR_CHECK(form, r.range != 'X');
    return mr_dense_buffers(form, n, n, workspaceInBytesOnDevice, workspaceInBytesOnHost);
}

cusolverStatus_t mr_cusolver_Xsyevdx(const struct mr_form *form, cusolverDnHandle_t handle, cusolverDnParams_t params,
                                     cusolverEigMode_t jobz, cusolverEigRange_t range, cublasFillMode_t uplo, int64_t n,
                                     cudaDataType dataTypeA, void *A, int64_t lda, void *vl, void *vu, int64_t il,
                                     int64_t iu, int64_t *meig64, cudaDataType dataTypeW, void *W,
                                     cudaDataType computeType, void *bufferOnDevice, size_t workspaceInBytesOnDevice,
                                     void *bufferOnHost, size_t workspaceInBytesOnHost, int *info)
{
    ENTER_TYPED(dataTypeA, computeType);
    UNUSED_BUFFERS();
    SYMMETRIC(RANGE(vl, vu, dataTypeW), .wide_found = meig64, .info = info);
    return mr_dense_syev_range(form, solver, &r);
}

/* Eigenvalues of a real matrix: complex numbers, or their real parts and behind them the imaginary ones. */
static cusolverStatus_t check_geev(const struct mr_form *form, cusolverEigMode_t left, cudaDataType a, cudaDataType w,
                                   cudaDataType vl, cudaDataType vr)
{
    bool is_real = a == CUDA_R_32F || a == CUDA_R_64F;
    MR_CHECK(form, w == a || (is_real && w == (a == CUDA_R_32F ? CUDA_C_32F : CUDA_C_64F)));
    MR_CHECK(form, vr == a && vl == a);
    MR_CHECK(form, left == CUSOLVER_EIG_MODE_NOVECTOR);
    return CUSOLVER_STATUS_SUCCESS;
}

cusolverStatus_t
mr_cusolver_Xgeev_bufferSize(const struct mr_form *form, cusolverDnHandle_t handle, cusolverDnParams_t params,
                             cusolverEigMode_t jobvl, cusolverEigMode_t jobvr, int64_t n, cudaDataType dataTypeA,
                             const void *A, int64_t lda, cudaDataType dataTypeW, const void *W, cudaDataType dataTypeVL,
                             const void *VL, int64_t ldvl, cudaDataType dataTypeVR, const void *VR, int64_t ldvr,
                             cudaDataType computeType, size_t *workspaceInBytesOnDevice, size_t *workspaceInBytesOnHost)
{
    ENTER_TYPED(dataTypeA, computeType);
    (void)A;
    (void)W;
    (void)VL;
    (void)VR;
    cusolverStatus_t status = check_geev(form, jobvl, dataTypeA, dataTypeW, dataTypeVL, dataTypeVR);
    if (status)
        return status;
    (void)lda;
    (void)ldvl;
    (void)ldvr;
    MR_CHECK(form, mr_is_jobz(jobvr) && n >= 0);
    return mr_dense_buffers(form, n, n, workspaceInBytesOnDevice, workspaceInBytesOnHost);
}

cusolverStatus_t mr_cusolver_Xgeev(const struct mr_form *form, cusolverDnHandle_t handle, cusolverDnParams_t params,
                                   cusolverEigMode_t jobvl, cusolverEigMode_t jobvr, int64_t n, cudaDataType dataTypeA,
                                   void *A, int64_t lda, cudaDataType dataTypeW, void *W, cudaDataType dataTypeVL,
                                   void *VL, int64_t ldvl, cudaDataType dataTypeVR, void *VR, int64_t ldvr,
                                   cudaDataType computeType, void *bufferOnDevice, size_t workspaceInBytesOnDevice,
                                   void *bufferOnHost, size_t workspaceInBytesOnHost, int *info)
{
    ENTER_TYPED(dataTypeA, computeType);
    UNUSED_BUFFERS();
    (void)VL;
    (void)ldvl;
    cusolverStatus_t status = check_geev(form, jobvl, dataTypeA, dataTypeW, dataTypeVL, dataTypeVR);
    if (status)
        return status;
    struct mr_dense r = {.type = type,
                         .job = mr_job_letter(jobvr),
                         .n = n,
                         .a = A,
                         .lda = lda,
                         .w = W,
                         .v = VR,
                         .ldv = ldvr,
                         .complex_values = dataTypeW != dataTypeA,
                         .info = info};
    return mr_dense_geev(form, solver, &r);
}

/* ---- singular values ---- */

#define SINGULAR(...) struct mr_dense r = {.type = type, .m = m, .n = n, .a = MUTABLE(A), .lda = lda, __VA_ARGS__}

#define CHECK_SINGULAR(real, left, right) \
    MR_CHECK(form, is_real_of(real, dataTypeA)); \
    MR_CHECK(form, (left) == dataTypeA && (right) == dataTypeA)

cusolverStatus_t mr_cusolver_Xgesvd_bufferSize(const struct mr_form *form, cusolverDnHandle_t handle,
                                               cusolverDnParams_t params, signed char jobu, signed char jobvt,
                                               int64_t m, int64_t n, cudaDataType dataTypeA, const void *A, int64_t lda,
                                               cudaDataType dataTypeS, const void *S, cudaDataType dataTypeU,
                                               const void *U, int64_t ldu, cudaDataType dataTypeVT, const void *VT,
                                               int64_t ldvt, cudaDataType computeType, size_t *workspaceInBytesOnDevice,
                                               size_t *workspaceInBytesOnHost)
{
    ENTER_TYPED(dataTypeA, computeType);
    (void)jobu;
    (void)jobvt;
    (void)A;
    (void)S;
    (void)U;
    (void)ldu;
    (void)VT;
    (void)ldvt;
    CHECK_SINGULAR(dataTypeS, dataTypeU, dataTypeVT);
    (void)lda;
    MR_CHECK(form, n >= 0 && m >= n);
    return mr_dense_buffers(form, m, n, workspaceInBytesOnDevice, workspaceInBytesOnHost);
}

cusolverStatus_t mr_cusolver_Xgesvd(const struct mr_form *form, cusolverDnHandle_t handle, cusolverDnParams_t params,
                                    signed char jobu, signed char jobvt, int64_t m, int64_t n, cudaDataType dataTypeA,
                                    void *A, int64_t lda, cudaDataType dataTypeS, void *S, cudaDataType dataTypeU,
                                    void *U, int64_t ldu, cudaDataType dataTypeVT, void *VT, int64_t ldvt,
                                    cudaDataType computeType, void *bufferOnDevice, size_t workspaceInBytesOnDevice,
                                    void *bufferOnHost, size_t workspaceInBytesOnHost, int *info)
{
    ENTER_TYPED(dataTypeA, computeType);
    UNUSED_BUFFERS();
    CHECK_SINGULAR(dataTypeS, dataTypeU, dataTypeVT);
    SINGULAR(.job = (char)jobu, .job2 = (char)jobvt, .w = S, .u = U, .ldu = ldu, .v = VT, .ldv = ldvt, .info = info);
    return mr_dense_gesvd(form, solver, &r);
}

cusolverStatus_t mr_cusolver_Xgesvdp_bufferSize(
    const struct mr_form *form, cusolverDnHandle_t handle, cusolverDnParams_t params, cusolverEigMode_t jobz,
    int64_t econ, int64_t m, int64_t n, cudaDataType dataTypeA, const void *A, int64_t lda, cudaDataType dataTypeS,
    const void *S, cudaDataType dataTypeU, const void *U, int64_t ldu, cudaDataType dataTypeV, const void *V,
    int64_t ldv, cudaDataType computeType, size_t *workspaceInBytesOnDevice, size_t *workspaceInBytesOnHost)
{
    ENTER_TYPED(dataTypeA, computeType);
    (void)econ;
    (void)A;
    (void)S;
    (void)U;
    (void)ldu;
    (void)V;
    (void)ldv;
    CHECK_SINGULAR(dataTypeS, dataTypeU, dataTypeV);
    (void)lda;
    MR_CHECK(form, mr_is_jobz(jobz) && m >= 0 && n >= 0);
    return mr_dense_buffers(form, m, n, workspaceInBytesOnDevice, workspaceInBytesOnHost);
}

/* The error is stored in host memory, so the stream is waited for. It is the residual divided by the largest value. */
cusolverStatus_t mr_cusolver_Xgesvdp(const struct mr_form *form, cusolverDnHandle_t handle, cusolverDnParams_t params,
                                     cusolverEigMode_t jobz, int64_t econ, int64_t m, int64_t n, cudaDataType dataTypeA,
                                     void *A, int64_t lda, cudaDataType dataTypeS, void *S, cudaDataType dataTypeU,
                                     void *U, int64_t ldu, cudaDataType dataTypeV, void *V, int64_t ldv,
                                     cudaDataType computeType, void *bufferOnDevice, size_t workspaceInBytesOnDevice,
                                     void *bufferOnHost, size_t workspaceInBytesOnHost, int *d_info, void *h_err_sigma)
{
    ENTER_TYPED(dataTypeA, computeType);
    UNUSED_BUFFERS();
    CHECK_SINGULAR(dataTypeS, dataTypeU, dataTypeV);
    double error = 0;
    SINGULAR(.job = mr_job_letter(jobz), .economy = econ != 0, .w = S, .u = U, .ldu = ldu, .v = V, .ldv = ldv,
             .info = d_info, .norms = h_err_sigma ? &error : NULL);
    cusolverStatus_t status = mr_dense_gesvd_all(form, solver, &r);
    if (status == CUSOLVER_STATUS_SUCCESS && h_err_sigma) {
        status = mr_solver_wait(form, solver);
        *(double *)h_err_sigma = error;
    }
    return status;
}

cusolverStatus_t mr_cusolver_Xgesvdr_bufferSize(
    const struct mr_form *form, cusolverDnHandle_t handle, cusolverDnParams_t params, signed char jobu,
    signed char jobv, int64_t m, int64_t n, int64_t k, int64_t p, int64_t niters, cudaDataType dataTypeA, const void *A,
    int64_t lda, cudaDataType dataTypeSrand, const void *Srand, cudaDataType dataTypeUrand, const void *Urand,
    int64_t ldUrand, cudaDataType dataTypeVrand, const void *Vrand, int64_t ldVrand, cudaDataType computeType,
    size_t *workspaceInBytesOnDevice, size_t *workspaceInBytesOnHost)
{
    ENTER_TYPED(dataTypeA, computeType);
    (void)jobu;
    (void)jobv;
    (void)niters;
    (void)A;
    (void)Srand;
    (void)Urand;
    (void)ldUrand;
    (void)Vrand;
    (void)ldVrand;
    CHECK_SINGULAR(dataTypeSrand, dataTypeUrand, dataTypeVrand);
    (void)lda;
    MR_CHECK(form, m >= 0 && n >= 0);
    MR_CHECK(form, k >= 1 && p >= 0 && k + p <= (m < n ? m : n));
    return mr_dense_buffers(form, m, n, workspaceInBytesOnDevice, workspaceInBytesOnHost);
}

cusolverStatus_t mr_cusolver_Xgesvdr(const struct mr_form *form, cusolverDnHandle_t handle, cusolverDnParams_t params,
                                     signed char jobu, signed char jobv, int64_t m, int64_t n, int64_t k, int64_t p,
                                     int64_t niters, cudaDataType dataTypeA, void *A, int64_t lda,
                                     cudaDataType dataTypeSrand, void *Srand, cudaDataType dataTypeUrand, void *Urand,
                                     int64_t ldUrand, cudaDataType dataTypeVrand, void *Vrand, int64_t ldVrand,
                                     cudaDataType computeType, void *bufferOnDevice, size_t workspaceInBytesOnDevice,
                                     void *bufferOnHost, size_t workspaceInBytesOnHost, int *d_info)
{
    ENTER_TYPED(dataTypeA, computeType);
    UNUSED_BUFFERS();
    (void)niters;
    CHECK_SINGULAR(dataTypeSrand, dataTypeUrand, dataTypeVrand);
    MR_CHECK(form, (jobu == 'S' || jobu == 'N') && (jobv == 'S' || jobv == 'N'));
    MR_CHECK(form, m >= 0 && n >= 0 && k >= 1 && p >= 0 && k + p <= (m < n ? m : n));
    SINGULAR(.job = jobu == 'S' || jobv == 'S' ? 'V' : 'N', .economy = true, .k = k, .w = Srand,
             .u = jobu == 'S' ? Urand : NULL, .ldu = jobu == 'S' ? ldUrand : m, .v = jobv == 'S' ? Vrand : NULL,
             .ldv = jobv == 'S' ? ldVrand : n, .info = d_info);
    return mr_dense_gesvd_all(form, solver, &r);
}
