/* SPDX-License-Identifier: Apache-2.0 */
/* Arrays and mipmapped arrays (driver API manual, Memory Management): creation, descriptors, ends.
 *
 * What a descriptor may say is checked here: the kind of the array follows from which of its sizes are 0 and from its
 * flags, and each kind has limits of its own, which are attributes of the device. Sparse arrays, arrays mapped later,
 * multisampled and video formats are refused. */
#define __CUDA_API_VERSION_INTERNAL
#include "prepare/array_side.h"

#include <limits.h>
#include <stdbool.h>

#include "api_impl.h"
#include "base/call.h"
#include "object/context.h"
#include "prepare/check.h"
#include "stream/stream.h"

#define FLAGS_KNOWN \
    (CUDA_ARRAY3D_LAYERED | CUDA_ARRAY3D_SURFACE_LDST | CUDA_ARRAY3D_CUBEMAP | CUDA_ARRAY3D_TEXTURE_GATHER | \
     CUDA_ARRAY3D_DEPTH_TEXTURE | CUDA_ARRAY3D_COLOR_ATTACHMENT | CUDA_ARRAY3D_SPARSE | \
     CUDA_ARRAY3D_DEFERRED_MAPPING | CUDA_ARRAY3D_VIDEO_ENCODE_DECODE)
/* For graphics, which this device does not do. */
#define FLAGS_GRAPHICS (CUDA_ARRAY3D_DEPTH_TEXTURE | CUDA_ARRAY3D_COLOR_ATTACHMENT)
#define FLAGS_REFUSED (CUDA_ARRAY3D_SPARSE | CUDA_ARRAY3D_DEFERRED_MAPPING | CUDA_ARRAY3D_VIDEO_ENCODE_DECODE)

/* The most that each size of a kind of array can be: attributes of the device, 0 for a size that has to be 0. */
struct limits {
    CUdevice_attribute width, height, depth;
};

#define MOST(what) CU_DEVICE_ATTRIBUTE_MAXIMUM_##what

static const struct limits plain[2][4] = {
    {{0, 0, 0},
     {MOST(TEXTURE1D_WIDTH), 0, 0},
     {MOST(TEXTURE2D_WIDTH), MOST(TEXTURE2D_HEIGHT), 0},
     {MOST(TEXTURE3D_WIDTH), MOST(TEXTURE3D_HEIGHT), MOST(TEXTURE3D_DEPTH)}},
    {{0, 0, 0},
     {MOST(SURFACE1D_WIDTH), 0, 0},
     {MOST(SURFACE2D_WIDTH), MOST(SURFACE2D_HEIGHT), 0},
     {MOST(SURFACE3D_WIDTH), MOST(SURFACE3D_HEIGHT), MOST(SURFACE3D_DEPTH)}},
};
static const struct limits layered[2][3] = {
    {{0, 0, 0},
     {MOST(TEXTURE1D_LAYERED_WIDTH), 0, MOST(TEXTURE1D_LAYERED_LAYERS)},
     {MOST(TEXTURE2D_LAYERED_WIDTH), MOST(TEXTURE2D_LAYERED_HEIGHT), MOST(TEXTURE2D_LAYERED_LAYERS)}},
    {{0, 0, 0},
     {MOST(SURFACE1D_LAYERED_WIDTH), 0, MOST(SURFACE1D_LAYERED_LAYERS)},
     {MOST(SURFACE2D_LAYERED_WIDTH), MOST(SURFACE2D_LAYERED_HEIGHT), MOST(SURFACE2D_LAYERED_LAYERS)}},
};
static const struct limits cubes[2][2] = {
    {{MOST(TEXTURECUBEMAP_WIDTH), MOST(TEXTURECUBEMAP_WIDTH), MOST(TEXTURECUBEMAP_LAYERED_LAYERS)},
     {MOST(TEXTURECUBEMAP_LAYERED_WIDTH), MOST(TEXTURECUBEMAP_LAYERED_WIDTH), MOST(TEXTURECUBEMAP_LAYERED_LAYERS)}},
    {{MOST(SURFACECUBEMAP_WIDTH), MOST(SURFACECUBEMAP_WIDTH), MOST(SURFACECUBEMAP_LAYERED_LAYERS)},
     {MOST(SURFACECUBEMAP_LAYERED_WIDTH), MOST(SURFACECUBEMAP_LAYERED_WIDTH), MOST(SURFACECUBEMAP_LAYERED_LAYERS)}},
};
static const struct limits gather = {MOST(TEXTURE2D_GATHER_WIDTH), MOST(TEXTURE2D_GATHER_HEIGHT), 0};

