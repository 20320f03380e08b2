/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What kernels read through textures: address modes, filters and their weights,
 * conversions, layers, cubemaps, levels of detail, gathers.
 *
 * Contents are such that weights of 8 bits give results that are exact in f32,
 * so that all digits count; where that can't be, fewer digits are said.
 */
#include "gold_image.h"

#include <stdio.h>
#include <string.h>

#define F CU_AD_FORMAT_FLOAT
#define NORMALIZED CU_TRSF_NORMALIZED_COORDINATES

static const char tex_1d[] = "tex.1d.v4.f32.f32 {%o0, %o1, %o2, %o3}, [%rd0, {%f0}];";
static const char tex_2d[] = "tex.2d.v4.f32.f32 {%o0, %o1, %o2, %o3}, [%rd0, {%f0, %f1}];";
static const char tex_3d[] = "tex.3d.v4.f32.f32 {%o0, %o1, %o2, %o3}, [%rd0, {%f0, %f1, %f2, %f2}];";

/* value[i] = first + step * i, in rows of `width` whose first value rises by `row`. */
static CUarray ramp(size_t width, size_t height, size_t depth, unsigned flags, float step, float row, float slice)
{
    float values[2048];
    size_t rows = height ? height : 1, slices = depth ? depth : 1;
    CUarray array = image_array(width, height, depth, F, 1, flags);
    for (size_t z = 0; z < slices; z++)
        for (size_t y = 0; y < rows; y++)
            for (size_t x = 0; x < width; x++)
                values[(z * rows + y) * width + x] = step * (float)x + row * (float)y + slice * (float)z;
    image_fill(array, values, width * 4, rows, slices);
    return array;
}

static const float awkward[] = {0, -0.0f, 0.5f, 0.25f,  1,  1.5f,   3.999999f, 4,          7.5f,       7.999999f,
                                8, 8.5f,  100,  -0.25f, -1, -1e30f, 1e30f,     0.9999999f, 2.0000002f, 1e-30f};

/* Reads a row of 8 values 0, 1, ... 7 point by point. */
static void point_1d(CUaddress_mode mode, unsigned flags, float scale)
{
    CUtexObject texture = image_texture(ramp(8, 0, 0, 0, 1, 0, 0), mode, CU_TR_FILTER_MODE_POINT, flags);
    float at[sizeof awkward / sizeof *awkward];
    for (unsigned i = 0; i < sizeof at / sizeof *at; i++)
        at[i] = awkward[i] * scale;
    image_say(tex_1d, texture, 1, at, sizeof at / sizeof *at, 1, 0);
}

CASE(texture_read, point_clamp)
{
    point_1d(CU_TR_ADDRESS_MODE_CLAMP, 0, 1);
}
CASE(texture_read, point_border)
{
    point_1d(CU_TR_ADDRESS_MODE_BORDER, 0, 1);
}
CASE(texture_read, point_wrap_unnormalized)
{
    point_1d(CU_TR_ADDRESS_MODE_WRAP, 0, 1);
}
CASE(texture_read, point_mirror_unnormalized)
{
    point_1d(CU_TR_ADDRESS_MODE_MIRROR, 0, 1);
}
CASE(texture_read, point_clamp_normalized)
{
    point_1d(CU_TR_ADDRESS_MODE_CLAMP, NORMALIZED, 0.125f);
}
CASE(texture_read, point_border_normalized)
{
    point_1d(CU_TR_ADDRESS_MODE_BORDER, NORMALIZED, 0.125f);
}

/* Without the huge ones, which repeating modes can't tell apart. */
static const float near_ones[] = {0,     0.5f,   1.25f,  7.5f, 7.99f, 8,  8.5f,  9,      15.5f,  16,
                                  16.5f, 24.25f, -0.25f, -1,   -1.5f, -8, -8.5f, -15.5f, -16.5f, 803.5f};

CASE(texture_read, point_wrap)
{
    CUtexObject texture =
        image_texture(ramp(8, 0, 0, 0, 1, 0, 0), CU_TR_ADDRESS_MODE_WRAP, CU_TR_FILTER_MODE_POINT, NORMALIZED);
    float at[20];
    for (unsigned i = 0; i < 20; i++)
        at[i] = near_ones[i] / 8;
    image_say(tex_1d, texture, 1, at, 20, 1, 0);
}

CASE(texture_read, point_mirror)
{
    CUtexObject texture =
        image_texture(ramp(8, 0, 0, 0, 1, 0, 0), CU_TR_ADDRESS_MODE_MIRROR, CU_TR_FILTER_MODE_POINT, NORMALIZED);
    float at[20];
    for (unsigned i = 0; i < 20; i++)
        at[i] = near_ones[i] / 8;
    image_say(tex_1d, texture, 1, at, 20, 1, 0);
}

/* 256 a texel: the result is the weight itself. */
static void weights(CUaddress_mode mode, unsigned flags, const float *at, unsigned count)
{
    CUtexObject texture = image_texture(ramp(8, 0, 0, 0, 256, 0, 0), mode, CU_TR_FILTER_MODE_LINEAR, flags);
    image_say(tex_1d, texture, 1, at, count, 1, 4);
}

CASE(texture_read, weights_fine)
{
    float at[48];
    for (unsigned i = 0; i < 48; i++)
        at[i] = 2.5f + (float)i / 4096 * 4;
    weights(CU_TR_ADDRESS_MODE_CLAMP, 0, at, 48);
}

CASE(texture_read, weights_halfway)
{
    float at[32];
    for (unsigned i = 0; i < 32; i++)
        at[i] = 1.5f + (float)(2 * i + 1) / 512 + (i % 3 == 1 ? 1e-6f : i % 3 == 2 ? -1e-6f : 0);
    weights(CU_TR_ADDRESS_MODE_CLAMP, 0, at, 32);
}

CASE(texture_read, weights_clamp)
{
    static const float at[] = {0,     0.25f, 0.5f, 0.501f, 0.75f, 1,      7,      7.4999f, 7.5f,
                               7.75f, 8,     9,    -1,     1e30f, -1e30f, 4.998f, 4.999f,  5.4999f};
    weights(CU_TR_ADDRESS_MODE_CLAMP, 0, at, sizeof at / sizeof *at);
}

CASE(texture_read, weights_border)
{
    static const float at[] = {-1, -0.5f, -0.25f, 0, 0.25f, 0.5f, 1, 7.25f, 7.5f, 7.75f, 8, 8.25f, 8.5f, 9};
    weights(CU_TR_ADDRESS_MODE_BORDER, 0, at, sizeof at / sizeof *at);
}

CASE(texture_read, weights_wrap)
{
    static const float at[] = {0,         0.03125f, 0.0625f, 0.5f,   0.96875f, 1,   1.03125f,
                               -0.03125f, -1,       1.5f,    17.25f, 0.3f,     0.7f};
    weights(CU_TR_ADDRESS_MODE_WRAP, NORMALIZED, at, sizeof at / sizeof *at);
}

CASE(texture_read, weights_mirror)
{
    static const float at[] = {0,         0.03125f, 0.0625f, 0.5f,   0.96875f, 1,   1.03125f,
                               -0.03125f, -1,       1.5f,    17.25f, 0.3f,     0.7f};
    weights(CU_TR_ADDRESS_MODE_MIRROR, NORMALIZED, at, sizeof at / sizeof *at);
}

