/* SPDX-License-Identifier: Apache-2.0 */
/* The life of arrays and mipmapped arrays; see array.h. What a descriptor may say is the API's to check
 * (api/texture/array.c). */
#include "module/array.h"

#include "memory/allocation.h"
#include "object/context.h"

struct format_row {
    CUarray_format format;
    uint8_t kind, channel, channels;
};

/* `channels` 0: any. */
static const struct format_row formats[] = {
    {CU_AD_FORMAT_UNSIGNED_INT8, MR_TEXEL_UINT, 1, 0},  {CU_AD_FORMAT_UNSIGNED_INT16, MR_TEXEL_UINT, 2, 0},
    {CU_AD_FORMAT_UNSIGNED_INT32, MR_TEXEL_UINT, 4, 0}, {CU_AD_FORMAT_SIGNED_INT8, MR_TEXEL_SINT, 1, 0},
    {CU_AD_FORMAT_SIGNED_INT16, MR_TEXEL_SINT, 2, 0},   {CU_AD_FORMAT_SIGNED_INT32, MR_TEXEL_SINT, 4, 0},
    {CU_AD_FORMAT_HALF, MR_TEXEL_FLOAT, 2, 0},          {CU_AD_FORMAT_FLOAT, MR_TEXEL_FLOAT, 4, 0},
    {CU_AD_FORMAT_UNORM_INT8X1, MR_TEXEL_UNORM, 1, 1},  {CU_AD_FORMAT_UNORM_INT8X2, MR_TEXEL_UNORM, 1, 2},
    {CU_AD_FORMAT_UNORM_INT8X4, MR_TEXEL_UNORM, 1, 4},  {CU_AD_FORMAT_UNORM_INT16X1, MR_TEXEL_UNORM, 2, 1},
    {CU_AD_FORMAT_UNORM_INT16X2, MR_TEXEL_UNORM, 2, 2}, {CU_AD_FORMAT_UNORM_INT16X4, MR_TEXEL_UNORM, 2, 4},
    {CU_AD_FORMAT_SNORM_INT8X1, MR_TEXEL_SNORM, 1, 1},  {CU_AD_FORMAT_SNORM_INT8X2, MR_TEXEL_SNORM, 1, 2},
    {CU_AD_FORMAT_SNORM_INT8X4, MR_TEXEL_SNORM, 1, 4},  {CU_AD_FORMAT_SNORM_INT16X1, MR_TEXEL_SNORM, 2, 1},
    {CU_AD_FORMAT_SNORM_INT16X2, MR_TEXEL_SNORM, 2, 2}, {CU_AD_FORMAT_SNORM_INT16X4, MR_TEXEL_SNORM, 2, 4},
};

bool mr_texel_format_of(CUarray_format format, unsigned channels, struct mr_texel_format *out)
{
    if (channels != 1 && channels != 2 && channels != 4)
        return false;
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++) {
        const struct format_row *row = &formats[i];
        if (row->format != format || (row->channels && row->channels != channels))
            continue;
        *out = (struct mr_texel_format){row->kind, row->channel, (uint8_t)channels, (uint8_t)(row->channel * channels)};
        return true;
    }
    return false;
}

bool mr_texel_format_exists(CUarray_format format)
{
    struct mr_texel_format found;
    return mr_texel_format_of(format, 1, &found) || mr_texel_format_of(format, 2, &found) ||
           mr_texel_format_of(format, 4, &found) ||
           (format >= CU_AD_FORMAT_BC1_UNORM && format <= CU_AD_FORMAT_YUV444_16bit_SemiPlanar) ||
           format == CU_AD_FORMAT_UNORM_INT_101010_2;
}

/* A level of an array, `base` not yet set; its size in bytes. */
static size_t lay_out(const CUDA_ARRAY3D_DESCRIPTOR *desc, unsigned level, unsigned bytes, struct mr_texels *out)
{
    bool layered = desc->Flags & (CUDA_ARRAY3D_LAYERED | CUDA_ARRAY3D_CUBEMAP);
    size_t width = desc->Width >> level, height = desc->Height >> level,
           depth = layered ? desc->Depth : desc->Depth >> level;
    out->width = (uint32_t)(width ? width : 1);
    out->height = (uint32_t)(height ? height : 1);
    out->depth = (uint32_t)(depth ? depth : 1);
    out->pitch = (size_t)out->width * bytes;
    out->slice = out->pitch * out->height;
    return out->slice * out->depth;
}

static void array_finish(void *object)
{
    struct mr_array *array = object;
    if (!array->is_level && array->texels.base)
        (void)!mr_memory_release_of(array->context, array->texels.base, MR_MEMORY_ARRAY);
    mr_object_drop(array->context);
}

static struct mr_array *array_record(struct mr_context *context, const CUDA_ARRAY3D_DESCRIPTOR *desc)
{
    struct mr_array *array = mr_object_new(MR_KIND_ARRAY, sizeof *array, array_finish);
    if (!array)
        return NULL;
    mr_object_hold(context);
    array->context = context;
    array->desc = *desc;
    (void)!mr_texel_format_of(desc->Format, desc->NumChannels, &array->format);
    return array;
}

