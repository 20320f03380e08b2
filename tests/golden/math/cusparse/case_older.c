/* SPDX-License-Identifier: Apache-2.0 */
/* Results of the older interface. A case is a row: a function, a type and an option; its answer is a status for each
 * step and what the function leaves. */
#include "sp.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct options {
    char type;
    int one, two;
};

#define N CUSPARSE_OPERATION_NON_TRANSPOSE
static const cusparseOperation_t ops[] = {CUSPARSE_OPERATION_NON_TRANSPOSE, CUSPARSE_OPERATION_TRANSPOSE,
                                          CUSPARSE_OPERATION_CONJUGATE_TRANSPOSE};

/* ---- conversions and sorting ---- */

static void pointers(const struct gold_case *self)
{
    const struct options *o = self->data;
    struct sp s = sp_begin_with(o->type, false, o->one);
    struct sp_csr a = sp_csr(&s, GENERAL);
    int *rows = sp_room(256), *offsets = sp_room(256);
    sp(cusparseXcsr2coo(s.h, a.offsets, a.nnz, a.rows, rows, s.from));
    sp_say_indices(&s, rows, (size_t)a.nnz);
    sp(cusparseXcoo2csr(s.h, rows, a.nnz, a.rows, offsets, s.from));
    sp_say_indices(&s, offsets, (size_t)a.rows + 1);
    sp(cusparseCreateIdentityPermutation(s.h, 5, rows));
    sp_say_ints(rows, 5);
}

/* one: base; two: what is sorted */
static void sorting(const struct gold_case *self)
{
    const struct options *o = self->data;
    struct sp s = sp_begin_with(o->type, false, o->one);
    int rows[9] = {3, 0, 2, 0, 3, 1, 0, 2, 3}, cols[9] = {1, 2, 0, 0, 3, 1, 1, 2, 0}, offsets[5] = {0, 3, 4, 6, 9};
    int across[9] = {2, 0, 1, 1, 2, 0, 3, 1, 0};
    int *r = sp_indices(&s, rows, 9), *c = sp_indices(&s, cols, 9), *at = sp_indices(&s, offsets, 5),
        *x = sp_indices(&s, across, 9);
    int *p = sp_room(256);
    size_t bytes = 0;
    SP_NEED(cusparseCreateIdentityPermutation(s.h, 9, p));
    if (o->two < 2) {
        sp(cusparseXcoosort_bufferSizeExt(s.h, 4, 4, 9, r, c, &bytes));
        void *buffer = sp_room(bytes + 1);
        sp(o->two ? cusparseXcoosortByColumn(s.h, 4, 4, 9, r, c, p, buffer)
                  : cusparseXcoosortByRow(s.h, 4, 4, 9, r, c, p, buffer));
        sp_say_indices(&s, r, 9);
        sp_say_indices(&s, c, 9);
    } else {
        cusparseMatDescr_t m = sp_older(&s);
        sp(o->two == 2 ? cusparseXcsrsort_bufferSizeExt(s.h, 4, 4, 9, at, x, &bytes)
                       : cusparseXcscsort_bufferSizeExt(s.h, 4, 4, 9, at, x, &bytes));
        void *buffer = sp_room(bytes + 1);
        sp(o->two == 2 ? cusparseXcsrsort(s.h, 4, 4, 9, m, at, x, p, buffer)
                       : cusparseXcscsort(s.h, 4, 4, 9, m, at, x, p, buffer));
        sp_say_indices(&s, x, 9);
    }
    sp_say_ints(p, 9);
}

/* one: base; two: structure alone */
static void csr2csc(const struct gold_case *self)
{
    const struct options *o = self->data;
    struct sp s = sp_begin_with(o->type, false, o->one);
    struct sp_csr a = sp_csr(&s, GENERAL);
    int *offsets = sp_room(256), *rows = sp_room(256);
    void *values = sp_room(512);
    size_t bytes = 0;
    cusparseAction_t action = o->two ? CUSPARSE_ACTION_SYMBOLIC : CUSPARSE_ACTION_NUMERIC;
    sp(cusparseCsr2cscEx2_bufferSize(s.h, a.rows, a.cols, a.nnz, a.values, a.offsets, a.columns, values, offsets, rows,
                                     s.data, action, s.from, CUSPARSE_CSR2CSC_ALG1, &bytes));
    sp(cusparseCsr2cscEx2(s.h, a.rows, a.cols, a.nnz, a.values, a.offsets, a.columns, values, offsets, rows, s.data,
                          action, s.from, CUSPARSE_CSR2CSC_ALG1, sp_room(bytes + 1)));
    sp_say_indices(&s, offsets, 5);
    sp_say_indices(&s, rows, (size_t)a.nnz);
    sp_say(&s, values, (size_t)a.nnz);
}

