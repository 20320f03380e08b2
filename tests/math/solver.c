/* SPDX-License-Identifier: Apache-2.0 */
/* libcusolver beside plain loops: what each factorisation, solution and set of vectors has to fulfil, for all types,
 * sizes from 1 up to several of LAPACK's blocks, leading dimensions with gaps; batches; threads with handles of their
 * own. (Statuses, infos and order: tests/golden/math/cusolver.) */
#include <cuda_runtime_api.h>
#include <cusolverDn.h>

#include <complex.h>
#include <math.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"

#define OK(call) CHECK((call) == CUSOLVER_STATUS_SUCCESS)

typedef double complex number;

static cusolverDnHandle_t handle;
static cusolverDnParams_t params;
static char *work;
#define ROOM ((size_t)8 << 20)

/* A matrix by columns in device memory, with gaps between columns. */
struct matrix {
    cudaDataType type;
    int rows, columns, ld;
    void *device;
};

static size_t size_of(cudaDataType type)
{
    return type == CUDA_R_32F ? 4 : type == CUDA_C_64F ? 16 : 8;
}

static cudaDataType real_of(cudaDataType type)
{
    return type == CUDA_R_32F || type == CUDA_C_32F ? CUDA_R_32F : CUDA_R_64F;
}

static bool is_complex(cudaDataType type)
{
    return type == CUDA_C_32F || type == CUDA_C_64F;
}

static void put(cudaDataType type, void *at, size_t i, number value)
{
    switch ((int)type) {
    case CUDA_R_32F:
        ((float *)at)[i] = (float)creal(value);
        break;
    case CUDA_R_64F:
        ((double *)at)[i] = creal(value);
        break;
    case CUDA_C_32F:
        ((float complex *)at)[i] = (float complex)value;
        break;
    default:
        ((double complex *)at)[i] = value;
    }
}

static number get(cudaDataType type, const void *at, size_t i)
{
    switch ((int)type) {
    case CUDA_R_32F:
        return (number)((const float *)at)[i];
    case CUDA_R_64F:
        return ((const double *)at)[i];
    case CUDA_C_32F:
        return (number)((const float complex *)at)[i];
    default:
        return ((const double complex *)at)[i];
    }
}

static double drawn(void)
{
    static unsigned long long state = 88172645463325252ull;
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return (double)(state >> 11) * 0x1p-53 - 0.5;
}

/* Device memory is the host's here, but tests go by copies, as programs do. */
static struct matrix matrix(cudaDataType type, int rows, int columns)
{
    struct matrix m = {type, rows, columns, rows + 3, NULL};
    RT(cudaMalloc(&m.device, (size_t)m.ld * (size_t)(columns > 0 ? columns : 1) * size_of(type)));
    RT(cudaMemset(m.device, 0, (size_t)m.ld * (size_t)(columns > 0 ? columns : 1) * size_of(type)));
    return m;
}

static void end(struct matrix *m)
{
    RT(cudaFree(m->device));
}

/* rows x columns numbers, without gaps. */
static void store(const struct matrix *m, const number *values)
{
    size_t bytes = (size_t)m->ld * (size_t)m->columns * size_of(m->type);
    char *host = malloc(bytes);
    CHECK(host);
    RT(cudaMemcpy(host, m->device, bytes, cudaMemcpyDeviceToHost));
    for (int j = 0; j < m->columns; j++)
        for (int i = 0; i < m->rows; i++)
            put(m->type, host, (size_t)i + (size_t)j * (size_t)m->ld, values[i + j * m->rows]);
    RT(cudaMemcpy(m->device, host, bytes, cudaMemcpyHostToDevice));
    free(host);
}

