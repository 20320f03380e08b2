/* SPDX-License-Identifier: Apache-2.0 */
/* Slots: one for each public function of the runtime library and each of its versions that Millrace has.
 *
 * A slot's stub is a piece of code that jumps to the function of that name in Millrace's libcudart. The library is
 * opened at the first call of any stub, since nothing can be opened while the loader is about to start a program. */
#ifndef MR_REDIRECT_SLOTS_H
#define MR_REDIRECT_SLOTS_H

#include "redirect_names.h"

#ifndef __ASSEMBLER__
#include <stdbool.h>
#include <stdint.h>

/* The versions of libcudart that calls can go to; and version 11, whose calls go to 12, some by way of eleven.h. */
enum mr_redirect_version {
    MR_REDIRECT_12,
    MR_REDIRECT_13,
    MR_REDIRECT_VERSIONS,
    MR_REDIRECT_11 = MR_REDIRECT_VERSIONS
};

/* The number of a function's name in the table, or -1. */
int mr_redirect_name(const char *name);

/* Where calls of a version go, for the log: what follows "libcudart.so.". */
const char *mr_redirect_version_name(enum mr_redirect_version version);

/* Makes the stubs ready. The loader's lock is held. */
void mr_redirect_slots_setup(void);

/* The stub of a name's number, for version 12 or 13. Valid for the life of the process. */
uintptr_t mr_redirect_stub(int name, enum mr_redirect_version version);

/* For the assembly: what the stub of slot `index` is to jump to. Opens the library if it is not open. A function that
 * the library lacks is told with a warning, and answers cudaErrorNotSupported. Any thread. */
uintptr_t mr_redirect_resolve(unsigned long index);
#endif

#endif
