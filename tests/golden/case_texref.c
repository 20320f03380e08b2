/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Texture and surface references of modules, and surfaces as kernels use them.
 */
#include "gold_image.h"

#include <stdio.h>
#include <string.h>

static const char variables[] =
    ".visible .global .texref picture;\n.visible .global .surfref canvas;\n.visible .global .u32 number;\n";
static const char by_name[] = "tex.1d.v4.f32.f32 {%o0, %o1, %o2, %o3}, [picture, {%f0}];";
static const char by_number[] = "tex.1d.v4.s32.s32 {%o0, %o1, %o2, %o3}, [picture, {%r0}];";

static CUarray row_of(CUarray_format format, const void *bytes, size_t row, size_t width, unsigned flags)
{
    CUarray array = image_array(width, 0, 0, format, 1, flags);
    image_fill(array, bytes, row, 1, 1);
    return array;
}

static void say_reads(CUmodule module, const float *at, unsigned reads, int digits)
{
    unsigned operands[IMAGE_THREADS_MAX][IMAGE_OPERANDS] = {{0}}, results[IMAGE_THREADS_MAX][IMAGE_RESULTS];
    for (unsigned i = 0; i < reads; i++)
        operands[i][0] = image_bits(at[i]);
    say(image_launch(module, 0, reads, (const unsigned(*)[IMAGE_OPERANDS])operands, results));
    for (unsigned i = 0; i < reads; i++)
        say_float(image_float(results[i][0]), digits);
}

static const float floats[4] = {1, 2, 4, 8};
static const float places[] = {0.5f, 1.25f, 3.5f, 9};

CASE(texref, get)
{
    CUmodule module = image_module(variables, by_name);
    CUtexref picture = NULL, again = NULL;
    CUsurfref canvas = NULL;
    CUdeviceptr address;
    size_t size;
    say(cuModuleGetTexRef(&picture, module, "picture"));
    say(cuModuleGetTexRef(&again, module, "picture"));
    say_if("same", picture == again);
    say(cuModuleGetTexRef(&picture, module, "canvas"));
    say(cuModuleGetTexRef(&picture, module, "number"));
    say(cuModuleGetTexRef(&picture, module, "nothing"));
    say(cuModuleGetTexRef(&picture, module, "image"));
    say(cuModuleGetSurfRef(&canvas, module, "canvas"));
    say(cuModuleGetSurfRef(&canvas, module, "picture"));
    say(cuModuleGetGlobal(&address, &size, module, "picture"));
    say(cuModuleGetTexRef(NULL, module, "picture"));
    say(cuModuleGetTexRef(&picture, module, NULL));
}

CASE(texref, at_first)
{
    CUmodule module = image_module(variables, by_name);
    CUtexref picture;
    CUaddress_mode mode;
    CUfilter_mode filter;
    CUarray_format format;
    CUarray array;
    CUdeviceptr address;
    int channels, anisotropy;
    unsigned flags;
    float bias, low, high;
    NEED(cuModuleGetTexRef(&picture, module, "picture"));
    say(cuTexRefGetAddressMode(&mode, picture, 0));
    say_int(mode);
    say(cuTexRefGetFilterMode(&filter, picture));
    say_int(filter);
    say(cuTexRefGetFormat(&format, &channels, picture));
    say_hex(format);
    say_int(channels);
    say(cuTexRefGetFlags(&flags, picture));
    say_hex(flags);
    say(cuTexRefGetMaxAnisotropy(&anisotropy, picture));
    say_int(anisotropy);
    say(cuTexRefGetMipmapLevelBias(&bias, picture));
    say_float(bias, 1);
    say(cuTexRefGetMipmapLevelClamp(&low, &high, picture));
    say_float(low, 1);
    say_float(high, 1);
    say(cuTexRefGetArray(&array, picture));
    say(cuTexRefGetAddress(&address, picture));
}