CASE(texture_read, weights_normalized)
{
    float at[40];
    for (unsigned i = 0; i < 40; i++)
        at[i] = 0.25f + (float)i / 32768;
    weights(CU_TR_ADDRESS_MODE_CLAMP, NORMALIZED, at, 40);
}

/* A width that is no power of two. */
CASE(texture_read, weights_width_10)
{
    CUtexObject texture =
        image_texture(ramp(10, 0, 0, 0, 256, 0, 0), CU_TR_ADDRESS_MODE_CLAMP, CU_TR_FILTER_MODE_LINEAR, NORMALIZED);
    float at[32];
    for (unsigned i = 0; i < 32; i++)
        at[i] = (float)i / 31;
    image_say(tex_1d, texture, 1, at, 32, 1, 4);
}

CASE(texture_read, bilinear)
{
    CUtexObject texture =
        image_texture(ramp(8, 8, 0, 0, 1, 256, 0), CU_TR_ADDRESS_MODE_CLAMP, CU_TR_FILTER_MODE_LINEAR, 0);
    float at[48];
    for (unsigned i = 0; i < 24; i++) {
        at[2 * i] = 0.3f + (float)i * 0.37f;
        at[2 * i + 1] = 8.2f - (float)i * 0.41f;
    }
    image_say(tex_2d, texture, 2, at, 24, 1, 4);
}

/* One texel of a plane is not zero: the products of weights. */
CASE(texture_read, bilinear_weights)
{
    float values[16] = {0};
    CUarray array = image_array(4, 4, 0, F, 1, 0);
    values[5] = 65536;
    image_fill(array, values, 16, 4, 1);
    CUtexObject texture = image_texture(array, CU_TR_ADDRESS_MODE_CLAMP, CU_TR_FILTER_MODE_LINEAR, 0);
    float at[48];
    for (unsigned i = 0; i < 24; i++) {
        at[2 * i] = 1.5f + (float)(i * 11 % 24) / 256;
        at[2 * i + 1] = 1.5f + (float)(i * 7 % 24 + 100) / 256;
    }
    image_say(tex_2d, texture, 2, at, 24, 1, 4);
}

CASE(texture_read, trilinear)
{
    CUtexObject texture =
        image_texture(ramp(4, 4, 4, 0, 1, 16, 256), CU_TR_ADDRESS_MODE_CLAMP, CU_TR_FILTER_MODE_LINEAR, 0);
    static const float at[] = {0.5f, 0.5f, 0.5f, 1.75f, 2.25f, 1.5f, 3.9f, 0.1f, 2.2f, 2, 2, 2, 1.25f, 3.25f, 2.75f};
    image_say(tex_3d, texture, 3, at, 5, 1, 3);
}

/* One texel of a volume is not zero. */
CASE(texture_read, trilinear_weights)
{
    float values[64] = {0};
    CUarray array = image_array(4, 4, 4, F, 1, 0);
    values[21] = 65536;
    image_fill(array, values, 16, 4, 4);
    CUtexObject texture = image_texture(array, CU_TR_ADDRESS_MODE_CLAMP, CU_TR_FILTER_MODE_LINEAR, 0);
    float at[3 * 32];
    for (unsigned i = 0; i < 32; i++) {
        at[3 * i] = (i & 1 ? 0.5f : 1.5f) + (float)(i * 11 % 61 + 7) / 256;
        at[3 * i + 1] = (i & 2 ? 0.5f : 1.5f) + (float)(i * 7 % 53 + 100) / 256;
        at[3 * i + 2] = (i & 4 ? 0.5f : 1.5f) + (float)(i * 5 % 47 + 60) / 256;
    }
    image_say(tex_3d, texture, 3, at, 32, 1, 4);
}

/* The other three texels of a square. */
CASE(texture_read, bilinear_weights_others)
{
    float values[16] = {0};
    CUarray array = image_array(4, 4, 0, F, 1, 0);
    values[5] = 65536;
    image_fill(array, values, 16, 4, 1);
    CUtexObject texture = image_texture(array, CU_TR_ADDRESS_MODE_CLAMP, CU_TR_FILTER_MODE_LINEAR, 0);
    float at[2 * 36];
    for (unsigned i = 0; i < 36; i++) {
        at[2 * i] = (i % 3 == 1 ? 1.5f : 0.5f) + (float)(i * 11 % 61 + 7) / 256;
        at[2 * i + 1] = (i % 3 == 0 ? 1.5f : 0.5f) + (float)(i * 7 % 53 + (i % 2 ? 128 : 100)) / 256;
    }
    image_say(tex_2d, texture, 2, at, 36, 1, 4);
}

CASE(texture_read, point_2d_modes)
{
    CUarray array = ramp(4, 4, 0, 0, 1, 10, 0);
    static const CUaddress_mode modes[] = {CU_TR_ADDRESS_MODE_WRAP, CU_TR_ADDRESS_MODE_CLAMP, CU_TR_ADDRESS_MODE_MIRROR,
                                           CU_TR_ADDRESS_MODE_BORDER};
    static const float at[] = {0.1f, 0.1f, 1.1f, 0.4f, -0.1f, 0.9f, 0.5f, 1.6f, 2.2f, -1.3f, 0.999f, 0.501f};
    for (unsigned i = 0; i < 4; i++)
        image_say(tex_2d, image_texture(array, modes[i], CU_TR_FILTER_MODE_POINT, NORMALIZED), 2, at, 6, 1, 0);
}

CASE(texture_read, border_color)
{
    CUDA_RESOURCE_DESC resource;
    CUDA_TEXTURE_DESC desc;
    CUtexObject texture;
    memset(&resource, 0, sizeof resource);
    memset(&desc, 0, sizeof desc);
    resource.resType = CU_RESOURCE_TYPE_ARRAY;
    resource.res.array.hArray = ramp(4, 4, 0, 0, 1, 10, 0);
    desc.addressMode[0] = desc.addressMode[1] = CU_TR_ADDRESS_MODE_BORDER;
    for (unsigned i = 0; i < 4; i++)
        desc.borderColor[i] = (float)(100 * (i + 1));
    NEED(cuTexObjectCreate(&texture, &resource, &desc, NULL));
    static const float at[] = {-1, 1, 1, 1, 4.5f, 2, 2, 9};
    image_say(tex_2d, texture, 2, at, 4, 1, 2);
}

/* Channels that the array lacks. */
CASE(texture_read, missing_channels)
{
    static const float values[8] = {1, 2, 3, 4, 5, 6, 7, 8};
    static const float at[] = {1};
    CUarray one = image_array(4, 0, 0, F, 1, 0), two = image_array(4, 0, 0, F, 2, 0);
    image_fill(one, values, 16, 1, 1);
    image_fill(two, values, 32, 1, 1);
    image_say(tex_1d, image_texture(one, CU_TR_ADDRESS_MODE_CLAMP, CU_TR_FILTER_MODE_POINT, 0), 1, at, 1, 4, 1);
    image_say(tex_1d, image_texture(two, CU_TR_ADDRESS_MODE_CLAMP, CU_TR_FILTER_MODE_POINT, 0), 1, at, 1, 4, 1);
}

