/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Operands against the letters of ptx_ops.def.
 *
 * Two rules carry most of it. A register can stand for a type of its own width
 * if one of both is untyped (.bN), or both are integers, or both are the same
 * float. And where memory or a conversion gives the width (ld, st, cvt), a
 * wider register will do as well.
 */
#include <string.h>

#include "ptx/verify.h"

bool mr_ptx_verify_type_fits(enum mr_ptx_type reg, enum mr_ptx_type type, bool relaxed)
{
    unsigned reg_bits = mr_ptx_type_bits(reg), bits = mr_ptx_type_bits(type);
    char reg_class = mr_ptx_type_class(reg), cls = mr_ptx_type_class(type);
    if (reg == type)
        return true;
    if (reg_class == 'P' || cls == 'P')
        return false;
    /* Formats without registers stand in untyped ones of their width. */
    if (cls == 'X')
        return reg_class == 'B' && reg_bits == bits;
    if (relaxed ? reg_bits < bits : reg_bits != bits)
        return false;
    if (reg_class == 'B' || cls == 'B')
        return true;
    /* A pair of halves is as good as an untyped register, except for other floats. */
    bool reg_integer = reg_class == 'U' || reg_class == 'S' || reg == MR_PTX_TYPE_F16X2,
         integer = cls == 'U' || cls == 'S';
    return reg_integer && integer;
}

static const char *name_of(enum mr_ptx_type type)
{
    return mr_ptx_type_name(type);
}

/* A constant as a source of `type`. */
static bool check_immediate(struct verifier *verifier, const struct mr_ptx_operand *operand, enum mr_ptx_type type)
{
    char cls = mr_ptx_type_class(type);
    unsigned bits = mr_ptx_type_bits(type);
    if (operand->kind == MR_PTX_OPERAND_IMM_INT) {
        if (cls == 'F' || cls == 'X')
            return mr_ptx_verify_operand_error(verifier, operand, "an integer cannot stand for type '.%s'",
                                               name_of(type));
        return true;
    }
    if (type == MR_PTX_TYPE_F32 || type == MR_PTX_TYPE_F64)
        return true;
    if (cls == 'B' && bits == (operand->is_single ? 32u : 64u))
        return true;
    return mr_ptx_verify_operand_error(verifier, operand, "a float cannot stand for type '.%s'", name_of(type));
}

/* Special registers are read by mov and cvt alone. */
static bool check_special(struct verifier *verifier, const struct mr_ptx_operand *operand, enum mr_ptx_type type)
{
    const char *name = mr_ptx_special_name((enum mr_ptx_special)operand->special);
    if (verifier->inst->op != MR_PTX_OP_MOV && verifier->inst->op != MR_PTX_OP_CVT)
        return mr_ptx_verify_operand_error(verifier, operand, "'%%%s' can be read by mov and cvt only", name);
    if (mr_ptx_type_class(type) == 'F')
        return mr_ptx_verify_operand_error(verifier, operand, "'%%%s' cannot stand for type '.%s'", name,
                                           name_of(type));
    bool is_tid = operand->special >= MR_PTX_SPECIAL_TID && operand->special <= MR_PTX_SPECIAL_NCTAID;
    /* mov cuts some of them, and cvt to an integer all that are wider than its source's type. */
    unsigned bits = mr_ptx_type_bits(type), own = mr_ptx_type_bits((enum mr_ptx_type)operand->type);
    bool narrow = bits == 16 ? is_tid || operand->special == MR_PTX_SPECIAL_GRIDID
                             : bits == 32 && operand->special == MR_PTX_SPECIAL_GRIDID;
    char result = mr_ptx_type_class((enum mr_ptx_type)verifier->inst->type[0]);
    bool cut = verifier->inst->op == MR_PTX_OP_CVT && (result == 'U' || result == 'S') && own > bits;
    if (!narrow && !cut && !mr_ptx_verify_type_fits((enum mr_ptx_type)operand->type, type, false))
        return mr_ptx_verify_operand_error(verifier, operand, "'%%%s' of type '.%s' cannot stand for type '.%s'", name,
                                           name_of((enum mr_ptx_type)operand->type), name_of(type));
    return true;
}

