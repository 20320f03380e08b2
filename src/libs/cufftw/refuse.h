/* SPDX-License-Identifier: Apache-2.0 */
/* libcufftw has all of its functions, so there is nothing to refuse; what the exports need is the header. */
#ifndef MR_CUFFTW_REFUSE_H
#define MR_CUFFTW_REFUSE_H

#include <cufftw.h>

#endif
