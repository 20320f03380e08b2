/* SPDX-License-Identifier: Apache-2.0 */
/* The older functions of libcusparse beside plain loops, over many parts: sorting, transposing, sums, blocks, bands,
 * incomplete factorisations, pruning. (Small sizes and statuses: tests/golden/math/cusparse.) */
#include <cuda_runtime_api.h>
#include <cusparse.h>

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"

#define OK(call) CHECK((call) == CUSPARSE_STATUS_SUCCESS)

static cusparseHandle_t handle;
static cusparseMatDescr_t descr;
static int base;

static unsigned draw(unsigned below)
{
    static unsigned seed = 1;
    seed = seed * 1664525u + 1013904223u;
    return (seed >> 8) % below;
}

static void *room(size_t bytes)
{
    void *at;
    RT(cudaMallocManaged(&at, bytes + 64, cudaMemAttachGlobal));
    memset(at, 0, bytes + 64);
    return at;
}

/* CSR with sorted rows, about `each` entries in one; some are empty. */
struct csr {
    int rows, cols, nnz;
    int *offsets, *columns;
    double *values;
};

static struct csr random_csr(int rows, int cols, int each, bool diagonal)
{
    struct csr m = {.rows = rows, .cols = cols, .offsets = room((size_t)(rows + 1) * 4)};
    bool *there = malloc((size_t)cols);
    int *columns = malloc((size_t)rows * (size_t)(2 * each + 2) * sizeof(int));
    CHECK(there && columns);
    m.offsets[0] = base;
    for (int i = 0; i < rows; i++) {
        memset(there, 0, (size_t)cols);
        for (int k = i % 7 == 3 ? 0 : (int)draw((unsigned)(2 * each)); k > 0; k--)
            there[draw((unsigned)cols)] = true;
        if (diagonal)
            there[i] = true;
        for (int j = 0; j < cols; j++)
            if (there[j])
                columns[m.nnz++] = j + base;
        m.offsets[i + 1] = m.nnz + base;
    }
    m.columns = room((size_t)m.nnz * 4);
    m.values = room((size_t)m.nnz * 8);
    memcpy(m.columns, columns, (size_t)m.nnz * 4);
    for (int k = 0; k < m.nnz; k++)
        m.values[k] = (int)draw(19) - 9;
    free(there);
    free(columns);
    return m;
}

static void free_csr(struct csr *m)
{
    RT(cudaFree(m->offsets));
    RT(cudaFree(m->columns));
    RT(cudaFree(m->values));
}

/* The matrix as a dense one, by rows. */
static double *dense(const struct csr *m)
{
    double *d = calloc((size_t)m->rows * (size_t)m->cols, sizeof *d);
    CHECK(d);
    for (int i = 0; i < m->rows; i++)
        for (int k = m->offsets[i] - base; k < m->offsets[i + 1] - base; k++)
            d[i * m->cols + m->columns[k] - base] += m->values[k];
    return d;
}

