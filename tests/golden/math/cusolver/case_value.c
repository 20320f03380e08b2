/* SPDX-License-Identifier: Apache-2.0 */
/* What cuSOLVER computes: statuses, infos, pivots, and whether what was solved holds. Each for the four types. */
#include "sv.h"

#include <math.h>
#include <string.h>

#define N SV_N
#define NN (SV_N * SV_N)
#define LOWER CUBLAS_FILL_MODE_LOWER
#define UPPER CUBLAS_FILL_MODE_UPPER
#define VECTOR CUSOLVER_EIG_MODE_VECTOR
#define NOVECTOR CUSOLVER_EIG_MODE_NOVECTOR
#define ROOM ((int)(SV_ROOM / 16))

typedef double complex number;

/* A case for each type; `body` is called with the type. */
#define FOUR(title, body) \
    CASE(solver_value, s##title) \
    { \
        body('S'); \
    } \
    CASE(solver_value, d##title) \
    { \
        body('D'); \
    } \
    CASE(solver_value, c##title) \
    { \
        body('C'); \
    } \
    CASE(solver_value, z##title) \
    { \
        body('Z'); \
    }

/* Right sides: b has three columns. */
static void right_sides(struct sv *s, number *host)
{
    for (int i = 0; i < 3 * N; i++)
        host[i] = i % 7 - 3 + (s->type == 'C' || s->type == 'Z' ? (i % 5 - 2) * I : 0);
    sv_put(s->type, s->b, 3 * N, host);
}

/* Whether op(A) X is the right sides. */
static void solved(const struct sv *s, char op, const void *x, const number *right)
{
    number got[NN] = {0}, product[NN];
    sv_get(s->type, x, 3 * N, got);
    sv_times(op, s->host, 'N', got, product);
    sv_same(s->type, right, product, 3 * N);
}

static void pivots(const struct sv *s, int count)
{
    int host[N];
    RT_NEED(cudaMemcpy(host, s->pivots, sizeof host, cudaMemcpyDeviceToHost));
    for (int i = 0; i < count; i++)
        say_int(host[i]);
}

/* ---- Cholesky ---- */
static void cholesky(char type, cublasFillMode_t uplo)
{
    struct sv *s = sv_begin(type, SV_POSITIVE);
    number right[3 * N], factor[NN];
    right_sides(s, right);
    sv(SV_CALL(s, potrf_bufferSize, s->h, uplo, N, s->a, N, &s->lwork));
    sv(SV_CALL(s, potrf, s->h, uplo, N, s->a, N, s->work, s->lwork, s->info));
    sv_info(s);
    sv(SV_CALL(s, potrs, s->h, uplo, N, 3, s->a, N, s->b, N, s->info));
    sv_info(s);
    solved(s, 'N', s->b, right);
    sv_get(type, s->a, NN, factor);
    say_if("other half untouched", uplo == LOWER ? factor[5 * N] == s->host[5 * N] : factor[5] == s->host[5]);
    sv(SV_CALL(s, potri, s->h, uplo, N, s->a, N, s->work, ROOM, s->info));
    sv_info(s);
}
static void potrf_lower(char type)
{
    cholesky(type, LOWER);
}
static void potrf_upper(char type)
{
    cholesky(type, UPPER);
}
FOUR(potrf_lower, potrf_lower)
FOUR(potrf_upper, potrf_upper)

static void not_positive(char type)
{
    struct sv *s = sv_begin(type, SV_HERMITIAN);
    sv(SV_CALL(s, potrf, s->h, LOWER, N, s->a, N, s->work, ROOM, s->info));
    sv_info(s);
}
FOUR(potrf_not_positive, not_positive)

static void batch_of_cholesky(char type)
{
    struct sv *s = sv_begin(type, SV_POSITIVE);
    void *matrices[3] = {s->a, s->c, s->u}, *sides[3] = {s->b, s->v, s->w};
    number right[3 * N];
    int info[3];
    right_sides(s, right);
    sv_fill(type, s->c, SV_HERMITIAN, NULL);
    sv_fill(type, s->u, SV_POSITIVE, NULL);
    sv_put(type, s->w, N, right);
    RT_NEED(cudaMemcpy(s->work, matrices, sizeof matrices, cudaMemcpyHostToDevice));
    RT_NEED(cudaMemcpy((char *)s->work + 64, sides, sizeof sides, cudaMemcpyHostToDevice));
    sv(SV_CALL(s, potrfBatched, s->h, LOWER, N, s->work, N, s->info, 3));
    sv(SV_CALL(s, potrsBatched, s->h, LOWER, N, 1, s->work, N, (void *)((char *)s->work + 64), N, s->pivots, 3));
    RT_NEED(cudaDeviceSynchronize());
    RT_NEED(cudaMemcpy(info, s->info, sizeof info, cudaMemcpyDeviceToHost));
    for (int i = 0; i < 3; i++)
        say_value("info", info[i]);
    number got[2 * N];
    sv_get(type, s->b, N, got);
    sv_get(type, s->w, N, got + N);
    sv_same(type, got, got + N, N);
    pivots(s, 1);
}
FOUR(potrf_batched, batch_of_cholesky)

/* ---- LU ---- */
static void lu(char type)
{
    struct sv *s = sv_begin(type, SV_GENERAL);
    number right[3 * N];
    right_sides(s, right);
    sv(SV_CALL(s, getrf_bufferSize, s->h, N, N, s->a, N, &s->lwork));
    sv(SV_CALL(s, getrf, s->h, N, N, s->a, N, s->work, s->pivots, s->info));
    sv_info(s);
    pivots(s, N);
    sv(SV_CALL(s, getrs, s->h, CUBLAS_OP_N, N, 3, s->a, N, s->pivots, s->b, N, s->info));
    sv_info(s);
    solved(s, 'N', s->b, right);
    right_sides(s, right);
    sv(SV_CALL(s, getrs, s->h, CUBLAS_OP_T, N, 3, s->a, N, s->pivots, s->b, N, s->info));
    solved(s, 'T', s->b, right);
    right_sides(s, right);
    sv(SV_CALL(s, getrs, s->h, CUBLAS_OP_C, N, 3, s->a, N, s->pivots, s->b, N, s->info));
    solved(s, 'C', s->b, right);
}
FOUR(getrf, lu)

static void lu_plain(char type)
{
    struct sv *s = sv_begin(type, SV_GENERAL);
    number right[3 * N];
    right_sides(s, right);
    sv(SV_CALL(s, getrf, s->h, N, N, s->a, N, s->work, NULL, s->info));
    sv_info(s);
    sv(SV_CALL(s, getrs, s->h, CUBLAS_OP_N, N, 3, s->a, N, NULL, s->b, N, s->info));
    solved(s, 'N', s->b, right);
}
FOUR(getrf_without_pivots, lu_plain)

static void lu_singular(char type)
{
    struct sv *s = sv_begin(type, SV_ZERO);
    sv(SV_CALL(s, getrf, s->h, N, N, s->a, N, s->work, s->pivots, s->info));
    sv_info(s);
    pivots(s, 3);
    sv_begin(type, SV_ZERO);
    sv(SV_CALL(s, getrf, s->h, N, N, s->a, N, s->work, NULL, s->info));
    sv_info(s);
}
FOUR(getrf_singular, lu_singular)

static void lu_flat(char type)
{
    struct sv *s = sv_begin(type, SV_GENERAL);
    sv(SV_CALL(s, getrf, s->h, 5, N, s->a, N, s->work, s->pivots, s->info));
    sv_info(s);
    pivots(s, N);
    sv(SV_CALL(s, getrf, s->h, N, 5, s->b, N, s->work, s->pivots, s->info));
    sv_info(s);
}
FOUR(getrf_not_square, lu_flat)

static void exchange(char type)
{
    struct sv *s = sv_begin(type, SV_GENERAL);
    int rows[4] = {3, 2, 8, 8};
    number got[NN];
    RT_NEED(cudaMemcpy(s->pivots, rows, sizeof rows, cudaMemcpyHostToDevice));
    sv(SV_CALL(s, laswp, s->h, N, s->a, N, 1, 4, s->pivots, 1));
    sv_get(type, s->a, NN, got);
    for (int i = 0; i < N; i++)
        for (int k = 0; k < N; k++)
            if (got[i] == s->host[k] && got[i + N] == s->host[k + N] && got[i + 2 * N] == s->host[k + 2 * N])
                say_int(k);
    sv_put(type, s->a, NN, s->host);
    sv(SV_CALL(s, laswp, s->h, N, s->a, N, 1, 4, s->pivots, -1));
    sv_get(type, s->a, NN, got);
    for (int i = 0; i < N; i++)
        for (int k = 0; k < N; k++)
            if (got[i] == s->host[k] && got[i + N] == s->host[k + N] && got[i + 2 * N] == s->host[k + 2 * N])
                say_int(k);
}
FOUR(laswp, exchange)

/* ---- QR ---- */
static void qr(char type)
{
    struct sv *s = sv_begin(type, SV_GENERAL);
    number all[NN], r[NN] = {0}, q[NN], product[NN], got[NN];
    sv(SV_CALL(s, geqrf_bufferSize, s->h, N, N, s->a, N, &s->lwork));
    sv(SV_CALL(s, geqrf, s->h, N, N, s->a, N, s->tau, s->work, s->lwork, s->info));
    sv_info(s);
    sv_get(type, s->a, NN, all);
    for (int j = 0; j < N; j++)
        for (int i = 0; i <= j; i++)
            r[i + j * N] = all[i + j * N];
    sv_fill(type, s->c, SV_POSITIVE, got);
    sv(SV_CALL2(s, ormqr_bufferSize, unmqr_bufferSize, s->h, CUBLAS_SIDE_LEFT, CUBLAS_OP_N, N, N, N, s->a, N, s->tau,
                s->c, N, &s->lwork));
    sv(SV_CALL2(s, ormqr, unmqr, s->h, CUBLAS_SIDE_LEFT, CUBLAS_OP_N, N, N, N, s->a, N, s->tau, s->c, N, s->work,
                s->lwork, s->info));
    sv_info(s);
    sv(SV_CALL2(s, orgqr_bufferSize, ungqr_bufferSize, s->h, N, N, N, s->a, N, s->tau, &s->lwork));
    sv(SV_CALL2(s, orgqr, ungqr, s->h, N, N, N, s->a, N, s->tau, s->work, s->lwork, s->info));
    sv_info(s);
    sv_get(type, s->a, NN, q);
    sv_times('N', q, 'N', r, product);
    sv_same(type, s->host, product, NN);
    sv_times('N', q, 'N', got, product);
    sv_get(type, s->c, NN, got);
    sv_same(type, got, product, NN);
    sv_times('C', q, 'N', q, product);
    number one[NN] = {0};
    for (int i = 0; i < N; i++)
        one[i * (N + 1)] = 1;
    sv_same(type, one, product, NN);
}
FOUR(geqrf, qr)

/* ---- symmetric indefinite ---- */
static void indefinite(char type)
{
    struct sv *s = sv_begin(type, SV_SYMMETRIC);
    number inverse[NN], product[NN], one[NN] = {0};
    sv(SV_CALL(s, sytrf_bufferSize, s->h, N, s->a, N, &s->lwork));
    sv(SV_CALL(s, sytrf, s->h, LOWER, N, s->a, N, s->pivots, s->work, ROOM, s->info));
    sv_info(s);
    sv(SV_CALL(s, sytri_bufferSize, s->h, LOWER, N, s->a, N, s->pivots, &s->lwork));
    sv(SV_CALL(s, sytri, s->h, LOWER, N, s->a, N, s->pivots, s->work, ROOM, s->info));
    sv_info(s);
    sv_get(type, s->a, NN, inverse);
    for (int j = 0; j < N; j++)
        for (int i = 0; i < j; i++)
            inverse[i + j * N] = inverse[j + i * N];
    sv_times('N', s->host, 'N', inverse, product);
    for (int i = 0; i < N; i++)
        one[i * (N + 1)] = 1;
    sv_same(type, one, product, NN);
}
FOUR(sytrf, indefinite)

static void indefinite_zero(char type)
{
    struct sv *s = sv_begin(type, SV_ZERO);
    sv(SV_CALL(s, sytrf, s->h, LOWER, N, s->a, N, s->pivots, s->work, ROOM, s->info));
    sv_info(s);
    pivots(s, 3);
}
FOUR(sytrf_singular, indefinite_zero)

/* ---- eigenvalues ---- */

/* Whether A V = V diag(w), and w ascends; V by columns. */
static void eigen(const struct sv *s, const number *vectors, const double *w)
{
    number left[NN], right[NN];
    bool ascends = true;
    sv_times('N', s->host, 'N', vectors, left);
    for (int j = 0; j < N; j++) {
        for (int i = 0; i < N; i++)
            right[i + j * N] = vectors[i + j * N] * w[j];
        ascends = ascends && (j == 0 || w[j] >= w[j - 1]);
    }
    sv_same(s->type, left, right, NN);
    say_if("ascend", ascends);
}

static void eigen_of(const struct sv *s)
{
    number vectors[NN];
    double w[N];
    sv_get(s->type, s->a, NN, vectors);
    sv_real(s->type, s->w, N, w);
    eigen(s, vectors, w);
    say_int(llrint(w[0] * 10));
    say_int(llrint(w[N - 1] * 10));
}

static void syevd(char type)
{
    struct sv *s = sv_begin(type, SV_HERMITIAN);
    sv(SV_CALL2(s, syevd_bufferSize, heevd_bufferSize, s->h, VECTOR, LOWER, N, s->a, N, s->w, &s->lwork));
    sv(SV_CALL2(s, syevd, heevd, s->h, VECTOR, LOWER, N, s->a, N, s->w, s->work, s->lwork, s->info));
    sv_info(s);
    eigen_of(s);
    double w[N];
    sv_begin(type, SV_HERMITIAN);
    sv(SV_CALL2(s, syevd, heevd, s->h, NOVECTOR, UPPER, N, s->a, N, s->w, s->work, ROOM, s->info));
    sv_info(s);
    sv_real(type, s->w, N, w);
    say_int(llrint(w[0] * 10));
    say_int(llrint(w[N - 1] * 10));
}
FOUR(syevd, syevd)

static void syevdx(char type)
{
    struct sv *s = sv_begin(type, SV_HERMITIAN);
    int found = -5;
    double w[N];
    sv(SV_CALL2(s, syevdx_bufferSize, heevdx_bufferSize, s->h, VECTOR, CUSOLVER_EIG_RANGE_I, LOWER, N, s->a, N, 0, 0, 2,
                4, &found, s->w, &s->lwork));
    sv(SV_CALL2(s, syevdx, heevdx, s->h, VECTOR, CUSOLVER_EIG_RANGE_I, LOWER, N, s->a, N, 0, 0, 2, 4, &found, s->w,
                s->work, ROOM, s->info));
    sv_info(s);
    say_int(found);
    sv_real(type, s->w, N, w);
    for (int i = 0; i < 3; i++)
        say_int(llrint(w[i] * 10));
    sv_begin(type, SV_HERMITIAN);
    sv(SV_CALL2(s, syevdx, heevdx, s->h, VECTOR, CUSOLVER_EIG_RANGE_V, LOWER, N, s->a, N, -10, 10, 0, 0, &found, s->w,
                s->work, ROOM, s->info));
    sv_info(s);
    say_int(found);
}
FOUR(syevdx, syevdx)

static void syevj(char type)
{
    struct sv *s = sv_begin(type, SV_HERMITIAN);
    syevjInfo_t info;
    int sweeps = -5;
    double residual = -5;
    SV_NEED(cusolverDnCreateSyevjInfo(&info));
    sv(SV_CALL2(s, syevj_bufferSize, heevj_bufferSize, s->h, VECTOR, LOWER, N, s->a, N, s->w, &s->lwork, info));
    sv(SV_CALL2(s, syevj, heevj, s->h, VECTOR, LOWER, N, s->a, N, s->w, s->work, s->lwork, s->info, info));
    sv_info(s);
    eigen_of(s);
    sv(cusolverDnXsyevjGetSweeps(s->h, info, &sweeps));
    sv(cusolverDnXsyevjGetResidual(s->h, info, &residual));
    say_if("sweeps", sweeps > 0 && sweeps < 20);
    say_if("residual", residual >= 0 && residual < 1e-3);
    SV_NEED(cusolverDnDestroySyevjInfo(info));
}
FOUR(syevj, syevj)

static void syevj_one_sweep(char type)
{
    struct sv *s = sv_begin(type, SV_HERMITIAN);
    syevjInfo_t info;
    SV_NEED(cusolverDnCreateSyevjInfo(&info));
    SV_NEED(cusolverDnXsyevjSetMaxSweeps(info, 1));
    sv(SV_CALL2(s, syevj, heevj, s->h, VECTOR, LOWER, N, s->a, N, s->w, s->work, ROOM, s->info, info));
    sv_info(s);
    SV_NEED(cusolverDnDestroySyevjInfo(info));
}
FOUR(syevj_one_sweep, syevj_one_sweep)

static void syevj_batched(char type)
{
    struct sv *s = sv_begin(type, SV_HERMITIAN);
    size_t bytes = (size_t)NN * (type == 'S' ? 4 : type == 'Z' ? 16 : 8);
    syevjInfo_t info;
    SV_NEED(cusolverDnCreateSyevjInfo(&info));
    RT_NEED(cudaMemcpy((char *)s->a + bytes, s->a, bytes, cudaMemcpyDeviceToDevice));
    sv(SV_CALL2(s, syevjBatched_bufferSize, heevjBatched_bufferSize, s->h, VECTOR, LOWER, N, s->a, N, s->w, &s->lwork,
                info, 2));
    sv(SV_CALL2(s, syevjBatched, heevjBatched, s->h, VECTOR, LOWER, N, s->a, N, s->w, s->work, s->lwork, s->info, info,
                2));
    sv_info(s);
    eigen_of(s);
    double residual;
    sv(cusolverDnXsyevjGetResidual(s->h, info, &residual));
    SV_NEED(cusolverDnDestroySyevjInfo(info));
}
FOUR(syevj_batched, syevj_batched)

/* A x = w B x. */
static void generalised(char type, bool jacobi, int itype)
{
    struct sv *s = sv_begin(type, SV_HERMITIAN);
    double w[N];
    syevjInfo_t info;
    SV_NEED(cusolverDnCreateSyevjInfo(&info));
    sv_fill(type, s->c, SV_POSITIVE, NULL);
    if (jacobi)
        sv(SV_CALL2(s, sygvj, hegvj, s->h, (cusolverEigType_t)itype, VECTOR, LOWER, N, s->a, N, s->c, N, s->w, s->work,
                    ROOM, s->info, info));
    else
        sv(SV_CALL2(s, sygvd, hegvd, s->h, (cusolverEigType_t)itype, VECTOR, LOWER, N, s->a, N, s->c, N, s->w, s->work,
                    ROOM, s->info));
    sv_info(s);
    sv_real(type, s->w, N, w);
    for (int i = 0; i < N; i += 3)
        say_int(llrint(w[i] * (itype == 1 ? 1000 : 1)));
    SV_NEED(cusolverDnDestroySyevjInfo(info));
}
static void sygvd(char type)
{
    generalised(type, false, 1);
    generalised(type, false, 2);
    generalised(type, false, 3);
}
static void sygvj(char type)
{
    generalised(type, true, 1);
}
FOUR(sygvd, sygvd)
FOUR(sygvj, sygvj)

static void sygvd_not_positive(char type)
{
    struct sv *s = sv_begin(type, SV_HERMITIAN);
    sv_fill(type, s->c, SV_HERMITIAN, NULL);
    sv(SV_CALL2(s, sygvd, hegvd, s->h, CUSOLVER_EIG_TYPE_1, VECTOR, LOWER, N, s->a, N, s->c, N, s->w, s->work, ROOM,
                s->info));
    sv_info(s);
}
FOUR(sygvd_not_positive, sygvd_not_positive)

static void tridiagonal(char type)
{
    struct sv *s = sv_begin(type, SV_HERMITIAN);
    number q[NN], t[NN] = {0}, product[NN];
    double d[N], e[N];
    sv(SV_CALL2(s, sytrd_bufferSize, hetrd_bufferSize, s->h, LOWER, N, s->a, N, s->w, s->u, s->tau, &s->lwork));
    sv(SV_CALL2(s, sytrd, hetrd, s->h, LOWER, N, s->a, N, s->w, s->u, s->tau, s->work, s->lwork, s->info));
    sv_info(s);
    sv(SV_CALL2(s, orgtr, ungtr, s->h, LOWER, N, s->a, N, s->tau, s->work, ROOM, s->info));
    sv_info(s);
    sv_get(type, s->a, NN, q);
    sv_real(type, s->w, N, d);
    sv_real(type, s->u, N, e);
    for (int i = 0; i < N; i++)
        t[i * (N + 1)] = d[i];
    for (int i = 0; i + 1 < N; i++)
        t[i + 1 + i * N] = t[i + (i + 1) * N] = e[i];
    sv_times('N', q, 'N', t, product);
    sv_times('N', product, 'C', q, product);
    sv_same(type, s->host, product, NN);
}
FOUR(sytrd, tridiagonal)

/* ---- singular values ---- */

/* Whether U diag(s) V is A; V as `letter` says. */
static void singular(const struct sv *s, char letter)
{
    number u[NN], v[NN], product[NN];
    double w[N];
    bool descends = true;
    sv_get(s->type, s->u, NN, u);
    sv_get(s->type, s->v, NN, v);
    sv_real(s->type, s->w, N, w);
    for (int j = 0; j < N; j++) {
        for (int i = 0; i < N; i++)
            u[i + j * N] *= w[j];
        descends = descends && w[j] >= 0 && (j == 0 || w[j] <= w[j - 1]);
    }
    sv_times('N', u, letter, v, product);
    sv_same(s->type, s->host, product, NN);
    say_if("descend", descends);
    say_int(llrint(w[0] * 10));
    say_int(llrint(w[N - 1] * 10));
}

static void gesvd(char type)
{
    struct sv *s = sv_begin(type, SV_GENERAL);
    double w[N];
    sv(SV_CALL(s, gesvd_bufferSize, s->h, N, N, &s->lwork));
    sv(SV_CALL(s, gesvd, s->h, 'A', 'A', N, N, s->a, N, s->w, s->u, N, s->v, N, s->work, s->lwork, s->tau, s->info));
    sv_info(s);
    singular(s, 'N');
    sv_begin(type, SV_GENERAL);
    sv(SV_CALL(s, gesvd, s->h, 'N', 'N', N, 5, s->a, N, s->w, s->u, N, s->v, N, s->work, ROOM, s->tau, s->info));
    sv_info(s);
    sv_real(type, s->w, 5, w);
    say_int(llrint(w[0] * 10));
    say_int(llrint(w[4] * 10));
    sv_begin(type, SV_GENERAL);
    sv(SV_CALL(s, gesvd, s->h, 'O', 'S', N, 5, s->a, N, s->w, s->u, N, s->v, N, s->work, ROOM, s->tau, s->info));
    sv_info(s);
}
FOUR(gesvd, gesvd)

static void gesvdj(char type)
{
    struct sv *s = sv_begin(type, SV_GENERAL);
    gesvdjInfo_t info;
    int sweeps = -5;
    double residual = -5;
    SV_NEED(cusolverDnCreateGesvdjInfo(&info));
    sv(SV_CALL(s, gesvdj_bufferSize, s->h, VECTOR, 1, N, N, s->a, N, s->w, s->u, N, s->v, N, &s->lwork, info));
    sv(SV_CALL(s, gesvdj, s->h, VECTOR, 1, N, N, s->a, N, s->w, s->u, N, s->v, N, s->work, s->lwork, s->info, info));
    sv_info(s);
    singular(s, 'C');
    sv(cusolverDnXgesvdjGetSweeps(s->h, info, &sweeps));
    sv(cusolverDnXgesvdjGetResidual(s->h, info, &residual));
    say_if("sweeps", sweeps > 0 && sweeps < 20);
    say_if("residual", residual >= 0 && residual < 1e-3);
    sv_begin(type, SV_GENERAL);
    sv(SV_CALL(s, gesvdj, s->h, VECTOR, 0, 5, N, s->a, N, s->w, s->u, N, s->v, N, s->work, ROOM, s->info, info));
    sv_info(s);
    SV_NEED(cusolverDnDestroyGesvdjInfo(info));
}
FOUR(gesvdj, gesvdj)

static void gesvdj_batched(char type)
{
    struct sv *s = sv_begin(type, SV_GENERAL);
    size_t bytes = (size_t)NN * (type == 'S' ? 4 : type == 'Z' ? 16 : 8);
    gesvdjInfo_t info;
    SV_NEED(cusolverDnCreateGesvdjInfo(&info));
    RT_NEED(cudaMemcpy((char *)s->a + bytes, s->a, bytes, cudaMemcpyDeviceToDevice));
    sv(SV_CALL(s, gesvdjBatched_bufferSize, s->h, VECTOR, N, N, s->a, N, s->w, s->u, N, s->v, N, &s->lwork, info, 2));
    sv(SV_CALL(s, gesvdjBatched, s->h, VECTOR, N, N, s->a, N, s->w, s->u, N, s->v, N, s->work, s->lwork, s->info, info,
               2));
    sv_info(s);
    singular(s, 'C');
    SV_NEED(cusolverDnDestroyGesvdjInfo(info));
}
FOUR(gesvdj_batched, gesvdj_batched)

static void gesvda(char type)
{
    struct sv *s = sv_begin(type, SV_GENERAL);
    double norm = -5;
    sv(SV_CALL(s, gesvdaStridedBatched_bufferSize, s->h, VECTOR, N, N, N, s->a, N, NN, s->w, N, s->u, N, NN, s->v, N,
               NN, &s->lwork, 1));
    sv(SV_CALL(s, gesvdaStridedBatched, s->h, VECTOR, N, N, N, s->a, N, NN, s->w, N, s->u, N, NN, s->v, N, NN, s->work,
               s->lwork, s->info, &norm, 1));
    sv_info(s);
    singular(s, 'C');
}
FOUR(gesvda, gesvda)

static void bidiagonal(char type)
{
    struct sv *s = sv_begin(type, SV_GENERAL);
    number b[NN] = {0}, q[NN], p[NN], product[NN];
    double d[N], e[N];
    sv(SV_CALL(s, gebrd_bufferSize, s->h, N, N, &s->lwork));
    sv(SV_CALL(s, gebrd, s->h, N, N, s->a, N, s->w, s->u, s->tau, s->v, s->work, s->lwork, s->info));
    sv_info(s);
    RT_NEED(cudaMemcpy(s->c, s->a, NN * 16, cudaMemcpyDeviceToDevice));
    sv(SV_CALL2(s, orgbr, ungbr, s->h, CUBLAS_SIDE_LEFT, N, N, N, s->a, N, s->tau, s->work, ROOM, s->info));
    sv_info(s);
    sv(SV_CALL2(s, orgbr, ungbr, s->h, CUBLAS_SIDE_RIGHT, N, N, N, s->c, N, s->v, s->work, ROOM, s->info));
    sv_info(s);
    sv_get(type, s->a, NN, q);
    sv_get(type, s->c, NN, p);
    sv_real(type, s->w, N, d);
    sv_real(type, s->u, N, e);
    for (int i = 0; i < N; i++)
        b[i * (N + 1)] = d[i];
    for (int i = 0; i + 1 < N; i++)
        b[i + (i + 1) * N] = e[i];
    sv_times('N', q, 'N', b, product);
    sv_times('N', product, 'N', p, product);
    sv_same(type, s->host, product, NN);
}
FOUR(gebrd, bidiagonal)

/* ---- refinement ---- */
static void gesv(char type)
{
    struct sv *s = sv_begin(type, SV_GENERAL);
    number right[3 * N], after[NN];
    size_t bytes = 0;
    int iterations = -77;
    right_sides(s, right);
    sv(type == 'S'   ? cusolverDnSSgesv_bufferSize(s->h, N, 3, s->a, N, s->pivots, s->b, N, s->c, N, s->work, &bytes)
       : type == 'D' ? cusolverDnDSgesv_bufferSize(s->h, N, 3, s->a, N, s->pivots, s->b, N, s->c, N, s->work, &bytes)
       : type == 'C' ? cusolverDnCCgesv_bufferSize(s->h, N, 3, s->a, N, s->pivots, s->b, N, s->c, N, s->work, &bytes)
                     : cusolverDnZCgesv_bufferSize(s->h, N, 3, s->a, N, s->pivots, s->b, N, s->c, N, s->work, &bytes));
    sv(type == 'S'
           ? cusolverDnSSgesv(s->h, N, 3, s->a, N, s->pivots, s->b, N, s->c, N, s->work, bytes, &iterations, s->info)
       : type == 'D'
           ? cusolverDnDSgesv(s->h, N, 3, s->a, N, s->pivots, s->b, N, s->c, N, s->work, bytes, &iterations, s->info)
       : type == 'C'
           ? cusolverDnCCgesv(s->h, N, 3, s->a, N, s->pivots, s->b, N, s->c, N, s->work, bytes, &iterations, s->info)
           : cusolverDnZCgesv(s->h, N, 3, s->a, N, s->pivots, s->b, N, s->c, N, s->work, bytes, &iterations, s->info));
    sv_info(s);
    say_value("iterations", iterations);
    solved(s, 'N', s->c, right);
    sv_get(type, s->a, NN, after);
    say_if("A is kept", memcmp(after, s->host, sizeof after) == 0);
    pivots(s, 2);
}
FOUR(gesv, gesv)

static void gels(char type)
{
    struct sv *s = sv_begin(type, SV_GENERAL);
    number right[3 * N];
    size_t bytes = 0;
    int iterations = -77;
    right_sides(s, right);
    sv(type == 'S'   ? cusolverDnSSgels_bufferSize(s->h, N, N, 3, s->a, N, s->b, N, s->c, N, s->work, &bytes)
       : type == 'D' ? cusolverDnDDgels_bufferSize(s->h, N, N, 3, s->a, N, s->b, N, s->c, N, s->work, &bytes)
       : type == 'C' ? cusolverDnCCgels_bufferSize(s->h, N, N, 3, s->a, N, s->b, N, s->c, N, s->work, &bytes)
                     : cusolverDnZZgels_bufferSize(s->h, N, N, 3, s->a, N, s->b, N, s->c, N, s->work, &bytes));
    sv(type == 'S'   ? cusolverDnSSgels(s->h, N, N, 3, s->a, N, s->b, N, s->c, N, s->work, bytes, &iterations, s->info)
       : type == 'D' ? cusolverDnDDgels(s->h, N, N, 3, s->a, N, s->b, N, s->c, N, s->work, bytes, &iterations, s->info)
       : type == 'C'
           ? cusolverDnCCgels(s->h, N, N, 3, s->a, N, s->b, N, s->c, N, s->work, bytes, &iterations, s->info)
           : cusolverDnZZgels(s->h, N, N, 3, s->a, N, s->b, N, s->c, N, s->work, bytes, &iterations, s->info));
    sv_info(s);
    say_value("iterations", iterations);
    solved(s, 'N', s->c, right);
}
FOUR(gels, gels)

static void gesv_singular(char type)
{
    struct sv *s = sv_begin(type, SV_ZERO);
    int iterations = -77;
    sv(type == 'S'
           ? cusolverDnSSgesv(s->h, N, 1, s->a, N, s->pivots, s->b, N, s->c, N, s->work, SV_ROOM, &iterations, s->info)
       : type == 'D'
           ? cusolverDnDDgesv(s->h, N, 1, s->a, N, s->pivots, s->b, N, s->c, N, s->work, SV_ROOM, &iterations, s->info)
       : type == 'C'
           ? cusolverDnCCgesv(s->h, N, 1, s->a, N, s->pivots, s->b, N, s->c, N, s->work, SV_ROOM, &iterations, s->info)
           : cusolverDnZZgesv(s->h, N, 1, s->a, N, s->pivots, s->b, N, s->c, N, s->work, SV_ROOM, &iterations,
                              s->info));
    sv_info(s);
    say_value("iterations", iterations);
}
FOUR(gesv_singular, gesv_singular)

/* ---- the 64-bit interface ---- */
static cudaDataType data_type(char type)
{
    return type == 'S' ? CUDA_R_32F : type == 'D' ? CUDA_R_64F : type == 'C' ? CUDA_C_32F : CUDA_C_64F;
}

static cudaDataType real_type(char type)
{
    return type == 'S' || type == 'C' ? CUDA_R_32F : CUDA_R_64F;
}

static char host_room[1 << 20];

static void wide_lu(char type)
{
    struct sv *s = sv_begin(type, SV_GENERAL);
    cudaDataType t = data_type(type);
    cusolverDnParams_t params;
    number right[3 * N];
    int64_t rows[N];
    right_sides(s, right);
    SV_NEED(cusolverDnCreateParams(&params));
    sv(cusolverDnXgetrf(s->h, params, N, N, t, s->a, N, s->v, t, s->work, SV_ROOM, host_room, sizeof host_room,
                        s->info));
    sv_info(s);
    RT_NEED(cudaMemcpy(rows, s->v, sizeof rows, cudaMemcpyDeviceToHost));
    for (int i = 0; i < N; i++)
        say_int(rows[i]);
    sv(cusolverDnXgetrs(s->h, params, CUBLAS_OP_N, N, 3, t, s->a, N, s->v, t, s->b, N, s->info));
    sv_info(s);
    solved(s, 'N', s->b, right);
    SV_NEED(cusolverDnDestroyParams(params));
}
FOUR(xgetrf, wide_lu)

static void wide_syevd(char type)
{
    struct sv *s = sv_begin(type, SV_HERMITIAN);
    cudaDataType t = data_type(type);
    size_t device = 0, host = 0;
    sv(cusolverDnXsyevd_bufferSize(s->h, NULL, VECTOR, LOWER, N, t, s->a, N, real_type(type), s->w, t, &device, &host));
    sv(cusolverDnXsyevd(s->h, NULL, VECTOR, LOWER, N, t, s->a, N, real_type(type), s->w, t, s->work, device, host_room,
                        host, s->info));
    sv_info(s);
    eigen_of(s);
}
FOUR(xsyevd, wide_syevd)

static void wide_syev_batched(char type)
{
    struct sv *s = sv_begin(type, SV_HERMITIAN);
    cudaDataType t = data_type(type);
    size_t device = 0, host = 0;
    sv(cusolverDnXsyevBatched_bufferSize(s->h, NULL, VECTOR, LOWER, N, t, s->a, N, real_type(type), s->w, t, &device,
                                         &host, 1));
    sv(cusolverDnXsyevBatched(s->h, NULL, VECTOR, LOWER, N, t, s->a, N, real_type(type), s->w, t, s->work, device,
                              host_room, host, s->info, 1));
    sv_info(s);
    eigen_of(s);
}
FOUR(xsyevBatched, wide_syev_batched)

static void wide_svd(char type)
{
    struct sv *s = sv_begin(type, SV_GENERAL);
    cudaDataType t = data_type(type), r = real_type(type);
    double wrong = -5;
    sv(cusolverDnXgesvd(s->h, NULL, 'A', 'A', N, N, t, s->a, N, r, s->w, t, s->u, N, t, s->v, N, t, s->work, SV_ROOM,
                        host_room, sizeof host_room, s->info));
    sv_info(s);
    singular(s, 'N');
    sv_begin(type, SV_GENERAL);
    sv(cusolverDnXgesvdp(s->h, NULL, VECTOR, 1, N, N, t, s->a, N, r, s->w, t, s->u, N, t, s->v, N, t, s->work, SV_ROOM,
                         host_room, sizeof host_room, s->info, &wrong));
    sv_info(s);
    singular(s, 'C');
    say_if("error is small", wrong >= 0 && wrong < 1e-3);
    sv_begin(type, SV_GENERAL);
    sv(cusolverDnXgesvdr(s->h, NULL, 'S', 'S', N, N, 3, 3, 5, t, s->a, N, r, s->w, t, s->u, N, t, s->v, N, t, s->work,
                         SV_ROOM, host_room, sizeof host_room, s->info));
    sv_info(s);
}
FOUR(xgesvd, wide_svd)

static void wide_geev(char type)
{
    struct sv *s = sv_begin(type, SV_GENERAL);
    cudaDataType t = data_type(type), w = type == 'S' || type == 'C' ? CUDA_C_32F : CUDA_C_64F;
    number values[N], vectors[NN], left[NN], right[NN];
    sv(cusolverDnXgeev(s->h, NULL, NOVECTOR, VECTOR, N, t, s->a, N, w, s->w, t, s->u, N, t, s->v, N, t, s->work,
                       SV_ROOM, host_room, sizeof host_room, s->info));
    sv_info(s);
    sv_get(type == 'S' || type == 'C' ? 'C' : 'Z', s->w, N, values);
    sv_get(type, s->v, NN, vectors);
    for (int j = 0; (type == 'S' || type == 'D') && j < N; j++)
        if (cimag(values[j]) > 0) {
            for (int i = 0; i < N; i++) {
                number re = vectors[i + j * N], im = vectors[i + (j + 1) * N];
                vectors[i + j * N] = re + im * I;
                vectors[i + (j + 1) * N] = re - im * I;
            }
            j++;
        }
    sv_times('N', s->host, 'N', vectors, left);
    for (int j = 0; j < N; j++)
        for (int i = 0; i < N; i++)
            right[i + j * N] = vectors[i + j * N] * values[j];
    sv_same(type, left, right, NN);
}
FOUR(xgeev, wide_geev)

static void wide_rest(char type)
{
    struct sv *s = sv_begin(type, SV_POSITIVE);
    cudaDataType t = data_type(type);
    number right[3 * N];
    right_sides(s, right);
    sv(cusolverDnXpotrf(s->h, NULL, LOWER, N, t, s->a, N, t, s->work, SV_ROOM, host_room, sizeof host_room, s->info));
    sv_info(s);
    sv(cusolverDnXpotrs(s->h, NULL, LOWER, N, 3, t, s->a, N, t, s->b, N, s->info));
    solved(s, 'N', s->b, right);
    sv(cusolverDnXtrtri(s->h, LOWER, CUBLAS_DIAG_NON_UNIT, N, t, s->a, N, s->work, SV_ROOM, host_room, sizeof host_room,
                        s->info));
    sv_info(s);
    sv_begin(type, SV_GENERAL);
    sv(cusolverDnXgeqrf(s->h, NULL, N, N, t, s->a, N, t, s->tau, t, s->work, SV_ROOM, host_room, sizeof host_room,
                        s->info));
    sv_info(s);
    sv(cusolverDnXlarft(s->h, NULL, CUBLAS_DIRECT_FORWARD, CUBLAS_STOREV_COLUMNWISE, N, N, t, s->a, N, t, s->tau, t,
                        s->c, N, t, s->work, SV_ROOM, host_room, sizeof host_room));
    number tau[N], block[NN], first[N] = {0};
    sv_get(type, s->tau, N, tau);
    sv_get(type, s->c, NN, block);
    for (int i = 0; i < N; i++)
        first[i] = block[i * (N + 1)];
    sv_same(type, tau, first, N);
}
FOUR(xrest, wide_rest)
