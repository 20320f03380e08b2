/* SPDX-License-Identifier: Apache-2.0 */
/* The sparse part of cuSOLVER: handles, systems, an eigenvalue, batches. The functions `…Host` get host memory and
 * compute on the calling thread. The others get device memory and compute in stream order. They tell in host memory
 * whether the matrix is singular, so they wait for the stream. */
#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "libs/cusolver/sparse.h"
#include "libs/math/convert.h"

/* A descriptor is libcusparse's: it is asked through that library's public functions. */
static struct {
    cusparseIndexBase_t (*base)(const cusparseMatDescr_t descrA);
    cusparseMatrixType_t (*type)(const cusparseMatDescr_t descrA);
} sparse;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void open_once(void)
{
    void *library = dlopen("libcusparse.so.12", RTLD_NOW | RTLD_LOCAL);
    if (!library) {
        mr_log(MR_LOG_WARN, "libcusparse, whose descriptors cuSOLVER reads, is missing: %s", dlerror());
        return;
    }
    *(void **)&sparse.type = dlsym(library, "cusparseGetMatType");
    *(void **)&sparse.base = dlsym(library, "cusparseGetMatIndexBase");
}

cusolverStatus_t mr_cusolver_SpCreate(const struct mr_form *form, cusolverSpHandle_t *handle)
{
    return mr_solver_create(form, MR_SOLVER_SPARSE, (void **)handle);
}

cusolverStatus_t mr_cusolver_SpDestroy(const struct mr_form *form, cusolverSpHandle_t handle)
{
    return mr_solver_destroy(form, MR_SOLVER_SPARSE, handle);
}

#define ENTER() \
    struct mr_solver *solver; \
    cusolverStatus_t entered = mr_solver_enter(form, MR_SOLVER_SPARSE, handle, &solver); \
    if (entered != CUSOLVER_STATUS_SUCCESS) \
    return entered

cusolverStatus_t mr_cusolver_SpSetStream(const struct mr_form *form, cusolverSpHandle_t handle, cudaStream_t streamId)
{
    ENTER();
    solver->stream = streamId;
    return CUSOLVER_STATUS_SUCCESS;
}

cusolverStatus_t mr_cusolver_SpGetStream(const struct mr_form *form, cusolverSpHandle_t handle, cudaStream_t *streamId)
{
    ENTER();
    MR_CHECK(form, streamId);
    *streamId = solver->stream;
    return CUSOLVER_STATUS_SUCCESS;
}

static cudaDataType_t data_type(const struct mr_form *form)
{
    return form->type == 'S'   ? CUDA_R_32F
           : form->type == 'D' ? CUDA_R_64F
           : form->type == 'C' ? CUDA_C_32F
                               : CUDA_C_64F;
}

cusolverStatus_t mr_sparse_describe(const struct mr_form *form, int64_t m, int64_t nnz, const cusparseMatDescr_t descr,
                                    const void *values, const int *rows, const int *columns, struct mr_csr *a)
{
    pthread_once(&once, open_once);
    if (!sparse.base || !sparse.type)
        return mr_solver_bad(form, CUSOLVER_STATUS_NOT_INITIALIZED, "libcusparse is missing");
    MR_CHECK(form, m >= 0 && nnz >= 0);
    MR_CHECK(form, descr && rows && columns);
    if (sparse.type(descr) != CUSPARSE_MATRIX_TYPE_GENERAL)
        return mr_solver_bad(form, CUSOLVER_STATUS_MATRIX_TYPE_NOT_SUPPORTED, "the matrix is not of the general type");
    *a = (struct mr_csr){.type = data_type(form),
                         .m = (int)m,
                         .n = (int)m,
                         .base = sparse.base(descr) == CUSPARSE_INDEX_BASE_ONE,
                         .rows = rows,
                         .columns = columns,
                         .values = values};
    return CUSOLVER_STATUS_SUCCESS;
}

/* ---- systems ---- */

struct system {
    const char *function;
    struct mr_csr a;
    enum mr_sparse_method method;
    bool ordered, is_eigen;
    double tol;
    int most, *singular;
    _Alignas(16) unsigned char shift[16];
    const void *b; /* or the first vector */
    void *x, *value;
};

static bool compute(const struct system *s)
{
    if (s->is_eigen)
        return mr_sparse_eigen(&s->a, s->shift, s->b, s->most, s->tol, s->value, s->x);
    return mr_sparse_solve(&s->a, s->method, s->ordered, s->tol, s->b, s->x, s->singular);
}

