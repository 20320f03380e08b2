/* SPDX-License-Identifier: Apache-2.0 */
/* The class of every register: the meet of what its definitions give, found by starting from "nothing known yet" and
 * going down until nothing changes.
 *
 * mr_flow_result_class is also what the emitter asks, so that the two can't disagree. A load from a uniform address is
 * uniform: the lanes that run an instruction together see one value. */
#include "base/alloc.h"
#include "compile/codegen/analysis/class.h"

static struct mr_class product_class(const struct mr_flow *flow, const struct mr_ptx_inst *inst)
{
    const struct mr_ptx_operand *left = &inst->operands[1], *right = &inst->operands[2];
    struct mr_class a = mr_class_of_operand(flow, left), b = mr_class_of_operand(flow, right);
    unsigned bits = mr_class_bits(inst->type[0]);
    if (a.kind == MR_CLASS_UNIFORM && b.kind == MR_CLASS_UNIFORM)
        return mr_class_uniform;
    if (right->kind != MR_PTX_OPERAND_IMM_INT) {
        /* The same in each row, times something of that kind. */
        bool rows =
            bits && mr_class_is_known(a) && mr_class_is_known(b) && !a.stride && !a.wrap && !b.stride && !b.wrap;
        return rows && inst->mode != MR_PTX_MODE_HI ? mr_class_affine(flow, 0, 0) : mr_class_varying;
    }
    if (!bits)
        return mr_class_varying;
    if (inst->mode == MR_PTX_MODE_WIDE) {
        int64_t factor =
            mr_ptx_type_class(inst->type[0]) == 'S' ? (int32_t)right->value : (int64_t)(uint32_t)right->value;
        return bits == 32 ? mr_class_scaled(flow, mr_class_widened(flow, a), factor, 64) : mr_class_varying;
    }
    if (inst->mode == MR_PTX_MODE_HI)
        return mr_class_varying;
    return mr_class_scaled(flow, a, right->value, bits);
}

static struct mr_class convert_class(const struct mr_flow *flow, const struct mr_ptx_inst *inst)
{
    struct mr_class a = mr_class_of_operand(flow, &inst->operands[1]);
    unsigned to = mr_class_bits(inst->type[0]), from = mr_class_bits(inst->type[1]);
    if (!to || !from || (inst->flags & MR_PTX_FLAG_SAT) || inst->operand_count != 2)
        return mr_class_varying;
    const struct mr_ptx_operand *source = &inst->operands[1];
    if (source->kind == MR_PTX_OPERAND_REG && mr_ptx_type_bits(source->type) != from)
        return mr_class_varying;
    if (to == from)
        return a;
    if (to == 64)
        return mr_class_widened(flow, a);
    return mr_class_affine(flow, mr_class_cut_stride(a.stride, 32), 0);
}

/* Bits of a value of 32 bits that steps between bits of its own, taken out and moved by `down`: with all those of the
 * lane it goes on stepping, with none it is the same for all lanes. */
static struct mr_class part_class(struct mr_class a, uint32_t mask, unsigned down)
{
    uint32_t ones = (a.ones & mask) >> down;
    if (!a.aligned || ((mr_class_lane_bits(a) & mask) && ((mr_class_lane_bits(a) & mask) != mr_class_lane_bits(a) ||
                                                          a.stride >> down << down != a.stride)))
        return mr_class_varying;
    return mr_class_lane_bits(a) & mask ? mr_class_aligned(a.stride >> down, ones) : mr_class_uniform_of(ones);
}

/* Which bits `bfe.u32` and `shr` with known operands leave, and by how much they go down. False for other instructions.
 */
static bool field_of(const struct mr_flow *flow, const struct mr_ptx_inst *inst, uint32_t *mask, unsigned *down)
{
    const struct mr_ptx_operand *from = &inst->operands[2], *length = &inst->operands[3];
    if (from->kind != MR_PTX_OPERAND_IMM_INT || from->value < 0 || from->value > 31)
        return false;
    *down = (unsigned)from->value;
    *mask = UINT32_MAX << *down;
    if (inst->op == MR_PTX_OP_SHR)
        return mr_ptx_type_class(inst->type[0]) != 'S' ||
               mr_class_of_operand(flow, &inst->operands[1]).ones <= INT32_MAX;
    if (inst->op != MR_PTX_OP_BFE || inst->type[0] != MR_PTX_TYPE_U32 || length->kind != MR_PTX_OPERAND_IMM_INT ||
        length->value < 0 || length->value > 255)
        return false;
    if (length->value < 32 - (int)*down)
        *mask &= ~(UINT32_MAX << *down << length->value);
    return true;
}

