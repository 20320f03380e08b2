/* SPDX-License-Identifier: Apache-2.0 */

/*
 * What each opcode asks of its types and modifiers, beyond what the table says:
 * which rounding is needed or forbidden, what .ftz and .sat apply to, which
 * comparison goes with which type. Loads, stores and conversions have a file of
 * their own.
 *
 * The rules follow the PTX manual; where the manual leaves room, what NVIDIA's
 * assembler accepts and refuses decides.
 */
#include <string.h>

#include "ptx/verify.h"

static enum mr_ptx_type first_type(const struct mr_ptx_inst *inst)
{
    return (enum mr_ptx_type)inst->type[0];
}

static bool is_integer(enum mr_ptx_type type)
{
    char cls = mr_ptx_type_class(type);
    return cls == 'U' || cls == 'S';
}

static bool is_float(enum mr_ptx_type type)
{
    return mr_ptx_type_class(type) == 'F';
}

static bool is_f16(enum mr_ptx_type type)
{
    return type == MR_PTX_TYPE_F16 || type == MR_PTX_TYPE_F16X2;
}

static bool is_bf16(enum mr_ptx_type type)
{
    return type == MR_PTX_TYPE_BF16 || type == MR_PTX_TYPE_BF16X2;
}

static bool is_half(enum mr_ptx_type type)
{
    return is_f16(type) || is_bf16(type);
}

static const char *op_name(const struct mr_ptx_inst *inst)
{
    return mr_ptx_op_name((enum mr_ptx_op)inst->op);
}

/* Says that a modifier does not go with the type. */
static bool no_modifier(struct verifier *verifier, const char *modifier)
{
    const struct mr_ptx_inst *inst = verifier->inst;
    return mr_ptx_verify_error(verifier, "'.%s' is not allowed for '%s' of type '.%s'", modifier, op_name(inst),
                               mr_ptx_type_name(first_type(inst)));
}

static bool need_modifier(struct verifier *verifier, const char *what)
{
    return mr_ptx_verify_error(verifier, "'%s' of type '.%s' needs %s", op_name(verifier->inst),
                               mr_ptx_type_name(first_type(verifier->inst)), what);
}

/* A group of type letters to a set. */
static uint64_t group_set(const char **letters, bool *optional)
{
    uint64_t set = 0;
    *optional = **letters == '?';
    if (*optional)
        (*letters)++;
    while (**letters && **letters != ',')
        set |= mr_ptx_type_letter_set(*(*letters)++);
    if (**letters == ',')
        (*letters)++;
    return set;
}

/* Types as many and such as the table says. */
static bool check_types(struct verifier *verifier)
{
    const struct mr_ptx_inst *inst = verifier->inst;
    const char *letters = mr_ptx_op_info((enum mr_ptx_op)inst->op)->types;
    uint8_t i = 0;
    if (inst->form)
        return true;
    while (*letters) {
        bool optional;
        uint64_t set = group_set(&letters, &optional);
        if (i == inst->type_count) {
            if (!optional)
                return mr_ptx_verify_error(verifier, "'%s' needs %s type", op_name(inst), i == 0 ? "a" : "another");
            break;
        }
        if (!(set >> inst->type[i] & 1))
            return mr_ptx_verify_error(verifier, "type '.%s' is not allowed for '%s'",
                                       mr_ptx_type_name((enum mr_ptx_type)inst->type[i]), op_name(inst));
        i++;
    }
    if (i < inst->type_count)
        return mr_ptx_verify_error(verifier, "'%s' has too many types", op_name(inst));
    return true;
}

/* .ftz is for f32 and f16, .sat for the same and s32, rounding for floats. */
static bool check_float_modifiers(struct verifier *verifier)
{
    const struct mr_ptx_inst *inst = verifier->inst;
    enum mr_ptx_type type = first_type(inst);
    bool single = type == MR_PTX_TYPE_F32;
    bool ftz = inst->flags & MR_PTX_FLAG_FTZ, sat = inst->flags & MR_PTX_FLAG_SAT;
    if (inst->rounding > MR_PTX_ROUND_RP)
        return mr_ptx_verify_error(verifier, "'%s' cannot round to integers", op_name(inst));
    if (inst->rounding != MR_PTX_ROUND_NONE && !is_float(type))
        return no_modifier(verifier, "rn, .rz, .rm, .rp");
    /* fma of pairs of bfloats may name another rounding, and rounds to nearest. */
    if (inst->rounding > MR_PTX_ROUND_RN && is_half(type) && !(inst->op == MR_PTX_OP_FMA && type == MR_PTX_TYPE_BF16X2))
        return no_modifier(verifier, "rz, .rm, .rp");
    if (ftz && !single && !is_f16(type))
        return no_modifier(verifier, "ftz");
    if (sat && is_float(type) && !single && !is_f16(type))
        return no_modifier(verifier, "sat");
    if ((inst->flags & MR_PTX_FLAG_RELU) && !is_half(type))
        return no_modifier(verifier, "relu");
    if ((inst->flags & MR_PTX_FLAG_OOB) && (!is_half(type) || ftz))
        return no_modifier(verifier, "oob");
    return true;
}

