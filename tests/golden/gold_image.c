/* SPDX-License-Identifier: Apache-2.0 */
/* See gold_image.h. */
#include "gold_image.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

CUarray image_array(size_t width, size_t height, size_t depth, CUarray_format format, unsigned channels, unsigned flags)
{
    const CUDA_ARRAY3D_DESCRIPTOR desc = {width, height, depth, format, channels, flags};
    CUarray array = NULL;
    NEED(cuArray3DCreate(&array, &desc));
    return array;
}

static CUDA_MEMCPY3D box_of(size_t row, size_t height, size_t depth)
{
    CUDA_MEMCPY3D box;
    memset(&box, 0, sizeof box);
    box.WidthInBytes = row;
    box.Height = height;
    box.Depth = depth;
    return box;
}

void image_fill(CUarray array, const void *bytes, size_t row, size_t height, size_t depth)
{
    CUDA_MEMCPY3D box = box_of(row, height, depth);
    box.srcMemoryType = CU_MEMORYTYPE_HOST;
    box.srcHost = bytes;
    box.srcPitch = row;
    box.srcHeight = height;
    box.dstMemoryType = CU_MEMORYTYPE_ARRAY;
    box.dstArray = array;
    NEED(cuMemcpy3D(&box));
}

void image_read(CUarray array, void *bytes, size_t row, size_t height, size_t depth)
{
    CUDA_MEMCPY3D box = box_of(row, height, depth);
    box.srcMemoryType = CU_MEMORYTYPE_ARRAY;
    box.srcArray = array;
    box.dstMemoryType = CU_MEMORYTYPE_HOST;
    box.dstHost = bytes;
    box.dstPitch = row;
    box.dstHeight = height;
    NEED(cuMemcpy3D(&box));
}

CUtexObject image_texture(CUarray array, CUaddress_mode mode, CUfilter_mode filter, unsigned flags)
{
    CUDA_RESOURCE_DESC resource;
    CUDA_TEXTURE_DESC desc;
    CUtexObject texture = 0;
    memset(&resource, 0, sizeof resource);
    memset(&desc, 0, sizeof desc);
    resource.resType = CU_RESOURCE_TYPE_ARRAY;
    resource.res.array.hArray = array;
    desc.addressMode[0] = desc.addressMode[1] = desc.addressMode[2] = mode;
    desc.filterMode = filter;
    desc.flags = flags;
    NEED(cuTexObjectCreate(&texture, &resource, &desc, NULL));
    return texture;
}

CUsurfObject image_surface(CUarray array)
{
    CUDA_RESOURCE_DESC resource;
    CUsurfObject surface = 0;
    memset(&resource, 0, sizeof resource);
    resource.resType = CU_RESOURCE_TYPE_ARRAY;
    resource.res.array.hArray = array;
    NEED(cuSurfObjectCreate(&surface, &resource));
    return surface;
}

CUmodule image_module_for(const char *target, const char *before, const char *instruction)
{
    static char text[8192];
    snprintf(
        text, sizeof text,
        ".version 7.1\n.target %s\n.address_size 64\n%s\n"
        ".visible .entry image(.param .u64 handle, .param .u64 from, .param .u64 to)\n{\n"
        "    .reg .b64 %%rd<16>;\n    .reg .b32 %%r<16>, %%o<4>;\n    .reg .f32 %%f<16>;\n    .reg .b16 %%h<8>;\n    .reg .pred %%p<4>;\n"
        "    ld.param.u64 %%rd0, [handle];\n    ld.param.u64 %%rd1, [from];\n    ld.param.u64 %%rd2, [to];\n"
        "    mov.u32 %%r8, %%tid.x;\n    mad.wide.u32 %%rd1, %%r8, 32, %%rd1;\n    mad.wide.u32 %%rd2, %%r8, 16, %%rd2;\n"
        "    ld.global.v4.b32 {%%r0, %%r1, %%r2, %%r3}, [%%rd1];\n    ld.global.v4.b32 {%%r4, %%r5, %%r6, %%r7}, [%%rd1+16];\n"
        "    mov.b32 %%f0, %%r0;\n    mov.b32 %%f1, %%r1;\n    mov.b32 %%f2, %%r2;\n    mov.b32 %%f3, %%r3;\n"
        "    mov.b32 %%f4, %%r4;\n    mov.b32 %%f5, %%r5;\n    mov.b32 %%f6, %%r6;\n    mov.b32 %%f7, %%r7;\n"
        "    mov.b32 %%o0, 0xdeadbeef;\n    mov.b32 %%o1, %%o0;\n    mov.b32 %%o2, %%o0;\n    mov.b32 %%o3, %%o0;\n"
        "    %s\n"
        "    st.global.v4.b32 [%%rd2], {%%o0, %%o1, %%o2, %%o3};\n    ret;\n}\n",
        target, before ? before : "", instruction);
    return gold_load(text);
}

CUmodule image_module(const char *before, const char *instruction)
{
    return image_module_for("sm_75", before, instruction);
}

CUresult image_launch(CUmodule module, unsigned long long handle, unsigned threads,
                      const unsigned operands[][IMAGE_OPERANDS], unsigned results[][IMAGE_RESULTS])
{
    CUfunction function;
    CUdeviceptr from = gold_alloc(IMAGE_THREADS_MAX * 32), to = gold_alloc_words(IMAGE_THREADS_MAX * 4, 0x5a5a5a5a);
    NEED(cuModuleGetFunction(&function, module, "image"));
    NEED(cuMemcpyHtoD(from, operands, threads * 32));
    void *params[] = {&handle, &from, &to};
    NEED(gold_launch(function, threads, NULL, params));
    CUresult status = cuCtxSynchronize();
    if (status == CUDA_SUCCESS)
        NEED(cuMemcpyDtoH(results, to, threads * 16));
    return status;
}

void image_run(const char *before, const char *instruction, unsigned long long handle, unsigned threads,
               const unsigned operands[][IMAGE_OPERANDS], unsigned results[][IMAGE_RESULTS])
{
    NEED(image_launch(image_module(before, instruction), handle, threads, operands, results));
}

unsigned image_bits(float value)
{
    unsigned bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

float image_float(unsigned bits)
{
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

void say_float(float value, int digits)
{
    char text[64];
    snprintf(text, sizeof text, "%.*f", digits, (double)value);
    say_text(strtod(text, NULL) == 0 && text[0] == '-' ? text + 1 : text);
}

void image_say(const char *instruction, CUtexObject texture, unsigned dimensions, const float *at, unsigned reads,
               unsigned channels, int digits)
{
    unsigned operands[IMAGE_THREADS_MAX][IMAGE_OPERANDS] = {{0}}, results[IMAGE_THREADS_MAX][IMAGE_RESULTS];
    for (unsigned i = 0; i < reads; i++)
        for (unsigned k = 0; k < dimensions; k++)
            operands[i][k] = image_bits(at[i * dimensions + k]);
    image_run(NULL, instruction, texture, reads, (const unsigned(*)[IMAGE_OPERANDS])operands, results);
    for (unsigned i = 0; i < reads; i++)
        for (unsigned c = 0; c < channels; c++)
            say_float(image_float(results[i][c]), digits);
}
