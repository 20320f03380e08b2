/* SPDX-License-Identifier: Apache-2.0 */
/* The part of spelling.h that names the types of arguments in braces: spelling_launch.c. */
#ifndef MR_PTX_SPELLING_LAUNCH_H
#define MR_PTX_SPELLING_LAUNCH_H

#include <stddef.h>

#include "base/text.h"

/* Adds the text to `out`, which is empty, with a type before each argument of a launch that begins with a brace; how
 * many got one. If none, `out` may be left empty. The brackets are those that clang takes, without blanks. */
size_t mr_spelling_mend_launch(const char *text, size_t length, struct mr_text *out);

#endif
