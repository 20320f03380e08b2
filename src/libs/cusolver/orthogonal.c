/* SPDX-License-Identifier: Apache-2.0 */
/* Orthogonal factorisations: QR, two diagonals, three diagonals; the orthogonal matrices that they leave as reflectors.
 * Workspaces are of the size that LAPACK asks for. */
#include "libs/cusolver/blocked.h"

/* Runs a LAPACK call twice: to ask for its workspace, and with it. `call` uses work, lwork and info. */
#define WITH_WORK(r, call) \
    do { \
        _Alignas(16) unsigned char answer[16]; \
        void *work = answer; \
        int lwork = -1, info = 0; \
        struct mr_room room; \
        (void)first; \
        (void)end; \
        call; \
        lwork = mr_lapack_answer((r)->type, answer); \
        if (!mr_room_open(&room, (r)->function, MR_ROOM((size_t)lwork * mr_size_of((r)->type)))) \
            return; \
        work = mr_room_take(&room, (size_t)lwork * mr_size_of((r)->type)); \
        call; \
        mr_dense_tell(r, 0, info); \
    } while (0)

#define SIZES(r) \
    int m = (int)(r)->m, n = (int)(r)->n, k = (int)(r)->k, lda = (int)(r)->lda, ldc = (int)(r)->ldc; \
    (void)m; \
    (void)n; \
    (void)k; \
    (void)ldc

static void run_geqrf(void *data, uint64_t first, uint64_t end)
{
    const struct mr_dense *r = data;
    SIZES(r);
    WITH_WORK(r, mr_cpu.geqrf[r->type](&m, &n, r->a, &lda, r->tau, work, &lwork, &info));
}

cusolverStatus_t mr_dense_geqrf(const struct mr_form *form, const struct mr_solver *solver, struct mr_dense *r)
{
    MR_ARGUMENT(r, 1, r->m >= 0);
    MR_ARGUMENT(r, 2, r->n >= 0);
    MR_ARGUMENT(r, 4, r->lda >= mr_at_least_1(r->m));
    MR_CHECK(form, r->info);
    if (mr_is_blocked(r, MR_BLOCKED_QR))
        return mr_blocked_submit(form, solver, r, MR_BLOCKED_QR);
    r->writes = MR_LEND_A;
    return mr_dense_submit(form, solver, r, run_geqrf);
}

cusolverStatus_t mr_cusolver_geqrf_bufferSize(const struct mr_form *form, cusolverDnHandle_t handle, int64_t m,
                                              int64_t n, void *A, int64_t lda, int *Lwork)
{
    MR_ENTER();
    (void)A;
    (void)lda;
    MR_CHECK(form, m >= 0 && n >= 0);
    return mr_dense_buffer(form, m, n, Lwork);
}

cusolverStatus_t mr_cusolver_geqrf(const struct mr_form *form, cusolverDnHandle_t handle, int64_t m, int64_t n, void *A,
                                   int64_t lda, void *TAU, void *Workspace, int64_t Lwork, int *devInfo)
{
    MR_ENTER();
    (void)Workspace;
    (void)Lwork;
    struct mr_dense r = {.type = mr_type_of(form), .m = m, .n = n, .a = A, .lda = lda, .tau = TAU, .info = devInfo};
    return mr_dense_geqrf(form, solver, &r);
}

static void run_orgqr(void *data, uint64_t first, uint64_t end)
{
    const struct mr_dense *r = data;
    SIZES(r);
    WITH_WORK(r, mr_lapack.orgqr[r->type](&m, &n, &k, r->a, &lda, r->tau, work, &lwork, &info));
}

cusolverStatus_t mr_cusolver_orgqr_bufferSize(const struct mr_form *form, cusolverDnHandle_t handle, int64_t m,
                                              int64_t n, int64_t k, const void *A, int64_t lda, const void *tau,
                                              int *lwork)
{
    MR_ENTER();
    (void)A;
    (void)tau;
    (void)lda;
    MR_CHECK(form, m >= 0 && n >= 0 && n <= m && k >= 0 && k <= n);
    return mr_dense_buffer(form, m, n, lwork);
}

