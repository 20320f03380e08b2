/* SPDX-License-Identifier: Apache-2.0 */
/* Channel descriptors (the other way round is mr_rt_format in runtime.h). */
#ifndef MR_CUDART_ARRAY_H
#define MR_CUDART_ARRAY_H

#include "libs/cudart/runtime.h"

/* The channels of a format. cudaErrorNotSupported for formats that have no plain channels. */
cudaError_t mr_rt_channels(CUarray_format format, unsigned channels, struct cudaChannelFormatDesc *out);

#endif