CASE(texref, array)
{
    CUmodule module = image_module(variables, by_name);
    CUtexref picture;
    CUarray array = row_of(CU_AD_FORMAT_FLOAT, floats, 16, 4, 0), found;
    NEED(cuModuleGetTexRef(&picture, module, "picture"));
    say(cuTexRefSetArray(picture, array, CU_TRSA_OVERRIDE_FORMAT));
    say_reads(module, places, 4, 2);
    say(cuTexRefSetFilterMode(picture, CU_TR_FILTER_MODE_LINEAR));
    say_reads(module, places, 4, 2);
    say(cuTexRefSetAddressMode(picture, 0, CU_TR_ADDRESS_MODE_BORDER));
    say_reads(module, places, 4, 2);
    say(cuTexRefGetArray(&found, picture));
    say_if("same", found == array);
}

CASE(
    texref, array_wrong,
    .allow =
        "CUDA_SUCCESS CUDA_ERROR_INVALID_VALUE CUDA_ERROR_INVALID_VALUE CUDA_ERROR_INVALID_VALUE CUDA_ERROR_INVALID_VALUE CUDA_ERROR_INVALID_VALUE CUDA_ERROR_INVALID_VALUE CUDA_ERROR_INVALID_VALUE CUDA_ERROR_INVALID_VALUE",
    .why = "hardware takes modes and formats that do not exist")
{
    CUmodule module = image_module(variables, by_name);
    CUtexref picture;
    CUarray array = row_of(CU_AD_FORMAT_FLOAT, floats, 16, 4, 0);
    NEED(cuModuleGetTexRef(&picture, module, "picture"));
    say(cuTexRefSetArray(picture, array, 0));
    say(cuTexRefSetArray(picture, array, 2));
    say(cuTexRefSetAddressMode(picture, 3, CU_TR_ADDRESS_MODE_CLAMP));
    say(cuTexRefSetAddressMode(picture, -1, CU_TR_ADDRESS_MODE_CLAMP));
    say(cuTexRefSetAddressMode(picture, 0, (CUaddress_mode)9));
    say(cuTexRefSetFilterMode(picture, (CUfilter_mode)9));
    say(cuTexRefSetFlags(picture, 0x80));
    say(cuTexRefSetFormat(picture, CU_AD_FORMAT_FLOAT, 3));
    say(cuTexRefSetFormat(picture, (CUarray_format)7, 1));
}

CASE(texref, normalized_bytes)
{
    static const unsigned char bytes[4] = {0, 51, 102, 255};
    CUmodule module = image_module(variables, by_name);
    CUtexref picture;
    NEED(cuModuleGetTexRef(&picture, module, "picture"));
    say(cuTexRefSetArray(picture, row_of(CU_AD_FORMAT_UNSIGNED_INT8, bytes, 4, 4, 0), CU_TRSA_OVERRIDE_FORMAT));
    say_reads(module, places, 3, 3);
    say(cuTexRefSetFlags(picture, CU_TRSF_READ_AS_INTEGER));
    unsigned operands[1][IMAGE_OPERANDS] = {{0}}, results[1][IMAGE_RESULTS];
    operands[0][0] = image_bits(2.5f);
    say(image_launch(module, 0, 1, (const unsigned(*)[IMAGE_OPERANDS])operands, results));
    say_hex(results[0][0]);
}

CASE(texref, address)
{
    static const int numbers[8] = {10, 11, 12, 13, 14, 15, 16, 17};
    CUmodule module = image_module(variables, by_number);
    CUtexref picture;
    CUdeviceptr memory = gold_alloc(1024), found = 0;
    size_t offset = 99;
    unsigned operands[3][IMAGE_OPERANDS] = {{0}}, results[3][IMAGE_RESULTS];
    NEED(cuModuleGetTexRef(&picture, module, "picture"));
    NEED(cuMemcpyHtoD(memory, numbers, sizeof numbers));
    say(cuTexRefSetFormat(picture, CU_AD_FORMAT_SIGNED_INT32, 1));
    say(cuTexRefSetFlags(picture, CU_TRSF_READ_AS_INTEGER));
    say(cuTexRefSetAddress(&offset, picture, memory, sizeof numbers));
    say_int((long long)offset);
    say(cuTexRefGetAddress(&found, picture));
    say_if("same", found == memory);
    operands[1][0] = 5;
    operands[2][0] = 8;
    say(image_launch(module, 0, 3, (const unsigned(*)[IMAGE_OPERANDS])operands, results));
    for (unsigned i = 0; i < 3; i++)
        say_int((int)results[i][0]);
    say(cuTexRefSetAddress(NULL, picture, memory + 16, 16));
    say(cuTexRefSetAddress(&offset, picture, memory + 16, 16));
    say_int((long long)offset);
    say(cuTexRefSetAddress(&offset, picture, 0, 0));
}

