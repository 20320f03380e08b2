/* SPDX-License-Identifier: Apache-2.0 */
/* Results that step by what only the running code knows (flow.h, STEPPED). */
#include "compile/codegen/analysis/class.h"

/* What an operand is as a value that steps; VARYING if it does not step. */
static struct mr_class as_stepped(struct mr_class c)
{
    switch (c.kind) {
    case MR_CLASS_UNIFORM:
        return (struct mr_class){.kind = MR_CLASS_STEPPED, .stride = 63};
    case MR_CLASS_AFFINE:
        return (struct mr_class){MR_CLASS_STEPPED, c.stride ? __builtin_ctzll((uint64_t)c.stride) : 63, c.wrap != 0,
                                 false};
    case MR_CLASS_STEPPED:
        return c;
    default:
        return mr_class_varying;
    }
}

static struct mr_class stepped_sum(struct mr_class a, struct mr_class b)
{
    a = as_stepped(a);
    b = as_stepped(b);
    if (a.kind != MR_CLASS_STEPPED || b.kind != MR_CLASS_STEPPED || (a.wrap && b.wrap))
        return mr_class_varying;
    return (struct mr_class){MR_CLASS_STEPPED, a.stride < b.stride ? a.stride : b.stride, a.wrap || b.wrap, false};
}

static struct mr_class stepped_shifted(struct mr_class a, unsigned by)
{
    a.stride = a.stride + by < 63 ? a.stride + by : 63;
    return a;
}

/* Something that steps times something that is the same for all lanes. */
static struct mr_class stepped_product(const struct mr_flow *flow, const struct mr_ptx_inst *inst)
{
    struct mr_class a = mr_class_of_operand(flow, &inst->operands[1]),
                    b = mr_class_of_operand(flow, &inst->operands[2]);
    const struct mr_ptx_operand *by = &inst->operands[2];
    if (a.kind == MR_CLASS_UNIFORM) {
        struct mr_class c = a;
        a = b;
        b = c;
        by = &inst->operands[1];
    }
    if (b.kind != MR_CLASS_UNIFORM || inst->mode == MR_PTX_MODE_HI)
        return mr_class_varying;
    bool wraps = inst->mode == MR_PTX_MODE_WIDE && !mr_class_is_small(a);
    a = as_stepped(a);
    if (a.kind != MR_CLASS_STEPPED)
        return mr_class_varying;
    a.wrap = a.wrap || wraps;
    return by->kind == MR_PTX_OPERAND_IMM_INT && by->value
               ? stepped_shifted(a, (unsigned)__builtin_ctzll((uint64_t)by->value))
               : a;
}

static struct mr_class stepped_converted(const struct mr_flow *flow, const struct mr_ptx_inst *inst, struct mr_class a)
{
    unsigned to = mr_class_bits(inst->type[0]), from = mr_class_bits(inst->type[1]);
    if (!to || !from || inst->operand_count != 2 ||
        mr_ptx_type_bits(flow->func->regs[inst->operands[1].reg].type) != from)
        return mr_class_varying;
    if (to != from)
        a.wrap = to == 64;
    return a;
}

/* The upper half of 64 bits, shifted down: what is left of a number that was widened by shifts. */
static struct mr_class stepped_half(struct mr_class a)
{
    a = as_stepped(a);
    if (a.kind != MR_CLASS_STEPPED || a.wrap || a.stride < 32)
        return mr_class_varying;
    return (struct mr_class){MR_CLASS_STEPPED, a.stride - 32, 1, false};
}

/* The class if the result steps by what only the running code knows (stepped.c makes the code), else VARYING. */
struct mr_class mr_class_stepped_result(const struct mr_flow *flow, const struct mr_ptx_inst *inst)
{
    const struct mr_ptx_operand *operands = inst->operands;
    unsigned bits = inst->type_count ? mr_class_bits(inst->type[0]) : 0,
             wide = inst->mode == MR_PTX_MODE_WIDE ? 64 : bits;
    if (flow->rows > 1 || !bits || inst->operand_count < 2 || (inst->flags & (MR_PTX_FLAG_CC | MR_PTX_FLAG_SAT)) ||
        operands[0].kind != MR_PTX_OPERAND_REG || operands[1].kind == MR_PTX_OPERAND_VECTOR ||
        !mr_class_is_integer((enum mr_ptx_type)flow->func->regs[operands[0].reg].type) ||
        mr_ptx_type_bits(flow->func->regs[operands[0].reg].type) != wide)
        return mr_class_varying;
    struct mr_class a = mr_class_of_operand(flow, &operands[1]);
    switch (inst->op) {
    case MR_PTX_OP_MUL:
        return stepped_product(flow, inst);
    case MR_PTX_OP_MAD: {
        struct mr_class product = stepped_product(flow, inst);
        return product.kind == MR_CLASS_STEPPED ? stepped_sum(product, mr_class_of_operand(flow, &operands[3]))
                                                : mr_class_varying;
    }
    case MR_PTX_OP_SHR:
        return bits == 64 && operands[2].kind == MR_PTX_OPERAND_IMM_INT && operands[2].value == 32 ? stepped_half(a)
                                                                                                   : mr_class_varying;
    case MR_PTX_OP_ADD:
    case MR_PTX_OP_SUB: {
        struct mr_class b = mr_class_of_operand(flow, &operands[2]);
        return a.kind == MR_CLASS_STEPPED || b.kind == MR_CLASS_STEPPED ? stepped_sum(a, b) : mr_class_varying;
    }
    case MR_PTX_OP_SHL:
        return a.kind == MR_CLASS_STEPPED && operands[2].kind == MR_PTX_OPERAND_IMM_INT &&
                       (uint64_t)operands[2].value < bits
                   ? stepped_shifted(a, (unsigned)operands[2].value)
                   : mr_class_varying;
    case MR_PTX_OP_MOV:
        return a.kind == MR_CLASS_STEPPED && mr_ptx_type_bits(flow->func->regs[operands[1].reg].type) == bits
                   ? a
                   : mr_class_varying;
    case MR_PTX_OP_CVTA:
        return a.kind == MR_CLASS_STEPPED && bits == 64 && inst->space != MR_PTX_SPACE_SHARED &&
                       inst->space != MR_PTX_SPACE_SHARED_CLUSTER
                   ? a
                   : mr_class_varying;
    case MR_PTX_OP_CVT:
        return a.kind == MR_CLASS_STEPPED ? stepped_converted(flow, inst, a) : mr_class_varying;
    default:
        return mr_class_varying;
    }
}
