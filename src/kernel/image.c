/* SPDX-License-Identifier: Apache-2.0 */
/* The way from an instruction's lanes to textures and surfaces: finds the object behind each handle, takes a lane's
 * operands out of the rows, and puts its results back. Lanes nearly always share one handle, so it is looked up when it
 * changes.
 *
 * All of a warp's lanes are read in one visit (base/visit.h): a program that destroys a texture under a kernel gets no
 * good answer, but its record does not become another texture's between two looks at it. A fault leaves the visit open;
 * mr_executor_go closes it. */
#include "kernel/image.h"

#include <stdatomic.h>
#include <string.h>

#include "base/visit.h"
#include "kernel/executor.h"

static const uint8_t coordinate_counts[] = {
    [MR_IMAGE_1D] = 1,  [MR_IMAGE_2D] = 2,   [MR_IMAGE_3D] = 3,   [MR_IMAGE_A1D] = 1,
    [MR_IMAGE_A2D] = 2, [MR_IMAGE_CUBE] = 3, [MR_IMAGE_ACUBE] = 3};

static bool has_layer(unsigned geom)
{
    return geom == MR_IMAGE_A1D || geom == MR_IMAGE_A2D || geom == MR_IMAGE_ACUBE;
}

/* The object behind what a kernel holds: a handle, or the address of a reference that holds one. NULL if there is none.
 */
static const struct mr_texture *find(uint64_t handle, enum mr_kind kind)
{
    if (handle && handle % 8 == 0)
        handle = atomic_load_explicit((_Atomic uint64_t *)(uintptr_t)handle, memory_order_acquire);
    return mr_object_find((const void *)(uintptr_t)handle, kind);
}

/* What instruction and texture agree on: a geometry that the texture doesn't have can't be read. Rows and planes stand
 * for each other: a row is a plane of height 1, and the first row of a plane is one. */
static bool geom_fits(const struct mr_texture *texture, unsigned geom)
{
    switch (geom) {
    case MR_IMAGE_1D:
    case MR_IMAGE_2D:
        return texture->shape <= MR_TEXTURE_2D && !texture->layered;
    case MR_IMAGE_3D:
        return texture->shape == MR_TEXTURE_3D;
    case MR_IMAGE_A1D:
        return texture->shape <= MR_TEXTURE_2D && texture->layered;
    case MR_IMAGE_A2D:
        return (texture->shape <= MR_TEXTURE_2D && texture->layered) || texture->shape == MR_TEXTURE_CUBE;
    case MR_IMAGE_CUBE:
        return texture->shape == MR_TEXTURE_CUBE && !texture->layered;
    case MR_IMAGE_ACUBE:
        return texture->shape == MR_TEXTURE_CUBE && texture->layered;
    default:
        return false;
    }
}

