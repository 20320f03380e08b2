/* SPDX-License-Identifier: Apache-2.0 */
/* LLVM's destructors, which must not run while a thread compiles. */
#ifndef MR_COMPILE_LLVM_EXIT_H
#define MR_COMPILE_LLVM_EXIT_H

#include <stdbool.h>

/* Arranges that the LLVM library, once it is loaded, registers no further destructors with exit. False if it can't be found or changed; what it has registered
 * so far stays. Any thread; once is enough. */
bool mr_llvm_exit_silence(void);

#endif
