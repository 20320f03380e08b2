/* SPDX-License-Identifier: Apache-2.0 */
/* Reading textures (CUDA programming guide, appendix on texture fetching).
 *
 * A coordinate becomes the number of a texel, or of two neighbours and a weight between them, one dimension after the
 * other. Weights have 8 bits of fraction, as the guide says: so a read halfway between two such steps gives what
 * hardware gives. What lies outside is brought inside by the address mode, or is the border. Cubemaps choose a face
 * first, and then are two-dimensional. */
#include "kernel/image.h"

#include <math.h>
#include <string.h>

#include "kernel/notes.h"

#define STEPS MR_WEIGHT_STEPS
#define OUTSIDE MR_TEXEL_OUTSIDE
#define FAR ((double)MR_TEXEL_FAR)

/* The place of a read in one dimension: two texels, and the second's weight in 256ths. */
struct axis {
    int32_t first, second;
    unsigned weight;
};

/* Which slice a read is in, and its dimensions. */
struct plane {
    const struct mr_texture *texture;
    const struct mr_texels *texels;
    unsigned dimensions;    /* 1 to 3, without layers */
    uint32_t slice;         /* of layered textures and cubemaps: the layer or the first face of the cube */
    unsigned face;
    bool seamless;
    struct mr_executor *notes;
};

/* floor() for numbers that fit; without a call. */
static int64_t whole(double value)
{
    int64_t cut = (int64_t)value;
    return cut - (value < (double)cut);
}

static double tame(float value)
{
    if (isnan(value))
        return 0;
    return value > FAR ? FAR : value < -FAR ? -FAR : (double)value;
}

/* A texel's number brought inside, or OUTSIDE. */
static int32_t bring_inside(int64_t number, int32_t size, CUaddress_mode mode)
{
    if (number >= 0 && number < size)
        return (int32_t)number;
    switch (mode) {
    case CU_TR_ADDRESS_MODE_WRAP:
        number %= size;
        return (int32_t)(number < 0 ? number + size : number);
    case CU_TR_ADDRESS_MODE_MIRROR:
        number %= 2 * (int64_t)size;
        if (number < 0)
            number += 2 * (int64_t)size;
        return (int32_t)(number < size ? number : 2 * (int64_t)size - 1 - number);
    case CU_TR_ADDRESS_MODE_BORDER:
        return OUTSIDE;
    default:
        return number < 0 ? 0 : size - 1;
    }
}

CUaddress_mode mr_sample_mode(const struct mr_texture *texture, unsigned dimension)
{
    CUaddress_mode mode = texture->desc.addressMode[dimension];
    bool repeats = mode == CU_TR_ADDRESS_MODE_WRAP || mode == CU_TR_ADDRESS_MODE_MIRROR;
    return repeats && !texture->normalized ? CU_TR_ADDRESS_MODE_CLAMP : mode;
}

/* A coordinate in texels. Repeating modes are brought near first, so that large coordinates lose nothing. */
static double in_texels(const struct mr_texture *texture, float at, int32_t size, CUaddress_mode mode)
{
    double x = tame(at);
    if (!texture->normalized)
        return x;
    if (mode == CU_TR_ADDRESS_MODE_WRAP)
        x -= (double)whole(x);
    else if (mode == CU_TR_ADDRESS_MODE_MIRROR)
        x -= 2 * (double)whole(x / 2);
    x *= size;
    return x > FAR ? FAR : x < -FAR ? -FAR : x;
}

/* `raw`: numbers are left as they are, for a cubemap's neighbours. */
static struct axis place(double x, int32_t offset, int32_t size, CUaddress_mode mode, bool linear, bool raw)
{
    if (!linear) {
        int32_t texel = bring_inside(whole(x) + offset, size, mode);
        return (struct axis){texel, texel, 0};
    }
    int64_t fixed = whole(x * STEPS + 0.5) - STEPS / 2;
    int64_t first = (fixed >= 0 ? fixed : fixed - (STEPS - 1)) / STEPS;
    unsigned weight = (unsigned)(fixed - first * STEPS);
    first += offset;
    if (raw)
        return (struct axis){(int32_t)first, (int32_t)first + 1, weight};
    return (struct axis){bring_inside(first, size, mode), bring_inside(first + 1, size, mode), weight};
}

