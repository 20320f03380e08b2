/* SPDX-License-Identifier: Apache-2.0 */
/* Eigenvalues of symmetric and Hermitian matrices, of pairs of them, and of general ones. All the methods that cuSOLVER
 * has for symmetric ones (divide and conquer, rotations) are LAPACK's divide and conquer here; a range of eigenvalues
 * is found by its method of relatively robust representations. */
#include <complex.h>
#include <string.h>

#include "libs/cusolver/results.h"

/* Answers of LAPACK to questions for workspaces. */
struct sizes {
    int work, rwork, iwork;
};

/* Eigenvalues of one matrix in r->type; the vectors in its place. -1 when memory is short. `before` bytes of the room
 * are the caller's, and are given in *mine. */
static int solve(const struct mr_dense *r, void *a, void *w, size_t before, void **mine)
{
    enum mr_cpu_type type = r->type;
    size_t size = mr_size_of(type), real = mr_real_size_of(type);
    int n = (int)r->n, lda = (int)r->lda, info = 0, ask = -1, iask = 0;
    _Alignas(16) unsigned char first[16], rfirst[16];
    struct sizes s = {1, 1, 1};
    if (mr_is_complex(type))
        mr_lapack.syevd_complex[type](&r->job, &r->uplo, &n, a, &lda, w, first, &ask, rfirst, &ask, &iask, &ask, &info,
                                      1, 1);
    else
        mr_lapack.syevd_real[type](&r->job, &r->uplo, &n, a, &lda, w, first, &ask, &iask, &ask, &info, 1, 1);
    s.work = mr_lapack_answer(type, first);
    s.rwork = mr_is_complex(type) ? mr_lapack_answer(type == MR_CPU_C ? MR_CPU_S : MR_CPU_D, rfirst) : 1;
    s.iwork = iask > 0 ? iask : 1;
    struct mr_room room;
    if (!mr_room_open(&room, r->function,
                      MR_ROOM(before) + MR_ROOM((size_t)s.work * size) + MR_ROOM((size_t)s.rwork * real) +
                          MR_ROOM((size_t)s.iwork * sizeof(int))))
        return -1;
    *mine = mr_room_take(&room, before);
    void *work = mr_room_take(&room, (size_t)s.work * size), *rwork = mr_room_take(&room, (size_t)s.rwork * real);
    int *iwork = mr_room_take(&room, (size_t)s.iwork * sizeof(int));
    if (before) {
        /* The whole matrix: LAPACK overwrites it. */
        for (int j = 0; j < n; j++)
            memcpy((char *)*mine + (size_t)j * (size_t)n * size, mr_behind(a, (int64_t)j * lda, size),
                   (size_t)n * size);
    }
    if (mr_is_complex(type))
        mr_lapack.syevd_complex[type](&r->job, &r->uplo, &n, a, &lda, w, work, &s.work, rwork, &s.rwork, iwork,
                                      &s.iwork, &info, 1, 1);
    else
        mr_lapack.syevd_real[type](&r->job, &r->uplo, &n, a, &lda, w, work, &s.work, iwork, &s.iwork, &info, 1, 1);
    return info;
}

/* Fills in the half of a copied matrix that was not given. */
static void complete(enum mr_cpu_type type, char uplo, int n, void *a)
{
#define COMPLETE(element, other) \
    do { \
        element *all = a; \
        for (int j = 0; j < n; j++) \
            for (int i = 0; i < j; i++) { \
                element *up = &all[i + (size_t)j * (size_t)n], *low = &all[j + (size_t)i * (size_t)n]; \
                if (uplo == 'L') \
                    *up = other(*low); \
                else \
                    *low = other(*up); \
            } \
    } while (0)
    switch (type) {
    case MR_CPU_S:
        COMPLETE(float, );
        break;
    case MR_CPU_D:
        COMPLETE(double, );
        break;
    case MR_CPU_C:
        COMPLETE(float complex, conjf);
        break;
    default:
        COMPLETE(double complex, conj);
    }
}