static void say_words(const char *instruction, CUtexObject texture, unsigned reads, const float *at, unsigned channels)
{
    unsigned operands[IMAGE_THREADS_MAX][IMAGE_OPERANDS] = {{0}}, results[IMAGE_THREADS_MAX][IMAGE_RESULTS];
    for (unsigned i = 0; i < reads; i++)
        operands[i][0] = image_bits(at[i]);
    image_run(NULL, instruction, texture, reads, (const unsigned(*)[IMAGE_OPERANDS])operands, results);
    for (unsigned i = 0; i < reads; i++)
        for (unsigned c = 0; c < channels; c++)
            say_hex(results[i][c]);
}

CASE(texture_read, missing_channels_integers)
{
    static const int values[8] = {1, 2, 3, 4, 5, 6, 7, 8};
    static const float at[] = {1};
    CUarray one = image_array(4, 0, 0, CU_AD_FORMAT_SIGNED_INT32, 1, 0);
    image_fill(one, values, 16, 1, 1);
    say_words("tex.1d.v4.s32.f32 {%o0, %o1, %o2, %o3}, [%rd0, {%f0}];",
              image_texture(one, CU_TR_ADDRESS_MODE_CLAMP, CU_TR_FILTER_MODE_POINT, 0), 1, at, 4);
}

CASE(texture_read, integers)
{
    static const unsigned char bytes[16] = {0, 1, 127, 128, 129, 200, 254, 255, 3, 4, 5, 6, 7, 8, 9, 10};
    static const float at[] = {0, 1, 2, 3};
    static const CUarray_format formats[] = {CU_AD_FORMAT_UNSIGNED_INT8, CU_AD_FORMAT_SIGNED_INT8};
    for (unsigned i = 0; i < 2; i++) {
        CUarray array = image_array(4, 0, 0, formats[i], 4, 0);
        image_fill(array, bytes, 16, 1, 1);
        say_words(i ? "tex.1d.v4.s32.f32 {%o0, %o1, %o2, %o3}, [%rd0, {%f0}];"
                    : "tex.1d.v4.u32.f32 {%o0, %o1, %o2, %o3}, [%rd0, {%f0}];",
                  image_texture(array, CU_TR_ADDRESS_MODE_CLAMP, CU_TR_FILTER_MODE_POINT, CU_TRSF_READ_AS_INTEGER), 4,
                  at, 4);
    }
}

/* Numbers of 8 and 16 bits as floats: every one is said by its bits. */
CASE(texture_read, normalized_8)
{
    static const unsigned char bytes[12] = {0, 1, 2, 3, 85, 127, 128, 129, 200, 253, 254, 255};
    float at[12];
    for (unsigned i = 0; i < 12; i++)
        at[i] = (float)i;
    static const CUarray_format formats[] = {CU_AD_FORMAT_UNSIGNED_INT8, CU_AD_FORMAT_SIGNED_INT8};
    for (unsigned i = 0; i < 2; i++) {
        CUarray array = image_array(12, 0, 0, formats[i], 1, 0);
        image_fill(array, bytes, 12, 1, 1);
        say_words(tex_1d, image_texture(array, CU_TR_ADDRESS_MODE_CLAMP, CU_TR_FILTER_MODE_POINT, 0), 12, at, 1);
    }
}

CASE(texture_read, normalized_16)
{
    static const unsigned short numbers[10] = {0, 1, 2, 1000, 32767, 32768, 32769, 40000, 65534, 65535};
    float at[10];
    for (unsigned i = 0; i < 10; i++)
        at[i] = (float)i;
    static const CUarray_format formats[] = {CU_AD_FORMAT_UNSIGNED_INT16, CU_AD_FORMAT_SIGNED_INT16};
    for (unsigned i = 0; i < 2; i++) {
        CUarray array = image_array(10, 0, 0, formats[i], 1, 0);
        image_fill(array, numbers, 20, 1, 1);
        say_words(tex_1d, image_texture(array, CU_TR_ADDRESS_MODE_CLAMP, CU_TR_FILTER_MODE_POINT, 0), 10, at, 1);
    }
}

CASE(texture_read, unorm_formats)
{
    static const unsigned char bytes[8] = {0, 51, 255, 128, 129, 1, 127, 200};
    static const float at[] = {0, 1};
    CUarray array = image_array(2, 0, 0, CU_AD_FORMAT_UNORM_INT8X4, 4, 0),
            other = image_array(2, 0, 0, CU_AD_FORMAT_SNORM_INT8X4, 4, 0);
    image_fill(array, bytes, 8, 1, 1);
    image_fill(other, bytes, 8, 1, 1);
    image_say(tex_1d, image_texture(array, CU_TR_ADDRESS_MODE_CLAMP, CU_TR_FILTER_MODE_POINT, 0), 1, at, 2, 4, 5);
    image_say(tex_1d, image_texture(other, CU_TR_ADDRESS_MODE_CLAMP, CU_TR_FILTER_MODE_POINT, 0), 1, at, 2, 4, 5);
}

CASE(texture_read, normalized_filtered)
{
    static const unsigned char bytes[4] = {0, 255, 100, 200};
    CUarray array = image_array(4, 0, 0, CU_AD_FORMAT_UNSIGNED_INT8, 1, 0);
    float at[16];
    image_fill(array, bytes, 4, 1, 1);
    for (unsigned i = 0; i < 16; i++)
        at[i] = 0.53f + (float)i * 0.187f;
    image_say(tex_1d, image_texture(array, CU_TR_ADDRESS_MODE_CLAMP, CU_TR_FILTER_MODE_LINEAR, 0), 1, at, 16, 1, 3);
}

/* All 256 numbers as sRGB, a quarter at a time, by their bits. */
static void say_srgb(unsigned first)
{
    unsigned char bytes[64];
    float at[64];
    CUarray array = image_array(64, 0, 0, CU_AD_FORMAT_UNSIGNED_INT8, 1, 0);
    for (unsigned i = 0; i < 64; i++) {
        bytes[i] = (unsigned char)(first + i);
        at[i] = (float)i;
    }
    image_fill(array, bytes, 64, 1, 1);
    say_words(tex_1d, image_texture(array, CU_TR_ADDRESS_MODE_CLAMP, CU_TR_FILTER_MODE_POINT, CU_TRSF_SRGB), 64, at, 1);
}

CASE(texture_read, srgb_0)
{
    say_srgb(0);
}
CASE(texture_read, srgb_64)
{
    say_srgb(64);
}
CASE(texture_read, srgb_128)
{
    say_srgb(128);
}
CASE(texture_read, srgb_192)
{
    say_srgb(192);
}

CASE(texture_read, srgb)
{
    static const unsigned char bytes[16] = {0, 1, 5, 10, 11, 40, 80, 128, 160, 188, 200, 220, 240, 250, 254, 255};
    CUarray array = image_array(4, 0, 0, CU_AD_FORMAT_UNSIGNED_INT8, 4, 0);
    static const float at[] = {0, 1, 2, 3};
    image_fill(array, bytes, 16, 1, 1);
    image_say(tex_1d, image_texture(array, CU_TR_ADDRESS_MODE_CLAMP, CU_TR_FILTER_MODE_POINT, CU_TRSF_SRGB), 1, at, 4,
              4, 4);
}

CASE(texture_read, halves)
{
    static const unsigned short halves[8] = {0, 0x3c00, 0xbc00, 0x7bff, 0x0001, 0x8000, 0x7c00, 0x3555};
    float at[8];
    CUarray array = image_array(8, 0, 0, CU_AD_FORMAT_HALF, 1, 0);
    image_fill(array, halves, 16, 1, 1);
    for (unsigned i = 0; i < 8; i++)
        at[i] = (float)i;
    say_words(tex_1d, image_texture(array, CU_TR_ADDRESS_MODE_CLAMP, CU_TR_FILTER_MODE_POINT, 0), 8, at, 1);
}

