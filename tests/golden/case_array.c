/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Arrays and mipmapped arrays: which descriptors make one, what their
 * descriptors say afterwards, and how they end.
 */
#include "gold_image.h"

#include <string.h>

static CUresult try(size_t width, size_t height, size_t depth, CUarray_format format, unsigned channels, unsigned flags)
{
    const CUDA_ARRAY3D_DESCRIPTOR desc = {width, height, depth, format, channels, flags};
    CUarray array = NULL;
    CUresult status = cuArray3DCreate(&array, &desc);
    if (status == CUDA_SUCCESS)
        NEED(cuArrayDestroy(array));
    return status;
}

static CUresult try_2d(size_t width, size_t height, CUarray_format format, unsigned channels)
{
    const CUDA_ARRAY_DESCRIPTOR desc = {width, height, format, channels};
    CUarray array = NULL;
    CUresult status = cuArrayCreate(&array, &desc);
    if (status == CUDA_SUCCESS)
        NEED(cuArrayDestroy(array));
    return status;
}

#define F CU_AD_FORMAT_FLOAT

static void say_3d(CUarray array)
{
    CUDA_ARRAY3D_DESCRIPTOR desc;
    memset(&desc, 0xee, sizeof desc);
    say(cuArray3DGetDescriptor(&desc, array));
    say_int((long long)desc.Width);
    say_int((long long)desc.Height);
    say_int((long long)desc.Depth);
    say_hex(desc.Format);
    say_int(desc.NumChannels);
    say_hex(desc.Flags);
}

static void say_2d(CUarray array)
{
    CUDA_ARRAY_DESCRIPTOR desc;
    memset(&desc, 0xee, sizeof desc);
    say(cuArrayGetDescriptor(&desc, array));
    say_int((long long)desc.Width);
    say_int((long long)desc.Height);
    say_hex(desc.Format);
    say_int(desc.NumChannels);
}

CASE(array, create_shapes)
{
    say(try_2d(16, 0, F, 1));
    say(try_2d(16, 8, F, 1));
    say(try(16, 0, 0, F, 1, 0));
    say(try(16, 8, 0, F, 2, 0));
    say(try(16, 8, 4, F, 4, 0));
    say(try(16, 0, 4, F, 4, CUDA_ARRAY3D_LAYERED));
    say(try(16, 8, 4, F, 4, CUDA_ARRAY3D_LAYERED));
    say(try(16, 16, 6, F, 4, CUDA_ARRAY3D_CUBEMAP));
    say(try(16, 16, 12, F, 4, CUDA_ARRAY3D_CUBEMAP | CUDA_ARRAY3D_LAYERED));
    say(try(16, 8, 0, F, 1, CUDA_ARRAY3D_TEXTURE_GATHER));
    say(try(16, 8, 0, F, 1, CUDA_ARRAY3D_SURFACE_LDST));
}

CASE(array, create_formats)
{
    static const CUarray_format formats[] = {
        CU_AD_FORMAT_UNSIGNED_INT8, CU_AD_FORMAT_UNSIGNED_INT16, CU_AD_FORMAT_UNSIGNED_INT32, CU_AD_FORMAT_SIGNED_INT8,
        CU_AD_FORMAT_SIGNED_INT16,  CU_AD_FORMAT_SIGNED_INT32,   CU_AD_FORMAT_HALF,           CU_AD_FORMAT_FLOAT};
    for (unsigned i = 0; i < 8; i++)
        for (unsigned channels = 1; channels <= 4; channels *= 2)
            say(try(8, 8, 0, formats[i], channels, 0));
}

CASE(array, create_norm_formats)
{
    say(try(8, 8, 0, CU_AD_FORMAT_UNORM_INT8X1, 1, 0));
    say(try(8, 8, 0, CU_AD_FORMAT_UNORM_INT8X2, 2, 0));
    say(try(8, 8, 0, CU_AD_FORMAT_UNORM_INT16X4, 4, 0));
    say(try(8, 8, 0, CU_AD_FORMAT_SNORM_INT8X4, 4, 0));
    say(try(8, 8, 0, CU_AD_FORMAT_SNORM_INT16X2, 2, 0));
    say(try(8, 8, 0, CU_AD_FORMAT_UNORM_INT8X1, 2, 0));
    say(try(8, 8, 0, CU_AD_FORMAT_UNORM_INT8X4, 1, 0));
}

