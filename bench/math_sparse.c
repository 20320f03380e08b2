/* SPDX-License-Identifier: Apache-2.0 */
/* Sparse products by cuSPARSE beside plain loops on one thread, as SciPy has them: there is no CPU library under it. */
#include <cusparse.h>

#include <cuda_runtime_api.h>
#include <stdio.h>
#include <string.h>

#include "math.h"

#define ROWS 200000
#define EACH 16 /* entries of a row, about */
#define COLUMNS 32 /* of the dense matrix */

/* A square matrix in CSR, vectors and dense matrices by rows, and what the calls need. */
struct sparse {
    cusparseHandle_t handle;
    int rows, nnz, *offsets, *columns;
    double *values, *x, *y, *b, *c, *t;
    int *t_offsets, *t_rows;
    cusparseSpMatDescr_t a;
    cusparseDnVecDescr_t from, to;
    cusparseDnMatDescr_t left, right;
    void *buffer;
    cusparseSpSVDescr_t system;
};

static const double one = 1, zero = 0;

static void *room(size_t bytes)
{
    void *at;
    if (cudaMalloc(&at, bytes + 64) != cudaSuccess)
        exit(1);
    memset(at, 0, bytes + 64);
    return at;
}

static void *bare(size_t bytes)
{
    void *at;
    if (cudaMalloc(&at, bytes + 64) != cudaSuccess)
        exit(1);
    return at;
}

/* Compilers leave out what is written to memory that nobody reads before it is freed. */
static void read_by_somebody(const void *at)
{
    __asm__ volatile("" : : "r"(at) : "memory");
}

static void ended(cusparseStatus_t status)
{
    if (status != CUSPARSE_STATUS_SUCCESS || cudaDeviceSynchronize() != cudaSuccess)
        exit(1);
}

static void spmv(void *data)
{
    struct sparse *s = data;
    ended(cusparseSpMV(s->handle, CUSPARSE_OPERATION_NON_TRANSPOSE, &one, s->a, s->from, &zero, s->to, CUDA_R_64F,
                       CUSPARSE_SPMV_ALG_DEFAULT, s->buffer));
}

static void spmv_direct(void *data)
{
    struct sparse *s = data;
    for (int i = 0; i < s->rows; i++) {
        double sum = 0;
        for (int k = s->offsets[i]; k < s->offsets[i + 1]; k++)
            sum += s->values[k] * s->x[s->columns[k]];
        s->y[i] = sum;
    }
}

static void transposed(void *data)
{
    struct sparse *s = data;
    ended(cusparseSpMV(s->handle, CUSPARSE_OPERATION_TRANSPOSE, &one, s->a, s->from, &zero, s->to, CUDA_R_64F,
                       CUSPARSE_SPMV_ALG_DEFAULT, s->buffer));
}

static void transposed_direct(void *data)
{
    struct sparse *s = data;
    memset(s->y, 0, (size_t)s->rows * sizeof *s->y);
    for (int i = 0; i < s->rows; i++)
        for (int k = s->offsets[i]; k < s->offsets[i + 1]; k++)
            s->y[s->columns[k]] += s->values[k] * s->x[i];
}

static void spmm(void *data)
{
    struct sparse *s = data;
    ended(cusparseSpMM(s->handle, CUSPARSE_OPERATION_NON_TRANSPOSE, CUSPARSE_OPERATION_NON_TRANSPOSE, &one, s->a,
                       s->left, &zero, s->right, CUDA_R_64F, CUSPARSE_SPMM_ALG_DEFAULT, s->buffer));
}

static void spmm_direct(void *data)
{
    struct sparse *s = data;
    memset(s->c, 0, (size_t)s->rows * COLUMNS * sizeof *s->c);
    for (int i = 0; i < s->rows; i++)
        for (int k = s->offsets[i]; k < s->offsets[i + 1]; k++)
            for (int j = 0; j < COLUMNS; j++)
                s->c[i * COLUMNS + j] += s->values[k] * s->b[s->columns[k] * COLUMNS + j];
}

static void transpose(void *data)
{
    struct sparse *s = data;
    ended(cusparseCsr2cscEx2(s->handle, s->rows, s->rows, s->nnz, s->values, s->offsets, s->columns, s->t, s->t_offsets,
                             s->t_rows, CUDA_R_64F, CUSPARSE_ACTION_NUMERIC, CUSPARSE_INDEX_BASE_ZERO,
                             CUSPARSE_CSR2CSC_ALG1, s->buffer));
}

static void transpose_direct(void *data)
{
    struct sparse *s = data;
    memset(s->t_offsets, 0, ((size_t)s->rows + 1) * sizeof(int));
    for (int k = 0; k < s->nnz; k++)
        s->t_offsets[s->columns[k] + 1]++;
    for (int i = 0; i < s->rows; i++)
        s->t_offsets[i + 1] += s->t_offsets[i];
    for (int i = 0; i < s->rows; i++)
        for (int k = s->offsets[i]; k < s->offsets[i + 1]; k++) {
            int at = s->t_offsets[s->columns[k]]++;
            s->t_rows[at] = i;
            s->t[at] = s->values[k];
        }
    for (int i = s->rows; i > 0; i--)
        s->t_offsets[i] = s->t_offsets[i - 1];
    s->t_offsets[0] = 0;
}

