/* SPDX-License-Identifier: Apache-2.0 */
/* What the tests of arrays, textures and surfaces share. */
#ifndef TESTS_API_ARRAY_SUPPORT_H
#define TESTS_API_ARRAY_SUPPORT_H

#include "api_support.h"

static inline CUarray make_array(size_t width, size_t height, size_t depth, CUarray_format format, unsigned channels,
                                 unsigned flags)
{
    const CUDA_ARRAY3D_DESCRIPTOR desc = {width, height, depth, format, channels, flags};
    CUarray array = NULL;
    OK(cuArray3DCreate(&array, &desc));
    assert_non_null(array);
    return array;
}

/* A box from host memory without gaps to the whole of an array. */
static inline CUDA_MEMCPY3D box_in(const void *from, CUarray to, size_t row, size_t height, size_t depth)
{
    return (CUDA_MEMCPY3D){.srcMemoryType = CU_MEMORYTYPE_HOST,
                           .srcHost = from,
                           .srcPitch = row,
                           .srcHeight = height,
                           .dstMemoryType = CU_MEMORYTYPE_ARRAY,
                           .dstArray = to,
                           .WidthInBytes = row,
                           .Height = height,
                           .Depth = depth};
}

static inline CUDA_MEMCPY3D box_out(CUarray from, void *to, size_t row, size_t height, size_t depth)
{
    return (CUDA_MEMCPY3D){.srcMemoryType = CU_MEMORYTYPE_ARRAY,
                           .srcArray = from,
                           .dstMemoryType = CU_MEMORYTYPE_HOST,
                           .dstHost = to,
                           .dstPitch = row,
                           .dstHeight = height,
                           .WidthInBytes = row,
                           .Height = height,
                           .Depth = depth};
}

static inline void fill_array(CUarray array, const void *bytes, size_t row, size_t height, size_t depth)
{
    const CUDA_MEMCPY3D box = box_in(bytes, array, row, height, depth);
    OK(cuMemcpy3D(&box));
}

static inline CUDA_RESOURCE_DESC array_resource(CUarray array)
{
    return (CUDA_RESOURCE_DESC){.resType = CU_RESOURCE_TYPE_ARRAY, .res.array.hArray = array};
}

static inline CUtexObject make_texture(CUarray array, CUaddress_mode mode, CUfilter_mode filter, unsigned flags)
{
    const CUDA_RESOURCE_DESC resource = array_resource(array);
    const CUDA_TEXTURE_DESC desc = {.addressMode = {mode, mode, mode}, .filterMode = filter, .flags = flags};
    CUtexObject texture = 0;
    OK(cuTexObjectCreate(&texture, &resource, &desc, NULL));
    return texture;
}

/* read(u64 texture, f32 *out, f32 *at): out[i] = the texture at at[i], one block. */
#define PTX_READ_1D \
    ".visible .entry read(.param .u64 texture, .param .u64 out, .param .u64 at)\n{\n" \
    "    .reg .b64 %rd<6>;\n    .reg .b32 %r<2>;\n    .reg .f32 %f<6>;\n" \
    "    ld.param.u64 %rd1, [texture];\n    ld.param.u64 %rd2, [out];\n    ld.param.u64 %rd3, [at];\n" \
    "    mov.u32 %r1, %tid.x;\n    mad.wide.u32 %rd2, %r1, 4, %rd2;\n    mad.wide.u32 %rd3, %r1, 4, %rd3;\n" \
    "    ld.global.f32 %f1, [%rd3];\n    tex.1d.v4.f32.f32 {%f2, %f3, %f4, %f5}, [%rd1, {%f1}];\n" \
    "    st.global.f32 [%rd2], %f2;\n    ret;\n}\n"

/* Runs it, or anything with the same parameters, for `count` coordinates. */
static inline CUresult read_texture(CUfunction function, CUtexObject texture, const float *at, float *out,
                                    unsigned count)
{
    CUdeviceptr places, results;
    OK(cuMemAlloc(&places, count * 4));
    OK(cuMemAlloc(&results, count * 4));
    OK(cuMemcpyHtoD(places, at, count * 4));
    void *params[] = {&texture, &results, &places};
    CUresult status = cuLaunchKernel(function, 1, 1, 1, count, 1, 1, 0, NULL, params, NULL);
    if (status == CUDA_SUCCESS)
        status = cuMemcpyDtoH(out, results, count * 4);
    if (status == CUDA_SUCCESS) {
        OK(cuMemFree(places));
        OK(cuMemFree(results));
    }
    return status;
}

#endif
