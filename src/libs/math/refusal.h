/* SPDX-License-Identifier: Apache-2.0 */
/* What Millrace's log says of calls that a library of mathematics refuses. */
#ifndef MR_MATH_REFUSAL_H
#define MR_MATH_REFUSAL_H

#include <stdarg.h>
#include <stdbool.h>

#define MR_MATH_REASON 384

/* Why a call of `function` is refused: a warning if the library can't do what is asked (`is_missing`), else level info.
 * Leaves the reason in `reason`, for the library's own log. Any thread. */
void mr_math_refuse(const char *function, bool is_missing, char reason[MR_MATH_REASON], const char *format,
                    va_list arguments) __attribute__((format(printf, 4, 0)));

/* A warning that names a function which the library exports and cannot do. Any thread. */
void mr_math_refuse_function(const char *function);

#endif
