/* SPDX-License-Identifier: Apache-2.0 */
/* Sorting, row offsets from row indices and back, CSR to CSC. All sorts are stable. */
#include "libs/cusparse/info.h"
#include "libs/cusparse/older.h"
#include "libs/cusparse/transpose.h"

#include <stdlib.h>

#define PIECE 16384
#define CHUNKS 4 /* rows that count columns by themselves, at most */

/* An index, and where it was. */
struct keyed {
    int key, at;
};

/* Sorts by key; `spare` has as much room. */
static void sort_keyed(struct keyed *keys, struct keyed *spare, int64_t count)
{
    for (int64_t begin = 0; begin < count; begin += 16)
        for (int64_t i = begin + 1; i < begin + 16 && i < count; i++) {
            struct keyed one = keys[i];
            int64_t j = i;
            for (; j > begin && keys[j - 1].key > one.key; j--)
                keys[j] = keys[j - 1];
            keys[j] = one;
        }
    struct keyed *from = keys, *to = spare;
    for (int64_t width = 16; width < count; width *= 2) {
        for (int64_t begin = 0; begin < count; begin += 2 * width) {
            int64_t middle = begin + width < count ? begin + width : count;
            int64_t end = begin + 2 * width < count ? begin + 2 * width : count, a = begin, b = middle;
            for (int64_t i = begin; i < end; i++)
                to[i] = b >= end || (a < middle && from[a].key <= from[b].key) ? from[a++] : from[b++];
        }
        struct keyed *swap = from;
        from = to;
        to = swap;
    }
    if (from != keys)
        memcpy(keys, from, (size_t)count * sizeof *keys);
}

/* ---- rows of CSR, columns of CSC ---- */

struct sorting {
    const int *offsets;
    int *index, *permutation;
    int64_t rows, base, each, size; /* size: bytes of a value */
    void *values;
    int *order; /* csru2csr: where each entry was within its row; the info has it */
    bool back; /* csr2csru */
    const char *name;
};

/* Puts a row's indices, places in P and values into the order of `keys`; `spare` has room for the values. */
static void apply(const struct sorting *r, int64_t at, const struct keyed *keys, int64_t count, int *spare, char *room)
{
    for (int64_t k = 0; k < count; k++)
        r->index[at + k] = keys[k].key;
    if (r->permutation) {
        memcpy(spare, r->permutation + at, (size_t)count * sizeof(int));
        for (int64_t k = 0; k < count; k++)
            r->permutation[at + k] = spare[keys[k].at];
    }
    if (r->order)
        for (int64_t k = 0; k < count; k++)
            r->order[at + k] = keys[k].at;
    if (r->values) {
        char *values = (char *)r->values + at * r->size;
        memcpy(room, values, (size_t)(count * r->size));
        for (int64_t k = 0; k < count; k++)
            memcpy(values + k * r->size, room + keys[k].at * r->size, (size_t)r->size);
    }
}

/* The order before: index and value k go back to where they were. */
static void take_back(const struct sorting *r, int64_t at, int64_t count, int *spare, char *room)
{
    char *values = (char *)r->values + at * r->size;
    memcpy(spare, r->index + at, (size_t)count * sizeof(int));
    memcpy(room, values, (size_t)(count * r->size));
    for (int64_t k = 0; k < count; k++) {
        int64_t to = r->order[at + k];
        if (to < 0 || to >= count)
            continue;
        r->index[at + to] = spare[k];
        memcpy(values + to * r->size, room + k * r->size, (size_t)r->size);
    }
}

static void run_sort(void *data, uint64_t first, uint64_t end)
{
    const struct sorting *r = data;
    struct mr_span span = mr_span(first, end, r->each, r->rows);
    for (int64_t i = span.begin; i < span.stop; i++) {
        int64_t at = r->offsets[i] - r->base, count = r->offsets[i + 1] - r->base - at;
        if (count <= 0)
            continue;
        struct keyed *keys = mr_math_scratch(0, (size_t)count * sizeof *keys);
        struct keyed *spare = mr_math_scratch(1, (size_t)count * sizeof *spare);
        char *room = mr_math_scratch(2, (size_t)(count * r->size));
        if (!keys || !spare || !room) {
            mr_math_short_of_memory(r->name);
            return;
        }
        if (r->back) {
            take_back(r, at, count, (int *)spare, room);
            continue;
        }
        for (int64_t k = 0; k < count; k++)
            keys[k] = (struct keyed){r->index[at + k], (int)k};
        sort_keyed(keys, spare, count);
        apply(r, at, keys, count, (int *)spare, room);
    }
}