static void run_syev(void *data, uint64_t first, uint64_t end)
{
    const struct mr_dense *r = data;
    int n = (int)r->n;
    size_t size = mr_size_of(r->type);
    bool measured = r->results && r->job == 'V';
    void *copy = NULL;
    (void)first;
    (void)end;
    int info = n ? solve(r, r->a, r->w, measured ? 2 * (size_t)n * (size_t)n * size : 0, &copy) : 0;
    if (info < 0 && !copy)
        return;
    double residual = 0;
    if (measured && n) {
        complete(r->type, r->uplo, n, copy);
        residual = mr_residual(r->type, n, n, n, copy, r->a, (int)r->lda, false, r->a, (int)r->lda, r->w,
                               (char *)copy + (size_t)n * (size_t)n * size);
    }
    if (r->results)
        mr_results_tell(MR_SOLVER_SYEVJ, r->results, residual);
    mr_dense_tell(r, 0, info);
}

cusolverStatus_t mr_dense_syev(const struct mr_form *form, const struct mr_solver *solver, struct mr_dense *r)
{
    MR_ARGUMENT(r, 1, r->job != 'X');
    MR_ARGUMENT(r, 2, r->uplo != 'X');
    MR_ARGUMENT_SQUARE(r, 3);
    MR_CHECK(form, r->info);
    r->writes = MR_LEND_A;
    return mr_dense_submit(form, solver, r, run_syev);
}

static void run_syev_batch(void *data, uint64_t first, uint64_t end)
{
    const struct mr_dense *r = data;
    size_t size = mr_size_of(r->type), real = mr_real_size_of(r->type);
    MR_MEMBERS(r, first, end, i)
    {
        void *none, *matrix = mr_behind(r->a, i * r->stride_a, size),
                    *lent = mr_dense_lend(r, matrix, r->n, r->n, r->lda);
        if (!lent)
            return;
        struct mr_dense member = *r;
        member.lda = lent == matrix ? r->lda : r->n;
        int info = solve(&member, lent, mr_behind(r->w, i * r->stride_w, real), 0, &none);
        mr_dense_back(r, lent, matrix, r->n, r->n, r->lda);
        mr_dense_tell(r, i, info);
    }
    if (r->results && first == 0)
        mr_results_tell(MR_SOLVER_SYEVJ, r->results, -1);
}

/* Matrices and values without gaps between members. */
cusolverStatus_t mr_dense_syev_batch(const struct mr_form *form, const struct mr_solver *solver, struct mr_dense *r)
{
    MR_ARGUMENT(r, 1, r->job != 'X');
    MR_ARGUMENT(r, 2, r->uplo != 'X');
    MR_ARGUMENT_SQUARE(r, 3);
    if (r->n == 0 || r->batch <= 0) /* hardware takes a negative batch for an empty one */
        return CUSOLVER_STATUS_SUCCESS;
    MR_CHECK(form, r->info);
    r->stride_a = r->lda * r->n;
    r->stride_w = r->n;
    return mr_dense_submit_batch(form, solver, r, 9.0 * (double)r->n * (double)r->n * (double)r->n, run_syev_batch);
}

