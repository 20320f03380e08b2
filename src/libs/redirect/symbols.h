/* SPDX-License-Identifier: Apache-2.0 */
/* The symbol table in an object's file, for those functions that the runtime library's table of names has.
 *
 * Everything is read with pread and checked against the file's size, so that a file that lies, or that is cut short
 * meanwhile, gives an error and nothing worse. This library is part of every process that Millrace runs, so it brings
 * no library for ELF along. */
#ifndef MR_REDIRECT_SYMBOLS_H
#define MR_REDIRECT_SYMBOLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct mr_redirect_function {
    int name;         /* its number in the table of names */
    uintptr_t offset; /* of its first byte in the file */
    uintptr_t value;  /* of its first byte, as the object counts addresses */
    size_t size;      /* its bytes, as its symbol says */
    size_t room;      /* bytes up to what has a name next */
};

struct mr_redirect_symbols {
    struct mr_redirect_function *functions; /* local or hidden ones, or exported ones; freed by the caller */
    size_t count;
    size_t misplaced; /* more of them, which lie outside of the code as their symbols have it */
    bool has_table;   /* there is a symbol table */
    bool is_ours;     /* the runtime library inside is Millrace's */
    bool has_kernels; /* nvcc's registration of kernels is there */
    const char *known; /* the version of a copy without names; NULL if its functions have some */
};

/* Reads the file that `fd` is: the functions that it has for itself, or with `exports` those that others may call.
 * NULL, or what is wrong with it; then nothing is to be freed. */
const char *mr_redirect_read(int fd, bool exports, struct mr_redirect_symbols *out);

/* Looks at the code of the file for a copy of NVIDIA's library without names (known.h), and fills in its functions.
 * `out` is what mr_redirect_read has made, with no functions. NULL, or what is wrong. */
const char *mr_redirect_read_code(int fd, struct mr_redirect_symbols *out);

#endif
