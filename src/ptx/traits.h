/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Type traits of clang's that a C++ library has as names of its own: libstdc++ 12 declares struct
 * __is_nothrow_convertible. When clang meets that, the word is a name to it from there on, and headers that ask whether
 * it is a trait get "no". A preprocessor alone still answers "yes". In preprocessed text the library's name becomes
 * another.
 */
#ifndef MR_PTX_TRAITS_H
#define MR_PTX_TRAITS_H

#include <stddef.h>

#include "base/text.h"

/* Renames such classes; how many names there were. When memory is short, text->failed is set and the text is as it was.
 */
size_t mr_traits_mend(struct mr_text *text);

#endif
