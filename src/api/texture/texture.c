/* SPDX-License-Identifier: Apache-2.0 */
/* Texture objects (driver API manual, Texture Object Management).
 *
 * Creation checks everything that reading could stumble over, so that the code that reads (kernel/texture.c) checks
 * coordinates only. */
#include <assert.h>

#include "api/texture/texture.h"

#include "api/stub.h"
#include "api_impl.h"
#include "base/call.h"
#include "memory/allocation.h"
#include "object/context.h"
#include "prepare/array_side.h"
#include "prepare/check.h"
#include "stream/stream.h"

/* Bits without a name that hardware takes. */
#define FLAGS_IGNORED 0xcu
#define FLAGS_KNOWN \
    (CU_TRSF_READ_AS_INTEGER | CU_TRSF_NORMALIZED_COORDINATES | CU_TRSF_SRGB | \
     CU_TRSF_DISABLE_TRILINEAR_OPTIMIZATION | CU_TRSF_SEAMLESS_CUBEMAP | FLAGS_IGNORED)

static size_t limit_of(const struct mr_context *context, CUdevice_attribute attribute)
{
    int value = 0;
    return mr_device_attribute(context->device, attribute, &value) == CUDA_SUCCESS ? (size_t)value : 0;
}

void mr_texture_take_array(struct mr_texture *texture, const CUDA_ARRAY3D_DESCRIPTOR *desc,
                           const struct mr_texel_format *format)
{
    texture->format = *format;
    texture->layered = desc->Flags & CUDA_ARRAY3D_LAYERED;
    texture->layers = 1;
    if (desc->Flags & CUDA_ARRAY3D_CUBEMAP) {
        texture->shape = MR_TEXTURE_CUBE;
        texture->layers = (uint32_t)desc->Depth / 6;
    } else if (texture->layered) {
        texture->shape = desc->Height ? MR_TEXTURE_2D : MR_TEXTURE_1D;
        texture->layers = (uint32_t)desc->Depth;
    } else {
        texture->shape = desc->Depth ? MR_TEXTURE_3D : desc->Height ? MR_TEXTURE_2D : MR_TEXTURE_1D;
    }
}

/* Memory of the program's: a row, or rows with a pitch. How much there is isn't looked at, as on hardware: a read past
 * its end is the kernel's fault. */
static CUresult check_memory(const struct mr_context *context, CUdeviceptr address)
{
    struct mr_allocation found;
    size_t alignment = limit_of(context, CU_DEVICE_ATTRIBUTE_TEXTURE_ALIGNMENT);
    if (!address || address % alignment)
        return mr_bad_value("%#llx is not a multiple of %zu bytes", (unsigned long long)address, alignment);
    if (!mr_memory_find((uintptr_t)address, &found))
        return mr_bad_value("%#llx is in no live allocation", (unsigned long long)address);
    return CUDA_SUCCESS;
}

static CUresult take_linear(struct mr_texture *texture, const CUDA_RESOURCE_DESC *resource)
{
    size_t bytes = resource->res.linear.sizeInBytes;
    if (!mr_texel_format_of(resource->res.linear.format, resource->res.linear.numChannels, &texture->format))
        return mr_bad_value("there is no format %#x with %u channels", (unsigned)resource->res.linear.format,
                            resource->res.linear.numChannels);
    size_t count = bytes / texture->format.bytes;
    if (count > INT32_MAX)
        return mr_bad_value("%zu bytes of linear memory", bytes);
    texture->shape = MR_TEXTURE_1D;
    texture->linear = true;
    texture->layers = texture->level_count = 1;
    texture->levels[0] =
        (struct mr_texels){(uintptr_t)resource->res.linear.devPtr, bytes, bytes, (uint32_t)count, 1, 1};
    return check_memory(texture->context, resource->res.linear.devPtr);
}

