/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Texture and surface objects: which descriptors make one, and what they say
 * afterwards.
 */
#include "gold_image.h"

#include <string.h>

#define F CU_AD_FORMAT_FLOAT

static CUDA_RESOURCE_DESC of_array(CUarray array)
{
    CUDA_RESOURCE_DESC resource;
    memset(&resource, 0, sizeof resource);
    resource.resType = CU_RESOURCE_TYPE_ARRAY;
    resource.res.array.hArray = array;
    return resource;
}

static CUDA_RESOURCE_DESC of_linear(CUdeviceptr memory, CUarray_format format, unsigned channels, size_t bytes)
{
    CUDA_RESOURCE_DESC resource;
    memset(&resource, 0, sizeof resource);
    resource.resType = CU_RESOURCE_TYPE_LINEAR;
    resource.res.linear.devPtr = memory;
    resource.res.linear.format = format;
    resource.res.linear.numChannels = channels;
    resource.res.linear.sizeInBytes = bytes;
    return resource;
}

static CUDA_RESOURCE_DESC of_pitch(CUdeviceptr memory, size_t width, size_t height, size_t pitch)
{
    CUDA_RESOURCE_DESC resource;
    memset(&resource, 0, sizeof resource);
    resource.resType = CU_RESOURCE_TYPE_PITCH2D;
    resource.res.pitch2D.devPtr = memory;
    resource.res.pitch2D.format = F;
    resource.res.pitch2D.numChannels = 1;
    resource.res.pitch2D.width = width;
    resource.res.pitch2D.height = height;
    resource.res.pitch2D.pitchInBytes = pitch;
    return resource;
}

static CUDA_TEXTURE_DESC reading(CUaddress_mode mode, CUfilter_mode filter, unsigned flags)
{
    CUDA_TEXTURE_DESC desc;
    memset(&desc, 0, sizeof desc);
    desc.addressMode[0] = desc.addressMode[1] = desc.addressMode[2] = mode;
    desc.filterMode = filter;
    desc.flags = flags;
    return desc;
}

static CUresult try_view(CUDA_RESOURCE_DESC resource, CUDA_TEXTURE_DESC desc, const CUDA_RESOURCE_VIEW_DESC *view)
{
    CUtexObject texture = 0;
    CUresult status = cuTexObjectCreate(&texture, &resource, &desc, view);
    if (status == CUDA_SUCCESS)
        NEED(cuTexObjectDestroy(texture));
    return status;
}

static CUresult try(CUDA_RESOURCE_DESC resource, CUDA_TEXTURE_DESC desc)
{
    return try_view(resource, desc, NULL);
}

CASE(texture, create_kinds)
{
    CUdeviceptr memory = gold_alloc(65536);
    CUDA_TEXTURE_DESC plain = reading(CU_TR_ADDRESS_MODE_CLAMP, CU_TR_FILTER_MODE_POINT, 0);
    say(try(of_array(image_array(16, 0, 0, F, 1, 0)), plain));
    say(try(of_array(image_array(16, 8, 0, F, 1, 0)), plain));
    say(try(of_array(image_array(16, 8, 4, F, 1, 0)), plain));
    say(try(of_array(image_array(16, 8, 4, F, 1, CUDA_ARRAY3D_LAYERED)), plain));
    say(try(of_array(image_array(8, 8, 6, F, 1, CUDA_ARRAY3D_CUBEMAP)), plain));
    say(try(of_linear(memory, F, 4, 4096), plain));
    say(try(of_pitch(memory, 16, 8, 512), plain));
}

CASE(texture, create_null)
{
    CUDA_TEXTURE_DESC plain = reading(CU_TR_ADDRESS_MODE_CLAMP, CU_TR_FILTER_MODE_POINT, 0);
    CUDA_RESOURCE_DESC resource = of_array(image_array(16, 0, 0, F, 1, 0));
    CUtexObject texture;
    say(cuTexObjectCreate(NULL, &resource, &plain, NULL));
    say(cuTexObjectCreate(&texture, NULL, &plain, NULL));
    say(cuTexObjectCreate(&texture, &resource, NULL, NULL));
}

CASE(texture, create_no_array, .alone = true, .allow = "CUDA_ERROR_INVALID_VALUE|CUDA_ERROR_INVALID_HANDLE",
     .why = "the documentation leaves a choice")
{
    say(try(of_array(NULL), reading(CU_TR_ADDRESS_MODE_CLAMP, CU_TR_FILTER_MODE_POINT, 0)));
}

