/* SPDX-License-Identifier: Apache-2.0 */
/* Classes: what adding, multiplying and widening make of them, and the class of an operand. */
#include "compile/codegen/analysis/class.h"

#include "compile/codegen.h"

unsigned mr_flow_shape_rows(unsigned shape)
{
    return shape & MR_SHAPE_ROWS_16 ? 2 : shape & MR_SHAPE_ROWS_8 ? 4 : 1;
}
struct mr_class mr_class_affine(const struct mr_flow *flow, int64_t stride, int64_t wrap)
{
    if (stride == 0 && wrap == 0 && flow->rows == 1)
        return mr_class_uniform;
    return (struct mr_class){.kind = MR_CLASS_AFFINE, .stride = stride, .wrap = wrap};
}

/* Blocks have up to 1,024 threads, so a warp's first has a number of these bits. */
#define FIRST_THREADS 0x3e0u

/* The bits that hold the lane's number, and those below them. Where pairs of warps run as one there is one more, which
 * is a zero of the base's, too: nobody asks there (pair.c). */
uint32_t mr_class_lane_bits(struct mr_class a)
{
    return (uint32_t)(a.stride * 31);
}

uint32_t mr_class_bits_up_to_lanes(struct mr_class a)
{
    return (uint32_t)(a.stride * 32 - 1);
}

/* A value that steps by a power of two between bits of its own. */
struct mr_class mr_class_aligned(int64_t stride, uint32_t ones)
{
    return (struct mr_class){.kind = MR_CLASS_AFFINE,
                             .stride = stride,
                             .aligned = stride > 0 && stride <= MR_STRIDE_WIDENED_MAX / 2,
                             .ones = ones};
}

struct mr_class mr_class_uniform_of(uint32_t ones)
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
int64_t mr_class_cut_stride(int64_t stride, unsigned bits)
{
    return bits == 32 ? (int32_t)(uint32_t)stride : stride;
}

bool mr_class_is_known(struct mr_class c)
{
    return c.kind == MR_CLASS_UNIFORM || c.kind == MR_CLASS_AFFINE;
}

struct mr_class mr_class_sum(const struct mr_flow *flow, struct mr_class a, struct mr_class b, int sign, unsigned bits)
{
    if (!mr_class_is_known(a) || !mr_class_is_known(b) || (a.wrap && b.wrap))
        return mr_class_varying;
    if (a.kind == MR_CLASS_UNIFORM && b.kind == MR_CLASS_UNIFORM)
        return mr_class_uniform;
    return mr_class_affine(flow, mr_class_cut_stride(wrapping_add(a.stride, wrapping_mul(sign, b.stride)), bits),
                           wrapping_add(a.wrap, wrapping_mul(sign, b.wrap)));
}

struct mr_class mr_class_scaled(const struct mr_flow *flow, struct mr_class a, int64_t factor, unsigned bits)
{
    if (a.kind != MR_CLASS_AFFINE)
        return a;
    return mr_class_affine(flow, mr_class_cut_stride(wrapping_mul(a.stride, factor), bits),
                           wrapping_mul(a.wrap, factor));
}

/* 32 bits to 64: the sum base + stride * lane may overflow at some lane, once. */
struct mr_class mr_class_widened(const struct mr_flow *flow, struct mr_class a)
{
    if (a.kind != MR_CLASS_AFFINE || a.stride == 0)
        return a;
    if (a.aligned)
        return mr_class_affine(flow, a.stride, 0);
    if (a.stride > MR_STRIDE_WIDENED_MAX || a.stride < -MR_STRIDE_WIDENED_MAX)
        return mr_class_varying;
    return mr_class_affine(flow, a.stride, a.stride > 0 ? -(INT64_C(1) << 32) : INT64_C(1) << 32);
}

struct mr_class mr_flow_register_class(const struct mr_flow *flow, uint32_t reg)
{
    struct mr_class c = flow->classes[reg];
    return c.kind == MR_CLASS_NONE ? mr_class_uniform : c; /* never written: zero */
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
            return mr_class_varying;
        if (operand->component == 0 && flow->rows == 1)
            return mr_class_aligned(1, FIRST_THREADS);
        return operand->component == 0   ? mr_class_affine(flow, 1, 0)
               : operand->component == 1 ? mr_class_affine(flow, 0, 0)
                                         : mr_class_uniform;
    case MR_PTX_SPECIAL_LANEID:
        return mr_class_affine(flow, 1, 0);
    case MR_PTX_SPECIAL_LANEMASK_EQ:
    case MR_PTX_SPECIAL_LANEMASK_LE:
    case MR_PTX_SPECIAL_LANEMASK_LT:
    case MR_PTX_SPECIAL_LANEMASK_GE:
    case MR_PTX_SPECIAL_LANEMASK_GT:
        return mr_class_varying;
    default:
        return mr_class_uniform;
    }
}

struct mr_class mr_class_of_operand(const struct mr_flow *flow, const struct mr_ptx_operand *operand)
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
            return mr_class_affine(flow, (int64_t)mr_flow_lane_stride(operand->var), 0);
        return mr_class_uniform;
    case MR_PTX_OPERAND_VECTOR: {
        struct mr_class all = mr_class_uniform;
        for (uint32_t i = 0; i < operand->count; i++) {
            struct mr_class c = mr_class_of_operand(flow, &operand->elements[i]);
            if (c.kind == MR_CLASS_NONE && all.kind != MR_CLASS_VARYING)
                all = mr_class_none;
            else if (c.kind != MR_CLASS_UNIFORM && c.kind != MR_CLASS_NONE)
                all = mr_class_varying;
        }
        return all;
    }
    case MR_PTX_OPERAND_IMM_INT:
        return mr_class_uniform_of((uint32_t)operand->value);
    default:
        return mr_class_uniform;
    }
}

struct mr_class mr_flow_operand_class(const struct mr_flow *flow, const struct mr_ptx_operand *operand)
{
    struct mr_class c = mr_class_of_operand(flow, operand);
    return c.kind == MR_CLASS_NONE ? mr_class_uniform : c;
}
bool mr_class_is_integer(enum mr_ptx_type type)
{
    char c = mr_ptx_type_class(type);
    return c == 'B' || c == 'U' || c == 'S';
}

unsigned mr_class_bits(enum mr_ptx_type type)
{
    unsigned bits = mr_ptx_type_bits(type);
    return mr_class_is_integer(type) && (bits == 32 || bits == 64) ? bits : 0;
}