static bool check_add(struct verifier *verifier)
{
    const struct mr_ptx_inst *inst = verifier->inst;
    enum mr_ptx_type type = first_type(inst);
    if ((inst->flags & MR_PTX_FLAG_SAT) && !is_float(type) && type != MR_PTX_TYPE_S32)
        return no_modifier(verifier, "sat");
    if ((inst->flags & MR_PTX_FLAG_CC) &&
        (!is_integer(type) || mr_ptx_type_bits(type) < 32 || type == MR_PTX_TYPE_U16X2 || type == MR_PTX_TYPE_S16X2))
        return no_modifier(verifier, "cc");
    if ((inst->flags & MR_PTX_FLAG_CC) && (inst->flags & MR_PTX_FLAG_SAT))
        return mr_ptx_verify_error(verifier, "'.sat' and '.cc' exclude each other");
    return check_float_modifiers(verifier);
}

/* mul, mad, madc: an integer product needs a half, a float product none. */
static bool check_mul(struct verifier *verifier)
{
    const struct mr_ptx_inst *inst = verifier->inst;
    enum mr_ptx_type type = first_type(inst);
    if (is_float(type)) {
        if (inst->mode != MR_PTX_MODE_NONE)
            return no_modifier(verifier, "lo, .hi, .wide");
        if (inst->flags & MR_PTX_FLAG_CC)
            return no_modifier(verifier, "cc");
        if (inst->op == MR_PTX_OP_MAD && inst->rounding == MR_PTX_ROUND_NONE)
            return need_modifier(verifier, "a rounding");
        return check_float_modifiers(verifier);
    }
    if (inst->mode == MR_PTX_MODE_NONE)
        return need_modifier(verifier, "'.lo', '.hi' or '.wide'");
    if (inst->mode == MR_PTX_MODE_WIDE && mr_ptx_type_bits(type) == 64)
        return no_modifier(verifier, "wide");
    bool carries = (inst->flags & MR_PTX_FLAG_CC) || inst->op == MR_PTX_OP_MADC, small = mr_ptx_type_bits(type) < 32;
    if (carries && inst->mode == MR_PTX_MODE_WIDE)
        return no_modifier(verifier, "wide");
    if ((inst->flags & MR_PTX_FLAG_CC) && small)
        return no_modifier(verifier, "cc");
    bool sat_fits = inst->op == MR_PTX_OP_MAD && inst->mode == MR_PTX_MODE_HI && type == MR_PTX_TYPE_S32;
    if ((inst->flags & MR_PTX_FLAG_SAT) && !sat_fits)
        return no_modifier(verifier, "sat");
    return check_float_modifiers(verifier);
}

static bool check_mul24(struct verifier *verifier)
{
    const struct mr_ptx_inst *inst = verifier->inst;
    if (inst->mode != MR_PTX_MODE_LO && inst->mode != MR_PTX_MODE_HI)
        return need_modifier(verifier, "'.lo' or '.hi'");
    if ((inst->flags & MR_PTX_FLAG_SAT) && (inst->mode != MR_PTX_MODE_HI || first_type(inst) != MR_PTX_TYPE_S32))
        return no_modifier(verifier, "sat");
    return true;
}

static bool check_fma(struct verifier *verifier)
{
    const struct mr_ptx_inst *inst = verifier->inst;
    if (inst->rounding == MR_PTX_ROUND_NONE)
        return need_modifier(verifier, "a rounding");
    if ((inst->flags & MR_PTX_FLAG_RELU) && (inst->flags & MR_PTX_FLAG_SAT))
        return no_modifier(verifier, "relu with .sat");
    return check_float_modifiers(verifier);
}