CUresult mr_array_new(struct mr_context *context, const CUDA_ARRAY3D_DESCRIPTOR *desc, struct mr_array **out)
{
    struct mr_array *array = array_record(context, desc);
    if (!array)
        return CUDA_ERROR_OUT_OF_MEMORY;
    size_t size = lay_out(desc, 0, array->format.bytes, &array->texels);
    CUresult status = mr_memory_allocate(context, MR_MEMORY_ARRAY, size, 0, &array->texels.base);
    if (status != CUDA_SUCCESS) {
        array->texels.base = 0;
        mr_array_end(array);
        return status;
    }
    *out = array;
    return CUDA_SUCCESS;
}

unsigned mr_mipmap_levels_of(const CUDA_ARRAY3D_DESCRIPTOR *desc)
{
    bool layered = desc->Flags & (CUDA_ARRAY3D_LAYERED | CUDA_ARRAY3D_CUBEMAP);
    size_t most = desc->Width > desc->Height ? desc->Width : desc->Height;
    if (!layered && desc->Depth > most)
        most = desc->Depth;
    unsigned levels = 0;
    for (; most; most >>= 1)
        levels++;
    return levels < MR_MIPMAP_LEVELS ? levels : MR_MIPMAP_LEVELS;
}

static void mipmap_finish(void *object)
{
    struct mr_mipmap *mipmap = object;
    for (unsigned i = 0; i < mipmap->level_count; i++)
        if (mipmap->arrays[i])
            mr_object_drop(mipmap->arrays[i]);
    if (mipmap->base)
        (void)!mr_memory_release_of(mipmap->context, mipmap->base, MR_MEMORY_ARRAY);
    mr_object_drop(mipmap->context);
}

CUresult mr_mipmap_new(struct mr_context *context, const CUDA_ARRAY3D_DESCRIPTOR *desc, unsigned levels,
                       struct mr_mipmap **out)
{
    struct mr_mipmap *mipmap = mr_object_new(MR_KIND_MIPMAP, sizeof *mipmap, mipmap_finish);
    size_t size = 0;
    if (!mipmap)
        return CUDA_ERROR_OUT_OF_MEMORY;
    mr_lock_init(&mipmap->lock, MR_LOCK_MIPMAP);
    mr_object_hold(context);
    mipmap->context = context;
    mipmap->desc = *desc;
    mipmap->level_count = levels;
    (void)!mr_texel_format_of(desc->Format, desc->NumChannels, &mipmap->format);
    for (unsigned i = 0; i < levels; i++) {
        size_t bytes = lay_out(desc, i, mipmap->format.bytes, &mipmap->levels[i]);
        mipmap->levels[i].base = size;
        size += (bytes + 255) & ~(size_t)255;
    }
    CUresult status = mr_memory_allocate(context, MR_MEMORY_ARRAY, size, 0, &mipmap->base);
    if (status != CUDA_SUCCESS) {
        mipmap->base = 0;
        mr_mipmap_end(mipmap);
        return status;
    }
    for (unsigned i = 0; i < levels; i++)
        mipmap->levels[i].base += mipmap->base;
    *out = mipmap;
    return CUDA_SUCCESS;
}

struct mr_array *mr_mipmap_level(struct mr_mipmap *mipmap, unsigned level)
{
    mr_lock_take(&mipmap->lock);
    struct mr_array *array = mipmap->arrays[level];
    if (!array) {
        const struct mr_texels *texels = &mipmap->levels[level];
        CUDA_ARRAY3D_DESCRIPTOR desc = mipmap->desc;
        desc.Width = texels->width;
        desc.Height = desc.Height ? texels->height : 0;
        desc.Depth = desc.Depth ? texels->depth : 0;
        array = array_record(mipmap->context, &desc);
        if (array) {
            array->is_level = true;
            array->texels = *texels;
            mipmap->arrays[level] = array;
        }
    }
    mr_lock_drop(&mipmap->lock);
    return array;
}

bool mr_array_end(struct mr_array *array)
{
    if (!mr_object_retire(array))
        return false;
    mr_object_drop(array);
    return true;
}

/* A level's handle ends here, and its reference with the mipmapped array's record. */
bool mr_mipmap_end(struct mr_mipmap *mipmap)
{
    if (!mr_object_retire(mipmap))
        return false;
    mr_lock_take(&mipmap->lock);
    for (unsigned i = 0; i < mipmap->level_count; i++)
        if (mipmap->arrays[i])
            (void)mr_object_retire(mipmap->arrays[i]);
    mr_lock_drop(&mipmap->lock);
    mr_object_drop(mipmap);
    return true;
}

static void end_array(void *object, void *data)
{
    struct mr_array *array = object;
    if (array->context == data && !array->is_level) {
        mr_object_orphan(array);
        (void)mr_array_end(array);
    }
}

static void end_mipmap(void *object, void *data)
{
    struct mr_mipmap *mipmap = object;
    if (mipmap->context == data) {
        mr_object_orphan(mipmap);
        (void)mr_mipmap_end(mipmap);
    }
}

void mr_arrays_end_all(struct mr_context *context)
{
    mr_object_each(MR_KIND_MIPMAP, end_mipmap, context);
    mr_object_each(MR_KIND_ARRAY, end_array, context);
}