/* one: direction */
static void counting(const struct gold_case *self)
{
    const struct options *o = self->data;
    struct sp s = sp_begin(o->type);
    int dense[24], total = -1;
    for (int i = 0; i < 24; i++)
        dense[i] = sp_general[i % 6][i / 6];
    void *a = sp_elements(&s, dense, 24);
    int *counts = sp_room(256);
    cusparseMatDescr_t m = sp_older(&s);
    sp(SP_CALL(&s, nnz, s.h, o->one ? CUSPARSE_DIRECTION_COLUMN : CUSPARSE_DIRECTION_ROW, 6, 4, m, a, 6, counts,
               &total));
    say_int(total);
    sp_say_ints(counts, o->one ? 4 : 6);
}

/* ---- sums ---- */

/* one: base of C; two: pointer mode of the device */
static void geam(const struct gold_case *self)
{
    const struct options *o = self->data;
    struct sp s = sp_begin(o->type), other = sp_begin_with(o->type, false, o->one);
    struct sp_csr a = sp_csr(&s, GENERAL), b = sp_csr(&s, GENERAL);
    int places[7] = {0, 1, 2, 3, 5, 6, 8}, columns[8] = {1, 0, 1, 1, 3, 0, 0, 1}, nnz = -1;
    int *offsets = sp_indices(&s, places, 7), *across = sp_indices(&s, columns, 8), *to = sp_room(256),
        *index = sp_room(256);
    void *values = sp_numbers(&s, 8, 3), *result = sp_room(1024);
    cusparseMatDescr_t m = sp_older(&s), c = sp_older(&other);
    const void *alpha = sp_scalar(&s, 2), *beta = sp_scalar(&s, 3);
    size_t bytes = 0;
    (void)b;
    sp(SP_CALL(&s, csrgeam2_bufferSizeExt, s.h, 6, 4, alpha, m, a.nnz, a.values, a.offsets, a.columns, beta, m, 8,
               values, offsets, across, c, result, to, index, &bytes));
    void *buffer = sp_room(bytes + 1);
    sp(cusparseXcsrgeam2Nnz(s.h, 6, 4, m, a.nnz, a.offsets, a.columns, m, 8, offsets, across, c, to, &nnz, buffer));
    say_int(nnz);
    sp(SP_CALL(&s, csrgeam2, s.h, 6, 4, alpha, m, a.nnz, a.values, a.offsets, a.columns, beta, m, 8, values, offsets,
               across, c, result, to, index, buffer));
    sp_say_indices(&other, to, 7);
    sp_say_indices(&other, index, (size_t)nnz);
    sp_say(&s, result, (size_t)nnz);
}

/* ---- bands ---- */

/* one: 0 with pivots, 1 without, 2 a strided batch; two: interleaved batch, its algorithm */
static void bands(const struct gold_case *self)
{
    const struct options *o = self->data;
    struct sp s = sp_begin(o->type);
    int lower[8] = {0, 0, 0, 0, 0, 0, 0, 0}, one[8] = {1, -1, 1, 1, -1, 1, -1, 1},
        upper[8] = {2, -1, 3, 0, 2, 1, -3, 0};
    void *dl = sp_elements(&s, lower, 8), *d = sp_elements(&s, one, 8), *du = sp_elements(&s, upper, 8),
         *b = sp_numbers(&s, 16, 1);
    if (o->type == 'C' || o->type == 'Z') /* divisions by whole numbers only */
        d = sp_elements(&s, (int[]){3, -3, 3, 3, -3, 3, -3, 3}, 8);
    size_t bytes = 0;
    if (o->one == 0) {
        sp(SP_CALL(&s, gtsv2_bufferSizeExt, s.h, 8, 2, dl, d, du, b, 8, &bytes));
        sp(SP_CALL(&s, gtsv2, s.h, 8, 2, dl, d, du, b, 8, sp_room(bytes + 1)));
    } else if (o->one == 1) {
        sp(SP_CALL(&s, gtsv2_nopivot_bufferSizeExt, s.h, 8, 2, dl, d, du, b, 8, &bytes));
        sp(SP_CALL(&s, gtsv2_nopivot, s.h, 8, 2, dl, d, du, b, 8, sp_room(bytes + 1)));
    } else {
        sp(SP_CALL(&s, gtsv2StridedBatch_bufferSizeExt, s.h, 4, dl, d, du, b, 2, 4, &bytes));
        sp(SP_CALL(&s, gtsv2StridedBatch, s.h, 4, dl, d, du, b, 2, 4, sp_room(bytes + 1)));
    }
    sp_say(&s, b, 16);
}