/* div, rcp, sqrt: a float needs a rounding or .approx, and not both. */
static bool check_div(struct verifier *verifier)
{
    const struct mr_ptx_inst *inst = verifier->inst;
    enum mr_ptx_type type = first_type(inst);
    bool approx = inst->flags & MR_PTX_FLAG_APPROX, full = inst->flags & MR_PTX_FLAG_FULL;
    if (!is_float(type)) {
        if (approx || full)
            return no_modifier(verifier, "approx");
        return check_float_modifiers(verifier);
    }
    if (full && inst->op != MR_PTX_OP_DIV)
        return no_modifier(verifier, "full");
    if ((int)approx + (int)full + (inst->rounding != MR_PTX_ROUND_NONE) != 1)
        return need_modifier(verifier, "one of a rounding and '.approx'");
    if (type == MR_PTX_TYPE_F64 && approx && inst->op == MR_PTX_OP_RCP)
        return (inst->flags & MR_PTX_FLAG_FTZ) || need_modifier(verifier, "'.ftz' with '.approx'");
    if (type == MR_PTX_TYPE_F64 && (approx || full))
        return no_modifier(verifier, approx ? "approx" : "full");
    if (type == MR_PTX_TYPE_F64 && inst->op == MR_PTX_OP_RCP && inst->rounding <= MR_PTX_ROUND_RP)
        return true; /* .ftz is taken and means nothing */
    return check_float_modifiers(verifier);
}

/* rsqrt, sin, cos, lg2, ex2, tanh */
static bool check_approx(struct verifier *verifier)
{
    const struct mr_ptx_inst *inst = verifier->inst;
    enum mr_ptx_type type = first_type(inst);
    if (!(inst->flags & MR_PTX_FLAG_APPROX) || (inst->flags & MR_PTX_FLAG_FULL))
        return need_modifier(verifier, "'.approx'");
    bool ftz = inst->flags & MR_PTX_FLAG_FTZ;
    if (inst->op == MR_PTX_OP_EX2 && is_f16(type) && ftz)
        return no_modifier(verifier, "ftz");
    if (inst->op == MR_PTX_OP_EX2 && is_bf16(type) && !ftz)
        return need_modifier(verifier, "'.ftz'");
    return true;
}

static bool check_abs(struct verifier *verifier)
{
    enum mr_ptx_type type = first_type(verifier->inst);
    if (mr_ptx_type_class(type) == 'U')
        return mr_ptx_verify_error(verifier, "'%s' needs a signed type", op_name(verifier->inst));
    return check_float_modifiers(verifier);
}

static bool check_min(struct verifier *verifier)
{
    const struct mr_ptx_inst *inst = verifier->inst;
    enum mr_ptx_type type = first_type(inst);
    bool single = type == MR_PTX_TYPE_F32;
    bool relu = inst->flags & MR_PTX_FLAG_RELU;
    if (relu && type != MR_PTX_TYPE_S32 && type != MR_PTX_TYPE_S16X2)
        return is_half(type) ? mr_ptx_verify_error(verifier, "'.relu' is not allowed for '%s'", op_name(inst))
                             : no_modifier(verifier, "relu");
    if ((inst->flags & (MR_PTX_FLAG_NAN | MR_PTX_FLAG_XORSIGN)) && !single && !is_half(type))
        return no_modifier(verifier, inst->flags & MR_PTX_FLAG_NAN ? "NaN" : "xorsign");
    bool three = inst->operand_count > 3;
    if (three && (!single || (inst->flags & MR_PTX_FLAG_XORSIGN)))
        return mr_ptx_verify_error(verifier, "'%s' of three numbers has type '.f32' and no '.xorsign'", op_name(inst));
    if (!three && !(inst->flags & MR_PTX_FLAG_XORSIGN) != !(inst->flags & MR_PTX_FLAG_ABS))
        return mr_ptx_verify_error(verifier, "'.xorsign' and '.abs' go together");
    if ((inst->flags & MR_PTX_FLAG_FTZ) && !single && !is_f16(type))
        return no_modifier(verifier, "ftz");
    return true;
}