CASE(array, create_channels_wrong)
{
    say(try(8, 8, 0, F, 0, 0));
    say(try(8, 8, 0, F, 3, 0));
    say(try(8, 8, 0, F, 5, 0));
    say(try(8, 8, 0, F, 8, 0));
    say(try_2d(8, 8, F, 3));
}

CASE(array, create_format_wrong)
{
    say(try(8, 8, 0, (CUarray_format)0, 1, 0));
    say(try(8, 8, 0, (CUarray_format)4, 1, 0));
    say(try(8, 8, 0, (CUarray_format)0x40, 1, 0));
    say(try(8, 8, 0, (CUarray_format)0xff, 1, 0));
}

CASE(array, create_sizes_wrong)
{
    say(try(0, 0, 0, F, 1, 0));
    say(try(0, 8, 0, F, 1, 0));
    say(try(8, 0, 8, F, 1, 0));
    say(try_2d(0, 8, F, 1));
    say(try_2d(0, 0, F, 1));
}

CASE(array, create_layered_wrong)
{
    say(try(8, 0, 0, F, 1, CUDA_ARRAY3D_LAYERED));
    say(try(8, 8, 0, F, 1, CUDA_ARRAY3D_LAYERED));
}

CASE(array, create_cube_wrong)
{
    say(try(8, 4, 6, F, 1, CUDA_ARRAY3D_CUBEMAP));
    say(try(8, 8, 0, F, 1, CUDA_ARRAY3D_CUBEMAP));
    say(try(8, 8, 5, F, 1, CUDA_ARRAY3D_CUBEMAP));
    say(try(8, 8, 12, F, 1, CUDA_ARRAY3D_CUBEMAP));
    say(try(8, 8, 7, F, 1, CUDA_ARRAY3D_CUBEMAP | CUDA_ARRAY3D_LAYERED));
    say(try(8, 8, 0, F, 1, CUDA_ARRAY3D_CUBEMAP | CUDA_ARRAY3D_LAYERED));
}

CASE(array, create_gather_wrong)
{
    say(try(8, 0, 0, F, 1, CUDA_ARRAY3D_TEXTURE_GATHER));
    say(try(8, 8, 8, F, 1, CUDA_ARRAY3D_TEXTURE_GATHER));
    say(try(8, 8, 8, F, 1, CUDA_ARRAY3D_TEXTURE_GATHER | CUDA_ARRAY3D_LAYERED));
}

CASE(array, create_flags_wrong,
     .allow = "CUDA_ERROR_INVALID_VALUE CUDA_ERROR_INVALID_VALUE CUDA_ERROR_INVALID_VALUE CUDA_ERROR_INVALID_VALUE",
     .why = "hardware takes a bit that has no name")
{
    say(try(8, 8, 0, F, 1, 0x200));
    say(try(8, 8, 0, F, 1, 0x80000000u));
    say(try(8, 8, 0, F, 1, CUDA_ARRAY3D_DEPTH_TEXTURE));
    say(try(8, 8, 0, F, 1, CUDA_ARRAY3D_COLOR_ATTACHMENT));
}

CASE(array, create_largest)
{
    int width = 0, height = 0;
    NEED(cuDeviceGetAttribute(&width, CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE1D_WIDTH, gold_device()));
    NEED(cuDeviceGetAttribute(&height, CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_HEIGHT, gold_device()));
    say(try((size_t)width, 0, 0, CU_AD_FORMAT_UNSIGNED_INT8, 1, 0));
    say(try((size_t)width + 1, 0, 0, CU_AD_FORMAT_UNSIGNED_INT8, 1, 0));
    say(try(4, (size_t)height, 0, CU_AD_FORMAT_UNSIGNED_INT8, 1, 0));
    say(try(4, (size_t)height + 1, 0, CU_AD_FORMAT_UNSIGNED_INT8, 1, 0));
    NEED(cuDeviceGetAttribute(&height, CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_LAYERED_LAYERS, gold_device()));
    say(try(4, 4, (size_t)height, CU_AD_FORMAT_UNSIGNED_INT8, 1, CUDA_ARRAY3D_LAYERED));
    say(try(4, 4, (size_t)height + 1, CU_AD_FORMAT_UNSIGNED_INT8, 1, CUDA_ARRAY3D_LAYERED));
}