static number *load(const struct matrix *m)
{
    size_t bytes = (size_t)m->ld * (size_t)m->columns * size_of(m->type);
    char *host = malloc(bytes);
    number *values = malloc(sizeof *values * (size_t)m->rows * (size_t)m->columns);
    CHECK(host && values);
    RT(cudaMemcpy(host, m->device, bytes, cudaMemcpyDeviceToHost));
    for (int j = 0; j < m->columns; j++) {
        for (int i = 0; i < m->rows; i++)
            values[i + j * m->rows] = get(m->type, host, (size_t)i + (size_t)j * (size_t)m->ld);
        for (int i = m->rows; i < m->ld; i++) /* the gap is nobody's */
            CHECK(get(m->type, host, (size_t)i + (size_t)j * (size_t)m->ld) == 0);
    }
    free(host);
    return values;
}

enum kind { GENERAL, POSITIVE, HERMITIAN };

static number *values_of(cudaDataType type, int rows, int columns, enum kind kind)
{
    number *v = malloc(sizeof *v * (size_t)rows * (size_t)columns);
    CHECK(v);
    for (int i = 0; i < rows * columns; i++) {
        v[i] = drawn();
        if (is_complex(type))
            v[i] += drawn() * I;
    }
    for (int j = 0; kind != GENERAL && j < columns; j++)
        for (int i = 0; i <= j; i++) {
            if (i == j)
                v[i + j * rows] = creal(v[i + j * rows]) + (kind == POSITIVE ? rows : 0);
            else
                v[j + i * rows] = conj(v[i + j * rows]);
        }
    if (type == CUDA_R_32F || type == CUDA_C_32F)
        for (int i = 0; i < rows * columns; i++)
            v[i] = (float)creal(v[i]) + (float)cimag(v[i]) * I;
    return v;
}

/* op(a) op(b); 'C' takes the adjoint. m x n, k between. */
static number *times(char ta, const number *a, int lda, char tb, const number *b, int ldb, int m, int n, int k)
{
    number *c = malloc(sizeof *c * (size_t)m * (size_t)n);
    CHECK(c);
    for (int j = 0; j < n; j++)
        for (int i = 0; i < m; i++) {
            number sum = 0;
            for (int l = 0; l < k; l++)
                sum += (ta == 'N'   ? a[i + l * lda]
                        : ta == 'T' ? a[l + i * lda]
                                    : conj(a[l + i * lda])) *
                       (tb == 'N' ? b[l + j * ldb] : conj(b[j + l * ldb]));
            c[i + j * m] = sum;
        }
    return c;
}

static void same_at(int line, cudaDataType type, const number *a, const number *b, int count, int n)
{
    double worst = 0, scale = 1, step = real_of(type) == CUDA_R_32F ? 1.2e-7 : 2.3e-16;
    for (int i = 0; i < count; i++) {
        double off = cabs(a[i] - b[i]), size = cabs(a[i]);
        worst = off > worst || isnan(off) ? off : worst;
        scale = size > scale ? size : scale;
    }
    if (!(worst <= 60 * step * scale * (n + 4))) {
        fprintf(stderr, "line %d: type %d, n %d: off by %g of %g\n", line, type, n, worst, scale);
        exit(1);
    }
}
#define SAME(type, a, b, count, n) same_at(__LINE__, type, a, b, count, n)

static int *info;

static void info_is(int wanted)
{
    int got;
    RT(cudaMemcpy(&got, info, sizeof got, cudaMemcpyDeviceToHost));
    CHECK(got == wanted);
}

static void lu(cudaDataType type, int n, bool exchange)
{
    struct matrix a = matrix(type, n, n), b = matrix(type, n, 3);
    number *av = values_of(type, n, n, exchange ? GENERAL : POSITIVE), *bv = values_of(type, n, 3, GENERAL);
    int64_t *pivots;
    RT(cudaMalloc((void **)&pivots, sizeof *pivots * (size_t)n));
    store(&a, av);
    OK(cusolverDnXgetrf(handle, params, n, n, type, a.device, a.ld, exchange ? pivots : NULL, type, work, ROOM, NULL, 0,
                        info));
    info_is(0);
    for (int op = 0; op < 3; op++) {
        store(&b, bv);
        OK(cusolverDnXgetrs(handle, params, (cublasOperation_t)op, n, 3, type, a.device, a.ld, exchange ? pivots : NULL,
                            type, b.device, b.ld, info));
        number *x = load(&b), *back = times("NTC"[op], av, n, 'N', x, n, n, 3, n);
        double large = 0;
        for (int i = 0; i < 3 * n; i++)
            large = fmax(large, cabs(x[i]));
        for (int i = 0; i < 3 * n; i++) { /* backward stable: relative to the solution */
            back[i] /= 1 + large;
            x[i] = bv[i] / (1 + large);
        }
        SAME(type, x, back, 3 * n, n * 4);
        free(x);
        free(back);
    }
    RT(cudaFree(pivots));
    end(&a);
    end(&b);
    free(av);
    free(bv);
}

