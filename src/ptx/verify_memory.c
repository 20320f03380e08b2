/* SPDX-License-Identifier: Apache-2.0 */

/*
 * What loads, stores, atomics, moves and conversions ask of their types and
 * modifiers.
 */
#include <string.h>

#include "ptx/verify.h"

#define T(id) (UINT64_C(1) << MR_PTX_TYPE_##id)

static enum mr_ptx_type type_of(const struct mr_ptx_inst *inst, int index)
{
    return (enum mr_ptx_type)inst->type[index];
}

static const char *op_name(const struct mr_ptx_inst *inst)
{
    return mr_ptx_op_name((enum mr_ptx_op)inst->op);
}

static bool wrong_space(struct verifier *verifier)
{
    return mr_ptx_verify_error(verifier, "space '.%s' is not allowed for '%s'",
                               mr_ptx_space_name((enum mr_ptx_space)verifier->inst->space), op_name(verifier->inst));
}

static bool is_shared(uint8_t space)
{
    return space == MR_PTX_SPACE_SHARED || space == MR_PTX_SPACE_SHARED_CLUSTER;
}

/* --- ld and st --------------------------------------------------------------- */

/* .relaxed and .acquire need a scope, the others have none. */
static bool check_ordering(struct verifier *verifier)
{
    const struct mr_ptx_inst *inst = verifier->inst;
    uint8_t sem = inst->semantics, wrong = inst->op == MR_PTX_OP_LD ? MR_PTX_SEM_RELEASE : MR_PTX_SEM_ACQUIRE;
    bool scoped = sem == MR_PTX_SEM_RELAXED || sem == MR_PTX_SEM_ACQUIRE || sem == MR_PTX_SEM_RELEASE;
    if ((inst->flags & MR_PTX_FLAG_MMIO) && (sem != MR_PTX_SEM_RELAXED || inst->scope != MR_PTX_SCOPE_SYS))
        return mr_ptx_verify_error(verifier, "'.mmio' needs '.relaxed.sys'");
    if ((inst->flags & MR_PTX_FLAG_MMIO) && inst->vector > 1)
        return mr_ptx_verify_error(verifier, "'.mmio' is not for vectors");
    if (sem == wrong || sem == MR_PTX_SEM_ACQ_REL || sem == MR_PTX_SEM_SC)
        return mr_ptx_verify_error(verifier, "this ordering is not allowed for '%s'", op_name(inst));
    if (scoped != (inst->scope != MR_PTX_SCOPE_NONE))
        return mr_ptx_verify_error(
            verifier, scoped ? "'%s' with this ordering needs a scope" : "'%s' with a scope needs an ordering",
            op_name(inst));
    uint8_t space = inst->space;
    bool strong = scoped || (sem == MR_PTX_SEM_VOLATILE && space != MR_PTX_SPACE_LOCAL);
    if (strong && space != MR_PTX_SPACE_GENERIC && space != MR_PTX_SPACE_GLOBAL && !is_shared(space))
        return mr_ptx_verify_error(verifier, "this ordering is not allowed in space '.%s'",
                                   mr_ptx_space_name((enum mr_ptx_space)space));
    if ((inst->flags & MR_PTX_FLAG_MMIO) && is_shared(space))
        return mr_ptx_verify_error(verifier, "'.mmio' is not allowed in space '.shared'");
    if (inst->cache != MR_PTX_CACHE_NONE && sem != MR_PTX_SEM_NONE && sem != MR_PTX_SEM_WEAK)
        return mr_ptx_verify_error(verifier, "'%s' has an ordering and a cache operator", op_name(inst));
    return true;
}

/* 256 bits: .v8.b32 and .v4.b64. */
static bool is_wide(const struct mr_ptx_inst *inst)
{
    return mr_ptx_type_bits(type_of(inst, 0)) * inst->vector > 128;
}