/* ---- texels ---- */

static void read_border(const struct mr_texture *texture, union mr_texel *out)
{
    *out = (union mr_texel){.f = {0}};
    for (unsigned i = 0; i < texture->format.channels; i++)
        if (texture->as_integer)
            out->u[i] = (uint32_t)(int64_t)tame(texture->desc.borderColor[i]);
        else
            out->f[i] = texture->desc.borderColor[i];
}

static void read_at(const struct plane *plane, int32_t x, int32_t y, uint32_t slice, union mr_texel *out)
{
    const struct mr_texels *texels = plane->texels;
    const struct mr_texture *texture = plane->texture;
    const char *from = (const char *)texels->base + slice * texels->slice + (size_t)y * texels->pitch +
                       (size_t)x * texture->format.bytes;
    if (plane->notes)
        mr_note_touch(plane->notes, from, texture->format.bytes);
    mr_texel_read(&texture->format, texture->as_integer, texture->srgb, from, out);
}

/* The direction of a point of a face, whose coordinates go from -1 to 1 inside. */
static void face_direction(unsigned face, double s, double t, double out[3])
{
    const double all[6][3] = {{1, -t, -s}, {-1, -t, s}, {s, 1, t}, {s, -1, -t}, {s, -t, 1}, {-s, -t, -1}};
    memcpy(out, all[face], sizeof all[face]);
}

/* The face that a direction hits, and where on it, from -1 to 1. */
static unsigned choose_face(const double d[3], double *s, double *t)
{
    double x = fabs(d[0]), y = fabs(d[1]), z = fabs(d[2]), m;
    unsigned face;
    if (z >= x && z >= y) {
        face = d[2] < 0 ? 5 : 4;
        m = z;
        *s = d[2] < 0 ? -d[0] : d[0];
        *t = -d[1];
    } else if (y >= x) {
        face = d[1] < 0 ? 3 : 2;
        m = y;
        *s = d[0];
        *t = d[1] < 0 ? -d[2] : d[2];
    } else {
        face = d[0] < 0 ? 1 : 0;
        m = x;
        *s = d[0] < 0 ? d[2] : -d[2];
        *t = -d[1];
    }
    if (m > 0) {
        *s /= m;
        *t /= m;
    }
    return face;
}

static int32_t face_texel(double coordinate, int32_t size)
{
    int32_t texel = (int32_t)whole((coordinate + 1) / 2 * size);
    return texel < 0 ? 0 : texel < size ? texel : size - 1;
}

/* A texel past one edge of a face, on the face next to it. */
static void read_neighbour(const struct plane *plane, int32_t x, int32_t y, union mr_texel *out)
{
    int32_t size = (int32_t)plane->texels->width;
    double direction[3], s, t;
    face_direction(plane->face, (2.0 * x + 1) / size - 1, (2.0 * y + 1) / size - 1, direction);
    unsigned face = choose_face(direction, &s, &t);
    read_at(plane, face_texel(s, size), face_texel(t, size), plane->slice + face, out);
}

static bool is_out(int32_t number, uint32_t size)
{
    return number < 0 || number >= (int32_t)size;
}

/* At a corner of a cube there are three texels; the fourth of a square is their mean. */
static void read_corner(const struct plane *plane, int32_t x, int32_t y, union mr_texel *out)
{
    int32_t last = (int32_t)plane->texels->width - 1, inner_x = x < 0 ? 0 : last, inner_y = y < 0 ? 0 : last;
    union mr_texel three[3];
    read_at(plane, inner_x, inner_y, plane->slice + plane->face, &three[0]);
    read_neighbour(plane, x, inner_y, &three[1]);
    read_neighbour(plane, inner_x, y, &three[2]);
    for (unsigned i = 0; i < 4; i++)
        out->f[i] = (three[0].f[i] + three[1].f[i] + three[2].f[i]) / 3;
}

