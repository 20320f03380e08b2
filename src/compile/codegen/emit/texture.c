/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Textures and surfaces: operands go into a record of rows of 32 lanes, the
 * runtime does the rest for all lanes that run, and results come back from the
 * same record. There is one such record in a function's frame.
 */
#include "compile/codegen/emit/emit.h"
#include "compile/codegen/operands/touch.h"

#include <stddef.h>

/* The code generator passes geometries on by number. */
_Static_assert((int)MR_IMAGE_1D == MR_PTX_GEOM_1D && (int)MR_IMAGE_2D == MR_PTX_GEOM_2D &&
                   (int)MR_IMAGE_3D == MR_PTX_GEOM_3D && (int)MR_IMAGE_A1D == MR_PTX_GEOM_A1D &&
                   (int)MR_IMAGE_A2D == MR_PTX_GEOM_A2D && (int)MR_IMAGE_CUBE == MR_PTX_GEOM_CUBE &&
                   (int)MR_IMAGE_ACUBE == MR_PTX_GEOM_ACUBE,
               "geometries of PTX and of the runtime");

static LLVMValueRef record(struct cg *g)
{
    if (!g->memory.images) {
        g->memory.images = cg_slot(g, LLVMArrayType2(g->unit->i8, sizeof(struct mr_image_lanes)), "image");
        LLVMSetAlignment(g->memory.images, 64);
        g->memory.bytes += sizeof(struct mr_image_lanes);
    }
    return g->memory.images;
}

/* A row of the record, by its offset. */
static LLVMValueRef row(struct cg *g, size_t offset)
{
    LLVMValueRef place = LLVMConstInt(g->unit->i64, offset, false);
    return LLVMBuildGEP2(g->b, g->unit->i8, record(g), &place, 1, "");
}

static void put(struct cg *g, size_t offset, const struct mr_ptx_operand *operand, LLVMTypeRef element)
{
    LLVMBuildStore(g->b, cg_source(g, operand, element), row(g, offset));
}

/* Numbers of 32 bits, one row each. `first` is the type of the first of them. */
static void put_rows(struct cg *g, size_t offset, const struct mr_ptx_operand *operand, LLVMTypeRef first,
                     LLVMTypeRef rest)
{
    if (operand->kind == MR_PTX_OPERAND_SINK)
        return;
    if (operand->kind != MR_PTX_OPERAND_VECTOR) {
        put(g, offset, operand, first);
        return;
    }
    for (unsigned i = 0; i < operand->count && i < 4; i++)
        put(g, offset + i * sizeof(uint32_t[CG_LANES]), &operand->elements[i], i == 0 ? first : rest);
}

static unsigned log2_of(unsigned value)
{
    return (unsigned)__builtin_ctz(value);
}

static unsigned detail_of(const struct mr_ptx_inst *inst)
{
    return inst->mode == MR_PTX_MODE_LEVEL  ? MR_IMAGE_LEVEL
           : inst->mode == MR_PTX_MODE_GRAD ? MR_IMAGE_GRADIENT
                                            : MR_IMAGE_BASE;
}

static uint32_t code_of_texture(const struct mr_ptx_inst *inst)
{
    unsigned to = inst->type[0];
    unsigned result = to == MR_PTX_TYPE_F16 ? MR_IMAGE_HALF : to == MR_PTX_TYPE_F16X2 ? MR_IMAGE_HALVES : MR_IMAGE_WORD;
    unsigned geom = inst->geom == MR_PTX_GEOM_2DMS    ? MR_PTX_GEOM_2D
                    : inst->geom == MR_PTX_GEOM_A2DMS ? MR_PTX_GEOM_A2D
                                                      : inst->geom;
    uint32_t code = MR_IMAGE_PUT(GEOM, geom) | MR_IMAGE_PUT(RESULT, result) |
                    MR_IMAGE_PUT(FLOAT_AT, inst->type[1] == MR_PTX_TYPE_F32) |
                    MR_IMAGE_PUT(OFFSET, inst->operands[MR_PTX_TEXTURE_OFFSET].kind == MR_PTX_OPERAND_VECTOR);
    if (inst->op == MR_PTX_OP_TLD4)
        return code | MR_IMAGE_PUT(OP, MR_IMAGE_GATHER) | MR_IMAGE_PUT(CHANNEL, inst->mode2 - MR_PTX_MODE_CHANNEL_R);
    return code | MR_IMAGE_PUT(OP, MR_IMAGE_TEX) | MR_IMAGE_PUT(DETAIL, detail_of(inst));
}

