/* SPDX-License-Identifier: Apache-2.0 */
/* Triangular systems: op(A) * C = alpha * op(B), for vectors (SpSV) and matrices (SpSM).
 *
 * Unknowns follow from each other, so they are found one after the other; parts are strips of columns. If the format
 * keeps together a row of op(A), an unknown is a sum (gathering). Otherwise each unknown that is found is subtracted
 * from those that are still to be found (scattering).
 *
 * The analysis keeps a copy of the values in the external buffer, which the program keeps until the last solution. The
 * solutions use that copy, and updates change it. */
#include "libs/cusparse/solve.h"

#include "libs/cusparse/dense.h"
#include "libs/cusparse/lines.h"
#include "libs/cusparse/mix.h"

#define STRIP 8

struct solution {
    struct cusparseSpMatDescr a;
    bool gather, conjugated, ascending, below; /* below: the entries of a line before the diagonal are used */
    enum mr_type type;
    struct mr_operand b;
    struct cusparseDnMatDescr c;
    struct mr_scalar alpha;
    int64_t rows, columns;
    const char *name;
};

/* One vector by a matrix in CSR with indices of 32 bits, whose lines are the rows of op(A): most systems. `below` is
 * known when this is compiled. The unknowns are found where they belong; B may lie there. */
#define IN_PLACE(s, element, real, conjugate) \
    static inline void rows_##s(const struct solution *r, const struct mr_view *b, element alpha, element *x, \
                                const bool below) \
    { \
        const int32_t *columns = r->a.indices, *offsets = r->a.offsets; \
        const element *values = r->a.values, *right = b->at; \
        const int64_t base = r->a.base; \
        bool has_diagonal = r->a.diag == CUSPARSE_DIAG_TYPE_NON_UNIT; \
        for (int64_t step = 0; step < r->rows; step++) { \
            int64_t i = r->ascending ? step : r->rows - 1 - step, mine_at = i + base; \
            int64_t stop = offsets[i + 1] - base; \
            element diagonal = 0, mine = alpha * right[i * b->row_step]; \
            for (int64_t k = offsets[i] - base; k < stop; k++) { \
                int64_t other = columns[k]; \
                if (below ? other < mine_at : other > mine_at) \
                    mine -= values[k] * x[other - base]; \
                else if (other == mine_at) \
                    diagonal += values[k]; \
            } \
            x[i] = has_diagonal ? mine / diagonal : mine; \
        } \
    } \
    static void in_place_##s(const struct solution *r, const struct mr_view *b, element alpha, element *x) \
    { \
        if (r->below) \
            rows_##s(r, b, alpha, x, true); \
        else \
            rows_##s(r, b, alpha, x, false); \
    }
MR_FOR_TYPES(IN_PLACE)

static bool is_plain(const struct solution *r)
{
    return r->a.format == CUSPARSE_FORMAT_CSR && r->gather && !r->conjugated && r->columns == 1 &&
           r->a.index_type == CUSPARSE_INDEX_32I && r->a.offset_type == CUSPARSE_INDEX_32I &&
           r->a.type == mr_stored(r->type);
}

#define SOLVE(s, element, real, conjugate) \
    static bool solve_##s(const struct solution *r, int64_t begin, int64_t stop, const struct mr_view *b) \
    { \
        struct mr_reader reader = {.matrix = &r->a, .type = r->type, .conjugated = r->conjugated}; \
        struct mr_entries e; \
        struct mr_view c = mr_dense_view(&r->c, 0, sizeof(element)); \
        int64_t width = stop - begin, n = r->rows; \
        element *x, alpha; \
        mr_scalar_read(&r->alpha, mr_stored(r->type), r->type, &alpha); \
        if (is_plain(r) && c.row_step == 1) { \
            in_place_##s(r, b, alpha, (element *)c.at); \
            return true; \
        } \
        x = mr_math_scratch(2, (size_t)(n * width) * sizeof *x); \
        if (!x) \
            return false; \
        for (int64_t i = 0; i < n; i++) \
            for (int64_t j = 0; j < width; j++) \
                x[i * width + j] = alpha * ((const element *)b->at)[i * b->row_step + (begin + j) * b->column_step]; \
        for (int64_t step = 0; step < n; step++) { \
            int64_t i = r->ascending ? step : n - 1 - step; \
            element diagonal = 0, *mine = x + i * width; \
            if (!mr_line(&reader, i, &e)) \
                return false; \
            const element *value = e.value; \
            for (int64_t k = 0; k < e.count; k++) { \
                int64_t other = e.index[k]; \
                if (other == i) \
                    diagonal += value[k]; \
                else if (r->gather && (other < i) == r->below) \
                    for (int64_t j = 0; j < width; j++) \
                        mine[j] -= value[k] * x[other * width + j]; \
            } \
            if (r->a.diag == CUSPARSE_DIAG_TYPE_NON_UNIT) \
                for (int64_t j = 0; j < width; j++) \
                    mine[j] /= diagonal; \
            for (int64_t k = 0; k < e.count && !r->gather; k++) \
                if (e.index[k] != i && (e.index[k] < i) == r->below) \
                    for (int64_t j = 0; j < width; j++) \
                        x[e.index[k] * width + j] -= value[k] * mine[j]; \
        } \
        for (int64_t i = 0; i < n; i++) \
            for (int64_t j = 0; j < width; j++) \
                ((element *)c.at)[i * c.row_step + (begin + j) * c.column_step] = x[i * width + j]; \
        return true; \
    }
