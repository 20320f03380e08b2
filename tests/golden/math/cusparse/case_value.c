/* SPDX-License-Identifier: Apache-2.0 */
/* Results of the generic interface, for each format, type and way to call it. A case is a row: a function, a type and
 * options; its answer is a status for each step and a hash of what the function leaves. */
#include "sp.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct options {
    char type;
    int format, op, one, two, three; /* what the last ones mean depends on the function */
};

static const cusparseOperation_t ops[] = {CUSPARSE_OPERATION_NON_TRANSPOSE, CUSPARSE_OPERATION_TRANSPOSE,
                                          CUSPARSE_OPERATION_CONJUGATE_TRANSPOSE};
static const cusparseFormat_t formats[] = {CUSPARSE_FORMAT_CSR,
                                           CUSPARSE_FORMAT_CSC,
                                           CUSPARSE_FORMAT_COO,
                                           CUSPARSE_FORMAT_BSR,
                                           CUSPARSE_FORMAT_SLICED_ELLPACK,
                                           CUSPARSE_FORMAT_BLOCKED_ELL};
static const char *const format_names[] = {"csr", "csc", "coo", "bsr", "sell", "bell"};
static const cusparseOrder_t orders[] = {CUSPARSE_ORDER_COL, CUSPARSE_ORDER_ROW};

/* What a type's products are computed in. */
static cudaDataType compute_of(const struct sp *s)
{
    return s->type == 'H' || s->type == 'B' ? CUDA_R_32F : s->type == 'I' ? CUDA_R_32I : s->data;
}

/* A buffer of what was asked for, if that was answered. */
static void *buffer_of(cusparseStatus_t status, size_t bytes)
{
    if (status != CUSPARSE_STATUS_SUCCESS)
        sp(status);
    return sp_room(bytes + 1);
}

/* ---- one and two: indices of 64 bits, base 1 ---- */

static void spmv(const struct gold_case *self)
{
    const struct options *o = self->data;
    struct sp s = sp_begin_with(o->type, o->one, o->two);
    cusparseSpMatDescr_t a = sp_matrix(&s, GENERAL, formats[o->format]);
    int64_t nx = o->op ? 6 : 4, ny = o->op ? 4 : 6;
    void *y = sp_numbers(&s, 6, 2);
    char result = o->type;
    cusparseDnVecDescr_t x = sp_vector(&s, nx, sp_numbers(&s, 6, 1)), to;
    if (o->type == 'I') {
        y = sp_room(64);
        SP_NEED(cusparseCreateDnVec(&to, ny, y, CUDA_R_32I));
    } else
        to = sp_vector(&s, ny, y);
    const void *alpha = sp_scalar(&s, 2), *beta = sp_scalar(&s, 3);
    size_t bytes = 0;
    void *buffer = buffer_of(cusparseSpMV_bufferSize(s.h, ops[o->op], alpha, a, x, beta, to, compute_of(&s),
                                                     CUSPARSE_SPMV_ALG_DEFAULT, &bytes),
                             bytes);
    buffer = sp_room(bytes + 1);
    sp(cusparseSpMV(s.h, ops[o->op], alpha, a, x, beta, to, compute_of(&s), CUSPARSE_SPMV_ALG_DEFAULT, buffer));
    if (o->type == 'I')
        sp_say_ints(y, (size_t)ny);
    else
        sp_say_as(result, y, (size_t)ny);
}

/* one, two: the orders of B and C; three: op(B) */
static void spmm(const struct gold_case *self)
{
    const struct options *o = self->data;
    struct sp s = sp_begin(o->type);
    cusparseSpMatDescr_t a = sp_matrix(&s, GENERAL, formats[o->format]);
    int64_t inner = o->op ? 6 : 4, rows = o->op ? 4 : 6, n = 5;
    void *to = sp_numbers(&s, 30, 2);
    cusparseDnMatDescr_t b =
        sp_dense(&s, o->three ? n : inner, o->three ? inner : n, sp_numbers(&s, 30, 1), orders[o->one]);
    cusparseDnMatDescr_t c = sp_dense(&s, rows, n, to, orders[o->two]);
    const void *alpha = sp_scalar(&s, 2), *beta = sp_scalar(&s, 3);
    size_t bytes = 0;
    cusparseStatus_t status = cusparseSpMM_bufferSize(s.h, ops[o->op], ops[o->three], alpha, a, b, beta, c,
                                                      compute_of(&s), CUSPARSE_SPMM_ALG_DEFAULT, &bytes);
    void *buffer = buffer_of(status, bytes);
    sp(cusparseSpMM(s.h, ops[o->op], ops[o->three], alpha, a, b, beta, c, compute_of(&s), CUSPARSE_SPMM_ALG_DEFAULT,
                    buffer));
    sp_say(&s, to, (size_t)(rows * n));
}

