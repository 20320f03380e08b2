/* SPDX-License-Identifier: Apache-2.0 */
/* Batches of small systems: LU, inverses, solutions, QR, least squares, by the CPU library's LAPACK. A part is some
 * members of the batch. The arrays of pointers, of pivots and of infos are in device memory. */
#include <string.h>

#include "libs/cublas/blas.h"
#include "libs/math/lu.h"

struct factor {
    const char *function;
    enum mr_cpu_type type;
    char trans;
    int m, n, nrhs, lda, ldc;
    const void *const *a;
    void *const *c; /* the result, or the right sides */
    int *pivots; /* n of each member; NULL: rows are not exchanged */
    int *info; /* one of each member; or NULL */
    int64_t batch, each;
};

static cublasStatus_t submit(const struct mr_form *form, const struct mr_cublas *blas, struct factor *r,
                             void (*run)(void *, uint64_t, uint64_t))
{
    double work = (double)r->m * (double)r->n * (double)(r->n + r->nrhs) * (mr_is_complex(r->type) ? 4 : 1);
    r->function = form->name;
    r->each = (int64_t)(5e5 / (work + 1e3)) + 1;
    return mr_cublas_submit(form, blas, mr_parts_of((uint64_t)r->batch, (uint64_t)r->each), run, r, sizeof *r);
}

