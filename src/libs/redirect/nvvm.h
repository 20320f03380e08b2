/* SPDX-License-Identifier: Apache-2.0 */
/* LTO code of NVIDIA's libnvvm: nobody but NVIDIA's libraries can read it. So where a program asks libnvvm for LTO code
 * (-gen-lto), it gets PTX, which Millrace's libnvJitLink takes in its place. */
#ifndef MR_REDIRECT_NVVM_H
#define MR_REDIRECT_NVVM_H

#include <stdbool.h>
#include <stdint.h>

/* Whether the object at `path` is NVIDIA's libnvvm. False if MILLRACE_KEEP lists it. */
bool mr_nvvm_is(const char *path);

/* What the program gets for libnvvm's function `name`, whose address is `address`: that, or a function before it. The
 * loader's lock is held. */
uintptr_t mr_nvvm_symbol(const char *name, uintptr_t address);

#endif
