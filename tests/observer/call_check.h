/* SPDX-License-Identifier: Apache-2.0 */
/* For programs that are observed: a call of the driver must succeed, or the program ends with 2. */
#ifndef CALL_CHECK_H
#define CALL_CHECK_H

#include <cuda.h>
#include <stdio.h>
#include <stdlib.h>

#define CHECK(call) \
    do { \
        CUresult check_status = (call); \
        if (check_status != CUDA_SUCCESS) { \
            fprintf(stderr, "%s:%d: status %d\n", __FILE__, __LINE__, (int)check_status); \
            exit(2); \
        } \
    } while (0)

#endif
