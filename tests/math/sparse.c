/* SPDX-License-Identifier: Apache-2.0 */
/* libcusparse beside plain loops: matrices over many parts, with rows of very different lengths, all types, formats,
 * index types and bases; the same bits on every run; several threads and handles at once. (Small sizes, statuses and
 * order: tests/golden/math/cusparse.) */
#include <cuda_runtime_api.h>
#include <cusparse.h>

#include <complex.h>
#include <math.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"

#define OK(call) CHECK((call) == CUSPARSE_STATUS_SUCCESS)

typedef double complex number;

static _Thread_local unsigned seed = 1;

static unsigned draw(unsigned below)
{
    seed = seed * 1664525u + 1013904223u;
    return (seed >> 8) % below;
}

static cudaDataType types[] = {CUDA_R_32F, CUDA_R_64F, CUDA_C_32F, CUDA_C_64F};

static size_t size_of(cudaDataType type)
{
    return type == CUDA_R_32F ? 4 : type == CUDA_C_64F ? 16 : 8;
}

static number get(cudaDataType type, const void *from, size_t i)
{
    switch ((int)type) {
    case CUDA_R_32F:
        return ((const float *)from)[i];
    case CUDA_R_64F:
        return ((const double *)from)[i];
    case CUDA_C_32F:
        return ((const float *)from)[2 * i] + I * ((const float *)from)[2 * i + 1];
    default:
        return ((const double *)from)[2 * i] + I * ((const double *)from)[2 * i + 1];
    }
}

static void put(cudaDataType type, void *to, size_t i, number value)
{
    switch ((int)type) {
    case CUDA_R_32F:
        ((float *)to)[i] = (float)creal(value);
        break;
    case CUDA_R_64F:
        ((double *)to)[i] = creal(value);
        break;
    case CUDA_C_32F:
        ((float *)to)[2 * i] = (float)creal(value);
        ((float *)to)[2 * i + 1] = (float)cimag(value);
        break;
    default:
        ((double *)to)[2 * i] = creal(value);
        ((double *)to)[2 * i + 1] = cimag(value);
    }
}

/* Managed memory, so that the host reads and writes it. */
static void *room(size_t bytes)
{
    void *at;
    RT(cudaMallocManaged(&at, bytes + 64, cudaMemAttachGlobal));
    memset(at, 0, bytes + 64);
    return at;
}

static void *numbers(cudaDataType type, size_t count)
{
    void *at = room(count * size_of(type));
    for (size_t i = 0; i < count; i++)
        put(type, at, i, (int)draw(17) - 8 + I * ((int)draw(9) - 4));
    return at;
}

/* A matrix by coordinates, sorted by rows: what the plain loops use. */
struct matrix {
    cudaDataType type;
    int rows, cols, nnz;
    int *row, *col;
    void *values;
};

/* About `each` entries in a row; some rows have none, one in a hundred has half of the columns. `diagonal`: there is
 * one, and it dominates. */
static struct matrix random_matrix(cudaDataType type, int rows, int cols, int each, bool diagonal)
{
    struct matrix m = {.type = type, .rows = rows, .cols = cols};
    size_t most = (size_t)rows * (size_t)(2 * each + 2) + (size_t)(rows / 100 + 1) * (size_t)cols;
    m.row = malloc(most * sizeof(int));
    m.col = malloc(most * sizeof(int));
    bool *there = malloc((size_t)cols);
    CHECK(m.row && m.col && there);
    for (int i = 0; i < rows; i++) {
        int count = i % 100 == 37 ? cols / 2 : i % 5 == 1 ? 0 : (int)draw((unsigned)(2 * each));
        memset(there, 0, (size_t)cols);
        for (int k = 0; k < count; k++)
            there[draw((unsigned)cols)] = true;
        if (diagonal)
            there[i] = true;
        for (int j = 0; j < cols; j++)
            if (there[j]) {
                m.row[m.nnz] = i;
                m.col[m.nnz++] = j;
            }
    }
    free(there);
    m.values = numbers(type, (size_t)m.nnz);
    for (int k = 0; k < m.nnz && diagonal; k++)
        if (m.row[k] == m.col[k])
            put(type, m.values, (size_t)k, 64.0 * cols);
    return m;
}

static void free_matrix(struct matrix *m)
{
    free(m->row);
    free(m->col);
    RT(cudaFree(m->values));
}

static void *indices(const int *from, int count, bool wide, int base)
{
    void *at = room((size_t)count * (wide ? 8 : 4));
    for (int i = 0; i < count; i++)
        if (wide)
            ((int64_t *)at)[i] = from[i] + base;
        else
            ((int *)at)[i] = from[i] + base;
    return at;
}

/* The description of it, and what is to be freed with it. */
struct described {
    cusparseSpMatDescr_t of;
    void *offsets, *index, *values;
};

