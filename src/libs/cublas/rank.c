/* SPDX-License-Identifier: Apache-2.0 */
/* Updates of one triangle: C = alpha A A' + beta C, or A B' (+ B A'), where ' transposes, and conjugates if the result
 * is Hermitian. A part is a block of columns: the block on the diagonal, and the rectangle above or below it. */
#include <string.h>

#include "libs/cublas/gemm.h"

#define WIDTH 256 /* columns in a block */

enum kind {
    RANK_K,  /* A A' */
    RANK_2K, /* A B' + B A' */
    RANK_X,  /* A B', known to be symmetric */
};

struct rank {
    enum mr_cpu_type type;
    enum kind kind;
    bool hermitian, upper;
    cublasOperation_t trans;
    int64_t n, k, lda, ldb, ldc;
    struct mr_scalar alpha, beta; /* real for Hermitian results: alpha of RANK_K, and beta */
    const void *a, *b;
    void *c;
};

/* A real scalar as one of the matrices' type. */
static void widen(const struct rank *r, const struct mr_scalar *from, bool real, unsigned char *to)
{
    memset(to, 0, 16);
    memcpy(to, mr_scalar_at(from), real ? mr_real_size_of(r->type) : mr_size_of(r->type));
}

static void conjugate(const struct rank *r, unsigned char *scalar)
{
    if (r->type == MR_CPU_C)
        ((float *)(void *)scalar)[1] = -((float *)(void *)scalar)[1];
    else if (r->type == MR_CPU_Z)
        ((double *)(void *)scalar)[1] = -((double *)(void *)scalar)[1];
}

/* Rows i.. of op(A). */
static const void *rows_of(const struct rank *r, const void *a, int64_t lda, int64_t i)
{
    return mr_behind(a, r->trans == CUBLAS_OP_N ? i : i * lda, mr_size_of(r->type));
}

/* c (rows x columns) = alpha op(left) op(right)' + beta c. */
static void rectangle(const struct rank *r, int64_t rows, int64_t columns, const void *alpha, const void *left,
                      int64_t left_ld, const void *right, int64_t right_ld, const void *beta, void *c, int64_t ldc)
{
    cublasOperation_t other = r->hermitian ? CUBLAS_OP_C : CUBLAS_OP_T;
    bool plain = r->trans == CUBLAS_OP_N;
    mr_gemm_here(r->type, plain ? CUBLAS_OP_N : other, plain ? other : CUBLAS_OP_N, rows, columns, r->k, alpha, left,
                 left_ld, right, right_ld, beta, c, ldc);
}

/* The diagonal's block of a product that is only known to be symmetric: the whole square is computed in a buffer. One
 * triangle is copied to the buffer before, and back from it after. */
static void square(const struct rank *r, int64_t width, const void *alpha, const void *a, const void *b,
                   const void *beta, char *c)
{
    size_t size = mr_size_of(r->type);
    char *buffer = mr_math_scratch(3, (size_t)width * (size_t)width * size);
    if (!buffer) {
        mr_math_short_of_memory("cublas<t>syrkx");
        return;
    }
    memset(buffer, 0, (size_t)width * (size_t)width * size);
    for (int way = 0; way < 2; way++) {
        for (int64_t j = 0; j < width; j++) {
            int64_t from = r->upper ? 0 : j, count = r->upper ? j + 1 : width - j;
            char *in = buffer + (size_t)(from + j * width) * size, *out = c + (size_t)(from + j * r->ldc) * size;
            memcpy(way ? out : in, way ? in : out, (size_t)count * size);
            if (way && r->hermitian)
                memset(c + (size_t)(j + j * r->ldc) * size + size / 2, 0, size / 2);
        }
        if (!way)
            rectangle(r, width, width, alpha, a, r->lda, b, r->ldb, beta, buffer, width);
    }
}

