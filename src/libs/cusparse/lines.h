/* SPDX-License-Identifier: Apache-2.0 */
/* One view of all formats of sparse matrices. A *line* is what a format keeps together: a row, or a column of CSC. Its
 * *entries* are places across, counted from 0, and values. Lines are shared out among parts by their cost: the number
 * of entries, and one for the line.
 *
 * A COO matrix has to be sorted by rows, as the manual asks. The functions read device memory, so only parts call them.
 */
#ifndef MR_CUSPARSE_LINES_H
#define MR_CUSPARSE_LINES_H

#include "libs/cusparse/element.h"
#include "libs/cusparse/sparse.h"
#include "libs/math/convert.h"

static inline int64_t mr_index(const void *at, cusparseIndexType_t type, int64_t i)
{
    return type == CUSPARSE_INDEX_32I   ? ((const int32_t *)at)[i]
           : type == CUSPARSE_INDEX_64I ? ((const int64_t *)at)[i]
                                        : ((const uint16_t *)at)[i];
}

static inline void mr_index_put(void *at, cusparseIndexType_t type, int64_t i, int64_t value)
{
    if (type == CUSPARSE_INDEX_32I)
        ((int32_t *)at)[i] = (int32_t)value;
    else if (type == CUSPARSE_INDEX_64I)
        ((int64_t *)at)[i] = value;
    else
        ((uint16_t *)at)[i] = (uint16_t)value;
}

static inline size_t mr_index_size(cusparseIndexType_t type)
{
    return type == CUSPARSE_INDEX_64I ? 8 : type == CUSPARSE_INDEX_32I ? 4 : 2;
}

static inline bool mr_is_index_type(cusparseIndexType_t type)
{
    return type == CUSPARSE_INDEX_16U || type == CUSPARSE_INDEX_32I || type == CUSPARSE_INDEX_64I;
}

/* How many lines there are, and how long they are across. */
static inline int64_t mr_lines(const struct cusparseSpMatDescr *matrix)
{
    return matrix->format == CUSPARSE_FORMAT_CSC ? matrix->cols : matrix->rows;
}

static inline int64_t mr_across(const struct cusparseSpMatDescr *matrix)
{
    return matrix->format == CUSPARSE_FORMAT_CSC ? matrix->rows : matrix->cols;
}

/* How many parts the matrix's lines are cut into if an entry costs `weight`: by sizes alone. */
uint64_t mr_lines_parts(const struct cusparseSpMatDescr *matrix, int64_t weight);

/* The first line of part `part` of `parts`; the number of lines for part == parts. */
int64_t mr_lines_cut(const struct cusparseSpMatDescr *matrix, uint64_t part, uint64_t parts);

/* How many entries the lines before this one have. */
int64_t mr_lines_before(const struct cusparseSpMatDescr *matrix, int64_t line);

/* The first of `count` ascending indices that is not less than `wanted`. */
int64_t mr_index_bound(const void *at, cusparseIndexType_t type, int64_t count, int64_t wanted);

/* Member `batch` of a batch. */
static inline struct cusparseSpMatDescr mr_member(const struct cusparseSpMatDescr *matrix, int64_t batch)
{
    struct cusparseSpMatDescr member = *matrix;
    unsigned size = mr_element_size(matrix->type);
    if (matrix->offsets)
        member.offsets =
            (char *)matrix->offsets + batch * matrix->offsets_stride * (int64_t)mr_index_size(matrix->offset_type);
    member.indices =
        (char *)matrix->indices + batch * matrix->columns_stride * (int64_t)mr_index_size(matrix->index_type);
    member.values = (char *)matrix->values + batch * matrix->values_stride * size;
    return member;
}

struct mr_entries {
    int64_t count;
    const int64_t *index;
    const void *value; /* in the type that was asked for */
    const int64_t *place; /* where each value lies among the matrix's values; if it was asked for */
};

/* What mr_line hands over; `slot` and slot + 1 are those of mr_math_scratch. */
struct mr_reader {
    const struct cusparseSpMatDescr *matrix;
    enum mr_type type;
    bool conjugated; /* values are conjugated */
    bool places; /* `place` is wanted, and values are not */
    unsigned slot;
};

/* The entries of a line; valid until the next call with the same slot. False when memory is short. */
bool mr_line(const struct mr_reader *reader, int64_t line, struct mr_entries *entries)
    __attribute__((warn_unused_result));

#endif