static struct described describe(const struct matrix *m, cusparseFormat_t format, bool wide, int base)
{
    struct described d = {0};
    bool by_column = format == CUSPARSE_FORMAT_CSC;
    int lines = by_column ? m->cols : m->rows;
    int *offsets = calloc((size_t)lines + 2, sizeof(int)), *across = malloc((size_t)m->nnz * sizeof(int) + 4);
    cusparseIndexType_t index = wide ? CUSPARSE_INDEX_64I : CUSPARSE_INDEX_32I;
    CHECK(offsets && across);
    for (int k = 0; k < m->nnz; k++)
        offsets[(by_column ? m->col[k] : m->row[k]) + 2]++;
    for (int i = 2; i <= lines + 1; i++)
        offsets[i] += offsets[i - 1];
    d.values = room((size_t)m->nnz * size_of(m->type));
    for (int k = 0; k < m->nnz; k++) {
        int at = offsets[(by_column ? m->col[k] : m->row[k]) + 1]++;
        across[at] = by_column ? m->row[k] : m->col[k];
        put(m->type, d.values, (size_t)at, get(m->type, m->values, (size_t)k));
    }
    d.index = indices(across, m->nnz, wide, base);
    if (format == CUSPARSE_FORMAT_COO) {
        d.offsets = indices(m->row, m->nnz, wide, base);
        OK(cusparseCreateCoo(&d.of, m->rows, m->cols, m->nnz, d.offsets, d.index, d.values, index,
                             (cusparseIndexBase_t)base, m->type));
    } else {
        d.offsets = indices(offsets, lines + 1, wide, base);
        OK((by_column ? cusparseCreateCsc : cusparseCreateCsr)(&d.of, m->rows, m->cols, m->nnz, d.offsets, d.index,
                                                               d.values, index, index, (cusparseIndexBase_t)base,
                                                               m->type));
    }
    free(offsets);
    free(across);
    return d;
}

static void forget(struct described *d)
{
    OK(cusparseDestroySpMat(d->of));
    RT(cudaFree(d->offsets));
    RT(cudaFree(d->index));
    RT(cudaFree(d->values));
}

static void close_to(cudaDataType type, const void *got, const number *wanted, size_t count, double scale)
{
    double bound = (type == CUDA_R_32F || type == CUDA_C_32F ? 1e-4 : 1e-11) * scale;
    for (size_t i = 0; i < count; i++)
        if (!(cabs(get(type, got, i) - wanted[i]) <= bound * (1 + cabs(wanted[i])))) {
            number is = get(type, got, i);
            fprintf(stderr, "element %zu is %g %g, wanted %g %g\n", i, creal(is), cimag(is), creal(wanted[i]),
                    cimag(wanted[i]));
            exit(1);
        }
}

static number value_of(const struct matrix *m, int k, cusparseOperation_t op)
{
    number value = get(m->type, m->values, (size_t)k);
    return op == CUSPARSE_OPERATION_CONJUGATE_TRANSPOSE ? conj(value) : value;
}

/* ---- products ---- */

static void test_spmv(cusparseHandle_t handle, cudaDataType type, cusparseFormat_t format, cusparseOperation_t op,
                      bool wide, int base, bool buffered)
{
    struct matrix m = random_matrix(type, 3000, 1500, 20, false);
    struct described d = describe(&m, format, wide, base);
    int nx = op ? m.rows : m.cols, ny = op ? m.cols : m.rows;
    void *x = numbers(type, (size_t)nx), *y = numbers(type, (size_t)ny), *again = room((size_t)ny * size_of(type)),
         *buffer = NULL;
    number *wanted = malloc((size_t)ny * sizeof *wanted);
    double alpha[2] = {0}, beta[2] = {0};
    bool keeps = draw(2);
    put(type, alpha, 0, 2);
    put(type, beta, 0, keeps ? -3 : 0);
    for (int i = 0; i < ny; i++)
        wanted[i] = keeps ? -3 * get(type, y, (size_t)i) : 0;
    for (int k = 0; k < m.nnz; k++)
        wanted[op ? m.col[k] : m.row[k]] += 2 * value_of(&m, k, op) * get(type, x, (size_t)(op ? m.row[k] : m.col[k]));
    memcpy(again, y, (size_t)ny * size_of(type));
    cusparseDnVecDescr_t from, to;
    OK(cusparseCreateDnVec(&from, nx, x, type));
    OK(cusparseCreateDnVec(&to, ny, y, type));
    size_t bytes = 0;
    OK(cusparseSpMV_bufferSize(handle, op, alpha, d.of, from, beta, to, type, CUSPARSE_SPMV_ALG_DEFAULT, &bytes));
    if (buffered)
        buffer = room(bytes);
    OK(cusparseSpMV(handle, op, alpha, d.of, from, beta, to, type, CUSPARSE_SPMV_ALG_DEFAULT, buffer));
    RT(cudaDeviceSynchronize());
    close_to(type, y, wanted, (size_t)ny, 100);
    OK(cusparseDnVecSetValues(to, again));
    OK(cusparseSpMV(handle, op, alpha, d.of, from, beta, to, type, CUSPARSE_SPMV_ALG_DEFAULT, buffer));
    RT(cudaDeviceSynchronize());
    CHECK(memcmp(y, again, (size_t)ny * size_of(type)) == 0);
    OK(cusparseDestroyDnVec(from));
    OK(cusparseDestroyDnVec(to));
    forget(&d);
    free_matrix(&m);
    free(wanted);
    RT(cudaFree(x));
    RT(cudaFree(y));
    RT(cudaFree(again));
    if (buffer)
        RT(cudaFree(buffer));
}

