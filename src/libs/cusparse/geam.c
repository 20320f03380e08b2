/* SPDX-License-Identifier: Apache-2.0 */
/* Sums of two matrices in CSR whose rows are sorted; counting and leaving out small elements; colouring. */
#include "libs/cusparse/older.h"

#include <math.h>

#define PIECE 8192

/* ---- C = alpha * A + beta * B ---- */

struct sum {
    struct cusparseSpMatDescr a, b;
    int *offsets, *columns, *total;
    void *values;
    int64_t rows, base, each;
    enum mr_type type;
    struct mr_scalar alpha, beta;
};

#define OFFSET(m, i) (((const int *)(m)->offsets)[i] - (int64_t)(m)->base)
#define COLUMN(m, k) (((const int *)(m)->indices)[k] - (int64_t)(m)->base)

static void run_count(void *data, uint64_t first, uint64_t end)
{
    const struct sum *r = data;
    struct mr_span span = mr_span(first, end, r->each, r->rows);
    for (int64_t i = span.begin; i < span.stop; i++) {
        int64_t a = OFFSET(&r->a, i), a_end = OFFSET(&r->a, i + 1), b = OFFSET(&r->b, i), b_end = OFFSET(&r->b, i + 1);
        int count = 0;
        for (; a < a_end || b < b_end; count++) {
            int64_t x = a < a_end ? COLUMN(&r->a, a) : INT64_MAX, y = b < b_end ? COLUMN(&r->b, b) : INT64_MAX;
            a += x <= y;
            b += y <= x;
        }
        r->offsets[i + 1] = count;
    }
}

/* Counts become offsets. */
static void run_offsets(void *data, uint64_t first, uint64_t end)
{
    const struct sum *r = data;
    (void)first, (void)end;
    r->offsets[0] = (int)r->base;
    for (int64_t i = 0; i < r->rows; i++)
        r->offsets[i + 1] += r->offsets[i];
    if (r->total)
        *r->total = r->offsets[r->rows] - (int)r->base;
}

#define ADD(s, element, real, conjugate) \
    static void add_##s(const struct sum *r, int64_t begin, int64_t stop) \
    { \
        element alpha, beta; \
        const element *x = r->a.values, *y = r->b.values; \
        element *to = r->values; \
        mr_scalar_read(&r->alpha, mr_stored(r->type), r->type, &alpha); \
        mr_scalar_read(&r->beta, mr_stored(r->type), r->type, &beta); \
        for (int64_t i = begin; i < stop; i++) { \
            int64_t a = OFFSET(&r->a, i), a_end = OFFSET(&r->a, i + 1), b = OFFSET(&r->b, i); \
            int64_t b_end = OFFSET(&r->b, i + 1), at = r->offsets[i] - r->base; \
            for (; a < a_end || b < b_end; at++) { \
                int64_t ca = a < a_end ? COLUMN(&r->a, a) : INT64_MAX, cb = b < b_end ? COLUMN(&r->b, b) : INT64_MAX; \
                element value = 0; \
                if (ca <= cb) \
                    value += alpha * x[a++]; \
                if (cb <= ca) \
                    value += beta * y[b++]; \
                r->columns[at] = (int)((ca < cb ? ca : cb) + r->base); \
                to[at] = value; \
            } \
        } \
    }
MR_FOR_TYPES(ADD)

static void run_add(void *data, uint64_t first, uint64_t end)
{
    static void (*const add[])(const struct sum *, int64_t, int64_t) = MR_FAMILY(add);
    const struct sum *r = data;
    struct mr_span span = mr_span(first, end, r->each, r->rows);
    add[r->type](r, span.begin, span.stop);
}