static float as_float(uint32_t bits)
{
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* Who notes what is touched, if the block's code makes notes. */
static struct mr_executor *notes_of(const struct mr_block *block)
{
    struct mr_executor *executor = block->engine;
    return executor->code->sites ? executor : NULL;
}

static void take_sample(uint32_t code, const struct mr_image_lanes *lanes, unsigned lane, struct mr_sample *sample)
{
    unsigned geom = MR_IMAGE_GET(code, GEOM), first = has_layer(geom), detail = MR_IMAGE_GET(code, DETAIL);
    *sample = (struct mr_sample){.code = code, .layer = first ? lanes->at[0][lane] : 0};
    for (unsigned i = 0; i < coordinate_counts[geom]; i++) {
        sample->at[i] = as_float(lanes->at[first + i][lane]);
        sample->texel[i] = (int32_t)lanes->at[first + i][lane];
        if (MR_IMAGE_GET(code, OFFSET))
            sample->offset[i] = (int32_t)lanes->offset[i][lane];
        if (detail == MR_IMAGE_GRADIENT) {
            sample->dx[i] = as_float(lanes->level[i][lane]);
            sample->dy[i] = as_float(lanes->along_y[i][lane]);
        }
    }
    if (detail == MR_IMAGE_LEVEL)
        sample->level =
            MR_IMAGE_GET(code, FLOAT_AT) ? as_float(lanes->level[0][lane]) : (float)(int32_t)lanes->level[0][lane];
}

static void give_result(const struct mr_texture *texture, uint32_t code, const union mr_texel *texel,
                        struct mr_image_lanes *lanes, unsigned lane)
{
    uint16_t halves[4];
    if (MR_IMAGE_GET(code, RESULT) == MR_IMAGE_WORD) {
        for (unsigned i = 0; i < 4; i++)
            lanes->data[i][lane] = texel->u[i];
        return;
    }
    for (unsigned i = 0; i < 4; i++)
        halves[i] = texture->as_integer ? (uint16_t)texel->u[i] : mr_float_to_half(texel->f[i]);
    if (MR_IMAGE_GET(code, RESULT) == MR_IMAGE_HALVES) {
        lanes->data[0][lane] = halves[0] | (uint32_t)halves[1] << 16;
        lanes->data[1][lane] = halves[2] | (uint32_t)halves[3] << 16;
        return;
    }
    for (unsigned i = 0; i < 4; i++)
        lanes->data[i][lane] = halves[i];
}

/* CUarray_format of a channel. */
static uint32_t format_of(const struct mr_texel_format *format)
{
    switch (format->kind) {
    case MR_TEXEL_UINT:
        return format->channel == 1   ? CU_AD_FORMAT_UNSIGNED_INT8
               : format->channel == 2 ? CU_AD_FORMAT_UNSIGNED_INT16
                                      : CU_AD_FORMAT_UNSIGNED_INT32;
    case MR_TEXEL_SINT:
        return format->channel == 1   ? CU_AD_FORMAT_SIGNED_INT8
               : format->channel == 2 ? CU_AD_FORMAT_SIGNED_INT16
                                      : CU_AD_FORMAT_SIGNED_INT32;
    case MR_TEXEL_FLOAT:
        return format->channel == 2 ? CU_AD_FORMAT_HALF : CU_AD_FORMAT_FLOAT;
    default:
        break;
    }
    bool sign = format->kind == MR_TEXEL_SNORM;
    switch (format->channels * 2 + (format->channel == 2)) {
    case 2:
        return sign ? CU_AD_FORMAT_SNORM_INT8X1 : CU_AD_FORMAT_UNORM_INT8X1;
    case 3:
        return sign ? CU_AD_FORMAT_SNORM_INT16X1 : CU_AD_FORMAT_UNORM_INT16X1;
    case 4:
        return sign ? CU_AD_FORMAT_SNORM_INT8X2 : CU_AD_FORMAT_UNORM_INT8X2;
    case 5:
        return sign ? CU_AD_FORMAT_SNORM_INT16X2 : CU_AD_FORMAT_UNORM_INT16X2;
    case 8:
        return sign ? CU_AD_FORMAT_SNORM_INT8X4 : CU_AD_FORMAT_UNORM_INT8X4;
    default:
        return sign ? CU_AD_FORMAT_SNORM_INT16X4 : CU_AD_FORMAT_UNORM_INT16X4;
    }
}

/* As PTX numbers them: wrap, mirror, (clamp_ogl,) clamp_to_edge, clamp_to_border. */
static uint32_t address_mode(CUaddress_mode mode)
{
    static const uint8_t modes[] = {[CU_TR_ADDRESS_MODE_WRAP] = 0,
                                    [CU_TR_ADDRESS_MODE_CLAMP] = 3,
                                    [CU_TR_ADDRESS_MODE_MIRROR] = 1,
                                    [CU_TR_ADDRESS_MODE_BORDER] = 4};
    return modes[mode];
}

static uint32_t answer(const struct mr_texture *texture, uint32_t code, uint32_t level)
{
    const struct mr_texels *texels = &texture->levels[level < texture->level_count ? level : texture->level_count - 1u];
    bool flat = texture->shape == MR_TEXTURE_1D;
    switch (MR_IMAGE_GET(code, QUESTION)) {
    case MR_IMAGE_WIDTH:
        return texels->width;
    case MR_IMAGE_HEIGHT:
        return flat ? 0 : texels->height;
    case MR_IMAGE_DEPTH:
        return texture->shape == MR_TEXTURE_3D ? texels->depth : 0;
    case MR_IMAGE_NORMALIZED:
        return texture->normalized;
    case MR_IMAGE_LAYERS:
        return texture->layered ? texture->layers : 0;
    case MR_IMAGE_TYPE:
        return format_of(&texture->format);
    case MR_IMAGE_ORDER:
        return texture->format.channels;
    case MR_IMAGE_FILTER:
        return texture->desc.filterMode == CU_TR_FILTER_MODE_LINEAR;
    case MR_IMAGE_ADDRESS_X:
    case MR_IMAGE_ADDRESS_Y:
    case MR_IMAGE_ADDRESS_Z:
        return address_mode(texture->desc.addressMode[MR_IMAGE_GET(code, QUESTION) - MR_IMAGE_ADDRESS_X]);
    case MR_IMAGE_ONE:
        return 1;
    case MR_IMAGE_NOTHING:
        return 0;
    case MR_IMAGE_LINEAR:
        return texture->linear;
    default:
        return texture->level_count;
    }
}

static void run_lane(struct mr_block *block, const struct mr_texture *texture, uint32_t code, uint32_t line,
                     struct mr_image_lanes *lanes, unsigned lane)
{
    union mr_texel texel;
    struct mr_sample sample;
    int32_t at[4] = {0};
    uint64_t data[4];
    switch (MR_IMAGE_GET(code, OP)) {
    case MR_IMAGE_TEX:
    case MR_IMAGE_GATHER:
        take_sample(code, lanes, lane, &sample);
        sample.notes = notes_of(block);
        if (MR_IMAGE_GET(code, OP) == MR_IMAGE_TEX)
            mr_sample_texture(texture, &sample, &texel);
        else
            mr_sample_gather(texture, &sample, &texel);
        give_result(texture, code, &texel, lanes, lane);
        break;
    case MR_IMAGE_ASK:
        lanes->data[0][lane] =
            answer(texture, code, MR_IMAGE_GET(code, DETAIL) == MR_IMAGE_LEVEL ? lanes->level[0][lane] : 0);
        break;
    default:
        for (unsigned i = 0; i < 4; i++) {
            at[i] = (int32_t)lanes->at[i][lane];
            data[i] = lanes->data[i][lane];
        }
        switch (mr_surface_access(texture, code, at, data, notes_of(block))) {
        case MR_SURFACE_OUTSIDE:
            mr_executor_fault(block->engine, CUDA_ERROR_ILLEGAL_ADDRESS, line, "an access outside of a surface");
        case MR_SURFACE_UNEVEN:
            mr_executor_fault(block->engine, CUDA_ERROR_MISALIGNED_ADDRESS, line,
                              "an access to a surface that is not aligned");
        default:
            break;
        }
        for (unsigned i = 0; i < 4; i++)
            lanes->data[i][lane] = data[i];
        break;
    }
}

/* istypep: what kind of reference an address is of. Hardware says no of a texture or surface object. */
static void run_is(uint32_t mask, uint32_t code, struct mr_image_lanes *lanes)
{
    for (; mask; mask &= mask - 1) {
        unsigned lane = (unsigned)__builtin_ctz(mask), wanted = MR_IMAGE_GET(code, QUESTION);
        lanes->data[0][lane] = wanted != 1 && lanes->handle[lane] % 8 == 0 &&
                               find(lanes->handle[lane], wanted ? MR_KIND_SURFACE : MR_KIND_TEXTURE) != NULL;
    }
}

static uint32_t lanes_with(uint32_t mask, uint64_t handle, const struct mr_image_lanes *lanes)
{
    uint64_t others = 0;
    for (unsigned lane = 0; lane < MR_WARP_LANES; lane++)
        others |= lanes->handle[lane] ^ handle;
    if (!others)
        return mask;
    uint32_t found = 0;
    for (; mask; mask &= mask - 1) {
        unsigned lane = (unsigned)__builtin_ctz(mask);
        found |= (uint32_t)(lanes->handle[lane] == handle) << lane;
    }
    return found;
}

static void run_lanes(struct mr_block *block, uint32_t mask, uint32_t code, uint32_t line, struct mr_image_lanes *lanes)
{
    unsigned op = MR_IMAGE_GET(code, OP);
    bool surface =
        (op >= MR_IMAGE_LOAD && op <= MR_IMAGE_REDUCE) || (op == MR_IMAGE_ASK && MR_IMAGE_GET(code, SURFACE));
    const struct mr_texture *texture = NULL;
    uint64_t known = 0;
    for (; mask; mask &= mask - 1) {
        unsigned lane = (unsigned)__builtin_ctz(mask);
        if (!texture || lanes->handle[lane] != known) {
            known = lanes->handle[lane];
            texture = find(known, surface ? MR_KIND_SURFACE : MR_KIND_TEXTURE);
            if (!texture)
                mr_executor_fault(block->engine, CUDA_ERROR_ILLEGAL_ADDRESS, line,
                                  surface ? "an invalid surface handle" : "an invalid texture handle");
            if (op != MR_IMAGE_ASK && !geom_fits(texture, MR_IMAGE_GET(code, GEOM)))
                mr_executor_fault(block->engine, CUDA_ERROR_LAUNCH_FAILED, line,
                                  "a texture or surface of another geometry than the instruction's");
            if (!notes_of(block) && mr_sample_warp_fits(texture, code)) {
                uint32_t same = lanes_with(mask, known, lanes);
                mr_sample_warp(mr_sample_widest(), texture, code, same, lanes);
                mask &= ~same | 1u << lane; /* the loop takes this lane out */
                texture = NULL;
                continue;
            }
        }
        run_lane(block, texture, code, line, lanes, lane);
    }
}

void mr_image_run(struct mr_block *block, uint32_t mask, uint32_t code, uint32_t line, struct mr_image_lanes *lanes)
{
    struct mr_executor *executor = block->engine;
    executor->outer_visit = mr_visit_begin();
    executor->visits = true;
    if (MR_IMAGE_GET(code, OP) == MR_IMAGE_IS)
        run_is(mask, code, lanes);
    else
        run_lanes(block, mask, code, line, lanes);
    executor->visits = false;
    mr_visit_end(executor->outer_visit);
}