/* An element of op(D) of a dense matrix without gaps. */
static size_t place(int rows, int cols, cusparseOrder_t order, cusparseOperation_t op, int i, int j)
{
    if (op) {
        int swap = i;
        i = j;
        j = swap;
    }
    return order == CUSPARSE_ORDER_ROW ? (size_t)i * (size_t)cols + (size_t)j : (size_t)i + (size_t)j * (size_t)rows;
}

static number dense(const struct matrix *m, const void *values, size_t at, cusparseOperation_t op)
{
    number value = get(m->type, values, at);
    return op == CUSPARSE_OPERATION_CONJUGATE_TRANSPOSE ? conj(value) : value;
}

static void test_spmm(cusparseHandle_t handle, cudaDataType type, cusparseFormat_t format, cusparseOperation_t op,
                      cusparseOperation_t op_b, cusparseOrder_t order_b, cusparseOrder_t order_c)
{
    struct matrix m = random_matrix(type, 700, 1900, 12, false);
    struct described d = describe(&m, format, draw(2), (int)draw(2));
    int inner = op ? m.rows : m.cols, rows = op ? m.cols : m.rows, n = 21, b_rows = op_b ? n : inner,
        b_cols = op_b ? inner : n;
    void *b = numbers(type, (size_t)(inner * n)), *c = numbers(type, (size_t)(rows * n)), *buffer;
    number *wanted = malloc((size_t)(rows * n) * sizeof *wanted);
    double alpha[2] = {0}, beta[2] = {0};
    put(type, alpha, 0, 2);
    put(type, beta, 0, -3);
    for (int i = 0; i < rows * n; i++)
        wanted[i] = -3 * get(type, c, (size_t)i);
    for (int k = 0; k < m.nnz; k++)
        for (int j = 0; j < n; j++)
            wanted[place(rows, n, order_c, 0, op ? m.col[k] : m.row[k], j)] +=
                2 * value_of(&m, k, op) *
                dense(&m, b, place(b_rows, b_cols, order_b, op_b, op ? m.row[k] : m.col[k], j), op_b);
    cusparseDnMatDescr_t from, to;
    OK(cusparseCreateDnMat(&from, b_rows, b_cols, order_b == CUSPARSE_ORDER_ROW ? b_cols : b_rows, b, type, order_b));
    OK(cusparseCreateDnMat(&to, rows, n, order_c == CUSPARSE_ORDER_ROW ? n : rows, c, type, order_c));
    size_t bytes = 0;
    OK(cusparseSpMM_bufferSize(handle, op, op_b, alpha, d.of, from, beta, to, type, CUSPARSE_SPMM_ALG_DEFAULT, &bytes));
    buffer = room(bytes);
    OK(cusparseSpMM(handle, op, op_b, alpha, d.of, from, beta, to, type, CUSPARSE_SPMM_ALG_DEFAULT,
                    draw(2) ? buffer : NULL));
    RT(cudaDeviceSynchronize());
    close_to(type, c, wanted, (size_t)(rows * n), 100);
    OK(cusparseDestroyDnMat(from));
    OK(cusparseDestroyDnMat(to));
    forget(&d);
    free_matrix(&m);
    free(wanted);
    RT(cudaFree(b));
    RT(cudaFree(c));
    RT(cudaFree(buffer));
}

/* B by columns is turned into the buffer, which is as large as B, or read as it is without one. Two members, whose
 * matrices B have a gap between them. */
