/* SPDX-License-Identifier: Apache-2.0 */
/* Texture objects and surface objects: what the program asked for, and what reading needs of it, worked out once.
 *
 * A kernel holds the handle as a 64-bit number. In its place it may hold the address of a texture or surface reference
 * of its module, a variable of 8 bytes that holds the handle which is bound to it; handles of these two kinds are never
 * multiples of 8, so the two can be told apart. */
#ifndef MR_MODULE_TEXTURE_H
#define MR_MODULE_TEXTURE_H

#include <cuda.h>
#include <stdbool.h>
#include <stdint.h>

#include "module/array.h"
#include "object/handle.h"

_Static_assert((MR_KIND_TEXTURE % 8 != 0) & (MR_KIND_SURFACE % 8 != 0),
               "handles of textures and surfaces are told from addresses");

struct mr_context;

/* How many coordinates a resource takes, its layer aside. */
enum mr_texture_shape { MR_TEXTURE_1D = 1, MR_TEXTURE_2D, MR_TEXTURE_3D, MR_TEXTURE_CUBE };

struct mr_texture {
    struct mr_object object;            /* MR_KIND_TEXTURE or MR_KIND_SURFACE */
    struct mr_context *context;         /* counted */
    struct mr_object *holder;           /* the array or mipmapped array; counted; NULL for linear memory */
    /* What reading looks at. */
    struct mr_texel_format format;      /* after the view */
    uint8_t shape;                      /* enum mr_texture_shape */
    bool layered,
        linear; /* linear: one-dimensional memory of the program's, which is only fetched from by whole numbers */
    bool normalized, as_integer, srgb;
    uint8_t level_count;
    uint32_t first_layer, layers; /* that can be chosen; of cubemaps six slices each */
    struct mr_texels levels[MR_MIPMAP_LEVELS];
    /* What the program gave. */
    CUDA_TEXTURE_DESC desc; /* zeros for surfaces */
    CUDA_RESOURCE_DESC resource;
    CUDA_RESOURCE_VIEW_DESC view; /* zeros without one */
};

/* A texture of descriptors that were checked; takes a reference of its own on `holder`. `texture->levels` and what else
 * depends on the resource is the caller's to fill in, before the program gets the handle. NULL when memory is short. */
struct mr_texture *mr_texture_new(enum mr_kind kind, struct mr_context *context, void *holder)
    __attribute__((warn_unused_result));

/* Ends the handle; false if it has ended already. */
bool mr_texture_end(struct mr_texture *texture);

/* Ends all textures and surfaces of a context that ends. */
void mr_textures_end_all(struct mr_context *context);

#endif
