/* SPDX-License-Identifier: Apache-2.0 */
/* A loader for the relocatable objects that the code generator makes and the disk cache keeps.
 *
 * It knows just what position-independent code needs, with no undefined symbols except those of library_calls.def, and
 * checks every number in the file before it uses it: the cache folder belongs to the user, and what is written there
 * must not break more than the kernel that is loaded. */
#ifndef MR_COMPILE_LOADER_H
#define MR_COMPILE_LOADER_H

#include <stdbool.h>
#include <stddef.h>

struct mr_sites;

/* An object in memory: code pages that can't be written, data pages that can't be executed. */
struct mr_loaded {
    void *map;
    size_t bytes;
    void *symbol;    /* address of the symbol that was asked for */
    const struct mr_sites *sites; /* the object's table of sites (abi/note.h), looked through; NULL: it has none */
    /* A copy of the file, for debuggers and lines.h: its section headers say where the sections are in memory. */
    unsigned char *object;
    size_t object_size;
    bool no_memory;  /* loading failed for want of memory, not because of the object */
};

/* Loads the ELF relocatable object of `size` bytes and finds the function `symbol` in it. False with a text of what is
 * wrong with it in `why` (cut to `room`, NUL-terminated). `object` may be unaligned and is not kept. Any thread. */
bool mr_loader_load(const void *object, size_t size, const char *symbol, struct mr_loaded *out, char *why, size_t room)
    __attribute__((warn_unused_result));

/* Unmaps it. Nothing may run in it any more. */
void mr_loader_unload(struct mr_loaded *loaded);

#endif