/* A cache operator of loads only, or of stores only. */
static bool check_cache(struct verifier *verifier)
{
    const struct mr_ptx_inst *inst = verifier->inst;
    bool load_only = inst->cache == MR_PTX_CACHE_CA || inst->cache == MR_PTX_CACHE_LU ||
                     inst->cache == MR_PTX_CACHE_CV || inst->cache == MR_PTX_CACHE_NC;
    bool store_only = inst->cache == MR_PTX_CACHE_WB || inst->cache == MR_PTX_CACHE_WT;
    if (inst->op == MR_PTX_OP_LD ? store_only : load_only)
        return mr_ptx_verify_error(verifier, "this cache operator is not allowed for '%s'", op_name(inst));
    uint32_t hints = MR_PTX_FLAG_EVICT_L1 | MR_PTX_FLAG_FETCH_L2 | MR_PTX_FLAG_CACHE_HINT;
    if ((inst->flags & hints) && inst->space != MR_PTX_SPACE_GLOBAL && inst->space != MR_PTX_SPACE_GENERIC)
        return mr_ptx_verify_error(verifier, "this cache hint is not allowed in space '.%s'",
                                   mr_ptx_space_name((enum mr_ptx_space)inst->space));
    if ((inst->flags & MR_PTX_FLAG_EVICT_L1) && inst->semantics == MR_PTX_SEM_VOLATILE)
        return mr_ptx_verify_error(verifier, "'.volatile' and this cache hint exclude each other");
    if ((inst->flags & MR_PTX_FLAG_EVICT_L1) && inst->cache != MR_PTX_CACHE_NONE && inst->cache != MR_PTX_CACHE_NC)
        return mr_ptx_verify_error(verifier, "a cache operator and this cache hint exclude each other");
    if ((inst->flags & MR_PTX_FLAG_FETCH_L2) && inst->op == MR_PTX_OP_ST)
        return mr_ptx_verify_error(verifier, "this cache hint is not allowed for 'st'");
    if ((inst->flags & MR_PTX_FLAG_EVICT_L2) && !is_wide(inst))
        return mr_ptx_verify_error(verifier, "this cache hint is for '.v8.b32' and '.v4.b64'");
    if (inst->cache == MR_PTX_CACHE_NC && inst->space != MR_PTX_SPACE_GLOBAL)
        return mr_ptx_verify_error(verifier, "'.nc' needs space '.global'");
    return true;
}

/* What may be at the end of an address in the parameter space. */
static bool check_param_store(struct verifier *verifier, const struct mr_ptx_operand *address)
{
    bool input = address->kind == MR_PTX_OPERAND_SYMBOL_ADDRESS && address->var->is_input;
    if (input || (verifier->function->is_entry && address->kind == MR_PTX_OPERAND_REG_ADDRESS && !address->is_element))
        return mr_ptx_verify_operand_error(verifier, address, "input parameters cannot be written");
    return true;
}

static bool check_access(struct verifier *verifier)
{
    const struct mr_ptx_inst *inst = verifier->inst;
    bool store = inst->op == MR_PTX_OP_ST;
    enum mr_ptx_type type = type_of(inst, 0);
    if (type == MR_PTX_TYPE_B128 && inst->vector > 1)
        return mr_ptx_verify_error(verifier, "a vector of '.b128' is too large");
    if (inst->vector == 8 && mr_ptx_type_bits(type) != 32 && !(store && mr_ptx_type_bits(type) < 32))
        return mr_ptx_verify_error(verifier, "'.v8' needs a type of 32 bits, in 'st' at most that");
    if (is_wide(inst) && inst->op == MR_PTX_OP_LDU)
        return mr_ptx_verify_error(verifier, "'ldu' reads up to 128 bits");
    if (is_wide(inst) && inst->space != MR_PTX_SPACE_GLOBAL && inst->space != MR_PTX_SPACE_GENERIC)
        return mr_ptx_verify_error(verifier, "an access of 256 bits is for space '.global'");
    if (store && inst->space == MR_PTX_SPACE_CONST)
        return wrong_space(verifier);
    if (inst->op == MR_PTX_OP_LDU && inst->space != MR_PTX_SPACE_GLOBAL && inst->space != MR_PTX_SPACE_GENERIC)
        return wrong_space(verifier);
    if (store && inst->space == MR_PTX_SPACE_PARAM_ENTRY)
        return wrong_space(verifier);
    bool param = inst->space == MR_PTX_SPACE_PARAM || inst->space == MR_PTX_SPACE_PARAM_FUNC;
    if (store && param && !check_param_store(verifier, &inst->operands[0]))
        return false;
    bool policy = inst->operand_count == 3;
    if (policy != ((inst->flags & MR_PTX_FLAG_CACHE_HINT) != 0))
        return mr_ptx_verify_error(verifier, "'.L2::cache_hint' and a policy go together");
    return check_ordering(verifier) && check_cache(verifier);
}