/* The operation on bits of one that steps between bits of its own. */
static struct mr_class bits_class(const struct mr_flow *flow, const struct mr_ptx_inst *inst, unsigned bits)
{
    struct mr_class a = mr_class_of_operand(flow, &inst->operands[1]),
                    b = mr_class_of_operand(flow, &inst->operands[2]);
    uint32_t mask;
    unsigned down;
    if (bits != 32)
        return mr_class_varying;
    if (inst->op == MR_PTX_OP_SHR || inst->op == MR_PTX_OP_BFE)
        return field_of(flow, inst, &mask, &down) ? part_class(a, mask, down) : mr_class_varying;
    if (inst->op == MR_PTX_OP_AND)
        return inst->operands[2].kind == MR_PTX_OPERAND_IMM_INT ? part_class(a, (uint32_t)inst->operands[2].value, 0)
                                                                : mr_class_varying;
    struct mr_class steps = a.kind == MR_CLASS_AFFINE ? a : b, other = a.kind == MR_CLASS_AFFINE ? b : a;
    if (!steps.aligned || other.kind != MR_CLASS_UNIFORM || (other.ones & mr_class_lane_bits(steps)))
        return mr_class_varying;
    return mr_class_aligned(steps.stride, steps.ones | other.ones);
}

static uint32_t low_zeros(uint32_t ones)
{
    return ones ? (uint32_t)__builtin_ctz(ones) : 32;
}

/* Bits that may be set in a number of at most `most` whose lowest `zeros` bits are 0. There are few sizes, since a
 * number that a loop makes larger grows in each round of the search for classes, which goes on until nothing changes.
 */
static uint32_t ones_of(uint32_t zeros, uint64_t most)
{
    static const uint32_t sizes[] = {0, 0x3ff, 0xffff, 0xffffff, INT32_MAX};
    uint32_t ones = UINT32_MAX;
    for (unsigned i = sizeof sizes / sizeof *sizes; i-- > 0;)
        if (most <= sizes[i])
            ones = sizes[i];
    return zeros < 32 ? ones & UINT32_MAX << zeros : 0;
}

/* Bits that may be set in a sum of numbers of which these may be. */
static uint32_t ones_of_sum(uint32_t a, uint32_t b)
{
    return a && b ? ones_of(low_zeros(a | b), (uint64_t)a + b) : a | b;
}

/* And in a difference, which may be negative if anything is taken away. */
static uint32_t ones_of_difference(uint32_t a, uint32_t b)
{
    return b ? ones_of(low_zeros(a | b), UINT64_MAX) : a;
}

/* Sums and products of 32 bits that leave the lane's bits what they are. A signed number that is divided by a power of
 * two begins with such a sum: what is added is made of the sign, which a thread's number has not. */
static struct mr_class sum_class(const struct mr_flow *flow, const struct mr_ptx_inst *inst, unsigned bits)
{
    struct mr_class a = mr_class_of_operand(flow, &inst->operands[1]),
                    b = mr_class_of_operand(flow, &inst->operands[2]);
    struct mr_class sum = mr_class_sum(flow, a, b, inst->op == MR_PTX_OP_ADD ? 1 : -1, bits),
                    steps = a.kind == MR_CLASS_AFFINE ? a : b;
    bool keeps = bits == 32 && sum.kind == MR_CLASS_AFFINE && steps.aligned && sum.stride == steps.stride &&
                 !sum.wrap &&
                 ((a.kind == MR_CLASS_UNIFORM && !(a.ones & mr_class_bits_up_to_lanes(steps))) ||
                  (b.kind == MR_CLASS_UNIFORM && !(b.ones & mr_class_bits_up_to_lanes(steps))));
    if (!keeps)
        return sum;
    uint32_t ones = inst->op == MR_PTX_OP_ADD ? ones_of_sum(a.ones, b.ones) : ones_of_difference(a.ones, b.ones);
    return mr_class_aligned(sum.stride, ones & ~mr_class_lane_bits(sum));
}

