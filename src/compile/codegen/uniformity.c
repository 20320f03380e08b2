/* SPDX-License-Identifier: Apache-2.0 */

/*
 * The class of every register: the meet of what its definitions give, found by
 * starting from "nothing known yet" and going down until nothing changes.
 *
 * mr_flow_result_class() is also what the emitter asks, so that the two can't
 * disagree. A load from a uniform address is uniform: the lanes that run an
 * instruction together see one value.
 */
#include "compile/codegen/flow.h"

#include "base/memory.h"
#include "compile/codegen.h"

static const struct mr_class none = {.kind = MR_CLASS_NONE}, uniform = {.kind = MR_CLASS_UNIFORM}, varying = {.kind = MR_CLASS_VARYING};

/* Strides above this are of no use, and so small that 32 lanes of them can't wrap 32 bits twice. */
#define STRIDE_WIDENED_MAX (INT64_C(1) << 26)

unsigned mr_flow_shape_rows(unsigned shape)
{
    return shape & MR_SHAPE_ROWS_16 ? 2 : shape & MR_SHAPE_ROWS_8 ? 4 : 1;
}

static struct mr_class affine(const struct mr_flow *flow, int64_t stride, int64_t wrap)
{
    if (stride == 0 && wrap == 0 && flow->rows == 1)
        return uniform;
    return (struct mr_class){MR_CLASS_AFFINE, stride, wrap, false};
}

static int64_t wrapping_add(int64_t a, int64_t b)
{
    return (int64_t)((uint64_t)a + (uint64_t)b);
}

static int64_t wrapping_mul(int64_t a, int64_t b)
{
    return (int64_t)((uint64_t)a * (uint64_t)b);
}

/* A stride as a value of that many bits. */
static int64_t cut_stride(int64_t stride, unsigned bits)
{
    return bits == 32 ? (int32_t)(uint32_t)stride : stride;
}

static bool is_known(struct mr_class c)
{
    return c.kind == MR_CLASS_UNIFORM || c.kind == MR_CLASS_AFFINE;
}

static struct mr_class class_sum(const struct mr_flow *flow, struct mr_class a, struct mr_class b, int sign, unsigned bits)
{
    if (!is_known(a) || !is_known(b) || (a.wrap && b.wrap))
        return varying;
    if (a.kind == MR_CLASS_UNIFORM && b.kind == MR_CLASS_UNIFORM)
        return uniform;
    return affine(flow, cut_stride(wrapping_add(a.stride, wrapping_mul(sign, b.stride)), bits),
                  wrapping_add(a.wrap, wrapping_mul(sign, b.wrap)));
}

static struct mr_class class_scaled(const struct mr_flow *flow, struct mr_class a, int64_t factor, unsigned bits)
{
    if (a.kind != MR_CLASS_AFFINE)
        return a;
    return affine(flow, cut_stride(wrapping_mul(a.stride, factor), bits), wrapping_mul(a.wrap, factor));
}

/* 32 bits to 64: the sum base + stride * lane may overflow at some lane, once. */
static struct mr_class class_widened(const struct mr_flow *flow, struct mr_class a)
{
    if (a.kind != MR_CLASS_AFFINE || a.stride == 0)
        return a;
    if (a.aligned) /* the number of a thread in its block, or of a lane */
        return affine(flow, a.stride, 0);
    if (a.stride > STRIDE_WIDENED_MAX || a.stride < -STRIDE_WIDENED_MAX)
        return varying;
    return affine(flow, a.stride, a.stride > 0 ? -(INT64_C(1) << 32) : INT64_C(1) << 32);
}

struct mr_class mr_flow_register_class(const struct mr_flow *flow, uint32_t reg)
{
    struct mr_class c = flow->classes[reg];
    return c.kind == MR_CLASS_NONE ? uniform : c; /* never written: zero */
}

uint64_t mr_flow_open_stride(const struct mr_ptx_module *module)
{
    uint64_t bytes = module->open_size > 256 ? module->open_size : 256;
    return (bytes + 15) / 16 * 16;
}

