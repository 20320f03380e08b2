/* SPDX-License-Identifier: Apache-2.0 */
/* Structures that were smaller in version 12. (Those of devices are in device.h.) */
#ifndef MR_CUDART_VERSION12_H
#define MR_CUDART_VERSION12_H

#include "libs/cudart/runtime.h"

/* cudaPointerAttributes without the reserved words. */
struct mr_pointer_attributes_12 {
    enum cudaMemoryType type;
    int device;
    void *devicePointer;
    void *hostPointer;
};

/* cudaResourceDesc without flags; its union ends with the largest kind of resource. */
struct mr_resource_desc_12 {
    enum cudaResourceType resType;
    union {
        cudaArray_t array;
        cudaMipmappedArray_t mipmap;
        struct {
            void *devPtr;
            struct cudaChannelFormatDesc desc;
            size_t sizeInBytes;
        } linear;
        struct {
            void *devPtr;
            struct cudaChannelFormatDesc desc;
            size_t width;
            size_t height;
            size_t pitchInBytes;
        } pitch2D;
    } res;
};

/* cudaResourceViewDesc without the reserved words. */
struct mr_resource_view_desc_12 {
    enum cudaResourceViewFormat format;
    size_t width;
    size_t height;
    size_t depth;
    unsigned int firstMipmapLevel;
    unsigned int lastMipmapLevel;
    unsigned int firstLayer;
    unsigned int lastLayer;
};

#endif
