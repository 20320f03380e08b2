/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Instructions that are written as sentences (ptx_forms.def): what their rows
 * leave open. Matrices have to be vectors of the right size, constants have to
 * be in range, a cache policy is there if and only if it is announced.
 */
#include <string.h>

#include "ptx/matrix.h"
#include "ptx/verify.h"

static const char *op_name(const struct mr_ptx_inst *inst)
{
    return mr_ptx_op_name((enum mr_ptx_op)inst->op);
}

static double immediate_float(const struct mr_ptx_operand *operand)
{
    double wide;
    float single;
    uint32_t bits = (uint32_t)operand->value;
    memcpy(&wide, &operand->value, sizeof wide);
    memcpy(&single, &bits, sizeof single);
    return operand->is_single ? (double)single : wide;
}

/* A vector of exactly `count` registers (sources: or constants; destinations: or _). */
static bool check_vector(struct verifier *verifier, const struct mr_ptx_operand *operand, unsigned count,
                         enum mr_ptx_type type, bool is_dest)
{
    if (operand->kind != MR_PTX_OPERAND_VECTOR || operand->count != count)
        return mr_ptx_verify_operand_error(verifier, operand, "expected a vector of %u elements", count);
    for (unsigned i = 0; i < count; i++) {
        const struct mr_ptx_operand *element = &operand->elements[i];
        if (is_dest && element->kind == MR_PTX_OPERAND_SINK)
            continue;
        bool bits = element->kind == MR_PTX_OPERAND_IMM_INT && type != MR_PTX_TYPE_F64;
        if (!(is_dest ? mr_ptx_verify_dest(verifier, element, type, false)
                      : mr_ptx_verify_source(verifier, element, bits ? MR_PTX_TYPE_B32 : type, false)))
            return false;
    }
    return true;
}

bool mr_ptx_verify_matrix(struct verifier *verifier, char letter, const struct mr_ptx_operand *operand)
{
    const struct mr_ptx_inst *inst = verifier->inst;
    bool is_dest = letter == 'F';
    if (inst->op == MR_PTX_OP_LDMATRIX || inst->op == MR_PTX_OP_STMATRIX) {
        /* As many bits as a register needs, in any register of 32. */
        return check_vector(verifier, operand, inst->vector, MR_PTX_TYPE_B32, is_dest);
    }
    struct mr_ptx_matrix_op op = mr_ptx_matrix_of(inst);
    enum mr_ptx_matrix_name name = letter == '1'   ? MR_PTX_MATRIX_A
                                   : letter == '2' ? MR_PTX_MATRIX_B
                                   : letter == '3' ? MR_PTX_MATRIX_C
                                                   : MR_PTX_MATRIX_D;
    if (inst->mode == MR_PTX_MODE_MATRIX_LOAD)
        name = (enum mr_ptx_matrix_name)(inst->mode2 - MR_PTX_MODE_MATRIX_A);
    if (inst->mode == MR_PTX_MODE_MATRIX_STORE)
        name = MR_PTX_MATRIX_D;
    return check_vector(verifier, operand, op.regs[name], mr_ptx_matrix_register(&op, name), is_dest);
}

static bool check_copy(struct verifier *verifier)
{
    const struct mr_ptx_inst *inst = verifier->inst;
    const struct mr_ptx_operand *size = &inst->operands[2], *real = &inst->operands[3];
    bool hinted = inst->flags & MR_PTX_FLAG_CACHE_HINT;
    if (size->kind != MR_PTX_OPERAND_IMM_INT)
        return true; /* reported with the operands */
    if (size->value != 16 && (inst->cache == MR_PTX_CACHE_CG || (size->value != 4 && size->value != 8)))
        return mr_ptx_verify_operand_error(verifier, size,
                                           inst->cache == MR_PTX_CACHE_CG ? "'cp.async.cg' copies 16 bytes"
                                                                          : "'cp.async.ca' copies 4, 8 or 16 bytes");
    if (inst->operand_count - hinted == 4 && real->kind == MR_PTX_OPERAND_IMM_INT &&
        (real->value < 0 || real->value > size->value))
        return mr_ptx_verify_operand_error(verifier, real, "the size of the source is from 0 to %d", (int)size->value);
    return true;
}

