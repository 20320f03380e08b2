/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Products and sums without a rounding in their name. The PTX manual leaves it open whether mul and add (or sub) become
 * one fma; NVIDIA's assembler makes one wherever the product is wanted by that sum alone, and nvcc counts on it: of a *
 * b - c it makes mul and sub. So that results have hardware's bits, the same is done here: a sum whose operand is such
 * a product of the same block of instructions is emitted as fma of the product's operands. The product itself is left
 * for LLVM to drop.
 *
 * The other way round: compilers make fma(a, c, a * c) of a * c + a * c, as of x / 2 * 2. If c is a power of two, the
 * product is exact, or has overflowed, or is subnormal: then what rounding took away or added, less than a unit, or
 * half of one to the even neighbour, does not survive the fma's own rounding either. So the product added to itself has
 * the same bits, and takes less time.
 */
#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "compile/codegen/numbers/contract.h"
#include "compile/codegen/numbers/numbers.h"

struct count {
    uint32_t uses, definitions;
    uint32_t defined; /* the instruction that defined it last, from 1 */
    uint32_t product; /* the product that it holds, from 1 */
};

struct walk {
    struct count *counts;
    uint32_t at; /* the instruction, from 1; 0 while counting */
};

static void visit(void *data, uint32_t reg, bool is_definition)
{
    struct walk *walk = data;
    struct count *count = &walk->counts[reg];
    if (walk->at) {
        if (is_definition)
            count->defined = walk->at;
    } else if (is_definition) {
        count->definitions++;
    } else {
        count->uses++;
    }
}

static bool is_type(unsigned type)
{
    return type == MR_PTX_TYPE_F32 || type == MR_PTX_TYPE_F64 || type == MR_PTX_TYPE_F16 || type == MR_PTX_TYPE_F16X2;
}

static bool is_plain(const struct mr_ptx_inst *inst)
{
    return inst->rounding == MR_PTX_ROUND_NONE && inst->guard == MR_PTX_NONE && inst->type_count == 1 &&
           is_type(inst->type[0]);
}

/* Operand `index` of a sum as the product that it holds; NULL if it holds none, or one that can't be taken along. */
static const struct mr_ptx_inst *product_in(const struct cg *g, const struct count *counts,
                                            const struct mr_ptx_inst *sum, unsigned index, uint32_t first)
{
    const struct mr_ptx_operand *operand = &sum->operands[index];
    if (operand->kind != MR_PTX_OPERAND_REG)
        return NULL;
    const struct count *count = &counts[operand->reg];
    if (!count->product || count->product <= first || count->uses != 1 || count->definitions != 1)
        return NULL;
    const struct mr_ptx_inst *product = &g->func->insts[count->product - 1];
    if (product->type[0] != sum->type[0] || product->flags != (sum->flags & ~(uint32_t)MR_PTX_FLAG_SAT))
        return NULL;
    for (unsigned i = 1; i <= 2; i++)
        if (product->operands[i].kind == MR_PTX_OPERAND_REG &&
            counts[product->operands[i].reg].defined > count->product)
            return NULL;
    return product;
}

static bool is_power_of_two(const struct mr_ptx_operand *operand)
{
    if (operand->kind != MR_PTX_OPERAND_IMM_FLOAT)
        return false;
    float single;
    double number;
    int exponent;
    memcpy(&single, &operand->value, sizeof single);
    memcpy(&number, &operand->value, sizeof number);
    if (operand->is_single)
        number = (double)single;
    return fabs(frexp(number, &exponent)) == 0.5;
}

static bool is_same(const struct mr_ptx_operand *a, const struct mr_ptx_operand *b)
{
    if (a->kind != b->kind)
        return false;
    return a->kind == MR_PTX_OPERAND_REG
               ? a->reg == b->reg
               : a->kind == MR_PTX_OPERAND_IMM_FLOAT && a->value == b->value && a->is_single == b->is_single;
}

