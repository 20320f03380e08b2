/* SPDX-License-Identifier: Apache-2.0 */
/* Types that only the graphics entry points take. Those functions are exported and refused;
 * graphics headers are no part of the build, so their names stand for plain C types. */
#ifndef MR_OBSERVE_INTEROP_TYPES_H
#define MR_OBSERVE_INTEROP_TYPES_H

#include <cuda.h>

typedef int CUGLDeviceList;
typedef struct CUeglStreamConnection_st *CUeglStreamConnection;

/* Passed by value to cuEGLStreamProducerPresentFrame, so its size is part of the ABI. */
typedef struct CUeglFrame_st {
    union {
        CUarray pArray[3];
        void *pPitch[3];
    } frame;
    unsigned int width;
    unsigned int height;
    unsigned int depth;
    unsigned int pitch;
    unsigned int planeCount;
    unsigned int numChannels;
    int frameType;
    int eglColorFormat;
    CUarray_format cuFormat;
} CUeglFrame;

#endif