/* Results that set has: 32 bits, 1 or 0 as a half, and what goes with comparisons of halves. */
static bool check_set_result(struct verifier *verifier, enum mr_ptx_type result, enum mr_ptx_type type)
{
    bool word = result == MR_PTX_TYPE_U32 || result == MR_PTX_TYPE_S32;
    bool good;
    if (!is_half(type))
        good = word || result == MR_PTX_TYPE_F32 || result == MR_PTX_TYPE_F16 || result == MR_PTX_TYPE_BF16;
    else if (mr_ptx_type_bits(type) == 32)
        good = word || result == type;
    else
        good = word || result == type || result == MR_PTX_TYPE_BF16 || result == MR_PTX_TYPE_U16 ||
               result == MR_PTX_TYPE_S16;
    if (result == MR_PTX_TYPE_BF16 && (verifier->inst->flags & MR_PTX_FLAG_FTZ))
        return mr_ptx_verify_error(verifier, "'set' with a result of type '.bf16' has no '.ftz'");
    return good || mr_ptx_verify_error(verifier, "'set' of type '.%s' cannot have type '.%s'", mr_ptx_type_name(type),
                                       mr_ptx_type_name(result));
}

/* Which comparisons a type has. */
static bool check_compare(struct verifier *verifier)
{
    const struct mr_ptx_inst *inst = verifier->inst;
    enum mr_ptx_type type = (enum mr_ptx_type)inst->type[inst->op == MR_PTX_OP_SET ? 1 : 0];
    uint8_t cmp = inst->cmp;
    if (inst->op == MR_PTX_OP_SET && !check_set_result(verifier, first_type(inst), type))
        return false;
    bool single_half = type == MR_PTX_TYPE_F16 || type == MR_PTX_TYPE_BF16;
    if (inst->op == MR_PTX_OP_SETP && single_half && inst->operands[0].kind == MR_PTX_OPERAND_PAIR)
        return mr_ptx_verify_error(verifier, "'setp' of type '.%s' has one result", mr_ptx_type_name(type));
    bool plain = cmp <= MR_PTX_CMP_GE, unsigned_only = cmp >= MR_PTX_CMP_LO && cmp <= MR_PTX_CMP_HS;
    bool good = true;
    if (cmp == MR_PTX_CMP_NONE)
        return mr_ptx_verify_error(verifier, "'%s' needs a comparison", op_name(inst));
    switch (mr_ptx_type_class(type)) {
    case 'B':
        good = cmp == MR_PTX_CMP_EQ || cmp == MR_PTX_CMP_NE;
        break;
    case 'S':
        good = plain;
        break;
    case 'U':
        good = plain || unsigned_only;
        break;
    default:
        good = !unsigned_only;
        break;
    }
    if (!good)
        return mr_ptx_verify_error(verifier, "this comparison is not allowed for type '.%s'", mr_ptx_type_name(type));
    if ((inst->flags & MR_PTX_FLAG_FTZ) && type != MR_PTX_TYPE_F32 && !is_f16(type))
        return mr_ptx_verify_error(verifier, "'.ftz' is not allowed for type '.%s'", mr_ptx_type_name(type));
    bool combines = inst->operand_count == 4;
    if (combines != (inst->boolop != MR_PTX_BOOL_NONE))
        return mr_ptx_verify_error(verifier,
                                   combines ? "'%s' with a predicate needs '.and', '.or' or '.xor'"
                                            : "'%s' with a boolean operation needs a predicate",
                                   op_name(inst));
    return true;
}

static bool check_lop3(struct verifier *verifier)
{
    const struct mr_ptx_inst *inst = verifier->inst;
    bool combines = inst->boolop != MR_PTX_BOOL_NONE;
    bool pair = inst->operands[0].kind == MR_PTX_OPERAND_PAIR;
    if (combines != pair || combines != (inst->operand_count == 6))
        return mr_ptx_verify_error(verifier, "a boolean operation, a predicate result and a predicate go together");
    if (combines && inst->boolop == MR_PTX_BOOL_XOR)
        return no_modifier(verifier, "xor");
    if (inst->operands[4].kind != MR_PTX_OPERAND_IMM_INT)
        return mr_ptx_verify_operand_error(verifier, &inst->operands[4], "the table of lop3 must be a constant");
    return true;
}

/* shf, bmsk, szext */
static bool check_funnel(struct verifier *verifier)
{
    const struct mr_ptx_inst *inst = verifier->inst;
    if (inst->op == MR_PTX_OP_SHF && inst->mode == MR_PTX_MODE_NONE)
        return need_modifier(verifier, "'.l' or '.r'");
    return inst->mode2 != MR_PTX_MODE_NONE || need_modifier(verifier, "'.clamp' or '.wrap'");
}