CASE(texture, create_type_wrong)
{
    CUDA_RESOURCE_DESC resource = of_array(image_array(16, 0, 0, F, 1, 0));
    resource.resType = (CUresourcetype)4;
    say(try(resource, reading(CU_TR_ADDRESS_MODE_CLAMP, CU_TR_FILTER_MODE_POINT, 0)));
    resource.resType = CU_RESOURCE_TYPE_ARRAY;
    resource.flags = 1;
    say(try(resource, reading(CU_TR_ADDRESS_MODE_CLAMP, CU_TR_FILTER_MODE_POINT, 0)));
}

CASE(texture, create_modes)
{
    CUDA_RESOURCE_DESC resource = of_array(image_array(16, 8, 0, F, 1, 0));
    for (int mode = -1; mode <= 4; mode++) {
        say(try(resource, reading((CUaddress_mode)mode, CU_TR_FILTER_MODE_POINT, 0)));
        say(try(resource, reading((CUaddress_mode)mode, CU_TR_FILTER_MODE_POINT, CU_TRSF_NORMALIZED_COORDINATES)));
    }
    say(try(resource, reading(CU_TR_ADDRESS_MODE_CLAMP, (CUfilter_mode)2, 0)));
    say(try(resource, reading(CU_TR_ADDRESS_MODE_CLAMP, (CUfilter_mode)-1, 0)));
}

CASE(texture, create_flags)
{
    CUDA_RESOURCE_DESC resource = of_array(image_array(16, 8, 0, CU_AD_FORMAT_UNSIGNED_INT8, 4, 0));
    static const unsigned flags[] = {1, 2, 3, 4, 8, 0x10, 0x11, 0x20, 0x40, 0x80, 0x100, 0x80000000u};
    for (unsigned i = 0; i < sizeof flags / sizeof *flags; i++)
        say(try(resource, reading(CU_TR_ADDRESS_MODE_CLAMP, CU_TR_FILTER_MODE_POINT, flags[i])));
}

CASE(texture, create_seamless)
{
    CUDA_RESOURCE_DESC cube = of_array(image_array(8, 8, 6, F, 1, CUDA_ARRAY3D_CUBEMAP));
    say(try(cube, reading(CU_TR_ADDRESS_MODE_CLAMP, CU_TR_FILTER_MODE_LINEAR, CU_TRSF_SEAMLESS_CUBEMAP)));
    say(try(cube, reading(CU_TR_ADDRESS_MODE_CLAMP, CU_TR_FILTER_MODE_LINEAR,
                          CU_TRSF_SEAMLESS_CUBEMAP | CU_TRSF_NORMALIZED_COORDINATES)));
}

CASE(texture, create_linear_filter)
{
    CUDA_TEXTURE_DESC floats = reading(CU_TR_ADDRESS_MODE_CLAMP, CU_TR_FILTER_MODE_LINEAR, 0);
    CUDA_TEXTURE_DESC numbers = reading(CU_TR_ADDRESS_MODE_CLAMP, CU_TR_FILTER_MODE_LINEAR, CU_TRSF_READ_AS_INTEGER);
    say(try(of_array(image_array(16, 8, 0, F, 1, 0)), floats));
    say(try(of_array(image_array(16, 8, 0, F, 1, 0)), numbers));
    say(try(of_array(image_array(16, 8, 0, CU_AD_FORMAT_HALF, 1, 0)), numbers));
    say(try(of_array(image_array(16, 8, 0, CU_AD_FORMAT_UNSIGNED_INT8, 1, 0)), floats));
    say(try(of_array(image_array(16, 8, 0, CU_AD_FORMAT_UNSIGNED_INT8, 1, 0)), numbers));
    say(try(of_array(image_array(16, 8, 0, CU_AD_FORMAT_SIGNED_INT16, 1, 0)), numbers));
    say(try(of_array(image_array(16, 8, 0, CU_AD_FORMAT_UNSIGNED_INT32, 1, 0)), floats));
    say(try(of_linear(gold_alloc(4096), CU_AD_FORMAT_UNSIGNED_INT32, 1, 4096), floats));
}