/* --- atom and red ------------------------------------------------------------ */

static uint64_t atom_types(const struct mr_ptx_inst *inst)
{
    uint64_t halves = T(F16) | T(F16X2) | T(BF16) | T(BF16X2);
    switch (inst->atom) {
    case MR_PTX_ATOM_AND:
    case MR_PTX_ATOM_OR:
    case MR_PTX_ATOM_XOR:
        return T(B32) | T(B64);
    case MR_PTX_ATOM_EXCH:
        return T(B32) | T(B64) | T(B128);
    case MR_PTX_ATOM_CAS:
        return T(B16) | T(B32) | T(B64) | T(B128);
    case MR_PTX_ATOM_ADD:
        return T(U32) | T(S32) | T(U64) | T(F32) | T(F64) | halves;
    case MR_PTX_ATOM_INC:
    case MR_PTX_ATOM_DEC:
        return T(U32);
    case MR_PTX_ATOM_MIN:
    case MR_PTX_ATOM_MAX:
        return T(U32) | T(S32) | T(U64) | T(S64);
    default:
        return 0;
    }
}

/* Vectors: floats in global memory, added; halves also compared. */
static bool check_atom_vector(struct verifier *verifier)
{
    const struct mr_ptx_inst *inst = verifier->inst;
    enum mr_ptx_type type = type_of(inst, 0);
    uint64_t halves = T(F16) | T(F16X2) | T(BF16) | T(BF16X2);
    uint64_t types = inst->atom == MR_PTX_ATOM_ADD                                    ? halves | T(F32)
                     : inst->atom == MR_PTX_ATOM_MIN || inst->atom == MR_PTX_ATOM_MAX ? halves
                                                                                      : 0;
    if (!(types >> type & 1))
        return mr_ptx_verify_error(verifier, "type '.%s' is not allowed for this operation of '%s' on vectors",
                                   mr_ptx_type_name(type), op_name(inst));
    if (mr_ptx_type_bits(type) * inst->vector > 128)
        return mr_ptx_verify_error(verifier, "a vector of %u elements is too large", inst->vector);
    if (inst->space != MR_PTX_SPACE_GENERIC && inst->space != MR_PTX_SPACE_GLOBAL)
        return wrong_space(verifier);
    return true;
}

static bool check_atom(struct verifier *verifier)
{
    const struct mr_ptx_inst *inst = verifier->inst;
    enum mr_ptx_type type = type_of(inst, 0);
    bool red = inst->op == MR_PTX_OP_RED;
    if (inst->atom == MR_PTX_ATOM_NONE)
        return mr_ptx_verify_error(verifier, "'%s' needs an operation", op_name(inst));
    if (red && (inst->atom == MR_PTX_ATOM_EXCH || inst->atom == MR_PTX_ATOM_CAS))
        return mr_ptx_verify_error(verifier, "this operation is not allowed for 'red'");
    if (inst->vector > 1 && !check_atom_vector(verifier))
        return false;
    if (inst->vector == 1 && !(atom_types(inst) >> type & 1))
        return mr_ptx_verify_error(verifier, "type '.%s' is not allowed for this operation of '%s'",
                                   mr_ptx_type_name(type), op_name(inst));
    bool half = mr_ptx_type_class(type) == 'F' && type != MR_PTX_TYPE_F32 && type != MR_PTX_TYPE_F64;
    if (half != ((inst->flags & MR_PTX_FLAG_NOFTZ) != 0))
        return mr_ptx_verify_error(
            verifier, half ? "'%s' of type '.%s' needs '.noftz'" : "'.noftz' is not allowed for '%s' of type '.%s'",
            op_name(inst), mr_ptx_type_name(type));
    if (inst->space != MR_PTX_SPACE_GENERIC && inst->space != MR_PTX_SPACE_GLOBAL && !is_shared(inst->space))
        return wrong_space(verifier);
    uint8_t sem = inst->semantics;
    if (sem == MR_PTX_SEM_WEAK || sem == MR_PTX_SEM_VOLATILE || sem == MR_PTX_SEM_SC ||
        (red && (sem == MR_PTX_SEM_ACQUIRE || sem == MR_PTX_SEM_ACQ_REL)))
        return mr_ptx_verify_error(verifier, "this ordering is not allowed for '%s'", op_name(inst));
    bool hinted = inst->flags & MR_PTX_FLAG_CACHE_HINT;
    if (hinted && (is_shared(inst->space) || inst->atom == MR_PTX_ATOM_CAS))
        return mr_ptx_verify_error(verifier, "'.L2::cache_hint' is not allowed in '.shared' and for 'cas'");
    const struct mr_ptx_operand *address = &inst->operands[red ? 0 : 1];
    if (inst->operand_count > 1 && address->kind == MR_PTX_OPERAND_SYMBOL_ADDRESS &&
        (address->var->space == MR_PTX_SPACE_CONST || (!red && address->var->space == MR_PTX_SPACE_LOCAL)))
        return wrong_space(verifier);
    unsigned wanted = (red ? 2u : 3u) + (inst->atom == MR_PTX_ATOM_CAS) + hinted;
    if (inst->operand_count != wanted)
        return mr_ptx_verify_error(verifier, "this operation of '%s' has %u operands", op_name(inst), wanted);
    return true;
}