/* shfl, vote: the forms without .sync ended with sm_70. */
static bool check_sync(struct verifier *verifier)
{
    const struct mr_ptx_inst *inst = verifier->inst;
    bool sync = inst->flags & MR_PTX_FLAG_SYNC;
    uint8_t with_mask = inst->op == MR_PTX_OP_SHFL ? 5 : 3;
    if (!sync && mr_ptx_verify_is_sm(verifier, 70) && mr_ptx_verify_is_version(verifier, 6, 4))
        return mr_ptx_verify_error(verifier, "'%s' without '.sync' is not available from sm_70 on", op_name(inst));
    if (inst->operand_count != with_mask - !sync)
        return mr_ptx_verify_error(verifier, "'%s%s' has %u operands", op_name(inst), sync ? ".sync" : "",
                                   with_mask - !sync);
    return true;
}

static bool check_warp(struct verifier *verifier)
{
    const struct mr_ptx_inst *inst = verifier->inst;
    enum mr_ptx_type type = first_type(inst);
    switch (inst->op) {
    case MR_PTX_OP_SHFL:
        if (inst->operands[0].kind == MR_PTX_OPERAND_PAIR && inst->operands[0].reg == MR_PTX_NONE)
            return mr_ptx_verify_operand_error(verifier, &inst->operands[0], "the result of 'shfl' needs a register");
        return inst->mode != MR_PTX_MODE_NONE ? check_sync(verifier) : need_modifier(verifier, "a mode");
    case MR_PTX_OP_VOTE:
        if (inst->mode == MR_PTX_MODE_NONE)
            return need_modifier(verifier, "a mode");
        if ((inst->mode == MR_PTX_MODE_BALLOT) != (type == MR_PTX_TYPE_B32))
            return mr_ptx_verify_error(verifier, "type '.%s' is not allowed for this vote", mr_ptx_type_name(type));
        return check_sync(verifier);
    case MR_PTX_OP_MATCH:
        if (!(inst->flags & MR_PTX_FLAG_SYNC))
            return need_modifier(verifier, "'.sync'");
        if (inst->mode != MR_PTX_MODE_ANY && inst->mode != MR_PTX_MODE_ALL)
            return need_modifier(verifier, "'.any' or '.all'");
        if (inst->mode == MR_PTX_MODE_ANY && inst->operands[0].kind == MR_PTX_OPERAND_PAIR &&
            (inst->operands[0].reg == MR_PTX_NONE || inst->operands[0].reg2 != MR_PTX_NONE))
            return mr_ptx_verify_operand_error(verifier, &inst->operands[0], "match.any has no predicate result");
        return true;
    default: { /* redux */
        if (!(inst->flags & MR_PTX_FLAG_SYNC))
            return need_modifier(verifier, "'.sync'");
        if (type == MR_PTX_TYPE_F32 || (inst->flags & (MR_PTX_FLAG_NAN | MR_PTX_FLAG_ABS)))
            return mr_ptx_verify_unsupported(verifier, "redux of floats");
        bool bits = inst->atom == MR_PTX_ATOM_AND || inst->atom == MR_PTX_ATOM_OR || inst->atom == MR_PTX_ATOM_XOR;
        bool adds = inst->atom == MR_PTX_ATOM_ADD || inst->atom == MR_PTX_ATOM_MIN || inst->atom == MR_PTX_ATOM_MAX;
        if (!(type == MR_PTX_TYPE_B32 ? bits : adds))
            return mr_ptx_verify_error(verifier, "this operation is not allowed for 'redux' of type '.%s'",
                                       mr_ptx_type_name(type));
        return true;
    }
    }
}

