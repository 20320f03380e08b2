/* SPDX-License-Identifier: Apache-2.0 */
/* Singular values and vectors. Whatever method a function is named after (QR's iteration, rotations, a polar
 * decomposition, random projections), LAPACK's divide and conquer computes them. Only a gesvd of which one job asks for
 * no vectors, and the other for some, takes QR's iteration.
 *
 * gesvd gives V^H, by rows; the others give V, by columns. */
#include <complex.h>
#include <string.h>

#include "libs/cusolver/results.h"

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static int64_t greatest(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

/* ---- gesvd ---- */

static size_t real_room(const struct mr_dense *r)
{
    size_t small = (size_t)least(r->m, r->n), large = (size_t)greatest(r->m, r->n);
    size_t some = 5 * small + 7, more = 2 * large + 2 * small + 1;
    return (small * (some > more ? some : more) + 7) * mr_real_size_of(r->type);
}

static void run_gesvd(void *data, uint64_t first, uint64_t end)
{
    const struct mr_dense *r = data;
    enum mr_cpu_type type = r->type;
    size_t size = mr_size_of(type);
    int m = (int)r->m, n = (int)r->n, lda = (int)r->lda, ldu = (int)r->ldu, ldv = (int)r->ldv, info = 0, lwork = -1;
    bool divide = (r->job == 'N') == (r->job2 == 'N'), is_complex = mr_is_complex(type);
    /* Divide and conquer has one job. What is to lie in A comes from the room: m >= n, so U has n columns then. */
    char job = (char)(r->job == 'O' ? 'S' : r->job);
    size_t left = divide && r->job == 'O' ? (size_t)m * (size_t)n * size : 0;
    size_t right = divide && r->job2 == 'O' ? (size_t)n * (size_t)n * size : 0;
    void *u = r->u, *v = r->v;
    ldu = left ? m : ldu;
    ldv = right ? n : ldv;
    size_t integers = 8 * (size_t)least(m, n) * sizeof(int), reals = real_room(r);
    _Alignas(16) unsigned char answer[16];
    void *work = answer, *rwork = answer;
    int *iwork = &info;
    (void)first;
    (void)end;
    if (m == 0 || n == 0) {
        mr_dense_tell(r, 0, 0);
        return;
    }
#define CALL() \
    do { \
        if (divide && is_complex) \
            mr_lapack.gesdd_complex[type](&job, &m, &n, r->a, &lda, r->w, u, &ldu, v, &ldv, work, &lwork, rwork, \
                                          iwork, &info, 1); \
        else if (divide) \
            mr_lapack.gesdd_real[type](&job, &m, &n, r->a, &lda, r->w, u, &ldu, v, &ldv, work, &lwork, iwork, &info, \
                                       1); \
        else if (is_complex) \
            mr_lapack.gesvd_complex[type](&r->job, &r->job2, &m, &n, r->a, &lda, r->w, r->u, &ldu, r->v, &ldv, work, \
                                          &lwork, rwork, &info, 1, 1); \
        else \
            mr_lapack.gesvd_real[type](&r->job, &r->job2, &m, &n, r->a, &lda, r->w, r->u, &ldu, r->v, &ldv, work, \
                                       &lwork, &info, 1, 1); \
    } while (0)
    CALL();
    lwork = mr_lapack_answer(type, answer);
    struct mr_room room;
    if (!mr_room_open(&room, r->function,
                      MR_ROOM((size_t)lwork * size) + MR_ROOM(reals) + MR_ROOM(integers) + MR_ROOM(left + right)))
        return;
    work = mr_room_take(&room, (size_t)lwork * size);
    rwork = mr_room_take(&room, reals);
    iwork = mr_room_take(&room, integers);
    void *kept = mr_room_take(&room, left + right);
    u = left ? kept : u;
    v = right ? kept : v;
    CALL();
#undef CALL
    int rows = left ? m : n;
    for (int j = 0; j < n && (left || right); j++)
        memcpy((char *)r->a + (size_t)j * (size_t)lda * size, (char *)kept + (size_t)j * (size_t)rows * size,
               (size_t)rows * size);
    mr_dense_tell(r, 0, info);
}

static bool is_job(char job)
{
    return job == 'A' || job == 'S' || job == 'O' || job == 'N';
}

cusolverStatus_t mr_dense_gesvd(const struct mr_form *form, const struct mr_solver *solver, struct mr_dense *r)
{
    MR_ARGUMENT(r, 1, is_job(r->job));
    MR_ARGUMENT(r, 2, is_job(r->job2) && !(r->job == 'O' && r->job2 == 'O'));
    MR_ARGUMENT(r, 3, r->m >= 0);
    MR_ARGUMENT(r, 4, r->n >= 0);
    MR_ARGUMENT(r, 0, r->m >= r->n); /* told as 0 */
    MR_ARGUMENT(r, 6, r->lda >= mr_at_least_1(r->m));
    MR_ARGUMENT(r, 9, r->ldu >= ((r->job == 'A' || r->job == 'S') ? mr_at_least_1(r->m) : 1));
    MR_ARGUMENT(r, 11, r->ldv >= ((r->job2 == 'A' || r->job2 == 'S') ? mr_at_least_1(r->n) : 1));
    MR_CHECK(form, r->info);
    r->writes = MR_LEND_A | MR_LEND_U | MR_LEND_V;
    return mr_dense_submit(form, solver, r, run_gesvd);
}

cusolverStatus_t mr_cusolver_gesvd_bufferSize(const struct mr_form *form, cusolverDnHandle_t handle, int64_t m,
                                              int64_t n, int *lwork)
{
    MR_ENTER();
    MR_CHECK(form, n >= 0 && m >= 0);
    return mr_dense_buffer(form, m, n, lwork);
}

cusolverStatus_t mr_cusolver_gesvd(const struct mr_form *form, cusolverDnHandle_t handle, signed char jobu,
                                   signed char jobvt, int64_t m, int64_t n, void *A, int64_t lda, void *S, void *U,
                                   int64_t ldu, void *VT, int64_t ldvt, void *work, int64_t lwork, void *rwork,
                                   int *info)
{
    MR_ENTER();
    (void)work;
    (void)lwork;
    (void)rwork;
    struct mr_dense r = {.type = mr_type_of(form),
                         .job = (char)jobu,
                         .job2 = (char)jobvt,
                         .m = m,
                         .n = n,
                         .a = A,
                         .lda = lda,
                         .w = S,
                         .u = U,
                         .ldu = ldu,
                         .v = VT,
                         .ldv = ldvt,
                         .info = info};
    return mr_dense_gesvd(form, solver, &r);
}

/* ---- V by columns ---- */

/* to = from^H: `from` has `rows` rows. */
static void adjoint(enum mr_cpu_type type, int64_t rows, int64_t columns, const void *from, int64_t ldf, void *to,
                    int64_t ldt)
{
#define ADJOINT(element, other) \
    do { \
        const element *source = from; \
        element *target = to; \
        for (int64_t j = 0; j < columns; j++) \
            for (int64_t i = 0; i < rows; i++) \
                target[j + i * ldt] = other(source[i + j * ldf]); \
    } while (0)
    switch (type) {
    case MR_CPU_S:
        ADJOINT(float, );
        break;
    case MR_CPU_D:
        ADJOINT(double, );
        break;
    case MR_CPU_C:
        ADJOINT(float complex, conjf);
        break;
    default:
        ADJOINT(double complex, conj);
    }
}

/* One matrix; its info, or -1 when memory is short. The residual in *residual where it is asked for. */
static int solve(const struct mr_dense *r, int64_t member, double *residual)
{
    enum mr_cpu_type type = r->type;
    size_t size = mr_size_of(type), real = mr_real_size_of(type);
    int m = (int)r->m, n = (int)r->n, small = (int)least(m, n), info = 0, lwork = -1;
    bool vectors = r->job == 'V', is_complex = mr_is_complex(type);
    char job = 'N';
    if (vectors)
        job = r->economy ? 'S' : 'A';
    int across = r->economy ? small : m, down = vectors ? (r->economy ? small : n) : 1;
    int64_t kept = r->k && r->k < small ? r->k : small; /* how many values the program wants */
    size_t matrix = (size_t)m * (size_t)(n + 2) * size + 128,
           left = vectors ? (size_t)m * (size_t)(across + 2) * size + 128 : 0;
    size_t right = vectors ? (size_t)down * (size_t)(n + 2) * size + 128 : 0, values = (size_t)small * real;
    size_t integers = 8 * (size_t)small * sizeof(int), reals = is_complex ? real_room(r) : 0;
    bool measured = residual && vectors;
    size_t product = measured ? (size_t)m * (size_t)small * size : 0;
    void *a = mr_behind(r->a, member * r->stride_a, size), *w = mr_behind(r->w, member * r->stride_w, real);
    _Alignas(16) unsigned char answer[16];
    void *work = answer, *rwork = answer, *own = answer, *u = answer, *vt = answer, *s = answer;
    int *iwork = &info;
#define CALL() \
    do { \
        if (is_complex) \
            mr_lapack.gesdd_complex[type](&job, &m, &n, own, &m, s, u, &m, vt, &down, work, &lwork, rwork, iwork, \
                                          &info, 1); \
        else \
            mr_lapack.gesdd_real[type](&job, &m, &n, own, &m, s, u, &m, vt, &down, work, &lwork, iwork, &info, 1); \
    } while (0)
    CALL();
    lwork = mr_lapack_answer(type, answer);
    struct mr_room room;
    if (!mr_room_open(&room, r->function,
                      MR_ROOM(matrix) + MR_ROOM(left) + MR_ROOM(right) + MR_ROOM(values) +
                          MR_ROOM((size_t)lwork * size) + MR_ROOM(reals) + MR_ROOM(integers) + MR_ROOM(product)))
        return -1;
    own = mr_room_take(&room, matrix);
    u = mr_room_take(&room, left);
    vt = mr_room_take(&room, right);
    s = mr_room_take(&room, values);
    work = mr_room_take(&room, (size_t)lwork * size);
    rwork = mr_room_take(&room, reals);
    iwork = mr_room_take(&room, integers);
    void *beside = mr_room_take(&room, product);
    mr_dense_copy(type, m, n, a, r->lda, own, m);
    CALL();
#undef CALL
    memcpy(w, s, (size_t)kept * real);
    if (!vectors)
        return info;
    if (measured) {
        mr_dense_copy(type, m, n, a, r->lda, own, m);
        *residual = mr_residual(type, m, n, small, own, vt, down, true, u, m, s, beside);
    }
    if (r->u)
        mr_dense_copy(type, m, r->k ? kept : across, u, m, mr_behind(r->u, member * r->stride_u, size), r->ldu);
    if (r->v)
        adjoint(type, r->k ? kept : down, n, vt, down, mr_behind(r->v, member * r->stride_v, size), r->ldv);
    return info;
}

static void run_all(void *data, uint64_t first, uint64_t end)
{
    struct mr_dense *r = data;
    int64_t last = r->batch ? r->batch : 1;
    for (int64_t i = (int64_t)first * r->each; i < (int64_t)end * r->each && i < last; i++) {
        double residual = 0;
        bool asked = (r->results && !r->batch) || r->norms;
        int info = r->m && r->n ? solve(r, i, asked ? &residual : NULL) : 0;
        if (r->norms)
            r->norms[i] = residual;
        if (r->results && i == 0)
            mr_results_tell(MR_SOLVER_GESVDJ, r->results, r->batch ? -1 : residual);
        mr_dense_tell(r, i, info);
    }
}

/* The numbers are gesvdj's. */
static cusolverStatus_t check_all(const struct mr_form *form, const struct mr_solver *solver, const struct mr_dense *r)
{
    MR_ARGUMENT(r, 1, r->job != 'X');
    MR_ARGUMENT(r, 3, r->m >= 0);
    MR_ARGUMENT(r, 4, r->n >= 0);
    MR_CHECK(form, r->k >= 0 && r->k <= least(r->m, r->n));
    MR_ARGUMENT(r, 6, r->lda >= mr_at_least_1(r->m));
    MR_ARGUMENT(r, 9, r->job == 'N' || r->ldu >= mr_at_least_1(r->m));
    MR_ARGUMENT(r, 11, r->job == 'N' || r->ldv >= mr_at_least_1(r->n));
    MR_CHECK(form, r->batch >= 0);
    return CUSOLVER_STATUS_SUCCESS;
}

cusolverStatus_t mr_dense_gesvd_all(const struct mr_form *form, const struct mr_solver *solver, struct mr_dense *r)
{
    cusolverStatus_t status = check_all(form, solver, r);
    if (status)
        return status;
    MR_CHECK(form, r->info);
    double large = (double)greatest(r->m, r->n), small = (double)least(r->m, r->n);
    r->each = 1;
    return r->batch ? mr_dense_submit_batch(form, solver, r, 20 * large * small * small, run_all)
                    : mr_dense_submit(form, solver, r, run_all);
}

#define SINGULAR(...) \
    struct mr_dense r = {.type = mr_type_of(form), \
                         .job = mr_job_letter(jobz), \
                         .m = m, \
                         .n = n, \
                         .lda = lda, \
                         .ldu = ldu, \
                         .ldv = ldv, \
                         __VA_ARGS__}

#define MUTABLE(pointer) ((void *)(uintptr_t)(pointer))

cusolverStatus_t mr_cusolver_gesvdj_bufferSize(const struct mr_form *form, cusolverDnHandle_t handle,
                                               cusolverEigMode_t jobz, int64_t econ, int64_t m, int64_t n,
                                               const void *A, int64_t lda, const void *S, const void *U, int64_t ldu,
                                               const void *V, int64_t ldv, int *lwork, gesvdjInfo_t params)
{
    MR_ENTER();
    (void)A;
    (void)S;
    (void)U;
    (void)V;
    MR_CHECK(form, params);
    SINGULAR(.economy = econ != 0);
    MR_ANY_LEADING_DIMENSION(&r);
    cusolverStatus_t status = check_all(form, solver, &r);
    return status ? status : mr_dense_buffer(form, m, n, lwork);
}

cusolverStatus_t mr_cusolver_gesvdj(const struct mr_form *form, cusolverDnHandle_t handle, cusolverEigMode_t jobz,
                                    int64_t econ, int64_t m, int64_t n, void *A, int64_t lda, void *S, void *U,
                                    int64_t ldu, void *V, int64_t ldv, void *work, int64_t lwork, int *info,
                                    gesvdjInfo_t params)
{
    MR_ENTER();
    (void)work;
    (void)lwork;
    MR_CHECK(form, mr_solver_find(MR_SOLVER_GESVDJ, params));
    SINGULAR(.economy = econ != 0, .a = A, .w = S, .u = U, .v = V, .info = info, .results = params);
    return mr_dense_gesvd_all(form, solver, &r);
}

#define BATCH_LIMIT 32 /* hardware's: rows and columns of a batch's matrices */

cusolverStatus_t mr_cusolver_gesvdjBatched_bufferSize(const struct mr_form *form, cusolverDnHandle_t handle,
                                                      cusolverEigMode_t jobz, int64_t m, int64_t n, const void *A,
                                                      int64_t lda, const void *S, const void *U, int64_t ldu,
                                                      const void *V, int64_t ldv, int *lwork, gesvdjInfo_t params,
                                                      int64_t batchSize)
{
    MR_ENTER();
    (void)A;
    (void)S;
    (void)U;
    (void)V;
    MR_CHECK(form, params);
    MR_CHECK(form, m <= BATCH_LIMIT && n <= BATCH_LIMIT);
    SINGULAR(.batch = batchSize);
    MR_ANY_LEADING_DIMENSION(&r);
    cusolverStatus_t status = check_all(form, solver, &r);
    return status ? status : mr_dense_buffer(form, m, n, lwork);
}

cusolverStatus_t mr_cusolver_gesvdjBatched(const struct mr_form *form, cusolverDnHandle_t handle,
                                           cusolverEigMode_t jobz, int64_t m, int64_t n, void *A, int64_t lda, void *S,
                                           void *U, int64_t ldu, void *V, int64_t ldv, void *work, int64_t lwork,
                                           int *info, gesvdjInfo_t params, int64_t batchSize)
{
    MR_ENTER();
    (void)work;
    (void)lwork;
    MR_CHECK(form, mr_solver_find(MR_SOLVER_GESVDJ, params));
    MR_CHECK(form, m <= BATCH_LIMIT && n <= BATCH_LIMIT);
    SINGULAR(.a = A, .w = S, .u = U, .v = V, .info = info, .results = params, .batch = batchSize);
    if (batchSize == 0)
        return check_all(form, solver, &r);
    r.stride_a = lda * n;
    r.stride_w = least(m, n);
    r.stride_u = ldu * m;
    r.stride_v = ldv * n;
    return mr_dense_gesvd_all(form, solver, &r);
}

#define STRIDED(...) \
    SINGULAR(.economy = true, .k = rank, .a = MUTABLE(d_A), .w = MUTABLE(d_S), .u = MUTABLE(d_U), .v = MUTABLE(d_V), \
             .stride_a = strideA, .stride_w = strideS, .stride_u = strideU, .stride_v = strideV, .batch = batchSize, \
             __VA_ARGS__)

/* On hardware the method is for tall matrices. */
static cusolverStatus_t check_strided(const struct mr_form *form, const struct mr_solver *solver,
                                      const struct mr_dense *r)
{
    MR_CHECK(form, r->m >= r->n && r->n >= 0);
    MR_CHECK(form, r->k >= 1 || r->n == 0);
    return check_all(form, solver, r);
}

cusolverStatus_t mr_cusolver_gesvdaStridedBatched_bufferSize(const struct mr_form *form, cusolverDnHandle_t handle,
                                                             cusolverEigMode_t jobz, int64_t rank, int64_t m, int64_t n,
                                                             const void *d_A, int64_t lda, int64_t strideA,
                                                             const void *d_S, int64_t strideS, const void *d_U,
                                                             int64_t ldu, int64_t strideU, const void *d_V, int64_t ldv,
                                                             int64_t strideV, int *lwork, int64_t batchSize)
{
    MR_ENTER();
    STRIDED(.info = NULL);
    MR_ANY_LEADING_DIMENSION(&r);
    cusolverStatus_t status = check_strided(form, solver, &r);
    return status ? status : mr_dense_buffer(form, m, n, lwork);
}

/* The norms are stored in host memory: if they are asked for, the stream is waited for. */
cusolverStatus_t mr_cusolver_gesvdaStridedBatched(const struct mr_form *form, cusolverDnHandle_t handle,
                                                  cusolverEigMode_t jobz, int64_t rank, int64_t m, int64_t n,
                                                  const void *d_A, int64_t lda, int64_t strideA, void *d_S,
                                                  int64_t strideS, void *d_U, int64_t ldu, int64_t strideU, void *d_V,
                                                  int64_t ldv, int64_t strideV, void *d_work, int64_t lwork,
                                                  int *d_info, void *h_R_nrmF, int64_t batchSize)
{
    MR_ENTER();
    (void)d_work;
    (void)lwork;
    STRIDED(.info = d_info, .norms = h_R_nrmF);
    cusolverStatus_t status = check_strided(form, solver, &r);
    if (status || batchSize == 0)
        return status;
    status = mr_dense_gesvd_all(form, solver, &r);
    return status || !h_R_nrmF ? status : mr_solver_wait(form, solver);
}