static bool check_reg(struct verifier *verifier, const struct mr_ptx_operand *operand, uint32_t reg,
                      enum mr_ptx_type type, bool relaxed)
{
    const struct mr_ptx_reg *info = &verifier->function->regs[reg];
    if (mr_ptx_verify_type_fits((enum mr_ptx_type)info->type, type, relaxed))
        return true;
    return mr_ptx_verify_operand_error(verifier, operand, "register '%s' of type '.%s' cannot stand for type '.%s'",
                                       info->name, name_of((enum mr_ptx_type)info->type), name_of(type));
}

bool mr_ptx_verify_source(struct verifier *verifier, const struct mr_ptx_operand *operand, enum mr_ptx_type type,
                          bool relaxed)
{
    if (operand->negated && type != MR_PTX_TYPE_PRED)
        return mr_ptx_verify_operand_error(verifier, operand, "'!' is not allowed here");
    switch (operand->kind) {
    case MR_PTX_OPERAND_REG:
        return check_reg(verifier, operand, operand->reg, type, relaxed);
    case MR_PTX_OPERAND_IMM_INT:
    case MR_PTX_OPERAND_IMM_FLOAT:
        return check_immediate(verifier, operand, type);
    case MR_PTX_OPERAND_SPECIAL:
        return check_special(verifier, operand, type);
    default:
        return mr_ptx_verify_operand_error(verifier, operand, "expected a register or a constant");
    }
}

bool mr_ptx_verify_dest(struct verifier *verifier, const struct mr_ptx_operand *operand, enum mr_ptx_type type,
                        bool relaxed)
{
    if (operand->kind != MR_PTX_OPERAND_REG || operand->negated)
        return mr_ptx_verify_operand_error(verifier, operand, "expected a register");
    return check_reg(verifier, operand, operand->reg, type, relaxed);
}

/* d|p, or one of them alone if allowed: first of type `type`, second a predicate. */
static bool check_pair(struct verifier *verifier, const struct mr_ptx_operand *operand, enum mr_ptx_type type)
{
    if (operand->kind != MR_PTX_OPERAND_PAIR)
        return mr_ptx_verify_dest(verifier, operand, type, false);
    if (operand->reg != MR_PTX_NONE && !check_reg(verifier, operand, operand->reg, type, false))
        return false;
    return operand->reg2 == MR_PTX_NONE || check_reg(verifier, operand, operand->reg2, MR_PTX_TYPE_PRED, false);
}

/* A vector of floats moves to and from integers of their width, too, bit by bit. */
static enum mr_ptx_type element_type(const struct verifier *verifier, const struct mr_ptx_operand *element,
                                     enum mr_ptx_type type)
{
    if ((type != MR_PTX_TYPE_F32 && type != MR_PTX_TYPE_F64) || element->kind != MR_PTX_OPERAND_REG)
        return type;
    enum mr_ptx_type own = (enum mr_ptx_type)verifier->function->regs[element->reg].type;
    bool integer = mr_ptx_type_class(own) == 'U' || mr_ptx_type_class(own) == 'S';
    return integer && mr_ptx_type_bits(own) == mr_ptx_type_bits(type) ? own : type;
}

