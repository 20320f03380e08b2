/* SPDX-License-Identifier: Apache-2.0 */
/* Linking of relocatable device code. */
#ifndef MR_CUDART_LINK_H
#define MR_CUDART_LINK_H

#include "libs/cudart/runtime.h"

/* Links fat binaries, a list that ends in NULL, and loads the result. There is a current context.
 * CUDA_ERROR_NO_BINARY_FOR_GPU where none of them holds PTX that fits. */
CUresult mr_rt_link(void *const *objects, CUlibrary *out);

#endif