/* Wrong for the texture: bits go through. */
CASE(texture_read, types_mixed)
{
    static const int values[4] = {1, -2, 0x3f800000, 7};
    static const float at[] = {0, 1, 2};
    CUarray array = image_array(4, 0, 0, CU_AD_FORMAT_SIGNED_INT32, 1, 0), floats = ramp(4, 0, 0, 0, 1.5f, 0, 0);
    image_fill(array, values, 16, 1, 1);
    say_words(tex_1d, image_texture(array, CU_TR_ADDRESS_MODE_CLAMP, CU_TR_FILTER_MODE_POINT, 0), 3, at, 1);
    say_words("tex.1d.v4.s32.f32 {%o0, %o1, %o2, %o3}, [%rd0, {%f0}];",
              image_texture(floats, CU_TR_ADDRESS_MODE_CLAMP, CU_TR_FILTER_MODE_POINT, 0), 3, at, 1);
}

CASE(texture_read, as_halves)
{
    static const float values[8] = {1, -2, 0.1f, 65536, 3, 4, 5, 6};
    static const float at[] = {0, 1};
    CUarray array = image_array(2, 0, 0, F, 4, 0);
    image_fill(array, values, 32, 1, 1);
    CUtexObject texture = image_texture(array, CU_TR_ADDRESS_MODE_CLAMP, CU_TR_FILTER_MODE_POINT, 0);
    say_words(
        "tex.1d.v4.f16.f32 {%h0, %h1, %h2, %h3}, [%rd0, {%f0}]; mov.b32 %o0, {%h0, %h1}; mov.b32 %o1, {%h2, %h3};",
        texture, 2, at, 2);
    say_words("tex.1d.v2.f16x2.f32 {%o0, %o1}, [%rd0, {%f0}];", texture, 2, at, 2);
}

/* ---- whole numbers as coordinates ---- */

static void say_fetches(CUtexObject texture)
{
    static const int at[] = {0, 3, 7, 8, -1, 100, -2147483647 - 1, 2147483647};
    unsigned operands[8][IMAGE_OPERANDS] = {{0}}, results[8][IMAGE_RESULTS];
    for (unsigned i = 0; i < 8; i++)
        operands[i][0] = (unsigned)at[i];
    image_run(NULL, "tex.1d.v4.f32.s32 {%o0, %o1, %o2, %o3}, [%rd0, {%r0}];", texture, 8,
              (const unsigned(*)[IMAGE_OPERANDS])operands, results);
    for (unsigned i = 0; i < 8; i++)
        say_float(image_float(results[i][0]), 1);
}

static CUtexObject linear_texture(CUarray_format format, unsigned channels, CUdeviceptr memory, size_t bytes,
                                  unsigned flags)
{
    CUDA_RESOURCE_DESC resource;
    CUDA_TEXTURE_DESC desc;
    CUtexObject texture;
    memset(&resource, 0, sizeof resource);
    memset(&desc, 0, sizeof desc);
    resource.resType = CU_RESOURCE_TYPE_LINEAR;
    resource.res.linear.devPtr = memory;
    resource.res.linear.format = format;
    resource.res.linear.numChannels = channels;
    resource.res.linear.sizeInBytes = bytes;
    desc.flags = flags;
    NEED(cuTexObjectCreate(&texture, &resource, &desc, NULL));
    return texture;
}

CASE(texture_read, fetch_linear)
{
    static const float values[8] = {10, 11, 12, 13, 14, 15, 16, 17};
    CUdeviceptr memory = gold_alloc_words(16, 0x42000000);
    NEED(cuMemcpyHtoD(memory, values, sizeof values));
    say_fetches(linear_texture(F, 1, memory, sizeof values, 0));
}

CASE(texture_read, fetch_linear_bytes)
{
    static const unsigned char bytes[8] = {0, 51, 102, 153, 204, 255, 1, 2};
    CUdeviceptr memory = gold_alloc_words(4, 0);
    NEED(cuMemcpyHtoD(memory, bytes, 8));
    say_fetches(linear_texture(CU_AD_FORMAT_UNSIGNED_INT8, 1, memory, 8, 0));
}

CASE(texture_read, fetch_array)
{
    CUarray array = ramp(8, 0, 0, 0, 1, 0, 0);
    say_fetches(image_texture(array, CU_TR_ADDRESS_MODE_CLAMP, CU_TR_FILTER_MODE_POINT, 0));
    say_fetches(image_texture(array, CU_TR_ADDRESS_MODE_BORDER, CU_TR_FILTER_MODE_LINEAR, 0));
    say_fetches(image_texture(array, CU_TR_ADDRESS_MODE_WRAP, CU_TR_FILTER_MODE_POINT, NORMALIZED));
}

CASE(texture_read, fetch_plane)
{
    CUarray array = ramp(8, 4, 0, 0, 1, 10, 0);
    static const int at[][2] = {{0, 0}, {3, 2}, {7, 3}, {8, 1}, {1, 4}, {-1, 2}, {2, -1}, {100, 100}};
    unsigned operands[8][IMAGE_OPERANDS] = {{0}}, results[8][IMAGE_RESULTS];
    for (unsigned i = 0; i < 8; i++)
        for (unsigned k = 0; k < 2; k++)
            operands[i][k] = (unsigned)at[i][k];
    for (unsigned m = 0; m < 2; m++) {
        CUtexObject texture =
            image_texture(array, m ? CU_TR_ADDRESS_MODE_BORDER : CU_TR_ADDRESS_MODE_CLAMP, CU_TR_FILTER_MODE_LINEAR, 0);
        image_run(NULL, "tex.2d.v4.f32.s32 {%o0, %o1, %o2, %o3}, [%rd0, {%r0, %r1}];", texture, 8,
                  (const unsigned(*)[IMAGE_OPERANDS])operands, results);
        for (unsigned i = 0; i < 8; i++)
            say_float(image_float(results[i][0]), 1);
    }
}

CASE(texture_read, float_of_linear)
{
    static const float values[8] = {10, 11, 12, 13, 14, 15, 16, 17};
    static const float at[] = {0, 0.5f, 3.99f, 7.5f, 8, -0.5f};
    CUdeviceptr memory = gold_alloc_words(16, 0x42000000);
    NEED(cuMemcpyHtoD(memory, values, sizeof values));
    image_say(tex_1d, linear_texture(F, 1, memory, sizeof values, 0), 1, at, 6, 1, 1);
}

CASE(texture_read, pitch)
{
    float values[4 * 128] = {0};
    CUDA_RESOURCE_DESC resource;
    CUDA_TEXTURE_DESC desc;
    CUtexObject texture;
    CUdeviceptr memory = gold_alloc(sizeof values);
    static const float at[] = {0.5f, 0.5f, 1.75f, 1.5f, 3, 2, 4.5f, 3.9f, -1, 2.25f};
    for (unsigned y = 0; y < 4; y++)
        for (unsigned x = 0; x < 128; x++)
            values[y * 128 + x] = x < 5 ? (float)(x + 16 * y) : 999;
    NEED(cuMemcpyHtoD(memory, values, sizeof values));
    memset(&resource, 0, sizeof resource);
    memset(&desc, 0, sizeof desc);
    resource.resType = CU_RESOURCE_TYPE_PITCH2D;
    resource.res.pitch2D.devPtr = memory;
    resource.res.pitch2D.format = F;
    resource.res.pitch2D.numChannels = 1;
    resource.res.pitch2D.width = 5;
    resource.res.pitch2D.height = 4;
    resource.res.pitch2D.pitchInBytes = 512;
    desc.addressMode[0] = desc.addressMode[1] = CU_TR_ADDRESS_MODE_CLAMP;
    desc.filterMode = CU_TR_FILTER_MODE_LINEAR;
    NEED(cuTexObjectCreate(&texture, &resource, &desc, NULL));
    image_say(tex_2d, texture, 2, at, 5, 1, 4);
}

