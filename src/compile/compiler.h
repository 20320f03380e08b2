/* SPDX-License-Identifier: Apache-2.0 */
/* The code generation library, opened when it is first needed.
 *
 * It is libmillrace-compile.so beside libcuda.so.1 (or what MILLRACE_COMPILER names), and brings LLVM with it; programs
 * whose kernels are all in the disk cache, and programs without kernels, never open it. */
#ifndef MR_COMPILE_COMPILER_H
#define MR_COMPILE_COMPILER_H

#include <stdbool.h>

#include "compile/codegen.h"

/* True if the library's file is there. Cheap: looks once. A warning is logged when it isn't. */
bool mr_compiler_present(void);

/* A short text that changes whenever the library's file does; "" if it isn't there. For the disk cache's keys. */
const char *mr_compiler_identity(void);

/* The library's entry, opening it on first use; NULL, with the reason logged, if that fails. Any thread, also while
 * another ends the process. */
const struct mr_codegen_api *mr_compiler_open(void);

/* Before and after fork, on the thread that forks; the second in both processes. A fork waits while another thread
 * opens the library, so the child, whose exit runs the destructors of what is loaded, never has a half of it. */
void mr_compiler_fork_begins(void);
void mr_compiler_fork_ends(void);

#endif