CASE(texref, create, .alone = true)
{
    CUtexref reference = NULL;
    say(cuTexRefCreate(&reference));
    say(cuTexRefSetFilterMode(reference, CU_TR_FILTER_MODE_LINEAR));
    say(cuTexRefDestroy(reference));
    say(cuTexRefCreate(NULL));
}

/* ---- surfaces ---- */

static const char load_1d[] = "suld.b.1d.b32.%s %%o0, [%%rd0, {%%r0}];";

static void say_surface_loads(const char *outside)
{
    static const unsigned numbers[4] = {11, 22, 33, 44};
    static const int at[] = {0, 4, 12, 16, -4, 1000, -2147483647 - 1};
    char text[128];
    unsigned operands[7][IMAGE_OPERANDS] = {{0}}, results[7][IMAGE_RESULTS];
    snprintf(text, sizeof text, load_1d, outside);
    for (unsigned i = 0; i < 7; i++)
        operands[i][0] = (unsigned)at[i];
    image_run(NULL, text, image_surface(row_of(CU_AD_FORMAT_UNSIGNED_INT32, numbers, 16, 4, CUDA_ARRAY3D_SURFACE_LDST)),
              7, (const unsigned(*)[IMAGE_OPERANDS])operands, results);
    for (unsigned i = 0; i < 7; i++)
        say_int((int)results[i][0]);
}

CASE(surface, load_clamp)
{
    say_surface_loads("clamp");
}
CASE(surface, load_zero)
{
    say_surface_loads("zero");
}

static CUresult surface_at(const char *instruction, int at)
{
    static const unsigned numbers[4] = {11, 22, 33, 44};
    unsigned operands[1][IMAGE_OPERANDS] = {{0}}, results[1][IMAGE_RESULTS];
    operands[0][0] = (unsigned)at;
    CUarray array = row_of(CU_AD_FORMAT_UNSIGNED_INT32, numbers, 16, 4, CUDA_ARRAY3D_SURFACE_LDST);
    return image_launch(image_module(NULL, instruction), image_surface(array), 1,
                        (const unsigned(*)[IMAGE_OPERANDS])operands, results);
}

CASE(surface, load_trap, .alone = true)
{
    say(surface_at("suld.b.1d.b32.trap %o0, [%rd0, {%r0}];", 12));
    say(surface_at("suld.b.1d.b32.trap %o0, [%rd0, {%r0}];", 16));
}

CASE(surface, store_trap, .alone = true)
{
    say(surface_at("sust.b.1d.b32.trap [%rd0, {%r0}], {%r1};", -4));
}

CASE(surface, load_uneven, .alone = true, .allow = "CUDA_ERROR_LAUNCH_FAILED", .why = "undefined")
{
    say(surface_at("suld.b.1d.b32.trap %o0, [%rd0, {%r0}];", 2));
}

static void say_stores(const char *instruction, unsigned threads)
{
    unsigned operands[16][IMAGE_OPERANDS], results[16][IMAGE_RESULTS], found[64];
    CUarray array = image_array(8, 4, 0, CU_AD_FORMAT_UNSIGNED_INT32, 1, CUDA_ARRAY3D_SURFACE_LDST);
    memset(found, 0x11, sizeof found);
    image_fill(array, found, 32, 4, 1);
    for (unsigned i = 0; i < threads; i++) {
        operands[i][0] = (unsigned)((int)(i * 3 % 11) - 1) * 4;
        operands[i][1] = (unsigned)((int)(i * 5 % 6) - 1);
        for (unsigned k = 2; k < IMAGE_OPERANDS; k++)
            operands[i][k] = 100 * i + k;
    }
    image_run(NULL, instruction, image_surface(array), threads, (const unsigned(*)[IMAGE_OPERANDS])operands, results);
    image_read(array, found, 32, 4, 1);
    for (unsigned i = 0; i < 32; i++)
        say_hex(found[i]);
}