static void diagonal(const struct rank *r, int64_t width, const void *a, const void *b, char *c)
{
    char uplo = r->upper ? 'U' : 'L', adjoint = r->hermitian ? 'C' : 'T', trans = adjoint;
    if (r->trans == CUBLAS_OP_N)
        trans = 'N';
    int sizes[] = {(int)width, (int)r->k, (int)r->lda, (int)r->ldb, (int)r->ldc};
    const void *alpha = mr_scalar_at(&r->alpha), *beta = mr_scalar_at(&r->beta);
    if (r->kind == RANK_K)
        (r->hermitian ? mr_cpu.herk : mr_cpu.syrk)[r->type](&uplo, &trans, &sizes[0], &sizes[1], alpha, a, &sizes[2],
                                                            beta, c, &sizes[4]);
    else
        (r->hermitian ? mr_cpu.her2k : mr_cpu.syr2k)[r->type](&uplo, &trans, &sizes[0], &sizes[1], alpha, a, &sizes[2],
                                                              b, &sizes[3], beta, c, &sizes[4]);
}

static void run_rank(void *data, uint64_t first, uint64_t end)
{
    const struct rank *r = data;
    size_t size = mr_size_of(r->type);
    _Alignas(16) unsigned char alpha[16], beta[16];
    for (uint64_t i = first; i < end; i++) {
        int64_t from = (int64_t)i * WIDTH, to = from + WIDTH < r->n ? from + WIDTH : r->n, width = to - from;
        widen(r, &r->alpha, r->hermitian && r->kind == RANK_K, alpha);
        widen(r, &r->beta, r->hermitian, beta);
        const void *a = rows_of(r, r->a, r->lda, from), *b = rows_of(r, r->b, r->ldb, from);
        char *c = mr_behind(r->c, from + from * r->ldc, size);
        if (r->kind == RANK_X)
            square(r, width, alpha, a, b, beta, c);
        else
            diagonal(r, width, a, b, c);
        int64_t top = r->upper ? 0 : to, rows = r->upper ? from : r->n - to;
        if (rows == 0)
            continue;
        char *corner = mr_behind(r->c, top + from * r->ldc, size);
        rectangle(r, rows, width, alpha, rows_of(r, r->a, r->lda, top), r->lda, b, r->ldb, beta, corner, r->ldc);
        if (r->kind == RANK_2K) {
            if (r->hermitian)
                conjugate(r, alpha);
            rectangle(r, rows, width, alpha, rows_of(r, r->b, r->ldb, top), r->ldb, a, r->lda, mr_one_of(r->type),
                      corner, r->ldc);
        }
    }
}

/* For observers. */
static void tell(const struct mr_form *form, const struct rank *r)
{
    size_t size = mr_size_of(r->type), beta = r->hermitian ? mr_real_size_of(r->type) : size;
    size_t alpha = r->hermitian && r->kind == RANK_K ? mr_real_size_of(r->type) : size;
    bool plain = r->trans == CUBLAS_OP_N, asked;
    if (r->k == 0 || mr_scalar_is_0(&r->alpha, alpha))
        return;
    asked = mr_tell_triangle(form->name, r->c, r->upper, false, r->n, r->ldc, size,
                             r->beta.device || mr_scalar_is_0(&r->beta, beta) ? MR_WRITES : MR_READS | MR_WRITES) &&
            mr_tell_matrix(form->name, r->a, plain ? r->n : r->k, plain ? r->k : r->n, r->lda, size, MR_READS);
    if (asked && r->b != r->a)
        asked = mr_tell_matrix(form->name, r->b, plain ? r->n : r->k, plain ? r->k : r->n, r->ldb, size, MR_READS);
    if (asked)
        (void)(mr_tell_scalar(form->name, &r->alpha, alpha) && mr_tell_scalar(form->name, &r->beta, beta));
}

