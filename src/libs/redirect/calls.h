/* SPDX-License-Identifier: Apache-2.0 */
/* Calls of the C library that take a path: the program's go through a stub here, which may give another path (paths.h).
 *
 * The loader asks where each symbol is to lead when it binds it. For the functions of calls.def the answer is a stub,
 * which asks mr_call_path and goes on to the C library's own function, with the same return address: the function sets
 * the program's errno and returns to the program. */
#ifndef MR_REDIRECT_CALLS_H
#define MR_REDIRECT_CALLS_H

#include <stdint.h>

#define MR_CALL(name, argument, use) MR_CALL_##name,
enum mr_call {
#include "libs/redirect/calls.def"
    MR_CALLS
};
#undef MR_CALL

/* Where the symbol `name`, defined at `address` in the C library, is to lead: a stub, or `address`. The loader's lock
 * is held. */
uintptr_t mr_call_for(const char *name, uintptr_t address);

/* For the assembly: the path that call number `index` is to get in place of `path`. Any thread. */
const char *mr_call_path(const char *path, unsigned long index);

#endif
