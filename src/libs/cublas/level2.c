/* SPDX-License-Identifier: Apache-2.0 */
/* Level 2: a matrix and a vector. The CPU library does each call in one part, except for large products of a general
 * matrix (gemv.c). */
#include "libs/cublas/blas.h"

/* All that a function of level 2 may have. Letters are the CPU library's. */
struct level2 {
    enum mr_cpu_type type;
    char uplo, trans, diag;
    int m, n, k, kl, ku, lda, incx, incy;
    struct mr_scalar alpha, beta;
    const void *a, *x;
    void *y; /* the vector that is written, or the matrix */
};

#define ENTER() \
    struct mr_cublas *blas; \
    cublasStatus_t entered = mr_cublas_enter(form, handle, &blas); \
    if (entered != CUBLAS_STATUS_SUCCESS) \
        return entered; \
    enum mr_cpu_type type = mr_type_of(form)

#define SUBMIT(run, ...) \
    do { \
        struct level2 record = {__VA_ARGS__}; \
        tell(form, &record, run); \
        return mr_cublas_submit(form, blas, 1, run, &record, sizeof record); \
    } while (0)

#define ALPHA(pointer) mr_scalar_take(pointer, mr_size_of(type), mr_cublas_on_device(blas))
#define REAL_ALPHA(pointer) mr_scalar_take(pointer, mr_real_size_of(type), mr_cublas_on_device(blas))

/* `record` is what the part gets, `call` the CPU library's function, with the type's index. */
#define RUN(name, function, ...) \
    static void run_##name(void *data, uint64_t first, uint64_t end) \
    { \
        const struct level2 *r = data; \
        (void)first, (void)end; \
        mr_cpu.function[r->type](__VA_ARGS__); \
    }

RUN(gbmv, gbmv, &r->trans, &r->m, &r->n, &r->kl, &r->ku, mr_scalar_at(&r->alpha), r->a, &r->lda, r->x, &r->incx,
    mr_scalar_at(&r->beta), r->y, &r->incy)
RUN(trmv, trmv, &r->uplo, &r->trans, &r->diag, &r->n, r->a, &r->lda, r->y, &r->incy)
RUN(trsv, trsv, &r->uplo, &r->trans, &r->diag, &r->n, r->a, &r->lda, r->y, &r->incy)
RUN(tbmv, tbmv, &r->uplo, &r->trans, &r->diag, &r->n, &r->k, r->a, &r->lda, r->y, &r->incy)
RUN(tbsv, tbsv, &r->uplo, &r->trans, &r->diag, &r->n, &r->k, r->a, &r->lda, r->y, &r->incy)
RUN(tpmv, tpmv, &r->uplo, &r->trans, &r->diag, &r->n, r->a, r->y, &r->incy)
RUN(tpsv, tpsv, &r->uplo, &r->trans, &r->diag, &r->n, r->a, r->y, &r->incy)
RUN(symv, symv, &r->uplo, &r->n, mr_scalar_at(&r->alpha), r->a, &r->lda, r->x, &r->incx, mr_scalar_at(&r->beta), r->y,
    &r->incy)
RUN(hemv, hemv, &r->uplo, &r->n, mr_scalar_at(&r->alpha), r->a, &r->lda, r->x, &r->incx, mr_scalar_at(&r->beta), r->y,
    &r->incy)
RUN(sbmv, sbmv, &r->uplo, &r->n, &r->k, mr_scalar_at(&r->alpha), r->a, &r->lda, r->x, &r->incx, mr_scalar_at(&r->beta),
    r->y, &r->incy)
RUN(hbmv, hbmv, &r->uplo, &r->n, &r->k, mr_scalar_at(&r->alpha), r->a, &r->lda, r->x, &r->incx, mr_scalar_at(&r->beta),
    r->y, &r->incy)