/* ---- layers and cubemaps ---- */

CASE(texture_read, layers)
{
    unsigned operands[6][IMAGE_OPERANDS] = {{0}}, results[6][IMAGE_RESULTS];
    static const int layer[] = {0, 1, 2, 3, -1, 1000};
    CUtexObject planes = image_texture(ramp(4, 4, 3, CUDA_ARRAY3D_LAYERED, 1, 16, 256), CU_TR_ADDRESS_MODE_CLAMP,
                                       CU_TR_FILTER_MODE_LINEAR, 0);
    CUtexObject rows = image_texture(ramp(4, 0, 3, CUDA_ARRAY3D_LAYERED, 1, 0, 256), CU_TR_ADDRESS_MODE_CLAMP,
                                     CU_TR_FILTER_MODE_LINEAR, 0);
    for (unsigned i = 0; i < 6; i++) {
        operands[i][0] = (unsigned)layer[i];
        operands[i][1] = image_bits(1.75f);
        operands[i][2] = image_bits(2.5f);
    }
    image_run(NULL, "tex.a2d.v4.f32.f32 {%o0, %o1, %o2, %o3}, [%rd0, {%r0, %f1, %f2, %f2}];", planes, 6,
              (const unsigned(*)[IMAGE_OPERANDS])operands, results);
    for (unsigned i = 0; i < 6; i++)
        say_float(image_float(results[i][0]), 2);
    image_run(NULL, "tex.a1d.v4.f32.f32 {%o0, %o1, %o2, %o3}, [%rd0, {%r0, %f1}];", rows, 6,
              (const unsigned(*)[IMAGE_OPERANDS])operands, results);
    for (unsigned i = 0; i < 6; i++)
        say_float(image_float(results[i][0]), 2);
}

static const char tex_cube[] = "tex.cube.v4.f32.f32 {%o0, %o1, %o2, %o3}, [%rd0, {%f0, %f1, %f2, %f2}];";

static const float directions[] = {1,    0.1f, 0.2f,  -1,   0.1f, 0.2f, 0.1f,  1,     0.2f, 0.1f, -1,    0.2f,
                                   0.1f, 0.2f, 1,     0.1f, 0.2f, -1,   3,     -1.2f, 2,    -5,   4,     -3,
                                   0.3f, 2,    -1.1f, 0.7f, -1,   0.8f, -0.9f, -0.3f, 1,    0.5f, -0.6f, -0.9f};

CASE(texture_read, cube_point)
{
    CUtexObject texture = image_texture(ramp(4, 4, 6, CUDA_ARRAY3D_CUBEMAP, 1, 4, 16), CU_TR_ADDRESS_MODE_CLAMP,
                                        CU_TR_FILTER_MODE_POINT, NORMALIZED);
    image_say(tex_cube, texture, 3, directions, 12, 1, 0);
}

CASE(texture_read, cube_edges)
{
    static const float edges[] = {1, 1, 0, 1, 0, 1, 0, 1, 1, 1, 1, 1, -1, 1, 0, -1, -1, -1, 0, 0, 0, 1, -1, 1};
    CUtexObject texture = image_texture(ramp(4, 4, 6, CUDA_ARRAY3D_CUBEMAP, 1, 4, 16), CU_TR_ADDRESS_MODE_CLAMP,
                                        CU_TR_FILTER_MODE_POINT, NORMALIZED);
    image_say(tex_cube, texture, 3, edges, 8, 1, 0);
}

CASE(texture_read, cube_linear)
{
    CUtexObject texture = image_texture(ramp(4, 4, 6, CUDA_ARRAY3D_CUBEMAP, 1, 4, 16), CU_TR_ADDRESS_MODE_CLAMP,
                                        CU_TR_FILTER_MODE_LINEAR, NORMALIZED);
    image_say(tex_cube, texture, 3, directions, 12, 1, 2);
}

CASE(texture_read, cube_seamless)
{
    static const float edges[] = {1, 0.9f, 0.2f, 1, 0.95f, -0.97f, 0.9f, -1, 0.3f, -0.2f, 0.93f, -1, 1, 0.999f, 0.999f};
    CUtexObject texture = image_texture(ramp(4, 4, 6, CUDA_ARRAY3D_CUBEMAP, 1, 4, 16), CU_TR_ADDRESS_MODE_CLAMP,
                                        CU_TR_FILTER_MODE_LINEAR, NORMALIZED | CU_TRSF_SEAMLESS_CUBEMAP);
    image_say(tex_cube, texture, 3, edges, 5, 1, 2);
}

CASE(texture_read, cube_layers)
{
    unsigned operands[3][IMAGE_OPERANDS] = {{0}}, results[3][IMAGE_RESULTS];
    CUtexObject texture = image_texture(ramp(4, 4, 12, CUDA_ARRAY3D_CUBEMAP | CUDA_ARRAY3D_LAYERED, 1, 4, 16),
                                        CU_TR_ADDRESS_MODE_CLAMP, CU_TR_FILTER_MODE_POINT, NORMALIZED);
    for (unsigned i = 0; i < 3; i++) {
        operands[i][0] = i;
        operands[i][1] = image_bits(0.2f);
        operands[i][2] = image_bits(-0.6f);
        operands[i][3] = image_bits(i == 1 ? -1.0f : 1.0f);
    }
    image_run(NULL, "tex.acube.v4.f32.f32 {%o0, %o1, %o2, %o3}, [%rd0, {%r0, %f1, %f2, %f3}];", texture, 3,
              (const unsigned(*)[IMAGE_OPERANDS])operands, results);
    for (unsigned i = 0; i < 3; i++)
        say_float(image_float(results[i][0]), 0);
}

/* ---- levels of detail ---- */

/* Level l of 16 x 16 texels and down holds 1000 * l + x, in every row. */
static CUtexObject levels(CUfilter_mode between, float bias, float low, float high)
{
    const CUDA_ARRAY3D_DESCRIPTOR desc = {16, 16, 0, F, 1, 0};
    CUDA_RESOURCE_DESC resource;
    CUDA_TEXTURE_DESC reading;
    CUtexObject texture;
    memset(&resource, 0, sizeof resource);
    memset(&reading, 0, sizeof reading);
    resource.resType = CU_RESOURCE_TYPE_MIPMAPPED_ARRAY;
    NEED(cuMipmappedArrayCreate(&resource.res.mipmap.hMipmappedArray, &desc, 4));
    for (unsigned l = 0; l < 4; l++) {
        float values[256];
        CUarray level;
        unsigned size = 16u >> l;
        for (unsigned i = 0; i < size * size; i++)
            values[i] = (float)(1000 * l + i % size);
        NEED(cuMipmappedArrayGetLevel(&level, resource.res.mipmap.hMipmappedArray, l));
        image_fill(level, values, size * 4, size, 1);
    }
    for (unsigned i = 0; i < 3; i++)
        reading.addressMode[i] = CU_TR_ADDRESS_MODE_CLAMP;
    reading.flags = NORMALIZED;
    reading.mipmapFilterMode = between;
    reading.mipmapLevelBias = bias;
    reading.minMipmapLevelClamp = low;
    reading.maxMipmapLevelClamp = high;
    NEED(cuTexObjectCreate(&texture, &resource, &reading, NULL));
    return texture;
}