static void interleaved(const struct gold_case *self)
{
    const struct options *o = self->data;
    struct sp s = sp_begin(o->type);
    int none[8] = {0}, lower[8] = {0, 0, 1, 2, -1, 0, 2, 1}, one[8] = {1, -1, 1, 1, -1, 1, -1, 1};
    if (o->type == 'C' || o->type == 'Z')
        for (int i = 0; i < 8; i++)
            one[i] *= 3, lower[i] = 0;
    void *ds = sp_elements(&s, none, 8), *dl = sp_elements(&s, lower, 8), *d = sp_elements(&s, one, 8),
         *du = sp_elements(&s, none, 8), *dw = sp_elements(&s, none, 8), *b = sp_numbers(&s, 8, 1);
    size_t bytes = 0;
    if (o->two) {
        sp(SP_CALL(&s, gpsvInterleavedBatch_bufferSizeExt, s.h, 0, 4, ds, dl, d, du, dw, b, 2, &bytes));
        sp(SP_CALL(&s, gpsvInterleavedBatch, s.h, 0, 4, ds, dl, d, du, dw, b, 2, sp_room(bytes + 1)));
    } else {
        sp(SP_CALL(&s, gtsvInterleavedBatch_bufferSizeExt, s.h, o->one, 4, dl, d, du, b, 2, &bytes));
        sp(SP_CALL(&s, gtsvInterleavedBatch, s.h, o->one, 4, dl, d, du, b, 2, sp_room(bytes + 1)));
    }
    sp_say(&s, b, 8);
}

/* ---- incomplete factorisations: one: base; two: a pivot is zero ---- */

static void ilu(const struct gold_case *self)
{
    const struct options *o = self->data;
    struct sp s = sp_begin_with(o->type, false, o->one);
    struct sp_csr a = sp_csr(&s, SQUARE);
    cusparseMatDescr_t m = sp_older(&s);
    csrilu02Info_t info;
    int bytes = 0, pivot = -7;
    if (o->two)
        RT_NEED(cudaMemset(a.values, 0, 16));
    SP_NEED(cusparseCreateCsrilu02Info(&info));
    sp(SP_CALL(&s, csrilu02_bufferSize, s.h, 4, a.nnz, m, a.values, a.offsets, a.columns, info, &bytes));
    void *buffer = sp_room((size_t)bytes + 1);
    sp(SP_CALL(&s, csrilu02_analysis, s.h, 4, a.nnz, m, a.values, a.offsets, a.columns, info,
               CUSPARSE_SOLVE_POLICY_NO_LEVEL, buffer));
    sp(cusparseXcsrilu02_zeroPivot(s.h, info, &pivot));
    say_int(pivot);
    sp(SP_CALL(&s, csrilu02, s.h, 4, a.nnz, m, a.values, a.offsets, a.columns, info, CUSPARSE_SOLVE_POLICY_NO_LEVEL,
               buffer));
    sp(cusparseXcsrilu02_zeroPivot(s.h, info, &pivot));
    say_int(pivot);
    if (!o->two && o->type != 'C' && o->type != 'Z')
        sp_say(&s, a.values, (size_t)a.nnz);
}

static void ic(const struct gold_case *self)
{
    const struct options *o = self->data;
    struct sp s = sp_begin_with(o->type, false, o->one);
    /* L has ones and small numbers: L L^T is known. */
    int offsets[4] = {0, 2, 5, 7}, columns[7] = {0, 1, 0, 1, 2, 1, 2}, values[7] = {4, 6, 6, 10, 3, 3, 13}, bytes = 0,
        pivot = -7;
    if (o->two)
        values[3] = 9;
    void *v = sp_elements(&s, values, 7);
    if (o->type == 'C' || o->type == 'Z') {
        double zero[14] = {0};
        for (int i = 0; i < 7; i++)
            if (o->type == 'C')
                ((float *)zero)[2 * i] = (float)values[i];
            else
                zero[2 * i] = values[i];
        RT_NEED(cudaMemcpy(v, zero, o->type == 'C' ? 56 : 112, cudaMemcpyHostToDevice));
    }
    int *at = sp_indices(&s, offsets, 4), *index = sp_indices(&s, columns, 7);
    cusparseMatDescr_t m = sp_older(&s);
    csric02Info_t info;
    SP_NEED(cusparseCreateCsric02Info(&info));
    sp(SP_CALL(&s, csric02_bufferSize, s.h, 3, 7, m, v, at, index, info, &bytes));
    void *buffer = sp_room((size_t)bytes + 1);
    sp(SP_CALL(&s, csric02_analysis, s.h, 3, 7, m, v, at, index, info, CUSPARSE_SOLVE_POLICY_NO_LEVEL, buffer));
    sp(cusparseXcsric02_zeroPivot(s.h, info, &pivot));
    say_int(pivot);
    sp(SP_CALL(&s, csric02, s.h, 3, 7, m, v, at, index, info, CUSPARSE_SOLVE_POLICY_NO_LEVEL, buffer));
    sp(cusparseXcsric02_zeroPivot(s.h, info, &pivot));
    say_int(pivot);
    if (!o->two)
        sp_say(&s, v, 7);
}