/* Eigenvalues of a range: all of them in w, vectors in A's first columns. -1 when memory is short. */
static int solve_range(const struct mr_dense *r, int *found)
{
    enum mr_cpu_type type = r->type;
    size_t size = mr_size_of(type), real = mr_real_size_of(type);
    int n = (int)r->n, lda = (int)r->lda, il = (int)r->il, iu = (int)r->iu, info = 0, ask = -1, iask = 0;
    bool vectors = r->job == 'V';
    int columns = !vectors ? 0 : r->range == 'I' ? iu - il + 1 : n;
    _Alignas(16) unsigned char first[16], rfirst[16];
    double bounds[3] = {r->vl, r->vu, 0};
    float narrow[3] = {(float)r->vl, (float)r->vu, 0};
    bool single = real == 4;
    const void *vl = single ? (void *)narrow : bounds, *vu = single ? (void *)(narrow + 1) : bounds + 1,
               *tolerance = single ? (void *)(narrow + 2) : bounds + 2;
    struct sizes s = {1, 1, 1};
    void *w = NULL, *z = NULL, *work = first, *rwork = rfirst;
    int *iwork = &iask, *support = NULL;
    int ldz = n > 0 ? n : 1, lwork = ask, lrwork = ask, liwork = ask;
#define CALL() \
    do { \
        if (mr_is_complex(type)) \
            mr_lapack.syevr_complex[type](&r->job, &r->range, &r->uplo, &n, r->a, &lda, vl, vu, &il, &iu, tolerance, \
                                          found, w, z, &ldz, support, work, &lwork, rwork, &lrwork, iwork, &liwork, \
                                          &info, 1, 1, 1); \
        else \
            mr_lapack.syevr_real[type](&r->job, &r->range, &r->uplo, &n, r->a, &lda, vl, vu, &il, &iu, tolerance, \
                                       found, w, z, &ldz, support, work, &lwork, iwork, &liwork, &info, 1, 1, 1); \
    } while (0)
    CALL();
    s.work = mr_lapack_answer(type, first);
    s.rwork = mr_is_complex(type) ? mr_lapack_answer(type == MR_CPU_C ? MR_CPU_S : MR_CPU_D, rfirst) : 1;
    s.iwork = iask > 0 ? iask : 1;
    size_t all = (size_t)columns * (size_t)n * size;
    struct mr_room room;
    if (!mr_room_open(&room, r->function,
                      MR_ROOM(all) + MR_ROOM((size_t)n * real) + MR_ROOM((size_t)s.work * size) +
                          MR_ROOM((size_t)s.rwork * real) + MR_ROOM((size_t)s.iwork * sizeof(int)) +
                          MR_ROOM(2 * (size_t)n * sizeof(int))))
        return -1;
    z = mr_room_take(&room, all);
    w = mr_room_take(&room, (size_t)n * real);
    work = mr_room_take(&room, (size_t)s.work * size);
    rwork = mr_room_take(&room, (size_t)s.rwork * real);
    iwork = mr_room_take(&room, (size_t)s.iwork * sizeof(int));
    support = mr_room_take(&room, 2 * (size_t)n * sizeof(int));
    lwork = s.work;
    lrwork = s.rwork;
    liwork = s.iwork;
    CALL();
#undef CALL
    memcpy(r->w, w, (size_t)*found * real);
    for (int64_t j = 0; vectors && j < *found; j++)
        memcpy(mr_behind(r->a, j * lda, size), mr_behind(z, j * n, size), (size_t)n * size);
    return info;
}

static void run_syev_range(void *data, uint64_t first, uint64_t end)
{
    const struct mr_dense *r = data;
    int found = 0;
    (void)first;
    (void)end;
    int info = r->n ? solve_range(r, &found) : 0;
    if (r->found)
        *r->found = found;
    if (r->wide_found)
        *r->wide_found = found;
    mr_dense_tell(r, 0, info);
}

/* `found` is in host memory: for a range of values the stream is waited for, else the number is known. */
static cusolverStatus_t finish_range(const struct mr_form *form, const struct mr_solver *solver,
                                     const struct mr_dense *r, struct mr_dense *submitted,
                                     void (*run)(void *, uint64_t, uint64_t))
{
    int64_t known = r->range == 'A' ? r->n : r->iu - r->il + 1;
    int found = 0;
    if (r->range == 'V')
        submitted->found = &found;
    else
        submitted->found = NULL;
    submitted->wide_found = NULL;
    cusolverStatus_t status = mr_dense_submit(form, solver, submitted, run);
    if (status == CUSOLVER_STATUS_SUCCESS && r->range == 'V') {
        status = mr_solver_wait(form, solver);
        known = found;
    }
    if (status == CUSOLVER_STATUS_SUCCESS && r->found)
        *r->found = (int)known;
    if (status == CUSOLVER_STATUS_SUCCESS && r->wide_found)
        *r->wide_found = known;
    return status;
}

/* `shift`: how many arguments more stand before jobz; `more`: before the range's bounds. */
static cusolverStatus_t check_range(const struct mr_form *form, const struct mr_solver *solver,
                                    const struct mr_dense *r, int shift, int more)
{
    MR_ARGUMENT(r, 1 + shift, r->job != 'X');
    MR_ARGUMENT(r, 2 + shift, r->range != 'X');
    MR_ARGUMENT(r, 3 + shift, r->uplo != 'X');
    MR_ARGUMENT_SQUARE(r, 4 + shift);
    if (r->range == 'I' && r->n > 0) {
        MR_ARGUMENT(r, 9 + more, r->il >= 1 && r->il <= r->n);
        MR_ARGUMENT(r, 10 + more, r->iu >= r->il && r->iu <= r->n);
    }
    if (r->range == 'V' && r->n > 0)
        MR_ARGUMENT(r, 8 + more, r->vl < r->vu);
    return CUSOLVER_STATUS_SUCCESS;
}