static void test_spmm_turned(cusparseHandle_t handle, cudaDataType type, cusparseOperation_t op_b)
{
    enum { N = 19, GAP = 5 };
    struct matrix m = random_matrix(type, 900, 1700, 8, false);
    struct described d = describe(&m, CUSPARSE_FORMAT_CSR, 0, 1);
    cusparseOrder_t order = op_b == CUSPARSE_OPERATION_NON_TRANSPOSE ? CUSPARSE_ORDER_COL : CUSPARSE_ORDER_ROW;
    int b_rows = op_b ? N : m.cols, b_cols = op_b ? m.cols : N, ld = m.cols + 3;
    size_t b_size = (size_t)(ld * N + GAP), c_size = (size_t)(m.rows * N), bytes = 0;
    void *b = numbers(type, 2 * b_size), *c = numbers(type, 2 * c_size), *buffer;
    number *wanted = calloc(2 * c_size, sizeof *wanted);
    double alpha[2] = {0}, beta[2] = {0};
    put(type, alpha, 0, 2);
    for (size_t member = 0; member < 2; member++)
        for (int k = 0; k < m.nnz; k++)
            for (int j = 0; j < N; j++) {
                number value = get(type, b, member * b_size + (size_t)(m.col[k] + j * ld));
                wanted[member * c_size + (size_t)(m.row[k] + j * m.rows)] +=
                    2 * value_of(&m, k, 0) * (op_b == CUSPARSE_OPERATION_CONJUGATE_TRANSPOSE ? conj(value) : value);
            }
    cusparseDnMatDescr_t from, to;
    OK(cusparseCreateDnMat(&from, b_rows, b_cols, ld, b, type, order));
    OK(cusparseCreateDnMat(&to, m.rows, N, m.rows, c, type, CUSPARSE_ORDER_COL));
    OK(cusparseDnMatSetStridedBatch(from, 2, (int64_t)b_size));
    OK(cusparseDnMatSetStridedBatch(to, 2, (int64_t)c_size));
    OK(cusparseCsrSetStridedBatch(d.of, 2, 0, 0));
    OK(cusparseSpMM_bufferSize(handle, CUSPARSE_OPERATION_NON_TRANSPOSE, op_b, alpha, d.of, from, beta, to, type,
                               CUSPARSE_SPMM_ALG_DEFAULT, &bytes));
    CHECK(bytes == 2 * (size_t)(m.cols * N) * size_of(type));
    buffer = room(bytes);
    for (int turned = 0; turned < 2; turned++) {
        OK(cusparseSpMM(handle, CUSPARSE_OPERATION_NON_TRANSPOSE, op_b, alpha, d.of, from, beta, to, type,
                        CUSPARSE_SPMM_ALG_DEFAULT, turned ? buffer : NULL));
        RT(cudaDeviceSynchronize());
        close_to(type, c, wanted, 2 * c_size, 100);
        RT(cudaMemset(c, 0, 2 * c_size * size_of(type)));
    }
    OK(cusparseDestroyDnMat(from));
    OK(cusparseDestroyDnMat(to));
    forget(&d);
    free_matrix(&m);
    free(wanted);
    RT(cudaFree(b));
    RT(cudaFree(c));
    RT(cudaFree(buffer));
}

static void test_sddmm(cusparseHandle_t handle, cudaDataType type, cusparseOperation_t op_a, cusparseOperation_t op_b,
                       cusparseOrder_t order)
{
    struct matrix m = random_matrix(type, 600, 400, 10, false);
    struct described d = describe(&m, CUSPARSE_FORMAT_CSR, draw(2), (int)draw(2));
    int inner = 33, ar = op_a ? inner : m.rows, ac = op_a ? m.rows : inner, br = op_b ? m.cols : inner,
        bc = op_b ? inner : m.cols;
    void *a = numbers(type, (size_t)(ar * ac)), *b = numbers(type, (size_t)(br * bc)), *buffer;
    number *wanted = calloc((size_t)m.nnz, sizeof *wanted);
    double alpha[2] = {0}, beta[2] = {0};
    put(type, alpha, 0, 2);
    put(type, beta, 0, -3);
    for (int k = 0; k < m.nnz; k++) {
        wanted[k] = -3 * get(type, m.values, (size_t)k);
        for (int l = 0; l < inner; l++)
            wanted[k] += 2 * dense(&m, a, place(ar, ac, order, op_a, m.row[k], l), op_a) *
                         dense(&m, b, place(br, bc, order, op_b, l, m.col[k]), op_b);
    }
    cusparseDnMatDescr_t left, right;
    OK(cusparseCreateDnMat(&left, ar, ac, order == CUSPARSE_ORDER_ROW ? ac : ar, a, type, order));
    OK(cusparseCreateDnMat(&right, br, bc, order == CUSPARSE_ORDER_ROW ? bc : br, b, type, order));
    size_t bytes = 0;
    OK(cusparseSDDMM_bufferSize(handle, op_a, op_b, alpha, left, right, beta, d.of, type, CUSPARSE_SDDMM_ALG_DEFAULT,
                                &bytes));
    buffer = room(bytes);
    OK(cusparseSDDMM(handle, op_a, op_b, alpha, left, right, beta, d.of, type, CUSPARSE_SDDMM_ALG_DEFAULT,
                     draw(2) ? buffer : NULL));
    RT(cudaDeviceSynchronize());
    close_to(type, d.values, wanted, (size_t)m.nnz, 100);
    OK(cusparseDestroyDnMat(left));
    OK(cusparseDestroyDnMat(right));
    forget(&d);
    free_matrix(&m);
    free(wanted);
    RT(cudaFree(a));
    RT(cudaFree(b));
    RT(cudaFree(buffer));
}

/* ---- triangles: the residual is small ---- */