RUN(spmv, spmv, &r->uplo, &r->n, mr_scalar_at(&r->alpha), r->a, r->x, &r->incx, mr_scalar_at(&r->beta), r->y, &r->incy)
RUN(hpmv, hpmv, &r->uplo, &r->n, mr_scalar_at(&r->alpha), r->a, r->x, &r->incx, mr_scalar_at(&r->beta), r->y, &r->incy)
RUN(ger, ger, &r->m, &r->n, mr_scalar_at(&r->alpha), r->a, &r->incx, r->x, &r->incy, r->y, &r->lda)
RUN(geru, geru, &r->m, &r->n, mr_scalar_at(&r->alpha), r->a, &r->incx, r->x, &r->incy, r->y, &r->lda)
RUN(gerc, gerc, &r->m, &r->n, mr_scalar_at(&r->alpha), r->a, &r->incx, r->x, &r->incy, r->y, &r->lda)
RUN(syr, syr, &r->uplo, &r->n, mr_scalar_at(&r->alpha), r->x, &r->incx, r->y, &r->lda)
RUN(her, her, &r->uplo, &r->n, mr_scalar_at(&r->alpha), r->x, &r->incx, r->y, &r->lda)
RUN(spr, spr, &r->uplo, &r->n, mr_scalar_at(&r->alpha), r->x, &r->incx, r->y)
RUN(hpr, hpr, &r->uplo, &r->n, mr_scalar_at(&r->alpha), r->x, &r->incx, r->y)
RUN(syr2, syr2, &r->uplo, &r->n, mr_scalar_at(&r->alpha), r->a, &r->incx, r->x, &r->incy, r->y, &r->lda)
RUN(her2, her2, &r->uplo, &r->n, mr_scalar_at(&r->alpha), r->a, &r->incx, r->x, &r->incy, r->y, &r->lda)
RUN(spr2, spr2, &r->uplo, &r->n, mr_scalar_at(&r->alpha), r->a, &r->incx, r->x, &r->incy, r->y)
RUN(hpr2, hpr2, &r->uplo, &r->n, mr_scalar_at(&r->alpha), r->a, &r->incx, r->x, &r->incy, r->y)

/* Where element i of a vector of n begins, as BLAS counts with a negative increment. */
static const char *element(const void *x, int n, int inc, int i, size_t size)
{
    int64_t place = inc > 0 ? (int64_t)i * inc : (int64_t)(i - (n - 1)) * inc;
    return mr_behind(x, place, size);
}

/* A += alpha x transposed(y) + alpha y transposed(x) in one triangle, for complex elements: the CPU library has none.
 */
static void run_complex_syr2(void *data, uint64_t first, uint64_t end)
{
    const struct level2 *r = data;
    (void)first, (void)end;
    size_t size = mr_size_of(r->type);
    bool upper = r->uplo == 'U';
    for (int j = 0; j < r->n; j++) {
        const void *vectors[2] = {r->a, r->x};
        int steps[2] = {r->incx, r->incy};
        for (int side = 0; side < 2; side++) {
            int from = upper ? 0 : j, count = upper ? j + 1 : r->n - j, one = 1, step = steps[side];
            _Alignas(16) unsigned char factor[16] = {0};
            const void *other = element(vectors[!side], r->n, steps[!side], j, size);
            mr_cpu.axpy[r->type](&one, mr_scalar_at(&r->alpha), other, &one, factor, &one);
            /* The run of elements from .. from + count - 1, whose base is its end if the increment is negative. */
            const void *base = element(vectors[side], r->n, step, step > 0 ? from : from + count - 1, size);
            mr_cpu.axpy[r->type](&count, factor, base, &step, mr_behind(r->y, from + (int64_t)j * r->lda, size), &one);
        }
    }
}

/* For observers: a product of a square matrix, of which one triangle is kept, and a vector. */
static void tell_product(const struct mr_form *form, const struct level2 *r, bool packed)
{
    size_t size = mr_size_of(r->type);
    if (mr_scalar_is_0(&r->alpha, size))
        return;
    bool asked = packed ? mr_tell_rows(form->name, r->a, (size_t)r->n * (size_t)(r->n + 1) / 2 * size, 1, 0, MR_READS)
                        : mr_tell_triangle(form->name, r->a, r->uplo == 'U', false, r->n, r->lda, size, MR_READS);
    if (asked)
        (void)(mr_tell_vector(form->name, r->x, r->n, r->incx, size, MR_READS) &&
               mr_tell_vector(form->name, r->y, r->n, r->incy, size,
                              r->beta.device || mr_scalar_is_0(&r->beta, size) ? MR_WRITES : MR_READS | MR_WRITES) &&
               mr_tell_scalar(form->name, &r->alpha, size) && mr_tell_scalar(form->name, &r->beta, size));
}

