/* SPDX-License-Identifier: Apache-2.0 */
/* Sparse to dense, and dense to sparse. The latter is done in two steps: the analysis counts, writes the offsets and
 * tells the host how many entries there are; the program brings arrays, and the conversion fills them. */
#include "libs/cusparse/lines.h"
#include "libs/math/convert.h"

#define PIECE 16384

struct conversion {
    struct cusparseSpMatDescr sparse;
    struct cusparseDnMatDescr dense;
    int64_t each; /* lines of a part */
    uint64_t parts;
    int64_t *total;
    int64_t *before; /* COO: in the buffer, how many entries the lines before have */
    const char *name;
};

static char *element_at(const struct cusparseDnMatDescr *d, int64_t row, int64_t column, unsigned size)
{
    int64_t at = d->order == CUSPARSE_ORDER_ROW ? row * d->ld + column : row + column * d->ld;
    return (char *)d->values + at * size;
}

/* ---- sparse to dense ---- */

static void run_clear(void *data, uint64_t first, uint64_t end)
{
    const struct conversion *r = data;
    const struct cusparseDnMatDescr *d = &r->dense;
    unsigned size = mr_element_size(d->type);
    bool by_row = d->order == CUSPARSE_ORDER_ROW;
    struct mr_span span = mr_span(first, end, r->each, by_row ? d->rows : d->cols);
    for (int64_t i = span.begin; i < span.stop; i++)
        memset((char *)d->values + i * d->ld * size, 0, (size_t)(by_row ? d->cols : d->rows) * size);
}

static void run_spread(void *data, uint64_t first, uint64_t end)
{
    const struct conversion *r = data;
    unsigned size = mr_element_size(r->sparse.type);
    struct mr_reader reader = {.matrix = &r->sparse, .type = mr_type_for(r->sparse.type), .places = true};
    struct mr_entries e;
    bool by_column = r->sparse.format == CUSPARSE_FORMAT_CSC;
    int64_t stop = mr_lines_cut(&r->sparse, end, r->parts);
    for (int64_t line = mr_lines_cut(&r->sparse, first, r->parts); line < stop; line++) {
        if (!mr_line(&reader, line, &e)) {
            mr_math_short_of_memory(r->name);
            return;
        }
        for (int64_t k = 0; k < e.count; k++)
            memcpy(element_at(&r->dense, by_column ? e.index[k] : line, by_column ? line : e.index[k], size),
                   (const char *)r->sparse.values + e.place[k] * size, size);
    }
}

/* COO, whose entries may be in any order here, as on hardware. */
static void run_spread_entries(void *data, uint64_t first, uint64_t end)
{
    const struct conversion *r = data;
    const struct cusparseSpMatDescr *m = &r->sparse;
    unsigned size = mr_element_size(m->type);
    struct mr_span span = mr_span(first, end, PIECE, m->nnz);
    for (int64_t k = span.begin; k < span.stop; k++)
        memcpy(element_at(&r->dense, mr_index(m->offsets, m->offset_type, k) - (int64_t)m->base,
                          mr_index(m->indices, m->index_type, k) - (int64_t)m->base, size),
               (const char *)m->values + k * size, size);
}

static cusparseStatus_t check(const struct mr_form *form, const struct cusparseSpMatDescr *sparse,
                              const struct cusparseDnMatDescr *dense)
{
    MR_CHECK(form, mr_is(sparse, MR_KIND_SPMAT) && mr_is(dense, MR_KIND_DNMAT));
    MR_CHECK(form, sparse->rows == dense->rows && sparse->cols == dense->cols);
    MR_CHECK(form, sparse->type == dense->type);
    return CUSPARSE_STATUS_SUCCESS;
}

cusparseStatus_t mr_cusparse_SparseToDense_bufferSize(const struct mr_form *form, cusparseHandle_t handle,
                                                      cusparseConstSpMatDescr_t matA, cusparseDnMatDescr_t matB,
                                                      cusparseSparseToDenseAlg_t alg, size_t *bufferSize)
{
    MR_ENTER(form, handle);
    MR_CHECK(form, bufferSize && alg == CUSPARSE_SPARSETODENSE_ALG_DEFAULT);
    MR_STEP(check(form, matA, matB));
    MR_SUPPORT(form, matA->format <= CUSPARSE_FORMAT_COO);
    *bufferSize = 0;
    return CUSPARSE_STATUS_SUCCESS;
}

