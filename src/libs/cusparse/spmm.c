/* SPDX-License-Identifier: Apache-2.0 */
/* Sparse matrix times dense matrix: C = alpha * op(A) * op(B) + beta * C.
 *
 * If the format keeps together what a row of the result needs, parts are lines: each row of C is a sum of rows of
 * op(B). Where those lie by columns, and A's entries read most of them, op(B) is turned into the buffer first: an entry
 * then reads neighbours, not a cache line for each column. Otherwise parts are strips of C's columns: each part goes
 * over all of A, and adds to its strip. */
#include "libs/cusparse/dense.h"
#include "libs/cusparse/finish.h"
#include "libs/cusparse/lines.h"
#include "libs/cusparse/mix.h"
#include "libs/cusparse/spmm.h"

#define STRIP 8 /* columns of a strip */
#define TURNED_MOST ((size_t)256 << 20) /* bytes of a buffer that nothing but speed asks for */
#define FOUR 4 /* columns of op(B) that a row of A meets at once, where op(B) lies by columns */
#define LINE 64 /* bytes of a line of a processor's cache */
#define FETCHED 512 /* bytes of a row that are asked for ahead: longer ones the processor follows by itself */
#define WIDE 16 /* the same where op(B) lies by rows: their sums stay in registers */

struct spmm {
    struct cusparseSpMatDescr a;
    struct mr_operand b;
    struct cusparseDnMatDescr c;
    bool gather, conjugated;
    enum mr_type type;
    cudaDataType_t compute;
    struct mr_scalar alpha, beta;
    int64_t rows, columns; /* of C */
    uint64_t parts; /* of a member of the batch */
    int64_t members;
    const char *name;
};

/* ---- gathering ---- */

/* Asks for the rows of op(B) that this line of A will read, `width` bytes of each. Their places have no order that a
 * processor could guess. */
static void fetch(const struct cusparseSpMatDescr *a, int64_t line, const char *b, int64_t step, int64_t width)
{
    if (a->format != CUSPARSE_FORMAT_CSR && a->format != CUSPARSE_FORMAT_CSC)
        return;
    int64_t stop = mr_lines_before(a, line + 1);
    for (int64_t k = mr_lines_before(a, line); k < stop; k++) {
        const char *row = b + (mr_index(a->indices, a->index_type, k) - a->base) * step;
        for (int64_t byte = 0; byte < width; byte += LINE)
            __builtin_prefetch(row + byte);
    }
}

