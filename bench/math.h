/* SPDX-License-Identifier: Apache-2.0 */
/* What the benchmarks of the libraries of mathematics share: an operation by the library beside the same by the CPU
 * library under it, called directly on one thread; where there is none, beside plain loops. */
#ifndef BENCH_MATH_H
#define BENCH_MATH_H

#include "bench.h"

/* An operation; it has ended when the function returns. */
typedef void (*math_operation)(void *data);

/* Measures both by turns and prints `math_NAME_ours_ms`, `…_direct_ms` (the best of some rounds by the clock) and
 * `…_ours_processor_ms`, `…_direct_processor_ms` (of the same rounds, all threads). `direct` may be NULL: the
 * library is not there. */
void math_row(const char *name, math_operation ours, math_operation direct, void *data);

/* A function of a CPU library, or NULL. */
void *math_symbol(const char *library, const char *symbol);

/* The libraries' rows. */
void math_blas(void);
void math_fft(void);
void math_solver(void);
void math_sparse(void);

#endif