/* one: upper; two: unit diagonal */
static cusparseSpMatDescr_t triangle(const struct sp *s, const struct options *o)
{
    cusparseSpMatDescr_t a = sp_matrix(s, SQUARE, formats[o->format]);
    cusparseFillMode_t fill = o->one ? CUSPARSE_FILL_MODE_UPPER : CUSPARSE_FILL_MODE_LOWER;
    cusparseDiagType_t diag = o->two ? CUSPARSE_DIAG_TYPE_UNIT : CUSPARSE_DIAG_TYPE_NON_UNIT;
    SP_NEED(cusparseSpMatSetAttribute(a, CUSPARSE_SPMAT_FILL_MODE, &fill, sizeof fill));
    SP_NEED(cusparseSpMatSetAttribute(a, CUSPARSE_SPMAT_DIAG_TYPE, &diag, sizeof diag));
    return a;
}

static void spsv(const struct gold_case *self)
{
    const struct options *o = self->data;
    struct sp s = sp_begin(o->type);
    cusparseSpMatDescr_t a = triangle(&s, o);
    void *to = sp_numbers(&s, 4, 0);
    cusparseDnVecDescr_t x = sp_vector(&s, 4, sp_numbers(&s, 4, 1)), y = sp_vector(&s, 4, to);
    const void *alpha = sp_scalar(&s, 2);
    cusparseSpSVDescr_t plan;
    size_t bytes = 0;
    SP_NEED(cusparseSpSV_createDescr(&plan));
    void *buffer = buffer_of(
        cusparseSpSV_bufferSize(s.h, ops[o->op], alpha, a, x, y, s.data, CUSPARSE_SPSV_ALG_DEFAULT, plan, &bytes),
        bytes);
    buffer = sp_room(bytes + 1);
    sp(cusparseSpSV_analysis(s.h, ops[o->op], alpha, a, x, y, s.data, CUSPARSE_SPSV_ALG_DEFAULT, plan, buffer));
    sp(cusparseSpSV_solve(s.h, ops[o->op], alpha, a, x, y, s.data, CUSPARSE_SPSV_ALG_DEFAULT, plan));
    sp_say(&s, to, 4);
}

static void spsm(const struct gold_case *self)
{
    const struct options *o = self->data;
    struct sp s = sp_begin(o->type);
    cusparseSpMatDescr_t a = triangle(&s, o);
    void *to = sp_numbers(&s, 12, 0);
    cusparseOrder_t order = orders[o->three & 1];
    cusparseOperation_t op = ops[o->three >> 1];
    cusparseDnMatDescr_t b = sp_dense(&s, op ? 3 : 4, op ? 4 : 3, sp_numbers(&s, 12, 1), order),
                         c = sp_dense(&s, 4, 3, to, order);
    const void *alpha = sp_scalar(&s, 2);
    cusparseSpSMDescr_t plan;
    size_t bytes = 0;
    SP_NEED(cusparseSpSM_createDescr(&plan));
    cusparseStatus_t status =
        cusparseSpSM_bufferSize(s.h, ops[o->op], op, alpha, a, b, c, s.data, CUSPARSE_SPSM_ALG_DEFAULT, plan, &bytes);
    void *buffer = buffer_of(status, bytes);
    sp(cusparseSpSM_analysis(s.h, ops[o->op], op, alpha, a, b, c, s.data, CUSPARSE_SPSM_ALG_DEFAULT, plan, buffer));
    sp(cusparseSpSM_solve(s.h, ops[o->op], op, alpha, a, b, c, s.data, CUSPARSE_SPSM_ALG_DEFAULT, plan));
    sp_say(&s, to, 12);
}

