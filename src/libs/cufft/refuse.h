/* SPDX-License-Identifier: Apache-2.0 */
/* Functions that libcufft exports and cannot do. */
#ifndef MR_CUFFT_REFUSE_H
#define MR_CUFFT_REFUSE_H

#include <cufft.h>

/* CUFFT_NOT_SUPPORTED; a warning in the log names the function. */
cufftResult mr_cufft_refuse(const char *function);

#endif
