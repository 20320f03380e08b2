/* SPDX-License-Identifier: Apache-2.0 */
/* The CPU library that does the arithmetic: OpenBLAS, opened at the first call. docs/math-libraries.md says why this
 * one, and why it is not linked.
 *
 * Its Fortran interface is used: all arguments by pointer, matrices by columns, sizes of 32 bits. */
#ifndef MR_MATH_CPU_H
#define MR_MATH_CPU_H

#include <stdbool.h>

/* The order of the types in the tables below. */
enum mr_cpu_type { MR_CPU_S, MR_CPU_D, MR_CPU_C, MR_CPU_Z, MR_CPU_TYPES };

/* What cpu.def calls the parameters' types. */
typedef const char *mr_cpu_letter;
typedef const int *mr_cpu_size;
typedef const void *mr_cpu_in;
typedef void *mr_cpu_out;

struct mr_cpu {
#define MR_CPU_FUNCTION(name, types, params) void(*name[MR_CPU_TYPES]) params;
#define MR_CPU_RESULT(name, result, symbol, params) result(*name) params;
#include "libs/math/cpu.def"
#undef MR_CPU_FUNCTION
#undef MR_CPU_RESULT
};
extern struct mr_cpu mr_cpu;

/* Opens the library. False, with a line in the log that names the package, if it is missing. Any thread. */
bool mr_cpu_open(void);

/* Another function of the library, which is open; LAPACK's are there too. False, with a line in the log, if it has
 * none of that name. Any thread. */
bool mr_cpu_find(void **function, const char *symbol);

#endif