cusolverStatus_t mr_cusolver_orgqr(const struct mr_form *form, cusolverDnHandle_t handle, int64_t m, int64_t n,
                                   int64_t k, void *A, int64_t lda, const void *tau, void *work, int64_t lwork,
                                   int *info)
{
    MR_ENTER();
    (void)work;
    (void)lwork;
    struct mr_dense r = {.type = mr_type_of(form),
                         .m = m,
                         .n = n,
                         .k = k,
                         .a = A,
                         .lda = lda,
                         .tau = (void *)(uintptr_t)tau,
                         .info = info,
                         .writes = MR_LEND_A};
    MR_ARGUMENT(&r, 1, m >= 0);
    MR_ARGUMENT(&r, 2, n >= 0 && n <= m);
    MR_ARGUMENT(&r, 3, k >= 0 && k <= n);
    MR_ARGUMENT(&r, 5, lda >= mr_at_least_1(m));
    MR_CHECK(form, info);
    return mr_dense_submit(form, solver, &r, run_orgqr);
}

static void run_ormqr(void *data, uint64_t first, uint64_t end)
{
    const struct mr_dense *r = data;
    SIZES(r);
    WITH_WORK(r, mr_lapack.ormqr[r->type](&r->side, &r->trans, &m, &n, &k, r->a, &lda, r->tau, r->c, &ldc, work, &lwork,
                                          &info, 1, 1));
}

/* A real matrix's transpose is its adjoint. LAPACK takes 'T' for real matrices alone, and 'C' for complex ones alone.
 */
static char adjoint_letter(enum mr_cpu_type type, cublasOperation_t trans)
{
    if (trans == CUBLAS_OP_N)
        return 'N';
    return mr_is_complex(type) ? 'C' : 'T';
}

/* `shift`: how many arguments more stand before trans. For a size of a workspace there is no info. */
static cusolverStatus_t check_ormqr(const struct mr_form *form, const struct mr_solver *solver,
                                    const struct mr_dense *r, cublasSideMode_t side, cublasOperation_t trans, int shift)
{
    bool is_complex = mr_is_complex(r->type);
    int64_t order = side == CUBLAS_SIDE_LEFT ? r->m : r->n;
    MR_ARGUMENT(r, 1, mr_is_side(side));
    MR_ARGUMENT(r, 2 + shift, trans == CUBLAS_OP_N || trans == (is_complex ? CUBLAS_OP_C : CUBLAS_OP_T));
    MR_ARGUMENT(r, 3 + shift, r->m >= 0);
    MR_ARGUMENT(r, 4 + shift, r->n >= 0);
    MR_ARGUMENT(r, 5, r->k >= 0 && r->k <= order);
    MR_ARGUMENT(r, 7, r->lda >= mr_at_least_1(order));
    MR_ARGUMENT(r, 10, r->ldc >= mr_at_least_1(r->m));
    return CUSOLVER_STATUS_SUCCESS;
}

cusolverStatus_t mr_cusolver_ormqr_bufferSize(const struct mr_form *form, cusolverDnHandle_t handle,
                                              cublasSideMode_t side, cublasOperation_t trans, int64_t m, int64_t n,
                                              int64_t k, const void *A, int64_t lda, const void *tau, const void *C,
                                              int64_t ldc, int *lwork)
{
    MR_ENTER();
    (void)A;
    (void)tau;
    (void)C;
    struct mr_dense r = {.type = mr_type_of(form), .m = m, .n = n, .k = k, .lda = lda, .ldc = ldc};
    MR_ANY_LEADING_DIMENSION(&r);
    cusolverStatus_t status = check_ormqr(form, solver, &r, side, trans, 0);
    return status ? status : mr_dense_buffer(form, m, n, lwork);
}