static void cholesky(cudaDataType type, int n, cublasFillMode_t uplo)
{
    struct matrix a = matrix(type, n, n), b = matrix(type, n, 3);
    number *av = values_of(type, n, n, POSITIVE), *bv = values_of(type, n, 3, GENERAL);
    store(&a, av);
    store(&b, bv);
    OK(cusolverDnXpotrf(handle, params, uplo, n, type, a.device, a.ld, type, work, ROOM, NULL, 0, info));
    info_is(0);
    OK(cusolverDnXpotrs(handle, params, uplo, n, 3, type, a.device, a.ld, type, b.device, b.ld, info));
    number *x = load(&b), *back = times('N', av, n, 'N', x, n, n, 3, n);
    SAME(type, bv, back, 3 * n, n);
    free(x);
    free(back);
    number *f = load(&a);
    for (int j = 0; j < n; j++) /* the other half is as it was */
        for (int i = 0; i < n; i++) {
            bool other = uplo == CUBLAS_FILL_MODE_LOWER ? i < j : i > j;
            if (other) {
                CHECK(f[i + j * n] == av[i + j * n]);
                f[i + j * n] = 0;
            }
        }
    back = uplo == CUBLAS_FILL_MODE_LOWER ? times('N', f, n, 'C', f, n, n, n, n) : times('C', f, n, 'N', f, n, n, n, n);
    SAME(type, av, back, n * n, n);
    free(back);
    free(f);
    end(&a);
    end(&b);
    free(av);
    free(bv);
}

/* A x = w x for all of them; the vectors are a basis. */
static void eigen(cudaDataType type, int n, cublasFillMode_t uplo)
{
    struct matrix a = matrix(type, n, n), w = matrix(real_of(type), n, 1);
    number *av = values_of(type, n, n, HERMITIAN);
    store(&a, av);
    OK(cusolverDnXsyevd(handle, params, CUSOLVER_EIG_MODE_VECTOR, uplo, n, type, a.device, a.ld, w.type, w.device, type,
                        work, ROOM, NULL, 0, info));
    info_is(0);
    number *v = load(&a), *wv = load(&w), *left = times('N', av, n, 'N', v, n, n, n, n);
    for (int j = 0; j < n; j++) {
        CHECK(j == 0 || creal(wv[j]) >= creal(wv[j - 1]));
        for (int i = 0; i < n; i++)
            av[i + j * n] = v[i + j * n] * wv[j];
    }
    SAME(type, av, left, n * n, n);
    free(left);
    left = times('C', v, n, 'N', v, n, n, n, n);
    for (int i = 0; i < n * n; i++)
        av[i] = i % (n + 1) == 0;
    SAME(type, av, left, n * n, n);
    free(left);
    free(v);
    free(wv);
    free(av);
    end(&a);
    end(&w);
}

