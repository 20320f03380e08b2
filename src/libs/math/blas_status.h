/* SPDX-License-Identifier: Apache-2.0 */
/* Statuses of cuBLAS and cuBLASLt in words. Never NULL; valid for the life of the process. */
#ifndef MR_MATH_BLAS_STATUS_H
#define MR_MATH_BLAS_STATUS_H

/* The enumerator's name. */
const char *mr_blas_status_name(int status);

/* What it means. */
const char *mr_blas_status_text(int status);

#endif