cusolverStatus_t mr_cusolver_ormqr(const struct mr_form *form, cusolverDnHandle_t handle, cublasSideMode_t side,
                                   cublasOperation_t trans, int64_t m, int64_t n, int64_t k, const void *A, int64_t lda,
                                   const void *tau, void *C, int64_t ldc, void *work, int64_t lwork, int *devInfo)
{
    MR_ENTER();
    (void)work;
    (void)lwork;
    struct mr_dense r = {.type = mr_type_of(form),
                         .side = mr_letter_of_side(side),
                         .trans = adjoint_letter(mr_type_of(form), trans),
                         .m = m,
                         .n = n,
                         .k = k,
                         .a = (void *)(uintptr_t)A,
                         .lda = lda,
                         .tau = (void *)(uintptr_t)tau,
                         .c = C,
                         .ldc = ldc,
                         .info = devInfo,
                         .reads = MR_LEND_SIDE,
                         .writes = MR_LEND_C};
    cusolverStatus_t status = check_ormqr(form, solver, &r, side, trans, 0);
    if (status)
        return status;
    MR_CHECK(form, devInfo);
    return mr_dense_submit(form, solver, &r, run_ormqr);
}

/* ---- two diagonals ---- */

static void run_gebrd(void *data, uint64_t first, uint64_t end)
{
    const struct mr_dense *r = data;
    SIZES(r);
    WITH_WORK(r, mr_lapack.gebrd[r->type](&m, &n, r->a, &lda, r->d, r->e, r->tau, r->tau2, work, &lwork, &info));
}

cusolverStatus_t mr_cusolver_gebrd_bufferSize(const struct mr_form *form, cusolverDnHandle_t handle, int64_t m,
                                              int64_t n, int *Lwork)
{
    MR_ENTER();
    MR_CHECK(form, n >= 0 && m >= 0);
    return mr_dense_buffer(form, m, n, Lwork);
}

cusolverStatus_t mr_cusolver_gebrd(const struct mr_form *form, cusolverDnHandle_t handle, int64_t m, int64_t n, void *A,
                                   int64_t lda, void *D, void *E, void *TAUQ, void *TAUP, void *Work, int64_t Lwork,
                                   int *devInfo)
{
    MR_ENTER();
    (void)Work;
    (void)Lwork;
    struct mr_dense r = {.type = mr_type_of(form),
                         .m = m,
                         .n = n,
                         .a = A,
                         .lda = lda,
                         .d = D,
                         .e = E,
                         .tau = TAUQ,
                         .tau2 = TAUP,
                         .info = devInfo,
                         .writes = MR_LEND_A};
    MR_ARGUMENT(&r, 1, m >= 0);
    MR_ARGUMENT(&r, 2, n >= 0);
    MR_ARGUMENT(&r, 4, lda >= mr_at_least_1(m));
    if (m < n) {
        (void)mr_dense_wrong(form, solver, devInfo, 0, "m >= n");
        return CUSOLVER_STATUS_NOT_SUPPORTED;
    }
    MR_CHECK(form, devInfo);
    return mr_dense_submit(form, solver, &r, run_gebrd);
}

static void run_orgbr(void *data, uint64_t first, uint64_t end)
{
    const struct mr_dense *r = data;
    SIZES(r);
    WITH_WORK(r, mr_lapack.orgbr[r->type](&r->side, &m, &n, &k, r->a, &lda, r->tau, work, &lwork, &info, 1));
}

static cusolverStatus_t check_orgbr(const struct mr_form *form, const struct mr_solver *solver,
                                    const struct mr_dense *r, cublasSideMode_t side)
{
    int64_t m = r->m, n = r->n, k = r->k;
    MR_ARGUMENT(r, 1, mr_is_side(side));
    MR_ARGUMENT(r, 2, m >= 0);
    MR_ARGUMENT(r, 3, n >= 0);
    if (side == CUBLAS_SIDE_LEFT)
        MR_ARGUMENT(r, 3, n <= m && n >= (m < k ? m : k));
    else
        MR_ARGUMENT(r, 3, m <= n && m >= (n < k ? n : k));
    MR_ARGUMENT(r, 4, k >= 0);
    MR_ARGUMENT(r, 6, r->lda >= mr_at_least_1(m));
    return CUSOLVER_STATUS_SUCCESS;
}

cusolverStatus_t mr_cusolver_orgbr_bufferSize(const struct mr_form *form, cusolverDnHandle_t handle,
                                              cublasSideMode_t side, int64_t m, int64_t n, int64_t k, const void *A,
                                              int64_t lda, const void *tau, int *lwork)
{
    MR_ENTER();
    (void)A;
    (void)tau;
    struct mr_dense r = {.type = mr_type_of(form), .m = m, .n = n, .k = k, .lda = lda};
    MR_ANY_LEADING_DIMENSION(&r);
    cusolverStatus_t status = check_orgbr(form, solver, &r, side);
    return status ? status : mr_dense_buffer(form, m, n, lwork);
}