/* one, two: the orders of A and B; three: op(B) */
static void sddmm(const struct gold_case *self)
{
    const struct options *o = self->data;
    struct sp s = sp_begin(o->type);
    cusparseSpMatDescr_t c = sp_matrix(&s, GENERAL, formats[o->format]);
    int64_t k = 3;
    cusparseDnMatDescr_t a = sp_dense(&s, o->op ? k : 6, o->op ? 6 : k, sp_numbers(&s, 18, 1), orders[o->one]);
    cusparseDnMatDescr_t b = sp_dense(&s, o->three ? 4 : k, o->three ? k : 4, sp_numbers(&s, 12, 2), orders[o->two]);
    const void *alpha = sp_scalar(&s, 2), *beta = sp_scalar(&s, 3);
    size_t bytes = 0;
    void *values = NULL;
    int64_t rows, cols, nnz;
    cusparseStatus_t status = cusparseSDDMM_bufferSize(s.h, ops[o->op], ops[o->three], alpha, a, b, beta, c,
                                                       compute_of(&s), CUSPARSE_SDDMM_ALG_DEFAULT, &bytes);
    void *buffer = buffer_of(status, bytes);
    sp(cusparseSDDMM_preprocess(s.h, ops[o->op], ops[o->three], alpha, a, b, beta, c, compute_of(&s),
                                CUSPARSE_SDDMM_ALG_DEFAULT, buffer));
    sp(cusparseSDDMM(s.h, ops[o->op], ops[o->three], alpha, a, b, beta, c, compute_of(&s), CUSPARSE_SDDMM_ALG_DEFAULT,
                     buffer));
    SP_NEED(cusparseSpMatGetValues(c, &values));
    SP_NEED(cusparseSpMatGetSize(c, &rows, &cols, &nnz));
    say_int(nnz);
    sp_say(&s, values, (size_t)(formats[o->format] == CUSPARSE_FORMAT_BSR ? 4 * nnz : nnz));
}

/* one: dense matrix by rows */
static void to_dense(const struct gold_case *self)
{
    const struct options *o = self->data;
    struct sp s = sp_begin_with(o->type, o->two, o->three);
    void *to = sp_numbers(&s, 24, 0);
    cusparseSpMatDescr_t a = sp_matrix(&s, GENERAL, formats[o->format]);
    cusparseDnMatDescr_t b = sp_dense(&s, 6, 4, to, orders[o->one]);
    size_t bytes = 0;
    void *buffer =
        buffer_of(cusparseSparseToDense_bufferSize(s.h, a, b, CUSPARSE_SPARSETODENSE_ALG_DEFAULT, &bytes), bytes);
    buffer = sp_room(bytes + 1);
    sp(cusparseSparseToDense(s.h, a, b, CUSPARSE_SPARSETODENSE_ALG_DEFAULT, buffer));
    sp_say(&s, to, 24);
}

/* COO whose entries are in no order: hardware makes it dense rightly. (Its products of such matrices are wrong.) */
static cusparseSpMatDescr_t unordered(const struct sp *s)
{
    static const int rows[] = {2, 0, 1, 0, 2, 1, 3}, columns[] = {0, 0, 2, 1, 2, 0, 1},
                     values[] = {5, 1, 4, 2, 6, 3, 7};
    cusparseSpMatDescr_t a;
    SP_NEED(cusparseCreateCoo(&a, 4, 3, 7, sp_indices(s, rows, 7), sp_indices(s, columns, 7), sp_elements(s, values, 7),
                              s->index, s->from, s->data));
    return a;
}

CASE(sparse_value, unordered_coo_to_dense)
{
    for (int i = 0; i < 4; i++) {
        struct sp s = sp_begin("SDCZ"[i]);
        void *to = sp_numbers(&s, 12, 0);
        size_t bytes = 0;
        cusparseSpMatDescr_t a = unordered(&s);
        cusparseDnMatDescr_t b = sp_dense(&s, 4, 3, to, orders[i & 1]);
        SP_NEED(cusparseSparseToDense_bufferSize(s.h, a, b, CUSPARSE_SPARSETODENSE_ALG_DEFAULT, &bytes));
        sp(cusparseSparseToDense(s.h, a, b, CUSPARSE_SPARSETODENSE_ALG_DEFAULT, sp_room(bytes + 1)));
        sp_say(&s, to, 12);
    }
}