cusolverStatus_t mr_dense_syev_range(const struct mr_form *form, const struct mr_solver *solver, struct mr_dense *r)
{
    cusolverStatus_t status = check_range(form, solver, r, 0, 0);
    if (status)
        return status;
    MR_CHECK(form, r->info);
    struct mr_dense submitted = *r;
    submitted.writes = MR_LEND_A;
    if (r->range == 'A' || r->n == 0) {
        submitted.found = NULL;
        submitted.wide_found = NULL;
        status = mr_dense_submit(form, solver, &submitted, run_syev);
        if (status == CUSOLVER_STATUS_SUCCESS && r->found)
            *r->found = (int)r->n;
        if (status == CUSOLVER_STATUS_SUCCESS && r->wide_found)
            *r->wide_found = r->n;
        return status;
    }
    return finish_range(form, solver, r, &submitted, run_syev_range);
}

static char range_letter(cusolverEigRange_t range)
{
    switch ((int)range) {
    case CUSOLVER_EIG_RANGE_ALL:
        return 'A';
    case CUSOLVER_EIG_RANGE_I:
        return 'I';
    case CUSOLVER_EIG_RANGE_V:
        return 'V';
    default:
        return 'X';
    }
}

#define SYMMETRIC(...) \
    struct mr_dense r = {.type = mr_type_of(form), \
                         .job = mr_job_letter(jobz), \
                         .uplo = mr_uplo_letter(uplo), \
                         .n = n, \
                         .a = (void *)(uintptr_t)A, \
                         .lda = lda, \
                         .w = (void *)(uintptr_t)W, \
                         __VA_ARGS__}

#define CHECK_SYMMETRIC() MR_CHECK(form, mr_is_jobz(jobz) && mr_is_uplo(uplo) && n >= 0)

cusolverStatus_t mr_cusolver_syevd_bufferSize(const struct mr_form *form, cusolverDnHandle_t handle,
                                              cusolverEigMode_t jobz, cublasFillMode_t uplo, int64_t n, const void *A,
                                              int64_t lda, const void *W, int *lwork)
{
    MR_ENTER();
    (void)A;
    (void)W;
    (void)lda;
    CHECK_SYMMETRIC();
    return mr_dense_buffer(form, n, n, lwork);
}

cusolverStatus_t mr_cusolver_syevd(const struct mr_form *form, cusolverDnHandle_t handle, cusolverEigMode_t jobz,
                                   cublasFillMode_t uplo, int64_t n, void *A, int64_t lda, void *W, void *work,
                                   int64_t lwork, int *info)
{
    MR_ENTER();
    (void)work;
    (void)lwork;
    SYMMETRIC(.info = info);
    return mr_dense_syev(form, solver, &r);
}

cusolverStatus_t mr_cusolver_syevj_bufferSize(const struct mr_form *form, cusolverDnHandle_t handle,
                                              cusolverEigMode_t jobz, cublasFillMode_t uplo, int64_t n, const void *A,
                                              int64_t lda, const void *W, int *lwork, syevjInfo_t params)
{
    MR_CHECK(form, params);
    return mr_cusolver_syevd_bufferSize(form, handle, jobz, uplo, n, A, lda, W, lwork);
}

cusolverStatus_t mr_cusolver_syevj(const struct mr_form *form, cusolverDnHandle_t handle, cusolverEigMode_t jobz,
                                   cublasFillMode_t uplo, int64_t n, void *A, int64_t lda, void *W, void *work,
                                   int64_t lwork, int *info, syevjInfo_t params)
{
    MR_ENTER();
    (void)work;
    (void)lwork;
    MR_CHECK(form, mr_solver_find(MR_SOLVER_SYEVJ, params));
    SYMMETRIC(.info = info, .results = params);
    return mr_dense_syev(form, solver, &r);
}