/* cp.async.bulk and cp.reduce.async.bulk move whole units of 16 bytes. */
static bool check_bulk(struct verifier *verifier)
{
    const struct mr_ptx_inst *inst = verifier->inst;
    const struct mr_ptx_operand *size = &inst->operands[inst->mode == MR_PTX_MODE_BULK_PREFETCH ? 1 : 2];
    if (size->kind == MR_PTX_OPERAND_IMM_INT && (size->value < 0 || size->value % 16 != 0))
        return mr_ptx_verify_operand_error(verifier, size, "the size has to be a multiple of 16");
    return true;
}

/* st.bulk writes zeros, so many that units of 8 bytes are whole. */
static bool check_zeros(struct verifier *verifier)
{
    const struct mr_ptx_operand *size = &verifier->inst->operands[1], *value = &verifier->inst->operands[2];
    if (size->kind == MR_PTX_OPERAND_IMM_INT && (size->value < 0 || size->value > 16777216 || size->value % 8 != 0))
        return mr_ptx_verify_operand_error(verifier, size, "the size has to be a multiple of 8, at most 16777216");
    return value->kind != MR_PTX_OPERAND_IMM_INT || value->value == 0 ||
           mr_ptx_verify_operand_error(verifier, value, "the value is 0");
}

static bool check_mbarrier(struct verifier *verifier)
{
    const struct mr_ptx_inst *inst = verifier->inst;
    if ((inst->semantics != MR_PTX_SEM_NONE) != (inst->scope != MR_PTX_SCOPE_NONE))
        return mr_ptx_verify_error(verifier, "an ordering and a scope of 'mbarrier' go together");
    if (inst->space == MR_PTX_SPACE_SHARED_CLUSTER && inst->dst_count && inst->operands[0].kind != MR_PTX_OPERAND_SINK)
        return mr_ptx_verify_operand_error(verifier, &inst->operands[0],
                                           "an arrival in '.shared::cluster' has no result: write _");
    const struct mr_ptx_operand *parity = &inst->operands[2];
    if ((inst->flags & MR_PTX_FLAG_PARITY) && parity->kind == MR_PTX_OPERAND_IMM_INT && (uint64_t)parity->value > 1)
        return mr_ptx_verify_operand_error(verifier, parity, "a parity is 0 or 1");
    return true;
}

/* mma.sp: which of the lanes that share rows have the metadata. */
static bool check_selector(struct verifier *verifier)
{
    struct mr_ptx_matrix_op op = mr_ptx_matrix_of(verifier->inst);
    const struct mr_ptx_operand *metadata = &verifier->inst->operands[4], *selector = &verifier->inst->operands[5];
    if (metadata->kind != MR_PTX_OPERAND_REG)
        return mr_ptx_verify_operand_error(verifier, metadata, "metadata is a register");
    if (selector->kind == MR_PTX_OPERAND_IMM_INT && (uint64_t)selector->value >= mr_ptx_matrix_selectors(&op))
        return mr_ptx_verify_operand_error(verifier, selector, "the sparsity selector is from 0 to %u",
                                           mr_ptx_matrix_selectors(&op) - 1);
    return true;
}