static void from_dense(const struct gold_case *self)
{
    const struct options *o = self->data;
    struct sp s = sp_begin_with(o->type, o->two, o->three);
    int dense[24];
    for (int i = 0; i < 24; i++)
        dense[i] = o->one ? sp_general[i / 4][i % 4] : sp_general[i % 6][i / 6];
    cusparseDnMatDescr_t a = sp_dense(&s, 6, 4, sp_elements(&s, dense, 24), orders[o->one]);
    void *offsets = sp_room(64 * 8), *indices = sp_room(64 * 8), *values = sp_room(64 * 16), *buffer;
    cusparseSpMatDescr_t b = NULL;
    cusparseFormat_t format = formats[o->format];
    if (format == CUSPARSE_FORMAT_CSR)
        SP_NEED(cusparseCreateCsr(&b, 6, 4, 0, offsets, NULL, NULL, s.index, s.index, s.from, s.data));
    else if (format == CUSPARSE_FORMAT_CSC)
        SP_NEED(cusparseCreateCsc(&b, 6, 4, 0, offsets, NULL, NULL, s.index, s.index, s.from, s.data));
    else if (format == CUSPARSE_FORMAT_COO)
        SP_NEED(cusparseCreateCoo(&b, 6, 4, 0, NULL, NULL, NULL, s.index, s.from, s.data));
    else
        b = sp_matrix(&s, GENERAL, format);
    size_t bytes = 0;
    int64_t rows, cols, nnz = 0;
    sp(cusparseDenseToSparse_bufferSize(s.h, a, b, CUSPARSE_DENSETOSPARSE_ALG_DEFAULT, &bytes));
    buffer = sp_room(bytes + 1);
    sp(cusparseDenseToSparse_analysis(s.h, a, b, CUSPARSE_DENSETOSPARSE_ALG_DEFAULT, buffer));
    SP_NEED(cusparseSpMatGetSize(b, &rows, &cols, &nnz));
    say_int(nnz);
    if (format == CUSPARSE_FORMAT_CSR)
        sp(cusparseCsrSetPointers(b, offsets, indices, values));
    else if (format == CUSPARSE_FORMAT_CSC)
        sp(cusparseCscSetPointers(b, offsets, indices, values));
    else if (format == CUSPARSE_FORMAT_COO)
        sp(cusparseCooSetPointers(b, offsets, indices, values));
    else {
        sp(cusparseSpMatGetValues(b, &values));
        RT_NEED(cudaMemset(values, 0, 16));
    }
    sp(cusparseDenseToSparse_convert(s.h, a, b, CUSPARSE_DENSETOSPARSE_ALG_DEFAULT, buffer));
    if (format <= CUSPARSE_FORMAT_COO) {
        sp_say_indices(&s, offsets,
                       format == CUSPARSE_FORMAT_CSR   ? 7
                       : format == CUSPARSE_FORMAT_CSC ? 5
                                                       : (size_t)nnz);
        sp_say_indices(&s, indices, (size_t)nnz);
    }
    sp_say(&s, values, format == CUSPARSE_FORMAT_BSR ? (size_t)nnz * 4 : (size_t)nnz);
}

/* one, two: indices of 64 bits, base 1 */
static void vectors(const struct gold_case *self)
{
    const struct options *o = self->data;
    struct sp s = sp_begin_with(o->type, o->one, o->two);
    int places[4] = {1, 3, 4, 7};
    void *xv = sp_numbers(&s, 4, 1), *yv = sp_numbers(&s, 9, 2), *result = sp_room(16), *buffer;
    cusparseSpVecDescr_t x;
    cusparseDnVecDescr_t y = sp_vector(&s, 9, yv);
    SP_NEED(cusparseCreateSpVec(&x, 9, 4, sp_indices(&s, places, 4), xv, s.index, s.from, s.data));
    const void *two = sp_scalar(&s, 2), *three = sp_scalar(&s, 3);
    size_t bytes = 0;
    for (int op = 0; op < 3; op++) {
        double host[2] = {0, 0};
        sp(cusparseSpVV_bufferSize(s.h, ops[op], x, y, host, compute_of(&s), &bytes));
        buffer = sp_room(bytes + 1);
        sp(cusparseSpVV(s.h, ops[op], x, y, host, compute_of(&s), buffer));
        RT_NEED(cudaMemcpy(result, host, 16, cudaMemcpyHostToDevice));
        if (o->type == 'I')
            say_int(*(int *)(void *)host);
        else
            sp_say_as(o->type == 'H' || o->type == 'B' ? 'S' : o->type, result, 1);
    }
    sp(cusparseAxpby(s.h, two, x, three, y));
    sp_say(&s, yv, 9);
    sp(cusparseScatter(s.h, x, y));
    sp_say(&s, yv, 9);
    sp(cusparseRot(s.h, two, three, x, y));
    sp_say(&s, xv, 4);
    sp_say(&s, yv, 9);
    sp(cusparseGather(s.h, y, x));
    sp_say(&s, xv, 4);
}