static void read_texel(const struct plane *plane, int32_t x, int32_t y, int32_t z, union mr_texel *out)
{
    if (x == OUTSIDE || y == OUTSIDE || z == OUTSIDE) {
        read_border(plane->texture, out);
        return;
    }
    if (plane->seamless && (is_out(x, plane->texels->width) || is_out(y, plane->texels->height))) {
        if (is_out(x, plane->texels->width) && is_out(y, plane->texels->height))
            read_corner(plane, x, y, out);
        else
            read_neighbour(plane, x, y, out);
        return;
    }
    read_at(plane, x, y, plane->slice + plane->face + (uint32_t)z, out);
}

/* ---- one level ---- */

static void find_axes(const struct plane *plane, const struct mr_sample *sample, bool linear, struct axis axes[3])
{
    const struct mr_texture *texture = plane->texture;
    const uint32_t sizes[3] = {plane->texels->width, plane->texels->height, plane->texels->depth};
    for (unsigned i = 0; i < 3; i++) {
        if (i >= plane->dimensions) {
            axes[i] = (struct axis){0, 0, 0};
            continue;
        }
        CUaddress_mode mode = texture->shape == MR_TEXTURE_CUBE && (texture->desc.flags & CU_TRSF_SEAMLESS_CUBEMAP)
                                  ? CU_TR_ADDRESS_MODE_CLAMP
                                  : mr_sample_mode(texture, i);
        int32_t size = (int32_t)sizes[i];
        axes[i] = place(in_texels(texture, sample->at[i], size, mode), sample->offset[i], size, mode, linear,
                        plane->seamless);
    }
}

/* Weights of the texels of a square or cube, in 256ths: bit 0 of the index is x, bit 1 y, bit 2 z. As on hardware x and
 * z are split first, then y. */
static inline void weigh(const struct axis axes[3], unsigned dimensions, unsigned weights[8])
{
    unsigned a = axes[0].weight, b = axes[1].weight, c = dimensions > 2 ? axes[2].weight : 0,
             both = mr_weight_part(a, c);
    const unsigned columns[4] = {STEPS + both - a - c, a - both, c - both, both};
    for (unsigned i = 0; i < 4; i++) {
        unsigned first = mr_weight_part(columns[i], STEPS - b), at = (i & 1) | (i & 2) << 1;
        weights[at] = first;
        weights[at | 2] = columns[i] - first;
    }
}

static void blend(const struct plane *plane, const struct axis axes[3], union mr_texel *out)
{
    double sum[4] = {0};
    unsigned channels = plane->texture->format.channels, weights[8];
    weigh(axes, plane->dimensions, weights);
    for (unsigned corner = 0; corner < 1u << plane->dimensions; corner++) {
        union mr_texel texel;
        if (weights[corner] == 0)
            continue; /* so that no infinity or NaN of a texel that isn't looked at gets in */
        read_texel(plane, corner & 1 ? axes[0].second : axes[0].first, corner & 2 ? axes[1].second : axes[1].first,
                   corner & 4 ? axes[2].second : axes[2].first, &texel);
        for (unsigned i = 0; i < channels; i++)
            sum[i] += (double)weights[corner] * (double)texel.f[i];
    }
    for (unsigned i = 0; i < 4; i++)
        out->f[i] = i < channels ? (float)(sum[i] / STEPS) : 0.0f;
}

static uint32_t layer_of(const struct mr_texture *texture, uint32_t layer)
{
    return texture->first_layer + (layer < texture->layers ? layer : texture->layers - 1);
}

