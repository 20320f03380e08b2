/* SPDX-License-Identifier: Apache-2.0 */
/* LU without exchanges of rows, which LAPACK doesn't have. */
#ifndef MR_MATH_LU_H
#define MR_MATH_LU_H

#include <stdbool.h>

#include "libs/math/cpu.h"

/* Whether the element at an address is 0. */
bool mr_is_zero(enum mr_cpu_type type, const void *at);

/* A = L U in place on this thread: m rows, n columns, by columns `lda` elements apart. The number of the first pivot
 * that is 0, or 0; its column is left as it was then. */
int mr_plain_lu(enum mr_cpu_type type, int m, int n, void *a, int lda);

#endif
