/* SPDX-License-Identifier: Apache-2.0 */
/* Opening CPU libraries, the libraries that do the arithmetic: at the first call, never linked. The log tells the user
 * which package is missing. */
#ifndef MR_MATH_OPEN_H
#define MR_MATH_OPEN_H

#include <stdbool.h>

/* What is looked for. All texts live as long as the process. */
struct mr_cpu_library {
    const char *const *names; /* for dlopen, in order of preference; NULL ends them */
    bool (*fits)(void *library, const char *name); /* whether this one will do; it may be set up here. NULL: all do */
    const char *what; /* for the log: "OpenBLAS with POSIX threads" */
    const char *without; /* for the log: what there is not without it, "linear algebra" */
    const char *package; /* Debian's name */
    bool is_cpp; /* written in C++ */
};

/* dlopen, for a CPU library or for one that comes with it. What the library calls of its own is its own: the process
 * may have other libraries with functions of the same names, such as an OpenBLAS that a wheel brings along, or MKL. Not
 * so if the library is in C++, whose inline functions would take memory from the program's operator new and give it
 * back to the standard library's; nor if the program has a sanitizer. NULL: dlerror() says why. */
void *mr_cpu_library_load(const char *name, bool is_cpp);

/* The first library that will do, for dlsym; NULL, with a line in the log that names the package. It is never closed.
 * Opens anew at each call: callers keep what they got. Any thread. */
void *mr_cpu_library_open(const struct mr_cpu_library *wanted);

/* The function called `symbol` in *function. False, with a line in the log, if the library has none. */
bool mr_cpu_library_find(const struct mr_cpu_library *wanted, void *library, void **function, const char *symbol);

#endif