cusolverStatus_t mr_cusolver_syevjBatched_bufferSize(const struct mr_form *form, cusolverDnHandle_t handle,
                                                     cusolverEigMode_t jobz, cublasFillMode_t uplo, int64_t n,
                                                     const void *A, int64_t lda, const void *W, int *lwork,
                                                     syevjInfo_t params, int64_t batchSize)
{
    MR_CHECK(form, params && batchSize >= 0);
    return mr_cusolver_syevd_bufferSize(form, handle, jobz, uplo, n, A, lda, W, lwork);
}

cusolverStatus_t mr_cusolver_syevjBatched(const struct mr_form *form, cusolverDnHandle_t handle, cusolverEigMode_t jobz,
                                          cublasFillMode_t uplo, int64_t n, void *A, int64_t lda, void *W, void *work,
                                          int64_t lwork, int *info, syevjInfo_t params, int64_t batchSize)
{
    MR_ENTER();
    (void)work;
    (void)lwork;
    MR_CHECK(form, mr_solver_find(MR_SOLVER_SYEVJ, params));
    SYMMETRIC(.info = info, .results = params, .batch = batchSize);
    return mr_dense_syev_batch(form, solver, &r);
}

cusolverStatus_t mr_cusolver_syevdx_bufferSize(const struct mr_form *form, cusolverDnHandle_t handle,
                                               cusolverEigMode_t jobz, cusolverEigRange_t range, cublasFillMode_t uplo,
                                               int64_t n, const void *A, int64_t lda, double vl, double vu, int64_t il,
                                               int64_t iu, int *meig, const void *W, int *lwork)
{
    MR_ENTER();
    (void)meig;
    SYMMETRIC(.range = range_letter(range), .vl = vl, .vu = vu, .il = il, .iu = iu);
    MR_ANY_LEADING_DIMENSION(&r);
    cusolverStatus_t status = check_range(form, solver, &r, 0, 0);
    return status ? status : mr_dense_buffer(form, n, n, lwork);
}

cusolverStatus_t mr_cusolver_syevdx(const struct mr_form *form, cusolverDnHandle_t handle, cusolverEigMode_t jobz,
                                    cusolverEigRange_t range, cublasFillMode_t uplo, int64_t n, void *A, int64_t lda,
                                    double vl, double vu, int64_t il, int64_t iu, int *meig, void *W, void *work,
                                    int64_t lwork, int *info)
{
    MR_ENTER();
    (void)work;
    (void)lwork;
    SYMMETRIC(.range = range_letter(range), .vl = vl, .vu = vu, .il = il, .iu = iu, .found = meig, .info = info);
    return mr_dense_syev_range(form, solver, &r);
}

/* ---- pairs of matrices ---- */

static const void *one_of(enum mr_cpu_type type)
{
    static const float single[2] = {1, 0};
    static const double two[2] = {1, 0};
    return mr_real_size_of(type) == 4 ? (const void *)single : two;
}

/* A x = w B x and its kin. B is factorised, A becomes an ordinary problem, which is solved, and its vectors are turned
 * back into those of the pair. */
static void run_pair(void *data, uint64_t first, uint64_t end)
{
    const struct mr_dense *r = data;
    enum mr_cpu_type type = r->type;
    int n = (int)r->n, lda = (int)r->lda, ldb = (int)r->ldb, info = 0, found = n;
    void *none;
    (void)first;
    (void)end;
    if (n == 0) {
        mr_dense_tell(r, 0, 0);
        return;
    }
    mr_lapack.potrf[type](&r->uplo, &n, r->b, &ldb, &info, 1);
    if (info) {
        mr_dense_tell(r, 0, info + n);
        return;
    }
    mr_lapack.sygst[type](&r->itype, &r->uplo, &n, r->a, &lda, r->b, &ldb, &info, 1);
    info = r->range == 'A' ? solve(r, r->a, r->w, 0, &none) : solve_range(r, &found);
    if (info == 0 && r->job == 'V') {
        const char *adjoint = mr_is_complex(type) ? "C" : "T";
        bool upper = r->uplo == 'U', divide = r->itype <= 2;
        const char *op = upper == divide ? "N" : adjoint;
        (divide ? mr_cpu.trsm : mr_cpu.trmm)[type]("L", &r->uplo, op, "N", &n, &found, one_of(type), r->b, &ldb, r->a,
                                                   &lda);
    }
    if (r->results)
        mr_results_tell(MR_SOLVER_SYEVJ, r->results, 0);
    if (r->found)
        *r->found = found;
    mr_dense_tell(r, 0, info);
}

