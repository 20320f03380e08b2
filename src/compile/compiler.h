/* SPDX-License-Identifier: Apache-2.0 */
/* The code generation library, opened when it is first needed.
 *
 * It is libmillrace-compile.so beside libcuda.so.1 (or what MILLRACE_COMPILER names), and brings LLVM with it; programs whose kernels are all in
 * the disk cache, and programs without kernels, never open it. */
#ifndef MR_COMPILE_COMPILER_H
#define MR_COMPILE_COMPILER_H

#include <stdbool.h>

#include "compile/codegen.h"

/* True if the library's file is there. Cheap: looks once. A warning is logged when it isn't. */
bool mr_compiler_present(void);

/* A short text that changes whenever the library's file does; "" if it isn't there. For the disk cache's keys. */
const char *mr_compiler_identity(void);

/* Around each use of the library. When the process ends, LLVM's own tables go; so from then on nobody is let in (false), and exit waits for those who are inside.
 * A thread doesn't enter twice. */
bool mr_compiler_enter(void) __attribute__((warn_unused_result));
void mr_compiler_leave(void);

/* The library's entry, opening it on first use; NULL, with the reason logged, if that fails. Any thread. */
const struct mr_codegen_api *mr_compiler_open(void);

#endif