/* one: algorithm; two: A times A^T's sizes (6 x 4 times 4 x 4) or squares; three: beta */
static void spgemm(const struct gold_case *self)
{
    const struct options *o = self->data;
    static const cusparseSpGEMMAlg_t algs[] = {CUSPARSE_SPGEMM_DEFAULT, CUSPARSE_SPGEMM_ALG1, CUSPARSE_SPGEMM_ALG2,
                                               CUSPARSE_SPGEMM_ALG3};
    struct sp s = sp_begin_with(o->type, false, o->two);
    cusparseSpMatDescr_t a = sp_matrix(&s, GENERAL, formats[o->format]), b = sp_matrix(&s, SQUARE, formats[o->format]),
                         c;
    void *offsets = sp_room(64 * 8), *indices = sp_room(64 * 8), *values = sp_room(64 * 16), *first, *second;
    const void *alpha = sp_scalar(&s, 2), *beta = sp_scalar(&s, 0);
    cusparseSpGEMMAlg_t alg = algs[o->one];
    size_t bytes = 0, more = 0;
    int64_t rows, cols, nnz = -1, products = -1;
    cusparseSpGEMMDescr_t plan;
    SP_NEED(cusparseSpGEMM_createDescr(&plan));
    if (o->format == 0)
        SP_NEED(cusparseCreateCsr(&c, 6, 4, 0, offsets, NULL, NULL, s.index, s.index, s.from, s.data));
    else
        SP_NEED(cusparseCreateCsc(&c, 6, 4, 0, offsets, NULL, NULL, s.index, s.index, s.from, s.data));
    sp(cusparseSpGEMM_workEstimation(s.h, ops[o->op], ops[0], alpha, a, b, beta, c, s.data, alg, plan, &bytes, NULL));
    first = sp_room(bytes + 1);
    sp(cusparseSpGEMM_workEstimation(s.h, ops[o->op], ops[0], alpha, a, b, beta, c, s.data, alg, plan, &bytes, first));
    sp(cusparseSpGEMM_getNumProducts(plan, &products));
    say_int(products);
    if (o->one >= 2) {
        size_t third = 0;
        sp(cusparseSpGEMM_estimateMemory(s.h, ops[o->op], ops[0], alpha, a, b, beta, c, s.data, alg, plan, 0.5f, &third,
                                         NULL, NULL));
        sp(cusparseSpGEMM_estimateMemory(s.h, ops[o->op], ops[0], alpha, a, b, beta, c, s.data, alg, plan, 0.5f, &third,
                                         sp_room(third + 1), &more));
    } else
        sp(cusparseSpGEMM_compute(s.h, ops[o->op], ops[0], alpha, a, b, beta, c, s.data, alg, plan, &more, NULL));
    second = sp_room(more + 1);
    sp(cusparseSpGEMM_compute(s.h, ops[o->op], ops[0], alpha, a, b, beta, c, s.data, alg, plan, &more, second));
    SP_NEED(cusparseSpMatGetSize(c, &rows, &cols, &nnz));
    say_int(nnz);
    sp(cusparseCsrSetPointers(c, offsets, indices, values));
    sp(cusparseSpGEMM_copy(s.h, ops[o->op], ops[0], alpha, a, b, beta, c, s.data, alg, plan));
    sp_say_indices(&s, offsets, 7);
    sp_say_indices(&s, indices, nnz > 0 ? (size_t)nnz : 0);
    sp_say(&s, values, nnz > 0 ? (size_t)nnz : 0);
}