static void test_sort(void)
{
    int m = 3000, n = 2000, nnz = 70000, *rows = room(280000), *cols = room(280000), *p = room(280000),
        *first = malloc(280000), *second = malloc(280000);
    size_t bytes = 0;
    CHECK(first && second);
    for (int by_row = 0; by_row < 2; by_row++) {
        for (int k = 0; k < nnz; k++) {
            rows[k] = first[k] = (int)draw(k % 3 ? 40 : (unsigned)m) + base;
            cols[k] = second[k] = (int)draw((unsigned)n) + base;
        }
        OK(cusparseCreateIdentityPermutation(handle, nnz, p));
        OK(cusparseXcoosort_bufferSizeExt(handle, m, n, nnz, rows, cols, &bytes));
        void *buffer = room(bytes);
        OK(by_row ? cusparseXcoosortByRow(handle, m, n, nnz, rows, cols, p, buffer)
                  : cusparseXcoosortByColumn(handle, m, n, nnz, rows, cols, p, buffer));
        RT(cudaDeviceSynchronize());
        for (int k = 0; k < nnz; k++) {
            CHECK(rows[k] == first[p[k]] && cols[k] == second[p[k]]);
            if (k == 0)
                continue;
            int a = by_row ? rows[k - 1] : cols[k - 1], b = by_row ? rows[k] : cols[k];
            int c = by_row ? cols[k - 1] : rows[k - 1], d = by_row ? cols[k] : rows[k];
            CHECK(a < b || (a == b && (c < d || (c == d && p[k - 1] < p[k]))));
        }
        RT(cudaFree(buffer));
    }
    int *offsets = room(20000), *back = room(280000);
    OK(cusparseXcoosortByRow(handle, m, n, nnz, rows, cols, NULL, room(sizeof(int) * (size_t)(m + 2 + 2 * nnz))));
    OK(cusparseXcoo2csr(handle, rows, nnz, m, offsets, (cusparseIndexBase_t)base));
    OK(cusparseXcsr2coo(handle, offsets, nnz, m, back, (cusparseIndexBase_t)base));
    RT(cudaDeviceSynchronize()); /* the host writes columns next */
    for (int k = 0; k < nnz; k++)
        cols[k] = (int)draw((unsigned)n) + base;
    memcpy(second, cols, 280000);
    OK(cusparseCreateIdentityPermutation(handle, nnz, p));
    OK(cusparseXcsrsort(handle, m, n, nnz, descr, offsets, cols, p, NULL));
    RT(cudaDeviceSynchronize());
    CHECK(memcmp(rows, back, 280000) == 0);
    for (int i = 0; i < m; i++)
        for (int k = offsets[i] - base; k < offsets[i + 1] - base; k++) {
            CHECK(cols[k] == second[p[k]] && p[k] >= offsets[i] - base && p[k] < offsets[i + 1] - base);
            CHECK(k == offsets[i] - base || cols[k - 1] < cols[k] || (cols[k - 1] == cols[k] && p[k - 1] < p[k]));
        }
    free(first);
    free(second);
}

static void test_transpose(void)
{
    struct csr m = random_csr(4000, 900, 30, false), t = {.rows = m.cols,
                                                          .cols = m.rows,
                                                          .nnz = m.nnz,
                                                          .offsets = room(4000),
                                                          .columns = room((size_t)m.nnz * 4),
                                                          .values = room((size_t)m.nnz * 8)};
    size_t bytes = 0;
    OK(cusparseCsr2cscEx2_bufferSize(handle, m.rows, m.cols, m.nnz, m.values, m.offsets, m.columns, t.values, t.offsets,
                                     t.columns, CUDA_R_64F, CUSPARSE_ACTION_NUMERIC, (cusparseIndexBase_t)base,
                                     CUSPARSE_CSR2CSC_ALG1, &bytes));
    void *buffer = room(bytes);
    OK(cusparseCsr2cscEx2(handle, m.rows, m.cols, m.nnz, m.values, m.offsets, m.columns, t.values, t.offsets, t.columns,
                          CUDA_R_64F, CUSPARSE_ACTION_NUMERIC, (cusparseIndexBase_t)base, CUSPARSE_CSR2CSC_ALG1,
                          buffer));
    RT(cudaDeviceSynchronize());
    double *a = dense(&m), *b = dense(&t);
    for (int i = 0; i < m.rows; i++)
        for (int j = 0; j < m.cols; j++)
            CHECK(a[i * m.cols + j] == b[j * m.rows + i]);
    for (int i = 0; i < t.rows; i++)
        for (int k = t.offsets[i] - base + 1; k < t.offsets[i + 1] - base; k++)
            CHECK(t.columns[k - 1] < t.columns[k]);
    free(a);
    free(b);
    free_csr(&m);
    free_csr(&t);
    RT(cudaFree(buffer));
}