static uint32_t code_of_surface(const struct mr_ptx_inst *inst)
{
    static const uint8_t reductions[] = {[MR_PTX_ATOM_ADD] = MR_IMAGE_ADD,
                                         [MR_PTX_ATOM_MIN] = MR_IMAGE_MIN,
                                         [MR_PTX_ATOM_MAX] = MR_IMAGE_MAX,
                                         [MR_PTX_ATOM_AND] = MR_IMAGE_AND,
                                         [MR_PTX_ATOM_OR] = MR_IMAGE_OR};
    enum mr_ptx_type type = (enum mr_ptx_type)inst->type[0];
    unsigned op = inst->op == MR_PTX_OP_SULD   ? MR_IMAGE_LOAD
                  : inst->op == MR_PTX_OP_SUST ? MR_IMAGE_STORE
                                               : MR_IMAGE_REDUCE;
    unsigned outside = inst->mode2 == MR_PTX_MODE_CLAMP  ? MR_IMAGE_CLAMP
                       : inst->mode2 == MR_PTX_MODE_ZERO ? MR_IMAGE_ZERO
                                                         : MR_IMAGE_TRAP;
    uint32_t code = MR_IMAGE_PUT(OP, op) | MR_IMAGE_PUT(GEOM, inst->geom) | MR_IMAGE_PUT(OUTSIDE, outside) |
                    MR_IMAGE_PUT(FORMATTED, inst->mode == MR_PTX_MODE_FORMATTED) |
                    MR_IMAGE_PUT(BYTES, log2_of(mr_ptx_type_bytes(type))) | MR_IMAGE_PUT(COUNT, log2_of(inst->vector));
    if (inst->op == MR_PTX_OP_SURED)
        code |= MR_IMAGE_PUT(REDUCE, reductions[inst->atom]) | MR_IMAGE_PUT(SIGNED, mr_ptx_type_class(type) == 'S');
    return code;
}

static uint32_t code_of_query(const struct mr_ptx_inst *inst)
{
    unsigned question;
    switch (inst->query) {
    case MR_PTX_QUERY_WIDTH:
        question = MR_IMAGE_WIDTH;
        break;
    case MR_PTX_QUERY_HEIGHT:
        question = MR_IMAGE_HEIGHT;
        break;
    case MR_PTX_QUERY_DEPTH:
        question = MR_IMAGE_DEPTH;
        break;
    case MR_PTX_QUERY_NORMALIZED_COORDS:
        question = MR_IMAGE_NORMALIZED;
        break;
    case MR_PTX_QUERY_ARRAY_SIZE:
        question = MR_IMAGE_LAYERS;
        break;
    case MR_PTX_QUERY_CHANNEL_DATA_TYPE:
        question = MR_IMAGE_TYPE;
        break;
    case MR_PTX_QUERY_CHANNEL_ORDER:
        question = MR_IMAGE_ORDER;
        break;
    case MR_PTX_QUERY_FILTER_MODE:
        question = MR_IMAGE_FILTER;
        break;
    case MR_PTX_QUERY_ADDR_MODE_0:
    case MR_PTX_QUERY_ADDR_MODE_1:
    case MR_PTX_QUERY_ADDR_MODE_2:
        question = MR_IMAGE_ADDRESS_X + inst->query - MR_PTX_QUERY_ADDR_MODE_0;
        break;
    case MR_PTX_QUERY_NUM_SAMPLES:
        question = MR_IMAGE_ONE;
        break;
    case MR_PTX_QUERY_MEMORY_LAYOUT:
        question = MR_IMAGE_LINEAR;
        break;
    case MR_PTX_QUERY_FORCE_UNNORMALIZED_COORDS:
        question = MR_IMAGE_NOTHING;
        break; /* no sampler overrides what a texture says of its coordinates */
    default:
        question = MR_IMAGE_LEVELS;
        break;
    }
    return MR_IMAGE_PUT(OP, MR_IMAGE_ASK) | MR_IMAGE_PUT(QUESTION, question) |
           MR_IMAGE_PUT(SURFACE, inst->op == MR_PTX_OP_SUQ) | MR_IMAGE_PUT(DETAIL, detail_of(inst));
}