static cusparseStatus_t sort_lines(const struct mr_form *form, const struct mr_cusparse *sparse, struct sorting r,
                                   int64_t nnz)
{
    r.each = PIECE / (nnz / (r.rows + 1) + 1) + 1;
    r.name = form->name;
    return mr_cusparse_submit(form, sparse, nnz ? mr_parts_of((uint64_t)r.rows, (uint64_t)r.each) : 0, run_sort, &r,
                              sizeof r);
}

cusparseStatus_t mr_cusparse_Xcsrsort_bufferSizeExt(const struct mr_form *form, cusparseHandle_t handle, int64_t m,
                                                    int64_t n, int64_t nnz, const int *csrRowPtrA,
                                                    const int *csrColIndA, size_t *pBufferSizeInBytes)
{
    (void)csrRowPtrA, (void)csrColIndA;
    MR_ENTER(form, handle);
    MR_CHECK(form, m >= 0 && n >= 0 && nnz >= 0 && pBufferSizeInBytes);
    *pBufferSizeInBytes = 0;
    return CUSPARSE_STATUS_SUCCESS;
}

cusparseStatus_t mr_cusparse_Xcsrsort(const struct mr_form *form, cusparseHandle_t handle, int64_t m, int64_t n,
                                      int64_t nnz, const cusparseMatDescr_t descrA, const int *csrRowPtrA,
                                      int *csrColIndA, int *P, void *pBuffer)
{
    (void)pBuffer;
    MR_ENTER(form, handle);
    MR_CHECK(form, m >= 0 && n >= 0 && nnz >= 0 && mr_is(descrA, MR_KIND_MATDESCR));
    MR_CHECK(form, csrRowPtrA && (nnz == 0 || csrColIndA));
    return sort_lines(
        form, sparse,
        (struct sorting){.offsets = csrRowPtrA, .index = csrColIndA, .permutation = P, .rows = m, .base = descrA->base},
        nnz);
}

cusparseStatus_t mr_cusparse_Xcscsort_bufferSizeExt(const struct mr_form *form, cusparseHandle_t handle, int64_t m,
                                                    int64_t n, int64_t nnz, const int *cscColPtrA,
                                                    const int *cscRowIndA, size_t *pBufferSizeInBytes)
{
    (void)cscColPtrA, (void)cscRowIndA;
    MR_ENTER(form, handle);
    MR_CHECK(form, m >= 0 && n >= 0 && nnz >= 0 && pBufferSizeInBytes);
    *pBufferSizeInBytes = 0;
    return CUSPARSE_STATUS_SUCCESS;
}

cusparseStatus_t mr_cusparse_Xcscsort(const struct mr_form *form, cusparseHandle_t handle, int64_t m, int64_t n,
                                      int64_t nnz, const cusparseMatDescr_t descrA, const int *cscColPtrA,
                                      int *cscRowIndA, int *P, void *pBuffer)
{
    (void)pBuffer;
    MR_ENTER(form, handle);
    MR_CHECK(form, m >= 0 && n >= 0 && nnz >= 0 && mr_is(descrA, MR_KIND_MATDESCR));
    MR_CHECK(form, cscColPtrA && (nnz == 0 || cscRowIndA));
    return sort_lines(
        form, sparse,
        (struct sorting){.offsets = cscColPtrA, .index = cscRowIndA, .permutation = P, .rows = n, .base = descrA->base},
        nnz);
}

/* ---- csru2csr, which csr2csru takes back ---- */

/* Memory for the order is the info's, from here on. */
cusparseStatus_t mr_cusparse_csru2csr_bufferSizeExt(const struct mr_form *form, cusparseHandle_t handle, int64_t m,
                                                    int64_t n, int64_t nnz, void *csrVal, const int *csrRowPtr,
                                                    int *csrColInd, csru2csrInfo_t info, size_t *pBufferSizeInBytes)
{
    (void)csrVal, (void)csrRowPtr, (void)csrColInd;
    MR_ENTER(form, handle);
    struct mr_info *known = mr_cusparse_info(info, MR_INFO_CSRU);
    MR_CHECK(form, m >= 0 && n >= 0 && nnz >= 0 && pBufferSizeInBytes && known);
    if (!mr_cusparse_info_order(known, nnz))
        return mr_cusparse_bad(form, CUSPARSE_STATUS_ALLOC_FAILED, "memory is short");
    *pBufferSizeInBytes = 0;
    return CUSPARSE_STATUS_SUCCESS;
}

