/* SPDX-License-Identifier: Apache-2.0 */
/* Level 3 with a special matrix on one side: symmetric, Hermitian, triangular. Columns of the result, or its rows if
 * the special matrix stands on the right, don't depend on each other: a part is a strip of them. */
#include "libs/cublas/gemm.h"

struct strip {
    enum mr_cpu_type type;
    cublasSideMode_t side;
    char uplo, trans, diag;
    int m, n, lda, ldb, ldc;
    int64_t each; /* columns, or rows, in a strip */
    struct mr_scalar alpha, beta;
    const void *a, *b;
    void *c;
    bool hermitian;
    int64_t batch; /* each: members */
};

/* How wide strips are: a product with a matrix of `edge` rows and columns takes some tenths of a millisecond. */
static int64_t strip_of(enum mr_cpu_type type, int64_t edge)
{
    double columns = 8e6 / (2.0 * (double)edge * (double)edge * (mr_is_complex(type) ? 4 : 1));
    int64_t least = 64;
    return columns > (double)least ? (int64_t)columns : least;
}

/* Strip i of strips: its first column or row, and its place in b and c. */
struct place {
    int m, n;
    const void *b;
    void *c;
};

static struct place place_of(const struct strip *r, uint64_t index)
{
    int64_t from = (int64_t)index * r->each, all = r->side == CUBLAS_SIDE_LEFT ? r->n : r->m;
    int64_t count = all - from < r->each ? all - from : r->each;
    size_t size = mr_size_of(r->type);
    if (r->side == CUBLAS_SIDE_LEFT)
        return (struct place){r->m, (int)count, mr_behind(r->b, from * r->ldb, size),
                              mr_behind(r->c, from * r->ldc, size)};
    return (struct place){(int)count, r->n, mr_behind(r->b, from, size), mr_behind(r->c, from, size)};
}

static void run_symm(void *data, uint64_t first, uint64_t end)
{
    const struct strip *r = data;
    char side = mr_letter_of_side(r->side);
    for (uint64_t i = first; i < end; i++) {
        struct place at = place_of(r, i);
        (r->hermitian ? mr_cpu.hemm : mr_cpu.symm)[r->type](&side, &r->uplo, &at.m, &at.n, mr_scalar_at(&r->alpha),
                                                            r->a, &r->lda, at.b, &r->ldb, mr_scalar_at(&r->beta), at.c,
                                                            &r->ldc);
    }
}

static void run_trsm(void *data, uint64_t first, uint64_t end)
{
    const struct strip *r = data;
    char side = mr_letter_of_side(r->side);
    for (uint64_t i = first; i < end; i++) {
        struct place at = place_of(r, i);
        mr_cpu.trsm[r->type](&side, &r->uplo, &r->trans, &r->diag, &at.m, &at.n, mr_scalar_at(&r->alpha), r->a, &r->lda,
                             at.c, &r->ldc);
    }
}

static void run_trmm(void *data, uint64_t first, uint64_t end)
{
    const struct strip *r = data;
    char side = mr_letter_of_side(r->side);
    int one = 1;
    size_t size = mr_size_of(r->type);
    for (uint64_t i = first; i < end; i++) {
        struct place at = place_of(r, i);
        for (int j = 0; at.b != at.c && j < at.n; j++)
            mr_cpu.copy[r->type](&at.m, mr_behind(at.b, (int64_t)j * r->ldb, size), &one,
                                 mr_behind(at.c, (int64_t)j * r->ldc, size), &one);
        mr_cpu.trmm[r->type](&side, &r->uplo, &r->trans, &r->diag, &at.m, &at.n, mr_scalar_at(&r->alpha), r->a, &r->lda,
                             at.c, &r->ldc);
    }
}

static void run_trsm_members(void *data, uint64_t first, uint64_t end)
{
    const struct strip *r = data;
    char side = mr_letter_of_side(r->side);
    int64_t to = (int64_t)end * r->each < r->batch ? (int64_t)end * r->each : r->batch;
    for (int64_t i = (int64_t)first * r->each; i < to; i++)
        mr_cpu.trsm[r->type](&side, &r->uplo, &r->trans, &r->diag, &r->m, &r->n, mr_scalar_at(&r->alpha),
                             ((const void *const *)r->a)[i], &r->lda, ((void *const *)r->c)[i], &r->ldc);
}