static void test_solve(cusparseHandle_t handle, cudaDataType type, cusparseFormat_t format, cusparseOperation_t op,
                       bool upper, bool many)
{
    int n = 500, columns = many ? 19 : 1;
    struct matrix m = random_matrix(type, n, n, 8, true);
    struct described d = describe(&m, format, draw(2), (int)draw(2));
    void *b = numbers(type, (size_t)(n * columns)), *x = room((size_t)(n * columns) * size_of(type)), *buffer;
    number *wanted = calloc((size_t)(n * columns), sizeof *wanted);
    double alpha[2] = {0};
    put(type, alpha, 0, 2);
    cusparseFillMode_t fill = upper ? CUSPARSE_FILL_MODE_UPPER : CUSPARSE_FILL_MODE_LOWER;
    OK(cusparseSpMatSetAttribute(d.of, CUSPARSE_SPMAT_FILL_MODE, &fill, sizeof fill));
    size_t bytes = 0;
    if (many) {
        cusparseDnMatDescr_t from, to;
        cusparseSpSMDescr_t plan;
        OK(cusparseCreateDnMat(&from, n, columns, n, b, type, CUSPARSE_ORDER_COL));
        OK(cusparseCreateDnMat(&to, n, columns, n, x, type, CUSPARSE_ORDER_COL));
        OK(cusparseSpSM_createDescr(&plan));
        OK(cusparseSpSM_bufferSize(handle, op, 0, alpha, d.of, from, to, type, CUSPARSE_SPSM_ALG_DEFAULT, plan,
                                   &bytes));
        buffer = room(bytes);
        OK(cusparseSpSM_analysis(handle, op, 0, alpha, d.of, from, to, type, CUSPARSE_SPSM_ALG_DEFAULT, plan, buffer));
        OK(cusparseSpSM_solve(handle, op, 0, alpha, d.of, from, to, type, CUSPARSE_SPSM_ALG_DEFAULT, plan));
        RT(cudaDeviceSynchronize());
        OK(cusparseSpSM_destroyDescr(plan));
        OK(cusparseDestroyDnMat(from));
        OK(cusparseDestroyDnMat(to));
    } else {
        cusparseDnVecDescr_t from, to;
        cusparseSpSVDescr_t plan;
        OK(cusparseCreateDnVec(&from, n, b, type));
        OK(cusparseCreateDnVec(&to, n, x, type));
        OK(cusparseSpSV_createDescr(&plan));
        OK(cusparseSpSV_bufferSize(handle, op, alpha, d.of, from, to, type, CUSPARSE_SPSV_ALG_DEFAULT, plan, &bytes));
        buffer = room(bytes);
        OK(cusparseSpSV_analysis(handle, op, alpha, d.of, from, to, type, CUSPARSE_SPSV_ALG_DEFAULT, plan, buffer));
        OK(cusparseSpSV_solve(handle, op, alpha, d.of, from, to, type, CUSPARSE_SPSV_ALG_DEFAULT, plan));
        RT(cudaDeviceSynchronize());
        OK(cusparseSpSV_destroyDescr(plan));
        OK(cusparseDestroyDnVec(from));
        OK(cusparseDestroyDnVec(to));
    }
    for (int k = 0; k < m.nnz; k++)
        if (upper ? m.col[k] >= m.row[k] : m.col[k] <= m.row[k])
            for (int j = 0; j < columns; j++)
                wanted[(op ? m.col[k] : m.row[k]) + j * n] +=
                    value_of(&m, k, op) * get(type, x, (size_t)((op ? m.row[k] : m.col[k]) + j * n)) / 2;
    close_to(type, b, wanted, (size_t)(n * columns), 100);
    forget(&d);
    free_matrix(&m);
    free(wanted);
    RT(cudaFree(b));
    RT(cudaFree(x));
    RT(cudaFree(buffer));
}

/* COO whose entries are in no order becomes dense all the same, as on hardware; nothing is there in the second round.
 */
static void test_unordered_to_dense(cusparseHandle_t handle)
{
    enum { ROWS = 300, COLS = 200, STEP = 7919 };
    int *rows = room(ROWS * COLS * sizeof(int)), *columns = room(ROWS * COLS * sizeof(int));
    double *values = room(ROWS * COLS * sizeof(double)), *to = room(ROWS * COLS * sizeof(double));
    for (int k = 0; k < ROWS * COLS; k++) { /* each place once, since the step and their number have no common factor */
        int place = (int)((int64_t)k * STEP % (ROWS * COLS));
        rows[k] = place / COLS + 1;
        columns[k] = place % COLS + 1;
        values[k] = place;
    }
    for (int round = 0; round < 2; round++) {
        cusparseSpMatDescr_t a;
        cusparseDnMatDescr_t b;
        OK(cusparseCreateCoo(&a, ROWS, COLS, round ? 0 : ROWS * COLS, rows, columns, values, CUSPARSE_INDEX_32I,
                             CUSPARSE_INDEX_BASE_ONE, CUDA_R_64F));
        OK(cusparseCreateDnMat(&b, ROWS, COLS, COLS, to, CUDA_R_64F, CUSPARSE_ORDER_ROW));
        OK(cusparseSparseToDense(handle, a, b, CUSPARSE_SPARSETODENSE_ALG_DEFAULT, NULL));
        RT(cudaDeviceSynchronize());
        for (int place = 0; place < ROWS * COLS; place++)
            CHECK(to[place] == (round ? 0 : place));
        OK(cusparseDestroySpMat(a));
        OK(cusparseDestroyDnMat(b));
    }
    RT(cudaFree(rows));
    RT(cudaFree(columns));
    RT(cudaFree(values));
    RT(cudaFree(to));
}

