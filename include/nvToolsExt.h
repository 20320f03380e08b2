/* SPDX-License-Identifier: Apache-2.0 */
/* NVTX as programs of before CUDA 13 include it: the same functions, without the library libnvToolsExt. */
#ifndef MILLRACE_OLD_NVTOOLSEXT_H
#define MILLRACE_OLD_NVTOOLSEXT_H

#include "nvtx3/nvToolsExt.h"

#endif