/* Kinds of updates: by two vectors; with a real factor; of the whole matrix; of a packed triangle. */
enum { BY_TWO = 1, BY_REAL = 2, OF_WHOLE = 4, OF_PACKED = 8 };

/* The same: a vector or two are added to a matrix. */
static void tell_update(const struct mr_form *form, const struct level2 *r, unsigned kind)
{
    const unsigned both = MR_READS | MR_WRITES;
    const bool two = kind & BY_TWO, whole = kind & OF_WHOLE;
    size_t size = mr_size_of(r->type), scalar = kind & BY_REAL ? mr_real_size_of(r->type) : size;
    if (mr_scalar_is_0(&r->alpha, scalar))
        return;
    /* With two vectors, the first one is `a`, and `x` has the second one's increment. */
    bool asked = !two || mr_tell_vector(form->name, r->a, whole ? r->m : r->n, r->incx, size, MR_READS);
    if (asked)
        asked = mr_tell_vector(form->name, r->x, r->n, two ? r->incy : r->incx, size, MR_READS);
    if (asked && kind & OF_PACKED)
        asked = mr_tell_rows(form->name, r->y, (size_t)r->n * (size_t)(r->n + 1) / 2 * size, 1, 0, both);
    else if (asked && whole)
        asked = mr_tell_matrix(form->name, r->y, r->m, r->n, r->lda, size, both);
    else if (asked)
        asked = mr_tell_triangle(form->name, r->y, r->uplo == 'U', false, r->n, r->lda, size, both);
    if (asked)
        (void)mr_tell_scalar(form->name, &r->alpha, scalar);
}

/* What banded and packed triangular matrices touch is not told. */
static void tell(const struct mr_form *form, const struct level2 *r, void (*run)(void *, uint64_t, uint64_t))
{
    size_t size = mr_size_of(r->type);
    if (run == run_symv || run == run_hemv || run == run_spmv || run == run_hpmv)
        tell_product(form, r, run == run_spmv || run == run_hpmv);
    else if (run == run_ger || run == run_geru || run == run_gerc)
        tell_update(form, r, BY_TWO | OF_WHOLE);
    else if (run == run_syr || run == run_her)
        tell_update(form, r, run == run_her ? BY_REAL : 0);
    else if (run == run_spr || run == run_hpr)
        tell_update(form, r, run == run_hpr ? BY_REAL | OF_PACKED : OF_PACKED);
    else if (run == run_syr2 || run == run_complex_syr2 || run == run_her2)
        tell_update(form, r, BY_TWO);
    else if (run == run_spr2 || run == run_hpr2)
        tell_update(form, r, BY_TWO | OF_PACKED);
    else if (run == run_trmv || run == run_trsv)
        (void)(mr_tell_triangle(form->name, r->a, r->uplo == 'U', r->diag == 'U', r->n, r->lda, size, MR_READS) &&
               mr_tell_vector(form->name, r->y, r->n, r->incy, size, MR_READS | MR_WRITES));
}

cublasStatus_t mr_cublas_gbmv(const struct mr_form *form, cublasHandle_t handle, cublasOperation_t trans, int64_t m,
                              int64_t n, int64_t kl, int64_t ku, const void *alpha, const void *A, int64_t lda,
                              const void *x, int64_t incx, const void *beta, void *y, int64_t incy)
{
    ENTER();
    MR_CHECK(form, mr_is_op(trans) && m >= 0 && n >= 0 && kl >= 0 && ku >= 0);
    MR_CHECK(form, incx != 0 && incy != 0 && lda >= kl + ku + 1);
    if (m == 0 || n == 0)
        return CUBLAS_STATUS_SUCCESS;
    MR_CHECK(form, alpha && beta);
    MR_FITS(form, m + kl + ku);
    MR_FITS(form, n);
    MR_FITS(form, lda);
    MR_FITS(form, incx);
    MR_FITS(form, incy);
    SUBMIT(run_gbmv, .type = type, .trans = mr_letter_of_op(trans), .m = (int)m, .n = (int)n, .kl = (int)kl,
           .ku = (int)ku, .lda = (int)lda, .incx = (int)incx, .incy = (int)incy, .alpha = ALPHA(alpha),
           .beta = ALPHA(beta), .a = A, .x = x, .y = y);
}

