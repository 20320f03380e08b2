/* SPDX-License-Identifier: Apache-2.0 */

/*
 * One instruction: its guard, the form of its result, and the family that knows it.
 */
#include "compile/codegen/basics/lines.h"
#include "compile/codegen/body/body.h"
#include "compile/codegen/body/change.h"
#include "compile/codegen/operands/stepped.h"

/* The guard of the instruction at hand, and the lanes that it leaves. */
void cg_begin_instruction(struct cg *g, const struct mr_ptx_inst *inst)
{
    g->now.inst = inst;
    if (inst)
        cg_line(g, inst);
    g->now.looks = inst && cg_nan_looks(g, inst);
    g->memory.scratch_used = 0;
    g->now.guard = NULL;
    g->now.guard_varies = false;
    g->now.exec = g->now.mask;
    g->now.exec_vector = g->now.mask_vector;
    if (!inst || inst->guard == MR_PTX_NONE)
        return;
    g->now.guard_varies = mr_flow_register_class(&g->flow, inst->guard).kind == MR_CLASS_VARYING;
    g->now.lanes = g->now.guard_varies ? g->unit->width : 1;
    g->now.guard = cg_read(g, inst->guard);
    if (inst->guard_negated)
        g->now.guard = LLVMBuildNot(g->b, g->now.guard, "");
    g->now.exec = LLVMBuildAnd(g->b, g->now.mask, cg_mask_bits(g, g->now.guard), "");
    g->now.exec_vector = cg_mask_vector(g, g->now.exec);
}

static bool has_effects(const struct mr_ptx_inst *inst)
{
    switch (inst->op) {
    case MR_PTX_OP_LD:
    case MR_PTX_OP_LDU:
    case MR_PTX_OP_ST:
    case MR_PTX_OP_ATOM:
    case MR_PTX_OP_RED:
    case MR_PTX_OP_CALL:
    case MR_PTX_OP_BAR:
    case MR_PTX_OP_BARRIER:
    case MR_PTX_OP_NANOSLEEP:
    case MR_PTX_OP_TRAP:
    case MR_PTX_OP_BRKPT:
    case MR_PTX_OP_TEX:
    case MR_PTX_OP_TLD4:
    case MR_PTX_OP_SULD:
    case MR_PTX_OP_SUST:
    case MR_PTX_OP_SURED:
    case MR_PTX_OP_TXQ:
    case MR_PTX_OP_SUQ:
    case MR_PTX_OP_ISTYPEP:
    case MR_PTX_OP_LDMATRIX:
    case MR_PTX_OP_STMATRIX:
    case MR_PTX_OP_WMMA:
    case MR_PTX_OP_CP:
    case MR_PTX_OP_MBARRIER:
    case MR_PTX_OP_ST_ASYNC:
    case MR_PTX_OP_RED_ASYNC:
    case MR_PTX_OP_ST_BULK:
    case MR_PTX_OP_TENSORMAP:
    case MR_PTX_OP_MULTIMEM:
    case MR_PTX_OP_CLUSTERLAUNCHCONTROL:
        return true;
    default:
        return false;
    }
}

typedef bool emitter(struct cg *g, const struct mr_ptx_inst *inst);

/* By family; ptx_ops.def has the family of each opcode. What ends a block is no emitter's: cg_emit_block_end. */
static emitter *const emitters[MR_PTX_FAMILY_COUNT] = {
    [MR_PTX_FAMILY_ARITHMETIC] = cg_emit_arithmetic,
    [MR_PTX_FAMILY_INTEGER] = cg_emit_integer,
    [MR_PTX_FAMILY_CARRY] = cg_emit_carry,
    [MR_PTX_FAMILY_FLOAT] = cg_emit_float,
    [MR_PTX_FAMILY_BITS] = cg_emit_bits,
    [MR_PTX_FAMILY_VIDEO] = cg_emit_video,
    [MR_PTX_FAMILY_COMPARE] = cg_emit_compare,
    [MR_PTX_FAMILY_MOVE] = cg_emit_move,
    [MR_PTX_FAMILY_CONVERT] = cg_emit_convert,
    [MR_PTX_FAMILY_MEMORY] = cg_emit_memory,
    [MR_PTX_FAMILY_ATOMIC] = cg_emit_atomic,
    [MR_PTX_FAMILY_ASYNC] = cg_emit_async,
    [MR_PTX_FAMILY_TEXTURE] = cg_emit_texture,
    [MR_PTX_FAMILY_STACK] = cg_emit_stack,
    [MR_PTX_FAMILY_WARP] = cg_emit_warp,
    [MR_PTX_FAMILY_MATRIX] = cg_emit_matrix,
    [MR_PTX_FAMILY_BARRIER] = cg_emit_barrier,
    [MR_PTX_FAMILY_CLUSTER] = cg_emit_cluster,
    [MR_PTX_FAMILY_CALL] = cg_emit_call,
};

static void emit_family_alone(struct cg *g, const struct mr_ptx_inst *inst, struct mr_class c)
{
    if (c.kind == MR_CLASS_AFFINE && inst->dst_count && cg_emit_affine(g, inst, c))
        return;
    if (c.kind == MR_CLASS_STEPPED &&
        mr_flow_register_class(&g->flow, inst->operands[0].reg).kind == MR_CLASS_STEPPED) {
        cg_emit_stepped(g, inst);
        return;
    }
    emitter *emit = emitters[mr_ptx_op_family((enum mr_ptx_op)inst->op)];
    if (!emit || !emit(g, inst))
        cg_fail(g->unit, inst, "code generation does not know it");
}

static void emit_family(struct cg *g, const struct mr_ptx_inst *inst, struct mr_class c)
{
    struct cg_change change = cg_change_begin(g, inst);
    emit_family_alone(g, inst, c);
    cg_change_end(g, inst, change);
}

void cg_emit_instruction(struct cg *g, const struct mr_ptx_inst *inst)
{
    cg_begin_instruction(g, inst);
    struct mr_class c = inst->dst_count || inst->call || (inst->flags & MR_PTX_FLAG_CC)
                            ? mr_flow_result_class(&g->flow, inst)
                            : (struct mr_class){MR_CLASS_VARYING, 0, 0};
    g->now.lanes = c.kind == MR_CLASS_UNIFORM || c.kind == MR_CLASS_NONE ? 1 : g->unit->width;
    if (!g->now.guard || !has_effects(inst)) {
        emit_family(g, inst, c);
        return;
    }
    LLVMBasicBlockRef some = cg_new_block(g, "some"), on = cg_new_block(g, "on");
    LLVMValueRef any = LLVMBuildICmp(g->b, LLVMIntNE, g->now.exec, cg_mask_zero(g), "");
    LLVMBuildCondBr(g->b, any, some, on);
    LLVMPositionBuilderAtEnd(g->b, some);
    emit_family(g, inst, c);
    LLVMBuildBr(g->b, on);
    LLVMPositionBuilderAtEnd(g->b, on);
}
