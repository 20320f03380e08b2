/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Arrays of the host whose size is known when they are made, and which have an initialiser (`auto n = 2; int a[n] = {1,
 * 2};`). g++, and so nvcc, takes them; clang takes such arrays without an initialiser alone. In preprocessed text the
 * initialiser becomes an array of its own, from which mr_fill_sized of the device headers copies.
 */
#ifndef MR_PTX_SIZED_H
#define MR_PTX_SIZED_H

#include <stddef.h>

#include "base/text.h"

/* Adds to `places` where the compiler's messages say that it met such arrays, each place once; how many are new. */
size_t mr_sized_places(const char *messages, struct mr_words *places);

/* Adds to `out` the preprocessed text with those arrays changed that lie at the places; how many there were. Lines keep
 * their numbers. Not changed, and refused again: constant arrays, and those that share a declaration with others, and
 * those with a string. Whether memory was enough is in out->failed. */
size_t mr_sized_mend(const char *text, const struct mr_words *places, struct mr_text *out);

#endif
