/* SPDX-License-Identifier: Apache-2.0 */

/*
 * tex, tld4, txq, suld, sust, sured, suq: which modifiers go together, and what
 * operands each geometry takes. CUDA has no way to make a multisampled texture, or
 * one that compares: of those that it has, an instruction reads the one sample,
 * and does not compare.
 */
#include "ptx/verify.h"

static const struct mr_ptx_operand *operand_at(const struct verifier *verifier, unsigned place)
{
    return &verifier->inst->operands[place];
}

static bool is_given(const struct verifier *verifier, unsigned place)
{
    return operand_at(verifier, place)->kind != MR_PTX_OPERAND_SINK;
}

/* A 64-bit register, or a reference of the right type. */
static bool check_handle(struct verifier *verifier, enum mr_ptx_type reference)
{
    const struct mr_ptx_operand *handle = operand_at(verifier, MR_PTX_TEXTURE_HANDLE);
    if (handle->kind == MR_PTX_OPERAND_SYMBOL) {
        if (handle->var->type == reference && handle->value == 0)
            return true;
        return mr_ptx_verify_operand_error(verifier, handle, "'%s' is not a '.%s'", handle->var->name,
                                           mr_ptx_type_name(reference));
    }
    if (handle->kind != MR_PTX_OPERAND_REG)
        return mr_ptx_verify_operand_error(verifier, handle, "expected a reference or a register");
    return mr_ptx_verify_source(verifier, handle, MR_PTX_TYPE_B64, false);
}

/* A vector of `count` sources, padded to 4 if it is 3; a single one need not be in braces. `first` is the type of the
 * first, if that differs. Except for gradients, 2 and 4 elements may be written where fewer are looked at. */
static bool check_vector(struct verifier *verifier, unsigned place, unsigned count, enum mr_ptx_type first,
                         enum mr_ptx_type rest)
{
    const struct mr_ptx_operand *operand = operand_at(verifier, place);
    unsigned least = count == 3 ? 4 : count;
    if (operand->kind != MR_PTX_OPERAND_VECTOR && least == 1)
        return mr_ptx_verify_source(verifier, operand, first, false);
    bool more = (place == MR_PTX_TEXTURE_AT || place == MR_PTX_TEXTURE_OFFSET) && operand->count > least &&
                (operand->count == 2 || operand->count == 4);
    if (operand->kind != MR_PTX_OPERAND_VECTOR || (operand->count != least && !more))
        return mr_ptx_verify_operand_error(verifier, operand, "expected a vector of %u elements", least);
    for (unsigned i = 0; i < operand->count; i++)
        if (!mr_ptx_verify_source(verifier, &operand->elements[i], i == 0 ? first : rest, false))
            return false;
    return true;
}

/* Coordinates: as many as the geometry has, behind the layer. */
static bool check_place(struct verifier *verifier, enum mr_ptx_type type)
{
    static const struct {
        uint8_t count;
        bool layered;
    } geoms[] = {
        [MR_PTX_GEOM_1D] = {1, false},   [MR_PTX_GEOM_2D] = {2, false},   [MR_PTX_GEOM_3D] = {3, false},
        [MR_PTX_GEOM_A1D] = {2, true},   [MR_PTX_GEOM_A2D] = {3, true},   [MR_PTX_GEOM_2DMS] = {4, false},
        [MR_PTX_GEOM_A2DMS] = {4, true}, [MR_PTX_GEOM_CUBE] = {3, false}, [MR_PTX_GEOM_ACUBE] = {4, true},
    };
    uint8_t geom = verifier->inst->geom;
    if (geom == MR_PTX_GEOM_NONE)
        return mr_ptx_verify_error(verifier, "'%s' needs a geometry",
                                   mr_ptx_op_name((enum mr_ptx_op)verifier->inst->op));
    return check_vector(verifier, MR_PTX_TEXTURE_AT, geoms[geom].count, geoms[geom].layered ? MR_PTX_TYPE_U32 : type,
                        type);
}

