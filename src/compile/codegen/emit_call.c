/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Calls: device functions, functions through pointers, and the services that the
 * runtime provides (vprintf, malloc, free, __assertfail).
 */
#include "compile/codegen/cg.h"

LLVMValueRef cg_runtime_call(struct cg *g, size_t offset, LLVMTypeRef result, LLVMValueRef *args, unsigned count)
{
    struct cg_unit *unit = g->unit;
    LLVMValueRef all[8] = {g->block}, place = LLVMConstInt(unit->i64, offset, false);
    LLVMTypeRef types[8] = {unit->ptr};
    for (unsigned i = 0; i < count; i++) {
        all[i + 1] = args[i];
        types[i + 1] = LLVMTypeOf(args[i]);
    }
    LLVMValueRef pointer = LLVMBuildGEP2(g->b, unit->i8, g->runtime, &place, 1, "");
    LLVMValueRef callee = LLVMBuildLoad2(g->b, unit->ptr, pointer, "");
    return LLVMBuildCall2(g->b, LLVMFunctionType(result, types, count + 1, false), callee, all, count + 1, "");
}

void cg_emit_trap(struct cg *g, unsigned kind)
{
    struct cg_unit *unit = g->unit;
    LLVMValueRef args[2] = {LLVMConstInt(unit->i32, kind, false),
                            LLVMConstInt(unit->i32, g->inst ? g->inst->line : 0, false)};
    cg_runtime_call(g, offsetof(struct mr_runtime, trap), unit->void_type, args, 2);
}

bool cg_emit_call(struct cg *g, const struct mr_ptx_inst *inst)
{
    switch (inst->op) {
    case MR_PTX_OP_TRAP: case MR_PTX_OP_BRKPT:
        cg_emit_trap(g, inst->op == MR_PTX_OP_TRAP ? MR_TRAP_TRAP : MR_TRAP_BREAKPOINT);
        return true;
    default:
        return false;
    }
}