CASE(surface, store_zero)
{
    say_stores("sust.b.2d.b32.zero [%rd0, {%r0, %r1}], {%r2};", 12);
}
CASE(surface, store_clamp)
{
    say_stores("sust.b.2d.b32.clamp [%rd0, {%r0, %r1}], {%r2};", 1);
}
CASE(surface, reduce)
{
    say_stores("sured.b.add.2d.u32.zero [%rd0, {%r0, %r1}], %r2; sured.b.max.2d.s32.zero [%rd0, {0, 0}], %r3;", 12);
}

CASE(surface, widths)
{
    unsigned char bytes[64], found[64];
    unsigned operands[1][IMAGE_OPERANDS] = {{0}}, results[1][IMAGE_RESULTS];
    CUarray array = image_array(4, 0, 0, CU_AD_FORMAT_UNSIGNED_INT32, 4, CUDA_ARRAY3D_SURFACE_LDST);
    CUsurfObject surface = image_surface(array);
    for (unsigned i = 0; i < 64; i++)
        bytes[i] = (unsigned char)(i * 5 + 1);
    image_fill(array, bytes, 64, 1, 1);
    image_run(
        NULL,
        "suld.b.1d.b8.trap %h0, [%rd0, {3}]; mov.b32 %o0, {%h0, %h0}; suld.b.1d.v2.b16.trap {%h1, %h2}, [%rd0, {8}]; mov.b32 %o1, {%h1, %h2};"
        " suld.b.1d.b64.trap %rd4, [%rd0, {24}]; mov.b64 {%o2, %o3}, %rd4;",
        surface, 1, (const unsigned(*)[IMAGE_OPERANDS])operands, results);
    for (unsigned i = 0; i < 4; i++)
        say_hex(results[0][i]);
    image_run(
        NULL,
        "suld.b.1d.v4.b32.trap {%o0, %o1, %o2, %o3}, [%rd0, {16}]; sust.b.1d.v4.b32.trap [%rd0, {32}], {%o3, %o2, %o1, %o0};"
        " mov.u16 %h0, 0x77; sust.b.1d.b8.trap [%rd0, {50}], {%h0}; sust.b.1d.v2.b16.trap [%rd0, {60}], {%h0, %h0};",
        surface, 1, (const unsigned(*)[IMAGE_OPERANDS])operands, results);
    image_read(array, found, 64, 1, 1);
    say_hash(found, sizeof found);
}

CASE(surface, layers)
{
    unsigned words[48], operands[5][IMAGE_OPERANDS] = {{0}}, results[5][IMAGE_RESULTS];
    CUarray array =
        image_array(4, 4, 3, CU_AD_FORMAT_UNSIGNED_INT32, 1, CUDA_ARRAY3D_SURFACE_LDST | CUDA_ARRAY3D_LAYERED);
    CUarray volume = image_array(4, 4, 3, CU_AD_FORMAT_UNSIGNED_INT32, 1, CUDA_ARRAY3D_SURFACE_LDST);
    for (unsigned i = 0; i < 48; i++)
        words[i] = i;
    image_fill(array, words, 16, 4, 3);
    image_fill(volume, words, 16, 4, 3);
    for (unsigned i = 0; i < 5; i++) {
        operands[i][0] = i == 4 ? (unsigned)-1 : i;
        operands[i][1] = 8;
        operands[i][2] = 3;
    }
    image_run(NULL, "suld.b.a2d.b32.zero %o0, [%rd0, {%r0, %r1, %r2, %r2}];", image_surface(array), 5,
              (const unsigned(*)[IMAGE_OPERANDS])operands, results);
    for (unsigned i = 0; i < 5; i++)
        say_int((int)results[i][0]);
    image_run(NULL, "suld.b.3d.b32.clamp %o0, [%rd0, {%r1, %r2, %r0, %r0}];", image_surface(volume), 5,
              (const unsigned(*)[IMAGE_OPERANDS])operands, results);
    for (unsigned i = 0; i < 5; i++)
        say_int((int)results[i][0]);
}

