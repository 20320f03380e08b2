/* SPDX-License-Identifier: Apache-2.0 */

/*
 * `__shared__` variables of classes whose constructors or destructors do something (`__shared__ cuda::barrier<…> b;`).
 * nvcc warns and leaves the memory as it is; clang refuses them. In preprocessed text such a variable becomes a member
 * of a union, mr_unmade of the device headers, that makes and unmakes nothing, and its name a reference to the member.
 */
#ifndef MR_PTX_UNMADE_H
#define MR_PTX_UNMADE_H

#include <stddef.h>

#include "base/text.h"

/* Adds to `places` where the compiler's messages say that it met such variables, each place once; how many are new. */
size_t mr_unmade_places(const char *messages, struct mr_words *places);

/* Adds to `out` the preprocessed text with those variables changed that lie at the places; how many there were. Lines
 * keep their numbers. Not changed: those declared within a class's or another type's body, and those with an
 * initialiser. Whether memory was enough is in out->failed. */
size_t mr_unmade_mend(const char *text, const struct mr_words *places, struct mr_text *out);

#endif