uint64_t mr_flow_lane_stride(const struct mr_ptx_var *var)
{
    /* Caller and callee may declare one parameter with different alignments: its stride depends on the size alone. */
    if (var->space == MR_PTX_SPACE_PARAM && var->incomplete)
        return mr_flow_open_stride(var->owner->module);
    uint64_t align = var->space == MR_PTX_SPACE_LOCAL && var->align > 16 ? var->align : 16;
    return (var->size + align - 1) / align * align;
}

bool mr_flow_is_per_lane(const struct mr_ptx_var *var)
{
    if (var->space == MR_PTX_SPACE_LOCAL)
        return true;
    return var->space == MR_PTX_SPACE_PARAM && !(var->owner && var->owner->is_entry && var->is_input);
}

static struct mr_class special_class(const struct mr_flow *flow, const struct mr_ptx_operand *operand)
{
    switch (operand->special) {
    case MR_PTX_SPECIAL_TID:
        if (!(flow->shape & MR_SHAPE_LINEAR) && flow->rows == 1)
            return varying;
        if (operand->component == 0 && flow->rows == 1)
            return (struct mr_class){MR_CLASS_AFFINE, 1, 0, true};
        return operand->component == 0 ? affine(flow, 1, 0) : operand->component == 1 ? affine(flow, 0, 0) : uniform;
    case MR_PTX_SPECIAL_LANEID:
        return affine(flow, 1, 0);
    case MR_PTX_SPECIAL_LANEMASK_EQ: case MR_PTX_SPECIAL_LANEMASK_LE: case MR_PTX_SPECIAL_LANEMASK_LT:
    case MR_PTX_SPECIAL_LANEMASK_GE: case MR_PTX_SPECIAL_LANEMASK_GT:
        return varying;
    default:
        return uniform;
    }
}

static struct mr_class raw_operand_class(const struct mr_flow *flow, const struct mr_ptx_operand *operand)
{
    switch (operand->kind) {
    case MR_PTX_OPERAND_REG: case MR_PTX_OPERAND_REG_ADDRESS:
        return flow->classes[operand->reg];
    case MR_PTX_OPERAND_SPECIAL:
        return special_class(flow, operand);
    case MR_PTX_OPERAND_SYMBOL: case MR_PTX_OPERAND_SYMBOL_ADDRESS:
        if (mr_flow_is_per_lane(operand->var))
            return affine(flow, (int64_t)mr_flow_lane_stride(operand->var), 0);
        return uniform;
    case MR_PTX_OPERAND_VECTOR: {
        struct mr_class all = uniform;
        for (uint32_t i = 0; i < operand->count; i++) {
            struct mr_class c = raw_operand_class(flow, &operand->elements[i]);
            if (c.kind == MR_CLASS_NONE && all.kind != MR_CLASS_VARYING)
                all = none;
            else if (c.kind != MR_CLASS_UNIFORM && c.kind != MR_CLASS_NONE)
                all = varying;
        }
        return all;
    }
    default:
        return uniform;
    }
}

struct mr_class mr_flow_operand_class(const struct mr_flow *flow, const struct mr_ptx_operand *operand)
{
    struct mr_class c = raw_operand_class(flow, operand);
    return c.kind == MR_CLASS_NONE ? uniform : c;
}

static bool is_integer(enum mr_ptx_type type)
{
    char c = mr_ptx_type_class(type);
    return c == 'B' || c == 'U' || c == 'S';
}

static unsigned affine_bits(enum mr_ptx_type type)
{
    unsigned bits = mr_ptx_type_bits(type);
    return is_integer(type) && (bits == 32 || bits == 64) ? bits : 0;
}