/* Barrier number 0 to 15 and a number of threads that warps divide. */
static bool check_barrier_numbers(struct verifier *verifier, const struct mr_ptx_operand *name,
                                  const struct mr_ptx_operand *threads)
{
    if (!mr_ptx_verify_source(verifier, name, MR_PTX_TYPE_U32, false))
        return false;
    if (name->kind == MR_PTX_OPERAND_IMM_INT && (name->value < 0 || name->value > 15))
        return mr_ptx_verify_operand_error(verifier, name, "a barrier's number is from 0 to 15");
    if (!threads)
        return true;
    if (!mr_ptx_verify_source(verifier, threads, MR_PTX_TYPE_U32, false))
        return false;
    if (threads->kind == MR_PTX_OPERAND_IMM_INT && (threads->value < 0 || threads->value % 32 != 0))
        return mr_ptx_verify_operand_error(verifier, threads, "a barrier's threads must be a multiple of 32");
    if (threads->kind == MR_PTX_OPERAND_IMM_INT && threads->value == 0 && verifier->inst->mode == MR_PTX_MODE_ARRIVE)
        return mr_ptx_verify_operand_error(verifier, threads, "an arrival needs a number of threads");
    return true; /* to wait for 0 threads is to wait for all */
}

static bool check_barrier(struct verifier *verifier)
{
    const struct mr_ptx_inst *inst = verifier->inst;
    const struct mr_ptx_operand *operands = inst->operands;
    switch (inst->mode) {
    case MR_PTX_MODE_CLUSTER_ARRIVE:
    case MR_PTX_MODE_CLUSTER_WAIT: {
        bool waits = inst->mode == MR_PTX_MODE_CLUSTER_WAIT;
        uint8_t sem = inst->semantics;
        if (inst->op == MR_PTX_OP_BAR)
            return mr_ptx_verify_error(verifier, "'.cluster' is for 'barrier'");
        if (inst->type_count || inst->mode2 != MR_PTX_MODE_NONE || inst->boolop != MR_PTX_BOOL_NONE)
            return mr_ptx_verify_error(verifier, "'barrier.cluster' reduces nothing");
        if (sem != MR_PTX_SEM_NONE && sem != (waits ? MR_PTX_SEM_ACQUIRE : MR_PTX_SEM_RELEASE) &&
            (waits || sem != MR_PTX_SEM_RELAXED))
            return mr_ptx_verify_error(verifier, "this ordering is not allowed for 'barrier.cluster'");
        return true;
    }
    case MR_PTX_MODE_WARP_SYNC:
        return mr_ptx_verify_source(verifier, &operands[0], MR_PTX_TYPE_U32, false);
    case MR_PTX_MODE_RED: {
        bool popc = inst->mode2 == MR_PTX_MODE_POPC;
        enum mr_ptx_type type = popc ? MR_PTX_TYPE_U32 : MR_PTX_TYPE_PRED;
        const struct mr_ptx_operand *last = &operands[inst->operand_count - 1];
        if (popc == (inst->boolop != MR_PTX_BOOL_NONE) || inst->boolop == MR_PTX_BOOL_XOR)
            return mr_ptx_verify_error(verifier, "'%s.red' needs one of '.popc', '.and', '.or'", op_name(inst));
        if (inst->type_count != 1 || first_type(inst) != type)
            return mr_ptx_verify_error(verifier, "'%s.red' needs type '.%s'", op_name(inst), mr_ptx_type_name(type));
        return mr_ptx_verify_dest(verifier, &operands[0], type, false) &&
               check_barrier_numbers(verifier, &operands[1], inst->operand_count == 4 ? &operands[2] : NULL) &&
               mr_ptx_verify_source(verifier, last, MR_PTX_TYPE_PRED, false);
    }
    default:
        return check_barrier_numbers(verifier, &operands[0], inst->operand_count == 2 ? &operands[1] : NULL);
    }
}

static bool check_slct(struct verifier *verifier)
{
    const struct mr_ptx_inst *inst = verifier->inst;
    if (inst->type[1] == MR_PTX_TYPE_U32)
        return mr_ptx_verify_error(verifier, "'slct' chooses by '.s32' or '.f32'");
    if ((inst->flags & MR_PTX_FLAG_FTZ) && inst->type[1] != MR_PTX_TYPE_F32)
        return mr_ptx_verify_error(verifier, "'.ftz' is for 'slct' that chooses by '.f32'");
    return true;
}

static bool check_pmevent(struct verifier *verifier)
{
    const struct mr_ptx_operand *event = &verifier->inst->operands[0];
    if (event->kind != MR_PTX_OPERAND_IMM_INT)
        return mr_ptx_verify_operand_error(verifier, event, "the event must be a constant");
    bool mask = verifier->inst->flags & MR_PTX_FLAG_MASK;
    return (uint64_t)event->value < (mask ? 65536u : 16u) ||
           mr_ptx_verify_operand_error(verifier, event, mask ? "there are 16 events" : "an event is from 0 to 15");
}

