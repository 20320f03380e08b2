/* SPDX-License-Identifier: Apache-2.0 */
/* CSR to CSC, of entries of any size: elements, or blocks. */
#ifndef MR_CUSPARSE_TRANSPOSE_H
#define MR_CUSPARSE_TRANSPOSE_H

#include "libs/cusparse/sparse.h"

struct mr_transpose {
    const void *values;
    const int *offsets, *columns;
    void *to; /* NULL: the structure alone */
    int *to_offsets, *to_rows;
    int64_t rows, cols, nnz, base, size; /* size: bytes of an entry */
};

/* Bytes of the buffer. */
size_t mr_cusparse_transpose_bytes(int64_t rows, int64_t cols, int64_t nnz);

/* Submits the transposition. */
cusparseStatus_t mr_cusparse_transpose(const struct mr_form *form, const struct mr_cusparse *sparse,
                                       const struct mr_transpose *call, void *buffer)
    __attribute__((warn_unused_result));

#endif