/* ---- products of two sparse matrices, compared as dense ones ---- */

/* A column times a row: 3,600,000,000 entries, more than offsets of 32 bits name. */
static void test_spgemm_of_too_many(cusparseHandle_t handle)
{
    enum { N = 60000 };
    int *down = room((N + 1) * sizeof(int)), *across = room(2 * sizeof(int)), *columns = room(N * sizeof(int)),
        *offsets = room((N + 1) * sizeof(int));
    float *ones = room(N * sizeof(float)), alpha = 1, beta = 0;
    for (int i = 0; i <= N; i++)
        down[i] = i;
    across[0] = 0;
    across[1] = N;
    memset(columns, 0, N * sizeof(int)); /* the column's; the row's are 0 to N - 1 */
    cusparseSpMatDescr_t a, b, c;
    cusparseSpGEMMDescr_t plan;
    size_t size = 0;
    int64_t rows, cols, nnz;
    OK(cusparseCreateCsr(&a, N, 1, N, down, columns, ones, CUSPARSE_INDEX_32I, CUSPARSE_INDEX_32I, 0, CUDA_R_32F));
    OK(cusparseCreateCsr(&b, 1, N, N, across, down, ones, CUSPARSE_INDEX_32I, CUSPARSE_INDEX_32I, 0, CUDA_R_32F));
    OK(cusparseCreateCsr(&c, N, N, 0, offsets, NULL, NULL, CUSPARSE_INDEX_32I, CUSPARSE_INDEX_32I, 0, CUDA_R_32F));
    OK(cusparseSpGEMM_createDescr(&plan));
    OK(cusparseSpGEMM_workEstimation(handle, 0, 0, &alpha, a, b, &beta, c, CUDA_R_32F, 0, plan, &size, NULL));
    void *one = room(size);
    OK(cusparseSpGEMM_workEstimation(handle, 0, 0, &alpha, a, b, &beta, c, CUDA_R_32F, 0, plan, &size, one));
    OK(cusparseSpGEMM_compute(handle, 0, 0, &alpha, a, b, &beta, c, CUDA_R_32F, 0, plan, &size, NULL));
    void *two = room(size);
    CHECK(cusparseSpGEMM_compute(handle, 0, 0, &alpha, a, b, &beta, c, CUDA_R_32F, 0, plan, &size, two) ==
          CUSPARSE_STATUS_INSUFFICIENT_RESOURCES);
    OK(cusparseSpMatGetSize(c, &rows, &cols, &nnz));
    CHECK(rows == N && cols == N && nnz == 0);
    OK(cusparseSpGEMM_destroyDescr(plan));
    OK(cusparseDestroySpMat(a));
    OK(cusparseDestroySpMat(b));
    OK(cusparseDestroySpMat(c));
    RT(cudaFree(down));
    RT(cudaFree(across));
    RT(cudaFree(columns));
    RT(cudaFree(offsets));
    RT(cudaFree(ones));
    RT(cudaFree(one));
    RT(cudaFree(two));
}