cusparseStatus_t mr_cusparse_csrgeam2_bufferSizeExt(const struct mr_form *form, cusparseHandle_t handle, int64_t m,
                                                    int64_t n, const void *alpha, const cusparseMatDescr_t descrA,
                                                    int64_t nnzA, const void *csrSortedValA,
                                                    const int *csrSortedRowPtrA, const int *csrSortedColIndA,
                                                    const void *beta, const cusparseMatDescr_t descrB, int64_t nnzB,
                                                    const void *csrSortedValB, const int *csrSortedRowPtrB,
                                                    const int *csrSortedColIndB, const cusparseMatDescr_t descrC,
                                                    const void *csrSortedValC, const int *csrSortedRowPtrC,
                                                    const int *csrSortedColIndC, size_t *pBufferSizeInBytes)
{
    (void)csrSortedValA, (void)csrSortedRowPtrA, (void)csrSortedColIndA, (void)csrSortedValB, (void)csrSortedRowPtrB,
        (void)csrSortedColIndB, (void)csrSortedValC, (void)csrSortedRowPtrC, (void)csrSortedColIndC, (void)alpha,
        (void)beta;
    MR_ENTER(form, handle);
    MR_CHECK(form, m >= 0 && n >= 0 && nnzA >= 0 && nnzB >= 0 && pBufferSizeInBytes);
    MR_CHECK(form,
             mr_is(descrA, MR_KIND_MATDESCR) && mr_is(descrB, MR_KIND_MATDESCR) && mr_is(descrC, MR_KIND_MATDESCR));
    *pBufferSizeInBytes = 1;
    return CUSPARSE_STATUS_SUCCESS;
}

static struct sum sum_of(int64_t m, int64_t n, const cusparseMatDescr_t descrA, int64_t nnzA, const void *va,
                         const int *ra, const int *ca, const cusparseMatDescr_t descrB, int64_t nnzB, const void *vb,
                         const int *rb, const int *cb, const cusparseMatDescr_t descrC, enum mr_type type)
{
    struct sum r = {.a = mr_older_csr(descrA, m, n, nnzA, va, ra, ca, mr_stored(type)),
                    .b = mr_older_csr(descrB, m, n, nnzB, vb, rb, cb, mr_stored(type)),
                    .rows = m,
                    .base = descrC->base,
                    .type = type};
    r.each = PIECE / ((nnzA + nnzB) / (m + 1) + 1) + 1;
    return r;
}

cusparseStatus_t mr_cusparse_Xcsrgeam2Nnz(const struct mr_form *form, cusparseHandle_t handle, int64_t m, int64_t n,
                                          const cusparseMatDescr_t descrA, int64_t nnzA, const int *csrSortedRowPtrA,
                                          const int *csrSortedColIndA, const cusparseMatDescr_t descrB, int64_t nnzB,
                                          const int *csrSortedRowPtrB, const int *csrSortedColIndB,
                                          const cusparseMatDescr_t descrC, int *csrSortedRowPtrC,
                                          int *nnzTotalDevHostPtr, void *workspace)
{
    (void)workspace;
    MR_ENTER(form, handle);
    MR_CHECK(form, m >= 0 && n >= 0 && nnzA >= 0 && nnzB >= 0 && nnzTotalDevHostPtr && csrSortedRowPtrC);
    MR_CHECK(form,
             mr_is(descrA, MR_KIND_MATDESCR) && mr_is(descrB, MR_KIND_MATDESCR) && mr_is(descrC, MR_KIND_MATDESCR));
    MR_CHECK(form, csrSortedRowPtrA && csrSortedRowPtrB && (nnzA == 0 || csrSortedColIndA) &&
                       (nnzB == 0 || csrSortedColIndB));
    struct sum r = sum_of(m, n, descrA, nnzA, NULL, csrSortedRowPtrA, csrSortedColIndA, descrB, nnzB, NULL,
                          csrSortedRowPtrB, csrSortedColIndB, descrC, MR_S);
    struct mr_told told;
    MR_STEP(mr_told_begin(form, sparse, nnzTotalDevHostPtr, &told));
    r.offsets = csrSortedRowPtrC;
    r.total = told.to;
    MR_STEP(mr_cusparse_submit(form, sparse, mr_parts_of((uint64_t)m, (uint64_t)r.each), run_count, &r, sizeof r));
    MR_STEP(mr_cusparse_submit(form, sparse, 1, run_offsets, &r, sizeof r));
    return mr_told_end(form, sparse, nnzTotalDevHostPtr, &told);
}

