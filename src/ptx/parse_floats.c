/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Arithmetic of floats that stands for several instructions, of which nothing behind the parser knows.
 *
 *   add.f32x2 d, a, b        two sums, of the lower and of the upper halves of 64 bits
 *   add.f32.bf16 d, a, c     a made an f32, which is exact, then a sum of f32
 */
#include <stdio.h>

#include "ptx/parse_element.h"

enum { SOURCES_MAX = 3 };

static struct mr_ptx_operand new_register(struct parser *parser, const struct mr_ptx_operand *place,
                                          enum mr_ptx_type type)
{
    struct mr_ptx_operand operand = {.kind = MR_PTX_OPERAND_REG,
                                     .type = (uint8_t)type,
                                     .reg = (uint32_t)parser->regs.count,
                                     .reg2 = MR_PTX_NONE,
                                     .line = place->line,
                                     .column = place->column};
    *(struct mr_ptx_reg *)mr_ptx_list_add(parser, &parser->regs, sizeof(struct mr_ptx_reg)) =
        (struct mr_ptx_reg){.name = "part", .type = (uint8_t)type, .line = place->line};
    return operand;
}

/* "{a, b}" */
static struct mr_ptx_operand vector_of(struct parser *parser, const struct mr_ptx_operand *place,
                                       struct mr_ptx_operand low, struct mr_ptx_operand high)
{
    struct mr_ptx_operand *elements = mr_ptx_new(parser, 2, sizeof *elements);
    elements[0] = low;
    elements[1] = high;
    return (struct mr_ptx_operand){.kind = MR_PTX_OPERAND_VECTOR,
                                   .count = 2,
                                   .elements = elements,
                                   .reg = MR_PTX_NONE,
                                   .reg2 = MR_PTX_NONE,
                                   .line = place->line,
                                   .column = place->column};
}

/* An instruction like `inst`, under no guard, whose operands are these. */
static void add_step(struct parser *parser, struct mr_ptx_inst step, const struct mr_ptx_operand *operands,
                     unsigned count)
{
    struct mr_ptx_operand *own = mr_ptx_new(parser, count, sizeof *own);
    for (unsigned i = 0; i < count; i++)
        own[i] = operands[i];
    step.guard = MR_PTX_NONE;
    step.guard_negated = false;
    step.operands = own;
    step.operand_count = (uint8_t)count;
    *(struct mr_ptx_inst *)mr_ptx_list_add(parser, &parser->insts, sizeof step) = step;
}

static struct mr_ptx_inst plain_mov(const struct mr_ptx_inst *inst)
{
    return (struct mr_ptx_inst){.op = MR_PTX_OP_MOV,
                                .dst_count = 1,
                                .operand_count = 2,
                                .type_count = 1,
                                .type = {MR_PTX_TYPE_B64},
                                .vector = 1,
                                .guard = inst->guard,
                                .guard_negated = inst->guard_negated,
                                .line = inst->line,
                                .column = inst->column,
                                .loc_file = inst->loc_file,
                                .loc_line = inst->loc_line};
}

static bool is_wide_register(const struct mr_ptx_operand *operand)
{
    return operand->kind == MR_PTX_OPERAND_REG && operand->type == MR_PTX_TYPE_B64;
}

static bool settle_two(struct parser *parser, struct mr_ptx_inst *inst)
{
    char what[32];
    snprintf(what, sizeof what, "'%s.f32x2'", mr_ptx_op_name((enum mr_ptx_op)inst->op));
    if (!mr_ptx_need(parser, what, 86, 100))
        return false;
    if (inst->flags & ~MR_PTX_FLAG_FTZ || inst->mode != MR_PTX_MODE_NONE)
        return mr_ptx_error_at(parser, inst->line, inst->column, "%s takes a rounding and '.ftz' only", what);
    for (uint8_t i = 0; i < inst->operand_count; i++)
        if (!is_wide_register(&inst->operands[i]))
            return mr_ptx_error_at(parser, inst->operands[i].line, inst->operands[i].column,
                                   "operands of %s are registers of type '.b64'", what);
    struct mr_ptx_inst one = *inst;
    struct mr_ptx_operand low[SOURCES_MAX + 1], high[SOURCES_MAX + 1];
    unsigned count = inst->operand_count;
    one.type[0] = MR_PTX_TYPE_F32;
    for (unsigned i = 0; i < count; i++) {
        low[i] = new_register(parser, &inst->operands[i], MR_PTX_TYPE_F32);
        high[i] = new_register(parser, &inst->operands[i], MR_PTX_TYPE_F32);
        if (i > 0)
            add_step(
                parser, plain_mov(inst),
                (struct mr_ptx_operand[]){vector_of(parser, &inst->operands[i], low[i], high[i]), inst->operands[i]},
                2);
    }
    add_step(parser, one, low, count);
    add_step(parser, one, high, count);
    struct mr_ptx_operand *last = mr_ptx_new(parser, 2, sizeof *last);
    last[0] = inst->operands[0];
    last[1] = vector_of(parser, &inst->operands[0], low[0], high[0]);
    *inst = plain_mov(inst);
    inst->operands = last;
    return true;
}

/* The factors, or the first of two numbers, have 16 bits. */
static bool settle_mixed(struct parser *parser, struct mr_ptx_inst *inst)
{
    char what[32];
    const char *half = mr_ptx_type_name((enum mr_ptx_type)inst->type[1]);
    snprintf(what, sizeof what, "'%s.f32.%s'", mr_ptx_op_name((enum mr_ptx_op)inst->op), half);
    if (!mr_ptx_need(parser, what, 86, 100))
        return false;
    if (inst->flags & ~MR_PTX_FLAG_SAT)
        return mr_ptx_error_at(parser, inst->line, inst->column, "%s takes a rounding and '.sat' only", what);
    unsigned halves = inst->op == MR_PTX_OP_FMA ? 2 : 1;
    for (unsigned i = 1; i <= halves; i++) {
        struct mr_ptx_operand *operand = (struct mr_ptx_operand *)&inst->operands[i];
        if (operand->kind != MR_PTX_OPERAND_REG || mr_ptx_type_bits((enum mr_ptx_type)operand->type) != 16)
            return mr_ptx_error_at(parser, operand->line, operand->column, "expected a register of 16 bits");
        struct mr_ptx_operand wide = new_register(parser, operand, MR_PTX_TYPE_F32);
        struct mr_ptx_inst widen = plain_mov(inst);
        widen.op = MR_PTX_OP_CVT;
        widen.type_count = 2;
        widen.type[0] = MR_PTX_TYPE_F32;
        widen.type[1] = inst->type[1];
        add_step(parser, widen, (struct mr_ptx_operand[]){wide, *operand}, 2);
        *operand = wide;
    }
    inst->type_count = 1;
    return true;
}

bool mr_ptx_settle_floats(struct parser *parser, struct mr_ptx_inst *inst)
{
    bool sums = inst->op == MR_PTX_OP_ADD || inst->op == MR_PTX_OP_SUB || inst->op == MR_PTX_OP_FMA;
    enum mr_ptx_type second = (enum mr_ptx_type)inst->type[1];
    if (inst->type_count == 1 && inst->type[0] == MR_PTX_TYPE_F32X2 && (sums || inst->op == MR_PTX_OP_MUL))
        return settle_two(parser, inst);
    if (sums && inst->type_count == 2 && inst->type[0] == MR_PTX_TYPE_F32 &&
        (second == MR_PTX_TYPE_F16 || second == MR_PTX_TYPE_BF16))
        return settle_mixed(parser, inst);
    return true;
}
