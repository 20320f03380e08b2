/* SPDX-License-Identifier: Apache-2.0 */

/* Spellings of CUDA C++ that nvcc takes and clang does not, rewritten in the text of a source or header.
 *
 *   - Blanks within the brackets of a launch (`k << <1, 1>> >()`), and `alignas` or `[[…]]` behind `__shared__` or
 *     `__align__`, which have to stand before. There characters change places and none is added, so lines stay and
 *     columns nearly do.
 *   - Arguments of a launch in braces get their type (`k<<<n, dim3{32, 4}>>>()`).
 *   - In asm statements with operands the names of PTX's registers (`%laneid`) get the second percent sign that clang
 *     wants, and operands the comma between them. */
#ifndef MR_PTX_SPELLING_H
#define MR_PTX_SPELLING_H

#include <stddef.h>

#include "base/text.h"

/* Rewrites the text; how many places were rewritten. Texts without such places are left alone. When memory is short,
 * text->failed is set and the text is as it was or has its first places rewritten. */
size_t mr_spelling_mend(struct mr_text *text);

#endif