/* A times A, all steps and their buffers. */
static void spgemm(void *data)
{
    struct sparse *s = data;
    cusparseSpGEMMDescr_t plan;
    cusparseSpMatDescr_t c;
    size_t one_size = 0, two_size = 0;
    int64_t rows, cols, nnz;
    void *first, *second, *offsets = room(((size_t)s->rows + 1) * 4), *columns, *values;
#define STEP(call) \
    if ((call) != CUSPARSE_STATUS_SUCCESS) \
    exit(1)
#define ALL CUSPARSE_OPERATION_NON_TRANSPOSE, CUSPARSE_OPERATION_NON_TRANSPOSE, &one, s->a, s->a, &zero, c, CUDA_R_64F
    STEP(cusparseSpGEMM_createDescr(&plan));
    STEP(cusparseCreateCsr(&c, s->rows, s->rows, 0, offsets, NULL, NULL, CUSPARSE_INDEX_32I, CUSPARSE_INDEX_32I,
                           CUSPARSE_INDEX_BASE_ZERO, CUDA_R_64F));
    STEP(cusparseSpGEMM_workEstimation(s->handle, ALL, CUSPARSE_SPGEMM_DEFAULT, plan, &one_size, NULL));
    first = room(one_size);
    STEP(cusparseSpGEMM_workEstimation(s->handle, ALL, CUSPARSE_SPGEMM_DEFAULT, plan, &one_size, first));
    STEP(cusparseSpGEMM_compute(s->handle, ALL, CUSPARSE_SPGEMM_DEFAULT, plan, &two_size, NULL));
    second = room(two_size);
    STEP(cusparseSpGEMM_compute(s->handle, ALL, CUSPARSE_SPGEMM_DEFAULT, plan, &two_size, second));
    STEP(cusparseSpMatGetSize(c, &rows, &cols, &nnz));
    columns = bare((size_t)nnz * 4);
    values = bare((size_t)nnz * 8);
    STEP(cusparseCsrSetPointers(c, offsets, columns, values));
    ended(cusparseSpGEMM_copy(s->handle, ALL, CUSPARSE_SPGEMM_DEFAULT, plan));
    STEP(cusparseSpGEMM_destroyDescr(plan));
    STEP(cusparseDestroySpMat(c));
    cudaFree(first);
    cudaFree(second);
    cudaFree(offsets);
    cudaFree(columns);
    cudaFree(values);
}

/* Two passes over a list of the row's columns, as SciPy's. */
static void spgemm_direct(void *data)
{
    struct sparse *s = data;
    int *next = malloc((size_t)s->rows * sizeof *next), *offsets = malloc(((size_t)s->rows + 1) * sizeof *offsets);
    double *sums = calloc((size_t)s->rows, sizeof *sums);
    if (!next || !offsets || !sums)
        exit(1);
    for (int i = 0; i < s->rows; i++)
        next[i] = -1;
    offsets[0] = 0;
    for (int i = 0; i < s->rows; i++) {
        int count = 0;
        for (int k = s->offsets[i]; k < s->offsets[i + 1]; k++)
            for (int l = s->offsets[s->columns[k]]; l < s->offsets[s->columns[k] + 1]; l++)
                if (next[s->columns[l]] != i) {
                    next[s->columns[l]] = i;
                    count++;
                }
        offsets[i + 1] = offsets[i] + count;
    }
    int *columns = malloc((size_t)offsets[s->rows] * sizeof *columns);
    double *values = malloc((size_t)offsets[s->rows] * sizeof *values);
    if (!columns || !values)
        exit(1);
    for (int i = 0; i < s->rows; i++)
        next[i] = -1;
    for (int i = 0; i < s->rows; i++) {
        int head = -2, at = offsets[i];
        for (int k = s->offsets[i]; k < s->offsets[i + 1]; k++)
            for (int l = s->offsets[s->columns[k]]; l < s->offsets[s->columns[k] + 1]; l++) {
                int j = s->columns[l];
                sums[j] += s->values[k] * s->values[l];
                if (next[j] == -1) {
                    next[j] = head;
                    head = j;
                }
            }
        while (head != -2) {
            int j = head;
            columns[at] = j;
            values[at++] = sums[j];
            head = next[j];
            next[j] = -1;
            sums[j] = 0;
        }
    }
    read_by_somebody(columns);
    read_by_somebody(values);
    free(next);
    free(offsets);
    free(sums);
    free(columns);
    free(values);
}