/* Triangular matrices. `k`: diagonals of a band, or -1; `lda`: -1 for a packed one. */
static cublasStatus_t triangular(const struct mr_form *form, cublasHandle_t handle, cublasFillMode_t uplo,
                                 cublasOperation_t trans, cublasDiagType_t diag, int64_t n, int64_t k, const void *a,
                                 int64_t lda, void *x, int64_t incx,
                                 void (*run)(void *record, uint64_t first, uint64_t end))
{
    ENTER();
    MR_CHECK(form, mr_is_uplo(uplo) && mr_is_op(trans) && mr_is_diag(diag));
    MR_CHECK(form, n >= 0 && k >= -1 && incx != 0);
    MR_CHECK(form, lda == -1 || lda >= (k >= 0 ? k + 1 : mr_at_least_1(n)));
    if (n == 0)
        return CUBLAS_STATUS_SUCCESS;
    MR_FITS(form, n);
    MR_FITS(form, lda);
    MR_FITS(form, incx);
    SUBMIT(run, .type = type, .uplo = mr_letter_of_uplo(uplo), .trans = mr_letter_of_op(trans),
           .diag = mr_letter_of_diag(diag), .n = (int)n, .k = (int)k, .lda = (int)lda, .incy = (int)incx, .a = a,
           .y = x);
}

