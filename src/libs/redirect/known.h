/* SPDX-License-Identifier: Apache-2.0 */
/* Copies of NVIDIA's static runtime library that have no names, found by their code. */
#ifndef MR_REDIRECT_KNOWN_H
#define MR_REDIRECT_KNOWN_H

#include <elf.h>

#include "libs/redirect/symbols.h"

/* Looks for a known copy in a section of code of the file that `fd` is. If one is there, its functions are in
 * out->functions, which the caller frees, and out->known is its version. NULL, or what went wrong. */
const char *mr_redirect_known(int fd, const Elf64_Shdr *section, struct mr_redirect_symbols *out);

#endif
