/* SPDX-License-Identifier: Apache-2.0 */
/* <device_types.h>: for source compiled at run time how functions round; other sources get the runtime's header. */
#ifdef __CUDACC_RTC__
#ifndef __DEVICE_TYPES_H__
#define __DEVICE_TYPES_H__
enum cudaRoundMode { cudaRoundNearest, cudaRoundZero, cudaRoundPosInf, cudaRoundMinInf };
#endif
#else
#include_next <device_types.h>
#endif
