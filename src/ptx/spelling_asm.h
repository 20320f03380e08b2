/* SPDX-License-Identifier: Apache-2.0 */
/* The part of spelling.h that makes a text longer: spelling_asm.c. */
#ifndef MR_PTX_SPELLING_ASM_H
#define MR_PTX_SPELLING_ASM_H

#include <stddef.h>

#include "base/text.h"

/* Adds the text to `out`, which is empty, with names in asm statements as clang takes them; how many were rewritten. If
 * none, `out` may be left empty. */
size_t mr_spelling_mend_asm(const char *text, size_t length, struct mr_text *out);

#endif
