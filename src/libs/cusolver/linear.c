/* SPDX-License-Identifier: Apache-2.0 */
/* Linear systems: Cholesky's factorisation, LU, triangles; batches of Cholesky's. */
#include <string.h>

#include "libs/cusolver/blocked.h"
#include "libs/math/lu.h"

cusolverStatus_t mr_dense_submit(const struct mr_form *form, const struct mr_solver *solver, struct mr_dense *r,
                                 void (*run)(void *record, uint64_t first, uint64_t end))
{
    const int64_t sizes[] = {r->m, r->n, r->k, r->nrhs, r->lda, r->ldb, r->ldc, r->ldu, r->ldv};
    for (unsigned i = 0; i < sizeof sizes / sizeof *sizes; i++)
        MR_FITS(form, sizes[i]);
    r->function = form->name;
    r->run = run;
    uint64_t parts = 1;
    if (r->batch)
        parts = mr_parts_of((uint64_t)r->batch, (uint64_t)r->each);
    bool lends = mr_is_complex(r->type) && (r->reads | r->writes);
    return mr_solver_submit(form, solver, parts, lends ? mr_dense_run_lent : run, r, sizeof *r);
}

cusolverStatus_t mr_dense_submit_batch(const struct mr_form *form, const struct mr_solver *solver, struct mr_dense *r,
                                       double work, void (*run)(void *record, uint64_t first, uint64_t end))
{
    r->each = (int64_t)(5e5 / (work * (mr_is_complex(r->type) ? 4 : 1) + 1e3)) + 1;
    return mr_dense_submit(form, solver, r, run);
}

struct told {
    int *info, told;
};

static void run_told(void *data, uint64_t first, uint64_t end)
{
    const struct told *t = data;
    (void)first;
    (void)end;
    *t->info = t->told;
}

cusolverStatus_t mr_dense_wrong(const struct mr_form *form, const struct mr_solver *solver, int *info, int told,
                                const char *condition)
{
    struct told record = {info, told};
    if (info && mr_solver_submit(form, solver, 1, run_told, &record, sizeof record) != CUSOLVER_STATUS_SUCCESS)
        return CUSOLVER_STATUS_INTERNAL_ERROR;
    return mr_solver_bad(form, CUSOLVER_STATUS_INVALID_VALUE, "%s does not hold", condition);
}

cusolverStatus_t mr_dense_buffer(const struct mr_form *form, int64_t rows, int64_t columns, int *lwork)
{
    MR_CHECK(form, lwork);
    *lwork = (int)mr_at_least_1(rows > columns ? rows : columns);
    return CUSOLVER_STATUS_SUCCESS;
}

cusolverStatus_t mr_dense_buffers(const struct mr_form *form, int64_t rows, int64_t columns, size_t *on_device,
                                  size_t *on_host)
{
    MR_CHECK(form, on_device && on_host);
    *on_device = (size_t)mr_at_least_1(rows > columns ? rows : columns) * 16;
    *on_host = 0;
    return CUSOLVER_STATUS_SUCCESS;
}

enum mr_cpu_type mr_type_of_data(cudaDataType_t type)
{
    switch ((int)type) {
    case CUDA_R_32F:
        return MR_CPU_S;
    case CUDA_R_64F:
        return MR_CPU_D;
    case CUDA_C_32F:
        return MR_CPU_C;
    case CUDA_C_64F:
        return MR_CPU_Z;
    default:
        return MR_CPU_TYPES;
    }
}