CASE(array, create_null)
{
    const CUDA_ARRAY3D_DESCRIPTOR desc = {8, 8, 0, F, 1, 0};
    const CUDA_ARRAY_DESCRIPTOR flat = {8, 8, F, 1};
    CUarray array;
    say(cuArray3DCreate(NULL, &desc));
    say(cuArray3DCreate(&array, NULL));
    say(cuArrayCreate(NULL, &flat));
    say(cuArrayCreate(&array, NULL));
}

CASE(array, descriptors)
{
    say_3d(image_array(16, 0, 0, F, 1, 0));
    say_3d(image_array(16, 8, 0, CU_AD_FORMAT_HALF, 2, CUDA_ARRAY3D_SURFACE_LDST));
    say_3d(image_array(16, 8, 4, CU_AD_FORMAT_SIGNED_INT16, 4, 0));
    say_3d(image_array(16, 0, 4, F, 4, CUDA_ARRAY3D_LAYERED));
    say_3d(image_array(16, 16, 6, F, 4, CUDA_ARRAY3D_CUBEMAP));
    say_3d(image_array(16, 16, 0, CU_AD_FORMAT_UNORM_INT8X4, 4, 0));
}

CASE(array, descriptors_2d)
{
    say_2d(image_array(16, 0, 0, F, 1, 0));
    say_2d(image_array(16, 8, 0, CU_AD_FORMAT_HALF, 2, CUDA_ARRAY3D_SURFACE_LDST));
}

CASE(array, descriptor_2d_of_3d)
{
    say_2d(image_array(16, 8, 4, CU_AD_FORMAT_SIGNED_INT16, 4, 0));
}

CASE(array, descriptor_2d_of_layered)
{
    say_2d(image_array(16, 8, 4, CU_AD_FORMAT_SIGNED_INT16, 4, CUDA_ARRAY3D_LAYERED));
}

CASE(array, descriptor_null)
{
    CUarray array = image_array(16, 8, 0, F, 1, 0);
    say(cuArray3DGetDescriptor(NULL, array));
    say(cuArrayGetDescriptor(NULL, array));
}

CASE(array, descriptor_no_array, .alone = true, .allow = "CUDA_ERROR_INVALID_HANDLE*|CUDA_ERROR_INVALID_VALUE*",
     .why = "hardware's driver may crash")
{
    CUDA_ARRAY3D_DESCRIPTOR desc;
    say(cuArray3DGetDescriptor(&desc, NULL));
}

CASE(array, descriptor_destroyed, .alone = true, .allow = "CUDA_ERROR_INVALID_HANDLE",
     .why = "hardware's driver may crash")
{
    CUDA_ARRAY3D_DESCRIPTOR desc;
    CUarray array = image_array(16, 8, 0, F, 1, 0);
    NEED(cuArrayDestroy(array));
    say(cuArray3DGetDescriptor(&desc, array));
}

CASE(array, destroy_twice, .alone = true, .allow = "CUDA_SUCCESS CUDA_ERROR_INVALID_HANDLE",
     .why = "hardware's driver may crash")
{
    CUarray array = image_array(16, 8, 0, F, 1, 0);
    say(cuArrayDestroy(array));
    say(cuArrayDestroy(array));
}

CASE(array, destroy_null)
{
    say(cuArrayDestroy(NULL));
    say(cuMipmappedArrayDestroy(NULL));
}

CASE(array, no_context, .alone = true)
{
    const CUDA_ARRAY3D_DESCRIPTOR desc = {8, 8, 0, F, 1, 0};
    CUDA_ARRAY3D_DESCRIPTOR found;
    CUarray array = image_array(16, 8, 0, F, 1, 0), other;
    NEED(cuCtxSetCurrent(NULL));
    say(cuArray3DCreate(&other, &desc));
    say(cuArray3DGetDescriptor(&found, array));
    say(cuArrayDestroy(array));
}

CASE(array, other_context, .alone = true)
{
    CUDA_ARRAY3D_DESCRIPTOR found;
    CUarray array = image_array(16, 8, 0, F, 1, 0);
    gold_context_new();
    say(cuArray3DGetDescriptor(&found, array));
    say(cuArrayDestroy(array));
}