static bool fits(const struct mr_device *device, CUdevice_attribute limit, size_t size)
{
    int most = 0;
    if (!limit)
        return true;
    return mr_device_attribute(device, limit, &most) == CUDA_SUCCESS && size <= (size_t)most;
}

static bool within(const struct mr_device *device, const struct limits *limits, const CUDA_ARRAY3D_DESCRIPTOR *desc)
{
    return fits(device, limits->width, desc->Width) && fits(device, limits->height, desc->Height) &&
           fits(device, limits->depth, desc->Depth);
}

/* The sizes that go with the flags. */
static CUresult check_shape(const struct mr_device *device, const CUDA_ARRAY3D_DESCRIPTOR *desc)
{
    bool surface = desc->Flags & CUDA_ARRAY3D_SURFACE_LDST, layers = desc->Flags & CUDA_ARRAY3D_LAYERED,
         cube = desc->Flags & CUDA_ARRAY3D_CUBEMAP;
    const struct limits *most;
    if (!desc->Width)
        return mr_bad_value("the width is 0");
    if (cube) {
        bool count_fits = layers ? desc->Depth && desc->Depth % 6 == 0 : desc->Depth == 6;
        if (desc->Width != desc->Height || !count_fits)
            return mr_bad_value("a cubemap of %zu x %zu x %zu: it needs square faces, six of them", desc->Width,
                                desc->Height, desc->Depth);
        most = &cubes[surface][layers];
    } else if (layers) {
        if (!desc->Depth)
            return mr_bad_value("a layered array needs layers");
        most = &layered[surface][desc->Height ? 2 : 1];
    } else {
        if (desc->Depth && !desc->Height)
            return mr_bad_value("an array with a depth of %zu needs a height", desc->Depth);
        most = &plain[surface][desc->Depth ? 3 : desc->Height ? 2 : 1];
    }
    if (!within(device, most, desc))
        return mr_bad_value("%zu x %zu x %zu elements are more than the device allows", desc->Width, desc->Height,
                            desc->Depth);
    if ((desc->Flags & CUDA_ARRAY3D_TEXTURE_GATHER) && (!desc->Height || desc->Depth || !within(device, &gather, desc)))
        return mr_bad_value("only two-dimensional arrays can be gathered from");
    return CUDA_SUCCESS;
}

static CUresult check_descriptor(const struct mr_device *device, const CUDA_ARRAY3D_DESCRIPTOR *desc)
{
    struct mr_texel_format format;
    if (!mr_texel_format_exists(desc->Format))
        return mr_bad_value("there is no format %#x", (unsigned)desc->Format);
    if (desc->Flags & ~(unsigned)FLAGS_KNOWN)
        return mr_bad_value("flags %#x are not CUDA_ARRAY3D_*", desc->Flags);
    if (desc->Flags & FLAGS_GRAPHICS)
        return mr_bad_value("flags %#x are for graphics", desc->Flags);
    if (!mr_texel_format_of(desc->Format, desc->NumChannels, &format)) {
        struct mr_texel_format other;
        bool plain_format = mr_texel_format_of(desc->Format, 1, &other) ||
                            mr_texel_format_of(desc->Format, 2, &other) || mr_texel_format_of(desc->Format, 4, &other);
        if (plain_format)
            return mr_bad_value("there is no format %#x with %u channels", (unsigned)desc->Format, desc->NumChannels);
        mr_call_log(MR_LOG_INFO, "format %#x (block compression, video) is not supported", (unsigned)desc->Format);
        return CUDA_ERROR_NOT_SUPPORTED;
    }
    CUresult status = check_shape(device, desc);
    if (status == CUDA_SUCCESS && (desc->Flags & FLAGS_REFUSED)) {
        mr_call_log(MR_LOG_INFO,
                    "sparse arrays, arrays that are mapped later and arrays for video are not supported (flags %#x)",
                    desc->Flags);
        status = CUDA_ERROR_NOT_SUPPORTED;
    }
    return status;
}

