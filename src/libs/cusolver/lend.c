/* SPDX-License-Identifier: Apache-2.0 */
/* Copies of matrices for LAPACK, with room behind them. */
#include <string.h>

#include "libs/cusolver/dense.h"

#define SLOT 1 /* of mr_math_scratch: LAPACK's workspaces take another */

void mr_dense_copy(enum mr_cpu_type type, int64_t rows, int64_t columns, const void *from, int64_t ldf, void *to,
                   int64_t ldt)
{
    size_t size = mr_size_of(type);
    for (int64_t j = 0; from != to && j < columns; j++)
        memcpy(mr_behind(to, j * ldt, size), mr_behind(from, j * ldf, size), (size_t)rows * size);
}

/* Bytes of a copy: two more columns, and a vector's width. */
static size_t bytes_of(enum mr_cpu_type type, int64_t rows, int64_t columns)
{
    return MR_ROOM((size_t)rows * (size_t)(columns + 2) * mr_size_of(type) + 128);
}

void *mr_dense_lend(const struct mr_dense *r, void *matrix, int64_t rows, int64_t columns, int64_t ld)
{
    if (!mr_is_complex(r->type))
        return matrix;
    void *copy = mr_math_scratch(SLOT, bytes_of(r->type, rows, columns));
    if (copy)
        mr_dense_copy(r->type, rows, columns, matrix, ld, copy, rows);
    else
        mr_math_short_of_memory(r->function);
    return copy;
}

void mr_dense_back(const struct mr_dense *r, const void *lent, void *matrix, int64_t rows, int64_t columns, int64_t ld)
{
    if (lent != matrix)
        mr_dense_copy(r->type, rows, columns, lent, rows, matrix, ld);
}

/* A matrix of the record and its place there. */
struct loan {
    void **field;
    int64_t *ld;
    int64_t rows, columns;
    bool written;
    void *matrix;
    int64_t ld_then;
};

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static int64_t by_job(char job, int64_t all, int64_t some)
{
    return job == 'A' ? all : job == 'S' ? some : 0;
}

/* The loans that the masks ask for; how many. */
static int list(struct mr_dense *r, struct loan *loans)
{
    unsigned all = r->reads | r->writes;
    int64_t m = r->m, n = r->n, small = least(m, n), order = r->side == 'L' ? m : n;
    int count = 0;
#define ADD(flag, name, ld_name, its_rows, its_columns) \
    if (all & (flag)) \
    loans[count++] = (struct loan){.field = &r->name, \
                                   .ld = &r->ld_name, \
                                   .rows = (its_rows), \
                                   .columns = (its_columns), \
                                   .written = (r->writes & (flag)) != 0}
    ADD(MR_LEND_A, a, lda, m ? m : n, n);
    ADD(MR_LEND_B, b, ldb, n, r->nrhs ? r->nrhs : n);
    ADD(MR_LEND_C, c, ldc, m, n);
    ADD(MR_LEND_U, u, ldu, m, by_job(r->job, m, small));
    ADD(MR_LEND_V, v, ldv, by_job(r->job2, n, small), n);
    ADD(MR_LEND_SIDE, a, lda, order, r->k ? r->k : order);
    ADD(MR_LEND_BLOCK, a, lda, n, r->k);
#undef ADD
    return count;
}

void mr_dense_run_lent(void *record, uint64_t first, uint64_t end)
{
    struct mr_dense r = *(const struct mr_dense *)record;
    struct loan loans[8];
    int count = list(&r, loans);
    size_t bytes = 0;
    for (int i = 0; i < count; i++)
        bytes += bytes_of(r.type, loans[i].rows, loans[i].columns);
    char *at = mr_math_scratch(SLOT, bytes);
    if (!at) {
        mr_math_short_of_memory(r.function);
        return;
    }
    for (int i = 0; i < count; i++) {
        struct loan *loan = &loans[i];
        loan->matrix = *loan->field;
        loan->ld_then = *loan->ld;
        if (loan->rows == 0 || loan->columns == 0)
            continue;
        mr_dense_copy(r.type, loan->rows, loan->columns, loan->matrix, loan->ld_then, at, loan->rows);
        *loan->field = at;
        *loan->ld = loan->rows;
        at += bytes_of(r.type, loan->rows, loan->columns);
    }
    r.run(&r, first, end);
    for (int i = 0; i < count; i++)
        if (loans[i].written && *loans[i].field != loans[i].matrix)
            mr_dense_copy(r.type, loans[i].rows, loans[i].columns, *loans[i].field, loans[i].rows, loans[i].matrix,
                          loans[i].ld_then);
}