/* A = U diag(s) V^H, by gesvdp, which takes matrices of any shape. */
static void singular(cudaDataType type, int m, int n, bool economy)
{
    int small = m < n ? m : n, across = economy ? small : m, down = economy ? small : n;
    struct matrix a = matrix(type, m, n), u = matrix(type, m, across), v = matrix(type, n, down);
    struct matrix s = matrix(real_of(type), small, 1);
    number *av = values_of(type, m, n, GENERAL);
    double wrong = -1;
    store(&a, av);
    OK(cusolverDnXgesvdp(handle, params, CUSOLVER_EIG_MODE_VECTOR, economy, m, n, type, a.device, a.ld, s.type,
                         s.device, type, u.device, u.ld, type, v.device, v.ld, type, work, ROOM, NULL, 0, info,
                         &wrong));
    info_is(0);
    CHECK(wrong >= 0 && wrong < (real_of(type) == CUDA_R_32F ? 1e-3 : 1e-11));
    number *uv = load(&u), *vv = load(&v), *sv = load(&s);
    number *one = times('C', uv, m, 'N', uv, m, across, across, m),
           *unit = calloc((size_t)(across * across), sizeof *unit);
    for (int i = 0; i < across; i++)
        unit[i * (across + 1)] = 1;
    SAME(type, unit, one, across * across, m);
    for (int j = 0; j < small; j++) {
        CHECK(creal(sv[j]) >= 0 && (j == 0 || creal(sv[j]) <= creal(sv[j - 1])));
        for (int i = 0; i < m; i++)
            uv[i + j * m] *= sv[j];
    }
    number *back = times('N', uv, m, 'C', vv, n, m, n, small);
    SAME(type, av, back, m * n, m + n);
    free(one);
    free(unit);
    free(back);
    free(uv);
    free(vv);
    free(sv);
    free(av);
    end(&a);
    end(&u);
    end(&v);
    end(&s);
}

/* A = Q R: Q^H A is R, by the reflectors and by Q itself. */
/* A = U diag(s) V^T by gesvd with jobs of its own for both: what is wanted lies where it belongs, or in A. */
static void jobs(char left, char right, int m, int n)
{
    double *a, *kept, *s, *u, *v, *room;
    int *told, lwork = 0;
    size_t matrix = (size_t)m * (size_t)m * sizeof *a;
    RT(cudaMallocManaged((void **)&a, matrix, cudaMemAttachGlobal));
    RT(cudaMallocManaged((void **)&u, matrix, cudaMemAttachGlobal));
    RT(cudaMallocManaged((void **)&v, matrix, cudaMemAttachGlobal));
    RT(cudaMallocManaged((void **)&s, matrix, cudaMemAttachGlobal));
    RT(cudaMallocManaged((void **)&told, sizeof *told, cudaMemAttachGlobal));
    kept = malloc(matrix);
    CHECK(kept);
    for (int i = 0; i < m * n; i++)
        a[i] = kept[i] = drawn();
    OK(cusolverDnDgesvd_bufferSize(handle, m, n, &lwork));
    RT(cudaMalloc((void **)&room, (size_t)(lwork + 1) * sizeof *room));
    OK(cusolverDnDgesvd(handle, (signed char)left, (signed char)right, m, n, a, m, s, u, m, v, n, room, lwork, NULL,
                        told));
    RT(cudaDeviceSynchronize());
    CHECK(*told == 0);
    const double *us = left == 'O' ? a : u, *vs = right == 'O' ? a : v;
    int step = right == 'O' ? m : n;
    for (int i = 1; i < n; i++)
        CHECK(s[i] >= 0 && s[i] <= s[i - 1]);
    for (int i = 0; i < m && left != 'N' && right != 'N'; i++)
        for (int j = 0; j < n; j++) {
            double sum = 0;
            for (int k = 0; k < n; k++)
                sum += us[i + k * m] * s[k] * vs[k + j * step];
            CHECK(fabs(sum - kept[i + j * m]) < 1e-12 * m);
        }
    free(kept);
    RT(cudaFree(a));
    RT(cudaFree(u));
    RT(cudaFree(v));
    RT(cudaFree(s));
    RT(cudaFree(told));
    RT(cudaFree(room));
}

