/* SPDX-License-Identifier: Apache-2.0 */
/* What the generated exports of a library include: its header, and the functions that it refuses. libcufftw refuses
 * none. */
#ifndef MR_CUFFTW_REFUSE_H
#define MR_CUFFTW_REFUSE_H

#include <cufftw.h>

#endif
