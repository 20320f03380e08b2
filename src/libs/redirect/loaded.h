/* SPDX-License-Identifier: Apache-2.0 */
/* An object that the loader has mapped: if NVIDIA's runtime library is linked into it, or if it is that of CUDA 11, its
 * calls go to Millrace's. */
#ifndef MR_REDIRECT_LOADED_H
#define MR_REDIRECT_LOADED_H

#include <link.h>
#include <stdbool.h>

struct mr_redirection;

/* Looks at an object before any of its code has run. The functions of the runtime library that it carries, as its
 * symbol table names them, get a jump to Millrace's at their first bytes. An object with kernels and without a symbol
 * table is told with one warning. What can't be done is told, and the object left as it was. Returns what
 * mr_redirection_end is to undo, or NULL. The loader's lock is held. */
struct mr_redirection *mr_redirect_object(const struct link_map *map);

/* The object is about to be unmapped: frees what stands beside it. */
void mr_redirection_end(struct mr_redirection *redirection);

/* Whether the object defines a symbol of that name for others. The loader's lock is held. */
bool mr_object_exports(const struct link_map *map, const char *name);

#endif