CASE(texture, create_linear_wrong)
{
    CUdeviceptr memory = gold_alloc(65536);
    CUDA_TEXTURE_DESC plain = reading(CU_TR_ADDRESS_MODE_CLAMP, CU_TR_FILTER_MODE_POINT, 0);
    say(try(of_linear(0, F, 1, 4096), plain));
    say(try(of_linear(memory + 4, F, 1, 4096), plain));
    say(try(of_linear(memory + 256, F, 1, 4096), plain));
    say(try(of_linear(memory, F, 3, 4096), plain));
    say(try(of_linear(memory, (CUarray_format)7, 1, 4096), plain));
    say(try(of_linear(memory, F, 1, 0), plain));
    say(try(of_linear(memory, F, 1, 3), plain));
    say(try(of_linear(memory, F, 1, 4095), plain));
}

CASE(texture, create_linear_longer)
{
    CUDA_TEXTURE_DESC plain = reading(CU_TR_ADDRESS_MODE_CLAMP, CU_TR_FILTER_MODE_POINT, 0);
    CUdeviceptr memory = gold_alloc(4096);
    say(try(of_linear(memory, F, 1, (size_t)1 << 30), plain));
    say(try(of_linear(memory, F, 1, ((size_t)1 << 30) + 4), plain));
}

CASE(texture, create_pitch_wrong)
{
    CUdeviceptr memory = gold_alloc(65536);
    CUDA_TEXTURE_DESC plain = reading(CU_TR_ADDRESS_MODE_CLAMP, CU_TR_FILTER_MODE_POINT, 0);
    say(try(of_pitch(memory + 256, 16, 8, 512), plain));
    say(try(of_pitch(memory, 0, 8, 512), plain));
    say(try(of_pitch(memory, 16, 0, 512), plain));
    say(try(of_pitch(memory, 16, 8, 500), plain));
    say(try(of_pitch(memory, 16, 8, 32), plain));
    say(try(of_pitch(memory, 16, 8, 64), plain));
    say(try(of_pitch(memory, 16, 8, 0), plain));
    say(try(of_pitch(0, 16, 8, 512), plain));
}

CASE(texture, create_mipmap)
{
    const CUDA_ARRAY3D_DESCRIPTOR desc = {16, 8, 0, F, 1, 0};
    CUDA_RESOURCE_DESC resource;
    memset(&resource, 0, sizeof resource);
    resource.resType = CU_RESOURCE_TYPE_MIPMAPPED_ARRAY;
    NEED(cuMipmappedArrayCreate(&resource.res.mipmap.hMipmappedArray, &desc, 3));
    say(try(resource, reading(CU_TR_ADDRESS_MODE_CLAMP, CU_TR_FILTER_MODE_LINEAR, CU_TRSF_NORMALIZED_COORDINATES)));
    say(try(resource, reading(CU_TR_ADDRESS_MODE_CLAMP, CU_TR_FILTER_MODE_LINEAR, 0)));
}

static CUDA_RESOURCE_VIEW_DESC view_of(CUresourceViewFormat format, size_t width, size_t height, size_t depth)
{
    CUDA_RESOURCE_VIEW_DESC view;
    memset(&view, 0, sizeof view);
    view.format = format;
    view.width = width;
    view.height = height;
    view.depth = depth;
    return view;
}

CASE(texture, create_view)
{
    CUDA_RESOURCE_DESC resource = of_array(image_array(16, 8, 0, CU_AD_FORMAT_UNSIGNED_INT8, 4, 0));
    CUDA_TEXTURE_DESC plain = reading(CU_TR_ADDRESS_MODE_CLAMP, CU_TR_FILTER_MODE_POINT, 0);
    CUDA_RESOURCE_VIEW_DESC view = view_of(CU_RES_VIEW_FORMAT_UINT_4X8, 16, 8, 0);
    say(try_view(resource, plain, &view));
    view.format = CU_RES_VIEW_FORMAT_NONE;
    say(try_view(resource, plain, &view));
    view.format = CU_RES_VIEW_FORMAT_FLOAT_1X32;
    say(try_view(resource, plain, &view));
    view.format = CU_RES_VIEW_FORMAT_SINT_2X16;
    say(try_view(resource, plain, &view));
    view.format = CU_RES_VIEW_FORMAT_UINT_1X8;
    say(try_view(resource, plain, &view));
    view.format = CU_RES_VIEW_FORMAT_FLOAT_4X32;
    say(try_view(resource, plain, &view));
    view.format = (CUresourceViewFormat)0x23;
    say(try_view(resource, plain, &view));
}

