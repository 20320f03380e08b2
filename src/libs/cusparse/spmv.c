/* SPDX-License-Identifier: Apache-2.0 */
/* Sparse matrix times dense vector.
 *
 * If the format keeps together what the result's elements need (rows, or columns of the transpose), each element is one
 * sum: the product *gathers*. Otherwise it *scatters*: some parts add up results of their own in the external buffer,
 * which are summed in the order of the parts. A vector whose type is not the one that is computed in is converted into
 * the buffer first. Without a buffer there is one part. */
#include "libs/cusparse/finish.h"
#include "libs/cusparse/lines.h"
#include "libs/cusparse/mix.h"
#include "libs/cusparse/spmv.h"

#define ALIGNED(bytes) (((bytes) + 255) & ~(size_t)255)
#define SCATTERS 16 /* results that are added up at most */
/* A row with fewer entries is one sum: a processor then guesses one branch a row, and goes ahead to the next rows. */
#define SHORT 32
#define PIECE 16384 /* elements of a vector that a part converts or sums */

struct spmv {
    struct cusparseSpMatDescr a;
    bool gather, conjugated, pack;
    enum mr_type type;
    cudaDataType_t compute, x_type, y_type;
    int64_t x_size, y_size;
    const void *x;
    void *y, *packed, *partial;
    struct mr_scalar alpha, beta;
    uint64_t parts;
    const char *name;
};

/* How many results a scattering product has: by sizes alone. */
static uint64_t scatters(const struct cusparseSpMatDescr *a, int64_t y_size)
{
    uint64_t parts = mr_lines_parts(a, 2), most = (uint64_t)(a->nnz / (4 * (y_size + 1)) + 1);
    parts = parts < most ? parts : most;
    return parts < SCATTERS ? parts : SCATTERS;
}

/* Whether the loops for CSR and CSC in the computed type can be used. Offsets and indices have one type. */
static bool is_plain(const struct spmv *r)
{
    return (r->a.format == CUSPARSE_FORMAT_CSR || r->a.format == CUSPARSE_FORMAT_CSC) &&
           r->a.type == mr_stored(r->type) && !r->conjugated && r->a.index_type != CUSPARSE_INDEX_16U;
}

/* ---- gathering ---- */

#define GATHER(s, element, width, offset_t, index_t) \
    static void gather_##s##width(const struct spmv *r, int64_t begin, int64_t stop, const struct mr_finish *finish) \
    { \
        const offset_t *offsets = r->a.offsets; \
        const index_t *index = r->a.indices; \
        const element *value = r->a.values, *x = (const element *)r->x - r->a.base; \
        void *y = r->y; \
        struct mr_finish last = *finish; \
        int64_t base = r->a.base; \
        for (int64_t i = begin; i < stop; i++) { \
            int64_t k = offsets[i] - base, end = offsets[i + 1] - base; \
            element a = 0, b = 0, c = 0, d = 0; \
            for (; end - k >= SHORT; k += 4) { \
                a += value[k] * x[index[k]]; \
                b += value[k + 1] * x[index[k + 1]]; \
                c += value[k + 2] * x[index[k + 2]]; \
                d += value[k + 3] * x[index[k + 3]]; \
            } \
            for (; k < end; k++) \
                a += value[k] * x[index[k]]; \
            mr_finish_##s(&last, y, i, (a + b) + (c + d)); \
        } \
    }

/* The same over entries, for all other formats and types. */
#define GATHER_LINES(s, element, real, conjugate) \
    GATHER(s, element, 32, int32_t, int32_t) \
    GATHER(s, element, 64, int64_t, int64_t) \
    static bool lines_##s(const struct spmv *r, int64_t begin, int64_t stop, const struct mr_finish *finish) \
    { \
        struct mr_reader reader = {.matrix = &r->a, .type = r->type, .conjugated = r->conjugated}; \
        struct mr_entries e; \
        const element *x = r->x; \
        for (int64_t i = begin; i < stop; i++) { \
            if (!mr_line(&reader, i, &e)) \
                return false; \
            const element *value = e.value; \
            element sum = 0; \
            for (int64_t k = 0; k < e.count; k++) \
                sum += value[k] * x[e.index[k]]; \
            mr_finish_##s(finish, r->y, i, sum); \
        } \
        return true; \
    }
MR_FOR_TYPES(GATHER_LINES)