static void run_system(void *data, uint64_t first, uint64_t end)
{
    const struct system *s = data;
    (void)first;
    (void)end;
    if (!compute(s))
        mr_math_short_of_memory(s->function);
}

static cusolverStatus_t solve(const struct mr_form *form, cusolverSpHandle_t handle, bool on_host,
                              enum mr_sparse_method method, int64_t m, int64_t nnz, const cusparseMatDescr_t descr,
                              const void *values, const int *rows, const int *columns, const void *b, double tol,
                              int64_t reorder, void *x, int *singularity)
{
    ENTER();
    struct system s = {.function = form->name, .method = method, .ordered = reorder > 0, .tol = tol, .b = b, .x = x};
    cusolverStatus_t status = mr_sparse_describe(form, m, nnz, descr, values, rows, columns, &s.a);
    if (status)
        return status;
    MR_CHECK(form, reorder >= 0 && reorder <= 3);
    MR_CHECK(form, singularity);
    MR_CHECK(form, m == 0 || (values && b && x));
    int found = -1;
    s.singular = &found;
    if (m > 0 && on_host) {
        if (!compute(&s))
            return CUSOLVER_STATUS_ALLOC_FAILED;
    } else if (m > 0) {
        status = mr_solver_submit(form, solver, 1, run_system, &s, sizeof s);
        if (status == CUSOLVER_STATUS_SUCCESS)
            status = mr_solver_wait(form, solver);
    }
    if (status == CUSOLVER_STATUS_SUCCESS)
        *singularity = found;
    return status;
}

#define SOLVE(name, host, method) \
    cusolverStatus_t mr_cusolver_Sp##name(const struct mr_form *form, cusolverSpHandle_t handle, int64_t m, \
                                          int64_t nnz, const cusparseMatDescr_t descr, const void *values, \
                                          const int *rows, const int *columns, const void *b, double tol, \
                                          int64_t reorder, void *x, int *singularity) \
    { \
        return solve(form, handle, host, method, m, nnz, descr, values, rows, columns, b, tol, reorder, x, \
                     singularity); \
    }

SOLVE(csrlsvqr, false, MR_SPARSE_QR)
SOLVE(csrlsvqrHost, true, MR_SPARSE_QR)
SOLVE(csrlsvchol, false, MR_SPARSE_CHOLESKY)
SOLVE(csrlsvcholHost, true, MR_SPARSE_CHOLESKY)
/* Solved by QR: what LU would find, at least as exact. */
SOLVE(csrlsvluHost, true, MR_SPARSE_QR)

/* ---- an eigenvalue ---- */

static cusolverStatus_t eigen(const struct mr_form *form, cusolverSpHandle_t handle, bool on_host, int64_t m,
                              int64_t nnz, const cusparseMatDescr_t descr, const void *values, const int *rows,
                              const int *columns, const void *mu0, const void *x0, int64_t most, double tol, void *mu,
                              void *x)
{
    ENTER();
    struct system s = {
        .function = form->name, .is_eigen = true, .most = (int)most, .tol = tol, .b = x0, .x = x, .value = mu};
    cusolverStatus_t status = mr_sparse_describe(form, m, nnz, descr, values, rows, columns, &s.a);
    if (status)
        return status;
    MR_CHECK(form, most >= 0 && tol >= 0);
    MR_CHECK(form, m == 0 || (values && x0 && mu && x));
    memcpy(s.shift, mu0, mr_size_of(mr_type_of(form)));
    if (m == 0)
        return CUSOLVER_STATUS_SUCCESS;
    if (on_host)
        return compute(&s) ? CUSOLVER_STATUS_SUCCESS : CUSOLVER_STATUS_ALLOC_FAILED;
    return mr_solver_submit(form, solver, 1, run_system, &s, sizeof s);
}

#define EIGEN(name, host) \
    cusolverStatus_t mr_cusolver_Sp##name(const struct mr_form *form, cusolverSpHandle_t handle, int64_t m, \
                                          int64_t nnz, const cusparseMatDescr_t descr, const void *values, \
                                          const int *rows, const int *columns, const void *mu0, const void *x0, \
                                          int64_t most, double tol, void *mu, void *x) \
    { \
        return eigen(form, handle, host, m, nnz, descr, values, rows, columns, mu0, x0, most, tol, mu, x); \
    }

