/* SPDX-License-Identifier: Apache-2.0 */
/* Programs of several sources whose device code refers to each other (nvcc -rdc=true): what was compiled for PTX is
 * linked when it is used first. Their wrapper lists one fat binary per object, and NULL. */
#include "libs/cudart/link.h"

#include <string.h>

#include "base/log.h"
#include "base/mapped.h"
#include "libs/cudart/fatbin.h"

/* The objects in the list. False if it has no end. */
static bool count_objects(void *const *objects, size_t *count)
{
    for (*count = 0; mr_mapped_allows((uintptr_t)(objects + *count), sizeof *objects, false); ++*count)
        if (!objects[*count])
            return true;
    return false;
}

/* An object without PTX that fits is left out; what is lacking then, the link tells. */
static CUresult add_objects(CUlinkState link, void *const *objects, size_t count)
{
    unsigned added = 0;
    for (size_t i = 0; i < count; i++) {
        struct mr_fatbin_head header;
        if (!mr_mapped_allows((uintptr_t)objects[i], sizeof header, false))
            return CUDA_ERROR_INVALID_IMAGE;
        memcpy(&header, objects[i], sizeof header);
        if (header.magic != MR_FATBIN_MAGIC || header.rest > SIZE_MAX - header.size ||
            !mr_mapped_allows((uintptr_t)objects[i], (size_t)header.rest + header.size, false))
            return CUDA_ERROR_INVALID_IMAGE;
        CUresult status = mr_driver.cuLinkAddData(link, CU_JIT_INPUT_FATBINARY, objects[i],
                                                  (size_t)header.rest + header.size, "object", 0, NULL, NULL);
        if (status == CUDA_SUCCESS)
            added++;
        else if (status != CUDA_ERROR_NO_BINARY_FOR_GPU)
            return status;
    }
    return added > 0 ? CUDA_SUCCESS : CUDA_ERROR_NO_BINARY_FOR_GPU;
}

/* Links `count` objects. errors: room for `room` characters of what the linker says. */
static CUresult link_objects(void *const *objects, size_t count, char *errors, size_t room, CUlibrary *out)
{
    CUlinkState link;
    void *image;
    size_t size;
    CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
    void *values[] = {errors, (void *)room};
    CUresult status = mr_driver.cuLinkCreate(2, options, values, &link);
    if (status != CUDA_SUCCESS)
        return status;
    status = add_objects(link, objects, count);
    if (status == CUDA_SUCCESS)
        status = mr_driver.cuLinkComplete(link, &image, &size);
    if (status == CUDA_SUCCESS)
        status = mr_driver.cuLibraryLoadData(out, image, NULL, NULL, 0, NULL, NULL, 0);
    (void)mr_driver.cuLinkDestroy(link);
    return status;
}

CUresult mr_rt_link(void *const *objects, CUlibrary *out)
{
    char errors[1024] = "";
    size_t count;
    if (!count_objects(objects, &count))
        return CUDA_ERROR_INVALID_IMAGE;
    CUresult status = link_objects(objects, count, errors, sizeof errors, out);
    if (status != CUDA_SUCCESS && status != CUDA_ERROR_NO_BINARY_FOR_GPU)
        mr_log(MR_LOG_WARN, "libcudart: the device code of the program's objects can't be linked: %s", errors);
    return status;
}