static void qr(int m, int n)
{
    struct matrix a = matrix(CUDA_C_64F, m, n), c = matrix(CUDA_C_64F, m, n), tau = matrix(CUDA_C_64F, n, 1);
    number *av = values_of(CUDA_C_64F, m, n, GENERAL);
    int small = m < n ? m : n, lwork;
    cuDoubleComplex *at = a.device, *taus = tau.device;
    store(&a, av);
    store(&c, av);
    OK(cusolverDnZgeqrf_bufferSize(handle, m, n, at, n, &lwork)); /* CuPy gives the columns; hardware takes them */
    CHECK(lwork >= 1);
    OK(cusolverDnZgeqrf(handle, m, n, at, a.ld, taus, (cuDoubleComplex *)work, lwork, info));
    info_is(0);
    OK(cusolverDnZunmqr(handle, CUBLAS_SIDE_LEFT, CUBLAS_OP_C, m, n, small, at, a.ld, taus, c.device, c.ld,
                        (cuDoubleComplex *)work, 1 << 16, info));
    number *r = load(&a), *turned = load(&c);
    for (int j = 0; j < n; j++)
        for (int i = j + 1; i < m; i++)
            r[i + j * m] = 0;
    SAME(CUDA_C_64F, r, turned, m * n, m);
    OK(cusolverDnZungqr(handle, m, small, small, at, a.ld, taus, (cuDoubleComplex *)work, 1 << 16, info));
    number *all = load(&a), *back = times('N', all, m, 'N', r, m, m, n, small);
    SAME(CUDA_C_64F, av, back, m * n, m);
    free(r);
    free(turned);
    free(all);
    free(back);
    free(av);
    end(&a);
    end(&c);
    end(&tau);
}

/* Many small systems at once, a member in ten not positive. */
static void batches(void)
{
    enum { N = 6, BATCH = 3000 };
    double *all, **at, host[N * N];
    int *infos, got[BATCH];
    RT(cudaMalloc((void **)&all, sizeof host * BATCH));
    RT(cudaMalloc((void **)&at, sizeof *at * BATCH));
    RT(cudaMalloc((void **)&infos, sizeof got));
    for (int k = 0; k < BATCH; k++) {
        number *v = values_of(CUDA_R_64F, N, N, POSITIVE);
        for (int i = 0; i < N * N; i++)
            host[i] = creal(v[i]);
        if (k % 10 == 3)
            host[2 * (N + 1)] = -1;
        free(v);
        double *member = all + (size_t)k * N * N;
        RT(cudaMemcpy(member, host, sizeof host, cudaMemcpyHostToDevice));
        RT(cudaMemcpy(at + k, &member, sizeof member, cudaMemcpyHostToDevice));
    }
    OK(cusolverDnDpotrfBatched(handle, CUBLAS_FILL_MODE_LOWER, N, at, N, infos, BATCH));
    RT(cudaMemcpy(got, infos, sizeof got, cudaMemcpyDeviceToHost));
    for (int k = 0; k < BATCH; k++)
        CHECK(got[k] == (k % 10 == 3 ? 3 : 0));
    RT(cudaFree(all));
    RT(cudaFree(at));
    RT(cudaFree(infos));
}

