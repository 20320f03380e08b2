/* SPDX-License-Identifier: Apache-2.0 */

/* A compilation by clang that is done again from what its preprocessor made of the source. */
#ifndef MR_PTX_AGAIN_H
#define MR_PTX_AGAIN_H

#include <stdbool.h>

#include "base/text.h"

/* Whether the messages of a compilation say that no other text would help: a file is missing, say. */
bool mr_again_is_hopeless(const char *messages);

/* Adds clang's words for the preprocessed text, which is CUDA C++ to it like any other: those in `words` except for
 * macros and files to include. */
void mr_again_words(const struct mr_words *words, struct mr_words *out);

#endif