/* What changed after wmma came to be. */
static bool check_wmma(struct verifier *verifier)
{
    const struct mr_ptx_inst *inst = verifier->inst;
    bool aligned = inst->flags & MR_PTX_FLAG_ALIGNED;
    if (aligned != mr_ptx_verify_is_version(verifier, 6, 3))
        return mr_ptx_verify_error(
            verifier, aligned ? "'.aligned' of '%s' needs PTX 6.3" : "'%s' needs '.aligned' from PTX 6.3 on",
            op_name(inst));
    bool floats = inst->mode == MR_PTX_MODE_MATRIX_MULTIPLY && inst->type_count == 2;
    if (floats && (inst->flags & MR_PTX_FLAG_SATFINITE) && mr_ptx_verify_is_version(verifier, 6, 5))
        return mr_ptx_verify_error(verifier, "'%s' of floats has no '.satfinite' from PTX 6.5 on", op_name(inst));
    return true;
}

/* What a hint says of how much memory it is about. */
static bool check_hint(struct verifier *verifier)
{
    const struct mr_ptx_inst *inst = verifier->inst;
    const struct mr_ptx_operand *operands = inst->operands;
    switch (inst->op) {
    case MR_PTX_OP_PREFETCHU:
        return operands[0].kind != MR_PTX_OPERAND_SYMBOL_ADDRESS || operands[0].var->space != MR_PTX_SPACE_LOCAL ||
               mr_ptx_verify_operand_error(verifier, &operands[0], "'prefetchu' is not for '.local' memory");
    case MR_PTX_OP_FENCE:
    case MR_PTX_OP_DISCARD:
    case MR_PTX_OP_APPLYPRIORITY:
        return inst->operand_count < 2 || (operands[1].kind == MR_PTX_OPERAND_IMM_INT && operands[1].value == 128) ||
               mr_ptx_verify_operand_error(verifier, &operands[1], "the size of '%s' must be 128", op_name(inst));
    default:
        break;
    }
    if (inst->mode == MR_PTX_MODE_POLICY_RANGE && operands[2].kind == MR_PTX_OPERAND_IMM_INT &&
        operands[3].kind == MR_PTX_OPERAND_IMM_INT && (uint32_t)operands[2].value > (uint32_t)operands[3].value)
        return mr_ptx_verify_operand_error(verifier, &operands[2],
                                           "the primary part of a range is not larger than the whole");
    if (inst->mode == MR_PTX_MODE_POLICY_FRACTIONAL && inst->operand_count > 1 &&
        operands[1].kind == MR_PTX_OPERAND_IMM_FLOAT) {
        double fraction = immediate_float(&operands[1]);
        if (!(fraction > 0 && fraction <= 1))
            return mr_ptx_verify_operand_error(verifier, &operands[1], "a fraction is above 0 and at most 1");
    }
    return true;
}

/* tensormap.replace is for targets with a suffix, as setmaxnreg. */
static bool check_map(struct verifier *verifier)
{
    const struct mr_ptx_inst *inst = verifier->inst;
    const struct mr_ptx_operand *last = &inst->operands[inst->operand_count - 1], *place = &inst->operands[1];
    static const uint8_t codes[] = {13, 3, 4, 2};
    if (inst->mode == MR_PTX_MODE_MAP_COPY)
        return last->kind != MR_PTX_OPERAND_IMM_INT || last->value == 128 ||
               mr_ptx_verify_operand_error(verifier, last, "the size of a tensor map is 128");
    if (mr_ptx_verify_is_version(verifier, 8, 3) && mr_ptx_verify_is_sm(verifier, 90) &&
        !verifier->module->target_suffix)
        return mr_ptx_verify_error(verifier, "'tensormap.replace' needs a target like sm_90a");
    if (inst->operand_count == 3 && place->kind == MR_PTX_OPERAND_IMM_INT &&
        (uint64_t)place->value > (inst->mode == MR_PTX_MODE_MAP_STRIDE ? 3 : 4))
        return mr_ptx_verify_operand_error(verifier, place, "no such dimension");
    size_t code = (size_t)inst->mode - MR_PTX_MODE_MAP_TYPE; /* large for modes before that one */
    if (code < sizeof codes && last->kind == MR_PTX_OPERAND_IMM_INT && (uint64_t)last->value >= codes[code])
        return mr_ptx_verify_operand_error(verifier, last, "no such value");
    return true;
}