/* The same in blocks of 2 x 2, of a matrix whose blocks are all there. one: by columns; two: Cholesky */
static void block_factor(const struct gold_case *self)
{
    const struct options *o = self->data;
    struct sp s = sp_begin(o->type);
    int offsets[3] = {0, 2, 4}, columns[4] = {0, 1, 0, 1}, values[16], bytes = 0, pivot = -7;
    static const int cholesky[4][4] = {{4, 2, 0, 2}, {2, 5, 4, 1}, {0, 4, 5, 1}, {2, 1, 1, 6}};
    for (int i = 0; i < 16; i++) {
        int row = i / 8 * 2 + (o->one ? i % 2 : i % 4 / 2), column = i / 4 % 2 * 2 + (o->one ? i % 4 / 2 : i % 2);
        values[i] = o->two ? cholesky[row][column] : sp_square[row][column];
    }
    void *v = sp_elements(&s, values, 16), *buffer;
    int *at = sp_indices(&s, offsets, 3), *index = sp_indices(&s, columns, 4);
    cusparseMatDescr_t m = sp_older(&s);
    cusparseDirection_t dir = o->one ? CUSPARSE_DIRECTION_COLUMN : CUSPARSE_DIRECTION_ROW;
    cusparseSolvePolicy_t policy = CUSPARSE_SOLVE_POLICY_NO_LEVEL;
    if (o->two) {
        bsric02Info_t info;
        SP_NEED(cusparseCreateBsric02Info(&info));
        sp(SP_CALL(&s, bsric02_bufferSize, s.h, dir, 2, 4, m, v, at, index, 2, info, &bytes));
        buffer = sp_room((size_t)bytes + 1);
        sp(SP_CALL(&s, bsric02_analysis, s.h, dir, 2, 4, m, v, at, index, 2, info, policy, buffer));
        sp(SP_CALL(&s, bsric02, s.h, dir, 2, 4, m, v, at, index, 2, info, policy, buffer));
        sp(cusparseXbsric02_zeroPivot(s.h, info, &pivot));
    } else {
        bsrilu02Info_t info;
        SP_NEED(cusparseCreateBsrilu02Info(&info));
        sp(SP_CALL(&s, bsrilu02_bufferSize, s.h, dir, 2, 4, m, v, at, index, 2, info, &bytes));
        buffer = sp_room((size_t)bytes + 1);
        sp(SP_CALL(&s, bsrilu02_analysis, s.h, dir, 2, 4, m, v, at, index, 2, info, policy, buffer));
        sp(SP_CALL(&s, bsrilu02, s.h, dir, 2, 4, m, v, at, index, 2, info, policy, buffer));
        sp(cusparseXbsrilu02_zeroPivot(s.h, info, &pivot));
    }
    say_int(pivot);
    sp_say(&s, v, 16);
}

/* Small pivots are replaced: one: base */
static void boost(const struct gold_case *self)
{
    const struct options *o = self->data;
    struct sp s = sp_begin_with(o->type, false, o->one);
    struct sp_csr a = sp_csr(&s, SQUARE);
    cusparseMatDescr_t m = sp_older(&s);
    csrilu02Info_t info;
    int bytes = 0, pivot = -7;
    double tolerance = 0.5, value = 4;
    float narrow = 4;
    RT_NEED(cudaMemset(a.values, 0, o->type == 'S' ? 4 : 8));
    SP_NEED(cusparseCreateCsrilu02Info(&info));
    sp(o->type == 'S' ? cusparseScsrilu02_numericBoost(s.h, info, 1, &tolerance, &narrow)
                      : cusparseDcsrilu02_numericBoost(s.h, info, 1, &tolerance, &value));
    sp(SP_CALL(&s, csrilu02_bufferSize, s.h, 4, a.nnz, m, a.values, a.offsets, a.columns, info, &bytes));
    void *buffer = sp_room((size_t)bytes + 1);
    sp(SP_CALL(&s, csrilu02_analysis, s.h, 4, a.nnz, m, a.values, a.offsets, a.columns, info,
               CUSPARSE_SOLVE_POLICY_NO_LEVEL, buffer));
    sp(SP_CALL(&s, csrilu02, s.h, 4, a.nnz, m, a.values, a.offsets, a.columns, info, CUSPARSE_SOLVE_POLICY_NO_LEVEL,
               buffer));
    sp(cusparseXcsrilu02_zeroPivot(s.h, info, &pivot));
    say_int(pivot);
    sp_say(&s, a.values, (size_t)a.nnz);
}

