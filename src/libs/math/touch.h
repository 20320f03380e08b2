/* SPDX-License-Identifier: Apache-2.0 */
/* The words by which spec/math says what calls touch (spec/math/README.md). Each tells observers of one operand of the
 * call that the thread is in: `how` is of MR_READS and MR_WRITES. A pointer that is NULL, or a size that is not above
 * 0, tells nothing. The exported functions of the libraries use them, before the arguments are checked. */
#ifndef MR_MATH_TOUCH_H
#define MR_MATH_TOUCH_H

#include <cublas_api.h>

#include "libs/math/convert.h"
#include "libs/math/work.h"

static inline void mr_touch_bytes(const char *function, unsigned how, const void *at, size_t size)
{
    (void)mr_tell_rows(function, at, size, 1, 0, how);
}

/* `count` elements one after the other. */
#define mr_touch_items(function, how, at, count) mr_touch_sized(function, how, at, 1, count, 1, sizeof *(at))
/* n columns of m elements, by their type in C; and the same by a type of CUDA. */
#define mr_touch_matrix(function, how, at, m, n, ld) mr_touch_sized(function, how, at, n, m, ld, sizeof *(at))
#define mr_touch_typed(function, how, at, type, m, n, ld) \
    mr_touch_sized(function, how, at, n, m, ld, mr_touch_size(type))
/* One triangle of a matrix with n rows; neither if `uplo` is none. */
#define mr_touch_triangle(function, how, at, uplo, n, ld) \
    mr_touch_half(function, how, at, (int)(uplo), n, ld, sizeof *(at))
#define mr_touch_typed_triangle(function, how, at, type, uplo, n, ld) \
    mr_touch_half(function, how, at, (int)(uplo), n, ld, mr_touch_size(type))
/* `count` matrices, `stride` elements apart. */
#define mr_touch_strided(function, how, at, m, n, ld, stride, count) \
    mr_touch_batch(function, how, at, m, n, ld, stride, count, sizeof *(at))
/* `count` matrices by pointers in device memory. */
#define mr_touch_members(function, how, at, m, n, ld, count) \
    (void)mr_tell_members(function, at, count, m, n, ld, sizeof **(at), how)

/* `count` elements whose indices, `from` upwards, lie at `indices`: ints that are told of as well. */
#define mr_touch_indexed(function, how, at, indices, from, count) \
    (void)mr_tell_indexed(function, at, sizeof *(at), indices, sizeof *(indices), (from) != 0, count, how)
/* As many elements as the int at `number`, which the call does not write, says, less `less`. */
#define mr_touch_counted(function, how, at, number, less) \
    (void)mr_tell_counted(function, at, sizeof *(at), number, less, how)
/* The same of blocks of `each` elements. */
#define mr_touch_blocks(function, how, at, number, less, each) \
    (void)mr_tell_counted(function, at, sizeof *(at) * (size_t)(each), number, less, how)
/* As many as the n ints at `counts`, which the call does not write, add up to. */
#define mr_touch_summed(function, how, at, counts, n) (void)mr_tell_summed(function, at, sizeof *(at), counts, n, how)

static inline size_t mr_touch_size(cudaDataType_t type)
{
    return mr_element_size(type);
}

static inline void mr_touch_sized(const char *function, unsigned how, const void *at, int64_t columns, int64_t rows,
                                  int64_t ld, size_t size)
{
    (void)mr_tell_matrix(function, at, rows, columns, ld, size, how);
}

static inline void mr_touch_half(const char *function, unsigned how, const void *at, int uplo, int64_t n, int64_t ld,
                                 size_t size)
{
    if ((uplo == CUBLAS_FILL_MODE_LOWER || uplo == CUBLAS_FILL_MODE_UPPER) && ld >= n)
        (void)mr_tell_triangle(function, at, uplo == CUBLAS_FILL_MODE_UPPER, false, n, ld, size, how);
}

static inline void mr_touch_batch(const char *function, unsigned how, const void *at, int64_t m, int64_t n, int64_t ld,
                                  int64_t stride, int64_t count, size_t size)
{
    for (int64_t i = 0; i < count; i++)
        (void)mr_tell_matrix(function, at ? (const char *)at + (size_t)(i * stride) * size : NULL, m, n, ld, size, how);
}

#endif