cusparseStatus_t mr_cusparse_csrgeam2(const struct mr_form *form, cusparseHandle_t handle, int64_t m, int64_t n,
                                      const void *alpha, const cusparseMatDescr_t descrA, int64_t nnzA,
                                      const void *csrSortedValA, const int *csrSortedRowPtrA,
                                      const int *csrSortedColIndA, const void *beta, const cusparseMatDescr_t descrB,
                                      int64_t nnzB, const void *csrSortedValB, const int *csrSortedRowPtrB,
                                      const int *csrSortedColIndB, const cusparseMatDescr_t descrC, void *csrSortedValC,
                                      int *csrSortedRowPtrC, int *csrSortedColIndC, void *pBuffer)
{
    (void)pBuffer;
    MR_ENTER(form, handle);
    MR_CHECK(form, m >= 0 && n >= 0 && nnzA >= 0 && nnzB >= 0 && alpha && beta && csrSortedRowPtrC);
    MR_CHECK(form,
             mr_is(descrA, MR_KIND_MATDESCR) && mr_is(descrB, MR_KIND_MATDESCR) && mr_is(descrC, MR_KIND_MATDESCR));
    MR_CHECK(form, csrSortedRowPtrA && csrSortedRowPtrB && (nnzA == 0 || (csrSortedColIndA && csrSortedValA)) &&
                       (nnzB == 0 || (csrSortedColIndB && csrSortedValB)));
    enum mr_type type = mr_type_of(form);
    struct sum r = sum_of(m, n, descrA, nnzA, csrSortedValA, csrSortedRowPtrA, csrSortedColIndA, descrB, nnzB,
                          csrSortedValB, csrSortedRowPtrB, csrSortedColIndB, descrC, type);
    r.offsets = csrSortedRowPtrC;
    r.columns = csrSortedColIndC;
    r.values = csrSortedValC;
    r.alpha = mr_scalar_take(alpha, mr_type_size(type), mr_on_device(sparse));
    r.beta = mr_scalar_take(beta, mr_type_size(type), mr_on_device(sparse));
    return mr_cusparse_submit(form, sparse, nnzA + nnzB ? mr_parts_of((uint64_t)m, (uint64_t)r.each) : 0, run_add, &r,
                              sizeof r);
}

/* ---- colouring: each row takes the smallest colour that no neighbour before it has ---- */

struct colouring {
    struct cusparseSpMatDescr a;
    int *colours, *coloring, *reordering;
    const char *name;
};

static void run_color(void *data, uint64_t first, uint64_t end)
{
    const struct colouring *r = data;
    int64_t n = r->a.rows;
    int *colour = r->coloring, most = 0, *seen = mr_math_scratch(0, (size_t)(n + 1) * sizeof(int));
    (void)first, (void)end;
    if (!seen) {
        mr_math_short_of_memory(r->name);
        return;
    }
    for (int64_t i = 0; i <= n; i++)
        seen[i] = -1;
    for (int64_t i = 0; i < n; i++)
        colour[i] = -1;
    for (int64_t i = 0; i < n; i++) {
        for (int64_t k = OFFSET(&r->a, i); k < OFFSET(&r->a, i + 1); k++) {
            int64_t j = COLUMN(&r->a, k);
            if (j >= 0 && j < n && j != i && colour[j] >= 0)
                seen[colour[j]] = (int)i;
        }
        int own = 0;
        while (seen[own] == (int)i)
            own++;
        colour[i] = own;
        most = own + 1 > most ? own + 1 : most;
    }
    int at = 0;
    for (int c = 0; c < most && r->reordering; c++)
        for (int64_t i = 0; i < n; i++)
            if (colour[i] == c)
                r->reordering[i] = at++;
    *r->colours = most;
}

/* All rows are coloured, whatever the fraction. The structure is symmetric, as the manual asks. */
cusparseStatus_t mr_cusparse_csrcolor(const struct mr_form *form, cusparseHandle_t handle, int64_t m, int64_t nnz,
                                      const cusparseMatDescr_t descrA, const void *csrSortedValA,
                                      const int *csrSortedRowPtrA, const int *csrSortedColIndA,
                                      const void *fractionToColor, int *ncolors, int *coloring, int *reordering,
                                      const cusparseColorInfo_t info)
{
    (void)info, (void)fractionToColor;
    MR_ENTER(form, handle);
    MR_CHECK(form, m >= 0 && nnz >= 0 && mr_is(descrA, MR_KIND_MATDESCR) && fractionToColor && ncolors);
    MR_CHECK(form, csrSortedRowPtrA && (nnz == 0 || csrSortedColIndA) && (m == 0 || coloring));
    struct mr_told told;
    MR_STEP(mr_told_begin(form, sparse, ncolors, &told));
    struct colouring r = {
        .a = mr_older_csr(descrA, m, m, nnz, csrSortedValA, csrSortedRowPtrA, csrSortedColIndA, CUDA_R_32F),
        .colours = told.to,
        .coloring = coloring,
        .reordering = reordering,
        .name = form->name};
    MR_STEP(mr_cusparse_submit(form, sparse, 1, run_color, &r, sizeof r));
    return mr_told_end(form, sparse, ncolors, &told);
}
