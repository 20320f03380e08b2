/* SPDX-License-Identifier: Apache-2.0 */
/* Textures that are read by whole warps, for each kind of processor that this one can stand for, compared bit by bit
 * with the same reads lane by lane: random shapes, formats, modes, coordinates and masks. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "kernel/image.h"
#include "kernel/notes.h"

#define LANES MR_WARP_LANES
#define MOST_BYTES (1u << 16)

static uint64_t seed;
static char bytes[MOST_BYTES];

/* Reads that nobody notes note nothing. */
void mr_note_touch(struct mr_executor *executor, const void *place, size_t size)
{
    (void)executor;
    (void)place;
    (void)size;
    abort();
}

static uint32_t some(uint32_t below)
{
    seed = seed * UINT64_C(6364136223846793005) + 1442695040888963407u;
    return (uint32_t)(seed >> 33) % below;
}

static uint32_t bits_of(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

/* Mostly near the texture, on texels' edges and between; sometimes far away, or no number. */
static uint32_t coordinate(uint32_t size, bool normalized)
{
    static const float odd[] = {0.0f, -0.0f, 1e-40f, 1e30f, -1e30f, 16777216.0f, -16777217.0f, 2097152.25f};
    float value;
    switch (some(16)) {
    case 0:
        return some(2) ? UINT32_C(0x7fc00000) | some(2) << 31 : UINT32_C(0x7f800000) | some(2) << 31;
    case 1:
        value = odd[some(sizeof odd / sizeof *odd)];
        break;
    case 2:
        value = (float)some(1u << 30) * 0.37f - 2e8f;
        break;
    case 3:
    case 4:
        value = (float)(int32_t)(some(4 * size + 8) - 2 * size - 4) * 0.5f;
        break;
    default:
        value = (float)some(1u << 24) * (3.0f / (1u << 24)) * (float)size - (float)size;
        break;
    }
    return bits_of(normalized ? value / (float)size : value);
}

static void make_format(struct mr_texture *texture)
{
    static const uint8_t kinds[][2] = {
        {MR_TEXEL_FLOAT, 4}, {MR_TEXEL_FLOAT, 4}, {MR_TEXEL_FLOAT, 2}, {MR_TEXEL_UNORM, 1}, {MR_TEXEL_UNORM, 2},
        {MR_TEXEL_SNORM, 1}, {MR_TEXEL_SNORM, 2}, {MR_TEXEL_UINT, 1},  {MR_TEXEL_SINT, 1},  {MR_TEXEL_UINT, 2},
        {MR_TEXEL_SINT, 2},  {MR_TEXEL_UINT, 4},  {MR_TEXEL_SINT, 4}};
    const uint8_t *kind = kinds[some(sizeof kinds / sizeof *kinds)];
    uint8_t channels = (uint8_t)(1u << some(3));
    texture->format = (struct mr_texel_format){kind[0], kind[1], channels, (uint8_t)(kind[1] * channels)};
    texture->as_integer = kind[0] == MR_TEXEL_UINT || kind[0] == MR_TEXEL_SINT;
}

static void make_shape(struct mr_texture *texture)
{
    struct mr_texels *texels = &texture->levels[0];
    texels->width = 1 + some(some(2) ? 40 : 4);
    texels->height = texels->depth = 1;
    texture->shape = (uint8_t)(1 + some(3));
    texture->layers = 1;
    texture->layered = texture->shape != MR_TEXTURE_3D && some(4) == 0;
    texture->linear = texture->shape == MR_TEXTURE_1D && !texture->layered && some(2);
    if (texture->shape != MR_TEXTURE_1D)
        texels->height = 1 + some(some(2) ? 20 : 3);
    if (texture->shape == MR_TEXTURE_3D)
        texels->depth = 1 + some(4);
    if (texture->layered) {
        texture->layers = 1 + some(3);
        texture->first_layer = some(2);
    }
    texels->base = (uintptr_t)bytes;
    texels->pitch = (size_t)texels->width * texture->format.bytes + 16 * some(2);
    texels->slice = texels->pitch * texels->height;
    assert_true(texels->slice * 4 <= MOST_BYTES);
    texture->resource.resType = texture->linear ? CU_RESOURCE_TYPE_LINEAR : CU_RESOURCE_TYPE_ARRAY;
}

static void make_texture(struct mr_texture *texture)
{
    static const CUaddress_mode modes[] = {CU_TR_ADDRESS_MODE_WRAP, CU_TR_ADDRESS_MODE_CLAMP, CU_TR_ADDRESS_MODE_MIRROR,
                                           CU_TR_ADDRESS_MODE_BORDER};
    memset(texture, 0, sizeof *texture);
    make_format(texture);
    make_shape(texture);
    texture->level_count = 1;
    texture->normalized = some(2);
    texture->desc.filterMode = some(2) ? CU_TR_FILTER_MODE_LINEAR : CU_TR_FILTER_MODE_POINT;
    for (unsigned i = 0; i < 3; i++)
        texture->desc.addressMode[i] = modes[some(4)];
    for (unsigned i = 0; i < 4; i++)
        texture->desc.borderColor[i] = (float)some(1000) * 0.25f - 50.0f;
}

static uint32_t make_code(const struct mr_texture *texture)
{
    unsigned flat = some(2), geom = texture->shape == MR_TEXTURE_3D ? MR_IMAGE_3D
                                    : texture->layered              ? (flat ? MR_IMAGE_A1D : MR_IMAGE_A2D)
                                    : flat                          ? MR_IMAGE_1D
                                                                    : MR_IMAGE_2D;
    bool by_number = texture->linear || some(4) == 0;
    return MR_IMAGE_PUT(OP, MR_IMAGE_TEX) | MR_IMAGE_PUT(GEOM, geom) | MR_IMAGE_PUT(FLOAT_AT, !by_number);
}

static void make_lanes(const struct mr_texture *texture, uint32_t code, struct mr_image_lanes *lanes)
{
    const uint32_t sizes[3] = {texture->levels[0].width, texture->levels[0].height, texture->levels[0].depth};
    bool row = some(4) == 0; /* neighbours in a row */
    for (unsigned i = 0; i < LANES; i++) {
        for (unsigned d = 0; d < 4; d++) {
            unsigned of = d < texture->layered ? 0 : d - texture->layered;
            uint32_t size = of < 3 ? sizes[of] : 1;
            lanes->at[d][i] =
                MR_IMAGE_GET(code, FLOAT_AT) ? coordinate(size, texture->normalized) : some(2 * size) - size / 2;
            if (row && !texture->normalized)
                lanes->at[d][i] = MR_IMAGE_GET(code, FLOAT_AT) ? bits_of((float)(of == 0 ? i : 0) + 0.5f) : i;
        }
        if (texture->layered)
            lanes->at[0][i] = some(8) ? some(4) : UINT32_MAX;
        for (unsigned c = 0; c < 4; c++)
            lanes->data[c][i] = i * 16 + c;
    }
}

/* A sum of NaNs is any of them. */
static bool is_nan(uint64_t bits)
{
    return (bits & 0x7fffffff) > 0x7f800000;
}

/* What sample.c says, for a lane. */
static void read_lane(const struct mr_texture *texture, uint32_t code, const struct mr_image_lanes *lanes,
                      unsigned lane, union mr_texel *out)
{
    unsigned geom = MR_IMAGE_GET(code, GEOM), first = texture->layered,
             count = geom == MR_IMAGE_3D                           ? 3
                     : geom == MR_IMAGE_1D || geom == MR_IMAGE_A1D ? 1
                                                                   : 2;
    struct mr_sample sample = {.code = code, .layer = first ? lanes->at[0][lane] : 0};
    for (unsigned i = 0; i < count; i++) {
        memcpy(&sample.at[i], &lanes->at[first + i][lane], sizeof sample.at[i]);
        sample.texel[i] = (int32_t)lanes->at[first + i][lane];
    }
    mr_sample_texture(texture, &sample, out);
}

static void compare(enum mr_sample_vectors vectors)
{
    static struct mr_image_lanes before, after;
    static struct mr_texture texture;
    unsigned fit = 0;
    for (seed = 1; seed < 20000; seed++) {
        uint64_t round = seed;
        for (size_t i = 0; i < sizeof bytes; i += 4) {
            uint32_t word = some(1u << 31) << 1 | some(2);
            memcpy(bytes + i, &word, sizeof word);
            if (round % 64)
                break; /* new texels once in a while */
        }
        make_texture(&texture);
        bool blends = texture.desc.filterMode == CU_TR_FILTER_MODE_LINEAR && !texture.as_integer;
        uint32_t code = make_code(&texture), mask = some(2) ? UINT32_MAX : some(1u << 31) | 1;
        make_lanes(&texture, code, &before);
        if (mr_sample_warp_fits(&texture, code)) {
            after = before;
            mr_sample_warp(vectors, &texture, code, mask, &after);
            for (unsigned lane = 0; lane < LANES; lane++) {
                union mr_texel texel;
                read_lane(&texture, code, &before, lane, &texel);
                for (unsigned c = 0; c < 4; c++) {
                    uint64_t wanted = mask >> lane & 1 ? texel.u[c] : before.data[c][lane];
                    if (after.data[c][lane] != wanted && !(blends && is_nan(after.data[c][lane]) && is_nan(wanted)))
                        fail_msg("seed %llu, lane %u, channel %u: %#llx for %#llx", (unsigned long long)round, lane, c,
                                 (unsigned long long)after.data[c][lane], (unsigned long long)wanted);
                }
            }
            fit++;
        }
        seed = round;
    }
    assert_true(fit > 10000);
}

static void warps_read_what_lanes_read(void **state)
{
    (void)state;
    for (int vectors = MR_SAMPLE_PLAIN; vectors <= (int)mr_sample_widest(); vectors++)
        compare((enum mr_sample_vectors)vectors);
}

/* A row by whole numbers. The instructions for rows are for linear memory, those for planes for arrays, too. */
static void rows_by_whole_numbers(void **state)
{
    (void)state;
    static const unsigned geoms[] = {MR_IMAGE_1D, MR_IMAGE_2D, MR_IMAGE_A1D, MR_IMAGE_A2D};
    struct mr_texture texture = {.format = {MR_TEXEL_FLOAT, 4, 1, 4}, .shape = MR_TEXTURE_1D, .layers = 1};
    texture.levels[0] = (struct mr_texels){.base = (uintptr_t)bytes, .width = 8, .height = 1, .depth = 1, .pitch = 32};
    texture.levels[0].slice = 32;
    texture.level_count = 1;
    for (unsigned i = 0; i < 8; i++) {
        float value = (float)i + 1;
        memcpy(bytes + (size_t)4 * i, &value, sizeof value);
    }
    for (unsigned i = 0; i < 8; i++) {
        union mr_texel texel;
        unsigned geom = geoms[i % 4];
        texture.linear = i >= 4;
        texture.layered = !texture.linear && geom >= MR_IMAGE_A1D;
        texture.resource.resType = texture.linear ? CU_RESOURCE_TYPE_LINEAR : CU_RESOURCE_TYPE_ARRAY;
        if (texture.linear && geom >= MR_IMAGE_A1D)
            continue; /* there is no such texture */
        struct mr_sample sample = {.code = MR_IMAGE_PUT(OP, MR_IMAGE_TEX) | MR_IMAGE_PUT(GEOM, geom), .texel = {5}};
        bool blank = !texture.linear && (geom == MR_IMAGE_1D || geom == MR_IMAGE_A1D);
        mr_sample_texture(&texture, &sample, &texel);
        assert_true(texel.f[0] == (blank ? 0.0f : 6.0f));
        assert_int_equal(mr_sample_warp_fits(&texture, sample.code), !blank);
        sample.texel[0] = 8;
        mr_sample_texture(&texture, &sample, &texel);
        assert_true(texel.f[0] == 0.0f);
        sample.texel[0] = 5;
        sample.texel[1] = 1;
        mr_sample_texture(&texture, &sample, &texel);
        assert_true(texel.f[0] == 0.0f || texture.linear);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(warps_read_what_lanes_read),
        cmocka_unit_test(rows_by_whole_numbers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