static struct mr_class shifted_class(const struct mr_flow *flow, struct mr_class a, unsigned by, unsigned bits)
{
    if (a.aligned && bits == 32 && a.stride << by <= MR_STRIDE_WIDENED_MAX / 2)
        return mr_class_aligned(a.stride << by, a.ones << by);
    return mr_class_scaled(flow, a, (int64_t)(UINT64_C(1) << by), bits);
}

/* The class if all sources are known and at least one is affine. */
static struct mr_class affine_result(const struct mr_flow *flow, const struct mr_ptx_inst *inst)
{
    unsigned bits = inst->type_count ? mr_class_bits(inst->type[0]) : 0;
    const struct mr_ptx_operand *operands = inst->operands;
    if (inst->flags & (MR_PTX_FLAG_CC | MR_PTX_FLAG_SAT))
        return mr_class_varying;
    /* Bits of an integer may go to a register of floats, which can't step. */
    if (operands[0].kind == MR_PTX_OPERAND_REG &&
        !mr_class_is_integer((enum mr_ptx_type)flow->func->regs[operands[0].reg].type))
        return mr_class_varying;
    switch (inst->op) {
    case MR_PTX_OP_MOV:
        if (!bits || operands[0].kind != MR_PTX_OPERAND_REG || operands[1].kind == MR_PTX_OPERAND_VECTOR)
            return mr_class_varying;
        return mr_class_of_operand(flow, &operands[1]);
    case MR_PTX_OP_CVTA:
        return bits == 64 ? mr_class_of_operand(flow, &operands[1]) : mr_class_varying;
    case MR_PTX_OP_ADD:
    case MR_PTX_OP_SUB:
        return bits ? sum_class(flow, inst, bits) : mr_class_varying;
    case MR_PTX_OP_NEG:
        return bits ? mr_class_scaled(flow, mr_class_of_operand(flow, &operands[1]), -1, bits) : mr_class_varying;
    case MR_PTX_OP_SHL:
        if (!bits || operands[2].kind != MR_PTX_OPERAND_IMM_INT || (uint64_t)operands[2].value >= bits)
            return mr_class_varying;
        return shifted_class(flow, mr_class_of_operand(flow, &operands[1]), (unsigned)operands[2].value, bits);
    case MR_PTX_OP_MUL:
        return product_class(flow, inst);
    case MR_PTX_OP_MAD: {
        struct mr_class product = product_class(flow, inst);
        return mr_class_sum(flow, product, mr_class_of_operand(flow, &operands[3]), 1,
                            inst->mode == MR_PTX_MODE_WIDE ? 64 : bits);
    }
    case MR_PTX_OP_SHR:
    case MR_PTX_OP_AND:
    case MR_PTX_OP_OR:
    case MR_PTX_OP_XOR:
    case MR_PTX_OP_BFE:
        return bits_class(flow, inst, bits);
    case MR_PTX_OP_CVT:
        return convert_class(flow, inst);
    default:
        return mr_class_varying;
    }
}

/* Results that depend on the lane whatever the operands, or never do. */
static bool fixed_class(const struct mr_flow *flow, const struct mr_ptx_inst *inst, struct mr_class *result)
{
    switch (inst->op) {
    case MR_PTX_OP_ATOM:
    case MR_PTX_OP_SHFL:
    case MR_PTX_OP_MATCH:
    case MR_PTX_OP_CALL:
    case MR_PTX_OP_ELECT:
    case MR_PTX_OP_ALLOCA:
    case MR_PTX_OP_STACKSAVE:
    case MR_PTX_OP_TEX:
    case MR_PTX_OP_TLD4:
    case MR_PTX_OP_TXQ:
    case MR_PTX_OP_SULD:
    case MR_PTX_OP_SUQ:
    case MR_PTX_OP_ISTYPEP:
    case MR_PTX_OP_MMA:
    case MR_PTX_OP_WMMA:
    case MR_PTX_OP_LDMATRIX:
    case MR_PTX_OP_MOVMATRIX:
    case MR_PTX_OP_MBARRIER:
        *result = mr_class_varying;
        return true;
    case MR_PTX_OP_VOTE:
    case MR_PTX_OP_REDUX:
        /* Lanes with different member masks get different results. */
        *result = (inst->flags & MR_PTX_FLAG_SYNC) && inst->operand_count > 2 &&
                          mr_class_of_operand(flow, &inst->operands[2]).kind > MR_CLASS_UNIFORM
                      ? mr_class_varying
                      : mr_class_uniform;
        return true;
    case MR_PTX_OP_ACTIVEMASK:
    case MR_PTX_OP_BAR:
    case MR_PTX_OP_BARRIER:
        *result = inst->mode == MR_PTX_MODE_TEST ? mr_class_varying : mr_class_uniform;
        return true;
    case MR_PTX_OP_LD:
    case MR_PTX_OP_LDU:
        /* A device function's parameters and everything local differ from lane to lane. */
        if (inst->space == MR_PTX_SPACE_LOCAL ||
            (inst->operands[1].kind == MR_PTX_OPERAND_SYMBOL_ADDRESS &&
             mr_class_of_operand(flow, &inst->operands[1]).kind == MR_CLASS_AFFINE)) {
            *result = mr_class_varying;
            return true;
        }
        return false;
    default:
        return false;
    }
}