static void say_levels(CUtexObject texture)
{
    static const float level[] = {0, 0.25f, 0.49f, 0.5f, 0.51f, 1, 1.5f, 1.75f, 2.3f, 3, 4, -1, 100};
    unsigned operands[13][IMAGE_OPERANDS] = {{0}}, results[13][IMAGE_RESULTS];
    for (unsigned i = 0; i < 13; i++) {
        operands[i][0] = operands[i][1] = image_bits(0.53f);
        operands[i][2] = image_bits(level[i]);
    }
    image_run(NULL, "tex.level.2d.v4.f32.f32 {%o0, %o1, %o2, %o3}, [%rd0, {%f0, %f1}], %f2;", texture, 13,
              (const unsigned(*)[IMAGE_OPERANDS])operands, results);
    for (unsigned i = 0; i < 13; i++)
        say_float(image_float(results[i][0]), 2);
}

CASE(texture_read, levels_point)
{
    say_levels(levels(CU_TR_FILTER_MODE_POINT, 0, 0, 10));
}
CASE(texture_read, levels_linear)
{
    say_levels(levels(CU_TR_FILTER_MODE_LINEAR, 0, 0, 10));
}
CASE(texture_read, levels_bias)
{
    say_levels(levels(CU_TR_FILTER_MODE_LINEAR, 0.75f, 0, 10));
}
CASE(texture_read, levels_clamped)
{
    say_levels(levels(CU_TR_FILTER_MODE_LINEAR, 0, 0.5f, 2.25f));
}
CASE(texture_read, levels_clamped_to_zero)
{
    say_levels(levels(CU_TR_FILTER_MODE_LINEAR, 0, 0, 0));
}

CASE(texture_read, levels_none)
{
    static const float at[] = {0.53f, 0.53f};
    image_say(tex_2d, levels(CU_TR_FILTER_MODE_LINEAR, 0, 0, 10), 2, at, 1, 1, 2);
    image_say(tex_2d, levels(CU_TR_FILTER_MODE_LINEAR, 1.5f, 0, 10), 2, at, 1, 1, 2);
    image_say(tex_2d, levels(CU_TR_FILTER_MODE_LINEAR, 0, 1.25f, 10), 2, at, 1, 1, 2);
    image_say("tex.base.2d.v4.f32.f32 {%o0, %o1, %o2, %o3}, [%rd0, {%f0, %f1}];",
              levels(CU_TR_FILTER_MODE_LINEAR, 0, 1.25f, 10), 2, at, 1, 1, 2);
}

CASE(texture_read, level_of_plain_array)
{
    static const float at[] = {0.53f, 0.53f, 2};
    CUtexObject texture =
        image_texture(ramp(8, 8, 0, 0, 1, 10, 0), CU_TR_ADDRESS_MODE_CLAMP, CU_TR_FILTER_MODE_POINT, NORMALIZED);
    image_say("tex.level.2d.v4.f32.f32 {%o0, %o1, %o2, %o3}, [%rd0, {%f0, %f1}], %f2;", texture, 3, at, 1, 1, 2);
}

CASE(texture_read, gradients)
{
    static const float steps[][4] = {{0, 0, 0, 0},
                                     {1.0f / 16, 0, 0, 1.0f / 16},
                                     {2.0f / 16, 0, 0, 2.0f / 16},
                                     {4.0f / 16, 0, 0, 4.0f / 16},
                                     {1.0f / 16, 0, 0, 4.0f / 16},
                                     {8.0f / 16, 0, 0, 8.0f / 16},
                                     {1, 1, 1, 1}};
    unsigned operands[7][IMAGE_OPERANDS] = {{0}}, results[7][IMAGE_RESULTS];
    for (unsigned i = 0; i < 7; i++) {
        operands[i][0] = operands[i][1] = image_bits(0.53f);
        for (unsigned k = 0; k < 4; k++)
            operands[i][2 + k] = image_bits(steps[i][k]);
    }
    image_run(NULL, "tex.grad.2d.v4.f32.f32 {%o0, %o1, %o2, %o3}, [%rd0, {%f0, %f1}], {%f2, %f3}, {%f4, %f5};",
              levels(CU_TR_FILTER_MODE_LINEAR, 0, 0, 10), 7, (const unsigned(*)[IMAGE_OPERANDS])operands, results);
    for (unsigned i = 0; i < 7; i++)
        say_float(image_float(results[i][0]), 0);
}

CASE(texture_read, gradients_bias)
{
    static const float steps[] = {1.0f / 16, 1.3f / 16, 2.0f / 16, 3.1f / 16, 0};
    unsigned operands[5][IMAGE_OPERANDS] = {{0}}, results[5][IMAGE_RESULTS];
    for (unsigned i = 0; i < 5; i++) {
        operands[i][0] = operands[i][1] = image_bits(0.53f);
        operands[i][2] = operands[i][5] = image_bits(steps[i]);
    }
    image_run(NULL, "tex.grad.2d.v4.f32.f32 {%o0, %o1, %o2, %o3}, [%rd0, {%f0, %f1}], {%f2, %f3}, {%f4, %f5};",
              levels(CU_TR_FILTER_MODE_LINEAR, 0.75f, 0, 10), 5, (const unsigned(*)[IMAGE_OPERANDS])operands, results);
    for (unsigned i = 0; i < 5; i++)
        say_float(image_float(results[i][0]), 0);
}

/* ---- gathers, offsets ---- */

CASE(texture_read, gather)
{
    CUarray array = ramp(4, 4, 0, CUDA_ARRAY3D_TEXTURE_GATHER, 1, 10, 0);
    static const float at[] = {1.5f, 1.5f, 1.75f, 1.25f, 0.25f, 3.75f, 1.999f, 2.001f, 2, 2, 5, -3};
    CUtexObject texture = image_texture(array, CU_TR_ADDRESS_MODE_CLAMP, CU_TR_FILTER_MODE_LINEAR, 0);
    image_say("tld4.r.2d.v4.f32.f32 {%o0, %o1, %o2, %o3}, [%rd0, {%f0, %f1}];", texture, 2, at, 6, 4, 0);
    image_say("tld4.g.2d.v4.f32.f32 {%o0, %o1, %o2, %o3}, [%rd0, {%f0, %f1}];", texture, 2, at, 1, 4, 0);
}