static bool check_result(struct verifier *verifier, unsigned count, enum mr_ptx_type type, bool relaxed)
{
    const struct mr_ptx_operand *result = operand_at(verifier, MR_PTX_TEXTURE_RESULT);
    if (result->kind != MR_PTX_OPERAND_VECTOR) {
        if (count > 1)
            return mr_ptx_verify_operand_error(verifier, result, "expected a vector of %u registers", count);
        return mr_ptx_verify_dest(verifier, result, type, relaxed);
    }
    if (result->count != count)
        return mr_ptx_verify_operand_error(verifier, result, "expected a vector of %u registers", count);
    for (unsigned i = 0; i < count; i++)
        if (result->elements[i].kind != MR_PTX_OPERAND_SINK &&
            !mr_ptx_verify_dest(verifier, &result->elements[i], type, relaxed))
            return false;
    return true;
}

/* A sampler stands beside each texture in a module of .texmode_independent, and only there. It is a handle that nobody
 * looks at: that of the texture counts. */
static bool check_sampler(struct verifier *verifier)
{
    const struct mr_ptx_operand *sampler = operand_at(verifier, MR_PTX_TEXTURE_SAMPLER);
    if (verifier->module->target_independent != is_given(verifier, MR_PTX_TEXTURE_SAMPLER))
        return mr_ptx_verify_error(verifier,
                                   verifier->module->target_independent
                                       ? "'%s' needs a sampler in a module of 'texmode_independent'"
                                       : "'%s' takes a sampler only in a module of 'texmode_independent'",
                                   mr_ptx_op_name((enum mr_ptx_op)verifier->inst->op));
    if (sampler->kind == MR_PTX_OPERAND_SINK)
        return true;
    return sampler->kind == MR_PTX_OPERAND_REG
               ? mr_ptx_verify_source(verifier, sampler, MR_PTX_TYPE_B64, false)
               : mr_ptx_verify_operand_error(verifier, sampler, "expected a register of 64 bits");
}

static bool check_compare(struct verifier *verifier)
{
    const struct mr_ptx_inst *inst = verifier->inst;
    if (!is_given(verifier, MR_PTX_TEXTURE_COMPARE))
        return true;
    if (inst->geom == MR_PTX_GEOM_3D || inst->geom == MR_PTX_GEOM_2DMS || inst->geom == MR_PTX_GEOM_A2DMS ||
        (inst->op == MR_PTX_OP_TEX && inst->type[1] != MR_PTX_TYPE_F32))
        return mr_ptx_verify_operand_error(verifier, operand_at(verifier, MR_PTX_TEXTURE_COMPARE),
                                           "no comparison of depths in this geometry");
    if (!mr_ptx_verify_is_version(verifier, 4, 3) || !mr_ptx_verify_is_sm(verifier, 30))
        return mr_ptx_verify_operand_error(verifier, operand_at(verifier, MR_PTX_TEXTURE_COMPARE),
                                           "a comparison of depths needs PTX 4.3 and target sm_30");
    return mr_ptx_verify_source(verifier, operand_at(verifier, MR_PTX_TEXTURE_COMPARE), MR_PTX_TYPE_F32, false);
}

/* .2dms, .a2dms: the sample is named beside the coordinates. */
static bool is_multisampled(const struct mr_ptx_inst *inst)
{
    return inst->geom == MR_PTX_GEOM_2DMS || inst->geom == MR_PTX_GEOM_A2DMS;
}

static bool check_multisampled(struct verifier *verifier)
{
    const struct mr_ptx_inst *inst = verifier->inst;
    if (inst->op != MR_PTX_OP_TEX)
        return mr_ptx_verify_error(verifier, "this geometry is not allowed for '%s'",
                                   mr_ptx_op_name((enum mr_ptx_op)inst->op));
    if (inst->type[1] != MR_PTX_TYPE_S32)
        return mr_ptx_verify_error(verifier, "coordinates of this geometry are '.s32'");
    return (inst->mode != MR_PTX_MODE_LEVEL && inst->mode != MR_PTX_MODE_GRAD) ||
           mr_ptx_verify_error(verifier, "this geometry has no levels of detail");
}