/* A problem whose one function gets a triangle, its size and nothing else; Cholesky's factorisation may be blocked. */
#define TRIANGLE(name, is_blocked) \
    static void run_##name(void *data, uint64_t first, uint64_t end) \
    { \
        const struct mr_dense *r = data; \
        int n = (int)r->n, lda = (int)r->lda, info = 0; \
        (void)first; \
        (void)end; \
        mr_lapack.name[r->type](&r->uplo, &n, r->a, &lda, &info, 1); \
        mr_dense_tell(r, 0, info); \
    } \
    cusolverStatus_t mr_dense_##name(const struct mr_form *form, const struct mr_solver *solver, struct mr_dense *r) \
    { \
        MR_ARGUMENT(r, 1, (r)->uplo != 'X'); \
        MR_ARGUMENT_SQUARE(r, 2); \
        MR_CHECK(form, r->info); \
        if (is_blocked) \
            return mr_blocked_submit(form, solver, r, MR_BLOCKED_CHOLESKY); \
        r->writes = MR_LEND_A; \
        return mr_dense_submit(form, solver, r, run_##name); \
    } \
    cusolverStatus_t mr_cusolver_##name(const struct mr_form *form, cusolverDnHandle_t handle, cublasFillMode_t uplo, \
                                        int64_t n, void *A, int64_t lda, void *work, int64_t lwork, int *devInfo) \
    { \
        MR_ENTER(); \
        (void)work; \
        (void)lwork; \
        struct mr_dense r = { \
            .type = mr_type_of(form), .uplo = mr_uplo_letter(uplo), .n = n, .a = A, .lda = lda, .info = devInfo}; \
        return mr_dense_##name(form, solver, &r); \
    } \
    cusolverStatus_t mr_cusolver_##name##_bufferSize(const struct mr_form *form, cusolverDnHandle_t handle, \
                                                     cublasFillMode_t uplo, int64_t n, void *A, int64_t lda, \
                                                     int *lwork) \
    { \
        MR_ENTER(); \
        (void)A; \
        (void)lda; \
        MR_CHECK(form, mr_is_uplo(uplo) && n >= 0); \
        return mr_dense_buffer(form, n, n, lwork); \
    }

TRIANGLE(potrf, mr_is_blocked(r, MR_BLOCKED_CHOLESKY))
TRIANGLE(potri, false)
TRIANGLE(lauum, false)

static void run_potrs(void *data, uint64_t first, uint64_t end)
{
    const struct mr_dense *r = data;
    int n = (int)r->n, nrhs = (int)r->nrhs, lda = (int)r->lda, ldb = (int)r->ldb, info = 0;
    (void)first;
    (void)end;
    mr_lapack.potrs[r->type](&r->uplo, &n, &nrhs, r->a, &lda, r->b, &ldb, &info, 1);
    mr_dense_tell(r, 0, info);
}

cusolverStatus_t mr_dense_potrs(const struct mr_form *form, const struct mr_solver *solver, struct mr_dense *r)
{
    MR_ARGUMENT(r, 1, r->uplo != 'X');
    MR_ARGUMENT(r, 2, r->n >= 0);
    MR_ARGUMENT(r, 3, r->nrhs >= 0);
    MR_ARGUMENT(r, 5, r->lda >= mr_at_least_1(r->n));
    MR_ARGUMENT(r, 7, r->ldb >= mr_at_least_1(r->n));
    r->reads = MR_LEND_A;
    r->writes = MR_LEND_B;
    return mr_dense_submit(form, solver, r, run_potrs);
}

cusolverStatus_t mr_cusolver_potrs(const struct mr_form *form, cusolverDnHandle_t handle, cublasFillMode_t uplo,
                                   int64_t n, int64_t nrhs, const void *A, int64_t lda, void *B, int64_t ldb,
                                   int *devInfo)
{
    MR_ENTER();
    struct mr_dense r = {.type = mr_type_of(form),
                         .uplo = mr_uplo_letter(uplo),
                         .n = n,
                         .nrhs = nrhs,
                         .a = (void *)(uintptr_t)A,
                         .lda = lda,
                         .b = B,
                         .ldb = ldb,
                         .info = devInfo};
    return mr_dense_potrs(form, solver, &r);
}

