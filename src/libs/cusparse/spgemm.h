/* SPDX-License-Identifier: Apache-2.0 */
/* The steps of products of two sparse matrices in CSR. A program goes through them by the functions of the generic
 * interface; its plan (cusparseSpGEMMDescr) remembers the buffers. */
#ifndef MR_CUSPARSE_SPGEMM_H
#define MR_CUSPARSE_SPGEMM_H

#include "libs/cusparse/sparse.h"

struct cusparseSpGEMMDescr {
    enum mr_kind kind;
    int64_t *products, *counts; /* in the program's buffers: rows + 1 each; NULL: not yet */
    int64_t total_products, rows;
    int64_t least_entries; /* the result has no fewer */
};

struct mr_spgemm {
    const struct cusparseSpMatDescr *a, *b, *c; /* of one type, which is float, double or a complex one */
    int64_t *products, *counts; /* device memory: rows + 1 each */
    int64_t total_products;
    bool values, structure; /* what compute_entries writes: values; offsets and columns */
    struct mr_scalar alpha, beta; /* of the matrices' type */
};

/* Bytes of `products` and of `counts`. */
static inline size_t mr_cusparse_rows_bytes(const struct cusparseSpMatDescr *a)
{
    return (size_t)(a->rows + 1) * sizeof(int64_t);
}

/* Fills in `products`, and waits for their number, and for a number of entries that C has at least. */
cusparseStatus_t mr_cusparse_count_products(const struct mr_form *form, const struct mr_cusparse *sparse,
                                            const struct mr_spgemm *call, int64_t *total, int64_t *least)
    __attribute__((warn_unused_result));

/* Fills in `counts` from `products`, and waits for the number of entries of C. */
cusparseStatus_t mr_cusparse_count_entries(const struct mr_form *form, const struct mr_cusparse *sparse,
                                           const struct mr_spgemm *call, int64_t *total)
    __attribute__((warn_unused_result));

/* Submits what fills C in, from `products` and `counts`. */
cusparseStatus_t mr_cusparse_compute_entries(const struct mr_form *form, const struct mr_cusparse *sparse,
                                             const struct mr_spgemm *call) __attribute__((warn_unused_result));

#endif
