/* SPDX-License-Identifier: Apache-2.0 */
/* From descriptors to textures and surfaces, for objects and for references. */
#ifndef MR_API_TEXTURE_H
#define MR_API_TEXTURE_H

#include <cuda.h>

#include "module/texture.h"

struct mr_context;

/* Checks the descriptors and makes a texture of them; `view` may be NULL. CUDA_ERROR_INVALID_VALUE for what the manual
 * forbids; CUDA_ERROR_NOT_SUPPORTED for block compression; CUDA_ERROR_OUT_OF_MEMORY. */
CUresult mr_texture_make(struct mr_context *context, const CUDA_RESOURCE_DESC *resource, const CUDA_TEXTURE_DESC *desc,
                         const CUDA_RESOURCE_VIEW_DESC *view, struct mr_texture **out)
    __attribute__((warn_unused_result));

/* The same for a surface. Hardware lets any array be one, made with CUDA_ARRAY3D_SURFACE_LDST or not. */
CUresult mr_surface_make(struct mr_context *context, const CUDA_RESOURCE_DESC *resource, struct mr_texture **out)
    __attribute__((warn_unused_result));

/* Takes shape, layers and format from an array's descriptor. */
void mr_texture_take_array(struct mr_texture *texture, const CUDA_ARRAY3D_DESCRIPTOR *desc,
                           const struct mr_texel_format *format);

/* The live texture or surface object behind a handle, with a reference: drop it. Needs a current context.
 * CUDA_ERROR_INVALID_VALUE. */
CUresult mr_texture_require(enum mr_kind kind, unsigned long long handle, struct mr_texture **out)
    __attribute__((warn_unused_result));

#endif