static cusparseStatus_t sort_values(const struct mr_form *form, cusparseHandle_t handle, int64_t m, int64_t n,
                                    int64_t nnz, const cusparseMatDescr_t descr, void *values, const int *offsets,
                                    int *index, csru2csrInfo_t info, bool back)
{
    MR_ENTER(form, handle);
    struct mr_info *known = mr_cusparse_info(info, MR_INFO_CSRU);
    MR_CHECK(form, m >= 0 && n >= 0 && nnz >= 0 && mr_is(descr, MR_KIND_MATDESCR));
    MR_CHECK(form, offsets && (nnz == 0 || (index && values)));
    MR_CHECK(form, known && known->order_size >= nnz);
    known->used = true;
    struct sorting r = {.offsets = offsets,
                        .index = index,
                        .rows = m,
                        .base = descr->base,
                        .values = values,
                        .size = (int64_t)mr_type_size(mr_type_of(form)),
                        .order = known->order,
                        .back = back};
    return sort_lines(form, sparse, r, nnz);
}

cusparseStatus_t mr_cusparse_csru2csr(const struct mr_form *form, cusparseHandle_t handle, int64_t m, int64_t n,
                                      int64_t nnz, const cusparseMatDescr_t descrA, void *csrVal, const int *csrRowPtr,
                                      int *csrColInd, csru2csrInfo_t info, void *pBuffer)
{
    (void)pBuffer;
    return sort_values(form, handle, m, n, nnz, descrA, csrVal, csrRowPtr, csrColInd, info, false);
}

cusparseStatus_t mr_cusparse_csr2csru(const struct mr_form *form, cusparseHandle_t handle, int64_t m, int64_t n,
                                      int64_t nnz, const cusparseMatDescr_t descrA, void *csrVal, const int *csrRowPtr,
                                      int *csrColInd, csru2csrInfo_t info, void *pBuffer)
{
    (void)pBuffer;
    return sort_values(form, handle, m, n, nnz, descrA, csrVal, csrRowPtr, csrColInd, info, true);
}

/* ---- COO: first by the other index, which counting does, then within each ---- */

struct coordinates {
    int *first, *second, *permutation;
    int64_t lines, nnz; /* of `first` */
    int *begin; /* in the buffer: lines + 2, where each line begins */
    int *index, *place; /* in the buffer: second and P by line */
    const char *name;
};

/* Lines are counted from 0 or from 1: there is room for both. Others end up in the last. */
static int64_t line_of(const struct coordinates *r, int64_t k)
{
    int64_t line = r->first[k];
    return line < 0 || line > r->lines ? r->lines : line;
}

static void run_distribute(void *data, uint64_t first, uint64_t end)
{
    const struct coordinates *r = data;
    (void)first, (void)end;
    memset(r->begin, 0, (size_t)(r->lines + 2) * sizeof(int));
    for (int64_t k = 0; k < r->nnz; k++)
        r->begin[line_of(r, k) + 1]++;
    for (int64_t i = 0; i <= r->lines; i++)
        r->begin[i + 1] += r->begin[i];
    for (int64_t k = 0; k < r->nnz; k++) {
        int at = r->begin[line_of(r, k)]++;
        r->index[at] = r->second[k];
        r->place[at] = r->permutation ? r->permutation[k] : 0;
    }
    for (int64_t i = r->lines + 1; i > 0; i--)
        r->begin[i] = r->begin[i - 1];
    r->begin[0] = 0;
}

static void run_within(void *data, uint64_t first, uint64_t end)
{
    const struct coordinates *r = data;
    int64_t each = PIECE / (r->nnz / (r->lines + 1) + 1) + 1;
    struct mr_span span = mr_span(first, end, each, r->lines + 1);
    for (int64_t i = span.begin; i < span.stop; i++) {
        int64_t at = r->begin[i], count = r->begin[i + 1] - at;
        struct keyed *keys = mr_math_scratch(0, (size_t)count * sizeof *keys);
        struct keyed *spare = mr_math_scratch(1, (size_t)count * sizeof *spare);
        if (!keys || !spare) {
            mr_math_short_of_memory(r->name);
            return;
        }
        for (int64_t k = 0; k < count; k++)
            keys[k] = (struct keyed){r->index[at + k], (int)k};
        sort_keyed(keys, spare, count);
        for (int64_t k = 0; k < count; k++) {
            r->first[at + k] = (int)i;
            r->second[at + k] = keys[k].key;
            if (r->permutation)
                r->permutation[at + k] = r->place[at + keys[k].at];
        }
    }
}

