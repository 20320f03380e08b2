/* SPDX-License-Identifier: Apache-2.0 */
/* Generated code for Linux's perf, where MILLRACE_PERF asks for it. */
#ifndef MR_COMPILE_PERF_H
#define MR_COMPILE_PERF_H

#include "compile/loader.h"

/* Notes the functions of loaded code: the kernel as `kernel`, the others by their symbols. `source` names the PTX in
 * debug information. What can't be written is logged once and left out. Any thread. */
void mr_perf_note(const struct mr_loaded *loaded, const char *kernel, const char *source);

#endif