static bool gather(const struct spmv *r, int64_t begin, int64_t stop)
{
    static void (*const narrow[])(const struct spmv *, int64_t, int64_t,
                                  const struct mr_finish *) = {gather_s32, gather_d32, gather_c32, gather_z32};
    static void (*const wide[])(const struct spmv *, int64_t, int64_t,
                                const struct mr_finish *) = {gather_s64, gather_d64, gather_c64, gather_z64};
    static bool (*const lines[])(const struct spmv *, int64_t, int64_t, const struct mr_finish *) = MR_FAMILY(lines);
    struct mr_finish finish = mr_finish_of(r->type, r->y_type, &r->alpha, &r->beta, r->compute);
    if (!is_plain(r))
        return lines[r->type](r, begin, stop, &finish);
    (r->a.index_type == CUSPARSE_INDEX_32I ? narrow : wide)[r->type](r, begin, stop, &finish);
    return true;
}

static void run_gather(void *data, uint64_t first, uint64_t end)
{
    const struct spmv *r = data;
    if (!gather(r, mr_lines_cut(&r->a, first, r->parts), mr_lines_cut(&r->a, end, r->parts)))
        mr_math_short_of_memory(r->name);
}

/* ---- scattering ---- */

/* CSR and CSC in the computed type. */
#define SPREAD(s, element, width, offset_t, index_t) \
    static void spread_##s##width(const struct spmv *r, int64_t begin, int64_t stop, element *y) \
    { \
        const offset_t *offsets = r->a.offsets; \
        const index_t *index = r->a.indices; \
        const element *value = r->a.values, *x = r->x; \
        int64_t base = r->a.base; \
        for (int64_t i = begin; i < stop; i++) \
            for (int64_t k = offsets[i] - base, end = offsets[i + 1] - base; k < end; k++) \
                y[index[k] - base] += value[k] * x[i]; \
    }

