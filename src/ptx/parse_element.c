/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Elements of arrays: a[2], a[%r1], a[%r1+2]. Index and constant count elements of the declared type, whatever the
 * access's; those of a vector's array are its scalars. An index is an unsigned number of 32 bits: more bits are cut
 * off, fewer are widened by their type, and so is a constant beside 16 bits; the product with the element's size wraps.
 * In .global it is then widened with zeros, so a[-1] is almost 4 GiB behind a; the windows of the other spaces have
 * addresses of 32 bits, in which it is in front of it.
 *
 * An index in a register becomes instructions of its own, which stand before the one that is being parsed.
 */
#include "ptx/parse_element.h"

static struct mr_ptx_operand in_register(const struct mr_ptx_operand *place, uint32_t reg, uint8_t type)
{
    return (struct mr_ptx_operand){.kind = MR_PTX_OPERAND_REG,
                                   .reg = reg,
                                   .reg2 = MR_PTX_NONE,
                                   .type = type,
                                   .line = place->line,
                                   .column = place->column};
}

struct mr_ptx_operand mr_ptx_take_step(struct parser *parser, const struct mr_ptx_operand *place,
                                       const struct mr_ptx_step *step)
{
    struct mr_ptx_operand *operands = mr_ptx_new(parser, step->count + 1, sizeof *operands);
    operands[0] = in_register(place, (uint32_t)parser->regs.count, (uint8_t)step->type);
    *(struct mr_ptx_reg *)mr_ptx_list_add(parser, &parser->regs, sizeof(struct mr_ptx_reg)) =
        (struct mr_ptx_reg){.name = "element", .type = (uint8_t)step->type, .line = place->line};
    for (unsigned i = 0; i < step->count; i++)
        operands[i + 1] = step->sources[i];
    *(struct mr_ptx_inst *)mr_ptx_list_add(parser, &parser->insts, sizeof(struct mr_ptx_inst)) = (struct mr_ptx_inst){
        .op = (uint16_t)step->op,
        .dst_count = 1,
        .operand_count = (uint8_t)(step->count + 1),
        .type_count = step->of == MR_PTX_TYPE_NONE ? 1 : 2,
        .type = {(uint8_t)step->type, (uint8_t)step->of},
        .guard = MR_PTX_NONE,
        .vector = 1,
        .mode = (uint8_t)step->mode,
        .operands = operands,
        .line = place->line,
        .column = place->column,
        .loc_file = parser->loc_file,
        .loc_line = parser->loc_line,
    };
    return operands[0];
}

/* The index as a number of 32 bits. */
static struct mr_ptx_operand narrowed(struct parser *parser, const struct mr_ptx_operand *index)
{
    unsigned bits = mr_ptx_type_bits((enum mr_ptx_type)index->type);
    struct mr_ptx_operand wide = *index;
    if (index->kind == MR_PTX_OPERAND_SPECIAL) {
        enum mr_ptx_type type = bits == 64 ? MR_PTX_TYPE_U64 : MR_PTX_TYPE_U32;
        wide = mr_ptx_take_step(
            parser, index, &(struct mr_ptx_step){MR_PTX_OP_MOV, type, MR_PTX_TYPE_NONE, MR_PTX_MODE_NONE, {*index}, 1});
    }
    if (bits == 32)
        return wide;
    bool negative = mr_ptx_type_class((enum mr_ptx_type)index->type) == 'S';
    enum mr_ptx_type of = bits == 64 ? MR_PTX_TYPE_U64 : bits == 16 ? MR_PTX_TYPE_U16 : MR_PTX_TYPE_U8;
    if (negative && bits < 32)
        of = bits == 16 ? MR_PTX_TYPE_S16 : MR_PTX_TYPE_S8;
    enum mr_ptx_type to = of == MR_PTX_TYPE_S16 || of == MR_PTX_TYPE_S8 ? MR_PTX_TYPE_S32 : MR_PTX_TYPE_U32;
    return mr_ptx_take_step(parser, index, &(struct mr_ptx_step){MR_PTX_OP_CVT, to, of, MR_PTX_MODE_NONE, {wide}, 1});
}

static struct mr_ptx_operand constant(const struct mr_ptx_operand *place, uint64_t value)
{
    return (struct mr_ptx_operand){.kind = MR_PTX_OPERAND_IMM_INT,
                                   .reg = MR_PTX_NONE,
                                   .reg2 = MR_PTX_NONE,
                                   .value = (uint32_t)value,
                                   .line = place->line,
                                   .column = place->column};
}