static void reuse(const struct gold_case *self)
{
    const struct options *o = self->data;
    struct sp s = sp_begin_with(o->type, false, o->two);
    cusparseSpMatDescr_t a = sp_matrix(&s, GENERAL, formats[0]), b = sp_matrix(&s, SQUARE, formats[0]), c;
    void *offsets = sp_room(64 * 8), *indices = sp_room(64 * 8), *values = sp_room(64 * 16), *buffers[6];
    cusparseSpGEMMAlg_t alg = CUSPARSE_SPGEMM_DEFAULT;
    size_t bytes[6] = {0};
    int64_t rows, cols, nnz = -1;
    cusparseSpGEMMDescr_t plan;
    SP_NEED(cusparseSpGEMM_createDescr(&plan));
    SP_NEED(cusparseCreateCsr(&c, 6, 4, 0, offsets, NULL, NULL, s.index, s.index, s.from, s.data));
    sp(cusparseSpGEMMreuse_workEstimation(s.h, ops[0], ops[0], a, b, c, alg, plan, &bytes[1], NULL));
    buffers[1] = sp_room(bytes[1] + 1);
    sp(cusparseSpGEMMreuse_workEstimation(s.h, ops[0], ops[0], a, b, c, alg, plan, &bytes[1], buffers[1]));
    sp(cusparseSpGEMMreuse_nnz(s.h, ops[0], ops[0], a, b, c, alg, plan, &bytes[2], NULL, &bytes[3], NULL, &bytes[4],
                               NULL));
    for (int i = 2; i < 5; i++)
        buffers[i] = sp_room(bytes[i] + 1);
    sp(cusparseSpGEMMreuse_nnz(s.h, ops[0], ops[0], a, b, c, alg, plan, &bytes[2], buffers[2], &bytes[3], buffers[3],
                               &bytes[4], buffers[4]));
    SP_NEED(cusparseSpMatGetSize(c, &rows, &cols, &nnz));
    say_int(nnz);
    sp(cusparseCsrSetPointers(c, offsets, indices, values));
    sp(cusparseSpGEMMreuse_copy(s.h, ops[0], ops[0], a, b, c, alg, plan, &bytes[5], NULL));
    buffers[5] = sp_room(bytes[5] + 1);
    sp(cusparseSpGEMMreuse_copy(s.h, ops[0], ops[0], a, b, c, alg, plan, &bytes[5], buffers[5]));
    for (int i = 0; i < 2; i++) {
        const void *alpha = sp_scalar(&s, 2), *beta = sp_scalar(&s, i);
        sp(cusparseSpGEMMreuse_compute(s.h, ops[0], ops[0], alpha, a, b, beta, c, s.data, alg, plan));
        sp_say_indices(&s, offsets, 7);
        sp_say_indices(&s, indices, nnz > 0 ? (size_t)nnz : 0);
        sp_say(&s, values, nnz > 0 ? (size_t)nnz : 0);
    }
}

/* Three members of a batch. one: B is the same for all; two: so is the structure of A */
static void batched(const struct gold_case *self)
{
    const struct options *o = self->data;
    struct sp s = sp_begin(o->type);
    int offsets[14], columns[12] = {0, 2, 1, 3, 0, 1, 1, 2, 3, 0, 2, 3};
    for (int i = 0; i < 12; i++)
        offsets[i] = i % 4 + (i % 4 == 3);
    void *to = sp_numbers(&s, 36, 2);
    cusparseSpMatDescr_t a = NULL;
    SP_NEED(cusparseCreateCsr(&a, 3, 4, 4, sp_indices(&s, offsets, 12), sp_indices(&s, columns, 12),
                              sp_numbers(&s, 12, 1), s.index, s.index, s.from, s.data));
    cusparseDnMatDescr_t b = sp_dense(&s, 4, 4, sp_numbers(&s, 48, 1), CUSPARSE_ORDER_COL);
    cusparseDnMatDescr_t c = sp_dense(&s, 3, 4, to, CUSPARSE_ORDER_COL);
    sp(cusparseCsrSetStridedBatch(a, 3, o->two ? 0 : 4, o->two ? 0 : 4));
    sp(cusparseDnMatSetStridedBatch(b, 3, o->one ? 0 : 16));
    sp(cusparseDnMatSetStridedBatch(c, 3, 12));
    const void *alpha = sp_scalar(&s, 2), *beta = sp_scalar(&s, 3);
    size_t bytes = 0;
    cusparseStatus_t status = cusparseSpMM_bufferSize(s.h, ops[0], ops[0], alpha, a, b, beta, c, compute_of(&s),
                                                      CUSPARSE_SPMM_CSR_ALG2, &bytes);
    void *buffer = buffer_of(status, bytes);
    sp(cusparseSpMM(s.h, ops[0], ops[0], alpha, a, b, beta, c, compute_of(&s), CUSPARSE_SPMM_CSR_ALG2, buffer));
    sp_say(&s, to, 36);
}