static bool check_offsets(struct verifier *verifier, unsigned count)
{
    const struct mr_ptx_operand *offsets = operand_at(verifier, MR_PTX_TEXTURE_OFFSET), *first = offsets->elements;
    bool untyped = first->kind == MR_PTX_OPERAND_REG && first->type == MR_PTX_TYPE_B32;
    return check_vector(verifier, MR_PTX_TEXTURE_OFFSET, count, MR_PTX_TYPE_S32,
                        untyped ? MR_PTX_TYPE_B32 : MR_PTX_TYPE_S32);
}

static bool check_extras(struct verifier *verifier)
{
    const struct mr_ptx_operand *offsets = operand_at(verifier, MR_PTX_TEXTURE_OFFSET);
    if (!check_sampler(verifier) || !check_compare(verifier))
        return false;
    if (!is_given(verifier, MR_PTX_TEXTURE_OFFSET))
        return true;
    if (offsets->kind != MR_PTX_OPERAND_VECTOR)
        return mr_ptx_verify_source(verifier, offsets, MR_PTX_TYPE_S32, false);
    switch (verifier->inst->geom) {
    case MR_PTX_GEOM_CUBE:
    case MR_PTX_GEOM_ACUBE:
        return mr_ptx_verify_operand_error(verifier, offsets, "a cubemap takes no offset");
    case MR_PTX_GEOM_1D:
    case MR_PTX_GEOM_A1D:
        return check_offsets(verifier, 1);
    case MR_PTX_GEOM_3D:
        return check_offsets(verifier, 3);
    default:
        return check_offsets(verifier, 2);
    }
}

static bool check_gradients(struct verifier *verifier)
{
    unsigned count = 1;
    switch (verifier->inst->geom) {
    case MR_PTX_GEOM_2D:
    case MR_PTX_GEOM_A2D:
        count = 2;
        break;
    case MR_PTX_GEOM_3D:
    case MR_PTX_GEOM_CUBE:
    case MR_PTX_GEOM_ACUBE:
        count = 3;
        break;
    default:
        break;
    }
    for (unsigned place = MR_PTX_TEXTURE_LEVEL; place <= MR_PTX_TEXTURE_ALONG_Y; place++)
        if (operand_at(verifier, place)->kind != MR_PTX_OPERAND_VECTOR)
            return mr_ptx_verify_operand_error(verifier, operand_at(verifier, place), "a gradient is a vector");
    return check_vector(verifier, MR_PTX_TEXTURE_LEVEL, count, MR_PTX_TYPE_F32, MR_PTX_TYPE_F32) &&
           check_vector(verifier, MR_PTX_TEXTURE_ALONG_Y, count, MR_PTX_TYPE_F32, MR_PTX_TYPE_F32);
}

static bool is_cube(const struct mr_ptx_inst *inst)
{
    return inst->geom == MR_PTX_GEOM_CUBE || inst->geom == MR_PTX_GEOM_ACUBE;
}

static bool check_tex(struct verifier *verifier)
{
    const struct mr_ptx_inst *inst = verifier->inst;
    enum mr_ptx_type to = (enum mr_ptx_type)inst->type[0], at = (enum mr_ptx_type)inst->type[1];
    bool pairs = to == MR_PTX_TYPE_F16X2;
    if (to == MR_PTX_TYPE_BF16 || to == MR_PTX_TYPE_BF16X2)
        return mr_ptx_verify_error(verifier, "type '.%s' is not allowed for 'tex'", mr_ptx_type_name(to));
    if (inst->vector != (pairs ? 2 : 4))
        return mr_ptx_verify_error(verifier, "'tex' of type '.%s' needs '.v%u'", mr_ptx_type_name(to), pairs ? 2 : 4);
    if (at == MR_PTX_TYPE_U32)
        return mr_ptx_verify_error(verifier, "coordinates are '.s32' or '.f32'");
    if (is_multisampled(inst) && !check_multisampled(verifier))
        return false;
    if (is_cube(inst) && at != MR_PTX_TYPE_F32)
        return mr_ptx_verify_error(verifier, "a cubemap's coordinates are '.f32'");
    if (!check_handle(verifier, MR_PTX_TYPE_TEXREF) || !check_place(verifier, at) ||
        !check_result(verifier, inst->vector,
                      to == MR_PTX_TYPE_F16 ? MR_PTX_TYPE_B16
                      : pairs               ? MR_PTX_TYPE_B32
                                            : to,
                      false) ||
        !check_extras(verifier))
        return false;
    if (inst->mode == MR_PTX_MODE_GRAD)
        return check_gradients(verifier);
    return inst->mode != MR_PTX_MODE_LEVEL || mr_ptx_verify_source(verifier, operand_at(verifier, MR_PTX_TEXTURE_LEVEL),
                                                                   at == MR_PTX_TYPE_S32 ? MR_PTX_TYPE_B32 : at, false);
}