static void run_potrf_batch(void *data, uint64_t first, uint64_t end)
{
    const struct mr_dense *r = data;
    void *const *matrices = r->a;
    int n = (int)r->n, lda = (int)r->lda;
    MR_MEMBERS(r, first, end, i)
    {
        int info = 0;
        void *lent = mr_dense_lend(r, matrices[i], n, n, r->lda);
        if (!lent)
            return;
        mr_lapack.potrf[r->type](&r->uplo, &n, lent, lent == matrices[i] ? &lda : &n, &info, 1);
        mr_dense_back(r, lent, matrices[i], n, n, r->lda);
        mr_dense_tell(r, i, info);
    }
}

cusolverStatus_t mr_cusolver_potrfBatched(const struct mr_form *form, cusolverDnHandle_t handle, cublasFillMode_t uplo,
                                          int64_t n, void *const *Aarray, int64_t lda, int *infoArray,
                                          int64_t batchSize)
{
    MR_ENTER();
    struct mr_dense r = {.type = mr_type_of(form),
                         .uplo = mr_uplo_letter(uplo),
                         .n = n,
                         .a = (void *)(uintptr_t)Aarray,
                         .lda = lda,
                         .info = infoArray,
                         .batch = batchSize};
    MR_CHECK(form, batchSize >= 1);
    MR_ARGUMENT(&r, -1, r.uplo != 'X'); /* hardware tells batches' arguments as positive numbers */
    MR_ARGUMENT(&r, -2, n >= 0);
    MR_ARGUMENT(&r, -4, lda >= mr_at_least_1(n));
    if (n == 0)
        return CUSOLVER_STATUS_SUCCESS;
    MR_CHECK(form, Aarray && infoArray);
    return mr_dense_submit_batch(form, solver, &r, (double)n * (double)n * (double)n, run_potrf_batch);
}

static void run_potrs_batch(void *data, uint64_t first, uint64_t end)
{
    const struct mr_dense *r = data;
    void *const *matrices = r->a, *const *sides = r->b;
    int n = (int)r->n, nrhs = (int)r->nrhs, lda = (int)r->lda, ldb = (int)r->ldb;
    MR_MEMBERS(r, first, end, i)
    {
        int info = 0;
        void *lent = mr_dense_lend(r, matrices[i], n, n, r->lda);
        if (!lent)
            return;
        mr_lapack.potrs[r->type](&r->uplo, &n, &nrhs, lent, lent == matrices[i] ? &lda : &n, sides[i], &ldb, &info, 1);
        if (i == 0)
            mr_dense_tell(r, 0, 0); /* one word for the whole batch, which stays 0 on hardware */
    }
}

/* Hardware solves for one right side alone. */
cusolverStatus_t mr_cusolver_potrsBatched(const struct mr_form *form, cusolverDnHandle_t handle, cublasFillMode_t uplo,
                                          int64_t n, int64_t nrhs, void *const *A, int64_t lda, void *const *B,
                                          int64_t ldb, int *d_info, int64_t batchSize)
{
    MR_ENTER();
    struct mr_dense r = {.type = mr_type_of(form),
                         .uplo = mr_uplo_letter(uplo),
                         .n = n,
                         .nrhs = nrhs,
                         .a = (void *)(uintptr_t)A,
                         .lda = lda,
                         .b = (void *)(uintptr_t)B,
                         .ldb = ldb,
                         .info = d_info,
                         .batch = batchSize};
    MR_ARGUMENT(&r, -1, r.uplo != 'X'); /* hardware tells batches' arguments as positive numbers */
    MR_ARGUMENT(&r, -2, n >= 0);
    MR_ARGUMENT(&r, -3, nrhs == 1);
    MR_ARGUMENT(&r, -5, lda >= mr_at_least_1(n));
    MR_ARGUMENT(&r, -7, ldb >= mr_at_least_1(n));
    MR_ARGUMENT(&r, -9, batchSize >= 1);
    if (n == 0)
        return CUSOLVER_STATUS_SUCCESS;
    MR_CHECK(form, A && B && d_info);
    return mr_dense_submit_batch(form, solver, &r, 2.0 * (double)n * (double)n, run_potrs_batch);
}