/* f32 or f64, to nearest, in all lanes, with no flags. */
static bool is_exactly(const struct mr_ptx_inst *inst, enum mr_ptx_op op)
{
    return inst->op == op && (inst->rounding == MR_PTX_ROUND_NONE || inst->rounding == MR_PTX_ROUND_RN) &&
           inst->guard == MR_PTX_NONE && inst->type_count == 1 &&
           (inst->type[0] == MR_PTX_TYPE_F32 || inst->type[0] == MR_PTX_TYPE_F64) && inst->flags == 0;
}

/* The product by a power of two that this fma adds to itself, or NULL. */
static const struct mr_ptx_inst *doubled_by(const struct cg *g, const struct count *counts,
                                            const struct mr_ptx_inst *fma, uint32_t first)
{
    const struct mr_ptx_operand *with = &fma->operands[3];
    if (!is_exactly(fma, MR_PTX_OP_FMA) || with->kind != MR_PTX_OPERAND_REG || counts[with->reg].defined <= first)
        return NULL;
    uint32_t at = counts[with->reg].defined;
    const struct mr_ptx_inst *product = &g->func->insts[at - 1];
    if (!is_exactly(product, MR_PTX_OP_MUL) || product->type[0] != fma->type[0])
        return NULL;
    for (unsigned k = 1; k <= 2; k++) {
        const struct mr_ptx_operand *a = &product->operands[k], *c = &product->operands[3 - k];
        bool same = is_same(a, &fma->operands[1]) ? is_same(c, &fma->operands[2])
                                                  : is_same(a, &fma->operands[2]) && is_same(c, &fma->operands[1]);
        if (same && is_power_of_two(c) && a->kind == MR_PTX_OPERAND_REG && a->reg != with->reg &&
            counts[a->reg].defined < at)
            return product;
    }
    return NULL;
}

static void scan_block(struct cg *g, const struct mr_flow_block *block, struct count *counts)
{
    struct walk walk = {counts, 0};
    for (uint32_t i = block->first; i < block->end; i++) {
        const struct mr_ptx_inst *inst = &g->func->insts[i];
        if ((inst->op == MR_PTX_OP_ADD || inst->op == MR_PTX_OP_SUB) && is_plain(inst))
            for (unsigned k = 1; k <= 2 && !g->regs.contracted[i].product; k++)
                g->regs.contracted[i] = (struct cg_contracted){product_in(g, counts, inst, k, block->first), k};
        if (inst->op == MR_PTX_OP_FMA)
            g->regs.contracted[i] = (struct cg_contracted){doubled_by(g, counts, inst, block->first), 3};
        walk.at = i + 1;
        mr_flow_registers(&g->flow, inst, visit, &walk);
        if (inst->op == MR_PTX_OP_MUL && is_plain(inst) && inst->operands[0].kind == MR_PTX_OPERAND_REG)
            counts[inst->operands[0].reg].product = i + 1;
    }
}

bool cg_contract_prepare(struct cg *g)
{
    const struct mr_ptx_function *func = g->func;
    struct count *counts = mr_calloc(g->flow.reg_count ? g->flow.reg_count : 1, sizeof *counts);
    g->regs.contracted = mr_calloc(func->inst_count ? func->inst_count : 1, sizeof *g->regs.contracted);
    if (counts && g->regs.contracted) {
        struct walk walk = {counts, 0};
        for (uint32_t i = 0; i < func->inst_count; i++)
            mr_flow_registers(&g->flow, &func->insts[i], visit, &walk);
        for (uint32_t r = 0; r < func->return_count; r++)
            if (func->returns[r]->reg != MR_PTX_NONE)
                counts[func->returns[r]->reg].uses++;
        for (uint32_t b = 0; b < g->flow.block_count; b++)
            scan_block(g, &g->flow.blocks[b], counts);
    }
    mr_free(counts);
    return counts && g->regs.contracted;
}

struct cg_contracted cg_contracted(const struct cg *g, const struct mr_ptx_inst *inst)
{
    const struct mr_ptx_inst *insts = g->func->insts;
    return inst >= insts && inst < insts + g->func->inst_count ? g->regs.contracted[inst - insts]
                                                               : (struct cg_contracted){NULL, 0};
}
