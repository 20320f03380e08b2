/* SPDX-License-Identifier: Apache-2.0 */
/* What the examples share: a call that fails, or a result that is wrong, ends the program with a line that says where.
 */
#ifndef EXAMPLE_CHECK_H
#define EXAMPLE_CHECK_H

#include <cstdio>
#include <cstdlib>

#define CHECK(call) \
    do { \
        cudaError_t status_ = (call); \
        if (status_ != cudaSuccess) { \
            std::fprintf(stderr, "%s:%d: %s: %s\n", __FILE__, __LINE__, #call, cudaGetErrorString(status_)); \
            std::exit(1); \
        } \
    } while (0)

#define EXPECT(condition) \
    do { \
        if (!(condition)) { \
            std::fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #condition); \
            std::exit(1); \
        } \
    } while (0)

#endif
