/* SPDX-License-Identifier: Apache-2.0 */
/* Reading textures by whole warps: what sample.c does for a lane, in steps that each do one thing for all lanes, so
 * that compilers make vectors of them. The steps are: each dimension's coordinates become numbers of texels (a *span*),
 * these become distances from the texture's first byte, texels are fetched, and their channels become numbers.
 *
 * The results have the same bits as sample.c's. So sums are in the same order, and coordinates are doubles where the
 * same calculation in floats would round.
 *
 * Rows, planes, volumes and their layers are read here, by any coordinates. Cubemaps, mipmapped arrays, offsets, sRGB
 * and reads that are noted take sample.c's way.
 *
 * Coordinates are calculated for all lanes, also for those that don't run. Of memory that a lane which runs does not
 * ask for, only the texture's first texel is read. */
#include "kernel/image.h"

#include <string.h>

#define LANES MR_WARP_LANES
#define STEPS MR_WEIGHT_STEPS
#define OUTSIDE MR_TEXEL_OUTSIDE
#define FAR MR_TEXEL_FAR
#define MOST (1u << 20)     /* of a texture's width, height or depth, where coordinates are not numbers of texels */
#define INLINE static inline __attribute__((always_inline))

#define ROW _Alignas(64)

/* Where lanes read in one dimension: two texels, and the second's weight in 256ths. */
struct span {
    ROW int32_t first[LANES];
    ROW int32_t second[LANES];
    ROW uint32_t weight[LANES];
};

struct warp_read {
    const struct mr_texture *texture;
    const struct mr_texels *texels;
    unsigned dimensions;
    bool linear;
    struct span spans[3];
    ROW uint32_t idle[LANES];  /* 1: the lane doesn't run */
    ROW uint32_t slice[LANES]; /* the layer */
    ROW uint32_t place[LANES]; /* of a texel: bytes from the first */
    ROW uint32_t out[LANES];   /* 1: it is the border, or outside, or nobody's */
    ROW uint32_t raw[4 * LANES];
    ROW uint32_t channels[4][LANES];
    ROW double sums[4][LANES];
};

/* ---- coordinates ---- */

INLINE void tame(const uint32_t *bits, float *at)
{
    memcpy(at, bits, sizeof(float[LANES]));
    for (unsigned i = 0; i < LANES; i++) {
        float x = at[i] == at[i] ? at[i] : 0.0f;
        x = x > FAR ? FAR : x;
        at[i] = x < -FAR ? -FAR : x;
    }
}

/* Coordinates from 0 to 1 in texels. Repeating modes are brought near first. */
INLINE void scale(double *x, int32_t size, CUaddress_mode mode)
{
    if (mode == CU_TR_ADDRESS_MODE_WRAP)
        for (unsigned i = 0; i < LANES; i++)
            x[i] -= __builtin_floor(x[i]);
    else if (mode == CU_TR_ADDRESS_MODE_MIRROR)
        for (unsigned i = 0; i < LANES; i++)
            x[i] -= 2 * __builtin_floor(x[i] / 2);
    const double most = (double)FAR;
    for (unsigned i = 0; i < LANES; i++) {
        double scaled = x[i] * size;
        scaled = scaled > most ? most : scaled;
        x[i] = scaled < -most ? -most : scaled;
    }
}

/* Numbers of texels brought inside, or OUTSIDE. Those of repeating modes are at most one texel out already. */
INLINE void bring_inside(int32_t *numbers, int32_t size, CUaddress_mode mode)
{
    switch (mode) {
    case CU_TR_ADDRESS_MODE_WRAP:
        for (unsigned i = 0; i < LANES; i++) {
            int32_t n = numbers[i];
            n += n < 0 ? size : 0;
            numbers[i] = n - (n >= size ? size : 0);
        }
        break;
    case CU_TR_ADDRESS_MODE_MIRROR:
        for (unsigned i = 0; i < LANES; i++) {
            int32_t n = numbers[i];
            n += n < 0 ? 2 * size : 0;
            n -= n >= 2 * size ? 2 * size : 0;
            numbers[i] = n < size ? n : 2 * size - 1 - n;
        }
        break;
    case CU_TR_ADDRESS_MODE_BORDER:
        for (unsigned i = 0; i < LANES; i++)
            numbers[i] = (uint32_t)numbers[i] < (uint32_t)size ? numbers[i] : OUTSIDE;
        break;
    default:
        for (unsigned i = 0; i < LANES; i++) {
            int32_t n = numbers[i] < 0 ? 0 : numbers[i];
            numbers[i] = n < size ? n : size - 1;
        }
        break;
    }
}

