/* SPDX-License-Identifier: Apache-2.0 */

#include "ptx/matrix.h"

static const struct {
    uint16_t m, n, k;
} shapes[MR_PTX_SHAPE_COUNT] = {{0, 0, 0},
#define X(m, n, k) {m, n, k},
                                MR_PTX_SHAPES(X)
#undef X
};

static uint32_t elements_of(const struct mr_ptx_matrix_op *op, enum mr_ptx_matrix_name name)
{
    uint32_t depth = op->group ? op->k / 2u : op->k;
    return name == MR_PTX_MATRIX_A   ? (uint32_t)op->m * depth
           : name == MR_PTX_MATRIX_B ? (uint32_t)op->k * op->n
                                     : (uint32_t)op->m * op->n;
}

/* Registers: all elements over 32 lanes, except for two old instructions whose lanes share elements. */
static void describe(struct mr_ptx_matrix_op *op, const struct mr_ptx_inst *inst, enum mr_ptx_matrix_name name,
                     enum mr_ptx_type type)
{
    unsigned bits = mr_ptx_type_bits(type), width = bits == 64 ? 64 : 32;
    bool factor = name == MR_PTX_MATRIX_A || name == MR_PTX_MATRIX_B;
    op->type[name] = (uint8_t)type;
    op->parts[name] = (uint8_t)(type == MR_PTX_TYPE_B1 || bits >= width ? 1 : width / bits);
    uint32_t regs = elements_of(op, name) * bits / (32 * width);
    if (factor && type == MR_PTX_TYPE_F16 && inst->op == MR_PTX_OP_WMMA)
        regs = 8;
    if (op->quads)
        regs = factor ? 2 : type == MR_PTX_TYPE_F16 ? 4 : 8;
    op->regs[name] = (uint8_t)regs;
}

struct mr_ptx_matrix_op mr_ptx_matrix_of(const struct mr_ptx_inst *inst)
{
    struct mr_ptx_matrix_op op = {.m = shapes[inst->shape].m, .n = shapes[inst->shape].n, .k = shapes[inst->shape].k};
    enum mr_ptx_type first = (enum mr_ptx_type)inst->type[0];
    op.turned = inst->shape == MR_PTX_SHAPE_M8N32K16;
    if (inst->mode == MR_PTX_MODE_MATRIX_STORE) {
        describe(&op, inst, MR_PTX_MATRIX_D, first);
        return op;
    }
    if (inst->mode == MR_PTX_MODE_MATRIX_LOAD) {
        describe(&op, inst, (enum mr_ptx_matrix_name)(inst->mode2 - MR_PTX_MODE_MATRIX_A + MR_PTX_MATRIX_A), first);
        return op;
    }
    bool halves = inst->type_count == 2; /* wmma of f16 names D and C only */
    enum mr_ptx_type a = halves ? MR_PTX_TYPE_F16 : (enum mr_ptx_type)inst->type[1];
    if (inst->mode == MR_PTX_MODE_MATRIX_SPARSE)
        op.group = mr_ptx_type_bits(a) == 32 ? 2 : mr_ptx_type_bits(a) == 4 ? 8 : 4;
    op.quads = inst->op == MR_PTX_OP_MMA && inst->shape == MR_PTX_SHAPE_M8N8K4 && a == MR_PTX_TYPE_F16;
    describe(&op, inst, MR_PTX_MATRIX_D, first);
    describe(&op, inst, MR_PTX_MATRIX_A, a);
    describe(&op, inst, MR_PTX_MATRIX_B, halves ? MR_PTX_TYPE_F16 : (enum mr_ptx_type)inst->type[2]);
    describe(&op, inst, MR_PTX_MATRIX_C, (enum mr_ptx_type)inst->type[halves ? 1 : 3]);
    return op;
}

enum mr_ptx_type mr_ptx_matrix_register(const struct mr_ptx_matrix_op *op, enum mr_ptx_matrix_name name)
{
    switch (op->type[name]) {
    case MR_PTX_TYPE_F16:
        return MR_PTX_TYPE_F16X2;
    case MR_PTX_TYPE_F32:
        return MR_PTX_TYPE_F32;
    case MR_PTX_TYPE_F64:
        return MR_PTX_TYPE_F64;
    case MR_PTX_TYPE_S32:
        return MR_PTX_TYPE_S32;
    default:
        return MR_PTX_TYPE_B32;
    }
}