static struct mr_class product_class(const struct mr_flow *flow, const struct mr_ptx_inst *inst)
{
    const struct mr_ptx_operand *left = &inst->operands[1], *right = &inst->operands[2];
    struct mr_class a = raw_operand_class(flow, left), b = raw_operand_class(flow, right);
    unsigned bits = affine_bits(inst->type[0]);
    if (a.kind == MR_CLASS_UNIFORM && b.kind == MR_CLASS_UNIFORM)
        return uniform;
    if (right->kind != MR_PTX_OPERAND_IMM_INT) {
        /* The same in each row, times something of that kind. */
        bool rows = bits && is_known(a) && is_known(b) && !a.stride && !a.wrap && !b.stride && !b.wrap;
        return rows && inst->mode != MR_PTX_MODE_HI ? affine(flow, 0, 0) : varying;
    }
    if (!bits)
        return varying;
    if (inst->mode == MR_PTX_MODE_WIDE) {
        int64_t factor = mr_ptx_type_class(inst->type[0]) == 'S' ? (int32_t)right->value : (int64_t)(uint32_t)right->value;
        return bits == 32 ? class_scaled(flow, class_widened(flow, a), factor, 64) : varying;
    }
    if (inst->mode == MR_PTX_MODE_HI)
        return varying;
    return class_scaled(flow, a, right->value, bits);
}

static struct mr_class convert_class(const struct mr_flow *flow, const struct mr_ptx_inst *inst)
{
    struct mr_class a = raw_operand_class(flow, &inst->operands[1]);
    unsigned to = affine_bits(inst->type[0]), from = affine_bits(inst->type[1]);
    if (!to || !from || (inst->flags & MR_PTX_FLAG_SAT) || inst->operand_count != 2)
        return varying;
    const struct mr_ptx_operand *source = &inst->operands[1];
    if (source->kind == MR_PTX_OPERAND_REG && mr_ptx_type_bits(source->type) != from)
        return varying;
    if (to == from)
        return a;
    if (to == 64)
        return class_widened(flow, a);
    return affine(flow, cut_stride(a.stride, 32), 0);
}

/* A thread's number taken apart: `tid.x / 32` is the same for the warp, `tid.x % 32` steps from 0. */
static struct mr_class part_class(const struct mr_flow *flow, const struct mr_ptx_inst *inst, unsigned bits)
{
    const struct mr_ptx_operand *by = &inst->operands[2];
    if (bits != 32 || by->kind != MR_PTX_OPERAND_IMM_INT || !raw_operand_class(flow, &inst->operands[1]).aligned)
        return varying;
    if (inst->op == MR_PTX_OP_SHR)
        return by->value >= 5 && by->value < 32 ? uniform : varying;
    if (by->value == 31)
        return raw_operand_class(flow, &inst->operands[1]);
    return by->value & 31 ? varying : uniform;
}

/* The class if all sources are known and at least one is affine. */
static struct mr_class affine_result(const struct mr_flow *flow, const struct mr_ptx_inst *inst)
{
    unsigned bits = inst->type_count ? affine_bits(inst->type[0]) : 0;
    const struct mr_ptx_operand *operands = inst->operands;
    if (inst->flags & (MR_PTX_FLAG_CC | MR_PTX_FLAG_SAT))
        return varying;
    /* Bits of an integer may go to a register of floats, which can't step. */
    if (operands[0].kind == MR_PTX_OPERAND_REG && !is_integer((enum mr_ptx_type)flow->func->regs[operands[0].reg].type))
        return varying;
    switch (inst->op) {
    case MR_PTX_OP_MOV:
        if (!bits || operands[0].kind != MR_PTX_OPERAND_REG || operands[1].kind == MR_PTX_OPERAND_VECTOR)
            return varying;
        return raw_operand_class(flow, &operands[1]);
    case MR_PTX_OP_CVTA:
        return bits == 64 ? raw_operand_class(flow, &operands[1]) : varying;
    case MR_PTX_OP_ADD: case MR_PTX_OP_SUB:
        return bits ? class_sum(flow, raw_operand_class(flow, &operands[1]), raw_operand_class(flow, &operands[2]),
                                inst->op == MR_PTX_OP_ADD ? 1 : -1, bits) : varying;
    case MR_PTX_OP_NEG:
        return bits ? class_scaled(flow, raw_operand_class(flow, &operands[1]), -1, bits) : varying;
    case MR_PTX_OP_SHL:
        if (!bits || operands[2].kind != MR_PTX_OPERAND_IMM_INT || (uint64_t)operands[2].value >= bits)
            return varying;
        return class_scaled(flow, raw_operand_class(flow, &operands[1]), (int64_t)(UINT64_C(1) << operands[2].value), bits);
    case MR_PTX_OP_MUL:
        return product_class(flow, inst);
    case MR_PTX_OP_MAD: {
        struct mr_class product = product_class(flow, inst);
        return class_sum(flow, product, raw_operand_class(flow, &operands[3]), 1,
                         inst->mode == MR_PTX_MODE_WIDE ? 64 : bits);
    }
    case MR_PTX_OP_SHR: case MR_PTX_OP_AND:
        return part_class(flow, inst, bits);
    case MR_PTX_OP_CVT:
        return convert_class(flow, inst);
    default:
        return varying;
    }
}