/* --- mov and cvta -------------------------------------------------------------- */

/* Elements of a packing mov: equally wide, together as wide as the type. */
static bool check_packing(struct verifier *verifier, const struct mr_ptx_operand *vector, bool is_dest)
{
    enum mr_ptx_type type = type_of(verifier->inst, 0);
    unsigned bits = mr_ptx_type_bits(type) / vector->count;
    enum mr_ptx_type element = bits == 8    ? MR_PTX_TYPE_B8
                               : bits == 16 ? MR_PTX_TYPE_B16
                               : bits == 32 ? MR_PTX_TYPE_B32
                               : bits == 64 ? MR_PTX_TYPE_B64
                                            : MR_PTX_TYPE_NONE;
    if (mr_ptx_type_class(type) != 'B')
        return mr_ptx_verify_error(verifier, "a mov that packs or unpacks needs an untyped type, as in .b64");
    if (element == MR_PTX_TYPE_NONE || bits * vector->count != mr_ptx_type_bits(type))
        return mr_ptx_verify_operand_error(verifier, vector, "%u elements do not fill type '.%s'", vector->count,
                                           mr_ptx_type_name(type));
    for (uint8_t i = 0; i < vector->count; i++) {
        const struct mr_ptx_operand *item = &vector->elements[i];
        if (is_dest && item->kind == MR_PTX_OPERAND_SINK)
            continue;
        if (!(is_dest ? mr_ptx_verify_dest(verifier, item, element, false)
                      : mr_ptx_verify_source(verifier, item, element, false)))
            return false;
    }
    return true;
}

/* An address as a value: in 64 bits, or 32 where the space is small. */
static bool check_address_value(struct verifier *verifier, const struct mr_ptx_operand *operand)
{
    enum mr_ptx_type type = type_of(verifier->inst, 0);
    unsigned bits = mr_ptx_type_bits(type);
    char cls = mr_ptx_type_class(type);
    bool small = operand->kind == MR_PTX_OPERAND_SYMBOL && operand->var->space != MR_PTX_SPACE_GLOBAL;
    if (cls == 'F' || cls == 'P' || (bits != 64 && !(bits == 32 && small)))
        return mr_ptx_verify_operand_error(verifier, operand, "an address does not fit in type '.%s'",
                                           mr_ptx_type_name(type));
    bool call_param = operand->kind == MR_PTX_OPERAND_SYMBOL && operand->var->space == MR_PTX_SPACE_PARAM &&
                      !operand->var->is_input && !operand->is_element;
    if (call_param)
        return mr_ptx_verify_operand_error(verifier, operand, "'%s' is passed by value and has no address",
                                           operand->var->name);
    if (operand->kind == MR_PTX_OPERAND_SYMBOL && operand->var->reg != MR_PTX_NONE)
        return mr_ptx_verify_operand_error(verifier, operand, "'%s' has no address", operand->var->name);
    return true;
}

static bool check_mov(struct verifier *verifier)
{
    const struct mr_ptx_inst *inst = verifier->inst;
    const struct mr_ptx_operand *dest = &inst->operands[0], *source = &inst->operands[1];
    enum mr_ptx_type type = type_of(inst, 0);
    if (dest->kind == MR_PTX_OPERAND_VECTOR)
        return check_packing(verifier, dest, true) && mr_ptx_verify_source(verifier, source, type, false);
    if (!mr_ptx_verify_dest(verifier, dest, type, false))
        return false;
    switch (source->kind) {
    case MR_PTX_OPERAND_VECTOR:
        return check_packing(verifier, source, false);
    case MR_PTX_OPERAND_SYMBOL:
    case MR_PTX_OPERAND_FUNCTION:
        return check_address_value(verifier, source);
    default:
        return mr_ptx_verify_source(verifier, source, type, false);
    }
}

