/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Instructions that mean something else than they say.
 *
 * In modules for targets before sm_20: their processors had f32 arithmetic without subnormal numbers, and a mad that
 * cut off bits of its product; for newer devices NVIDIA's assembler makes of such a module the code that it makes of
 * the same one with .ftz in every f32 instruction that may have it.
 *
 * Addresses in fewer bits than they have, as values or to find memory by: they are cut, or widened, by instructions of
 * their own.
 */
#include <string.h>

#include "ptx/parse_element.h"

static bool is_f32(const struct mr_ptx_inst *inst, unsigned index)
{
    return inst->type_count > index && inst->type[index] == MR_PTX_TYPE_F32;
}

/* A conversion from or to 64 bits flushes from PTX 1.5 on. */
static bool conversion_flushes(const struct parser *parser, const struct mr_ptx_inst *inst)
{
    enum mr_ptx_type to = (enum mr_ptx_type)inst->type[0], from = (enum mr_ptx_type)inst->type[1];
    bool wide = mr_ptx_type_bits(to) == 64 || mr_ptx_type_bits(from) == 64;
    bool halves = to == MR_PTX_TYPE_F16 || from == MR_PTX_TYPE_F16;
    bool from_number = mr_ptx_type_class(from) == 'F';
    return (is_f32(inst, 0) || is_f32(inst, 1)) && from_number && !halves &&
           (!wide || mr_ptx_module_has_version(parser->module, 15));
}

static bool flushes(const struct parser *parser, const struct mr_ptx_inst *inst)
{
    switch (inst->op) {
    case MR_PTX_OP_ADD:
    case MR_PTX_OP_SUB:
    case MR_PTX_OP_MUL:
    case MR_PTX_OP_MAD:
    case MR_PTX_OP_DIV:
    case MR_PTX_OP_RCP:
    case MR_PTX_OP_SQRT:
    case MR_PTX_OP_RSQRT:
    case MR_PTX_OP_SIN:
    case MR_PTX_OP_COS:
    case MR_PTX_OP_LG2:
    case MR_PTX_OP_EX2:
    case MR_PTX_OP_ABS:
    case MR_PTX_OP_NEG:
    case MR_PTX_OP_MIN:
    case MR_PTX_OP_MAX:
    case MR_PTX_OP_SETP:
        return is_f32(inst, 0);
    case MR_PTX_OP_SET:
    case MR_PTX_OP_SLCT:
        return is_f32(inst, 1);
    case MR_PTX_OP_CVT:
        return conversion_flushes(parser, inst);
    default:
        return false;
    }
}

/* mad.f32 has no rounding on old targets and may lack it in old versions; it rounds to nearest. */
static bool settle_mad(struct parser *parser, struct mr_ptx_inst *inst)
{
    bool old = parser->module->target_sm < 20;
    if (inst->op != MR_PTX_OP_MAD || !is_f32(inst, 0))
        return true;
    if (inst->rounding != MR_PTX_ROUND_NONE)
        return !old ||
               mr_ptx_error_at(parser, inst->line, inst->column, "'mad.f32' with a rounding needs target sm_20");
    if (old || !mr_ptx_module_has_version(parser->module, 31))
        inst->rounding = MR_PTX_ROUND_RN;
    return true;
}

/* NVIDIA's assembler takes the registers of such an fma for halves, and leaves out .relu and .oob; so does an H100. */
static bool settle_fma(struct parser *parser, struct mr_ptx_inst *inst)
{
    bool taken = inst->op == MR_PTX_OP_FMA && inst->type[0] == MR_PTX_TYPE_BF16 && inst->rounding > MR_PTX_ROUND_RN &&
                 inst->rounding <= MR_PTX_ROUND_RP;
    if (!taken || (inst->flags & ~(MR_PTX_FLAG_RELU | MR_PTX_FLAG_OOB)))
        return true;
    if (!mr_ptx_need(parser, "'.bf16'", 70, 80))
        return false;
    inst->type[0] = MR_PTX_TYPE_F16;
    inst->rounding = MR_PTX_ROUND_RN;
    inst->flags = 0;
    return true;
}

/* The second operand of at least two. */
static struct mr_ptx_operand *source_of(const struct mr_ptx_inst *inst)
{
    return (struct mr_ptx_operand *)&inst->operands[1];
}

/* The low bits of a register of 64. */
static void cut(struct parser *parser, struct mr_ptx_operand *operand, unsigned bits)
{
    enum mr_ptx_type type = bits == 16 ? MR_PTX_TYPE_U16 : MR_PTX_TYPE_U32;
    *operand = mr_ptx_take_step(
        parser, operand, &(struct mr_ptx_step){MR_PTX_OP_CVT, type, MR_PTX_TYPE_U64, MR_PTX_MODE_NONE, {*operand}, 1});
    operand->type = bits == 16 ? MR_PTX_TYPE_B16 : MR_PTX_TYPE_B32;
    ((struct mr_ptx_reg *)parser->regs.items)[operand->reg].type = operand->type;
}