/* How the runtime will touch texels: MR_SITE_*, 0 if it only asks. */
static uint32_t how_of(uint32_t code)
{
    switch (MR_IMAGE_GET(code, OP)) {
    case MR_IMAGE_TEX:
    case MR_IMAGE_GATHER:
    case MR_IMAGE_LOAD:
        return MR_SITE_READ;
    case MR_IMAGE_STORE:
        return MR_SITE_WRITE;
    case MR_IMAGE_REDUCE:
        return MR_SITE_READ | MR_SITE_WRITE | MR_SITE_ATOMIC;
    default:
        return 0;
    }
}

static void run(struct cg *g, const struct mr_ptx_inst *inst, uint32_t code)
{
    LLVMTypeRef i32 = g->unit->i32;
    cg_touch_service(g, cg_touch_flags(g, NULL, MR_PTX_SPACE_GLOBAL, how_of(code)));
    LLVMValueRef args[4] = {g->now.exec, LLVMConstInt(i32, code, false), LLVMConstInt(i32, inst->line, false),
                            record(g)};
    cg_runtime_call(g, offsetof(struct mr_runtime, image), g->unit->void_type, args, 4);
}

static void put_handle(struct cg *g, const struct mr_ptx_operand *handle)
{
    put(g, offsetof(struct mr_image_lanes, handle), handle, g->unit->i64);
}

static size_t data_row(unsigned number)
{
    return offsetof(struct mr_image_lanes, data) + number * sizeof(uint64_t[CG_LANES]);
}

/* Results into their registers: the low bits of each number of 64. */
static void take_results(struct cg *g, const struct mr_ptx_operand *to, unsigned bits)
{
    unsigned count = to->kind == MR_PTX_OPERAND_VECTOR ? to->count : 1;
    for (unsigned i = 0; i < count; i++) {
        const struct mr_ptx_operand *operand = to->kind == MR_PTX_OPERAND_VECTOR ? &to->elements[i] : to;
        LLVMValueRef value = LLVMBuildLoad2(g->b, cg_vector_type(g->unit->i64, CG_LANES), row(g, data_row(i)), "");
        cg_write_extended(g, operand, cg_resize(g, value, cg_int_type(g, bits), false), false);
    }
}

static void put_data(struct cg *g, const struct mr_ptx_inst *inst)
{
    const struct mr_ptx_operand *data = &inst->operands[MR_PTX_TEXTURE_DATA];
    unsigned count = data->kind == MR_PTX_OPERAND_VECTOR ? data->count : 1,
             bits = mr_ptx_type_bits((enum mr_ptx_type)inst->type[0]);
    for (unsigned i = 0; i < count; i++) {
        LLVMValueRef value =
            cg_source(g, data->kind == MR_PTX_OPERAND_VECTOR ? &data->elements[i] : data, cg_int_type(g, bits));
        LLVMBuildStore(g->b, cg_resize(g, value, g->unit->i64, false), row(g, data_row(i)));
    }
}

/* Coordinates behind the number of a sample, and a layer before it. To ask for any but the first of both is to read
 * outside, as on hardware: there is one sample, and layers are not found this way. */
static void put_sample(struct cg *g, const struct mr_ptx_inst *inst)
{
    const struct mr_ptx_operand *at = inst->operands[MR_PTX_TEXTURE_AT].elements;
    size_t place = offsetof(struct mr_image_lanes, at), step = sizeof(uint32_t[CG_LANES]);
    LLVMValueRef which = cg_source(g, at++, g->unit->i32);
    if (inst->geom == MR_PTX_GEOM_A2DMS) {
        LLVMBuildStore(g->b, which, row(g, place));
        place += step;
        which = LLVMBuildOr(g->b, which, cg_source(g, at++, g->unit->i32), "");
    }
    LLVMValueRef first = LLVMBuildICmp(g->b, LLVMIntEQ, which, cg_int(g, g->unit->i32, 0), "");
    LLVMBuildStore(g->b, cg_select(g, first, cg_source(g, at, g->unit->i32), cg_int(g, g->unit->i32, UINT32_MAX)),
                   row(g, place));
    put(g, place + step, at + 1, g->unit->i32);
}

