/* SPDX-License-Identifier: Apache-2.0 */
/* Surfaces: unfiltered access to arrays by bytes (.b, where x counts bytes) or by elements with conversion (.p). */
#include "kernel/image.h"

#include <string.h>

#include "kernel/notes.h"

/* Where an access lies, once it is inside. */
struct spot {
    int64_t x, y, z;
};

/* Layer, face and depth are all slices. */
static void take_spot(uint32_t code, const int32_t at[4], struct spot *spot)
{
    switch (MR_IMAGE_GET(code, GEOM)) {
    case MR_IMAGE_1D:
        *spot = (struct spot){at[0], 0, 0};
        break;
    case MR_IMAGE_2D:
        *spot = (struct spot){at[0], at[1], 0};
        break;
    case MR_IMAGE_3D:
        *spot = (struct spot){at[0], at[1], at[2]};
        break;
    case MR_IMAGE_A1D:
        *spot = (struct spot){at[1], 0, at[0]};
        break;
    default:
        *spot = (struct spot){at[1], at[2], at[0]};
        break;
    }
}

static int64_t clamp(int64_t value, int64_t most)
{
    return value < 0 ? 0 : value < most ? value : most;
}

static void reduce_32(uint32_t *place, uint32_t operation, bool is_signed, uint32_t value)
{
    uint32_t old = __atomic_load_n(place, __ATOMIC_RELAXED), new;
    do {
        bool less = is_signed ? (int32_t)value < (int32_t)old : value < old;
        switch (operation) {
        case MR_IMAGE_ADD:
            new = old + value;
            break;
        case MR_IMAGE_MIN:
            new = less ? value : old;
            break;
        case MR_IMAGE_MAX:
            new = less ? old : value;
            break;
        case MR_IMAGE_AND:
            new = old &value;
            break;
        default:
            new = old | value;
            break;
        }
    } while (!__atomic_compare_exchange_n(place, &old, new, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED));
}

static void reduce_64(uint64_t *place, uint32_t operation, bool is_signed, uint64_t value)
{
    uint64_t old = __atomic_load_n(place, __ATOMIC_RELAXED), new;
    do {
        bool less = is_signed ? (int64_t)value < (int64_t)old : value < old;
        switch (operation) {
        case MR_IMAGE_ADD:
            new = old + value;
            break;
        case MR_IMAGE_MIN:
            new = less ? value : old;
            break;
        case MR_IMAGE_MAX:
            new = less ? old : value;
            break;
        case MR_IMAGE_AND:
            new = old &value;
            break;
        default:
            new = old | value;
            break;
        }
    } while (!__atomic_compare_exchange_n(place, &old, new, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED));
}

static void transfer(const struct mr_texture *surface, uint32_t code, char *place, uint64_t data[4])
{
    unsigned bytes = 1u << MR_IMAGE_GET(code, BYTES), count = 1u << MR_IMAGE_GET(code, COUNT);
    bool formatted = MR_IMAGE_GET(code, FORMATTED);
    uint32_t channels[4];
    switch (MR_IMAGE_GET(code, OP)) {
    case MR_IMAGE_LOAD:
        for (unsigned i = 0; i < count; i++) {
            data[i] = 0;
            memcpy(&data[i], place + i * bytes, bytes);
        }
        break;
    case MR_IMAGE_STORE:
        if (formatted) {
            for (unsigned i = 0; i < 4; i++)
                channels[i] = i < count ? (uint32_t)data[i] : 0;
            mr_texel_write(&surface->format, place, channels);
            break;
        }
        for (unsigned i = 0; i < count; i++)
            memcpy(place + i * bytes, &data[i], bytes);
        break;
    default: {
        bool is_signed = formatted ? surface->format.kind == MR_TEXEL_SINT : MR_IMAGE_GET(code, SIGNED);
        if (bytes == 8)
            reduce_64((uint64_t *)(void *)place, MR_IMAGE_GET(code, REDUCE), is_signed, data[0]);
        else
            reduce_32((uint32_t *)(void *)place, MR_IMAGE_GET(code, REDUCE), is_signed, (uint32_t)data[0]);
        break;
    }
    }
}

enum mr_surface_outcome mr_surface_access(const struct mr_texture *surface, uint32_t code, const int32_t at[4],
                                          uint64_t data[4], struct mr_executor *notes)
{
    const struct mr_texels *texels = &surface->levels[0];
    bool formatted = MR_IMAGE_GET(code, FORMATTED), reduces = MR_IMAGE_GET(code, OP) == MR_IMAGE_REDUCE;
    int64_t size = formatted && !reduces ? surface->format.bytes
                                         : (int64_t)1 << (MR_IMAGE_GET(code, BYTES) + MR_IMAGE_GET(code, COUNT));
    struct spot spot;
    take_spot(code, at, &spot);
    if (formatted)
        spot.x *= surface->format.bytes;
    int64_t last = ((int64_t)texels->pitch - size) / size * size;
    if (spot.x >= 0 && spot.x % size)
        return MR_SURFACE_UNEVEN;
    if ((int64_t)texels->pitch < size)
        return MR_SURFACE_OUTSIDE;
    bool inside = spot.x >= 0 && spot.x <= last && spot.y >= 0 && spot.y < texels->height && spot.z >= 0 &&
                  spot.z < texels->depth;
    if (!inside) {
        switch (MR_IMAGE_GET(code, OUTSIDE)) {
        case MR_IMAGE_CLAMP:
            spot =
                (struct spot){clamp(spot.x, last), clamp(spot.y, texels->height - 1), clamp(spot.z, texels->depth - 1)};
            break;
        case MR_IMAGE_ZERO:
            memset(data, 0, 4 * sizeof *data);
            return MR_SURFACE_GOOD;
        default:
            return MR_SURFACE_OUTSIDE;
        }
    }
    char *place =
        (char *)texels->base + (size_t)spot.z * texels->slice + (size_t)spot.y * texels->pitch + (size_t)spot.x;
    if (notes)
        mr_note_touch(notes, place, (uint64_t)size);
    transfer(surface, code, place, data);
    return MR_SURFACE_GOOD;
}