/* A function without a range has one argument less before the order. */
static cusolverStatus_t check_pair(const struct mr_form *form, const struct mr_solver *solver, const struct mr_dense *r)
{
    bool ranged = r->range != 'A';
    MR_ARGUMENT(r, 1, r->itype >= CUSOLVER_EIG_TYPE_1 && r->itype <= CUSOLVER_EIG_TYPE_3);
    cusolverStatus_t status = check_range(form, solver, r, ranged ? 1 : 0, 3);
    if (status)
        return status;
    MR_ARGUMENT(r, ranged ? 9 : 8, r->ldb >= mr_at_least_1(r->n));
    return CUSOLVER_STATUS_SUCCESS;
}

static cusolverStatus_t pair(const struct mr_form *form, const struct mr_solver *solver, const struct mr_dense *r)
{
    cusolverStatus_t status = check_pair(form, solver, r);
    if (status)
        return status;
    MR_CHECK(form, r->info);
    struct mr_dense submitted = *r;
    submitted.writes = MR_LEND_A | MR_LEND_B;
    return finish_range(form, solver, r, &submitted, run_pair);
}

#define PAIR(...) SYMMETRIC(.itype = (int)itype, .b = (void *)(uintptr_t)B, .ldb = ldb, __VA_ARGS__)

cusolverStatus_t mr_cusolver_sygvd_bufferSize(const struct mr_form *form, cusolverDnHandle_t handle,
                                              cusolverEigType_t itype, cusolverEigMode_t jobz, cublasFillMode_t uplo,
                                              int64_t n, const void *A, int64_t lda, const void *B, int64_t ldb,
                                              const void *W, int *lwork)
{
    MR_ENTER();
    PAIR(.range = 'A');
    MR_ANY_LEADING_DIMENSION(&r);
    cusolverStatus_t status = check_pair(form, solver, &r);
    return status ? status : mr_dense_buffer(form, n, n, lwork);
}

cusolverStatus_t mr_cusolver_sygvd(const struct mr_form *form, cusolverDnHandle_t handle, cusolverEigType_t itype,
                                   cusolverEigMode_t jobz, cublasFillMode_t uplo, int64_t n, void *A, int64_t lda,
                                   void *B, int64_t ldb, void *W, void *work, int64_t lwork, int *info)
{
    MR_ENTER();
    (void)work;
    (void)lwork;
    PAIR(.range = 'A', .info = info);
    return pair(form, solver, &r);
}

cusolverStatus_t mr_cusolver_sygvdx_bufferSize(const struct mr_form *form, cusolverDnHandle_t handle,
                                               cusolverEigType_t itype, cusolverEigMode_t jobz,
                                               cusolverEigRange_t range, cublasFillMode_t uplo, int64_t n,
                                               const void *A, int64_t lda, const void *B, int64_t ldb, double vl,
                                               double vu, int64_t il, int64_t iu, int *meig, const void *W, int *lwork)
{
    MR_ENTER();
    (void)meig;
    PAIR(.range = range_letter(range), .vl = vl, .vu = vu, .il = il, .iu = iu);
    MR_ANY_LEADING_DIMENSION(&r);
    cusolverStatus_t status = check_pair(form, solver, &r);
    return status ? status : mr_dense_buffer(form, n, n, lwork);
}

cusolverStatus_t mr_cusolver_sygvdx(const struct mr_form *form, cusolverDnHandle_t handle, cusolverEigType_t itype,
                                    cusolverEigMode_t jobz, cusolverEigRange_t range, cublasFillMode_t uplo, int64_t n,
                                    void *A, int64_t lda, void *B, int64_t ldb, double vl, double vu, int64_t il,
                                    int64_t iu, int *meig, void *W, void *work, int64_t lwork, int *info)
{
    MR_ENTER();
    (void)work;
    (void)lwork;
    PAIR(.range = range_letter(range), .vl = vl, .vu = vu, .il = il, .iu = iu, .found = meig, .info = info);
    return pair(form, solver, &r);
}

