/* SPDX-License-Identifier: Apache-2.0 */
/* Symmetric matrices that need not be positive: A = L D L^T or U D U^T, with exchanges of rows by LAPACK, or without
 * any (no array of pivots), which is done here. The transpose of a complex matrix is not conjugated. */
#include <complex.h>
#include <string.h>

#include "libs/cusolver/dense.h"

/* One column of L D L^T: divides what is below the pivot, and subtracts its share from the columns to the right. The
 * upper triangle is treated in the same way, as rows whose elements are `step` apart, from the last row to the first.
 */
#define PLAIN(name, type) \
    static int name(bool lower, int n, type *a, int64_t lda) \
    { \
        for (int s = 0; s < n; s++) { \
            int j = lower ? s : n - 1 - s; \
            type pivot = a[j + j * lda]; \
            if (pivot == 0) \
                return j + 1; \
            for (int t = s + 1; t < n; t++) { \
                int k = lower ? t : n - 1 - t; \
                type factor = a[k + j * lda] / pivot; \
                for (int u = t; u < n; u++) { \
                    int i = lower ? u : n - 1 - u; \
                    a[i + k * lda] -= a[i + j * lda] * factor; \
                } \
            } \
            for (int t = s + 1; t < n; t++) \
                a[(lower ? t : n - 1 - t) + j * lda] /= pivot; \
        } \
        return 0; \
    }

PLAIN(plain_s, float)
PLAIN(plain_d, double)
PLAIN(plain_c, float complex)
PLAIN(plain_z, double complex)

static int plain(const struct mr_dense *r)
{
    bool lower = r->uplo == 'L';
    switch (r->type) {
    case MR_CPU_S:
        return plain_s(lower, (int)r->n, r->a, r->lda);
    case MR_CPU_D:
        return plain_d(lower, (int)r->n, r->a, r->lda);
    case MR_CPU_C:
        return plain_c(lower, (int)r->n, r->a, r->lda);
    default:
        return plain_z(lower, (int)r->n, r->a, r->lda);
    }
}

static void run_sytrf(void *data, uint64_t first, uint64_t end)
{
    const struct mr_dense *r = data;
    int n = (int)r->n, lda = (int)r->lda, lwork = n * 64 + 1, info = 0;
    (void)first;
    (void)end;
    if (r->pivots) {
        struct mr_room room;
        size_t bytes = (size_t)lwork * mr_size_of(r->type);
        if (!mr_room_open(&room, r->function, MR_ROOM(bytes)))
            return;
        mr_lapack.sytrf[r->type](&r->uplo, &n, r->a, &lda, r->pivots, mr_room_take(&room, bytes), &lwork, &info, 1);
    } else {
        info = plain(r);
    }
    mr_dense_tell(r, 0, info);
}

cusolverStatus_t mr_cusolver_sytrf_bufferSize(const struct mr_form *form, cusolverDnHandle_t handle, int64_t n, void *A,
                                              int64_t lda, int *lwork)
{
    MR_ENTER();
    (void)A;
    (void)lda;
    MR_CHECK(form, n >= 0);
    return mr_dense_buffer(form, n, n, lwork);
}

cusolverStatus_t mr_cusolver_sytrf(const struct mr_form *form, cusolverDnHandle_t handle, cublasFillMode_t uplo,
                                   int64_t n, void *A, int64_t lda, int *ipiv, void *work, int64_t lwork, int *info)
{
    MR_ENTER();
    (void)work;
    (void)lwork;
    struct mr_dense r = {.type = mr_type_of(form),
                         .uplo = mr_uplo_letter(uplo),
                         .n = n,
                         .a = A,
                         .lda = lda,
                         .pivots = ipiv,
                         .info = info,
                         .writes = MR_LEND_A};
    MR_ARGUMENT(&r, 1, r.uplo != 'X');
    MR_ARGUMENT_SQUARE(&r, 2);
    MR_CHECK(form, info);
    if (n == 0)
        return CUSOLVER_STATUS_SUCCESS;
    return mr_dense_submit(form, solver, &r, run_sytrf);
}

static void run_sytri(void *data, uint64_t first, uint64_t end)
{
    const struct mr_dense *r = data;
    int n = (int)r->n, lda = (int)r->lda, info = 0;
    size_t work = (size_t)n * 2 * mr_size_of(r->type), pivots = (size_t)n * sizeof(int);
    struct mr_room room;
    (void)first;
    (void)end;
    if (!mr_room_open(&room, r->function, MR_ROOM(work) + MR_ROOM(pivots)))
        return;
    int *own = mr_room_take(&room, pivots);
    for (int i = 0; i < n; i++)
        own[i] = r->pivots ? r->pivots[i] : i + 1;
    mr_lapack.sytri[r->type](&r->uplo, &n, r->a, &lda, own, mr_room_take(&room, work), &info, 1);
    mr_dense_tell(r, 0, info);
}

cusolverStatus_t mr_cusolver_sytri_bufferSize(const struct mr_form *form, cusolverDnHandle_t handle,
                                              cublasFillMode_t uplo, int64_t n, void *A, int64_t lda, const int *ipiv,
                                              int *lwork)
{
    MR_ENTER();
    (void)A;
    (void)ipiv;
    (void)lda;
    MR_CHECK(form, mr_is_uplo(uplo) && n >= 0);
    return mr_dense_buffer(form, n, n, lwork);
}

cusolverStatus_t mr_cusolver_sytri(const struct mr_form *form, cusolverDnHandle_t handle, cublasFillMode_t uplo,
                                   int64_t n, void *A, int64_t lda, const int *ipiv, void *work, int64_t lwork,
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
                         .pivots = (int *)(uintptr_t)ipiv,
                         .info = info,
                         .writes = MR_LEND_A};
    MR_ARGUMENT(&r, 1, r.uplo != 'X');
    MR_ARGUMENT_SQUARE(&r, 2);
    MR_CHECK(form, info);
    return mr_dense_submit(form, solver, &r, run_sytri);
}

static void run_sytrs(void *data, uint64_t first, uint64_t end)
{
    const struct mr_dense *r = data;
    int n = (int)r->n, nrhs = (int)r->nrhs, lda = (int)r->lda, ldb = (int)r->ldb, info = 0;
    struct mr_room room;
    (void)first;
    (void)end;
    if (!mr_room_open(&room, r->function, MR_ROOM((size_t)n * sizeof(int))))
        return;
    int *pivots = mr_room_take(&room, (size_t)n * sizeof(int));
    for (int i = 0; i < n; i++)
        pivots[i] = r->wide_pivots ? (int)r->wide_pivots[i] : i + 1;
    mr_lapack.sytrs[r->type](&r->uplo, &n, &nrhs, r->a, &lda, pivots, r->b, &ldb, &info, 1);
    mr_dense_tell(r, 0, info);
}

cusolverStatus_t mr_dense_sytrs(const struct mr_form *form, const struct mr_solver *solver, struct mr_dense *r)
{
    MR_ARGUMENT(r, 1, r->uplo != 'X');
    MR_CHECK(form, r->n >= 0 && r->lda >= mr_at_least_1(r->n));
    MR_CHECK(form, r->nrhs >= 0 && r->ldb >= mr_at_least_1(r->n));
    MR_CHECK(form, r->info);
    r->reads = MR_LEND_A;
    r->writes = MR_LEND_B;
    return mr_dense_submit(form, solver, r, run_sytrs);
}