static CUresult create(CUarray *out, const CUDA_ARRAY3D_DESCRIPTOR *desc)
{
    struct mr_context *context;
    struct mr_array *array;
    CUresult status = mr_context_require(&context);
    if (status != CUDA_SUCCESS)
        return status;
    if (!out || !desc)
        return mr_bad_value("an argument is NULL");
    status = check_descriptor(context->device, desc);
    if (status == CUDA_SUCCESS)
        status = mr_array_new(context, desc, &array);
    if (status == CUDA_SUCCESS)
        *out = mr_object_handle(array);
    return status;
}

CUresult mr_cuArray3DCreate_v2(CUarray *pHandle, const CUDA_ARRAY3D_DESCRIPTOR *pAllocateArray)
{
    return create(pHandle, pAllocateArray);
}

CUresult mr_cuArray3DCreate(CUarray *pHandle, const CUDA_ARRAY3D_DESCRIPTOR_v1 *pAllocateArray)
{
    if (!pAllocateArray)
        return create(pHandle, NULL);
    const CUDA_ARRAY3D_DESCRIPTOR desc = {pAllocateArray->Width,  pAllocateArray->Height,      pAllocateArray->Depth,
                                          pAllocateArray->Format, pAllocateArray->NumChannels, pAllocateArray->Flags};
    return create(pHandle, &desc);
}

CUresult mr_cuArrayCreate_v2(CUarray *pHandle, const CUDA_ARRAY_DESCRIPTOR *pAllocateArray)
{
    if (!pAllocateArray)
        return create(pHandle, NULL);
    const CUDA_ARRAY3D_DESCRIPTOR desc = {.Width = pAllocateArray->Width,
                                          .Height = pAllocateArray->Height,
                                          .Format = pAllocateArray->Format,
                                          .NumChannels = pAllocateArray->NumChannels};
    return create(pHandle, &desc);
}

CUresult mr_cuArrayCreate(CUarray *pHandle, const CUDA_ARRAY_DESCRIPTOR_v1 *pAllocateArray)
{
    if (!pAllocateArray)
        return create(pHandle, NULL);
    const CUDA_ARRAY_DESCRIPTOR desc = {pAllocateArray->Width, pAllocateArray->Height, pAllocateArray->Format,
                                        pAllocateArray->NumChannels};
    return mr_cuArrayCreate_v2(pHandle, &desc);
}

/* As on hardware, questions and ends need no current context. */
static CUresult check_thread(void)
{
    struct mr_context *context;
    return mr_in_host_function ? mr_context_require_slow(&context) : CUDA_SUCCESS;
}

static CUresult find(const void *out, CUarray handle, struct mr_array **array)
{
    CUresult status = check_thread();
    if (status != CUDA_SUCCESS)
        return status;
    return out ? mr_array_require(handle, array) : mr_bad_value("the result's place is NULL");
}

CUresult mr_cuArray3DGetDescriptor_v2(CUDA_ARRAY3D_DESCRIPTOR *pArrayDescriptor, CUarray hArray)
{
    struct mr_array *array;
    CUresult status = find(pArrayDescriptor, hArray, &array);
    if (status != CUDA_SUCCESS)
        return status;
    *pArrayDescriptor = array->desc;
    mr_object_drop(array);
    return CUDA_SUCCESS;
}

