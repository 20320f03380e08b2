/* SPDX-License-Identifier: Apache-2.0 */
/* The common header of the cases about cuBLAS: as rt.h, which it takes its words and fixtures from. The same source is
 * built against NVIDIA's library to record the answers and against Millrace's to compare them.
 *
 * Elements are small whole numbers, so sums and products are exact and results are the same to the last bit, in
 * whatever order they are computed. */
#ifndef BL_H
#define BL_H

#include "../../runtime/rt.h"

#include <cublas_v2.h>

#include "bl_say.h"

#define BL_ELEMENTS 1024 /* of each fixture's matrix */

/* What a case finds: a handle with its settings as they are at first, and device memory with numbers. */
struct bl {
    cublasHandle_t h;
    char type; /* S, D, C or Z */
    void *a, *b, *c; /* BL_ELEMENTS elements of 16 bytes each */
    void *one, *two, *zero, *i; /* host scalars of the type; i: 2 + 3i, or 2 */
    double *real; /* 3, of the real type */
};

/* Fills the matrices; `type` says with what. */
struct bl bl_begin(char type);

/* Ends the case unless the step succeeds. */
#define BL_NEED(expr) bl_need((expr), #expr)
void bl_need(cublasStatus_t status, const char *what);

/* Waits for the device, and says a hash of `count` elements of the type at `at`, as whole numbers. */
void bl_say(const struct bl *b, const void *at, size_t count);

/* Calls the type's function of a family. */
#define BL_CALL(b, name, ...) \
    ((b)->type == 'S'   ? cublasS##name(__VA_ARGS__) \
     : (b)->type == 'D' ? cublasD##name(__VA_ARGS__) \
     : (b)->type == 'C' ? cublasC##name(__VA_ARGS__) \
                        : cublasZ##name(__VA_ARGS__))
#define BL_REAL(b, name, ...) ((b)->type == 'S' ? cublasS##name(__VA_ARGS__) : cublasD##name(__VA_ARGS__))
#define BL_COMPLEX(b, name, ...) ((b)->type == 'C' ? cublasC##name(__VA_ARGS__) : cublasZ##name(__VA_ARGS__))

#endif