static bool check_cvta(struct verifier *verifier)
{
    const struct mr_ptx_inst *inst = verifier->inst;
    const struct mr_ptx_operand *source = &inst->operands[1];
    enum mr_ptx_type type = type_of(inst, 0);
    if (type != MR_PTX_TYPE_U64)
        return mr_ptx_verify_unsupported(verifier, "32-bit generic addresses");
    switch (inst->space) {
    case MR_PTX_SPACE_GENERIC:
        return mr_ptx_verify_error(verifier, "'cvta' needs a space");
    case MR_PTX_SPACE_CONST:
    case MR_PTX_SPACE_GLOBAL:
    case MR_PTX_SPACE_LOCAL:
    case MR_PTX_SPACE_SHARED:
    case MR_PTX_SPACE_SHARED_CLUSTER:
    case MR_PTX_SPACE_PARAM:
    case MR_PTX_SPACE_PARAM_ENTRY:
        break;
    default:
        return wrong_space(verifier);
    }
    if (!mr_ptx_verify_dest(verifier, &inst->operands[0], type, false))
        return false;
    enum mr_ptx_space space = (enum mr_ptx_space)inst->space;
    if (space == MR_PTX_SPACE_PARAM_ENTRY)
        space = MR_PTX_SPACE_PARAM;
    if (space == MR_PTX_SPACE_SHARED_CLUSTER)
        space = MR_PTX_SPACE_SHARED;
    if (source->kind != MR_PTX_OPERAND_SYMBOL)
        return mr_ptx_verify_source(verifier, source, type, false);
    /* Generic addresses of variables have no name; NVIDIA's assembler takes one with an offset for a number, the
     * address in its space. In .global and .shared that is what comes out; in other spaces an H200 then reads somewhere
     * else. */
    bool to = inst->flags & MR_PTX_FLAG_TO, wrong = to ? source->value == 0 : source->var->space != space;
    if (to && !wrong && (source->var->space != space || (space != MR_PTX_SPACE_GLOBAL && space != MR_PTX_SPACE_SHARED)))
        return mr_ptx_verify_unsupported(verifier, "the address of a variable for a generic one");
    if (wrong)
        return mr_ptx_verify_operand_error(verifier, source, "'%s' is in space '.%s'", source->var->name,
                                           mr_ptx_space_name(source->var->space));
    return true;
}

/* --- cvt ----------------------------------------------------------------------- */

static bool is_f16_pair(enum mr_ptx_type type)
{
    return type == MR_PTX_TYPE_F16X2 || type == MR_PTX_TYPE_BF16X2;
}

/* How a conversion rounds. */
enum need { NEED_NOTHING, NEED_FLOAT, MAY_FLOAT, NEED_INTEGER, MAY_INTEGER };

static enum need rounding_need(enum mr_ptx_type to, enum mr_ptx_type from)
{
    bool to_float = mr_ptx_type_class(to) == 'F', from_float = mr_ptx_type_class(from) == 'F';
    unsigned to_bits = mr_ptx_type_bits(to), from_bits = mr_ptx_type_bits(from);
    if (!from_float)
        return to_float ? NEED_FLOAT : NEED_NOTHING;
    if (!to_float)
        return NEED_INTEGER;
    if (is_f16_pair(to))
        return NEED_FLOAT;
    if (to == from)
        return MAY_INTEGER;
    if (from == MR_PTX_TYPE_BF16 || (from == MR_PTX_TYPE_F16 && to == MR_PTX_TYPE_BF16))
        return MAY_FLOAT; /* to nearest without one */
    return to_bits < from_bits ? NEED_FLOAT : NEED_NOTHING;
}

