/* SPDX-License-Identifier: Apache-2.0 */
/* From descriptors to a product that can be computed (libs/math/product.h), or the reason why it can't. */
#ifndef MR_CUBLASLT_MATMUL_H
#define MR_CUBLASLT_MATMUL_H

#include "libs/cublaslt/lt.h"
#include "libs/math/product.h"

/* Sums of a matrix along its rows or columns: what epilogues call a gradient of the bias. */
struct mr_sums {
    struct mr_matrix from, to; /* to: a vector, of the batch's member by its stride */
    int64_t rows, columns, batch;
    bool of_rows; /* one sum for each row; else for each column */
};

/* A product without its pointers, and its sums if `has_sums`. */
struct mr_matmul {
    struct mr_product product;
    struct mr_sums sums;
    bool has_sums, sums_a, sums_b; /* of D, or of A or B */
    bool swapped; /* computed as its transpose: A and B have changed places */
};

/* INVALID_VALUE for descriptors that contradict each other, NOT_SUPPORTED for what is not computed here. */
cublasStatus_t mr_lt_describe(const struct mr_form *form, const struct mr_matmul_desc *desc, const struct mr_layout *a,
                              const struct mr_layout *b, const struct mr_layout *c, const struct mr_layout *d,
                              struct mr_matmul *out) __attribute__((warn_unused_result));

/* Whether there is a computation with these types. */
bool mr_lt_has_types(cublasComputeType_t compute, cudaDataType_t scale, cudaDataType_t a, cudaDataType_t b,
                     cudaDataType_t c, cudaDataType_t d);

#endif