static cublasStatus_t rank(const struct mr_form *form, cublasHandle_t handle, cublasFillMode_t uplo,
                           cublasOperation_t trans, int64_t n, int64_t k, const void *alpha, const void *a, int64_t lda,
                           const void *b, int64_t ldb, const void *beta, void *c, int64_t ldc, enum kind kind,
                           bool hermitian)
{
    struct mr_cublas *blas;
    enum mr_cpu_type type = mr_type_of(form);
    cublasStatus_t status = mr_cublas_enter(form, handle, &blas);
    if (status != CUBLAS_STATUS_SUCCESS)
        return status;
    MR_CHECK(form, mr_is_uplo(uplo) && mr_is_op(trans));
    MR_CHECK(form, !mr_is_complex(type) || trans != (hermitian ? CUBLAS_OP_T : CUBLAS_OP_C));
    MR_CHECK(form, n >= 0 && k >= 0);
    MR_CHECK(form, lda >= mr_at_least_1(trans == CUBLAS_OP_N ? n : k));
    MR_CHECK(form, ldb >= mr_at_least_1(trans == CUBLAS_OP_N ? n : k));
    MR_CHECK(form, ldc >= mr_at_least_1(n));
    MR_FITS(form, n);
    MR_FITS(form, k);
    MR_FITS(form, lda);
    MR_FITS(form, ldb);
    MR_FITS(form, ldc);
    if (n == 0)
        return CUBLAS_STATUS_SUCCESS;
    MR_CHECK(form, alpha && beta);
    bool device = mr_cublas_on_device(blas), real_alpha = hermitian && kind == RANK_K;
    struct rank r = {.type = type,
                     .kind = kind,
                     .hermitian = hermitian,
                     .upper = uplo == CUBLAS_FILL_MODE_UPPER,
                     .trans = trans,
                     .n = n,
                     .k = k,
                     .lda = lda,
                     .ldb = ldb,
                     .ldc = ldc,
                     .alpha = mr_scalar_take(alpha, real_alpha ? mr_real_size_of(type) : mr_size_of(type), device),
                     .beta = mr_scalar_take(beta, hermitian ? mr_real_size_of(type) : mr_size_of(type), device),
                     .a = a,
                     .b = b,
                     .c = c};
    tell(form, &r);
    return mr_cublas_submit(form, blas, mr_parts_of((uint64_t)n, WIDTH), run_rank, &r, sizeof r);
}

cublasStatus_t mr_cublas_syrk(const struct mr_form *form, cublasHandle_t handle, cublasFillMode_t uplo,
                              cublasOperation_t trans, int64_t n, int64_t k, const void *alpha, const void *A,
                              int64_t lda, const void *beta, void *C, int64_t ldc)
{
    return rank(form, handle, uplo, trans, n, k, alpha, A, lda, A, lda, beta, C, ldc, RANK_K, false);
}

cublasStatus_t mr_cublas_herk(const struct mr_form *form, cublasHandle_t handle, cublasFillMode_t uplo,
                              cublasOperation_t trans, int64_t n, int64_t k, const void *alpha, const void *A,
                              int64_t lda, const void *beta, void *C, int64_t ldc)
{
    return rank(form, handle, uplo, trans, n, k, alpha, A, lda, A, lda, beta, C, ldc, RANK_K, true);
}

#define WITH_B(name, kind, hermitian) \
    cublasStatus_t mr_cublas_##name(const struct mr_form *form, cublasHandle_t handle, cublasFillMode_t uplo, \
                                    cublasOperation_t trans, int64_t n, int64_t k, const void *alpha, const void *A, \
                                    int64_t lda, const void *B, int64_t ldb, const void *beta, void *C, int64_t ldc) \
    { \
        return rank(form, handle, uplo, trans, n, k, alpha, A, lda, B, ldb, beta, C, ldc, kind, hermitian); \
    }
WITH_B(syr2k, RANK_2K, false)
WITH_B(her2k, RANK_2K, true)
WITH_B(syrkx, RANK_X, false)
WITH_B(herkx, RANK_X, true)