static bool check_cvt_rounding(struct verifier *verifier, enum mr_ptx_type to, enum mr_ptx_type from)
{
    uint8_t rounding = verifier->inst->rounding;
    bool none = rounding == MR_PTX_ROUND_NONE, integer = rounding >= MR_PTX_ROUND_RNI;
    bool good = false;
    if (rounding == MR_PTX_ROUND_RS)
        return mr_ptx_verify_unsupported(verifier, "'.rs'");
    switch (rounding_need(to, from)) {
    case NEED_NOTHING:
        good = none;
        break;
    case NEED_FLOAT:
        good = !none && !integer && rounding != MR_PTX_ROUND_RNA;
        break;
    case MAY_FLOAT:
        good = !integer && rounding != MR_PTX_ROUND_RNA;
        break;
    case NEED_INTEGER:
        good = integer;
        break;
    case MAY_INTEGER:
        good = none || integer;
        break;
    }
    if (!good)
        return mr_ptx_verify_error(verifier,
                                   none ? "conversion from '.%s' to '.%s' needs a rounding"
                                        : "this rounding is not allowed from '.%s' to '.%s'",
                                   mr_ptx_type_name(from), mr_ptx_type_name(to));
    if (is_f16_pair(to) && (rounding == MR_PTX_ROUND_RM || rounding == MR_PTX_ROUND_RP))
        return mr_ptx_verify_error(verifier, "a pair is rounded with '.rn' or '.rz'");
    return true;
}

/* Whether every value of integer type `from` is one of integer type `to`. */
static bool holds_all(enum mr_ptx_type to, enum mr_ptx_type from)
{
    bool to_signed = mr_ptx_type_class(to) == 'S', from_signed = mr_ptx_type_class(from) == 'S';
    unsigned to_bits = mr_ptx_type_bits(to), from_bits = mr_ptx_type_bits(from);
    if (to_signed == from_signed)
        return to_bits >= from_bits;
    return to_signed && to_bits > from_bits;
}

static bool is_bf16(enum mr_ptx_type type)
{
    return type == MR_PTX_TYPE_BF16 || type == MR_PTX_TYPE_BF16X2;
}

/* Types and modifiers that do not go together although each is fine. */
static bool check_cvt_combination(struct verifier *verifier, enum mr_ptx_type to, enum mr_ptx_type from)
{
    const struct mr_ptx_inst *inst = verifier->inst;
    bool integers = mr_ptx_type_class(to) != 'F' && mr_ptx_type_class(from) != 'F';
    bool ftz = inst->flags & MR_PTX_FLAG_FTZ, relu = inst->flags & MR_PTX_FLAG_RELU;
    if ((is_bf16(to) && mr_ptx_type_bits(from) == 8) || (is_bf16(from) && mr_ptx_type_bits(to) == 8))
        return mr_ptx_verify_error(verifier, "there is no conversion from '.%s' to '.%s'", mr_ptx_type_name(from),
                                   mr_ptx_type_name(to));
    bool sat_fits = integers ? !holds_all(to, from) : !is_bf16(to) && !is_bf16(from) && !is_f16_pair(to);
    if ((inst->flags & MR_PTX_FLAG_SAT) && !sat_fits)
        return mr_ptx_verify_error(verifier, "'.sat' is not allowed from '.%s' to '.%s'", mr_ptx_type_name(from),
                                   mr_ptx_type_name(to));
    if (ftz && (relu || is_f16_pair(to)))
        return mr_ptx_verify_error(verifier, "'.ftz' is not allowed here");
    if (inst->flags & MR_PTX_FLAG_SATFINITE && (inst->flags & MR_PTX_FLAG_SAT || ftz))
        return mr_ptx_verify_error(verifier, "'.satfinite' excludes '.sat' and '.ftz'");
    if ((relu || inst->flags & MR_PTX_FLAG_SATFINITE) && inst->rounding != MR_PTX_ROUND_RN &&
        inst->rounding != MR_PTX_ROUND_RZ)
        return mr_ptx_verify_error(verifier, "'.relu' and '.satfinite' round with '.rn' or '.rz'");
    return true;
}

