/* SPDX-License-Identifier: Apache-2.0 */

/*
 * The class of every register: the meet of what its definitions give, found by
 * starting from "nothing known yet" and going down until nothing changes.
 *
 * mr_flow_result_class() is also what the emitter asks, so that the two can't
 * disagree. A load from a uniform address is uniform: the lanes that run an
 * instruction together see one value.
 */
#include "compile/codegen/analysis/flow.h"

#include "base/alloc.h"
#include "compile/codegen.h"

static const struct mr_class none = {.kind = MR_CLASS_NONE}, uniform = {.kind = MR_CLASS_UNIFORM, .ones = UINT32_MAX},
                             varying = {.kind = MR_CLASS_VARYING};

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
    return (struct mr_class){.kind = MR_CLASS_AFFINE, .stride = stride, .wrap = wrap};
}

/* Blocks have up to 1,024 threads, so a warp's first has a number of these bits. */
#define FIRST_THREADS 0x3e0u

/* The bits that hold the lane's number, and those below them. Where pairs of warps run as one there is one more, which
 * is a zero of the base's, too: nobody asks there (pair.c). */
static uint32_t lane_bits(struct mr_class a)
{
    return (uint32_t)(a.stride * 31);
}

static uint32_t bits_up_to_lanes(struct mr_class a)
{
    return (uint32_t)(a.stride * 32 - 1);
}

/* A value that steps by a power of two between bits of its own. */
static struct mr_class aligned(int64_t stride, uint32_t ones)
{
    return (struct mr_class){.kind = MR_CLASS_AFFINE,
                             .stride = stride,
                             .aligned = stride > 0 && stride <= STRIDE_WIDENED_MAX / 2,
                             .ones = ones};
}

static struct mr_class uniform_of(uint32_t ones)
{
    return (struct mr_class){.kind = MR_CLASS_UNIFORM, .ones = ones};
}

bool mr_class_is_small(struct mr_class c)
{
    return c.aligned && c.ones <= INT32_MAX;
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

static struct mr_class class_sum(const struct mr_flow *flow, struct mr_class a, struct mr_class b, int sign,
                                 unsigned bits)
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
    if (a.aligned)
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
            return aligned(1, FIRST_THREADS);
        return operand->component == 0 ? affine(flow, 1, 0) : operand->component == 1 ? affine(flow, 0, 0) : uniform;
    case MR_PTX_SPECIAL_LANEID:
        return affine(flow, 1, 0);
    case MR_PTX_SPECIAL_LANEMASK_EQ:
    case MR_PTX_SPECIAL_LANEMASK_LE:
    case MR_PTX_SPECIAL_LANEMASK_LT:
    case MR_PTX_SPECIAL_LANEMASK_GE:
    case MR_PTX_SPECIAL_LANEMASK_GT:
        return varying;
    default:
        return uniform;
    }
}