/* A variable's address, or a function's, in a register of 64 bits; then its low bits in one of fewer. */
static void put_address(struct parser *parser, struct mr_ptx_operand *operand, unsigned bits)
{
    struct mr_ptx_operand place = *operand;
    *operand = mr_ptx_take_step(
        parser, &place,
        &(struct mr_ptx_step){MR_PTX_OP_MOV, MR_PTX_TYPE_B64, MR_PTX_TYPE_NONE, MR_PTX_MODE_NONE, {place}, 1});
    if (bits < 64)
        cut(parser, operand, bits);
}

/* mov of an address into 16 bits, of one in .global (with an offset) or a function's into 32, of a function's into a
 * float, which gets its bits, or a predicate, which is false. */
static void settle_mov(struct parser *parser, struct mr_ptx_inst *inst)
{
    if (inst->operand_count != 2)
        return;
    struct mr_ptx_operand *source = source_of(inst);
    bool function = source->kind == MR_PTX_OPERAND_FUNCTION;
    if (source->kind == MR_PTX_OPERAND_REG && source->is_element &&
        mr_ptx_type_bits((enum mr_ptx_type)inst->type[0]) == 16)
        cut(parser, source, 16);
    unsigned bits = mr_ptx_type_bits((enum mr_ptx_type)inst->type[0]);
    char cls = mr_ptx_type_class((enum mr_ptx_type)inst->type[0]);
    if (!function && source->kind != MR_PTX_OPERAND_SYMBOL)
        return;
    if (function && cls == 'P') {
        *source = (struct mr_ptx_operand){.kind = MR_PTX_OPERAND_IMM_INT,
                                          .reg = MR_PTX_NONE,
                                          .reg2 = MR_PTX_NONE,
                                          .line = source->line,
                                          .column = source->column};
        return;
    }
    bool number = cls == 'U' || cls == 'S' || cls == 'B',
         cut = bits == 32 &&
               (function || (source->var->space == MR_PTX_SPACE_GLOBAL && source->value != 0 && !source->is_element));
    bool narrow = number && (bits == 16 || cut),
         copied = function && (inst->type[0] == MR_PTX_TYPE_F32 || inst->type[0] == MR_PTX_TYPE_F64);
    bool passed = !function && (source->var->reg != MR_PTX_NONE ||
                                (source->var->space == MR_PTX_SPACE_PARAM && !source->var->is_input));
    if ((narrow && !passed) || copied)
        put_address(parser, source, bits);
}

/* A variable with an offset is a number to isspacep, of 32 bits, and to cvta.to, of which windows of 4 GiB that start
 * at multiples of that leave the lower half. */
static void settle_number(struct parser *parser, struct mr_ptx_inst *inst)
{
    if (inst->operand_count != 2)
        return;
    struct mr_ptx_operand *source = source_of(inst);
    if (source->kind != MR_PTX_OPERAND_SYMBOL || source->is_element || source->value == 0 ||
        source->var->reg != MR_PTX_NONE)
        return;
    enum mr_ptx_space own = source->var->space;
    bool wide = inst->op == MR_PTX_OP_CVTA, anywhere = wide || inst->space == MR_PTX_SPACE_CONST ||
                                                       inst->space == MR_PTX_SPACE_PARAM ||
                                                       inst->space == MR_PTX_SPACE_PARAM_ENTRY;
    if ((wide && !(inst->flags & MR_PTX_FLAG_TO)) ||
        (!anywhere && (own == MR_PTX_SPACE_CONST || own == MR_PTX_SPACE_PARAM)) ||
        (own == MR_PTX_SPACE_PARAM && !source->var->is_input))
        return;
    if (!wide) {
        put_address(parser, source, 32);
        return;
    }
    inst->op = MR_PTX_OP_MOV;
    inst->flags = 0;
    inst->space = MR_PTX_SPACE_GENERIC;
}

/* An address in a register of 32 bits, widened with zeros. */
static void widen(struct parser *parser, struct mr_ptx_operand *operand)
{
    struct mr_ptx_operand reg = *operand;
    reg.kind = MR_PTX_OPERAND_REG;
    int64_t offset = reg.value;
    reg.value = 0;
    reg = mr_ptx_take_step(
        parser, operand,
        &(struct mr_ptx_step){MR_PTX_OP_CVT, MR_PTX_TYPE_U64, MR_PTX_TYPE_U32, MR_PTX_MODE_NONE, {reg}, 1});
    reg.kind = MR_PTX_OPERAND_REG_ADDRESS;
    reg.value = offset;
    *operand = reg;
}

/* A register of 32 bits where an instruction without a space has its address: in shared memory for those that have no
 * other, else widened with zeros. */