static size_t coordinates_bytes(int64_t lines, int64_t nnz)
{
    return (size_t)(lines + 2 + 2 * nnz) * sizeof(int);
}

static cusparseStatus_t sort_coordinates(const struct mr_form *form, cusparseHandle_t handle, int64_t m, int64_t n,
                                         int64_t nnz, int *rows, int *cols, int *permutation, void *buffer, bool by_row)
{
    MR_ENTER(form, handle);
    MR_CHECK(form, m >= 0 && n >= 0 && nnz >= 0);
    MR_CHECK(form, nnz == 0 || (rows && cols && buffer));
    if (nnz == 0)
        return CUSPARSE_STATUS_SUCCESS;
    struct coordinates r = {.first = by_row ? rows : cols,
                            .second = by_row ? cols : rows,
                            .permutation = permutation,
                            .lines = by_row ? m : n,
                            .nnz = nnz,
                            .begin = buffer,
                            .name = form->name};
    r.index = r.begin + r.lines + 2;
    r.place = r.index + nnz;
    MR_STEP(mr_cusparse_submit(form, sparse, 1, run_distribute, &r, sizeof r));
    uint64_t each = (uint64_t)(PIECE / (nnz / (r.lines + 1) + 1) + 1);
    return mr_cusparse_submit(form, sparse, mr_parts_of((uint64_t)r.lines + 1, each), run_within, &r, sizeof r);
}

cusparseStatus_t mr_cusparse_Xcoosort_bufferSizeExt(const struct mr_form *form, cusparseHandle_t handle, int64_t m,
                                                    int64_t n, int64_t nnz, const int *cooRowsA, const int *cooColsA,
                                                    size_t *pBufferSizeInBytes)
{
    (void)cooRowsA, (void)cooColsA;
    MR_ENTER(form, handle);
    MR_CHECK(form, m >= 0 && n >= 0 && nnz >= 0 && pBufferSizeInBytes);
    *pBufferSizeInBytes = coordinates_bytes(m > n ? m : n, nnz);
    return CUSPARSE_STATUS_SUCCESS;
}

cusparseStatus_t mr_cusparse_XcoosortByRow(const struct mr_form *form, cusparseHandle_t handle, int64_t m, int64_t n,
                                           int64_t nnz, int *cooRowsA, int *cooColsA, int *P, void *pBuffer)
{
    return sort_coordinates(form, handle, m, n, nnz, cooRowsA, cooColsA, P, pBuffer, true);
}

cusparseStatus_t mr_cusparse_XcoosortByColumn(const struct mr_form *form, cusparseHandle_t handle, int64_t m, int64_t n,
                                              int64_t nnz, int *cooRowsA, int *cooColsA, int *P, void *pBuffer)
{
    return sort_coordinates(form, handle, m, n, nnz, cooRowsA, cooColsA, P, pBuffer, false);
}

/* ---- pointers ---- */

struct pointers {
    const int *from;
    int *to;
    int64_t count, lines, base;
};

static void run_identity(void *data, uint64_t first, uint64_t end)
{
    const struct pointers *r = data;
    struct mr_span span = mr_span(first, end, PIECE, r->count);
    for (int64_t i = span.begin; i < span.stop; i++)
        r->to[i] = (int)i;
}

cusparseStatus_t mr_cusparse_CreateIdentityPermutation(const struct mr_form *form, cusparseHandle_t handle, int64_t n,
                                                       int *p)
{
    MR_ENTER(form, handle);
    MR_CHECK(form, n >= 0 && (n == 0 || p));
    struct pointers r = {.to = p, .count = n};
    return mr_cusparse_submit(form, sparse, mr_parts_of((uint64_t)n, PIECE), run_identity, &r, sizeof r);
}

static void run_offsets(void *data, uint64_t first, uint64_t end)
{
    const struct pointers *r = data;
    struct mr_span span = mr_span(first, end, PIECE, r->lines + 1);
    for (int64_t i = span.begin; i < span.stop; i++)
        r->to[i] = (int)(mr_index_bound(r->from, CUSPARSE_INDEX_32I, r->count, i + r->base) + r->base);
}