/* ---- blocks: one: by columns; two: base ---- */

static void blocks(const struct gold_case *self)
{
    const struct options *o = self->data;
    struct sp s = sp_begin_with(o->type, false, o->two);
    struct sp_csr a = sp_csr(&s, GENERAL);
    cusparseDirection_t dir = o->one ? CUSPARSE_DIRECTION_COLUMN : CUSPARSE_DIRECTION_ROW;
    cusparseMatDescr_t m = sp_older(&s);
    int *offsets = sp_room(256), *columns = sp_room(256), *back = sp_room(256), *index = sp_room(256), nnzb = -1;
    void *values = sp_room(1024), *again = sp_room(1024), *y = sp_numbers(&s, 30, 4);
    sp(cusparseXcsr2bsrNnz(s.h, dir, 6, 4, m, a.offsets, a.columns, 2, m, offsets, &nnzb));
    say_int(nnzb);
    sp(SP_CALL(&s, csr2bsr, s.h, dir, 6, 4, m, a.values, a.offsets, a.columns, 2, m, values, offsets, columns));
    sp_say_indices(&s, offsets, 4);
    sp_say_indices(&s, columns, (size_t)nnzb);
    sp_say(&s, values, 4 * (size_t)nnzb);
    sp(SP_CALL(&s, bsr2csr, s.h, dir, 3, 2, m, values, offsets, columns, 2, m, again, back, index));
    sp_say_indices(&s, back, 7);
    sp_say_indices(&s, index, 4 * (size_t)nnzb);
    sp_say(&s, again, 4 * (size_t)nnzb);
    const void *alpha = sp_scalar(&s, 2), *beta = sp_scalar(&s, 3);
    sp(SP_CALL(&s, bsrmv, s.h, dir, N, 3, 2, nnzb, alpha, m, values, offsets, columns, 2, sp_numbers(&s, 6, 2), beta,
               y));
    sp_say(&s, y, 6);
    sp(SP_CALL(&s, bsrmm, s.h, dir, N, N, 3, 5, 2, nnzb, alpha, m, values, offsets, columns, 2, sp_numbers(&s, 20, 2),
               4, beta, y, 6));
    sp_say(&s, y, 30);
    sp(SP_CALL(&s, bsrmm, s.h, dir, N, ops[1], 3, 5, 2, nnzb, alpha, m, values, offsets, columns, 2,
               sp_numbers(&s, 20, 2), 5, beta, y, 6));
    sp_say(&s, y, 30);
}

/* Blocks of 2 x 3 and others. */
static void general_blocks(const struct gold_case *self)
{
    const struct options *o = self->data;
    struct sp s = sp_begin_with(o->type, false, o->two);
    struct sp_csr a = sp_csr(&s, GENERAL);
    cusparseDirection_t dir = o->one ? CUSPARSE_DIRECTION_COLUMN : CUSPARSE_DIRECTION_ROW;
    cusparseMatDescr_t m = sp_older(&s);
    int *offsets = sp_room(256), *columns = sp_room(256), *back = sp_room(256), *index = sp_room(256), nnzb = -1,
        bytes = 0;
    void *values = sp_room(1024), *again = sp_room(1024), *buffer;
    sp(SP_CALL(&s, csr2gebsr_bufferSize, s.h, dir, 6, 4, m, a.values, a.offsets, a.columns, 3, 2, &bytes));
    buffer = sp_room((size_t)bytes + 1);
    sp(cusparseXcsr2gebsrNnz(s.h, dir, 6, 4, m, a.offsets, a.columns, m, offsets, 3, 2, &nnzb, buffer));
    say_int(nnzb);
    sp(SP_CALL(&s, csr2gebsr, s.h, dir, 6, 4, m, a.values, a.offsets, a.columns, m, values, offsets, columns, 3, 2,
               buffer));
    sp_say_indices(&s, offsets, 3);
    sp_say_indices(&s, columns, (size_t)nnzb);
    sp_say(&s, values, 6 * (size_t)nnzb);
    sp(SP_CALL(&s, gebsr2csr, s.h, dir, 2, 2, m, values, offsets, columns, 3, 2, m, again, back, index));
    sp_say_indices(&s, back, 7);
    sp_say_indices(&s, index, 6 * (size_t)nnzb);
    sp_say(&s, again, 6 * (size_t)nnzb);
    sp(SP_CALL(&s, gebsr2gebsc_bufferSize, s.h, 2, 2, nnzb, values, offsets, columns, 3, 2, &bytes));
    buffer = sp_room((size_t)bytes + 1);
    sp(SP_CALL(&s, gebsr2gebsc, s.h, 2, 2, nnzb, values, offsets, columns, 3, 2, again, index, back,
               CUSPARSE_ACTION_NUMERIC, s.from, buffer));
    sp_say_indices(&s, back, 3);
    sp_say_indices(&s, index, (size_t)nnzb);
    sp_say(&s, again, 6 * (size_t)nnzb);
    sp(SP_CALL(&s, gebsr2gebsr_bufferSize, s.h, dir, 2, 2, nnzb, m, values, offsets, columns, 3, 2, 2, 4, &bytes));
    buffer = sp_room((size_t)bytes + 1);
    sp(cusparseXgebsr2gebsrNnz(s.h, dir, 2, 2, nnzb, m, offsets, columns, 3, 2, m, back, 2, 4, &nnzb, buffer));
    say_int(nnzb);
    sp(SP_CALL(&s, gebsr2gebsr, s.h, dir, 2, 2, 4, m, values, offsets, columns, 3, 2, m, again, back, index, 2, 4,
               buffer));
    sp_say_indices(&s, back, 4);
    sp_say_indices(&s, index, (size_t)nnzb);
    sp_say(&s, again, 8 * (size_t)nnzb);
}