#define TRIANGULAR(name) \
    cublasStatus_t mr_cublas_##name(const struct mr_form *form, cublasHandle_t handle, cublasFillMode_t uplo, \
                                    cublasOperation_t trans, cublasDiagType_t diag, int64_t n, const void *A, \
                                    int64_t lda, void *x, int64_t incx) \
    { \
        return triangular(form, handle, uplo, trans, diag, n, -1, A, lda > -1 ? lda : 0, x, incx, run_##name); \
    }
TRIANGULAR(trmv)
TRIANGULAR(trsv)

#define BANDED(name) \
    cublasStatus_t mr_cublas_##name(const struct mr_form *form, cublasHandle_t handle, cublasFillMode_t uplo, \
                                    cublasOperation_t trans, cublasDiagType_t diag, int64_t n, int64_t k, \
                                    const void *A, int64_t lda, void *x, int64_t incx) \
    { \
        return triangular(form, handle, uplo, trans, diag, n, k < 0 ? -2 : k, A, lda > -1 ? lda : 0, x, incx, \
                          run_##name); \
    }
BANDED(tbmv)
BANDED(tbsv)

#define PACKED(name) \
    cublasStatus_t mr_cublas_##name(const struct mr_form *form, cublasHandle_t handle, cublasFillMode_t uplo, \
                                    cublasOperation_t trans, cublasDiagType_t diag, int64_t n, const void *AP, \
                                    void *x, int64_t incx) \
    { \
        return triangular(form, handle, uplo, trans, diag, n, -1, AP, -1, x, incx, run_##name); \
    }
PACKED(tpmv)
PACKED(tpsv)

/* y = alpha A x + beta y for a symmetric or Hermitian A. `k` and `lda` as above. */
static cublasStatus_t symmetric(const struct mr_form *form, cublasHandle_t handle, cublasFillMode_t uplo, int64_t n,
                                int64_t k, const void *alpha, const void *a, int64_t lda, const void *x, int64_t incx,
                                const void *beta, void *y, int64_t incy,
                                void (*run)(void *record, uint64_t first, uint64_t end))
{
    ENTER();
    MR_CHECK(form, mr_is_uplo(uplo) && n >= 0 && k >= -1 && incx != 0 && incy != 0);
    if (n == 0)
        return CUBLAS_STATUS_SUCCESS;
    MR_CHECK(form, lda == -1 || lda >= (k >= 0 ? k + 1 : n));
    MR_CHECK(form, alpha && beta);
    MR_FITS(form, n);
    MR_FITS(form, lda);
    MR_FITS(form, incx);
    MR_FITS(form, incy);
    SUBMIT(run, .type = type, .uplo = mr_letter_of_uplo(uplo), .n = (int)n, .k = (int)k, .lda = (int)lda,
           .incx = (int)incx, .incy = (int)incy, .alpha = ALPHA(alpha), .beta = ALPHA(beta), .a = a, .x = x, .y = y);
}

#define SYMMETRIC(name) \
    cublasStatus_t mr_cublas_##name(const struct mr_form *form, cublasHandle_t handle, cublasFillMode_t uplo, \
                                    int64_t n, const void *alpha, const void *A, int64_t lda, const void *x, \
                                    int64_t incx, const void *beta, void *y, int64_t incy) \
    { \
        return symmetric(form, handle, uplo, n, -1, alpha, A, lda > -1 ? lda : 0, x, incx, beta, y, incy, run_##name); \
    }
SYMMETRIC(symv)
SYMMETRIC(hemv)

#define SYMMETRIC_BAND(name) \
    cublasStatus_t mr_cublas_##name(const struct mr_form *form, cublasHandle_t handle, cublasFillMode_t uplo, \
                                    int64_t n, int64_t k, const void *alpha, const void *A, int64_t lda, \
                                    const void *x, int64_t incx, const void *beta, void *y, int64_t incy) \
    { \
        return symmetric(form, handle, uplo, n, k < 0 ? -2 : k, alpha, A, lda > -1 ? lda : 0, x, incx, beta, y, incy, \
                         run_##name); \
    }
SYMMETRIC_BAND(sbmv)
SYMMETRIC_BAND(hbmv)

#define SYMMETRIC_PACKED(name) \
    cublasStatus_t mr_cublas_##name(const struct mr_form *form, cublasHandle_t handle, cublasFillMode_t uplo, \
                                    int64_t n, const void *alpha, const void *AP, const void *x, int64_t incx, \
                                    const void *beta, void *y, int64_t incy) \
    { \
        return symmetric(form, handle, uplo, n, -1, alpha, AP, -1, x, incx, beta, y, incy, run_##name); \
    }
SYMMETRIC_PACKED(spmv)
SYMMETRIC_PACKED(hpmv)

#define RANK1(name) \
    cublasStatus_t mr_cublas_##name(const struct mr_form *form, cublasHandle_t handle, int64_t m, int64_t n, \
                                    const void *alpha, const void *x, int64_t incx, const void *y, int64_t incy, \
                                    void *A, int64_t lda) \
    { \
        ENTER(); \
        MR_CHECK(form, m >= 0 && n >= 0 && incx != 0 && incy != 0 && lda >= mr_at_least_1(m)); \
        if (m == 0 || n == 0) \
            return CUBLAS_STATUS_SUCCESS; \
        MR_CHECK(form, alpha); \
        MR_FITS(form, m); \
        MR_FITS(form, n); \
        MR_FITS(form, lda); \
        MR_FITS(form, incx); \
        MR_FITS(form, incy); \
        SUBMIT(run_##name, .type = type, .m = (int)m, .n = (int)n, .lda = (int)lda, .incx = (int)incx, \
               .incy = (int)incy, .alpha = ALPHA(alpha), .a = x, .x = y, .y = A); \
    }
RANK1(ger)
RANK1(geru)
RANK1(gerc)

