/* SPDX-License-Identifier: Apache-2.0 */
/* Elements: the types in which this library computes, and conversions from and to those in which elements lie. */
#ifndef MR_CUSPARSE_ELEMENT_H
#define MR_CUSPARSE_ELEMENT_H

#include <complex.h>
#include <library_types.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "libs/math/form.h"
#include "libs/math/work.h"

/* What is computed in: float, double, and their complex types. */
enum mr_type { MR_S, MR_D, MR_C, MR_Z, MR_TYPES };

/* F(suffix, element, its real type, conjugate) for each of them, in this order. */
#define MR_FOR_TYPES(F) \
    F(s, float, float, ) \
    F(d, double, double, ) \
    F(c, float complex, float, conjf) \
    F(z, double complex, double, conj)

/* The functions of a family that MR_FOR_TYPES has made. */
#define MR_FAMILY(name) {name##_s, name##_d, name##_c, name##_z}

static inline size_t mr_type_size(enum mr_type type)
{
    static const unsigned char sizes[] = {4, 8, 8, 16};
    return sizes[type];
}

static inline bool mr_type_is_complex(enum mr_type type)
{
    return type >= MR_C;
}

static inline enum mr_type mr_type_of(const struct mr_form *form)
{
    return form->type == 'S' ? MR_S : form->type == 'D' ? MR_D : form->type == 'C' ? MR_C : MR_Z;
}

/* How the type is stored when it is stored as it is computed. */
static inline cudaDataType_t mr_stored(enum mr_type type)
{
    static const cudaDataType_t types[] = {CUDA_R_32F, CUDA_R_64F, CUDA_C_32F, CUDA_C_64F};
    return types[type];
}

/* What a stored type is computed in; integers in double, where sums are exact. MR_TYPES if it is not known here. */
enum mr_type mr_type_for(cudaDataType_t stored);

/* `count` elements, `stride` elements apart, to `type`. A real one gets an imaginary part of 0. */
void mr_take(cudaDataType_t stored, const void *from, int64_t stride, int64_t count, enum mr_type type, void *to);

/* The other way, rounded to nearest; integers are limited to what their type holds. */
void mr_give(cudaDataType_t stored, void *to, int64_t stride, int64_t count, enum mr_type type, const void *from);

/* The scalar, stored as `stored`, as `type`: 16 bytes at most. */
static inline void mr_scalar_read(const struct mr_scalar *scalar, cudaDataType_t stored, enum mr_type type, void *to)
{
    mr_take(stored, mr_scalar_at(scalar), 1, 1, type, to);
}

#endif