INLINE void find_span(const struct warp_read *read, const uint32_t *bits, unsigned dimension, int32_t size,
                      struct span *span)
{
    const struct mr_texture *texture = read->texture;
    CUaddress_mode mode = mr_sample_mode(texture, dimension);
    ROW float at[LANES];
    ROW double x[LANES];
    tame(bits, at);
    if (!read->linear && !texture->normalized) {
        for (unsigned i = 0; i < LANES; i++) {
            int32_t cut = (int32_t)at[i];
            span->first[i] = cut - (at[i] < (float)cut);
        }
        bring_inside(span->first, size, mode);
        return;
    }
    for (unsigned i = 0; i < LANES; i++)
        x[i] = (double)at[i];
    if (texture->normalized)
        scale(x, size, mode);
    if (!read->linear) {
        for (unsigned i = 0; i < LANES; i++) {
            int32_t cut = (int32_t)x[i];
            span->first[i] = cut - (x[i] < (double)cut);
        }
        bring_inside(span->first, size, mode);
        return;
    }
    for (unsigned i = 0; i < LANES; i++) {
        double fixed = __builtin_floor(x[i] * STEPS + 0.5) - STEPS * 0.5;
        double first = __builtin_floor(fixed * (1.0 / STEPS));
        span->weight[i] = (uint32_t)(int32_t)(fixed - first * STEPS);
        span->first[i] = (int32_t)first;
        span->second[i] = (int32_t)first + 1;
    }
    bring_inside(span->first, size, mode);
    bring_inside(span->second, size, mode);
}

/* ---- texels ---- */

/* Where the texels are that these numbers name, and which are out. `z` may be NULL. */
INLINE void find_places(struct warp_read *read, const int32_t *x, const int32_t *y, const int32_t *z)
{
    uint32_t bytes = read->texture->format.bytes, pitch = (uint32_t)read->texels->pitch,
             slice = (uint32_t)read->texels->slice;
    for (unsigned i = 0; i < LANES; i++) {
        read->out[i] = read->idle[i] | (uint32_t)(x[i] | y[i]) >> 31;
        read->place[i] = (uint32_t)x[i] * bytes + (uint32_t)y[i] * pitch;
    }
    for (unsigned i = 0; z && i < LANES; i++) {
        read->out[i] |= (uint32_t)z[i] >> 31;
        read->place[i] += (uint32_t)z[i] * slice;
    }
    if (read->texture->layered)
        for (unsigned i = 0; i < LANES; i++)
            read->place[i] += read->slice[i] * slice;
    for (unsigned i = 0; i < LANES; i++)
        read->place[i] = read->out[i] ? 0 : read->place[i];
}

/* What is at the places, one element behind the other. */
INLINE void gather(struct warp_read *read, unsigned bytes)
{
    const char *base = (const char *)read->texels->base;
    const uint32_t *place = read->place;
    char *raw = (char *)read->raw;
    uint32_t apart = 0;
    for (unsigned i = 0; i < LANES; i++)
        apart |= place[i] - place[0] - i * bytes;
    if (!apart) {
        memcpy(raw, base + place[0], (size_t)LANES * bytes);
        return;
    }
    for (unsigned i = 0; i < LANES; i += 4, raw += (size_t)4 * bytes) {
        memcpy(raw, base + place[i], bytes);
        memcpy(raw + bytes, base + place[i + 1], bytes);
        memcpy(raw + (size_t)2 * bytes, base + place[i + 2], bytes);
        memcpy(raw + (size_t)3 * bytes, base + place[i + 3], bytes);
    }
}