CASE(texture_read, offsets)
{
    CUtexObject texture =
        image_texture(ramp(8, 8, 0, 0, 1, 10, 0), CU_TR_ADDRESS_MODE_CLAMP, CU_TR_FILTER_MODE_POINT, 0);
    CUtexObject wrapped =
        image_texture(ramp(8, 8, 0, 0, 1, 10, 0), CU_TR_ADDRESS_MODE_WRAP, CU_TR_FILTER_MODE_LINEAR, NORMALIZED);
    static const float at[] = {2.5f, 3.5f, 7.5f, 0.5f};
    static const float near[] = {0.31f, 0.44f, 0.97f, 0.03f};
    image_say("tex.2d.v4.f32.f32 {%o0, %o1, %o2, %o3}, [%rd0, {%f0, %f1}], {2, -1};", texture, 2, at, 2, 1, 2);
    image_say("tex.2d.v4.f32.f32 {%o0, %o1, %o2, %o3}, [%rd0, {%f0, %f1}], {2, -1};", wrapped, 2, near, 2, 1, 2);
}

CASE(texture_read, view)
{
    static const unsigned words[4] = {0x3f800000, 0x40000000, 0xff800001, 0x01020304};
    static const float at[] = {0, 1, 3};
    CUDA_RESOURCE_DESC resource;
    CUDA_TEXTURE_DESC desc;
    CUDA_RESOURCE_VIEW_DESC view;
    CUtexObject texture;
    memset(&resource, 0, sizeof resource);
    memset(&desc, 0, sizeof desc);
    memset(&view, 0, sizeof view);
    resource.resType = CU_RESOURCE_TYPE_ARRAY;
    resource.res.array.hArray = image_array(4, 0, 0, CU_AD_FORMAT_UNSIGNED_INT32, 1, 0);
    image_fill(resource.res.array.hArray, words, 16, 1, 1);
    desc.flags = CU_TRSF_READ_AS_INTEGER;
    view.format = CU_RES_VIEW_FORMAT_SINT_2X16;
    view.width = 4;
    NEED(cuTexObjectCreate(&texture, &resource, &desc, &view));
    say_words("tex.1d.v4.s32.f32 {%o0, %o1, %o2, %o3}, [%rd0, {%f0}];", texture, 3, at, 2);
}

CASE(texture_read, not_a_number)
{
    static const float at[] = {__builtin_nanf("")};
    image_say(tex_1d, image_texture(ramp(8, 0, 0, 0, 1, 0, 0), CU_TR_ADDRESS_MODE_CLAMP, CU_TR_FILTER_MODE_POINT, 0), 1,
              at, 1, 1, 2);
}

CASE(texture_read, istypep)
{
    unsigned operands[1][IMAGE_OPERANDS] = {{0}}, results[1][IMAGE_RESULTS];
    image_run(NULL,
              "istypep.texref %p0, %rd0; selp.b32 %o0, 1, 0, %p0; istypep.surfref %p1, %rd0; selp.b32 %o1, 1, 0, %p1;",
              image_texture(ramp(8, 0, 0, 0, 1, 0, 0), CU_TR_ADDRESS_MODE_CLAMP, CU_TR_FILTER_MODE_POINT, 0), 1,
              (const unsigned(*)[IMAGE_OPERANDS])operands, results);
    say_int((int)results[0][0]);
    say_int((int)results[0][1]);
}

CASE(texture_read, other_geometry, .alone = true, .allow = "*", .why = "undefined")
{
    static const float at[] = {1, 1, 1};
    CUtexObject texture =
        image_texture(ramp(8, 0, 0, 0, 1, 0, 0), CU_TR_ADDRESS_MODE_CLAMP, CU_TR_FILTER_MODE_POINT, 0);
    image_say(tex_2d, texture, 2, at, 1, 1, 2);
}

CASE(texture_read, no_texture, .alone = true, .allow = "CUDA_ERROR_ILLEGAL_ADDRESS", .why = "undefined")
{
    unsigned operands[1][IMAGE_OPERANDS] = {{0}}, results[1][IMAGE_RESULTS];
    say(image_launch(image_module(NULL, tex_1d), 0x7777, 1, (const unsigned(*)[IMAGE_OPERANDS])operands, results));
}

/* What PTX has beside the result, the texture and the coordinates, and what hardware makes of it with textures that the
 * driver can create. */
static void say_row(const char *target, const char *instruction, CUtexObject texture, unsigned reads, const float *at,
                    bool whole)
{
    unsigned operands[IMAGE_THREADS_MAX][IMAGE_OPERANDS], results[IMAGE_THREADS_MAX][IMAGE_RESULTS];
    memset(operands, 0, sizeof operands);
    for (unsigned i = 0; i < reads; i++)
        for (unsigned j = 0; j < 4; j++)
            operands[i][j] = whole ? (unsigned)(int)at[4 * i + j] : image_bits(at[4 * i + j]);
    say(image_launch(image_module_for(target, NULL, instruction), texture, reads,
                     (const unsigned(*)[IMAGE_OPERANDS])operands, results));
    for (unsigned i = 0; i < reads; i++) {
        say_float(image_float(results[i][0]), 2);
        say_int((int)results[i][3]);
    }
}

#define BESIDE "sm_75"
#define APART "sm_75, texmode_independent"

static CUtexObject plain(CUfilter_mode filter, unsigned flags)
{
    return image_texture(ramp(8, 8, 0, 0, 1, 10, 0), CU_TR_ADDRESS_MODE_BORDER, filter, flags);
}

static const float inside_and_out[] = {2.5f, 3.5f, 0, 0, 7.9f, 7.9f, 0, 0, 8.5f, 1, 0, 0, -3, 0.5f, 0, 0, 1, 100, 0, 0};

CASE(texture_read, resident)
{
    say_row(BESIDE, "tex.2d.v4.f32.f32 {%o0, %o1, %o2, %o3}|%p0, [%rd0, {%f0, %f1}]; selp.b32 %o3, 1, 2, %p0;",
            plain(CU_TR_FILTER_MODE_POINT, 0), 5, inside_and_out, false);
    say_row(BESIDE,
            "tex.level.2d.v4.f32.f32 {%o0, %o1, %o2, %o3}|%p0, [%rd0, {%f0, %f1}], %f0; selp.b32 %o3, 1, 2, %p0;",
            plain(CU_TR_FILTER_MODE_LINEAR, 0), 5, inside_and_out, false);
    say_row(BESIDE, "tex.2d.v4.s32.s32 {%o0, %o1, %o2, %o3}|%p0, [%rd0, {%r0, %r1}]; selp.b32 %o3, 1, 2, %p0;",
            plain(CU_TR_FILTER_MODE_POINT, 0), 5, inside_and_out, true);
    say_row(BESIDE, "tld4.g.2d.v4.f32.f32 {%o0, %o1, %o2, %o3}|%p0, [%rd0, {%f0, %f1}]; selp.b32 %o3, 1, 2, %p0;",
            plain(CU_TR_FILTER_MODE_POINT, 0), 5, inside_and_out, false);
}

/* The other sampler wraps and filters, and is not looked at. */
CASE(texture_read, sampler_apart)
{
    CUtexObject other =
        image_texture(ramp(4, 4, 0, 0, 1, 1, 0), CU_TR_ADDRESS_MODE_WRAP, CU_TR_FILTER_MODE_LINEAR, NORMALIZED);
    char text[256];
    snprintf(
        text, sizeof text,
        "mov.b64 %%rd3, %llu; tex.2d.v4.f32.f32 {%%o0, %%o1, %%o2, %%o3}, [%%rd0, %%rd3, {%%f0, %%f1}]; mov.b32 %%o3, 0;",
        other);
    say_row(APART, text, plain(CU_TR_FILTER_MODE_POINT, 0), 5, inside_and_out, false);
    say_row(APART, "mov.b64 %rd3, 0; tex.2d.v4.f32.f32 {%o0, %o1, %o2, %o3}, [%rd0, %rd3, {%f0, %f1}]; mov.b32 %o3, 0;",
            plain(CU_TR_FILTER_MODE_LINEAR, 0), 5, inside_and_out, false);
    snprintf(
        text, sizeof text,
        "mov.b64 %%rd3, %llu; tld4.r.2d.v4.f32.f32 {%%o0, %%o1, %%o2, %%o3}, [%%rd0, %%rd3, {%%f0, %%f1}]; mov.b32 %%o3, %%o2;",
        other);
    say_row(APART, text, plain(CU_TR_FILTER_MODE_POINT, 0), 5, inside_and_out, false);
}

