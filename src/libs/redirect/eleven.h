/* SPDX-License-Identifier: Apache-2.0 */
/* Programs with the runtime library of CUDA 11 inside. Millrace's libcudart.so.12 answers them; these are the few
 * functions that have other parameters in version 12. (cudaDeviceProp grew too, but its function has another name
 * there.) */
#ifndef MR_REDIRECT_ELEVEN_H
#define MR_REDIRECT_ELEVEN_H

#include <stdint.h>

#include "libs/redirect/slots.h"

/* Where calls of a name's function are to go, by the version of the library inside: the stub of the same version, or
 * for version 11 that of 12 or a function that calls it. Valid for the life of the process. */
uintptr_t mr_redirect_target(int name, enum mr_redirect_version version);

#endif
