/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Spellings of CUDA C++ that nvcc takes and clang does not, rewritten in the
 * text of a source or header: blanks within the brackets of a launch (`k << <1, 1>> >()`), and `alignas` or `[[…]]`
 * behind `__shared__` or
 * `__align__`, which have to stand before. Characters change places and none is added, so lines stay and columns nearly
 * do.
 */
#ifndef MR_PTX_SPELLING_H
#define MR_PTX_SPELLING_H

#include <stddef.h>

/* Rewrites the text in place; how many places were rewritten. Texts without such places are left alone. */
size_t mr_spelling_mend(char *text, size_t length);

#endif