static bool check_tld4(struct verifier *verifier)
{
    const struct mr_ptx_inst *inst = verifier->inst;
    if (inst->mode2 == MR_PTX_MODE_NONE || inst->vector != 4)
        return mr_ptx_verify_error(verifier, "'tld4' needs a channel and '.v4'");
    if (is_multisampled(inst) && !check_multisampled(verifier))
        return false;
    if (inst->geom == MR_PTX_GEOM_1D || inst->geom == MR_PTX_GEOM_3D || inst->geom == MR_PTX_GEOM_A1D)
        return mr_ptx_verify_error(verifier, "'tld4' is for two-dimensional textures and cubemaps");
    return check_handle(verifier, MR_PTX_TYPE_TEXREF) && check_place(verifier, MR_PTX_TYPE_F32) &&
           check_result(verifier, 4, (enum mr_ptx_type)inst->type[0], false) && check_extras(verifier);
}

static bool check_surface(struct verifier *verifier)
{
    const struct mr_ptx_inst *inst = verifier->inst;
    enum mr_ptx_type type = (enum mr_ptx_type)inst->type[0];
    bool formatted = inst->mode == MR_PTX_MODE_FORMATTED, reduces = inst->op == MR_PTX_OP_SURED;
    if (inst->mode == MR_PTX_MODE_NONE || (formatted && inst->op == MR_PTX_OP_SULD))
        return mr_ptx_verify_error(verifier, inst->op == MR_PTX_OP_SULD ? "'%s' needs '.b'" : "'%s' needs '.b' or '.p'",
                                   mr_ptx_op_name((enum mr_ptx_op)inst->op));
    if (inst->mode2 == MR_PTX_MODE_NONE && !(inst->op == MR_PTX_OP_SUST && formatted))
        return mr_ptx_verify_error(verifier, "'%s' needs '.trap', '.clamp' or '.zero'",
                                   mr_ptx_op_name((enum mr_ptx_op)inst->op));
    if (is_cube(inst) || (reduces && (inst->geom == MR_PTX_GEOM_A1D || inst->geom == MR_PTX_GEOM_A2D)))
        return mr_ptx_verify_error(verifier, "this geometry is not allowed for '%s'",
                                   mr_ptx_op_name((enum mr_ptx_op)inst->op));
    if (!reduces && (type == MR_PTX_TYPE_U8 || type == MR_PTX_TYPE_S8 || (formatted && type != MR_PTX_TYPE_B32)))
        return mr_ptx_verify_error(verifier, "type '.%s' is not allowed here", mr_ptx_type_name(type));
    if (inst->vector == 8 || (inst->vector == 4 && type == MR_PTX_TYPE_B64))
        return mr_ptx_verify_error(verifier, "more than 128 bits in one access");
    if (is_multisampled(inst) && !check_multisampled(verifier))
        return false;
    if (!check_handle(verifier, MR_PTX_TYPE_SURFREF) || !check_place(verifier, MR_PTX_TYPE_S32))
        return false;
    if (inst->op == MR_PTX_OP_SULD)
        return check_result(verifier, inst->vector, type, true);
    const struct mr_ptx_operand *data = operand_at(verifier, MR_PTX_TEXTURE_DATA);
    if (data->kind != MR_PTX_OPERAND_VECTOR)
        return inst->vector > 1
                   ? mr_ptx_verify_operand_error(verifier, data, "expected a vector of %u elements", inst->vector)
                   : mr_ptx_verify_source(verifier, data, type, true);
    if (data->count != inst->vector)
        return mr_ptx_verify_operand_error(verifier, data, "expected a vector of %u elements", inst->vector);
    for (unsigned i = 0; i < data->count; i++)
        if (!mr_ptx_verify_source(verifier, &data->elements[i], type, true))
            return false;
    return true;
}