/* What an operand is as a value that steps; VARYING if it is none. */
static struct mr_class as_stepped(struct mr_class c)
{
    switch (c.kind) {
    case MR_CLASS_UNIFORM:
        return (struct mr_class){MR_CLASS_STEPPED, 63, 0, false};
    case MR_CLASS_AFFINE:
        return (struct mr_class){MR_CLASS_STEPPED, c.stride ? __builtin_ctzll((uint64_t)c.stride) : 63, c.wrap != 0, false};
    case MR_CLASS_STEPPED:
        return c;
    default:
        return varying;
    }
}

static struct mr_class stepped_sum(struct mr_class a, struct mr_class b)
{
    a = as_stepped(a);
    b = as_stepped(b);
    if (a.kind != MR_CLASS_STEPPED || b.kind != MR_CLASS_STEPPED || (a.wrap && b.wrap))
        return varying;
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
    struct mr_class a = raw_operand_class(flow, &inst->operands[1]), b = raw_operand_class(flow, &inst->operands[2]);
    const struct mr_ptx_operand *by = &inst->operands[2];
    if (a.kind == MR_CLASS_UNIFORM) {
        struct mr_class c = a;
        a = b;
        b = c;
        by = &inst->operands[1];
    }
    if (b.kind != MR_CLASS_UNIFORM || inst->mode == MR_PTX_MODE_HI)
        return varying;
    bool wraps = inst->mode == MR_PTX_MODE_WIDE && !a.aligned;
    a = as_stepped(a);
    if (a.kind != MR_CLASS_STEPPED)
        return varying;
    a.wrap = a.wrap || wraps;
    return by->kind == MR_PTX_OPERAND_IMM_INT && by->value ? stepped_shifted(a, (unsigned)__builtin_ctzll((uint64_t)by->value)) : a;
}

static struct mr_class stepped_converted(const struct mr_flow *flow, const struct mr_ptx_inst *inst, struct mr_class a)
{
    unsigned to = affine_bits(inst->type[0]), from = affine_bits(inst->type[1]);
    if (!to || !from || inst->operand_count != 2 || mr_ptx_type_bits(flow->func->regs[inst->operands[1].reg].type) != from)
        return varying;
    if (to != from)
        a.wrap = to == 64;
    return a;
}

/* The upper half of 64 bits, shifted down: what is left of a number that was widened by shifts. */
static struct mr_class stepped_half(struct mr_class a)
{
    a = as_stepped(a);
    if (a.kind != MR_CLASS_STEPPED || a.wrap || a.stride < 32)
        return varying;
    return (struct mr_class){MR_CLASS_STEPPED, a.stride - 32, 1, false};
}