static CUresult take_pitch(struct mr_texture *texture, const CUDA_RESOURCE_DESC *resource)
{
    size_t width = resource->res.pitch2D.width, height = resource->res.pitch2D.height,
           pitch = resource->res.pitch2D.pitchInBytes;
    const struct mr_context *context = texture->context;
    if (!mr_texel_format_of(resource->res.pitch2D.format, resource->res.pitch2D.numChannels, &texture->format))
        return mr_bad_value("there is no format %#x with %u channels", (unsigned)resource->res.pitch2D.format,
                            resource->res.pitch2D.numChannels);
    if (width > limit_of(context, CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_LINEAR_WIDTH) ||
        height > limit_of(context, CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_LINEAR_HEIGHT))
        return mr_bad_value("%zu x %zu elements of memory with a pitch", width, height);
    size_t unit = limit_of(context, CU_DEVICE_ATTRIBUTE_TEXTURE_PITCH_ALIGNMENT);
    assert(unit > 0);
    if (pitch % unit || pitch > limit_of(context, CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_LINEAR_PITCH))
        return mr_bad_value("a pitch of %zu bytes is too large or not aligned", pitch);
    texture->shape = MR_TEXTURE_2D;
    texture->layers = texture->level_count = 1;
    texture->levels[0] = (struct mr_texels){
        (uintptr_t)resource->res.pitch2D.devPtr, pitch, pitch * height, (uint32_t)width, (uint32_t)height, 1};
    return check_memory(context, resource->res.pitch2D.devPtr);
}

/* The array or mipmapped array of a resource, with a reference; NULL for memory of the program's. */
static CUresult find_holder(const CUDA_RESOURCE_DESC *resource, void **out)
{
    *out = NULL;
    if (resource->resType == CU_RESOURCE_TYPE_LINEAR || resource->resType == CU_RESOURCE_TYPE_PITCH2D)
        return CUDA_SUCCESS;
    if (resource->resType == CU_RESOURCE_TYPE_ARRAY)
        *out = mr_object_acquire(resource->res.array.hArray, MR_KIND_ARRAY);
    else if (resource->resType == CU_RESOURCE_TYPE_MIPMAPPED_ARRAY)
        *out = mr_object_acquire(resource->res.mipmap.hMipmappedArray, MR_KIND_MIPMAP);
    else
        return mr_bad_value("there is no type of resource %d", (int)resource->resType);
    return *out ? CUDA_SUCCESS
                : mr_bad_value("%p is not a live array of the resource's type", (void *)resource->res.array.hArray);
}

static const CUDA_ARRAY3D_DESCRIPTOR *take_holder(struct mr_texture *texture, enum CUresourcetype_enum type)
{
    if (type == CU_RESOURCE_TYPE_ARRAY) {
        struct mr_array *array = (struct mr_array *)texture->holder;
        mr_texture_take_array(texture, &array->desc, &array->format);
        texture->levels[0] = array->texels;
        texture->level_count = 1;
        return &array->desc;
    }
    struct mr_mipmap *mipmap = (struct mr_mipmap *)texture->holder;
    mr_texture_take_array(texture, &mipmap->desc, &mipmap->format);
    for (unsigned i = 0; i < mipmap->level_count; i++)
        texture->levels[i] = mipmap->levels[i];
    texture->level_count = (uint8_t)mipmap->level_count;
    return &mipmap->desc;
}

/* The format of a view that is not block-compressed: kinds of three, each with 1, 2 and 4 channels. */
static bool view_format(CUresourceViewFormat format, struct mr_texel_format *out)
{
    static const struct {
        uint8_t kind, channel;
    } rows[] = {{MR_TEXEL_UINT, 1}, {MR_TEXEL_SINT, 1}, {MR_TEXEL_UINT, 2},  {MR_TEXEL_SINT, 2},
                {MR_TEXEL_UINT, 4}, {MR_TEXEL_SINT, 4}, {MR_TEXEL_FLOAT, 2}, {MR_TEXEL_FLOAT, 4}};
    if (format < CU_RES_VIEW_FORMAT_UINT_1X8 || format > CU_RES_VIEW_FORMAT_FLOAT_4X32)
        return false;
    unsigned number = (unsigned)format - CU_RES_VIEW_FORMAT_UINT_1X8, channels = 1u << number % 3;
    *out = (struct mr_texel_format){rows[number / 3].kind, rows[number / 3].channel, (uint8_t)channels,
                                    (uint8_t)(rows[number / 3].channel * channels)};
    return true;
}

