/* SPDX-License-Identifier: Apache-2.0 */
/* The sparse part of libcusolver: systems by QR and Cholesky whose residuals are looked at, in device and in host
 * memory, all types, both bases, all orders, unsorted rows; singular matrices; an eigenvalue; orders of rows; batches;
 * bad input. */
#include <cuda_runtime_api.h>
#include <cusolverSp.h>
#include <cusparse.h>

#include <complex.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"

#define OK(call) CHECK((call) == CUSOLVER_STATUS_SUCCESS)

typedef double complex number;
enum { N = 120, MOST = 8 * N };

static cusolverSpHandle_t handle;
static cusparseMatDescr_t descr;

/* A matrix in compressed rows, in host memory, as numbers and in the type. */
struct csr {
    char type;
    int n, base, rows[N + 1], columns[MOST];
    number values[MOST];
    char typed[MOST * 16];
};

static unsigned state = 12345;

static double drawn(void)
{
    state = state * 1664525u + 1013904223u;
    return (double)(state >> 8) / (1 << 24) - 0.5;
}

static size_t size_of(char type)
{
    return type == 'S' ? 4 : type == 'Z' ? 16 : 8;
}

static void put(char type, void *at, int count, const number *values)
{
    for (int i = 0; i < count; i++)
        switch (type) {
        case 'S':
            ((float *)at)[i] = (float)creal(values[i]);
            break;
        case 'D':
            ((double *)at)[i] = creal(values[i]);
            break;
        case 'C':
            ((float complex *)at)[i] = (float complex)values[i];
            break;
        default:
            ((double complex *)at)[i] = values[i];
        }
}

static void get(char type, const void *at, int count, number *values)
{
    for (int i = 0; i < count; i++)
        values[i] = type == 'S'   ? (number)((const float *)at)[i]
                    : type == 'D' ? (number)((const double *)at)[i]
                    : type == 'C' ? (number)((const float complex *)at)[i]
                                  : ((const double complex *)at)[i];
}

static number element(char type)
{
    number value = drawn();
    return type == 'C' || type == 'Z' ? value + drawn() * I : value;
}

/* A few entries in each row; Hermitian and positive, or neither. The columns of a row are not in order. */
static struct csr *draw(char type, int n, int base, bool positive)
{
    static struct csr a;
    static number full[N][N];
    memset(full, 0, sizeof full);
    a = (struct csr){.type = type, .n = n, .base = base};
    for (int i = 0; i < n; i++) {
        full[i][i] = positive ? 8 : 2 + element(type);
        for (int k = 0; k < 2; k++) {
            int j = (int)(fabs(drawn()) * 2 * n) % n;
            if (j == i || full[i][j] != 0)
                continue;
            full[i][j] = element(type);
            if (positive)
                full[j][i] = conj(full[i][j]);
        }
    }
    int count = 0;
    for (int i = 0; i < n; i++) {
        a.rows[i] = count + base;
        for (int j = n - 1; j >= 0; j--)
            if (full[i][j] != 0 && count < MOST) {
                a.columns[count] = j + base;
                a.values[count++] = full[i][j];
            }
    }
    a.rows[n] = count + base;
    put(type, a.typed, count, a.values);
    get(type, a.typed, count, a.values);
    CHECK(count < MOST);
    return &a;
}

static void multiply(const struct csr *a, const number *x, number *y)
{
    for (int i = 0; i < a->n; i++) {
        y[i] = 0;
        for (int p = a->rows[i] - a->base; p < a->rows[i + 1] - a->base; p++)
            y[i] += a->values[p] * x[a->columns[p] - a->base];
    }
}

static void *device(const void *from, size_t bytes)
{
    void *at;
    RT(cudaMalloc(&at, bytes));
    RT(cudaMemcpy(at, from, bytes, cudaMemcpyHostToDevice));
    return at;
}