/* one: op; two: upper */
static void block_solve(const struct gold_case *self)
{
    const struct options *o = self->data;
    struct sp s = sp_begin(o->type);
    int offsets[3] = {0, 2, 4}, columns[4] = {0, 1, 0, 1}, values[16], bytes = 0, pivot = -7;
    for (int i = 0; i < 16; i++)
        values[i] = sp_square[i / 8 * 2 + i % 4 / 2][i / 4 % 2 * 2 + i % 2];
    void *v = sp_elements(&s, values, 16), *x = sp_room(256), *y = sp_room(512);
    int *at = sp_indices(&s, offsets, 3), *index = sp_indices(&s, columns, 4);
    cusparseMatDescr_t m = sp_older(&s);
    SP_NEED(cusparseSetMatFillMode(m, o->two ? CUSPARSE_FILL_MODE_UPPER : CUSPARSE_FILL_MODE_LOWER));
    SP_NEED(cusparseSetMatDiagType(m, CUSPARSE_DIAG_TYPE_UNIT));
    bsrsv2Info_t info;
    bsrsm2Info_t many;
    const void *alpha = sp_scalar(&s, 2);
    cusparseSolvePolicy_t policy = CUSPARSE_SOLVE_POLICY_USE_LEVEL;
    cusparseDirection_t dir = CUSPARSE_DIRECTION_ROW;
    SP_NEED(cusparseCreateBsrsv2Info(&info));
    SP_NEED(cusparseCreateBsrsm2Info(&many));
    sp(SP_CALL(&s, bsrsv2_bufferSize, s.h, dir, ops[o->one], 2, 4, m, v, at, index, 2, info, &bytes));
    void *buffer = sp_room((size_t)bytes + 1);
    sp(SP_CALL(&s, bsrsv2_analysis, s.h, dir, ops[o->one], 2, 4, m, v, at, index, 2, info, policy, buffer));
    sp(SP_CALL(&s, bsrsv2_solve, s.h, dir, ops[o->one], 2, 4, alpha, m, v, at, index, 2, info, sp_numbers(&s, 4, 1), x,
               policy, buffer));
    sp(cusparseXbsrsv2_zeroPivot(s.h, info, &pivot));
    say_int(pivot);
    sp_say(&s, x, 4);
    sp(SP_CALL(&s, bsrsm2_bufferSize, s.h, dir, ops[o->one], N, 2, 3, 4, m, v, at, index, 2, many, &bytes));
    buffer = sp_room((size_t)bytes + 1);
    sp(SP_CALL(&s, bsrsm2_analysis, s.h, dir, ops[o->one], N, 2, 3, 4, m, v, at, index, 2, many, policy, buffer));
    sp(SP_CALL(&s, bsrsm2_solve, s.h, dir, ops[o->one], N, 2, 3, 4, alpha, m, v, at, index, 2, many,
               sp_numbers(&s, 12, 1), 4, y, 4, policy, buffer));
    sp_say(&s, y, 12);
}

/* ---- the rest ---- */

