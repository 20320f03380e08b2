/* SPDX-License-Identifier: Apache-2.0 */
/* Programs of several sources whose device code refers to each other (nvcc -rdc=true): what was compiled for PTX is linked when it is used
 * first. Their wrapper lists one fat binary per object, and NULL. */
#include "cudart/link.h"

#include <string.h>

#include "base/log.h"
#include "base/mapped.h"

#define FATBIN_MAGIC 0xba55ed50u

/* An object without PTX that fits (the device runtime that nvcc always adds has none) is left out; what it lacks then, the link tells. */
static CUresult add_objects(CUlinkState link, void *const *objects)
{
    unsigned added = 0;
    for (;; objects++) {
        if (!mr_mapped_allows((uintptr_t)objects, sizeof *objects, false))
            return CUDA_ERROR_INVALID_IMAGE;
        if (!*objects)
            break;
        struct {
            unsigned magic;
            unsigned short version, size; /* of this header */
            unsigned long long rest;
        } header;
        if (!mr_mapped_allows((uintptr_t)*objects, sizeof header, false))
            return CUDA_ERROR_INVALID_IMAGE;
        memcpy(&header, *objects, sizeof header);
        if (header.magic != FATBIN_MAGIC || header.rest > SIZE_MAX - header.size ||
            !mr_mapped_allows((uintptr_t)*objects, (size_t)header.rest + header.size, false))
            return CUDA_ERROR_INVALID_IMAGE;
        CUresult status = mr_driver.cuLinkAddData(link, CU_JIT_INPUT_FATBINARY, *objects, (size_t)header.rest + header.size, "object", 0, NULL, NULL);
        if (status == CUDA_SUCCESS)
            added++;
        else if (status != CUDA_ERROR_NO_BINARY_FOR_GPU)
            return status;
    }
    return added > 0 ? CUDA_SUCCESS : CUDA_ERROR_NO_BINARY_FOR_GPU;
}

CUresult mr_rt_link(void *const *objects, CUlibrary *out)
{
    CUlinkState link;
    void *image;
    size_t size;
    char errors[1024] = "";
    CUjit_option options[] = { CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES };
    void *values[] = { errors, (void *)sizeof errors };
    CUresult status = mr_driver.cuLinkCreate(2, options, values, &link);
    if (status != CUDA_SUCCESS)
        return status;
    status = add_objects(link, objects);
    if (status == CUDA_SUCCESS)
        status = mr_driver.cuLinkComplete(link, &image, &size);
    if (status == CUDA_SUCCESS)
        status = mr_driver.cuLibraryLoadData(out, image, NULL, NULL, 0, NULL, NULL, 0);
    else if (status != CUDA_ERROR_NO_BINARY_FOR_GPU)
        mr_log(MR_LOG_WARN, "libcudart: the device code of the program's objects can't be linked: %s", errors);
    (void)mr_driver.cuLinkDestroy(link);
    return status;
}