cusparseStatus_t mr_cusparse_Xcoo2csr(const struct mr_form *form, cusparseHandle_t handle, const int *cooRowInd,
                                      int64_t nnz, int64_t m, int *csrSortedRowPtr, cusparseIndexBase_t idxBase)
{
    MR_ENTER(form, handle);
    MR_CHECK(form, nnz >= 0 && m >= 0 && mr_is_base(idxBase) && csrSortedRowPtr && (nnz == 0 || cooRowInd));
    struct pointers r = {.from = cooRowInd, .to = csrSortedRowPtr, .count = nnz, .lines = m, .base = idxBase};
    return mr_cusparse_submit(form, sparse, mr_parts_of((uint64_t)m + 1, PIECE), run_offsets, &r, sizeof r);
}

static void run_rows(void *data, uint64_t first, uint64_t end)
{
    const struct pointers *r = data;
    struct mr_span span = mr_span(first, end, PIECE, r->lines);
    for (int64_t i = span.begin; i < span.stop; i++)
        for (int64_t k = r->from[i] - r->base; k < r->from[i + 1] - r->base; k++)
            r->to[k] = (int)(i + r->base);
}

cusparseStatus_t mr_cusparse_Xcsr2coo(const struct mr_form *form, cusparseHandle_t handle, const int *csrSortedRowPtr,
                                      int64_t nnz, int64_t m, int *cooRowInd, cusparseIndexBase_t idxBase)
{
    MR_ENTER(form, handle);
    MR_CHECK(form, nnz >= 0 && m >= 0 && mr_is_base(idxBase) && csrSortedRowPtr && (nnz == 0 || cooRowInd));
    struct pointers r = {.from = csrSortedRowPtr, .to = cooRowInd, .count = nnz, .lines = m, .base = idxBase};
    return mr_cusparse_submit(form, sparse, nnz ? mr_parts_of((uint64_t)m, PIECE) : 0, run_rows, &r, sizeof r);
}

/* ---- CSR to CSC: chunks of rows count their columns, then each knows where its entries go ---- */

struct transposition {
    const char *values;
    const int *offsets, *columns;
    char *to;
    int *to_offsets, *to_rows;
    int64_t rows, cols, base, size;
    uint64_t chunks;
    int *counts; /* in the buffer: cols for each chunk */
};

static uint64_t chunks_of(int64_t rows, int64_t cols, int64_t nnz)
{
    int64_t chunks = nnz / (PIECE + cols) + 1;
    chunks = chunks < rows ? chunks : rows;
    return chunks < 1 ? 1 : chunks < CHUNKS ? (uint64_t)chunks : CHUNKS;
}

static struct mr_span rows_of(const struct transposition *r, uint64_t chunk)
{
    struct cusparseSpMatDescr m = {.format = CUSPARSE_FORMAT_CSR,
                                   .rows = r->rows,
                                   .offsets = (void *)r->offsets,
                                   .offset_type = CUSPARSE_INDEX_32I,
                                   .base = (cusparseIndexBase_t)r->base};
    return (struct mr_span){mr_lines_cut(&m, chunk, r->chunks), mr_lines_cut(&m, chunk + 1, r->chunks)};
}

static void run_columns(void *data, uint64_t first, uint64_t end)
{
    const struct transposition *r = data;
    for (uint64_t chunk = first; chunk < end; chunk++) {
        struct mr_span rows = rows_of(r, chunk);
        int *counts = r->counts + (int64_t)chunk * r->cols;
        memset(counts, 0, (size_t)r->cols * sizeof *counts);
        if (rows.begin < rows.stop)
            for (int64_t k = r->offsets[rows.begin] - r->base; k < r->offsets[rows.stop] - r->base; k++)
                counts[r->columns[k] - r->base]++;
    }
}

static void run_starts(void *data, uint64_t first, uint64_t end)
{
    const struct transposition *r = data;
    int at = 0;
    (void)first, (void)end;
    for (int64_t j = 0; j < r->cols; j++) {
        r->to_offsets[j] = (int)(at + r->base);
        for (uint64_t chunk = 0; chunk < r->chunks; chunk++) {
            int *place = r->counts + (int64_t)chunk * r->cols + j, count = *place;
            *place = at;
            at += count;
        }
    }
    r->to_offsets[r->cols] = (int)(at + r->base);
}

static void run_entries(void *data, uint64_t first, uint64_t end)
{
    const struct transposition *r = data;
    for (uint64_t chunk = first; chunk < end; chunk++) {
        struct mr_span rows = rows_of(r, chunk);
        int *counts = r->counts + (int64_t)chunk * r->cols;
        for (int64_t i = rows.begin; i < rows.stop; i++)
            for (int64_t k = r->offsets[i] - r->base; k < r->offsets[i + 1] - r->base; k++) {
                int64_t at = counts[r->columns[k] - r->base]++;
                r->to_rows[at] = (int)(i + r->base);
                if (r->to && r->size == 8)
                    memcpy(r->to + at * 8, r->values + k * 8, 8);
                else if (r->to)
                    memcpy(r->to + at * r->size, r->values + k * r->size, (size_t)r->size);
            }
    }
}