CASE(texture, create_view_wrong)
{
    CUDA_RESOURCE_DESC resource = of_array(image_array(16, 8, 0, CU_AD_FORMAT_UNSIGNED_INT8, 4, 0));
    CUDA_TEXTURE_DESC plain = reading(CU_TR_ADDRESS_MODE_CLAMP, CU_TR_FILTER_MODE_POINT, 0);
    CUDA_RESOURCE_VIEW_DESC view = view_of(CU_RES_VIEW_FORMAT_UINT_4X8, 8, 8, 0);
    say(try_view(resource, plain, &view));
    view = view_of(CU_RES_VIEW_FORMAT_UINT_4X8, 16, 4, 0);
    say(try_view(resource, plain, &view));
    view = view_of(CU_RES_VIEW_FORMAT_UINT_4X8, 16, 8, 1);
    say(try_view(resource, plain, &view));
    view = view_of(CU_RES_VIEW_FORMAT_UINT_4X8, 16, 8, 0);
    view.lastMipmapLevel = 1;
    say(try_view(resource, plain, &view));
    view.lastMipmapLevel = 0;
    view.lastLayer = 1;
    say(try_view(resource, plain, &view));
    view = view_of(CU_RES_VIEW_FORMAT_FLOAT_1X32, 1024, 0, 0);
    say(try_view(of_linear(gold_alloc(4096), F, 1, 4096), plain, &view));
}

CASE(texture, descs, .allow = "CUDA_SUCCESS array=yes CUDA_SUCCESS 0 2 0 1 0x12 4 0.50 3.00 2.00 CUDA_SUCCESS",
     .why = "hardware forgets the colour of a border that is not used")
{
    CUDA_RESOURCE_DESC resource = of_array(image_array(16, 8, 0, CU_AD_FORMAT_UNSIGNED_INT8, 4, 0)), resource_found;
    CUDA_TEXTURE_DESC desc = reading(CU_TR_ADDRESS_MODE_WRAP, CU_TR_FILTER_MODE_LINEAR,
                                     CU_TRSF_NORMALIZED_COORDINATES | CU_TRSF_SRGB),
                      desc_found;
    CUDA_RESOURCE_VIEW_DESC view;
    CUtexObject texture;
    desc.addressMode[1] = CU_TR_ADDRESS_MODE_MIRROR;
    desc.maxAnisotropy = 4;
    desc.mipmapLevelBias = 0.5f;
    desc.maxMipmapLevelClamp = 3;
    desc.borderColor[1] = 2;
    NEED(cuTexObjectCreate(&texture, &resource, &desc, NULL));
    say(cuTexObjectGetResourceDesc(&resource_found, texture));
    say_if("array", resource_found.resType == CU_RESOURCE_TYPE_ARRAY &&
                        resource_found.res.array.hArray == resource.res.array.hArray);
    say(cuTexObjectGetTextureDesc(&desc_found, texture));
    say_int(desc_found.addressMode[0]);
    say_int(desc_found.addressMode[1]);
    say_int(desc_found.addressMode[2]);
    say_int(desc_found.filterMode);
    say_hex(desc_found.flags);
    say_int(desc_found.maxAnisotropy);
    say_float(desc_found.mipmapLevelBias, 2);
    say_float(desc_found.maxMipmapLevelClamp, 2);
    say_float(desc_found.borderColor[1], 2);
    say(cuTexObjectGetResourceViewDesc(&view, texture));
}

CASE(texture, desc_of_view)
{
    CUDA_RESOURCE_DESC resource = of_array(image_array(16, 8, 0, CU_AD_FORMAT_UNSIGNED_INT8, 4, 0));
    CUDA_TEXTURE_DESC desc = reading(CU_TR_ADDRESS_MODE_CLAMP, CU_TR_FILTER_MODE_POINT, 0);
    CUDA_RESOURCE_VIEW_DESC view = view_of(CU_RES_VIEW_FORMAT_UINT_4X8, 16, 8, 0), found;
    CUtexObject texture;
    NEED(cuTexObjectCreate(&texture, &resource, &desc, &view));
    memset(&found, 0xee, sizeof found);
    say(cuTexObjectGetResourceViewDesc(&found, texture));
    say_hex(found.format);
    say_int((long long)found.width);
    say_int((long long)found.height);
    say_int((long long)found.depth);
}

