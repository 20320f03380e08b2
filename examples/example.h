/* SPDX-License-Identifier: Apache-2.0 */
/* What the examples share: a check around each driver call, the kernels' text, a clock, and a comparison.
 *
 * An example stops at the first failed call with the call's text, the status's name, and what the driver says about it.
 */
#ifndef EXAMPLE_H
#define EXAMPLE_H

#include <cuda.h>
#include <stddef.h>

#define CHECK(call) example_check((call), #call, __FILE__, __LINE__)

/* Ends the program with a message unless `status` is CUDA_SUCCESS. */
void example_check(CUresult status, const char *call, const char *file, int line);

/* Ends the program with `message` unless `condition` holds: for results. */
void example_require(int condition, const char *message);

/* The kernels of kernels/arrays.cu as PTX text, compiled during the build; NUL-terminated. */
extern const char example_kernels[];

/* Seconds on a monotonic clock. */
double example_seconds(void);

/* `length` floats between -1 and 1 that depend on `seed` alone. */
void example_fill(float *array, size_t length, unsigned seed);

/* The number after `name` on the command line (`--arrays 20`), or `initial`. Ends the program on an unusable value. */
int example_option(int argc, char **argv, const char *name, int initial);

#endif