/* Without a function to compare with, which the driver's textures lack, it is an ordinary read. */
CASE(texture_read, depth_compare)
{
    static const float at[] = {2.5f, 3.5f, 0,    0,    2.5f,  3.5f, 1e9f, 0,    2.5f, 3.5f,
                               -1,   0,    2.5f, 3.5f, 32.5f, 0,    2.5f, 3.5f, 32,   0};
    say_row(BESIDE, "tex.2d.v4.f32.f32 {%o0, %o1, %o2, %o3}, [%rd0, {%f0, %f1}], %f2; mov.b32 %o3, 0;",
            plain(CU_TR_FILTER_MODE_POINT, 0), 5, at, false);
    say_row(
        BESIDE,
        "tex.level.2d.v4.f32.f32 {%o0, %o1, %o2, %o3}, [%rd0, {%f0, %f1}], 0f00000000, {1, 1}, %f2; mov.b32 %o3, 0;",
        plain(CU_TR_FILTER_MODE_LINEAR, 0), 5, at, false);
    say_row(BESIDE, "tld4.r.2d.v4.f32.f32 {%o0, %o1, %o2, %o3}, [%rd0, {%f0, %f1}], %f2; mov.b32 %o3, %o2;",
            plain(CU_TR_FILTER_MODE_POINT, 0), 5, at, false);
}

/* An ordinary texture has the first sample only. */
CASE(texture_read, samples)
{
    static const float at[] = {0, 2, 3, 0, 1, 2, 3, 0, -1, 2, 3, 0, 0, 8, 0, 0, 0, -1, 7, 0, 0, 7, 7, 0};
    CUtexObject layers = image_texture(ramp(4, 4, 3, CUDA_ARRAY3D_LAYERED, 1, 10, 100), CU_TR_ADDRESS_MODE_CLAMP,
                                       CU_TR_FILTER_MODE_POINT, 0);
    static const float layered[] = {0, 0, 2, 3, 1, 0, 2,  3, 2, 0, 1, 1, 3, 0,
                                    1, 1, 1, 1, 2, 3, -1, 0, 1, 1, 1, 0, 4, 1};
    say_row(BESIDE, "tex.2dms.v4.f32.s32 {%o0, %o1, %o2, %o3}, [%rd0, {%r0, %r1, %r2, %r3}];",
            plain(CU_TR_FILTER_MODE_POINT, 0), 6, at, true);
    say_row(BESIDE, "tex.base.2dms.v4.f32.s32 {%o0, %o1, %o2, %o3}, [%rd0, {%r0, %r1, %r2, %r3}];",
            plain(CU_TR_FILTER_MODE_POINT, 0), 6, at, true);
    say_row(BESIDE, "tex.a2dms.v4.f32.s32 {%o0, %o1, %o2, %o3}, [%rd0, {%r0, %r1, %r2, %r3}];", layers, 7, layered,
            true);
}

/* Of more coordinates or offsets than the geometry has the first ones count; an integer beside the coordinates without
 * braces is not looked at. */
CASE(texture_read, more_than_the_geometry)
{
    CUtexObject row = image_texture(ramp(16, 0, 0, 0, 1, 0, 0), CU_TR_ADDRESS_MODE_CLAMP, CU_TR_FILTER_MODE_POINT, 0);
    CUtexObject plane = plain(CU_TR_FILTER_MODE_POINT, 0);
    static const float at[] = {3.5f, 1.5f, 9.5f, 2.5f};
    static const char *const of_rows[] = {"{%f0}], {2, 5};",
                                          "{%f0}], {-1, 9, 9, 9};",
                                          "{%f0, %f1}], {1};",
                                          "{%f0, %f1, %f1, %f1}];",
                                          "{%f0}], 3;",
                                          "{%f0}], %s;",
                                          "{%f0}], %r2;",
                                          "{%f0}], %r2, %f0;",
                                          "{%f0}], {%r2, %f0}, %f0;",
                                          "{%f0}], %s, %f0;"};
    static const char *const of_planes[] = {
        "{%f0, %f1, %f1, %f0}];", "{%f0, %f1}], {1, 2, 3, 4};", "{%f0, %f1, %f0, %f0}], {2, 1};",
        "{%f0, %f1}], 3;",        "{%f0, %f1}], %s;",           "{%f0, %f1}], %r1;"};
    char text[256];
    for (size_t i = 0; i < sizeof of_rows / sizeof *of_rows; i++) {
        snprintf(
            text, sizeof text,
            "{ .reg .s32 %%s; mov.s32 %%s, 3; mov.b32 %%r2, 2; tex.1d.v4.f32.f32 {%%o0, %%o1, %%o2, %%o3}, [%%rd0, %s }",
            of_rows[i]);
        image_say(text, row, 2, at, 2, 1, 1);
    }
    for (size_t i = 0; i < sizeof of_planes / sizeof *of_planes; i++) {
        snprintf(text, sizeof text,
                 "{ .reg .s32 %%s; mov.s32 %%s, 3; tex.2d.v4.f32.f32 {%%o0, %%o1, %%o2, %%o3}, [%%rd0, %s }",
                 of_planes[i]);
        image_say(text, plane, 2, at, 2, 1, 1);
    }
    snprintf(
        text, sizeof text,
        "{ .reg .f32 t; tld4.r.2d.v4.f32.f32 {%%o0, %%o1, %%o2, %%o3}, [%%rd0, {%%f0, %%f1, %%f0, %%f0}], {1, 1, 5, 5}; }");
    image_say(text,
              image_texture(ramp(16, 4, 0, CUDA_ARRAY3D_TEXTURE_GATHER, 1, 20, 0), CU_TR_ADDRESS_MODE_CLAMP,
                            CU_TR_FILTER_MODE_LINEAR, 0),
              2, at, 2, 4, 0);
}

/* The same of surfaces. */
CASE(texture_read, more_than_the_surface)
{
    CUarray array = ramp(16, 0, 0, CUDA_ARRAY3D_SURFACE_LDST, 1, 0, 0);
    unsigned operands[4][IMAGE_OPERANDS] = {{0, 4}, {8, 4}, {20, 64}, {60, 1}}, results[4][IMAGE_RESULTS];
    image_run(
        NULL,
        "suld.b.1d.b32.trap %o0, [%rd0, {%r0, %r1}]; suld.b.1d.b32.trap %o1, [%rd0, {%r0, %r1, %r1, %r1}]; mov.b32 %o2, 0; mov.b32 %o3, 0;",
        image_surface(array), 4, (const unsigned(*)[IMAGE_OPERANDS])operands, results);
    for (int i = 0; i < 4; i++) {
        say_float(image_float(results[i][0]), 1);
        say_float(image_float(results[i][1]), 1);
    }
}
