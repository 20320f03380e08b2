/* SPDX-License-Identifier: Apache-2.0 */

/*
 * The one NaN of single precision. Hardware's f32 arithmetic gives 0x7fffffff
 * whenever the result is no number; the host's hands on an operand's payload. To
 * mend that after every operation would double the work of a loop, and nothing
 * can tell before the bits are looked at. So registers that only ever hold
 * results of arithmetic (or copies of such registers, or constants) are "loose":
 * they may hold any NaN, and an instruction that looks at their bits (a store, a move to an
 * integer, a shuffle) gets the mended value from cg_source(). Arithmetic and
 * comparison do not look. Any other register gets the mended value at once.
 *
 * A register of type .b32 is loose on the same terms, and only if nothing but instructions on floats, stores and
 * shuffles read it: newer compilers declare all registers of 32 bits so.
 */
#include "compile/codegen/numbers/numbers.h"
#include "base/alloc.h"

#include <string.h>

#define CANONICAL_NAN UINT64_C(0x7fffffff)

bool cg_computes(unsigned op)
{
    switch (op) {
    case MR_PTX_OP_ADD:
    case MR_PTX_OP_SUB:
    case MR_PTX_OP_MUL:
    case MR_PTX_OP_DIV:
    case MR_PTX_OP_FMA:
    case MR_PTX_OP_MAD:
    case MR_PTX_OP_SQRT:
    case MR_PTX_OP_RCP:
    case MR_PTX_OP_RSQRT:
    case MR_PTX_OP_SIN:
    case MR_PTX_OP_COS:
    case MR_PTX_OP_EX2:
    case MR_PTX_OP_LG2:
    case MR_PTX_OP_TANH:
    case MR_PTX_OP_NEG:
        return true;
    default:
        return false;
    }
}

bool cg_nan_is_arithmetic(const struct mr_ptx_inst *inst)
{
    if (!inst->type_count || inst->type[0] != MR_PTX_TYPE_F32)
        return false;
    return cg_computes(inst->op) || (inst->op == MR_PTX_OP_CVT && inst->type[1] == MR_PTX_TYPE_F16);
}

/* Never hands on a NaN's payload: gives the other operand, or hardware's own NaN. */
static bool is_choice(const struct mr_ptx_inst *inst)
{
    return (inst->op == MR_PTX_OP_MIN || inst->op == MR_PTX_OP_MAX) && inst->type[0] == MR_PTX_TYPE_F32;
}

static bool is_copy(const struct mr_ptx_inst *inst)
{
    return (inst->op == MR_PTX_OP_MOV || inst->op == MR_PTX_OP_SELP) && inst->type_count &&
           (inst->type[0] == MR_PTX_TYPE_F32 || inst->type[0] == MR_PTX_TYPE_B32);
}

/* What a loose register may hold: another one, a number that is written as one, bits that are no NaN's. */
static bool is_loose(const struct mr_ptx_operand *source, const bool *loose)
{
    return source->kind == MR_PTX_OPERAND_REG       ? loose[source->reg]
           : source->kind == MR_PTX_OPERAND_IMM_INT ? (source->value & 0x7fffffff) <= 0x7f800000
                                                    : source->kind == MR_PTX_OPERAND_IMM_FLOAT;
}

/* Whether a copy's sources (the selecting predicate of selp aside) are all loose registers or constants. */
static bool copies_loose(const struct mr_ptx_inst *inst, const bool *loose)
{
    unsigned end = inst->op == MR_PTX_OP_SELP ? 3 : 2;
    for (unsigned i = 1; i < end; i++)
        if (!is_loose(&inst->operands[i], loose))
            return false;
    return true;
}

static void mark_operand(const struct mr_ptx_operand *operand, bool *loose, bool *changed)
{
    uint32_t regs[2] = {MR_PTX_NONE, MR_PTX_NONE};
    if (operand->kind == MR_PTX_OPERAND_REG || operand->kind == MR_PTX_OPERAND_REG_ADDRESS ||
        operand->kind == MR_PTX_OPERAND_PAIR)
        regs[0] = operand->reg;
    if (operand->kind == MR_PTX_OPERAND_PAIR)
        regs[1] = operand->reg2;
    if (operand->kind == MR_PTX_OPERAND_VECTOR)
        for (unsigned i = 0; i < operand->count; i++)
            mark_operand(&operand->elements[i], loose, changed);
    for (unsigned i = 0; i < 2; i++)
        if (regs[i] != MR_PTX_NONE && loose[regs[i]]) {
            loose[regs[i]] = false;
            *changed = true;
        }
}