static void dense_times_sparse(const struct gold_case *self)
{
    const struct options *o = self->data;
    struct sp s = sp_begin_with(o->type, false, o->two);
    int places[2] = {1, 3}, bytes = 0, rows = o->one ? 4 : 6;
    int *index = sp_indices(&s, places, 2);
    void *a = sp_numbers(&s, 24, 1), *x = sp_numbers(&s, 2, 2), *y = sp_numbers(&s, 6, 3);
    const void *alpha = sp_scalar(&s, 2), *beta = sp_scalar(&s, 3);
    sp(SP_CALL(&s, gemvi_bufferSize, s.h, ops[o->one], 6, 4, 2, &bytes));
    sp(SP_CALL(&s, gemvi, s.h, ops[o->one], 6, 4, alpha, a, 6, 2, x, index, beta, y, s.from,
               sp_room((size_t)bytes + 1)));
    sp_say(&s, y, (size_t)rows);
}

static void compressing(const struct gold_case *self)
{
    const struct options *o = self->data;
    struct sp s = sp_begin(o->type);
    struct sp_csr a = sp_csr(&s, GENERAL);
    cusparseMatDescr_t m = sp_older(&s);
    int *counts = sp_room(256), *columns = sp_room(256), *offsets = sp_room(256), nnz = -1;
    void *values = sp_room(512);
    cuComplex c = {1.5f, 0};
    cuDoubleComplex z = {1.5, 0};
    sp(o->type == 'S'   ? cusparseSnnz_compress(s.h, 6, m, a.values, a.offsets, counts, &nnz, 1.5f)
       : o->type == 'D' ? cusparseDnnz_compress(s.h, 6, m, a.values, a.offsets, counts, &nnz, 1.5)
       : o->type == 'C' ? cusparseCnnz_compress(s.h, 6, m, a.values, a.offsets, counts, &nnz, c)
                        : cusparseZnnz_compress(s.h, 6, m, a.values, a.offsets, counts, &nnz, z));
    say_int(nnz);
    sp_say_ints(counts, 6);
    sp(o->type == 'S'   ? cusparseScsr2csr_compress(s.h, 6, 4, m, a.values, a.columns, a.offsets, a.nnz, counts, values,
                                                    columns, offsets, 1.5f)
       : o->type == 'D' ? cusparseDcsr2csr_compress(s.h, 6, 4, m, a.values, a.columns, a.offsets, a.nnz, counts, values,
                                                    columns, offsets, 1.5)
       : o->type == 'C' ? cusparseCcsr2csr_compress(s.h, 6, 4, m, a.values, a.columns, a.offsets, a.nnz, counts, values,
                                                    columns, offsets, c)
                        : cusparseZcsr2csr_compress(s.h, 6, 4, m, a.values, a.columns, a.offsets, a.nnz, counts, values,
                                                    columns, offsets, z));
    sp_say_ints(offsets, 7);
    sp_say_ints(columns, nnz > 0 ? (size_t)nnz : 0);
    sp_say(&s, values, nnz > 0 ? (size_t)nnz : 0);
}

static void pruning(const struct gold_case *self)
{
    const struct options *o = self->data;
    struct sp s = sp_begin('S');
    struct sp_csr a = sp_csr(&s, GENERAL);
    cusparseMatDescr_t m = sp_older(&s);
    int *offsets = sp_room(256), *columns = sp_room(256), nnz = -1;
    void *values = sp_room(512), *dense = sp_numbers(&s, 24, 1);
    float threshold = 2;
    size_t bytes = 0;
    pruneInfo_t info;
    SP_NEED(cusparseCreatePruneInfo(&info));
    if (o->one == 0) {
        sp(cusparseSpruneCsr2csr_bufferSizeExt(s.h, 6, 4, a.nnz, m, a.values, a.offsets, a.columns, &threshold, m,
                                               values, offsets, columns, &bytes));
        void *buffer = sp_room(bytes + 1);
        sp(cusparseSpruneCsr2csrNnz(s.h, 6, 4, a.nnz, m, a.values, a.offsets, a.columns, &threshold, m, offsets, &nnz,
                                    buffer));
        sp(cusparseSpruneCsr2csr(s.h, 6, 4, a.nnz, m, a.values, a.offsets, a.columns, &threshold, m, values, offsets,
                                 columns, buffer));
    } else if (o->one == 1) {
        sp(cusparseSpruneDense2csr_bufferSizeExt(s.h, 6, 4, dense, 6, &threshold, m, values, offsets, columns, &bytes));
        void *buffer = sp_room(bytes + 1);
        sp(cusparseSpruneDense2csrNnz(s.h, 6, 4, dense, 6, &threshold, m, offsets, &nnz, buffer));
        sp(cusparseSpruneDense2csr(s.h, 6, 4, dense, 6, &threshold, m, values, offsets, columns, buffer));
    } else if (o->one == 2) {
        sp(cusparseSpruneCsr2csrByPercentage_bufferSizeExt(s.h, 6, 4, a.nnz, m, a.values, a.offsets, a.columns, 40.0f,
                                                           m, values, offsets, columns, info, &bytes));
        void *buffer = sp_room(bytes + 1);
        sp(cusparseSpruneCsr2csrNnzByPercentage(s.h, 6, 4, a.nnz, m, a.values, a.offsets, a.columns, 40.0f, m, offsets,
                                                &nnz, info, buffer));
        sp(cusparseSpruneCsr2csrByPercentage(s.h, 6, 4, a.nnz, m, a.values, a.offsets, a.columns, 40.0f, m, values,
                                             offsets, columns, info, buffer));
    } else {
        sp(cusparseSpruneDense2csrByPercentage_bufferSizeExt(s.h, 6, 4, dense, 6, 40.0f, m, values, offsets, columns,
                                                             info, &bytes));
        void *buffer = sp_room(bytes + 1);
        sp(cusparseSpruneDense2csrNnzByPercentage(s.h, 6, 4, dense, 6, 40.0f, m, offsets, &nnz, info, buffer));
        sp(cusparseSpruneDense2csrByPercentage(s.h, 6, 4, dense, 6, 40.0f, m, values, offsets, columns, info, buffer));
    }
    say_int(nnz);
    sp_say_ints(offsets, 7);
    sp_say_ints(columns, nnz > 0 ? (size_t)nnz : 0);
    sp_say(&s, values, nnz > 0 ? (size_t)nnz : 0);
}