static void run_trtri(void *data, uint64_t first, uint64_t end)
{
    const struct mr_dense *r = data;
    int n = (int)r->n, lda = (int)r->lda, info = 0;
    (void)first;
    (void)end;
    mr_lapack.trtri[r->type](&r->uplo, &r->diag, &n, r->a, &lda, &info, 1, 1);
    mr_dense_tell(r, 0, info);
}

cusolverStatus_t mr_dense_trtri(const struct mr_form *form, const struct mr_solver *solver, struct mr_dense *r)
{
    MR_ARGUMENT(r, 1, r->uplo != 'X');
    MR_ARGUMENT_SQUARE(r, 3);
    MR_CHECK(form, r->info);
    r->writes = MR_LEND_A;
    return mr_dense_submit(form, solver, r, run_trtri);
}

/* ---- LU ---- */

static void run_getrf(void *data, uint64_t first, uint64_t end)
{
    const struct mr_dense *r = data;
    int m = (int)r->m, n = (int)r->n, lda = (int)r->lda, least = m < n ? m : n, info = 0;
    int *pivots = r->pivots;
    (void)first;
    (void)end;
    if (least == 0) {
        mr_dense_tell(r, 0, 0);
        return;
    }
    if (r->wide_pivots) {
        struct mr_room room;
        if (!mr_room_open(&room, r->function, MR_ROOM((size_t)least * sizeof(int))))
            return;
        pivots = mr_room_take(&room, (size_t)least * sizeof(int));
    }
    if (pivots)
        mr_cpu.getrf[r->type](&m, &n, r->a, &lda, pivots, &info);
    else
        info = mr_plain_lu(r->type, m, n, r->a, lda);
    for (int i = 0; r->wide_pivots && i < least; i++)
        r->wide_pivots[i] = pivots[i];
    mr_dense_tell(r, 0, info);
}

cusolverStatus_t mr_dense_getrf(const struct mr_form *form, const struct mr_solver *solver, struct mr_dense *r)
{
    MR_ARGUMENT(r, 1, r->m >= 0);
    MR_ARGUMENT(r, 2, r->n >= 0);
    MR_ARGUMENT(r, 4, r->lda >= mr_at_least_1(r->m));
    MR_CHECK(form, r->info);
    if (mr_is_blocked(r, MR_BLOCKED_LU))
        return mr_blocked_submit(form, solver, r, MR_BLOCKED_LU);
    r->writes = MR_LEND_A;
    return mr_dense_submit(form, solver, r, run_getrf);
}

cusolverStatus_t mr_cusolver_getrf_bufferSize(const struct mr_form *form, cusolverDnHandle_t handle, int64_t m,
                                              int64_t n, void *A, int64_t lda, int *Lwork)
{
    MR_ENTER();
    (void)A;
    (void)lda;
    MR_CHECK(form, m >= 0 && n >= 0);
    return mr_dense_buffer(form, m, n, Lwork);
}

cusolverStatus_t mr_cusolver_getrf(const struct mr_form *form, cusolverDnHandle_t handle, int64_t m, int64_t n, void *A,
                                   int64_t lda, void *Workspace, int *devIpiv, int *devInfo)
{
    MR_ENTER();
    (void)Workspace;
    struct mr_dense r = {
        .type = mr_type_of(form), .m = m, .n = n, .a = A, .lda = lda, .pivots = devIpiv, .info = devInfo};
    return mr_dense_getrf(form, solver, &r);
}

/* By triangles alone, for a factorisation without exchanges. */
static void solve_plain(const struct mr_dense *r)
{
    static const float single[2] = {1, 0};
    static const double two[2] = {1, 0};
    const void *one = mr_real_size_of(r->type) == 4 ? (const void *)single : two;
    int n = (int)r->n, nrhs = (int)r->nrhs, lda = (int)r->lda, ldb = (int)r->ldb;
    bool lower_first = r->trans == 'N';
    for (int step = 0; step < 2; step++) {
        bool lower = (step == 0) == lower_first;
        mr_cpu.trsm[r->type]("L", lower ? "L" : "U", &r->trans, lower ? "U" : "N", &n, &nrhs, one, r->a, &lda, r->b,
                             &ldb);
    }
}