/* cvt.pack.sat: two numbers of 32 bits, cut; small ones below the bits of a third operand. */
static bool check_cvt_pack(struct verifier *verifier)
{
    const struct mr_ptx_inst *inst = verifier->inst;
    unsigned bits = mr_ptx_type_bits(type_of(inst, 0));
    char cls = mr_ptx_type_class(type_of(inst, 0));
    bool small = bits < 16, integer = cls == 'U' || cls == 'S' || bits < 8;
    if (inst->flags != (MR_PTX_FLAG_PACK | MR_PTX_FLAG_SAT) || inst->rounding != MR_PTX_ROUND_NONE)
        return mr_ptx_verify_error(verifier, "'cvt.pack' has '.sat' and no other modifier");
    if (!integer || bits > 16 || type_of(inst, 1) != MR_PTX_TYPE_S32 || inst->type_count != (small ? 3 : 2) ||
        (small && type_of(inst, 2) != MR_PTX_TYPE_B32))
        return mr_ptx_verify_error(verifier, "there is no 'cvt.pack' with these types");
    if (inst->operand_count != (small ? 4 : 3))
        return mr_ptx_verify_error(verifier, "wrong number of operands for 'cvt.pack'");
    for (uint8_t i = 1; i < inst->operand_count; i++)
        if (inst->operands[i].kind == MR_PTX_OPERAND_SPECIAL)
            return mr_ptx_verify_operand_error(verifier, &inst->operands[i], "a special register is not allowed here");
    return true;
}

static bool check_cvt_tf32(struct verifier *verifier, enum mr_ptx_type from)
{
    const struct mr_ptx_inst *inst = verifier->inst;
    bool away = inst->rounding == MR_PTX_ROUND_RNA, relu = inst->flags & MR_PTX_FLAG_RELU;
    if (from != MR_PTX_TYPE_F32 || inst->operand_count != 2)
        return mr_ptx_verify_error(verifier, "'.tf32' is made of one '.f32'");
    if (!away && inst->rounding != MR_PTX_ROUND_RN && inst->rounding != MR_PTX_ROUND_RZ)
        return mr_ptx_verify_error(verifier, "a conversion to '.tf32' rounds with '.rna', '.rn' or '.rz'");
    if ((inst->flags & ~(uint32_t)(MR_PTX_FLAG_RELU | MR_PTX_FLAG_SATFINITE)) || (away && relu))
        return mr_ptx_verify_error(verifier, "this modifier is not allowed in a conversion to '.tf32'");
    if (!away && !(mr_ptx_verify_is_sm(verifier, 90) && mr_ptx_verify_is_version(verifier, 7, 8)))
        return mr_ptx_verify_error(verifier, "this rounding to '.tf32' needs PTX 7.8 and target sm_90");
    if (!away && (inst->flags & MR_PTX_FLAG_SATFINITE) &&
        !(mr_ptx_verify_is_sm(verifier, 100) && mr_ptx_verify_is_version(verifier, 8, 6)))
        return mr_ptx_verify_error(verifier, "'.satfinite' with this rounding needs PTX 8.6 and target sm_100");
    return true;
}

/* Formats without registers of their own: .tf32, and two numbers of eight bits. */
static bool check_cvt_format(struct verifier *verifier, enum mr_ptx_type to, enum mr_ptx_type from)
{
    const struct mr_ptx_inst *inst = verifier->inst;
    if (to == MR_PTX_TYPE_TF32)
        return check_cvt_tf32(verifier, from);
    bool down = mr_ptx_type_is_fp8_pair(to) && (from == MR_PTX_TYPE_F32 || from == MR_PTX_TYPE_F16X2);
    bool up = mr_ptx_type_is_fp8_pair(from) && to == MR_PTX_TYPE_F16X2;
    if (!down && !up)
        return mr_ptx_verify_unsupported(verifier, "a conversion with this format");
    if (inst->operand_count != (from == MR_PTX_TYPE_F32 ? 3 : 2))
        return mr_ptx_verify_error(verifier, "wrong number of operands for 'cvt'");
    if (inst->rounding != MR_PTX_ROUND_RN)
        return mr_ptx_verify_error(verifier, "this conversion rounds with '.rn'");
    if ((inst->flags & ~(uint32_t)MR_PTX_FLAG_RELU) != (down ? MR_PTX_FLAG_SATFINITE : 0))
        return mr_ptx_verify_error(verifier, down ? "this conversion needs '.satfinite', and takes '.relu' beside it"
                                                  : "this conversion takes no modifier but '.relu'");
    if (from != MR_PTX_TYPE_F32 && inst->operands[1].kind != MR_PTX_OPERAND_REG)
        return mr_ptx_verify_operand_error(verifier, &inst->operands[1], "expected a register");
    return true;
}