static bool check_sured(struct verifier *verifier)
{
    const struct mr_ptx_inst *inst = verifier->inst;
    enum mr_ptx_type type = (enum mr_ptx_type)inst->type[0];
    bool wide = mr_ptx_type_bits(type) == 64, untyped = mr_ptx_type_class(type) == 'B';
    switch (inst->atom) {
    case MR_PTX_ATOM_ADD:
    case MR_PTX_ATOM_MIN:
    case MR_PTX_ATOM_MAX:
    case MR_PTX_ATOM_AND:
    case MR_PTX_ATOM_OR:
        break;
    default:
        return mr_ptx_verify_error(verifier, "'sured' needs '.add', '.min', '.max', '.and' or '.or'");
    }
    bool bits = inst->atom == MR_PTX_ATOM_AND || inst->atom == MR_PTX_ATOM_OR;
    if (inst->mode == MR_PTX_MODE_FORMATTED
            ? !untyped
            : bits != untyped || (type == MR_PTX_TYPE_S64 && inst->atom == MR_PTX_ATOM_ADD) || (wide && bits))
        return mr_ptx_verify_error(verifier, "type '.%s' is not allowed for this 'sured'", mr_ptx_type_name(type));
    return check_surface(verifier);
}

static bool check_query(struct verifier *verifier)
{
    const struct mr_ptx_inst *inst = verifier->inst;
    bool texture = inst->op == MR_PTX_OP_TXQ,
         size = inst->query >= MR_PTX_QUERY_WIDTH && inst->query <= MR_PTX_QUERY_DEPTH;
    bool any = size || inst->query == MR_PTX_QUERY_ARRAY_SIZE || inst->query == MR_PTX_QUERY_CHANNEL_DATA_TYPE ||
               inst->query == MR_PTX_QUERY_CHANNEL_ORDER || inst->query == MR_PTX_QUERY_MEMORY_LAYOUT;
    bool known = any || (texture && inst->query != MR_PTX_QUERY_NONE);
    if (!known || (inst->mode != MR_PTX_MODE_NONE && !(inst->mode == MR_PTX_MODE_LEVEL && size)))
        return mr_ptx_verify_error(verifier, "'%s' does not know this question",
                                   mr_ptx_op_name((enum mr_ptx_op)inst->op));
    return check_handle(verifier, texture ? MR_PTX_TYPE_TEXREF : MR_PTX_TYPE_SURFREF) &&
           check_result(verifier, 1, MR_PTX_TYPE_B32, false) &&
           (inst->mode == MR_PTX_MODE_NONE ||
            mr_ptx_verify_source(verifier, operand_at(verifier, MR_PTX_TEXTURE_LEVEL), MR_PTX_TYPE_B32, false));
}

bool mr_ptx_verify_texture(struct verifier *verifier)
{
    switch (verifier->inst->op) {
    case MR_PTX_OP_TEX:
        return check_tex(verifier);
    case MR_PTX_OP_TLD4:
        return check_tld4(verifier);
    case MR_PTX_OP_SULD:
    case MR_PTX_OP_SUST:
        return check_surface(verifier);
    case MR_PTX_OP_SURED:
        return check_sured(verifier);
    case MR_PTX_OP_ISTYPEP:
        return verifier->inst->operands[1].kind == MR_PTX_OPERAND_SYMBOL ||
               mr_ptx_verify_source(verifier, &verifier->inst->operands[1], MR_PTX_TYPE_B64, false);
    default:
        return check_query(verifier);
    }
}