cusolverStatus_t mr_cusolver_orgbr(const struct mr_form *form, cusolverDnHandle_t handle, cublasSideMode_t side,
                                   int64_t m, int64_t n, int64_t k, void *A, int64_t lda, const void *tau, void *work,
                                   int64_t lwork, int *info)
{
    MR_ENTER();
    (void)work;
    (void)lwork;
    struct mr_dense r = {.type = mr_type_of(form),
                         .side = side == CUBLAS_SIDE_LEFT ? 'Q' : 'P',
                         .m = m,
                         .n = n,
                         .k = k,
                         .a = A,
                         .lda = lda,
                         .tau = (void *)(uintptr_t)tau,
                         .info = info,
                         .writes = MR_LEND_A};
    cusolverStatus_t status = check_orgbr(form, solver, &r, side);
    if (status)
        return status;
    MR_CHECK(form, info);
    return mr_dense_submit(form, solver, &r, run_orgbr);
}

/* ---- three diagonals ---- */

static void run_sytrd(void *data, uint64_t first, uint64_t end)
{
    const struct mr_dense *r = data;
    SIZES(r);
    WITH_WORK(r, mr_lapack.sytrd[r->type](&r->uplo, &n, r->a, &lda, r->d, r->e, r->tau, work, &lwork, &info, 1));
}

cusolverStatus_t mr_cusolver_sytrd_bufferSize(const struct mr_form *form, cusolverDnHandle_t handle,
                                              cublasFillMode_t uplo, int64_t n, const void *A, int64_t lda,
                                              const void *d, const void *e, const void *tau, int *lwork)
{
    MR_ENTER();
    (void)A;
    (void)d;
    (void)e;
    (void)tau;
    (void)lda;
    MR_CHECK(form, mr_is_uplo(uplo) && n >= 0);
    return mr_dense_buffer(form, n, n, lwork);
}

cusolverStatus_t mr_cusolver_sytrd(const struct mr_form *form, cusolverDnHandle_t handle, cublasFillMode_t uplo,
                                   int64_t n, void *A, int64_t lda, void *d, void *e, void *tau, void *work,
                                   int64_t lwork, int *info)
{
    MR_ENTER();
    (void)work;
    (void)lwork;
    struct mr_dense r = {.type = mr_type_of(form),
                         .uplo = mr_uplo_letter(uplo),
                         .n = n,
                         .a = A,
                         .lda = lda,
                         .d = d,
                         .e = e,
                         .tau = tau,
                         .info = info,
                         .writes = MR_LEND_A};
    MR_ARGUMENT(&r, 1, r.uplo != 'X');
    MR_ARGUMENT_SQUARE(&r, 2);
    MR_CHECK(form, info);
    return mr_dense_submit(form, solver, &r, run_sytrd);
}

static void run_orgtr(void *data, uint64_t first, uint64_t end)
{
    const struct mr_dense *r = data;
    SIZES(r);
    WITH_WORK(r, mr_lapack.orgtr[r->type](&r->uplo, &n, r->a, &lda, r->tau, work, &lwork, &info, 1));
}

cusolverStatus_t mr_cusolver_orgtr_bufferSize(const struct mr_form *form, cusolverDnHandle_t handle,
                                              cublasFillMode_t uplo, int64_t n, const void *A, int64_t lda,
                                              const void *tau, int *lwork)
{
    MR_ENTER();
    (void)A;
    (void)tau;
    (void)lda;
    MR_CHECK(form, mr_is_uplo(uplo) && n >= 0);
    return mr_dense_buffer(form, n, n, lwork);
}

cusolverStatus_t mr_cusolver_orgtr(const struct mr_form *form, cusolverDnHandle_t handle, cublasFillMode_t uplo,
                                   int64_t n, void *A, int64_t lda, const void *tau, void *work, int64_t lwork,
                                   int *info)
{
    MR_ENTER();
    (void)work;
    (void)lwork;
    struct mr_dense r = {.type = mr_type_of(form),
                         .uplo = mr_uplo_letter(uplo),
                         .n = n,
                         .a = A,
                         .lda = lda,
                         .tau = (void *)(uintptr_t)tau,
                         .info = info,
                         .writes = MR_LEND_A};
    MR_ARGUMENT(&r, 1, r.uplo != 'X');
    MR_ARGUMENT_SQUARE(&r, 2);
    MR_CHECK(form, info);
    return mr_dense_submit(form, solver, &r, run_orgtr);
}

