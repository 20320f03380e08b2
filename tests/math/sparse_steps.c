/* SPDX-License-Identifier: Apache-2.0 */
/* libcusolver's preview, step by step: QR, Cholesky and LU of one matrix for several right sides, in device and in host
 * memory, all types and bases; LU's factors multiplied out; shifts; pivots that are missing; orders that save fill;
 * matrices in another order; symmetry; steps that are left out. */
#include <cuda_runtime_api.h>
#include <cusolverSp.h>
#include <cusolverSp_LOWLEVEL_PREVIEW.h>
#include <cusparse.h>

#include <complex.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"

#define OK(call) CHECK((call) == CUSOLVER_STATUS_SUCCESS)
#define BAD(call) CHECK((call) == CUSOLVER_STATUS_INVALID_VALUE)

enum { SIDE = 9, N = SIDE * SIDE, MOST = 5 * N };

static cusolverSpHandle_t handle;
static cusparseMatDescr_t descr;

/* A grid of SIDE by SIDE points, each joined to its neighbours, in managed memory: device and host functions read it.
 */
static struct {
    int rows[N + 1], columns[MOST];
    double d[MOST];
    double complex z[MOST];
} *a;
static double *b, *x;
static double complex *zb, *zx;
static char *area;

static unsigned state = 99;

static double drawn(void)
{
    state = state * 1664525u + 1013904223u;
    return (double)(state >> 8) / (1 << 24) - 0.5;
}

/* `definite`: Hermitian and positive, for Cholesky. */
static void fill(int base, bool definite)
{
    int put = 0;
    for (int i = 0; i < N; i++) {
        const int near[5] = {i - SIDE, i % SIDE ? i - 1 : -1, i, i % SIDE < SIDE - 1 ? i + 1 : -1, i + SIDE};
        a->rows[i] = put + base;
        for (int k = 0; k < 5; k++) {
            if (near[k] < 0 || near[k] >= N)
                continue;
            a->columns[put] = near[k] + base;
            a->d[put] = k == 2 ? 4.5 : definite ? -1 : drawn() * 3 - 1;
            a->z[put] = k == 2 ? 6.5 : definite ? -1 + (near[k] > i ? 1 : -1) * 0.75 * I : a->d[put] + drawn() * I;
            put++;
        }
    }
    a->rows[N] = put + base;
    for (int i = 0; i < N; i++) {
        b[i] = drawn();
        zb[i] = drawn() + drawn() * I;
    }
    CHECK(cusparseSetMatIndexBase(descr, base ? CUSPARSE_INDEX_BASE_ONE : CUSPARSE_INDEX_BASE_ZERO) ==
          CUSPARSE_STATUS_SUCCESS);
}

/* The largest element of A x - shift x - b. */
static double left_over(int base, bool of_complex, double shift)
{
    double worst = 0;
    for (int i = 0; i < N; i++) {
        double complex sum = of_complex ? -zb[i] - shift * zx[i] : -b[i] - shift * x[i];
        for (int k = a->rows[i] - base; k < a->rows[i + 1] - base; k++)
            sum += of_complex ? a->z[k] * zx[a->columns[k] - base] : a->d[k] * x[a->columns[k] - base];
        worst = cabs(sum) > worst ? cabs(sum) : worst;
    }
    return worst;
}