static cublasStatus_t check(const struct mr_form *form, cublasSideMode_t side, cublasFillMode_t uplo, int64_t m,
                            int64_t n, int64_t lda, int64_t ldb, int64_t ldc)
{
    MR_CHECK(form, mr_is_side(side) && mr_is_uplo(uplo));
    MR_CHECK(form, m >= 0 && n >= 0);
    MR_CHECK(form, lda >= mr_at_least_1(side == CUBLAS_SIDE_LEFT ? m : n));
    MR_CHECK(form, ldb >= mr_at_least_1(m) && ldc >= mr_at_least_1(m));
    MR_FITS(form, m);
    MR_FITS(form, n);
    MR_FITS(form, lda);
    MR_FITS(form, ldb);
    MR_FITS(form, ldc);
    return CUBLAS_STATUS_SUCCESS;
}

/* For observers. With a factor of 0, and a result that is not changed, nothing is told. */
static void tell(const struct mr_form *form, const struct strip *r, void (*run)(void *, uint64_t, uint64_t))
{
    size_t size = mr_size_of(r->type);
    bool symmetric = run == run_symm, in_place = run == run_trsm || r->b == r->c;
    bool reads = symmetric ? !r->beta.device && !mr_scalar_is_0(&r->beta, size) : in_place;
    if (mr_scalar_is_0(&r->alpha, size))
        return;
    bool asked = mr_tell_triangle(form->name, r->a, r->uplo == 'U', !symmetric && r->diag == 'U',
                                  r->side == CUBLAS_SIDE_LEFT ? r->m : r->n, r->lda, size, MR_READS);
    if (asked && (symmetric || !in_place))
        asked = mr_tell_matrix(form->name, r->b, r->m, r->n, r->ldb, size, MR_READS);
    if (asked)
        (void)(mr_tell_matrix(form->name, r->c, r->m, r->n, r->ldc, size, reads ? MR_READS | MR_WRITES : MR_WRITES) &&
               mr_tell_scalar(form->name, &r->alpha, size) &&
               (!symmetric || mr_tell_scalar(form->name, &r->beta, size)));
}

static cublasStatus_t submit_strips(const struct mr_form *form, const struct mr_cublas *blas, struct strip *r,
                                    void (*run)(void *, uint64_t, uint64_t))
{
    bool left = r->side == CUBLAS_SIDE_LEFT;
    r->each = strip_of(r->type, left ? r->m : r->n);
    tell(form, r, run);
    uint64_t parts = mr_parts_of((uint64_t)(left ? r->n : r->m), (uint64_t)r->each);
    return mr_cublas_submit(form, blas, parts, run, r, sizeof *r);
}

static cublasStatus_t symmetric(const struct mr_form *form, cublasHandle_t handle, cublasSideMode_t side,
                                cublasFillMode_t uplo, int64_t m, int64_t n, const void *alpha, const void *a,
                                int64_t lda, const void *b, int64_t ldb, const void *beta, void *c, int64_t ldc,
                                bool hermitian)
{
    struct mr_cublas *blas;
    enum mr_cpu_type type = mr_type_of(form);
    cublasStatus_t status = mr_cublas_enter(form, handle, &blas);
    if (status == CUBLAS_STATUS_SUCCESS)
        status = check(form, side, uplo, m, n, lda, ldb, ldc);
    if (status != CUBLAS_STATUS_SUCCESS || m == 0 || n == 0)
        return status;
    MR_CHECK(form, alpha && beta);
    struct strip r = {.type = type,
                      .side = side,
                      .uplo = mr_letter_of_uplo(uplo),
                      .m = (int)m,
                      .n = (int)n,
                      .lda = (int)lda,
                      .ldb = (int)ldb,
                      .ldc = (int)ldc,
                      .a = a,
                      .b = b,
                      .c = c,
                      .hermitian = hermitian,
                      .alpha = mr_scalar_take(alpha, mr_size_of(type), mr_cublas_on_device(blas)),
                      .beta = mr_scalar_take(beta, mr_size_of(type), mr_cublas_on_device(blas))};
    return submit_strips(form, blas, &r, run_symm);
}

cublasStatus_t mr_cublas_symm(const struct mr_form *form, cublasHandle_t handle, cublasSideMode_t side,
                              cublasFillMode_t uplo, int64_t m, int64_t n, const void *alpha, const void *A,
                              int64_t lda, const void *B, int64_t ldb, const void *beta, void *C, int64_t ldc)
{
    return symmetric(form, handle, side, uplo, m, n, alpha, A, lda, B, ldb, beta, C, ldc, false);
}

cublasStatus_t mr_cublas_hemm(const struct mr_form *form, cublasHandle_t handle, cublasSideMode_t side,
                              cublasFillMode_t uplo, int64_t m, int64_t n, const void *alpha, const void *A,
                              int64_t lda, const void *B, int64_t ldb, const void *beta, void *C, int64_t ldc)
{
    return symmetric(form, handle, side, uplo, m, n, alpha, A, lda, B, ldb, beta, C, ldc, true);
}