static void emit_texture(struct cg *g, const struct mr_ptx_inst *inst)
{
    LLVMTypeRef at = inst->type[1] == MR_PTX_TYPE_F32 ? g->unit->f32 : g->unit->i32;
    bool layered = inst->geom == MR_PTX_GEOM_A1D || inst->geom == MR_PTX_GEOM_A2D || inst->geom == MR_PTX_GEOM_ACUBE;
    const struct mr_ptx_operand *operands = inst->operands;
    bool gradient = inst->op == MR_PTX_OP_TEX && inst->mode == MR_PTX_MODE_GRAD;
    LLVMTypeRef level = gradient ? g->unit->f32 : at;
    if (inst->geom == MR_PTX_GEOM_2DMS || inst->geom == MR_PTX_GEOM_A2DMS)
        put_sample(g, inst);
    else
        put_rows(g, offsetof(struct mr_image_lanes, at), &operands[MR_PTX_TEXTURE_AT], layered ? g->unit->i32 : at, at);
    put_rows(g, offsetof(struct mr_image_lanes, level), &operands[MR_PTX_TEXTURE_LEVEL], level, level);
    put_rows(g, offsetof(struct mr_image_lanes, along_y), &operands[MR_PTX_TEXTURE_ALONG_Y], g->unit->f32,
             g->unit->f32);
    put_rows(g, offsetof(struct mr_image_lanes, offset), &operands[MR_PTX_TEXTURE_OFFSET], g->unit->i32, g->unit->i32);
    run(g, inst, code_of_texture(inst));
    take_results(g, &operands[MR_PTX_TEXTURE_RESULT], inst->type[0] == MR_PTX_TYPE_F16 ? 16 : 32);
}

static void emit_surface(struct cg *g, const struct mr_ptx_inst *inst)
{
    put_rows(g, offsetof(struct mr_image_lanes, at), &inst->operands[MR_PTX_TEXTURE_AT], g->unit->i32, g->unit->i32);
    if (inst->op != MR_PTX_OP_SULD)
        put_data(g, inst);
    run(g, inst, code_of_surface(inst));
    if (inst->op == MR_PTX_OP_SULD)
        take_results(g, &inst->operands[MR_PTX_TEXTURE_RESULT], mr_ptx_type_bits((enum mr_ptx_type)inst->type[0]));
}

static void emit_istypep(struct cg *g, const struct mr_ptx_inst *inst)
{
    unsigned wanted = inst->type[0] == MR_PTX_TYPE_TEXREF ? 0 : inst->type[0] == MR_PTX_TYPE_SAMPLERREF ? 1 : 2;
    put_handle(g, &inst->operands[1]);
    run(g, inst, MR_IMAGE_PUT(OP, MR_IMAGE_IS) | MR_IMAGE_PUT(QUESTION, wanted));
    LLVMValueRef value = LLVMBuildLoad2(g->b, cg_vector_type(g->unit->i64, CG_LANES), row(g, data_row(0)), "");
    cg_write(g, &inst->operands[0], cg_resize(g, value, g->unit->i1, false));
}

bool cg_emit_texture(struct cg *g, const struct mr_ptx_inst *inst)
{
    switch (inst->op) {
    case MR_PTX_OP_TEX:
    case MR_PTX_OP_TLD4:
    case MR_PTX_OP_TXQ:
    case MR_PTX_OP_SULD:
    case MR_PTX_OP_SUST:
    case MR_PTX_OP_SURED:
    case MR_PTX_OP_SUQ:
    case MR_PTX_OP_ISTYPEP:
        break;
    default:
        return false;
    }
    g->now.lanes = CG_LANES;
    if (inst->op == MR_PTX_OP_ISTYPEP) {
        emit_istypep(g, inst);
        return true;
    }
    put_handle(g, &inst->operands[MR_PTX_TEXTURE_HANDLE]);
    if (inst->op == MR_PTX_OP_TEX || inst->op == MR_PTX_OP_TLD4) {
        emit_texture(g, inst);
    } else if (inst->op == MR_PTX_OP_TXQ || inst->op == MR_PTX_OP_SUQ) {
        put_rows(g, offsetof(struct mr_image_lanes, level), &inst->operands[MR_PTX_TEXTURE_LEVEL], g->unit->i32,
                 g->unit->i32);
        run(g, inst, code_of_query(inst));
        take_results(g, &inst->operands[MR_PTX_TEXTURE_RESULT], 32);
    } else {
        emit_surface(g, inst);
    }
    return true;
}
