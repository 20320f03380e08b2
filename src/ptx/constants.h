/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Tables that are `const` and of the device, in code that clang 19 made of CUDA C++.
 *
 * clang puts them in constant memory, which is 64 KiB; nvcc puts them in global memory, as large as
 * they are. Where those of a source don't fit, clang's IR is changed before any pass, when each use
 * of a variable is a cast of its address, and PTX is made of that.
 */
#ifndef MR_PTX_CONSTANTS_H
#define MR_PTX_CONSTANTS_H

#include <stdbool.h>

#include "base/text.h"

/*
 * Whether the constant variables of the PTX that something refers to, or that the host has to fill, take more than a
 * device has. If so, adds the names of those that are filled already, of which some are to be moved.
 */
bool mr_ptx_constants_overflow(const char *ptx, struct mr_words *names);

/* Adds the text of LLVM IR to `out`, the variables of these names in global memory. */
void mr_ir_move_constants(const char *ir, const struct mr_words *names, struct mr_text *out);

/* Adds the words that make PTX of IR for `target` (80 for sm_80), from clang's name to before the output's. */
void mr_ir_compiler_words(const char *clang, unsigned target, struct mr_words *words);

#endif