/* What the opcode asks beyond the table. */
static bool check_opcode(struct verifier *verifier)
{
    const struct mr_ptx_inst *inst = verifier->inst;
    switch (inst->op) {
    case MR_PTX_OP_ADD:
    case MR_PTX_OP_SUB:
    case MR_PTX_OP_ADDC:
    case MR_PTX_OP_SUBC:
        return check_add(verifier);
    case MR_PTX_OP_MUL:
    case MR_PTX_OP_MAD:
    case MR_PTX_OP_MADC:
        return check_mul(verifier);
    case MR_PTX_OP_MUL24:
    case MR_PTX_OP_MAD24:
        return check_mul24(verifier);
    case MR_PTX_OP_FMA:
        return check_fma(verifier);
    case MR_PTX_OP_DIV:
    case MR_PTX_OP_RCP:
    case MR_PTX_OP_SQRT:
        return check_div(verifier);
    case MR_PTX_OP_RSQRT:
    case MR_PTX_OP_SIN:
    case MR_PTX_OP_COS:
    case MR_PTX_OP_LG2:
    case MR_PTX_OP_EX2:
    case MR_PTX_OP_TANH:
        return check_approx(verifier);
    case MR_PTX_OP_ABS:
    case MR_PTX_OP_NEG:
        return check_abs(verifier);
    case MR_PTX_OP_MIN:
    case MR_PTX_OP_MAX:
        return check_min(verifier);
    case MR_PTX_OP_SET:
    case MR_PTX_OP_SETP:
        return check_compare(verifier);
    case MR_PTX_OP_SLCT:
        return check_slct(verifier);
    case MR_PTX_OP_LOP3:
        return check_lop3(verifier);
    case MR_PTX_OP_SHF:
    case MR_PTX_OP_BMSK:
    case MR_PTX_OP_SZEXT:
        return check_funnel(verifier);
    case MR_PTX_OP_ELECT:
        if (inst->operands[0].kind != MR_PTX_OPERAND_PAIR || inst->operands[0].reg2 == MR_PTX_NONE)
            return mr_ptx_verify_error(verifier, "'elect' has a predicate result");
        return (inst->flags & MR_PTX_FLAG_SYNC) || mr_ptx_verify_error(verifier, "'elect' needs '.sync'");
    case MR_PTX_OP_PMEVENT:
        return check_pmevent(verifier);
    case MR_PTX_OP_DP2A:
        return inst->mode == MR_PTX_MODE_LO || inst->mode == MR_PTX_MODE_HI ||
               need_modifier(verifier, "'.lo' or '.hi'");
    case MR_PTX_OP_TESTP:
        return inst->mode != MR_PTX_MODE_NONE || need_modifier(verifier, "what to test");
    case MR_PTX_OP_SHFL:
    case MR_PTX_OP_VOTE:
    case MR_PTX_OP_MATCH:
    case MR_PTX_OP_REDUX:
        return check_warp(verifier);
    case MR_PTX_OP_BAR:
    case MR_PTX_OP_BARRIER:
        return check_barrier(verifier);
    case MR_PTX_OP_TEX:
    case MR_PTX_OP_TLD4:
    case MR_PTX_OP_TXQ:
    case MR_PTX_OP_SULD:
    case MR_PTX_OP_SUST:
    case MR_PTX_OP_SURED:
    case MR_PTX_OP_SUQ:
    case MR_PTX_OP_ISTYPEP:
        return mr_ptx_verify_texture(verifier);
    default:
        return mr_ptx_video_lanes((enum mr_ptx_op)inst->op) ? mr_ptx_verify_video(verifier)
                                                            : mr_ptx_verify_memory_inst(verifier);
    }
}

bool mr_ptx_verify_inst(struct verifier *verifier)
{
    const struct mr_ptx_inst *inst = verifier->inst;
    if (inst->op == MR_PTX_OP_UNSUPPORTED) {
        if (verifier->diag)
            verifier->diag->unsupported = true;
        return mr_ptx_verify_error(verifier, "unsupported instruction '%s'", inst->name ? inst->name : op_name(inst));
    }
    return check_types(verifier) && (inst->form ? mr_ptx_verify_form(verifier) : check_opcode(verifier)) &&
           mr_ptx_verify_needs(verifier) && mr_ptx_verify_operands(verifier);
}