static struct mr_class raw_operand_class(const struct mr_flow *flow, const struct mr_ptx_operand *operand)
{
    switch (operand->kind) {
    case MR_PTX_OPERAND_REG:
    case MR_PTX_OPERAND_REG_ADDRESS:
        return flow->classes[operand->reg];
    case MR_PTX_OPERAND_SPECIAL:
        return special_class(flow, operand);
    case MR_PTX_OPERAND_SYMBOL:
    case MR_PTX_OPERAND_SYMBOL_ADDRESS:
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
    case MR_PTX_OPERAND_IMM_INT:
        return uniform_of((uint32_t)operand->value);
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
        int64_t factor =
            mr_ptx_type_class(inst->type[0]) == 'S' ? (int32_t)right->value : (int64_t)(uint32_t)right->value;
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

/* Bits of a value of 32 bits that steps between bits of its own, taken out and moved by `down`: with all those of the
 * lane it goes on stepping, with none it is the same for all lanes. */
static struct mr_class part_class(struct mr_class a, uint32_t mask, unsigned down)
{
    uint32_t ones = (a.ones & mask) >> down;
    if (!a.aligned ||
        ((lane_bits(a) & mask) && ((lane_bits(a) & mask) != lane_bits(a) || a.stride >> down << down != a.stride)))
        return varying;
    return lane_bits(a) & mask ? aligned(a.stride >> down, ones) : uniform_of(ones);
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
        return mr_ptx_type_class(inst->type[0]) != 'S' || raw_operand_class(flow, &inst->operands[1]).ones <= INT32_MAX;
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
    struct mr_class a = raw_operand_class(flow, &inst->operands[1]), b = raw_operand_class(flow, &inst->operands[2]);
    uint32_t mask;
    unsigned down;
    if (bits != 32)
        return varying;
    if (inst->op == MR_PTX_OP_SHR || inst->op == MR_PTX_OP_BFE)
        return field_of(flow, inst, &mask, &down) ? part_class(a, mask, down) : varying;
    if (inst->op == MR_PTX_OP_AND)
        return inst->operands[2].kind == MR_PTX_OPERAND_IMM_INT ? part_class(a, (uint32_t)inst->operands[2].value, 0)
                                                                : varying;
    struct mr_class steps = a.kind == MR_CLASS_AFFINE ? a : b, other = a.kind == MR_CLASS_AFFINE ? b : a;
    if (!steps.aligned || other.kind != MR_CLASS_UNIFORM || (other.ones & lane_bits(steps)))
        return varying;
    return aligned(steps.stride, steps.ones | other.ones);
}

/* Sums and products of 32 bits that leave the lane's bits what they are. */
static struct mr_class sum_class(const struct mr_flow *flow, const struct mr_ptx_inst *inst, unsigned bits)
{
    struct mr_class a = raw_operand_class(flow, &inst->operands[1]), b = raw_operand_class(flow, &inst->operands[2]);
    struct mr_class sum = class_sum(flow, a, b, inst->op == MR_PTX_OP_ADD ? 1 : -1, bits),
                    steps = a.kind == MR_CLASS_AFFINE ? a : b;
    bool keeps = bits == 32 && sum.kind == MR_CLASS_AFFINE && steps.aligned && sum.stride == steps.stride &&
                 !sum.wrap &&
                 ((a.kind == MR_CLASS_UNIFORM && !(a.ones & bits_up_to_lanes(steps))) ||
                  (b.kind == MR_CLASS_UNIFORM && !(b.ones & bits_up_to_lanes(steps))));
    return keeps ? aligned(sum.stride, UINT32_MAX & ~lane_bits(sum)) : sum;
}

static struct mr_class shifted_class(const struct mr_flow *flow, struct mr_class a, unsigned by, unsigned bits)
{
    if (a.aligned && bits == 32 && a.stride << by <= STRIDE_WIDENED_MAX / 2)
        return aligned(a.stride << by, a.ones << by);
    return class_scaled(flow, a, (int64_t)(UINT64_C(1) << by), bits);
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
    case MR_PTX_OP_ADD:
    case MR_PTX_OP_SUB:
        return bits ? sum_class(flow, inst, bits) : varying;
    case MR_PTX_OP_NEG:
        return bits ? class_scaled(flow, raw_operand_class(flow, &operands[1]), -1, bits) : varying;
    case MR_PTX_OP_SHL:
        if (!bits || operands[2].kind != MR_PTX_OPERAND_IMM_INT || (uint64_t)operands[2].value >= bits)
            return varying;
        return shifted_class(flow, raw_operand_class(flow, &operands[1]), (unsigned)operands[2].value, bits);
    case MR_PTX_OP_MUL:
        return product_class(flow, inst);
    case MR_PTX_OP_MAD: {
        struct mr_class product = product_class(flow, inst);
        return class_sum(flow, product, raw_operand_class(flow, &operands[3]), 1,
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
        return varying;
    }
}

/* What an operand is as a value that steps; VARYING if it is none. */
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
    bool wraps = inst->mode == MR_PTX_MODE_WIDE && !mr_class_is_small(a);
    a = as_stepped(a);
    if (a.kind != MR_CLASS_STEPPED)
        return varying;
    a.wrap = a.wrap || wraps;
    return by->kind == MR_PTX_OPERAND_IMM_INT && by->value
               ? stepped_shifted(a, (unsigned)__builtin_ctzll((uint64_t)by->value))
               : a;
}

static struct mr_class stepped_converted(const struct mr_flow *flow, const struct mr_ptx_inst *inst, struct mr_class a)
{
    unsigned to = affine_bits(inst->type[0]), from = affine_bits(inst->type[1]);
    if (!to || !from || inst->operand_count != 2 ||
        mr_ptx_type_bits(flow->func->regs[inst->operands[1].reg].type) != from)
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
    unsigned bits = inst->type_count ? affine_bits(inst->type[0]) : 0,
             wide = inst->mode == MR_PTX_MODE_WIDE ? 64 : bits;
    if (flow->rows > 1 || !bits || inst->operand_count < 2 || (inst->flags & (MR_PTX_FLAG_CC | MR_PTX_FLAG_SAT)) ||
        operands[0].kind != MR_PTX_OPERAND_REG || operands[1].kind == MR_PTX_OPERAND_VECTOR ||
        !is_integer((enum mr_ptx_type)flow->func->regs[operands[0].reg].type) ||
        mr_ptx_type_bits(flow->func->regs[operands[0].reg].type) != wide)
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
        return bits == 64 && operands[2].kind == MR_PTX_OPERAND_IMM_INT && operands[2].value == 32 ? stepped_half(a)
                                                                                                   : varying;
    case MR_PTX_OP_ADD:
    case MR_PTX_OP_SUB: {
        struct mr_class b = raw_operand_class(flow, &operands[2]);
        return a.kind == MR_CLASS_STEPPED || b.kind == MR_CLASS_STEPPED ? stepped_sum(a, b) : varying;
    }
    case MR_PTX_OP_SHL:
        return a.kind == MR_CLASS_STEPPED && operands[2].kind == MR_PTX_OPERAND_IMM_INT &&
                       (uint64_t)operands[2].value < bits
                   ? stepped_shifted(a, (unsigned)operands[2].value)
                   : varying;
    case MR_PTX_OP_MOV:
        return a.kind == MR_CLASS_STEPPED && mr_ptx_type_bits(flow->func->regs[operands[1].reg].type) == bits ? a
                                                                                                              : varying;
    case MR_PTX_OP_CVTA:
        return a.kind == MR_CLASS_STEPPED && bits == 64 && inst->space != MR_PTX_SPACE_SHARED &&
                       inst->space != MR_PTX_SPACE_SHARED_CLUSTER
                   ? a
                   : varying;
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
        *result = varying;
        return true;
    case MR_PTX_OP_VOTE:
    case MR_PTX_OP_REDUX:
        /* Lanes with different member masks get different results. */
        *result = (inst->flags & MR_PTX_FLAG_SYNC) && inst->operand_count > 2 &&
                          raw_operand_class(flow, &inst->operands[2]).kind > MR_CLASS_UNIFORM
                      ? varying
                      : uniform;
        return true;
    case MR_PTX_OP_ACTIVEMASK:
    case MR_PTX_OP_BAR:
    case MR_PTX_OP_BARRIER:
        *result = inst->mode == MR_PTX_MODE_TEST ? varying : uniform;
        return true;
    case MR_PTX_OP_LD:
    case MR_PTX_OP_LDU:
        /* A device function's parameters and everything local differ from lane to lane. */
        if (inst->space == MR_PTX_SPACE_LOCAL ||
            (inst->operands[1].kind == MR_PTX_OPERAND_SYMBOL_ADDRESS &&
             raw_operand_class(flow, &inst->operands[1]).kind == MR_CLASS_AFFINE)) {
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
    if (inst->op != MR_PTX_OP_SETP || inst->operand_count != 3 || affine_bits((enum mr_ptx_type)inst->type[0]) != 32 ||
        limit->kind != MR_PTX_OPERAND_IMM_INT)
        return false;
    struct mr_class a = raw_operand_class(flow, &inst->operands[1]);
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

static uint32_t low_zeros(uint32_t ones)
{
    return ones ? (uint32_t)__builtin_ctz(ones) : 31;
}

/* What is known of a result that is the same for all lanes, its operands being so. */
static struct mr_class uniform_result(const struct mr_flow *flow, const struct mr_ptx_inst *inst)
{
    const struct mr_ptx_operand *operands = inst->operands;
    if (inst->operand_count < 2 || inst->dst_count != 1 || affine_bits((enum mr_ptx_type)inst->type[0]) != 32 ||
        operands[0].kind != MR_PTX_OPERAND_REG || (inst->flags & (MR_PTX_FLAG_CC | MR_PTX_FLAG_SAT)))
        return uniform;
    uint32_t a = raw_operand_class(flow, &operands[1]).ones,
             b = inst->operand_count > 2 ? raw_operand_class(flow, &operands[2]).ones : 0, mask;
    unsigned down, zeros = low_zeros(a);
    switch (inst->op) {
    case MR_PTX_OP_MOV:
        return operands[1].kind == MR_PTX_OPERAND_VECTOR ? uniform : uniform_of(a);
    case MR_PTX_OP_AND:
        return uniform_of(a & b);
    case MR_PTX_OP_OR:
    case MR_PTX_OP_XOR:
        return uniform_of(a | b);
    case MR_PTX_OP_ADD:
    case MR_PTX_OP_SUB:
        return uniform_of(UINT32_MAX << (zeros < low_zeros(b) ? zeros : low_zeros(b)));
    case MR_PTX_OP_SHL:
        return operands[2].kind == MR_PTX_OPERAND_IMM_INT && (uint64_t)operands[2].value < 32
                   ? uniform_of(a << operands[2].value)
                   : uniform;
    case MR_PTX_OP_SHR:
    case MR_PTX_OP_BFE:
        return field_of(flow, inst, &mask, &down) ? uniform_of((a & mask) >> down) : uniform;
    case MR_PTX_OP_MUL:
        zeros += low_zeros(b);
        return inst->mode == MR_PTX_MODE_LO ? uniform_of(zeros < 32 ? UINT32_MAX << zeros : 0) : uniform;
    default:
        return uniform;
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
        return uniform_result(flow, inst);
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
    struct mr_class next = mr_bit_get(define->flow->forced, reg) ? varying : meet(*old, define->result);
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
