/* SPDX-License-Identifier: Apache-2.0 */
/* Names for addresses: function, file and line of places in the files of programs and libraries. */
#ifndef MILLRACE_REPORT_NAMES_H
#define MILLRACE_REPORT_NAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* One function that an address is in. */
struct name {
    char *function;   /* readable (demangled); NULL: not known */
    char *file;       /* as the compiler wrote it; NULL: not known */
    unsigned line;    /* 0: not known */
    unsigned column;  /* 0: not known */
    uint64_t past;    /* without file and line: bytes from the function's symbol */
    bool inlined;     /* into the next one */
};

/* A file with code. */
struct names_module;

/* Opens the file at `path`. `build_id` is in hexadecimal, "" for none. A file with another build-id is not the one that
 * was in the process, and is refused; so is a file that is gone, unless its build-id finds its debug file. NULL with
 * *why set (a text that stays). */
struct names_module *names_open(const char *path, const char *build_id, const char **why);
void names_close(struct names_module *module);

/* The functions that hold `address` (as the file counts), innermost first: more than one where calls were inlined. The
 * array is the caller's, to be given to names_free. 0: nothing is known. */
size_t names_find(struct names_module *module, uint64_t address, struct name **out);
void names_free(struct name *names, size_t count);

/* A function of the runtime library, Millrace's or NVIDIA's, which a program may have inside; or what compilers and
 * headers put between it and the program's own code: a kernel's stub, a template of cuda_runtime.h. Either may be NULL:
 * it is not known. */
bool names_is_runtime(const char *function, const char *file);

/* The readable form of a C++ symbol, or a copy of a name that is not one. To be freed; NULL: memory is short. */
char *names_demangle(const char *symbol);

#endif
