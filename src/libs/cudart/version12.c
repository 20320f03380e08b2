/* SPDX-License-Identifier: Apache-2.0 */
/* Functions whose structures grew from version 12 to 13. The older ones are the beginnings of the newer, so a program
 * of version 12 gives and gets that much, and not a byte more. */
#include "libs/cudart/version12.h"

#include <string.h>

#include "runtime_impl.h"

_Static_assert(sizeof(struct mr_pointer_attributes_12) == 24, "as programs of CUDA 12 have it");
_Static_assert(sizeof(struct mr_resource_desc_12) == 64, "as programs of CUDA 12 have it");
_Static_assert(sizeof(struct mr_resource_view_desc_12) == 48, "as programs of CUDA 12 have it");
_Static_assert(offsetof(struct mr_resource_desc_12, res) == offsetof(struct cudaResourceDesc, res),
               "the beginning of the newer one");

cudaError_t mr_cudaPointerGetAttributes_12(struct mr_pointer_attributes_12 *attributes, const void *ptr)
{
    struct cudaPointerAttributes found;
    cudaError_t status = mr_cudaPointerGetAttributes(attributes ? &found : NULL, ptr);
    if (status == cudaSuccess && attributes)
        memcpy(attributes, &found, sizeof *attributes);
    return status;
}

static const struct cudaResourceDesc *widen(const struct mr_resource_desc_12 *from, struct cudaResourceDesc *room)
{
    if (!from)
        return NULL;
    memset(room, 0, sizeof *room);
    memcpy(room, from, sizeof *from);
    return room;
}

cudaError_t mr_cudaCreateTextureObject_12(cudaTextureObject_t *pTexObject, const struct mr_resource_desc_12 *pResDesc,
                                          const struct cudaTextureDesc *pTexDesc,
                                          const struct mr_resource_view_desc_12 *pResViewDesc)
{
    struct cudaResourceDesc resource;
    struct cudaResourceViewDesc view;
    memset(&view, 0, sizeof view);
    if (pResViewDesc)
        memcpy(&view, pResViewDesc, sizeof *pResViewDesc);
    return mr_cudaCreateTextureObject(pTexObject, widen(pResDesc, &resource), pTexDesc, pResViewDesc ? &view : NULL);
}

cudaError_t mr_cudaCreateSurfaceObject_12(cudaSurfaceObject_t *pSurfObject, const struct mr_resource_desc_12 *pResDesc)
{
    struct cudaResourceDesc resource;
    return mr_cudaCreateSurfaceObject(pSurfObject, widen(pResDesc, &resource));
}

cudaError_t mr_cudaGetTextureObjectResourceDesc_12(struct mr_resource_desc_12 *pResDesc, cudaTextureObject_t texObject)
{
    struct cudaResourceDesc found;
    cudaError_t status = mr_cudaGetTextureObjectResourceDesc(pResDesc ? &found : NULL, texObject);
    if (status == cudaSuccess && pResDesc)
        memcpy(pResDesc, &found, sizeof *pResDesc);
    return status;
}

cudaError_t mr_cudaGetSurfaceObjectResourceDesc_12(struct mr_resource_desc_12 *pResDesc, cudaSurfaceObject_t surfObject)
{
    struct cudaResourceDesc found;
    cudaError_t status = mr_cudaGetSurfaceObjectResourceDesc(pResDesc ? &found : NULL, surfObject);
    if (status == cudaSuccess && pResDesc)
        memcpy(pResDesc, &found, sizeof *pResDesc);
    return status;
}

cudaError_t mr_cudaGetTextureObjectResourceViewDesc_12(struct mr_resource_view_desc_12 *pResViewDesc,
                                                       cudaTextureObject_t texObject)
{
    struct cudaResourceViewDesc found;
    cudaError_t status = mr_cudaGetTextureObjectResourceViewDesc(pResViewDesc ? &found : NULL, texObject);
    if (status == cudaSuccess && pResViewDesc)
        memcpy(pResViewDesc, &found, sizeof *pResViewDesc);
    return status;
}