static void test_geam(void)
{
    struct csr x = random_csr(1500, 700, 20, false), y = random_csr(1500, 700, 20, false),
               z = {.rows = 1500, .cols = 700, .offsets = room(6100)};
    double alpha = 2, beta = -3;
    void *buffer = room(64);
    OK(cusparseXcsrgeam2Nnz(handle, 1500, 700, descr, x.nnz, x.offsets, x.columns, descr, y.nnz, y.offsets, y.columns,
                            descr, z.offsets, &z.nnz, buffer));
    z.columns = room((size_t)z.nnz * 4);
    z.values = room((size_t)z.nnz * 8);
    OK(cusparseDcsrgeam2(handle, 1500, 700, &alpha, descr, x.nnz, x.values, x.offsets, x.columns, &beta, descr, y.nnz,
                         y.values, y.offsets, y.columns, descr, z.values, z.offsets, z.columns, buffer));
    RT(cudaDeviceSynchronize());
    double *a = dense(&x), *b = dense(&y), *c = dense(&z);
    for (int i = 0; i < 1500 * 700; i++)
        CHECK(c[i] == 2 * a[i] - 3 * b[i]);
    CHECK(z.offsets[1500] - base == z.nnz);
    free(a);
    free(b);
    free(c);
    free_csr(&x);
    free_csr(&y);
    free_csr(&z);
    RT(cudaFree(buffer));
}

/* CSR to blocks of r x c, to others, and back: the same matrix. */
static void test_blocks(int r, int c, int r2, int c2, cusparseDirection_t dir)
{
    struct csr m = random_csr(1003, 517, 6, false), z;
    int mb = (m.rows + r - 1) / r, nb = (m.cols + c - 1) / c, mb2 = (mb * r + r2 - 1) / r2,
        nb2 = (nb * c + c2 - 1) / c2, count = 0, count2 = 0;
    int *offsets = room((size_t)mb * 4 + 4), *offsets2 = room((size_t)mb2 * 4 + 4);
    void *buffer = room(64);
    OK(cusparseXcsr2gebsrNnz(handle, dir, m.rows, m.cols, descr, m.offsets, m.columns, descr, offsets, r, c, &count,
                             buffer));
    int *columns = room((size_t)count * 4);
    double *values = room((size_t)(count * r * c) * 8);
    OK(cusparseDcsr2gebsr(handle, dir, m.rows, m.cols, descr, m.values, m.offsets, m.columns, descr, values, offsets,
                          columns, r, c, buffer));
    OK(cusparseXgebsr2gebsrNnz(handle, dir, mb, nb, count, descr, offsets, columns, r, c, descr, offsets2, r2, c2,
                               &count2, buffer));
    int *columns2 = room((size_t)count2 * 4);
    double *values2 = room((size_t)(count2 * r2 * c2) * 8);
    OK(cusparseDgebsr2gebsr(handle, dir, mb, nb, count, descr, values, offsets, columns, r, c, descr, values2, offsets2,
                            columns2, r2, c2, buffer));
    z = (struct csr){.rows = mb2 * r2,
                     .cols = nb2 * c2,
                     .nnz = count2 * r2 * c2,
                     .offsets = room((size_t)(mb2 * r2) * 4 + 4),
                     .columns = room((size_t)(count2 * r2 * c2) * 4),
                     .values = room((size_t)(count2 * r2 * c2) * 8)};
    OK(cusparseDgebsr2csr(handle, dir, mb2, nb2, descr, values2, offsets2, columns2, r2, c2, descr, z.values, z.offsets,
                          z.columns));
    RT(cudaDeviceSynchronize());
    double *a = dense(&m), *b = dense(&z);
    for (int i = 0; i < z.rows; i++)
        for (int j = 0; j < z.cols; j++)
            CHECK(b[i * z.cols + j] == (i < m.rows && j < m.cols ? a[i * m.cols + j] : 0));
    free(a);
    free(b);
    free_csr(&m);
    free_csr(&z);
    void *all[] = {offsets, offsets2, buffer, columns, values, columns2, values2};
    for (int i = 0; i < 7; i++)
        RT(cudaFree(all[i]));
}