static CUresult take_view(struct mr_texture *texture, const CUDA_ARRAY3D_DESCRIPTOR *desc,
                          const CUDA_RESOURCE_VIEW_DESC *view)
{
    struct mr_texel_format format = texture->format;
    if (view->format >= CU_RES_VIEW_FORMAT_UNSIGNED_BC1 && view->format <= CU_RES_VIEW_FORMAT_UNSIGNED_BC7) {
        mr_call_log(MR_LOG_INFO, "block compression is not supported");
        return CUDA_ERROR_NOT_SUPPORTED;
    }
    if (!view_format(view->format, &format))
        return mr_bad_value("there is no view format %#x", (unsigned)view->format);
    if (format.bytes != texture->format.bytes)
        return mr_bad_value("a view's elements have %u bytes and its array's %u", format.bytes, texture->format.bytes);
    if (view->width != desc->Width || view->height != desc->Height || view->depth != desc->Depth)
        return mr_bad_value("a view of %zu x %zu x %zu elements of an array of %zu x %zu x %zu", view->width,
                            view->height, view->depth, desc->Width, desc->Height, desc->Depth);
    if (view->lastMipmapLevel >= texture->level_count || view->firstMipmapLevel > view->lastMipmapLevel)
        return mr_bad_value("a view can't have levels %u to %u of %u", view->firstMipmapLevel, view->lastMipmapLevel,
                            texture->level_count);
    unsigned slices = texture->layered ? (unsigned)desc->Depth : 1, faces = texture->shape == MR_TEXTURE_CUBE ? 6 : 1;
    if (view->lastLayer >= slices || view->firstLayer > view->lastLayer ||
        (texture->layered && view->firstLayer % faces))
        return mr_bad_value("a view can't have layers %u to %u of %u", view->firstLayer, view->lastLayer, slices);
    texture->format = format;
    texture->level_count = (uint8_t)(view->lastMipmapLevel - view->firstMipmapLevel + 1);
    for (unsigned i = 0; i < texture->level_count; i++)
        texture->levels[i] = texture->levels[i + view->firstMipmapLevel];
    if (texture->layered) {
        texture->first_layer = view->firstLayer / faces;
        texture->layers = (view->lastLayer - view->firstLayer) / faces + 1;
    }
    texture->view = *view;
    return CUDA_SUCCESS;
}

static CUresult take_desc(struct mr_texture *texture, const CUDA_TEXTURE_DESC *desc)
{
    bool integers = texture->format.kind == MR_TEXEL_UINT || texture->format.kind == MR_TEXEL_SINT;
    if (desc->flags & ~(unsigned)FLAGS_KNOWN)
        return mr_bad_value("flags %#x are not CU_TRSF_*", desc->flags);
    for (unsigned i = 0; i < 3; i++)
        if ((unsigned)desc->addressMode[i] > CU_TR_ADDRESS_MODE_BORDER)
            return mr_bad_value("there is no address mode %d", (int)desc->addressMode[i]);
    if ((unsigned)desc->filterMode > CU_TR_FILTER_MODE_LINEAR ||
        (unsigned)desc->mipmapFilterMode > CU_TR_FILTER_MODE_LINEAR)
        return mr_bad_value("there is no filter mode %d or %d", (int)desc->filterMode, (int)desc->mipmapFilterMode);
    texture->normalized = desc->flags & CU_TRSF_NORMALIZED_COORDINATES;
    texture->as_integer = integers && ((desc->flags & CU_TRSF_READ_AS_INTEGER) || texture->format.channel == 4);
    if (integers && !texture->as_integer)
        texture->format.kind = texture->format.kind == MR_TEXEL_UINT ? MR_TEXEL_UNORM : MR_TEXEL_SNORM;
    texture->srgb =
        (desc->flags & CU_TRSF_SRGB) && texture->format.kind == MR_TEXEL_UNORM && texture->format.channel == 1;
    if ((desc->flags & CU_TRSF_SEAMLESS_CUBEMAP) && texture->shape != MR_TEXTURE_CUBE)
        return mr_bad_value("CU_TRSF_SEAMLESS_CUBEMAP needs a cubemap");
    texture->desc = *desc;
    return CUDA_SUCCESS;
}

/* What resource, view and description say, into a texture that nobody knows yet. */
static CUresult fill_in(struct mr_texture *texture, const CUDA_TEXTURE_DESC *desc, const CUDA_RESOURCE_VIEW_DESC *view)
{
    const CUDA_RESOURCE_DESC *resource = &texture->resource;
    CUresult status = CUDA_SUCCESS;
    if (texture->holder) {
        const CUDA_ARRAY3D_DESCRIPTOR *array = take_holder(texture, resource->resType);
        if (view)
            status = take_view(texture, array, view);
    } else { /* a view of memory is not looked at */
        status = resource->resType == CU_RESOURCE_TYPE_LINEAR ? take_linear(texture, resource)
                                                              : take_pitch(texture, resource);
    }
    return status == CUDA_SUCCESS ? take_desc(texture, desc) : status;
}