#define CALL(type, name, ...) \
    ((type) == 'S'   ? cusolverSpS##name(__VA_ARGS__) \
     : (type) == 'D' ? cusolverSpD##name(__VA_ARGS__) \
     : (type) == 'C' ? cusolverSpC##name(__VA_ARGS__) \
                     : cusolverSpZ##name(__VA_ARGS__))

static void system_of(char type, int n, int base, bool positive, int reorder)
{
    struct csr *a = draw(type, n, base, positive);
    int nnz = a->rows[n] - base, singular = -7;
    number right[N], x[N], back[N];
    char typed[N * 16], solution[N * 16];
    CHECK(cusparseSetMatIndexBase(descr, base ? CUSPARSE_INDEX_BASE_ONE : CUSPARSE_INDEX_BASE_ZERO) ==
          CUSPARSE_STATUS_SUCCESS);
    for (int i = 0; i < n; i++)
        right[i] = element(type);
    put(type, typed, n, right);
    void *values = device(a->typed, (size_t)nnz * size_of(type)), *rows = device(a->rows, sizeof a->rows);
    void *columns = device(a->columns, (size_t)nnz * sizeof(int)), *b = device(typed, sizeof typed);
    void *result = device(typed, sizeof typed);
    for (int way = 0; way < 5; way++) {
        memset(solution, 0, sizeof solution);
        if (way >= 3 && !positive)
            break;
        if (way == 0)
            OK(CALL(type, csrlsvqr, handle, n, nnz, descr, values, rows, columns, b, 1e-12f, reorder, result,
                    &singular));
        else if (way == 1)
            OK(CALL(type, csrlsvqrHost, handle, n, nnz, descr, (void *)a->typed, a->rows, a->columns, (void *)typed,
                    1e-12f, reorder, (void *)solution, &singular));
        else if (way == 2)
            OK(CALL(type, csrlsvluHost, handle, n, nnz, descr, (void *)a->typed, a->rows, a->columns, (void *)typed,
                    1e-12f, reorder, (void *)solution, &singular));
        else if (way == 3)
            OK(CALL(type, csrlsvchol, handle, n, nnz, descr, values, rows, columns, b, 1e-12f, reorder, result,
                    &singular));
        else
            OK(CALL(type, csrlsvcholHost, handle, n, nnz, descr, (void *)a->typed, a->rows, a->columns, (void *)typed,
                    1e-12f, reorder, (void *)solution, &singular));
        if (way == 0 || way == 3)
            RT(cudaMemcpy(solution, result, sizeof solution, cudaMemcpyDeviceToHost));
        CHECK(singular == -1);
        get(type, solution, n, x);
        multiply(a, x, back);
        double step = type == 'S' || type == 'C' ? 1.2e-7 : 2.3e-16;
        for (int i = 0; i < n; i++)
            CHECK(cabs(back[i] - right[i]) <= 2000 * step);
    }
    RT(cudaFree(values));
    RT(cudaFree(rows));
    RT(cudaFree(columns));
    RT(cudaFree(b));
    RT(cudaFree(result));
}

static void singular_ones(void)
{
    /* The second column is empty; the second matrix is not positive in its third row. */
    double values[] = {1, 2, 3}, b[] = {1, 1, 1}, x[3] = {7, 7, 7};
    int rows[] = {0, 1, 2, 3}, columns[] = {0, 2, 2}, found = 0;
    CHECK(cusparseSetMatIndexBase(descr, CUSPARSE_INDEX_BASE_ZERO) == CUSPARSE_STATUS_SUCCESS);
    OK(cusolverSpDcsrlsvqrHost(handle, 3, 3, descr, values, rows, columns, b, 1e-10, 0, x, &found));
    CHECK(found == 1);
    int diagonal[] = {0, 1, 2};
    double other[] = {1, 2, -3};
    OK(cusolverSpDcsrlsvcholHost(handle, 3, 3, descr, other, rows, diagonal, b, 0, 0, x, &found));
    CHECK(found == 2);
    OK(cusolverSpDcsrlsvqrHost(handle, 3, 3, descr, other, rows, diagonal, b, 1.5, 0, x, &found));
    CHECK(found == 0);
}

/* The eigenvalue next to the shift of three diagonals, 2 and -1 beside: they are 2 - 2 cos. */
static void eigenvalue(void)
{
    enum { SIZE = 30 };
    double values[3 * SIZE], x0[SIZE], x[SIZE], mu = 0, wanted = 2 - 2 * cos(4 * 3.14159265358979323846 / (SIZE + 1));
    int rows[SIZE + 1], columns[3 * SIZE], count = 0;
    for (int i = 0; i < SIZE; i++) {
        rows[i] = count;
        for (int j = i - 1; j <= i + 1; j++)
            if (j >= 0 && j < SIZE) {
                columns[count] = j;
                values[count++] = i == j ? 2 : -1;
            }
        x0[i] = drawn();
    }
    rows[SIZE] = count;
    OK(cusolverSpDcsreigvsiHost(handle, SIZE, count, descr, values, rows, columns, wanted + 0.01, x0, 100, 1e-14, &mu,
                                x));
    CHECK(fabs(mu - wanted) < 1e-12);
    void *v = device(values, sizeof values), *r = device(rows, sizeof rows), *c = device(columns, sizeof columns);
    void *first = device(x0, sizeof x0), *last = device(x0, sizeof x0), *value = device(&mu, sizeof mu);
    RT(cudaMemset(value, 0, sizeof mu));
    OK(cusolverSpDcsreigvsi(handle, SIZE, count, descr, v, r, c, wanted + 0.01, first, 100, 1e-14, value, last));
    RT(cudaMemcpy(&mu, value, sizeof mu, cudaMemcpyDeviceToHost));
    RT(cudaMemcpy(x, last, sizeof x, cudaMemcpyDeviceToHost));
    CHECK(fabs(mu - wanted) < 1e-12);
    for (int i = 0; i < SIZE; i++) {
        double sum = (2 - mu) * x[i] - (i ? x[i - 1] : 0) - (i + 1 < SIZE ? x[i + 1] : 0);
        CHECK(fabs(sum) < 1e-6); /* the value converges before the vector does */
    }
    int order[SIZE], seen[SIZE] = {0};
    OK(cusolverSpXcsrsymrcmHost(handle, SIZE, count, descr, rows, columns, order));
    for (int i = 0; i < SIZE; i++)
        seen[order[i]]++;
    for (int i = 0; i < SIZE; i++) {
        CHECK(seen[i] == 1);
        CHECK(i == 0 || abs(order[i] - order[i - 1]) == 1); /* a chain stays one */
    }
    void *all[] = {v, r, c, first, last, value};
    for (int i = 0; i < 6; i++)
        RT(cudaFree(all[i]));
}

/* Members of one pattern: two unknowns of three equations, least squares. */
static void batch(void)
{
    enum { BATCH = 40 };
    int rows[] = {0, 1, 2, 4}, columns[] = {0, 1, 0, 1};
    double values[BATCH][4], b[BATCH][3], x[BATCH][2];
    csrqrInfo_t info;
    size_t inside, work;
    for (int k = 0; k < BATCH; k++) {
        for (int i = 0; i < 4; i++)
            values[k][i] = 1 + k % 5 + i;
        for (int i = 0; i < 3; i++)
            b[k][i] = drawn();
    }
    void *v = device(values, sizeof values), *r = device(rows, sizeof rows), *c = device(columns, sizeof columns);
    void *side = device(b, sizeof b), *result = device(x, sizeof x);
    OK(cusolverSpCreateCsrqrInfo(&info));
    OK(cusolverSpXcsrqrAnalysisBatched(handle, 3, 2, 4, descr, r, c, info));
    OK(cusolverSpDcsrqrBufferInfoBatched(handle, 3, 2, 4, descr, v, r, c, BATCH, info, &inside, &work));
    CHECK(work > 0);
    OK(cusolverSpDcsrqrsvBatched(handle, 3, 2, 4, descr, v, r, c, side, result, BATCH, info, NULL));
    RT(cudaMemcpy(x, result, sizeof x, cudaMemcpyDeviceToHost));
    for (int k = 0; k < BATCH; k++) { /* the residual is orthogonal to the columns */
        double *a = values[k], rest[3] = {b[k][0] - a[0] * x[k][0], b[k][1] - a[1] * x[k][1],
                                          b[k][2] - a[2] * x[k][0] - a[3] * x[k][1]};
        CHECK(fabs(a[0] * rest[0] + a[2] * rest[2]) < 1e-12 && fabs(a[1] * rest[1] + a[3] * rest[2]) < 1e-12);
    }
    OK(cusolverSpDestroyCsrqrInfo(info));
    CHECK(cusolverSpDcsrqrsvBatched(handle, 3, 2, 4, descr, v, r, c, side, result, BATCH, info, NULL) ==
          CUSOLVER_STATUS_INVALID_VALUE);
    void *all[] = {v, r, c, side, result};
    for (int i = 0; i < 5; i++)
        RT(cudaFree(all[i]));
}

/* Least squares: the residual stands at right angles to every column; a column that is a multiple of another lowers the
 * rank, and one of the two unknowns is 0. Tall, square and wide matrices of all types. */
static void least_squares(char type, int m, int n, bool lacks)
{
    static number full[60][60], values[3600], b[60], x[60];
    static char typed[3600 * 16], side[60 * 16], result[60 * 16];
    int rows[61], columns[3600], count = 0, rank = -1, p[60], base = m & 1, seen[60] = {0};
    double norm[1] = {-1}, exact = type == 'S' || type == 'C' ? 2e-5 : 1e-12;
    CHECK(cusparseSetMatIndexBase(descr, (cusparseIndexBase_t)base) == CUSPARSE_STATUS_SUCCESS);
    for (int i = 0; i < m; i++) {
        for (int j = 0; j < n; j++)
            full[i][j] = i % n == j || drawn() > 0.2 ? element(type) : 0;
        if (lacks)
            full[i][n - 1] = 2 * full[i][0];
        rows[i] = count + base;
        for (int j = n - 1; j >= 0; j--)
            if (full[i][j] != 0) {
                columns[count] = j + base;
                values[count++] = full[i][j];
            }
        b[i] = element(type);
    }
    rows[m] = count + base;
    put(type, typed, count, values);
    put(type, side, m, b);
    OK(CALL(type, csrlsqvqrHost, handle, m, n, count, descr, (void *)typed, rows, columns, (void *)side, 1e-4, &rank,
            (void *)result, p, (void *)norm));
    get(type, result, n, x);
    get(type, side, m, b);
    CHECK(rank == (m < n ? m : n) - (lacks && m >= n));
    for (int j = 0; j < n; j++) {
        CHECK(p[j] >= 0 && p[j] < n);
        seen[p[j]]++;
        CHECK(j < rank || x[p[j]] == 0);
    }
    double sum = 0;
    number turned[60] = {0};
    for (int i = 0; i < m; i++) {
        number rest = -b[i];
        for (int j = 0; j < n; j++)
            rest += full[i][j] * x[j];
        sum += creal(rest * conj(rest));
        for (int j = 0; j < n; j++)
            turned[j] += conj(full[i][j]) * rest;
    }
    double told = type == 'S' || type == 'C' ? (double)*(float *)(void *)norm : *norm;
    CHECK(fabs(told - sqrt(sum)) < 50 * exact);
    for (int j = 0; j < n; j++)
        CHECK(seen[j] == 1 && cabs(turned[j]) < 100 * exact);
    CHECK(cusparseSetMatIndexBase(descr, CUSPARSE_INDEX_BASE_ZERO) == CUSPARSE_STATUS_SUCCESS);
}

static void bad_least_squares(void)
{
    double one = 1, x, norm;
    int rows[] = {0, 1}, columns[] = {0}, outside[] = {1}, rank, p;
    CHECK(cusolverSpDcsrlsqvqrHost(NULL, 1, 1, 1, descr, &one, rows, columns, &one, 0, &rank, &x, &p, &norm) ==
          CUSOLVER_STATUS_NOT_INITIALIZED);
    CHECK(cusolverSpDcsrlsqvqrHost(handle, 1, -1, 1, descr, &one, rows, columns, &one, 0, &rank, &x, &p, &norm) ==
          CUSOLVER_STATUS_INVALID_VALUE);
    CHECK(cusolverSpDcsrlsqvqrHost(handle, 1, 1, 1, descr, &one, rows, outside, &one, 0, &rank, &x, &p, &norm) ==
          CUSOLVER_STATUS_INVALID_VALUE);
    CHECK(cusolverSpDcsrlsqvqrHost(handle, 1, 1, 2, descr, &one, rows, columns, &one, 0, &rank, &x, &p, &norm) ==
          CUSOLVER_STATUS_INVALID_VALUE);
    CHECK(cusolverSpDcsrlsqvqrHost(handle, 1, 1, 1, descr, &one, rows, columns, &one, 0, &rank, &x, NULL, &norm) ==
          CUSOLVER_STATUS_INVALID_VALUE);
    OK(cusolverSpDcsrlsqvqrHost(handle, 1, 1, 1, descr, &one, rows, columns, &one, 2, &rank, &x, &p, &norm));
    CHECK(rank == 0 && x == 0 && norm == 1); /* nothing is beyond the tolerance */
}

static void bad_input(void)
{
    double one = 1, x;
    int rows[] = {0, 1}, columns[] = {0}, found;
    CHECK(cusolverSpDcsrlsvqr(NULL, 1, 1, descr, &one, rows, columns, &one, 0, 0, &x, &found) ==
          CUSOLVER_STATUS_NOT_INITIALIZED);
    CHECK(cusolverSpDcsrlsvqrHost(handle, -1, 1, descr, &one, rows, columns, &one, 0, 0, &x, &found) ==
          CUSOLVER_STATUS_INVALID_VALUE);
    CHECK(cusolverSpDcsrlsvqrHost(handle, 1, 1, NULL, &one, rows, columns, &one, 0, 0, &x, &found) ==
          CUSOLVER_STATUS_INVALID_VALUE);
    CHECK(cusolverSpDcsrlsvqrHost(handle, 1, 1, descr, &one, rows, columns, &one, 0, 7, &x, &found) ==
          CUSOLVER_STATUS_INVALID_VALUE);
    CHECK(cusolverSpDcsrlsvqrHost(handle, 1, 1, descr, &one, rows, columns, &one, 0, 0, &x, NULL) ==
          CUSOLVER_STATUS_INVALID_VALUE);
    OK(cusolverSpDcsrlsvqrHost(handle, 0, 0, descr, NULL, rows, columns, NULL, 0, 0, NULL, &found));
    CHECK(found == -1);
}

int main(void)
{
    OK(cusolverSpCreate(&handle));
    CHECK(cusparseCreateMatDescr(&descr) == CUSPARSE_STATUS_SUCCESS);
    for (int t = 0; t < 4; t++)
        for (int reorder = 0; reorder < 4; reorder++)
            for (int k = 0; k < 4; k++)
                system_of("SDCZ"[t], k < 2 ? N : 1 + 7 * k, k & 1, k & 2 || k == 0, reorder);
    singular_ones();
    eigenvalue();
    batch();
    for (int t = 0; t < 4; t++) {
        least_squares("SDCZ"[t], 40, 15, false);
        least_squares("SDCZ"[t], 31, 12, true);
        least_squares("SDCZ"[t], 20, 20, false);
        least_squares("SDCZ"[t], 11, 25, false);
    }
    bad_least_squares();
    bad_input();
    CHECK(cusparseDestroyMatDescr(descr) == CUSPARSE_STATUS_SUCCESS);
    OK(cusolverSpDestroy(handle));
    CHECK(cusolverSpDestroy(handle) == CUSOLVER_STATUS_NOT_INITIALIZED);
    return 0;
}