static bool check_cvt(struct verifier *verifier)
{
    const struct mr_ptx_inst *inst = verifier->inst;
    enum mr_ptx_type to = type_of(inst, 0), from = type_of(inst, 1);
    if (inst->flags & MR_PTX_FLAG_SCALED)
        return mr_ptx_verify_unsupported(verifier, "'.scaled'");
    if (inst->flags & MR_PTX_FLAG_PACK)
        return check_cvt_pack(verifier);
    if (inst->type_count != 2)
        return mr_ptx_verify_error(verifier, "'cvt' has two types");
    if (mr_ptx_type_class(to) == 'X' || mr_ptx_type_class(from) == 'X' || to == MR_PTX_TYPE_F32X2)
        return check_cvt_format(verifier, to, from);
    if (mr_ptx_type_class(to) == 'B' || mr_ptx_type_class(from) == 'B' || is_f16_pair(from) ||
        from == MR_PTX_TYPE_F32X2 || (is_f16_pair(to) && from != MR_PTX_TYPE_F32))
        return mr_ptx_verify_error(verifier, "there is no conversion from '.%s' to '.%s'", mr_ptx_type_name(from),
                                   mr_ptx_type_name(to));
    if (inst->operand_count != (is_f16_pair(to) ? 3 : 2))
        return mr_ptx_verify_error(verifier, "wrong number of operands for 'cvt'");
    if (!check_cvt_rounding(verifier, to, from))
        return false;
    bool has_f32 = to == MR_PTX_TYPE_F32 || from == MR_PTX_TYPE_F32;
    if ((inst->flags & MR_PTX_FLAG_FTZ) && !has_f32)
        return mr_ptx_verify_error(verifier, "'.ftz' needs a conversion from or to '.f32'");
    bool to_half = to == MR_PTX_TYPE_F16 || to == MR_PTX_TYPE_BF16 || is_f16_pair(to);
    if ((inst->flags & (MR_PTX_FLAG_RELU | MR_PTX_FLAG_SATFINITE)) && !(to_half && from == MR_PTX_TYPE_F32))
        return mr_ptx_verify_error(verifier, "'.relu' and '.satfinite' need a conversion from '.f32' to a half");
    return check_cvt_combination(verifier, to, from);
}

/* --- The rest ------------------------------------------------------------------ */

static bool check_isspacep(struct verifier *verifier)
{
    switch (verifier->inst->space) {
    case MR_PTX_SPACE_CONST:
    case MR_PTX_SPACE_GLOBAL:
    case MR_PTX_SPACE_LOCAL:
    case MR_PTX_SPACE_SHARED:
    case MR_PTX_SPACE_SHARED_CLUSTER:
    case MR_PTX_SPACE_PARAM:
    case MR_PTX_SPACE_PARAM_ENTRY:
        return true;
    case MR_PTX_SPACE_GENERIC:
        return mr_ptx_verify_error(verifier, "'isspacep' needs a space");
    default:
        return wrong_space(verifier);
    }
}

static bool check_alloca(struct verifier *verifier)
{
    const struct mr_ptx_inst *inst = verifier->inst;
    if (inst->operand_count < 3)
        return true;
    const struct mr_ptx_operand *align = &inst->operands[2];
    bool good = align->kind == MR_PTX_OPERAND_IMM_INT && align->value > 0 && align->value <= 1 << 23 &&
                !(align->value & (align->value - 1));
    return good || mr_ptx_verify_operand_error(verifier, align, "an alignment is a power of 2 up to 8388608");
}

bool mr_ptx_verify_memory_inst(struct verifier *verifier)
{
    switch (verifier->inst->op) {
    case MR_PTX_OP_LD:
    case MR_PTX_OP_LDU:
    case MR_PTX_OP_ST:
        return check_access(verifier);
    case MR_PTX_OP_ATOM:
    case MR_PTX_OP_RED:
        return check_atom(verifier);
    case MR_PTX_OP_MOV:
        return check_mov(verifier);
    case MR_PTX_OP_CVTA:
        return check_cvta(verifier);
    case MR_PTX_OP_CVT:
        return check_cvt(verifier);
    case MR_PTX_OP_ISSPACEP:
        return check_isspacep(verifier);
    case MR_PTX_OP_ALLOCA:
    case MR_PTX_OP_STACKSAVE:
    case MR_PTX_OP_STACKRESTORE:
        return check_alloca(verifier);
    default:
        return true;
    }
}
