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

/* IEC 61966-2-1: what an sRGB number of 8 bits stands for. */
static float from_srgb(float value)
{
    return value <= 0.04045f ? value / 12.92f : powf((value + 0.055f) / 1.055f, 2.4f);
}

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

void mr_texel_read(const struct mr_texel_format *format, bool as_integer, bool srgb, const void *from, union mr_texel *out)
{
    if (format->kind == MR_TEXEL_FLOAT && format->channel == 4) {
        *out = (union mr_texel){ .f = { 0 } };
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
        float value = channel_value(format, bits);
        out->f[i] = srgb && i < 3 ? from_srgb(value) : value;
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
    float scale = is_signed ? (bytes == 1 ? 127.0f : 32767.0f) : (bytes == 1 ? 255.0f : 65535.0f), least = is_signed ? -1.0f : 0.0f;
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
        case MR_TEXEL_FLOAT: bits = format->channel == 2 ? mr_float_to_half(bits_float(bits)) : bits; break;
        case MR_TEXEL_UNORM: case MR_TEXEL_SNORM: bits = to_normalized(bits_float(bits), format->channel, format->kind == MR_TEXEL_SNORM); break;
        case MR_TEXEL_SINT: bits = clamp_signed(bits, format->channel); break;
        default: bits = clamp_unsigned(bits, format->channel); break;
        }
        memcpy((char *)to + i * format->channel, &bits, format->channel);
    }
}
