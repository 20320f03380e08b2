/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Object files and archives of them: finds the fat binaries that a compiler put
 * beside host code, which is how device code travels to a device linker.
 */
#ifndef MR_PTX_HOST_OBJECT_H
#define MR_PTX_HOST_OBJECT_H

#include <stdbool.h>
#include <stddef.h>

enum mr_ptx_object_status {
    MR_PTX_OBJECT_OK,
    MR_PTX_OBJECT_UNKNOWN, /* neither a 64-bit ELF object nor an archive */
    MR_PTX_OBJECT_DAMAGED  /* begins like one, and is cut short or contradicts itself */
};

/* The calls get `user`; false ends the walk, which then still counts as OK. All pointers are into the file. */
struct mr_ptx_object_visitor {
    void *user;
    /* A fat binary. `relocatable`: its code waits for a device link (compiled with -rdc). May be NULL. */
    bool (*container)(void *user, const void *data, size_t size, bool relocatable);
    /* The name of a symbol that the object uses and does not define. May be NULL. */
    bool (*needed)(void *user, const char *name);
    /* The name of an archive's member, which is an object, before what is in it. May be NULL. */
    void (*member)(void *user, const char *name, size_t length);
};

/*
 * Walks through the file's `size` bytes: an object, a shared library, or an
 * archive, whose members are visited one after the other (members that are no
 * objects are passed over). Reads nothing beyond `size`, whatever the bytes are.
 * Any thread.
 */
enum mr_ptx_object_status mr_ptx_object_visit(const void *data, size_t size,
                                              const struct mr_ptx_object_visitor *visitor);

/* Whether the file begins as an object or an archive does. */
bool mr_ptx_object_is(const void *data, size_t size);

#endif