/* The value of ld, st, atom, red: one register, or as many as .vN says. */
static bool check_memory_value(struct verifier *verifier, const struct mr_ptx_operand *operand, bool is_dest)
{
    const struct mr_ptx_inst *inst = verifier->inst;
    enum mr_ptx_type type = (enum mr_ptx_type)inst->type[0];
    bool atomic = inst->op == MR_PTX_OP_ATOM || inst->op == MR_PTX_OP_RED || inst->op == MR_PTX_OP_ST_ASYNC ||
                  inst->mode == MR_PTX_MODE_LOAD_REDUCE;
    if (inst->vector == 1) {
        if (is_dest && atomic && inst->op != MR_PTX_OP_MULTIMEM && operand->kind == MR_PTX_OPERAND_SINK)
            return true;
        return is_dest ? mr_ptx_verify_dest(verifier, operand, type, !atomic)
                       : mr_ptx_verify_source(verifier, operand, type, !atomic);
    }
    if (operand->kind != MR_PTX_OPERAND_VECTOR || operand->count != inst->vector)
        return mr_ptx_verify_operand_error(verifier, operand, "expected a vector of %u elements", inst->vector);
    for (uint8_t i = 0; i < operand->count; i++) {
        const struct mr_ptx_operand *element = &operand->elements[i];
        if (is_dest && element->kind == MR_PTX_OPERAND_SINK)
            continue;
        bool relaxed = !atomic && mr_ptx_type_bits(type) * inst->vector <= 128;
        enum mr_ptx_type own = atomic ? type : element_type(verifier, element, type);
        if (!(is_dest ? mr_ptx_verify_dest(verifier, element, own, relaxed)
                      : mr_ptx_verify_source(verifier, element, own, relaxed)))
            return false;
    }
    return true;
}

/* The state space that the instruction names has to be the variable's. */
static bool check_space(struct verifier *verifier, const struct mr_ptx_operand *operand, enum mr_ptx_space space)
{
    enum mr_ptx_space own = operand->var->space;
    if (space == MR_PTX_SPACE_PARAM_ENTRY || space == MR_PTX_SPACE_PARAM_FUNC)
        space = MR_PTX_SPACE_PARAM;
    if (space == MR_PTX_SPACE_SHARED_CLUSTER)
        space = MR_PTX_SPACE_SHARED;
    if (space == own || (space == MR_PTX_SPACE_GENERIC && own != MR_PTX_SPACE_PARAM))
        return true;
    return mr_ptx_verify_operand_error(verifier, operand, "'%s' is in space '.%s', not '.%s'", operand->var->name,
                                       mr_ptx_space_name(own), mr_ptx_space_name(space));
}

static bool check_address(struct verifier *verifier, const struct mr_ptx_operand *operand, enum mr_ptx_space space)
{
    switch (operand->kind) {
    case MR_PTX_OPERAND_SYMBOL_ADDRESS:
        if (operand->var->reg != MR_PTX_NONE)
            return mr_ptx_verify_operand_error(verifier, operand, "'%s' has no address", operand->var->name);
        return check_space(verifier, operand, space);
    case MR_PTX_OPERAND_REG_ADDRESS: {
        const struct mr_ptx_reg *reg = &verifier->function->regs[operand->reg];
        unsigned bits = mr_ptx_type_bits((enum mr_ptx_type)reg->type);
        char cls = mr_ptx_type_class((enum mr_ptx_type)reg->type);
        bool small = space != MR_PTX_SPACE_GENERIC && space != MR_PTX_SPACE_GLOBAL;
        if ((cls == 'B' || cls == 'U' || cls == 'S') && (bits == 64 || (bits == 32 && small)))
            return true;
        return mr_ptx_verify_operand_error(verifier, operand, "register '%s' of type '.%s' cannot hold an address",
                                           reg->name, name_of((enum mr_ptx_type)reg->type));
    }
    case MR_PTX_OPERAND_IMM_ADDRESS:
        if (space == MR_PTX_SPACE_LOCAL)
            return true;
        return mr_ptx_verify_operand_error(verifier, operand, "a constant is an address in space '.local' only");
    default:
        return mr_ptx_verify_operand_error(verifier, operand, "expected an address in brackets");
    }
}

bool mr_ptx_verify_address(struct verifier *verifier, const struct mr_ptx_operand *operand)
{
    return check_address(verifier, operand, (enum mr_ptx_space)verifier->inst->space);
}

/* isspacep's and istypep's source: an integer register; istypep's may be a symbol. */
static bool check_generic(struct verifier *verifier, const struct mr_ptx_operand *operand)
{
    if (operand->kind == MR_PTX_OPERAND_SYMBOL && verifier->inst->op == MR_PTX_OP_ISTYPEP)
        return true;
    enum mr_ptx_type type = mr_ptx_type_bits((enum mr_ptx_type)operand->type) == 32 ? MR_PTX_TYPE_U32 : MR_PTX_TYPE_U64;
    return mr_ptx_verify_source(verifier, operand, type, false);
}