/* Sets up the slice; a cubemap's three coordinates become two, in *sample. */
static void find_plane(const struct mr_texture *texture, unsigned level, struct mr_sample *sample, struct plane *plane)
{
    unsigned geom = MR_IMAGE_GET(sample->code, GEOM);
    bool by_face = geom == MR_IMAGE_CUBE || geom == MR_IMAGE_ACUBE;
    *plane = (struct plane){.texture = texture, .texels = &texture->levels[level], .notes = sample->notes};
    /* Hardware reads a row as a plane of height 1, at y = 0: the border is half of what a linear filter finds there. */
    plane->dimensions = texture->shape == MR_TEXTURE_3D ? 3 : 2;
    if (!by_face) {
        /* Cubemaps can be read as layers, too: each face is one. */
        uint32_t faces = texture->shape == MR_TEXTURE_CUBE ? texture->layers * 6 : texture->layers;
        if (texture->shape == MR_TEXTURE_CUBE)
            plane->slice = texture->first_layer * 6 + (sample->layer < faces ? sample->layer : faces - 1);
        else if (texture->layered)
            plane->slice = layer_of(texture, sample->layer);
        return;
    }
    const double direction[3] = {tame(sample->at[0]), tame(sample->at[1]), tame(sample->at[2])};
    double s = 0, t = 0;
    plane->face = choose_face(direction, &s, &t);
    plane->slice = (texture->layered ? layer_of(texture, sample->layer) : 0) * 6;
    sample->at[0] = (float)((s + 1) / 2);
    sample->at[1] = (float)((t + 1) / 2);
    if (!texture->normalized) { /* a cube's coordinates always are */
        sample->at[0] *= (float)plane->texels->width;
        sample->at[1] *= (float)plane->texels->height;
    }
    plane->seamless =
        (texture->desc.flags & CU_TRSF_SEAMLESS_CUBEMAP) && texture->desc.filterMode == CU_TR_FILTER_MODE_LINEAR;
}

bool mr_sample_is_blank(const struct mr_texture *texture, uint32_t code)
{
    unsigned geom = MR_IMAGE_GET(code, GEOM);
    bool by_number = !MR_IMAGE_GET(code, FLOAT_AT);
    if (texture->shape != MR_TEXTURE_1D)
        return false;
    return texture->linear ? !by_number : by_number && (geom == MR_IMAGE_1D || geom == MR_IMAGE_A1D);
}

/* Coordinates that are numbers of texels: nothing is filtered, and what is outside reads as zeros. */
static void fetch(const struct plane *plane, const struct mr_sample *sample, union mr_texel *out)
{
    const uint32_t sizes[3] = {plane->texels->width, plane->texels->height, plane->texels->depth};
    int32_t at[3] = {0};
    for (unsigned i = 0; i < plane->dimensions && i < 3; i++) {
        int64_t number = (int64_t)sample->texel[i] + sample->offset[i];
        if (number < 0 || number >= sizes[i]) {
            memset(out, 0, sizeof *out);
            return;
        }
        at[i] = (int32_t)number;
    }
    read_at(plane, at[0], at[1], plane->slice + plane->face + (uint32_t)at[2], out);
}

static void sample_level(const struct mr_texture *texture, const struct mr_sample *given, unsigned level,
                         union mr_texel *out)
{
    struct mr_sample sample = *given;
    struct plane plane;
    struct axis axes[3];
    find_plane(texture, level, &sample, &plane);
    bool by_number = !MR_IMAGE_GET(sample.code, FLOAT_AT);
    if (!plane.texels->width || !plane.texels->height || mr_sample_is_blank(texture, sample.code)) {
        memset(out, 0, sizeof *out);
        return;
    }
    if (by_number) {
        fetch(&plane, &sample, out);
        return;
    }
    bool linear = texture->desc.filterMode == CU_TR_FILTER_MODE_LINEAR && !texture->as_integer;
    find_axes(&plane, &sample, linear, axes);
    if (linear)
        blend(&plane, axes, out);
    else
        read_texel(&plane, axes[0].first, axes[1].first, axes[2].first, out);
}

/* ---- levels of detail ---- */