CUresult mr_cuArray3DGetDescriptor(CUDA_ARRAY3D_DESCRIPTOR_v1 *pArrayDescriptor, CUarray hArray)
{
    CUDA_ARRAY3D_DESCRIPTOR wide;
    CUresult status = mr_cuArray3DGetDescriptor_v2(pArrayDescriptor ? &wide : NULL, hArray);
    if (status == CUDA_SUCCESS)
        *pArrayDescriptor =
            (CUDA_ARRAY3D_DESCRIPTOR_v1){(unsigned)wide.Width, (unsigned)wide.Height, (unsigned)wide.Depth,
                                         wide.Format,          wide.NumChannels,      wide.Flags};
    return status;
}

CUresult mr_cuArrayGetDescriptor_v2(CUDA_ARRAY_DESCRIPTOR *pArrayDescriptor, CUarray hArray)
{
    struct mr_array *array;
    CUresult status = find(pArrayDescriptor, hArray, &array);
    if (status != CUDA_SUCCESS)
        return status;
    *pArrayDescriptor =
        (CUDA_ARRAY_DESCRIPTOR){array->desc.Width, array->desc.Height, array->desc.Format, array->desc.NumChannels};
    mr_object_drop(array);
    return CUDA_SUCCESS;
}

CUresult mr_cuArrayGetDescriptor(CUDA_ARRAY_DESCRIPTOR_v1 *pArrayDescriptor, CUarray hArray)
{
    CUDA_ARRAY_DESCRIPTOR wide;
    CUresult status = mr_cuArrayGetDescriptor_v2(pArrayDescriptor ? &wide : NULL, hArray);
    if (status == CUDA_SUCCESS)
        *pArrayDescriptor =
            (CUDA_ARRAY_DESCRIPTOR_v1){(unsigned)wide.Width, (unsigned)wide.Height, wide.Format, wide.NumChannels};
    return status;
}

/* What only sparse, deferred and planar arrays have an answer to: there are none of them. */
static CUresult no_such_array(const void *out, CUarray handle, const char *what)
{
    struct mr_array *array;
    CUresult status = find(out, handle, &array);
    if (status != CUDA_SUCCESS)
        return status;
    mr_object_drop(array);
    return mr_bad_value("the array is not %s", what);
}

static CUresult no_such_mipmap(const void *out, CUmipmappedArray handle, const char *what)
{
    struct mr_mipmap *mipmap;
    CUresult status = check_thread();
    if (status == CUDA_SUCCESS)
        status = out ? mr_mipmap_require(handle, &mipmap) : mr_bad_value("the result's place is NULL");
    if (status != CUDA_SUCCESS)
        return status;
    mr_object_drop(mipmap);
    return mr_bad_value("the mipmapped array is not %s", what);
}

CUresult mr_cuArrayGetSparseProperties(CUDA_ARRAY_SPARSE_PROPERTIES *sparseProperties, CUarray array)
{
    return no_such_array(sparseProperties, array, "sparse");
}

CUresult mr_cuMipmappedArrayGetSparseProperties(CUDA_ARRAY_SPARSE_PROPERTIES *sparseProperties, CUmipmappedArray mipmap)
{
    return no_such_mipmap(sparseProperties, mipmap, "sparse");
}

CUresult mr_cuArrayGetMemoryRequirements(CUDA_ARRAY_MEMORY_REQUIREMENTS *memoryRequirements, CUarray array,
                                         CUdevice device)
{
    struct mr_device *found;
    CUresult status = no_such_array(memoryRequirements, array, "one that is mapped later");
    CUresult bad = mr_device_require(device, &found);
    return status == CUDA_ERROR_INVALID_VALUE && bad != CUDA_SUCCESS ? bad : status;
}