static void run_getrs(void *data, uint64_t first, uint64_t end)
{
    const struct mr_dense *r = data;
    int n = (int)r->n, nrhs = (int)r->nrhs, lda = (int)r->lda, ldb = (int)r->ldb, info = 0;
    const int *pivots = r->pivots;
    (void)first;
    (void)end;
    if (n && nrhs && r->wide_pivots) {
        struct mr_room room;
        if (!mr_room_open(&room, r->function, MR_ROOM((size_t)n * sizeof(int))))
            return;
        int *narrow = mr_room_take(&room, (size_t)n * sizeof(int));
        for (int i = 0; i < n; i++)
            narrow[i] = (int)r->wide_pivots[i];
        pivots = narrow;
    }
    if (n && nrhs && pivots)
        mr_cpu.getrs[r->type](&r->trans, &n, &nrhs, r->a, &lda, pivots, r->b, &ldb, &info);
    else if (n && nrhs)
        solve_plain(r);
    if (n && nrhs)
        mr_dense_tell(r, 0, info);
}

cusolverStatus_t mr_dense_getrs(const struct mr_form *form, const struct mr_solver *solver, struct mr_dense *r)
{
    MR_CHECK(form, r->trans != 'X');
    MR_CHECK(form, r->n >= 0 && r->lda >= mr_at_least_1(r->n));
    MR_CHECK(form, r->nrhs >= 0 && r->ldb >= mr_at_least_1(r->n));
    MR_CHECK(form, r->info);
    r->reads = MR_LEND_A;
    r->writes = MR_LEND_B;
    return mr_dense_submit(form, solver, r, run_getrs);
}

cusolverStatus_t mr_cusolver_getrs(const struct mr_form *form, cusolverDnHandle_t handle, cublasOperation_t trans,
                                   int64_t n, int64_t nrhs, const void *A, int64_t lda, const int *devIpiv, void *B,
                                   int64_t ldb, int *devInfo)
{
    MR_ENTER();
    struct mr_dense r = {.type = mr_type_of(form),
                         .trans = mr_op_letter(trans),
                         .n = n,
                         .nrhs = nrhs,
                         .a = (void *)(uintptr_t)A,
                         .lda = lda,
                         .pivots = (int *)(uintptr_t)devIpiv,
                         .b = B,
                         .ldb = ldb,
                         .info = devInfo};
    return mr_dense_getrs(form, solver, &r);
}

static void run_laswp(void *data, uint64_t first, uint64_t end)
{
    const struct mr_dense *r = data;
    int n = (int)r->n, lda = (int)r->lda, k1 = (int)r->il, k2 = (int)r->iu, inc = (int)r->k;
    (void)first;
    (void)end;
    mr_lapack.laswp[r->type](&n, r->a, &lda, &k1, &k2, r->pivots, &inc);
}

cusolverStatus_t mr_cusolver_laswp(const struct mr_form *form, cusolverDnHandle_t handle, int64_t n, void *A,
                                   int64_t lda, int64_t k1, int64_t k2, const int *devIpiv, int64_t incx)
{
    MR_ENTER();
    MR_CHECK(form, n >= 0 && lda >= 1 && k1 >= 1);
    MR_CHECK(form, devIpiv);
    if (n == 0 || k2 < k1 || incx == 0)
        return CUSOLVER_STATUS_SUCCESS;
    struct mr_dense r = {.type = mr_type_of(form),
                         .n = n,
                         .a = A,
                         .lda = lda,
                         .il = k1,
                         .iu = k2,
                         .k = incx,
                         .pivots = (int *)(uintptr_t)devIpiv};
    return mr_dense_submit(form, solver, &r, run_laswp);
}