static void test_spgemm(cusparseHandle_t handle, cudaDataType type, bool wide, int base)
{
    struct matrix m = random_matrix(type, 400, 300, 9, false), o = random_matrix(type, 300, 350, 9, false);
    struct described a = describe(&m, CUSPARSE_FORMAT_CSR, wide, base),
                     b = describe(&o, CUSPARSE_FORMAT_CSR, wide, base);
    number *wanted = calloc((size_t)(m.rows * o.cols), sizeof *wanted);
    int *first = calloc((size_t)o.rows + 1, sizeof(int));
    for (int l = 0; l < o.nnz; l++)
        first[o.row[l] + 1]++;
    for (int i = 0; i < o.rows; i++)
        first[i + 1] += first[i];
    for (int k = 0; k < m.nnz; k++)
        for (int l = first[m.col[k]]; l < first[m.col[k] + 1]; l++)
            wanted[m.row[k] * o.cols + o.col[l]] += 2 * get(type, m.values, (size_t)k) * get(type, o.values, (size_t)l);
    cusparseIndexType_t index = wide ? CUSPARSE_INDEX_64I : CUSPARSE_INDEX_32I;
    cusparseSpMatDescr_t c;
    cusparseSpGEMMDescr_t plan;
    void *offsets = room((size_t)(m.rows + 1) * 8), *columns, *values, *one, *two, *to;
    double alpha[2] = {0}, beta[2] = {0};
    size_t size1 = 0, size2 = 0;
    int64_t rows, cols, nnz;
    put(type, alpha, 0, 2);
    OK(cusparseCreateCsr(&c, m.rows, o.cols, 0, offsets, NULL, NULL, index, index, (cusparseIndexBase_t)base, type));
    OK(cusparseSpGEMM_createDescr(&plan));
    OK(cusparseSpGEMM_workEstimation(handle, 0, 0, alpha, a.of, b.of, beta, c, type, CUSPARSE_SPGEMM_DEFAULT, plan,
                                     &size1, NULL));
    one = room(size1);
    OK(cusparseSpGEMM_workEstimation(handle, 0, 0, alpha, a.of, b.of, beta, c, type, CUSPARSE_SPGEMM_DEFAULT, plan,
                                     &size1, one));
    OK(cusparseSpGEMM_compute(handle, 0, 0, alpha, a.of, b.of, beta, c, type, CUSPARSE_SPGEMM_DEFAULT, plan, &size2,
                              NULL));
    two = room(size2);
    OK(cusparseSpGEMM_compute(handle, 0, 0, alpha, a.of, b.of, beta, c, type, CUSPARSE_SPGEMM_DEFAULT, plan, &size2,
                              two));
    OK(cusparseSpMatGetSize(c, &rows, &cols, &nnz));
    columns = room((size_t)nnz * 8);
    values = room((size_t)nnz * 16);
    OK(cusparseCsrSetPointers(c, offsets, columns, values));
    OK(cusparseSpGEMM_copy(handle, 0, 0, alpha, a.of, b.of, beta, c, type, CUSPARSE_SPGEMM_DEFAULT, plan));
    to = room((size_t)(m.rows * o.cols) * size_of(type));
    cusparseDnMatDescr_t flat;
    OK(cusparseCreateDnMat(&flat, m.rows, o.cols, o.cols, to, type, CUSPARSE_ORDER_ROW));
    OK(cusparseSparseToDense(handle, c, flat, CUSPARSE_SPARSETODENSE_ALG_DEFAULT, NULL));
    RT(cudaDeviceSynchronize());
    close_to(type, to, wanted, (size_t)(m.rows * o.cols), 100);
    for (int64_t i = 0; i < m.rows; i++) { /* columns ascend */
        int64_t begin = (wide ? ((int64_t *)offsets)[i] : ((int *)offsets)[i]) - base;
        int64_t end = (wide ? ((int64_t *)offsets)[i + 1] : ((int *)offsets)[i + 1]) - base;
        for (int64_t k = begin + 1; k < end; k++)
            CHECK(wide ? ((int64_t *)columns)[k - 1] < ((int64_t *)columns)[k]
                       : ((int *)columns)[k - 1] < ((int *)columns)[k]);
    }
    OK(cusparseSpGEMM_destroyDescr(plan));
    OK(cusparseDestroySpMat(c));
    OK(cusparseDestroyDnMat(flat));
    forget(&a);
    forget(&b);
    free_matrix(&m);
    free_matrix(&o);
    free(wanted);
    free(first);
    void *all[] = {offsets, columns, values, one, two, to};
    for (int i = 0; i < 6; i++)
        RT(cudaFree(all[i]));
}

/* Rows whose few columns lie far from each other, in tables that have a place for each column and in hashed ones. */
static void test_spgemm_far(cusparseHandle_t handle, int cols)
{
    enum { ROWS = 3, EACH = 3, INNER = 4, ALL = 9 };
    static const float wanted[ALL] = {20, 2, 4, 6, 8, 8, 6, 4, 2};
    int *down = room((ROWS + 1) * 4), *inner = room(ROWS * INNER * 4), *starts = room((INNER + 1) * 4),
        *columns = room(INNER * EACH * 4), *offsets = room((ROWS + 1) * 4), *found = room(ROWS * ALL * 4);
    float *ones = room(ROWS * INNER * 4), *values = room(INNER * EACH * 4), *sums = room(ROWS * ALL * 4);
    float alpha = 2, beta = 0;
    for (int i = 0; i <= ROWS; i++)
        down[i] = i * INNER;
    for (int k = 0; k < ROWS * INNER; k++) {
        inner[k] = k % INNER;
        ones[k] = 1;
    }
    for (int j = 0; j < INNER; j++) {
        int at[EACH] = {5, (j + 1) * (cols / 5), cols - 1 - j};
        starts[j + 1] = (j + 1) * EACH;
        for (int k = 0; k < EACH; k++) {
            columns[j * EACH + k] = at[k];
            values[j * EACH + k] = (float)(j + 1);
        }
    }
    starts[0] = 0;
    cusparseSpMatDescr_t a, b, c;
    cusparseSpGEMMDescr_t plan;
    size_t size = (ROWS + 1) * 8;
    void *one = room(size), *two = room(size);
    int64_t rows, width, nnz;
    OK(cusparseCreateCsr(&a, ROWS, INNER, ROWS * INNER, down, inner, ones, CUSPARSE_INDEX_32I, CUSPARSE_INDEX_32I, 0,
                         CUDA_R_32F));
    OK(cusparseCreateCsr(&b, INNER, cols, INNER * EACH, starts, columns, values, CUSPARSE_INDEX_32I, CUSPARSE_INDEX_32I,
                         0, CUDA_R_32F));
    OK(cusparseCreateCsr(&c, ROWS, cols, 0, offsets, NULL, NULL, CUSPARSE_INDEX_32I, CUSPARSE_INDEX_32I, 0,
                         CUDA_R_32F));
    OK(cusparseSpGEMM_createDescr(&plan));
    OK(cusparseSpGEMM_workEstimation(handle, 0, 0, &alpha, a, b, &beta, c, CUDA_R_32F, 0, plan, &size, one));
    OK(cusparseSpGEMM_compute(handle, 0, 0, &alpha, a, b, &beta, c, CUDA_R_32F, 0, plan, &size, two));
    OK(cusparseSpMatGetSize(c, &rows, &width, &nnz));
    CHECK(nnz == ROWS * ALL);
    OK(cusparseCsrSetPointers(c, offsets, found, sums));
    OK(cusparseSpGEMM_copy(handle, 0, 0, &alpha, a, b, &beta, c, CUDA_R_32F, 0, plan));
    RT(cudaDeviceSynchronize());
    for (int i = 0; i < ROWS; i++) {
        CHECK(offsets[i + 1] == (i + 1) * ALL && found[i * ALL] == 5);
        for (int k = 0; k < ALL; k++) {
            CHECK(sums[i * ALL + k] == wanted[k]);
            if (k > 0)
                CHECK(found[i * ALL + k] == (k < 5 ? k * (cols / 5) : cols - ALL + k));
        }
    }
    OK(cusparseSpGEMM_destroyDescr(plan));
    OK(cusparseDestroySpMat(a));
    OK(cusparseDestroySpMat(b));
    OK(cusparseDestroySpMat(c));
    void *all[] = {down, inner, starts, columns, offsets, found, ones, values, sums, one, two};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        RT(cudaFree(all[i]));
}