/* The class if the result steps by what only the running code knows (stepped.c makes the code), else VARYING. */
static struct mr_class stepped_result(const struct mr_flow *flow, const struct mr_ptx_inst *inst)
{
    const struct mr_ptx_operand *operands = inst->operands;
    unsigned bits = inst->type_count ? affine_bits(inst->type[0]) : 0, wide = inst->mode == MR_PTX_MODE_WIDE ? 64 : bits;
    if (flow->rows > 1 || !bits || inst->operand_count < 2 || (inst->flags & (MR_PTX_FLAG_CC | MR_PTX_FLAG_SAT)) || operands[0].kind != MR_PTX_OPERAND_REG
        || operands[1].kind == MR_PTX_OPERAND_VECTOR || !is_integer((enum mr_ptx_type)flow->func->regs[operands[0].reg].type)
        || mr_ptx_type_bits(flow->func->regs[operands[0].reg].type) != wide)
        return varying;
    struct mr_class a = raw_operand_class(flow, &operands[1]);
    switch (inst->op) {
    case MR_PTX_OP_MUL:
        return stepped_product(flow, inst);
    case MR_PTX_OP_MAD: {
        struct mr_class product = stepped_product(flow, inst);
        return product.kind == MR_CLASS_STEPPED ? stepped_sum(product, raw_operand_class(flow, &operands[3])) : varying;
    }
    case MR_PTX_OP_SHR:
        return bits == 64 && operands[2].kind == MR_PTX_OPERAND_IMM_INT && operands[2].value == 32 ? stepped_half(a) : varying;
    case MR_PTX_OP_ADD: case MR_PTX_OP_SUB: {
        struct mr_class b = raw_operand_class(flow, &operands[2]);
        return a.kind == MR_CLASS_STEPPED || b.kind == MR_CLASS_STEPPED ? stepped_sum(a, b) : varying;
    }
    case MR_PTX_OP_SHL:
        return a.kind == MR_CLASS_STEPPED && operands[2].kind == MR_PTX_OPERAND_IMM_INT && (uint64_t)operands[2].value < bits
            ? stepped_shifted(a, (unsigned)operands[2].value) : varying;
    case MR_PTX_OP_MOV:
        return a.kind == MR_CLASS_STEPPED && mr_ptx_type_bits(flow->func->regs[operands[1].reg].type) == bits ? a : varying;
    case MR_PTX_OP_CVTA:
        return a.kind == MR_CLASS_STEPPED && bits == 64 && inst->space != MR_PTX_SPACE_SHARED && inst->space != MR_PTX_SPACE_SHARED_CLUSTER ? a : varying;
    case MR_PTX_OP_CVT:
        return a.kind == MR_CLASS_STEPPED ? stepped_converted(flow, inst, a) : varying;
    default:
        return varying;
    }
}