/* Systems with three and five diagonals: what they are multiplied with comes out. */
static void test_bands(void)
{
    int m = 700, n = 40;
    size_t bytes = 1;
    OK(cusparseDgtsv2_bufferSizeExt(handle, m, n, NULL, NULL, NULL, NULL, m, &bytes)); /* as JAX asks */
    CHECK(cusparseDgtsv2_bufferSizeExt(handle, 2, n, NULL, NULL, NULL, NULL, m, &bytes) ==
          CUSPARSE_STATUS_INVALID_VALUE);
    double *d[5], *x = room((size_t)(m * n) * 8), *b = room((size_t)(m * n) * 8);
    for (int j = 0; j < 5; j++)
        d[j] = room((size_t)(m * n) * 8);
    for (int kind = 0; kind < 4; kind++) { /* gtsv2, without pivots, interleaved, five diagonals interleaved */
        bool interleaved = kind >= 2;
        int reach = kind == 3 ? 2 : 1;
        for (int i = 0; i < m * n; i++) {
            x[i] = (int)draw(9) - 4;
            for (int j = 0; j < 5; j++)
                d[j][i] = j == 2 ? (kind == 1 ? 40 : (double)draw(7) + 0.5) : (int)draw(9) - 4.25;
        }
        for (int s = 0; s < n; s++)
            for (int i = 0; i < m; i++) {
                double sum = 0;
                for (int j = -reach; j <= reach; j++) {
                    int at = interleaved ? i * n + s : i;
                    if (i + j < 0 || i + j >= m)
                        d[j + 2][at] = 0;
                    else
                        sum += d[j + 2][at] * x[interleaved ? (i + j) * n + s : i + j + s * m];
                }
                b[interleaved ? i * n + s : i + s * m] = sum;
            }
        if (kind == 0)
            OK(cusparseDgtsv2(handle, m, n, d[1], d[2], d[3], b, m, NULL));
        else if (kind == 1)
            OK(cusparseDgtsv2_nopivot(handle, m, n, d[1], d[2], d[3], b, m, NULL));
        else if (kind == 2)
            OK(cusparseDgtsvInterleavedBatch(handle, 2, m, d[1], d[2], d[3], b, n, NULL));
        else
            OK(cusparseDgpsvInterleavedBatch(handle, 0, m, d[0], d[1], d[2], d[3], d[4], b, n, NULL));
        RT(cudaDeviceSynchronize());
        for (int i = 0; i < m * n; i++)
            CHECK(fabs(b[i] - x[i]) < 1e-6);
    }
    for (int j = 0; j < 5; j++)
        RT(cudaFree(d[j]));
    RT(cudaFree(x));
    RT(cudaFree(b));
}

/* L * U is the matrix at the places that the matrix has. */
static void test_ilu(void)
{
    struct csr m = random_csr(300, 300, 8, true);
    for (int i = 0; i < m.rows; i++)
        for (int k = m.offsets[i] - base; k < m.offsets[i + 1] - base; k++)
            if (m.columns[k] - base == i)
                m.values[k] = 500;
    double *before = dense(&m);
    csrilu02Info_t info;
    int bytes = 0, pivot = 0;
    OK(cusparseCreateCsrilu02Info(&info));
    OK(cusparseDcsrilu02_bufferSize(handle, 300, m.nnz, descr, m.values, m.offsets, m.columns, info, &bytes));
    void *buffer = room((size_t)bytes);
    OK(cusparseDcsrilu02_analysis(handle, 300, m.nnz, descr, m.values, m.offsets, m.columns, info,
                                  CUSPARSE_SOLVE_POLICY_NO_LEVEL, buffer));
    OK(cusparseDcsrilu02(handle, 300, m.nnz, descr, m.values, m.offsets, m.columns, info,
                         CUSPARSE_SOLVE_POLICY_NO_LEVEL, buffer));
    OK(cusparseXcsrilu02_zeroPivot(handle, info, &pivot));
    CHECK(pivot == -1);
    double *lu = dense(&m);
    for (int i = 0; i < 300; i++)
        for (int k = m.offsets[i] - base; k < m.offsets[i + 1] - base; k++) {
            int j = m.columns[k] - base;
            double sum = j >= i ? lu[i * 300 + j] : 0;
            for (int l = 0; l < i && l <= j; l++)
                sum += lu[i * 300 + l] * lu[l * 300 + j];
            CHECK(fabs(sum - before[i * 300 + j]) < 1e-8);
        }
    OK(cusparseDestroyCsrilu02Info(info));
    free(before);
    free(lu);
    free_csr(&m);
    RT(cudaFree(buffer));
}

