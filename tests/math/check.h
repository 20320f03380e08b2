/* SPDX-License-Identifier: Apache-2.0 */
/* What the tests of the mathematics libraries share: checks that end the program and say which one did not hold. */
#ifndef TESTS_MATH_CHECK_H
#define TESTS_MATH_CHECK_H

#include <cuda_runtime_api.h>

#include <stdio.h>
#include <stdlib.h>

#define CHECK(condition) \
    do { \
        if (!(condition)) { \
            fprintf(stderr, "%s:%d: %s does not hold\n", __FILE__, __LINE__, #condition); \
            exit(1); \
        } \
    } while (0)
#define RT(call) CHECK((call) == cudaSuccess)

#endif
