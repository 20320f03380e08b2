/* SPDX-License-Identifier: Apache-2.0 */
/* Names of C++ functions as their programmers know them, for messages.
 *
 * The C++ library's own function does the work. A thread that reports a fault must not look for that function, because
 * the loader's lock may be held by somebody who waits for that very thread. So it is looked for beforehand. */
#ifndef MR_BASE_DEMANGLE_H
#define MR_BASE_DEMANGLE_H

#include <stddef.h>
#include <string.h>

/* Looks for the C++ library's function, once; opens that library if the program has none. On a thread of the program's,
 * with no lock held that a constructor of a library could want. */
void mr_demangle_prepare(void);

/* The name in `text`, cut to the room and NUL-terminated: readable if it is a mangled one and mr_demangle_prepare has
 * found the function, else as it is. NULL is "?". Any thread. */
void mr_demangle(const char *symbol, char *text, size_t room);

/* Leaves out of a readable name what tells versions of a function apart, as Numba gives it to each kernel:
 * "add[abi:v1][abi:cw51cXTLSUwv1sDU](int)". */
static inline void mr_demangle_shorten(char *text)
{
    for (char *tag = strstr(text, "[abi:"), *end; tag && (end = strchr(tag, ']')) != NULL; tag = strstr(tag, "[abi:"))
        memmove(tag, end + 1, strlen(end + 1) + 1);
}

#endif