/* Results that depend on the lane whatever the operands, or never do. */
static bool fixed_class(const struct mr_flow *flow, const struct mr_ptx_inst *inst, struct mr_class *result)
{
    switch (inst->op) {
    case MR_PTX_OP_ATOM: case MR_PTX_OP_SHFL: case MR_PTX_OP_MATCH: case MR_PTX_OP_CALL: case MR_PTX_OP_ELECT:
    case MR_PTX_OP_ALLOCA: case MR_PTX_OP_STACKSAVE:
    case MR_PTX_OP_TEX: case MR_PTX_OP_TLD4: case MR_PTX_OP_TXQ: case MR_PTX_OP_SULD: case MR_PTX_OP_SUQ: case MR_PTX_OP_ISTYPEP:
    case MR_PTX_OP_MMA: case MR_PTX_OP_WMMA: case MR_PTX_OP_LDMATRIX: case MR_PTX_OP_MOVMATRIX: case MR_PTX_OP_MBARRIER:
        *result = varying;
        return true;
    case MR_PTX_OP_VOTE: case MR_PTX_OP_REDUX:
        /* Lanes with different member masks get different results. */
        *result = (inst->flags & MR_PTX_FLAG_SYNC) && inst->operand_count > 2
            && raw_operand_class(flow, &inst->operands[2]).kind > MR_CLASS_UNIFORM ? varying : uniform;
        return true;
    case MR_PTX_OP_ACTIVEMASK: case MR_PTX_OP_BAR: case MR_PTX_OP_BARRIER:
        *result = inst->mode == MR_PTX_MODE_TEST ? varying : uniform;
        return true;
    case MR_PTX_OP_LD: case MR_PTX_OP_LDU:
        /* A device function's parameters and everything local differ from lane to lane. */
        if (inst->space == MR_PTX_SPACE_LOCAL || (inst->operands[1].kind == MR_PTX_OPERAND_SYMBOL_ADDRESS
            && raw_operand_class(flow, &inst->operands[1]).kind == MR_CLASS_AFFINE)) {
            *result = varying;
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
    const struct mr_ptx_operand *limit = &inst->operands[2];
    if (inst->op != MR_PTX_OP_SETP || inst->operand_count != 3 || affine_bits((enum mr_ptx_type)inst->type[0]) != 32
        || limit->kind != MR_PTX_OPERAND_IMM_INT || !raw_operand_class(flow, &inst->operands[1]).aligned)
        return false;
    switch (inst->cmp) {
    case MR_PTX_CMP_LT: case MR_PTX_CMP_LO: case MR_PTX_CMP_GE: case MR_PTX_CMP_HS:
        return (limit->value & 31) == 0;
    case MR_PTX_CMP_LE: case MR_PTX_CMP_LS: case MR_PTX_CMP_GT: case MR_PTX_CMP_HI:
        return (limit->value & 31) == 31;
    default:
        return false;
    }
}

static struct mr_class unguarded_class(const struct mr_flow *flow, const struct mr_ptx_inst *inst)
{
    struct mr_class result;
    if (fixed_class(flow, inst, &result))
        return result;
    if (compares_warps(flow, inst))
        return uniform;
    bool any_none = false, all_uniform = true, any_stepped = false;
    for (uint32_t i = inst->dst_count; i < inst->operand_count; i++) {
        struct mr_class c = raw_operand_class(flow, &inst->operands[i]);
        if (c.kind == MR_CLASS_VARYING)
            return varying;
        any_none |= c.kind == MR_CLASS_NONE;
        all_uniform &= c.kind == MR_CLASS_UNIFORM;
        any_stepped |= c.kind == MR_CLASS_STEPPED;
    }
    if (inst->op == MR_PTX_OP_ADDC || inst->op == MR_PTX_OP_SUBC || inst->op == MR_PTX_OP_MADC) {
        struct mr_class c = flow->classes[flow->reg_count - 1];
        if (c.kind == MR_CLASS_VARYING)
            return varying;
        any_none |= c.kind == MR_CLASS_NONE;
    }
    if (any_none)
        return none;
    if (all_uniform)
        return uniform;
    result = any_stepped ? varying : affine_result(flow, inst);
    return result.kind == MR_CLASS_VARYING ? stepped_result(flow, inst) : result;
}

struct mr_class mr_flow_result_class(const struct mr_flow *flow, const struct mr_ptx_inst *inst)
{
    struct mr_class result = unguarded_class(flow, inst);
    if (inst->guard != MR_PTX_NONE && flow->classes[inst->guard].kind == MR_CLASS_VARYING)
        return varying;
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
        return varying;
    a.wrap |= b.wrap;
    a.aligned = a.aligned && b.aligned;
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
    struct mr_class next = mr_bit_get(define->flow->forced, reg) ? varying : meet(*old, define->result);
    if (next.kind != old->kind || next.stride != old->stride || next.wrap != old->wrap || next.aligned != old->aligned) {
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
                flow->classes[flow->func->params[i]->reg] = varying;
        for (uint32_t i = 0; i < flow->func->return_count; i++)
            if (flow->func->returns[i]->reg != MR_PTX_NONE)
                flow->classes[flow->func->returns[i]->reg] = varying;
    }
    for (uint32_t r = 0; r < flow->reg_count; r++)
        if (mr_bit_get(flow->forced, r))
            flow->classes[r] = varying;
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
