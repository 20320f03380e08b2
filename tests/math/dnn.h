/* SPDX-License-Identifier: Apache-2.0 */
/* What the tests of cuDNN share: checks that end the program with cuDNN's reason, and numbers drawn from a seed. */
#ifndef TESTS_MATH_DNN_H
#define TESTS_MATH_DNN_H

#include <cuda_runtime_api.h>
#include <cudnn.h>
#include <stdio.h>
#include <stdlib.h>

#define CHECK(condition) \
    do { \
        if (!(condition)) { \
            char why[512] = ""; \
            cudnnGetLastErrorString(why, sizeof why); \
            fprintf(stderr, "%s:%d: %s: %s\n", __FILE__, __LINE__, #condition, why); \
            exit(1); \
        } \
    } while (0)
#define OK(call) CHECK((call) == CUDNN_STATUS_SUCCESS)
#define RT(call) CHECK((call) == cudaSuccess)

static unsigned seed = 7;

/* From 0 to n - 1. */
static inline int draw(int n)
{
    seed = seed * 1664525u + 1013904223u;
    return (int)((seed >> 9) % (unsigned)n);
}

#endif