static void unsorted(const struct gold_case *self)
{
    const struct options *o = self->data;
    struct sp s = sp_begin(o->type);
    int offsets[5] = {0, 3, 4, 6, 9}, across[9] = {2, 0, 1, 1, 2, 0, 3, 1, 0};
    int *at = sp_indices(&s, offsets, 5), *x = sp_indices(&s, across, 9);
    void *v = sp_numbers(&s, 9, 1);
    cusparseMatDescr_t m = sp_older(&s);
    csru2csrInfo_t info;
    size_t bytes = 0;
    SP_NEED(cusparseCreateCsru2csrInfo(&info));
    sp(SP_CALL(&s, csru2csr_bufferSizeExt, s.h, 4, 4, 9, v, at, x, info, &bytes));
    void *buffer = sp_room(bytes + 1);
    sp(SP_CALL(&s, csru2csr, s.h, 4, 4, 9, m, v, at, x, info, buffer));
    sp_say_ints(x, 9);
    sp_say(&s, v, 9);
    sp(SP_CALL(&s, csr2csru, s.h, 4, 4, 9, m, v, at, x, info, buffer));
    sp_say_ints(x, 9);
    sp_say(&s, v, 9);
}

static void add(const char *name, void (*run)(const struct gold_case *), const char *types, int ones, int twos)
{
    for (const char *type = types; *type; type++)
        for (int i = 0; i < ones * twos; i++) {
            struct options *kept = malloc(sizeof *kept);
            struct gold_case *made = calloc(1, sizeof *made);
            char *text = malloc(80);
            if (!kept || !made || !text)
                abort();
            *kept = (struct options){*type, i / twos, i % twos};
            snprintf(text, 80, "sparse_older.%s_%c_%d%d", name, *type, kept->one, kept->two);
            *made = (struct gold_case){.name = text, .run = run, .data = kept};
            gold_register(made);
        }
}

__attribute__((constructor)) static void add_all(void)
{
    add("pointers", pointers, "S", 2, 1);
    add("sort", sorting, "S", 2, 4);
    add("csr2csc", csr2csc, "SDCZH", 2, 2);
    add("nnz", counting, "SDCZ", 2, 1);
    add("geam", geam, "SDCZ", 2, 1);
    add("bands", bands, "SDCZ", 3, 1);
    add("interleaved", interleaved, "SDCZ", 2, 2);
    add("ilu", ilu, "SDCZ", 2, 2);
    add("ic", ic, "SDCZ", 2, 2);
    add("factor", block_factor, "SD", 2, 2);
    add("boost", boost, "SD", 2, 1);
    add("blocks", blocks, "SDCZ", 2, 2);
    add("gebsr", general_blocks, "SZ", 2, 2);
    add("bsrsv", block_solve, "SDCZ", 2, 2);
    add("gemvi", dense_times_sparse, "SDCZ", 2, 2);
    add("compress", compressing, "SDCZ", 1, 1);
    add("prune", pruning, "S", 4, 1);
    add("csru", unsorted, "SZ", 1, 1);
}