CASE(surface, formatted_store)
{
    static const float values[] = {0, 0.5f, 1, 2, -1, 0.25f};
    unsigned operands[6][IMAGE_OPERANDS] = {{0}}, results[6][IMAGE_RESULTS];
    unsigned short found[6] = {0};
    CUarray array = image_array(6, 0, 0, CU_AD_FORMAT_HALF, 1, CUDA_ARRAY3D_SURFACE_LDST);
    for (unsigned i = 0; i < 6; i++) {
        operands[i][0] = i;
        operands[i][1] = image_bits(values[i]);
    }
    image_run(NULL, "sust.p.1d.b32.trap [%rd0, {%r0}], {%r1};", image_surface(array), 6,
              (const unsigned(*)[IMAGE_OPERANDS])operands, results);
    image_read(array, found, 12, 1, 1);
    for (unsigned i = 0; i < 6; i++)
        say_hex(found[i]);
}

CASE(surface, questions)
{
    unsigned operands[1][IMAGE_OPERANDS] = {{0}}, results[1][IMAGE_RESULTS];
    CUarray array = image_array(8, 4, 2, CU_AD_FORMAT_HALF, 1, CUDA_ARRAY3D_SURFACE_LDST);
    image_run(NULL, "suq.width.b32 %o0, [%rd0]; suq.height.b32 %o1, [%rd0]; suq.depth.b32 %o2, [%rd0];",
              image_surface(array), 1, (const unsigned(*)[IMAGE_OPERANDS])operands, results);
    for (unsigned k = 0; k < 3; k++)
        say_int((int)results[0][k]);
}

/* A surface's writes are seen by a texture of the same array in the next launch. */
CASE(surface, then_texture)
{
    unsigned operands[4][IMAGE_OPERANDS] = {{0}}, results[4][IMAGE_RESULTS];
    CUarray array = image_array(4, 0, 0, CU_AD_FORMAT_FLOAT, 1, CUDA_ARRAY3D_SURFACE_LDST);
    for (unsigned i = 0; i < 4; i++) {
        operands[i][0] = 4 * i;
        operands[i][1] = image_bits((float)i * 1.5f);
        operands[i][2] = image_bits((float)i);
    }
    image_run(NULL, "sust.b.1d.b32.trap [%rd0, {%r0}], {%r1};", image_surface(array), 4,
              (const unsigned(*)[IMAGE_OPERANDS])operands, results);
    image_run(NULL, "tex.1d.v4.f32.f32 {%o0, %o1, %o2, %o3}, [%rd0, {%f2}];",
              image_texture(array, CU_TR_ADDRESS_MODE_CLAMP, CU_TR_FILTER_MODE_POINT, 0), 4,
              (const unsigned(*)[IMAGE_OPERANDS])operands, results);
    for (unsigned i = 0; i < 4; i++)
        say_float(image_float(results[i][0]), 2);
}

CASE(surfref, array)
{
    unsigned operands[2][IMAGE_OPERANDS] = {{0}}, results[2][IMAGE_RESULTS];
    static const unsigned numbers[4] = {11, 22, 33, 44};
    CUmodule module = image_module(variables, "suld.b.1d.b32.zero %o0, [canvas, {%r0}];");
    CUarray array = row_of(CU_AD_FORMAT_UNSIGNED_INT32, numbers, 16, 4, CUDA_ARRAY3D_SURFACE_LDST), found = NULL;
    CUsurfref canvas;
    NEED(cuModuleGetSurfRef(&canvas, module, "canvas"));
    say(cuSurfRefSetArray(canvas, array, 0));
    say(cuSurfRefGetArray(&found, canvas));
    say_if("same", found == array);
    operands[1][0] = 8;
    say(image_launch(module, 0, 2, (const unsigned(*)[IMAGE_OPERANDS])operands, results));
    say_int((int)results[0][0]);
    say_int((int)results[1][0]);
    say(cuSurfRefSetArray(canvas, array, 1));
}
