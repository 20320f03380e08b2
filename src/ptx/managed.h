/* SPDX-License-Identifier: Apache-2.0 */

/* Managed variables in PTX that clang 19 made of CUDA C++. clang knows such variables in HIP alone, so the device
 * headers give `__managed__` variables a section of their own. Sections are in clang's IR but not in its PTX: the names
 * come from the one, and the declarations in the other get `.attribute(.managed)`. */
#ifndef MR_PTX_MANAGED_H
#define MR_PTX_MANAGED_H

#include <stdbool.h>
#include <stddef.h>

#include "base/text.h"

/* Whether the word `__managed__` stands in `text`. */
bool mr_ptx_managed_in(const char *text, size_t length);

/*
 * The same for the files that a compilation read, in a list as compilers write it
 * for make. Files in the `count` folders `ours`, which hold the
 * definition of the word, and files that can't be read are passed over.
 */
bool mr_ptx_managed_in_files(const char *depends, const char *const *ours, size_t count);

/* Adds the names, as PTX has them, of the variables that are in the section of managed variables in the text of LLVM
 * IR. */
void mr_ptx_managed_names(const char *ir, struct mr_words *names);

/* Adds the PTX to `out`, the declarations of these names managed. */
void mr_ptx_managed_mark(const char *ptx, const struct mr_words *names, struct mr_text *out);

#endif