/* `tid.x < 32 * k` and the like is the same for the whole warp. */
static bool compares_warps(const struct mr_flow *flow, const struct mr_ptx_inst *inst)
{
    if (inst->op != MR_PTX_OP_SETP || inst->operand_count != 3 ||
        mr_class_bits((enum mr_ptx_type)inst->type[0]) != 32 || inst->operands[2].kind != MR_PTX_OPERAND_IMM_INT)
        return false;
    const struct mr_ptx_operand *limit = &inst->operands[2];
    struct mr_class a = mr_class_of_operand(flow, &inst->operands[1]);
    if (!a.aligned || a.stride != 1)
        return false;
    switch (inst->cmp) {
    case MR_PTX_CMP_LT:
    case MR_PTX_CMP_LO:
    case MR_PTX_CMP_GE:
    case MR_PTX_CMP_HS:
        return (limit->value & 31) == 0;
    case MR_PTX_CMP_LE:
    case MR_PTX_CMP_LS:
    case MR_PTX_CMP_GT:
    case MR_PTX_CMP_HI:
        return (limit->value & 31) == 31;
    default:
        return false;
    }
}

/* What is known of a result that is the same for all lanes, its operands being so. */
static struct mr_class uniform_result(const struct mr_flow *flow, const struct mr_ptx_inst *inst)
{
    const struct mr_ptx_operand *operands = inst->operands;
    if (inst->operand_count < 2 || inst->dst_count != 1 || mr_class_bits((enum mr_ptx_type)inst->type[0]) != 32 ||
        operands[0].kind != MR_PTX_OPERAND_REG || (inst->flags & (MR_PTX_FLAG_CC | MR_PTX_FLAG_SAT)))
        return mr_class_uniform;
    uint32_t a = mr_class_of_operand(flow, &operands[1]).ones,
             b = inst->operand_count > 2 ? mr_class_of_operand(flow, &operands[2]).ones : 0, mask;
    unsigned down;
    switch (inst->op) {
    case MR_PTX_OP_MOV:
        return operands[1].kind == MR_PTX_OPERAND_VECTOR ? mr_class_uniform : mr_class_uniform_of(a);
    case MR_PTX_OP_AND:
        return mr_class_uniform_of(a & b);
    case MR_PTX_OP_OR:
    case MR_PTX_OP_XOR:
        return mr_class_uniform_of(a | b);
    case MR_PTX_OP_ADD:
        return mr_class_uniform_of(ones_of_sum(a, b));
    case MR_PTX_OP_SUB:
        return mr_class_uniform_of(ones_of_difference(a, b));
    case MR_PTX_OP_SHL:
        return operands[2].kind == MR_PTX_OPERAND_IMM_INT && (uint64_t)operands[2].value < 32
                   ? mr_class_uniform_of(a << operands[2].value)
                   : mr_class_uniform;
    case MR_PTX_OP_SHR:
    case MR_PTX_OP_BFE:
        return field_of(flow, inst, &mask, &down) ? mr_class_uniform_of((a & mask) >> down) : mr_class_uniform;
    case MR_PTX_OP_MUL:
        return inst->mode == MR_PTX_MODE_LO ? mr_class_uniform_of(ones_of(low_zeros(a) + low_zeros(b), (uint64_t)a * b))
                                            : mr_class_uniform;
    default:
        return mr_class_uniform;
    }
}

