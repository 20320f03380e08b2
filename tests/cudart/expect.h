/* SPDX-License-Identifier: Apache-2.0 */
/* What the tests of the runtime library are written with: statuses and conditions that must hold, counted, with the
 * line that does not. */
#ifndef TESTS_CUDART_EXPECT_H
#define TESTS_CUDART_EXPECT_H

#ifndef MILLRACE_CUDA_RUNTIME_H
#include <cuda_runtime.h>
#endif
#include <stdio.h>
#include <stdlib.h>

static int failures;

/* The call answers exactly this. A failure that was expected does not stay the thread's last error. */
#define GIVES(wanted, call) \
    do { \
        cudaError_t gives_status = (call); \
        if (gives_status != (wanted)) { \
            failures++; \
            fprintf(stderr, "%s:%d: %s: %s, not %s\n", __FILE__, __LINE__, #call, cudaGetErrorName(gives_status), \
                    cudaGetErrorName(wanted)); \
        } \
        if (gives_status != cudaSuccess) \
            (void)cudaGetLastError(); \
    } while (0)
#define OK(call) GIVES(cudaSuccess, call)

#define HOLDS(condition) \
    do { \
        if (!(condition)) { \
            failures++; \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition); \
        } \
    } while (0)

/* What main returns. */
static inline int finish(void)
{
    if (failures)
        fprintf(stderr, "%d failures\n", failures);
    return failures ? 1 : 0;
}

#endif
