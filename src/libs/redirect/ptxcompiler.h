/* SPDX-License-Identifier: Apache-2.0 */
/* NVIDIA's PTX Compiler API in a library of somebody's (Mojo's libNVPTX.so), which makes machine code: what a program
 * looks up there is answered with Millrace's (src/libs/nvptxcompiler/). MILLRACE_KEEP=libnvptxcompiler switches it off.
 */
#ifndef MR_REDIRECT_PTXCOMPILER_H
#define MR_REDIRECT_PTXCOMPILER_H

#include <link.h>
#include <stdbool.h>
#include <stdint.h>

/* Whether the object exports the interface. */
bool mr_ptxcompiler_is(const struct link_map *map);

/* What a program gets that looks `name` up in such an object, and would get `address`. The loader's lock is held. */
uintptr_t mr_ptxcompiler_symbol(const char *name, uintptr_t address);

#endif