/* setmaxnreg is for targets with a suffix: for one target's own features (sm_90a), or those of a family (sm_100f). */
static bool check_register_count(struct verifier *verifier)
{
    const struct mr_ptx_operand *count = &verifier->inst->operands[0];
    if (!verifier->module->target_suffix)
        return mr_ptx_verify_error(verifier, "'setmaxnreg' needs a target like sm_90a");
    if (count->kind != MR_PTX_OPERAND_IMM_INT)
        return true; /* the operand's letter is for constants */
    if (count->value < 24 || count->value > 256)
        return mr_ptx_verify_operand_error(verifier, count, "'setmaxnreg' takes 24 to 256 registers");
    return count->value % 8 == 0 || mr_ptx_verify_operand_error(verifier, count, "'setmaxnreg' takes a multiple of 8");
}

/* Operands without the optional policy at the end. */
static unsigned most_operands(const struct mr_ptx_inst *inst)
{
    const char *letters = mr_ptx_inst_operands(inst);
    unsigned count = 0;
    bool policy = false;
    for (; *letters; letters++) {
        count += *letters != '?';
        policy = letters[0] == 'l' && letters[1] == '?';
        if (policy)
            break;
    }
    return count - policy;
}

bool mr_ptx_verify_form(struct verifier *verifier)
{
    const struct mr_ptx_inst *inst = verifier->inst;
    bool hinted = inst->flags & MR_PTX_FLAG_CACHE_HINT;
    unsigned most = most_operands(inst), least = inst->mode == MR_PTX_MODE_COPY ? most - 1 : most;
    unsigned own = inst->operand_count - (hinted ? 1u : 0u);
    if (inst->op == MR_PTX_OP_CP && inst->mode != MR_PTX_MODE_BULK_MASK && (own > most || own < least))
        return mr_ptx_verify_error(verifier, "'.L2::cache_hint' and a policy go together");
    switch (inst->op) {
    case MR_PTX_OP_CP:
        if (inst->mode == MR_PTX_MODE_COPY)
            return check_copy(verifier);
        return inst->mode < MR_PTX_MODE_BULK || inst->mode > MR_PTX_MODE_BULK_PREFETCH || check_bulk(verifier);
    case MR_PTX_OP_ST_BULK:
        return check_zeros(verifier);
    case MR_PTX_OP_MULTIMEM:
        if (inst->mode == MR_PTX_MODE_REDUCE && inst->semantics == MR_PTX_SEM_WEAK)
            return mr_ptx_verify_error(verifier, "'multimem.red' has no '.weak'");
        return (inst->mode == MR_PTX_MODE_LOAD_REDUCE ? MR_PTX_SEM_RELEASE : MR_PTX_SEM_ACQUIRE) != inst->semantics ||
               mr_ptx_verify_error(verifier, "loads acquire, stores and reductions release");
    case MR_PTX_OP_TENSORMAP:
        return check_map(verifier);
    case MR_PTX_OP_MBARRIER:
        return check_mbarrier(verifier);
    case MR_PTX_OP_MMA:
        return inst->mode != MR_PTX_MODE_MATRIX_SPARSE || check_selector(verifier);
    case MR_PTX_OP_WMMA:
        return check_wmma(verifier);
    case MR_PTX_OP_PREFETCHU:
    case MR_PTX_OP_FENCE:
    case MR_PTX_OP_DISCARD:
    case MR_PTX_OP_APPLYPRIORITY:
    case MR_PTX_OP_CREATEPOLICY:
        return check_hint(verifier);
    case MR_PTX_OP_SETMAXNREG:
        /* With an older PTX or target, what it needs is told instead. */
        return !mr_ptx_verify_is_version(verifier, 8, 0) || !mr_ptx_verify_is_sm(verifier, 90) ||
               check_register_count(verifier);
    default:
        return true;
    }
}