/* ---- threads ---- */

static void *work(void *argument)
{
    seed = 77 + *(unsigned *)argument;
    cusparseHandle_t handle;
    cudaStream_t stream;
    RT(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    OK(cusparseCreate(&handle));
    OK(cusparseSetStream(handle, stream));
    for (int i = 0; i < 12; i++) {
        test_spmv(handle, types[draw(4)], CUSPARSE_FORMAT_CSR, (cusparseOperation_t)draw(3), draw(2), (int)draw(2),
                  true);
        test_spmm(handle, types[draw(4)], CUSPARSE_FORMAT_COO, (cusparseOperation_t)draw(3), 0, CUSPARSE_ORDER_ROW,
                  CUSPARSE_ORDER_COL);
        test_spgemm(handle, types[draw(4)], draw(2), (int)draw(2));
        test_solve(handle, types[draw(4)], CUSPARSE_FORMAT_COO, (cusparseOperation_t)draw(3), draw(2), draw(2));
    }
    OK(cusparseDestroy(handle));
    RT(cudaStreamDestroy(stream));
    return NULL;
}

int main(void)
{
    static const cusparseFormat_t formats[] = {CUSPARSE_FORMAT_CSR, CUSPARSE_FORMAT_CSC, CUSPARSE_FORMAT_COO};
    static const cusparseOrder_t orders[] = {CUSPARSE_ORDER_COL, CUSPARSE_ORDER_ROW};
    cusparseHandle_t handle;
    OK(cusparseCreate(&handle));
    for (int t = 0; t < 4; t++) {
        for (int f = 0; f < 3; f++)
            for (int op = 0; op < 3; op++) {
                test_spmv(handle, types[t], formats[f], (cusparseOperation_t)op, false, 0, true);
                test_spmv(handle, types[t], formats[f], (cusparseOperation_t)op, true, 1, false);
                test_spmm(handle, types[t], formats[f], (cusparseOperation_t)op, (cusparseOperation_t)draw(3),
                          orders[draw(2)], orders[draw(2)]);
                for (int i = 0; i < 4 && formats[f] != CUSPARSE_FORMAT_CSC; i++)
                    test_solve(handle, types[t], formats[f], (cusparseOperation_t)op, i & 1, i & 2);
            }
        for (int i = 0; i < 9; i++)
            test_sddmm(handle, types[t], (cusparseOperation_t)(i % 3), (cusparseOperation_t)(i / 3), orders[draw(2)]);
        for (int op = 0; op < 3; op++)
            test_spmm_turned(handle, types[t], (cusparseOperation_t)op);
        test_spgemm(handle, types[t], false, 0);
        test_spgemm(handle, types[t], true, 1);
    }
    for (int i = 0; i < 2; i++) { /* what a table held is gone the second time */
        test_spgemm_far(handle, 1000000);
        test_spgemm_far(handle, 20000000);
    }
    test_spgemm_of_too_many(handle);
    test_unordered_to_dense(handle);
    pthread_t threads[4];
    unsigned which[4] = {0, 1, 2, 3};
    for (int i = 0; i < 4; i++)
        CHECK(pthread_create(&threads[i], NULL, work, &which[i]) == 0);
    for (int i = 0; i < 4; i++)
        CHECK(pthread_join(threads[i], NULL) == 0);
    OK(cusparseDestroy(handle));
    return 0;
}