/* The address of the element `index` + `more`, in a register of `bits`. */
static struct mr_ptx_operand address_of(struct parser *parser, const struct mr_ptx_operand *array,
                                        const struct mr_ptx_operand *index, uint64_t more, unsigned bits)
{
    bool wide = bits == 64, global = array->var->space == MR_PTX_SPACE_GLOBAL;
    uint64_t size = mr_ptx_type_bytes(array->var->type);
    enum mr_ptx_type type = wide ? MR_PTX_TYPE_U64 : MR_PTX_TYPE_U32;
    struct mr_ptx_operand base = *array; /* still an element, which a parameter's address may be taken for */
    struct mr_ptx_operand offset = mr_ptx_take_step(
        parser, array,
        &(struct mr_ptx_step){MR_PTX_OP_MAD,
                              MR_PTX_TYPE_U32,
                              MR_PTX_TYPE_NONE,
                              MR_PTX_MODE_LO,
                              {narrowed(parser, index), constant(array, size), constant(array, more * size)},
                              3});
    if (wide && global)
        offset = mr_ptx_take_step(
            parser, array,
            &(struct mr_ptx_step){MR_PTX_OP_CVT, MR_PTX_TYPE_U64, MR_PTX_TYPE_U32, MR_PTX_MODE_NONE, {offset}, 1});
    else if (wide)
        offset = mr_ptx_take_step(
            parser, array,
            &(struct mr_ptx_step){MR_PTX_OP_CVT, MR_PTX_TYPE_S64, MR_PTX_TYPE_S32, MR_PTX_MODE_NONE, {offset}, 1});
    base = mr_ptx_take_step(parser, array,
                            &(struct mr_ptx_step){MR_PTX_OP_MOV, type, MR_PTX_TYPE_NONE, MR_PTX_MODE_NONE, {base}, 1});
    return mr_ptx_take_step(
        parser, array,
        &(struct mr_ptx_step){MR_PTX_OP_ADD, type, MR_PTX_TYPE_NONE, MR_PTX_MODE_NONE, {base, offset}, 2});
}

/* "+2" behind an index; a minus sign needs the plus before it. */
static bool parse_more(struct parser *parser, uint64_t *more)
{
    *more = 0;
    return !mr_ptx_accept(parser, '+') || mr_ptx_parse_integer(parser, more, NULL);
}

static bool parse_index(struct parser *parser, struct mr_ptx_operand *array)
{
    struct mr_ptx_operand index = {0};
    struct mr_ptx_token token = parser->token;
    unsigned bits = parser->element_bits;
    uint64_t more;
    if (!mr_ptx_parse_register(parser, &index))
        return false;
    char cls = mr_ptx_type_class((enum mr_ptx_type)index.type);
    if ((cls != 'U' && cls != 'S' && cls != 'B') || mr_ptx_type_bits((enum mr_ptx_type)index.type) > 64)
        return mr_ptx_error_at(parser, token.line, token.column,
                               "an index must be an integer register of up to 64 bits");
    if (!bits)
        return mr_ptx_error_at(parser, token.line, token.column, "an index in a register is not allowed here");
    if (!parse_more(parser, &more))
        return false;
    if (mr_ptx_type_bits((enum mr_ptx_type)index.type) == 16)
        more = cls == 'S' ? (uint64_t)(int16_t)more : (uint16_t)more;
    const struct mr_ptx_var *var = array->var;
    *array = address_of(parser, array, &index, more, bits);
    array->var = var;
    array->is_element = true;
    return true;
}

bool mr_ptx_parse_element(struct parser *parser, struct mr_ptx_operand *array)
{
    const struct mr_ptx_var *var = array->var;
    if (var->ndims == 0)
        return mr_ptx_error(parser, "'%s' is not an array", var->name);
    array->is_element = true;
    if (mr_ptx_is(parser, MR_PTX_TOKEN_NAME) && !mr_ptx_is_warp_size(parser)) {
        if (!parse_index(parser, array))
            return false;
    } else {
        uint64_t index;
        if (!mr_ptx_parse_integer(parser, &index, NULL))
            return false;
        uint32_t bytes = (uint32_t)(index * mr_ptx_type_bytes(var->type));
        array->value = var->space == MR_PTX_SPACE_GLOBAL ? (int64_t)bytes : (int64_t)(int32_t)bytes;
    }
    return mr_ptx_expect(parser, ']', "']'");
}