cusparseStatus_t mr_cusparse_SparseToDense(const struct mr_form *form, cusparseHandle_t handle,
                                           cusparseConstSpMatDescr_t matA, cusparseDnMatDescr_t matB,
                                           cusparseSparseToDenseAlg_t alg, void *externalBuffer)
{
    (void)externalBuffer;
    MR_ENTER(form, handle);
    MR_CHECK(form, alg == CUSPARSE_SPARSETODENSE_ALG_DEFAULT);
    MR_STEP(check(form, matA, matB));
    MR_SUPPORT(form, matA->format <= CUSPARSE_FORMAT_COO);
    struct conversion r = {.sparse = *matA, .dense = *matB, .name = form->name};
    bool by_row = matB->order == CUSPARSE_ORDER_ROW;
    r.each = PIECE / ((by_row ? matB->cols : matB->rows) + 1) + 1;
    if (matB->rows == 0 || matB->cols == 0)
        return CUSPARSE_STATUS_SUCCESS;
    MR_STEP(mr_cusparse_submit(form, sparse,
                               mr_parts_of((uint64_t)(by_row ? matB->rows : matB->cols), (uint64_t)r.each), run_clear,
                               &r, sizeof r));
    if (matA->format == CUSPARSE_FORMAT_COO)
        return mr_cusparse_submit(form, sparse, mr_parts_of((uint64_t)matA->nnz, PIECE), run_spread_entries, &r,
                                  sizeof r);
    r.parts = mr_lines_parts(matA, 1);
    return mr_cusparse_submit(form, sparse, r.parts, run_spread, &r, sizeof r);
}

/* ---- dense to sparse ---- */

static bool is_zero(const char *at, unsigned size, bool is_float)
{
    bool zero = true;
    for (unsigned i = 0; i < size; i++)
        zero = zero && (at[i] & (is_float ? 0x7f : 0xff)) == 0;
    return zero;
}

/* Whether the element at (line, across) is zero; -0 is, too. */
static bool is_nothing(const struct conversion *r, int64_t line, int64_t across, unsigned size)
{
    bool by_column = r->sparse.format == CUSPARSE_FORMAT_CSC;
    const char *at = element_at(&r->dense, by_column ? across : line, by_column ? line : across, size);
    switch ((int)r->dense.type) {
    case CUDA_R_32F:
        return *(const float *)(const void *)at == 0;
    case CUDA_R_64F:
        return *(const double *)(const void *)at == 0;
    case CUDA_C_32F:
        return ((const float *)(const void *)at)[0] == 0 && ((const float *)(const void *)at)[1] == 0;
    case CUDA_C_64F:
        return ((const double *)(const void *)at)[0] == 0 && ((const double *)(const void *)at)[1] == 0;
    case CUDA_R_16F:
    case CUDA_R_16BF:
        return (*(const uint16_t *)(const void *)at & 0x7fff) == 0;
    case CUDA_C_16F:
    case CUDA_C_16BF:
        return (*(const uint32_t *)(const void *)at & 0x7fff7fff) == 0;
    default:
        return is_zero(at, size, false);
    }
}

/* The number of entries of line i goes to place i + 1 of what will be offsets. */
static void put_offset(const struct conversion *r, int64_t i, int64_t value)
{
    if (r->sparse.format == CUSPARSE_FORMAT_COO)
        r->before[i] = value;
    else
        mr_index_put(r->sparse.offsets, r->sparse.offset_type, i, value);
}

static int64_t get_offset(const struct conversion *r, int64_t i)
{
    return r->sparse.format == CUSPARSE_FORMAT_COO ? r->before[i]
                                                   : mr_index(r->sparse.offsets, r->sparse.offset_type, i);
}

static void run_count(void *data, uint64_t first, uint64_t end)
{
    const struct conversion *r = data;
    unsigned size = mr_element_size(r->dense.type);
    struct mr_span span = mr_span(first, end, r->each, mr_lines(&r->sparse));
    int64_t across = mr_across(&r->sparse);
    for (int64_t i = span.begin; i < span.stop; i++) {
        int64_t count = 0;
        for (int64_t j = 0; j < across; j++)
            count += !is_nothing(r, i, j, size);
        put_offset(r, i + 1, count);
    }
}

static void run_offsets(void *data, uint64_t first, uint64_t end)
{
    const struct conversion *r = data;
    (void)first, (void)end;
    int64_t base = r->sparse.format == CUSPARSE_FORMAT_COO ? 0 : (int64_t)r->sparse.base, at = base;
    int64_t lines = mr_lines(&r->sparse);
    put_offset(r, 0, at);
    for (int64_t i = 0; i < lines; i++) {
        at += get_offset(r, i + 1);
        put_offset(r, i + 1, at);
    }
    *r->total = at - base;
}

static void run_fill(void *data, uint64_t first, uint64_t end)
{
    const struct conversion *r = data;
    const struct cusparseSpMatDescr *m = &r->sparse;
    unsigned size = mr_element_size(m->type);
    struct mr_span span = mr_span(first, end, r->each, mr_lines(m));
    bool by_column = m->format == CUSPARSE_FORMAT_CSC, is_coo = m->format == CUSPARSE_FORMAT_COO;
    int64_t across = mr_across(m);
    for (int64_t i = span.begin; i < span.stop; i++) {
        int64_t at = get_offset(r, i) - (is_coo ? 0 : (int64_t)m->base);
        for (int64_t j = 0; j < across; j++) {
            if (is_nothing(r, i, j, size))
                continue;
            mr_index_put(m->indices, m->index_type, at, j + m->base);
            if (is_coo)
                mr_index_put(m->offsets, m->offset_type, at, i + m->base);
            memcpy((char *)m->values + at * size, element_at(&r->dense, by_column ? j : i, by_column ? i : j, size),
                   size);
            at++;
        }
    }
}

