/* SPDX-License-Identifier: Apache-2.0 */
/* How device functions round. */
#ifndef MILLRACE_DEVICE_TYPES_H
#define MILLRACE_DEVICE_TYPES_H

#include "host_defines.h"

/* To the nearest, to zero, up, down. */
enum cudaRoundMode {
    cudaRoundNearest,
    cudaRoundZero,
    cudaRoundPosInf,
    cudaRoundMinInf
};

#endif