/* Checks and fills in what triangular ones have. *r's m and n tell whether there is anything to do. */
static cublasStatus_t triangular(const struct mr_form *form, cublasHandle_t handle, struct mr_cublas **blas,
                                 cublasSideMode_t side, cublasFillMode_t uplo, cublasOperation_t trans,
                                 cublasDiagType_t diag, int64_t m, int64_t n, const void *alpha, int64_t lda,
                                 int64_t ldb, int64_t ldc, struct strip *r)
{
    enum mr_cpu_type type = mr_type_of(form);
    cublasStatus_t status = mr_cublas_enter(form, handle, blas);
    if (status == CUBLAS_STATUS_SUCCESS)
        status = check(form, side, uplo, m, n, lda, ldb, ldc);
    if (status != CUBLAS_STATUS_SUCCESS)
        return status;
    MR_CHECK(form, mr_is_op(trans) && mr_is_diag(diag));
    MR_CHECK(form, m == 0 || n == 0 || alpha);
    r->type = type;
    r->side = side;
    r->uplo = mr_letter_of_uplo(uplo);
    r->trans = mr_letter_of_op(trans);
    r->diag = mr_letter_of_diag(diag);
    r->m = (int)m;
    r->n = (int)n;
    r->lda = (int)lda;
    r->ldb = (int)ldb;
    r->ldc = (int)ldc;
    if (m > 0 && n > 0)
        r->alpha = mr_scalar_take(alpha, mr_size_of(type), mr_cublas_on_device(*blas));
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t mr_cublas_trsm(const struct mr_form *form, cublasHandle_t handle, cublasSideMode_t side,
                              cublasFillMode_t uplo, cublasOperation_t trans, cublasDiagType_t diag, int64_t m,
                              int64_t n, const void *alpha, const void *A, int64_t lda, void *B, int64_t ldb)
{
    struct mr_cublas *blas;
    struct strip r = {.a = A, .b = B, .c = B};
    cublasStatus_t status = triangular(form, handle, &blas, side, uplo, trans, diag, m, n, alpha, lda, ldb, ldb, &r);
    if (status != CUBLAS_STATUS_SUCCESS || m == 0 || n == 0)
        return status;
    return submit_strips(form, blas, &r, run_trsm);
}

cublasStatus_t mr_cublas_trmm(const struct mr_form *form, cublasHandle_t handle, cublasSideMode_t side,
                              cublasFillMode_t uplo, cublasOperation_t trans, cublasDiagType_t diag, int64_t m,
                              int64_t n, const void *alpha, const void *A, int64_t lda, const void *B, int64_t ldb,
                              void *C, int64_t ldc)
{
    struct mr_cublas *blas;
    struct strip r = {.a = A, .b = B, .c = C};
    cublasStatus_t status = triangular(form, handle, &blas, side, uplo, trans, diag, m, n, alpha, lda, ldb, ldc, &r);
    if (status != CUBLAS_STATUS_SUCCESS || m == 0 || n == 0)
        return status;
    MR_CHECK(form, B != C || ldb == ldc);
    return submit_strips(form, blas, &r, run_trmm);
}

cublasStatus_t mr_cublas_trsmBatched(const struct mr_form *form, cublasHandle_t handle, cublasSideMode_t side,
                                     cublasFillMode_t uplo, cublasOperation_t trans, cublasDiagType_t diag, int64_t m,
                                     int64_t n, const void *alpha, const void *const *A, int64_t lda, void *const *B,
                                     int64_t ldb, int64_t batchCount)
{
    struct mr_cublas *blas;
    struct strip r = {.a = A, .b = B, .c = (void *)(uintptr_t)B};
    cublasStatus_t status = triangular(form, handle, &blas, side, uplo, trans, diag, m, n, alpha, lda, ldb, ldb, &r);
    if (status != CUBLAS_STATUS_SUCCESS)
        return status;
    MR_CHECK(form, batchCount >= 0);
    if (m == 0 || n == 0)
        return CUBLAS_STATUS_SUCCESS;
    r.batch = batchCount;
    r.each = (int64_t)(2e6 / ((double)m * (double)n * (double)(side == CUBLAS_SIDE_LEFT ? m : n))) + 1;
    return mr_cublas_submit(form, blas, mr_parts_of((uint64_t)batchCount, (uint64_t)r.each), run_trsm_members, &r,
                            sizeof r);
}