EIGEN(csreigvsi, false)
EIGEN(csreigvsiHost, true)

/* ---- batches by QR: the analysis keeps nothing, each member is factorised anew (infos: steps.c) ---- */

/* A tall matrix may stand there, too. */
static cusolverStatus_t describe_tall(const struct mr_form *form, int64_t m, int64_t n, int64_t nnz,
                                      const cusparseMatDescr_t descr, const void *values, const int *rows,
                                      const int *columns, csrqrInfo_t info, struct mr_csr *a)
{
    cusolverStatus_t status = mr_sparse_describe(form, m, nnz, descr, values, rows, columns, a);
    if (status)
        return status;
    MR_CHECK(form, mr_solver_find(MR_SOLVER_CSRQR, info));
    MR_CHECK(form, n >= 0 && m >= n);
    a->n = (int)n;
    return CUSOLVER_STATUS_SUCCESS;
}

cusolverStatus_t mr_cusolver_SpXcsrqrAnalysisBatched(const struct mr_form *form, cusolverSpHandle_t handle, int64_t m,
                                                     int64_t n, int64_t nnzA, const cusparseMatDescr_t descrA,
                                                     const int *csrRowPtrA, const int *csrColIndA, csrqrInfo_t info)
{
    ENTER();
    struct mr_csr a;
    return describe_tall(form, m, n, nnzA, descrA, NULL, csrRowPtrA, csrColIndA, info, &a);
}

cusolverStatus_t mr_cusolver_SpcsrqrBufferInfoBatched(const struct mr_form *form, cusolverSpHandle_t handle, int64_t m,
                                                      int64_t n, int64_t nnz, const cusparseMatDescr_t descrA,
                                                      const void *csrVal, const int *csrRowPtr, const int *csrColInd,
                                                      int64_t batchSize, csrqrInfo_t info, size_t *internalDataInBytes,
                                                      size_t *workspaceInBytes)
{
    ENTER();
    struct mr_csr a;
    cusolverStatus_t status = describe_tall(form, m, n, nnz, descrA, csrVal, csrRowPtr, csrColInd, info, &a);
    if (status)
        return status;
    MR_CHECK(form, batchSize >= 0 && internalDataInBytes && workspaceInBytes);
    *internalDataInBytes = 0;
    *workspaceInBytes = 16; /* none is needed; programs want one that is not empty */
    return CUSOLVER_STATUS_SUCCESS;
}

struct batch {
    const char *function;
    struct mr_csr a;
    int64_t nnz;
    const void *b;
    void *x;
};

static void run_batch(void *data, uint64_t first, uint64_t end)
{
    const struct batch *r = data;
    size_t size = mr_element_size(r->a.type);
    for (uint64_t i = first; i < end; i++) {
        struct mr_csr a = r->a;
        int singular;
        a.values = mr_behind(r->a.values, (int64_t)i * r->nnz, size);
        if (!mr_sparse_solve(&a, MR_SPARSE_QR, false, 0, mr_behind(r->b, (int64_t)i * a.m, size),
                             mr_behind(r->x, (int64_t)i * a.n, size), &singular)) {
            mr_math_short_of_memory(r->function);
            return;
        }
    }
}

cusolverStatus_t mr_cusolver_SpcsrqrsvBatched(const struct mr_form *form, cusolverSpHandle_t handle, int64_t m,
                                              int64_t n, int64_t nnz, const cusparseMatDescr_t descrA,
                                              const void *csrValA, const int *csrRowPtrA, const int *csrColIndA,
                                              const void *b, void *x, int64_t batchSize, csrqrInfo_t info,
                                              void *pBuffer)
{
    ENTER();
    (void)pBuffer;
    struct batch r = {.function = form->name, .nnz = nnz, .b = b, .x = x};
    cusolverStatus_t status = describe_tall(form, m, n, nnz, descrA, csrValA, csrRowPtrA, csrColIndA, info, &r.a);
    if (status)
        return status;
    MR_CHECK(form, batchSize >= 0);
    if (m == 0 || n == 0 || batchSize == 0)
        return CUSOLVER_STATUS_SUCCESS;
    MR_CHECK(form, csrValA && b && x);
    return mr_solver_submit(form, solver, (uint64_t)batchSize, run_batch, &r, sizeof r);
}
