/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Parts of expressions and declarations that nvcc or NVIDIA's NVRTC takes with a warning and clang refuses, found by
 * the ranges that clang prints with its messages about preprocessed text:
 *
 * - a member's name with its class before it (`struct S { S::S(); };`): that goes;
 * - arithmetic on a pointer to void: the pointer goes through mr_void_pointer of the device headers;
 * - an object of a class handed to a function with "..." (a std::string for printf): its address goes there, as g++
 *   has it;
 * - a jump past a variable's initialiser: the variable is assigned to, if that can be (`int x; x = 1;`).
 */
#ifndef MR_PTX_RANGES_H
#define MR_PTX_RANGES_H

#include <stddef.h>

#include "base/text.h"

/* Adds to `places` that the compiler's messages tell of such parts; 1 if that is new. */
size_t mr_ranges_places(const char *messages, struct mr_words *places);

/* Whether it has been added. */
bool mr_ranges_known(const struct mr_words *places);

/* Adds the words by which clang only looks at a text and prints ranges. */
void mr_ranges_words(struct mr_words *words);

/* Adds to `out` the preprocessed text with the parts changed that the messages about this very text tell of; how many
 * there were. Of parts within each other only the inner ones are told of, so it takes several turns. Lines keep their
 * numbers. Whether memory was enough is in out->failed. */
size_t mr_ranges_mend(const char *messages, const char *text, struct mr_text *out);

/* How many turns are enough. */
#define MR_RANGES_TURNS 8

#endif
