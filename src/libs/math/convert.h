/* SPDX-License-Identifier: Apache-2.0 */
/* Elements of every type to and from those in which the CPU library computes: float or double. A complex matrix is read
 * and written as a real one of twice as many rows. */
#ifndef MR_MATH_CONVERT_H
#define MR_MATH_CONVERT_H

#include <library_types.h>
#include <stdbool.h>
#include <stdint.h>

/* Bytes of an element; 0 for a type that is not known here. */
unsigned mr_element_size(cudaDataType_t type);
bool mr_element_is_complex(cudaDataType_t type);

/* Converts columns of `rows` elements of `type`, which lie `ld` elements apart, to float, or to double if `wide`. The
 * results have no gaps; a complex element is two numbers. */
void mr_load(cudaDataType_t type, const void *from, int64_t ld, int64_t rows, int64_t columns, bool wide, void *to);

/* The other way. Results are rounded to nearest, ties to even; integers are limited to what their type holds. */
void mr_store(cudaDataType_t type, void *to, int64_t ld, int64_t rows, int64_t columns, bool wide, const void *from);

/* One real element. */
double mr_load_one(cudaDataType_t type, const void *from);

#endif