MR_FOR_TYPES(SOLVE)

static void run_solve(void *data, uint64_t first, uint64_t end)
{
    static bool (*const solve[])(const struct solution *, int64_t, int64_t, const struct mr_view *) = MR_FAMILY(solve);
    const struct solution *r = data;
    for (uint64_t part = first; part < end; part++) {
        struct mr_span span = mr_span(part, part + 1, STRIP, r->columns);
        struct mr_operand b = r->b;
        b.packed = b.pack ? mr_math_scratch(3, mr_operand_bytes(&b)) : NULL;
        if (b.packed)
            mr_operand_pack(&b, 0, b.packed);
        struct mr_view view = mr_operand_view(&b, 0);
        if ((b.pack && !b.packed) || !solve[r->type](r, span.begin, span.stop, &view))
            mr_math_short_of_memory(r->name);
    }
}

/* ---- plans ---- */

static int64_t values_of(const struct cusparseSpMatDescr *a)
{
    return a->format == CUSPARSE_FORMAT_SLICED_ELLPACK ? a->values_size : a->nnz;
}

size_t mr_cusparse_plan_bytes(const struct cusparseSpMatDescr *a)
{
    return (size_t)values_of(a) * mr_element_size(a->type) + 1;
}

struct copy {
    struct cusparseSpMatDescr a; /* its values are the copy */
    const void *from;
    const char *name;
};

#define COPY_PIECE ((int64_t)1 << 16)

static void run_copy(void *data, uint64_t first, uint64_t end)
{
    const struct copy *r = data;
    unsigned size = mr_element_size(r->a.type);
    struct mr_span span = mr_span(first, end, COPY_PIECE, values_of(&r->a));
    memmove((char *)r->a.values + span.begin * size, (const char *)r->from + span.begin * size,
            (size_t)(span.stop - span.begin) * size);
}

/* The diagonal's new values. */
static void run_diagonal(void *data, uint64_t first, uint64_t end)
{
    const struct copy *r = data;
    unsigned size = mr_element_size(r->a.type);
    struct mr_reader reader = {.matrix = &r->a, .type = mr_type_for(r->a.type), .places = true};
    struct mr_entries e;
    struct mr_span span = mr_span(first, end, COPY_PIECE, mr_lines(&r->a));
    for (int64_t i = span.begin; i < span.stop; i++) {
        if (!mr_line(&reader, i, &e)) {
            mr_math_short_of_memory(r->name);
            return;
        }
        for (int64_t k = 0; k < e.count; k++)
            if (e.index[k] == i)
                memcpy((char *)r->a.values + e.place[k] * size, (const char *)r->from + i * size, size);
    }
}

cusparseStatus_t mr_cusparse_plan(const struct mr_form *form, const struct mr_cusparse *sparse, struct mr_plan *plan,
                                  const struct cusparseSpMatDescr *a, void *buffer)
{
    MR_CHECK(form, buffer || values_of(a) == 0);
    struct copy r = {.a = *a, .from = a->values, .name = form->name};
    r.a.values = buffer;
    MR_STEP(mr_cusparse_submit(form, sparse, mr_parts_of((uint64_t)values_of(a), COPY_PIECE), run_copy, &r, sizeof r));
    plan->a = r.a;
    plan->is_analysed = true;
    return CUSPARSE_STATUS_SUCCESS;
}

cusparseStatus_t mr_cusparse_replan(const struct mr_form *form, const struct mr_cusparse *sparse,
                                    const struct mr_plan *plan, const void *values, bool is_diagonal)
{
    MR_CHECK(form, plan->is_analysed && values);
    struct copy r = {.a = plan->a, .from = values, .name = form->name};
    uint64_t parts = mr_parts_of((uint64_t)(is_diagonal ? mr_lines(&r.a) : values_of(&r.a)), COPY_PIECE);
    return mr_cusparse_submit(form, sparse, parts, is_diagonal ? run_diagonal : run_copy, &r, sizeof r);
}

cusparseStatus_t mr_cusparse_solve(const struct mr_form *form, const struct mr_cusparse *sparse,
                                   const struct mr_solve *call)
{
    const struct cusparseSpMatDescr *a = &call->a;
    enum mr_type type = mr_type_for(a->type);
    bool is_transposed = call->op_a != CUSPARSE_OPERATION_NON_TRANSPOSE, is_csc = a->format == CUSPARSE_FORMAT_CSC;
    bool is_lower = a->fill == CUSPARSE_FILL_MODE_LOWER;
    struct solution r = {.a = *a,
                         .gather = is_transposed == is_csc,
                         .conjugated = call->op_a == CUSPARSE_OPERATION_CONJUGATE_TRANSPOSE && mr_type_is_complex(type),
                         .ascending = is_lower != is_transposed,
                         .below = is_lower != is_csc,
                         .type = type,
                         .b = mr_operand(&call->b, call->op_b, type),
                         .c = call->c,
                         .alpha = call->alpha,
                         .rows = call->c.rows,
                         .columns = call->c.cols,
                         .name = form->name};
    if (r.rows == 0)
        return CUSPARSE_STATUS_SUCCESS;
    return mr_cusparse_submit(form, sparse, mr_parts_of((uint64_t)r.columns, STRIP), run_solve, &r, sizeof r);
}