/* ---- rows ---- */

static void add(const char *name, void (*run)(const struct gold_case *), struct options options)
{
    static char letters[] = {'n', 't', 'c'};
    struct options *kept = malloc(sizeof *kept);
    struct gold_case *made = calloc(1, sizeof *made);
    char *text = malloc(80);
    if (!kept || !made || !text)
        abort();
    *kept = options;
    snprintf(text, 80, "sparse_value.%s_%c_%s_%c_%d%d%d", name, options.type, format_names[options.format],
             letters[options.op], options.one, options.two, options.three);
    made->name = text;
    made->run = run;
    made->data = kept;
    gold_register(made);
}

__attribute__((constructor)) static void add_all(void)
{
    static const char types[] = "SDCZ";
    for (int format = 0; format < 6; format++)
        for (int op = 0; op < 3; op++)
            for (const char *t = types; *t; t++) {
                if (op == 2 && (*t == 'S' || *t == 'D'))
                    continue;
                add("spmv", spmv, (struct options){*t, format, op, 0, 0, 0});
                if (*t == 'D' || *t == 'C')
                    for (int i = 0; i < 6; i++)
                        if (i == 0 || format == 0)
                            add("spmm", spmm, (struct options){*t, format, op, i & 1, i == 2 || i >= 4, i >= 3});
                if (*t == 'S' || *t == 'Z') {
                    for (int i = 0; i < 4; i++) {
                        add("spsv", spsv, (struct options){*t, format, op, i & 1, i >> 1, 0});
                        if (format != 4) /* NVIDIA's library crashes */
                            add("spsm", spsm, (struct options){*t, format, op, i & 1, i >> 1, i});
                    }
                }
                add("sddmm", sddmm, (struct options){*t, format, op, 0, 1, 0});
            }
    for (const char *t = "HBI"; *t; t++) {
        add("spmv", spmv, (struct options){*t, 0, 0, 0, 0, 0});
        add("spmm", spmm, (struct options){*t, 0, 0, 0, 0, 0});
        add("vectors", vectors, (struct options){*t, 0, 0, 0, 0, 0});
    }
    for (int format = 0; format < 6; format++) {
        add("spmv", spmv, (struct options){'D', format, 0, 1, 0, 0});
        add("spmv", spmv, (struct options){'D', format, 1, 0, 1, 0});
        for (int i = 0; i < 4; i++) {
            add("to_dense", to_dense, (struct options){types[i], format, 0, i & 1, i >> 1, i == 2});
            add("from_dense", from_dense, (struct options){types[i], format, 0, i & 1, i >> 1, i == 2});
        }
    }
    for (int i = 0; i < 4; i++) {
        add("sddmm", sddmm, (struct options){'S', 0, i & 1, i >> 1, 0, i & 1});
        add("vectors", vectors, (struct options){types[i], 0, 0, i & 1, i >> 1, 0});
        add("batched", batched, (struct options){types[i], 0, 0, i & 1, i >> 1, 0});
        add("sddmm", sddmm, (struct options){'S', 3, 0, i & 1, i >> 1, 1});
        if (i != 2)
            add("sddmm", sddmm, (struct options){'D', 3, 0, i & 1, i >> 1, 0});
        add("spgemm", spgemm, (struct options){types[i], 0, 0, i, i & 1, 0});
        add("reuse", reuse, (struct options){types[i], 0, 0, 0, i & 1, 0});
    }
    add("spgemm", spgemm, (struct options){'D', 0, 1, 0, 0, 0});
    add("spgemm", spgemm, (struct options){'D', 1, 0, 0, 0, 0});
}