#define MEMBERS(r, first, end, i) \
    for (int64_t i = (int64_t)(first) * (r)->each, \
                 i##_end = (int64_t)(end) * (r)->each < (r)->batch ? (int64_t)(end) * (r)->each : (r)->batch; \
         i < i##_end; i++)

static int *pivots_of(const struct factor *r, int64_t member)
{
    return r->pivots ? r->pivots + member * r->n : NULL;
}

/* 1, 2, …: the pivots of a factorisation without exchanges. NULL when memory is short. */
static int *own_pivots(int n)
{
    int *pivots = mr_math_scratch(0, (size_t)n * sizeof *pivots);
    for (int i = 0; pivots && i < n; i++)
        pivots[i] = i + 1;
    return pivots;
}

static void run_getrf(void *data, uint64_t first, uint64_t end)
{
    const struct factor *r = data;
    MEMBERS(r, first, end, i)
    {
        int info = 0;
        if (r->pivots)
            mr_cpu.getrf[r->type](&r->n, &r->n, r->c[i], &r->lda, pivots_of(r, i), &info);
        else
            info = mr_plain_lu(r->type, r->n, r->n, r->c[i], r->lda);
        r->info[i] = info;
    }
}

/* The inverse by an LU of the lower and upper triangle in `lu`: the columns of the identity, solved one triangle after
 * the other. A pivot of 0 makes infinite numbers and NaN of what depends on it, as on hardware. */
static void invert(const struct factor *r, const void *lu, int ld, const int *pivots, void *c)
{
    size_t size = mr_size_of(r->type);
    int step = 1, first = 1;
    for (int j = 0; j < r->n; j++) {
        char *column = mr_behind(c, (int64_t)j * r->ldc, size);
        memset(column, 0, (size_t)r->n * size);
        memcpy(column + (size_t)j * size, mr_one_of(r->type), size);
    }
    if (pivots)
        mr_cpu.laswp[r->type](&r->n, c, &r->ldc, &first, &r->n, pivots, &step);
    mr_cpu.trsm[r->type]("L", "L", "N", "U", &r->n, &r->n, mr_one_of(r->type), lu, &ld, c, &r->ldc);
    mr_cpu.trsm[r->type]("L", "U", "N", "N", &r->n, &r->n, mr_one_of(r->type), lu, &ld, c, &r->ldc);
}
/* The number of the first pivot that is 0, or 0. */
static int zero_pivot(const struct factor *r, const void *lu)
{
    size_t size = mr_size_of(r->type);
    for (int i = 0; i < r->n; i++)
        if (mr_is_zero(r->type, mr_behind(lu, i * ((int64_t)r->lda + 1), size)))
            return i + 1;
    return 0;
}

static void run_getri(void *data, uint64_t first, uint64_t end)
{
    const struct factor *r = data;
    MEMBERS(r, first, end, i)
    {
        invert(r, r->a[i], r->lda, pivots_of(r, i), r->c[i]);
        r->info[i] = zero_pivot(r, r->a[i]);
    }
}

/* The inverse of a singular matrix is not written. */
static void run_matinv(void *data, uint64_t first, uint64_t end)
{
    const struct factor *r = data;
    size_t column = (size_t)r->n * mr_size_of(r->type);
    char *lu = mr_math_scratch(1, (size_t)r->n * column);
    if (!lu) {
        mr_math_short_of_memory(r->function);
        return;
    }
    MEMBERS(r, first, end, i)
    {
        int pivots[64], info = 0;
        for (int j = 0; j < r->n; j++)
            memcpy(lu + (size_t)j * column, mr_behind(r->a[i], (int64_t)j * r->lda, mr_size_of(r->type)), column);
        mr_cpu.getrf[r->type](&r->n, &r->n, lu, &r->n, pivots, &info);
        if (info == 0)
            invert(r, lu, r->n, pivots, r->c[i]);
        r->info[i] = info;
    }
}

static void run_getrs(void *data, uint64_t first, uint64_t end)
{
    const struct factor *r = data;
    const int *own = r->pivots ? NULL : own_pivots(r->n);
    if (!r->pivots && !own) {
        mr_math_short_of_memory(r->function);
        return;
    }
    MEMBERS(r, first, end, i)
    {
        int info = 0;
        mr_cpu.getrs[r->type](&r->trans, &r->n, &r->nrhs, r->a[i], &r->lda, own ? own : pivots_of(r, i), r->c[i],
                              &r->ldc, &info);
    }
}

static void run_geqrf(void *data, uint64_t first, uint64_t end)
{
    const struct factor *r = data;
    int room = (r->n > r->m ? r->n : r->m) * 32;
    void *work = mr_math_scratch(1, (size_t)room * mr_size_of(r->type));
    if (!work) {
        mr_math_short_of_memory(r->function);
        return;
    }
    MEMBERS(r, first, end, i)
    {
        int info = 0;
        mr_cpu.geqrf[r->type](&r->m, &r->n, (void *)(uintptr_t)r->a[i], &r->lda, r->c[i], work, &room, &info);
    }
}

static void run_gels(void *data, uint64_t first, uint64_t end)
{
    const struct factor *r = data;
    int room = (r->m + r->nrhs + r->n) * 33;
    void *work = mr_math_scratch(1, (size_t)room * mr_size_of(r->type));
    if (!work) {
        mr_math_short_of_memory(r->function);
        return;
    }
    MEMBERS(r, first, end, i)
    {
        int info = 0;
        mr_cpu.gels[r->type](&r->trans, &r->m, &r->n, &r->nrhs, (void *)(uintptr_t)r->a[i], &r->lda, r->c[i], &r->ldc,
                             work, &room, &info);
        if (r->info)
            r->info[i] = info;
    }
}

#define ENTER() \
    struct mr_cublas *blas; \
    enum mr_cpu_type type = mr_type_of(form); \
    cublasStatus_t entered = mr_cublas_enter(form, handle, &blas); \
    if (entered != CUBLAS_STATUS_SUCCESS) \
    return entered

cublasStatus_t mr_cublas_getrfBatched(const struct mr_form *form, cublasHandle_t handle, int64_t n, void *const *A,
                                      int64_t lda, int *P, int *info, int64_t batchSize)
{
    ENTER();
    MR_CHECK(form, n >= 0 && lda >= mr_at_least_1(n) && batchSize >= 0);
    if (n == 0 || batchSize == 0)
        return CUBLAS_STATUS_SUCCESS;
    MR_CHECK(form, A && info);
    struct factor r = {
        .type = type, .m = (int)n, .n = (int)n, .lda = (int)lda, .c = A, .pivots = P, .info = info, .batch = batchSize};
    return submit(form, blas, &r, run_getrf);
}

cublasStatus_t mr_cublas_getriBatched(const struct mr_form *form, cublasHandle_t handle, int64_t n,
                                      const void *const *A, int64_t lda, const int *P, void *const *C, int64_t ldc,
                                      int *info, int64_t batchSize)
{
    ENTER();
    MR_CHECK(form, n >= 0 && lda >= mr_at_least_1(n) && ldc >= mr_at_least_1(n) && batchSize >= 0);
    if (n == 0 || batchSize == 0)
        return CUBLAS_STATUS_SUCCESS;
    MR_CHECK(form, A && C && info);
    struct factor r = {.type = type,
                       .m = (int)n,
                       .n = (int)n,
                       .lda = (int)lda,
                       .ldc = (int)ldc,
                       .a = A,
                       .c = C,
                       .pivots = (int *)(uintptr_t)P,
                       .info = info,
                       .batch = batchSize};
    return submit(form, blas, &r, run_getri);
}

cublasStatus_t mr_cublas_matinvBatched(const struct mr_form *form, cublasHandle_t handle, int64_t n,
                                       const void *const *A, int64_t lda, void *const *Ainv, int64_t lda_inv, int *info,
                                       int64_t batchSize)
{
    ENTER();
    MR_CHECK(form, n >= 0 && lda >= mr_at_least_1(n) && lda_inv >= mr_at_least_1(n) && batchSize >= 0);
    if (n == 0 || batchSize == 0)
        return CUBLAS_STATUS_SUCCESS;
    MR_CHECK(form, n <= 32);
    MR_CHECK(form, A && Ainv && info);
    struct factor r = {.type = type,
                       .m = (int)n,
                       .n = (int)n,
                       .lda = (int)lda,
                       .ldc = (int)lda_inv,
                       .a = A,
                       .c = Ainv,
                       .info = info,
                       .batch = batchSize};
    return submit(form, blas, &r, run_matinv);
}

/* For functions whose `info` is the host's: -i for a wrong parameter i, else 0. */
#define PARAMETER(number, condition) \
    do { \
        *info = (condition) ? 0 : -(number); \
        MR_CHECK(form, condition); \
    } while (0)

cublasStatus_t mr_cublas_getrsBatched(const struct mr_form *form, cublasHandle_t handle, cublasOperation_t trans,
                                      int64_t n, int64_t nrhs, const void *const *Aarray, int64_t lda,
                                      const int *devIpiv, void *const *Barray, int64_t ldb, int *info,
                                      int64_t batchSize)
{
    ENTER();
    MR_CHECK(form, info);
    PARAMETER(1, mr_is_op(trans));
    PARAMETER(2, n >= 0);
    PARAMETER(3, nrhs >= 0);
    PARAMETER(5, lda >= mr_at_least_1(n));
    PARAMETER(8, ldb >= mr_at_least_1(n));
    if (batchSize < 0) /* as hardware answers */
        return mr_cublas_bad(form, CUBLAS_STATUS_INTERNAL_ERROR, "batchSize is %lld", (long long)batchSize);
    if (n == 0 || nrhs == 0 || batchSize == 0)
        return CUBLAS_STATUS_SUCCESS;
    PARAMETER(4, Aarray);
    PARAMETER(7, Barray);
    struct factor r = {.type = type,
                       .trans = mr_letter_of_op(trans),
                       .m = (int)n,
                       .n = (int)n,
                       .nrhs = (int)nrhs,
                       .lda = (int)lda,
                       .ldc = (int)ldb,
                       .a = Aarray,
                       .c = Barray,
                       .pivots = (int *)(uintptr_t)devIpiv,
                       .batch = batchSize};
    return submit(form, blas, &r, run_getrs);
}

cublasStatus_t mr_cublas_geqrfBatched(const struct mr_form *form, cublasHandle_t handle, int64_t m, int64_t n,
                                      void *const *Aarray, int64_t lda, void *const *TauArray, int *info,
                                      int64_t batchSize)
{
    ENTER();
    MR_CHECK(form, info);
    PARAMETER(1, m >= 0);
    PARAMETER(2, n >= 0);
    PARAMETER(4, lda >= mr_at_least_1(m));
    PARAMETER(7, batchSize >= 0);
    if (m == 0 || n == 0 || batchSize == 0)
        return CUBLAS_STATUS_SUCCESS;
    PARAMETER(3, Aarray);
    PARAMETER(5, TauArray);
    struct factor r = {.type = type,
                       .m = (int)m,
                       .n = (int)n,
                       .lda = (int)lda,
                       .a = (const void *const *)Aarray,
                       .c = TauArray,
                       .batch = batchSize};
    return submit(form, blas, &r, run_geqrf);
}

cublasStatus_t mr_cublas_gelsBatched(const struct mr_form *form, cublasHandle_t handle, cublasOperation_t trans,
                                     int64_t m, int64_t n, int64_t nrhs, void *const *Aarray, int64_t lda,
                                     void *const *Carray, int64_t ldc, int *info, int *devInfoArray, int64_t batchSize)
{
    ENTER();
    MR_CHECK(form, info);
    PARAMETER(1, mr_is_op(trans));
    PARAMETER(2, m >= 0);
    PARAMETER(3, n >= 0);
    PARAMETER(4, nrhs >= 0);
    PARAMETER(6, lda >= mr_at_least_1(m));
    PARAMETER(8, ldc >= mr_at_least_1(m));
    PARAMETER(11, batchSize >= 0);
    if (trans != CUBLAS_OP_N || m < n)
        return mr_cublas_bad(form, CUBLAS_STATUS_NOT_SUPPORTED, "only overdetermined systems, not transposed");
    if (m == 0 || n == 0 || nrhs == 0 || batchSize == 0)
        return CUBLAS_STATUS_SUCCESS;
    PARAMETER(5, Aarray);
    PARAMETER(7, Carray);
    struct factor r = {.type = type,
                       .trans = 'N',
                       .m = (int)m,
                       .n = (int)n,
                       .nrhs = (int)nrhs,
                       .lda = (int)lda,
                       .ldc = (int)ldc,
                       .a = (const void *const *)Aarray,
                       .c = Carray,
                       .info = devInfoArray,
                       .batch = batchSize};
    return submit(form, blas, &r, run_gels);
}