static void test_prune(void)
{
    struct csr m = random_csr(2000, 600, 15, false), z = {.rows = 2000, .cols = 600, .offsets = room(8100)};
    double threshold = 4;
    void *buffer = room(64);
    OK(cusparseDpruneCsr2csrNnz(handle, 2000, 600, m.nnz, descr, m.values, m.offsets, m.columns, &threshold, descr,
                                z.offsets, &z.nnz, buffer));
    z.columns = room((size_t)z.nnz * 4);
    z.values = room((size_t)z.nnz * 8);
    OK(cusparseDpruneCsr2csr(handle, 2000, 600, m.nnz, descr, m.values, m.offsets, m.columns, &threshold, descr,
                             z.values, z.offsets, z.columns, buffer));
    RT(cudaDeviceSynchronize());
    double *a = dense(&m), *b = dense(&z);
    int count = 0;
    for (int i = 0; i < 2000 * 600; i++) {
        CHECK(b[i] == (fabs(a[i]) > 4 ? a[i] : 0));
        count += fabs(a[i]) > 4;
    }
    CHECK(count == z.nnz);
    free(a);
    free(b);
    free_csr(&m);
    free_csr(&z);
    RT(cudaFree(buffer));
}

/* Neighbours have different colours. */
static void test_color(void)
{
    struct csr m = random_csr(500, 500, 4, true);
    double fraction = 1;
    int colours = 0, *coloring = room(2000), *reordering = room(2000);
    cusparseColorInfo_t info;
    /* Only the pattern's lower half counts, as if it were symmetric: neighbours come before. */
    OK(cusparseCreateColorInfo(&info));
    OK(cusparseDcsrcolor(handle, 500, m.nnz, descr, m.values, m.offsets, m.columns, &fraction, &colours, coloring,
                         reordering, info));
    RT(cudaDeviceSynchronize());
    bool seen[500] = {false};
    for (int i = 0; i < 500; i++) {
        CHECK(coloring[i] >= 0 && coloring[i] < colours && !seen[reordering[i]]);
        seen[reordering[i]] = true;
        for (int k = m.offsets[i] - base; k < m.offsets[i + 1] - base; k++)
            CHECK(m.columns[k] - base >= i || coloring[m.columns[k] - base] != coloring[i]);
    }
    OK(cusparseDestroyColorInfo(info));
    free_csr(&m);
    RT(cudaFree(coloring));
    RT(cudaFree(reordering));
}

int main(void)
{
    OK(cusparseCreate(&handle));
    OK(cusparseCreateMatDescr(&descr));
    for (base = 0; base < 2; base++) {
        OK(cusparseSetMatIndexBase(descr, (cusparseIndexBase_t)base));
        test_sort();
        test_transpose();
        test_geam();
        test_blocks(2, 3, 4, 5, CUSPARSE_DIRECTION_ROW);
        test_blocks(3, 2, 1, 1, CUSPARSE_DIRECTION_COLUMN);
        test_bands();
        test_ilu();
        test_prune();
        test_color();
    }
    OK(cusparseDestroyMatDescr(descr));
    OK(cusparseDestroy(handle));
    return 0;
}