INLINE uint32_t float_bits(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

/* Integers without a sign as floats in [0, 1], or as they are. */
INLINE void take_unsigned(struct warp_read *read, unsigned channels, unsigned bytes, bool as_integer)
{
    const uint8_t *raw8 = (const uint8_t *)read->raw;
    const uint16_t *raw16 = (const uint16_t *)read->raw;
    float most = bytes == 1 ? 255.0f : 65535.0f;
    for (unsigned c = 0; c < channels; c++)
        for (unsigned i = 0; i < LANES; i++) {
            uint32_t bits = bytes == 1 ? raw8[i * channels + c] : raw16[i * channels + c];
            read->channels[c][i] = as_integer ? bits : float_bits((float)(int32_t)bits / most);
        }
}

/* A channel that is out, as float_bits or a whole number. */
static uint32_t border(const struct mr_texture *texture, bool by_number, unsigned channel)
{
    float value = by_number ? 0.0f : texture->desc.borderColor[channel];
    if (!texture->as_integer)
        return float_bits(value);
    return value != value ? 0 : (uint32_t)(int64_t)(value > FAR ? FAR : value < -FAR ? -FAR : value);
}

/* The channels of the texels at the places. */
INLINE void fetch(struct warp_read *read, bool by_number)
{
    const struct mr_texture *texture = read->texture;
    const struct mr_texel_format *format = &texture->format;
    unsigned channels = format->channels, bytes = format->bytes;
    switch (bytes) {
    case 1:
        gather(read, 1);
        break;
    case 2:
        gather(read, 2);
        break;
    case 4:
        gather(read, 4);
        break;
    case 8:
        gather(read, 8);
        break;
    default:
        gather(read, 16);
        break;
    }
    bool plain = format->channel == 4 && (format->kind == MR_TEXEL_FLOAT || texture->as_integer),
         is_unsigned = format->channel < 4 &&
                       (format->kind == MR_TEXEL_UNORM || (format->kind == MR_TEXEL_UINT && texture->as_integer));
    if (plain && channels == 1) {
        memcpy(read->channels[0], read->raw, sizeof read->channels[0]);
    } else if (plain) {
        for (unsigned c = 0; c < channels; c++)
            for (unsigned i = 0; i < LANES; i++)
                read->channels[c][i] = read->raw[i * channels + c];
    } else if (is_unsigned && format->channel == 1 && channels == 4) {
        take_unsigned(read, 4, 1, texture->as_integer);
    } else if (is_unsigned && format->channel == 1) {
        take_unsigned(read, channels, 1, texture->as_integer);
    } else if (is_unsigned) {
        take_unsigned(read, channels, 2, texture->as_integer);
    } else {
        for (unsigned i = 0; i < LANES; i++) {
            union mr_texel texel;
            mr_texel_read(format, texture->as_integer, false, (const char *)read->raw + (size_t)i * bytes, &texel);
            for (unsigned c = 0; c < channels; c++)
                read->channels[c][i] = texel.u[c];
        }
    }
    uint32_t any = 0;
    for (unsigned i = 0; i < LANES; i++)
        any |= read->out[i];
    for (unsigned c = 0; any && c < channels; c++) {
        uint32_t value = border(texture, by_number, c);
        for (unsigned i = 0; i < LANES; i++)
            read->channels[c][i] = read->out[i] ? value : read->channels[c][i];
    }
}

/* ---- linear filters ---- */

/* The weights of the texels with these bits of x and z, at the first y and at the second: as sample.c's weigh(). */
INLINE void weigh(const struct warp_read *read, unsigned x, unsigned z, uint32_t *low, uint32_t *high)
{
    const uint32_t *a = read->spans[0].weight, *b = read->spans[1].weight, *c = read->spans[2].weight;
    bool volume = read->dimensions > 2;
    for (unsigned i = 0; i < LANES; i++) {
        uint32_t depth = volume ? c[i] : 0, both = mr_weight_part(a[i], depth);
        uint32_t column = x ? (z ? both : a[i] - both) : z ? depth - both : STEPS + both - a[i] - depth;
        low[i] = mr_weight_part(column, STEPS - b[i]);
        high[i] = column - low[i];
    }
}

INLINE float bits_float(uint32_t bits)
{
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* Texels of no weight add nothing, not even an infinity or a NaN. */
INLINE void add(struct warp_read *read, const uint32_t *weights, bool is_first)
{
    for (unsigned c = 0; c < read->texture->format.channels; c++)
        for (unsigned i = 0; i < LANES; i++) {
            double more = (double)(int32_t)weights[i] * (double)bits_float(read->channels[c][i]);
            more = weights[i] ? more : 0.0;
            read->sums[c][i] = (is_first ? 0.0 : read->sums[c][i]) + more;
        }
}

INLINE void blend(struct warp_read *read)
{
    const struct span *spans = read->spans;
    ROW uint32_t weights[4][LANES];
    for (unsigned z = 0; z < (read->dimensions > 2 ? 2 : 1); z++) {
        weigh(read, 0, z, weights[0], weights[2]);
        weigh(read, 1, z, weights[1], weights[3]);
        for (unsigned corner = 0; corner < 4; corner++) {
            find_places(read, corner & 1 ? spans[0].second : spans[0].first,
                        corner & 2 ? spans[1].second : spans[1].first,
                        read->dimensions > 2 ? (z ? spans[2].second : spans[2].first) : NULL);
            fetch(read, false);
            add(read, weights[corner], corner + z == 0);
        }
    }
    for (unsigned c = 0; c < read->texture->format.channels; c++)
        for (unsigned i = 0; i < LANES; i++)
            read->channels[c][i] = float_bits((float)(read->sums[c][i] * (1.0 / STEPS)));
}

/* ---- all of it ---- */

/* Whole numbers as coordinates: what is outside reads as zeros. */
INLINE void read_by_number(struct warp_read *read, const struct mr_image_lanes *lanes, unsigned first, unsigned count)
{
    const uint32_t sizes[3] = {read->texels->width, read->texels->height, read->texels->depth};
    for (unsigned d = 0; d < 3 && d < read->dimensions; d++)
        for (unsigned i = 0; i < LANES; i++) {
            uint32_t number = d < count ? lanes->at[first + d][i] : 0;
            read->spans[d].first[i] = number < sizes[d] ? (int32_t)number : OUTSIDE;
        }
    find_places(read, read->spans[0].first, read->spans[1].first, read->dimensions > 2 ? read->spans[2].first : NULL);
    fetch(read, true);
}

INLINE void read_all(struct warp_read *read, uint32_t code, const struct mr_image_lanes *lanes)
{
    ROW static const uint32_t zeros[LANES];
    const struct mr_texture *texture = read->texture;
    unsigned geom = MR_IMAGE_GET(code, GEOM), first = texture->layered,
             count = geom == MR_IMAGE_3D                           ? 3
                     : geom == MR_IMAGE_1D || geom == MR_IMAGE_A1D ? 1
                                                                   : 2;
    const uint32_t sizes[3] = {read->texels->width, read->texels->height, read->texels->depth};
    if (first)
        for (unsigned i = 0; i < LANES; i++) {
            uint32_t layer = lanes->at[0][i], last = texture->layers - 1;
            read->slice[i] = texture->first_layer + (layer < last ? layer : last);
        }
    if (!MR_IMAGE_GET(code, FLOAT_AT)) {
        read_by_number(read, lanes, first, count);
        return;
    }
    read->linear = texture->desc.filterMode == CU_TR_FILTER_MODE_LINEAR && !texture->as_integer;
    for (unsigned d = 0; d < 3 && d < read->dimensions; d++)
        find_span(read, d < count ? lanes->at[first + d] : zeros, d, (int32_t)sizes[d], &read->spans[d]);
    if (read->linear) {
        blend(read);
        return;
    }
    find_places(read, read->spans[0].first, read->spans[1].first, read->dimensions > 2 ? read->spans[2].first : NULL);
    fetch(read, false);
}

INLINE void run(struct warp_read *read, uint32_t code, uint32_t mask, struct mr_image_lanes *lanes)
{
    for (unsigned i = 0; i < LANES; i++)
        read->idle[i] = ~mask >> i & 1;
    read_all(read, code, lanes);
    unsigned channels = read->texture->format.channels;
    if (mask == UINT32_MAX) {
        for (unsigned c = 0; c < channels; c++)
            for (unsigned i = 0; i < LANES; i++)
                lanes->data[c][i] = read->channels[c][i];
        for (unsigned c = channels; c < 4; c++)
            memset(lanes->data[c], 0, sizeof lanes->data[c]);
        return;
    }
    for (; mask; mask &= mask - 1) {
        unsigned lane = (unsigned)__builtin_ctz(mask);
        for (unsigned c = 0; c < 4; c++)
            lanes->data[c][lane] = c < channels ? read->channels[c][lane] : 0;
    }
}

static void run_plain(struct warp_read *read, uint32_t code, uint32_t mask, struct mr_image_lanes *lanes)
{
    run(read, code, mask, lanes);
}

#if defined(__x86_64__)
__attribute__((target("avx2"))) static void run_avx2(struct warp_read *read, uint32_t code, uint32_t mask,
                                                     struct mr_image_lanes *lanes)
{
    run(read, code, mask, lanes);
}

__attribute__((target("avx512f,avx512bw,avx512dq,avx512vl"))) static void
run_avx512(struct warp_read *read, uint32_t code, uint32_t mask, struct mr_image_lanes *lanes)
{
    run(read, code, mask, lanes);
}
#endif

bool mr_sample_warp_fits(const struct mr_texture *texture, uint32_t code)
{
    unsigned op = MR_IMAGE_GET(code, OP);
    bool by_number = !MR_IMAGE_GET(code, FLOAT_AT);
    const struct mr_texels *texels = &texture->levels[0];
    if (op != MR_IMAGE_TEX || MR_IMAGE_GET(code, OFFSET) || MR_IMAGE_GET(code, RESULT) != MR_IMAGE_WORD ||
        texture->shape == MR_TEXTURE_CUBE || texture->srgb ||
        texture->resource.resType == CU_RESOURCE_TYPE_MIPMAPPED_ARRAY || !texels->width || !texels->height)
        return false;
    if (mr_sample_is_blank(texture, code))
        return false;
    size_t slices = texture->layered                  ? (size_t)texture->first_layer + texture->layers
                    : texture->shape == MR_TEXTURE_3D ? texels->depth
                                                      : 1,
           end = texels->slice * (slices - 1) + texels->pitch * (texels->height - 1u) +
                 (size_t)texels->width * texture->format.bytes;
    if (end > UINT32_MAX)
        return false;
    return texels->width <= (by_number ? (uint32_t)INT32_MAX : MOST) && texels->height <= MOST && texels->depth <= MOST;
}

enum mr_sample_vectors mr_sample_widest(void)
{
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq") &&
        __builtin_cpu_supports("avx512vl"))
        return MR_SAMPLE_AVX512;
    if (__builtin_cpu_supports("avx2"))
        return MR_SAMPLE_AVX2;
#endif
    return MR_SAMPLE_PLAIN;
}

void mr_sample_warp(enum mr_sample_vectors vectors, const struct mr_texture *texture, uint32_t code, uint32_t mask,
                    struct mr_image_lanes *lanes)
{
    struct warp_read read;
    read.texture = texture;
    read.texels = &texture->levels[0];
    read.dimensions = texture->shape == MR_TEXTURE_3D ? 3 : 2;
    switch (vectors) {
#if defined(__x86_64__)
    case MR_SAMPLE_AVX512:
        run_avx512(&read, code, mask, lanes);
        break;
    case MR_SAMPLE_AVX2:
        run_avx2(&read, code, mask, lanes);
        break;
#endif
    default:
        run_plain(&read, code, mask, lanes);
        break;
    }
}
