/* SPDX-License-Identifier: Apache-2.0 */
/* Programs with the runtime library of CUDA 11 inside. Millrace's libcudart.so.12 answers them; these are the few
 * functions that have other parameters in version 12. (cudaDeviceProp grew too, but its function has another name
 * there.) */
#ifndef MR_REDIRECT_ELEVEN_H
#define MR_REDIRECT_ELEVEN_H

#include <stdint.h>

/* The function that calls of `name`, as CUDA 11 has it, are to go to; 0 where version 12's can be called as it is.
 * Valid for the life of the process. */
uintptr_t mr_redirect_eleven(const char *name);

#endif