static void cholesky(int base)
{
    csrcholInfo_t info, of_complex;
    csrcholInfoHost_t host;
    size_t internal, work;
    int nnz = a->rows[N] - base, position = 7;
    fill(base, true);
    OK(cusolverSpCreateCsrcholInfo(&info));
    OK(cusolverSpCreateCsrcholInfo(&of_complex));
    OK(cusolverSpCreateCsrcholInfoHost(&host));
    BAD(cusolverSpDcsrcholFactor(handle, N, nnz, descr, a->d, a->rows, a->columns, info, area));
    OK(cusolverSpXcsrcholAnalysis(handle, N, nnz, descr, a->rows, a->columns, info));
    OK(cusolverSpDcsrcholBufferInfo(handle, N, nnz, descr, a->d, a->rows, a->columns, info, &internal, &work));
    CHECK(work > 0 && work < 1 << 20);
    BAD(cusolverSpDcsrcholSolve(handle, N, b, x, info, area));
    OK(cusolverSpDcsrcholFactor(handle, N, nnz, descr, a->d, a->rows, a->columns, info, area));
    OK(cusolverSpDcsrcholZeroPivot(handle, info, 1e-10, &position));
    CHECK(position == -1);
    for (int side = 0; side < 3; side++) {
        b[side] += 1;
        OK(cusolverSpDcsrcholSolve(handle, N, b, x, info, area));
        RT(cudaDeviceSynchronize());
        CHECK(left_over(base, false, 0) < 1e-12);
    }
    OK(cusolverSpDcsrcholDiag(handle, info, x));
    CHECK(x[0] * x[0] > 4.49 && x[0] * x[0] < 4.51 && x[N - 1] > 0 && x[N - 1] * x[N - 1] < 4.5);
    OK(cusolverSpXcsrcholAnalysis(handle, N, nnz, descr, a->rows, a->columns, of_complex));
    OK(cusolverSpZcsrcholFactor(handle, N, nnz, descr, (cuDoubleComplex *)a->z, a->rows, a->columns, of_complex, area));
    OK(cusolverSpZcsrcholSolve(handle, N, (cuDoubleComplex *)zb, (cuDoubleComplex *)zx, of_complex, area));
    OK(cusolverSpDestroyCsrcholInfo(of_complex)); /* its work may wait still */
    RT(cudaDeviceSynchronize());
    CHECK(left_over(base, true, 0) < 1e-12);
    /* A pivot that is not positive. */
    a->d[a->rows[40] - base + 2] = -1;
    OK(cusolverSpXcsrcholAnalysisHost(handle, N, nnz, descr, a->rows, a->columns, host));
    OK(cusolverSpDcsrcholFactorHost(handle, N, nnz, descr, a->d, a->rows, a->columns, host, area));
    OK(cusolverSpDcsrcholZeroPivotHost(handle, host, 0, &position));
    CHECK(position == 40);
    OK(cusolverSpDcsrcholSolveHost(handle, N, b, x, host, area));
    CHECK(x[3] != x[3]);
    OK(cusolverSpDestroyCsrcholInfo(info));
    OK(cusolverSpDestroyCsrcholInfoHost(host));
    BAD(cusolverSpDcsrcholSolve(handle, N, b, x, info, area));
}

/* L and U multiplied: what row P[i] and column Q[j] of A have. */
static void multiplied_out(csrluInfoHost_t info, int base)
{
    int l_count, u_count, p[N], q[N], l_rows[N + 1], u_rows[N + 1];
    OK(cusolverSpXcsrluNnzHost(handle, &l_count, &u_count, info));
    int *l_columns = malloc((size_t)l_count * sizeof(int)), *u_columns = malloc((size_t)u_count * sizeof(int));
    double *l = malloc((size_t)l_count * sizeof *l), *u = malloc((size_t)u_count * sizeof *u);
    CHECK(l_columns && u_columns && l && u);
    OK(cusolverSpDcsrluExtractHost(handle, p, q, descr, l, l_rows, l_columns, descr, u, u_rows, u_columns, info, area));
    CHECK(l_rows[N] - base == l_count && u_rows[N] - base == u_count);
    for (int i = 0; i < N; i++) {
        double row[N] = {0};
        for (int k = l_rows[i] - base; k < l_rows[i + 1] - base; k++) {
            int j = l_columns[k] - base;
            CHECK(j <= i && (j < i || l[k] == 1) && l[k] <= 1.0000001 && l[k] >= -1.0000001);
            CHECK(u_columns[u_rows[j] - base] - base == j);
            for (int e = u_rows[j] - base; e < u_rows[j + 1] - base; e++)
                row[u_columns[e] - base] += l[k] * u[e];
        }
        double own[N] = {0};
        for (int k = a->rows[p[i]] - base; k < a->rows[p[i] + 1] - base; k++)
            own[a->columns[k] - base] = a->d[k];
        for (int j = 0; j < N; j++)
            CHECK(row[j] - own[q[j]] < 1e-12 && row[j] - own[q[j]] > -1e-12);
    }
    free(l_columns);
    free(u_columns);
    free(l);
    free(u);
}

