/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Kernels in a text whose functions are of both sides (NVRTC's -default-device, clang's pragma force_cuda_host_device).
 * clang makes kernels there of both sides, too, and then refuses every other declaration of them: a definition behind a
 * declaration, a specialisation, an instantiation. In preprocessed text the pragma ends before each kernel's
 * declaration and begins again behind it.
 */
#ifndef MR_PTX_ONE_SIDED_H
#define MR_PTX_ONE_SIDED_H

#include <stdbool.h>
#include <stddef.h>

#include "base/text.h"

/* Whether the compiler's messages say that it refused such a declaration. */
bool mr_one_sided_refused(const char *messages);

/* Rewrites the kernels between that pragma's beginning and end; how many there were. Lines keep their numbers. When
 * memory is short, text->failed is set and the text is as it was. */
size_t mr_one_sided_mend(struct mr_text *text);

#endif