/* A += alpha x times x, in one triangle; a Hermitian product's alpha is real. `lda`: -1 for a packed one. */
static cublasStatus_t square(const struct mr_form *form, cublasHandle_t handle, cublasFillMode_t uplo, int64_t n,
                             const void *alpha, bool real, const void *x, int64_t incx, void *a, int64_t lda,
                             void (*run)(void *record, uint64_t first, uint64_t end))
{
    ENTER();
    MR_CHECK(form, mr_is_uplo(uplo) && n >= 0 && incx != 0 && (lda == -1 || lda >= mr_at_least_1(n)));
    if (n == 0)
        return CUBLAS_STATUS_SUCCESS;
    MR_CHECK(form, alpha);
    MR_FITS(form, n);
    MR_FITS(form, lda);
    MR_FITS(form, incx);
    SUBMIT(run, .type = type, .uplo = mr_letter_of_uplo(uplo), .n = (int)n, .lda = (int)lda, .incx = (int)incx,
           .alpha = real ? REAL_ALPHA(alpha) : ALPHA(alpha), .x = x, .y = a);
}

#define SQUARE(name, real) \
    cublasStatus_t mr_cublas_##name(const struct mr_form *form, cublasHandle_t handle, cublasFillMode_t uplo, \
                                    int64_t n, const void *alpha, const void *x, int64_t incx, void *A, int64_t lda) \
    { \
        return square(form, handle, uplo, n, alpha, real, x, incx, A, lda > -1 ? lda : 0, run_##name); \
    }
SQUARE(syr, false)
SQUARE(her, true)

#define SQUARE_PACKED(name, real) \
    cublasStatus_t mr_cublas_##name(const struct mr_form *form, cublasHandle_t handle, cublasFillMode_t uplo, \
                                    int64_t n, const void *alpha, const void *x, int64_t incx, void *AP) \
    { \
        return square(form, handle, uplo, n, alpha, real, x, incx, AP, -1, run_##name); \
    }
SQUARE_PACKED(spr, false)
SQUARE_PACKED(hpr, true)

/* A += alpha x times y + alpha y times x. */
static cublasStatus_t two(const struct mr_form *form, cublasHandle_t handle, cublasFillMode_t uplo, int64_t n,
                          const void *alpha, const void *x, int64_t incx, const void *y, int64_t incy, void *a,
                          int64_t lda, void (*run)(void *record, uint64_t first, uint64_t end))
{
    ENTER();
    MR_CHECK(form, mr_is_uplo(uplo) && n >= 0 && incx != 0 && incy != 0 && (lda == -1 || lda >= mr_at_least_1(n)));
    if (n == 0)
        return CUBLAS_STATUS_SUCCESS;
    MR_CHECK(form, alpha);
    MR_FITS(form, n);
    MR_FITS(form, lda);
    MR_FITS(form, incx);
    MR_FITS(form, incy);
    SUBMIT(run, .type = type, .uplo = mr_letter_of_uplo(uplo), .n = (int)n, .lda = (int)lda, .incx = (int)incx,
           .incy = (int)incy, .alpha = ALPHA(alpha), .a = x, .x = y, .y = a);
}

cublasStatus_t mr_cublas_syr2(const struct mr_form *form, cublasHandle_t handle, cublasFillMode_t uplo, int64_t n,
                              const void *alpha, const void *x, int64_t incx, const void *y, int64_t incy, void *A,
                              int64_t lda)
{
    return two(form, handle, uplo, n, alpha, x, incx, y, incy, A, lda > -1 ? lda : 0,
               mr_is_complex(mr_type_of(form)) ? run_complex_syr2 : run_syr2);
}

cublasStatus_t mr_cublas_her2(const struct mr_form *form, cublasHandle_t handle, cublasFillMode_t uplo, int64_t n,
                              const void *alpha, const void *x, int64_t incx, const void *y, int64_t incy, void *A,
                              int64_t lda)
{
    return two(form, handle, uplo, n, alpha, x, incx, y, incy, A, lda > -1 ? lda : 0, run_her2);
}

#define TWO_PACKED(name) \
    cublasStatus_t mr_cublas_##name(const struct mr_form *form, cublasHandle_t handle, cublasFillMode_t uplo, \
                                    int64_t n, const void *alpha, const void *x, int64_t incx, const void *y, \
                                    int64_t incy, void *AP) \
    { \
        return two(form, handle, uplo, n, alpha, x, incx, y, incy, AP, -1, run_##name); \
    }
TWO_PACKED(spr2)
TWO_PACKED(hpr2)