static void settle_narrow(struct parser *parser, struct mr_ptx_inst *inst)
{
    bool arrives = inst->op == MR_PTX_OP_CP && inst->mode == MR_PTX_MODE_COPY_ARRIVE,
         plain = inst->mode == MR_PTX_MODE_PLAIN, copied = inst->mode == MR_PTX_MODE_MAP_COPY;
    bool shared =
        !plain && (arrives || inst->op == MR_PTX_OP_LDMATRIX || inst->op == MR_PTX_OP_STMATRIX ||
                   inst->op == MR_PTX_OP_ST_ASYNC || inst->op == MR_PTX_OP_RED_ASYNC || inst->op == MR_PTX_OP_ST_BULK);
    bool moves = inst->op == MR_PTX_OP_WMMA && inst->mode != MR_PTX_MODE_MATRIX_MULTIPLY;
    bool hints = inst->op == MR_PTX_OP_PREFETCH && inst->form && mr_ptx_form_info(inst->form)->version == 80,
         fences = inst->op == MR_PTX_OP_FENCE;
    bool tensor =
        inst->op == MR_PTX_OP_CP && inst->mode >= MR_PTX_MODE_TENSOR_TILE && inst->mode <= MR_PTX_MODE_TENSOR_PREFETCH;
    if (tensor || (inst->op == MR_PTX_OP_CP && inst->mode == MR_PTX_MODE_COPY)) {
        ptrdiff_t place =
            strchr(mr_ptx_inst_operands(inst), tensor ? 'B' : 'G') - mr_ptx_inst_operands(inst); /* 0 or 1 */
        struct mr_ptx_operand *from = (struct mr_ptx_operand *)&inst->operands[place];
        if (from->kind == MR_PTX_OPERAND_REG_ADDRESS && mr_ptx_type_bits((enum mr_ptx_type)from->type) == 32)
            widen(parser, from);
        return;
    }
    struct mr_ptx_operand *first = (struct mr_ptx_operand *)inst->operands;
    if ((plain || copied) && first->kind == MR_PTX_OPERAND_REG_ADDRESS && inst->space != MR_PTX_SPACE_SHARED &&
        mr_ptx_type_bits((enum mr_ptx_type)first->type) == 32)
        widen(parser, first);
    if (!shared && !moves && !hints && !fences)
        return;
    for (uint8_t i = 0; i < inst->operand_count; i++) {
        struct mr_ptx_operand *operand = (struct mr_ptx_operand *)&inst->operands[i];
        if (operand->kind != MR_PTX_OPERAND_REG_ADDRESS || inst->space != MR_PTX_SPACE_GENERIC ||
            mr_ptx_type_bits((enum mr_ptx_type)operand->type) != 32)
            continue;
        if (shared) {
            inst->space = MR_PTX_SPACE_SHARED;
            continue;
        }
        widen(parser, operand);
    }
}

/* 128 bits of an element's address, of which it fills the lower half. */
static void settle_long_address(struct parser *parser, struct mr_ptx_inst *inst)
{
    if (inst->type[0] != MR_PTX_TYPE_B128 || inst->operand_count != 2)
        return;
    struct mr_ptx_operand *source = source_of(inst);
    if (source->kind != MR_PTX_OPERAND_REG || !source->is_element)
        return;
    struct mr_ptx_operand *halves = mr_ptx_new(parser, 2, sizeof *halves);
    halves[0] = *source;
    halves[0].is_element = false;
    halves[1] = (struct mr_ptx_operand){.kind = MR_PTX_OPERAND_IMM_INT,
                                        .reg = MR_PTX_NONE,
                                        .reg2 = MR_PTX_NONE,
                                        .line = source->line,
                                        .column = source->column};
    *source = (struct mr_ptx_operand){.kind = MR_PTX_OPERAND_VECTOR,
                                      .count = 2,
                                      .elements = halves,
                                      .reg = MR_PTX_NONE,
                                      .reg2 = MR_PTX_NONE,
                                      .line = source->line,
                                      .column = source->column};
}

/* Of eight numbers of less than 32 bits NVIDIA's assembler stores the first. */
static void settle_store(struct mr_ptx_inst *inst)
{
    if (inst->op != MR_PTX_OP_ST || inst->vector != 8 || inst->operand_count < 2 ||
        mr_ptx_type_bits((enum mr_ptx_type)inst->type[0]) >= 32)
        return;
    struct mr_ptx_operand *value = source_of(inst);
    if (value->kind != MR_PTX_OPERAND_VECTOR || value->count != 8 || (inst->flags & MR_PTX_FLAG_MMIO))
        return;
    inst->vector = 1;
    *value = value->elements[0];
}

bool mr_ptx_settle(struct parser *parser, struct mr_ptx_inst *inst)
{
    if (!settle_mad(parser, inst) || !settle_fma(parser, inst) || !mr_ptx_settle_floats(parser, inst))
        return false;
    if (parser->module->target_sm < 20 && flushes(parser, inst))
        inst->flags |= MR_PTX_FLAG_FTZ;
    settle_store(inst);
    if (inst->op == MR_PTX_OP_MOV && inst->vector == 1) {
        settle_mov(parser, inst);
        settle_long_address(parser, inst);
    } else if (inst->op == MR_PTX_OP_ISSPACEP || inst->op == MR_PTX_OP_CVTA) {
        settle_number(parser, inst);
    } else {
        settle_narrow(parser, inst);
    }
    return true;
}