CUresult mr_texture_make(struct mr_context *context, const CUDA_RESOURCE_DESC *resource, const CUDA_TEXTURE_DESC *desc,
                         const CUDA_RESOURCE_VIEW_DESC *view, struct mr_texture **out)
{
    void *holder;
    if (resource->flags)
        return mr_bad_value("the resource's flags %#x are not 0", resource->flags);
    CUresult status = find_holder(resource, &holder);
    if (status != CUDA_SUCCESS)
        return status;
    struct mr_texture *texture = mr_texture_new(MR_KIND_TEXTURE, context, holder);
    if (holder)
        mr_object_drop(holder);
    if (!texture)
        return CUDA_ERROR_OUT_OF_MEMORY;
    texture->resource = *resource;
    status = fill_in(texture, desc, view);
    if (status == CUDA_SUCCESS)
        *out = texture;
    else
        (void)mr_texture_end(texture);
    return status;
}

CUresult mr_texture_require(enum mr_kind kind, unsigned long long handle, struct mr_texture **out)
{
    struct mr_context *context;
    CUresult status = mr_context_require(&context);
    if (status != CUDA_SUCCESS)
        return status;
    *out = mr_object_acquire((const void *)(uintptr_t)handle, kind);
    return *out
               ? CUDA_SUCCESS
               : mr_bad_value("%#llx is not a live %s object", handle, kind == MR_KIND_TEXTURE ? "texture" : "surface");
}

CUresult mr_cuTexObjectCreate(CUtexObject *pTexObject, const CUDA_RESOURCE_DESC *pResDesc,
                              const CUDA_TEXTURE_DESC *pTexDesc, const CUDA_RESOURCE_VIEW_DESC *pResViewDesc)
{
    struct mr_context *context;
    struct mr_texture *texture;
    CUresult status = mr_context_require(&context);
    if (status != CUDA_SUCCESS)
        return status;
    if (!pTexObject || !pResDesc || !pTexDesc)
        return mr_bad_value("an argument is NULL");
    status = mr_texture_make(context, pResDesc, pTexDesc, pResViewDesc, &texture);
    if (status == CUDA_SUCCESS)
        *pTexObject = (CUtexObject)(uintptr_t)mr_object_handle(texture);
    return status;
}

/* Kernels in flight look the handle up as they go: it ends after them. */
CUresult mr_cuTexObjectDestroy(CUtexObject texObject)
{
    struct mr_texture *texture;
    if (!texObject)
        return mr_stub_context_missing();
    CUresult status = mr_texture_require(MR_KIND_TEXTURE, texObject, &texture);
    if (status != CUDA_SUCCESS)
        return status;
    status = mr_context_synchronize(texture->context);
    if (status == CUDA_SUCCESS && !mr_texture_end(texture))
        status = mr_bad_value("%#llx is not a live texture object", texObject);
    mr_object_drop(texture);
    return status;
}

CUresult mr_cuTexObjectGetResourceDesc(CUDA_RESOURCE_DESC *pResDesc, CUtexObject texObject)
{
    struct mr_texture *texture;
    CUresult status = mr_texture_require(MR_KIND_TEXTURE, texObject, &texture);
    if (status != CUDA_SUCCESS)
        return status;
    if (pResDesc)
        *pResDesc = texture->resource;
    else
        status = mr_bad_value("the result's place is NULL");
    mr_object_drop(texture);
    return status;
}

CUresult mr_cuTexObjectGetTextureDesc(CUDA_TEXTURE_DESC *pTexDesc, CUtexObject texObject)
{
    struct mr_texture *texture;
    CUresult status = mr_texture_require(MR_KIND_TEXTURE, texObject, &texture);
    if (status != CUDA_SUCCESS)
        return status;
    if (pTexDesc)
        *pTexDesc = texture->desc;
    else
        status = mr_bad_value("the result's place is NULL");
    mr_object_drop(texture);
    return status;
}

CUresult mr_cuTexObjectGetResourceViewDesc(CUDA_RESOURCE_VIEW_DESC *pResViewDesc, CUtexObject texObject)
{
    struct mr_texture *texture;
    CUresult status = mr_texture_require(MR_KIND_TEXTURE, texObject, &texture);
    if (status != CUDA_SUCCESS)
        return status;
    if (!pResViewDesc)
        status = mr_bad_value("the result's place is NULL");
    else /* zeros if it has none */
        *pResViewDesc = texture->view;
    mr_object_drop(texture);
    return status;
}