/* mul.wide and mad.wide: an integer of twice the width. */
static enum mr_ptx_type widened(const struct mr_ptx_inst *inst)
{
    enum mr_ptx_type type = (enum mr_ptx_type)inst->type[0];
    if (inst->mode != MR_PTX_MODE_WIDE)
        return type;
    switch (type) {
    case MR_PTX_TYPE_U16:
        return MR_PTX_TYPE_U32;
    case MR_PTX_TYPE_S16:
        return MR_PTX_TYPE_S32;
    case MR_PTX_TYPE_U32:
        return MR_PTX_TYPE_U64;
    case MR_PTX_TYPE_S32:
        return MR_PTX_TYPE_S64;
    default:
        return type;
    }
}

/* Coordinates in a tensor: as many as it has dimensions, or a column and four rows. Or offsets of pixels: two
 * fewer than it has dimensions. */
static bool check_places(struct verifier *verifier, char letter, const struct mr_ptx_operand *operand)
{
    const struct mr_ptx_inst *inst = verifier->inst;
    unsigned rank = inst->geom >= MR_PTX_GEOM_4D ? inst->geom - MR_PTX_GEOM_4D + 4u : inst->geom - MR_PTX_GEOM_1D + 1u;
    bool wide = inst->mode == MR_PTX_MODE_TENSOR_WIDE;
    unsigned count = letter == 'I' ? (wide ? 2 : rank - 2) : inst->mode == MR_PTX_MODE_TENSOR_ROWS ? 5 : rank;
    if (operand->kind != MR_PTX_OPERAND_VECTOR || operand->count != count)
        return mr_ptx_verify_operand_error(verifier, operand, "expected a vector of %u elements", count);
    for (uint8_t i = 0; i < operand->count; i++)
        if (!mr_ptx_verify_source(verifier, &operand->elements[i], letter == 'I' ? MR_PTX_TYPE_U16 : MR_PTX_TYPE_B32,
                                  false))
            return false;
    return true;
}

/* Letters that only ptx_forms.def has. */
static bool check_form_letter(struct verifier *verifier, char letter, const struct mr_ptx_operand *operand)
{
    const struct mr_ptx_inst *inst = verifier->inst;
    bool copies =
        (inst->op == MR_PTX_OP_CP && inst->mode != MR_PTX_MODE_COPY_ARRIVE) || inst->op == MR_PTX_OP_TENSORMAP;
    switch (letter) {
    case 'F':
    case '1':
    case '2':
    case '3':
        return mr_ptx_verify_matrix(verifier, letter, operand);
    case 'G':
        return check_address(verifier, operand, MR_PTX_SPACE_GLOBAL);
    case 'B':
        return operand->value == 0
                   ? check_address(verifier, operand, MR_PTX_SPACE_GENERIC)
                   : mr_ptx_verify_operand_error(verifier, operand, "the address of a tensor map has no offset");
    case 'C':
    case 'I':
        return check_places(verifier, letter, operand);
    case 'N':
        return check_address(verifier, operand, MR_PTX_SPACE_SHARED);
    case 'H':
        return check_address(verifier, operand, copies ? MR_PTX_SPACE_SHARED : (enum mr_ptx_space)inst->space);
    case 'J':
        return operand->kind == MR_PTX_OPERAND_SINK || mr_ptx_verify_dest(verifier, operand, MR_PTX_TYPE_U64, false);
    case 'q':
        return mr_ptx_verify_dest(verifier, operand, MR_PTX_TYPE_B32, false);
    case 'r':
        return mr_ptx_verify_source(verifier, operand, MR_PTX_TYPE_B32, false);
    case 'h':
        return mr_ptx_verify_source(verifier, operand, MR_PTX_TYPE_U16, false);
    case 'y':
        return mr_ptx_verify_dest(verifier, operand, MR_PTX_TYPE_B64, false);
    case 'z':
        return mr_ptx_verify_source(verifier, operand, MR_PTX_TYPE_F32, false);
    case 'k':
        return operand->kind == MR_PTX_OPERAND_IMM_INT ||
               mr_ptx_verify_operand_error(verifier, operand, "expected a constant");
    case 'O':
        return mr_ptx_verify_source(verifier, operand,
                                    operand->type == MR_PTX_TYPE_PRED ? MR_PTX_TYPE_PRED : MR_PTX_TYPE_U32, false);
    case 'w':
        if (operand->kind == MR_PTX_OPERAND_SYMBOL)
            return check_space(verifier, operand, MR_PTX_SPACE_SHARED);
        return mr_ptx_verify_source(verifier, operand, (enum mr_ptx_type)inst->type[0], false);
    default:
        return true; /* n, m: the opcode's own check; L, T: settled by the parser */
    }
}

