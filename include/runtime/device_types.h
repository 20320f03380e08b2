/* SPDX-License-Identifier: Apache-2.0 */
/* How device functions round. */
#ifndef __DEVICE_TYPES_H__
#define __DEVICE_TYPES_H__

#include "host_defines.h"

/* To the nearest, to zero, up, down. */
enum cudaRoundMode {
    cudaRoundNearest,
    cudaRoundZero,
    cudaRoundPosInf,
    cudaRoundMinInf
};

#endif
