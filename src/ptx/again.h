/* SPDX-License-Identifier: Apache-2.0 */

/* A compilation by clang that is done again from what its preprocessor made of the source. */
#ifndef MR_PTX_AGAIN_H
#define MR_PTX_AGAIN_H

#include "base/text.h"

/* Adds clang's words for the preprocessed text, which is CUDA C++ to it like any other: those in `words` except for
 * macros and files to include. */
void mr_again_words(const struct mr_words *words, struct mr_words *out);

#endif