static bool check_letter(struct verifier *verifier, char letter, const struct mr_ptx_operand *operand)
{
    const struct mr_ptx_inst *inst = verifier->inst;
    enum mr_ptx_type first = (enum mr_ptx_type)inst->type[0], second = (enum mr_ptx_type)inst->type[1];
    switch (letter) {
    case 'd':
        return mr_ptx_verify_dest(verifier, operand, first, false);
    case 'D':
        return mr_ptx_verify_dest(verifier, operand, widened(inst), false);
    case 'c':
        return mr_ptx_verify_dest(verifier, operand, inst->flags & MR_PTX_FLAG_PACK ? MR_PTX_TYPE_U32 : first,
                                  mr_ptx_type_class(second) != 'X');
    case 'u':
        return mr_ptx_verify_dest(verifier, operand, MR_PTX_TYPE_U32, false);
    case 'P':
        return mr_ptx_verify_dest(verifier, operand, MR_PTX_TYPE_PRED, false);
    case 'Q':
        return check_pair(verifier, operand, MR_PTX_TYPE_PRED);
    case 'R':
        return check_pair(verifier, operand, first);
    case 'S':
        return check_pair(verifier, operand, MR_PTX_TYPE_B32);
    case 'v':
        return check_memory_value(verifier, operand, true);
    case 's':
        return check_memory_value(verifier, operand, false);
    case 'a':
        return mr_ptx_verify_source(verifier, operand, first, false);
    case 'A':
        return mr_ptx_verify_source(verifier, operand, widened(inst), false);
    case 'b':
        return mr_ptx_verify_source(verifier, operand, second, false);
    case 'e':
        return mr_ptx_verify_source(verifier, operand, second,
                                    mr_ptx_type_class(first) != 'X' || (inst->flags & MR_PTX_FLAG_PACK));
    case 'i':
    case 'x':
        return mr_ptx_verify_source(verifier, operand, MR_PTX_TYPE_U32, false);
    case 'l':
        return mr_ptx_verify_source(verifier, operand, MR_PTX_TYPE_B64, false);
    case 'p':
        return mr_ptx_verify_source(verifier, operand, MR_PTX_TYPE_PRED, false);
    case 'M':
        return mr_ptx_verify_address(verifier, operand);
    case 'g':
        return check_generic(verifier, operand);
    default:
        return check_form_letter(verifier, letter, operand);
    }
}

bool mr_ptx_verify_operands(struct verifier *verifier)
{
    const struct mr_ptx_inst *inst = verifier->inst;
    const char *letters = mr_ptx_inst_operands(inst);
    for (uint8_t i = 0; i < inst->operand_count && *letters != '*'; i++) {
        char letter = *letters++;
        if (*letters == '?')
            letters++;
        /* The cache policy is the last one, whatever was left out before it. */
        if ((inst->flags & MR_PTX_FLAG_CACHE_HINT) && i == inst->operand_count - 1 &&
            inst->mode != MR_PTX_MODE_BULK_MASK)
            letter = 'l';
        if (!check_letter(verifier, letter, &inst->operands[i]))
            return false;
    }
    return true;
}
