/* SPDX-License-Identifier: Apache-2.0 */

/* Variables local to a source, in PTX that clang 19 made of it.
 *
 * In relocatable PTX those that the host names get a longer name, which no other source has; but a kernel before the
 * host's first use knows them by the short one, and declares that as defined elsewhere. No source defines that. */
#ifndef MR_PTX_STATICS_H
#define MR_PTX_STATICS_H

#include <stdbool.h>

#include "base/text.h"

/* Adds the PTX to `out`, each such short name made the long one, which is that and "__static__…", the same in a whole
 * source. */
void mr_ptx_join_statics(const char *ptx, struct mr_text *out);

/*
 * Adds the PTX to `out`, as a program that looks for variables by name expects it. The PTX was made with
 * -fkeep-persistent-storage-variables, so that no variable that the host may write is left out or replaced by its first
 * value. Two things change. A variable of no namespace gets its own name, as nvcc and NVRTC call it, where nothing else
 * has that (`c` for `_ZL1c`). And constants that nothing refers to are left out if they may be the host's: those of
 * templates, functions and headers, and those beyond 16 KiB in all; and what this project's headers declare. Debug
 * information that says where such a variable is says 0 then.
 */
void mr_ptx_tidy_statics(const char *ptx, struct mr_text *out);

/* Adds the PTX to `out`, with definitions in place of what it declares as constants and variables of another module: in
 * code that is linked with no other, NVIDIA's compilers take `extern "C" __constant__ T x;` for one. An array without a
 * size stays what it is. */
void mr_ptx_define_externs(const char *ptx, struct mr_text *out);

/* Of a line: the name of the variable that it declares, and where; NULL: it is no declaration as clang writes it.
 * *space: where the state space begins. */
const char *mr_ptx_line_variable(const char *line, size_t *length, const char **space);

/* Whether the name at this place of the PTX is in a row of debug information, which says where a variable is and makes
 * no use of it: `.b64 name` in the first column. */
bool mr_ptx_debug_tells(const char *ptx, const char *name);

#endif
