/* SPDX-License-Identifier: Apache-2.0 */
/* What cases of both interfaces of cuBLAS use: the including file includes one of cublas.h and cublas_v2.h first. */
#ifndef BL_SAY_H
#define BL_SAY_H

/* Says the status's name without CUBLAS_STATUS_. */
void bl(cublasStatus_t status);

#endif