/* The level at which neighbours on the screen would be a texel apart, to 1/256. */
static double gradient_level(const struct mr_texture *texture, const struct mr_sample *sample)
{
    const struct mr_texels *texels = &texture->levels[0];
    const double sizes[3] = {texels->width, texels->height, texels->depth};
    unsigned dimensions = texture->shape == MR_TEXTURE_CUBE ? 3 : texture->shape;
    double x = 0, y = 0;
    for (unsigned i = 0; i < dimensions && i < 3; i++) {
        double size = texture->shape == MR_TEXTURE_CUBE ? sizes[0] / 2 : texture->normalized ? sizes[i] : 1;
        double dx = tame(sample->dx[i]) * size, dy = tame(sample->dy[i]) * size;
        x += dx * dx;
        y += dy * dy;
    }
    double longest = x > y ? x : y;
    return longest > 0 ? (double)whole(log2(longest) / 2 * STEPS + 0.5) / STEPS : -1000;
}

static double find_level(const struct mr_texture *texture, const struct mr_sample *sample)
{
    double level = 0, most = texture->level_count - 1;
    switch (MR_IMAGE_GET(sample->code, DETAIL)) {
    case MR_IMAGE_LEVEL:
        level = tame(sample->level);
        break;
    case MR_IMAGE_GRADIENT:
        level = gradient_level(texture, sample);
        break;
    default:
        break;
    }
    if (texture->resource.resType != CU_RESOURCE_TYPE_MIPMAPPED_ARRAY)
        return 0;
    if (!MR_IMAGE_GET(sample->code, FLOAT_AT))
        return level < 0 ? 0 : level < most ? level : most;
    if (MR_IMAGE_GET(sample->code, DETAIL) != MR_IMAGE_BASE)
        level += tame(texture->desc.mipmapLevelBias);
    double low = tame(texture->desc.minMipmapLevelClamp), high = tame(texture->desc.maxMipmapLevelClamp);
    level = level < low ? low : level;
    level = level > high ? high : level;
    return level < 0 ? 0 : level < most ? level : most;
}

void mr_sample_texture(const struct mr_texture *texture, const struct mr_sample *sample, union mr_texel *out)
{
    double level = find_level(texture, sample);
    if (texture->desc.mipmapFilterMode != CU_TR_FILTER_MODE_LINEAR || texture->as_integer ||
        !MR_IMAGE_GET(sample->code, FLOAT_AT)) {
        sample_level(texture, sample, (unsigned)(level + 0.5), out);
        return;
    }
    unsigned fixed = (unsigned)(level * STEPS), weight = fixed % STEPS;
    sample_level(texture, sample, fixed / STEPS, out);
    if (!weight)
        return;
    union mr_texel coarser;
    sample_level(texture, sample, fixed / STEPS + 1, &coarser);
    for (unsigned i = 0; i < 4; i++)
        out->f[i] = (float)(((double)out->f[i] * (STEPS - weight) + (double)coarser.f[i] * weight) / STEPS);
}

/* One channel of the four texels that a linear read would blend, counter-clockwise from the lower left. */
void mr_sample_gather(const struct mr_texture *texture, const struct mr_sample *given, union mr_texel *out)
{
    struct mr_sample sample = *given;
    struct plane plane;
    struct axis axes[3];
    unsigned channel = MR_IMAGE_GET(sample.code, CHANNEL);
    find_plane(texture, 0, &sample, &plane);
    plane.seamless =
        texture->shape == MR_TEXTURE_CUBE && (texture->desc.flags & CU_TRSF_SEAMLESS_CUBEMAP) && !texture->as_integer;
    find_axes(&plane, &sample, true, axes);
    for (unsigned i = 0; i < 4; i++) {
        bool right = i == 1 || i == 2, low = i < 2;
        union mr_texel texel;
        read_texel(&plane, right ? axes[0].second : axes[0].first, low ? axes[1].second : axes[1].first, 0, &texel);
        out->u[i] = texel.u[channel];
    }
}
