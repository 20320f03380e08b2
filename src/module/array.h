/* SPDX-License-Identifier: Apache-2.0 */
/* Arrays and mipmapped arrays: the memory that textures and surfaces read.
 *
 * What hardware keeps in an order of its own lies here row by row, without gaps: element x of row y of slice z is at
 * base + z * slice + y * pitch + x * bytes. A layer of a layered array, and a face of a cubemap, is a slice. Programs
 * can't tell, since they reach arrays through copies, textures and surfaces only. */
#ifndef MR_MODULE_ARRAY_H
#define MR_MODULE_ARRAY_H

#include <cuda.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/thread.h"
#include "object/handle.h"

struct mr_context;

/* How an element's channels are stored. UNORM and SNORM are integers that stand for [0, 1] and [-1, 1]. */
enum mr_texel_kind { MR_TEXEL_UINT, MR_TEXEL_SINT, MR_TEXEL_FLOAT, MR_TEXEL_UNORM, MR_TEXEL_SNORM };

struct mr_texel_format {
    uint8_t kind;         /* enum mr_texel_kind */
    uint8_t channel;      /* bytes of one channel: 1, 2 or 4 */
    uint8_t channels;     /* 1, 2 or 4 */
    uint8_t bytes;        /* of an element */
};

/* One level of an array, or linear memory that a texture reads. */
struct mr_texels {
    uintptr_t base;
    size_t pitch, slice;                /* bytes */
    uint32_t width, height, depth;      /* elements, rows, slices; each at least 1 */
};

/* Levels down from the largest width that an array can have. */
#define MR_MIPMAP_LEVELS 18u

struct mr_array {
    struct mr_object object;            /* MR_KIND_ARRAY */
    struct mr_context *context;         /* counted */
    bool is_level;                      /* of a mipmapped array, whose memory it is */
    CUDA_ARRAY3D_DESCRIPTOR desc;       /* as given */
    struct mr_texel_format format;
    struct mr_texels texels;
};

struct mr_mipmap {
    struct mr_object object;            /* MR_KIND_MIPMAP */
    struct mr_context *context;         /* counted */
    CUDA_ARRAY3D_DESCRIPTOR desc;
    struct mr_texel_format format;
    uintptr_t base;
    unsigned level_count;
    struct mr_texels levels[MR_MIPMAP_LEVELS];
    mr_lock lock;                       /* guards `arrays` */
    struct mr_array *arrays[MR_MIPMAP_LEVELS]; /* of the levels that were asked for; counted */
};

/* False for formats that arrays can't have here: block compression and video. `channels` must be what the format says
 * if it says so. */
bool mr_texel_format_of(CUarray_format format, unsigned channels, struct mr_texel_format *out)
    __attribute__((warn_unused_result));

/* Is it a format that CUDA knows at all? */
bool mr_texel_format_exists(CUarray_format format);

/* Makes an array, or a mipmapped array of `levels` levels (1 to MR_MIPMAP_LEVELS), of a descriptor that was checked.
 * CUDA_ERROR_OUT_OF_MEMORY; CUDA_ERROR_CONTEXT_IS_DESTROYED. */
CUresult mr_array_new(struct mr_context *context, const CUDA_ARRAY3D_DESCRIPTOR *desc, struct mr_array **out)
    __attribute__((warn_unused_result));
CUresult mr_mipmap_new(struct mr_context *context, const CUDA_ARRAY3D_DESCRIPTOR *desc, unsigned levels,
                       struct mr_mipmap **out) __attribute__((warn_unused_result));

/* Levels that an array of that size can have: down to one element. */
unsigned mr_mipmap_levels_of(const CUDA_ARRAY3D_DESCRIPTOR *desc);

/* The array of a level, made on the first request; lives as long as the mipmapped array. NULL when memory is short. */
struct mr_array *mr_mipmap_level(struct mr_mipmap *mipmap, unsigned level) __attribute__((warn_unused_result));

/* End the handle (of a mipmapped array: those of its levels too). Memory goes with the last reference. False if it has
 * ended already. */
bool mr_array_end(struct mr_array *array);
bool mr_mipmap_end(struct mr_mipmap *mipmap);

/* Ends all arrays and mipmapped arrays of a context that ends; its textures and surfaces have ended. */
void mr_arrays_end_all(struct mr_context *context);

#endif