#define GATHER(s, element, real, conjugate) \
    /* Row i of C, where rows of op(B) are contiguous. */ \
    static void rows_##s(const struct mr_entries *e, const struct mr_view *b, int64_t columns, element *sum) \
    { \
        const element *value = e->value; \
        int64_t wide = columns - columns % WIDE; \
        for (int64_t first = 0; first < wide; first += WIDE) { \
            element part[WIDE] = {0}; \
            for (int64_t k = 0; k < e->count; k++) { \
                const element *row = (const element *)b->at + e->index[k] * b->row_step + first; \
                element factor = value[k]; \
                _Pragma("GCC unroll 16") for (int j = 0; j < WIDE; j++) part[j] += factor * row[j]; \
            } \
            memcpy(sum + first, part, sizeof part); \
        } \
        if (wide == columns) \
            return; \
        memset(sum + wide, 0, (size_t)(columns - wide) * sizeof *sum); \
        for (int64_t k = 0; k < e->count; k++) { \
            const element *row = (const element *)b->at + e->index[k] * b->row_step; \
            element factor = value[k]; \
            for (int64_t j = wide; j < columns; j++) \
                sum[j] += factor * row[j]; \
        } \
    } \
    /* The same for any steps. */ \
    static void columns_##s(const struct mr_entries *e, const struct mr_view *b, int64_t columns, element *sum) \
    { \
        const element *value = e->value; \
        int64_t j = 0, step = b->column_step, row_step = b->row_step; \
        for (; j + FOUR <= columns; j += FOUR) { \
            const element *column = (const element *)b->at + j * step; \
            element s0 = 0, s1 = 0, s2 = 0, s3 = 0; \
            for (int64_t k = 0; k < e->count; k++) { \
                const element *at = column + e->index[k] * row_step; \
                s0 += value[k] * at[0]; \
                s1 += value[k] * at[step]; \
                s2 += value[k] * at[2 * step]; \
                s3 += value[k] * at[3 * step]; \
            } \
            sum[j] = s0; \
            sum[j + 1] = s1; \
            sum[j + 2] = s2; \
            sum[j + 3] = s3; \
        } \
        for (; j < columns; j++) { \
            sum[j] = 0; \
            for (int64_t k = 0; k < e->count; k++) \
                sum[j] += value[k] * ((const element *)b->at)[e->index[k] * row_step + j * step]; \
        } \
    } \
    static bool gather_##s(const struct spmm *r, const struct cusparseSpMatDescr *a, int64_t begin, int64_t stop, \
                           const struct mr_view *b, const struct mr_view *c, const struct mr_finish *finish) \
    { \
        struct mr_reader reader = {.matrix = a, .type = r->type, .conjugated = r->conjugated}; \
        struct mr_entries e; \
        element *sum = mr_math_scratch(2, (size_t)r->columns * sizeof *sum); \
        int64_t width = r->columns * (int64_t)sizeof *sum, step = b->row_step * (int64_t)sizeof *sum; \
        for (int64_t i = begin; i < stop && sum; i++) { \
            if (b->column_step == 1 && width <= FETCHED && i + 1 < stop) \
                fetch(a, i + 1, b->at, step, width); \
            if (!mr_line(&reader, i, &e)) \
                return false; \
            if (b->column_step == 1) \
                rows_##s(&e, b, r->columns, sum); \
            else \
                columns_##s(&e, b, r->columns, sum); \
            mr_finish_row_##s(finish, (void *)c->at, i * c->row_step, c->column_step, r->columns, sum); \
        } \
        return sum != NULL; \
    } \
    static bool scatter_##s(const struct spmm *r, const struct cusparseSpMatDescr *a, int64_t begin, int64_t stop, \
                            const struct mr_view *b, const struct mr_view *c, const struct mr_finish *finish) \
    { \
        struct mr_reader reader = {.matrix = a, .type = r->type, .conjugated = r->conjugated}; \
        struct mr_entries e; \
        int64_t width = stop - begin, lines = mr_lines(a); \
        element *sum = mr_math_scratch(2, (size_t)(r->rows * width) * sizeof *sum); \
        if (!sum) \
            return false; \
        memset(sum, 0, (size_t)(r->rows * width) * sizeof *sum); \
        for (int64_t i = 0; i < lines; i++) { \
            if (!mr_line(&reader, i, &e)) \
                return false; \
            const element *value = e.value, *from = (const element *)b->at + i * b->row_step + begin * b->column_step; \
            for (int64_t k = 0; k < e.count; k++) \
                for (int64_t j = 0; j < width; j++) \
                    sum[e.index[k] * width + j] += value[k] * from[j * b->column_step]; \
        } \
        for (int64_t i = 0; i < r->rows; i++) \
            for (int64_t j = 0; j < width; j++) \
                mr_finish_##s(finish, (void *)c->at, i * c->row_step + (begin + j) * c->column_step, \
                              sum[i * width + j]); \
        return true; \
    }
MR_FOR_TYPES(GATHER)

typedef bool run_function(const struct spmm *, const struct cusparseSpMatDescr *, int64_t, int64_t,
                          const struct mr_view *, const struct mr_view *, const struct mr_finish *);

static bool do_part(const struct spmm *r, int64_t member, uint64_t part, uint64_t parts)
{
    static run_function *const gather[] = MR_FAMILY(gather), *const scatter[] = MR_FAMILY(scatter);
    struct mr_finish finish = mr_finish_of(r->type, r->c.type, &r->alpha, &r->beta, r->compute);
    struct cusparseSpMatDescr a = mr_member(&r->a, member);
    struct mr_view b = mr_operand_view(&r->b, member), c = mr_dense_view(&r->c, member, finish.size);
    if (r->gather)
        return gather[r->type](r, &a, mr_lines_cut(&a, part, parts), mr_lines_cut(&a, part + 1, parts), &b, &c,
                               &finish);
    struct mr_span span = mr_span(part, part + 1, STRIP, r->columns);
    return scatter[r->type](r, &a, span.begin, span.stop, &b, &c, &finish);
}

static void run(void *data, uint64_t first, uint64_t end)
{
    const struct spmm *r = data;
    for (uint64_t part = first; part < end; part++)
        if (!do_part(r, (int64_t)(part / r->parts), part % r->parts, r->parts))
            mr_math_short_of_memory(r->name);
}