static void lu(int base)
{
    csrluInfoHost_t info;
    int position;
    fill(base, false);
    int nnz = a->rows[N] - base;
    for (int i = 0; i < N; i += 3) /* so that rows have to be exchanged */
        a->d[a->rows[i] - base + (i >= SIDE) + (i % SIDE > 0)] = 0;
    OK(cusolverSpCreateCsrluInfoHost(&info));
    OK(cusolverSpXcsrluAnalysisHost(handle, N, nnz, descr, a->rows, a->columns, info));
    OK(cusolverSpDcsrluFactorHost(handle, N, nnz, descr, a->d, a->rows, a->columns, info, 1, area));
    OK(cusolverSpDcsrluZeroPivotHost(handle, info, 1e-13, &position));
    CHECK(position == -1);
    OK(cusolverSpDcsrluSolveHost(handle, N, b, x, info, area));
    CHECK(left_over(base, false, 0) < 1e-10);
    multiplied_out(info, base);
    OK(cusolverSpZcsrluFactorHost(handle, N, nnz, descr, (cuDoubleComplex *)a->z, a->rows, a->columns, info, 0.1,
                                  area));
    OK(cusolverSpZcsrluSolveHost(handle, N, (cuDoubleComplex *)zb, (cuDoubleComplex *)zx, info, area));
    CHECK(left_over(base, true, 0) < 1e-10);
    BAD(cusolverSpDcsrluFactorHost(handle, N, nnz, descr, a->d, a->rows, a->columns, info, 2, area));
    for (int k = a->rows[5] - base; k < a->rows[6] - base; k++)
        a->d[k] = 0;
    OK(cusolverSpDcsrluFactorHost(handle, N, nnz, descr, a->d, a->rows, a->columns, info, 1, area));
    OK(cusolverSpDcsrluZeroPivotHost(handle, info, 1e-13, &position));
    CHECK(position >= 0);
    OK(cusolverSpDestroyCsrluInfoHost(info));
}

static void qr(int base)
{
    csrqrInfo_t info;
    csrqrInfoHost_t host;
    int position;
    double mu = 0.25;
    fill(base, false);
    int nnz = a->rows[N] - base;
    OK(cusolverSpCreateCsrqrInfo(&info));
    OK(cusolverSpXcsrqrAnalysis(handle, N, N, nnz, descr, a->rows, a->columns, info));
    BAD(cusolverSpDcsrqrFactor(handle, N, N, nnz, NULL, NULL, info, area));
    OK(cusolverSpDcsrqrSetup(handle, N, N, nnz, descr, a->d, a->rows, a->columns, mu, info));
    OK(cusolverSpDcsrqrFactor(handle, N, N, nnz, NULL, NULL, info, area));
    OK(cusolverSpDcsrqrZeroPivot(handle, info, 1e-13, &position));
    CHECK(position == -1);
    OK(cusolverSpDcsrqrSolve(handle, N, N, b, x, info, area));
    RT(cudaDeviceSynchronize());
    CHECK(left_over(base, false, mu) < 1e-10);
    OK(cusolverSpDestroyCsrqrInfo(info));
    OK(cusolverSpCreateCsrqrInfoHost(&host));
    OK(cusolverSpXcsrqrAnalysisHost(handle, N, N, nnz, descr, a->rows, a->columns, host));
    OK(cusolverSpZcsrqrSetupHost(handle, N, N, nnz, descr, (cuDoubleComplex *)a->z, a->rows, a->columns,
                                 (cuDoubleComplex){-0.5, 0}, host));
    OK(cusolverSpZcsrqrFactorHost(handle, N, N, nnz, (cuDoubleComplex *)zb, (cuDoubleComplex *)zx, host, area));
    CHECK(left_over(base, true, -0.5) < 1e-10);
    OK(cusolverSpDestroyCsrqrInfoHost(host));
}

/* The elements of Cholesky's factor in the order. */
static int fill_in(const int *p)
{
    static bool is_there[N][N];
    int place[N], count = 0;
    memset(is_there, 0, sizeof is_there);
    for (int i = 0; i < N; i++)
        place[i] = -1;
    for (int i = 0; i < N; i++) {
        CHECK(p[i] >= 0 && p[i] < N && place[p[i]] < 0);
        place[p[i]] = i;
    }
    for (int i = 0; i < N; i++)
        for (int k = a->rows[i]; k < a->rows[i + 1]; k++)
            is_there[place[i]][place[a->columns[k]]] = true;
    for (int k = 0; k < N; k++)
        for (int i = k; i < N; i++) {
            count += is_there[i][k];
            for (int j = k + 1; j < N && is_there[i][k] && i > k; j++)
                is_there[i][j] |= is_there[k][j];
        }
    return count;
}

