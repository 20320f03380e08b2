/* SPDX-License-Identifier: Apache-2.0 */
/* cuBLAS's old interface (cublas.h): functions without a handle. They work on the *default handle*, which
 * cublasInit or the first function makes and cublasShutdown ends. A function of vectors or matrices leaves its
 * status, also a success, as the *error*, which cublasGetError gives out and clears. Both are the process's. old.c
 * has these and vectors, old_matrix.c functions of matrices: each calls the body of its younger namesake. */
#ifndef MR_CUBLAS_OLD_H
#define MR_CUBLAS_OLD_H

#include "libs/cublas/blas.h"

/* The default handle; NULL, which every body refuses, if it can't be made. Any thread. */
cublasHandle_t mr_cublas_old_handle(void);

/* Makes the status the error. Any thread. */
void mr_cublas_old_keep(cublasStatus_t status);

/* A real scalar as bodies take it: the address of a float or a double. */
struct mr_cublas_old_real {
    float single;
    double twice;
};
static inline const void *mr_cublas_old_real(const struct mr_form *form, double value, struct mr_cublas_old_real *room)
{
    room->single = (float)value;
    room->twice = value;
    return form->type == 'S' || form->type == 'C' ? (const void *)&room->single : &room->twice;
}
#define MR_OLD_REAL(value) mr_cublas_old_real(form, value, &(struct mr_cublas_old_real){0})

/* Calls the body of the younger function with the default handle, and makes its status the error. */
#define MR_OLD(name, ...) mr_cublas_old_keep(mr_cublas_##name(form, mr_cublas_old_handle(), __VA_ARGS__))

#endif