cusparseStatus_t mr_cusparse_transpose(const struct mr_form *form, const struct mr_cusparse *sparse,
                                       const struct mr_transpose *call, void *buffer)
{
    struct transposition r = {.values = call->values,
                              .offsets = call->offsets,
                              .columns = call->columns,
                              .to = call->to,
                              .to_offsets = call->to_offsets,
                              .to_rows = call->to_rows,
                              .rows = call->rows,
                              .cols = call->cols,
                              .base = call->base,
                              .size = call->size,
                              .chunks = chunks_of(call->rows, call->cols, call->nnz),
                              .counts = buffer};
    MR_STEP(mr_cusparse_submit(form, sparse, r.chunks, run_columns, &r, sizeof r));
    MR_STEP(mr_cusparse_submit(form, sparse, 1, run_starts, &r, sizeof r));
    return mr_cusparse_submit(form, sparse, r.chunks, run_entries, &r, sizeof r);
}

size_t mr_cusparse_transpose_bytes(int64_t rows, int64_t cols, int64_t nnz)
{
    return chunks_of(rows, cols, nnz) * (size_t)cols * sizeof(int) + 1;
}

cusparseStatus_t mr_cusparse_Csr2cscEx2_bufferSize(const struct mr_form *form, cusparseHandle_t handle, int64_t m,
                                                   int64_t n, int64_t nnz, const void *csrVal, const int *csrRowPtr,
                                                   const int *csrColInd, void *cscVal, int *cscColPtr, int *cscRowInd,
                                                   cudaDataType valType, cusparseAction_t copyValues,
                                                   cusparseIndexBase_t idxBase, cusparseCsr2CscAlg_t alg,
                                                   size_t *bufferSize)
{
    (void)csrVal, (void)csrRowPtr, (void)csrColInd, (void)cscVal, (void)cscColPtr, (void)cscRowInd, (void)alg;
    MR_ENTER(form, handle);
    MR_CHECK(form, m >= 0 && n >= 0 && nnz >= 0 && bufferSize && mr_is_base(idxBase));
    MR_CHECK(form, copyValues == CUSPARSE_ACTION_SYMBOLIC || copyValues == CUSPARSE_ACTION_NUMERIC);
    MR_SUPPORT(form, mr_element_size(valType) > 0);
    *bufferSize = mr_cusparse_transpose_bytes(m, n, nnz);
    return CUSPARSE_STATUS_SUCCESS;
}

cusparseStatus_t mr_cusparse_Csr2cscEx2(const struct mr_form *form, cusparseHandle_t handle, int64_t m, int64_t n,
                                        int64_t nnz, const void *csrVal, const int *csrRowPtr, const int *csrColInd,
                                        void *cscVal, int *cscColPtr, int *cscRowInd, cudaDataType valType,
                                        cusparseAction_t copyValues, cusparseIndexBase_t idxBase,
                                        cusparseCsr2CscAlg_t alg, void *buffer)
{
    (void)alg;
    MR_ENTER(form, handle);
    MR_CHECK(form, m >= 0 && n >= 0 && nnz >= 0 && mr_is_base(idxBase));
    MR_CHECK(form, copyValues == CUSPARSE_ACTION_SYMBOLIC || copyValues == CUSPARSE_ACTION_NUMERIC);
    bool is_numeric = copyValues == CUSPARSE_ACTION_NUMERIC;
    MR_CHECK(form, csrRowPtr && cscColPtr && buffer);
    MR_CHECK(form, nnz == 0 || (csrColInd && cscRowInd && (!is_numeric || (csrVal && cscVal))));
    MR_SUPPORT(form, mr_element_size(valType) > 0);
    struct mr_transpose call = {.values = csrVal,
                                .offsets = csrRowPtr,
                                .columns = csrColInd,
                                .to = is_numeric ? cscVal : NULL,
                                .to_offsets = cscColPtr,
                                .to_rows = cscRowInd,
                                .rows = m,
                                .cols = n,
                                .nnz = nnz,
                                .base = idxBase,
                                .size = mr_element_size(valType)};
    return mr_cusparse_transpose(form, sparse, &call, buffer);
}