#define SCATTER(s, element, real, conjugate) \
    SPREAD(s, element, 32, int32_t, int32_t) \
    SPREAD(s, element, 64, int64_t, int64_t) \
    static bool scatter_##s(const struct spmv *r, int64_t begin, int64_t stop, void *result) \
    { \
        struct mr_reader reader = {.matrix = &r->a, .type = r->type, .conjugated = r->conjugated}; \
        struct mr_entries e; \
        const element *x = r->x; \
        element *y = result; \
        memset(y, 0, (size_t)r->y_size * sizeof *y); \
        if (is_plain(r)) { \
            (r->a.index_type == CUSPARSE_INDEX_32I ? spread_##s##32 : spread_##s##64)(r, begin, stop, y); \
            return true; \
        } \
        for (int64_t i = begin; i < stop; i++) { \
            if (!mr_line(&reader, i, &e)) \
                return false; \
            const element *value = e.value; \
            for (int64_t k = 0; k < e.count; k++) \
                y[e.index[k]] += value[k] * x[i]; \
        } \
        return true; \
    } \
    static void sum_##s(const struct spmv *r, const void *partial, int64_t begin, int64_t stop) \
    { \
        struct mr_finish finish = mr_finish_of(r->type, r->y_type, &r->alpha, &r->beta, r->compute); \
        for (int64_t i = begin; i < stop; i++) { \
            element sum = 0; \
            for (uint64_t part = 0; part < r->parts; part++) \
                sum += ((const element *)partial)[part * (uint64_t)r->y_size + (uint64_t)i]; \
            mr_finish_##s(&finish, r->y, i, sum); \
        } \
    }
MR_FOR_TYPES(SCATTER)

static bool (*const scatter[])(const struct spmv *, int64_t, int64_t, void *) = MR_FAMILY(scatter);
static void (*const sum[])(const struct spmv *, const void *, int64_t, int64_t) = MR_FAMILY(sum);

static void run_scatter(void *data, uint64_t first, uint64_t end)
{
    const struct spmv *r = data;
    for (uint64_t part = first; part < end; part++) {
        char *result = (char *)r->partial + part * (uint64_t)r->y_size * mr_type_size(r->type);
        if (!scatter[r->type](r, mr_lines_cut(&r->a, part, r->parts), mr_lines_cut(&r->a, part + 1, r->parts), result))
            mr_math_short_of_memory(r->name);
    }
}

static void run_sum(void *data, uint64_t first, uint64_t end)
{
    const struct spmv *r = data;
    struct mr_span span = mr_span(first, end, PIECE, r->y_size);
    sum[r->type](r, r->partial, span.begin, span.stop);
}

/* ---- converting, and all at once ---- */

static void run_pack(void *data, uint64_t first, uint64_t end)
{
    const struct spmv *r = data;
    struct mr_span span = mr_span(first, end, PIECE, r->x_size);
    mr_take(r->x_type, (const char *)r->x + span.begin * mr_element_size(r->x_type), 1, span.stop - span.begin, r->type,
            (char *)r->packed + (size_t)span.begin * mr_type_size(r->type));
}

static void run_alone(void *data, uint64_t first, uint64_t end)
{
    (void)first, (void)end;
    struct spmv r = *(const struct spmv *)data;
    size_t size = mr_type_size(r.type);
    bool is_done = true;
    r.parts = 1;
    if (r.pack) {
        void *x = mr_math_scratch(2, (size_t)r.x_size * size);
        is_done = x != NULL;
        if (is_done)
            mr_take(r.x_type, r.x, 1, r.x_size, r.type, x);
        r.x = x;
    }
    if (is_done && r.gather)
        is_done = gather(&r, 0, mr_lines(&r.a));
    else if (is_done) {
        void *y = mr_math_scratch(3, (size_t)r.y_size * size);
        is_done = y && scatter[r.type](&r, 0, mr_lines(&r.a), y);
        if (is_done)
            sum[r.type](&r, y, 0, r.y_size);
    }
    if (!is_done)
        mr_math_short_of_memory(r.name);
}

cusparseStatus_t mr_cusparse_multiply(const struct mr_form *form, const struct mr_cusparse *sparse,
                                      const struct mr_spmv *call, void *buffer)
{
    const struct cusparseSpMatDescr *a = call->a;
    bool is_transposed = call->op != CUSPARSE_OPERATION_NON_TRANSPOSE;
    struct spmv r = {
        .a = *a,
        .gather = is_transposed == (a->format == CUSPARSE_FORMAT_CSC),
        .type = mr_type_for(call->compute),
        .compute = call->compute,
        .x_type = call->x_type,
        .y_type = call->y_type,
        .x = call->x,
        .y = call->y,
        .x_size = is_transposed ? a->rows : a->cols,
        .y_size = is_transposed ? a->cols : a->rows,
        .alpha = call->alpha,
        .beta = call->beta,
        .name = form->name,
    };
    r.conjugated = call->op == CUSPARSE_OPERATION_CONJUGATE_TRANSPOSE && mr_type_is_complex(r.type);
    r.pack = r.x_type != mr_stored(r.type);
    r.parts = r.gather ? mr_lines_parts(a, 1) : scatters(a, r.y_size);
    if (r.y_size == 0)
        return CUSPARSE_STATUS_SUCCESS;
    if ((!buffer && r.pack) || (!r.gather && (!buffer || r.parts <= 1)))
        return mr_cusparse_submit(form, sparse, 1, run_alone, &r, sizeof r);
    size_t size = mr_type_size(r.type);
    r.packed = buffer;
    if (buffer)
        r.partial = (char *)buffer + (r.pack ? ALIGNED((size_t)r.x_size * size) : 0);
    if (r.pack) {
        MR_STEP(mr_cusparse_submit(form, sparse, mr_parts_of((uint64_t)r.x_size, PIECE), run_pack, &r, sizeof r));
        r.x = r.packed;
    }
    if (r.gather)
        return mr_cusparse_submit(form, sparse, r.parts, run_gather, &r, sizeof r);
    MR_STEP(mr_cusparse_submit(form, sparse, r.parts, run_scatter, &r, sizeof r));
    return mr_cusparse_submit(form, sparse, mr_parts_of((uint64_t)r.y_size, PIECE), run_sum, &r, sizeof r);
}

/* ---- the generic interface ---- */

/* Algorithms name the format that they are for. */
static bool fits(cusparseSpMVAlg_t alg, cusparseFormat_t format)
{
    switch (alg) {
    case CUSPARSE_SPMV_COO_ALG1:
    case CUSPARSE_SPMV_COO_ALG2:
        return format == CUSPARSE_FORMAT_COO;
    case CUSPARSE_SPMV_SELL_ALG1:
        return format == CUSPARSE_FORMAT_SLICED_ELLPACK;
    case CUSPARSE_SPMV_BSR_ALG1:
        return format == CUSPARSE_FORMAT_BSR;
    default:
        return format == CUSPARSE_FORMAT_CSR || format == CUSPARSE_FORMAT_CSC;
    }
}

static cusparseStatus_t check(const struct mr_form *form, cusparseOperation_t op, const void *alpha,
                              const struct cusparseSpMatDescr *a, const struct cusparseDnVecDescr *x, const void *beta,
                              const struct cusparseDnVecDescr *y, cudaDataType compute, cusparseSpMVAlg_t alg)
{
    MR_CHECK(form, alpha && beta);
    MR_CHECK(form, mr_is(a, MR_KIND_SPMAT) && mr_is(x, MR_KIND_DNVEC) && mr_is(y, MR_KIND_DNVEC));
    MR_CHECK(form, mr_is_op(op) && (unsigned)alg <= CUSPARSE_SPMV_BSR_ALG1);
    bool is_transposed = op != CUSPARSE_OPERATION_NON_TRANSPOSE;
    MR_CHECK(form, x->size == (is_transposed ? a->rows : a->cols));
    MR_CHECK(form, y->size == (is_transposed ? a->cols : a->rows));
    MR_SUPPORT(form, a->format != CUSPARSE_FORMAT_BLOCKED_ELL);
    MR_SUPPORT(form, a->format != CUSPARSE_FORMAT_BSR || !is_transposed);
    MR_CHECK(form, a->format != CUSPARSE_FORMAT_SLICED_ELLPACK || a->slice_size > 0);
    MR_CHECK(form, alg == CUSPARSE_SPMV_ALG_DEFAULT || fits(alg, a->format));
    MR_SUPPORT(form, mr_mix_is_known(compute, a->type, x->type, y->type));
    return CUSPARSE_STATUS_SUCCESS;
}

cusparseStatus_t mr_cusparse_SpMV_bufferSize(const struct mr_form *form, cusparseHandle_t handle,
                                             cusparseOperation_t opA, const void *alpha, cusparseConstSpMatDescr_t matA,
                                             cusparseConstDnVecDescr_t vecX, const void *beta,
                                             cusparseDnVecDescr_t vecY, cudaDataType computeType, cusparseSpMVAlg_t alg,
                                             size_t *bufferSize)
{
    MR_ENTER(form, handle);
    MR_STEP(check(form, opA, alpha, matA, vecX, beta, vecY, computeType, alg));
    MR_CHECK(form, bufferSize);
    size_t size = mr_type_size(mr_type_for(computeType)), bytes = 0;
    bool is_transposed = opA != CUSPARSE_OPERATION_NON_TRANSPOSE;
    if (vecX->type != mr_stored(mr_type_for(computeType)))
        bytes += ALIGNED((size_t)vecX->size * size);
    if (is_transposed != (matA->format == CUSPARSE_FORMAT_CSC)) {
        uint64_t parts = scatters(matA, vecY->size);
        bytes += parts > 1 ? parts * (uint64_t)vecY->size * size : 0;
    }
    *bufferSize = bytes;
    return CUSPARSE_STATUS_SUCCESS;
}

cusparseStatus_t mr_cusparse_SpMV_preprocess(const struct mr_form *form, cusparseHandle_t handle,
                                             cusparseOperation_t opA, const void *alpha, cusparseConstSpMatDescr_t matA,
                                             cusparseConstDnVecDescr_t vecX, const void *beta,
                                             cusparseDnVecDescr_t vecY, cudaDataType computeType, cusparseSpMVAlg_t alg,
                                             void *externalBuffer)
{
    (void)externalBuffer;
    MR_ENTER(form, handle);
    return check(form, opA, alpha, matA, vecX, beta, vecY, computeType, alg);
}

cusparseStatus_t mr_cusparse_SpMV(const struct mr_form *form, cusparseHandle_t handle, cusparseOperation_t opA,
                                  const void *alpha, cusparseConstSpMatDescr_t matA, cusparseConstDnVecDescr_t vecX,
                                  const void *beta, cusparseDnVecDescr_t vecY, cudaDataType computeType,
                                  cusparseSpMVAlg_t alg, void *externalBuffer)
{
    MR_ENTER(form, handle);
    MR_STEP(check(form, opA, alpha, matA, vecX, beta, vecY, computeType, alg));
    struct mr_spmv call = {.op = opA,
                           .a = matA,
                           .x = vecX->values,
                           .y = vecY->values,
                           .x_type = vecX->type,
                           .y_type = vecY->type,
                           .compute = computeType,
                           .alpha = mr_cusparse_scalar(sparse, alpha, computeType),
                           .beta = mr_cusparse_scalar(sparse, beta, computeType)};
    return mr_cusparse_multiply(form, sparse, &call, externalBuffer);
}