CASE(texture, desc_wrong)
{
    CUDA_RESOURCE_DESC resource = of_array(image_array(16, 8, 0, F, 4, 0));
    CUDA_TEXTURE_DESC desc = reading(CU_TR_ADDRESS_MODE_CLAMP, CU_TR_FILTER_MODE_POINT, 0);
    CUtexObject texture;
    NEED(cuTexObjectCreate(&texture, &resource, &desc, NULL));
    say(cuTexObjectGetResourceDesc(NULL, texture));
    say(cuTexObjectGetTextureDesc(NULL, texture));
    say(cuTexObjectGetResourceViewDesc(NULL, texture));
}

CASE(texture, destroy_twice, .alone = true, .allow = "CUDA_SUCCESS CUDA_ERROR_INVALID_VALUE",
     .why = "hardware's driver may crash")
{
    CUtexObject texture =
        image_texture(image_array(16, 8, 0, F, 4, 0), CU_TR_ADDRESS_MODE_CLAMP, CU_TR_FILTER_MODE_POINT, 0);
    say(cuTexObjectDestroy(texture));
    say(cuTexObjectDestroy(texture));
}

CASE(texture, no_object, .alone = true,
     .allow = "CUDA_ERROR_INVALID_VALUE CUDA_ERROR_INVALID_VALUE CUDA_ERROR_INVALID_VALUE",
     .why = "hardware's driver may crash")
{
    CUDA_RESOURCE_DESC resource;
    say(cuTexObjectDestroy(0));
    say(cuSurfObjectDestroy(0));
    say(cuTexObjectGetResourceDesc(&resource, 0));
}

CASE(texture, no_context, .alone = true)
{
    CUDA_RESOURCE_DESC resource = of_array(image_array(16, 8, 0, F, 4, 0));
    CUDA_TEXTURE_DESC desc = reading(CU_TR_ADDRESS_MODE_CLAMP, CU_TR_FILTER_MODE_POINT, 0);
    CUtexObject texture;
    NEED(cuCtxSetCurrent(NULL));
    say(cuTexObjectCreate(&texture, &resource, &desc, NULL));
}

static CUresult try_surface(CUDA_RESOURCE_DESC resource)
{
    CUsurfObject surface = 0;
    CUresult status = cuSurfObjectCreate(&surface, &resource);
    if (status == CUDA_SUCCESS)
        NEED(cuSurfObjectDestroy(surface));
    return status;
}

CASE(surface, create)
{
    CUDA_RESOURCE_DESC resource = of_array(image_array(16, 8, 0, F, 4, CUDA_ARRAY3D_SURFACE_LDST)), found;
    CUsurfObject surface;
    say(try_surface(resource));
    say(try_surface(of_array(image_array(16, 0, 0, F, 4, CUDA_ARRAY3D_SURFACE_LDST))));
    say(try_surface(of_array(image_array(16, 8, 4, F, 4, CUDA_ARRAY3D_SURFACE_LDST))));
    say(try_surface(of_array(image_array(16, 8, 4, F, 4, CUDA_ARRAY3D_SURFACE_LDST | CUDA_ARRAY3D_LAYERED))));
    say(try_surface(of_array(image_array(8, 8, 6, F, 4, CUDA_ARRAY3D_SURFACE_LDST | CUDA_ARRAY3D_CUBEMAP))));
    NEED(cuSurfObjectCreate(&surface, &resource));
    say(cuSurfObjectGetResourceDesc(&found, surface));
    say_if("array", found.res.array.hArray == resource.res.array.hArray);
    say(cuSurfObjectGetResourceDesc(NULL, surface));
}

CASE(surface, create_wrong, .alone = true,
     .allow = "CUDA_ERROR_INVALID_VALUE CUDA_ERROR_INVALID_VALUE CUDA_ERROR_INVALID_VALUE CUDA_ERROR_INVALID_VALUE",
     .why = "hardware's driver crashes")
{
    CUDA_RESOURCE_DESC resource = of_array(image_array(16, 8, 0, F, 4, CUDA_ARRAY3D_SURFACE_LDST));
    CUsurfObject surface;
    say(cuSurfObjectCreate(NULL, &resource));
    say(cuSurfObjectCreate(&surface, NULL));
    resource.flags = 1;
    say(try_surface(resource));
    say(try_surface(of_linear(gold_alloc(4096), F, 1, 4096)));
}

CASE(surface, create_of_plain)
{
    say(try_surface(of_array(image_array(16, 8, 0, F, 4, 0))));
}
