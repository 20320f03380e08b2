/* SPDX-License-Identifier: Apache-2.0 */
/* Preprocessed CUDA C++ without the bodies of what runs on the device alone. */
#ifndef NVCC_BODIES_H
#define NVCC_BODIES_H

#include <stdbool.h>
#include <stddef.h>

#include "base/text.h"

/* Adds to `out` the preprocessed text with the bodies of kernels and of functions of the device emptied; how many there
 * were. Lines keep their numbers. Whether memory was enough is in out->failed. */
size_t bodies_drop(const char *text, struct mr_text *out);

struct request;
/* By the words of a host half, which end in -c, and what the compiler said of it, the file `said`: writes such a text
 * of the source to `output`, in a spelling that clang takes (ptx/spelling.h, ptx/sized.h), and adds the words that
 * compile it. False if the source can't be preprocessed, or nothing is to be changed. */
bool bodies_text(const struct request *request, const struct mr_words *words, const char *source, const char *said,
                 const char *output, struct mr_words *out);

#endif