CASE(array, properties_of_plain)
{
    CUarray array = image_array(16, 8, 0, F, 1, 0), plane;
    CUDA_ARRAY_SPARSE_PROPERTIES sparse;
    CUDA_ARRAY_MEMORY_REQUIREMENTS needs;
    say(cuArrayGetSparseProperties(&sparse, array));
    say(cuArrayGetMemoryRequirements(&needs, array, gold_device()));
    say(cuArrayGetPlane(&plane, array, 0));
    say(cuArrayGetPlane(&plane, array, 1));
}

static CUresult mipmap(size_t width, size_t height, size_t depth, unsigned flags, unsigned levels,
                       CUmipmappedArray *out)
{
    const CUDA_ARRAY3D_DESCRIPTOR desc = {width, height, depth, F, 1, flags};
    return cuMipmappedArrayCreate(out, &desc, levels);
}

static void say_levels(CUmipmappedArray array, unsigned most)
{
    for (unsigned i = 0; i < most; i++) {
        CUarray level = NULL;
        CUresult status = cuMipmappedArrayGetLevel(&level, array, i);
        if (status != CUDA_SUCCESS) {
            say(status);
            return;
        }
        say_3d(level);
    }
}

CASE(array, mipmap_levels)
{
    CUmipmappedArray array;
    NEED(mipmap(20, 6, 0, 0, 3, &array));
    say_levels(array, 5);
}

CASE(array, mipmap_levels_3d)
{
    CUmipmappedArray array;
    NEED(mipmap(8, 4, 5, 0, 4, &array));
    say_levels(array, 6);
}

CASE(array, mipmap_levels_layered)
{
    CUmipmappedArray array;
    NEED(mipmap(8, 4, 5, CUDA_ARRAY3D_LAYERED, 9, &array));
    say_levels(array, 10);
}

CASE(array, mipmap_levels_clamped)
{
    CUmipmappedArray array;
    say(mipmap(16, 0, 0, 0, 0, &array));
    say(mipmap(16, 0, 0, 0, 100, &array));
    say_levels(array, 10);
}

CASE(array, mipmap_wrong)
{
    CUmipmappedArray array;
    CUarray level;
    say(mipmap(0, 8, 0, 0, 2, &array));
    say(mipmap(8, 8, 0, 0x200, 2, &array));
    say(cuMipmappedArrayCreate(&array, NULL, 2));
    say(mipmap(8, 8, 0, 0, 2, NULL));
    NEED(mipmap(8, 8, 0, 0, 2, &array));
    say(cuMipmappedArrayGetLevel(NULL, array, 0));
    say(cuMipmappedArrayGetLevel(&level, array, 2));
}

CASE(array, mipmap_level_same)
{
    CUmipmappedArray array;
    CUarray first, second;
    NEED(mipmap(8, 8, 0, 0, 2, &array));
    NEED(cuMipmappedArrayGetLevel(&first, array, 1));
    NEED(cuMipmappedArrayGetLevel(&second, array, 1));
    say_if("same", first == second);
}

CASE(array, mipmap_level_destroy, .alone = true, .allow = "CUDA_ERROR_INVALID_VALUE CUDA_SUCCESS",
     .why = "hardware's driver may crash")
{
    CUmipmappedArray array;
    CUarray level;
    NEED(mipmap(8, 8, 0, 0, 2, &array));
    NEED(cuMipmappedArrayGetLevel(&level, array, 1));
    say(cuArrayDestroy(level));
    say(cuMipmappedArrayDestroy(array));
}

CASE(array, memory_comes_back, .allow = "taken=yes back=yes", .why = "the driver may keep memory back")
{
    size_t before, during, after, total;
    NEED(cuMemGetInfo(&before, &total));
    CUarray array = image_array(4096, 4096, 0, F, 4, 0);
    NEED(cuMemGetInfo(&during, &total));
    NEED(cuArrayDestroy(array));
    NEED(cuMemGetInfo(&after, &total));
    say_if("taken", before - during >= (size_t)4096 * 4096 * 16);
    say_if("back", after >= before);
}

CASE(array, too_much)
{
    const CUDA_ARRAY3D_DESCRIPTOR desc = {16384, 16384, 16384, F, 4, 0};
    CUarray array;
    say(cuArray3DCreate(&array, &desc));
}