/* Blocked ELL, whose structure is there already. */
static void run_collect(void *data, uint64_t first, uint64_t end)
{
    const struct conversion *r = data;
    unsigned size = mr_element_size(r->sparse.type);
    struct mr_reader reader = {.matrix = &r->sparse, .type = mr_type_for(r->sparse.type), .places = true};
    struct mr_entries e;
    int64_t stop = mr_lines_cut(&r->sparse, end, r->parts);
    for (int64_t line = mr_lines_cut(&r->sparse, first, r->parts); line < stop; line++) {
        if (!mr_line(&reader, line, &e)) {
            mr_math_short_of_memory(r->name);
            return;
        }
        for (int64_t k = 0; k < e.count; k++)
            memcpy((char *)r->sparse.values + e.place[k] * size, element_at(&r->dense, line, e.index[k], size), size);
    }
}

static bool has_structure(const struct cusparseSpMatDescr *m)
{
    return m->format == CUSPARSE_FORMAT_BLOCKED_ELL;
}

static struct conversion dense_to_sparse(const struct mr_form *form, const struct cusparseDnMatDescr *dense,
                                         const struct cusparseSpMatDescr *sparse, void *buffer)
{
    struct conversion r = {.sparse = *sparse, .dense = *dense, .before = buffer, .name = form->name};
    r.each = PIECE / (mr_across(sparse) + 1) + 1;
    r.parts =
        has_structure(sparse) ? mr_lines_parts(sparse, 1) : mr_parts_of((uint64_t)mr_lines(sparse), (uint64_t)r.each);
    return r;
}

cusparseStatus_t mr_cusparse_DenseToSparse_bufferSize(const struct mr_form *form, cusparseHandle_t handle,
                                                      cusparseConstDnMatDescr_t matA, cusparseSpMatDescr_t matB,
                                                      cusparseDenseToSparseAlg_t alg, size_t *bufferSize)
{
    MR_ENTER(form, handle);
    MR_CHECK(form, bufferSize && alg == CUSPARSE_DENSETOSPARSE_ALG_DEFAULT);
    MR_STEP(check(form, matB, matA));
    MR_SUPPORT(form, matB->format <= CUSPARSE_FORMAT_COO || has_structure(matB));
    *bufferSize = (size_t)(matB->rows + 1) * sizeof(int64_t);
    return CUSPARSE_STATUS_SUCCESS;
}

cusparseStatus_t mr_cusparse_DenseToSparse_analysis(const struct mr_form *form, cusparseHandle_t handle,
                                                    cusparseConstDnMatDescr_t matA, cusparseSpMatDescr_t matB,
                                                    cusparseDenseToSparseAlg_t alg, void *externalBuffer)
{
    MR_ENTER(form, handle);
    MR_CHECK(form, alg == CUSPARSE_DENSETOSPARSE_ALG_DEFAULT);
    MR_STEP(check(form, matB, matA));
    MR_SUPPORT(form, matB->format <= CUSPARSE_FORMAT_COO || has_structure(matB));
    if (has_structure(matB))
        return CUSPARSE_STATUS_SUCCESS;
    MR_CHECK(form, matB->format != CUSPARSE_FORMAT_COO || externalBuffer);
    MR_CHECK(form, matB->format == CUSPARSE_FORMAT_COO || matB->offsets);
    MR_STEP(mr_cusparse_wait(form, sparse)); /* refuses a capture */
    int64_t total = 0;
    struct conversion r = dense_to_sparse(form, matA, matB, externalBuffer);
    r.total = &total;
    MR_STEP(mr_cusparse_submit(form, sparse, r.parts, run_count, &r, sizeof r));
    MR_STEP(mr_cusparse_submit(form, sparse, 1, run_offsets, &r, sizeof r));
    MR_STEP(mr_cusparse_wait(form, sparse));
    matB->nnz = total;
    return CUSPARSE_STATUS_SUCCESS;
}

cusparseStatus_t mr_cusparse_DenseToSparse_convert(const struct mr_form *form, cusparseHandle_t handle,
                                                   cusparseConstDnMatDescr_t matA, cusparseSpMatDescr_t matB,
                                                   cusparseDenseToSparseAlg_t alg, void *externalBuffer)
{
    MR_ENTER(form, handle);
    MR_CHECK(form, alg == CUSPARSE_DENSETOSPARSE_ALG_DEFAULT);
    MR_STEP(check(form, matB, matA));
    MR_SUPPORT(form, matB->format <= CUSPARSE_FORMAT_COO || has_structure(matB));
    MR_CHECK(form, matB->format != CUSPARSE_FORMAT_COO || externalBuffer);
    MR_CHECK(form, matB->nnz == 0 || (matB->indices && matB->values));
    struct conversion r = dense_to_sparse(form, matA, matB, externalBuffer);
    return mr_cusparse_submit(form, sparse, matB->nnz > 0 ? r.parts : 0, has_structure(matB) ? run_collect : run_fill,
                              &r, sizeof r);
}