static struct mr_class unguarded_class(const struct mr_flow *flow, const struct mr_ptx_inst *inst)
{
    struct mr_class result;
    if (fixed_class(flow, inst, &result))
        return result;
    if (compares_warps(flow, inst))
        return mr_class_uniform;
    bool any_none = false, all_uniform = true, any_stepped = false;
    for (uint32_t i = inst->dst_count; i < inst->operand_count; i++) {
        struct mr_class c = mr_class_of_operand(flow, &inst->operands[i]);
        if (c.kind == MR_CLASS_VARYING)
            return mr_class_varying;
        any_none |= c.kind == MR_CLASS_NONE;
        all_uniform &= c.kind == MR_CLASS_UNIFORM;
        any_stepped |= c.kind == MR_CLASS_STEPPED;
    }
    if (inst->op == MR_PTX_OP_ADDC || inst->op == MR_PTX_OP_SUBC || inst->op == MR_PTX_OP_MADC) {
        struct mr_class c = flow->classes[flow->reg_count - 1];
        if (c.kind == MR_CLASS_VARYING)
            return mr_class_varying;
        any_none |= c.kind == MR_CLASS_NONE;
    }
    if (any_none)
        return mr_class_none;
    if (all_uniform)
        return uniform_result(flow, inst);
    result = any_stepped ? mr_class_varying : affine_result(flow, inst);
    return result.kind == MR_CLASS_VARYING ? mr_class_stepped_result(flow, inst) : result;
}

struct mr_class mr_flow_result_class(const struct mr_flow *flow, const struct mr_ptx_inst *inst)
{
    struct mr_class result = unguarded_class(flow, inst);
    if (inst->guard != MR_PTX_NONE && flow->classes[inst->guard].kind == MR_CLASS_VARYING)
        return mr_class_varying;
    return result;
}

static struct mr_class meet(struct mr_class a, struct mr_class b)
{
    if (a.kind == MR_CLASS_NONE)
        return b;
    if (b.kind == MR_CLASS_NONE)
        return a;
    if (a.kind == MR_CLASS_STEPPED && b.kind == MR_CLASS_STEPPED)
        return (struct mr_class){MR_CLASS_STEPPED, a.stride < b.stride ? a.stride : b.stride, a.wrap || b.wrap, false};
    if (a.kind != b.kind || a.stride != b.stride || (a.wrap && b.wrap && a.wrap != b.wrap))
        return mr_class_varying;
    a.wrap |= b.wrap;
    a.aligned = a.aligned && b.aligned;
    a.ones |= b.ones;
    return a;
}

struct define {
    struct mr_flow *flow;
    struct mr_class result;
    bool changed;
};

static void define_visit(void *data, uint32_t reg, bool is_definition)
{
    struct define *define = data;
    struct mr_class *old = &define->flow->classes[reg];
    if (!is_definition || old->kind == MR_CLASS_VARYING)
        return;
    struct mr_class next = mr_bit_get(define->flow->forced, reg) ? mr_class_varying : meet(*old, define->result);
    if (next.kind != old->kind || next.stride != old->stride || next.wrap != old->wrap ||
        next.aligned != old->aligned || next.ones != old->ones) {
        *old = next;
        define->changed = true;
    }
}

bool mr_flow_classes(struct mr_flow *flow)
{
    if (!flow->classes) {
        flow->classes = mr_calloc(flow->reg_count, sizeof *flow->classes);
        flow->forced = mr_calloc(mr_bit_words(flow->reg_count), sizeof *flow->forced);
        if (!flow->classes || !flow->forced)
            return false;
        for (uint32_t i = 0; i < flow->func->param_count; i++)
            if (flow->func->params[i]->reg != MR_PTX_NONE)
                flow->classes[flow->func->params[i]->reg] = mr_class_varying;
        for (uint32_t i = 0; i < flow->func->return_count; i++)
            if (flow->func->returns[i]->reg != MR_PTX_NONE)
                flow->classes[flow->func->returns[i]->reg] = mr_class_varying;
    }
    for (uint32_t r = 0; r < flow->reg_count; r++)
        if (mr_bit_get(flow->forced, r))
            flow->classes[r] = mr_class_varying;
    struct define define = {.flow = flow, .changed = true};
    while (define.changed) {
        define.changed = false;
        for (uint32_t b = 0; b < flow->block_count; b++)
            for (uint32_t i = flow->blocks[b].first; i < flow->blocks[b].end; i++) {
                define.result = mr_flow_result_class(flow, &flow->func->insts[i]);
                if (define.result.kind != MR_CLASS_NONE)
                    mr_flow_registers(flow, &flow->func->insts[i], define_visit, &define);
            }
    }
    return true;
}