/* The lower triangle of A with a unit diagonal, behind an analysis. */
static void spsv(void *data)
{
    struct sparse *s = data;
    ended(cusparseSpSV_solve(s->handle, CUSPARSE_OPERATION_NON_TRANSPOSE, &one, s->a, s->from, s->to, CUDA_R_64F,
                             CUSPARSE_SPSV_ALG_DEFAULT, s->system));
}

static void spsv_direct(void *data)
{
    struct sparse *s = data;
    for (int i = 0; i < s->rows; i++) {
        double sum = s->x[i];
        for (int k = s->offsets[i]; k < s->offsets[i + 1]; k++)
            if (s->columns[k] < i)
                sum -= s->values[k] * s->y[s->columns[k]];
        s->y[i] = sum;
    }
}

static void solutions(struct sparse *s)
{
    cusparseFillMode_t lower = CUSPARSE_FILL_MODE_LOWER;
    cusparseDiagType_t unit = CUSPARSE_DIAG_TYPE_UNIT;
    size_t size = 0;
    cusparseSpMatSetAttribute(s->a, CUSPARSE_SPMAT_FILL_MODE, &lower, sizeof lower);
    cusparseSpMatSetAttribute(s->a, CUSPARSE_SPMAT_DIAG_TYPE, &unit, sizeof unit);
    for (int k = 0; k < s->nnz; k++)
        s->values[k] = 0.01;
    ended(cusparseSpSV_createDescr(&s->system));
    ended(cusparseSpSV_bufferSize(s->handle, CUSPARSE_OPERATION_NON_TRANSPOSE, &one, s->a, s->from, s->to, CUDA_R_64F,
                                  CUSPARSE_SPSV_ALG_DEFAULT, s->system, &size));
    void *buffer = room(size);
    ended(cusparseSpSV_analysis(s->handle, CUSPARSE_OPERATION_NON_TRANSPOSE, &one, s->a, s->from, s->to, CUDA_R_64F,
                                CUSPARSE_SPSV_ALG_DEFAULT, s->system, buffer));
    math_row("spsv_200000", spsv, spsv_direct, s);
    ended(cusparseSpSV_destroyDescr(s->system));
    cudaFree(buffer);
}

void math_sparse(void)
{
    struct sparse s = {.rows = ROWS};
    unsigned seed = 1;
    if (cusparseCreate(&s.handle) != CUSPARSE_STATUS_SUCCESS)
        return;
    s.offsets = room((ROWS + 1) * 4);
    s.columns = room((size_t)ROWS * EACH * 2 * 4);
    s.values = room((size_t)ROWS * EACH * 2 * 8);
    for (int i = 0; i < ROWS; i++) {
        seed = seed * 1664525u + 1013904223u;
        int count = (int)(seed >> 8) % (2 * EACH), at = i - count * 40 > 0 ? i - count * 40 : 0;
        for (int k = 0; k < count; k++) {
            seed = seed * 1664525u + 1013904223u;
            at += 1 + (int)(seed >> 8) % 80;
            if (at >= ROWS)
                break;
            s.columns[s.nnz] = at;
            s.values[s.nnz++] = 1 + k;
        }
        s.offsets[i + 1] = s.nnz;
    }
    s.x = room(ROWS * 8);
    s.y = room(ROWS * 8);
    s.b = room((size_t)ROWS * COLUMNS * 8);
    s.c = room((size_t)ROWS * COLUMNS * 8);
    s.t = room((size_t)s.nnz * 8);
    s.t_offsets = room((ROWS + 1) * 4);
    s.t_rows = room((size_t)s.nnz * 4);
    for (int i = 0; i < ROWS; i++)
        s.x[i] = i % 7;
    for (int i = 0; i < ROWS * COLUMNS; i++)
        s.b[i] = i % 5;
    cusparseCreateCsr(&s.a, ROWS, ROWS, s.nnz, s.offsets, s.columns, s.values, CUSPARSE_INDEX_32I, CUSPARSE_INDEX_32I,
                      CUSPARSE_INDEX_BASE_ZERO, CUDA_R_64F);
    cusparseCreateDnVec(&s.from, ROWS, s.x, CUDA_R_64F);
    cusparseCreateDnVec(&s.to, ROWS, s.y, CUDA_R_64F);
    cusparseCreateDnMat(&s.left, ROWS, COLUMNS, COLUMNS, s.b, CUDA_R_64F, CUSPARSE_ORDER_ROW);
    cusparseCreateDnMat(&s.right, ROWS, COLUMNS, COLUMNS, s.c, CUDA_R_64F, CUSPARSE_ORDER_ROW);
    s.buffer = room((size_t)ROWS * 16 * 8);
    math_row("spmv_200000", spmv, spmv_direct, &s);
    math_row("spmv_transposed_200000", transposed, transposed_direct, &s);
    math_row("spmm_200000_32", spmm, spmm_direct, &s);
    math_row("csr2csc_200000", transpose, transpose_direct, &s);
    math_row("spgemm_200000", spgemm, spgemm_direct, &s);
    solutions(&s);
    cusparseDestroy(s.handle);
}
