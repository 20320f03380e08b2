/* SPDX-License-Identifier: Apache-2.0 */
/* Elements of textures and surfaces: from memory to numbers and back. */
#include "kernel/image.h"

#include <math.h>
#include <string.h>

static uint32_t float_bits(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static float bits_float(uint32_t bits)
{
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

float mr_half_to_float(uint16_t half)
{
    uint32_t sign = (uint32_t)(half & 0x8000u) << 16, exponent = half >> 10 & 31u, fraction = half & 0x3ffu;
    if (exponent == 31)
        return bits_float(sign | 0x7f800000u | fraction << 13);
    if (exponent)
        return bits_float(sign | (exponent + 112) << 23 | fraction << 13);
    float small = (float)fraction * 0x1p-24f;
    return sign ? -small : small;
}

uint16_t mr_float_to_half(float value)
{
    uint32_t bits = float_bits(value), sign = bits >> 16 & 0x8000u, rest = bits & 0x7fffffffu;
    if (rest > 0x7f800000u)
        return 0x7fff;
    if (rest >= 0x477ff000u) /* rounds to more than the largest */
        return (uint16_t)(sign | 0x7c00u);
    if (rest < 0x38800000u) {
        /* A subnormal: in steps of 2^-24. Adding 0.5 makes the last place of the sum that step. */
        float sum = bits_float(rest) + 0.5f;
        return (uint16_t)(sign | (float_bits(sum) - float_bits(0.5f)));
    }
    rest += 0xfffu + (rest >> 13 & 1u);
    return (uint16_t)(sign | (rest - 0x38000000u) >> 13);
}

/* What the 256 numbers of sRGB stand for, as hardware decodes them: the upper halves of floats. */
static const uint16_t srgb[256] = {
    0x0000, 0x39a0, 0x3a20, 0x3a70, 0x3aa0, 0x3ac8, 0x3af0, 0x3b0c, 0x3b20, 0x3b34, 0x3b48, 0x3b5c, 0x3b70, 0x3b84,
    0x3b90, 0x3b9c, 0x3baa, 0x3bb8, 0x3bc6, 0x3bd6, 0x3be6, 0x3bf6, 0x3c03, 0x3c0c, 0x3c16, 0x3c1f, 0x3c29, 0x3c34,
    0x3c3e, 0x3c49, 0x3c55, 0x3c60, 0x3c6c, 0x3c7a, 0x3c83, 0x3c8a, 0x3c91, 0x3c98, 0x3c9f, 0x3ca6, 0x3cae, 0x3cb6,
    0x3cbe, 0x3cc6, 0x3cce, 0x3cd7, 0x3ce0, 0x3ce9, 0x3cf2, 0x3cfc, 0x3d03, 0x3d08, 0x3d0d, 0x3d12, 0x3d17, 0x3d1c,
    0x3d22, 0x3d28, 0x3d2d, 0x3d33, 0x3d39, 0x3d3f, 0x3d45, 0x3d4c, 0x3d52, 0x3d58, 0x3d60, 0x3d66, 0x3d6c, 0x3d74,
    0x3d7a, 0x3d81, 0x3d85, 0x3d88, 0x3d8c, 0x3d90, 0x3d94, 0x3d98, 0x3d9c, 0x3da0, 0x3da4, 0x3da9, 0x3dad, 0x3db1,
    0x3db6, 0x3dba, 0x3dbf, 0x3dc3, 0x3dc8, 0x3dcd, 0x3dd1, 0x3dd6, 0x3ddb, 0x3de0, 0x3de5, 0x3dea, 0x3df0, 0x3df4,
    0x3dfa, 0x3e00, 0x3e02, 0x3e05, 0x3e08, 0x3e0b, 0x3e0e, 0x3e11, 0x3e14, 0x3e17, 0x3e1a, 0x3e1d, 0x3e20, 0x3e23,
    0x3e26, 0x3e29, 0x3e2c, 0x3e30, 0x3e33, 0x3e36, 0x3e3a, 0x3e3d, 0x3e40, 0x3e44, 0x3e47, 0x3e4b, 0x3e4e, 0x3e52,
    0x3e56, 0x3e59, 0x3e5d, 0x3e61, 0x3e65, 0x3e68, 0x3e6c, 0x3e70, 0x3e74, 0x3e78, 0x3e7c, 0x3e80, 0x3e82, 0x3e84,
    0x3e86, 0x3e88, 0x3e8a, 0x3e8d, 0x3e8f, 0x3e91, 0x3e93, 0x3e95, 0x3e98, 0x3e9a, 0x3e9c, 0x3e9e, 0x3ea1, 0x3ea3,
    0x3ea5, 0x3ea8, 0x3eaa, 0x3ead, 0x3eaf, 0x3eb2, 0x3eb4, 0x3eb6, 0x3eb9, 0x3ebc, 0x3ebe, 0x3ec1, 0x3ec3, 0x3ec6,
    0x3ec8, 0x3ecb, 0x3ece, 0x3ed1, 0x3ed3, 0x3ed6, 0x3ed9, 0x3edb, 0x3ede, 0x3ee1, 0x3ee4, 0x3ee7, 0x3eea, 0x3eed,
    0x3ef0, 0x3ef2, 0x3ef6, 0x3ef8, 0x3efc, 0x3efe, 0x3f01, 0x3f02, 0x3f04, 0x3f05, 0x3f07, 0x3f09, 0x3f0a, 0x3f0c,
    0x3f0d, 0x3f0f, 0x3f11, 0x3f12, 0x3f14, 0x3f16, 0x3f17, 0x3f19, 0x3f1b, 0x3f1c, 0x3f1e, 0x3f20, 0x3f21, 0x3f23,
    0x3f25, 0x3f27, 0x3f29, 0x3f2a, 0x3f2c, 0x3f2e, 0x3f30, 0x3f32, 0x3f33, 0x3f35, 0x3f37, 0x3f39, 0x3f3b, 0x3f3d,
    0x3f3f, 0x3f41, 0x3f43, 0x3f45, 0x3f47, 0x3f49, 0x3f4b, 0x3f4d, 0x3f4f, 0x3f51, 0x3f53, 0x3f55, 0x3f57, 0x3f59,
    0x3f5b, 0x3f5d, 0x3f5f, 0x3f61, 0x3f63, 0x3f65, 0x3f68, 0x3f6a, 0x3f6c, 0x3f6e, 0x3f70, 0x3f72, 0x3f74, 0x3f76,
    0x3f7a, 0x3f7c, 0x3f7e, 0x3f80,
};

static uint32_t load(const void *from, unsigned channel, unsigned bytes)
{
    uint32_t bits = 0;
    memcpy(&bits, (const char *)from + channel * bytes, bytes);
    return bits;
}

static int32_t extend(uint32_t bits, unsigned bytes)
{
    return bytes == 1 ? (int8_t)bits : bytes == 2 ? (int16_t)bits : (int32_t)bits;
}

static float channel_value(const struct mr_texel_format *format, uint32_t bits)
{
    unsigned bytes = format->channel;
    switch (format->kind) {
    case MR_TEXEL_FLOAT:
        return bytes == 2 ? mr_half_to_float((uint16_t)bits) : bits_float(bits);
    case MR_TEXEL_UNORM:
        return (float)bits / (bytes == 1 ? 255.0f : 65535.0f);
    case MR_TEXEL_SNORM: {
        float value = (float)extend(bits, bytes) / (bytes == 1 ? 127.0f : 32767.0f);
        return value < -1.0f ? -1.0f : value;
    }
    case MR_TEXEL_SINT:
        return (float)extend(bits, bytes);
    default:
        return (float)bits;
    }
}

void mr_texel_read(const struct mr_texel_format *format, bool as_integer, bool is_srgb, const void *from,
                   union mr_texel *out)
{
    if (format->kind == MR_TEXEL_FLOAT && format->channel == 4) {
        *out = (union mr_texel){.f = {0}};
        memcpy(out->f, from, format->bytes);
        return;
    }
    for (unsigned i = 0; i < 4; i++) {
        if (i >= format->channels) {
            out->u[i] = 0;
            continue;
        }
        uint32_t bits = load(from, i, format->channel);
        if (as_integer) {
            out->u[i] = format->kind == MR_TEXEL_SINT ? (uint32_t)extend(bits, format->channel) : bits;
            continue;
        }
        out->f[i] = is_srgb && i < 3 ? bits_float((uint32_t)srgb[bits & 255] << 16) : channel_value(format, bits);
    }
}

static uint32_t clamp_signed(uint32_t word, unsigned bytes)
{
    int32_t value = (int32_t)word, most = bytes == 1 ? INT8_MAX : bytes == 2 ? INT16_MAX : INT32_MAX;
    return (uint32_t)(value > most ? most : value < -most - 1 ? -most - 1 : value);
}

static uint32_t clamp_unsigned(uint32_t word, unsigned bytes)
{
    uint32_t most = bytes == 1 ? UINT8_MAX : bytes == 2 ? UINT16_MAX : UINT32_MAX;
    return word > most ? most : word;
}

static uint32_t to_normalized(float value, unsigned bytes, bool is_signed)
{
    float scale = is_signed ? (bytes == 1 ? 127.0f : 32767.0f) : (bytes == 1 ? 255.0f : 65535.0f),
          least = is_signed ? -1.0f : 0.0f;
    if (!(value > least))
        value = isnan(value) ? 0.0f : least;
    if (value > 1.0f)
        value = 1.0f;
    return (uint32_t)(int32_t)rintf(value * scale);
}

void mr_texel_write(const struct mr_texel_format *format, void *to, const uint32_t *channels)
{
    for (unsigned i = 0; i < format->channels; i++) {
        uint32_t bits = channels[i];
        switch (format->kind) {
        case MR_TEXEL_FLOAT:
            bits = format->channel == 2 ? mr_float_to_half(bits_float(bits)) : bits;
            break;
        case MR_TEXEL_UNORM:
        case MR_TEXEL_SNORM:
            bits = to_normalized(bits_float(bits), format->channel, format->kind == MR_TEXEL_SNORM);
            break;
        case MR_TEXEL_SINT:
            bits = clamp_signed(bits, format->channel);
            break;
        default:
            bits = clamp_unsigned(bits, format->channel);
            break;
        }
        memcpy((char *)to + i * format->channel, &bits, format->channel);
    }
}
