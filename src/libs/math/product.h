/* SPDX-License-Identifier: Apache-2.0 */
/* Products of matrices of mixed types: D = epilogue(alpha op(A) op(B) + beta C), tile by tile, on the thread that runs
 * the part. What is not float or double is converted when a tile is read and when it is written; so a result is at
 * least as exact as one that is computed in the elements' own type. */
#ifndef MR_MATH_PRODUCT_H
#define MR_MATH_PRODUCT_H

#include <library_types.h>
#include <stdbool.h>
#include <stdint.h>

#include "libs/math/work.h"

/* How a result of m rows and n columns is cut: tiles of m x n, `down` of them in a column, `across` in a row. */
struct mr_tiles {
    int64_t m, n, down, across;
};

struct mr_tile {
    int64_t row, column, rows, columns;
};

/* By the sizes alone, for 2 m n k operations; m and n are not 0. */
struct mr_tiles mr_tiles_of(int64_t m, int64_t n, int64_t k);
struct mr_tile mr_tile_at(const struct mr_tiles *tiles, int64_t m, int64_t n, uint64_t index);

/* A matrix, or a batch: `stride` elements apart, or (`pointers` of the product) an array of pointers. */
struct mr_matrix {
    const void *at;
    cudaDataType_t type;
    int64_t ld, stride;
};

/* What is done to the result before it is stored. */
enum mr_epilogue_step {
    MR_EPILOGUE_BIAS = 1,      /* a vector is added to each column */
    MR_EPILOGUE_RELU = 2,
    MR_EPILOGUE_GELU = 4,
    MR_EPILOGUE_AUX = 8,       /* what goes into relu (as bits: it was not negative) or gelu is stored */
    MR_EPILOGUE_RELU_BACK = 16, /* times relu's derivative, by the bits that were stored */
    MR_EPILOGUE_GELU_BACK = 32,
};

struct mr_epilogue {
    unsigned steps;
    const void *bias; /* m elements, of the batch's member by bias_stride */
    cudaDataType_t bias_type;
    int64_t bias_stride;
    void *aux;
    cudaDataType_t aux_type;
    int64_t aux_ld, aux_stride; /* of relu: in bits */
};

struct mr_product {
    const char *function; /* for the log */
    char transa, transb; /* the CPU library's letters */
    int64_t m, n, k;
    bool wide, complex; /* computed in double; in complex numbers */
    cudaDataType_t scale_type; /* of alpha and beta */
    struct mr_scalar alpha, beta;
    const float *factors[4]; /* more factors of A, B, C and D, in device memory; or NULL */
    struct mr_matrix a, b, c;
    struct mr_matrix d; /* written */
    int64_t batch;
    bool pointers;
    struct mr_epilogue epilogue;
    struct mr_tiles tiles; /* set by mr_product_parts */
};

/* Cuts the product; how many parts it has. 0 for an empty result. */
uint64_t mr_product_parts(struct mr_product *product);

/* For observers: what the product touches. Not told of products that store what goes into their epilogue. */
void mr_product_tell(const struct mr_product *product);

/* Runs parts: for mr_math_submit, with the product as the record. */
void mr_product_run(void *product, uint64_t first, uint64_t end);

#endif