CUresult mr_cuMipmappedArrayGetMemoryRequirements(CUDA_ARRAY_MEMORY_REQUIREMENTS *memoryRequirements,
                                                  CUmipmappedArray mipmap, CUdevice device)
{
    struct mr_device *found;
    CUresult status = no_such_mipmap(memoryRequirements, mipmap, "one that is mapped later");
    CUresult bad = mr_device_require(device, &found);
    return status == CUDA_ERROR_INVALID_VALUE && bad != CUDA_SUCCESS ? bad : status;
}

CUresult mr_cuArrayGetPlane(CUarray *pPlaneArray, CUarray hArray, unsigned int planeIdx)
{
    (void)planeIdx;
    return no_such_array(pPlaneArray, hArray, "of a format with planes");
}

/* Copies name arrays by address, and kernels read them: the memory goes only after the context's work. */
CUresult mr_cuArrayDestroy(CUarray hArray)
{
    struct mr_array *array;
    CUresult status = check_thread();
    if (status == CUDA_SUCCESS)
        status = mr_array_require(hArray, &array);
    if (status != CUDA_SUCCESS)
        return status;
    if (array->is_level)
        status = mr_bad_value("the array is a level of a mipmapped array and ends with it");
    else
        status = mr_context_synchronize(array->context);
    if (status == CUDA_SUCCESS && !mr_array_end(array))
        status = mr_bad_handle("array", hArray);
    mr_object_drop(array);
    return status;
}

CUresult mr_cuMipmappedArrayCreate(CUmipmappedArray *pHandle, const CUDA_ARRAY3D_DESCRIPTOR *pMipmappedArrayDesc,
                                   unsigned int numMipmapLevels)
{
    struct mr_context *context;
    struct mr_mipmap *mipmap;
    CUresult status = mr_context_require(&context);
    if (status != CUDA_SUCCESS)
        return status;
    if (!pHandle || !pMipmappedArrayDesc)
        return mr_bad_value("an argument is NULL");
    status = check_descriptor(context->device, pMipmappedArrayDesc);
    if (status != CUDA_SUCCESS)
        return status;
    unsigned most = mr_mipmap_levels_of(pMipmappedArrayDesc);
    unsigned levels = numMipmapLevels < 1 ? 1 : numMipmapLevels < most ? numMipmapLevels : most;
    status = mr_mipmap_new(context, pMipmappedArrayDesc, levels, &mipmap);
    if (status == CUDA_SUCCESS)
        *pHandle = mr_object_handle(mipmap);
    return status;
}

CUresult mr_cuMipmappedArrayGetLevel(CUarray *pLevelArray, CUmipmappedArray hMipmappedArray, unsigned int level)
{
    struct mr_mipmap *mipmap;
    struct mr_array *array = NULL;
    CUresult status = check_thread();
    if (status == CUDA_SUCCESS)
        status = pLevelArray ? mr_mipmap_require(hMipmappedArray, &mipmap) : mr_bad_value("the result's place is NULL");
    if (status != CUDA_SUCCESS)
        return status;
    if (level >= mipmap->level_count)
        status = mr_bad_value("level %u of %u", level, mipmap->level_count);
    else if (!(array = mr_mipmap_level(mipmap, level)))
        status = CUDA_ERROR_OUT_OF_MEMORY;
    if (status == CUDA_SUCCESS)
        *pLevelArray = mr_object_handle(array);
    mr_object_drop(mipmap);
    return status;
}

CUresult mr_cuMipmappedArrayDestroy(CUmipmappedArray hMipmappedArray)
{
    struct mr_mipmap *mipmap;
    CUresult status = check_thread();
    if (status == CUDA_SUCCESS)
        status = mr_mipmap_require(hMipmappedArray, &mipmap);
    if (status != CUDA_SUCCESS)
        return status;
    status = mr_context_synchronize(mipmap->context);
    if (status == CUDA_SUCCESS && !mr_mipmap_end(mipmap))
        status = mr_bad_handle("mipmapped array", hMipmappedArray);
    mr_object_drop(mipmap);
    return status;
}