/* Without a buffer one part packs B and does everything. */
static void run_alone(void *data, uint64_t first, uint64_t end)
{
    struct spmm r = *(const struct spmm *)data;
    (void)first, (void)end;
    size_t bytes = mr_operand_bytes(&r.b), members = (size_t)mr_operand_members(&r.b);
    r.b.packed = mr_math_scratch(3, bytes * members);
    for (size_t member = 0; member < members && r.b.packed; member++)
        mr_operand_pack(&r.b, (int64_t)member, (char *)r.b.packed + member * bytes);
    for (int64_t member = 0; member < r.members; member++)
        for (uint64_t part = 0; part < r.parts; part++)
            if (!r.b.packed || !do_part(&r, member, part, r.parts)) {
                mr_math_short_of_memory(r.name);
                return;
            }
}

static bool gathers(const struct mr_spmm *call)
{
    return (call->op_a != CUSPARSE_OPERATION_NON_TRANSPOSE) == (call->a->format == CUSPARSE_FORMAT_CSC);
}

static size_t packed_bytes(const struct mr_operand *b)
{
    return mr_operand_bytes(b) * (size_t)mr_operand_members(b);
}

/* op(B), as it is read where there is a buffer or not. */
static struct mr_operand operand(const struct mr_spmm *call, bool is_with_buffer)
{
    struct mr_operand b = mr_operand(call->b, call->op_b, mr_type_for(call->compute)), turned = b;
    turned.pack = turned.turned = true;
    if (!gathers(call) || !mr_operand_is_by_columns(&b) || mr_operand_columns(&b) < STRIP ||
        call->a->nnz < mr_operand_rows(&b))
        return b;
    return b.pack || (is_with_buffer && packed_bytes(&turned) <= TURNED_MOST) ? turned : b;
}

size_t mr_cusparse_spmm_bytes(const struct mr_spmm *call)
{
    struct mr_operand b = operand(call, true);
    return packed_bytes(&b);
}

cusparseStatus_t mr_cusparse_spmm(const struct mr_form *form, const struct mr_cusparse *sparse,
                                  const struct mr_spmm *call, void *buffer)
{
    enum mr_type type = mr_type_for(call->compute);
    struct spmm r = {.a = *call->a,
                     .b = operand(call, buffer != NULL),
                     .c = *call->c,
                     .gather = gathers(call),
                     .type = type,
                     .compute = call->compute,
                     .alpha = call->alpha,
                     .beta = call->beta,
                     .rows = call->c->rows,
                     .columns = call->c->cols,
                     .members = call->c->batch_count,
                     .name = form->name};
    r.conjugated = call->op_a == CUSPARSE_OPERATION_CONJUGATE_TRANSPOSE && mr_type_is_complex(type);
    r.parts = r.gather ? mr_lines_parts(&r.a, r.columns) : mr_parts_of((uint64_t)r.columns, STRIP);
    if (r.rows == 0 || r.columns == 0)
        return CUSPARSE_STATUS_SUCCESS;
    if (r.b.pack && !buffer)
        return mr_cusparse_submit(form, sparse, 1, run_alone, &r, sizeof r);
    r.b.packed = buffer;
    if (r.b.pack)
        MR_STEP(mr_operand_submit(form, sparse, &r.b));
    return mr_cusparse_submit(form, sparse, r.parts * (uint64_t)r.members, run, &r, sizeof r);
}

/* ---- the generic interface ---- */

/* Algorithms name the format that they are for. */
static bool fits(cusparseSpMMAlg_t alg, cusparseFormat_t format)
{
    switch (alg) {
    case CUSPARSE_SPMM_COO_ALG1:
    case CUSPARSE_SPMM_COO_ALG2:
    case CUSPARSE_SPMM_COO_ALG3:
    case CUSPARSE_SPMM_COO_ALG4:
        return format == CUSPARSE_FORMAT_COO;
    case CUSPARSE_SPMM_CSR_ALG1:
    case CUSPARSE_SPMM_CSR_ALG2:
    case CUSPARSE_SPMM_CSR_ALG3:
        return format == CUSPARSE_FORMAT_CSR || format == CUSPARSE_FORMAT_CSC;
    case CUSPARSE_SPMM_BLOCKED_ELL_ALG1:
        return format == CUSPARSE_FORMAT_BLOCKED_ELL;
    case CUSPARSE_SPMM_BSR_ALG1:
        return format == CUSPARSE_FORMAT_BSR;
    default:
        return false;
    }
}