static void orders(void)
{
    int plain[N], p[N], q[N];
    fill(0, true);
    int nnz = a->rows[N];
    for (int i = 0; i < N; i++)
        plain[i] = i;
    for (int i = N - 1; i > 0; i--) { /* all over the grid */
        int j = (int)((drawn() + 0.5) * (i + 1)), kept = plain[i];
        plain[i] = plain[j];
        plain[j] = kept;
    }
    int most = fill_in(plain);
    OK(cusolverSpXcsrsymamdHost(handle, N, nnz, descr, a->rows, a->columns, p));
    CHECK(fill_in(p) * 4 < most * 3);
    OK(cusolverSpXcsrsymmdqHost(handle, N, nnz, descr, a->rows, a->columns, p));
    CHECK(fill_in(p) * 4 < most * 3);
    OK(cusolverSpXcsrmetisndHost(handle, N, nnz, descr, a->rows, a->columns, NULL, p));
    CHECK(fill_in(p) * 4 < most * 3);
    /* The matrix in that order, with other columns, and where each element came from. */
    static int rows[N + 1], columns[MOST], map[MOST];
    size_t size;
    memcpy(rows, a->rows, sizeof rows);
    memcpy(columns, a->columns, sizeof columns);
    for (int k = 0; k < nnz; k++)
        map[k] = k;
    for (int i = 0; i < N; i++)
        q[i] = (i * 7 + 3) % N;
    OK(cusolverSpXcsrperm_bufferSizeHost(handle, N, N, nnz, descr, rows, columns, p, q, &size));
    void *buffer = malloc(size);
    OK(cusolverSpXcsrpermHost(handle, N, N, nnz, descr, rows, columns, p, q, map, buffer));
    CHECK(rows[N] == nnz);
    for (int i = 0; i < N; i++) {
        CHECK(rows[i + 1] - rows[i] == a->rows[p[i] + 1] - a->rows[p[i]]);
        for (int k = rows[i]; k < rows[i + 1]; k++) {
            CHECK(map[k] >= a->rows[p[i]] && map[k] < a->rows[p[i] + 1] && a->columns[map[k]] == q[columns[k]]);
            CHECK(k == rows[i] || columns[k] > columns[k - 1]);
        }
    }
    p[3] = p[4];
    BAD(cusolverSpXcsrpermHost(handle, N, N, nnz, descr, rows, columns, p, q, map, buffer));
    free(buffer);
    int symmetric;
    OK(cusolverSpXcsrissymHost(handle, N, nnz, descr, a->rows, a->rows + 1, a->columns, &symmetric));
    CHECK(symmetric == 1);
    a->columns[0] = 2; /* in place of the diagonal */
    OK(cusolverSpXcsrissymHost(handle, N, nnz, descr, a->rows, a->rows + 1, a->columns, &symmetric));
    CHECK(symmetric == 0);
    /* Rows that have nothing in common. */
    for (int i = 0; i <= N; i++)
        rows[i] = columns[i] = i;
    OK(cusolverSpXcsrmetisndHost(handle, N, N, descr, rows, columns, NULL, p));
    OK(cusolverSpXcsrsymamdHost(handle, N, N, descr, rows, columns, q));
    fill(0, true);
    CHECK(fill_in(p) > 0 && fill_in(q) > 0);
}

int main(void)
{
    RT(cudaMallocManaged((void **)&a, sizeof *a, cudaMemAttachGlobal));
    RT(cudaMallocManaged((void **)&b, N * sizeof *b, cudaMemAttachGlobal));
    RT(cudaMallocManaged((void **)&x, N * sizeof *x, cudaMemAttachGlobal));
    RT(cudaMallocManaged((void **)&zb, N * sizeof *zb, cudaMemAttachGlobal));
    RT(cudaMallocManaged((void **)&zx, N * sizeof *zx, cudaMemAttachGlobal));
    RT(cudaMallocManaged((void **)&area, 1 << 16, cudaMemAttachGlobal));
    OK(cusolverSpCreate(&handle));
    CHECK(cusparseCreateMatDescr(&descr) == CUSPARSE_STATUS_SUCCESS);
    for (int base = 0; base < 2; base++) {
        fill(base, true);
        cholesky(base);
        lu(base);
        qr(base);
    }
    orders();
    CHECK(cusparseDestroyMatDescr(descr) == CUSPARSE_STATUS_SUCCESS);
    OK(cusolverSpDestroy(handle));
    return 0;
}