/* Threads with handles and streams of their own: each factorises and solves for a while. */
static void *solve(void *argument)
{
    enum { N = 40 };
    unsigned seed = (unsigned)(long)argument;
    cusolverDnHandle_t own;
    cudaStream_t stream;
    double *a, *b, host[N * N], right[N], x[N];
    int *rows, *own_info, status;
    OK(cusolverDnCreate(&own));
    RT(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    OK(cusolverDnSetStream(own, stream));
    RT(cudaMalloc((void **)&a, sizeof host));
    RT(cudaMalloc((void **)&b, sizeof right));
    RT(cudaMalloc((void **)&rows, sizeof(int) * N));
    RT(cudaMalloc((void **)&own_info, sizeof(int)));
    for (int round = 0; round < 60; round++) {
        for (int i = 0; i < N * N; i++) {
            seed = seed * 1664525u + 1013904223u;
            host[i] = (double)(seed >> 8) / (1 << 24) + (i % (N + 1) == 0 ? 3 : 0);
        }
        for (int i = 0; i < N; i++)
            right[i] = i - 7;
        RT(cudaMemcpyAsync(a, host, sizeof host, cudaMemcpyHostToDevice, stream));
        RT(cudaMemcpyAsync(b, right, sizeof right, cudaMemcpyHostToDevice, stream));
        OK(cusolverDnDgetrf(own, N, N, a, N, NULL, rows, own_info));
        OK(cusolverDnDgetrs(own, CUBLAS_OP_N, N, 1, a, N, rows, b, N, own_info));
        RT(cudaMemcpyAsync(x, b, sizeof x, cudaMemcpyDeviceToHost, stream));
        RT(cudaMemcpyAsync(&status, own_info, sizeof status, cudaMemcpyDeviceToHost, stream));
        RT(cudaStreamSynchronize(stream));
        CHECK(status == 0);
        for (int i = 0; i < N; i++) {
            double sum = 0, large = 1;
            for (int j = 0; j < N; j++) {
                sum += host[i + j * N] * x[j];
                large += fabs(host[i + j * N] * x[j]);
            }
            CHECK(fabs(sum - right[i]) <= 1e-11 * large);
        }
    }
    OK(cusolverDnDestroy(own));
    CHECK(cusolverDnDgetrf(own, N, N, a, N, NULL, rows, own_info) == CUSOLVER_STATUS_NOT_INITIALIZED);
    RT(cudaFree(a));
    RT(cudaFree(b));
    RT(cudaFree(rows));
    RT(cudaFree(own_info));
    RT(cudaStreamDestroy(stream));
    return NULL;
}

/* ---- sizes that are cut into panels ---- */

/* A leading block that is not positive, and a column of zeros, are told where they are, also behind the first panel. */
static void large_infos(int n)
{
    struct matrix a = matrix(CUDA_R_64F, n, n);
    number *av = values_of(CUDA_R_64F, n, n, POSITIVE);
    int64_t *pivots;
    RT(cudaMalloc((void **)&pivots, sizeof *pivots * (size_t)n));
    for (int at = 5; at < n; at += 270) {
        number kept = av[at + at * n];
        av[at + at * n] = -1;
        for (int half = 0; half < 2; half++) {
            store(&a, av);
            OK(cusolverDnXpotrf(handle, params, (cublasFillMode_t)half, n, a.type, a.device, a.ld, a.type, work, ROOM,
                                NULL, 0, info));
            info_is(at + 1);
        }
        av[at + at * n] = kept;
        number *zero = malloc(sizeof *zero * (size_t)n * (size_t)n);
        CHECK(zero);
        memcpy(zero, av, sizeof *zero * (size_t)n * (size_t)n);
        memset(zero + (size_t)at * (size_t)n, 0, sizeof *zero * (size_t)n);
        store(&a, zero);
        OK(cusolverDnXgetrf(handle, params, n, n, a.type, a.device, a.ld, pivots, a.type, work, ROOM, NULL, 0, info));
        info_is(at + 1);
        free(zero);
    }
    RT(cudaFree(pivots));
    end(&a);
    free(av);
}

/* Q^T A is R. */
static void large_qr(int m, int n)
{
    struct matrix a = matrix(CUDA_R_64F, m, n), c = matrix(CUDA_R_64F, m, n), tau = matrix(CUDA_R_64F, n, 1);
    number *av = values_of(CUDA_R_64F, m, n, GENERAL);
    store(&a, av);
    store(&c, av);
    OK(cusolverDnDgeqrf(handle, m, n, a.device, a.ld, tau.device, (double *)(void *)work, 1 << 16, info));
    info_is(0);
    OK(cusolverDnDormqr(handle, CUBLAS_SIDE_LEFT, CUBLAS_OP_T, m, n, m < n ? m : n, a.device, a.ld, tau.device,
                        c.device, c.ld, (double *)(void *)work, 1 << 16, info));
    number *r = load(&a), *turned = load(&c);
    for (int j = 0; j < n; j++)
        for (int i = j + 1; i < m; i++)
            r[i + j * m] = 0;
    SAME(CUDA_R_64F, r, turned, m * n, m);
    free(r);
    free(turned);
    free(av);
    end(&a);
    end(&c);
    end(&tau);
}

/* A graph does it again, to the same bits. */
static void large_graph(int m, int n)
{
    struct matrix a = matrix(CUDA_R_64F, m, n), tau = matrix(CUDA_R_64F, m < n ? m : n, 1);
    number *av = values_of(CUDA_R_64F, m, n, GENERAL), *first[2] = {NULL, NULL};
    cudaStream_t stream;
    int64_t *pivots;
    RT(cudaStreamCreate(&stream));
    RT(cudaMalloc((void **)&pivots, sizeof *pivots * (size_t)(m < n ? m : n)));
    OK(cusolverDnSetStream(handle, stream));
    for (int is_qr = 0; is_qr < 2; is_qr++) {
        cudaGraph_t graph;
        cudaGraphExec_t exec;
        RT(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
        if (is_qr)
            OK(cusolverDnXgeqrf(handle, params, m, n, a.type, a.device, a.ld, a.type, tau.device, a.type, work, ROOM,
                                NULL, 0, info));
        else
            OK(cusolverDnXgetrf(handle, params, m, n, a.type, a.device, a.ld, pivots, a.type, work, ROOM, NULL, 0,
                                info));
        RT(cudaStreamEndCapture(stream, &graph));
        RT(cudaGraphInstantiate(&exec, graph, 0));
        RT(cudaGraphDestroy(graph));
        for (int turn = 0; turn < 3; turn++) {
            store(&a, av);
            RT(cudaMemset(info, 0x55, 4));
            RT(cudaGraphLaunch(exec, stream));
            RT(cudaStreamSynchronize(stream));
            info_is(0);
            number *now = load(&a);
            if (turn == 0)
                first[is_qr] = now;
            else {
                CHECK(memcmp(now, first[is_qr], sizeof *now * (size_t)m * (size_t)n) == 0);
                free(now);
            }
        }
        RT(cudaGraphExecDestroy(exec));
        free(first[is_qr]);
    }
    OK(cusolverDnSetStream(handle, NULL));
    RT(cudaStreamDestroy(stream));
    RT(cudaFree(pivots));
    end(&a);
    end(&tau);
    free(av);
}

int main(void)
{
    static const cudaDataType types[] = {CUDA_R_32F, CUDA_R_64F, CUDA_C_32F, CUDA_C_64F};
    static const int sizes[] = {1, 2, 17, 70};
    pthread_t threads[6];
    OK(cusolverDnCreate(&handle));
    OK(cusolverDnCreateParams(&params));
    RT(cudaMalloc((void **)&work, ROOM));
    RT(cudaMalloc((void **)&info, 64));
    for (int t = 0; t < 4; t++)
        for (int s = 0; s < 4; s++) {
            int n = sizes[s];
            for (int half = 0; half < 2; half++) {
                lu(types[t], n, half);
                cholesky(types[t], n, (cublasFillMode_t)half);
                eigen(types[t], n, (cublasFillMode_t)half);
                singular(types[t], n, n + 5, half);
                singular(types[t], n + 9, n, half);
            }
        }
    for (const char *pair = "AAASAOANSASSSOSNOAOSONNANSNONN"; *pair; pair += 2) {
        jobs(pair[0], pair[1], 40, 23);
        jobs(pair[0], pair[1], 9, 9);
    }
    qr(1, 1);
    qr(50, 70);
    qr(130, 70);
    for (int t = 0; t < 2; t++)
        for (int half = 0; half < 2; half++) {
            lu(types[t], 700, half);
            cholesky(types[t], 530, (cublasFillMode_t)half);
        }
    large_qr(700, 530);
    large_qr(520, 600);
    large_infos(600);
    large_graph(520, 700);
    batches();
    for (long i = 0; i < 6; i++)
        CHECK(pthread_create(&threads[i], NULL, solve, (void *)(i + 1)) == 0);
    for (int i = 0; i < 6; i++)
        CHECK(pthread_join(threads[i], NULL) == 0);
    RT(cudaFree(work));
    RT(cudaFree(info));
    OK(cusolverDnDestroyParams(params));
    OK(cusolverDnDestroy(handle));
    CHECK(cusolverDnDestroy(handle) == CUSOLVER_STATUS_NOT_INITIALIZED);
    return 0;
}