/* Takes back every register that some instruction writes with bits of its own. */
static bool narrow(const struct mr_ptx_function *func, bool *loose)
{
    bool changed = false;
    for (uint32_t i = 0; i < func->inst_count; i++) {
        const struct mr_ptx_inst *inst = &func->insts[i];
        if (cg_nan_is_arithmetic(inst) || is_choice(inst) || (is_copy(inst) && copies_loose(inst, loose)))
            continue;
        for (unsigned d = 0; d < inst->dst_count; d++)
            mark_operand(&inst->operands[d], loose, &changed);
        for (unsigned r = 0; inst->call && r < inst->call->return_count; r++)
            mark_operand(&inst->call->returns[r], loose, &changed);
    }
    return changed;
}

struct reading {
    const struct mr_ptx_function *func;
    bool *loose;
};

static void read_as_bits(void *data, uint32_t reg, bool is_definition)
{
    const struct reading *reading = data;
    if (!is_definition && reg < reading->func->reg_count && reading->func->regs[reg].type == MR_PTX_TYPE_B32)
        reading->loose[reg] = false;
}

/* Whether all registers of 32 bits that an instruction reads are read as floats. */
static bool reads_floats(const struct mr_ptx_inst *inst)
{
    if (!inst->type_count)
        return false;
    if (inst->op == MR_PTX_OP_CVT)
        return inst->type_count > 1 && inst->type[1] == MR_PTX_TYPE_F32;
    if (is_copy(inst))
        return true;
    return inst->type[0] == MR_PTX_TYPE_F32 && inst->type_count == 1 &&
           (cg_computes(inst->op) || is_choice(inst) || inst->op == MR_PTX_OP_SETP || inst->op == MR_PTX_OP_ABS ||
            inst->op == MR_PTX_OP_COPYSIGN || inst->op == MR_PTX_OP_TESTP);
}

/* Takes back the registers of type .b32 that are read as anything else. A store and a shuffle look at the bits of one
 * operand, for which they get the mended value; the others are addresses and numbers of lanes. */
static void keep_floats(const struct cg *g, bool *loose)
{
    struct reading reading = {g->func, loose};
    bool changed = false;
    for (uint32_t i = 0; i < g->func->inst_count; i++) {
        const struct mr_ptx_inst *inst = &g->func->insts[i];
        unsigned type = inst->type_count == 1 ? inst->type[0] : MR_PTX_TYPE_U32;
        bool bits = type == MR_PTX_TYPE_F32 || type == MR_PTX_TYPE_B32;
        if (bits && (inst->op == MR_PTX_OP_ST || inst->op == MR_PTX_OP_SHFL)) {
            for (unsigned k = 0; k < inst->operand_count; k++)
                if (k != 1)
                    mark_operand(&inst->operands[k], loose, &changed);
        } else if (!reads_floats(inst)) {
            mr_flow_registers(&g->flow, inst, read_as_bits, &reading);
        }
    }
}

bool cg_nan_prepare(struct cg *g)
{
    const struct mr_ptx_function *func = g->func;
    g->regs.loose = mr_calloc(g->flow.reg_count ? g->flow.reg_count : 1, sizeof *g->regs.loose);
    if (!g->regs.loose)
        return false;
    for (uint32_t r = 0; r < func->reg_count; r++)
        g->regs.loose[r] = func->regs[r].type == MR_PTX_TYPE_F32 || func->regs[r].type == MR_PTX_TYPE_B32;
    keep_floats(g, g->regs.loose);
    /* Registers that carry parameters and results of a function are seen by its callers. */
    for (uint32_t p = 0; p < func->param_count; p++)
        if (func->params[p]->reg != MR_PTX_NONE)
            g->regs.loose[func->params[p]->reg] = false;
    for (uint32_t p = 0; p < func->return_count; p++)
        if (func->returns[p]->reg != MR_PTX_NONE)
            g->regs.loose[func->returns[p]->reg] = false;
    while (narrow(func, g->regs.loose)) {
    }
    return true;
}

bool cg_nan_looks(const struct cg *g, const struct mr_ptx_inst *inst)
{
    if (cg_nan_is_arithmetic(inst) || is_choice(inst) || inst->op == MR_PTX_OP_SETP || inst->op == MR_PTX_OP_SET ||
        inst->op == MR_PTX_OP_TESTP)
        return false;
    if (inst->op == MR_PTX_OP_CVT && strchr("US", mr_ptx_type_class(inst->type[0])))
        return false;
    /* Saturated, any NaN gives 0. */
    if (inst->op == MR_PTX_OP_CVT && inst->type[0] == MR_PTX_TYPE_F32 && (inst->flags & MR_PTX_FLAG_SAT))
        return false;
    return !is_copy(inst) || inst->operands[0].kind != MR_PTX_OPERAND_REG || !g->regs.loose[inst->operands[0].reg];
}

LLVMValueRef cg_nan_mended(struct cg *g, LLVMValueRef value)
{
    LLVMValueRef nan = cg_cast_bits(g, cg_int(g, g->unit->i32, CANONICAL_NAN), g->unit->f32);
    return cg_select(g, cg_is_nan(g, value), nan, value);
}