cusolverStatus_t mr_cusolver_sygvj_bufferSize(const struct mr_form *form, cusolverDnHandle_t handle,
                                              cusolverEigType_t itype, cusolverEigMode_t jobz, cublasFillMode_t uplo,
                                              int64_t n, const void *A, int64_t lda, const void *B, int64_t ldb,
                                              const void *W, int *lwork, syevjInfo_t params)
{
    MR_CHECK(form, params);
    return mr_cusolver_sygvd_bufferSize(form, handle, itype, jobz, uplo, n, A, lda, B, ldb, W, lwork);
}

cusolverStatus_t mr_cusolver_sygvj(const struct mr_form *form, cusolverDnHandle_t handle, cusolverEigType_t itype,
                                   cusolverEigMode_t jobz, cublasFillMode_t uplo, int64_t n, void *A, int64_t lda,
                                   void *B, int64_t ldb, void *W, void *work, int64_t lwork, int *info,
                                   syevjInfo_t params)
{
    MR_ENTER();
    (void)work;
    (void)lwork;
    MR_CHECK(form, mr_solver_find(MR_SOLVER_SYEVJ, params));
    PAIR(.range = 'A', .info = info, .results = params);
    return pair(form, solver, &r);
}

/* ---- general matrices ---- */

static void run_geev(void *data, uint64_t first, uint64_t end)
{
    const struct mr_dense *r = data;
    enum mr_cpu_type type = r->type;
    size_t size = mr_size_of(type), real = mr_real_size_of(type);
    int n = (int)r->n, lda = (int)r->lda, ldv = (int)r->ldv, one = 1, info = 0, lwork = -1;
    _Alignas(16) unsigned char answer[16];
    void *work = answer, *wr = answer, *wi = answer, *rwork = answer;
    (void)first;
    (void)end;
    if (n == 0) {
        mr_dense_tell(r, 0, 0);
        return;
    }
#define CALL() \
    do { \
        if (mr_is_complex(type)) \
            mr_lapack.geev_complex[type]("N", &r->job, &n, r->a, &lda, r->w, NULL, &one, r->v, &ldv, work, &lwork, \
                                         rwork, &info, 1, 1); \
        else \
            mr_lapack.geev_real[type]("N", &r->job, &n, r->a, &lda, wr, wi, NULL, &one, r->v, &ldv, work, &lwork, \
                                      &info, 1, 1); \
    } while (0)
    CALL();
    lwork = mr_lapack_answer(type, answer);
    struct mr_room room;
    if (!mr_room_open(&room, r->function, MR_ROOM((size_t)lwork * size) + MR_ROOM(2 * (size_t)n * real)))
        return;
    work = mr_room_take(&room, (size_t)lwork * size);
    rwork = wr = mr_room_take(&room, 2 * (size_t)n * real);
    wi = (char *)wr + (size_t)n * real;
    CALL();
#undef CALL
    for (size_t i = 0; !mr_is_complex(type) && i < (size_t)n; i++) {
        size_t re = r->complex_values ? 2 * i : i, im = r->complex_values ? 2 * i + 1 : i + (size_t)n;
        memcpy((char *)r->w + re * real, (char *)wr + i * real, real);
        memcpy((char *)r->w + im * real, (char *)wi + i * real, real);
    }
    mr_dense_tell(r, 0, info);
}

cusolverStatus_t mr_dense_geev(const struct mr_form *form, const struct mr_solver *solver, struct mr_dense *r)
{
    MR_CHECK(form, r->job != 'X');
    MR_CHECK(form, r->n >= 0 && r->lda >= mr_at_least_1(r->n));
    MR_CHECK(form, r->ldv >= 1 && (r->job == 'N' || r->ldv >= mr_at_least_1(r->n)));
    MR_CHECK(form, r->info);
    r->writes = MR_LEND_A;
    return mr_dense_submit(form, solver, r, run_geev);
}
