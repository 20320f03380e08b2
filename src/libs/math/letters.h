/* SPDX-License-Identifier: Apache-2.0 */
/* Types by the letters of forms, the operations that BLAS and LAPACK name, and the CPU library's letters for them. */
#ifndef MR_MATH_LETTERS_H
#define MR_MATH_LETTERS_H

#include <cublas_api.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "libs/math/cpu.h"
#include "libs/math/form.h"

/* Types by letter. */
static inline enum mr_cpu_type mr_type_of(const struct mr_form *form)
{
    return form->type == 'S' ? MR_CPU_S : form->type == 'D' ? MR_CPU_D : form->type == 'C' ? MR_CPU_C : MR_CPU_Z;
}

static inline bool mr_is_complex(enum mr_cpu_type type)
{
    return type >= MR_CPU_C;
}

/* Bytes of an element, and of its real type. */
static inline size_t mr_size_of(enum mr_cpu_type type)
{
    static const unsigned char sizes[] = {4, 8, 8, 16};
    return sizes[type];
}

static inline size_t mr_real_size_of(enum mr_cpu_type type)
{
    return type == MR_CPU_S || type == MR_CPU_C ? 4 : 8;
}

static inline bool mr_is_op(cublasOperation_t op)
{
    return op == CUBLAS_OP_N || op == CUBLAS_OP_T || op == CUBLAS_OP_C;
}

static inline bool mr_is_uplo(cublasFillMode_t uplo)
{
    return uplo == CUBLAS_FILL_MODE_LOWER || uplo == CUBLAS_FILL_MODE_UPPER;
}

static inline bool mr_is_side(cublasSideMode_t side)
{
    return side == CUBLAS_SIDE_LEFT || side == CUBLAS_SIDE_RIGHT;
}

static inline bool mr_is_diag(cublasDiagType_t diag)
{
    return diag == CUBLAS_DIAG_NON_UNIT || diag == CUBLAS_DIAG_UNIT;
}

/* The CPU library's letters. */
static inline char mr_letter_of_op(cublasOperation_t op)
{
    if (op == CUBLAS_OP_N)
        return 'N';
    return op == CUBLAS_OP_T ? 'T' : 'C';
}

static inline char mr_letter_of_uplo(cublasFillMode_t uplo)
{
    return uplo == CUBLAS_FILL_MODE_UPPER ? 'U' : 'L';
}

static inline char mr_letter_of_side(cublasSideMode_t side)
{
    return side == CUBLAS_SIDE_LEFT ? 'L' : 'R';
}

static inline char mr_letter_of_diag(cublasDiagType_t diag)
{
    return diag == CUBLAS_DIAG_UNIT ? 'U' : 'N';
}

static inline int64_t mr_at_least_1(int64_t size)
{
    return size > 1 ? size : 1;
}

/* The address `elements` of `size` bytes behind `base`. */
static inline char *mr_behind(const void *base, int64_t elements, size_t size)
{
    return (char *)((uintptr_t)base + (uintptr_t)(elements * (int64_t)size)); /* base may be NULL */
}

#endif