static cusparseStatus_t check(const struct mr_form *form, const struct mr_cusparse *sparse, struct mr_spmm *call,
                              const void *alpha, const void *beta, cusparseSpMMAlg_t alg)
{
    const struct cusparseSpMatDescr *a = call->a;
    MR_CHECK(form, alpha && beta);
    MR_CHECK(form, mr_is(a, MR_KIND_SPMAT) && mr_is(call->b, MR_KIND_DNMAT) && mr_is(call->c, MR_KIND_DNMAT));
    MR_CHECK(form, mr_is_op(call->op_a) && mr_is_op(call->op_b));
    bool ta = call->op_a != CUSPARSE_OPERATION_NON_TRANSPOSE, tb = call->op_b != CUSPARSE_OPERATION_NON_TRANSPOSE;
    int64_t rows = ta ? a->cols : a->rows, inner = ta ? a->rows : a->cols;
    MR_CHECK(form, inner == (tb ? call->b->cols : call->b->rows));
    MR_CHECK(form, call->c->rows == rows && call->c->cols == (tb ? call->b->rows : call->b->cols));
    MR_CHECK(form, a->batch_count == 1 || a->batch_count == call->c->batch_count);
    MR_CHECK(form, call->b->batch_count == 1 || call->b->batch_count == call->c->batch_count);
    MR_CHECK(form, alg == CUSPARSE_SPMM_ALG_DEFAULT || fits(alg, a->format));
    MR_SUPPORT(form, a->format != CUSPARSE_FORMAT_SLICED_ELLPACK);
    MR_SUPPORT(form, !ta || (a->format != CUSPARSE_FORMAT_BSR && a->format != CUSPARSE_FORMAT_BLOCKED_ELL));
    MR_SUPPORT(form, a->format != CUSPARSE_FORMAT_BLOCKED_ELL || !mr_element_is_complex(a->type));
    MR_SUPPORT(form, mr_mix_is_known(call->compute, a->type, call->b->type, call->c->type));
    call->alpha = mr_cusparse_scalar(sparse, alpha, call->compute);
    call->beta = mr_cusparse_scalar(sparse, beta, call->compute);
    return CUSPARSE_STATUS_SUCCESS;
}

#define CALL {.op_a = opA, .op_b = opB, .a = matA, .b = matB, .c = matC, .compute = computeType}

cusparseStatus_t mr_cusparse_SpMM_bufferSize(const struct mr_form *form, cusparseHandle_t handle,
                                             cusparseOperation_t opA, cusparseOperation_t opB, const void *alpha,
                                             cusparseConstSpMatDescr_t matA, cusparseConstDnMatDescr_t matB,
                                             const void *beta, cusparseDnMatDescr_t matC, cudaDataType computeType,
                                             cusparseSpMMAlg_t alg, size_t *bufferSize)
{
    struct mr_spmm call = CALL;
    MR_ENTER(form, handle);
    MR_STEP(check(form, sparse, &call, alpha, beta, alg));
    MR_CHECK(form, bufferSize);
    *bufferSize = mr_cusparse_spmm_bytes(&call);
    return CUSPARSE_STATUS_SUCCESS;
}

cusparseStatus_t mr_cusparse_SpMM_preprocess(const struct mr_form *form, cusparseHandle_t handle,
                                             cusparseOperation_t opA, cusparseOperation_t opB, const void *alpha,
                                             cusparseConstSpMatDescr_t matA, cusparseConstDnMatDescr_t matB,
                                             const void *beta, cusparseDnMatDescr_t matC, cudaDataType computeType,
                                             cusparseSpMMAlg_t alg, void *externalBuffer)
{
    (void)externalBuffer;
    struct mr_spmm call = CALL;
    MR_ENTER(form, handle);
    return check(form, sparse, &call, alpha, beta, alg);
}

cusparseStatus_t mr_cusparse_SpMM(const struct mr_form *form, cusparseHandle_t handle, cusparseOperation_t opA,
                                  cusparseOperation_t opB, const void *alpha, cusparseConstSpMatDescr_t matA,
                                  cusparseConstDnMatDescr_t matB, const void *beta, cusparseDnMatDescr_t matC,
                                  cudaDataType computeType, cusparseSpMMAlg_t alg, void *externalBuffer)
{
    struct mr_spmm call = CALL;
    MR_ENTER(form, handle);
    MR_STEP(check(form, sparse, &call, alpha, beta, alg));
    return mr_cusparse_spmm(form, sparse, &call, externalBuffer);
}