static void run_ormtr(void *data, uint64_t first, uint64_t end)
{
    const struct mr_dense *r = data;
    SIZES(r);
    WITH_WORK(r, mr_lapack.ormtr[r->type](&r->side, &r->uplo, &r->trans, &m, &n, r->a, &lda, r->tau, r->c, &ldc, work,
                                          &lwork, &info, 1, 1, 1));
}

static cusolverStatus_t check_ormtr(const struct mr_form *form, const struct mr_solver *solver,
                                    const struct mr_dense *r, cublasSideMode_t side, cublasOperation_t trans)
{
    MR_ARGUMENT(r, 1, mr_is_side(side));
    MR_ARGUMENT(r, 2, r->uplo != 'X');
    return check_ormqr(form, solver, r, side, trans, 1);
}

cusolverStatus_t mr_cusolver_ormtr_bufferSize(const struct mr_form *form, cusolverDnHandle_t handle,
                                              cublasSideMode_t side, cublasFillMode_t uplo, cublasOperation_t trans,
                                              int64_t m, int64_t n, const void *A, int64_t lda, const void *tau,
                                              const void *C, int64_t ldc, int *lwork)
{
    MR_ENTER();
    (void)A;
    (void)tau;
    (void)C;
    struct mr_dense r = {
        .type = mr_type_of(form), .uplo = mr_uplo_letter(uplo), .m = m, .n = n, .lda = lda, .ldc = ldc};
    MR_ANY_LEADING_DIMENSION(&r);
    cusolverStatus_t status = check_ormtr(form, solver, &r, side, trans);
    return status ? status : mr_dense_buffer(form, m, n, lwork);
}

cusolverStatus_t mr_cusolver_ormtr(const struct mr_form *form, cusolverDnHandle_t handle, cublasSideMode_t side,
                                   cublasFillMode_t uplo, cublasOperation_t trans, int64_t m, int64_t n, void *A,
                                   int64_t lda, void *tau, void *C, int64_t ldc, void *work, int64_t lwork, int *info)
{
    MR_ENTER();
    (void)work;
    (void)lwork;
    struct mr_dense r = {.type = mr_type_of(form),
                         .side = mr_letter_of_side(side),
                         .uplo = mr_uplo_letter(uplo),
                         .trans = adjoint_letter(mr_type_of(form), trans),
                         .m = m,
                         .n = n,
                         .a = A,
                         .lda = lda,
                         .tau = tau,
                         .c = C,
                         .ldc = ldc,
                         .info = info,
                         .reads = MR_LEND_SIDE,
                         .writes = MR_LEND_C};
    cusolverStatus_t status = check_ormtr(form, solver, &r, side, trans);
    if (status)
        return status;
    MR_CHECK(form, info);
    return mr_dense_submit(form, solver, &r, run_ormtr);
}

/* ---- blocks of reflectors ---- */

static void run_larft(void *data, uint64_t first, uint64_t end)
{
    const struct mr_dense *r = data;
    int n = (int)r->n, k = (int)r->k, ldv = (int)r->lda, ldt = (int)r->ldb;
    (void)first;
    (void)end;
    mr_lapack.larft[r->type]("F", "C", &n, &k, r->a, &ldv, r->tau, r->b, &ldt, 1, 1);
}

/* A (V), tau, B (T). */
cusolverStatus_t mr_dense_larft(const struct mr_form *form, const struct mr_solver *solver, struct mr_dense *r)
{
    MR_CHECK(form, r->n >= 0 && r->k >= 0 && r->k <= r->n);
    MR_CHECK(form, r->lda >= mr_at_least_1(r->n) && r->ldb >= mr_at_least_1(r->k));
    r->reads = MR_LEND_BLOCK;
    return mr_dense_submit(form, solver, r, run_larft);
}
