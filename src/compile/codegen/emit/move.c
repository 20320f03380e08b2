/* SPDX-License-Identifier: Apache-2.0 */

/*
 * mov, cvta, isspacep; and what has no effect here
 * (prefetches, cache hints, profiling events).
 */
#include "compile/codegen/emit/emit.h"
#include "compile/codegen/operands/narrow.h"

static void emit_mov(struct cg *g, const struct mr_ptx_inst *inst)
{
    bool predicate = inst->type[0] == MR_PTX_TYPE_PRED;
    unsigned bits = mr_ptx_type_bits(inst->type[0]);
    LLVMTypeRef type = inst->type[0] == MR_PTX_TYPE_F32   ? g->unit->f32
                       : inst->type[0] == MR_PTX_TYPE_F64 ? g->unit->f64
                                                          : cg_int_type(g, bits);
    if (predicate && inst->operands[1].kind != MR_PTX_OPERAND_SPECIAL) {
        cg_write(g, &inst->operands[0], cg_predicate(g, &inst->operands[1]));
        return;
    }
    cg_write(g, &inst->operands[0], cg_source(g, &inst->operands[1], type));
}

/* Generic addresses are host addresses; only the shared window has another base. */
static void emit_cvta(struct cg *g, const struct mr_ptx_inst *inst)
{
    LLVMTypeRef type = g->unit->i64;
    LLVMValueRef a = cg_source(g, &inst->operands[1], type);
    bool number = (inst->flags & MR_PTX_FLAG_TO) &&
                  inst->operands[1].kind == MR_PTX_OPERAND_SYMBOL; /* a variable's address is in its space already */
    if (!number && (inst->space == MR_PTX_SPACE_SHARED || inst->space == MR_PTX_SPACE_SHARED_CLUSTER)) {
        LLVMValueRef base = g->now.lanes == 1 ? g->launch.shared : cg_splat(g, g->launch.shared);
        a = inst->flags & MR_PTX_FLAG_TO ? LLVMBuildSub(g->b, a, base, "") : LLVMBuildAdd(g->b, a, base, "");
    }
    if (inst->space == MR_PTX_SPACE_CONST && (g->unit->narrow & 1u << MR_PTX_SPACE_CONST))
        a = cg_narrow_constant(g, a);
    cg_write(g, &inst->operands[0], a);
}

static void emit_isspacep(struct cg *g, const struct mr_ptx_inst *inst)
{
    LLVMValueRef address = cg_source(g, &inst->operands[1], g->unit->i64);
    cg_write(g, &inst->operands[0], cg_in_space(g, address, inst->space));
}

bool cg_emit_move(struct cg *g, const struct mr_ptx_inst *inst)
{
    switch (inst->op) {
    case MR_PTX_OP_MOV:
        emit_mov(g, inst);
        return true;
    case MR_PTX_OP_CVTA:
        emit_cvta(g, inst);
        return true;
    case MR_PTX_OP_ISSPACEP:
        emit_isspacep(g, inst);
        return true;
    case MR_PTX_OP_CREATEPOLICY: /* what it stands for is never looked at */
        cg_write(g, &inst->operands[0], cg_int(g, g->unit->i64, 0));
        return true;
    case MR_PTX_OP_PREFETCH:
    case MR_PTX_OP_PREFETCHU:
    case MR_PTX_OP_APPLYPRIORITY:
    case MR_PTX_OP_DISCARD:
    case MR_PTX_OP_PMEVENT:
    case MR_PTX_OP_SETMAXNREG:
        return true; /* hints: to do nothing is one of the things that they allow */
    default:
        return false;
    }
}
